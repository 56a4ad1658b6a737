"""Engines: one table of rows as the frame of each engine that is installed; what is not is skipped by name."""

from __future__ import annotations

import shutil
import warnings
from decimal import Decimal
from functools import cache

import pytest

SPARK = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",  # compiling each query costs more than running it on few rows
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def needs(name):
    """The package, or a skip that names it."""
    return pytest.importorskip(name, reason=f"{name} is not installed")


def plain(table):
    """The table without dictionaries and unsigned integers, for engines that have none."""
    import pyarrow as pa

    def kind(given):
        given = given.value_type if pa.types.is_dictionary(given) else given
        return pa.int64() if pa.types.is_unsigned_integer(given) else given

    return pa.table([column.cast(kind(column.type)) for column in table.columns], names=table.column_names)


def pandas_frame(table):
    needs("pandas")
    return table.to_pandas()


def pandas_arrow_frame(table):
    return table.to_pandas(types_mapper=needs("pandas").ArrowDtype)


def polars_frame(table):
    return needs("polars").from_arrow(table)


def lazy_frame(table):
    return polars_frame(table).lazy()


def arrow_table(table):
    return table


def duckdb_relation(table):
    return needs("duckdb").from_arrow(plain(table))


def dask_frame(table):
    return needs("dask.dataframe").from_pandas(table.to_pandas(), npartitions=min(3, max(1, len(table))))


def spark_frame(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark tells of the versions of pandas that it is not yet made for
        return session().createDataFrame(plain(table))


@cache
def session():
    """One local Spark session for all tests."""
    needs("pyspark")
    if not shutil.which("java"):
        pytest.skip("Java is not installed, which pyspark needs")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("steelyard")
    for key, value in SPARK.items():
        builder = builder.config(key, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def ibis_table(table):
    return needs("ibis").memtable(plain(table))


def sqlite_table(table):
    """A table of SQLite by Ibis, in a database of its own in memory, which has no decimals."""
    ibis, table = needs("ibis"), plain(table)
    backend = ibis.sqlite.connect()
    made = backend.create_table("preds", schema=ibis.Schema.from_pyarrow(table.schema))
    rows = zip(*(map(_of_sqlite, column.to_pylist()) for column in table.columns), strict=True)
    backend.con.executemany(f"INSERT INTO preds VALUES ({', '.join('?' * table.num_columns)})", rows)
    return made


def _of_sqlite(value):
    return str(value) if isinstance(value, (Decimal, list)) else value


ENGINES = {
    "pandas": pandas_frame,
    "pandas-pyarrow": pandas_arrow_frame,
    "polars": polars_frame,
    "polars-lazy": lazy_frame,
    "pyarrow": arrow_table,
    "duckdb": duckdb_relation,
    "dask": dask_frame,
    "pyspark": spark_frame,
    "ibis": ibis_table,
    "ibis-sqlite": sqlite_table,
}
