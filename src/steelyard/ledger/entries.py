"""Entries: the files of a ledger, and the rows kept beside them, written whole and read with their digests.

An entry is the JSON of `report --format json` with a key "entry", so that whatever reads a report reads an entry.
"""

from __future__ import annotations

import hmac
import io
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from steelyard.analysis.results.result_json import json_text, saved_text
from steelyard.arrays import checks
from steelyard.evaluation.evaluation import Evaluation, current_versions
from steelyard.exceptions import InputError, InputTypeError, surrogate_sentence
from steelyard.predictions import Predictions, refuse_unused
from steelyard.tables.saved import ENTRY, read_json
from steelyard.written_files import replacement_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    import polars as pl

    from steelyard._types import Label


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
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"Of the tag {name!r} {surrogate_sentence(error)}") from None
    return texts


def entry_content(
    evaluation: Evaluation, id: str, time: str, tags: Mapping[str, str], rows: Mapping[str, Any] | None
) -> bytes:
    """The bytes of the file of an entry."""
    if not isinstance(evaluation, Evaluation):
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


# ---------------------------------------------------------------- row keys
# The names of rows, such as a patient's number, as keyed hashes that say nothing without a secret key.
#
# The hash is HMAC-SHA-256 of the key's text, its first 16 bytes. The secret lies in STEELYARD_LEDGER_KEY or in a file
# of the user's own, never in the ledger.


_VARIABLE = "STEELYARD_LEDGER_KEY"
_SHORTEST = 32  # characters of a secret: half as many bytes written in hexadecimal
_BYTES = 16  # of a hash: two rows of 10**9 share one with a probability of about 1e-21


def secret_key() -> bytes:
    """The secret of this user: from the environment, else from a file that only its owner may read, made if missing."""
    secret = os.environ.get(_VARIABLE)
    if secret is not None:
        if len(secret) < _SHORTEST:
            raise InputError(
                f"{_VARIABLE} has {len(secret)} characters, which can be tried out; give {_SHORTEST} or more, such as "
                "those of `openssl rand -hex 32`."
            )
        return secret.encode()
    path = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "steelyard" / "ledger.key"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _make_key(path)
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise InputError(f"Others may read the key {str(path)!r}; run chmod 600 on it.")
        key = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InputError(
            f"The key of the rows {str(path)!r} cannot be used: {error.strerror or error}; set {_VARIABLE} instead."
        ) from None
    if len(key) < _SHORTEST:
        raise InputError(f"The key of the rows {str(path)!r} holds fewer than {_SHORTEST} characters; remove it.")
    return key.encode()


