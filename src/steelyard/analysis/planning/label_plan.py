"""Label plan: which rows to label, so that a metric of all of them is known best by so many labels."""

from __future__ import annotations

import csv
import io
import math
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack

import numpy as np

from steelyard._types import Array
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.planning.strata import (
    StratumMoments,
    allocation,
    are_probabilities,
    check_planned,
    in_strata,
    label_influence,
    reads_labels,
    stratum_edges,
    working_probabilities,
)
from steelyard.analysis.results.formatting import FORMULA_SIGNS, percent_text
from steelyard.analysis.results.result import Result, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays import checks
from steelyard.arrays.backend import DOUBLE, PRECISIONS, as_read
from steelyard.arrays.labels import parser
from steelyard.exceptions import InputError, InputTypeError
from steelyard.frames.source import Source
from steelyard.metrics.spec import MetricSpec
from steelyard.predictions import Predictions, names_columns, question, refuse_unused
from steelyard.tables.saved import SavedField
from steelyard.tables.thresholding import HALF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Rng
    from steelyard.analysis.intervals.plan_draws import PlannedRows
    from steelyard.metrics.spec import SpecLike
    from steelyard.predictions import RowOptions, RowsLike


# ---------------------------------------------------------------- plan check
# Whether a label plan is whole, wherever it was read from.


AGAIN = "give the whole plan, as it was written"


def check_whole(plan: LabelPlan) -> None:
    """Refuse a plan that lacks rows or strata, or names a row twice: its probabilities would be wrong."""
    columns = {name: len(getattr(plan, name)) for name in ("index", "score", "stratum", "batch")}
    columns |= {name: len(value) for name in ("keys", "label") if (value := getattr(plan, name)) is not None}
    if len({*columns.values()}) > 1:
        lengths = ", ".join(f"{name} {length:,}" for name, length in columns.items())
        raise InputError(f"The columns of this label plan differ in length ({lengths}); {AGAIN}.")
    strata = [(each.lowest_score, each.rows, each.labels, each.expected) for each in plan.strata]
    lowest, rows, labels, expected = (np.array(column) for column in zip(*strata or [(0, 0, 0, 0)], strict=True))
    are_ranges = np.isfinite(lowest).all() and (np.diff(lowest) > 0).all()
    are_shares = ((expected > 0) & (expected < 1)).all()  # no score is certain
    if (rows < 1).any() or (labels > rows).any() or not are_ranges or not are_shares:
        raise InputError(
            "The strata of this label plan cannot be: the lowest score of each is above that of the one before, and it "
            f"has rows, no more labels than these, and a share of positives between 0 and 1; {AGAIN}."
        )
    if rows.sum() != plan.rows:
        raise InputError(f"The strata of this label plan have {rows.sum():,} of its {plan.rows:,} rows; {AGAIN}.")
    _check_rows(plan, labels)
    _check_scores(plan, lowest)
    if not plan.gain >= 0 and not np.isnan(plan.gain):
        raise InputError(f"The gain of this label plan is {plan.gain:g}, and none is below 0; {AGAIN}.")
    if (plan.key is None) != (plan.keys is None) or len({*(plan.keys or ())}) < len(plan.keys or ()):
        raise InputError(f"The keys of this label plan are of no column, are not there, or name a row twice; {AGAIN}.")


def _check_rows(plan: LabelPlan, labels: np.ndarray) -> None:
    index, stratum = np.asarray(plan.index), np.asarray(plan.stratum)
    batches = np.unique(plan.batch)
    if not len(index) or not np.array_equal(batches, np.arange(1, len(batches) + 1)):
        raise InputError(f"This label plan has no rows, or lacks those of a batch; {AGAIN}.")
    if stratum.min() < 0 or stratum.max() >= len(labels):
        raise InputError(f"A row of this label plan is of none of its {len(labels)} strata; {AGAIN}.")
    if len(np.unique(index)) < len(index) or index.min() < 0 or index.max() >= plan.rows:
        raise InputError(f"A row of this label plan is named twice, or is none of its {plan.rows:,} rows; {AGAIN}.")
    chosen = np.bincount(stratum, minlength=len(labels))
    if (chosen != labels).any():
        code = int(np.argmax(chosen != labels))
        raise InputError(
            f"This label plan has {chosen[code]:,} rows in stratum {code}, of which it chose {labels[code]:,}: rows "
            f"are missing or were added; {AGAIN}."
        )


