"""Study: what one paper's experiment gives when it is run again: tables, pictures, and its claims tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from steelyard.analysis.results.formatting import number_of
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.result_json import from_fields
from steelyard.analysis.results.rows import table_text
from steelyard.report.terminal.layout import paragraph
from steelyard.studies.claims import Claim, TableRow, count_verdicts
from steelyard.studies.pictures import Picture, SavedPicture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.analysis.results.result_json import Writer

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
        from steelyard.studies.study_page import study_page

        return study_page(self)

    @property
    def quick(self) -> bool:
        """Whether this was the short run, on a part of the data or with fewer repetitions."""
        return bool(self.choices.get("quick"))

    @property
    def took(self) -> str:
        """How long it took: "20 seconds, 18 of CPU"."""
        seconds = f"{self.seconds:,.0f}"
        return f"{seconds} second{'s' * (seconds != '1')}, {self.cpu:,.0f} of CPU"

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
        return [f"{sentence}: run it without --quick to cite it."] if self.quick else []


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
