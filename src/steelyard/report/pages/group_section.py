"""The section of groups: small multiples that follow the sliders, each group beside the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import unbroken
from steelyard.evaluation.class_views import class_view
from steelyard.evaluation.compare_groups import groups_on_a_page
from steelyard.report.pages.document import label_html, rendered_html
from steelyard.report.pages.failing_groups import FAILING, groups_shown
from steelyard.report.pages.frame import Section
from steelyard.report.pages.html_tables import MOST_GROUPS, HtmlTable, group_numbers, group_table, metrics_shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array
    from steelyard.evaluation.compare_groups import GroupComparison
    from steelyard.evaluation.evaluation import Evaluation, Group


def group_section(
    evaluation: Evaluation, data: Mapping[str, Any], most: int, compared: GroupComparison | None
) -> Section:
    """The groups, so many of them at most; the script's numbers alone where there are none."""
    table, numbers = group_table(evaluation, most), group_numbers(evaluation, most)
    if table is None:
        return Section(rendered_html("groups.html", table=None), {"groups": numbers})
    follows = _following(evaluation, data, most)
    html = rendered_html(
        "groups.html",
        table=table,
        tests=[] if compared is None else _test_cells(compared),
        differences=_differences(compared) if compared is not None and most == MOST_GROUPS else None,
        names=numbers["names"],
        follows=follows is not None,
        level=f"{100 * evaluation.level:g} %",
    )
    return Section(html, {"groups": numbers | {"follows": follows, "failing": FAILING, "of": len(evaluation.groups)}})


def groups_compared(evaluation: Evaluation) -> GroupComparison | None:
    """The groups compared by the metrics of their table; None where they cannot be."""
    names = metrics_shown(groups_shown(evaluation, MOST_GROUPS)) if evaluation.groups else []
    return groups_on_a_page(evaluation, names) if names else None


def _following(evaluation: Evaluation, data: Mapping[str, Any], most: int) -> list[dict[str, Any]] | None:
    """What the rows of each group do at every threshold of the page; None where that is not kept."""
    groups = groups_shown(evaluation, most)
    if evaluation.positive is None or any(group.confusion is None for group in groups):
        return None
    if "thresholds" not in data:
        return [_view(evaluation, group) for group in groups]
    if any(group.scores is None for group in groups):
        return None
    thresholds = [np.inf if t is None else t for t in data["thresholds"]["threshold"]]
    return [_view(evaluation, group) | _sums(group, thresholds) for group in groups]


def _view(evaluation: Evaluation, group: Group) -> dict[str, Any]:
    assert group.confusion is not None  # noqa: S101 - asked of groups with a table
    view = class_view(group.confusion, evaluation.positive)
    return {
        "cells": [np.asarray(cell).item() for cell in view.counts],
        "one": np.asarray(view.row_weights).ravel().tolist(),
        "share": float(view.share),
    }


def _sums(group: Group, thresholds: Sequence[float]) -> dict[str, list[float]]:
    """The rows of each class at or above every threshold, as steps."""
    assert group.scores is not None  # noqa: S101 - asked of groups with scores
    counts = group.scores.at(thresholds)
    return {"tp": _steps(counts.tp), "fp": _steps(counts.fp)}


def _steps(column: Array) -> list[float]:
    steps = np.diff(np.asarray(column), prepend=0)
    return steps.astype(np.int64).tolist() if np.all(steps == np.rint(steps)) else [float(f"{v:.13g}") for v in steps]


def _test_cells(comparison: GroupComparison) -> list[str]:
    """Each metric with the p-value that all groups are equal by it."""
    return [
        f"{test.spec.title} {row['all groups equal']}"
        for test, row in zip(comparison.tests, comparison.test_rows(), strict=True)
    ]


def _differences(comparison: GroupComparison) -> HtmlTable:
    """The differences as a table, a row for each group and a column for each metric."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in comparison:
        text = unbroken(row.text())
        cells.setdefault((row.group, row.other), {})[row.metric] = f"{text} *" if row.differs else text
    head = ("group", "minus", *(test.spec.title for test in comparison.tests))
    names = [test.metric for test in comparison.tests]
    rows = [
        [label_html(group), label_html(other), *(values.get(name, "–") for name in names)]
        for (group, other), values in cells.items()
    ]
    return HtmlTable(head, rows)
