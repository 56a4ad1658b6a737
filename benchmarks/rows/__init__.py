"""The rows of the benchmark, a module each for a kind of work: its TITLE, and `rows()` that declares them."""
