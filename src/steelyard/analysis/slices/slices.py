"""Slices: for which rows a metric is worse than elsewhere, in a way that can be believed."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Unpack

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.analysis.slices.count_tests import ClassTest, RateTest
from steelyard.analysis.slices.score_test import ScoreTest
from steelyard.analysis.slices.slices_result import Slices
from steelyard.analysis.slices.statements import found_rows
from steelyard.exceptions import InputError
from steelyard.frames import queries
from steelyard.frames.conditions import Condition, Conjunction
from steelyard.frames.features import SliceTable, feature_blocks
from steelyard.frames.rows import EXACT_ROWS, matched_columns
from steelyard.frames.slices import RemoteRows, SliceColumns, fits_memory, no_features, rows_in_memory
from steelyard.frames.source import check_choices, index_columns, index_sentences, named_columns
from steelyard.metrics.call_options import NATIVE
from steelyard.metrics.spec import MetricSpec
from steelyard.predictions import Predictions, check_rows, question, refuse_bins, refuse_unused
from steelyard.tables.thresholding import ASSUMED_HALF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.analysis.slices.count_tests import SliceTest
    from steelyard.frames.features import Codes, SliceCounter
    from steelyard.frames.source import Source
    from steelyard.metrics.spec import SpecLike
    from steelyard.predictions import RowOptions, RowsLike


# ---------------------------------------------------------------- candidates
# Every conjunction of conditions with rows enough, and the rows of each outcome that it holds.


@dataclass(frozen=True)
class Candidates:
    """Slices: the indices of their features (-1 where there is none), their codes, and their rows by outcome.

    `last` is the last code of each condition, which differs from its first where a slice joins neighbouring bins.
    """

    features: Array
    codes: Array
    last: Array
    table: SliceTable
    whole: SliceTable

    def __len__(self) -> int:
        return len(self.features)

    def take(self, indices: Array) -> Candidates:
        """Some of them."""
        sums = None if self.table.sums is None else self.table.sums[indices]
        table = SliceTable(self.table.counts[indices], sums)
        return Candidates(self.features[indices], self.codes[indices], self.last[indices], table, self.whole)

    def joined(self, groups: Sequence[Sequence[int]]) -> Candidates:
        """Slices that join those of neighbouring bins, which share no row."""
        codes = np.array([self.codes[list(group)].min(0) for group in groups])
        last = np.array([self.last[list(group)].max(0) for group in groups])
        counts = np.array([self.table.counts[list(group)].sum(0) for group in groups])
        added = self.table.sums
        sums = None if added is None else np.array([added[list(group)].sum(0) for group in groups])
        features = self.features[[group[0] for group in groups]]
        return Candidates(features, codes, last, SliceTable(counts, sums), self.whole)

    def conditions(self, index: int) -> Codes:
        """The indices of the features of one slice, each with its code, the first one of bins that are joined."""
        pairs = zip(self.features[index].tolist(), self.codes[index].tolist(), strict=True)
        return tuple((feature, code) for feature, code in pairs if feature >= 0)

    def _ranges(self, index: int) -> list[tuple[int, int, int]]:
        """The indices of the features of one slice, each with its first and its last code."""
        columns = (self.features[index], self.codes[index], self.last[index])
        listed = zip(*(column.tolist() for column in columns), strict=True)
        return [(feature, first, last) for feature, first, last in listed if feature >= 0]

    def members(self, index: int) -> list[Codes]:
        """The slices of single bins that one slice consists of."""
        bins = [[(feature, code) for code in range(first, last + 1)] for feature, first, last in self._ranges(index)]
        return list(product(*bins))

    def written(self, index: int, counter: SliceCounter) -> Conjunction:
        """The conditions of one slice as such."""
        conditions = []
        for feature, first, last in self._ranges(index):
            lowest, highest = (counter.features[feature].conditions[code] for code in (first, last))
            if lowest != highest:
                lowest = Condition(lowest.feature, low=lowest.low, high=highest.high)
            conditions.append(lowest)
        return Conjunction(tuple(conditions))


def count_candidates(
    counter: SliceCounter, conditions: int, least: int, denominators: Sequence[Sequence[int]]
) -> Candidates:
    """All slices of up to so many conditions in which each denominator, a set of outcomes, has the least rows.

    A slice that a condition leaves as it was is left out: the shorter one says the same. What is left out depends on
    the features and on the denominators, never on how well the classifier does.
    """
    sizes = [feature.size for feature in counter.features]
    parts = []
    whole = None
    for block, subsets in feature_blocks(sizes, conditions, counter.most_cells // counter.kinds).items():
        table = counter.table(block)
        whole = table.part(()) if whole is None else whole
        for subset in subsets:
            part = table.part([block.index(i) for i in subset])
            parts.append(_candidates_of(part, subset, counter, conditions, least, denominators, whole))
    assert whole is not None  # noqa: S101 - there is a feature
    features, codes, counts, sums = (list(part) for part in zip(*parts, strict=True))
    added = None if sums[0] is None else np.concatenate(sums)
    coded = np.concatenate(codes)
    return Candidates(np.concatenate(features), coded, coded, SliceTable(np.concatenate(counts), added), whole)


def _candidates_of(
    table: SliceTable,
    subset: Sequence[int],
    counter: SliceCounter,
    conditions: int,
    least: int,
    denominators: Sequence[Sequence[int]],
    whole: SliceTable,
) -> tuple[Array, Array, Array, Array | None]:
    """The slices of one set of features that are candidates."""
    read = sorted({kind for each in denominators for kind in each})
    rows = table.counts[..., read].sum(-1)
    keep = np.ones(rows.shape, dtype=bool)
    for axis in range(rows.ndim):
        keep &= rows < rows.sum(axis, keepdims=True)  # else the other conditions alone hold the same rows
    for kinds in denominators:
        trials = table.counts[..., list(kinds)].sum(-1)
        keep &= (trials >= least) & (whole.counts[list(kinds)].sum() - trials >= least)
    for axis, feature in enumerate(subset):
        if counter.features[feature].has_rest:
            keep[(slice(None),) * axis + (-1,)] = False
    indices = np.argwhere(keep)
    pad = ((0, 0), (0, conditions - len(subset)))
    features = np.pad(np.tile(np.array(subset), (len(indices), 1)), pad, constant_values=-1)
    codes = np.pad(indices, pad, constant_values=-1)
    return features, codes, table.counts[keep], None if table.sums is None else table.sums[keep]


# ---------------------------------------------------------------- false discoveries
# Which of many tests are discoveries at a false discovery rate, and the level of their intervals.
#
# Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57; Benjamini and Yekutieli (2001), Annals
# of Statistics 29, for any dependence; of discrete tests Tarone (1990), Biometrics 46, and Gilbert (2005), Applied
# Statistics 54, who leave out what can never be rejected; Benjamini and Yekutieli (2005), JASA 100, on intervals.


PROCEDURES = ("bh", "by")


@dataclass(frozen=True)
class Discoveries:
    """Which tests are discoveries, most significant first, by their indices; adjusted p-values; how many tests."""

    places: Array
    adjusted: Array
    tested: int
    rate: float  # at which p-values are compared: less than the requested one for Benjamini and Yekutieli

    @property
    def unit(self) -> float:
        """What the p-value of a single discovery may be at most."""
        return self.rate / max(self.tested, 1)

    @property
    def limit(self) -> float:
        """What a p-value may be at most."""
        return self.unit * max(len(self.places), 1)

    @property
    def level(self) -> float:
        """The level of each discovery's interval, so that few of all of them miss."""
        return 1 - self.limit


