"""The evaluation: every question asked of one set of predictions together, words first."""
