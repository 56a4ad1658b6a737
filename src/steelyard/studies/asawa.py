"""Asawa: which metrics stay as they are when a test set is balanced and when the labels are swapped; HTRU2.

The eight attributes are standardised and reduced to two principal components, both learned from the training part;
four decision trees, of 1, 5, 10 and as many splits as they like, are tested on 30 % of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.best_threshold import roc_then_tpnr
from steelyard.auditing.robustness import robustness
from steelyard.auditing.score_robustness import score_robustness
from steelyard.datasets.paper_datasets import htru2
from steelyard.ingest.array_tables import confusion, score_table
from steelyard.metrics.references import reference
from steelyard.metrics.registry import get_metric
from steelyard.protocol.cross_evaluate import cross_evaluate
from steelyard.protocol.resample import equal_rows
from steelyard.protocol.splits import Folds
from steelyard.statistics.counts import Counts
from steelyard.studies import asawa_claims, asawa_tables
from steelyard.studies.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.auditing.robustness_result import Robustness
    from steelyard.datasets.paper_datasets import Pulsars
    from steelyard.statistics.score_table import ScoreTable

SPLIT_SEED = 123  # of the public notebook that the paper cites: the split with its 510 positives and 4,860 negatives
TREES = {"1 split": 1, "5 splits": 5, "10 splits": 10, "no limit": None}
COUNTED = ("accuracy", "precision", "recall", "f1", "specificity", "tpnr", "mcc", "kappa", "balanced_accuracy")
METRICS = (*COUNTED, "roc_auc")
_TOLERANCE = 0.02
SPLITS, _DRAWS = 20, 200
QUICK_SPLITS, QUICK_DRAWS, QUICK_ROWS = 3, 50, 3  # every third row


@dataclass(frozen=True, eq=False)
class _Trial:
    """One split: the scores of each tree on the test part, and of the trees refitted on swapped labels."""

    seed: int
    train: Array
    test: Array
    y_test: Array
    scores: dict[str, Array]
    swapped_scores: dict[str, Array]

    def predictions(self) -> dict[str, Array]:
        """What each tree says: a leaf with a tie says negative."""
        return {name: (scores > 0.5).astype(int) for name, scores in self.scores.items()}

    def swapped_predictions(self, *, alike: bool) -> dict[str, Array]:
        """What the refitted trees say, in swapped labels: a tie goes to the first class or, alike, to the same one."""
        return {
            name: (scores >= 0.5 if alike else scores > 0.5).astype(int) for name, scores in self.swapped_scores.items()
        }


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a split says: both tests by weights, and the changes over draws of a balanced test set."""

    trial: _Trial
    found: Robustness
    unlike: Robustness
    drawn: Array  # draw, tree, metric: the value as it was less that of the balanced set

    def robust_in(self, draw: int) -> list[str]:
        """The metrics that one balanced test set moves by no more than the tolerance, in any tree."""
        held = np.abs(self.drawn[draw]).max(0) <= _TOLERANCE
        return [name for name, ok in zip(METRICS, held, strict=True) if ok]


def run(*, quick: bool, data: Any, seed: int, progress: Callable[[str], Any]) -> Study:
    """The experiment, on the paper's split where the seed is 0, and on the splits that follow."""
    progress("reading HTRU2")
    pulsars = htru2(data)
    if quick:
        pulsars = pulsars._replace(X=pulsars.X[::QUICK_ROWS], y=pulsars.y[::QUICK_ROWS])
    first, splits, draws = SPLIT_SEED + seed, QUICK_SPLITS if quick else SPLITS, QUICK_DRAWS if quick else _DRAWS
    outcomes = []
    for split in range(first, first + splits):
        progress(f"split {split}: four trees, {draws} balanced test sets")
        outcomes.append(outcome(trial(pulsars, split, reduced()), draws))
    progress("two attributes in place of two components, and the cut by ROC")
    view = asawa_tables.View(
        pulsars,
        outcomes,
        attributes(pulsars, [one.trial for one in outcomes]),
        cut_then_tpnr(pulsars, outcomes[0].trial),
    )
    return Study(
        "asawa",
        "Metrics on balanced test sets and swapped labels",
        reference("asawa"),
        asawa_claims.summary(view),
        asawa_tables.tables(view),
        asawa_tables.pictures(view),
        asawa_claims.claims(view),
        _choices(view),
    )


# ---------------------------------------------------------------- the trees


def reduced(columns: tuple[int, ...] | None = None) -> Any:
    """Standardising, then two principal components; or the named columns alone."""
    from sklearn.compose import make_column_transformer
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if columns is None:
        return make_pipeline(StandardScaler(), PCA(n_components=2))
    return make_column_transformer((StandardScaler(), list(columns)))


