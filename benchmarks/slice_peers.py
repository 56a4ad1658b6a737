"""Slices beside SliceLine and DivExplorer on the same frames: what each lists where no slice is worse, and where one is.

`python -m benchmarks.slice_peers 20` prints the table of docs/how/slices.md. Both peers are optional.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from benchmarks.row import needed
from steelyard import slices

FEATURES, LEVELS, ROWS = 8, 5, 3_000
PLANTED = ("x0", "x1")


def frame(rng: np.random.Generator, planted: int) -> pd.DataFrame:
    """Positives alone: their features, and whether each is found, in .8 of them and in .6 of a planted slice's."""
    table = pd.DataFrame({f"x{i}": rng.integers(0, LEVELS, ROWS) for i in range(FEATURES)})
    if planted:
        table.loc[: planted - 1, list(PLANTED)] = 0
    recall = np.where((table["x0"] == 0) & (table["x1"] == 0) & bool(planted), 0.6, 0.8)
    return table.assign(y=1, p=(rng.random(ROWS) < recall).astype(int))


def ours(table: pd.DataFrame) -> tuple[int, bool]:
    """How many slices are stated, and whether the planted one is."""
    rows = pd.concat([table, table.assign(y=0, p=0)])
    found = slices(rows, true="y", pred="p", features=[f"x{i}" for i in range(FEATURES)])
    stated = [each.slice for each in found]
    return len(stated), "x0 = 0 and x1 = 0" in stated


def slice_line(table: pd.DataFrame) -> tuple[int, bool]:
    """The five slices that SliceLine lists, of up to two conditions."""
    finder = needed("sliceline.slicefinder").Slicefinder(alpha=0.95, k=5, max_l=2, min_sup=20, verbose=False)
    features = table[[f"x{i}" for i in range(FEATURES)]]
    finder.fit(features, 1 - table["p"].to_numpy())
    listed = [{f"x{i}": v for i, v in enumerate(line) if v is not None} for line in finder.top_slices_.tolist()]
    return len(listed), any(each == {"x0": 0, "x1": 0} for each in listed)


def div_explorer(table: pd.DataFrame) -> tuple[int, bool]:
    """The slices whose recall is lower with a t value above 1.96, and whether the planted one is in its first five."""
    explorer = needed("divexplorer").DivergenceExplorer(
        table.drop(columns="y").assign(missed=1 - table["p"]).drop(columns="p")
    )
    found = explorer.get_pattern_divergence(min_support=0.02, boolean_outcomes=["missed"])
    found = found[found["itemset"].map(len).between(1, 2)]
    worse = found[(found["missed_div"] > 0) & (found["missed_t"] > 1.96)].sort_values("missed_div", ascending=False)
    first = [set(each) for each in worse["itemset"].head(5)]
    return len(worse), {"x0=0", "x1=0"} in first


def main(runs: int) -> None:
    """The table."""
    for name, method in {"ours": ours, "SliceLine": slice_line, "DivExplorer": div_explorer}.items():
        rng = np.random.default_rng(1)
        none = [method(frame(rng, 0)) for _ in range(runs)]
        some = [method(frame(rng, 200)) for _ in range(runs)]
        listed, share = np.mean([count for count, _ in none]), np.mean([count > 0 for count, _ in none])
        print(
            f"{name}: no bad slice: lists any in {share:.2f}, {listed:.1f} on average; planted shown {np.mean([hit for _, hit in some]):.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
