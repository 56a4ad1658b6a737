"""The counting query: SQL that counts labels or binned scores inside a database, so that only the counts travel."""

from __future__ import annotations

import math
import re
from numbers import Real
from typing import TYPE_CHECKING, Any

from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError, MissingLibraryError
from steelyard.frames.rows import HIGH_COLUMN, LOW_COLUMN, REFUSED_COLUMN, SQUARE_COLUMN, WEIGHT_COLUMN
from steelyard.frames.scores import BINS, bin_grid
from steelyard.frames.source import COUNT_COLUMN, ColumnNames, check_choices, check_name, named_columns

if TYPE_CHECKING:
    from collections.abc import Sequence


DIALECTS = ("postgres", "bigquery", "snowflake", "redshift", "mysql", "sqlite", "spark", "duckdb")
_PART = re.compile(r'"(?:[^"]|"")+"|[^."][^.]*')
_TABLE = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")
_LONGEST = {  # a longer name is cut off without a word, or refused, by the database
    "postgres": (63, "bytes"),
    "redshift": (127, "bytes"),
    "mysql": (64, "characters"),
    "snowflake": (255, "characters"),
}
_OWN = (COUNT_COLUMN, LOW_COLUMN, HIGH_COLUMN, WEIGHT_COLUMN, SQUARE_COLUMN, REFUSED_COLUMN)
SPELLED_NUMBER = "^ *[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)? *$"  # no backslash, which MySQL would read


@names_wrong_arguments
def sql(
    table: str,
    *,
    true: str,
    pred: str | Sequence[str] | None = None,
    score: str | None = None,
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    dialect: str = "postgres",
    threshold: float | None = None,
    score_range: tuple[float, float] = (0.0, 1.0),
) -> str:
    """The one query that counts a table of predictions in its database; `tally` reads its result.

    The result has a line for each combination of group, true and predicted label; of scores one for each of about
    65,536 bins over `score_range` and label, with the lowest and highest score there. A `threshold` divides the bin
    it falls in. A `weight` names the column of sample weights: each line then brings their sum and that of their
    squares, in double precision, and rows of no weight are left out. Save the result as a file, or take its rows as a
    frame, and hand it to `tally` with the same names.
    Names are quoted, whatever they hold, so write them as the database stores them. A dot in `table` divides schema and
    table; a part of it between double quotes is taken as it is, dots too: `lab."v1.2"`.
    Dialects are postgres, bigquery, snowflake, redshift, mysql, sqlite, spark and duckdb.

    >>> print(sql("preds", true="y", pred="p", by="site", dialect="bigquery"))
    SELECT
      `site`,
      `y`,
      `p`,
      COUNT(*) AS `steelyard_rows`
    FROM `preds`
    GROUP BY
      `site`,
      `y`,
      `p`
    """
    preds, groups = named_columns("pred", pred), named_columns("by", by)
    for use, name in {"table": table, "true": true, "score": score, "weight": weight}.items():
        if name is not None or use in ("table", "true"):
            check_name(use, name)
    if dialect not in DIALECTS:
        raise InputError(argument="dialect", expected=f"one of {', '.join(DIALECTS)}", given=dialect)
    _check_columns(ColumnNames(true, preds, score, weight, by=groups))
    _check_threshold(threshold, score)
    exp = _sqlglot().exp
    place = _table(table, dialect)
    for name in (true, *preds, score, weight, *groups):
        if name is not None:
            _check_identifier(name, dialect)
    names = dict.fromkeys((*groups, true, *preds))  # a column of two uses is selected once
    keys = [_column(name, place, dialect) for name in names]
    sums = {COUNT_COLUMN: exp.Count(this=exp.Star())}
    if score is not None:
        value = _number(_column(score, place, dialect), dialect)
        keys += _bins(value, threshold, score_range, dialect)
        sums |= {LOW_COLUMN: exp.Min(this=value.copy()), HIGH_COLUMN: exp.Max(this=value.copy())}
    mass = None if weight is None else _number(_column(weight, place, dialect), dialect)
    sums |= {} if mass is None else _weight_sums(mass)
    named = (part.as_(name, quoted=True) for name, part in sums.items())
    query = exp.select(*keys[: len(names)], *named).from_(place)
    query = query if mass is None else query.where(_has_weight(mass))
    return str(query.group_by(*(key.copy() for key in keys)).sql(dialect=dialect, pretty=True, comments=False))


