"""select_tree: choices on validation parts only, the rule of one standard error; and the models by name."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from checks import assert_refused
from command_line import run_command
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from study_tools import run_own

from steelyard import Folds, HoldOut, interval
from steelyard.results import CrossEvaluation
from steelyard.studies import select_tree

X, Y = make_classification(900, weights=[0.8], flip_y=0.1, random_state=0)
TREE = DecisionTreeClassifier()


@pytest.fixture(scope="module")
def found():
    return select_tree(TREE, X, Y)


def test_the_simplest_within_a_standard_error_of_the_best_is_chosen(found):
    tried = [*found.grown, *found.pruned]
    best = max(trial.value for trial in found.pruned)
    assert found.best.value == max(best, *(trial.value for trial in found.grown))
    assert found.chosen.value >= found.best.value - found.standard_error
    kept = {id(trial.run.part) for trial in found.pruned}
    simpler = [t for t in tried if id(t.run.part) in kept and t.complexity < found.chosen.complexity]
    assert simpler and all(t.value < found.best.value - found.standard_error for t in simpler)
    assert found.chosen.complexity == found.estimator.tree_.node_count < max(t.complexity for t in found.grown) / 2


def test_the_three_best_trees_of_ten_are_pruned(found):
    order = sorted(found.grown, key=lambda trial: -trial.value)
    assert len(found.grown) == 10
    assert {trial.run.part.repeat for trial in found.pruned} == {trial.run.part.repeat for trial in order[:3]}


def test_a_value_is_that_of_the_validation_part(found):
    for trial in [*found.grown[:3], *found.pruned[:3]]:
        rows = trial.run.part.test
        assert trial.value == pytest.approx(f1_score(Y[rows], trial.estimator.predict(X[rows]), average="macro"))


def test_the_standard_error_is_half_of_an_interval_of_that_level(found):
    wide = interval("f1[average=macro]", found.best.run.confusion, level=0.95)
    assert found.standard_error == pytest.approx((wide.high - wide.low) / 2 / 1.96, rel=0.1)


def test_no_choice_sees_the_test_rows(found):
    changed = X.copy()
    changed[found.test_rows] = np.random.default_rng(0).standard_normal((len(found.test_rows), X.shape[1]))
    again = select_tree(TREE, changed, Y)
    assert [trial.row() for trial in again.pruned] == [trial.row() for trial in found.pruned]
    assert again.chosen.row() == found.chosen.row() and again.standard_error == found.standard_error
    assert again.evaluation["mcc"].value < found.evaluation["mcc"].value  # but the judgement does


def test_the_parts_are_disjoint(found):
    held = set(found.test_rows.tolist())
    for trial in [*found.grown, *found.pruned]:
        train, valid = set(trial.run.part.train.tolist()), set(trial.run.part.test.tolist())
        assert not (held & train or held & valid or train & valid)
        assert len(held | train | valid) == len(Y)


def test_the_judgement_is_that_of_the_chosen_tree_on_the_test_rows(found):
    rows = found.test_rows
    assert found.evaluation["f1"].value == pytest.approx(f1_score(Y[rows], found.estimator.predict(X[rows])))
    assert found.evaluation.rows == len(rows) == 225
    assert "On 225 rows that no choice has seen" in repr(found).replace("\n", " ")


def test_one_seed_gives_one_choice():
    one, two = (select_tree(TREE, X, Y, split=3, rng=4) for _ in range(2))
    assert [t.row() for t in one.pruned] == [t.row() for t in two.pruned]
    assert one.evaluation.to_json() == two.evaluation.to_json()


def test_a_tree_in_a_pipeline_is_pruned_as_well():
    found = select_tree(make_pipeline(StandardScaler(), TREE), X, Y, split=HoldOut(2, repeats=2), keep=1, most=10)
    assert len(found.pruned) == 10 and set(found.chosen.params) <= {"decisiontreeclassifier__ccp_alpha"}


def test_any_estimator_with_a_complexity_is_chosen_by_the_same_rule():
    found = select_tree(
        LinearSVC(penalty="l1", dual=False, random_state=0), X, Y, metric="ac_score", split=Folds(3), keep=2,
        variants={"C": [0.005, 0.02, 0.1]}, complexity=lambda fitted: np.count_nonzero(fitted.coef_), resample="over",
    )  # fmt: skip
    assert len(found.pruned) == 6 and 0 < found.chosen.complexity < 20
    forest = select_tree(
        RandomForestClassifier(),
        X,
        Y,
        split=2,
        keep=1,
        variants=[{"n_estimators": [1]}, {"max_depth": [1], "n_estimators": [5]}],
    )
    assert forest.chosen.complexity <= forest.best.complexity


def test_a_lower_value_may_be_the_better_one():
    found = select_tree(TREE, X, Y, metric="expected_cost", split=3)
    assert (
        found.best.value == min(t.value for t in found.pruned)
        and found.chosen.value <= found.best.value + found.standard_error
    )


def test_groups_stay_on_one_side_of_every_split():
    groups = np.arange(900) % 9
    found = select_tree(TREE, X, Y, groups=groups, most=5)
    sides = [found.test_rows] + [part for t in found.grown for part in (t.run.part.train, t.run.part.test)]
    for i in range(1, len(sides), 2):
        three = [set(groups[rows].tolist()) for rows in (found.test_rows, sides[i], sides[i + 1])]
        assert sum(map(len, three)) == 9 and set.union(*three) == set(range(9))


def test_weights_are_taken():
    found = select_tree(TREE, X, Y, sample_weight=np.where(Y == 1, 4.0, 1.0), split=2, keep=1, most=5)
    assert found.evaluation.confusion.weighted


@pytest.mark.parametrize(
    ("options", "builtin", "words"),
    [
        ({"keep": 0}, ValueError, "keep= is a whole number"),
        ({"most": 2.5}, ValueError, "most= is a whole number"),
        ({"test": 1.5}, ValueError, "no choice sees"),
        ({"metric": "prevalence"}, ValueError, "No value of prevalence"),
        ({"estimator": LogisticRegression()}, TypeError, "no tree; give complexity="),
        ({"estimator": RandomForestClassifier(5)}, TypeError, "variants="),
        ({"variants": 3}, TypeError, "variants= lists parameters"),
        ({"groups": np.arange(900) % 2}, ValueError, "three or more"),
        ({"y": np.zeros(900)}, ValueError, "one class only"),
        (
            {"y": np.array(["a", "b", "c"])[np.arange(900) % 3], "metric": "roc_auc[average=macro]"},
            ValueError,
            "no standard error",
        ),
        ({"estimator": DecisionTreeClassifier}, TypeError, "is a class"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, builtin, words):
    given = {"estimator": TREE, "X": X, "y": Y, "split": 2, **options}
    assert_refused(lambda: select_tree(**given), builtin, words)


# ---------------------------------------------------------------- models by name


MODELS = ("logistic", "tree", "forest", "boosting", "naive-bayes", "nearest-mean", "lda")


def crossval(table, target, path, *words):
    """What `steelyard crossval` finds of a table in a file."""
    table.write_parquet(path) if path.suffix == ".parquet" else table.write_csv(path)
    ran = run_command("crossval", path, "--target", target, "--split", 3, *words, "--format", "json", code=0)
    return CrossEvaluation.from_json(ran.stdout)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("file", ["rows.csv", "rows.parquet"])
def test_every_model_by_name_takes_a_table_of_numbers_words_and_gaps(name, file, tmp_path):
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(int)
    size = [None if i % 9 == 0 else x for i, x in enumerate((y + rng.standard_normal(200)).tolist())]
    colour = np.where(rng.random(200) < 0.2 + 0.5 * y, "red", "blue").astype(object)
    colour[::11] = None
    old, ill = rng.random(200) < 0.5, np.where(y, "yes", "no")
    table = pl.DataFrame({"size": size, "colour": colour.tolist(), "old": old, "ill": ill})
    words = ("--model", name, "--pos-label", "yes", "--resample", "over")
    found = crossval(table, "ill", tmp_path / file, *words)
    assert not found.failures and found.values("roc_auc").mean() > 0.6 and list(found.models) == [f"{name} + over"]


def test_several_models_by_name_meet_on_the_same_splits(tmp_path):
    data, y = load_breast_cancer(return_X_y=True)
    table = pl.DataFrame({f"c{i}": column for i, column in enumerate(data.T[:5])} | {"y": 1 - y})
    found = crossval(table, "y", tmp_path / "rows.csv", "--model", "lda", "--model", "nearest-mean")
    assert list(found.models) == ["lda", "nearest-mean"] and len(found.differences()) == 2


def test_a_model_that_is_none_is_refused_with_those_there_are(tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n" + "1,0\n2,1\n" * 20)
    asked = ("crossval", tmp_path / "rows.csv", "--target", "y", "--model")
    assert "Did you mean 'logistic'" in run_command(*asked, "logistik", code=2).stderr
    assert f"There are {', '.join(MODELS)}." in run_command(*asked, "svm", code=2).stderr


@pytest.mark.parametrize(
    ("attempt", "builtin", "words"),
    [
        (lambda: run_own("kalita", {"a": [1, 2] * 20}, "b"), ValueError, "no column 'b'"),
        (lambda: run_own("kalita", {"a": [1, 2] * 20}, "a", model=["tree"]), ValueError, "no column to predict from"),
        (lambda: run_own("kalita", {"a": [1, 2, 3], "b": [1, 2]}, "b"), ValueError, "differ in length"),
        (lambda: run_own("kalita", 3, "b"), TypeError, "table of columns"),
        (lambda: run_own("kalita", {"a": [1, np.inf] * 18, "b": [1, 0] * 18}, "b"), ValueError, "infinity"),
        (
            lambda: run_own("kalita", {"a": np.array(["2020-01-01"] * 40, "M8[D]"), "b": [1, 0] * 20}, "b"),
            TypeError,
            "give numbers or text",
        ),
    ],
)
def test_a_table_that_cannot_be_learned_from_is_refused(attempt, builtin, words):
    assert_refused(attempt, builtin, words)
