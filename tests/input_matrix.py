"""Every question with every kind of input: what each is asked, and what is refused by design, with its reason.

`make matrix` asks all of them and writes docs/matrix.md; `make test` asks each question of every input with some extra.
"""

from __future__ import annotations

import math
import tempfile
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from engines import ENGINES
from tensors import LIBRARIES

import steelyard

PAGE = Path(__file__).parent.parent / "docs" / "matrix.md"
N = 240
RNG = np.random.default_rng(11)
Y = (RNG.random(N) < 0.3).astype(int)
S = np.round(np.clip(0.35 * Y + 0.55 * RNG.random(N), 0, 1), 3)
S2 = np.round(np.clip(0.2 * Y + 0.7 * RNG.random(N), 0, 1), 3)
P, P2 = (S > 0.5).astype(int), (S2 > 0.5).astype(int)
K = np.array(["ash", "birch", "cedar"])[RNG.integers(0, 3, N)]
KP = np.where(RNG.random(N) < 0.7, K, "birch")
M = RNG.dirichlet(np.ones(3), N)
M[np.arange(N), np.searchsorted(["ash", "birch", "cedar"], K)] += 1
M = np.round(M / M.sum(1, keepdims=True), 6)
M[:, 2] = 1 - M[:, 0] - M[:, 1]
SETS, SETS_P = (RNG.random((N, 3)) < 0.4).astype(int), (RNG.random((N, 3)) < 0.4).astype(int)
SETS_S = np.round(0.4 * SETS + 0.6 * RNG.random((N, 3)), 3)
W = RNG.integers(1, 5, N) / 2.0
TIMES = RNG.integers(1, 4, N)
PATIENT = RNG.integers(0, 40, N)
SITE = np.array(["north", "south"])[RNG.integers(0, 2, N)]
MONTH = np.array(["2026-01", "2026-02"])[RNG.integers(0, 2, N)]
AMOUNT = RNG.integers(1, 100, N) * 1.0
COLUMNS = {
    "y": Y, "s": S, "s2": S2, "p": P, "p2": P2, "k": K, "kp": KP, "w": W, "times": TIMES, "patient": PATIENT, "site": SITE,
    "amount": AMOUNT, "name": np.array([f"r{i}" for i in range(N)]),
    "month": MONTH, **{f"q_{name}": M[:, i] for i, name in enumerate(("ash", "birch", "cedar"))},
    **{f"t_{name}": SETS[:, i] for i, name in enumerate("abc")}, **{f"u_{name}": SETS_P[:, i] for i, name in enumerate("abc")},
    **{f"v_{name}": SETS_S[:, i] for i, name in enumerate("abc")},
}  # fmt: skip

# What the rows are: their values, and the names of their columns.
KINDS = {
    "labels": ({"y_true": Y, "y_pred": P}, {"true": "y", "pred": "p"}),
    "scores": ({"y_true": Y, "y_score": S}, {"true": "y", "score": "s"}),
    "classes": ({"y_true": K, "y_pred": KP}, {"true": "k", "pred": "kp"}),
    "class scores": ({"y_true": K, "y_score": M}, {"true": "k", "score": "q_*"}),
    "label sets": ({"y_true": SETS, "y_pred": SETS_P, "labels": ["a", "b", "c"]}, {"true": "t_*", "pred": "u_*"}),
    "scores of labels": (
        {"y_true": SETS, "y_score": SETS_S, "labels": ["a", "b", "c"]},
        {"true": "t_*", "score": "v_*"},
    ),
    "two models": ({"y_true": Y, "y_score": {"s": S, "s2": S2}}, {"true": "y", "score": ["s", "s2"]}),
    "labels of two models": ({"y_true": Y, "y_pred": {"p": P, "p2": P2}}, {"true": "y", "pred": ["p", "p2"]}),
    "scores without truth": ({"y_score": S}, {"score": "s"}),
}
EXTRAS = {
    "plain": ({}, {}),
    "weights": ({"sample_weight": W}, {"weight": "w"}),
    "frequency": ({"frequency": TIMES}, {"frequency": "times"}),
    "clusters": ({"cluster": PATIENT}, {"cluster": "patient"}),
    "groups": ({"by": {"site": SITE}}, {"by": "site"}),
    "design": ({"design": "stratified"}, {"design": "stratified"}),
    "filter": ({"filter": "amount >= 20", "columns": {"amount": AMOUNT}}, {"filter": "amount >= 20"}),
}


@cache
def table():
    """All columns as an Arrow table."""
    return pa.table({name: pa.array(values) for name, values in COLUMNS.items()})


