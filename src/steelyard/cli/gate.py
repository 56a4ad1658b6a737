"""`steelyard gate`: predictions passed or failed by rules on their metrics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import evaluated, print_assumed
from steelyard.cli.option_words import of_shell
from steelyard.cli.streams import print_verdict
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.inputs import Inputs
    from steelyard.cli.outputs import Output
    from steelyard.gates.gate import GateResult
    from steelyard.gates.rules import Gated


@command
@options.inputs()
@click.option(
    "--require",
    "requirements",
    multiple=True,
    metavar="RULE",
    help='Such as "ac_score>=0.8", "low(mcc)>=0.5" for the end of the interval, "mcc>=baseline-0.02", or '
    '"low(mcc - versus)>=-0.02" for that of the difference.',
)
@click.option("--versus", metavar="COL", help="The column of another model on the same rows, such as the released one.")
@click.option("--baseline", metavar="OLD.JSON", help="A report to compare with, written by `report --format json`.")
@click.option(
    "--prove",
    type=click.Choice(["worse", "not-worse"]),
    default="worse",
    show_default=True,
    help="With --versus or --baseline and no rule: fail where a metric is shown to be worse, or pass where each is "
    "shown to be not worse by --margin.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    metavar="M",
    help="The drop that matters: whose chance of being caught is stated, or that `--prove not-worse` rules out.",
)
@click.option(
    "--guarantee",
    metavar="CHOSEN.JSON",
    help="Hold the threshold that `threshold --where ... -o CHOSEN.JSON` saved to its limits on these rows.",
)
@click.option("--min-rows", type=click.IntRange(0), default=0, metavar="N", help="Fewer rows are undefined: exit 3.")
@click.option("--min-positives", type=click.IntRange(0), default=0, metavar="N", help="The same of positives.")
@click.option("--skip-small", is_flag=True, help="Name groups that are too small, and leave them out.")
@options.shared("level", "metrics")
@options.output("table", "json", "junit", "github", about="Write to this file, and the lines to the standard output.")
@click.pass_context
def judge_predictions(
    ctx: click.Context,
    /,
    inputs: Inputs,
    requirements: tuple[str, ...],
    versus: str | None,
    metrics: list[str] | None,
    level: float,
    output: Output,
    **asked: Any,
) -> None:
    """Pass or fail the predictions in FILE by rules on their metrics: exit 0, 1, or 3 where one is undefined.

    With --by every rule holds in every group as well. With --versus the model is held against another one on the same
    rows. Without a rule it fails where a usual metric is shown to be worse than that of --versus or --baseline: an
    unchanged model fails in at most 2.5 % of runs with --versus, and 5 % with --baseline. With --guarantee the scores
    are thresholded at the saved threshold, and a limit fails where these rows show it broken.

    A rule on low(...)>= or high(...)<= passes only where it is shown; one on high(...)>= or low(...)<= fails only where
    it is shown. The result states which error is held.
    """
    if metrics is not None and (requirements or asked["guarantee"]):
        raise InputError("--metrics names the metrics of a gate without rules; a rule names its own, so leave it out.")
    if versus is not None:
        gated, assumed = _against_model(inputs, versus, requirements, metrics, level, asked)
    else:
        gated, assumed = _alone(inputs, requirements, metrics, level, asked)
    from steelyard.gates.gate import gate

    result = gate(gated, *requirements, metrics=metrics, **asked)
    print_assumed([*assumed, *map(of_shell, result.assumed)])
    _write(result, output)
    ctx.exit(result.exit_code)


def _alone(
    inputs: Inputs, requirements: tuple[str, ...], metrics: list[str] | None, level: float, asked: dict[str, Any]
) -> tuple[Gated, list[str]]:
    """The evaluation of the predictions by the metrics that the gate reads."""
    from steelyard.analysis.requirements import VERSUS
    from steelyard.gates import baseline
    from steelyard.gates.baseline import read_baseline
    from steelyard.gates.guarantee import read_guarantee
    from steelyard.gates.rules import read_rules

    old, saved = read_baseline(asked["baseline"]), read_guarantee(asked["guarantee"])
    rules = read_rules(requirements, old)
    if beside := next((rule for rule in rules if rule.other == VERSUS), None):
        raise InputError(f"The rule {beside.text!r} speaks of another model; name its column with --versus COL.")
    if not rules and old is None and saved is None:
        raise InputError('A gate needs a rule, such as --require "ac_score>=0.8", a --versus or a --baseline.')
    usual = [] if rules or old is None else metrics or baseline.usual_metrics(old)
    named = [*(rule.metric for rule in rules), *usual, *(() if saved is None else saved.metrics)]
    inputs = inputs if saved is None else _thresholded(inputs, saved.best.threshold)
    evaluation, _ = evaluated(inputs, level=level, metrics=[*dict.fromkeys(named)])
    return evaluation, list(map(of_shell, evaluation.assumed))


def _against_model(
    inputs: Inputs,
    versus: str,
    requirements: tuple[str, ...],
    metrics: list[str] | None,
    level: float,
    asked: dict[str, Any],
) -> tuple[Gated, list[str]]:
    """The comparison with the other model by the metrics that the gate reads."""
    from steelyard.cli.versus_option import compare_versus
    from steelyard.gates.rules import read_rules

    if asked["baseline"] is not None or asked["guarantee"] is not None:
        raise InputError(
            "--versus holds against a model on the same rows; give --baseline and --guarantee by themselves."
        )
    named = dict.fromkeys(rule.metric for rule in read_rules(requirements, None))
    return compare_versus(inputs, versus, level, [*named] or metrics)


def _thresholded(inputs: Inputs, threshold: float) -> Inputs:
    """The inputs thresholded at a saved threshold."""
    if inputs.threshold is not None or inputs.pred or inputs.counts is not None:
        raise InputError(
            "--guarantee thresholds scores at the saved threshold; name their column with --score, and leave out "
            "--threshold, --pred and --counts."
        )
    return replace(inputs, threshold=threshold)


def _write(result: GateResult, output: Output) -> None:
    """The result to stdout, or to a file and its lines to stdout: of the verdict stdout is no part."""
    from steelyard.report.gate_text import GATE_FORMS

    form = GATE_FORMS.get(output.kind)
    text = result.to_json(indent=1) if form is None else form(result)
    if output.path is not None:
        output.write(text)
        text = GATE_FORMS["table"](result)
    print_verdict(text)
