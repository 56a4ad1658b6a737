"""Recommendation: the number that fits what predictions are for, what to read beside it, and what it is not for."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from steelyard.analysis.results.blocks import Block, Sentence, Table
from steelyard.analysis.results.formatting import listed
from steelyard.analysis.results.result import Flat, Result
from steelyard.analysis.thresholds.limits import read_capacity
from steelyard.analysis.thresholds.threshold_sample import costs_by_row
from steelyard.auditing.decisions import recalled_decisions
from steelyard.auditing.properties import decide, fault_text
from steelyard.auditing.use_numbers import SIMILAR_SHARE, Judged, check_use, of_classes, why
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.references import reference, references
from steelyard.metrics.registry import get_metric, get_metrics, list_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.spec_text import write_form
from steelyard.metrics.uses import USES, read_use
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Labels
    from steelyard.analysis.thresholds.limits import Capacity, CapacityLike
    from steelyard.analysis.thresholds.threshold_sample import CostsLike
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.uses import Use, UseLike
    from steelyard.predictions import RowOptions

__all__ = ["Advice", "Recommendation", "recommend"]

_FEW = 30  # rows of the rarer class, below which the interval matters more than the value
# What people usually report, so that advice says why not where it does not fit.
_REPORTED = (
    "accuracy", "balanced_accuracy", "g_mean", "mcc", "kappa", "precision", "f1", "roc_auc", "average_precision",
)  # fmt: skip
_SOURCES = {
    "alerts": ("saito2015", "davis2006"),
    "balance": ("wu2025", "garcia2012", "nguyen2019", "asawa"),
    "ranking": ("hanley1982", "mcdermott2024"),
    "probabilities": ("vancalster2025", "murphy1973"),
}
_OF_SCORES = {"ranking": "not the order of the rows", "probabilities": "not the probabilities"}
_SEVERAL_LABELS = "Metrics are recommended for rows with one label each; these may have several."
_NEAR = "a near miss counts less than a far one"
_RISK = "ROC AUC, a calibration curve (calibration) and a decision curve (decision_curve), as use='clinical' has them"


# ---------------------------------------------------------------- the result


@dataclass(frozen=True, eq=False)
class Advice(Flat):
    """A metric, the use that it is or is not for (None: any), why, and the sources by their keys."""

    metric: str
    use: str | None
    why: str
    cites: tuple[str, ...] = ()

    @property
    def phrase(self) -> str:
        """The metric as a sentence calls it: with settings by its written form."""
        spec = MetricSpec.of(self.metric)
        if spec.average == "macro":
            return f"macro {spec.metric.phrase}"
        return self.metric if "[" in self.metric else spec.metric.phrase

    def __str__(self) -> str:
        return f"{self.phrase}: {self.why}{_cited(*self.cites)}"


def _cited(*keys: str) -> str:
    return f" [{', '.join(keys)}]" if keys else ""


def _by_reason(advice: Sequence[Advice]) -> Iterator[tuple[str, str]]:
    """The metrics of each reason, in a list, and the reason."""
    for reason in dict.fromkeys(each.why for each in advice):
        metrics = [each.phrase for each in advice if each.why == reason]
        yield listed(metrics), f"{'each' if len(metrics) > 1 else 'it'} {reason}"


@dataclass(frozen=True, eq=False, repr=False)
class Recommendation(Result[Advice]):
    """The number to read for a use, or one for each; what stands beside it, what is not for it, and what is asked.

    `use` is None where it is not known. `unfit` are metrics that are not for that use; `differs` states who advises
    otherwise, and `asks` what the rows cannot show.
    """

    use: str | None
    read: tuple[Advice, ...]
    beside: tuple[str, ...] = ()
    unfit: tuple[Advice, ...] = ()
    differs: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    also_saved: ClassVar = ("sources",)

    def __iter__(self) -> Iterator[Advice]:
        return iter((*self.read, *self.unfit))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per metric, which says whether it is to be read or is not for the use."""
        return [{"advice": word} | each.row() for word, part in self._parts for each in part]

    @property
    def _parts(self) -> tuple[tuple[str, tuple[Advice, ...]], ...]:
        return ("read", self.read), ("unfit", self.unfit)

    @property
    def headline(self) -> str:
        """Which number to read, or what is to be answered first."""
        if self.use is None:
            return "Each use has its own number: what are the predictions for?"
        return f"For {self.use}, read {listed([each.phrase for each in self.read])}."

    @property
    def sources(self) -> dict[str, str]:
        """What the advice cites, in words, by its key."""
        text = " ".join([*map(str, self), *self.beside, *self.differs])
        return {key: reference(key) for key in references() if key in text}

    def blocks(self) -> list[Block]:
        """The number to read, then what stands beside it, what is not for the use, what is asked, and the sources."""
        read = [f"for {each.use}, {each}" if each.use and not self.use else str(each) for each in self.read]
        parts: dict[str, Iterable[str]] = {
            "Beside it:": self.beside,
            f"Not for {self.use}:": map(": ".join, _by_reason(self.unfit)),
            "Others advise otherwise:": self.differs,
            "To answer:": self.asks,
            "Taken as given:": self.assumed,
            "Sources:": (f"[{key}] {words}" for key, words in self.sources.items()),
        }
        blocks: list[Block] = [Sentence(self.headline, "headline"), *(Sentence(text, "lead") for text in read)]
        for head, part in parts.items():
            if sentences := [Sentence(text, "lead") for text in part]:
                blocks += [Sentence(head, "heading"), *sentences]
        return [*blocks, Table((), data=self.to_dicts)]


