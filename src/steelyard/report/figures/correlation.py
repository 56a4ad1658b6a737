"""CorrelationDisplay: how metrics, or any columns, go together, as a heat map (García and others 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays import checks
from steelyard.auditing.correlation import CorrelationStudy, correlation_study
from steelyard.exceptions import InputError, InputTypeError
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.display import Display, Record
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes

_MOST_WRITTEN = 16  # metrics up to which the cells hold their numbers


@dataclass(eq=False, repr=False)
class CorrelationDisplay(Display):
    """The correlations of all pairs of metrics over perturbed predictions, or of all pairs of columns.

    >>> display = CorrelationDisplay.from_study(metrics=["accuracy"], positives=[0.05], n=100, seeds=3)
    >>> [(row["metric"], row["other"], round(row["correlation"], 2)) for row in display.frame()][-2:]
    [('accuracy', 'recall', -0.43), ('accuracy', 'specificity', 1.0)]
    >>> CorrelationDisplay.from_columns({"a": [1, 2, 3], "b": [3, 2, 1]}).frame()
    metric  other  correlation
    b           a        -1.00
    """

    names: tuple[str, ...]
    titles: tuple[str, ...]
    matrix: Array
    text: str

    @classmethod
    @names_wrong_arguments
    def from_study(
        cls,
        study: CorrelationStudy | None = None,
        *,
        positives: float | Sequence[float] | None = None,
        rank: bool = False,
        ax: DrawingArea | None = None,
        **options: Any,
    ) -> Self:
        """The heat map of a correlation_study, at one of its shares of positives; without one the options make it."""
        if study is None:
            if positives is not None:
                options["positives"] = positives if isinstance(positives, (list, tuple)) else [positives]
            study, positives = correlation_study(**options), None
        elif options:
            raise InputTypeError(f"The study is made already; {', '.join(options)} has no place here.")
        if not isinstance(study, CorrelationStudy):
            raise InputTypeError(f"A heat map is drawn from a correlation_study, not {type(study).__name__}.")
        shares = np.asarray(study.positives[0] if positives is None else positives, dtype=object).ravel().tolist()
        if len(shares) != 1 or not isinstance(shares[0], (int, float)):
            raise InputError(argument="positives", expected="one of the study's shares of positives", given=positives)
        share = float(shares[0])
        titles = tuple(style.short_title(name) for name in study.names)
        return cls(study.names, titles, study.matrix(share, rank=rank), _study_text(study, share, rank)).placed(ax)

    @classmethod
    @names_wrong_arguments
    def from_columns(cls, columns: Mapping[str, ArrayLike], *, ax: DrawingArea | None = None) -> Self:
        """The heat map of columns of numbers by name, such as a data set's attributes and its target."""
        names = tuple(map(str, columns))
        if len(names) < 2:
            raise InputError(f"Correlations are of two columns or more, not {len(names)}.")
        values = {name: checks.numbers(column, repr(name)) for name, column in columns.items()}
        checks.check_lengths(**values)
        rows = len(next(iter(values.values())))
        text = f"Pearson's correlations of {len(names)} columns over {rows:,} rows."
        return cls(names, names, np.corrcoef(np.stack([*values.values()])), text).placed(ax)

    @classmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The heat map of a correlation study."""
        return cls.from_study(result, **options)

    @property
    def height(self) -> float:
        """Inches: square cells, and the names below."""
        return 3.4

    def frame(self) -> Rows[Record]:
        """One row a pair, each pair once."""
        return Rows(
            Record(metric=self.names[i], other=self.names[j], correlation=float(self.matrix[i, j]))
            for i in range(len(self.names))
            for j in range(i)
        )

    def caption(self) -> str:
        """Which correlation of what."""
        return self.text

    def _draw(self, ax: Axes) -> DrawnAxes:
        titles, k = self.titles, len(self.names)
        shown = np.where(np.tri(k, k=-1, dtype=bool), self.matrix, np.nan)[1:, :-1]
        ax.imshow(shown, cmap=_diverging(), vmin=-1, vmax=1, aspect="equal")
        ax.set_xticks(range(k - 1), titles[:-1], rotation=90)
        ax.set_yticks(range(k - 1), titles[1:])
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        if k <= _MOST_WRITTEN:
            self._numbers(ax, shown)
        _key(ax)
        return ax

    @staticmethod
    def _numbers(ax: Axes, shown: Array) -> None:
        size = max(5, min(8, 65 / len(shown)))
        for (i, j), value in np.ndenumerate(shown):
            if j > i:
                continue
            text = _written(value)
            small = size if len(text) < 4 else min(size, 56 / len(shown))  # four signs fill a cell
            ink = inks().paper if abs(value) > 0.7 else inks().ink
            ax.text(j, i, text, ha="center", va="center", fontsize=small, color=ink)


def _written(value: float) -> str:
    """Two digits without the 0 before them; only what is 1 is written as 1."""
    if 0.995 <= abs(value) < 1:
        return ">.99" if value > 0 else "<−.99"
    text = f"{value:.2f}".replace("0.", ".").replace("-", "−").replace("1.00", "1").replace("nan", "–")
    return "0" if text in (".00", "−.00") else text


def _study_text(study: CorrelationStudy, positives: float, rank: bool) -> str:
    kind = "Spearman's rank" if rank else "Pearson's"
    choices = study.choices
    text = f"{kind} correlations of {len(study.names)} metrics with {caption_text.share(positives)} positives"
    if not choices:
        return f"{text}."
    if "models" in choices:
        return f"{text}, over {len(choices['models'])} models on the same {choices['n']:,} rows."
    tables = choices["steps"] * choices["tuples"]
    seeds = f", mean of {choices['seeds']} seeds" if choices["seeds"] > 1 else ""
    what = "distortions of the scores of" if "own" in choices else "perturbed predictions of"
    return f"{text}, over {tables} {what} {choices['n']:,} rows (García and others 2012){seeds}."


def _key(ax: Axes) -> None:
    """What the colours mean, in the empty upper corner."""
    inset = ax.inset_axes((0.62, 0.9, 0.34, 0.035))
    inset.imshow(np.linspace(-1, 1, 101)[None, :], cmap=_diverging(), aspect="auto", extent=(-1, 1, 0, 1))
    inset.set_xticks([-1, 0, 1], ["−1", "0", "1"])
    inset.set_yticks([])
    inset.tick_params(length=0, labelsize=7)
    inset.grid(visible=False)
    inset.spines[:].set_visible(False)
    inset.set_title("correlation", loc="center", fontsize=7, pad=2)


def _diverging() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    # Vermilion and blue, paler in the middle so that dark digits can be read on them.
    signs = inks().signs
    return LinearSegmentedColormap.from_list("signs", [*signs[:2], inks().paper, *signs[2:]])
