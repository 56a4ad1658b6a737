"""cross_evaluate and select_tree where test parts lack a class, estimators misbehave, or nothing names the positive."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
import sklearn
from checks import assert_refused
from command_line import run_command
from imblearn.over_sampling import RandomOverSampler
from packaging.version import Version
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from steelyard import Counts, Folds, HoldOut, __version__, chance, cross_evaluate, get_metric
from steelyard.results import CrossEvaluation
from steelyard.studies import select_tree

X, Y = make_classification(200, 4, weights=[0.8], random_state=3)
NEGATIVES = np.flatnonzero(Y == 0)[:30]
OTHERS = np.setdiff1d(np.arange(200), NEGATIVES)


# ---------------------------------------------------------------- test parts of one class


@pytest.mark.parametrize("label", [0, 1])
def test_test_rows_of_one_class_are_evaluated_and_the_areas_say_why_they_are_undefined(label):
    tested = np.flatnonzero(label == Y)[:20]
    found = cross_evaluate(DecisionTreeClassifier(), X, Y, split=[(np.setdiff1d(np.arange(200), tested), tested)])
    area = found.evaluation["roc_auc"]
    assert math.isnan(area.value) and area.undefined == ("no positives", "no negatives")[label]
    assert json.loads(found.to_json())["models"][0]["evaluation"]["rows"] == 20
    assert "<!doctype html>" in found.evaluation.to_html()


def test_24_rows_with_3_positives_never_break_a_hold_out():
    rows = np.r_[np.flatnonzero(Y == 1)[:3], np.flatnonzero(Y == 0)[:21]]
    for seed in range(20):
        found = cross_evaluate(
            DecisionTreeClassifier(),
            X[rows],
            Y[rows],
            split=HoldOut(2, stratified=False),
            rng=seed,
            metrics=["roc_auc"],
        )
        assert found.evaluation.rows == 8


def test_test_rows_of_no_weight_fail_their_run_alone():
    weight = np.ones(200)
    weight[NEGATIVES] = 0
    rest = np.arange(100, 200)
    split = [(OTHERS, NEGATIVES), (np.setdiff1d(np.arange(200), rest), rest)]
    found = cross_evaluate(GaussianNB(), X, Y, split=split, sample_weight=weight)
    assert [run.error for run in found.failures] == [
        "All rows tested have weight 0, so nothing can be evaluated on them."
    ]
    assert found.evaluation.rows == (weight[100:] > 0).sum()


def test_groups_set_aside_hold_every_class_or_are_refused():
    groups = np.arange(200) // 10
    order = np.argsort(Y, kind="stable")  # whole groups of negatives
    for seed in range(5):
        found = select_tree(DecisionTreeClassifier(), X[order], Y[order], groups=groups, rng=seed)
        assert set(Y[order][found.test_rows]) == {0, 1}
    alone = np.where(Y == 1, 0, 1 + np.arange(200) % 9)
    assert_refused(
        lambda: select_tree(DecisionTreeClassifier(), X, Y, groups=alone), ValueError, "had rows of every class"
    )


# ---------------------------------------------------------------- estimators that misbehave


class Lost(GaussianNB):
    """A classifier that gives a value of its own for the first row of a test part that begins before row 40."""

    value = math.nan

    def predict_proba(self, X):
        found = super().predict_proba(X)
        if len(X) == 40:
            found[0] = self.value
        return found

    def predict(self, X):
        return GaussianNB.predict(self, X)


class Endless(Lost):
    value = math.inf


class Short(GaussianNB):
    """A classifier that is silent about the last row of a test part of 40."""

    method = "predict"

    def _cut(self, name, X):
        return getattr(GaussianNB, name)(self, X)[: len(X) - (len(X) == 40 and name == self.method)]

    def predict(self, X):
        return self._cut("predict", X)

    def predict_proba(self, X):
        return self._cut("predict_proba", X)


class ShortOfScores(Short):
    method = "predict_proba"


UNEVEN = [(np.arange(40, 200), np.arange(40)), (np.arange(60), np.arange(60, 200))]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Lost(), "predict_proba gave no finite number for 1 of 40 rows; scores are numbers."),
        (Endless(), "predict_proba gave no finite number for 1 of 40 rows; scores are numbers."),
        (Short(), "predict gave 39 answers about 40 rows; it has to give one a row."),
        (ShortOfScores(), "predict_proba gave 39 answers about 40 rows; it has to give one a row."),
    ],
)
def test_an_answer_that_cannot_be_counted_fails_its_run_alone(model, words):
    found = cross_evaluate(model, X, Y, split=UNEVEN)
    assert [(run.part.fold, run.error) for run in found.failures] == [(1, words)]
    plain = cross_evaluate(GaussianNB(), X, Y, split=UNEVEN[1:])
    assert found.evaluation["roc_auc"].value == plain.evaluation["roc_auc"].value
    assert found.evaluation.rows == 140 and (found.pooled.rows >= 0).all()


# ---------------------------------------------------------------- candidates


def test_two_samplers_of_one_class_are_two_candidates():
    ways = [RandomOverSampler(sampling_strategy=0.5), RandomOverSampler(), None]
    found = cross_evaluate([GaussianNB(), GaussianNB(var_smoothing=1)], X, Y, resample=ways)
    assert list(found.models) == [
        f"{name}{way}"
        for name in ("GaussianNB", "GaussianNB 2")
        for way in (" + RandomOverSampler", " + RandomOverSampler 2", "")
    ]
    half, whole = (found[f"GaussianNB + RandomOverSampler{n}"].pooled for n in ("", " 2"))
    assert half != whole


LOGISTIC = LogisticRegression()
WEIGHTS = np.where(Y == 1, 4.0, 1.0)
HOLDERS = {
    "search": lambda model: GridSearchCV(model, {"fit_intercept": [True]}, cv=2),
    "vote": lambda model: VotingClassifier([("a", model), ("b", model)]),
    "stack": lambda model: StackingClassifier([("a", model)], cv=2),
    "pipeline": lambda model: make_pipeline("passthrough", model),
    "search of a pipeline": lambda model: GridSearchCV(
        make_pipeline("passthrough", model), {"logisticregression__C": [1]}, cv=2
    ),
}


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("name", HOLDERS)
def test_weights_reach_estimators_inside_of_others(name, routing):
    if routing and name == "search of a pipeline" and Version(sklearn.__version__) < Version("1.8"):
        pytest.skip(f"scikit-learn {sklearn.__version__} routes no weights to the score of a pipeline")
    with config_context(enable_metadata_routing=routing):
        model = LogisticRegression()
        model = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True) if routing else model
        found, plain = (cross_evaluate(HOLDERS[name](model), X, Y, sample_weight=w, metrics=["recall"], split=2)
                        for w in (WEIGHTS, None))  # fmt: skip
        assert not found.failures
        assert sum(found.values("recall")) > sum(plain.values("recall")) or name == "stack"


def test_a_holder_that_refuses_weights_says_so_in_its_run():
    model = TunedThresholdClassifierCV(LOGISTIC, cv=2)
    assert_refused(
        lambda: cross_evaluate(model, X, Y, sample_weight=WEIGHTS), ValueError, "Every run failed; .*metadata_routing"
    )


# ---------------------------------------------------------------- one input, one output

UNSEEDED = [KFold(3, shuffle=True), ShuffleSplit(3), RepeatedStratifiedKFold(n_splits=3, n_repeats=2)]


@pytest.mark.parametrize("split", UNSEEDED, ids=lambda split: type(split).__name__)
def test_a_splitter_without_a_seed_shuffles_by_rng_and_stays_as_it_was(split):
    def tested(rng):
        return [run.part.test.tolist() for run in cross_evaluate(GaussianNB(), X, Y, split=split, rng=rng).runs]

    assert tested(None) == tested(None) == tested(0) != tested(1)
    assert split.random_state is None


def test_a_splitter_inside_an_estimator_shuffles_by_rng_as_well():
    search = GridSearchCV(DecisionTreeClassifier(max_features=1), {"min_samples_leaf": [1, 3, 9, 20]},
                          cv=StratifiedKFold(2, shuffle=True))  # fmt: skip
    one, two = (cross_evaluate(search, X, Y, split=4, metrics=["accuracy"]) for _ in range(2))
    assert one.pooled == two.pooled and search.cv.random_state is None
    for given, used in ((None, False), (7, True)):
        SEEDS.clear()
        chosen = GridSearchCV(LOGISTIC, {"C": [1]}, cv=SeedsKept(2, shuffle=True, random_state=given))
        cross_evaluate(chosen, X, Y, split=4, metrics=["accuracy"])
        assert None not in SEEDS and (set(SEEDS) == {7}) == used


SEEDS = []


class SeedsKept(StratifiedKFold):
    """A splitter that tells by what it was seeded."""

    def split(self, X, y, groups=None):
        SEEDS.append(self.random_state)
        return super().split(X, y, groups)


def test_a_splitter_that_is_a_class_is_refused():
    assert_refused(
        lambda: cross_evaluate(LOGISTIC, X, Y, split=StratifiedKFold), TypeError, r"give an object: StratifiedKFold\(\)"
    )


# ---------------------------------------------------------------- tables of columns


def table_with_words(each):
    """Positives that one number tells, and words of which each stands in so many rows and says nothing."""
    rng = np.random.default_rng(0)
    size = rng.standard_normal(600)
    words = np.array([f"w{i // each}" for i in range(600)])[rng.permutation(600)]
    return {"size": size, "word": words, "ill": (size + 0.5 * rng.standard_normal(600) > 1.2).astype(int)}


def of_columns(folder, table, *words):
    pl.DataFrame(table).write_csv(folder / "rows.csv")
    asked = ["crossval", folder / "rows.csv", "--target", "ill", "--model", "tree", *words]
    return CrossEvaluation.from_json(run_command(*asked, "--format", "json", code=0).stdout)


def test_a_text_of_which_each_row_has_its_own_is_left_out_and_it_says_so(tmp_path):
    table = table_with_words(1)
    found, plain = (
        of_columns(tmp_path, given, "--resample", "over")
        for given in (table, {k: v for k, v in table.items() if k != "word"})
    )
    assert found.pooled == plain.pooled
    left_out = [note for note in found.notes if note.startswith("The column 'word' was left out")]
    assert len(left_out) == 1 and left_out[0][:30] in repr(found)
    assert plain.notes == ("The features are 'size'.",)


def test_words_are_coded_before_rows_are_repeated(tmp_path):
    found = of_columns(tmp_path, table_with_words(2), "--resample", "none", "--resample", "over")
    plain, over = (found[name].summarised("recall").mean for name in ("tree", "tree + over"))
    assert over > plain - 0.05  # coded after that, the words of the repeated rows drive it from .62 to .40


# ---------------------------------------------------------------- what guessing scores


def values_of(name, tables):
    """The metric of each of some tables, class 1 being positive, or the mean over the classes."""
    metric, _, mean = get_metric(name.partition("[")[0]), *name.partition("[")[1:]
    size, total = tables.shape[-1], tables.sum((-2, -1))
    each = []
    for i in range(size) if mean else (1,):
        hits, true, flagged = tables[..., i, i], tables[..., i, :].sum(-1), tables[..., :, i].sum(-1)
        each.append(metric(Counts(hits, true - hits, flagged - hits, total - true - flagged + hits)))
    return np.mean(each, axis=0)


@pytest.mark.parametrize("name", ["g_mean", "ac_score", "f1", "iba", "balanced_accuracy", "f1[average=macro]"])
@pytest.mark.parametrize("classes", [2, 3])
def test_chance_is_the_mean_over_all_shuffles_of_the_predictions_of_each_run(name, classes):
    rng = np.random.default_rng(1)
    y = np.arange(45) % 9 % classes if classes == 3 else (np.arange(45) % 3 == 0).astype(int)
    data = rng.standard_normal((45, 2)) + 0.3 * y[:, None]
    how = {"pos_label": 1} if classes == 3 else {}
    found = cross_evaluate(DecisionTreeClassifier(), data, y, split=3, **how)
    model = next(iter(found.models.values()))
    each, one = [], []
    for run in found.runs:
        codes = np.array([rng.permutation(run.predictions.codes) for _ in range(4000)])
        place = y[run.part.test] * classes + codes + (classes**2 * np.arange(4000))[:, None]
        tables = np.bincount(place.ravel(), minlength=4000 * classes**2).reshape(-1, classes, classes)
        each.append(np.nanmean(values_of(name, tables)))
        one.append(values_of(name, tables.mean(0)))
    told = model.summarised(name)
    assert told.chance == pytest.approx(np.mean(each), abs=0.006 if classes == 2 else 0.02)
    if name in ("g_mean", "iba") and classes == 2:  # the metric of the expected table is another number
        assert abs(np.mean(one) - told.chance) > 0.015


def test_runs_that_all_gave_the_same_value_have_the_interval_of_the_rows():
    silent = DummyClassifier(strategy="constant", constant=0)
    found = cross_evaluate(silent, X, Y)
    recall, rows = found["DummyClassifier"].summarised("recall"), found.evaluation["recall"]
    assert recall.sd == 0 and recall.of_rows and recall.low == recall.mean == 0
    assert recall.high == pytest.approx(rows.high, rel=0.05) and recall.high > 0.01
    assert found.per_class[1].recall.high == recall.high
    assert "to 0.0" in repr(found) and "*" in repr(found)


def test_a_row_left_out_alone_has_the_chance_of_the_merged_table():
    few = np.r_[np.flatnonzero(Y == 1)[:10], np.flatnonzero(Y == 0)[:20]]
    found = cross_evaluate(GaussianNB(), X[few], Y[few], split=LeaveOneOut())
    accuracy = found["GaussianNB"].summarised("accuracy")
    assert accuracy.chance == pytest.approx(chance("accuracy", found.pooled).value)


# ---------------------------------------------------------------- ranking


def test_models_are_ranked_by_the_merged_tables_where_most_runs_are_undefined():
    models = {"none": DummyClassifier(strategy="constant", constant=0), "nb": GaussianNB()}
    found = cross_evaluate(models, X[:60], Y[:60], split=LeaveOneOut())
    rows = found.ranking()
    assert [row.model for row in rows] == ["nb", "none"] and rows[0].pooled > rows[1].pooled
    assert all("ranked by the merged tables" in row.why and row.undefined > 30 for row in rows)
    assert "ranked by the merged tables" in " ".join(repr(found).split()) and "undefined" in repr(found)


def test_models_are_ranked_on_the_runs_in_which_all_are_defined():
    class Careful(GaussianNB):
        def predict(self, X):
            if X[0, 0] > 0:
                raise RuntimeError("a hard part")
            return super().predict(X)

    split = [(np.delete(np.arange(200), np.arange(a, a + 20)), np.arange(a, a + 20)) for a in range(0, 200, 20)]
    found = cross_evaluate({"careful": Careful(), "nb": GaussianNB()}, X, Y, split=split)
    failed = len(found.failures)
    assert 0 < failed <= 5
    careful, nb = found.ranking("accuracy")
    assert careful.mean == nb.mean and nb.undefined == failed
    assert found["nb"].summarised("accuracy").undefined is None
    assert [row.model for row in found.ranking("fit_seconds")] == sorted(
        found.models, key=lambda name: np.nanmean(found[name].values("fit_seconds"))
    )


def test_classes_tell_how_many_rows_were_tested_and_runs_were_undefined():
    found = cross_evaluate(GaussianNB(), X, Y, split=[(OTHERS, NEGATIVES), (np.arange(150), np.arange(150, 200))])
    rows = found.per_class.to_dicts()
    assert rows[1]["rows"] == Y[150:].sum() and rows[0]["rows"] == len(
        set(NEGATIVES) | set(150 + np.flatnonzero(Y[150:] == 0))
    )
    assert rows[1]["recall_undefined"] == 1 and rows[0]["recall_undefined"] is None


def test_a_metric_of_one_class_is_of_that_class():
    names = [
        "recall[class=0]",
        "specificity",
        "recall[class=1]",
        "recall",
        "roc_auc[class=0]",
        "roc_auc[class=1]",
        "roc_auc",
    ]
    found = cross_evaluate(GaussianNB(), X, Y, metrics=names)
    of_no, specificity, of_yes, recall, refused, area_of_yes, area = found.summary
    assert (of_no.mean, of_no.pooled, of_no.chance) == (specificity.mean, specificity.pooled, specificity.chance)
    assert (of_yes.mean, of_yes.low, area_of_yes.mean) == (recall.mean, recall.low, area.mean)
    assert [row.name for row in found.summary] == names and refused.spec.label == 0
    assert refused.why == "roc_auc[class=0] needs the scores of that class; give pos_label=0."


# ---------------------------------------------------------------- results


def test_a_result_is_asked_for_its_models_by_name():
    found = cross_evaluate([GaussianNB(), DummyClassifier()], X, Y)
    assert list(found.models) == ["GaussianNB", "DummyClassifier"] and "GaussianNB" in found and "nb" not in found
    one = cross_evaluate(GaussianNB(), X, Y)
    assert one.summarised("recall") == one["GaussianNB"].summarised("recall")


def test_json_says_what_was_done():
    told = json.loads(cross_evaluate(GaussianNB(), X, Y, split=Folds(4), rng=3).to_json())
    assert {key: told[key] for key in ("schema", "rows", "labels", "positive", "split", "runs", "seed", "notes")} == {
        "schema": 2, "rows": 200, "labels": [0, 1], "positive": 1, "split": "Folds(k=4, repeats=1, stratified=True)",
        "runs": 4, "seed": 3, "notes": [],
    }  # fmt: skip
    assert told["version"] == __version__
    given = cross_evaluate(GaussianNB(), X, Y, split=UNEVEN, rng=np.random.default_rng(3)).to_dict()
    assert given["split"] == "pairs of rows" and given["seed"] is None


def test_without_a_positive_class_it_says_what_to_name():
    words = np.where(Y == 1, "ill", "well")
    found = cross_evaluate(GaussianNB(), X, words)
    assert "pos_label=" in repr(found)
    assert_refused(found.best_threshold, ValueError, "name it with pos_label=")
    asked = repr(cross_evaluate(GaussianNB(), X, words, metrics=["f1"]))
    assert "f1 is about one class; name it with pos_label=" in " ".join(asked.split())
    assert "pos_label" not in repr(cross_evaluate(GaussianNB(), X, words, pos_label="ill"))


def test_one_run_claims_no_interval_of_runs():
    found = cross_evaluate(GaussianNB(), X, Y, split=HoldOut(2))
    assert repr(found).startswith("1 run of GaussianNB") and "Nadeau" not in repr(found)


def test_costs_tell_their_median_and_how_to_repeat_them():
    plain, again = (cross_evaluate(GaussianNB(), X, Y, resources=resources) for resources in (False, True))
    assert plain.cost[0].median == np.median(plain.values("fit_seconds"))
    assert "resources=True" in repr(plain) and "resources=True" not in repr(again)


class Locked(GaussianNB):
    """A classifier that cannot be sent to another process."""

    def __init__(self, lock=None):
        super().__init__()
        self.lock = lock


TREE = DecisionTreeClassifier()


@pytest.mark.parametrize(
    ("attempt", "builtin", "words"),
    [
        (lambda: cross_evaluate(TREE, X, Y, n_jobs=0), ValueError, "how many runs there are at a time"),
        (lambda: cross_evaluate(TREE, X, Y, level=None), ValueError, "level= is a probability"),
        (lambda: cross_evaluate(TREE, X, Y, progress=3), TypeError, "progress= is a function"),
        (lambda: cross_evaluate(Locked(n for n in [1]), X, Y, n_jobs=2), ValueError, "sends the estimators to other"),
        (lambda: cross_evaluate(TREE, X, Y, rng=-1), TypeError, "rng is a NumPy Generator"),
        (lambda: select_tree([TREE, TREE], X, Y), ValueError, "2 candidates were given"),
        (lambda: select_tree(TREE, X, Y, resample=["over", "under"]), ValueError, "2 candidates were given"),
        (lambda: select_tree(TREE, X, Y, variants={"nope": [1]}), TypeError, "names what DecisionTreeClassifier lacks"),
        (lambda: select_tree(TREE, X, Y, complexity=lambda model: "x"), TypeError, "gives a number"),
    ],
)
def test_a_call_that_cannot_be_is_refused_in_one_sentence(attempt, builtin, words):
    assert_refused(attempt, builtin, words)


class Moody(DecisionTreeClassifier):
    """A tree that refuses about every second training part."""

    def fit(self, X, y, sample_weight=None):
        if int(np.abs(X).sum() * 1000) % 2:
            raise RuntimeError("not today")
        return super().fit(X, y, sample_weight)


class Never(Moody):
    def fit(self, X, y, sample_weight=None):
        raise RuntimeError("not today")


def test_a_tree_that_cannot_be_grown_stops_no_other():
    found = select_tree(Moody(), X, Y, rng=1)
    assert found.failures and found.grown and len(found.grown) + len(found.failures) >= 10
    assert "RuntimeError: not today." in found.failures[0] and "fits failed" in repr(found)
    assert_refused(lambda: select_tree(Never(), X, Y), ValueError, "Every fit failed; the first, repeat 1, fold 1")


def test_a_selection_is_strict_json():
    found = select_tree(TREE, X, Y)
    told = json.loads(found.to_json())
    assert told["chosen"]["complexity"] == found.chosen.complexity and len(told["pruned"]) == len(found.pruned)
    assert told["evaluation"]["rows"] == len(told["test_rows"])


def test_the_page_of_a_cross_evaluation_tells_its_runs_and_costs():
    one = cross_evaluate(GaussianNB(), X, Y).to_html()
    assert all(
        words in one for words in ("Over the runs", "Nadeau and Bengio", "fit_seconds", "Each run", "model_bytes")
    )
    assert len(one) < 190 * 1024 and 'id="metrics"' in one
    two = cross_evaluate({"<b>nb": GaussianNB(), "tree": DecisionTreeClassifier()}, X, Y).to_html()
    assert all(words in two for words in ("p_holm", "tree_nodes", "&lt;b&gt;nb")) and "<b>nb" not in two
    assert two.count('class="run"') == 5 * 2 * two.count("data-run-board=")


def test_a_long_message_of_a_model_ends_in_an_ellipsis():
    for given, told in (("nan " * 100, f"{('nan ' * 100)[:300]} ..."), ("Input has NaN...", "Input has NaN.")):
        found = cross_evaluate({"bad": Failing(given), "good": GaussianNB()}, X, Y, split=2)
        assert {run.error for run in found.failures} == {f"ValueError: {told}"}


class Failing(GaussianNB):
    """A model that fails with these words."""

    def __init__(self, words=""):
        super().__init__()
        self.words = words

    def fit(self, *_, **__):
        raise ValueError(self.words)