def _check_scores(plan: LabelPlan, lowest: np.ndarray) -> None:
    """Refuse scores outside their strata, and a threshold that does not divide these."""
    score, stratum = np.asarray(plan.score), np.asarray(plan.stratum)
    inside = (score >= lowest[0]) & (in_strata(lowest[1:], score) == stratum) & np.isfinite(score)
    if not inside.all():
        row = int(np.flatnonzero(~inside)[0])
        raise InputError(
            f"The score {score[row]:.6g} of row {plan.index[row]:,} of this label plan is not in its stratum "
            f"{stratum[row]}; {AGAIN}."
        )
    if plan.threshold is None:
        if reads_labels(plan.spec) and plan.spec.metric.scores is None:
            raise InputError(f"This label plan has no threshold, which {plan.metric} needs; {AGAIN}.")
        return
    at = as_read(plan.threshold, plan.precision)
    above = lowest >= at
    one_side = reads_labels(plan.spec) and (above.all() or not above.any())
    if not np.isfinite(at) or one_side or ((score >= at) != above[stratum]).any():
        raise InputError(
            f"The threshold {plan.threshold:g} of this label plan is not one that its strata lie on either side of; "
            f"{AGAIN}."
        )


# ---------------------------------------------------------------- plan CSV
# A label plan as a sheet to be filled in, and the plan read from it again.


LABEL_COLUMN = "label"
_NUMBERS = ("index", "score", "stratum", "batch", "lowest_score", "stratum_rows", "expected", "rows", "probability")
_TEXTS = ("metric", "threshold", "score_type", "key_column")
_WHOLE = ("index", "stratum", "batch", "stratum_rows", "rows")
_SHEET_AGAIN = "give the sheet that `to_csv` or `steelyard plan` wrote, with labels added"


def plan_text(plan: LabelPlan) -> str:
    """The rows to be labelled as CSV, each with its stratum, and a column for the labels."""
    text = io.StringIO()
    key = [] if plan.key is None else [plan.key]
    reserved = {*_NUMBERS, *_TEXTS}
    for name, others in ((plan.key, {*reserved, plan.label_column}), (plan.label_column, reserved)):
        if name in others:
            raise InputError(
                f"The sheet of a label plan has a column {name!r} of its own; rename yours, and plan again."
            )
    for name in (*key, plan.label_column):
        if name.startswith(FORMULA_SIGNS):
            raise InputError(f"A spreadsheet would run the column {name!r} as a formula; rename it, and plan again.")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["index", *key, plan.label_column, *_NUMBERS[1:], *_TEXTS])
    threshold = "" if plan.threshold is None else repr(plan.threshold)
    labels = plan.label or (None,) * len(plan)
    for each, label in zip(plan, labels, strict=True):
        key_text = guarded_key(each.key) if isinstance(each.key, str) else each.key
        stratum = plan.strata[each.stratum]
        line = [each.index] if plan.key is None else [each.index, key_text]
        line += ["" if label is None else label, repr(each.score), each.stratum, each.batch]
        line += [repr(stratum.lowest_score), stratum.rows, repr(stratum.expected), plan.rows]
        line += [repr(each.probability), plan.metric, threshold, plan.precision, plan.key or ""]
        writer.writerow(line)
    return text.getvalue()


