"""Weighing: the commands that answer questions about a file of predictions."""

from __future__ import annotations

from typing import Any

import click

from steelyard.analysis.rows import json_text, strict
from steelyard.cli import declaring, reading, writing
from steelyard.cli.declaring import command
from steelyard.cli.wording import of_shell
from steelyard.errors import InputError

_COMPARISONS = ("table", "json", "csv", "html")
REPORTS = ("table", "json", "md", "csv", "html")


def evaluation(
    files: Any,
    counts: Any,
    positive: Any,
    threshold: Any,
    level: float,
    metrics: str | None,
    prevalence: Any = None,
    min_count: int = 0,
    cluster: str | None = None,
    **columns: Any,
) -> tuple[Any, reading.Weighed]:
    """The evaluation of what the command line names."""
    from dataclasses import replace

    from steelyard.evaluation.evaluate import evaluate
    from steelyard.ingest.label_overlap import check_met

    if cluster is not None:
        return _clustered(files, counts, positive, level, split(metrics), cluster, **columns)
    found = reading.weighed(files, counts, positive, threshold, **columns).with_groups_of(min_count)
    chosen = split(metrics)
    if found.tally.confusion is not None:
        check_met(found.tally.confusion)
    result = evaluate(found.tally, threshold=threshold, metrics=chosen, level=level, prevalence=prevalence)
    return replace(result, assumed=(*found.assumed, *result.assumed)), found


def _clustered(
    files: Any, counts: Any, positive: Any, level: float, metrics: Any, cluster: str, **columns: Any
) -> tuple[Any, reading.Weighed]:
    """The evaluation of rows that belong to clusters, which no saved table tells apart."""
    from dataclasses import replace

    from steelyard.evaluation.evaluate import evaluate
    from steelyard.statistics.tally import Tally

    if counts is not None or not files:
        raise InputError("--cluster names a column of a file of predictions; give the file.")
    with reading.opened(files) as source:
        chosen, assumed = reading.guessed(source, columns)
        chosen.pop("exact", None)
        found = evaluate(source, **chosen, cluster=cluster, pos_label=positive, level=level, metrics=metrics)
    result = replace(found, assumed=(*assumed, *found.assumed))
    return result, reading.Weighed(Tally(found.confusion), assumed, reading.named(files))


def spoken(found: Any) -> Any:
    """The evaluation with what it assumed in the words of the shell; a page keeps those of the library."""
    from dataclasses import replace

    return replace(found, assumed=tuple(map(of_shell, found.assumed)))


def split(names: str | None) -> list[str] | None:
    """The metrics of a list such as mcc,f_beta[beta=2]: commas inside brackets belong to a name."""
    if names is None:
        return None
    found, depth = [""], 0
    for sign in names:
        depth += (sign == "[") - (sign == "]")
        if sign == "," and not depth:
            found.append("")
        else:
            found[-1] += sign
    return [name.strip() for name in found if name.strip()]


@command
@declaring.weighed
@declaring.cluster
@declaring.level
@declaring.metrics
@click.option("--all", "everything", is_flag=True, help="Show every metric, not the usual few.")
@click.option(
    "--min-count",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Leave out groups with a cell of 1 to N-1 rows.",
)
@declaring.form(*REPORTS)
@declaring.output
def report(everything: bool, form: str | None, output: str | None, force: bool, **options: Any) -> None:
    """Evaluate the predictions in FILE: the verdict in words, then the metrics with intervals, beside chance.

    FILE is CSV, TSV, Parquet, Arrow, JSON lines (also packed by gzip or zstd), a pattern, - for the standard input,
    or a saved tally. Columns that are not named are looked for by their usual names, and it says so.
    """
    kind = writing.chosen(form, output, REPORTS)
    writing.check_free(output, force)
    found, source = evaluation(**options)
    if kind == "csv":  # which has no place for words
        reading.tell(source.assumed)
    writing.deliver(_reported(found if kind == "html" else spoken(found), kind, everything, source.name), output)


def _reported(found: Any, kind: str, everything: bool, name: str) -> str:
    from steelyard.report import terminal_summary

    if kind == "json":
        return json_text(found.to_dict(), indent=1)
    if kind == "md":
        return str(found.to_markdown())
    if kind == "csv":
        return terminal_summary.csv(found)
    if kind == "html":
        from steelyard.report.page import page

        return page(found, source=name)
    return terminal_summary.terminal(found, name, everything=everything)


