"""`--anytime`: two models on the same rows, compared by all rows so far as often as one likes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.cli.inputs import Inputs, count_inputs, print_assumed
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.cli.outputs import Output

_ALONE = {"weight": "--weight", "cluster": "--cluster", "threshold": "--threshold", "label_sep": "--label-sep"}


def write_anytime(inputs: Inputs, level: float, metrics: Sequence[str] | None, output: Output) -> None:
    """The differences with their sequences, in one of the formats; which model is which on the standard error."""
    from steelyard.analysis.comparison.compare import compare
    from steelyard.report.csv_text import csv_rows

    if extra := [option for use, option in _ALONE.items() if getattr(inputs, use) is not None]:
        raise InputError(f"--anytime counts predicted labels, each row once; leave out {', '.join(extra)}.")
    if inputs.scores or inputs.class_models or (inputs.preds and len(inputs.preds) != 2):
        raise InputError("--anytime compares two models by their predicted labels; name both with --pred.")
    counted = count_inputs(replace(inputs, preds=(), pred=inputs.preds or None))
    table, models = counted.tally.paired, inputs.preds or counted.tally.models or ("the first", "the second")
    if table is None:
        raise InputError("--anytime compares two models by their predicted labels; name both with --pred.")
    found = compare(table, models, metrics=metrics, level=level, pos_label=inputs.positive, method="anytime")
    print_assumed(list(counted.assumed))
    if output.kind == "csv":
        output.write(csv_rows(found.rows.to_dicts()))
    else:
        texts = {"json": found.to_json, "md": found.to_markdown, "html": found.to_html}
        output.write(texts[output.kind]() if output.kind in texts else repr(found))
