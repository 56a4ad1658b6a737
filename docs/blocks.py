"""Blocks: the code on the pages, run page by page; `python docs/blocks.py PAGE...` writes its output into the pages.

A `python` block is a doctest where it has prompts, else a script; a `console` block is commands after `$` and what
they print. The blocks of a page share one folder and their Python names. `<!-- not run: why -->` above a block leaves
it out; `<!-- needs: river, newsgroups20.parquet -->` leaves the page as it is where that package is not installed, or
that file not in the folder that STEELYARD_DATA names; `<!-- columns: 80 -->` is the width of its terminal.
"""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import os
import re
import shlex
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FENCE = re.compile(
    r"(?:<!-- not run: (?P<why>[^\n]*?) -->\n+)?^```(?P<language>python|console)[^\n]*\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
NEEDS = re.compile(r"^<!-- needs: (.+?) -->$", re.MULTILINE)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
COLUMNS = re.compile(r"^<!-- columns: (\d+) -->$", re.MULTILINE)
WIDTH = "86"  # what a page shows without scrolling


@dataclass(frozen=True)
class Block:
    """A fenced block, where its code stands in the text of the page, and why it is not run if it is not."""

    language: str
    code: str
    start: int
    why: str | None


def blocks(text: str) -> list[Block]:
    """The Python and the console blocks of a page, in order."""
    return [Block(m["language"], m["code"], m.start("code"), m["why"]) for m in FENCE.finditer(text)]


def missing(text: str) -> list[str]:
    """The packages and the files of data that a page needs and that are not here."""
    named = [name for line in NEEDS.findall(text) for name in line.split(", ")]
    folder = Path(os.environ.get("STEELYARD_DATA", os.devnull))
    return [
        name for name in named if not ((folder / name).is_file() if "." in name else importlib.util.find_spec(name))
    ]


@dataclass
class Run:
    """What came of a page: what did not happen as written, and its code with what did."""

    failures: list[str] = field(default_factory=list)
    text: str = ""


def run(page: Path, folder: Path) -> Run:
    """Run the blocks of a page in a folder."""
    text, result = page.read_text(encoding="utf-8"), Run()
    names: dict[str, Any] = {"__name__": "__main__"}
    end = 0
    with inside(folder, found[1] if (found := COLUMNS.search(text)) else WIDTH):
        for block in blocks(text):
            code = block.code if block.why else _ran(block, names, result.failures, page)
            result.text += text[end : block.start] + code
            end = block.start + len(block.code)
    result.text += text[end:]
    return result


@contextmanager
def inside(folder: Path, columns: str = WIDTH) -> Iterator[None]:
    """Work in a folder, at a fixed width and with no settings of the user's, and come back."""
    own = {"COLUMNS": columns, "XDG_CONFIG_HOME": str(folder)}  # what a page configures is its own
    before, settings = Path.cwd(), {name: os.environ.get(name) for name in own}
    os.chdir(folder)
    os.environ.update(own)
    try:
        yield
    finally:
        os.chdir(before)
        for name, value in settings.items():
            os.environ.pop(name)
            os.environ.update({} if value is None else {name: value})


def _ran(block: Block, names: dict[str, Any], failures: list[str], page: Path) -> str:
    if block.language == "console":
        return "".join(_command(lines, failures, page) for lines in _commands(block.code))
    if ">>>" not in block.code:
        exec(compile(block.code, page.name, "exec"), names)
        return block.code
    return _prompts(block.code, names, failures, page)


# ---------------------------------------------------------------- Python at the prompt


class Recorder(doctest.DocTestRunner):
    """Runs examples and keeps what each printed; an exception that was not announced ends the page."""

    def __init__(self) -> None:
        super().__init__(optionflags=OPTIONS, verbose=False)
        self.printed: dict[int, tuple[bool, str]] = {}

    def report_start(self, _out, _test, _example) -> None:
        pass

    def report_success(self, _out, _test, example, got) -> None:
        self.printed[example.lineno] = True, got

    def report_failure(self, _out, _test, example, got) -> None:
        self.printed[example.lineno] = False, got

    def report_unexpected_exception(self, _out, test, example, exc_info) -> None:
        place = f"{test.name}: {example.source.strip()}"
        raise RuntimeError(place) from exc_info[1]


def _prompts(code: str, names: dict[str, Any], failures: list[str], page: Path) -> str:
    marked = re.sub(r"^(?=\n(?!>>>)\S)", "<BLANKLINE>", code, flags=re.MULTILINE)  # what is printed may have gaps
    test = doctest.DocTestParser().get_doctest(marked, names, page.name, str(page), 0)
    recorder = Recorder()
    recorder.run(test, clear_globs=False)
    names.update(test.globs)
    lines, written, end = code.splitlines(keepends=True), "", 0
    for example in test.examples:
        source = example.source.count("\n")
        until = example.lineno + source + example.want.count("\n")
        holds, got = recorder.printed[example.lineno]
        written += "".join(lines[end : example.lineno + source])
        written += "".join(lines[example.lineno + source : until]) if holds else got
        end = until
        if not holds:
            failures.append(f"{page.name}: {example.source}wanted:\n{example.want}got:\n{got}")
    return written + "".join(lines[end:])


# ---------------------------------------------------------------- commands


def _commands(code: str) -> list[list[str]]:
    """Each command with the lines below it."""
    commands: list[list[str]] = []
    for line in code.splitlines(keepends=True):
        if line.startswith("$ "):
            commands.append([line])
        elif commands[-1][-1].endswith("\\\n") and len(commands[-1]) == 1:
            commands[-1][0] = commands[-1][0] + line
        else:
            commands[-1].append(line)
    return commands


def _command(lines: list[str], failures: list[str], page: Path) -> str:
    """Run `steelyard ...`, hold it against the lines below it, and give back what is true."""
    from click.testing import CliRunner

    from steelyard.cli.commands import commands

    head, shown = lines[0], "".join(lines[1:])
    words = shlex.split(head[2:].replace("\\\n", " "), comments=True)
    expected = int(m[1]) if (m := re.search(r"# exit (\d)", head)) else 0
    if words[0] != "steelyard":
        raise ValueError(f"{page.name} runs {words[0]}: say above the block why it is not run.")
    mixed = {"mix_stderr": True} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}  # click 8.1
    result = CliRunner(**mixed).invoke(commands, words[1:], prog_name="steelyard")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code != expected:
        failures.append(f"{page.name}: {head}exit {result.exit_code}, not {expected}:\n{result.output}")
    printed = "\n".join(line.rstrip() for line in result.output.strip("\n").split("\n")) + "\n"
    if not shown or doctest.OutputChecker().check_output(shown, printed, OPTIONS):
        return head + shown
    failures.append(f"{page.name}: {head}wanted:\n{shown}got:\n{printed}")
    return head + printed


def main(*pages: str) -> None:
    """Write into each page what its code gives now."""
    for name in pages:
        page = Path(name).resolve()
        if absent := missing(page.read_text(encoding="utf-8")):
            sys.stdout.write(f"{name}: left as it is, for want of {', '.join(absent)}\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            result = run(page, Path(folder))
        page.write_text(result.text, encoding="utf-8")
        sys.stdout.write(f"{name}: {len(result.failures)} written anew\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
