"""The decision sentence: a threshold in whole rows, what its errors cost there, and the limits that it keeps.

The page's script writes it again at every entry, from the same phrases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.denominator import denominator
from steelyard.analysis.results.formatting import percent_text, three_digits
from steelyard.analysis.thresholds.limits import Capacity, rate_limit, read_limits
from steelyard.evaluation.verdict import sentences
from steelyard.metrics.registry import get_metrics

if TYPE_CHECKING:
    from steelyard.analysis.thresholds.best_threshold import BestThreshold, KeptLimit
    from steelyard.tables.counts import Counts
    from steelyard.tables.score_table import ScoreTable

RULES = {
    "threshold": "At threshold {threshold}",
    "nobody": "With nobody flagged",
    "everybody": "With everybody flagged",
}
# What is said of no row, of one, of more, and of fewer than one.
DECISION_PARTS = {
    "flagged": ("none is flagged", "1 is flagged", "{n} are flagged", "fewer than 1 is flagged"),
    "found": (
        "none of {all} positives is found",
        "1 of {all} positives is found",
        "{n} of {all} positives are found",
        "fewer than 1 of {all} positives is found",
    ),
    "false_alarms": sentences.PARTS["false_alarms"],
}
FRAMES = {
    "threshold": "{rule}, {rows}, {flagged}: {found} and {false_alarms}.",
    "nobody": "{rule}, {rows}, {found}.",
    "everybody": "{rule}, {rows}, {found} and {false_alarms}.",
}
COST = (
    "Where a miss costs as much as {ratio}, the expected cost is that of {cost} false alarms per {base} rows "
    "({nobody} with nobody flagged, {everybody} with everybody flagged)."
)
RATIO = ("1 false alarm", "{n} false alarms")
LEAST = ("recall", "specificity", "precision", "negative_predictive_value")  # a least value of which can be asked for
TITLES = {metric.name: metric.title.lower() for metric in get_metrics(LEAST)}
LIMIT_LEAST = "{title} is at least {bound}"
LIMIT_MOST = "a day of {rows} rows has at most {alerts} alerts"
PROMISED = ("{limits} with {confidence} confidence.", "{limits}, together with {confidence} confidence.")
HERE = "{title} is {value} (at least {bound} is asked{chance})"
HERE_ALERTS = "a day of {rows} rows has {value} alerts on average (at most {alerts} are asked{chance})"
LIMIT_CHANCE = "; new rows keep it with a chance of about {chance}"


def decision_rows(*, planned: bool = False) -> dict[str, str]:
    """Of which rows a sentence is, after a comma."""
    return {key: text[0].lower() + text[1:] for key, text in sentences.starts(planned=planned).items()}


def decision_sentence(
    best: BestThreshold,
    table: ScoreTable,
    cost: float,
    prevalence: float | None,
    *,
    planned: bool = False,
    base: int | None = None,
) -> str:
    """The best threshold at which a miss costs so many false alarms, in a sentence or three to pass on.

    `base` is the denominator of the result that it is part of; by default it is its own.

    >>> from steelyard import best_threshold
    >>> from steelyard.tables.array_tables import score_table
    >>> table = score_table([0] * 8 + [1] * 2, [0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.6, 0.5, 0.8])
    >>> best = best_threshold(table, cost={"cost_fn": 3}, draws=0)
    >>> print(decision_sentence(best, table, 3, None).split(". ")[0])
    At threshold 0.450, of these 10 rows, 3 are flagged: 2 of 2 positives are found and 1 is a false alarm
    """
    counts = best.counts if prevalence is None else at_prevalence(best.counts, prevalence)
    base = base or denominator(float(counts.positives / counts.total), _own_rows(table, prevalence))
    whole = sentences.whole_outcomes(counts, base)
    limits = _limits(best, table, prevalence)
    return " ".join([_outcome(best, table, whole, prevalence, planned), _cost(counts, cost, whole.base), *limits])


def _own_rows(table: ScoreTable, prevalence: float | None) -> int | None:
    """The rows themselves, where a sentence may speak of them."""
    return None if table.weighted or prevalence is not None else table.n


def _outcome(
    best: BestThreshold, table: ScoreTable, whole: sentences.Outcomes, prevalence: float | None, planned: bool
) -> str:
    rows = "these" if whole.base == _own_rows(table, prevalence) else "like"
    rows = "prevalence" if prevalence is not None else "weighted" if table.weighted else rows
    share = "" if prevalence is None else percent_text(prevalence)
    flagged, left = best.counts.predicted_positives, best.counts.predicted_negatives
    rule = "nobody" if not flagged else "threshold" if left else "everybody"
    return FRAMES[rule].format(
        rule=RULES[rule].format(threshold=three_digits(float(best.threshold))),
        rows=decision_rows(planned=planned)[rows].format(base=f"{whole.base:,}", share=share),
        flagged=_part("flagged", whole.flagged, whole),
        found=_part("found", whole.found, whole),
        false_alarms=_part("false_alarms", whole.false_alarms, whole),
    )


def _part(key: str, n: int, whole: sentences.Outcomes) -> str:
    return whole.phrase(key, DECISION_PARTS[key]).format(n=f"{n:,}", all=f"{whole.positives:,}")


def _cost(counts: Counts, cost: float, base: int) -> str:
    total = float(counts.total)
    amounts = {
        "cost": cost * float(counts.fn) + float(counts.fp),
        "nobody": cost * float(counts.positives),
        "everybody": float(counts.negatives),
    }
    shown = {}
    for key, amount in amounts.items():
        per_base = float(amount / total * base)
        shown[key] = f"{per_base:,.0f}" if per_base >= 1e6 else three_digits(per_base)
    one, more = RATIO
    ratio = one if cost == 1 else more.format(n=f"{cost:,.10g}")
    return COST.format(ratio=ratio, base=f"{base:,}", **shown)


def _limits(best: BestThreshold, table: ScoreTable, prevalence: float | None) -> list[str]:
    """What is guaranteed, in one sentence, or what each limit is here."""
    if not best.limits:
        return []
    if (confidence := best.limits[0].confidence) is not None:
        words = " and ".join(_least(kept) for kept in best.limits)
        one, several = PROMISED
        frame = several if len(best.limits) > 1 else one
        return [_capitalised(frame.format(limits=words, confidence=f"{100 * confidence:g} %"))]
    return [_capitalised("; ".join(_here(kept, best, table, prevalence) for kept in best.limits) + ".")]


def _least(kept: KeptLimit) -> str:
    (limit,) = read_limits(kept.limit)
    if isinstance(limit, Capacity):
        return LIMIT_MOST.format(rows=f"{limit.rows:,}", alerts=f"{limit.alerts:,}")
    return LIMIT_LEAST.format(title=TITLES[limit.metric.name], bound=f"{100 * limit.bound:.10g} %")


def _here(kept: KeptLimit, best: BestThreshold, table: ScoreTable, prevalence: float | None) -> str:
    (limit,) = read_limits(kept.limit)
    known = kept.chance is not None and not best.trivial and _is_exact(kept, table, prevalence)
    chance = LIMIT_CHANCE.format(chance=f"{100 * kept.chance:.0f} %") if known and kept.chance is not None else ""
    if isinstance(limit, Capacity):
        value = three_digits(float(kept.value * limit.rows))
        return HERE_ALERTS.format(rows=f"{limit.rows:,}", alerts=f"{limit.alerts:,}", value=value, chance=chance)
    title, bound = TITLES[limit.metric.name], f"{100 * limit.bound:.10g} %"
    return HERE.format(title=title, bound=bound, value=percent_text(kept.value), chance=chance)


def _is_exact(kept: KeptLimit, table: ScoreTable, prevalence: float | None) -> bool:
    """Whether the chance that new rows keep a limit is an exact tail, and so one that a page can state."""
    (limit,) = read_limits(kept.limit)
    rate = rate_limit(limit)
    if table.weighted or rate is None:
        return False
    return bool(rate.part.is_of_class or (prevalence is None and np.isfinite(kept.value)))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
