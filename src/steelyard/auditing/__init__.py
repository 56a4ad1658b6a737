"""Measures of the measures: what holds for a formula, proved or refuted, how measures relate, and which to trust."""
