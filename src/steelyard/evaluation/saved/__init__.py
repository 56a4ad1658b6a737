"""Saved: evaluations as JSON, and read back from it."""
