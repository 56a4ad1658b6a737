"""The door of the command line: help and version at once, the commands themselves when one is called.

Importing click takes as long as half of NumPy, so `steelyard --help` does without it; both read the table below.
"""

from __future__ import annotations

import sys

from steelyard import __version__

ABOUT = "Weigh classifiers whose classes are unequal."
COMMANDS = {
    "report": "Evaluate a file of predictions: every metric, how sure it is, and what guessing would score.",
    "compare": "Tell whether one model beats another on the same rows.",
    "threshold": "Find the cut of the scores at which a metric is best.",
    "shift": "Tell what the metrics become at another prevalence.",
    "gate": "Pass or fail predictions by rules on their metrics, for continuous integration.",
    "tally": "Weigh a file into a small table and save it.",
    "merge": "Add up saved tables.",
    "plot": "Draw a figure for a paper: ROC, precision-recall, intervals and more.",
    "crossval": "Fit models on parts of a table and test them on the rest.",
    "study": "Run the experiment of a paper again, its numbers beside ours.",
    "metrics": "List the metrics: name, range, best value, meaning.",
    "explain": "Explain a metric: formula, meaning, range, source, an example.",
    "audit": "Prove or refute the properties of metrics, or of a function of yours.",
    "recommend": "Recommend metrics for a problem, with the properties that decided.",
    "demo": "Train two classifiers on embedded data, then report, compare and cut.",
}


def overview() -> str:
    """What `steelyard --help` prints."""
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {name:{width}}{about}" for name, about in COMMANDS.items()]
    return "\n".join(
        [
            "Usage: steelyard COMMAND [OPTIONS]",
            "",
            f"  {ABOUT}",
            "",
            "Commands:",
            *lines,
            "",
            "`steelyard COMMAND --help` tells the options of one. `steelyard --version` tells the version.",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    words = sys.argv[1:] if arguments is None else arguments
    if words in ([], ["-h"], ["--help"]):
        print(overview())  # noqa: T201 - the one print of the project: click is not loaded here
    elif words == ["--version"]:
        print(f"steelyard {__version__}")  # noqa: T201 - as above
    else:
        _run(words)


def _run(words: list[str]) -> None:
    """Run a command; an interruption at any moment leaves by the front door, so that temporary files are removed."""
    import signal

    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda number, _: sys.exit(128 + number))
    try:
        from steelyard.cli.commands import commands

        commands.main(words, prog_name="steelyard")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
