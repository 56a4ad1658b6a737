"""Useless scores: whether the labels of a plan show that more positives are found where scores are higher."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.draws import generator

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.planned_rows import PlannedRows

_LEVEL, _DRAWS = 0.05, 2_000


def trend_p_value(rows: PlannedRows) -> float:
    """The one-sided test of a trend: how likely such a rise of the share of positives is where scores are useless.

    Armitage (1955), Biometrics 11, 375-386, on the logits that the scores expect of the strata. Labels are drawn at
    random in each stratum, so that without a trend every one of them is as likely to be positive: the positives are
    drawn anew from all labels, since with two or three of them the normal distribution would see trends everywhere.
    """
    labels, positives = _counted(rows)
    logits = np.log(rows.expected) - np.log1p(-rows.expected)
    drawn = generator(None).multivariate_hypergeometric(labels, int(positives.sum()), _DRAWS) @ logits
    reached = drawn >= logits @ positives - 1e-9 * np.abs(logits).max()
    return float((1 + reached.sum()) / (1 + _DRAWS))


def are_too_few(rows: PlannedRows) -> bool:
    """Whether so few positives could show no trend, even if all of them had the highest scores."""
    labels, positives = _counted(rows)
    found, top, n = int(positives.sum()), int(labels[np.argmax(rows.expected)]), int(labels.sum())
    ratios = [(top - i) / (n - i) for i in range(min(found, top + 1))]
    return bool(np.prod(ratios) > _LEVEL)


def may_be_useless(rows: PlannedRows) -> bool:
    """Whether the labels do not show that the scores order the rows."""
    return len(rows.sizes) > 1 and trend_p_value(rows) > _LEVEL


def useless_sentences(rows: PlannedRows) -> tuple[str, ...]:
    """A warning where the labels do not show that the scores order the rows."""
    if not may_be_useless(rows):
        return ()
    found = int(rows.positive.sum())
    words = f"{found:,} positives found do" if found > 1 else "one positive found does"
    why = (
        "so few could not, whatever their scores"
        if are_too_few(rows)
        else f"test of a trend over the strata, p = {trend_p_value(rows):.2g}"
    )
    return (
        f"The {words} not show that the scores find them ({why}): the plan may gain nothing, and a top-up draws more "
        "evenly.",
    )


def _counted(rows: PlannedRows) -> tuple[Array, Array]:
    """The labels of each stratum, and the positives among them."""
    labels = np.bincount(rows.strata, minlength=len(rows.sizes))
    return labels, np.bincount(rows.strata, rows.positive, minlength=len(rows.sizes))
