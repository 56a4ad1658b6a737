"""Source: where rows are before they are counted, and what to count of them."""

from __future__ import annotations

import json
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.exceptions import InputError, InputTypeError, SteelyardError, did_you_mean, file_hint, first_ten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    import narwhals as nw
    import polars as pl
    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, Labels


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_NAMED = re.compile(r"[\w.]+(Error|Exception): ")


@contextmanager
def worded_losses(engine: str) -> Iterator[None]:
    """Word the errors of an engine, each of which has its own kinds: a lost worker, a closed connection."""
    try:
        yield
    except (SteelyardError, TypeError):  # objects of Dask show their kind only when they are compared
        raise
    except Exception as error:
        sentence = f"{engine} could not count the rows ({_reason(error)}); nothing was kept, so run it again."
        raise InputError(sentence) from error


def _reason(error: Exception) -> str:
    """The first line of an error; where that is only the name of a task or a heading, the first that names an error."""
    lines = [line.strip() for line in _COLOUR.sub("", str(error)).splitlines() if line.strip()]
    first = next(iter(lines), type(error).__name__)
    if first.startswith("ray::") or first.endswith(":"):
        first = next(filter(_NAMED.match, lines), first)
    return first[:200].rstrip(".")


# ---------------------------------------------------------------- forked

# A process that is forked has none of its parent's threads, and Polars waits for them. What a child can use of Polars
# is therefore decided when it is forked, by the threads that run then.


_THREADS = Path("/proc/self/task")
_POLARS = re.compile(r"polars-\d+\s*")


class ForkWatch:
    """Whether this process was forked while the threads of Polars ran."""

    def __init__(self) -> None:
        self.threads_lost = False
        self._before = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._look, after_in_parent=self._restore)

    def _look(self) -> None:
        self._before = self.threads_lost
        self.threads_lost = self.threads_lost or _polars_runs()

    def _restore(self) -> None:
        self.threads_lost = self._before


def _polars_runs() -> bool:
    try:
        return any(_POLARS.fullmatch(path.read_text()) for path in _THREADS.glob("*/comm"))
    except OSError:  # a thread that ended meanwhile, or no such folder
        return False


WATCH = ForkWatch()


def refuse_polars_after_fork() -> None:
    """Refuse Polars where it would hang."""
    if WATCH.threads_lost:
        raise InputError(
            "This process was forked while Polars was running, and Polars would hang in it; start workers with "
            "multiprocessing.get_context('spawn') or 'forkserver', or count in the parent."
        )


# ---------------------------------------------------------------- ray blocks


def is_ray_dataset(data: object) -> bool:
    """Whether it is a dataset of Ray, found without importing Ray."""
    return any(f"{kind.__module__}.{kind.__name__}" == "ray.data.dataset.Dataset" for kind in type(data).__mro__)


