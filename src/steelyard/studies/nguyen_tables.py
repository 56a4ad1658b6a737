"""Nguyen's tables and figures: ours beside the paper's, and the paper's accuracies again from reconstructed counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.ratio_spread import Spread, spread_of
from steelyard.metrics.registry import get_metric
from steelyard.report.figures.runs import RunsDisplay
from steelyard.statistics.counts import Counts
from steelyard.studies.nguyen_sizes import MOST, divisions, fitting, totals
from steelyard.studies.published_values import published
from steelyard.studies.study import Picture, Table

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.significance_tests import Friedman
    from steelyard.studies.nguyen import Outcome

PRINTED, _SHOWN = ("20:80", "50:50", "80:20"), ("20:95", "50:50", "80:19")
_TABLES = {"table_II": ("accuracy", "f1"), "table_III": ("alpha_accuracy", "alpha_f1")}
PAIRS = (("accuracy", "alpha_accuracy"), ("f1", "alpha_f1"))
NOMINAL = {"20:95": 0.25, "80:19": 4.0}  # the factor that the tables' heads print
FACTORED = "with the factor"
WORDS = {
    "accuracy": "accuracy",
    "alpha_accuracy": "accuracy with the factor",
    "f1": "F1",
    "alpha_f1": "F1 with the factor",
}


@dataclass(frozen=True, eq=False)
class View:
    """What the experiment gave, by the name of its variant; `main` is the paper's own."""

    topics: tuple[str, ...]
    sizes: dict[str, int]
    outcomes: dict[str, Outcome]
    main: str

    @property
    def seeds(self) -> int:
        """How many seeds the paper's own variant was run with."""
        return int(self.outcomes[self.main].tables["50:50"].shape[0])

    def values(self, metric: str, ratio: str, variant: str | None = None) -> Array:
        """The metric in percent, by seed, topic and run."""
        return np.asarray(100 * get_metric(metric)(self.outcomes[variant or self.main].tables[ratio]))

    def averages(self, metric: str, ratios: Any = PRINTED, variant: str | None = None) -> Array:
        """The mean over topics and runs, by ratio and seed."""
        return np.stack([self.values(metric, ratio, variant).mean((1, 2)) for ratio in ratios])

    def over_topics(self, metric: str, seed: int, ratios: Any = PRINTED, variant: str | None = None) -> Spread:
        """The spread over the ratios, topic by topic, each the mean of its runs."""
        found = {ratio: self.values(metric, ratio, variant)[seed].mean(1) for ratio in ratios}
        return spread_of(found, name=metric)

    def over_runs(self, metric: str, seed: int, ratios: Any = PRINTED) -> Spread:
        """The spread over the ratios, run by run, each the mean of all topics: what Figures 1 and 2 show."""
        return spread_of({ratio: self.values(metric, ratio)[seed].mean(0) for ratio in ratios}, name=metric)

    def calmer(self, pair: tuple[str, str], seed: int) -> int:
        """In how many topics the factor makes the spread over the ratios smaller."""
        plain, factored = (np.stack([self.values(m, r)[seed].mean(1) for r in PRINTED]) for m in pair)
        return int((np.ptp(factored, 0) < np.ptp(plain, 0)).sum())

    def shares(self, pair: tuple[str, str], variant: str | None = None) -> list[float]:
        """The mean spread with the factor as a share of that without, seed by seed."""
        n = self.outcomes[variant or self.main].tables["50:50"].shape[0]
        each = [[self.over_topics(m, s, variant=variant).spread for m in pair] for s in range(n)]
        return [factored / plain for plain, factored in each]


def paper_spread(metric: str, topics: tuple[str, ...] | None = None) -> Spread:
    """The same of the numbers that the paper prints, of all topics or of those named."""
    columns = zip(*(_printed(metric)[topic] for topic in topics or _all_topics()), strict=True)
    return spread_of(dict(zip(PRINTED, map(list, columns), strict=True)), name=metric)


def paper_averages(metric: str, topics: tuple[str, ...]) -> list[float]:
    """The averages that the paper prints or, where only some topics were tried, its averages of these."""
    if set(topics) == set(_all_topics()):
        return _printed(metric)["Average"]
    return list(paper_spread(metric, topics).means.values())


def paper_calmer(pair: tuple[str, str], topics: tuple[str, ...]) -> int:
    """In how many topics the paper's own spread over the ratios is smaller with the factor."""
    plain, factored = (np.array([_printed(metric)[topic] for topic in topics]) for metric in pair)
    return int((np.ptp(factored, 1) < np.ptp(plain, 1)).sum())


