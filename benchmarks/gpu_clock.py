"""The clock of the benchmark of a GPU: works timed on one device, and the rows of its table."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass


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


def label_rows_of(torch, device: str, n: int, labels: int = 20, seed: int = 0):
    """Matrices on the device, a column for each label: which rows have it, and probabilities of float32."""
    made = torch.Generator(device=device).manual_seed(seed)
    shares = torch.linspace(0.01, 0.5, labels, device=device)
    truth = torch.rand(n, labels, generator=made, device=device) < shares
    scores = torch.randn(n, labels, generator=made, device=device).add_(truth, alpha=1.5).sub_(1.5)
    return truth, scores.sigmoid_()


def columns_of(torch, device: str, n: int, k: int, seed: int = 0):
    """Labels of int64, some of them common and some rare, and a column of float32 probabilities for each class."""
    made = torch.Generator(device=device).manual_seed(seed)
    shares = 1 / torch.arange(1, k + 1, device=device)
    ends = shares.cumsum(0) / shares.sum()
    truth = torch.searchsorted(ends, torch.rand(n, generator=made, device=device)).clamp_(max=k - 1)
    logits = torch.randn(n, k, generator=made, device=device)
    logits[torch.arange(n, device=device), truth] += 1.5
    return truth, logits.softmax(1)


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
        return shown(row)
    limit = row.theirs * most if most else row.theirs + extra if extra else None
    row.missed = limit is not None and row.ours > limit
    return shown(row)


def shown(row: Timed) -> Timed:
    print("  ".join(f"{cell:<28}" for cell in row.cells()), flush=True)
    return row
