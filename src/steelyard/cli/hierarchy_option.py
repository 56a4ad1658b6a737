"""The option of a hierarchy of the labels: what divides their paths, or a file of children and their parents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.analysis.confusions.hierarchy import HierarchyLike

_ENDINGS = {".csv": ",", ".tsv": "\t"}


def hierarchy_option() -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option."""
    return click.option(
        "--hierarchy",
        callback=lambda ctx, parameter, value: None if value is None else read_hierarchy(value),  # noqa: ARG005 - click's own
        metavar="/|FILE",
        help="Show errors by level: the text between the parts of labels that are paths, such as /, or a CSV or TSV "
        "file whose first two columns are child and parent.",
    )


def read_hierarchy(given: str) -> HierarchyLike:
    """The separator as it is, or the pairs of child and parent that a file lists below its head."""
    divided = _ENDINGS.get(Path(given).suffix.lower())
    if divided is None:
        return given
    import csv

    try:
        with Path(given).open(encoding="utf-8-sig", newline="") as text:
            _, *lines = [line for line in csv.reader(text, delimiter=divided) if line] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"--hierarchy {given!r} cannot be read: {error}.") from None
    if not lines or any(len(line) < 2 for line in lines):
        raise InputError(f"--hierarchy {given!r} lists a child and its parent in each line, below a line of names.")
    return [(line[0].strip(), line[1].strip()) for line in lines]
