"""Reference: the pages of the public names and of the commands, made from docstrings and help texts."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import steelyard
from steelyard._names import HOME, SHELVES

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLES = {
    "steelyard": "The package",
    "figures": "Figures",
    "metrics": "Metrics",
    "results": "Results",
    "studies": "Studies",
    "tables": "Tables",
}


def floors() -> dict[str, list[str]]:
    """The public names by the module that has them, in reading order."""
    return {"steelyard": [*HOME]} | {shelf: [*SHELVES[shelf]] for shelf in TITLES if shelf in SHELVES}


def thing(floor: str, name: str) -> Any:
    """What a public name is of."""
    return getattr(steelyard if floor == "steelyard" else getattr(steelyard, floor), name)


def called(floor: str, name: str) -> str:
    """A name as it is written after `steelyard.`."""
    return name if floor == "steelyard" else f"{floor}.{name}"


def index() -> str:
    """The page that leads to all names."""
    lines = [
        "# Reference",
        "",
        "The names that are needed first are attributes of `steelyard`, the others of its submodules; all load on "
        "first use. The metrics are attributes of `steelyard` too and have "
        "[pages of their own](../catalogue/index.md); the shell has [its commands](commands.md).",
        "",
    ]
    for floor, names in floors().items():
        lines += [f"## {TITLES[floor]}", "", "| name | what it is |", "|---|---|"]
        lines += [
            f"| [`{called(floor, name)}`]({floor}.md#{called(floor, name)}) | {_first(thing(floor, name))} |"
            for name in names
        ]
        lines += [""]
    lines += [
        "## Drop-ins",
        "",
        "scikit-learn's and imbalanced-learn's functions under their own names: [`steelyard.sklearn`](sklearn.md).",
    ]
    return "\n".join(lines) + "\n"


def page(floor: str) -> str:
    """The names of one floor with their docstrings."""
    module = steelyard if floor == "steelyard" else getattr(steelyard, floor)
    about = _plain(module.__doc__ or "").split("\n")[0]
    parts = [f"# {TITLES[floor]}", about]
    for name in floors()[floor]:
        parts += _entry(called(floor, name), thing(floor, name), 2)
    return "\n\n".join(parts) + "\n"


def drop_ins() -> str:
    """The functions of steelyard.sklearn."""
    module = import_module("steelyard.sklearn")
    parts = ["# Drop-ins for scikit-learn and imbalanced-learn", written(module.__doc__ or "")]
    for name in module.__all__:
        parts += _entry(name, getattr(module, name), 2)
    return "\n\n".join(parts) + "\n"


def commands() -> str:
    """Every command with its options, as --help prints them."""
    from click.testing import CliRunner

    from steelyard.cli.commands import commands as group
    from steelyard.cli.overview import COMMANDS, overview

    parts = ["# Commands", f"```text\n{overview()}\n```", "## The same in Python { #python }", in_python()]
    for name, facts in COMMANDS.items():
        text = CliRunner().invoke(group, [name, "--help"], prog_name="steelyard", env={"COLUMNS": "84"}).output
        parts += [f"## {name} {{ #{name} }}", facts.about, f"```text\n{text.strip()}\n```"]
    return "\n\n".join(parts) + "\n"


def in_python() -> str:
    """Which function does the work of each command."""
    from steelyard.cli.overview import COMMANDS

    lines = ["| command | in Python | |", "|---|---|---|"]
    for name, facts in COMMANDS.items():
        lines.append(f"| [`{name}`](#{name}) | {_linked(facts.in_python)} | {facts.more} |")
    return "\n".join(lines)


def _linked(function: str) -> str:
    for floor, names in floors().items():
        if function in (called(floor, name) for name in names):
            return f"[`{function}`]({floor}.md#{function})"
    return f"`{function}`"


# ---------------------------------------------------------------- one name


def _entry(name: str, thing: Any, depth: int) -> Iterator[str]:
    yield f"{'#' * depth} {name} {{ #{name} }}"
    yield f"```python\n{signature(name, thing)}\n```"
    yield written(inspect.getdoc(thing) or "")
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        for member, part in _members(thing):
            yield from _member(name, member, part, depth + 1)


def signature(name: str, thing: Any) -> str:
    """How it is called, a parameter a line where the whole is long; types left out, since the words tell them."""
    try:
        signature_ = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    given = [
        _parameter(p)
        for p in signature_.parameters.values()
        if p.name not in ("self", "cls") and not p.name.startswith("_")
    ]
    keyword = next((i for i, p in enumerate(signature_.parameters.values()) if p.kind is p.KEYWORD_ONLY), None)
    if keyword is not None and not any(p.kind is p.VAR_POSITIONAL for p in signature_.parameters.values()):
        skipped = sum(p.name in ("self", "cls") for p in signature_.parameters.values())
        given.insert(keyword - skipped, "*")
    whole = f"{name}({', '.join(given)})"
    return whole if len(whole) <= 84 else f"{name}(\n" + "".join(f"    {part},\n" for part in given) + ")"


def _parameter(parameter: inspect.Parameter) -> str:
    star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    if parameter.default is parameter.empty:
        return f"{star}{parameter.name}"
    return f"{parameter.name}={_default(parameter.default)}"


def _default(value: Any) -> str:
    shown = getattr(value, "__name__", None) if callable(value) else repr(value)
    return "..." if shown is None or shown.startswith("<") or " at 0x" in shown else shown


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that are documented, its own and those it inherits from this library."""
    for name, kind, home, _ in inspect.classify_class_attrs(cls):
        if name.startswith("_") or not str(getattr(home, "__module__", "")).startswith("steelyard"):
            continue
        part = inspect.getattr_static(cls, name)
        if kind in ("method", "class method", "static method", "property") or hasattr(part, "func"):
            yield name, part


def _member(owner: str, name: str, part: Any, depth: int) -> Iterator[str]:
    called = getattr(part, "__func__", part)
    doc = inspect.getdoc(getattr(part, "func", called)) or ""
    if not doc:
        return
    yield f"{'#' * depth} {owner}.{name} {{ #{owner}.{name} }}"
    if callable(called):
        yield f"```python\n{signature(name, called)}\n```"
    yield written(doc)


def _first(thing: Any) -> str:
    text = _plain(inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    return text.replace("|", r"\|")


def _plain(text: str) -> str:
    return inspect.cleandoc(text)


def written(doc: str) -> str:
    """A docstring as Markdown: examples fenced, signs that Markdown would take for its own escaped."""
    lines, fenced = [], False
    for line in _plain(doc).splitlines():
        if line.startswith(">>>") and not fenced:
            lines += ["", "```python"]
            fenced = True
        if fenced and not line.strip():
            lines.append("```")
            fenced = False
        lines.append(line if fenced else _escaped(line))
    return "\n".join(lines + ["```"] * fenced)


def _escaped(line: str) -> str:
    """Asterisks and angle brackets outside code as signs."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else re.sub(r"([*<_\[])", r"\\\1", part) for part in parts)
