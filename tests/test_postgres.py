"""PostgreSQL: a real server, started by an ordinary user on a socket, counts what arrays count; `make test-engines`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from drawn_tables import assert_counted_alike, drawn_tables
from engines import plain
from hypothesis import Phase, example, given, settings
from test_sql import NASTY, counted_by_names

import steelyard
from steelyard import sql, tally
from steelyard.exceptions import InputError

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: make test-engines installs it")

ROWS = 3000
LABELS = {  # the kind of the column, and the labels of negatives and positives
    "integer": (0, 1),
    "text": ("no", 'it\'s "yes"'),
    "boolean": (False, True),
    "numeric": (Decimal(0), Decimal(10**19)),
    "bigint": (0, 2**62 + 1),
}


def binaries():
    """Where the server's programs are."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    if not folders and found is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    return folders[0] if folders else Path(found).parent


@pytest.fixture(scope="module")
def server():
    """A server of our own on a socket in an empty folder; root starts it as nobody, since it refuses root."""
    programs, folder = binaries(), Path(tempfile.mkdtemp(prefix="pg"))  # the path of a socket has to be short
    user = {"user": "nobody", "extra_groups": []} if os.getuid() == 0 else {}
    if user:
        shutil.chown(folder, "nobody")
    data, log = folder / "data", folder / "log"
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"

    def run(program, *words):
        line = [programs / program, *words]
        ran = subprocess.run(list(map(str, line)), capture_output=True, text=True, check=False, cwd=folder, **user)
        assert not ran.returncode, ran.stderr

    run("initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C")
    run("pg_ctl", "-D", data, "-l", log, "-o", options, "-w", "start")
    yield f"host={folder} user=tester dbname=postgres"
    run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def columns():
    """Predictions in columns of every kind of label, and scores of two precisions."""
    rng = np.random.default_rng(3)
    truth = (rng.random(ROWS) < 0.1).astype(int)
    score = np.clip(rng.beta(2, 5, ROWS) + 0.3 * truth, 0, 1).astype(np.float32)
    flag = (score > 0.4).astype(int)
    named = {}
    for kind, values in LABELS.items():
        named |= {f"truth {kind}": [values[i] for i in truth], f"flag {kind}": [values[i] for i in flag]}
    beside = {"score": score.astype(float).tolist(), "site": rng.choice(["a", "b", "ü"], ROWS).tolist()}
    weight = [Decimal(int(cents)) / 100 for cents in rng.integers(0, 500, ROWS)]
    return {**named, **beside, "weight": weight}


@pytest.fixture(scope="module")
def connection(server, columns):
    """A connection to a table of these predictions."""
    kinds = [*(kind for kind in LABELS for _ in range(2)), "real", "text", "numeric(10, 2)"]
    with psycopg.connect(server, autocommit=True) as opened:
        fields = ", ".join(f'"{name}" {kind}' for name, kind in zip(columns, kinds, strict=True))
        opened.execute(f"CREATE TABLE preds ({fields})")
        with opened.cursor() as cursor, cursor.copy("COPY preds FROM STDIN") as copy:
            for row in zip(*columns.values(), strict=True):
                copy.write_row(row)
        yield opened


def frame_of(cursor):
    names = [column.name for column in cursor.description]
    return pl.DataFrame(cursor.fetchall(), schema=names, orient="row", infer_schema_length=None)


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_are_those_of_arrays(connection, columns, kind):
    true, pred = f"truth {kind}", f"flag {kind}"
    query = sql("public.preds", true=true, pred=pred, by="site", dialect="postgres")
    counted = tally(frame_of(connection.execute(query)), true=true, pred=pred, by="site")
    wanted = steelyard.confusion(columns[true], columns[pred])
    assert counted.confusion.rows.tolist() == wanted.rows.tolist()
    assert [*counted.confusion.labels] == [*wanted.labels]
    assert {key[0] for key in counted.groups} == {"a", "b", "ü"}


@pytest.mark.parametrize("place", range(len(NASTY)))
def test_names_that_hold_anything_are_quoted(connection, place):
    names = (NASTY + NASTY)[place : place + 4]
    connection.execute("BEGIN")
    try:
        counted_by_names(connection, "postgres", NASTY[place], names)
    finally:
        connection.execute("ROLLBACK")


