"""Decision store: decisions kept between runs, by what they depend on; those of the catalogue come with the package.

`make properties` writes `decisions.json` here; what else is decided goes to one file of the user's cache folder.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.auditing.decisions import Counterexample, Decision, four_cells
from steelyard.auditing.exact_values import exact_expression
from steelyard.auditing.property_list import PROPERTIES
from steelyard.metrics import notation

if TYPE_CHECKING:
    from hashlib import _Hash

    from steelyard.auditing.property_list import Property
    from steelyard.metrics.expression import Expression
    from steelyard.metrics.metric import Metric

Decisions = dict[str, Decision]  # by their keys

# Raise this when a property means something else or is decided otherwise: what an earlier version decided is then
# decided anew. A test makes every shipped decision anew, so that a forgotten change is noticed.
VERSION = 3
SHIPPED = Path(__file__).parent / "decisions.json"


def decision_key(metric: Metric, property_: Property) -> str | None:
    """What a decision depends on: the formula, not how it is spelt; None for an opaque function, which has none."""
    node = exact_expression(metric)
    if node is None:
        return None
    digest = _of_formula(node, metric.range, metric.direction).copy()
    digest.update(f", {property_.name!r})".encode())
    return digest.hexdigest()


@lru_cache(maxsize=512)
def _of_formula(node: Expression, *facts: object) -> _Hash:
    """The digest of what all properties of a metric have in common: a formula may be long, and they are many."""
    return sha256(repr((notation.canonical(node), *facts))[:-1].encode())


def recalled_decision(metric: Metric, property_: Property, decisions: Decisions | None = None) -> Decision | None:
    """The decision that is stored, or stands among the given ones; nothing is decided anew."""
    stored = stored_decisions() if decisions is None else decisions
    decision = stored.get(decision_key(metric, property_) or "")
    return decision if decision is None or decision.metric == metric.name else replace(decision, metric=metric.name)


def recalled_decisions(metric: Metric) -> Decisions:
    """What is stored about a metric, by property; nothing is decided anew."""
    decisions = {name: recalled_decision(metric, property_) for name, property_ in PROPERTIES.items()}
    return {name: decision for name, decision in decisions.items() if decision is not None}


@cache
def stored_decisions() -> Decisions:
    """The decisions that come with the package and those of earlier runs, by their keys."""
    return {**_read(_cache_file()), **shipped()}  # ours come first, so that a verdict is the same on every machine


@cache
def shipped() -> Decisions:
    """The decisions about the catalogue that come with the package."""
    return _read(SHIPPED)


def _read(path: Path) -> Decisions:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        return {key: _revived(row) for key, row in saved["decisions"].items()} if saved["version"] == VERSION else {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def decisions_json(decisions: Decisions) -> str:
    """The decisions as the text of a file, with the version of what made them."""
    rows = {key: decision.row() for key, decision in sorted(decisions.items())}
    return json.dumps({"version": VERSION, "decisions": rows}, indent=0)


def store(decisions: Decisions) -> None:
    """Put all decisions in place of the file at once; a folder that cannot be written is no error."""
    text = decisions_json({key: decision for key, decision in decisions.items() if key not in shipped()})
    path = _cache_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
            file.write(text)
        Path(file.name).replace(path)
    except OSError:
        return


def _cache_file() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard" / "audit.json"


def _revived(row: dict[str, Any]) -> Decision:
    counterexample = row.pop("counterexample")
    if counterexample is not None:
        after = None if counterexample["after"] is None else four_cells(counterexample["after"])
        values = str(counterexample["value"]), str(counterexample["other"])
        counterexample = Counterexample(four_cells(counterexample["before"]), after, *values)
    return Decision(**row, counterexample=counterexample)
