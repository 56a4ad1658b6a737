"""Entry: one evaluation as the ledger keeps it, the report itself and, under one more key, who it is.

An entry is the JSON of `report --format json` with a key "entry", so that whatever reads a report reads an entry.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from steelyard.analysis.results.result_json import parsed
from steelyard.analysis.results.strict_json import json_text, saved_text
from steelyard.evaluation.evaluation import Evaluation, current_versions
from steelyard.evaluation.label_sets.multilabel_evaluation import MultilabelEvaluation
from steelyard.exceptions import InputError, InputTypeError
from steelyard.statistics.saved_json import ENTRY, read_json

if TYPE_CHECKING:
    from pathlib import Path

    from steelyard.evaluation.label_sets.multilabel_evaluation import AnyEvaluation

ENTRY_SCHEMA = 1
ENTRY_START = b'{\n "schema": '  # of every file of an entry
_LONGEST_KEY, _LONGEST_VALUE = 100, 1_000  # characters
Tags: TypeAlias = "Mapping[str, object]"


@dataclass(frozen=True)
class Entry:
    """Who an evaluation is: its id, when it was logged, its tags, what wrote it, the digest of it and its report."""

    id: str
    time: str
    tags: Mapping[str, str]
    digest: str
    versions: Mapping[str, str]
    shown: Sequence[str]  # the metrics that are shown first
    rows: Mapping[str, Any] | None = None  # of kept rows: how many, their digest, and which key hashed theirs
    schema: int = ENTRY_SCHEMA


def checked_tags(tags: Tags | None) -> dict[str, str]:
    """Tags as text by name; a name has no = and no control codes."""
    if tags is None:
        return {}
    if not isinstance(tags, Mapping):
        raise InputTypeError(f"Tags are a dictionary such as {{'model': 'v3'}}, not {type(tags).__name__}.")
    texts = {str(name).strip(): str(value) for name, value in tags.items()}
    for name, text in texts.items():
        if not name or "=" in name or not name.isprintable() or len(name) > _LONGEST_KEY:
            raise InputError(
                f"A tag is a name and a text, such as model=v3; {name[:_LONGEST_KEY]!r} is no name: it is empty, "
                f"longer than {_LONGEST_KEY} characters, or holds = or a control code."
            )
        if len(text) > _LONGEST_VALUE:
            raise InputError(f"The tag {name!r} has {len(text):,} characters; give at most {_LONGEST_VALUE:,}.")
    return texts


def entry_content(
    evaluation: AnyEvaluation, id: str, time: str, tags: Mapping[str, str], rows: Mapping[str, Any] | None
) -> bytes:
    """The bytes of the file of an entry."""
    if not isinstance(evaluation, Evaluation | MultilabelEvaluation):
        raise InputTypeError(f"A ledger keeps what evaluate() returns, an Evaluation, not {type(evaluation).__name__}.")
    report = json.loads(saved_text(evaluation.to_dict()).encode("utf-8", "replace"))  # as it will be read back
    shown = tuple(row.name for row in evaluation.shown())
    entry = Entry(id, time, tags, "", current_versions(), shown, rows)
    entry = replace(entry, digest=_entry_digest(asdict(entry), report))
    first = {key: report[key] for key in ("schema", "kind", "version")}
    return (json_text({**first, ENTRY: asdict(entry), **report}, indent=1) + "\n").encode()


def report_digest(report: Mapping[str, Any]) -> str:
    """The digest of a report, whatever the order of its keys and the spaces between them."""
    text = json.dumps(report, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def _entry_digest(envelope: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """The digest of an entry: of its report and of all that it says of itself but the digest."""
    return report_digest({**report, ENTRY: {name: envelope[name] for name in envelope if name != "digest"}})


def read_report(path: Path) -> tuple[Entry, dict[str, Any]]:
    """The entry of a file and its report, which must be as they were written."""
    try:
        data = read_json(path.read_bytes())
        envelope = data.pop(ENTRY)
        later = envelope["schema"] > ENTRY_SCHEMA
        entry = Entry(**{field.name: envelope[field.name] for field in fields(Entry)})
        _check_envelope(entry)
        whole = _entry_digest(envelope, data) == entry.digest and path.stem == entry.id
    except OSError as error:
        raise InputError(f"{path.name!r} cannot be read: {error.strerror or error}.") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{path.name!r} is no entry of a ledger, or was truncated.") from None
    if later:
        raise InputError(f"{path.name!r} was written by a later version; update Steelyard to read it.")
    if not whole:
        raise InputError(f"{path.name!r} was changed after it was logged: its digest is another one.")
    return entry, data


def _check_envelope(entry: Entry) -> None:
    """Refuse what an entry cannot say of itself, as that of a file that anybody may have written."""
    rows: Any = {"digest": "", "key": ""} if entry.rows is None else entry.rows
    texts = [entry.id, entry.time, entry.digest, rows["digest"], rows["key"], *entry.shown, *entry.tags.values()]
    if isinstance(entry.shown, str) or not all(isinstance(text, str) for text in texts):
        raise TypeError(entry.id)
    checked_tags(entry.tags)


def report_evaluation(report: dict[str, Any]) -> AnyEvaluation:
    """The evaluation of a report."""
    if parsed(report).get("kind") == MultilabelEvaluation.kind:
        return MultilabelEvaluation.from_json(report)
    return Evaluation.from_json(report)
