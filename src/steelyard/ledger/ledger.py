"""Ledger: a folder in which evaluations are kept, one JSON file each, that any number of programs may write at once."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.analysis.results.rows import Rows
from steelyard.exceptions import InputError
from steelyard.ledger.diff_side import DiffSide, entry_side
from steelyard.ledger.entry import checked_tags, entry_content, read_report, report_evaluation
from steelyard.ledger.evaluation_diff import evaluation_diff
from steelyard.ledger.history import History, HistoryRow
from steelyard.ledger.index import indexed_rows
from steelyard.ledger.kept_rows import kept_rows
from steelyard.ledger.ledger_folder import ENTRY_ENDING, ROWS_ENDING, create_file, entry_ids, make_folder
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from steelyard._types import Frame
    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.evaluation.label_sets.multilabel_evaluation import AnyEvaluation
    from steelyard.ingest.source import Source
    from steelyard.ledger.entry import Tags
    from steelyard.metrics.spec import SpecLike

DEFAULT_FOLDER = "steelyard-ledger"
_VARIABLE = "STEELYARD_LEDGER"


@dataclass(frozen=True)
class Ledger:
    """Evaluations that are kept: logged with tags, listed with their intervals, read back, and compared.

    `path` is a folder, made by the first log; without one it is that of STEELYARD_LEDGER, or steelyard-ledger here.

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

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return Path(self.path if self.path is not None else os.environ.get(_VARIABLE) or DEFAULT_FOLDER)

    def log(
        self,
        evaluation: AnyEvaluation,
        tags: Tags | None = None,
        *,
        frame: Frame | Source | None = None,
        keep_rows: str | None = None,
    ) -> str:
        """Keep an evaluation and return its id; when that is there, so is the file, on the disk and whole.

        `keep_rows` names the column of a frame whose values name the rows. The predictions are then kept as well, each
        under a keyed hash of that name, so that `diff` can pair two models; give the frame that was evaluated.
        """
        named = checked_tags(tags)
        rows = None if keep_rows is None else kept_rows(evaluation, frame, keep_rows)
        now = datetime.now(UTC)
        new, time = self._new_id(now), now.isoformat(timespec="microseconds").replace("+00:00", "Z")
        content = entry_content(evaluation, new, time, named, None if rows is None else rows.facts)
        make_folder(self.folder)
        if rows is not None:  # first, so that an entry never names rows that are not there
            create_file(self._file(new).with_suffix(ROWS_ENDING), rows.content)
        create_file(self._file(new), content)
        return new

    def read(self, id: str) -> AnyEvaluation:
        """The evaluation of that id, equal to the one that was logged; the first or last signs of an id will do."""
        return report_evaluation(read_report(self._file(self.found(id)))[1])

    def history(
        self,
        metrics: Iterable[SpecLike] | None = None,
        tags: Tags | None = None,
        *,
        last: int | None = None,
        all_metrics: bool = False,
    ) -> History:
        """The metrics of all evaluations over time, or of those that have all these tags, or of the last so many.

        Without `metrics` those that each evaluation shows first; `all_metrics` gives every one.
        """
        import polars as pl

        wanted = checked_tags(tags)
        if last is not None and last < 1:
            raise InputError(f"last= is how many evaluations to list, 1 or more, not {last!r}.")
        table = indexed_rows(self.folder)
        damaged = table.filter(pl.col("damage").is_not_null())["damage"].to_list()
        table = table.filter(pl.col("damage").is_null() & pl.col("metric").is_not_null())
        table = _fitting_tags(table, wanted) if wanted else table
        if metrics is not None:
            table = table.filter(pl.col("metric").is_in([spec.name for spec in MetricSpec.all_of(metrics)]))
        elif not all_metrics:
            table = table.filter(pl.col("shown"))
        if last is not None:
            table = table.filter(pl.col("id").is_in(table["id"].unique(maintain_order=True).tail(last).to_list()))
        return History(self.folder.resolve().name, _history_rows(table), tuple(damaged))

    def diff(
        self,
        a: str | AnyEvaluation,
        b: str | AnyEvaluation,
        *,
        metrics: Iterable[SpecLike] | None = None,
        level: float = 0.95,
        prevalence: float | None = None,
    ) -> Comparison:
        """What changed from evaluation a to b: b less a by each metric, with intervals and Holm's p-values.

        Each is an id, a tag such as "model=v3" for the last evaluation that has it, or an evaluation. They are taken as
        of different rows, unless both kept theirs; `prevalence` reads both at one. What differs in the data is stated.
        """
        old, new = (self.side(given, name) for given, name in ((a, "a"), (b, "b")))
        return evaluation_diff(old, new, metrics=metrics, level=level, prevalence=prevalence)

    def side(self, given: str | AnyEvaluation, name: str) -> DiffSide:
        """One of two evaluations to compare; `name` is what one is called that was not logged."""
        return entry_side(self._file(self.found(given))) if isinstance(given, str) else DiffSide(name, given)

    def found(self, id: str) -> str:
        """The whole id of its first or last signs, or of the last evaluation that has a tag such as model=v3."""
        name, sign, value = id.partition("=")
        if sign:
            table = indexed_rows(self.folder)
            fitting: list[str] = _fitting_tags(table.filter(table["damage"].is_null()), {name: value})["id"].to_list()[
                -1:
            ]
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
        return self.folder / f"{id}{ENTRY_ENDING}"

    def _new_id(self, now: datetime) -> str:
        """An id that no entry has: the second, so that files lie in order, and 48 random bits."""
        while True:
            new = f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(6)}"
            if not self._file(new).exists():
                return new


def _fitting_tags(table: pl.DataFrame, wanted: dict[str, str]) -> pl.DataFrame:
    """The rows of the evaluations that have all these tags."""
    import polars as pl

    texts = table["tags"].unique().to_list()
    return table.filter(pl.col("tags").is_in([text for text in texts if wanted.items() <= json.loads(text).items()]))


def _history_rows(table: pl.DataFrame) -> Rows[HistoryRow]:
    """The rows of the index as those of a history; a number that is not there is undefined."""
    tags = {text: json.loads(text) for text in table["tags"].unique().to_list()}
    columns = ("time", "id", "tags", "metric", "value", "low", "high", "chance", "rows", "level", "source", "why")
    rows: Rows[HistoryRow] = Rows()
    for time, name, text, metric, *numbers, count, level, source, why in table.select(columns).iter_rows():
        value, low, high, chance = (nan if number is None else float(number) for number in numbers)
        rows.append(HistoryRow(time, name, tags[text], metric, value, low, high, chance, count, level, source, why))
    return rows
