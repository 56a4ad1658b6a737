"""Decided: what `make properties` has proved and refuted of the catalogue, kept in the package. Used by reports."""

from __future__ import annotations

import json
import sys
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from steelyard.auditing.claims import PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.auditing.decisions import Decision

SIGNS = {True: "+", False: "-", None: "?"}


@cache
def decided() -> dict[str, dict[str, bool | None]]:
    """Whether each property holds, by measure and property; None where that is open or does not apply.

    >>> decided()["ac_score"]["zero_when_a_class_fails"]
    True
    """
    saved = json.loads(files("steelyard.auditing").joinpath("decided.json").read_text(encoding="utf-8"))
    holds = {sign: value for value, sign in SIGNS.items()}
    return {
        name: dict(zip(saved["properties"], map(holds.__getitem__, signs), strict=True))
        for name, signs in saved["measures"].items()
    }


def written(decisions: Iterable[Decision]) -> str:
    """The decisions as the text of that file: a sign a property, + proved, - refuted, ? neither."""
    found: dict[str, str] = {}
    for decision in decisions:
        found[decision.metric] = found.get(decision.metric, "") + SIGNS[decision.holds]
    return json.dumps({"properties": list(PROPERTIES), "measures": found}, indent=1) + "\n"


def main() -> None:
    """Decide every property of every measure, and print the file."""
    from steelyard.auditing.table import audit

    sys.stdout.write(written(audit()))


if __name__ == "__main__":
    main()
