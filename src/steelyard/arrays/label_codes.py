"""Label codes: labels of any kind as small whole numbers into their ordered list, and counts of pairs of them."""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from steelyard.arrays.backend import backend_of
from steelyard.arrays.labels import kinds_sentence, label_kind, parse_value, sort_labels
from steelyard.arrays.sorting import chunks
from steelyard.arrays.sparse import MOST_DENSE_LABELS, SparseMatrix
from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Label, Labels
    from steelyard.arrays.backend import Backend, Native


MOST_LABELS = 100_000  # beyond this a table is a mistake, a column of numbers or of names taken for labels
LEAST_ROWS_A_LABEL = 2  # of more than MOST_DENSE_LABELS labels that nobody declared


def too_many_labels(labels: int, rows: int, *, declared: bool = False) -> bool:
    """Whether there are more labels than are counted, or undeclared ones with hardly a row each."""
    few_rows = labels > MOST_DENSE_LABELS and rows < LEAST_ROWS_A_LABEL * labels and not declared
    return labels > MOST_LABELS or few_rows


def check_label_number(labels: int, rows: int, *, declared: bool = False) -> None:
    """Refuse a column of numbers or names as labels."""
    if labels > MOST_LABELS:
        raise InputError(
            f"There are {labels:,} different labels; at most {MOST_LABELS:,} are counted. "
            "Are these labels, or a column of numbers or names?"
        )
    if too_many_labels(labels, rows, declared=declared):
        raise InputError(
            f"There are {labels:,} different labels in {rows:,} rows. Are these labels, or a column of numbers or "
            "names? labels= declares them where they are."
        )


# ---------------------------------------------------------------- code counts


_SORTED = 4_194_304  # rows a step where their codes are sorted
_SMALL = 64  # labels below this are counted without looking which there are


def binary_counts(true: Array, pred: Array) -> Array | None:
    """The 2 x 2 table of 0/1 columns of whole numbers or booleans; None where they hold anything else."""
    there = backend_of(true, pred)
    if (ones := there.pair_ones(there.native(true), there.native(pred))) is None:
        return None
    n_true, n_pred, both = ones
    return np.array([[len(true) - n_true - n_pred + both, n_pred - both], [n_true - both, both]])


def small_counts(true: Array, pred: Array) -> Array | None:
    """The table of integers from 0 to 63, counted before anyone asks which there are; None where others occur."""
    there = backend_of(true, pred)
    columns = there.native(true), there.native(pred)
    counts: Any = 0
    for part in there.chunks(len(true)):
        t, p = (column[part] for column in columns)
        ends = [int(end) for column in (t, p) for end in there.ends(column)]
        if min(ends) < 0 or max(ends) >= _SMALL:
            return None
        counts = counts + there.code_sums(there.pair_codes(t, p, _SMALL), _SMALL * _SMALL)
    table: Array = there.to_host(counts).reshape(_SMALL, _SMALL)
    return table


def pair_counts(
    true: Array, pred: Array, k: int, weights: Array | None = None, frequency: Array | None = None
) -> tuple[Array, Array | None, Array | None]:
    """The one function that counts rows of labels: codes below k in, the rows, weights and squares of each pair out.

    `true` and `pred` hold a code a row, `weights` the sample weight (above 0) and `frequency` how many rows it counts
    for. Out come the number of rows of each pair, the sum of weights and the sum of squared weights, each row as often
    as it counts for; the latter two are None without weights. Each is a k x k array, and beyond MOST_DENSE_LABELS a
    SparseMatrix of the pairs that occur. Everything that is labels, of arrays, tensors, frames or batches, is counted
    here.
    """
    if k == 2 and weights is None and frequency is None and (counts := binary_counts(true, pred)) is not None:
        return counts, None, None
    there = backend_of(true, pred)
    xp, (t, p) = there.xp, (there.native(true), there.native(pred))
    w = None if weights is None else there.real(there.native(weights))
    f = None if frequency is None else there.native(frequency)
    if k > MOST_DENSE_LABELS:
        return _sparse_counts(there, t, p, k, w, f)
    rows = xp.zeros((k * k,), dtype=xp.int64, device=there.device)
    sums, squares = (xp.zeros((k * k,), dtype=xp.float64, device=there.device) for _ in range(2))
    for part in there.chunks(len(true)):
        codes, times = there.pair_codes(t[part], p[part], k), None if f is None else f[part]
        rows += there.code_sums(codes, k * k, times)
        if w is not None:
            weighed, squared = _weighed(there, w[part], times)
            sums += there.code_sums(codes, k * k, weighed)
            squares += there.code_sums(codes, k * k, squared)
    whole = [rows] if w is None else [rows, sums, squares]
    return (*(there.to_host(cells).reshape(k, k) for cells in whole), *[None] * (3 - len(whole)))  # type: ignore[return-value]  # three


