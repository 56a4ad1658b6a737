"""cross_evaluate: estimators and data in, what they do on rows they have not seen out."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.levels import check_level
from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays import checks, label_codes
from steelyard.arrays.checks import check_order
from steelyard.arrays.labels import choice_sentences, conventional_label
from steelyard.arrays.sparse import MOST_DENSE_LABELS
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.uses import read_use
from steelyard.protocol import run_values
from steelyard.protocol.cross_evaluation import CrossEvaluation
from steelyard.protocol.label_sets import label_set_data, result_of
from steelyard.protocol.resample import candidates
from steelyard.protocol.run_verdict import RunNumbers
from steelyard.protocol.runs import Data, Run, Task, run_all
from steelyard.protocol.splits import SEEDS, planned_parts
from steelyard.tables import array_tables
from steelyard.tables.label_sets import are_label_sets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Features, Label, Labels, Rng, Weights
    from steelyard.metrics.spec import SpecLike
    from steelyard.metrics.uses import UseLike
    from steelyard.protocol.resample import EstimatorsLike, ResamplersLike
    from steelyard.protocol.splits import SplitLike


@names_wrong_arguments
def cross_evaluate(
    estimator: EstimatorsLike,
    X: Features,
    y: ArrayLike,
    *,
    split: SplitLike = 5,
    resample: ResamplersLike = None,
    use: UseLike | None = None,
    metrics: Sequence[SpecLike] | None = None,
    groups: ArrayLike | None = None,
    sample_weight: Weights = None,
    pos_label: Label = None,
    resources: bool = False,
    level: float = 0.95,
    n_jobs: int | None = None,
    rng: Rng = None,
    progress: Callable[[int, int], object] | None = None,
) -> CrossEvaluation:
    """Fit on one part of the rows and test on the rest, run after run: every metric with its spread, and the cost.

    `estimator` is one, a list or a dictionary of them: all are evaluated on the same splits. `split` is a number of
    stratified folds, `Folds`, `HoldOut`, "groups" (each group of `groups` left out once), a splitter of scikit-learn,
    or pairs of (train, test) rows. `resample` makes the classes of the training part, and only of that, equally
    frequent: "over" repeats rows of the smaller ones, "under" drops rows of the larger ones, "class_weight" gives
    them weights, and any sampler of imbalanced-learn will do, as an object or by name ("SMOTE", whatever its capitals
    and hyphens); a list of them makes each one more candidate.

    Several models are ranked by the number of the `use` ("alerts", "balance", "ranking", "probabilities" or a profile).
    Without one, and without `metrics`, that is average precision of the scores, which needs no threshold, with the
    AC-score at the threshold in force beside it: where the two orders differ, the difference is the threshold's.
    `result.verdict` says which model to choose.

    Every fit has its timings and the size of its model; with `resources` short timings are repeated and a further fit,
    which is not timed, gives the peak memory. `sample_weight` reaches the fits and the metrics. A run that fails is
    reported with its fold, and the others are kept. An estimator's random_state of None is set from `rng`, so one
    input gives one output, also with `n_jobs`. `progress` is called with the runs done and their number after each.
    Where y is a matrix with a column for each label, or lists of labels, estimators such as OneVsRestClassifier predict
    several labels for each row; folds then have their share of each label, and models are ranked by the mean over
    labels of the AC-score.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(600, weights=[0.9], flip_y=0.05, random_state=0)
    >>> result = cross_evaluate(LogisticRegression(), X, y, resample=[None, "over"])
    >>> [row.model for row in result.ranking()]
    ['LogisticRegression', 'LogisticRegression + over']
    >>> result["LogisticRegression"].evaluation.rows
    600
    """
    check_order(X=X, y=y, sample_weight=sample_weight, groups=groups)
    data = read_data(X, y, sample_weight, pos_label)
    several = candidates(estimator, resample, weighted=data.weight is not None)
    if data.are_label_sets and any(candidate.resampler is not None for candidate in several):
        raise InputError("resample= makes classes equally frequent, and labels of one row cannot be; leave it out.")
    check_metrics(metrics)
    check_options(level, n_jobs, progress)
    stated = read_use(use)
    source = generator(rng)
    plan = planned_parts(split, data, groups, source)
    seeds = source.integers(SEEDS, size=len(plan)).tolist()
    scores = run_values.needs_scores(metrics) or stated is not None
    tasks = [
        Task(candidate, part, seed, scores, resources)
        for candidate in several
        for part, seed in zip(plan, seeds, strict=True)
    ]
    runs: dict[str, Rows[Run]] = {candidate.name: Rows() for candidate in several}
    for task, predictions in zip(tasks, run_all(tasks, data, n_jobs, progress), strict=True):
        runs[task.candidate.name].append(Run(task.candidate.name, task.part, data, predictions))
    _check_any_ended(runs)
    alone = len(several) == 1
    models = {name: result_of(name, rows, metrics, level, alone) for name, rows in runs.items()}
    setting = {"split": split_name(split), "runs": len(plan), "seed": seed_of(rng)}
    setting |= {} if stated is None else {"use": stated.name}
    result = CrossEvaluation(models, setting=setting, notes=choice_sentences(pos_label, data.positive, data.labels))
    RunNumbers(result).leading  # noqa: B018 - refuses a use that such runs have no number for
    return result


def read_data(X: Features, y: ArrayLike, sample_weight: Weights, pos_label: Label) -> Data:
    """The rows, validated."""
    if are_label_sets(y):
        return label_set_data(X, y, sample_weight, pos_label)
    column = checks.column(y, "The target")
    codes, labels = label_codes.encode(column, None, "The target")
    weight = checks.weights(sample_weight, "sample_weight")
    n = X.shape[0] if hasattr(X, "shape") else len(X) if isinstance(X, Sized) else None
    if n is None:
        raise InputTypeError(f"X holds the features of each row, as an array or a frame, not {type(X).__name__}.")
    checks.check_lengths(X=range(n), y=column, sample_weight=weight)
    if not n:
        raise InputError("X and y are empty; give rows of at least two classes.")
    if len(labels) < 2:
        raise InputError(
            f"The target holds one class only, {labels[0]!r}; a classifier is evaluated on rows of at least two."
        )
    if len(labels) > MOST_DENSE_LABELS:
        raise InputError(
            f"The target holds {len(labels):,} different labels; at most {MOST_DENSE_LABELS:,} are counted."
        )
    if column.dtype.kind == "O":  # scikit-learn takes a column of Python's whole numbers for anything but labels
        column = np.array(labels)[codes]
    positive = _positive(labels, pos_label, codes)
    return Data(X, column, codes.astype(np.intp), labels, positive, weight)


def _positive(labels: Labels, pos_label: Label, codes: Array) -> Label:
    """The class that was named positive, or is so by convention; None where neither."""
    return conventional_label(labels) if pos_label is None else array_tables.positive(labels, pos_label, codes)


def check_metrics(metrics: object) -> None:
    """Refuse what is no list of metrics."""
    if metrics is None:
        return
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise InputTypeError(argument="metrics", expected="a list of metrics", do=f"write [{metrics!r}]")
    if not [MetricSpec.of(metric) for metric in metrics]:
        raise InputError("metrics= is empty; name at least one metric, or leave it out for all.")


def check_options(level: float, n_jobs: object, progress: object) -> None:
    """Refuse a level, a number of jobs or a progress that is none."""
    check_level(level)
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or not n_jobs):
        raise InputError(
            argument="n_jobs", expected="how many runs there are at a time, or -1 for all cores", given=n_jobs
        )
    if progress is not None and not callable(progress):
        raise InputTypeError(
            argument="progress", expected="a function of the runs done and their number", given=progress
        )


def _check_any_ended(runs: Mapping[str, Rows[Run]]) -> None:
    """Refuse a result in which nothing ran, with the first reason."""
    every = [run for rows in runs.values() for run in rows]
    if all(run.error is not None for run in every):
        first = every[0]
        hint = " OneVsRestClassifier makes any classifier predict several labels." if first.data.are_label_sets else ""
        raise InputError(f"Every run failed; the first, {first.model} on fold {first.part.fold}: {first.error}{hint}")


def split_name(split: SplitLike) -> str:
    """The split as it is written down: of a list of pairs only its kind."""
    has_name = isinstance(split, (str, int, np.integer)) or hasattr(split, "split")
    return str(split) if has_name else "pairs of rows"


def seed_of(rng: Rng) -> int | None:
    """The seed that gives the same runs again; None where a generator was given, which has moved on."""
    return 0 if rng is None else int(rng) if isinstance(rng, (int, np.integer)) else None
