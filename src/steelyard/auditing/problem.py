"""Problem: what advice on metrics depends on, as answers that are given or read from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, SteelyardError
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable


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

    equal_class_weight: bool = True
    allow_zero_recall: bool = False
    stable_prevalence: bool = False
    ranking: bool | None = None
    has_costs: bool = False
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
        wanted = {
            "class_symmetry": self.equal_class_weight,
            "prevalence_invariance": not self.stable_prevalence,
        }
        if not self.equal_class_weight:
            wanted["leans_to_positives"] = True
        if not self.allow_zero_recall:
            wanted["no_credit_when_a_class_fails"] = True
        return wanted

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
        names = [f"rows of {label!r}" for label in table.labels]
        if len(names) == 2:
            try:
                positive = table.positive_label()
                names = ["positives" if label == positive else "negatives" for label in table.labels]
            except SteelyardError:  # which class is the positive one is not clear
                pass
        return dict(zip(names, table.rows.sum(1).tolist(), strict=True)), False
    if isinstance(scores, ScoreTable):
        return {"positives": scores.positive.n, "negatives": scores.negative.n}, True
    raise InputTypeError(
        f"recommend reads an Evaluation, Counts, a Confusion or a ScoreTable, not {type(data).__name__}."
    )


def checked_problem(
    *,
    positives: object,
    capacity: object,
    threshold: object,
    cost: object,
    ranking: bool | None,
    **yes_or_no: Any,
) -> Problem:
    """The answers given, by the names of `recommend`, checked."""
    for name, answer in {"ranking": ranking, **yes_or_no}.items():
        if not isinstance(answer, (bool, np.bool_)) and not (name == "ranking" and answer is None):
            raise InputTypeError(f"{name}= is True or False, not {answer!r}.")
    if cost is not None and not isinstance(cost, Mapping):
        raise InputTypeError(
            f"cost= is what each kind of error costs, such as {{'cost_fn': 10, 'cost_fp': 1}}, not {cost!r}."
        )
    if ranking and (cost is not None or threshold is not None):
        raise InputError(
            "Scores that are used as an order make no errors to cost; give ranking, or costs or a threshold, not both."
        )
    for name, number, meaning in (
        ("positives", positives, "the number of positives in the test set"),
        ("capacity", capacity, "how many rows can be looked at"),
    ):
        is_whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
        if number is not None and not (is_whole and number >= 1):  # type: ignore[operator]  # a whole number
            raise InputError(f"{name} is {meaning}, 1 or more, not {number!r}.")
    is_number = isinstance(threshold, (float, int, np.floating)) and not isinstance(threshold, bool)
    if threshold is not None and not (is_number and 0 < float(threshold) < 1):  # type: ignore[arg-type]  # a number
        raise InputError(
            f"threshold= is the probability from which a row is flagged, between 0 and 1, not {threshold!r}."
        )
    return Problem(
        **yes_or_no,
        ranking=ranking,
        has_costs=cost is not None,
        rows=None if positives is None else int(positives),  # type: ignore[call-overload]  # checked above
        capacity=None if capacity is None else int(capacity),  # type: ignore[call-overload]  # checked above
        threshold=None if threshold is None else float(threshold),  # type: ignore[arg-type]  # checked above
    )
