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
from steelyard.exceptions import InputError, UnknownNameError, did_you_mean
from steelyard.studies import __path__ as folders
from steelyard.studies import study_names
from steelyard.studies.declared_study import LAST_SEED, DeclaredStudy, RunPlan

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from steelyard._types import Progress
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
    data: str | Path | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **options: bool,
) -> Study:
    """Run one study: `quick` on a part of the data, `data` the folder of the data sets, `progress` hears of each step.

    `options` are those of the study itself, such as nguyen's `overlap`, the paper's own draw of test texts.
    """
    study = _declared(name)
    if not isinstance(seed, int) or not 0 <= seed <= LAST_SEED:
        raise InputError(f"seed is a whole number from 0 to {LAST_SEED:,}, not {seed!r}; give one of these.")
    for option in options:
        if option not in study.options:
            raise InputError(f"The study {name} has no option {option!r}; leave it out.")
    start, cpu = time.perf_counter(), _cpu()
    result = study.run(RunPlan(quick, data, seed, progress or _silent), **options)
    choices = {"seed": seed, "quick": quick, **options} | result.choices
    seconds, cpu = time.perf_counter() - start, _cpu() - cpu
    return replace(result, choices=choices, environment=environment(), seconds=seconds, cpu=cpu)


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
