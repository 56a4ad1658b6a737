"""The positive class: clear from the labels, taken by convention, the rarer on request, or asked for in a sentence."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command_line import run_command

import steelyard
from steelyard import RARER, Result, best_threshold, compare, confusion, cross_evaluate, tally
from steelyard.exceptions import InputError, InputTypeError
from steelyard.tables import paired

N = 200
evaluate = partial(steelyard.evaluate, draws=20)  # what is stated does not depend on the draws
RNG = np.random.default_rng(7)
Y = RNG.random(N) < 0.2
S = np.clip(0.3 * Y + 0.6 * RNG.random(N), 0, 1)
P = S > 0.5


class Answer(StrEnum):
    """Text of an enumeration."""

    NO = "no"
    YES = "yes"


CONVENTIONS = [
    ("no", "yes"),
    ("No", "Yes"),
    ("N", "Y"),
    ("false", "true"),
    ("FALSE", "TRUE"),
    ("f", "t"),
    ("neg", "pos"),
]
CONVENTIONS += [("negative", "positive"), ("0", "1"), ("-1", "1"), (b"no", b"yes")]
GUESSES = [("fraud", "legit"), (1, 2), ("benign", "malignant"), ("yes", "Yes"), (0, 2), ("no", "maybe")]


def words(no, yes, which=Y):
    """Labels of two words, one a row."""
    return np.array([yes if row else no for row in which], dtype=object)


def test_scores_in_place_of_labels_are_asked_for_by_their_keyword():
    with pytest.raises(InputError, match=r"Are these scores\? Give them as y_score="):
        steelyard.recall(Y, S)


def test_the_shell_asks_for_its_own_options(tmp_path):
    (tmp_path / "rows.csv").write_text("y,p\n" + "0,0.25\n1,0.75\n" * 9)
    asked = ("report", tmp_path / "rows.csv", "--true", "y")
    assert "Name it with --score" in " ".join(run_command(*asked, "--pred", "p", code=2).output.split())
    (tmp_path / "even.csv").write_text("y,p\n" + "a,a\nb,b\n" * 9)
    refused = run_command("report", tmp_path / "even.csv", "--true", "y", "--pred", "p", "--rarer-positive", code=2)
    assert "--rarer-positive" in refused.output and "RARER" not in refused.output


def test_a_row_of_a_report_reads_as_its_value_interval_and_baseline():
    row = steelyard.evaluate(steelyard.Counts(28, 23, 72, 2680))["recall"]
    assert repr(row) == "recall 54.9 % (41.4 to 68.1), chance 3.57 %"
    nobody = steelyard.evaluate(steelyard.Counts(0, 10, 0, 90))["precision"]
    assert repr(nobody) == "precision undefined: no predicted positives"


def test_the_reason_takes_what_the_call_takes():
    nobody = steelyard.Counts(0, 10, 0, 90)
    assert steelyard.precision.why(nobody, zero_division=0) == "no predicted positives"
    with pytest.raises(InputTypeError, match="has no parameter 'beta'"):
        steelyard.precision.why(nobody, beta=2)


def test_an_explanation_names_the_function_of_scikit_learn_or_none():
    assert re.search(r"scikit-learn\S*\n +recall_score\n", run_command("explain", "recall").output)
    assert re.search(r"scikit-learn\S*\n +none\n", run_command("explain", "ac_score").output)


def test_questions_take_a_convention_and_state_it_where_a_measure_alone_asks():
    y, p = words("no", "yes"), words("no", "yes", P)
    frame = pd.DataFrame({"y": y, "p": p})
    for found in (
        steelyard.chance("recall", y, p),
        steelyard.chance("recall", frame, true="y", pred="p"),
        steelyard.interval("recall", y, p),
        steelyard.beats_chance(y, p, metric="recall"),
    ):
        assert found.assumed[0].startswith("The positive class is 'yes' by convention")
    with pytest.raises(InputError, match=rf"makes 'yes' \({Y.sum()} of {N} rows\) the positive class"):
        steelyard.recall(y, p)
    assert steelyard.chance("recall", y, p).value == pytest.approx(P.mean())


@pytest.mark.parametrize(("no", "yes"), CONVENTIONS)
def test_results_take_a_convention_and_state_it(no, yes):
    y, p = words(no, yes), words(no, yes, P)
    for result in (evaluate(y, p), evaluate(y, y_score=S), evaluate(y, y_score=10 * S), best_threshold(y, S, "f1")):
        assert result.positive == yes
        assert result.assumed[0].startswith(f"The positive class is {yes!r} by convention; pos_label={no!r} would")
    comparison = compare(y, {"a": p, "b": words(no, yes, S > 0.4)}, metrics=["recall"])
    assert comparison.assumed == evaluate(y, p).assumed
    assert comparison.rows[0].value_a == evaluate(Y, P)["recall"].value
    scored = compare(y, y_score={"a": S, "b": S**2}, metrics=["roc_auc"])
    assert scored.assumed == comparison.assumed and "by convention" in repr(scored)


def test_numbers_are_clear_and_need_no_word():
    for labels in ((0, 1), (False, True), (-1, 1)):
        y, p = np.where(Y, *labels[::-1]), np.where(P, *labels[::-1])
        assert evaluate(y, p).assumed == () == best_threshold(y, S, "f1").assumed
        assert best_threshold(y, S, "f1").positive == 1


@pytest.mark.parametrize(("no", "yes"), GUESSES)
def test_what_would_be_a_guess_is_asked_for_with_what_either_label_gives(no, yes):
    y, p, rows = words(no, yes), words(no, yes, P), int(Y.sum())
    choice = (
        f" pos_label={yes!r} makes {yes!r} ({rows} of {N} rows) the positive class, pos_label={no!r} makes {no!r} ("
    )
    evaluation = evaluate(y, p)
    assert evaluation.positive is None and choice in evaluation.assumed[0]
    for ask in (lambda: evaluate(y, y_score=S), lambda: best_threshold(y, S, "f1"), lambda: steelyard.f1(y, p)):
        with pytest.raises(InputError) as refusal:
            ask()
        assert choice in str(refusal.value) and "name it with pos_label=" in str(refusal.value)


def test_a_bare_number_takes_no_convention_and_names_the_options_that_there_are():
    y, p = words("no", "yes"), words("no", "yes", P)
    with pytest.raises(InputError, match=r"name it with pos_label=, or ask for average='macro'"):
        steelyard.f1(y, p)
    with pytest.raises(InputError, match=r"name it with pos_label=\. "):  # one column of scores has no average
        steelyard.roc_auc(y, S)


@pytest.mark.parametrize(("no", "yes"), [*GUESSES, ("no", "yes")])
def test_the_rarer_class_is_taken_on_request_and_stated(no, yes):
    y, p = words(no, yes), words(no, yes, P)
    stated = f"The positive class is {yes!r}, the rarer of "
    frame = pl.DataFrame({"y": y.tolist(), "p": p.tolist(), "s": S}, strict=False)
    results = [
        evaluate(y, p, pos_label=RARER),
        evaluate(y, y_score=S, pos_label=RARER),
        evaluate(frame, true="y", pred="p", pos_label=RARER),
        evaluate(frame, true="y", score="s", pos_label=RARER),
        evaluate(frame.lazy(), true="y", score="s", pos_label=RARER, exact=False),
        best_threshold(y, S, "f1", pos_label=RARER),
    ]
    for result in results:
        assert result.positive == yes and result.assumed[0].startswith(stated)
    assert compare(y, {"a": p, "b": p[::-1]}, metrics=["recall"], pos_label=RARER).assumed[0].startswith(stated)
    assert confusion(y, p, pos_label=RARER).positive == paired(y, p, p, pos_label=RARER).positive == yes
    assert tally(frame, true="y", pred="p", pos_label=RARER).confusion.positive == yes
    assert steelyard.recall(y, p, pos_label=RARER) == steelyard.recall(Y, P)
    assert steelyard.roc_auc(y, S, pos_label=RARER) == steelyard.roc_auc(Y, S)


def test_the_rarer_class_counts_the_rows_that_a_row_stands_for():
    table = confusion(["a", "b", "b"], ["a", "b", "b"], frequency=[9, 1, 1], pos_label=RARER)
    assert table.positive == "b"
    assert steelyard.score_table(["a", "b", "b"], [0, 1, 2], frequency=[9, 1, 1], pos_label=RARER).label == "b"


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (["a", "b"], "'a' and 'b' have 1 rows each, so neither is rarer; name"),
        (["a", "b", "c"], "there are 3; name the"),
    ],
)
def test_where_none_is_the_rarer_one_it_is_refused(y, said):
    for ask in (
        lambda: evaluate(y, y, pos_label=RARER),
        lambda: best_threshold(y, range(len(y)), "f1", pos_label=RARER),
    ):
        with pytest.raises(InputError, match="pos_label=RARER") as refusal:
            ask()
        assert said in str(refusal.value)


CATEGORIES = {
    "pandas category": lambda y: pd.Series(y).astype("category"),
    "pandas string": lambda y: pd.Series(y).astype("string"),
    "Polars Categorical": lambda y: pl.Series(y.tolist(), dtype=pl.Categorical),
    "Polars Enum": lambda y: pl.Series(y.tolist(), dtype=pl.Enum(["no", "yes"])),
    "NumPy text": lambda y: y.astype(str),
    "Python Enum": lambda y: np.array([Answer(label) for label in y], dtype=object),
}


@pytest.mark.parametrize("kind", CATEGORIES)
def test_text_of_any_column_type_is_read_alike(kind):
    y, p = (CATEGORIES[kind](words("no", "yes", which)) for which in (Y, P))
    assert evaluate(y, p).positive == evaluate(y, y_score=S).positive == best_threshold(y, S, "f1").positive == "yes"
    assert evaluate(y, p)["recall"].value == evaluate(Y, P)["recall"].value


@pytest.mark.parametrize("positive", ["1", "yes"])
def test_a_positive_class_of_another_kind_than_the_labels_is_refused_by_kind(positive):
    y, p = Y.astype(int), P.astype(int)
    asks = [
        lambda: steelyard.f1(y, p, pos_label=positive),
        lambda: steelyard.roc_auc(y, S, pos_label=positive),
        lambda: evaluate(y, p, pos_label=positive),
        lambda: evaluate(y, y_score=S, pos_label=positive),
        lambda: best_threshold(y, S, "f1", pos_label=positive),
        lambda: compare(y, {"a": p, "b": p}, pos_label=positive),
    ]
    meant = " Write 1." if positive == "1" else ""
    for ask in asks:
        with pytest.raises((InputError, TypeError)) as refusal:
            ask()
        assert str(refusal.value).endswith(f"there are 0, 1, which are numbers, and {positive!r} is text.{meant}")


def test_cross_evaluation_takes_the_convention_and_says_so():
    from sklearn.linear_model import LogisticRegression

    result = cross_evaluate(LogisticRegression(), S[:, None], words("no", "yes").astype(str), split=3)
    assert "The positive class is 'yes' by convention" in " ".join(repr(result).split())


def test_a_threshold_with_its_positive_class_is_read_back_equal():
    best = best_threshold(words("no", "yes"), S, "ac_score")
    assert Result.from_json(best.to_json()) == best
    assert "The positive class is 'yes' by convention" in " ".join(repr(best).split())
