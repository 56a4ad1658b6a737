"""Recommendation: which few metrics fit a problem, by the proven properties of each, and which to avoid."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.formatting import listed, three_digits
from steelyard.analysis.results.result import Flat, Result
from steelyard.auditing.decisions import recalled_decisions
from steelyard.auditing.problem import Problem, checked_problem
from steelyard.auditing.properties import PROPERTIES, critic, decide, fault_text, reason_text
from steelyard.exceptions import InputTypeError
from steelyard.metrics.references import reference
from steelyard.metrics.registry import get_metric, get_metrics, list_metrics
from steelyard.metrics.usual import VERDICT
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables.array_tables import score_table
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard.auditing.problem import Evaluated
    from steelyard.metrics.measure import Metric
    from steelyard.predictions import RowOptions


# ---------------------------------------------------------------- advice
# The metrics that a recommendation names, why, and where that is from.


RELOADED = "maierhein2024"


@dataclass(frozen=True, eq=False)
class Advice(Flat):
    """One metric, why, and its source."""

    metric: str
    why: str
    cite: str | None

    def __str__(self) -> str:
        return f"{self.metric}: {self.why}" + (f" [{self.cite}]" if self.cite else "")


@dataclass(frozen=True, eq=False, repr=False)
class Recommendation(Result[Advice]):
    """The metrics to read, what to report beside them, and what to avoid, each with the property behind it.

    `differs`: where the advice of others is another.
    """

    use: tuple[Advice, ...]
    beside: tuple[str, ...]
    avoid: tuple[Advice, ...]
    differs: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    also_saved: ClassVar = ("sources",)

    def __iter__(self) -> Iterator[Advice]:
        return iter((*self.use, *self.avoid))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per metric, which says whether to use it or to avoid it."""
        return [{"advice": word} | a.row() for word, part in self._parts for a in part]

    @property
    def _parts(self) -> tuple[tuple[str, tuple[Advice, ...]], ...]:
        return ("use", self.use), ("avoid", self.avoid)

    @property
    def notes(self) -> list[str]:
        """What to report beside the metrics, and where the reasons are from."""
        beside = [f"Report beside them: {'; '.join(self.beside)}."] if self.beside else []
        others = [f"Others advise otherwise: {'; '.join(self.differs)}."] if self.differs else []
        return [*self.assumed, *beside, *others, *(f"[{key}] {words}" for key, words in self.sources.items())]

    @property
    def headline(self) -> str:
        """Which metrics to read first."""
        return f"Read first: {listed([advice.metric for advice in self.use])}." if self.use else "No metric fits."

    @property
    def sources(self) -> dict[str, str]:
        """What the advice cites, in words, by its key."""
        cited = dict.fromkeys(advice.cite for advice in (*self.use, *self.avoid) if advice.cite)
        cited |= {RELOADED: None} if self.differs else {}
        return {key: reference(key) for key in cited}

    def __repr__(self) -> str:
        parts = {
            "Read first:": map(str, self.use),
            "Report beside them:": self.beside,
            "Not to decide by:": map(str, self.avoid),
            "Where others advise otherwise:": self.differs,
            "Sources:": (f"[{key}] {words}" for key, words in self.sources.items()),
        }
        indented = {head: [f"  {line}" for line in lines] for head, lines in parts.items()}
        return "\n".join(line for head, lines in indented.items() if lines for line in (head, *lines))


def meaning_words(metric: Metric) -> str:
    """What a metric means, as a part of a sentence."""
    return metric.meaning[:1].lower() + metric.meaning[1:].rstrip(".")


# ---------------------------------------------------------------- core set
# What the answers about probabilities, capacity, a set threshold and clusters add to a recommendation.