def discoveries(p_values: Array, rate: float, method: str = "bh", least: Array | None = None) -> Discoveries:
    """The tests that are discoveries at this false discovery rate; `least` is what each p-value can be at the least.

    >>> found = discoveries(np.array([0.001, 0.2, 0.012, 0.9]), rate=0.05)
    >>> found.places, found.tested, round(found.level, 3)
    (array([0, 2]), 4, 0.975)
    """
    if method not in PROCEDURES:
        raise InputError(
            argument="method", expected="'bh' (Benjamini and Hochberg) or 'by' (Benjamini and Yekutieli)", given=method
        )
    testable = np.arange(len(p_values)) if least is None else _testable(least, rate)
    tested = len(testable)
    if method == "by" and tested:
        rate = rate / float((1 / np.arange(1, tested + 1)).sum())
    order = testable[np.argsort(p_values[testable], kind="stable")]
    ordered = p_values[order]
    ranks = np.arange(1, tested + 1)
    passed = np.flatnonzero(ordered <= rate * ranks / max(tested, 1))
    found = int(passed[-1]) + 1 if len(passed) else 0
    stepped = np.minimum.accumulate((ordered * tested / ranks)[::-1])[::-1][:found]
    return Discoveries(order[:found], np.minimum(stepped, 1.0), tested, rate)


def _testable(least: Array, rate: float) -> Array:
    """The tests that can be rejected at all: of k, those whose least p-value is at most the rate over k."""
    ordered = np.sort(least)
    counts = np.arange(1, len(least) + 1)
    # The smallest k for which at most k tests can reach rate / k.
    reaching = np.searchsorted(ordered, rate / counts, "right")
    enough = np.flatnonzero(reaching <= counts)
    k = int(counts[enough[0]]) if len(enough) else max(len(least), 1)
    return np.flatnonzero(least <= rate / k)


