"""Small data for the recorded calls: made from whole random numbers alone, so that every machine has the same."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from steelyard import Confusion, Counts, confusion, label_plan, score_table, tally
from steelyard.tables import multilabel, paired

RNG = np.random.default_rng(11)


def shares(*size):
    """Random numbers between 0 and 1 of three decimals: some are tied."""
    return RNG.integers(0, 1000, size) / 1000


# Two classes, a fifth positive; two models by labels and scores.
N = 240
Y = (shares(N) < 0.2).astype(int)
S = np.round(np.clip(0.3 * Y + 0.6 * shares(N), 0, 1), 2)
S2 = np.round(np.clip(0.2 * Y + 0.7 * shares(N), 0, 1), 3)
P, P2 = (S >= 0.45).astype(int), (S2 >= 0.5).astype(int)
W = np.round(0.2 + shares(N), 2)
F = RNG.integers(0, 4, N)
PATIENT = RNG.integers(0, 40, N)
SITE = np.array(["north", "south", "west"])[RNG.integers(0, 3, N)]
MONTH = np.array(["2024-01", "2024-02", "2024-03"])[np.arange(N) * 3 // N]
AGE = RNG.integers(18, 90, N)
AMOUNT = RNG.integers(1, 500, N)
YES = np.array(["no", "yes"])
BOTH, SCORED = {"first": P, "second": P2}, {"first": S, "second": S2}
THREE = {**BOTH, "third": (shares(N) < 0.3).astype(int)}

# Four classes of unequal size, in an order; labels and probabilities.
Y4 = np.searchsorted([0.5, 0.75, 0.92], shares(N), side="right")
ODDS = shares(N, 4) + 1.2 * np.eye(4)[Y4] + 0.05
P4 = np.round(ODDS / ODDS.sum(1, keepdims=True), 4)
P4[:, 0] = np.round(1 - P4[:, 1:].sum(1), 4)
ODDS2 = shares(N, 4) + 0.8 * np.eye(4)[Y4] + 0.05
Q4 = np.round(ODDS2 / ODDS2.sum(1, keepdims=True), 4)
Q4[:, 0] = np.round(1 - Q4[:, 1:].sum(1), 4)
L4, M4 = P4.argmax(1), Q4.argmax(1)
ANIMALS = np.array(["ant", "bee", "cat", "dog"])
PATHS = np.array(["insect/ant", "insect/bee", "mammal/cat", "mammal/dog"])

# Label sets: three labels, of which rows have none to all.
SETS = (shares(N, 3) < [0.5, 0.3, 0.15]).astype(int)
SET_SCORES = np.round(np.clip(0.35 * SETS + 0.6 * shares(N, 3), 0, 1), 3)
SET_SCORES2 = np.round(np.clip(0.2 * SETS + 0.7 * shares(N, 3), 0, 1), 3)
SETS_P, SETS_Q = (SET_SCORES >= 0.5).astype(int), (SET_SCORES2 >= 0.5).astype(int)
NAMED_SETS = [[name for name, has in zip("abc", row, strict=True) if has] for row in SETS]
NAMED_P = [[name for name, has in zip("abc", row, strict=True) if has] for row in SETS_P]

# Rows without labels, and features to fit models on.
NEW = np.round(np.clip(0.3 * (shares(150) < 0.4) + 0.6 * shares(150), 0, 1), 2)
X = np.column_stack([S, S2, shares(N)])
FEW = 90
XF, YF, YF3 = X[:FEW], Y[:FEW], np.minimum(Y4[:FEW], 2)

# Tables.
COUNTS, OTHER = Counts(28, 23, 72, 2680), Counts(30, 21, 90, 2660)
TABLE = confusion(Y, P)
TABLE4 = confusion(Y4, L4)
SCORES = score_table(Y, S)
PAIR = paired(Y, P, P2)
LABEL_SETS = multilabel(SETS, SETS_P)
CLASSES = Confusion(("a", "b", "c"), np.array([[50, 3, 2], [4, 20, 6], [1, 2, 5]]))

# Frames of every kind.
COLUMNS = {"y": Y, "p": P, "p2": P2, "s": S, "s2": S2, "w": W, "n": F, "patient": PATIENT, "site": SITE, "month": MONTH}
COLUMNS |= {"age": AGE, "amount": AMOUNT, "key": np.arange(N), "kind": ANIMALS[Y4], "guess": ANIMALS[L4]}
COLUMNS |= {f"p_{name}": P4[:, i] for i, name in enumerate(ANIMALS)}
COLUMNS |= {f"q_{name}": Q4[:, i] for i, name in enumerate(ANIMALS)}
COLUMNS |= {f"y_{name}": SETS[:, i] for i, name in enumerate("abc")}
COLUMNS |= {f"a_{name}": SETS_P[:, i] for i, name in enumerate("abc")}
COLUMNS |= {f"b_{name}": SETS_Q[:, i] for i, name in enumerate("abc")}
COLUMNS |= {f"s_{name}": SET_SCORES[:, i] for i, name in enumerate("abc")}
FRAME = pl.DataFrame(COLUMNS)
SETS_TEXT = pl.DataFrame({"y": [";".join(row) for row in NAMED_SETS], "p": [";".join(row) for row in NAMED_P]})
TALLY = tally(FRAME, true="y", pred="p", by="site")
SCORE_TALLY = tally(FRAME, true="y", score="s", by="site")


def _duckdb():
    arrow = FRAME.to_arrow()
    return duckdb.connect().from_arrow(arrow)


ENGINES = {
    "polars": lambda: FRAME,
    "polars lazy": FRAME.lazy,
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pyarrow": lambda: pa.table(COLUMNS),
    "duckdb": _duckdb,
}

# Rows chosen by a label plan, with their labels.
PLAN = label_plan(S, 60, "f1", threshold=0.45)
PLANNED = Y[np.asarray(PLAN.index)]


def logistic():
    """A plain estimator."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(class_weight="balanced")


def tree(**options):
    """A decision tree."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=3, random_state=0, **options)
