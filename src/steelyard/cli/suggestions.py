"""Suggestions: what the shell offers for a value when the user presses TAB, with nothing heavy loaded."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Item: TypeAlias = CompletionItem[str]
    Suggest: TypeAlias = Callable[[click.Context, str], list[Item]]

_LONGEST_HEADER = 1_000_000  # letters of a first line that is still looked at
_BINARY = {".parquet": "read_parquet_schema", ".arrow": "read_ipc_schema", ".feather": "read_ipc_schema"}


class SuggestedText(click.types.StringParamType):
    """Text for which the shell has suggestions."""

    def __init__(self, suggest: Suggest) -> None:
        self._suggest = suggest

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Item]:  # noqa: ARG002 - click's own
        """What the value may be."""
        return self._suggest(ctx, incomplete)


def suggest_values(command: click.Command) -> click.Command:
    """The command with suggestions for its values, by what its help calls them."""
    for parameter in command.params:
        own = SUGGESTIONS.get(f"{command.name} {parameter.name}") or SUGGESTIONS.get(parameter.metavar or "")
        if own is not None:
            parameter.type = SuggestedText(own)
    return command


def _items(values: Iterable[str], incomplete: str) -> list[Item]:
    return [CompletionItem(value) for value in values if value.startswith(incomplete)]


# ---------------------------------------------------------------- columns


def _columns(ctx: click.Context, incomplete: str) -> list[Item]:
    """The columns of the first file that stands on the command line already."""
    files = [*(ctx.params.get("files") or ()), *filter(None, [ctx.params.get("against")])]
    names = column_names(Path(files[0])) if files else []
    if os.environ.get("_STEELYARD_COMPLETE") == "bash_complete":  # the other shells quote by themselves
        return [CompletionItem(shlex.quote(name)) for name in names if name.startswith(incomplete.strip("'\""))]
    return _items(names, incomplete)


def column_names(path: Path) -> list[str]:
    """The header of a file; nothing where it cannot be read at once."""
    packed = path.suffix == ".gz"
    ending = Path(path.stem).suffix if packed else path.suffix
    try:
        if ending in _BINARY:
            import polars as pl

            return list(getattr(pl, _BINARY[ending])(path))
        with gzip.open(path, "rt", encoding="utf-8-sig") if packed else path.open(encoding="utf-8-sig") as file:
            line = file.readline(_LONGEST_HEADER)
        if ending in (".jsonl", ".ndjson", ".json"):
            return list(json.loads(line))
        return next(csv.reader([line], delimiter="\t" if ending == ".tsv" else ","), [])
    except Exception:  # noqa: BLE001 - a shell that completes must not be disturbed, whatever the file is
        return []


# ---------------------------------------------------------------- metrics


def metric_meanings() -> dict[str, str]:
    """The metrics and their other names, with title and meaning, as the stub for editors holds them."""
    stub = (Path(__file__).parents[1] / "__init__.pyi").read_text(encoding="utf-8")
    found = re.findall(r'^(\w+): _\w+\n"""(.*?)"""$', stub, re.MULTILINE | re.DOTALL)
    return {name: " ".join(about.split()) for name, about in found}


def _metrics(ctx: click.Context, incomplete: str) -> list[Item]:  # noqa: ARG001 - as the others
    """Metrics by name; inside brackets their written forms."""
    if "[" in incomplete:
        return _items(_written_forms(incomplete.partition("[")[0]), incomplete)
    return [
        CompletionItem(name, help=about) for name, about in metric_meanings().items() if name.startswith(incomplete)
    ]


def _written_forms(name: str) -> list[str]:
    """A metric with each of its parameters, and with the averages."""
    from steelyard.metrics.call_options import AVERAGES
    from steelyard.metrics.registry import find

    if (metric := find(name)) is None:
        return []
    settings = [f"{key}={value}" for key, value in metric.parameters.items() if isinstance(value, (int, float, str))]
    return [f"{name}[{setting}]" for setting in (*settings, *(f"average={average}" for average in AVERAGES))]


def _metric_list(ctx: click.Context, incomplete: str) -> list[Item]:
    """The last of several metrics, the former kept."""
    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{item.value}", help=item.help) for item in _metrics(ctx, last)]


# ---------------------------------------------------------------- files and names


def _files(ctx: click.Context, incomplete: str) -> list[Item]:  # noqa: ARG001 - as the others
    return [CompletionItem(incomplete, type="file")]


def _folders(ctx: click.Context, incomplete: str) -> list[Item]:  # noqa: ARG001 - as the others
    return [CompletionItem(incomplete, type="dir")]


def _figures(ctx: click.Context, incomplete: str) -> list[Item]:  # noqa: ARG001 - as the others
    from steelyard.report.figures.figure_kinds import FIGURE_KINDS

    return _items(FIGURE_KINDS, incomplete)


def _studies(ctx: click.Context, incomplete: str) -> list[Item]:  # noqa: ARG001 - as the others
    from steelyard.studies import study_names

    return _items(study_names(), incomplete)


def _models(ctx: click.Context, incomplete: str) -> list[Item]:  # noqa: ARG001 - as the others
    from steelyard.protocol.named_models import MODELS

    return _items(MODELS, incomplete)


def _resamplers(ctx: click.Context, incomplete: str) -> list[Item]:  # noqa: ARG001 - as the others
    from steelyard.protocol.resample import SAMPLER_WORDS

    return _items(["none", *SAMPLER_WORDS, "SMOTE"], incomplete)


def _families(ctx: click.Context, incomplete: str) -> list[Item]:  # noqa: ARG001 - as the others
    from steelyard.metrics.registry import list_metrics

    return _items(dict.fromkeys(metric.family for metric in list_metrics()), incomplete)


def _codes(ctx: click.Context, incomplete: str) -> list[Item]:  # noqa: ARG001 - as the others
    from steelyard.evaluation.verdict.sentences import SEVERITIES

    return _items(SEVERITIES, incomplete)


def _uses(ctx: click.Context, incomplete: str) -> list[Item]:
    """The uses and profiles that there are, or a file of one's own."""
    from steelyard.metrics.uses import PROFILES, USES

    return _items([*USES, *PROFILES], incomplete) or _files(ctx, incomplete)


SUGGESTIONS: dict[str, Suggest] = {
    **dict.fromkeys(("COL", "COL=N", "ROW,LABEL", "SLICE"), _columns),
    "N|COL": _columns,
    **dict.fromkeys(
        (
            *(
                "FILE",
                "FILE...",
                "[FILE...]",
                "TALLY...",
                "OUT",
                "OLD.JSON",
                "CHOSEN.JSON",
                "PREDICTIONS",
                "/|FILE",
                "CSV",
                "A",
                "B",
            ),
            *("PLAN", "REF", "STATE.JSON", "OUT.HTML", "OUT.JSON"),
        ),
        _files,
    ),
    "DIR": _folders,
    "A,B": _metric_list,
    **dict.fromkeys(
        ("RULE", "LIMIT", "threshold metric", "plan metric", "slices metric", "explain name", "audit names"), _metrics
    ),
    "CODE": _codes,
    "plot kind": _figures,
    **dict.fromkeys(("report use", "compare use", "threshold use", "crossval use", "recommend use"), _uses),
    "study name": _studies,
    **dict.fromkeys(("crossval models", "resampling model", "study models"), _models),
    "crossval resample": _resamplers,
    "METRIC": _metrics,
    "metrics family": _families,
}