# ---------------------------------------------------------------- what is known of the problem


@dataclass(frozen=True)
class Problem:
    """What was answered, and what the rows show: what a use is judged on, how many rows its rarer class has.

    `judged` is None where there are no rows, and `rows` where it is not known how many the rarer class has.
    """

    judged: Judged | None
    capacity: Capacity | None = None
    cost: CostsLike | None = None
    ordered: bool = False
    allow_zero_recall: bool = False
    stable_prevalence: bool = False
    threshold: float | None = None
    has_clusters: bool = False
    rows: int | None = None
    rarer: str = "positives"
    classes: int = 2
    similar_classes: bool = False

    def of_rows(self) -> Problem:
        """The problem with what its rows show; how many rows were given stays."""
        if self.judged is None:
            return self
        rows = _rows_by_class(self.judged)
        similar = len(rows) == 2 and min(rows.values()) > SIMILAR_SHARE * sum(rows.values())
        found = replace(self, classes=len(rows), similar_classes=similar)
        present = {name: n for name, n in rows.items() if n > 0}
        if self.rows is not None or not present:
            return found
        rarer = min(present, key=present.__getitem__)
        return replace(found, rows=present[rarer], rarer=rarer)

    def leading(self, use: Use) -> str | None:
        """The number of a use; without rows that of scores."""
        return use.of_scores if self.judged is None else self.judged.leading(use)

    def wanted(self, use: Use) -> dict[str, bool]:
        """The properties that a use asks of its metrics: whether each is to hold, or is not to."""
        if use.name == "alerts":
            return {"prevalence_invariance": False, "no_credit_when_a_class_fails": True}
        wanted = {"class_symmetry": True, "prevalence_invariance": True, "no_credit_when_a_class_fails": True}
        given_up = {"prevalence_invariance": self.stable_prevalence}
        given_up["no_credit_when_a_class_fails"] = self.allow_zero_recall
        return {name: True for name in wanted if not given_up.get(name)}


def _rows_by_class(judged: Judged) -> dict[str, int]:
    """How many rows each class has, by the words for it."""
    if judged.table is None:
        scores = judged.scores
        return {} if scores is None else {"positives": scores.positive.n, "negatives": scores.negative.n}
    labels: Labels = judged.table.labels
    names = [f"rows of {label!r}" for label in labels]
    if len(names) == 2 and judged.positive is not None:
        names = ["positives" if label == judged.positive else "negatives" for label in labels]
    return dict(zip(names, judged.table.rows.sum(1).tolist(), strict=True))


