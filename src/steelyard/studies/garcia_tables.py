"""Tables and heat maps of the study garcia: correlations, readings, invariances. Used by the study garcia."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.garcia_conclusions import CONCLUSIONS
from steelyard.metrics.registry import get_metric
from steelyard.report.figures.caption_text import percent
from steelyard.report.figures.correlation import CorrelationDisplay
from steelyard.studies.garcia_readings import LATER, METRICS, ONE_EDGE, PAPER, WEIGHTS, WORDS, between, correlations
from steelyard.studies.study import Picture, Table

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.auditing.correlation import CorrelationStudy


def tables(
    main: CorrelationStudy,
    readings: dict[str, CorrelationStudy],
    sizes: dict[int, CorrelationStudy],
    weights: CorrelationStudy,
    later: CorrelationStudy,
    table_2: dict[str, str],
) -> list[Table]:
    """All of them; the matrices last."""
    n = len(main.pearson)
    return [
        Table(
            "correlations_with_rates",
            "Correlation with TPr and TNr, by the share of positives",
            [_rates_row(main, s, name) for s, name in METRICS.items()],
            f"Pearson's r, mean of {n} seeds.",
        ),
        Table(
            "intervals",
            "The same with its spread: 95 % of the seeds lie between",
            [_spread_row(main, s, share) for s in METRICS for share in range(len(main.positives))],
            f"Quantiles 2.5 % and 97.5 % of {n} seeds.",
        ),
        Table(
            "conclusions",
            "Share of the seeds in which each conclusion holds, by the reading of the paper",
            [_reading_row(words, study) for words, study in readings.items()],
            "Of all metrics of the conclusion at all five imbalances. The first row is the study's reading.",
        ),
        Table(
            "invariance",
            "Table 2: what each metric does when the table changes",
            [_sign_row(short, table_2[short]) for short in METRICS],
            "p1 exchange of the classes; p2 to p5 a change of TN, FP, TP, FN alone. Stays is the paper's −, changes "
            "its +; where the paper prints another sign, it is given.",
        ),
        Table(
            "size",
            "How the correlations at 5 % positives depend on the length of the list",
            [_size_row(n, study) for n, study in sizes.items()],
            "sd: of TPr and of TNr over the tuples of one distortion, mean over distortions and seeds.",
        ),
        Table(
            "weights",
            "Class-weighted accuracy by its weight w: correlation with TPr and TNr",
            [_rates_row(weights, f"w = {w}", f"class_weighted_accuracy[w={w}]") for w in WEIGHTS],
        ),
        Table(
            "later_metrics",
            "Metrics of the other papers in the same experiment",
            [_rates_row(later, get_metric(name).title, name) for name in LATER],
            "AC-score, TPNR and informedness weigh both recalls alike, and correlate like AUC and Gm.",
        ),
        *(
            Table(
                f"matrix_{round(100 * share):02d}",
                f"All pairs of metrics with {100 * share:g} % positives",
                _matrix_rows(main, share),
                f"Pearson's r, mean of {n} seeds.",
            )
            for share in main.positives
        ),
    ]


def _rates_row(study: CorrelationStudy, words: str, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"metric": words}
    for i, share in enumerate(study.positives):
        for short in ("TPr", "TNr"):
            row[f"{100 * share:g} % {short}"] = _mean(between(study, name, METRICS[short])[:, i])
    return row


def _mean(values: Array) -> float:
    """The mean of the seeds in which the correlation is defined, rounded as a correlation is."""
    known = values[~np.isnan(values)]
    return round(float(known.mean()), 3) if len(known) else float("nan")


def _spread_row(study: CorrelationStudy, short: str, i: int) -> dict[str, Any]:
    row: dict[str, Any] = {"metric": short, "positives": f"{100 * study.positives[i]:g} %"}
    for rate in ("TPr", "TNr"):
        values = correlations(study, short, rate)[:, i]
        low, high = np.nanquantile(values, [0.025, 0.975])
        row |= {rate: _mean(values), f"{rate} from": round(float(low), 3), f"{rate} to": round(float(high), 3)}
    return row


def _reading_row(words: str, study: CorrelationStudy) -> dict[str, Any]:
    found = study.conclusions([*CONCLUSIONS, ONE_EDGE])
    heads = (
        "1: Acc follows TNr",
        "2: five metrics rise with TPr",
        "3: four metrics follow TNr",
        "wAUC with one edge",
    )
    return {"reading": words, "seeds": len(study.pearson)} | {
        head: f"{percent(one.share)}" for head, one in zip(heads, found, strict=True)
    }


def _sign_row(short: str, signs: str) -> dict[str, Any]:
    printed = PAPER["table_2"]
    row: dict[str, Any] = {"metric": short, "is": METRICS[short]}
    for name, here, there in zip(printed["order"], signs, printed["signs"][short], strict=True):
        row[name] = WORDS[here] if here == there else f"{WORDS[here]} (printed: {WORDS[there]})"
    return row


def _size_row(n: int, study: CorrelationStudy) -> dict[str, Any]:
    row: dict[str, Any] = {"rows of the list": n, "positives": round(0.05 * n)}
    row |= {f"AUC with {rate}": _mean(correlations(study, "AUC", rate)[:, 0]) for rate in ("TPr", "TNr")}
    row |= {f"Gm with {rate}": _mean(correlations(study, "Gm", rate)[:, 0]) for rate in ("TPr", "TNr")}
    for rate in ("TPr", "TNr"):
        values = np.asarray(get_metric(METRICS[rate])(study.counts))[:, 0]
        row[f"sd {rate}"] = round(float(values.std(-1).mean()), 4)
    return row


def _matrix_rows(study: CorrelationStudy, share: float) -> list[dict[str, Any]]:
    matrix = study.matrix(share)
    shorts = {name: short for short, name in METRICS.items()}
    order = [shorts[name] for name in study.names]
    return [
        {"metric": short, **{other: round(float(r), 3) for other, r in zip(order, line, strict=True)}}
        for short, line in zip(order, matrix, strict=True)
    ]


def pictures(main: CorrelationStudy) -> list[Picture]:
    """A heat map an imbalance."""
    return [
        Picture(f"heat_{round(100 * share):02d}", CorrelationDisplay.from_study(main, positives=share), width=4.2)
        for share in main.positives
    ]
