"""Monitors: alarms and their limit, state that merges and is resumed, labels that come later."""

from __future__ import annotations

import json
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

import steelyard
from steelyard import Counts, Monitor, Result, SteelyardError, confusion
from steelyard.exceptions import InputError, InputTypeError


def day(rng, recall, rows=300, prevalence=0.1, false=0.03):
    """The truth and the predictions of a day."""
    truth = rng.random(rows) < prevalence
    return truth.astype(int), np.where(truth, rng.random(rows) < recall, rng.random(rows) < false).astype(int)


def followed(recalls, rules="recall >= 0.8", seed=0, **options):
    """A monitor after a day of each recall."""
    rng, monitor = np.random.default_rng(seed), Monitor(rules, **options)
    for number, recall in enumerate(recalls):
        monitor.update(*day(rng, recall), period=f"day {number + 1}")
    return monitor


def test_a_bad_month_after_a_good_one_is_found_and_dated():
    result = followed([0.9] * 30 + [0.6] * 15).result()
    (track,) = result.alarms
    assert 29 <= int(track.since.split()[1]) <= 35 < int(track.alarm.split()[1]) + 5
    assert track.since_value == pytest.approx(0.6, abs=0.1) and track.p_value <= 0.05
    assert "ALARM: recall >= 0.8 has been broken since about day" in result.headline
    assert result.notes[-1].startswith(f"Compare the rows since {track.since} with those before (drift)")
    assert not followed([0.9] * 45).alarms


def weeks(recall, number, monitor=None, rng=None, positives=80):
    """A monitor of recall after so many weeks of 8,000 rows each, counted."""
    for _ in range(number):
        tp, fp = rng.binomial(positives, recall), rng.binomial(7_920, 0.003)
        table = Counts(tp=tp, fn=positives - tp, fp=fp, tn=7_920 - fp)
        monitor.update(table, period=f"week {len(monitor.batches) + 1}")
    return monitor


RELEASE = Counts(tp=248, fn=152, fp=120, tn=39_480)  # recall is 62 %


