"""Tree selection: the fits that are tried, and the one chosen among them, judged on rows that no choice has seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from steelyard._types import Array
from steelyard.analysis.results.formatting import filled, three_digits
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.result_json import read, read_metric, same
from steelyard.analysis.results.rows import Rows
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol.predictions import Data, RunPredictions, predictions_of
from steelyard.protocol.resample import Training, resampled
from steelyard.protocol.run_values import RunTables
from steelyard.protocol.runs import Run, fitted, sentence
from steelyard.protocol.splits import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Estimator, Features
    from steelyard.analysis.results.result_json import Writer
    from steelyard.protocol.candidates import Candidate

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
            return _grid(listed)
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
    path = tree.cost_complexity_pruning_path(_seen_by_last_step(model, training.X), training.y, **weights)
    return name, np.unique(np.maximum(path.ccp_alphas, 0))[1:]


def _seen_by_last_step(model: Estimator, X: ArrayLike) -> ArrayLike:
    first: Any = model[:-1] if len(getattr(model, "steps", ())) > 1 else None  # type: ignore[index]  # a pipeline
    return X if first is None else first.transform(X)


def _grid(listed: VariantsLike) -> list[Settings]:
    from sklearn.model_selection import ParameterGrid

    try:
        return list(ParameterGrid(listed))
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"variants= lists parameters to try, as {{name: [values]}}: {error}.") from None
