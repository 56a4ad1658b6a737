"""What the catalogue says of other libraries, held by running them; those that are not installed are skipped by name."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import steelyard
from steelyard import list_metrics

sys.path.append(str(Path(__file__).parent.parent / "docs"))

import peers

FINLEY = (28, 23, 72, 2680)


def _rows(cells):
    return tuple(np.repeat(labels, cells) for labels in ([1, 1, 0, 0], [1, 0, 1, 0]))


def _scores():
    """Rows of both classes, of which no two have one score."""
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.2).astype(int)
    return y, rng.permutation(500) / 1_000 + y * rng.random(500) / 2


def _matrix(cells):
    pycm = pytest.importorskip("pycm")
    tp, fn, fp, tn = cells
    return pycm.ConfusionMatrix(matrix={1: {1: tp, 0: fn}, 0: {1: fp, 0: tn}})


def _of_pycm(name, matrix):
    """PyCM's value of the positive class."""
    if name == "f_beta":
        return matrix.F_beta(1)[1]
    if name == "negative_f1":
        return matrix.F1[0]
    return getattr(matrix, peers.PYCM_WHOLE[name]) if name in peers.PYCM_WHOLE else getattr(matrix, peers.PYCM[name])[1]


def _in_pycm():
    names = [*peers.PYCM, *peers.PYCM_WHOLE, "f_beta", "negative_f1"]
    return {name: steelyard.get_metric("iba[alpha=1,of=tpnr]" if name == "iba" else name) for name in names}


def test_the_named_peers_exist():
    import imblearn.metrics
    import sklearn.metrics

    libraries = {"sklearn.metrics": sklearn.metrics, "imblearn.metrics": imblearn.metrics}
    named = {(peer.library, metric.name): peer.name for metric in list_metrics() for peer in peers.peers(metric)}
    for (library, _), name in named.items():
        module, _, function = name.partition("(")[0].rpartition(".")
        if library in ("scikit-learn", "imbalanced-learn"):
            assert hasattr(libraries[module], function)
    assert set(peers.NOTES) <= set(named)


def _label_sets(metric):
    rng = np.random.default_rng(0)
    true = (rng.random((60, 5)) < 0.4).astype(int)
    return true, rng.random(true.shape) if metric.takes_scores else (rng.random(true.shape) < 0.4).astype(int)


@pytest.mark.parametrize(
    "metric", [m for m in list_metrics() if peers.scikit_learn(m) and m.least_classes == 2], ids=lambda m: m.name
)
def test_scikit_learns_function_gives_our_value(metric):
    import sklearn.metrics

    name, options = peers.scikit_learn(metric)
    rows = _rows(FINLEY) if metric.function else _label_sets(metric) if metric.is_of_label_sets else _scores()
    theirs = np.ravel(getattr(sklearn.metrics, name)(*rows, **options))[int(metric.name in peers.SECOND)]
    assert metric(*rows) == pytest.approx(theirs)


def test_the_remarks_on_scikit_learn_are_true():
    from sklearn.metrics import auc, average_precision_score, fowlkes_mallows_score, precision_recall_curve

    y, scores = _scores()
    precision, recall, _ = precision_recall_curve(y, scores)
    negative = average_precision_score(y, -scores, pos_label=0)
    assert steelyard.pr_auc(y, scores) == pytest.approx(auc(recall, precision))
    assert steelyard.negative_average_precision(y, scores) == pytest.approx(negative)
    both = (negative + average_precision_score(y, scores)) / 2
    assert steelyard.mean_average_precision(y, scores) == pytest.approx(both)
    assert fowlkes_mallows_score(*_rows(FINLEY)) > steelyard.fowlkes_mallows(*_rows(FINLEY)) + 0.5


def test_imbalanced_learns_index_is_ours_with_its_parameters():
    from imblearn.metrics import geometric_mean_score, make_index_balanced_accuracy

    y, guess = _rows(FINLEY)
    theirs = make_index_balanced_accuracy(alpha=0.1)(geometric_mean_score)(y, guess, average="binary")
    assert steelyard.get_metric("iba[alpha=0.1,of=tpnr]")(y, guess) == pytest.approx(theirs)


def test_pycms_attributes_are_what_we_say():
    matrix = _matrix(FINLEY)
    for name, metric in _in_pycm().items():
        assert _of_pycm(name, matrix) == pytest.approx(metric(steelyard.Counts(*FINLEY))), name
    assert matrix.NB(w=1 / 9)[1] == pytest.approx(steelyard.net_benefit(*_rows(FINLEY), threshold=0.1))


