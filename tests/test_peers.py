"""What the catalogue says of other libraries, held by running them; those that are not installed are skipped by name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import steelyard
from steelyard import explain, get_metric, list_metrics
from steelyard.exceptions import UnknownNameError
from steelyard.metrics.peers import EVERYBODY, IMBALANCED, PYCM, SKLEARN, TORCHMETRICS, YARDSTICK, peer_names

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
    """PyCM's value of the positive class, by its name of it or by what is called."""
    if name == "f_beta":
        return matrix.F_beta(1)[1]
    if name == "negative_f1":
        return matrix.F1[0]
    value = (matrix.class_stat | matrix.overall_stat)[name]
    return value[1] if isinstance(value, dict) else value


def _in_pycm():
    """The forms of PyCM's names of one class and of the whole table, averages aside."""
    forms = {peer.name: peer.form for peer in peer_names() if peer.library == PYCM and "average" not in peer.form}
    return {
        name: get_metric(form)
        for name, form in [*forms.items(), ("f_beta", "f_beta"), ("negative_f1", "negative_f1")]
        if form
    }


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
    assert matrix.F1_Macro == pytest.approx(steelyard.mean_f1(steelyard.Counts(*FINLEY)))
    assert matrix.NB(w=1 / 9)[1] == pytest.approx(steelyard.net_benefit(*_rows(FINLEY), threshold=0.1))


@pytest.mark.parametrize("cells", peers.LABELS.values(), ids=peers.LABELS)
def test_pycm_says_none_where_a_metric_is_undefined(cells):
    matrix = _matrix(cells)
    for name, metric in _in_pycm().items():
        ours, theirs = metric(steelyard.Counts(*cells)), _of_pycm(name, matrix)
        if name == "DOR" and cells == peers.LABELS["every row is wrong"]:
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


BINARY = [
    peer for peer in peer_names() if peer.library == TORCHMETRICS and peer.name.startswith("Binary") and peer.form
]


def _of_torchmetrics(name, rows):
    torch = pytest.importorskip("torch")
    classification = pytest.importorskip("torchmetrics.classification")
    given = {"BinaryFBetaScore": {"beta": 1.0}, "BinaryRecallAtFixedPrecision": {"min_precision": 0.9},
             "BinaryPrecisionAtFixedRecall": {"min_recall": 0.9},
             "BinarySpecificityAtSensitivity": {"min_sensitivity": 0.9}}  # fmt: skip
    y, other = map(torch.tensor, rows)
    found = getattr(classification, name)(**given.get(name, {}))(other, y)
    return float(found[0] if isinstance(found, tuple) else found)


@pytest.mark.filterwarnings("ignore:No (positive|negative) samples:UserWarning")  # it says what it puts in place of 0/0
@pytest.mark.parametrize("peer", BINARY, ids=lambda peer: peer.name)
def test_torchmetrics_gives_our_value_and_what_we_say_where_there_is_none(peer):
    metric = get_metric(peer.form)
    rows = _rows(FINLEY) if metric.function else _scores()
    assert _of_torchmetrics(peer.name, rows) == pytest.approx(metric(*rows), abs=1e-6)
    for words, (y, other, counts) in peers.cases(metric).items():
        ours, theirs = metric(peers.data(y, other, counts)), _of_torchmetrics(peer.name, (y, other))
        if np.isnan(ours) and metric.name == "mcc":
            assert theirs == 1 if "no error" in words else theirs != 0
        elif metric.name != "kappa" or not np.isnan(ours):
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


# ---------------------------------------------------------------- the names that people type


def _three_classes():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 400, p=[0.6, 0.3, 0.1])
    probabilities = rng.dirichlet([1, 1, 1], 400)
    probabilities[np.arange(400), y] += 0.4
    return y, probabilities / probabilities.sum(1, keepdims=True)


def _value(name, y, *, pred=None, score=None):
    """Our value of a name, as `evaluate` reports it."""
    evaluation = steelyard.evaluate(y, pred, y_score=score, metrics=[name], pos_label=None if y.max() > 1 else 1)
    return evaluation[explain(name).name].value


def _answered(name):
    """The sentence that a name is answered by; none where it is a metric."""
    try:
        explain(name)
    except UnknownNameError as error:
        sentence = str(error)
    else:
        return None
    assert "list_metrics" not in sentence and "Did you mean" not in sentence, name
    return sentence


def test_every_name_in_the_table_is_a_metric_here_or_is_answered():
    for peer in peer_names():
        if peer.form and not peer.answer:
            assert explain(peer.name).name == explain(peer.form).name, peer
        elif peer.form:  # the name is ours, with another value
            assert explain(peer.form).name and peer.answer
        else:
            assert "; here " in peer.answer or _answered(peer.name).endswith("."), peer
    assert {peer.library for peer in peer_names()} == {SKLEARN, IMBALANCED, TORCHMETRICS, YARDSTICK, PYCM, EVERYBODY}


