"""Pending labels: predictions by key that wait for their labels, cohort by cohort."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.analysis.monitoring.batches import RowDigest
from steelyard.analysis.results.formatting import p_text, percent_text
from steelyard.exceptions import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array


# ---------------------------------------------------------------- label delay
# Whether labels that come late differ from those that come early, tested honestly at every look.
#
# Within a cohort of predictions, early and late labels are exchangeable where the delay does not depend on the row. Of
# a cohort whose labels have mostly come, the positives among the late half given all of them are then hypergeometric.
# The likelihood ratios against fixed odds ratios multiply over cohorts, and their mean is evidence that may be read
# after every cohort. The same is done for the predictions.


_LOG_ODDS = np.log([0.125, 0.25, 0.5, 0.67, 1.5, 2.0, 4.0, 8.0])  # late against early
_ALPHA = 0.05
_KINDS = {"truth": ([0, 1], "are positive"), "predicted": ([0, 2], "are predicted positive")}  # the cells that have it


@dataclass(eq=False)
class LabelDelay:
    """The evidence over all cohorts so far, and the cells of early and late labels."""

    wealth: dict[str, Array] = field(default_factory=lambda: {kind: np.zeros(len(_LOG_ODDS)) for kind in _KINDS})
    early: Array = field(default_factory=lambda: np.zeros(4, dtype=np.int64))
    late: Array = field(default_factory=lambda: np.zeros(4, dtype=np.int64))

    def add_cohort(self, arrivals: list[Array]) -> None:
        """The cells of a cohort's labels in the order of their arrival, divided where half of them had come."""
        sizes = np.cumsum([cells.sum() for cells in arrivals])
        if len(sizes) < 2:
            return
        after = int(np.searchsorted(sizes, sizes[-1] / 2)) + 1
        early, late = (np.sum(part, axis=0) if part else np.zeros(4) for part in (arrivals[:after], arrivals[after:]))
        if not early.sum() or not late.sum():
            return
        self.early, self.late = self.early + early.astype(np.int64), self.late + late.astype(np.int64)
        for kind, (cells, _) in _KINDS.items():
            self.wealth[kind] = self.wealth[kind] + _log_ratios(early, late, cells)

    def p_value(self, kind: str) -> float:
        """The p-value of the evidence of one kind, by Bonferroni over both kinds."""
        evidence = np.logaddexp.reduce(self.wealth[kind]) - np.log(len(_LOG_ODDS))
        return float(min(1.0, len(_KINDS) * np.exp(-evidence)))

    @property
    def warnings(self) -> list[str]:
        """What differs, in sentences; none where nothing does."""
        return [self._sentence(kind) for kind in _KINDS if self.p_value(kind) <= _ALPHA]

    def _sentence(self, kind: str) -> str:
        cells, words = _KINDS[kind]
        early, late = (percent_text(float(part[cells].sum() / part.sum())) for part in (self.early, self.late))
        return (
            f"Labels that come late differ: {early} of the early ones {words} and {late} of the late ones "
            f"({p_text(self.p_value(kind))} at any look), so that metrics of the labels so far are biased; wait for "
            "whole cohorts with mature=."
        )

    def saved(self) -> dict[str, Any]:
        """The evidence as JSON holds it."""
        wealth = {kind: logs.tolist() for kind, logs in self.wealth.items()}
        return {"wealth": wealth, "early": self.early.tolist(), "late": self.late.tolist()}

    @classmethod
    def from_saved(cls, data: dict[str, Any]) -> LabelDelay:
        """The evidence that was saved; no row of the late half can add more than the largest odds ratio to it."""
        try:
            wealth, (early, late) = data["wealth"], (data[part] for part in ("early", "late"))
            numbers = [wealth[kind] for kind in _KINDS]
            is_valid = all(type(cell) is int and 0 <= cell < 2**53 for cells in (early, late) for cell in cells)
            is_valid &= all(type(log) in (int, float) for logs in numbers for log in logs)
            most = float(np.abs(_LOG_ODDS).max()) * (1 + 1e-9) * (sum(late) if is_valid else 0)
            is_valid &= all(abs(log) <= most for logs in numbers for log in logs)
            is_valid &= [*map(len, numbers), len(early), len(late)] == [len(_LOG_ODDS)] * len(_KINDS) + [4, 4]
        except (KeyError, TypeError, ValueError, AttributeError):
            is_valid = False
        if not is_valid:
            raise InputError("The label delays of this saved monitor cannot be read; it was changed.")
        logs = {kind: np.array(wealth[kind], dtype=np.float64) for kind in _KINDS}
        return cls(logs, np.array(early, dtype=np.int64), np.array(late, dtype=np.int64))


