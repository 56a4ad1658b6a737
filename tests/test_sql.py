"""SQL: the counting query gives, in a real database, the tables that arrays give; what it gives is read as counts."""

from __future__ import annotations

import re
import shlex
import sqlite3
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from command_line import run_command
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import steelyard
from steelyard import sql, tally
from steelyard.exceptions import InputError, InputTypeError
from steelyard.tables import Tally

DIALECTS = ("postgres", "bigquery", "snowflake", "redshift", "mysql", "sqlite", "spark", "duckdb")
sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")
duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")

LABELS = {  # the labels 0 and 1 as each kind, with what DuckDB calls it
    "integer": ("INTEGER", [0, 1]),
    "text": ("VARCHAR", ["no", 'yes, it\'s "so"']),
    "boolean": ("BOOLEAN", [False, True]),
    "numeric": ("DECIMAL(20, 0)", [Decimal(0), Decimal(10**19)]),
    "bigint": ("BIGINT", [0, 2**62 + 1]),
}


@pytest.fixture(scope="module")
def rows():
    """Predictions of 4,000 rows at three sites, with scores."""
    rng = np.random.default_rng(7)
    truth = rng.random(4000) < 0.1
    score = np.clip(rng.beta(2, 5, 4000) + 0.3 * truth, 0, 1)
    site = rng.choice(["a", "b", "it's c"], 4000)
    weight = np.where(rng.random(4000) < 0.1, 0, rng.gamma(2, 3, 4000))
    labels = {"truth": truth.astype(int), "flag": (score >= 0.3).astype(int)}
    return {**labels, "score": score, "site": site, "weight": weight}


@pytest.fixture(scope="module")
def database(rows):
    """The same rows in DuckDB, with their labels as every kind."""
    base = pl.DataFrame(rows)
    connection = duckdb.connect()
    connection.register("base", base.to_arrow())
    cases = []
    for kind, (kind_of_sql, (no, yes)) in LABELS.items():
        texts = [str(value).replace("'", "''") for value in (no, yes)]
        for name in ("truth", "flag"):
            value = f"CASE WHEN {name} = 1 THEN '{texts[1]}' ELSE '{texts[0]}' END"
            cases.append(f'CAST({value} AS {kind_of_sql}) AS "{name} {kind}"')
    connection.execute(f"CREATE TABLE preds AS SELECT *, {', '.join(cases)} FROM base")
    return connection


def frame_of(cursor):
    """The rows of a cursor of Python's database interface."""
    names = [column[0] for column in cursor.description]
    return pl.DataFrame(cursor.fetchall(), schema=names, orient="row", infer_schema_length=None)


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_are_counted_as_in_arrays(database, rows, kind):
    _, values = LABELS[kind]
    true, pred = f"truth {kind}", f"flag {kind}"
    query = sql("preds", true=true, pred=pred, by="site", dialect="duckdb")
    counted = tally(database.sql(query), true=true, pred=pred, by="site")
    named = {use: [values[i] for i in rows[use]] for use in ("truth", "flag")}
    wanted = steelyard.confusion(named["truth"], named["flag"])
    assert counted.confusion.rows.tolist() == wanted.rows.tolist()
    assert [int(x) if kind == "numeric" else x for x in counted.confusion.labels] == [*wanted.labels]
    assert counted == tally(frame_of(database.execute(query)), true=true, pred=pred, by="site")
    assert sorted(key[0] for key in counted.groups) == ["a", "b", "it's c"]


@pytest.mark.parametrize("threshold", [None, 0.3])
def test_binned_scores_are_the_bins_of_a_frame(database, rows, threshold):
    query = sql("preds", true="truth", score="score", dialect="duckdb", threshold=threshold)
    frame = pl.DataFrame(rows)
    counted = tally(database.sql(query), true="truth", score="score")
    assert counted.scores == tally(frame, true="truth", score="score", exact=False, threshold=threshold).scores
    exact = steelyard.score_table(rows["truth"], rows["score"])
    assert steelyard.roc_auc(counted.scores) == pytest.approx(steelyard.roc_auc(exact), abs=1e-5)
    if threshold is not None:
        assert counted.scores.at(threshold) == exact.at(threshold)


