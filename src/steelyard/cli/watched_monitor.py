"""WatchedMonitor: a monitor with the files it has seen, read from a state file and written to it after each batch."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.analysis.monitoring.batch_rows import check_scores, frame_columns
from steelyard.analysis.monitoring.monitor import Monitor
from steelyard.cli.option_words import of_shell
from steelyard.cli.outputs import checked_output
from steelyard.cli.usual_columns import guess_columns
from steelyard.exceptions import InputError
from steelyard.ingest import queries
from steelyard.ingest.csv_values import MISSING
from steelyard.ingest.repeated_files import file_digest
from steelyard.ingest.replaced_files import replacement_file
from steelyard.ingest.threshold_sentences import ASSUMED_HALF

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.analysis.monitoring.monitoring import Monitoring
    from steelyard.cli.inputs import Inputs
    from steelyard.ingest.source import Source

_SCHEMA = 1


@dataclass
class WatchedMonitor:
    """A monitor, the batches it has seen by name, and the columns that hold them."""

    monitor: Monitor
    inputs: Inputs
    key: str | None = None
    cost: str | None = None
    seen: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)

    def resume(self, state: str | None) -> None:
        """Go on from the state file, where there is one, if it is of the same rules and options."""
        if state is None or not Path(state).exists():
            return
        try:
            data = json.loads(Path(state).read_bytes())
            seen, saved, digests = data["seen"], data["monitor"], dict(data.get("digests", {}))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise InputError(f"{state!r} is no state that `steelyard watch` wrote; give another name.") from None
        if data.get("kind") != "watch" or data.get("schema") != _SCHEMA or not isinstance(seen, list):
            raise InputError(f"{state!r} is no state that `steelyard watch` wrote; give another name.")
        earlier = Monitor.from_json(saved)
        fresh, self.seen = self.monitor.at_threshold_of(earlier), [str(name) for name in seen]
        self.digests = {str(path): str(digest) for path, digest in digests.items()}
        asked = json.loads(fresh.to_json()), json.loads(earlier.to_json())
        same = ("rules", "level", "threshold", "by", "cost_between", "reference")
        if any(asked[0][name] != asked[1][name] for name in same) or fresh.pending.mature != earlier.pending.mature:
            raise InputError(f"{state!r} is of other rules or options; name another state, or give the same ones.")
        self.monitor = earlier

    def add(self, name: str, source: Source) -> list[str]:
        """A batch: labelled rows, or with keys predictions, labels, or both; and what the user should know of it."""
        before = self._label_sentences()
        source, notes = self._without_headers(source)
        notes += self._add_rows(name, source) if self.key is None else self._add_keyed(name, source, self.key)
        notes += [sentence for sentence in self._label_sentences() if sentence not in before]
        path = Path(name).resolve()
        self.seen.append(str(path) if path.exists() else name)
        if path.is_file():
            self.digests[str(path)] = file_digest(path)
        return notes

    def _label_sentences(self) -> list[str]:
        return self.monitor.labels.sentences(self.monitor.pos_label)

    def _without_headers(self, source: Source) -> tuple[Source, list[str]]:
        """The rows but those that repeat the line of the names, as files that were joined as text have them."""
        there = [*source.parts[0].collect_schema().names()]
        if not source.textual or len(there) < 2:
            return source, []
        parts, repeated = zip(*(_split_headers(part, there) for part in source.parts), strict=True)
        number = sum(repeated)
        if not number:
            return source, []
        lines = "1 line repeats" if number == 1 else f"{number:,} lines repeat"
        return replace(source, parts=parts), [f"{lines} the names of the columns; skipped."]

    def changed(self, names: Iterable[str]) -> list[str]:
        """The files that were read before and have other content now."""
        paths = {name: Path(name).resolve() for name in names}
        return [
            name
            for name, path in paths.items()
            if str(path) in self.digests and path.is_file() and file_digest(path) != self.digests[str(path)]
        ]

    def _add_rows(self, name: str, source: Source) -> list[str]:
        named, assumed = guess_columns(source, self.inputs)
        columns: dict[str, Any] = {"true": named.true, "pred": named.pred, "score": None if named.pred else named.score}
        before = self.monitor.threshold_assumed
        self.monitor.update(source, **columns, cost=self.cost, period=Path(name).name)
        return [*([] if self.seen else assumed), *self._half(before)]  # once is enough

    def _half(self, before: bool) -> list[str]:
        """That scores were thresholded at the usual threshold, where this batch was the first of which that is so."""
        return [ASSUMED_HALF] if self.monitor.threshold_assumed and not before else []

    def _add_keyed(self, name: str, source: Source, key: str) -> list[str]:
        """Predictions where the file has their column, labels where it has that of the truth."""
        there, inputs = {*source.parts[0].collect_schema().names()}, self.inputs
        if inputs.true is None or not (inputs.pred or inputs.score):
            raise InputError("With --key the columns are named: --true, and --pred or --score; give both.")
        notes = []
        if column := next((str(part) for part in (inputs.pred, inputs.score) if part in there), None):
            notes += self._add_predictions(name, source, key, column)
        if inputs.true in there:
            notes += self._add_labels(name, source, key, inputs.true)
        if not notes and column is None:
            raise InputError(f"{name!r} has neither predictions nor labels; name their columns.")
        return [note for note in notes if note]

    def _add_predictions(self, name: str, source: Source, key: str, column: str) -> list[str]:
        of_labels = column == self.inputs.pred
        groups = [] if self.monitor.by is None else [self.monitor.by]
        columns = frame_columns(source, *(([column], []) if of_labels else ([], [column])), [key, *groups])
        if not of_labels:
            check_scores(source, column, columns[column])
        given = {"y_pred" if of_labels else "y_score": columns[column]}
        by = columns[groups[0]] if groups else None
        before = self.monitor.threshold_assumed
        twice = self.monitor.predict(columns[key], **given, by=by, period=Path(name).name)
        return [f"{twice:,} keys were there already and were left out." if twice else "", *self._half(before)]

    def _add_labels(self, name: str, source: Source, key: str, true: str) -> list[str]:
        costs = [] if self.cost is None else [self.cost]
        columns = frame_columns(_labelled(source, true), [true], costs, [key])
        if not len(columns[key]):
            return [f"no label in the column {true!r} yet."]
        cost = columns[costs[0]] if costs else None
        return [repr(self.monitor.label(columns[key], columns[true], cost=cost, period=Path(name).name))]

    def save(self, state: str | None) -> None:
        """Write the state, whole or not at all."""
        if state is not None:
            data = {
                "schema": _SCHEMA,
                "kind": "watch",
                "seen": self.seen,
                "digests": self.digests,
                "monitor": json.loads(self.monitor.to_json()),
            }
            write_whole(state, json.dumps(data, allow_nan=False))


def _split_headers(part: Any, names: list[str]) -> tuple[Any, int]:
    """The rows that do not hold the columns' own names, and how many do."""
    import narwhals as nw

    is_header = nw.all_horizontal(*(nw.col(name) == name for name in names), ignore_nulls=True)
    number = len(queries.collect(part.filter(is_header).select(names[0])))
    return part.filter(~is_header), number


