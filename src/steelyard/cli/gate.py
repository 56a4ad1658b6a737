"""`steelyard gate`: predictions passed or failed by rules on their metrics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from steelyard.analysis.results.strict_json import json_text, strict
from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import evaluate_inputs, print_assumed
from steelyard.cli.report import in_shell_words
from steelyard.cli.streams import print_verdict
from steelyard.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.cli.inputs import Inputs
    from steelyard.gates.judgement import Judgement


@command
@options.inputs(*options.PREDICTIONS, "class_scores", "labels", "label_sep", "row", "label", "cluster")
@click.option(
    "--require",
    "requirements",
    multiple=True,
    metavar="RULE",
    help='Such as "ac_score>=0.8", "low(mcc)>=0.5" for the end of the interval, or "mcc>=baseline-0.02".',
)
@click.option("--baseline", metavar="OLD.JSON", help="A report to compare with, written by `report --format json`.")
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    metavar="M",
    help="With --promise, or --baseline and no rule: the drop whose chance of being caught is stated.",
)
@click.option(
    "--promise",
    metavar="CHOSEN.JSON",
    help="Hold the threshold that `threshold --where ... -o CHOSEN.JSON` saved to its limits on these rows.",
)
@options.shared("level")
@options.form("table", "json", default="table")
@click.pass_context
def judge_predictions(
    ctx: click.Context,
    /,
    inputs: Inputs,
    requirements: tuple[str, ...],
    baseline: str | None,
    margin: float,
    promise: str | None,
    level: float,
    form: str,
) -> None:
    """Pass or fail the predictions in FILE by rules on their metrics: exit 0, 1, or 3 where one is undefined.

    With --baseline and no rule, no usual metric may have dropped by more than chance explains: the noise of both test
    sets and the number of metrics are allowed for, so that an unchanged model fails in at most 5 % of runs; rows are
    taken as independent, and of clustered rows a rule is needed. With --promise the scores are thresholded at the saved
    threshold, and a limit fails where these rows show it broken.
    """
    from steelyard.gates import baseline_drops, rule_judgement
    from steelyard.gates import promise as promises
    from steelyard.gates.baseline import check_baseline, read_baseline
    from steelyard.gates.rule import parse_rule

    old, saved = read_baseline(baseline), promises.read_promise(promise)
    required = [parse_rule(text) for text in requirements]
    for rule in required:
        rule_judgement.limit_of(rule, old)
    usual = [] if required or (saved is not None and old is None) else baseline_drops.usual_metrics(old)
    metrics = [*(rule.metric for rule in required), *usual, *(saved.metrics if saved is not None else ())]
    inputs = inputs if saved is None else _thresholded(inputs, saved.best.threshold)
    evaluation, _ = evaluate_inputs(inputs, level=level, metrics=[*dict.fromkeys(metrics)])
    notes = [] if old is None else check_baseline(old, evaluation)
    judged = [([rule_judgement.judge_rule(rule, evaluation, old) for rule in required], "")]
    if old is not None and usual:
        judged.append(baseline_drops.judge_drops(old, evaluation, usual, margin))
    if saved is not None:
        notes += saved.notes(evaluation)
        judged.append(promises.judge_limits(saved, evaluation, margin))
    judgements = [judgement for some, _ in judged for judgement in some]
    print_assumed([*in_shell_words(evaluation).assumed, *notes])
    print_verdict(_written(judgements, [sentence for _, sentence in judged if sentence], form))
    passed = _passed(judgements)
    if not passed:
        ctx.exit(3 if passed is None else 1)


def _thresholded(inputs: Inputs, threshold: float) -> Inputs:
    """The inputs thresholded at a saved threshold."""
    if inputs.threshold is not None or inputs.pred is not None or inputs.counts is not None:
        raise InputError(
            "--promise thresholds scores at the saved threshold; name their column with --score, and leave out "
            "--threshold, --pred and --counts."
        )
    return replace(inputs, threshold=threshold)


def _passed(judgements: Sequence[Judgement]) -> bool | None:
    """Whether all rules are kept; None where a metric is undefined, and no rule is broken."""
    if any(judgement.passed is False for judgement in judgements):
        return False
    return None if any(judgement.passed is None for judgement in judgements) else True


def _written(judgements: Sequence[Judgement], sentences: Sequence[str], form: str) -> str:
    """What became of the rules, one a line, or as JSON."""
    if form == "table":
        return "\n".join([*(judgement.text for judgement in judgements), *sentences])
    rules = [{"passed": each.passed, "text": each.text, **strict(dict(each.facts))} for each in judgements]
    return json_text({"passed": _passed(judgements), "rules": rules, "notes": list(sentences)}, indent=1)
