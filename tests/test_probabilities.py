"""A column of probabilities for each class: values, intervals, evaluations, scorers and the shell."""

import math

import numpy as np
import pytest
from checks import assert_refused
from command_line import run_command
from tensors import array_tables, column_intervals

import steelyard
from steelyard import evaluate, interval

LABELS = np.array(["a", "b", "c", "d"])
AVERAGED = [
    "roc_auc[average=macro]",
    "roc_auc[average=weighted]",
    "roc_auc[multi_class=ovo, average=macro]",
    "roc_auc[multi_class=ovo, average=weighted]",
    "average_precision[average=macro]",
    "average_precision[average=weighted]",
]
OWN = ["log_loss", "brier", "top_k_accuracy"]


def rows(n=300, shares=(0.55, 0.25, 0.14, 0.06), signal=1.5, seed=0):
    """Labels, their places, and probabilities that lean to them."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(len(shares), n, p=shares)
    logits = rng.standard_normal((n, len(shares)))
    logits[np.arange(n), codes] += signal
    odds = np.exp(logits)
    return LABELS[codes], codes, odds / odds.sum(1, keepdims=True)


# ---------------------------------------------------------------- values


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_equal_scikit_learns(k, weighted):
    metrics = pytest.importorskip("sklearn.metrics")
    y, _, P = rows()
    P = P.round(1) + 1e-3  # ties
    P /= P.sum(1, keepdims=True)
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y)) if weighted else None
    expected = metrics.top_k_accuracy_score(y, P, k=k, sample_weight=weight)
    assert steelyard.top_k_accuracy(y, P, k=k, sample_weight=weight) == pytest.approx(expected, rel=1e-12)
    for name in ("log_loss", "brier_score_loss"):
        ours = steelyard.get_metric(name.removesuffix("_score_loss"))
        expected = getattr(metrics, name)(y, P, sample_weight=weight)
        assert ours(y, P, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


def test_two_columns_of_two_classes_are_one_answer_with_one_column():
    rng = np.random.default_rng(41)
    y = rng.integers(0, 2, 150)
    p = np.clip(0.3 + 0.4 * y + 0.2 * rng.normal(size=150), 0.01, 0.99)
    for name in ("log_loss", "brier", "d2_log_loss"):
        for options in ({}, {"design": "stratified"}, {"sample_weight": 1.0 + y}):
            one = steelyard.interval(name, y, y_score=p, **options)
            two = steelyard.interval(name, y, y_score=np.column_stack([1 - p, p]), **options)
            assert (two.value, two.low, two.high) == pytest.approx((one.value, one.low, one.high)), (name, options)


def test_labels_are_taken_of_columns_with_a_word():
    rng = np.random.default_rng(42)
    y, p = np.arange(90) % 3, rng.dirichlet(np.ones(3), 90)
    found = steelyard.interval("accuracy", y, y_score=p)
    assert found.value == np.mean(p.argmax(1) == y)
    assert found.assumed == ("The class with the highest score of a row was taken as its predicted label.",)


def test_top_k_of_two_classes_is_accuracy_at_one_half():
    y, score = [0, 0, 1, 1, 1], np.array([0.2, 0.6, 0.5, 0.9, 0.1])
    assert steelyard.top_k_accuracy(y, score, k=1) == steelyard.accuracy(y, (score >= 0.5).astype(int))
    assert steelyard.top_k_accuracy(y, np.column_stack([1 - score, score]), k=1) == 0.6
    assert steelyard.top_k_accuracy(y, score) == 1


def test_scores_that_are_no_probabilities_have_areas_and_top_k_and_no_losses():
    y, _, P = rows()
    evaluation = evaluate(y, y_score=np.log(P))
    assert evaluation["roc_auc[average=macro]"].value == steelyard.roc_auc(y, np.log(P), average="macro")
    assert "top_k_accuracy" in evaluation
    assert "log_loss" not in evaluation
    assert_refused(lambda: interval("log_loss", y, y_score=np.log(P)), ValueError, "needs probabilities")


def test_tables_of_rows_merge_whatever_the_order_of_their_classes():
    y, _, P = rows()
    weight = np.arange(300.0)
    one = array_tables.probability_table(y[:100], P[:100], sample_weight=weight[:100])
    other = array_tables.probability_table(y[100:], P[100:][:, ::-1], labels=list("dcba"), sample_weight=weight[100:])
    for metric, average in ((steelyard.log_loss, "native"), (steelyard.roc_auc, "macro")):
        expected = metric(y, P, average=average, sample_weight=weight)
        assert metric(one + other, average=average) == pytest.approx(expected, rel=1e-12)
    assert_refused(lambda: one + array_tables.probability_table([0, 1], np.eye(2)), ValueError, "different classes")


# ---------------------------------------------------------------- intervals


@pytest.mark.parametrize("name", [*OWN, *AVERAGED])
def test_every_metric_of_columns_has_an_interval_around_its_value(name):
    y, _, P = rows()
    found = interval(name, y, y_score=P)
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(interval([name], y, y_score=P)[0].value, rel=1e-15)
    wide, narrow = interval(name, y, y_score=P, level=0.99), interval(name, y, y_score=P, level=0.5)
    assert wide.low < found.low < narrow.low
    assert narrow.high < found.high < wide.high


@pytest.mark.parametrize("name", [*OWN, *AVERAGED[:4]])
def test_intervals_do_not_know_scale_or_order_and_count_frequencies_as_rows(name):
    y, _, P = rows()
    found = interval(name, y, y_score=P)
    order = np.random.default_rng(2).permutation(len(y))
    times = np.random.default_rng(3).integers(0, 4, len(y))
    many = np.repeat(np.arange(len(y)), times)
    for same, other in (
        (found, interval(name, y[order], y_score=P[order])),
        (found, interval(name, y, y_score=P, sample_weight=np.full(len(y), 7.0))),
        (interval(name, y[many], y_score=P[many]), interval(name, y, y_score=P, frequency=times)),
    ):
        assert [other.value, other.low, other.high] == pytest.approx([same.value, same.low, same.high], rel=1e-9)


@pytest.mark.parametrize("name", [*OWN, *AVERAGED[:4]])
def test_clusters_of_copies_are_as_wide_as_their_rows_alone(name):
    """Each row ten times, its copies a cluster: the interval is that of the rows, wider by Student's t at most."""
    y, _, P = rows(400, signal=0.7)
    found = interval(name, y, y_score=P)
    many = np.repeat(np.arange(400), 10)
    clustered = interval(name, y[many], y_score=P[many], cluster=many)
    ratio = (clustered.high - clustered.low) / (found.high - found.low)
    assert 0.97 < ratio < 1.15
    assert (
        interval(name, y[many], y_score=P[many]).high - interval(name, y[many], y_score=P[many]).low
        < (found.high - found.low) / 2
    )


