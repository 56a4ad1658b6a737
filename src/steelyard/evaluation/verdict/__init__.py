"""Verdict: the sentences that say what an evaluation means, each with its code."""
