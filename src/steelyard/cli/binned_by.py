"""Binned groups of the shell: --by age:4 is the column age in four bins by its quantiles."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.cli.inputs import Inputs
    from steelyard.ingest.source import Source

_BINNED = re.compile(r"(?P<name>.+):(?P<bins>\d+)")


def with_bins(source: Source, inputs: Inputs) -> tuple[Source, Inputs]:
    """The source and the columns of groups, with bins in the place of those that ask for them."""
    names = source.parts[0].collect_schema().names()
    parts = {text: _BINNED.fullmatch(text) for text in inputs.by if text not in names}
    asked = {part["name"]: int(part["bins"]) for part in parts.values() if part is not None}
    if not asked:
        return source, inputs
    from steelyard.ingest.group_bins import binned_groups

    by = tuple(part["name"] if (part := parts.get(text)) is not None else text for text in inputs.by)
    binned, _ = binned_groups(source, by, asked, frame=True)
    return binned, replace(inputs, by=by)
