"""Useless scores: whether the labels of a plan show that more positives are found where scores are higher."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.distributions import normal_below

if TYPE_CHECKING:
    from steelyard.analysis.intervals.planned_rows import PlannedRows

_LEVEL = 0.05


def trend_p_value(rows: PlannedRows) -> float:
    """The one-sided test of a trend: how likely such a rise of the share of positives is where scores are useless.

    Armitage (1955), Biometrics 11, 375-386, on the logits that the scores expect of the strata. Labels are drawn at
    random in each stratum, so that without a trend all of them are positive with one probability.
    """
    labels = np.bincount(rows.strata, minlength=len(rows.sizes))
    positives = np.bincount(rows.strata, rows.positive, minlength=len(rows.sizes))
    logits = np.log(rows.expected) - np.log1p(-rows.expected)
    share = positives.sum() / labels.sum()
    centred = logits - labels @ logits / labels.sum()
    spread = float(np.sqrt(share * (1 - share) * (labels @ centred**2)))
    return float(1 - normal_below(centred @ positives / spread)) if spread > 0 else 1.0


def may_be_useless(rows: PlannedRows) -> bool:
    """Whether the labels do not show that the scores order the rows."""
    return len(rows.sizes) > 1 and trend_p_value(rows) > _LEVEL


def useless_sentences(rows: PlannedRows) -> tuple[str, ...]:
    """A warning where the labels do not show that the scores order the rows."""
    if not may_be_useless(rows):
        return ()
    found = int(rows.positive.sum())
    words = f"{found:,} positives found do" if found > 1 else "one positive found does"
    return (
        f"The {words} not show that the scores find them (test of a trend over the strata, p = "
        f"{trend_p_value(rows):.2g}): the plan may gain nothing, and a top-up draws more evenly.",
    )
