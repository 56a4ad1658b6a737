"""ThresholdClassifier: scikit-learn's estimator checks, the cut on unseen rows, and what is refused."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from checks import assert_refused, failing_checks
from scipy.sparse import csr_matrix
from scipy.special import ndtr
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TunedThresholdClassifierCV,
    cross_val_predict,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from study_tools import htru2, pulsars_needed

import steelyard
from steelyard import Result, SteelyardError, ThresholdClassifier, best_threshold, evaluate, gate
from steelyard.exceptions import InputError, InputTypeError, needs_sklearn

X, Y = make_classification(400, weights=[0.85], flip_y=0.1, random_state=0)
MODELS = [LogisticRegression(C=1), LinearSVC(random_state=0), DecisionTreeClassifier(max_depth=3, random_state=0)]


def expected_failures(estimator):
    """Neither the sign of a decision function nor the highest of many is the prediction: thresholds are for that."""
    moved = not isinstance(estimator.estimator, DecisionTreeClassifier) and estimator.reject is None
    older = failing_checks(estimator, ("dense", "sparse"))
    return older | ({"check_classifiers_train": "the threshold is not 0, or those of classes differ"} if moved else {})


@pytest.mark.filterwarnings("ignore")  # those of the classifiers inside, on the few rows of some checks
@parametrize_with_checks(
    [
        ThresholdClassifier(MODELS[1], cv=2),  # by its decision function
        ThresholdClassifier(MODELS[0], reject=0.1, cv=2),  # by its probabilities
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_the_cut_is_the_best_one_on_unseen_rows(model):
    folds = StratifiedKFold(4)
    ours = ThresholdClassifier(model, "f1", cv=4).fit(X, Y)
    method = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    scores = cross_val_predict(model, X, Y, cv=folds, method=method)
    scores = scores[:, 1] if scores.ndim == 2 else scores
    expected = best_threshold(Y, scores, "f1", draws=0)
    assert ours.best_threshold_ == expected and ours.threshold_ == expected.threshold
    inside = clone(model).fit(X, Y)
    whole = inside.predict_proba(X)[:, 1] if method == "predict_proba" else inside.decision_function(X)
    assert (ours.predict(X) == (whole >= expected.threshold)).all()


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_either_class_may_be_positive(method):
    words = np.where(Y == 1, "ill", "well")  # "well" is the later one
    model = LogisticRegression()
    ill = ThresholdClassifier(model, "recall", where="specificity >= 0.7", pos_label="ill", response_method=method)
    plain = ThresholdClassifier(model, "recall", where="specificity >= 0.7", response_method=method)
    a, b = ill.fit(X, words), plain.fit(X, Y)
    assert ((a.predict(X) == "ill") == (b.predict(X) == 1)).mean() > 0.99
    assert a.best_threshold_.value == b.best_threshold_.value


def test_a_class_that_is_positive_by_its_place_alone_is_named_in_a_warning():
    model = ThresholdClassifier(LogisticRegression(), cv="prefit")
    for low, high in (("ill", "well"), (1, 2), ("positive", "unclear")):
        words = np.where(Y == 1, high, low)
        model.estimator = LogisticRegression().fit(X, words)
        with pytest.warns(UserWarning, match=f"is taken to be {high!r}.*take the other one with pos_label={low!r}"):
            model.fit(X, words)
    for low, high in (("no", "yes"), (0, 1), (False, True), (-1, 1)):  # warnings are errors here
        words = np.where(Y == 1, high, low)
        model.set_params(estimator=LogisticRegression().fit(X, words)).fit(X, words)


def test_a_fitted_classifier_is_taken_as_it_is():
    model = LogisticRegression().fit(X[:200], Y[:200])
    ours = ThresholdClassifier(model, "ac_score", cv="prefit").fit(X[200:], Y[200:])
    assert ours.estimator_ is model
    assert ours.best_threshold_ == best_threshold(Y[200:], model.predict_proba(X[200:])[:, 1], "ac_score", draws=0)


@pytest.mark.parametrize(
    "cv",
    [
        3,
        None,
        [*KFold(2).split(X)],
        KFold(3, shuffle=True, random_state=0),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    ],
)
def test_any_splitter_will_do(cv):
    ours = ThresholdClassifier(LogisticRegression(), cv=cv).fit(X, Y)
    assert ours.best_threshold_.counts.total == len(Y) * (2 if "Repeated" in type(cv).__name__ else 1)


def test_weights_reach_the_fits_and_the_cut():
    weight = np.where(Y == 1, 5.0, 1.0)
    ours = ThresholdClassifier(LogisticRegression(), "accuracy").fit(X, Y, sample_weight=weight)
    assert ours.best_threshold_.counts.total == pytest.approx(weight.sum())
    assert ours.predict(X).mean() > ThresholdClassifier(LogisticRegression(), "accuracy").fit(X, Y).predict(X).mean()


def test_it_can_be_searched_and_stand_in_a_pipeline():
    pipe = make_pipeline(StandardScaler(), ThresholdClassifier(LogisticRegression(), "g_mean"))
    grid = {"thresholdclassifier__metric": ["g_mean", "f1"], "thresholdclassifier__estimator__C": [0.1, 1]}
    found = GridSearchCV(pipe, grid, cv=2, scoring="balanced_accuracy").fit(X, Y)
    assert found.best_score_ > 0.6
    assert hasattr(ThresholdClassifier(LogisticRegression()), "predict_proba")
    assert not hasattr(ThresholdClassifier(LinearSVC()), "predict_proba")


def tpnr_before_and_after(X, y, seed):
    """TPNR on the test part, before a threshold was looked for and after."""
    parts = train_test_split(X, y, test_size=0.3, random_state=seed)
    tree = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0)
    model = ThresholdClassifier(make_pipeline(StandardScaler(), PCA(2), tree), metric="tpnr").fit(*parts[::2])
    return [steelyard.tpnr(parts[3], judge.predict(parts[1])) for judge in (model.estimator_, model)]


@pulsars_needed
@pytest.mark.parametrize("seed", [125, 140, 154, 162])  # of 200 splits those where an observed score flagged nobody
def test_a_chosen_threshold_does_not_flag_nobody_after_the_refit(seed):
    pulsars = htru2()
    before, after = tpnr_before_and_after(pulsars.X, pulsars.y, seed)
    assert before > 0.6 and after >= before / 2


def test_a_tree_of_two_leaves_keeps_flagging_after_the_refit():
    rows, labels = make_classification(4_000, n_features=8, weights=[0.9], random_state=3)
    for seed in range(8, 12):  # an observed score as the threshold flags nobody in the last
        before, after = tpnr_before_and_after(rows, labels, seed)
        assert after >= max(before / 2, 0.5)


class Mute(LogisticRegression):
    """A classifier without scores."""

    predict_proba = decision_function = property()


@pytest.mark.parametrize(
    ("options", "y", "words"),
    [
        ({"estimator": LinearSVC()}, np.arange(400) % 3, "Only binary classification is supported for LinearSVC"),
        ({"where": "recall >= 0.9"}, np.arange(400) % 3, "where= is of one threshold between two classes"),
        ({"reject": 0.1, "pos_label": 1}, Y, "pos_label= is of one threshold between two classes"),
        ({"reject": 2.0}, Y, "from 0 to below 1, not 2.0"),
        ({"cost_matrix": [[0, 1]]}, Y, "2 x 2 numbers, 0 or more"),
        ({}, np.linspace(0, 1, 400), "Unknown label type: continuous"),
        ({}, np.zeros(400, dtype=int), "one class only"),
        ({"cv": "prefix"}, Y, "'prefit'"),
        ({"response_method": "predict"}, Y, "response_method="),
        ({"pos_label": 2}, Y, "none of the classes"),
        ({"metric": "prevalence"}, Y, "No value of prevalence is best"),
        ({"where": "precision > 1"}, Y, "'precision > 1' can never be kept"),
        ({"estimator": Mute()}, Y, "nothing to threshold"),
        ({"cv": KFold(2)}, np.repeat([0, 1], 200), "class"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, y, words):
    model = ThresholdClassifier(**{"estimator": LogisticRegression(), **options})
    with pytest.raises(ValueError if words == "class" else SteelyardError, match=words):
        model.fit(X, y)


def test_without_scikit_learn_it_says_what_to_install():
    code = "import sys; sys.modules['sklearn'] = None\nimport steelyard; steelyard.ThresholdClassifier"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (
        ran.stderr.splitlines()[-1]
        == f"steelyard.exceptions.MissingLibraryError: {needs_sklearn('ThresholdClassifier')}"
    )


def test_the_search_for_a_cut_does_not_import_scikit_learn():
    code = "import sys, steelyard as t; t.best_threshold([0, 1], [0, 1], 'f1'); print('sklearn' in sys.modules, 'scipy.stats' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]


# ---------------------------------------------------------------- promised limits

PROMISE = {"metric": "specificity", "where": "recall >= 0.8", "confidence": 0.9}


def two_normals(rng, positives, negatives):
    """Rows of two features, the classes two apart, so that the recall of a linear classifier is known."""
    labels = np.repeat([1, 0], [positives, negatives])
    return rng.normal(size=(len(labels), 2)) + np.outer(labels, [2, 0]), labels


def true_recall(model):
    """The recall on all new rows: that of a normal score."""
    inside = model.estimator_
    mean = 2 * inside.coef_[0, 0] + inside.intercept_[0]
    return float(ndtr((mean - model.threshold_) / np.linalg.norm(inside.coef_)))


def prefit(rows, labels, rng):
    model = LinearDiscriminantAnalysis().fit(*two_normals(rng, 20, 80))
    return ThresholdClassifier(model, cv="prefit", response_method="decision_function", **PROMISE).fit(rows, labels)


def held_out(rows, labels, rng):
    model = LinearDiscriminantAnalysis()
    options = {"cv": 0.5, "refit": False, "response_method": "decision_function", **PROMISE}
    return ThresholdClassifier(model, **options).fit(rows, labels)


@pytest.mark.parametrize("fitted", [prefit, held_out])
def test_a_promised_recall_is_kept_on_new_rows(fitted):
    rng = np.random.default_rng(1)
    recalls = [true_recall(fitted(*two_normals(rng, 60, 240), rng)) for _ in range(200)]
    assert np.mean(np.array(recalls) >= 0.8) > 0.84  # 90 % are promised; three standard errors of 200 runs are 6 %
    assert np.mean(recalls) < 0.92  # the search without a promise gives 0.8, and everybody flagged 1


def test_without_a_promise_every_other_fit_breaks_the_limit_and_says_so():
    rng = np.random.default_rng(2)
    options = {"metric": "specificity", "where": "recall >= 0.8", "response_method": "decision_function"}
    models = [
        ThresholdClassifier(LinearDiscriminantAnalysis(), **options).fit(*two_normals(rng, 60, 240)) for _ in range(60)
    ]
    assert 0.2 < np.mean([true_recall(model) >= 0.8 for model in models]) < 0.8
    chances = [model.best_threshold_.limits[0].chance for model in models]
    assert 0.3 < np.mean(chances) < 0.7
    assert models[0].guarantee_.startswith("recall >= 0.8 on new rows is not promised, as confidence= was not given.")


def test_only_the_classifier_that_scored_is_promised_anything():
    rows, labels = two_normals(np.random.default_rng(3), 200, 800)
    model = LogisticRegression()
    kept = ThresholdClassifier(model, **PROMISE).fit(rows, labels)
    start = "recall >= 0.8 holds on new rows with 90 % confidence for this very classifier"
    end = "rows are taken as independent. The positive class is 1."
    assert kept.guarantee_ == f"{start}, as the rows that chose its threshold did not train it; {end}"
    for given in ({"cv": 5}, {"cv": 0.5, "refit": True}, {"refit": True}):
        refitted = ThresholdClassifier(model, **given, **PROMISE).fit(rows, labels)
        assert refitted.guarantee_.startswith("recall >= 0.8 on new rows is not promised for this classifier")
        assert (refitted.estimator_.coef_ == clone(model).fit(rows, labels).coef_).all()
    train, test = next(StratifiedShuffleSplit(1, test_size=0.5, random_state=0).split(rows, labels))
    inside = clone(model).fit(rows[train], labels[train])
    assert (kept.estimator_.coef_ == inside.coef_).all()
    expected = best_threshold(labels[test], inside.predict_proba(rows[test])[:, 1], draws=0, **PROMISE)
    assert kept.best_threshold_ == expected
    for given in (
        ThresholdClassifier(inside, cv="prefit", **PROMISE),
        ThresholdClassifier(FrozenEstimator(inside), **PROMISE),
    ):
        assert given.fit(rows[test], labels[test]).best_threshold_ == expected
        assert given.guarantee_ == f"{start}, provided that the rows given to fit did not train it; {end}"
    plain = ThresholdClassifier(model).fit(rows, labels)
    assert plain.guarantee_ == "No limit was given, so none is promised on new rows."


def test_the_threshold_of_a_refit_carries_no_promise_on_any_surface():
    rows, labels = two_normals(np.random.default_rng(3), 200, 800)
    told = "No limit is promised on new rows, as the classifier that predicts was fitted again on all rows."
    for given in ({"cv": 5}, {"refit": True}):
        model = ThresholdClassifier(LogisticRegression(), **given, **PROMISE).fit(rows, labels)
        best = model.best_threshold_
        assert best.notes == (told,)
        for shown in (repr(best), best.to_markdown(), best.to_latex()):
            assert told in " ".join(shown.split()) and "confidence" not in shown
        assert best.limits[0].confidence is None and '"confidence": null' in best.to_json()
        saved = Result.from_json(best.to_json())
        new = evaluate(labels, y_score=model.predict_proba(rows)[:, 1], threshold=best.threshold, pos_label=1)
        (note,) = [note for note in gate(new, guarantee=saved).assumed if "guaranteed" in note]
        assert note == "The limits of 'guarantee' are not guaranteed: its classifier was fitted again on all rows."
    frame = np.column_stack([rows, np.arange(1000) % 2])
    by_site = ThresholdClassifier(LogisticRegression(), by=2, cv=5, **PROMISE).fit(frame, labels)
    assert all(best.limits[0].confidence is None for best in by_site.best_thresholds_.values())
    kept = ThresholdClassifier(LogisticRegression(), **PROMISE).fit(rows, labels).best_threshold_
    assert kept.limits[0].confidence == 0.9 and not kept.notes


def test_a_promise_near_separation_is_kept_or_withdrawn():
    """Two classes of 120 features that training rows nearly separate: a refit is surer of them than the folds were."""
    rng, kept, refits = np.random.default_rng(5), [], []
    promise = {"metric": "specificity", "where": "recall >= 0.9", "confidence": 0.95}
    for _ in range(12):
        rows, labels = rng.normal(size=(312, 120)), np.repeat([1, 0], [72, 240])
        rows[labels == 1] += 2 / np.sqrt(120)
        new = rng.normal(size=(2_000, 120)) + 2 / np.sqrt(120)
        for options, shares in (({}, kept), ({"refit": True, "cv": 5}, refits)):
            model = ThresholdClassifier(LogisticRegression(C=1e6, max_iter=200), **promise, **options).fit(rows, labels)
            shares.append(model.predict(new).mean() >= 0.9)
            assert ("not promised for this classifier" in model.guarantee_) == bool(options)
    assert np.mean(kept) >= 0.8 > np.mean(refits)


def test_a_promise_that_only_the_trivial_threshold_keeps_says_so():
    rows, labels = two_normals(np.random.default_rng(4), 20, 80)
    model = ThresholdClassifier(LogisticRegression(), where="recall >= 0.9", confidence=0.95).fit(rows, labels)
    assert model.best_threshold_.trivial and model.predict(rows).all()
    assert "This is the trivial threshold: it flags everybody" in model.guarantee_
    assert model.guarantee_.endswith("needs at least 29 positives; here are 10.")


def test_several_limits_and_a_prevalence_are_those_of_the_search():
    rows, labels = two_normals(np.random.default_rng(5), 300, 700)
    inside = LogisticRegression().fit(*two_normals(np.random.default_rng(6), 50, 50))
    options = {"metric": "f1", "where": ["recall >= 0.7", "specificity >= 0.7"], "confidence": 0.9, "prevalence": 0.1}
    model = ThresholdClassifier(inside, cv="prefit", **options).fit(rows, labels)
    assert model.best_threshold_ == best_threshold(labels, inside.predict_proba(rows)[:, 1], draws=0, **options)
    assert "recall >= 0.7 and specificity >= 0.7 hold together on new rows with 90 % confidence" in model.guarantee_


def test_a_search_may_be_over_the_confidence_and_weights_reach_a_promise():
    rows, labels = two_normals(np.random.default_rng(7), 200, 800)
    choice = ThresholdClassifier(LogisticRegression(), "specificity", where="recall >= 0.8", cv=5)
    search = GridSearchCV(choice, {"confidence": [None, 0.99]}, cv=2, scoring="recall").fit(rows, labels)
    assert search.best_params_ == {"confidence": 0.99}
    weight = np.where(rows[:, 1] > 0, 3.0, 1.0)
    weighted = clone(search.best_estimator_).fit(rows, labels, sample_weight=weight)
    assert weighted.best_threshold_.counts.total == pytest.approx(weight.sum())
    assert "the 99 % confidence is that of the classifiers that scored" in weighted.guarantee_
    assert weighted.best_threshold_.limits[0].value > 0.8


# ---------------------------------------------------------------- costs


def brute_force(labels, scores, miss, alarm):
    """The lowest cost of a row over all sets of highest scores, and the lowest score of the set."""
    ends = [np.inf, *np.unique(scores)[::-1]]
    costs = [np.where(labels == 1, miss * (scores < end), alarm * (scores >= end)).mean() for end in ends]
    return min(costs), ends[int(np.argmin(costs))]


def priced_rows():
    rng = np.random.default_rng(8)
    rows, labels = two_normals(rng, 60, 240)
    return pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "amount": rng.gamma(1, 20, len(labels))}), labels


def test_costs_by_row_are_a_column_of_the_frame_or_given_to_fit():
    frame, labels = priced_rows()
    inside = make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), LogisticRegression())
    scores = cross_val_predict(inside, frame, labels, cv=5, method="predict_proba")[:, 1]
    expected, observed = brute_force(labels, scores, frame["amount"].to_numpy(), 5)
    costs = {"cost_fn": "amount", "cost_fp": 5}
    named = ThresholdClassifier(inside, cost=costs).fit(frame, labels)
    assert named.best_threshold_.value == pytest.approx(expected, rel=1e-12)
    assert named.best_threshold_.observed == observed
    assert named.cost is costs and costs == {"cost_fn": "amount", "cost_fp": 5}
    given = ThresholdClassifier(inside, cost={"cost_fp": 5}).fit(frame, labels, cost_fn=frame["amount"])
    assert given.best_threshold_ == named.best_threshold_
    arrays = ThresholdClassifier(LogisticRegression(), cost={"cost_fp": 5})
    fitted = clone(arrays).fit(frame[["a", "b"]].to_numpy(), labels, cost_fn=frame["amount"].to_numpy())
    assert fitted.threshold_ == named.threshold_
    of_positives = arrays.fit(frame[["a", "b"]].to_numpy(), labels, cost_fn=np.where(labels == 1, frame["amount"], 0))
    assert of_positives.best_threshold_ == fitted.best_threshold_
    plain = ThresholdClassifier(LogisticRegression(), cost={"cost_fn": 10, "benefit_tp": 2}).fit(X, Y)
    probabilities = cross_val_predict(LogisticRegression(), X, Y, cv=5, method="predict_proba")[:, 1]
    assert plain.best_threshold_.observed == brute_force(Y, probabilities, 12, 1)[1]


@pytest.mark.parametrize("routed", [False, True])
def test_costs_by_row_go_through_a_search(routed):
    frame, labels = priced_rows()
    features, amount = frame[["a", "b"]].to_numpy(), frame["amount"].to_numpy()
    with config_context(enable_metadata_routing=routed):
        model = ThresholdClassifier(LogisticRegression(), cost={"cost_fp": 5})
        model = model.set_fit_request(cost_fn=True) if routed else model
        search = GridSearchCV(model, {"prevalence": [None, 0.2]}, cv=2, scoring="recall")
        best = search.fit(features, labels, cost_fn=amount).best_estimator_
    again = clone(best).fit(features, labels, cost_fn=amount)
    assert best.best_threshold_ == again.best_threshold_ and best.best_threshold_.metric == "cost_per_row"


# ---------------------------------------------------------------- groups


def sites(rng):
    """Two sites, of which one scores higher."""
    rows, labels = two_normals(rng, 300, 900)
    site = rng.choice(["north", "south"], len(labels))
    return pd.DataFrame({"site": site, "a": rows[:, 0] + 2 * (site == "south"), "b": rows[:, 1]}), labels


ON_A_AND_B = make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), LogisticRegression())


def test_each_group_has_the_threshold_of_its_own_rows():
    frame, labels = sites(np.random.default_rng(9))
    model = ThresholdClassifier(ON_A_AND_B, by="site", cv=5, **PROMISE).fit(frame, labels)
    scores = cross_val_predict(ON_A_AND_B, frame, labels, cv=5, method="predict_proba")[:, 1]
    whole = model.predict_proba(frame)[:, 1]
    predicted = model.predict(frame)
    for name in ("north", "south"):
        rows = (frame["site"] == name).to_numpy()
        expected = best_threshold(labels[rows], scores[rows], draws=0, **PROMISE)
        assert model.best_thresholds_[name] == expected.of_refit() and model.thresholds_[name] == expected.threshold
        assert (predicted[rows] == (whole[rows] >= expected.threshold)).all()
    assert model.thresholds_["south"] > model.thresholds_["north"]
    assert not hasattr(model, "threshold_") and not hasattr(model, "best_threshold_")
    for word in ("known at prediction", "lawful to use", "enough rows"):
        assert word in model.guarantee_
    by_position = ThresholdClassifier(ON_A_AND_B, by=0, cv=5, **PROMISE).fit(frame, labels)
    assert by_position.thresholds_ == model.thresholds_
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(frame) == predicted).all() and again.guarantee_ == model.guarantee_


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, lambda rows: rows.tolist(), pl.DataFrame])
def test_groups_are_read_from_any_kind_of_rows(kind):
    rng = np.random.default_rng(10)
    rows, labels = two_normals(rng, 50, 150)
    rows[:, 1] = rng.integers(0, 2, len(labels))
    model = ThresholdClassifier(LogisticRegression(), by=1).fit(kind(rows), labels)
    assert list(model.thresholds_) == [0, 1]
    assert (
        model.predict(kind(rows)) == ThresholdClassifier(LogisticRegression(), by=-1).fit(rows, labels).predict(rows)
    ).all()


def test_a_group_that_fit_did_not_see_has_no_threshold():
    frame, labels = sites(np.random.default_rng(11))
    model = ThresholdClassifier(ON_A_AND_B, by="site").fit(frame, labels)
    with pytest.raises(
        InputError, match=r"Group 'west' of 'site' was not among the rows of fit, so it has no threshold"
    ):
        model.predict(frame.assign(site="west"))
    frame.loc[:3, "site"] = "west"  # positives alone
    with pytest.raises(InputError, match=r"Group 'west' of 'site': The truth holds no negatives"):
        clone(model).fit(frame, labels)


def test_a_figure_names_no_threshold_for_a_classifier_that_has_several():
    frame, labels = sites(np.random.default_rng(12))
    model = ThresholdClassifier(ON_A_AND_B, by="site").fit(frame, labels)
    with pytest.raises(InputError, match="a threshold for each group; name one by threshold="):
        steelyard.figures.RocDisplay.from_estimator(model, frame, labels)
    assert steelyard.figures.RocDisplay.from_estimator(model, frame, labels, threshold=0.3)


# ---------------------------------------------------------------- what is refused


def test_labels_in_another_order_than_their_rows_are_refused():
    frame, labels = priced_rows()
    shuffled = pd.Series(labels).sample(frac=1, random_state=0)
    with pytest.raises(InputError, match="X and y have the same index in different orders"):
        ThresholdClassifier(LogisticRegression()).fit(frame, shuffled)
    amount = frame["amount"].sample(frac=1, random_state=0)
    with pytest.raises(InputError, match="X and cost_fn have the same index in different orders"):
        ThresholdClassifier(LogisticRegression()).fit(frame, labels, cost_fn=amount)
    ThresholdClassifier(LogisticRegression()).fit(frame.loc[shuffled.index], shuffled)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"refit": False}, "refit=False deploys the classifier of one split, and cv= makes 5"),
        ({"refit": None}, "refit= is True, False or 'auto', not None"),
        ({"cv": 1.5}, "cv= as a share of rows to hold out lies between 0 and 1, not at 1.5"),
        ({"confidence": 0.9}, "give them too, such as where="),
        ({"confidence": 2, "where": "recall >= 0.9"}, "confidence= is a probability"),
        ({"cv": RepeatedStratifiedKFold(n_splits=2, n_repeats=2), **PROMISE}, "leaves some rows out more than once"),
        ({"cost": 10}, "cost= is a dict such as"),
        ({"cost": {"cost_fm": 1}}, "'cost_fm' is no cost; .* Did you mean .*'cost_fn'"),
        ({"cost": {"cost_fn": "amonut"}}, "X has no column 'amonut' .cost_fn.. Did you mean 'amount'"),
        ({"cost": {"cost_fn": 2}, "metric": "f1"}, "metric= and cost= both say what is best"),
        ({"by": "sight"}, "X has no column 'sight' .by=.."),
        ({"by": 3}, "X has no column at position 3 .by=.; the first is 0"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(options, words):
    frame, labels = priced_rows()
    assert_refused(lambda: ThresholdClassifier(LogisticRegression(), **options).fit(frame, labels), Exception, words)


def test_what_fit_is_given_by_row_is_costs_of_every_row():
    model = ThresholdClassifier(LogisticRegression())
    assert_refused(lambda: model.fit(X, Y, cost_fm=Y), TypeError, "'cost_fm' is none of them. Did you mean .*'cost_fn'")
    assert_refused(
        lambda: model.fit(X, Y, groups=Y), TypeError, "fit takes X, y, sample_weight and, one value per row, cost_fn"
    )
    assert_refused(
        lambda: model.fit(X, Y, cost_fn=[1, 2]), ValueError, "cost_fn has 2 values, and X 400 rows; give one a row"
    )
    assert model.fit(X, Y, cost_fn=None).best_threshold_.metric == "ac_score"


def test_the_page_for_users_of_scikit_learn_maps_every_argument_and_attribute():
    page = (Path(__file__).parent.parent / "docs" / "from-scikit-learn.md").read_text(encoding="utf-8")
    section = page.partition("## TunedThresholdClassifierCV")[2].partition("\n## ")[0]
    theirs = TunedThresholdClassifierCV(LogisticRegression(), store_cv_results=True).fit(X, Y)
    names = [
        *inspect.signature(TunedThresholdClassifierCV).parameters,
        *(name for name in vars(theirs) if name.endswith("_")),
    ]
    assert not [name for name in names if f"`{name}" not in section and not name.startswith("_")]


def test_names_of_columns_need_a_frame():
    for options, otherwise in (
        ({"by": "site"}, "its position"),
        ({"cost": {"cost_fn": "amount"}}, "give fit the costs"),
    ):
        with pytest.raises(InputTypeError, match=f"names the column '.*', and X is no frame; give one, or {otherwise}"):
            ThresholdClassifier(LogisticRegression(), **options).fit(X, Y)


# ---------------------------------------------------------------- many classes

X4, Y4 = make_classification(600, n_classes=4, n_informative=6, weights=[0.6, 0.2, 0.12, 0.08], random_state=0)
WORDS = np.array(["d", "a", "c", "b"])[Y4]
COSTS4 = np.array([[0, 1, 1, 1], [1, 0, 2, 9], [1, 3, 0, 1], [4, 1, 1, 0]])


def test_thresholds_of_classes_are_those_of_the_rows_left_out():
    folds = StratifiedKFold(4)
    model = ThresholdClassifier(LogisticRegression(), "balanced_accuracy", cv=folds).fit(X4, WORDS)
    p = np.empty((600, 4))
    for train, test in folds.split(X4, WORDS):
        p[test] = LogisticRegression().fit(X4[train], WORDS[train]).predict_proba(X4[test])
    order = np.concatenate([test for _, test in folds.split(X4, WORDS)])
    best = steelyard.best_decision(WORDS[order], p[order], "balanced_accuracy")
    assert model.thresholds_ == best.thresholds
    assert model.best_decision_ == best
    inside = LogisticRegression().fit(X4, WORDS)
    scaled = inside.predict_proba(X4) / [best.thresholds[label] for label in inside.classes_]
    assert np.array_equal(model.predict(X4), inside.classes_[scaled.argmax(1)])
    assert np.array_equal(model.predict_proba(X4), inside.predict_proba(X4))
    assert not model.sent(X4).any()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X4), model.predict(X4))


def test_costs_and_a_person_decide_by_the_probabilities():
    model = ThresholdClassifier(LogisticRegression(), cost_matrix=COSTS4, reject_cost=0.6, cv=3).fit(X4, WORDS)
    risks = model.predict_proba(X4) @ COSTS4
    assert np.array_equal(model.predict(X4), model.classes_[risks.argmin(1)])
    assert np.array_equal(model.sent(X4), risks.min(1) > 0.6)
    prefit = ThresholdClassifier(model.estimator_, reject=0.2, cv="prefit").fit(X4, WORDS)
    assert prefit.sent(X4).mean() == pytest.approx(0.2, abs=0.002)
    two = ThresholdClassifier(LogisticRegression(), cost_matrix=[[0, 1], [4, 0]], cv=3).fit(X, Y)
    assert np.array_equal(two.predict(X), (two.predict_proba(X)[:, 1] > 0.2).astype(int))
    shares = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}
    moved = ThresholdClassifier(LogisticRegression(), "accuracy", prevalence=shares, cv=3).fit(X4, WORDS)
    assert moved.best_decision_.prevalence == pytest.approx((0.1, 0.2, 0.3, 0.4))


def test_a_class_that_a_fold_did_not_train_on_has_no_probability_there():
    y = np.where(np.arange(600) < 3, "z", WORDS)
    folds = [(np.arange(300, 600), np.arange(300)), (np.arange(300), np.arange(300, 600))]
    model = ThresholdClassifier(LogisticRegression(), "accuracy", cv=folds).fit(X4, y)
    assert [*model.thresholds_] == ["a", "b", "c", "d", "z"]


def test_many_classes_are_searched_and_scored_as_any_classifier():
    found = GridSearchCV(
        ThresholdClassifier(LogisticRegression(), "balanced_accuracy", cv=2),
        {"estimator__C": [0.1, 1]},
        cv=2,
        scoring="balanced_accuracy",
    ).fit(X4, WORDS)
    assert found.best_score_ > 0.4
