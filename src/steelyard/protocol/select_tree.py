"""select_tree: of repeated trees the best are pruned, and the simplest within a standard error of the best is kept.

Kalita (2010) keeps the tree that does best on the test data, or prunes the best few and takes the smallest of the
best. Here all choices are made on validation parts, and the tree is judged on test rows that no choice has seen. The
rule of one standard error is Breiman, Friedman, Olshen and Stone's (1984).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from steelyard._types import Array
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.results.formatting import filled, three_digits
from steelyard.analysis.results.result import Result, Rows
from steelyard.analysis.results.result_json import read, read_metric, same
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays import checks, label_codes
from steelyard.evaluation.evaluate import evaluate_tables
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol import run_values
from steelyard.protocol.cross_evaluate import read_data
from steelyard.protocol.resample import Candidate, Training, candidates, resampled
from steelyard.protocol.run_values import KALITA_MEAN_F, RunTables, reads_scores
from steelyard.protocol.runs import Data, Run, RunPredictions, fitted, predictions_of, sentence, tree_size
from steelyard.protocol.splits import GROUPS, SEEDS, HoldOut, Part, planned_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Estimator, Features, Label, Rng, Weights
    from steelyard.analysis.results.result_json import Writer
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.resample import Resampler
    from steelyard.protocol.splits import SplitLike


# ---------------------------------------------------------------- tree selection
# The fits that are tried, and the one chosen among them, judged on rows that no choice has seen.


Settings: TypeAlias = "Mapping[str, object]"  # parameters of an estimator by name
VariantsLike: TypeAlias = "Mapping[str, Sequence[object]] | Sequence[Mapping[str, Sequence[object]]]"


@dataclass(frozen=True, eq=False)
class UnsavedEstimator:
    """Where the fitted estimator stood before a selection was saved: JSON holds no models."""

    params: Settings

    def fit(self, X: Features, y: ArrayLike, /) -> Estimator:
        """Refuse: what would be fitted is not known."""
        raise self._refusal(X, y)

    def predict(self, X: Features, /) -> Array:
        """Refuse: nothing is fitted."""
        raise self._refusal(X)

    def _refusal(self, *_: object) -> InputError:
        chosen = f"the parameters {dict(self.params)}" if self.params else "its own parameters"
        return InputError(f"A selection read from JSON has no fitted estimator; fit one with {chosen} again.")


@dataclass(frozen=True, eq=False)
class Trial:
    """One fitted estimator: the run it comes from, how it was pruned, how complex it is, what it is worth there."""

    run: Run
    params: Settings
    complexity: float
    value: float
    estimator: Estimator = field(repr=False)

    def row(self) -> dict[str, Any]:
        """The trial as a row of a table."""
        where = {"repeat": self.run.part.repeat, "fold": self.run.part.fold}
        return {**where, **self.params, "complexity": self.complexity, "value": self.value}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trial) and same(self.row(), other.row())

    def __hash__(self) -> int:
        return hash((self.run.part.repeat, self.run.part.fold))

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Trial:
        """A trial that was saved as its row: without the predictions, and without the estimator."""
        params = {key: value for key, value in row.items() if key not in ("repeat", "fold", "complexity", "value")}
        nothing = np.zeros(0, dtype=np.intp)
        data = Data(np.empty((0, 0)), nothing, nothing, ())
        run = Run("", Part(row["repeat"], row["fold"], nothing, 0), data, RunPredictions(error="not saved"))
        return cls(run, params, row["complexity"], read(float, row["value"]), UnsavedEstimator(params))


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Result[Trial]):
    """The chosen estimator, why it was chosen, and what it does on rows that no choice has seen."""

    chosen: Trial
    best: Trial
    standard_error: float
    spec: MetricSpec
    grown: Rows[Trial]
    pruned: Rows[Trial]
    evaluation: Evaluation
    test_rows: Array
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # on how the table was read

    @property
    def metric(self) -> str:
        """The written form of the metric that was chosen by."""
        return self.spec.name

    @property
    def estimator(self) -> Estimator:
        """The chosen estimator, fitted."""
        return self.chosen.estimator

    def __repr__(self) -> str:
        best, chosen = self.best, self.chosen
        text = (
            f"Of {len(self.grown)} fits and {len(self.pruned)} pruned ones the best has {self.metric} "
            f"{three_digits(best.value)} (standard error {three_digits(self.standard_error)}) and complexity "
            f"{best.complexity:,.0f}; the simplest within that error has {three_digits(chosen.value)} and "
            f"{chosen.complexity:,.0f}. On {len(self.test_rows):,} rows that no choice has seen:"
        )
        lost = [filled(f"{len(self.failures)} fits failed; the first, {self.failures[0]}")] if self.failures else []
        return "\n".join([filled(text), *lost, "", repr(self.evaluation), *map(filled, self.notes)])

    def __iter__(self) -> Iterator[Trial]:
        return iter([*self.grown, *self.pruned])

    @property
    def headline(self) -> str:
        """Which fit was chosen, and why."""
        return " ".join(repr(self).partition("\n\n")[0].split()).removesuffix(":") + f": {self.evaluation.headline}"

    def held(self, writer: Writer) -> dict[str, Any]:
        """The trials as their rows, and the evaluation of the chosen one."""
        trials = {"chosen": self.chosen.row(), "best": self.best.row()}
        rows = {"grown": self.grown.to_dicts(), "pruned": self.pruned.to_dicts()}
        plain = {"metric": self.spec, "standard_error": self.standard_error, **trials, **rows}
        plain |= {"test_rows": self.test_rows, "failures": self.failures, "notes": self.notes}
        saved: dict[str, Any] = writer.written(plain)
        return saved | {"evaluation": self.evaluation.to_dict()}

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The selection that was saved; its estimators are not."""
        chosen, best = (Trial.from_row(data[key]) for key in ("chosen", "best"))
        grown, pruned = (Rows(map(Trial.from_row, data[key])) for key in ("grown", "pruned"))
        evaluation = Evaluation.from_json(data["evaluation"])
        error, unseen = read(float, data["standard_error"]), np.array(data["test_rows"], dtype=np.intp)
        spec, said = read_metric(data["metric"]), (tuple(data["failures"]), tuple(data.get("notes", ())))
        return cls(chosen, best, error, spec, grown, pruned, evaluation, unseen, *said)


