"""What is weighed: small, sufficient, mergeable tables. NumPy only."""
