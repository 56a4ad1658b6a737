"""The page docs/benchmarks.md: when and where, how many rows and steps are slower, then the tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import surroundings, tables

if TYPE_CHECKING:
    from benchmarks.growth import Step
    from benchmarks.row import Row
    from benchmarks.trial import Trial

ON_A_GPU = "On a GPU"  # the heading that another machine writes
OUT = Path(__file__).parent.parent / "docs" / "benchmarks.md"
INTRODUCTION = """\
Written by `make bench`. A row is one work, ours and that of the peer beside it, on the same rows in the same run; a
ratio above 1 means that ours is faster. Before a row is timed both answers must be equal, to 1e-9 (1e-6 where a peer
counts in single precision); a row whose answers differ has no times. Arrays and frames are made before the clock
starts. The time is the best of several calls. Memory is the peak of the process while it works, beyond what it held
before, native allocations included; a cell is empty where the work is done by another process. Aims are ours: those
beside PyCM, torchmetrics, confidenceinterval and frames of Polars were set after a first rough run, the others before
any. Rows that miss them and rows that are slower stay."""
PART = """\
Some works stand beside a yardstick that does only a part of them, such as np.sort, a sum, a bare group-by or one draw
of a loop: there a ratio below 1 shows how much is added."""
GROWTH = """\
The same works from a thousand to a hundred million rows. A size is not tried where the size before lets expect that a
call takes more than a minute, or that less than 4 GiB of memory would be left."""


def text(found: dict[str, list[Trial]], grown: dict[Row, list[tuple[int, Step, Step]]], load: float | None) -> str:
    """The whole page."""
    parts = [
        "# Speed and memory beside the peers",
        INTRODUCTION,
        summary([t for trials in found.values() for t in trials], [step for steps in grown.values() for step in steps]),
        PART,
    ]
    parts += [surroundings.told(load), tables.markdown(("package", "version"), surroundings.versions())]
    parts += [part for title, trials in found.items() for part in (f"## {title}", tables.trials(trials))]
    parts += ["## Growth", GROWTH]
    for work, steps in grown.items():
        title = work.what.removeprefix("growth: ")
        parts += [f"### {title[0].upper()}{title[1:]}, beside {work.peer}", tables.steps(steps)]
    return "\n\n".join(parts) + "\n"


def with_theme(written: str, title: str, trials: list[Trial], load: float | None) -> str:
    """The page with one theme that was measured by itself, in its place or before the growth; the rest as it was."""
    own = "\n\n".join(
        [
            title,
            f"Measured by itself: {summary(trials, []).strip('*')} {surroundings.told(load)}",
            tables.trials(trials),
        ]
    )
    return with_section(written, own)


def with_section(written: str, own: str) -> str:
    """The page with one heading and what follows it, in its place or before the growth; the rest as it was."""
    head, *sections = written.rstrip("\n").split("\n\n## ")
    title = own.partition("\n")[0]
    places = [i for i, section in enumerate(sections) if section.startswith(f"{title}\n")]
    growth = next((i for i, section in enumerate(sections) if section.startswith("Growth\n")), len(sections))
    sections[slice(places[0], places[0] + 1) if places else slice(growth, growth)] = [own]
    return "\n\n## ".join([head, *sections]) + "\n"


def with_gpu(written: str, before: str) -> str:
    """The page with the heading of the GPU as it stood before."""
    kept = [section for section in before.rstrip("\n").split("\n\n## ") if section.startswith(f"{ON_A_GPU}\n")]
    return with_section(written, kept[0]) if kept else written


def summary(trials: list[Trial], steps: list[tuple[int, Step, Step]]) -> str:
    """How many rows and steps of growth there are, how many are slower, miss their aim, were skipped or failed."""
    timed = [trial for trial in trials if trial.seconds]
    slower = [trial for trial in timed if trial.slower]
    part = sum(trial.row.part for trial in slower)
    aimed = [trial for trial in timed if trial.row.aim]
    sentences = [
        f"{len(slower)} of {len(timed)} rows are slower than what stands beside them, {part} of them beside a part of the work; "
        f"{sum(trial.missed for trial in aimed)} of the {len(aimed)} with an aim miss it."
    ]
    if climbed := [(ours.seconds, theirs.seconds) for _, ours, theirs in steps if ours.seconds and theirs.seconds]:
        slow = sum(ours > theirs for ours, theirs in climbed)
        sentences.append(
            f"Of the {len(climbed)} steps of growth that both sides took, {slow} {'is' if slow == 1 else 'are'} slower."
        )
    if skipped := sorted({trial.skipped for trial in trials if trial.skipped}):
        sentences.append(f"Skipped: {'; '.join(skipped)}.")
    if failed := sum(bool(trial.failed) for trial in trials):
        sentences.append(f"{failed} failed.")
    return f"**{' '.join(sentences)}**"


def write(written: str, out: Path = OUT) -> None:
    """Put the page in its place at once, or leave the old one."""
    part = out.with_suffix(".part")
    part.write_text(written, encoding="utf-8")
    part.replace(out)
