"""Clusters: Dask distributed, Ray Data, Daft and Spark Connect count what arrays count.

Each starts processes of its own, so they run by `make test-engines`, which sets STEELYARD_CLUSTERS.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from drawn_tables import assert_counted_alike, drawn_tables
from engines import ENGINES, needs
from hypothesis import Phase, given, settings

from steelyard import evaluate, tally
from steelyard.exceptions import InputError, InputTypeError

if not os.environ.get("STEELYARD_CLUSTERS"):
    pytest.skip("clusters are started by make test-engines", allow_module_level=True)

ROWS = 3000
OPTIONS = [
    {"pred": "p"},
    {"pred": "p", "by": "site", "weight": "w"},
    {"score": "s", "exact": True},
    {"score": "s", "exact": False, "by": "site"},
]


FEW = settings(max_examples=4, phases=[Phase.generate])  # of engines that take seconds for each


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    truth = (rng.random(ROWS) < 0.1).astype(int)
    columns = {"y": truth, "p": (rng.random(ROWS) + 0.3 * truth > 0.6).astype(int), "s": rng.random(ROWS)}
    return pl.DataFrame({**columns, "w": rng.random(ROWS), "site": rng.choice(["a", "b", None, "ü"], ROWS)})


def assert_same(frame, rows):
    """Labels, weights, groups, scores and bins of the frame are those of the rows."""
    for options in OPTIONS:
        assert tally(frame, true="y", **options) == tally(rows, true="y", **options)


# ---------------------------------------------------------------- Dask


def kill_once(part, flag):
    """End the worker that comes first."""
    if not os.path.exists(flag):  # noqa: PTH110
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def kill(part):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def dask_frame(rows):
    """The rows in four partitions on two worker processes, of which a task may take one with it."""
    distributed, dask = needs("distributed"), needs("dask")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster),
    ):
        yield needs("dask.dataframe").from_pandas(rows.to_pandas(), npartitions=4)


def test_workers_of_dask_count_without_steelyard(dask_frame, rows):
    assert_same(dask_frame, rows)
    loaded = needs("distributed").default_client().run(lambda: [m for m in sys.modules if m.startswith("steelyard")])
    assert len(loaded) == 2 and not any(loaded.values())


def test_a_killed_worker_of_dask_is_replaced_and_a_deadly_task_is_one_sentence(dask_frame, rows, tmp_path):
    whole = tally(rows, true="y", pred="p")
    once = dask_frame.map_partitions(kill_once, str(tmp_path / "flag"), meta=dask_frame._meta)
    assert tally(once, true="y", pred="p") == whole and (tmp_path / "flag").exists()
    with pytest.raises(
        InputError, match=r"^dask could not count the rows \(.*died.*\); nothing was kept, so run it"
    ) as raised:
        tally(dask_frame.map_partitions(kill, meta=dask_frame._meta), true="y", pred="p")
    assert "\n" not in str(raised.value)
    assert tally(dask_frame, true="y", pred="p") == whole


# ---------------------------------------------------------------- Ray Data


@pytest.fixture(scope="module")
def dataset(rows):
    """The rows in blocks of uneven size."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray = needs("ray")
        options = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.CRITICAL}
        ray.init(num_cpus=2, object_store_memory=100 * 2**20, **options)
        from ray.data import DataContext, from_arrow

        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        DataContext.get_current().enable_progress_bars = False
        yield from_arrow([rows[start:stop].to_arrow() for start, stop in ((0, 10), (10, 2000), (2000, ROWS))])
        ray.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_blocks_of_ray_are_counted_as_frames(dataset, rows):
    assert_same(dataset, rows)
    report = evaluate(dataset, true="y", score="s", by="site")
    assert report.to_json() == evaluate(rows, true="y", score="s", by="site").to_json()
    with pytest.raises(InputError, match="There is no column 'q'; there are 'y', 'p', 's'"):
        tally(dataset, true="q", pred="p")


@pytest.mark.filterwarnings("ignore")
def test_tasks_of_ray_tally_blocks_that_add_up(dataset, rows):
    """What the page on scale shows: only the tables travel."""
    ray = needs("ray")
    count = ray.remote(lambda block: tally(block, true="y", pred="p", labels=[0, 1], by="site"))
    first, *others = ray.get([count.remote(block) for block in dataset.to_arrow_refs()])
    assert sum(others, first) == tally(rows, true="y", pred="p", by="site")


@pytest.mark.filterwarnings("ignore")
def test_a_failing_task_of_ray_is_one_sentence(dataset, rows):
    def broken(block):
        if len(block["y"]) > 1500:
            raise ValueError("sensor 7 is broken")
        return block

    with pytest.raises(InputError) as raised:
        tally(dataset.map_batches(broken, batch_size=None), true="y", pred="p")
    sentence = "ray could not count the rows (ValueError: sensor 7 is broken); nothing was kept, so run it again."
    assert str(raised.value) == sentence
    assert tally(dataset, true="y", pred="p") == tally(rows, true="y", pred="p")