@cache
def folder():
    """A folder with the rows as files: Parquet, CSV, and a folder of two Parquet files."""
    import pyarrow.csv as pc

    place = Path(tempfile.mkdtemp(prefix="matrix-"))
    pq.write_table(table(), place / "rows.parquet")
    pc.write_csv(table(), place / "rows.csv")
    (place / "parts").mkdir()
    for i, part in enumerate((table().slice(0, 100), table().slice(100))):
        pq.write_table(part, place / "parts" / f"part-{i}.parquet")
    return place


def of_arrays(values, names):
    return (), values


def of_lists(values, names):
    def listed(each):
        if isinstance(each, dict):
            return {name: listed(value) for name, value in each.items()}
        return each.tolist() if isinstance(each, np.ndarray) else each

    return (), {name: listed(each) for name, each in values.items()}


def of_series(values, names):
    import pandas as pd

    def series(each):
        if isinstance(each, dict):
            return {name: series(value) for name, value in each.items()}
        if isinstance(each, np.ndarray):
            return pd.Series(each) if each.ndim == 1 else each
        return each

    return (), {name: series(each) for name, each in values.items()}


def of_tensors(values, names):
    """Arrays of torch, or where it is not installed of array-api-strict."""
    made = LIBRARIES["torch" if find_spec("torch") else "array_api_strict"]

    def tensor(each):
        if isinstance(each, dict):
            return {name: tensor(value) for name, value in each.items()}
        return made(each) if isinstance(each, np.ndarray) and each.dtype.kind in "iuf" else each

    return (), {name: tensor(each) for name, each in values.items()}


def of_engine(engine):
    return lambda values, names: ((ENGINES[engine](table()),), names)


def of_file(name):
    return lambda values, names: ((folder() / name,), names)


def of_predictions(values, names):
    return (steelyard.Predictions(**values),), {}


def of_saved(values, names):
    """The tally of the rows, saved; what says how they were drawn stands beside it."""
    rows = {name: each for name, each in values.items() if name != "design"}
    path = Path(tempfile.mkdtemp(prefix="matrix-")) / "saved.json"
    steelyard.tally(**rows).save(path)
    return (path,), {"design": values["design"]} if "design" in values else {}


INPUTS = {
    "arrays": of_arrays,
    "lists": of_lists,
    "pandas Series": of_series,
    "tensors": of_tensors,
    "Predictions": of_predictions,
    "pandas": of_engine("pandas"),
    "Polars lazy": of_engine("polars-lazy"),
    "PyArrow": of_engine("pyarrow"),
    "DuckDB": of_engine("duckdb"),
    "Spark": of_engine("pyspark"),
    "Parquet file": of_file("rows.parquet"),
    "CSV file": of_file("rows.csv"),
    "folder": of_file("parts"),
    "saved table": of_saved,
}


def ask(name, *before, **options):
    """A question by its name, what stands before its rows, and its own options."""
    places = (steelyard, steelyard.figures, steelyard.tables, steelyard.studies)
    home = next(place for place in places if name in dir(place))
    return lambda args, rows: getattr(home, name)(*before, *args, **rows, **options)


def at_a_tenth(args, rows):
    return steelyard.at_prevalence(*(args or (None,)), 0.1, **rows)


def gated(args, rows):
    return steelyard.gate(steelyard.Predictions.of(*args, **rows), "recall >= 0.1", "low(precision) >= 0.1")


def monitored(args, rows):
    given = steelyard.Predictions.of(*args, **rows)
    monitor = steelyard.Monitor(["recall >= 0.1"], by=next(iter(given.by), None))
    monitor.update(given, period="2026-01")
    return monitor.result()


def compared_with_labelled(args, rows):
    known = steelyard.Predictions(Y, y_score=S2)
    return steelyard.unlabelled(*args, **rows, reference=known, metrics=["precision"], draws=20)


def planned(args, rows):
    plan = steelyard.label_plan(*(args or (None,)), 40, "f1", key="name", rng=0, **rows)
    return {"plan": plan, "chosen": [int(name.removeprefix("r")) for name in plan.keys]}


def counted_sets(args, rows):
    return steelyard.evaluate(steelyard.tables.multilabel(*args, **rows), draws=40)


