"""Interruptions: SIGINT and SIGTERM end a command in order, with the query that it runs cancelled."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

_AGAIN = 0.05  # seconds between two attempts to end the command
_received: list[int] = []  # the signals so far; the first decides the exit code


def heed_signals() -> None:
    """From now on a signal raises SystemExit wherever the command is, so that temporary files are removed.

    Python runs its handler when a query has returned, and an exit that is raised while a library is imported or an
    object removed is lost. Hence a thread, woken by the signal itself, sends SIGINT, on which Polars cancels its query,
    until the exit is on its way.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    sys.unraisablehook = _unless_ending
    if os.name == "posix":
        woken, write = os.pipe()
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))
        threading.Thread(target=_insist, args=(woken,), daemon=True).start()


def interrupted_code() -> int | None:
    """The exit code of a command that a signal has ended; None where there was none."""
    return 128 + _received[0] if _received else None


def ignore_signals() -> None:
    """The command is over: no further signal may disturb what is left to do."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _stop(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    ending = sys.exc_info()[1]
    if (ending is None or isinstance(ending, Exception)) and not _is_importing(frame):
        sys.exit(interrupted_code())


def _unless_ending(unraisable: sys.UnraisableHookArgs) -> None:
    """What Python ignores is printed, save the exit by a signal: it is raised again."""
    if not (_received and isinstance(unraisable.exc_value, SystemExit)):
        sys.__unraisablehook__(unraisable)


def _is_importing(frame: FrameType | None) -> bool:
    """Whether a library is being imported, where compiled ones turn an exit into an error of their own."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _insist(woken: int) -> None:
    """Send SIGINT until the main thread has ended, once a signal is there."""
    first = os.read(woken, 1)
    _received.extend(first)
    while True:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(_AGAIN)
