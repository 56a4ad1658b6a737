"""Fixtures that every test may use."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
if "STEELYARD_DATA" not in os.environ and DATA.is_dir():
    os.environ["STEELYARD_DATA"] = str(DATA)

collect_ignore = ["engines.py", "own_measures.py", "mutants.py", "sklearn_suite.py"]
CELLS = (0, 1, 2, 3, 50, 10**6)
TABLES = list(itertools.product(CELLS, repeat=4))


@pytest.fixture(scope="session")
def golden():
    """The expected values of one golden file by its name."""
    return lambda name: json.loads((HERE / "golden" / f"{name}.json").read_text())


def close(value, expected):
    """Right to the last digits: 1e-12 relative or 1e-14 absolute."""
    return abs(value - expected) <= max(1e-12 * abs(expected), 1e-14)


def assert_refused(attempt, builtin, words):
    """The attempt is refused in one sentence, by a SteelyardError that is also the fitting builtin."""
    from steelyard import SteelyardError

    with pytest.raises(builtin, match=words) as caught:
        attempt()
    assert isinstance(caught.value, SteelyardError)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith((".", "?"))
