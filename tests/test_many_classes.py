"""Very many classes: the sparse table beside the dense one and scikit-learn, and what is read of a big matrix."""

from __future__ import annotations

import json
import math

import jsonschema
import numpy as np
import pytest
from command_line import run_command

import steelyard
from steelyard import Confusion, Evaluation, evaluate
from steelyard.analysis.intervals import sampler
from steelyard.tables import Tally
from tests.checks import assert_refused

K = 1_500


def rows_of(k, n, rng, right=0.6):
    truth = rng.integers(0, k, n)
    near = (truth // 5 * 5 + rng.integers(0, 5, n)) % k
    return truth, np.where(rng.random(n) < right, truth, near)


@pytest.fixture(scope="module")
def large():
    truth, pred = rows_of(K, 8_000, np.random.default_rng(0))
    return truth, pred, steelyard.confusion(truth, pred, labels=range(K))


def dense(table):
    """The cells of a sparse matrix in all their places."""
    full = np.zeros(table.shape, table.dtype)
    full[table.true, table.predicted] = table.values
    return full


# ---------------------------------------------------------------- the table


@pytest.mark.parametrize("weights", [(), ("sample_weight",), ("frequency",), ("sample_weight", "frequency")], ids=str)
def test_a_sparse_table_is_the_dense_one_and_scikit_learns(weights):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(len(weights))
    for _ in range(20):
        k = int(rng.integers(1_001, 1_040))  # of a thousand and fewer the whole matrix is kept
        truth, pred = (rng.integers(0, 30, 300) ** 2 for _ in range(2))  # most classes are absent
        pred[truth == 9] = 1  # a class that is never right, and one that may be absent
        truth[truth == 16] = 4
        given = {"sample_weight": rng.random(300) + 0.1, "frequency": rng.integers(1, 5, 300)}
        given = {name: given[name] for name in weights}
        table = steelyard.confusion(truth, pred, labels=range(k), **given)
        assert table.is_sparse and table.weighted == ("sample_weight" in weights)
        both = np.prod([*given.values(), np.ones(300)], axis=0)
        np.testing.assert_allclose(
            dense(table.matrix), metrics.confusion_matrix(truth, pred, labels=range(k), sample_weight=both)
        )
        expected = metrics.precision_recall_fscore_support(
            truth, pred, labels=range(k), sample_weight=both, zero_division=0
        )
        for name, value in zip(("precision", "recall", "f1"), expected, strict=False):
            found = steelyard.get_metric(name)(table, average=None, undefined=0)
            np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-15)
        for average in ("macro", "weighted"):
            expected = metrics.f1_score(
                truth, pred, average=average, labels=range(k), sample_weight=both, zero_division=0
            )
            assert steelyard.f1(table, average=average, undefined=0) == pytest.approx(expected)
        for name, value in (("mcc", metrics.matthews_corrcoef), ("kappa", metrics.cohen_kappa_score)):
            assert steelyard.get_metric(name)(table) == pytest.approx(value(truth, pred, sample_weight=both), abs=1e-12)


def test_sparse_tables_merge_and_are_read_back(large):
    truth, pred, table = large
    half = slice(4_000), slice(4_000, None)
    parts = [steelyard.confusion(truth[part], pred[part], labels=range(K)) for part in half]
    assert sum(parts) == table and hash(sum(parts)) == hash(table)
    assert Confusion.from_json(table.to_json()) == table
    weighted = [
        steelyard.confusion(truth[part], pred[part], labels=range(K), sample_weight=np.ones(4_000)) for part in half
    ]
    assert Confusion.from_json(sum(weighted).to_json()) == sum(weighted)
    small = steelyard.confusion([1, 2], [1, 1])
    assert (small + table).rows.sum() == table.rows.sum() + 2 == (table + small).rows.sum()
    assert Tally.from_json(Tally(table, labels=table.labels).to_json()).confusion == table
    assert repr(table).startswith("<Confusion of 8,000 rows: 1,500 labels and ")


