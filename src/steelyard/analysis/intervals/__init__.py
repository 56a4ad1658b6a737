"""Intervals: values with their confidence intervals, by draws, influence functions or closed forms."""
