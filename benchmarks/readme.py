"""README's short tables and counts: chosen rows of docs/benchmarks.md and docs/coverage.md, put between their markers.

How many metrics there are, and of how many properties it is decided, is counted from the catalogue and the audit.

`make pages` writes them, and so do `make bench` and `make coverage`; a test holds that they are the documents' own.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.tables import markdown
from steelyard import audit, list_metrics
from steelyard.auditing.properties import decided_text

ROOT = Path(__file__).parent.parent
PLACE = re.compile(r"(<!-- (?P<name>\w+) from (?P<page>\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
METRIC_COUNT = re.compile(r"Which of \w+ metrics")
PROPERTY_COUNT = re.compile(r"[\d,]+ of [\d,]+ properties of [\d,]+ metrics")
SPEED = (  # work, beside
    ("drop-in confusion_matrix, 1e7 int64, 2 classes", "scikit-learn"),
    ("drop-in roc_auc_score, 1e7, 1% positive", "scikit-learn"),
    ("drop-in f1_score, n = 100", "scikit-learn"),
    ("confusion, 1e7 labels of 2 classes", "mmu (C++)"),
    ("5 metrics of 1e6 labels in batches of 10,000", "torchmetrics, MetricCollection"),
    ("roc_auc, 1e6 scores, 50% positive", "rapidstats (Rust)"),
    ("roc_auc with DeLong's interval, 1e5 rows", "confidenceinterval"),
    ("evaluate with its intervals and verdict, 1e5 labels, 2 classes", "PyCM, ConfusionMatrix without them"),
)
METRICS = ("recall", "balanced_accuracy", "ac_score", "mcc")
CLASS_METRICS = ("balanced_accuracy", "g_mean", "mcc", "f1[average=macro]")


def main() -> None:
    """Write the tables into README.md."""
    path = ROOT / "README.md"
    path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")


def filled(text: str) -> str:
    """The text with what stands between its markers taken from the pages; nothing where a page is not there."""
    text = PLACE.sub(lambda found: f"{found[1]}{_table(found['name'], ROOT / found['page'])}{found[4]}", text)
    text = METRIC_COUNT.sub(f"Which of {len(list_metrics())} metrics", text)
    return PROPERTY_COUNT.sub(decided_text(audit()), text)


def _table(name: str, page: Path) -> str:
    return f"{TABLES[name](lines(page.read_text(encoding='utf-8')))}\n" if page.exists() else ""


def lines(text: str) -> list[list[str]]:
    """The cells of every line of every table of a page."""
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if line[:2] == "| "]


def speed(found: list[list[str]]) -> str:
    """Some telling rows, slower ones among them."""
    rows = {tuple(cells[:2]): [*cells, "", ""][:5] for cells in found}  # a skipped row has fewer cells
    return markdown(("work", "beside", "ours", "theirs", "ratio"), [rows[key] for key in SPEED])


def coverage(found: list[list[str]]) -> str:
    """Where positives are few: n = 1,000, 1 % of them positive."""
    head = found[0]
    columns = [2, 3, *(head.index(name, 4) for name in METRICS)]
    rows = [cells for cells in found if cells[:2] == ["1000", "0.01"]]
    named = ["true recall", "true specificity", *(f"`{name}`" for name in METRICS)]
    return markdown(named, ([cells[i] for i in columns] for cells in rows))


def classes(found: list[list[str]]) -> str:
    """Where classes are many and all but one have three rows."""
    head = next((cells for cells in found if CLASS_METRICS[-1] in cells), [])
    columns = [head.index(name) for name in CLASS_METRICS] if head else []
    rows = [cells for cells in found if cells[0].startswith("K = ") and "of 3 rows" in cells[0]]
    shown = ([cells[0], *(cells[i].split(",")[0] for i in columns)] for cells in rows)
    return markdown(["classes", *(f"`{name}`" for name in CLASS_METRICS)], shown)


TABLES = {"speed": speed, "coverage": coverage, "classes": classes}

if __name__ == "__main__":
    main()
