"""Fixtures that every test may use."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
if "STEELYARD_DATA" not in os.environ and DATA.is_dir():
    os.environ["STEELYARD_DATA"] = str(DATA)

collect_ignore = ["checks.py", "engines.py", "own_metrics.py", "mutants.py", "sklearn_suite.py", "typed_script.py"]

# The same examples in every run, however slow the machine: no test depends on chance.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def golden():
    """The expected values of one golden file by its name."""
    return lambda name: json.loads((HERE / "golden" / f"{name}.json").read_text())
