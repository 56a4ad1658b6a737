"""The next command: what to try after a report, written so that it can be copied."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from steelyard.files.folders import STDIN

if TYPE_CHECKING:
    from steelyard.cli.inputs import Inputs
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.frames.source import ColumnNames

_PAGE = ("-o", "page.html")
_COLUMNS = ("true", "pred", "score", "scores", "label_sep", "weight", "frequency", "design")


def next_command(inputs: Inputs, evaluation: Evaluation) -> tuple[str, str] | None:
    """What the next command does, and the command; None where the input was read from a pipe and is gone."""
    if STDIN in inputs.files:
        return None
    scored = getattr(evaluation, "scores", None) is not None and bool(evaluation.columns)
    words = ["steelyard", "threshold" if scored else "report", *inputs.files]
    words += [] if inputs.counts is None else ["--counts", inputs.counts]
    uses = [use for use in _COLUMNS if not (scored and use == "pred")]  # the threshold is that of the scores alone
    for use in uses:
        if isinstance(column := evaluation.columns.get(use), str) and inputs.files:
            words += [f"--{'score' if use == 'scores' else use.replace('_', '-')}", column]
    words += [] if inputs.long is None else ["--long", ",".join(inputs.long)]
    words += [] if inputs.filter is None else ["--filter", inputs.filter]
    words += [] if inputs.labels is None else ["--labels", inputs.labels]
    words += [] if inputs.pos_label is None else ["--pos-label", str(inputs.pos_label)]
    words += [] if scored else _PAGE
    return "finds the best threshold" if scored else "writes the page", shlex.join(words)


def counts_command(columns: ColumnNames, threshold: float | None) -> str:
    """The command that reads what a counting query gave; two models are compared, over all groups."""
    pair = len(columns.pred) > 1
    words = ["steelyard", "compare" if pair else "report", "counts.csv", "--true", columns.true]
    uses = {"pred": columns.pred, "score": (columns.score,), "weight": (columns.weight,), "by": columns.by}
    for use, names in uses.items():
        words += [word for name in names if name and not (pair and use == "by") for word in (f"--{use}", name)]
    return shlex.join([*words, *([] if threshold is None else ["--threshold", f"{threshold!r}"])])