def _of_rows(p: Predictions) -> tuple[Judged | None, tuple[str, ...]]:
    """What the rows are judged on, as `evaluate` does, and what was assumed; None where there are none."""
    if not p.has_truth and not p.given.models:
        return None, ()
    if p.are_sets:
        raise InputTypeError(_SEVERAL_LABELS)
    of_classes = p.kind == "class scores" and p.collect().kind == "class scores"
    counted = p.counted()
    positive, stated = counted.positive_class(p.given.pos_label, is_stated=p.given.is_stated)
    columns = p.probability_table() if of_classes else None
    return Judged(counted.table, counted.scores, columns, positive, counted.threshold), (*stated, *counted.assumed)


# ---------------------------------------------------------------- recommend


@question
def recommend(
    data: Any = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    use: UseLike | None = None,
    capacity: CapacityLike | None = None,
    cost: CostsLike | None = None,
    ordered: bool = False,
    allow_zero_recall: bool = False,
    stable_prevalence: bool = False,
    positives: int | None = None,
    **rows: Unpack[RowOptions],
) -> Recommendation:
    """Recommend the number to read for what predictions are for, with its reason and its sources.

    `use` is what they are for: "alerts", "balance", "ranking", "probabilities", a profile or a TOML file of your own;
    without it there is one number for each, and the result asks. `capacity` is how many rows can be looked at, which
    says that they are for alerts; `cost` is what each kind of error costs, {"cost_fn": 10, "cost_fp": 1}. `ordered`:
    the classes have an order. `allow_zero_recall`: a class with zero recall may still score one half.
    `stable_prevalence`: the test set has the deployment prevalence, and it is stable. `positives`: how many there are
    to test on. A `threshold` is the probability from which a row is acted on, where a guideline or costs set one, and
    `cluster` says that rows are not independent, such as several of a patient. Rows, a table or an Evaluation show
    which numbers there are; the number of a use is the one that `evaluate` leads with.

    >>> [advice.metric for advice in recommend().read]
    ['average_precision', 'ac_score', 'roc_auc', 'brier_skill_score']
    >>> advice = recommend(use="balance")
    >>> print(advice.read[0].why)
    it falls to 0 with either recall and stays the same at any prevalence
    >>> [each.metric for each in advice.unfit]
    ['accuracy', 'mcc', 'kappa', 'precision', 'f1', 'average_precision']
    """
    is_evaluation = hasattr(data, "counted_rows")  # whose own tables are read, those of clusters too
    if is_evaluation and data.confusion is None and data.scores is None:
        raise InputTypeError(_SEVERAL_LABELS)
    p = Predictions.of(Tally(data.confusion, data.scores) if is_evaluation else data, predicted, **rows)
    refuse_unused(p, "recommend", "by")
    if positives is not None and positives < 1:
        raise InputError(argument="positives", expected="how many positives there are, 1 or more", given=positives)
    judged: Judged | None
    if is_evaluation:
        judged, assumed = Judged(data.confusion, data.scores, None, data.positive, data.threshold), data.assumed
    else:
        judged, assumed = _of_rows(p)
    stated = read_use(use)
    if stated is None and capacity is not None:
        stated = USES["alerts"]
        assumed = (*assumed, "A capacity is of alerts, so use='alerts' was taken.")
    if stated is not None and stated.name == "ranking" and (cost is not None or p.threshold is not None):
        raise InputError("A ranking has no threshold, and no errors to cost; leave them out, or give another use.")
    problem = Problem(
        judged,
        capacity=read_capacity(capacity, sys.maxsize if judged is None else judged.rows),
        cost=cost,
        ordered=ordered,
        allow_zero_recall=allow_zero_recall,
        stable_prevalence=stable_prevalence,
        threshold=p.threshold,
        has_clusters=p.given.cluster is not None,
        rows=None if positives is None else int(positives),
    ).of_rows()
    if judged is not None and stated is not None:
        check_use(stated, problem.capacity, judged)
    return replace(_recommendation(problem, stated), assumed=assumed)


