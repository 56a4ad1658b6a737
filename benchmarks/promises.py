"""Do thresholds keep their promise on new rows, and at what price? `make promises` writes docs/promises.md.

`REPEATS=100 make promises` is a quick look. Each world and each data set leaves its numbers in build/promises, so that a
run that was stopped goes on where it was; `python -m benchmarks.promises anew` forgets them. MAPIE's controller stands
beside ours where it is installed, with a twentieth or less of the runs, as it takes ten to a hundred times as long.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.promise_data import DATA, split_rows
from benchmarks.promise_peers import CONFIDENCE, METHODS, Found
from benchmarks.promise_worlds import World, worlds
from benchmarks.tables import markdown
from steelyard import Counts, get_metric
from steelyard.analysis.thresholds.limits import read_limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.promise_worlds import Sample

ROOT = Path(__file__).parent.parent
OUT, PARTS = ROOT / "docs" / "promises.md", ROOT / "build" / "promises"
REPEATS, SPLITS = int(os.environ.get("REPEATS", "400")), int(os.environ.get("SPLITS", "200"))
ONE_CLASS = (("recall >= 0.9", "specificity"), ("specificity >= 0.95", "recall"))
BOTH = (("precision >= 0.5", "recall"), ("f1 >= 0.5", "recall"), ("mcc >= 0.4", "recall"))
SEVERAL = (("recall >= 0.7 and precision >= 0.3", "f1"), ("alerts <= 150 of 1000", "recall"))
LIMITS = (*ONE_CLASS, *BOTH, *SEVERAL)


def runs_of(name: str, world: World, repeats: int) -> int:
    """The runs of a method, of which those on many rows take MAPIE seconds."""
    return max(repeats // (20 if world.n < 20_000 else 40), 5) if name.startswith("MAPIE") else repeats


def judged(found: Found, world: World, limit: str, metric: str) -> tuple[bool, float, float]:
    """Whether the limit is broken in the population, and there the value of the metric and that of the limit's."""
    recall, fpr = world.rates(found.threshold)
    p = world.prevalence
    table = Counts(p * recall, p * (1 - recall), (1 - p) * fpr, (1 - p) * (1 - fpr))
    limits = read_limits(limit)
    kept = all(bool(each.is_met(table)) for each in limits)
    return not kept, float(get_metric(metric)(table)), float(limits[0].values(table))


class Cell:
    """What one method gave in the runs of a world with a limit."""

    def __init__(self) -> None:
        self.results: list[tuple[str, bool, float, float]] = []

    def add(self, found: Found, world: World, limit: str, metric: str) -> None:
        """One run."""
        if found.threshold is None or found.trivial:
            self.results.append(("none" if found.threshold is None else "trivial", False, 0.0, math.nan))
        else:
            self.results.append(("found", *judged(found, world, limit, metric)))

    def summary(self, ours: Cell) -> dict[str, Any]:
        """Shares, means, and the gain, none counting as 0, beside that of ours in the same runs."""
        runs, found = len(self.results), [result for result in self.results if result[0] == "found"]
        same = ours.results[:runs]
        return {
            "runs": runs,
            "broken": sum(broken for _, broken, _, _ in self.results) / runs,
            "none": 1 - len(found) / runs,
            "value": float(np.mean([value for *_, value, _ in found])) if found else math.nan,
            "gain": float(np.mean([value for *_, value, _ in self.results])),
            "ours": float(np.mean([value for *_, value, _ in same])),
            "limited": [_mean_limited(self.results), _mean_limited(same)],
        }


def _mean_limited(results: list[tuple[str, bool, float, float]]) -> float:
    values = [limited for *_, limited in results if not math.isnan(limited)]
    return float(np.mean(values)) if values else math.nan


def simulated(number: int, world: World, repeats: int) -> list[Any]:
    """Each limit with what every method gave, all of them on the same rows."""
    rng = np.random.default_rng(number)
    cells: dict[str, dict[str, Cell]] = {limit: {} for limit, _ in LIMITS}
    for run in range(repeats):
        sample = world.sample(rng)
        for limit, metric in LIMITS:
            for name, method in METHODS.items():
                if run < runs_of(name, world, repeats):
                    _run(cells[limit].setdefault(name, Cell()), method, sample, (world, limit, metric))
    return [
        [
            world.text,
            limit,
            metric,
            {name: c.summary(cells[limit]["ours"]) for name, c in cells[limit].items() if c.results},
        ]
        for limit, metric in LIMITS
    ]


def _run(cell: Cell, method: Callable[..., Any], sample: Sample, where: tuple[World, str, str]) -> None:
    found = method(sample, *where[1:])
    if found is not NotImplemented:
        cell.add(found, *where)


def too_many(cell: dict[str, Any]) -> bool:
    """Whether more promises are broken than chance allows."""
    risk = 1 - CONFIDENCE
    return cell["broken"] > risk + 2 * math.sqrt(risk * (1 - risk) / cell["runs"])


