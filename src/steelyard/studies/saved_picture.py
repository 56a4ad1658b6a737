"""SavedPicture: a picture of a study as it was drawn before the study was saved."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import InputError


@dataclass(frozen=True)
class SavedPicture:
    """A picture as it was drawn before its study was saved."""

    name: str
    words: str
    columns: int
    svg: str

    def image(self, kind: str) -> bytes:
        """The picture as "svg"; other kinds are drawn from the numbers, which are not saved."""
        if kind != "svg":
            raise InputError(f"A study read from JSON has its figures as svg, not as {kind}; run it again for these.")
        return self.svg.encode()