def _recommendation(problem: Problem, use: Use | None) -> Recommendation:
    """The number of a use, or of each, with what stands beside it and what does not fit."""
    numbers = [
        Advice(name, each.name, why(name) or _meaning(MetricSpec.of(name).metric), _sources(each, name))
        for each in (USES.values() if use is None else [use])
        if (name := problem.leading(each)) is not None
    ]
    read = (*_of_costs(problem), *_of_order(problem, use), *numbers)
    named = {MetricSpec.of(each.metric).metric for each in read}
    return Recommendation(
        use=None if use is None else use.name,
        read=read,
        beside=tuple(_beside(problem, use, numbers)),
        unfit=() if use is None else tuple(_unfit(problem, use, named)),
        differs=() if use is None else tuple(_others(use)),
        asks=tuple(_asks(problem, use)),
    )


def _sources(use: Use, name: str) -> tuple[str, ...]:
    """Who advises the number of a use; of labels, where that is another one, who has it first."""
    is_of_scores = name in (use.of_scores, of_classes(use.of_scores))
    return _SOURCES[use.name] if is_of_scores else _cite(MetricSpec.of(name).metric)


def _meaning(metric: Metric) -> str:
    return metric.meaning[:1].lower() + metric.meaning[1:].rstrip(".")


def _of_costs(problem: Problem) -> Iterator[Advice]:
    """The expected cost, where errors cost what was given."""
    if problem.cost is not None:
        metric = get_metric("expected_cost")
        settings = {} if costs_by_row(problem.cost) else problem.cost
        yield Advice(write_form(metric.name, settings), None, _meaning(metric), ("elkan2001",))


def _of_order(problem: Problem, use: Use | None) -> Iterator[Advice]:
    """Metrics of classes in order, which count a near miss for less than a far one."""
    if not problem.ordered:
        return
    for metric in list_metrics():
        if "weights" in metric.parameters:
            yield Advice(f"{metric.name}[weights=quadratic]", None, f"{_meaning(metric)}; {_NEAR}", _cite(metric))
    for metric in list_metrics("ordinal"):
        if metric.function is None:  # of probabilities
            fits = use is not None and use.name == "probabilities"
        else:
            fits = (decide(metric, "prevalence_invariance").holds is not True) == problem.stable_prevalence
        if fits:
            yield Advice(metric.name, None, f"{_meaning(metric)}; {_NEAR}", _cite(metric))


def _cite(metric: Metric) -> tuple[str, ...]:
    return () if metric.cite is None else (metric.cite,)


def _beside(problem: Problem, use: Use | None, numbers: Sequence[Advice]) -> Iterator[str]:
    """What to report beside the number, as the answers and the rows ask for."""
    if use is None:
        yield "recall, precision and specificity, each with its interval"
    else:
        names = use.beside if problem.judged is None else problem.judged.beside(use, problem.capacity)
        if names:
            yield listed([Advice(name, None, "").phrase for name in names])
        if problem.judged is None and use.of_labels not in (None, use.of_scores):
            yield f"{get_metric(str(use.of_labels)).phrase} where there are labels and no scores"
        if use.name == "balance":
            yield from _of_zero_recall(problem, use)
        if use.name == "probabilities":
            yield f"{_RISK}{_cited('vancalster2025')}"
    if problem.classes > 2:
        yield f"recall, precision and F1 of each of the {problem.classes} classes, worst first{_cited('kalita2010')}"
    moving = [each.phrase for each in numbers if _stays(each.metric) is False and each.use == "alerts"]
    if moving and not problem.stable_prevalence:
        yield f"{listed(moving)} at the deployment prevalence (prevalence=), as it moves with it"
    if problem.cost is not None and not problem.allow_zero_recall:
        yield "limits for recall and specificity (where=): the least cost may give a class up"
    if problem.threshold is not None and use is not None and use.name != "probabilities":
        yield "a decision curve around the threshold (decision_curve): what is gained depends on where it is set"
    if problem.similar_classes:
        yield "accuracy, a fair summary here: the classes are of similar size"
    if problem.has_clusters:
        yield "intervals by whole clusters (cluster=): rows of one cluster go wrong together"
    if problem.rows is not None and problem.rows < _FEW:
        word = problem.rarer if problem.rows > 1 else problem.rarer.replace("rows", "row").removesuffix("s")
        few = f"{problem.rows} {word} leave{'s' * (problem.rows == 1)} most metrics open"
        yield f"the interval before the value: {few}; sample_size computes how many would be enough"


