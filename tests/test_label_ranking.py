"""Metrics of label sets: equal to scikit-learn's on thousands of random rows, and to their definitions elsewhere.

A mean with random weights of the rows differs wherever a row's value does, so that one call compares all rows.
"""

import itertools
import math
import pickle

import numpy as np
import pytest
from scipy import sparse

import steelyard
from steelyard import get_metric, list_metrics
from steelyard.exceptions import InputError, UndefinedError
from steelyard.metrics import label_propensities
from steelyard.tables import multilabel

sklearn_metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
OF_SETS = [metric for metric in list_metrics() if metric.label_sets is not None]
PREDICTED = {"accuracy": "accuracy_score", "error_rate": "zero_one_loss", "hamming_loss": "hamming_loss"}
RANKED = {
    name: name for name in ("label_ranking_loss", "coverage_error")
} | {"label_ranking_average_precision": "label_ranking_average_precision_score", "ndcg": "ndcg_score"}  # fmt: skip
SHAPES = [(n, labels, seed) for seed, (n, labels) in enumerate(itertools.product((1, 40, 250), (2, 3, 5, 9, 14)))]


def rows(n, labels, seed):
    """Rows with none, some or all labels, scores with ties, and weights."""
    rng = np.random.default_rng(seed)
    true = (rng.random((n, labels)) < rng.random((n, 1))).astype(int)
    true[rng.random(n) < 0.1] = 0
    true[rng.random(n) < 0.1] = 1
    predicted = np.where(rng.random(true.shape) < rng.random((n, 1)) * 0.5, 1 - true, true)
    scores = np.round(rng.random(true.shape) + 0.3 * true, rng.integers(1, 3))
    return true, predicted, scores, rng.random(n) + 0.1


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_metrics_of_label_sets_are_those_of_scikit_learn(shape):
    true, predicted, scores, weight = rows(*shape)
    for weights in ({}, {"sample_weight": weight}):
        for form in (np.asarray, sparse.csr_array, lambda m: m.astype(bool)):
            for name, peer in PREDICTED.items():
                expected = getattr(sklearn_metrics, peer)(true, predicted, **weights)
                assert get_metric(name)(form(true), form(predicted), **weights) == pytest.approx(expected, abs=1e-12)
            for name, peer in RANKED.items():
                expected = getattr(sklearn_metrics, peer)(true, scores, **weights)
                assert get_metric(name)(form(true), scores, **weights) == pytest.approx(expected, abs=1e-12)
        for k in (1, 2, shape[1], shape[1] + 3):
            expected = sklearn_metrics.ndcg_score(true, scores, k=k, **weights)
            assert steelyard.ndcg(true, scores, k=k, **weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("average", ["micro", "samples", "macro", "weighted", None])
def test_averages_of_areas_are_those_of_scikit_learn(shape, average):
    true, _, scores, weight = rows(*shape)
    mixed = (true.sum(1) > 0) & (true.sum(1) < shape[1]) if average == "samples" else np.ones(shape[0], bool)
    mixed &= bool(average == "samples" or (true.any(0) & ~true.all(0)).all())
    for weights in (None, weight):
        given = {"average": average, "sample_weight": weights}
        expected = sklearn_metrics.average_precision_score(true, scores, **given)
        value = steelyard.average_precision(true, scores, undefined=0, **given)
        np.testing.assert_allclose(value, expected, atol=1e-12)
        if mixed.any():
            given["sample_weight"] = None if weights is None else weights[mixed]
            expected = sklearn_metrics.roc_auc_score(true[mixed], scores[mixed], **given)
            np.testing.assert_allclose(steelyard.roc_auc(true[mixed], scores[mixed], **given), expected, atol=1e-12)


def test_every_metric_of_an_order_has_a_mean_over_rows():
    true, _, scores, weight = rows(60, 6, 1)
    mixed = (true.sum(1) > 0) & (true.sum(1) < 6)
    for metric in list_metrics():
        if (
            metric.scores is None
            or metric.function is not None
            or metric.of_probabilities
            or metric.columns is not None
        ):
            continue
        parameters = {"k": 2} if "k" in metric.parameters else {}
        each = np.array([metric(y, s, **parameters) for y, s in zip(true[mixed], scores[mixed], strict=True)])
        if not np.isnan(each).any():
            value = metric(true[mixed], scores[mixed], average="samples", sample_weight=weight[mixed], **parameters)
            assert value == pytest.approx(np.average(each, weights=weight[mixed]), abs=1e-9), metric.name
    with pytest.raises(InputError, match="brier is not of the order"):
        steelyard.brier(true, np.clip(scores, 0, 1), average="samples")
    with pytest.raises(UndefinedError, match=r"row \d+ has"):
        steelyard.roc_auc(true, scores, average="samples", undefined="raise")


def test_precision_at_k_is_the_mean_over_the_orders_of_ties():
    true, scores = [1, 0, 1, 0], [0.5, 0.9, 0.5, 0.5]
    orders = [
        order for order in itertools.permutations(range(4)) if sorted(order, key=lambda i: -scores[i]) == [*order]
    ]
    for k in (1, 2, 3, 4):
        expected = np.mean([sum(true[i] for i in order[:k]) / k for order in orders])
        other = ([1, 1, 0, 0], [0.9, 0.8, 0.1, 0.2])
        value = steelyard.precision_at_k([true, other[0]], [scores, other[1]], k=k)
        assert value == pytest.approx((expected + min(2, k) / k) / 2)
        assert value == steelyard.precision_at_k([true, other[0]], [scores, other[1]], k=k, average="samples")
    assert steelyard.precision_at_k.why([true], [scores]) == "fewer than 100 labels"


def test_propensities_and_the_precision_weighted_by_them():
    rng = np.random.default_rng(2)
    train = sparse.csr_array((rng.random((500, 6)) < [0.5, 0.3, 0.1, 0.05, 0.01, 0]).astype(int))
    counts, c = np.asarray(train.sum(0)), (math.log(500) - 1) * 2.5**0.55
    propensities = label_propensities(train)
    np.testing.assert_allclose(propensities, 1 / (1 + c * np.exp(-0.55 * np.log(counts + 1.5))))
    assert (np.diff(propensities[np.argsort(counts)]) >= 0).all() and propensities[-1] > 0
    true, scores = train[:50].toarray(), rng.random((50, 6))
    best = np.argsort(-scores, axis=1)[:, :3]
    expected = np.mean([(true[i, best[i]] / propensities[best[i]]).sum() / 3 for i in range(50)])
    psp = steelyard.propensity_scored_precision_at_k
    assert psp(true, scores, k=3, propensities=propensities) == pytest.approx(expected)
    assert psp(true, scores, k=3, propensities=np.ones(6)) == pytest.approx(steelyard.precision_at_k(true, scores, k=3))
    assert psp.why(true, scores) == "no propensities given"
    with pytest.raises(InputError, match=r"propensities of .* must lie in \(0, 1\]"):
        psp(true, scores, propensities=[0.5, 0, 1, 1, 1, 1])
    with pytest.raises(InputError, match="2 rows"):
        label_propensities(true[:2])


# ---------------------------------------------------------------- laws


@pytest.mark.parametrize("metric", OF_SETS, ids=lambda metric: metric.name)
def test_a_metric_of_label_sets_keeps_the_laws(metric):
    true, predicted, scores, weight = rows(120, 5, 4)
    other = scores if metric.takes_scores else predicted
    parameters = {"k": 2} if "k" in metric.parameters else {}
    if "propensities" in metric.parameters:
        parameters["propensities"] = [0.9, 0.8, 0.5, 0.2, 0.1]
    value = metric(true, other, sample_weight=weight, **parameters)
    assert metric(true, other, sample_weight=weight * 7, **parameters) == pytest.approx(value, abs=1e-12)
    order, times = np.random.default_rng(0).permutation(120), np.arange(120) % 4
    columns = np.random.default_rng(0).permutation(5)
    if "propensities" not in parameters:
        moved = metric(true[order][:, columns], other[order][:, columns], sample_weight=weight[order], **parameters)
        assert moved == pytest.approx(value, abs=1e-12)
    repeated = metric(true.repeat(times, 0), other.repeat(times, 0), **parameters)
    for counted in ({"frequency": times}, {"sample_weight": times}):
        assert metric(true, other, **counted, **parameters) == pytest.approx(repeated, abs=1e-12)
    low, high = metric.range
    for row in range(0, 120, 10):
        assert low <= metric(true[row : row + 1], other[row : row + 1], **parameters) <= high + 1e-12
    if metric.best is not None:
        some = true.sum(1) > 1
        perfect = metric(true[some], true[some].astype(float) if metric.takes_scores else true[some], **parameters)
        assert perfect == pytest.approx(metric.best)
    assert pickle.loads(pickle.dumps(metric)) is metric
    assert metric.is_fixed or metric.fixed(**parameters)(true, other, sample_weight=weight) == pytest.approx(value)


def test_a_metric_of_label_sets_is_refused_where_rows_have_one_label():
    for metric in (metric for metric in OF_SETS if metric.is_of_label_sets):
        for given in (([0, 1, 1], [0, 1, 0]), (steelyard.Counts(1, 2, 3, 4),)):
            with pytest.raises(InputError, match=f"{metric.name} is of rows that may have several labels"):
                metric(*given)
        with pytest.raises(InputError, match="several labels"):
            steelyard.evaluate([0, 1, 1], [0, 1, 0], metrics=[metric.name])
    with pytest.raises(InputError, match=r"leave average= and pos_label= out"):
        steelyard.hamming_loss([[0, 1], [1, 0]], [[0, 1], [1, 1]], average="macro")
    assert steelyard.subset_accuracy is steelyard.accuracy


def test_scorers_take_label_sets():
    from sklearn.datasets import make_multilabel_classification
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import cross_val_score

    x, y = make_multilabel_classification(120, n_labels=2, random_state=0)
    forest = RandomForestClassifier(5, random_state=0)
    for ours, theirs in (
        (steelyard.scorer("accuracy"), "accuracy"), (steelyard.scorer("f1", average="micro"), "f1_micro"),
        (steelyard.scorer("jaccard", average="macro"), "jaccard_macro"),
        (steelyard.scorer("roc_auc", average="macro"), "roc_auc"),
        (steelyard.scorer("label_ranking_loss"), sklearn_metrics.make_scorer(
            sklearn_metrics.label_ranking_loss, greater_is_better=False, response_method="predict_proba")),
    ):  # fmt: skip
        np.testing.assert_allclose(
            *(cross_val_score(forest, x, y, cv=3, scoring=scoring) for scoring in (ours, theirs))
        )


def test_the_imbalance_of_labels():
    true, predicted, _, _ = rows(300, 7, 3)
    true[:, 6] = 0
    dense, thin = (multilabel(form(true), form(predicted)).imbalance for form in (np.asarray, sparse.csr_array))
    counts = true.sum(0)
    np.testing.assert_array_equal(dense.ratios[:6], counts.max() / counts[:6])
    assert dense.ratios[6] == math.inf
    assert dense.mean_ratio == pytest.approx(np.mean(counts.max() / counts[:6]))
    assert dense.variation == pytest.approx(np.std(counts.max() / counts[:6], ddof=1) / dense.mean_ratio)
    assert dense.cardinality == pytest.approx(true.sum() / 300) and dense.density == pytest.approx(true.mean())
    assert dense.distinct_sets == thin.distinct_sets == len({tuple(row) for row in true})
    weighted = multilabel(true, predicted, sample_weight=np.r_[np.ones(150), np.zeros(150)]).imbalance
    assert weighted.cardinality == pytest.approx(true[:150].sum() / 150)
