"""Keywords: scikit-learn's words, the columns of a frame, groups and clusters, alike wherever rows are given."""

from __future__ import annotations

import inspect
import math
import re
from typing import TypedDict, Unpack

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from checks import public_names, public_thing

import steelyard
from steelyard.arguments import RENAMED, names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError

N = 300
RNG = np.random.default_rng(3)
Y = (RNG.random(N) < 0.25).astype(int)
S = np.clip(0.35 * Y + 0.6 * RNG.random(N), 0, 1)
S2 = np.clip(S + 0.2 * RNG.standard_normal(N), 0, 1)
P, P2 = (S > 0.5).astype(int), (S2 > 0.5).astype(int)
W = RNG.random(N) + 0.1
SITE, PATIENT = RNG.choice(["north", "south"], N), RNG.integers(0, 40, N)
COLUMNS = {"y": Y, "p": P, "p2": P2, "s": S, "s2": S2, "w": W, "site": SITE, "patient": PATIENT}
FRAME = pl.DataFrame(COLUMNS)
LABELS, SCORES = {"y_pred": P}, {"y_score": S}


def rows(function, *before, **options):
    """A function of rows, with what comes before them and its own options."""
    return lambda **given: function(*before, **given, **options)


# How each public function that takes rows is asked: what it answers of labels and of scores.
OF_LABELS = {
    "evaluate": rows(steelyard.evaluate, metrics=["recall"], draws=20),
    "interval": rows(steelyard.interval, "recall", draws=200),
    "intervals": rows(steelyard.interval, ["recall", "f1"], draws=200),
    "chance": rows(steelyard.chance, "f1"),
    "beats_chance": steelyard.beats_chance,
    "beats_chance by a metric": rows(steelyard.beats_chance, metric="f1"),
    "at_prevalence": lambda y_true, **given: steelyard.at_prevalence(y_true, 0.5, **given),
}
OF_SCORES = {
    "evaluate": rows(steelyard.evaluate, metrics=["roc_auc"], draws=20),
    "interval": rows(steelyard.interval, "roc_auc"),
    "intervals": rows(steelyard.interval, ["roc_auc"]),
    "chance": rows(steelyard.chance, "average_precision"),
    "beats_chance": steelyard.beats_chance,
    "at_prevalence": lambda y_true, **given: steelyard.at_prevalence(y_true, 0.5, **given),
    "best_threshold": rows(steelyard.best_threshold, metric="f1", draws=0),
    "operating_points": lambda **given: steelyard.operating_points(**given).points,
    "roc_then_tpnr": rows(steelyard.studies.roc_then_tpnr, draws=0),
    "confidence_band": steelyard.figures.confidence_band,
    "decision_curve": lambda **given: [row.net_benefit for row in steelyard.decision_curve(**given)],
    "calibration": steelyard.calibration,
    "roc_curve": steelyard.roc_curve,
    "precision_recall_curve": steelyard.precision_recall_curve,
}
ASKED = [(name, ask, {"pred": "p"}, LABELS) for name, ask in OF_LABELS.items()]
ASKED += [(name, ask, {"score": "s"}, SCORES) for name, ask in OF_SCORES.items()]
IDS = [f"{name} of {next(iter(columns))}" for name, _, columns, _ in ASKED]
TABLES = {"confusion": LABELS, "score_table": SCORES}
MODELS = {"compare", "metric_correlation", "robustness"}  # rows of several models
COLUMNS_OF_CLASSES = {"best_decision"}  # a column of scores for each class
GROUPED = {"compare_groups", "drift", "errors", "group_thresholds"}  # each in tests of its own
COUNTED = {"tally", "recommend", "slices"}  # each in tests of its own
WITHOUT_TRUTH = {"unlabelled", "label_plan"}
SETS = {"multilabel"}  # rows of several labels: tests/test_multilabel_values.py
FORMER = {"y_other", "predictions", "groups", "positive", "weights", "y_prob", "y_proba"}


def public_functions():
    """The public functions and the doors of public classes, by name."""
    for whole in public_names():
        name, thing = whole.rpartition(".")[2], public_thing(whole)
        if inspect.isfunction(thing):
            yield name, thing
        for door in ("from_predictions", "update"):
            if inspect.isclass(thing) and hasattr(thing, door):
                yield f"{name}.{door}", getattr(thing, door)


def same(first, second):
    """Whether two answers say the same."""
    return repr(first) == repr(second)


