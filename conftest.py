"""What holds for every test and doctest: the registry is put back as it was."""

from __future__ import annotations

import gc
import inspect
import os
import tempfile
from functools import partialmethod

import pytest
from click.testing import CliRunner

os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="steelyard-")  # what is cached is the test run's own
os.environ["XDG_CONFIG_HOME"] = os.environ["XDG_CACHE_HOME"]  # and so are secret keys
# Threads of boosted trees that spin while they wait would hold up the other workers.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# So would those of OpenBLAS, which takes no such wish; small matrices, as those of tests, gain nothing from them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if "mix_stderr" in inspect.signature(CliRunner).parameters:  # click 8.1 puts the messages among the output unless asked
    CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)


@pytest.fixture(autouse=True)
def registry():
    """The registry, put back as it was afterwards."""
    from steelyard.metrics import registry

    before = registry._REGISTRY.copy(), registry._ALIASES.copy()
    yield registry
    registry._REGISTRY.clear()
    registry._REGISTRY.update(before[0])
    registry._ALIASES.clear()
    registry._ALIASES.update(before[1])


def pytest_collection_finish():
    """Look for garbage less often, and not among what stays: modules, and a tree of 14,000 tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """One worker runs all tests that share something slow: a Spark session, a study, proofs, types, the site."""
    from xdist.scheduler import LoadScopeScheduling

    class SharedStarts(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file, _, test = nodeid.partition("::")
            if "spark" in test:
                return "spark"
            if "test_studies_" in file or file.endswith(("test_types.py", "test_audit.py", "test_site.py")):
                return file
            if "must_not_come_back" in test:  # which reads every module once
                return file
            return nodeid.rpartition("-")[0] if "test_shuffled_labels" in test else nodeid

    return SharedStarts(config, log)
