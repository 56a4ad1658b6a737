"""Comparison: whether one model really beats another, on the same rows or on different ones."""