def test_every_public_function_of_rows_is_asked_here():
    of_rows = {n for n, f in public_functions() if "y_true" in inspect.signature(f).parameters and "." not in n}
    asked = {*OF_LABELS, *OF_SCORES} - {"intervals", "beats_chance by a metric"}
    assert of_rows == {
        *asked,
        *COUNTED,
        *WITHOUT_TRUTH,
        *TABLES,
        "paired",
        *MODELS,
        *COLUMNS_OF_CLASSES,
        *SETS,
        *GROUPED,
    }


def test_no_argument_has_another_word_than_the_field():
    for name, function in public_functions():
        parameters = [
            word for word in inspect.signature(function).parameters if word not in ("self", "metric", "metrics")
        ]
        if "y_true" in parameters:
            assert parameters[0] in ("y_true", "data"), name
            assert not FORMER & {*parameters}, name


@pytest.mark.parametrize(("name", "ask", "columns", "arrays"), ASKED, ids=IDS)
def test_keywords_are_those_of_scikit_learn(name, ask, columns, arrays):
    usual = ask(y_true=Y, **arrays)
    assert same(ask(y_true=Y, **arrays, pos_label=1, labels=[0, 1]), usual)
    assert not same(ask(y_true=Y, **arrays, pos_label=0), usual) or "chance" in name or name == "at_prevalence"
    weighted = ask(y_true=Y, **arrays, sample_weight=W)
    assert same(ask(y_true=FRAME, true="y", **columns, weight="w"), weighted)


@pytest.mark.parametrize(("name", "arrays"), TABLES.items(), ids=list(TABLES))
def test_tables_take_the_keywords(name, arrays):
    table = (getattr(steelyard, name, None) or getattr(steelyard.tables, name))(
        y_true=Y, **arrays, pos_label=1, labels=[0, 1]
    )
    assert (table.label if name == "score_table" else table.positive) == 1


