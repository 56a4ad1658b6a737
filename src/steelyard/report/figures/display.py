"""Display: what every figure can do: computed first, drawn when asked, with its rows and its caption."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from steelyard.analysis.rows import Rows
from steelyard.errors import InputError, InputTypeError
from steelyard.evaluation.evaluation import Evaluation
from steelyard.report.figures import style
from steelyard.report.figures.figure_sources import Source, several

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard.statistics.score_table import ScoreTable

_FORMATS = (".svg", ".pdf", ".png")


class Record(dict[str, Any]):
    """One row behind a picture, by column."""

    def row(self) -> dict[str, Any]:
        """The row as a plain dictionary."""
        return dict(self)


def records(**columns: Any) -> Rows[Record]:
    """Columns of one length as tidy rows of plain numbers and words; a lone value is repeated."""
    lists = {name: column.tolist() if hasattr(column, "tolist") else column for name, column in columns.items()}
    n = max(len(column) for column in lists.values() if isinstance(column, (list, tuple)))
    full = {name: c if isinstance(c, (list, tuple)) else [c] * n for name, c in lists.items()}
    return Rows(Record(zip(full, values, strict=True)) for values in zip(*full.values(), strict=True))


class Display(ABC):
    """A figure: its numbers are ready; `plot` draws them, `frame` gives the rows behind it, `caption` the words below.

    `ax_` and `figure_` draw on first use. The figure is not pyplot's: give `ax=` to draw into one that is.
    """

    _drawn: Any = None

    @property
    def height(self) -> float:
        """Inches of a figure of its own, one column of a paper wide."""
        return 2.8

    @abstractmethod
    def frame(self) -> Rows[Record]:
        """The tidy rows behind the picture."""

    @abstractmethod
    def caption(self) -> str:
        """A caption ready for a paper, naming the method of the intervals."""

    @abstractmethod
    def _draw(self, ax: Any) -> Any:
        """Draw into the axes, and give back the axes that were drawn in."""

    @classmethod
    @abstractmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The figure of whatever result it can be drawn from."""

    def plot(self, ax: Any = None) -> Self:
        """Draw into the given axes, or into a figure of its own sized for a column of a paper."""
        canvas = style.canvas()
        with canvas.paper():
            axes = canvas.new_figure((style.WIDTH, self.height)).add_subplot() if ax is None else canvas.dressed(ax)
            self._drawn = self._draw(axes)
        return self

    def placed(self, ax: Any) -> Self:
        """The display, drawn at once where axes were given."""
        return self if ax is None else self.plot(ax)

    @property
    def ax_(self) -> Any:
        """The axes, drawn on first use; an array of them where the figure has several."""
        if self._drawn is None:
            self.plot()
        return self._drawn

    @property
    def figure_(self) -> Any:
        """The figure that holds the axes."""
        first = self.ax_.flat[0] if hasattr(self.ax_, "flat") else self.ax_
        return first.figure.get_figure(root=True)

    def save(self, path: Any, **options: Any) -> Path:
        """Save as SVG, PDF or PNG, by the ending of the path: text as text, undated, one input giving one file."""
        place = Path(path)
        if place.suffix.lower() not in _FORMATS:
            raise InputError(f"A figure is saved as {', '.join(_FORMATS)}; {place.name!r} ends in none of them.")
        canvas = style.canvas()
        with canvas.paper():
            self.figure_.savefig(place, **{"metadata": canvas.UNDATED[place.suffix.lower()], **options})
        return place

    def _repr_png_(self) -> bytes:
        """The picture in a notebook."""
        picture = BytesIO()
        self.figure_.savefig(picture, format="png", dpi=150)
        return picture.getvalue()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.caption()}>"


