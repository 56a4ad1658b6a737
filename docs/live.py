"""Live pages: reports that the site embeds, of rows that are the same each time."""

from __future__ import annotations

import numpy as np

from steelyard import Counts, evaluate

PAGES = ("tornado", "fraud", "classes")


def live_page(name: str = "fraud") -> str:
    """A page by name, as one file."""
    return {"tornado": _tornado, "fraud": _fraud, "classes": _classes}[name]()


def _tornado() -> str:
    """Finley's forecasts of 1884, of which four counts have come down."""
    return evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)).to_html(source="Finley's tornado forecasts, 1884")


def _fraud() -> str:
    """Payments of which 1 % are fraud, scored by a model that separates them in part."""
    rng = np.random.default_rng(1884)
    fraud = rng.random(20_000) < 0.01
    score = 1 / (1 + np.exp(-(1.2 * rng.normal(size=20_000) + 3.4 * fraud - 3.6)))
    return evaluate(fraud.astype(int), y_score=score, threshold=0.3).to_html(source="payments.parquet")


def _classes() -> str:
    """Sixty species of very unequal numbers, each taken for those that resemble it."""
    rng = np.random.default_rng(60)
    names = np.array([f"species {i:02}" for i in range(1, 61)])
    shares = 1 / np.arange(1, 61)
    true = rng.choice(60, size=12_000, p=shares / shares.sum())
    kinds = rng.normal(size=(60, 5))
    seen = kinds[true] + 0.55 * rng.normal(size=(12_000, 5))
    predicted = np.argmin(((seen[:, None] - kinds) ** 2).sum(-1), axis=1)
    return evaluate(names[true], names[predicted]).to_html(source="sightings.parquet")