def _weighed(there: Backend, weights: Native, times: Native | None) -> tuple[Native, Native]:
    """The weights and the squared weights of rows, as often as each counts."""
    with np.errstate(over="ignore", under="ignore"):  # which `squares` of a table refuses, and no value needs
        if times is None:
            return weights, weights * weights
        scale = there.real(times)
        return weights * scale, weights * weights * scale


def _sparse_counts(
    there: Backend, true: Native, pred: Native, k: int, weights: Native | None, frequency: Native | None
) -> tuple[Any, Any, Any]:
    """The same as the cells that occur, counted by sorting the codes of some million rows at a time."""
    whole: list[Any] = [SparseMatrix(np.zeros(0, np.int64), np.zeros(0, np.int64), k), None, None]
    for part in there.chunks(true.shape[0], _SORTED):
        codes = there.pair_codes(true[part], pred[part], k)
        if frequency is None and weights is None:
            (cells, counted), places = there.unique_counts(codes), None
        else:
            cells, counted, places = there.unique_places(codes)
        times = None if frequency is None else frequency[part]
        amounts = [times, *((None, None) if weights is None else _weighed(there, weights[part], times))]
        at = there.to_host(cells)
        for kind, values in enumerate(amounts):
            if values is None and kind:
                continue
            sums = counted if values is None else there.code_sums(places, len(at), values)
            new = SparseMatrix(at, there.to_host(sums), k)
            whole[kind] = new if whole[kind] is None else whole[kind] + new
    return whole[0], whole[1], whole[2]


# ---------------------------------------------------------------- label codes

# Whole numbers on a device are coded there.


Key = TypeVar("Key", bound=Hashable)
_SHORT = 2_000  # rows below which a Python dict beats the fixed cost of array code
# Multipliers that scatter 64-bit words well; a second and third are there for the rare clash.
SCATTER = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F)
SLOT_BITS = 14


def encode_pair(true: Array, pred: Array, declared: Labels | None = None) -> tuple[Array, Array, Labels]:
    """The codes of both columns and the labels they share: the declared ones, or all that occur, in order."""
    true_codes, true_labels = distinct(true, "y_true")
    pred_codes, pred_labels = distinct(pred, "y_pred")
    check_alike(true_labels, pred_labels)
    labels = sort_labels([*true_labels, *pred_labels]) if declared is None else declared
    return recode(true_codes, true_labels, labels, "y_true"), recode(pred_codes, pred_labels, labels, "y_pred"), labels


def encode(values: Array, declared: Labels | None = None, name: str = "y_true") -> tuple[Array, Labels]:
    """The codes of one column, and its labels."""
    codes, labels = distinct(values, name)
    return (codes, labels) if declared is None else (recode(codes, labels, declared, name), declared)


def check_alike(true: Labels, pred: Labels, true_name: str = "y_true", pred_name: str = "y_pred") -> None:
    """Refuse text in one column and numbers in the other: no row could ever be right."""
    if true and pred and label_kind(true[0]) != label_kind(pred[0]):
        raise InputTypeError(
            f"{true_name} holds {label_kind(true[0])} such as {true[0]!r} and {pred_name} {label_kind(pred[0])} "
            f"such as {pred[0]!r}; give both the same labels."
        )


def recode(codes: Array, present: Labels, labels: Labels, name: str) -> Array:
    """Codes moved from the labels present to a list that must hold them all."""
    place = {label: i for i, label in enumerate(labels)}
    for label in present:
        if label not in place or label_kind(label) != label_kind(labels[place[label]]):
            near = did_you_mean(str(label), map(str, labels))
            raise InputError(f"{name} holds {label!r}, which is none of the declared labels.{near}")
    there = backend_of(codes)
    table = np.array([place[label] for label in present], dtype=there.code_type(len(labels)))
    if (table == np.arange(len(table))).all():
        return codes
    moved: Array = there.column(there.take(there.native(table), there.native(codes)))
    return moved


