"""Drawn tables: rows at random with missing, extreme and tied values, and what arrays count of them beside a frame."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import steelyard
from steelyard import SteelyardError, tally

LABELS = (
    *([0, 1], [-1, 1], [0, 1, 2], [1, 2, 2**62 + 1], [-(2**63), 2**63 - 1]),
    [False, True],
    *(["no", "yes"], ["a", "b", 'ü\'s "x"'], ["0", "1"], ["", " "], ["NaN", "null"]),
    *([-0.0, 1.0], [-1.0, 0.0, 1.0]),
)
LARGE = (2**62 + 1, 2**63 - 1)
EDGES = [0.0, -0.0, 0.5, float(np.nextafter(0.5, 1)), 1.0, sys.float_info.min, 5e-324, -5e-324, 1e-310]
SCORES = st.sampled_from(EDGES) | st.floats(0, 1) | st.floats(-1e6, 1e6)
WEIGHTS = st.sampled_from([0.0, 1.0, 1e-9, 0.1]) | st.floats(1e-6, 1e6)
GROUPS = (["a", "b"], ["a", None, ""], [1, 2], [True, False], ["1", "NaN", None], [1, None])
BESIDE = ((), ("weight",), ("frequency",), ("weight", "frequency"))


@st.composite
def drawn_tables(draw):
    """The columns of a few rows, the positive class, and which weights to count with."""
    values = draw(st.sampled_from(LABELS))
    n = draw(st.integers(len(values), 9))

    def column(of, *first):
        return [*first, *draw(st.lists(of, min_size=n, max_size=n))][:n]

    labels = st.sampled_from(values)
    columns = {"y": column(labels, *values), "p": column(labels), "s": column(SCORES)}
    columns |= {"weight": column(WEIGHTS, 1.0), "frequency": column(st.integers(0, 3), 1)}
    columns["g"] = column(st.sampled_from(draw(st.sampled_from(GROUPS))))
    missing = draw(st.sampled_from([None, None, None, "y", "p", "s", "weight"]))
    rounded = values[-1] in LARGE and missing in ("y", "p")  # pandas makes floats of whole numbers beside a missing one
    if missing is not None and not rounded:
        columns[missing] = [*columns[missing][:-1], None]
    return columns, values[-1], draw(st.sampled_from(BESIDE))


def assert_counted_alike(make, drawn):
    """The frame of an engine is counted, or refused, as the arrays are: labels, scores, their bins, and groups."""
    columns, positive, beside = drawn
    frame, named = make(pa.table(columns)), {use: use for use in beside}
    scored = {"score": "s", "pos_label": positive}
    for kind, asked in {
        "labels": {"pred": "p"},
        "scores": {**scored, "exact": True},
        "bins": {**scored, "exact": False},
    }.items():
        wanted, counted = _outcome(_arrays, kind, drawn), _outcome(tally, frame, true="y", **asked, **named)
        assert (counted is None) == (wanted is None), (kind, counted, wanted)
        if counted is not None:
            _ALIKE[kind](counted.confusion if kind == "labels" else counted.scores, wanted)
    if not {None} & {*columns["y"], *columns["p"]}:
        _assert_groups_alike(tally(frame, true="y", pred="p", by="g"), columns)


def _outcome(count, *given, **options):
    """What is counted; nothing where it is refused in a sentence about the rows."""
    try:
        return count(*given, **options)
    except SteelyardError as refused:
        if "\n" in str(refused) or "could not count" in str(refused):  # which is about the engine
            raise
        return None


def _arrays(kind, drawn):
    columns, positive, beside = drawn
    weights = {"sample_weight" if use == "weight" else use: columns[use] for use in beside}
    if kind == "labels":
        return steelyard.confusion(columns["y"], columns["p"], **weights)
    return steelyard.score_table(columns["y"], columns["s"], pos_label=positive, **weights)


def _same_labels(counted, wanted):
    assert counted.labels == wanted.labels and [*map(type, counted.labels)] == [*map(type, wanted.labels)]
    assert counted.rows.tolist() == wanted.rows.tolist()
    for name in ("weights", "squares"):
        np.testing.assert_allclose(getattr(counted, name), getattr(wanted, name), rtol=1e-12, atol=0)


def _same_scores(counted, wanted):
    for mine, other in zip(counted.compact().classes, wanted.compact().classes, strict=True):
        assert mine.scores.tolist() == other.scores.tolist() and mine.n == other.n
        for part, its in zip(mine.distinct[1:], other.distinct[1:], strict=True):
            np.testing.assert_allclose(part, its, rtol=1e-12, atol=0)


def _same_thresholds(counted, wanted):
    """Every threshold that the bins keep has the counts of the scores themselves."""
    assert [part.n for part in counted.classes] == [part.n for part in wanted.classes]
    for cell in ("tp", "fn", "fp", "tn"):
        mine, other = (getattr(table.at(counted.thresholds), cell) for table in (counted, wanted))
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-9)


_ALIKE = {"labels": _same_labels, "scores": _same_scores, "bins": _same_thresholds}


def _assert_groups_alike(counted, columns):
    """Each group holds the rows of its value, a missing one included."""
    truth, predicted, values = (columns[name] for name in ("y", "p", "g"))
    rows = {value: [i for i, other in enumerate(values) if other == value] for value in values}
    assert {key: group.rows for key, group in counted.groups.items()} == {(key,): len(at) for key, at in rows.items()}
    for (value,), group in counted.groups.items():
        part = ([column[i] for i in rows[value]] for column in (truth, predicted))
        wanted = steelyard.confusion(*part, labels=counted.labels)
        assert group.confusion.rows.tolist() == wanted.rows.tolist()