def _labelled(source: Source, true: str) -> Source:
    """The rows that have a label: of the others it is still awaited."""
    import narwhals as nw

    column = nw.col(true)
    there = ~column.is_null()
    if source.textual:
        there &= ~column.str.strip_chars().str.to_lowercase().is_in(sorted(MISSING))
    elif source.parts[0].collect_schema()[true].is_float():
        there &= ~column.is_nan()
    return replace(source, parts=tuple(part.filter(there) for part in source.parts))


def write_whole(path: str, text: str) -> None:
    """Replace a file by way of another beside it: a kill leaves the old or the new one."""
    with replacement_file(Path(path).resolve()) as temporary, temporary.open("wb") as file:
        file.write(text.encode(errors="backslashreplace") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def batch_line(name: str, result: Monitoring) -> str:
    """What all batches up to this one have brought, in one line."""
    values = [f"{track.title} {track.text()}, limit {track.limit_text()}" for track in result if track.group is None]
    alarms = [
        f"ALARM {track.rule}{'' if track.group is None else f' ({track.group})'}, broken since about {track.since}"
        for track in result.alarms
    ]
    rows = f"{int(result.rows.sum()):,} labelled rows so far"
    return f"{Path(name).name}: {rows}; {'; '.join(values)}; {'; '.join(alarms) or 'no alarm'}"


@dataclass(frozen=True)
class WatchOutputs:
    """Where the state, the page and the result go after each batch, and what the page calls the data."""

    state: str | None
    page: str | None
    json: str | None
    source: str

    def check(self, force: bool) -> None:
        """Refuse what cannot be written, and what exists unless it may be replaced or a state is gone on with."""
        resumed = self.state is not None and Path(self.state).exists()
        for path, replaced in ((self.page, force or resumed), (self.json, force or resumed), (self.state, True)):
            if path is not None:
                checked_output(None, path, replaced, ())

    def write(self, watched: WatchedMonitor) -> Monitoring:
        """All of them, each whole or not at all; the state first, so that no batch is ever counted twice."""
        watched.save(self.state)
        found = watched.monitor.result()
        result = replace(found, stated=tuple(map(of_shell, found.stated)))
        if self.json is not None:
            write_whole(self.json, result.to_json(indent=1))
        if self.page is not None:
            write_whole(self.page, result.to_html(source=self.source))
        return result
