"""Every result is alike: it iterates over its rows, is saved, read back equal, and shown."""

from __future__ import annotations

import copy
import inspect
import json
import math
import os
import pickle
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import cache, cached_property
from importlib import import_module

import jsonschema
import numpy as np
import polars as pl
import pytest
from checks import public_names, public_thing
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from study_tools import Claim, HoldOuts, Picture, Study, Table, invariance

import steelyard
from steelyard import Counts, Result
from steelyard.analysis.results.result_homes import HOMES
from steelyard.exceptions import InputError
from steelyard.figures import SurfaceDisplay

TABLE = Counts(tp=28, fn=23, fp=72, tn=2680)
RNG = np.random.default_rng(7)
TRUE = RNG.integers(0, 2, 120)
SCORES = {name: np.clip(0.3 * TRUE + RNG.random(120), 0, 1) for name in ("<b>A</b>", "B|\x1b[31m")}
LABELS = {name: (score > 0.6).astype(int) for name, score in SCORES.items()}
PROBABILITIES, GROUP = np.clip(SCORES["<b>A</b>"], 0.01, 0.99), np.where(np.arange(120) % 2, "<i>", "b")
CLASSES = np.array(["<b>A</b>", "b", "c\x1b[31m"])[np.arange(120) % 3]
COLUMNS = np.random.default_rng(0).dirichlet([1, 1, 1], 120) / 2 + np.eye(3)[np.arange(120) % 3] / 2
DATA_SETS = {"A": [0.9, 0.8, 0.7, 0.6], "B": [0.8, 0.7, 0.6, 0.5], "C": [0.7, 0.6, 0.5, 0.55]}
TABLES = {"A": TABLE, "B": Counts(tp=20, fn=31, fp=40, tn=2712)}
RATIOS = {
    "20:95": Counts([198, 199], [2, 1], [92, 185], [858, 765]),
    "80:19": Counts([793, 788], [7, 12], [12, 34], [178, 156]),
}


@cache
def cross_evaluated(models=2):
    X, y = load_breast_cancer(return_X_y=True)
    named = {"<b>A</b>": GaussianNB(), "B": DecisionTreeClassifier(max_depth=3)}
    return steelyard.cross_evaluate(dict(list(named.items())[:models]), X, y, split=steelyard.Folds(3, repeats=2))


def refitted():
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=3)
    return steelyard.studies.refit_robustness(tree, X[::2], y[::2], X[1::2], y[1::2], metrics=["tpnr", "f1"], draws=5)


def studied():
    table = Table(
        "values",
        "Values",
        [{"name": "<b>A", "value": 0.5, "none": None}, {"name": "b", "value": math.nan, "none": math.inf}],
    )
    claim = Claim("It holds", "0.5", "0.51", "", "holds", "It is near.", "Table 1")
    picture = Picture("surface", SurfaceDisplay.of(["ac_score"], shape="contour"))
    return Study(
        "own", "A study", "Somebody (2020)", ["It was found."], [table], [picture], [claim], {"seed": 1, "quick": True}
    )


@cache
def resampled():
    X, y = load_breast_cancer(return_X_y=True)
    samplers = {"<b>A</b>": "over", "B|\x1b[31m": "under"}
    return steelyard.studies.resampling_study(
        GaussianNB(), X, 1 - y, samplers, split=3, inner=2, metrics=["mcc", "roc_auc"]
    )


@cache
def selected():
    X, y = load_breast_cancer(return_X_y=True)
    return steelyard.studies.select_tree(DecisionTreeClassifier(), X, 1 - y, keep=2, most=3)


@cache
def monitored():
    monitor = steelyard.Monitor(["recall >= 0.9", "mcc >= 0.01"], by="site")
    for name, labels in LABELS.items():
        monitor.update(TRUE, labels, by=GROUP, period=name)
    return monitor.result()


def kept():
    ledger = steelyard.Ledger(tempfile.mkdtemp(prefix="<b>ledger"))
    for model, table in TABLES.items():
        ledger.log(steelyard.evaluate(table, metrics=["recall", "precision"]), {"model": f"<b>{model}\x1b[31m"})
    return ledger.history()


def sliced():
    """Slices of which one is worse, with a level that must be escaped."""
    rng = np.random.default_rng(0)
    site, y = rng.choice(["<b>A</b>", "B|\x1b[31m", "C"], 900), rng.random(900) < 0.5
    worse = site == "B|\x1b[31m"
    frame = pl.DataFrame({"site": site, "y": y, "p": y & (rng.random(900) < np.where(worse, 0.2, 0.8))})
    return steelyard.slices(frame, true="y", pred="p")