@pytest.mark.parametrize("shift", [0.0, -2.0])
def test_sqlite_counts_labels_and_scores_of_either_sign(rows, shift):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE preds (truth INTEGER, flag INTEGER, score REAL, site TEXT, weight REAL)")
    columns = {**rows, "score": rows["score"] + shift}
    connection.executemany("INSERT INTO preds VALUES (?, ?, ?, ?, ?)", pl.DataFrame(columns).rows())
    query = sql("preds", true="truth", pred="flag", dialect="sqlite")
    counted = tally(frame_of(connection.execute(query)), true="truth", pred="flag")
    assert counted.confusion == steelyard.confusion(rows["truth"], rows["flag"])
    ends = (shift, shift + 1)
    query = sql("preds", true="truth", score="score", dialect="sqlite", score_range=ends)
    counted = tally(frame_of(connection.execute(query)), true="truth", score="score")
    assert steelyard.roc_auc(counted.scores) == pytest.approx(
        steelyard.roc_auc(rows["truth"], columns["score"]), abs=1e-5
    )
    assert (np.diff(counted.scores.bins, axis=1) <= 2.0**-15).all()
    query = sql("preds", true="truth", pred="flag", weight="weight", dialect="sqlite")
    counted = tally(frame_of(connection.execute(query)), true="truth", pred="flag", weight="weight")
    assert_weighted_alike(
        counted.confusion, steelyard.confusion(rows["truth"], rows["flag"], sample_weight=rows["weight"])
    )


def assert_weighted_alike(counted, wanted):
    """Rows are the same, and weights and their squares to the rounding of the database's sums."""
    assert counted.labels == wanted.labels and counted.rows.tolist() == wanted.rows.tolist()
    for name in ("weights", "squares"):
        np.testing.assert_allclose(getattr(counted, name), getattr(wanted, name), rtol=1e-12)


def test_weights_are_summed_in_the_database(database, rows):
    names = {"true": "truth", "weight": "weight", "by": "site"}
    query = sql("preds", **names, pred="flag", dialect="duckdb")
    counted = tally(database.sql(query), **names, pred="flag")
    whole = steelyard.confusion(rows["truth"], rows["flag"], sample_weight=rows["weight"])
    assert_weighted_alike(counted.confusion, whole)
    for (site,), group in counted.groups.items():
        part = {name: column[rows["site"] == site] for name, column in rows.items()}
        alone = steelyard.confusion(part["truth"], part["flag"], sample_weight=part["weight"])
        assert_weighted_alike(group.confusion, alone)
    query = sql("preds", true="truth", weight="weight", score="score", dialect="duckdb", threshold=0.3)
    binned = tally(database.sql(query), true="truth", weight="weight", score="score").scores
    exact = steelyard.score_table(rows["truth"], rows["score"], sample_weight=rows["weight"])
    assert binned.at(0.3).to_dict() == pytest.approx(exact.at(0.3).to_dict(), rel=1e-12)
    assert [part.n for part in binned.classes] == [part.n for part in exact.classes]
    assert steelyard.roc_auc(binned) == pytest.approx(steelyard.roc_auc(exact), abs=1e-5)


@pytest.mark.parametrize("weight", ["NULL", "-1", "'NaN'", "'Infinity'"])
def test_weights_that_are_none_are_refused_when_they_are_read(weight):
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE t AS SELECT * FROM (VALUES (0, 0, 1.0::DOUBLE), (1, 1, {weight}::DOUBLE)) v(y, p, w)"
    )
    lines = connection.sql(sql("t", true="y", pred="p", weight="w", dialect="duckdb"))
    with pytest.raises(InputError, match=r"weights that are missing, negative or not finite among 1 rows"):
        tally(lines, true="y", pred="p", weight="w")
    with pytest.raises(InputError, match="name the column of the weights with weight="):
        tally(lines, true="y", pred="p")