def _make_key(path: Path) -> None:
    """A new secret, whole when it has its name; of two writers at once the first one's stays."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(secrets.token_hex(32) + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def key_mark(secret: bytes) -> str:
    """A mark that is the same for all entries of one secret, from which the secret does not follow."""
    return hmac.digest(secret, b"steelyard ledger key", "sha256")[:8].hex()


def hashed_keys(texts: Iterable[str], secret: bytes) -> list[bytes]:
    """The keyed hash of each text."""
    return [hmac.digest(secret, b"row\0" + text.encode("utf-8", "replace"), "sha256")[:_BYTES] for text in texts]


# ---------------------------------------------------------------- kept rows
# Truth, prediction and score of each row under the keyed hash of its name, so that models can be paired.
#
# They lie in a Parquet file beside their entry, ordered by hash: neither the names nor their order are kept.


ROWS_START = b"PAR1"  # as every Parquet file begins
_USES = ("true", "pred", "score")
_COUNTED = ("weight", "frequency")


def kept_rows(evaluation: object, predictions: Any, key: str) -> tuple[bytes, dict[str, Any]]:
    """The file of the rows that were evaluated, and what the entry states of it.

    The file holds the truth, the predictions or scores, and the keyed hash of the column `key`.
    """
    if predictions is None:
        raise InputTypeError(
            f"keep_rows={key!r} names a column of the rows that were evaluated; give predictions= too."
        )
    import polars as pl

    p = _evaluated_rows(evaluation, predictions)
    values = p.collect(key)
    texts, secret = _key_texts(pl.Series(values.column(key)), key), secret_key()
    columns = {}
    for use, column in (("true", values.given.data), ("pred", values.given.y_pred), ("score", values.given.y_score)):
        if use == "score" and column is not None:
            columns[use] = pl.Series(checks.finite_scores(column), dtype=pl.Float64)
        elif column is not None:
            labels = [label_text(label) for label in checks.column(column, use).tolist()]
            columns[use] = pl.Series(labels, dtype=pl.String)
    rows = pl.DataFrame({"key": pl.Series(hashed_keys(texts, secret), dtype=pl.Binary), **columns}).sort("key")
    if not isinstance(evaluation, Evaluation) or rows.height != evaluation.rows:
        raise InputError(f"There are {rows.height:,} rows and another number was evaluated; give the same rows.")
    buffer = io.BytesIO()
    rows.write_parquet(buffer)
    content = buffer.getvalue()
    digest = f"sha256:{sha256(content).hexdigest()}"
    return content, {"count": rows.height, "digest": digest, "key": key_mark(secret)}


def _evaluated_rows(evaluation: object, given: Any) -> Predictions:
    """The rows that were evaluated, of a frame by the columns that the evaluation names; each counts once."""
    columns: dict[str, Any] = dict(getattr(evaluation, "columns", {}))
    uses = {use: columns[use] for use in _USES if isinstance(columns.get(use), str) and "*" not in columns[use]}
    is_frame = not isinstance(given, Predictions)
    if (
        not isinstance(evaluation, Evaluation)
        or evaluation.per_label
        or (is_frame and ("true" not in uses or len(uses) < 2))
    ):
        raise InputError(
            "Rows are kept of an evaluation of one column of truth and one of predictions or scores: give "
            "predictions= as Predictions, or evaluate(frame, true=..., pred=... or score=...)."
        )
    if evaluation.is_clustered or any(columns.get(use) for use in _COUNTED):
        raise InputError(
            "Rows are kept where each counts once and for itself; leave keep_rows out of weighted or "
            "clustered rows, and compare these with `steelyard compare`."
        )
    p = Predictions.read(given, **uses) if is_frame else given
    refuse_unused(p, "rows that are kept", "weights", "frequency", "cluster", "design")
    return p


def label_text(label: Label) -> str:
    """A label as kept rows hold it: the same for 1, 1.0 and "1"."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _key_texts(keys: pl.Series, name: str) -> list[str]:
    """The keys as text, the same for 7 and "7"; each must name one row."""
    import polars as pl

    if keys.null_count():
        raise InputError(f"{keys.null_count():,} rows have no key in {name!r}; rows are kept where each has one.")
    if keys.dtype.is_float():
        whole = keys.cast(pl.Int64, strict=False)
        if whole.null_count() or not (whole == keys).all():
            raise InputError(f"The keys in {name!r} are numbers with decimals; name a column of whole numbers or text.")
        keys = whole
    texts = keys.cast(pl.String)
    if texts.n_unique() < len(texts):
        often = texts.value_counts(sort=True)
        raise InputError(f"{(often['count'] > 1).sum():,} keys in {name!r} name several rows; each must name one row.")
    return texts.to_list()


def read_rows(path: Path, facts: Mapping[str, Any]) -> pl.DataFrame:
    """The rows of an entry, which must be as they were written."""
    import polars as pl

    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"The rows {path.name!r} cannot be read: {error.strerror or error}.") from None
    if f"sha256:{sha256(content).hexdigest()}" != facts["digest"]:
        raise InputError(f"The rows {path.name!r} were changed after they were logged: their digest is another one.")
    return pl.read_parquet(io.BytesIO(content))


# ---------------------------------------------------------------- ledger folder
# One JSON file for each evaluation, created whole or not at all, in a folder that a marker file names.
#
# A file is never written again once it has its name, so that readers need no lock: what is listed is whole. It is
# written under a hidden name, put on the disk, and then linked to its name, which fails where that name is taken.
# Reading writes and removes nothing; unfinished files of killed writers are removed by a later log, and nothing else.


MARKER = ".steelyard-ledger"  # the folder that holds it is a ledger, whatever it says
ENTRY_ENDING, ROWS_ENDING = ".json", ".rows.parquet"
_TEMPORARY, _IGNORE = ".tmp", ".gitignore"
_MARK = "This folder is a ledger of Steelyard: each JSON file is an evaluation; `steelyard history` lists them.\n"
_IGNORED = f"# What a program that was killed left behind; it is removed a day later.\n.*{_TEMPORARY}\n"
_ABANDONED = 24 * 3600  # seconds: no writer needs that long; one that was stopped for longer is refused, and logs again

_ID = r"[0-9]{8}T[0-9]{6}-[0-9a-f]{12}"
_ENTRY, _ROWS = re.compile(rf"{_ID}\.json"), re.compile(rf"{_ID}\.rows\.parquet")
_UNFINISHED_MARK = re.compile(rf"\.{re.escape(MARKER)}\.[0-9a-f]{{16}}\.tmp")
_UNFINISHED = {  # the names of unfinished files, of long ones the first 40 characters, and how their content begins
    re.compile(rf"\.{name}\.[0-9a-f]{{16}}\.tmp"): start
    for name, start in (
        (re.escape(MARKER), _MARK.encode()),
        (re.escape(_IGNORE), _IGNORED.encode()),
        (rf"{_ID}\.json", ENTRY_START),
        (rf"{_ID}\.rows\.parque", ROWS_START),
    )
}
_EARLIER = (_IGNORE, "index.parquet")  # what else ledgers held that had no marker


