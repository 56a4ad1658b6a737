"""Reasons: why a metric is undefined on a table, in the words of what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.metrics.expression import Expression, Named, Number, Operation, Ratio, Symbol
from steelyard.metrics.expression_value import evaluate_expression
from steelyard.metrics.expression_walk import children, walk
from steelyard.metrics.notation import plain_number, text
from steelyard.tables.counts import CELLS, Cells

if TYPE_CHECKING:
    from collections.abc import Iterator

_EMPTY = {
    frozenset(("tp", "fn")): "no positives",
    frozenset(("fp", "tn")): "no negatives",
    frozenset(("tp", "fp")): "no predicted positives",
    frozenset(("fn", "tn")): "no predicted negatives",
    frozenset(CELLS): "no rows",
    frozenset(("tp", "fp", "fn")): "no positives, true or predicted",
    frozenset(("tn", "fp", "fn")): "no negatives, true or predicted",
    frozenset(("fp",)): "no false positives",
    frozenset(("fn",)): "no false negatives",
    frozenset(("tp",)): "no true positives",
    frozenset(("tn",)): "no true negatives",
}


def reason(node: Expression, cells: Cells) -> str | None:
    """Why the expression is undefined on one table, or None where it is not."""
    match node:
        case Named(inner=inner):
            return reason(inner, cells)
        case Operation(sign="where", args=(condition, then, otherwise)):
            chosen = then if evaluate_expression(condition, cells) else otherwise
            return reason(condition, cells) or reason(chosen, cells)
        case Ratio(above=above, below=below, limit=limit, why=why):
            inner_reason = reason(below, cells) or reason(above, cells)
            if inner_reason or evaluate_expression(below, cells) != 0:
                return inner_reason
            if limit is not None and evaluate_expression(above, cells) == 0:
                return None
            return why or _empty(below, cells)
        case Operation(sign="/", args=(above, below)):
            return reason(Ratio(above, below, None, None), cells)
    return next((why for why in (reason(child, cells) for child in children(node)) if why), None)


def _empty(below: Expression, cells: Cells) -> str:
    """In words, what is missing when this denominator is 0."""
    for factor in _factors(below):
        if evaluate_expression(factor, cells) == 0:
            return _phrase(factor)
    return _phrase(below)


def _factors(node: Expression) -> Iterator[Expression]:
    match node:
        case Operation(sign="*", args=args):
            for arg in args:
                yield from _factors(arg)
        case Operation(sign="sqrt", args=(inner,)):
            yield from _factors(inner)
        case Number():
            return
        case _:
            yield node


def _phrase(node: Expression) -> str:
    cells = frozenset(leaf.name for leaf in walk(node) if isinstance(leaf, Symbol))
    plain = all(isinstance(n, (Symbol, Number)) or (isinstance(n, Operation) and n.sign in "+*") for n in walk(node))
    products = sum(isinstance(n, Operation) and n.sign == "*" and not _has_number(n) for n in walk(node))
    if plain and not products and cells in _EMPTY:
        return _EMPTY[cells]
    return f"{text(node)} is 0"


def _has_number(node: Operation) -> bool:
    return any(isinstance(arg, Number) for arg in node.args)


def guards(node: Expression) -> list[tuple[str, str]]:
    """What each guarded division does at 0: (the denominator's zero in words, the limit or "undefined")."""
    found: dict[str, str] = {}
    for part, factor in _guarded(node):
        phrase = part.why or _phrase(factor)
        found.setdefault(phrase, "undefined" if part.limit is None else plain_number(part.limit))
    return list(found.items())


def zeros(node: Expression) -> list[tuple[str, Expression]]:
    """The parts of a formula that leave it undefined where they are 0, each with the words for it."""
    return [(part.why or _phrase(factor), factor) for part, factor in _guarded(node) if part.limit is None]


def _guarded(node: Expression) -> Iterator[tuple[Ratio, Expression]]:
    for part in walk(node):
        if isinstance(part, Ratio):
            yield from ((part, factor) for factor in _factors(part.below))
