"""The decision: what errors cost and which limits are to be kept, and the threshold that follows from them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.analysis.thresholds.decision_curve import WORTH_SHOWING
from steelyard.analysis.thresholds.guarantees import SEQUENCE_STARTS
from steelyard.analysis.thresholds.threshold_sample import PLATEAU
from steelyard.evaluation.verdict import decision_sentence as words
from steelyard.report.pages.controls import MenuEntry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.tables.score_table import ScoreTable

_MOST_COMMAND = 400  # characters of a file, its columns and the class that a person would paste
_WHYS = {
    "weighted": "Rows have weights: a promise with a confidence needs draws, which the page cannot repeat, so limits "
    "are those of these rows. The command takes --confidence.",
    "planned": "The rows were chosen by a label plan, with which no promise with a confidence was tried: limits are "
    "those of these rows.",
    "clustered": "Rows are clustered: a promise with a confidence needs the clusters, which the page does not keep, so "
    "limits are those of these rows. The command takes --confidence.",
}
_NOTES = {
    "plateau": "{with} cost is about as low (within {within}) from threshold {low} to {high}.",
    "limited": "With the limits kept, the",
    "alone": "No threshold beside it costs about as little (within {within}).",
    "held": "The page holds {held} of {all} thresholds; the command searches all, and may find one that costs less.",
    "mend": "There is no answer yet; {entry}: {why}",
    "gate": "steelyard gate reads rows at their own prevalence; enter a limit to hold new rows to.",
}
_LIMIT_NOTES = {
    "unmet": "No threshold reaches {limit}{others}; the nearest is {value}.",
}
_PROMISE_NOTES = {
    "unkept": "No threshold keeps {limits} with {confidence} confidence.",
    "trivial": "Only flagging nobody or everybody keeps {limits} with {confidence} confidence, which needs no model.",
    "needed": "{limits} with {confidence} confidence needs at least {rows} {kind}; here are {there}.",
    "never": "No number of rows shows {limits} with {confidence} confidence: it leaves no room for a single error.",
    "more": "The rows would be enough; the scores meet the limits by too little, or not at all.",
    "shifted": "At another prevalence than the sample's a promise of {titles} needs draws, which the page cannot "
    "repeat, so limits are those of these rows; add --confidence {confidence} to the command.",
}
_WRONG = {
    "cost": "A number from 0.0001 to 1,000,000.",
    "alerts": "A whole number, at most the rows a day.",
    "rows": "A whole number from 1 to 1,000,000,000.",
    "prevalence": "Above 0 % and below 100 %.",
    "share": "A percentage from 0 to 100.",
}
_SHORT = {"negative_predictive_value": "NPV"}
_NOTHING = (
    "Nothing is advised until you enter what a miss costs, or how many alerts there is room for; or choose "
    "an operating point."
)
_UNNAMED = "The rows did not come from one file with named columns: put your own in place of these names."


@dataclass(frozen=True)
class _Entry:
    """A number to enter: its label, unit, step and the value it has before anybody enters one."""

    key: str
    label: str
    unit: str = "%"
    step: str = "any"
    value: str = ""
    placeholder: str = " "


@dataclass(frozen=True)
class Decision:
    """What the bar asks, what it says until anything is entered, and what its script computes with."""

    entries: Mapping[str, Any]
    confidences: Sequence[MenuEntry]
    exact: bool
    nothing: str
    data: Mapping[str, Any]


def decision(evaluation: Evaluation, data: Mapping[str, Any]) -> Decision:
    """The decision of a two-class page with scores, whose numbers the payload of the page holds."""
    scores = evaluation.scores
    assert scores is not None  # noqa: S101 - the page has scores
    kind = "planned" if evaluation.is_planned else "clustered" if evaluation.is_clustered else "weighted"
    why = _WHYS[kind] if evaluation.is_clustered or scores.weighted else ""
    share = data["stops"][data["stop"]]
    more = [_Entry("prevalence", "prevalence, exactly", value=f"{100 * share:.3g}")]
    more += [_Entry(name, f"{_SHORT.get(name, title)}, at least") for name, title in words.TITLES.items()]
    asked = {
        "cost": _Entry("cost", "a miss costs", "false alarms"),
        "alerts": _Entry("alerts", "alerts a day", "of", "1"),
        "rows": _Entry("rows", "rows a day", "rows", "1", placeholder=str(data["headline"]["base"])),
    }
    return Decision({**asked, "more": more}, _confidences(), not why, _NOTHING, _data(evaluation, scores, why))


def _confidences() -> list[MenuEntry]:
    levels = ("80", "90", "95", "99")
    return [
        MenuEntry("", "none", chosen=False),
        *(MenuEntry(f"{int(level) / 100}", f"{level}\N{NO-BREAK SPACE}%", level == "95") for level in levels),
    ]


def _data(evaluation: Evaluation, scores: ScoreTable, why: str) -> dict[str, Any]:
    """What the script reads: constants of the rule, the phrases it fills, and the commands it adds options to."""
    file, named = _file(evaluation)
    data = {
        "exact": not why,
        "why": why,
        "plateau": PLATEAU,
        "worth": WORTH_SHOWING,
        "nothing": _NOTHING,
        "menu": {"cost": 10, "recall": 0.9, "confidence": 0.95},  # as `operating_points` has them
        "file": file,
        "unnamed": "" if named else _UNNAMED,
        "rules": words.RULES,
        "rows": words.decision_rows(planned=evaluation.is_planned),
        "is_gated": not evaluation.is_planned,
        "parts": words.DECISION_PARTS,
        "frames": words.FRAMES,
        "cost": words.COST,
        "ratio": words.RATIO,
        "titles": words.TITLES,
        "here": [words.HERE, words.HERE_ALERTS],
        "notes": _NOTES | _LIMIT_NOTES,
        "wrong": _WRONG,
    }
    return data if why else data | _promise_data(scores, data)


def _promise_data(scores: ScoreTable, data: Mapping[str, Any]) -> dict[str, Any]:
    """What is needed where limits can be promised."""
    return {
        "n": [scores.positive.n, scores.negative.n],
        "starts": SEQUENCE_STARTS,
        "least": [words.LIMIT_LEAST, words.LIMIT_MOST],
        "promised": words.PROMISED,
        "here": [*data["here"], words.LIMIT_CHANCE],
        "notes": data["notes"] | _PROMISE_NOTES,
    }


def _file(evaluation: Evaluation) -> tuple[str, bool]:
    """The file and its columns as a shell takes them, and whether the evaluation names them."""
    columns, source = evaluation.columns, evaluation.source or ""
    label = None if evaluation.scores is None else evaluation.scores.label
    options = {use: columns.get(use) for use in ("true", "score", "weight", "frequency", "cluster", "design")}
    named = {use: name for use, name in options.items() if isinstance(name, str)}
    parts = [f"./{source}" if source.startswith("-") else source, *_options(named)]
    parts += [] if label is None else _options({"pos-label": str(label)})
    line = shlex.join(parts)
    needed = {"true", "score", *(["design"] if evaluation.is_planned else [])}
    is_file = source and needed <= named.keys() and not re.search(r" and \d+ more$", source)
    if is_file and len(line) <= _MOST_COMMAND and line.isprintable():
        return line, True
    by_plan = " --design plan.csv" if evaluation.is_planned else ""
    return f"predictions.csv --true label --score score{by_plan}", False


def _options(named: Mapping[str, str]) -> list[str]:
    """Options and their values, in one word where the value could be taken for an option."""
    return [
        part for use, name in named.items() for part in ([f"--{use}={name}"] if name[:1] == "-" else [f"--{use}", name])
    ]