def test_every_name_that_an_answer_gives_is_a_metric():
    for peer in peer_names():
        if found := re.findall(r"[sS]k for (\w+(?:\[[^]]*\])?)", peer.answer):
            assert all(explain(form) for form in found if form not in ("that", "the")), peer


def _scorers():
    from sklearn.metrics import get_scorer_names

    return get_scorer_names()


@pytest.mark.parametrize("name", _scorers())
def test_every_scorer_of_scikit_learn_has_our_value_or_an_answer(name):
    from sklearn.metrics import get_scorer

    if answer := _answered(name):
        assert not name.startswith("neg_") or "minus sign" in answer or "regression" in answer
        return
    theirs = get_scorer(name)
    form = explain(name).name
    alone = re.sub(r"(, )?average=\w+", "", form)
    metric, is_native = get_metric(alone.replace("[]", "")), alone == form
    if "samples" in name:
        true, given = _label_sets(metric)
        true[:, 0] = given[:, 0] = 1  # a row without labels is 0 there and undefined here
        value = theirs._score_func(true, given, **theirs._kwargs)
        assert value == pytest.approx(steelyard.evaluate(true, given, metrics=[name])[form].value)
        return
    y, probabilities = _three_classes()
    if is_native and metric.classes is None and metric.least_classes == 2:
        y, probabilities = (y > 0).astype(int), probabilities[:, 1:].sum(1)
    if metric.function is None:
        ours, given = _value(name, y, score=probabilities), probabilities
    else:
        given = (probabilities > 0.5).astype(int) if probabilities.ndim == 1 else probabilities.argmax(1)
        ours = _value(name, y, pred=given)
    value = theirs._sign * np.ravel(theirs._score_func(y, given, **theirs._kwargs))[0]
    assert ours == pytest.approx(value), name


def test_every_function_of_scikit_learns_metrics_is_known():
    import sklearn.metrics

    for name in sklearn.metrics.__all__:
        assert _answered(name) or explain(name)


def test_every_name_of_imbalanced_learn_is_known():
    import imblearn.metrics

    y, guess = _rows(FINLEY)
    for name in imblearn.metrics.__all__:
        if not _answered(name) and "macro" not in name and "make" not in name:
            theirs = getattr(imblearn.metrics, name)(y, guess, **({} if "geometric" in name else {"average": "binary"}))
            assert theirs == pytest.approx(get_metric(name)(y, guess))


def test_every_name_of_pycm_is_known_and_averages_have_its_value():
    pycm = pytest.importorskip("pycm")
    y, probabilities = _three_classes()
    guess = probabilities.argmax(1)
    matrix = pycm.ConfusionMatrix(y.tolist(), guess.tolist())
    forms = {peer.name: peer for peer in peer_names() if peer.library == PYCM}
    for name in (*matrix.class_stat, *matrix.overall_stat):
        peer = forms[name.partition("(")[0]]
        if "average" in peer.form:
            assert matrix.overall_stat[name] == pytest.approx(_value(peer.form, y, pred=guess)), name


def test_names_with_an_average_or_a_number_are_written_forms():
    for name, form in {
        "macro_f1": "f1[average=macro]",
        "macro-averaged recall": "recall[average=macro]",
        "f1_score_weighted": "f1[average=weighted]",
        "precision@10": "precision_at_k[k=10]",
        "top5_accuracy": "top_k_accuracy[k=5]",
        "F0.5": "f_beta[beta=0.5]",
        "ROC-AUC": "roc_auc",
        "LogLoss": "log_loss",
        "kap[weights=linear]": "kappa[weights=linear]",
        "fbeta_score[beta=2]": "f_beta[beta=2]",
    }.items():
        assert explain(name).name == explain(form).name, name


def test_a_name_with_an_average_is_not_taken_where_one_class_is_meant():
    with pytest.raises(steelyard.SteelyardError, match=r"'f1_macro' asks for an average .* name f1 alone\."):
        get_metric("f1_macro")
    with pytest.raises(steelyard.SteelyardError, match=r"gives average twice: f1_macro is f1\[average=macro\]\."):
        explain("f1_macro[average=micro]")
    with pytest.raises(UnknownNameError, match="class_weighted_accuracy"):
        explain("weighted_accuracy")


def _refusal(name):
    with pytest.raises(UnknownNameError) as refused:
        explain(name)
    return str(refused.value)


def test_a_near_miss_of_a_name_is_led_to_it_and_a_far_one_to_none():
    for name in [m.name for m in list_metrics()] + ["f1_macro", "auprc", "neg_log_loss", "sensitivity_at_specificity"]:
        for wrong in (name[:-2] + name[-1] + name[-2], name + name[-1], name[1:]):
            if len(name) > 6 and wrong != name and not wrong.endswith("_"):
                assert f"{name!r}" in _refusal(wrong), wrong
    with pytest.raises(UnknownNameError, match=r"list_metrics\(\) lists them all\.$"):
        explain("zebra")