def test_a_fall_shows_in_the_recent_value_weeks_before_the_alarm_and_says_that_it_is_not_certain(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    for seed in range(5):
        rng, monitor = np.random.default_rng(seed), Monitor("recall >= reference - 0.05", reference=RELEASE)
        good = weeks(0.62, 3, monitor, rng).result()
        assert good.tracks[0].recent_batches.tolist() == [0, 2, 2] and "Recall was" not in good.headline
        shown = [weeks(0.4, 1, monitor, rng).result() for _ in range(2)]
        assert not shown[0].alarms and any("below its limit of 52.6 %: not yet certain." in r.headline for r in shown)
        assert shown[1].tracks[0].recent[-1] == pytest.approx(shown[1].tracks[0].by_batch[-2:].mean())
        assert shown[1].shown_rows()[0]["recent"].endswith("% (2)")
        assert "Recent: the fewest last batches (number in brackets) with at least 100 positives (recall)." in repr(
            good
        )
        assert weeks(0.4, 12, monitor, rng).result().alarms


def test_the_recent_value_is_of_the_fewest_last_batches_with_a_hundred_rows_that_the_metric_rests_on(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    monitor = Monitor(["recall >= 0.1", "precision >= 0.1", "mcc >= 0.1"])
    for tp, fn, fp in ((60, 60, 20), (20, 20, 80), (40, 20, 40), (2, 2, 120)):
        monitor.update(Counts(tp=tp, fn=fn, fp=fp, tn=900))
    recall, precision, mcc = monitor.result()
    assert recall.recent_batches.tolist() == [1, 2, 2, 3] and precision.recent_batches.tolist() == [0, 1, 2, 1]
    assert recall.recent[-1] == pytest.approx(62 / 104) and precision.recent[-1] == pytest.approx(2 / 122)
    assert mcc.recent_batches.tolist() == [1, 2, 2, 3]
    assert recall.recent_text() == "59.6 % (last 3 batches)" and precision.recent_text() == "1.64 % (last batch)"
    few = Monitor("recall >= 0.1")
    few.update(Counts(tp=3, fn=2, fp=1, tn=90))
    assert few.result().tracks[0].recent_text() == "–" and "Recent:" not in repr(few.result())
    few.update(Counts(tp=0, fn=21, fp=1, tn=90))
    assert few.result().tracks[0].recent_text() == "0 % (last batch, 21 positives)"
    assert few.result().shown_rows()[0]["recent"] == "0 % of 21"
    assert "Recent: the last batch alone, as all together have fewer than 100 positives (recall)." in repr(few.result())
    assert "not yet certain" not in few.result().headline


@pytest.mark.parametrize(("before", "after", "positives"), [(0.62, 0.4, 80), (0.62, 0.3, 40), (0.8, 0.55, 30)])
def test_the_expected_delay_is_that_of_simulated_runs(before, after, positives):
    rows = Counts(tp=1_000 * before, fn=1_000 - 1_000 * before, fp=297, tn=98_703)
    monitor = Monitor("recall >= reference - 0.05", reference=rows)
    (expected,) = monitor.expected_delay(after, batch_rows=100 * positives)
    assert (
        str(expected).startswith(f"Recall falling from {before:.1%}".replace("%", " %")) and expected.rows == positives
    )
    taken = []
    for seed in range(60):
        rng, monitor = np.random.default_rng(seed), Monitor("recall >= reference - 0.05", reference=rows)
        weeks(before, 6, monitor, rng, positives)
        (track,) = weeks(after, 25, monitor, rng, positives).result()
        taken.append(np.inf if track.alarm is None else int(track.alarm.split()[1]) - 6)
    assert abs(np.median(taken) - expected.batches) <= 1 + 0.2 * expected.batches


def test_a_monitor_states_its_limits_and_delays_before_it_starts():
    monitor = Monitor(["recall >= reference - 5 %", "fpr <= 0.01"], reference=RELEASE)
    lines = repr(monitor).splitlines()
    assert lines[1] == (
        "The limit of recall is 51.8 %: the reference's 62.0 % minus 5 points, minus 5.19 points for its own uncertainty."
    )
    assert lines[2].startswith("Recall falling from 62.0 % to 41.6 % would raise an alarm after about ")
    assert lines[2].endswith("positives.")
    assert lines[3].startswith("False positive rate rising from 0.303 % to 1.70 %") and lines[3].endswith("negatives.")
    assert lines[4] == "Delays are the medians of 201 simulated runs; half of them took longer."
    weeks(0.6, 1, monitor, np.random.default_rng(0))
    assert lines[1] in monitor.result().notes and len(repr(monitor).splitlines()) == 1
    assert "batches of 80 positives" in str(monitor.expected_delay({"recall": 0.4})[0])
    assert len(repr(Monitor("recall >= 0.5")).splitlines()) == 1 and Monitor("recall >= 0.5").expected_delay() == []
    mcc = Monitor("mcc >= 0.5", reference=RELEASE)
    (delay,) = mcc.expected_delay(0.2, batch_rows=8_000)
    assert "Matthews correlation falling from 0.6" in str(delay) and delay.batches < 20


@pytest.mark.parametrize(
    ("rules", "arguments", "words"),
    [
        (["recall >= 0.5", "precision >= 0.1"], (0.4,), "several rules; give to={'recall': ..., 'precision': ...}"),
        ("recall >= 0.5", ({"mcc": 0.2},), "No rule is on 'mcc'; the rules are on recall"),
        ("recall >= 0.5", (0.55,), "recall of 0.55 keeps its limit of 0.5; give one that breaks it"),
        ("recall >= 0.5", (-1,), "to= is a value of recall, not -1"),
        ("recall >= 0.5", (0.4, 0), "batch_rows= is how many rows a batch has"),
    ],
)
def test_a_delay_that_means_nothing_is_refused(rules, arguments, words):
    with pytest.raises(InputError) as told:
        Monitor(rules, reference=RELEASE).expected_delay(
            arguments[0], **dict(zip(["batch_rows"], arguments[1:], strict=False))
        )
    assert words in str(told.value)


def test_an_alarm_is_raised_where_the_p_value_first_reaches_the_level():
    """One miss at a time: each multiplies the evidence by five at most, so the p-value just passes 0.05."""
    monitor, p_values = Monitor("recall >= 0.8"), []
    while not monitor.alarms:
        monitor.update(Counts(tp=0, fn=1, fp=0, tn=5), period=f"day {len(p_values) + 1}")
        p_values.append(monitor.result().tracks[0].p_value)
    assert len(p_values) > 2 and min(p_values[:-1]) > 0.05 >= p_values[-1] > 0.01


def test_an_alarm_is_never_taken_back_and_depends_on_no_later_batch():
    early, late = followed([0.5] * 6), followed([0.5] * 6 + [1.0] * 40)
    assert early.result().alarms[0].alarm == late.result().alarms[0].alarm
    assert early.result().tracks[0].low == pytest.approx(late.result().tracks[0].low[:6])


@pytest.mark.parametrize("rule", ["f1 >= 0.7", "mcc >= 0.7", "ac_score >= 0.85", "expected_cost <= 0.05"])
def test_every_count_metric_has_alarms(rule):
    assert not followed([0.95] * 20, rule, seed=1).alarms
    monitor = Monitor(rule)
    rng = np.random.default_rng(1)
    for _ in range(20):
        monitor.update(*day(rng, 0.4, false=0.1))
    assert monitor.alarms == [rule]
    assert monitor.result().tracks[0].p_value <= 0.05


def test_costs_of_rows_are_followed_by_betting():
    rng = np.random.default_rng(2)
    monitor = Monitor("cost <= 3", cost_between=(0, 200))
    for mean in [2.0] * 10 + [6.0] * 15:
        truth, predicted = day(rng, 0.8, rows=60)
        monitor.update(truth, predicted, cost=np.minimum(rng.exponential(mean, 60), 200))
    (track,) = monitor.result().alarms
    assert int(track.since.split()[1]) > 8 and track.title == "Mean cost"
    again = Monitor.from_json(monitor.to_json()).result()
    assert again == monitor.result()
    with pytest.raises(InputError, match="need each other"):
        monitor.update([0, 1], [0, 1])
    with pytest.raises(InputError, match="need each other"):
        Monitor("cost <= 3")


def test_a_reference_carries_its_own_noise():
    """A fixed limit at the value that 50 positives happened to have is broken by an unchanged model in many runs."""
    rng, alarms = np.random.default_rng(3), {"fixed": 0, "reference": 0}
    for _ in range(24):
        tp = int(rng.binomial(50, 0.8))
        table = Counts(tp=tp, fn=50 - tp, fp=30, tn=920)
        hits = rng.binomial(200, 0.8, 16)
        for kind, rule in (("fixed", f"recall >= {tp / 50}"), ("reference", "recall >= reference")):
            monitor = Monitor(rule, reference=table)
            for k in hits:
                monitor.update(Counts(tp=int(k), fn=200 - int(k), fp=0, tn=0))
            alarms[kind] += bool(monitor.alarms)
    assert alarms["reference"] <= 2
    assert alarms["fixed"] > 6
    assert Monitor("mcc >= reference - 0.1", reference=confusion([0, 1, 1], [0, 1, 0])).result().tracks[0].limit < 0.4


def test_a_reference_is_read_at_the_threshold_of_the_monitor():
    rng = np.random.default_rng(12)
    truth = rng.integers(0, 2, 400)
    frame = pl.DataFrame({"y": truth, "p": 0.3 * truth + 0.7 * rng.random(400), "site": rng.choice(["a", "b"], 400)})
    old = steelyard.evaluate(frame, true="y", score="p", threshold=0.2, by="site")
    scores = steelyard.score_table(truth, frame["p"])
    expected = np.array([*scores.at(0.5)])
    tallied = steelyard.tally(frame, true="y", score="p", by="site")
    for reference in (old, scores, tallied, steelyard.Evaluation.from_json(old.to_json())):
        monitor = Monitor("recall >= reference", reference=reference, threshold=0.5)
        assert monitor.reference.cells.tolist() == expected.tolist()
        later = Monitor("recall >= reference", reference=reference)  # the scores of a batch take 0.5, and it with them
        later.update(truth, y_score=frame["p"])
        assert later.reference.cells.tolist() == expected.tolist() and later.threshold == 0.5
        assert later.result().notes[1] == "Scores were thresholded at 0.5; operating_points compares it with others."
        assert Monitor.from_json(later.to_json()).result() == later.result()
    resumed = Monitor.from_json(Monitor("recall >= reference", reference=old).to_json())
    with pytest.raises(InputError, match=r"thresholded at 0.2 and the monitor at 0.5, and its scores are not there"):
        resumed.update(truth, y_score=frame["p"])
    assert not resumed.batches and resumed.threshold is None
    with pytest.raises(InputError, match=r"Scores such as 3 are no probabilities"):
        later.update([0, 1], y_score=[0.2, 3])
    by_site = Monitor("recall >= reference", reference=old, by="site", threshold=0.5)
    by_site.update(truth, y_score=frame["p"], by=np.where(frame["site"] == "a", "a", "new"))
    whole, a, new = (track.limit for track in by_site.result())
    assert a != whole and by_site.reference.groups["a"].sum() == (frame["site"] == "a").sum() and new < whole
    assert any("no counts of its own for new; limits" in note for note in by_site.result().notes)
    assert set(Monitor.from_json(by_site.to_json()).reference.groups) == {"a", "b"}


def test_batches_may_be_arrays_frames_tables_and_scores():
    rng = np.random.default_rng(4)
    truth, predicted = day(rng, 0.7)
    scores, site = 0.6 * predicted + 0.3 * rng.random(300), rng.choice(["n", "s"], 300)
    columns = {"y": truth, "p": predicted, "s": scores, "site": site}
    table = confusion(truth, predicted)
    ways = [
        lambda m: m.update(truth, predicted),
        lambda m: m.update(truth.astype(bool), predicted.astype(bool)),
        lambda m: m.update(truth, y_score=scores),
        lambda m: m.update(pl.DataFrame(columns), true="y", pred="p"),
        lambda m: m.update(pd.DataFrame(columns), true="y", score="s"),
        lambda m: m.update(table),
        lambda m: m.update(table.counts()),
        lambda m: m.update(steelyard.tally(pl.DataFrame(columns), true="y", pred="p")),
    ]
    results = []
    for give in ways:
        monitor = Monitor("recall >= 0.6", threshold=0.5)
        give(monitor)
        results.append(monitor.result())
    assert all(result == results[0] for result in results)


def test_groups_have_their_own_tracks_and_share_the_error():
    rng, monitor = np.random.default_rng(5), Monitor("recall >= 0.8", by="site")
    for _ in range(12):
        site = rng.choice(["good", "bad"], 400)
        truth = rng.random(400) < 0.2
        predicted = np.where(truth, rng.random(400) < np.where(site == "bad", 0.6, 0.97), False)
        monitor.update(truth, predicted, by=site)
    result = monitor.result()
    assert {track.group for track in result.alarms} == {"bad"} and monitor.groups == ["bad", "good"]
    assert sum(track.alpha for track in result) <= 0.05 + 1e-12
    assert [row["rule"] for row in result.shown_rows()] == [f"recall >= 0.8{of}" for of in ("", ", bad", ", good")]
    with pytest.raises(InputError, match="need each other"):
        monitor.update([0, 1], [0, 1])


def test_monitors_merge_by_period_and_are_resumed():
    whole, odd, even = (Monitor(["recall >= 0.8", "precision >= 0.2"]) for _ in range(3))
    rng = np.random.default_rng(6)
    for number in range(8):
        truth, predicted = day(rng, 0.8)
        whole.update(truth, predicted, period=f"day {number}")
        odd.update(truth[::2], predicted[::2], period=f"day {number}")
        even.update(truth[1::2], predicted[1::2], period=f"day {number}")
    assert (odd + even).result() == whole.result() == Monitor.from_json(whole.to_json()).result()
    first, second = followed([0.9] * 3), followed([0.5] * 4, seed=9)
    for place, batch in enumerate(second.batches):
        object.__setattr__(batch, "name", f"later {place}")
    assert [batch.name for batch in (first + second).batches] == [f"day {i}" for i in (1, 2, 3)] + [
        f"later {i}" for i in range(4)
    ]
    with pytest.raises(InputError, match="other rules"):
        whole + first
    assert Result.from_json(whole.result().to_json()) == whole.result()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(kind="tally"),
        lambda data: data.update(schema=9),
        lambda data: data["batches"][0].update(cells=[1, 2, 3]),
        lambda data: data["batches"][0].update(cells=[1, 2, 3, -4]),
        lambda data: data["batches"][0].pop("name"),
        lambda data: data.update(rules=["recall >= 2"]),
        lambda data: data.pop("pending"),
        lambda data: data["pending"].pop("delay"),
        lambda data: data["pending"]["cohorts"][0].update(waiting=[{"predicted": True, "group": None, "keys": [1.5]}]),
        lambda data: data["pending"]["delay"]["wealth"].update(truth=[0.0]),
        lambda data: data.update(level=1.5),
    ],
)
def test_a_changed_state_is_refused(change):
    monitor = followed([0.9] * 2)
    monitor.predict(y_pred=[1, 0], key=["a", "b"])
    data = json.loads(monitor.to_json())
    change(data)
    with pytest.raises(SteelyardError):
        Monitor.from_json(json.dumps(data))


