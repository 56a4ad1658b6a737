"""Refused keywords: what other questions take and this one does not, refused in a sentence that says what to do."""

from __future__ import annotations

from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING

from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import ParamSpec, TypeVar

    _Given = ParamSpec("_Given")
    _Result = TypeVar("_Result")

_SENTENCES = {
    "by": "by= reports groups of rows separately, and {who} gives one result: evaluate takes by=, or give {who} the "
    "rows of one group.",
    "cluster": "cluster= is for intervals, and {who} takes the rows as independent; evaluate, compare, interval and "
    "intervals allow for it.",
    "zero_division": "zero_division= puts a number in place of an undefined metric, and {who} leaves it undefined and "
    "says why; for the number call the metric, as in steelyard.precision(y_true, y_pred, zero_division=0).",
}
_SPLIT = (
    "{name}= has no place in {who}; groups= keeps grouped rows, such as those of a patient, on one side of every split."
)


def refuse_keywords(who: str, options: Mapping[str, object], names: Iterable[str] = tuple(_SENTENCES)) -> None:
    """Refuse the keywords of other questions among the options, each by what to do instead."""
    for name in names:
        if options.get(name) is not None:
            raise InputTypeError(_SENTENCES[name].format(who=who))


@contextmanager
def naming_misspelled(function: Callable[..., object], options: Mapping[str, object]) -> Iterator[None]:
    """What is refused as no parameter of a metric is named as the keyword of the function that it nearly is."""
    try:
        yield
    except InputTypeError:
        for name in options:
            if near := get_close_matches(name, signature(function).parameters, n=1, cutoff=0.8):
                raise InputTypeError(f"{function.__name__} takes no {name}=. Did you mean {near[0]}=?") from None
        raise


def refuses_other_keywords(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """The function, which refuses the keywords of other questions, and arguments of a wrong kind, in a sentence."""
    taken = signature(function).parameters
    foreign = [name for name in _SENTENCES if name not in taken]
    named = names_wrong_arguments(function)

    @wraps(function)
    def call(*arguments: _Given.args, **options: _Given.kwargs) -> _Result:
        for name in foreign if "groups" in taken else ():
            if name != "zero_division" and options.get(name) is not None:
                raise InputTypeError(_SPLIT.format(name=name, who=function.__name__))
        refuse_keywords(function.__name__, options, foreign)
        return named(*arguments, **options)

    return call
