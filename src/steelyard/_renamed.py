"""Renamed: an attribute or a function under its former name, for one release."""

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
