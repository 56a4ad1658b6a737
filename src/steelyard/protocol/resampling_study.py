"""resampling_study: was resampling worth it? Samplers against the plain model with a moved threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays import checks, label_codes
from steelyard.arrays.checks import check_order
from steelyard.arrays.labels import choice_sentences, unclear_sentence
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.call_options import NATIVE
from steelyard.metrics.registry import default_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.uses import read_use
from steelyard.protocol.cross_evaluate import check_metrics, check_options, read_data, seed_of, split_name
from steelyard.protocol.resample import CLASS_WEIGHT, PLAIN, Candidate, balanced, candidates, class_name, named_samplers
from steelyard.protocol.resampling_result import (
    NestedRun,
    ResamplingRows,
    ResamplingRuns,
    ResamplingStudy,
    score_specs,
    threshold_specs,
)
from steelyard.protocol.runs import Run, Task, run_all
from steelyard.protocol.splits import SEEDS, Folds, Part, planned_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Label, Rng
    from steelyard.metrics.spec import SpecLike
    from steelyard.metrics.uses import UseLike
    from steelyard.protocol.resample import Resampler, SamplersLike
    from steelyard.protocol.runs import Data
    from steelyard.protocol.splits import SplitLike


# ---------------------------------------------------------------- nested plans
# The folds of a study, and inside each training part folds by which thresholds are chosen.


def nested_parts(
    plan: Sequence[Part], inner: int, data: Data, groups: ArrayLike | None, rng: np.random.Generator
) -> list[tuple[Part, list[Part]]]:
    """Each part of the plan with the folds of its training rows; groups stay together in both."""
    member = None if groups is None else label_codes.encode(checks.column(groups, "groups"), None, "groups")[0]
    return [(part, _inner_parts(part, inner, data, member, rng)) for part in plan]


def _inner_parts(part: Part, inner: int, data: Data, member: Array | None, rng: np.random.Generator) -> list[Part]:
    train = part.train
    codes = data.codes[train]
    rows = np.bincount(codes, minlength=len(data.labels))
    if rows.min() < 2:
        few = data.labels[int(rows.argmin())]
        raise InputError(
            f"The training part of fold {part.fold} has {int(rows.min())} rows of class {few!r}, and a threshold is "
            "chosen on two or more; give fewer folds or more rows."
        )
    folds = Folds(min(inner, int(rows.min())))
    seed = int(rng.integers(SEEDS))
    pairs = (
        _fold_pairs(folds, codes, data, np.random.default_rng(seed))
        if member is None
        else _group_pairs(folds, codes, member[train], seed)
    )
    return [Part(part.repeat, i + 1, train[test], len(data.codes), train[fit]) for i, (fit, test) in enumerate(pairs)]


def _fold_pairs(folds: Folds, codes: Array, data: Data, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    return [(part.train, part.test) for part in folds.split(codes, data.labels, rng)]


def _group_pairs(folds: Folds, codes: Array, member: Array, seed: int) -> list[tuple[Array, Array]]:
    from sklearn.model_selection import StratifiedGroupKFold

    k = min(folds.k, len(np.unique(member)))
    if k < 2:
        raise InputError(
            "A training part holds one group only, and thresholds are chosen on another; give more groups."
        )
    splitter = StratifiedGroupKFold(k, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros((len(codes), 1)), codes, member))


def nested_runs(
    candidates: Sequence[Candidate],
    parts: Sequence[tuple[Part, list[Part]]],
    data: Data,
    seeds: Sequence[int],
    n_jobs: int | None,
    progress: Callable[[int, int], object] | None,
) -> dict[str, list[NestedRun]]:
    """Every candidate fitted on every part and on the folds inside it, the same for all."""
    tasks = [
        Task(candidate, each, seed, scores=True, thorough=False)
        for candidate in candidates
        for (part, inside), seed in zip(parts, seeds, strict=True)
        for each in (part, *inside)
    ]
    done = zip(tasks, run_all(tasks, data, n_jobs, progress), strict=True)
    runs = iter([Run(task.candidate.name, task.part, data, predictions) for task, predictions in done])
    return {
        candidate.name: [NestedRun(next(runs), [next(runs) for _ in inside]) for _, inside in parts]
        for candidate in candidates
    }


# ---------------------------------------------------------------- resampling_study


USUAL_SPLIT = Folds(5, repeats=2)
_EQUAL = 0.5  # the share of either class by class weights that balance them


@names_wrong_arguments
def resampling_study(
    estimator: Estimator,
    X: Features,
    y: ArrayLike,
    samplers: SamplersLike = None,
    *,
    use: UseLike | None = None,
    metric: SpecLike | None = None,
    metrics: Sequence[SpecLike] | None = None,
    split: SplitLike = USUAL_SPLIT,
    inner: int = 3,
    margin: float = 0.02,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    rng: Rng = None,
    pos_label: Label = None,
    level: float = 0.95,
    progress: Callable[[int, int], object] | None = None,
) -> ResamplingStudy:
    """Was resampling worth it: samplers against the plain model with a moved threshold, on the same folds.

    `samplers` are "over", "under", "class_weight", those of imbalanced-learn by name ("SMOTE") or as objects, a list
    or a dictionary of them; without any, the first three. Only training parts are resampled; of a pipeline the rows
    that reach its last step. Every model is judged at the threshold that is best for each metric on rows left out of
    its training part in `inner` folds, so a test row chooses no threshold; beside that at its default threshold, by
    its scores and as probabilities. `metric`, by default the number of the `use`, or without one the AC-score, decides
    the verdict: whether its mean over the runs differs by Nadeau and Bengio's corrected t-test, adjusted by Holm's
    method over the samplers, and by more than `margin`. `metrics` are shown beside it. Other options as in
    cross_evaluate.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(1500, 6, weights=[0.9], class_sep=1.5, flip_y=0, random_state=1)
    >>> study = resampling_study(LogisticRegression(), X, y, ["over"])
    >>> study["over"].verdict
    'same'
    """
    check_order(X=X, y=y, groups=groups)
    data = _two_classes(read_data(X, y, None, pos_label))
    check_metrics(metrics)
    check_options(level, n_jobs, progress)
    _check_numbers(inner, margin)
    stated = read_use(use)
    if metric is None and stated is not None:
        metric = stated.of_scores
    specs = _specs(estimator, metric, metrics)
    _check_margin(margin, specs[0])
    plan = StudyPlan(estimator, samplers, split, inner, groups)
    runs = study_runs(plan, data, generator(rng), n_jobs, progress)
    rows = ResamplingRows(runs, specs, level)
    differences = rows.differences()
    numbers = {"runs": len(runs.runs[PLAIN]), "inner": inner, "seed": seed_of(rng), "split": split_name(split)}
    return ResamplingStudy(
        rows.verdicts(differences, specs[0], margin),
        rows.values(),
        differences,
        rows.calibrations(),
        rows.costs(),
        specs[0],
        margin,
        level,
        {"model": class_name(estimator), **_described(data), **numbers},
        (*choice_sentences(pos_label, data.positive, data.labels), *_failures(runs)),
    )


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """The model and its samplers, the folds, and those inside each training part."""

    estimator: Estimator
    samplers: SamplersLike
    split: SplitLike = USUAL_SPLIT
    inner: int = 3
    groups: ArrayLike | None = None


def study_runs(
    plan: StudyPlan,
    data: Data,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> ResamplingRuns:
    """The plain model and each sampler fitted and tested on the same folds."""
    arms = study_candidates(plan.estimator, plan.samplers)
    parts = planned_parts(plan.split, data, plan.groups, rng)
    seeds = rng.integers(SEEDS, size=len(parts)).tolist()
    nested = nested_parts(parts, plan.inner, data, plan.groups, rng)
    runs = nested_runs(arms, nested, data, seeds, n_jobs, progress)
    weighted = [arm.name for arm in arms if arm.resampler == CLASS_WEIGHT]
    runs |= {name: [run.with_trained_share(_EQUAL) for run in runs[name]] for name in weighted}
    _check_plain([run.outer for run in runs[PLAIN]])
    return ResamplingRuns(runs, _has_probabilities(plan.estimator))


def study_candidates(estimator: Estimator, samplers: SamplersLike) -> list[Candidate]:
    """The plain model and one of each sampler."""
    plain = candidates({PLAIN: estimator}, None, weighted=False)  # which refuses what cannot be fitted
    return plain + [
        _candidate(name, estimator, sampler) for name, sampler in named_samplers(samplers, estimator).items()
    ]


def _candidate(name: str, estimator: Estimator, sampler: Resampler) -> Candidate:
    from steelyard.protocol.sampled_classifier import with_sampler

    if isinstance(sampler, str) and sampler == CLASS_WEIGHT:
        return Candidate(name, balanced(estimator), CLASS_WEIGHT)
    return Candidate(name, with_sampler(estimator, sampler))


def _specs(estimator: Estimator, metric: SpecLike | None, metrics: Sequence[SpecLike] | None) -> list[MetricSpec]:
    """The metric that decides, then the others."""
    first = MetricSpec(default_metric()) if metric is None else MetricSpec.of(metric)
    usual = [*threshold_specs(), *score_specs(probabilities=_has_probabilities(estimator))]
    others = usual if metrics is None else MetricSpec.all_of(metrics)
    for spec in (first, *others):
        if not spec.sign or spec.average != NATIVE or spec.label is not None or spec.metric.is_of_label_sets:
            raise InputError(
                f"{spec.name} cannot judge samplers; name a metric of two classes of which a value is best."
            )
    return list(dict.fromkeys([first, *others]))


def _has_probabilities(estimator: Estimator) -> bool:
    return hasattr(estimator, "predict_proba")


def _two_classes(data: Data) -> Data:
    if data.are_label_sets or len(data.labels) != 2:
        raise InputError(
            f"resampling_study is about two classes, and y holds {len(data.labels)}; take one against the rest."
        )
    if data.positive is None:
        raise InputError(unclear_sentence(data.labels, np.bincount(data.codes)))
    return data


def _check_numbers(inner: object, margin: object) -> None:
    if isinstance(inner, bool) or not isinstance(inner, (int, np.integer)) or inner < 2:
        raise InputError(argument="inner", expected="a number of folds, 2 or more", given=inner)
    if isinstance(margin, bool) or not isinstance(margin, (int, float)):
        raise InputTypeError(argument="margin", expected="a difference of the metric, such as 0.02", given=margin)
    if not 0 <= margin < np.inf:
        raise InputError(argument="margin", expected="0 or more", given=margin)


def _check_margin(margin: float, spec: MetricSpec) -> None:
    """Refuse a margin that no difference of the metric can reach, which would call every gain none."""
    low, high = spec.metric.range
    if margin >= high - low:
        raise InputError(
            argument="margin",
            expected=f"a difference of {spec.name}, which lies between {low:g} and {high:g}",
            do=f"{margin!r} would call every gain none, so give less, such as 0.02",
        )


def _check_plain(plain: Sequence[Run]) -> None:
    """Refuse a study whose plain model never ran, or has no scores to threshold."""
    if all(run.error is not None for run in plain):
        raise InputError(f"Every run of the plain model failed; the first: {plain[0].error}")
    if any(run.error is None and run.predictions.scores is None for run in plain):
        raise InputError(
            "The estimator gives no scores, so no threshold can be moved; it needs predict_proba or decision_function."
        )


def _described(data: Data) -> dict[str, Any]:
    positives = int((data.codes == data.labels.index(data.positive)).sum())
    return {"rows": len(data.codes), "positives": positives, "positive": data.positive}


def _failures(runs: ResamplingRuns) -> list[str]:
    """How many runs of each model failed, with the first reason."""
    sentences = []
    for name, part in runs.runs.items():
        failed = [run.outer for run in part if run.outer.error is not None]
        if failed:
            sentences.append(f"{len(failed)} of {len(part)} runs of {name} failed; the first: {failed[0].error}")
    return sentences
