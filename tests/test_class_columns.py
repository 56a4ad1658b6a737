"""Columns of scores for each class: skills and pooled areas, frames and patterns, groups, absent classes."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from checks import assert_refused
from command_line import run_command

import steelyard
from steelyard import evaluate, interval

NAMES = ("ham", "spam", "virus")


def frame(n=240, seed=0, names=NAMES):
    """A frame of the truth, a column of probabilities for each class of two models, weights, groups and clusters."""
    rng = np.random.default_rng(seed)
    k = len(names)
    codes = np.r_[np.arange(k), rng.choice(k, n - k, p=np.arange(k, 0, -1) / np.arange(k + 1).sum())]
    data = {"y": np.array(names)[codes]}
    for model, skill in (("p", 1.0), ("q", 1.5)):
        logits = rng.normal(size=(n, k))
        logits[np.arange(n), codes] += skill
        odds = np.exp(logits)
        data |= {f"{model}_{name}": odds[:, i] / odds.sum(1) for i, name in enumerate(names)}
    beside = {"w": rng.uniform(0.5, 2, n), "site": rng.choice(["n", "s"], n), "patient": rng.integers(0, n // 4, n)}
    return pd.DataFrame(data | beside)


def same(a, b):
    return [row.row() for row in a] == [row.row() for row in b]


# ---------------------------------------------------------------- values


@pytest.mark.parametrize("seed", range(40))
def test_skills_and_pooled_areas_equal_scikit_learns(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    binarize = pytest.importorskip("sklearn.preprocessing").label_binarize
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 7))
    y = np.r_[np.arange(k), rng.integers(0, k, 50)]
    P = rng.dirichlet(np.ones(k), len(y)).round(1 + seed % 2) + 1e-2  # ties
    P /= P.sum(1, keepdims=True)
    weight = rng.uniform(0.1, 3, len(y)) if seed % 3 else None
    options = {"sample_weight": weight}
    pairs = [
        (steelyard.d2_log_loss(y, P, **options), metrics.d2_log_loss_score(y, P, **options)),
        (
            steelyard.roc_auc(y, P, average="micro", **options),
            metrics.roc_auc_score(y, P, average="micro", multi_class="ovr", **options),
        ),
        (
            steelyard.average_precision(y, P, average="micro", **options),
            metrics.average_precision_score(binarize(y, classes=range(k)), P, average="micro", **options),
        ),
    ]
    if hasattr(metrics, "d2_brier_score"):
        pairs.append((steelyard.brier_skill_score(y, P, **options), metrics.d2_brier_score(y, P, **options)))
    for ours, theirs in pairs:
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_class_shares_as_probabilities_have_no_skill():
    y = frame().y
    shares = np.tile(y.value_counts(normalize=True).sort_index().to_numpy(), (len(y), 1))
    assert steelyard.d2_log_loss(y, shares) == pytest.approx(0, abs=1e-12)
    assert steelyard.brier_skill_score(y, shares) == pytest.approx(0, abs=1e-12)
    assert steelyard.chance("d2_log_loss", y, y_score=shares).value == pytest.approx(0, abs=1e-12)


def test_a_skill_of_rows_of_one_class_is_undefined_and_says_why():
    P = np.full((4, 3), 1 / 3)
    table = steelyard.d2_log_loss.why(np.array(["a"] * 4), P, labels=["a", "b", "c"])
    assert table == "all rows are of one class"


@pytest.mark.parametrize("name", ["d2_log_loss", "brier_skill_score", "roc_auc[average=micro]"])
def test_a_row_of_frequency_three_is_three_rows(name):
    data = frame(90)
    P = data.filter(like="p_").to_numpy()
    times = np.where(np.arange(90) % 2, 3, 1)
    once = interval(name, data.y, y_score=P, frequency=times)
    often = interval(name, np.repeat(data.y, times), y_score=np.repeat(P, times, axis=0))
    assert (once.value, once.low, once.high) == pytest.approx((often.value, often.low, often.high), rel=1e-9)


def test_pooled_columns_of_a_row_move_together():
    data = frame(200)
    P = data.filter(like="p_").to_numpy()
    found = interval("roc_auc[average=micro]", data.y, y_score=P)
    rng, values = np.random.default_rng(1), []
    for _ in range(200):
        at = rng.integers(0, 200, 200)
        values.append(steelyard.roc_auc(data.y.to_numpy()[at], P[at], average="micro"))
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.std(values), rel=0.2)


# ---------------------------------------------------------------- frames


BY_CLASS = {"p": {name: f"p_{name}" for name in ("virus", "spam", "ham")}}  # in another order than the labels


def test_a_frame_names_the_columns_of_all_classes_by_a_pattern_or_by_class():
    data = frame()
    columns = [f"p_{name}" for name in reversed(NAMES)]  # matched by name, whatever their order
    asked = {"metrics": ["log_loss", "roc_auc[average=macro]", "accuracy"]}
    expected = evaluate(data.y, y_score=data[columns], sample_weight=data.w, **asked)
    for given in (data, pl.from_pandas(data)):
        for score in ("p_*", BY_CLASS):
            found = evaluate(given, true="y", score=score, weight="w", **asked)
            assert same(found, expected)
        assert_refused(lambda given=given: evaluate(given, true="y", score=columns), ValueError, "have 3 models")


def test_a_frame_of_columns_has_clusters_and_groups():
    data = frame()
    found = evaluate(data, true="y", score="p_*", by="site", cluster="patient", metrics=["log_loss"])
    expected = evaluate(
        data.y, y_score=data.filter(like="p_"), by=data.site, cluster=data.patient, metrics=["log_loss"]
    )
    assert same(found, expected)
    assert any("clustered by patient" in sentence for sentence in found.assumed)
    for group in found.groups:
        rows = data[data.site == group.key[0]]
        alone = interval("log_loss", rows.y, y_score=rows.filter(like="p_"), cluster=rows.patient, labels=NAMES)
        assert (group["log_loss"].value, group["log_loss"].high) == pytest.approx((alone.value, alone.high))


def test_groups_show_the_areas_of_all_classes():
    data = frame()
    found = evaluate(data, true="y", score="p_*", by="site")
    assert {"roc_auc[average=macro]", "average_precision[average=macro]"} <= {
        row.name for row in found.groups[0].metrics
    }
    lone = evaluate(data, true="y", score="p_*", by="site", cluster="site")
    assert math.isnan(lone.groups[0]["roc_auc[average=macro]"].low)


def test_columns_without_a_class_are_refused_and_a_class_without_rows_is_declared():
    data = frame()
    present = data[data.y != "virus"]
    for score in ("p_*", {"p": {name: f"p_{name}" for name in NAMES}}):
        assert_refused(
            lambda score=score: evaluate(present, true="y", score=score), ValueError, "declared with labels="
        )
        found = evaluate(present, true="y", score=score, labels=NAMES)
        assert found["log_loss"].value == pytest.approx(
            steelyard.log_loss(present.y, present.filter(like="p_"), labels=NAMES)
        )
        assert "virus" in found["roc_auc[average=macro]"].undefined
    assert_refused(lambda: evaluate(data, true="y", score=["p_ham"]), ValueError, "name it with pos_label=")
    assert_refused(lambda: evaluate(data, true="y", score="z_*"), ValueError, "0 columns are named like")


def test_what_is_saved_of_columns_is_read_back_as_it_was():
    data = frame()
    found = evaluate(data, true="y", score="p_*", by="site")
    read = steelyard.Evaluation.from_json(found.to_json())
    assert read == found and same(read, found)
    assert all("ROC AUC of pairs of classes, macro" in each.to_html() for each in (read, found))


def test_a_metric_of_columns_with_another_range_of_many_classes_may_be_named():
    data = frame()
    assert evaluate(data, true="y", score="p_*", metrics=["brier"])["brier"].value > 0


# ---------------------------------------------------------------- models side by side


def models(data):
    return {model: data.filter(like=f"{model}_").to_numpy() for model in "pq"}


def test_models_are_compared_by_the_columns_of_all_classes_and_by_their_highest():
    data = frame()
    found = steelyard.compare(data.y, models(data))
    rows = {row.metric: row for row in found}
    columns = [f"{model}_{name}" for model in "pq" for name in NAMES]
    for name in ("log_loss", "brier", "top_k_accuracy", "roc_auc[average=macro]", "average_precision[average=macro]"):
        for model, value in (("p", rows[name].value_a), ("q", rows[name].value_b)):
            given = data[[column for column in columns if column.startswith(model)]]
            assert value == pytest.approx(interval(name, data.y, y_score=given).value)
        assert rows[name].low < rows[name].difference < rows[name].high and 0 < rows[name].p_value < 1
    labels = {model: np.array(NAMES)[P.argmax(1)] for model, P in models(data).items()}
    expected = {row.metric: row for row in steelyard.compare(data.y, labels)}
    assert rows["accuracy"].difference == pytest.approx(expected["accuracy"].difference)
    assert len(found.mcnemar) == 1
    assert found.assumed == ("The class with the highest score of a row was taken as its predicted label.",)


def test_the_difference_of_losses_is_students_of_the_rows():
    data = frame()
    row = next(iter(steelyard.compare(data.y, models(data), metrics=["log_loss"])))
    codes = [NAMES.index(label) for label in data.y]
    losses = [-np.log(P[np.arange(len(codes)), codes]) for P in models(data).values()]
    apart = losses[0] - losses[1]
    assert row.difference == pytest.approx(apart.mean())
    assert row.high - row.difference == pytest.approx(1.970 * apart.std(ddof=1) / math.sqrt(len(apart)), rel=1e-3)


@pytest.mark.parametrize(
    "name", ["roc_auc[average=macro]", "roc_auc[average=micro]", "d2_log_loss", "roc_auc[class=spam]"]
)
def test_the_interval_of_a_difference_is_as_wide_as_rows_drawn_again_make_it(name):
    data = frame(300, seed=3)
    row = next(iter(steelyard.compare(data.y, models(data), metrics=[name])))
    rng, moved = np.random.default_rng(2), []
    y, both = data.y.to_numpy(), models(data)
    for _ in range(150):
        at = rng.integers(0, len(y), len(y))
        values = [_value(name, y[at], P[at]) for P in both.values()]
        moved.append(values[0] - values[1])
    assert row.high - row.low == pytest.approx(2 * 1.97 * np.std(moved), rel=0.2)


def _value(name, y, P):
    if name == "d2_log_loss":
        return steelyard.d2_log_loss(y, P)
    if "class" in name:
        return steelyard.roc_auc(y, P[:, 1], pos_label="spam")
    return steelyard.roc_auc(y, P, average="macro" if "macro" in name else "micro")


def test_a_frame_names_the_columns_of_each_model():
    data = frame()
    asked = {"metrics": ["log_loss", "accuracy"], "cluster": "patient", "weight": "w"}
    listed = {"p": [f"p_{name}" for name in reversed(NAMES)], "q": "q_*"}
    found = steelyard.compare(pl.from_pandas(data), true="y", score=listed, **asked)
    named = {model: data.filter(like=f"{model}_") for model in "pq"}
    expected = steelyard.compare(
        data.y, y_score=named, metrics=asked["metrics"], cluster=data.patient, sample_weight=data.w
    )
    assert [row.row() for row in found] == [row.row() for row in expected]
    assert {row.method for row in found if row.metric == "log_loss"} == {"cluster"}
    by_pattern = steelyard.compare(data, true="y", score=["p_*", "q_*"], metrics=["log_loss"])
    assert by_pattern.models == ("p_*", "q_*")


def test_equal_models_do_not_differ_and_one_class_is_compared_by_its_column():
    data = frame()
    P = models(data)["p"]
    for row in steelyard.compare(data.y, {"a": P, "b": P.copy()}, metrics=["log_loss", "roc_auc[average=macro]"]):
        assert row.difference == 0 and row.p_value == 1
    one = steelyard.compare(data.y, models(data), pos_label="spam", metrics=["roc_auc"])
    column = {model: P[:, 1] for model, P in models(data).items()}
    expected = steelyard.compare(data.y, y_score=column, pos_label="spam", metrics=["roc_auc"])
    assert [row.row() for row in one] == [row.row() for row in expected]


def test_three_models_of_columns_have_an_omnibus_test_a_leaderboard_and_are_read_back():
    data = frame()
    both = models(data)
    given = {**both, "mean": (both["p"] + both["q"]) / 2}
    found = steelyard.compare(data.y, given, metrics=["log_loss"])
    assert len(found.omnibus) == 1 and found.leaderboard().rows[0].model == "mean"
    read = type(found).from_json(found.to_json())
    assert read == found and read.leaderboard() == found.leaderboard() and "log loss" in read.to_html().lower()
    with pytest.raises(ValueError, match="compare the rows again"):
        read.ranking("p", "q")


def test_what_columns_of_models_cannot_answer_is_refused_or_said():
    data = frame()
    both = models(data)
    attempts = [
        (lambda: steelyard.compare(data.y, {**both, "one": both["p"][:, 0]}), "has one column"),
        (lambda: steelyard.compare(data.y, {**both, "two": both["p"][:, :2]}), "The model 'two'"),
        (lambda: steelyard.compare(data.y, both, threshold=0.5), "name one with pos_label="),
        (lambda: steelyard.compare(data.y, both, frequency=np.ones(len(data), int)), "leave frequency= out"),
        (lambda: steelyard.compare(data.y, {"p": both["p"]}), "two or more models"),
    ]
    for attempt, words in attempts:
        assert_refused(attempt, ValueError, words)
    rare = data[(data.y != "virus") | (np.arange(len(data)) == np.flatnonzero(data.y == "virus")[0])]
    row = next(iter(steelyard.compare(rare.y, models(rare), metrics=["roc_auc[average=macro]"])))
    assert math.isnan(row.p_value) and "one row" in row.why
    sure = np.eye(3)[both["p"].argmax(1)]
    row = next(iter(steelyard.compare(data.y, y_score={"p": both["p"], "sure": sure}, metrics=["log_loss"])))
    assert math.isnan(row.p_value) and row.why


# ---------------------------------------------------------------- the shell


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "predictions.csv"
    frame().to_csv(path, index=False)
    return str(path)


def test_the_shell_gates_and_compares_columns(predictions, tmp_path):
    saved = str(tmp_path / "base.json")
    assert run_command("report", predictions, "--true", "y", "--score", "q_*", "-o", saved).exit_code == 0
    columns = ["--true", "y", "--score", "p_*"]
    ran = run_command("gate", predictions, *columns, "--require", "roc_auc[average=macro]>=0.5")
    assert ran.exit_code == 0 and "pass  roc_auc[average=macro]" in ran.output
    ran = run_command("gate", predictions, *columns, "--baseline", saved, "--require", "log_loss<=baseline")
    assert ran.exit_code == 1 and "FAIL  log_loss" in ran.output
    ran = run_command("gate", predictions, *columns, "--baseline", saved)
    assert "are not tested for a drop" in ran.output
    ran = run_command("compare", predictions, *columns, "--score", "q_*")
    assert ran.exit_code == 0 and "log_loss" in ran.output and "p_* against q_*" in ran.output
    assert run_command("compare", predictions, *columns, "--pred", "y").exit_code == 2


def test_the_shell_draws_one_class_of_columns_and_says_the_next_command(predictions, tmp_path, monkeypatch):
    monkeypatch.chdir(Path(predictions).parent)  # a long path would be left out
    path = str(tmp_path / "roc.svg")
    ran = run_command("plot", "roc", predictions, "--true", "y", "--score", "p_*", "--pos-label", "spam", "-o", path)
    assert ran.exit_code == 0 and "ROC curve of 240 rows" in ran.output
    ran = run_command("report", Path(predictions).name, "--true", "y", "--score", "p_*")
    assert "--score 'p_*' -o page.html" in " ".join(ran.output.replace("\\\n", " ").split())


def test_the_shell_takes_classes_without_rows_and_their_order(tmp_path):
    path = tmp_path / "part.csv"
    data = frame()
    data[data.y != "virus"].to_csv(path, index=False)
    ran = run_command("report", str(path), "--true", "y", "--score", "p_*")
    assert ran.exit_code == 2 and "is declared with --labels" in ran.output
    words = ("report", str(path), "--true", "y", "--score", "p_*", "--labels", "virus,spam,ham", "--metrics", "rps")
    ran = run_command(*words)
    assert ran.exit_code == 0 and "'virus', 'spam', 'ham', as --labels has them" in " ".join(ran.output.split())


def test_intervals_and_baselines_take_the_columns_of_a_frame():
    data = frame()
    P = data.filter(like="p_")
    found = interval("log_loss", data, true="y", score="p_*", weight="w", cluster="patient")
    expected = interval("log_loss", data.y, y_score=P, sample_weight=data.w, cluster=data.patient)
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    named = steelyard.chance(
        "roc_auc[average=macro]", data, true="y", score={"p": {name: f"p_{name}" for name in NAMES}}
    )
    assert named.value == steelyard.chance("roc_auc[average=macro]", data.y, y_score=P).value == 0.5


def test_runs_of_columns_have_a_pooled_value_and_a_baseline():
    model = pytest.importorskip("sklearn.linear_model").LogisticRegression()
    data = frame(150)
    names = ["log_loss", "roc_auc[average=micro]", "roc_auc[class=spam]"]
    rows = steelyard.cross_evaluate(model, data.filter(like="q_").to_numpy(), data.y.to_numpy(), metrics=names)
    found = {row.spec.name: row for row in rows}
    shares = data.y.value_counts(normalize=True)
    assert found["log_loss"].chance == pytest.approx(-(shares * np.log(shares)).sum())
    assert found["log_loss"].pooled == pytest.approx(found["log_loss"].mean, rel=0.05)
    assert found["roc_auc[class=spam]"].chance == 0.5 < found["roc_auc[average=micro]"].pooled < 1


@pytest.mark.parametrize("seed", range(3))
def test_scores_that_differ_by_rounding_keep_their_order_in_the_micro_interval(seed):
    rng = np.random.default_rng(seed + 1)
    y, odds = rng.integers(0, 30, 2_400), 2 * rng.normal(size=(2_400, 30))
    odds[np.arange(2_400), y] += 4
    p = np.round(np.exp(odds) / np.exp(odds).sum(1, keepdims=True), 2) + 1e-3
    found = steelyard.interval("average_precision[average=micro]", y, y_score=p / p.sum(1, keepdims=True))
    assert found.low < found.value < found.high < found.low + 0.1


def test_scores_that_are_no_probabilities_say_which_row_and_what_is_left_out():
    data = frame()
    p = data[[f"p_{name}" for name in NAMES]].to_numpy()
    found = evaluate(data["y"], y_score=2 * p)
    assert [text for text in found.assumed if "log_loss are left out: row 1 sums to 2 and lies between" in text]
    assert_refused(lambda: found["log_loss"], ValueError, "that sum to 1 in each row; there are none")
    for quiet in (evaluate(data["y"], y_score=p), evaluate(data["y"], y_score=2 * p, metrics=["top_k_accuracy"])):
        assert not [text for text in quiet.assumed if "left out" in text]


def test_columns_that_are_not_of_the_classes_are_refused_by_name():
    p = np.full((12, 4), 0.25)
    shifted = lambda: evaluate(np.arange(12) % 4 + 1, y_score=pd.DataFrame(p))
    assert_refused(shifted, ValueError, "called '0', '1', '2', '3' and the classes 1, 2, 3, 4")
    assert evaluate(np.array([*"abcd"] * 3), y_score=pd.DataFrame(p)).labels == ("a", "b", "c", "d")
    named = pd.DataFrame(p[:, :3] * 4 / 3, columns=[f"p_{name}" for name in NAMES])
    absent = lambda: evaluate(["ham", "spam"] * 6, y_score=named)
    assert_refused(absent, ValueError, "a column for 'virus', and y_true no such row; labels= declares")
    rule = steelyard.best_decision(np.arange(12) % 4, p, "accuracy", folds=0)
    assert_refused(lambda: rule.decide(p[:, :3]), ValueError, r"shape \(12, 3\); this rule needs a column for each")


@pytest.mark.parametrize("asked", [("report", "p_*"), ("threshold", "p_*"), ("compare", "p_*", "q_*")])
def test_an_empty_label_of_a_file_of_columns_is_called_missing(asked, tmp_path):
    command, *patterns = asked
    data = pd.DataFrame(frame(30))
    data.loc[7, "y"] = None
    data.to_csv(tmp_path / "gap.csv", index=False)
    scores = [word for pattern in patterns for word in ("--score", pattern)]
    result = run_command(command, tmp_path / "gap.csv", "--true", "y", *scores, code=2)
    assert "The column 'y' holds missing labels; drop those rows, or give them a label." in result.output
