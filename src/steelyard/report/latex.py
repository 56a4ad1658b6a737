"""LaTeX: the blocks of a result as paragraphs and tables of booktabs, to be put into a paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steelyard.analysis.results.blocks import Sentence, Table
from steelyard.analysis.results.formatting import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.analysis.results.blocks import Block

_LETTERS = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "…": r"\dots{}",
    "→": r"$\to$",
}
_ESCAPED = re.compile("|".join(map(re.escape, _LETTERS)))


def blocks_latex(blocks: Iterable[Block]) -> str:
    """The blocks with a blank line between them; the package booktabs draws the tables."""
    parts = ["% needs \\usepackage{booktabs}"]
    for block in blocks:
        if isinstance(block, Sentence):
            parts.append(_sentence(block))
        elif isinstance(block, Table) and block.rows:
            parts.append(_table(block))
    return "\n\n".join(parts) + "\n"


def _sentence(sentence: Sentence) -> str:
    text = escaped(sentence.text)
    return rf"\textbf{{{text}}}" if sentence.role in ("headline", "heading") else text


def _table(table: Table) -> str:
    columns = "".join("r" if numeric else "l" for numeric in table.numeric())
    title = [rf"\textit{{{escaped(table.heading)}}}\\"] if table.title else []
    head = _row(table.names)
    rows = [_heading(row, len(columns)) if isinstance(row, str) else _row(row) for row in table.texts()]
    ends = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    return "\n".join([*title, ends[0], r"\toprule", head, r"\midrule", *rows, r"\bottomrule", ends[1]])


def _heading(text: str, columns: int) -> str:
    return rf"\multicolumn{{{columns}}}{{l}}{{\textit{{{escaped(text)}}}}} \\"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


def escaped(text: str) -> str:
    r"""Text that LaTeX sets as it is.

    >>> print(escaped("54.9 % of f_beta"))
    54.9 \% of f\_beta
    """
    return _ESCAPED.sub(lambda sign: _LETTERS[sign[0]], " ".join(printable(text).split()))
