"""Written files: temporary ones, files and folders that take the place of others, and what a killed program left.

A file is written under a name that is known before it is there, so that no moment leaves it behind, and takes its place
whole or not at all. A program locks its temporary files while it runs, and the operating system gives the locks back
however it ends.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_START = "steelyard-"
_YOUNG = 60.0  # seconds in which a program may have made a file and not yet locked it


def unused_path(folder: Path, start: str, ending: str = "") -> Path:
    """A path that nothing has yet; make it where an interruption removes it, which mkdtemp and mkstemp do not allow."""
    return folder / f"{start}{secrets.token_hex(8)}{ending}"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder of one's own that is gone afterwards; those of programs that were killed are removed as well."""
    parent = Path(tempfile.gettempdir())
    remove_abandoned(parent, _START)
    folder = unused_path(parent, _START)
    try:
        folder.mkdir(mode=0o700)
        with locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def without_umask(mode: int) -> int:
    """The mode less what the user's umask takes away: what a file made under another name has in its final place."""
    mask = os.umask(0)  # there is no way to read it without setting it
    os.umask(mask)
    return mode & ~mask


# ---------------------------------------------------------------- in the place of others


def check_replaceable(path: Path, name: str, *, force: bool) -> None:
    """Refuse what exists unless it may be replaced; `name` is what the user calls it."""
    if path.exists() and not force:
        raise _kept(name)


def _kept(name: str) -> InputError:
    return InputError(f"{name!r} exists and was kept; give another name, or force=True to replace it.")


@contextmanager
def replacement_file(path: Path, ending: str = "", *, force: bool = True) -> Iterator[Path]:
    """An empty file beside the path, which takes its place when it has been written; a failure leaves the old one.

    Without `force` what came there in the meantime is kept; else the new file has the owner and mode of the old one.
    """
    temporary = _beside(path, ending)
    try:
        temporary.touch(mode=0o600, exist_ok=False)
        with locked(temporary):
            yield temporary
        _copy_mode(path, temporary)
        if force:
            temporary.replace(path)
        else:
            _put_if_absent(temporary, path)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror or error}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def _copy_mode(path: Path, temporary: Path) -> None:
    """Give a new file the owner and mode of the one it replaces, or those of any new file."""
    if not path.exists():
        temporary.chmod(without_umask(0o666))
        return
    old = path.stat()
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (temporary.stat().st_uid, temporary.stat().st_gid):
        with suppress(OSError):  # only the administrator may
            os.chown(temporary, old.st_uid, old.st_gid)
    temporary.chmod(old.st_mode & 0o777)


def _put_if_absent(temporary: Path, path: Path) -> None:
    """The file in its place, where nothing may be: one call that another program cannot come between."""
    try:
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise
        except OSError:  # a disk without links: hold the place first
            path.touch(mode=0o600, exist_ok=False)
            temporary.replace(path)
    except FileExistsError:
        raise _kept(str(path)) from None


@contextmanager
def replacement_folder(path: Path) -> Iterator[Path]:
    """An empty folder beside the path, which takes its place when it has been filled; a failure leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path)
    try:
        temporary.mkdir(mode=0o700)
        with locked(temporary):
            yield temporary
        temporary.chmod(without_umask(0o777))
        _put(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _beside(path: Path, ending: str = "") -> Path:
    """A path beside another that nothing has yet; what a killed program left there is removed."""
    start = f".{path.name[:40]}."
    remove_abandoned(path.parent, start, ending)
    return unused_path(path.parent, start, ending)


def _put(folder: Path, path: Path) -> None:
    """The new folder in the place of the old one, which goes only when the new one is there."""
    if not path.exists() or not any(path.iterdir()):
        folder.replace(path)
        return
    old = folder.with_name(f"{folder.name}.old")
    path.rename(old)
    folder.replace(path)
    shutil.rmtree(old)


# ---------------------------------------------------------------- left by a killed program


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file or folder, so that no other program takes it for abandoned; where there are no locks, none does."""
    opened = _open_locked(path)
    try:
        yield
    finally:
        if opened is not None:
            os.close(opened)


def remove_abandoned(folder: Path, start: str, ending: str = "") -> None:
    """Remove one's own temporary files and folders of this start and ending whose program is gone."""
    name = re.compile(f"{re.escape(start)}[0-9a-f]{{16}}{re.escape(ending)}")
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if name.fullmatch(entry.name) and _is_old_and_own(entry):
                _remove_unlocked(Path(entry.path))


def _is_old_and_own(entry: os.DirEntry[str]) -> bool:
    facts = entry.stat(follow_symlinks=False)
    mine = hasattr(os, "getuid") and facts.st_uid == os.getuid()
    return mine and not entry.is_symlink() and time.time() - facts.st_mtime > _YOUNG


def _remove_unlocked(path: Path) -> None:
    opened = _open_locked(path)
    if opened is None:
        return
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    os.close(opened)


def _open_locked(path: Path) -> int | None:
    """The file, opened and locked; nothing where another program has locked it, or the system has no such locks."""
    try:
        import fcntl

        opened = os.open(path, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened


# ---------------------------------------------------------------- what is saved


class Saveable:
    """What writes itself as text: JSON, and HTML, Markdown, CSV or LaTeX where it has them."""

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write it to a file of the kind that the ending names, such as .json; what exists is kept unless `force`.

        >>> from steelyard import Counts, load
        >>> with temporary_folder() as folder:
        ...     load(Counts(1, 2, 3, 4).save(folder / "counts.json"))
        Counts(tp=1, fn=2, fp=3, tn=4)
        """
        file = Path(os.fspath(path))
        writers = {ending: name for ending, name in _WRITERS.items() if hasattr(self, name)}
        if (name := writers.get(file.suffix.lower())) is None:
            there = ", ".join(writers)
            raise InputError(f"{str(path)!r} ends in none of {there}, by which a {type(self).__name__} is saved.")
        check_replaceable(file, str(path), force=force)
        written = getattr(self, name)()
        text = written if isinstance(written, str) else written.to_csv(index=False)
        with replacement_file(file, force=force) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="")
        return file


_WRITERS = {".json": "to_json", ".html": "to_html", ".md": "to_markdown", ".csv": "to_csv", ".tex": "to_latex"}
