"""A plugin of pytest for `make mutants`: which marked functions each test calls, what it costs and whether it passes."""

from __future__ import annotations

import builtins
import json
import os
import time
from pathlib import Path

import pytest

CALLED = builtins.__dict__.setdefault("_called", set())  # to which a marked function adds its name


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    CALLED.clear()
    start, item.has_failed = time.process_time(), False
    yield
    took = time.process_time() - start
    with Path(os.environ["CALLS"]).open("a", encoding="utf-8") as out:
        out.write(
            json.dumps({"test": item.nodeid, "took": took, "failed": item.has_failed, "called": sorted(CALLED)}) + "\n"
        )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    item.has_failed |= outcome.get_result().failed