@pytest.mark.parametrize("cells", peers.LABELS.values(), ids=peers.LABELS)
def test_pycm_says_none_where_a_metric_is_undefined(cells):
    matrix = _matrix(cells)
    for name, metric in _in_pycm().items():
        ours, theirs = metric(steelyard.Counts(*cells)), _of_pycm(name, matrix)
        if name == "diagnostic_odds_ratio" and cells == peers.LABELS["every row is wrong"]:
            assert (ours, theirs) == (0, "None")
        else:
            assert theirs == "None" if np.isnan(ours) else theirs == pytest.approx(ours), name


@pytest.mark.filterwarnings("ignore:The curve contains:RuntimeWarning")  # a point of it is "None"
def test_pycms_metrics_of_scores_are_ours():
    pycm = pytest.importorskip("pycm")
    y, scores = (rows[:60] for rows in _scores())  # it makes a matrix a threshold
    matrix = pycm.ConfusionMatrix(y, scores, threshold=lambda score: int(score >= 0.5))
    assert matrix.brier_score() == pytest.approx(steelyard.brier(y, scores))
    inside = scores.clip(0.001, 0.999)
    matrix = pycm.ConfusionMatrix(y, inside, threshold=lambda score: int(score >= 0.5))
    assert matrix.log_loss() == pytest.approx(steelyard.log_loss(y, inside))
    both = y.astype(str), np.stack([1 - scores, scores], 1)
    assert pycm.ROCCurve(*both, classes=["0", "1"]).area()["1"] == pytest.approx(steelyard.roc_auc(y, scores))
    assert pycm.PRCurve(*both, classes=["0", "1"]).area()["1"] < steelyard.pr_auc(y, scores)  # without its end


def _of_torchmetrics(metric, rows):
    torch = pytest.importorskip("torch")
    classification = pytest.importorskip("torchmetrics.classification")
    given = {"f_beta": {"beta": 1.0}, "recall_at_precision": {"min_precision": 0.9},
             "precision_at_recall": {"min_recall": 0.9}, "expected_calibration_error": {"n_bins": 10}}  # fmt: skip
    y, other = map(torch.tensor, rows)
    found = getattr(classification, peers.TORCHMETRICS[metric.name])(**given.get(metric.name, {}))(other, y)
    return float(found[0] if isinstance(found, tuple) else found)


@pytest.mark.filterwarnings("ignore:No (positive|negative) samples:UserWarning")  # it says what it puts in place of 0/0
@pytest.mark.parametrize("name", peers.TORCHMETRICS)
def test_torchmetrics_gives_our_value_and_what_we_say_where_there_is_none(name):
    metric = steelyard.get_metric(name)
    rows = _rows(FINLEY) if metric.function else _scores()
    assert _of_torchmetrics(metric, rows) == pytest.approx(metric(*rows), abs=1e-6)
    for words, (y, other, counts) in peers.cases(metric).items():
        ours, theirs = metric(peers.data(y, other, counts)), _of_torchmetrics(metric, (y, other))
        if np.isnan(ours) and name == "mcc":
            assert theirs == 1 if "no error" in words else theirs != 0
        elif name != "kappa" or not np.isnan(ours):
            assert theirs == pytest.approx(0 if np.isnan(ours) else ours, abs=1e-6), words
        else:
            assert np.isnan(theirs)


def test_torchmetrics_bins_probabilities_by_fifteen():
    classification = pytest.importorskip("torchmetrics.classification")
    assert classification.BinaryCalibrationError().n_bins == 15
    assert steelyard.expected_calibration_error.parameters == {"bins": 10}


def test_torchmetrics_precision_of_one_query_is_ours_but_for_ties_and_few_rows():
    torch = pytest.importorskip("torch")
    retrieval = pytest.importorskip("torchmetrics.retrieval")

    def theirs(y, scores, k):
        query = torch.zeros(len(y), dtype=torch.long)
        return float(retrieval.RetrievalPrecision(top_k=k)(torch.tensor(scores), torch.tensor(y), indexes=query))

    y, scores = _scores()
    for k in (5, 50, 200):
        assert theirs(y, scores, k) == pytest.approx(steelyard.precision_at_k(y, scores, k=k))
    assert theirs([1, 0, 1], [0.9, 0.5, 0.5], 2) in (0.5, 1.0)
    assert steelyard.precision_at_k([1, 0, 1], [0.9, 0.5, 0.5], k=2) == pytest.approx(0.75)
    assert theirs([1, 0, 1], [0.9, 0.5, 0.2], 4) == pytest.approx(0.5)
    assert np.isnan(steelyard.precision_at_k([1, 0, 1], [0.9, 0.5, 0.2], k=4))


def test_differences_from_scikit_learn_are_found_by_running_both():
    assert any("nobody is flagged" in sentence for sentence in peers.differences(steelyard.precision))
    assert not peers.differences(steelyard.accuracy)


def test_a_page_tells_what_others_give_where_a_metric_is_undefined():
    told = " ".join(peers.undefined(steelyard.precision))
    assert "None" in told and "torchmetrics: 0" in told
    assert not peers.undefined(steelyard.accuracy)
