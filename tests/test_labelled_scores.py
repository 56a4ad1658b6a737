"""Both classes sorted at once: the pairs and the precisions beside their definitions, whatever the scores, and threads."""

from __future__ import annotations

import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import steelyard
from steelyard import score_table
from steelyard.arrays import sorting
from steelyard.tables import class_scores

TINY = 5e-324
LIMITS = ("OMP_NUM_THREADS", "POLARS_MAX_THREADS")
NEXT = float(np.nextafter(1.0, 2.0))
FEW = st.sampled_from([0.0, -0.0, TINY, -TINY, 2.3e-308, 1.0, NEXT, -1.0, -NEXT, 2.0, 0.1, -0.1])
SCORES = st.one_of(FEW, st.floats(-1, 1), st.floats(-1e6, 1e6), st.floats(allow_nan=False, allow_infinity=False))
ROWS = st.lists(st.tuples(SCORES, st.booleans()), min_size=2, max_size=60)
SHAPES = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "towards 0": lambda rng, n: rng.random(n) ** 20,
    "below 0": lambda rng, n: -rng.random(n),
    "ties": lambda rng, n: rng.integers(-20, 20, n) / 4,
    "pairs": lambda rng, n: rng.permutation(n) // 2 * 1.0,
    "constant": lambda _, n: np.full(n, 0.3),
    "mostly 0": lambda rng, n: np.where(rng.random(n) < 0.8, 0, rng.normal(size=n)),
    "one in a crowd": lambda rng, n: np.where(rng.random(n) < 0.05, 0.5, rng.random(n)),
    "neighbours": lambda rng, n: 1 + rng.integers(0, 9, n) * 2.0**-52,
    "subnormal": lambda rng, n: rng.integers(-50, 50, n) * TINY,
    "two zeros": lambda rng, n: np.where(rng.random(n) < 0.5, -0.0, 0.0),
    "far ends": lambda rng, n: np.append(rng.random(n - 2), [1e308, -1e308]),
    "sorted": lambda rng, n: np.sort(rng.random(n)),
}


def labelled(scores, positive):
    return class_scores.LabelledScores(np.array(scores, dtype=float), np.array(positive), int(np.sum(positive)))


def twice_pairs(scores, positive):
    """Every pair of a positive and a negative: 2 where the positive scores higher, 1 where both score the same."""
    ups, downs = ([s for s, p in zip(scores, positive, strict=True) if p == which] for which in (True, False))
    return sum((up > down) + (up >= down) for up in ups for down in downs)


def precisions(scores, positive):
    """The precision of flagging all rows from its score up, for each positive, in fractions."""
    rows = list(zip(scores, positive, strict=True))
    flagged = [[p for other, p in rows if other >= score] for score, is_positive in rows if is_positive]
    return sum((Fraction(sum(f), len(f)) for f in flagged), Fraction(0))


@settings(max_examples=300)
@given(ROWS, st.sampled_from([2, 8, 64]), st.booleans())
@example([(TINY, True), (0.0, False), (1e300, True)], 64, True)
def test_pairs_and_precisions_are_those_of_their_definitions(rows, length, in_registers):
    scores, positive = zip(*rows, strict=True)
    both = labelled(scores, positive)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "CHUNK", length)  # so that few rows have several ranges
        patch.setattr(sorting, "_ROW", 8)
        patch.setattr(sorting, "numpy_sorts_slowly", lambda: in_registers)
        twice, total = both.twice_outranked(), both.precision_sum()
    if twice is None:
        assert max(map(abs, scores)) >= 2
        assert 0 < min(abs(score) for score in scores if score) < 2.0**-1022 * max(map(abs, scores))
        assert total is None
    else:
        assert twice == twice_pairs(scores, positive)
        assert total == pytest.approx(float(precisions(scores, positive)), rel=1e-13)


@pytest.mark.parametrize("slowly", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [4_100, 70_000])
def test_rows_have_the_areas_of_their_table(shape, n, slowly, sorts_slowly):
    sorts_slowly(slowly)
    rng = np.random.default_rng(3)
    y, scores = (rng.random(n) < 0.4).astype(int), SHAPES[shape](rng, n)
    table, before = score_table(y, scores), scores.copy()
    if shape != "far ends":  # which keys cannot hold
        pairs = 2 * table.positive.n * table.negative.n
        assert labelled(scores, y).twice_outranked() / pairs == steelyard.roc_auc(table)
        precision = labelled(scores, y).precision_sum() / table.positive.n
        assert precision == pytest.approx(steelyard.average_precision(table), rel=1e-13)
    assert steelyard.roc_auc(y, scores) == steelyard.roc_auc(table)
    assert steelyard.average_precision(y, scores) == pytest.approx(steelyard.average_precision(table), rel=1e-13)
    assert np.array_equal(scores, before)


