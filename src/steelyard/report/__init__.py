"""Results shown: rows in, words and pictures out. Nothing here computes a metric."""
