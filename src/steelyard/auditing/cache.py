"""Cache: decisions kept between runs, by what they depend on, in one file of the user's cache folder."""

from __future__ import annotations

import json
import os
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard import __version__
from steelyard.auditing.decisions import Counterexample, Decision, whole
from steelyard.auditing.exact import exact_expression
from steelyard.metrics import notation

if TYPE_CHECKING:
    from steelyard.auditing.claims import Property
    from steelyard.metrics.metric import Metric


def key_of(measure: Metric, asked: Property) -> str | None:
    """What a decision depends on; None for an opaque function, which nothing identifies."""
    node = exact_expression(measure)
    if node is None:
        return None
    written = notation.javascript(node)
    return sha256(repr((written, measure.range, measure.direction, asked.name)).encode()).hexdigest()


@cache
def kept() -> dict[str, Decision]:
    """The decisions of earlier runs by what they depend on, from one file of the user's cache folder."""
    try:
        saved = json.loads(_cache_file().read_text(encoding="utf-8"))
        return {key: _revived(row) for key, row in saved["decisions"].items()} if saved["by"] == _maker() else {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def keep(decisions: dict[str, Decision]) -> None:
    """Put all decisions in place of the file at once; a folder that cannot be written is no error."""
    text = json.dumps({"by": _maker(), "decisions": {key: decision.row() for key, decision in decisions.items()}})
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
    """The version and the audit's own code, so that what another one decided is decided anew."""
    code = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return f"{__version__} {sha256(code).hexdigest()}"


def _revived(row: dict[str, Any]) -> Decision:
    found = row.pop("counterexample")
    if found is not None:
        after = None if found["after"] is None else whole(found["after"])
        found = Counterexample(whole(found["before"]), after, str(found["value"]), str(found["other"]))
    return Decision(**row, counterexample=found)
