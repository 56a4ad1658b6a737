"""Cache: decisions kept between runs, by what they depend on: those of the catalogue come with the package.

`make properties` writes `decisions.json` here; what else is decided goes to one file of the user's cache folder.
"""

from __future__ import annotations

import json
import os
import tempfile
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.auditing.claims import PROPERTIES
from steelyard.auditing.decisions import Counterexample, Decision, whole
from steelyard.auditing.exact import exact_expression
from steelyard.metrics import notation

if TYPE_CHECKING:
    from steelyard.auditing.claims import Property
    from steelyard.metrics.expression import Expression
    from steelyard.metrics.metric import Metric


# What a decision depends on beside the formula; a change anywhere else leaves it as it is.
DECIDING = ("algebra", "claims", "decisions", "exact", "letters", "proof", "properties", "search", "subject")
SHIPPED = Path(__file__).parent / "decisions.json"


def key_of(measure: Metric, asked: Property) -> str | None:
    """What a decision depends on; None for an opaque function, which nothing identifies."""
    node = exact_expression(measure)
    if node is None:
        return None
    return sha256(repr((_written(node), measure.range, measure.direction, asked.name)).encode()).hexdigest()


@lru_cache(maxsize=512)
def _written(node: Expression) -> str:
    return notation.javascript(node)


def recalled(measure: Metric) -> dict[str, Decision]:
    """What is known of a measure without deciding anything anew, by property."""
    found = {name: kept().get(key_of(measure, asked) or "") for name, asked in PROPERTIES.items()}
    return {name: decision for name, decision in found.items() if decision is not None}


@cache
def kept() -> dict[str, Decision]:
    """The decisions that come with the package and those of earlier runs, by what they depend on."""
    return {**shipped(), **_read(_cache_file())}


@cache
def shipped() -> dict[str, Decision]:
    """The decisions about the catalogue that come with the package; none once the audit's code has changed since."""
    return _read(SHIPPED)


def _read(path: Path) -> dict[str, Decision]:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        return {key: _revived(row) for key, row in saved["decisions"].items()} if saved["by"] == _maker() else {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def written(decisions: dict[str, Decision]) -> str:
    """The decisions as the text of a file, with what made them."""
    rows = {key: decision.row() for key, decision in sorted(decisions.items())}
    return json.dumps({"by": _maker(), "decisions": rows}, indent=0)


def keep(decisions: dict[str, Decision]) -> None:
    """Put all decisions in place of the file at once; a folder that cannot be written is no error."""
    text = written({key: decision for key, decision in decisions.items() if key not in shipped()})
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


@cache
def _maker() -> str:
    """The code that decides, so that what another one decided is decided anew."""
    here = Path(__file__).parent
    return sha256(b"".join((here / f"{name}.py").read_bytes() for name in DECIDING)).hexdigest()


def _revived(row: dict[str, Any]) -> Decision:
    found = row.pop("counterexample")
    if found is not None:
        after = None if found["after"] is None else whole(found["after"])
        found = Counterexample(whole(found["before"]), after, str(found["value"]), str(found["other"]))
    return Decision(**row, counterexample=found)
