"""Digits: real predictions on embedded data, for the demo and the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from steelyard._types import Array


class Predictions(NamedTuple):
    """The truth of a test set and the scores of two classifiers on it."""

    y_true: Array
    logistic: Array
    nearest_mean: Array


def digit_predictions(digit: int = 8) -> Predictions:
    """Two classifiers of one handwritten digit against the other nine, on scikit-learn's embedded 1,797 images.

    The pictures are halved to 4 x 4 dots to make it hard; the scores are those of the test half.
    """
    try:
        from sklearn.datasets import load_digits
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import train_test_split
    except ImportError:
        raise InputError(
            "The demo's data come with scikit-learn, which is not installed; pip install scikit-learn."
        ) from None
    images, labels = load_digits(return_X_y=True)
    coarse = images.reshape(-1, 4, 2, 4, 2).mean((2, 4)).reshape(-1, 16)
    split = train_test_split(coarse, (labels == digit).astype(int), test_size=0.5, random_state=0, stratify=labels)
    train, test, y_train, y_test = split
    # Solved to the end and rounded, so that every machine writes the same file.
    model = LogisticRegression(solver="newton-cholesky", tol=1e-10).fit(train, y_train)
    axis = train[y_train == 1].mean(0) - train[y_train == 0].mean(0)
    return Predictions(y_test, model.predict_proba(test)[:, 1].round(6), (test @ axis).round(6))


def write_predictions(path: Path, *, force: bool = False) -> Path:
    """The truth and the scores of both classifiers as a Parquet file; one that exists is kept unless `force` is set."""
    from io import BytesIO

    import polars as pl

    from steelyard.written_files import replacement_file

    data = BytesIO()
    pl.DataFrame(digit_predictions()._asdict()).write_parquet(data)
    with replacement_file(path, force=force) as temporary:
        temporary.write_bytes(data.getvalue())
    return path
