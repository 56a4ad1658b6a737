"""Saved evaluations: JSON that is read back equal, a page of it that is the same to the byte, and files that are not."""

from __future__ import annotations

import json
import math
import re
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest
from checks import assert_refused
from command_line import run_command
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import Confusion, Counts, Evaluation, best_threshold, evaluate, tally
from steelyard.exceptions import InputError
from steelyard.metrics import metric

HERE = Path(__file__).parent
VALIDATOR = jsonschema.Draft202012Validator(Evaluation.json_schema())
RNG = np.random.default_rng(0)
N = 600
Y = (RNG.random(N) < 0.15).astype(int)
S = np.round(1 / (1 + np.exp(-(RNG.normal(size=N) + 2 * Y - 1.5))), 3)
W = RNG.gamma(2, 1, N)
K = RNG.integers(0, 4, N)
K_PRED = np.where(RNG.random(N) < 0.6, K, RNG.integers(0, 4, N))
NAMES = np.array(['a "quoted" one', "b, c]", "été \U0001f600", "</script>"])
FRAME = pl.DataFrame(
    {
        "y": Y,
        "p": (S > 0.4).astype(int),
        "s": S,
        "w": W,
        "n": RNG.integers(1, 5, N),
        "site": np.where(np.arange(N) % 3 == 0, "north", "south"),
        "day": [date(2024, 2, 28 + i % 2) for i in range(N)],
        "dose": [None if i % 5 == 0 else Decimal("0.5") * (i % 3) for i in range(N)],
        "patient": np.arange(N) // 10,
    }
)

KINDS = {
    "counts": lambda: evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)),
    "weights as counts": lambda: evaluate(Counts(tp=28.5, fn=23.25, fp=72.0, tn=2680.125)),
    "nothing predicted positive": lambda: evaluate(Counts(0, 10, 0, 990)),
    "labels": lambda: evaluate(Y, S > 0.4),
    "booleans": lambda: evaluate(Y == 1, S > 0.4),
    "minus one": lambda: evaluate(np.where(Y, 1, -1), np.where(S > 0.4, 1, -1)),
    "scores": lambda: evaluate(Y, y_score=S),
    "infinite": lambda: evaluate([0, 0, 1, 1] * 10, y_score=[0, 0, 1, 1] * 10),
    "nobody flagged": lambda: evaluate(Y, y_score=S, threshold=math.inf),
    "everybody flagged": lambda: evaluate(Y, y_score=S, threshold=-math.inf),
    "ranked only": lambda: evaluate(Y, y_score=9 * S),
    "labels and scores": lambda: evaluate(Y, (S > 0.3).astype(int), y_score=S),
    "many scores": lambda: evaluate(Y, y_score=S + 1e-7 * np.arange(N)),
    "weights": lambda: evaluate(Y, y_score=S, sample_weight=W),
    "weighted labels": lambda: evaluate(Y, (S > 0.4).astype(int), sample_weight=W),
    "frequency": lambda: evaluate(Y, y_score=S, frequency=FRAME["n"].to_numpy()),
    "bins": lambda: evaluate(FRAME, true="y", score="s", exact=False),
    "classes": lambda: evaluate(K, K_PRED),
    "named classes": lambda: evaluate(NAMES[K], NAMES[K_PRED], pos_label="b, c]"),
    "bytes": lambda: evaluate(np.array([b"no", b"yes"])[Y], np.array([b"no", b"yes"])[(S > 0.4).astype(int)], pos_label=b"yes"),
    "weighted classes": lambda: evaluate(K, K_PRED, sample_weight=W),
    "an unseen class": lambda: evaluate(K, K_PRED, labels=[0, 1, 2, 3, 4]),
    "prevalence": lambda: evaluate(Y, y_score=S, prevalence=np.float32(0.01)),
    "class shares": lambda: evaluate(K, K_PRED, prevalence=np.array([0.1, 0.2, 0.3, 0.4])),
    "level and seed": lambda: evaluate(Y, y_score=S, level=0.8, rng=np.random.default_rng(3)),
    "named metrics": lambda: evaluate(K, K_PRED, metrics=["f_beta[beta=2, average=macro]", "recall[class=2]", "mcc"]),
    "parameters": lambda: evaluate(Y, y_score=S, metrics=["weighted_auc[rho=0.2]", "iba[alpha=0.1]", "f_beta[beta=0.5]"]),
    "groups": lambda: evaluate(FRAME, true="y", pred="p", by=["site", "day"]),
    "scored groups": lambda: evaluate(FRAME, true="y", score="s", weight="w", by="dose", threshold=0.3),
    "use": lambda: evaluate(Y, y_score=S, use="alerts", capacity="20 of 100"),
    "profile": lambda: evaluate(Y, y_score=S, use="retrieval"),
    "muted": lambda: evaluate(Y, y_score=S, mute=["for-alerts"]),
    "clusters": lambda: evaluate(FRAME, true="y", pred="p", cluster="patient"),
    "frequencies of a frame": lambda: evaluate(FRAME, true="y", pred="p", frequency="n"),
    "other labels": lambda: evaluate(Confusion.of_rows((date(2024, 1, 1), datetime(2024, 1, 1, 12, tzinfo=UTC)), np.array([[5, 2], [1, 9]]))),
}  # fmt: skip


