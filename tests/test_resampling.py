"""Was resampling worth it: the same folds and numbers as by hand, thresholds that see no test row, verdicts in words."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from command_line import run_command
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from steelyard import Folds, Result, interval
from steelyard.exceptions import InputError, SteelyardError
from steelyard.protocol.resampling_result import sampler_verdict
from steelyard.report.figures.resampling import ResamplingDisplay
from steelyard.results import ResamplingStudy
from steelyard.studies import resampling_study

FEW = {"split": 3, "inner": 2}


def rows_of(n=600, share=0.1, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < share * n).astype(int)
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.5 * y
    return X, y


@pytest.fixture(scope="module")
def study():
    X, y = rows_of()
    return resampling_study(LogisticRegression(), X, y, ["over", "under", "class_weight"], **FEW)


def test_ranks_are_those_of_imbalanced_learn_by_hand_on_the_same_folds():
    pytest.importorskip("imblearn")
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline as by_hand
    from imblearn.under_sampling import RandomUnderSampler

    X, y = rows_of()
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    samplers = {"SMOTE": SMOTE(random_state=0), "dropped": RandomUnderSampler(random_state=0)}
    model = make_pipeline(StandardScaler(), LogisticRegression())
    found = resampling_study(model, X, y, samplers, split=folds, inner=2, metrics=["roc_auc", "average_precision"])
    hands = {"plain": model} | {
        name: by_hand(StandardScaler(), sampler, LogisticRegression()) for name, sampler in samplers.items()
    }
    for metric in ("roc_auc", "average_precision"):
        for name, pipeline in hands.items():
            values = cross_val_score(pipeline, X, y, cv=folds, scoring=metric)
            ours = found.value(name, metric)
            assert (ours.mean, ours.sd) == (pytest.approx(values.mean()), pytest.approx(values.std(ddof=1)))
    named = resampling_study(model, X, y, "smote", split=folds, inner=2, metrics=["roc_auc"])
    assert named.samplers == ["SMOTE"]


def numbered(X):
    """The features, and one more that tells the rows apart and nothing else."""
    return np.column_stack([X, 1e-9 * np.arange(len(X))])


def rows_in(X):
    return np.round(1e9 * X[:, -1]).astype(int)


class Watched(LogisticRegression):
    """Knows each row by its last feature, and keeps the rows that it was fitted on and those that it was asked about."""

    asked: ClassVar = []

    def fit(self, X, y, sample_weight=None):
        self.fitted_on_ = rows_in(X)
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        self.asked.append((self.fitted_on_, rows_in(X)))
        return super().predict_proba(X)


@pytest.fixture
def watched(monkeypatch):
    monkeypatch.setattr(Watched, "asked", [])
    return Watched


def test_no_test_row_chooses_a_threshold(watched):
    X, y = rows_of(300, 0.2)
    order = np.random.default_rng(1).permutation(300)
    pair = [(order[:200], order[200:])]
    turned = y.copy()
    turned[order[200:]] = 1 - turned[order[200:]]
    first, other = (
        resampling_study(watched(), numbered(X), labels, ["over"], split=pair, inner=3, metrics=["mcc"], rng=0)
        for labels in (y, turned)
    )
    for name in ("plain", "over"):  # at the same threshold what is turned round has MCC the other way round
        value = first.value(name, "mcc").mean
        assert value > 0.1 and other.value(name, "mcc").mean == pytest.approx(-value, rel=1e-12)
    inner = [rows for fitted, rows in watched.asked if len(np.unique(fitted)) < 200]
    assert {*np.concatenate(inner)} == {*order[:200]}


def test_groups_stay_together_in_the_folds_that_choose_thresholds(watched):
    X, y = rows_of(200, 0.3)
    groups = np.arange(200) % 20
    resampling_study(watched(), numbered(X), y, ["over"], split=GroupKFold(4), groups=groups, inner=3, metrics=["mcc"])
    assert len(watched.asked) >= 4 * (1 + 3)
    for fitted, rows in watched.asked:
        assert not np.intersect1d(groups[fitted], groups[rows]).size


def test_differences_are_paired_by_fold_and_tested_together(study):
    rows = [study.difference(name) for name in study.samplers]
    ordered = sorted(rows, key=lambda row: row.p_value)
    steps = [(len(rows) - i) * row.p_value for i, row in enumerate(ordered)]
    assert [row.p_holm for row in ordered] == pytest.approx(np.minimum(np.maximum.accumulate(steps), 1))
    for row, verdict in zip(rows, study, strict=True):
        assert (verdict.gain, verdict.p_holm) == (row.difference, row.p_holm)
        gap = study.value(verdict.sampler).mean - study.value("plain").mean
        assert row.difference == pytest.approx(gap)
        assert verdict.seeming == study.difference(verdict.sampler, use="default threshold").difference
    worse = study.difference("over", "log_loss")
    assert worse.difference > 0  # which is a loss


def test_the_plain_model_with_another_threshold_or_prior_needs_no_sampler(study):
    assert study.moved().difference > 0.2
    assert study.moved("equal prior").difference > 0.2
    (sentence,) = [text for text in study.verdict if text.startswith("Moving the threshold of the plain model")]
    assert "without resampling" in sentence
    assert study.value("plain", use="default threshold").mean < study.value("plain").mean - 0.2


def test_a_corrected_prior_mends_the_probabilities_that_resampling_shifts(study):
    for name in study.samplers:
        before, after = (
            study.calibrations[title]["observed_to_expected"].value for title in (name, f"{name}, prior corrected")
        )
        assert before < 0.6
        assert 0.75 < after < 1.3
    assert study.calibrations["plain"]["observed_to_expected"].value == pytest.approx(1, abs=0.1)
    assert {row.model for row in study.costs} == {"plain", *study.samplers}


def _probability_sentence(found):
    return next(sentence for sentence in found.verdict if sentence.startswith("Positives observed"))


@pytest.mark.parametrize(
    ("low", "high", "p_value", "words"),
    [
        (0.845, 1.11, 1e-6, "correct_prior corrects that for under (0.978 (0.845 to 1.11))."),
        (0.214, 0.317, np.nan, "correct_prior does not correct that for under (0.266 (0.214 to 0.317))."),
        (0.214, 0.317, 0.5, "correct_prior does not correct that for under (0.266 (0.214 to 0.317))."),
        (np.nan, np.nan, np.nan, "Whether correct_prior corrects that for under is not known."),
    ],
)
def test_whether_a_prior_was_corrected_is_judged_by_the_mean_and_may_be_not_known(study, low, high, p_value, words):
    name = "under, prior corrected"
    after = study.calibrations[name]
    value = np.nan if np.isnan(low) else (low + high) / 2
    rows = type(after.metrics)(
        replace(row, value=value, low=low, high=high) if row.metric == "observed_to_expected" else row
        for row in after.metrics
    )
    parts = {part: study.calibrations[part] for part in ("plain", "under")}
    edited = replace(study, calibrations={**parts, name: replace(after, metrics=rows, p_value=p_value)})
    assert words in _probability_sentence(edited)


DIFFERENCES = {
    "helps": (0.05, 0.03, 0.07, 0.001, "S raises AC-score by 0.0500 (0.0300 to 0.0700) beyond a moved threshold."),
    "hurts": (-0.05, -0.07, -0.03, 0.001, "S lowers AC-score by 0.0500 (0.0300 to 0.0700), each model"),
    "same": (0.005, 0.001, 0.009, 0.001, "Moving the threshold gives the same as S for free: AC-score differs by"),
    "no gain": (-0.02, -0.05, 0.01, 0.2, "changes by -0.0200 (-0.0500 to 0.0100), which excludes gains above 0.0100."),
    "open": (0.03, -0.01, 0.07, 0.2, "No gain of 0.0200 or more by S could be shown: AC-score changes by 0.0300"),
    "failed": (np.nan,) * 4 + ("S could not be judged: too few rows.",),
}


def compared(study, metric, gain, low, high, p):
    """A difference of a sampler from the plain model by a metric, over 15 folds."""
    spec = interval(metric, [0, 1, 0, 1], y_score=[0.2, 0.7, 0.4, 0.6]).spec if metric == "brier" else study.spec
    numbers = {"difference": gain, "low": low, "high": high, "p_value": p, "p_holm": p}
    return replace(study.difference("over"), spec=spec, runs=15, **numbers)


def test_a_gain_of_less_than_the_margin_is_no_help(study):
    test = compared(study, "ac_score", 0.015, 0.005, 0.025, 0.001)
    assert sampler_verdict("S", test, 0.3, 0.02, 0.95).verdict == "open"
    assert sampler_verdict("S", test, 0.3, 0.9, 0.95).verdict == "same"
    assert sampler_verdict("S", test, 0.3, 0, 0.95).verdict == "helps"


@pytest.mark.parametrize("kind", DIFFERENCES)
def test_a_verdict_follows_from_the_interval_the_test_and_the_margin(kind, study):
    gain, low, high, p, words = DIFFERENCES[kind]
    test = compared(study, "ac_score", gain, low, high, p)
    verdict = sampler_verdict("S", test, 0.3, 0.02, 0.95, why="too few rows.")
    assert verdict.verdict == kind
    assert words in verdict.sentence
    assert ("is the threshold's" in verdict.sentence) == (kind in ("same", "no gain"))


def test_a_gain_of_a_metric_that_is_best_low_is_a_fall(study):
    test = compared(study, "brier", -0.05, -0.07, -0.03, 0.001)
    verdict = sampler_verdict("S", test, np.nan, 0.02, 0.95)
    assert (verdict.verdict, verdict.gain, verdict.low, verdict.high) == ("helps", 0.05, 0.03, 0.07)
    assert verdict.sentence.startswith("S lowers Brier score by 0.0500")


def test_resampling_wins_where_the_fit_itself_suffers_and_the_metrics_that_lose_are_named():
    rng = np.random.default_rng(0)
    y = (rng.random(1500) < 0.08).astype(int)
    X = rng.normal(size=(1500, 4))
    X[y == 1] *= 0.4
    stopped = DecisionTreeClassifier(min_impurity_decrease=0.006)
    found = resampling_study(stopped, X, y, ["over"], split=Folds(5), inner=3)
    assert found["over"].verdict == "helps"
    assert found.headline.startswith("Resampling was worth it by AC-score: over raises AC-score by")
    assert found["over"].sentence not in found.verdict[1:]
    assert any("By other metrics over is better by" in sentence for sentence in found.verdict)
    by_mcc = resampling_study(stopped, X, y, ["over"], metric="mcc", split=2, inner=2)
    assert by_mcc["over"].verdict == "failed"  # a tree that never splits flags nobody, and its MCC is undefined
    assert by_mcc.headline == "No sampler could be judged."


def test_a_metric_of_scores_and_a_model_without_probabilities_are_judged_too():
    X, y = rows_of(300, 0.2)
    found = resampling_study(LinearSVC(), X, y, "over", metric="roc_auc", metrics=["mcc"], **FEW)
    assert (found["over"].verdict, found.calibrations) == ("same", {})
    assert np.isnan(found["over"].seeming)
    assert {row.name for row in found.values} == {"roc_auc", "mcc"}
    assert "equal prior" not in {str(row.model).rsplit(", ")[-1] for row in found.values}


def test_a_sampler_that_fails_is_named_with_its_reason_and_the_others_are_kept():
    class Fails:
        def fit_resample(self, X, y):
            raise ValueError("too few neighbours")

    X, y = rows_of(200, 0.2)
    found = resampling_study(LogisticRegression(), X, y, {"bad": Fails(), "over": "over"}, **FEW)
    assert found["bad"].verdict == "failed"
    assert "bad could not be judged: ValueError: too few neighbours." in found.verdict
    assert found.notes[-1].startswith("3 of 3 runs of bad failed")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"samplers": ["SMOT"]}, "No sampler is called 'SMOT'. Did you mean"),
        ({"samplers": []}, "samplers= is empty"),
        ({"samplers": [None]}, "leave None out of samplers="),
        ({"samplers": {"plain": "over"}}, "A sampler cannot be called 'plain'"),
        ({"samplers": ["class_weight"], "estimator": KNeighborsClassifier()}, "takes no class_weight"),
        ({"inner": 1}, "inner= is a number of folds, 2 or more, not 1."),
        ({"margin": -1}, "margin= is 0 or more, not -1."),
        ({"metric": "prevalence"}, "prevalence cannot judge samplers"),
        ({"y": np.arange(60) % 3}, "is about two classes, and y holds 3"),
        ({"y": np.array(["ham", "spam"])[np.arange(60) % 2]}, "pos_label="),
        ({"y": (np.arange(60) < 2).astype(int), "split": 2}, "has 1 rows of class 1"),
    ],
)
def test_what_cannot_be_studied_is_refused_in_one_sentence(given, sentence):
    whole = {"estimator": LogisticRegression(), "X": rows_of(60)[0], "y": np.arange(60) % 2, **FEW, **given}
    with pytest.raises(SteelyardError) as refused:
        resampling_study(**whole)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_imbalanced_learn_its_samplers_are_refused_and_ours_work(monkeypatch):
    for name in ("imblearn", *(f"imblearn.{part}" for part in ("over_sampling", "under_sampling", "combine"))):
        monkeypatch.setitem(sys.modules, name, None)
    X, y = rows_of(120, 0.3)
    with pytest.raises(InputError, match="not installed; 'pip install imbalanced-learn' brings it"):
        resampling_study(LogisticRegression(), X, y, "SMOTE")
    assert resampling_study(RidgeClassifier(), X, y, **FEW).samplers == ["over", "under", "class_weight"]


def test_a_study_is_saved_shown_and_drawn(study):
    assert ResamplingStudy.from_json(study.to_json()) == study
    text = " ".join(repr(study).split())
    assert all(name in text for name in ("Nadeau and Bengio", "equal prior", "over, prior corrected", "fit seconds"))
    page = study.to_html(source="mine.csv")
    assert study.headline in page
    assert "data:image/svg+xml;base64" in page
    drawn = ResamplingDisplay.from_study(study)
    frame = drawn.frame()
    assert {row["at"] for row in frame if row["metric"] == "roc_auc"} == {"best threshold"}
    assert frame[0]["metric"] == "ac_score"
    assert len(drawn.ax_.flat) == 2
    assert all(len(panel.get_xticks()) <= 6 for panel in drawn.ax_.flat)  # more labels overlap in half a page
    with pytest.raises(SteelyardError, match="not int"):
        ResamplingDisplay.from_study(3)


def test_the_shell_studies_a_table_and_says_the_same_as_python(tmp_path):
    X, y = rows_of(240, 0.2)
    path, out = tmp_path / "mine.csv", tmp_path / "page.html"
    lines = [f"{a},{b},{'yes' if label else 'no'}" for (a, b, _), label in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,ill", *lines]))
    words = ["resampling", "--data", str(path), "--target", "ill", "--samplers", "over,under", "--folds", "3"]
    words += ["--repeats", "1", "--inner", "2", "--metrics", "mcc"]
    ran = run_command(*words, "--format", "json", code=0)
    found = Result.from_json(json.loads(ran.stdout))
    assert (found.samplers, found.setting["positive"]) == (["over", "under"], "yes")
    assert "by Matthews correlation" in found.headline  # the first metric that is named decides
    assert any("by convention" in note for note in found.notes)
    assert run_command(*words, "-o", out).exit_code == 0
    assert found.headline.split(":")[0] in out.read_text()
    wrong = run_command(*words[:5], "--samplers", "owner")
    assert (wrong.exit_code, "No sampler is called 'owner'" in wrong.output) == (2, True)