TWO = ("labels", "scores")
# Each question with the kinds of rows that it is about.
QUESTIONS = {
    "evaluate": (
        ask("evaluate", draws=40),
        ("labels", "scores", "classes", "class scores", "label sets", "scores of labels"),
    ),
    "evaluate for a use": (ask("evaluate", use="alerts", draws=40), TWO),
    "evaluate at a capacity": (ask("evaluate", capacity=20, draws=40), ("scores",)),
    "interval of recall": (ask("interval", "recall", draws=200), TWO),
    "interval of macro F1": (
        ask("interval", "f1[average=macro]", draws=200),
        ("labels", "classes", "class scores", "label sets"),
    ),
    "interval of ROC AUC": (ask("interval", "roc_auc"), ("scores",)),
    "interval of log loss": (ask("interval", "log_loss"), ("class scores",)),
    "chance": (ask("chance", "f1"), TWO),
    "beats_chance": (ask("beats_chance"), ("labels", "scores", "classes")),
    "at_prevalence": (at_a_tenth, TWO),
    "compare": (ask("compare", metrics=["recall"], draws=40), ("two models", "labels of two models")),
    "compare at a capacity": (ask("compare", use="alerts", capacity=20, draws=40), ("two models",)),
    "calibration": (ask("calibration"), ("scores", "class scores")),
    "best_threshold": (ask("best_threshold", metric="f1", draws=0), ("scores",)),
    "best_threshold of labels": (ask("best_threshold", metric="f1[average=macro]", draws=0), ("scores of labels",)),
    "best_threshold for a use": (ask("best_threshold", use="alerts", draws=0), ("scores",)),
    "operating_points": (ask("operating_points"), ("scores",)),
    "best_decision": (ask("best_decision", metric="accuracy", folds=2), ("class scores",)),
    "decision_curve": (ask("decision_curve", thresholds=[0.2, 0.5]), ("scores", "two models")),
    "confidence_band": (ask("confidence_band"), ("scores",)),
    "roc_curve": (ask("roc_curve"), ("scores",)),
    "precision_recall_curve": (ask("precision_recall_curve"), ("scores",)),
    "compare_groups": (ask("compare_groups", metrics=["recall"], draws=40), TWO),
    "group_thresholds": (ask("group_thresholds", draws=0), ("scores",)),
    "slices": (ask("slices", features=["site", "amount"], conditions=1), TWO),
    "errors": (ask("errors", first=5), ("scores",)),
    "gate": (gated, TWO),
    "drift": (ask("drift", metrics=["recall"], draws=40, period="month"), TWO),
    "Monitor.update": (monitored, TWO),
    "unlabelled": (compared_with_labelled, ("scores without truth",)),
    "label_plan": (planned, ("scores without truth",)),
    "tally": (ask("tally"), TWO),
    "confusion": (ask("confusion"), ("labels", "scores", "classes")),
    "score_table": (ask("score_table"), ("scores",)),
    "paired": (ask("paired"), ("labels of two models",)),
    "multilabel": (counted_sets, ("label sets", "scores of labels")),
    "recommend": (ask("recommend"), TWO),
    "metric_correlation": (ask("metric_correlation", metrics=["f1", "mcc"], seeds=2, steps=3, tuples=2), ("scores",)),
    "robustness": (ask("robustness", metrics=["f1", "mcc"], draws=20), ("labels",)),
    "roc_then_tpnr": (ask("roc_then_tpnr", draws=0), ("scores",)),
}
OF_GROUPS = ("compare_groups", "group_thresholds")  # questions that are asked of groups alone
# Questions by what they cannot use of their rows.
GIVES_GROUPS = ("evaluate*", "calibration", "decision_curve", *OF_GROUPS, "gate", "Monitor.update", "tally")
COUNTS_ROWS = ("Monitor.update", "label_plan", "metric_correlation")
READS_ROWS = ("slices", "errors", "label_plan", "metric_correlation")
COUNTS = ("tally", "confusion", "score_table", "paired")
INDEPENDENT = (
    "chance", "beats_chance", "at_prevalence", "confidence_band", "group_thresholds", "drift", "Monitor.update",
    "unlabelled", "label_plan", "multilabel", "metric_correlation", "robustness", "roc_then_tpnr",
)  # fmt: skip
TAKES_DESIGN = (
    "evaluate*", "interval*", "at_prevalence", "confidence_band", "compare_groups", "gate", "recommend",
)  # fmt: skip
# What is refused by design: question, kind, input or extra, each "*" for any, and the reason in words; None is answered.
REFUSED = [
    ("*", "*", "Predictions", "groups", None),  # groups that are carried are ignored where they are of no use
    *(
        (table, "*", "Predictions", extra, None)
        for table in (*COUNTS, "multilabel")
        for extra in ("clusters", "design")
    ),
    ("unlabelled", "*", "saved table", "*", "rows without truth are not counted into a table"),
    ("label_plan", "*", "saved table", "*", "rows without truth are not counted into a table"),
    ("*", "two models", "saved table", "*", "the scores of two models are not counted into a table"),
    ("*", "labels of two models", "saved table", "weights", "a table of two models counts rows, without weights"),
    *(
        ("*", kind, "saved table", "*", "rows of several labels are not counted into a table")
        for kind in ("label sets", "scores of labels")
    ),
    *((question, "*", "saved table", "*", "it reads rows one by one") for question in READS_ROWS),
    ("drift", "*", "saved table", "*", "a table keeps the columns that it was counted by alone"),
    ("Monitor.update", "scores", "saved table", "*", "it follows labels; count them with a threshold"),
    ("*", "*", "saved table", "clusters", "a table keeps no clusters"),
    ("*", "*", "saved table", "groups", None),
    *((question, "*", "*", "groups", None) for question in GIVES_GROUPS if question != "calibration"),
    ("calibration", "scores", "*", "groups", None),
    ("calibration", "class scores", "*", "groups", "the columns of all classes are judged, each in a group"),
    ("*", "*", "*", "groups", "it gives one result, of all rows"),
    *((question, "*", "*", "clusters", "it takes the rows as independent") for question in INDEPENDENT),
    *((table, "*", "*", "clusters", "a table keeps no clusters") for table in COUNTS),
    *(
        (question, "*", "*", extra, "it counts rows, each once")
        for question in COUNTS_ROWS
        for extra in ("weights", "frequency")
    ),
    ("unlabelled", "*", "*", "weights", "it counts rows, each once"),
    ("paired", "*", "*", "weights", "a table of two models counts rows, without weights"),
    *(("errors", "*", "*", extra, "it lists rows, each once") for extra in ("weights", "frequency", "clusters")),
    *(("slices", "*", "*", extra, "its tests are of independent rows, each once") for extra in ("weights", "clusters")),
    ("compare*", "two models", "*", "frequency", "scores are compared row by row, each row once"),
    *(
        (question, kind, "*", "design", "a design is of one class, and rows may have several labels")
        for question in ("evaluate", "interval*")
        for kind in ("label sets", "scores of labels")
    ),
    *((question, "*", "*", "design", None) for question in TAKES_DESIGN),
    ("*", "*", "*", "design", "it takes the rows as drawn at random"),
]


