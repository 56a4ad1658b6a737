"""Advice: the metrics that a recommendation names, why, and where that is from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from steelyard.analysis.results.formatting import listed
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import Flat
from steelyard.metrics.references import reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.metrics.metric import Metric

RELOADED = "maierhein2024"


@dataclass(frozen=True, eq=False)
class Advice(Flat):
    """One metric, why, and its source."""

    metric: str
    why: str
    cite: str | None

    def __str__(self) -> str:
        return f"{self.metric}: {self.why}" + (f" [{self.cite}]" if self.cite else "")


@dataclass(frozen=True, eq=False, repr=False)
class Recommendation(Result[Advice]):
    """The metrics to read, what to report beside them, and what to avoid, each with the property behind it.

    `differs`: where the advice of others is another.
    """

    use: tuple[Advice, ...]
    beside: tuple[str, ...]
    avoid: tuple[Advice, ...]
    differs: tuple[str, ...] = ()
    also_saved: ClassVar = ("sources",)

    def __iter__(self) -> Iterator[Advice]:
        return iter((*self.use, *self.avoid))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per metric, which says whether to use it or to avoid it."""
        return [{"advice": word} | a.row() for word, part in self._parts for a in part]

    @property
    def _parts(self) -> tuple[tuple[str, tuple[Advice, ...]], ...]:
        return ("use", self.use), ("avoid", self.avoid)

    @property
    def notes(self) -> list[str]:
        """What to report beside the metrics, and where the reasons are from."""
        beside = [f"Report beside them: {'; '.join(self.beside)}."] if self.beside else []
        others = [f"Others advise otherwise: {'; '.join(self.differs)}."] if self.differs else []
        return beside + others + [f"[{key}] {words}" for key, words in self.sources.items()]

    @property
    def headline(self) -> str:
        """Which metrics to read first."""
        return f"Read first: {listed([advice.metric for advice in self.use])}." if self.use else "No metric fits."

    @property
    def sources(self) -> dict[str, str]:
        """What the advice cites, in words, by its key."""
        cited = dict.fromkeys(advice.cite for advice in (*self.use, *self.avoid) if advice.cite)
        cited |= {RELOADED: None} if self.differs else {}
        return {key: reference(key) for key in cited}

    def __repr__(self) -> str:
        parts = {
            "Read first:": map(str, self.use),
            "Report beside them:": self.beside,
            "Not to decide by:": map(str, self.avoid),
            "Where others advise otherwise:": self.differs,
            "Sources:": (f"[{key}] {words}" for key, words in self.sources.items()),
        }
        indented = {head: [f"  {line}" for line in lines] for head, lines in parts.items()}
        return "\n".join(line for head, lines in indented.items() if lines for line in (head, *lines))


def meaning_words(metric: Metric) -> str:
    """What a metric means, as a part of a sentence."""
    return metric.meaning[:1].lower() + metric.meaning[1:].rstrip(".")
