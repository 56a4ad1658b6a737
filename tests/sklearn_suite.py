"""scikit-learn's own tests of the functions that we replace, run with ours in their place.

`make sklearn-suite`, or `python tests/sklearn_suite.py [pytest options]`. The plugin below runs before the test modules
are imported; the drop-ins keep the originals, to which they hand what they do not count themselves.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
from collections import Counter

import pytest

MODULES = ("test_classification", "test_ranking", "test_common")
PATCHED = (
    "sklearn.metrics",
    "sklearn.metrics._classification",
    "sklearn.metrics._ranking",
    "sklearn.metrics._scorer",
    "sklearn.metrics._plot.confusion_matrix",
    "sklearn.metrics._plot.precision_recall_curve",
    "sklearn.metrics._plot.roc_curve",
)
NAMES = (
    "accuracy_score", "average_precision_score", "balanced_accuracy_score", "classification_report",
    "cohen_kappa_score", "confusion_matrix", "coverage_error", "f1_score", "fbeta_score", "hamming_loss",
    "jaccard_score", "label_ranking_average_precision_score", "label_ranking_loss", "matthews_corrcoef",
    "multilabel_confusion_matrix", "ndcg_score", "precision_recall_curve", "precision_recall_fscore_support",
    "precision_score", "recall_score", "roc_auc_score", "roc_curve", "zero_one_loss",
)  # fmt: skip
EXCEPTIONS: dict[str, str] = {}  # the end of a test's id -> why it cannot hold of ours


class Ours:
    """A pytest plugin that puts our functions in scikit-learn's modules, and counts the calls handed back to it."""

    def __init__(self):
        self.calls, self.handed_on = Counter(), Counter()

    def pytest_configure(self):
        import steelyard.sklearn
        from steelyard.interop import sklearn_inputs

        modules = [importlib.import_module(name) for name in PATCHED]
        for name in NAMES:
            sklearn_inputs.ORIGINALS[name] = counted(name, getattr(modules[0], name), self.handed_on)
            replacement = counted(name, getattr(steelyard.sklearn, name), self.calls)
            for module in modules:
                if hasattr(module, name):
                    setattr(module, name, replacement)

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("calls, and those of them handed on to scikit-learn")
        for name in NAMES:
            terminalreporter.write_line(f"{name:35} {self.calls[name]:6} {self.handed_on[name]:6}")

    def pytest_collection_modifyitems(self, items):
        held = [item for item in items if not any(item.nodeid.endswith(end) for end in EXCEPTIONS)]
        left_out = len(items) - len(held)
        items[:] = held
        for end, why in EXCEPTIONS.items():
            print(f"left out: {end}: {why}")
        if len(EXCEPTIONS) > left_out:
            pytest.exit("An exception of the table names no test of scikit-learn's.", returncode=3)

    def pytest_collection_finish(self):
        from sklearn.metrics.tests import test_classification, test_ranking

        for function in (test_classification.precision_score, test_ranking.roc_auc_score):
            if not inspect.unwrap(function).__module__.startswith("steelyard."):
                pytest.exit("The tests got hold of scikit-learn's own functions.", returncode=3)


def counted(name, function, book):
    """The function, and a count of its calls."""

    @functools.wraps(function)
    def call(*args, **options):
        book[name] += 1
        return function(*args, **options)

    return call


def main():
    os.environ.setdefault("SCIPY_ARRAY_API", "1")  # else the tests of array-API input are skipped
    tests = [f"sklearn.metrics.tests.{name}" for name in MODULES]
    options = ["-q", "-c", "/dev/null", "-p", "no:cacheprovider", "-p", "no:warnings", "--pyargs", *tests]
    return pytest.main([*options, *sys.argv[1:]], plugins=[Ours()])


if __name__ == "__main__":
    raise SystemExit(main())
