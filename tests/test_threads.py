"""Threads: how many are used, and that what they compute does not depend on it."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import steelyard
from steelyard import score_table
from steelyard.arrays.sorting import LIMITS, in_background, in_threads, thread_count


def test_openblas_was_loaded_with_the_threads_that_tests_allow_it():
    pools = pytest.importorskip("threadpoolctl").threadpool_info()
    threads = {pool["num_threads"] for pool in pools if pool["internal_api"] == "openblas"}
    assert threads <= {int(os.environ["OPENBLAS_NUM_THREADS"])}


@pytest.fixture
def cores(monkeypatch):
    """A machine of four cores without a limit."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4), raising=False)
    for name in LIMITS:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_of_the_environment_is_honoured(name, monkeypatch):
    assert thread_count() == 4
    for text, count in (("1", 1), ("3", 3), ("64", 4), ("0", 1), ("", 4), ("2,1", 2), ("1,1", 1)):
        monkeypatch.setenv(name, text)
        assert thread_count() == count
    monkeypatch.setenv(name, "1")
    assert set(in_threads(lambda _: threading.get_ident(), range(9))) == {threading.get_ident()}


@pytest.mark.usefixtures("cores")
def test_parts_keep_their_order_and_their_errors():
    assert in_threads(lambda part: part * 2, range(50)) == [*range(0, 100, 2)]
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda part: 1 // part, range(5))


SCORES = {
    "even": lambda rng, n: rng.random(n),
    "crowded": lambda rng, n: rng.random(n) ** 20,
    "tied": lambda rng, n: np.round(rng.normal(size=n), 3),
    "few": lambda rng, n: rng.integers(0, 50, n) * 1.0,
    "with ends": lambda rng, n: np.concatenate([rng.random(n - 2), [1e308, -1e308]]),
    "equal": lambda rng, n: np.zeros(n),
    "negative": lambda rng, n: -rng.random(n),
}


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize("slowly", [True, False])
@pytest.mark.parametrize("positives", [40, 150_000])  # few are placed among the others without an order of these
@pytest.mark.parametrize("kind", SCORES)
def test_scores_are_sorted_and_placed_by_several_threads_whatever_the_processor(kind, positives, slowly, sorts_slowly):
    sorts_slowly(slowly)
    scores = SCORES[kind](np.random.default_rng(2), 300_000)
    y = np.arange(300_000) % (300_000 // positives) == 0
    few, others = scores[y], np.sort(scores[~y])
    lower, upper = (np.searchsorted(others, few, side) for side in ("left", "right"))
    area = (lower + upper).sum() / 2 / len(few) / len(others)
    assert steelyard.roc_auc(y, scores) == pytest.approx(area, rel=1e-12)
    table = score_table(y, scores)
    assert np.array_equal(table.thresholds[1:][::-1][-len(np.unique(scores)) :], np.unique(scores))
    assert table.at(np.median(few)).fp == (others >= np.median(few)).sum()


@pytest.mark.usefixtures("cores")
def test_what_is_begun_in_the_background_keeps_its_settings_and_its_errors(monkeypatch):
    with np.errstate(divide="raise"):
        begun = in_background(lambda: np.ones(1) / np.zeros(1))
        with pytest.raises(FloatingPointError):
            begun.result()
    assert in_background(threading.get_ident).result() != threading.get_ident()
    monkeypatch.setenv(LIMITS[0], "1")
    assert in_background(threading.get_ident).result() == threading.get_ident()
    assert isinstance(in_background(lambda: 1 // 0).exception(), ZeroDivisionError)


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize("rng", [None, 3, "given"])
def test_intervals_by_draws_are_those_of_one_thread(rng, monkeypatch):
    y = (np.arange(20_000) % 3 == 0).astype(int)
    scores = np.random.default_rng(0).normal(size=len(y)) + y
    names, ends = ["recall_at_precision[at=0.6]", "average_precision"], []
    for _ in range(2):
        drawn_by = np.random.default_rng(5) if rng == "given" else rng
        found = steelyard.interval(names, y, y_score=scores, rng=drawn_by)
        ends.append([(each.low, each.high) for each in found])
        monkeypatch.setenv(LIMITS[0], "1")
    assert ends[0] == ends[1]


@pytest.mark.usefixtures("cores")
def test_intervals_of_long_tables_do_not_depend_on_threads(monkeypatch):
    rng = np.random.default_rng(1)
    y = rng.random(30_000) < 0.05
    scores = rng.normal(size=30_000) + np.where(np.arange(30_000) % 2, 1, 2) * y

    def ends(**groups):  # of one table draws are begun in the background, of the groups' they wait for each other
        found = steelyard.evaluate(y, y_score=scores, metrics=["recall_at_precision[at=0.2]"], draws=40, **groups)
        return [(row.low, row.high) for part in (found, *found.groups) for row in part.metrics]

    by = {"by": {"half": np.arange(30_000) % 2}}
    before = ends(), ends(**by)
    monkeypatch.setenv(LIMITS[0], "1")
    assert before == (ends(), ends(**by))
    assert len({*before[1]}) == 3
