"""Judgement: what became of a rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Judgement:
    """What became of a rule; passed is None where the metric is undefined. Facts are for programs."""

    passed: bool | None
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)