_TRUE, _STATED = (0.05, 0.2, 0.5, 0.8), np.arange(1, 100) / 100
# What people usually report, so that advice says why not where it does not fit.
_REPORTED = ("precision", "accuracy", "f1", "balanced_accuracy", "g_mean", "mcc", "kappa")
_OF_COSTS = ("net_benefit", "expected_cost", "normalized_expected_cost")
_RELOADED_POOL = (  # of Metrics Reloaded (Maier-Hein and others 2024), as its library has it
    "recall",
    "specificity",
    "precision",
    "negative_predictive_value",
    "accuracy",
    "f_beta",
    "f1",
    "f2",
    "jaccard",
    "balanced_accuracy",
    "informedness",
    "mcc",
    "kappa",
    "positive_likelihood_ratio",
    "net_benefit",
    "expected_cost",
    "normalized_expected_cost",
    "roc_auc",
    "average_precision",
    "recall_at_precision",
    "precision_at_recall",
    "brier",
    "log_loss",
    "expected_calibration_error",
    "recall_at_fpr",
    "specificity_at_recall",
)
_CLUSTERED = "intervals by whole clusters (cluster=): rows of one cluster go wrong together"
_CALIBRATED = "the reliability curve with its slope and intercept (calibration), and a decision curve"
_NEAR = "a near miss counts less than a far one"
_SET = "a decision curve around the threshold (decision_curve): how much is gained depends on where it is set"
_SHARED = "whether the rows that can be looked at change from day to day: best_threshold(where='alerts <= ...')"


def with_core(advice: Recommendation, problem: Problem) -> Recommendation:
    """The recommendation with what the further answers ask for, those that decide about rows first."""
    decisive = [*_of_order(problem), *_of_capacity(problem), *_of_threshold(problem)]
    set_already = {item.metric.partition("[")[0] for item in decisive}
    others = (item for item in advice.use if item.metric not in set_already)
    use = (*decisive, *others, *_of_probabilities(problem))
    beside = list(advice.beside)
    if problem.calibration:
        beside.append(_CALIBRATED)
    if problem.threshold is not None:
        beside.append(_SET)
    if problem.capacity is not None:
        beside.append(_SHARED)
    if problem.clusters:
        beside.append(_CLUSTERED)
    named = {item.metric.partition("[")[0] for item in use}
    avoid = tuple(item for item in advice.avoid if item.metric not in named)
    return replace(advice, use=use, beside=tuple(beside), avoid=avoid, differs=tuple(_differences(use, avoid)))


def _of_order(problem: Problem) -> Iterator[Advice]:
    """Metrics of classes in order: agreement first, then errors that move with the prevalence as it is wanted."""
    if not problem.ordered:
        return
    for metric in list_metrics():
        if "weights" in metric.parameters:
            yield Advice(f"{metric.name}[weights=quadratic]", f"{meaning_words(metric)}; {_NEAR}", metric.cite)
    for metric in list_metrics("ordinal"):
        if metric.function is None:  # of probabilities
            fits = problem.calibration
        else:
            moves = decide(metric, "prevalence_invariance").holds is not True
            fits = moves == problem.stable_prevalence
        if fits:
            yield Advice(metric.name, f"{meaning_words(metric)}; {_NEAR}", metric.cite)


def _of_capacity(problem: Problem) -> Iterator[Advice]:
    if problem.capacity is not None:
        metric = get_metric("precision_at_k")
        written = f"{metric.name}[k={problem.capacity}]"
        yield Advice(written, f"{meaning_words(metric)}: what is found of what can be looked at", metric.cite)


def _of_threshold(problem: Problem) -> Iterator[Advice]:
    """Metrics of a set threshold, of which it is proved that true probabilities are best flagged there."""
    if problem.threshold is not None:
        for metric in get_metrics(["net_benefit", "standardized_net_benefit"]):
            written = f"{metric.name}[threshold={problem.threshold:g}]"
            decision = decide(written, "fixed_threshold")
            best = f"true probabilities are best flagged at it ({decision.verdict})"
            yield Advice(
                written, f"{meaning_words(metric)}; {best}" if decision.holds else meaning_words(metric), metric.cite
            )


def _of_probabilities(problem: Problem) -> Iterator[Advice]:
    if problem.calibration:
        for metric in get_metrics(["log_loss", "brier_skill_score"]):
            proper = "the true probability is best (tried on rows of four true probabilities, 99 stated ones each)"
            yield Advice(
                metric.name,
                f"{meaning_words(metric)}; {proper}" if is_proper(metric) else meaning_words(metric),
                metric.cite,
            )


@cache
def is_proper(metric: Metric) -> bool:
    """Whether of rows of one true probability no other stated probability has a better value than that one.

    >>> from steelyard import get_metric
    >>> is_proper(get_metric("brier")), is_proper(get_metric("discrimination_slope"))
    (True, False)
    """
    sign = -1 if metric.direction == "lower" else 1
    for true in _TRUE:
        values = [sign * float(metric(_rows(true, stated))) for stated in _STATED]
        if not np.isclose(_STATED[int(np.argmax(values))], true) or np.ptp(values) == 0:
            return False
    return True


