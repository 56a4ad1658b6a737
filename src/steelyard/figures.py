"""Figures: every Display, `plot`, which makes one by a word, and bands of curves."""

from __future__ import annotations

from steelyard._names import shelved

__getattr__, __dir__ = shelved("figures")
