"""Slices: for which rows a metric is worse than elsewhere, in a way that can be believed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.analysis.slices.slice_question import SliceQuestion
from steelyard.arguments import names_wrong_arguments
from steelyard.ingest.slice_source import SliceColumns
from steelyard.ingest.source import Source, check_name, index_columns, index_sentences, named_columns
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Frame, Label
    from steelyard.analysis.slices.slices_result import Slices
    from steelyard.metrics.spec import SpecLike


@names_wrong_arguments
def slices(
    frame: Frame | Source,
    *,
    true: str,
    pred: str | None = None,
    score: str | None = None,
    features: str | Sequence[str] | None = None,
    metric: SpecLike = "recall",
    conditions: int = 2,
    bins: int = 5,
    least: int = 20,
    rate: float = 0.05,
    method: str = "bh",
    most: int = 10,
    threshold: float | None = None,
    pos_label: Label = None,
    frequency: str | None = None,
    weight: str | None = None,
    cluster: str | None = None,
) -> Slices:
    """The slices of a frame in which a metric is worse than elsewhere, with false discoveries controlled.

    A slice is a conjunction of up to three `conditions` on `features` (by default all other columns but the index of a
    pandas frame): a level, a bin of
    numbers (about equally filled, at round numbers), or a missing value. Each with at least so many rows of what the
    metric is a share of (`least`) is tested exactly against the rows outside it, and those that pass Benjamini and
    Hochberg's procedure ("bh"; "by" holds under any dependence) at the false discovery `rate` are discoveries. Their
    intervals are wide enough that at most that share of them misses. Discoveries that overlap are merged into the
    simplest statements, at most `most`; nothing found is an answer, with what could have been found. Scores are
    thresholded as in `evaluate`. Frames are those of `tally`, counted where they live.

    >>> import numpy as np, polars as pl
    >>> rng = np.random.default_rng(0)
    >>> frame = pl.DataFrame({"age": rng.integers(20, 90, 6000), "site": rng.choice(["A", "B", "C"], 6000)})
    >>> bad = (frame["age"].to_numpy() >= 75) & (frame["site"].to_numpy() == "B")
    >>> y = rng.random(6000) < 0.3
    >>> found = slices(frame.with_columns(y=y, p=y & (rng.random(6000) < np.where(bad, 0.4, 0.8))), true="y", pred="p")
    >>> [each.slice for each in found]
    ['age >= 76 and site = B']
    """
    check_name("true", true)
    spec = MetricSpec.of(metric)
    source = Source.of(frame)
    names = named_columns("features", features)
    assumed = [f"The features are {', '.join(names)}."]
    if names in ((), ("*",)):
        used = (true, pred, score, frequency, weight, cluster)
        others = [name for name in source.parts[0].collect_schema() if name not in used]
        index = index_columns(map(str, others), source.index)
        names = tuple(name for name in others if name not in index)
        assumed = [f"The features are all other columns: {', '.join(map(str, names))}; features= names them."]
        assumed += index_sentences(index)
    label = spec.label if pos_label is None else pos_label
    columns = SliceColumns(true, pred, score, names, threshold, label, frequency, bins, least)
    question = SliceQuestion(spec, columns, conditions, rate, method, most)
    question.check(weight=weight, cluster=cluster)
    found = question.answer(source)
    return replace(found, assumed=(*found.assumed, *assumed))
