"""Drift: what changed between periods, and whether the prevalence or the classifier changed it."""