def _rows(true: float, stated: float) -> ScoreTable:
    """Rows of one true and one stated probability, beside as many of which nothing is known."""
    scores = np.unique([stated, 0.5])
    classes = []
    for share in (true, 1 - true):
        weights = np.where(scores == stated, share, 0) + np.where(scores == 0.5, 0.5, 0)
        classes.append(ClassScores(scores, np.ones(len(scores), dtype=np.int64), weights, weights**2))
    positive, negative = classes
    return ScoreTable(positive, negative)


def _differences(use: tuple[Advice, ...], avoid: tuple[Advice, ...]) -> Iterator[str]:
    """What Metrics Reloaded does not have of the metrics named first, and what it has of those advised against."""
    missing = [item.metric for item in use if item.metric.partition("[")[0] not in _RELOADED_POOL]
    blamed = [item.metric for item in avoid if item.metric in _RELOADED_POOL]
    if missing:
        yield f"Metrics Reloaded has no {listed(missing, 'or')} in its pool [{RELOADED}]"
    if blamed:
        yield f"of its pool, {listed(blamed)} lack what is wanted here, as shown above"


# ---------------------------------------------------------------- order advice
# Which metrics of the order of scores fit a problem, tried on one order; proofs are of tables alone.


@dataclass(frozen=True)
class OrderMetric:
    """A metric of the order of scores, tried on one order: at two prevalences, and with the classes exchanged."""

    metric: Metric
    even: float
    rare: float
    exchanged: float

    @property
    def keeps_prevalence(self) -> bool:
        """Whether the value is the same at another prevalence."""
        return math.isclose(self.even, self.rare)

    @property
    def keeps_classes(self) -> bool:
        """Whether the value is the same whichever class is called positive."""
        return math.isclose(self.even, self.exchanged)

    def fits(self, problem: Problem, *, prevalence: bool) -> bool:
        """Whether it has what the answers ask for; those about the prevalence only where they count."""
        return self.keeps_classes is problem.equal_class_weight and (
            not prevalence or self.keeps_prevalence is not problem.stable_prevalence
        )

    def words(self, problem: Problem) -> str:
        """What was seen of it."""
        even, rare, exchanged = map(three_digits, (self.even, self.rare, self.exchanged))
        there = "at the deployment prevalence" if problem.stable_prevalence else "with its prevalence"
        stays = f"stays the same at any prevalence (tried on one order: {even} at 50 % and at 5 %)"
        moves = f"moves with the prevalence ({even} at 50 %, {rare} at 5 % for one order), so read it {there}"
        alike = "and whichever class is called positive"
        leans = f"and changes with which class is called positive ({even} and {exchanged})"
        return f"{stays if self.keeps_prevalence else moves}, {alike if self.keeps_classes else leans}"


def order_metrics() -> list[OrderMetric]:
    """The metrics that are recommended where scores are an order, each with what was seen of it."""
    tables = _example_order()
    return [
        OrderMetric(metric, *(float(metric(table)) for table in tables))
        for metric in get_metrics(["roc_auc", "average_precision"])
    ]


@cache
def _example_order() -> tuple[ScoreTable, ScoreTable, ScoreTable]:
    """One order of rows where half of them are positive, where one in twenty is, and with the classes exchanged."""
    positive = np.array([0, 1, 0, 0, 1, 0, 1, 1])
    even = score_table(positive, np.arange(8))
    return even, at_prevalence(even, 0.05), score_table(1 - positive, -np.arange(8))


# ---------------------------------------------------------------- reported beside
# What to report beside recommended metrics, by the answers that were given and what the data show.


_FEW = 30


