"""Nguyen's tables and figures: ours beside the paper's, and the paper's accuracies again from reconstructed counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.registry import get_metric
from steelyard.report.figures.runs import RunsDisplay
from steelyard.studies.claims import published
from steelyard.studies.nguyen import NGUYEN_STUDY, NguyenResults
from steelyard.studies.nguyen_printed import (
    MOST_TEXTS,
    PRINTED,
    PRINTED_TABLES,
    all_topics,
    fitting,
    paper_averages,
    paper_spread,
    printed_rows,
    regenerated,
    text_divisions,
    totals,
)
from steelyard.studies.pictures import Picture
from steelyard.studies.study import Table

if TYPE_CHECKING:
    from steelyard.analysis.comparison.friedman_test import Friedman
    from steelyard.auditing.ratio_spread import Spread
    from steelyard.studies.claims import TableRow

PAIRS = (("accuracy", "alpha_accuracy"), ("f1", "alpha_f1"))
_SHOWN = ("20:95", "50:50", "80:19")  # by the paper's own numbers
METRIC_WORDS = {
    "accuracy": "accuracy",
    "alpha_accuracy": "accuracy with the factor",
    "f1": "F1",
    "alpha_f1": "F1 with the factor",
}


# ---------------------------------------------------------------- tables


@NGUYEN_STUDY.table("table_I", "Table I: texts of each topic", "P is the paper's count.")
def _sizes(results: NguyenResults) -> list[TableRow]:
    printed, sizes = published("nguyen")["table_I"], results.corpus.sizes
    rows = [{"topic": t, "texts": n, "P": printed.get(t), "differ": n - printed[t]} for t, n in sizes.items()]
    total = {"topic": "Sum", "texts": sum(sizes.values()), "P": sum(printed.values())}
    return [*rows, total | {"differ": total["texts"] - total["P"]}]


@NGUYEN_STUDY.tables
def _beside_paper(results: NguyenResults) -> list[Table]:
    """Tables II and III: ours and the paper's side by side, a topic a row, then the averages."""
    factor = {"table_II": "Table II: accuracy and F1 (%) without", "table_III": "Table III: accuracy and F1 (%) with"}
    note = f"{results.main}; means over ten runs of each of {results.seeds} seeds. Columns marked P are the paper's."
    if len(results.topics) < len(all_topics()):
        note += " Its averages here are of the same topics."
    tables = []
    for name, metrics in PRINTED_TABLES.items():
        rows = _sides(results, metrics)
        formats = dict.fromkeys(list(rows[0])[1:], ".2f")
        tables.append(Table(name, f"{factor[name]} the unbalanced factor", rows, note, formats))
    return tables


def _sides(results: NguyenResults, metrics: tuple[str, ...]) -> list[TableRow]:
    rows: list[TableRow] = [{"topic": topic} for topic in (*results.topics, "Average")]
    for metric in metrics:
        averages = {"Average": [round(value, 2) for value in paper_averages(metric, results.topics)]}
        for i, ratio in enumerate(PRINTED):
            ours = results.values(metric, ratio).mean((0, 2))
            word = "F1" if "f1" in metric else "acc."
            for row, value in zip(rows, [*ours.tolist(), float(ours.mean())], strict=True):
                row[f"{word} {ratio}"] = round(value, 2)
                row[f"{word} {ratio} P"] = (printed_rows(metric) | averages)[row["topic"]][i]
    return rows


@NGUYEN_STUDY.table(
    "averages",
    "Averages over the topics by variant",
    lambda results: (
        f"In percent, means over {len(results.topics)} topics, runs and seeds. "
        "Sets as printed are 20:80, 50:50 and 80:20, as shown by the "
        "paper's numbers 20:95, 50:50 and 80:19. Leak: the share of test texts that the classifier was trained on."
    ),
)
def _averages(results: NguyenResults) -> list[TableRow]:
    """The averages over the topics for every way to train and to draw, beside the paper's."""
    paper = {"trained on": "the paper", "test texts": "not stated", "sets": "printed"}
    rows = [paper | _average_row({metric: paper_averages(metric, results.topics) for metric in _metrics()})]
    for variant in results.outcomes:
        rows += [_variant_row(results, variant, *sets) for sets in (("printed", PRINTED), ("shown", _SHOWN))]
    return [{name: row.get(name) for name in rows[-1]} for row in rows]


def _metrics() -> list[str]:
    return [metric for pair in PAIRS for metric in pair]


