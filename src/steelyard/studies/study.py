"""Study: what one paper's experiment gives when it is run again: tables, pictures, and its claims tried."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from steelyard.analysis.rows import Flat
from steelyard.report.figures import style
from steelyard.report.terminal import paragraph

Verdict = Literal["holds", "holds with qualification", "does not hold", "not tested"]


def verdict(*, holds: bool, partly: bool = False) -> Verdict:
    """Holds, or holds in part, or does not.

    >>> verdict(holds=False, partly=True)
    'holds with qualification'
    """
    return "holds" if holds else "holds with qualification" if partly else "does not hold"


@dataclass(frozen=True)
class Claim(Flat):
    """What the paper says and where, what this run finds with its spread over seeds, and whether that agrees.

    A claim of our `own`, which the paper's figures suggest and its words do not make, is counted apart.
    """

    claim: str
    paper: str
    ours: str
    spread: str
    verdict: Verdict
    why: str
    place: str
    own: bool = False


@dataclass(frozen=True)
class Table:
    """Rows with the same columns, under a title; `name` becomes the name of its file.

    `formats` are those of columns that the page shows as printed, not by three digits; an `unfolded` table is shown
    whole, however long.
    """

    name: str
    title: str
    rows: list[dict[str, Any]]
    note: str = ""
    formats: dict[str, str] = field(default_factory=dict)
    unfolded: bool = False


@dataclass(frozen=True)
class Picture:
    """A display of steelyard or a figure of matplotlib; `name` becomes the name of its files.

    `columns` is how much of the page it takes: 1, or 2 for a wide one; `width` is in inches, where a display should be
    wider than a column of a paper. Without a caption the display's own is used.
    """

    name: str
    drawn: Any
    caption: str = ""
    columns: int = 1
    width: float | None = None

    @property
    def words(self) -> str:
        """What stands below the picture."""
        return self.caption or self.drawn.caption()

    def figure(self) -> Any:
        """The figure of matplotlib."""
        if self.width is None:
            return getattr(self.drawn, "figure_", self.drawn)
        canvas = style.canvas()
        with canvas.paper():
            return self.drawn.plot(canvas.new_figure((self.width, self.drawn.height)).add_subplot()).figure_


@dataclass(frozen=True, repr=False)
class Study:
    """One paper's experiment, run again.

    `choices` holds what was chosen (seed, quick, sizes, readings of the paper), `environment` what it ran on.
    """

    name: str
    title: str
    cite: str
    summary: list[str]
    tables: list[Table]
    pictures: list[Picture]
    claims: list[Claim]
    choices: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    seconds: float = float("nan")
    cpu: float = float("nan")  # seconds of all cores together, which a busy machine does not change much

    @property
    def quick(self) -> bool:
        """Whether this was the short run, on a part of the data or with fewer repetitions."""
        return bool(self.choices.get("quick"))

    @property
    def took(self) -> str:
        """How long it took: "20 seconds, 18 of CPU"."""
        return f"{self.seconds:,.0f} seconds, {self.cpu:,.0f} of CPU"

    @property
    def tally(self) -> str:
        """How many of the paper's claims hold, and of our own: "2 hold, 1 does not hold"."""
        paper, ours = ([claim.verdict for claim in self.claims if claim.own is own] for own in (False, True))
        return _counted(paper) + (f"; of our own {_counted(ours)}" if ours else "")

    def __repr__(self) -> str:
        head = f"{self.title}\n{paragraph(self.cite)}"
        said = [paragraph(sentence) for sentence in [*self.warning, *self.summary]]
        claims = [_told(i, claim) for i, claim in enumerate(self.claims, 1)]
        rest = f"{len(self.tables)} tables and {len(self.pictures)} figures; computed in {self.took}."
        return "\n\n".join([head, "\n".join(said), f"Claims: {self.tally}.", *claims, rest])

    @property
    def warning(self) -> list[str]:
        """The sentence that tells a quick run from a full one, or none."""
        told = (
            "This is a quick run, on a part of the data or with fewer repetitions: run it without --quick to cite it."
        )
        return [told] if self.quick else []


def _counted(verdicts: list[Verdict]) -> str:
    plural = {"holds": "hold", "holds with qualification": "hold with qualification", "does not hold": "do not hold"}
    counts = {one: verdicts.count(one) for one in get_args(Verdict)}
    return ", ".join(f"{n} {plural.get(one, one) if n > 1 else one}" for one, n in counts.items() if n)


def signed(value: float, digits: int = 2) -> str:
    """A difference or a correlation with its sign, in the signs of print.

    >>> signed(-0.5), signed(0.25, 1)
    ('−0.50', '+0.2')
    """
    return f"{value:+.{digits}f}".replace("-", "−")


def tiny(value: float) -> str:
    """A size that may be rounding alone.

    >>> tiny(0.0), tiny(0.0288)
    ('0', '2.9e-02')
    """
    return f"{value:.1e}" if value else "0"


def _told(number: int, claim: Claim) -> str:
    spread = f"; {claim.spread}" if claim.spread else ""
    lines = [f"{claim.verdict.upper()}: {claim.why}", f"paper: {claim.paper}", f"ours: {claim.ours}{spread}"]
    head = paragraph(f"{number}. {claim.claim} ({claim.place})")
    return "\n".join([head, *(paragraph(line, "   ") for line in lines)])
