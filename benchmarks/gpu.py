"""Speed and memory on a GPU: tensors of torch counted where they lie, beside torch's own sort and sums and the peers.

`make bench-gpu` writes the heading "On a GPU" of docs/benchmarks.md, and refuses to run without one. Equality with
NumPy comes first. `--out FOLDER` writes gpu.md and gpu.json there and leaves the page as it is; `--scale 0.01` takes a
hundredth of the rows; `--explain` shows what the works are made of. Needs torch, NumPy, SciPy and array-api-compat;
torchmetrics and scikit-learn stand beside it where they are installed.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np

import steelyard
from benchmarks import page, surroundings, tables

TITLE = "On a GPU"
NO_GPU = "There is no GPU that torch can use here, and this benchmark is about nothing else; run make bench instead."
ABOUT = """\
Written by `make bench-gpu`: tensors of torch on the device, which stay there. The time is the median of {repeats} calls
after one that is not counted, with the device waited for before and after each; memory is the most that torch held
beyond the tensors themselves. Before anything is timed, the counts of {rows} rows equal NumPy's bit for bit, every metric
of their scores to 1e-12, and every end of an interval to 1e-9. An aim is how many times as long ours may take as what
stands beside it, or how much longer; rows that miss it stay."""


@dataclass
class Timed:
    """A work of the table: seconds and bytes of ours and of what stands beside it, and what was aimed at."""

    work: str
    beside: str
    ours: float | None = None
    theirs: float | None = None
    aim: str = ""
    missed: bool = False
    memory: int | None = None
    their_memory: int | None = None
    failed: str = ""

    def cells(self) -> tuple[str, ...]:
        if self.ours is None or self.theirs is None:
            return (
                self.work,
                self.beside,
                *(f"{s * 1e3:.1f} ms" if s else "" for s in (self.ours, self.theirs)),
                self.failed or "not installed",
                "",
                "",
                "",
            )
        ratio = (
            f"{self.ours / self.theirs:.2f} x as long"
            if self.ours > self.theirs
            else f"{self.theirs / self.ours:.1f} x faster"
        )
        times = (f"{self.ours * 1e3:.1f} ms", f"{self.theirs * 1e3:.1f} ms")
        return (
            self.work,
            self.beside,
            *times,
            ratio,
            self.aim + (", missed" if self.missed else ""),
            _gigabytes(self.memory),
            _gigabytes(self.their_memory),
        )


def _gigabytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1e9:.2f} GB"


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


class Clock:
    """Times works on one device."""

    def __init__(self, torch, device: str, repeats: int) -> None:
        self.torch, self.device, self.repeats = torch, device, repeats

    def wait(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def seconds(self, work, repeats: int | None = None) -> float:
        work()
        times = []
        for _ in range(repeats or self.repeats):
            self.wait()
            start = time.perf_counter()
            work()
            self.wait()
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    def memory(self, work) -> int | None:
        if self.device != "cuda":
            return None
        self.wait()
        before = self.torch.cuda.memory_allocated()
        self.torch.cuda.reset_peak_memory_stats()
        result = work()
        self.wait()
        del result
        return self.torch.cuda.max_memory_allocated() - before


def rows_of(torch, device: str, n: int, share: float, seed: int = 0):
    """Labels of int64 and probabilities of float32 on the device."""
    made = torch.Generator(device=device).manual_seed(seed)
    truth = (torch.rand(n, generator=made, device=device) < share).to(torch.int64)
    scores = torch.randn(n, generator=made, device=device).add_(truth, alpha=1.5).sub_(2)
    return truth, scores.sigmoid_()


# ---------------------------------------------------------------- equality first


def check_equality(torch, device: str, n: int) -> list[str]:
    """What differs from NumPy's answers on the same rows."""
    problems = []
    for share in (0.01, 0.5):
        truth, scores = rows_of(torch, device, n, share)
        y, s = truth.cpu().numpy(), scores.cpu().numpy()
        predicted = (scores >= 0.5).to(torch.int64)
        many, guessed = (torch.randint(0, 10, (n,), device=device) for _ in range(2))
        for t, p in ((truth, predicted), (many, guessed)):
            if steelyard.confusion(t, p) != steelyard.confusion(t.cpu().numpy(), p.cpu().numpy()):
                problems.append(f"confusion of {n:,} rows at {share:.0%}")
        ours, numpys = (steelyard.evaluate(a, y_score=b) for a, b in ((truth, scores), (y, s)))
        for mine, other in zip(ours, numpys, strict=True):
            if not np.isclose(mine.value, other.value, rtol=1e-12, atol=1e-14, equal_nan=True):
                problems.append(f"{mine.name} at {share:.0%}: {mine.value!r}, NumPy has {other.value!r}")
            if not np.allclose([mine.low, mine.high], [other.low, other.high], rtol=1e-9, atol=1e-12, equal_nan=True):
                problems.append(
                    f"interval of {mine.name} at {share:.0%}: {mine.low, mine.high}, NumPy has {other.low, other.high}"
                )
    return problems


