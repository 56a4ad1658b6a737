"""What fails in the middle: a kill, a full disk, a database that goes. One sentence, nothing half-written, rerun alike."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from engines import needs

from steelyard import tally, written_files
from steelyard.exceptions import InputError
from steelyard.frames import queries
from steelyard.tables import Tally

COMMAND = [sys.executable, "-m", "steelyard.cli"]
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such limits, signals and locks")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 3000)
    return pl.DataFrame({"y": truth, "p": rng.integers(0, 2, 3000), "s": rng.random(3000), "w": rng.random(3000)})


@pytest.fixture(scope="module")
def file(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    rows.write_parquet(path)
    return path


def shell(*words, **options):
    return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, check=False, **options)


# ---------------------------------------------------------------- a full disk


def bounded():
    """No file of the program may exceed 2,000 bytes, as where a disk is full.

    Python itself would write the first 2,000 bytes of compiled modules, and read these later.
    """
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))


@posix
@pytest.mark.parametrize("words", [["tally"], ["report"], ["report", "--format", "html"]], ids=" ".join)
def test_a_disk_that_fills_up_is_one_sentence_and_keeps_the_former_output(words, file, tmp_path):
    output = tmp_path / f"out.{words[-1] if len(words) > 1 else 'json'}"
    asked = [words[0], file, "--true", "y", "--score", "s", *words[1:], "-o", output]
    for former in (None, "what was there before"):
        forced = () if former is None else ("--force",)
        failed = shell(*asked, *forced, preexec_fn=bounded, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        assert failed.returncode == 2, failed.stderr
        assert failed.stderr == f"steelyard: {str(output)!r} cannot be written: File too large.\n" and not failed.stdout
        assert [path.name for path in tmp_path.iterdir()] == ([] if former is None else [output.name])
        assert former is None or output.read_text() == former
        output.write_text("what was there before")
    assert shell(*asked, "--force").returncode == 0
    again = tmp_path / f"again{output.suffix}"
    assert shell(*asked[:-1], again).returncode == 0
    assert output.read_bytes() == again.read_bytes()


@posix
def test_a_small_disk_is_one_sentence(file, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    if os.getuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted")
    try:
        failed = shell("tally", file, "--true", "y", "--score", "s", "-o", disk / "out.json")
        assert (failed.returncode, list(disk.iterdir())) == (2, [])
        assert failed.stderr == f"steelyard: {str(disk / 'out.json')!r} cannot be written: No space left on device.\n"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# ---------------------------------------------------------------- a kill

STOPPED = """
import os, runpy, signal, sys
from steelyard import written_files
from steelyard.frames import queries
def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)
{} = killed
runpy.run_module("steelyard", run_name="__main__")
"""


@posix
@pytest.mark.parametrize("moment", ["queries.fetch_columns", "written_files._copy_mode"])
def test_a_rerun_removes_what_a_killed_program_left_and_counts_the_same(moment, file, tmp_path):
    folder, out = tmp_path / "tmp", tmp_path / "out"
    folder.mkdir(), out.mkdir()
    settings = {**os.environ, "TMPDIR": str(folder)}
    asked = ["tally", str(file), "--true", "y", "--score", "s", "-o", str(out / "counts.json")]
    script = [sys.executable, "-c", STOPPED.format(moment), *asked]
    killed = subprocess.run(script, capture_output=True, check=False, env=settings)
    assert killed.returncode == -signal.SIGKILL and not killed.stdout and not (out / "counts.json").exists()
    left = [*out.iterdir(), *folder.iterdir()]
    # The folder of what is unpacked, which stays as long as the rows may be asked about, and the file being written.
    assert len(left) == 1 + (moment == "written_files._copy_mode")
    for path in left:
        os.utime(path, (time.time() - 3600,) * 2)
    assert shell(*asked, env=settings).returncode == 0
    assert [path.name for path in out.iterdir()] == ["counts.json"] and not list(folder.iterdir())
    written = Tally.from_json((out / "counts.json").read_text())
    assert written == tally(pl.read_parquet(file), true="y", score="s")


@posix
def test_what_a_running_program_writes_is_not_abandoned(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with (
        written_files.temporary_folder() as folder,
        written_files.replacement_file(tmp_path / "out.json") as file,
    ):
        for path in (folder, file):
            os.utime(path, (time.time() - 3600,) * 2)
        written_files.remove_abandoned(tmp_path, "steelyard-")
        written_files.remove_abandoned(tmp_path, ".out.json.")
        assert folder.exists() and file.exists()
    young, other, old = (tmp_path / f"steelyard-{name}" for name in ("0" * 16, "my notes", "1" * 16))
    for path in (young, other, old):
        path.mkdir()
    for path in (other, old):
        os.utime(path, (time.time() - 3600,) * 2)
    written_files.remove_abandoned(tmp_path, "steelyard-")
    assert (young.exists(), other.exists(), old.exists()) == (True, True, False)
    with written_files.locked(tmp_path / "nothing here"):
        pass


# ---------------------------------------------------------------- a database that goes


def sqlite_rows(rows, path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE preds (y INTEGER, p INTEGER, s REAL, w REAL)")
    connection.executemany("INSERT INTO preds VALUES (?, ?, ?, ?)", rows.rows())
    connection.commit()
    connection.close()
    return lambda: needs("ibis").sqlite.connect(path).table("preds")


def duckdb_rows(rows, path):
    duckdb = needs("duckdb")
    with duckdb.connect(path) as connection:
        connection.register("given", rows.to_arrow())
        connection.execute("CREATE TABLE preds AS SELECT * FROM given")
    return lambda: needs("ibis").duckdb.connect(path, read_only=True).table("preds")


def parquet_rows(rows, path):
    rows.write_parquet(path)
    return lambda: needs("duckdb").read_parquet(str(path))


STORES = {"SQLite": sqlite_rows, "Parquet of DuckDB": parquet_rows, "DuckDB": duckdb_rows}
OPTIONS = [{"pred": "p", "weight": "w"}, {"score": "s", "exact": False}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("damage", ["truncated", "removed"])
@pytest.mark.parametrize("store", STORES)
@pytest.mark.filterwarnings("ignore:.*fetch_arrow_table")  # by which Ibis 12 reads DuckDB 2
def test_a_file_that_goes_between_two_queries_is_one_sentence_or_the_right_numbers(
    store, damage, options, rows, tmp_path, monkeypatch
):
    path = tmp_path / "store"
    table = STORES[store](rows, path)
    whole, kept, collect = tally(rows, true="y", **options), path.read_bytes(), queries.collect
    asked = []

    def damaging(frame):
        asked.append(frame)
        if len(asked) == 2:
            path.unlink() if damage == "removed" else path.write_bytes(kept[: len(kept) // 3])
        return collect(frame)

    for module in ("queries", "scores"):
        monkeypatch.setattr(f"steelyard.frames.{module}.collect", damaging)
    try:
        counted = tally(table(), true="y", **options)
    except InputError as refused:
        sentence = str(refused)
        counted = None
    assert len(asked) >= 2
    if counted is None:
        assert "could not count the rows" in sentence and sentence.endswith("nothing was kept, so run it again.")
        assert "\n" not in sentence
    else:  # what an engine has read already, or holds open
        assert counted == whole
    monkeypatch.undo()
    path.write_bytes(kept)
    assert tally(table(), true="y", **options) == whole
