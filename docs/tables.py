"""Tables: what pages show from files and the registry, in place of `<!-- table: NAME -->`, so that it is kept once."""

from __future__ import annotations

import re
from pathlib import Path

from decided import cell
from peers import called, named, scikit_learn

from steelyard import list_metrics
from steelyard.metrics.peers import IMBALANCED

PLACE = re.compile(r"<!-- table: (\w+) -->")
HERE = Path(__file__).parent


def filled(text: str) -> str:
    """The page with its tables."""
    return PLACE.sub(lambda found: TABLES[found[1]](), text)


def names() -> str:
    """Each metric that scikit-learn or imbalanced-learn has, by both names."""
    rows = [(f"`{called(*call)}`", m) for m in list_metrics() if (call := scikit_learn(m))]
    rows += [(f"`{peer.name}` ({IMBALANCED})", m) for m in list_metrics() for peer in named(m, IMBALANCED)]
    lines = [f"| {theirs} | [`{m.name}`](catalogue/{m.name}.md) |" for theirs, m in rows]
    return "\n".join(["| there | here |", "|---|---|", *lines])


def coverage() -> str:
    """How often both intervals of the recall hold, where positives are few; from coverage.md."""
    lines = (HERE / "coverage.md").read_text(encoding="utf-8").splitlines()
    cells = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in lines
        if line.startswith("| ") and "---" not in line
    ]
    head = cells[0]
    table = cells[1 : next((i for i, row in enumerate(cells[1:], 1) if len(row) != len(head)), None)]
    few = [row for row in table if float(row[0]) * float(row[1]) <= 30]
    shown = [
        "| rows | positives | recall | specificity | the bootstrap holds | the default holds |",
        "|---|---|---|---|---|---|",
    ]
    for row in few:
        ours, theirs = (f"{100 * float(part):.1f} %" for part in row[head.index("recall", 4)].split("/"))
        shown.append(f"| {row[0]} | {100 * float(row[1]):g} % | {row[2]} | {row[3]} | {theirs} | {ours} |")
    return "\n".join(shown)


def metrics() -> str:
    """Each metric with its meaning, its synonyms, scikit-learn's name and ours, by title."""
    lines = ["| term | meaning | synonyms | scikit-learn | Steelyard |", "|---|---|---|---|---|"]
    for metric in sorted(list_metrics(), key=lambda m: m.title.lower()):
        synonyms = ", ".join(alias.replace("_", " ") for alias in metric.aliases) or "–"
        theirs = f"`{called(*call)}`" if (call := scikit_learn(metric)) else "–"
        ours = f"[`{metric.name}`](catalogue/{metric.name}.md)"
        lines.append(f"| {metric.title} | {cell(metric.meaning)} | {synonyms} | {theirs} | {ours} |")
    return "\n".join(lines)


TABLES = {"names": names, "coverage": coverage, "metrics": metrics}
