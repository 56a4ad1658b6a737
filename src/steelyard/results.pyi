# The names of steelyard.results with their types, written by `make stub`.

from steelyard.analysis.calibration.calibration import Calibration as Calibration
from steelyard.analysis.chance.chance import Chance as Chance
from steelyard.analysis.chance.chance_tests import ChanceTest as ChanceTest
from steelyard.analysis.comparison.comparison import Comparison as Comparison
from steelyard.analysis.comparison.leaderboard import Leaderboard as Leaderboard
from steelyard.analysis.decisions.best_decision_result import BestDecision as BestDecision
from steelyard.analysis.intervals.interval import Interval as Interval
from steelyard.analysis.monitoring.alarms import Monitoring as Monitoring
from steelyard.analysis.planning.label_plan import LabelPlan as LabelPlan
from steelyard.analysis.planning.sample_size import SampleSize as SampleSize
from steelyard.analysis.results.result import Rows as Rows
from steelyard.analysis.slices.slices_result import Slices as Slices
from steelyard.analysis.thresholds.best_threshold import BestThreshold as BestThreshold
from steelyard.analysis.thresholds.decision_curve import DecisionCurve as DecisionCurve
from steelyard.analysis.thresholds.decision_curve import DecisionPoint as DecisionPoint
from steelyard.analysis.thresholds.label_thresholds import LabelThresholds as LabelThresholds
from steelyard.analysis.thresholds.operating_points import OperatingPoint as OperatingPoint
from steelyard.analysis.thresholds.operating_points import OperatingPoints as OperatingPoints
from steelyard.auditing.decisions import Decision as Decision
from steelyard.auditing.recommend import Recommendation as Recommendation
from steelyard.evaluation.compare_groups import GroupComparison as GroupComparison
from steelyard.evaluation.drift import Drift as Drift
from steelyard.evaluation.error_rows import ErrorRows as ErrorRows
from steelyard.evaluation.explanation import Explanation as Explanation
from steelyard.evaluation.explanation import MetricList as MetricList
from steelyard.evaluation.group_thresholds import GroupThresholds as GroupThresholds
from steelyard.evaluation.unlabelled import Unlabelled as Unlabelled
from steelyard.gates.gate import GateResult as GateResult
from steelyard.ledger.history import History as History
from steelyard.metrics.curves import PrecisionRecallCurve as PrecisionRecallCurve
from steelyard.metrics.curves import RocCurve as RocCurve
from steelyard.protocol.cross_evaluation import CrossEvaluation as CrossEvaluation
from steelyard.protocol.nearest_mean_result import NearestMeanStudy as NearestMeanStudy
from steelyard.protocol.ratio_study import RatioStudy as RatioStudy
from steelyard.protocol.resampling_result import ResamplingStudy as ResamplingStudy
from steelyard.protocol.select_tree import Selection as Selection
from steelyard.studies.study import Study as Study

def __dir__() -> list[str]: ...
