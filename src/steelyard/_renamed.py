"""Renamed: an attribute under its former name, for one release."""

from __future__ import annotations

import warnings
from typing import Any


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
