"""The checks of the benchmark of a GPU: NumPy's numbers first, and batches that do not wait for the device."""

from __future__ import annotations

import numpy as np

import steelyard
from benchmarks.gpu_clock import rows_of


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
