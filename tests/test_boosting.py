"""Boosting: a metric as XGBoost's and LightGBM's eval_metric, by which early stopping keeps the best iteration."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from checks import assert_refused
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import train_test_split

from steelyard import get_metric, log_loss, mcc, precision, roc_auc, scorer
from steelyard.metrics import metric

X, Y = make_classification(3000, weights=[0.93], flip_y=0.08, n_informative=4, random_state=1)
TRAIN, TEST, Y_TRAIN, Y_TEST = train_test_split(X, Y, test_size=0.5, stratify=Y, random_state=0)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2, len(Y_TEST))
# Higher is better, lower is better; of classes, of scores; one whose name XGBoost itself would take for one to maximise.
METRICS = ["mcc", "precision", "error_rate", "roc_auc", "log_loss", "f1[average=macro]"]
ROUNDS, PATIENCE = 200, 15  # rounds enough that every release of the peers stops before


def best(values, higher):
    """The first of the best iterations, counted from 0."""
    return int(np.argmax(values) if higher else np.argmin(values))


def higher(name):
    return get_metric(name.partition("[")[0]).direction == "higher"


def xgboost_classifier(name, **options):
    xgboost = pytest.importorskip("xgboost")
    options = {"n_estimators": ROUNDS, "learning_rate": 0.4, "early_stopping_rounds": PATIENCE, "n_jobs": 1, **options}
    return xgboost.XGBClassifier(eval_metric=scorer(name).xgboost, **options)


@pytest.mark.parametrize("name", METRICS)
def test_xgboost_keeps_the_best_iteration(name):
    model = xgboost_classifier(name).fit(TRAIN, Y_TRAIN, eval_set=[(TEST, Y_TEST)], verbose=False)
    logged = np.array(model.evals_result()["validation_0"][scorer(name).xgboost.__name__])
    values = -logged if higher(name) else logged
    assert model.best_iteration == best(values, higher(name)) and len(values) < ROUNDS
    expected = scorer(name)(model, TEST, Y_TEST)  # which is negated where lower is better
    assert values[model.best_iteration] == pytest.approx(abs(expected), abs=2e-6)  # XGBoost logs six decimals


@pytest.mark.parametrize("name", METRICS)
def test_xgboosts_native_function_stops_as_its_classifier_does(name):
    xgboost = pytest.importorskip("xgboost")
    options = {"objective": "binary:logistic", "eta": 0.4, "nthread": 1}
    train, test = xgboost.DMatrix(TRAIN, Y_TRAIN), xgboost.DMatrix(TEST, Y_TEST)
    metric_ = scorer(name).xgboost
    native = xgboost.train(
        options, train, ROUNDS, evals=[(test, "v")], custom_metric=metric_, early_stopping_rounds=PATIENCE, verbose_eval=False
    )  # fmt: skip
    model = xgboost_classifier(name).fit(TRAIN, Y_TRAIN, eval_set=[(TEST, Y_TEST)], verbose=False)
    assert native.best_iteration == model.best_iteration


def lightgbm_classifier(name, X=TRAIN, y=Y_TRAIN, X_test=TEST, y_test=Y_TEST, **options):
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=ROUNDS, learning_rate=0.4, metric="None", n_jobs=1, verbose=-1)
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    return model.fit(X, y, eval_set=[(X_test, y_test)], eval_metric=scorer(name).lightgbm, callbacks=[stop], **options)


lightgbms_own = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")


@lightgbms_own
@pytest.mark.parametrize("name", METRICS)
def test_lightgbm_keeps_the_best_iteration(name):
    model = lightgbm_classifier(name)
    (logged,) = model.evals_result_["valid_0"].values()
    assert list(model.evals_result_["valid_0"]) == [name]
    assert model.best_iteration_ == best(logged, higher(name)) + 1  # which LightGBM counts from 1
    assert len(logged) < ROUNDS


@lightgbms_own
@pytest.mark.parametrize("name", METRICS)
def test_lightgbms_native_function_stops_as_its_classifier_does(name):
    lightgbm = pytest.importorskip("lightgbm")
    options = {"objective": "binary", "learning_rate": 0.4, "metric": "None", "num_threads": 1, "verbose": -1}
    train, test = lightgbm.Dataset(TRAIN, Y_TRAIN), lightgbm.Dataset(TEST, Y_TEST)
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    native = lightgbm.train(options, train, ROUNDS, valid_sets=[test], feval=scorer(name).lightgbm, callbacks=[stop])
    assert native.best_iteration == lightgbm_classifier(name).best_iteration_


@lightgbms_own
def test_labels_that_are_words_and_weights_reach_the_metric():
    words = np.array(["no", "yes"])
    model = lightgbm_classifier("log_loss", y=words[Y_TRAIN], y_test=words[Y_TEST], eval_sample_weight=[WEIGHTS])
    proba = model.predict_proba(TEST)[:, 1]
    expected = log_loss(Y_TEST, proba, sample_weight=WEIGHTS)
    assert model.best_score_["valid_0"]["log_loss"] == pytest.approx(expected, rel=1e-6)
    fitted = xgboost_classifier("log_loss").fit(
        TRAIN, Y_TRAIN, eval_set=[(TEST, Y_TEST)], sample_weight_eval_set=[WEIGHTS], verbose=False
    )
    expected = log_loss(Y_TEST, fitted.predict_proba(TEST)[:, 1], sample_weight=WEIGHTS)
    assert fitted.best_score == pytest.approx(expected, abs=2e-6)


@lightgbms_own
@pytest.mark.parametrize("name", ["mcc", "f1[average=macro]", "roc_auc[average=macro]"])
def test_many_classes(name):
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    parts = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    model = lightgbm_classifier(name, parts[0], parts[2], parts[1], parts[3])
    (logged,) = model.evals_result_["valid_0"].values()
    assert model.best_iteration_ == best(logged, higher=True) + 1
    fitted = xgboost_classifier(name).fit(parts[0], parts[2], eval_set=[(parts[1], parts[3])], verbose=False)
    logged = fitted.evals_result()["validation_0"][f"neg_{name}"]
    assert fitted.best_iteration == best(logged, higher=False)


# ---------------------------------------------------------------- the function itself

TRUE, PROBABILITY = np.array([0, 0, 1, 1], np.float32), np.array([0.1, 0.6, 0.4, 0.9], np.float32)


def test_the_direction_is_in_the_value_or_beside_it():
    predicted = [0, 1, 0, 1]
    assert scorer("mcc").xgboost(TRUE, PROBABILITY) == -mcc(TRUE.astype(int), predicted)
    assert scorer("log_loss").xgboost(TRUE, PROBABILITY) == log_loss(TRUE, PROBABILITY)
    assert scorer("precision").lightgbm(TRUE, PROBABILITY) == (
        "precision",
        precision(TRUE.astype(int), predicted),
        True,
    )
    assert scorer("log_loss").lightgbm(TRUE, PROBABILITY) == ("log_loss", log_loss(TRUE, PROBABILITY), False)
    assert scorer("precision", pos_label=0).lightgbm(TRUE, PROBABILITY)[0] == "precision[class=0]"


def test_the_other_class_as_the_positive_one_turns_the_scores_round():
    for scores in (PROBABILITY, 4 * PROBABILITY - 2):
        value = scorer("roc_auc", pos_label=0).lightgbm(TRUE, scores)[1]
        assert value == roc_auc(TRUE, scores) == roc_auc(1 - TRUE, -scores)
    assert scorer("brier", pos_label=0).lightgbm(TRUE, PROBABILITY)[1] == pytest.approx(
        scorer("brier").lightgbm(TRUE, PROBABILITY)[1], rel=1e-6
    )


@pytest.mark.parametrize("name", ["precision", "mcc", "expected_cost", "positive_likelihood_ratio"])
def test_an_undefined_value_is_never_the_best(name):
    nobody = np.zeros(4, np.float32)
    value, somebody = scorer(name).xgboost(TRUE, nobody), scorer(name).xgboost(TRUE, PROBABILITY)
    assert np.isfinite(value) and value >= somebody


def test_names_are_such_that_xgboost_minimises_and_reads_them_back():
    names = [
        scorer(m.name).xgboost.__name__ for m in map(get_metric, ("precision", "average_precision", "f2", "brier"))
    ]
    assert names == ["neg_precision", "neg_average_precision", "neg_f2", "brier"]
    assert scorer("f_beta[beta=2, average=macro]").xgboost.__name__ == "neg_f_beta[beta=2,average=macro]"


def test_a_metric_of_ones_own_that_is_best_low_is_called_what_xgboost_minimises():
    @metric("Prejudice", family="example", range=(0, 1), best=0)
    def prejudice(tp, fn, fp, tn):
        """Share of the negatives that are flagged."""
        return fp / (fp + tn)

    assert scorer(prejudice).xgboost.__name__ == "low_prejudice"


def test_it_can_be_cloned_and_pickled():
    pytest.importorskip("xgboost")
    cloned = clone(xgboost_classifier("mcc")).eval_metric
    again = pickle.loads(pickle.dumps(scorer("mcc", pos_label=1).lightgbm))
    assert again(TRUE, PROBABILITY) == scorer("mcc", pos_label=1).lightgbm(TRUE, PROBABILITY)
    assert (cloned.__name__, cloned(TRUE, PROBABILITY)) == ("neg_mcc", scorer("mcc").xgboost(TRUE, PROBABILITY))


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: scorer("recall", pos_label="yes").lightgbm(TRUE, PROBABILITY), "number the classes 0 to 1"),
        (lambda: scorer("f1").xgboost(TRUE, 9 * PROBABILITY), "no probabilities"),
        (lambda: scorer("roc_auc").lightgbm([0, 1, 2], np.eye(3)), r"scorer\('roc_auc', average='macro'\)"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(attempt, words):
    assert_refused(attempt, ValueError, words)
