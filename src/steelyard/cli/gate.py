"""`steelyard gate`: predictions passed or failed by rules on their metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import evaluate_inputs, print_assumed
from steelyard.cli.report import in_shell_words
from steelyard.cli.streams import print_verdict

if TYPE_CHECKING:
    from steelyard.cli.inputs import Inputs


@command
@options.inputs(*options.PREDICTIONS)
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
    help="With --baseline and no rule: the drop of recall whose chance of being caught is stated.",
)
@options.shared("level")
@click.pass_context
def judge_predictions(
    ctx: click.Context,
    /,
    inputs: Inputs,
    requirements: tuple[str, ...],
    baseline: str | None,
    margin: float,
    level: float,
) -> None:
    """Pass or fail the predictions in FILE by rules on their metrics: exit 0, 1, or 3 where a metric is undefined.

    With --baseline and no rule, no usual metric may have dropped by more than chance explains: the noise of both test
    sets and the number of metrics are allowed for, so that an unchanged model fails in at most 5 % of runs.
    """
    from steelyard.cli import baseline_gate, rules

    old = rules.read_baseline(baseline)
    required = [rules.parse_rule(text) for text in requirements]
    for rule in required:
        rules.limit_of(rule, old)
    metrics = [rule.metric for rule in required] or baseline_gate.usual_metrics(old)
    evaluation, _ = evaluate_inputs(inputs, level=level, metrics=metrics)
    notes = [] if old is None else rules.check_baseline(old, evaluation)
    judgements, sentence = [rules.judge_rule(rule, evaluation, old) for rule in required], ""
    if old is not None and not required:
        judgements, sentence = baseline_gate.judge_drops(old, evaluation, metrics, margin)
    print_assumed([*in_shell_words(evaluation).assumed, *notes])
    print_verdict("\n".join([*(judgement.text for judgement in judgements), *([sentence] if sentence else [])]))
    undefined = any(judgement.passed is None for judgement in judgements)
    if code := 3 if undefined else int(not all(judgement.passed for judgement in judgements)):
        ctx.exit(code)
