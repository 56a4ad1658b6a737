"""Words: the numbers of a caption, in the digits that stand everywhere else. Used by the displays."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from steelyard.analysis.formatting import interval_text, percent_interval, percent_text, three_digits
from steelyard.analysis.intervals import interval
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation


def percent(level: float) -> str:
    """A level or a share as a percentage."""
    return f"{100 * level:.3g} %"


def measured(evaluation: Evaluation, name: str) -> Any:
    """The evaluation's row of a metric; its interval by the same door where it was not asked for there."""
    if name in evaluation:
        return evaluation[name]
    data = evaluation.scores if evaluation.scores is not None else evaluation.confusion
    assert data is not None  # noqa: S101 - an evaluation is of labels or of scores
    return interval(name, data, level=evaluation.level, prevalence=evaluation.prevalence)


def told(row: Any) -> str:
    """A value with its interval."""
    return interval_text(row.value, row.low, row.high)


def rows_of(evaluation: Evaluation) -> str:
    """How many rows, and how many of them positive."""
    counts = evaluation.row_counts
    if counts is not None:
        return f"{evaluation.rows:,} rows, {int(counts.positives):,} of them positive"
    if evaluation.scores is not None:
        return f"{evaluation.rows:,} rows, {evaluation.scores.positive.n:,} of them positive"
    return f"{evaluation.rows:,} rows"


def rows_of_folds(each: list[Evaluation]) -> str:
    """How many rows, in how many test folds."""
    return f"{sum(one.rows for one in each):,} rows in {len(each)} test folds"


def share(value: float) -> str:
    """A share of rows as a percentage, never rounded to all or none; a dash where it is undefined."""
    return percent_text(float(value))


def shares(row: Any) -> str:
    """A share of rows with its interval."""
    return percent_interval(row.value, row.low, row.high)


def cropped(label: Any, most: int = 40) -> str:
    """A label of one line and of so many letters at most."""
    text = " ".join(str(label).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def short(label: Any, most: int = 16) -> str:
    """A label to be drawn; matplotlib is kept from reading mathematics into it."""
    return cropped(label, most).replace("$", r"\$")


def broken(text: str, width: float) -> str:
    """The text in lines of so many letters, words kept whole."""
    return textwrap.fill(text, max(int(width), 8), break_long_words=False)


def no_labels(what: str) -> InputError:
    """The error of a figure of labels where scores were only ranked."""
    return InputError(f"{what} needs labels, and the scores are not cut into any; give threshold=.")


def two_class(evaluation: Evaluation, what: str) -> Any:
    """The two-class table of an evaluation, or one sentence on what is missing."""
    if evaluation.confusion is None:
        raise no_labels(what)
    if evaluation.positive is None:
        raise InputError(f"{what} is about one positive class, and none is clear here; name it with pos_label=.")
    return evaluation.confusion.counts(evaluation.positive)


def cut(threshold: float | None) -> str:
    """A threshold in digits."""
    return "–" if threshold is None else three_digits(float(threshold))


def named(name: str, words: str) -> str:
    """Words about one model, opened by its name where it has one."""
    return f"{name}: {words}" if name else words
