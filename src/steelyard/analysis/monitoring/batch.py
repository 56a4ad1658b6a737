"""Batch: the counts of one look: of all rows and of each group, with their costs where they have some."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.monitoring.batch_rows import RowDigest, log_chances
from steelyard.analysis.sequential.cost_table import NODES
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.analysis.monitoring.batch_rows import BatchRows

_DIGEST = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, eq=False)
class Batch:
    """The four cells of a batch, of its groups, and the weights of the nodes of its costs."""

    name: str
    cells: Array
    groups: Mapping[str, Array] = field(default_factory=dict)
    costs: Array | None = None
    group_costs: Mapping[str, Array] = field(default_factory=dict)
    digests: tuple[RowDigest, ...] = ()  # of the rows that it is made of, one for each batch that was added

    @classmethod
    def of(cls, name: str, rows: BatchRows) -> Batch:
        """The rows counted."""
        cells, costs = rows.cells(), rows.cost_weights()
        keys = [] if rows.groups is None else sorted(set(rows.groups))
        places = {key: np.array([group == key for group in rows.groups or ()], dtype=bool) for key in keys}
        groups = {key: rows.cells(place) for key, place in places.items()}
        group_costs = {} if costs is None else {key: rows.cost_weights(place) for key, place in places.items()}
        kept = {key: part for key, part in group_costs.items() if part is not None}
        return cls(name, cells, groups, costs, kept, (rows.digest(),))

    @property
    def rows(self) -> int:
        """The rows counted."""
        return int(self.cells.sum())

    def __add__(self, other: object) -> Batch:
        if not isinstance(other, Batch):
            return NotImplemented
        costs = [part.costs for part in (self, other) if part.costs is not None]
        return Batch(
            self.name,
            self.cells + other.cells,
            _added(self.groups, other.groups),
            sum(costs[1:], costs[0]) if costs else None,
            _added(self.group_costs, other.group_costs),
            self.digests + other.digests,
        )

    def repeats(self, other: Batch) -> bool:
        """Whether some of the rows are the other's, beyond what chance would do."""
        return any(mine.repeats(theirs) for mine in self.digests for theirs in other.digests)

    def is_alike(self, other: Batch) -> bool:
        """Whether both have one name, and some rows in the same order, which few rows may have by chance."""
        orders = {digest.order for digest in self.digests}
        return self.name == other.name and any(digest.order in orders for digest in other.digests)

    @property
    def log_chance(self) -> float:
        """The logarithm of the probability, at most, with which other rows look like these."""
        in_order, in_any_order = log_chances(self.cells)
        return in_any_order if all(digest.rows == digest.order for digest in self.digests) else in_order

    def saved(self) -> dict[str, Any]:
        """The batch as JSON holds it: of costs the nodes that have weight."""
        parts: dict[str, Any] = {"name": self.name, "cells": self.cells.tolist()}
        if self.groups:
            parts["groups"] = {key: cells.tolist() for key, cells in self.groups.items()}
        if self.costs is not None:
            parts["costs"] = _sparse(self.costs)
            parts["group_costs"] = {key: _sparse(costs) for key, costs in self.group_costs.items()}
        if self.digests:
            parts["digests"] = [[digest.rows, digest.order, digest.telling] for digest in self.digests]
        return parts

    @classmethod
    def from_saved(cls, data: object) -> Batch:
        """The batch that was saved, every count checked."""
        if not isinstance(data, dict) or not isinstance(data.get("name"), str):
            raise InputError("A saved batch has a name and four counts; this one does not.")
        groups, costs = data.get("groups", {}), data.get("costs")
        if not isinstance(groups, dict) or not isinstance(data.get("group_costs", {}), dict):
            raise InputError("The groups of a saved batch are counts by name; these are not.")
        batch = cls(
            data["name"],
            _cells(data.get("cells")),
            {str(key): _cells(cells) for key, cells in groups.items()},
            None if costs is None else _dense(costs),
            {str(key): _dense(part) for key, part in data.get("group_costs", {}).items()},
            _digests(data.get("digests", [])),
        )
        if not batch.rows:
            raise InputError(f"The saved batch {batch.name!r} has no rows; it was changed.")
        if batch.groups and not np.array_equal(np.sum([*batch.groups.values()], axis=0), batch.cells):
            raise InputError(f"The groups of the saved batch {batch.name!r} do not add up to its rows; it was changed.")
        _check_costs(batch)
        return batch


def _check_costs(batch: Batch) -> None:
    """Refuse costs that are not those of the rows, each of weight 1."""
    parts = [] if batch.costs is None else [(batch.cells, batch.costs)]
    parts += [(batch.groups[key], costs) for key, costs in batch.group_costs.items() if key in batch.groups]
    missing = {*batch.group_costs} != ({*batch.groups} if batch.costs is not None else set())
    if missing or not all(np.isclose(costs.sum(), cells.sum(), rtol=1e-9) for cells, costs in parts):
        raise InputError(f"The costs of the saved batch {batch.name!r} are not those of its rows; it was changed.")


def _digests(saved: object) -> tuple[RowDigest, ...]:
    listed: list[Any] = saved if isinstance(saved, list) else [saved]
    for each in listed:
        whole = isinstance(each, list) and len(each) == 3 and all(isinstance(part, str) for part in each[:2])
        if (
            not whole
            or not all(map(_DIGEST.fullmatch, each[:2]))
            or type(each[2]) is not int
            or each[2] not in (0, 1, 2)
        ):
            raise InputError("The digests of a saved batch cannot be read; it was changed. Go on from an older copy.")
    return tuple(RowDigest(*each) for each in listed)


def _added(first: Mapping[str, Array], second: Mapping[str, Array]) -> dict[str, Array]:
    return {key: np.asarray(first.get(key, 0) + second.get(key, 0)) for key in dict.fromkeys([*first, *second])}


def _cells(saved: object) -> Array:
    if not isinstance(saved, list) or len(saved) != 4 or not all(type(n) is int and 0 <= n < 2**53 for n in saved):
        raise InputError(f"A saved batch has four whole counts, none below 0, not {saved!r}.")
    return np.array(saved, dtype=np.int64)


def _sparse(weights: Array) -> dict[str, float]:
    return {str(place): float(weights[place]) for place in np.flatnonzero(weights)}


def _dense(saved: object) -> Array:
    weights = np.zeros(NODES)
    try:
        for place, weight in dict(saved).items():  # type: ignore[call-overload]  # what is no dictionary raises
            known = str(int(place)) == place and int(place) >= 0 and type(weight) in (int, float)
            weights[int(place)] = weight if known else np.nan
    except (TypeError, ValueError, IndexError, OverflowError):
        raise InputError("The costs of a saved batch are weights by their place; these are not.") from None
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("The costs of a saved batch have weights of at least 0; some of these are not.")
    return weights