def refusal(question, kind, source, extra):
    """Why this is refused; None where it is answered."""
    from fnmatch import fnmatchcase

    for *pattern, reason in REFUSED:
        if all(fnmatchcase(each, like) for each, like in zip((question, kind, source, extra), pattern, strict=True)):
            return reason
    return None


NAMES_COLUMNS = ("drift", "slices", "label_plan")  # questions that name other columns, which arrays have beside them


def rows_of(question, kind, source, extra):
    """The arguments of a question that are rows."""
    groups = EXTRAS["groups" if question in OF_GROUPS else "plain"]
    values, names = ({**rows, **by, **more} for rows, by, more in zip(KINDS[kind], groups, EXTRAS[extra], strict=True))
    if question in NAMES_COLUMNS:
        values["columns"] = {name: COLUMNS[name] for name in ("site", "amount", "month", "patient", "name")}
    return INPUTS[source](values, names)


# Numbers that are not compared: of an input and an extra, by their names, and why.
LEFT_OUT = [
    (
        "saved table",
        "weights",
        ("chance",),
        "a table keeps the weights of a score together, so that no-skill baselines by draws of rows differ in the "
        "fourth digit",
    ),
]
TEXTS = {
    "assumed",
    "columns",
    "positive",
    "source",
    "verdict",
    "notes",
    "version",
    "digest",
    "seed",
    "summary",
    "row",
}  # a row of an engine without order has no number


def numbers(result, but=()):
    """All numbers of a result in their order, but for those by some names."""
    if hasattr(result, "saved"):
        result = result.saved()
    if hasattr(result, "to_dict"):
        result = result.to_dict()
    if isinstance(result, dict):
        named = ((name, value) for name, value in result.items() if name not in TEXTS and name not in but)
        return [number for _, value in named for number in numbers(value, but)]
    if isinstance(result, (list, tuple)):
        return [number for value in result for number in numbers(value, but)]
    if isinstance(result, (bool, str)) or result is None:
        return []
    return [float(each) for each in np.ravel(np.asarray(result, dtype=np.float64))]