def test_one_class_and_each_class_have_one_interval():
    y, _, P = rows()
    for name in ("roc_auc", "average_precision"):
        each = interval(f"{name}[average=None]", y, y_score=P)
        for i, label in enumerate("abcd"):
            one = interval(f"{name}[class={label}]", y, y_score=P)
            column = interval(name, y, y_score=P[:, i], pos_label=label)
            assert (one.value, one.low, one.high) == (each.value[i], each.low[i], each.high[i])
            assert (one.value, one.low, one.high) == (column.value, column.low, column.high)


def test_a_perfect_ranking_is_not_taken_for_certain():
    codes = np.repeat(np.arange(3), [40, 8, 5])
    P = np.full((53, 3), 0.05)
    P[np.arange(53), codes] = 0.9
    found = interval("roc_auc[average=macro]", codes, y_score=P)
    assert found.value == found.high == 1
    assert 0.7 < found.low < 0.97


def test_the_brier_score_of_many_classes_reaches_2_and_says_so():
    y, P = [0, 1, 2] * 5, np.roll(np.eye(3), 1, axis=1)[[0, 1, 2] * 5]
    found = interval("brier", y, y_score=P)
    assert found.value == found.high == 2
    assert found.spec.metric.range == (0, 2)
    assert interval("brier", [0, 1] * 5, y_score=np.eye(2)[[0, 1] * 5]).spec.metric.range == (0, 1)


