"""Counts: margins, merging, saving, and what they refuse."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from checks import assert_refused
from hypothesis import given
from hypothesis import strategies as st

import steelyard
from steelyard import Counts

LARGEST = 2**63 - 1
tables = st.lists(st.integers(0, 7 * 10**17), min_size=4, max_size=4).map(lambda cells: Counts(*cells))


def test_margins():
    counts = Counts(tp=1, fn=2, fp=30, tn=400)
    assert (counts.positives, counts.negatives) == (3, 430)
    assert (counts.predicted_positives, counts.predicted_negatives) == (31, 402)
    assert counts.total == 433


def test_cells_broadcast_to_one_shape():
    counts = Counts(np.arange(3), 1, [[1], [2]], 0)
    assert counts.shape == (2, 3)
    assert counts[1, 2] == Counts(2, 1, 2, 0)
    assert counts.sum() == Counts(6, 6, 9, 0)
    assert counts.sum(axis=0) == Counts([0, 2, 4], 2, 3, 0)
    assert Counts.stack([Counts(1, 2, 3, 4), Counts(5, 6, 7, 8)])[1] == Counts(5, 6, 7, 8)


def test_from_matrix_is_scikit_learns_layout_and_goes_back():
    assert Counts.from_matrix([[5, 3], [2, 7]]) == Counts(tp=7, fn=2, fp=3, tn=5)
    assert Counts.from_matrix([[7, 2], [3, 5]], positive=0) == Counts(tp=7, fn=2, fp=3, tn=5)
    matrix = np.arange(12).reshape(3, 2, 2)
    assert np.array_equal(Counts.from_matrix(matrix).matrix(), matrix)


@given(tables, tables, tables)
def test_merging_is_associative_and_commutative_and_exact(a, b, c):
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Counts(0, 0, 0, 0) == a
    assert (a + b).tp == int(a.tp) + int(b.tp)


@given(tables)
def test_saving_and_swapping_twice_give_the_table_back(table):
    assert Counts.from_json(table.to_json()) == table
    assert pickle.loads(pickle.dumps(table)) == table
    assert table.swapped().swapped() == table
    assert table.swapped().positives == table.negatives


def test_weights_make_floats_and_are_saved_to_the_last_digit():
    weighted = Counts(0.1, 1 / 3, 2, 1e-300)
    assert Counts.from_json(weighted.to_json()) == weighted
    assert np.asarray(weighted.fp).dtype == np.float64


def test_scaling_is_exact_for_whole_numbers_and_by_class_where_asked():
    assert Counts(1, 2, 3, 4).scaled(10**17) == Counts(10**17, 2 * 10**17, 3 * 10**17, 4 * 10**17)
    assert Counts(1, 2, 3, 4).scaled(positives=10) == Counts(10, 20, 3, 4)
    assert Counts(1, 2, 3, 4).scaled(0.5) == Counts(0.5, 1, 1.5, 2)
    assert Counts(1, 2, 3, 4).scaled(np.array([1, 2]), negatives=3) == Counts([1, 2], [2, 4], [9, 18], [12, 24])


def test_a_factor_that_would_wrap_is_refused():
    for attempt in (
        lambda: Counts(10, 20, 3, 4).scaled(2**40, positives=2**40),
        lambda: Counts(1, 1, 1, 1).scaled(10**30),
    ):
        with pytest.raises(OverflowError):
            attempt()


def test_tables_sum_and_are_really_frozen():
    assert sum([Counts(1, 2, 3, 4), Counts(1, 1, 1, 1)]) == Counts(2, 3, 4, 5)
    with pytest.raises(ValueError, match="read-only"):
        Counts([1, 2], 1, 1, 1).fn[0] = -9


def test_equal_tables_hash_alike():
    assert hash(Counts(1, 2, 3, 4)) == hash(Counts(1.0, 2.0, 3.0, 4.0))
    assert Counts(1, 2, 3, 4) == Counts(1.0, 2.0, 3.0, 4.0)
    assert Counts(1, 2, 3, 4) != Counts(1, 2, 4, 3)


def test_whole_numbers_never_wrap():
    assert Counts(LARGEST, 0, 0, 0).total == LARGEST
    near = Counts(LARGEST // 4, LARGEST // 4, LARGEST // 4, LARGEST // 4)
    for overflow in (
        lambda: near + near, lambda: Counts(LARGEST, 1, 0, 0), lambda: near.scaled(2),
        lambda: Counts(2**63, 0, 0, 0), lambda: Counts(2**70, 0, 0, 0), lambda: Counts([2**62] * 2, 0, 0, 0).sum(),
        lambda: Counts(np.uint64(2**63), 0, 0, 0),
    ):  # fmt: skip
        with pytest.raises(OverflowError, match="largest whole count"):
            overflow()
    assert Counts(float(2**70), 0, 0, 0).total == 2.0**70


BAD = {
    "negative": (lambda: Counts(-1, 2, 3, 4), ValueError, "cannot be negative"),
    "NaN": (lambda: Counts(1, float("nan"), 3, 4), ValueError, "NaN or an infinity"),
    "infinite": (lambda: Counts(1, 2, float("inf"), 4), ValueError, "NaN or an infinity"),
    "shapes": (lambda: Counts([1, 2], [1, 2, 3], 3, 4), ValueError, "do not broadcast"),
    "ragged": (lambda: Counts([[1], [2, 3]], 2, 3, 4), TypeError, "tp must be a number"),
    "text": (lambda: Counts("one", 2, 3, 4), TypeError, "tp must be a number"),
    "None": (lambda: Counts(None, 2, 3, 4), TypeError, "tp must be a number"),
    "complex": (lambda: Counts(1j, 2, 3, 4), TypeError, "tp must be a number"),
    "matrix": (lambda: Counts.from_matrix(np.ones((3, 3))), ValueError, "2 x 2 matrix"),
    "positive": (lambda: Counts.from_matrix(np.ones((2, 2)), positive=2), ValueError, "0 or 1"),
    "adding": (lambda: Counts([1, 2], 1, 1, 1) + Counts([1, 2, 3], 1, 1, 1), ValueError, "do not broadcast"),
    "scaling": (lambda: Counts([1, 2], 1, 1, 1).scaled([1, 2, 3]), ValueError, "do not broadcast"),
    "far below": (lambda: Counts(-(10**30), 1, 1, 1), ValueError, "cannot be negative"),
    "masked": (lambda: Counts(np.ma.array([1, 2], mask=[0, 1]), 1, 1, 1), ValueError, "masked"),
    "text objects": (lambda: Counts(np.array(["1"], dtype=object), 1, 1, 1), TypeError, "must be a number"),
    "nothing stacked": (lambda: Counts.stack([]), ValueError, "one or more"),
    "None JSON": (lambda: Counts.from_json(None), ValueError, "not a saved table"),
    "deep JSON": (lambda: Counts.from_json("[" * 100_000), ValueError, "not a saved table"),
    "no JSON": (lambda: Counts.from_json("{"), ValueError, "not a saved table"),
    "other JSON": (lambda: Counts.from_json("[1]"), ValueError, "no saved counts"),
    "schema": (lambda: Counts.from_json('{"kind": "counts", "schema": 9}'), ValueError, "schema 9"),
    "lacking": (lambda: Counts.from_json('{"kind": "counts", "schema": 1, "tp": 1}'), ValueError, "lacks fn, fp, tn"),
    "negative JSON": (
        lambda: Counts.from_json(json.dumps({"kind": "counts", "schema": 1, "tp": -1, "fn": 0, "fp": 0, "tn": 0})),
        ValueError,
        "cannot be negative",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    assert_refused(*BAD[case])


def test_counts_are_frozen_and_print_readably():
    counts = Counts(1, 2, 3, 4)
    with pytest.raises(AttributeError):
        counts.tp = 5
    assert repr(counts) == "Counts(tp=1, fn=2, fp=3, tn=4)"


def test_a_table_without_rows_is_shown_in_every_form():
    empty = steelyard.evaluate(Counts(0, 0, 0, 0))
    assert repr(Counts(0, 0, 0, 0)) == "Counts(tp=0, fn=0, fp=0, tn=0)"
    for text in (str(empty), repr(empty), empty.to_markdown(), empty.to_html(), empty._repr_html_()):
        assert "no rows" in text
    assert "no rows" in str(steelyard.interval("recall", Counts(0, 0, 0, 0)))


def test_the_cells_of_scikit_learn_in_its_own_order_get_a_hint():
    matrix = np.array([[2680, 72], [23, 28]])  # tn, fp, fn, tp
    hint = "Most rows are positive: Counts takes tp, fn, fp, tn, and scikit-learn's confusion_matrix"
    assert steelyard.evaluate(Counts(*matrix.ravel())).assumed[0].startswith(hint)
    assert not steelyard.evaluate(Counts.from_matrix(matrix)).assumed
