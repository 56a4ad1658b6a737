"""Drop-ins on rows of several labels: scikit-learn's values, types and warnings, dense and sparse, without its help."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import steelyard.sklearn as ours

asked = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
theirs = SimpleNamespace(**vars(asked))  # its functions, whatever a test puts in their place
AVERAGES = (None, "micro", "macro", "weighted", "samples")
RATES = ("precision_score", "recall_score", "f1_score", "jaccard_score", "precision_recall_fscore_support")
FORMS = (np.asarray, sparse.csr_array, sparse.csc_matrix, lambda m: m.astype(bool), lambda m: m.astype(float), np.ndarray.tolist)  # fmt: skip


def rows(seed, empty=True):
    rng = np.random.default_rng(seed)
    n, labels = int(rng.integers(2, 40)), int(rng.integers(2, 7))
    true = (rng.random((n, labels)) < rng.random(labels)).astype(int)
    if not empty:
        true[0], true[1] = 1, 0
    predicted = np.where(rng.random(true.shape) < 0.3, 1 - true, true)
    return true, predicted, np.round(rng.random(true.shape) + 0.3 * true, 1), rng.random(n) + 0.1


def called(function, *given, **options):
    """The value and the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = function(*given, **options)
    return value, [str(one.message) for one in caught]


def assert_same(name, *given, **options):
    (value, said), (expected, wanted) = (
        called(getattr(library, name), *given, **options) for library in (ours, theirs)
    )
    assert said == wanted and type(value) is type(expected)
    for mine, other in zip(value, expected, strict=True) if isinstance(value, tuple) else [(value, expected)]:
        if mine is not None:
            np.testing.assert_allclose(mine, other, atol=1e-12)
            assert getattr(mine, "dtype", None) == getattr(other, "dtype", None)


@pytest.fixture
def alone(monkeypatch):
    """Calls that are handed on to scikit-learn fail."""

    def refuse(name):
        def refused(*_, **__):
            raise AssertionError(f"{name} was handed on")

        return refused

    for name in set(ours.__all__) & set(dir(asked)):
        monkeypatch.setattr(asked, name, refuse(name))


@pytest.mark.parametrize("seed", range(12))
def test_rates_are_those_of_scikit_learn(alone, seed):
    true, predicted, _, weight = rows(seed)
    form = FORMS[seed % len(FORMS)]
    given = form(true), form(predicted)
    for weights in ({}, {"sample_weight": weight}):
        for average in AVERAGES:
            for name in RATES:
                assert_same(name, *given, average=average, **weights)
            assert_same("fbeta_score", *given, beta=0.5, average=average, labels=[1, 0], zero_division=1, **weights)
        for normalize in (True, False):
            assert_same("accuracy_score", *given, normalize=normalize, **weights)
            assert_same("zero_one_loss", *given, normalize=normalize, **weights)
        assert_same("hamming_loss", *given, **weights)
        for samplewise in (True, False):
            assert_same("multilabel_confusion_matrix", *given, samplewise=samplewise, **weights)
        assert_same("multilabel_confusion_matrix", *given, labels=[1], **weights)


@pytest.mark.parametrize("seed", range(12))
def test_scores_are_those_of_scikit_learn(alone, seed):
    true, _, scores, weight = rows(seed, empty=False)
    for weights in (None, weight):
        for average in AVERAGES[:-1]:
            assert_same("roc_auc_score", true, scores, average=average, sample_weight=weights)
            assert_same("average_precision_score", true, scores, average=average, sample_weight=weights)
        assert_same("roc_auc_score", true, scores, max_fpr=0.4, sample_weight=weights)
        for name in ("coverage_error", "label_ranking_loss", "label_ranking_average_precision_score", "ndcg_score"):
            assert_same(name, true, scores, sample_weight=weights)
        assert_same("label_ranking_loss", sparse.csr_array(true), scores, sample_weight=weights)
        assert_same("ndcg_score", true, scores, k=1, sample_weight=weights)


@pytest.mark.parametrize("seed", range(12))
def test_areas_of_the_rows_are_those_of_scikit_learn(seed):
    # A row without labels, or with all of them, is a 0 or NaN to scikit-learn, and left out by our own metrics.
    true, _, scores, weight = rows(seed)
    for weights in (None, weight):
        for name in ("roc_auc_score", "average_precision_score"):
            assert_same(name, true, scores, average="samples", sample_weight=weights)


def test_reports_are_those_of_scikit_learn(alone):
    for seed in range(12):
        true, predicted, _, weight = rows(seed)
        for options in (
            {},
            {"sample_weight": np.ceil(weight * 3), "digits": 4},
            {"labels": [1, 0], "zero_division": 0},
        ):
            for as_dict in (False, True):
                pair = [called(library.classification_report, true, predicted, output_dict=as_dict, **options)
                        for library in (ours, theirs)]  # fmt: skip
                assert pair[0][1] == pair[1][1]
                assert_close(*(report for report, _ in pair))
    names = [f"label {i}" for i in range(true.shape[1])]
    text = ours.classification_report(true, predicted, target_names=names, extra=("specificity",), zero_division=0)
    assert "specificity" in text and "samples avg" in text and names[-1] in text


def assert_close(mine, other):
    """Two reports that differ by rounding alone."""
    if isinstance(mine, str):
        assert mine == other
    else:
        assert mine.keys() == other.keys()
        assert all(mine[key] == pytest.approx(other[key], abs=1e-12) for key in mine)


def test_what_is_odd_is_handed_on():
    true, predicted, scores, _ = rows(3)
    for given in (([[1, 2], [2, 1]], [[1, 1], [2, 1]]), (sparse.csr_array(true) * 2, sparse.csr_array(predicted) * 2)):
        assert ours.accuracy_score(*given) == theirs.accuracy_score(*given)
    graded = true * 3
    assert ours.ndcg_score(graded, scores) == theirs.ndcg_score(graded, scores)
    for call in (
        lambda m: m.f1_score(true, predicted), lambda m: m.f1_score(true, predicted[:, 1:], average="micro"),
        lambda m: m.f1_score([0, 1], [0, 1], average="samples"), lambda m: m.coverage_error(true, scores[:1]),
        lambda m: m.f1_score(true, predicted, labels=[99], average="macro"),
    ):  # fmt: skip
        errors = []
        for library in (ours, theirs):
            with pytest.raises(ValueError) as caught:
                call(library)
            errors.append(str(caught.value))
        assert errors[0] == errors[1]
