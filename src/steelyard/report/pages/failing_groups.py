"""Failing groups: for whom a classifier finds nothing, or far less than for all; they stand first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from scipy.stats import binom

from steelyard.evaluation.class_views import class_view
from steelyard.report.pages.document import label_html
from steelyard.report.pages.page_numbers import amount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.evaluation.evaluation import Evaluation, Group

GROUP_NAME = 32  # characters of a group's name, of which a page may have many
FAILING: dict[str, Any] = {
    "some": "For whom it fails: {groups}.",
    "group": "{label}, {found} of {positives} found",
    "more": "and {n} more",
    "most": 3,  # groups that are named
}


def failing_groups(evaluation: Evaluation) -> list[Group]:
    """The groups of which nothing is found, or far less than of all rows, worst first.

    Far less is so little that at the recall of all rows it would be found in one of all groups with the probability
    that the level leaves at the lower end.
    """
    found = [(_chance_of_so_little(evaluation, group), group) for group in evaluation.groups]
    few = (1 - evaluation.level) / 2 / max(1, len(found))
    failing = [each for each in found if each[0] <= few or _is_missed(evaluation, each[1])]
    return [group for _, group in sorted(failing, key=lambda each: each[0])]


def _is_missed(evaluation: Evaluation, group: Group) -> bool:
    counts = None if group.confusion is None else group.confusion.counts(evaluation.positive)
    return counts is not None and bool(counts.positives > 0 and counts.tp == 0)


def _chance_of_so_little(evaluation: Evaluation, group: Group) -> float:
    """The probability that so few positives or fewer are found at the recall of all rows."""
    if group.confusion is None or evaluation.positive is None or evaluation.counts is None:
        return math.inf
    view, (tp, fn, _, _) = class_view(group.confusion, evaluation.positive), evaluation.counts
    one = float(np.asarray(view.row_weights).ravel()[0])
    rows, found = float(view.counts.positives) / one, float(view.counts.tp) / one
    return float(binom.cdf(math.floor(found + 0.5), round(rows), tp / (tp + fn))) if rows and tp + fn else math.inf


def failing_text(evaluation: Evaluation) -> str:
    """For whom it fails, in a sentence; nothing where nobody is far worse off than all."""
    failing = failing_groups(evaluation)
    words = [_failing_words(evaluation, group) for group in failing[: FAILING["most"]]]
    words += [FAILING["more"].format(n=len(failing) - len(words))] if len(failing) > len(words) else []
    return Markup(FAILING["some"]).format(groups=Markup("; ").join(words)) if words else ""  # noqa: S704 - ours


def _failing_words(evaluation: Evaluation, group: Group) -> str:
    assert group.confusion is not None  # noqa: S101 - asked of groups that fail
    counts = group.confusion.counts(evaluation.positive)
    found, positives = amount(float(counts.tp)), amount(float(counts.positives))
    label = label_html(group.label, GROUP_NAME)
    return Markup(FAILING["group"]).format(label=label, found=found, positives=positives)  # noqa: S704 - ours


def groups_shown(evaluation: Evaluation, most: int) -> Sequence[Group]:
    """The groups for which a page has room: those that fail first, then the largest."""
    if len(evaluation.groups) <= most:
        return evaluation.groups
    failing = failing_groups(evaluation)
    others = sorted((group for group in evaluation.groups if group not in failing), key=lambda group: -group.rows)
    return [*failing, *others][:most]
