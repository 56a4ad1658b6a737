"""Evaluation diff: what changed from one evaluation to another, paired where the same rows were kept of both."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.comparison.compare import compare
from steelyard.analysis.comparison.metric_ranking import compared_place, observed_prevalence, values_at_prevalences
from steelyard.analysis.distributions import normal_below
from steelyard.analysis.results.formatting import listed, percent_text, value_text
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, first_ten
from steelyard.ledger.entries import ROWS_ENDING, label_text, read_report, read_rows
from steelyard.ledger.history import tags_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import polars as pl

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.metrics.spec import SpecLike


# ---------------------------------------------------------------- data differences
# What differs between two evaluations beside the model, in sentences.


_BY_CHANCE = 0.05  # prevalences that differ with a smaller p-value are of different data
_MOVES = 1e-9
_MOST_NAMED = 6  # metrics of a sentence


def check_comparable(names: tuple[str, str], old: Evaluation, new: Evaluation) -> None:
    """Refuse two evaluations of different positive classes."""
    if old.positive != new.positive and str(old.positive) != str(new.positive):
        of_old, of_new = (
            "no positive class" if each.positive is None else f"the positive class {each.positive!r}"
            for each in (old, new)
        )
        raise InputError(
            f"{names[0]!r} is of {of_old} and {names[1]!r} of {of_new}; evaluate both with the same pos_label=."
        )
    sets = [{*map(str, evaluation.labels)} for evaluation in (old, new)]
    if all(sets) and sets[0] != sets[1]:
        raise InputError(
            f"{names[0]!r} has the labels {first_ten(old.labels)}, {names[1]!r} {first_ten(new.labels)}; evaluate both "
            "with the same labels=."
        )


def data_sentences(names: tuple[str, str], old: Evaluation, new: Evaluation, *, paired: bool) -> list[str]:
    """What differs in thresholds and rows, and whether the rows may be the same ones."""
    sentences, (a, b) = [], map(repr, names)
    if old.threshold is not None and new.threshold is not None and old.threshold != new.threshold:
        sentences.append(f"The threshold of {a} is {old.threshold:.6g}, that of {b} {new.threshold:.6g}.")
    old_rows, new_rows = _rows_words(old), _rows_words(new)
    if old_rows != new_rows:
        sentences.append(f"{a} is of {old_rows}, {b} of {new_rows}.")
    elif not paired:
        sentences.append(
            f"Both are of {old_rows}: where these are the same rows, a comparison that pairs them shows smaller "
            "differences; log with keep_rows=, or give both columns to compare()."
        )
    return sentences


def _rows_words(evaluation: Evaluation) -> str:
    counts, scores = evaluation.row_counts, evaluation.scores
    if counts is not None:
        positives = float(counts.tp + counts.fn)
    elif scores is not None:
        positives = float(scores.positive.n)
    else:
        return f"{evaluation.rows:,} rows"
    return f"{evaluation.rows:,} rows, {positives:,.6g} of them positive"


def prevalence_sentences(names: tuple[str, str], old: Evaluation, new: Evaluation, result: Comparison) -> list[str]:
    """Where the prevalence differs by more than chance: which metrics move with it, and by how much it alone did."""
    place = compared_place(result.tables)
    before, after = (observed_prevalence(result.tables, name, place) for name in names)
    if before is None or after is None or place is None or old.prevalence is not None:
        return []
    if _prevalence_p_value(before, old.rows, after, new.rows) >= _BY_CHANCE:
        return []
    moved = []
    for spec in result.tables.specs:
        was, would = values_at_prevalences(result.tables, spec, names[0], place, np.array([before, after]))
        if math.isfinite(would) and abs(would - was) > _MOVES:
            moved.append(f"{spec.name} {value_text(float(would), share=spec.is_share)}")
    if not moved:
        return [f"Prevalence is {percent_text(before)} and {percent_text(after)}, which moves none of these metrics."]
    more = f" and {len(moved) - _MOST_NAMED} more that move" if len(moved) > _MOST_NAMED else ""
    return [
        f"Prevalence is {percent_text(before)} in {names[0]!r} and {percent_text(after)} in {names[1]!r}, which alone "
        f"moves some metrics: at {percent_text(after)} {names[0]!r} would have {listed(moved[:_MOST_NAMED])}{more}. "
        "Compare both at one prevalence with prevalence=."
    ]


def _prevalence_p_value(before: float, rows: int, after: float, new_rows: int) -> float:
    """The two-sided p-value of equal prevalences, by the normal approximation with the pooled share."""
    pooled = (before * rows + after * new_rows) / (rows + new_rows)
    standard_error = math.sqrt(pooled * (1 - pooled) * (1 / rows + 1 / new_rows))
    return 2 * float(normal_below(-abs(before - after) / standard_error)) if standard_error else 1.0


# ---------------------------------------------------------------- diff side
# One of two evaluations that are compared, with the name and the rows that its entry gives it.


@dataclass(frozen=True)
class DiffSide:
    """An evaluation: what it is called, its tags, and its kept rows with the mark of the key that hashed them."""

    name: str
    evaluation: Evaluation
    tags: Mapping[str, str] = field(default_factory=dict)
    rows: pl.DataFrame | None = None
    key: str | None = None


def entry_side(path: Path) -> DiffSide:
    """The evaluation of an entry's file, and the rows beside it where they were kept."""
    entry, report = read_report(path)
    side = DiffSide(entry.id, Evaluation.from_json(report), entry.tags)
    if entry.rows is None:
        return side
    return replace(side, rows=read_rows(path.with_suffix(ROWS_ENDING), entry.rows), key=entry.rows["key"])


