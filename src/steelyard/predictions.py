"""Predictions: rows with their truth and what one or more models made of them, read, checked and counted once.

Arrays, tensors, frames of any engine, files, folders and saved tables are read here, for every question, and nowhere
else. A question takes a Predictions, or what makes one, by `Predictions.of`.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from itertools import count
from os import PathLike, fspath
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict

import numpy as np

from steelyard._names import METHODS
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays import checks, label_codes
from steelyard.arrays.backend import PRECISIONS, as_read
from steelyard.arrays.checks import check_order
from steelyard.arrays.labels import CONVENTION, absent_sentence, chosen_label
from steelyard.exceptions import InputError, InputTypeError, SteelyardError, did_you_mean, first_ten
from steelyard.frames.decoding import match_label
from steelyard.frames.groups import binned_groups, group_columns, group_places, grouped_tally
from steelyard.frames.source import (
    COUNT_COLUMN,
    FrameColumns,
    Source,
    check_name,
    column_name,
    named_columns,
    names_class_columns,
)
from steelyard.tables.array_tables import (
    HIGHEST_TAKEN,
    check_both_classes,
    check_classes,
    confusion,
    counted_where_they_are,
    declared_labels,
    occurring_labels,
    paired,
    probability_table,
    score_table,
)
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.label_sets import are_label_sets
from steelyard.tables.multilabel_table import MultilabelTable
from steelyard.tables.paired_table import Paired
from steelyard.tables.probability_table import ProbabilityTable
from steelyard.tables.score_table import ScoreTable, bin_divided_at
from steelyard.tables.tally import Tally
from steelyard.tables.thresholding import (
    MOST_POSITIVE,
    TWO_THRESHOLDS,
    CountedRows,
    as_confusion,
    negative_label,
    thresholded,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Unpack

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Labels, LabelSet
    from steelyard.tables.statistic import Statistic

    Shown = AbstractContextManager[Callable[[int, int], object] | None]


# Anything that `Predictions.of` takes first.
RowsLike: TypeAlias = "Predictions | Statistic | Tally | Source | Frame | ArrayLike | str | PathLike[str] | None"
TABLES = (Counts, Confusion, ScoreTable, ProbabilityTable, MultilabelTable, Paired, Tally)


class RowOptions(TypedDict, total=False):
    """The options of rows, which every question takes; each may be None, which leaves it out."""

    y_true: ArrayLike | None
    y_pred: ArrayLike | Mapping[str, ArrayLike] | None
    y_score: ArrayLike | Mapping[str, ArrayLike] | None
    sample_weight: ArrayLike | None
    columns: Mapping[str, ArrayLike] | Frame | None
    true: str | Sequence[str] | None
    pred: str | Sequence[str] | Mapping[str, str] | None
    score: str | Sequence[str] | Mapping[str, str | Mapping[Any, str]] | None
    weight: str | None
    label_sep: str | None
    long: tuple[str, str] | None
    frequency: ArrayLike | str | None
    cluster: ArrayLike | str | None
    by: str | Sequence[str] | ArrayLike | Mapping[str, ArrayLike] | None
    bins: int | Mapping[str, int | Sequence[float]] | None
    pos_label: Label
    labels: LabelSet | None
    exact: bool | None
    threshold: float | Sequence[float] | Mapping[Any, float] | None
    design: Any
    filter: str | None


_VALUES = ("y_true", "y_pred", "y_score", "sample_weight", "columns")
_NAMES = ("true", "pred", "score", "weight", "label_sep", "long")
_READING = ("frequency", "cluster", "by", "bins", "pos_label", "labels", "exact", "threshold", "design", "filter")
_ALONE = "A frame was given alone; name its columns with true=, and pred= or score=."
_NOTHING = "There is nothing to ask about: give y_pred (labels) or y_score= (scores) beside y_true."
# Options that change no table, so that what was counted is kept.
_UNCOUNTED = ("threshold", "design")


class Model(NamedTuple):
    """What one model made of the rows: labels, scores or both; values, or the names of their columns."""

    pred: Any = None
    score: Any = None


@dataclass(frozen=True, eq=False)
class Given:
    """Rows as they were given, each option by the one meaning that it has everywhere.

    `data` is a table, a frame or files whose columns `true` and the models name, or the values of the truth.
    """

    data: Any = None
    true: Any = None  # the names of columns; None of values and tables
    models: Mapping[str, Model] = field(default_factory=dict)
    sample_weight: Any = None  # values, or the name of a column
    frequency: Any = None
    cluster: Any = None
    by: Any = None
    bins: Any = None
    columns: Any = None
    pos_label: Label = None
    labels: Any = None
    threshold: Any = None
    design: Any = "random"
    filter: str | None = None
    label_sep: str | None = None
    long: tuple[str, str] | None = None
    exact: bool | None = None
    is_frame: bool = False
    in_call: frozenset[str] = frozenset()  # the options that were given to the question itself
    cut_at: float | None = None  # of a table of labels: the threshold at which an evaluation made them
    is_stated: bool = False  # whether the positive class was stated by a table, so that no convention is asked

    @property
    def is_table(self) -> bool:
        """Whether the rows are counted already."""
        return isinstance(self.data, TABLES)

    @property
    def model(self) -> Model:
        """The one model; several are refused."""
        self.check_one_model()
        return next(iter(self.models.values()), Model())

    def check_one_model(self) -> None:
        """Refuse rows of several models where a question is about one."""
        if len(self.models) > 1:
            names = [*self.models]
            raise InputError(
                f"These rows have {len(names)} models, {first_ten(names)}, and one is asked about; take one, such as "
                f"predictions[{names[0]!r}], or compare them."
            )

    @property
    def y_true(self) -> Any:
        """The values of the truth; of a frame None."""
        return None if self.is_frame or self.is_table else self.data

    @property
    def y_pred(self) -> Any:
        """The labels that the one model predicted, as values."""
        return None if self.is_frame else self.model.pred

    @property
    def y_score(self) -> Any:
        """The scores of the one model, as values."""
        return None if self.is_frame else self.model.score

    @property
    def names(self) -> FrameColumns:
        """The columns of a frame that hold the truth, the one model and the weights."""
        if not self.is_frame:
            return FrameColumns()
        score = self.model.score
        scores: Any = [*score.values()] if isinstance(score, Mapping) else score  # those of each class
        return FrameColumns(self.true, self.model.pred, scores, self.sample_weight)

    @property
    def weights(self) -> dict[str, Any]:
        """The weights of rows that are values."""
        return {"sample_weight": self.sample_weight, "frequency": self.frequency}

    def uses(self) -> dict[str, str | tuple[str, ...]]:
        """The columns of a frame that were named, by what they are for."""
        if not self.is_frame:
            return {}
        row, label = self.long or (None, None)
        others = {"label_sep": self.label_sep, "row": row, "label": label}
        named = self.names.names(frequency=self.frequency, by=self.by, cluster=self.cluster)
        return named | {use: name for use, name in others.items() if name is not None}


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


class Predictions:
    """Rows with their truth and what one or more models made of them, ready for every question.

    Of arrays, tensors and label sets give the values: the truth, with labels (`y_pred`) or scores (`y_score`), a
    mapping of them by name for several models. `Predictions.read` takes frames of any engine, files, folders and
    saved tables by the names of their columns. Nothing is read before the first question; what was counted is kept.
    Each question is a method too: `p.evaluate()` is `evaluate(p)`.

    >>> p = Predictions([0, 0, 1, 1], y_score={"a": [0.1, 0.6, 0.7, 0.9], "b": [0.2, 0.1, 0.4, 0.8]})
    >>> p.models
    ('a', 'b')
    >>> p["b"].confusion().rows.tolist()
    [[2, 0], [1, 1]]
    """

    given: Given
    _kept: dict[Any, Any]

    @names_wrong_arguments
    def __init__(
        self,
        y_true: ArrayLike | None = None,
        y_pred: ArrayLike | Mapping[str, ArrayLike] | None = None,
        *,
        y_score: ArrayLike | Mapping[str, ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
        columns: Mapping[str, ArrayLike] | Frame | None = None,
        frequency: ArrayLike | str | None = None,
        cluster: ArrayLike | str | None = None,
        by: str | Sequence[str] | ArrayLike | Mapping[str, ArrayLike] | None = None,
        bins: int | Mapping[str, int | Sequence[float]] | None = None,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        threshold: float | Sequence[float] | Mapping[Any, float] | None = None,
        design: Any = "random",
        filter: str | None = None,
    ) -> None:
        given = Given(
            y_true, None, _value_models(y_pred, y_score), sample_weight, frequency, cluster, by, bins, columns,
            pos_label, labels, threshold, design, filter,
        )  # fmt: skip
        self._begin(given)

    def _begin(self, given: Given, kept: dict[Any, Any] | None = None) -> None:
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "_kept", {} if kept is None else kept)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Predictions do not change; predictions.with_options({name}=...) makes others.")

    @classmethod
    def _of_given(cls, given: Given, kept: dict[Any, Any] | None = None) -> Predictions:
        made = cls.__new__(cls)
        made._begin(given, kept)
        return made

    @classmethod
    def read(
        cls,
        source: Frame | Source | Files | str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        true: str | Sequence[str] | None = None,
        pred: str | Sequence[str] | Mapping[str, str] | None = None,
        score: str | Sequence[str] | Mapping[str, str | Mapping[Any, str]] | None = None,
        weight: str | None = None,
        frequency: str | None = None,
        cluster: str | None = None,
        by: str | Sequence[str] | None = None,
        bins: int | Mapping[str, int | Sequence[float]] | None = None,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        threshold: float | Sequence[float] | Mapping[Any, float] | None = None,
        design: Any = "random",
        filter: str | None = None,
        label_sep: str | None = None,
        long: tuple[str, str] | None = None,
        exact: bool | None = None,
    ) -> Predictions:
        """The rows of a frame of any engine, a file, a folder, a pattern, or a saved table, by the names of columns.

        A list of columns is several models, and a pattern ("p_*") one model with a column for each class. Of a label
        set the truth is a pattern too ("y_*"), a list of columns, or one column of lists or of text that `label_sep`
        divides; `long` names the columns of the row and of the label where a line is one pair of them.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"y": [0, 0, 1], "p": [0.2, 0.6, 0.9], "site": ["a", "b", "b"]})
        >>> Predictions.read(frame, true="y", score="p", by="site").tally()
        <Tally of 3 rows: scores, 2 groups by site>
        """
        named = [name for name, value in (("true", true), ("pred", pred), ("score", score)) if value is not None]
        if not named and (counted := saved_content(source)) is not None:
            made = cls.of(counted)
            options = {"pos_label": pos_label, "threshold": threshold, "by": by}
            return made.with_options(**{name: value for name, value in options.items() if value is not None})
        for use, name in (("weight", weight), ("frequency", frequency), ("cluster", cluster)):
            column_name(use, name)
        if exact is not None and score is None:
            raise InputError(
                "exact= keeps every score, or bins of them, and these rows have labels alone; leave it out."
            )
        rows = Given(
            _files(source), true, _named_models(true, pred, score), weight, frequency, cluster, by, bins, None,
            pos_label, labels, threshold, design, filter, label_sep, long, exact, is_frame=True,
        )  # fmt: skip
        return cls._of_given(rows)

    @classmethod
    def of(
        cls,
        data: Any = None,
        second: Any = None,
        /,
        *,
        first_is: Literal["y_true", "y_score"] = "y_true",
        second_is: Literal["y_pred", "y_score"] = "y_pred",
        **rows: Unpack[RowOptions],
    ) -> Predictions:
        """What a question was given, as Predictions; the first argument alone decides how it is read.

        A Predictions is itself, with other options where they are given. A table or an evaluation is counted rows. Text
        and paths are read. A frame, or a list of paths, is read where `true`, `pred` or `score` names its columns.
        Anything else is values, of which the second argument holds the predictions or the scores.

        >>> Predictions.of([0, 1, 1], [0, 1, 0]).rows
        3
        """
        stated: dict[str, Any] = {name: value for name, value in rows.items() if value is not None}
        if isinstance(data, Predictions):
            _refuse_second(second, "Predictions")
            asked = data.with_options(**stated) if stated else data
            return asked._called_with(stated)
        in_call = [*stated]
        if (counted := _counted_rows(data)) is not None:
            at = getattr(data, "threshold", None)
            if isinstance(at, float) and counted.confusion is None:
                stated.setdefault("threshold", at)
            made = cls._of_table(counted, second, stated)
            if isinstance(at, float) and made.given.threshold is None:
                made = cls._of_given(replace(made.given, cut_at=at))
        elif holds_rows(data, stated):
            made = cls._read(data, second, stated)
        else:
            made = cls._of_values(data, second, first_is, second_is, stated)
        return made._called_with(in_call)

    def _called_with(self, names: Iterable[str]) -> Predictions:
        """The same, asked by a call that gave some options itself."""
        return Predictions._of_given(replace(self.given, in_call=frozenset(names)), self._kept)

    def of_model(self, pred: Any, score: Any) -> Predictions:
        """The same rows with one model, of values."""
        return Predictions._of_given(replace(self.given, models={"": Model(pred, score)}))

    @classmethod
    def _of_table(cls, table: Any, second: Any, stated: dict[str, Any]) -> Predictions:
        given = "y_pred" if second is not None else next((n for n in (*_VALUES, *_NAMES) if n in stated), None)
        if given in ("y_true", "y_pred", "y_score"):
            raise InputTypeError("Give either a table or rows (y_true, y_pred or y_score=), not both.")
        about_rows = ("labels", "sample_weight", "weight", "frequency", "columns")
        if given is not None or any(name in stated for name in about_rows):
            raise InputError(
                "labels= and weights are about rows, and this is a table; give them when counting the rows."
            )
        if "by" in stated and not isinstance(table, Tally):
            raise InputTypeError("by= names the group of each row, so give the rows, or their tally, not a table.")
        if isinstance(table, ScoreTable) and stated.get("pos_label", table.label) != table.label:
            raise InputTypeError(
                f"A ScoreTable holds its rows already, scored for {table.label!r}; another pos_label= needs the rows."
            )
        return cls._of_given(Given(data=table, is_stated=_states_positive(table), **stated))

    @classmethod
    def _read(cls, data: Any, second: Any, stated: dict[str, Any]) -> Predictions:
        """The rows of a frame or of files whose columns are named."""
        named = next((name for name in ("true", "pred", "score", "long") if name in stated), None)
        if data is None:
            data = stated.pop("y_true", None)
            if data is None:
                raise InputTypeError(f"{named}= names a column of a frame or file; give that first.")
        _refuse_second(second, "A frame or file")
        given = next((name for name in _VALUES if name in stated), None)
        if given is not None:
            raise InputTypeError(
                f"{given} is for arrays, and {named or 'true'}= names a column of a frame; of a frame name the columns "
                "with pred=, score= and weight=."
            )
        return cls.read(data, **stated)

    @classmethod
    def _of_values(cls, data: Any, second: Any, first_is: str, second_is: str, stated: dict[str, Any]) -> Predictions:
        for name, value in ((first_is, data), (second_is, second)):
            if value is None:
                continue
            if name in stated:
                raise InputTypeError(f"{name} was given twice, by its place and by its name; give it once.")
            stated[name] = value
        if isinstance(stated.get("y_true"), Mapping):
            raise InputTypeError("y_true= is one value per row, not a mapping; give models by name beside it.")
        if isinstance(stated.get("y_true"), str) or isinstance(stated.get("y_pred"), str):
            word = stated["y_pred"] if isinstance(stated.get("y_pred"), str) else stated["y_true"]
            raise InputTypeError(f"{word!r} names a column of a frame; name columns by true=, and pred= or score=.")
        for name in ("weight", "label_sep", "exact"):
            if name in stated:
                raise InputTypeError(_NEEDS_FRAME[name])
        return cls(**stated)

    # ---------------------------------------------------------------- others like it

    def with_options(self, **options: Any) -> Predictions:
        """The same rows read or grouped in another way: by, bins, cluster, weights, labels, threshold and the like.

        >>> Predictions([0, 1, 1], y_score=[0.2, 0.4, 0.9]).with_options(threshold=0.4).confusion().rows.tolist()
        [[1, 0], [0, 2]]
        """
        known = {"weight": "sample_weight"} | {name: name for name in (*_READING, "sample_weight", "columns")}
        for name in options:
            if name not in known:
                if name in (*_VALUES, *_NAMES):
                    raise InputTypeError(
                        f"{name}= brings rows, and these Predictions have theirs; make others of them."
                    )
                raise InputTypeError(f"Predictions take no {name}=.{did_you_mean(name, known)}")
        changed = {known[name]: value for name, value in options.items()}
        if "design" in changed and changed["design"] is None:
            changed["design"] = "random"
        shared = self._kept if changed.keys() <= {*_UNCOUNTED} else None
        return Predictions._of_given(replace(self.given, **changed), shared)

    def at(self, threshold: float | Mapping[Any, float]) -> Predictions:
        """The same rows, predicted positive where the score reaches the threshold."""
        return self.with_options(threshold=threshold)

    def filter(self, condition: str) -> Predictions:
        """The rows for which a condition holds, such as "age >= 60 and site = B"."""
        both = condition if self.given.filter is None else f"{self.given.filter} and {condition}"
        return self.with_options(filter=both)

    __iter__ = None  # rows are asked about as a whole: a loop over them would fetch them one by one

    def __getitem__(self, models: str | Sequence[str]) -> Predictions:
        """One model by its name, or several by a list of names."""
        names = [models] if isinstance(models, str) else list(models)
        for name in names:
            if name not in self.given.models:
                there = first_ten([*self.given.models]) or "none"
                raise InputError(
                    f"There is no model {name!r}; there are {there}.{did_you_mean(name, self.given.models)}"
                )
        return Predictions._of_given(replace(self.given, models={name: self.given.models[name] for name in names}))

    def at_rows(self, rows: Array) -> Predictions:
        """The rows of a mask, of values."""
        return Predictions._of_given(_at(self.given, rows))

    # ---------------------------------------------------------------- facts

    @property
    def models(self) -> tuple[str, ...]:
        """The models by name; a single one of values is called ""."""
        return tuple(self.given.models)

    @property
    def has_truth(self) -> bool:
        """Whether the truth of the rows is there."""
        return self.given.is_table or (self.given.true if self.given.is_frame else self.given.data) is not None

    @property
    def has_scores(self) -> bool:
        """Whether a model gave scores."""
        data = self.given.data
        if self.given.is_table:
            table = data.scores if isinstance(data, (Tally, MultilabelTable)) else data
            return table is not None and (
                isinstance(data, MultilabelTable) or isinstance(table, (ScoreTable, ProbabilityTable))
            )
        return any(model.score is not None for model in self.given.models.values())

    @property
    def kind(self) -> str:
        """What the models gave: labels, scores, class scores, label sets; or counted, of a table."""
        if self.given.is_table:
            return "counted"
        if self.are_sets:
            return "label sets"
        model = next(iter(self.given.models.values()), Model())
        if model.score is None:
            return "labels"
        return "class scores" if self._is_of_classes(model) else "scores"

    def _is_of_classes(self, model: Model) -> bool:
        if self.given.is_frame:
            return isinstance(model.score, Mapping) or (
                names_class_columns(model.score) and not self._is_there(model.score)
            )
        return np.ndim(model.score) == 2 and np.shape(model.score)[1] > 1

    def _is_there(self, name: Any) -> bool:
        """Whether a name with a star, which would be a pattern, is that of a column, or of one that was counted."""
        return isinstance(name, str) and "*" in name and not {name, COUNT_COLUMN}.isdisjoint(self.columns)

    @property
    def rows(self) -> int:
        """How many rows there are, counted where they live."""
        given = self.given
        if given.is_table:
            return _rows_of_table(given.data)
        if given.is_frame:
            from steelyard.frames.queries import count_rows

            return int(self._keep("rows", lambda: self._in_frame(count_rows)))
        first = next(each for each in (given.data, *(v for m in given.models.values() for v in m)) if each is not None)
        return int(np.shape(first)[0]) if hasattr(first, "shape") else len(first)

    @property
    def design(self) -> Any:
        """How the rows came: "random", "stratified", or the plan by which they were chosen to be labelled."""
        design = self.given.design
        if isinstance(design, (str, PathLike)) and Path(design).is_file():
            return self._keep("design", lambda: import_module("steelyard").load(design))
        return design

    @property
    def threshold(self) -> Any:
        """The score from which a row is predicted positive; None where none was given."""
        return self.given.threshold

    @property
    def by(self) -> tuple[str, ...]:
        """The columns by which rows are grouped."""
        by = self.given.by
        if by is None:
            return ()
        return tuple([by] if isinstance(by, str) else by) if self.given.is_frame else tuple(group_columns(by))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that questions may name."""
        if self.given.is_frame:
            return tuple(self._keep("schema", lambda: self._in_frame(lambda s: list(s.parts[0].collect_schema()))))
        return () if self.given.columns is None else tuple(map(str, _column_names(self.given.columns)))

    @property
    def labels(self) -> Labels:
        """The classes, in order."""
        if self.given.is_table or self.are_sets:
            return tuple(getattr(self._table_of_labels(), "labels", ()))
        if self.given.labels is not None:
            return tuple(self.given.labels)
        return tuple(self._keep("labels", lambda: occurring_labels(self.collect().given.data)))

    @property
    def positive(self) -> Label:
        """The positive class, named, clear or by convention; None where there is none, as of many classes."""
        return self._positive_class()[0]

    def _positive_class(self) -> tuple[Label, tuple[str, ...]]:
        first = self[self.models[0]] if len(self.models) > 1 else self
        return first.counted().positive_class(first.given.pos_label, is_stated=first.given.is_stated)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What was taken for granted in reading the rows."""
        return () if not self.has_truth or self.are_sets else self._positive_class()[1]

    @property
    def source(self) -> str:
        """Where the rows come from: the files, or what holds them."""
        if isinstance(self.given.data, Files):
            names = [Path(name).name if name != "-" else "the standard input" for name in self.given.data.names]
            return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        return "a table" if self.given.is_table else "a frame" if self.given.is_frame else "arrays"

    def each_file(self) -> dict[str, Predictions]:
        """The rows of each file by its name without its ending, or by its whole name where two have one; else none."""
        from steelyard.files.folders import expand_names

        if not isinstance(self.given.data, Files):
            return {}
        names = expand_names(self.given.data.names)
        short = [Path(name).name.partition(".")[0] or name for name in names]
        titles = names if len({*short}) < len(names) else short
        parts = [Predictions._of_given(replace(self.given, data=Files([name]))) for name in names]
        return dict(zip(titles, parts, strict=True))

    @property
    def engine(self) -> str:
        """What holds the rows: "numpy", "torch cuda:0", "polars", "duckdb" and the like."""
        given = self.given
        if given.is_frame:
            return str(self._in_frame(lambda source: source.parts[0].implementation.value))
        first = next((v for v in (given.data, *(v for m in given.models.values() for v in m)) if v is not None), None)
        library = type(first).__module__.partition(".")[0]
        device = str(getattr(first, "device", ""))
        return f"{library} {device}" if library in ("torch", "jax", "cupy") else "numpy"

    # ---------------------------------------------------------------- reading

    @contextmanager
    def frame(self) -> Iterator[Source]:
        """The frame or the files, open, with the rows of the filter alone."""
        data = self.given.data
        if isinstance(data, Files):
            with data.opened() as source:
                yield self._filtered(source)
        else:
            yield self._filtered(Source.of(data, counts=True))

    def _filtered(self, source: Source) -> Source:
        if self.given.filter is None:
            return source
        from steelyard.frames.rows import filtered

        return filtered(source, self.given.filter)

    def _in_frame(self, ask: Any) -> Any:
        with self.frame() as source:
            return ask(source)

    def by_highest(self) -> Predictions:
        """The same rows, of which the class with the highest score is the prediction where all classes have scores."""
        if self.kind != "class scores" or (values := self.on_host().collect()).kind != "class scores":
            return self
        table, model = values.probability_table(), values.given.model
        highest = checks.column(list(table.labels), "labels")[table.most_probable]
        return values.of_model(highest if model.pred is None else model.pred, None)

    def _keep(self, key: Any, make: Any) -> Any:
        """What was made once, or is made now and kept; threads that meet here make it twice and keep the first."""
        if key not in self._kept:
            made = make()
            self._kept.setdefault(key, made)
        return self._kept[key]

    @property
    def are_sets(self) -> bool:
        """Whether each row may have several labels."""
        return bool(self._keep("are_sets", self._hold_sets))

    def _hold_sets(self) -> bool:
        given = self.given
        if given.is_table:
            return isinstance(given.data, MultilabelTable)
        if given.is_frame:
            if given.long is not None or given.label_sep is not None:
                return True
            if self._is_there(given.true):
                return False
            from steelyard.frames.label_sets import names_label_sets

            return given.true is not None and bool(
                self._in_frame(lambda s: names_label_sets(s, FrameColumns(given.true)))
            )
        return bool(given.models) and given.data is not None and are_label_sets(given.data)

    @property
    def needs_rows(self) -> bool:
        """Whether a frame cannot be counted where it lives: scores of each class, or scores or weights in clusters."""
        given = self.given
        if not given.is_frame:
            return False
        scores = [model.score for model in given.models.values() if model.score is not None]
        in_clusters = given.cluster is not None and (bool(scores) or given.sample_weight is not None)
        return in_clusters or any(map(self._is_of_classes, given.models.values()))

    def on_host(self) -> Predictions:
        """The same rows as values where a frame cannot be counted where it lives, else as they are."""
        return self.collect() if self.needs_rows else self

    def collect(self, *columns: str) -> Predictions:
        """The named columns of the rows, fetched once, as values; with others that a question names.

        Beside arrays the names of `columns=` are replaced by their values, and the filter and the bins are applied.
        """
        if self.given.is_table:
            return self
        collected: Predictions = self._keep(("collect", columns), lambda: self.every_class(*columns)._of_one_class())
        return collected._asked_as(self.given)

    def every_class(self, *columns: str) -> Predictions:
        """The same as `collect`, with a column of scores for each class where one of two, or one named, is meant."""
        if self.given.is_table:
            return self
        collected: Predictions = self._keep(
            ("every class", columns), lambda: self._fetched(columns) if self.given.is_frame else self._values()
        )
        return collected._asked_as(self.given)

    def _asked_as(self, given: Given) -> Predictions:
        """The same rows, kept from another question, with the threshold, the design and the call of this one."""
        if self.given is given:
            return self
        asked = {"threshold": given.threshold, "design": given.design, "in_call": given.in_call}
        return Predictions._of_given(replace(self.given, **asked), self._kept)

    def _of_one_class(self) -> Predictions:
        given = self.given
        if given.data is None or self.are_sets or not any(map(self._is_of_classes, given.models.values())):
            return self
        models = {}
        for name, model in given.models.items():
            try:
                models[name] = _one_class(given, model)
            except InputError as problem:
                raise InputError(f"The model {name!r}: {problem}") if name else problem from None
        return Predictions._of_given(replace(given, models=models))

    def column(self, name: str) -> Any:
        """The values of a column that a question names, of the rows as values."""
        named = _columns_by_name(self.given.columns)
        if name not in named:
            there = first_ten([*named]) or "none"
            raise InputError(f"There is no column {name!r}; there are {there}.{did_you_mean(name, named)}")
        return named[name]

    def _fetched(self, columns: Sequence[str]) -> Predictions:
        from steelyard.frames.rows import check_row_number, fetch_rows

        given = self.given
        if self.are_sets:
            return Predictions._of_given(self._label_sets(columns))
        preds = [model.pred for model in given.models.values() if model.pred is not None]
        with self.binned_frame() as (source, by):
            named = {name: _score_columns(source, model.score) for name, model in given.models.items()}
            if self.needs_rows:
                check_row_number(source, *_NEEDS_ROWS)
            fetched = fetch_rows(
                source,
                true=given.true,
                pred=preds,
                score=list(dict.fromkeys(column for each in named.values() for column in each.values())),
                weight=given.sample_weight,
                frequency=column_name("frequency", given.frequency),
                cluster=column_name("cluster", given.cluster),
                by=by,
                others=columns,
                labels=declared_labels(given.labels),
            )
        pos_label, classes = given.pos_label, declared_labels(given.labels)
        if fetched.truth is not None:
            labels = label_codes.distinct(fetched.truth, f"The column {given.true!r}")[1]
            pos_label = match_label(pos_label, labels)
            classes = classes or labels
        models = {
            name: Model(
                None if model.pred is None else fetched.predicted[model.pred],
                _scores_of(fetched.scores, named[name], classes, model.score),
            )
            for name, model in given.models.items()
        }
        values = replace(
            given,
            data=fetched.truth,
            true=None,
            models=models,
            sample_weight=fetched.weights,
            frequency=fetched.frequency,
            cluster=fetched.clusters,
            by=fetched.by or None,
            bins=None,
            columns=fetched.others or None,
            pos_label=pos_label,
            filter=None,
            exact=None,
            is_frame=False,
        )
        first = next(
            c
            for c in (fetched.truth, *fetched.scores.values(), *fetched.predicted.values(), fetched.weights)
            if c is not None
        )
        self._check_unchanged(len(first))
        return Predictions._of_given(values)._values()

    def _check_unchanged(self, rows: int) -> None:
        """Refuse rows that are more or fewer than those that were counted."""
        counted = self._kept.setdefault("rows", rows)
        if counted != rows:
            raise InputError(
                f"{self.source} had {counted:,} rows when it was counted and has {rows:,} now: it changed; read it "
                "again."
            )

    @contextmanager
    def binned_frame(self) -> Iterator[tuple[Source, tuple[str, ...]]]:
        """The frame with bins in the place of the numbers of groups, and the columns of the groups."""
        given = self.given
        with self.frame() as source:
            uses = {**given.names._asdict()} if len(given.models) < 2 else {}
            binned, by = binned_groups(
                source, given.by, given.bins, frame=True, **uses, frequency=given.frequency, cluster=given.cluster
            )
            yield binned, named_columns("by", by)  # type: ignore[arg-type]  # refused there where it is a column

    def _values(self) -> Predictions:
        """Values with the names of `columns=` replaced by theirs, groups in bins, and the rows of the filter alone."""
        given = self.given
        named = _columns_by_name(given.columns)
        beside = {"cluster": given.cluster, "frequency": given.frequency}
        changed: dict[str, Any] = {
            use: named[name] for use, name in beside.items() if isinstance(name, str) and name in named
        }
        if given.by is not None:
            by = given.by
            names = [by] if isinstance(by, str) else by
            if isinstance(names, (list, tuple)) and all(isinstance(name, str) and name in named for name in names):
                by = {name: named[name] for name in names}
            changed["by"] = binned_groups(None, by, given.bins, frame=False)[1]
        elif given.bins is not None:
            binned_groups(None, None, given.bins, frame=False)
        values = replace(given, **changed, bins=None) if changed or given.bins is not None else given
        if given.filter is not None:
            from steelyard.frames.rows import kept_rows

            values = _at(replace(values, filter=None), kept_rows(named, given.filter))
        return self if values is given else Predictions._of_given(values)

    def _label_sets(self, columns: Sequence[str]) -> Given:
        """The table of the label sets of a frame, with the columns beside it."""
        from steelyard.frames.label_sets import label_frame, long_table

        given = self.given
        if given.labels is not None:
            raise InputError("labels= is for arrays; of a frame the columns that are named are the labels.")
        kept = Given(pos_label=given.pos_label, threshold=given.threshold, design=given.design, in_call=given.in_call)
        with self.binned_frame() as (source, by):
            if given.long is not None:
                rows = {"weight": given.sample_weight, "frequency": given.frequency, "cluster": given.cluster}
                for name, value in {**rows, "by": given.by, "label_sep": given.label_sep}.items():
                    if value is not None:
                        raise InputError(
                            f"{name}= has no place where a row has several lines; give a column for each label."
                        )
                return replace(kept, data=long_table(source, None, given.names, *given.long))
            frequency, cluster = (column_name(use, getattr(given, use)) for use in ("frequency", "cluster"))
            beside: dict[str, Any] = {"by": by, "cluster": cluster, "label_sep": given.label_sep, "others": columns}
            table, fetched = label_frame(source, given.names, frequency, **beside)
        others = {name: fetched.others[name] for name in columns} or None
        return replace(kept, data=table, by=fetched.by or None, cluster=fetched.clusters, columns=others)

    # ---------------------------------------------------------------- tables

    def counted(self) -> CountedRows:
        """The table of labels, that of scores, the threshold between them, and what was assumed; both classes occur."""
        self.given.check_one_model()
        return self._keep(("counted", str(self.given.threshold)), self._counted)  # type: ignore[no-any-return]  # kept as anything

    def _counted(self) -> CountedRows:
        given = self.given
        if isinstance(given.data, ScoreTable):
            return thresholded(given.data, given.threshold, None)
        if isinstance(given.data, (Counts, Confusion)):
            if given.threshold is not None:
                raise InputError("A confusion matrix holds predicted labels; a threshold= needs scores.")
            is_odd = isinstance(given.data, Counts) and given.data.positives > 4 * given.data.negatives
            return CountedRows(as_confusion(given.data, given.pos_label), assumed=(MOST_POSITIVE,) if is_odd else ())
        if given.is_table or given.is_frame or given.by is not None:
            return self._of_tally(self.tally())
        if given.y_pred is not None and given.threshold is not None:
            raise InputError(TWO_THRESHOLDS)
        scores = None if given.y_score is None else self.score_table()
        if scores is not None:
            check_both_classes(scores)
        if given.y_pred is not None:
            table = self.confusion()
            check_classes(table)
            return CountedRows(table, scores)
        if scores is None and hasattr(given.data, "columns"):
            raise InputTypeError(_ALONE)
        if scores is None:
            raise InputTypeError(_NOTHING)
        labels = occurring_labels(self.collect().given.data)
        return thresholded(scores, given.threshold, negative_label(labels, scores))._replace(labels=labels)

    def _of_tally(self, data: Tally) -> CountedRows:
        given, scores, table = self.given, data.scores, data.confusion
        if scores is not None:
            check_both_classes(scores)
        if table is None:
            if scores is None:
                raise InputError("This table holds two models side by side; compare it instead.")
            inputs = thresholded(scores, given.threshold, negative_label(data.labels, scores))
            return inputs._replace(labels=data.labels)
        if given.threshold is not None:
            raise InputError(TWO_THRESHOLDS)
        if given.is_table and given.pos_label is not None:
            table = table.with_positive(match_label(given.pos_label, table.labels))
        check_classes(table)
        return CountedRows(table, scores, None)

    def tally(self, cost: str | Sequence[str] | None = None) -> Tally:
        """The tables of the rows and of each group: of labels, of scores, or of both; counted where the rows live.

        `cost` names columns of what errors cost, whose sums at each score are counted too.
        """
        names = named_columns("cost", cost)
        if not names:
            kept: Tally = self._keep("tally", self._tally)
            if kept.scores is not None and self.given.is_frame and _divides_a_bin(kept.scores, self.given.threshold):
                kept = self._keep(("tally", self.given.threshold), self._tally)
            return kept
        if self.given.is_frame and not self.needs_rows:
            return self.frame_tally(cost=names)
        return replace(self.tally(), costs=self.framed(*names)[0].frame_tally(cost=names).costs)

    def _tally(self) -> Tally:
        rows = self.by_highest()
        given = rows.on_host().collect().given if rows.needs_rows or not rows.given.is_frame else rows.given
        if given.is_table:
            return _as_tally(given.data)
        if len(given.models) != 2 or any(
            model.pred is None or model.score is not None for model in given.models.values()
        ):
            given.check_one_model()
        if not given.is_frame and len(given.models) == 2:
            return self._paired_tally()
        if not given.is_frame:
            options = {"pos_label": given.pos_label, "labels": given.labels, **given.weights}
            by = {} if given.by is None else given.by
            return grouped_tally(given.data, given.y_pred, given.y_score, by, **options)
        return self.frame_tally()

    def _paired_tally(self) -> Tally:
        """The tables of two models side by side, of values."""
        given, whole = self.collect().given, self.paired()
        columns = {} if given.by is None else group_columns(given.by)
        rows = Predictions._of_given(replace(given, by=None, labels=whole.labels))
        groups = {}
        for key, places in (group_places(columns) if columns else {}).items():
            mask = np.zeros(self.rows, dtype=bool)
            mask[places] = True
            groups[key] = Tally(paired=Predictions._of_given(_at(rows.given, mask)).paired())
        groups.pop((), None)
        return Tally(paired=whole, labels=whole.labels, by=tuple(columns), groups=groups, models=self.models)

    def frame_tally(self, *, cost: Sequence[str] = (), **changed: Any) -> Tally:
        """The frame counted where it lives, with the scores by columns of costs; options of counting may be changed."""
        from steelyard.frames.tally import tally

        given = self.given
        preds, scores = ([model[i] for model in given.models.values() if model[i] is not None] for i in (0, 1))
        if given.true is None:
            named = "score" if scores else "pred"
            raise InputTypeError(f"{named}= names a column of a frame; name that of the truth too, with true=.")
        options: dict[str, Any] = {
            "pos_label": given.pos_label,
            "labels": given.labels,
            "threshold": given.threshold,
            "exact": given.exact,
            "weight": given.sample_weight,
            "frequency": column_name("frequency", given.frequency),
            **changed,
        }
        with self.binned_frame() as (source, by):
            return tally(
                source,
                true=given.true,
                pred=preds or None,
                score=scores[0] if scores else None,
                by=by or None,
                cost=[*cost] or None,
                **options,
            )

    def confusion(self) -> Confusion:
        """The confusion matrix: of labels as they are, of scores at the threshold.

        >>> Predictions(["no", "yes"], ["yes", "yes"]).confusion().rows.tolist()
        [[0, 1], [0, 1]]
        """
        given = self.given
        given.check_one_model()
        if isinstance(given.data, (Counts, Confusion)):
            return as_confusion(given.data, given.pos_label)
        if (highest := self.by_highest()) is not self:
            return highest.confusion()
        if not given.is_table and all(each is None for each in given.model):
            raise InputTypeError(_NOTHING)
        if not given.is_frame and not given.is_table and given.y_pred is not None:
            values = self.collect().given
            return confusion(
                values.data, values.y_pred, labels=given.labels, pos_label=given.pos_label, **values.weights
            )
        if not given.is_table and not given.is_frame:
            scores, labels = self.score_table(), self.labels
        else:
            tally = self.tally()
            if tally.confusion is not None:
                return tally.confusion
            scores, labels = self.score_table(), tally.labels
        table = thresholded(scores, given.threshold, negative_label(labels, scores)).table
        if table is None:
            raise InputError("The scores are no probabilities, so that no threshold is assumed; give threshold=.")
        return table

    def score_table(self) -> ScoreTable:
        """The ordered scores of each class.

        >>> Predictions([0, 1, 1], y_score=[0.2, 0.9, 0.4]).score_table()
        <ScoreTable of 3 rows, 2 of them 1>
        """
        given, model = self.given, self.given.model
        if isinstance(given.data, ScoreTable):
            return given.data
        if not given.is_table and model.pred is None and model.score is None:
            raise InputTypeError(_ALONE if hasattr(given.data, "columns") else _NOTHING)
        if not given.is_table and not given.is_frame and model.score is not None:
            return self._keep("scores", self._score_table)  # type: ignore[no-any-return]  # kept as anything
        scores = None if given.is_frame and model.score is None else self.tally().scores
        if scores is None:
            if given.is_table:
                raise InputTypeError("This tally has no scores; count them with score=.")
            raise InputTypeError("These rows have labels and no scores; give y_score=, or of a frame score=.")
        return scores

    def scores_of_both(self) -> ScoreTable:
        """The ordered scores, refused where the truth holds one class alone."""
        table = self.score_table()
        check_both_classes(table)
        return table

    def _score_table(self) -> ScoreTable:
        values = self.collect().given
        checks.check_one_column(values.y_score)
        pos_label = CONVENTION if values.pos_label is None else values.pos_label
        return score_table(values.data, values.y_score, pos_label=pos_label, labels=values.labels, **values.weights)

    def probability_table(self, *, to_host: bool = True) -> ProbabilityTable:
        """The scores of all classes, a column for each, row by row."""
        return self._keep(("probabilities", to_host), lambda: self._probability_table(to_host))  # type: ignore[no-any-return]  # kept as anything

    def _probability_table(self, to_host: bool) -> ProbabilityTable:
        given = self.every_class().given
        if isinstance(given.data, ProbabilityTable):
            return given.data
        count = probability_table if to_host else counted_where_they_are
        return count(given.data, given.y_score, labels=given.labels, **given.weights)

    def multilabel_table(self, *, to_host: bool = True) -> MultilabelTable:
        """The labels of each row and those predicted or their scores, where rows may have several."""
        return self._keep(("label sets", to_host), lambda: self._multilabel_table(to_host))  # type: ignore[no-any-return]  # kept as anything

    def _multilabel_table(self, to_host: bool) -> MultilabelTable:
        from steelyard.tables.label_sets import label_set_table, label_sets_where_they_are

        given = self.given
        if isinstance(given.data, MultilabelTable):
            return given.data.on_host() if to_host else given.data
        if given.is_frame and not self.are_sets:
            return self._label_sets(()).data  # type: ignore[no-any-return]  # it says what is missing
        if given.is_frame:
            return self.collect().multilabel_table(to_host=to_host)
        values = self.collect().given
        count = label_set_table if to_host else label_sets_where_they_are
        table = count(values.data, values.y_pred, y_score=values.y_score, labels=values.labels, **values.weights)
        return table.on_host() if to_host else table

    def paired(self) -> Paired:
        """Two models side by side, by their labels."""
        given = self.given
        if isinstance(given.data, Paired):
            return given.data
        if len(given.models) != 2:
            raise InputError(f"A paired table is of two models, and these rows have {len(given.models)}; take two.")
        if given.is_frame:
            return self.tally().paired  # type: ignore[return-value]  # two columns of labels
        values = self.collect().given
        a, b = (model.pred for model in values.models.values())
        return paired(values.data, a, b, labels=values.labels, pos_label=values.pos_label, **values.weights)

    def _table_of_labels(self) -> Any:
        return self.multilabel_table() if self.are_sets else self.tally()

    def framed(self, *columns: str) -> tuple[Predictions, tuple[str, ...]]:
        """The same rows as those of a frame: of values one of Polars, with the named ones of `columns=`.

        Of scores of all classes the highest is the prediction, and its score that of the row; it is stated beside them.
        """
        stated: tuple[str, ...] = ()
        if self.given.is_frame and not self.needs_rows:
            return self, stated
        import polars as pl

        values = self.collect(*columns) if self.given.is_frame else self.collect()
        given, model = values.given, values.given.model
        there = _columns_by_name(given.columns)
        if lacking := next((name for name in columns if name not in there), None):
            gives = "columns={...} gives columns beside arrays" if not there else f"there are {first_ten([*there])}"
            raise InputError(f"There is no column {lacking!r}; {gives}.{did_you_mean(lacking, there)}")
        if values.kind == "class scores":
            stated = (HIGHEST_TAKEN,) if model.pred is None else ()
            model = Model(values.by_highest().given.model.pred, values.probability_table().probabilities.max(1))
        named = {"y_true": given.data, "y_pred": model.pred, "y_score": model.score, **given.weights}
        check_order(**named)
        series = {name: checks.column(values, name) for name, values in named.items() if values is not None}
        if model.score is not None:
            checks.check_one_column(model.score)
            score = series["y_score"]
            series["y_score"] = checks.finite_scores(score).astype(checks.precision_of(score))
        own = {name: f"{name} of the row" if name in columns else name for name in series}
        series = {own[name]: values for name, values in series.items()}
        series |= {name: checks.column(there[name], f"columns[{name!r}]") for name in columns}
        checks.check_lengths(**series)
        listed = {name: each.tolist() if each.dtype.kind in "OUS" else each for name, each in series.items()}
        framed = replace(
            given,
            data=pl.DataFrame(listed, strict=False),
            true=own["y_true"],
            models={"": Model(own.get("y_pred"), own.get("y_score"))},
            sample_weight=own.get("sample_weight"),
            frequency=own.get("frequency"),
            by=None,
            cluster=None,
            columns=None,
            is_frame=True,
        )
        return Predictions._of_given(framed), stated

    def to_frame(self) -> Any:
        """The rows that were named, or the tables, as a frame of Polars."""
        import polars as pl

        values = self.collect().given
        if values.is_table:
            raise InputTypeError("These rows are counted; give the rows, or the table's own to_dict().")
        columns = {"y_true": values.data}
        for name, model in values.models.items():
            for use, column in (("pred", model.pred), ("score", model.score)):
                columns[f"{use}_{name}" if name else f"y_{use}"] = column
        columns |= {**values.weights, "cluster": values.cluster, **(values.by or {}), **(values.columns or {})}
        return pl.DataFrame({name: np.asarray(column) for name, column in columns.items() if column is not None})

    # ---------------------------------------------------------------- questions, pickles, print

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(f"Predictions have no {name!r}.{did_you_mean(name, METHODS)}")
        ask, place = getattr(import_module("steelyard"), name), METHODS[name]

        def question(*arguments: Any, **options: Any) -> Any:
            return ask(*arguments[:place], self, *arguments[place:], **options)

        question.__name__, question.__doc__ = name, ask.__doc__
        return question

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *METHODS})

    def __getstate__(self) -> Given:
        data = self.given.data
        if self.given.is_frame and not isinstance(data, Files) and not Source.of(data, counts=True).in_memory:
            raise InputTypeError(f"These rows live in {self.engine}, which does not travel; collect() first.")
        return self.given

    def __setstate__(self, given: Given) -> None:
        self._begin(given)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"

    def __repr__(self) -> str:
        lines = [self._first_line()]
        for head, describe in _LINES.items():
            try:
                text = describe(self)
            except (SteelyardError, OSError) as problem:
                text = f"not read: {problem}"
            if text:
                lines.append(f"  {head:<9}{text}")
        return "\n".join(lines)

    def _first_line(self) -> str:
        where = "" if self.source == "arrays" else f" in {self.source}"
        try:
            engine = f" ({_ENGINES.get(self.engine, self.engine)})" if self.given.is_frame else ""
            rows = "rows" if self._is_remote else f"{self.rows:,} rows"
        except (SteelyardError, OSError, ValueError, TypeError):
            engine, rows = "", "rows"
        return f"Predictions of {rows}{where}{engine}"

    @property
    def _is_remote(self) -> bool:
        """Whether a look at the rows would cost a query of another machine or engine."""
        if not self.given.is_frame or isinstance(self.given.data, Files):
            return False
        return not Source.of(self.given.data, counts=True).in_memory


# ---------------------------------------------------------------- questions

question = names_wrong_arguments(keywords=RowOptions)  # what a public question of rows wears


def holds_rows(data: Any, rows: Mapping[str, Any]) -> bool:
    """Whether the first argument of a question holds its rows alone, so that a second one is the question's own."""
    is_counted = isinstance(data, TABLES) or hasattr(type(data), "counted_rows")
    is_path = isinstance(data, (str, PathLike)) or _are_paths(data)
    is_named = any(rows.get(name) is not None for name in ("true", "pred", "score", "long"))
    return isinstance(data, Predictions) or is_counted or is_path or is_named


