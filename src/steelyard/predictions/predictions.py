"""Predictions: the noun that every question takes; it reads once, keeps what was counted, and never changes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steelyard._names import HOME, METHODS, SHELVES
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays import checks
from steelyard.arrays.backend import as_read, taken
from steelyard.arrays.checks import check_order
from steelyard.arrays.labels import CONVENTION
from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten
from steelyard.frames.conditions import as_conjunction
from steelyard.frames.decoding import match_label
from steelyard.frames.groups import group_columns, group_places, grouped_tally
from steelyard.frames.source import Source, column_name, named_columns
from steelyard.predictions.frames import Files, GivenFrame, are_paths, named_models, opened_later
from steelyard.predictions.given import Given, Model
from steelyard.predictions.options import NAMES, READING, VALUES, ReadingOptions, stated_options
from steelyard.predictions.printed import printed
from steelyard.predictions.tables import GivenTable, counted_content, given_table, is_counted
from steelyard.predictions.values import GivenValues, by_name, column_of, value_models
from steelyard.tables import array_tables
from steelyard.tables.array_tables import (
    HIGHEST_TAKEN,
    check_both_classes,
    check_classes,
    counted_where_they_are,
    declared_labels,
    occurring_labels,
    paired,
    probability_table,
)
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.multilabel_table import MultilabelTable
from steelyard.tables.paired_table import Paired
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
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Labels
    from steelyard.predictions.options import RowOptions
    from steelyard.tables.probability_table import ProbabilityTable

_ALONE = "A frame was given alone; name its columns with true=, and pred= or score=."
_NOTHING = "There is nothing to ask about: give y_pred (labels) or y_score= (scores) beside y_true."
_OF_RESULTS = ("save", "to_html", "to_markdown", "to_dict", "to_json")


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

    @names_wrong_arguments(keywords=ReadingOptions)
    def __init__(
        self,
        y_true: ArrayLike | None = None,
        y_pred: ArrayLike | Mapping[str, ArrayLike] | None = None,
        *,
        y_score: ArrayLike | Mapping[str, ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
        columns: Mapping[str, ArrayLike] | Frame | None = None,
        **reading: Unpack[ReadingOptions],
    ) -> None:
        models = value_models(y_pred, y_score)
        values: dict[str, Any] = {"data": y_true, "models": models, "sample_weight": sample_weight, "columns": columns}
        self.__setstate__(GivenValues(**values, **stated_options(reading)))

    def __setstate__(self, given: Given) -> None:
        object.__setattr__(self, "given", given)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Predictions do not change; predictions.with_options({name}=...) makes others.")

    @classmethod
    def _of_given(cls, given: Given) -> Predictions:
        made = cls.__new__(cls)
        made.__setstate__(given)
        return made

    @classmethod
    @names_wrong_arguments(keywords=ReadingOptions)
    def read(
        cls,
        source: Frame | Source | Files | str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        true: str | Sequence[str] | None = None,
        pred: str | Sequence[str] | Mapping[str, str] | None = None,
        score: str | Sequence[str] | Mapping[str, str | Mapping[Any, str]] | None = None,
        weight: str | None = None,
        label_sep: str | None = None,
        long: tuple[str, str] | None = None,
        exact: bool | None = None,
        **reading: Unpack[ReadingOptions],
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
        options = stated_options(reading)
        beside: dict[str, Any] = {"label_sep": label_sep, "long": long, "exact": exact}
        if true is None and pred is None and score is None and (counted := saved_content(source)) is not None:
            return cls.of(counted, **stated_options({"weight": weight, **beside}), **options)
        for use, name in (("weight", weight), *((use, options.get(use)) for use in ("frequency", "cluster"))):
            column_name(use, name)
        named: dict[str, Any] = {"data": opened_later(source), "models": named_models(true, pred, score), "true": true}
        given = GivenFrame(**named, sample_weight=weight, **beside, **options)
        given.refuse_options(stated_options(beside))
        return cls._of_given(given)

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
        stated = stated_options(rows)
        in_call = frozenset(stated)
        if isinstance(data, Predictions):
            _refuse_second(second, "Predictions")
            made = data.with_options(**stated) if stated else data
        elif is_counted(data):
            made = cls._of_table(data, second, stated)
        elif holds_rows(data, stated):
            made = cls._read(data, second, stated)
        else:
            made = cls._of_values(data, second, first_is, second_is, stated)
        return cls._of_given(made.given.other(in_call=in_call))

    @classmethod
    def _of_table(cls, data: Any, second: Any, stated: dict[str, Any]) -> Predictions:
        """Counted rows; an evaluation says at which threshold its labels were made."""
        table, at = counted_content(data), getattr(data, "threshold", None)
        at = at if isinstance(at, float) else None
        if at is not None and table.confusion is None:
            stated.setdefault("threshold", at)
        given = given_table(table, stated if second is None else {"y_pred": second, **stated})
        return cls._of_given(given if given.threshold is not None else given.other(cut_at=at))

    @classmethod
    def _read(cls, data: Any, second: Any, stated: dict[str, Any]) -> Predictions:
        """The rows of a frame or of files whose columns are named."""
        named = next((name for name in ("true", "pred", "score", "long") if name in stated), "true")
        data = stated.pop("y_true", None) if data is None else data
        if data is None:
            raise InputTypeError(f"{named}= names a column of a frame or file; give that first.", argument=named)
        are_files = isinstance(data, (list, tuple)) and all(isinstance(each, (str, PathLike)) for each in data)
        if hasattr(data, "dtype") or (isinstance(data, (list, tuple)) and not are_files):
            out = f"beside arrays give y_{named}=" if named in ("pred", "score") else f"leave {named}= out"
            raise InputTypeError(
                f"{named}= names a column of a frame or file, and arrays were given; {out}, or give the frame first.",
                argument=named,
            )
        _refuse_second(second, "A frame or file")
        GivenFrame(data=data).refuse_options(stated)
        return cls.read(data, **stated)

    @classmethod
    def _of_values(cls, data: Any, second: Any, first_is: str, second_is: str, stated: dict[str, Any]) -> Predictions:
        for name, value in ((first_is, data), (second_is, second)):
            if value is None:
                continue
            if name in stated:
                raise InputTypeError(
                    f"{name} was given twice, by its place and by its name; give it once.", argument=name
                )
            stated[name] = value
        if isinstance(stated.get("y_true"), Mapping):
            raise InputTypeError(
                argument="y_true", expected="one value per row, not a mapping", do="give models by name beside it"
            )
        for name in ("y_pred", "y_true"):
            if isinstance(stated.get(name), str):
                raise InputTypeError(
                    f"{stated[name]!r} names a column of a frame; name columns by true=, and pred= or score=."
                )
        GivenValues().refuse_options(stated)
        return cls(**stated)

    # ---------------------------------------------------------------- others like it

    def with_options(self, **options: Any) -> Predictions:
        """The same rows read or grouped in another way: by, bins, cluster, weights, labels, threshold and the like.

        >>> Predictions([0, 1, 1], y_score=[0.2, 0.4, 0.9]).with_options(threshold=0.4).confusion().rows.tolist()
        [[1, 0], [0, 2]]
        """
        known = {name: name for name in (*READING, "exact", "sample_weight", "columns")} | {"weight": "sample_weight"}
        for name in options:
            if name not in known:
                if name in (*VALUES, *NAMES):
                    raise InputTypeError(
                        f"{name}= brings rows, and these Predictions have theirs; make others of them.", argument=name
                    )
                raise InputTypeError(f"Predictions take no {name}=.{did_you_mean(name, known)}", argument=name)
        self.given.refuse_options(stated_options(options))
        changed = {known[name]: value for name, value in options.items()}
        if "by" in changed and "bins" not in changed:  # carried bins are of the groups that were carried
            changed["bins"] = _bins_of(self.given.bins, changed["by"])
        if "design" in changed and changed["design"] is None:
            changed["design"] = "random"
        return self._of_given(self.given.other(**changed))

    def at(self, threshold: float | Mapping[Any, float]) -> Predictions:
        """The same rows, predicted positive where the score reaches the threshold."""
        return self.with_options(threshold=threshold)

    def filter(self, condition: str) -> Predictions:
        """The rows for which a condition holds, such as "age >= 60 and site = B"."""
        as_conjunction(condition)  # what cannot be read is refused at once
        both = condition if self.given.filter is None else f"{self.given.filter} and {condition}"
        return self.with_options(filter=both)

    __iter__ = None  # rows are asked about as a whole: a loop over them would fetch them one by one

    def __getitem__(self, models: str | Sequence[str]) -> Predictions:
        """One model by its name, or several by a list of names."""
        there, names = self.given.models, [models] if isinstance(models, str) else list(models)
        if not there:
            do = (
                "name their columns by score=, or pred=" if self.given.is_frame else "give them by y_score=, or y_pred="
            )
            raise InputError(f"There is no model {first_ten(names)}, since none was given; {do}.")
        for name in names:
            if name not in there:
                listed = first_ten([*there]) or "none"
                raise InputError(f"There is no model {name!r}; there are {listed}.{did_you_mean(name, there)}")
        return self._of_given(self.given.other(models={name: there[name] for name in names}))

    def each_file(self) -> dict[str, Predictions]:
        """The rows of each file by its name without its ending, or by its whole name where two have one; else none."""
        from steelyard.files.folders import expand_names

        if not isinstance(self.given.data, Files):
            return {}
        names = expand_names(self.given.data.names)
        short = [Path(name).name.partition(".")[0] or name for name in names]
        titles = names if len({*short}) < len(names) else short
        parts = [self._of_given(self.given.other(data=Files([name]))) for name in names]
        return dict(zip(titles, parts, strict=True))

    # ---------------------------------------------------------------- facts

    @property
    def models(self) -> tuple[str, ...]:
        """The models by name; a single one of values is called ""."""
        return tuple(self.given.models)

    @property
    def has_truth(self) -> bool:
        """Whether the truth of the rows is there."""
        return self.given.has_truth

    @property
    def has_scores(self) -> bool:
        """Whether a model gave scores."""
        return self.given.has_scores

    @property
    def are_sets(self) -> bool:
        """Whether each row may have several labels."""
        return self.given.are_sets

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
        return "class scores" if self.given.has_classes(model) else "scores"

    @property
    def rows(self) -> int:
        """How many rows there are, counted where they live."""
        return self.given.rows

    @property
    def design(self) -> Any:
        """How the rows came: "random", "stratified", or the plan by which they were chosen to be labelled."""
        design = self.given.design
        if isinstance(design, (str, PathLike)) and Path(design).is_file():
            return self.given.keep(("design", fspath(design)), lambda: import_module("steelyard").load(design))
        return design

    @property
    def threshold(self) -> Any:
        """The score from which a row is predicted positive; None where none was given."""
        return self.given.threshold

    @property
    def by(self) -> tuple[str, ...]:
        """The columns by which rows are grouped."""
        return self.given.group_names

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that questions may name."""
        return self.given.column_names

    @property
    def labels(self) -> Labels:
        """The classes, in order."""
        if self.given.is_table or self.are_sets:
            return tuple(getattr(self.multilabel_table() if self.are_sets else self.tally(), "labels", ()))
        if self.given.labels is not None:
            return tuple(self.given.labels)
        return tuple(self.given.keep("labels", lambda: occurring_labels(self.collect().given.data)))

    @property
    def positive(self) -> Label:
        """The positive class, named, clear or by convention; None where there is none, as of many classes."""
        return self._positive_class()[0]

    def _positive_class(self) -> tuple[Label, tuple[str, ...]]:
        rows = self.collect() if len(self.models) > 1 and self.has_scores else self  # fetched by then
        first = rows[self.models[0]] if len(self.models) > 1 else self
        return first.counted().positive_class(first.given.pos_label, is_stated=first.given.is_stated)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What was taken for granted in reading the rows."""
        return () if not self.has_truth or self.are_sets else self._positive_class()[1]

    @property
    def source(self) -> str:
        """Where the rows come from: the files, or what holds them."""
        return self.given.source

    @property
    def engine(self) -> str:
        """What holds the rows: "numpy", "torch cuda:0", "polars", "duckdb" and the like."""
        return self.given.engine

    # ---------------------------------------------------------------- rows

    def collect(self, *columns: str) -> Predictions:
        """The rows as values: what is named, and the columns that a question names, fetched once.

        The filter and the bins are applied, names of `columns=` replaced by their values, and of scores of both
        classes, or of a class that is named, one column is left.
        """
        given = self.given
        collected = given.keep(("collect", columns), lambda: self._unless_same(self._values(columns).of_one_class()))
        if collected is None:
            return self
        return self._of_given(collected.other(threshold=given.threshold, design=given.design, in_call=given.in_call))

    def _values(self, columns: tuple[str, ...] = ()) -> Given:
        """The rows as values, with every column of scores."""
        found = self.given.keep(("values", columns), lambda: self._unless_same(self.given.values(columns)))
        return self.given if found is None else found

    def _unless_same(self, given: Given) -> Given | None:
        """What was made, unless it is what was given, which would otherwise keep itself."""
        return None if given is self.given else given

    def countable(self) -> Predictions:
        """The rows as they can be counted: the frame where it lives, or values where every row is needed."""
        return self if self._is_counted_there else self.collect()

    @property
    def _is_counted_there(self) -> bool:
        return self.given.is_frame and not self.given.needs_rows

    def by_highest(self) -> Predictions:
        """The same rows, of which the class with the highest score is the prediction where all classes have scores.

        Scores on a device stay there, unless the rows are in groups or clusters.
        """
        if self.kind != "class scores" or (values := self.collect()).kind != "class scores":
            return self
        pred = values.given.model.pred
        if pred is None:
            table = values.probability_table(to_host=values.given.by is not None or values.given.cluster is not None)
            pred = taken(checks.column(list(table.labels), "labels"), table.most_probable)
        return self._of_given(values.given.other(models={"": Model(pred)}))

    def at_rows(self, rows: Array) -> Predictions:
        """The rows of a mask, as values."""
        given = self.collect().given
        assert isinstance(given, GivenValues)  # noqa: S101 - of counted rows none is asked
        return self._of_given(given.at(rows))

    @property
    def clusters(self) -> Any:
        """The cluster of each row, as values, whichever class is positive; None where rows are independent."""
        return self._values().cluster

    def column(self, name: str) -> Any:
        """The values of a column that a question names, of the rows as values."""
        return column_of(by_name(self.given.columns), name)

    @contextmanager
    def frame(self) -> Iterator[Source]:
        """The frame or the files, open, with the rows of the filter alone."""
        with self._frame().opened() as source:
            yield source

    @contextmanager
    def binned_frame(self) -> Iterator[tuple[Source, tuple[str, ...]]]:
        """The same with bins in the place of the numbers of groups, and the columns of the groups."""
        with self._frame().binned() as (source, by):
            yield source, by

    def _frame(self) -> GivenFrame:
        assert isinstance(self.given, GivenFrame)  # noqa: S101 - those who ask have looked
        return self.given

    def framed(self, *columns: str) -> tuple[Predictions, tuple[str, ...]]:
        """The same rows as those of a frame: of values one of Polars, with the named ones of `columns=`.

        Of scores of all classes the highest is the prediction, and its score that of the row; it is stated beside them.
        """
        if self._is_counted_there:
            return self, ()
        import polars as pl

        values = self.collect(*columns)
        given, model = values.given, values.given.model
        stated: tuple[str, ...] = ()
        if values.kind == "class scores":
            stated = (HIGHEST_TAKEN,) if model.pred is None else ()
            model = Model(values.by_highest().given.model.pred, values.probability_table().probabilities.max(1))
        named = {"y_true": given.data, "y_pred": model.pred, "y_score": model.score, **given.weights}
        beside = {name: values.column(name) for name in columns}
        check_order(**named)
        series = {name: checks.column(values, name) for name, values in named.items() if values is not None}
        if model.score is not None:
            checks.check_one_column(model.score)
            score = series["y_score"]
            series["y_score"] = checks.finite_scores(score).astype(checks.precision_of(score))
        own = {name: f"{name} of the row" if name in columns else name for name in series}
        series = {own[name]: column for name, column in series.items()}
        series |= {name: checks.column(column, f"columns[{name!r}]") for name, column in beside.items()}
        checks.check_lengths(**series)
        listed = {name: each.tolist() if each.dtype.kind in "OUS" else each for name, each in series.items()}
        kept = {name: getattr(given, name) for name in ("pos_label", "labels", "threshold", "design", "in_call")}
        framed = GivenFrame(
            data=pl.DataFrame(listed, strict=False),
            true=own["y_true"],
            models={"": Model(own.get("y_pred"), own.get("y_score"))},
            sample_weight=own.get("sample_weight"),
            frequency=own.get("frequency"),
            **kept,
        )
        return self._of_given(framed), stated

    def to_frame(self) -> Any:
        """The rows, and the columns that were named, as a frame of Polars."""
        import polars as pl

        values = self.collect().given
        if values.is_table:
            raise InputTypeError("These rows are counted; give the rows, or the table's own to_dict().")
        columns = {"y_true": values.data}
        for name, model in values.models.items():
            for use, column in (("pred", model.pred), ("score", model.score)):
                columns[f"{use}_{name}" if name else f"y_{use}"] = column
        groups = {} if values.by is None else group_columns(values.by)
        columns |= {**values.weights, "cluster": values.cluster, **groups, **by_name(values.columns)}
        return pl.DataFrame({name: np.asarray(column) for name, column in columns.items() if column is not None})

    # ---------------------------------------------------------------- tables

    def tally(self, cost: str | Sequence[str] | None = None) -> Tally:
        """The tables of the rows and of each group: of labels, of scores, or of both; counted where the rows live.

        `cost` names columns of what errors cost, whose sums at each score are counted too.
        """
        given, names = self.given, named_columns("cost", cost)
        if names:
            if self._is_counted_there:
                return self._frame().tally(names)
            return replace(self.tally(), costs=self.framed(*names)[0].tally(names).costs)
        kept: Tally = given.keep("tally", self._tally)
        if kept.scores is not None and given.is_frame and _divides_a_bin(kept.scores, given.threshold):
            kept = given.keep(("tally", given.threshold), self._tally)
        return kept

    def _tally(self) -> Tally:
        if isinstance(self.given, GivenTable):
            return self.given.tally
        rows = self.by_highest().countable()
        given = rows.given
        of_labels = all(model.pred is not None and model.score is None for model in given.models.values())
        two = len(given.models) == 2 and of_labels
        if not two:
            given.check_one_model()
        if isinstance(given, GivenTable):
            return given.tally
        if isinstance(given, GivenFrame):
            return given.tally()
        if two:
            return _paired_tally(rows)
        if given.by is not None:
            options = {"pos_label": given.pos_label, "labels": given.labels, **given.weights}
            return grouped_tally(given.data, given.y_pred, given.y_score, given.by, **options)
        table = None if given.y_pred is None else rows.confusion()
        scores = None if given.y_score is None else rows.score_table()
        labels = None if table is None else tuple(table.labels)
        return Tally(table, scores, labels=labels or declared_labels(given.labels) or occurring_labels(given.data))

    def counted(self) -> CountedRows:
        """The table of labels, that of scores, the threshold between them, and what was assumed; both classes occur."""
        self.given.check_one_model()
        return self.given.keep(("counted", str(self.given.threshold)), self._counted)  # type: ignore[no-any-return]  # kept as anything

    def _counted(self) -> CountedRows:
        given = self.given
        if isinstance(given.data, (Counts, Confusion)):
            if given.threshold is not None:
                raise InputError("A confusion matrix holds predicted labels; a threshold= needs scores.")
            is_odd = isinstance(given.data, Counts) and given.data.positives > 4 * given.data.negatives
            return CountedRows(as_confusion(given.data, given.pos_label), assumed=(MOST_POSITIVE,) if is_odd else ())
        self._check_answerable()
        if given.y_pred is not None and given.threshold is not None:
            raise InputError(TWO_THRESHOLDS)
        tally = self.tally()
        table, scores = tally.confusion, tally.scores
        if scores is not None and not isinstance(given.data, ScoreTable):
            check_both_classes(scores)
        if table is None:
            if scores is None:
                raise InputError("This table holds two models side by side; compare it instead.")
            inputs = thresholded(scores, given.threshold, negative_label(tally.labels, scores))
            return inputs._replace(labels=tally.labels)
        if given.threshold is not None:
            raise InputError(TWO_THRESHOLDS)
        if given.is_table and given.pos_label is not None:
            table = table.with_positive(match_label(given.pos_label, table.labels))
        check_classes(table)
        by_highest = given.model.pred is None and self.kind == "class scores"
        return CountedRows(table, scores, assumed=(HIGHEST_TAKEN,) if by_highest else ())

    def _check_answerable(self) -> None:
        """Refuse values without a model, of which there is nothing to count."""
        given = self.given
        if isinstance(given, GivenValues) and all(each is None for each in given.model):
            raise InputTypeError(_ALONE if hasattr(given.data, "columns") else _NOTHING)

    def confusion(self) -> Confusion:
        """The confusion matrix: of labels as they are, of scores at the threshold.

        >>> Predictions(["no", "yes"], ["yes", "yes"]).confusion().rows.tolist()
        [[0, 1], [0, 1]]
        """
        given = self.given
        if isinstance(given.data, (Counts, Confusion)):
            return as_confusion(given.data, given.pos_label)
        self._check_answerable()
        if isinstance(given, GivenValues) and given.y_pred is not None:
            return given.keep("confusion", self._confusion)  # type: ignore[no-any-return]  # kept as anything
        tally = self.tally()
        if tally.confusion is not None:
            return tally.confusion
        scores = self.score_table()
        table = thresholded(scores, given.threshold, negative_label(tally.labels, scores)).table
        if table is None:
            raise InputError("The scores are no probabilities, so that no threshold is assumed; give threshold=.")
        return table

    def _confusion(self) -> Confusion:
        values = self.collect().given
        options = {"labels": values.labels, "pos_label": values.pos_label, **values.weights}
        return array_tables.confusion(values.data, values.y_pred, **options)

    def score_table(self) -> ScoreTable:
        """The ordered scores of each class.

        >>> Predictions([0, 1, 1], y_score=[0.2, 0.9, 0.4]).score_table()
        <ScoreTable of 3 rows, 2 of them 1>
        """
        given = self.given
        if isinstance(given.data, ScoreTable):
            return given.data
        self._check_answerable()
        if isinstance(given, GivenValues) and given.y_score is not None:
            return given.keep("scores", self._score_table)  # type: ignore[no-any-return]  # kept as anything
        has_labels = given.is_frame and given.model.pred is not None and given.model.score is None
        scores = None if has_labels else self.tally().scores
        if scores is None:
            if given.is_table:
                raise InputTypeError("This tally has no scores; count them with score=.")
            raise InputTypeError("These rows have labels and no scores; give y_score=, or of a frame score=.")
        return scores

    def _score_table(self) -> ScoreTable:
        values = self.collect().given
        checks.check_one_column(values.y_score)
        pos_label = CONVENTION if values.pos_label is None else values.pos_label
        options = {"labels": values.labels, "pos_label": pos_label, **values.weights}
        return array_tables.score_table(values.data, values.y_score, **options)

    def scores_of_both(self) -> ScoreTable:
        """The ordered scores, refused where the truth holds one class alone."""
        table = self.score_table()
        check_both_classes(table)
        return table

    def probability_table(self, *, to_host: bool = True) -> ProbabilityTable:
        """The scores of all classes, a column for each, row by row."""
        return self.given.keep(("probabilities", to_host), lambda: self._probability_table(to_host))  # type: ignore[no-any-return]  # kept as anything

    def _probability_table(self, to_host: bool) -> ProbabilityTable:
        given = self._values()
        count = probability_table if to_host else counted_where_they_are
        return count(given.data, given.y_score, labels=given.labels, **given.weights)

    def multilabel_table(self, *, to_host: bool = True) -> MultilabelTable:
        """The labels of each row and those predicted or their scores, where rows may have several."""
        return self.given.keep(("label sets", to_host), lambda: self._multilabel_table(to_host))  # type: ignore[no-any-return]  # kept as anything

    def _multilabel_table(self, to_host: bool) -> MultilabelTable:
        from steelyard.tables.label_sets import label_set_table, label_sets_where_they_are

        given = self.given
        if isinstance(given, GivenFrame) and not self.are_sets:
            return given.label_sets(()).data  # type: ignore[no-any-return]  # it says what is missing
        values = self.collect().given
        if isinstance(values.data, MultilabelTable):
            return values.data.on_host() if to_host else values.data
        count = label_set_table if to_host else label_sets_where_they_are
        table = count(values.data, values.y_pred, y_score=values.y_score, labels=values.labels, **values.weights)
        return table.on_host() if to_host else table

    def paired(self) -> Paired:
        """Two models side by side, by their labels."""
        given = self.given
        if isinstance(given.data, Paired):
            return given.data
        if isinstance(given.data, Tally) and given.data.paired is not None:
            return given.data.paired
        if len(given.models) != 2:
            raise InputError(f"A paired table is of two models, and these rows have {len(given.models)}; take two.")
        if given.is_frame:
            return self.tally().paired  # type: ignore[return-value]  # two columns of labels
        values = self.collect().given
        a, b = (model.pred for model in values.models.values())
        return paired(values.data, a, b, labels=values.labels, pos_label=values.pos_label, **values.weights)

    # ---------------------------------------------------------------- questions, pickles, print

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            shelf = next((f".{shelf}" for shelf, names in SHELVES.items() if name in names), "")
            if bool(shelf) or name in HOME:
                hint = f" The function steelyard{shelf}.{name} takes them."
            elif not name.startswith("_") and hasattr(import_module("steelyard"), name):  # a metric
                hint = (
                    f" steelyard.{name}(predictions) gives its value, predictions.interval({name!r}) its interval too."
                )
            elif name in _OF_RESULTS:
                hint = f" A result has it, as predictions.evaluate().{name}(...)."
            else:
                hint = did_you_mean(name, METHODS)
            raise AttributeError(f"Predictions have no {name!r}.{hint}")
        ask, place = getattr(import_module("steelyard"), name), METHODS[name]

        def question(*arguments: Any, **options: Any) -> Any:
            return ask(*arguments[:place], self, *arguments[place:], **options)

        question.__name__, question.__doc__ = name, ask.__doc__
        return question

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *METHODS})

    def __getstate__(self) -> Given:
        if self.given.is_remote:
            raise InputTypeError(f"These rows live in {self.engine}, which does not travel; collect() first.")
        return self.given.other(filter=self.given.filter)  # without what was kept

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"

    def __repr__(self) -> str:
        return printed(self)


# ---------------------------------------------------------------- what was given


def holds_rows(data: Any, rows: Mapping[str, Any]) -> bool:
    """Whether the first argument of a question holds its rows alone, so that a second one is the question's own."""
    is_named = any(rows.get(name) is not None for name in ("true", "pred", "score", "long"))
    return isinstance(data, Predictions) or is_counted(data) or are_paths(data) or is_named


