"""The live page: rare positives scored by a model that separates them in part, the same rows each time."""

from __future__ import annotations

import numpy as np

from steelyard import evaluate


def live_page() -> str:
    """The page that the site links to and the moving picture shows."""
    rng = np.random.default_rng(1884)
    y_true = (rng.random(4_000) < 0.04).astype(int)
    y_score = 1 / (1 + np.exp(-(1.3 * rng.normal(size=4_000) + 2.6 * y_true - 2.8)))
    return evaluate(y_true, y_score=y_score).to_html(source="predictions.parquet")
