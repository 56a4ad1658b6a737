"""Calibration: whether probabilities are what they say."""
