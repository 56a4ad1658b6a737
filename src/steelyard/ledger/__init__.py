"""The ledger: evaluations that are kept, their history, and what changed between two of them."""