@cache
def kind(name):
    """An evaluation of that kind, made once."""
    return KINDS[name]()


@pytest.fixture(scope="module", params=KINDS)
def evaluation(request):
    return kind(request.param)


def reread(evaluation):
    """The evaluation after a trip through strict JSON that keeps to the schema."""
    text = evaluation.to_json()
    data = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    VALIDATOR.validate(data)
    again = Evaluation.from_json(text)
    assert again == evaluation and again.to_json() == text
    return again


def test_every_kind_of_evaluation_is_read_back_equal_and_gives_the_same_page(evaluation):
    again = reread(evaluation)
    unscored = type(evaluation.groups)(
        replace(group, scores=None) for group in evaluation.groups
    )  # the scores of groups are not saved
    assert again.to_html() == replace(evaluation, groups=unscored).to_html()
    assert (repr(again), again.to_markdown()) == (repr(evaluation), evaluation.to_markdown())
    assert (again.confusion, again.counts, again.scores) == (evaluation.confusion, evaluation.counts, evaluation.scores)
    assert (again.labels, again.positive, again.threshold) == (
        evaluation.labels,
        evaluation.positive,
        evaluation.threshold,
    )
    assert [type(label) for label in again.labels] == [type(label) for label in evaluation.labels]
    for mine, theirs in zip(again.metrics, evaluation.metrics, strict=True):
        assert mine.spec == theirs.spec
        for name in ("value", "low", "high", "chance", "undefined_share"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))


def test_another_evaluation_is_not_equal():
    one, other = evaluate(Counts(28, 23, 72, 2680)), evaluate(Counts(28, 23, 72, 2681))
    assert one != other
    assert one != one.to_json()
    assert one != evaluate(Counts(28, 23, 72, 2680), level=0.9)


