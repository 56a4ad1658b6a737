"""Operating points: the menu's thresholds and rows, its order, its intervals and guarantee, and what it leaves out."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from command_line import run_command

import steelyard
from steelyard import Predictions, Result, best_threshold, evaluate, operating_points, score_table
from steelyard.exceptions import InputError


def scored(n=3_000, share=0.05, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return y, 1 / (1 + np.exp(-(rng.normal(size=n) + 2 * y - 3)))


def test_each_point_is_the_threshold_that_its_name_says():
    y, s = scored()
    menu = operating_points(y, s, capacity="100 of 3000", rng=0)
    named = {
        "best F1": best_threshold(y, s, "f1", draws=0),
        "best AC-score": best_threshold(y, s, "ac_score", draws=0),
        "a miss costs 10 false alarms": best_threshold(y, s, cost={"cost_fn": 10}, draws=0),
        "recall of 90 % guaranteed": best_threshold(
            y, s, "specificity", where="recall >= 0.9", confidence=0.95, draws=0
        ),
        "at most 100 alerts of 3,000": best_threshold(y, s, "recall", where="alerts <= 100 of 3000", draws=0),
    }
    for name, found in named.items():
        assert menu[name].threshold == found.threshold, name
        assert (menu[name].precision, menu[name].recall) == pytest.approx((found.precision, found.recall))
    assert menu["as evaluated"].threshold == 0.5
    many = menu["as many alerts as positives"]
    assert round(many.flagged * 3_000 / many.per) == y.sum()
    assert menu["flag nobody"].flagged == 0 and menu["flag everybody"].missed == 0
    with pytest.raises(InputError, match="there are 'as evaluated'"):
        menu["best MCC"]


def test_rows_are_counted_by_one_denominator_and_add_up():
    y, s = scored(24_000, share=0.005)
    menu = operating_points(y, s, rng=0)
    assert menu.per == 10_000 and "per 10,000 rows" in menu.headline
    for row in menu.shown_rows():
        assert row["found"] + row["false alarms"] == row["flagged"]
        assert row["found"] + row["missed"] == round(menu.positives)
    few = operating_points(y[:400], s[:400] + np.arange(400) * 1e-9, rng=0) if y[:400].any() else None
    assert few is None or few.per == 400
    small = operating_points(*scored(300, share=0.3), rng=0)
    assert small.per == 300 and "of these 300 rows" in small.headline


def test_the_menu_at_another_prevalence_reads_what_evaluate_reads():
    y, s = scored()
    menu = operating_points(y, s, prevalence=0.01, rng=0)
    there = evaluate(y, y_score=s, prevalence=0.01)
    point = menu["as evaluated"]
    assert point.precision == pytest.approx(there["precision"].value)
    assert point.flagged / point.per == pytest.approx(there["predicted_prevalence"].value)
    assert "at a prevalence of 1.00 %" in menu.headline


def test_the_intervals_at_a_threshold_that_was_given_are_those_of_evaluate():
    y, s = scored()
    point, report = operating_points(y, s, threshold=0.3, rng=0)["as evaluated"], evaluate(y, y_score=s, threshold=0.3)
    assert point.precision_interval == pytest.approx((report["precision"].low, report["precision"].high))
    assert point.recall_interval == pytest.approx((report["recall"].low, report["recall"].high))


def test_the_guaranteed_recall_has_the_bound_of_its_test():
    y, s = scored()
    for recall, confidence in ((0.9, 0.95), (0.8, 0.9)):
        point = operating_points(y, s, recall=recall, confidence=confidence, rng=0)[
            f"recall of {100 * recall:g} % guaranteed"
        ]
        low, high = point.recall_interval
        assert recall <= low < point.recall and high == 1
        hits, trials = round(point.recall * y.sum()), int(y.sum())
        assert low == pytest.approx(steelyard.interval("recall", steelyard.Counts(hits, trials - hits, 1, 1), method="exact", level=2 * confidence - 1).low)  # fmt: skip


def test_the_point_of_a_use_stands_first():
    y, s = scored()
    first = {
        use: operating_points(y, s, use=use, rng=0).points[0].point
        for use in (None, "alerts", "balance", "probabilities", "ranking")
    }
    assert list(first.values()) == [
        "as evaluated",
        "best F1",
        "best AC-score",
        "a miss costs 10 false alarms",
        "as evaluated",
    ]


def test_costs_may_differ_by_row():
    y, s = scored()
    amount = np.random.default_rng(1).gamma(2, 50, len(y))
    menu = operating_points(y, s, cost={"cost_fn": amount, "cost_fp": 15}, rng=0)
    expected = best_threshold(y, s, cost={"cost_fn": amount, "cost_fp": 15}, draws=0)
    assert menu["least cost"].threshold == expected.threshold
    plain = operating_points(y, s, rng=0)
    assert menu["best F1"].precision == plain["best F1"].precision  # rows count alike where costs are not asked for
    assert menu["best F1"].precision_interval == pytest.approx(plain["best F1"].precision_interval, abs=0.05)


def test_what_cannot_be_guaranteed_is_left_out_with_the_reason():
    y, s = scored(400, share=0.03)
    menu = operating_points(y, s, rng=0)
    assert not any("guaranteed" in point.point for point in menu)
    assert any("needs at least 29 positives" in note for note in menu.notes)


def test_scores_that_are_no_probabilities_have_no_threshold_as_evaluated():
    y, s = scored()
    menu = operating_points(y, 10 * s, rng=0)
    assert "as evaluated" not in [point.point for point in menu] and math.isinf(menu["flag everybody"].threshold)
    assert operating_points(y, 10 * s, threshold=5, rng=0)["as evaluated"].threshold == 5


def test_clusters_and_weights_widen_the_intervals():
    y, s = scored(1_200, share=0.2)
    y, s, patient = np.repeat(y, 4), np.repeat(s, 4), np.repeat(np.arange(1_200), 4)
    alone, grouped = operating_points(y, s, rng=0), operating_points(y, s, cluster=patient, rng=0)
    for name in ("best F1", "as evaluated"):
        one, four = (np.ptp(menu[name].recall_interval) for menu in (alone, grouped))
        assert 1.6 < four / one < 2.5


def test_a_table_and_a_method_give_the_same_menu_which_is_saved_and_shown():
    y, s = scored()
    menu = operating_points(y, s, rng=0)
    assert Predictions(y, y_score=s).operating_points(rng=0) == menu
    assert operating_points(score_table(y, s), rng=0).points == menu.points
    assert Result.from_json(menu.to_json()) == menu
    assert len(menu.to_frame("polars")) == len(menu) == 8
    assert "best F1" in menu.to_markdown() and "best F1" in menu._repr_html_()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"recall": 90}, "recall= is a share above 0 and below 1"),
        ({"capacity": 0}, "capacity= is 1 alert or more"),
        ({"use": "alert"}, "No use is called 'alert'"),
        ({"confidence": 1}, "confidence"),
    ],
)
def test_what_is_no_option_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        operating_points(*scored(), **options)


def test_the_shell_prints_the_menu_where_no_aim_is_given(tmp_path):
    y, s = scored()
    file = tmp_path / "p.csv"
    file.write_text("y,p\n" + "\n".join(f"{a},{b!r}" for a, b in zip(y.tolist(), s.tolist(), strict=True)))
    menu = run_command("threshold", file, "--true", "y", "--score", "p").stdout
    assert menu.startswith("Operating points per 1,000 rows") and "recall of 90 % guaranteed" in menu
    same = run_command("operating-points", file, "--true", "y", "--score", "p").stdout
    assert same == menu
    first = run_command("operating-points", file, "--true", "y", "--score", "p", "--use", "alerts", "--capacity", "50 of 1000", "--format", "json")  # fmt: skip
    points = [point["point"] for point in json.loads(first.stdout)["points"]]
    assert points[0] == "best F1" and "at most 50 alerts of 1,000" in points
    best = run_command("threshold", file, "--true", "y", "--score", "p", "--use", "alerts").stdout
    assert best.startswith("At threshold ")
