"""Inference: the options that travel together wherever a value gets an interval."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from steelyard.analysis.intervals.column_intervals import column_method, label_set_method
from steelyard.analysis.intervals.draw_ends import kinks
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.intervals.influence import has_influence
from steelyard.analysis.intervals.isotonic import is_calibration_error, is_isotonic, is_searched
from steelyard.analysis.intervals.operating_point import is_of_highest
from steelyard.analysis.intervals.rate_intervals import RATE_INTERVALS, is_rate
from steelyard.analysis.intervals.score_intervals import AUC_INTERVALS, has_auc_interval
from steelyard.analysis.levels import check_level, tails
from steelyard.analysis.prevalence.prevalence import stated_prevalence
from steelyard.arrays import checks, label_codes
from steelyard.arrays.backend import as_read
from steelyard.exceptions import InputError, InputTypeError
from steelyard.frames.groups import group_columns, group_places
from steelyard.frames.source import CLUSTERS_NEED_ROWS, refuse_name
from steelyard.tables.multilabel_table import MultilabelTable
from steelyard.tables.probability_table import ProbabilityTable
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Labels, Rng, Weights
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.plan_draws import PlannedRows
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.predictions import Predictions
    from steelyard.tables.thresholding import CountedRows


COUNT_METHODS = ("posterior", "stratified", "deviance", "bootstrap", "stratified-bootstrap", "bca")
RATE_METHODS = tuple(RATE_INTERVALS)
AUC_METHODS = tuple(AUC_INTERVALS)
INFLUENCE_METHODS = ("influence",)
REFERENCE_METHODS = ("calibrated",)  # no interval, but what a calibrated model would show
ISOTONIC_METHODS = ("isotonic",)  # of what is read from the isotonic reliability curve
RANK_METHODS = ("bayesian-bootstrap",)
COLUMN_METHODS = ("student",)  # of mean losses of a column of scores for each class
SCORE_METHODS = (
    *AUC_METHODS,
    *INFLUENCE_METHODS,
    *REFERENCE_METHODS,
    *ISOTONIC_METHODS,
    *RANK_METHODS,
    *COLUMN_METHODS,
)
METHODS = ("auto", *COUNT_METHODS, *RATE_METHODS, *SCORE_METHODS, "cluster", "plan")


STRATIFIED = 'The number of rows of each class is taken as chosen (design="stratified").'
_LEAST_DRAWS = 20
DESIGNS = ("random", "stratified")  # of a test set: rows drawn from all, or so many of each class


class ClusteredRows(NamedTuple):
    """Labels, predictions and scores row by row, and the cluster of each, such as the patient."""

    y_true: ArrayLike
    y_pred: ArrayLike | None
    clusters: ArrayLike
    frequency: Weights = None
    groups: Mapping[Labels, Array] = MappingProxyType({})  # the indices of the rows of each group, by its key
    y_score: ArrayLike | None = None
    sample_weight: Weights = None

    def of_group(self, key: Labels) -> ClusteredRows:
        """The rows of one group, each in its cluster."""
        indices = self.groups[key]

        def of_group(column: ArrayLike | None, name: str) -> Array | None:
            if column is not None and np.ndim(column) == 2:  # a column of scores for each class
                return np.asarray(np.asarray(column)[indices])
            return None if column is None else checks.column(column, name)[indices]

        return self._replace(
            y_true=checks.column(self.y_true, "y_true")[indices],
            y_pred=of_group(self.y_pred, "y_pred"),
            clusters=checks.column(self.clusters, "cluster")[indices],
            frequency=of_group(self.frequency, "frequency"),
            groups={},
            y_score=of_group(self.y_score, "y_score"),
            sample_weight=of_group(self.sample_weight, "sample_weight"),
        )


def clustered_rows(p: Predictions) -> ClusteredRows | None:
    """The rows of each cluster, where clusters are given; unweighted labels of a frame are counted where they live."""
    if p.given.cluster is None:
        return None
    if p.given.is_table:
        raise InputTypeError(CLUSTERS_NEED_ROWS)
    given = p.countable().given
    if given.is_frame:
        from steelyard.frames.rows import count_keys

        with p.binned_frame() as (source, by):
            pred, beside = given.model.pred or "", {"frequency": given.frequency, "cluster": given.cluster, "by": by}
            counted = count_keys(source, true=given.true, pred=(pred,), **beside)
        assert counted.truth is not None and counted.clusters is not None  # noqa: S101 - their columns are named
        return ClusteredRows(counted.truth, counted.predicted[pred], counted.clusters, counted.rows, counted.groups())
    refuse_name("cluster", given.cluster)
    if given.y_pred is None and given.y_score is None:
        raise InputTypeError(CLUSTERS_NEED_ROWS)
    groups = {}
    if given.by is not None:
        named = group_columns(given.by)
        checks.check_lengths(y_true=checks.column(given.data, "y_true"), **named)
        groups = group_places(named)
    return ClusteredRows(
        given.data, given.y_pred, given.cluster, given.frequency, groups, given.y_score, given.sample_weight
    )


def predicted_at_threshold(
    rows: ClusteredRows | None, counted: CountedRows, given: ArrayLike | None
) -> ClusteredRows | None:
    """The rows with the labels that the threshold makes of their scores, where none are predicted.

    Beside labels that are taken of the `given` scores of all classes those scores stay.
    """
    scores, threshold = counted.scores, counted.threshold
    if rows is not None and rows.y_pred is not None and rows.y_score is None:
        return rows._replace(y_score=given)
    if rows is None or rows.y_pred is not None or rows.y_score is None:
        return rows
    if counted.table is None or scores is None or threshold is None:
        return rows
    others = [label for label in counted.table.labels if label != scores.label]
    labels = np.array([*others[:1], scores.label, None], dtype=object)[:-1]
    codes, present = label_codes.distinct(checks.column(rows.y_true, "y_true"), "y_true")
    positive = np.array([label == scores.label for label in present])[codes]
    flagged = checks.finite_scores(rows.y_score) >= as_read(threshold, scores.precision)
    return rows._replace(y_true=labels[positive.astype(np.intp)], y_pred=labels[flagged.astype(np.intp)])


def cluster_sentences(p: Predictions) -> tuple[str, ...]:
    """What a result states of clusters."""
    cluster = p.given.cluster
    if cluster is None:
        return ()
    name = cluster if isinstance(cluster, str) else getattr(cluster, "name", None)
    return (f"The rows are clustered{f' by {name}' if name else ''}; the intervals resample whole clusters.",)


@dataclass(frozen=True)
class Inference:
    """How intervals are made: the level, the method, how many draws from where, at which prevalence.

    >>> Inference(level=0.9).level
    0.9
    """

    level: float = 0.95
    method: str = "auto"
    draws: int | None = None
    rng: Rng = None
    prevalence: PrevalenceLike | None = None
    clustered: ClusteredRows | None = None
    design: str = "random"
    planned: PlannedRows | None = None  # rows whose labels were chosen by a plan

    def __post_init__(self) -> None:
        object.__setattr__(self, "prevalence", stated_prevalence(self.prevalence))
        if isinstance(self.rng, np.random.Generator):  # asked once: no other draws of it move these
            object.__setattr__(self, "rng", int(self.rng.integers(2**63)))
        check_level(self.level)
        check_design(self.design)
        if self.method not in METHODS:
            raise InputError(f"No method is called {self.method!r}; there are {', '.join(METHODS)}.")
        whole = isinstance(self.draws, (int, np.integer)) and not isinstance(self.draws, bool)
        if self.draws is not None and (not whole or self.draws < _LEAST_DRAWS):
            raise InputError(
                f"draws is a whole number of {_LEAST_DRAWS} or more, of which ends are read, not {self.draws!r}."
            )

    @property
    def generator(self) -> np.random.Generator:
        """A generator that starts anew each time, from the seed that was given, or a fixed one."""
        return generator(self.rng)

    def draws_of(self, *role: object) -> np.random.Generator:
        """The generator of a role, such as ("posterior", 2), which no other draws move, in whatever order they come.

        >>> inference = Inference()
        >>> first, again, other = (inference.draws_of("class", k).random() for k in (1, 1, 2))
        >>> first == again, first == other
        (True, False)
        """
        return np.random.default_rng([*self.generator.integers(2**32, size=4), crc32(repr(role).encode())])

    def in_role(self, *role: object) -> Inference:
        """The same with all draws from the generator of a role."""
        return replace(self, rng=self.draws_of(*role))

    @property
    def tails(self) -> tuple[float, float]:
        """The two quantiles of the draws that are the bounds of an interval."""
        return tails(self.level)

    def keeps_class_sizes(self, method: str = "") -> bool:
        """Whether the number of rows of each class was chosen, and is not a matter of chance."""
        return self.design == "stratified" or method.startswith("stratified")

    @property
    def has_independent_rows(self) -> bool:
        """Whether rows are in no cluster, and were labelled by no plan."""
        return self.clustered is None and self.planned is None

    def of_group(self, key: Labels) -> Inference:
        """The same for the rows of one group, which stay in their clusters."""
        return self if self.clustered is None else replace(self, clustered=self.clustered.of_group(key))

    def of_independent_rows(self) -> Inference:
        """The same for rows that belong to no cluster."""
        return replace(self, clustered=None)


def check_design(design: str) -> None:
    """Refuse what is no design of a test set."""
    if design not in DESIGNS:
        raise InputError(f"design is 'random', or 'stratified' (so many rows of each class), not {design!r}.")


# ---------------------------------------------------------------- interval methods
# Those that fit a metric on a table, and the one that is used.


def chosen_method(estimand: Estimand, inference: Inference) -> str:
    """The requested method, checked to fit, or the first that fits."""
    fitting = _fitting(estimand, inference)
    if inference.method == "auto":
        return fitting[0]
    if inference.method == "cluster" and inference.clustered is None:
        raise InputError("The method 'cluster' needs cluster=, the cluster of each row.")
    if inference.method == "plan" and inference.planned is None:
        raise InputError("The method 'plan' needs design=, the plan by which rows were labelled.")
    if inference.method not in fitting:
        names = ", ".join(dict.fromkeys(fitting))
        raise InputError(
            f"The method {inference.method!r} does not fit {estimand.metric.name} here; these do: {names}."
        )
    return inference.method


def _fitting(estimand: Estimand, inference: Inference) -> tuple[str, ...]:
    """The methods that fit, the best first."""
    if isinstance(estimand.table, ProbabilityTable):
        return (column_method(estimand),)
    if isinstance(estimand.table, MultilabelTable):
        return (label_set_method(estimand),)
    if inference.planned is not None:
        return ("plan",)
    if inference.clustered is not None:
        if inference.keeps_class_sizes() and isinstance(estimand.table, ScoreTable):
            raise InputError("Scores in clusters have no interval with design='stratified'; leave design= out.")
        return ("cluster",)
    if isinstance(estimand.table, ScoreTable):
        fitting = _fitting_scores(estimand, estimand.table)
    else:
        fitting = ("stratified", *COUNT_METHODS) if inference.keeps_class_sizes() else COUNT_METHODS
        fitting = ("deviance", *fitting) if kinks(estimand.metric.expression) else fitting
        fitting += RATE_METHODS if is_rate(estimand.metric) else ()
    if inference.prevalence is None:
        return fitting
    return tuple(method for method in fitting if method not in (*RATE_METHODS, "bca"))  # those have the sample's shares


def _fitting_scores(estimand: Estimand, table: ScoreTable) -> tuple[str, ...]:
    if is_calibration_error(estimand.metric):
        return REFERENCE_METHODS
    if is_isotonic(estimand.metric) or is_searched(estimand.metric):
        return ISOTONIC_METHODS
    is_area = has_auc_interval(estimand.metric, estimand.parameters)
    is_smooth = has_influence(estimand.metric, table) or is_of_highest(estimand.metric)
    return (*(AUC_METHODS if is_area else ()), *(INFLUENCE_METHODS if is_smooth else ()), *RANK_METHODS)