def alike(found, expected):
    """Whether both are the same numbers, to 1e-9."""
    return len(found) == len(expected) and all(
        (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= 1e-9 * max(1.0, abs(b))
        for a, b in zip(found, expected, strict=True)
    )


@cache
def expected(question, kind, extra, but=()):
    """What arrays give."""
    is_ignored = extra in ("groups", "clusters", "design") and refusal(question, kind, "arrays", extra)
    extra = "plain" if is_ignored else extra  # what is carried is ignored there
    args, rows = rows_of(question, kind, "arrays", extra)
    return numbers(QUESTIONS[question][0](args, rows), but)


def cells():
    """Every question, kind of rows, input and extra, but for tables that are those of other rows.

    A saved table of class scores is one of the highest classes, and one of frequencies that of so many rows.
    """
    for question, (_, kinds) in QUESTIONS.items():
        for kind, source, extra in product(kinds, INPUTS, EXTRAS):
            is_another = kind == "class scores" or (question, extra) == ("Monitor.update", "frequency")
            if source != "saved table" or not is_another:
                yield question, kind, source, extra


def outcome(question, kind, source, extra):
    """ "same", "refused" or what went wrong, in a sentence."""
    from steelyard.exceptions import SteelyardError

    reason = refusal(question, kind, source, extra)
    but = next((but for *cell, but, _ in LEFT_OUT if cell == [source, extra]), ())
    try:
        args, rows = rows_of(question, kind, source, extra)
        found = numbers(QUESTIONS[question][0](args, rows), but)
    except SteelyardError as error:
        return "refused" if reason is not None else f"refused without a reason: {error}"
    except Exception as error:  # noqa: BLE001 - the others are asked too
        return f"an error of another kind: {type(error).__name__}: {error}"
    if reason is not None:
        return f"answered, but is to be refused: {reason}"
    return "same" if alike(found, expected(question, kind, extra, but)) else "other numbers"


# ---------------------------------------------------------------- make matrix

HEAD = """# Which question takes what

Written by `make matrix`, which asks every question of every kind of input. Where the rows live makes no difference:

{inputs}

give the numbers that arrays give, to 1e-9. A saved table, whose rows are gone, answers less.

What the rows carry makes one: weights, frequencies, clusters and a design change numbers, so a question that cannot use
them refuses them, with the way out. Groups, and columns that nothing reads, are ignored where `Predictions` carry them, and
refused where they are given in the call.

"yes" is answered; a number is the reason of a refusal, below the table.

"""
AS_LABELS = "A table of scores of each class is one of labels, those with the highest scores; see classes"


def reasons_of(question, kind):
    """Why a question refuses each extra of rows, and a saved table; None where it answers."""
    told = [refusal(question, kind, "arrays", extra) for extra in EXTRAS if extra != "plain"]
    return (*told, AS_LABELS if kind == "class scores" else refusal(question, kind, "saved table", "plain"))


def page():
    """What docs/matrix.md says, which holds where every cell does as it is declared to do."""
    of_question = {}
    for question, (_, kinds) in QUESTIONS.items():
        for kind in kinds:
            of_question.setdefault((question, reasons_of(question, kind)), []).append(kind)
    alike = {}
    for (question, told), kinds in of_question.items():
        alike.setdefault((", ".join(kinds), told), []).append(question)
    reasons = list(dict.fromkeys(why for _, told in alike for why in told if why is not None))
    heads = ["question", "rows", *(name for name in EXTRAS if name != "plain"), "saved table"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for (kinds, told), questions in alike.items():
        marks = ["yes" if why is None else str(reasons.index(why) + 1) for why in told]
        lines.append(f"| {' | '.join([', '.join(questions), kinds, *marks])} |")
    lines += ["", *(f"{number}. {why[0].upper()}{why[1:]}." for number, why in enumerate(reasons, 1))]
    inputs = [name for name in INPUTS if name not in ("arrays", "saved table")]
    return HEAD.format(inputs=f"{', '.join(inputs[:-1])} and {inputs[-1]}") + "\n".join(lines) + "\n"


def main():
    """Ask every cell, and write docs/matrix.md where all do as declared; fail otherwise."""
    import warnings

    warnings.simplefilter("ignore")
    counts = {"same": 0, "refused": 0}
    bad = 0
    for cell in cells():
        found = outcome(*cell)
        if found in counts:
            counts[found] += 1
        else:
            bad += 1
            print(*cell, "|", found, flush=True)
    print(
        f"{counts['same']:,} give what arrays give, {counts['refused']:,} are refused as declared, {bad:,} do otherwise"
    )
    if not bad:
        PAGE.write_text(page(), encoding="utf-8")
    return bool(bad)


if __name__ == "__main__":
    import sys

    sys.exit(main())