def test_curves_and_thresholds_of_a_reloaded_evaluation_are_exact():
    scores = S + 1e-9 * np.arange(N)
    before, again = evaluate(Y, y_score=scores), reread(evaluate(Y, y_score=scores))
    assert again.best_threshold("mcc", draws=0).threshold == best_threshold(Y, scores, metric="mcc", draws=0).threshold
    for mine, theirs in zip(again.roc_curve(), before.roc_curve(), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_million_scores_take_a_few_megabytes():
    rng = np.random.default_rng(1)
    y = rng.random(1_000_000) < 0.05
    scores = rng.normal(size=len(y)) + y
    whole = evaluate(y, y_score=scores, metrics=["roc_auc"], draws=20)
    single = evaluate(y, y_score=scores.astype(np.float32), metrics=["roc_auc"], draws=20)
    assert len(np.unique(scores)) == len(scores)
    assert len(whole.to_json()) < 8e6
    assert len(single.to_json()) < 4e6
    assert Evaluation.from_json(whole.to_json()).scores == whole.scores


def test_columns_source_and_versions_are_told():
    data = kind("scored groups").to_dict()
    assert data["columns"] == {"true": "y", "score": "s", "weight": "w", "by": ["dose"]}
    assert kind("clusters").to_dict()["columns"]["cluster"] == "patient"
    assert data["source"] is None and set(data["versions"]) == {"steelyard", "python", "numpy"}
    assert [group["group"]["dose"] for group in data["groups"]].count(None) == 1
    assert all(row.keys() >= {"class", "rows", "precision", "recall", "f1"} for row in data["per_class"])


def test_a_page_is_called_by_the_source_of_the_evaluation(tmp_path):
    named = replace(kind("labels"), source="released.csv")
    assert "released.csv" in reread(named).to_html()
    assert reread(named).to_html() == named.to_html() == named.to_html(source="released.csv")
    path = tmp_path / "released.json"
    path.write_text(named.to_json(), encoding="utf-8")
    assert Evaluation.from_json(path) == Evaluation.from_json(str(path)) == named


def test_a_metric_of_ones_own_is_read_back_where_it_is_declared(registry):
    @metric("Half recall", family="rates", range=(0, 0.5), direction="higher")
    def half_recall(c):
        return c.tp / (2 * (c.tp + c.fn))

    found = evaluate(Counts(28, 23, 72, 2680), metrics=[half_recall])
    text = found.to_json()
    assert Evaluation.from_json(text) == found
    del registry._REGISTRY["half_recall"]
    with pytest.raises(
        InputError, match=r"metrics\[0\].name is 'half_recall', .* declare your own metric with @metric"
    ):
        Evaluation.from_json(text)


# ---------------------------------------------------------------- any input


LABELS = st.one_of(
    st.lists(st.integers(-5, 2**60), min_size=2, max_size=4, unique=True),
    st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=4, unique=True),
    st.just([False, True]),
)
SCORES = st.floats(-1e6, 1e6, allow_nan=False)


@settings(max_examples=12)
@given(LABELS, st.data())
def test_labels_of_any_kind_come_back(labels, data):
    rows = st.lists(st.sampled_from(range(len(labels))), min_size=6, max_size=30)
    true = data.draw(rows.filter(lambda codes: len(set(codes)) > 1))
    pred = [data.draw(st.sampled_from(true)) for _ in true]
    weight = data.draw(st.none() | st.lists(st.floats(0.01, 1e3), min_size=len(true), max_size=len(true)))
    column = np.array([labels[i] for i in true], dtype=object), np.array([labels[i] for i in pred], dtype=object)
    again = reread(evaluate(*column, sample_weight=weight, draws=50))
    assert again.to_html() == evaluate(*column, sample_weight=weight, draws=50).to_html()


@settings(max_examples=12)
@given(
    st.lists(st.tuples(st.booleans(), SCORES, st.floats(0.01, 1e3)), min_size=4, max_size=40),
    st.booleans(),
    st.none() | SCORES,
)
def test_scores_of_any_kind_come_back(rows, weighted, threshold):
    y, scores, weights = (np.array(column) for column in zip(*rows, strict=True))
    y[:2] = False, True
    found = evaluate(y, y_score=scores, sample_weight=weights if weighted else None, threshold=threshold, draws=50)
    assert reread(found).to_html() == found.to_html()


# ---------------------------------------------------------------- files that were changed


def broken(data, path, value):
    """The JSON with one value changed, or left out where the value is `...`."""
    data, *steps = deepcopy(data), *path
    holder = data
    for step in steps[:-1]:
        holder = holder[step]
    if value is ...:
        del holder[steps[-1]]
    else:
        holder[steps[-1]] = value
    return data


