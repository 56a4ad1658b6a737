"""The tables of the selection study: selectors, goals, sets, models, resampling and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.report.figures.display import Display, Record
from steelyard.report.palette import inks
from steelyard.studies.selection import (
    DEFAULT_AT,
    PROMISED_AT,
    SELECTION_STUDY,
    TEN,
    TUNED_AT,
    SelectionResults,
    chances,
    mean_of,
    ranks,
)
from steelyard.studies.selection_claims import (
    FEWEST_FAMILIES,
    RESAMPLED,
    SHARES,
    coverage,
    family_interval,
    family_interval_words,
    promises_held,
    rank_range,
    resampling_change,
    value_differences,
)
from steelyard.studies.selection_runs import AT_THRESHOLD, COVERED, GOALS, METRICS, PLAIN_ARM, model_makers, titles
from steelyard.studies.study import Picture, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.report.figures.figure_types import DrawnAxes
    from steelyard.studies.study import TableRow


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


# ---------------------------------------------------------------- the figures of the selection study
# Dots with intervals, and the matrix of selectors and goals.


@dataclass(frozen=True)
class DotSeries:
    """One value for each line of a figure, with its interval."""

    name: str
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(eq=False, repr=False)
class _SelectionDisplay(Display):
    """A display whose caption is handed to it, as its fields are."""

    text: str

    def caption(self) -> str:
        """What is shown."""
        return self.text

    @classmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The figure of what its fields say."""
        return cls(**result, **options)


@dataclass(eq=False, repr=False)
class DotIntervals(_SelectionDisplay):
    """Lines by name, with a dot and its interval for each of one or two series, and a dashed line to read them by."""

    lines: tuple[str, ...]
    series: tuple[DotSeries, ...]
    axis: str
    reference: float

    @property
    def height(self) -> float:
        """Inches: a line each."""
        return 0.85 + 0.19 * len(self.lines)

    def frame(self) -> Rows[Record]:
        """One row for each line and series."""
        return Rows(
            Record(line=line, series=part.name, value=part.values[i], low=part.low[i], high=part.high[i])
            for i, line in enumerate(self.lines)
            for part in self.series
        )

    def _draw(self, ax: Axes) -> DrawnAxes:
        at = np.arange(len(self.lines))[::-1]
        colours = (inks().this, inks().grey)
        for i, part in enumerate(self.series):
            y = at + (0.0 if len(self.series) == 1 else 0.16 - 0.32 * i)
            ax.hlines(y, part.low, part.high, color=colours[i], linewidth=1.2)
            face = colours[i] if i == 0 else inks().paper
            ax.scatter(part.values, y, s=14, color=face, edgecolor=colours[i], linewidth=0.9, zorder=3, label=part.name)
        ax.axvline(self.reference, color=inks().grey, linestyle=(0, (4, 3)), linewidth=0.9)
        ax.set_yticks(at, self.lines)
        ax.set_ylim(-0.7, len(self.lines) - 0.3)
        ax.set_xlabel(self.axis)
        ax.grid(visible=False, axis="y")
        if len(self.series) > 1:
            ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=7, borderaxespad=0.2)
        return ax


@dataclass(eq=False, repr=False)
class RankMatrix(_SelectionDisplay):
    """The mean rank for each selector, a line each, on each goal, a column each; darker is worse."""

    selectors: tuple[str, ...]
    goals: tuple[str, ...]
    values: Array
    worst: float

    @property
    def height(self) -> float:
        """Inches: a line each, and the names below."""
        return 1.5 + 0.2 * len(self.selectors)

    def frame(self) -> Rows[Record]:
        """One row for each selector and goal."""
        return Rows(
            Record(selector=selector, goal=goal, rank=float(self.values[i, j]))
            for i, selector in enumerate(self.selectors)
            for j, goal in enumerate(self.goals)
        )

    def _draw(self, ax: Axes) -> DrawnAxes:
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("ranks", [inks().paper, *inks().signs[2:]])
        ax.imshow(self.values, cmap=shades, vmin=1.5, vmax=self.worst, aspect="auto")
        ax.set_xticks(range(len(self.goals)), self.goals, rotation=90)
        ax.set_yticks(range(len(self.selectors)), self.selectors)
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        for (i, j), value in np.ndenumerate(self.values):
            ink = inks().paper if value > 0.75 * self.worst else inks().ink
            bold = "bold" if value == self.values[:, j].min() else "normal"
            ax.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=6.5, color=ink, fontweight=bold)
        return ax


# ---------------------------------------------------------------- selection pictures
# The pictures of the selection study, and the sentences that stand first.


_RANDOM, _WORST = 6.5, 7.5
_MOVED = (("g_mean", DEFAULT_AT), ("g_mean", TUNED_AT), ("mcc", DEFAULT_AT), ("mcc", TUNED_AT), ("roc_auc", DEFAULT_AT))


