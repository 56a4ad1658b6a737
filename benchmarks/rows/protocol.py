"""cross_evaluate with every metric beside scikit-learn's cross_validate with one scorer, on the same splits.

What is added is one pass for scores and, once, the 61 metrics of all runs: some 15 ms, and so a share of the whole
that a fit of any length makes small.
"""

from __future__ import annotations

import functools

from benchmarks.row import Row, needed

TITLE = "Estimators"
AT_MOST = 1.1
CALM = 1 / AT_MOST
MODELS = (("tree", 6_000, 20), ("forest", 2_000, 20), ("logistic", 20_000, 50))


def rows():
    """Each model with every metric; and one scorer in the place of scikit-learn's."""
    for name, n, columns in MODELS:
        what = f"cross_evaluate, all metrics, {name}, {n:,} rows"
        yield Row(what, "scikit-learn, cross_validate, f1", functools.partial(whole, name, columns), n, CALM)
    yield Row("scorer('f1') in cross_validate, tree, 5,000 rows", "scikit-learn's own scorer", one, 5_000, CALM)


def whole(name, columns, n):
    from steelyard import cross_evaluate

    fitted, split = model(name), needed("sklearn.model_selection").StratifiedKFold(5)
    X, y = table(n, n_features=columns, n_informative=columns // 2)

    def ours():
        result = cross_evaluate(fitted, X, y, split=split)
        return [row.mean for row in result.summary if row.name == "f1"]  # all of them are computed

    return ours, validated(fitted, X, y, "f1")


def one(n):
    from steelyard import scorer

    X, y = table(n)
    return validated(model("short"), X, y, scorer("f1")), validated(model("short"), X, y, "f1")


def model(name):
    tree, ensemble, linear = (needed(f"sklearn.{module}") for module in ("tree", "ensemble", "linear_model"))
    return {
        "tree": tree.DecisionTreeClassifier(random_state=0),
        "short": tree.DecisionTreeClassifier(max_depth=3, random_state=0),
        "forest": ensemble.RandomForestClassifier(20, random_state=0),
        "logistic": linear.LogisticRegression(max_iter=1_000),
    }[name]


def table(n, **options):
    return needed("sklearn.datasets").make_classification(n, weights=[0.9], flip_y=0.05, random_state=0, **options)


def validated(fitted, X, y, scoring):
    selection = needed("sklearn.model_selection")
    split = selection.StratifiedKFold(5)
    return lambda: [selection.cross_validate(fitted, X, y, cv=split, scoring=scoring)["test_score"].mean()]
