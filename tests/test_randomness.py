"""Randomness: no number depends on which others are asked for, nor in which order, and equal tables are drawn apart."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard

N = 120
RNG = np.random.default_rng(0)
Y = (RNG.random(N) < 0.2).astype(int)
SCORES = {name: np.round(np.clip(0.3 * Y + 0.7 * RNG.random(N), 0, 1), 2) for name in ("a", "b")}
LABELS = {name: (scores > 0.5).astype(int) for name, scores in SCORES.items()}
Y4, PROBABILITIES = RNG.integers(0, 4, N), {name: RNG.dirichlet([1] * 4, N) for name in ("a", "b")}
LABELS4 = {name: each.argmax(1) for name, each in PROBABILITIES.items()}
SETS = (RNG.random((N, 3)) < 0.3).astype(int)
SETS_PREDICTED = {name: np.where(RNG.random(SETS.shape) < 0.8, SETS, 1 - SETS) for name in ("a", "b")}
CLUSTER, SITE = np.arange(N) // 3, np.arange(N) % 3
UNCERTAIN = steelyard.Prevalence(positives=12, rows=400)
OF_CLASSES = ["accuracy", "f1[average=macro]", "mcc", "g_mean", "recall[class=2]", "recall[average=weighted]", "kappa"]
OF_SETS = ["f1[average=macro]", "f1[average=micro]", "accuracy", "precision[average=weighted]", "mcc[average=macro]"]

EVALUATED = {
    "labels": lambda **options: steelyard.evaluate(Y, LABELS["a"], **options),
    "scores": lambda **options: steelyard.evaluate(Y, y_score=SCORES["a"], **options),
    "weights": lambda **options: steelyard.evaluate(Y, y_score=SCORES["a"], sample_weight=1.0 + CLUSTER, **options),
    "clusters": lambda **options: steelyard.evaluate(Y, y_score=SCORES["a"], cluster=CLUSTER, **options),
    "groups": lambda **options: steelyard.evaluate(Y, y_score=SCORES["a"], by=SITE, **options),
    "an uncertain prevalence": lambda **options: steelyard.evaluate(Y, LABELS["a"], prevalence=UNCERTAIN, **options),
    "classes": lambda **options: steelyard.evaluate(Y4, LABELS4["a"], **options),
    "classes in clusters": lambda **options: steelyard.evaluate(Y4, LABELS4["a"], cluster=CLUSTER, **options),
    "probabilities of classes": lambda **options: steelyard.evaluate(Y4, y_score=PROBABILITIES["a"], **options),
    "label sets": lambda **options: steelyard.evaluate(SETS, SETS_PREDICTED["a"], **options),
}
ASKED = {
    "compared labels": (["recall", "f1", "mcc"], lambda **o: steelyard.compare(Y, LABELS, **o)),
    "compared scores": (
        ["roc_auc", "brier", "recall_at_fpr"],
        lambda **o: steelyard.compare(Y, y_score=SCORES, **o),
    ),
    "compared classes": (OF_CLASSES, lambda **o: steelyard.compare(Y4, LABELS4, **o)),
    "compared label sets": (OF_SETS, lambda **o: steelyard.compare(SETS, SETS_PREDICTED, **o)),
    "compared groups": (OF_CLASSES, lambda **o: steelyard.compare_groups(Y4, LABELS4["a"], by=SITE, **o)),
    "other rows": (
        ["recall", "mcc", "roc_auc", "recall_at_fpr"],
        lambda **o: steelyard.compare({name: steelyard.evaluate(Y, y_score=s) for name, s in SCORES.items()}, **o),
    ),
}
SEEDS = {"no rng": lambda: None, "a seed": lambda: 3, "a Generator": lambda: np.random.default_rng(5)}


def numbers(result):
    """Every number of a result by what it is about, but for those of all metrics together (Holm's)."""
    found = {}

    def walk(value, path):
        if isinstance(value, dict):
            named = [str(value[key]) for key in ("metric", "name", "a", "b", "group") if key in value]
            for key, each in value.items():
                walk(each, (*path, *named, key))
        elif isinstance(value, list):
            named = [isinstance(each, dict) and ("metric" in each or "name" in each) for each in value]
            for place, (each, is_named) in enumerate(zip(value, named, strict=True)):
                walk(each, path if is_named else (*path, str(place)))
        elif isinstance(value, float) and "p_holm" not in path:
            found[path] = value

    walk(result.to_dict(), ())
    return found


def assert_unmoved(every, fewer):
    shared = fewer.keys() & every.keys()
    moved = [path for path in shared if fewer[path] != pytest.approx(every[path], rel=1e-12, abs=1e-15)]
    assert shared
    assert not moved, moved[:3]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", EVALUATED)
def test_metrics_left_out_or_in_another_order_move_no_number_of_an_evaluation(kind, seed):
    ask, rng = EVALUATED[kind], SEEDS[seed]
    names = [row.name for row in ask(rng=rng())]
    every = {row.name: (row.low, row.high, row.chance) for row in ask(rng=rng(), metrics=names)}
    for fewer in (names[::-1], names[::3], names[-1:]):
        for row in ask(rng=rng(), metrics=fewer):
            assert (row.low, row.high, row.chance) == pytest.approx(every[row.name], rel=1e-12, nan_ok=True), row.name


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("question", ASKED)
def test_metrics_left_out_or_in_another_order_move_no_number_of_a_question(question, seed):
    (names, ask), rng = ASKED[question], SEEDS[seed]
    every = numbers(ask(metrics=names, rng=rng()))
    for fewer in (names[::-1], names[1:], names[-1:]):
        assert_unmoved(every, numbers(ask(metrics=fewer, rng=rng())))


def test_every_metric_of_the_registry_has_the_same_interval_alone_as_beside_all_others():
    table = steelyard.confusion(Y4, LABELS4["a"])
    names = [metric.name for metric in steelyard.list_metrics() if metric.classes]
    together = {found.metric: found for found in steelyard.interval(names, table, draws=200)}
    assert len(together) > 10
    for name in names:
        assert steelyard.interval(name, table, draws=200) == together[name]


def test_a_generator_gives_other_draws_each_time_and_the_same_in_each_run():
    def run():
        rng = np.random.default_rng(1)
        return [steelyard.interval("mcc", Y, LABELS["a"], rng=rng).low for _ in range(2)]

    first, second = run()
    assert (first, second) == tuple(run())
    assert first != second


def test_equal_tables_have_independent_draws():
    once = steelyard.evaluate(Y, LABELS["a"])
    row = steelyard.compare({"a": once, "b": once}, metrics=["mcc"]).rows[0]
    interval = once["mcc"]
    assert row.difference == 0
    # Of the same draws the difference would be certain to be 0; of independent ones its interval is wider by 2 ** .5.
    assert 1.2 < (row.high - row.low) / (interval.high - interval.low) < 1.6


def test_equal_classes_have_independent_draws():
    rows = steelyard.confusion(np.repeat([0, 1, 2], 50), np.tile([0, 0, 0, 1, 2], 30))
    lows = [steelyard.interval(f"mcc[class={k}]", rows).low for k in (1, 2)]
    values = [steelyard.interval(f"mcc[class={k}]", rows).value for k in (1, 2)]
    assert values[0] == values[1]
    assert lows[0] != lows[1]
    assert lows[0] == pytest.approx(lows[1], abs=0.02)
