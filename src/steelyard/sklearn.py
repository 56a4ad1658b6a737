"""scikit-learn's and imbalanced-learn's functions, counted by Steelyard: change one import, keep the code.

>>> from steelyard.sklearn import confusion_matrix, f1_score
>>> confusion_matrix([0, 1, 1, 0], [0, 1, 0, 0])
array([[2, 0],
       [1, 1]])
>>> f1_score([0, 1, 1, 0], [0, 1, 0, 0])
0.6666666666666666
"""

from steelyard.interop.imblearn import (
    classification_report_imbalanced,
    geometric_mean_score,
    sensitivity_score,
    sensitivity_specificity_support,
    specificity_score,
)
from steelyard.interop.sklearn_label_sets import (
    label_ranking_average_precision_score,
    multilabel_confusion_matrix,
    ndcg_score,
    zero_one_loss,
)
from steelyard.interop.sklearn_label_sets import sklearn_coverage_error as coverage_error
from steelyard.interop.sklearn_label_sets import sklearn_hamming_loss as hamming_loss
from steelyard.interop.sklearn_label_sets import sklearn_label_ranking_loss as label_ranking_loss
from steelyard.interop.sklearn_rates import (
    f1_score,
    fbeta_score,
    jaccard_score,
    precision_recall_fscore_support,
    precision_score,
    recall_score,
)
from steelyard.interop.sklearn_scores import average_precision_score, roc_auc_score
from steelyard.interop.sklearn_scores import sklearn_precision_recall_curve as precision_recall_curve
from steelyard.interop.sklearn_scores import sklearn_roc_curve as roc_curve
from steelyard.interop.sklearn_tables import (
    accuracy_score,
    balanced_accuracy_score,
    classification_report,
    cohen_kappa_score,
    confusion_matrix,
    matthews_corrcoef,
)

__all__ = [
    "accuracy_score",
    "average_precision_score",
    "balanced_accuracy_score",
    "classification_report",
    "classification_report_imbalanced",
    "cohen_kappa_score",
    "confusion_matrix",
    "coverage_error",
    "f1_score",
    "fbeta_score",
    "geometric_mean_score",
    "hamming_loss",
    "jaccard_score",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "matthews_corrcoef",
    "multilabel_confusion_matrix",
    "ndcg_score",
    "precision_recall_curve",
    "precision_recall_fscore_support",
    "precision_score",
    "recall_score",
    "roc_auc_score",
    "roc_curve",
    "sensitivity_score",
    "sensitivity_specificity_support",
    "specificity_score",
    "zero_one_loss",
]
