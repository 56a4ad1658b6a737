"""Schema 1: the evaluations that version 0.1.0 saved, with what they hold; what they lack says so when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.rows import Rows
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.groups import Group
from steelyard.evaluation.saved.json_values import read_label
from steelyard.evaluation.saved.saved_evaluation import read_metrics, read_setting
from steelyard.evaluation.verdict.sentences import Sentence
from steelyard.exceptions import InputError
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import CELLS, Counts

if TYPE_CHECKING:
    from steelyard._types import Array, Labels
    from steelyard.evaluation.saved.saved_field import SavedField

_LACKED = {
    "scores": "no scores",
    "per_class": "no rows per class",
    "beats": "no test against the no-skill baseline",
    "confusion": "no rows behind its weights, or no table of all classes",
}


class NotSavedError(InputError, AttributeError):
    """What was asked of an evaluation is not in the JSON that it was read from."""


class EarlierEvaluation(Evaluation):
    """An evaluation that was read from JSON of schema 1."""

    kind = Evaluation.kind

    def __init__(self, saved: SavedField) -> None:
        self.__dict__.update(_fields(saved), saved=saved.value)
        self.__dict__["verdict"] = [Sentence(part.text(), "saved", "info") for part in saved["verdict"].each()]

    def __getattr__(self, name: str) -> Any:
        if name in _LACKED:
            raise NotSavedError(
                f"This evaluation was saved by schema 1, which holds {_LACKED[name]}; evaluate the predictions again."
            )
        raise AttributeError(name)

    @property
    def counts(self) -> Counts | None:
        """The two-class table, where the evaluation is about one positive class."""
        return self.__dict__["cells"]  # type: ignore[no-any-return]  # set above

    @property
    def labels(self) -> Labels:
        """The classes."""
        return self.__dict__["classes"]  # type: ignore[no-any-return]  # set above

    @property
    def method(self) -> str:
        """How the intervals were made."""
        return str(self.saved["method"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EarlierEvaluation) and self.saved == other.saved

    def __hash__(self) -> int:
        return hash((self.kind, self.rows, self.level))

    def to_dict(self) -> dict[str, Any]:
        """What was saved, by its own schema."""
        return dict(self.saved)


def _fields(saved: SavedField) -> dict[str, Any]:
    labels = tuple(read_label(label) for label in saved["labels"].each())
    fields = read_setting(saved) | {
        "classes": labels,
        "cells": None if saved.get("counts").value is None else _counts(saved["counts"]),
        "behind": Rows(),
        "metrics_named": False,
        "groups": Rows(_group(group) for group in saved["groups"].each()),
        "muted": (),
        "columns": {},
        "source": None,
        "versions": {"steelyard": saved["version"].text()},
    }
    table = _table(saved, labels, fields["cells"], fields["positive"])
    return fields | ({"read_first": ()} if table is None else {"confusion": table})


def _counts(field: SavedField) -> Counts:
    return Counts(*(field[cell].number_as_written() for cell in CELLS))


def _group(field: SavedField) -> Group:
    keys = field["group"].entries()
    metrics = read_metrics(field["metrics"])
    return Group(tuple(keys), tuple(map(read_label, keys.values())), field["rows"].whole(), metrics)


def _table(saved: SavedField, labels: Labels, counts: Counts | None, positive: object) -> Confusion | None:
    """The table where schema 1 holds all of it: of whole rows, and of two classes where one is positive."""
    if counts is not None and len(labels) == 2 and positive in labels:
        matrix: Array = counts.matrix()
        matrix = matrix if labels.index(positive) else matrix[::-1, ::-1]
    elif saved.get("confusion").value is not None:
        matrix = np.array([[cell.number_as_written() for cell in row.each()] for row in saved["confusion"].each()])
    else:
        return None
    return Confusion.of_rows(labels, matrix, positive) if matrix.dtype.kind == "i" else None