def test_a_limit_is_a_share_or_in_percent_and_keeps_all_its_digits_when_it_is_saved():
    reference = Counts(tp=50, fn=10, fp=6, tn=400)
    for rule, written in (
        ("recall >= 5 %", "recall >= 5 %"),
        ("recall>=5%", "recall >= 5 %"),
        ("recall>=reference-2.5%", "recall >= reference - 2.5 %"),
        ("recall >= 0.98765432", "recall >= 0.98765432"),
    ):
        monitor = Monitor(rule, reference=reference if "reference" in rule else None, pos_label=1)
        again = Monitor.from_json(monitor.to_json())
        assert [each.result().tracks[0].rule for each in (monitor, again)] == [written] * 2
        assert again.result().tracks[0].limit == monitor.result().tracks[0].limit


def rich_monitors():
    """Monitors whose saved states have every field: groups, costs, a reference, and labels that come later."""
    rng = np.random.default_rng(13)
    old = steelyard.tally(
        pl.DataFrame({"y": [0, 1] * 50, "p": [0, 1, 1, 0] * 25, "site": ["a", "b"] * 50}), true="y", pred="p", by="site"
    )
    rules = ["recall >= reference - 0.05", "cost <= 3"]
    costly = Monitor(rules, reference=old, by="site", cost_between=(0, 10), threshold=0.4, pos_label=1)
    for _ in range(3):
        truth, _ = day(rng, 0.7, rows=60)
        costly.update(truth, y_score=rng.random(60), by=rng.choice(["a", "b"], 60), cost=rng.random(60) * 9)
    later = Monitor("recall >= 0.5", mature=2, by="site", pos_label="yes")
    words = np.array(["no", "yes"])
    for week in range(5):
        keys = [f"{week}-{row}" for row in range(20)]
        truth, predicted = day(rng, 0.7, rows=20, prevalence=0.4)
        later.predict(y_pred=words[predicted], key=keys, by=["a", "b"] * 10, period=f"week {week}")
        later.label(words[truth[:8]], key=keys[:8])
        if week:
            later.label(words[truth[8:14]], key=[f"{week - 1}-{row}" for row in range(8, 14)])
    later.label(["no", "yes", "maybe"], key=["0-0", "unheard of", "2-19"])
    assumed = Monitor("precision >= 0.1")
    assumed.update([1, 0, 1, 0], y_score=[0.9, 0.2, 0.4, 0.6])
    assumed.predict(y_score=[0.1, 0.9, 0.6], key=[1, 2, 3])
    assumed.label([1, 0], key=[2, 9])
    return [costly, later, assumed]


