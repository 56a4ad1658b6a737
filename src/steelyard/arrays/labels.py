"""Labels: their kinds, their order, what a text means as one, and which of two is the positive class."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import TypeAlias

    from steelyard._types import Array, Label, Labels

    Parser = Callable[[str], Label]
    TrueRows: TypeAlias = Callable[[], Array]


TEXT, RAW, NUMBER = "text", "bytes", "numbers"
# Without leading zeros, which belong to names such as 007; not longer than any number is.
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d{0,99})(?:\.\d{0,99})?|\.\d{1,99})(?:[eE][+-]?\d{1,3})?")
_DIGITS = re.compile(r"[+-]?\d+")
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
_SPELLINGS: tuple[Callable[[Label], str], ...] = (
    str,
    lambda value: str(value).lower(),
    lambda value: str(value).upper(),
    lambda value: f"{value}.0",
)


def label_kind(label: Label) -> str:
    """Whether a label is text, bytes or a number."""
    return TEXT if isinstance(label, str) else RAW if isinstance(label, bytes) else NUMBER


def kinds_sentence(name: str, labels: Iterable[Label]) -> str | None:
    """That labels are of several kinds, with an example of each; None where they are of one."""
    kinds = {label_kind(label): label for label in labels}
    mix = " and ".join(f"{kind} such as {label!r}" for kind, label in kinds.items())
    return f"{name} mixes {mix}; give all labels as one kind." if len(kinds) > 1 else None


# ---------------------------------------------------------------- what a text means


def parser(texts: Collection[str]) -> Parser | None:
    """How to read texts that are all numbers, or all truth values, 0 and 1 among them; None for any others."""
    if texts and all(_NUMBER.fullmatch(text) for text in texts):
        return parse_number
    if texts and all(text.lower() in _TRUTH for text in texts):
        return lambda text: _TRUTH[text.lower()]
    return None


def parse_number(text: str) -> float:
    """The number that a text is, an integer where it is whole."""
    if _DIGITS.fullmatch(text):
        return int(text)
    value = float(text)
    if not value.is_integer():
        return value
    exact = Decimal(text)  # beyond 2**53 a float would be another number
    return int(exact) if exact == exact.to_integral_value() else value


def parse_value(text: str) -> Label:
    """The number or truth value that a text is; None where it is neither."""
    parse = parser([text])
    return None if parse is None else parse(text)


# ---------------------------------------------------------------- numbers that meet text


def number_texts(values: Iterable[Label]) -> dict[Label, str]:
    """Where numbers meet texts that read like some of them, the text that each number is; nothing where none does.

    Numbers among text are text, as in a text file: one takes the text that reads like it, or is spelled as the others.

    >>> number_texts([0, 1, "0", "unknown"]), number_texts([0, 1, "0.0"]), number_texts([0, 1, "unknown"])
    ({0: '0', 1: '1'}, {0: '0.0', 1: '1.0'}, {})
    """
    present = list(dict.fromkeys(values))
    numbers = [value for value in present if isinstance(value, (int, float))]
    twins = _texts_by_value(value for value in present if isinstance(value, str)) if numbers else {}
    matched = [(number, twins[_key(number)]) for number in numbers if _key(number) in twins]
    if not matched:
        return {}
    spell = next((f for f in _SPELLINGS if all(f(number) == text for number, text in matched)), str)
    return {number: twins.get(_key(number), spell(number)) for number in numbers}


def label_texts(*tables: Collection[Label]) -> dict[Label, str]:
    """The same for the labels of tables that are added up; refused where no number reads like any of the texts."""
    labels = [label for table in tables for label in table]
    texts = number_texts(labels)
    problem = kinds_sentence("What is added up", [texts.get(label, label) for label in labels])
    if problem is not None:
        raise InputTypeError(f"{problem} labels= declares those of every part.")
    return texts


def _texts_by_value(texts: Iterable[str]) -> dict[tuple[bool, Label], str]:
    """The texts that read as numbers or truth values, by what they read as; two for one value are refused."""
    by_value: dict[tuple[bool, Label], str] = {}
    for text in texts:
        value = parse_value(text.strip())
        if value is not None and (twin := by_value.setdefault(_key(value), text)) != text:
            raise InputError(
                f"The number {value!r} meets the texts {twin!r} and {text!r}, which both read like it; write all of "
                "them alike."
            )
    return by_value


def _key(value: Label) -> tuple[bool, Label]:
    """A key that differs for True and 1, which are equal."""
    return isinstance(value, bool), value


def sort_labels(labels: Iterable[Any]) -> Labels:
    """The distinct labels in their natural order; those of different kinds by kind."""
    distinct = list(dict.fromkeys(labels))
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return tuple(sorted(distinct, key=lambda label: (type(label).__name__, str(label))))


# ---------------------------------------------------------------- natural order


_DIGIT_RUNS = re.compile(r"(\d+)")


def naturally_sorted(names: Iterable[Any]) -> list[Any]:
    """The names in order: text with the numbers in it read as numbers, all else as it compares.

    >>> naturally_sorted(["day10", "day2", "day1"])
    ['day1', 'day2', 'day10']
    """
    every = list(names)
    if all(isinstance(name, str) for name in every):
        return sorted(every, key=_natural_key)
    try:
        return sorted(every)
    except TypeError:  # of several kinds: in the order that their texts have
        return sorted(every, key=lambda name: _natural_key(str(name)))


def _natural_key(name: str) -> tuple[list[tuple[str, int]], str]:
    """The parts of a name, text and numbers in turn, and at last the name itself."""
    parts = _DIGIT_RUNS.split(name)
    return [(text, int(number)) for text, number in zip(parts[::2], [*parts[1::2], "-1"], strict=True)], name


# ---------------------------------------------------------------- positive class


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
    numbers = [*map(_number, labels)]
    return labels[numbers.index(1)] if {*numbers} in UNAMBIGUOUS else None


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
