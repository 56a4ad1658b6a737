"""`steelyard completion`: the lines that make a shell complete commands, options, columns and metrics."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from steelyard.cli.commands import command, commands
from steelyard.exceptions import InputError

_VARIABLE = "_STEELYARD_COMPLETE"  # by which the shell asks, in click's protocol
_SHELLS = ("bash", "zsh", "fish")


@command
@click.argument("shell", type=click.Choice(_SHELLS))
def print_completion(shell: str) -> None:
    """Print what SHELL must run so that TAB completes commands, options, columns, metrics and files.

    In bash, for every new terminal: echo 'eval "$(steelyard completion bash)"' >> ~/.bashrc; in zsh the same with zsh
    and ~/.zshrc; in fish: steelyard completion fish > ~/.config/fish/completions/steelyard.fish
    """
    click.echo(completion_script(shell))


def completion_script(shell: str) -> str:
    """The script for bash, zsh or fish."""
    kind = get_completion_class(shell)
    if kind is None:
        raise InputError(f"There is no completion for {shell!r}; there is for {', '.join(_SHELLS)}.")
    return kind(commands, {}, "steelyard", _VARIABLE).source()
