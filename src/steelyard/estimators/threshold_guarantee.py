"""Threshold guarantees: for what the limits of a chosen threshold hold on new rows, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Label
    from steelyard.analysis.thresholds.best_threshold_result import BestThreshold, KeptLimit

_THIS = "for this very classifier"
_INDEPENDENT = "rows are taken as independent"


@dataclass(frozen=True)
class Guarantee:
    """Whether the classifier that predicts gave the scores by which its threshold was chosen, and how it was fitted."""

    prefit: bool
    refit: bool
    by: str | int | None = None

    def sentence(self, chosen: Mapping[Label, BestThreshold]) -> str:
        """For what the limits hold, with what is to be known of each threshold."""
        first = next(iter(chosen.values()))
        positive = [f"The positive class is {first.positive!r}."] if first.limits else []
        return " ".join([self._of_limits(first.limits), *positive, *self._of_groups(), *self._notes(chosen)])

    def _of_limits(self, limits: Sequence[KeptLimit]) -> str:
        if not limits:
            return "No limit was given, so none is promised on new rows."
        texts = " and ".join(kept.limit for kept in limits)
        confidence, one = limits[0].confidence, len(limits) == 1
        if confidence is None:
            return f"{texts} on new rows {'is' if one else 'are'} not promised, as confidence= was not given."
        if self.refit and not self.prefit:
            return (
                f"{texts} on new rows {'is' if one else 'are'} not promised for this classifier: it was fitted again "
                f"on all rows, and the {100 * confidence:g} % confidence is that of the classifiers that scored the "
                "rows left out. With cv=0.5 and refit=False the classifier that scored them is kept, and the promise "
                "with it."
            )
        hold = "holds" if one else "hold together"
        return f"{texts} {hold} on new rows with {100 * confidence:g} % confidence {self._of_whom()}; {_INDEPENDENT}."

    def _of_whom(self) -> str:
        if self.prefit:
            return f"{_THIS}, provided that the rows given to fit did not train it"
        return f"{_THIS}, as the rows that chose its threshold did not train it"

    def _of_groups(self) -> list[str]:
        if self.by is None:
            return []
        return [
            f"Each group of {self.by!r} is judged by itself, at a threshold chosen on its own rows: this assumes that "
            "the group is known at prediction, is lawful to use, and has enough rows."
        ]

    def _notes(self, chosen: Mapping[Label, BestThreshold]) -> list[str]:
        return [
            note if self.by is None else f"Group {group!r}: {note}"
            for group, best in chosen.items()
            for note in best.notes
        ]
