"""Kept rows: truth, prediction and score of each row under the keyed hash of its name, so that models can be paired.

They lie in a Parquet file beside their entry, ordered by hash: neither the names nor their order are kept.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest.source import Source
from steelyard.ledger.row_keys import hashed_keys, key_mark, secret_key

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from steelyard._types import Frame, Label

ROWS_START = b"PAR1"  # as every Parquet file begins
_USES = ("true", "pred", "score")
_COUNTED = ("weight", "frequency")


@dataclass(frozen=True)
class KeptRows:
    """The bytes of the file of rows, and what an entry states of them."""

    content: bytes
    facts: dict[str, Any]


def kept_rows(evaluation: object, frame: Frame | Source | None, key: str) -> KeptRows:
    """The rows of the frame that was evaluated: the columns that the evaluation names, and the keyed hash of `key`."""
    uses = _columns(evaluation)
    if frame is None:
        raise InputTypeError(f"keep_rows={key!r} names a column of the frame that was evaluated; give frame= as well.")
    table = _collected(Source.of(frame), [*uses.values(), key])
    texts, secret = _key_texts(table[key], key), secret_key()
    import polars as pl

    columns = {use: _number(table[name]) if use == "score" else _texts(table[name]) for use, name in uses.items()}
    rows = pl.DataFrame({"key": pl.Series(hashed_keys(texts, secret), dtype=pl.Binary), **columns}).sort("key")
    if not isinstance(evaluation, Evaluation) or rows.height != evaluation.rows:
        raise InputError(f"The frame has {rows.height:,} rows and another number was evaluated; give the same rows.")
    buffer = io.BytesIO()
    rows.write_parquet(buffer)
    content = buffer.getvalue()
    digest = f"sha256:{sha256(content).hexdigest()}"
    return KeptRows(content, {"count": rows.height, "digest": digest, "key": key_mark(secret)})


def _columns(evaluation: object) -> dict[str, str]:
    """The columns of an evaluation by their use; what a row counts for cannot be paired yet."""
    columns: dict[str, Any] = dict(getattr(evaluation, "columns", {}))
    uses = {use: columns[use] for use in _USES if isinstance(columns.get(use), str) and "*" not in columns[use]}
    if not isinstance(evaluation, Evaluation) or "true" not in uses or len(uses) < 2:
        raise InputError(
            "Rows are kept of an evaluation of a frame with one column of truth and one of predictions or scores: "
            "evaluate(frame, true=..., pred=... or score=...)."
        )
    if evaluation.is_clustered or any(columns.get(use) for use in _COUNTED):
        raise InputError(
            "Rows are kept where each counts once and for itself; leave keep_rows out of weighted or "
            "clustered rows, and compare these with `steelyard compare`."
        )
    return uses


def _number(scores: pl.Series) -> pl.Series:
    import polars as pl

    return scores.cast(pl.Float64)


def _texts(labels: pl.Series) -> pl.Series:
    import polars as pl

    texts = {label: label_text(label) for label in labels.unique().to_list()}
    return pl.Series([texts[label] for label in labels.to_list()], dtype=pl.String)


def label_text(label: Label) -> str:
    """A label as kept rows hold it: the same for 1, 1.0 and "1"."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _collected(source: Source, names: list[str]) -> pl.DataFrame:
    import polars as pl

    parts = []
    for part in source.parts:
        missing = [name for name in names if name not in part.collect_schema().names()]
        if missing:
            raise InputError(f"The frame has no column {missing[0]!r}; keep_rows names the column of the rows' keys.")
        parts.append(pl.DataFrame(part.select(*dict.fromkeys(names)).collect("polars").to_native()))
    return pl.concat(parts)


def _key_texts(keys: pl.Series, name: str) -> list[str]:
    """The keys as text, the same for 7 and "7"; each must name one row."""
    import polars as pl

    if keys.null_count():
        raise InputError(f"{keys.null_count():,} rows have no key in {name!r}; rows are kept where each has one.")
    if keys.dtype.is_float():
        whole = keys.cast(pl.Int64, strict=False)
        if whole.null_count() or not (whole == keys).all():
            raise InputError(f"The keys in {name!r} are numbers with decimals; name a column of whole numbers or text.")
        keys = whole
    texts = keys.cast(pl.String)
    if texts.n_unique() < len(texts):
        often = texts.value_counts(sort=True)
        raise InputError(f"{(often['count'] > 1).sum():,} keys in {name!r} name several rows; each must name one row.")
    return texts.to_list()


def read_rows(path: Path, facts: Mapping[str, Any]) -> pl.DataFrame:
    """The rows of an entry, which must be as they were written."""
    import polars as pl

    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"The rows {path.name!r} cannot be read: {error.strerror or error}.") from None
    if f"sha256:{sha256(content).hexdigest()}" != facts["digest"]:
        raise InputError(f"The rows {path.name!r} were changed after they were logged: their digest is another one.")
    return pl.read_parquet(io.BytesIO(content))
