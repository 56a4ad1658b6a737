"""select_tree: of repeated trees the best are pruned, and the simplest within a standard error of the best is kept.

Kalita (2010) keeps the tree that does best on the test data, or prunes the best few and takes the smallest of the
best. Here all choices are made on validation parts, and the tree is judged on test rows that no choice has seen. The
rule of one standard error is Breiman, Friedman, Olshen and Stone's (1984).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.results.rows import Rows
from steelyard.evaluation.table_evaluation import evaluate_tables
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays, label_codes
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol import pooling
from steelyard.protocol.candidates import Candidate, candidates
from steelyard.protocol.cost import tree_size
from steelyard.protocol.cross_evaluate import read_data
from steelyard.protocol.run_values import KALITA_MEAN_F, reads_scores
from steelyard.protocol.runs import sentence
from steelyard.protocol.seeds import SEEDS
from steelyard.protocol.split_plan import GROUPS, planned_parts
from steelyard.protocol.splits import HoldOut, Part
from steelyard.protocol.tree_selection import Selection, Trial, Trials

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Label, Rng, Weights
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.predictions import Data
    from steelyard.protocol.resample import Resampler
    from steelyard.protocol.split_plan import SplitLike
    from steelyard.protocol.tree_selection import Settings, VariantsLike


_DRAWS = 200  # of groups to set aside, until every class is on both sides
ONE_ERROR = math.erf(math.sqrt(0.5))  # the level of an interval that reaches one standard error to either side


@refuses_other_keywords
def select_tree(
    estimator: Estimator,
    X: Features,
    y: ArrayLike,
    *,
    split: SplitLike | None = None,
    keep: int = 3,
    metric: SpecLike = KALITA_MEAN_F,
    variants: VariantsLike | None = None,
    complexity: Callable[[Estimator], float] | None = None,
    most: int = 50,
    test: float = 0.25,
    resample: Resampler = None,
    sample_weight: Weights = None,
    groups: ArrayLike | None = None,
    pos_label: Label = None,
    rng: Rng = None,
) -> Selection:
    """Choose a tree as Kalita advises, on validation data only: repeat, keep the best, prune, take the simplest.

    A share `test` of the rows is set aside first. The rest is split again and again, by HoldOut(2, repeats=10) or as
    `split` says; the `keep` best of the trees grown are pruned along their cost-complexity path (`most` steps of it),
    each tried on its own validation part; of all of them the one with the fewest nodes within one standard error of
    the best is chosen, and only then are the test rows predicted. For other estimators `variants` lists the parameters
    to try, as a list of dictionaries or one of lists, and `complexity` gives how complex a fitted one is. With `groups`
    no group is on two sides of any split. The procedure is Kalita's, and so is its default metric, the mean F of the
    classes; models are ranked elsewhere by the AC-score.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selection = select_tree(DecisionTreeClassifier(), X, 1 - y)
    >>> selection.chosen.complexity <= selection.best.complexity, selection.evaluation.rows
    (True, 142)
    """
    data = read_data(X, y, sample_weight, pos_label)
    candidate = _only(candidates(estimator, resample, weighted=data.weight is not None))
    spec = _checked_spec(metric, keep, most, test)
    source = generator(rng)
    member = None if groups is None else arrays.column(groups, GROUPS)
    rest, unseen = _set_aside(data, test, member, source)
    plan = _plan(split, data, rest, member, source)
    seeds = source.integers(SEEDS, size=len(plan)).tolist()
    trials = Trials(candidate, data, spec, complexity or _nodes)
    failed: list[str] = []
    grown = _ended(((part, seed, {}) for part, seed in zip(plan, seeds, strict=True)), trials, failed)
    if not grown:
        raise InputError(f"Every fit failed; the first, {failed[0]}")
    seed_of = {id(part): seed for part, seed in zip(plan, seeds, strict=True)}
    top = _top(grown, spec, keep)
    top_parts = [(trial.run.part, seed_of[id(trial.run.part)]) for trial in top]
    wanted = ((part, seed, how) for part, seed in top_parts for how in trials.variants(part, seed, variants, most))
    pruned = _ended(wanted, trials, failed)
    best, error, chosen = _choice([*top, *pruned], spec)
    run = trials.run(chosen.estimator, replace(chosen.run.part, test=unseen))
    evaluation = evaluate_tables(*pooling.once_each([run]), data.positive)
    return Selection(chosen, best, error, spec, Rows(grown), Rows(pruned), evaluation, unseen, tuple(failed))


def _only(several: list[Candidate]) -> Candidate:
    if len(several) > 1:
        raise InputError(
            f"select_tree chooses among the fits of one estimator, resampled in one way; {len(several)} candidates "
            "were given. Select each in turn, or list parameters to try in variants=."
        )
    return several[0]


def _ended(wanted: Iterable[tuple[Part, int, Settings]], trials: Trials, failed: list[str]) -> list[Trial]:
    """The trials that ended; one that fails is noted with its fold, and stops nobody else."""
    ended = []
    for part, seed, params in wanted:
        try:
            ended.append(trials.trial(part, seed, params))
        except InputTypeError:  # what is wrong with the call is wrong in every trial
            raise
        except Exception as error:  # noqa: BLE001 - an estimator may raise anything
            failed.append(f"repeat {part.repeat}, fold {part.fold}: {sentence(error)}")
    return ended


def _top(grown: list[Trial], spec: MetricSpec, keep: int) -> list[Trial]:
    """The best of them."""
    defined = [trial for trial in grown if not math.isnan(trial.value)]
    if not defined:
        raise InputError(f"{spec.name} is undefined on every validation part; give larger ones, or another metric.")
    return sorted(defined, key=lambda trial: -spec.sign * trial.value)[:keep]


def _choice(trials: list[Trial], spec: MetricSpec) -> tuple[Trial, float, Trial]:
    """The best, the standard error of its value, and the simplest within that error."""
    defined = [trial for trial in trials if not math.isnan(trial.value)]
    best = max(defined, key=lambda trial: (spec.sign * trial.value, -trial.complexity))
    error = _standard_error(spec, best)
    near = [trial for trial in defined if spec.sign * (best.value - trial.value) <= error]
    near = near or [best]  # where the error is not known
    return best, error, min(near, key=lambda trial: (trial.complexity, -spec.sign * trial.value))


def _checked_spec(metric: SpecLike, keep: int, most: int, test: float) -> MetricSpec:
    for value, name in ((keep, "keep"), (most, "most")):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(f"{name} is a whole number of 1 or more, not {value!r}.")
    if not (isinstance(test, (int, float, np.number)) and 0 < test < 1):
        raise InputError(f"test is the share of the rows that no choice sees, above 0 and below 1, not {test!r}.")
    spec = MetricSpec.of(metric)
    if not spec.sign:
        raise InputError(f"No value of {spec.name} is best, so nothing can be chosen by it; name another.")
    return spec


def _set_aside(data: Data, test: float, member: Array | None, rng: np.random.Generator) -> tuple[Array, Array]:
    """The rows to choose with, and those to judge by: a share of the rows of each class, or of the groups."""
    if member is None:
        (part,) = HoldOut((1 - test) / test).split(data.codes, data.labels, rng)
        return part.train, part.test
    arrays.check_lengths(y=data.codes, groups=member)
    codes, labels = label_codes.encode(member, None, GROUPS)
    if len(labels) < 3:
        raise InputError(f"groups= names {len(labels)} groups; to train, to validate and to test takes three or more.")
    number = max(1, round(test * len(labels)))
    for _ in range(_DRAWS):
        unseen = np.isin(codes, rng.permutation(len(labels))[:number])
        if all(len(np.unique(data.codes[side])) == len(data.labels) for side in (unseen, ~unseen)):
            return np.flatnonzero(~unseen), np.flatnonzero(unseen)
    raise InputError(
        f"In {_DRAWS} draws no {number:,} of {len(labels):,} groups had rows of every class and left some of each; "
        "set another share aside with test=, or give groups that hold several classes."
    )


def _plan(
    split: SplitLike | None, data: Data, rest: Array, member: Array | None, rng: np.random.Generator
) -> list[Part]:
    """The runs within the rows to choose with, as rows of all the data."""
    if split is None:
        split = HoldOut(2, repeats=10) if member is None else GROUPS
    parts = planned_parts(split, data.subset(rest), None if member is None else member[rest], rng)
    return [replace(part, test=rest[part.test], rows=len(data.codes), listed=rest[part.train]) for part in parts]


def _nodes(model: Estimator) -> float:
    return tree_size(model)[0]


def _standard_error(spec: MetricSpec, trial: Trial) -> float:
    """How far the value may be off by the rows of its validation part: half of an interval of one standard error."""
    table = trial.run.scores if reads_scores(spec, [trial.run]) else trial.run.confusion
    if table is None:
        raise InputError(f"{spec.name} of a column of scores a class has no standard error here; name another.")
    one_error = interval(spec, table, level=ONE_ERROR)
    return float(one_error.high - one_error.low) / 2
