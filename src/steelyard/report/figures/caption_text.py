"""Caption text: the numbers and labels of a figure's words, in the digits that stand everywhere else."""

from __future__ import annotations

import textwrap
import unicodedata
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.prevalence.prevalence import Prevalence, positive_shares
from steelyard.analysis.results.formatting import interval_text, percent_interval, percent_text, three_digits
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Label
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.tables.counts import Counts


def percent(level: float) -> str:
    """A level or a share as a percentage."""
    return f"{100 * level:.3g} %"


def metric_row(evaluation: Evaluation, name: str) -> MetricRow | Interval:
    """The evaluation's row of a metric; its interval computed alike where the evaluation has none."""
    if name in evaluation:
        return evaluation[name]
    data = evaluation.scores if evaluation.scores is not None else evaluation.confusion
    assert data is not None  # noqa: S101 - an evaluation is of labels or of scores
    return interval(name, data, level=evaluation.level, prevalence=evaluation.prevalence)


def area_text(row: MetricRow | Interval) -> str:
    """A value with its interval."""
    return interval_text(row.value, row.low, row.high, share=row.spec.is_share)


def area_or_reason(row: MetricRow | Interval) -> str:
    """A value with its interval, or why there is none."""
    reason = row.why if isinstance(row, Interval) else row.undefined
    return f"– ({reason})" if isnan(row.value) and reason else area_text(row)


def rows_text(evaluation: Evaluation) -> str:
    """How many rows, and how many of them positive."""
    counts = evaluation.row_counts
    if counts is not None:
        return f"{evaluation.rows:,} rows, {int(counts.positives):,} of them positive"
    if evaluation.scores is not None:
        return f"{evaluation.rows:,} rows, {evaluation.scores.positive.n:,} of them positive"
    return f"{evaluation.rows:,} rows"


def shared_rows_text(evaluations: Iterable[Evaluation]) -> str:
    """The rows of several models, or of several groups where each has its own."""
    parts = list(evaluations)
    if len({rows_text(part) for part in parts}) == 1:
        return rows_text(parts[0])
    sizes = sorted({part.rows for part in parts})
    return f"{' to '.join(f'{size:,}' for size in dict.fromkeys((sizes[0], sizes[-1])))} rows each"


def read_text(evaluations: Iterable[Evaluation]) -> str:
    """The rows of several models as above, and the prevalence at which they are read where that is another."""
    parts = list(evaluations)
    rows = shared_rows_text(parts)
    return rows if parts[0].prevalence is None else f"{rows}, at a prevalence of {_prevalence_text(parts[0])}"


def _prevalence_text(evaluation: Evaluation) -> str:
    """The prevalence of the positives, or of each class."""
    given: Any = evaluation.prevalence
    if isinstance(given, Prevalence) and given.counts is None:
        return given.text(evaluation.level)
    shares = given if evaluation.scores is None else positive_shares(evaluation.scores, given)
    return ", ".join(percent_text(float(share)) for share in np.atleast_1d(np.asarray(shares)))


def folds_text(folds: list[Evaluation]) -> str:
    """How many rows, in how many test folds."""
    return f"{sum(fold.rows for fold in folds):,} rows in {len(folds)} test folds"


def share(value: float) -> str:
    """A share of rows as a percentage, never rounded to all or none; a dash where it is undefined."""
    return percent_text(float(value))


def share_interval(row: MetricRow | Interval) -> str:
    """A share of rows with its interval."""
    return percent_interval(row.value, row.low, row.high)


def cropped(label: Label, most: int = 40) -> str:
    """A label of one line and of so many letters at most."""
    text = " ".join(str(label).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def drawn_label(label: Label, most: int = 16) -> str:
    """A label to be drawn; matplotlib is kept from reading mathematics into it.

    Marks around letters that run from right to left keep the numbers beside them in their order.
    """
    text = cropped(label, most).replace("$", r"\$")
    return f"\u200e{text}\u200e" if any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in text) else text


def wrapped(text: str, width: float) -> str:
    """The text in lines of so many letters, words kept whole."""
    return textwrap.fill(text, max(int(width), 8), break_long_words=False)


def labels_missing(what: str) -> InputError:
    """The error of a figure of labels where scores were only ranked."""
    return InputError(f"{what} needs labels, and the scores have no threshold; give threshold=.")


def two_class(evaluation: Evaluation, what: str) -> Counts:
    """The two-class table of an evaluation, or one sentence on what is missing."""
    if evaluation.confusion is None:
        raise labels_missing(what)
    if evaluation.positive is None:
        raise InputError(f"{what} is about one positive class, and none is clear here; name it with pos_label=.")
    return evaluation.confusion.counts(evaluation.positive)


def threshold_text(threshold: float | None) -> str:
    """A threshold in digits."""
    return "–" if threshold is None else three_digits(float(threshold))


def with_name(name: str, words: str) -> str:
    """Words about one model, opened by its name where it has one."""
    return f"{name}: {words}" if name else words