def guarded_key(key: str) -> str:
    """A key of text as the sheet has it: one that a spreadsheet would run as a formula is quoted by an apostrophe."""
    return f"'{key}" if key.lstrip("'").startswith(FORMULA_SIGNS) else key  # one that is quoted gets another


def _unguarded_key(text: str) -> str:
    return text[1:] if text.startswith("'") and guarded_key(text) != text else text


def plan_columns(saved: str | Path) -> dict[str, Any]:
    """The fields of the plan in a sheet, by name; its strata as their numbers."""
    lines = _lines(saved)
    first, key = lines[0], lines[0]["key_column"] or None
    keys = labels = None
    if key is not None:  # numbers where all of them are
        texts = [_unguarded_key(line[key]) for line in lines]
        parse = parser(texts)
        keys = tuple(texts) if parse is None else tuple(map(parse, texts))
    label_texts = [line.get(LABEL_COLUMN) for line in lines]
    if any(label_texts):  # numbers where all labels are numbers; None in a line without a label
        parse = parser([text for text in label_texts if text])
        labels = tuple(None if not text else text if parse is None else parse(text) for text in label_texts)
    numbers = {name: _numbers(name, [line[name] for line in lines]) for name in _NUMBERS}
    whole = {name: numbers[name].astype(np.int64) for name in _WHOLE}
    return {
        "spec": MetricSpec.of(first["metric"]),
        "threshold": float(_numbers("threshold", [first["threshold"]])[0]) if first["threshold"] else None,
        "rows": int(whole["rows"][0]),
        "score": numbers["score"],
        "gain": math.nan,
        "strata": _strata(numbers, whole),
        "precision": first["score_type"],
        "key": key,
        "keys": keys,
        "label": labels,
        **{name: whole[name] for name in ("index", "stratum", "batch")},
    }


def _lines(saved: str | Path) -> list[dict[str, str]]:
    """The lines of a sheet by the names of its columns; one without all columns is refused."""
    if isinstance(saved, str) and "\n" in saved:
        text = saved
    else:
        try:
            text = Path(saved).read_text(encoding="utf-8-sig")
        except (OSError, ValueError):
            raise InputError(f"{str(saved)!r} is neither CSV that to_csv() wrote nor a file of it.") from None
    lines = list(csv.DictReader(io.StringIO(text)))
    if not lines:
        raise InputError(f"This label plan has no rows; {_SHEET_AGAIN}.")
    needed = (*_NUMBERS, *_TEXTS, *filter(None, [lines[0].get("key_column")]))
    if lacking := [name for name in needed if name not in lines[0]]:
        raise InputError(f"This is no whole label plan: it lacks the column {lacking[0]!r}; {_SHEET_AGAIN}.")
    if (kind := lines[0]["score_type"]) not in PRECISIONS:
        raise InputError(f"The plan's column 'score_type' holds {kind!r}, not {PRECISIONS[-1]!r}; {_SHEET_AGAIN}.")
    for name in (*_TEXTS, "rows"):
        for number, line in enumerate(lines, 2):  # after the line of names
            if line[name] != lines[0][name]:
                raise InputError(
                    f"The plan's column {name!r} differs within the sheet, in line {number}; {_SHEET_AGAIN}."
                )
    return lines


def _numbers(name: str, texts: Sequence[str | None]) -> Array:
    """A column of numbers; one that cannot be read, or that is no probability, is named with its line."""
    values = np.full(len(texts), np.nan)
    for i, text in enumerate(texts):
        with suppress(ValueError):
            values[i] = float(text or "")
        if name == "probability":
            kind, fits = "a number above 0 and at most 1", 0 < values[i] <= 1
        elif name in _WHOLE:
            kind, fits = "a whole number", values[i] >= 0 and values[i].is_integer()
        else:
            kind, fits = "a number", math.isfinite(values[i])
        if not fits:
            content = f"holds {text!r}" if text else "is empty"
            raise InputError(f"The plan's column {name!r} {content} in line {i + 2}, not {kind}; {_SHEET_AGAIN}.")
    return values


