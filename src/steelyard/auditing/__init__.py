"""Metrics of the metrics: what holds for a formula, proved or refuted, how metrics relate, and which to trust."""