def rows_and_metric(data: Any, second: Any, metric: Any, rows: Mapping[str, Any]) -> tuple[Any, Any]:
    """The second argument of the rows, and the metric, which may stand after the rows: (p, "f1") and (y, s, "f1")."""
    if second is None or not holds_rows(data, rows):
        return second, metric
    if metric is not None:
        raise InputTypeError("metric was given twice, by its place and by its name; give it once.")
    return None, second


def refuse_unused(p: Predictions, who: str, *uses: str) -> None:
    """Refuse what a question cannot use of its rows, where that would change its numbers or was asked for in the call.

    Weights, frequencies, clusters and a design change numbers, whether they were given in the call or carried; groups,
    a threshold and columns do not, and are ignored where they are carried.
    """
    given = p.given
    there = {
        "weights": given.sample_weight is not None,
        "frequency": given.frequency is not None,
        "cluster": given.cluster is not None,
        "design": not (isinstance(given.design, str) and given.design == "random"),
        **{name: getattr(given, name) is not None and name in given.in_call for name in ("by", "threshold", "columns")},
    }
    for use in uses:
        if there[use]:
            keyword = ("weight" if given.is_frame else "sample_weight") if use == "weights" else use
            out = "" if keyword in given.in_call else f", or leave it out by predictions.with_options({keyword}=None)"
            raise InputTypeError(f"{keyword}= has no place in {who}: {_UNUSED[use]}{out}.")