def check_no_waiting(torch, device: str) -> None:
    """Count batches with every wait of torch for the device an error; the first batch sends the labels there."""
    seen = steelyard.Accumulator(labels=[0, 1])
    truth, scores = rows_of(torch, device, 10_000, 0.5)
    predicted = (scores >= 0.5).to(torch.int64)
    seen.update(truth, predicted, sample_weight=scores)
    torch.cuda.set_sync_debug_mode("error")
    try:
        seen.update(truth, predicted, sample_weight=scores)
        seen.update(truth, predicted)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert seen.result().rows.sum() == 30_000
    print("Accumulator.update does not wait for the device.", flush=True)


# ---------------------------------------------------------------- works


def beside(
    clock: Clock,
    work: str,
    peer: str,
    ours,
    theirs,
    most: float | None = None,
    extra: float | None = None,
    repeats: int | None = None,
) -> Timed:
    """One row: both works timed, and whether ours takes at most so many times as long, or so much longer."""
    row = Timed(work, peer, aim=f"at most {most:g} x" if most else f"at most {extra * 1e3:g} ms more" if extra else "")
    try:
        row.ours, row.memory = clock.seconds(ours), clock.memory(ours)
        row.theirs, row.their_memory = clock.seconds(theirs, repeats), clock.memory(theirs)
    except Exception as error:  # noqa: BLE001 - of a peer, or of a device that is too small: the row says so
        row.failed = f"failed: {type(error).__name__}: {str(error).partition(chr(10))[0]:.100}"
        return _shown(row)
    limit = row.theirs * most if most else row.theirs + extra if extra else None
    row.missed = limit is not None and row.ours > limit
    return _shown(row)


def _shown(row: Timed) -> Timed:
    print("  ".join(f"{cell:<28}" for cell in row.cells()), flush=True)
    return row


def areas(clock: Clock, n: int) -> list[Timed]:
    return [row for share in (0.01, 0.5) for row in _areas(clock, n, share)]


def _areas(clock: Clock, n: int, share: float) -> list[Timed]:
    torch, found = clock.torch, []
    truth, scores = rows_of(torch, clock.device, n, share)
    for metric, most in ((steelyard.roc_auc, 2.5), (steelyard.average_precision, None)):
        what = f"{metric.name}, {n:.0e} float32 scores, {share:.0%} positive"
        ours, theirs = partial(metric, truth, scores), partial(torch.sort, scores)
        found.append(beside(clock, what, "torch.sort of the scores", ours, theirs, most=most))
    return found


def counts(clock: Clock, n: int) -> list[Timed]:
    torch = clock.torch
    truth, scores = rows_of(torch, clock.device, n, 0.1)
    two = (truth, (scores >= 0.5).to(torch.int64))
    del scores
    found = [_counts(clock, f"confusion, {n:.0e} int64 labels of 2 classes", *two, most=2)]
    found.append(
        _counts(clock, f"confusion, {n:.0e} uint8 labels of 2 classes", *(part.to(torch.uint8) for part in two))
    )
    del two
    ten = (torch.randint(0, 10, (n,), device=clock.device) for _ in range(2))
    return [*found, _counts(clock, f"confusion, {n:.0e} int64 labels of 10 classes", *ten)]


def _counts(clock: Clock, what: str, truth, predicted, most: float | None = None) -> Timed:
    ours = partial(steelyard.confusion, truth, predicted)
    return beside(clock, what, "torch, both sums", ours, lambda: (truth.sum(), predicted.sum()), most=most)


def evaluations(clock: Clock, n: int) -> list[Timed]:
    return [row for share in (0.01, 0.5) for row in _evaluations(clock, n, share)]


def _evaluations(clock: Clock, n: int, share: float) -> list[Timed]:
    truth, scores = rows_of(clock.torch, clock.device, n, share)
    what = f"evaluate, all metrics with intervals, {n:.0e} scores, {share:.0%} positive"
    ours, area = partial(steelyard.evaluate, truth, y_score=scores), partial(steelyard.roc_auc, truth, scores)
    few, some = truth[:10_000].cpu().numpy(), scores[:10_000].cpu().numpy()
    host = partial(steelyard.evaluate, few, y_score=some)
    found = [beside(clock, what, "roc_auc of the same", ours, area, extra=0.05)]
    found.append(beside(clock, what, "evaluate of 1e4 rows by NumPy: what the host takes", ours, host))
    return found


