"""Model splits: how `steelyard crossval` splits its table, and what it does with every split."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.cli.progress import bar
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    import polars as pl

    from steelyard._types import Label
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.select_tree import Selection
    from steelyard.protocol.splits import Folds, HoldOut

    Columns: TypeAlias = "Mapping[str, pl.Series]"
    Splits: TypeAlias = "dict[int, Folds | HoldOut]"

_MOST_CLASSES = 40  # rows of classes that are printed
_HOLDOUTS = 10  # repeats of a hold-out, unless others are asked for
_SPLIT = re.compile(r"(?P<held>holdout:)?(?P<first>\d{1,3})(?:-(?P<last>\d{1,3}))?(?:x(?P<repeats>\d{1,6}))?")


def named_splits(text: str) -> Splits:
    """The splits by k: "5" folds, "5x10" those ten times, "holdout:3x10", and of each k of "holdout:2-9x10".

    >>> named_splits("5x10"), list(named_splits("holdout:2-4"))
    ({5: Folds(k=5, repeats=10, stratified=True)}, [2, 3, 4])
    """
    from steelyard.protocol.splits import Folds, HoldOut

    parts = _SPLIT.fullmatch(text.strip())
    first, last = (0, 0) if parts is None else (int(parts["first"]), int(parts["last"] or parts["first"]))
    if parts is None or not 1 <= first <= last or (parts["last"] and not parts["held"]):
        raise InputError(
            "--split is 5 for five folds, 5x10 for those ten times, holdout:3x10 for ten times three parts to train on "
            f"and one to test, or holdout:2-9 for each size from 2 to 9, not {text!r}."
        )
    times = None if parts["repeats"] is None else int(parts["repeats"])
    if not parts["held"]:
        return {first: Folds(first, repeats=1 if times is None else times)}
    return {k: HoldOut(k, repeats=_HOLDOUTS if times is None else times) for k in range(first, last + 1)}


def matched_positive(columns: Columns, target: str, positive: Label) -> Label:
    """The class that is named positive, as the target writes it."""
    from steelyard.frames.decoding import match_label

    if positive is None or target not in columns:
        return positive
    return match_label(positive, columns[target].drop_nulls().unique().sort().to_list())


def evaluated_splits(columns: Columns, target: str, splits: Splits, **options: Any) -> dict[int, CrossEvaluation]:
    """The cross-evaluation of every split, with a bar on the terminal."""
    from steelyard.protocol.named_models import cross_evaluate_columns

    with bar("fitting") as progress:
        return {
            k: cross_evaluate_columns(columns, target, split=split, progress=progress, **options)
            for k, split in splits.items()
        }


def selected_tree(
    columns: Columns,
    target: str,
    splits: Splits,
    *,
    model: Sequence[str],
    resample: Sequence[str | None] | None,
    metrics: Sequence[str] | None,
    rng: int,
    pos_label: Label,
) -> Selection:
    """A tree chosen on validation parts and tested on rows that no choice has seen; notes say how it was read."""
    from steelyard.protocol.run_values import KALITA_MEAN_F
    from steelyard.protocol.select_tree import select_tree
    from steelyard.studies.own_table import own_table

    several = any(len(given or ()) > 1 for given in (splits, resample, metrics))
    if several or list(model) not in ([], ["tree"]):
        raise InputError(
            "--select-tree chooses among decision trees by one metric; give no other --model, and at most one of "
            "--resample, --metrics and the sizes of --split."
        )
    table = own_table(columns, target, pos_label=pos_label)
    split = next(iter(splits.values()), None)
    (sampler,), (metric,) = resample or (None,), metrics or (KALITA_MEAN_F,)
    tree = table.prepared("tree")
    selection = select_tree(
        tree, table.X, table.y, split=split, resample=sampler, metric=metric, rng=rng, pos_label=table.chosen
    )
    return replace(selection, notes=(*selection.notes, *table.notes))


def class_tables(results: Mapping[int, CrossEvaluation]) -> str:
    """Precision, recall and F1 of each class and their averages, of every model and split."""
    from steelyard.analysis.results.result import table_text
    from steelyard.evaluation.evaluation import CLASS_METRICS

    classes = [(k, row) for k, result in results.items() for row in result.per_class]
    rows = [
        {
            **({"k": k} if len(results) > 1 else {}),
            **({"model": row.model} if row.model is not None else {}),
            "class": str(row.label),
            "rows": row.rows,
            **{name: getattr(row, name).mean for name in CLASS_METRICS},
        }
        for k, row in classes[:_MOST_CLASSES]
    ]
    left = len(classes) - len(rows)
    more = f"\nand {left:,} rows more, which --format json has" if left else ""
    return f"\nEach class, means over the runs\n{table_text(rows)}{more}" if rows else ""
