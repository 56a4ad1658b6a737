"""Places: where a data set is looked for, and the sentence that says so where it is not there. Used by the loaders."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLE = "STEELYARD_DATA"


def cache() -> Path:
    """The user's own folder of data."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard" / "data"


def places(data: Any = None) -> list[Path]:
    """The folders in the order they are tried: the one given, else the environment's; then the user's cache."""
    given = data if data is not None else os.environ.get(VARIABLE)
    return [*([Path(given)] if given else []), cache()]


def load(file: str, read: Callable[[Path], Any], fetch: Callable[[Path], Any], *, data: Any, source: str) -> Any:
    """What `read` makes of the first such file, or else what `fetch` brings from the network into the cache."""
    first = places(data)[0]
    if first.is_file():
        raise InputError(f"{str(first)!r} is a file; give its folder, {str(first.parent)!r}.")
    for folder in places(data):
        if (folder / file).is_file():
            return _whole(folder / file, read)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a download is tried again
            return fetch(cache())
    except (OSError, ImportError, ValueError, KeyError) as error:  # no network, no scikit-learn, no such set there
        raise _missing(file, source, data, error) from error


def _whole(path: Path, read: Callable[[Path], Any]) -> Any:
    """What the file holds; a damaged one can fail in any way that its format's reader knows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # NumPy only warns of a table without rows
            return read(path)
    except Exception as error:
        said = " ".join(str(error).split()).rstrip(".")[:80]
        raise InputError(
            f"{str(path)!r} cannot be read ({said or type(error).__name__}); it seems damaged: fetch it again, or take "
            "it away."
        ) from error


def _missing(file: str, source: str, data: Any, error: Exception) -> InputError:
    looked = " and ".join(str(folder) for folder in places(data))
    said = " ".join(str(error).split()).rstrip(".")[:80]
    return InputError(
        f"The data set {file} was looked for in {looked} and asked of {source} ({said or type(error).__name__}); put "
        f"the file in a folder and name it with --data, data= or {VARIABLE}, or try again with a network and "
        "scikit-learn."
    )
