"""Models of rows that may have several labels each, compared on the same rows."""

import numpy as np
import pandas as pd
import pytest
from test_multilabel_evaluate import shell
from test_multilabel_intervals import POOLED, _at_least_one, drawn, value

from steelyard import Result, compare
from steelyard.exceptions import InputError
from steelyard.tables import multilabel


@pytest.fixture(scope="module")
def rows():
    table, rng = drawn(300, 5), np.random.default_rng(5)
    noisy = 0.75 * table.scores + 0.25 * rng.random(table.scores.shape)
    return table, noisy, _at_least_one(noisy - 0.5)


def test_differences_scatter_as_a_bootstrap_of_rows_has_it(rows):
    table, noisy, predicted = rows
    rng, other = np.random.default_rng(1), multilabel(table.true, predicted, y_score=noisy)
    drawn_rows = [rng.integers(0, 300, 300) for _ in range(150)]
    names = ["f1[average=macro]", "f1[average=micro]", "f1[average=weighted]", "hamming_loss", "recall[class=2]"]
    names += ["roc_auc[average=macro]", "label_ranking_loss", *POOLED]
    labels = compare(table.true, {"A": table.predicted, "B": predicted}, metrics=names[:5])
    ranked = compare(table.true, y_score={"A": table.scores, "B": noisy}, metrics=names[5:])
    for row in [*labels, *ranked]:
        spread = np.std(
            [value(row.metric, table.of_rows(at)) - value(row.metric, other.of_rows(at)) for at in drawn_rows]
        )
        assert row.value_a == pytest.approx(value(row.metric, table))
        assert 0.75 < (row.high - row.low) / (2 * 1.96 * spread) < 1.35, row


def test_a_model_does_not_differ_from_itself_and_holm_holds_all(rows):
    table, _, predicted = rows
    comparison = compare(table.true, {"A": table.predicted, "B": predicted, "C": table.predicted})
    same = [row for row in comparison if (row.a, row.b) == ("A", "C")]
    assert all(row.difference == 0 and row.p_value == 1 for row in same)
    assert all(row.p_holm >= row.p_value for row in comparison)
    board = comparison.leaderboard("f1[average=macro]")
    assert [row.model for row in board][2] == "B"
    assert len(Result.from_json(comparison.to_json()).rows) == len(comparison.rows)
    assert "on the same 300 rows" in comparison.to_html()


def test_frames_clusters_and_the_shell_compare_patterns(rows, tmp_path):
    table, noisy, predicted = rows
    columns = {"y": table.true, "a": table.predicted, "b": predicted, "s": table.scores, "t": noisy}
    frame = pd.DataFrame({f"{use}_{i}": matrix[:, i] for use, matrix in columns.items() for i in range(5)})
    frame["patient"] = np.arange(300) // 3
    arrays = compare(table.true, {"a_*": table.predicted, "b_*": predicted})
    assert compare(frame, pred=["a_*", "b_*"], true="y_*").rows == arrays.rows
    clustered = compare(frame, pred=["a_*", "b_*"], true="y_*", cluster="patient")
    assert clustered.assumed == ("The rows are clustered by patient; whole clusters are compared.",)
    thresholded = compare(frame, score={"A": "s_*", "B": "t_*"}, true="y_*", threshold=0.5)
    assert {"f1[average=macro]", "roc_auc[average=macro]"} <= {row.metric for row in thresholded}
    frame.to_csv(tmp_path / "two.csv", index=False)
    code, output = shell("compare", tmp_path / "two.csv", "--true", "y_*", "--pred", "a_*", "--pred", "b_*")
    assert code == 0 and "a_* against b_* on the same 300 rows" in output


def test_models_of_other_labels_are_refused():
    with pytest.raises(InputError, match="different labels; declare those of all with labels="):
        compare([["a"], ["b"]], {"A": [["a"], ["b"]], "B": [["a"], ["c"]]})
    with pytest.raises(InputError, match="threshold= is for scores"):
        compare([["a"], ["b"]], {"A": [["a"], ["b"]], "B": [["a"], ["a"]]}, threshold=0.5)


def test_what_is_not_tested_is_called_so_with_the_reason_and_not_indistinguishable(rows, tmp_path):
    table, noisy, _ = rows
    columns = {"y": table.true, "s": table.scores, "t": noisy}
    frame = pd.DataFrame({f"{use}_{i}": matrix[:, i] for use, matrix in columns.items() for i in range(5)})
    frame.to_csv(tmp_path / "two.csv", index=False)
    asked = ["--true", "y_*", "--score", "s_*", "--score", "t_*", "--metrics", "ks[average=micro],ks[average=macro]"]
    code, output = shell("compare", tmp_path / "two.csv", *asked)
    assert code == 0 and "not distinguish" not in output
    assert "not tested: the influence of rows on ks[average=micro] is not known." in " ".join(output.split())
    comparison = compare(frame, score=["s_*", "t_*"], true="y_*", metrics=["ks[average=micro]"])
    board = comparison.leaderboard()
    assert [row.letters for row in board] == ["", ""] and len(board.untested) == 1
    assert comparison.wins()[0].untested == ("ks[average=micro]",)
    assert "not distinguishable" not in comparison.to_html()


def test_a_label_that_no_row_has_changes_no_test_of_clusters():
    rng = np.random.default_rng(0)
    true, clusters = rng.random((300, 3)) < [0.5, 0.3, 0.03], np.repeat(np.arange(60), 5)
    models = {name: true ^ (rng.random(true.shape) < wrong) for name, wrong in (("a", 0.1), ("b", 0.2))}

    def judged(extra):
        wider = [np.hstack([each, np.zeros((300, extra), bool)]).astype(int) for each in (true, *models.values())]
        named = dict(zip(models, wider[1:], strict=True))
        rows = compare(wider[0], named, cluster=clusters, metrics=["accuracy", "f1[average=micro]"])
        return [(row.difference, row.low, row.high, row.p_value) for row in rows]

    assert np.array(judged(1)) == pytest.approx(np.array(judged(0)), rel=1e-9)
    assert all(low < difference < high and p < 1e-3 for difference, low, high, p in judged(1))


def test_an_average_over_a_label_that_every_row_has_is_not_judged():
    rng = np.random.default_rng(0)
    true = (rng.random((300, 4)) < [0.5, 0.3, 0.1, 1]).astype(int)
    models = {name: true * strength + rng.random(true.shape) for name, strength in (("a", 0.5), ("b", 0.2))}
    (row,) = compare(true, y_score=models, metrics=["average_precision[average=macro]"])
    assert row.difference > 0 and np.isnan([row.low, row.high]).all()
    assert row.why == "the influence of rows on average_precision[average=macro] is not known"
