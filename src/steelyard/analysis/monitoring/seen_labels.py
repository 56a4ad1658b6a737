"""SeenLabels: the labels of all batches so far: whether the positive one is among them, and which others there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, first_ten
from steelyard.ingest.label_overlap import lookalike_hints
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.positive_class import absent_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Label


@dataclass(eq=False)
class SeenLabels:
    """Labels in the order in which they came, and the batches in which some came after the first batch.

    >>> seen = SeenLabels()
    >>> seen.add(["fraud", "ok"], "May")
    >>> seen.add(["ok", "pending"], "June")
    >>> print(*seen.sentences("fraud"))
    All labels but 'fraud' count as negative: 'ok', 'pending'. The label 'pending' is new in June; check its rows.
    """

    labels: list[Any] = field(default_factory=list)
    late: list[tuple[Any, str]] = field(default_factory=list)
    started: bool = False

    def check(self, label: Label, present: Sequence[Label]) -> None:
        """Refuse a positive class that none of two or more labels so far is; of one alone the other may yet come."""
        labels = list(dict.fromkeys([*self.labels, *map(_plain, present)]))
        if _plain(label) not in labels and len(labels) > 1:
            raise InputError(absent_sentence(f"The positive class {label!r}", label, labels))

    def add(self, present: Iterable[Label], batch: str) -> None:
        """The labels of one batch more."""
        new = [label for label in map(_plain, present) if label not in self.labels]
        self.late += [(label, batch) for label in new if self.started]
        self.labels += new
        self.started = True

    def add_reference(self, reference: object, label: Label) -> None:
        """A positive class that occurs in the reference need not occur in the first batches."""
        table = reference if isinstance(reference, Confusion) else getattr(reference, "confusion", None)
        if label is not None and isinstance(table, Confusion) and label in table.labels:
            self.labels.append(_plain(label))

    def sentences(self, positive: Label) -> list[str]:
        """Which labels count as negative, where they are more than one, and which of them came late."""
        others = [label for label in self.labels if label != _plain(positive)]
        if positive is None or len(others) < 2:
            return []
        late = [(label, batch) for label, batch in self.late if label in others and label != others[0]]
        named = f"{first_ten(sorted(others, key=str))}"
        return [
            f"All labels but {_plain(positive)!r} count as negative: {named}.",
            *(f"The label {label!r} is new in {batch}; check its rows." for label, batch in late),
            *lookalike_hints(self.labels),
        ]

    def __add__(self, other: SeenLabels) -> SeenLabels:
        merged = [*self.labels, *(label for label in other.labels if label not in self.labels)]
        late = [*self.late, *(pair for pair in other.late if pair[0] not in self.labels)]
        return SeenLabels(merged, late, self.started or other.started)

    def saved(self) -> dict[str, Any]:
        """The labels as JSON holds them."""
        return {"labels": self.labels, "late": [list(pair) for pair in self.late], "started": self.started}


def _plain(label: Any) -> Any:
    """The label as JSON can hold it."""
    plain = label.item() if isinstance(label, np.generic) else label
    return plain if isinstance(plain, (str, int, float)) else str(plain)
