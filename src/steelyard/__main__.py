"""`python -m steelyard` is the command line."""

from steelyard.cli import main

if __name__ == "__main__":
    main()
