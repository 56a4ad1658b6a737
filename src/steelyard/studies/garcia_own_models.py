"""The models of García's experiment on a table of one's own: columns of predictions, or models fitted on folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from steelyard.analysis.results.formatting import number_of
from steelyard.exceptions import InputError, TooFewRowsError
from steelyard.ingest.predicted_labels import predicted_codes
from steelyard.protocol.splits import seeded

if TYPE_CHECKING:
    from steelyard._types import Array, Estimator
    from steelyard.studies.own_table import OwnTable

Threshold: TypeAlias = "float | Literal['prior']"
_FOLDS = 5
_DEFAULT = "logistic"
_HALF = 0.5


@dataclass(frozen=True, eq=False)
class OwnModels:
    """Which rows each model flags, and its scores where all models have them; `source` is where they are from."""

    flagged: dict[str, Array]
    scores: dict[str, Array]
    threshold: Threshold
    source: str


def read_threshold(text: str | None) -> Threshold | None:
    """A threshold as it is written: a number from 0 to 1, or "prior"."""
    if text is None:
        return None
    if text == "prior":
        return "prior"
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0 <= value <= 1:
        raise InputError(f"The threshold is a number from 0 to 1, or prior, not {text!r}.")
    return value


def own_models(table: OwnTable, y: Array, threshold: Threshold | None, seed: int) -> OwnModels:
    """The predictions in the table, or those of models for rows that did not train them."""
    if table.preds and (table.scores or table.models):
        raise InputError("Give the predictions by --pred or by --score, or models to fit, not several of these.")
    if table.preds:
        place = table.labels.index(table.positive)
        coded = {
            name: predicted_codes(pred, table.labels, f"The column {name!r}") for name, pred in table.preds.items()
        }
        flagged = {name: codes == place for name, codes in coded.items()}
        return OwnModels(flagged, {}, _HALF, f"the columns {', '.join(flagged)}")
    if table.scores:
        return _thresholded(table.scores, y, threshold, f"the columns {', '.join(table.scores)}")
    models = table.models or {_DEFAULT: table.prepared(_DEFAULT)}
    source = f"{', '.join(models)}, of rows that did not train them ({_FOLDS} folds)"
    if all(hasattr(model, "predict_proba") for model in models.values()):
        scores = {name: _unseen(model, table.X, y, seed)[:, 1] for name, model in models.items()}
        return _thresholded(scores, y, threshold, source)
    flagged = {name: _unseen(model, table.X, y, seed, "predict") == 1 for name, model in models.items()}
    return OwnModels(flagged, {}, _HALF, source)


def _thresholded(scores: dict[str, Array], y: Array, threshold: Threshold | None, source: str) -> OwnModels:
    """The rows that scores flag: from 0.5 on unless a threshold is given, or by the prior where none reaches it."""
    for name, score in scores.items():
        if threshold is None and not (score.min() >= 0 and score.max() <= 1):
            raise InputError(
                f"The scores {name!r} lie outside 0 to 1, so 0.5 is no threshold of them; give --threshold prior."
            )
    reached = any((score >= _HALF).any() for score in scores.values())
    at: Threshold = threshold if threshold is not None else _HALF if reached else "prior"
    flagged = {
        name: score >= (np.quantile(score, 1 - y.mean()) if at == "prior" else at) for name, score in scores.items()
    }
    return OwnModels(flagged, scores, at, source)


def _unseen(model: Estimator, X: Array, y: Array, seed: int, method: str = "predict_proba") -> Any:
    """What a model predicts for each row, fitted on folds that do not hold it."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    scarce = int(np.bincount(y, minlength=2).min())
    if scarce < _FOLDS:
        raise TooFewRowsError(
            f"One class has {number_of(scarce, 'row')}, and {_FOLDS} folds need one each; give {_FOLDS} or "
            "more, or --score columns."
        )
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    return cross_val_predict(seeded(model, seed), X, y, cv=folds, method=method)
