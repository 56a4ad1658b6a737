"""How often the menu's intervals of precision and recall hold the population's values at the thresholds that it found.

Scores are those of `coverage_thresholds`: normal, heavy-tailed or rounded to ties, with few rows or few positives.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.coverage_thresholds import World
from steelyard import __version__, operating_points

if TYPE_CHECKING:
    from collections.abc import Iterator

WORLDS = {
    "small: 200 rows, 30 % positive": World("normal", 200, 0.3, 1.5),
    "few positives: 400 rows, 5 %": World("normal", 400, 0.05, 2.0),
    "rare: 3,000 rows, 1 %": World("normal", 3_000, 0.01, 2.0),
    "ties: 600 rows, 10 %": World("tied", 600, 0.1, 1.5),
    "heavy tails: 1,000 rows, 5 %": World("heavy-tailed", 1_000, 0.05, 2.0),
}


def rows(repeats: int = 1_000) -> Iterator[tuple[str, dict[str, float]]]:
    """The coverage of both rates at each point, by world, of the runs whose menu has it."""
    rng = np.random.default_rng(zlib.crc32(__version__.encode()))
    for text, world in WORLDS.items():
        for prevalence in (None, 0.02) if world.kind == "normal" else (None,):
            held: dict[str, list[bool]] = defaultdict(list)
            for run in range(repeats):
                y, s = world.sample(rng)
                menu = operating_points(y, s, threshold=1.0, capacity="50 of 1000", prevalence=prevalence, rng=run)
                for point in menu:
                    at = world.tables(np.array([point.threshold]))
                    at = (
                        at
                        if prevalence is None
                        else at.scaled(
                            positives=prevalence / world.prevalence, negatives=(1 - prevalence) / (1 - world.prevalence)
                        )
                    )
                    flagged = (at.tp + at.fp).item()
                    truth = {
                        "precision": at.tp.item() / flagged if flagged else np.nan,
                        "recall": (at.tp / at.positives).item(),
                    }
                    for name, value in truth.items():
                        interval = getattr(point, f"{name}_interval")
                        if interval is not None:
                            held[f"{name}, {point.point}"].append(
                                bool(interval[0] - 1e-9 <= value <= interval[1] + 1e-9)
                            )
            at_share = "" if prevalence is None else f", read at {100 * prevalence:g} %"
            often = {name: cells for name, cells in held.items() if len(cells) > repeats / 2}
            yield f"{text}{at_share}", {name: float(np.mean(cells)) for name, cells in often.items()}


if __name__ == "__main__":
    import sys

    for text, shares in rows(int(sys.argv[1])):
        print(text)
        for name, share in shares.items():
            print(f"   {share:.3f}  {name}")
        sys.stdout.flush()
