"""Study: what one paper's experiment gives when it is run again: tables, pictures, and its claims tried."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, get_args

import numpy as np

from steelyard.analysis.comparison.classical_tests import corrected_t_test
from steelyard.analysis.results.formatting import number_of
from steelyard.analysis.results.result import Flat, Result, table_text
from steelyard.analysis.results.result_json import from_fields
from steelyard.exceptions import InputError
from steelyard.report.figures import style
from steelyard.report.terminal.layout import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from steelyard.analysis.results.result_json import Writer
    from steelyard.report.figures.display import Display


# ---------------------------------------------------------------- claims
# What a paper says, the effects that a run finds over disjoint seeds, and the verdict by these.


Verdict = Literal["holds", "holds with qualification", "not shown", "does not hold"]
TableRow: TypeAlias = dict[str, Any]  # a cell is text, a number or None
ABOVE_0 = (0.0, math.inf)
_LEVEL = 0.95
_SHOWN = {True: "yes", False: "no", None: "open"}
_FEWEST = 2  # seeds: one has no interval
_MOST_TOLD = 4  # effects that are written out beside another value; all stand in their table


@dataclass(frozen=True, eq=False)
class Claim(Flat):
    """What the paper says and where, what this run finds with its spread over seeds, and whether that agrees.

    A claim of our `own`, which the paper's words do not make, is counted apart.
    """

    claim: str
    paper: str
    ours: str
    spread: str
    verdict: Verdict
    why: str
    place: str
    own: bool = False


@dataclass(frozen=True, eq=False)
class Effect:
    """A number that a claim speaks of, one for each of disjoint seeds, and the range in which the claim puts its mean.

    `test_share` is the share of the rows that is tested, where seeds draw from the same rows: the interval of the mean
    is then Nadeau and Bengio's, which more seeds do not make as narrow as they like. The interval ends at what is
    `possible`; with less than the `fewest` seeds there is none, and nothing is shown.
    """

    name: str
    values: ArrayLike
    claimed: tuple[float, float] = ABOVE_0
    test_share: float | None = None
    possible: tuple[float, float] = (-math.inf, math.inf)
    fewest: int = _FEWEST

    def interval(self, level: float = _LEVEL) -> tuple[float, float, float]:
        """The mean over the seeds in which it is defined, and its interval; endless where they are too few."""
        values = self._defined
        if len(values) < self.fewest:
            return (float(values.mean()) if len(values) else math.nan), -math.inf, math.inf
        shared = {"test_share": self.test_share} if self.test_share else {"n_train": math.inf, "n_test": 1.0}
        test = corrected_t_test(values, level=level, **shared)
        lowest, highest = self.possible  # the parameter cannot lie beyond, so that the interval covers as often
        return test.difference, max(test.low, lowest), min(test.high, highest)

    def shown(self, level: float = _LEVEL) -> bool | None:
        """Whether the interval lies inside the claimed range, or outside; None where it crosses an end of it.

        >>> [Effect("gain", values).shown() for values in ([2, 3, 4], [-2, -3, -4], [-1, 0, 2])]
        [True, False, None]
        """
        _, low, high = self.interval(level)
        if self.claimed[0] < low and high < self.claimed[1]:
            return True
        return False if high <= self.claimed[0] or low >= self.claimed[1] else None

    @property
    def seeds(self) -> int:
        """In how many seeds it is defined."""
        return len(self._defined)

    @property
    def is_of_too_few(self) -> bool:
        """Whether the seeds are too few for an interval."""
        return self.seeds < self.fewest

    def row(self, level: float) -> TableRow:
        """What the table of all effects shows of it."""
        mean, low, high = self.interval(level)
        ends = {
            "mean": mean,
            "low": low,
            "high": high,
            "claimed above": self.claimed[0],
            "claimed below": self.claimed[1],
        }
        finite = {name: value if math.isfinite(value) else None for name, value in ends.items()}
        return {**finite, "seeds": self.seeds, "shown": _SHOWN[self.shown(level)]}

    def text(self, level: float) -> str:
        """The mean and its interval, signed where a sign is what is claimed: "gain +0.021 (+0.012 to +0.030)"."""
        mean, *ends = (self._number(value) for value in self.interval(level))
        return f"{self.name} {mean}" + ("" if self.is_of_too_few else f" ({ends[0]} to {ends[1]})")

    def _number(self, value: float) -> str:
        is_sign = 0 in self.claimed or -math.inf < self.claimed[0] < 0
        return "undefined" if math.isnan(value) else signed(value, 3) if is_sign else f"{value:.3f}"

    @property
    def _defined(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        values = np.asarray(self.values, dtype=np.float64).ravel()
        return values[np.isfinite(values)]


def joint_level(effects: Sequence[Effect]) -> float:
    """The level of each interval at which all of them hold together with 95 % (Bonferroni)."""
    return 1 - (1 - _LEVEL) / len(effects)


def verdict_of(effects: Sequence[Effect]) -> Verdict:
    """What the effects say together: a claim that the intervals neither show nor refute is not shown.

    >>> gain, loss, either = ([2.9, 3, 3.1], [-2.9, -3, -3.1], [-1, 0, 2])
    >>> [verdict_of([Effect("a", a), Effect("b", b)]) for a, b in ((gain, gain), (gain, loss), (either, loss))]
    ['holds', 'holds with qualification', 'does not hold']
    >>> verdict_of([Effect("a", either)])
    'not shown'
    """
    shown = [effect.shown(joint_level(effects)) for effect in effects]
    if any(shown):
        return "holds" if all(shown) else "holds with qualification"
    return "does not hold" if False in shown else "not shown"


def judged(*, holds: bool, partly: bool = False) -> Verdict:
    """The verdict on what is decided without seeds, by a proof, the paper's own numbers or the data.

    >>> judged(holds=False, partly=True)
    'holds with qualification'
    """
    return "holds" if holds else "holds with qualification" if partly else "does not hold"


@dataclass(frozen=True)
class Finding:
    """What a run says of a claim: its own value, that value's spread, whether the claim agrees, and why.

    `paper` is what the paper says where that is computed from its printed numbers.
    """

    ours: str
    spread: str
    verdict: Verdict
    why: str
    paper: str = ""
    effects: tuple[Effect, ...] = ()

    @classmethod
    def of(cls, effects: Sequence[Effect], why: str, *, seeds: str, ours: str = "", paper: str = "") -> Finding:
        """What effects say of a claim; `seeds` names what they are repeated over, such as "splits"."""
        level = joint_level(effects)
        texts = "; ".join(effect.text(level) for effect in effects)
        n = max(effect.seeds for effect in effects)
        spread = f"means over {n} {seeds}"
        if all(effect.is_of_too_few for effect in effects):
            why = f"{n} {seeds}, at least {min(effect.fewest for effect in effects)} needed. {why}"
        else:
            spread += ", 95 % intervals, all together" if len(effects) > 1 else ", 95 % intervals"
        sides = {
            "not shown": [effect.name for effect in effects if effect.shown(level) is None],
            "against it": [effect.name for effect in effects if effect.shown(level) is False],
        }
        if max(map(len, sides.values())) < len(effects):
            for side, names in sides.items():
                spread += f"; {side}: {', '.join(names)}" if names else ""
        if not ours:
            ours = texts
        elif len(effects) <= _MOST_TOLD:
            spread = f"{texts}; {spread}"
        return cls(ours, spread, verdict_of(effects), why, paper, tuple(effects))


def count_verdicts(verdicts: Sequence[Verdict]) -> str:
    """How many there are of each verdict: "2 hold, 1 does not hold"."""
    plural = {"holds": "hold", "holds with qualification": "hold with qualification", "does not hold": "do not hold"}
    counts = {verdict: verdicts.count(verdict) for verdict in get_args(Verdict)}
    return ", ".join(f"{n} {plural.get(verdict, verdict) if n > 1 else verdict}" for verdict, n in counts.items() if n)


def signed(value: float, digits: int = 2) -> str:
    """A difference or a correlation with its sign, in the signs of print.

    >>> signed(-0.5), signed(0.25, 1), signed(-1e-17)
    ('−0.50', '+0.2', '+0.00')
    """
    return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")


def tiny(value: float) -> str:
    """A size that may be rounding alone.

    >>> tiny(0.0), tiny(0.0288)
    ('0', '2.9e-02')
    """
    return f"{value:.1e}" if value else "0"


@cache
def published(paper: str) -> dict[str, Any]:
    """The numbers that a paper prints, each with its place in it.

    >>> published("garcia")["table_2"]["signs"]["F1"]
    '+-+++'
    """
    text = files("steelyard.studies").joinpath("papers", f"{paper}.json").read_text(encoding="utf-8")
    values: dict[str, Any] = json.loads(text)
    return values


# ---------------------------------------------------------------- picture
# A figure of a study, drawn from its numbers, or as it was drawn before the study was saved.


@dataclass(frozen=True)
class Picture:
    """A display; `name` becomes the name of its files.

    `columns` is how much of the page it takes: 1, or 2 for a wide one; `width` is in inches, where a display should be
    wider than a column of a paper. Without a caption the display's own is used.
    """

    name: str
    display: Display
    caption: str = ""
    columns: int = 1
    width: float | None = None

    @property
    def words(self) -> str:
        """What stands below the picture."""
        return self.caption or self.display.caption()

    def figure(self) -> Figure:
        """The figure of matplotlib."""
        if self.width is not None:
            canvas = style.canvas()
            with canvas.paper():
                self.display.plot(canvas.new_figure((self.width, self.display.height)).add_subplot())
        figure: Figure = self.display.figure_
        return figure

    def image(self, kind: str) -> bytes:
        """The picture as "svg" or "pdf", undated, its text as text."""
        return self._svg if kind == "svg" else self._drawn(kind)

    @cached_property
    def _svg(self) -> bytes:
        return self._drawn("svg")  # once: a figure drawn again names its clip paths anew

    def _drawn(self, kind: str) -> bytes:
        file = BytesIO()
        self.figure().savefig(file, format=kind)
        return file.getvalue()


@dataclass(frozen=True)
class SavedPicture:
    """A picture as it was drawn before its study was saved."""

    name: str
    words: str
    columns: int
    svg: str

    def image(self, kind: str) -> bytes:
        """The picture as "svg"; other kinds are drawn from the numbers, which are not saved."""
        if kind != "svg":
            raise InputError(f"A study read from JSON has its figures as svg, not as {kind}; run it again for these.")
        return self.svg.encode()


# ---------------------------------------------------------------- study


MOST_SHOWN = 20  # rows of a table that are shown unasked


@dataclass(frozen=True)
class Table:
    """Rows with the same columns, under a title; `name` becomes the name of its file.

    `formats` are those of columns that the page shows as printed, not by three digits; an `unfolded` table is shown
    whole, however long.
    """

    name: str
    title: str
    rows: list[TableRow]
    note: str = ""
    formats: dict[str, str] = field(default_factory=dict)
    unfolded: bool = False


@dataclass(frozen=True)
class TableLine:
    """One line of a table."""

    cells: TableRow

    def row(self) -> TableRow:
        """Its cells by column."""
        return dict(self.cells)


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result[Claim | TableLine]):
    """One paper's experiment, run again.

    `choices` holds what was chosen (seed, quick, sizes, readings of the paper), `environment` what it ran on. On a
    table of one's own the rows are those of its first table, and `own` names the table, its target and the options.
    """

    name: str
    title: str
    cite: str
    summary: list[str]
    tables: list[Table] = field(metadata={"key": None})  # by their names, as the pictures are
    pictures: Sequence[Picture | SavedPicture] = field(metadata={"key": None}, compare=False)
    claims: list[Claim]
    choices: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    seconds: float = float("nan")
    cpu: float = float("nan")  # seconds of all cores together, which a busy machine does not change much
    own: dict[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Claim | TableLine]:
        return iter(map(TableLine, self.tables[0].rows) if self.own and self.tables else self.claims)

    def held(self, writer: Writer) -> dict[str, Any]:
        """Its claims, findings and choices, every table, and the figures as they are drawn."""
        tables = {
            table.name: {key: part for key, part in vars(table).items() if key != "name"} for table in self.tables
        }
        figures = {picture.name: picture.words for picture in self.pictures}
        drawings = {p.name: {"columns": p.columns, "svg": p.image("svg").decode()} for p in self.pictures}
        parts = writer.of_fields(self) | {"tables": writer.written(tables, "/tables", optional=True)}
        return parts | {"figures": figures, "drawings": drawings}

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The study that was saved."""
        tables = [from_fields(Table, {"name": name, **table}) for name, table in data["tables"].items()]
        pictures = [SavedPicture(name, data["figures"][name], **parts) for name, parts in data["drawings"].items()]
        study: Self = from_fields(cls, data, tables=tables, pictures=pictures)
        return study

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and super().__eq__(other) and self._shown_pictures == other._shown_pictures

    __hash__ = Result.__hash__

    @property
    def _shown_pictures(self) -> list[tuple[str, str, int]]:
        return [(picture.name, picture.words, picture.columns) for picture in self.pictures]

    @property
    def notes(self) -> list[str]:
        """What else was found."""
        return [*self.warning, *self.summary[1:]]

    @property
    def headline(self) -> str:
        """What the study found, and how many of the paper's claims hold."""
        return " ".join([*self.summary[:1], *self._tried])

    @property
    def _tried(self) -> list[str]:
        """The sentence that counts the claims; none on a table of one's own, of which the paper claims nothing."""
        return [] if self.own else [f"Claims: {self.verdict_counts}."]

    def to_html(self, source: str = "") -> str:  # noqa: ARG002 - the paper is the source
        """The study's page."""
        from steelyard.studies.study_files import study_page

        return study_page(self)

    @property
    def quick(self) -> bool:
        """Whether this was the short run, on a part of the data or with fewer repetitions."""
        return bool(self.choices.get("quick"))

    @property
    def took(self) -> str:
        """How long it took: "20 seconds, 18 of CPU"."""
        seconds = f"{self.seconds:,.0f}"
        return f"{seconds} {'second' if seconds == '1' else 'seconds'}, {self.cpu:,.0f} of CPU"

    @property
    def verdict_counts(self) -> str:
        """How many of the paper's claims hold, and of our own: "2 hold, 1 does not hold"."""
        paper, ours = ([claim.verdict for claim in self.claims if claim.own is own] for own in (False, True))
        return count_verdicts(paper) + (f"; of our own {count_verdicts(ours)}" if ours else "")

    def __repr__(self) -> str:
        head = f"{self.title}\n{paragraph(self.cite)}"
        sentences = [paragraph(sentence) for sentence in [*self.warning, *self.summary]]
        claims = [_claim_text(i, claim) for i, claim in enumerate(self.claims, 1)]
        shown = [table for i, table in enumerate(self.tables) if not i or len(table.rows) <= MOST_SHOWN]
        tables = [_table_text(table) for table in shown] if self.own else []
        parts = f"{number_of(len(self.tables), 'table')} and {number_of(len(self.pictures), 'figure')}"
        rest = f"{parts}; computed in {self.took}."
        return "\n\n".join([head, "\n".join(sentences), *self._tried, *claims, *tables, rest])

    @property
    def warning(self) -> list[str]:
        """The sentence that marks a quick run, or none."""
        sentence = "This is a quick run, on a part of the data or with fewer repetitions"
        return [f"{sentence}: run all of it to cite it."] if self.quick else []


def _table_text(table: Table) -> str:
    more = len(table.rows) - MOST_SHOWN
    lines = [paragraph(table.title), table_text(table.rows[:MOST_SHOWN])]
    return "\n".join(
        [*lines, *([f"and {more:,} rows more"] if more > 0 else []), *filter(None, [paragraph(table.note)])]
    )


def _claim_text(number: int, claim: Claim) -> str:
    spread = f"; {claim.spread}" if claim.spread else ""
    lines = [f"{claim.verdict.upper()}: {claim.why}", f"paper: {claim.paper}", f"ours: {claim.ours}{spread}"]
    head = paragraph(f"{number}. {claim.claim} ({claim.place})")
    return "\n".join([head, *(paragraph(line, "   ") for line in lines)])
