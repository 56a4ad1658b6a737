"""The commands: how a function becomes one, and the group that loads each when it is called.

Stdout is data, stderr is messages.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.shell_completion import CompletionItem

from steelyard.cli.overview import ABOUT, ANSWERED, COMMANDS
from steelyard.cli.streams import is_of_stdout, lost_sentence, print_message
from steelyard.cli.suggestions import suggest_values
from steelyard.exceptions import SteelyardError, did_you_mean, surrogate_sentence

if TYPE_CHECKING:
    from collections.abc import Callable

_HELP = ["-h", "--help"]
_LOADED: dict[str, click.Command] = {}
_ELSEWHERE = {  # options that users look for in commands that do not have them
    "--prevalence": "`steelyard shift FILE --prevalence P` takes it",
}
_RENAMED = {  # old options, of a command where its name stands before them
    "--scores": "--score",
    "--positive": "--pos-label",
    "--plan": "--design",
    "--row": "--long ROW,LABEL",
    "--label": "--long ROW,LABEL",
    "--keys": "--key",
    "--promise": "--guarantee",
    "--profile": "--use",
    "--jobs": "--n-jobs",
    "crossval --cost": "--resources",
    "crossval --data": "FILE",
    "crossval --folds": "--split K",
    "crossval --repeats": "--split KxN",
    "crossval --holdout": "--split holdout:K",
    "recommend --deployment-prevalence": "--stable-prevalence",
    "recommend --reference-threshold": "--threshold",
    "recommend --clusters": "--cluster COL",
    "recommend --equal-class-weight": "--use balance",
    "recommend --unequal-class-weight": "--use alerts",
    "recommend --ranking": "--use ranking",
    "recommend --calibration": "--use probabilities",
    "recommend --costs": "--cost-fn and --cost-fp",
    "errors --where": "--filter",
    "slices --least": "--min-rows",
    "slices --rate": "--fdr",
    "slices --most": "--first",
}
_TYPES = {"is not a valid float": "is not a number", "is not a valid integer": "is not a whole number"}


def command(function: Callable[..., None]) -> click.Command:
    """The command that its module is named after; the function's docstring is its help."""
    name = function.__module__.rpartition(".")[2].replace("_", "-")
    settings = {"help_option_names": _HELP, "token_normalize_func": _spelling}
    about = (COMMANDS | ANSWERED)[name].about
    make = click.command(name, OneCommand, help=function.__doc__, short_help=about, context_settings=settings)
    _LOADED[name] = suggest_values(make(function))
    return _LOADED[name]


def _spelling(word: str) -> str:
    """An option under the one name it is looked up by: --metric is --metrics wherever either is an option."""
    return "metrics" if word == "metric" else word


class RowOption(click.Option):
    """An option that says which rows are read and how: `--help` names it, `--help-rows` explains it."""


def row_options(command: click.Command) -> list[RowOption]:
    """The options that say which rows are read and how, of a command that explains them apart."""
    if all(parameter.name != "help_rows" for parameter in command.params):
        return []
    return [parameter for parameter in command.params if isinstance(parameter, RowOption)]


