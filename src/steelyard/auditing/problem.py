"""Problem: what advice on metrics depends on, as answers that are given or read from the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, SteelyardError
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.score_table import ScoreTable


class HasTables(Protocol):
    """What an Evaluation holds, as far as advice reads it."""

    @property
    def confusion(self) -> Confusion | None:
        """The table of labels, if there is one."""

    @property
    def scores(self) -> ScoreTable | None:
        """The table of scores, if there is one."""


SIMILAR_SHARE = 0.4  # of the rarer of two classes: above it they are of similar size, and accuracy is a fair summary
Evaluated: TypeAlias = "HasTables | Counts | Confusion | ScoreTable"


@dataclass(frozen=True)
class Problem:
    """What the metric is for, and how many rows the rarer class has, under the name it goes by."""

    alike: bool = True
    may_fail: bool = False
    in_use: bool = False
    ranking: bool | None = None
    costs: bool = False
    rows: int | None = None
    rarer: str = "positives"
    classes: int = 2
    similar_classes: bool = False
    calibration: bool = False
    capacity: int | None = None
    threshold: float | None = None
    clusters: bool = False
    ordered: bool = False

    @property
    def wanted(self) -> dict[str, bool]:
        """The properties that the answers ask for: whether each is to hold, or is not to."""
        wanted = {"class_symmetry": self.alike, "prevalence_invariance": not self.in_use}
        wanted |= {} if self.alike else {"leans_to_positives": True}
        return wanted | ({} if self.may_fail else {"no_credit_when_a_class_fails": True})

    def completed(self, data: Evaluated) -> Problem:
        """The problem with what the data show; what was given stays."""
        rows, ranked = _rows_by_class(data)
        present = {name: n for name, n in rows.items() if n > 0}
        similar = len(rows) == 2 and min(rows.values()) > SIMILAR_SHARE * sum(rows.values())
        ranking = ranked if self.ranking is None else self.ranking
        problem = replace(self, classes=len(rows), ranking=ranking, similar_classes=similar)
        if self.rows is not None or not present:
            return problem
        rarer = min(present, key=present.__getitem__)
        return replace(problem, rows=present[rarer], rarer=rarer)


def _rows_by_class(data: Evaluated) -> tuple[dict[str, int], bool]:
    """How many rows each class has, by the words for it, and whether they are ranked only, without a threshold."""
    table, scores = getattr(data, "confusion", data), getattr(data, "scores", data)
    if isinstance(table, Counts):
        if table.shape:
            raise InputError(f"recommend reads one table, not an array of {table.shape}; give one of them.")
        return {"positives": int(table.positives), "negatives": int(table.negatives)}, False
    if isinstance(table, Confusion):
        return dict(zip(_names(table), table.rows.sum(1).tolist(), strict=True)), False
    if isinstance(scores, ScoreTable):
        return {"positives": scores.positive.n, "negatives": scores.negative.n}, True
    raise InputTypeError(
        f"recommend reads an Evaluation, Counts, a Confusion or a ScoreTable, not {type(data).__name__}."
    )


def _names(table: Confusion) -> list[str]:
    names = [f"rows of {label!r}" for label in table.labels]
    if len(names) > 2:
        return names
    try:
        positive = table.positive_label()
    except SteelyardError:
        return names
    return ["positives" if label == positive else "negatives" for label in table.labels]


def checked_problem(**answers: object) -> Problem:
    """The answers given, by the names of `recommend`, checked."""
    for name in _YES_OR_NO:
        if not isinstance(answers[name], (bool, np.bool_)) and not (name == "ranking" and answers[name] is None):
            raise InputTypeError(f"{name}= is True or False, not {answers[name]!r}.")
    if answers["ranking"] and (answers["costs"] or answers["reference_threshold"] is not None):
        raise InputError(
            "Scores that are used as an order make no errors to cost; give ranking, or costs or a threshold, not both."
        )
    counts = {name: _count(name, answers[name]) for name in _COUNTS}
    chosen = {field: answers[name] for name, field in _YES_OR_NO.items()}
    return Problem(
        **chosen,  # type: ignore[arg-type]  # checked above
        rows=counts["positives"],
        capacity=counts["capacity"],
        threshold=_probability(answers["reference_threshold"]),
    )


_YES_OR_NO = {
    "equal_class_weight": "alike",
    "allow_zero_recall": "may_fail",
    "deployment_prevalence": "in_use",
    "ranking": "ranking",
    "costs": "costs",
    "calibration": "calibration",
    "clusters": "clusters",
    "ordered": "ordered",
}
_COUNTS = {
    "positives": "the number of positives in the test set",
    "capacity": "how many rows can be looked at",
}


def _count(name: str, given: object) -> int | None:
    whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if given is not None and not (whole and int(given) >= 1):  # type: ignore[call-overload]  # as asked
        raise InputError(f"{name} is {_COUNTS[name]}, 1 or more, not {given!r}.")
    return None if given is None else int(given)  # type: ignore[call-overload]  # a whole number


def _probability(given: object) -> float | None:
    is_number = isinstance(given, (float, int, np.floating)) and not isinstance(given, bool)
    if given is not None and not (is_number and 0 < float(given) < 1):  # type: ignore[arg-type]  # as asked
        raise InputError(
            f"reference_threshold is the probability from which a row is flagged, between 0 and 1, not {given!r}."
        )
    return None if given is None else float(given)  # type: ignore[arg-type]  # a number
