"""What is counted: small, sufficient, mergeable tables. NumPy only."""
