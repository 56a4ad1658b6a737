"""Blocks of Ray Data as a lazy frame: the columns that a query names come block by block, and Polars counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.ingest.lost_engines import worded_losses

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl


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