def test_scores_are_binned_as_in_a_frame(connection, columns):
    query = sql("preds", true="truth integer", score="score", dialect="postgres", threshold=0.25)
    counted = tally(frame_of(connection.execute(query)), true="truth integer", score="score")
    names = {"true": "truth integer", "score": "score"}
    frame = pl.DataFrame({name: columns[name] for name in names.values()})
    assert counted.scores == tally(frame, **names, exact=False, threshold=0.25).scores


def test_weights_are_summed_on_the_server(connection, columns):
    names = {"true": "truth text", "pred": "flag text", "weight": "weight"}
    counted = tally(frame_of(connection.execute(sql("preds", **names))), **names).confusion
    weights = [float(weight) for weight in columns["weight"]]
    wanted = steelyard.confusion(columns["truth text"], columns["flag text"], sample_weight=weights)
    assert counted.labels == wanted.labels and counted.rows.tolist() == wanted.rows.tolist()
    for name in ("weights", "squares"):
        np.testing.assert_allclose(getattr(counted, name), getattr(wanted, name), rtol=1e-12)


def test_nulls_are_named_when_they_are_read(connection):
    connection.execute("CREATE TABLE IF NOT EXISTS missing AS SELECT 1 AS y, NULL::int AS p, NULL::real AS s")
    with pytest.raises(InputError, match="'p' holds missing labels"):
        tally(frame_of(connection.execute(sql("missing", true="y", pred="p"))), true="y", pred="p")
    with pytest.raises(InputError, match="not numbers"):
        tally(frame_of(connection.execute(sql("missing", true="y", score="s"))), true="y", score="s")


@pytest.fixture(scope="module")
def ibis_table(server):
    """The same table by Ibis, which sends the count to the server."""
    ibis = pytest.importorskip("ibis", reason="ibis is not installed")
    parts = dict(part.split("=") for part in server.split())
    backend = ibis.postgres.connect(host=parts["host"], user="tester", database="postgres")
    yield backend
    backend.disconnect()


def test_ibis_counts_on_the_server(connection, ibis_table, columns):
    counted = tally(ibis_table.table("preds"), true="truth text", pred="flag text", by="site")
    assert counted.confusion == steelyard.confusion(columns["truth text"], columns["flag text"])


def test_wrong_rows_are_counted_on_the_server(connection, ibis_table, columns):
    names = {"true": "truth integer", "pred": "flag integer"}
    rows = pl.DataFrame({name: columns[name] for name in names.values()})
    on_server = steelyard.errors(ibis_table.table("preds"), **names, first=3)
    assert on_server.headline == steelyard.errors(rows, **names, first=3).headline and on_server.errors > 3


TINY = {
    "y": [0, 1, 1],
    "p": [0, 1, 0],
    "s": [5e-324, 1e6, -5e-324],
    "weight": [1.0] * 3,
    "frequency": [1] * 3,
    "g": [1] * 3,
}


@settings(max_examples=6, phases=[Phase.explicit, Phase.generate])
@example(drawn=(TINY, 1, ()))
@given(drawn=drawn_tables())
def test_a_drawn_table_is_counted_on_the_server_as_arrays_are(server, drawn):
    import ibis

    backend = ibis.postgres.connect(**dict(part.split("=") for part in server.replace("dbname", "database").split()))

    def stored(table):
        """The rows as a table of the server that goes with its connection."""
        made = backend.create_table("drawn", schema=ibis.Schema.from_pyarrow(plain(table).schema), temp=True)
        with backend.con.cursor() as cursor, cursor.copy("COPY drawn FROM STDIN") as copy:
            for row in plain(table).to_pylist():
                copy.write_row(list(row.values()))
        backend.con.commit()
        return made

    try:
        assert_counted_alike(stored, drawn)
    finally:
        backend.disconnect()


def test_a_lost_connection_is_one_sentence_and_a_second_try_gives_the_numbers(server, connection, ibis_table, columns):
    import ibis

    parts = dict(part.split("=") for part in server.split())
    broken = ibis.postgres.connect(host=parts["host"], user="tester", database="postgres")
    table = broken.table("preds")
    pid = broken.con.info.backend_pid
    connection.execute("SELECT pg_terminate_backend(%s)", (pid,))
    with pytest.raises(InputError, match="could not count the rows") as refused:
        tally(table, true="truth integer", pred="flag integer")
    assert "\n" not in str(refused.value)
    again = tally(ibis_table.table("preds"), true="truth integer", pred="flag integer")
    assert again.confusion == steelyard.confusion(columns["truth integer"], columns["flag integer"])
