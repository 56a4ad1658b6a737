"""Speed beside the peers: each row checks that both give the same answer, then times both in one run.

`make bench` prints the rows; `make bench ROWS=auc` only those whose name holds that word. Each module of `rows` has a
function `rows(wanted)` that yields (what, peer, ours, theirs, aim): ours and theirs are functions without arguments,
the aim is the ratio theirs / ours to reach.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))


def seconds(work, *, at_least=0.2, repeats=7):
    """The best of several runs, each long enough to measure."""
    start = time.perf_counter()
    work()
    once = time.perf_counter() - start
    if once > 2:
        return once
    loops = max(1, int(at_least / repeats / max(once, 1e-7)))
    best = once
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(loops):
            work()
        best = min(best, (time.perf_counter() - start) / loops)
    return best


def same(ours, theirs):
    """Equal to 1e-9, whatever the shape."""
    return np.allclose(np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float), rtol=1e-9, equal_nan=True)


def main():
    """Run every row of every module of this folder, and say which misses its bar."""
    wanted = os.environ.get("ROWS", "")
    print(f"{'work':58} {'ours':>10} {'theirs':>10} {'ratio':>8} {'aim':>7}")
    missed = differ = 0
    for module in pkgutil.iter_modules([str(Path(__file__).parent / "rows")]):
        for what, peer, ours, theirs, aim in importlib.import_module(f"benchmarks.rows.{module.name}").rows(wanted):
            if not same(ours(), theirs()):
                print(f"{what:58} differs from {peer}")
                differ += 1
                continue
            a, b = seconds(ours), seconds(theirs)
            mark = "" if b / a >= aim else "  below the aim"
            missed += bool(mark)
            print(f"{what + ' / ' + peer:58} {a * 1e3:8.3f}ms {b * 1e3:8.1f}ms {b / a:7.1f}x {aim:6g}x{mark}")
    print(f"{missed} rows below their aim" if missed else "every row reaches its aim")
    return bool(differ)  # an answer that differs is a fault; a ratio is only shown


if __name__ == "__main__":
    sys.exit(main())
