"""Compare groups: whether a metric is the same in all groups of rows, by how much they differ, and their gaps."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.comparison.groups import (
    BY_DRAWS,
    BY_INTERVALS,
    GAP_ROLES,
    GroupTest,
    RateDraws,
    RateEnds,
    difference_ends,
    gaps_of,
    interval_equality,
    level_of_each,
)
from steelyard.analysis.intervals.inference import Inference
from steelyard.evaluation.evaluate import evaluated_rows
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.given_rows import GivenRows
from steelyard.evaluation.group_comparison import REST, GroupComparison, GroupDifference
from steelyard.evaluation.group_parts import GroupParts, check_group_number
from steelyard.evaluation.inputs import RowOptions
from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.group_bins import binned_groups
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.registry import metrics_with_role
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, LabelSet, Rng
    from steelyard.analysis.comparison.groups import GroupGap
    from steelyard.ingest.array_groups import By
    from steelyard.ingest.group_bins import Bins
    from steelyard.ingest.source import Source
    from steelyard.metrics.spec import SpecLike

_PAIRS = "pairs"
_MOST_ON_A_PAGE = 20  # groups


@refuses_other_keywords
def compare_groups(
    y_true: Evaluation | Tally | Source | Frame | ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    by: By | None = None,
    bins: Bins | None = None,
    threshold: float | None = None,
    metrics: Iterable[SpecLike] | None = None,
    versus: Label = "rest",
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: ArrayLike | None = None,
    frequency: ArrayLike | str | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    true: str | None = None,
    pred: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    cluster: ArrayLike | str | None = None,
    design: str = "random",
    exact: bool | None = None,
) -> GroupComparison:
    """Compare groups of rows by each metric: one test that all are equal, and differences that hold together.

    The rows are given as to `evaluate`, with `by` and `bins`; or an Evaluation that has groups. `versus` says what each
    group is compared with: "rest", all other rows; "pairs", every other group; or one group by its name. The intervals
    of all differences of a metric hold together at the level. Beside them stand the gaps and ratios of demographic
    parity, equal opportunity, equalized odds and predictive parity, by fairlearn's names and with its values. The
    largest gap of equal groups is not 0 in any sample, so its interval is made of those of all pairs together. Rows of
    different groups are taken as independent; where a `cluster` has rows in several groups the intervals are wider
    than need be.

    >>> from steelyard import compare_groups
    >>> y_true, site = [1] * 80 + [0] * 120, ["a"] * 40 + ["b"] * 40 + ["a"] * 60 + ["b"] * 60
    >>> y_pred = [1] * 36 + [0] * 4 + [1] * 20 + [0] * 20 + [0] * 120
    >>> groups = compare_groups(y_true, y_pred, by={"site": site}, metrics=["recall"])
    >>> groups.differences[0]
    recall, site = a minus site = b: 40.0 points (20.3 to 56.0)
    >>> print(f"{groups.test('recall').p_value:.4f}")
    0.0005
    """
    if isinstance(y_true, Evaluation):
        _refuse_rows(y_pred=y_pred, y_score=y_score, by=by, true=true, threshold=threshold)
        return compared_groups(y_true, Inference(y_true.level, "auto", draws, rng), metrics, versus)
    if by is None and not getattr(y_true, "groups", None):
        raise InputTypeError("by= names the groups to compare: a column of the frame, or one value per row.")
    if isinstance(y_true, Tally):
        check_group_number(len(y_true.groups))  # before each is evaluated
    columns = FrameColumns(true, pred, score, weight)  # type: ignore[arg-type]  # several are brought
    data, by = binned_groups(y_true, by, bins, frame=true is not None)
    rows = RowOptions(pos_label, labels, sample_weight, frequency)
    given = GivenRows(data, y_pred, y_score, rows, columns, by, cluster)
    inference = Inference(level, "auto", draws, rng, None, None, design)
    evaluated = evaluated_rows(given, threshold, inference, metrics=metrics, exact=exact)
    return compared_groups(evaluated.evaluation, evaluated.inference, metrics, versus, evaluated.probabilities)


def _refuse_rows(**given: object) -> None:
    named = [f"{name}=" for name, value in given.items() if value is not None]
    if named:
        raise InputTypeError(f"{named[0]} is about rows, and an Evaluation holds its groups; give one of them.")


def compared_groups(
    evaluation: Evaluation,
    inference: Inference,
    metrics: Iterable[SpecLike] | None = None,
    versus: Label = "rest",
    columns: object = None,
) -> GroupComparison:
    """The comparison of the groups of an evaluation by these metrics, or by the usual ones."""
    if inference.clustered is None and evaluation.is_clustered:
        raise InputError(
            "The rows of this evaluation are clustered, and it does not keep them; give the rows, with by=."
        )
    inference = replace(inference, prevalence=evaluation.prevalence)
    parts = GroupParts.of(evaluation, inference, columns)  # type: ignore[arg-type]  # as evaluate made it
    specs = _specs(evaluation) if metrics is None else MetricSpec.all_of(metrics)
    ends, why = parts.ends(specs, inference.level)
    named = [spec for name in ends for spec in [_spec_of(name, specs)]]
    other = _other(versus, parts)
    differences = [row for spec in named for row in _differences(parts, spec, other)]
    return GroupComparison(
        evaluation.groups[0].by,
        parts.names,
        tuple(group.rows for group in evaluation.groups),
        tuple(differences),
        tuple(_test(parts, spec, ends[spec.name], why.get(spec.name)) for spec in named),
        tuple(_gaps(parts)),
        inference.level,
        REST if other == -1 else _PAIRS if other is None else parts.names[other],
        evaluation.assumed,
    )


def groups_on_a_page(evaluation: Evaluation, names: Iterable[SpecLike]) -> GroupComparison | None:
    """The comparison of few groups by the metrics that a page shows; None where it cannot be made of the tables."""
    kept = all(group.confusion is not None for group in evaluation.groups)
    if not 2 <= len(evaluation.groups) <= _MOST_ON_A_PAGE or evaluation.is_clustered or not kept:
        return None
    specs = [spec for spec in MetricSpec.all_of(names) if spec.metric.scores is None and spec.metric.columns is None]
    return compared_groups(evaluation, Inference(evaluation.level), specs) if specs else None


def _specs(evaluation: Evaluation) -> list[MetricSpec]:
    """The metrics that a table of groups shows, or all that were evaluated of each group where they were named."""
    rows = [row for row in evaluation.groups[0].metrics if all(row.name in group for group in evaluation.groups)]
    usual = [row.spec for row in rows if "group on the page" in row.spec.metric.roles and row.spec.is_native]
    return usual if usual and not evaluation.metrics_named else [row.spec for row in rows]


def _spec_of(name: str, specs: Sequence[MetricSpec]) -> MetricSpec:
    return next((spec for spec in specs if spec.name == name), None) or MetricSpec.of(name)


def _other(versus: Label, parts: GroupParts) -> int | None:
    """What each group is compared with: the place of a group, -1 for all other rows, None for each other group."""
    if versus in ("rest", _PAIRS) and len(parts.names) > 2:
        return -1 if versus == "rest" else None
    if versus in ("rest", _PAIRS):
        return None  # of two groups the other is the rest
    texts = [tuple(map(str, key)) for key in parts.keys]
    for place, name in enumerate(parts.names):
        if versus == name or (str(versus),) == texts[place] or versus == parts.keys[place]:
            return place
    near = did_you_mean(str(versus), parts.names)
    raise InputError(
        f"versus= is 'rest', 'pairs' or a group, not {versus!r}; the groups are {first_ten(list(parts.names))}.{near}"
    )


def _differences(parts: GroupParts, spec: MetricSpec, other: int | None) -> Iterator[GroupDifference]:
    """The differences by one metric, whose intervals hold together."""
    size = len(parts.names)
    places = list(combinations(range(size), 2)) if other is None else [(i, other) for i in range(size) if i != other]
    level = level_of_each(parts.inference.level, len(places))
    ends, why = parts.ends([spec], level)
    mine, others, reasons = ends[spec.name], ends[spec.name], [why.get(spec.name)]
    if other == -1:
        others_ends, others_why = parts.rest().ends([spec], level)
        others, reasons = others_ends[spec.name], [*reasons, others_why.get(spec.name)]
    for i, j in places:
        value, opposite = mine[i], others[i if other == -1 else j]
        middle, low, high = _within(difference_ends(value, opposite), spec)
        undefined = next(filter(None, reasons), "undefined") if math.isnan(middle) else None
        name = REST if other == -1 else parts.names[j]
        values = float(value[0]), float(opposite[0])
        yield GroupDifference(spec, parts.names[i], name, *values, middle, low, high, undefined)


def _within(ends: Array, spec: MetricSpec) -> tuple[float, float, float]:
    """The difference and its ends, no farther than the range of the metric allows."""
    low, high = spec.metric.range
    middle, below, above = np.clip(ends, low - high, high - low).tolist()
    return middle, below, above


def _test(parts: GroupParts, spec: MetricSpec, ends: Array, why: str | None) -> GroupTest:
    """The test that all groups are equal by a metric, of those in which it is defined."""
    defined = int(np.isfinite(ends[:, 0]).sum())
    rates = parts.hits(spec.metric) if spec.is_native and spec.metric.function is not None else None
    if defined < 2:
        return GroupTest(spec, defined, math.nan, math.nan, BY_INTERVALS, why or "fewer than two groups have a value")
    if rates is not None:
        drawn = RateDraws(*rates, parts.inference.generator)
        statistic, p = drawn.equality()
        return GroupTest(spec, defined, statistic, p, BY_DRAWS, why, drawn.is_bound(p))
    return GroupTest(spec, defined, *interval_equality(ends, parts.inference.level), BY_INTERVALS, why)


def _gaps(parts: GroupParts) -> Iterator[GroupGap]:
    """The gaps by the rates that each notion of fairness compares; none without labels or a positive class."""
    if parts.positive is None or any(table is None for table in parts.tables):
        return
    pairs, rng = len(parts.names) * (len(parts.names) - 1) // 2, parts.inference.generator
    for role in GAP_ROLES:
        metrics, rates = metrics_with_role(role), []
        specs = [MetricSpec(metric) for metric in metrics]
        ends, why = parts.ends(specs, level_of_each(parts.inference.level, pairs * len(specs)))
        for spec in specs:
            hits = parts.hits(spec.metric)
            drawn = None if hits is None or why.get(spec.name) else RateDraws(*hits, rng).rates
            rates.append(RateEnds(spec.name, ends[spec.name], drawn, why.get(spec.name)))
        yield from gaps_of(role, rates, parts.names)
