"""Cross-evaluation of rows that may have several labels each."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, hamming_loss
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB

from steelyard import Folds, HoldOut, compare, cross_evaluate, evaluate
from steelyard.exceptions import InputError
from steelyard.results import CrossEvaluation

X, Y = make_multilabel_classification(240, n_features=8, n_classes=4, n_labels=2, random_state=3)
LINEAR = OneVsRestClassifier(LogisticRegression())


@pytest.fixture(scope="module")
def two():
    models = {"linear": LINEAR, "forest": RandomForestClassifier(5)}
    return cross_evaluate(models, X, Y, split=Folds(3, repeats=2))


def test_each_run_has_the_values_of_scikit_learn_on_its_test_rows(two):
    model = two["linear"]
    for metric, theirs in (("f1[average=macro]", f1_score), ("hamming_loss", hamming_loss)):
        options = {"average": "macro"} if theirs is f1_score else {}
        each = []
        for run in model.runs:
            fitted = OneVsRestClassifier(LogisticRegression()).fit(X[run.part.train], Y[run.part.train])
            each.append(theirs(Y[run.part.test], fitted.predict(X[run.part.test]), **options))
        assert model.values(metric) == pytest.approx(each, abs=1e-12)
        assert model.summarised(metric).mean == pytest.approx(np.mean(each))


def test_the_evaluation_has_each_row_as_it_was_first_tested(two):
    model = two["linear"]
    report, first = model.evaluation, model.runs[:3]
    rows = np.concatenate([run.part.test for run in first])
    scores = np.concatenate([run.predictions.scores for run in first])
    alone = evaluate(Y[rows], np.concatenate([run.predictions.codes for run in first]), y_score=scores)
    assert report.rows == 240
    assert report["f1[average=macro]"].low == alone["f1[average=macro]"].low
    assert report["roc_auc[average=macro]"].value == alone["roc_auc[average=macro]"].value
    assert "each counts as it was first tested" in " ".join(report.assumed)
    assert model.pooled.n == 480


def test_models_are_ranked_and_compared_on_the_same_rows(two):
    ranked = two.ranking()
    assert ranked[0].name == "ac_score[average=macro]" and ranked[0].mean >= ranked[1].mean
    assert two.leaderboard().metric == "ac_score[average=macro]"
    (row,) = two.compare(metrics=["f1[average=macro]"])
    predicted = {
        name: np.concatenate([run.predictions.codes for run in model.runs[:3]]) for name, model in two.models.items()
    }
    rows = np.concatenate([run.part.test for run in two["linear"].runs[:3]])
    (again,) = compare(Y[rows], predicted, metrics=["f1[average=macro]"])
    assert row.difference == pytest.approx(again.difference) and row.p_value == pytest.approx(again.p_value)
    assert "Ranked by macro AC-score" in repr(two) and two.verdict[-1].startswith(("Choose ", "Not distinguishable"))


def test_labels_have_rows_and_values_and_thresholds_of_their_own(two):
    model = two["forest"]
    assert [row.rows for row in model.per_class[:4]] == Y.sum(0).tolist()
    assert model.per_class[1].f1.mean == pytest.approx(model.summarised("f1[class=1]").mean)
    assert set(model.best_threshold("f1[average=macro]", draws=0).thresholds) == {0, 1, 2, 3}


def test_a_result_of_label_sets_is_saved_read_back_and_drawn(two):
    back = CrossEvaluation.from_json(two.to_json())
    assert back.to_json() == two.to_json()
    assert back["linear"].values("hamming_loss").tolist() == two["linear"].values("hamming_loss").tolist()
    assert "AC-score, macro" in two.to_html()
    alone = CrossEvaluation({"linear": two["linear"]}, (), two.setting)
    assert "all labels right" in alone.to_html() and "Nadeau and Bengio" in alone.to_html()


def test_lists_of_labels_and_weights_are_taken():
    lists = [[f"t{i}" for i in np.flatnonzero(row)] for row in Y]
    weight = np.where(np.arange(240) % 3, 1.0, 2.0)
    estimator = RandomForestClassifier(3)
    result = cross_evaluate(estimator, X, lists, split=HoldOut(2), metrics=["recall[class=t1]"], sample_weight=weight)
    (run,) = result.runs
    positive = Y[run.part.test, 1] == 1
    theirs = np.average(run.predictions.codes[positive, 1], weights=weight[run.part.test][positive])
    assert result.values("recall[class=t1]")[0] == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"resample": "over"}, "labels of one row cannot be; leave it out"),
        ({"pos_label": 1}, "of one label: recall"),
        ({"estimator": LogisticRegression()}, "OneVsRestClassifier makes any classifier"),
    ],
)
def test_what_label_sets_do_not_allow_is_refused_with_what_to_do(options, words):
    with pytest.raises(InputError, match=words):
        cross_evaluate(**{"estimator": LINEAR, "X": X, "y": Y, "split": 2} | options)


def test_folds_have_their_share_of_every_label():
    rng = np.random.default_rng(0)
    rows = (rng.random((600, 8)) < np.linspace(0.02, 0.6, 8)).astype(int)

    def tested(split):
        runs = cross_evaluate(OneVsRestClassifier(GaussianNB()), rng.random((600, 2)), rows, split=split).runs
        folds = np.zeros(600, int)
        for run in runs:
            folds[run.part.test] = run.part.fold - 1 if len(runs) > 1 else 1
        return folds

    folds = tested(5)
    assert np.ptp(np.bincount(folds)) <= 1

    def uneven(dealt):
        counts = np.array([rows[dealt == fold].sum(0) for fold in range(5)])
        return np.abs(counts - counts.mean(0)).sum(0)

    at_random = np.mean([uneven(rng.permutation(folds)) for _ in range(20)], axis=0)
    assert uneven(folds)[0] < 4 and uneven(folds).sum() < at_random.sum() / 3
    assert np.bincount(tested(HoldOut(3))).tolist() == [450, 150]