def _check_columns(columns: ColumnNames) -> None:
    """Refuse columns that one query cannot count."""
    if not all(columns.named()):
        raise InputError("A column is named by an empty text; give the name that it has in the table.")
    own = [name for name in columns.named() if name.lower() in _OWN]
    if own:
        raise InputError(f"The query itself names a column of its result {own[0]!r}; give the column another name.")
    columns.check_uses()
    if bool(columns.pred) == (columns.score is not None):
        raise InputTypeError("A counting query is of labels or of scores: name a column with pred= or with score=.")
    if len(columns.pred) > 2:
        raise InputError(
            f"One model is counted, or two side by side, not {len(columns.pred)}; print a query for each pair."
        )
    if columns.weight is not None and len(columns.pred) > 1:
        raise InputError("Two models side by side are counted by their labels alone; leave out weight=.")


def _check_threshold(threshold: float | None, score: str | None) -> None:
    """Refuse a threshold that divides no bin."""
    check_choices(threshold, None)
    if threshold is None:
        return
    if score is None:
        raise InputError("A threshold is of scores, and this query counts labels; leave out threshold=.")
    if not math.isfinite(threshold):
        raise InputError(f"A threshold that divides a bin is a finite number, not {threshold}; leave out threshold=.")


def _check_ends(score_range: object) -> None:
    """Refuse what is no lowest and highest score."""
    ends = score_range if isinstance(score_range, (tuple, list)) else ()
    numbers = [end for end in ends if isinstance(end, Real) and math.isfinite(end)]
    if len(ends) != 2 or len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise InputError(
            argument="score_range",
            expected="the lowest and the highest score that is expected, two finite numbers",
            given=score_range,
        )


def _column(name: str, table: Any, dialect: str) -> Any:
    """The column, quoted; of SQLite with its table, since there a quoted name that is no column is a text."""
    within = table.this.copy() if dialect == "sqlite" else None
    return _sqlglot().exp.column(name, table=within, quoted=True)


def _number(column: Any, dialect: str) -> Any:
    """The number of a column, in double precision; null where MySQL and SQLite would make 0 of a text that is none."""
    exp = _sqlglot().exp
    value = exp.cast(column, "double")
    if dialect == "mysql":
        text = exp.cast(column.copy(), "char")
        # By its name: ibis gives MySQL another one where it is loaded, which cuts names with line breaks.
        is_number = exp.Anonymous(this="REGEXP_LIKE", expressions=[text, exp.Literal.string(SPELLED_NUMBER)])
        return exp.Case().when(is_number, value)
    if dialect == "sqlite":  # a text is compared as the number that it spells, or is unlike every number
        stored = exp.func("typeof", column.copy()).isin("integer", "real")
        return exp.Case().when(exp.or_(stored, value.eq(column.copy())), value)
    return value


def _weight_sums(value: Any) -> dict[str, Any]:
    """The sums of the weights and of their squares, and how many rows have none that is above 0."""
    exp = _sqlglot().exp
    square = exp.Mul(this=value.copy(), expression=value.copy())
    positive = exp.GT(this=value.copy(), expression=exp.Literal.number(0))
    refused = exp.Case().when(positive, "0").else_("1")
    return {
        WEIGHT_COLUMN: exp.Sum(this=value.copy()),
        SQUARE_COLUMN: exp.Sum(this=square),
        REFUSED_COLUMN: exp.Sum(this=refused),
    }