class OneCommand(click.Command):
    """A command; an option of one value that is given twice is refused, where click would take the last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of the question, explained; those of its rows by name."""
        of_rows = row_options(self)
        own = [each for each in self.get_params(ctx) if isinstance(each, click.Option) and each not in of_rows]
        if of_rows:
            names = " ".join(option for each in of_rows for option in (*each.opts, *each.secondary_opts))
            with formatter.section(f"Rows, which `{ctx.command_path} --help-rows` explains"):
                lines = wrap(names, formatter.width - formatter.current_indent, break_on_hyphens=False)
                formatter.write("".join(f"{'':{formatter.current_indent}}{line}\n" for line in lines))
        with formatter.section("Options"):
            formatter.write_dl([record for each in own if (record := each.get_help_record(ctx)) is not None])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words of the command line, each option at most once unless it is meant to repeat."""
        ctx.meta["command"] = ctx  # which knows the options when it has ended
        if ctx.resilient_parsing:  # the shell completes: an option that waits for its value would hide the files
            args = args[:-1] if args and args[-1].startswith("-") else args
        else:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            names = [option.name for option in dict.fromkeys(given)]
            for option in given:
                if names.count(option.name) > 1:
                    both = [other.opts[-1] for other in dict.fromkeys(given) if other.name == option.name]
                    raise click.UsageError(f"{' and '.join(both)} contradict each other; give one.", ctx)
                if isinstance(option, click.Option) and not option.multiple and (times := given.count(option)) > 1:
                    raise click.UsageError(_repeated(option, times), ctx)
        return super().parse_args(ctx, args)


def _repeated(option: click.Option, times: int) -> str:
    name = "/".join([option.opts[-1], *option.secondary_opts[-1:]])
    if option.is_flag:
        return f"{name} was given {times} times; give it once."
    return (
        f"{name} takes one value and was given {times}; give {name} {option.metavar or option.type.name.upper()} once."
    )


def load_command(name: str) -> click.Command:
    """The command of this name, from its module."""
    import_module(f"steelyard.cli.{name.replace('-', '_')}")
    return _LOADED[name]


class CommandGroup(click.Group):
    """All commands; a refusal becomes one sentence on stderr and exit code 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own
        """The names, in the order of the overview."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's own
        """The command, where there is one of this name."""
        return load_command(cmd_name) if cmd_name in COMMANDS or cmd_name in ANSWERED else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """The commands and options that start so; no command is loaded for it."""
        names = [
            CompletionItem(name, help=facts.about) for name, facts in COMMANDS.items() if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names, or a sentence with the nearest ones."""
        name = args[0]
        if name not in COMMANDS | ANSWERED and (near := did_you_mean(name, COMMANDS | ANSWERED)):
            raise click.UsageError(f"No such command {name!r}.{near}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that the user named."""
        ctx.color = _colour()
        if re.fullmatch(r"\s*[+-]?0+\s*", threads := os.environ.get("POLARS_MAX_THREADS", "")):
            # Polars would print a trace before it raises what the last branch below catches.
            refuse(ctx, f"Polars cannot work with no threads; correct or unset POLARS_MAX_THREADS={threads}.")
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(130)
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if isinstance(error, OSError) and is_of_stdout(error):
                _end_unread(ctx, error)
            if os.environ.get("STEELYARD_DEBUG") and not isinstance(error, (click.ClickException, SteelyardError)):
                raise
            refuse(ctx, _sentence(ctx, error))
        except BaseException as error:
            if type(error).__name__ != "PanicException" or os.environ.get("STEELYARD_DEBUG"):
                raise
            refuse(ctx, _panic_sentence(error))


def _panic_sentence(error: BaseException) -> str:
    """What Polars could not go on from: most often a setting of its own in the environment."""
    text = str(error).partition("\n")[0].rstrip(".")
    given = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("POLARS_")]
    cause = f"correct or unset {' and '.join(given)}" if given else "STEELYARD_DEBUG=1 shows where"
    return f"Polars cannot go on: {text}; {cause}."


def _end_unread(ctx: click.Context, error: OSError) -> NoReturn:
    """Whoever read stdout has gone, which is no error, or nothing can be written there."""
    if sentence := lost_sentence(error):
        refuse(ctx, sentence)
    ctx.exit(0)


def _colour() -> bool | None:
    """Whether codes of bold and colour are printed; None where it depends on there being a terminal."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return True if os.environ.get("FORCE_COLOR", "0") != "0" else None


def _sentence(ctx: click.Context, error: Exception) -> str:
    """The sentence of an error, as shown to the user."""
    if isinstance(error, click.UsageError):
        path, text = (error.ctx or ctx).command_path, error.format_message().rstrip(".")
        if isinstance(error, click.NoSuchOption) and (new := _new_name(path, error.option_name)):
            return f"`{path}` takes {new} in place of {error.option_name}."
        if isinstance(error, click.NoSuchOption) and error.option_name in _ELSEWHERE:
            return f"No such option {error.option_name!r}: {_ELSEWHERE[error.option_name].format(path)}."
        for words, plain in _TYPES.items():
            text = text.replace(words, plain)
        what = "commands" if isinstance((error.ctx or ctx).command, click.Group) else "options"
        return f"{text}{'' if text.endswith(('?', ')')) else ';'} `{path} --help` lists the {what}."
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, SteelyardError):
        return str(error)
    if isinstance(error, UnicodeEncodeError):
        return surrogate_sentence(error)
    if isinstance(error, OSError) and error.strerror:
        what = (
            "The operating system refuses this" if error.filename is None else f"{str(error.filename)!r} cannot be used"
        )
        return f"{what}: {error.strerror.rstrip('.')}; check the name, the permissions and the room on the disk."
    text = f"{type(error).__name__}, {str(error)[:200].rstrip('.')}"
    return f"Steelyard failed on this, which is its fault: {text}; STEELYARD_DEBUG=1 shows where."


def _new_name(path: str, option: str) -> str | None:
    """What the option of a command is called now, where it was renamed."""
    return _RENAMED.get(f"{path.rpartition(' ')[2]} {option}") or _RENAMED.get(option)


def refuse(ctx: click.Context, sentence: str) -> NoReturn:
    """One line on stderr, whatever names and labels it quotes, and exit code 2."""
    from steelyard.cli.option_words import of_shell
    from steelyard.report.terminal.layout import one_line

    print_message(f"steelyard: {one_line(of_shell(sentence))}")
    ctx.exit(2)


@click.group(cls=CommandGroup, help=ABOUT, context_settings={"help_option_names": _HELP})
def commands() -> None:
    """All commands."""
