"""Source: where rows are before they are counted, and what to count of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import combinations
from numbers import Real
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError, InputTypeError, did_you_mean, file_hint, first_ten
from steelyard.ingest.ray_blocks import is_ray_dataset, ray_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    import narwhals as nw

    from steelyard._types import Frame, Label, Labels


COUNT_COLUMN = "steelyard_rows"  # of a counting query: how many rows a line stands for


@dataclass(frozen=True)
class ColumnNames:
    """The names of the columns to count."""

    true: str
    pred: tuple[str, ...] = ()
    score: str | None = None
    weight: str | None = None
    frequency: str | None = None
    by: tuple[str, ...] = ()
    cost: tuple[str, ...] = ()

    def check_uses(self) -> None:
        """Refuse a column that is the truth and what it judges, or a label or score and what its row counts for."""
        scores = () if self.score is None else (self.score,)
        check_uses(self.true, self.pred, scores, self.weight, self.frequency)

    def named(self) -> list[str]:
        """Each column that must be there."""
        parts = (self.true, *self.pred, self.score, self.weight, self.frequency, *self.by, *self.cost)
        return [name for name in parts if name is not None]

    def by_use(self) -> dict[str, str]:
        """Each column but those of groups and of two models, by what it is for."""
        pred = self.pred[0] if len(self.pred) == 1 else None
        uses = {"true": self.true, "pred": pred, "score": self.score, "weight": self.weight}
        return {use: name for use, name in {**uses, "frequency": self.frequency}.items() if name is not None}


def check_uses(
    true: str | None, pred: Sequence[str], scores: Sequence[str], weight: str | None, frequency: str | None
) -> None:
    """Refuse a column that is the truth and what it judges, or a label or score and what its row counts for."""
    uses = [("true", true), *(("pred", name) for name in pred), *(("score", name) for name in scores)]
    uses += [("weight", weight), ("frequency", frequency)]
    for (use, name), (other, same) in combinations(uses, 2):
        if name is not None and name == same and use != other and (use, other) != ("pred", "score"):
            what = "predictions" if other in ("pred", "score") else "weights"
            raise InputError(f"{use}= and {other}= both name the column {name!r}; name that of the {what}.")


@dataclass(frozen=True)
class Source:
    """Where the rows are: frames of one engine, each a part of the whole; in text files every value is text."""

    parts: tuple[nw.LazyFrame[Any], ...]
    textual: bool = False
    in_memory: bool = False
    step: Callable[[], object] = field(default=lambda: None)
    digests: Callable[[], dict[str, str]] = dict  # of files: their names by the digest of their bytes
    index: frozenset[str] = frozenset()  # columns that pandas recorded as the index of its frame

    @property
    def is_remote(self) -> bool:
        """Whether other machines may hold the rows, which then stay there: those of Spark, Dask, Daft and Ibis."""
        engines = [part.implementation for part in self.parts]
        return any(engine.is_spark_like() or engine.name in ("DASK", "IBIS", "UNKNOWN") for engine in engines)

    @property
    def holds_counts(self) -> bool:
        """Whether the lines are those of a counting query, each of which stands for a number of rows."""
        return COUNT_COLUMN in self.parts[0].collect_schema()

    @classmethod
    def of(cls, data: Frame | Source, *, counts: bool = False) -> Source:
        """The frame of any engine as a source; lines of a counting query are refused where rows are needed."""
        if isinstance(data, Source):
            source = data
        else:
            source = cls((_lazy_frame(data),), in_memory=_in_memory(data), index=_arrow_index(data))
        if not counts and source.holds_counts:
            lines = sum(len(part.select(COUNT_COLUMN).collect()) for part in source.parts)
            raise InputError(
                f"This is the result of a counting query, {lines:,} lines that stand for many rows each, and rows are "
                "needed here; give the rows themselves, or count the lines with `tally` and give what that makes."
            )
        return source


@dataclass(frozen=True)
class TallyRequest:
    """What to count: the columns, their labels, the positive one, and how scores are kept."""

    columns: ColumnNames
    pos_label: Label
    labels: Labels | None
    threshold: float | None
    exact: bool | None


def _lazy_frame(data: Frame) -> nw.LazyFrame[Any]:
    """The frame of any engine, lazily."""
    import narwhals as nw

    native = ray_frame(data) if is_ray_dataset(data) else data
    try:
        frame: nw.LazyFrame[Any] = nw.from_native(native).lazy()
    except (TypeError, AttributeError):
        engines = "pandas, Polars, PyArrow, DuckDB, Ibis, Dask, Daft, Ray Data or PySpark"
        hint = f"{file_hint(data)}."
        if type(data).__module__.startswith("daft."):
            hint = f" without narwhals' plugin for Daft, which is not installed: pip install narwhals-daft{hint}"
        raise InputTypeError(f"A frame of {engines} was expected, not {type(data).__name__}{hint}") from None
    return frame


def _in_memory(data: Frame) -> bool:
    """Whether the rows are in memory already, so that fetching a column costs nothing."""
    import narwhals as nw

    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame)


def named_columns(use: str, names: str | Sequence[str] | None) -> tuple[str, ...]:
    """The names of columns for one use, as a tuple; a column itself, or a name that is no text, is refused."""
    listed = () if names is None else names if isinstance(names, (list, tuple)) else (names,)
    for name in listed:
        check_name(use, name)
    if twice := next((name for place, name in enumerate(listed) if name in listed[:place]), None):
        raise InputError(f"{use}= names the column {twice!r} twice; name each column once.")
    return tuple(listed)


def names_class_columns(score: object) -> bool:
    """Whether scores are named by a pattern, or by a list of columns: one for each class."""
    return isinstance(score, (list, tuple)) or (isinstance(score, str) and "*" in score)


def check_name(use: str, name: object) -> None:
    """Refuse the name of a column that is no text."""
    if not isinstance(name, str):
        kind = "None" if name is None else f"a {type(name).__name__}"
        raise InputTypeError(f"{use}= names a column of the frame by text, not by {kind}; rename it where need be.")


def check_choices(threshold: object, exact: object) -> None:
    """Refuse a threshold that is no number, and an `exact` that is neither true nor false."""
    if threshold is not None and not isinstance(threshold, Real):
        raise InputTypeError(f"A threshold is a number, not {threshold!r}.")
    if exact not in (None, True, False):
        raise InputTypeError(f"exact= takes True, False or None, not {exact!r}.")


def check_columns(source: Source, columns: ColumnNames) -> None:
    """Refuse a column that is not there, that has two uses, or of another kind where numbers are needed."""
    columns.check_uses()
    numbers = [columns.score, columns.weight, columns.frequency, *columns.cost]
    values = [columns.true, *columns.pred, *columns.by]
    check_kinds(source, values=values, numbers=[name for name in numbers if name is not None])


def check_kinds(
    source: Source, *, values: Sequence[str] = (), numbers: Sequence[str] = (), others: Sequence[str] = ()
) -> None:
    """Refuse columns that are not there, that hold no numbers where these are needed, and lists among `values`."""
    for i, part in enumerate(source.parts):
        schema = part.collect_schema()
        if not all(isinstance(name, str) for name in schema):
            raise InputTypeError("The columns of this frame are named by other things than text; rename them to text.")
        for name in (*values, *numbers, *others):
            if name not in schema:
                near, where = did_you_mean(name, schema), "" if i == 0 else " in one of the files"
                raise InputError(f"There is no column {name!r}{where}; there are {first_ten(list(schema))}.{near}")
            if part.implementation.is_polars() and (name == "*" or (name.startswith("^") and name.endswith("$"))):
                raise InputError(f"Polars takes {name!r} for a pattern of names, not for one column; rename it.")
        for name in () if source.textual else numbers:
            if not (schema[name].is_numeric() or str(schema[name]) == "Boolean"):
                raise InputTypeError(f"The column {name!r} holds {schema[name]} values; numbers were expected.")
        for name in values:
            if schema[name].is_nested():
                raise InputTypeError(nested_sentence(f"The column {name!r} holds {schema[name]} values"))


def nested_sentence(problem: str) -> str:
    """The refusal of columns that hold more than one value per row."""
    return f"{problem}; a label or a group is one value per row, such as text or a number."


# ---------------------------------------------------------------- the index of a pandas frame

_INDEX = re.compile(r"__index_level_\d+__|Unnamed: 0(\.\d+)?|")  # as files name an index that has no name


def index_columns(
    names: Iterable[str], recorded: Collection[str] = (), *, named: Collection[str | None] = ()
) -> list[str]:
    """The columns that are the index of a pandas frame, but for those that the user `named`.

    They are those that a file `recorded` as such, and those that are called as pandas calls an index without a name.

    >>> index_columns(["__index_level_0__", "Unnamed: 0", "", "id", "age"], ["id"], named=["Unnamed: 0"])
    ['__index_level_0__', '', 'id']
    """
    return [name for name in names if name not in named and (name in recorded or _INDEX.fullmatch(name))]


def index_sentences(names: Iterable[str]) -> list[str]:
    """Which columns are an index, and so are no features."""
    why = "was left out: it is the index of a pandas frame, which says nothing about other rows."
    return [f"The column {name!r} {why}" for name in names]


def _arrow_index(data: Any) -> frozenset[str]:
    is_arrow = type(data).__module__.partition(".")[0] == "pyarrow" and hasattr(data, "schema")
    return recorded_index(data.schema.metadata) if is_arrow else frozenset()


def recorded_index(metadata: Mapping[Any, Any] | None) -> frozenset[str]:
    """The columns that pandas recorded as the index of its frame, in the metadata of a Parquet file or Arrow table.

    >>> recorded_index({"pandas": '{"index_columns": ["id", {"kind": "range"}]}'})
    frozenset({'id'})
    """
    try:
        written: Any = metadata.get("pandas") or metadata.get(b"pandas")  # type: ignore[union-attr]  # suppressed below
        return frozenset(name for name in json.loads(written)["index_columns"] if isinstance(name, str))
    except (AttributeError, KeyError, TypeError, ValueError):
        return frozenset()