WRONG = (None, True, False, -1, 0, 1, 2, 7, 10**30, 0.5, -0.5, 1e308, float("nan"), float("inf"), "", "x", "1", [], [1],
         [None], ["x"], [[]], [0, 0, 0, 0], [1, 2, 3, 4], {}, {"a": 1}, {"0": 1})  # fmt: skip


def places(data, path=()):
    """The path of every field of a state, of long lists the first two."""
    items = data.items() if isinstance(data, dict) else list(enumerate(data))[:2] if isinstance(data, list) else ()
    for name, part in items:
        yield (*path, name)
        yield from places(part, (*path, name))


def mutated(state):
    """The states in which one field is other or gone."""
    for path in places(state):
        for wrong in (*WRONG, KeyError):
            data = json.loads(json.dumps(state))
            inner = data
            for name in path[:-1]:
                inner = inner[name]
            if wrong is KeyError:
                del inner[path[-1]]
            else:
                inner[path[-1]] = wrong
            yield path, wrong, data


def loaded(data):
    """The monitor of a state, or None where it is refused in one sentence."""
    try:
        monitor = Monitor.from_json(data)
    except InputError as error:
        sentence = str(error)
    else:
        return monitor, monitor.result()
    assert "\n" not in sentence and len(sentence) < 400
    return None


@pytest.mark.parametrize("place", range(3))
def test_a_state_of_which_a_field_was_changed_is_refused_or_is_the_same(place):
    monitor = rich_monitors()[place]
    text, result = monitor.to_json(), monitor.result()
    assert Monitor.from_json(text).to_json() == text and Monitor.from_json(text).result() == result
    tried = 0
    for path, wrong, data in mutated(json.loads(text)):
        tried += 1
        found = loaded(data)
        assert found is None or (found[1] == result and found[0].to_json() == text), (path, wrong)
    for end in range(0, len(text), 97):
        tried += 1
        assert loaded(text[:end]) is None
    assert tried >= 900