def test_a_dense_table_that_grows_beyond_a_thousand_labels_becomes_sparse():
    a, b = (steelyard.confusion(np.arange(start, start + 900), np.arange(start, start + 900)) for start in (0, 600))
    assert not a.is_sparse and (a + b).is_sparse
    assert (a + b).rows.sum() == 1_800 and len((a + b).labels) == 1_500


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": {"true": [0], "predicted": [K], "values": [1]}}, "places below 1,500"),
        ({"rows": {"true": [0], "predicted": [0], "values": [-1]}}, "finite and not negative"),
        ({"rows": {"true": [0, 0], "predicted": [0, 0], "values": [1, 1]}}, "each cell once"),
        ({"rows": {"true": [0], "values": [1]}}, "true, predicted and values of each cell"),
        ({"rows": {"true": [0], "predicted": [0], "values": [0.5]}}, "whole numbers"),
        ({"labels": [1, 2, 3]}, "list of rows, not of cells"),
    ],
)
def test_a_saved_sparse_table_that_was_changed_is_refused(large, change, words):
    saved = {**large[2].saved(), **change}
    if "labels" in change:
        saved["rows"] = {"true": [0], "predicted": [0], "values": [1]}
    assert_refused(lambda: Confusion.from_json(saved), ValueError, words)


def test_what_needs_the_whole_matrix_says_so_in_one_sentence(large):
    words = "needs the whole matrix of 1,500 x 1,500 classes"
    assert_refused(lambda: np.asarray(large[2].matrix), ValueError, words)
    assert_refused(lambda: steelyard.kappa(large[2], weights="linear"), ValueError, words)


def test_names_and_numbers_are_not_taken_for_labels():
    names = np.arange(3_000)
    assert_refused(lambda: steelyard.confusion(names, names), ValueError, "3,000 different labels in 3,000 rows")
    assert len(steelyard.confusion(names, names, labels=names).labels) == 3_000


def test_frames_and_files_count_very_many_classes_alike(tmp_path, large):
    pl = pytest.importorskip("polars")
    truth, pred, table = large
    frame = pl.DataFrame({"y": truth, "p": pred, "w": np.ones(len(truth))})
    labels = np.unique(np.concatenate([truth, pred])).tolist()
    counted = steelyard.tally(frame, true="y", pred="p")
    assert counted.confusion.is_sparse
    assert counted.confusion == steelyard.confusion(truth, pred, labels=labels)
    frame.write_csv(tmp_path / "rows.csv")
    ran = run_command(
        "report", tmp_path / "rows.csv", "--true", "y", "--pred", "p", "--format", "json", "--metrics", "accuracy,mcc"
    )
    assert ran.exit_code == 0, ran.output
    written = json.loads(ran.stdout)
    assert written["metrics"][0]["value"] == pytest.approx((truth == pred).mean())
    assert len(written["confusion"]["true"]) == len(table.rows.values)


# ---------------------------------------------------------------- intervals and baselines without K x K


@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_by_margins_are_those_of_the_whole_table(monkeypatch, weighted):
    truth, pred = rows_of(40, 1_200, np.random.default_rng(3))
    weight = {"sample_weight": np.random.default_rng(4).random(1_200) + 0.5} if weighted else {}
    table = steelyard.confusion(truth, pred, **weight)
    names = [
        "balanced_accuracy",
        "mcc",
        "precision[average=macro]",
        "f1[average=weighted]",
        "specificity[average=macro]",
    ]
    for given in ({}, {"design": "stratified"}, {"prevalence": np.full(40, 1 / 40)}):
        whole = steelyard.interval(names, table, draws=1_500, **given)
        with monkeypatch.context() as patched:
            patched.setattr(sampler, "MOST_DENSE", 5)
            by_margins = steelyard.interval(names, table, draws=1_500, **given)
        for a, b in zip(whole, by_margins, strict=True):
            assert a.value == b.value
            assert (b.low, b.high) == pytest.approx((a.low, a.high), abs=0.01)


def test_true_negatives_by_margins_are_those_of_the_whole_table(monkeypatch):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 6, 400)
    table = steelyard.confusion(truth, np.where(rng.random(400) < 0.3, truth, rng.integers(0, 6, 400)))
    whole = steelyard.interval("specificity[average=macro]", table, draws=4_000)
    monkeypatch.setattr(sampler, "MOST_DENSE", 5)
    by_margins = steelyard.interval("specificity[average=macro]", table, draws=4_000)
    tolerance = 0.15 * (whole.high - whole.low)
    assert (by_margins.low, by_margins.high) == pytest.approx((whole.low, whole.high), abs=tolerance)


def test_an_evaluation_of_very_many_classes_never_makes_the_matrix(large):  # which would be refused
    truth, pred, table = large
    evaluation = evaluate(table, draws=200)
    assert evaluation["accuracy"].value == pytest.approx((truth == pred).mean())
    for name in ("accuracy", "mcc", "kappa"):
        assert evaluation[name].low < evaluation[name].value < evaluation[name].high
    shares = table.matrix.sum(0) / 8_000 * table.matrix.sum(1) / 8_000
    assert evaluation["accuracy"].chance == pytest.approx(shares.sum())
    assert steelyard.chance("mcc", table).value == 0
    assert len(evaluation.per_class) == K
    row = evaluation.per_class[7]
    assert row.recall.value == steelyard.recall(table, pos_label=7) and row.recall.low <= row.recall.value
    written = evaluation.to_dict()
    jsonschema.validate(written, Evaluation.json_schema())
    assert Evaluation.from_json(evaluation.to_json()) == evaluation
    assert len(evaluation.to_html().encode()) < 1_000_000
    assert max(map(len, repr(evaluation).splitlines())) < 200


