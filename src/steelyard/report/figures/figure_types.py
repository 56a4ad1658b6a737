"""The types that figures share: where one is drawn, and what it is drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.measure import Metric

DrawingArea: TypeAlias = "Axes | FigureBase"  # a figure, or a part of one, for a display of several panels
DrawnAxes: TypeAlias = "Axes | Array"  # the axes that were drawn in, an array of them where there are several
Evaluations: TypeAlias = "Evaluation | Mapping[str, Evaluation]"
Metrics: TypeAlias = "Sequence[str | Metric]"
ModelColumns: TypeAlias = "ArrayLike | Mapping[str, ArrayLike]"
Estimators: TypeAlias = "Estimator | Mapping[str, Estimator]"
CvResults: TypeAlias = Mapping[str, Any]  # what cross_validate returns, or several of them by name
