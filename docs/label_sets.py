"""Label sets: what the pages of the metrics of rows with several labels say that no formula of counts gives."""

from __future__ import annotations

from typing import Any, NamedTuple

_EMPTY = "A row without labels, or with all of them, counts as in scikit-learn"


class LabelSetPage(NamedTuple):
    """The no-skill baseline in words, where the metric is undefined, and the options of the example."""

    baseline: str
    undefined: str = "Where no row has any weight."
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to


LABEL_SETS = {
    "hamming_loss": LabelSetPage(
        "No-skill baseline: predictions dealt to the rows at random. A label that a share p of the rows has and a share "
        "q is predicted to have is wrong in p (1 - q) + (1 - p) q of them, and the loss is the mean over the labels."
    ),
    "label_ranking_loss": LabelSetPage(
        "No-skill baseline: the labels of each row in random order, 1/2 for a row that has some labels and not all, 0 for "
        "the others. One constant score for all labels is worse, 1: a tie counts as an error.",
        f"Where no row has any weight. {_EMPTY}: 0.",
    ),
    "coverage_error": LabelSetPage(
        "No-skill baseline: the labels of each row in random order, t (L + 1) / (t + 1) for a row that has t of L labels. "
        "The least that any order reaches is t.",
        f"Where no row has any weight. {_EMPTY}: 0 without labels.",
    ),
    "label_ranking_average_precision": LabelSetPage(
        "No-skill baseline: the labels of each row in random order, (H + (t - 1) (L - H) / (L - 1)) / L for a row that has "
        "t of L labels, H being the sum of 1/i up to L.",
        f"Where no row has any weight. {_EMPTY}: 1.",
    ),
    "ndcg": LabelSetPage(
        "No-skill baseline: the labels of each row in random order, t / L times the sum of all discounts over the largest "
        "sum of t of them.",
        "Where no row has any weight. A row without labels counts as 0, as in scikit-learn.",
    ),
    "propensity_scored_precision_at_k": LabelSetPage(
        "No-skill baseline: the labels of each row in random order, the sum of 1 / propensity of its labels, over L. The "
        "value of the truth as scores is the largest; papers print the share of it.",
        "Where no propensities are given, and where k exceeds the labels.",
        {"k": 2, "propensities": [0.9, 0.5, 0.1]},
    ),
}
