"""The hypotheses of the selection study, in the order of its plan, each tried on the confirmatory families."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.registry import get_metric
from steelyard.studies.claims import ABOVE_0, Effect, Finding
from steelyard.studies.selection import SELECTION_STUDY
from steelyard.studies.selection_effects import family_effect
from steelyard.studies.selection_metrics import AT_THRESHOLD
from steelyard.studies.selection_results import DEFAULT_AT, TUNED_AT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.studies.selection_results import SelectionResults

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
