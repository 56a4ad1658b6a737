"""The command line in this process: tests give the words that one types, and read what is printed."""

from __future__ import annotations

import os

from click.testing import CliRunner

from steelyard.cli.commands import commands

COMMANDS = commands.list_commands(None)


def command_named(name):
    """The command of this name, with its help and options."""
    return commands.get_command(None, name)


def run_command(*words, code=None, columns=None, env=None, **options):
    """What `steelyard WORDS` prints and its exit code, in a terminal of 100 columns where nothing else is said.

    With `code` the command must end by that exit code, and no exception other than its exit may come out of it.
    """
    width = str(columns or os.environ.get("COLUMNS", "100"))
    shell = CliRunner(env={"COLUMNS": width, **(env or {})})
    ran = shell.invoke(commands, [str(word) for word in words], prog_name="steelyard", **options)
    if code is not None:
        assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
        assert ran.exit_code == code, ran.output
    return ran
