"""Any form of the same rows is read as the same table: random dtypes, indexes, encodings and engines, counted again by hand."""

from __future__ import annotations

import csv
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import run_command
from engines import ENGINES, needs
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import steelyard
from steelyard.arrays import label_codes
from steelyard.exceptions import SteelyardError

MANY = settings(max_examples=150, suppress_health_check=list(HealthCheck))
FEW = settings(MANY, max_examples=6, phases=[Phase.generate])  # slow engines: nothing is made smaller

KINDS = {
    "bool": [False, True],
    "zero-one": [0, 1],
    "one-two": [1, 2],
    "signs": [-1, 1],
    "beyond 2^53": [2**53, 2**53 + 1],
    "near 2^63": [2**63 - 2, 2**63 - 1],
    "text": ["no", "yes"],
    "blanks": [" a", "a ", "a b", "a"],
    "digits": ["0", "1"],
    "letters": ["é", "ß", "漢", "\U0001f9ea"],
    "several": [0, 3, 5, 10],
}


def pandas_series(values, dtype=None, index=None):
    return needs("pandas").Series(values, dtype=dtype, index=index)


def nullable(values, index):
    """The labels in pandas' own nullable dtype of their kind."""
    kind = {bool: "boolean", int: "Int64", str: "string"}[type(values[0])]
    return pandas_series(values, kind, index)


FORMS = {
    "list": lambda values, _: list(values),
    "array": lambda values, _: np.array(values),
    "objects": lambda values, _: np.array(values, dtype=object),
    "series": lambda values, index: pandas_series(values, None, index),
    "category": lambda values, index: pandas_series(values, "category", index),
    "nullable": nullable,
    "arrow dtype": lambda values, index: pandas_series(
        values, needs("pandas").ArrowDtype(pa.array(values).type), index
    ),
    "polars": lambda values, _: needs("polars").Series(values),
    "polars category": lambda values, _: (
        needs("polars").Series(values).cast(needs("polars").Categorical)
        if isinstance(values[0], str)
        else needs("polars").Series(values)
    ),
    "arrow": lambda values, _: pa.array(values),
    "chunks": lambda values, _: pa.chunked_array([values[:1], values[1:]], type=pa.array(values).type),
    "dictionary": lambda values, _: pa.array(values).dictionary_encode(),
}
SCORES = {
    "float64": [0.0, 0.1, 0.5, 0.7, np.nextafter(0.7, 1), 1.0],
    "float32": [float(np.float32(x)) for x in (0.0, 0.1, 0.29, 0.57, 0.7, 1.0)],
    "int64": [0, 1, 5, 50, 99, 100],
}


@st.composite
def drawn_rows(draw, kinds=tuple(KINDS)):
    """Labels, predictions and scores, with a shuffled index and a threshold that some score ties with."""
    labels = KINDS[draw(st.sampled_from(kinds))]
    n = draw(st.integers(2, 30))
    y = [*labels[:2], *draw(st.lists(st.sampled_from(labels), min_size=n - 2, max_size=n - 2))]
    p = draw(st.lists(st.sampled_from(labels), min_size=n, max_size=n))
    width = draw(st.sampled_from(sorted(SCORES)))
    s = draw(st.lists(st.sampled_from(SCORES[width]), min_size=n, max_size=n))
    threshold = draw(st.sampled_from([*SCORES[width], 0.29, 0.57, 0.7]))
    return SimpleNamespace(
        labels=labels, y=y, p=p, s=np.array(s, width), threshold=threshold, index=draw(st.permutations(range(n)))
    )


def cells(table):
    """The rows of a confusion matrix as a count of pairs, without the pairs that do not occur."""
    matrix = table.matrix
    return Counter(
        {
            (true, predicted): int(matrix[i, j])
            for i, true in enumerate(table.labels)
            for j, predicted in enumerate(table.labels)
            if matrix[i, j]
        }
    )


def flagged(rows, positive):
    """TP, FN, FP and TN of `score >= threshold`, as NumPy compares a number with an array of this precision."""
    hit = (rows.s >= rows.threshold).tolist()
    pairs = Counter((label == positive, flag) for label, flag in zip(rows.y, hit, strict=True))
    return tuple(pairs[pair] for pair in ((True, True), (True, False), (False, True), (False, False)))


def arrow_rows(rows):
    return pa.table({"y": pa.array(rows.y), "p": pa.array(rows.p), "s": pa.array(rows.s)})


def read_as_arrays(rows, one, other):
    y, p = FORMS[one](rows.y, rows.index), FORMS[other](rows.p, rows.index)
    assert cells(steelyard.confusion(y, p)) == Counter(zip(rows.y, rows.p, strict=True))
    positive = rows.labels[1]
    table = steelyard.score_table(y, rows.s, pos_label=positive)
    assert tuple(table.at(rows.threshold)) == flagged(rows, positive)


