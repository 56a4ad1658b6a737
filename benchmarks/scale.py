"""Scale: labels and scores of very many rows, made lazily by the engine itself, counted on one core and on all.

`python -m benchmarks.scale` counts 1e9 rows by Polars and DuckDB (`--rows` for fewer), each in a process of its own,
and writes what it took into docs/how/scale.md, each line as soon as it is there; `--engine` and `--work` choose some of
the lines, and the others stay as they are. CPU seconds are those of the process, so that another program on the
machine changes them little; seconds of the clock and the load of the machine stand beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

from benchmarks import memory

PAGE = Path(__file__).parent.parent / "docs" / "how" / "scale.md"
MARKS = "<!-- written by python -m benchmarks.scale -->", "<!-- end -->"
ENGINES = ("polars", "duckdb")
BINNED = {"score": "s", "exact": False}
WORKS = {
    "labels": {"pred": "p"},
    "scores in bins": BINNED,
    "labels of 10,000 groups": {"pred": "p", "by": "g"},
    "scores in bins of 10,000 groups": {**BINNED, "by": "g"},
}
HEAD = (
    "| engine | counted | rows | cores | seconds | CPU seconds | million rows per CPU second | peak MiB | table, kB | load |",
    "|---|---|---|---|---|---|---|---|---|---|",
)


def polars_rows(n):
    import polars as pl

    ids = pl.LazyFrame().select(id=pl.int_range(n)) if n <= 10**6 else _ranges(pl, n)
    return ids.select(
        y=(pl.col("id") % 100 == 0).cast(pl.Int8),
        p=(pl.col("id") % 77 == 0).cast(pl.Int8),
        s=(pl.col("id") * 7919 % 1_000_003 / 1_000_003),
        g=(pl.col("id") // 100 % 10_000).cast(pl.Int32),
    )


def _ranges(pl, n, block=10**6):
    """Whole numbers below n in blocks: a range of Polars is made at once, and would fill the memory."""
    from polars.io.plugins import register_io_source

    def blocks(_, condition, most, __):
        for start in range(0, n if most is None else min(n, most), block):
            made = (
                pl.int_range(start, min(start + block, n if most is None else most), eager=True).alias("id").to_frame()
            )
            yield made if condition is None else made.filter(condition)

    return register_io_source(blocks, schema=pl.Schema({"id": pl.Int64}), is_pure=True)


def duckdb_rows(n):
    import duckdb

    duckdb.sql(f"set threads = {os.environ['STEELYARD_SCALE_CORES']}; set memory_limit = '700MB'")
    return duckdb.sql(
        "select cast(range % 100 = 0 as tinyint) y, cast(range % 77 = 0 as tinyint) p, "
        "(range * 7919 % 1000003) / 1000003 s, cast(range // 100 % 10000 as integer) g "
        f"from range({n})"
    )


def child(engine, work, n):
    """Count once and print what it took."""
    from steelyard import tally

    make = {"polars": polars_rows, "duckdb": duckdb_rows}[engine]
    tally(make(1000), true="y", **WORKS[work])
    memory.fresh()
    clock, processor = time.perf_counter(), time.process_time()
    counted = tally(make(n), true="y", **WORKS[work])
    took = {"clock": time.perf_counter() - clock, "cpu": time.process_time() - processor}
    if counted.rows != n:
        raise SystemExit(f"{counted.rows} rows were counted of {n}")
    table = len(counted.to_json())
    print(json.dumps({**took, "peak": memory.highest(), "table": table, "load": os.getloadavg()[0]}))


def counted(engine, work, cores, n):
    """The figures of one run in a process that has so many cores."""
    environment = {**os.environ, "POLARS_MAX_THREADS": str(cores), "STEELYARD_SCALE_CORES": str(cores)}
    here = f"import os; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{cores}])\n"
    code = f"{here}from benchmarks import scale; scale.child({engine!r}, {work!r}, {n})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    if ran.returncode:
        raise SystemExit(ran.stderr[-2000:])
    return json.loads(ran.stdout.splitlines()[-1])


def row(engine, work, cores, n, took):
    rate = n / took["cpu"]
    return (
        f"| {engine} | {work} | {n:.0e} | {cores} | {took['clock']:.0f} | {took['cpu']:.1f} | {rate / 1e6:.1f} | "
        f"{took['peak'] / 2**20:.0f} | {took['table'] / 1000:.1f} | {took['load']:.1f} |"
    ).replace("e+0", "e")


def place(line):
    """Where a line stands in the table: by engine, work, rows and cores."""
    engine, work, rows, cores = (cell.strip() for cell in line.split("|")[1:5])
    return ENGINES.index(engine), list(WORKS).index(work), float(rows), int(cores)


def written(page, lines):
    """The page with the lines among the former ones, in place of those of the same work."""
    start, end = MARKS
    former = re.search(f"{start}(.*?){end}", page, re.DOTALL)[1].strip().splitlines()[len(HEAD) :]
    merged = {place(line): line for line in [*former, *lines]}
    text = "\n".join([start, "", *HEAD, *(merged[key] for key in sorted(merged)), "", end])
    return re.sub(f"{start}.*?{end}", lambda _: text, page, flags=re.DOTALL)


def main():
    given = argparse.ArgumentParser(description="Count very many rows and write docs/how/scale.md.")
    given.add_argument("--rows", type=float, default=1e9)
    given.add_argument("--engine", choices=ENGINES, action="append", help="this engine alone; repeatable")
    given.add_argument("--work", choices=WORKS, action="append", help="this work alone; repeatable")
    given.add_argument("--print", action="store_true", help="write no page")
    asked = given.parse_args()
    n, most = int(asked.rows), len(os.sched_getaffinity(0))
    cores = sorted({1, *(2**k for k in range(1, 10) if 2**k < most), most})
    for engine, work, several in product(asked.engine or ENGINES, asked.work or WORKS, cores):
        line = row(engine, work, several, n, counted(engine, work, several, n))
        print(line, flush=True)
        if not asked.print:
            PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), [line]), encoding="utf-8")


if __name__ == "__main__":
    main()
