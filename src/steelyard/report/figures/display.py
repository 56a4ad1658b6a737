"""Display: what every figure can do: computed first, drawn when asked, with its rows and its caption."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments, refuse_keywords
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, InputTypeError
from steelyard.predictions import Predictions
from steelyard.report.figures import figure_sources, style
from steelyard.report.figures.figure_sources import ROW_OPTIONS, FigureSource, by_name, cv_results_by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.predictions import RowsLike
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Estimators, Evaluations, ModelColumns
    from steelyard.tables.score_table import ScoreTable

_FORMATS = (".svg", ".pdf", ".png")


class Record(dict[str, Any]):
    """One row behind a picture, by column."""

    def row(self) -> dict[str, Any]:
        """The row as a plain dictionary."""
        return dict(self)


def records(**columns: Array | list[Any] | str) -> Rows[Record]:
    """ModelColumns of one length as tidy rows of plain numbers and words; a lone value is repeated."""
    lists = {name: column if isinstance(column, (str, list)) else column.tolist() for name, column in columns.items()}
    n = max(len(column) for column in lists.values() if isinstance(column, list))
    full = {name: column if isinstance(column, list) else [column] * n for name, column in lists.items()}
    return Rows(Record(zip(full, values, strict=True)) for values in zip(*full.values(), strict=True))


class Display(ABC):
    """A figure: its numbers are ready; `plot` draws them, `frame` gives the rows behind it, `caption` the words below.

    `ax_` and `figure_` draw on first use. The figure is not pyplot's: give `ax=` to draw into one that is.
    """

    _drawn: DrawnAxes | None = None

    @property
    def width(self) -> float:
        """Inches of a figure of its own: one column of a paper."""
        return style.WIDTH

    @property
    def height(self) -> float:
        """Inches of a figure of its own."""
        return 2.8

    @abstractmethod
    def frame(self) -> Rows[Record]:
        """The tidy rows behind the picture."""

    @abstractmethod
    def caption(self) -> str:
        """A caption ready for a paper, naming the method of the intervals."""

    @abstractmethod
    def _draw(self, ax: Axes) -> DrawnAxes:
        """Draw into the axes, and give back the axes that were drawn in."""

    @classmethod
    @abstractmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The figure of whatever result it can be drawn from."""

    def plot(self, ax: DrawingArea | None = None) -> Self:
        """Draw into the given axes, or into a figure of its own sized for a column of a paper."""
        canvas = style.canvas()
        with canvas.paper(None if ax is None else canvas.palette_of(ax)):
            axes = canvas.new_figure((self.width, self.height)).add_subplot() if ax is None else canvas.dressed(ax)
            self._drawn = self._draw(axes)
        return self

    def placed(self, ax: DrawingArea | None) -> Self:
        """The display, drawn at once where axes were given."""
        return self if ax is None else self.plot(ax)

    @property
    def ax_(self) -> Any:
        """The axes, drawn on first use; an array of them where the figure has several."""
        if self._drawn is None:
            self.plot()
        return self._drawn

    @property
    def figure_(self) -> Figure:
        """The figure that holds the axes."""
        first = self.ax_.flat[0] if hasattr(self.ax_, "flat") else self.ax_
        figure: Figure = first.figure.get_figure(root=True)
        return figure

    def save(self, path: str | PathLike[str], **options: Any) -> Path:
        """Save as SVG, PDF or PNG, by the ending of the path: text as text, undated, one input giving one file."""
        file = Path(path)
        if file.suffix.lower() not in _FORMATS:
            raise InputError(f"A figure is saved as {', '.join(_FORMATS)}; {file.name!r} ends in none of them.")
        canvas = style.canvas()
        with canvas.paper(canvas.palette_of(self.figure_)):
            self.figure_.savefig(file, **{"metadata": canvas.UNDATED[file.suffix.lower()], **options})
        return file

    def _repr_png_(self) -> bytes:
        """The picture in a notebook."""
        picture = BytesIO()
        self.figure_.savefig(picture, format="png", dpi=150)
        return picture.getvalue()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.caption()}>"


