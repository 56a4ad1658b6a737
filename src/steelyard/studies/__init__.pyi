# The names of steelyard.studies with their types, written by `make stub`.

from steelyard.analysis.comparison.classical_tests import corrected_t_test as corrected_t_test
from steelyard.analysis.comparison.classical_tests import friedman as friedman
from steelyard.analysis.prevalence.prevalence import swap_prevalences as swap_prevalences
from steelyard.analysis.sequential.anytime import anytime_mean as anytime_mean
from steelyard.analysis.thresholds.best_threshold import roc_then_tpnr as roc_then_tpnr
from steelyard.auditing.correlation import correlation_study as correlation_study
from steelyard.auditing.correlation import metric_correlation as metric_correlation
from steelyard.auditing.discrimination import disagreement as disagreement
from steelyard.auditing.discrimination import discrimination as discrimination
from steelyard.auditing.ratio_spread import ratio_spread as ratio_spread
from steelyard.auditing.robustness import refit_robustness as refit_robustness
from steelyard.auditing.robustness import robustness as robustness
from steelyard.estimators.nearest_mean import NearestMeanClassifier as NearestMeanClassifier
from steelyard.protocol.nearest_mean_study import nearest_mean_study as nearest_mean_study
from steelyard.protocol.ratio_study import ratio_study as ratio_study
from steelyard.protocol.resampling_study import resampling_study as resampling_study
from steelyard.protocol.select_tree import select_tree as select_tree

def study_names() -> tuple[str, ...]: ...
def __dir__() -> list[str]: ...
