"""The commands: stdout is data, stderr is messages. Each is loaded when it is called."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from steelyard.cli import ABOUT, COMMANDS
from steelyard.errors import SteelyardError

HOMES = {
    "catalogue": ("metrics", "explain", "audit", "recommend"),
    "weighing": ("report", "compare", "threshold", "shift"),
    "pipeline": ("gate", "tally", "merge"),
    "drawing": ("plot",),
    "measuring": ("crossval", "study"),
    "showing": ("demo",),
}
MODULES = {name: module for module, names in HOMES.items() for name in names}


class Commands(click.Group):
    """All commands; a refusal becomes one sentence on stderr and exit code 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command, from the module that holds it."""
        if cmd_name not in MODULES:
            return None
        found: click.Command = getattr(import_module(f"steelyard.cli.{MODULES[cmd_name]}"), cmd_name)
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(130)
        except BrokenPipeError:
            # Whoever read stdout has gone; nothing is left to flush there at the exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except click.UsageError as error:
            path = (error.ctx or ctx).command_path
            refuse(ctx, f"{error.format_message().rstrip('.')}; `{path} --help` tells what there is.")
        except SteelyardError as error:
            refuse(ctx, str(error))


def refuse(ctx: click.Context, sentence: str) -> None:
    """One line on stderr, whatever names and labels it quotes, and exit code 2."""
    from steelyard.report.terminal import one_line

    click.echo(f"steelyard: {one_line(sentence)}", err=True)
    ctx.exit(2)


@click.group(cls=Commands, help=ABOUT, context_settings={"help_option_names": ["-h", "--help"]})
def commands() -> None:
    """All commands."""
