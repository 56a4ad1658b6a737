"""Every question with every kind of input: what each is asked, and what is refused by design, with its reason.

`make matrix` asks all of them and prints docs/matrix.md; `make test` asks each question on pairs of an input and an extra.
"""

from __future__ import annotations

import math
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from engines import ENGINES
from tensors import LIBRARIES

import steelyard

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
W = RNG.integers(1, 5, N) / 2.0
TIMES = RNG.integers(1, 4, N)
PATIENT = RNG.integers(0, 40, N)
SITE = np.array(["north", "south"])[RNG.integers(0, 2, N)]
MONTH = np.array(["2026-01", "2026-02"])[RNG.integers(0, 2, N)]
AMOUNT = RNG.integers(1, 100, N) * 1.0
COLUMNS = {
    "y": Y, "s": S, "s2": S2, "p": P, "p2": P2, "k": K, "kp": KP, "w": W, "times": TIMES, "patient": PATIENT, "site": SITE,
    "amount": AMOUNT,
    "month": MONTH, **{f"q_{name}": M[:, i] for i, name in enumerate(("ash", "birch", "cedar"))},
    **{f"t_{name}": SETS[:, i] for i, name in enumerate("abc")}, **{f"u_{name}": SETS_P[:, i] for i, name in enumerate("abc")},
}  # fmt: skip

