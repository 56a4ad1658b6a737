"""CountedInput: the tables of what a command line names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from steelyard.cli.positive_option import with_convention

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Label
    from steelyard.statistics.tally import Tally


@dataclass(frozen=True)
class CountedInput:
    """The tables of an input, and what was taken for granted on the way."""

    tally: Tally
    assumed: list[str]
    name: str
    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)  # by what they are for

    def with_groups_of(self, least: int) -> CountedInput:
        """The same without groups that hold so few rows that they may point to a person; with a note of how many."""
        tally = self.tally.with_groups_of(least)
        if not (out := len(self.tally.groups) - len(tally.groups)):
            return self
        sentence = f"{out:,} of {len(self.tally.groups):,} groups were left out: a cell of fewer than {least:,} rows"
        sentence += ", or the group that the total would give away."
        return replace(self, tally=tally, assumed=[*self.assumed, sentence])

    def with_convention(self, positive: Label, shard: bool) -> CountedInput:
        """The same with the positive class that a convention takes, and who chose it; labels of a shard have none."""
        tally, stated = with_convention(self.tally, positive)
        if shard:
            tally, stated = self.tally, () if self.tally.scores is None else stated
        return replace(self, tally=tally, assumed=[*self.assumed, *stated])