RESULTS = {
    "history": kept,
    "history rows": lambda: kept().rows,
    "interval": lambda: steelyard.interval("recall", TABLE),
    "slices": sliced,
    "resampling_study": resampled,
    "resampling_study, verdicts": lambda: resampled().verdicts,
    "interval of many tables": lambda: steelyard.interval("recall", Counts([1, 0], [3, 0], [5, 6], [7, 8])),
    "intervals": lambda: steelyard.interval(
        ["recall", "f_beta[beta=2]", "f1[average=macro]"], TRUE, LABELS["<b>A</b>"]
    ),
    "compare": lambda: steelyard.compare(TRUE, LABELS),
    "compare scores": lambda: steelyard.compare(TRUE, y_score=SCORES, threshold=0.5),
    "ranking": lambda: steelyard.compare(TRUE, LABELS).ranking(),
    "best_threshold": lambda: steelyard.best_threshold(TRUE, SCORES["<b>A</b>"], "ac_score", draws=20),
    "operating_points": lambda: steelyard.operating_points(TRUE, SCORES["<b>A</b>"], rng=0),
    "roc_then_tpnr": lambda: steelyard.studies.roc_then_tpnr(TRUE, SCORES["B|\x1b[31m"], draws=0),
    "best_threshold, labels": lambda: steelyard.best_threshold(
        np.eye(3, dtype=int)[np.arange(12) % 3], np.linspace(0, 1, 36).reshape(12, 3), "f1[average=macro]"
    ),
    "best_decision": lambda: steelyard.best_decision(CLASSES, COLUMNS, "balanced_accuracy", folds=2),
    "best_decision by costs": lambda: steelyard.best_decision(
        CLASSES, COLUMNS, cost_matrix=[[0, 1, 2], [3, 0, 4], [1, 1, 0]], reject_cost=0.4
    ),
    "risk_coverage": lambda: steelyard.best_decision(CLASSES, COLUMNS, reject=0.1).curve,
    "best_threshold, nobody": lambda: steelyard.best_threshold([0, 1, 0], [0.9, 0.1, 0.8], {"cost_fp": 9}, draws=0),
    "decision_curve": lambda: steelyard.decision_curve(TRUE, SCORES["<b>A</b>"], versus="treat all"),
    "confidence_band": lambda: steelyard.figures.confidence_band(TRUE, SCORES["<b>A</b>"], metric="precision"),
    "calibration": lambda: steelyard.calibration(TRUE, PROBABILITIES, by=GROUP),
    "calibration of columns": lambda: steelyard.calibration(
        np.arange(120) % 3, np.random.default_rng(0).dirichlet([1, 1, 1], 120)
    ),
    "recalibrated": lambda: steelyard.Recalibrator("temperature").fit(PROBABILITIES, TRUE).judged_,
    "calibration points": lambda: steelyard.calibration(TRUE, PROBABILITIES, strategy="uniform").curve,
    "chance": lambda: steelyard.chance("f1", TABLE),
    "chance_test": lambda: steelyard.beats_chance(TABLE, metric="f1"),
    "beats_chance": lambda: steelyard.beats_chance(TABLE),
    "unlabelled": lambda: steelyard.unlabelled(
        SCORES["<b>A</b>"], reference=(TRUE, SCORES["<b>A</b>"]), threshold=0.5, draws=100
    ),
    "label_plan": lambda: steelyard.label_plan(np.linspace(0, 0.5, 400) ** 2, 60, "f1", threshold=0.1),
    "drift": lambda: steelyard.drift(
        TRUE,
        LABELS["<b>A</b>"],
        period=np.where(np.arange(len(TRUE)) % 2, "<b>", "a"),
        metrics=["recall", "f1"],
        draws=50,
    ),
    "sample_size": lambda: steelyard.sample_size("recall", at=(0.8, 0.95), prevalence=0.05, width=0.1),
    "corrected_t_test": lambda: steelyard.studies.corrected_t_test([0.1, 0.1], test_share=0.2),
    "friedman": lambda: steelyard.studies.friedman(DATA_SETS),
    "explain": lambda: steelyard.explain("f_beta[beta=2]"),
    "explain, every metric": steelyard.explain,
    "audit": lambda: steelyard.audit("g_mean", "recall"),
    "decide": lambda: steelyard.audit("g_mean", properties=["class_symmetry"])[0],
    "harsher": lambda: steelyard.metrics.harsher("balanced_accuracy", "g_mean"),
    "identities": lambda: steelyard.metrics.identities(["f1", "jaccard", "balanced_accuracy"]),
    "recommend": lambda: steelyard.recommend(TABLE),
    "correlation_study": lambda: steelyard.studies.correlation_study(["accuracy", "g_mean"], n=100, seeds=2),
    "metric_correlation": lambda: steelyard.studies.metric_correlation(
        TRUE, {f"<b>A</b>{i}": np.roll(PROBABILITIES, i) for i in range(4)}, metrics=["accuracy", "roc_auc"]
    ),
    "invariance": lambda: invariance([steelyard.get_metric("precision")], TABLE),
    "nearest_mean_study": lambda: steelyard.studies.nearest_mean_study(
        GaussianNB(), np.column_stack([*SCORES.values()]), TRUE, ratios=["1:1"], draws=2, metrics=["ac_score"]
    ),
    "conclusions": lambda: steelyard.studies.correlation_study(["accuracy", "g_mean"], n=100, seeds=2).conclusions(),
    "robustness": lambda: steelyard.studies.robustness(TABLES, metrics=["f1", "tpnr"], draws=10),
    "robustness without draws": lambda: steelyard.studies.robustness(TABLES, metrics=["f1", "tpnr"], draws=0),
    "refit_robustness": refitted,
    "changes": lambda: steelyard.studies.robustness(TABLES, metrics=["f1", "tpnr"], draws=10).rows(),
    "hold-outs": lambda: HoldOuts.of({2: cross_evaluated(), 3: cross_evaluated()}, ["f1"]),
    "ratio_spread": lambda: steelyard.studies.ratio_spread(RATIOS),
    "ratio_study": lambda: steelyard.studies.ratio_study({"<b>A</b>": LABELS["<b>A</b>"]}, None, TRUE, repeats=3),
    "spreads": lambda: steelyard.studies.ratio_study(LABELS, None, TRUE, ["1:2", "2:1"], repeats=3).spreads,
    "discrimination": lambda: steelyard.studies.discrimination((0.8, 0.8), (0.99, 0.5)),
    "disagreement": lambda: steelyard.studies.disagreement("accuracy", "balanced_accuracy", [0.5, 0.1], size=256),
    "cross_evaluate": cross_evaluated,
    "cross_evaluate, one model": lambda: cross_evaluated(1),
    "summary": lambda: cross_evaluated().summary,
    "cost": lambda: cross_evaluated().cost,
    "per_class": lambda: cross_evaluated().per_class,
    "differences": lambda: cross_evaluated().differences(),
    "study": studied,
    "study of a table": lambda: replace(
        studied(), claims=[], own={"data": "<b>A.csv", "target": "y", "model": ["tree"]}
    ),
    "select_tree": selected,
    "compare_groups": lambda: steelyard.compare_groups(TRUE, LABELS["<b>A</b>"], by=GROUP, metrics=["recall", "mcc"]),
    "errors": lambda: steelyard.errors(
        TRUE, y_score=PROBABILITIES, columns={"<b>A</b>": GROUP}, key="<b>A</b>", first=9
    ),
    "group_thresholds": lambda: steelyard.group_thresholds(TRUE, PROBABILITIES, by=GROUP, draws=20),
    "gate": lambda: steelyard.gate(
        steelyard.evaluate(TRUE, LABELS["<b>A</b>"], by={"<i>": GROUP}, metrics=["recall", "mcc"]),
        "recall >= 0.5",
        "high(mcc) >= 0.9",
        min_rows=70,
    ),
    "gate of a comparison": lambda: steelyard.gate(steelyard.compare(TRUE, LABELS), prove="not-worse"),
    "evaluate": lambda: steelyard.evaluate(TRUE, y_score=SCORES["<b>A</b>"]),
    "anytime interval": lambda: steelyard.interval("mcc", TABLE, method="anytime"),
    "anytime_mean": lambda: steelyard.studies.anytime_mean(SCORES["<b>A</b>"], between=(0, 1), tested=0.5),
    "anytime_compare": lambda: steelyard.compare(steelyard.tables.paired(TRUE, *LABELS.values()), method="anytime"),
    "monitoring": monitored,
    "rule track": lambda: monitored().tracks[0],
}


