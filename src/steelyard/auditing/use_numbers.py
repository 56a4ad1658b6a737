"""Numbers of uses: which number some data have for each use, what stands beside it, and what is proved of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steelyard.analysis.results.formatting import listed
from steelyard.auditing.decisions import recalled_decisions
from steelyard.exceptions import InputError
from steelyard.metrics.ranking import check_probabilities
from steelyard.metrics.registry import get_metric
from steelyard.metrics.uses import USES
from steelyard.metrics.usual import PER_CLASS, PER_CLASS_OF_SCORES

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.analysis.thresholds.limits import Capacity
    from steelyard.metrics.uses import Use
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.probability_table import ProbabilityTable
    from steelyard.tables.score_table import ScoreTable

SIMILAR_SHARE = 0.4  # of the rarer of two classes: above it they are of similar size, and accuracy is a fair summary


def of_classes(name: str) -> str:
    """The written form of a metric where no class is the positive one: the mean over the classes, or its own."""
    return f"{name}[average=macro]" if name in (*PER_CLASS, *PER_CLASS_OF_SCORES) else name


class Judged(NamedTuple):
    """What a use is judged on: labels, scores, a column of scores for each class, the threshold in force."""

    table: Confusion | None
    scores: ScoreTable | None
    columns: ProbabilityTable | None
    positive: Label
    threshold: float | None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        if self.table is not None:
            return int(self.table.rows.sum())
        return 0 if self.scores is None else self.scores.n

    @property
    def is_of_classes(self) -> bool:
        """Whether there are classes of which none is the positive one."""
        return self.table is not None and self.positive is None

    def leading(self, use: Use) -> str | None:
        """The number of a use by its written form; None where there is none of these data."""
        name = use.leading(has_scores=self.scores is not None or self.columns is not None)
        if name is None:
            return None
        metric = get_metric(name)
        if (metric.function is not None and self.table is None) or (
            metric.of_probabilities and not self._has_probabilities
        ):
            return None
        return of_classes(name) if self.is_of_classes else name

    @property
    def _has_probabilities(self) -> bool:
        if self.columns is not None:
            return self.columns.first_improper is None
        return self.scores is not None and self.scores.has_probabilities

    def beside(self, use: Use, capacity: Capacity | None) -> list[str]:
        """The metrics that stand beside the number of a use, by their written forms."""
        if self.is_of_classes:
            return [of_classes(name) for name in use.beside]
        names = []
        for name in use.beside:
            metric = get_metric(name)
            of_labels = self.table is not None and metric.function is not None
            if not of_labels and (self.scores is None or metric.scores is None):
                continue
            at = self.threshold
            names.append(f"{name}[threshold={at:g}]" if name == "net_benefit" and _is_odds(at) and at != 0.5 else name)
        return names + (list(at_capacity(capacity, self.scores)) if use.name == "alerts" else [])


def check_use(use: Use | None, capacity: Capacity | None, judged: Judged) -> None:
    """Refuse a use of which the data have no number, and a capacity that no scores are ranked by."""
    if use is not None and judged.leading(use) is None:
        if use.name == "probabilities" and judged.scores is not None:
            check_probabilities("use='probabilities'", judged.scores)
        needed = {"balance": "labels, or a threshold for the scores", "ranking": "scores", "alerts": "labels or scores"}
        others = [other.name for other in USES.values() if judged.leading(other) is not None]
        way = f", or choose {listed(others, 'or')}" if others else ""
        raise InputError(f"use={use.given!r} is judged by {needed.get(use.name, 'probabilities')}; give them{way}.")
    if capacity is not None and judged.scores is None:
        raise InputError(
            "capacity= asks for the rows that score highest, and there are labels alone; give scores, or leave it out."
        )


def _is_odds(threshold: float | None) -> bool:
    return threshold is not None and 0 < threshold < 1


def at_capacity(capacity: Capacity | None, scores: ScoreTable | None) -> tuple[str, ...]:
    """The precision of the alerts that a capacity allows, and their lift, of which recall is the share of rows."""
    if capacity is None or scores is None:
        return ()
    share = capacity.alerts / capacity.rows
    return f"precision_at_k[k={max(round(share * scores.n), 1)}]", f"lift[share={share!r}]"


def why(name: str) -> str:
    """The proven properties of the number of a use, as the end of a sentence; nothing where none is known.

    >>> why("average_precision")
    'it moves with prevalence, as precision does'
    """
    name = name.partition("[")[0]
    if name == "brier_skill_score":
        return "the true probabilities would score best"  # the Brier score is proper, and its baseline does not move
    decisions, parts = recalled_decisions(get_metric(name)), []
    if (zero := decisions.get("zero_when_a_class_fails")) and zero.holds:
        parts.append("falls to 0 with either recall")
    if (stays := decisions.get("prevalence_invariance")) and stays.holds is not None:
        parts.append("stays the same at any prevalence" if stays.holds else "moves with prevalence, as precision does")
    return f"it {' and '.join(parts)}" if parts else ""
