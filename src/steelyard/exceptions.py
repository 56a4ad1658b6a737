"""The errors that Steelyard raises: each is a SteelyardError and the builtin it refines."""

from __future__ import annotations

import re
from difflib import get_close_matches
from os import PathLike
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class SteelyardError(Exception):
    """Anything that Steelyard refuses, in one sentence: what was given, what was expected, what to do.

    Where it is one argument that is refused, these are facts of the error, which make the sentence: `argument`,
    `expected`, `given` (as text) and `do`. A sentence names an argument as `level=`; the shell writes its option there.

    >>> print(InputError(argument="level", expected="a probability", given=2, do="give one"))
    level= is a probability, not 2; give one.

    >>> from steelyard import get_metric
    >>> try:
    ...     get_metric("acc_score")
    ... except SteelyardError as error:
    ...     print(error)
    No metric is called 'acc_score'. Did you mean ...?
    """

    def __init__(
        self, *sentence: object, argument: str = "", expected: str = "", given: object = ..., do: str = ""
    ) -> None:
        self.argument, self.expected, self.do = argument, expected, do
        self.given = "" if given is ... else short_repr(given)
        instead, way = self.given and f", not {self.given}", do and f"; {do}"
        super().__init__(*(sentence or (f"{argument}= is {expected}{instead}{way}.",)))

    def __str__(self) -> str:
        # KeyError would print the message as a quoted repr, and the repr of an array has lines.
        return re.sub(r"(?<!\s)\s*[\r\n]\s*", " ", str(self.args[0])) if self.args else ""


class InputError(SteelyardError, ValueError):
    """A value that cannot be used."""


class TooFewRowsError(InputError):
    """Rows that lack a class, or a second cluster, so that nothing can be judged on them."""


class InputTypeError(SteelyardError, TypeError):
    """An object of a kind that cannot be used."""


class ArgumentKindError(InputTypeError):
    """An argument that is none of the kinds that its annotation allows."""


class UnknownNameError(SteelyardError, KeyError):
    """A name that nothing answers to."""


class CountOverflowError(SteelyardError, OverflowError):
    """Whole counts beyond what 64 bits hold."""


class UndefinedError(SteelyardError, ArithmeticError):
    """A metric that is undefined on this table, where the caller asked for an error."""


class MissingLibraryError(SteelyardError, ImportError):
    """Something that needs a library which is not installed."""


def needs_sklearn(what: str) -> MissingLibraryError:
    """The error that says how to install scikit-learn."""
    return MissingLibraryError(f"{what} needs scikit-learn{_or_later('scikit-learn')}; run pip install scikit-learn.")


def _or_later(library: str) -> str:
    """The lowest version of a library that the package's own metadata ask for; nothing where it is not installed."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        wanted = requires("steelyard") or []
    except PackageNotFoundError:
        return ""
    floor = next((line for line in wanted if line.startswith(f"{library}>=")), None)
    return f" {floor.partition('>=')[2].partition(';')[0]} or later" if floor else ""


def first_ten(names: Sequence[Any]) -> str:
    """The names as a message holds them: ten at most, and how many more there are.

    >>> first_ten(["a", "b"]), first_ten(range(12))
    ("'a', 'b'", '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more')
    """
    shown = ", ".join(map(repr, names[:10]))
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown


def file_hint(given: object) -> str:
    """What to do with the name of a file that stands where its rows are expected; nothing where it is none."""
    return "; read the file first, such as by polars.read_csv, and give its columns" if _is_path(given) else ""


def _is_path(given: object) -> bool:
    return isinstance(given, PathLike) or (isinstance(given, str) and PurePath(given).suffix[1:2].isalpha())


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence that names the nearest known names, or nothing."""
    if not isinstance(name, str):
        return ""
    by_lower = {each.lower(): each for each in known}
    near = [repr(by_lower[each]) for each in get_close_matches(name.lower(), by_lower, n=3, cutoff=0.65)]
    return f" Did you mean {' or '.join(near)}?" if near else ""


def short_repr(value: object) -> str:
    """A value as a message quotes it: on one line, and no longer than a line."""
    text = re.sub(r"\s+", " ", repr(value))
    return text if len(text) <= 80 else f"{text[:60]}... ({type(value).__name__})"


def surrogate_sentence(error: UnicodeEncodeError) -> str:
    """What to say of text that no file can hold."""
    return f"{short_repr(error.object)} is no text that UTF-8 can hold; leave {error.object[error.start]!r} out of it."
