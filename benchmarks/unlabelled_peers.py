"""Peers that read unlabelled scores: NannyML's CBPE and QuaPy's EMQ with its bootstrap; each is None where it is not there."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

if TYPE_CHECKING:
    from steelyard._types import Array


os.environ.setdefault("NML_DISABLE_USAGE_LOGGING", "1")  # NannyML reports its use over the network otherwise


class Peer(NamedTuple):
    """An estimate and the ends of its interval."""

    value: float
    low: float
    high: float


def cbpe(truth: Array, scores: Array, new: Array, threshold: float) -> Peer | None:
    """NannyML's estimate of F1 from confidences, and 1.96 of its standard errors of sampling on both sides.

    Its own band is three of them wide, which would hold 99.7 % and not 95 %.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import nannyml
            import pandas as pd
    except ImportError:
        return None
    known = pd.DataFrame({"y": truth, "p": scores, "pred": (scores >= threshold).astype(int)})
    known = known.sample(frac=1, random_state=0).reset_index(drop=True)
    rows = pd.DataFrame({"p": new, "pred": (new >= threshold).astype(int)})
    columns = {"y_true": "y", "y_pred": "pred", "y_pred_proba": "p"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = nannyml.CBPE(metrics=["f1"], problem_type="classification_binary", chunk_number=1, **columns)
        estimator.fit(known)
        found: Any = estimator.estimate(rows).to_df()["f1"].iloc[-1]
    value, reach = float(found["value"]), 1.96 * float(found["sampling_error"])
    return Peer(value, value - reach, value + reach)


def emq(truth: Array, scores: Array, new: Array) -> Peer | None:
    """QuaPy's prevalence by expectation maximisation, with its bootstrap of the unlabelled rows.

    Its probabilities are calibrated on the reference by a slope and an intercept of the logits, which is what its
    documentation recommends (BCTS; of two classes that is a logistic regression).
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from quapy.method.aggregative import EMQ
            from quapy.method.confidence import AggregativeBootstrap
    except ImportError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method = AggregativeBootstrap(
            EMQ(_Scores(), fit_classifier=False, val_split=None), n_train_samples=1, n_test_samples=200, random_state=0
        )
        calibrated = LogisticRegression(C=np.inf).fit(_logits(scores), truth)
        method.fit(calibrated.predict_proba(_logits(scores)), truth)
        value, region = method.predict_conf(calibrated.predict_proba(_logits(new)))
    low, high = (float(end) for end in np.asarray([region.I_low[1], region.I_high[1]]))
    return Peer(float(value[1]), low, high)


def _logits(scores: Array) -> Array:
    inside = np.clip(scores, 1e-12, 1 - 1e-12)
    return np.asarray(np.log(inside / (1 - inside)))[:, None]


class _Scores(BaseEstimator):
    """A classifier whose probabilities are its input."""

    def __init__(self) -> None:
        self.classes_ = np.array([0, 1])

    def fit(self, *_: object) -> _Scores:
        """Nothing to learn."""
        return self

    def predict_proba(self, X: Array) -> Array:
        """The columns as they are."""
        return X
