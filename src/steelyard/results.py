"""Results: the classes of what questions answer, for annotations."""

from __future__ import annotations

from steelyard._names import shelved

__getattr__, __dir__ = shelved("results")
