"""Progress: what takes longer than a moment, shown on stderr; nothing where no one is looking."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Progress as StepReport

_IS_SHOWN: ContextVar[bool] = ContextVar("bar", default=False)


@contextmanager
def bar(words: str) -> Iterator[Callable[[int, int], object] | None]:
    """A bar on stderr with the time left; nothing where no one is looking, or inside another one."""
    if _IS_SHOWN.get() or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    shown = [TextColumn(words), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()]
    token = _IS_SHOWN.set(True)
    try:
        with Progress(*shown, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=None)
            yield lambda done, total: progress.update(
                task, completed=min(done, total), total=total if total > 1 else None
            )
    finally:
        _IS_SHOWN.reset(token)


@contextmanager
def step_line(name: str) -> Iterator[StepReport | None]:
    """The step that a study is at, on stderr; nothing where no one is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    shown = [SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()]
    with Progress(*shown, console=Console(stderr=True, markup=False), transient=True) as progress:
        task = progress.add_task(name, total=None)
        yield lambda step: progress.update(task, description=f"{name}: {step}")
