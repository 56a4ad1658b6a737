"""nearest_mean_study: the nearest mean classifier against any model, at ratios of the classes drawn from one data set.

Wu and Cannistraci (2025) give the nearest mean classifier a searched threshold and the other model none. The control
gives both the same search, so that what is left is not the threshold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.levels import check_level
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays.labels import CONVENTION, choice_sentences, chosen_label
from steelyard.estimators.nearest_mean import NearestMeanClassifier
from steelyard.estimators.rows import PositiveScores
from steelyard.estimators.threshold import ThresholdClassifier
from steelyard.exceptions import InputError, InputTypeError, SteelyardError, needs_sklearn
from steelyard.metrics.registry import get_metric, get_metrics
from steelyard.metrics.usual import COMPARED
from steelyard.protocol.cross_evaluate import read_data
from steelyard.protocol.nearest_mean_result import (
    NEAREST,
    SEARCHED,
    NearestMeanStudy,
    RatioTrial,
    draw_rows,
    read_ratios,
    tabulated,
)
from steelyard.protocol.splits import SEEDS, seeded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Label, Progress, Rng, Splitter
    from steelyard.metrics.registry import MetricLike
    from steelyard.protocol.runs import Data


# ---------------------------------------------------------------- ratio fits
# The nearest mean classifier and a model fitted on one draw, each also with the same search.


try:
    from sklearn.base import clone
    from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError as missing:
    raise needs_sklearn("A study of the nearest mean classifier") from missing

FOLDS, REPEATS = 5, 10  # the paper's, section 3.3
_HALF, _ZERO = 0.5, 0.0


@dataclass(frozen=True, eq=False)
class RatioFit:
    """The rows of one draw: trained on and tested, 1 for a positive one, and the seed of what is random."""

    data: Data
    truth: Array
    train: Array
    test: Array
    seed: int

    def trial(self, estimator: Estimator, prepare: Any, models: Sequence[str]) -> RatioTrial:
        """Both models by their own thresholds, then by the same search."""
        folds: Splitter = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=self.seed)
        nearest = self._fitted(_behind(prepare, NearestMeanClassifier(cv=folds)), models[0])
        both = (_behind(prepare, ProjectingClassifier()), clone(estimator))
        searched = [self._searched(model, name) for model, name in zip(both, models, strict=False)]
        plain = searched[1].estimator_  # fitted on all training rows
        predicted = [self._predicted(model) for model in (nearest, plain, *searched)]
        scores, thresholds, flagged = (dict(zip(models, part, strict=True)) for part in zip(*predicted, strict=True))
        return RatioTrial(self.truth[self.test], scores, thresholds, nearest[-1].centroid_, flagged)

    def _searched(self, estimator: Any, name: str) -> Any:
        """The model that predicts at the threshold at which the operating point score is best on the folds."""
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=self.seed)
        criterion, method = NearestMeanClassifier().criterion, _method(estimator)
        return self._fitted(ThresholdClassifier(estimator, criterion, cv=folds, response_method=method), name)

    def _fitted(self, estimator: Any, name: str) -> Any:
        try:
            return seeded(estimator, self.seed).fit(self.data.features(self.train), self.truth[self.train])
        except SteelyardError:
            raise
        except Exception as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise InputError(f"{name} could not be fitted on a draw ({type(error).__name__}: {reason}).") from error

    def _predicted(self, model: Any) -> tuple[Array, float, Array]:
        """The scores of the test rows, the threshold from which they are flagged, and which are."""
        X, method = self.data.features(self.test), _method(model)
        scores = PositiveScores(1, method).of(model, X)
        flagged = np.asarray(model.predict(X)) == 1
        usual = getattr(model, "threshold_", _HALF if method == "predict_proba" else _ZERO)
        return scores, _threshold(scores, flagged, float(usual)), flagged


class ProjectingClassifier(NearestMeanClassifier):
    """The nearest mean classifier whose scores are the projections themselves, as the fits on folds can share them.

    Less each fit's own threshold they would differ by its noise, and the search on all folds together suffer.
    """

    def decision_function(self, X: ArrayLike) -> Array:
        """Where each row lies on the axis towards the positive class."""
        return self.project(X)


def _behind(prepare: Any, model: Any) -> Any:
    """A model behind its transformer: standard scores where none is given."""
    if prepare is not None and (isinstance(prepare, type) or not hasattr(prepare, "fit_transform")):
        raise InputTypeError(argument="prepare", expected="a transformer such as StandardScaler()", given=prepare)
    return make_pipeline(StandardScaler() if prepare is None else clone(prepare), model)


def _method(model: Any) -> str:
    """The method that scores: a projection where there is one, as the paper draws it."""
    return "decision_function" if hasattr(model, "decision_function") else "predict_proba"


def _threshold(scores: Array, flagged: Array, usual: float) -> float:
    """The threshold that flags these rows: the usual one, or the lowest flagged score where ties make another of it."""
    if bool(((scores >= usual) == flagged).all()) or not flagged.any():
        return usual
    lowest = float(scores[flagged].min())
    return lowest if bool(((scores >= lowest) == flagged).all()) else usual


# ---------------------------------------------------------------- nearest_mean_study


_FEWEST_DRAWS = 2  # one has no interval


@names_wrong_arguments
def nearest_mean_study(
    estimator: Estimator | Mapping[str, Estimator],
    X: Features,
    y: ArrayLike,
    *,
    ratios: Sequence[str] = ("1:3", "1:1", "3:1"),
    metrics: Iterable[MetricLike] | Mapping[str, MetricLike] | None = None,
    draws: int = 10,
    prepare: Any = None,
    level: float = 0.95,
    rng: Rng = None,
    pos_label: Label = None,
    progress: Progress | None = None,
) -> NearestMeanStudy:
    """The nearest mean classifier at its best operating point against a model, at ratios drawn from these rows (Wu).

    `estimator` is any classifier that scores rows, or {name: classifier}. At each of `ratios`, negatives to positives,
    as many rows as there are for it are drawn, `draws` times: three quarters to train on and a quarter to test. The
    nearest mean classifier takes the threshold at which the operating point score is best on the training rows, the
    model its own. The control gives both the same search: the threshold at which that score is best on five folds of
    the training rows, each scored by a fit on the others.

    `prepare` is a transformer before the nearest mean classifier, which takes distances: standard scores unless
    given. Differences are means over the draws; these share rows, so their intervals are Nadeau and Bengio's.
    `metrics` names the metrics, or is {what it is called: metric}.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> study = nearest_mean_study(LogisticRegression(), X[:, :3], y, ratios=["4:1"], draws=3, pos_label=0)
    >>> [(row.ratio, row.metric) for row in study][:2]
    [('4:1', 'recall'), ('4:1', 'specificity')]
    """
    check_level(level)
    name, model = _named_model(estimator)
    if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < _FEWEST_DRAWS:
        raise InputError(argument="draws", expected=f"a whole number of {_FEWEST_DRAWS} or more", given=draws)
    named = _metrics(metrics)
    data, positive = _two_classes(X, y, pos_label)
    truth = (data.codes == data.labels.index(positive)).astype(int)
    sizes = {ratio.name: ratio.test_rows(truth) for ratio in read_ratios(ratios)}
    models = (NEAREST, name, f"{NEAREST}{SEARCHED}", f"{name}{SEARCHED}")
    source = generator(rng)
    trials: list[dict[str, RatioTrial]] = [{} for _ in range(draws)]
    for i, ratio in product(range(draws), sizes):
        if progress is not None:
            progress(f"draw {i + 1} of {draws}, N:P = {ratio}")
        train, test = draw_rows(truth, *sizes[ratio], source)
        fit = RatioFit(data, truth, train, test, int(source.integers(SEEDS)))
        trials[i][ratio] = fit.trial(model, prepare, models)
    values, tables = tabulated(trials, models, named)
    remarks = choice_sentences(pos_label, positive, data.labels)
    return NearestMeanStudy(tuple(sizes), models, named, values, tables, trials, sizes, level, positive, remarks)


def _named_model(estimator: Estimator | Mapping[str, Estimator]) -> tuple[str, Estimator]:
    """The model and its name: that of its class, or of the last step of a pipeline, unless one is given."""
    if isinstance(estimator, Mapping):
        if len(estimator) != 1:
            raise InputError(f"The nearest mean classifier is compared with one model, not {len(estimator)}; give one.")
        ((name, model),) = estimator.items()
    else:
        steps = getattr(estimator, "steps", None)
        name, model = type(steps[-1][1] if steps else estimator).__name__, estimator
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise InputTypeError(f"The model is an estimator with fit and predict, not {model!r}.")
    return str(name), model


def _metrics(metrics: Iterable[MetricLike] | Mapping[str, MetricLike] | None) -> dict[str, str]:
    """The names of the metrics by what they are called here."""
    if isinstance(metrics, str):
        raise InputTypeError(argument="metrics", expected="a list of metrics", do=f"write [{metrics!r}]")
    chosen = get_metrics(COMPARED) if metrics is None else metrics
    pairs = chosen.items() if isinstance(chosen, Mapping) else ((get_metric(m).name, m) for m in chosen)
    named = {str(short): get_metric(metric).name for short, metric in pairs}
    if not named:
        raise InputError("metrics= is empty; name at least one metric, or leave it out.")
    return named


def _two_classes(X: Features, y: ArrayLike, pos_label: Label) -> tuple[Data, Label]:
    """The rows, of two classes, and the positive one."""
    data = read_data(X, y, None, pos_label)
    if data.are_label_sets or len(data.labels) != 2:
        raise InputError(f"The study is of two classes, and y holds {len(data.labels)}; make one of them the target.")
    rows = np.bincount(data.codes, minlength=2)
    positive = data.positive
    if positive is None:
        positive = chosen_label(CONVENTION if pos_label is None else pos_label, data.labels, lambda: rows)
    values = np.asarray(X)
    if values.ndim == 2 and values.dtype.kind in "biuf" and bool((values == values[:1]).all()):
        raise InputError("Every feature holds one value only, which separates no rows; give columns of X that differ.")
    return data, positive
