"""Conditions of slices: written, read back, and the rows that they hold."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from engines import ENGINES

from steelyard import errors
from steelyard.exceptions import InputError

TEXTS = {  # with a row that the slice holds
    "age >= 60 and site = B": {"age": 61, "site": "B"},
    "40 <= age < 60": {"age": 40},
    'site = "North Bay"': {"site": "North Bay"},
    'site = "1"': {"site": "1"},
    "site = 1": {"site": 1},
    "smoker = true": {"smoker": True},
    'smoker = "true"': {"smoker": "true"},
    '"heart rate" < 0.5 and site is missing': {"heart rate": 0.2, "site": None},
    'site not in (A, B, "a, b\\"c")': {"site": "C"},
    '"and" = "and"': {"and": "and"},
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_slice_is_read_back_as_it_is_printed(text):
    frame = pl.DataFrame(
        [{"row": 0, "y": 1, "p": 0, **TEXTS[text]}, {"row": 1, "y": 0, "p": 1}], infer_schema_length=None
    )
    found = wrong_where(frame, text)
    assert (found.where, [row.keys["row"] for row in found]) == (text, [0])
    assert wrong_where(frame, found.where) == found


@pytest.mark.parametrize(
    "text", ["", "age", "age > 60", "age >= old", "1 <= age <= 2", "site = ", "a = 1 or b = 2", 'x = "a']
)
def test_what_is_no_slice_is_refused_in_one_sentence(text):
    with pytest.raises(InputError, match=r"slice|condition"):
        wrong_where(table(), text)


def table():
    import pyarrow as pa

    return pa.table(
        {
            "row": [0, 1, 2, 3, 4],
            "y": [1, 0, 1, 0, 1],
            "p": [0, 1, 0, 1, 0],  # each is wrong
            "age": [71.0, None, 64.0, 12.0, 60.0],
            "site": ["B", "B", None, "A", "C"],
            "smoker": [True, False, False, True, True],
            "day": pa.array(range(1, 6), pa.timestamp("us")),
        }
    )


def wrong_where(frame, text):
    return errors(frame, true="y", pred="p", key="row", pos_label=1, filter=text, first=None)


HELD = {
    "age >= 60": [1, 0, 1, 0, 1],
    "age < 64": [0, 0, 0, 1, 1],
    "60 <= age < 70": [0, 0, 1, 0, 1],
    "age is missing": [0, 1, 0, 0, 0],
    "site is missing": [0, 0, 1, 0, 0],
    "site = B and age >= 60": [1, 0, 0, 0, 0],
    "site not in (A, B)": [0, 0, 0, 0, 1],
    "smoker = true": [1, 0, 0, 1, 1],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_slice_holds_the_same_rows_on_every_engine(engine):
    frame = ENGINES[engine](table())
    for text, held in HELD.items():
        found = wrong_where(frame, text)
        assert sorted(row.keys["row"] for row in found) == np.flatnonzero(held).tolist(), text
        assert (found.rows, found.where) == (sum(held), text)


OF_ANOTHER_KIND = [
    "site >= 3",
    "site = 1",
    "site not in (1, B)",
    "age = old",
    "age not in (old, 64)",
    "smoker = old",
    "smoker >= 0.5",
    "day >= 3",
]


@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow", "duckdb"])
def test_conditions_of_another_kind_than_the_column_are_refused(engine):
    frame = ENGINES[engine](table())
    for text in OF_ANOTHER_KIND:
        with pytest.raises(InputError, match=r"^The condition .* is (of \w+|no date), and '\w+' holds"):
            wrong_where(frame, text)
    with pytest.raises(InputError, match=r"no column 'agee'.*age"):
        wrong_where(frame, "agee >= 3")


@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow", "duckdb"])
def test_true_and_false_are_also_1_and_0(engine):
    frame = ENGINES[engine](table())
    assert wrong_where(frame, "smoker = 1").rows == wrong_where(frame, "smoker = true").rows == 3
