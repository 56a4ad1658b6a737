"""Nguyen's printed tables: their spread, and which numbers of texts can give their accuracies at all."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard.auditing.ratio_spread import Spread, spread_of
from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts
from steelyard.studies.claims import published

if TYPE_CHECKING:
    from steelyard.studies.claims import TableRow

PRINTED = ("20:80", "50:50", "80:20")
PRINTED_TABLES = {"table_II": ("accuracy", "f1"), "table_III": ("alpha_accuracy", "alpha_f1")}
FACTORED = "with the factor"
_NOMINAL = {"20:95": 0.25, "80:19": 4.0}  # the factor that the tables' heads print

RUNS = 10  # pooled in the tables
MOST_TEXTS = 1_600  # texts of a topic's test set, all runs together: more than any reading of the paper gives
PRINTING = 0.0051  # how far a number may be from one printed with two decimals
_SHARES = (0.2, 0.5, 0.8)  # of positives, by the heads of Tables II and III


def _columns(column: int) -> list[tuple[float, float]]:
    """The accuracies of each topic, without and with the factor."""
    plain, factored = published("nguyen")["table_II"]["accuracy"], published("nguyen")["table_III"]["alpha_accuracy"]
    return [(plain[topic][column], factored[topic][column]) for topic in plain if topic != "Average"]


@cache
def totals(column: int) -> tuple[int, ...]:
    """The numbers of texts, 50 to 1,600, of which whole numbers of right answers give all accuracies of a column.

    >>> totals(0), totals(1), totals(2)
    ((1150,), (), (990,))
    """
    printed = np.array([plain for plain, _ in _columns(column)])
    return tuple(
        n for n in range(50, MOST_TEXTS + 1) if np.abs(100 * np.rint(printed * n / 100) / n - printed).max() <= PRINTING
    )


@cache
def text_divisions(column: int, factor: float | None = None) -> tuple[tuple[int, int], ...]:
    """The positives and negatives of such a number that give the accuracies with the factor too.

    The factor is that of the two, or the one given; the two exchanged give the same, so that nearer to the head comes
    first.

    >>> text_divisions(0), text_divisions(0, factor=0.25)
    (((200, 950), (950, 200)), ())
    """
    fits = [(p, n - p) for n in totals(column) for p in range(1, n) if _fits(column, p, n - p, factor or p / (n - p))]
    return tuple(sorted(fits, key=lambda sizes: abs(sizes[0] / sum(sizes) - _SHARES[column])))


def fitting() -> str:
    """The sets of the two unbalanced columns that can give the printed numbers.

    >>> fitting()
    '200 + 950 or 950 + 200, and 800 + 190 or 190 + 800'
    """
    return ", and ".join(" or ".join(f"{p} + {n}" for p, n in text_divisions(column)) for column in (0, 2))


def _fits(column: int, positives: int, negatives: int, factor: float) -> bool:
    return all(_fitting(*pair, positives, negatives, factor) for pair in _columns(column))


def _fitting(plain: float, factored: float, positives: int, negatives: int, factor: float) -> bool:
    """Whether the right answers of one topic can be shared between the classes so that both accuracies come out."""
    right = round(plain * (positives + negatives) / 100)
    tp = np.arange(max(0, right - negatives), min(positives, right) + 1)
    values = 100 * (tp + factor * (right - tp)) / (positives + factor * negatives)
    return bool((np.abs(values - factored) <= PRINTING).any())


# ---------------------------------------------------------------- what is printed, by topic


def paper_spread(metric: str, topics: tuple[str, ...] | None = None) -> Spread:
    """The same of the numbers that the paper prints, of all topics or of those named."""
    columns = zip(*(printed_rows(metric)[topic] for topic in topics or all_topics()), strict=True)
    return spread_of(dict(zip(PRINTED, map(list, columns), strict=True)), name=metric)


def paper_averages(metric: str, topics: tuple[str, ...]) -> list[float]:
    """The averages that the paper prints or, where only some topics were tried, its averages of these."""
    if set(topics) == set(all_topics()):
        return printed_rows(metric)["Average"]
    return list(paper_spread(metric, topics).means.values())


def paper_calmer(pair: tuple[str, str], topics: tuple[str, ...]) -> int:
    """In how many topics the paper's own spread over the ratios is smaller with the factor."""
    plain, factored = (np.array([printed_rows(metric)[topic] for topic in topics]) for metric in pair)
    return int((np.ptp(factored, 1) < np.ptp(plain, 1)).sum())


def all_topics() -> tuple[str, ...]:
    """The topics of Table I."""
    return tuple(published("nguyen")["table_I"])


def printed_rows(metric: str) -> dict[str, list[float]]:
    """The values of a metric by topic, each at the three ratios, in Table II or III."""
    table = next(name for name, metrics in PRINTED_TABLES.items() if metric in metrics)
    rows: dict[str, list[float]] = published("nguyen")[table][metric]
    return rows


def regenerated() -> list[TableRow]:
    """The accuracies of Tables II and III from the reconstructed counts, with the real factor and the nominal one."""
    rows = []
    for ratio, tables in published("nguyen")["counts"].items():
        column = 0 if ratio == "20:95" else 2
        for topic, cells in tables.items():
            rows.append({"topic": topic, "test set": ratio} | _again(Counts(*cells), topic, column, _NOMINAL[ratio]))
    return rows


def _again(counts: Counts, topic: str, column: int, nominal: float) -> dict[str, float]:
    plain, factored = get_metric("accuracy"), get_metric("alpha_accuracy")
    printed = {
        "accuracy": printed_rows("accuracy")[topic][column],
        FACTORED: printed_rows("alpha_accuracy")[topic][column],
    }
    ours = {"accuracy": 100 * float(plain(counts)), FACTORED: 100 * float(factored(counts))}
    row: dict[str, float] = {}
    for name, value in ours.items():
        row |= {f"{name} P": printed[name], name: value, f"{name}, difference": round(value - printed[name], 8)}
    return row | {"with the printed factor": 100 * float(factored(counts, alpha=nominal))}