def test_rows_that_all_have_no_weight_are_no_counts():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 1 AS y, 1 AS p, 0.0 AS w, 0.5 AS s")
    for asked in ({"pred": "p"}, {"score": "s"}):
        lines = connection.sql(sql("t", true="y", weight="w", dialect="duckdb", **asked))
        with pytest.raises(InputError, match="no row that has a weight"):
            tally(lines, true="y", weight="w", **asked)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_is_a_query_that_its_own_grammar_reads(dialect):
    names = {"true": "y", "score": "my score", "by": ["site", "group"]}
    query = sql("lab.preds", **names, dialect=dialect, threshold=0.25)
    read = sqlglot.parse_one(query, dialect=dialect)
    assert [part.alias_or_name for part in read.selects][:3] == ["site", "group", "y"]
    assert {column.name for column in read.find_all(sqlglot.exp.Column)} == {"site", "group", "y", "my score"}
    assert next(read.find_all(sqlglot.exp.Table)).sql(dialect).replace("`", "").replace('"', "") == "lab.preds"


NASTY = (
    "sales--2024", "\u2028lead", "?", ":p", "@v", "$1", "%s", "%%", "a;b", "a; DROP TABLE t", "/* a */", "*/", "--",
    "#", "it's", 'a"b', "a`b", "[a]", "a]b", "a.b", ".", "a\nb", "a\r\n  b", "\n", " ", " a", "\t", "a\\b", "\\", "\\n",
    "\x85", "\ufeff", "order", "USER", "Preds", "{{x}}", "$$a$$", "a, b", "a AS b", "(SELECT 1)", "1", "é", "\u202e",
    "__SQLGLOT__LBREAK__",
)  # fmt: skip
ALPHABET = "aB1_ .\"'`[](){};:?@#$%&*/-\\\n\r\t\u2028\x85é\u4e2d"
nasty_names = st.one_of(
    st.sampled_from(NASTY), st.text(ALPHABET, min_size=1, max_size=12).filter(lambda name: name != "*")
)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def names_given(name):
    """The ways to write the name of a table: between double quotes, and as it is where it has no dot."""
    return [quoted(name)] if "." in name or name.startswith('"') else [quoted(name), name]


def counted_by_names(connection, dialect, table, names):
    """A table of these names with 3 rows, counted by labels and by scores."""
    true, pred, score, weight = map(quoted, names)
    fields = f"{true} INTEGER, {pred} INTEGER, {score} DOUBLE PRECISION, {weight} DOUBLE PRECISION"
    connection.execute(f"CREATE TABLE {quoted(table)} ({fields})")
    connection.execute(f"INSERT INTO {quoted(table)} VALUES (0, 0, 0.1, 1), (1, 0, 0.4, 2), (1, 1, 0.9, 3)")
    true, pred, score, weight = names
    for given in names_given(table):
        asked = {"true": true, "pred": pred, "weight": weight, "by": pred}
        lines = frame_of(connection.execute(sql(given, dialect=dialect, **asked)))
        cells = steelyard.confusion([0, 1, 1], [0, 0, 1], sample_weight=[1, 2, 3])
        assert tally(lines, **asked).confusion == cells, (given, names)
        asked = {"true": true, "score": score, "weight": weight}
        lines = frame_of(connection.execute(sql(given, dialect=dialect, threshold=0.3, **asked)))
        at = tally(lines, **asked).scores.at(0.3)
        assert (at.tp, at.fn, at.fp, at.tn) == (5, 0, 0, 1), (given, names)


@seed(7)
@settings(max_examples=150, deadline=None)
@given(table=nasty_names, names=st.lists(nasty_names, min_size=4, max_size=4, unique_by=str.lower))
def test_names_that_hold_anything_are_quoted_in_sqlite_and_duckdb(table, names):
    for connection, dialect in ((sqlite3.connect(":memory:"), "sqlite"), (duckdb.connect(), "duckdb")):
        counted_by_names(connection, dialect, table, names)
        connection.close()


@pytest.mark.parametrize("name", ["*", "^y.*$"])
def test_a_name_that_polars_takes_for_a_pattern_is_refused(name):
    with pytest.raises(InputError, match="for a pattern of names, not for one column; rename it"):
        tally(pl.DataFrame({name: [0, 1], "p": [0, 1]}), true=name, pred="p")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_reads_back_the_names_that_were_given(dialect):
    for name in NASTY:
        if (dialect == "bigquery" and "." in name) or (dialect == "mysql" and name.endswith(" ")):
            with pytest.raises(InputError, match="no table or column of"):
                sql(quoted(name), true="y", pred="p", dialect=dialect)
            continue
        for given in names_given(name):
            query = sql(f"lab.{given}", true=name, score="s " + name, by=["g"], dialect=dialect)
            (read,) = sqlglot.parse(query, dialect=dialect)
            table = read.find(sqlglot.exp.Table)
            assert (table.name, table.db, table.this.quoted) == (name, "lab", True)
            columns = [*read.find_all(sqlglot.exp.Column)]
            assert {column.name for column in columns} == {name, "s " + name, "g"}
            assert all(column.this.quoted for column in columns)


