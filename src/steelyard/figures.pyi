# The names of steelyard.figures with their types, written by `make stub`.

from steelyard.analysis.thresholds.bands import confidence_band as confidence_band
from steelyard.report.figures.confusion import ConfusionDisplay as ConfusionDisplay
from steelyard.report.figures.correlation import CorrelationDisplay as CorrelationDisplay
from steelyard.report.figures.cost_curve import CostCurveDisplay as CostCurveDisplay
from steelyard.report.figures.decision_curve import DecisionCurveDisplay as DecisionCurveDisplay
from steelyard.report.figures.density import DensityDisplay as DensityDisplay
from steelyard.report.figures.dots import DotsDisplay as DotsDisplay
from steelyard.report.figures.figure_kinds import plot as plot
from steelyard.report.figures.forest import IntervalDisplay as IntervalDisplay
from steelyard.report.figures.gain import GainDisplay as GainDisplay
from steelyard.report.figures.leaderboard import LeaderboardDisplay as LeaderboardDisplay
from steelyard.report.figures.leaders import LeadersDisplay as LeadersDisplay
from steelyard.report.figures.murphy import MurphyDisplay as MurphyDisplay
from steelyard.report.figures.precision_recall import PrecisionRecallDisplay as PrecisionRecallDisplay
from steelyard.report.figures.prevalence import PrevalenceDisplay as PrevalenceDisplay
from steelyard.report.figures.ranking import RankingDisplay as RankingDisplay
from steelyard.report.figures.reliability import ReliabilityDisplay as ReliabilityDisplay
from steelyard.report.figures.risk_coverage import RiskCoverageDisplay as RiskCoverageDisplay
from steelyard.report.figures.roc import RocDisplay as RocDisplay
from steelyard.report.figures.runs import RunsDisplay as RunsDisplay
from steelyard.report.figures.surface import SurfaceDisplay as SurfaceDisplay
from steelyard.report.figures.threshold import ThresholdDisplay as ThresholdDisplay
from steelyard.report.figures.triptych import TriptychDisplay as TriptychDisplay
from steelyard.report.figures.wins import WinsDisplay as WinsDisplay

def __dir__() -> list[str]: ...
