"""Which classes are confused: the laws of their order, and the pairs beside a plain count."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from steelyard import Confusion, confusion, evaluate, interval
from steelyard.analysis.confusions.confused_pairs import confused_pairs, confusion_order

TABLES = st.integers(1, 9).flatmap(
    lambda k: st.lists(st.integers(0, 9), min_size=k * k, max_size=k * k).map(
        lambda cells: Confusion.of_rows(range(k), np.array(cells).reshape(k, k))
    )
)


def jeffreys(hits, rows):
    """The ends that hold the middle 95 % of the posterior; where none or all are hits, 0 or 1."""
    low = np.where(hits > 0, stats.beta.ppf(0.025, hits + 0.5, rows - hits + 0.5), 0)
    return low, np.where(hits < rows, stats.beta.ppf(0.975, hits + 0.5, rows - hits + 0.5), 1)


def blocks(sizes, rng, noise=0):
    """A table whose classes are confused within blocks, and the block of each class."""
    of = np.repeat(np.arange(len(sizes)), sizes)
    rows = np.where(of[:, None] == of[None, :], rng.integers(5, 30, (len(of), len(of))), 0)
    rows += np.diag(rng.integers(100, 400, len(of))) + (rng.random(rows.shape) < noise)
    return rows, of


@given(TABLES)
def test_the_order_is_a_permutation_and_always_the_same(table):
    order = confusion_order(table)
    assert sorted(order.tolist()) == list(range(len(table.labels)))
    assert order.tolist() == confusion_order(table).tolist()


@pytest.mark.parametrize(
    ("sizes", "noise"), [((3, 2, 4), 0), ((5, 1, 7, 4), 0), ((6, 6, 6, 6), 0.02), ((40, 35, 30), 0.01)]
)
def test_a_shuffled_table_of_blocks_is_recovered(sizes, noise):
    rng = np.random.default_rng(len(sizes))
    rows, of = blocks(sizes, rng, noise)
    for _ in range(5):
        shuffled = rng.permutation(len(of))
        order = confusion_order(Confusion.of_rows(range(len(of)), rows[np.ix_(shuffled, shuffled)]))
        seen = [block for block, _ in itertools.groupby(of[shuffled][order].tolist())]
        assert len(seen) == len(sizes), "each block stands in one piece"


def test_many_classes_are_ordered_in_blocks_as_well():
    rng = np.random.default_rng(3)
    rows, of = blocks([25] * 40, rng)
    shuffled = rng.permutation(len(of))
    order = confusion_order(Confusion.of_rows(range(len(of)), rows[np.ix_(shuffled, shuffled)]))
    assert len([*itertools.groupby(of[shuffled][order].tolist())]) == 40


@pytest.mark.parametrize(("k", "size", "n"), [(60, 6, 6_000), (1_000, 25, 60_000), (1_200, 12, 60_000)])
def test_planted_blocks_stand_in_one_piece(k, size, n):
    rng = np.random.default_rng(k)
    truth, luck = rng.integers(0, k, n), rng.random(n)
    near, anywhere = truth // size * size + rng.integers(0, size, n), rng.integers(0, k, n)
    pred = np.where(luck < 0.7, truth, np.where(luck < 0.93, near, anywhere))
    shuffled = rng.permutation(k)
    table = confusion(shuffled[truth], shuffled[pred], labels=range(k))
    blocks = np.argsort(shuffled)[confusion_order(table)] // size
    assert sorted(confusion_order(table).tolist()) == [*range(k)]
    assert len([*itertools.groupby(blocks.tolist())]) <= 1.05 * k / size


def test_where_more_errors_are_comes_first_and_classes_without_any_last():
    rows = np.diag([50, 50, 50, 50, 50, 50])
    rows[1, 4], rows[4, 1], rows[2, 5] = 3, 2, 20
    assert set(confusion_order(Confusion.of_rows("abcdef", rows))[:2].tolist()) == {2, 5}
    assert set(confusion_order(Confusion.of_rows("abcdef", rows))[2:4].tolist()) == {1, 4}


@given(TABLES)
def test_the_pairs_are_the_largest_errors_in_order(table):
    pairs = confused_pairs(table, 0.95, most=4)
    errors = [(-n, i, j) for (i, j), n in np.ndenumerate(table.rows) if n and i != j]
    assert [(-pair.weight, pair.true, pair.predicted) for pair in pairs] == sorted(errors)[:4]
    for pair in pairs:
        size = table.rows[pair.true].sum()
        assert math.isclose(pair.share, pair.weight / size, rel_tol=1e-12)
        assert 0 <= pair.low <= pair.share <= pair.high <= 1
        assert (pair.low, pair.high) == pytest.approx(tuple(map(float, jeffreys(pair.weight, size))), rel=1e-9)


@pytest.mark.parametrize("by", ["weight", "share"])
def test_pairs_that_the_test_shows_go_before_larger_ones(by):
    rows = np.diag(np.full(6, 200)) + np.array([[0, 60, 9, 9, 9, 9], [60, 0, 9, 9, 9, 9], *np.zeros((4, 6), int)])
    rows[4, 5] = 12
    plain, first = (
        confused_pairs(Confusion.of_rows(range(6), rows), 0.95, most=20, by=by, tested_first=tested)
        for tested in (False, True)
    )
    shown = [pair for pair in plain if pair.p_value <= 0.05]
    assert 0 < len(shown) < len(plain) and plain[: len(shown)] != shown
    assert first == shown + [pair for pair in plain if pair.p_value > 0.05]


@given(TABLES)
def test_pairs_by_share_are_those_whose_lower_end_is_largest(table):
    every = confused_pairs(table, 0.9, most=99)
    lows = sorted((pair.low for pair in every), reverse=True)
    assert [pair.low for pair in confused_pairs(table, 0.9, most=5, by="share")] == lows[:5]


def test_of_very_many_cells_the_pairs_by_share_are_the_same():
    rows = np.random.default_rng(0).integers(1, 60, (180, 180)) + np.diag(np.full(180, 3_000))
    rows[7, 9], rows[40, 2], rows[3] = 2_500, 900, 1
    table = Confusion.of_rows(range(180), rows)
    lows = jeffreys(rows, rows.sum(1, keepdims=True))[0]
    np.fill_diagonal(lows, 0)
    pairs = confused_pairs(table, 0.95, most=20, by="share")
    assert [pair.low for pair in pairs] == pytest.approx(np.sort(lows, axis=None)[::-1][:20], rel=1e-9)


def test_weighted_pairs_are_of_weights_and_have_the_ends_of_the_rows_they_are_worth():
    y, p = np.array(list("aaaabbbb")), np.array(list("abbbbbaa"))
    plain, heavy = (
        confused_pairs(evaluate(y, p, pos_label="a", sample_weight=np.full(8, w)).confusion, 0.95, most=1)[0]
        for w in (1, 3.0)
    )
    assert heavy.weight == 3 * plain.weight
    assert math.isclose(heavy.share, plain.share)
    assert math.isclose(heavy.low, plain.low)


def test_pairs_of_rows_in_clusters_have_no_ends():
    table = Confusion.of_rows("ab", np.array([[5, 2], [1, 7]]))
    assert all(
        math.isnan(pair.low) and math.isnan(pair.high) for pair in confused_pairs(table, 0.95, most=2, clustered=True)
    )


@pytest.mark.parametrize("largest", [1, 1e9])  # beside which the other classes are small
@pytest.mark.parametrize("k", [2, 3, 80])
def test_a_class_against_the_rest_is_the_table_multiplied_out(k, largest):
    rng = np.random.default_rng(k)
    rows = rng.integers(0, 9, (k, k))
    weights = rows * rng.gamma(1, 1, (k, k))
    weights[0, 0] *= largest
    table = Confusion(tuple(range(k)), rows, weights, weights**2)
    for place in range(0, k, max(k // 8, 1)):
        fold = np.zeros((2, k))
        fold[1, place] = 1
        fold[0] = 1 - fold[1]
        alone = Confusion((0, 1), *(fold @ whole @ fold.T for whole in (rows, weights, weights**2)), 1)
        one, other = table.counts(place), alone.counts(1)
        assert [*one] == pytest.approx([*other], rel=1e-12)
        found, expected = (interval("recall", part, pos_label=at) for part, at in ((table, place), (alone, 1)))
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.03, nan_ok=True)
