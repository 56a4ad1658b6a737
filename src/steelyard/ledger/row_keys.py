"""Row keys: the names of rows, such as a patient's number, as keyed hashes that say nothing without a secret key.

The hash is HMAC-SHA-256 of the key's text, its first 16 bytes. The secret lies in STEELYARD_LEDGER_KEY or in a file of
the user's own, never in the ledger.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

_VARIABLE = "STEELYARD_LEDGER_KEY"
_SHORTEST = 32  # characters of a secret: half as many bytes written in hexadecimal
_BYTES = 16  # of a hash: two rows of 10**9 share one with a probability of about 1e-21


def secret_key() -> bytes:
    """The secret of this user: that of the environment, else that of a file that is made where there is none."""
    given = os.environ.get(_VARIABLE)
    if given is None:
        return _file_key(_key_file())
    if len(given) < _SHORTEST:
        raise InputError(
            f"{_VARIABLE} has {len(given)} characters, which can be tried out; give {_SHORTEST} or more, such as those "
            "of `openssl rand -hex 32`."
        )
    return given.encode()


def _key_file() -> Path:
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "steelyard" / "ledger.key"


def _file_key(path: Path) -> bytes:
    """The secret in the file, which its owner alone may read."""
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
    """By which entries of one secret are recognised; the secret does not follow from it."""
    return hmac.digest(secret, b"steelyard ledger key", "sha256")[:8].hex()


def hashed_keys(texts: Iterable[str], secret: bytes) -> list[bytes]:
    """The keyed hash of each text."""
    return [hmac.digest(secret, b"row\0" + text.encode("utf-8", "replace"), "sha256")[:_BYTES] for text in texts]
