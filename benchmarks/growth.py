"""Growth: some works at 1e3 to 1e8 rows, ours and a peer's, as far as memory and patience reach."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks import memory
from benchmarks.child import Failed, apart
from benchmarks.row import Missing, Row, asked, same
from benchmarks.rows import dropins, files, uncertainty
from benchmarks.trial import WARM, clocked, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = tuple(10**k for k in range(3, 9))
FREE = 4 * 2**30  # bytes of the available memory that are left alone
PATIENCE = 60  # seconds of a single call
WORKS = (
    Row("growth: drop-in confusion_matrix of int64 labels", "scikit-learn", functools.partial(dropins.make, "confusion_matrix", "sklearn", dropins.labels, {}), 0),
    Row("growth: drop-in f1_score of int64 labels", "scikit-learn", functools.partial(dropins.make, "f1_score", "sklearn", dropins.labels, {}), 0),
    Row("growth: drop-in roc_auc_score, 10% positive", "scikit-learn", functools.partial(dropins.make, "roc_auc_score", "sklearn", dropins.scores, {}), 0),
    Row("growth: evaluate with all intervals", "scikit-learn, classification_report, which has none", uncertainty.whole, 0),
    Row("growth: file, steelyard report", files.BARE, files.reported, 0),
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One side at one size: seconds and bytes; or why there are none."""

    seconds: float | None = None
    memory: int | None = None
    whole: int | None = None  # bytes with the arrays and the making of them
    answer: Any = None
    why: str = ""
    failed: bool = False


def climbed(work: Row, sizes: tuple[int, ...] = SIZES) -> Iterator[tuple[int, Step, Step]]:
    """Both sides at each size; a side that ended stays ended."""
    sides = [Step(), Step()]
    for n in sizes:
        sides = [_next(work, side, n, last) for side, last in enumerate(sides)]
        ours, theirs = sides
        both = ours.seconds is not None and theirs.seconds is not None
        if both and not same(ours.answer, theirs.answer, work.within):
            sides = [Step(why="answers differ", failed=True)] * 2
        yield n, *sides


def _next(work: Row, side: int, n: int, last: Step) -> Step:
    why = last.why or refused(last)
    if why:
        return Step(why=why, failed=False)
    try:
        return apart(step, work, side, n)
    except (Missing, Failed) as error:
        return Step(why=str(error), failed=isinstance(error, Failed))


def refused(last: Step) -> str:
    """Why the next size, of ten times the rows, is not tried."""
    free = memory.available()
    if last.seconds is not None and 10 * last.seconds > PATIENCE:
        return f"not tried: about {10 * last.seconds:.0f} s"
    if last.whole is not None and free is not None and 10 * last.whole > free - FREE:
        return f"not tried: about {10 * last.whole / 1e9:.0f} GB"
    return ""


def step(work: Row, side: int, n: int) -> Step:
    """One side at one size, in this process."""
    work.make(WARM)[side]()
    before = memory.fresh()
    call = work.make(n)[side]
    making = memory.highest()
    kept: list[Any] = []
    (took, peak) = memory.peak(lambda: clocked(lambda: kept.append(call())))
    if took < 1:
        took = min(took, seconds(call))
    return Step(took, peak, _whole(before, making, memory.highest()), kept[0])


def _whole(before: int | None, making: int | None, working: int | None) -> int | None:
    return None if before is None or making is None or working is None else max(making, working) - before


def wanted(word: str) -> list[Row]:
    return [work for work in WORKS if asked(work, word)]
