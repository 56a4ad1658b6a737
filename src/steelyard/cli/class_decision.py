"""Class decisions: the best decision between the classes of a file with a column of probabilities for each."""

from __future__ import annotations

import csv
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.analysis.decisions.decision_rule import NamedCosts
from steelyard.cli.result_output import write_result
from steelyard.exceptions import InputError
from steelyard.files.folders import STDIN
from steelyard.frames.decoding import match_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.cli.inputs import Inputs, Read
    from steelyard.cli.outputs import Output
    from steelyard.predictions import Given

_COSTS = "--cost-matrix names a CSV file: a line for each true class, its name and what deciding each class costs"


def class_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options of decisions between many classes."""
    for option in (
        click.option("--reject-cost", type=float, metavar="N", help="Of each class: what a person costs per row."),
        click.option(
            "--reject",
            callback=lambda ctx, parameter, text: None if text is None else _share(text),  # noqa: ARG005 - click's own
            metavar="SHARE",
            help="Of each class: the share of the rows to send to a person, such as 0.05 or 5%.",
        ),
        click.option(
            "--cost-matrix",
            metavar="CSV",
            help="Of each class: what deciding each class (columns) costs by the true class (rows); names in both.",
        ),
    ):
        function = option(function)
    return function


def _share(text: str) -> float:
    number, percent, rest = text.partition("%")
    try:
        return float(number) / (100 if percent else 1) if not rest.strip() else float(text)
    except ValueError:
        raise InputError(f"--reject is the share of the rows to send to a person, 0.05 or 5%, not {text!r}.") from None


def decide_classes(read: Read, inputs: Inputs, asked: dict[str, Any], output: Output) -> None:
    """Find the best decision and write it."""
    from steelyard.analysis.decisions.best_decision import best_decision

    rows = read.rows.collect().given
    if asked["cost_matrix"] is not None:
        asked["cost_matrix"] = read_cost_file(asked["cost_matrix"])
    best = best_decision(
        rows.data,
        rows.y_score,
        **asked | {"prevalence": _shares(asked["prevalence"], rows)},
        sample_weight=rows.sample_weight,
        frequency=rows.frequency,
        cluster=rows.cluster,
    )
    from steelyard.report.terminal.summary import next_lines

    lines = next_lines("--format json gives every number", _next(inputs, str(read.rows.given.true)))
    write_result(replace(best, assumed=(*read.stated, *best.assumed)), output, inputs.name, then=("", *lines))


def _shares(given: Any, rows: Given) -> Any:
    """The shares by label, where they were named by text."""
    if not isinstance(given, dict):
        return given
    labels = list(dict.fromkeys(rows.data.tolist()))
    return {match_label(name, labels): share for name, share in given.items()}


def read_cost_file(name: str) -> NamedCosts:
    """The costs of a CSV file, with the names of the classes where it has them."""
    try:
        lines = [line for line in csv.reader(Path(name).read_text(encoding="utf-8-sig").splitlines()) if any(line)]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{_COSTS}; {name!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if not lines or len({len(line) for line in lines}) > 1:
        raise InputError(f"{_COSTS}; the lines of {name!r} are none, or not equally long.")
    named = len(lines) == len(lines[0])  # a head and a first column
    head, first, body = (lines[0][1:], [line[0] for line in lines[1:]], [line[1:] for line in lines[1:]])
    if named and not _is_number(lines[0][0]):
        return NamedCosts(_numbers(body, name), tuple(first), tuple(head))
    return NamedCosts(_numbers(lines, name))


def _numbers(lines: list[list[str]], name: str) -> list[list[float]]:
    try:
        return [[float(cell) for cell in line] for line in lines]
    except ValueError as error:
        raise InputError(f"{_COSTS}; {name!r} holds something else: {error}.") from None


def _is_number(text: str) -> bool:
    try:
        return bool(text.strip()) and float(text) is not None
    except ValueError:
        return False


def _next(inputs: Inputs, true: str) -> tuple[str, str] | None:
    """The page with the curve, as a command; None where the input was read from a pipe and is gone."""
    if STDIN in inputs.files:
        return None
    words = ["steelyard", "report", *inputs.files, "--true", true, "--score", *inputs.score]
    for use in ("weight", "frequency", "cluster"):
        words += [f"--{use}", column] if (column := getattr(inputs, use)) is not None else []
    return "writes the page, where a slider sends rows to a person", shlex.join([*words, "-o", "page.html"])
