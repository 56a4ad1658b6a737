"""Speed and memory beside the peers: each row checks that both give the same answer, then times both in one run.

`make bench` tries every row and the growth of some, and writes docs/benchmarks.md and the short table of README.md;
`make bench ROWS=auc` only prints the rows whose work or peer holds that word; `make bench THEME="Several labels"` tries
the rows of that heading and puts them alone on the page, with their own date. Exit 1: a row failed or its answers
differ; a ratio is only shown.

torchmetrics needs torch, which is left to you because a plain `pip install torch` may bring gigabytes for GPUs: put a
CPU build into .venv first, then torchmetrics. A peer that is not installed is named, and its rows are skipped.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time

from benchmarks import growth, page, readme, surroundings, tables
from benchmarks.row import themes
from benchmarks.trial import tried


def theme(title: str) -> int:
    """Try the rows of one heading, and put them on the page in place of those it has."""
    load, rows = surroundings.load(), themes().get(title)
    if rows is None:
        print(f"No rows stand under {title!r}; there are {', '.join(themes())}.", file=sys.stderr)
        return 2
    surroundings.loaded()
    trials = [_shown(tried(row)) for row in rows]
    page.write(page.with_theme(page.OUT.read_text(encoding="utf-8"), title, trials, load))
    return int(any(trial.failed for trial in trials))


def main(wanted: str = "") -> int:
    """Try what is wanted; write the page where that is everything."""
    start, load = time.time(), surroundings.load()
    if load is not None and load > surroundings.QUIET:
        print(f"The load is {load:.2f}: the machine is not quiet, and times will be too long.", file=sys.stderr)
    surroundings.loaded()
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        tempfile.tempdir = folder  # for the files that rows share
        trials_by_title = {title: [_shown(tried(row)) for row in rows] for title, rows in themes(wanted).items()}
        grown = {work: _climbed(work) for work in growth.wanted(wanted)}
    trials = [trial for rows in trials_by_title.values() for trial in rows]
    if not trials and not grown:
        print(f"No row's work or peer holds {wanted!r}.", file=sys.stderr)
        return 2
    print(page.summary(trials, [step for steps in grown.values() for step in steps]).strip("*"))
    if not wanted:
        before = page.OUT.read_text(encoding="utf-8") if page.OUT.exists() else ""
        page.write(page.with_gpu(page.text(trials_by_title, grown, load), before))
        readme.main()
    print(f"{time.time() - start:.0f} s")
    steps = (side for rungs in grown.values() for _, *sides in rungs for side in sides)
    return int(any(trial.failed for trial in trials) or any(step.failed for step in steps))


def _shown(trial):
    print(tables.line(trial), flush=True)
    return trial


def _climbed(work):
    print(work.name)
    steps = []
    for step in growth.climbed(work):
        print("  " + "".join(f"{cell:>28}" for cell in tables.rung(*step)), flush=True)
        steps.append(step)
    return steps


if __name__ == "__main__":
    title = os.environ.get("THEME")
    sys.exit(theme(title) if title else main(os.environ.get("ROWS", "")))
