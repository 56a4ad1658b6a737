"""Registry: the studies by name, and how one is run. Used by the command line and the tests."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from inspect import signature
from typing import TYPE_CHECKING, Any

from steelyard import __version__
from steelyard.errors import InputError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.studies.study import Study

STUDIES = ("nguyen", "asawa", "kalita", "wu", "garcia")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "matplotlib", "polars")
LAST_SEED = 2**31 - 1  # scikit-learn's seeds end at 2**32, and a study uses some that follow the one given


def descriptions() -> dict[str, str]:
    """Each study's name and what it is, by the first line of its module.

    >>> descriptions()["garcia"].startswith("García")
    True
    """
    return {name: str(_module(name).__doc__).partition("\n")[0] for name in STUDIES}


def run(
    name: str,
    *,
    quick: bool = False,
    data: Any = None,
    seed: int = 0,
    progress: Callable[[str], Any] | None = None,
    **options: Any,
) -> Study:
    """Run one study: `quick` on a part of the data, `data` the folder of the data sets, `progress` told each step.

    `options` are those of the study itself, such as nguyen's `overlap`, the paper's own draw of test texts.
    """
    module = _module(name)
    if not isinstance(seed, int) or not 0 <= seed <= LAST_SEED:
        raise InputError(f"seed is a whole number from 0 to {LAST_SEED:,}, not {seed!r}; give one of these.")
    for option in options:
        if option not in signature(module.run).parameters:
            raise InputError(f"The study {name} has no option {option!r}; leave it out.")
    start, cpu = time.perf_counter(), _cpu()
    found: Study = module.run(quick=quick, data=data, seed=seed, progress=progress or _silent, **options)
    choices = {"seed": seed, "quick": quick, **options} | found.choices
    seconds, cpu = time.perf_counter() - start, _cpu() - cpu
    return replace(found, choices=choices, environment=environment(), seconds=seconds, cpu=cpu)


def _cpu() -> float:
    """The seconds that this process and those it waited for were at work."""
    return sum(os.times()[:4])


def environment() -> dict[str, str]:
    """What the numbers were computed with."""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    known = {name: _version(name) for name in LIBRARIES}
    return {"steelyard": __version__, "python": platform.python_version(), **known, "machine": machine}


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def _module(name: str) -> Any:
    if name not in STUDIES:
        near = did_you_mean(name, STUDIES)
        raise UnknownNameError(f"There is no study {name!r}; there are {', '.join(STUDIES)}.{near}")
    return import_module(f"steelyard.studies.{name}")


def _silent(_: str) -> None:
    """Progress that nobody reads."""
