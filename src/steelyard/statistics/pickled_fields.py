"""PickledFields: a table that is pickled and copied by its fields, without what was computed of them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class PickledFields:
    """A dataclass whose cached properties are computed anew after it was pickled or copied.

    Some of them go by functions, which pickle cannot all name, and sorted copies would multiply what is sent.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]  # a dataclass is
