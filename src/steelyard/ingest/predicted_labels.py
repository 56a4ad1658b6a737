"""Predicted labels that are to be among the classes of the truth: the first that is not, by its row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten
from steelyard.ingest import label_codes
from steelyard.statistics.label_kinds import label_kind, parse_value

if TYPE_CHECKING:
    from steelyard._types import Array, Label, Labels


def predicted_codes(column: Array, classes: Labels, name: str) -> Array:
    """The predicted labels as codes into the classes; one that is no class is refused by the row where it is first."""
    codes, present = label_codes.distinct(column, name)
    strange = [label for label in present if _read(label, classes) not in classes]
    if strange:
        rows = [int(np.flatnonzero(codes == present.index(label))[0]) for label in strange]
        first = int(np.argmin(rows))
        near = did_you_mean(str(strange[first]), map(str, classes))
        raise InputError(
            f"{name} holds {strange[first]!r} in row {rows[first] + 1:,}, which is none of the classes of the truth, "
            f"{first_ten(classes)}; mend the label, or leave the row out.{near}"
        )
    if present and label_kind(present[0]) != label_kind(classes[0]):
        raise InputTypeError(
            f"{name} holds {label_kind(present[0])} such as {present[0]!r} and the truth {label_kind(classes[0])} such "
            f"as {classes[0]!r}; give both the same labels."
        )
    return label_codes.recode(codes, present, classes, name)


def _read(label: Label, classes: Labels) -> Label:
    """The label as the classes are written: a text as the number that it is, a number as text."""
    if label_kind(label) == label_kind(classes[0]):
        return label
    return parse_value(label.strip()) if isinstance(label, str) else str(label)
