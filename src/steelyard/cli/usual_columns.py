"""Usual columns: the columns that a command line does not name, found by their usual names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.inputs import Inputs
    from steelyard.ingest.source import Source

_USUAL_NAMES = {
    "true": ("y_true", "true", "truth", "true_label", "label", "target", "actual", "class", "y"),
    "pred": ("y_pred", "pred", "prediction", "predicted", "predicted_label", "y_hat", "yhat"),
    "score": ("y_score", "score", "scores", "probability", "prob", "proba", "y_prob", "y_proba", "p"),
}


def guess_columns(source: Source, inputs: Inputs, *, scores: bool = False) -> tuple[Inputs, list[str]]:
    """The columns as named; those of truth and prediction that were not are looked for by their usual names."""
    columns = {name.lower(): name for name in source.parts[0].collect_schema().names()}
    guesses: list[str] = []
    for use in _unnamed(inputs, scores):
        column = next((columns[name] for name in _USUAL_NAMES[use] if name in columns), None)
        if column is not None and getattr(inputs, use) is None:
            kind = _kind_of(source, column, use, inputs)
            names: dict[str, Any] = {kind: column}
            inputs = replace(inputs, **names)
            guesses.append(f"--{kind} {column}")
    if inputs.true is None:
        raise InputError(f"Which column holds the truth is not clear; name it with --true, of {_listed(columns)}.")
    if not inputs.pred and not inputs.score:
        if scores:
            raise InputError(f"Scores are needed; name their column with --score, of {_listed(columns)}.")
        raise InputError(f"Name the predictions with --pred or --score; the columns are {_listed(columns)}.")
    return inputs, [f"Columns were taken by their names: {', '.join(guesses)}."] if guesses else []


def guess_score(source: Source) -> tuple[str, list[str]]:
    """The column of scores of rows without truth by its usual names, and that it was taken so."""
    columns = {name.lower(): name for name in source.parts[0].collect_schema().names()}
    column = next((columns[name] for name in _USUAL_NAMES["score"] if name in columns), None)
    if column is None:
        raise InputError(f"Scores are needed; name their column with --score, of {_listed(columns)}.")
    return column, [f"Columns were taken by their names: --score {column}."]


def _unnamed(inputs: Inputs, scores: bool) -> tuple[str, ...]:
    """The uses for which a column may have to be found by its name."""
    if inputs.pred or inputs.score:
        return ("true",)
    return ("true", "score") if scores else ("true", "pred", "score")


def _kind_of(source: Source, column: str, use: str, inputs: Inputs) -> str:
    """What a column found by its name is for: predictions that are fractions are scores, whatever they are called."""
    from steelyard.ingest.queries import has_fractions

    return "score" if use == "pred" and not inputs.score and has_fractions(source, column) else use


def _listed(names: dict[str, str]) -> str:
    shown = ", ".join(list(names.values())[:12])
    return f"{shown} and {len(names) - 12} more" if len(names) > 12 else shown
