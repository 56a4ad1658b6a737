"""The tables of the selection study: selectors, goals, sets, models, resampling and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.studies.selection import SELECTION_STUDY
from steelyard.studies.selection_checks import RESAMPLED, coverage, promises_held, resampling_change
from steelyard.studies.selection_coverage import COVERED
from steelyard.studies.selection_effects import family_interval, family_interval_words, rank_range, value_differences
from steelyard.studies.selection_metrics import AT_THRESHOLD, GOALS, METRICS, titles
from steelyard.studies.selection_models import PLAIN_ARM, model_makers
from steelyard.studies.selection_ranks import chances, ranks
from steelyard.studies.selection_results import DEFAULT_AT, PROMISED_AT, TEN, TUNED_AT, SelectionResults
from steelyard.studies.study import Table

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.studies.claims import TableRow

_BANDS = ((0.0, 0.05), (0.05, 0.12), (0.12, 0.25), (0.25, 0.5))
_SHOWN = ("log_loss", "brier", "roc_auc", "average_precision", "mcc", "f1", "g_mean", "ac_score", "accuracy")


def _mean(values: Array, digits: int = 4) -> float | None:
    return round(float(values.mean()), digits) if len(values) else None


def _interval(values: Array, possible: tuple[float, float], digits: int = 4) -> tuple[float | None, ...]:
    """The mean over families and its 95 % interval."""
    return tuple(round(v, digits) if np.isfinite(v) else None for v in family_interval(values, possible))


def _intervals(results: SelectionResults) -> str:
    return family_interval_words(results.family_number(~results.explored))


def ordered_selectors(results: SelectionResults) -> list[str]:
    """The selectors, that with the lowest mean rank on the confirmatory families first."""
    return sorted(METRICS, key=lambda name: float(results.confirmed(results.rank(name)).mean()))


@SELECTION_STUDY.table(
    "selectors",
    "Mean rank of the chosen model over nine goals, by what it is chosen by",
    lambda results: (
        f"1 is the best of twelve models, 6.5 a random choice. Means over families {_intervals(results)}; default, "
        "tuned and promised are the thresholds. Regret: 0 the best model, 1 the median one."
    ),
    unfolded=True,
)
def _selectors(results: SelectionResults) -> list[TableRow]:
    return [_selector_row(results, name) for name in ordered_selectors(results)]


def _selector_row(results: SelectionResults, name: str) -> TableRow:
    rank = results.rank(name)
    mean, low, high = _interval(results.confirmed(rank), rank_range())
    explored = _interval(results.by_family(rank, among=results.explored), rank_range())
    row: TableRow = {"selector": titles()[name], "rank": mean, "low": low, "high": high}
    row |= dict(zip(("exploratory", "exploratory low", "exploratory high"), explored, strict=True))
    row["tuned"] = _mean(results.confirmed(results.rank(name, regime=TUNED_AT)))
    row["promised"] = _mean(results.confirmed(results.rank(name, regime=PROMISED_AT)))
    row["threshold goals, tuned"] = _mean(results.confirmed(results.rank(name, AT_THRESHOLD, TUNED_AT)))
    regret = results.rank(name, regret=True)
    for words, families in (
        ("regret", results.confirmed(regret)),
        ("regret, exploratory", results.by_family(regret, among=results.explored)),
    ):
        row |= {words: _mean(families), f"{words}, median": _mean(np.atleast_1d(np.median(families)))}
    return row


@SELECTION_STUDY.tables
def _matrices(results: SelectionResults) -> list[Table]:
    """Selectors by goals, over all families together."""
    return [
        Table(
            f"matrix_{regime}",
            f"Mean rank on every goal, {regime} threshold",
            [_goal_row(results, name, regime) for name in ordered_selectors(results)],
            "All families, exploratory and confirmatory.",
        )
        for regime in (DEFAULT_AT, TUNED_AT, PROMISED_AT)
    ]


def _goal_row(results: SelectionResults, name: str, regime: str) -> TableRow:
    values = results.matrix(regime)[:, METRICS.index(name)]
    means = {titles()[goal]: _mean(results.by_family(values[:, i]), 2) for i, goal in enumerate(METRICS)}
    return {"selector": titles()[name], **means}


@SELECTION_STUDY.table(
    "own_goal",
    "Each goal: chosen by itself, by log loss, by ROC AUC, and by the best selector in hindsight",
    "Confirmatory families.",
)
def _own_goal(results: SelectionResults) -> list[TableRow]:
    rows = []
    for regime in (DEFAULT_AT, TUNED_AT):
        for goal in GOALS:
            means = {name: results.confirmed(results.rank(name, (goal,), regime)).mean() for name in METRICS}
            best = min(means, key=lambda name: means[name])
            chosen = {"itself": goal, "log loss": "log_loss", "ROC AUC": "roc_auc", "best": best}
            ranks_ = {words: round(float(means[name]), 4) for words, name in chosen.items()}
            rows.append({"threshold": regime, "goal": titles()[goal], **ranks_, "best selector": titles()[best]})
    return rows


@SELECTION_STUDY.table(
    "prevalence",
    "Mean rank over nine goals by the share of positives, default threshold",
    "Means over families, exploratory and confirmatory together; a family counts in each band in which it has sets.",
)
def _prevalence(results: SelectionResults) -> list[TableRow]:
    rows = []
    for low, high in _BANDS:
        among = (results.prevalences > low) & (results.prevalences <= high)
        means = {titles()[name]: _mean(results.by_family(results.rank(name), among=among), 2) for name in _SHOWN}
        rows.append({"positives": f"{100 * low:.0f} to {100 * high:.0f} %", "sets": int(among.sum()), **means})
    return rows


@SELECTION_STUDY.table(
    "models",
    "How the models do, and how often each is chosen",
    "All families, default threshold: mean rank over nine goals, and how often a selector chooses it.",
)
def _models(results: SelectionResults) -> list[TableRow]:
    goals = [METRICS.index(goal) for goal in GOALS]
    plain = [(run.selection[PLAIN_ARM][:, 0], run.held_out[PLAIN_ARM][:, 0]) for run in results.runs]
    by_goal = np.array([ranks(held)[:, goals].mean((0, 1)) for _, held in plain])
    chosen = np.array([chances(selection).mean(0) for selection, _ in plain])
    return [
        {"model": model, "rank": _mean(results.by_family(by_goal[:, i]), 2)}
        | {titles()[n]: _mean(results.by_family(chosen[:, METRICS.index(n), i])) for n in _SHOWN}
        for i, model in enumerate(model_makers())
    ]


@SELECTION_STUDY.table(
    "resampling",
    "Resampled less plain on held-out rows, over the ten models without class weights",
    lambda results: f"Means over the confirmatory families {_intervals(results)}.",
)
def _resampling(results: SelectionResults) -> list[TableRow]:
    rows = []
    for arm in RESAMPLED:
        for regime in (DEFAULT_AT, TUNED_AT):
            for goal in AT_THRESHOLD if regime == TUNED_AT else GOALS:
                families = results.confirmed(resampling_change(results, arm, goal, regime))
                ends = _interval(families, value_differences(goal))
                row: TableRow = {"resampling": arm, "threshold": regime, "metric": titles()[goal]}
                rows.append(row | dict(zip(("change", "low", "high"), ends, strict=True)))
    return rows


@SELECTION_STUDY.table(
    "resampled_selectors",
    "Mean rank of the chosen model over nine goals among ten models, plain and resampled",
    "Confirmatory families, default threshold; 5.5 is a random choice.",
)
def _resampled_selectors(results: SelectionResults) -> list[TableRow]:
    arms = (TEN, *RESAMPLED)
    return [
        {"selector": titles()[name]} | {arm: _mean(results.confirmed(results.rank(name, arm=arm))) for arm in arms}
        for name in ordered_selectors(results)
    ]


@SELECTION_STUDY.table(
    "coverage",
    "How often the 95 % intervals cover on real data",
    "With noise: the interval of the difference of both parts holds 0; direct: the interval of the "
    "selection part holds the value of a held-out part with 200 positives or more.",
)
def _coverage(results: SelectionResults) -> list[TableRow]:
    noisy, direct = (coverage(results, direct=direct) for direct in (False, True))
    return [
        {
            "metric": titles()[name],
            "with noise": _mean(results.by_family(noisy[:, i])),
            "direct": _mean(results.by_family(direct[:, i])),
        }
        for i, name in enumerate(COVERED)
    ]


@SELECTION_STUDY.table("promises", "How often a promised recall of at least 0.8 holds on held-out rows")
def _promises(results: SelectionResults) -> list[TableRow]:
    enough = np.array([run.positives >= 44 for run in results.runs])
    parts = {
        "held-out parts with 200 positives or more": promises_held(results),
        "all sets with 44 positives or more": np.where(enough, promises_held(results, direct=False), np.nan),
    }
    return [
        {"rows": words, "sets": int(np.isfinite(held).sum()), "share": _mean(results.by_family(held))}
        for words, held in parts.items()
    ]


@SELECTION_STUDY.table("sets", "The sets, and the mean rank over nine goals by a few selectors, default threshold")
def _sets(results: SelectionResults) -> list[TableRow]:
    values = {titles()[name]: results.rank(name).round(2).tolist() for name in _SHOWN}
    return [
        {
            "set": run.name,
            "family": run.family,
            "part": "exploratory" if run.explored else "confirmatory",
            "rows": run.rows,
            "positives": run.positives,
            **{title: column[i] for title, column in values.items()},
        }
        for i, run in enumerate(results.runs)
    ]
