"""Sequential analysis: intervals and evidence that hold however often one looks, and when one stops."""