# What the rows are: their values, and the names of their columns.
KINDS = {
    "labels": ({"y_true": Y, "y_pred": P}, {"true": "y", "pred": "p"}),
    "scores": ({"y_true": Y, "y_score": S}, {"true": "y", "score": "s"}),
    "classes": ({"y_true": K, "y_pred": KP}, {"true": "k", "pred": "kp"}),
    "class scores": ({"y_true": K, "y_score": M}, {"true": "k", "score": "q_*"}),
    "label sets": ({"y_true": SETS, "y_pred": SETS_P, "labels": ["a", "b", "c"]}, {"true": "t_*", "pred": "u_*"}),
    "two models": ({"y_true": Y, "y_score": {"s": S, "s2": S2}}, {"true": "y", "score": ["s", "s2"]}),
}
EXTRAS = {
    "plain": ({}, {}),
    "weights": ({"sample_weight": W}, {"weight": "w"}),
    "frequency": ({"frequency": TIMES}, {"frequency": "times"}),
    "clusters": ({"cluster": PATIENT}, {"cluster": "patient"}),
    "groups": ({"by": {"site": SITE}}, {"by": "site"}),
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
    """The tally of the rows, saved."""
    path = Path(tempfile.mkdtemp(prefix="matrix-")) / "saved.json"
    path.write_text(steelyard.Predictions.of(**values).tally().to_json())
    return (path,), {}


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
    home = next(place for place in (steelyard, steelyard.figures, steelyard.tables) if name in dir(place))
    return lambda args, rows: getattr(home, name)(*before, *args, **rows, **options)


# Each question with the kinds of rows that it is about.
QUESTIONS = {
    "evaluate": (ask("evaluate", draws=40), ("labels", "scores", "classes", "class scores", "label sets")),
    "interval of recall": (ask("interval", "recall", draws=200), ("labels", "scores")),
    "interval of macro F1": (
        ask("interval", "f1[average=macro]", draws=200),
        ("labels", "classes", "class scores", "label sets"),
    ),
    "interval of ROC AUC": (ask("interval", "roc_auc"), ("scores",)),
    "interval of log loss": (ask("interval", "log_loss"), ("class scores",)),
    "chance": (ask("chance", "f1"), ("labels", "scores")),
    "beats_chance": (ask("beats_chance"), ("labels", "scores", "classes")),
    "calibration": (ask("calibration"), ("scores", "class scores")),
    "compare_groups": (ask("compare_groups", metrics=["recall"], draws=40), ("labels", "scores")),
    "group_thresholds": (ask("group_thresholds", draws=0), ("scores",)),
    "drift": (ask("drift", metrics=["recall"], draws=40, period="month"), ("labels", "scores")),
    "best_threshold": (ask("best_threshold", metric="f1", draws=0), ("scores",)),
    "operating_points": (ask("operating_points"), ("scores",)),
    "best_decision": (ask("best_decision", metric="accuracy", folds=2), ("class scores",)),
    "decision_curve": (ask("decision_curve", thresholds=[0.2, 0.5]), ("scores", "two models")),
    "confidence_band": (ask("confidence_band"), ("scores",)),
    "roc_curve": (ask("roc_curve"), ("scores",)),
    "precision_recall_curve": (ask("precision_recall_curve"), ("scores",)),
    "compare": (ask("compare", metrics=["recall", "roc_auc"], draws=40), ("two models",)),
    "errors": (ask("errors", first=5), ("scores",)),
    "slices": (ask("slices", features=["site", "amount"], conditions=1), ("labels", "scores")),
    "tally": (ask("tally"), ("labels", "scores")),
    "confusion": (ask("confusion"), ("labels", "classes")),
    "score_table": (ask("score_table"), ("scores",)),
    "recommend": (ask("recommend"), ("labels", "scores")),
}
# Questions that give one result, and so take no groups.
ONE_RESULT = (
    "interval*", "chance", "beats_chance", "best_threshold", "operating_points", "best_decision", "confidence_band", "roc_curve", "precision_recall_curve", "compare", "errors",
    "slices", "confusion", "score_table", "recommend", "drift",
)  # fmt: skip
# What is refused by design: question, kind, input or extra, each "*" for any, and the reason in words.
REFUSED = [
    ("*", "*", "Predictions", "groups", None),  # groups that are carried are ignored where they are of no use
    *((table, "*", "Predictions", "clusters", None) for table in ("tally", "confusion", "score_table", "recommend")),
    *(("recommend", "*", "saved table", extra, None) for extra in ("groups", "clusters")),
    ("drift", "*", "saved table", "*", "a saved table has the periods that it was counted by"),
    *((question, "*", "*", "groups", "one result is given, of all rows") for question in ONE_RESULT),
    *(
        (question, "*", "*", extra, "there are no groups")
        for question in ("compare_groups", "group_thresholds")
        for extra in ("plain", "weights", "frequency", "clusters")
    ),
    ("chance", "*", "*", "clusters", "a baseline takes the rows as independent"),
    ("beats_chance", "*", "*", "clusters", "the test takes the rows as independent"),
    ("drift", "*", "*", "clusters", "periods are tested by independent rows"),
    ("confidence_band", "*", "*", "clusters", "a band is of independent rows"),
    *(("errors", "*", "*", extra, "it lists rows, each once") for extra in ("weights", "frequency", "clusters")),
    *(("slices", "*", "*", extra, "its tests are of independent rows, each once") for extra in ("weights", "clusters")),
    *((table, "*", "*", "clusters", "a table keeps no clusters") for table in ("tally", "confusion", "score_table")),
    ("calibration", "class scores", "*", "groups", "the columns of all classes are judged, each in a group"),
    ("*", "*", "saved table", "clusters", "a table does not keep the cluster of each row"),
    ("compare", "two models", "*", "frequency", "scores are compared row by row, each row once"),
    ("*", "two models", "saved table", "*", "the scores of two models are not counted into a tally"),
    ("slices", "*", "saved table", "*", "slices are read row by row"),
    ("errors", "*", "saved table", "*", "errors are read row by row"),
    ("*", "label sets", "saved table", "*", "rows of label sets are not counted into a tally"),
    ("*", "class scores", "saved table", "*", "scores of each class are not counted into a tally"),
]


def refusal(question, kind, source, extra):
    """Why this is refused; None where it is answered."""
    from fnmatch import fnmatchcase

    for *pattern, reason in REFUSED:
        if all(fnmatchcase(each, like) for each, like in zip((question, kind, source, extra), pattern, strict=True)):
            return reason
    return None


NAMES_COLUMNS = ("drift", "slices")  # questions that name other columns, which arrays have beside them


def rows_of(question, kind, source, extra):
    """The arguments of a question that are rows."""
    values, names = ({**of_kind, **of_extra} for of_kind, of_extra in zip(KINDS[kind], EXTRAS[extra], strict=True))
    if question in NAMES_COLUMNS:
        values["columns"] = {name: COLUMNS[name] for name in ("site", "amount", "month", "patient")}
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
    is_ignored = extra in ("groups", "clusters") and refusal(question, kind, "arrays", extra)
    extra = "plain" if is_ignored else extra  # what is carried is ignored there
    args, rows = rows_of(question, kind, "arrays", extra)
    return numbers(QUESTIONS[question][0](args, rows), but)


def cells():
    """Every question, kind of rows, input and extra."""
    for question, (_, kinds) in QUESTIONS.items():
        for kind in kinds:
            for source in INPUTS:
                for extra in EXTRAS:
                    yield question, kind, source, extra


def outcome(question, kind, source, extra):
    """ "same", "refused" or what went wrong, in a sentence."""
    from steelyard.exceptions import SteelyardError

    reason = refusal(question, kind, source, extra)
    but = next((but for *cell, but, _ in LEFT_OUT if cell == [source, extra]), ())
    args, rows = rows_of(question, kind, source, extra) if reason is None or source != "saved table" else ((), {})
    try:
        found = numbers(QUESTIONS[question][0](args, rows), but)
    except SteelyardError as error:
        return "refused" if reason is not None else f"refused without a reason: {error}"
    except Exception as error:  # noqa: BLE001 - the others are asked too
        return f"an error of another kind: {type(error).__name__}: {error}"
    if reason is not None:
        return f"answered, but is to be refused: {reason}"
    extra = (
        "plain" if (question, source) == ("decision_curve", "saved table") and extra == "groups" else extra
    )  # of all rows
    return "same" if alike(found, expected(question, kind, extra, but)) else "other numbers"


# ---------------------------------------------------------------- make matrix

HEAD = """# Every question with every kind of input

Written by `make matrix`, which asks all of it: {answered:,} cells give the numbers that arrays give, to 1e-9, {refused:,} are
refused by design, with the reasons below, and {bad:,} do otherwise. `make test` asks each question on pairs.

"""


def main():
    """Ask every cell, write docs/matrix.md, and fail where one does otherwise than it should."""
    import warnings

    warnings.simplefilter("ignore")
    found = {}
    for cell in cells():
        found[cell] = outcome(*cell)
        if found[cell] not in ("same", "refused"):
            print(*cell, "|", found[cell], flush=True)
    bad = [cell for cell, text in found.items() if text not in ("same", "refused")]
    counts = {text: sum(each == text for each in found.values()) for text in ("same", "refused")}
    lines = [HEAD.format(answered=counts["same"], refused=counts["refused"], bad=len(bad))]
    lines += ["| question | rows | " + " | ".join(INPUTS) + " |", "| --- " * (len(INPUTS) + 2) + "|"]
    signs = {"same": "=", "refused": "–"}
    for question, (_, kinds) in QUESTIONS.items():
        for kind in kinds:
            marks = (
                "".join(signs.get(found[question, kind, source, extra], "!") for extra in EXTRAS) for source in INPUTS
            )
            lines.append(f"| {question} | {kind} | " + " | ".join(marks) + " |")
    lines += [
        "",
        f"Signs in each cell: {', '.join(EXTRAS)}; = gives what arrays give, – is refused.",
        "",
        "Refused by design:",
        "",
    ]
    lines += [f"- {q}, {k}, {s}, {e}: {why}." for q, k, s, e, why in REFUSED if why is not None]
    lines += ["", "Not compared:", "", *(f"- {', '.join(names)} of {s}, {e}: {why}." for s, e, names, why in LEFT_OUT)]
    (Path(__file__).parent.parent / "docs" / "matrix.md").write_text("\n".join(lines) + "\n")
    print(f"{counts['same']} passed, {len(bad)} failed, {counts['refused']} refused by design")
    return bool(bad)


if __name__ == "__main__":
    import sys

    sys.exit(main())
