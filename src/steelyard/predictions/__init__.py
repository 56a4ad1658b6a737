"""Predictions: rows with their truth and what one or more models made of them, read, checked and counted once.

Arrays, tensors, frames of any engine, files, folders and saved tables are read here, for every question, and nowhere
else. A question takes a Predictions, or what makes one, by `Predictions.of`.
"""

from steelyard.predictions.asked import check_rows, refuse_bins, refuse_unused, rows_and_metric
from steelyard.predictions.frames import Files
from steelyard.predictions.given import Given, Model
from steelyard.predictions.options import RowOptions, RowsLike, question
from steelyard.predictions.predictions import Predictions, names_columns, saved_content
from steelyard.predictions.tables import TABLES

__all__ = [
    "TABLES",
    "Files",
    "Given",
    "Model",
    "Predictions",
    "RowOptions",
    "RowsLike",
    "check_rows",
    "names_columns",
    "question",
    "refuse_bins",
    "refuse_unused",
    "rows_and_metric",
    "saved_content",
]
