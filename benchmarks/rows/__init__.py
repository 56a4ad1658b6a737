"""The rows of the benchmark, a module each for a kind of work."""