def test_where_there_is_no_interval_the_reason_is_given():
    y, _, P = rows()
    sure = P.copy()
    sure[0] = np.where(y[0] == LABELS, 0.0, 1 / 3)
    found = interval("log_loss", y, y_score=sure)
    assert found.value == math.inf
    assert math.isnan(found.low)
    assert found.why == "1 row was given probability 0 for what came true"
    absent = interval("roc_auc[average=macro]", y, y_score=np.column_stack([P, np.zeros(300)]), labels=list("abcde"))
    assert math.isnan(absent.value)
    assert absent.why == "class 'e': no positives"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda y, P: interval("roc_auc", y, y_score=P), "needs average='macro'"),
        (lambda y, P: interval("log_loss", y, y_score=P, cluster=np.zeros(300)), "one cluster only"),
        (lambda y, P: interval("log_loss", y, y_score=P, cluster=np.arange(9)), "cluster has 9"),
        (lambda y, P: interval("log_loss", y, y_score=P, prevalence=0.5), "4 classes need 4 shares"),
        (lambda y, P: interval("log_loss", y, y_score=P, method="delong"), "these do: student"),
        (lambda y, P: interval("log_loss", y, y_score=P[:, :3]), "a column for each"),
        (lambda y, P: evaluate(y, y_score=P, threshold=0.3), "has a column for each of 4 classes"),
        (lambda y, P: evaluate(y, y_score=P, metrics=["roc_auc"]), r"roc_auc\[average=macro\]"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_sentence(call, words):
    y, _, P = rows()
    assert_refused(lambda: call(y, P), ValueError, words)


# ---------------------------------------------------------------- evaluate


def test_an_evaluation_holds_the_metrics_of_columns_beside_those_of_the_highest():
    y, codes, P = rows()
    evaluation = evaluate(y, y_score=P)
    for name in [*OWN, *AVERAGED[:3], "average_precision[class=d]", "roc_auc[class=a]"]:
        row, alone = evaluation[name], interval(name, y, y_score=P)
        assert (row.value, row.low, row.high) == (alone.value, alone.low, alone.high), name
        assert row.chance != row.value
    assert evaluation["accuracy"].value == np.mean(P.argmax(1) == codes)
    assert "highest score of a row" in evaluation.assumed[0]
    assert type(evaluation).from_json(evaluation.to_json()) == evaluation
    assert "roc_auc[average=macro]" in {row.name for row in evaluation.shown()}
    named = ["log_loss", "recall[class=a]", "average_precision[class=d]", "accuracy", "roc_auc[average=macro]"]
    assert [row.name for row in evaluate(y, y_score=P, metrics=named)] == named


def test_given_predictions_are_kept_beside_the_columns():
    y, _, P = rows()
    always = np.full(300, "a")
    evaluation = evaluate(y, always, y_score=P)
    assert evaluation["accuracy"].value == np.mean(y == "a")
    assert evaluation["log_loss"].value == steelyard.log_loss(y, P)
    assert not evaluation.assumed


def test_one_class_of_many_and_two_classes_are_read_by_their_column():
    y, codes, P = rows()
    by_column, by_all = (evaluate(y, y_score=score, pos_label="b") for score in (P[:, 1], P))
    assert by_all == by_column
    two = np.column_stack([1 - P[:, 0], P[:, 0]])
    assert evaluate((codes == 0).astype(int), y_score=two) == evaluate((codes == 0).astype(int), y_score=P[:, 0])


def test_weights_and_clusters_reach_the_metrics_of_columns():
    y, _, P = rows()
    weight, patient = np.random.default_rng(4).uniform(0.5, 2, 300), np.arange(300) // 3
    for options in ({"sample_weight": weight}, {"cluster": patient}):
        row, alone = evaluate(y, y_score=P, **options)["log_loss"], interval("log_loss", y, y_score=P, **options)
        assert (row.value, row.low, row.high) == (alone.value, alone.low, alone.high)


# ---------------------------------------------------------------- scorers, cross-validation, the shell


@pytest.fixture(scope="module")
def problem():
    datasets = pytest.importorskip("sklearn.datasets")
    return datasets.make_classification(300, n_classes=4, n_informative=5, weights=[0.55, 0.2, 0.15], random_state=0)


def test_scorers_of_many_classes_equal_scikit_learns(problem):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=500).fit(*problem)
    for ours, theirs in (
        (steelyard.scorer("log_loss"), "neg_log_loss"),
        (steelyard.scorer("top_k_accuracy", k=2), "top_k_accuracy"),
        (steelyard.scorer("roc_auc", average="macro"), "roc_auc_ovr"),
    ):
        from sklearn.metrics import get_scorer

        assert ours(model, *problem) == pytest.approx(get_scorer(theirs)(model, *problem), rel=1e-12)


