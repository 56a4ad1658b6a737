"""Do thresholds keep their promise on new rows, and at what price? `make promises` writes docs/promises.md.

`REPEATS=100 make promises` is a quick look; `python -m benchmarks.promises Simulated` runs that part anew and takes the
other as it was. MAPIE's controller stands beside ours where it is installed.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.promise_peers import PEERS
from benchmarks.promise_worlds import World, worlds
from benchmarks.tables import markdown
from steelyard import Counts, SteelyardError, best_threshold, get_metric
from steelyard.analysis.threshold_limits import read_limits

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
OUT, PARTS = ROOT / "docs" / "promises.md", ROOT / "build" / "promises"
REPEATS = int(os.environ.get("REPEATS", "400"))
CONFIDENCE = 0.95
ONE_CLASS = (("recall >= 0.9", "specificity"), ("specificity >= 0.95", "recall"))
BOTH = (("precision >= 0.5", "recall"), ("f1 >= 0.5", "recall"), ("mcc >= 0.4", "recall"))
SEVERAL = (("recall >= 0.7 and precision >= 0.3", "f1"), ("alerts <= 150 of 1000", "recall"))


class Found(NamedTuple):
    """What one search gave: a threshold that means something, a trivial one, or none."""

    threshold: float | None
    trivial: bool = False


def ours(y: Any, s: Any, limit: str, metric: str, clusters: Any = None) -> Found:
    """Ours, with the promise."""
    return _searched(y, s, limit, metric, confidence=CONFIDENCE, cluster=clusters)


def naive(y: Any, s: Any, limit: str, metric: str, clusters: Any = None) -> Found:  # noqa: ARG001 - as all have them
    """The best threshold that meets the limit on the rows it is chosen on."""
    return _searched(y, s, limit, metric)


def _searched(y: Any, s: Any, limit: str, metric: str, **options: Any) -> Found:
    try:
        best = best_threshold(y, s, metric, where=limit, resamples=0, **options)
    except SteelyardError:
        return Found(None)
    return Found(best.threshold, best.trivial)


METHODS = {"ours": ours, "naive": naive, **PEERS}
SLOW = {name: 1 if name == "umbrella" else 4 for name in PEERS}  # a part of the repeats


def judged(found: Found, world: World, limit: str, metric: str) -> tuple[bool, float]:
    """Whether the limit is broken in the population, and the value of the metric there."""
    recall, fpr = world.rates(found.threshold)
    p = world.prevalence
    table = Counts(p * recall, p * (1 - recall), (1 - p) * fpr, (1 - p) * (1 - fpr))
    kept = all(bool(each.is_met(table)) for each in read_limits(limit))
    return not kept, float(get_metric(metric)(table))


def simulated(repeats: int) -> Iterator[list[Any]]:
    """Each world and limit with what every method gave: shares broken, trivial, without, and the mean value."""
    for number, world in enumerate(worlds()):
        for limit, metric in (*ONE_CLASS, *BOTH, *SEVERAL):
            cells = {}
            for name, method in METHODS.items():
                if (cell := _cell(name, method, world, limit, metric, repeats, number)) is not None:
                    cells[name] = cell
            yield [world.text, limit, metric, cells]


def _cell(name: str, method: Any, world: World, limit: str, metric: str, repeats: int, number: int) -> Any:
    rng, runs = np.random.default_rng(number), repeats // SLOW.get(name, 1)
    counts, values, common = {"broken": 0, "trivial": 0, "none": 0}, [], repeats // max(SLOW.values())
    gain = 0.0  # over the runs that every method has
    for run in range(runs):
        y, s, clusters = world.rows(rng)
        found = method(y, s, limit, metric, clusters)
        if found is NotImplemented:
            return None
        if found.threshold is None or found.trivial:
            counts["none" if found.threshold is None else "trivial"] += 1
            continue
        broken, value = judged(found, world, limit, metric)
        counts["broken"] += broken
        values.append(value)
        gain += value / common if run < common else 0.0
    shares = {key: count / runs for key, count in counts.items()}
    return {**shares, "value": float(np.mean(values)) if values else math.nan, "gain": gain, "runs": runs}


def too_many(cell: dict[str, Any]) -> bool:
    """Whether more promises are broken than chance allows."""
    risk = 1 - CONFIDENCE
    return cell["broken"] > risk + 2 * math.sqrt(risk * (1 - risk) / cell["runs"])


def dearer(cells: dict[str, Any]) -> list[str]:
    """The peers that keep the promise and give a better value on the same rows, no threshold counting as 0."""
    others = ((name, cell) for name, cell in cells.items() if name not in ("ours", "naive") and not too_many(cell))
    return [name for name, cell in others if cell["gain"] > cells["ours"]["gain"] + 0.01]


def page(rows: list[Any], real: list[Any]) -> str:
    """The page: what misses first, then every cell."""
    broken = [
        f"{world}, {limit}: {cells['ours']['broken']:.3f}" for world, limit, _, cells in rows if too_many(cells["ours"])
    ]
    dear = [f"{world}, {limit}: {', '.join(found)}" for world, limit, _, cells in rows if (found := dearer(cells))]
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
    runs = {name: cell["runs"] for *_, cells in rows for name, cell in cells.items()}
    return f"Runs a cell: {', '.join(f'{name} {count}' for name, count in runs.items())}."


def _listed(found: list[str]) -> str:
    return "." if not found else ": " + "; ".join(found) + "."


def _text(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "–"
    value = "–" if math.isnan(cell["value"]) else f"{cell['value']:.3f}"
    return f"{cell['broken']:.3f} / {value} / {cell['none'] + cell['trivial']:.2f}"


def _real_part(real: list[Any]) -> list[str]:
    if not real:
        return []
    lines = [
        [
            data,
            limit,
            str(cell["runs"]),
            *(f"{cell[key]:.3f}" for key in ("broken", "shown", "naive", "none")),
            f"{cell['value']:.3f}",
        ]
        for data, limit, cell in real
    ]
    head = ("data", "limit", "splits", "broken", "shown by the other half", "naive, broken", "none", "value")
    return [
        "## Real data",
        "",
        "A classifier is fitted on a third of the rows; of the others a random half chooses the threshold. *Broken* is judged on all of "
        "them, *shown* is that the other half alone shows it at 0.05.",
        "",
        markdown(head, lines),
        "",
    ]


def main(asked: list[str]) -> None:
    """Run the parts that are asked for, or all, and write the page."""
    from benchmarks.promise_data import real_rows

    PARTS.mkdir(parents=True, exist_ok=True)
    parts = {}
    for title, rows in (("Simulated", simulated), ("Real", real_rows)):
        kept = PARTS / f"{title.lower()}.json"
        if not asked or title in asked or not kept.exists():
            kept.write_text(json.dumps(list(rows(REPEATS))), encoding="utf-8")
        parts[title] = json.loads(kept.read_text(encoding="utf-8"))
    OUT.write_text(page(parts["Simulated"], parts["Real"]), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
