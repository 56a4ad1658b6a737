"""Feature blocks: few sets of features of which each is counted at once, and which together hold every small set."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Block = tuple[int, ...]


def feature_blocks(sizes: Sequence[int], order: int, most: int) -> dict[Block, list[Block]]:
    """Blocks of features with at most so many combinations of codes, and the sets of up to `order` that each counts.

    Counting a block counts all its parts. The greedy choice takes some 60 blocks of six for the 1,140 triples of 20.

    >>> feature_blocks([5, 5, 5], order=2, most=200)
    {(0, 1, 2): [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]}
    """
    features = range(len(sizes))
    order = min(order, len(sizes))
    missing = set(combinations(features, order))
    blocks: list[Block] = []
    while missing:
        block = _grown(set(min(missing)), features, sizes, missing, order, most)
        blocks.append(block)
        missing.difference_update(combinations(block, order))
    counted: dict[Block, list[Block]] = {block: [] for block in blocks}
    holders: dict[Block, Block] = {}
    for block in blocks:
        for size in range(1, order + 1):
            for part in combinations(block, size):
                holders.setdefault(part, block)
    for part, block in holders.items():
        counted[block].append(part)
    return counted


def _grown(block: set[int], features: range, sizes: Sequence[int], missing: set[Block], order: int, most: int) -> Block:
    """The block with as many features as fit, each the one that holds the most sets not yet counted."""
    while True:
        room = most // prod(sizes[i] for i in block)
        others = [i for i in features if i not in block and sizes[i] <= room]
        gains = [_gain(block, i, missing, order) for i in others]
        if not gains or max(gains) == 0:
            return tuple(sorted(block))
        block.add(others[gains.index(max(gains))])


def _gain(block: set[int], feature: int, missing: set[Block], order: int) -> int:
    return sum(tuple(sorted((*part, feature))) in missing for part in combinations(block, order - 1))
