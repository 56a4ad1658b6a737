"""Baseline: an earlier report that a gate compares with, and the test that no usual metric has dropped from it."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from steelyard.analysis.comparison.different_rows import Drop, LabelExchange, ScoreExchange, drop_test
from steelyard.analysis.results.formatting import ROUNDING, difference_text, value_text
from steelyard.analysis.results.result import Result
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.multilabel_evaluation import MultilabelEvaluation
from steelyard.exceptions import InputError, InputTypeError, UnknownNameError, first_ten
from steelyard.gates.rules import FAIL, PASS, UNDECIDED, Judgement, power_text
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.usual import HEADLINE
from steelyard.tables.saved import read_json
from steelyard.tables.tally import group_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Label


@dataclass(frozen=True)
class Baseline:
    """The metrics of an earlier report by name, and what it says of its data."""

    name: str
    metrics: dict[str, float | None]
    facts: dict[str, Any]
    evaluation: Result[Any]

    def of_group(self, group: str | None) -> Baseline | None:
        """The metrics of the same group; None where the report has no such group."""
        if group is None:
            return self
        groups = self.facts.get("groups") or []
        if not groups:
            raise InputError(f"The baseline {self.name!r} has no groups; make it again with the same by=.")
        for part in groups:
            if group_label(list(part["group"]), tuple(part["group"].values())) == group:
                return replace(self, metrics=_values(part))
        return None


BaselineLike: TypeAlias = "str | PathLike[str] | Evaluation"


def read_baseline(given: BaselineLike | None) -> Baseline | None:
    """An earlier report, whose values are finite numbers or null: of a file, or the evaluation itself."""
    if given is None:
        return None
    if isinstance(given, Result) and not isinstance(given, Evaluation):
        raise InputError(
            f"A baseline is what evaluate returned, or the file of it, not a {given.kind.replace('_', ' ')}; give the "
            "evaluation of the earlier model."
        )
    if not isinstance(given, (str, PathLike, Result)):
        raise InputTypeError(
            f"A baseline is what evaluate returned, or the path of its JSON, not {type(given).__name__}."
        )
    if isinstance(given, Result):
        return Baseline("baseline", _values(given.to_dict()), given.to_dict(), given)
    name = str(given)
    try:
        data = read_json(Path(name).read_bytes())
        values = _values(data)
    except OSError as error:
        raise InputError(f"The baseline {name!r} cannot be read: {error.strerror}; check the name.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            f"The baseline {name!r} is not a report written by `steelyard report --format json`; make one first."
        ) from None
    for metric, value in values.items():
        with suppress(UnknownNameError):  # a metric that is not known here is no rule's
            low, high = MetricSpec.of(metric).metric.of_many_columns.range  # that of many classes is no narrower
            if value is not None and not low - ROUNDING <= value <= high + ROUNDING:
                raise InputError(
                    f"The baseline {name!r} gives {value:g} as {metric}, whose values lie between {low:g} and "
                    f"{high:g}; make it again with `steelyard report --format json`."
                )
    try:
        return Baseline(name, values, data, Result.from_json(data))
    except InputError as error:
        raise InputError(f"The baseline {name!r} cannot be read: {error}") from None


def _values(part: dict[str, Any]) -> dict[str, float | None]:
    """The metrics by name, each a finite number or None."""
    values: dict[str, float | None] = {}
    for row in part["metrics"]:
        value = row["value"]
        if value is not None:
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise TypeError
            value = float(value)
        values[str(row["name"])] = value
    return values


def check_baseline(baseline: Baseline, evaluation: Evaluation) -> list[str]:
    """Refuse a baseline of another positive class; what else is different about its data, in words."""
    facts, name = baseline.facts, f"The baseline {baseline.name!r}"
    then, now = facts.get("positive", evaluation.positive), evaluation.positive
    if then != now and str(then) != str(now):
        raise InputError(
            f"{name} is of {_class_words(then)}, these predictions are of {_class_words(now)}; name the same one with "
            "pos_label=, or make the baseline again."
        )
    notes = []
    if (threshold := facts.get("threshold")) is not None and evaluation.threshold not in (None, threshold):
        notes.append(f"{name} was thresholded at {threshold}, these scores at {evaluation.threshold:g}.")
    counts = getattr(evaluation, "counts", None)  # which label sets have not
    cells = None if counts is None else counts.to_dict()
    rows = _rows_words(facts.get("rows"), facts.get("counts")), _rows_words(evaluation.rows, cells)
    if rows[0] and rows[0] != rows[1]:
        notes.append(f"{name} is of other data, {rows[0]}; these are {rows[1]}.")
    labels = facts.get("labels")
    if isinstance(labels, list) and {*map(str, labels)} != {*map(str, evaluation.labels)}:
        notes.append(f"{name} has the labels {first_ten(labels)}; these are {first_ten(evaluation.labels)}.")
    return notes


def _class_words(positive: Label) -> str:
    return "no positive class" if positive is None else f"the positive class {positive!r}"


def _rows_words(rows: object, cells: object) -> str:
    """How many rows there are, and how many of the positive class where there is one."""
    if not isinstance(rows, int):
        return ""
    if not isinstance(cells, dict) or not all(isinstance(cells.get(cell), (int, float)) for cell in ("tp", "fn")):
        return f"{rows:,} rows"
    return f"{rows:,} rows, {cells['tp'] + cells['fn']:,.6g} of them positive"


# ---------------------------------------------------------------- baseline drops
# Where no rule is given, no usual metric may have dropped from the baseline by more than chance.


_INDEPENDENT = "exchanges rows as independent;"
_UNTESTED = (
    "Metrics of the scores of all classes are not tested for a drop, since a report keeps no rows; give rules such as "
    '"log_loss<=baseline+0.02".'
)
_AGAIN = "make it again with `steelyard report --format json`, or give rules"


def usual_metrics(old: Baseline) -> list[str]:
    """The usual metrics that the baseline has, which must hold its tables as well."""
    if old.facts.get("kind") == MultilabelEvaluation.kind:
        raise InputError(
            f"The baseline {old.name!r} is of label sets, of which a report keeps no rows to test a drop by; give "
            'rules such as "f1[average=macro]>=baseline-0.02".'
        )
    names = [name for name in HEADLINE if old.metrics.get(name) is not None]
    if not names:
        raise InputError("The baseline holds none of the usual metrics; give rules.")
    saved_baseline(old)
    return names


def judge_drops(
    old: Baseline, new: Evaluation, names: Sequence[str], margin: float
) -> tuple[list[Judgement], list[str]]:
    """Whether each metric fell by more than chance explains, and how often such a gate errs, in a sentence."""
    if new.is_clustered:
        raise InputError(f"The test of a drop {_INDEPENDENT} with cluster= give rules or a guarantee.")
    before = saved_baseline(old)
    labels = scores = None
    if before.confusion is not None and new.confusion is not None:
        labels = LabelExchange.of(before.confusion, new.confusion, new.positive)
    if before.scores is not None and new.scores is not None:
        scores = ScoreExchange(before.scores, new.scores)
    specs = [row.spec for name in names for row in new.metrics if row.name == name and name in before]
    specs = [spec for spec in specs if (scores if spec.metric.scores is not None else labels) is not None]
    if not specs:
        raise InputError(f"The baseline {old.name!r} and these predictions share no metric; {_AGAIN}.")
    test = drop_test(labels, scores, specs, level=new.level, margin=margin)
    sentence = (
        f"An unchanged model fails this gate in at most {100 * test.error:.3g} % of runs; a drop of "
        f"{100 * test.margin:.3g} points of {test.margin_of} is caught in {power_text(test.power)}."
    )
    untested = [row for row in before.metrics if row.spec.metric.function is None and not row.spec.is_native]
    left_out = f" {_UNTESTED}" if untested else ""
    return [_judged_drop(drop, new) for drop in test.drops], [f"{sentence}{left_out}"]


def saved_baseline(old: Baseline) -> Evaluation:
    """The baseline with its tables, which show how uncertain it is."""
    before = old.evaluation if isinstance(old.evaluation, Evaluation) else None
    if before is not None and before.is_clustered:
        raise InputError(
            f"The baseline {old.name!r} is of clustered rows, and the test of a drop {_INDEPENDENT} give rules."
        )
    if before is None or (before.confusion is None and before.scores is None):
        raise InputError(f"The baseline {old.name!r} has no tables, which show how uncertain it is; {_AGAIN}.")
    return before


def _judged_drop(drop: Drop, new: Evaluation) -> Judgement:
    name, shown, share = drop.spec.name, drop.is_shown, drop.spec.is_share
    before, rule = f"baseline {value_text(drop.before, share=share)}", f"{name} has not dropped from the baseline"
    values = (drop.after, drop.before - drop.spec.metric.sign * drop.limit)
    if shown is None:
        why = new[name].undefined or "not defined in the baseline"
        return Judgement(None, UNDECIDED, rule, None, f"{name}, {before}: {why}", why=why)
    text = f"{name} is {value_text(drop.after, share=share)}, {before}"
    if shown:
        limit = difference_text(drop.limit, share=share)
        return Judgement(False, FAIL, rule, None, f"{text}: a drop beyond the {limit} that may be chance", *values)
    most = difference_text(max(drop.limit, 0.0), share=share)
    limit = "any drop" if math.isinf(drop.limit) else f"a drop of up to {most}"
    return Judgement(True, PASS, rule, None, f"{text}; {limit} may be chance", *values)
