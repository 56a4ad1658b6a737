"""MLflow runs: an evaluation written into a run of MLflow, and read back from it."""

from __future__ import annotations

import json
import math
import re
from contextlib import nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from steelyard._names import __version__
from steelyard.analysis.results.result_json import parsed
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, InputTypeError, MissingLibraryError
from steelyard.ledger.entries import report_digest
from steelyard.report.figures.confusion import ConfusionDisplay
from steelyard.report.figures.forest import IntervalDisplay
from steelyard.report.figures.precision_recall import PrecisionRecallDisplay
from steelyard.report.figures.reliability import ReliabilityDisplay
from steelyard.report.figures.roc import RocDisplay
from steelyard.written_files import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from steelyard.report.figures.display import EvaluationDisplay

_FOLDER = "steelyard"
_JSON, _PAGE = f"{_FOLDER}/evaluation.json", f"{_FOLDER}/page.html"
_NOT_ALLOWED = re.compile(r"[^\w\-. /]+", re.ASCII)  # in the name of a metric
_FIGURES: dict[str, type[EvaluationDisplay]] = {
    "confusion": ConfusionDisplay,
    "intervals": IntervalDisplay,
    "roc": RocDisplay,
    "precision-recall": PrecisionRecallDisplay,
    "reliability": ReliabilityDisplay,
}


def log_evaluation_run(evaluation: Evaluation, *, run_id: str | None = None) -> str:
    """Write an evaluation into the active run of MLflow, the one that is named, or a new one; returns the run's id.

    Each metric's value is a metric of the run, and the ends of its interval are `recall.low` and `recall.high`. The
    positive class, the threshold, the rows and the digest are tags. The page, the figures where Matplotlib is
    installed, and the JSON that is read back are artifacts.
    """
    if not isinstance(evaluation, Evaluation):
        raise InputTypeError(f"MLflow takes what evaluate() returns, an Evaluation, not {type(evaluation).__name__}.")
    mlflow = _mlflow()
    with _run(mlflow, run_id) as run:
        identity = str(run.info.run_id)
        mlflow.log_metrics(run_metrics(evaluation), run_id=identity)
        for name, text in _tags(evaluation).items():
            mlflow.MlflowClient().set_tag(identity, name, text)
        mlflow.log_text(evaluation.to_json(indent=1), _JSON, run_id=identity)
        mlflow.log_text(evaluation.to_html(), _PAGE, run_id=identity)
        with temporary_folder() as folder:
            for path in _figures(evaluation, folder):
                mlflow.log_artifact(str(path), _FOLDER, run_id=identity)
    return identity


def read_evaluation_run(run_id: str) -> Evaluation:
    """The evaluation that `steelyard.mlflow.log` wrote into a run of MLflow."""
    mlflow = _mlflow()
    try:
        text = mlflow.artifacts.load_text(f"runs:/{run_id}/{_JSON}")
    except (mlflow.MlflowException, OSError):
        raise InputError(
            f"The run {run_id!r} of MLflow holds no evaluation; steelyard.mlflow.log writes one."
        ) from None
    return Evaluation.from_json(parsed(text))


def _mlflow() -> Any:
    try:
        import mlflow
    except ImportError:
        raise MissingLibraryError("MLflow is not installed; run pip install 'steelyard[mlflow]'.") from None
    return mlflow


def _run(mlflow: Any, run_id: str | None) -> AbstractContextManager[Any]:
    """The run that is named, the active one, or a new one that ends with the block."""
    if run_id is not None:
        return nullcontext(mlflow.get_run(run_id))
    active = mlflow.active_run()
    run: AbstractContextManager[Any] = mlflow.start_run() if active is None else nullcontext(active)
    return run


def run_metrics(evaluation: Evaluation) -> dict[str, float]:
    """The numbers that are defined, under names that MLflow allows.

    >>> from steelyard import Counts, evaluate
    >>> found = run_metrics(evaluate(Counts(tp=28, fn=23, fp=72, tn=2680), metrics=["recall", "f_beta[beta=2]"]))
    >>> print(", ".join(found))
    recall, recall.low, recall.high, f_beta_beta_2, f_beta_beta_2.low, f_beta_beta_2.high
    """
    numbers: dict[str, float] = {}
    for row in evaluation:
        name = _NOT_ALLOWED.sub("_", row.name).strip("_")
        ends = {name: row.value, f"{name}.low": row.low, f"{name}.high": row.high}
        numbers |= {key: float(end) for key, end in ends.items() if math.isfinite(end) and key not in numbers}
    return numbers


def _tags(evaluation: Evaluation) -> dict[str, str]:
    facts = {
        "version": __version__,
        "digest": report_digest(json.loads(evaluation.to_json())),
        "rows": evaluation.rows,
        "level": evaluation.level,
        "threshold": evaluation.threshold,
        "positive": getattr(evaluation, "positive", None),
        "source": evaluation.source,
    }
    return {f"steelyard.{name}": str(value) for name, value in facts.items() if value is not None}


def _figures(evaluation: Evaluation, folder: Path) -> Iterator[Path]:
    """The files of all figures that this evaluation has; none where Matplotlib is not installed."""
    if find_spec("matplotlib") is None or evaluation.per_label:
        return
    for name, display in _FIGURES.items():
        try:
            drawn = display.from_evaluation(evaluation)
        except (InputError, InputTypeError):  # one of scores where there are none, or of one class where there are many
            continue
        yield drawn.save(folder / f"{name}.png")
