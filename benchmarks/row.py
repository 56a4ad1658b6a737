"""A row of the benchmark: one work, what it stands beside, and how to make both; the modules of `rows` declare them."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import rows

if TYPE_CHECKING:
    from collections.abc import Callable

Pair = tuple["Callable[[], Any]", "Callable[[], Any]"]


class Missing(Exception):
    """A peer that is not installed here."""


@dataclass(frozen=True)
class Row:
    """`make(n)` gives both works on n rows as functions without arguments, its arrays made; `aim` is theirs / ours."""

    what: str
    peer: str
    make: Callable[[int], Pair]
    n: int
    aim: float = 0  # 0: shown without an aim
    within: float = 1e-9  # how near both answers must be; peers that count in single precision get 1e-6
    part: bool = False  # what stands beside it does only a part of the work
    outside: bool = False  # done by another process, whose memory is not seen here
    asked: bool = False  # only where ROWS names it

    @property
    def name(self) -> str:
        return f"{self.what} / {self.peer}"


def themes(wanted: str = "") -> dict[str, list[Row]]:
    """The rows wanted, by the title of their module."""
    found = (import_module(f"benchmarks.rows.{module.name}") for module in pkgutil.iter_modules(rows.__path__))
    chosen = {module.TITLE: [row for row in module.rows() if asked(row, wanted)] for module in found}
    return {title: kept for title, kept in chosen.items() if kept}


def asked(row: Row, wanted: str) -> bool:
    return wanted in row.name and (bool(wanted) or not row.asked)


def needed(name: str) -> Any:
    """The module of a peer; Missing where it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise Missing(f"{error.name} is not installed") from error


def same(ours: Any, theirs: Any, within: float = 1e-9) -> bool:
    """Whether both answers are equal within a relative tolerance, and of one shape."""
    a, b = (np.asarray(answer, dtype=float) for answer in (ours, theirs))
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=within, atol=1e-12, equal_nan=True))
