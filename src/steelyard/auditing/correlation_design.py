"""The design of a correlation study: its metrics with the two recalls, its shares and distortions, each checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.auditing.garcia_conclusions import GARCIA_METRICS, RATES
from steelyard.auditing.perturbation import LIST_KINDS
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike

_MOST_ROWS = 100_000  # 130 tuples of so many rows take 100 MB


def chosen_with_rates(metrics: Iterable[MetricLike] | None) -> tuple[Metric, ...]:
    """The metrics, each once, García's where none is named, after the two recalls that all are compared with."""
    if isinstance(metrics, str):
        raise InputTypeError(f"Metrics are given as a list of names, not as the text {metrics!r}.")
    chosen = map(get_metric, [*RATES, *(GARCIA_METRICS if metrics is None else metrics)])
    return tuple({(m.name, m.function): m for m in chosen}.values())  # two lambdas have one name


def read_shares(positives: float | Sequence[float]) -> tuple[float, ...]:
    """The shares of positives as numbers."""
    try:
        return tuple(float(share) for share in ([positives] if isinstance(positives, (int, float)) else positives))
    except (TypeError, ValueError):
        raise InputTypeError(f"positives are shares of the rows, such as [0.05, 0.1], not {positives!r}.") from None


def check_list(shares: Sequence[float], n: int, kind: str) -> None:
    """Refuse a list of probabilities that cannot be made."""
    if kind not in LIST_KINDS:
        raise InputError(f"list_kind is one of {', '.join(LIST_KINDS)}, not {kind!r}.")
    if not (isinstance(n, (int, np.integer)) and 2 <= n <= _MOST_ROWS):
        raise InputError(f"n is the number of rows of a tuple, 2 to {_MOST_ROWS:,}, not {n!r}.")
    if not shares or not all(0 < share < 1 and 1 <= round(share * n) < n for share in shares):
        raise InputError(
            f"positives are shares above 0 and below 1 that leave rows of both classes among {n}, not {shares}."
        )


def check_distortions(total: float, threshold: float | str, **counts: tuple[object, int]) -> None:
    """Refuse distortions that cannot be drawn; each count comes with the least that it may be."""
    if not (isinstance(total, (int, float)) and 0 < total <= 2):
        raise InputError(f"total_range is the width that both distortions share, above 0 and up to 2, not {total!r}.")
    if threshold != "prior" and not (isinstance(threshold, (int, float)) and 0 <= threshold <= 1):
        raise InputError(f"threshold is a number between 0 and 1 or 'prior', not {threshold!r}.")
    for name, (given, least) in counts.items():
        if not (isinstance(given, (int, np.integer)) and given >= least):
            raise InputError(f"{name} is a whole number of {least} or more, not {given!r}.")


def check_defined(metrics: Sequence[Metric], values: Array) -> None:
    """Refuse a metric that has no value on any table."""
    never = np.isnan(values).all((0, 1, 3))
    if never.any():
        name = metrics[int(np.flatnonzero(never)[0])].name
        raise InputError(
            f"{name} is undefined on every table of the study, so it correlates with nothing; leave it out."
        )
