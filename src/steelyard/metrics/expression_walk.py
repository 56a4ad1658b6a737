"""The nodes of a traced formula, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.metrics.expression import Expression, Named, Operation, Ratio

if TYPE_CHECKING:
    from collections.abc import Iterator


def walk(node: Expression) -> Iterator[Expression]:
    """The node and all below it, the first written first."""
    left = [node]
    while left:
        last = left.pop()
        yield last
        left.extend(reversed(children(last)))


def children(node: Expression) -> tuple[Expression, ...]:
    """The nodes right below this one."""
    match node:
        case Operation(args=args):
            return args
        case Ratio(above=above, below=below):
            return (above, below)
        case Named(inner=inner):
            return (inner,)
    return ()
