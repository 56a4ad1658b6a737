"""Shipping: the decisions about the catalogue, made anew and written into the package by `make properties`."""

from __future__ import annotations

from steelyard.auditing import cache
from steelyard.auditing.properties import decided_anew


def main() -> None:
    """Decide every property of every measure and keep the decisions beside this module."""
    cache.SHIPPED.write_text(cache.written(decided_anew()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
