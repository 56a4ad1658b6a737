"""The option of a deployment prevalence: a share, or positives counted in some rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.analysis.prevalence.prevalence import PrevalenceLike


def prevalence_option(*, required: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option, which a command may need."""
    return click.option(
        "--prevalence",
        callback=lambda ctx, parameter, value: None if value is None else _parsed(value),  # noqa: ARG005 - click's own
        required=required,
        metavar="P",
        help="The deployment prevalence: the share of positives there, or 12/400 for 12 positives counted in 400 rows; "
        "with scores of each class of threshold a=0.1,b=0.9.",
    )


def _shares(text: str) -> dict[str, float]:
    """The share of each class, such as a=0.1,b=0.9."""
    pairs = [part.rpartition("=") for part in text.split(",")]
    try:
        shares = {name.strip(): float(share) for name, sign, share in pairs if sign}
    except ValueError:
        shares = {}
    if len(shares) != len(pairs):
        named = "each by name, such as low=0.2,mid=0.3,high=0.5"
        raise InputError(f"--prevalence of classes is their shares, {named}, not {text!r}.")
    return shares


def _parsed(text: str) -> PrevalenceLike | dict[str, float]:
    """A share such as 0.03 or 3%, or positives among rows such as 12/400, which intervals then do not take for certain.

    Of many classes the share of each.
    """
    from steelyard.analysis.prevalence.prevalence import Prevalence

    if "=" in text or text.count(",") > 1:  # one is that of 0,03
        return _shares(text)
    try:
        first, *rest = [float(text[:-1]) / 100] if text.endswith("%") else map(float, text.split("/", 1))
    except ValueError:
        raise InputError(
            f"--prevalence is a share such as 0.03 or 3%, or positives of rows such as 12/400, not {text!r}."
        ) from None
    return Prevalence(positives=first, rows=rest[0]) if rest else first
