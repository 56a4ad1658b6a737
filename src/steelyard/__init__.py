"""Steelyard evaluates classifiers on imbalanced data.

The public names; each loads what it needs on first use. Every metric of the catalogue is one of them, though `dir`
lists them in `steelyard.metrics`, and further names in the other submodules.
"""

from __future__ import annotations

from steelyard._names import HOME as _HOME
from steelyard._names import SUBMODULES as _SUBMODULES
from steelyard._names import __version__ as __version__

TYPE_CHECKING = False  # not imported from typing: a plain `import steelyard` should cost next to nothing
if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOME:
        return getattr(import_module(f"steelyard.{_HOME[name]}"), name)
    if name in _SUBMODULES:
        return import_module(f"steelyard.{name}")
    if not name.startswith("_"):
        registry = import_module("steelyard.metrics.registry")
        metric = registry.find(name) or registry.find_by_sklearn(name)
        if metric is not None:
            return metric
        if (sentence := import_module("steelyard._names").moved(name)) is not None:
            raise ImportError(sentence)  # which `from steelyard import name` shows too
    msg = f"module 'steelyard' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted([*_HOME, *_SUBMODULES])