def test_the_shell_quotes_the_table_that_is_named():
    words = ["--true", "y", "--pred", "p"]
    printed = run_command("sql", "--table", "sales--2024", *words)
    assert 'FROM "sales--2024"' in printed.stdout
    printed = run_command("sql", "--table", 'lab."v1.2"', *words)
    assert 'FROM "lab"."v1.2"' in printed.stdout
    refused = run_command("sql", "--table", "", *words)
    assert refused.exit_code == 2 and len(refused.stderr.splitlines()) == 1


def test_two_models_side_by_side(database, rows):
    database.execute("CREATE OR REPLACE VIEW two AS SELECT *, CAST(score >= 0.5 AS INTEGER) AS strict FROM preds")
    query = sql("two", true="truth", pred=["flag", "strict"], dialect="duckdb")
    counted = tally(database.sql(query), true="truth", pred=["flag", "strict"])
    assert counted.paired.n == 4000
    with pytest.raises(InputError, match="true= and pred= both name the column 'truth'"):
        sql("preds", true="truth", pred=["flag", "truth"], dialect="duckdb")


@pytest.mark.parametrize("beside", [[], ["--weight", "weight"]], ids=str)
def test_the_shell_prints_a_query_and_reads_what_it_gives(database, tmp_path, beside):
    words = ["--true", "truth", "--pred", "flag", *beside, "--by", "site"]
    printed = run_command("sql", "--table", "preds", *words, "--dialect", "duckdb")
    assert f"steelyard report counts.csv {' '.join(words)}" in printed.stderr
    database.sql(printed.stdout.strip().removesuffix(";")).pl().write_csv(tmp_path / "counts.csv")
    counted = run_command("tally", tmp_path / "counts.csv", *words)
    assert not counted.exit_code, counted.output
    saved = Tally.from_json(counted.stdout)
    weight = "weight" if beside else None
    whole = tally(database.table("preds"), true="truth", pred="flag", weight=weight).confusion
    assert_weighted_alike(saved.confusion, whole)


def test_missing_labels_and_scores_are_refused_when_they_are_read():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT * FROM (VALUES (0, 0, 0.2), (1, NULL, 'NaN'::DOUBLE)) v(y, p, s)")
    labels = connection.sql(sql("t", true="y", pred="p", dialect="duckdb"))
    with pytest.raises(InputError, match="'p' holds missing labels"):
        tally(labels, true="y", pred="p")
    scores = connection.sql(sql("t", true="y", score="s", dialect="duckdb"))
    with pytest.raises(InputError, match=r"not numbers .* in bins of 1 rows"):
        tally(scores, true="y", score="s")


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"dialect": "oracle"}, InputError, "dialect= is one of postgres"),
        ({"score": "s"}, InputTypeError, "labels or of scores"),
        ({"pred": None}, InputTypeError, "labels or of scores"),
        ({"pred": None, "score": "s", "score_range": (1, 1)}, InputError, "lowest and the highest"),
        ({"pred": ["p", "q"], "weight": "w"}, InputError, "Two models side by side"),
        ({"pred": ["p", "q", "r"]}, InputError, "two side by side, not 3"),
        ({"true": ""}, InputError, "empty text"),
        ({"threshold": 0.3}, InputError, "counts labels; leave out threshold="),
        *(
            ({"pred": None, "score": "s", "threshold": wrong}, InputError, "is a finite number, not")
            for wrong in (float("nan"), float("inf"))
        ),
        *(
            ({"pred": None, "score": "s", "score_range": wrong}, InputError, "two finite numbers, not")
            for wrong in ((0, float("inf")), (0, 1, 2), "01", 1, (0, "1"))
        ),
        *(
            ({"table": wrong}, InputError, "cannot be read as the name of a table")
            for wrong in ("", ".t", "t.", "a..b", '"t', '"a"b', '""', 'a."')
        ),
        ({"table": "a.b.c.d"}, InputError, 'has 4 parts.*as in "a.b.c.d"'),
        ({"table": "main.a.b", "dialect": "sqlite"}, InputError, "has 3 parts, and a name of sqlite has 2"),
        ({"table": "a\0b"}, InputError, "holds the character NUL"),
        ({"true": "a\0b"}, InputError, "holds the character NUL"),
        ({"true": "\udc80"}, InputError, "half of a character"),
        ({"table": "ü" * 32}, InputError, "has 64 bytes, and the longest has 63"),
        ({"true": "a.b", "dialect": "bigquery"}, InputError, "holds a dot"),
        ({"true": "a ", "dialect": "mysql"}, InputError, "ends with a blank"),
        ({"true": "\U0001f600", "dialect": "mysql"}, InputError, "above U\\+FFFF"),
        ({"by": "Steelyard_Rows"}, InputError, "itself names a column"),
    ],
)
def test_what_no_query_can_count_is_refused(wrong, error, words):
    with pytest.raises(error, match=words):
        sql(**{"table": "t", "true": "y", "pred": "p", **wrong})


