"""Files weighed where they are: beside a bare group-by of Polars, and the engines on the same file.

The rows of a billion are made only where ROWS=billion asks for them: they take a gigabyte of disk and some minutes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.rows.weighing import optional

ROWS = 20_000_000
MEMORY = 2**30  # what a billion rows may take, in bytes
GROUP = 1_000_000


def rows(wanted):
    """What is weighed, beside what, and the ratio aimed at."""
    make = billion if wanted == "billion" else parquet
    if wanted and not any(wanted in name for name in ("file", "billion", *ENGINES)):
        return
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        yield from (row for row in make(Path(folder)) if wanted in row[0])


def written(path, count):
    """Two columns of labels in row groups, a few of which are ever in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    schema = pa.schema([("y", pa.int8()), ("p", pa.int8())])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for _ in range(count // GROUP):
            truth = (rng.random(GROUP, dtype=np.float32) < 0.05).view(np.int8)
            wrong = (rng.random(GROUP, dtype=np.float32) < 0.1).view(np.int8)
            writer.write_table(pa.table([truth, truth ^ wrong], schema=schema), row_group_size=GROUP)
    return path


def counts(path):
    """The bare query: how often each pair of labels occurs."""
    found = pl.scan_parquet(path).group_by("y", "p").agg(pl.len()).collect(engine="streaming")
    return found.sort("y", "p")["len"].to_numpy().reshape(2, 2)


def report(path):
    """All of `steelyard report` but starting Python: the counts of the page it prints."""
    from click.testing import CliRunner

    from steelyard.cli.commands import commands

    words = ["report", str(path), "--true", "y", "--pred", "p", "--format", "json"]
    ran = CliRunner().invoke(commands, words)
    cells = json.loads(ran.stdout)["counts"]
    return np.array([[cells["tn"], cells["fp"]], [cells["fn"], cells["tp"]]])


def parquet(folder):
    path = written(folder / "rows.parquet", ROWS)
    what, bare = f"file of {ROWS:.0e} rows".replace("e+0", "e"), lambda: counts(path)
    yield f"{what}, steelyard report", "bare group-by", lambda: report(path), bare, 0.5
    for name, make in ENGINES.items():
        if (frame := make(path)) is not None:
            yield f"{what}, tally by {name}", "bare group-by", lambda frame=frame: tallied(frame), bare, 0


def tallied(frame):
    import steelyard

    return steelyard.tally(frame, true="y", pred="p").confusion.rows


def duckdb(path):
    return (module := optional("duckdb")) and module.read_parquet(str(path))


def dask(path):
    return (module := optional("dask.dataframe")) and module.read_parquet(path)


def spark(path):
    if not optional("pyspark") or not shutil.which("java"):
        return None
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[*]").config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session.read.parquet(str(path))


ENGINES = {"Polars": pl.scan_parquet, "DuckDB": duckdb, "Dask": dask, "Spark": spark}

PEAK = """
import resource, sys
from steelyard.cli import main
try:
    main(["report", sys.argv[1], "--true", "y", "--pred", "p", "--format", "json", "-o", sys.argv[2]])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def billion(folder):
    """A billion rows: the time of a process of its own, which must stay below a gibibyte."""
    path = written(folder / "rows.parquet", 10**9)

    def whole():
        words = [sys.executable, "-c", PEAK, str(path), str(folder / "out.json")]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        weighed = json.loads((folder / "out.json").read_text())["rows"]
        (folder / "out.json").unlink()
        peak = int(ran.stdout.splitlines()[-1])
        print(f"  a billion rows: peak memory {peak / 2**20:,.0f} MiB of {MEMORY / 2**20:,.0f} allowed")
        return weighed if peak < MEMORY else -1

    what = "billion rows, steelyard report below 1 GiB"
    yield what, "bare group-by", whole, lambda: counts(path).sum(), 0.5
