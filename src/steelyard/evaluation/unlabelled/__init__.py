"""Unlabelled rows: what a classifier does where labels are missing, by its scores there and a labelled reference."""