def reported_beside(problem: Problem) -> Iterator[str]:
    """What to report beside the recommended metrics, as the answers and the data ask for."""
    if problem.ranking and not problem.has_costs:
        yield "precision and recall among as many rows as will be looked at (precision_at_k, lift)"
        if problem.equal_class_weight:
            yield "average precision of both classes, each taken as the positive one: Wu averages the two"
        if problem.allow_zero_recall:
            yield "nothing for allow_zero_recall: an order has no threshold at which a class could have zero recall"
    else:
        yield "recall and specificity, each with its interval: no single number shows which class has the errors"
        yield (
            "precision at the deployment prevalence, beside its no-skill baseline (same prediction rate)"
            if problem.stable_prevalence or not problem.equal_class_weight
            else "precision, stated with its prevalence, or at the deployment prevalence by at_prevalence"
        )
        if accuracy_is_fair(problem):
            yield "accuracy, a fair summary here: the classes are of similar size"
    if problem.has_costs and not problem.allow_zero_recall:
        yield "a floor under recall and specificity: the least cost may give a class up"
    if problem.classes > 2:
        yield (
            f"each of the {problem.classes} classes against the rest: "
            "the properties are proven for two classes, not for a metric's form for more"
        )
    if problem.rows is not None and problem.rows < _FEW:
        rarer = f"{problem.rarer} leave"
        if problem.rows == 1:
            rarer = f"{problem.rarer.replace('rows', 'row').removesuffix('s')} leaves"
        text = f"the interval before the value: {problem.rows} {rarer} most metrics open"
        yield f"{text}; sample_size computes how many would be enough"


def accuracy_is_fair(problem: Problem) -> bool:
    """Whether accuracy sums the errors up fairly: both classes count alike and are of similar size."""
    return problem.similar_classes and problem.equal_class_weight


# ---------------------------------------------------------------- recommendation


__all__ = ["Advice", "Recommendation", "recommend"]
_MOST = 3
_VIRTUES = (
    "equal_recalls_kept",
    "zero_when_a_class_fails",
    "approximate_constant_baseline",
    "monotone_tp",
    "monotone_fp",
)


@question
def recommend(
    data: Any = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    equal_class_weight: bool = True,
    ranking: bool | None = None,
    calibration: bool = False,
    capacity: int | None = None,
    cost: Mapping[str, Any] | None = None,
    ordered: bool = False,
    allow_zero_recall: bool = False,
    stable_prevalence: bool = False,
    positives: int | None = None,
    **rows: Unpack[RowOptions],
) -> Recommendation:
    """The few metrics that fit a problem, each with a proven property as its reason.

    `equal_class_weight`: errors on both classes have equal weight; else those on the positives matter more.
    `ranking`: scores are used as a ranking, without a threshold; the other answers count there as well. `calibration`:
    scores are read as probabilities. `capacity`: how many rows can be looked at. `cost`: what each kind of error costs,
    {"cost_fn": 10, "cost_fp": 1}, is known. `ordered`: the classes have an order. `allow_zero_recall`: a class with
    zero recall may still score one half. `stable_prevalence`: the test set has the deployment prevalence, it is stable,
    and the value is to be at it. `positives`: how many there are to test on. A `threshold` is the probability from
    which a row is flagged, where a guideline or costs have set one, and `cluster` says that rows are not independent,
    such as several of a patient. Whether scores are ranked, and how many positives there are, is read from the rows, an
    Evaluation or a table, where it is not given. These are the questions of Metrics Reloaded (Maier-Hein and others
    2024) that bear on classification; `differs` states where its pool is another.

    >>> [advice.metric for advice in recommend().use]
    ['g_mean', 'ac_score', 'tpnr']
    >>> [advice.metric for advice in recommend(stable_prevalence=True).use]
    ['mcc', 'markedness', 'kappa']
    >>> [advice.metric for advice in recommend(equal_class_weight=False, allow_zero_recall=True).use]
    ['iba', 'alpha_f1', 'class_weighted_accuracy']
    """
    is_evaluation = hasattr(data, "counted_rows")  # whose own tables are read
    p = Predictions.of(None if is_evaluation else data, predicted, **rows)
    refuse_unused(p, "recommend", "by")
    shown = data if is_evaluation else _table_of(p)
    is_cut = p.threshold is not None and ranking is None
    is_probability = not isinstance(shown, ScoreTable) or shown.has_probabilities
    problem = checked_problem(
        equal_class_weight=equal_class_weight,
        allow_zero_recall=allow_zero_recall,
        stable_prevalence=stable_prevalence,
        ranking=False if is_cut else ranking,
        cost=cost,
        positives=positives,
        calibration=calibration,
        capacity=capacity,
        threshold=p.threshold if is_probability else None,
        clusters=p.given.cluster is not None,
        ordered=ordered,
    )
    problem = problem if shown is None else problem.completed(shown)
    found = with_core(_recommendation(problem, list_metrics()), problem)
    if is_evaluation or shown is None or isinstance(shown, Counts):
        return found
    return replace(found, assumed=p.with_options(threshold=None).assumed)