def test_counts_are_not_taken_for_rows(database):
    lines = database.sql(sql("preds", true="truth", pred="flag", dialect="duckdb")).pl()
    with pytest.raises(InputError, match="count labels, not scores"):
        tally(lines, true="truth", score="flag")
    with pytest.raises(InputError, match="weight= is of rows"):
        tally(lines, true="truth", pred="flag", weight="flag")
    for wrong in (-1.5, float("inf"), "many"):
        with pytest.raises(InputError, match="whole number, 0 or more"):
            tally(lines.with_columns(steelyard_rows=pl.lit(wrong)), true="truth", pred="flag")
    rows = pl.col("steelyard_rows")
    for spelled in (
        rows.cast(pl.String) + ".0",
        " " + rows.cast(pl.String),
        rows.cast(float),
        rows.cast(pl.Decimal(20, 0)),
    ):
        assert tally(lines.with_columns(spelled), true="truth", pred="flag") == tally(lines, true="truth", pred="flag")
    large = [2**53 + 1, "9007199254740993", Decimal(2**53 + 1)]
    for n in (pl.Series("steelyard_rows", [n] * len(lines)) for n in large):
        assert tally(lines.with_columns(n), true="truth", pred="flag").rows == len(lines) * (2**53 + 1)


@pytest.fixture(scope="module")
def lines(database):
    """What counting queries of the same rows give: of labels, of two models and of scores."""
    asked = {"labels": {"pred": "flag", "by": "site"}, "scores": {"score": "score"}}
    asked["pair"] = {"pred": ["flag", "truth integer"]}
    queries = {name: sql("preds", true="truth", dialect="duckdb", **each) for name, each in asked.items()}
    return {name: database.sql(query).pl() for name, query in queries.items()}


def test_two_models_are_compared_by_the_rows_that_lines_stand_for(database, lines):
    models = {"true": "truth", "pred": ["flag", "truth integer"]}
    compared = steelyard.compare(lines["pair"], **models)
    assert compared.to_dict() == steelyard.compare(database.table("preds").pl(), **models).to_dict()


def test_clusters_of_lines_are_those_of_their_rows(rows, lines):
    asked = {"true": "truth", "pred": "flag", "cluster": "site"}
    assert steelyard.interval("recall", lines["labels"], **asked) == steelyard.interval(
        "recall", pl.DataFrame(rows), **asked
    )