class EvaluationDisplay(Display):
    """A figure of one or more evaluations: from predictions, estimators, cross-validation or what was evaluated."""

    reads: ClassVar[Literal["labels", "scores", "columns"]] = "labels"
    needs: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def from_evaluation(cls, evaluation: Evaluations, *, ax: DrawingArea | None = None) -> Self:
        """The figure of an Evaluation, or of several by name."""

    @classmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The figure of an Evaluation, or of several by name."""
        return cls.from_evaluation(result, **options)

    @classmethod
    def from_estimator(cls, estimator: Estimators, X: ArrayLike, y: ArrayLike, **options: Any) -> Self:
        """The figure of a fitted estimator, or of several by name, on rows that it has not seen."""
        return cls._from(by_name(estimator), lambda model, source: source.of_estimator(model, X, y), options)

    @classmethod
    def from_cv_results(cls, cv_results: Mapping[str, Any], X: ArrayLike, y: ArrayLike, **options: Any) -> Self:
        """The figure of scikit-learn's cross_validate(..., return_estimator=True, return_indices=True).

        The rows of all test folds are counted together, each by the model that had not seen it.
        """
        return cls._from(cv_results_by_name(cv_results), lambda folds, source: source.of_folds(folds, X, y), options)

    @classmethod
    def _from_rows(
        cls,
        data: RowsLike,
        second: ModelColumns | None,
        second_is: Literal["y_pred", "y_score"],
        options: dict[str, Any],
    ) -> Self:
        """Evaluate each model of the rows; a lone one of a frame has no name in the figure."""
        refuse_keywords("a figure", options, ("by",))
        rows = {name: options.pop(name) for name in ROW_OPTIONS if name in options}
        p = Predictions.of(data, second, second_is=second_is, **rows)
        p = p if p.given.by is None else p.with_options(by=None)
        is_column = p.given.is_frame and len(p.models) == 1 and p.models[0] in p.given.model
        models = {"": p} if is_column or not p.models else {name: p[name] for name in p.models}
        return cls._from(models, lambda one, source: source.evaluated(one), options)

    @classmethod
    def _from(
        cls, models: Mapping[str, Any], read: Callable[[Any, FigureSource], Evaluation], options: dict[str, Any]
    ) -> Self:
        """Evaluate each model by evaluate's own options, and draw by the others."""
        source, rest = FigureSource.split(cls.reads, cls.needs, options)
        draw = names_wrong_arguments(cls.from_evaluation)
        return draw({name: read(model, source) for name, model in models.items()}, **rest)


class LabelDisplay(EvaluationDisplay):
    """A figure of predicted labels; scores are thresholded first."""

    @classmethod
    @names_wrong_arguments
    def from_predictions(cls, data: RowsLike = None, predicted: ModelColumns | None = None, /, **options: Any) -> Self:
        """The figure of predicted labels, or of scores at a threshold; of several models by name.

        The options are those of rows, those of evaluate (prevalence, level, draws, rng), and the figure's own.
        """
        return cls._from_rows(data, predicted, "y_pred", options)


class ScoreDisplay(EvaluationDisplay):
    """A figure of scores at every threshold."""

    reads: ClassVar[Literal["labels", "scores", "columns"]] = "scores"

    @classmethod
    @names_wrong_arguments
    def from_predictions(cls, data: RowsLike = None, scored: ModelColumns | None = None, /, **options: Any) -> Self:
        """The figure of the scores of the positive class, or of several models' by name; of a frame, score=["a", "b"].

        The options are those of rows, those of evaluate (prevalence, level, draws, rng), and the figure's own.
        """
        return cls._from_rows(data, scored, "y_score", options)


class CurveDisplay(ScoreDisplay):
    """A figure of one curve a model, or one a test fold."""

    @property
    def height(self) -> float:
        """Inches: a square, and the words of its axes."""
        return 3.3

    @classmethod
    def from_cv_results(
        cls, cv_results: Mapping[str, Any], X: ArrayLike, y: ArrayLike, *, ax: DrawingArea | None = None, **options: Any
    ) -> Self:
        """One curve a test fold of scikit-learn's cross_validate(..., return_estimator=True, return_indices=True)."""
        source, rest = FigureSource.split(cls.reads, cls.needs, options)
        if rest:
            raise InputTypeError(f"This figure has no option {', '.join(map(repr, rest))}.")
        return cls._of_folds(source.of_each_fold(cv_results, X, y)).placed(ax)

    @classmethod
    @abstractmethod
    def _of_folds(cls, folds: list[Evaluation]) -> Self:
        """The figure of the evaluations of the test folds."""


def evaluations(given: Evaluations, what: str, *, scores: bool = False) -> dict[str, Evaluation]:
    """The evaluations by name, each with what the figure needs."""
    by_model = {str(name): each for name, each in by_name(given).items()}
    for each in by_model.values():
        if not isinstance(each, Evaluation) or each.per_label:
            raise figure_sources.not_drawn(each, what)
        if scores and each.scores is None:
            many = "; of a column for each class name one with pos_label=" if len(each.per_class) > 2 else ""
            raise InputError(f"{what} needs scores, those of one class; give them with y_score={many}.")
    if not by_model:
        raise InputError(f"{what} needs one model or more, and there is none.")
    return by_model


def scores_of(evaluation: Evaluation) -> ScoreTable:
    """The scores of an evaluation, which `evaluations` has asked for."""
    assert evaluation.scores is not None  # noqa: S101 - the others are refused there
    return evaluation.scores


def single_evaluation(by_model: dict[str, Evaluation], what: str) -> Evaluation:
    """The one evaluation of a figure that shows one model."""
    if len(by_model) > 1:
        raise InputError(f"{what} shows one model, not {len(by_model)}; draw one figure each, side by side with ax=.")
    return next(iter(by_model.values()))
