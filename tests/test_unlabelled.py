"""Tests of what unlabelled scores show: the prevalence, the metrics there, the test of label shift, and refusals."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from command_line import run_command
from tensors import array_tables

import steelyard
from steelyard import (
    Confusion,
    Counts,
    Result,
    SteelyardError,
    at_prevalence,
    best_threshold,
    correct_prior,
    decision_curve,
    evaluate,
    interval,
    score_table,
    tally,
    unlabelled,
)
from steelyard.analysis.prevalence import label_shift

pd = pytest.importorskip("pandas")
FEW = ["recall", "precision", "f1"]


def _rows(rng, rows, share, gap=2.0):
    truth = (rng.random(rows) < share).astype(int)
    return truth, rng.normal(gap * truth)


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(1)
    return _rows(rng, 3_000, 0.05), _rows(rng, 2_000, 0.3)


@pytest.fixture(scope="module")
def found(samples):
    (truth, scores), (_, new) = samples
    return unlabelled(new, reference=(truth, scores), threshold=2.0, metrics=FEW, draws=1_000)


def _columns(rng, rows, shares):
    truth = rng.choice(len(shares), rows, p=shares)
    logits = rng.normal(size=(rows, len(shares)))
    logits[np.arange(rows), truth] += 2
    columns = np.exp(logits)
    return truth, columns / columns.sum(1, keepdims=True)


# ---------------------------------------------------------------- what it finds


def test_the_shares_of_known_rates_are_found_exactly():
    rates = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]])
    shares = np.array([0.2, 0.5, 0.3])
    assert label_shift.most_likely_shares(rates, 1e6 * shares @ rates, steps=20_000) == pytest.approx(shares, abs=1e-4)


def test_draws_of_two_classes_are_those_of_a_counted_prevalence_where_scores_separate_them():
    rng = np.random.default_rng(0)
    rates = np.broadcast_to(np.eye(2), (4_000, 2, 2))
    drawn = label_shift.share_draws(rates, np.array([7.0, 193.0]), rng)[:, 0]
    ends = rng.beta(7.5, 193.5, 200_000)
    assert np.quantile(drawn, [0.025, 0.5, 0.975]) == pytest.approx(np.quantile(ends, [0.025, 0.5, 0.975]), rel=0.05)


def test_draws_of_many_classes_are_those_of_counted_rows_where_scores_separate_them():
    rng = np.random.default_rng(0)
    drawn = label_shift.share_draws(np.broadcast_to(np.eye(3), (2_000, 3, 3)), np.array([20.0, 60.0, 120.0]), rng)
    again = rng.dirichlet([20 + 1 / 3, 60 + 1 / 3, 120 + 1 / 3], 50_000)
    assert drawn.mean(0) == pytest.approx(again.mean(0), rel=0.03)
    assert drawn.std(0) == pytest.approx(again.std(0), rel=0.1)


def test_the_prevalence_of_new_rows_is_found_and_recall_stays(found, samples):
    (truth, scores), (new_truth, _) = samples
    share = found.shares[0]
    assert share.low < new_truth.mean() < share.high
    assert share.reference == pytest.approx(truth.mean())
    assert found["recall"].value == pytest.approx(found["recall"].reference)
    true = 0.3 * 0.5 / (0.3 * 0.5 + 0.7 * 0.02275)  # of normal scores 2 apart, at a threshold of 2
    assert found["precision"].low < true < found["precision"].high
    assert found["precision"].reference == pytest.approx(
        evaluate(truth, y_score=scores, threshold=2.0)["precision"].value
    )
    assert found.fits
    assert "explains" in found.verdict[1]


def test_every_metric_of_an_evaluation_is_given(samples):
    (truth, scores), (_, new) = samples
    whole = evaluate(truth, y_score=scores, threshold=2.0)
    every = unlabelled(new, reference=whole, draws=200)
    assert {row.metric for row in every} == {row.name for row in whole.metrics}
    assert every["roc_auc"].value == pytest.approx(whole["roc_auc"].value)
    assert every["average_precision"].value > whole["average_precision"].value


def test_scores_need_not_be_probabilities_and_no_monotone_change_matters(found, samples):
    (truth, scores), (_, new) = samples
    moved = unlabelled(np.exp(new), reference=(truth, np.exp(scores)), threshold=np.exp(2.0), metrics=FEW, draws=1_000)
    assert moved.shares[0].value == pytest.approx(found.shares[0].value)
    assert moved["f1"].low == pytest.approx(found["f1"].low, rel=0.02)


def test_a_score_that_means_the_same_gives_the_covariate_value_of_the_counts():
    """Where scores are 0 or 1, covariate shift keeps precision and moves recall; label shift does the opposite."""
    truth, flagged = np.repeat([1, 1, 0, 0], [80, 20, 90, 810]), np.repeat([1, 0, 1, 0], [80, 20, 90, 810])
    found = unlabelled(
        np.repeat([1.0, 0.0], [300, 700]), reference=(truth, flagged.astype(float)), metrics=FEW, draws=500
    )
    assert found["precision"].covariate == pytest.approx(80 / 170)
    assert found["recall"].value == pytest.approx(0.8)
    share = (0.3 - 0.1) / (0.8 - 0.1)
    assert found.shares[0].likely == pytest.approx(share, rel=1e-4)
    assert np.isnan(found.p_value) and found.fits is None  # no test, so it is not known
    assert "No test" in found.verdict[1]


def test_where_the_estimates_part_is_shown(found):
    assert found["precision"].parts
    assert "precision" in next(sentence for sentence in found.verdict if sentence.startswith("Covariate"))
    assert "differ" in found.shown_rows()[0]


def test_rows_that_are_no_mixture_are_called_so_and_refused_as_a_prevalence(samples):
    (truth, scores), _ = samples
    odd = unlabelled(
        np.random.default_rng(0).normal(1.0, 0.3, 1_500), reference=(truth, scores), threshold=2.0, metrics=FEW
    )
    assert not odd.fits
    assert "is not known: label shift does not explain" in odd.headline
    lines = repr(odd).splitlines()
    assert "is not known" in lines[0]
    label, covariate = (next(i for i, line in enumerate(lines) if word in line) for word in ("if it held", "covariate"))
    assert covariate <= label
    assert [*odd.shown_rows()[0]][-2:] == ["covariate shift", "label shift, if it held"]
    for text in (odd.to_markdown(), odd.to_html()):
        assert text.index("is not known") < text.index("covariate shift") < text.index("if it held")
    assert odd.shares[0].covariate_low < odd.shares[0].covariate < odd.shares[0].covariate_high
    with pytest.raises(SteelyardError, match="Label shift does not explain"):
        evaluate(truth, y_score=scores, threshold=2.0, prevalence=odd)
    assert 0 < float(odd.prevalence) < 1


def test_predicted_labels_beside_counts_give_the_prevalence_of_rogan_and_gladen():
    table = Counts(tp=80, fn=20, fp=90, tn=810)
    predicted = np.repeat([1, 0], [380, 620])
    found = unlabelled(y_pred=predicted, reference=table, metrics=FEW)
    assert found.shares[0].value == pytest.approx((0.38 + 0.9 - 1) / (0.8 + 0.9 - 1), abs=1e-6)
    assert found.shares[0].low < 0.35 and found.shares[0].high > 0.45  # the noise of 100 positives too
    assert found["recall"].value == pytest.approx(0.8)
    assert "No test of label shift" in found.verdict[1]
    matrix = Confusion.of_rows(("no", "yes"), np.array([[810, 90], [20, 80]]), "yes")
    frame = pd.DataFrame({"call": np.where(predicted, "yes", "no")})
    assert unlabelled(frame, reference=matrix, pred="call", metrics=FEW).shares[0].value == found.shares[0].value
    scores = np.where(predicted == 1, 0.7, 0.2)
    assert unlabelled(scores, reference=table, threshold=0.5, metrics=FEW).shares[0].value == found.shares[0].value


def test_the_curve_and_the_costs_are_those_at_the_new_prevalence(found, samples):
    (truth, scores), _ = samples
    point = found.curve[len(found.curve) // 2]
    share, table = float(found.prevalence), score_table(truth, scores)
    assert point.value == pytest.approx(float(steelyard.precision(at_prevalence(table.at(point.threshold), share))))
    assert point.reference == pytest.approx(float(steelyard.precision(table.at(point.threshold))))
    assert point.low < point.value < point.high
    assert len(found.curve) <= 102
    assert len(found.band("f1", "threshold")) > len(found.curve)
    again = Result.from_json(found.to_json())
    assert again.curve == found.curve
    with pytest.raises(SteelyardError, match="scores of the reference"):
        again.band()
    cost = unlabelled(
        samples[1][1], reference=(truth, scores), threshold=2.0, metrics=["expected_cost[cost_fn=50]"], draws=200
    )
    expected = steelyard.expected_cost(at_prevalence(table.at(2.0), share), cost_fn=50)
    assert next(iter(cost)).value == pytest.approx(float(expected))


def test_its_result_is_a_prevalence_elsewhere(found, samples):
    (truth, scores), _ = samples
    at = float(found.prevalence)
    assert interval("f1", score_table(truth, scores).at(2.0), prevalence=found).value == pytest.approx(
        found["f1"].value
    )
    assert best_threshold(truth, scores, "f1", prevalence=found, draws=0).threshold == pytest.approx(
        best_threshold(truth, scores, "f1", prevalence=at, draws=0).threshold
    )
    assert correct_prior([0.5], 0.05, found) == pytest.approx(correct_prior([0.5], 0.05, at))
    assert steelyard.at_prevalence(score_table(truth, scores), found).total == pytest.approx(len(truth))
    probabilities = 1 / (1 + np.exp(-scores))
    assert len(decision_curve(truth, probabilities, prevalence=found, thresholds=[0.2]))


def test_many_classes_are_read_by_a_column_each_and_by_a_confusion_matrix():
    rng = np.random.default_rng(2)
    truth, columns = _columns(rng, 3_000, [0.5, 0.3, 0.15, 0.05])
    new_truth, new = _columns(rng, 2_000, [0.1, 0.2, 0.3, 0.4])
    whole = unlabelled(
        new, reference=(truth, columns), metrics=["accuracy", "f1[average=macro]", "recall[class=3]"], draws=500
    )
    for share, seen in zip(whole.shares, np.bincount(new_truth) / 2_000, strict=True):
        assert share.low - 0.01 < seen < share.high + 0.01
    predicted = evaluate(truth, y_score=columns)
    by_table = unlabelled(new, reference=predicted, metrics=["accuracy"], draws=500)
    assert isinstance(predicted.confusion, Confusion)
    assert by_table.shares[3].value == pytest.approx(whole.shares[3].value, abs=0.03)
    assert whole["accuracy"].value == pytest.approx((columns.argmax(1) == truth)[truth == 0].mean(), abs=0.1)
    assert Result.from_json(whole.to_json()) == whole
    corrected = correct_prior(new[:3], predicted.confusion.matrix.sum(1) / 3_000, whole)
    assert corrected.sum(1) == pytest.approx(1)


def test_two_columns_are_read_by_that_of_the_positive_class(found, samples):
    (truth, scores), (_, new) = samples
    both = [1 / (1 + np.exp(-np.column_stack([-part, part]))) for part in (scores, new)]
    pair = unlabelled(both[1], reference=(truth, both[0]), metrics=FEW, draws=200)
    single = unlabelled(both[1][:, 1], reference=(truth, both[0][:, 1]), metrics=FEW, draws=200)
    assert pair["f1"].value == pytest.approx(single["f1"].value)


def test_tables_frames_and_files_give_what_arrays_do(found, samples, tmp_path):
    (truth, scores), (_, new) = samples
    table = score_table(truth, scores)
    options = {"threshold": 2.0, "metrics": FEW, "draws": 1_000}
    assert unlabelled(new, reference=table, **options) == found
    frame, fresh = pd.DataFrame({"y": truth, "s": scores}), pd.DataFrame({"s": new})
    counted = tally(frame, true="y", score="s")
    assert unlabelled(new, reference=counted, **options)["f1"].value == found["f1"].value
    assert unlabelled(fresh, reference=frame, true="y", score="s", **options)["f1"].value == found["f1"].value
    path = tmp_path / "reference.json"
    path.write_text(counted.to_json())
    assert unlabelled(fresh, reference=path, score="s", **options).shares[0].value == found.shares[0].value
    path.write_text(evaluate(truth, y_score=scores, threshold=2.0, metrics=FEW).to_json())
    assert unlabelled(new, reference=str(path), metrics=FEW, draws=1_000)["f1"].value == pytest.approx(
        found["f1"].value
    )
    pooled = score_table(np.arange(len(new)) % 2, new)  # labels that say nothing
    assert unlabelled(pooled, reference=table, **options).shares[0].value == found.shares[0].value
    values, times = np.unique(new.round(1), return_counts=True)
    assert (
        unlabelled(values, reference=table, frequency=times, **options).shares
        == unlabelled(new.round(1), reference=table, **options).shares
    )


def test_predictions_without_labels_ask_by_what_they_carry(found, samples, tmp_path):
    (truth, scores), (_, new) = samples
    frame, path = pd.DataFrame({"y": truth, "s": scores}), tmp_path / "fresh.csv"
    pd.DataFrame({"s": new}).to_csv(path, index=False)
    fresh = steelyard.Predictions.read(path, score="s", threshold=2.0)
    known = steelyard.Predictions.read(frame, true="y", score="s")
    for asked in (
        fresh.unlabelled(reference=known, metrics=FEW, draws=1_000),
        fresh.unlabelled(reference=frame, true="y", metrics=FEW, draws=1_000),
    ):
        assert asked["f1"].value == pytest.approx(found["f1"].value)
    evaluation = evaluate(truth, y_score=scores, threshold=2.0)
    assert unlabelled(new, reference=evaluation, metrics=FEW, draws=1_000)["f1"].value == pytest.approx(
        found["f1"].value
    )
    clustered = steelyard.Predictions(truth, y_score=scores, cluster=np.arange(len(truth)) // 2)
    with pytest.raises(SteelyardError, match=r"with_options\(cluster=None\)"):
        fresh.unlabelled(reference=clustered)


def test_a_saved_result_is_read_back_whole(found):
    again = Result.from_json(found.to_json())
    assert again == found
    assert float(again.prevalence) == float(found.prevalence)
    assert json.loads(found.to_json())["fits"] is True
    assert "label shift" in found.to_markdown()
    assert "<table" in found.to_html()
    assert len(found.to_frame()) == len(FEW)


def test_no_positives_among_new_rows_give_a_share_above_zero():
    rng = np.random.default_rng(0)
    truth = np.repeat([1, 0], [200, 800])
    found = unlabelled(
        rng.uniform(0, 0.5, 60), reference=(truth, truth + rng.uniform(0, 0.5, 1_000)), threshold=0.75, metrics=FEW
    )
    assert found.shares[0].likely == pytest.approx(0, abs=1e-6)
    assert 0 < found.shares[0].value < found.shares[0].high < 0.1


def test_weighted_rows_of_the_reference_are_worth_what_their_weights_leave():
    rng = np.random.default_rng(0)
    truth, scores = _rows(rng, 600, 0.3)
    weights = rng.exponential(size=600) ** 2
    plain = label_shift.two_class_cells(score_table(truth, scores), 1.0, 4).cells.rows.sum(1)
    weighted = label_shift.two_class_cells(score_table(truth, scores, sample_weight=weights), 1.0, 4).cells.rows.sum(1)
    assert plain.tolist() == np.bincount(truth)[::-1].tolist()
    assert (weighted < plain).all()
    columns = array_tables.probability_table(truth, np.column_stack([-scores, scores]), sample_weight=weights)
    assert (label_shift.class_cells(columns, 2).cells.rows.sum(1) < np.bincount(truth)).all()


# ---------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("reference", "scores", "sentence"),
    [
        (([0, 1, 1], [0.1, 0.2, 0.8]), [], "no unlabelled rows"),
        (([0, 1, 1], [0.1, 0.2, 0.8]), [0.1, np.nan], "finite number"),
        (([0, 1, 1], [0.1, 0.2, 0.8]), ["a", "b"], "numbers"),
        (([0, 1, 1], [0.1, 0.2, 0.8]), np.ones((2, 3)), "3 columns and the reference 2 classes"),
        (([1, 1, 1], [0.1, 0.2, 0.8]), [0.1], "both classes"),
        (([0, 1, 2], np.eye(3)), [0.1, 0.2], "one column"),
        (Confusion.of_rows((0, 1), np.array([[5, 1], [1, 5]]), 1), [0.1], "give threshold="),
        (Counts(5, 1, 1, 5), {"y_pred": [0, 1, 2]}, "no class of the reference"),
        (([0, 1, 1], [0.1, 0.2, 0.8]), {"y_pred": [0, 1, 1]}, "the reference has scores; give theirs, y_score="),
        ("nowhere.json", [0.1], "no file 'nowhere.json'"),
        (([0, 1, 1], [0.1, 0.2]), [0.1], "length"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(reference, scores, sentence):
    with pytest.raises(SteelyardError, match=sentence):
        unlabelled(**(scores if isinstance(scores, dict) else {"y_score": scores}), reference=reference, metrics=FEW)


def test_predictions_beside_scores_need_the_threshold_they_were_made_at():
    both = evaluate([0, 1, 1, 0], [0, 1, 0, 0], y_score=[0.1, 0.8, 0.2, 0.3])
    with pytest.raises(SteelyardError, match="threshold="):
        unlabelled([0.5, 0.2], reference=both)


def test_scores_beyond_the_reference_are_counted_and_stated(samples):
    (truth, scores), (_, new) = samples
    found = unlabelled(
        np.append(new, np.full(60, 99.0)), reference=(truth, scores), threshold=2.0, metrics=FEW, draws=200
    )
    assert found.outside >= 60
    assert "beyond all" in " ".join(found.verdict)


def test_few_rows_of_a_tied_reference_still_have_an_interval():
    found = unlabelled([0.2, 0.7, 0.7], reference=([0, 0, 1, 1], [0.2, 0.2, 0.2, 0.7]), metrics=FEW, draws=200)
    assert 0 < found.shares[0].low < found.shares[0].high <= 1


# ---------------------------------------------------------------- in the shell


@pytest.fixture(scope="module")
def folder(samples, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unlabelled")
    (truth, scores), (_, new) = samples
    pd.DataFrame({"y": truth, "s": scores}).to_csv(folder / "rows.csv", index=False)
    pd.DataFrame({"s": new}).to_csv(folder / "new.csv", index=False)
    pd.DataFrame({"s": np.full(400, 1.0)}).to_csv(folder / "odd.csv", index=False)
    (folder / "reference.json").write_text(
        tally(pd.DataFrame({"y": truth, "s": scores}), true="y", score="s").to_json()
    )
    return folder


def _run(*words, code=0):
    return run_command("unlabelled", *words, code=code)


def test_the_shell_prints_and_writes_what_python_finds(folder, found):
    words = [folder / "new.csv", "--score", "s", "--reference", folder / "reference.json", "--threshold", 2]
    ran = _run(*words, "--metrics", "f1")
    assert found.headline in " ".join(ran.stdout.split())
    assert max(map(len, ran.stdout.splitlines())) <= 100
    saved = json.loads(_run(*words, "--metrics", "f1", "--format", "json").stdout)
    assert saved["metrics"][0]["value"] == pytest.approx(found["f1"].value)
    assert Result.from_json(saved).fits
    table = _run(*words, "--metrics", "f1", "--format", "csv").stdout
    assert {line.partition(",")[0] for line in table.splitlines()[1:]} == {
        "class shares",
        "precision-recall curve",
        "unlabelled",
    }
    by_rows = [folder / "new.csv", "--score", "s", "--reference", folder / "rows.csv", "--true", "y", "--threshold", 2]
    again = json.loads(_run(*by_rows, "--metrics", "f1", "--format", "json").stdout)
    assert again["metrics"] == saved["metrics"]


def test_the_shell_warns_where_label_shift_does_not_fit_and_refuses_what_it_cannot_read(folder):
    reference = ["--reference", folder / "reference.json", "--threshold", 2, "--metrics", "f1"]
    odd = _run(folder / "odd.csv", "--score", "s", *reference)
    assert "Label shift is refused" in odd.stderr and "is not known" in odd.stdout.splitlines()[0]
    assert "no column 'q'" in _run(folder / "new.csv", "--score", "q", *reference, code=2).stderr
    assert "--score" in _run(folder / "new.csv", *reference, code=2).stderr
    assert "--true" in _run(folder / "new.csv", "--score", "s", "--reference", folder / "new.csv", code=2).stderr
    assert "no file" in _run(folder / "new.csv", "--score", "s", "--reference", folder / "none.json", code=2).stderr


def test_a_reference_of_many_classes_is_counted_by_tally_and_read_with_scores_or_predictions(folder):
    truth, columns = _columns(np.random.default_rng(4), 900, [0.5, 0.3, 0.2])
    names = np.array(["a", "b", "c"])
    frame = pd.DataFrame(columns, columns=[f"p_{name}" for name in names])
    frame.assign(call=names[columns.argmax(1)]).to_csv(folder / "new3.csv", index=False)
    frame.assign(y=names[truth]).to_csv(folder / "rows3.csv", index=False)
    saved = folder / "three.json"
    words = ["tally", folder / "rows3.csv", "--true", "y", "--score", "p_*", "-o", saved]
    ran = run_command(*words)
    assert ran.exit_code == 0 and "highest column" in ran.stderr, ran.output
    asked = ["--reference", saved, "--metrics", "accuracy", "--format", "json"]
    by_scores = json.loads(_run(folder / "new3.csv", "--score", "p_*", *asked).stdout)
    by_labels = json.loads(_run(folder / "new3.csv", "--pred", "call", *asked).stdout)
    assert by_scores["shares"] == by_labels["shares"]
    assert [row["value"] for row in by_labels["shares"]] == pytest.approx(np.bincount(truth) / 900, abs=0.01)


def test_rows_of_which_none_is_flagged_have_no_interval_that_is_a_point():
    rng = np.random.default_rng(0)
    truth = (rng.random(800) < 0.2).astype(int)
    scores = np.clip(0.1 + 0.4 * truth + 0.15 * rng.normal(size=800), 0.01, 0.99)
    result = steelyard.unlabelled([0.05], reference=steelyard.evaluate(truth, y_score=scores), metrics=["f1"])
    assert np.isnan(result["f1"].covariate) and not result["f1"].parts
    assert "All unlabelled rows are predicted as 0, so that covariate shift shows no interval of F1." in result.verdict
    assert " of the one unlabelled row are positive, against " in result.headline


def test_what_no_test_can_see_is_said_first():
    """Positives that come to look like negatives halve recall and leave the scores a lower prevalence explains."""
    rng = np.random.default_rng(0)
    truth = rng.random(4_000) < 0.1
    now = rng.random(4_000) < 0.1
    seen = now & (rng.random(4_000) < 0.5)
    found = steelyard.unlabelled(rng.normal(2.0 * seen), reference=(truth, rng.normal(2.0 * truth)), threshold=1.5)
    assert found.fits and found["recall"].value == pytest.approx(found["recall"].reference)
    start = "Recall is the reference's by assumption: no test can see positives that have come to look like negatives."
    assert found.headline.startswith(start) and found.verdict[0] == found.headline
    shown = " ".join(repr(found).split())
    assert shown.index(start) < shown.index("metric reference")
    assert found.to_html().index("by assumption") < found.to_html().index("<table")


def test_a_notebook_draws_the_curve_before_and_now_in_two_colours():
    """A notebook has none of the page's variables, where both were in the colour of its text."""
    rng = np.random.default_rng(0)
    truth = (rng.random(400) < 0.3).astype(int)
    scores = 1 / (1 + np.exp(1 - rng.normal(size=400) - 2 * truth))
    found = unlabelled(y_score=scores[:200], reference=score_table(truth, scores))
    html = found._repr_html_()
    assert 'class="sy-first"' in html and 'class="sy-second"' in html
    colour = r"\.sy-{}\{{color:var\([^,]+,\s*(#\w+)"
    first, second = (re.search(colour.format(part), html)[1] for part in ("first", "second"))
    assert first != second