# ---------------------------------------------------------------- pairs


def pairs_of(table, most):
    return evaluate(table, metrics=["accuracy"], draws=20).confused_pairs(most)


def test_the_error_model_has_the_margins_of_the_errors():
    rng = np.random.default_rng(5)
    rows = rng.poisson(rng.gamma(0.5, 4, (9, 9))) + np.diag(np.full(9, 50))
    rows += 1  # so that every pair occurs
    expected = np.zeros((9, 9))
    for pair in pairs_of(Confusion.of_rows(range(9), rows), 72):
        expected[pair.true, pair.predicted] = pair.expected
    errors = rows - np.diag(np.diag(rows))
    np.testing.assert_allclose(expected.sum(0), errors.sum(0), rtol=1e-6)
    np.testing.assert_allclose(expected.sum(1), errors.sum(1), rtol=1e-6)


def test_only_a_planted_pair_is_shown_and_dense_and_sparse_agree():
    rng = np.random.default_rng(6)
    model = np.outer(rng.dirichlet(np.full(15, 2)), rng.dirichlet(np.full(15, 2)))
    np.fill_diagonal(model, 0)
    rows = rng.multinomial(900, (model / model.sum()).ravel()).reshape(15, 15) + np.diag(np.full(15, 60))
    assert not [pair for pair in pairs_of(Confusion.of_rows(range(15), rows), 210) if pair.p_value <= 0.05]
    rows[4, 9] += 40
    table = Confusion.of_rows(range(15), rows)
    assert [(pair.true, pair.predicted) for pair in pairs_of(table, 20) if pair.p_value <= 0.05] == [(4, 9)]
    truth, pred = (np.repeat(place.ravel(), rows.ravel()) for place in np.indices((15, 15)))
    again = steelyard.confusion(truth, pred, labels=range(1_001))
    assert again.is_sparse
    for pair, other in zip(pairs_of(again, 20), pairs_of(table, 20), strict=True):
        assert (pair.true, pair.predicted, pair.weight, pair.low, pair.high) == (
            *(other.true, other.predicted, other.weight, other.low, other.high),
        )
        assert pair.expected == pytest.approx(other.expected, rel=1e-6)


# ---------------------------------------------------------------- classes


def test_equal_classes_are_not_distinguished_and_rare_ones_are_pooled(tmp_path):
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(15):
        hits = rng.binomial(6, 0.95, 50)
        table = Confusion.of_rows(range(50), np.diag(hits) + np.roll(np.diag(6 - hits), 1, axis=1))
        wrong += bool(evaluate(table, metrics=["accuracy"], draws=20).standing.below)
    assert wrong <= 3
    rows = np.diag([3] * 10 + [100] * 11) + np.roll(np.diag([1] * 10 + [0] * 11), 1, axis=1)
    evaluation = evaluate(Confusion.of_rows(range(21), rows))
    pooled = evaluation.rare_classes
    assert (len(pooled.labels), pooled.hits, pooled.rows) == (10, 30, 40)
    assert pooled.low < 0.75 < pooled.high
    truth, pred = (np.repeat(place.ravel(), rows.ravel()) for place in np.indices(rows.shape))
    (tmp_path / "rows.csv").write_text("y,p\n" + "".join(f"{a},{b}\n" for a, b in zip(truth, pred, strict=True)))
    text = run_command("report", tmp_path / "rows.csv", "--true", "y", "--pred", "p", code=0).stdout
    assert "10 classes with fewer than 5 rows: recall 30 of 40, 75.0 % (60." in text
    assert evaluation["accuracy"].value == 1130 / 1140


# ---------------------------------------------------------------- hierarchies

PATHS = ["a/x/1", "a/x/2", "a/y/1", "b/z/1"]
TRUE = ["a/x/1"] * 4 + ["a/x/2"] * 2 + ["b/z/1"] * 2
PRED = ["a/x/1", "a/x/2", "a/y/1", "b/z/1", "a/x/2", "a/x/2", "b/z/1", "a/x/1"]


