"""Forked processes: Polars hangs in one that was forked while its threads ran, so that it is refused there.

A process that is forked has none of its parent's threads, and Polars waits for them. What a child can use of Polars is
therefore decided when it is forked, by the threads that run then.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from steelyard.exceptions import InputError

_THREADS = Path("/proc/self/task")
_POLARS = re.compile(r"polars-\d+\s*")


class ForkWatch:
    """Whether this process was forked while the threads of Polars ran."""

    def __init__(self) -> None:
        self.threads_lost = False
        self._before = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._look, after_in_parent=self._restore)

    def _look(self) -> None:
        self._before = self.threads_lost
        self.threads_lost = self.threads_lost or _polars_runs()

    def _restore(self) -> None:
        self.threads_lost = self._before


def _polars_runs() -> bool:
    try:
        return any(_POLARS.fullmatch(path.read_text()) for path in _THREADS.glob("*/comm"))
    except OSError:  # a thread that ended meanwhile, or no such folder
        return False


WATCH = ForkWatch()


def refuse_polars_after_fork() -> None:
    """Refuse Polars where it would hang."""
    if WATCH.threads_lost:
        raise InputError(
            "This process was forked while Polars was running, and Polars would hang in it; start workers with "
            "multiprocessing.get_context('spawn') or 'forkserver', or count in the parent."
        )
