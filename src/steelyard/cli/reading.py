"""Reading: the files and columns that a command line names, weighed; what had to be guessed is told."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.ingest.source import Source
    from steelyard.statistics.tally import Tally

GUESSES = {
    "true": ("y_true", "true", "truth", "true_label", "label", "target", "actual", "class", "y"),
    "pred": ("y_pred", "pred", "prediction", "predicted", "predicted_label", "y_hat", "yhat"),
    "score": ("y_score", "score", "scores", "probability", "prob", "proba", "y_prob", "y_proba", "p"),
}
SAVED = ("tally", "counts", "confusion", "scores", "paired")


@dataclass(frozen=True)
class Weighed:
    """What was weighed, and what was taken for granted on the way."""

    tally: Tally
    assumed: list[str]
    name: str

    def with_groups_of(self, least: int) -> Weighed:
        """The same without groups that hold so few rows that they may point to a person; it tells how many."""
        kept = self.tally.with_groups_of(least)
        if not (out := len(self.tally.groups) - len(kept.groups)):
            return self
        told = f"{out:,} of {len(self.tally.groups):,} groups were left out: a cell of fewer than {least:,} rows"
        told = f"{told}, or the group from which the total would tell it."
        return Weighed(kept, [*self.assumed, told], self.name)


def tell(assumed: Sequence[str]) -> None:
    """What was taken for granted, on stderr, where the result itself has no place for it."""
    import click

    for line in assumed:
        click.echo(line, err=True)


def weighed(
    files: Sequence[str],
    counts: str | None,
    positive: str | None,
    threshold: float | None,
    *,
    cutting: bool = False,
    **columns: Any,
) -> Weighed:
    """The tally of the files, of a saved tally, or of four counts; cutting scores, it guesses no labels."""
    if counts is not None:
        if files:
            raise InputError("Four counts and a file are two inputs; give one of them.")
        table = _of_counts(counts)
        whole = table.confusion is None or not table.confusion.weighted
        told = [] if whole else [f"The counts are not whole: they were taken as weights of about {table.rows:,} rows."]
        return Weighed(table, told, f"counts {counts}")
    if not files:
        raise InputError("No input was named; give a file, - for the standard input, or --counts TP,FN,FP,TN.")
    from steelyard.ingest.files import found

    if (saved := _saved(files := found(files))) is not None:
        return Weighed(_with_positive(saved, positive), [], named(files))
    with opened(files) as source:
        from steelyard.ingest.frame_tally import tally

        chosen, assumed = guessed(source, columns, cutting=cutting or threshold is not None)
        cut = threshold if chosen.get("score") and not chosen.get("pred") else None
        table = tally(source, **chosen, pos_label=positive, threshold=cut)
    return Weighed(table, assumed, named(files))


def named(files: Sequence[str]) -> str:
    """What to call the input."""
    first = "standard input" if files[0] == "-" else Path(files[0]).name
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more"


def _with_positive(table: Tally, positive: str | None) -> Tally:
    if positive is None or table.confusion is None:
        return table
    from dataclasses import replace

    from steelyard.ingest.label_tables import resolved

    return replace(table, confusion=table.confusion.with_positive(resolved(positive, table.confusion.labels)))


def _of_counts(text: str) -> Tally:
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.counts import Counts
    from steelyard.statistics.tally import Tally

    cells = text.split(",")
    try:
        tp, fn, fp, tn = (int(cell) if cell.strip().lstrip("+-").isdigit() else _whole(float(cell)) for cell in cells)
    except ValueError:
        raise InputError(f"--counts takes four numbers TP,FN,FP,TN, such as 28,23,72,2680, not {text!r}.") from None
    matrix = Counts(tp, fn, fp, tn).matrix()
    if not matrix.any():
        raise InputError(f"--counts {text} are no rows; give four numbers TP,FN,FP,TN, such as 28,23,72,2680.")
    if ((matrix > 0) & (matrix < 1)).any():
        raise InputError(f"--counts takes numbers of rows, and {text} are shares; multiply them by the rows.")
    if matrix.dtype.kind != "i":
        return Tally(Confusion((0, 1), matrix.round().astype(int), matrix, matrix, 1), labels=(0, 1))
    return Tally(Confusion.of_rows((0, 1), matrix, 1), labels=(0, 1))


def _whole(cell: float) -> float:
    return int(cell) if cell.is_integer() else cell


# ---------------------------------------------------------------- saved tables


def _saved(files: Sequence[str]) -> Tally | None:
    """The saved tables that the files hold, added up; None where they hold rows."""
    tables = [table for name in files if (table := saved(name)) is not None]
    if not tables:
        return None
    if len(tables) < len(files):
        raise InputError("Some of the files are saved tables and some are rows; give those of one kind.")
    return sum(tables[1:], tables[0])


def saved(name: str) -> Tally | None:
    """A saved table of any kind as a tally; None where the file is something else."""
    if not _looks_saved(name):
        return None
    try:
        data = json.loads(sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes())
    except (ValueError, RecursionError):
        return None
    kind = data.get("kind") if isinstance(data, dict) else None
    return None if kind not in SAVED else _read(name, str(kind), data)


def _looks_saved(name: str) -> bool:
    """Whether a file starts as saved tables do; a long file of rows must not be read whole to find out."""
    if name == "-":
        start = sys.stdin.buffer.peek(4096) if hasattr(sys.stdin.buffer, "peek") else b""
    elif not Path(name).is_file():  # what a pipe holds can be read but once
        return False
    else:
        with Path(name).open("rb") as file:
            start = file.read(4096)
    return start.lstrip().startswith(b"{") and b'"schema"' in start and b'"kind"' in start


def _read(name: str, kind: str, data: dict[str, Any]) -> Tally:
    from steelyard.statistics.counts import Counts
    from steelyard.statistics.tally import TALLY_TABLES, Tally

    try:
        if kind == "tally":
            return Tally.from_json(data)
        if kind == "counts":
            cells = Counts.from_json(data).to_dict()
            return _of_counts(",".join(str(cells[cell]) for cell in ("tp", "fn", "fp", "tn")))
        table: Any = TALLY_TABLES[kind].from_json(data)
        return Tally(**{kind: table}, labels=tuple(getattr(table, "labels", ())))
    except InputError as error:
        raise InputError(f"{name!r}: {error}") from None


# ---------------------------------------------------------------- files and columns


@contextmanager
def opened(files: Sequence[str]) -> Iterator[Source]:
    """The rows of the files, with a bar on the terminal while they are counted."""
    from steelyard.cli.progress import bar
    from steelyard.ingest.files import source

    with bar("counting") as progress, source(files, progress) as found:
        yield found


def guessed(source: Source, columns: dict[str, Any], *, cutting: bool = False) -> tuple[dict[str, Any], list[str]]:
    """The columns as named; those of truth and prediction that were not are looked for by their usual names."""
    chosen, told = dict(columns), []
    names = {name.lower(): name for name in source.parts[0].collect_schema().names()}
    wanted = [
        "true",
        *(() if chosen.get("pred") or chosen.get("score") else ("score",) if cutting else ("pred", "score")),
    ]
    for use in wanted:
        found = next((names[guess] for guess in GUESSES[use] if guess in names), None)
        if chosen.get(use) is None and found is not None:
            use = _use(source, found, use, chosen)  # noqa: PLW2901 - what it is used for may turn out otherwise
            chosen[use] = found
            told.append(f"--{use} {found}")
    if chosen.get("true") is None:
        raise InputError(f"Which column holds the truth is not clear; name it with --true, of {_listed(names)}.")
    if cutting and not chosen.get("pred") and not chosen.get("score"):
        raise InputError(f"A cut needs scores; name their column with --score, of {_listed(names)}.")
    if not chosen.get("pred") and not chosen.get("score"):
        raise InputError(f"Name the predictions with --pred or --score; the columns are {_listed(names)}.")
    return chosen, [f"Columns were guessed: {', '.join(told)}."] if told else []


def _use(source: Source, name: str, use: str, chosen: dict[str, Any]) -> str:
    """What a guessed column is for: predictions that are fractions are scores, whatever they are called."""
    from steelyard.ingest.queries import has_fractions

    return "score" if use == "pred" and not chosen.get("score") and has_fractions(source, name) else use


def _listed(names: dict[str, str]) -> str:
    shown = ", ".join(list(names.values())[:12])
    return f"{shown} and {len(names) - 12} more" if len(names) > 12 else shown
