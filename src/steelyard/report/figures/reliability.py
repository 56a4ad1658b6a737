"""ReliabilityDisplay: the share of positives observed against the predicted probability, above the scores' spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from steelyard.analysis.calibration.calibration import CurveView, reliability_curve
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.evaluation.score_dots import ScoreAxis, bin_shares
from steelyard.exceptions import InputError
from steelyard.metrics.ranking import check_probabilities
from steelyard.predictions import Predictions
from steelyard.report.figures import caption_text, panels, score_curves, style
from steelyard.report.figures.display import Record, ScoreDisplay, evaluations, records, scores_of
from steelyard.report.figures.figure_sources import ROW_OPTIONS
from steelyard.report.figures.line_labels import Line, block_or_shorter
from steelyard.report.figures.value_labels import row_labels
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.predictions import RowsLike
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations, ModelColumns

_BINS, _MOST_ZOOM = 40, 0.5
_TOP = 0.999  # of an axis in log-odds
_SLOPE = "calibration_slope"


@dataclass(frozen=True, eq=False)
class ReliabilityLine:
    """A model's curve with the band of calibrated models, its slope, and the spread of each class's scores."""

    name: str
    probability: Array
    observed: Array
    low: Array
    high: Array
    slope: MetricRow | Interval
    axis: ScoreAxis  # on which its scores are seen
    edges: Array
    spread: tuple[Array, Array]


@dataclass(eq=False, repr=False)
class ReliabilityDisplay(ScoreDisplay):
    """Reliability curves, isotonic or binned, with the band that holds a calibrated model's, and the scores beneath.

    With the level the whole curve of a calibrated model lies in the band; the diagonal is a probability that is right.
    Where no probability is above one half the axis ends at the highest, and the other as far as the curve reaches.
    Below 5 % positives both axes are even in log-odds.

    >>> display = ReliabilityDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [row["observed"] for row in display.frame()]
    [0.0, 0.5, 0.5, 1.0]
    """

    needs: ClassVar[tuple[str, ...]] = (_SLOPE,)

    lines: tuple[ReliabilityLine, ...]
    rows: str
    view: CurveView
    level: float
    clustered: bool
    with_scores: bool

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluations,
        *,
        strategy: str = "isotonic",
        n_bins: int = 10,
        with_scores: bool = True,
        ax: DrawingArea | None = None,
    ) -> Self:
        """The curve of an Evaluation of probabilities, or those of several by name; of one with its scores beneath."""
        by_model, view = evaluations(evaluation, "A reliability curve", scores=True), CurveView(strategy, n_bins)
        lines = tuple(_line(name, each, view) for name, each in by_model.items())
        clustered = any(each.is_clustered for each in by_model.values())
        level = next(iter(by_model.values())).level
        rows = caption_text.read_text(by_model.values())
        return cls(lines, rows, view, level, clustered, with_scores and len(lines) == 1).placed(ax)

    @classmethod
    @names_wrong_arguments
    def from_predictions(cls, data: RowsLike = None, scored: ModelColumns | None = None, /, **options: Any) -> Self:
        """The curve of the scores of the positive class, or several models' by name; of a column a class, one each."""
        rows = {name: options.pop(name) for name in ROW_OPTIONS if name in options}
        p = Predictions.of(data, scored, second_is="y_score", **rows)
        if p.kind != "class scores" or p.collect().kind != "class scores":
            return super().from_predictions(p, **options)
        if len(p.models) > 1:
            raise InputError("Several models of a column for each class are too much for one figure; give pos_label=.")
        if options.get("prevalence") is not None:
            raise InputError("prevalence= is about one class, and there is a column for each; give pos_label=.")
        table, beside = p.probability_table(), {"cluster": p.clusters}
        beside |= {"sample_weight": table.sample_weight, "frequency": table.frequency}
        parts = {
            str(label): Predictions(table.codes == i, y_score=table.probabilities[:, i], **beside)
            for i, label in enumerate(table.labels)
            if 0 < np.count_nonzero(table.codes == i) < len(table.codes)
        }
        return cls._from(parts, lambda part, source: source.evaluated(part), options)

    @property
    def height(self) -> float:
        """Inches: a square, and of one model the scores beneath."""
        return 4.4 if self.with_scores else 3.3

    def frame(self) -> Rows[Record]:
        """One row per model and point."""
        columns = ("probability", "observed", "low", "high")
        return Rows(
            row
            for line in self.lines
            for row in records(model=line.name, **{key: getattr(line, key) for key in columns})
        )

    def caption(self) -> str:
        """The slopes with their intervals, and what the band is."""
        kinds = {"isotonic": "isotonic (CORP)", "uniform": "bins of equal width", "quantile": "bins of equal mass"}
        level = caption_text.percent(self.level)
        slopes = "; ".join(
            caption_text.with_name(line.name, f"calibration slope {caption_text.area_or_reason(line.slope)}")
            for line in self.lines
        )
        band = f"band: holds the whole curve of a calibrated model in {level} of test sets"
        band = score_curves.NO_BAND if self.clustered else band
        beneath = "; beneath: the scores of each class, each of area 1" if self.with_scores else ""
        what = f"Reliability curve{'s' if len(self.lines) > 1 else ''}, {kinds[self.view.strategy]}, of {self.rows}"
        slopes = slopes[0].upper() + slopes[1:] if len(self.lines) == 1 else slopes
        of_level = "" if all(np.isnan(line.slope.value) for line in self.lines) else f" ({level} interval)"
        odds = "; axes in log-odds, what lies below at their ends" if self._is_logit else ""
        return f"{what}. {slopes}{of_level}; {band}; dashed: calibrated{beneath}{odds}."

    @property
    def _is_logit(self) -> bool:
        """Whether the axes are even in log-odds."""
        return any(line.axis.is_logit for line in self.lines)

    @property
    def _ends(self) -> tuple[float, float]:
        """Where the axis of the probabilities begins and ends."""
        axes = [line.axis for line in self.lines if line.axis.is_logit] or [line.axis for line in self.lines]
        return min(axis.low for axis in axes), max(axis.high for axis in axes)

    def _draw(self, ax: Axes) -> DrawnAxes:
        if not self.with_scores:
            ax.set_box_aspect(1)
            self._curves(ax)
            return ax
        above, beneath = panels.place(ax).subplots(2, 1, height_ratios=[4, 1])
        self._curves(above)
        self._scores(beneath)
        return panels.as_array([above, beneath])

    def _curves(self, ax: Axes) -> None:
        low, end = self._ends
        top = max(end, *(float(line.observed.max()) for line in self.lines))
        if self._is_logit:
            top = min(top, _TOP)
            style.logit_scale(ax)
            style.logit_scale(ax, "y")
            ax.set(xlim=(low, end), ylim=(low, top))
        else:
            ax.set(xlim=(-0.01 * end, 1.01 * end), ylim=(-0.01 * top, 1.01 * top))
        ax.set(xlabel="Predicted probability", ylabel="Observed share of positives")
        ax.plot([low, end], [low, end], color=inks().grey, linestyle=style.CHANCE, linewidth=0.8)
        avoid, edges = [Line(np.array([low, end]), np.array([low, end]))], []
        for i, line in enumerate(self.lines):
            ink = style.colour(i)
            columns = (line.probability, line.observed, line.low, line.high)
            ends = (low, top) if self._is_logit else (-np.inf, np.inf)  # 0 and 1 have no log-odds
            x, observed, band_low, band_high = (np.clip(column, *ends) for column in columns)
            if not self.clustered:
                style.draw_band(ax, x, band_low, band_high, i, len(self.lines))
                edges += [Line(x, side) for side in (band_low, band_high)]
            mark = "None" if self.view.strategy == "isotonic" else style.MARKS[i % len(style.MARKS)]
            ax.plot(x, observed, color=ink, linestyle=style.dash(i), marker=mark, markersize=3.5)
            avoid.append(Line(x, observed))
        labels = row_labels("slope", self.level, [(line.name, line.slope) for line in self.lines])
        block_or_shorter(ax, labels, avoid, edges)

    def _scores(self, ax: Axes) -> None:
        """The scores of the positives upwards and of the negatives downwards, each scaled to its highest bin."""
        line = self.lines[0]
        if self._is_logit:
            style.logit_scale(ax)
        for i, (sign, density) in enumerate(zip((1, -1), line.spread, strict=True)):
            height = sign * density / (density.max() or 1.0)
            ax.stairs(height, line.edges, fill=True, color=style.class_colour(i), alpha=style.BAND)
            ax.stairs(height, line.edges, color=style.class_colour(i), linestyle=style.dash(i), linewidth=0.9)
        ax.axhline(0, color=inks().grey, linewidth=0.6)
        low, end = self._ends
        ax.set(xlim=(low, end) if self._is_logit else (-0.01 * end, 1.01 * end), ylim=(-1.15, 1.15))
        ax.set_yticks([0.6, -0.6], ["positives", "negatives"])
        for i, label in enumerate(ax.get_yticklabels()):
            label.set_color(style.class_colour(i))
        ax.grid(visible=False)
        ax.tick_params(labelbottom=False, left=False)


def _line(name: str, evaluation: Evaluation, view: CurveView) -> ReliabilityLine:
    table = scores_of(evaluation)
    check_probabilities("A reliability curve", table)
    points = reliability_curve(table, view, Inference(evaluation.level, prevalence=evaluation.prevalence))
    columns = [
        np.array([getattr(point, key) for point in points]) for key in ("probability", "observed", "low", "high")
    ]
    if evaluation.is_clustered:
        columns[2] = columns[3] = np.full(len(points), np.nan)
    highest = max(float(side.scores[-1]) for side in table.classes)
    axis = ScoreAxis.of(table, score_curves.shown_prevalence(evaluation))
    if not axis.is_logit:
        axis = ScoreAxis(0.0, 1.0 if highest > _MOST_ZOOM or not highest else 1.08 * highest)
    edges = axis.edges(_BINS)
    spread = (bin_shares(table.positive, edges), bin_shares(table.negative, edges))
    slope = caption_text.metric_row(evaluation, _SLOPE)
    return ReliabilityLine(name, columns[0], columns[1], columns[2], columns[3], slope, axis, edges, spread)