def refuse_bins(p: Predictions, who: str) -> None:
    """Refuse bins= without groups that it divides, where a question has bins of its own."""
    if p.given.bins is not None and p.given.by is None:
        raise InputTypeError(f"{who} takes n_bins= in place of bins=; bins= divides a column of by=.")


def check_rows(p: Predictions, who: str) -> None:
    """Refuse rows that are counted already, that may have several labels each, or without a truth or a model."""
    if p.given.is_table:
        raise InputError(f"These rows are counted, and {who} reads them one by one; give the rows.")
    if p.are_sets:
        raise InputError(
            f"{who} takes one label for each row, and these rows may have several; give the columns of one label."
        )
    if not p.has_truth:
        raise InputTypeError(f"These rows have no truth, which {who} needs; give y_true, or of a frame true=.")
    if p.given.model.pred is not None and p.given.threshold is not None:
        raise InputError(TWO_THRESHOLDS)
    if all(each is None for each in p.given.model):
        raise InputTypeError(
            f"{who} needs labels or scores beside the truth: y_pred= or y_score=, of a frame pred= or score=."
        )


_UNUSED = {
    "weights": "it counts rows, each once; give the rows without weights",
    "frequency": "it counts rows, each once; repeat the rows",
    "cluster": "it takes the rows as independent; evaluate, compare and interval allow for clusters",
    "design": "it takes the rows as drawn at random; evaluate and interval allow for a design",
    "by": "it gives one result; evaluate takes by=, or give it the rows of one group",
    "threshold": "it reads the scores themselves; leave it out",
    "columns": "it reads no other columns; leave them out",
}

