"""Monitoring: what a monitor has found so far: each rule over all batches, and the alarms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard._types import Array
from steelyard.analysis.monitoring.rule_track import RuleTrack
from steelyard.analysis.results.formatting import value_text
from steelyard.analysis.results.result import Result
from steelyard.analysis.results.rows import table_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHOWN = ("p_value", "alarm", "since", "recent")


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring(Result[RuleTrack]):
    """The rules of a monitor after each batch; iterates over them, all rows first, then groups."""

    batches: tuple[str, ...]
    rows: Array
    tracks: tuple[RuleTrack, ...]
    level: float
    waiting: int = 0
    stated: tuple[str, ...] = field(default=())

    def __iter__(self) -> Iterator[RuleTrack]:
        return iter(self.tracks)

    @property
    def alarms(self) -> list[RuleTrack]:
        """The rules that have raised an alarm."""
        return [track for track in self.tracks if track.alarm is not None]

    @property
    def headline(self) -> str:
        """The alarm, or that there is none, in one sentence."""
        size = f"{len(self.batches):,} batch{'es' * (len(self.batches) != 1)}, {int(self.rows.sum()):,} labelled rows"
        if not self.batches:
            return "No labelled rows yet."
        if not self.alarms:
            return f"No alarm after {size}."
        return " ".join([*map(_alarm_sentence, self.alarms), f"Seen: {size}."])

    @property
    def guarantee(self) -> str:
        """What the alarms promise."""
        return (
            f"While no limit is broken, an alarm is ever raised with probability {100 * (1 - self.level):.6g} % at "
            f"most, over all rules, groups and looks together{self._awaited}."
        )

    @property
    def _awaited(self) -> str:
        """What the promise leaves out while labels are awaited."""
        if not self.waiting:
            return ""
        wait = "1 prediction waits" if self.waiting == 1 else f"{self.waiting:,} predictions wait"
        return f", of the labelled rows; {wait} for labels, and labels that come late may differ"

    @property
    def notes(self) -> Sequence[str]:
        """The guarantee, and what was noticed about labels that are awaited or came late."""
        return (self.guarantee, *self.stated)

    def shown_rows(self) -> list[dict[str, Any]]:
        """The rules after the last batch, values in the digits that stand everywhere."""
        rows = []
        for track in self.tracks:
            row = track.row()
            rule = track.rule if track.group is None else f"{track.rule}, {track.group}"  # a wide table repeats it
            named = {"rule": rule, "value": track.text(), "limit": track.limit_text()}
            row["recent"] = None if track.recent is None else value_text(track.recent, share=track.is_share)
            rows.append({**named, **{name: row[name] for name in _SHOWN}})
        return rows

    def __repr__(self) -> str:
        return "\n".join([self.headline, table_text(self.shown_rows()), *self.notes])


def _alarm_sentence(track: RuleTrack) -> str:
    of = "" if track.group is None else f" of {track.group}"
    recent = "" if track.recent is None else f" ({value_text(track.recent, share=track.is_share)} from there on)"
    return f"ALARM: {track.rule}{of} is broken since about {track.since}{recent}, shown at {track.alarm}."