def test_errors_by_level_beside_a_count_by_hand():
    found = evaluate(TRUE, PRED, hierarchy="/", labels=PATHS).hierarchy
    assert [level.accuracy.value for level in found.levels] == [6 / 8, 5 / 8, 4 / 8]
    assert [level.errors for level in found.levels] == [2, 3, 4]
    assert math.isnan(found.levels[0].inside.value)
    assert [level.inside.value for level in found.levels[1:]] == [1 / 3, 1 / 4]
    shared = 3 + 2 + 1 + 0 + 3 + 3 + 3 + 0
    assert [value.value for value in found.metrics.values()] == [shared / 24] * 3
    assert all(value.low < value.value < value.high for value in found.metrics.values())
    parents = {"a/x/1": "x", "a/x/2": "x", "a/y/1": "y", "b/z/1": "z", "x": "a", "y": "a", "z": "b", "a": None, "b": ""}
    assert evaluate(TRUE, PRED, hierarchy=parents, labels=PATHS).hierarchy.metrics == found.metrics


def test_paths_of_other_lengths_count_their_own_nodes():
    found = evaluate(["a/x", "a/x", "b"], ["a", "a/x", "b"], hierarchy="/").hierarchy
    precision, recall, f = (value.value for value in found.metrics.values())
    assert (precision, recall, f) == pytest.approx((4 / 4, 4 / 5, 8 / 9))
    assert [level.accuracy.value for level in found.levels] == [1, 2 / 3]


def test_a_level_is_the_accuracy_of_the_joined_classes_and_follows_weights_and_clusters():
    rng = np.random.default_rng(8)
    truth, pred = (np.array(PATHS)[rng.integers(0, 4, 200)] for _ in range(2))
    weight, patient = rng.random(200) + 0.5, np.arange(200) // 10
    level = evaluate(truth, pred, sample_weight=weight, hierarchy="/").hierarchy.levels[0]
    top = [np.array([path[0] for path in column]) for column in (truth, pred)]
    assert level.accuracy.value == pytest.approx(steelyard.accuracy(*top, sample_weight=weight, pos_label="a"))
    clustered = evaluate(truth, pred, cluster=patient, hierarchy="/").hierarchy
    assert clustered.levels[0].accuracy.low == pytest.approx(
        steelyard.interval("accuracy", *top, cluster=patient, pos_label="a").low, abs=0.02
    )
    assert math.isnan(clustered.levels[1].inside.low) and math.isnan(clustered.metrics["hierarchical F"].low)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("|", "No label holds '|'"),
        ("", "an empty one divides none"),
        ({"a/x/1": "x", "a/x/2": "x"}, "'a/y/1' has no parent in hierarchy="),
        ([("a/x/1", "x"), ("a/x/1", "y")], "gives 'a/x/1' two parents, 'x' and 'y'"),
        ({**dict.fromkeys(PATHS, "x"), "x": "y", "y": "x"}, "goes in a circle: 'x' > 'y' > 'x'"),
        (3, "not int"),
    ],
)
def test_a_hierarchy_that_is_none_is_refused_in_a_sentence(given, words):
    assert_refused(lambda: evaluate(TRUE, PRED, hierarchy=given, labels=PATHS), (ValueError, TypeError), words)


def test_an_empty_part_of_a_path_and_scores_alone_are_refused():
    assert_refused(
        lambda: evaluate(["a//b", "a/c"], ["a/c", "a//b"], hierarchy="/"), ValueError, "'a//b' has an empty part"
    )
    assert_refused(lambda: evaluate([0, 1], y_score=[5.0, 7.0], hierarchy="/"), ValueError, "scores alone")
    assert_refused(
        lambda: evaluate(TRUE, PRED, hierarchy="/", labels=PATHS, prevalence=[0.4, 0.3, 0, 0.3]),
        ValueError,
        "prevalence of the rows",
    )


def test_the_shell_shows_the_levels_of_paths_and_of_a_file(tmp_path):
    rows, tree = tmp_path / "rows.csv", tmp_path / "tree.csv"
    rows.write_text("y,p\n" + "".join(f"{a},{b}\n" for a, b in zip(TRUE, PRED, strict=True)))
    tree.write_text("child,parent\na/x/1,x\na/x/2,x\na/y/1,y\nb/z/1,z\nx,a\ny,a\nz,b\n")
    told = [
        json.loads(
            run_command("report", rows, "--true", "y", "--pred", "p", "--format", "json", "--hierarchy", given).stdout
        )
        for given in ("/", str(tree))
    ]
    assert told[0]["hierarchy"]["metrics"] == told[1]["hierarchy"]["metrics"]
    jsonschema.validate(told[0], Evaluation.json_schema())
    shown = run_command("report", rows, "--true", "y", "--pred", "p", "--hierarchy", "/").stdout
    assert "errors inside the parent" in shown and "Hierarchical precision 62.5 %" in shown
    bad = run_command("report", rows, "--true", "y", "--pred", "p", "--hierarchy", "no.csv")
    assert bad.exit_code == 2 and "cannot be read" in bad.output


