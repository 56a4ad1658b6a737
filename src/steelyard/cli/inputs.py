"""Inputs: the files and columns that a command line names, counted or evaluated."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli.binned_by import with_bins
from steelyard.cli.class_scores import evaluated_class_scores
from steelyard.cli.counted_input import CountedInput
from steelyard.cli.label_sets import evaluated_label_sets
from steelyard.cli.positive_option import with_positive
from steelyard.cli.saved_tables import add_saved, tally_of_counts
from steelyard.cli.streams import print_message
from steelyard.cli.usual_columns import guess_columns
from steelyard.exceptions import InputError
from steelyard.statistics.label_kinds import parser

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard._types import Label
    from steelyard.analysis.confusions.hierarchy import HierarchyLike
    from steelyard.analysis.intervals.plan_draws import SamplingDesign
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.ingest.source import Source
    from steelyard.statistics.tally import Tally


@dataclass(frozen=True)
class Inputs:
    """What a command line names: files or four counts, and the columns and classes in them."""

    files: tuple[str, ...] = ()
    counts: str | None = None
    true: str | None = None
    pred: str | tuple[str, ...] | None = None
    score: str | None = None
    class_scores: str | None = None  # the pattern of a column of scores for each class
    label_sep: str | None = None  # what divides the labels of a row in a text
    row: str | None = None  # of a line for each row and label
    label: str | None = None
    class_models: tuple[str, ...] = ()  # such patterns of several models
    preds: tuple[str, ...] = ()  # of several models
    scores: tuple[str, ...] = ()
    threshold: float | None = None
    positive: Label = None
    weight: str | None = None
    frequency: str | None = None
    cluster: str | None = None
    by: tuple[str, ...] = ()
    exact: bool | None = None
    cost_columns: tuple[str, ...] = ()  # of what errors cost
    labels: str | None = None  # those that may occur, of which a shard need not hold all

    @property
    def given(self) -> bool:
        """Whether there is anything to read."""
        return bool(self.files) or self.counts is not None

    @property
    def name(self) -> str:
        """What to call the input."""
        if not self.files:
            return f"counts {self.counts}"
        first = "standard input" if self.files[0] == "-" else Path(self.files[0]).name
        first = os.fsencode(first).decode(errors="replace")  # a name need not be UTF-8, what is written is
        return first if len(self.files) == 1 else f"{first} and {len(self.files) - 1} more"

    @property
    def columns(self) -> dict[str, str | tuple[str, ...]]:
        """The columns that are named, by what they are for."""
        uses = ("true", "pred", "score", "weight", "frequency", "by")
        return {use: getattr(self, use) for use in uses if getattr(self, use)}

    def by_model(self) -> dict[str, Inputs]:
        """The inputs of each model that is named: labels as they are, scores with the threshold."""
        alone = replace(self, preds=(), scores=(), class_models=())
        labels = {name: replace(alone, pred=name, threshold=None) for name in self.preds}
        scores = {name: replace(alone, score=name) for name in self.scores}
        return labels | scores | {name: replace(alone, class_scores=name) for name in self.class_models}


def print_assumed(assumed: Sequence[str]) -> None:
    """What was taken for granted, on stderr, where the result itself has no place for it."""
    for line in assumed:
        print_message(line)


# ---------------------------------------------------------------- counted and evaluated


def count_inputs(inputs: Inputs, *, scores: bool = False, shard: bool = False) -> CountedInput:
    """The tally of the files, of a saved tally, or of four counts; where scores are needed no labels are assumed.

    Of a shard, which is to be saved and merged, the digests are kept, and no class is positive by convention.
    """
    if inputs.counts is not None:
        return _count_cells(inputs, inputs.counts)
    if not inputs.files:
        raise InputError("No input was named; give a file, - for the standard input, or --counts TP,FN,FP,TN.")
    from steelyard.ingest.given_files import expand_names

    if (saved := add_saved(expand_names(inputs.files))) is not None:
        tally, noticed = saved
        _refuse_other_counts(inputs, tally)
        counted = CountedInput(with_positive(tally, inputs.positive), noticed, inputs.name)
        return counted.with_convention(inputs.positive, shard)
    with open_files(inputs) as rows:
        source, inputs = with_bins(rows, inputs)
        named, assumed = guess_columns(source, inputs, scores=scores or inputs.threshold is not None)
        tally = replace(_count_source(source, named), sources=source.digests() if shard else {})
        return CountedInput(tally, assumed, inputs.name, named.columns).with_convention(inputs.positive, shard)


_OF_ROWS = {
    "--true": "true",
    "--pred": "pred",
    "--score": "score",
    "--scores": "class_scores",
    "--threshold": "threshold",
    "--weight": "weight",
    "--frequency": "frequency",
    "--cluster": "cluster",
    "--by": "by",
    "--labels": "labels",
    "--label-sep": "label_sep",
    "--row": "row",
    "--label": "label",
    "--exact/--binned": "exact",
    "--positive": "positive",
}


def _refuse_other_counts(inputs: Inputs, tally: Tally) -> None:
    """Refuse what saved tables can no longer heed: columns, groups and labels other than those they were counted by."""
    held: dict[str, object] = {use: _as_tuple(named) for use, named in tally.columns.items()}
    held |= {"by": tally.by, "labels": (",".join(map(str, tally.labels)),)}
    ignored = [
        option
        for option, name in _OF_ROWS.items()
        if (given := getattr(inputs, name)) not in (None, ()) and name not in ("threshold", "positive")
        if _as_tuple(given) != held.get(name)
    ]
    if ignored:
        raise InputError(
            f"{inputs.name!r} is counted already, and otherwise than by {' and '.join(ignored)}; leave it out, or give "
            "the rows."
        )


def _as_tuple(named: Any) -> tuple[Any, ...]:
    return tuple(named) if isinstance(named, (list, tuple)) else (named,)


def _count_cells(inputs: Inputs, cells: str) -> CountedInput:
    if inputs.files:
        raise InputError("Four counts and a file are two inputs; give one of them.")
    ignored = [option for option, name in _OF_ROWS.items() if getattr(inputs, name) not in (None, ())]
    if ignored:
        raise InputError(
            f"--counts has no rows for {' and '.join(ignored)}, which asks about those of a file; leave it out, or "
            "give the file in place of the counts."
        )
    table = tally_of_counts(cells)
    whole = table.confusion is None or not table.confusion.weighted
    assumed = [] if whole else [f"The counts are not whole: they were taken as weights of about {table.rows:,} rows."]
    return CountedInput(table, assumed, inputs.name)


def _count_source(source: Source, inputs: Inputs) -> Tally:
    from steelyard.ingest.frame_tally import tally

    return tally(
        source,
        labels=labels_of(source, inputs),
        true=inputs.true or "",
        pred=inputs.pred,
        score=inputs.score,
        weight=inputs.weight,
        frequency=inputs.frequency,
        by=inputs.by,
        pos_label=inputs.positive,
        threshold=inputs.threshold if inputs.score and not inputs.pred else None,
        exact=inputs.exact,
        cost=inputs.cost_columns,
    )


def labels_of(source: Source, inputs: Inputs) -> list[Label] | None:
    """The labels that the command line declares: numbers where all of them are, unless the column holds text."""
    if inputs.labels is None:
        return None
    import narwhals as nw

    texts = [text.strip() for text in inputs.labels.split(",")]
    kind = source.parts[0].collect_schema().get(inputs.true or "")
    parse = None if kind == nw.String and not source.textual else parser(texts)
    return [*texts] if parse is None else [parse(text) for text in texts]


def evaluate_inputs(
    inputs: Inputs,
    *,
    level: float = 0.95,
    metrics: Sequence[str] | None = None,
    prevalence: PrevalenceLike | None = None,
    min_count: int = 0,
    design: str | SamplingDesign = "random",
    hierarchy: HierarchyLike | None = None,
) -> tuple[Evaluation, CountedInput]:
    """The evaluation of what the command line names."""
    from steelyard.evaluation.evaluate import evaluate
    from steelyard.ingest.label_overlap import check_label_overlap
    from steelyard.statistics.tally import Tally

    asked: dict[str, Any] = {"level": level, "metrics": metrics, "design": design}
    asked |= {"prevalence": prevalence, "hierarchy": hierarchy}
    if (evaluated := evaluated_label_sets(inputs, asked)) is not None:
        return evaluated, CountedInput(Tally(None), [], inputs.name)  # type: ignore[return-value]  # of the same faces
    if inputs.exact is not None and inputs.pred is not None and inputs.score is None:
        option, does = ("--exact", "keeps scores as they are") if inputs.exact else ("--binned", "is about scores")
        raise InputError(f"{option} {does}, and --pred names labels; leave out one of them.")
    if inputs.cluster is not None or inputs.class_scores is not None or not isinstance(design, str):
        options = {"level": level, "metrics": metrics, "design": design, "prevalence": prevalence}
        return _evaluate_rows(inputs, min_count, {**options, "hierarchy": hierarchy})
    counted = count_inputs(inputs)
    if min_count and not counted.tally.by:
        raise InputError("--min-count leaves out small groups, and there are none here; name them with --by.")
    counted = counted.with_groups_of(min_count)
    if counted.tally.confusion is not None:
        check_label_overlap(counted.tally.confusion)
    evaluation = evaluate(
        counted.tally,
        threshold=inputs.threshold,
        metrics=metrics,
        level=level,
        prevalence=prevalence,
        design=design,
        hierarchy=hierarchy,
    )
    assumed = (*counted.assumed, *evaluation.assumed)
    return replace(evaluation, assumed=assumed, columns=counted.columns, source=inputs.name), counted


def _evaluate_rows(inputs: Inputs, min_count: int, options: dict[str, Any]) -> tuple[Evaluation, CountedInput]:
    """The evaluation of clustered rows, or of scores of every class, which no saved table keeps apart."""
    from steelyard.statistics.tally import Tally

    option = "--scores" if inputs.class_scores is not None else "--cluster" if inputs.cluster is not None else "--plan"
    if inputs.counts is not None or not inputs.files:
        raise InputError(f"{option} names columns of a file of predictions; give the file.")
    options = {"pos_label": inputs.positive, **options}
    with open_files(inputs) as rows:
        source, inputs = with_bins(rows, inputs)
        options["labels"] = labels_of(source, inputs)
        evaluated = _of_clusters if inputs.class_scores is None else evaluated_class_scores
        evaluation, assumed = evaluated(source, inputs, options)
    groups = {group.key: Tally(group.confusion) for group in evaluation.groups}
    tally = Tally(evaluation.confusion, evaluation.scores, by=inputs.by, groups=groups)
    counted = CountedInput(tally, assumed, inputs.name).with_groups_of(min_count)
    shown = evaluation.of_groups(counted.tally.groups)
    return replace(shown, assumed=(*counted.assumed, *shown.assumed), source=inputs.name), counted


def _of_clusters(source: Source, inputs: Inputs, options: dict[str, Any]) -> tuple[Evaluation, list[str]]:
    from steelyard.evaluation.evaluate import evaluate

    named, assumed = guess_columns(source, inputs)
    columns: dict[str, Any] = named.columns
    if not isinstance(options["design"], str):
        options.pop("labels")  # all that the plan's rows have
    return evaluate(source, **columns, cluster=inputs.cluster, threshold=inputs.threshold, **options), assumed


# ---------------------------------------------------------------- files


@contextmanager
def open_files(inputs: Inputs) -> Iterator[Source]:
    """The rows of the files, with a bar on the terminal while they are counted."""
    from steelyard.cli.progress import bar
    from steelyard.ingest.files import scan_files

    if not inputs.files:
        raise InputError("No input was named; give a file, or - for the standard input.")
    with bar("counting") as progress, scan_files(inputs.files, progress) as rows:
        yield rows