# ---------------------------------------------------------------- what is printed

_ENGINES = {"polars": "Polars", "pandas": "pandas", "pyarrow": "PyArrow", "duckdb": "DuckDB", "pyspark": "Spark"}


def _truth_line(p: Predictions) -> str:
    given, name = p.given, "" if p.given.true is None or not isinstance(p.given.true, str) else f"{p.given.true}: "
    if not p.has_truth:
        return "none: rows without labels"
    if p._is_remote:
        return str(given.true)
    if p.are_sets:
        return f"{name}{len(p.labels):,} labels, several a row"
    if given.is_table:
        return repr(given.data).splitlines()[0]
    truth = p.collect().given.data
    codes, labels = label_codes.encode(checks.column(truth, "y_true"))
    counts = np.bincount(codes, minlength=len(labels))
    total = int(counts.sum())
    order = np.argsort(counts, kind="stable")
    shown = [f"{counts[i]:,} are {labels[i]!r}" for i in order[:6]]
    if len(labels) == 2:
        shown[0] += f" ({100 * counts[order[0]] / total:.3g} %)"
    more = f" and {len(labels) - 6} more classes" if len(labels) > 6 else ""
    try:
        positive = f"; the positive class is {p.positive!r}" if len(labels) == 2 else ""
    except SteelyardError:
        positive = "; which class is positive is not clear: pos_label="
    return f"{name}{', '.join(shown)}{more}{positive}"


