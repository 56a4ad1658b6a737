"""The overview: every command in one table, which the help, the loader and the reference read.

A command lives in the module of its name. The table stands apart from them because importing click takes as long as
half of NumPy, and `steelyard --help` does without it.
"""

from __future__ import annotations

from typing import NamedTuple

ABOUT = "Weigh classifiers whose classes are unequal."


class CommandFacts(NamedTuple):
    """What is said of a command: in one line, which public name does the same in Python, and a word more on that."""

    about: str
    in_python: str
    more: str = ""


COMMANDS = {
    "report": CommandFacts(
        "Evaluate a file of predictions: every metric, how sure it is, and what guessing would score.",
        "evaluate",
        "`page`, or `to_html` of its answer, writes the page",
    ),
    "compare": CommandFacts("Tell whether one model beats another on the same rows.", "compare"),
    "threshold": CommandFacts("Find the cut of the scores at which a metric is best.", "best_threshold"),
    "shift": CommandFacts(
        "Tell what the metrics become at another prevalence.",
        "at_prevalence",
        "or `evaluate(..., prevalence=...)` for all that report tells",
    ),
    "gate": CommandFacts(
        "Pass or fail predictions by rules on their metrics, for continuous integration.",
        "evaluate",
        "then a comparison of your own with its values, `low` and `high`",
    ),
    "tally": CommandFacts("Weigh a file into a small table and save it.", "tally"),
    "merge": CommandFacts("Add up saved tables.", "Tally", "`+` adds two of them"),
    "plot": CommandFacts(
        "Draw a figure for a paper: ROC, precision-recall, intervals and more.",
        "ConfusionDisplay",
        "and the other displays, one a kind of figure",
    ),
    "crossval": CommandFacts("Fit models on parts of a table and test them on the rest.", "cross_evaluate"),
    "study": CommandFacts(
        "Run the experiment of a paper again, its numbers beside ours.", "steelyard.studies.registry.run"
    ),
    "metrics": CommandFacts("List the metrics: name, range, best value, meaning.", "list_metrics"),
    "explain": CommandFacts(
        "Explain a metric: formula, meaning, range, source, an example.",
        "get_metric",
        "its answer has the formula, the meaning, the range and the source",
    ),
    "audit": CommandFacts("Prove or refute the properties of metrics, or of a function of yours.", "audit"),
    "recommend": CommandFacts("Recommend metrics for a problem, with the properties that decided.", "recommend"),
    "demo": CommandFacts(
        "Train two classifiers on embedded data, then report, compare and cut.",
        "steelyard.datasets.digits.write_predictions",
        "then `evaluate`, `compare` and `best_threshold`",
    ),
}


def overview() -> str:
    """What `steelyard --help` prints."""
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {name:{width}}{facts.about}" for name, facts in COMMANDS.items()]
    last = "`steelyard COMMAND --help` tells the options of one. `steelyard --version` tells the version."
    return "\n".join(["Usage: steelyard COMMAND [OPTIONS]", "", f"  {ABOUT}", "", "Commands:", *lines, "", last])