ENGINES = {
    "pandas": pd.DataFrame,
    "Polars": pl.DataFrame,
    "Polars, lazy": pl.LazyFrame,
    "PyArrow": lambda columns: pl.DataFrame(columns).to_arrow(),
    "DuckDB": lambda columns: duckdb.from_arrow(pl.DataFrame(columns).to_arrow()),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_frame_of_any_engine_is_handed_over_by_one_set_of_names(engine):
    frame = ENGINES[engine](COLUMNS)
    for name, ask, columns, arrays in ASKED:
        assert same(ask(y_true=frame, true="y", **columns), ask(y_true=Y, **arrays)), name
    for columns, scores in (({"pred": ["p", "p2"]}, False), ({"score": ["s", "s2"]}, True)):
        models = dict(zip(next(iter(columns.values())), (S, S2) if scores else (P, P2), strict=True))
        options = {"metrics": ["roc_auc" if scores else "recall"]}
        assert same(
            steelyard.compare(frame, true="y", **columns, **options),
            steelyard.compare(Y, **{"y_score" if scores else "y_pred": models}, **options),
        )


@pytest.mark.parametrize(("name", "ask", "columns", "arrays"), ASKED, ids=IDS)
def test_what_cannot_be_combined_is_refused_in_one_sentence(name, ask, columns, arrays):
    wrong = [
        (
            {"y_true": Y, **arrays, "true": "y"},
            "true= names a column of a frame or file, and arrays were given; leave true= out, or give the frame first",
        ),
        ({"y_true": FRAME, **columns}, "names a column of a frame; name that of the truth too, with true="),
        ({"y_true": FRAME, "true": "yy", **columns}, "There is no column 'yy'; there are 'y', .*Did you mean 'y'"),
    ]
    for given, words in wrong:
        with pytest.raises((InputError, InputTypeError), match=words):
            ask(**given)


def test_two_columns_of_scores_are_those_of_two_classes_everywhere():
    both = np.c_[1 - S, S]
    for name, ask in OF_SCORES.items():
        assert same(ask(y_true=Y, y_score=both), ask(y_true=Y, y_score=S)), name


def test_groups_and_clusters_of_arrays_are_those_of_a_frame():
    options = {"metrics": ["recall"], "draws": 20}
    for by_frame, by_arrays in (
        (steelyard.evaluate(FRAME, true="y", pred="p", by="site", **options), {"by": pd.Series(SITE, name="site")}),
        (steelyard.evaluate(FRAME, true="y", pred="p", by=["site"], **options), {"by": {"site": SITE}}),
        (
            steelyard.evaluate(FRAME, true="y", pred="p", weight="w", by="site", **options),
            {"by": {"site": SITE}, "sample_weight": W},
        ),
    ):
        assert by_frame.groups.to_dicts() == steelyard.evaluate(Y, P, **by_arrays, **options).groups.to_dicts()
    scored = steelyard.evaluate(FRAME, true="y", score="s", by="site", **options)
    assert scored.groups.to_dicts() == steelyard.evaluate(Y, y_score=S, by={"site": SITE}, **options).groups.to_dicts()
    clustered = steelyard.evaluate(FRAME, true="y", pred="p", cluster="patient", **options)
    assert clustered["recall"] == steelyard.evaluate(Y, P, cluster=PATIENT, **options)["recall"]
    assert clustered.assumed == ("The rows are clustered by patient; the intervals resample whole clusters.",)
    interval = steelyard.interval("recall", Y, P, cluster=PATIENT)
    assert interval.method == "cluster" and interval == steelyard.interval(
        "recall", FRAME, true="y", pred="p", cluster="patient"
    )


REFUSED = {
    "a name beside arrays": (lambda: steelyard.evaluate(Y, P, by="site"), "by='site' names a column of a frame"),
    "a cluster's name beside arrays": (
        lambda: steelyard.interval("f1", Y, P, cluster="patient"),
        "names a column of a frame",
    ),
    "an array beside a frame": (
        lambda: steelyard.evaluate(FRAME, true="y", pred="p", cluster=PATIENT),
        "is the name of a column",
    ),
    "groups of a table": (lambda: steelyard.evaluate(steelyard.confusion(Y, P), by=SITE), "so give the rows"),
    "groups of one interval": (lambda: steelyard.interval("f1", Y, P, by=SITE), "gives one result; evaluate takes by="),
    "groups of one threshold": (
        lambda: steelyard.best_threshold(Y, S, "f1", by=SITE),
        "gives one result; evaluate takes by=",
    ),
    "clusters of a threshold": (
        lambda: steelyard.best_threshold(steelyard.score_table(Y, S), "f1", cluster=PATIENT),
        "so give the rows",
    ),
    "groups of a comparison": (
        lambda: steelyard.compare(FRAME, true="y", pred=["p", "p2"], by="site"),
        "it gives one result; evaluate takes by=",
    ),
    "clusters of chance": (lambda: steelyard.chance("f1", Y, P, cluster=PATIENT), "takes the rows as independent"),
    "a matrix of groups": (lambda: steelyard.evaluate(Y, P, by=np.ones((N, 2))), "several columns are given by name"),
    "a group too few": (lambda: steelyard.evaluate(Y, P, by=SITE[1:]), "differ in length"),
    "models twice": (
        lambda: steelyard.compare(FRAME, ["p", "q"], true="y", pred=["p", "p2"]),
        "There is no model 'q'",
    ),
    "one model": (lambda: steelyard.compare(FRAME, true="y", pred="p"), "two or more models, not 1"),
    "models without a truth": (lambda: steelyard.compare(FRAME, pred=["p", "p2"]), "of a frame true="),
    "a frame alone": (lambda: steelyard.evaluate(FRAME), "name its columns with true="),
    "a frame for a threshold": (
        lambda: steelyard.best_threshold(FRAME),
        "name its columns with true=, and pred= or score=",
    ),
    "a metric of scores": (
        lambda: steelyard.interval("roc_auc", FRAME, true="y", pred="p"),
        "or of a frame score=",
    ),
    "scores as labels": (lambda: steelyard.interval("roc_auc", Y, S), "roc_auc is of scores; give y_score="),
    "an option that is none": (
        lambda: steelyard.interval("f1", Y, P, threshold=0.5),
        "a threshold together contradict each other",
    ),
    "a value for nothing": (
        lambda: steelyard.interval("f1", Y, P, zero_division=0),
        "leaves it undefined and says why",
    ),
    "n x 1 scores": (lambda: steelyard.evaluate(Y, y_score=S[:, None]), r"a column of one; give y_score.ravel\(\)"),
    "n x 1 for a threshold": (
        lambda: steelyard.best_threshold(Y, S[:, None], "f1"),
        r"a column of one; give y_score.ravel\(\)",
    ),
    "n x 1 for an area": (lambda: steelyard.roc_auc(Y, S[:, None]), r"a column of one; give y_score.ravel\(\)"),
    "a frame of one column": (
        lambda: steelyard.f1(FRAME[["y"]].to_pandas(), P),
        r"give the column itself, such as frame\['y'\]",
    ),
    "a Polars frame of one": (lambda: steelyard.f1(FRAME[["y"]], P), r"give the column itself, such as frame\['y'\]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_call_says_what_to_do(case):
    ask, words = REFUSED[case]
    with pytest.raises((InputError, InputTypeError), match=words):
        ask()


def test_rows_are_counted_from_one_everywhere():
    scores = np.where(np.arange(N) == 3, math.nan, S)
    frame = FRAME.with_columns(s=pl.Series(scores))
    for ask in (
        lambda: steelyard.evaluate(Y, y_score=scores),
        lambda: steelyard.evaluate(frame, true="y", score="s"),
        lambda: steelyard.evaluate(frame.lazy(), true="y", score="s"),
        lambda: steelyard.best_threshold(Y, scores, "f1"),
        lambda: steelyard.compare(Y, y_score={"a": scores, "b": S2}),
        lambda: steelyard.compare(frame, true="y", score=["s", "s2"]),
    ):
        with pytest.raises(InputError, match=r"row 4\b"):
            ask()


def test_batches_and_robustness_take_the_keywords():
    seen = steelyard.Accumulator(labels=[0, 1])
    seen.update(y_true=Y, y_pred=P)
    assert seen.result().rows.sum() == N
    scores = steelyard.Accumulator(steelyard.score_table)
    scores.update(y_true=Y, y_score=S)
    assert scores.result().n == N
    with pytest.raises(InputTypeError, match="either y_pred or y_score="):
        scores.update(Y)
    options = {"metrics": ["recall"], "draws": 0}
    named = steelyard.studies.robustness(y_true=Y, y_pred={"a": P}, **options)
    assert same(steelyard.studies.robustness(Y, {"a": P}, **options), named)


@pytest.mark.parametrize("name", ["RocDisplay", "PrecisionRecallDisplay", "DensityDisplay", "ThresholdDisplay"])
def test_a_figure_of_scores_takes_arrays_by_keyword_and_frames(name):
    display = getattr(steelyard.figures, name)
    drawn = display.from_predictions(y_true=Y, y_score=S, pos_label=1, sample_weight=W)
    assert display.from_predictions(FRAME, true="y", score="s", weight="w").caption() == drawn.caption()


# What comes before a keyword of another question, where it is not the rows alone.
BEFORE = {
    "interval": ("f1", Y, P),
    "chance": ("f1", Y, P),
    "compare": (Y, {"a": P, "b": P2}),
    "at_prevalence": (Y, 0.1),
    "paired": (Y, P, P2),
    "scorer": ("f1",),
}
OF_ROWS = [
    name
    for name in public_names()
    if name not in ("SteelyardError", "RARER", "figures.plot")  # which draws rows that were given elsewhere
    and not name.startswith("results.")
    and {"y_true", "y", "data"} & set(inspect.signature(public_thing(name)).parameters)
]


@pytest.mark.parametrize("keyword", ["by", "cluster", "zero_division"])
@pytest.mark.parametrize("name", [*OF_ROWS, "recall", "roc_auc", "scorer"])
def test_a_keyword_of_another_question_is_taken_or_refused_in_a_sentence_that_says_what_to_do(name, keyword):
    function = public_thing(name)
    taken = set(inspect.signature(function).parameters)
    if keyword in taken or (keyword == "zero_division" and name == "scorer"):
        return
    given = (None, S[:, None], Y, S[:, None], Y)[: 5 if "y_test" in taken else 3] if "y" in taken else (Y, P)
    with pytest.raises(InputTypeError, match=rf"^{keyword}= .*(evaluate|groups=|steelyard\.precision|no interval)"):
        function(*BEFORE.get(name, given), **{keyword: 0 if keyword == "zero_division" else SITE})


@pytest.mark.parametrize(
    "draw",
    [
        lambda **options: steelyard.figures.RocDisplay.from_predictions(Y, S, **options),
        lambda **options: steelyard.figures.plot("roc", steelyard.Predictions(Y, y_score=S), **options),
    ],
)
def test_a_figure_refuses_keywords_of_other_questions_in_a_sentence(draw):
    with pytest.raises(InputTypeError, match=r"^by= .* a figure gives one result"):
        draw(by=SITE)
    with pytest.raises(InputTypeError, match=r"^zero_division= .* a figure leaves it undefined .*steelyard\.precision"):
        draw(zero_division=0)
    with pytest.raises(InputTypeError, match=r"takes no colour=; leave it out"):
        draw(colour="red")


def test_a_kind_of_figure_is_given_first():
    with pytest.raises(InputTypeError, match=r"^kind= is text, not "):
        steelyard.figures.plot(Y)


# ---------------------------------------------------------------- arguments that have no place


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: steelyard.evaluate(FRAME, "y", "p"),
            "evaluate takes the columns of a frame by name: evaluate(frame, true='y', pred='p').",
        ),
        (lambda: steelyard.evaluate(Y, y_prob=S), "evaluate takes no y_prob=. Did you mean y_score=?"),
        (lambda: steelyard.evaluate(Y, P, average="macro"), "average= is part of a metric's name"),
        (lambda: steelyard.evaluate(Y, P, y_pred=P), "y_pred was given twice, by its place and by its name;"),
        (lambda: steelyard.evaluate(), "There is nothing to ask about: give y_pred"),
        (lambda: steelyard.confusion(Y, P, P2), "confusion takes 2 values by place, data and predicted, not 3;"),
        (lambda: steelyard.errors(Y, P, frist=2), "errors takes no frist=. Did you mean first=?"),
        (lambda: steelyard.gate(steelyard.evaluate(Y, P), colour="red"), "gate takes no colour=; leave it out."),
    ],
)
def test_an_argument_that_has_no_place_is_refused_by_what_to_give(call, words):
    with pytest.raises(InputTypeError) as refused:
        call()
    assert str(refused.value).startswith(words)


