"""A child: work done in a process of its own, so that one that fails or is killed takes nothing with it.

The process is forked, which is safe as long as this one has only imported the peers: their threads start with the first
work, and all work is done in children. Where there is no fork that is safe, the work is done here.
"""

from __future__ import annotations

import multiprocessing
import sys
from typing import Any

from benchmarks.row import Missing

LIMIT = 300  # seconds


class Failed(Exception):
    """What went wrong in the child, in a line."""


def apart(work: Any, *args: Any, limit: float = LIMIT) -> Any:
    """What the work gives; raises Missing as it does, and Failed for whatever else happens to it."""
    if sys.platform != "linux":
        return _told(_done(work, args))
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_tell, args=(there, work, args))
    process.start()
    there.close()
    try:
        if not here.poll(limit):
            raise Failed(f"no answer in {limit:g} s")
        return _told(here.recv())
    except EOFError:
        process.join()
        raise Failed(f"its process ended with {process.exitcode}") from None
    finally:
        process.join(10)
        process.kill()
        process.join()


def _tell(there: Any, work: Any, args: Any) -> None:
    there.send(_done(work, args))


def _done(work: Any, args: Any) -> tuple[str, Any]:
    try:
        return "done", work(*args)
    except Missing as error:
        return "missing", str(error)
    except Failed as error:
        return "failed", str(error)
    except Exception as error:  # noqa: BLE001  (whatever a peer raises is told beside its row)
        return "failed", f"{type(error).__name__}: {error}".split("\n")[0][:200]


def _told(answer: tuple[str, Any]) -> Any:
    how, what = answer
    if how == "done":
        return what
    raise {"missing": Missing, "failed": Failed}[how](what)