def _log_ratios(early: Array, late: Array, cells: list[int]) -> Array:
    """The logarithm of the likelihood ratio of each odds ratio against 1, given how many rows have it in all."""
    from scipy.special import gammaln

    first, second = int(early.sum()), int(late.sum())
    among, total = int(late[cells].sum()), int(late[cells].sum() + early[cells].sum())
    possible = np.arange(max(0, total - first), min(total, second) + 1)

    def choose(n: int, k: Array) -> Array:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    logs = choose(second, possible) + choose(first, total - possible)
    logs -= np.logaddexp.reduce(logs)
    return np.asarray(among * _LOG_ODDS - np.logaddexp.reduce(logs + possible * _LOG_ODDS[:, None], axis=1))


# ---------------------------------------------------------------- pending labels


RowKey: TypeAlias = "str | int"
Waiting: TypeAlias = "tuple[bool, str | None]"  # whether the row was predicted positive, and its group
_SETTLED = 10  # the age in cohorts at which early and late labels are compared, though some may never come
_EARLIEST = 100_000  # labels that are kept though no prediction has their key yet
_NAMED = 5  # keys that a sentence names
REMEMBERED = 30  # cohorts whose labelled keys are kept, so that a second label is seen to be one


@dataclass(frozen=True)
class JoinReport:
    """What became of labels that came by key."""

    joined: int
    duplicate: int
    unknown: int
    late: int
    waiting: int
    contradicted: tuple[RowKey, ...] = ()

    def __repr__(self) -> str:
        counts = {"joined": self.joined, "given twice": self.duplicate, "of unknown keys": self.unknown}
        counts |= {"later than mature= allows": self.late, "still awaited": self.waiting}
        stated = "labels: " + ", ".join(f"{n:,} {words}" for words, n in counts.items() if n or words == "joined")
        return "; ".join([stated, *(text.rstrip(".") for text in contradiction_sentences(self.contradicted))])


@dataclass(eq=False)
class Cohort:
    """The predictions of one period: those that wait, the keys that are labelled, and the labels by their age."""

    name: str
    born: int
    waiting: dict[RowKey, Waiting] = field(default_factory=dict)
    labelled: dict[RowKey, bool] = field(default_factory=dict)
    arrivals: dict[int, Array] = field(default_factory=dict)
    held: list[tuple[bool, bool, str | None, float | None]] = field(default_factory=list)
    size: int = 0
    compared: bool = False
    released: bool = False
    digest: str = ""  # of its keys in any order; it stays when the keys that were labelled are forgotten


