"""Two classes: the sentences on a table of positives and negatives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from steelyard.analysis.planning.sample_size import sample_size
from steelyard.analysis.prevalence.prevalence import Prevalence, at_prevalence
from steelyard.analysis.results.formatting import percent_interval, percent_text, three_digits
from steelyard.auditing.problem import SIMILAR_SHARE
from steelyard.evaluation.outcomes import STARTS, outcomes_text, starts, whole_outcomes
from steelyard.evaluation.verdict.baseline_sentences import fair_sentence, majority_sentence
from steelyard.evaluation.verdict.label_words import constant_words, positive_word
from steelyard.evaluation.verdict.sentences import Sentence
from steelyard.exceptions import SteelyardError

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.statistics.counts import Counts

FEW = 30  # rows of a class below which its recall is hardly known
FAR = 0.2  # between recall and specificity
_KNOWN_TO = 0.05  # the half-width, as a share, that a plan aims at


@dataclass(frozen=True)
class TwoClasses:
    """A two-class table as its sentences read it: in rows, and at the deployment prevalence."""

    evaluation: Evaluation

    @cached_property
    def rows(self) -> Counts:
        """The table in rows, whatever their weights."""
        rows = self.evaluation.row_counts
        assert rows is not None  # noqa: S101 - asked of an evaluation of two classes
        return rows

    @cached_property
    def counts(self) -> Counts:
        """The table by weight, at the deployment prevalence."""
        table, prevalence = self.evaluation.confusion, self.evaluation.prevalence
        assert table is not None  # noqa: S101 - asked of an evaluation of two classes
        at = table if prevalence is None else at_prevalence(table, prevalence)
        return at.counts(self.evaluation.positive)

    @property
    def weighted(self) -> bool:
        """Whether rows have different weights."""
        return self.evaluation.confusion is not None and self.evaluation.confusion.weighted

    @property
    def rarer(self) -> tuple[str, int]:
        """The class with fewer rows in words, and how many."""
        p, n = int(self.rows.positives), int(self.rows.negatives)
        return ("positives", p) if p <= n else ("negatives", n)

    @property
    def is_few(self) -> bool:
        """Whether a class has so few rows that this comes first."""
        return self.rarer[1] < FEW

    @property
    def are_similar(self) -> bool:
        """Whether the classes are of similar size where they are read."""
        return SIMILAR_SHARE < float(self.counts.positives / self.counts.total) < 1 - SIMILAR_SHARE

    @property
    def rate(self) -> MetricRow:
        """The recall of the rarer class."""
        return self.evaluation["recall" if self.rarer[0] == "positives" else "specificity"]

    @property
    def is_lopsided(self) -> bool:
        """Whether recall and specificity differ beyond their intervals."""
        recall, specificity = self.evaluation["recall"], self.evaluation["specificity"]
        return recall.high < specificity.low or specificity.high < recall.low


def outcomes_sentence(table: TwoClasses) -> Sentence:
    """The headline: the table in whole rows."""
    evaluation = table.evaluation
    exact = None if table.weighted or evaluation.prevalence is not None else int(table.rows.total)
    outcomes = whole_outcomes(table.counts, exact)
    start = _start(table, exact is not None and outcomes.base == exact)
    return Sentence(outcomes_text(outcomes, start, positive_word(evaluation.positive)), "outcomes")


def _start(table: TwoClasses, own_rows: bool) -> str:
    prevalence = table.evaluation.prevalence
    if prevalence is None:
        ways = starts(planned=table.evaluation.is_planned)
        return ways["these" if own_rows else "weighted" if table.weighted else "like"]
    if isinstance(prevalence, Prevalence) and prevalence.counts is None:
        return STARTS["prevalence"].replace("{share}", prevalence.text(table.evaluation.level))
    if isinstance(prevalence, (int, float)):
        return STARTS["prevalence"].replace("{share}", percent_text(prevalence))
    return STARTS["shares"]


def few_sentence(table: TwoClasses) -> Sentence:
    """What so few rows of a class cannot show."""
    (name, n), row = table.rarer, table.rate
    if n == 0:
        text = f"There are no {name}, so nothing shows how they would be classified; {row.name} is undefined."
        return Sentence(text, "one-class")
    fits = f"anything from {percent_text(row.low)} to {percent_text(row.high)} fits"
    fits = fits if row.low <= row.high else "of one cluster nothing shows how far it may be off"
    text = f"{row.spec.title} is {percent_text(row.value)}, but with {rows_of_class(n, name)} {fits}."
    return Sentence(text, f"few-{name}")


def rates_sentence(table: TwoClasses) -> Sentence | None:
    """Recall, specificity and precision; what was stated of a class of few rows is not repeated."""
    evaluation = table.evaluation
    recall, precision = evaluation["recall"], evaluation["precision"]
    head, code = _recall_words(table)
    if math.isnan(precision.value):
        words = f"precision is undefined: {precision.undefined}"
        code = "precision-undefined"
    else:
        words = f"precision is {_share(precision)}"
    text = "; ".join(part for part in (head, words) if part)
    random = [row for row in (recall, precision) if not math.isnan(row.chance) and not math.isnan(row.value)]
    if len(random) == 2 and not table.are_similar:
        values = " and ".join(f"{percent_text(row.chance)} {row.name}" for row in random)
        text = f"{text}. A random predictor that flags as many rows has {values}"
    return Sentence(f"{text[:1].upper()}{text[1:]}.", code) if text else None


def _recall_words(table: TwoClasses) -> tuple[str, str]:
    """Recall and specificity, and what of them limits the classifier."""
    recall, specificity = table.evaluation["recall"], table.evaluation["specificity"]
    if math.isnan(recall.value) or math.isnan(specificity.value):
        return ", ".join(f"{row.name} is {_share(row)}" for row in (recall, specificity) if row.value >= 0), "rates"
    if not table.is_lopsided:
        first, second = (specificity, recall) if table.is_few else (recall, specificity)
        return f"{first.name} is {_share(first)}, {second.name} {_of(second)}", "rates"
    low, high = (recall, specificity) if recall.value < specificity.value else (specificity, recall)
    far = "far below" if high.value - low.value > FAR else "below"
    own = _of(low) if table.is_few and low is table.rate else _share(low)
    return f"{low.name} is {own}, {far} {high.name} ({_of(high)})", f"{low.name}-below-{high.name}"


def _share(row: MetricRow) -> str:
    return percent_interval(row.value, row.low, row.high)


def _of(row: MetricRow) -> str:
    return percent_text(row.value)


def accuracy_sentence(table: TwoClasses) -> Sentence | None:
    """Accuracy beside the majority-class baseline; a fair summary where the classes are of similar size."""
    if table.are_similar:
        return fair_sentence(table.evaluation)
    share = float(table.counts.positives / table.counts.total)
    rarely, always = constant_words(table.evaluation.labels, table.evaluation.positive)
    constant = always if share > 0.5 else rarely
    return majority_sentence(table.evaluation, constant, max(share, 1 - share))


def sample_size_sentence(table: TwoClasses) -> Sentence | None:
    """How well the recall of the rarer class is known, and how many of its rows would do; a plan needs rows alike."""
    (name, n), row = table.rarer, table.rate
    half = (row.high - row.low) / 2
    if n == 0 or not half > _KNOWN_TO or table.weighted or row.method == "cluster":
        return None
    needed = _planned(table)
    if needed is None:
        return None
    known = (
        ""
        if table.is_few
        else f"With {rows_of_class(n, name)} {row.name} is known to ±{three_digits(100 * half)} points; "
    )
    wanted = f"{needed:,} would give ±{100 * _KNOWN_TO:g}"
    if not known:
        wanted = f"{needed:,} {name} would give {row.name} to ±{100 * _KNOWN_TO:g} points"
    return Sentence(f"{known}{wanted}.", "sample-size")


def _planned(table: TwoClasses) -> int | None:
    """The rows of the rarer class that a plan asks for; None where it cannot say."""
    evaluation, rows = table.evaluation, table.rows
    rows_at = (evaluation["recall"], evaluation["specificity"])
    recall, specificity = (min(max(row.value, 0.01), 0.99) for row in rows_at)
    share, width = float(rows.positives / rows.total), 2 * _KNOWN_TO
    try:
        plan = sample_size(
            table.rate.name,
            at=(recall, specificity),
            prevalence=share,
            width=width,
            level=evaluation.level,
            assurance=None,  # what is known of such a test set on average
        )
    except SteelyardError:
        return None
    return round(plan.positives if table.rarer[0] == "positives" else plan.negatives, -1)


def rows_of_class(n: int, name: str) -> str:
    """So many positives or negatives, in words."""
    return f"{n:,} {name if n != 1 else name.removesuffix('s')}"
