"""Sparse linkage: very many classes joined into blocks by the pairs that are confused, not by all pairs."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array

_BACKGROUND = 4.0  # times the mean likeness of all pairs, below which two blocks are not joined any more


def block_order(true: Array, predicted: Array, alike: Array, size: int) -> list[list[int]]:
    """The blocks of classes that average linkage of sparse likenesses joins, each in the order of its tree.

    A pair that is not listed is not alike. Joining ends where two blocks are no more alike than classes are on the
    whole: what is left would be joined by errors that fall anywhere.
    """
    links = _neighbours(true, predicted, alike, size)
    least = _BACKGROUND * 2 * float(alike.sum()) / max(size * (size - 1), 1)
    members: dict[int, list[int]] = {place: [place] for place in range(size)}
    heap = [(-value, a, b) for a, part in enumerate(links) for b, value in part.items() if a < b]
    heapify(heap)
    while heap:
        value, a, b = heappop(heap)
        if a in members and b in members and _likeness(links, members, a, b) == -value:
            _join(links, members, a, b, heap, least)
    return list(members.values())


def _neighbours(true: Array, predicted: Array, alike: Array, size: int) -> list[dict[int, float]]:
    links: list[dict[int, float]] = [{} for _ in range(size)]
    for a, b, value in zip(true.tolist(), predicted.tolist(), alike.tolist(), strict=True):
        links[a][b] = links[a].get(b, 0.0) + value
        links[b][a] = links[b].get(a, 0.0) + value
    return links


def _likeness(links: list[dict[int, float]], members: dict[int, list[int]], a: int, b: int) -> float:
    """The mean likeness of the classes of two blocks."""
    return links[a].get(b, 0.0) / (len(members[a]) * len(members[b]))


def _join(
    links: list[dict[int, float]],
    members: dict[int, list[int]],
    a: int,
    b: int,
    heap: list[tuple[float, int, int]],
    least: float,
) -> None:
    """Join two blocks under the number of the one with more neighbours, the smaller block last."""
    if len(links[a]) < len(links[b]):
        a, b = b, a
    joined, other = members[a], members.pop(b)
    members[a] = [*joined, *other] if len(joined) >= len(other) else [*other, *joined]
    for place, value in links[b].items():
        del links[place][b]
        if place != a:
            links[a][place] = links[place][a] = links[a].get(place, 0.0) + value
    links[a].pop(b, None)
    links[b] = {}
    size = len(members[a])
    for place, value in links[a].items():
        likeness = value / (size * len(members[place]))
        if likeness > least:
            heappush(heap, (-likeness, a, place))


def flat_order(blocks: list[list[int]], errors: Array) -> Array:
    """The blocks one after another, those with more errors first, and the classes without any last."""
    sums = [float(errors[block].sum()) for block in blocks]
    order = sorted(range(len(blocks)), key=lambda place: (-sums[place], blocks[place][0]))
    return np.array([place for block in order for place in blocks[block]], dtype=np.int64)