@dataclass(eq=False)
class PendingLabels:
    """All cohorts in their order; `mature` is the age at which the labels of one are used, at once where None."""

    mature: int | None = None
    cohorts: list[Cohort] = field(default_factory=list)
    delay: LabelDelay = field(default_factory=LabelDelay)
    duplicate: int = 0
    unknown: int = 0
    early: dict[RowKey, tuple[bool, float | None]] = field(default_factory=dict)  # labels that came before predictions
    contradicted: list[RowKey] = field(default_factory=list)  # keys that have had both labels
    late: int = 0  # labels that came when their cohort was used already

    def __post_init__(self) -> None:
        self._homes = {key: cohort for cohort in self.cohorts for key in cohort.waiting}

    @property
    def waiting(self) -> int:
        """The predictions that have no label yet."""
        return len(self._homes)

    def add(self, name: str, keys: Iterable[RowKey], predicted: Array, groups: Sequence[str] | None) -> int:
        """A cohort of predictions; a key that waits already, or stands twice, counts once. How many did."""
        keys = list(keys)
        cohort = Cohort(name, len(self.cohorts), digest=_key_digest(keys))
        before = self.duplicate
        for row, key in enumerate(keys):
            if key in self._homes or any(key in old.labelled for old in self._recent()):
                self.duplicate += 1
                continue
            cohort.waiting[key] = bool(predicted[row]), None if groups is None else groups[row]
            self._homes[key] = cohort
        cohort.size = len(cohort.waiting)
        self.cohorts.append(cohort)
        for key in [key for key in cohort.waiting if key in self.early]:
            self._join_one(key, cohort, *self.early.pop(key))
        for old in self.cohorts[:-REMEMBERED]:
            old.labelled.clear()
        self._compare()
        return self.duplicate - before

    def refuse_repeated(self, name: str, keys: Sequence[RowKey]) -> None:
        """Refuse a period that was added already, and the keys of one, which after some cohorts are not known again."""
        if any(old.name == name for old in self.cohorts):
            raise InputError(
                f"The predictions of the period {name!r} were added already; give each once, and others another period."
            )
        digest = _key_digest(keys)
        earlier = next((old for old in self.cohorts if keys and old.digest == digest), None)
        if earlier is not None:
            raise InputError(
                f"The keys of {name!r} are those of {earlier.name!r}, whose predictions were added already; leave "
                "them out."
            )

    @property
    def is_open(self) -> bool:
        """Whether it keeps predictions, labels or rows that no batch has yet."""
        return bool(self._homes or self.early or any(cohort.held for cohort in self.cohorts))

    @property
    def keys(self) -> set[RowKey]:
        """The keys that are known: those that wait, and those that were labelled in the last cohorts."""
        return {*self._homes, *(key for cohort in self._recent() for key in cohort.labelled)}

    def _recent(self) -> list[Cohort]:
        return [cohort for cohort in self.cohorts[-REMEMBERED:] if cohort.labelled]

    def join(self, keys: Sequence[RowKey], truth: Array, costs: Array | None) -> JoinReport:
        """Labels by key; second ones are left out, and those of unknown keys kept until their predictions come."""
        joined, late = 0, 0
        duplicate, unknown, early = self.duplicate, self.unknown, len(self.early)  # so far
        contradicted = len(self.contradicted)
        for row, key in enumerate(keys):
            cost = None if costs is None else float(costs[row])
            cohort = self._homes.get(key)
            if cohort is None:
                self._take_unmatched(key, bool(truth[row]), cost)
                continue
            if cohort.released:
                late += 1
            else:
                joined += 1
            self._join_one(key, cohort, bool(truth[row]), cost)
        self.late += late
        self._compare()
        return JoinReport(
            joined,
            duplicate=self.duplicate - duplicate,
            unknown=self.unknown - unknown + len(self.early) - early,
            late=late,
            waiting=self.waiting,
            contradicted=tuple(self.contradicted[contradicted:]),
        )

    def _take_unmatched(self, key: RowKey, truth: bool, cost: float | None) -> None:
        """A label that no prediction waits for: a second one, or one that came before its prediction."""
        if key in self.early:
            former: bool | None = self.early[key][0]
        else:
            former = next((old.labelled[key] for old in self._recent() if key in old.labelled), None)
        if former is not None and former != truth:
            self.contradicted.append(key)
        elif former is not None:
            self.duplicate += 1
        elif len(self.early) < _EARLIEST:
            self.early[key] = truth, cost
        else:
            self.unknown += 1

    def _join_one(self, key: RowKey, cohort: Cohort, truth: bool, cost: float | None) -> None:
        del self._homes[key]
        predicted, group = cohort.waiting.pop(key)
        cohort.labelled[key] = truth
        age = len(self.cohorts) - 1 - cohort.born
        cells = cohort.arrivals.setdefault(age, np.zeros(4, dtype=np.int64))
        cells[(0 if predicted else 1) if truth else (2 if predicted else 3)] += 1
        if not cohort.released:
            cohort.held.append((truth, predicted, group, cost))

    @property
    def late_sentences(self) -> list[str]:
        """How many labels came when the rows of their cohort were used already, and what to do about it."""
        came = _counted(self.late, "label came", "labels came")
        rest = "after their cohort was mature and were left out; give batches in the order in which they came, or"
        return [f"{text.rstrip('.')} {rest} leave out mature=." for text in came]

    @property
    def sentences(self) -> list[str]:
        """Keys that came twice, and labels of unknown keys."""
        most = f"; {_EARLIEST:,} are kept"
        return [
            *self.late_sentences,
            *contradiction_sentences(self.contradicted),
            *_counted(self.duplicate, "key came twice", "keys came twice"),
            *_counted(
                len(self.early),
                "label came before its prediction and is kept",
                "labels came before their predictions and are kept",
            ),
            *_counted(
                self.unknown,
                f"label of an unknown key was left out{most}",
                f"labels of unknown keys were left out{most}",
            ),
        ]

    def _compare(self) -> None:
        """Compare early and late labels of cohorts, each once: when all have come, or when it is old.

        Were it done when most have come, the late labels of rare positives would never be seen.
        """
        for cohort in (cohort for cohort in self.cohorts if not cohort.compared):
            age = len(self.cohorts) - 1 - cohort.born
            settled = self.mature is None and age >= _SETTLED and len(cohort.arrivals) > 1
            if not cohort.waiting or settled or self.is_mature(cohort):
                self.delay.add_cohort([cells for _, cells in sorted(cohort.arrivals.items())])
                cohort.compared, cohort.arrivals = True, {}

    def is_mature(self, cohort: Cohort) -> bool:
        """Whether the cohort has the age at which its labels are used; never without mature=."""
        return self.mature is not None and len(self.cohorts) - 1 - cohort.born >= self.mature

    def released(self) -> list[tuple[str, list[tuple[bool, bool, str | None, float | None]]]]:
        """The labelled rows that may be used now: all that have come, or those of cohorts that have become mature."""
        if self.mature is None:
            rows = [row for cohort in self.cohorts for row in cohort.held]
            for cohort in self.cohorts:
                cohort.held = []
            return [("", rows)] if rows else []
        ready = [cohort for cohort in self.cohorts if self.is_mature(cohort) and not cohort.released]
        parts = [(cohort.name, cohort.held) for cohort in ready]
        for cohort in ready:
            cohort.held, cohort.released = [], True
        self._compare()
        return [(name, rows) for name, rows in parts if rows]


