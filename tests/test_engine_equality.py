"""Every engine counts tables drawn at random as arrays are counted, or refuses them as those are refused."""

from __future__ import annotations

import pytest
from engines import ENGINES, needs
from hypothesis import given, settings

needs("pyarrow")
from drawn_tables import assert_counted_alike, drawn_tables  # noqa: E402 - which needs PyArrow

pytestmark = pytest.mark.filterwarnings("ignore:.*pandas:FutureWarning", "ignore:unclosed.*:ResourceWarning")
QUICK = ("pandas", "pandas-pyarrow", "polars", "polars-lazy", "pyarrow", "duckdb")


@pytest.mark.parametrize("engine", QUICK)
@settings(max_examples=40)
@given(drawn=drawn_tables())
def test_a_drawn_table_is_counted_as_arrays_are(engine, drawn):
    assert_counted_alike(ENGINES[engine], drawn)


@pytest.mark.parametrize("engine", [name for name in ENGINES if name not in (*QUICK, "pyspark")])
@settings(max_examples=8)
@given(drawn=drawn_tables())
def test_a_drawn_table_is_counted_by_slower_engines_as_arrays_are(engine, drawn):
    assert_counted_alike(ENGINES[engine], drawn)
