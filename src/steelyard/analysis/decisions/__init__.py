"""Decisions of many classes: thresholds of the classes, costs, deployment shares and rows sent to a person."""
