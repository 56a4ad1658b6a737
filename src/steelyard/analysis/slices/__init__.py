"""Slices: for which rows a classifier is worse than elsewhere, with false discoveries controlled."""
