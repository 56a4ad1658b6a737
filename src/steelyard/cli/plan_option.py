"""The option of a label plan: a file that `steelyard plan` wrote, as CSV or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.analysis.planning.label_plan import LabelPlan


def read_plan(name: str) -> LabelPlan:
    """The plan of a file, by its ending."""
    from steelyard.analysis.planning.label_plan import LabelPlan

    if not Path(name).is_file():
        raise InputError(f"There is no file {name!r}; give the plan that `steelyard plan` wrote.")
    return LabelPlan.from_json(Path(name)) if name.lower().endswith(".json") else LabelPlan.from_csv(Path(name))


def plan_option() -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--plan, the name of its file."""
    return click.option(
        "--plan", metavar="PLAN", help="The plan by which rows were labelled, as `steelyard plan` wrote it."
    )
