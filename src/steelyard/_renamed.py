"""Renamed: an attribute, a function or a keyword under its former name, for one release."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    _Given = ParamSpec("_Given")
    _Result = TypeVar("_Result")


class Renamed:
    """A class attribute that reads another one and warns."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        warnings.warn(f"{self.name} is now called {self.new}.", DeprecationWarning, stacklevel=2)
        return getattr(instance, self.new)


def renamed_function(function: Callable[_Given, _Result], former: str) -> Callable[_Given, _Result]:
    """The function under its former name, with a warning."""

    @wraps(function)
    def call(*arguments: _Given.args, **options: _Given.kwargs) -> _Result:
        warnings.warn(f"{former} is now called {function.__name__}.", DeprecationWarning, stacklevel=2)
        return function(*arguments, **options)

    return call


def renamed_keywords(**new: str) -> Callable[[Callable[_Given, _Result]], Callable[_Given, _Result]]:
    """A function whose keywords were renamed: the former ones are taken as well, with a warning."""

    def decorate(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        @wraps(function)
        def call(*arguments: _Given.args, **options: _Given.kwargs) -> _Result:
            for former in new.keys() & options.keys():
                sentence = f"{function.__name__}({former}=) is now called {new[former]}=."
                warnings.warn(sentence, DeprecationWarning, stacklevel=2)
                options[new[former]] = options.pop(former)
            return function(*arguments, **options)

        return call

    return decorate
