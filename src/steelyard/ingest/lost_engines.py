"""Lost engines: what fails where the rows are, such as a worker that dies, in one sentence."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError, SteelyardError

if TYPE_CHECKING:
    from collections.abc import Iterator

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_NAMED = re.compile(r"[\w.]+(Error|Exception): ")


@contextmanager
def worded_losses(engine: str) -> Iterator[None]:
    """Word the errors of an engine, each of which has its own kinds: a lost worker, a closed connection."""
    try:
        yield
    except (SteelyardError, TypeError):  # objects of Dask show their kind only when they are compared
        raise
    except Exception as error:
        sentence = f"{engine} could not count the rows ({_reason(error)}); nothing was kept, so run it again."
        raise InputError(sentence) from error


def _reason(error: Exception) -> str:
    """The first line of an error; where that is only the name of a task or a heading, the first that names an error."""
    lines = [line.strip() for line in _COLOUR.sub("", str(error)).splitlines() if line.strip()]
    first = next(iter(lines), type(error).__name__)
    if first.startswith("ray::") or first.endswith(":"):
        first = next(filter(_NAMED.match, lines), first)
    return first[:200].rstrip(".")