def _models_line(p: Predictions) -> str:
    given = p.given
    if given.is_table or not given.models:
        return ""
    names = ", ".join(filter(None, p.models))
    if p._is_remote:
        return f"{names}: {'scores' if p.has_scores else 'labels'}"
    kind = p.kind
    if kind == "scores" and p.has_truth:
        first = p[p.models[0]]
        probable = first.score_table().has_probabilities
        kind = "probabilities" if probable else "scores"
        if given.threshold is None:
            kind += "; threshold 0.5 (assumed)" if probable else "; ranked only, without a threshold"
    if given.threshold is not None:
        kind += f"; threshold {given.threshold}"
    return f"{names}: {kind}" if names else kind


def _design_line(p: Predictions) -> str:
    given = p.given
    parts = [given.design if isinstance(given.design, str) else "by a label plan"]
    if given.cluster is not None:
        name = given.cluster if isinstance(given.cluster, str) else getattr(given.cluster, "name", None)
        if p._is_remote or given.is_table:
            parts.append(f"clusters by {name}")
        else:
            clusters = len(np.unique(checks.column(p.collect().given.cluster, "cluster").astype(str)))
            parts.append(f"{clusters:,} clusters{f' by {name}' if name else ''}")
    for use, value in (("weights", given.sample_weight), ("frequencies", given.frequency)):
        if value is not None:
            parts.append(f"{use}{f' by {value}' if isinstance(value, str) else ''}")
    if given.filter is not None:
        parts.append(f"where {given.filter}")
    return "; ".join(parts)


