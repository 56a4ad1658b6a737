"""Chance: what a classifier without skill would get, and whether this one beats it."""