NEED_ROWS = {
    "compare": lambda lines: steelyard.compare(lines["pair"], true="truth", score=["flag", "truth integer"]),
    "errors": lambda lines: steelyard.errors(lines["labels"], true="truth", pred="flag"),
    "slices": lambda lines: steelyard.slices(lines["labels"], true="truth", pred="flag", features=["site"]),
    "interval": lambda lines: steelyard.interval(
        "roc_auc", lines["scores"], true="truth", score="score", cluster="truth"
    ),
    "label_plan": lambda lines: steelyard.label_plan(
        lines["scores"], 9, "recall", score="steelyard_low", threshold=0.3
    ),
    "unlabelled": lambda lines: steelyard.unlabelled(
        lines["scores"], reference=pl.DataFrame({"truth": [0, 1], "score": [0.1, 0.9]}), true="truth", score="score"
    ),
    "quantiles": lambda lines: steelyard.evaluate(lines["labels"], true="truth", pred="flag", by="flag", bins=2),
}


@pytest.mark.parametrize("asked", NEED_ROWS)
def test_lines_are_refused_where_rows_are_needed(lines, asked):
    with pytest.raises(InputError, match=r"result of a counting query, [\d,]+ lines .* give the rows themselves"):
        NEED_ROWS[asked](lines)


@pytest.mark.parametrize(
    "words",
    [
        ["errors", "--true", "truth", "--pred", "flag"],
        ["slices", "--true", "truth", "--pred", "flag"],
        ["watch", "--true", "truth", "--pred", "flag", "--require", "recall >= 0.1"],
        ["crossval", "--target", "truth"],
    ],
    ids=lambda words: words[0],
)
def test_files_of_lines_are_refused_where_rows_are_needed(lines, tmp_path, words):
    lines["labels"].write_csv(tmp_path / "counts.csv")
    refused = run_command(*words, tmp_path / "counts.csv")
    assert refused.exit_code == 2 and "result of a counting query" in refused.stderr, refused.output