def tree(splits: int | None) -> Any:
    """A tree of so many splits, best first; without a number until its leaves are pure."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_leaf_nodes=None if splits is None else splits + 1, random_state=0)


def trial(pulsars: Pulsars, seed: int, attributes: Any) -> _Trial:
    """The four trees of one split, fitted on the labels and on the labels swapped."""
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(np.arange(len(pulsars.y)), test_size=0.3, random_state=seed)
    attributes.fit(pulsars.X[train])
    learned, asked = (attributes.transform(pulsars.X[rows]) for rows in (train, test))
    scores, other = (
        {n: tree(k).fit(learned, y[train]).predict_proba(asked)[:, 1] for n, k in TREES.items()}
        for y in (pulsars.y, 1 - pulsars.y)
    )
    return _Trial(seed, train, test, pulsars.y[test], scores, other)


# ---------------------------------------------------------------- the two tests


def outcome(one: _Trial, draws: int) -> Outcome:
    """Balanced by weights and by draws of negatives, and with the labels swapped."""
    y, found = one.y_test, {}
    tables = {name: confusion(y, said).counts() for name, said in one.predictions().items()}
    scores = {name: score_table(y, told) for name, told in one.scores.items()}
    other = {name: score_table(1 - y, told) for name, told in one.swapped_scores.items()}
    areas = score_robustness(scores, other, tolerance=_TOLERANCE)
    for alike in (True, False):
        said = one.swapped_predictions(alike=alike)
        swapped = {name: confusion(1 - y, part).counts() for name, part in said.items()}
        found[alike] = robustness(tables, metrics=COUNTED, swapped=swapped, resamples=0, tolerance=_TOLERANCE).beside(
            areas
        )
    return Outcome(one, found[True], found[False], found[True].values - _balanced(one, draws))


def _balanced(one: _Trial, draws: int) -> Array:
    """All metrics of all trees on test sets with as many negatives as positives, drawn again and again."""
    rng, said = np.random.default_rng(one.seed), one.predictions()
    sets = [equal_rows(one.y_test, "under", rng) for _ in range(draws)]
    tables = Counts.stack(confusion(one.y_test[r], said[name][r]).counts() for r in sets for name in TREES)
    counted = np.stack([np.asarray(get_metric(name)(tables)) for name in COUNTED], -1)
    area = get_metric("roc_auc")
    areas = [float(area(_scored(one, name, rows))) for rows in sets for name in TREES]
    return np.column_stack([counted, areas]).reshape(draws, len(TREES), len(METRICS))


def _scored(one: _Trial, name: str, rows: Array) -> ScoreTable:
    return score_table(one.y_test[rows], one.scores[name][rows])


# ---------------------------------------------------------------- what the paper says beside


def attributes(pulsars: Pulsars, trials: list[_Trial]) -> dict[str, list[dict[str, Counts]]]:
    """The trees of each split on two attributes, the paper's pair and the least correlated, not on components."""
    pairs = {"attributes 1 and 3": (0, 2), "attributes 1 and 4": (0, 3)}
    return {
        words: [
            {n: confusion(t.y_test, said).counts() for n, said in t.predictions().items()}
            for t in (trial(pulsars, one.seed, reduced(pair)) for one in trials)
        ]
        for words, pair in pairs.items()
    }


def cut_then_tpnr(pulsars: Pulsars, one: _Trial) -> list[dict[str, Any]]:
    """The recommended use: the cut where the ROC curve of training rows is best, then the TPNR of the test part."""
    from sklearn.pipeline import make_pipeline

    rows = []
    for name, splits in TREES.items():
        model = make_pipeline(reduced(), tree(splits))
        crossed = cross_evaluate(model, pulsars.X[one.train], pulsars.y[one.train], split=Folds(5), metrics=["roc_auc"])
        cut = roc_then_tpnr(crossed.scores, resamples=0)
        said = {"at 0.5": one.scores[name] > 0.5, "at the cut": one.scores[name] >= cut.threshold}
        tables = {key: confusion(one.y_test, part.astype(int)).counts() for key, part in said.items()}
        row: dict[str, Any] = {"tree": name, "cut": cut.threshold}
        for metric in ("tpnr", "recall", "specificity", "precision"):
            row |= {f"{metric} {key}": float(get_metric(metric)(table)) for key, table in tables.items()}
        rows.append(row)
    return rows


def _choices(view: Any) -> dict[str, Any]:
    first, last = view.first.trial.seed, view.outcomes[-1].trial.seed
    return {
        "rows": f"{len(view.pulsars.y):,}, of which {int(view.pulsars.y.sum()):,} are pulsars",
        "split": f"train_test_split, 30 % tested, random_state {first}, not stratified; spreads over {first} to {last}",
        "attributes": "standardised, then two principal components, both learned from the training part",
        "trees": "n splits are n + 1 leaves, grown best first, Gini, random_state 0",
        "balanced": f"by weights, and {len(view.first.drawn)} draws of as many negatives as there are positives",
        "swapped": "in both parts, and the trees refitted; a leaf with a tie says the same original class",
        "tolerance": _TOLERANCE,
    }
