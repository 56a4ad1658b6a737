"""Tests of drift: changes between periods, split exactly into a part by the prevalence and one by the classifier."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from command_line import run_command

from steelyard import (
    Counts,
    Predictions,
    Result,
    SteelyardError,
    at_prevalence,
    drift,
    f1,
    list_metrics,
    roc_auc,
    tally,
)

pd = pytest.importorskip("pandas")
SIZE = 3_000


@pytest.fixture(scope="module")
def rows():
    """Three months: the second has more positives, the third a worse classifier."""
    rng = np.random.default_rng(0)
    month = np.repeat(["2024-01", "2024-02", "2024-03"], SIZE)
    truth = (rng.random(3 * SIZE) < np.where(month == "2024-02", 0.25, 0.08)).astype(int)
    scores = rng.normal(np.where(month == "2024-03", 1.0, 2.0) * truth)
    return truth, 1 / (1 + np.exp(2 - 2 * scores)), month


@pytest.fixture(scope="module")
def found(rows):
    truth, scores, month = rows
    return drift(truth, y_score=scores, period=month, metrics=["recall", "precision", "f1", "roc_auc"], draws=800)


def _row(found, period, metric):
    return next(row for row in found.of(period) if row.metric == metric)


def test_the_parts_of_every_metric_add_up_to_its_change(rows):
    truth, scores, month = rows
    every = [metric for metric in list_metrics() if metric.function is not None and not metric.is_of_label_sets]
    whole = drift(truth, y_score=scores, period=month, metrics=every, draws=20)
    defined = [row for row in whole if np.isfinite(row.change)]
    assert len(defined) > 60
    for row in defined:
        assert row.by_prevalence + row.by_classifier == pytest.approx(row.change, abs=1e-12)
        assert row.after - row.before == pytest.approx(row.change, abs=1e-9)
        assert row.by_classifier_low <= row.by_classifier <= row.by_classifier_high


def test_the_parts_are_the_mean_over_both_orders(found, rows):
    truth, scores, month = rows
    tables = []
    for name in ("2024-01", "2024-02"):
        of = month == name
        flagged = scores[of] >= 0.5
        true = truth[of] == 1
        tables.append(
            Counts(
                *(
                    int((a & b).sum())
                    for a, b in ((true, flagged), (true, ~flagged), (~true, flagged), (~true, ~flagged))
                )
            )
        )
    shares = [(table.tp + table.fn) / SIZE for table in tables]
    at = [[float(f1(at_prevalence(table, share))) for table in tables] for share in shares]
    expected = ((at[1][0] - at[0][0]) + (at[1][1] - at[0][1])) / 2
    assert _row(found, "2024-02", "f1").by_prevalence == pytest.approx(expected)


def test_the_prevalence_moves_precision_and_the_classifier_recall(found):
    assert _row(found, "2024-02", "recall").by_prevalence == 0
    assert _row(found, "2024-02", "precision").shows("by_prevalence")
    assert not _row(found, "2024-02", "recall").shows("by_classifier")
    assert _row(found, "2024-03", "recall").shows("by_classifier")
    assert not _row(found, "2024-03", "precision").shows("by_prevalence")
    assert "the prevalence raised precision by 32.7 points and F1 by 0.270; the classifier shows" in found.verdict[0]
    assert "the classifier lowered recall by " in found.verdict[1]
    assert found.verdict[2].endswith("or refit it.")


def test_a_drop_that_few_rows_cannot_show_is_no_reason_to_keep_the_classifier():
    groups = {"DE": (18, 2, 90, 890), "IT": (7, 6, 40, 450), "ES": (9, 1, 45, 445)}
    cells = [(1, 1), (1, 0), (0, 1), (0, 0)]
    rows = [
        (name, *cell)
        for name, counts in groups.items()
        for cell, n in zip(cells, counts, strict=True)
        for _ in range(n)
    ]
    country, truth, predicted = zip(*rows, strict=True)
    found = drift(truth, predicted, period=list(country), reference="DE", metrics=["recall", "precision"])
    row = _row(found, "IT", "recall")
    assert "IT against DE: no change is shown." in found.verdict and row.by_classifier_high < 0
    assert row.possible_drop == -row.by_classifier_low > 0.5
    advice = f"recall in IT could be {100 * row.possible_drop:.1f} points lower than in DE: label more rows of IT"
    assert advice in found.verdict[-1]


def test_an_area_has_no_part_by_the_prevalence(found, rows):
    truth, scores, month = rows
    row = _row(found, "2024-03", "roc_auc")
    assert row.by_prevalence == 0
    assert row.after == pytest.approx(roc_auc(truth[month == "2024-03"], scores[month == "2024-03"]))
    assert row.change_high < 0


def test_each_period_has_its_prevalence_and_where_its_scores_lie(found, rows):
    truth, _, month = rows
    for period in found.periods:
        assert period.prevalence == pytest.approx(truth[month == period.period].mean())
        assert period.prevalence_low < period.prevalence < period.prevalence_high
    first, second, _ = found.periods
    assert np.isnan(first.score_shift)
    assert second.score_shift_low > 0.5


def test_a_period_without_labels_has_the_part_that_its_prevalence_makes(rows):
    truth, scores, month = rows
    early, new = month == "2024-01", scores[month == "2024-02"]
    found = drift(
        truth[early],
        y_score=scores[early],
        period=month[early],
        unlabelled={"later": new},
        metrics=["recall", "f1"],
        draws=500,
    )
    later = found.periods[1]
    assert not later.labelled
    assert later.prevalence_low < truth[month == "2024-02"].mean() < later.prevalence_high
    assert _row(found, "later", "f1").by_prevalence > 0
    assert np.isnan(_row(found, "later", "f1").by_classifier)
    recall = _row(found, "later", "recall")
    assert (recall.by_prevalence, recall.by_prevalence_low, recall.by_prevalence_high) == (0, 0, 0)
    assert "no labels" in found.verdict[0]
    assert "not known" in repr(found)


def test_a_period_whose_label_shift_cannot_be_tested_says_so(rows):
    truth, scores, month = rows
    early, new = month == "2024-01", scores[month == "2024-02"]
    of_early = {"y_score": scores[early], "period": month[early], "metrics": ["recall"], "draws": 50}
    tested = drift(truth[early], unlabelled={"later": new}, **of_early)
    periods = type(tested.periods)([tested.periods[0], replace(tested.periods[1], p_value=np.nan)])
    assert "No test of that applies" not in tested.verdict[0]
    assert "No test of that applies" in replace(tested, periods=periods).verdict[0]


def test_many_classes_and_named_ones_are_split_too():
    rng = np.random.default_rng(1)
    month = np.repeat([1, 2], 1_500)
    truth = np.concatenate([rng.choice(3, 1_500, p=[0.6, 0.3, 0.1]), rng.choice(3, 1_500, p=[0.2, 0.3, 0.5])])
    predicted = np.where(rng.random(3_000) < 0.8, truth, rng.integers(0, 3, 3_000))
    found = drift(
        truth, predicted, period=month, metrics=["accuracy", "f1[average=macro]", "precision[class=2]"], draws=300
    )
    assert [row.metric for row in found] == ["accuracy", "f1[average=macro]", "precision[class=2]"]
    assert found.changes[2].shows("by_prevalence")
    assert all(row.by_prevalence + row.by_classifier == pytest.approx(row.change) for row in found)


def test_frames_tallies_and_files_give_what_arrays_do(found, rows, tmp_path):
    truth, scores, month = rows
    frame = pd.DataFrame({"y": truth, "p": scores, "month": month})
    options = {"metrics": ["recall", "precision", "f1", "roc_auc"], "draws": 800}
    assert drift(frame, true="y", score="p", period="month", **options).changes == found.changes
    assert drift(tally(frame, true="y", score="p", by="month"), **options).changes == found.changes
    assert Result.from_json(found.to_json()) == found
    frame.to_csv(tmp_path / "rows.csv", index=False)
    words = ["drift", tmp_path / "rows.csv", "--true", "y", "--score", "p", "--period", "month", "--metrics", "f1"]
    ran = run_command(*words, code=0)
    assert found.verdict[1].split(":")[0] in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 100
    saved = json.loads(run_command(*words, "--format", "json").stdout)
    assert saved["changes"][0]["change"] == pytest.approx(_row(found, "2024-02", "f1").change)
    assert run_command(*words[:6]).exit_code == 2


def test_periods_are_in_natural_order_and_every_table_and_format_has_them(rows, tmp_path):
    truth, scores, month = rows
    names = {"2024-01": "day1", "2024-02": "day2", "2024-03": "day10"}
    for old, new in names.items():
        of = month == old
        pd.DataFrame({"y": truth[of], "p": scores[of]}).to_csv(tmp_path / f"{new}.csv", index=False)
    odd = np.random.default_rng(0).uniform(0.3, 0.6, 900)
    pd.DataFrame({"p": odd}).to_csv(tmp_path / "new.csv", index=False)
    words = ["drift", tmp_path / "day*.csv", "--true", "y", "--score", "p", "--unlabelled", tmp_path / "new.csv"]
    words += ["--metrics", "recall,precision"]

    def run(form):
        return run_command(*words, "--format", form).stdout

    result = Result.from_json(json.loads(run("json")))
    assert [period.period for period in result.periods] == ["day1", "day2", "day10", "new"]
    assert result.reference == "day1"
    assert "prevalence is not known" in result.verdict[2]
    assert all(np.isnan(row.by_prevalence) for row in result.of("new"))
    change = result.of("day2")[0]
    assert change.after_low < change.after < change.after_high
    assert {line.partition(",")[0] for line in run("csv").splitlines()[1:]} == {"periods", "drift"}
    page = run("html")
    for text in (page, run("md")):
        assert "above reference" in text and "not known; by label shift" in text
        assert text.index("day2 against day1") < text.index("above reference")
    assert page.count("<figure") == 5 and "Change of precision in points" in page


def test_what_cannot_be_split_is_undefined_or_refused(rows, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    truth, scores, month = rows
    one_class = np.where(month == "2024-02", 0, truth)
    found = drift(one_class, y_score=scores, period=month, metrics=["recall", "specificity"], draws=50)
    assert "no rows of class 1" in found.changes[0].undefined
    assert np.isfinite(found.changes[0].before) and np.isnan(found.changes[0].after)
    assert np.isfinite(found.changes[1].after) and np.isnan(found.changes[1].by_prevalence)
    with pytest.raises(SteelyardError, match="period of labelled rows"):
        drift(truth, y_score=scores, period=month, unlabelled={"2024-02": scores}, metrics=["recall"], draws=20)
    assert "no rows of class 1" in repr(found)
    with pytest.raises(SteelyardError, match="period="):
        drift(truth, y_score=scores)
    with pytest.raises(SteelyardError, match="no period"):
        drift(truth, y_score=scores, period=month, reference="2023-01")
    with pytest.raises(SteelyardError, match="one period only"):
        drift(truth, y_score=scores, period=np.full(len(truth), "now"))
    with pytest.raises(SteelyardError, match="scores"):
        drift(truth, truth, period=month, unlabelled={"later": scores}, metrics=["recall"], draws=20)


def test_of_many_metrics_of_equal_periods_a_change_is_rarely_shown():
    rng, shown = np.random.default_rng(5), 0
    for _ in range(30):
        truth = rng.random(800) < 0.2
        scores = rng.normal(size=800) + 1.5 * truth
        result = drift(truth, y_score=scores, threshold=0.8, period=np.arange(800) % 2, draws=200)
        shown += "no change is shown" not in result.verdict[0]
    assert shown <= 1  # each interval by itself shows a change in 4 of these


def test_a_change_of_which_both_parts_are_shown_is_put_down_to_both():
    rng = np.random.default_rng(3)
    month = np.repeat(["a", "b"], 20_000)
    truth = rng.random(40_000) < np.where(month == "a", 0.3, 0.03)
    predicted = rng.random(40_000) < np.where(truth, np.where(month == "a", 0.8, 0.6), 0.1)
    verdict = drift(truth, predicted, period=month, metrics=["recall", "precision"], draws=400).verdict[0]
    assert (
        "the prevalence lowered precision by 56.4 points; the classifier lowered recall by 19.2 points and" in verdict
    )
    assert verdict.endswith("and precision by 4.14 points.")


def test_the_page_fits_a_phone_and_draws_each_period(found, show):
    with show(found.to_html(), width=390) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert tab.locator("figure").count() == 1 + 2 * 4
        assert tab.locator("figure").first.locator("circle").count() == 3
        ends = tab.evaluate(
            "[...document.querySelectorAll('figure svg text')].map(t => t.getBoundingClientRect().right)"
        )
        assert max(ends) <= 390


def test_periods_that_are_single_time_stamps_are_refused():
    stamps = [f"2024-01-01 00:{row // 60:02}:{row % 60:02}" for row in range(401)]
    with pytest.raises(
        SteelyardError, match=r"There are 401 periods, such as '2024-.*; give a column of weeks or months"
    ):
        drift([0, 1] * 200 + [1], [0, 1] * 200 + [0], period=stamps)


def test_each_of_several_files_is_a_period_and_rows_without_labels_have_the_same_columns(tmp_path):
    rng = np.random.default_rng(0)
    for day in (1, 2):
        y_true = rng.random(400) < 0.1 * day
        lines = {"y": y_true, "p": np.clip(rng.normal(0.2 + 0.4 * y_true, 0.1), 0, 1)}
        pd.DataFrame(lines).to_csv(tmp_path / f"day{day}.csv", index=False)
    p = Predictions.read(tmp_path / "day*.csv", true="y", score="p")
    found = p.drift(unlabelled={"new": tmp_path / "day2.csv"}, metrics=["recall"], draws=100)
    assert [each.period for each in found.periods] == ["day1", "day2", "new"]
    assert [each.labelled for each in found.periods] == [True, True, False]
    with pytest.raises(SteelyardError, match="period of each row is needed"):
        Predictions.read(tmp_path / "day1.csv", true="y", score="p").drift()
