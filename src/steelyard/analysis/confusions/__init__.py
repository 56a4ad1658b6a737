"""Confusions: which classes a table mixes up, and the order in which that is seen."""
