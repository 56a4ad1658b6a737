"""Data folder: where a data set is looked for, and the sentence that says so where it is not there."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

Loaded = TypeVar("Loaded")
VARIABLE = "STEELYARD_DATA"


def cache_folder() -> Path:
    """The user's own folder of data."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard" / "data"


def data_folders(data: str | PathLike[str] | None = None) -> list[Path]:
    """The folders in the order they are tried: the one given, else the environment's; then the user's cache."""
    given = data if data is not None else os.environ.get(VARIABLE)
    return [*([Path(given)] if given else []), cache_folder()]


def load_or_fetch(
    file: str,
    read: Callable[[Path], Loaded],
    fetch: Callable[[Path], Loaded],
    *,
    data: str | PathLike[str] | None,
    source: str,
) -> Loaded:
    """What `read` makes of the first such file, or else what `fetch` brings from the network into the cache."""
    first = data_folders(data)[0]
    if first.is_file():
        raise InputError(f"{str(first)!r} is a file; give its folder, {str(first.parent)!r}.")
    for folder in data_folders(data):
        if (folder / file).is_file():
            return _read_whole(folder / file, read)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a download is tried again
            return fetch(cache_folder())
    except (OSError, ImportError, ValueError, KeyError) as error:  # no network, no scikit-learn, no such set there
        raise _missing(file, source, data, error) from error


def _read_whole(path: Path, read: Callable[[Path], Loaded]) -> Loaded:
    """What the file holds; a damaged one can fail in any way that its format's reader knows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # NumPy only warns of a table without rows
            return read(path)
    except Exception as error:
        reason = _reason(error)
        raise InputError(
            f"{str(path)!r} cannot be read ({reason}); it seems damaged: fetch it again, or take it away."
        ) from error


def _missing(file: str, source: str, data: str | PathLike[str] | None, error: Exception) -> InputError:
    looked = " and ".join(str(folder) for folder in data_folders(data))
    reason = _reason(error)
    return InputError(
        f"The data set {file} was looked for in {looked} and asked of {source} ({reason}); put "
        f"the file in a folder and name it with data= or {VARIABLE}, or try again with a network and "
        "scikit-learn."
    )


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")[:80] or type(error).__name__
