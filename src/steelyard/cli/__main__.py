"""`python -m steelyard.cli`: the same as `steelyard`."""

from steelyard.cli import main

main()