def _has_weight(value: Any) -> Any:
    """A row of no weight is as good as absent; one whose weight is missing is not, so that it can be refused."""
    exp = _sqlglot().exp
    return exp.or_(value.neq(0), value.copy().is_(exp.null()))


def _bins(value: Any, threshold: float | None, score_range: tuple[float, float], dialect: str) -> list[Any]:
    """The bin of a score, as `tally` has them, and whether it is flagged where a threshold is to divide a bin."""
    exp = _sqlglot().exp
    _check_ends(score_range)
    low, high = score_range
    width, _ = bin_grid(float(low), float(high), BINS)
    place = exp.Mul(this=value.copy(), expression=exp.Literal.number(repr(1 / width)))
    if dialect == "sqlite":  # which need not have been built with floor: towards zero, and one less where that is above
        towards_zero = exp.cast(place, "bigint")
        above = exp.LT(this=place.copy(), expression=towards_zero.copy())
        bins = [exp.Sub(this=towards_zero, expression=exp.Paren(this=above))]
    else:
        bins = [exp.Floor(this=place)]
    if threshold is None:
        return bins
    flagged = exp.GTE(this=value.copy(), expression=exp.Literal.number(repr(float(threshold))))
    return [*bins, exp.Case().when(flagged, "1").else_("0")]


def _table(name: str, dialect: str) -> Any:
    """The table, with its schema and catalogue where they are named, each part quoted."""
    exp = _sqlglot().exp
    parts = table_parts(name)
    most = 2 if dialect in ("mysql", "sqlite") else 3
    if len(parts) > most:
        raise InputError(
            f"The table {name!r} has {len(parts)} parts, and a name of {dialect} has {most} at most; write a dot that "
            f"belongs to a name between double quotes, as in {_double_quoted(name)}."
        )
    for part in parts:
        _check_identifier(part, dialect)
    places = zip(("this", "db", "catalog"), reversed(parts), strict=False)
    return exp.Table(**{place: exp.to_identifier(part, quoted=True) for place, part in places})


def table_parts(name: str) -> list[str]:
    """The parts of the name of a table, which dots divide; one between double quotes is taken as it is.

    A double quote between double quotes is written twice. Every other character is part of the name.

    >>> table_parts('lab.preds-2024'), table_parts('lab."v1.2, ""a"" and b"')
    (['lab', 'preds-2024'], ['lab', 'v1.2, "a" and b'])
    """
    if not _TABLE.fullmatch(name):
        raise InputError(
            f"{name!r} cannot be read as the name of a table: dots divide schema and table, no part is empty, and one "
            'that begins with a double quote or holds a dot is written between double quotes, as in lab."v1.2".'
        )
    parts = (part.group() for part in _PART.finditer(name))
    return [part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts]


def _double_quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _check_identifier(name: str, dialect: str) -> None:
    """Refuse a name that the dialect cannot hold, or would hold as another one."""
    most, unit = _LONGEST.get(dialect, (math.inf, "characters"))
    try:
        size = len(name.encode() if unit == "bytes" else name)
        name.encode()
    except UnicodeEncodeError:
        raise InputError(f"The name {name!r} holds half of a character, which no database stores; mend it.") from None
    fault = None
    if not name:
        fault = "is empty"
    elif "\0" in name:
        fault = "holds the character NUL"
    elif size > most:
        fault = f"has {size} {unit}, and the longest has {most}"
    elif dialect == "mysql" and max(name) > "\uffff":
        fault = "holds a character above U+FFFF"
    elif dialect == "mysql" and name.endswith(" "):
        fault = "ends with a blank"
    elif dialect == "bigquery" and "." in name:
        fault = "holds a dot"
    if fault is not None:
        raise InputError(
            f"The name {name[:80]!r} {fault}, so that no table or column of {dialect} has it; give the name that is "
            "stored."
        )


def _sqlglot() -> Any:
    try:
        import sqlglot
    except ImportError:
        raise MissingLibraryError("SQL needs sqlglot; run pip install 'steelyard[sql]'.") from None
    return sqlglot
