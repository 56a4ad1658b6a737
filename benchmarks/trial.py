"""A trial of a row: its answers and its memory first, each side in a child; its times only where both answers agree."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from benchmarks import memory
from benchmarks.child import LIMIT, Failed, apart
from benchmarks.row import Missing, Row, same

LONG = 3_600  # seconds for a row that is tried only on request, the writing of its file included
WARM = 1_000  # rows of the first call, which loads modules and starts threads: neither is the work's own


@dataclass(frozen=True)
class Trial:
    """Seconds and bytes of both sides, ours first; or why there are none."""

    row: Row
    seconds: tuple[float, float] | None = None
    memory: tuple[int | None, int | None] = (None, None)
    skipped: str = ""
    failed: str = ""

    @property
    def ratio(self) -> float | None:
        return self.seconds and self.seconds[1] / self.seconds[0]

    @property
    def slower(self) -> bool:
        return self.ratio is not None and self.ratio < 1

    @property
    def missed(self) -> bool:
        return self.ratio is not None and self.ratio < self.row.aim


def tried(row: Row) -> Trial:
    """Try a row; whatever happens is told in the trial."""
    try:
        return Trial(row, apart(together, row, limit=LONG if row.asked else LIMIT)) if row.outside else one_by_one(row)
    except Missing as error:
        return Trial(row, skipped=str(error))
    except Failed as error:
        return Trial(row, failed=str(error))


def one_by_one(row: Row) -> Trial:
    """Each side once in a child of its own, then both in a third for their times."""
    (ours, a), (theirs, b) = apart(once, row, 0), apart(once, row, 1)
    if not same(ours, theirs, row.within):
        return Trial(row, failed=f"differs from {row.peer}")
    return Trial(row, apart(timed, row), (a, b))


def together(row: Row) -> tuple[float, float]:
    """Both sides in this process: a browser or an engine of its own takes long to start, and its memory is not here."""
    ours, theirs = row.make(row.n)
    if not same(ours(), theirs(), row.within):
        raise Failed(f"differs from {row.peer}")
    return seconds(ours), seconds(theirs)


def once(row: Row, side: int) -> tuple[Any, int | None]:
    """The answer of one side, and the memory it took."""
    row.make(min(row.n, WARM))[side]()
    return memory.peak(row.make(row.n)[side])


def timed(row: Row) -> tuple[float, float]:
    """The seconds of both sides."""
    for work in row.make(min(row.n, WARM)):
        work()
    ours, theirs = row.make(row.n)
    return seconds(ours), seconds(theirs)


def seconds(work: Any, *, at_least: float = 0.2, repeats: int = 7, at_most: float = 4) -> float:
    """The best of several runs, each long enough to measure, and all together not much longer than `at_most`."""
    best = clocked(work)
    loops = max(1, int(at_least / repeats / max(best, 1e-7)))
    for _ in range(min(repeats, int(at_most / best / loops) - 1)):
        best = min(best, clocked(work, loops))
    return best


def clocked(work: Any, loops: int = 1) -> float:
    """Seconds of a run, the mean of some loops."""
    start = time.perf_counter()
    for _ in range(loops):
        work()
    return (time.perf_counter() - start) / loops
