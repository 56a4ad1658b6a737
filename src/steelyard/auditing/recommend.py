"""Recommendation: which few measures fit a problem, by the properties decided for each, and which to avoid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.properties import Decision, decide, get_property
from steelyard.errors import InputError, InputTypeError
from steelyard.metrics.registry import get_metric, list_metrics
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.scores import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.metrics.metric import Metric

FEW = 30
MOST = 3
USUAL = ("accuracy", "f1", "mcc", "kappa", "balanced_accuracy", "g_mean", "precision")  # what people report
VIRTUES = ("equal_recalls_kept", "zero_when_a_class_fails", "constant_chance", "monotone_tp", "monotone_fp")
SAID = {
    "class_symmetry": "weighs both classes alike, whichever is called positive",
    "prevalence_invariance": "stays the same at any prevalence",
    "zero_when_a_class_fails": "is 0 as soon as one class is given up",
    "equal_recalls_kept": "reads like a rate: x where both recalls are x",
    "constant_chance": "has one chance level, whatever the margins",
    "monotone_tp": "never falls when a hit is added",
    "monotone_fp": "never rises when a false alarm is added",
}
DENIED = {
    "class_symmetry": "changes with which class is called positive",
    "prevalence_invariance": "moves with the prevalence though the classifier stays the same",
    "zero_when_a_class_fails": "may look well while one class is given up",
}


@dataclass(frozen=True)
class Advice:
    """One measure, why, and its source."""

    metric: str
    why: str
    cite: str | None

    def row(self) -> dict[str, Any]:
        """The advice as a row of a table."""
        return dict(vars(self))


@dataclass(frozen=True)
class Recommendation:
    """The measures to read, what to report beside them, and what to avoid, each with the property that decided."""

    use: tuple[Advice, ...]
    beside: tuple[str, ...]
    avoid: tuple[Advice, ...]

    def __repr__(self) -> str:
        lines = ["Read first:", *(f"  {a.metric}: {a.why}" for a in self.use)]
        lines += ["Report beside them:", *(f"  {said}" for said in self.beside)]
        if self.avoid:
            lines += ["Not to decide by:", *(f"  {a.metric}: {a.why}" for a in self.avoid)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The recommendation as plain values."""
        return {
            "use": [a.row() for a in self.use], "beside": list(self.beside), "avoid": [a.row() for a in self.avoid]
        }  # fmt: skip


def recommend(
    data: Any = None,
    *,
    both_classes_alike: bool = True,
    a_class_may_fail: bool = True,
    prevalence_in_use: bool = False,
    ranking: bool | None = None,
    costs: bool = False,
    positives: int | None = None,
) -> Recommendation:
    """The few measures that fit, from answers about the problem; every reason is a decided property.

    `both_classes_alike`: errors on either class matter the same. `a_class_may_fail`: half credit for giving one class
    up is fine. `prevalence_in_use`: the test set has the class shares of the use, which are stable. `ranking`: scores
    are used as an order, not cut. `costs`: what each error costs is known. `positives`: how many there are to test on.
    The last answers are read from `data`, an Evaluation or a table, where they are not given.

    >>> [advice.metric for advice in recommend(a_class_may_fail=False).use]
    ['g_mean', 'ac_score', 'tpnr']
    """
    if data is not None:
        seen = _seen(data)
        positives, ranking = seen[0] if positives is None else positives, seen[1] if ranking is None else ranking
    if positives is not None and (not isinstance(positives, int) or positives < 1):
        raise InputError(f"positives is the number of positives in the test set, 1 or more, not {positives!r}.")
    needed = _needed(both_classes_alike, a_class_may_fail, prevalence_in_use)
    beside = tuple(_beside(both_classes_alike, prevalence_in_use, positives))
    if costs:
        return Recommendation(tuple(_of_costs()), beside, ())
    if ranking:
        return Recommendation(tuple(_of_ranks(prevalence_in_use)), beside, ())
    fitting = [m for m in _candidates() if all(_stands(m, name) for name in needed)]
    best = sorted(_distinct(fitting), key=lambda m: -sum(_stands(m, name) for name in VIRTUES))[:MOST]
    return Recommendation(tuple(_praise(m, needed) for m in best), beside, tuple(_blame(needed)))


