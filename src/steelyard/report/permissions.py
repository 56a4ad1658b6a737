"""Permissions: what a file or folder made under another name may have in its final place. Used by what writes."""

from __future__ import annotations

import os


def permitted(mode: int) -> int:
    """The mode less what the user's umask takes away, as a plain `open` or `mkdir` would give it."""
    mask = os.umask(0)  # there is no way to read it without setting it
    os.umask(mask)
    return mode & ~mask
