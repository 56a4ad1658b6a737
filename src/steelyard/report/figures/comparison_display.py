"""ComparisonDisplay: what every figure of compared models can be drawn from."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from steelyard.analysis.comparison.compare import compare
from steelyard.analysis.comparison.comparison import Comparison
from steelyard.exceptions import InputError, InputTypeError
from steelyard.report.figures.display import Display
from steelyard.report.figures.figure_sources import FigureSource, take_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Estimator
    from steelyard.report.figures.figure_types import CvResults, DrawingArea


class ComparisonDisplay(Display):
    """A figure of models on the same rows: from a Comparison, or from what is compared first."""

    options: ClassVar[tuple[str, ...]] = ()  # those of from_comparison, which are not compare's

    @classmethod
    @abstractmethod
    def from_comparison(cls, comparison: Comparison, *, ax: DrawingArea | None = None) -> Self:
        """The figure of a Comparison."""

    @classmethod
    def from_predictions(
        cls, data: Any = None, models: Any = None, /, *, ax: DrawingArea | None = None, **options: Any
    ) -> Self:
        """The figure of columns of labels or scores by name, or of what else `compare` takes, with its options."""
        drawing = {name: options.pop(name) for name in cls.options if name in options}
        return cls.from_comparison(compare(data, models, **options), ax=ax, **drawing)

    @classmethod
    def from_estimator(
        cls,
        estimators: Mapping[str, Estimator],
        X: ArrayLike,
        y: ArrayLike,
        *,
        scores: bool = False,
        ax: DrawingArea | None = None,
        **options: Any,
    ) -> Self:
        """The figure of fitted estimators by name, by their labels, or with scores=True by their scores."""
        source = FigureSource("scores", (), {"pos_label": options.get("pos_label")})
        columns = {n: source.scores(m, X)[0] if scores else m.predict(X) for n, m in dict(estimators).items()}
        return cls.from_predictions(y, **{"y_score" if scores else "y_pred": columns}, ax=ax, **options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, CvResults],
        X: ArrayLike,
        y: ArrayLike,
        *,
        scores: bool = False,
        ax: DrawingArea | None = None,
        **options: Any,
    ) -> Self:
        """The figure of results of cross_validate by name, each row predicted by a model that had not seen it.

        Give all the same splits, and return_estimator=True, return_indices=True.
        """
        source = FigureSource("scores" if scores else "labels", (), {"pos_label": options.get("pos_label")})
        predictions = {name: source.test_predictions(results, X) for name, results in dict(cv_results).items()}
        rows = [part[0] for part in predictions.values()]
        if any(not np.array_equal(rows[0], other) for other in rows[1:]):
            raise InputError("The models were tested on other rows, or in another order; give both the same splits.")
        columns = {name: column for name, (_, column) in predictions.items()}
        models = {"y_score" if scores else "y_pred": columns}
        return cls.from_predictions(take_rows(y, rows[0]), **models, ax=ax, **options)

    @classmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The figure of a Comparison."""
        return cls.from_comparison(result, **options)


def check_comparison(given: object, what: str) -> None:
    """Refuse anything but a Comparison."""
    if not isinstance(given, Comparison):
        raise InputTypeError(f"{what} is drawn from a Comparison, not {type(given).__name__}; see compare.")
