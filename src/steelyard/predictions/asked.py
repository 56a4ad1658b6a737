"""Asked: what a question looks at in the rows that it is given, and what it refuses where it cannot use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError, InputTypeError
from steelyard.predictions.predictions import holds_rows
from steelyard.tables.thresholding import TWO_THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard.predictions.predictions import Predictions


def rows_and_metric(data: Any, second: Any, metric: Any, rows: Mapping[str, Any]) -> tuple[Any, Any]:
    """The second argument of the rows, and the metric, which may stand after the rows: (p, "f1") and (y, s, "f1")."""
    if second is None or not holds_rows(data, rows):
        return second, metric
    if metric is not None:
        raise InputTypeError("metric was given twice, by its place and by its name; give it once.")
    return None, second


def refuse_unused(p: Predictions, who: str, *uses: str) -> None:
    """Refuse what a question cannot use of its rows, where that would change its numbers or was asked for in the call.

    Weights, frequencies, clusters and a design change numbers, whether they were given in the call or carried; groups,
    a threshold and columns do not, and are ignored where they are carried.
    """
    given = p.given
    there = {
        "weights": given.sample_weight is not None,
        "frequency": given.frequency is not None,
        "cluster": given.cluster is not None,
        "design": not (isinstance(given.design, str) and given.design == "random"),
        **{name: getattr(given, name) is not None and name in given.in_call for name in ("by", "threshold")},
        "columns": "columns" in given.in_call and not given.reads_columns,
    }
    for use in uses:
        if there[use]:
            keyword = ("weight" if given.is_frame else "sample_weight") if use == "weights" else use
            out = "" if keyword in given.in_call else f", or leave it out by predictions.with_options({keyword}=None)"
            raise InputTypeError(f"{keyword}= has no place in {who}: {_UNUSED[use]}{out}.", argument=keyword)


def refuse_bins(p: Predictions, who: str) -> None:
    """Refuse bins= without groups that it divides, where a question has bins of its own."""
    if p.given.bins is not None and p.given.by is None:
        raise InputTypeError(f"{who} takes n_bins= in place of bins=; bins= divides a column of by=.")


def check_rows(p: Predictions, who: str) -> None:
    """Refuse rows that are counted already, that may have several labels each, or without a truth or a model."""
    if p.given.is_table:
        raise InputError(f"These rows are counted, and {who} reads them one by one; give the rows.")
    if p.are_sets:
        raise InputError(
            f"{who} takes one label for each row, and these rows may have several; give the columns of one label."
        )
    if not p.has_truth:
        raise InputTypeError(f"These rows have no truth, which {who} needs; give y_true, or of a frame true=.")
    if p.given.model.pred is not None and p.given.threshold is not None:
        raise InputError(TWO_THRESHOLDS)
    if all(each is None for each in p.given.model):
        raise InputTypeError(
            f"{who} needs labels or scores beside the truth: y_pred= or y_score=, of a frame pred= or score=."
        )


_UNUSED = {
    "weights": "it counts rows, each once; give the rows without weights",
    "frequency": "it counts rows, each once; repeat the rows",
    "cluster": "it takes the rows as independent; evaluate, compare and interval allow for clusters",
    "design": "it takes the rows as drawn at random; evaluate and interval allow for a design",
    "by": "it gives one result; evaluate takes by=, or give it the rows of one group",
    "threshold": "it reads the scores themselves; leave it out",
    "columns": "it reads no other columns; leave them out",
}
