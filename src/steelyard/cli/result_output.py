"""Result output: a result written in the format that was asked for, its sentences with the options of the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.cli.inputs import print_assumed
from steelyard.cli.option_words import of_shell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.results.blocks import Block
    from steelyard.analysis.results.result import Result
    from steelyard.cli.outputs import Output


FORMATS = ("table", "json", "md", "csv", "html", "tex")  # of every result


def write_result(
    result: Result[Any],
    output: Output,
    source: str = "predictions",
    *,
    then: Sequence[str] = (),
    beside: Sequence[str] | None = None,
    everything: bool = False,
) -> None:
    """The result in one of the formats; `then` are the lines of what to try next, which end it on a terminal.

    CSV has no place for words: `beside`, or what was assumed, goes to the standard error.
    """
    if output.kind == "json":
        return output.write(result.to_json(indent=1))
    if output.kind == "html":
        return output.write(result.to_html(source=source))
    if output.kind == "csv":
        print_assumed([*map(of_shell, result.assumed if beside is None else beside)])
        return output.write(result.to_csv())
    blocks = in_shell_words(result.blocks())
    if output.kind == "md":
        from steelyard.report.markdown import blocks_markdown

        return output.write(blocks_markdown(blocks))
    if output.kind == "tex":
        from steelyard.report.latex import blocks_latex

        return output.write(blocks_latex(blocks))
    from steelyard.report.terminal.blocks import blocks_text

    text = blocks_text(blocks, everything=everything, more="--format json has them all")
    return output.write("\n".join([text, *then]))


def in_shell_words(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, their sentences with the options of the shell."""
    from dataclasses import replace

    from steelyard.analysis.results.blocks import Sentence

    return [replace(block, text=of_shell(block.text)) if isinstance(block, Sentence) else block for block in blocks]
