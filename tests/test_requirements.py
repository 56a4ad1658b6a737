"""Requirements: gates, monitors and thresholds read, refuse and print them alike."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard
from steelyard import Counts, Monitor, best_threshold, evaluate, gate
from steelyard.exceptions import InputError, InputTypeError, SteelyardError

Y = np.repeat([0, 1], [80, 20])
S = np.random.default_rng(0).random(100) * 0.5 + 0.5 * Y
TABLE = Counts(tp=28, fn=23, fp=72, tn=2680)
NEW, OLD = evaluate(TABLE), evaluate(Counts(tp=30, fn=21, fp=70, tn=2682))


def of_gate(text):
    return gate(NEW, text, **({"baseline": OLD} if "baseline" in text else {})).rules[0].rule


def of_monitor(text):
    options = {"reference": TABLE} if "reference" in text else {"cost_between": (0, 50)} if "cost" in text else {}
    monitor = Monitor(text, pos_label=1, **options)
    return monitor.result().tracks[0].rule


def of_threshold(text):
    return best_threshold(Y, S, "f1", where=text, draws=0).limits[0].limit


USERS = (of_gate, of_monitor, of_threshold)


@pytest.mark.parametrize(
    ("user", "text", "printed"),
    [
        *[
            (user, text, "recall >= 0.3")
            for user in USERS
            for text in ("recall>=.3", "Recall ≥ 3e-1", " recall  >= 0.30 ")
        ],
        *[(user, text, "recall >= 30 %") for user in USERS for text in ("recall>=30%", "TPR >= 30 %")],
        *[(user, "alerts<=5_000 out of 10000", "alerts <= 5,000 of 10,000 rows") for user in USERS],
        (of_threshold, "f_beta[beta=2] > 0.1", "f_beta[beta=2] > 0.1"),
        *[(user, "recall >= 0.123456789012345678", "recall >= 0.12345678901234568") for user in USERS],
        (of_gate, "low( mcc - baseline)>=-2%", "low(mcc - baseline) >= -2 %"),
        (of_gate, "mcc>=baseline-0.02", "mcc >= baseline - 0.02"),
        (of_gate, "mcc >= baseline", "mcc >= baseline"),
        (of_gate, "mcc >= baseline − 5 %", "mcc >= baseline - 5 %"),
        (of_monitor, "cost<=12", "cost <= 12"),
        (of_monitor, "precision>=reference-0.05", "precision >= reference - 0.05"),
        (of_monitor, "precision >= reference + 2.5%", "precision >= reference + 2.5 %"),
        (of_threshold, "G-mean >= 0.2", "g_mean >= 0.2"),
    ],
)
def test_a_requirement_has_one_printed_form_which_is_read_back_equal(user, text, printed):
    assert user(text) == printed
    assert user(printed) == printed


@given(st.floats(1e-9, 1 - 1e-9), st.sampled_from(["", " %"]))
def test_a_number_is_printed_in_all_its_digits(number, percent):
    monitor = Monitor(f"recall >= {100 * number if percent else number!r}{percent}")
    again = Monitor(monitor.result().tracks[0].rule)
    assert again.result().tracks[0].limit == monitor.result().tracks[0].limit


def test_several_are_joined_by_and_wherever_they_are_read_but_not_within_brackets():
    assert [each.rule for each in gate(NEW, "recall >= 0.1 and low(mcc)>=0.1").rules] == [
        "recall >= 0.1",
        "low(mcc) >= 0.1",
    ]
    assert [track.rule for track in Monitor("recall>=0.1 AND precision>=0.2").result()] == [
        "recall >= 0.1",
        "precision >= 0.2",
    ]
    found = evaluate(["x and y", "z"] * 9, ["x and y", "z"] * 9, metrics=['recall[class="x and y"]'])
    assert [each.rule for each in gate(found, 'recall[class="x and y"] >= 0.1').rules] == [
        "recall[class=x and y] >= 0.1"
    ]


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "recall >= 80",
            "recall lies between 0 and 1, and the bound of 'recall >= 80' does not; did you mean 0.8 or 80 %?",
        ),
        (
            "fpr <= 5",
            "false_positive_rate lies between 0 and 1, and the bound of 'fpr <= 5' does not; did you mean 0.05 or 5 %?",
        ),
        ("recall >= 0", "so that 'recall >= 0' is always kept and requires nothing"),
        ("fpr <= 1", "so that 'fpr <= 1' is always kept and requires nothing; did you mean 0.01 or 1 %?"),
        ("recall > 1", "so that 'recall > 1' can never be kept"),
        ("fpr < 1", "nearly always kept; did you mean 0.01 or 1 %?"),
        ("recall", "cannot be read: it has no sign such as >=; write"),
        ("recall => 0.8", "cannot be read: '=>' is none of >= <= > <; write"),
        ("recall >= high", "cannot be read: its right side is no number; write"),
        ("recall >= %", "cannot be read: its right side is no number; write"),
        ("recall >= nan", "cannot be read: its right side is no number; write"),
        ("recall >= 1e999", "cannot be read: its number is too large; write"),
        ("(recall) >= 0.8", "cannot be read: its left side is no metric; write"),
        ("f1[average=macro >= 0.8", "cannot be read: its brackets do not close; write"),
        (">= 0.8", "cannot be read: it names no metric; write"),
        ("", "cannot be read: it has no sign such as >=; write"),
        ("recal >= 0.8", "No metric is called 'recal'. Did you mean 'recall'"),
        ("recall >= 0.1, precision >= 0.2", "that are not joined by 'and'; write"),
        ("recall >= 0.1 or precision >= 0.2", "are kept all together; join them by 'and'"),
        ("alerts <= 200", "lacks the rows of a day: write 'alerts <= 200 of 10000'"),
        ("alerts <= 300 of 200", "at most as many, not 300 of 200"),
        ("alerts >= 20 of 200", "limits alerts from below"),
    ],
)
def test_what_cannot_be_read_or_kept_is_refused_in_the_same_words_by_all(user, text, words):
    with pytest.raises(SteelyardError) as told:
        user(text)
    assert words in str(told.value)


@pytest.mark.parametrize(
    ("user", "text", "words"),
    [
        (
            of_gate,
            "mcc >= reference - 0.02",
            "A gate knows no reference, which 'mcc >= reference - 0.02' speaks of; hold it against baseline.",
        ),
        (
            of_gate,
            "cost <= 12",
            "A gate has no costs of single rows, which 'cost' is the mean of; write 'expected_cost[cost_fn=10] <= 0.3'",
        ),
        (
            of_monitor,
            "mcc >= baseline - 0.02",
            "A monitor knows no baseline, which 'mcc >= baseline - 0.02' speaks of; hold it against reference.",
        ),
        (
            of_monitor,
            "low(mcc) >= 0.5",
            "A monitor takes no low(...), as its alarms allow for noise by themselves; write 'mcc >= 0.5'.",
        ),
        (
            of_monitor,
            "mcc - reference >= -0.1",
            "A monitor follows a metric and no difference of two; write 'mcc >= reference - 0.1'.",
        ),
        (of_monitor, "recall >= 1", "so that a single row breaks 'recall >= 1'; did you mean 0.01 or 1 %?"),
        (of_monitor, "cost <= 60", "cost lies between 0 and 50, and the bound of 'cost <= 60' does not"),
        (
            of_threshold,
            "recall >= reference",
            "A threshold knows no reference, which 'recall >= reference' speaks of; give a number.",
        ),
        (
            of_threshold,
            "low(recall) >= 0.5",
            "A threshold takes no low(...), as confidence= makes its limits hold on new rows; write 'recall >= 0.5'.",
        ),
        (of_threshold, "cost <= 12", "A threshold has no costs of single rows, which 'cost' is the mean of"),
        (of_threshold, "recall[class=1] >= 0.5", "is of all classes"),
    ],
)
def test_a_term_that_one_of_them_cannot_use_is_refused_with_what_to_write(user, text, words):
    with pytest.raises(InputError) as told:
        user(text)
    assert words in str(told.value)


@pytest.mark.parametrize("user", [of_gate, of_monitor])
def test_a_wrong_direction_is_refused_where_a_model_is_judged_and_not_where_a_threshold_is_sought(user):
    with pytest.raises(InputError, match=r"recall is better the higher it is, and 'recall <= 0.8' passes worse models"):
        user("recall <= 0.8")
    assert of_threshold("recall <= 0.8") == "recall <= 0.8"


@pytest.mark.parametrize("user", [of_gate, of_monitor])
def test_what_is_no_text_is_refused(user):
    with pytest.raises(InputTypeError, match=r"A rule is text such as '.*', not 0\.5"):
        gate(NEW, 0.5) if user is of_gate else Monitor([0.5])


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    "text",
    [
        "recall{blanks}x",
        "recall{blanks}>={blanks}x",
        "recall >= {digits}x",
        "recall >= {digits}",
        "recall >= 0.{digits}e{digits}",
        "low(recall{blanks}",
        "low({blanks}recall{blanks}) >= x",
        "alerts <= {digits}{blanks}x",
        "alerts <= 1 of 2{blanks}x",
        "recall >= baseline{blanks}-{blanks}x",
        "recall{brackets} >= 0.1",
        "{minus} >= 0.1",
        "recall >= 0.1{blanks}and{blanks}and",
    ],
)
def test_one_of_any_length_is_refused_at_once(user, text):
    n, start = 60_000, time.process_time()
    text = text.format(blanks=" " * n, digits="1" * n, brackets="[" * n, minus=" - " * n)
    with pytest.raises((SteelyardError, steelyard.exceptions.UnknownNameError)) as told:
        user(text)
    assert time.process_time() - start < 3
    assert len(str(told.value)) < 1_000
