"""Figure kinds: every figure by the word that asks for it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steelyard._names import SHELVES
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputTypeError, UnknownNameError, did_you_mean
from steelyard.predictions import Predictions

if TYPE_CHECKING:
    from steelyard.report.figures.display import Display

FIGURE_KINDS = {
    "confusion": "ConfusionDisplay",
    "roc": "RocDisplay",
    "pr": "PrecisionRecallDisplay",
    "threshold": "ThresholdDisplay",
    "prevalence": "PrevalenceDisplay",
    "intervals": "IntervalDisplay",
    "surface": "SurfaceDisplay",
    "ranking": "RankingDisplay",
    "leaderboard": "LeaderboardDisplay",
    "wins": "WinsDisplay",
    "leaders": "LeadersDisplay",
    "correlation": "CorrelationDisplay",
    "runs": "RunsDisplay",
    "density": "DensityDisplay",
    "dots": "DotsDisplay",
    "decision": "DecisionCurveDisplay",
    "reliability": "ReliabilityDisplay",
    "murphy": "MurphyDisplay",
    "gain": "GainDisplay",
    "cost": "CostCurveDisplay",
    "triptych": "TriptychDisplay",
    "risk": "RiskCoverageDisplay",
}
_VIEWS = (("gain", "lift"), ("cost", "brier"))  # what else a figure shows, by the word that is its option kind=
VIEWS = {view: kind for kind, view in _VIEWS}
FIGURE_KINDS |= {view: FIGURE_KINDS[kind] for view, kind in VIEWS.items()}
_OTHER_WORDS = {
    "calibration": "reliability",
    "precision_recall": "pr",
    "net_benefit": "decision",
    "histogram": "density",
    "forest": "intervals",
    "risk_coverage": "risk",
}


def display_of(kind: str) -> type[Display]:
    """The Display of a kind.

    >>> display_of("roc").__name__
    'RocDisplay'
    """
    if not isinstance(kind, str):
        raise InputTypeError(argument="kind", expected="text", given=kind)
    if kind not in FIGURE_KINDS:
        kinds, known = ", ".join(FIGURE_KINDS), _OTHER_WORDS.get(str(kind).replace("-", "_"))
        near = f" Did you mean {known!r}?" if known else did_you_mean(str(kind), FIGURE_KINDS)
        raise UnknownNameError(f"No figure is called {kind!r}; there are {kinds}.{near}")
    name = FIGURE_KINDS[kind]
    display: type[Display] = getattr(import_module(f"steelyard.{SHELVES['figures'][name]}"), name)
    return display


@names_wrong_arguments
def plot(kind: str, data: Any = None, /, **options: Any) -> Display:
    """The figure of a kind: of Predictions, or of a result: an Evaluation, several by name, a Comparison, runs.

    "surface" and "correlation" need neither. The options are those of the Display's own constructors.

    >>> from steelyard import Counts, evaluate
    >>> plot("confusion", evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))).frame()
    true  predicted   rows  weight   share
    0             0  2,680   2,680   0.974
    0             1     72      72  0.0262
    1             0     23      23   0.451
    1             1     28      28   0.549
    """
    display = display_of(kind)
    view = {"kind": kind} if kind in VIEWS else {}
    of_rows = getattr(display, "from_predictions", None) if isinstance(data, Predictions) else None
    drawn: Display = (of_rows or display.from_result)(data, **view, **options)
    return drawn
