"""Baseline drops: where no rule is given, no usual metric may have dropped from the baseline by more than chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.comparison.drop_test import Drop, DropTest, drop_test
from steelyard.analysis.comparison.exchanged_rows import LabelExchange, ScoreExchange
from steelyard.analysis.results.formatting import difference_text, value_text
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.label_sets.multilabel_evaluation import MultilabelEvaluation
from steelyard.exceptions import InputError
from steelyard.gates.judgement import FAIL, PASS, UNDECIDED, Judgement
from steelyard.metrics.registry import metrics_with_role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.gates.baseline import Baseline

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
    names = [m.name for m in metrics_with_role("headline") if old.metrics.get(m.name) is not None]
    if not names:
        raise InputError("The baseline holds none of the usual metrics; give rules.")
    saved_baseline(old)
    return names


def judge_drops(
    old: Baseline, new: Evaluation, names: Sequence[str], margin: float
) -> tuple[list[Judgement], list[str]]:
    """Whether each metric fell by more than chance explains, and how often such a gate errs, in a sentence."""
    if new.is_clustered:
        raise InputError(f"The test of a drop {_INDEPENDENT} with cluster= give rules or a promise.")
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
    untested = [row for row in before.metrics if row.spec.metric.function is None and not row.spec.is_native]
    left_out = f" {_UNTESTED}" if untested else ""
    return [_judged(drop, new) for drop in test.drops], [f"{_errors_sentence(test)}{left_out}"]


def saved_baseline(old: Baseline) -> Evaluation:
    """The baseline with its tables, without which its own noise is not known."""
    before = old.evaluation if isinstance(old.evaluation, Evaluation) else None
    if before is not None and before.is_clustered:
        raise InputError(
            f"The baseline {old.name!r} is of clustered rows, and the test of a drop {_INDEPENDENT} give rules."
        )
    if before is None or (before.confusion is None and before.scores is None):
        raise InputError(f"The baseline {old.name!r} has no tables, which show how uncertain it is; {_AGAIN}.")
    return before


def _judged(drop: Drop, new: Evaluation) -> Judgement:
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


def _errors_sentence(test: DropTest) -> str:
    points, error = f"{100 * test.margin:.3g}", f"{100 * test.error:.3g} %"
    caught = "more than 99 %" if test.power > 0.99 else "less than 1 %" if test.power < 0.01 else f"{test.power:.0%}"
    caught = caught.replace("%", " %").replace("  ", " ")
    return (
        f"An unchanged model fails this gate in at most {error} of runs; a drop of {points} points of {test.margin_of} "
        f"is caught in {caught}."
    )