@pytest.mark.filterwarnings("ignore")
@FEW
@given(drawn=drawn_tables())
def test_drawn_datasets_of_ray_are_counted_as_arrays_are(dataset, drawn):
    from ray.data import from_arrow

    assert_counted_alike(from_arrow, drawn)


# ---------------------------------------------------------------- Daft


@FEW
@given(drawn=drawn_tables())
def test_drawn_frames_of_daft_are_counted_as_arrays_are(drawn):
    needs("narwhals_daft")
    assert_counted_alike(needs("daft").from_arrow, drawn)


def test_daft_counts_by_its_own_engine(rows):
    daft = needs("daft")
    needs("narwhals_daft")
    assert_same(daft.from_arrow(rows.to_arrow()), rows)


def test_daft_without_the_plugin_of_narwhals_is_refused_by_name(rows, monkeypatch):
    import narwhals as nw

    frame = needs("daft").from_arrow(rows.to_arrow())

    def without(*_, **__):
        raise TypeError

    monkeypatch.setattr(nw, "from_native", without)
    with pytest.raises(InputTypeError, match=r"plugin for Daft, which is not installed: pip install narwhals-daft\.$"):
        tally(frame, true="y", pred="p")


# ---------------------------------------------------------------- Spark


@pytest.mark.filterwarnings("ignore")
@FEW
@given(drawn=drawn_tables())
def test_drawn_frames_of_spark_are_counted_as_arrays_are(drawn):
    assert_counted_alike(ENGINES["pyspark"], drawn)


def run_spark(script, tmp_path, arguments=(), **environment):
    """What a program with a Spark of its own prints: one process holds one session."""
    needs("pyspark")
    path = tmp_path / "program.py"
    path.write_text(SPARK_ROWS + script)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", path, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert not ran.returncode, ran.stderr[-3000:]
    return ran.stdout


SPARK_ROWS = """
import sys
import polars as pl
from pyspark.sql import SparkSession
from steelyard import tally
from steelyard.exceptions import InputError

def session(builder):
    options = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1",
               "spark.driver.bindAddress": "127.0.0.1", "spark.ui.showConsoleProgress": "false"}
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()

EXPRESSIONS = "cast(id % 10 = 0 as int) y", "cast(id % 7 = 0 as int) p", "(id * 37 % 1024) / 1024D s", "id % 3 site"
ids = pl.int_range(4000, eager=True).alias("id").to_frame()
here = ids.select(y=(pl.col("id") % 10 == 0).cast(int), p=(pl.col("id") % 7 == 0).cast(int),
                  s=(pl.col("id") * 37 % 1024) / 1024, site=pl.col("id") % 3)
OPTIONS = {"pred": "p"}, {"pred": "p", "by": "site"}, {"score": "s", "exact": False}
"""


def test_spark_connect_counts_what_arrays_count(tmp_path):
    needs("grpc")
    script = """
rows = session(SparkSession.builder.remote("local[2]")).range(4000).selectExpr(*EXPRESSIONS)
assert "connect" in type(rows).__module__
for options in OPTIONS:
    assert tally(rows, true="y", **options) == tally(here, true="y", **options), options
print("same")
"""
    assert run_spark(script, tmp_path).endswith("same\n")


LOST = """
import os, signal

rows = session(SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.executor.memory", "512m"))
rows.sparkContext.setLogLevel("OFF")
rows = rows.range(0, 4000, 1, 4).selectExpr(*EXPRESSIONS)
assert tally(rows, true="y", pred="p") == tally(here, true="y", pred="p")

def end_executor():
    daemon = os.getppid()
    with open(f"/proc/{daemon}/status") as status:
        executor = next(int(line.split()[1]) for line in status if line.startswith("PPid:"))
    with open(f"/proc/{executor}/cmdline") as line:
        assert "CoarseGrainedExecutorBackend" in line.read()
    os.kill(executor, signal.SIGKILL)

def deadly(flag):
    def batches(parts):
        if flag is None or not os.path.exists(flag):
            if flag is not None:
                open(flag, "w").close()
            end_executor()
        yield from parts
    return rows.mapInArrow(batches, rows.schema)

for number, options in enumerate(OPTIONS[1:]):
    flag = f"{sys.argv[1]}{number}"
    assert tally(deadly(flag), true="y", **options) == tally(here, true="y", **options), options
    assert os.path.exists(flag)
print("replaced")
try:
    tally(deadly(None), true="y", pred="p")
except InputError as error:
    print(error)
assert tally(rows, true="y", pred="p") == tally(here, true="y", pred="p")
print("same")
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="/proc names the executor of a task")
def test_a_lost_executor_of_spark_is_replaced_and_a_deadly_task_is_one_sentence(tmp_path):
    first, sentence, last = run_spark(
        LOST, tmp_path, [str(tmp_path / "flag")], PYSPARK_PYTHON=sys.executable
    ).splitlines()
    assert (first, last) == ("replaced", "same")
    assert sentence.startswith("pyspark could not count the rows (") and sentence.endswith("so run it again.")