@pytest.mark.parametrize("place", range(3))
def test_every_field_of_a_state_without_its_digest_is_checked(place):
    """Who changes the digest too gets what the fields allow, never another error."""
    state = json.loads(rich_monitors()[place].to_json())
    del state["digest"]
    refused = tried = 0
    for path, wrong, data in mutated(state):
        tried += 1
        found = loaded(data)
        refused += found is None
        if path[-1] in ("mature", "size", "released", "compared", "started", "cells", "level") and wrong == "x":
            assert found is None, path
    assert tried >= 900 and refused > 0.8 * tried


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("mature", "x"), ("mature", 1.0), ("mature", True), ("duplicate", 1.5), ("late", -1), ("cohorts", {})],
)
def test_a_wrong_kind_is_named(field, wrong):
    state = json.loads(rich_monitors()[1].to_json())
    del state["digest"]
    state["pending"][field] = wrong
    with pytest.raises(InputError, match=f"{field}.* is |mature="):
        Monitor.from_json(state)


def test_a_period_is_added_once_and_so_are_its_rows_under_any_name():
    rng, monitor = np.random.default_rng(14), Monitor("recall >= 0.8")
    truth, predicted = day(rng, 0.8)
    scores = np.where(predicted, 0.6, 0.1) + 0.3 * rng.random(300)
    monitor.update(truth, predicted, period="May")
    monitor.update(1 - truth, y_score=scores, period="June")
    before, order = monitor.to_json(), rng.permutation(300)
    for repeat, words in (
        (lambda m: m.update(truth[:9], predicted[:9], period="May"), "The period 'May' was added already"),
        (lambda m: m.update(truth, predicted), "The rows of 'batch 3' are those of 'May'"),
        (lambda m: m.update((1 - truth)[order], y_score=scores[order]), "The rows of 'batch 3' are those of 'June'"),
    ):
        for each in (monitor, Monitor.from_json(before)):
            with pytest.raises(InputError, match=words):
                repeat(each)
            assert each.to_json() == before
    monitor.update(truth[order], predicted[order], period="July")  # the same four counts, which chance may bring
    assert len(monitor.batches) == 3
    quiet = Monitor("recall >= 0.8")
    for week in range(4):
        quiet.update([0] * 500, [0] * 500, period=f"quiet week {week}")
        quiet.update([0, 1, 0, 0, 1], [0, 1, 0, 0, 0], period=f"small week {week}")
        quiet.update(Counts(tp=8, fn=2, fp=3, tn=87), period=f"counted week {week}")
    assert len(quiet.batches) == 12


def test_a_copy_in_single_precision_holds_the_same_rows():
    rng = np.random.default_rng(16)
    truth, scores, costs = rng.integers(0, 2, 300), rng.random(300), 100 * rng.random(300)
    monitor = Monitor(["recall >= 0.1", "cost <= 90"], cost_between=(0, 100))
    monitor.update(truth, y_score=scores, cost=costs, period="May")
    with pytest.raises(InputError, match="The rows of 'June' are those of 'May'"):
        monitor.update(truth, y_score=scores.astype("f4"), cost=costs.astype("f4"), period="June")
    huge = Monitor("recall >= 0.1", threshold=0)
    huge.update(truth, y_score=scores * 1e300)  # more than single precision holds
    assert len(huge.batches) == 1


