"""Ledger: a folder in which evaluations are kept, one JSON file each, that any number of programs may write at once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard._names import moved
from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ledger.diff import DiffSide, entry_side, evaluation_diff
from steelyard.ledger.entries import (
    ROWS_ENDING,
    checked_tags,
    create_file,
    entry_content,
    entry_file,
    entry_ids,
    kept_rows,
    make_folder,
    new_id,
    read_report,
    remove_abandoned_files,
)
from steelyard.ledger.history import History, HistoryRow, history_rows
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steelyard._types import Frame
    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.frames.source import Source
    from steelyard.ledger.entries import Entry, Tags
    from steelyard.metrics.spec import SpecLike
    from steelyard.predictions import Predictions

DEFAULT_FOLDER = "steelyard-ledger"
_VARIABLE = "STEELYARD_LEDGER"


@dataclass(frozen=True)
class Ledger:
    """Evaluations that are kept: logged with tags, listed with their intervals, read back, and compared.

    `path` is a folder, made by the first log; without one it is that of STEELYARD_LEDGER, or steelyard-ledger here. An
    empty folder becomes a ledger by the first log; one that holds other files is refused and left as it is.

    >>> from tempfile import mkdtemp
    >>> from steelyard import Counts, evaluate
    >>> ledger = Ledger(mkdtemp())
    >>> evaluation = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> id = ledger.log(evaluation, {"model": "v1"})
    >>> ledger.read(id) == evaluation
    True
    >>> [(row.tags["model"], row.metric, round(row.value, 3)) for row in ledger.history(metrics=["recall"])]
    [('v1', 'recall', 0.549)]
    """

    path: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        """Refuse what names no folder."""
        if self.path is not None and not isinstance(self.path, str | os.PathLike):
            raise InputTypeError(f"A ledger is the path of a folder, not {type(self.path).__name__}; give a text.")
        if self.path is not None and (not os.fspath(self.path) or "\0" in str(self.path)):
            raise InputError(
                f"A ledger is a folder, which {self.path!r} does not name; leave it out for {DEFAULT_FOLDER!r}."
            )

    if not TYPE_CHECKING:  # to which a name that is gone is no name at all

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(moved(f"Ledger.{name}") or f"A Ledger has no {name!r}.")

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return Path(self.path if self.path is not None else os.environ.get(_VARIABLE) or DEFAULT_FOLDER)

    @names_wrong_arguments
    def log(
        self,
        evaluation: Evaluation,
        tags: Tags | None = None,
        *,
        predictions: Predictions | Frame | Source | str | None = None,
        keep_rows: str | None = None,
    ) -> str:
        """Keep an evaluation and return its id; when that is there, so is the file, on the disk and whole.

        `keep_rows` names the column whose values name the rows. The predictions are then kept as well, each under a
        keyed hash of that name, so that `compare` can pair two models; give those that were evaluated, or their frame.
        """
        named = checked_tags(tags)
        rows, facts = (None, None) if keep_rows is None else kept_rows(evaluation, predictions, keep_rows)
        now = datetime.now(UTC)
        new, time = new_id(self.folder, now), now.isoformat(timespec="microseconds").replace("+00:00", "Z")
        content = entry_content(evaluation, new, time, named, facts)
        make_folder(self.folder)
        remove_abandoned_files(self.folder)
        if rows is not None:  # first, so that an entry never names rows that are not there
            create_file(self._file(new).with_suffix(ROWS_ENDING), rows)
        create_file(self._file(new), content)
        return new

    @names_wrong_arguments
    def read(self, id: str) -> Evaluation:
        """The evaluation of that id, equal to the one that was logged; the first or last signs of an id will do."""
        return Evaluation.from_json(read_report(self._file(self.found(id)))[1])

    @names_wrong_arguments
    def history(
        self,
        metrics: Iterable[SpecLike] | None = None,
        tags: Tags | None = None,
        *,
        last: int | None = None,
        all_metrics: bool = False,
    ) -> History:
        """The metrics of all evaluations over time, or of those that have all these tags, or of the last so many.

        Without `metrics` those that each evaluation shows first; `all_metrics` gives every one. Every number is read
        from its entry, whose digest is checked. Files that do not fit are left out by name; with `last` those that are
        older than what it lists are not looked at.
        """
        wanted = checked_tags(tags).items()
        if last is not None and last < 1:
            raise InputError(argument="last", expected="how many evaluations to list, 1 or more", given=last)
        names = None if metrics is None else {spec.name for spec in MetricSpec.all_of(metrics)}
        found: list[list[HistoryRow]] = []
        damaged: list[str] = []
        for entry, report in self._newest_first(damaged):
            shown = names if names is not None else None if all_metrics else set(entry.shown)
            if wanted <= entry.tags.items() and (rows := history_rows(entry, report, shown)):
                found.append(rows)
            if len(found) == last:
                break
        rows_in_order = Rows(row for rows in reversed(found) for row in rows)
        return History(self.folder.resolve().name, rows_in_order, tuple(sorted(damaged)))

    def _newest_first(self, damaged: list[str]) -> Iterator[tuple[Entry, dict[str, Any]]]:
        """The entries from the last to the first, each with its report; what is wrong with others goes to `damaged`."""
        for _, ids in groupby(reversed(entry_ids(self.folder)), key=lambda each: each.partition("-")[0]):
            second = []
            for path in map(self._file, ids):
                if not path.is_file() or not path.stat().st_size:  # gone by now, or the place of one to come
                    continue
                try:
                    second.append(read_report(path))
                except InputError as error:
                    damaged.append(str(error))
            yield from sorted(second, key=lambda read: (read[0].time, read[0].id), reverse=True)

    @names_wrong_arguments
    def compare(
        self,
        a: str | Evaluation,
        b: str | Evaluation,
        *,
        metrics: Iterable[SpecLike] | None = None,
        prevalence: float | None = None,
        level: float = 0.95,
    ) -> Comparison:
        """Evaluation a less b by each metric, with intervals and Holm's p-values: the new one first, then the old.

        Each is an id, a tag such as "model=v3" for the last evaluation that has it, or an evaluation. They are taken as
        of different rows, unless both kept theirs; `prevalence` reads both at one. What differs in the data is stated.
        """
        new, old = (self.side(given, name) for given, name in ((a, "a"), (b, "b")))
        return evaluation_diff(old, new, metrics=metrics, level=level, prevalence=prevalence)

    def side(self, given: str | Evaluation, name: str) -> DiffSide:
        """One of two evaluations to compare; `name` is what one is called that was not logged."""
        return entry_side(self._file(self.found(given))) if isinstance(given, str) else DiffSide(name, given)

    @names_wrong_arguments
    def found(self, id: str) -> str:
        """The whole id of its first or last signs, or of the last evaluation that has a tag such as model=v3."""
        name, sign, value = id.partition("=")
        if sign:
            tag = {name: value}.items()
            tagged = (entry.id for entry, _ in self._newest_first([]) if tag <= entry.tags.items())
            fitting = [*islice(tagged, 1)]
        else:
            ids = entry_ids(self.folder)
            fitting = [id] if id in ids else [each for each in ids if id and (each.startswith(id) or each.endswith(id))]
        if len(fitting) == 1:
            return str(fitting[0])
        what = f"{len(fitting):,} evaluations of" if fitting else "No evaluation of"
        raise InputError(
            f"{what} {str(self.folder)!r} {'have' if fitting else 'has'} the {'tag' if sign else 'id'} {id!r}; "
            "`steelyard history` lists them."
        )

    def _file(self, id: str) -> Path:
        return entry_file(self.folder, id)
