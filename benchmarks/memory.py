"""Memory: the peak of a process while it works, beyond what it held before, whoever allocates it.

Linux keeps the highest resident size of a process and resets it on request, so arrays of NumPy, tensors and frames all
count. Elsewhere there is no answer.
"""

from __future__ import annotations

import ctypes
import gc
import re
from pathlib import Path
from typing import Any

PROCESS = Path("/proc/self")
MACHINE = Path("/proc/meminfo")


def peak(work: Any) -> tuple[Any, int | None]:
    """What the work gives, and the bytes it took beyond those held before it."""
    before = fresh()
    answer = work()
    after = highest()
    return answer, None if before is None or after is None else max(0, after - before)


def fresh() -> int | None:
    """Give back what is free, forget the highest size so far, and say the size now."""
    gc.collect()
    _trim()
    try:
        (PROCESS / "clear_refs").write_text("5")
    except OSError:
        return None
    return _kilobytes(PROCESS / "status", "VmRSS")


def highest() -> int | None:
    """The highest size since it was last forgotten."""
    return _kilobytes(PROCESS / "status", "VmHWM")


def available() -> int | None:
    """What the machine can still give."""
    return _kilobytes(MACHINE, "MemAvailable")


def total() -> int | None:
    return _kilobytes(MACHINE, "MemTotal")


def _trim() -> None:
    """Hand the free pages of the C library back, or they would hide as much of what is allocated next."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _kilobytes(path: Path, name: str) -> int | None:
    try:
        match = re.search(rf"^{name}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(match[1]) * 1024 if match else None