class EvaluationDisplay(Display):
    """A figure of one or more evaluations: from predictions, estimators, cross-validation or what was evaluated."""

    reads: ClassVar[str] = "labels"
    needs: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def from_evaluation(cls, evaluation: Any, *, ax: Any = None) -> Self:
        """The figure of an Evaluation, or of several by name."""

    @classmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The figure of an Evaluation, or of several by name."""
        return cls.from_evaluation(result, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """The figure of a fitted estimator, or of several by name, on rows that it has not seen."""
        return cls._from(several(estimator), lambda model, source: source.of_estimator(model, X, y), options)

    @classmethod
    def from_cv_results(cls, cv_results: Any, X: Any, y: Any, **options: Any) -> Self:
        """The figure of scikit-learn's cross_validate(..., return_estimator=True, return_indices=True).

        The rows of all test folds are weighed together, each by the model that had not seen it.
        """
        return cls._from(several(cv_results, one=dict), lambda folds, source: source.of_folds(folds, X, y), options)

    @classmethod
    def _from(cls, models: Mapping[str, Any], read: Any, options: dict[str, Any]) -> Self:
        """Evaluate each model by the options that weigh, and draw by the others."""
        source, rest = Source.split(cls.reads, cls.needs, options)
        return cls.from_evaluation({name: read(model, source) for name, model in models.items()}, **rest)


class LabelDisplay(EvaluationDisplay):
    """A figure of predicted labels; scores are cut first."""

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any = None, *, y_score: Any = None, **options: Any) -> Self:
        """The figure of predicted labels, or of scores that a threshold cuts; of several models by name.

        Options that weigh are those of evaluate: threshold, pos_label, labels, sample_weight, frequency, level, rng.
        """
        if y_pred is not None and y_score is not None:
            raise InputTypeError("Give y_pred or y_score=, not both; the figure is about one of them.")
        given = y_pred if y_score is None else y_score
        key = "y_pred" if y_score is None else "y_score"
        return cls._from(several(given), lambda column, source: source.evaluated(y_true, **{key: column}), options)


class ScoreDisplay(EvaluationDisplay):
    """A figure of scores at every threshold."""

    reads: ClassVar[str] = "scores"

    @classmethod
    def from_predictions(cls, y_true: Any, y_score: Any = None, **options: Any) -> Self:
        """The figure of the scores of the positive class, or of several models' by name.

        Options that weigh are those of evaluate: threshold, pos_label, labels, sample_weight, frequency, level, rng.
        """
        return cls._from(several(y_score), lambda column, source: source.evaluated(y_true, y_score=column), options)


class CurveDisplay(ScoreDisplay):
    """A figure of one curve a model, or one a test fold."""

    @property
    def height(self) -> float:
        """Inches: a square, and the words of its axes."""
        return 3.3

    @classmethod
    def from_cv_results(cls, cv_results: Any, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """One curve a test fold of scikit-learn's cross_validate(..., return_estimator=True, return_indices=True)."""
        source, rest = Source.split(cls.reads, cls.needs, options)
        if rest:
            raise InputTypeError(f"This figure has no option {', '.join(map(repr, rest))}.")
        return cls._of_folds(source.of_each_fold(cv_results, X, y)).placed(ax)

    @classmethod
    @abstractmethod
    def _of_folds(cls, each: list[Evaluation]) -> Self:
        """The figure of the evaluations of the test folds."""


def evaluations(given: Any, what: str, *, scores: bool = False) -> dict[str, Evaluation]:
    """The evaluations by name, each with what the figure needs."""
    found = {str(name): one for name, one in several(given).items()}
    for one in found.values():
        if not isinstance(one, Evaluation):
            raise InputTypeError(f"{what} is drawn from an Evaluation, or several by name, not {type(one).__name__}.")
        if scores and one.scores is None:
            raise InputError(f"{what} needs scores, and labels alone were evaluated: evaluate(y_true, y_score=...).")
    if not found:
        raise InputError(f"{what} needs one model or more, and there is none.")
    return found


def scores_of(evaluation: Evaluation) -> ScoreTable:
    """The scores of an evaluation, which `evaluations` has asked for."""
    assert evaluation.scores is not None  # noqa: S101 - the others are refused there
    return evaluation.scores


def only(found: dict[str, Evaluation], what: str) -> Evaluation:
    """The one evaluation of a figure that shows one model."""
    if len(found) > 1:
        raise InputError(f"{what} shows one model, not {len(found)}; draw one figure each, side by side with ax=.")
    return next(iter(found.values()))
