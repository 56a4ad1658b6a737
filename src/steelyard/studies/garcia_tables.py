"""García's tables and heat maps: correlations, readings, invariances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.auditing.correlation import CONCLUSIONS
from steelyard.metrics.registry import get_metric
from steelyard.report.figures.caption_text import percent
from steelyard.report.figures.correlation import CorrelationDisplay
from steelyard.studies.garcia import (
    GARCIA_NAMES,
    GARCIA_PAPER,
    GARCIA_STUDY,
    LATER,
    ONE_EDGE,
    WEIGHTS,
    GarciaResults,
    pearson_between,
    with_rate,
)
from steelyard.studies.pictures import Picture
from steelyard.studies.study import Table

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.auditing.correlation import CorrelationStudy
    from steelyard.studies.claims import TableRow

SIGN_WORDS = {"-": "stays", "+": "changes", "?": "undecided"}
_RATES = ("TPr", "TNr")


def _mean_note(results: GarciaResults) -> str:
    return f"Pearson's r, mean of {results.seeds} seeds."


@GARCIA_STUDY.table("correlations_with_rates", "Correlation with TPr and TNr, by the share of positives", _mean_note)
def _rates(results: GarciaResults) -> list[TableRow]:
    return [_rates_row(results.main, short, name) for short, name in GARCIA_NAMES.items()]


def _rates_row(study: CorrelationStudy, words: str, name: str) -> TableRow:
    row: TableRow = {"metric": words}
    for i, share in enumerate(study.positives):
        for rate in _RATES:
            row[f"{100 * share:g} % {rate}"] = _mean(pearson_between(study, name, GARCIA_NAMES[rate])[:, i])
    return row


def _mean(values: Array) -> float:
    """The mean of the seeds in which the correlation is defined, rounded as a correlation is."""
    defined = values[~np.isnan(values)]
    return round(float(defined.mean()), 3) if len(defined) else float("nan")


@GARCIA_STUDY.table(
    "intervals",
    "The same with its spread: 95 % of the seeds lie between",
    lambda results: f"Quantiles 2.5 % and 97.5 % of {results.seeds} seeds.",
)
def _spreads(results: GarciaResults) -> list[TableRow]:
    shares = range(len(results.main.positives))
    return [_spread_row(results.main, short, share) for short in GARCIA_NAMES for share in shares]


def _spread_row(study: CorrelationStudy, short: str, i: int) -> TableRow:
    row: TableRow = {"metric": short, "positives": f"{100 * study.positives[i]:g} %"}
    for rate in _RATES:
        values = with_rate(study, short, rate)[:, i]
        low, high = np.nanquantile(values, [0.025, 0.975])
        row |= {rate: _mean(values), f"{rate} from": round(float(low), 3), f"{rate} to": round(float(high), 3)}
    return row


@GARCIA_STUDY.table(
    "conclusions",
    "Share of the seeds in which each conclusion holds, by the reading of the paper",
    "Of all metrics of the conclusion at all five imbalances. The first row is the study's reading.",
)
def _readings(results: GarciaResults) -> list[TableRow]:
    return [_reading_row(words, study) for words, study in results.readings.items()]


def _reading_row(words: str, study: CorrelationStudy) -> TableRow:
    heads = ("1: Acc follows TNr", "2: five metrics rise with TPr", "3: four metrics follow TNr", "wAUC with one edge")
    shares = [percent(conclusion.share) for conclusion in study.conclusions([*CONCLUSIONS, ONE_EDGE])]
    return {"reading": words, "seeds": len(study.pearson)} | dict(zip(heads, shares, strict=True))


@GARCIA_STUDY.table(
    "invariance",
    "Table 2: what each metric does when the table changes",
    "p1 exchange of the classes; p2 to p5 a change of TN, FP, TP, FN alone. Stays is the paper's −, changes its +; "
    "where the paper prints another sign, it is given.",
)
def _signs(results: GarciaResults) -> list[TableRow]:
    return [_sign_row(short, results.table_2[short]) for short in GARCIA_NAMES]


def _sign_row(short: str, signs: str) -> TableRow:
    printed = GARCIA_PAPER["table_2"]
    row: TableRow = {"metric": short, "is": GARCIA_NAMES[short]}
    for name, here, there in zip(printed["order"], signs, printed["signs"][short], strict=True):
        row[name] = SIGN_WORDS[here] if here == there else f"{SIGN_WORDS[here]} (printed: {SIGN_WORDS[there]})"
    return row


@GARCIA_STUDY.table(
    "size",
    "How the correlations at 5 % positives depend on the length of the list",
    "sd: of TPr and of TNr over the tuples of one distortion, mean over distortions and seeds.",
)
def _sizes(results: GarciaResults) -> list[TableRow]:
    return [_size_row(n, study) for n, study in results.sizes.items()]


def _size_row(n: int, study: CorrelationStudy) -> TableRow:
    row: TableRow = {"rows of the list": n, "positives": round(0.05 * n)}
    for short in ("AUC", "Gm"):
        row |= {f"{short} with {rate}": _mean(with_rate(study, short, rate)[:, 0]) for rate in _RATES}
    for rate in _RATES:
        values = np.asarray(get_metric(GARCIA_NAMES[rate])(study.counts))[:, 0]
        row[f"sd {rate}"] = round(float(values.std(-1).mean()), 4)
    return row


@GARCIA_STUDY.table("weights", "Class-weighted accuracy by its weight w: correlation with TPr and TNr")
def _weights(results: GarciaResults) -> list[TableRow]:
    return [_rates_row(results.weights, f"w = {w}", name) for w, name in WEIGHTS.items()]


@GARCIA_STUDY.table(
    "later_metrics",
    "Metrics of the other papers in the same experiment",
    "AC-score, TPNR and informedness give both recalls equal weight, and correlate like AUC and Gm.",
)
def _later(results: GarciaResults) -> list[TableRow]:
    return [_rates_row(results.later, get_metric(name).title, name) for name in LATER]


@GARCIA_STUDY.tables
def _matrices(results: GarciaResults) -> list[Table]:
    note = _mean_note(results)
    return [
        Table(
            f"matrix_{round(100 * share):02d}",
            f"All pairs of metrics with {100 * share:g} % positives",
            matrix_rows(results.main, share),
            note,
        )
        for share in results.main.positives
    ]


def matrix_rows(study: CorrelationStudy, share: float, *, rank: bool = False) -> list[TableRow]:
    """The correlations of all pairs of metrics, by the paper's names where it has one."""
    shorts = {name: short for short, name in GARCIA_NAMES.items()}
    order = [shorts.get(name, name) for name in study.names]
    return [
        {"metric": short, **{other: round(float(r), 3) for other, r in zip(order, line, strict=True)}}
        for short, line in zip(order, study.matrix(share, rank=rank), strict=True)
    ]


@GARCIA_STUDY.pictures
def _heat_maps(results: GarciaResults) -> list[Picture]:
    """A heat map an imbalance."""
    return [
        Picture(
            f"heat_{round(100 * share):02d}", CorrelationDisplay.from_study(results.main, positives=share), width=4.2
        )
        for share in results.main.positives
    ]
