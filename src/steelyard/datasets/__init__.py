"""Data to try things on: loaders and small embedded examples."""
