"""Thresholds: the best one, the limits that it promises to keep, its costs and the bands of its curves."""