def _table_of(p: Predictions) -> Evaluated | None:
    """The table of the rows: of labels, or of scores where nothing makes labels of them; None where there are none."""
    if isinstance(p.given.data, Counts):
        return p.given.data
    if not p.has_truth and not p.given.models:
        return None
    if p.are_sets:
        raise InputTypeError("Metrics are recommended for rows with one label each; these may have several.")
    counted = p.with_options(threshold=None).counted()
    if counted.table is None:
        return counted.scores
    positive = counted.positive_class(p.given.pos_label, is_stated=p.given.is_stated)[0]
    return counted.table if positive is None else counted.table.with_positive(positive)


def read_first(data: Evaluated) -> tuple[str, ...]:
    """The metrics to compare models by: what `recommend` names for the data where no answers are given.

    Verdicts, tables and pages ask here. It starts no proof and no search: a metric of which nothing is stored is left
    out until `recommend` or `audit` has decided about it.

    >>> from steelyard import Counts
    >>> read_first(Counts(tp=28, fn=23, fp=72, tn=2680))
    ('g_mean', 'ac_score', 'tpnr')
    """
    stored = [m for m in list_metrics() if m.function is None or recalled_decisions(m).keys() >= PROPERTIES.keys()]
    return tuple(advice.metric for advice in _recommendation(Problem().completed(data), stored).use)


def changing_with_prevalence(data: Evaluated) -> list[Metric]:
    """Those of the usual metrics that sum the data up and change with prevalence, as far as that is decided."""
    if Problem().completed(data).ranking:
        return [order.metric for order in order_metrics() if not order.keeps_prevalence]
    # Those that the verdict reads have a sentence of their own.
    usual = [m for m in get_metrics(_REPORTED) if m.kind.is_summary and m.name not in VERDICT]
    decisions = [(metric, recalled_decisions(metric).get("prevalence_invariance")) for metric in usual]
    return [metric for metric, decision in decisions if decision is not None and decision.holds is False]


def _recommendation(problem: Problem, metrics: Sequence[Metric]) -> Recommendation:
    """What fits a problem among some metrics."""
    if problem.has_costs:
        wanted = {"class_symmetry": False}
        if not problem.allow_zero_recall:
            wanted["no_credit_when_a_class_fails"] = True
        return Recommendation(tuple(_of_costs()), tuple(reported_beside(problem)), tuple(_blame(wanted, metrics)))
    if problem.ranking:
        return _ranking(problem)
    return _fitting(problem, metrics)


# ---------------------------------------------------------------- metrics of labels


def _fitting(problem: Problem, metrics: Sequence[Metric]) -> Recommendation:
    """The metrics with what is wanted, those with the most virtues first, and those without it."""
    wanted, beside, candidates = problem.wanted, list(reported_beside(problem)), list(_candidates(metrics))
    if problem.classes > 2:
        candidates = [metric for metric in candidates if metric.classes is not None]
    fit = [metric for metric in candidates if _has(metric, wanted)]
    if not fit and not wanted["prevalence_invariance"]:  # to know the value in use is the lesser wish
        wanted = {name: holds for name, holds in wanted.items() if name != "prevalence_invariance"}
        fit = [metric for metric in candidates if _has(metric, wanted)]
        beside.append("each at the deployment prevalence: no metric both moves with it and has all else that is wanted")
    use = []
    for metric in sorted(_distinct(fit), key=lambda metric: _order(metric, problem))[:_MOST]:
        virtues = {name: True for name in _VIRTUES if name not in wanted and _stands(metric, name)}
        reasons = [reason_text(decide(metric, name), holds) for name, holds in {**wanted, **virtues}.items()]
        use.append(Advice(metric.name, "; ".join(reasons), metric.cite))
    avoid = list(_blame(wanted, metrics))
    if accuracy_is_fair(problem):
        avoid = [advice for advice in avoid if advice.metric != "accuracy"]
    return Recommendation(tuple(use), tuple(beside), tuple(avoid))


def _has(metric: Metric, wanted: Mapping[str, bool]) -> bool:
    """Whether it has each wanted property, and has each not that is wanted not to hold."""
    return all(
        _stands(metric, name) if holds else decide(metric, name).holds is False for name, holds in wanted.items()
    )


