"""Inputs: labels, scores and weights in, tables out. The only place that validates."""