@pytest.fixture(scope="module", params=RESULTS)
def result(request):
    return RESULTS[request.param]()


def test_a_result_read_back_is_equal(result, tmp_path):
    text = result.to_json()
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no strict JSON"))
    back = type(result).from_json(text)
    assert back == result
    assert Result.from_json(text) == result
    assert back.to_json() == text
    assert repr(back) == repr(result)
    (tmp_path / "saved.json").write_text(text, encoding="utf-8")
    assert (
        type(result).from_json(tmp_path / "saved.json") == type(result).from_json(str(tmp_path / "saved.json")) == back
    )


def read_all(result):
    """Read every property of a result, so that what it keeps of them is there."""
    for name in dir(type(result)):
        if isinstance(inspect.getattr_static(type(result), name), (property, cached_property)):
            with suppress(InputError):  # several models are to be named
                getattr(result, name)


def test_a_result_is_pickled_and_copied_after_all_of_it_was_read(result):
    read_all(result)
    for again in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert type(again) is type(result)
        assert again == result


def test_a_result_follows_the_json_schema_of_its_kind(result):
    schema = type(result).json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(result.to_json()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**result.to_dict(), "kind": "another"}, schema)


def test_a_schema_names_the_fields_and_refuses_values_of_other_types():
    interval = steelyard.interval("recall", TABLE)
    for change in ({"level": "high"}, {"metric": 3}, {"not_finite": {"/low": "big"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**interval.to_dict(), **change}, interval.json_schema())


def test_a_result_has_rows(result):
    rows = list(result)
    assert rows
    assert len(result) == len(rows) == len(result.to_dicts())
    assert result.to_dicts()[0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_result_becomes_a_frame_of_either_library(result, library):
    frame = result.to_frame(library)
    assert type(frame).__module__.startswith(library)
    assert len(frame) >= len(result)


def test_a_result_is_shown_without_what_labels_might_smuggle_in(result):
    notebook, html, markdown = result._repr_html_(), result.to_html(), result.to_markdown()
    assert notebook.startswith("<div")
    assert html.startswith("<!doctype html>")
    for text in (notebook, html, markdown):
        assert "<b>A" not in text
        assert "\x1b" not in text
    assert notebook.count("<script") == (result.kind == "evaluation")  # its own, which moves the threshold
    assert "background:#" not in notebook


def test_an_envelope_says_what_it_is():
    saved = json.loads(steelyard.interval("recall", TABLE).to_json())
    assert {key: saved[key] for key in ("schema", "kind", "metric")} == {
        "schema": 2,
        "kind": "interval",
        "metric": "recall",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"kind": "chance", "schema": 2}', "holds a saved chance, no interval"),
        ('{"kind": "interval", "schema": 3}', "has schema 3; this version reads up to 2"),
        ('{"kind": "interval", "schema": 2}', "lacks 'metric'"),
        ('{"kind": "nothing", "schema": 2}', "is no kind of result"),
        ('{"value": 1}', "holds no saved result"),
        ('{"kind": "interval", "schema": 2, "value": 0.5, "value": 0.9}', "has the field 'value' twice in one object"),
        ('{"kind": "interval", "schema": 2, "value": 1%s}' % ("0" * 400), "a number of 401 digits, beyond any"),
        ('{"kind": "interval", "schema": 2, "value": NaN}', "holds NaN, which strict JSON does not"),
        ({"kind": "interval", "schema": 2, "value": 10**400}, "a number of 401 digits, beyond any"),
        ({"kind": "interval", "schema": 2, "value": 10**5000}, "holds what JSON does not"),
        ({"kind": "interval", "schema": 2, "value": {0.5}}, "holds what JSON does not"),
        ("[1]", "is no object"),
        ("{1", "is no JSON"),
        ("nowhere.json", "nor a file of it"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(text, words):
    with pytest.raises(InputError, match=words):
        type(steelyard.interval("recall", TABLE)).from_json(text)


def test_a_metric_that_is_not_declared_here_is_named():
    text = steelyard.interval("recall", TABLE).to_json().replace('"recall"', '"of_my_own"')
    with pytest.raises(InputError, match="'of_my_own' here; declare it with @metric"):
        Result.from_json(text)


@pytest.mark.parametrize("models", [LABELS, SCORES], ids=["labels", "scores"])
def test_the_page_of_a_comparison_read_back_is_the_same(models):
    comparison = steelyard.compare(TRUE, **{"y_score" if models is SCORES else "y_pred": models})
    assert Result.from_json(comparison.to_json()).to_html() == comparison.to_html()


@pytest.mark.parametrize("models", [1, 2])
def test_the_page_of_a_cross_evaluation_read_back_is_the_same(models):
    result = cross_evaluated(models)
    assert Result.from_json(result.to_json()).to_html() == result.to_html()


def test_the_page_of_a_study_read_back_is_the_same_and_its_figures_are_svg():
    study = studied()
    back = Study.from_json(study.to_json())
    assert back.to_html() == study.to_html()
    with pytest.raises(InputError, match="as svg, not as pdf"):
        back.pictures[0].image("pdf")


def test_a_selection_read_back_says_that_it_has_no_estimator():
    back = Result.from_json(selected().to_json())
    with pytest.raises(InputError, match=r"no fitted estimator; fit one with the parameters \{'ccp_alpha'"):
        back.estimator.predict([[0]])


def test_rows_that_are_a_part_of_a_result_are_not_read_without_it():
    text = cross_evaluated(1).runs.to_json()
    with pytest.raises(InputError, match="part of a larger result"):
        Result.from_json(text)


def test_results_that_hold_other_numbers_are_not_equal():
    first, other = (steelyard.interval("recall", TABLE, level=level) for level in (0.95, 0.9))
    assert first != other
    assert first == steelyard.interval("recall", TABLE)
    undefined = steelyard.interval("recall", Counts([0], [0], [5], [6]))
    assert math.isnan(undefined.value[0])
    assert Result.from_json(undefined.to_json()) == undefined


def subclasses(cls):
    for each in cls.__subclasses__():
        yield each
        yield from subclasses(each)


def returned(name):
    """The class that a public function says it returns, without what it is of."""
    thing = public_thing(name)
    return (
        str(getattr(thing, "__annotations__", {}).get("return", "")).partition("[")[0]
        if inspect.isfunction(thing)
        else ""
    )


TABLES_AND_CURVES = {
    "Any", "Confusion", "Counts", "Metric", "MetricTable", "MultilabelTable", "Paired", "PrecisionRecallCurve", "RocCurve", "ScoreTable", "Tally",
    "MetricScorer", "Statistic", "Array", "str", "list", "Callable", "None", "Loaded", "Display",
}  # fmt: skip
FUNCTIONS = {name: returned(name) for name in sorted(public_names()) if returned(name)}


@pytest.mark.parametrize("name", [name for name, cls in FUNCTIONS.items() if cls not in TABLES_AND_CURVES])
def test_every_public_function_that_answers_a_question_returns_a_result_that_is_tried_here(name):
    classes = {cls.__name__ for cls in subclasses(Result)}
    for cls in FUNCTIONS[name].split(" | "):
        assert cls in classes, f"{name} returns {cls}, which is no Result"
    last = name.rpartition(".")[2]
    assert any(key.split(",")[0].split()[0] == last for key in RESULTS), f"{name} has no example in RESULTS"


KINDS = [(home, kind) for home, kinds in HOMES.items() for kind in kinds]


@pytest.mark.parametrize(("home", "kind"), KINDS, ids=[kind for _, kind in KINDS])
def test_every_kind_is_a_dataclass_at_home_that_compares_what_it_holds(home, kind):
    (cls,) = {value for value in vars(import_module(home)).values() if getattr(value, "kind", None) == kind}
    assert issubclass(cls, Result)
    assert cls.__module__ == home
    assert not cls.__abstractmethods__
    if not issubclass(cls, steelyard.results.Rows):
        assert is_dataclass(cls)
        assert fields(cls)
        assert not cls.__dataclass_params__.eq, "a dataclass that compares by itself finds NaN unequal: eq=False"


def test_every_result_of_the_package_can_be_read_back():
    for home in HOMES:
        import_module(home)
    mine = {cls.kind for cls in subclasses(Result) if cls.__module__.startswith("steelyard.")}
    lists = {cls.kind for cls in subclasses(Result) if issubclass(cls, steelyard.results.Rows)}
    abstract = {cls.kind for cls in subclasses(Result) if not is_dataclass(cls)} - lists
    assert mine - abstract == {kind for _, kind in KINDS}


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["threshold", "rows.csv", "--true", "y", "--score", "s"], "operating_points"),
        (["threshold", "rows.csv", "--true", "y", "--score", "s", "--metric", "f1"], "best_threshold"),
        (["compare", "rows.csv", "--true", "y", "--pred", "a", "--pred", "b"], "comparison"),
        (["report", "rows.csv", "--true", "y", "--pred", "a"], "evaluation"),
        (["recommend"], "recommendation"),
    ],
)
def test_what_a_command_writes_as_json_is_read_back(arguments, kind, tmp_path):
    columns = {"y": TRUE, "s": SCORES["<b>A</b>"], **dict(zip("ab", LABELS.values(), strict=True))}
    rows = (",".join(map(str, row)) for row in zip(*(column.tolist() for column in columns.values()), strict=True))
    (tmp_path / "rows.csv").write_text("\n".join([",".join(columns), *rows]))
    command = [sys.executable, "-m", "steelyard.cli", *arguments, "--format", "json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=os.environ.copy())
    assert Result.from_json(ran.stdout).kind == kind


# ---------------------------------------------------------------- files

SAVED = {
    "a result": lambda: steelyard.interval("recall", TABLE),
    "an evaluation": lambda: steelyard.evaluate(TABLE),
    "rows of a result": lambda: steelyard.interval(["recall", "f1"], TABLE),
    "counts": lambda: TABLE,
    "a confusion": lambda: steelyard.confusion(["a", "b", "b"], ["a", "b", "a"]),
    "scores": lambda: steelyard.score_table([0, 1, 1], [0.2, 0.4, 0.9]),
    "a tally": lambda: steelyard.Predictions([0, 1, 1], [0, 1, 0], by=["x", "y", "y"]).tally(),
    "a label plan": lambda: steelyard.label_plan(np.linspace(0.001, 0.6, 300) ** 2, 50, "recall", threshold=0.1),
}


@pytest.mark.parametrize("what", SAVED)
def test_what_was_saved_is_loaded_as_what_it_is(what, tmp_path):
    saved, path = SAVED[what](), tmp_path / "saved.txt"
    path.write_text(saved.to_json())
    loaded = steelyard.load(path)
    assert type(loaded) is type(saved) and loaded == saved


def test_the_sheet_of_a_plan_is_loaded_with_its_labels(tmp_path):
    plan, path = SAVED["a label plan"](), tmp_path / "sheet.csv"
    path.write_text(plan.to_csv().replace(",,", ",1,", 1), encoding="utf-8-sig")
    loaded = steelyard.load(str(path))
    assert [*loaded.index] == [*plan.index] and loaded.label[0] == 1


def test_a_monitor_is_loaded(tmp_path):
    path = tmp_path / "state.json"
    path.write_text(steelyard.Monitor(["recall >= 0.8"]).to_json())
    assert repr(steelyard.load(path)) == "<Monitor of recall >= 0.8: 0 batches, 0 labelled rows>"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nothing.json", "no file .*nothing.json'; check the name"),
        ("rows.csv", "neither|no JSON"),
        (3, "takes the path"),
    ],
)
def test_what_is_no_saved_file_is_not_loaded(given, message, tmp_path):
    (tmp_path / "rows.csv").write_text("y,p\n0,0.2\n")
    with pytest.raises(steelyard.SteelyardError, match=message):
        steelyard.load(tmp_path / given if isinstance(given, str) else given)


