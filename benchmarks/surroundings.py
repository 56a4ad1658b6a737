"""Surroundings of a run: the date, the machine as its system names it, and the versions of what is compared."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from importlib import import_module, metadata
from pathlib import Path

from benchmarks import memory

PEERS = {
    "scikit-learn": "sklearn.metrics", "imbalanced-learn": "imblearn.metrics", "pycm": "pycm",
    "torchmetrics": "torchmetrics", "confidenceinterval": "confidenceinterval", "mmu": "mmu", "rapidstats": "rapidstats",
    "polars": "polars",
}  # fmt: skip
OTHERS = {
    "steelyard": "steelyard", "numpy": "numpy", "scipy": "scipy.stats", "torch": "torch", "pyarrow": "pyarrow.parquet",
    "duckdb": "duckdb", "dask": "dask", "pyspark": "pyspark",
}  # fmt: skip
QUIET = 0.5  # a load above this many waiting processes disturbs a run of all cores


def loaded() -> None:
    """Import all that is there, so that the children need not."""
    for name in (PEERS | OTHERS).values():
        try:
            import_module(name)
        except ImportError:
            continue  # its rows say so


def version(name: str) -> str:
    """The version installed, or that there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def missing() -> list[str]:
    return [name for name in PEERS if version(name) == "not installed"]


def load() -> float | None:
    """The mean number of processes that wanted a core in the last minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """The model as the system names it."""
    info = Path("/proc/cpuinfo")
    match = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE) if info.exists() else None
    return match[1].strip() if match else platform.processor() or platform.machine()


def told(load_at_start: float | None) -> str:
    """The paragraph that says where a run was made."""
    size = memory.total()
    parts = [
        f"{cores()} cores of {processor()}",
        f"{size / 2**30:.0f} GiB of memory" if size else "",
        platform.system(),
    ]
    parts.append("" if load_at_start is None else f"load {load_at_start:.2f} at the start")
    day = datetime.now(UTC).date().isoformat()
    return f"{day}, {', '.join(filter(None, parts))}. Python {platform.python_version()}."


def versions() -> list[tuple[str, str]]:
    return [(name, version(name)) for name in (*PEERS, *OTHERS)]
