"""The parts of the works of the benchmark of a GPU: the times of each, and a profile of evaluate."""

from __future__ import annotations

import cProfile
import pstats
import sys

import steelyard
from benchmarks.gpu_clock import Clock, rows_of


def explain(clock: Clock, n: int, many: int) -> None:
    """Print the times of the parts of the works, and a profile of evaluate."""
    for share in (0.01, 0.5):
        _explain(clock, n, share)
    truth, scores = rows_of(clock.torch, clock.device, many, 0.5)
    for _ in range(2):
        profile = cProfile.Profile()
        profile.runcall(steelyard.evaluate, truth, y_score=scores)
    for order in ("tottime", "cumtime"):
        pstats.Stats(profile, stream=sys.stdout).sort_stats(order).print_stats(45)


def _explain(clock: Clock, n: int, share: float) -> None:
    torch = clock.torch
    truth, scores = rows_of(torch, clock.device, n, share)
    mask = truth != 0
    own = scores[mask]
    distinct, counted = torch.unique(scores, return_counts=True)
    few, _ = torch.unique(own, return_counts=True)
    print(f"{n:.0e} rows, {share:.0%}: {len(distinct):,} distinct scores, {len(few):,} of the positives")
    parts = {
        "torch.sort": lambda: torch.sort(scores),
        "torch.unique with counts": lambda: torch.unique(scores, return_counts=True),
        "unique of the positives": lambda: torch.unique(own, return_counts=True),
        "aminmax of labels": truth.aminmax,
        "aminmax of scores": scores.aminmax,
        "labels != 0": lambda: truth != 0,
        "scores[mask]": lambda: scores[mask],
        "cumsum of counts": lambda: counted.cumsum(0),
        "searchsorted of the positives": lambda: torch.searchsorted(distinct, few),
        "sum of labels": truth.sum,
    }
    for name, work in parts.items():
        print(f"  {name:<32}{clock.seconds(work, 3) * 1e3:9.2f} ms", flush=True)