def test_cross_evaluation_of_many_classes_asks_no_average_of_a_loss(problem):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    X, y = problem
    named = ["log_loss", "brier", "average_precision[class=3]"]
    found = steelyard.cross_evaluate(LogisticRegression(max_iter=500), X, y, metrics=named)
    rows = {row.name: row for row in found.summary}
    assert all(rows[name].low <= rows[name].mean <= rows[name].high for name in named)
    assert rows["brier"].spec.metric.range == (0, 2)
    ranked = {row.name for row in steelyard.cross_evaluate(LinearSVC(), X, y).summary}
    assert "top_k_accuracy" in ranked
    assert "log_loss" not in ranked  # its scores are no probabilities


@pytest.fixture
def file(tmp_path):
    """A file whose columns of probabilities stand in another order than the classes."""
    y, _, P = rows()
    lines = ["y,p_d,p_a,p_c,p_b,w,patient"]
    for i, (label, row) in enumerate(zip(y, P, strict=True)):
        lines.append(",".join([label, *(f"{row[k]:.17g}" for k in (3, 0, 2, 1)), f"{1 + i % 3}", f"{i // 2}"]))
    path = tmp_path / "p.csv"
    path.write_text("\n".join(lines))
    return path


def test_the_shell_matches_columns_to_classes_by_name(file):
    y, _, P = rows()
    ran = run_command("report", file, "--true", "y", "--score", "p_*", "--format", "json")
    found = steelyard.Evaluation.from_json(ran.stdout)
    assert found.columns == {"true": "y", "scores": "p_*"}
    for row in evaluate(y, y_score=P):
        assert found[row.name].value == pytest.approx(row.value, rel=1e-12, nan_ok=True), row.name
    options = ("--weight", "w", "--metrics", "log_loss", "--format", "json")
    weighted = steelyard.Evaluation.from_json(
        run_command("report", file, "--true", "y", "--score", "p_*", *options).stdout
    )
    expected = interval("log_loss", y, y_score=P, sample_weight=1 + np.arange(300) % 3)
    assert weighted["log_loss"].high == pytest.approx(expected.high, rel=1e-9)
    options = ("--cluster", "patient", "--metrics", "log_loss", "--format", "json")
    clustered = steelyard.Evaluation.from_json(
        run_command("report", file, "--true", "y", "--score", "p_*", *options).stdout
    )
    expected = interval("log_loss", y, y_score=P, cluster=np.arange(300) // 2)
    assert clustered["log_loss"].low == pytest.approx(expected.low, rel=1e-9)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--score", "q_*"], "0 columns are named like 'q_*'"),
        (["--score", "p_a"], "name it with --pos-label"),
        (
            ["--score", "p*"],
            "The columns like 'p*' are of '_d', '_a', '_c', '_b', 'atient' and the truth holds 'a', 'b'",
        ),
        (["--score", "p_*", "--score", "p_a"], "--score takes one value and was given 2"),
        (["--score", "p_*", "--threshold", "0.3"], "--threshold is for the scores of one positive class"),
    ],
)
def test_the_shell_refuses_columns_that_do_not_match(file, words, sentence):
    ran = run_command("report", file, "--true", "y", *words)
    assert ran.exit_code == 2
    assert sentence in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not ran.stdout


# ---------------------------------------------------------------- coverage


def test_intervals_hold_the_true_values_with_few_rows_of_a_rare_class():
    """Three classes, about 6 rows in the rarest: a quick look at what benchmarks/coverage_probabilities.py measures."""
    from benchmarks.coverage_probabilities import Setting, coverage

    names = ("roc_auc[average=macro]", "log_loss", "brier", "top_k_accuracy[k=1]")
    found = coverage(Setting(3, 6, 3, 2.0, False, 1.0), np.random.default_rng(8), 120, names)
    for name in names:
        assert found[name] > 0.87, (name, found)  # four standard errors below 95 %