def _seen(data: Any) -> tuple[int | None, bool]:
    """How many rows of the rarer class there are, and whether they are ranked only, not cut."""
    table, scores = getattr(data, "confusion", data), getattr(data, "scores", data)
    if isinstance(table, Counts):
        return _rarer([int(table.positives), int(table.negatives)]), False
    if isinstance(table, Confusion):
        return _rarer(table.rows.sum(1).tolist()), False
    if isinstance(scores, ScoreTable):
        return _rarer([scores.positive.n, scores.negative.n]), True
    raise InputTypeError(
        f"recommend reads an Evaluation, Counts, a Confusion or a ScoreTable, not {type(data).__name__}."
    )


def _rarer(rows: list[int]) -> int | None:
    return min((n for n in rows if n > 0), default=None)


def _needed(alike: bool, may_fail: bool, prevalence_in_use: bool) -> list[str]:
    """The properties that the answers ask for."""
    wanted = {
        "class_symmetry": alike,
        "prevalence_invariance": not prevalence_in_use,
        "zero_when_a_class_fails": not may_fail,
    }
    return [name for name, asked in wanted.items() if asked]


def _stands(measure: Metric, name: str) -> bool:
    """Whether a property is proved, or at least no table speaks against it: without sympy there are no proofs."""
    decision = decide(measure, name)
    return bool(decision.holds) or decision.verdict.startswith("no counterexample")


def _candidates() -> Iterator[Metric]:
    """Measures of labels that sum a table up: bounded, better upward, and of both classes."""
    for measure in list_metrics():
        summary = measure.family not in ("rates", "description", "decision", "diagnostic")
        if (
            measure.function is not None
            and measure.direction == "higher"
            and summary
            and math.isfinite(measure.range[1])
        ):
            yield measure


def _distinct(measures: list[Metric]) -> list[Metric]:
    """One of each group that is the same function on every small table, the first declared."""
    cells = np.indices((5, 5, 5, 5)).reshape(4, -1)
    kept: dict[bytes, Metric] = {}
    for measure in measures:
        values = np.round(np.asarray(measure(Counts(*cells)), dtype=np.float64), 12) + 0.0
        kept.setdefault(values.tobytes(), measure)
    return list(kept.values())


def _praise(measure: Metric, needed: list[str]) -> Advice:
    names = [*needed, *(name for name in VIRTUES if name not in needed and _stands(measure, name))]
    return Advice(
        measure.name, "; ".join(f"{SAID[name]} ({decide(measure, name).verdict})" for name in names), measure.cite
    )


def _blame(needed: list[str]) -> Iterator[Advice]:
    """The usual measures that lack a needed property, with the smallest table that shows it."""
    for name in USUAL:
        failed = next((d for d in (decide(name, asked) for asked in needed) if d.holds is False), None)
        if failed is not None:
            yield Advice(name, f"{DENIED[failed.property]}{_shown(failed)}", get_property(failed.property).cite[0])


def _shown(decision: Decision) -> str:
    return f": {decision.counterexample}" if decision.counterexample else ""


def _beside(alike: bool, prevalence_in_use: bool, positives: int | None) -> Iterator[str]:
    yield "recall and specificity, each with its interval: no single number says which class is served badly"
    if not alike or prevalence_in_use:
        yield "precision at the prevalence in use, beside what guessing at the same rate would get"
    else:
        yield "precision, said with its prevalence, or at the prevalence in use by at_prevalence"
    if positives is not None and positives < FEW:
        said = f"the interval before the value: {positives} positives leave most measures open"
        yield f"{said}; sample_size says how many would do"


def _of_costs() -> Iterator[Advice]:
    for name in ("expected_cost", "net_benefit"):
        measure = get_metric(name)
        yield Advice(name, f"{measure.meaning[:-1].lower()}, which is the question when costs are known", measure.cite)


def _of_ranks(prevalence_in_use: bool) -> Iterator[Advice]:
    auc, ap = get_metric("roc_auc"), get_metric("average_precision")
    yield Advice("roc_auc", "the same at every prevalence: each class is ranked against the other", auc.cite)
    there = "at the prevalence in use" if prevalence_in_use else "only with its prevalence, since it moves with it"
    yield Advice("average_precision", f"what is found at the top of the list; read it {there}", ap.cite)
