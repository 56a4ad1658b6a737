"""Model splits: how `steelyard crossval` splits its table, and what it does with every split."""

from __future__ import annotations

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

_HOLDOUTS = 10  # repeats of a hold-out, unless others are asked for
_LONGEST = 99


def named_splits(folds: int | None, holdout: str | None, repeats: int | None) -> Splits:
    """The splits by k: folds, a hold-out of 1 to k, or one for each k of a range such as 2:9."""
    from steelyard.protocol.splits import Folds, HoldOut

    if holdout is None:
        k = 5 if folds is None else folds
        return {k: Folds(k, repeats=1 if repeats is None else repeats)}
    if folds is not None:
        raise InputError("--folds and --holdout are two ways to split; give one of them.")
    first, colon, last = holdout.partition(":")
    ends = [int(text) if text.strip().isdecimal() else 0 for text in (first, last if colon else first)]
    if not 1 <= ends[0] <= ends[1] <= _LONGEST:
        raise InputError(
            f"--holdout trains on K times the rows it tests: a whole number such as 4, or a range such as 2:9, "
            f"not {holdout!r}."
        )
    times = _HOLDOUTS if repeats is None else repeats
    return {k: HoldOut(k, repeats=times) for k in range(ends[0], ends[1] + 1)}


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
            "--resample, --metrics and the sizes of --holdout."
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

    rows = [
        {
            **({"k": k} if len(results) > 1 else {}),
            **({"model": row.model} if row.model is not None else {}),
            "class": str(row.label),
            "rows": row.rows,
            **{name: getattr(row, name).mean for name in CLASS_METRICS},
        }
        for k, result in results.items()
        for row in result.per_class
    ]
    return f"\n\nEach class, means over the runs\n{table_text(rows)}"
