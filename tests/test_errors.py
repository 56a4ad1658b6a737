"""Error rows: which rows are wrong, in which order, with what number, wherever the rows live."""

from __future__ import annotations

import csv
import io
import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from command_line import run_command

from steelyard import RARER, Counts, Predictions, errors, evaluate
from steelyard.exceptions import InputError, InputTypeError

N = 400
RNG = np.random.default_rng(11)
Y = (RNG.random(N) < 0.3).astype(int)
S = np.clip(0.3 * Y + 0.7 * RNG.random(N), 0, 1).round(3)
AGE, SITE = RNG.integers(20, 90, N), RNG.choice(["A", "B"], N)
COLUMNS = {"y": Y, "s": S, "p": (S >= 0.5).astype(int), "age": AGE, "site": SITE, "id": [f"r{i}" for i in range(N)]}
FRAME = pl.DataFrame(COLUMNS)
ENGINES = {
    "pandas": pd.DataFrame,
    "Polars": pl.DataFrame,
    "Polars, lazy": pl.LazyFrame,
    "PyArrow": lambda columns: pl.DataFrame(columns).to_arrow(),
    "DuckDB": lambda columns: duckdb.from_arrow(pl.DataFrame(columns).to_arrow()),
}


def wrong(kind="both", where=None):
    """The numbers of the wrong rows, farthest beyond 0.5 first, found one by one."""
    chosen = np.ones(N, dtype=bool) if where is None else where
    errors = {"fn": (Y == 1) & (S < 0.5), "fp": (Y == 0) & (S >= 0.5)}
    held = errors["fn"] | errors["fp"] if kind == "both" else errors[kind]
    places = np.flatnonzero(held & chosen)
    return [int(i) + 1 for i in sorted(places, key=lambda i: (-abs(S[i] - 0.5), i))]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("site >= 3", "The condition 'site >= 3' is of numbers, and 'site' holds text."),
        ("age >= 30 and site >= 3", "'site' holds text"),
        ("age = B", "The condition 'age = B' is of text, and 'age' holds numbers."),
    ],
)
def test_a_condition_that_does_not_fit_the_column_is_refused_in_a_sentence(engine, where, words):
    with pytest.raises(InputError, match=words):
        errors(ENGINES[engine](COLUMNS), true="y", pred="p", filter=where)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_wrong_rows_are_found_and_sorted_where_they_live(engine):
    frame, named = ENGINES[engine](COLUMNS), {"true": "y", "score": "s", "key": ["id", "age"]}
    for kind in ("both", "fn", "fp"):
        found = errors(frame, **named, kind=kind, first=None)
        ids = [int(row.keys["id"][1:]) + 1 for row in found]
        if engine == "DuckDB":
            assert sorted(ids) == sorted(wrong(kind)) and {row.row_number for row in found} == {None}
            assert "have no order" in found.notes[-1]
        else:
            assert [row.row_number for row in found] == ids == wrong(kind)
        asked = {"fn": found.false_negatives, "fp": found.false_positives}
        assert len(found) == found.errors == asked.get(kind, sum(asked.values()))
    few = errors(frame, **named, first=3, filter="age >= 60 and site = B")
    assert [int(row.keys["id"][1:]) + 1 for row in few] == wrong(where=(AGE >= 60) & (SITE == "B"))[:3]
    assert few.rows == int(((AGE >= 60) & (SITE == "B")).sum()) and few.where == "age >= 60 and site = B"
    assert few.each[0].keys["age"] == AGE[int(few.each[0].keys["id"][1:])]


def test_arrays_frames_and_labels_give_the_same_rows():
    arrays = errors(Y, y_score=S, columns={"id": COLUMNS["id"], "age": AGE}, key="id", filter="age >= 60")
    assert [row.row_number for row in arrays] == wrong(where=AGE >= 60)[:100]
    first = arrays.each[0]
    place = first.row_number - 1
    assert (first.true, first.score, first.distance) == (Y[place], S[place], pytest.approx(abs(S[place] - 0.5)))
    assert first.kind == ("false negative" if Y[place] else "false positive") and first.pred == 1 - Y[place]
    labels = errors(Y, COLUMNS["p"], first=None)
    assert [row.row_number for row in labels] == sorted(wrong()) and labels.each[0].score is None
    both = errors(Y, COLUMNS["p"], y_score=S, first=None)
    assert [row.row_number for row in both] == wrong()
    near = [row.distance for row in errors(Y, y_score=S, near=True)]
    assert near == sorted(near) and "nearest to the threshold" in errors(Y, y_score=S, near=True).headline
    words = np.where(Y == 1, "yes", "no")
    assert [row.row_number for row in errors(words, y_score=S, first=None)] == wrong()
    assert errors(words, y_score=S, pos_label=RARER).positive == "yes"


