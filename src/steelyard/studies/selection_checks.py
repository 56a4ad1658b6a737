"""The rest of the selection study's hypotheses: what resampling changes, and whether intervals and promises hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.studies.claims import ABOVE_0, Effect, Finding
from steelyard.studies.selection import SELECTION_STUDY
from steelyard.studies.selection_coverage import COVERED, LIKE_TRUTH, holds_no_difference, holds_truth
from steelyard.studies.selection_effects import SHARES, family_effect, value_differences
from steelyard.studies.selection_metrics import METRICS, REGIMES
from steelyard.studies.selection_models import ARMS, PLAIN_ARM
from steelyard.studies.selection_results import DEFAULT_AT, PROMISED_AT, TUNED_AT, mean_of
from steelyard.studies.selection_values import CONFIDENCE, PROMISE

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.studies.selection_results import SelectionResults

RESAMPLED = tuple(arm for arm in ARMS if arm != PLAIN_ARM)
_SAME = (-0.01, 0.01)
_PROMISED_RECALL = float(PROMISE.rpartition(" ")[2])
_ALL = "families of sets"


def resampling_change(results: SelectionResults, arm: str, metric: str, regime: str) -> Array:
    """Resampled less plain on the held-out rows, the mean over models and splits, one value for each set."""
    i, j = REGIMES.index(regime), METRICS.index(metric)
    changes = []
    for run in results.runs:
        resampled = run.held_out[arm][:, i, j]
        plain = run.held_out[PLAIN_ARM][:, i, j, : resampled.shape[-1]]
        changes.append(mean_of((resampled - plain).ravel(), 0))
    return np.array(changes)


@SELECTION_STUDY.claim(
    "Resampling moves the threshold, and little else",
    place="hypothesis 12",
    paper="stated by van den Goorbergh and others (2022) of logistic regression",
    own=True,
)
def _resampling(results: SelectionResults) -> Finding:
    parts = (
        ("G-mean at 0.5", "g_mean", DEFAULT_AT, ABOVE_0),
        ("G-mean at the tuned threshold", "g_mean", TUNED_AT, _SAME),
        ("ROC AUC", "roc_auc", DEFAULT_AT, _SAME),
        ("log loss", "log_loss", DEFAULT_AT, ABOVE_0),
    )
    effects = [
        family_effect(
            f"{arm}: {words}",
            results.confirmed(resampling_change(results, arm, metric, regime)),
            claimed,
            value_differences(metric),
        )
        for arm in RESAMPLED
        for words, metric, regime, claimed in parts
    ]
    why = "Resampled less plain, over the ten models without class weights, on held-out rows as they are."
    return Finding.of(effects, why, seeds="families of sets that were not looked at before")


# ---------------------------------------------------------------- intervals


def _share_effect(name: str, families: Array, least: float) -> Effect:
    return family_effect(name, families, (least, np.inf), SHARES)


def coverage(results: SelectionResults, *, direct: bool) -> Array:
    """How often the 95 % intervals cover, by set and metric: with the truth's own noise, or by large held-out parts."""
    covers: Callable[[Array], Array] = holds_truth if direct else holds_no_difference
    rows = []
    for run in results.runs:
        shares = mean_of(np.array([mean_of(covers(limits), 0) for limits in run.limits]), 0)
        rows.append(shares if not direct or run.sizes[3] >= LIKE_TRUTH else np.full(len(COVERED), np.nan))
    return np.array(rows)


@SELECTION_STUDY.claim(
    "The 95 % intervals of evaluate cover on real data", place="hypothesis 13", paper="what they promise", own=True
)
def _coverage(results: SelectionResults) -> Finding:
    noisy, direct = (coverage(results, direct=direct) for direct in (False, True))
    effects = [
        _share_effect("with the truth's own noise", results.by_family(mean_of(noisy, 1)), 0.93),
        _share_effect(f"held-out parts of {LIKE_TRUTH} positives", results.by_family(mean_of(direct, 1)), 0.90),
    ]
    why = (
        f"Mean over {len(COVERED)} metrics and twelve models at 0.5. The second takes the value of the held-out part "
        f"for the truth, so its own noise is against it; {int(np.isfinite(direct).any(1).sum())} sets have as many."
    )
    return Finding.of(effects, why, seeds=_ALL)


def promises_held(results: SelectionResults, *, direct: bool = True) -> Array:
    """The share of models and splits in which the held-out recall is as promised, one value for each set."""
    i, j = REGIMES.index(PROMISED_AT), METRICS.index("recall")
    held = [(run.held_out[PLAIN_ARM][:, i, j] >= _PROMISED_RECALL).mean() for run in results.runs]
    large = np.array([run.sizes[3] >= LIKE_TRUTH or not direct for run in results.runs])
    return np.where(large, held, np.nan)


@SELECTION_STUDY.claim(
    f"A promised {PROMISE} holds on new rows",
    place="hypothesis 14",
    paper=f"{100 * CONFIDENCE:.0f} % confidence",
    own=True,
)
def _promises(results: SelectionResults) -> Finding:
    effects = [_share_effect("share that holds", results.by_family(promises_held(results)), 0.85)]
    why = (
        f"On held-out parts with {LIKE_TRUTH} positives or more. Models of one split share its rows, so that they "
        "hold or fail together."
    )
    return Finding.of(effects, why, seeds=_ALL)
