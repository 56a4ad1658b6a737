"""The positive class: the label that is clear from the labels, that a convention takes, or the rarer one on request."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten
from steelyard.statistics.label_kinds import NUMBER, label_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from steelyard._types import Array, Label

    TrueRows: TypeAlias = Callable[[], Array]

UNAMBIGUOUS = ({0, 1}, {-1, 1})  # False and True are 0 and 1
_CONVENTIONS = (  # the negative one first, in any case
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("negative", "positive"),
    ("neg", "pos"),
    ("0", "1"),
    ("-1", "1"),
)


class ClassRule(Enum):
    """What may stand for a label in `pos_label=`: RARER asks for the rarer of two classes, and can be no label itself.

    >>> import steelyard
    >>> steelyard.evaluate(["fraud", "ok", "ok"], ["fraud", "ok", "fraud"], pos_label=steelyard.RARER).positive
    'fraud'
    """

    CONVENTION = "convention"
    RARER = "rarer"

    def __repr__(self) -> str:
        return f"steelyard.{self.name}"


CONVENTION = ClassRule.CONVENTION  # what results take that can state it, where no label is named
RARER = ClassRule.RARER


def clear_label(labels: Sequence[Label]) -> Label:
    """The label that is positive beyond doubt: 1 of {0, 1} or {-1, 1}, True; None where there is none."""
    return max(labels, key=_number) if {_number(label) for label in labels} in UNAMBIGUOUS else None


def conventional_label(labels: Sequence[Label]) -> Label:
    """The label that is clear, or positive by convention, as "yes" beside "no"; None where neither.

    >>> conventional_label(["No", "Yes"]), conventional_label(["fraud", "legit"])
    ('Yes', None)
    """
    words = {_word(label): label for label in labels}
    pair = next((pair for pair in _CONVENTIONS if {*pair} == {*words} and len(labels) == 2), None)
    return clear_label(labels) if pair is None else words[pair[1]]


def chosen_label(
    pos_label: Label, labels: Sequence[Label], true_rows: TrueRows, where: str = "", *, averages: bool = False
) -> Label:
    """The positive class: the label that is named, as it stands among the labels, or what a rule or no name makes it.

    `true_rows` counts the rows of each true label, where they are needed. A named label without rows is kept; one of
    another kind than the labels is refused.
    """
    if pos_label is RARER:
        return _rarer_label(labels, true_rows())
    if pos_label is None or pos_label is CONVENTION:
        label = clear_label(labels) if pos_label is None else conventional_label(labels)
        if label is None:
            raise InputError(unclear_sentence(labels, true_rows(), where, averages=averages))
        return label
    if pos_label not in labels and labels and label_kind(pos_label) != label_kind(labels[0]):
        raise InputTypeError(absent_sentence(f"The positive class {pos_label!r}", pos_label, labels))
    return next((label for label in labels if label == pos_label), pos_label)


def unclear_sentence(labels: Sequence[Label], rows: Array, where: str = "", *, averages: bool = False) -> str:
    """That the positive class is not clear, how to name it, and what either name would give."""
    if len(labels) == 1:
        part = ", or count this part with tally(labels=['A', 'B']), which declares all labels" if where else ""
        return f"The labels{where} hold one class only, {labels[0]!r}; give rows of both classes{part}."
    problem = f"Which class is the positive one is not clear from the labels {first_ten(labels)}{where}"
    averaged = ", or ask for average='macro' (or 'weighted', 'micro', None)" if averages else ""
    return f"{problem}; name it with pos_label={averaged}.{_choices(labels, rows)}"


def _choices(labels: Sequence[Label], rows: Array) -> str:
    """What each of two labels would make of the rows; nothing where the rows are not known."""
    if len(labels) != 2 or len(rows) != 2:
        return ""
    total = int(rows.sum())
    given = [
        f"pos_label={labels[i]!r} makes {_share(labels[i], rows[i], total)}"
        for i in sorted((0, 1), key=rows.__getitem__)
    ]
    return f" {given[0]} the positive class, {given[1]}."


def _share(label: Label, rows: float, total: int) -> str:
    return f"{label!r} ({int(rows):,} of {total:,} rows)"


def _rarer_label(labels: Sequence[Label], rows: Array) -> Label:
    if len(labels) != 2:
        raise InputError(f"pos_label=RARER is the rarer of two classes, and there are {len(labels)}; name the label.")
    if rows[0] == rows[1]:
        both = f"{labels[0]!r} and {labels[1]!r}"
        raise InputError(
            f"pos_label=RARER: {both} have {int(rows[0]):,} rows each, so neither is rarer; name the label."
        )
    return labels[int(rows.argmin())]


def choice_sentences(given: Label, label: Label, labels: Sequence[Label]) -> tuple[str, ...]:
    """What a result states of its positive class where no label named it and the labels alone do not say it."""
    if given is RARER:
        return (f"The positive class is {label!r}, the rarer of {first_ten(labels)}.",)
    if given not in (None, CONVENTION) or len(labels) != 2 or label is None or clear_label(labels) is not None:
        return ()
    other = next(name for name in labels if name != label)
    return (f"The positive class is {label!r} by convention; pos_label={other!r} would take the other one.",)


def absent_sentence(what: str, label: Label, labels: Sequence[Label]) -> str:
    """That a label does not occur, which ones do, and which of them may have been meant."""
    there = f"{what} does not occur; there are {first_ten(labels)}"
    if labels and label_kind(label) != label_kind(labels[0]):
        twin = next((name for name in labels if str(name) == str(label)), None)
        meant = "" if twin is None else f" Write {twin!r}."
        return f"{there}, which are {label_kind(labels[0])}, and {label!r} is {_one(label)}.{meant}"
    return f"{there}.{did_you_mean(str(label), map(str, labels))}"


def _one(label: Label) -> str:
    return "a number" if label_kind(label) == NUMBER else label_kind(label)


def _number(label: Any) -> float:
    """The label as a number; NaN, which equals nothing, where it is text or anything else."""
    try:
        return math.nan if isinstance(label, (str, bytes)) else float(label)
    except (TypeError, ValueError):
        return math.nan


def _word(label: Label) -> str:
    """The label as a word in small letters; nothing for a number."""
    if isinstance(label, bytes):
        label = label.decode("latin-1")
    return str.lower(label) if isinstance(label, str) else ""
