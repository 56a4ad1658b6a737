"""Tables of trials and growth: in Markdown for the page, in a line for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.growth import Step
    from benchmarks.trial import Trial

HEAD = ("work", "beside", "ours", "theirs", "ratio", "aim", "memory, ours", "memory, theirs")
STEPS = ("rows", "ours", "theirs", "ratio", "memory, ours", "memory, theirs")


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))


def trials(found: Iterable[Trial]) -> str:
    """One theme's rows."""
    return markdown(HEAD, map(cells, found))


def cells(trial: Trial) -> list[str]:
    """The cells of a row: what was found, or why there is nothing."""
    name = [trial.row.what, trial.row.peer]
    if trial.seconds is None:
        return [*name, f"skipped: {trial.skipped}" if trial.skipped else f"failed: {trial.failed}", *[""] * 5]
    aim = f"{times(trial.row.aim)}{', missed' if trial.missed else ''}" if trial.row.aim else ""
    return [*name, *map(duration, trial.seconds), faster(trial.ratio), aim, *map(size, trial.memory)]


def line(trial: Trial) -> str:
    """A row on the terminal."""
    what, peer, *rest = cells(trial)
    return "  ".join([f"{f'{what} / {peer}':90}", *(f"{cell.replace('**', ''):>11}" for cell in rest if cell)])


def steps(found: Iterable[tuple[int, Step, Step]]) -> str:
    """One work's growth."""
    return markdown(STEPS, (rung(*step) for step in found))


def rung(n: int, ours: Step, theirs: Step) -> list[str]:
    """The cells of one size."""
    times_ = [duration(side.seconds) if side.seconds is not None else side.why for side in (ours, theirs)]
    both = ours.seconds is not None and theirs.seconds is not None
    return [
        f"{n:,}",
        *times_,
        faster(theirs.seconds / ours.seconds) if both else "",
        size(ours.memory),
        size(theirs.memory),
    ]


def faster(ratio: float) -> str:
    """A ratio, marked where it is below 1."""
    return f"**{times(ratio)}, slower**" if ratio < 1 else times(ratio)


def times(ratio: float) -> str:
    """A ratio in two digits, or in whole numbers where it is large."""
    return f"{ratio:,.0f} x" if ratio >= 99.5 else f"{ratio:.2g} x"


def duration(seconds: float) -> str:
    """Three digits in the unit that suits."""
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 0.9995:  # what rounds to 1
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def size(count: int | None) -> str:
    """Megabytes; what is less than one is lost in the pages that a process touches anyhow."""
    return "" if count is None else "< 1 MB" if count < 1e6 else f"{count / 1e6:,.0f} MB"
