"""Many classes and many labels beside torchmetrics and imbalanced-learn, on random cases: equal where both define it."""

import warnings

import numpy as np
import pytest

import steelyard

CASES = 40
AVERAGES = ("macro", "micro", "weighted")
LABEL_METRICS = {
    "f1": "f1_score",
    "precision": "precision",
    "recall": "recall",
    "specificity": "specificity",
    "negative_predictive_value": "negative_predictive_value",
    "jaccard": "jaccard_index",
    "accuracy": "accuracy",
}
OF_LABELS_ALONE = ("accuracy",)  # torchmetrics' accuracy of classes is their recall
ROW_METRICS = {
    "accuracy": "exact_match",
    "hamming_loss": "hamming_distance",
    "coverage_error": "coverage_error",
    "label_ranking_loss": "ranking_loss",
    "label_ranking_average_precision": "ranking_average_precision",
}


@pytest.fixture(scope="module")
def torchmetrics():
    pytest.importorskip("torch")
    return pytest.importorskip("torchmetrics.functional.classification")


def tensor(values):
    import torch

    return torch.as_tensor(values)


def theirs(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes that do not occur
        return np.asarray(function(*map(tensor, arguments), validate_args=False, **options), dtype=np.float64)


def classes(seed):
    """Labels of two to seven classes, some absent in one column, and scores of which some are tied."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(20, 200)), int(rng.integers(2, 8))
    shares = rng.dirichlet(np.full(k, 1.0))
    true = rng.choice(k, n, p=shares)
    scores = np.round(rng.random((n, k)) + rng.uniform(0, 1) * np.eye(k)[true], int(rng.integers(1, 4)))
    return true, scores / scores.sum(1, keepdims=True), k


def label_sets(seed):
    """Rows of two to seven labels, some of which have none, and scores of which some are tied."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(20, 200)), int(rng.integers(2, 8))
    true = (rng.random((n, k)) < rng.uniform(0.05, 0.6, k)).astype(int)
    noise = rng.random((n, k))
    return true, np.clip(np.round(0.4 * true + 0.6 * noise, int(rng.integers(1, 4))), 0, 1), k


def agrees(ours, others):
    """Equal to single precision, in which torchmetrics divides; an undefined value of ours is not compared."""
    return np.isnan(ours) or float(others) == pytest.approx(float(ours), abs=2e-6)


@pytest.mark.parametrize("name", [*LABEL_METRICS])
def test_averages_over_labels_and_classes_are_those_of_torchmetrics(torchmetrics, name):
    metric, defined = steelyard.get_metric(name), 0
    for seed in range(CASES):
        true, scores, k = label_sets(seed)
        codes, columns, number = classes(seed)
        for average in AVERAGES:
            function = getattr(torchmetrics, f"multilabel_{LABEL_METRICS[name]}")
            ours = metric(true, (scores > 0.5).astype(int), average=average)
            assert agrees(ours, theirs(function, scores, true, num_labels=k, average=average)), (seed, average)
            defined += not np.isnan(ours)
            predicted, occur = columns.argmax(1), {*codes, *columns.argmax(1)}
            if name in OF_LABELS_ALONE or len(occur) < number:
                continue
            function = getattr(torchmetrics, f"multiclass_{LABEL_METRICS[name]}")
            ours = metric(codes, predicted, average=average, labels=range(number))
            value = theirs(function, predicted, codes, num_classes=number, average=average)
            assert agrees(ours, value), (seed, average)
    assert defined > 2 * CASES


@pytest.mark.parametrize("name", [*ROW_METRICS])
def test_metrics_of_rows_of_labels_are_those_of_torchmetrics(torchmetrics, name):
    function, metric = getattr(torchmetrics, f"multilabel_{ROW_METRICS[name]}"), steelyard.get_metric(name)
    options = {"average": "micro"} if name == "hamming_loss" else {}
    for seed in range(CASES):
        true, scores, k = label_sets(seed)
        if name == "label_ranking_loss":  # of equal scores see below
            scores = scores + 1e-3 * np.random.default_rng(seed).random(scores.shape)
        given = scores if metric.ranks_labels else (scores > 0.5).astype(int)
        assert agrees(metric(true, given), theirs(function, scores, true, num_labels=k, **options)), seed


@pytest.mark.parametrize(("name", "other"), [("roc_auc", "auroc"), ("average_precision", "average_precision")])
def test_averaged_areas_are_those_of_torchmetrics(torchmetrics, name, other):
    metric, defined = steelyard.get_metric(name), 0
    for seed in range(CASES):
        true, scores, k = label_sets(seed)
        codes, columns, number = classes(seed)
        for average in AVERAGES:
            function, ours = getattr(torchmetrics, f"multilabel_{other}"), metric(true, scores, average=average)
            assert agrees(ours, theirs(function, scores, true, average=average, num_labels=k)), (seed, average)
            defined += not np.isnan(ours)
            if average == "micro" or number == 2 or len(np.unique(codes)) < number:
                continue
            ours = metric(codes, columns, average=average, labels=range(number))
            value = theirs(
                getattr(torchmetrics, f"multiclass_{other}"), columns, codes, average=average, num_classes=number
            )
            assert agrees(ours, value), (seed, average)
    assert defined > 2 * CASES


@pytest.mark.parametrize(("name", "other"), [("mcc", "matthews_corrcoef"), ("kappa", "cohen_kappa")])
def test_agreements_of_many_classes_are_those_of_torchmetrics(torchmetrics, name, other):
    for seed in range(CASES):
        codes, columns, k = classes(seed)
        if k > 2:
            ours = steelyard.get_metric(name)(codes, columns.argmax(1), labels=range(k))
            value = theirs(getattr(torchmetrics, f"multiclass_{other}"), columns.argmax(1), codes, num_classes=k)
            assert agrees(ours, value), seed


def test_torchmetrics_breaks_ties_of_a_ranking_by_their_place_and_leaves_out_classes_that_do_not_occur(torchmetrics):
    true, scores = np.array([[1, 0], [0, 1]]), np.full((2, 2), 0.5)
    assert steelyard.label_ranking_loss(true, scores) == 1  # as scikit-learn: an equal score is no lead
    assert theirs(torchmetrics.multilabel_ranking_loss, scores, true, num_labels=2) == 0.5
    codes, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    ours = steelyard.specificity(codes, predicted, labels=range(3), average="macro")
    assert ours == pytest.approx((1 + 0.5 + 1) / 3)  # no row of the third class is a false alarm
    options = {"num_classes": 3, "average": "macro"}
    assert theirs(torchmetrics.multiclass_specificity, predicted, codes, **options) == pytest.approx(0.75)


def test_many_classes_are_those_of_imbalanced_learn():
    metrics = pytest.importorskip("imblearn.metrics")
    for seed in range(CASES):
        codes, columns, k = classes(seed)
        predicted = columns.argmax(1)
        if len(np.unique(codes)) < k or k == 2:  # it skips a class without rows, and takes two as one and its rest
            continue
        assert steelyard.g_mean(codes, predicted) == pytest.approx(metrics.geometric_mean_score(codes, predicted))
        for average in ("macro", "weighted"):
            for name, function in (("recall", "sensitivity_score"), ("specificity", "specificity_score")):
                theirs = getattr(metrics, function)(codes, predicted, average=average)
                assert steelyard.get_metric(name)(codes, predicted, average=average) == pytest.approx(theirs)
        theirs = metrics.macro_averaged_mean_absolute_error(codes, predicted)
        assert steelyard.macro_mean_absolute_class_error(codes, predicted) == pytest.approx(theirs)
