"""Properties of metrics, decided: proved, refuted by a smallest table, or not refuted.

Each law of a property is tried on small tables in exact arithmetic, smallest first, and where none refutes it proved
for all values of its variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.result import Flat, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.decisions import (
    DOES_NOT_APPLY,
    Decision,
    decision_key,
    recalled_decision,
    recalled_decisions,
    store,
    stored_decisions,
)
from steelyard.auditing.laws import CHANGED_CELLS, PROPERTIES, Property, get_property
from steelyard.auditing.model_tables import metric_values, value_change
from steelyard.exceptions import InputTypeError
from steelyard.metrics.registry import get_metric, is_builtin, list_metrics
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard.auditing.decisions import Decisions
    from steelyard.auditing.proof import AuditedMetric
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.registry import MetricLike


OF_SCORES = "prevalence_invariance"  # the one property that is asked of metrics of scores too
_OF_OTHERS = "it is of {}, and the property of tables of labels"
__all__ = ["PROPERTIES", "Decision", "Property", "audit_properties", "decide", "garcia_row", "get_property"]


def decide(metric: MetricLike, property: str | Property) -> Decision:
    """Whether a property holds for a metric, given by name or as a function of the four cells.

    >>> print(decide("balanced_accuracy", "prevalence_invariance").verdict)
    proved
    >>> decision = decide("accuracy", "prevalence_invariance")
    >>> print(decision.verdict, "by", decision.counterexample)
    refuted by 1/2 on tp=0, fn=1, fp=0, tn=1, 1/3 on tp=0, fn=2, fp=0, tn=1
    """
    (decision,) = audit_properties([metric], [property])
    return decision


def audit_properties(
    metrics: Iterable[MetricLike] | None = None, properties: Iterable[str | Property] | None = None
) -> list[Decision]:
    """Every property proved or refuted for every metric in the registry, where it can be asked, or for those named."""
    stored, asked = stored_decisions(), list(map(get_property, PROPERTIES if properties is None else properties))
    before = len(stored)
    if metrics is None:
        rows = _catalogue_decisions(asked, stored)
    else:
        rows = _decisions(list(map(get_metric, metrics)), asked, stored)
    if len(stored) > before:
        store(stored)
    return rows


def decided_anew() -> Decisions:
    """Every decision about the catalogue, made now, by its key."""
    decisions: Decisions = {}
    _catalogue_decisions(list(PROPERTIES.values()), decisions)
    return decisions


def _catalogue_decisions(properties: list[Property], stored: Decisions) -> list[Decision]:
    """The decisions about all metrics of counts, and about those of scores the one that can be asked of them."""
    rows = _decisions([metric for metric in list_metrics() if metric.function], properties, stored)
    of_scores = [property_ for property_ in properties if property_.name == OF_SCORES]
    return rows + _decisions(list(filter(is_decidable, list_metrics())), of_scores, stored)


def is_decidable(metric: Metric) -> bool:
    """Whether it is a metric of the scores of two classes, of which the dependence on the prevalence is decided."""
    return metric.function is None and not metric.is_of_label_sets and metric.least_classes == 2


def garcia_row(metric: MetricLike, *, anew: bool = False) -> str:
    """A metric's column of García's Table 2, p1 to p5: "-" invariant, "+" not, "?" undecided.

    With `anew` it is decided now, whatever was decided before.

    >>> garcia_row("f1")
    '+-+++'
    """
    signs, names = {True: "-", False: "+", None: "?"}, ("p1", *CHANGED_CELLS)
    if anew:
        decisions = _decisions([get_metric(metric)], list(map(get_property, names)), {})
    else:
        decisions = audit_properties([metric], names)
    return "".join(signs[decision.holds] for decision in decisions)


def _decisions(metrics: list[Metric], properties: list[Property], stored: Decisions) -> list[Decision]:
    """The decisions that are stored, and those made now, which join them."""
    rows = []
    for metric in metrics:
        audited = None
        for property_ in properties:
            if metric.function is None and not (property_.name == OF_SCORES and is_decidable(metric)):
                why = _OF_OTHERS.format(metric.basis)
                rows.append(Decision(metric.name, property_.name, DOES_NOT_APPLY, why))
                continue
            decision = recalled_decision(metric, property_, stored)
            if decision is None:  # what tries and proves is loaded only where something is not decided yet
                from steelyard.auditing.proof import AuditedMetric
                from steelyard.auditing.score_rulings import prevalence_ruling
                from steelyard.auditing.symbolic import is_available

                if metric.function is None:
                    decision = Decision(metric.name, property_.name, *prevalence_ruling(metric))
                else:
                    audited = audited or AuditedMetric(metric)
                    decision = _decided(audited, property_)
                if (key := decision_key(metric, property_)) and is_available():
                    stored[key] = decision
            rows.append(decision)
    return rows


def _decided(audited: AuditedMetric, property_: Property) -> Decision:
    from steelyard.auditing.rulings import ruling_on

    reason = "" if property_.name == "bounds_attained" else _why_not_applicable(audited.metric, property_)
    ruling = (DOES_NOT_APPLY, reason, None) if reason else ruling_on(audited, property_.name)
    return Decision(audited.metric.name, property_.name, *ruling)


def _why_not_applicable(metric: Metric, property_: Property) -> str:
    """Why a property is not asked of a metric; empty where it is."""
    if property_.is_equality or (metric.direction == "higher" or (metric.direction and not property_.upward)):
        return ""
    if metric.direction:
        return "0 is no credit only where higher is better"
    if is_builtin(metric):
        return "no value of it is better than another"
    return "no direction was declared; @metric(..., best=...) declares one"


# ---------------------------------------------------------------- property sentences
# What a proven or refuted property means for the choice of a metric.


_MISSED = {
    "class_symmetry": "changes with which class is called positive",
    "prevalence_invariance": "moves with the prevalence though the classifier stays the same",
    "no_credit_when_a_class_fails": "may look good while one class has zero recall",
}
_UNWANTED = {"prevalence_invariance": "stays the same at any prevalence, so it does not show how many alerts are false"}


def fault_text(decision: Decision, wanted: bool) -> str:
    """What speaks against a metric: what is wanted fails, or what is not wanted holds; empty where nothing does."""
    if wanted and decision.holds is False:
        shown = f": {decision.counterexample}" if decision.counterexample else ""
        return f"{_MISSED[decision.property]}{shown}"
    unwanted = not wanted and decision.holds and decision.property in _UNWANTED
    return f"{_UNWANTED[decision.property]} ({decision.verdict})" if unwanted else ""


# ---------------------------------------------------------------- the audit's table
# Every decision about every metric, for the command line and the documentation.


_MARKS = {True: "yes", False: "no", None: "?"}


@names_wrong_arguments
def audit(*metrics: MetricLike, properties: Iterable[str] | None = None) -> Rows[Decision]:
    """The proven properties of the metrics named, or of all: proved, refuted by a table, or left open.

    >>> audit("g_mean", properties=["class_symmetry"])[0].verdict
    'proved'
    """
    if isinstance(properties, str):
        raise InputTypeError(f"Properties are given as a list of names, not as the text {properties!r}.")
    chosen = [get_metric(metric) for metric in metrics] or None
    return Rows(audit_properties(chosen, None if properties is None else list(properties)))


def markdown(decisions: Iterable[Decision]) -> str:
    """What each property says, then one row per metric: yes is proved, no refuted, ? open or inapplicable."""
    rows: dict[str, dict[str, Decision]] = {}
    for decision in decisions:
        rows.setdefault(decision.metric, {})[decision.property] = decision
    asked = {name for row in rows.values() for name in row}
    lines = [f"- `{name}`: {words}" for name, words in legend(asked).items()]
    for names in dict.fromkeys(tuple(name for name in PROPERTIES if name in row) for row in rows.values()):
        lines += ["", f"| metric | {' | '.join(names)} |", "|" + "---|" * (len(names) + 1)]
        for metric, row in rows.items():
            if len(row) == len(names) and all(name in row for name in names):
                lines.append(f"| {metric} | {' | '.join(_MARKS[row[name].holds] for name in names)} |")
    return "\n".join(lines)


def decided_text(decisions: Sequence[Decision]) -> str:
    """How many properties of how many metrics are decided, as every page counts them.

    >>> decided_text(audit("recall", "weighted_auc"))
    '43 of 50 properties of 2 metrics'
    """
    decided, metrics = sum(row.holds is not None for row in decisions), len({row.metric for row in decisions})
    return f"{decided:,} of {len(decisions):,} properties of {metrics} metric{'s' * (metrics != 1)}"


def legend(names: Iterable[str]) -> dict[str, str]:
    """What each property says and who wants it, both readings where papers disagree."""
    wanted = set(names)
    return {name: f"{p.meaning} {p.wanted}" for name, p in PROPERTIES.items() if name in wanted}


# ---------------------------------------------------------------- metric uses
# Where a metric fits and where it does not, by what is proved or refuted of it and by what it reads.


# Of a property: where a metric that has it fits, and where one that lacks it does not.
_BY_PROPERTY = {
    "prevalence_invariance": (
        "test sets of different prevalence are compared",
        "test sets of different prevalence are compared",
    ),
    "class_symmetry": ("which class is called positive is a convention", ""),
    "no_credit_when_a_class_fails": (
        "no class may have zero recall",
        "a class with zero recall must not be rewarded",
    ),
    "approximate_constant_baseline": (
        "a value is read beside a random predictor's",
        "a value is read without its no-skill baseline",
    ),
    "corrections_improve": ("every error should count", "every error should count: some are free"),
}
_ORDERED = (
    "the classes have an order, and a near miss is a smaller error than a far one",
    "the classes have no order: to mistake one for another is then as bad as for any",
)
_IGNORES_TN = "true negatives matter: it does not change with them"
_BY_READING = {
    "order": ("no threshold is fixed yet, and the order of the rows matters", "one threshold is in use already"),
    "probabilities": ("scores are used as probabilities", "only the order of the scores matters"),
}


@dataclass(frozen=True)
class MetricUses:
    """Where a metric fits and where it does not, as ends of the sentences "Use it where" and "Not where"."""

    fits: Sequence[str]
    fails: Sequence[str]


def metric_uses(metric: Metric) -> MetricUses:
    """Where a metric fits and where it does not; nothing where nothing is proved or refuted of it.

    >>> from steelyard import get_metric
    >>> metric_uses(get_metric("ac_score")).fits[0]
    'test sets of different prevalence are compared'
    >>> metric_uses(get_metric("f1")).fails[-1]
    'true negatives matter: it does not change with them'
    """
    if metric.family == "ordinal":
        return MetricUses([_ORDERED[0]], [_ORDERED[1]])
    if metric.scores is not None:
        fit, fail = _BY_READING["probabilities" if metric.of_probabilities else "order"]
        moves = recalled_decisions(metric).get(OF_SCORES)
        stays, changes = _BY_PROPERTY[OF_SCORES]
        more_fits = [stays] if moves is not None and moves.holds else []
        more_fails = [changes] if moves is not None and moves.holds is False else []
        return MetricUses([fit, *more_fits], [fail, *more_fails])
    decided = {name: decision.holds for name, decision in recalled_decisions(metric).items()}
    fits = [words for name, (words, _) in _BY_PROPERTY.items() if decided.get(name) is True]
    fails = [words for name, (_, words) in _BY_PROPERTY.items() if words and decided.get(name) is False]
    return MetricUses(fits, [*fails, _IGNORES_TN] if decided.get("p2") is True else fails)


def decided_sentences(metric: Metric) -> Iterator[tuple[str, list[str]]]:
    """What is proved of a metric, what is refuted and what is open, each property in a sentence; once of one law.

    >>> from steelyard import get_metric
    >>> dict(decided_sentences(get_metric("recall")))["always true (proved)"][0]
    'The value stays when only the true negatives change.'
    """
    heads = {True: "always true (proved)", False: "not always true (a table refutes it)", None: "not decided"}
    lines: dict[str, list[str]] = {head: [] for head in heads.values()}
    decisions = recalled_decisions(metric)
    laws = {PROPERTIES[name].laws or (name,): name for name in decisions}  # of properties with one law the last
    for name in (name for name in decisions if name in laws.values()):
        decision = decisions[name]
        if decision.verdict != DOES_NOT_APPLY:
            lines[heads[decision.holds]].append(PROPERTIES[name].meaning)
    yield from lines.items()


# ---------------------------------------------------------------- invariance
# What each metric does on one table when the classes are exchanged or one cell changes, and in general.
#
# García, Sánchez and Mollineda, 2012, section 3.2, on the user's own table, beside what the audit proves or refutes.


MORE = 0.1  # the share of a cell by which it grows, and at least a row
_GENERAL = {True: "stays", False: "changes", None: "undecided"}


@dataclass(frozen=True, eq=False)
class Invariance(Flat):
    """One metric under one change of the table: by how much it changes here, and whether it does in general.

    `change` is NaN where the metric is undefined before or after.
    """

    metric: str
    transformation: str
    change: float
    in_general: str

    @property
    def words(self) -> str:
        """What is to be known of it: what holds in general, and the change here; where they differ, both in words."""
        if np.isnan(self.change):
            return f"{self.in_general}; undefined here"
        if self.change == 0:
            return self.in_general if self.in_general == "stays" else "stays here, changes in general"
        small = abs(self.change) < 0.0005
        return "changes by < 0.001" if small else f"{self.change:+.3f}".replace("-", "−")


def invariance(metrics: Sequence[Metric], counts: Counts) -> Rows[Invariance]:
    """Every metric of counts under García's five changes of a table: p1 exchanges the classes, p2 to p5 grow a cell.

    >>> from steelyard import Counts, get_metric
    >>> rows = invariance([get_metric("recall")], Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> [(row.transformation, row.words) for row in rows][:4]
    [('p1', '+0.425'), ('p2', 'stays'), ('p3', 'stays'), ('p4', '+0.025')]
    """
    tables, names = [counts, counts.swapped()], ["p1", *CHANGED_CELLS]
    for cell in CHANGED_CELLS.values():  # larger by a tenth, and by a row at least
        rows: Any = getattr(counts, cell)
        tables.append(replace(counts, **{cell: rows + max(1, round(MORE * float(rows)))}))
    before, *after = metric_values(metrics, Counts.stack(tables))
    changes = [-value_change(before, values) for values in after]
    decisions = iter(audit_properties(metrics, names))
    return Rows(
        Invariance(metric.name, name, float(changes[j][i]) + 0.0, _GENERAL[next(decisions).holds])
        for i, metric in enumerate(metrics)
        for j, name in enumerate(names)
    )
