"""Inputs: what a command line names of its rows, read into one Predictions for every command."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.arrays.labels import parser
from steelyard.cli.option_words import of_shell, with_shell_words
from steelyard.cli.progress import bar
from steelyard.cli.saved_tables import add_saved, tally_of_counts
from steelyard.cli.streams import print_message
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Label
    from steelyard.analysis.planning.label_plan import LabelPlan
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.frames.source import Source
    from steelyard.predictions import Predictions
    from steelyard.tables.tally import Tally

_NO_INPUT = "No input was named; give a file, - for the standard input, or --counts TP,FN,FP,TN."
_LONG_NOTE = (
    "Rows without a line are not counted; give a row that has no labels, true or predicted, a line with any label "
    "and 0 in its columns."
)
_LONG_COLUMNS = (
    "A file with a line for each row and label needs two columns of 0 and 1 or scores beside them, named by --true "
    "with --pred or --score; a plain list of true labels beside one of predicted labels is read in Python: "
    "multilabel(true, predicted, long=(row, label))."
)
_BINNED = re.compile(r"(?P<name>.+):(?P<bins>\d+)")  # as bins of groups were asked for once
_CALLED = ("frequency", "cluster", "by", "threshold")  # what some questions have no use for
_COPIED = ("weight", "frequency", "cluster", "bins", "pos_label", "threshold", "filter", "label_sep", "long", "exact")


@dataclass(frozen=True)
class Inputs:
    """What a command line names: files or four counts, and their columns and classes, as Predictions call them."""

    files: tuple[str, ...] = ()
    counts: str | None = None
    true: str | None = None
    pred: tuple[str, ...] = ()  # a column for each model
    score: tuple[str, ...] = ()  # a column or, with a column for each class, a pattern for each model
    weight: str | None = None
    frequency: str | None = None
    cluster: str | None = None
    by: tuple[str, ...] = ()
    bins: dict[str, int | list[float]] | None = None
    pos_label: Label = None
    labels: str | None = None  # those that may occur, of which a shard need not hold all
    threshold: float | None = None
    design: str = "random"
    filter: str | None = None
    label_sep: str | None = None  # what divides the labels of a row in a text
    long: tuple[str, str] | None = None  # the columns of row and label of a line for each of both
    exact: bool | None = None

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
    def patterned(self) -> str | None:
        """The pattern of a column of scores for each class, where that is what is named."""
        return next((name for name in self.score if "*" in name), None)

    def options(self, *but: str) -> list[str]:
        """The options about rows that were given, as they are written."""
        default = Inputs()
        names = (each.name for each in fields(self) if each.name not in ("files", "counts", *but))
        return [OPTION_OF.get(name, f"--{name.replace('_', '-')}") for name in names if self._differs(name, default)]

    def _differs(self, name: str, default: Inputs) -> bool:
        return bool(getattr(self, name) != getattr(default, name))

    def by_model(self) -> dict[str, Inputs]:
        """The inputs of each model that is named: labels as they are, scores with the threshold."""
        labels = {name: replace(self, pred=(name,), score=(), threshold=None) for name in self.pred}
        return labels | {name: replace(self, pred=(), score=(name,)) for name in self.score}


OPTION_OF = {"exact": "--exact/--binned"}


class Read(NamedTuple):
    """The rows of a command line, and how they were read: which columns were taken by their names."""

    rows: Predictions
    stated: tuple[str, ...] = ()

    @property
    def assumed(self) -> tuple[str, ...]:
        """How the rows were read, and which class is positive."""
        return (*self.stated, *map(of_shell, self.rows.assumed))

    def call(self, question: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """The answer of a question, which is given what the call named, to say so where it cannot use it."""
        given = self.rows.given
        called = {name: getattr(given, name) for name in _CALLED} if given.is_frame else {}
        called |= {"weight": given.sample_weight} if given.is_frame else {}
        called |= {"design": None if isinstance(given.design, str) and given.design == "random" else given.design}
        options |= {name: value for name, value in called.items() if value is not None}
        return question(self.rows, *arguments, **options)

    def ask(self, question: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """The same in the words of the shell, with how the rows were read."""
        found: Any = self.call(question, *arguments, **options)
        return with_shell_words(replace(found, assumed=(*self.stated, *found.assumed)))


def print_assumed(assumed: Sequence[str]) -> None:
    """What was taken for granted, on stderr, where the result itself has no place for it."""
    for line in assumed:
        print_message(line)


# ---------------------------------------------------------------- predictions


def predictions(inputs: Inputs, *, truth: bool = True, scores: bool = False) -> Read:
    """The rows that a command line names: of files, of saved tables by their content, or of four counts.

    Columns that are not named are looked for by their usual names, here alone: that of the truth unless there is none,
    those of labels and scores, or of scores alone where these are needed.
    """
    from steelyard.files.folders import expand_names
    from steelyard.predictions import Files, Predictions

    if inputs.counts is not None:
        return _of_counts(inputs, inputs.counts)
    if not inputs.files:
        raise InputError(_NO_INPUT)
    if (saved := add_saved(expand_names(inputs.files))) is not None:
        tally, noticed = saved
        _refuse_other_counts(inputs, tally)
        return Read(Predictions.of(tally, pos_label=inputs.pos_label, threshold=inputs.threshold), tuple(noticed))
    if inputs.long is not None and not (inputs.true and (inputs.pred or inputs.score)):
        raise InputError(_LONG_COLUMNS)
    if inputs.label_sep == "":
        raise InputError("--label-sep is empty; give the sign between the labels of a row, such as ';'.")
    if not truth:
        inputs = replace(inputs, true=None, labels=None, pos_label=None)
    files = Files(inputs.files, lambda: bar("counting"))
    with files.opened() as source:
        _refuse_old_bins(inputs.by, source.parts[0].collect_schema().names())
        named, stated = guess_columns(source, inputs, truth=truth, scores=scores or inputs.threshold is not None)
        labels = labels_of(source, named)
    rows = Predictions.read(
        files,
        true=named.true,
        pred=_one_or_more(named.pred),
        score=_one_or_more(named.score),
        by=named.by or None,
        labels=labels,
        design=_design(named.design),
        **{name: getattr(named, name) for name in _COPIED},
    )
    return Read(rows, (*stated, *((_LONG_NOTE,) if named.long else ())))


def _refuse_old_bins(by: Sequence[str], columns: Sequence[str]) -> None:
    """Say how bins of groups are asked for now."""
    for part in (_BINNED.fullmatch(text) for text in by if text not in columns):
        if part is not None and part["name"] in columns:
            name = part["name"]
            raise InputError(f"--by {part[0]} is now --by {name} --bins {name}={part['bins']}.")


def _one_or_more(names: tuple[str, ...]) -> Any:
    return list(names) if len(names) > 1 else next(iter(names), None)


def _design(name: str) -> Any:
    """How the test set was drawn: a word, or the plan of a file."""
    return name if name in ("random", "stratified") else plan_of(name)


def plan_of(name: str) -> LabelPlan:
    """The plan of a file that `steelyard plan` wrote."""
    from steelyard.analysis.loading import load
    from steelyard.analysis.planning.label_plan import LabelPlan

    if not Path(name).is_file():
        raise InputError(f"There is no file {name!r}; give the plan that `steelyard plan` wrote, random or stratified.")
    plan = LabelPlan.from_csv(Path(name)) if name.lower().endswith(".csv") else load(name)
    if not isinstance(plan, LabelPlan):
        raise InputError(f"{name!r} is no plan; give one that `steelyard plan` wrote.")
    return plan


def _of_counts(inputs: Inputs, cells: str) -> Read:
    from steelyard.predictions import Predictions

    if inputs.files:
        raise InputError("Four counts and a file are two inputs; give one of them.")
    if ignored := inputs.options():
        raise InputError(
            f"--counts has no rows for {' and '.join(ignored)}, which asks about those of a file; leave it out, or "
            "give the file in place of the counts."
        )
    table = tally_of_counts(cells)
    whole = table.confusion is None or not table.confusion.weighted
    about = f"The counts are not whole: they were taken as weights of about {table.rows:,} rows."
    return Read(Predictions.of(table), () if whole else (about,))


def _refuse_other_counts(inputs: Inputs, tally: Tally) -> None:
    """Refuse what saved tables can no longer heed: columns, groups and labels other than those they were counted by."""
    held: dict[str, Any] = {**tally.columns, "by": tally.by, "labels": ",".join(map(str, tally.labels))}
    held |= {use: _as_tuple(held[use]) for use in ("pred", "score") if use in held}
    same = [name for name in held if getattr(inputs, name, None) == held[name]]
    if ignored := inputs.options("threshold", "pos_label", "design", *same):
        raise InputError(
            f"{inputs.name!r} is counted already, and otherwise than by {' and '.join(ignored)}; leave it out, or give "
            "the rows."
        )


def _as_tuple(named: Any) -> tuple[Any, ...]:
    return tuple(named) if isinstance(named, (list, tuple)) else (named,)


def labels_of(source: Source, inputs: Inputs) -> list[Label] | None:
    """The labels that the command line declares: numbers where all of them are, unless the column holds text."""
    if inputs.labels is None:
        return None
    import narwhals as nw

    texts = [text.strip() for text in inputs.labels.split(",")]
    kind = source.parts[0].collect_schema().get(inputs.true or "")
    parse = None if kind == nw.String and not source.textual else parser(texts)
    return [*texts] if parse is None else [parse(text) for text in texts]


def evaluated(inputs: Inputs, *, min_count: int = 0, **asked: Any) -> tuple[Evaluation, Read]:
    """The evaluation of what the command line names, without groups of few rows, and what was read."""
    from steelyard.evaluation.evaluate import evaluate

    read = predictions(inputs)
    evaluation, stated = evaluate(read.rows, **asked), read.stated
    if min_count:
        evaluation, left_out = _without_small_groups(evaluation, min_count)
        stated += left_out
    assumed = (*stated, *evaluation.assumed)
    columns = dict(evaluation.columns)
    if inputs.design not in ("random", "stratified"):
        columns["design"] = inputs.design
    return replace(evaluation, assumed=assumed, columns=columns, source=inputs.name), read


def _without_small_groups(evaluation: Evaluation, least: int) -> tuple[Evaluation, tuple[str, ...]]:
    """The evaluation without groups that hold so few rows that they may point to a person, and how many these are."""
    from steelyard.tables.tally import Tally

    if not evaluation.groups:
        raise InputError("--min-count leaves out small groups, and there are none here; name them with --by.")
    groups = {group.key: Tally(group.confusion, group.scores) for group in evaluation.groups}
    kept = Tally(evaluation.confusion, evaluation.scores, by=evaluation.groups[0].by, groups=groups)
    kept = kept.with_groups_of(least)
    if not (out := len(groups) - len(kept.groups)):
        return evaluation, ()
    sentence = f"{out:,} of {len(groups):,} groups were left out: a cell of fewer than {least:,} rows"
    return evaluation.of_groups(kept.groups), (f"{sentence}, or the group that the total would give away.",)


# ---------------------------------------------------------------- usual columns

_USUAL_NAMES = {
    "true": ("y_true", "true", "truth", "true_label", "label", "target", "actual", "class", "y"),
    "pred": ("y_pred", "pred", "prediction", "predicted", "predicted_label", "y_hat", "yhat"),
    "score": ("y_score", "score", "scores", "probability", "prob", "proba", "y_prob", "y_proba", "p"),
}


def guess_columns(
    source: Source, inputs: Inputs, *, truth: bool = True, scores: bool = False
) -> tuple[Inputs, list[str]]:
    """The columns as named; those of truth and prediction that were not are looked for by their usual names."""
    columns = {name.lower(): name for name in source.parts[0].collect_schema().names()}
    guesses: list[str] = []
    for use in _unnamed(inputs, truth, scores):
        column = next((columns[name] for name in _USUAL_NAMES[use] if name in columns), None)
        if column is not None and not getattr(inputs, use):
            kind = _kind_of(source, column, use, inputs)
            names: dict[str, Any] = {kind: column if kind == "true" else (column,)}
            inputs = replace(inputs, **names)
            guesses.append(f"--{kind} {column}")
    if truth and inputs.true is None:
        raise InputError(f"Which column holds the truth is not clear; name it with --true, of {_listed(columns)}.")
    if not inputs.pred and not inputs.score:
        if scores:
            raise InputError(f"Scores are needed; name their column with --score, of {_listed(columns)}.")
        raise InputError(f"Name the predictions with --pred or --score; the columns are {_listed(columns)}.")
    return inputs, [f"Columns were taken by their names: {', '.join(guesses)}."] if guesses else []


def _unnamed(inputs: Inputs, truth: bool, scores: bool) -> tuple[str, ...]:
    """The uses for which a column may have to be found by its name."""
    uses = ("true",) if truth else ()
    if inputs.pred or inputs.score:
        return uses
    return (*uses, "score") if scores else (*uses, "pred", "score")


def _kind_of(source: Source, column: str, use: str, inputs: Inputs) -> str:
    """What a column found by its name is for: predictions that are fractions are scores, whatever they are called."""
    from steelyard.frames.queries import has_fractions

    return "score" if use == "pred" and not inputs.score and has_fractions(source, column) else use


def _listed(names: dict[str, str]) -> str:
    shown = ", ".join(list(names.values())[:12])
    return f"{shown} and {len(names) - 12} more" if len(names) > 12 else shown