@pytest.mark.parametrize("threshold", [None, 0.31])
def test_an_evaluation_is_read_as_the_rows_that_it_was_made_of(threshold):
    rng = np.random.default_rng(0)
    y_true = rng.random(600) < 0.2
    scores = np.clip(rng.normal(0.2 + 0.3 * y_true, 0.15), 0, 1)
    made = steelyard.evaluate(y_true, y_score=scores, threshold=threshold, by=np.arange(600) % 3)
    again = steelyard.evaluate(made)
    assert [*again] == [*made] and again.threshold == made.threshold and len(again.groups) == 3
    with pytest.raises(InputError, match="clusters"):
        steelyard.evaluate(steelyard.evaluate(y_true, y_score=scores, cluster=np.arange(600) // 3))


def test_every_result_says_what_was_assumed():
    for name in dir(steelyard.results):
        kind = getattr(steelyard.results, name)
        if name == "OperatingPoint":  # a row of the operating points, which say it
            continue
        assert hasattr(kind, "assumed") or "assumed" in kind.__dataclass_fields__, name


def test_rows_of_a_curve_say_what_was_assumed_and_keep_it():
    curve = steelyard.decision_curve(["no", "yes"] * 10, [0.2, 0.7] * 10, thresholds=[0.3])
    assert curve.assumed == ("The positive class is 'yes' by convention; pos_label='no' would take the other one.",)
    assert steelyard.results.Rows.from_json(curve.to_json()).assumed == curve.assumed