CHANGED = [
    (("schema",), 3, r"has schema 3; this version reads up to 2"),
    (("level",), 95, r"level is 95, not a probability"),
    (("rows",), 7, r"rows is 7, not the 600 rows"),
    (("rows",), "many", r"rows is 'many', not a whole number"),
    (("labels",), [0, 2], r"labels is \[0, 2\], not the labels of its table"),
    (("positive",), 5, r"positive is 5, not one of its labels"),
    (("counts", "tp"), 1, r"counts is .*, not that of its table"),
    (("metrics",), ..., r"lacks the field metrics;"),
    (("metrics", 0, "low"), ..., r"lacks the field metrics\[0\].low"),
    (("metrics", 0, "value"), "0.5", r"metrics\[0\].value is '0.5', not a number"),
    (("metrics", 0, "value"), 1e9, r"metrics\[0\].value is 1000000000.0, not a value between"),
    (("metrics", 0, "name"), "no_such_metric", r"metrics\[0\].name is 'no_such_metric'"),
    (("per_class", 1, "recall"), None, r"per_class\[1\].recall is None, not an object"),
    (("table", "rows"), [[1]], r"table: The rows of a saved confusion are 2 x 2"),
    (("scores", "positive", "scores"), [1, 1], r"scores: The scores of a saved table are finite and ascending"),
    (("scores", "positive", "scores"), [0.5], r"scores is .*, not that of the 600 rows"),
    (("scores", "negative", "scores", "packed"), "AAAA", r"scores.negative.scores.packed is 'AAAA'"),
    (("scores", "negative", "scores", "count"), 3, r"scores.negative.scores is "),
    (("versions",), {}, r"versions is \{\}"),
    (("verdict",), 3, None),
    (("threshold",), True, r"threshold is True, not a number"),
]


@pytest.mark.parametrize(("path", "value", "words"), CHANGED, ids=lambda value: str(value)[:40])
def test_what_was_changed_is_refused_by_its_field(path, value, words):
    data = kind("many scores").to_dict()
    changed = broken(data, path, value)
    if words is None:  # it is made again from the numbers
        assert [part.row() for part in Evaluation.from_json(changed).verdict] == data["verdict"]
    else:
        assert_refused(lambda: Evaluation.from_json(changed), InputError, words)


@pytest.mark.parametrize(
    ("path", "value"), [case[:2] for case in CHANGED if case[1] is ... or isinstance(case[1], str)]
)
def test_the_schema_refuses_what_is_missing_or_of_another_kind(path, value):
    changed = broken(kind("many scores").to_dict(), path, value)
    known = path[-1] in ("name", "packed")  # texts, which only a reader can look into
    assert VALIDATOR.is_valid(changed) == known


def test_the_schema_refuses_what_it_does_not_name():
    data = kind("groups").to_dict()
    for place in (data, data["metrics"][0], data["groups"][0], data["per_class"][0], data["table"], data["columns"]):
        place["more"] = 1
        assert not VALIDATOR.is_valid(data)
        del place["more"]
    assert VALIDATOR.is_valid(data)


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.99])
def test_a_text_that_was_cut_short_is_refused(cut, tmp_path):
    text = kind("scores").to_json()
    assert_refused(lambda: Evaluation.from_json(text[: int(cut * len(text))]), InputError, "no JSON")
    assert_refused(lambda: Evaluation.from_json(tmp_path / "none.json"), InputError, "none.json' is neither JSON")
    assert_refused(lambda: Evaluation.from_json("[1]"), InputError, "no object")


@pytest.mark.parametrize(
    ("written", "changed", "words"),
    [
        ('"level": 0.95', '"level": 0.95, "level": 0.5', "has the field 'level' twice in one object"),
        ('"rows": 600,', f'"rows": {10**400},', "holds a number of 401 digits, beyond any"),
    ],
)
def test_a_file_of_a_field_twice_or_of_an_endless_number_is_refused_everywhere(written, changed, words, tmp_path):
    text = kind("scores").to_json()
    assert written in text
    path = tmp_path / "saved.json"
    path.write_text(text.replace(written, changed, 1))
    assert_refused(lambda: Evaluation.from_json(path), InputError, words)
    for words_of_command in (["report", str(path)], ["gate", str(path), "--require", "recall >= 0.5"]):
        found = run_command(*words_of_command)
        assert found.exit_code == 2 and re.search(words, " ".join(found.output.split()))


def test_a_tally_gives_the_evaluation_that_its_rows_give():
    counted = tally(FRAME, true="y", score="s", by="site")
    assert reread(evaluate(counted)).groups == evaluate(counted).groups
