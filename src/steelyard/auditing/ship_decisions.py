"""Ship decisions: those about the catalogue, made anew and written into the package by `make properties`."""

from __future__ import annotations

from steelyard.auditing import decisions
from steelyard.auditing.properties import decided_anew


def _main() -> None:
    """Decide every property of every metric and keep the decisions beside this module."""
    decisions.SHIPPED.write_text(decisions.decisions_json(decided_anew()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _main()