def _all_topics() -> tuple[str, ...]:
    return tuple(published("nguyen")["table_I"])


def _printed(metric: str) -> dict[str, list[float]]:
    table = next(name for name, metrics in _TABLES.items() if metric in metrics)
    found: dict[str, list[float]] = published("nguyen")[table][metric]
    return found


# ---------------------------------------------------------------- tables


def tables(view: View) -> list[Table]:
    """All tables of the study."""
    titles = {
        "table_II": "Table II: accuracy and F1 (%) without the unbalanced factor",
        "table_III": "Table III: accuracy and F1 (%) with the unbalanced factor",
    }
    return [
        _sizes(view),
        *(_against(view, name, titles[name]) for name in _TABLES),
        _averages(view),
        _spreads(view),
        _tests(view),
        _regenerated(),
    ]


def _sizes(view: View) -> Table:
    printed = published("nguyen")["table_I"]
    rows = [{"topic": t, "texts": n, "P": printed.get(t), "differ": n - printed[t]} for t, n in view.sizes.items()]
    total = {"topic": "Sum", "texts": sum(view.sizes.values()), "P": sum(printed.values())}
    rows.append(total | {"differ": total["texts"] - total["P"]})
    return Table("table_I", "Table I: texts of each topic", rows, "P is the paper's count.")


def _against(view: View, name: str, title: str) -> Table:
    """Ours and the paper's side by side, a topic a row, then the averages."""
    rows = _sides(view, _TABLES[name])
    note = f"{view.main}; the first seed, means over ten runs. Columns marked P are the paper's."
    if len(view.topics) < len(_all_topics()):
        note += " Its averages here are of the same topics."
    return Table(name, title, rows, note, dict.fromkeys(list(rows[0])[1:], ".2f"))


def _sides(view: View, metrics: tuple[str, ...]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"topic": topic} for topic in (*view.topics, "Average")]
    for metric in metrics:
        averages = {"Average": [round(value, 2) for value in paper_averages(metric, view.topics)]}
        for i, ratio in enumerate(PRINTED):
            ours = view.values(metric, ratio)[0].mean(1)
            word = "F1" if "f1" in metric else "acc."
            for row, value in zip(rows, [*ours.tolist(), float(ours.mean())], strict=True):
                row[f"{word} {ratio}"] = round(value, 2)
                row[f"{word} {ratio} P"] = (_printed(metric) | averages)[row["topic"]][i]
    return rows


def _averages(view: View) -> Table:
    """The averages over the topics for every way to train and to draw, beside the paper's."""
    paper = {"trained on": "the paper", "test texts": "not said", "sets": "printed"}
    rows = [paper | _average_row({m: paper_averages(m, view.topics) for p in PAIRS for m in p})]
    for name, one in view.outcomes.items():
        for word, ratios in (("printed", PRINTED), ("shown", _SHOWN)):
            found = {m: view.averages(m, ratios, name).mean(1).tolist() for pair in PAIRS for m in pair}
            rates = {r: [view.averages(r, [ratio], name).mean() for ratio in ratios] for r in ("recall", "specificity")}
            drawn = {"trained on": one.variant.trained, "test texts": one.variant.tested, "sets": word}
            rows.append(
                drawn
                | _average_row(found)
                | {
                    "recall": float(np.mean(rates["recall"])),
                    "specificity": float(np.mean(rates["specificity"])),
                    "leak": 100 * float(np.mean([one.seen[ratio] for ratio in ratios])),
                }
            )
    note = (
        f"In percent, means over {len(view.topics)} topics, runs and seeds. "
        "Sets as printed are 20:80, 50:50 and 80:20, as shown by the "
        "paper's numbers 20:95, 50:50 and 80:19. Leak: the share of test texts that the classifier was trained on."
    )
    return Table("averages", "Averages over the topics by variant", _filled(rows), note)


def _average_row(found: dict[str, list[float]]) -> dict[str, Any]:
    return {WORDS[metric]: " / ".join(f"{value:.2f}" for value in values) for metric, values in found.items()}


