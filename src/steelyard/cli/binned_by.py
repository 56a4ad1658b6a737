"""Binned groups of the shell: --by age:4 is the column age in four bins by its quantiles."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

    from steelyard._types import Labels
    from steelyard.cli.inputs import Inputs
    from steelyard.ingest.source import Source

_MANY = 20  # groups of numbers, for which bins are better
_BINNED = re.compile(r"(?P<name>.+):(?P<bins>\d+)")


def with_bins(source: Source, inputs: Inputs) -> tuple[Source, Inputs]:
    """The source and the columns of groups, with bins in the place of those that ask for them."""
    names = source.parts[0].collect_schema().names()
    parts = {text: _BINNED.fullmatch(text) for text in inputs.by if text not in names}
    asked = {part["name"]: int(part["bins"]) for part in parts.values() if part is not None}
    if not asked:
        return source, inputs
    from steelyard.ingest.group_bins import binned_groups

    _check_numbers(source, [name for name in asked if name in names])
    by = tuple(part["name"] if (part := parts.get(text)) is not None else text for text in inputs.by)
    uses = {use: named for use, named in vars(inputs).items() if use not in ("files", "counts", "labels", "by")}
    binned, _ = binned_groups(source, by, asked, frame=True, **uses)
    return binned, replace(inputs, by=by)


def _check_numbers(source: Source, names: Collection[str]) -> None:
    """Refuse to divide what holds no numbers."""
    from steelyard.ingest.rows import fetch_rows

    schema = source.parts[0].collect_schema()
    for name in names:
        numeric = schema[name].is_numeric()
        if source.textual:
            numeric = fetch_rows(source, true=None, features=[name]).features[name].dtype.kind == "f"
        if not numeric:
            raise InputError(f"The column {name!r} holds no numbers, and bins divide numbers; give --by {name}.")


def bins_note(by: tuple[str, ...], keys: Collection[Labels]) -> list[str]:
    """That bins would be better, where a column of numbers makes many groups."""
    numbers = all(value is None or isinstance(value, (int, float)) for key in keys for value in key)
    if len(by) != 1 or len(keys) <= _MANY or not numbers:
        return []
    return [f"Each number of {by[0]} is a group of its own; --by {by[0]}:4 makes four groups of them."]