def _strata(numbers: dict[str, Any], whole: dict[str, Any]) -> list[tuple[float, int, int, float]]:
    """The strata with as many labels as their probability has it, which the rows of the sheet are held to."""
    codes = np.unique(whole["stratum"])
    if not np.array_equal(codes, np.arange(len(codes))):
        raise InputError(f"This label plan lacks the rows of a stratum; {_SHEET_AGAIN}.")
    first = [int(np.flatnonzero(whole["stratum"] == code)[0]) for code in codes]
    for name in ("lowest_score", "stratum_rows", "expected", "probability"):
        other = np.flatnonzero(numbers[name] != numbers[name][first][whole["stratum"]])
        if len(other):
            line = int(other[0]) + 2
            raise InputError(f"The plan's column {name!r} differs within a stratum, in line {line}; {_SHEET_AGAIN}.")
    rows = whole["stratum_rows"][first]
    labels = np.rint(numbers["probability"][first] * rows).astype(np.int64)
    columns = (numbers["lowest_score"][first], rows, labels, numbers["expected"][first])
    return list(zip(*(column.tolist() for column in columns), strict=True))


# ---------------------------------------------------------------- LabelPlan
# Which rows to label, the stratum and the probability of each, and what that gains on random labels.


@dataclass(frozen=True)
class Stratum:
    """A range of scores: its rows, those to be labelled, and the share of positives that the scores expect there."""

    lowest_score: float
    rows: int
    labels: int
    expected: float

    def row(self) -> dict[str, Any]:
        """The stratum as a row of a table."""
        return {**vars(self), "probability": self.labels / self.rows}


@dataclass(frozen=True)
class ChosenRow:
    """A row to be labelled: its index from 0, its key where rows have one, and the probability of its choice."""

    index: int
    key: Any
    score: float
    stratum: int
    probability: float
    batch: int
    named: str | None = None  # the column of the keys

    def row(self) -> dict[str, Any]:
        """The row to be labelled as one of a table."""
        key = {} if self.named is None else {self.named: self.key}
        shown = ("score", "stratum", "probability", "batch")
        return {"index": self.index, **key, **{name: getattr(self, name) for name in shown}}