def _filled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows that all have the columns of the longest."""
    names = max(rows, key=len)
    return [{name: row.get(name) for name in names} for row in rows]


def _spreads(view: View) -> Table:
    rows = []
    for pair in PAIRS:
        for metric in pair:
            each = [view.over_topics(metric, seed) for seed in range(view.seeds)]
            paper = paper_spread(metric, view.topics)
            rows.append(
                {
                    "metric": WORDS[metric],
                    "mean spread P": paper.spread,
                    "mean spread": each[0].spread,
                    "lowest of seeds": min(s.spread for s in each),
                    "highest of seeds": max(s.spread for s in each),
                    "widest topic P": paper.widest,
                    "widest topic": each[0].widest,
                    "of the averages P": paper.of_means,
                    "of the averages": each[0].of_means,
                }
            )
    note = (
        "Spread: the highest less the lowest of the three sets, in points; its mean is over the topics. P: the paper."
    )
    return Table("spread", "How far the three test sets lie apart", _rounded(rows, 3), note)


def tested(found: Spread) -> Friedman:
    """The test of a spread over several runs or topics, which has one."""
    assert found.test is not None  # noqa: S101 - only a spread of a single value has none
    return found.test


def _tests(view: View) -> Table:
    rows = []
    for metric, word in WORDS.items():
        for what, found in (
            ("ours, ten runs", view.over_runs(metric, 0)),
            ("ours, topics", view.over_topics(metric, 0)),
            ("paper's table, topics", paper_spread(metric)),
        ):
            test = tested(found)
            pairs = {f"{p.a} and {p.b}": p.p_adjusted for p in test.pairs}
            rows.append({"metric": word, "over": what, "Friedman p": test.p_value, **pairs})
    note = "Friedman's test that the three sets do not differ; pairs by Wilcoxon's signed ranks, adjusted by Holm."
    return Table("tests", "Are the three sets different?", rows, note)


def regenerated() -> list[dict[str, Any]]:
    """The accuracies of Tables II and III from the reconstructed counts, with the real factor and the nominal one."""
    rows = []
    for ratio, tables in published("nguyen")["counts"].items():
        column = 0 if ratio == "20:95" else 2
        for topic, cells in tables.items():
            rows.append({"topic": topic, "test set": ratio} | _again(Counts(*cells), topic, column, NOMINAL[ratio]))
    return rows


def _again(counts: Counts, topic: str, column: int, nominal: float) -> dict[str, float]:
    plain, factored = get_metric("accuracy"), get_metric("alpha_accuracy")
    printed = {"accuracy": _printed("accuracy")[topic][column], FACTORED: _printed("alpha_accuracy")[topic][column]}
    ours = {"accuracy": 100 * float(plain(counts)), FACTORED: 100 * float(factored(counts))}
    row: dict[str, float] = {}
    for name, value in ours.items():
        row |= {f"{name} P": printed[name], name: value, f"{name}, difference": round(value - printed[name], 8)}
    return row | {"with the printed factor": 100 * float(factored(counts, alpha=nominal))}


def _regenerated() -> Table:
    rows, most = regenerated(), len(PRINTED) * len(_all_topics())
    nominal = [one for i, factor in ((0, 0.25), (2, 4.0)) for one in divisions(i, factor)]
    note = (
        f"Whole numbers of right answers that give both printed accuracies: of all sets of 50 to {MOST:,} texts they "
        f"exist for {fitting()}, ten runs together, with the factor of those sets; with the printed 0.25 and 4 "
        f"for {len(nominal) or 'none'}. These are {2 * len(rows)} of the {2 * most} accuracies that the "
        f"two tables print; those of 50:50 fit {len(totals(1)) or 'no'} number of texts and are left out."
    )
    title = "Accuracies of Tables II and III again, from reconstructed counts"
    formats = {name: ".4f" if "difference" in name else ".2f" for name in list(rows[0])[2:]}
    return Table("regenerated", title, _rounded(rows, 8), note, formats, unfolded=True)


def _rounded(rows: list[dict[str, Any]], digits: int) -> list[dict[str, Any]]:
    return [{k: round(v, digits) if isinstance(v, float) else v for k, v in row.items()} for row in rows]


# ---------------------------------------------------------------- figures


def pictures(view: View) -> list[Picture]:
    """Figures 1 and 2: the ten runs on the three sets, without and with the factor."""
    return [
        _runs(view, f"figure_{i}", f"Figure {i}. Left without, right with the unbalanced factor.", pair)
        for i, pair in enumerate(PAIRS, 1)
    ]


def _runs(view: View, name: str, caption: str, pair: tuple[str, str]) -> Picture:
    values = tuple(np.stack([view.values(m, ratio)[0].mean(0) / 100 for m in pair]) for ratio in PRINTED)
    drawn = RunsDisplay(PRINTED, tuple(get_metric(m) for m in pair), values)
    return Picture(name, drawn, f"{caption} {drawn.caption()} Each run is the mean of its topics.")
