"""Brackets: which models of an order no test distinguishes, and the letters that say so.

Letters as in Piepho (2004), Journal of Computational and Graphical Statistics 13, 456-466: two models share one exactly
where they are not distinguishable, which need not pass on from a pair to the next.
"""

from __future__ import annotations

from itertools import combinations, count
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

Bracket: TypeAlias = tuple[str, ...]
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def brackets(order: Sequence[str], distinguished: Collection[frozenset[str]]) -> tuple[Bracket, ...]:
    """Sets of models that no test distinguishes, as large as can be, which cover every such pair and every model.

    >>> brackets("ABCD", {frozenset("AC"), frozenset("AD"), frozenset("BD")})
    (('A', 'B'), ('B', 'C'), ('C', 'D'))
    """
    alike = [pair for pair in combinations(order, 2) if frozenset(pair) not in distinguished]
    grown: list[Bracket] = []
    for a, b in alike:
        if not any(a in bracket and b in bracket for bracket in grown):
            grown.append(_grown((a, b), order, distinguished))
    for model in order:
        if not any(model in bracket for bracket in grown):
            grown.append((model,))
    places = {model: place for place, model in enumerate(order)}
    return tuple(sorted(_needed(grown), key=lambda bracket: [places[model] for model in bracket]))


def _grown(pair: Bracket, order: Sequence[str], distinguished: Collection[frozenset[str]]) -> Bracket:
    """The pair and every model that fits to all before it: first those between them and next in the order."""
    members = set(pair)
    for model in order:
        if all(frozenset((model, member)) not in distinguished for member in members - {model}):
            members.add(model)
    return tuple(model for model in order if model in members)


def _needed(grown: list[Bracket]) -> list[Bracket]:
    """Those without which some pair would be in none; a later one may hold all pairs of an earlier one."""
    kept = list(grown)
    for bracket in grown:
        others = [other for other in kept if other is not bracket]
        pairs = list(combinations(bracket, 2))
        if pairs and all(any(a in other and b in other for other in others) for a, b in pairs):
            kept = others
    return kept


def letters(order: Sequence[str], found: Sequence[Bracket]) -> dict[str, str]:
    """The letters of each model, one for each bracket that it is in.

    >>> letters("ABC", [("A", "B"), ("B", "C")])
    {'A': 'a', 'B': 'ab', 'C': 'b'}
    """
    named = list(zip(_names(), found, strict=False))
    joint = "" if len(found) <= len(_ALPHABET) else ","
    return {model: joint.join(name for name, bracket in named if model in bracket) for model in order}


def _names() -> Iterator[str]:
    """First a to z, then a1 to z1, and so on."""
    for turn in count():
        yield from (f"{letter}{turn or ''}" for letter in _ALPHABET)
