"""Probability columns: those of a frame or files that a pattern or a list names, matched to the classes by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.exceptions import InputError, first_ten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Labels


def columns_by_class(columns: dict[str, str], classes: Labels, asked: str | Sequence[str]) -> Sequence[str]:
    """The column of each class; one without a class, or a class without one, is refused."""
    texts = [str(label) for label in classes]
    if {*texts} <= {*columns.values()}:  # a list of the classes themselves, whatever they begin with
        columns = {name: name for name in columns.values()}
    if {*texts} != {*columns}:
        like, such = "of the scores", "such as 'p_" + texts[0] + "'"
        if isinstance(asked, str):
            like, such = f"like {asked!r}", f"such as {asked.replace('*', texts[0])!r}"
        raise InputError(
            f"The columns {like} are of {first_ten(list(columns))} and the truth holds {first_ten(texts)}; "
            f"name a column for each class, {such}, and none besides; a class that has no rows here is declared with "
            "labels=."
        )
    return [columns[text] for text in texts]
