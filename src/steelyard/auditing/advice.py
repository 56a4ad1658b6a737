"""Advice: the metrics that a recommendation names, why, and where that is from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard.analysis.rows import Flat
from steelyard.metrics.references import reference


@dataclass(frozen=True, eq=False)
class Advice(Flat):
    """One metric, why, and its source."""

    metric: str
    why: str
    cite: str | None

    def __str__(self) -> str:
        return f"{self.metric}: {self.why}" + (f" [{self.cite}]" if self.cite else "")


@dataclass(frozen=True)
class Recommendation:
    """The metrics to read, what to report beside them, and what to avoid, each with the property behind it."""

    use: tuple[Advice, ...]
    beside: tuple[str, ...]
    avoid: tuple[Advice, ...]

    @property
    def sources(self) -> dict[str, str]:
        """What the advice cites, in words, by its key."""
        cited = dict.fromkeys(advice.cite for advice in (*self.use, *self.avoid) if advice.cite)
        return {key: reference(key) for key in cited}

    def __repr__(self) -> str:
        parts = {
            "Read first:": map(str, self.use),
            "Report beside them:": self.beside,
            "Not to decide by:": map(str, self.avoid),
            "Sources:": (f"[{key}] {words}" for key, words in self.sources.items()),
        }
        indented = {head: [f"  {line}" for line in lines] for head, lines in parts.items()}
        return "\n".join(line for head, lines in indented.items() if lines for line in (head, *lines))

    def to_dict(self) -> dict[str, Any]:
        """The recommendation as plain values."""
        return {
            "use": [a.row() for a in self.use],
            "beside": list(self.beside),
            "avoid": [a.row() for a in self.avoid],
            "sources": self.sources,
        }
