"""Tally: what was counted of one set of predictions, as a whole and by group, to be saved and added up."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._names import __version__
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays.labels import label_texts, number_texts
from steelyard.arrays.sparse import SparseMatrix
from steelyard.exceptions import InputError
from steelyard.tables import score_table
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.confusion import Confusion, merge_labels
from steelyard.tables.paired_table import Paired
from steelyard.tables.saved import SCHEMA, Saved, is_saved_label, read_table, to_strict_json
from steelyard.tables.score_table import ScoreTable
from steelyard.written_files import Saveable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array, Label, Labels


_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_BIN = re.compile(  # as a Condition is written
    rf"(?:(?P<low>{_NUMBER}) <= )?(?P<name>\S.*?)(?: < {_NUMBER}| >= (?P<least>{_NUMBER}))"
)


def merge_groups(groups: Mapping[Labels, Tally], others: Mapping[Labels, Tally], columns: int) -> dict[Labels, Tally]:
    """The groups of two tallies in order, those of one key added up; numbers that meet text in a key are text."""
    listed = [*groups.items(), *others.items()]
    texts = [number_texts(key[i] for key, _ in listed) for i in range(columns)]
    merged: dict[Labels, Tally] = {}
    for key, group in listed:
        name = tuple(names.get(value, value) for names, value in zip(texts, key, strict=True))
        merged[name] = merged[name] + group if name in merged else group
    return {key: merged[key] for key in sorted(merged, key=group_order)}


def group_label(by: Sequence[str], key: Labels) -> str:
    """A group in words, as a slice has them; a bin of numbers names its column itself.

    >>> group_label(["site", "year"], ("north", 2024))
    'site = north, year = 2024'
    >>> group_label(["site", "age"], ("north", "34 <= age < 51"))
    'site = north, 34 <= age < 51'
    >>> group_label(["site", "age"], ("north", None))
    'site = north, age is missing'
    """
    return ", ".join(_words(name, value) for name, value in zip(by, key, strict=True))


def _words(name: str, value: Label) -> str:
    bin_ = _BIN.fullmatch(value) if isinstance(value, str) else None
    if bin_ is not None and bin_["name"] in (name, json.dumps(name, ensure_ascii=False)):
        return str(value)
    return f"{name} is missing" if value is None else f"{name} = {value}"


def group_order(key: Labels) -> list[tuple[bool, str, Any]]:
    """What the keys of groups are sorted by: their values, kind by kind, missing ones last."""
    return [(value is None, str(type(value)), _place(value)) for value in key]


def _place(value: Label) -> Any:
    """What a value is sorted by: a bin by its lower end, and so before all other text."""
    if not isinstance(value, str):
        return value
    bin_ = _BIN.fullmatch(value)
    low = -math.inf if bin_ is None else float(bin_["low"] or bin_["least"] or -math.inf)
    return bin_ is None, low, value


# ---------------------------------------------------------------- saved groups


_SLACK = 1e-9  # relative: what the rounding of sums in another order may leave


def check_saved_groups(tally: Tally) -> None:
    """Refuse groups whose tables do not add up to those of all rows, cell by cell."""
    groups = [*tally.groups.values()]
    labels = _labels_add_up(tally.confusion, [group.confusion for group in groups])
    pairs = _labels_add_up(tally.paired, [group.paired for group in groups])
    if groups and not (labels and pairs and _scores_add_up(tally.scores, [group.scores for group in groups])):
        raise InputError("The groups of this tally do not add up to its whole; tally the rows again.")


def check_saved_costs(tally: Tally) -> None:
    """Refuse costs of rows that are not among the scores of the tally."""
    for name, costs in tally.costs.items():
        bins = score_table.NO_BINS if tally.scores is None else tally.scores.bins
        sides = [score_table.lowered(side, bins) for side in costs.classes]
        if tally.scores is None or not all(map(_are_among, sides, tally.scores.classes)):
            raise InputError(
                f"The costs {name!r} of this tally are not of the rows it has scores of; tally them again."
            )


def _are_among(part: ClassScores, whole: ClassScores) -> bool:
    some, every = part.compact(), whole.compact()
    places = np.searchsorted(every.scores, some.scores)
    there = places < len(every.scores)
    return bool(there.all() and (every.scores[places] == some.scores).all() and (every.rows[places] >= some.rows).all())


def _labels_add_up(whole: Confusion | Paired | None, parts: Sequence[Confusion | Paired | None]) -> bool:
    present = [part for part in parts if part is not None]
    if whole is None or len(present) < len(parts):
        return whole is None and not present
    if not all({*part.labels} <= {*whole.labels} for part in present):
        return False
    alike = [part.relabelled(whole.labels) for part in present]
    columns = ("rows", "weights", "squares") if getattr(whole, "weighted", False) else ("rows",)
    return all(_add_up([getattr(part, name) for part in alike], getattr(whole, name)) for name in columns)


def _add_up(parts: Sequence[Array], whole: Array) -> bool:
    if not parts:
        return not whole.sum()
    total: Any = reduce(add, parts[1:], parts[0])
    if not isinstance(whole, SparseMatrix):
        return _equal(total, whole)
    return np.array_equal(total.places, whole.places) and _equal(total.values, whole.values)


def _scores_add_up(whole: ScoreTable | None, parts: Sequence[ScoreTable | None]) -> bool:
    present = [part for part in parts if part is not None]
    if whole is None or len(present) < len(parts):
        return whole is None and not present
    bins = score_table.merge_bins(np.concatenate([whole.bins, *(part.bins for part in present)]))  # the coarsest
    return all(_same_class(side, [part.classes[i] for part in present], bins) for i, side in enumerate(whole.classes))


def _same_class(whole: ClassScores, parts: Sequence[ClassScores], bins: Array) -> bool:
    """Whether the scores of one class in all groups are those of the whole, with their rows and weights."""
    sides = [part for part in parts if part.size]
    scores = np.concatenate([part.scores for part in sides]) if sides else np.zeros(0)
    order = np.argsort(scores, kind="stable")
    names = ("rows", "weights", "squares")
    rows, weights, squares = (
        np.concatenate([getattr(part, name) for part in sides] or [scores])[order] for name in names
    )
    joined = score_table.lowered(ClassScores(scores[order], rows, weights, squares), bins).compact()
    mine = score_table.lowered(whole, bins).compact()
    return len(mine.scores) == len(joined.scores) and all(
        _equal(getattr(joined, name), getattr(mine, name)) for name in ("scores", *names)
    )


def _equal(values: Array | float, others: Array) -> bool:
    return bool(np.isclose(values, others, rtol=_SLACK, atol=0).all())


# ---------------------------------------------------------------- tally


TALLY_TABLES: dict[str, type[Confusion | ScoreTable | Paired]] = {
    "confusion": Confusion,
    "scores": ScoreTable,
    "paired": Paired,
}


@dataclass(frozen=True, eq=False)
class Tally(Saveable):
    """The tables of one set of predictions: labels, scores, or two models side by side; and those of each group.

    Tallies of other rows, of another file, day or machine, merge with `+`. Numbers that meet text are text, as in one
    file of all rows. `columns` names the columns counted, by use, and `sources` the files, by the digest of their
    bytes: tallies of other columns, or of a file twice, are refused. `costs` has the scores weighted by each column of
    costs. Equality is about what was counted alone.

    >>> from steelyard import confusion
    >>> monday, tuesday = Tally(confusion([0, 1, 1], [0, 1, 0])), Tally(confusion([0, 1], [1, 1]))
    >>> (monday + tuesday).confusion.rows.tolist()
    [[1, 1], [1, 2]]
    """

    confusion: Confusion | None = None
    scores: ScoreTable | None = None
    paired: Paired | None = None
    labels: Labels = ()
    by: tuple[str, ...] = ()
    groups: Mapping[Labels, Tally] = field(default_factory=dict)
    models: tuple[str, ...] = ()  # of two models side by side, what they are called
    columns: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    costs: Mapping[str, ScoreTable] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The rows counted."""
        if self.confusion is not None:
            return int(self.confusion.rows.sum())
        if self.scores is not None:
            return self.scores.n
        return self.paired.n if self.paired is not None else 0

    @property
    def smallest(self) -> int:
        """The rows of the smallest cell that has any; of scores, of the smaller class."""
        classes = [] if self.scores is None else [scores.n for scores in self.scores.classes]
        cells = [table.rows.ravel() for table in (self.confusion, self.paired) if table is not None]
        return min((int(n) for n in np.concatenate([classes, *cells]) if n), default=0)

    @names_wrong_arguments
    def with_groups_of(self, least: int) -> Tally:
        """The same without the groups that have a cell of fewer rows; never without one alone.

        The rows of a single group left out would be the total less the others, so the next smallest goes with it.
        """
        order = sorted(self.groups, key=lambda key: (self.groups[key].smallest >= least, self.groups[key].rows))
        small = sum(group.smallest < least for group in self.groups.values())
        removed = order[: max(small, 2) if small else 0]
        return replace(self, groups={key: group for key, group in self.groups.items() if key not in removed})

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        self._check_alike(other)
        texts = label_texts(self._labels(), other._labels())
        mine, others = self.renamed(texts), other.renamed(texts)
        tables: dict[str, Any] = {name: getattr(mine, name) + getattr(others, name) for name in self._tables()}
        labels = merge_labels(mine.labels, others.labels)
        groups = merge_groups(mine.groups, others.groups, len(self.by))
        return Tally(
            **tables,
            labels=labels,
            by=self.by,
            groups={key: group.relabelled(labels) for key, group in groups.items()},
            models=self.models or other.models,
            columns={**other.columns, **self.columns},
            sources={**self.sources, **other.sources},
            costs={name: table + others.costs[name] for name, table in mine.costs.items()},
        )

    def _check_alike(self, other: Tally) -> None:
        """Refuse another tally that holds other things, models or columns, or the same rows."""
        if self._tables() != other._tables() or self.by != other.by or {*self.costs} != {*other.costs}:
            kinds = f"{self._kinds()} and {other._kinds()}"
            raise InputError(f"These tallies hold different things, {kinds}; tally both alike.")
        if self.models and other.models and self.models != other.models:
            pairs = " and ".join(" against ".join(map(repr, tally.models)) for tally in (self, other))
            raise InputError(f"These tallies hold other models, {pairs}; tally the same two, in one order.")
        for use in (use for use in self.columns if self.columns[use] != other.columns.get(use, self.columns[use])):
            raise InputError(
                f"These tallies count other columns, {use}={self.columns[use]!r} and {use}={other.columns[use]!r}; "
                "tally one model at a time, and rename a column that has another name in some files."
            )
        for digest in (digest for digest in self.sources if digest in other.sources):
            raise InputError(twice_sentence(self.sources[digest], other.sources[digest]))

    def _labels(self) -> Labels:
        """All labels that the tables name."""
        of_tables = [table.labels for table in (self.confusion, self.paired) if table is not None]
        positive = () if self.scores is None else (self.scores.label,)
        return tuple(dict.fromkeys(label for labels in (self.labels, *of_tables, positive) for label in labels))

    @names_wrong_arguments
    def relabelled(self, labels: Labels) -> Tally:
        """The same tally with its tables of labels over more labels, in the given order."""
        tables: dict[str, Any] = {
            name: table.relabelled(labels)
            for name, table in (("confusion", self.confusion), ("paired", self.paired))
            if table is not None
        }
        return replace(self, **tables) if tables else self

    @names_wrong_arguments
    def renamed(self, names: Mapping[Label, Label]) -> Tally:
        """The same tally with other names for some labels."""
        if not names:
            return self
        tables: dict[str, Any] = {name: getattr(self, name).renamed(names) for name in self._tables()}
        tables["costs"] = {name: table.renamed(names) for name, table in self.costs.items()}
        groups = {key: group.renamed(names) for key, group in self.groups.items()}
        return replace(self, **tables, labels=tuple(names.get(label, label) for label in self.labels), groups=groups)

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented  # so that sum(tallies) works

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.labels, self.by, self.rows))

    def __repr__(self) -> str:
        groups = f", {len(self.groups):,} groups by {', '.join(self.by)}" if self.by else ""
        return f"<Tally of {self.rows:,} rows: {self._kinds()}{groups}>"

    def _tables(self) -> list[str]:
        return [name for name in TALLY_TABLES if getattr(self, name) is not None]

    def _kinds(self) -> str:
        return " and ".join([*self._tables(), *(f"costs by {name}" for name in self.costs)]) or "nothing"

    def to_dict(self) -> dict[str, Any]:
        """The tables as strict JSON values."""
        parts = {name: getattr(self, name).saved() for name in self._tables()}
        parts |= {"models": list(self.models)} if self.models else {}
        parts |= {"costs": {name: table.saved() for name, table in self.costs.items()}} if self.costs else {}
        if not self.by:
            return {"labels": list(self.labels), **parts}
        listed = [{"key": list(key), **group.to_dict()} for key, group in self.groups.items()]
        return {"labels": list(self.labels), **parts, "by": list(self.by), "groups": listed}

    def to_json(self) -> str:
        """The tally as strict JSON, with the number of its schema, who wrote it, the columns and the sources."""
        origin = {"columns": dict(self.columns), "sources": dict(self.sources)}
        written = {name: names for name, names in origin.items() if names}
        head = {"schema": SCHEMA, "kind": "tally", "version": __version__}
        return to_strict_json({**head, **written, **self.to_dict()})

    @classmethod
    @names_wrong_arguments
    def from_json(cls, text: Saved) -> Tally:
        """The tally that `to_json` wrote, every table of it checked; anything else is refused."""
        optional = (*TALLY_TABLES, "by", "groups", "models", "columns", "sources", "costs")
        data = read_table(text, "tally", ("labels",), optional)
        columns, sources = (_saved_names(data[name]) for name in ("columns", "sources"))
        tally = replace(cls._from_dict(data), columns=columns, sources=sources)
        check_saved_groups(tally)
        check_saved_costs(tally)
        return tally

    @classmethod
    def _from_dict(cls, data: object) -> Tally:
        if not isinstance(data, dict) or not isinstance(data.get("labels"), list):
            raise InputError("A saved tally lists its labels and its tables; this one does not.")
        if not all(map(is_saved_label, data["labels"])):
            raise InputError("The labels of a saved tally are text or finite numbers; this one lists others.")
        saved = {name: data[name] for name in TALLY_TABLES if data.get(name) is not None}
        parts: dict[str, Any] = {
            name: TALLY_TABLES[name].from_json(table if isinstance(table, dict) else {})
            for name, table in saved.items()
        }
        if not parts:
            raise InputError("A saved tally holds a confusion, scores or a paired table; this one holds none of them.")
        by, groups, models = (data.get(name) or [] for name in ("by", "groups", "models"))
        if not isinstance(models, list) or len(models) not in (0, 2):
            raise InputError("The models of a saved tally are the names of two; this one lists others.")
        if not isinstance(by, list) or not isinstance(groups, list) or not all(isinstance(g, dict) for g in groups):
            raise InputError("The groups of a saved tally are a list, each with its key and its tables.")
        tables = {tuple(_key(group, len(by))): cls._from_dict(group) for group in groups}
        if len(tables) < len(groups):
            raise InputError("A saved tally lists each group once; this one lists a group twice. Tally the rows again.")
        return cls(
            **parts,
            labels=tuple(data["labels"]),
            by=tuple(map(str, by)),
            groups=tables,
            models=tuple(map(str, models)),
            costs=_saved_costs(data.get("costs") or {}),
        ).checked()

    def checked(self) -> Tally:
        """The tally, where its groups add up to the whole."""
        if self.groups and sum(group.rows for group in self.groups.values()) != self.rows:
            raise InputError("The groups of this tally do not add up to its whole; tally the rows again.")
        return self


def twice_sentence(name: str, again: str) -> str:
    """The refusal of rows that would be counted twice."""
    names = repr(name) if name == again else f"{name!r} and {again!r}, which are the same,"
    return f"{names} would be counted twice; leave one out, or join the files first where both are meant."


def _saved_names(names: object) -> dict[str, str]:
    if names is not None and not (isinstance(names, dict) and all(isinstance(name, str) for name in names.values())):
        raise InputError("The columns and the sources of a saved tally are names; this one holds something else.")
    return {} if names is None else names


def _saved_costs(tables: object) -> dict[str, ScoreTable]:
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise InputError("The costs of a saved tally are tables of scores by the name of their column.")
    return {str(name): ScoreTable.from_json(table) for name, table in tables.items()}


def _key(group: dict[str, Any], size: int) -> list[Any]:
    key = group.get("key")
    if not isinstance(key, list) or len(key) != size or not all(each is None or is_saved_label(each) for each in key):
        raise InputError("Each group of a saved tally has a key, one value for each column it was grouped by.")
    return key
