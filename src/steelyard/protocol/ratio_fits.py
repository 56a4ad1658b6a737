"""Ratio fits: the nearest mean classifier and a model fitted on one draw, each also with the same search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.estimators.nearest_mean import NearestMeanClassifier
from steelyard.estimators.rows import PositiveScores
from steelyard.estimators.threshold import ThresholdClassifier
from steelyard.exceptions import InputError, SteelyardError, needs_sklearn
from steelyard.protocol.ratio_trials import RatioTrial
from steelyard.protocol.seeds import seeded

try:
    from sklearn.base import clone
    from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError as missing:
    raise needs_sklearn("A study of the nearest mean classifier") from missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Splitter
    from steelyard.protocol.predictions import Data

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
        nearest = self._fitted(_behind(prepare, NearestMeanClassifier(cv=self._repeated_folds())), models[0])
        both = (_behind(prepare, ProjectingClassifier()), clone(estimator))
        searched = [self._searched(model, name) for model, name in zip(both, models, strict=False)]
        plain = searched[1].estimator_  # fitted on all training rows
        placed = [self._placed(model) for model in (nearest, plain, *searched)]
        scores, thresholds, flagged = (dict(zip(models, part, strict=True)) for part in zip(*placed, strict=True))
        return RatioTrial(self.truth[self.test], scores, thresholds, nearest[-1].centroid_, flagged)

    def _repeated_folds(self) -> Splitter:
        folds: Splitter = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=self.seed)
        return folds

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

    def _placed(self, model: Any) -> tuple[Array, float, Array]:
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
