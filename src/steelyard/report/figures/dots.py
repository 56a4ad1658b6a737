"""DotsDisplay: a thousand rows as dots by score, coloured by what becomes of them at the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.result import Rows
from steelyard.evaluation.score_dots import ScoreDots, label_dots, score_dots, score_range, stacked_dots
from steelyard.metrics.registry import default_metric
from steelyard.report.figures import caption_text, panels
from steelyard.report.figures.display import Record, ScoreDisplay, evaluations, records, scores_of
from steelyard.report.figures.dot_layout import class_rooms, column_edges, size_in_points
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.verdict.sentences import Outcomes
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations

_DOT = 2.9  # points across, one of which is left free
_WHAT = "A figure of dots"
_BLOCK = 0.4  # of the width, that a block of labels takes at most


class _Outcome(NamedTuple):
    """What became of a row: its word, its colour among the inks, and whether its dot is solid."""

    word: str
    ink: str
    solid: bool


_OUTCOMES = {
    (True, True): _Outcome("true positive", "this", solid=True),
    (True, False): _Outcome("missed", "other", solid=True),
    (False, True): _Outcome("false alarm", "other", solid=False),
    (False, False): _Outcome("true negative", "grey", solid=False),
}


@dataclass(frozen=True, eq=False)
class _Panel:
    """The dots of one model, the ends of its scores if it has any, and whether its threshold was found, not given."""

    name: str
    dots: ScoreDots
    ends: tuple[float, float] | None
    chosen: bool

    def classes(self) -> tuple[tuple[bool, Array, Array], ...]:
        """Of either class whether it is the positive one, the scores, and which are flagged."""
        dots = self.dots
        return (True, dots.positives, dots.positives_flagged), (False, dots.negatives, dots.negatives_flagged)


@dataclass(eq=False, repr=False)
class DotsDisplay(ScoreDisplay):
    """A thousand rows as dots by score: positives solid above, negatives outlined below, coloured by their outcome.

    Blue are true positives, vermilion errors and grey true negatives, in the whole rows of the headline at the
    prevalence in force. Of no more than a thousand rows each is a dot. Scores without a threshold are read where the
    default metric is best.

    >>> display = DotsDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], threshold=0.4)
    >>> display.frame()
    model  class     score  outcome
           positive  0.350  missed
           positive  0.800  true positive
           negative  0.100  true negative
           negative  0.400  false alarm
    """

    needs: ClassVar[tuple[str, ...]] = ("roc_auc",)

    panels: tuple[_Panel, ...]
    rows: str

    @classmethod
    def from_evaluation(cls, evaluation: Evaluations, *, ax: DrawingArea | None = None) -> Self:
        """The dots of an Evaluation, or of several by name; of labels alone in blocks by what was predicted."""
        by_model = evaluations(evaluation, _WHAT)
        shown = tuple(_panel(name, each) for name, each in by_model.items())
        return cls(shown, caption_text.read_text(by_model.values())).placed(ax)

    @property
    def height(self) -> float:
        """Inches: a panel each."""
        return 2.4 if len(self.panels) == 1 else 0.3 + 1.9 * len(self.panels)

    def frame(self) -> Rows[Record]:
        """One row per model and dot."""
        return Rows(
            row
            for panel in self.panels
            for positive, scores, flagged in panel.classes()
            if len(scores)
            for row in records(
                **{"model": panel.name, "class": "positive" if positive else "negative"},
                score=scores,
                outcome=[_OUTCOMES[positive, bool(each)].word for each in flagged],
            )
        )

    def caption(self) -> str:
        """How many rows the dots are, and what becomes of them."""
        dots = self.panels[0].dots
        base, each = dots.stated.base, dots.stated.base // dots.outcomes.base
        by = "by score" if any(panel.ends for panel in self.panels) else "as predicted"
        of_dots = f", {each:,} to a dot" if each > 1 else ""
        text = f"{base:,} rows {by}{of_dots}, of {self.rows}: positives above (solid), negatives below (outlined)"
        states = [caption_text.with_name(panel.name, self._state(panel)) for panel in self.panels]
        return f"{'; '.join([text, *states])}. Blue: true positives; vermilion: errors; grey: true negatives."

    @staticmethod
    def _state(panel: _Panel) -> str:
        outcomes = panel.dots.stated
        threshold = caption_text.threshold_text(panel.dots.threshold)
        best = f", where {default_metric().title} is best on these rows," if panel.chosen else ""
        where = f"at the threshold {threshold}{best} " if panel.ends else ""
        found, missed, alarms = (_number(outcomes, key) for key in ("found", "missed", "false_alarms"))
        return f"{where}{found} positives are found and {missed} missed, with {alarms} false alarms"

    def _draw(self, ax: Axes) -> DrawnAxes:
        axes = panels.as_array([ax]) if len(self.panels) == 1 else panels.grid(ax, len(self.panels), 1)
        for each, panel in zip(axes.flat, self.panels, strict=True):
            _prepare(each, panel)
        if self.panels[-1].ends:
            axes.flat[-1].set_xlabel("Score")
        for each, panel in zip(axes.flat, self.panels, strict=True):  # when all words have their room
            (_place_dots if panel.ends else _place_blocks)(each, panel)
        return ax if len(self.panels) == 1 else axes


def _prepare(ax: Axes, panel: _Panel) -> None:
    """All but the dots."""
    ax.set(xlim=panel.ends or (0, 1), ylim=(-1, 1), yticks=[])
    if panel.ends is None:
        ax.set_xticks([0.25, 0.75], ["predicted negative", "predicted positive"])
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    _write_outcomes(ax, panel)
    ax.axhline(0, color=inks().grey, linewidth=0.6, zorder=1)
    if np.isfinite(panel.dots.threshold):
        ax.axvline(panel.dots.threshold, color=inks().ink, linewidth=0.9, zorder=5)


def _panel(name: str, evaluation: Evaluation) -> _Panel:
    if evaluation.scores is None:
        counts, prevalence = caption_text.two_class(evaluation, _WHAT), evaluation.prevalence
        own = prevalence is None and evaluation.confusion is not None and not evaluation.confusion.weighted
        shifted: Any = counts if prevalence is None else at_prevalence(counts, prevalence)
        return _Panel(name, label_dots(shifted, evaluation.rows if own else None), None, chosen=False)
    table, threshold = scores_of(evaluation), evaluation.threshold
    used = evaluation.best_threshold(default_metric(), draws=0).threshold if threshold is None else threshold
    dots = score_dots(table, float(used), evaluation.prevalence)
    return _Panel(name, dots, score_range(table), chosen=threshold is None)


def _write_outcomes(ax: Axes, panel: _Panel) -> None:
    """The threshold and the four outcomes above the dots, each in its colour."""
    from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea, VPacker

    outcomes = panel.dots.stated
    counts = [_number(outcomes, key) for key in ("found", "missed", "false_alarms")]
    counts.append(f"{outcomes.base - outcomes.flagged - outcomes.missed:,}")
    names = ("found", "missed", "false alarms" if outcomes.false_alarms != 1 else "false alarm", "correctly rejected")
    parts: list[Any] = [
        TextArea(f"{'●' if kind.solid else '○'} {n} {word}", textprops={"color": _word_ink(kind), "size": 7})
        for kind, n, word in zip(_OUTCOMES.values(), counts, names, strict=True)
    ]
    threshold = f"threshold {caption_text.threshold_text(panel.dots.threshold)}" if panel.ends else "as predicted"
    title = caption_text.with_name(caption_text.drawn_label(panel.name, 40), threshold)
    head = TextArea(title.replace(" -", " −"), textprops={"size": 7, "color": inks().ink})
    lines: list[Any] = [head, *(HPacker(children=parts[i : i + 2], pad=0, sep=7) for i in (0, 2))]
    packed = VPacker(children=lines, pad=0, sep=3)
    box = AnchoredOffsetbox("lower left", child=packed, pad=0, borderpad=0.3, frameon=False)
    box.set_bbox_to_anchor((0.0, 1.0), transform=ax.transAxes)  # type: ignore[arg-type]  # the stubs know only of boxes
    ax.add_artist(box)


def _number(outcomes: Outcomes, key: str) -> str:
    return "fewer than 1" if key in outcomes.scant else f"{getattr(outcomes, key):,}"


def _word_ink(kind: _Outcome) -> str:
    return inks().soft if kind.ink == "grey" else str(getattr(inks(), kind.ink))


def _place_dots(ax: Axes, panel: _Panel) -> None:
    """The dots in columns of one dot, a column edge at the threshold; a column that is too tall is pressed together."""
    width, height = size_in_points(ax)
    edges = column_edges(panel.ends or (0, 1), panel.dots.threshold, max(int(width / _DOT), 1))
    stacks = [stacked_dots(scores, edges) for _, scores, _ in panel.classes()]
    tallest = [int(heights.max(initial=-1)) + 1 for _, heights in stacks]
    rooms = class_rooms(tallest[0], tallest[1], height / _DOT)
    ax.set(xlim=(edges[0], edges[-1]), ylim=(-rooms[1], rooms[0]))
    centres = (edges[:-1] + edges[1:]) / 2
    for (positive, _, flagged), (columns, heights), room in zip(panel.classes(), stacks, rooms, strict=True):
        top = np.bincount(columns, minlength=len(centres))[columns]
        y = (heights + 0.5) * np.minimum(1, room / np.maximum(top, 1)) * (1 if positive else -1)
        for is_flagged in (False, True):
            chosen = flagged == is_flagged
            _scatter(ax, centres[columns[chosen]], y[chosen], _OUTCOMES[positive, is_flagged])


def _place_blocks(ax: Axes, panel: _Panel) -> None:
    """The dots of labels in a block for each outcome, the predicted positives at the right."""
    width, height = size_in_points(ax)
    groups = [
        (positive, is_flagged, int((flagged == is_flagged).sum()))
        for positive, _, flagged in panel.classes()
        for is_flagged in (False, True)
    ]
    columns = [min(max(int(np.ceil(np.sqrt(2 * n))), 1), max(int(_BLOCK * width / _DOT), 1)) for _, _, n in groups]
    rows = [int(np.ceil(n / wide)) for (_, _, n), wide in zip(groups, columns, strict=True)]
    rooms = class_rooms(max(rows[:2]), max(rows[2:]), height / _DOT)
    ax.set_ylim(-rooms[1], rooms[0])
    for (positive, is_flagged, n), wide, tall in zip(groups, columns, rows, strict=True):
        place = np.arange(n)
        x = (0.75 if is_flagged else 0.25) + (place % wide - (wide - 1) / 2) * _DOT / width
        pitch = min(1, rooms[0 if positive else 1] / max(tall, 1)) * (1 if positive else -1)
        _scatter(ax, x, (place // wide + 0.5) * pitch, _OUTCOMES[positive, is_flagged])


def _scatter(ax: Axes, x: Array, y: Array, kind: _Outcome) -> None:
    ink = getattr(inks(), kind.ink)
    face = ink if kind.solid else inks().paper
    ax.scatter(x, y, s=(_DOT - 1) ** 2, facecolor=face, edgecolor=ink, linewidth=0.6, zorder=3)