@dataclass(frozen=True, eq=False, repr=False)
class LabelPlan(Result[ChosenRow]):
    """Which rows to label; `evaluate(labels, design=plan)` reads their labels, in the order of the plan.

    `index` are the rows, from 0, and `keys` their keys where the rows of a frame have one. In a stratum every row is as
    likely to be chosen as any other: `probability`. `gain` is how many labels at random one of these is expected to be
    worth for the metric, if the scores are right. `label` are the labels that a top-up was given, None where there is
    none yet.

    >>> from steelyard import label_plan
    >>> plan = label_plan(np.linspace(0.001, 0.6, 3000) ** 2, 150, "recall", threshold=0.1)
    >>> len(plan.index), LabelPlan.from_json(plan.to_json()) == plan
    (150, True)
    """

    spec: MetricSpec = field(metadata={"key": "metric"})
    threshold: float | None
    rows: int
    index: Array
    score: Array
    stratum: Array
    batch: Array
    strata: Rows[Stratum]
    gain: float
    key: str | None = None
    keys: tuple[Any, ...] | None = None
    score_column: str | None = None
    precision: str = DOUBLE
    stated: tuple[str, ...] = ()
    label: tuple[Any, ...] | None = None
    label_column: str = LABEL_COLUMN

    def __post_init__(self) -> None:
        check_whole(self)

    @property
    def metric(self) -> str:
        """The written form of the metric that the labels are for."""
        return self.spec.name

    @property
    def probability(self) -> Array:
        """The probability with which each row was chosen."""
        return np.array([stratum.labels / stratum.rows for stratum in self.strata])[self.stratum]

    @property
    def latest(self) -> Array:
        """The index of the rows that the last batch added, those to be labelled next."""
        return np.asarray(self.index[self.batch == self.batch.max()])

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[ChosenRow]:
        columns = (self.index, self.score, self.stratum, self.probability, self.batch)
        keys = self.keys or (None,) * len(self)
        listed = zip(*(np.asarray(column).tolist() for column in columns), keys, strict=True)
        for index, score, stratum, probability, batch, key in listed:
            yield ChosenRow(index, key, score, stratum, probability, batch, self.key)

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The plan of what JSON holds of it, each field checked and all of them against each other."""
        from steelyard.analysis.planning.saved_plan import plan_fields

        fields = plan_fields(SavedField(data))
        strata = Rows(Stratum(*stratum) for stratum in fields.pop("strata"))
        return cls(**fields, strata=strata)

    def labelled(self, given: Predictions) -> PlannedRows:
        """The labels of the plan's rows, each in its stratum; those of other rows are left out."""
        from steelyard.analysis.planning.plan_labels import planned_labels

        return planned_labels(self, given)

    @names_wrong_arguments
    def top_up(self, data: RowsLike, budget: int, y_true: ArrayLike | None = None, *, rng: Rng = None) -> LabelPlan:
        """The plan with more rows to label, by what the labels so far show; those rows stay, and come first.

        `data` are the same rows that the plan was made for; `y_true` the labels so far, in the order of the plan, where
        it has none of its own. The new plan carries them, so that `evaluate(labels, design=plan)` needs those of
        `plan.latest` alone, and `to_csv` writes them into the sheet. Strata stay as they are, and get what they lack of
        the labels that the shares seen in them ask for; where the labels so far are of one class, rows are drawn as
        before. That the choice depends on earlier labels does not bias the shares of the strata by more than a small
        part of their error, since in each of them rows are drawn at random.
        """
        from steelyard.analysis.planning.plan_labels import topped_up

        is_named = names_columns(data) and self.score_column is not None
        p = Predictions.of(data, first_is="y_score", score=self.score_column if is_named else None)
        return topped_up(self, p, budget, y_true, rng)

    def to_csv(self) -> str:
        """The rows to be labelled as CSV, with all that `from_csv` needs: a sheet whose column `label` is to fill."""
        return plan_text(self)

    @classmethod
    @names_wrong_arguments
    def from_csv(cls, saved: str | Path) -> Self:
        """The plan that `to_csv` wrote, of its text or of the path of a file, with the labels in its column `label`."""
        columns = plan_columns(saved)
        strata = Rows(Stratum(*stratum) for stratum in columns.pop("strata"))
        return cls(**columns, strata=strata)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known beside the rows."""
        return self.stated

    def shown_rows(self) -> list[dict[str, Any]]:
        """The strata."""
        return self.strata.to_dicts()

    @property
    def headline(self) -> str:
        """The plan in one sentence."""
        at = "" if self.threshold is None else f" where score >= {self.threshold:.4g}"
        text = f"Label {len(self):,} of {self.rows:,} rows for {self.metric}{at}"
        if len(self) == self.rows:
            return f"Label all {self.rows:,} rows for {self.metric}{at}: the budget is enough for each of them."
        if not np.isfinite(self.gain):
            return f"{text}."
        expected = sum(stratum.rows * stratum.expected for stratum in self.strata) / self.rows
        return (
            f"{text}: as good as {self.gain * len(self):,.0f} labels at random if the scores are right "
            f"({percent_text(expected)} positive), and at worst an error of 1.5 times."
        )


# ---------------------------------------------------------------- label plan


_NO_PROBABILITIES = (
    "The scores are no probabilities: labels were planned as if the logit of the share of positives rose with the "
    "rank, and as if {share:g} % were positive. Give prevalence= where you know it better."
)


class PlannedScores(NamedTuple):
    """All scores that are there, their precision, and the keys of their rows."""

    scores: Array
    precision: str
    keys: Array | None = None

    @classmethod
    def of(cls, p: Predictions, key: str | None) -> PlannedScores:
        """The scores of the rows, and the column of their keys where it is named."""
        if p.given.is_table or p.given.model.score is None:
            raise InputTypeError("A plan goes by the scores of all rows: give y_score=, or of a frame score=.")
        refuse_unused(p, "label_plan", "weights", "frequency", "cluster", "by", "design")
        if p.given.is_frame:
            with p.frame() as source:
                planned_source(source, ordered=key is None)
        values = p.collect(*([] if key is None else [key]))
        checks.check_one_column(values.given.y_score)
        column = checks.column(values.given.y_score, "y_score")
        keys = None if key is None else np.array(checks.column(values.column(key), key).tolist(), dtype=object)
        if keys is not None and len({*keys.tolist()}) < len(keys):
            raise InputError(f"The column {key!r} names some rows twice; a key is another one in each row.")
        return cls(checks.finite_scores(column), checks.precision_of(column), keys)


def planned_source(data: Frame | Source, *, ordered: bool) -> Source:
    """The rows of a frame; where they are found by their position, they need an order."""
    source = Source.of(data)
    if ordered and source.is_remote:
        raise InputError("Rows of this frame have no order, by which they could be found again; name a key with key=.")
    return source


@question
def label_plan(
    data: RowsLike,
    /,
    budget: int,
    metric: SpecLike,
    *,
    key: str | None = None,
    prevalence: float | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> LabelPlan:
    """Which rows to label, so that a metric of all of them is known as well as so many labels allow.

    Rows are drawn from strata of scores, more where a label is expected to move the metric more; `evaluate(labels,
    design=plan)` takes the labels in the order of the plan and states what they show of the population that all rows
    came from. The rows have scores and no labels yet: an array is `y_score`. `key` is the column of the keys by which
    rows are found again. A metric of labels needs the threshold, 0.5 of probabilities unless it is given. Scores
    between 0 and 1 are read as probabilities that may be wrong: four ninths of the labels are drawn from all rows
    alike, so that useless scores cost at most 1.5 times the error of labels at random. `prevalence` moves them to that
    share of positives. A small first plan is a pilot: `plan.top_up` goes by what its labels show.

    >>> scores = np.linspace(0.001, 0.3, 5000) ** 2
    >>> plan = label_plan(scores, 200, "f1", threshold=0.05)
    >>> len(plan), plan.strata[-1].labels / plan.strata[-1].rows > plan.strata[0].labels / plan.strata[0].rows
    (200, True)
    """
    p = Predictions.of(data, first_is="y_score", **rows)
    spec, (scores, precision, row_keys) = MetricSpec.of(metric), PlannedScores.of(p, key)
    check_planned(spec)
    budget = checked_budget(budget)
    at = _checked_threshold(spec, scores, precision, p.threshold)
    shares = working_probabilities(scores, prevalence)
    flagged = None if at is None else scores >= float(as_read(at, precision))
    mean, square = label_influence(spec, scores, flagged, shares).moments(shares)
    edges = stratum_edges(scores, np.sqrt(np.maximum(square - mean**2, 0)), flagged, budget)
    codes = in_strata(edges, scores)
    moments = StratumMoments.of(codes, len(edges) + 1, mean, square, np.ones(len(codes)))
    sizes = np.bincount(codes, minlength=len(edges) + 1)
    labels = allocation(moments, sizes, min(budget, len(codes)), np.zeros(len(sizes), dtype=np.int64))
    chosen = drawn_rows(codes, labels, np.zeros(0, dtype=np.int64), plan_generator(rng))
    lowest = np.array([scores[codes == code].min() for code in range(len(sizes))])
    columns = (lowest, sizes, labels, np.bincount(codes, shares) / sizes)
    return LabelPlan(
        spec,
        at,
        len(codes),
        index=chosen,
        score=scores[chosen],
        stratum=codes[chosen],
        batch=np.ones(len(chosen), dtype=np.int64),
        strata=Rows(Stratum(*stratum) for stratum in zip(*(column.tolist() for column in columns), strict=True)),
        gain=moments.gain(labels),
        key=key,
        keys=None if row_keys is None else tuple(row_keys[chosen].tolist()),
        score_column=p.given.model.score if p.given.is_frame else None,
        precision=precision,
        stated=_sentences(scores, budget, shares, prevalence),
    )


def checked_budget(budget: int) -> int:
    """The number of labels; anything but a whole number above 0 is refused."""
    if isinstance(budget, bool) or not isinstance(budget, (int, np.integer)) or budget < 1:
        raise InputError(f"The budget is the number of labels to plan, a whole number of 1 or more, not {budget!r}.")
    return int(budget)


def _checked_threshold(spec: MetricSpec, scores: Array, precision: str, threshold: float | None) -> float | None:
    """The threshold of a metric of labels, which must divide the rows; None for a metric of ranks."""
    if not len(scores):
        raise InputError("There are no rows to choose from; give their scores.")
    if not reads_labels(spec) or (threshold is None and spec.metric.scores is not None):
        return threshold
    if threshold is None and not are_probabilities(scores):
        raise InputError(f"The scores are no probabilities, so {spec.name} needs a threshold=.")
    at = HALF if threshold is None else threshold
    if isinstance(at, bool) or not isinstance(at, (int, float, np.number)) or not math.isfinite(at):
        raise InputError(f"A threshold is a number, not {at!r}.")
    flagged = scores >= as_read(float(at), precision)
    if flagged.all() or not flagged.any():
        side = "All scores reach" if flagged.all() else "No score reaches"
        raise InputError(f"{side} the threshold {at:g}, so all rows are predicted alike; give another threshold=.")
    return float(at)


def drawn_rows(codes: Array, labels: Array, taken: Array, rng: np.random.Generator) -> Array:
    """So many rows of each stratum at random, of those that are not taken, in random order."""
    keys = rng.random(len(codes))
    keys[taken] = np.inf
    order = np.lexsort((keys, codes))
    sizes = np.bincount(codes, minlength=len(labels))
    starts = np.cumsum(sizes) - sizes
    chosen = np.concatenate([order[start : start + n] for start, n in zip(starts, labels, strict=True)])
    return np.asarray(rng.permutation(chosen))


def plan_generator(rng: Rng) -> np.random.Generator:
    """The generator that was given; for a seed one that differs from that of data simulated by the same seed."""
    return rng if isinstance(rng, np.random.Generator) else generator(rng).spawn(1)[0]


def _sentences(scores: Array, budget: int, shares: Array, prevalence: float | None) -> tuple[str, ...]:
    """What a plan states of how it was made."""
    sentences = []
    if budget >= len(scores):
        sentences.append(f"The budget of {budget:,} labels is enough for all {len(scores):,} rows: label them all.")
    if not are_probabilities(scores):
        sentences.append(_NO_PROBABILITIES.format(share=round(100 * float(shares.mean()), 2)))
    elif prevalence is not None:
        sentences.append(f"The probabilities were moved to a mean of {prevalence:g} to plan by.")
    return tuple(sentences)


# ---------------------------------------------------------------- plan size
# How many labels a plan needs where so many at random would do.


_STEPS = 4  # a gain changes little with the number of labels


def labels_by_plan(
    spec: MetricSpec, y_score: ArrayLike, threshold: float | None, prevalence: float | None, rows: int
) -> int:
    """The labels by a plan of rows with these scores that show the metric as well as so many at random."""
    labels = rows
    for _ in range(_STEPS):
        plan = label_plan(y_score, labels, spec, threshold=threshold, prevalence=prevalence)
        labels = max(1, math.ceil(rows / plan.gain))
    return min(labels, rows)
