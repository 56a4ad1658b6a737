"""Tensors of several labels each: matrices on a device, counted and ranked where they are, with NumPy's numbers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tensors import Backend, assert_refused_alike, backend, column_intervals, jax_array

import steelyard

N, LABELS = 1_500, 5
WEIGHTS = [{}, {"sample_weight": "w"}, {"frequency": "f"}, {"sample_weight": "w", "frequency": "f"}]
of_weights = pytest.mark.parametrize("weights", WEIGHTS, ids=["rows", "weights", "times", "both"])


@pytest.fixture
def taken_for_a_device(monkeypatch):
    """The processor taken for a device that NumPy cannot read; little is brought from it."""
    monkeypatch.setattr(backend, "is_on_host", lambda _: False)
    monkeypatch.setattr(backend, "MOST_BROUGHT", 64)
    monkeypatch.setattr(backend, "largest_brought", 0)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.random((N, LABELS)) < [0.5, 0.2, 0.1, 0.02, 0.3]
    y[:4], y[4:6] = False, True
    scores = (1 / (1 + np.exp(2 - rng.normal(size=y.shape) - 1.5 * y))).round(2).astype(np.float32)
    weight = rng.random(N)
    weight[7:12] = 0
    return {"y": y, "s": scores, "p": scores >= np.float32(0.4), "w": weight, "f": rng.integers(0, 4, N)}


def _given(rows, weights, send=lambda values: values):
    return {name: send(rows[column]) for name, column in weights.items()}


def _same(ours, numpys, **tolerance):
    np.testing.assert_allclose(ours, numpys, **{"rtol": 1e-12, "atol": 1e-14, **tolerance})


AVERAGES = ("native", "macro", "micro", "weighted", "samples", None)


def _outcome(metric, y, other, options):
    """The value, or the sentence that refuses it."""
    try:
        return metric(y, other, **options)
    except steelyard.SteelyardError as refused:
        return str(refused)


@of_weights
def test_every_metric_of_labels_is_numpys_in_every_average(rows, to_device, weights):
    y, there = to_device(rows["y"]), _given(rows, weights, to_device)
    for metric in steelyard.list_metrics():
        for average in AVERAGES:
            other = "s" if metric.takes_scores and metric.function is None else "p"
            ours = _outcome(metric, y, to_device(rows[other]), {"average": average, **there})
            numpys = _outcome(metric, rows["y"], rows[other], {"average": average, **_given(rows, weights)})
            if isinstance(numpys, str):
                assert ours == numpys
            else:
                _same(ours, numpys, atol=1e-13, err_msg=f"{metric.name}, {average}")


COUNTED = ["f1[average=macro]", "f1[average=samples]", "recall[average=weighted]", "mcc[average=micro]", "accuracy"]
RANKED = ["label_ranking_loss", "coverage_error", "label_ranking_average_precision", "ndcg", "precision_at_k[k=2]"]


@of_weights
def test_counts_ranks_and_areas_of_labels_bring_no_rows(rows, to_device, weights):
    there = _given(rows, weights, to_device)
    counted = steelyard.tables.multilabel(to_device(rows["y"]), to_device(rows["p"]), **there)
    ranked = steelyard.tables.multilabel(to_device(rows["y"]), y_score=to_device(rows["s"]), **there)
    for written in COUNTED:
        metric, _, average = written.removesuffix("]").partition("[average=")
        steelyard.get_metric(metric)(counted, **({"average": average} if average else {}))
    for written in RANKED:
        metric, _, k = written.removesuffix("]").partition("[k=")
        steelyard.get_metric(metric)(ranked, **({"k": int(k)} if k else {}))
    for average in ("macro", "micro", "weighted", None):
        steelyard.roc_auc(ranked, average=average)
        steelyard.average_precision(ranked, average=average)
    assert steelyard.hamming_loss(counted) > 0 and counted.imbalance.distinct_sets > 5
    assert 0 < backend.largest_brought <= 101 < N  # the distinct scores of a label are two digits each


def test_areas_of_the_labels_of_each_row_bring_no_matrix(rows, to_device):
    given = to_device(rows["y"]), to_device(rows["s"])
    for metric in (steelyard.roc_auc, steelyard.average_precision, steelyard.ks):
        _same(metric(*given, average="samples"), metric(rows["y"], rows["s"], average="samples"))
    assert 0 < backend.largest_brought <= N


def test_counts_of_labels_are_numpys_bit_for_bit(rows, to_device):
    for kind in (bool, np.uint8, np.int64, np.float32):
        given = (rows["y"].astype(kind), rows["p"].astype(kind))
        ours, numpys = steelyard.tables.multilabel(*map(to_device, given)), steelyard.tables.multilabel(*given)
        for cell in ("tp", "fn", "fp", "tn"):
            for table in ("by_label", "by_row"):
                mine, other = (getattr(getattr(each, table), cell) for each in (ours, numpys))
                assert np.array_equal(np.asarray(mine), other) and np.asarray(mine).dtype == np.int64
        assert ours.imbalance.distinct_sets == numpys.imbalance.distinct_sets
        assert np.array_equal(np.asarray(ours.true_labels), numpys.true_labels)


FORMS = {
    "predicted": lambda send, rows: {"y_pred": send(rows["p"])},
    "scored": lambda send, rows: {"y_score": send(rows["s"])},
    "both": lambda send, rows: {"y_pred": send(rows["p"]), "y_score": send(rows["s"])},
    "a threshold each": lambda send, rows: {"y_score": send(rows["s"]), "threshold": [0.4, 0.3, 0.51, 0.1, 0.2]},
    "no probabilities": lambda send, rows: {"y_score": send(rows["s"] * 3 - 1)},
}


@pytest.mark.parametrize("form", FORMS)
@of_weights
def test_evaluate_of_labels_gives_numpys_numbers(rows, to_device, form, weights):
    ours, numpys = (
        steelyard.evaluate(send(rows["y"]), **FORMS[form](send, rows), **_given(rows, weights, send))
        for send in (to_device, lambda values: values)
    )
    _same_evaluation(ours, numpys)


def _same_evaluation(ours, numpys):
    for mine, other in zip(ours, numpys, strict=True):
        _same(mine.value, other.value, err_msg=mine.name)
        _same([mine.low, mine.high, mine.chance], [other.low, other.high, other.chance], rtol=1e-9, err_msg=mine.name)
    for mine, other in zip(ours.per_label, numpys.per_label, strict=True):
        assert (mine.label, mine.rows, mine.predicted) == (other.label, other.rows, other.predicted)
        for name, interval in mine.metrics.items():
            beside = other.metrics[name]
            _same([interval.value, interval.low, interval.high], [beside.value, beside.low, beside.high], rtol=1e-9)
    assert [pair.row() for pair in ours.pairs] == [pair.row() for pair in numpys.pairs]
    assert [str(line) for line in ours.verdict] == [str(line) for line in numpys.verdict]
    assert ours.assumed == numpys.assumed and ours.rows == numpys.rows


@of_weights
def test_evaluate_of_scores_of_labels_brings_the_distinct_scores_at_most(rows, to_device, weights):
    steelyard.evaluate(to_device(rows["y"]), y_score=to_device(rows["s"]), **_given(rows, weights, to_device))
    # The random orders of the baseline are of rows with weights: those of a rare label travel.
    assert 0 < backend.largest_brought <= (101 if "sample_weight" not in _given(rows, weights, to_device) else 300) < N


@of_weights
def test_evaluate_of_predicted_labels_brings_small_tables_alone(rows, to_device, weights):
    given = (to_device(rows["y"]), to_device(rows["p"]))
    steelyard.evaluate(*given, **_given(rows, weights, to_device))
    assert 0 < backend.largest_brought <= LABELS**2 * 4 < N


def test_evaluate_of_labels_asks_the_device_few_questions(rows, to_device, monkeypatch):
    monkeypatch.setattr("steelyard.analysis.chance.chance._SHUFFLED_CELLS", N * LABELS)  # as of 2e5 rows
    asked, bring = [], Backend.to_host
    monkeypatch.setattr(Backend, "to_host", lambda *given: asked.append(1) or bring(*given))
    steelyard.evaluate(to_device(rows["y"]), to_device(rows["p"]))
    assert 0 < len(asked) < 150  # each of them waits for all that was begun there


def test_of_very_many_rows_some_are_brought_for_the_ends_of_areas(to_device, monkeypatch):
    monkeypatch.setattr(column_intervals, "_ROWS", 400)
    monkeypatch.setattr(column_intervals, "_POSITIVES", 20)
    rng = np.random.default_rng(4)
    y = rng.random((N, 3)) < 0.3
    scores = rng.random((N, 3)) + 0.4 * y
    asked = {"metrics": ["roc_auc[average=macro]", "average_precision[average=weighted]"], "threshold": 0.5}
    ours, numpys = (
        steelyard.evaluate(send(y), y_score=send(scores), **asked) for send in (to_device, lambda values: values)
    )
    _same_evaluation(ours, numpys)
    assert 0 < backend.largest_brought <= 400 * 3


def test_intervals_of_labels_are_numpys_and_clusters_are_counted_by_numpy(rows, to_device):
    cluster = np.arange(N) // 5
    for options in ({}, {"cluster": cluster}, {"method": "auto", "level": 0.9}):
        for spec in ("f1[average=macro]", "hamming_loss", "roc_auc[average=macro]", "recall[class=2]"):
            kind = "y_score" if "auc" in spec else "y_pred"
            ours, numpys = (
                steelyard.interval(spec, send(rows["y"]), **{kind: send(rows[kind[2]])}, **options)
                for send in (to_device, lambda values: values)
            )
            _same([ours.value, ours.low, ours.high], [numpys.value, numpys.low, numpys.high], rtol=1e-9, err_msg=spec)
    by = np.where(np.arange(N) % 3 == 0, "a", "b")
    ours, numpys = (
        steelyard.evaluate(send(rows["y"]), send(rows["p"]), by=by) for send in (to_device, lambda values: values)
    )
    _same_evaluation(ours, numpys)
    for mine, other in zip(ours.groups, numpys.groups, strict=True):
        _same([row.value for row in mine.metrics], [row.value for row in other.metrics])


def test_tables_of_labels_on_a_device_answer_what_tables_of_numpy_do(rows, to_device):
    tables = [
        steelyard.tables.multilabel(send(rows["y"]), y_score=send(rows["s"]))
        for send in (to_device, lambda values: values)
    ]
    ours, numpys = (steelyard.best_threshold(table, metric="f1[average=macro]") for table in tables)
    assert ours.to_dict() == numpys.to_dict()
    ours, numpys = (steelyard.roc_auc(table + table, average=None) for table in tables)
    _same(ours, numpys)
    assert repr(tables[0]) == repr(tables[1])
    kept = pickle.loads(pickle.dumps(tables[0]))
    assert isinstance(kept.true, np.ndarray) and np.array_equal(kept.scores, tables[1].scores)
    evaluation = steelyard.evaluate(tables[0], threshold=0.5, metrics=["f1[average=macro]"])
    assert pickle.loads(pickle.dumps(evaluation)).to_dict() == evaluation.to_dict()


def test_bad_matrices_of_labels_on_a_device_are_refused_as_numpys_are(rows, to_device):
    broken, off = rows["s"].copy(), rows["y"].astype(np.float32)
    broken[7, 2], off[3, 1] = np.nan, 0.25
    y = rows["y"]
    cases = [
        lambda send: steelyard.evaluate(send(y), y_score=send(broken)),
        lambda send: steelyard.roc_auc(send(y), send(broken), average="macro"),
        lambda send: steelyard.f1(send(off), send(y), average="macro"),
        lambda send: steelyard.f1(send(y), send(y + 1), average="macro"),
        lambda send: steelyard.f1(send(y), send(y[:, :3]), average="macro"),
        lambda send: steelyard.f1(send(y), send(y[:-1]), average="macro"),
        lambda send: steelyard.f1(send(y), send(y), average="macro", labels=["a", "b"]),
        lambda send: steelyard.f1(send(y), send(y), average="macro", sample_weight=send(-rows["w"])),
        lambda send: steelyard.f1(send(y), send(y), average="macro", frequency=send(rows["w"])),
        lambda send: steelyard.f1(send(y), send(y), average="macro", sample_weight=send(rows["w"][:-1])),
        lambda send: steelyard.roc_auc(send(y), send(rows["s"][:, :2]), average="macro"),
        lambda send: steelyard.evaluate(send(y)),
    ]
    assert_refused_alike(cases, to_device)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64", "int8", "bool"])
def test_scores_of_labels_of_every_width_are_thresholded_as_numpys_are(rows, kind, request):
    torch = pytest.importorskip("torch")
    scores = (torch.from_numpy(rows["s"]) * (100 if kind == "int8" else 1)).to(getattr(torch, kind))
    numpys = (scores.float() if kind == "bfloat16" else scores).numpy()
    cut = float(numpys.astype(np.float64)[numpys > 0.05].min() * 1.01) if "float" in kind else 0.5
    other = steelyard.evaluate(rows["y"], y_score=numpys, threshold=cut)
    request.getfixturevalue("taken_for_a_device")
    ours = steelyard.evaluate(torch.from_numpy(rows["y"]), y_score=scores, threshold=cut)
    _same_evaluation(ours, other)


def test_labels_beside_lists_sparse_matrices_and_frames_are_counted_by_numpy(rows, to_device):
    sparse = pytest.importorskip("scipy.sparse")
    numpys = steelyard.f1(rows["y"], rows["p"], average="macro")
    lists = [np.flatnonzero(row).tolist() for row in rows["p"]]
    for predicted in (sparse.csr_array(rows["p"]), lists, rows["p"].astype(np.int64)):
        _same(steelyard.f1(to_device(rows["y"]), predicted, average="macro", labels=list(range(LABELS))), numpys)


def test_labels_of_jax_give_numpys_numbers(rows, taken_for_a_device):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        there = {name: jax_array(values) for name, values in rows.items()}
        _same(
            steelyard.f1(there["y"], there["p"], average="samples", sample_weight=there["w"]),
            steelyard.f1(rows["y"], rows["p"], average="samples", sample_weight=rows["w"]),
        )
        for metric in (steelyard.label_ranking_average_precision, steelyard.coverage_error):
            _same(metric(there["y"], there["s"]), metric(rows["y"], rows["s"]))