def _groups_line(p: Predictions) -> str:
    if not p.by:
        return ""
    if p._is_remote or p.given.is_table:
        return ", ".join(p.by)
    columns = group_columns(p.collect().given.by)
    return ", ".join(f"{name}: {len(set(column.tolist())):,}" for name, column in columns.items())


def _columns_line(p: Predictions) -> str:
    given = p.given
    named = [given.true, given.sample_weight, given.frequency, given.cluster, *p.by]
    named += [name for model in given.models.values() for name in model]
    used = {name for name in named if isinstance(name, str)} if given.is_frame else set()
    names = [name for name in p.columns if name not in used]
    return f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"


_LINES = {
    "truth": _truth_line,
    "models": _models_line,
    "design": _design_line,
    "groups": _groups_line,
    "columns": _columns_line,
}

# ---------------------------------------------------------------- what was given

_NOTHING = "There is nothing to ask about: give y_pred (labels) or y_score= (scores) beside y_true."
_NEEDS_FRAME = {
    "weight": "weight= names a column of a frame; name that of the truth too, with true=; beside arrays give "
    "sample_weight=.",
    "label_sep": "label_sep= divides a column of a frame; name that of the truth too, with true=.",
    "exact": "exact= is about the scores of a frame; name its columns with true= and score=.",
}