class Options(TypedDict, total=False):
    y_score: list[float]
    exact: bool


@names_wrong_arguments(keywords=Options)
def errors(data, predicted=None, /, *, key=None, draws: int = 0, **rows: Unpack[Options]):
    return data, predicted, key, draws, rows


def test_the_keywords_of_a_typed_dictionary_are_known_and_listed():
    assert list(inspect.signature(errors).parameters) == ["data", "predicted", "key", "draws", "y_score", "exact"]
    assert errors(1, y_score=[0.5], exact=True)[-1] == {"y_score": [0.5], "exact": True}
    for given, words in {
        "y_prob": "errors takes no y_prob=. Did you mean y_score=?",
        "resamples": "errors takes draws= in place of resamples=.",
        "keys": "errors takes key= in place of keys=.",
        "where": "errors takes no where=; leave it out.",  # there is no filter= here
        "colour": "errors takes no colour=; leave it out.",
    }.items():
        with pytest.raises(InputTypeError, match=f"^{re.escape(words)}$"):
            errors(1, **{given: 2})
    with pytest.raises(InputTypeError, match=r"^exact= is True or False, not 'no'"):
        errors(1, exact="no")
    with pytest.raises(InputTypeError, match=r"^errors needs data; give it"):
        errors(draws=2)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: steelyard.calibration(Y, S, bins=5), "calibration takes n_bins= in place of bins=; bins= divides"),
        (lambda: steelyard.slices(FRAME, true="y", pred="p", bins=5), "slices takes n_bins= in place of bins=;"),
        (lambda: steelyard.at_prevalence(Y, y_pred=P, pi=0.1), "at_prevalence takes no pi= any more: give the prev"),
        (lambda: steelyard.compare(Y, {"a": P, "b": P2}, scores=True), "compare takes no scores= any more: give y_sc"),
        (
            lambda: steelyard.gate(steelyard.evaluate(Y, P), "recall >= 0.1", allow_worse=True),
            "gate takes no allow_worse= any more: a rule that fails better models is refused.",
        ),
        (
            lambda: steelyard.gate(steelyard.evaluate(Y, P), promise="threshold.json"),
            "gate takes guarantee= in place of promise=.",
        ),
    ],
)
def test_a_keyword_that_is_gone_is_refused_by_what_to_give(call, sentence):
    with pytest.raises(InputTypeError, match=f"^{re.escape(sentence)}"):
        call()


def test_a_renamed_keyword_names_what_took_its_place():
    for name, renamed in RENAMED.items():
        public = {each.rpartition(".")[2] for each in public_names()}
        assert name is None or name.partition(".")[0] in public, name
        assert all(" " in new or new.isidentifier() for new in renamed.values())
