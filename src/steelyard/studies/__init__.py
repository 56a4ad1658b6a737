"""Studies: the papers' experiments again, one a module, each with its tables, figures and claims."""

from __future__ import annotations

STUDIES = ("nguyen", "asawa", "kalita", "wu", "garcia")
