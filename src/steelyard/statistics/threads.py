"""Threads: how many may be used, and a function applied to the parts of a long column by several at the same time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future

LIMITS = ("OMP_NUM_THREADS", "POLARS_MAX_THREADS")
_MOST = 8  # a bound of prudence: only two cores were timed

_Part = TypeVar("_Part")
_Value = TypeVar("_Value")


def thread_count() -> int:
    """The cores that this process may run on, eight at most, or fewer where the environment limits threads.

    `OMP_NUM_THREADS` and `POLARS_MAX_THREADS` are read at every call: pools of processes set the first in their
    workers. Limits that threadpoolctl sets are those of other libraries' pools, and are not seen here.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    words = (os.environ.get(name, "").partition(",")[0].strip() for name in LIMITS)  # OpenMP: one for each nested level
    return max(min([cores, _MOST, *(int(word) for word in words if word.isdecimal())]), 1)


def in_threads(function: Callable[[_Part], _Value], parts: Iterable[_Part]) -> list[_Value]:
    """The function of each part, in their order; NumPy lets other threads run while it sorts or searches one."""
    listed = list(parts)
    threads = min(thread_count(), len(listed)) if len(listed) > 1 else 1
    if threads < 2:
        return [function(part) for part in listed]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, listed))


def in_background(function: Callable[[], _Value]) -> Future[_Value]:
    """The function begun in a thread of its own, with the floating-point settings of this one; at once without threads.

    For long works that let other threads run, such as drawing random numbers: others would only hinder each other.
    """
    from concurrent.futures import Future, ThreadPoolExecutor
    from contextvars import copy_context

    if thread_count() < 2:
        done: Future[_Value] = Future()
        try:
            done.set_result(function())
        except Exception as error:  # noqa: BLE001 - raised where the result is asked for, as it is with threads
            done.set_exception(error)
        return done
    pool = ThreadPoolExecutor(1)
    begun = pool.submit(copy_context().run, function)
    pool.shutdown(wait=False)
    return begun