@pytest.mark.parametrize("labels", [bool, np.int8, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int32, ">f8"])
def test_every_kind_of_column_is_read(labels, kind):
    rng = np.random.default_rng(4)
    y, scores = rng.random(10_000) < 0.3, rng.normal(size=10_000) * 9
    column = np.repeat(scores.astype(kind), 2)[::2]  # with gaps between its values
    column.flags.writeable = False
    expected = score_table(y, scores.astype(kind).astype(float))
    assert steelyard.roc_auc(y.astype(labels), column) == steelyard.roc_auc(expected)


def test_scores_that_keys_cannot_hold_are_ranked_all_the_same():
    y = np.tile([0, 1], 3_000)
    scores = np.tile([TINY, 2 * TINY, 1e300, 2e300], 1_500)
    assert labelled(scores, y).twice_outranked() is None
    assert labelled(scores, y).precision_sum() is None
    assert steelyard.roc_auc(y, scores) == 0.75
    assert steelyard.average_precision(y, scores) == pytest.approx((1 + 2 / 3) / 2)


def test_one_sort_answers_and_no_class_is_copied(monkeypatch):
    monkeypatch.setattr(class_scores.LabelledClass, "__call__", lambda _: pytest.fail("a class was copied"))
    rng = np.random.default_rng(5)
    y, scores = rng.integers(0, 2, 5_000), rng.random(5_000)
    assert 0 < steelyard.roc_auc(y, scores) < 1
    assert 0 < steelyard.average_precision(y, scores) < 1


def test_a_perfect_and_a_reversed_order_reach_the_ends():
    y = np.arange(50_000) >= 20_000
    assert steelyard.roc_auc(y, np.arange(50_000)) == steelyard.average_precision(y, np.arange(50_000)) == 1
    assert steelyard.roc_auc(y, -np.arange(50_000)) == 0


# ---------------------------------------------------------------- threads


@pytest.fixture
def running(monkeypatch):
    """The threads that sort ranges, and the most that did so at the same time, on a machine of four cores."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4), raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    for name in LIMITS:
        monkeypatch.delenv(name, raising=False)
    state, lock = {"now": 0, "most": 0, "threads": set(), "meet": lambda: None}, threading.Lock()

    def counted(function):
        def wrapped(*given):
            with lock:
                state["now"] += 1
                state["most"] = max(state["most"], state["now"])
                state["threads"].add(threading.get_ident())
            state["meet"]()
            result = function(*given)
            with lock:
                state["now"] -= 1
            return result

        return wrapped

    monkeypatch.setattr(class_scores, "sort_range", counted(sorting.sort_range))
    monkeypatch.setattr(class_scores.ScoreKeys, "packed", counted(class_scores.ScoreKeys.packed))
    return state


def area():
    rng = np.random.default_rng(6)
    y, scores = rng.integers(0, 2, 300_000), rng.normal(size=300_000).round(4)
    return steelyard.roc_auc(y, scores), steelyard.average_precision(y, scores)


@pytest.mark.parametrize("name", LIMITS)
def test_no_more_threads_sort_than_the_environment_allows(name, running, monkeypatch):
    values = set()
    for limit in (1, 2, 3):
        monkeypatch.setenv(name, str(limit))
        running.update(most=0, threads=set())
        values.add(area())
        assert 1 <= running["most"] <= limit
        assert limit > 1 or running["threads"] == {threading.get_ident()}
    assert len(values) == 1  # to the last bit


def test_two_threads_sort_where_two_are_allowed(running, monkeypatch):
    monkeypatch.setenv(LIMITS[0], "2")
    barrier, calls = threading.Barrier(2), iter(range(2))

    def meet():  # neither of the first two goes on without the other
        if next(calls, None) is not None:
            barrier.wait(timeout=60)

    running["meet"] = meet
    area()
    assert running["most"] == 2
