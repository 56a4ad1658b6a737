"""Result: what every analysis returns: rows to iterate over, and ways to save, to read back and to show them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, Self, overload

from steelyard._names import __version__
from steelyard.analysis.results.blocks import Sentence, Table
from steelyard.analysis.results.formatting import cell_text, text_table
from steelyard.analysis.results.result_homes import rendered, result_class
from steelyard.analysis.results.result_json import (
    RESULT_SCHEMA,
    Writer,
    from_fields,
    parsed,
    same_fields,
    saved_text,
    with_not_finite,
)
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError, SteelyardError
from steelyard.tables.saved import DIGEST, is_as_written
from steelyard.written_files import Saveable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pandas as pd
    import polars as pl

    from steelyard.analysis.results.blocks import Block
    from steelyard.analysis.results.result_json import SavedResult


class Tabular(Protocol):
    """A result that is one row of a table."""

    def row(self) -> dict[str, Any]:
        """The values by column."""


if TYPE_CHECKING:
    from typing_extensions import TypeVar  # every type checker brings it along

    Each = TypeVar("Each", bound=Tabular, default=Any)
else:
    from typing import TypeVar

    Each = TypeVar("Each", bound=Tabular)

_MOST_BLANKS = 1_000


class Result(Saveable, ABC, Generic[Each]):
    """What an analysis returns; a base of dataclasses, whose fields are what is saved and read back.

    A result says by `__iter__` what its rows are; all else follows. Results are equal where they hold the same.

    >>> from steelyard import Counts, interval
    >>> recall = interval("recall", Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> Result.from_json(recall.to_json()) == recall
    True
    """

    kind: ClassVar[str] = "result"
    was_read: ClassVar[bool] = False  # whether it came from JSON, which anyone may have changed
    has_digest: ClassVar[bool] = True  # of JSON: a digest, by which it is known to be as it was saved
    also_saved: ClassVar[tuple[str, ...]] = ()  # what JSON has for its readers beside the fields, and is not read back
    assumed: tuple[str, ...] = ()  # what was taken for granted in reading the rows, in sentences

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" not in vars(cls):
            cls.kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    @abstractmethod
    def __iter__(self) -> Iterator[Each]:
        """The rows."""

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return True  # a result without rows is a result

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.kind, *(value for value in vars(self).values() if isinstance(value, str))))

    # ---------------------------------------------------------------- saved

    def to_dict(self) -> dict[str, Any]:
        """The result as strict JSON values: what is undefined is None, and so is what is infinite."""
        writer = Writer()
        content = self.held(writer)
        also = {}
        for key in self.also_saved:
            value = getattr(self, key)
            also[key] = Writer().written(value() if callable(value) else value)
        marks = {"not_finite": writer.not_finite} if writer.not_finite else {}
        return {"schema": RESULT_SCHEMA, "kind": self.kind, "version": __version__, **content, **also, **marks}

    def held(self, writer: Writer) -> dict[str, Any]:
        """What JSON holds of it, by key."""
        return writer.of_fields(self)

    @names_wrong_arguments
    def to_json(self, indent: int | None = None) -> str:
        """The result as strict JSON text, which `from_json` reads back."""
        if indent is not None and not (isinstance(indent, int) and abs(indent) <= _MOST_BLANKS):
            raise InputTypeError(
                argument="indent", expected="a whole number of blanks", given=indent, do="to_json() returns the text"
            )
        return saved_text(self.to_dict(), indent)

    @classmethod
    @names_wrong_arguments
    def from_json(cls, saved: SavedResult) -> Self:
        """The result that `to_json` wrote, of its text or of the path of a file; `Result.from_json` reads any kind."""
        data = parsed(saved)
        kind, schema = data.get("kind"), data.get("schema")
        if not isinstance(kind, str) or not isinstance(schema, int):
            raise InputError(
                'This JSON holds no saved result: it has no "kind" or "schema". Save it again by to_json().'
            )
        if schema > RESULT_SCHEMA:
            raise InputError(
                f"This {_words(kind)} has schema {schema}; this version reads up to {RESULT_SCHEMA}. Update it."
            )
        holder = result_class(kind)
        if not issubclass(holder, cls):
            raise InputError(f"This JSON holds a saved {_words(kind)}, no {_words(cls.kind)}; read it as what it is.")
        try:
            result: Self = holder.from_held(with_not_finite({key: data[key] for key in data if key != DIGEST}))
        except SteelyardError:
            raise
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
            raise InputError(
                f"This saved {_words(kind)} cannot be read: it holds other values than to_json() writes; it was "
                "changed or truncated."
            ) from None
        if not is_as_written(data):
            raise InputError(f"This {_words(kind)} was changed after it was saved: its digest is another one.")
        vars(result).update(was_read=True, has_digest=DIGEST in data)
        return result

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The result of what JSON holds of it."""
        result: Self = from_fields(cls, data)
        return result

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema (draft 2020-12) of what `to_json` writes; of kinds with their own form the envelope alone."""
        from steelyard.analysis.results.result_json import envelope_schema, fields_schema

        return envelope_schema(cls.kind, fields_schema(cls) if cls.held is Result.held else {})

    # ---------------------------------------------------------------- shown

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        if type(self).__repr__ is Result.__repr__:  # which shows the headline
            return f"{_words(self.kind).capitalize()}: {len(self):,} rows"
        return repr(self).partition("\n")[0]

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per row."""
        return [row.row() for row in self]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The rows as people see them: fewer columns where a headline says the rest."""
        return self.to_dicts()

    @property
    def lead(self) -> Sequence[str]:
        """Sentences that are shown under the headline, above all tables."""
        return ()

    def shown_tables(self) -> Sequence[Block]:
        """The tables and pictures between the sentences, by default the rows."""
        return [Table.of(self)]

    @property
    def notes(self) -> Sequence[str]:
        """What is to be known beside the rows, in sentences."""
        return ()

    def blocks(self) -> list[Block]:
        """What is shown, in order: the headline, what leads to the tables, the tables, the notes, what was assumed."""
        lead, notes = dict.fromkeys(self.lead), dict.fromkeys([*self.notes, *self.assumed])
        sentences = [Sentence(self.headline, "headline"), *(Sentence(text, "lead") for text in lead)]
        return [*sentences, *self.shown_tables(), *map(Sentence, notes)]

    @overload
    def to_frame(self, library: Literal["pandas"] | None = None) -> pd.DataFrame: ...
    @overload
    def to_frame(self, library: Literal["polars"]) -> pl.DataFrame: ...
    @names_wrong_arguments
    def to_frame(self, library: str | None = None) -> pd.DataFrame | pl.DataFrame:
        """The rows as a data frame of pandas or Polars: the named one, or the first that is installed."""
        options: dict[str, dict[str, Any]] = {"pandas": {}, "polars": {"infer_schema_length": None}}
        if library is not None and library not in options:
            raise InputError(argument="library", expected="'pandas' or 'polars'", given=library, do="give one of these")
        rows = [  # a frame takes lists, not arrays, as cells
            {name: cell.tolist() if hasattr(cell, "tolist") else cell for name, cell in row.items()}
            for row in self.to_dicts()
        ]
        for name in options if library is None else [library]:
            try:
                frame: pd.DataFrame | pl.DataFrame
                frame = __import__(name).DataFrame(rows, **options[name])
            except ImportError:
                continue
            return frame
        raise InputTypeError(f"A frame needs {library or 'pandas or polars'} installed; to_dicts() needs nothing.")

    def to_csv(self) -> str:
        """The rows as CSV with all their digits; of several tables the name of each stands in the first column."""
        return rendered("csv", self)

    def to_latex(self) -> str:
        """The headline, the rows and the notes as LaTeX, with tables of booktabs."""
        return rendered("latex", self)

    def to_markdown(self) -> str:
        """The headline, the rows and the notes as Markdown."""
        return rendered("markdown", self)

    @names_wrong_arguments
    def to_html(self, source: str = "predictions") -> str:
        """The result as one self-contained HTML page; `source` is what the page calls the data."""
        return rendered("html", self, source=source)

    def _repr_html_(self) -> str:
        return rendered("notebook", self)

    def __repr__(self) -> str:
        return rendered("text", self)


def _words(kind: str) -> str:
    return kind.replace("_", " ")


# ---------------------------------------------------------------- rows
# What every analysis returns and every surface shows, readable as it is and as a frame.


class Flat(Result[Any]):
    """A result that is one row, whose columns are its fields unless it says otherwise; a base of dataclasses.

    >>> from dataclasses import make_dataclass
    >>> make_dataclass("Pair", ["a", "b"], bases=(Flat,))(1, 2).row()
    {'a': 1, 'b': 2}
    """

    def row(self) -> dict[str, Any]:
        """The result as a row of a table."""
        return dict(vars(self))

    def __iter__(self) -> Iterator[Self]:
        yield self

    def shown_row(self) -> dict[str, Any]:
        """The row as people see it."""
        return self.row()

    def shown_rows(self) -> list[dict[str, Any]]:
        """Itself as people see it."""
        return [self.shown_row()]

    @classmethod
    def headline_of(cls, rows: Sequence[Any]) -> str:
        """Several of them in one sentence."""
        kind = cls.kind.replace("_", " ")
        return (
            f"{len(rows):,} {kind}"
            if len(rows) == 1
            else f"{len(rows):,} {kind.removesuffix('y')}{'ies' if kind[-1] == 'y' else 's'}"
        )


class Rows(list[Each], Result[Each]):  # type: ignore[misc]  # a list has no hash, and needs none
    """A list of results, each with a `row()`; prints as a table, and becomes a frame."""

    def __init__(self, rows: Iterable[Each] = (), assumed: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.assumed = tuple(assumed) or tuple(dict.fromkeys(text for row in self for text in _assumed_of(row)))

    def __bool__(self) -> bool:
        return len(self) > 0

    def held(self, writer: Writer) -> dict[str, Any]:
        """The rows, and of which kind they are."""
        first = self[0] if self else None
        stated = {"assumed": [*self.assumed]} if self.assumed and not _assumed_of(first) else {}
        if isinstance(first, Flat):
            return {"of": first.kind, "rows": writer.written(list(self), "/rows"), **stated}
        return {"of": None, "rows": writer.written(self.to_dicts(), "/rows"), **stated}  # parts of a larger result

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The rows that were saved."""
        if data["rows"] and data["of"] is None:
            raise InputError("These rows are a part of a larger result; save and read that one.")
        each: Any = result_class(data["of"]) if data["rows"] else None  # the class of one row
        return cls([each.from_held(row) for row in data["rows"]], data.get("assumed", ()))

    @property
    def headline(self) -> str:
        """How many rows of what these are, or what their class says of several."""
        return type(self[0]).headline_of(self) if self and isinstance(self[0], Flat) else f"{len(self):,} rows"

    def shown_rows(self) -> list[dict[str, Any]]:
        """The rows as people see them."""
        return [row.shown_row() if isinstance(row, Flat) else row.row() for row in self]

    def __repr__(self) -> str:
        return table_text(self.to_dicts())


def _assumed_of(row: object) -> tuple[str, ...]:
    """What one row says itself of what was assumed."""
    return row.assumed if isinstance(row, Result) else ()


def table_text(rows: list[dict[str, Any]], emphasis: Callable[[str], str] = str, keys: int = 1) -> str:
    """Rows of dictionaries as a table that fits the terminal; columns without a value are left out.

    What is too wide is folded, with the first `keys` columns, which name a row, in every part.
    """
    every = dict.fromkeys(name for row in rows for name in row)
    names = [name for name in every if any(row.get(name) is not None for row in rows)]
    cells = [[cell_text(name, row.get(name)) for name in names] for row in rows]
    words = [i for i, name in enumerate(names) if i and any(isinstance(row.get(name), str) for row in rows)]
    return text_table(names, cells, wrap=words, keys=keys, emphasis=emphasis) if names else ""
