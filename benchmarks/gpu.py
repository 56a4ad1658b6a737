"""Speed and memory on a GPU: tensors of torch counted where they lie, beside torch's own sort and sums and the peers.

`make bench-gpu` writes the heading "On a GPU" of docs/benchmarks.md, and refuses to run without one. Equality with
NumPy comes first. `--out FOLDER` writes gpu.md and gpu.json there and leaves the page as it is; `--scale 0.01` takes a
hundredth of the rows; `--explain` shows what the works are made of. Needs torch, NumPy, SciPy and array-api-compat;
torchmetrics and scikit-learn stand beside it where they are installed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from benchmarks import page, surroundings, tables
from benchmarks.gpu_checks import check_equality, check_labels, check_no_waiting
from benchmarks.gpu_clock import Clock, Timed
from benchmarks.gpu_parts import explain
from benchmarks.gpu_works import areas, calibrations, classes, counts, evaluations, labels, peers

NO_GPU = "There is no GPU that torch can use here, and this benchmark is about nothing else; run make bench instead."
ABOUT = """\
Written by `make bench-gpu`: tensors of torch on the device, which stay there. The time is the median of {repeats} calls
after one that is not counted, with the device waited for before and after each; memory is the most that torch held
beyond the tensors themselves. Before anything is timed, the counts of {rows} rows equal NumPy's bit for bit, every metric
of their scores to 1e-12, and every end of an interval to 1e-9; so does `evaluate` of a tenth as many rows of 10 classes, and
`calibration` to 1e-9. An aim is how many times as long ours may take as what
stands beside it, or how much longer; rows that miss it stay."""


def compatibility() -> None:
    """array-api-compat, or where it is not installed the copy that SciPy or scikit-learn carries."""
    for name in (
        "array_api_compat",
        "scipy._external.array_api_compat",
        "scipy._lib.array_api_compat",
        "sklearn.externals.array_api_compat",
    ):
        try:
            sys.modules["array_api_compat"] = import_module(name)
        except ImportError:
            continue
        return
    sys.exit("array-api-compat is not installed; install steelyard[tensors].")


def section(torch, found: list[Timed], repeats: int, rows: int) -> str:
    """The heading of the page."""
    head = ("work", "beside", "ours", "theirs", "ratio", "aim", "memory, ours", "memory, theirs")
    cards = {torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())} or {"no GPU: a trial"}
    names = ("torch", "numpy", "scipy", "torchmetrics", "scikit-learn", "array-api-compat")
    versions = ", ".join(f"{name} {surroundings.version(name)}" for name in names)
    missed, aimed = sum(row.missed for row in found), sum(bool(row.aim) for row in found)
    about = ABOUT.format(repeats=repeats, rows=f"{rows:,}")
    where = f"{', '.join(sorted(cards))}, CUDA {torch.version.cuda}. {surroundings.told(None)} {versions}."
    return "\n\n".join(
        [
            page.ON_A_GPU,
            about,
            f"{missed} of the {aimed} rows with an aim miss it.",
            where,
            tables.markdown(head, [row.cells() for row in found]),
        ]
    )


def _labelled(small: int) -> int:
    """The rows of several labels each that are compared: more than are brought unasked."""
    return min(100_000, max(20_000, small))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench-gpu", description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, help="a folder for gpu.md and gpu.json; the page is left as it is")
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the rows that are taken")
    parser.add_argument("--device", default="cuda", help="cpu tries the works without a GPU, and writes no page")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--explain", action="store_true", help="time the parts of the works, and profile evaluate")
    parser.add_argument("--only", default="", help="areas, counts, evaluations, classes, calibrations, labels or peers")
    asked = parser.parse_args(arguments)
    try:
        import torch
    except ImportError:
        print("torch is not installed, and this benchmark is about its tensors.", file=sys.stderr)
        return 2
    if asked.device == "cuda" and not torch.cuda.is_available():
        print(NO_GPU, file=sys.stderr)
        return 2
    os.environ.setdefault(
        "SCIPY_ARRAY_API", "1"
    )  # for scikit-learn's own metrics of tensors; SciPy reads it at its start
    compatibility()
    if asked.device == "cpu":  # a trial of the device's own path, which NumPy would otherwise take over
        from steelyard.arrays import backend

        backend.is_on_host = lambda _: False
    clock, small = Clock(torch, asked.device, asked.repeats), int(1e7 * asked.scale)
    problems = [*check_equality(torch, asked.device, small), *check_labels(torch, asked.device, _labelled(small))]
    if problems:
        print("\n".join(problems), file=sys.stderr)
    else:
        print(f"Equal to NumPy on {small:,} rows.", flush=True)
    if asked.device == "cuda":
        check_no_waiting(torch, asked.device)
    works = {
        "areas": (areas, 1e9),
        "counts": (counts, 1e9),
        "evaluations": (evaluations, 1e8),
        "classes": (classes, 1e7),
        "calibrations": (calibrations, 1e8),
        "labels": (labels, 1e7),
        "peers": (peers, 1e8),
    }
    chosen = {name: part for name, part in works.items() if asked.only in name}
    found = [row for work, n in chosen.values() for row in work(clock, int(n * asked.scale))]
    if asked.explain:
        explain(clock, int(1e9 * asked.scale), int(1e8 * asked.scale))
    written = section(torch, found, asked.repeats, small)
    if asked.out is not None:
        (asked.out / "gpu.md").write_text(written + "\n", encoding="utf-8")
        (asked.out / "gpu.json").write_text(
            json.dumps({"rows": [asdict(row) for row in found], "unequal": problems}, indent=1), encoding="utf-8"
        )
    elif asked.device == "cuda" and not asked.only and not problems:
        page.write(page.with_section(page.OUT.read_text(encoding="utf-8"), written))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