def _variant_row(results: NguyenResults, variant: str, word: str, ratios: tuple[str, ...]) -> TableRow:
    outcome = results.outcomes[variant]
    drawn = {"trained on": outcome.variant.trained, "test texts": outcome.variant.tested, "sets": word}
    averages = {metric: results.averages(metric, ratios, variant).mean(1).tolist() for metric in _metrics()}
    rates = {
        rate: float(np.mean([results.averages(rate, [ratio], variant).mean() for ratio in ratios]))
        for rate in ("recall", "specificity")
    }
    leak = 100 * float(np.mean([outcome.seen[ratio] for ratio in ratios]))
    return drawn | _average_row(averages) | rates | {"leak": leak}


def _average_row(averages: dict[str, list[float]]) -> TableRow:
    return {METRIC_WORDS[metric]: " / ".join(f"{value:.2f}" for value in values) for metric, values in averages.items()}


@NGUYEN_STUDY.table(
    "spread",
    "How far the three test sets lie apart",
    "Spread: the highest less the lowest of the three sets, in points; its mean is over the topics. P: the paper.",
)
def _spreads(results: NguyenResults) -> list[TableRow]:
    rows = []
    for metric in _metrics():
        each = [results.over_topics(metric, seed) for seed in range(results.seeds)]
        paper = paper_spread(metric, results.topics)
        rows.append(
            {
                "metric": METRIC_WORDS[metric],
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
    return _rounded(rows, 3)


def friedman_of(spread: Spread) -> Friedman:
    """The test of a spread over several runs or topics, which has one."""
    assert spread.test is not None  # noqa: S101 - only a spread of a single value has none
    return spread.test


@NGUYEN_STUDY.table(
    "tests",
    "Are the three sets different?",
    "Friedman's test that the three sets do not differ; pairs by Wilcoxon's signed ranks, adjusted by Holm.",
)
def _tests(results: NguyenResults) -> list[TableRow]:
    rows = []
    for metric, word in METRIC_WORDS.items():
        spreads = {
            "ours, ten runs": results.over_runs(metric, 0),
            "ours, topics": results.over_topics(metric, 0),
            "paper's table, topics": paper_spread(metric),
        }
        for over, spread in spreads.items():
            test = friedman_of(spread)
            pairs = {f"{p.a} and {p.b}": p.p_adjusted for p in test.pairs}
            rows.append({"metric": word, "over": over, "Friedman p": test.p_value, **pairs})
    return rows


@NGUYEN_STUDY.tables
def _regenerated(_: NguyenResults) -> list[Table]:
    rows, most = regenerated(), len(PRINTED) * len(all_topics())
    nominal = [sizes for i, factor in ((0, 0.25), (2, 4.0)) for sizes in text_divisions(i, factor)]
    note = (
        f"Whole numbers of right answers that give both printed accuracies: of all sets of 50 to {MOST_TEXTS:,} texts "
        f"they exist for {fitting()}, ten runs together, with the factor of those sets; with the printed 0.25 and 4 "
        f"for {len(nominal) or 'none'}. These are {2 * len(rows)} of the {2 * most} accuracies that the "
        f"two tables print; those of 50:50 fit {len(totals(1)) or 'no'} number of texts and are left out."
    )
    title = "Accuracies of Tables II and III again, from reconstructed counts"
    formats = {name: ".4f" if "difference" in name else ".2f" for name in list(rows[0])[2:]}
    return [Table("regenerated", title, _rounded(rows, 8), note, formats, unfolded=True)]


def _rounded(rows: list[TableRow], digits: int) -> list[TableRow]:
    return [{k: round(v, digits) if isinstance(v, float) else v for k, v in row.items()} for row in rows]


# ---------------------------------------------------------------- figures


@NGUYEN_STUDY.pictures
def _pictures(results: NguyenResults) -> list[Picture]:
    """Figures 1 and 2: the ten runs on the three sets, without and with the factor."""
    return [
        _runs(results, f"figure_{i}", f"Figure {i}. Left without, right with the unbalanced factor.", pair)
        for i, pair in enumerate(PAIRS, 1)
    ]


def _runs(results: NguyenResults, name: str, caption: str, pair: tuple[str, str]) -> Picture:
    values = tuple(np.stack([results.values(m, ratio)[0].mean(0) / 100 for m in pair]) for ratio in PRINTED)
    display = RunsDisplay(PRINTED, tuple(get_metric(m) for m in pair), values)
    return Picture(name, display, f"{caption} {display.caption()} Each run is the mean of its topics.")
