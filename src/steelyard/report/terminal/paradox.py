"""Paradox: accuracy on an unequal test set, worked through."""

from __future__ import annotations

from steelyard.analysis.results.formatting import percent_text
from steelyard.metrics import registry
from steelyard.report.terminal.layout import paragraph, print_table
from steelyard.tables.counts import Counts


def paradox() -> str:
    """Nguyen's always-TRUE classifier on a test set of nine positives to one negative, worked."""
    counts = Counts(tp=90, fn=0, fp=10, tn=0)
    pairs = [(registry.get_metric(m.corrects), m) for m in registry.list_metrics() if m.corrects is not None]
    rows = [[percent_text(plain(counts)), percent_text(corrected(counts)), plain.name] for plain, corrected in pairs]
    alpha = registry.get_metric("unbalanced_factor")(counts)
    lesson = paragraph(
        'A classifier that always predicts "positive", tested on 90 positives and 10 negatives, knows nothing. '
        "Its accuracy suggests otherwise. Giving each negative the unbalanced factor of the test set as its weight, "
        f"alpha = 90/10 = {alpha:g} (Nguyen), shows what it is: no better than a random predictor."
    )
    return "\n".join(["", lesson, "", print_table(["as usual", "with alpha", "metric"], rows)])
