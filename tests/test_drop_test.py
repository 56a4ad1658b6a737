"""The drop test: what an unchanged model, a dropped one and the sentences of the default gate say."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage_gate import METRICS, Setting, exchanges, fails
from steelyard import Confusion, confusion
from steelyard.analysis.drop_test import drop_test
from steelyard.analysis.exchanged_rows import LabelExchange
from steelyard.metrics.spec import MetricSpec


@pytest.mark.parametrize(
    "setting", [Setting(600, 0.1, 0.7, 0.9, False), Setting(200, 0.3, 0.8, 0.8, True)], ids=["labels", "scores"]
)
def test_an_unchanged_model_rarely_fails(setting):
    rng = np.random.default_rng(5)
    failed = [fails(setting.test_set(rng), setting.test_set(rng), draws=199) for _ in range(100)]
    assert np.mean(failed) <= 0.11  # 0.05 and 2.8 standard errors; 0.25 where the baseline's noise was left out


def test_a_drop_is_caught_as_often_as_stated():
    rng, setting = np.random.default_rng(6), Setting(3_000, 0.3, 0.8, 0.9, False)
    stated = drop_test(*exchanges(setting.test_set(rng), setting.test_set(rng)), METRICS).power
    caught = [fails(setting.test_set(rng), setting.test_set(rng, 0.05), draws=199) for _ in range(100)]
    assert 0.4 < stated < 0.95
    assert np.mean(caught) == pytest.approx(stated, abs=0.16)


def test_a_large_drop_fails_and_an_equal_table_does_not():
    before = Confusion.of_rows((1, 0), np.array([[80, 20], [50, 950]]), 1)
    after = Confusion.of_rows((1, 0), np.array([[40, 60], [50, 950]]), 1)
    drops = {
        drop.spec.name: drop for drop in drop_test(LabelExchange.of(before, after, 1), None, METRICS, margin=None).drops
    }
    assert drops["recall"].is_shown and not drops["specificity"].is_shown
    assert drops["recall"].size == pytest.approx(0.4) and 0.1 < drops["recall"].limit < 0.3
    assert not any(
        drop.is_shown for drop in drop_test(LabelExchange.of(before, before, 1), None, METRICS, margin=None).drops
    )
    gained = drop_test(LabelExchange.of(after, before, 1), None, METRICS, margin=None).drops
    assert not any(drop.is_shown for drop in gained)


def test_other_class_sizes_are_no_drop():
    before = Confusion.of_rows((1, 0), np.array([[800, 200], [100, 900]]), 1)
    after = Confusion.of_rows((1, 0), np.array([[80, 20], [1_000, 9_000]]), 1)  # precision 0.89 and 0.07
    assert not any(
        drop.is_shown for drop in drop_test(LabelExchange.of(before, after, 1), None, METRICS, margin=None).drops
    )


def test_many_classes_and_labels_that_one_set_lacks():
    rng = np.random.default_rng(7)
    y = rng.choice(list("abcd"), 800, p=[0.6, 0.2, 0.19, 0.01])
    good, bad = (np.where(rng.random(800) < share, y, rng.choice(list("abc"), 800)) for share in (0.8, 0.5))
    specs = [MetricSpec.of(name) for name in ("accuracy", "balanced_accuracy", "mcc")]
    seen = y != "d"
    same = drop_test(LabelExchange.of(confusion(y, good), confusion(y[seen], good[seen]), None), None, specs)
    worse = drop_test(
        LabelExchange.of(confusion(y[seen], good[seen]), confusion(y[seen], bad[seen]), None), None, specs
    )
    assert not any(drop.is_shown for drop in same.drops)
    assert all(drop.is_shown for drop in worse.drops) and worse.margin_of == "the recall of every class"


def test_weights_count_for_what_they_are_worth():
    rng = np.random.default_rng(8)
    y, pred = rng.random(500) < 0.3, rng.random(500) < 0.3
    weighted = confusion(y, pred, sample_weight=rng.lognormal(0, 1.5, 500))
    limits = [
        drop_test(LabelExchange.of(table, table, True), None, METRICS, margin=None).drops[0].limit
        for table in (confusion(y, pred), weighted)
    ]
    assert limits[1] > 1.5 * limits[0]
