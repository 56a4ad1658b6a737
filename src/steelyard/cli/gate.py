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
@options.shared("level")
@click.pass_context
def judge_predictions(
    ctx: click.Context, /, inputs: Inputs, requirements: tuple[str, ...], baseline: str | None, level: float
) -> None:
    """Pass or fail the predictions in FILE by rules on their metrics: exit 0, 1, or 3 where a metric is undefined.

    With --baseline and no rule, no usual metric may be shown to be below the baseline: high(metric) >= baseline.
    """
    from steelyard.cli import rules

    old = rules.read_baseline(baseline)
    required = [rules.parse_rule(text) for text in requirements] or rules.rules_against(old)
    for rule in required:
        rules.limit_of(rule, old)
    evaluation, _ = evaluate_inputs(inputs, level=level, metrics=[rule.metric for rule in required])
    notes = [] if old is None else rules.check_baseline(old, evaluation)
    judgements = [rules.judge_rule(rule, evaluation, old) for rule in required]
    print_assumed([*in_shell_words(evaluation).assumed, *notes])
    print_verdict("\n".join(judgement.text for judgement in judgements))
    undefined = any(judgement.passed is None for judgement in judgements)
    if code := 3 if undefined else int(not all(judgement.passed for judgement in judgements)):
        ctx.exit(code)
