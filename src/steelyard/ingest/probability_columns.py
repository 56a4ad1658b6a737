"""Probability columns: those of a frame or files that a pattern or a list names, matched to the classes by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.exceptions import InputError, first_ten
from steelyard.ingest import arrays, bad_rows, csv_values, label_codes, queries
from steelyard.ingest.array_tables import declared_labels
from steelyard.ingest.frame_columns import column_name
from steelyard.ingest.label_tables import match_label
from steelyard.ingest.score_matrix import without_prefix
from steelyard.ingest.score_tables import number_column
from steelyard.ingest.source import ColumnNames, Source, check_columns, named_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Labels, LabelSet
    from steelyard.ingest.frame_columns import FrameColumns


class ProbabilityRows(NamedTuple):
    """The rows of a file with a column of scores for each class, and the other columns by what they are for."""

    true: Array
    pred: Array | None
    scores: Array
    numbers: dict[str, Array]
    others: dict[str, Array]


def probability_rows(
    source: Source,
    columns: str | Sequence[str],
    *,
    true: str,
    pred: str | None = None,
    numbers: dict[str, str],
    others: dict[str, str],
    labels: LabelSet | None = None,
) -> ProbabilityRows:
    """The rows, brought here; `numbers` are columns such as the weight, `others` such as the cluster, by their use."""
    scores = matching_columns(source, columns)
    of_labels = [true] if pred is None else [true, pred]
    check_columns(source, ColumnNames(true, tuple(of_labels[1:]), by=tuple(others.values())))
    for name in (*scores.values(), *numbers.values()):
        check_columns(source, ColumnNames(true, score=name))
    fetched = queries.fetch_columns(source, [*of_labels, *scores.values(), *numbers.values(), *others.values()])
    text = {name: arrays.column(fetched[name].to_native(), f"The column {name!r}") for name in fetched}
    classes = (
        csv_values.labels([text[name] for name in of_labels], of_labels)
        if source.textual
        else [text[name] for name in of_labels]
    )
    order = label_codes.encode(classes[0], declared_labels(labels), f"The column {true!r}")[1]
    chosen = columns_by_class(scores, order, columns)
    with bad_rows.naming_bad_numbers(source, *chosen, *numbers.values()):
        read = {name: number_column(fetched[name], name) for name in (*chosen, *numbers.values())}
    return ProbabilityRows(
        classes[0],
        classes[1] if pred is not None else None,
        np.column_stack([read[name] for name in chosen]),
        {use: read[name] for use, name in numbers.items()},
        {use: text[name] for use, name in others.items()},
    )


class ClassColumnRows(NamedTuple):
    """The rows of a frame with a column of scores for each class, and the positive class as the rows write it."""

    true: Array
    pred: Array | None
    scores: Array
    weight: Array | None
    frequency: Array | None
    cluster: Array | None
    groups: dict[str, Array]
    positive: Label

    @classmethod
    def of_frame(
        cls,
        data: Frame | Source,
        columns: FrameColumns,
        frequency: ArrayLike | str | None,
        cluster: ArrayLike | str | None = None,
        by: tuple[str, ...] = (),
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
    ) -> ClassColumnRows:
        """Those of the columns that are named."""
        member = column_name("cluster", cluster)
        numbers = {"weight": columns.weight, "frequency": column_name("frequency", frequency)}
        rows = probability_rows(
            Source.of(data),
            columns.score or "",
            true=columns.true or "",
            pred=columns.pred,
            numbers={use: name for use, name in numbers.items() if name is not None},
            others={name: name for name in (*by, member) if name is not None},
            labels=labels,
        )
        weights = (rows.numbers.get("weight"), rows.numbers.get("frequency"))
        clusters = None if member is None else rows.others[member]
        groups = {name: rows.others[name] for name in by}
        positive = match_label(pos_label, label_codes.distinct(rows.true, "y_true")[1])
        return cls(rows.true, rows.pred, rows.scores, *weights, clusters, groups, positive)


def check_pattern(pattern: str) -> None:
    """Refuse what is no pattern of the columns of all classes."""
    if pattern.count("*") != 1:
        raise InputError(f"The columns of the scores are a pattern with one *, such as 'p_*', not {pattern!r}.")


def matching_columns(source: Source, columns: str | Sequence[str]) -> dict[str, str]:
    """The columns that a pattern or a list names, by the class that each name stands for."""
    return _matching(source, columns) if isinstance(columns, str) else _listed(columns)


def _matching(source: Source, pattern: str) -> dict[str, str]:
    """The columns that a pattern with one star names, by what stands in place of the star."""
    check_pattern(pattern)
    before, after = pattern.split("*")
    names = list(source.parts[0].collect_schema())
    inside = {
        name[len(before) : len(name) - len(after)]: name
        for name in names
        if name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after)
    }
    if len(inside) < 2:
        raise InputError(f"{len(inside)} columns are named like {pattern!r}; there are {first_ten(names)}.")
    return inside


def _listed(names: Sequence[str]) -> dict[str, str]:
    """The columns of a list, by their own names and by what is left of these without what all begin with."""
    listed = named_columns("score", names)
    if len(listed) < 2 or len({*listed}) < len(listed):
        raise InputError(f"score= lists a column for each class, two or more, each once; not {first_ten(listed)}.")
    return dict(zip(without_prefix(listed), listed, strict=True))


def columns_by_class(columns: dict[str, str], classes: Labels, asked: str | Sequence[str]) -> Sequence[str]:
    """The column of each class; one without a class, or a class without one, is refused."""
    texts = [str(label) for label in classes]
    if {*texts} <= {*columns.values()}:  # a list of the classes themselves, whatever they begin with
        columns = {name: name for name in columns.values()}
    if {*texts} != {*columns}:
        like, such = "of the scores", "such as 'p_" + texts[0] + "'"
        if isinstance(asked, str):
            like, such = f"like {asked!r}", f"such as {asked.replace('*', texts[0])!r}"
        raise InputError(
            f"The columns {like} are of {first_ten(list(columns))} and the truth holds {first_ten(texts)}; "
            f"name a column for each class, {such}, and none besides; a class that has no rows here is declared with "
            "labels=."
        )
    return [columns[text] for text in texts]
