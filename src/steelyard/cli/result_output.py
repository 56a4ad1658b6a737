"""Result output: a result written in the format that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.result_json import saved_text

if TYPE_CHECKING:
    from steelyard.analysis.results.result import Result
    from steelyard.cli.outputs import Output


def write_result(result: Result[Any], output: Output, source: str) -> None:
    """The result as JSON, CSV with all its tables, a page, Markdown, or a table for the terminal."""
    if output.kind == "json":
        output.write(saved_text(result.to_dict(), indent=1))
    elif output.kind == "csv":
        from steelyard.report.csv_text import result_csv

        output.write(result_csv(result))
    elif output.kind == "html":
        output.write(result.to_html(source=source))
    else:
        output.write(result.to_markdown() if output.kind == "md" else repr(result))
