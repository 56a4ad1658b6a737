"""How often the test of label shift rejects it: where it holds, and under a covariate shift."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.unlabelled_worlds import HERE, REFERENCE, SHARES, SIMULATED, World, shifted_rows, simulated
from steelyard import score_table
from steelyard.analysis.prevalence.label_shift import mixture_test, range_count, two_class_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array


def _rejected(draw: Callable[[], Array], world: World, repeats: int, rng: np.random.Generator) -> float:
    count = 0
    for _ in range(repeats):
        positives = max(int(rng.binomial(REFERENCE, HERE)), 2)
        known = world.scores(rng, positives, REFERENCE - positives)
        table = score_table(np.repeat([1, 0], [positives, REFERENCE - positives]), np.concatenate(known))
        fine = two_class_cells(table, world.threshold, range_count(positives, fine=True))
        counts = fine.counted(draw())
        used = (fine.cells.rows.sum(0) > 0) | (counts > 0)
        count += mixture_test(fine.cells.rows[:, used], counts[used], rng, SIMULATED).p_value < 0.05
    return count / repeats


def rejection_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """How often the test rejects label shift that holds."""
    rng = np.random.default_rng(26)
    for share in SHARES:
        shares = {}
        for rows in (200, 1_000, 5_000):
            for calibrated in (True, False):
                world = simulated(calibrated)

                def draw(world: World = world, share: float = share, rows: int = rows) -> Array:
                    there = int(rng.binomial(rows, share))
                    return np.concatenate(world.scores(rng, there, rows - there))

                shares[f"{rows:,} rows{'' if calibrated else ', not calibrated'}"] = _rejected(
                    draw, world, repeats, rng
                )
        yield f"5 % to {100 * share:g} %", shares


def power_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """How often the test rejects label shift under a covariate shift: hard rows become twice as common."""
    rng, world = np.random.default_rng(27), simulated(calibrated=True)
    for rows in (1_000, 2_000, 5_000):
        yield (
            f"{rows:,} rows",
            {"rejected": _rejected(lambda rows=rows: shifted_rows(world, rows, rng), world, repeats, rng)},
        )  # type: ignore[misc]  # bound
