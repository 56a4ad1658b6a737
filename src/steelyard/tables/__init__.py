"""Tables: rows counted into small tables that merge with +, and these tables by name."""

from __future__ import annotations

from steelyard._names import shelved

__getattr__, __dir__ = shelved("tables")