def ray_frame(dataset: Any) -> pl.LazyFrame:  # Ray need not be there to name its types
    """The dataset as a lazy frame, of which a few blocks are here at a time."""
    import polars as pl
    from polars.io.plugins import register_io_source

    schema = _schema(dataset)

    def blocks(
        columns: list[str] | None, condition: pl.Expr | None, most: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        names = columns or list(schema)[: None if columns is None else 1]  # Ray has no rows without columns
        rows = dataset.select_columns(names)
        with worded_losses("ray"):
            for block in (rows if most is None else rows.limit(most)).iter_batches(
                batch_format="pyarrow", batch_size=None
            ):
                frame = pl.DataFrame(pl.from_arrow(block))
                kept = frame if condition is None else frame.filter(condition)
                yield kept if columns is None else kept.select(columns)

    return register_io_source(blocks, schema=schema, is_pure=True)


def _schema(dataset: Any) -> pl.Schema:
    """The names and kinds of the columns, for which Ray may have to run the first block."""
    import polars as pl
    import pyarrow as pa

    with worded_losses("ray"):
        schema = dataset.schema()
    kinds = [] if schema is None else list(zip(schema.names, schema.types, strict=True))
    return pl.DataFrame(pl.from_arrow(pa.schema(kinds).empty_table())).schema


# ---------------------------------------------------------------- source


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
        raise InputError(f"{use}= names the column {twice!r} twice; name each column once.", argument=use, given=twice)
    return tuple(listed)


def names_class_columns(score: object) -> bool:
    """Whether scores are named by a pattern, or by a list of columns: one for each class."""
    return isinstance(score, (list, tuple)) or (isinstance(score, str) and "*" in score)


_OF_VALUES = {"true": "y_true", "pred": "y_pred", "score": "y_score", "weight": "sample_weight"}


def check_name(use: str, name: object) -> None:
    """Refuse the name of a column that is no text."""
    if isinstance(name, str):
        return
    do = f"values are given as {_OF_VALUES[use]}=" if use in _OF_VALUES and hasattr(name, "__len__") else ""
    do = "rename the column" if isinstance(name, Real) else do
    raise InputTypeError(argument=use, expected="the name of a column of the frame, as text", given=name, do=do)


def check_choices(threshold: object, exact: object) -> None:
    """Refuse a threshold that is no number, and an `exact` that is neither true nor false."""
    if threshold is not None and not isinstance(threshold, Real):
        raise InputTypeError(f"A threshold is a number, not {threshold!r}.")
    if exact not in (None, True, False):
        raise InputTypeError(argument="exact", expected="True, False or None", given=exact)


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


# ---------------------------------------------------------------- frame columns


CLUSTERS_NEED_ROWS = (
    "cluster= names the cluster of each row, so give the rows: y_true with y_pred or y_score, not a table."
)


class FrameColumns(NamedTuple):
    """The columns of a frame: the truth, predictions or scores, and weights."""

    true: str | None = None
    pred: str | None = None
    score: str | None = None
    weight: str | None = None

    def names(self, **others: ArrayLike | str | Sequence[str] | None) -> dict[str, str | tuple[str, ...]]:
        """The columns that were named, with others such as that of the frequency, by what they are for."""
        named: dict[str, str | tuple[str, ...]] = {}
        score = {"scores" if names_class_columns(self.score) else "score": self.score}  # one for each class, or one
        for use, name in {"true": self.true, "pred": self.pred, **score, "weight": self.weight, **others}.items():
            if self.true is not None and name is not None:
                named[use] = name if isinstance(name, str) and use != "by" else named_columns(use, name)  # type: ignore[arg-type]  # refused there where it is no name
        return named


def column_name(use: str, name: ArrayLike | str | None) -> str | None:
    """The name of a column of a frame."""
    if name is not None:
        check_name(use, name)
    return name  # type: ignore[return-value]  # no array is left


def refuse_name(use: str, values: object) -> None:
    """Refuse the name of a column where arrays are given, or a table."""
    if isinstance(values, str):
        raise InputTypeError(
            f"{use}={values!r} names a column of a frame; give the frame and true=, or beside arrays one value per "
            "row.",
            argument=use,
            given=values,
        )


# ---------------------------------------------------------------- probability columns


def columns_by_class(columns: dict[str, str], classes: Labels, asked: str | Sequence[str]) -> Sequence[str]:
    """The column of each class; one without a class, or a class without one, is refused."""
    texts = [str(label) for label in classes]
    if {*texts} <= {*columns.values()}:  # a list of the classes themselves, whatever they begin with
        columns = {name: name for name in columns.values()}
    if {*texts} != {*columns}:
        like, such = "of the scores", "such as 'p_" + texts[0] + "'"
        if isinstance(asked, str):
            like, such = f"like {asked!r}", f"such as {asked.replace('*', texts[0])!r}"
        raise InputError(
            f"The columns {like} are of {first_ten(list(columns))} and the truth holds {first_ten(texts)}; "
            f"name a column for each class, {such}, and none besides; a class that has no rows here is declared with "
            "labels=."
        )
    return [columns[text] for text in texts]