def test_four_counts_are_known_again_where_there_are_millions():
    monitor = Monitor("recall >= 0.1")
    for rows in (10_000, 10_000_000):
        table = Counts(tp=rows // 10, fn=rows // 20, fp=rows // 20, tn=rows * 4 // 5)
        monitor.update(table, period=f"{rows}")
    monitor.update(Counts(tp=1_000, fn=500, fp=500, tn=8_000), period="again")
    with pytest.raises(InputError, match="The rows of 'more' are those of '10000000'"):
        monitor.update(table, period="more")


def is_known_again(scores, groups, order):
    """Whether a monitor refuses rows that it has in another order."""
    monitor, truth = Monitor("recall >= 0.01", threshold=0.5, by="site"), np.arange(len(scores)) % 2
    monitor.update(truth, y_score=scores, by=groups, period="May")
    try:
        monitor.update(truth[order], y_score=scores[order] + 0.0, by=np.array(groups)[order], period="June")
    except InputError as error:
        return "The rows of 'June' are those of 'May'" in str(error)
    return False


def test_the_order_of_rows_is_no_part_of_what_they_are_where_there_are_enough():
    rng = np.random.default_rng(15)
    for rows, in_any_order, in_order in ((2, False, False), (12, False, True), (24, True, True)):
        scores, groups = np.append(rng.random(rows - 1), -0.0), ["a", "b"] * (rows // 2)
        assert is_known_again(scores, groups, np.arange(rows)) == in_order  # 12! / 12**12 is above 1e-9
        assert is_known_again(scores, groups, np.arange(rows)[::-1]) == in_any_order  # 24! / 24**24 below
    monitor, scores = Monitor("recall >= 0.01", threshold=0.5, by="site"), rng.random(24)
    for site, period in (("a", "May"), ("b", "June")):
        monitor.update([0, 1] * 12, y_score=scores, by=[site] * 24, period=period)
    assert len(monitor.batches) == 2


def test_the_digest_of_many_rows_takes_little_time_and_stays_what_it_was():
    rng, monitor = np.random.default_rng(0), Monitor("recall >= 0.1", by="site")
    scores, groups = rng.random(1_000_000), [f"g{i}" for i in rng.integers(0, 20, 1_000_000)]
    truth = rng.integers(0, 2, 1_000_000)
    start = time.process_time()
    monitor.update(truth, y_score=scores, by=groups)
    assert time.process_time() - start < 2.5  # 0.2 s of 0.8 for the digest, and 2 to 4 s where texts are sorted
    known = Monitor("recall >= 0.1", threshold=0.3, by="site")
    known.update(np.array([1, 0, 1]), y_score=np.array([0.25, 0.5, 0.25]), by=["a", "b", "a"], period="May")
    (batch,) = json.loads(known.to_json())["batches"]
    assert batch["digests"] == [
        ["b1fa627d12528e185cd8dd488e9fbc8a", "9d06e661cf098736be08f8bae7e09409", 0]
    ]  # of states that were saved


def test_monitors_that_share_rows_do_not_merge():
    monitor = followed([0.9] * 3)
    for other in (monitor, Monitor.from_json(monitor.to_json())):
        with pytest.raises(InputError, match=r"counts twice|Both monitors hold the rows of 'day 1'"):
            monitor + other
    tiny = Monitor("recall >= 0.8")
    tiny.update([0, 1], [0, 1], period="May")
    with pytest.raises(InputError, match="Both monitors hold the rows of 'May'; merge"):
        tiny + Monitor.from_json(tiny.to_json())
    alike = Monitor("recall >= 0.8")
    alike.update([0, 1], [0, 1], period="June")
    both = tiny + alike
    with pytest.raises(InputError, match="Both monitors hold the rows of 'June'"):
        both + alike
    shards = [Monitor("recall >= 0.8") for _ in range(2)]
    for shard, tp in zip(shards, (8, 9), strict=True):
        shard.update([0, 0, 1], [0, 1, 1], period="quiet")
        shard.update(Counts(tp=tp, fn=2, fp=3, tn=87), period="busy")
    assert (shards[0] + shards[1]).batches[0].rows == 6  # one batch alike is chance
    saved = Monitor("recall >= 0.8")
    for week in range(6):
        saved.update([0, 1, 0, 1, 0], [0, 1, 1, 0, 0], period=f"week {week}")
    grown = [Monitor.from_json(saved.to_json()) for _ in range(2)]
    for each, rows in zip(grown, ([0, 1, 1], [1, 1, 0]), strict=True):
        each.update(rows, [0, 1, 0], period="week 6")
    with pytest.raises(InputError, match="Both monitors hold the rows of 'week 0'"):
        grown[0] + grown[1]  # each week may be alike by chance, and six of them are not
    renamed = Monitor("recall >= 0.8")
    rng = np.random.default_rng(0)
    renamed.update(*day(rng, 0.9), period="other")
    with pytest.raises(InputError, match="Both monitors hold the rows of 'day 1' and 'other'"):
        monitor + renamed


def test_monitors_that_share_a_key_do_not_merge():
    parts = [Monitor("recall >= 0.5") for _ in range(2)]
    for place, keys in enumerate((["a", "b", "c"], ["c", "d"])):
        parts[place].predict(y_pred=[1] * len(keys), key=keys, period=f"week {place}")
        parts[place].label([1] * len(keys), key=keys)
    for first, second in (parts, parts[::-1]):
        with pytest.raises(InputError, match="Both monitors hold predictions of the key 'c'; merge"):
            first + second


@pytest.mark.parametrize("mature", [None, 1])
def test_a_merge_keeps_what_waits_whichever_monitor_has_it(mature):
    done, waits = (Monitor("recall >= 0.5", mature=mature) for _ in range(2))
    for week in range(2):
        done.predict(y_pred=[1, 0], key=[f"{week} a", f"{week} b"], period=f"week {week}")
        done.label([1, 0], key=[f"{week} a", f"{week} b"])
    waits.predict(y_pred=[1, 0], key=["c", "d"], period="week 2")
    for first, second in ((done, waits), (waits, done)):
        if mature is None:
            assert (first + second).label([1, 1], key=["c", "d"]).joined == 2
        else:  # the last cohort of the one has its labels and is not mature yet
            with pytest.raises(InputError, match="Both monitors wait for labels by key, or for cohorts"):
                first + second


def test_predictions_of_a_period_or_of_the_same_keys_are_added_once():
    monitor = Monitor("recall >= 0.5")
    for week in range(32):  # the first keys are labelled, and by now forgotten
        monitor.predict(y_pred=[1, 0], key=[f"{week} a", f"{week} b"], period=f"week {week}")
        monitor.label([1, 0], key=[f"{week} a", f"{week} b"])
    before = monitor.to_json()
    for each in (monitor, Monitor.from_json(before)):
        with pytest.raises(InputError, match="The keys of 'again' are those of 'week 0'"):
            each.predict(y_pred=[0, 1], key=["0 b", "0 a"], period="again")
        with pytest.raises(InputError, match="The predictions of the period 'week 3' were added already"):
            each.predict(y_pred=[0], key=["new"], period="week 3")
        assert each.to_json() == before


# ---------------------------------------------------------------- labels that come later


def test_labels_join_by_key_and_what_does_not_fit_is_reported():
    monitor = Monitor("recall >= 0.5")
    assert monitor.predict(y_pred=[1, 0, 1, 1], key=[1, 2, 3, 3], period="Monday") == 1
    report = monitor.label([1, 0, 1], key=[1, 3, 7], period="Friday")
    assert (report.joined, report.unknown, report.waiting) == (2, 1, 1)
    report = Monitor.from_json(monitor.to_json()).label([1, 1], key=[1, 2])
    assert (report.joined, report.duplicate, report.waiting) == (1, 1, 0)
    monitor.label([1], key=[2])
    assert [batch.cells.tolist() for batch in monitor.batches] == [[1, 0, 1, 0], [0, 1, 0, 0]]
    assert any(note == "1 label came before its prediction and is kept." for note in monitor.result().notes)
    with pytest.raises(InputTypeError, match="Keys are text"):
        monitor.predict(y_pred=[1], key=[0.5])


def test_labels_that_contradict_are_named_and_the_first_counts():
    monitor = Monitor("recall >= 0.5")
    monitor.predict(y_pred=[1, 1, 0], key=["a", "b", "c"])
    monitor.label([0], key=["early"])
    assert monitor.label([1, 0, 0], key=["a", "b", "a"]).contradicted == ("a",)
    monitor = Monitor.from_json(monitor.to_json())
    report = monitor.label([1, 1, 1, 1], key=["b", "early", "a", "c"])
    assert (report.contradicted, report.duplicate, report.joined) == (("b", "early"), 1, 1)
    assert [batch.cells.tolist() for batch in monitor.batches] == [[1, 0, 1, 0], [0, 1, 0, 0]]
    assert "3 labels contradict an earlier one of the same key ('a', 'b', 'early')" in monitor.result().notes[2]


def test_labels_of_cohorts_are_used_when_these_are_mature():
    monitor = Monitor("recall >= 0.5", mature=2)
    monitor.predict(y_pred=[1, 0], key=["a", "b"], period="week 1")
    monitor.label([1], key=["a"])
    monitor.predict(y_pred=[1], key=["c"], period="week 2")
    assert not monitor.batches
    monitor = Monitor.from_json(monitor.to_json())
    monitor.predict(y_pred=[0], key=["d"], period="week 3")
    assert [(batch.name, batch.rows) for batch in monitor.batches] == [("week 1", 1)]
    assert monitor.label([1], key=["b"]).late == 1 and len(monitor.batches) == 1


@pytest.mark.parametrize(("delayed", "warned"), [(False, False), (True, True)])
def test_a_delay_that_depends_on_the_outcome_is_warned_about(delayed, warned):
    rng, monitor = np.random.default_rng(8), Monitor("recall >= 0.5")
    for week in range(12):
        truth, predicted = day(rng, 0.8, rows=150, prevalence=0.2)
        keys = np.arange(150) + 1000 * week
        late = rng.random(150) < np.where(truth & delayed, 0.8, 0.4)
        monitor.predict(y_pred=predicted, key=keys)
        monitor.label(truth[~late], key=keys[~late])
        monitor.predict(y_pred=[0], key=[f"none {week}"])
        if late.any():
            monitor.label(truth[late], key=keys[late])
    assert any("Labels that come late differ" in note for note in monitor.result().notes) == warned


def test_rare_positives_whose_labels_come_late_are_warned_about():
    rng, monitor = np.random.default_rng(9), Monitor("recall >= 0.5")
    for week in range(10):
        truth, predicted = day(rng, 0.8, rows=400, prevalence=0.05)
        keys, late = np.arange(400) + 1000 * week, truth == 1
        late[np.flatnonzero(truth == 0)[:20]] = True
        monitor.predict(y_pred=predicted, key=keys)
        monitor.label(truth[~late], key=keys[~late])
        assert "predictions wait for labels, and labels that come late may differ" in monitor.result().guarantee
        monitor.predict(y_pred=[0], key=[f"none {week}"])
        first, last = keys[late][::2], keys[late][1::2]
        monitor.label(truth[late][::2], key=first)
        monitor.predict(y_pred=[0], key=[f"nothing {week}"])
        monitor.label(truth[late][1::2], key=last)
    assert any("Labels that come late differ" in note for note in monitor.result().notes)


def test_labels_that_come_before_their_predictions_are_kept_and_joined():
    monitor, usual = Monitor("recall >= 0.5"), Monitor("recall >= 0.5")
    assert monitor.label([1, 0, 1], key=["a", "b", "x"]).unknown == 3
    assert monitor.label([1], key=["a"]).duplicate == 1
    monitor = Monitor.from_json(monitor.to_json())
    monitor.predict(y_pred=[1, 1, 0], key=["a", "b", "c"], period="week 1")
    usual.predict(y_pred=[1, 1, 0], key=["a", "b", "c"])
    usual.label([1, 0], key=["a", "b"], period="week 1")
    assert [batch.saved() for batch in monitor.batches] == [batch.saved() for batch in usual.batches]
    assert monitor.pending.waiting == 1 and [*monitor.pending.early] == ["x"]


@pytest.mark.parametrize(
    ("rules", "options", "words"),
    [
        ([], {}, "needs a rule"),
        ("recall", {}, "cannot be read"),
        ("recall >= 1.5", {}, "the bound of 'recall >= 1.5' does not; give a bound inside"),
        ("recall >= 30", {}, "did you mean 0.3 or 30 %"),
        ("recall >= 130 %", {}, "give a bound inside that range"),
        ("recall >= reference - 5", {}, "difference of two values of recall lies between -1 and 1.*-0.05 or -5 %"),
        ("cost <= 5 %", {"cost_between": (0, 10)}, "A mean cost is no share"),
        ("roc_auc >= 0.8", {}, "metric of predicted labels"),
        ("recall >= reference", {}, "give it as reference="),
        ("cost <= reference", {}, "as a number"),
        ("recall >= 0.8", {"level": 2}, "level= is a probability"),
        ("recall >= 0.8", {"mature": 0}, "whole number of at least 1"),
        ("racall >= 0.8", {}, "Did you mean"),
    ],
)
def test_what_cannot_be_followed_is_refused_in_one_sentence(rules, options, words):
    with pytest.raises(SteelyardError, match=words):
        Monitor(rules, **options)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_score_that_is_no_number_is_refused_and_the_state_is_as_before(bad):
    monitor = Monitor("recall >= 0.5", threshold=0.2)
    before = monitor.to_json()
    frame = pl.DataFrame({"y": [1, 0, 1], "p": [bad, 0.1, 0.9]})
    with pytest.raises(InputError, match=r"y_score holds .* finite number"):
        monitor.update([1, 0, 1], y_score=[bad, 0.1, 0.9])
    with pytest.raises(InputError, match="The column 'p' holds scores that are not numbers: 1 "):
        monitor.update(frame, true="y", score="p")
    with pytest.raises(InputError, match="finite number"):
        monitor.predict(y_score=[bad, 0.1], key=["a", "b"])
    assert monitor.to_json() == before


def test_a_batch_that_cannot_be_read_is_refused_and_leaves_the_monitor_as_it_was():
    monitor = followed([0.9])
    for bad in (
        lambda: monitor.update([0, 1], [0, 1, 1]),
        lambda: monitor.update(["a", "b"], ["a", "b"]),
        lambda: monitor.update([0, 1]),
        lambda: monitor.update([0, 1], y_score=[0.2, 1.8]),
    ):
        with pytest.raises(SteelyardError):
            bad()
    assert len(monitor.batches) == 1
    words = Monitor("recall >= 0.5")
    words.update(["no", "yes"], ["no", "no"])
    assert words.pos_label == "yes" and words.batches[0].cells.tolist() == [0, 1, 0, 1]


def test_a_positive_class_that_no_batch_has_is_refused_once_there_are_two_others():
    monitor = Monitor("recall >= 0.7", pos_label="Fraud")
    monitor.update(["ok"] * 3, ["ok"] * 3)  # a small batch may lack positives
    with pytest.raises(InputError, match=r"'Fraud' does not occur; there are 'ok', 'fraud'. Did you mean 'fraud'"):
        Monitor.from_json(monitor.to_json()).update(["ok"] * 3, ["ok", "fraud", "ok"])
    monitor.update(["ok", "Fraud"], ["ok", "ok"], period="May")
    monitor.update(["ok", "ok"], y_score=[0.1, 0.2])
    assert len(monitor.batches) == 3 and len(monitor.result().notes) == 2  # with the threshold
    other = Monitor("recall >= 0.7", pos_label="Fraud")
    old = confusion(["Fraud", "ok"], ["Fraud", "ok"])
    Monitor("recall >= reference", reference=old, pos_label="Fraud").update(["ok", "new"], y_score=[0.1, 0.2])
    other.update(["ok", "Fraud", "pending"], ["ok", "ok", "ok"], period="June")
    notes = (other + Monitor("recall >= 0.7", pos_label="Fraud")).result().notes
    assert "All labels but 'Fraud' count as negative: 'ok', 'pending'." in notes


def test_batches_and_references_are_what_predictions_are_made_of(tmp_path):
    rng = np.random.default_rng(4)
    truth, predicted = day(rng, 0.7)
    frame = pl.DataFrame(
        {
            "y": truth,
            "s": 0.6 * predicted + 0.3 * rng.random(300),
            "id": [*map(str, range(300))],
            "site": rng.choice(["n", "s"], 300),
        }
    )
    path, reference = tmp_path / "day.parquet", tmp_path / "reference.json"
    frame.write_parquet(path)
    p = steelyard.Predictions.read(frame, true="y", score="s", threshold=0.5)
    reference.write_text(p.evaluate().to_json())
    evaluation = p.evaluate(by="site")
    found = []
    for give in (
        lambda m: m.update(p),
        lambda m: m.update(path, true="y", score="s", threshold=0.5),
        lambda m: m.update(evaluation),
        lambda m: m.update(evaluation.counted_rows(), threshold=0.5),
    ):
        monitor = Monitor(["recall >= 0.6", "precision >= reference - 0.1"], reference=reference, by="site")
        give(monitor)
        found.append(monitor.result())
    assert all(result == found[0] for result in found)
    later = Monitor("recall >= 0.6", reference=p)
    later.predict(frame.drop("y"), score="s", key="id", threshold=0.5)
    assert later.label(frame, true="y", key="id").joined == 300
    assert later.batches[0].cells.tolist() == monitor.batches[0].cells.tolist()
    with pytest.raises(InputError, match=r"reads scores at 0\.5, and these rows at 0\.4"):
        later.update(p.at(0.4))
    with pytest.raises(InputTypeError, match="cluster= has no place in a monitor"):
        Monitor("recall >= 0.6").update(truth, predicted, cluster=frame["site"])


def test_a_threshold_flags_scores_of_single_precision_that_equal_it_as_evaluate_does():
    frame = pl.DataFrame({"y": [0, 1] * 20, "s": pl.Series([0.7] * 40, dtype=pl.Float32)})
    monitor = Monitor(["recall >= 0.8"], threshold=0.7)
    monitor.update(frame, true="y", score="s")
    assert monitor.batches[-1].cells.tolist() == [20, 0, 20, 0]