def read_as_frame(rows, engine):
    frame = ENGINES[engine](arrow_rows(rows))
    positive = rows.labels[1]
    assert cells(steelyard.tally(frame, true="y", pred="p").confusion) == Counter(zip(rows.y, rows.p, strict=True))
    for exact in (True, False):
        found = steelyard.tally(
            frame, true="y", score="s", pos_label=positive, threshold=rows.threshold, exact=exact
        ).scores
        assert tuple(found.at(rows.threshold)) == flagged(rows, positive)


@pytest.mark.parametrize("way", ["few rows", "many rows"])
def test_arrays_of_any_form_are_counted_as_by_hand(way, monkeypatch):
    if way == "many rows":
        monkeypatch.setattr(label_codes, "_SHORT", 1)  # as beyond two thousand
    form = st.sampled_from(sorted(FORMS))
    MANY(given(rows=drawn_rows(), one=form, other=form)(read_as_arrays))()


@pytest.mark.parametrize("engine", [name for name in ENGINES if name not in {"pyspark", "dask", "ibis"}])
def test_frames_of_any_engine_are_counted_as_by_hand(engine):
    settings(MANY, max_examples=40)(given(rows=drawn_rows())(lambda rows: read_as_frame(rows, engine)))()


@pytest.mark.parametrize("engine", ["pyspark", "dask", "ibis"])
def test_frames_of_slow_engines_are_counted_as_by_hand(engine):
    ENGINES[engine](pa.table({"y": [0, 1]}))  # skipped by name where it is not installed
    FEW(given(rows=drawn_rows())(lambda rows: read_as_frame(rows, engine)))()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_are_counted_as_by_hand(suffix, tmp_path):
    path = tmp_path / f"rows.{suffix}"

    @settings(MANY, max_examples=40)
    @given(rows=drawn_rows(kinds=("zero-one", "one-two", "signs", "beyond 2^53", "text", "letters", "several")))
    def read(rows):
        if suffix == "parquet":
            pq.write_table(arrow_rows(rows), path)
        else:
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([["y", "p", "s"], *zip(rows.y, rows.p, rows.s.tolist(), strict=True)])
        found = steelyard.tables.Tally.from_json(
            run_command("tally", path, "--true", "y", "--pred", "p", code=0).stdout
        ).confusion
        assert cells(found) == Counter(zip(rows.y, rows.p, strict=True))

    read()


@MANY
@given(rows=drawn_rows(), data=st.data())
def test_series_whose_indexes_differ_in_order_are_refused(rows, data):
    other = data.draw(st.permutations(rows.index).filter(lambda order: order != rows.index))
    y, p = (pandas_series(values, None, index) for values, index in ((rows.y, rows.index), (rows.p, other)))
    with pytest.raises(SteelyardError, match="index"):
        steelyard.confusion(y, p)


# ---------------------------------------------------------------- the property fails where the reading is wrong


def above(self, thresholds):
    """`>` where `>=` is meant."""
    return self._cumulated(np.searchsorted(self.scores, thresholds, side="right"))


def test_texts_that_end_in_the_code_of_zero_are_labels_of_their_own():
    truth, pred = ["a", "a\0", "b", "a\0"], ["a\0", "a\0", "b", "a"]
    forms = [list, tuple, needs("polars").Series, pa.array, lambda texts: np.array(texts, dtype=object), pandas_series]
    for form in forms:
        assert steelyard.accuracy(form(truth), form(pred)) == 0.5
        assert steelyard.confusion(form(truth), form(pred)).labels == ("a", "a\0", "b")
    codes = [text.encode() for text in truth]
    assert steelyard.confusion(codes, codes).labels == (b"a", b"a\0", b"b")
    groups = steelyard.evaluate([0, 1] * 10, [0, 1] * 10, by=["u", "u\0"] * 10, metrics=["accuracy"]).groups
    assert [(group.key, group.rows) for group in groups] == [(("u",), 10), (("u\0",), 10)]


def through_floats(values, name, read=label_codes.distinct):
    return read(values.astype(np.float64) if values.dtype.kind in "iu" else values, name)


def stripped(values, name, read=label_codes.distinct):
    return read(np.array([v.strip() if isinstance(v, str) else v for v in values.tolist()]), name)


ClassScores = type(steelyard.score_table([0, 1], [0.2, 0.7]).positive)
MUTATIONS = {
    "ties at the threshold": (ClassScores, "below", above),
    "labels by position": (label_codes, "recode", lambda codes, *_: codes),
    "integers through floats": (label_codes, "distinct", through_floats),
    "blanks stripped": (label_codes, "distinct", stripped),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_wrong_reading_is_caught(mutation, monkeypatch):
    quiet = settings(MANY, phases=[Phase.generate], report_multiple_bugs=False, print_blob=False)
    form = st.sampled_from(["list", "array", "arrow"])
    read = quiet(given(rows=drawn_rows(), one=form, other=form)(read_as_arrays))
    read()
    monkeypatch.setattr(*MUTATIONS[mutation])
    with pytest.raises((AssertionError, SteelyardError, IndexError)):
        read()