def test_losses_of_a_classifier_that_is_hardly_ever_wrong_are_covered():
    """Half of the test sets have no error in them, which carry most of the loss: Student's t covers 69 and 83 %."""
    from benchmarks.coverage_probabilities import Setting, coverage

    names = ("brier", "log_loss")
    found = coverage(Setting(3, 12, 2.6, 4.3, False, 1.8), np.random.default_rng(9), 100, names)
    assert min(found[name] for name in names) >= 0.95, found


def test_log_loss_has_no_upper_limit_where_other_classes_have_probability_0():
    y = np.repeat([0, 1, 2], 20)
    P = np.where(y[:, None] == np.arange(3), 1.0, 0.0) * 0.8 + [[0.2, 0.0, 0.0]]
    P /= P.sum(1, keepdims=True)
    assert interval("log_loss", y, y_score=P).high == np.inf
    assert interval("brier", y, y_score=P).high <= 2


@pytest.mark.parametrize("name", [*OWN, *AVERAGED])
def test_widths_are_those_of_a_long_bootstrap(name):
    """With rows enough an interval is as wide as the values of resampled rows are spread, whatever the formula."""
    y, _, P = rows(1500, shares=(0.5, 0.3, 0.2), signal=1.0)
    found, rng = interval(name, y, y_score=P), np.random.default_rng(6)
    spec = found.spec
    drawn = (rng.integers(0, 1500, 1500) for _ in range(250))
    values = [spec.metric(y[rows], P[rows], average=spec.average) for rows in drawn]
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.std(values), rel=0.15)  # three standard errors


def test_at_another_prevalence_rows_count_by_the_shares_of_their_classes():
    y, codes, P = rows()
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    weight = (shares / np.bincount(codes) * len(y))[codes]
    found = steelyard.evaluate(y, y_score=P, prevalence=shares)
    for name in ("log_loss", "d2_log_loss", "roc_auc[average=macro]", "average_precision[class=d]"):
        expected = steelyard.evaluate(y, y_score=P, sample_weight=weight, metrics=[name])[name]
        assert found[name].value == pytest.approx(expected.value, rel=1e-12)
        assert found[name].chance == pytest.approx(expected.chance, rel=1e-12)
    losses = -np.log(P[np.arange(len(y)), codes])
    error = math.sqrt(sum(s**2 * losses[codes == c].var() / (codes == c).sum() for c, s in enumerate(shares)))
    row = found["log_loss"]
    assert row.value - row.low == pytest.approx(1.97 * error, rel=0.03)  # the shares of the classes do not scatter


def test_at_an_estimated_prevalence_columns_are_left_out_with_a_sentence():
    y, _, P = rows()
    seen = steelyard.Prevalence(counts={"a": 50, "b": 20, "c": 20, "d": 10})
    found = steelyard.evaluate(y, y_score=P, prevalence=seen)
    assert "balanced_accuracy" in found and "log_loss" not in found
    assert any("no interval at an estimated prevalence" in sentence for sentence in found.assumed)
    with pytest.raises(steelyard.SteelyardError, match="give the shares of the classes as numbers"):
        steelyard.evaluate(y, y_score=P, prevalence=seen, metrics=["log_loss"])


def test_with_a_stratified_design_the_shares_of_the_classes_do_not_widen_a_loss():
    y, _, P = rows()
    fixed, random = (steelyard.interval("log_loss", y, y_score=P, design=design) for design in ("stratified", "random"))
    assert fixed.value == random.value and fixed.high - fixed.low < random.high - random.low


def test_the_interval_of_an_average_over_very_many_rows_is_that_of_all_of_them(monkeypatch):
    rng = np.random.default_rng(3)
    y = rng.choice(3, 100_000, p=[0.6, 0.3, 0.1])
    p = rng.random((100_000, 3)) + 0.3 * np.eye(3)[y]
    part = steelyard.interval("roc_auc[average=macro]", y, y_score=p)
    monkeypatch.setattr(column_intervals, "_ROWS", 1_000_000)
    whole = steelyard.interval("roc_auc[average=macro]", y, y_score=p)
    assert part.value == whole.value
    assert part.high - part.low == pytest.approx(whole.high - whole.low, rel=0.05)
