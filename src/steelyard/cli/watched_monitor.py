"""WatchedMonitor: a monitor with the files it has seen, read from a state file and written to it after each batch."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.analysis.monitoring.batches import RowDigest
from steelyard.analysis.monitoring.monitor import Monitor
from steelyard.analysis.monitoring.saved_monitor import check_digest
from steelyard.cli.inputs import guess_columns
from steelyard.cli.option_words import of_shell
from steelyard.cli.outputs import check_no_input, checked_output
from steelyard.exceptions import InputError
from steelyard.files.folders import content_digest, file_digest
from steelyard.frames import queries
from steelyard.frames.decoding import MISSING
from steelyard.frames.rows import fetch_rows
from steelyard.frames.source import ColumnNames
from steelyard.tables.saved import read_json, with_digest
from steelyard.tables.thresholding import ASSUMED_HALF
from steelyard.written_files import check_replaceable, replacement_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.analysis.monitoring.alarms import Monitoring, RuleTrack
    from steelyard.cli.inputs import Inputs
    from steelyard.frames.source import Source

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
    columns: dict[str, Any] = field(default_factory=dict)
    written: dict[str, list[str]] = field(default_factory=dict)  # pages and results with the digests that they may have

    def resume(self, state: str | None) -> None:
        """Go on from the state file, where there is one, if it is of the same rules and options."""
        if state is None or not Path(state).exists():
            return
        try:
            data = read_json(Path(state).read_bytes())
            seen, saved, digests = data["seen"], data["monitor"], data.get("digests", {})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{state!r} is no state that `steelyard watch` wrote; give another name.") from None
        columns, written = data.get("columns", {}), data.get("written", {})
        known = data.get("kind") == "watch" and data.get("schema") == _SCHEMA and data["schema"] is not True
        if not known or not _kept(seen, digests, columns, written):
            raise InputError(f"{state!r} is no state that `steelyard watch` wrote; give another name.")
        check_digest(data)
        earlier = Monitor.from_json(saved if isinstance(saved, dict) else {})
        fresh, self.seen = self.monitor.at_threshold_of(earlier), seen
        self.digests, self.columns, self.written = digests, columns, written
        asked = json.loads(fresh.to_json()), json.loads(earlier.to_json())
        same = ("rules", "level", "threshold", "by", "cost_between", "reference")
        if any(asked[0][name] != asked[1][name] for name in same) or fresh.pending.mature != earlier.pending.mature:
            raise InputError(f"{state!r} is of other rules or options; name another state, or give the same ones.")
        if None not in (fresh.pos_label, earlier.pos_label) and str(fresh.pos_label) != str(earlier.pos_label):
            raise InputError(
                f"{state!r} is of the positive class {earlier.pos_label!r}, not {fresh.pos_label!r}; name another "
                "state, or give the same class."
            )
        given = self._named(*_columns(self.inputs))
        self._check_columns({use: self.columns.get(use) if name is None else name for use, name in given.items()})
        self.monitor = earlier

    def add(self, name: str, source: Source) -> list[str]:
        """A batch: labelled rows, or with keys predictions, labels, or both; and what the user should know of it."""
        before = self._label_sentences()
        source, notes = self._without_headers(source)
        self._refuse_copy(name, source)
        notes += self._add_rows(name, source) if self.key is None else self._add_keyed(name, source, self.key)
        notes += [sentence for sentence in self._label_sentences() if sentence not in before]
        path = Path(name).resolve()
        self.seen.append(str(path) if path.exists() else name)
        if path.is_file():
            self.digests[str(path)] = file_digest(path)
        return notes

    def _refuse_copy(self, name: str, source: Source) -> None:
        """Refuse a file of the same bytes as an earlier one, unless its rows may well come again."""
        path = Path(name).resolve()
        digest = file_digest(path) if path.is_file() else None
        earlier = next((old for old, known in self.digests.items() if known == digest), None)
        if earlier is None:
            return
        columns = fetch_rows(source, true=None, others=source.parts[0].collect_schema().names()).others.values()
        if RowDigest.of(*([str(value) for value in column.tolist()] for column in columns)).telling:
            raise InputError(f"{name!r} holds the rows of {earlier!r}, which were read already; leave it out.")

    def _named(self, true: object, pred: object, score: object) -> dict[str, Any]:
        """The columns of what is followed, as the state keeps them."""
        return {"true": true, "pred": pred, "score": score, "key": self.key, "cost": self.cost}

    def _check_columns(self, columns: dict[str, Any]) -> None:
        """Refuse other columns than those of the batches so far."""
        other = [use for use in self.columns if self.columns[use] != columns[use]]
        if other:
            words = ", ".join(f"--{use} {self.columns[use]}" for use in other if self.columns[use] is not None)
            raise InputError(
                f"The batches so far were read with {words or f'no --{other[0]}'}; give the same columns, or name "
                "another state."
            )

    def _period(self, name: str) -> str:
        """The name of a file without its folders; with them where another has that name."""
        short = Path(name).name
        taken = {batch.name for batch in self.monitor.batches} | {old.name for old in self.monitor.pending.cohorts}
        return name if short in taken else short

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
        true, pred, score = _columns(named)
        columns: dict[str, Any] = {"true": true, "pred": pred, "score": None if pred else score}
        used = self._named(**columns)
        self._check_columns(used)
        before = self.monitor.threshold_assumed
        self.monitor.update(source, **columns, cost=self.cost, period=self._period(name))
        self.columns = used
        return [*([] if self.seen else assumed), *self._half(before)]  # once is enough

    def _half(self, before: bool) -> list[str]:
        """That scores were thresholded at the usual threshold, where this batch was the first of which that is so."""
        return [ASSUMED_HALF] if self.monitor.threshold_assumed and not before else []

    def _add_keyed(self, name: str, source: Source, key: str) -> list[str]:
        """Predictions where the file has their column, labels where it has that of the truth."""
        there, (true, pred, score) = {*source.parts[0].collect_schema().names()}, _columns(self.inputs)
        if true is None or not (pred or score):
            raise InputError("With --key the columns are named: --true, and --pred or --score; give both.")
        ColumnNames(true, self.inputs.pred, score).check_uses()
        used = self._named(true, pred, score)
        self._check_columns(used)
        notes, period = [], self._period(name)
        if column := next((part for part in (pred, score) if part in there), None):
            notes += self._add_predictions(period, source, key, column)
        if true in there:
            notes += self._add_labels(period, source, key, true)
        if not notes and column is None:
            raise InputError(f"{name!r} has neither predictions nor labels; name their columns.")
        self.columns = used
        return [note for note in notes if note]

    def _add_predictions(self, period: str, source: Source, key: str, column: str) -> list[str]:
        of_labels = column in self.inputs.pred
        groups = [] if self.monitor.by is None else [self.monitor.by]
        pred, score = ([column], []) if of_labels else ([], [column])
        rows = fetch_rows(source, true=None, pred=pred, score=score, others=[key, *groups])
        given: dict[str, Any] = {"y_pred": rows.predicted[column]} if of_labels else {"y_score": rows.scores[column]}
        by = rows.others[groups[0]] if groups else None
        before = self.monitor.threshold_assumed
        twice = self.monitor.predict(**given, key=rows.others[key], by=by, period=period)
        return [f"{twice:,} keys were there already and were left out." if twice else "", *self._half(before)]

    def _add_labels(self, period: str, source: Source, key: str, true: str) -> list[str]:
        costs = [] if self.cost is None else [self.cost]
        rows = fetch_rows(_labelled(source, true), true=true, numbers=costs, others=[key])
        keys, cost = rows.others[key], rows.numbers[costs[0]] if costs else None
        if not len(keys):
            return [f"no label in the column {true!r} yet."]
        return [repr(self.monitor.label(rows.labels[0], key=keys, cost=cost, period=period))]

    def save(self, state: str | None) -> None:
        """Write the state, whole or not at all."""
        if state is not None:
            data = {
                "schema": _SCHEMA,
                "kind": "watch",
                "seen": self.seen,
                "digests": self.digests,
                "columns": self.columns,
                "written": self.written,
                "monitor": json.loads(self.monitor.to_json()),
            }
            write_whole(state, _content(json.dumps(with_digest(data), allow_nan=False)))


def _kept(seen: object, digests: object, columns: object, written: object) -> bool:
    """Whether these are files that were seen, their digests, columns by their use, and digests of what was written."""
    uses = ("true", "pred", "score", "key", "cost")
    return (
        isinstance(seen, list)
        and all(isinstance(name, str) for name in seen)
        and len(seen) == len({*seen})
        and isinstance(digests, dict)
        and {*digests} <= {*seen}
        and all(isinstance(digest, str) for digest in digests.values())
        and isinstance(columns, dict)
        and (not columns or {*columns} == {*uses})
        and all(name is None or isinstance(name, str) for name in columns.values())
        and isinstance(written, dict)
        and all(isinstance(may, list) and all(isinstance(digest, str) for digest in may) for may in written.values())
    )


def _columns(inputs: Inputs) -> tuple[str | None, str | None, str | None]:
    """The columns of the truth, of labels and of scores, of one model."""
    return inputs.true, next(iter(inputs.pred), None), next(iter(inputs.score), None)


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


def _content(text: str) -> bytes:
    return text.encode(errors="backslashreplace") + b"\n"


def write_whole(path: str, content: bytes) -> None:
    """Replace a file by way of another beside it: a kill leaves the old or the new one."""
    with replacement_file(Path(path).resolve()) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def batch_line(name: str, result: Monitoring) -> str:
    """What all batches up to this one have brought, in one line."""
    values = [_track_text(track) for track in result if track.group is None]
    alarms = [
        f"ALARM {track.rule}{'' if track.group is None else f' ({track.group})'}, broken since about {track.since}"
        for track in result.alarms
    ]
    rows = f"{int(result.rows.sum()):,} labelled rows so far"
    return f"{Path(name).name}: {rows}; {'; '.join(values)}; {'; '.join(alarms) or 'no alarm'}"


def _track_text(track: RuleTrack) -> str:
    """A rule of all rows: the value so far, its limit, and the recent value."""
    recent = track.recent_text()
    shown = "" if recent == "–" else f", recent: {recent}"
    doubt = ", not yet certain" if track.is_suspect else ""
    return f"{track.title} {track.text()}, limit {track.limit_text()}{shown}{doubt}"


@dataclass(frozen=True)
class WatchOutputs:
    """Where the state, the page and the result go after each batch, and what the page calls the data."""

    state: str | None
    page: str | None
    json: str | None
    source: str
    force: bool = False

    def check_names(self, read: Sequence[str]) -> None:
        """Refuse what cannot be written, a file that is read as well, and two outputs in one file."""
        options: dict[Path, str] = {}
        for option, path in (("--state", self.state), ("--page", self.page), ("--json", self.json)):
            if path is None:
                continue
            check_no_input(checked_output(None, path, True, ()), read)
            other = options.setdefault(Path(path).resolve(), option)
            if other != option:
                raise InputError(f"{other} and {option} both name {path!r}; give each a file of its own.")

    def check_kept(self, watched: WatchedMonitor) -> None:
        """Refuse to replace a page or a result that exists, unless it is as it was written for this state."""
        for path in (self.page, self.json):
            if path is None or self.force:
                continue
            place = Path(path).resolve()
            known = watched.written.get(str(place))
            if known is None:
                check_replaceable(place, path, force=False)
            elif place.exists() and file_digest(place) not in known:
                raise InputError(
                    f"{path!r} was changed since it was written for this state and was kept; give another name, or "
                    "--force to replace it."
                )

    def write(self, watched: WatchedMonitor) -> Monitoring:
        """All of them, each whole or not at all; the state first, so that it knows whatever else was written."""
        self.check_kept(watched)
        found = watched.monitor.result()
        result = replace(found, stated=tuple(map(of_shell, found.stated)))
        contents: dict[str, bytes] = {}
        if self.json is not None:
            contents[self.json] = _content(result.to_json(indent=1))
        if self.page is not None:
            contents[self.page] = _content(result.to_html(source=self.source))
        for path, content in contents.items():
            place = Path(path).resolve()
            before = [file_digest(place)] if place.exists() else []  # which a kill may leave there
            watched.written[str(place)] = [*before, content_digest(content)]
        watched.save(self.state)
        for path, content in contents.items():
            write_whole(path, content)
        return result
