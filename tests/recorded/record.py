"""The record on disk: its questions, its files, and the versions that its numbers depend on."""

from __future__ import annotations

import json
import time
from importlib.metadata import version
from pathlib import Path

from recorded import commands, models, pages, questions, refusals, tables
from recorded.values import asked, plain, written

FOLDER = Path(__file__).parent.parent / "record"
LIBRARIES = ("numpy", "scipy", "polars", "narwhals", "scikit-learn", "pandas", "click", "rich", "matplotlib")
QUESTIONS = {
    question: calls
    for module in (tables, questions, models, refusals, pages, commands)
    for question, calls in module.QUESTIONS.items()
}


def versions():
    """The installed versions of what the numbers and texts come from, to the patch."""
    return {name: version(name) for name in LIBRARIES}


def path(question):
    return FOLDER / f"{question}.json"


def read(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def now(question):
    """What each call of a question gives now."""
    return {name: asked(call) for name, call in QUESTIONS[question].items()}


def write(questions=()):
    """Write every file of the record anew, or those of the questions that are named, and say how large it is."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.json"):
        if not questions:
            old.unlink()
    seconds = {}
    for question in questions or QUESTIONS:
        start = time.process_time()
        found = now(question)
        seconds[question] = time.process_time() - start
        path(question).write_text(written(found), encoding="utf-8")
    (FOLDER / "versions.json").write_text(written(plain(versions(), inside=True)), encoding="utf-8")
    calls, size = (
        sum(len(QUESTIONS[name]) for name in seconds),
        sum(file.stat().st_size for file in FOLDER.glob("*.json")),
    )
    slow = ", ".join(f"{name} {seconds[name]:.1f}" for name in sorted(seconds, key=seconds.get, reverse=True)[:8])
    print(
        f"{calls} calls in {len(seconds)} files of {size / 1e6:.2f} MB, {sum(seconds.values()):.0f} s; longest: {slow}"
    )