@dataclass(frozen=True, eq=False)
class Trials:
    """What is fitted, and by what it is judged."""

    candidate: Candidate
    data: Data
    spec: MetricSpec
    complexity: Callable[[Estimator], float]

    def trial(self, part: Part, seed: int, params: Settings) -> Trial:
        """An estimator with these parameters, fitted on one part and judged on the other."""
        model = fitted(self._with(params), self._training(part, seed), seed)
        run = self.run(model, part)
        value = float(RunTables([run]).values(self.spec)[0])
        return Trial(run, dict(params), self._complexity(model), value, model)

    def run(self, model: Estimator, part: Part) -> Run:
        """What a fitted estimator predicts for the second part."""
        return Run(self.candidate.name, part, self.data, predictions_of(model, self.data, part.test))

    def variants(self, part: Part, seed: int, listed: VariantsLike | None, most: int) -> list[Settings]:
        """The parameters to try: those that are listed, or the steps of the cost-complexity path."""
        if listed is not None:
            from sklearn.model_selection import ParameterGrid

            try:
                return list(ParameterGrid(listed))
            except (TypeError, ValueError) as error:
                raise InputTypeError(f"variants= lists parameters to try, as {{name: [values]}}: {error}.") from None
        training = self._training(part, seed)
        model = fitted(self.candidate, training, seed)
        name, alphas = _pruning_path(model, training)
        picked = np.unique(np.linspace(0, len(alphas) - 1, min(most, len(alphas))).round().astype(int))
        return [{name: float(alphas[i])} for i in picked]

    def _training(self, part: Part, seed: int) -> Training:
        return resampled(self.candidate.resampler, self.data.training(part.train), seed)

    def _with(self, params: Settings) -> Candidate:
        from sklearn.base import clone

        try:
            return replace(self.candidate, estimator=clone(self.candidate.estimator).set_params(**params))
        except ValueError as error:
            raise InputTypeError(f"variants= names what {self.candidate.name} lacks: {sentence(error)}") from None

    def _complexity(self, model: Estimator) -> float:
        complexity = self.complexity(model)
        if not isinstance(complexity, (int, float, np.number)):
            raise InputTypeError(f"complexity= gives a number for a fitted estimator, not {complexity!r}.")
        if math.isnan(complexity):
            raise InputTypeError(
                f"{self.candidate.name} is no tree; give complexity=, a function of the fitted estimator."
            )
        return float(complexity)


def _pruning_path(model: Estimator, training: Training) -> tuple[str, Array]:
    """The parameter that prunes a tree, or the last step of a pipeline, and its steps on the cost-complexity path."""
    steps = getattr(model, "steps", None)
    name, tree = (f"{steps[-1][0]}__ccp_alpha", steps[-1][1]) if steps else ("ccp_alpha", model)
    if not hasattr(tree, "cost_complexity_pruning_path"):
        raise InputTypeError(
            f"{type(tree).__name__} has no cost-complexity path to be pruned along; list what to try in variants=."
        )
    weights = {} if training.weight is None else {"sample_weight": training.weight}
    X = training.X
    if steps and len(steps) > 1:  # as the last step of the pipeline sees it
        X = model[:-1].transform(X)  # type: ignore[index]  # a pipeline
    path = tree.cost_complexity_pruning_path(X, training.y, **weights)
    return name, np.unique(np.maximum(path.ccp_alphas, 0))[1:]