# ---------------------------------------------------------------- slice question
# The question of a frame and its answer: slices counted, tested, merged, put in words.


MOST_CONDITIONS = 3


@dataclass(frozen=True)
class SliceQuestion:
    """The metric, the columns, how many conditions a slice has, and how false discoveries are controlled."""

    spec: MetricSpec
    columns: SliceColumns
    conditions: int
    fdr: float
    method: str
    first: int

    def check(self) -> None:
        """Refuse a question that has no answer."""
        self._check_counts()
        if not 0 < self.fdr < 1:
            raise InputError(
                argument="fdr", expected="the share of false discoveries, above 0 and below 1", given=self.fdr
            )
        if self.method not in PROCEDURES:
            raise InputError(argument="method", expected="'bh' or 'by'", given=self.method)
        if not self.columns.features:
            raise InputError("There are no features to make slices of; name columns with features=.")
        if self.spec.average != NATIVE or not self.spec.sign:
            raise InputError(
                f"{self.spec.name} has no better and worse for one class; ask for another, such as recall."
            )

    def _check_counts(self) -> None:
        counts = {"conditions": self.conditions, "n_bins": self.columns.bins, "min_rows": self.columns.least}
        for name, count in {**counts, "first": self.first}.items():
            if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
                raise InputError(argument=name, expected="a whole number of 1 or more", given=count)
        if self.columns.bins == 1:
            raise InputError(
                "n_bins is 2 or more, not 1: a single bin holds every row; leave such a feature out instead."
            )
        if self.conditions > MOST_CONDITIONS:
            raise InputError(
                f"conditions is at most {MOST_CONDITIONS}, not {self.conditions}: a slice is stated in up to so many "
                "conditions; give 1, 2 or 3."
            )

    def answer(self, source: Source) -> Slices:
        """The slices, of rows in memory or counted where they live."""
        self.columns.check(source)
        metric = self.spec.metric
        of_scores = metric.function is None
        if of_scores and self.columns.score is None:
            raise InputError(f"{self.spec.name} needs scores; name their column with score=.")
        rate = RateTest.of(metric)
        columns = replace(self.columns, any_class=rate is not None and rate.counts_errors)
        if not (of_scores or fits_memory(source, columns)):
            return self.of_rows(RemoteRows.of(source, columns), self.count_test())
        if not fits_memory(source, self.columns) and queries.count_rows(source) > EXACT_ROWS:
            raise InputError(
                f"{self.spec.name} is tested on rows in memory, and there are more than {EXACT_ROWS:,}; give a sample, "
                "or ask for a metric of labels, which is counted where the rows live."
            )
        rows, positive, scores = rows_in_memory(source, columns, thresholded=not of_scores)
        if not of_scores:
            return self.of_rows(rows, self.count_test())
        assert scores is not None  # noqa: S101 - their column is named
        if self.columns.frequency is not None:
            raise InputError("frequency= is for metrics of labels; repeat the rows for metrics of scores.")
        test = ScoreTest.of(metric, rows, positive, scores)
        return self.of_rows(test.rows, test)

    def count_test(self) -> SliceTest:
        """The test of a metric of labels."""
        rate = RateTest.of(self.spec.metric)
        return ClassTest(self.spec.metric) if rate is None else rate

    def of_rows(self, counter: SliceCounter, test: SliceTest) -> Slices:
        """The slices of coded rows, by a test."""
        candidates = count_candidates(counter, self.conditions, self.columns.least, test.denominators)
        p_values = test.p_values(candidates.table, candidates.whole)
        least = test.least_p_values(candidates.table, candidates.whole)
        found = discoveries(p_values, self.fdr, self.method, least)
        columns, of_labels = self.columns, self.spec.metric.function is not None
        is_cut = of_labels and columns.pred is None and columns.threshold is None
        rows, more = found_rows(counter, test, candidates, p_values, found, self.first)
        return Slices(
            metric=self.spec.name,
            value=test.value(candidates.whole),
            found=rows,
            findable=test.findable(candidates.whole, found.unit, self.columns.least) if found.tested else Rows(),
            discoveries=len(found.places),
            tested=found.tested,
            candidates=len(candidates),
            rows=int(candidates.whole.counts.sum()),
            rate=self.fdr,
            method=self.method,
            level=found.level,
            assumed=(*counter.assumed, *((ASSUMED_HALF,) if is_cut else ())),
            counted=test.counted,
            errors=test.errors,
            least_of=test.least_of,
            is_share=self.spec.is_share,
            positive=counter.label,
            conditions=self.conditions,
            least=self.columns.least,
            features=self.columns.features,
            left_out=tuple(each.name for each in counter.features if not each.conditions),
            more=more,
        )