def dearer(limit: str, metric: str, cells: dict[str, Any]) -> list[str]:
    """The peers that keep the promise and give a better value on the same rows, no threshold counting as 0."""
    others = ((name, cell) for name, cell in cells.items() if name not in ("ours", "naive") and not too_many(cell))
    return [
        f"{name} has {metric} {cell['gain']:.3f} against {cell['ours']:.3f} and {limit.split(maxsplit=1)[0]} "
        f"{cell['limited'][0]:.3f} against {cell['limited'][1]:.3f}"
        for name, cell in others
        if cell["gain"] > cell["ours"] + 0.01
    ]


def page(rows: list[Any], real: list[Any]) -> str:
    """The page: what misses first, then every cell."""
    broken = [
        f"{world}, {limit}: {cells['ours']['broken']:.3f}" for world, limit, _, cells in rows if too_many(cells["ours"])
    ]
    dear = [
        f"{world}, {limit}: {'; '.join(found)}"
        for world, limit, metric, cells in rows
        if (found := dearer(limit, metric, cells))
    ]
    rivals = sum(1 for *_, cells in rows if set(cells) - {"ours", "naive"})
    head = [
        "# Do thresholds keep their promise?",
        "",
        f"`best_threshold(..., where=, confidence={CONFIDENCE})` on simulated rows, judged on the population they come from; written by "
        "`make promises`. *Broken* is the share of the runs in which the limit does not hold there; a promise allows "
        f"{1 - CONFIDENCE:.0%}. The value is that of the metric to be raised, at the thresholds found (flagging everybody or nobody "
        f"counts as none). {_runs(rows)} *naive* is the best threshold that meets the limit on the rows it was chosen on.",
        "",
        f"- Broken more often than chance allows: {len(broken)} of {len(rows)} cells{_listed(broken)}",
        f"- Dearer than a peer that keeps the promise, by more than 0.01: {len(dear)} of {rivals} cells{_listed(dear)}",
        "",
        "Of thresholds that are equally good on its rows ours takes the one that flags fewest. Between two positives recall is "
        "the same there and not in the population: a peer that flags as many as its limit allows has more recall for more false "
        "alarms.",
        "",
        "## Simulated",
        "",
    ]
    names = [name for name in METHODS if any(name in cells for *_, cells in rows)]
    lines = [
        [world, limit, metric, *(_text(cells.get(name)) for name in names)] for world, limit, metric, cells in rows
    ]
    table = markdown(("rows", "limit", "raised", *(f"{name}: broken / value / none" for name in names)), lines)
    return "\n".join([*head, table, "", *_real_part(real)])


def _runs(rows: list[Any]) -> str:
    """How many runs a cell rests on."""
    runs: dict[str, set[int]] = {}
    for *_, cells in rows:
        for name, cell in cells.items():
            runs.setdefault(name, set()).add(cell["runs"])
    counts = (f"{name} {' to '.join(map(str, sorted({min(some), max(some)})))}" for name, some in runs.items())
    return f"Runs a cell: {'; '.join(counts)}."


def _listed(found: list[str]) -> str:
    return "." if not found else ": " + "; ".join(found) + "."


def _text(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "–"
    value = "–" if math.isnan(cell["value"]) else f"{cell['value']:.3f}"
    return f"{cell['broken']:.3f} / {value} / {cell['none']:.2f}"


def _real_part(real: list[Any]) -> list[str]:
    if not real:
        return []
    lines = [
        [
            data,
            limit,
            str(cell["runs"]),
            *(f"{cell[key]:.3f}" for key in ("broken", "shown", "naive", "none")),
            "–" if math.isnan(cell["value"]) else f"{cell['value']:.3f}",
        ]
        for data, limit, cell in real
    ]
    head = ("data", "limit", "splits", "broken", "shown by the other half", "naive, broken", "none", "value")
    return [
        "## Real data",
        "",
        "A classifier is fitted on a third of the rows; of the others a random half chooses the threshold. *Broken* is judged on all of "
        "them, *shown* is that the other half alone shows it at 0.05 (of F1 that it lies below the limit there).",
        "",
        markdown(head, lines),
        "",
    ]


def part(name: str, make: Callable[[], list[Any]], size: int) -> list[Any]:
    """The rows of a part of the page, as they are kept from a run of the same size, else made now."""
    kept = PARTS / f"{name.replace(' ', '-').replace(',', '')}-{size}.json"
    if not kept.exists():
        kept.write_text(json.dumps(make()), encoding="utf-8")
        print(name, flush=True)
    return list(json.loads(kept.read_text(encoding="utf-8")))


def main(asked: list[str]) -> None:
    """Run the parts that are not there yet, or all of them anew, and write the page."""
    PARTS.mkdir(parents=True, exist_ok=True)
    for kept in PARTS.glob("*.json") if "anew" in asked else ():
        kept.unlink()
    rows, real = [], []
    for number, world in enumerate(worlds()):
        rows += part(world.text, lambda n=number, w=world: simulated(n, w, REPEATS), REPEATS)  # type: ignore[misc]
    for name in DATA:
        real += part(name, lambda n=name: split_rows(n, SPLITS), SPLITS)  # type: ignore[misc]
    OUT.write_text(page(rows, real), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