def peers(clock: Clock, n: int) -> list[Timed]:
    truth, scores = rows_of(clock.torch, clock.device, n, 0.1)
    predicted = (scores >= 0.5).to(clock.torch.int64)
    ours = {
        "confusion": partial(steelyard.confusion, truth, predicted),
        "roc_auc": partial(steelyard.roc_auc, truth, scores),
        "average_precision": partial(steelyard.average_precision, truth, scores),
    }
    found = []
    for peer, works in (("torchmetrics", _torchmetrics), ("scikit-learn", _sklearn)):
        try:
            theirs = works(truth, predicted, scores)
        except ImportError:
            found.append(_shown(Timed("", peer)))
            continue
        found += [
            beside(clock, f"{what}, {n:.0e} rows", f"{peer} on tensors", ours[what], work, most=1, repeats=3)
            for what, work in theirs.items()
        ]
    return found


def _torchmetrics(truth, predicted, scores):
    from torchmetrics.functional.classification import binary_auroc, binary_average_precision, binary_confusion_matrix

    return {
        "confusion": partial(binary_confusion_matrix, predicted, truth),
        "roc_auc": partial(binary_auroc, scores, truth),
        "average_precision": partial(binary_average_precision, scores, truth),
    }


def _sklearn(truth, predicted, scores):
    import sklearn
    from sklearn import metrics

    def on_tensors(work, *given):
        with sklearn.config_context(array_api_dispatch=True):
            return work(*given)

    return {
        "confusion": partial(on_tensors, metrics.confusion_matrix, truth, predicted),
        "roc_auc": partial(on_tensors, metrics.roc_auc_score, truth, scores),
        "average_precision": partial(on_tensors, metrics.average_precision_score, truth, scores),
    }


# ---------------------------------------------------------------- what the works are made of


def explain(clock: Clock, n: int, many: int) -> None:
    """Print the times of the parts of the works, and a profile of evaluate."""
    for share in (0.01, 0.5):
        _explain(clock, n, share)
    truth, scores = rows_of(clock.torch, clock.device, many, 0.5)
    for _ in range(2):
        profile = cProfile.Profile()
        profile.runcall(steelyard.evaluate, truth, y_score=scores)
    for order in ("tottime", "cumtime"):
        pstats.Stats(profile, stream=sys.stdout).sort_stats(order).print_stats(45)


def _explain(clock: Clock, n: int, share: float) -> None:
    torch = clock.torch
    truth, scores = rows_of(torch, clock.device, n, share)
    mask = truth != 0
    own = scores[mask]
    distinct, counted = torch.unique(scores, return_counts=True)
    few, _ = torch.unique(own, return_counts=True)
    print(f"{n:.0e} rows, {share:.0%}: {len(distinct):,} distinct scores, {len(few):,} of the positives")
    parts = {
        "torch.sort": lambda: torch.sort(scores),
        "torch.unique with counts": lambda: torch.unique(scores, return_counts=True),
        "unique of the positives": lambda: torch.unique(own, return_counts=True),
        "aminmax of labels": truth.aminmax,
        "aminmax of scores": scores.aminmax,
        "labels != 0": lambda: truth != 0,
        "scores[mask]": lambda: scores[mask],
        "cumsum of counts": lambda: counted.cumsum(0),
        "searchsorted of the positives": lambda: torch.searchsorted(distinct, few),
        "sum of labels": truth.sum,
    }
    for name, work in parts.items():
        print(f"  {name:<32}{clock.seconds(work, 3) * 1e3:9.2f} ms", flush=True)


# ---------------------------------------------------------------- the page


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
            TITLE,
            about,
            f"{missed} of the {aimed} rows with an aim miss it.",
            where,
            tables.markdown(head, [row.cells() for row in found]),
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench-gpu", description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, help="a folder for gpu.md and gpu.json; the page is left as it is")
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the rows that are taken")
    parser.add_argument("--device", default="cuda", help="cpu tries the works without a GPU, and writes no page")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--explain", action="store_true", help="time the parts of the works, and profile evaluate")
    parser.add_argument("--only", default="", help="areas, counts, evaluations or peers")
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
        from steelyard.ingest import device_columns

        device_columns.is_on_host = lambda _: False
    clock, small = Clock(torch, asked.device, asked.repeats), int(1e7 * asked.scale)
    if problems := check_equality(torch, asked.device, small):
        print("\n".join(problems), file=sys.stderr)
    else:
        print(f"Equal to NumPy on {small:,} rows.", flush=True)
    if asked.device == "cuda":
        check_no_waiting(torch, asked.device)
    works = {"areas": (areas, 1e9), "counts": (counts, 1e9), "evaluations": (evaluations, 1e8), "peers": (peers, 1e8)}
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