# ---------------------------------------------------------------- select_tree


_DRAWS = 200  # of groups to set aside, until every class is on both sides
ONE_ERROR = math.erf(math.sqrt(0.5))  # the level of an interval that reaches one standard error to either side


@names_wrong_arguments
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
    several = candidates(estimator, resample, weighted=data.weight is not None)
    if len(several) > 1:
        raise InputError(
            f"select_tree chooses among the fits of one estimator, resampled in one way; {len(several)} candidates "
            "were given. Select each in turn, or list parameters to try in variants=."
        )
    spec = _checked_spec(metric, keep, most, test)
    source = generator(rng)
    member = None if groups is None else checks.column(groups, GROUPS)
    rest, unseen = _set_aside(data, test, member, source)
    plan = _plan(split, data, rest, member, source)
    seeds = source.integers(SEEDS, size=len(plan)).tolist()
    trials = Trials(several[0], data, spec, complexity or (lambda model: tree_size(model)[0]))
    failed: list[str] = []
    grown = _ended(((part, seed, {}) for part, seed in zip(plan, seeds, strict=True)), trials, failed)
    if not grown:
        raise InputError(f"Every fit failed; the first, {failed[0]}")
    defined = [trial for trial in grown if not math.isnan(trial.value)]
    if not defined:
        raise InputError(f"{spec.name} is undefined on every validation part; give larger ones, or another metric.")
    top = sorted(defined, key=lambda trial: -spec.sign * trial.value)[:keep]
    seed_of = {(part.repeat, part.fold): seed for part, seed in zip(plan, seeds, strict=True)}
    to_prune = []
    for trial in top:
        part = trial.run.part
        seed = seed_of[part.repeat, part.fold]
        to_prune += [(part, seed, params) for params in trials.variants(part, seed, variants, most)]
    pruned = _ended(to_prune, trials, failed)
    best, error, chosen = _choice([*top, *pruned], spec)
    run = trials.run(chosen.estimator, replace(chosen.run.part, test=unseen))
    evaluation = evaluate_tables(*run_values.once_each([run]), data.positive)
    return Selection(chosen, best, error, spec, Rows(grown), Rows(pruned), evaluation, unseen, tuple(failed))


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


def _choice(trials: list[Trial], spec: MetricSpec) -> tuple[Trial, float, Trial]:
    """The best, the standard error of its value, and the simplest within that error."""
    defined = [trial for trial in trials if not math.isnan(trial.value)]
    best = max(defined, key=lambda trial: (spec.sign * trial.value, -trial.complexity))
    error = _standard_error(spec, best)
    within_error = [trial for trial in defined if spec.sign * (best.value - trial.value) <= error]
    within_error = within_error or [best]  # where the error is not known
    return best, error, min(within_error, key=lambda trial: (trial.complexity, -spec.sign * trial.value))


def _checked_spec(metric: SpecLike, keep: int, most: int, test: float) -> MetricSpec:
    """The metric to choose by; what cannot be chosen by is refused, and options that are out of range."""
    for value, name in ((keep, "keep"), (most, "most")):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(argument=name, expected="a whole number of 1 or more", given=value)
    if not (isinstance(test, (int, float, np.number)) and 0 < test < 1):
        raise InputError(
            argument="test", expected="the share of the rows that no choice sees, above 0 and below 1", given=test
        )
    spec = MetricSpec.of(metric)
    if not spec.sign:
        raise InputError(f"No value of {spec.name} is best, so nothing can be chosen by it; name another.")
    return spec


def _set_aside(data: Data, test: float, member: Array | None, rng: np.random.Generator) -> tuple[Array, Array]:
    """The rows to choose with, and those to judge by: a share of the rows of each class, or of the groups."""
    if member is None:
        (part,) = HoldOut((1 - test) / test).split(data.codes, data.labels, rng)
        return part.train, part.test
    checks.check_lengths(y=data.codes, groups=member)
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


def _standard_error(spec: MetricSpec, trial: Trial) -> float:
    """How far the value may be off by the rows of its validation part: half of an interval of one standard error."""
    table = trial.run.scores if reads_scores(spec, [trial.run]) else trial.run.confusion
    if table is None:
        raise InputError(f"{spec.name} of a column of scores a class has no standard error here; name another.")
    one_error = interval(spec, table, level=ONE_ERROR)
    return float(one_error.high - one_error.low) / 2