def new_id(folder: Path, now: datetime) -> str:
    """An id that no entry has: the second, so that files lie in order, and 46 random bits.

    Its last eight characters, which tables show, begin with a letter, so that nothing reads them as a number.
    """
    while True:
        random = secrets.token_hex(6)
        new = f"{now:%Y%m%dT%H%M%S}-{random[:4]}{secrets.choice('abcdef')}{random[5:]}"
        if not entry_file(folder, new).exists():
            return new


def entry_file(folder: Path, id: str) -> Path:
    """The file of the entry of that id."""
    return folder / f"{id}{ENTRY_ENDING}"


def make_folder(folder: Path) -> None:
    """The folder, marked as a ledger; one that holds anything else is refused and left as it is."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The ledger {str(folder)!r} cannot be made: {error.strerror or error}.") from None
    _check_is_ledger(folder)
    for name, text in ((MARKER, _MARK), (_IGNORE, _IGNORED)):
        path = folder / name
        if not os.path.lexists(path):
            try:
                create_file(path, text.encode())
            except InputError:
                if not path.is_file():  # else another writer was first
                    raise


def _check_is_ledger(folder: Path) -> None:
    """Refuse a folder that is no ledger and could not become one, since others have files there."""
    if _is_marked(folder):
        return
    names = [name for name in _names(folder) if not _UNFINISHED_MARK.fullmatch(name)]
    if not names or _is_marked(folder):  # by now: its first writer marks it before all else
        return
    if _holds_only_entries(folder, names):
        raise InputError(
            f"{str(folder)!r} holds entries of a ledger but no file {MARKER!r}, which names it as one; to use it, make "
            f"that file: touch {str(folder / MARKER)!r}."
        )
    raise InputError(
        f"{str(folder)!r} is no ledger: it holds other files and no {MARKER!r}, so nothing there is read or changed; "
        "name a new or empty folder, or one that `steelyard log` made."
    )


def _is_marked(folder: Path) -> bool:
    marker = folder / MARKER
    return marker.is_file() and not marker.is_symlink()


def _holds_only_entries(folder: Path, names: list[str]) -> bool:
    """Whether all files are whole entries, their rows, or what ledgers without a marker had beside them."""
    entries = [name for name in names if _ENTRY.fullmatch(name)]
    if not entries or any(not (name in _EARLIER or _ROWS.fullmatch(name)) for name in set(names) - set(entries)):
        return False
    try:
        return all((folder / name).is_file() and bool(read_report(folder / name)) for name in entries)
    except InputError:
        return False


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names alone
    except OSError as error:
        raise InputError(f"The ledger {str(folder)!r} cannot be read: {error.strerror or error}.") from None


def entry_ids(folder: Path) -> list[str]:
    """The ids of all entries in their order; a folder that is no ledger is refused, an empty one has none."""
    if not folder.is_dir():
        raise InputError(
            f"There is no ledger at {str(folder)!r}; log an evaluation first, or name its folder with path= or in "
            "STEELYARD_LEDGER."
        )
    _check_is_ledger(folder)
    return sorted(name.removesuffix(ENTRY_ENDING) for name in _names(folder) if _ENTRY.fullmatch(name))


def create_file(path: Path, content: bytes) -> None:
    """A new file, whole and on the disk when this returns; refused where one of that name exists."""
    with replacement_file(path, _TEMPORARY, force=False) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Put the name of a new file on the disk as well, where a system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_abandoned_files(folder: Path) -> None:
    """Remove the unfinished files that killed writers left a day ago or more, known by their names and their beginning.

    All else stays: an entry or rows that are alone may have the other half in another place, such as a branch of git.
    """
    if not _is_marked(folder):
        return
    oldest = time.time() - _ABANDONED
    with suppress(OSError), os.scandir(folder) as listed:
        for file in listed:
            start = next((start for name, start in _UNFINISHED.items() if name.fullmatch(file.name)), None)
            if start is None or not file.is_file(follow_symlinks=False):
                continue
            with suppress(OSError):  # another program was first, or this one may not
                if file.stat(follow_symlinks=False).st_mtime < oldest:
                    path = Path(file.path)
                    with path.open("rb") as content:
                        is_ours = content.read(len(start)) == start
                    if is_ours:
                        path.unlink()
