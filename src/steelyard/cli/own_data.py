"""Own data: the options of `steelyard study` about a table of the user's own, handed over as one OwnData."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Label, Progress
    from steelyard.studies.study import Study


def _listed(_context: click.Context, _option: click.Parameter, text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


# What single studies take on a table of one's own: an option's name is the keyword of the study's function.
_OF_STUDIES: dict[str, Callable[..., Any]] = {
    "ratios": click.option(
        "--ratios",
        metavar="A:B,A:B",
        callback=_listed,
        help="Ratios at which rows are drawn. Of nguyen positives to negatives, of wu negatives to positives (N:P).",
    ),
    "positives": click.option(
        "--positives",
        metavar="S,S",
        callback=_listed,
        help="Of garcia: shares of positives at which rows are drawn, such as 0.05,0.1.",
    ),
    "threshold": click.option(
        "--threshold", metavar="T", help="Of garcia: the threshold of the scores, or prior for as many as are positive."
    ),
    "tolerance": click.option(
        "--tolerance", type=float, metavar="T", help="Of asawa: a change of a metric that is still called none."
    ),
    "metrics": options.shared("metrics"),
    "folds": click.option("--folds", type=int, metavar="K", help="Of kalita: the number of folds."),
    "repeats": click.option("--repeats", type=int, metavar="N", help="How often rows are drawn or split anew."),
}
_TABLE: dict[str, Callable[..., Any]] = {
    "files": click.option(
        "--data", "files", multiple=True, metavar="FILE", help="A table of your own to run the experiment on."
    ),
    "target": click.option("--target", metavar="COL", help="Of --data: the column to predict from the others."),
    "models": click.option(
        "--model",
        "models",
        multiple=True,
        metavar="NAME",
        help="Of --data: a model to fit, such as logistic, tree or MODULE:CLASS; repeatable.",
    ),
    "own": options.models("in place of a fitted one; repeatable"),
    "pos_label": options.shared(*options.POSITIVE),
}


@dataclass(frozen=True)
class OwnData:
    """The table that a command line names, its columns, and the study's own options."""

    files: tuple[str, ...] = ()
    target: str | None = None
    models: tuple[str, ...] = ()
    pred: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    pos_label: Label = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def given(self) -> bool:
        """Whether a table is named; what is about one alone is refused without it, and a table without its target."""
        about: dict[str, object] = {
            "target": self.target,
            "model": self.models,
            "pred": self.pred,
            "score": self.score,
        }
        about |= {"pos-label": self.pos_label, **self.options}
        unread = next((name for name, value in about.items() if value not in (None, ())), None)
        if not self.files and unread is not None:
            raise InputError(f"--{unread} is about a table of your own; name it with --data, or leave it out.")
        if self.files and self.target is None:
            raise InputError("--data names a table of your own; name the column to predict with --target.")
        if folder := next((name for name in self.files if Path(name).is_dir()), None):
            raise InputError(
                f"{folder!r} is a folder, and --data is a table of your own; --data-dir is the papers' folder."
            )
        return bool(self.files)

    def run(self, name: str, *, quick: bool, seed: int, progress: Progress | None) -> Study:
        """The study of this name on the table."""
        from steelyard.files.reading import load_columns
        from steelyard.studies import registry

        return registry.run_own(
            name,
            load_columns(self.files),
            str(self.target),
            source=" ".join(self.files),
            quick=quick,
            seed=seed,
            progress=progress,
            model=self.models,
            pred=self.pred,
            score=self.score,
            pos_label=self.pos_label,
            **self.options,
        )


def own_data(function: Callable[..., None]) -> Callable[..., None]:
    """The options about a table of one's own, which the function takes as `own`."""

    @wraps(function)
    def call(*arguments: object, **given: Any) -> None:
        names = ("files", "target", "models", "pred", "score", "pos_label")
        table = {name: given.pop(name) for name in names}
        of_study = {name: value for name in _OF_STUDIES if (value := given.pop(name)) is not None}
        function(*arguments, own=OwnData(**table, options=of_study), **given)

    decorated: Callable[..., None] = call
    for option in reversed([*_TABLE.values(), *_OF_STUDIES.values()]):
        decorated = option(decorated)
    return decorated