def contradiction_sentences(keys: Sequence[RowKey]) -> list[str]:
    """Which keys have had both labels, and what was done about it; none where there are none."""
    if not keys:
        return []
    named = ", ".join(map(repr, keys[:_NAMED])) + (f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else "")
    one = len(keys) == 1
    came = "1 label contradicts" if one else f"{len(keys):,} labels contradict"
    return [f"{came} an earlier one of the same key ({named}), and the first counts: find out which is right."]


def _key_digest(keys: Sequence[RowKey]) -> str:
    return RowDigest.of([repr(key) for key in keys]).rows


def _counted(number: int, one: str, many: str) -> list[str]:
    return [f"{number:,} {one if number == 1 else many}."] if number else []


def checked_keys(keys: Sequence[Any]) -> list[RowKey]:
    """Keys that JSON can hold: text or whole numbers."""
    plain = [key.item() if isinstance(key, np.generic) else key for key in keys]
    for key in plain:
        if isinstance(key, bool) or not isinstance(key, (str, int)):
            raise InputTypeError(f"Keys are text or whole numbers, not {key!r}; give a column that names each row.")
    return plain


def check_sizes(**columns: Sequence[Any] | Array | None) -> None:
    """Refuse columns of different lengths."""
    sizes = {name: len(column) for name, column in columns.items() if column is not None}
    if len({*sizes.values()}) > 1:
        shown = ", ".join(f"{name} has {size:,}" for name, size in sizes.items())
        raise InputError(f"Each row has one of every column; {shown}.")


def checked_age(mature: int | None) -> int | None:
    """The age at which labels are used: a whole number of cohorts."""
    if mature is not None and (isinstance(mature, bool) or not isinstance(mature, int) or mature < 1):
        raise InputError(argument="mature", expected="an age in cohorts, a whole number of at least 1", given=mature)
    return mature