def _order(metric: Metric, problem: Problem) -> tuple[bool, bool, int]:
    """First what matters most: a fixed no-skill value, then a 0 for a class with zero recall."""
    lost = problem.stable_prevalence and not _stands(metric, "approximate_constant_baseline")
    credit = not problem.allow_zero_recall and not _stands(metric, "zero_when_a_class_fails")
    return lost, credit, -sum(_stands(metric, name) for name in _VIRTUES)


def _stands(metric: Metric, name: str) -> bool:
    """Whether a property is proved, or at least no table speaks against it: without sympy there are no proofs."""
    decision = decide(metric, name)
    return bool(decision.holds) or decision.verdict.startswith("no counterexample")


def _candidates(metrics: Sequence[Metric]) -> Iterator[Metric]:
    """Metrics of labels that sum a table up: bounded, better upward, and of both classes."""
    for metric in metrics:
        is_bounded = metric.direction == "higher" and math.isfinite(metric.range[1])
        if metric.function is None or not metric.kind.is_summary or not is_bounded:
            continue
        ignores_negatives = _stands(metric, "p2") and _stands(metric, "p3")  # García's properties
        if not ignores_negatives and not (_stands(metric, "p4") and _stands(metric, "p5")):
            yield metric


def _distinct(metrics: list[Metric]) -> list[Metric]:
    """One of each group that is the same function on every small table, the first declared without parameters."""
    cells = np.indices((5, 5, 5, 5)).reshape(4, -1)
    distinct: dict[bytes, Metric] = {}
    for metric in metrics:
        values = np.round(np.asarray(metric(Counts(*cells)), dtype=np.float64), 12) + 0.0
        same = distinct.setdefault(values.tobytes(), metric)
        if same.parameters and not metric.parameters:
            distinct[values.tobytes()] = metric
    return list(distinct.values())


def _blame(wanted: Mapping[str, bool], metrics: Sequence[Metric]) -> Iterator[Advice]:
    """The usual metrics that lack what is wanted, with the smallest table that shows it, or have what is not."""
    for metric in _reported():
        if metric not in metrics:
            continue
        for name, holds in wanted.items():
            decision = decide(metric, name)
            fault = fault_text(decision, holds)
            if fault:
                yield Advice(metric.name, fault, critic(decision))
                break


def _reported() -> list[Metric]:
    """What people usually report, metrics of both classes first."""
    return sorted(get_metrics(_REPORTED), key=lambda metric: not metric.kind.is_summary)


# ---------------------------------------------------------------- costs and orders


def _of_costs() -> Iterator[Advice]:
    """The metrics of costs, those that take more of them first: what they are, and how they count errors."""
    for metric in sorted(get_metrics(_OF_COSTS), key=lambda metric: -len(metric.parameters)):
        decisions = [decide(metric, property_) for property_ in ("monotone_fn", "monotone_fp")]
        reasons = [reason_text(decision, wanted=True) for decision in decisions if decision.holds]
        set_to = f"set {', '.join(metric.parameters)} to your own"
        yield Advice(metric.name, "; ".join([meaning_words(metric), set_to, *reasons]), metric.cite)


def _ranking(problem: Problem) -> Recommendation:
    """The metrics of order that fit: by the classes first, by the prevalence where one is left."""
    orders = order_metrics()
    wholly = [order for order in orders if order.fits(problem, prevalence=True)]
    fit = wholly or [order for order in orders if order.fits(problem, prevalence=False)] or list(orders)
    use = [Advice(o.metric.name, f"{meaning_words(o.metric)}; {o.words(problem)}", o.metric.cite) for o in fit]
    avoid = [Advice(o.metric.name, o.words(problem), o.metric.cite) for o in orders if o not in fit]
    beside = list(reported_beside(problem))
    if not wholly and problem.stable_prevalence:
        others = listed([order.metric.name for order in orders if order not in fit], "or")
        same = listed([order.metric.name for order in fit], "or")
        beside.append(f"{others} at the deployment prevalence, since it does not change {same}")
    of_labels = [metric for metric in _reported() if metric.scores is None][:_MOST]
    why = "is of labels: it judges one threshold, not the order of the scores"
    avoid += [Advice(metric.name, why, None) for metric in of_labels]
    return Recommendation(tuple(use), tuple(beside), tuple(avoid))
