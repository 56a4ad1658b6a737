"""Texts of a terminal: how wide they are, and what the shell prints of an evaluation."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

from command_line import run_command


def text_width(text):
    """The columns that a terminal takes for a line: two for each wide letter, none for an accent of its own."""
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def summary(evaluation, folder, *words, columns=None):
    """What `steelyard report` prints of an evaluation that is kept in a file, with the codes of its style."""
    path = folder / "rows.csv.json"
    path.write_text(evaluation.to_json(), encoding="utf-8")
    return run_command("report", path, *words, code=0, columns=columns, color=True).stdout
