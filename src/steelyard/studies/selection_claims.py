"""The hypotheses of the selection study, in the order of its plan, each tried on the confirmatory families."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.registry import get_metric
from steelyard.studies.selection import DEFAULT_AT, PROMISED_AT, SELECTION_STUDY, TUNED_AT, mean_of
from steelyard.studies.selection_runs import (
    ARMS,
    AT_THRESHOLD,
    CONFIDENCE,
    COVERED,
    LIKE_TRUTH,
    METRICS,
    PLAIN_ARM,
    PROMISE,
    REGIMES,
    holds_no_difference,
    holds_truth,
    model_makers,
)
from steelyard.studies.study import ABOVE_0, Effect, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array
    from steelyard.studies.selection import SelectionResults

    Range = tuple[float, float]


# ---------------------------------------------------------------- the effects of the selection study
# Means over families, and between which numbers they can lie.


# Fewer families cannot show a difference at 5 % even where all agree on its sign: of five that is 2 / 2 ** 5, 0.06.
FEWEST_FAMILIES = 6
SHARES = (0.0, 1.0)


def rank_range() -> Range:
    """The first and the last rank of a model."""
    return 1.0, float(len(model_makers()))


def rank_differences() -> Range:
    """The range of a difference of two ranks."""
    first, last = rank_range()
    return first - last, last - first


def value_differences(metric: str) -> Range:
    """The range of a difference of two values of a metric."""
    low, high = get_metric(metric).range
    return low - high, high - low


def family_effect(name: str, families: Array, claimed: Range = ABOVE_0, possible: Range | None = None) -> Effect:
    """The mean over families, of a difference of ranks unless another range is given."""
    span = rank_differences() if possible is None else possible
    return Effect(name, families, claimed, possible=span, fewest=FEWEST_FAMILIES)


def family_interval_words(families: int) -> str:
    """Whether means over so many families have intervals, and which."""
    if families < FEWEST_FAMILIES:
        return f"without intervals, for which {FEWEST_FAMILIES} families are needed and {families} are here"
    return "with Student's 95 % intervals, limited to what is possible"


def family_interval(families: Array, possible: Range) -> tuple[float, float, float]:
    """The mean over families and its 95 % interval, inside what is possible; endless where they are too few."""
    return family_effect("", families, possible=possible).interval()


# ---------------------------------------------------------------- selection claims


RARE = 0.12  # the share of positives up to which they are called rare
_HALF_A_RANK, _QUARTER = (-np.inf, 0.5), (-np.inf, 0.25)
_FAMILIES = "families of sets that were not looked at before"
_PILOT = "found by the pilot, on other families"


def _finding(effects: Sequence[Effect], why: str) -> Finding:
    return Finding.of(effects, why, seeds=_FAMILIES)


def _title(name: str) -> str:
    return get_metric(name).title


def _effect(
    results: SelectionResults,
    name: str,
    values: Array,
    claimed: tuple[float, float] = ABOVE_0,
    among: Array | bool = True,
) -> Effect:
    return family_effect(name, results.confirmed(values, among), claimed)


def _behind(results: SelectionResults, others: Sequence[str], better: str) -> list[Effect]:
    """How many ranks the choice by each of the others is behind that by the better one."""
    return [
        _effect(results, f"{_title(other)} behind {_title(better)}", results.rank(other) - results.rank(better))
        for other in others
    ]


# ---------------------------------------------------------------- the pilot's


@SELECTION_STUDY.claim(
    "Log loss chooses better than metrics of a threshold", place="hypothesis 1", paper=_PILOT, own=True
)
def _proper(results: SelectionResults) -> Finding:
    why = (
        f"Mean rank over nine goals at 0.5, of twelve models; log loss has "
        f"{results.confirmed(results.rank('log_loss')).mean():.2f}, a random choice 6.5."
    )
    return _finding(_behind(results, AT_THRESHOLD, "log_loss"), why)


@SELECTION_STUDY.claim(
    "By the mean over goals log loss is ahead of ROC AUC, that of MCC, and that of the G-mean",
    place="hypothesis 2",
    paper="the pilot: mean scaled regret 0.77, 1.11, 1.40 and 2.04",
    own=True,
)
def _order(results: SelectionResults) -> Finding:
    order = ("log_loss", "roc_auc", "mcc", "g_mean")
    effects = [effect for better, worse in pairwise(order) for effect in _behind(results, (worse,), better)]
    means = ", ".join(f"{_title(name)} {results.confirmed(results.rank(name)).mean():.2f}" for name in order)
    return _finding(effects, f"Mean ranks: {means}.")


@SELECTION_STUDY.claim(
    "ROC AUC finds the model that is best by MCC as well as MCC does",
    place="hypothesis 3",
    paper="the pilot: scaled regret 0.58 and 0.59",
    own=True,
)
def _as_well(results: SelectionResults) -> Finding:
    effects, means = [], []
    for regime in (DEFAULT_AT, TUNED_AT):
        by_auc, by_itself = (results.rank(name, ("mcc",), regime) for name in ("roc_auc", "mcc"))
        effects.append(_effect(results, f"ROC AUC behind MCC, {regime} threshold", by_auc - by_itself, _HALF_A_RANK))
        means.append(f"{results.confirmed(by_auc).mean():.2f} and {results.confirmed(by_itself).mean():.2f} {regime}")
    why = (
        f"Rank by MCC of the model chosen by ROC AUC and by MCC: {', '.join(means)}. Claimed is less than half a rank."
    )
    return _finding(effects, why)


@SELECTION_STUDY.claim(
    "The metric that is wanted is not its own best selector: log loss finds its best model better",
    place="hypothesis 4",
    paper=_PILOT,
    own=True,
)
def _itself(results: SelectionResults) -> Finding:
    effects = []
    for regime in (DEFAULT_AT, TUNED_AT):
        lost = [
            results.rank(goal, (goal,), regime) - results.rank("log_loss", (goal,), regime) for goal in AT_THRESHOLD
        ]
        effects.append(_effect(results, f"own metric behind log loss, {regime} threshold", np.mean(lost, axis=0)))
    goals = ", ".join(map(_title, AT_THRESHOLD))
    return _finding(effects, f"Mean over the goals {goals}, each chosen by itself and by log loss.")


# ---------------------------------------------------------------- the papers' advice


@SELECTION_STUDY.claim(
    "Wu and Cannistraci (2025): the AC-score gives the fair evaluation, more than GM and BA",
    place="hypothesis 5",
    paper="advice in words",
)
def _wu(results: SelectionResults) -> Finding:
    why = (
        "If it evaluates more fairly, the model it chooses should do better on what else is wanted. It chooses a model "
        f"with class weights in {100 * results.weighted_share('ac_score'):.0f} % of these families' splits, MCC in "
        f"{100 * results.weighted_share('mcc'):.0f} %, log loss in {100 * results.weighted_share('log_loss'):.0f} %."
    )
    return _finding(_behind(results, ("balanced_accuracy", "g_mean", "mcc"), "ac_score"), why)


_LEANING = ("g_mean", "iba", "class_weighted_accuracy", "weighted_auc")
_OTHERS = ("accuracy", "f1", "kappa", "optimized_precision", "adjusted_g_mean")


@SELECTION_STUDY.claim(
    "García and others (2012): prefer metrics that lean to the rare class",
    place="hypothesis 6",
    paper="AUC, GM, IBA, wAUC and cwA called more suitable",
)
def _garcia(results: SelectionResults) -> Finding:
    effects = [
        _effect(
            results,
            f"the others behind those that lean, {regime} threshold",
            results.mean_rank(_OTHERS, regime=regime) - results.mean_rank(_LEANING, regime=regime),
        )
        for regime in (DEFAULT_AT, TUNED_AT)
    ]
    why = f"{', '.join(map(_title, _LEANING))} against {', '.join(map(_title, _OTHERS))}."
    return _finding(effects, why)


@SELECTION_STUDY.claim(
    "Asawa: TPNR and AUC are the robust metrics to compare models by", place="hypothesis 7", paper="advice in words"
)
def _asawa(results: SelectionResults) -> Finding:
    others = results.mean_rank(("accuracy", "precision", "f1", "mcc", "kappa"))
    effects = [
        _effect(results, f"the five behind {words}", others - results.rank(name))
        for words, name in (("TPNR", "g_mean"), ("ROC AUC", "roc_auc"))
    ]
    return _finding(effects, "TPNR orders models as the G-mean does. The five: accuracy, precision, F1, MCC, kappa.")


@SELECTION_STUDY.claim(
    "Nguyen and others: correct accuracy and F1 by the unbalanced factor", place="hypothesis 8", paper="advice in words"
)
def _nguyen(results: SelectionResults) -> Finding:
    pairs = (("accuracy", "balanced_accuracy", "alpha-accuracy"), ("f1", "alpha_f1", "alpha-F1"))
    effects = [
        _effect(results, f"{_title(plain)} behind {words}", results.rank(plain) - results.rank(corrected))
        for plain, corrected, words in pairs
    ]
    return _finding(effects, "Alpha-accuracy with the factor of the test rows is the balanced accuracy.")


@SELECTION_STUDY.claim(
    "Kalita: average over the classes rather than over the rows", place="hypothesis 9", paper="advice in words"
)
def _kalita(results: SelectionResults) -> Finding:
    return _finding(_behind(results, ("accuracy",), "mean_f1"), "Mean F1 is the macro average of F over both classes.")


@SELECTION_STUDY.claim(
    "McDermott and others (2024): average precision is not superior to ROC AUC where positives are rare",
    place="hypothesis 10",
    paper="a proof, and an experiment",
)
def _mcdermott(results: SelectionResults) -> Finding:
    rare = results.prevalences <= RARE
    effects = [
        _effect(
            results,
            f"ROC AUC behind average precision, {regime} threshold",
            results.rank("roc_auc", regime=regime) - results.rank("average_precision", regime=regime),
            _QUARTER,
            rare,
        )
        for regime in (DEFAULT_AT, TUNED_AT)
    ]
    why = f"On sets with at most {100 * RARE:.0f} % positives; claimed is less than a quarter of a rank."
    return _finding(effects, why)


@SELECTION_STUDY.claim(
    "Guidelines (TRIPOD+AI 2024; Van Calster and others 2025): prefer proper scores to accuracy, F1 and their like",
    place="hypothesis 11",
    paper="advice in words",
)
def _guidelines(results: SelectionResults) -> Finding:
    improper, proper = ("accuracy", "f1", "mcc", "kappa", "balanced_accuracy"), ("log_loss", "brier")
    mean = partial(results.mean_rank)
    effects = [
        _effect(results, "the five behind proper scores, nine goals", mean(improper) - mean(proper)),
        _effect(
            results,
            "on the five threshold goals at the tuned threshold",
            mean(improper, AT_THRESHOLD, TUNED_AT) - mean(proper, AT_THRESHOLD, TUNED_AT),
        ),
    ]
    return _finding(effects, "The five: accuracy, F1, MCC, kappa, balanced accuracy; proper: log loss, Brier score.")


# ---------------------------------------------------------------- selection checks
# The rest of the selection study's hypotheses: what resampling changes, and whether intervals and promises hold.


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
