"""Tables of device columns: labels and scores on a device as a Confusion or a ScoreTable, without bringing the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.ingest import arrays, device_counts, label_codes
from steelyard.ingest.device_columns import device_column, device_weights
from steelyard.ingest.label_number import check_label_number
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion, sort_labels
from steelyard.statistics.device_array import DeviceArray, kept
from steelyard.statistics.positive_class import CONVENTION, chosen_label
from steelyard.statistics.precision import DOUBLE, PRECISIONS
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Label, Labels
    from steelyard.ingest.device_columns import Column
    from steelyard.statistics.device_library import DeviceLibrary, Native


class DeviceRows(NamedTuple):
    """The labels of rows, what is beside them, and their weights, on one device."""

    true: DeviceArray
    beside: DeviceArray
    weight: DeviceArray | None
    times: DeviceArray | None

    @classmethod
    def of(
        cls, library: DeviceLibrary, y_true: Column, sample_weight: Column, frequency: Column, **beside: Column
    ) -> DeviceRows:
        """The rows that have weight; what is beside the labels by its name."""
        given = {"y_true": y_true, **beside}
        true, other = columns = [device_column(library, values, name) for name, values in given.items()]
        weights = device_weights(library, sample_weight, "sample_weight")
        times = device_weights(library, frequency, "frequency", whole=True)
        arrays.check_lengths(**dict(zip(given, columns, strict=True)), sample_weight=weights, frequency=times)
        return cls(true, other, weights, times).with_weight(library)

    def with_weight(self, library: DeviceLibrary) -> DeviceRows:
        """The same without rows of no weight."""
        masks = [column.native > 0 for column in (self.weight, self.times) if column is not None]
        if not masks:
            return self
        counted = masks[0] if len(masks) == 1 else masks[0] & masks[1]
        if bool(library.xp.all(counted)):
            return self
        parts: list[Any] = [None if part is None else DeviceArray(library, part.native[counted]) for part in self]
        return DeviceRows(*parts)


def device_confusion(rows: DeviceRows, declared: Labels | None) -> Confusion:
    """The table of true and predicted labels."""
    true, pred, weight, times = rows
    library = true.library
    if weight is None and times is None and declared is None:
        counts = device_counts.device_binary_counts(true, pred)
        counts = device_counts.device_small_counts(true, pred) if counts is None else counts
        if counts is not None:
            present = np.flatnonzero(counts.sum(0) + counts.sum(1))
            kind = bool if true.dtype.kind == pred.dtype.kind == "b" else int
            return Confusion.of_rows(tuple(map(kind, present)), counts[np.ix_(present, present)])
    true_codes, true_labels = device_counts.device_labels(true, "y_true")
    pred_codes, pred_labels = device_counts.device_labels(pred, "y_pred")
    label_codes.check_alike(true_labels, pred_labels)
    labels = sort_labels([*true_labels, *pred_labels]) if declared is None else declared
    check_label_number(len(labels), len(true) if times is None else int(times.sum()), declared=declared is not None)
    true_codes = device_counts.moved_codes(library, true_codes, true_labels, labels, "y_true")
    pred_codes = device_counts.moved_codes(library, pred_codes, pred_labels, labels, "y_pred")
    counted = device_counts.device_pair_counts(library, true_codes, pred_codes, len(labels), weight, times)
    return Confusion(labels, *counted)


# ---------------------------------------------------------------- scores


def device_score_table(rows: DeviceRows, pos_label: Label, declared: Labels | None) -> ScoreTable:
    """The scores of both classes in order, for a single question: those of the common class are read where they are."""
    true, score, weight, times = rows
    library = true.library
    if score.dtype.kind == "b":  # among which libraries do not search
        score = DeviceArray(library, library.xp.astype(score.native, library.xp.uint8))
    _check_finite(score)
    positive, label = _positive_rows(true, pos_label, declared, times)
    name = str(score.native.dtype).rpartition(".")[2]
    precision = "float32" if name == "bfloat16" else name if name in PRECISIONS else DOUBLE  # as NumPy reads them
    if weight is None and times is None:
        return ScoreTable(*_unweighted_classes(library, score, positive), label, precision=precision)
    sides = []
    for mask in (positive, ~positive):
        parts = [None if column is None else kept(library, column.native[mask]) for column in (score, weight, times)]
        sides.append(ClassScores.of_rows(*parts))  # type: ignore[arg-type]  # there are always scores
    return ScoreTable(sides[0], sides[1], label, precision=precision)


def _check_finite(score: DeviceArray) -> None:
    least, most = (float(end) for end in score.library.ends(score.native))
    if not (np.isfinite(least) and np.isfinite(most)):
        arrays.finite_scores(score.brought())  # refuses it by its row
    if score.dtype.kind == "i" and max(-least, most) >= 2**53:
        given = score.library.brought(score.native)
        arrays.check_apart(given, given.astype(np.float64), "y_score")


def _positive_rows(
    true: DeviceArray, pos_label: Label, declared: Labels | None, times: DeviceArray | None
) -> tuple[Native, Label]:
    """Which rows are positive, as booleans of the device, and the positive label."""
    library = true.library
    if (pos_label is None or pos_label is CONVENTION) and declared is None and device_counts.is_zero_one_column(true):
        return (true.native if true.dtype.kind == "b" else true.native != 0), 1 if true.dtype.kind != "b" else True
    codes, labels = device_counts.device_codes(true, declared)

    def counts() -> Any:
        amounts = None if times is None else times.native
        return library.brought(library.code_sums(codes, len(labels), amounts))

    label = chosen_label(pos_label, labels, counts)
    return codes == (labels.index(label) if label in labels else -1), label


def _unweighted_classes(
    library: DeviceLibrary, score: DeviceArray, positive: Native
) -> tuple[ClassScores, ClassScores]:
    """The scores of both classes: a copy of the rarer one's, the others where they are."""
    n, native = int(library.xp.count_nonzero(positive)), score.native
    which = 2 * n <= len(score)
    rare_rows, common_rows = (positive, ~positive) if which else (~positive, positive)
    rare = ClassScores(kept(library, native[rare_rows]), ascending=False, single_use=True)
    common = ClassScores(
        lambda: kept(library, native[common_rows]), ascending=False, among=(score, rare), single_use=True
    )
    return (rare, common) if which else (common, rare)


def labels_on_device(library: DeviceLibrary, y_true: Column) -> Labels:
    """The labels that occur in a column on a device."""
    return device_counts.device_labels(device_column(library, y_true, "y_true"), "y_true")[1]