def test_a_page_holds_rows_only_where_it_is_asked_to_and_text_stays_text():
    evaluation = evaluate(FRAME, true="y", score="s", metrics=["recall"], draws=20)
    wrong_rows = errors(Y, y_score=S, columns={"<img src=x>": ["</script><b>it"] * N}, key="<img src=x>", first=None)
    html = evaluation.to_html(errors=wrong_rows)
    assert "it" not in evaluation.to_html().split("Wrong rows")[-1] or "Wrong rows" not in evaluation.to_html()
    assert "Wrong rows" in html and "<img src=x>" not in html and "</script><b>" not in html
    assert html.count("&lt;/script&gt;&lt;b&gt;it") == 100 < len(wrong_rows)
    assert (
        "false negatives" in wrong_rows.headline
        and "are false positives;" in errors(Y, y_score=S, kind="fp", first=1).headline
    )
    with pytest.raises(InputTypeError, match="errors= lists rows on the page of an Evaluation; leave it out here"):
        evaluate(np.eye(3, dtype=int)[np.arange(30) % 3], np.eye(3, dtype=int)[np.arange(30) % 3]).to_html(
            errors=wrong_rows,
        )


def test_of_several_classes_the_most_certain_errors_come_first():
    labels = np.array(["a", "b", "c"])
    true, scores = RNG.integers(0, 3, N), RNG.dirichlet([1, 1, 1], N)
    pred = scores.argmax(1)
    found = errors(labels[true], labels[pred], y_score=scores, first=None)
    assert len(found) == found.errors == int((true != pred).sum()) and found.each[0].kind == "error"
    certain = [row.score for row in found]
    assert certain == sorted(certain, reverse=True) and {row.distance for row in found} == {None}
    assert all(row.true != row.pred for row in found)
    assert "the most certain first" in found.headline
    one = errors(labels[true], labels[pred], pos_label="a", kind="fn")
    assert {row.true for row in one} == {"a"} and one.false_negatives == int(((true == 0) & (pred != 0)).sum())


def test_rows_of_several_files_are_numbered_through(tmp_path):
    for part, rows in enumerate((FRAME[:250], FRAME[250:])):
        rows.write_csv(tmp_path / f"part{part}.csv")
    output = invoke(
        "errors", str(tmp_path / "part*.csv"), "--true", "y", "--score", "s", "--first", "0", "--format", "csv"
    )
    assert [int(row["row"]) for row in csv.DictReader(io.StringIO(output))] == wrong()


def invoke(*arguments, code=0):
    result = run_command(*arguments, code=code)
    return result.stdout if code == 0 else result.stderr


