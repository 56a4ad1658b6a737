"""The overview: every command in one table, which the help, the loader and the reference read.

A command lives in the module of its name. The table stands apart from them because importing click takes as long as
half of NumPy, and `steelyard --help` does without it.
"""

from __future__ import annotations

from typing import NamedTuple

ABOUT = "Evaluate classifiers on imbalanced data."


class CommandFacts(NamedTuple):
    """A command in one line, the public name that does the same in Python, another that does, and a word more."""

    about: str
    in_python: str
    more: str = ""
    also: str = ""


COMMANDS = {
    "report": CommandFacts(
        "Evaluate predictions: every metric with its confidence interval and no-skill baseline.",
        "evaluate",
        "`page`, or `to_html` of its result, writes the page",
    ),
    "compare": CommandFacts("Compare models on the same rows: differences, paired intervals and tests.", "compare"),
    "threshold": CommandFacts(
        "Find the best threshold for a metric, with its value on new rows; without an aim list operating points.",
        "best_threshold",
        "or `operating_points`",
        also="operating_points",
    ),
    "calibration": CommandFacts(
        "Judge predicted probabilities: calibration slope, reliability curve, a test, and what to do next.",
        "calibration",
    ),
    "groups": CommandFacts(
        "Compare groups of rows: a test that all are equal, differences, and gaps of their rates.", "compare_groups"
    ),
    "errors": CommandFacts("List the false negatives and false positives, worst first.", "errors"),
    "slices": CommandFacts(
        "Find the slices of the rows in which a metric is worse than elsewhere, with false discoveries controlled.",
        "slices",
    ),
    "shift": CommandFacts(
        "Re-estimate the metrics at another prevalence.",
        "at_prevalence",
        "or `evaluate(..., prevalence=...)` for the whole report",
    ),
    "drift": CommandFacts(
        "Split what changed between periods into a part by the prevalence and one by the classifier.", "drift"
    ),
    "unlabelled": CommandFacts(
        "Estimate the prevalence and the metrics of unlabelled rows by their scores and a labelled reference.",
        "unlabelled",
    ),
    "gate": CommandFacts(
        "Pass or fail predictions by rules on their metrics, for continuous integration.",
        "gate",
        "of what `evaluate` or `compare` returns; `assert_gate` is the same in a test",
    ),
    "log": CommandFacts(
        "Keep an evaluation in a ledger, with tags such as model=v3.", "Ledger", "`log` of it keeps an evaluation"
    ),
    "history": CommandFacts(
        "List kept evaluations: metrics over time with their intervals, also as a page.",
        "Ledger",
        "`history` of it, whose result has `to_html`",
    ),
    "diff": CommandFacts(
        "Compare two evaluations: what changed by more than chance, and what differs in the data.",
        "Ledger",
        "`compare` of it takes ids, tags or evaluations",
    ),
    "plan": CommandFacts("Choose which rows to label, so that a metric is known best by so many labels.", "label_plan"),
    "watch": CommandFacts(
        "Follow a model batch by batch, with alarms that may be looked at daily.",
        "Monitor",
        "its `update`, `predict` and `label` take the batches, `result` has the alarms",
    ),
    "tally": CommandFacts("Count a file into a confusion matrix or score table, and save it.", "tally"),
    "sql": CommandFacts(
        "Print the query that counts a table of predictions inside its database.",
        "sql",
        "`tally` reads what the query gives",
    ),
    "merge": CommandFacts("Merge saved tables.", "tables.Tally", "`+` adds two of them"),
    "plot": CommandFacts(
        "Draw a figure for a paper: ROC, precision-recall, intervals and more.",
        "figures.plot",
        "or one Display per kind of figure",
    ),
    "crossval": CommandFacts("Cross-validate models: fit on parts of a table, test on the rest.", "cross_evaluate"),
    "resampling": CommandFacts(
        "Judge whether resampling gains anything that a moved threshold does not.", "studies.resampling_study"
    ),
    "study": CommandFacts(
        "Reproduce the experiment of a paper, or run it on a table of your own.",
        "steelyard.studies.registry.run",
        "`run_own` beside it takes a table",
    ),
    "metrics": CommandFacts(
        "List the metrics: name, range, best value, meaning.", "list_metrics", "`explain()` prints the list"
    ),
    "explain": CommandFacts(
        "Explain a metric: formula, meaning, range, source, an example.",
        "explain",
    ),
    "audit": CommandFacts("Prove or refute properties of metrics, or of a function of your own.", "audit"),
    "recommend": CommandFacts("Recommend the number to read for a use, with its reason and its sources.", "recommend"),
    "completion": CommandFacts(
        "Make TAB complete commands, options, columns and metrics in bash, zsh or fish.",
        "steelyard.cli.completion.completion_script",
    ),
    "demo": CommandFacts(
        "Train two classifiers on embedded data, then report, compare and find a threshold.",
        "steelyard.datasets.digits.write_predictions",
        "then `evaluate`, `compare` and `best_threshold`",
    ),
}

ANSWERED = {  # commands that are answered and not listed: others do the same
    "operating-points": CommandFacts(
        "List operating points: thresholds with what each flags, finds and misses.", "operating_points"
    ),
}


def overview() -> str:
    """What `steelyard --help` prints."""
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {name:{width}}{facts.about}" for name, facts in COMMANDS.items()]
    last = "`steelyard COMMAND --help` shows the options of one. `steelyard --version` shows the version."
    return "\n".join(["Usage: steelyard COMMAND [OPTIONS]", "", f"  {ABOUT}", "", "Commands:", *lines, "", last])
