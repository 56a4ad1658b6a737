"""The options of commands about a ledger: which folder, and the tags of evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.ledger.ledger import Ledger


def ledger_option() -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The folder of the ledger."""
    return click.option(
        "--ledger",
        callback=lambda ctx, parameter, value: _ledger(value),  # noqa: ARG005 - click's own
        metavar="DIR",
        help="The folder of the ledger; else that of STEELYARD_LEDGER, else steelyard-ledger.",
    )


def tag_option(about: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Tags as a dictionary."""
    return click.option(
        "--tag",
        "tags",
        multiple=True,
        callback=lambda ctx, parameter, value: _parsed_tags(value),  # noqa: ARG005 - click's own
        metavar="NAME=TEXT",
        help=f"{about}; repeatable.",
    )


def _ledger(given: str | None) -> Ledger:
    from steelyard.ledger.ledger import Ledger

    return Ledger(given)


def _parsed_tags(texts: tuple[str, ...]) -> dict[str, str]:
    """The tags by name, each once."""
    tags: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise InputError(f"--tag takes a name and a text, such as model=v3, not {text!r}.")
        if name.strip() in tags:
            raise InputError(f"--tag names {name.strip()!r} twice; give each tag once.")
        tags[name.strip()] = value
    return tags
