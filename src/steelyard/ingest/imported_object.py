"""Imported object: what a name such as package.module:Thing stands for, found in the current folder as well."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from steelyard.exceptions import InputError


def imported_object(name: str, kind: str) -> Any:  # whatever stands there
    """The object of a name as for an import; `kind` is what a sentence calls it, such as FUNCTION.

    >>> imported_object("math:floor", "FUNCTION")(2.5)
    2
    """
    module, _, attribute = name.partition(":")
    sys.path.append("")  # last, so that no file in the folder stands in for a library
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # noqa: BLE001 - a user's module may raise anything
        if not module or module.startswith("."):
            raise InputError(f"{name!r} names no module that can be imported; write MODULE:{kind}.") from None
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        raise InputError(f"{name!r} was not found ({reason}); write MODULE:{kind} as for an import.") from None
    finally:
        sys.path.remove("")