# ---------------------------------------------------------------- slices


@question
def slices(
    data: RowsLike = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    features: str | Sequence[str] | None = None,
    metric: SpecLike = "recall",
    conditions: int = 2,
    n_bins: int = 5,
    min_rows: int = 20,
    fdr: float = 0.05,
    method: str = "bh",
    first: int = 10,
    **rows: Unpack[RowOptions],
) -> Slices:
    """The slices of the rows in which a metric is worse than elsewhere, with false discoveries controlled.

    A slice is a conjunction of up to three `conditions` on `features`, columns of the frame or of `columns` (by default
    all others, but an index of pandas, dates, identifiers and what other models gave, which a note names): a level, a
    bin of numbers (about equally filled, at round numbers, at most `n_bins`), or a missing value. Each with at least so
    many rows of what the metric is a share of (`min_rows`) is tested exactly against the rows outside it, and those
    that pass Benjamini and Hochberg's procedure ("bh"; "by" holds under any dependence) at the false discovery rate
    `fdr` are discoveries. Their intervals are wide enough that at most that share of them misses. Discoveries that
    overlap are merged into the simplest statements, of which the `first` are shown; nothing found is an answer, with
    what could have been found. Scores are thresholded as in `evaluate`. Frames are counted where they live.

    >>> import numpy as np, polars as pl
    >>> rng = np.random.default_rng(0)
    >>> frame = pl.DataFrame({"age": rng.integers(20, 90, 6000), "site": rng.choice(["A", "B", "C"], 6000)})
    >>> bad = (frame["age"].to_numpy() >= 75) & (frame["site"].to_numpy() == "B")
    >>> y = rng.random(6000) < 0.3
    >>> found = slices(frame.with_columns(y=y, p=y & (rng.random(6000) < np.where(bad, 0.4, 0.8))), true="y", pred="p")
    >>> [each.slice for each in found]
    ['age >= 76 and site = B']
    """
    p = Predictions.of(data, predicted, **rows)
    check_rows(p, "slices")
    refuse_unused(p, "slices", "weights", "cluster", "design", "by")
    refuse_bins(p, "slices")
    spec = MetricSpec.of(metric)
    given, names, takes_all = p.given, named_columns("features", features), False
    assumed = [f"The features are {', '.join(names)}."]
    if names in ((), ("*",)):
        with p.frame() if given.is_frame else nullcontext() as source:
            others = [name for name in p.columns if name not in _used(p, source)]
            index = index_columns(map(str, others), () if source is None else source.index)
        names, takes_all = tuple(name for name in others if name not in index), True
        assumed = index_sentences(index)
    if spec.metric.function is None and p.kind == "class scores" and p.collect().kind == "class scores":
        raise InputError(f"{spec.name} is of the scores of one class, and there is a column for each; give pos_label=.")
    check_choices(given.threshold, None)
    framed, stated = p.framed(*names)
    there, label = framed.given, spec.label if given.pos_label is None else given.pos_label
    if takes_all and names:
        with framed.frame() as source:
            skipped = no_features(source, there.true, names)
        names = tuple(name for name in names if name not in skipped)
        reasons = dict.fromkeys(skipped.values())
        left_out = "; ".join(f"{', '.join(n for n in skipped if skipped[n] == why)} ({why})" for why in reasons)
        but = f", but for {left_out}" if left_out else ""
        assumed = [
            f"The features are all other columns: {', '.join(map(str, names))}{but}; features= names them.",
            *assumed,
        ]
    if there.model[1] is not None and given.threshold is not None and spec.metric.function is not None:
        assumed.append(f"Scores were thresholded at {given.threshold:g}.")
    columns = SliceColumns(there.true, *there.model, names, given.threshold, label, there.frequency, n_bins, min_rows)
    question = SliceQuestion(spec, columns, conditions, fdr, method, first)
    question.check()
    with framed.frame() as source:
        found = question.answer(source)
    return replace(found, assumed=(*stated, *found.assumed, *assumed))


def _used(p: Predictions, source: Source | None) -> set[str]:
    """The columns of a frame that have another use, none of which is a feature unless it is named."""
    if source is None:
        return set()
    uses = p.given.uses()
    scores = matched_columns(source, uses["scores"]).values() if "scores" in uses else ()
    named = {use: name for use, name in uses.items() if use not in ("by", "scores")}
    return {*map(str, named.values()), *scores}
