"""Gates: evaluations and comparisons passed or failed by rules on their metrics."""
