"""Hierarchy: labels as paths or with their parents, and the node that each label belongs to at every level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Label, Labels

    HierarchyLike: TypeAlias = str | Mapping[Label, Label] | Iterable[tuple[Label, Label]]

_TOP = (None, "")  # what may stand for no parent


@dataclass(frozen=True)
class Hierarchy:
    """The path of each label, from the top to the label itself.

    >>> paths = Hierarchy.of(["animal/dog", "animal/cat", "car"], "/")
    >>> paths.depth, paths.names(1)
    (2, {'animal/dog': 'animal', 'animal/cat': 'animal', 'car': 'car'})
    """

    paths: Mapping[Label, Labels]

    @classmethod
    def of(cls, labels: Sequence[Label], given: HierarchyLike) -> Hierarchy:
        """The hierarchy of labels: paths that a separator divides, or the parent of each child."""
        if isinstance(given, str):
            return cls({label: _parts(label, given) for label in _divided(labels, given)})
        parents = _parents(given)
        known = {*parents, *parents.values()} - {None}
        texts = {label: label if label in known else str(label) for label in labels}  # a file's children are text
        for label, text in texts.items():
            if text not in known:
                near = did_you_mean(str(label), map(str, known))
                raise InputError(
                    f"The label {label!r} has no parent in hierarchy=; give each label one, None for those at the top."
                    f"{near}"
                )
        return cls({label: (*_path(text, parents)[:-1], label) for label, text in texts.items()})

    @property
    def depth(self) -> int:
        """The number of levels."""
        return max(map(len, self.paths.values()), default=0)

    def names(self, level: int) -> dict[Label, Label]:
        """The node of each label at a level, 1 being the top; a shorter path ends in the label itself."""
        return {label: path[: min(level, len(path))][-1] for label, path in self.paths.items()}

    def codes(self, labels: Labels) -> Array:
        """The nodes of each label's path as numbers, a row for each label, -1 beyond its end."""
        book: dict[Label, int] = {}
        codes = np.full((len(labels), self.depth), -1, dtype=np.int64)
        for place, label in enumerate(labels):
            path = self.paths[label]
            codes[place, : len(path)] = [book.setdefault(node, len(book)) for node in path]
        return codes


def _divided(labels: Sequence[Label], separator: str) -> Sequence[Label]:
    if not separator:
        raise InputError("hierarchy= is the text between the parts of a path, such as '/'; an empty one divides none.")
    if not any(isinstance(label, str) and separator in label for label in labels):
        raise InputError(
            f"No label holds {separator!r}, by which hierarchy= divides paths such as {f'animal{separator}dog'!r}; "
            "name the text between the parts, or give the parent of each label."
        )
    return labels


def _parts(label: Label, separator: str) -> Labels:
    """The nodes of a path, each named by the path to it."""
    parts = str(label).split(separator)
    if not all(part.strip() for part in parts):
        raise InputError(f"The label {label!r} has an empty part between {separator!r}; write each part of the path.")
    nodes: list[Label] = [separator.join(parts[: end + 1]) for end in range(len(parts))]
    return (*nodes[:-1], label)


def _parents(given: Mapping[Label, Label] | Iterable[tuple[Label, Label]]) -> dict[Label, Label]:
    if not isinstance(given, (Mapping, Iterable)):
        raise InputTypeError(f"hierarchy= is a separator or the parent of each label, not {type(given).__name__}.")
    parents: dict[Label, Label] = {}
    for pair in given.items() if isinstance(given, Mapping) else given:
        if len(pair) != 2:
            raise InputError("hierarchy= lists pairs, a child and its parent.")
        child, parent = pair[0], None if pair[1] in _TOP else pair[1]
        if child in parents and parents[child] != parent:
            raise InputError(
                f"hierarchy= gives {child!r} two parents, {parents[child]!r} and {parent!r}; give each child one."
            )
        parents[child] = parent
    return parents


def _path(label: Label, parents: Mapping[Label, Label]) -> Labels:
    path, node = [label], parents.get(label)
    while node is not None:
        if node in path:
            around = " > ".join(map(repr, [*path[path.index(node) :], node]))
            raise InputError(f"hierarchy= goes in a circle: {around}; the parents of a label must end at the top.")
        path.append(node)
        node = parents.get(node)
    return tuple(reversed(path))
