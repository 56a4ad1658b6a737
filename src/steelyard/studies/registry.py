"""The studies by name, and how one is run."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from steelyard._names import __version__
from steelyard.arrays.labels import RARER
from steelyard.exceptions import InputError, UnknownNameError, did_you_mean
from steelyard.studies import __path__ as folders
from steelyard.studies import study_names
from steelyard.studies.declared_study import LAST_SEED, DeclaredStudy, RunPlan
from steelyard.studies.own_table import own_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from steelyard._types import Frame, Label, Progress
    from steelyard.studies.study import Study

LIBRARIES = ("numpy", "scipy", "scikit-learn", "matplotlib", "polars")


def descriptions() -> dict[str, str]:
    """Each study's name and what it is, by the first line of its module.

    >>> descriptions()["garcia"].startswith("García")
    True
    """
    return {name: str(_module(name).__doc__).partition("\n")[0] for name in study_names()}


def run(
    name: str,
    *,
    quick: bool = False,
    data_dir: str | Path | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **options: int,
) -> Study:
    """Run one study on its paper's data: `quick` on a part, `data_dir` their folder, `progress` hears of each step.

    `options` are those of the study itself, such as nguyen's `overlap`, the paper's own draw of test texts.
    """
    study = _declared(name)
    _check(name, seed, options, study.options)
    plan = RunPlan(quick, data_dir, seed, progress or _silent)
    return _timed(lambda: study.run(plan, **options), {"seed": seed, "quick": quick, **options})


def run_own(
    name: str,
    table: Mapping[str, Any] | Frame,
    target: str,
    *,
    source: str = "your table",
    quick: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
    model: Sequence[str] = (),
    pred: Sequence[str] = (),
    score: Sequence[str] = (),
    pos_label: Label = None,
    **options: Any,
) -> Study:
    """Run the experiment of a study on a table of one's own, of which `target` is predicted from the other columns.

    `model` are short names or MODULE:CLASS of what is fitted, `pred` and `score` columns of predictions instead;
    `source` is what the page calls the table. `options` are those of the study itself.

    >>> from sklearn.datasets import load_breast_cancer
    >>> frame = load_breast_cancer(as_frame=True).frame
    >>> study = run_own("nguyen", frame, "target", model=["tree"], repeats=3)
    >>> study.own["target"], [table.name for table in study.tables]
    ('target', ['spread', 'test_sets'])
    """
    study = _declared(name)
    if study.own_options is None:
        raise InputError(f"The study {name} runs on the data of its paper alone; leave the table out.")
    _check(name, seed, options, study.own_options, " on a table of your own")
    rows = own_table(table, target, model=model, pred=pred, score=score, pos_label=pos_label)
    rule = {"rarer_positive": True} if pos_label is RARER else {"pos_label": pos_label}
    named = {"model": [*model], "pred": [*pred], "score": [*score], **rule, **options}
    own = {"data": source, "target": target} | {key: value for key, value in named.items() if value not in (None, [])}
    plan = RunPlan(quick, None, seed, progress or _silent)
    return _timed(lambda: replace(study.run_own(rows, plan, **options), own=own), {"seed": seed, "quick": quick})


def _check(name: str, seed: int, options: Iterable[str], known: Sequence[str], where: str = "") -> None:
    if not isinstance(seed, int) or not 0 <= seed <= LAST_SEED:
        raise InputError(f"seed is a whole number from 0 to {LAST_SEED:,}, not {seed!r}; give one of these.")
    for option in options:
        if option not in known:
            raise InputError(f"The study {name} has no option {option!r}{where}; leave it out.")


def _timed(work: Callable[[], Study], asked: dict[str, Any]) -> Study:
    """The study with what was asked for, what it ran on, and how long it took."""
    start, cpu = time.perf_counter(), _cpu()
    result = work()
    seconds, cpu = time.perf_counter() - start, _cpu() - cpu
    return replace(result, choices=asked | result.choices, environment=environment(), seconds=seconds, cpu=cpu)


def _cpu() -> float:
    """The seconds that this process and those it waited for were at work."""
    return sum(os.times()[:4])


def environment() -> dict[str, str]:
    """What the numbers were computed with."""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    versions = {name: _version(name) for name in LIBRARIES}
    return {"steelyard": __version__, "python": platform.python_version(), **versions, "machine": machine}


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def _declared(name: str) -> DeclaredStudy[Any]:
    """The declaration in a study's own module, after all modules that begin with its name have added to it."""
    module = _module(name)
    import_module(f"{__package__}.{name}_claims")  # first, so that its claims stand before those of other parts
    for part in iter_modules(folders):
        if part.name.startswith(f"{name}_"):
            import_module(f"{__package__}.{part.name}")
    (declared,) = (value for value in vars(module).values() if isinstance(value, DeclaredStudy))
    return declared


def _module(name: str) -> ModuleType:
    if name not in (names := study_names()):
        near = did_you_mean(name, names)
        raise UnknownNameError(f"There is no study {name!r}; there are {', '.join(names)}.{near}")
    return import_module(f"{__package__}.{name}")


def _silent(_: str) -> None:
    """Progress that nobody reads."""
