"""Files weighed where they are: beside a bare group-by of Polars, and the engines on the same file.

The rows of a billion are made only where ROWS=billion asks for them: they take a gigabyte of disk and some minutes.
"""

from __future__ import annotations

import functools
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.data import size
from benchmarks.row import Missing, Row, needed

TITLE = "Files"
BARE = "Polars, bare group-by"
ROWS = 20_000_000
MEMORY = 2**30  # what a billion rows may take, in bytes
GROUP = 1_000_000


def rows():
    """The whole report, the count alone by each engine, and a billion rows."""
    what = f"file of {size(ROWS)} rows"
    yield Row(f"{what}, steelyard report", BARE, reported, ROWS, 0.5, part=True)
    for name, engine in ENGINES.items():
        yield Row(f"{what}, tally by {name}", BARE, functools.partial(tallied, engine), ROWS, outside=name == "Spark")
    yield Row(
        "SIGTERM to a report whose query would take days",
        "SIGKILL, which nothing can delay",
        stopped,
        1000,
        outside=True,
    )
    yield Row(
        "billion rows, steelyard report below 1 GiB", BARE, billion, 10**9, 0.5, part=True, outside=True, asked=True
    )


def written(count):
    """A file of two columns of labels in row groups, a few of which are ever in memory; made once in a run."""
    path = Path(tempfile.gettempdir()) / f"rows-{count}.parquet"
    if not path.exists():
        _write(path.with_suffix(".part"), count)
        path.with_suffix(".part").rename(path)
    return path


def _write(path, count):
    pa, pq = needed("pyarrow"), needed("pyarrow.parquet")
    rng, group = np.random.default_rng(0), min(count, GROUP)
    schema = pa.schema([("y", pa.int8()), ("p", pa.int8())])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for _ in range(count // group):
            truth = (rng.random(group, dtype=np.float32) < 0.05).view(np.int8)
            wrong = (rng.random(group, dtype=np.float32) < 0.1).view(np.int8)
            writer.write_table(pa.table([truth, truth ^ wrong], schema=schema), row_group_size=group)


def counts(path):
    """The bare query: how often each pair of labels occurs."""
    import polars as pl

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


def reported(n):
    path = written(n)
    return lambda: report(path), lambda: counts(path)


def tallied(engine, n):
    import steelyard

    path = written(n)
    frame = engine(path)
    return lambda: steelyard.tally(frame, true="y", pred="p").confusion.rows, lambda: counts(path)


def spark(path):
    if not shutil.which("java"):
        raise Missing("java is not installed")
    builder = needed("pyspark.sql").SparkSession.builder.master("local[*]")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "4")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session.read.parquet(str(path))


ENGINES = {
    "Polars": lambda path: needed("polars").scan_parquet(path),
    "DuckDB": lambda path: needed("duckdb").read_parquet(str(path)),
    "Dask": lambda path: needed("dask.dataframe").read_parquet(path),
    "Spark": spark,
}

ENDLESS = """
import sys
from steelyard.cli import main
from steelyard.frames import tally as frame_tally
def tally(*_, **__):
    import polars as pl  # after the command has begun, as it does
    rows = pl.LazyFrame({"a": range(10**6)})
    print("started", flush=True)
    rows.join(rows, how="cross").select((pl.col("a") * pl.col("a_right")).sum()).collect(engine="streaming")
frame_tally.tally = tally
main(["report", sys.argv[1], "--true", "y", "--pred", "p"])
"""


def stopped(n):
    """The start of a report, and its end by a signal once its query runs."""
    path = written(n)

    def ended(sign):
        running = subprocess.Popen(
            [sys.executable, "-c", ENDLESS, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        begun = running.stdout.readline() == b"started\n"
        running.send_signal(sign)
        running.communicate()
        return begun

    return lambda: ended(signal.SIGTERM), lambda: ended(signal.SIGKILL)


PEAK = """
import resource, sys
from steelyard.cli import main
try:
    main(["report", sys.argv[1], "--true", "y", "--pred", "p", "--format", "json", "-o", sys.argv[2]])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def billion(n):
    """A billion rows: the time of a process of its own, which must stay below a gibibyte."""
    path = written(n)
    out = path.with_suffix(".json")

    def whole():
        ran = subprocess.run([sys.executable, "-c", PEAK, path, out], capture_output=True, text=True, check=False)
        weighed = json.loads(out.read_text())["rows"]
        out.unlink()
        peak = int(ran.stdout.splitlines()[-1])
        print(f"  {n:,} rows: peak memory {peak / 2**20:,.0f} MiB of {MEMORY / 2**20:,.0f} allowed")
        return weighed if peak < MEMORY else -1

    return whole, lambda: counts(path).sum()
