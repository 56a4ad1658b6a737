"""Files of every kind give the tally of the rows they hold, in bounded memory."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from datetime import date, datetime, timedelta
from types import SimpleNamespace
from urllib.parse import quote

import numpy as np
import polars as pl
import pytest
from checks import assert_refused
from command_line import run_command

import steelyard
from steelyard import Predictions, tally
from steelyard.exceptions import InputError, InputTypeError
from steelyard.files import reading

ROWS = 300
MIDNIGHT = datetime.fromisoformat("2024-01-01")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, ROWS)
    columns = {
        "y": truth, "p": (truth + (rng.random(ROWS) < 0.2)) % 2, "s": np.round(rng.random(ROWS), 4),
        "w": rng.random(ROWS), "n": rng.integers(0, 3, ROWS), "site": rng.choice(["a", "b, c", 'd "e"'], ROWS),
    }  # fmt: skip
    return pl.DataFrame(columns)


def zipped(data):
    return gzip.compress(data)


def zstd(data):
    if sys.version_info >= (3, 14):
        from compression import zstd as module

        return module.compress(data)
    return pytest.importorskip("zstandard").compress(data)


def csv(frame, **options):
    return frame.write_csv(**options).encode()


def binary(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


KINDS = {
    "rows.csv": csv,
    "rows.tsv": lambda f: csv(f, separator="\t"),
    "rows.txt": lambda f: csv(f, separator=";"),
    "bars.csv": lambda f: csv(f, separator="|"),
    "marked.csv": lambda f: csv(f, include_bom=True),
    "windows.csv": lambda f: csv(f, line_terminator="\r\n"),
    "quoted.csv": lambda f: csv(f, quote_style="always"),
    "floats.csv": lambda f: csv(f.with_columns(pl.col("y", "p").cast(pl.Float64))),
    "blank.csv": lambda f: csv(f).replace(b"\n", b"\n\n", 3) + b"\n\n",
    "rows.parquet": lambda f: binary(f.write_parquet),
    "rows.arrow": lambda f: binary(f.write_ipc),
    "rows.feather": lambda f: binary(lambda b: f.write_ipc(b, compression="zstd")),
    "rows.arrows": lambda f: binary(f.write_ipc_stream),
    "rows.jsonl": lambda f: f.write_ndjson().encode(),
    "rows.json": lambda f: f.write_ndjson().encode(),
    "no-ending": lambda f: f.write_ndjson().encode(),
    "rows.csv.gz": lambda f: zipped(csv(f)),
    "two.csv.gz": lambda f: zipped(csv(f)[:999]) + zipped(csv(f)[999:]),
    "rows.parquet.gz": lambda f: zipped(binary(f.write_parquet)),
    "rows.jsonl.zst": lambda f: zstd(f.write_ndjson().encode()),
    "rows.csv.zst": lambda f: zstd(csv(f)),
    "two.csv.zst": lambda f: zstd(csv(f)[:999]) + zstd(csv(f)[999:]),
    "misnamed.parquet": csv,
}


def read(names, **columns):
    with reading.scan_files([str(name) for name in names]) as source:
        return tally(source, **{"true": "y", **columns})


ALL = {"pred": "p", "score": "s", "weight": "w", "frequency": "n", "by": "site"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_every_kind_gives_the_tally_of_its_rows(kind, frame, tmp_path):
    path = tmp_path / kind
    path.write_bytes(KINDS[kind](frame))
    for options in (ALL, {**ALL, "exact": False}, {"pred": "p"}):
        found, expected = read([path], **options), tally(frame, true="y", **options)
        assert found.labels == (0, 1)
        assert found == expected
    assert [p.name for p in tmp_path.iterdir()] == [kind]


@pytest.mark.parametrize("kind", ["rows.csv", "rows.parquet", "rows.arrows", "rows.jsonl", "rows.csv.gz"])
def test_the_standard_input_is_read(kind, frame, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(KINDS[kind](frame))))
    assert read(["-"], **ALL) == tally(frame, true="y", **ALL)


@pytest.mark.parametrize("kind", ["part.csv", "part.parquet", "part.jsonl", "part.arrow"])
def test_several_files_and_patterns_are_one_set_of_rows(kind, frame, tmp_path):
    write = KINDS[kind.replace("part", "rows")]
    paths = [tmp_path / f"{i}-{kind}" for i in range(3)]
    for path, start in zip(paths, (0, 100, 200), strict=True):
        path.write_bytes(write(frame[start : start + 100]))
    whole = tally(frame, true="y", pred="p", score="s")
    assert read(paths, pred="p", score="s") == read([tmp_path / f"?-{kind}"], pred="p", score="s") == whole
    assert read(paths, pred="p", score="s", exact=False) == tally(frame, true="y", pred="p", score="s", exact=False)
    assert sum((read([path], pred="p", score="s") for path in paths[1:]), read(paths[:1], pred="p", score="s")) == whole


def test_a_name_with_a_bracket_is_a_file_before_it_is_a_pattern(frame, tmp_path):
    path = tmp_path / "rows[1].csv"
    path.write_bytes(csv(frame))
    frame.write_ipc(tmp_path / "rows[1].arrow")
    assert read([path], pred="p").rows == read([tmp_path / "rows[1].arrow"], pred="p").rows == ROWS


def test_a_long_parquet_file_is_counted_in_parts(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "PART_ROWS", 70)
    path, seen = tmp_path / "rows.parquet", []
    frame.write_parquet(path, row_group_size=50)
    with reading.scan_files([str(path)], lambda done, total: seen.append((done, total))) as source:
        assert len(source.parts) == 5
        found = tally(source, true="y", **ALL)
    whole = tally(frame, true="y", **ALL)
    assert found.scores == whole.scores and list(found.groups) == list(whole.groups)
    np.testing.assert_array_equal(found.confusion.rows, whole.confusion.rows)
    np.testing.assert_allclose(found.confusion.weights, whole.confusion.weights, rtol=1e-12)
    assert seen[4] == (5, 5)
    for column, words in (("s", "1 missing (null or NaN), the first in row 234;"), ("w", "holds NaN")):
        bad = frame.with_columns(
            pl.when(pl.int_range(pl.len()) == 233).then(None).otherwise(pl.col(column)).alias(column)
        )
        bad.write_parquet(path)
        assert_refused(lambda: read([path], **ALL), InputError, words.replace("(", r"\(").replace(")", r"\)"))


def test_weighing_a_file_again_gives_the_same_digits(tmp_path):
    rng, rows = np.random.default_rng(2), 2_000_000  # enough that threads share the work, in another order each time
    columns = {
        "y": rng.integers(0, 2, rows),
        "p": rng.integers(0, 2, rows),
        "s": rng.random(rows),
        "w": rng.random(rows),
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "rows.parquet", row_group_size=100_000)
    options = {"pred": "p", "score": "s", "weight": "w", "exact": False}
    assert len({read([tmp_path / "rows.parquet"], **options).to_json() for _ in range(3)}) == 1
    exact = steelyard.confusion(columns["y"], columns["p"], sample_weight=columns["w"])
    np.testing.assert_allclose(
        read([tmp_path / "rows.parquet"], **options).confusion.weights, exact.weights, rtol=1e-12
    )


def test_more_rows_than_fit_are_binned_unless_asked_otherwise(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("steelyard.frames.rows.EXACT_ROWS", ROWS - 1)
    path = tmp_path / "rows.parquet"
    frame.with_columns(s=pl.col("s") / 1e6).write_parquet(path)
    assert len(read([path], score="s").scores.bins)
    assert not len(read([path], score="s", exact=True).scores.bins)
    with reading.scan_files([str(path)]) as source:
        refused = lambda: steelyard.compare(source, score=["s", "w"], true="y")
        assert_refused(refused, InputError, "needs every row in memory")


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["1", "0"], (0, 1)), (["1.0", "0.0"], (0, 1)), (["True", "False"], (False, True)), (["TRUE", "false"], (False, True)),
        (["007", "008"], ("007", "008")), (["1e3", "0"], (0, 1000)), (["-1", "+1"], (-1, 1)), (["mild", "none"], ("mild", "none")),
        (["yes", "no"], ("no", "yes")), (["1", "no"], ("1", "no")), ([" 1", "0 "], (0, 1)), ([" yes", "no"], ("no", "yes")),
        (["12345678901234567890", "0"], (0, 12345678901234567890)),
    ],
)  # fmt: skip
def test_labels_of_a_text_file_are_numbers_or_truth_values_where_all_are(cells, labels, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,p,q,s\n" + "".join(f"{a},{b},{a},{i}\n" for i, (a, b) in enumerate([cells, cells[::-1]])))
    found = read([path], pred="p")
    assert found.labels == labels
    assert list(map(type, found.labels)) == list(map(type, labels))
    assert read([path], score="s", pos_label=str(labels[1])).scores.label == labels[1]
    assert read([path], score="s", pos_label=str(labels[1]), exact=False).scores.label == labels[1]
    named = {"true": "y", "pos_label": str(labels[1])}
    assert {row.true for row in steelyard.errors(path, pred="p", **named)} == set(labels)
    compared = steelyard.compare(path, pred=["p", "q"], metrics=["accuracy"], **named)
    assert all(set(table.labels) == set(labels) for table in compared.tables.labels.values())


def test_truth_values_and_zero_one_are_the_same_labels(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,p,s\nTRUE,1,0.9\nFALSE,0,0.1\nTRUE,0.0,0.2\n")
    assert read([path], pred="p").confusion == steelyard.confusion([True, False, True], [True, False, False])


@pytest.mark.parametrize(
    "column", ["2023,2024,2023", "0.5,1,0.5", "true,false,true", "x,y,x", "2023,,2023", "NaN,1.5,2"]
)
def test_groups_of_text_files_and_of_others_add_up(column, tmp_path):
    cells = column.split(",")
    text = tmp_path / "rows.csv"
    text.write_text("y,p,g\n" + "".join(f"{i % 2},1,{cell}\n" for i, cell in enumerate(cells)))
    typed = {
        "2023": [2023, 2024, 2023],
        "0.5": [0.5, 1.0, 0.5],
        "true": [True, False, True],
        "NaN": [float("nan"), 1.5, 2],
    }
    values = [2023, None, 2023] if "" in cells else typed.get(cells[0], cells)
    pl.DataFrame({"y": [0, 1, 0], "p": [1, 1, 1], "g": values}).write_parquet(tmp_path / "rows.parquet")
    one, other = (read([tmp_path / name], pred="p", by="g") for name in ("rows.csv", "rows.parquet"))
    assert one == other
    assert {key: group.rows for key, group in (one + other).groups.items()} == {
        key: 2 * group.rows for key, group in one.groups.items()
    }


def test_json_lines_may_change_their_mind_late(tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = [{"y": i % 2, "s": i % 2} for i in range(2_000)] + [
        {"y": 1, "s": 0.705, "p": 1},
        {"y": 0, "s": 0.2, "p": 0},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = read([path], score="s").scores
    assert found == steelyard.score_table([line["y"] for line in lines], [line["s"] for line in lines])
    assert_refused(lambda: read([path], pred="p"), InputError, "The column 'p' holds missing labels")


REFUSED = [
    ("fractions.csv", b"y,p,s\n1,0.7,0.5\n0,0.2,0.1\n", InputError, "The column 'p' holds 0.2: a label is text or a whole number. Are these scores"),
    ("words.csv", b"y,p,s\nyes,1,0.5\nno,0,0.1\n", InputTypeError, "'y' holds text such as 'no' and the column 'p' numbers such as 0"),
    ("na.csv", b"y,p,s\n1,0,0.5\nNA,0,0.1\n0,1,0.2\n", InputError, r"The column 'y' holds missing labels \(NA\); drop those rows"),
    ("nan.label.csv", b"y,p,s\n1,0,0.5\n1,nan,0.1\n0,1,0.2\n", InputError, r"The column 'p' holds missing labels \(nan\)"),
    ("none.csv", b"y,p,s\n1,0,0.5\n1,None,0.1\n0,1,0.2\n", InputError, r"The column 'p' holds missing labels \(None\)"),
    ("space.csv", b"y,p,s\n1,0,0.5\n1, ,0.1\n0,1,0.2\n", InputError, "The column 'p' holds missing labels; drop"),
    ("short.csv", b"y,p,s\n1,0,0.5\n0,0\n1,1,0.2\n", InputError, "'.*short.csv' has 2 cells in row 2 and 3 in its header"),
    ("long.csv", b"y,p,s\n1,0,0.5\n0,0,0.1\n1,1,0.2,9\n", InputError, "has 4 cells in row 3 and 3 in its header"),
    ("cut.csv", b"y,p,s\n1,0,0.5\n0", InputError, "has 1 cells in row 2 and 3 in its header"),
    ("text.csv", b"y,p,s\n1,0,0.5\n0,0,low\n1,1,0.2\n", InputTypeError, "The column 's' holds 'low' in row 2; a number was"),
    ("comma.csv", b"y;p;s\n1;0;0,5\n0;0;0,1\n", InputTypeError, "The column 's' holds '0,5' in row 1; a number was expected"),
    ("null.csv", b"y,p,s\n1,0,0.5\n0,0,\n1,1,0.2\n", InputError, r"1 missing \(null or NaN\), the first in row 2"),
    ("nan.csv", b"y,p,s\n1,0,0.5\n0,0,0.1\n1,1,NaN\n", InputError, r"1 missing \(null or NaN\), the first in row 3"),
    ("inf.csv", b"y,p,s\n1,0,inf\n0,0,0.1\n1,1,0.4\n", InputError, "1 infinite, the first in row 1"),
    ("label.csv", b"y,p,s\n1,0,0.5\n,0,0.1\n1,1,0.2\n", InputError, "The column 'y' holds missing labels"),
    ("header.csv", b"y,p,s\n", InputError, "There are no rows to count"),
    ("empty.csv", b"", InputError, "is empty; give a file with a header"),
    ("blank.csv", b" \n\n", InputError, "holds nothing but blanks"),
    ("open.csv", b'y,p,s\n"1,0,0.5\n0,0,0.1\n', InputError, "open.csv"),
    ("latin.csv", b"y,p,s\n" + b"1,0,0.5\n" * 2000 + b"\xe9,0,1\n", InputError, "cannot be read: .*utf-8"),
    ("noise", bytes(range(256)) * 8, InputError, "is not a file of predictions; give CSV, TSV"),
    ("noise.csv", b"\x80\x81\x82" * 3000, InputError, "is not a file of predictions; give CSV, TSV"),
    ("cut.parquet", lambda f: KINDS["rows.parquet"](f)[:-50], InputError, "cannot be read: "),
    ("cut.arrow", lambda f: KINDS["rows.arrow"](f)[:-50], InputError, "cannot be read: "),
    ("cut.arrows", lambda f: KINDS["rows.arrows"](f)[:-90], InputError, "cannot be read: "),
    ("cut.jsonl", b'{"y": 1, "p": 0, "s": 0.5}\n{"y": 1, "p"', InputError, "cannot be read: "),
    ("list.json", b'[{"y": 1, "p": 0, "s": 0.5}]', InputError, "holds a list; give JSON lines"),
    ("cut.csv.gz", lambda f: zipped(csv(f))[:-20], InputError, "is a gzip file that cannot be unpacked: it is truncated or dam"),
    ("hurt.csv.gz", lambda f: (z := zipped(csv(f)))[:60] + b"\0\1\2\3" + z[64:], InputError, "cannot be unpacked"),
    ("cut.csv.zst", lambda f: zstd(csv(f))[:-20], InputError, "is a zstd file that cannot be unpacked"),
    ("hurt.csv.zst", lambda f: (z := zstd(csv(f)))[:8] + b"\xff" * 40 + z[48:], InputError, "cannot be unpacked"),
    ("nested.csv.gz.gz", lambda f: zipped(zipped(csv(f))), InputError, "is packed twice, or by zlib; unpack it first"),
    ("nested.csv.gz.zst", lambda f: zstd(zipped(csv(f))), InputError, "is packed twice, or by zlib; unpack it first"),
    ("zlib.csv", lambda f: zlib.compress(csv(f)), InputError, "is packed twice, or by zlib; unpack it first"),
    ("empty.csv.gz", lambda f: zipped(b""), InputError, "holds nothing but blanks|is empty"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "kind", "words"), REFUSED, ids=[case[0] for case in REFUSED])
def test_a_file_that_cannot_be_weighed_is_refused_in_one_sentence(name, data, kind, words, frame, tmp_path):
    path = tmp_path / name
    path.write_bytes(data(frame) if callable(data) else data)
    assert_refused(lambda: read([path], pred="p", score="s"), kind, words)


def test_text_among_weights_frequencies_and_compared_scores_is_refused_by_its_row(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,p,q,w,s\n1,0,1,1,1\n0,0,1,1,2\n1,1,0,x,3\n")
    with reading.scan_files([str(path)]) as source:
        words = "The column 'w' holds 'x' in row 3; a number was expected"
        for attempt in (
            lambda: tally(source, true="y", pred="p", weight="w"),
            lambda: tally(source, true="y", pred="p", frequency="w"),
            lambda: tally(source, true="y", score="s", weight="w", exact=False),
            lambda: steelyard.compare(path, true="y", pred=["p", "q"], frequency="w"),
            lambda: steelyard.compare(path, true="y", score=["s", "w"]),
        ):
            assert_refused(attempt, InputTypeError, words)


def test_files_that_are_not_there_or_not_alike_are_refused(frame, tmp_path):
    (tmp_path / "a.csv").write_bytes(csv(frame))
    frame.write_parquet(tmp_path / "b.parquet")
    (tmp_path / "c.csv").write_text("y,q\n1,1\n")
    (tmp_path / "empty").mkdir()
    for names, words in (
        ([tmp_path / "none.csv"], "There is no file '.*none.csv'"),
        ([tmp_path / "*.arrow"], "No file fits "),
        ([tmp_path], r"of different kinds \(csv, parquet\)"),
        ([tmp_path / "empty"], r"The folder '.*empty' holds no files; give one with files of predictions"),
        (["s3://bucket/a.parquet"], r"There is no file 's3://.*; read the address by an engine, such as polars"),
        ([tmp_path / "a.csv", tmp_path / "b.parquet"], r"of different kinds \(csv, parquet\)"),
        ([tmp_path / "a.csv", tmp_path / "c.csv"], "There is no column 'p' in|'p'"),
    ):
        assert_refused(lambda names=names: read(names, pred="p"), InputError, words)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_folder_is_its_files_and_the_names_of_folders_are_columns(frame, kind, tmp_path):
    frame = frame.with_columns(year=pl.int_range(pl.len()) % 2 + 2023, code=pl.lit("007"))
    frame = frame.with_columns(site=pl.when(pl.col("site") != "b, c").then("site"))
    for (site, year), part in frame.group_by("site", "year"):
        title = "__HIVE_DEFAULT_PARTITION__" if site is None else quote(site)
        folder = tmp_path / f"site={title}" / f"year={year}" / "code=007"
        folder.mkdir(parents=True)
        getattr(part.drop("site", "year", "code"), f"write_{kind}")(folder / f"part-0.{kind}")
        (folder / ".part-0.crc").write_text("no data")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_temporary" / "0").mkdir(parents=True)
    (tmp_path / "_temporary" / "0" / "part").write_text("half")
    for by in (["site"], ["year"], ["code"], ["site", "year"]):
        found = read([tmp_path], pred="p", by=by)
        whole = frame.with_columns(pl.col("year").cast(pl.String)) if kind == "csv" else frame
        expected = tally(whole, true="y", pred="p", by=by)
        assert found.confusion == expected.confusion
        titles = {tuple(map(str, key)): group for key, group in expected.groups.items()}
        assert {tuple(map(str, key)): group for key, group in found.groups.items()} == titles
    assert read([tmp_path / "site=a" / "year=*" / "*"], pred="p", by="year").rows == (frame["site"] == "a").sum()


def test_partitions_of_equal_bytes_are_other_rows_and_the_same_file_is_still_noticed(tmp_path):
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        (tmp_path / f"day={day}" / "part.csv").write_text("y,p\n1,1\n0,0\n0,1\n")
    counted = read([tmp_path], true="y", pred="p", by="day")
    assert counted.rows == 6 and [*counted.groups] == [(1,), (2,)]
    (tmp_path / "day=2" / "copy.csv").write_text("y,p\n1,1\n0,0\n0,1\n")
    with pytest.raises(InputError, match="would be counted twice"):
        read([tmp_path], true="y", pred="p")


@pytest.mark.parametrize(
    ("folder", "column", "kept"),
    [("site=a", ["a", "a"], "a"), ("year=2024", [2024, 2024], 2024), ("year=2024", [2024.0, 2024.0], 2024.0)],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_that_says_what_its_folder_says_is_read(tmp_path, folder, column, kept, ending):
    _write_partition(tmp_path, folder, column, ending)
    assert [*read([tmp_path], pred="p", by=folder.partition("=")[0]).groups] == [(kept,)]


@pytest.mark.parametrize(
    ("folder", "column"),
    [
        ("year=2024.0", [2024, 2024]),
        ("x=0.1", pl.Series([0.1, 0.1], dtype=pl.Float32)),
        ("flag=True", [True, True]),
        ("flag=FALSE", [False, False]),
        ("day=2024-01-01", [date(2024, 1, 1)] * 2),
        ("t=2024-01-01", [MIDNIGHT] * 2),
        ("t=2024-01-01 06%3A30%3A00", [MIDNIGHT + timedelta(hours=6, minutes=30)] * 2),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_name_of_a_folder_is_read_as_the_type_of_the_column(tmp_path, folder, column, ending):
    _write_partition(tmp_path, folder, column, ending)
    assert read([tmp_path], pred="p").rows == 2


def test_the_name_of_a_folder_is_the_time_in_the_zone_of_the_column(tmp_path):
    _write_partition(tmp_path, "t=2024-01-01", pl.Series([MIDNIGHT] * 2).dt.replace_time_zone("Europe/Vienna"))
    assert read([tmp_path], pred="p").rows == 2


def _write_partition(root, folder, column, ending="parquet"):
    (root / folder).mkdir()
    frame = pl.DataFrame({"y": [1, 0], "p": [1, 1], folder.partition("=")[0]: column})
    getattr(frame, f"write_{ending}")(root / folder / f"part.{ending}")


@pytest.mark.parametrize(
    ("folder", "column", "held"),
    [
        ("site=a", ["a", "b"], "'b'"),
        ("site=a", ["a", None], "None"),
        ("year=2024", [2024, 2023], "'2023'"),
        ("site=__HIVE_DEFAULT_PARTITION__", [None, "b"], "'b'"),
        ("flag=True", [True, False], "'false'"),
        ("flag=a", [True, True], "'true'"),
        ("year=a", [2024, 2024], "'2024'"),
        ("id=9007199254740993", [9007199254740993, 9007199254740992], "'9007199254740992'"),
        ("t=2024-01-01", [MIDNIGHT, MIDNIGHT + timedelta(hours=6)], "'2024-01-01 06:00:00.000000'"),
        ("t=a", [date(2024, 1, 1)] * 2, "'2024-01-01'"),
    ],
)
def test_a_column_that_contradicts_its_folder_is_refused(tmp_path, folder, column, held):
    _write_partition(tmp_path, folder, column)
    name = folder.partition("=")[0]
    told = f"lies in a folder whose name says {folder}, and its own column {name!r} holds {held}; rename one"
    assert_refused(lambda: read([tmp_path], true="y", pred="p", by=name), InputError, told)


def test_of_a_file_that_is_named_itself_its_own_column_counts(tmp_path):
    (tmp_path / "run=5").mkdir()
    path = tmp_path / "run=5" / "part.csv"
    path.write_text("y,p,run\n1,1,7\n0,1,8\n")
    for name in (path, tmp_path / "run=*" / "*.csv"):
        assert [*read([name], pred="p", by="run").groups] == [(7,), (8,)]


def test_the_shell_refuses_a_contradiction_in_a_folder_and_reads_a_file_that_is_named(tmp_path):
    (tmp_path / "run=5").mkdir()
    path = tmp_path / "run=5" / "part.csv"
    path.write_text("y,p,run\n1,1,7\n0,1,8\n0,0,8\n")
    words = ("--true", "y", "--pred", "p")
    assert run_command("report", path, *words).exit_code == 0
    refused = run_command("report", tmp_path, *words)
    assert refused.exit_code == 2 and "whose name says run=5" in refused.output


def test_files_of_a_header_alone_are_read_however_many(tmp_path):
    rows = pl.DataFrame({"y": [1, 0], "p": [1, 1]})
    for ending, write in {"csv": "write_csv", "parquet": "write_parquet", "arrow": "write_ipc"}.items():
        for name in ("monday", "tuesday"):
            getattr(rows.clear(), write)(tmp_path / f"{name}.{ending}")
        getattr(rows, write)(tmp_path / f"wednesday.{ending}")
        assert read([tmp_path / f"*.{ending}"], true="y", pred="p").rows == 2
        with reading.scan_files([str(tmp_path / f"*.{ending}")]) as source:
            assert [*source.digests().values()] == [f"wednesday.{ending}"]


def test_a_header_of_very_many_columns_is_read_once(tmp_path):
    path, names = tmp_path / "wide.csv", ["y", "p", *(f"c{i}" for i in range(100_000))]
    path.write_text(",".join(names) + "\n")
    assert reading.csv_header(path, reading.SEPARATORS, "it") == (",", names)
    path.write_text(",".join([*names, "c7"]) + "\n")
    assert_refused(lambda: reading.csv_header(path, reading.SEPARATORS, "it"), InputError, "two columns called 'c7'")


@pytest.mark.parametrize("pack", [zipped, zstd], ids=["gzip", "zstd"])
def test_a_packed_file_may_not_grow_without_end(pack, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "ALWAYS_FINE", 2**20)
    monkeypatch.setattr(reading, "MOST_TIMES", 10)
    path = tmp_path / "bomb.csv"
    path.write_bytes(pack(b"y,p\n" + b"0,1\n" * 2**20))
    assert_refused(
        lambda: read([path], pred="p"), InputError, "unpacks to more than .* GiB, over 10 times its size; unpack it"
    )


def test_nothing_is_left_behind_in_the_temporary_folder(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(KINDS["rows.csv.gz"](frame))
    read([path], pred="p")
    assert_refused(lambda: read([path], pred="x"), InputError, "no column 'x'")
    assert [p.name for p in tmp_path.iterdir()] == ["rows.csv.gz"]


def test_a_tally_of_a_file_is_saved_and_read_again(frame, tmp_path):
    path = tmp_path / "rows.parquet"
    frame.write_parquet(path)
    found = read([path], **ALL)
    again = steelyard.tables.Tally.from_json(found.to_json())
    assert again == found and hash(again) == hash(found)
    assert json.loads(found.to_json())["kind"] == "tally"
    assert sum([found, again]).rows == 2 * found.rows


# ---------------------------------------------------------------- rows of conditions

CONDITIONS = [
    ("age >= 60 and site = B", [3]), ("age is missing", [1]), ("40 <= age < 60", [2]), ("site not in (A, B)", [2]),
    ("site = A and age < 40", [0]), ("site is missing", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rows"), CONDITIONS)
def test_a_condition_keeps_the_same_rows_of_files_frames_and_arrays(text, rows, tmp_path):
    columns = {"age": [30, None, 40, 71], "site": ["A", "A", "C", "B"], "y": [0, 1, 2, 3], "p": [0, 1, 2, 3]}
    path = tmp_path / "rows.csv"
    pl.DataFrame(columns).write_csv(path)
    asked = {"labels": range(4), "filter": text}
    kept = [Predictions(columns["y"], columns["y"], columns=columns, **asked)]
    for data in (pl.DataFrame(columns), pl.LazyFrame(columns), pl.DataFrame(columns).to_arrow(), path):
        kept.append(Predictions.read(data, true="y", pred="p", **asked))
    for each in kept:
        assert np.flatnonzero(each.confusion().rows.diagonal()).tolist() == rows


def test_a_condition_on_a_column_that_is_not_there_says_so():
    for refused in (
        lambda: Predictions([0], [1], columns={"age": [1]}, filter="aeg >= 1").confusion(),
        lambda: Predictions.read(pl.DataFrame({"age": [1]}), true="age", filter="aeg >= 1").confusion(),
    ):
        assert_refused(refused, InputError, "There is no column 'aeg'; there are 'age'. Did you mean 'age'")


# ---------------------------------------------------------------- one reading


def test_groups_of_a_text_file_are_numbers_beside_clusters_too(tmp_path):
    path = tmp_path / "rows.csv"
    rng = np.random.default_rng(5)
    y, year = rng.integers(0, 2, 400), rng.integers(2022, 2024, 400)
    columns = {"y": y, "s": np.round(0.3 * y + rng.random(400) / 2, 3), "patient": np.arange(400) // 4, "year": year}
    pl.DataFrame(columns).write_csv(path)
    asked = {"true": "y", "score": "s", "by": "year", "metrics": ["recall"], "threshold": 0.5}
    with reading.scan_files([str(path)]) as source:
        clustered, counted = (
            steelyard.evaluate(source, **asked, **options) for options in ({"cluster": "patient"}, {})
        )
    keys = [(2022,), (2023,)]
    assert [group.key for group in clustered.groups] == [group.key for group in counted.groups] == keys


@pytest.mark.parametrize(
    "attempt",
    [
        lambda data: tally(data, true="y", score="s"),
        lambda data: steelyard.compare(data, score=["s", "t"], true="y"),
        lambda data: steelyard.evaluate(data, true="y", score="s", cluster="c"),
        lambda data: steelyard.slices(data, true="y", score="s", features=["c"]),
        lambda data: steelyard.errors(data, true="y", score="s"),
        lambda data: steelyard.label_plan(data, 2, "f1", score="s"),
        lambda data: steelyard.unlabelled(
            data, score="s", reference=steelyard.score_table([0, 1] * 9, np.arange(18) / 18)
        ),
    ],
    ids=["tally", "compare", "clusters", "slices", "errors", "plan", "unlabelled"],
)
def test_every_question_refuses_a_missing_score_in_the_same_words(attempt):
    columns = {"y": [0, 1, 0, 1], "s": [0.2, 0.7, None, 0.6], "t": [0.1, 0.2, 0.3, 0.4], "c": ["a", "a", "b", "b"]}
    words = "The column 's' holds scores that are not numbers: 1 missing (null or NaN), the first in row 3; a score is"
    for data in (pl.DataFrame(columns), pl.LazyFrame(columns), pl.DataFrame(columns).to_pandas()):
        with pytest.raises(InputError) as refused:
            attempt(data)
        assert str(refused.value).startswith(words)


def test_frequencies_beyond_the_digits_of_a_float_are_counted_exactly():
    frame = pl.DataFrame({"y": [0, 1], "s": [0.1, 0.9], "n": [2**53 + 1, 3]})
    assert tally(frame, true="y", score="s", frequency="n").rows == 2**53 + 4