@SELECTION_STUDY.summary
def _summary(results: SelectionResults) -> list[str]:
    names = ordered_selectors(results)
    mean = {name: float(results.confirmed(results.rank(name)).mean()) for name in METRICS}
    tuned = {name: float(results.confirmed(results.rank(name, regime=TUNED_AT)).mean()) for name in METRICS}
    first = ", ".join(f"{titles()[name]} {mean[name]:.2f}" for name in names[:3])
    last = ", ".join(f"{titles()[name]} {mean[name]:.2f}" for name in names[-3:])
    best = min(tuned, key=lambda name: tuned[name])
    n = results.family_number(~results.explored)
    few = (
        f"This shows how the study works and judges nothing: {n} families that were not looked at before are here, and "
        f"{FEWEST_FAMILIES} or more are needed."
    )
    return [
        *([few] if n < FEWEST_FAMILIES else []),
        f"On families not looked at before, the model chosen at 0.5 by {titles()[names[0]]} has the best mean rank "
        f"over nine goals, {mean[names[0]]:.2f} of 12; a random choice has 6.5.",
        f"First: {first}. Last: {last}.",
        f"With tuned thresholds {titles()[best]} is first, {tuned[best]:.2f}; MCC has {tuned['mcc']:.2f}, log loss "
        f"{tuned['log_loss']:.2f}, ROC AUC {tuned['roc_auc']:.2f}.",
    ]


@SELECTION_STUDY.pictures
def _pictures(results: SelectionResults) -> list[Picture]:
    return [
        Picture("selectors", _selectors_drawn(results), width=5.5),
        *(Picture(f"matrix_{regime}", _matrix(results, regime), width=6.0) for regime in (DEFAULT_AT, TUNED_AT)),
        Picture("resampling", _resampling_drawn(results), width=5.5),
        Picture("coverage", _coverage_drawn(results), width=5.5),
    ]


def _series(name: str, families: list[Array], possible: list[tuple[float, float]]) -> DotSeries:
    """The means of lines over families, with their intervals; without one where there are too few."""
    ends = [family_interval(values, span) for values, span in zip(families, possible, strict=True)]
    mean, low, high = (tuple(float(v) for v in column) for column in zip(*ends, strict=True))
    finite = [(v, v) if not np.isfinite(a) else (a, b) for v, a, b in zip(mean, low, high, strict=True)]
    return DotSeries(name, mean, tuple(a for a, _ in finite), tuple(b for _, b in finite))


def _confirmed_intervals(results: SelectionResults) -> str:
    return family_interval_words(results.family_number(~results.explored))


def _selectors_drawn(results: SelectionResults) -> DotIntervals:
    names = ordered_selectors(results)
    parts = (
        ("confirmatory families", ~results.explored),
        ("exploratory families", results.explored),
    )
    spans = [rank_range()] * len(names)
    series = [_series(w, [results.by_family(results.rank(n), among=among) for n in names], spans) for w, among in parts]
    text = (
        "Mean rank, over nine goals on held-out rows, of the model that each metric chooses at 0.5; 1 is the best of "
        f"twelve. Means over families {_confirmed_intervals(results)}; dashed: a random choice."
    )
    lines = tuple(titles()[name] for name in names)
    return DotIntervals(text, lines, tuple(series), "Mean rank of the chosen model", _RANDOM)


def _matrix(results: SelectionResults, regime: str) -> RankMatrix:
    names = ordered_selectors(results)
    values = np.array(
        [
            [results.by_family(results.matrix(regime)[:, METRICS.index(n), METRICS.index(g)]).mean() for g in GOALS]
            for n in names
        ]
    )
    text = (
        f"Mean rank on each of nine goals (columns) of the model that each metric (line) chooses, {regime} threshold, "
        "all families. Bold: the best selector for the goal."
    )
    lines, columns = (tuple(titles()[name] for name in part) for part in (names, GOALS))
    return RankMatrix(text, lines, columns, values, _WORST)


def _resampling_drawn(results: SelectionResults) -> DotIntervals:
    lines, families, spans = [], [], []
    for metric, regime in _MOVED:
        for arm in RESAMPLED:
            where = "" if metric == "roc_auc" else ", 0.5" if regime == DEFAULT_AT else ", tuned"
            lines.append(f"{titles()[metric]}{where}: {arm}")
            families.append(results.confirmed(resampling_change(results, arm, metric, regime)))
            spans.append(value_differences(metric))
    text = (
        "What resampling the training rows changes on held-out rows, over ten models: means over the confirmatory "
        f"families {_confirmed_intervals(results)}."
    )
    return DotIntervals(text, tuple(lines), (_series("change", families, spans),), "Resampled less plain", 0.0)


def _coverage_drawn(results: SelectionResults) -> DotIntervals:
    noisy = coverage(results, direct=False)
    names = [name for i, name in enumerate(COVERED) if np.isfinite(mean_of(noisy[:, i], 0))]
    families = [results.by_family(noisy[:, COVERED.index(name)]) for name in names]
    text = (
        "How often the 95 % intervals of evaluate cover on real data, the truth's own noise included: means over all "
        f"families {family_interval_words(results.family_number())}, twelve models at 0.5; dashed: 95 %."
    )
    lines = tuple(titles()[name] for name in names)
    return DotIntervals(text, lines, (_series("coverage", families, [SHARES] * len(names)),), "Share that covers", 0.95)
