"""Sentences on the standing of classes: which are below the median class, and the rare ones as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import bounds_text, percent_text
from steelyard.evaluation.verdict.label_words import quoted_label
from steelyard.evaluation.verdict.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Label
    from steelyard.analysis.confusions.confused_pairs import PooledClasses
    from steelyard.evaluation.evaluation import Evaluation

_END = 22  # characters of a long label's end
_NAMED = 5  # classes that a sentence names


def standing_sentence(evaluation: Evaluation) -> Sentence | None:
    """Which classes are found less often than the median class, and that the others are not distinguishable from it."""
    standing = evaluation.standing
    if standing is None:
        return None
    below, above = standing.below, standing.above
    median = f"the median class ({percent_text(standing.median)})"
    if not below:
        better = f"; {len(above):,} are above it" if above else ""
        text = f"No class of {standing.classes:,} is shown to have a lower recall than {median}{better}."
        return Sentence(text, "classes-at-median")
    lowest = sorted(below, key=lambda place: (evaluation.per_class[place].recall.value, place))
    names = ", ".join(apart_names([evaluation.labels[place] for place in lowest[:_NAMED]]))
    more = f" and {len(below) - _NAMED:,} more" if len(below) > _NAMED else ""
    verb = "is" if len(below) == 1 else "are"
    start = f"Of {standing.classes:,} classes {len(below):,} {verb} below {median} in recall: {names}{more}"
    higher = f"{len(above):,} are above it, and " if above else ""
    left = standing.classes - len(below) - len(above)
    return Sentence(f"{start}; {higher}the other {left:,} are not distinguishable from it.", "classes-below-median")


def apart_names(labels: Sequence[Label]) -> list[str]:
    """The names of classes; long ones that differ only later, as paths do, by their ends."""
    names = [quoted_label(label) for label in labels]
    if len({*names}) == len(names):
        return names
    return [name if "…" not in name else f'"…{str(label)[-_END:]}"' for name, label in zip(names, labels, strict=True)]


def rare_text(pooled: PooledClasses) -> str:
    """The rare classes as one line."""
    hits, weight = (
        f"{part:,.0f}" if float(part).is_integer() else f"{part:,.4g}" for part in (pooled.hits, pooled.weight)
    )
    share = f"{percent_text(pooled.recall)} ({bounds_text(pooled.low, pooled.high, share=True).removesuffix(' %')})"
    return f"{len(pooled.labels):,} classes with fewer than {pooled.fewest} rows: recall {hits} of {weight}, {share}."
