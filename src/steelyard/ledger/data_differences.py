"""Data differences: what two evaluations are not alike in beside the model, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.comparison.metric_ranking import compared_place, observed_prevalence, values_at_prevalences
from steelyard.analysis.distributions import normal_below
from steelyard.analysis.results.formatting import listed, percent_text, value_text
from steelyard.exceptions import InputError, first_ten

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.evaluation.evaluation import Evaluation

_BY_CHANCE = 0.05  # prevalences that differ with a smaller p-value are of different data
_MOVES = 1e-9
_MOST_NAMED = 6  # metrics of a sentence


def check_comparable(names: tuple[str, str], old: Evaluation, new: Evaluation) -> None:
    """Refuse two evaluations of different positive classes."""
    if old.positive != new.positive and str(old.positive) != str(new.positive):
        of_old, of_new = (_class_words(evaluation.positive) for evaluation in (old, new))
        raise InputError(
            f"{names[0]!r} is of {of_old} and {names[1]!r} of {of_new}; evaluate both with the same --positive."
        )
    sets = [{*map(str, evaluation.labels)} for evaluation in (old, new)]
    if all(sets) and sets[0] != sets[1]:
        raise InputError(
            f"{names[0]!r} has the labels {first_ten(old.labels)}, {names[1]!r} {first_ten(new.labels)}; evaluate both "
            "with the same --labels."
        )


def _class_words(positive: Label) -> str:
    return "no positive class" if positive is None else f"the positive class {positive!r}"


def data_sentences(names: tuple[str, str], old: Evaluation, new: Evaluation, *, paired: bool) -> list[str]:
    """What differs in thresholds and rows, and whether the rows may be the same ones."""
    sentences, quoted = [], [repr(name) for name in names]
    thresholds = [evaluation.threshold for evaluation in (old, new)]
    if None not in thresholds and thresholds[0] != thresholds[1]:
        sentences.append(
            f"The threshold of {quoted[0]} is {thresholds[0]:.6g}, that of {quoted[1]} {thresholds[1]:.6g}."
        )
    rows = [_rows_words(evaluation) for evaluation in (old, new)]
    if rows[0] != rows[1]:
        sentences.append(f"{quoted[0]} is of {rows[0]}, {quoted[1]} of {rows[1]}.")
    elif not paired:
        sentences.append(
            f"Both are of {rows[0]}: where these are the same rows, a comparison that pairs them shows smaller "
            "differences; log with --keep-rows, or give both columns to `steelyard compare`."
        )
    return sentences


def _rows_words(evaluation: Evaluation) -> str:
    counts, scores = evaluation.row_counts, evaluation.scores
    positives = None if counts is None else float(counts.tp + counts.fn)
    positives = float(scores.positive.n) if positives is None and scores is not None else positives
    return f"{evaluation.rows:,} rows" + ("" if positives is None else f", {positives:,.6g} of them positive")


def prevalence_sentences(names: tuple[str, str], old: Evaluation, new: Evaluation, result: Comparison) -> list[str]:
    """Where the prevalence differs by more than chance: which metrics move with it, and by how much it alone did."""
    place = compared_place(result.tables)
    shares = [observed_prevalence(result.tables, name, place) for name in names]
    if shares[0] is None or shares[1] is None or place is None or old.prevalence is not None:
        return []
    before, after = shares[0], shares[1]
    if _p_value(before, old.rows, after, new.rows) >= _BY_CHANCE:
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
        "Compare both at one prevalence with --prevalence."
    ]


def _p_value(before: float, rows: int, after: float, new_rows: int) -> float:
    """The two-sided p-value of equal prevalences, by the normal approximation with the pooled share."""
    pooled = (before * rows + after * new_rows) / (rows + new_rows)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / rows + 1 / new_rows))
    return 1.0 if not spread else 2 * float(normal_below(-abs(before - after) / spread))