def counts(codes: Array, labels: int, rows: Array | None = None) -> Array:
    """How many rows each code has, each row as often as it stands for."""
    there = backend_of(codes)
    amounts = None if rows is None else there.real(there.native(rows))
    return there.to_host(there.code_sums(there.native(codes), labels, amounts))


def python_labels(values: Array) -> list[Label]:
    """Labels as plain Python values: whole floats become integers."""
    return [int(v) if isinstance(v, (float, np.floating)) and v.is_integer() else v for v in values.tolist()]


def distinct(values: Array, name: str) -> tuple[Array, Labels]:
    """The codes of a column into its own distinct labels, in order."""
    kind = values.dtype.kind
    if kind not in "biufUSOT":
        raise InputTypeError(f"{name} holds {values.dtype} values; labels are text, whole numbers or booleans.")
    if (len(values) <= _SHORT and not backend_of(values).is_device) or kind in "OT":
        return _hashed(values, name)
    if kind == "f":
        return _whole_floats(values, name)
    if kind in "US":
        return _fixed_width(np.ascontiguousarray(values), name)
    codes, labels = _integers(values)
    return codes, tuple(map(bool, labels)) if kind == "b" else labels


class CodeBook(dict[Key, int]):
    """A dict that gives each new key the next code."""

    def __missing__(self, key: Key) -> int:
        self[key] = code = len(self)
        return code


def _hashed(values: Array, name: str) -> tuple[Array, Labels]:
    """Through a Python dict: exact for anything that hashes, and the quickest on short columns."""
    book: CodeBook[Label] = CodeBook()
    try:
        codes = np.fromiter(map(book.__getitem__, values.tolist()), np.intp, len(values))
    except TypeError:
        raise InputTypeError(f"{name} holds values that cannot be labels, such as {values[0]!r}.") from None
    present = [_of_decimal(label) for label in book]
    _check_labels(present, name)
    labels: list[Any] = [int(label) if isinstance(label, (float, np.floating)) else label for label in present]
    order = sorted(range(len(labels)), key=labels.__getitem__)
    rank = np.empty(len(labels), dtype=np.min_scalar_type(max(len(labels), 1)))
    rank[order] = range(len(labels))
    return rank[codes], tuple(_python(labels[i]) for i in order)


def _of_decimal(label: Label) -> Label:
    """A decimal as the number that it is; anything else as it stands."""
    if not isinstance(label, Decimal):
        return label
    return int(label) if label.is_finite() and label == int(label) else float(label)


def _python(label: Label) -> Label:
    value: Label = label.item() if isinstance(label, np.generic) else label
    return value


def _check_labels(labels: Sequence[Label], name: str) -> None:
    for label in labels:
        if label is None or type(label).__name__ in ("NAType", "NaTType") or _is_nan(label):
            raise InputError(f"{name} holds missing labels ({label}); drop those rows, or give them a label.")
        if isinstance(label, (float, np.floating)) and not float(label).is_integer():
            raise InputError(fraction_sentence(name, float(label)))
        if not isinstance(label, (str, bytes, int, float, np.generic)):
            raise InputTypeError(f"{name} holds {label!r} ({type(label).__name__}); labels are text or whole numbers.")
    if (problem := kinds_sentence(name, labels)) is not None:
        raise InputTypeError(problem)


def _is_nan(label: Label) -> bool:
    return isinstance(label, (float, np.floating)) and bool(np.isnan(label))


def fraction_sentence(name: str, value: float) -> str:
    """The refusal of fractions where labels belong."""
    if name == "cluster":
        return f"cluster holds {value:g}: a cluster is named by text or a whole number, such as the patient's."
    if name == "The target" or name.endswith(" to predict"):
        return (
            f"{name} holds {value:g}: the target is continuous; turn it into classes first, such as above a threshold."
        )
    way = "Name it with score=" if name.startswith("The column") else "Give them as y_score="
    return f"{name} holds {value:g}: a label is text or a whole number. Are these scores? {way}."


