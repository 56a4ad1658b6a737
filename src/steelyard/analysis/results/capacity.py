"""The capacity: how many alerts can be looked at, of how many rows."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

import numpy as np

from steelyard.exceptions import InputError, InputTypeError

CapacityLike: TypeAlias = "int | str | AlertCapacity"  # 200, or "200 of 10000"
_NUMBER = r"(\d[\d,_]*)"
_WRITTEN = re.compile(rf"\s*{_NUMBER}(?:\s+of\s+{_NUMBER})?(?:\s+rows)?\s*")


class AlertCapacity(NamedTuple):
    """So many alerts of so many rows; of the rows at hand where `rows` is None."""

    alerts: int
    rows: int | None = None

    @classmethod
    def read(cls, given: CapacityLike) -> AlertCapacity:
        """The capacity as it is written.

        >>> AlertCapacity.read("200 of 10,000"), AlertCapacity.read(200)
        (AlertCapacity(alerts=200, rows=10000), AlertCapacity(alerts=200, rows=None))
        """
        if isinstance(given, AlertCapacity):
            return given
        is_whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
        found = _WRITTEN.fullmatch(str(given)) if is_whole or isinstance(given, str) else None
        if found is None:
            do = "write 200, or '200 of 10000'"
            raise InputTypeError(argument="capacity", expected="how many alerts can be looked at", given=given, do=do)
        alerts, rows = (None if part is None else int(re.sub("[,_]", "", part)) for part in found.groups())
        if not alerts:
            raise InputError(argument="capacity", expected="1 alert or more", given=given)
        capacity = cls(alerts, rows)
        capacity.of(alerts if rows is None else rows)
        return capacity

    def of(self, rows: int) -> tuple[int, int]:
        """The alerts, and of how many rows: of those at hand, unless others are stated."""
        of = rows if self.rows is None else self.rows
        if self.alerts > of:
            raise InputError(f"Alerts are some of the rows, and so at most as many, not {self.alerts:,} of {of:,}.")
        return self.alerts, of