def names_columns(data: Any) -> bool:
    """Whether it is a frame or a file, whose columns have names."""
    if isinstance(data, Predictions):
        return False
    is_frame = hasattr(data, "collect_schema") or hasattr(data, "columns")
    return is_frame or isinstance(data, (Source, Files)) or are_paths(data)


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


def _bins_of(bins: Any, by: Any) -> Any:
    """The bins of the groups that are left, where other ones are asked for."""
    if by is None or not isinstance(bins, Mapping):
        return None if by is None else bins
    names = {by} if isinstance(by, str) else set(by) if isinstance(by, (list, tuple, Mapping)) else set()
    return {name: edges for name, edges in bins.items() if name in names} or None


def _paired_tally(p: Predictions) -> Tally:
    """The tables of two models side by side, of values."""
    given, whole = p.given, p.paired()
    columns = {} if given.by is None else group_columns(given.by)
    rows = p.with_options(by=None, labels=whole.labels)
    groups = {}
    for key, places in (group_places(columns) if columns else {}).items():
        mask = np.zeros(p.rows, dtype=bool)
        mask[places] = True
        groups[key] = Tally(paired=rows.at_rows(mask).paired())
    groups.pop((), None)
    return Tally(paired=whole, labels=whole.labels, by=tuple(columns), groups=groups, models=p.models)


def _refuse_second(second: Any, what: str) -> None:
    if isinstance(second, str):
        raise InputTypeError(
            f"{what} holds its rows, so {second!r} has no place beside it; say by a keyword what it names, such as "
            f"true={second!r} or by={second!r}."
        )
    if second is not None:
        raise InputTypeError(
            f"{what} holds its rows, so a second argument has no place beside it; of a frame name the columns with "
            "true=, and pred= or score=."
        )


def _divides_a_bin(scores: ScoreTable, threshold: Any) -> bool:
    """Whether scores were counted in bins of which a threshold divides one, so that they are to be counted again."""
    if not len(scores.bins) or not isinstance(threshold, (int, float)):
        return False
    return bin_divided_at(scores.bins, as_read(float(threshold), scores.precision)) is not None
