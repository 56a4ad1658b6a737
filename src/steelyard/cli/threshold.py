"""`steelyard threshold`: the threshold of the scores at which a metric is best, or errors cost least."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from steelyard.analysis.results.formatting import percent_text
from steelyard.analysis.results.result_json import saved_text, strict
from steelyard.cli import options
from steelyard.cli.class_decision import class_options, decide_classes
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions
from steelyard.cli.prevalence_option import prevalence_option
from steelyard.cli.result_output import FORMATS, write_result
from steelyard.evaluation.saved.saved_evaluation import prevalence_json
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.cli.outputs import Output

_COSTS = {
    "cost_fn": "What a false negative costs: a number, or the column of what each row costs.",
    "cost_fp": "What a false positive costs, 1 by default; a number or a column.",
    "cost_tp": "What a true positive costs, 0 by default; a number or a column.",
    "cost_tn": "What a true negative costs, 0 by default; a number or a column.",
    "benefit_tp": "What a true positive brings in, such as the amount that is saved; a number or a column.",
    "benefit_tn": "What a true negative brings in; a number or a column.",
}


def cost_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options about costs, which the function takes as one dictionary."""

    @wraps(function)
    def call(*arguments: object, **given: Any) -> None:
        named = {key: given.pop(key) for key in _COSTS}
        cost = {key: _number_or_column(key, text) for key, text in named.items() if text is not None}
        function(*arguments, cost=cost, **given)

    for key, about in reversed(_COSTS.items()):
        call = click.option(f"--{key.replace('_', '-')}", key, metavar="N|COL", help=about)(call)
    return call


def _number_or_column(key: str, text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        raise InputError(f"--{key.replace('_', '-')} is a finite number, or the name of a column, not {text!r}.")
    return number


def probability(_: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """A probability, or so many percent."""
    if text is None:
        return None
    number, percent, rest = text.partition("%")
    try:
        return float(number) / (100 if percent else 1) if not rest.strip() else float(text)
    except ValueError:
        raise InputError(f"--{option.name} is a probability such as 0.95, or 95%, not {text!r}.") from None


def use_option() -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`--use`, whose metric is the aim."""
    return click.option(
        "--use",
        metavar="USE",
        help="What the predictions are for: alerts (the best F1) or balance (the best AC-score).",
    )


@command
@options.inputs()
@click.option("--metric", metavar="NAME", help="The metric to maximise (or minimise).")
@use_option()
@click.option(
    "--where",
    multiple=True,
    metavar="LIMIT",
    help='A limit to keep, such as "recall>=0.9" or "alerts<=200 of 10000" rows a day; repeatable.',
)
@click.option(
    "--confidence",
    callback=probability,
    metavar="C",
    help="Keep all limits on new rows with this probability, such as 0.95 or 95%.",
)
@cost_options
@class_options
@prevalence_option()
@options.shared("level")
@options.output(*FORMATS)
def find_threshold(
    inputs: Inputs,
    metric: str | None,
    use: str | None,
    where: tuple[str, ...],
    confidence: float | None,
    cost: dict[str, float | str],
    cost_matrix: str | None,
    reject: float | None,
    reject_cost: float | None,
    prevalence: PrevalenceLike | None,
    level: float,
    output: Output,
) -> None:
    """Find the threshold of the scores in FILE at which a metric is best, or errors cost least, within limits.

    Without --metric, --use, --where or costs it lists operating points: thresholds with what each flags, finds and
    misses.

    With --confidence the limits hold on new rows with that probability; without it, the result says how likely each
    does. Saved as JSON, the result is what `steelyard gate --guarantee` holds new rows to. --score 'p_*' names the
    probabilities of every class: then each class gets a threshold, or costs decide, and --reject sends the least
    certain rows to a person. With --true 'y_*' as well rows may have several labels, and each label gets a threshold.
    """
    from steelyard.analysis.thresholds.best_threshold import best_threshold
    from steelyard.analysis.thresholds.operating_points import operating_points

    of_classes = {"cost_matrix": cost_matrix, "reject": reject, "reject_cost": reject_cost}
    asked: dict[str, Any] = {"where": list(where) or None, "confidence": confidence, "cost": cost or None}
    read = predictions(inputs, scores=True)
    if read.rows.given.is_frame and read.rows.kind == "class scores" and inputs.pos_label is None:
        _refuse_of_one(asked)
        decide_classes(read, inputs, {**of_classes, "metric": metric, "prevalence": prevalence, "level": level}, output)
        return
    if metric is None and use is None and not any(asked.values()) and not read.rows.are_sets:
        _refuse_of_classes(of_classes, prevalence)
        write_result(read.ask(operating_points, prevalence=prevalence, level=level), output, inputs.name)
        return
    asked |= {"metric": metric, "use": use, "prevalence": prevalence, "level": level}
    if read.rows.are_sets:
        if given := next((name for name, value in of_classes.items() if value is not None), None):
            raise InputError(f"--{given.replace('_', '-')} is of rows with one label each; labels take --metric alone.")
        write_result(read.call(best_threshold, **asked), output, inputs.name)
        return
    _refuse_of_classes(of_classes, prevalence)
    best = read.ask(best_threshold, **asked)
    assumed = [*best.assumed]
    if prevalence is not None:
        assumed.append(f"Metrics and limits are read at a prevalence of {_share(prevalence, level)}.")
    if output.kind == "json":
        plan = None if inputs.design in ("random", "stratified") else inputs.design
        question = {"cost": cost or None, "prevalence": prevalence_json(prevalence)}
        question |= {"cluster": inputs.cluster, "weight": inputs.weight, "plan": plan}
        notes = {"assumed": assumed, "notes": list(best.notes)}
        output.write(saved_text({**best.to_dict(), **strict(best.row()), **question, **notes}, indent=1))
    else:
        write_result(replace(best, assumed=tuple(assumed)), output, inputs.name)


def _refuse_of_one(asked: dict[str, Any]) -> None:
    """Refuse what is asked of one threshold where each class has a column of scores."""
    for name, value in asked.items():
        if value:
            option = "--cost-fn and the like" if name == "cost" else f"--{name}"
            raise InputError(
                f"{option} is of one threshold between two classes, and each class has a column of scores; name the "
                "positive one with --pos-label, or leave it out."
            )


def _refuse_of_classes(given: dict[str, float | str | None], prevalence: PrevalenceLike | None) -> None:
    """Refuse what is asked of many classes where one column of scores is named."""
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    named += ["--prevalence of classes"] if isinstance(prevalence, dict) else []
    if named:
        raise InputError(f"{named[0]} needs the probabilities of every class; name them with --score 'p_*'.")


def _share(prevalence: PrevalenceLike, level: float) -> str:
    from steelyard.analysis.prevalence.prevalence import Prevalence

    if isinstance(prevalence, Prevalence):
        return f"{prevalence.text(level)}, as it was estimated"
    return percent_text(float(prevalence))  # type: ignore[arg-type]  # one share, as the option is read