def _value_models(y_pred: Any, y_score: Any) -> dict[str, Model]:
    """The models of values: those of a mapping by name, or a single one, called ""."""
    for name, values in (("y_pred", y_pred), ("y_score", y_score)):
        if isinstance(values, Mapping) and not values:
            raise InputError(f"{name}={{}} names no model; give those of one or more, {{'model': {name}}}.")
    preds, scores = map(_by_model, (y_pred, y_score))
    if preds and scores and {*preds} != {*scores}:
        raise InputError("y_pred= and y_score= name other models; name the same ones in both.")
    names = {str(name): name for name in (*preds, *scores)}
    if len(names) < len({*preds, *scores}):
        raise InputError("Two models have one and the same name once written as text; give each its own.")
    return {text: Model(preds.get(name), scores.get(name)) for text, name in names.items()}


def _by_model(values: Any) -> Mapping[Any, Any]:
    if values is None:
        return {}
    return values if isinstance(values, Mapping) else {"": values}


def _named_models(true: Any, pred: Any, score: Any) -> dict[str, Model]:
    """The models of a frame: a list is one column each, a mapping names them, a pattern is the classes of one.

    Where the truth is a list, each column of it is a label, and so is each of the predictions.
    """
    if isinstance(true, (list, tuple)) and not isinstance(pred, Mapping) and not isinstance(score, Mapping):
        return {"": Model(pred, score)} if pred is not None or score is not None else {}

    def listed(use: str, names: Any) -> dict[str, Any]:
        if names is None:
            return {}
        if isinstance(names, Mapping):
            return {str(name): column for name, column in names.items()}
        if isinstance(names, (list, tuple)):
            if twice := next((name for i, name in enumerate(names) if name in names[:i]), None):
                raise InputError(f"{use}= names the column {twice!r} twice; name each column once.")
            return {str(name): name for name in names}
        check_name(use, names)
        return {"": names}

    preds, scores = listed("pred", pred), listed("score", score)
    if len(preds) == len(scores) == 1:
        name = next(iter(scores))
        return {name: Model(*preds.values(), *scores.values())}
    if preds and scores and {*preds} != {*scores}:
        raise InputError("pred= and score= name other models; name them alike, such as {'a': 'column'} in both.")
    models = {name: Model(preds.get(name), scores.get(name)) for name in {**preds, **scores}}
    if len(models) == 1 and "" in models:
        column = score if score is not None else pred
        return {str(column) if isinstance(column, str) else "": models[""]}
    return models


