"""Values on rows of several labels: equal to scikit-learn's, however the labels are given."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import steelyard
from steelyard.exceptions import InputError

sklearn_metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
AVERAGES = ("micro", "macro", "weighted", "samples", None)
PEERS = {"precision": "precision_score", "recall": "recall_score", "f1": "f1_score", "jaccard": "jaccard_score"}


def rows(seed):
    rng = np.random.default_rng(seed)
    n, labels = int(rng.integers(2, 40)), int(rng.integers(2, 8))
    true = (rng.random((n, labels)) < rng.random(labels) * 0.5).astype(int)
    wrong = rng.random(true.shape) < rng.random() * 0.5
    return true, np.where(wrong, 1 - true, true), rng.random(n) + 0.1


@pytest.mark.parametrize("seed", range(40))  # 30 comparisons each
@pytest.mark.parametrize("name", PEERS)
def test_values_are_those_of_scikit_learn(name, seed):
    true, predicted, weight = rows(seed)
    peer = getattr(sklearn_metrics, PEERS[name])
    for average in AVERAGES:
        for weights in ({}, {"sample_weight": weight}):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = peer(true, predicted, average=average, zero_division=0, **weights)
            for form in (np.asarray, sparse.csr_array, lambda m: m.astype(bool)):
                value = steelyard.get_metric(name)(form(true), form(predicted), average=average, undefined=0, **weights)
                np.testing.assert_allclose(value, expected, atol=1e-12)


def test_lists_sets_and_frames_are_the_matrix_that_they_say():
    import pandas as pd

    true, predicted, _ = rows(7)
    names = [f"label {place}" for place in range(true.shape[1])]
    value = steelyard.f1(true, predicted, average="macro", undefined=0)
    lists = [[[names[place] for place in np.flatnonzero(row)] for row in matrix] for matrix in (true, predicted)]
    frames = [pd.DataFrame(matrix, columns=names) for matrix in (true, predicted)]
    frames[1] = frames[1][names[::-1]]
    for given in (lists, [list(map(set, rows)) for rows in lists], frames):
        assert steelyard.f1(*given, labels=names, average="macro", undefined=0) == value


def test_scores_of_each_label():
    rng = np.random.default_rng(0)
    true = (rng.random((200, 5)) < 0.2).astype(int)
    scores = rng.random(true.shape) + 0.5 * true
    for average in ("macro", "weighted", None):
        for name, peer in (("roc_auc", "roc_auc_score"), ("average_precision", "average_precision_score")):
            expected = getattr(sklearn_metrics, peer)(true, scores, average=average)
            np.testing.assert_allclose(getattr(steelyard, name)(true, y_score=scores, average=average), expected)


def test_tables_merge_by_rows():
    true, predicted, weight = rows(11)
    whole = steelyard.tables.multilabel(true, predicted, sample_weight=weight)
    assert isinstance(whole, steelyard.tables.MultilabelTable)
    parts = [
        steelyard.tables.multilabel(true[p], predicted[p], sample_weight=weight[p])
        for p in (slice(0, 1), slice(1, None))
    ]
    assert steelyard.f1(parts[0] + parts[1], average="macro", undefined=0) == pytest.approx(
        steelyard.f1(whole, average="macro", undefined=0), abs=1e-12
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([[1, 0], [0, 1]], [[1, 0], [0, 1]]), "needs average="),
        ((np.array([[2, 0], [0, 1]]), np.array([[1, 0], [0, 1]])), "holds 2"),
        ((np.eye(3, dtype=int), np.eye(4, dtype=int)[:3]), "has 4 columns"),
        (([["a"], "b"], [["a"], ["b"]]), "in row 2 'b'"),
        ((sparse.csr_array(np.eye(2) * 3), np.eye(2, dtype=int)), "holds 3"),
        ((np.eye(2, dtype=int), np.eye(2, dtype=int)[:1]), "differ in length"),
        (([[], []], [[], []]), "two labels or more"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_a_sentence(given, words):
    with pytest.raises((InputError, TypeError), match=words):
        steelyard.f1(*given)


def test_rows_of_one_label_have_no_mean_over_rows():
    with pytest.raises(InputError, match="several labels"):
        steelyard.f1([0, 1, 2], [0, 1, 1], average="samples")


def test_the_columns_of_a_frame_keep_their_order_beside_scores_without_names():
    import pandas as pd

    rng = np.random.default_rng(1)
    names = [f"Class{place}" for place in range(1, 13)]  # not in the order of the alphabet
    true = (rng.random((300, 12)) < 0.3).astype(int)
    scores = rng.random(true.shape) + true
    frame = pd.DataFrame(true, columns=names)
    expected = sklearn_metrics.roc_auc_score(true, scores, average=None)
    for given in (
        scores,
        pd.DataFrame(scores),
        pd.DataFrame(scores, columns=names)[names[::-1]],
        pd.DataFrame(scores, columns=[f"p_{name}" for name in names]).iloc[:, ::-1],
    ):
        values = steelyard.roc_auc(steelyard.tables.multilabel(frame, y_score=given, labels=names), average=None)
        np.testing.assert_allclose(values, expected)
        table = steelyard.tables.multilabel(frame, y_score=given)
        found = dict(zip(table.labels, steelyard.roc_auc(table, average=None), strict=True))
        np.testing.assert_allclose([found[name] for name in names], expected)
    assert steelyard.tables.multilabel(true, y_score=pd.DataFrame(scores, columns=names)).labels == tuple(names)
    with pytest.raises(InputError, match="a column for each class"):
        steelyard.tables.multilabel(frame, y_score=pd.DataFrame(scores, columns=[*names[:-1], "other"]))


def test_numbers_of_python_in_a_matrix_are_the_numbers_that_they_are():
    import pandas as pd

    true, predicted, _ = rows(3)
    value = steelyard.f1(true, predicted, average="macro", undefined=0)
    for form in (lambda m: m.astype(object), lambda m: pd.DataFrame(m).astype("Int64")):
        assert steelyard.f1(form(true), form(predicted), average="macro", undefined=0) == value
    with pytest.raises(InputError, match="1 where a row has it"):
        steelyard.f1(true.astype(str), predicted.astype(str), average="macro")


def test_scores_without_names_beside_lists_of_labels_need_the_labels_declared():
    sets, scores = [{"war"}, {"trade", "war"}, set()], np.array([[0.9, 0.2], [0.8, 0.7], [0.1, 0.3]])
    with pytest.raises(InputError, match="labels= in the order of its columns"):
        steelyard.tables.multilabel(sets, y_score=scores)
    table = steelyard.tables.multilabel(sets, y_score=scores, labels=["war", "trade"])
    assert steelyard.roc_auc(table, average="macro") == 1
    assert steelyard.roc_auc(steelyard.tables.multilabel([{0}, {1, 0}, set()], y_score=scores), average="macro") == 1


def test_columns_that_are_listed_are_matched_by_the_names_that_they_share():
    import pandas as pd

    true, predicted, _ = rows(5)
    names = [f"c{place}" for place in range(true.shape[1])]
    frame = pd.DataFrame(np.hstack([true, predicted]), columns=[f"{use}_{name}" for use in "yp" for name in names])
    listed = {"true": [f"y_{name}" for name in names], "pred": [f"p_{name}" for name in reversed(names)]}
    value = steelyard.f1(true, predicted, average=None, undefined=0)
    assert (
        steelyard.f1(steelyard.tables.multilabel(frame, **listed), average=None, undefined=0).tolist() == value.tolist()
    )


def test_long_frames_are_of_the_same_rows_and_have_every_score():
    import pandas as pd

    long = pd.DataFrame({"row": [1, 1, 2], "label": ["a", "b", "a"], "y": [1, 0, 1], "s": [0.9, 0.1, 0.4]})
    with pytest.raises(InputError, match="a score is needed for each row and label"):
        steelyard.tables.multilabel(long, long=("row", "label"), true="y", score="s")
    with pytest.raises(InputError, match="no 'row' in common"):
        steelyard.tables.multilabel(long, long.assign(row=long["row"] + 10), long=("row", "label"))
