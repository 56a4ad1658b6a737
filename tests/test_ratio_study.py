"""ratio_study: test sets of several ratios drawn from the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from checks import assert_refused
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from steelyard.studies import ratio_study

RNG = np.random.default_rng(0)
TRUE = np.arange(600) < 180
PRED = np.where(RNG.random(600) < np.where(TRUE, 0.1, 0.2), ~TRUE, TRUE)


@pytest.fixture(scope="module")
def study():
    return ratio_study(PRED, None, TRUE, ["1:4", "4:1"], repeats=40)


def test_the_sets_have_their_ratio_one_size_and_no_row_twice(study):
    assert study.sizes == ((45, 180), (180, 45)) and TRUE.sum() == 180  # all positives at 4:1, and 225 rows at each
    for (p, n), table in zip(study.sizes, study.tables().values(), strict=True):
        assert (table.positives == p).all() and (table.negatives == n).all()
    assert (study.cells[:2, 0, 1] == study.whole[:2, 0]).all()


def test_drawn_values_are_those_of_the_rates_and_the_factor_removes_the_ratio(study):
    recall, fall_out = PRED[TRUE].mean(), PRED[~TRUE].mean()
    rows = {row.metric: row for row in study}
    for ratio, (p, n) in zip(study.ratios, ((1, 4), (4, 1)), strict=True):
        assert rows["precision"].means[ratio] == pytest.approx(p * recall / (p * recall + n * fall_out), abs=0.01)
        assert rows["alpha_precision"].means[ratio] == pytest.approx(recall / (recall + fall_out), abs=0.01)
        accuracy = (p * recall + n * (1 - fall_out)) / (p + n)
        assert rows["accuracy"].means[ratio] == pytest.approx(accuracy, abs=0.01)
        assert rows["alpha_accuracy"].means[ratio] == pytest.approx((recall + 1 - fall_out) / 2, abs=0.01)
    shares = [p * recall / (p * recall + n * fall_out) for p, n in ((1, 4), (4, 1))]
    assert rows["precision"].exact == pytest.approx(shares[1] - shares[0])
    assert {rows[name].exact for name in rows if name.startswith("alpha")} == {0.0}
    assert "precision" in study.headline and len(study.notes) == 1


def flipped(y, share=0.2):
    """Predictions of which a share is wrong."""
    return np.where(np.random.default_rng(0).random(len(y)) < share, 1 - y, y)


def test_the_headline_names_the_widest_spread_of_the_table():
    """By weights no rate moves at all, so only the printed spread can be the widest."""
    y = np.repeat([0, 1], [400, 200])
    study = ratio_study(flipped(y), None, y, metrics=["recall", "specificity"], repeats=5)
    spreads = {row.metric: row.spread for row in study}
    assert spreads["specificity"] > spreads["recall"] and [row.exact for row in study] == [0, 0]
    assert study.headline.startswith("The spread of specificity") and f"{spreads['specificity']:.3g}." in study.headline


def test_an_undefined_spread_is_never_the_widest_and_has_its_reason():
    y = np.repeat([0, 1], [400, 200])
    study = ratio_study(np.zeros(600, int), None, y, metrics=["precision", "accuracy"], repeats=2)
    assert study.headline.startswith("The spread of accuracy") and "–" not in study.headline
    assert (
        study.notes[-1].startswith("The spread of precision is a dash")
        and "(no predicted positives)" in study.notes[-1]
    )
    alone = ratio_study(np.zeros(600, int), None, y, metrics=["precision"], repeats=2)
    assert alone.headline.startswith("No metric has a spread over test sets of 20:80")


def test_an_estimator_is_tested_on_rows_it_was_not_trained_on():
    class Memory(GaussianNB):
        """Predicts right what it was fitted on, and positive elsewhere."""

        def fit(self, X, y):
            self.rows_ = {tuple(row): label for row, label in zip(X, y, strict=True)}
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.array([self.rows_.get(tuple(row), 1) for row in X])

    X, y = load_breast_cancer(return_X_y=True)
    found = ratio_study({"memory": Memory(), "bayes": GaussianNB()}, X, y, ["1:1", "1:3"], repeats=2, size=40)
    assert found.tables("memory")["1:3"].tn.tolist() == [0, 0] and found.tables("memory")["1:3"].fp.tolist() == [30, 30]
    again = ratio_study({"memory": Memory(), "bayes": GaussianNB()}, X, y, ["1:1", "1:3"], repeats=2, size=40)
    assert again == found and found.spread("recall", "bayes") < 0.2


def test_a_class_that_is_positive_by_convention_is_stated():
    yes = np.where(TRUE, "yes", "no")
    study = ratio_study(np.where(PRED, "yes", "no"), None, yes, ["1:1", "1:2"], repeats=2)
    assert study.positive == "'yes'" and "The positive class is 'yes' by convention" in study.notes[-1]
    named = ratio_study(np.where(PRED, "yes", "no"), None, yes, ["1:1", "1:2"], repeats=2, pos_label="yes")
    assert "convention" not in repr(named) and "by convention" in " ".join(repr(study).split())


def test_one_class_of_many_is_tried_against_the_rest():
    kinds = np.array(["a", "b", "c"])[np.arange(90) % 3]
    study = ratio_study(np.roll(kinds, 1), None, kinds, ["1:1", "1:2"], repeats=2, pos_label="a")
    assert study.sizes == ((30, 30), (20, 40)) and study.spread("recall") == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((PRED, None, TRUE, ["1:1"]), "two ratios or more"),
        ((PRED, None, TRUE, ["1:0", "1:1"]), "two numbers above 0 such as '20:80', not '1:0'"),
        ((PRED, None, TRUE, ["1:1000", "1:1"]), "The ratio 1:1000 cannot be drawn: of 180 positives and 420 negatives"),
        ((PRED, None, np.ones(600)), "one class only"),
        ((PRED[:5], None, TRUE), "differ in length|600"),
        ((GaussianNB(), None, TRUE), "give X"),
        ((PRED, None, np.where(TRUE, "x", "y")), "is not clear from the labels"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(arguments, words):
    assert_refused(lambda: ratio_study(*arguments), (ValueError, TypeError), words)


def test_sizes_and_shares_out_of_range_are_refused():
    assert_refused(lambda: ratio_study(PRED, None, TRUE, size=5_000), ValueError, "from 2 to the 225 that")
    assert_refused(lambda: ratio_study(GaussianNB(), np.c_[TRUE], TRUE, test=1), ValueError, "share of the rows")
    assert_refused(lambda: ratio_study(PRED, None, TRUE).spread("recall", "prediction"), KeyError, "Did you mean")


def test_a_metric_of_scores_is_refused_with_what_can_be_named():
    for name, kind in (("roc_auc", "scores"), ("hamming_loss", "label sets")):
        told = f"{name} is a metric of {kind}, and the test sets of this study are of predicted labels; name metrics of labels"
        assert_refused(lambda name=name: ratio_study(PRED, None, TRUE, metrics=["recall", name]), TypeError, told)