def _refuse_second(second: Any, what: str) -> None:
    if second is not None:
        given = repr(second) if isinstance(second, str) else "a second argument"
        raise InputTypeError(
            f"{what} holds its rows, so {given} has no place beside it; of a frame name the columns with true=, and "
            "pred= or score=."
        )


def _counted_rows(data: Any) -> Any:
    """A table as it is, and that of an evaluation; None of rows."""
    if isinstance(data, TABLES):
        return data
    count = getattr(type(data), "counted_rows", None)
    return None if count is None else data.counted_rows()


def _states_positive(table: Any) -> bool:
    """Whether a table states its positive class, so that no convention is asked."""
    if isinstance(table, Tally):
        return table.confusion is None or _states_positive(table.confusion)
    return table.positive is not None if isinstance(table, Confusion) else isinstance(table, (Counts, ScoreTable))


def _divides_a_bin(scores: ScoreTable, threshold: Any) -> bool:
    """Whether scores were counted in bins of which a threshold divides one, so that they are to be counted again."""
    if not len(scores.bins) or not isinstance(threshold, (int, float)):
        return False
    return bin_divided_at(scores.bins, as_read(float(threshold), scores.precision)) is not None


def _as_tally(table: Any) -> Tally:
    if isinstance(table, Tally):
        return table
    if isinstance(table, ScoreTable):
        return Tally(scores=table)
    if isinstance(table, Paired):
        return Tally(paired=table)
    if isinstance(table, (Counts, Confusion)):
        counted = as_confusion(table, None)
        return Tally(counted, labels=tuple(counted.labels))
    raise InputTypeError(f"A {type(table).__name__} is no tally: it holds rows; ask for its own table.")


def _rows_of_table(table: Any) -> int:
    if isinstance(table, Counts):
        return int(np.sum(table.positives + table.negatives))
    if isinstance(table, Confusion):
        return int(table.rows.sum())
    if isinstance(table, MultilabelTable):
        return int(table.true.shape[0])
    if isinstance(table, ProbabilityTable):
        return len(table.codes)
    return int(table.rows if isinstance(table, Tally) else table.n)


_NEEDS_ROWS = (
    "Scores or weights in clusters, and scores of each class, need every row in memory",
    "evaluate predicted labels without weights",
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


def names_columns(data: Any) -> bool:
    """Whether it is a frame or a file, whose columns have names."""
    if isinstance(data, Predictions):
        return False
    return isinstance(data, (str, PathLike, Source)) or hasattr(data, "collect_schema") or hasattr(data, "columns")


def _are_paths(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and len(data) > 0 and all(isinstance(each, PathLike) for each in data)


def _files(source: Any) -> Any:
    """Files by their names, opened later; a frame as it is."""
    if isinstance(source, (str, PathLike)):
        return Files([fspath(source)])
    if isinstance(source, (list, tuple)) and source and all(isinstance(each, (str, PathLike)) for each in source):
        return Files([fspath(each) for each in source])
    return source


def saved_content(source: Any) -> Any:
    """What a file of JSON that was saved holds, known by its content; None of other files."""
    if not isinstance(source, (str, PathLike)) or fspath(source) == "-":
        return None
    path = Path(fspath(source))
    if not path.is_file():
        raise InputError(f"There is no file {str(source)!r}; check the name and the folder.")
    with path.open("rb") as file:
        start = file.read(64).lstrip()
    if start.startswith(b"{"):
        return import_module("steelyard").load(path)
    raise InputTypeError(f"{str(source)!r} holds rows; name its columns with true=, and pred= or score=.")


def _column_names(columns: Any) -> Sequence[str]:
    names = getattr(columns, "column_names", None)  # of PyArrow, whose `columns` are values
    return [*columns] if isinstance(columns, Mapping) else [*(columns.columns if names is None else names)]


def _columns_by_name(columns: Any) -> Mapping[str, Any]:
    if columns is None or isinstance(columns, Mapping):
        return columns or {}
    return {str(name): columns[name] for name in _column_names(columns)}


def _one_class(given: Given, model: Model) -> Model:
    """The model with the scores of one class, where they are of all and one is meant: that named, or of two."""
    if np.ndim(model.score) != 2 or np.shape(model.score)[1] == 1:
        return model
    table = counted_where_they_are(given.data, model.score, labels=given.labels, **given.weights)
    if given.pos_label is None and len(table.labels) != 2:
        return model
    named = CONVENTION if given.pos_label is None else given.pos_label
    labels = list(table.labels)
    label = chosen_label(named, labels, lambda: np.bincount(table.codes, minlength=len(labels)))
    if label not in labels:
        raise InputError(absent_sentence(f"The positive class {label!r}", label, labels))
    column: Array = table.probabilities[:, labels.index(label)]
    name = str(getattr(model.score, "dtype", "")).rpartition(".")[2]
    return model._replace(score=column.astype(name if name in PRECISIONS else np.float64, copy=False))


def _at(given: Given, rows: Array) -> Given:
    """The rows of a mask, of every column of values."""

    def chosen(values: Any) -> Any:
        if values is None or isinstance(values, str):
            return values
        if isinstance(values, Mapping):
            return {name: chosen(each) for name, each in values.items()}
        if hasattr(values, "iloc"):
            return values.iloc[np.flatnonzero(rows)]
        if isinstance(values, (list, tuple)):
            return [value for value, keep in zip(values, rows.tolist(), strict=True) if keep]
        return values.filter(rows) if hasattr(values, "filter") and not hasattr(values, "dtype") else values[rows]

    models = {name: Model(*map(chosen, model)) for name, model in given.models.items()}
    changed = {field.name: chosen(getattr(given, field.name)) for field in fields(given) if field.name in _COLUMNS}
    return replace(given, models=models, **changed)


_COLUMNS = ("data", "sample_weight", "frequency", "cluster", "by", "columns")
