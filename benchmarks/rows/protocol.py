"""cross_evaluate with every measure beside scikit-learn's cross_validate with one scorer, on the same splits.

What is added is one pass for scores and, once, the 61 measures of all runs: some 15 ms, and so a share of the whole
that a fit of any length makes small.
"""

from __future__ import annotations

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.tree import DecisionTreeClassifier

from steelyard import cross_evaluate, scorer

AT_MOST = 1.1
SPLIT = StratifiedKFold(5)
MODELS = (
    ("tree", DecisionTreeClassifier(random_state=0), 6_000, 20),
    ("forest", RandomForestClassifier(20, random_state=0), 2_000, 20),
    ("logistic", LogisticRegression(max_iter=1_000), 20_000, 50),
)


def rows(wanted):
    """What is measured, beside what, and the ratio aimed at."""
    for name, model, n, columns in MODELS:
        what = f"cross_evaluate, all measures, {name}, {n:,} rows"
        if wanted in what:
            X, y = make_classification(
                n, columns, n_informative=columns // 2, weights=[0.9], flip_y=0.05, random_state=0
            )
            yield what, "cross_validate, f1", _ours(model, X, y), _theirs(model, X, y, "f1"), 1 / AT_MOST
    what = "scorer('f1') in cross_validate, tree, 5,000 rows"
    if wanted in what:
        X, y = make_classification(5_000, weights=[0.9], flip_y=0.05, random_state=0)
        model = DecisionTreeClassifier(max_depth=3, random_state=0)
        yield what, "scikit-learn's", _theirs(model, X, y, scorer("f1")), _theirs(model, X, y, "f1"), 1 / AT_MOST


def _ours(model, X, y):
    def work():
        result = cross_evaluate(model, X, y, split=SPLIT)
        return [row.mean for row in result.summary if row.name == "f1"]  # all of them are computed

    return work


def _theirs(model, X, y, scoring):
    return lambda: [cross_validate(model, X, y, cv=SPLIT, scoring=scoring)["test_score"].mean()]