def sqlite_lines(columns, records, **asked):
    """What the counting query gives of these rows in SQLite."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE preds ({columns})")
    connection.executemany("INSERT INTO preds VALUES (?, ?, ?)", records)
    return frame_of(connection.execute(sql("preds", dialect="sqlite", **asked)))


@pytest.mark.parametrize("text", ["n/a", "", "0.5 or so", b"0.5"])
@pytest.mark.parametrize("kind", ["REAL", "TEXT", ""])
def test_sqlite_makes_no_number_of_what_is_none(text, kind):
    columns, names = f"y INTEGER, p {kind}, w {kind}", {"true": "y", "score": "p"}
    rest = [(0, 0.2, 1), (1, "0.7", "2.5"), (0, 3, 1)]
    lines = sqlite_lines(columns, [*rest, (1, text, 1), (1, None, 1)], **names)
    with pytest.raises(InputError, match=r"not numbers .* in bins of 2 rows"):
        tally(lines, **names)
    lines = sqlite_lines(columns, [*rest, (1, 0.7, text)], **names, weight="w")
    with pytest.raises(InputError, match="weights that are missing, negative or not finite among"):
        tally(lines, **names, weight="w")


def test_sqlite_reads_numbers_that_are_text(rows):
    records = [(int(y), f" {p}", str(w)) for y, p, w in zip(rows["truth"], rows["score"], rows["weight"], strict=True)]
    names = {"true": "y", "score": "p", "weight": "w"}
    lines = sqlite_lines("y INTEGER, p TEXT, w TEXT", records, **names, threshold=0.3)
    binned = tally(lines, **names).scores
    exact = steelyard.score_table(rows["truth"], rows["score"], sample_weight=rows["weight"])
    assert binned.at(0.3).to_dict() == pytest.approx(exact.at(0.3).to_dict(), rel=1e-12)
    assert [part.n for part in binned.classes] == [part.n for part in exact.classes]


@pytest.mark.parametrize("wrong", ["true", "score", "weight", "by"])
def test_sqlite_takes_no_mistyped_name_for_a_text(wrong):
    names = {"true": "y", "score": "p", "weight": "w", "by": "y", wrong: "absent"}
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        sqlite_lines("y INTEGER, p REAL, w REAL", [(0, 0.2, 1)], **names)


def test_these_are_the_dialects():
    with pytest.raises(InputError, match=f"dialect= is one of {', '.join(DIALECTS)}, not 'nonsense'"):
        sql("preds", true="y", pred="p", dialect="nonsense")


def test_mysql_counts_what_spells_no_number_as_none():
    query = sql("preds", true="y", score="p", weight="w", dialect="mysql")
    (number,) = {*re.findall(r"REGEXP_LIKE\(CAST\(\S+ AS CHAR\), '(.*)'\)", query)}
    for text in ("0", "-1.5", "+.5", " 2. ", "1e-10", "1E+5"):
        assert re.search(number, text), text
    for text in ("", " ", "n/a", "0.5 or so", ".", "1e", "--1", "nan", "1,5"):
        assert not re.search(number, text), text
    casts = [
        cast for cast in sqlglot.parse_one(query, dialect="mysql").find_all(sqlglot.exp.Cast) if cast.is_type("double")
    ]
    assert casts and all(isinstance(cast.parent, sqlglot.exp.If) for cast in casts)


@pytest.mark.parametrize(
    ("asked", "command"),
    [
        (["--pred", "a", "--pred", "the b", "--by", "site"], "compare counts.csv --true y --pred a --pred 'the b'"),
        (["--score", "my p", "--threshold", "0.3"], "report counts.csv --true y --score 'my p' --threshold 0.3"),
    ],
)
def test_the_shell_prints_a_command_that_reads_the_counts(tmp_path, monkeypatch, asked, command):
    printed = run_command("sql", "--table", "t", "--true", "y", *asked, "--dialect", "duckdb")
    assert printed.stderr.strip().endswith(f"steelyard {command}")
    connection = duckdb.connect()
    connection.execute(
        'CREATE TABLE t AS SELECT i % 2 AS y, i % 3 % 2 AS a, i % 5 % 2 AS "the b", 1 AS site FROM range(90) r(i)'
    )
    connection.execute('ALTER TABLE t ADD COLUMN "my p" DOUBLE')
    connection.execute('UPDATE t SET "my p" = (y + a) / 3')
    connection.sql(printed.stdout.strip().removesuffix(";")).pl().write_csv(tmp_path / "counts.csv")
    monkeypatch.chdir(tmp_path)
    counted = run_command(*shlex.split(command))
    assert not counted.exit_code and "90 rows" in counted.output, counted.output


def test_a_refusal_in_the_shell_names_its_options():
    for asked, words in (
        {"--score-range=0,inf": "--score-range is", "--threshold=inf": "leave out --threshold"}
    ).items():
        refused = run_command("sql", "--table", "t", "--true", "y", "--score", "p", asked)
        assert refused.exit_code == 2 and words in refused.stderr, refused.stderr
    refused = run_command("sql", "--table", "t", "--true", "y")
    assert "with --pred or with --score" in refused.stderr


def test_a_column_of_two_uses_is_selected_once():
    records, names = [(0, 1, 1), (1, 1, 1), (1, 0, 1)], {"true": "y", "pred": "p", "by": "y"}
    lines = sqlite_lines("y INTEGER, p INTEGER, w INTEGER", records, **names)
    assert lines.columns == ["y", "p", "steelyard_rows"]
    assert tally(lines, **names) == tally(pl.DataFrame(records, schema=["y", "p", "w"], orient="row"), **names)


def test_lines_that_no_query_gives_are_refused(lines):
    turned = lines["scores"].with_columns(steelyard_low=pl.col("steelyard_high") + 1)
    with pytest.raises(InputError, match="lowest score that is above its highest"):
        tally(turned, true="truth", score="score")
    sums = {"steelyard_weight": 2.0 * pl.col("steelyard_rows"), "steelyard_refused": 0}
    for square, allowed in ((4.0, True), (3.9, False)):
        weighted = lines["labels"].with_columns(**sums, steelyard_square=square * pl.col("steelyard_rows"))
        if allowed:
            assert tally(weighted, true="truth", pred="flag", weight="w").rows == 4000
        else:
            with pytest.raises(InputError, match="sum to less than its rows and weights allow"):
                tally(weighted, true="truth", pred="flag", weight="w")


def test_a_library_that_changes_the_dialects_of_sqlglot_changes_no_query():
    options = {"true": "y", "score": "s a\nb", "weight": "w"}
    before = {dialect: sql("lab.preds", dialect=dialect, **options) for dialect in DIALECTS}
    pytest.importorskip("ibis.backends.sql.dialects", reason="ibis is not installed")
    assert {dialect: sql("lab.preds", dialect=dialect, **options) for dialect in DIALECTS} == before