def _whole_floats(values: Array, name: str) -> tuple[Array, Labels]:
    finite = np.isfinite(values)
    if not finite.all():
        raise InputError(f"{name} holds missing labels ({values[~finite][0]}); drop those rows, or give them a label.")
    broken = values != np.trunc(values)
    if broken.any():
        raise InputError(fraction_sentence(name, float(values[broken][0])))
    return _hashed(values, name) if np.abs(values).max() >= 2**62 else _integers(values.astype(np.int64))


def _integers(values: Array) -> tuple[Array, Labels]:
    """Through a table over their range; by sorting where the range is wide."""
    there = backend_of(values)
    native = there.native(values)
    native = there.as_bytes(native) if values.dtype.kind == "b" else native
    if not len(values):
        return values, ()
    low, high = (int(end) for end in there.ends(native))
    if high - low >= max(len(values), there.widest) or high > np.iinfo(np.intp).max:
        present, _ = there.unique_counts(native)
        return there.column(there.search(present, native)), tuple(there.to_host(present).tolist())
    # Of two labels both occur, which need not be counted: on a device that takes as long as a sort.
    seen = np.ones(high - low + 1, dtype=bool) if high - low < 2 else there.occurring(native, low, high)
    labels = np.flatnonzero(seen) + low
    return there.column(there.codes_among(native, low, seen)), tuple(labels.tolist())


def _fixed_width(values: Array, name: str) -> tuple[Array, Labels]:
    """NumPy text: each row hashed to a slot of a table of the labels, then compared with the label found there."""
    if not values.itemsize:
        return _hashed(values, name)
    # Latin-1 text fits one byte a character: a quarter of the words to hash and compare.
    narrow = values.dtype.kind == "U" and bool(np.bitwise_or.reduce(values.view(np.uint32)) < 256)
    for sample in (values[: 4 * _SHORT], values):  # the first rows show every label, as a rule
        labels = np.unique(sample)
        codes = _matched(values, labels, narrow)
        if codes is not None:
            return codes, tuple(labels.tolist())
    return _hashed(values, name)


def _matched(values: Array, labels: Array, narrow: bool) -> Array | None:
    """The code of each row's label; None where a row has none of them, or the labels' slots clash."""
    label_words, places = _words(labels, narrow), np.arange(len(labels))
    if len(labels) > 1 << (SLOT_BITS - 2):
        return None
    table = np.zeros(1 << SLOT_BITS, dtype=np.min_scalar_type(len(labels)))
    for factor in SCATTER:
        slots = _slots(label_words, factor)
        table[slots] = places
        if (table[slots] == places).all():
            break
    else:
        return None
    codes: Array = np.empty(len(values), dtype=table.dtype)
    for part in chunks(len(values)):
        rows = _words(values[part], narrow)
        code: Array = table.take(_slots(rows, factor), out=codes[part], mode="clip")
        if not all((label_words[:, j].take(code) == rows[:, j]).all() for j in range(rows.shape[1])):
            return None
    return codes


def _words(values: Array, narrow: bool) -> Array:
    """Fixed-width text as rows of 64-bit words."""
    if narrow:
        values = values.view(np.uint32).astype(np.uint8).view(f"S{values.itemsize // 4}")
    size = -(-values.itemsize // 8) * 8
    if values.itemsize != size:
        values = values.astype(f"{values.dtype.kind}{size // (1 if values.dtype.kind == 'S' else 4)}")
    return values.view(np.uint64).reshape(len(values), -1)


def _slots(rows: Array, factor: int) -> Array:
    """A slot of the table for each row of words."""
    with np.errstate(over="ignore"):
        mixed = rows[:, 0] * np.uint64(factor)
        for j in range(1, rows.shape[1]):
            mixed ^= mixed >> np.uint64(32)
            mixed += rows[:, j]
            mixed *= np.uint64(factor)
    return (mixed >> np.uint64(64 - SLOT_BITS)).astype(np.intp)


# ---------------------------------------------------------------- predicted labels


def predicted_codes(column: Array, classes: Labels, name: str) -> Array:
    """The predicted labels as codes into the classes; one that is no class is refused by the row where it is first."""
    codes, present = distinct(column, name)
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
    return recode(codes, present, classes, name)


def _read(label: Label, classes: Labels) -> Label:
    """The label as the classes are written: a text as the number that it is, a number as text."""
    if label_kind(label) == label_kind(classes[0]):
        return label
    return parse_value(label.strip()) if isinstance(label, str) else str(label)
