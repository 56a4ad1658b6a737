"""Figures: the library's numbers drawn for papers, each with its rows and its caption; `plot` makes one by name."""

from steelyard.report.figures.figure_kinds import FIGURE_KINDS, VIEWS, display_of, plot

__all__ = ["FIGURE_KINDS", "VIEWS", "display_of", "plot"]