def test_the_shell_lists_rows_with_keys_that_no_spreadsheet_runs(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.with_columns(id=pl.lit("=HYPERLINK(1)\x1b[31m")).write_csv(path)
    named = (
        "errors",
        str(path),
        "--true",
        "y",
        "--score",
        "s",
        "--key",
        "id,age",
        "--filter",
        "age >= 60",
        "--first",
        "2",
    )
    table = invoke(*named)
    assert "of 400 rows" not in table and "with age >= 60 are wrong" in table and "\x1b" not in table
    rows = list(csv.DictReader(io.StringIO(invoke(*named, "--format", "csv"))))
    assert [int(row["row"]) for row in rows] == wrong(where=AGE >= 60)[:2]
    assert rows[0]["id"].startswith("'=HYPERLINK") and int(rows[0]["age"]) == AGE[int(rows[0]["row"]) - 1]
    saved = json.loads(invoke(*named, "--format", "json"))
    assert saved["kind"] == "error_rows" and len(saved["each"]) == 2
    assert invoke(*named, "--format", "md").count("\n| ") == 3
    assert "No row has age = 3; 'age' holds 20," in invoke(*named[:-4], "--filter", "age = 3", code=2)
    assert "cannot be read" in invoke(*named[:-4], "--filter", "age > 60 or", code=2)


def test_a_key_with_a_line_break_is_joined_back_from_csv(tmp_path):
    keys = [f"line\nbreak {i}" for i in range(N)]
    FRAME.with_columns(pl.Series("=cmd()", keys)).write_csv(tmp_path / "rows.csv")
    named = ("errors", str(tmp_path / "rows.csv"), "--true", "y", "--score", "s", "--key", "=cmd()")
    rows = list(csv.DictReader(io.StringIO(invoke(*named, "--format", "csv", "--first", "5"), newline="")))
    assert [keys.index(row["'=cmd()"]) + 1 for row in rows] == wrong()[:5]


def test_one_error_is_spoken_of_as_one():
    assert errors([0, 1, 1], [1, 1, 1]).headline == "1 of 3 rows is wrong: 0 false negatives and 1 false positive."
    assert errors([0, 1, 1], [1, 1, 1], kind="fp").headline == "1 of 3 rows is a false positive."
    first = errors([0, 0, 1], [1, 1, 1], first=1).headline
    assert first.endswith("0 false negatives and 2 false positives; the first is listed, in their order.")


def test_a_file_of_a_header_alone_is_refused_in_a_sentence(tmp_path):
    FRAME[:0].write_csv(tmp_path / "rows.csv")
    for use, column in (("--pred", "p"), ("--score", "s")):
        refused = invoke("errors", str(tmp_path / "rows.csv"), "--true", "y", use, column, code=2)
        assert "There are no rows to count; give at least one." in refused


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: errors(Y), "errors needs labels or scores beside the truth"),
        (lambda: errors(FRAME, true="y"), "of a frame pred= or score="),
        (lambda: errors(Y, y_score=S, kind="tp"), "kind= is 'fn', 'fp' or 'both'"),
        (lambda: errors(Y, y_score=S, first=0), "first= is how many rows"),
        (lambda: errors(Y, y_score=5 * S), "give threshold="),
        (lambda: errors(Y, COLUMNS["p"], threshold=0.5), "Predictions and a threshold together"),
        (lambda: errors(Y, y_score=S, filter="age >= 60"), "There is no column 'age'"),
        (
            lambda: errors(FRAME, true="y", score="s", filter="site = Q"),
            "No row has site = Q; 'site' holds 'A', 'B'\\.$",
        ),
        (lambda: errors(FRAME, true="y", score="s", filter="id = r1x"), "No row has id = r1x.* Did you mean 'r1"),
        (lambda: errors(FRAME, true="y", score="s", filter="age >= 200"), "No row meets 'age >= 200'"),
        (lambda: errors(Y, y_score=S, key=["id"]), "no column 'id'; columns=.* gives columns beside arrays"),
        (lambda: errors(FRAME, true="y", score="s", key="ids"), "There is no column 'ids'.*Did you mean 'id'"),
        (lambda: errors(np.arange(N) % 3, y_score=S), "name it with pos_label="),
        (lambda: errors(np.arange(N) % 3, Y, kind="fn"), "kind is of two classes"),
    ],
)
def test_what_cannot_be_listed_is_refused_in_a_sentence(ask, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        ask()


def test_a_key_that_is_called_as_a_column_of_the_table_stands_beside_it():
    rows = [
        each.row() for each in errors([0, 1], [1, 1], columns={"row": ["a", "b"], "true": [7, 8]}, key=["row", "true"])
    ]
    assert [(row["row"], row["row (key)"], row["true"], row["true (key)"]) for row in rows] == [(1, "a", 0, 7)]


def test_rows_of_any_kind_are_listed_alike_with_what_was_assumed():
    words, columns = np.where(Y == 1, "yes", "no"), {"id": COLUMNS["id"]}
    p = Predictions(words, y_score=np.column_stack([1 - S, S]), columns=columns | {"age": AGE})
    found = p.filter("age >= 60").errors(key="id", first=None)
    assert [row.row_number for row in found] == wrong(where=AGE >= 60)
    assert found.each[0].keys == {"id": COLUMNS["id"][found.each[0].row_number - 1]}
    assert "The positive class is 'yes' by convention" in found.assumed[0] and "thresholded at 0.5" in found.assumed[1]
    certain = errors(np.arange(N) % 3, y_score=RNG.dirichlet([1, 1, 1], N))
    assert certain.assumed == ("The class with the highest score of a row was taken as its predicted label.",)
    for data, words in ((Counts(1, 2, 3, 4), "are counted"), ([["a"], ["b"]], "may have several")):
        with pytest.raises(InputError, match=words):
            errors(data, *([] if isinstance(data, Counts) else [[["a"], ["a"]]]))
    with pytest.raises(InputTypeError, match="sample_weight= has no place in errors"):
        errors(Y, y_score=S, sample_weight=np.ones(N))