def _of_zero_recall(problem: Problem, use: Use) -> Iterator[str]:
    """Which of the metrics beside the number give credit where a class has zero recall."""
    for metric in get_metrics(name for name in use.beside if get_metric(name).kind.is_summary):
        decision = decide(metric, "no_credit_when_a_class_fails")
        if decision.holds is False and decision.counterexample and not problem.allow_zero_recall:
            yield f"{metric.phrase} with care: it is {decision.counterexample.value} where one class has zero recall"


def _stays(name: str) -> bool | None:
    """Whether a metric is the same at any prevalence; None where that is not decided."""
    decision = recalled_decisions(MetricSpec.of(name).metric).get("prevalence_invariance")
    return None if decision is None else decision.holds


def _unfit(problem: Problem, use: Use, named: set[Metric]) -> Iterator[Advice]:
    """The usual metrics that lack what the use asks for, each with the smallest table that shows it."""
    kept = named | {*get_metrics([use.of_scores, use.of_labels or use.of_scores, *use.beside])}
    for metric in get_metrics(_REPORTED):
        if metric in kept or (metric.name == "accuracy" and use.name == "balance" and problem.similar_classes):
            continue
        if use.name in _OF_SCORES:
            if metric.scores is None:
                yield Advice(metric.name, use.name, f"judges one threshold, {_OF_SCORES[use.name]}")
            continue
        for name, holds in problem.wanted(use).items():
            decision = decide(metric, name)
            if fault := fault_text(decision, holds):
                yield Advice(metric.name, use.name, fault)
                break


def _others(use: Use) -> Iterator[str]:
    """Who advises otherwise, and why."""
    if use.name == "alerts":
        text = "average precision counts errors at high scores for more; ROC AUC counts all alike"
        yield f"{text}{_cited('mcdermott2024')}"
    if use.name == "balance":
        text = f"the Matthews correlation asks for all four counts of the table to be good; {why('mcc')}"
        yield f"{text}{_cited('chicco2020')}"
    if use.name == "ranking":
        text = "ROC AUC weights the errors of each classifier by its own scores; the H-measure weights all alike"
        yield f"{text}{_cited('hand2009')}"


def _asks(problem: Problem, use: Use | None) -> Iterator[str]:
    """What the rows cannot show: open questions, and what is taken as answered."""
    if use is None:
        uses = "; ".join(f"use={each.name!r}: {each.purpose}" for each in USES.values() if problem.leading(each))
        yield f"What are the predictions for? {uses}."
    elif use.name == "alerts":
        if problem.capacity is None and (problem.judged is None or problem.judged.scores is not None):
            yield "How many rows can be looked at? capacity=200, or capacity='200 of 10000'."
    elif use.name == "probabilities" and problem.threshold is None and problem.cost is None:
        yield "From which probability is a row acted on? threshold=, or cost= for what errors cost."
    elif use.name == "balance" and not problem.allow_zero_recall:
        yield "May a class have zero recall? Taken: no; allow_zero_recall=True says yes."
    if use is not None and not problem.stable_prevalence and use.name in ("alerts", "balance"):
        yield "Do the rows have the deployment prevalence? Taken: no; stable_prevalence=True says yes."
    if problem.classes > 2 and not problem.ordered:
        yield "Are the classes in order? Taken: no; ordered=True says yes."
