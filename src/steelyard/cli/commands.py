"""The commands: stdout is data, stderr is messages. Each is loaded when it is called."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from steelyard.cli import ABOUT, COMMANDS
from steelyard.errors import SteelyardError, did_you_mean

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

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's own
        """The command, from the module that holds it."""
        if cmd_name not in MODULES:
            return None
        found: click.Command = getattr(import_module(f"steelyard.cli.{MODULES[cmd_name]}"), cmd_name)
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, ...]:
        """The command that the first word names, or a sentence with the nearest ones."""
        name = args[0]
        if name not in MODULES and (near := did_you_mean(name, COMMANDS)):
            raise click.UsageError(f"No such command {name!r}.{near}", ctx)
        return super().resolve_command(ctx, args)

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
            told = error.format_message().rstrip(".")
            refuse(ctx, f"{told}{'' if told.endswith(('?', ')')) else ';'} `{path} --help` tells what there is.")
        except click.ClickException as error:
            refuse(ctx, error.format_message())
        except SteelyardError as error:
            refuse(ctx, str(error))
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if os.environ.get("STEELYARD_DEBUG"):
                raise
            told = (
                f"Steelyard failed on this, which is its fault: {type(error).__name__}, {str(error)[:200].rstrip('.')}"
            )
            refuse(ctx, f"{told}; STEELYARD_DEBUG=1 shows where.")


def refuse(ctx: click.Context, sentence: str) -> None:
    """One line on stderr, whatever names and labels it quotes, and exit code 2."""
    from steelyard.cli.wording import of_shell
    from steelyard.report.terminal import one_line

    click.echo(f"steelyard: {one_line(of_shell(sentence))}", err=True)
    ctx.exit(2)


@click.group(cls=Commands, help=ABOUT, context_settings={"help_option_names": ["-h", "--help"]})
def commands() -> None:
    """All commands."""
