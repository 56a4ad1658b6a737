"""Option words: sentences of the library with their keywords and calls as the shell writes them.

The library writes an argument as code, `pos_label=`, `pos_label='spam'` or `tally(labels=[...])`, and nothing else so.
Where a command has the option, its name stands in place of the keyword; all other words are the same on both surfaces.
"""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from steelyard.cli.overview import COMMANDS

if TYPE_CHECKING:
    from steelyard.analysis.results.result import Result

    Shown = TypeVar("Shown", bound=Result[Any])

_COMMANDLINE = ParameterSource.COMMANDLINE
_SAID = ("summary", "notes", "remarks", "assumed", "beside", "differs", "asks")  # fields of results that hold sentences
_OPTIONS = {  # the options of keywords that are called otherwise: the one that was given, else the first there is
    "y_true": ("--true",),
    "y_pred": ("--pred",),
    "y_score": ("--score",),
    "scores": ("--score",),
    "sample_weight": ("--weight",),
    "path": ("--ledger",),
    "pos_label=RARER": ("--rarer-positive",),
    "cost": ("--cost", "--cost-fn", "--cost-fp"),
    "exact=False": ("--binned",),
    "rng": ("--seed",),
}
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_VALUE = rf"{_QUOTED}|-?\d*\.?\d+(?:e-?\d+)?|\.\.\.|\([^()]*\)|\[[^\[\]]*\]|\{{[^{{}}]*\}}|[A-Z][\w.]*(?<!\.)"
_CODE = re.compile(
    rf"(?<!\w)(?:{_QUOTED})|\w+\[[^\]]*\]"  # what was given, and the written form of a metric, stay as they are
    r"|(?P<call>\b[a-z_]\w*)\((?P<inside>(?:[^()]|\([^()]*\))*)\)|(?P<function>(?<![\w./-])[a-z]+_\w+)(?![\w=/-]|\.\w)"
    rf"|\b(?P<keyword>[a-z_]\w*)=(?P<value>{_VALUE})?(?![\w={{\[(])"
)


def of_shell(sentence: str) -> str:
    """The sentence with the options and commands of the shell in it.

    >>> of_shell("The truth holds one class only, 1; name it with pos_label='spam', or call best_threshold().")
    'The truth holds one class only, 1; name it with --pos-label spam, or call `steelyard threshold`.'
    """
    return _CODE.sub(_spelled, sentence)


def _spelled(code: re.Match[str], command: str = "") -> str:
    """The code as the shell writes it: a keyword of a command that is named, or of the one at hand."""
    name = code["call"] or code["function"]
    if code["keyword"] is not None:
        return _spelled_keyword(code["keyword"], code["value"] or "", command) or code[0]
    command = next((command for command, facts in COMMANDS.items() if name in (facts.in_python, facts.also)), "")
    if not command:
        return code[0]
    parts = re.split(r", (?![^\[(]*[\])])", code["inside"] or "")
    given = [_CODE.sub(lambda part: _spelled(part, command), part) for part in parts if "=" in part]
    words = " ".join(["steelyard", command, *given])
    return f"`{words}`" if code["call"] else words


def _spelled_keyword(keyword: str, value: str, command: str) -> str | None:
    """The option of a keyword with its value; None where no command has it."""
    both = f"{keyword}={value}"
    if keyword == "average" and value:
        return f"METRIC[average={ast.literal_eval(value)}]"
    if value.startswith("{"):
        return _spelled_mapping(value, command)
    option = _known(_OPTIONS.get(both) or _OPTIONS.get(keyword) or (f"--{keyword.replace('_', '-')}",), command)
    if option is None or value in ("", "True") or both in _OPTIONS:
        return option
    try:
        meant = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        meant = value
    items = [str(item) for item in (meant if isinstance(meant, (tuple, list)) else [meant])]
    return f"{option} {shlex.quote(','.join(items).replace('Ellipsis', '...'))}"


def _spelled_mapping(value: str, command: str) -> str | None:
    """The options of a mapping's keys, such as those of costs; None where one has no option."""
    try:
        meant = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return None
    if not isinstance(meant, dict) or not all(isinstance(key, str) for key in meant):
        return None
    options = [_spelled_keyword(key, repr(each), command) for key, each in meant.items()]
    return None if None in options else " ".join(filter(None, options))


def _known(options: tuple[str, ...], command: str) -> str | None:
    """That of the options which the command line gives, else which the command has, else which any command has."""
    from steelyard.cli.commands import load_command

    current = click.get_current_context(silent=True)
    context = current.meta.get("command") if current is not None and not command else None
    there = _options_of(load_command(command)) if command else {} if context is None else _options_of(context.command)
    if context is not None:
        given = [name for name in options if context.get_parameter_source(there.get(name, "")) is _COMMANDLINE]
        options = (*given, *options)
    if here := [name for name in options if name in there]:
        return here[0]
    anywhere = {name for each in COMMANDS for name in _options_of(load_command(each))}
    return next((name for name in options if name in anywhere), None)


def _options_of(command: click.Command) -> dict[str, str]:
    """What a command calls its options, each with the name of its value."""
    return {
        option: parameter.name or ""
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }


def with_shell_words(result: Shown) -> Shown:
    """The result with the options of the command line in the sentences that it carries."""
    said = [field.name for field in fields(result) if field.name in _SAID]  # type: ignore[arg-type]  # a dataclass
    changed = {
        name: type(sentences)(map(of_shell, sentences)) for name in said for sentences in [getattr(result, name)]
    }
    return replace(result, **changed)  # type: ignore[type-var]  # a dataclass