def distinguished(a: DiffSide, b: DiffSide) -> tuple[DiffSide, DiffSide]:
    """Both under names that differ: the tags that only one of them has, if each has one, else the names they have."""
    only_a = tags_text(dict(sorted(a.tags.items() - b.tags.items())))
    only_b = tags_text(dict(sorted(b.tags.items() - a.tags.items())))
    if only_a and only_b:
        return replace(a, name=only_a), replace(b, name=only_b)
    if a.name == b.name:
        return replace(a, name=f"{a.name} (1)"), replace(b, name=f"{b.name} (2)")
    return a, b


# ---------------------------------------------------------------- evaluation diff


_LEAST_JOINED = 0.5  # of the rows of the smaller evaluation, below which pairing would leave too much out


def evaluation_diff(
    old: DiffSide,
    new: DiffSide,
    *,
    metrics: Iterable[SpecLike] | None = None,
    level: float = 0.95,
    prevalence: float | None = None,
) -> Comparison:
    """The second evaluation less the first by each metric, Holm's p-values over all of them, and what else differs."""
    old, new = distinguished(old, new)
    names = old.name, new.name
    before, after = _evaluation(old), _evaluation(new)
    check_comparable(names, before, after)
    joined, notes = _joined(old, new) if prevalence is None else (None, [])
    metrics = None if metrics is None else list(metrics)
    if joined is not None:
        result = _paired(names, before, after, joined, {"metrics": metrics, "level": level})
    else:
        sides = {new.name: after, old.name: before}
        if prevalence is not None:
            sides = {name: replace(side, prevalence=prevalence) for name, side in sides.items()}
        result = compare(sides, metrics=metrics, level=level)
    stated = [*notes, *data_sentences(names, before, after, paired=joined is not None)]
    stated += [] if joined is not None or prevalence is not None else prevalence_sentences(names, before, after, result)
    return replace(result, assumed=(*result.assumed, *stated))


def _evaluation(side: DiffSide) -> Evaluation:
    """The evaluation, refused where it has no tables."""
    if side.evaluation.per_label:
        raise InputError(
            f"{side.name!r} is of label sets, of which an evaluation keeps no rows to test a difference by; give both "
            "models' columns to `steelyard compare`."
        )
    return side.evaluation


# ---------------------------------------------------------------- the same rows


def _joined(old: DiffSide, new: DiffSide) -> tuple[pl.DataFrame | None, list[str]]:
    """The rows that both kept, where enough are the same, and what is to be known of that."""
    if old.rows is None or new.rows is None:
        return None, []
    if old.key != new.key:
        return None, ["The rows of the two were hashed with different keys, so that they cannot be paired."]
    both = old.rows.join(new.rows, on="key", how="inner", suffix="_new")
    same = both.filter(both["true"] == both["true_new"])
    sizes = f"{same.height:,} rows are in both, of {old.rows.height:,} and {new.rows.height:,}"
    if same.height < _LEAST_JOINED * min(old.rows.height, new.rows.height) or same["true"].n_unique() < 2:
        return None, [f"{sizes}: too few to pair, so that the two are compared as of different rows."]
    relabelled = both.height - same.height
    notes = [f"Paired by the keys of the rows: {sizes}, and the tests are of these."]
    notes += [f"{relabelled:,} rows have another true label in {new.name!r}, and are left out."] if relabelled else []
    return same, notes


def _paired(
    names: tuple[str, str], old: Evaluation, new: Evaluation, rows: pl.DataFrame, options: dict[str, Any]
) -> Comparison:
    """The paired comparison by scores where both have them, at the thresholds of both, else by labels."""
    truth, positive = rows["true"].to_numpy(), None if new.positive is None else label_text(new.positive)
    options |= {"pos_label": positive}
    thresholds = {names[1]: new.threshold, names[0]: old.threshold}
    scored = positive is not None and {"score", "score_new"} <= {*rows.columns}
    if scored and not {"pred", "pred_new"} & {*rows.columns}:
        models = {names[1]: rows["score_new"].to_numpy(), names[0]: rows["score"].to_numpy()}
        threshold = None if None in thresholds.values() else thresholds
        return compare(truth, y_score=models, threshold=threshold, **options)  # type: ignore[arg-type]  # no None
    labels = {
        names[1]: _labels(rows, "_new", new, positive),
        names[0]: _labels(rows, "", old, positive),
    }
    return compare(truth, y_pred=labels, **options)


def _labels(rows: pl.DataFrame, suffix: str, evaluation: Evaluation, positive: str | None) -> Any:
    """The predicted labels, of scores those at the threshold."""
    if f"pred{suffix}" in rows.columns:
        return rows[f"pred{suffix}"].to_numpy()
    others = [label for label in map(label_text, evaluation.labels) if label != positive]
    if evaluation.threshold is None or positive is None or len(others) != 1:
        raise InputError("One of the two has labels and the other scores without a threshold; evaluate both alike.")
    import polars as pl

    flagged = rows[f"score{suffix}"] >= evaluation.threshold
    return pl.select(pl.when(flagged).then(pl.lit(positive)).otherwise(pl.lit(others[0]))).to_series().to_numpy()