def test_hostile_paths_stay_inert_on_the_page():
    paths = [f"<script>alert({i})</script>\u202e/{'x' * 2_000}{i}" for i in range(3)]
    evaluation = evaluate(np.array(paths)[[0, 1, 2, 0]], np.array(paths)[[0, 1, 1, 2]], hierarchy="\u202e/")
    assert "<script>alert" not in evaluation.to_html().split("<body", 1)[1].split("<script", 1)[0]
    assert Evaluation.from_json(evaluation.to_json()) == evaluation


def test_joined_classes_add_up():
    top = evaluate(TRUE, PRED, labels=PATHS, sample_weight=np.arange(1, 9), hierarchy="/").hierarchy.levels[0]
    joined = steelyard.confusion([t[0] for t in TRUE], [p[0] for p in PRED], sample_weight=np.arange(1, 9))
    assert joined.matrix.tolist() == [[17, 4], [8, 7]]
    assert top.accuracy.value == pytest.approx(24 / 36)
    again = steelyard.interval("accuracy", joined, pos_label="a", rng=0)
    assert (top.accuracy.low, top.accuracy.high) == pytest.approx((again.low, again.high), abs=0.02)


def test_markdown_leaves_the_scores_of_each_of_many_classes_to_other_forms(tmp_path):
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(2)
    y, p = np.arange(130) % 13, rng.dirichlet(np.ones(13), 130)
    evaluation = evaluate(y, y_score=p, labels=range(13), draws=20)
    markdown = evaluation.to_markdown()
    assert "26 more metrics of one class each are in the JSON and the CSV." in markdown and "[class=" not in markdown
    pl.DataFrame({"y": y, **{f"p_{i}": p[:, i] for i in range(13)}}).write_csv(tmp_path / "rows.csv")
    words = ["report", tmp_path / "rows.csv", "--true", "y", "--score", "p_*"]
    assert run_command(*words, "--format", "csv", code=0).stdout.count("[class=") == 26
    shown = run_command(*words, "--all", code=0).stdout
    assert shown.index("Each class by its scores") > shown.index("log_loss")
    few = evaluate(y % 3, y_score=p[:, :3] / p[:, :3].sum(1, keepdims=True), labels=range(3), draws=20)
    asked = evaluate(y, y_score=p, labels=range(13), metrics=["roc_auc[class=1]"], draws=20)
    assert "[class=" in few.to_markdown() and "[class=" in asked.to_markdown()


def test_thousands_of_classes_without_an_error_have_intervals():
    truth = np.random.default_rng(0).integers(0, K, 6_000)
    found = evaluate(truth, truth)
    assert found.confusion.matrix.sum() == 6_000
    for name in ("balanced_accuracy", "mcc"):
        estimate = found[name]
        assert estimate.low < estimate.high == estimate.value == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_the_median_class_is_that_of_the_recalls_seen(weighted):
    rng = np.random.default_rng(3)
    truth, pred = rows_of(60, 2_000, rng, right=0.05)
    weight = rng.uniform(0.1, 3, 2_000) if weighted else np.ones(2_000)
    seen = [np.average(pred[truth == c] == c, weights=weight[truth == c]) for c in np.unique(truth)]
    found = evaluate(truth, pred, sample_weight=weight if weighted else None)
    assert math.isclose(found.standing.median, np.median(seen))


@pytest.mark.parametrize(("k", "n"), [(50, 50_000), (1_500, 150_000)])
@pytest.mark.parametrize("weighted", [False, True])
def test_with_plenty_of_rows_the_ends_are_as_far_as_the_standard_error_says(k, n, weighted):
    rng = np.random.default_rng(1)
    truth, pred = rows_of(k, n, rng, right=0.75)
    weight = rng.uniform(0.5, 1.5, n) if weighted else None
    names = ["accuracy", "balanced_accuracy", "mcc", "recall[average=weighted]"]
    for found in steelyard.interval(names, steelyard.confusion(truth, pred, sample_weight=weight)):
        spread = 1.96 * math.sqrt(0.8 * 0.2 / n * (1 + weighted / 12))
        assert 0.85 < (found.value - found.low) / spread < 1.2
        assert 0.85 < (found.high - found.value) / spread < 1.2
