"""Rows of a frame of any engine or of files, by the names of their columns, counted or fetched where they live."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from itertools import count
from os import PathLike, fspath
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import label_codes
from steelyard.exceptions import InputError, InputTypeError
from steelyard.frames.decoding import match_label
from steelyard.frames.groups import binned_groups
from steelyard.frames.source import (
    COUNT_COLUMN,
    FrameColumns,
    Source,
    check_name,
    column_name,
    named_columns,
    names_class_columns,
)
from steelyard.predictions.given import Given, Model
from steelyard.predictions.options import VALUES
from steelyard.predictions.tables import GivenTable
from steelyard.predictions.values import GivenValues
from steelyard.tables.array_tables import declared_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from steelyard._types import Array, Labels
    from steelyard.frames.rows import FetchedRows
    from steelyard.tables.tally import Tally

    Shown = AbstractContextManager[Callable[[int, int], object] | None]

_NAMED_BY = {"y_true": "true", "y_pred": "pred", "y_score": "score", "sample_weight": "weight"}  # of values: of a frame
_NEEDS_ROWS = (
    "Scores or weights in clusters, and scores of each class, need every row in memory",
    "evaluate predicted labels without weights",
)


class Files:
    """Files by name: opened when they are first read, closed with the last Predictions of them.

    `shown` is entered for each reading, and gives what is called with how many of the parts are done.
    """

    def __init__(self, names: Sequence[str], shown: Callable[[], Shown] = nullcontext) -> None:
        self.names = list(names)
        self._source: Source | None = None
        self._stamps: dict[str, tuple[int, int]] = {}
        self._lock = RLock()
        self._shown = shown

    def __getstate__(self) -> list[str]:
        if "-" in self.names:
            raise InputTypeError("What came by the standard input is no longer there to be read; collect() first.")
        return self.names

    def __setstate__(self, names: list[str]) -> None:
        self.__init__(names)  # type: ignore[misc]  # opened anew where it is read

    @contextmanager
    def opened(self) -> Iterator[Source]:
        """The rows of the files, unchanged since they were first read."""
        from steelyard.files.folders import expand_names
        from steelyard.files.reading import reworded_errors, scan_files

        with self._lock:
            if self._source is None:
                stack = ExitStack()
                self._source = stack.enter_context(scan_files(self.names))
                weakref.finalize(self, stack.close)
                self._stamps = {name: _stamp(name) for name in expand_names(self.names)}
        for name, stamp in self._stamps.items():
            if _stamp(name) != stamp:
                raise InputError(f"{name!r} changed after it was read; read it again.")
        with self._shown() as report, reworded_errors(self.names):
            done = count(1)
            parts = len(self._source.parts)
            yield self._source if report is None else replace(self._source, step=lambda: report(next(done), parts))


def _stamp(name: str) -> tuple[int, int]:
    """The size and the time of change of a file; of the standard input, which is kept as it came, nothing."""
    if name == "-":
        return 0, 0
    status = Path(name).stat()
    return status.st_size, status.st_mtime_ns


class GivenFrame(Given):
    """Rows of a frame or of files."""

    is_frame = True

    def refuse_options(self, stated: Mapping[str, Any]) -> None:
        """Refuse values, and what is about scores where there are none."""
        given = next((name for name in VALUES if name in stated), None)
        if given is not None:
            do = (
                f"name the column by {_NAMED_BY[given]}="
                if given in _NAMED_BY
                else "its columns are there by their names"
            )
            raise InputTypeError(f"{given}= holds values, beside arrays; of a frame or file {do}.", argument=given)
        if "exact" in stated and "score" not in stated and not self.has_scores:
            raise InputError(
                "exact= keeps every score, or bins of them, and these rows have labels alone; leave it out."
            )

    @contextmanager
    def opened(self) -> Iterator[Source]:
        """The frame or the files, open, with the rows of the filter alone."""
        if isinstance(self.data, Files):
            with self.data.opened() as source:
                yield self._filtered(source)
        else:
            yield self._filtered(Source.of(self.data, counts=True))

    def _filtered(self, source: Source) -> Source:
        if self.filter is None:
            return source
        from steelyard.frames.rows import filtered

        return filtered(source, self.filter)

    @contextmanager
    def binned(self) -> Iterator[tuple[Source, tuple[str, ...]]]:
        """The same with bins in the place of the numbers of groups, and the columns of the groups."""
        with self.opened() as source:
            uses = {**self.names._asdict()} if len(self.models) < 2 else {}
            binned, by = binned_groups(
                source, self.by, self.bins, frame=True, **uses, frequency=self.frequency, cluster=self.cluster
            )
            yield binned, named_columns("by", by)  # type: ignore[arg-type]  # refused there where it is a column

    def _ask(self, question: Callable[[Source], Any]) -> Any:
        with self.opened() as source:
            return question(source)

    # ---------------------------------------------------------------- facts

    @property
    def rows(self) -> int:
        """How many rows there are, counted where they live."""
        from steelyard.frames.queries import count_rows

        return int(self.keep("rows", lambda: self._ask(count_rows)))

    @property
    def source(self) -> str:
        """The files, or that it is a frame."""
        if not isinstance(self.data, Files):
            return "a frame"
        names = [Path(name).name if name != "-" else "the standard input" for name in self.data.names]
        return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"

    @property
    def engine(self) -> str:
        """The library of the frame, such as "polars"."""
        return str(self._ask(lambda source: source.parts[0].implementation.value))

    @property
    def has_truth(self) -> bool:
        """Whether true= names the truth."""
        return self.true is not None

    @property
    def are_sets(self) -> bool:
        """Whether the truth is several columns, or one of lists or of text that is divided."""
        return bool(self.keep("are_sets", self._holds_sets))

    def _holds_sets(self) -> bool:
        if self.long is not None or self.label_sep is not None:
            return True
        if self.true is None or self._is_there(self.true):
            return False
        from steelyard.frames.label_sets import names_label_sets

        return bool(self._ask(lambda source: names_label_sets(source, FrameColumns(self.true))))

    @property
    def column_names(self) -> tuple[str, ...]:
        """All columns of the frame."""
        return tuple(self.keep("schema", lambda: self._ask(lambda source: list(source.parts[0].collect_schema()))))

    @property
    def group_names(self) -> tuple[str, ...]:
        """The columns by which rows are grouped."""
        return () if self.by is None else tuple([self.by] if isinstance(self.by, str) else self.by)

    @property
    def is_remote(self) -> bool:
        """Whether it is a frame that is not in memory."""
        return not isinstance(self.data, Files) and not Source.of(self.data, counts=True).in_memory

    @property
    def needs_rows(self) -> bool:
        """Whether it has scores of each class, or scores or weights in clusters."""
        in_clusters = self.cluster is not None and (self.has_scores or self.sample_weight is not None)
        return in_clusters or any(map(self.has_classes, self.models.values()))

    def has_classes(self, model: Model) -> bool:
        """Whether scores are named by a pattern, or by a column for each class."""
        score = model.score
        return isinstance(score, Mapping) or (names_class_columns(score) and not self._is_there(score))

    def _is_there(self, name: Any) -> bool:
        """Whether a name with a star, which would be a pattern, is that of a column, or of one that was counted."""
        return isinstance(name, str) and "*" in name and not {name, COUNT_COLUMN}.isdisjoint(self.column_names)

    # ---------------------------------------------------------------- rows fetched

    def values(self, columns: tuple[str, ...]) -> Given:
        """The named columns of the rows, fetched as values; of label sets their table."""
        if self.are_sets:
            return self.label_sets(columns)
        from steelyard.frames.rows import check_row_number, fetch_rows

        with self.binned() as (source, by):
            named = {name: _score_columns(source, model.score) for name, model in self.models.items()}
            if self.needs_rows:
                check_row_number(source, *_NEEDS_ROWS)
            fetched = fetch_rows(
                source,
                true=self.true,
                pred=[model.pred for model in self.models.values() if model.pred is not None],
                score=list(dict.fromkeys(column for each in named.values() for column in each.values())),
                weight=self.sample_weight,
                frequency=column_name("frequency", self.frequency),
                cluster=column_name("cluster", self.cluster),
                by=by,
                others=columns,
                labels=declared_labels(self.labels),
            )
        values = self._of_fetched(fetched, named)
        self._check_unchanged(values.rows)
        return values.values(())

    def _of_fetched(self, fetched: FetchedRows, named: Mapping[str, dict[str, str]]) -> GivenValues:
        """The fetched columns as values, of which those of scores are named for each model."""
        pos_label, classes = self.pos_label, declared_labels(self.labels)
        if fetched.truth is not None:
            labels = label_codes.distinct(fetched.truth, f"The column {self.true!r}")[1]
            pos_label = match_label(pos_label, labels)
            classes = classes or labels
        return GivenValues(
            data=fetched.truth,
            models={
                name: Model(
                    None if model.pred is None else fetched.predicted[model.pred],
                    _scores_of(fetched.scores, named[name], classes, model.score),
                )
                for name, model in self.models.items()
            },
            sample_weight=fetched.weights,
            frequency=fetched.frequency,
            cluster=fetched.clusters,
            by=fetched.by or None,
            columns=fetched.others or None,
            pos_label=pos_label,
            labels=self.labels,
            threshold=self.threshold,
            design=self.design,
            in_call=self.in_call,
        )

    def _check_unchanged(self, rows: int) -> None:
        """Refuse rows that are more or fewer than those that were counted."""
        counted = self.keep("rows", lambda: rows)
        if counted != rows:
            raise InputError(
                f"{self.source} had {counted:,} rows when it was counted and has {rows:,} now: it changed; read it "
                "again."
            )

    def label_sets(self, columns: tuple[str, ...]) -> GivenTable:
        """The table of label sets, with the columns beside it."""
        from steelyard.frames.label_sets import label_frame, long_table

        if self.labels is not None:
            raise InputError("labels= is for arrays; of a frame the columns that are named are the labels.")
        kept = {name: getattr(self, name) for name in ("pos_label", "threshold", "design", "in_call")}
        with self.binned() as (source, by):
            if self.long is not None:
                rows = {"weight": self.sample_weight, "frequency": self.frequency, "cluster": self.cluster}
                for name, value in {**rows, "by": self.by, "label_sep": self.label_sep}.items():
                    if value is not None:
                        raise InputError(
                            f"{name}= has no place where a row has several lines; give a column for each label."
                        )
                return GivenTable(data=long_table(source, None, self.names, *self.long), **kept)
            frequency, cluster = (column_name(use, getattr(self, use)) for use in ("frequency", "cluster"))
            beside: dict[str, Any] = {"by": by, "cluster": cluster, "label_sep": self.label_sep, "others": columns}
            table, fetched = label_frame(source, self.names, frequency, **beside)
        others = {name: fetched.others[name] for name in columns} or None
        return GivenTable(data=table, by=fetched.by or None, cluster=fetched.clusters, columns=others, **kept)

    # ---------------------------------------------------------------- rows counted

    def tally(self, cost: Sequence[str] = ()) -> Tally:
        """The rows counted where they live, with the scores by columns of costs."""
        from steelyard.frames.tally import tally

        preds, scores = ([model[i] for model in self.models.values() if model[i] is not None] for i in (0, 1))
        if self.true is None:
            named = "score" if scores else "pred"
            raise InputTypeError(f"{named}= names a column of a frame; name that of the truth too, with true=.")
        with self.binned() as (source, by):
            return tally(
                source,
                true=self.true,
                pred=preds or None,
                score=scores[0] if scores else None,
                weight=self.sample_weight,
                frequency=column_name("frequency", self.frequency),
                by=by or None,
                cost=[*cost] or None,
                pos_label=self.pos_label,
                labels=self.labels,
                threshold=self.threshold,
                exact=self.exact,
            )


def _score_columns(source: Source, score: Any) -> dict[str, str]:
    """The columns of the scores of one model: one, under no name, or that of each class."""
    from steelyard.frames.rows import matched_columns

    if score is None:
        return {}
    if isinstance(score, Mapping):
        return {str(label): column for label, column in score.items()}
    if not names_class_columns(score) or (isinstance(score, str) and score in source.parts[0].collect_schema()):
        return {"": score}
    return matched_columns(source, score)


def _scores_of(fetched: Mapping[str, Array], named: dict[str, str], classes: Labels | None, asked: Any) -> Any:
    """The scores of one model: its column, or one for each class in their order."""
    from steelyard.frames.source import columns_by_class

    if not named:
        return None
    if [*named] == [""]:
        return fetched[named[""]]
    if classes is None:
        raise InputError("The classes of these scores are not known without a truth; declare them with labels=.")
    chosen = columns_by_class(named, classes, asked)
    return np.column_stack([fetched[name].astype(np.float64, copy=False) for name in chosen])


# ---------------------------------------------------------------- what is named


def named_models(true: Any, pred: Any, score: Any) -> dict[str, Model]:
    """The models of a frame: a list is one column each, a mapping names them, a pattern is the classes of one.

    Where the truth is a list, each column of it is a label, and so is each of the predictions.
    """
    named_columns("true", true)  # each of them text
    if isinstance(true, (list, tuple)) and not isinstance(pred, Mapping) and not isinstance(score, Mapping):
        return {"": Model(pred, score)} if pred is not None or score is not None else {}
    preds, scores = _by_model("pred", pred), _by_model("score", score)
    if len(preds) == len(scores) == 1 and not (isinstance(pred, Mapping) and isinstance(score, Mapping)):
        name = next(iter(scores))
        return {name: Model(*preds.values(), *scores.values())}
    if preds and scores and {*preds} != {*scores}:
        raise InputError("pred= and score= name other models; name them alike, such as {'a': 'column'} in both.")
    models = {name: Model(preds.get(name), scores.get(name)) for name in {**preds, **scores}}
    if len(models) == 1 and "" in models:
        column = score if score is not None else pred
        return {str(column) if isinstance(column, str) else "": models[""]}
    return models


def _by_model(use: str, names: Any) -> dict[str, Any]:
    """The columns of one use by the names of the models."""
    if names is None:
        return {}
    if isinstance(names, Mapping):
        for columns in names.values():
            if isinstance(columns, (list, tuple)):  # one for each class or label
                named_columns(use, columns)
            elif not isinstance(columns, Mapping):
                check_name(use, columns)
        return {str(name): column for name, column in names.items()}
    if isinstance(names, (list, tuple)):
        return {name: name for name in named_columns(use, names)}
    check_name(use, names)
    return {"": names}


def are_paths(data: Any) -> bool:
    """Whether it is a path, as text or not, or a list of paths that are no text, which might be labels."""
    if isinstance(data, (list, tuple)):
        return len(data) > 0 and all(isinstance(each, PathLike) for each in data)
    return isinstance(data, (str, PathLike))


def opened_later(source: Any) -> Any:
    """Files by their names, opened later; a frame as it is."""
    if isinstance(source, (str, PathLike)):
        return Files([fspath(source)])
    if isinstance(source, (list, tuple)) and source and all(isinstance(each, (str, PathLike)) for each in source):
        return Files([fspath(each) for each in source])
    return source
