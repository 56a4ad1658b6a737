"""The verdict of a comparison: rows first, then the number of the use, then which model to choose, or what would tell."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from command_line import run_command

from steelyard import SteelyardError, compare, evaluate
from steelyard.results import Comparison


def scored(n, prevalence, gains, correlation=0.7, seed=0):
    """The truth, and probabilities of models whose positives lie so far above the negatives."""
    rng = np.random.default_rng(seed)
    y, common = (rng.random(n) < prevalence).astype(int), rng.standard_normal(n)
    models = {}
    for name, gain in gains.items():
        own = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.standard_normal(n)
        models[name] = 1 / (1 + np.exp(-(2 * (own + gain * y - gain / 2 - 3))))
    return y, models


DIFFER = scored(10_000, 0.01, {"lgbm": 2.8, "lr": 2.2})
TIE = scored(3_000, 0.03, {"lgbm": 2.2, "lr": 2.15}, 0.9)
THREE = scored(3_000, 0.05, {"lgbm": 2.8, "rf": 2.7, "lr": 1.5}, 0.8, 3)
LABELS = THREE[0], {name: (scores > 0.05).astype(int) for name, scores in THREE[1].items()}


def crossing(seed=0):
    """A model that is right about the few rows on top, and one that orders all the others."""
    rng = np.random.default_rng(seed)
    y = (rng.random(20_000) < 0.02).astype(int)
    top = np.where(y & (rng.random(20_000) < 0.5), 6 + rng.random(20_000), rng.standard_normal(20_000))
    return y, {"top": top, "all": rng.standard_normal(20_000) + 1.8 * y}


def test_the_first_sentence_is_about_rows_and_the_last_one_decides():
    verdict = compare(*DIFFER, use="alerts", capacity=200).verdict
    assert verdict[0] == "At 200 alerts of 10,000 rows lgbm finds 57 of 89 positives and lr 47: 10 more (2 to 18)."
    assert verdict[1].startswith("Average precision is 0.526 for lgbm and 0.301 for lr: 0.225 higher (")
    assert verdict[2:] == ["Choose lgbm."]


def test_without_a_capacity_there_are_as_many_alerts_as_positives():
    outcomes = compare(*DIFFER, use="alerts").outcomes[0]
    assert (outcomes.alerts, outcomes.of, outcomes.positives) == (89, 10_000, 89)
    ranks = {name: np.argsort(-scores)[:89] for name, scores in DIFFER[1].items()}
    assert [round(model.found, 9) for model in outcomes.models] == [DIFFER[0][top].sum() for top in ranks.values()]


def test_rows_that_are_equal_at_the_threshold_share_what_is_left():
    y, coarse = np.array([1, 0, 1, 0, 0, 0] * 50), np.array([0.9, 0.9, 0.5, 0.5, 0.1, 0.1] * 50)
    outcomes = compare(y, {"a": coarse, "b": coarse[::-1]}, use="alerts", capacity=50).outcomes[0]
    assert outcomes.models[0].found == pytest.approx(25)  # half of 50 alerts among 50 right and 50 wrong ones


def test_a_tie_says_what_the_difference_could_be_and_how_many_positives_would_tell():
    verdict = compare(*TIE, use="alerts").verdict
    assert re.fullmatch(
        r"Not distinguishable: lr could find from 1 fewer to 3 more; about 1,\d00 positives would tell\.",
        verdict[-1],
    )


def test_without_a_use_all_are_asked_and_named_where_they_disagree():
    verdict = compare(*crossing()).verdict
    assert verdict[-1] == "Choose top for alerts, all for ranking."
    assert [sentence.split(",")[0] for sentence in verdict[1:3]] == ["For alerts", "For ranking"]
    assert compare(*DIFFER).verdict[-1] == "Choose lgbm."


@pytest.mark.parametrize(("use", "choice"), [("alerts", "top"), ("ranking", "all")])
def test_a_use_decides_by_its_own_number_alone(use, choice):
    found = compare(*crossing(), use=use)
    assert found.verdict[-1] == f"Choose {choice}." and found.leaderboard().rows[0].model == choice
    assert list(found.decisive) == [use] and found.use == use


def test_of_several_models_those_that_lead_together_are_named():
    verdict = compare(*THREE, use="alerts").verdict
    assert verdict[0] == "At 55 alerts of 1,000 rows lgbm finds 41 of 55 positives, rf 40 and lr 23."
    assert "more than rf (" in verdict[1] and "more than lr (" in verdict[1]
    assert verdict[-1] == "Choose lgbm or rf: no test distinguishes the two."


def test_labels_are_found_missed_and_false_alarms_of_each_model():
    verdict = compare(LABELS[0], {name: LABELS[1][name] for name in ("lgbm", "lr")}).verdict
    assert verdict[0].startswith("In 1,000 rows lgbm finds 22 of 55 positives, misses 33 and raises 0.7 false alarms; ")
    assert re.match(r"lgbm finds 9 more \(.*\) and raises 7\.3 fewer false alarms \(.* fewer\) than lr\.", verdict[1])
    assert verdict[-1] == "Choose lgbm."


def test_classes_and_label_sets_speak_in_their_own_terms():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 2_000)
    of_classes = {name: np.where(rng.random(2_000) < share, y, rng.integers(0, 10, 2_000)) for name, share in (("a", 0.8), ("b", 0.7))}  # fmt: skip
    verdict = compare(y, of_classes).verdict
    assert re.match(r"a is right in \d+ of 1,000 rows and b in \d+: \d+ more \(\d+ to \d+\)\.", verdict[0])
    assert verdict[1].startswith("For alerts, macro F1 is") and verdict[2].startswith(
        "For balance, balanced accuracy is"
    )
    tags = (rng.random((800, 6)) < 0.2).astype(int)
    of_sets = {name: np.where(rng.random(tags.shape) < share, tags, 1 - tags) for name, share in (("a", 0.95), ("b", 0.9))}  # fmt: skip
    verdict = compare(tags, of_sets).verdict
    assert re.match(
        r"In 100 rows a finds [\d.]+ of 1\d\d labels, misses [\d.]+ and raises [\d.]+ false labels; b", verdict[0]
    )
    assert verdict[-1] == "Choose a."


def test_models_of_other_rows_are_decided_too():
    saved = {name: evaluate(THREE[0], y_score=THREE[1][name]) for name in ("lgbm", "lr")}
    verdict = compare(saved, use="alerts", capacity="50 of 1000").verdict
    assert verdict[0].startswith("At 50 alerts of 1,000 rows lgbm finds 39")
    assert verdict[-1] == "Choose lgbm."
    with pytest.raises(SteelyardError, match="'200 of 10000'"):
        compare(saved, use="alerts", capacity=50)


NO_SKILL = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("models", "use", "words"),
    [
        ({"nobody": np.zeros(3_000, int), "coin": (NO_SKILL.random(3_000) < 0.3).astype(int)}, None, "a random predictor: use none for alerts or balance"),
        ({name: np.minimum(scores + 0.5, 1) for name, scores in THREE[1].items()}, "probabilities", "stating the prevalence for every row: recalibrate before"),
        ({name: NO_SKILL.random(3_000) for name in "ab"}, "alerts", "a random order: use none for alerts"),
        ({name: 1 - scores for name, scores in THREE[1].items()}, "ranking", "a random order: use none for ranking"),
    ],
)  # fmt: skip
def test_no_model_is_chosen_that_is_not_shown_to_have_skill(models, use, words):
    found = compare(THREE[0], models, use=use)
    assert f"is shown to be better than {words}" in found.verdict[-1] and "Choose" not in found.verdict[-1]
    assert all(set(of_use) == set(models) for of_use in found.no_skill.values())
    assert Comparison.from_json(found.to_json()).verdict == found.verdict


def test_a_model_without_skill_stands_in_no_choice_and_is_named():
    y, models = THREE
    verdict = compare(y, {"all": np.ones(len(y), int), "lgbm": LABELS[1]["lgbm"]}, metrics=["recall"]).verdict
    assert verdict[-1] == "Choose lgbm. all is not shown to be better than a random predictor."
    inflated = {name: np.minimum(scores + 0.5, 1) for name, scores in models.items()}
    last = compare(y, inflated).verdict[-1]
    assert last.startswith("Choose lgbm") and "None is shown to be better than stating the prevalence" in last


def test_no_sentence_has_a_p_value():
    for models in (DIFFER, TIE, THREE, LABELS, crossing()):
        assert not any(re.search(r"\bp [=<]|NaN|nan|inf", sentence) for sentence in compare(*models).verdict)


def test_models_that_are_the_same_are_not_distinguishable():
    y, models = THREE
    verdict = compare(y, {"a": models["lgbm"], "b": models["lgbm"].copy()}, use="alerts").verdict
    assert "finds 41 of 55 positives and b as many (" in verdict[0]
    assert verdict[1] == "Average precision is 0.826 for both."
    assert verdict[-1].startswith("Not distinguishable: a could find from") and "would tell" not in verdict[-1]


def test_every_surface_has_the_same_sentences(tmp_path):
    y, models = THREE
    found = compare(y, models, use="alerts")
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"y": y, **models}).write_parquet(path)
    words = [
        "compare",
        path,
        "--true",
        "y",
        *(word for name in models for word in ("--score", name)),
        "--use",
        "alerts",
    ]
    shown = " ".join(run_command(*words, code=0, columns=80).stdout.split())
    for sentence in found.verdict:
        assert sentence in shown and sentence in " ".join(repr(found).split())
        assert sentence in found.to_markdown().replace("\\", "")
        words_of_page = re.sub(r"<[^>]+>", "", found.to_html())
        assert sentence in words_of_page
        assert sentence in re.sub(r"<[^>]+>", "", found._repr_html_())
    assert found.to_dict()["verdict"] == found.verdict
    assert Comparison.from_json(found.to_json()).verdict == found.verdict


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"use": "ranking"}, "has no number of labels alone"),
        ({"use": "alert"}, "No use is called"),
        ({"use": "banana"}, r"TOML file of your own\.$"),
        ({"capacity": 10}, "capacity= is of models that score"),
    ],
)
def test_what_cannot_be_decided_is_refused(arguments, words):
    with pytest.raises(SteelyardError, match=words):
        compare(*LABELS, **arguments)


@pytest.mark.parametrize("capacity", [0, -1, "many", True, "300 of 200", 99_999])
def test_what_is_no_capacity_is_refused(capacity):
    with pytest.raises(SteelyardError, match=r"capacity=|[Aa]lerts are some of the rows"):
        compare(*TIE, use="alerts", capacity=capacity)