@command
@declaring.files
@declaring.true
@declaring.models("give two or more")
@declaring.threshold
@declaring.positive
@declaring.frequency
@declaring.level
@declaring.metrics
@declaring.form(*_COMPARISONS)
@declaring.output
def compare(
    files: Any,
    true: str | None,
    preds: tuple[str, ...],
    scores: tuple[str, ...],
    threshold: float | None,
    positive: str | None,
    frequency: str | None,
    level: float,
    metrics: str | None,
    form: str | None,
    output: str | None,
    force: bool,
) -> None:
    """Tell whether models differ on the same rows of FILE, by every metric, with paired intervals and tests."""
    from steelyard.report import terminal_summary

    kind = writing.chosen(form, output, _COMPARISONS)
    writing.check_free(output, force)
    found, assumed = compared(
        files, true, preds, scores, positive, frequency, threshold=threshold, level=level, metrics=split(metrics)
    )
    if kind == "json":
        text = json_text({**found.to_dict(), "assumed": assumed}, indent=1)
    elif kind == "csv":
        reading.tell(assumed)
        text = terminal_summary.csv_rows(found.rows.to_dicts())
    elif kind == "html":
        from steelyard.report.page import comparison_page

        reading.tell(assumed)
        text = comparison_page(found, source=reading.named(files))
    else:
        text = terminal_summary.comparison(found, assumed)
    writing.deliver(text, output)


def compared(
    files: Any, true: Any, preds: Any, scores: Any, positive: Any, frequency: Any, **options: Any
) -> tuple[Any, list[str]]:
    """The comparison of the models that the command line names, and what was guessed."""
    from steelyard.analysis import comparison

    if bool(preds) == bool(scores):
        if not preds and (table := reading.saved(files[0]) if len(files) == 1 else None) and table.paired:
            return comparison.compare(table.paired, table.models or None, pos_label=positive, **options), []
        raise InputError("Name two or more models, all by --pred (labels) or all by --score (scores).")
    if not files:
        raise InputError("No input was named; give a file, or - for the standard input.")
    if scores and frequency is not None:
        raise InputError("--frequency is for labels: scores are compared row by row, each row once; leave it out.")
    names = list(preds or scores)
    with reading.opened(files) as source:
        chosen, assumed = reading.guessed(source, {"true": true, "pred": names[0]})
        found = comparison.compare(
            source, names, true=chosen["true"], scores=bool(scores), pos_label=positive, frequency=frequency, **options
        )
    return found, assumed


@command
@declaring.files
@declaring.true
@declaring.score
@click.option("--metric", default="informedness", show_default=True, metavar="NAME", help="The metric to be best.")
@click.option("--where", multiple=True, metavar="LIMIT", help='What a cut must keep, such as "specificity>=0.99".')
@declaring.positive
@declaring.weight
@declaring.frequency
@declaring.exact
@declaring.level
@declaring.form("table", "json")
@declaring.output
def threshold(
    files: Any,
    score: str | None,
    metric: str,
    where: tuple[str, ...],
    level: float,
    form: str | None,
    output: str | None,
    force: bool,
    positive: str | None,
    **columns: Any,
) -> None:
    """Find the cut of the scores in FILE at which a metric is best, and what it is worth on new rows."""
    from steelyard.analysis.best_threshold import best_threshold
    from steelyard.report import terminal_summary

    kind = writing.chosen(form, output, ("table", "json"))
    writing.check_free(output, force)
    found = reading.weighed(files, None, positive, None, cutting=True, pred=None, score=score, **columns)
    if found.tally.scores is None:
        raise InputError("A cut needs scores; name their column with --score.")
    if len(found.tally.scores.bins):
        found.assumed.append("Scores were counted in bins: the cuts between them were looked at.")
    best = best_threshold(found.tally.scores, metric=metric, where=list(where) or None, level=level)
    if kind == "json":
        text = json_text({**strict(best.row()), "level": level, "assumed": found.assumed}, indent=1)
    else:
        text = terminal_summary.cut(best, found.assumed)
    writing.deliver(text, output)


@command
@declaring.weighed
@click.option("--prevalence", type=float, required=True, metavar="P", help="The share of positives in use.")
@declaring.level
@declaring.metrics
@declaring.form("table", "json", "csv")
@declaring.output
def shift(prevalence: float, form: str | None, output: str | None, force: bool, **options: Any) -> None:
    """Tell what the metrics of FILE become where another share of the rows is positive."""
    from steelyard.evaluation.evaluate import evaluate
    from steelyard.report import terminal_summary

    kind = writing.chosen(form, output, ("table", "json", "csv"))
    writing.check_free(output, force)
    there, source = evaluation(prevalence=prevalence, **options)
    there = spoken(there)
    here = evaluate(
        source.tally, threshold=options["threshold"], metrics=split(options["metrics"]), level=options["level"]
    )
    if kind == "json":
        text = json_text({**there.to_dict(), "sample": here.metrics.to_dicts()}, indent=1)
    elif kind == "csv":
        reading.tell(source.assumed)
        text = terminal_summary.csv_rows(terminal_summary.shifted_rows(here, there))
    else:
        text = terminal_summary.shifted(here, there)
    writing.deliver(text, output)
