"""The checks of the benchmark of a GPU: NumPy's numbers first, and batches that do not wait for the device."""

from __future__ import annotations

import numpy as np

import steelyard
from benchmarks.gpu_clock import columns_of, label_rows_of, rows_of


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
        problems += _differences(ours, numpys, f"at {share:.0%}")
        ours, numpys = (steelyard.calibration(a, b) for a, b in ((truth, scores), (y, s)))
        problems += _differences(ours, numpys, f"of calibration at {share:.0%}", value=1e-9)
    return [*problems, *_of_counts(torch, device, max(n // 10, 100_000)), *_of_classes(torch, device, n // 10)]


def _of_counts(torch, device: str, n: int) -> list[str]:
    """What differs of tables of labels of each kind, and of those with weights, frequencies or declared labels."""
    made = torch.Generator(device=device).manual_seed(0)
    true, pred = (torch.randint(0, 3_000, (n,), generator=made, device=device) for _ in range(2))
    weight = torch.rand(n, generator=made, device=device, dtype=torch.float64)
    times = torch.randint(0, 4, (n,), generator=made, device=device)
    kinds = {
        "0 and 1": lambda labels: labels % 2,
        "booleans": lambda labels: labels % 2 == 1,
        "bytes": lambda labels: (labels % 5).to(torch.uint8),
        "negative labels": lambda labels: labels % 7 - 3,
        "far labels": lambda labels: labels % 11 * 10**12,
        "whole floats": lambda labels: (labels % 4 + 1).to(torch.float32),
        "1,500 labels": lambda labels: labels % 1_500,
    }
    ways = {
        "": {},
        ", weighted": {"sample_weight": weight},
        ", counted": {"frequency": times},
        ", both": {"sample_weight": weight, "frequency": times},
    }
    problems = []
    for kind, of in kinds.items():
        columns = of(true), of(pred)
        given = [column.cpu().numpy() for column in columns]
        every = {"labels": [*range(12)]} if kind == "bytes" else {}
        for way, weights in ways.items():
            ours = steelyard.confusion(*columns, **weights, **every)
            numpys = steelyard.confusion(
                *given, **{name: each.cpu().numpy() for name, each in weights.items()}, **every
            )
            if ours.labels != numpys.labels or not _same_cells(ours, numpys):
                problems.append(f"confusion of {kind}{way}")
    return problems


def _same_cells(ours, numpys) -> bool:
    """Whether tables have the same rows, and the same weights to the twelfth digit; of many labels they are sparse."""
    for name, rtol in (("rows", 0), ("weights", 1e-12), ("squares", 1e-12)):
        mine, other = (getattr(table, name) for table in (ours, numpys))
        mine, other = (getattr(cells, "values", cells) for cells in (mine, other))
        if mine.shape != other.shape or not np.allclose(mine, other, rtol=rtol, atol=0):
            return False
    return True


def _of_classes(torch, device: str, n: int) -> list[str]:
    """What differs of a column of scores for each of ten classes, with and without weights."""
    truth, columns = columns_of(torch, device, n, 10)
    weights = torch.rand(n, device=device, dtype=torch.float64)
    there, here = (truth, columns, weights), tuple(part.cpu().numpy() for part in (truth, columns, weights))
    problems = []
    for weighed in (False, True):
        ours, numpys = (
            steelyard.evaluate(y, y_score=p, sample_weight=w if weighed else None) for y, p, w in (there, here)
        )
        where = f"of 10 classes{', weighted' * weighed}"
        problems += _differences(ours, numpys, where)
        if not (ours.confusion.rows == numpys.confusion.rows).all():
            problems.append(f"the confusion matrix {where}")
    ours, numpys = (steelyard.calibration(y, p) for y, p, _ in (there, here))
    return problems + _differences(ours, numpys, "of calibration of 10 classes", value=1e-9)


def _differences(ours, numpys, where: str, value: float = 1e-12) -> list[str]:
    """The metrics whose values or ends of an interval differ."""
    problems = []
    for mine, other in zip(ours, numpys, strict=True):
        name = mine.spec.name
        if not np.isclose(mine.value, other.value, rtol=value, atol=1e-14, equal_nan=True):
            problems.append(f"{name} {where}: {mine.value!r}, NumPy has {other.value!r}")
        if not np.allclose([mine.low, mine.high], [other.low, other.high], rtol=1e-9, atol=1e-12, equal_nan=True):
            problems.append(f"interval of {name} {where}: {mine.low, mine.high}, NumPy has {other.low, other.high}")
    return problems


def check_labels(torch, device: str, n: int) -> list[str]:
    """What differs from NumPy's answers on the same rows of several labels each."""
    truth, scores = label_rows_of(torch, device, n)
    weights = torch.rand(n, dtype=torch.float64, device=device)
    predicted, problems = scores >= 0.4, []
    there = [truth, predicted, scores, weights]
    here = [column.cpu().numpy() for column in there]
    for average in ("macro", "micro", "weighted", "samples", None):
        for metric, other in ((steelyard.f1, 1), (steelyard.roc_auc, 2)):
            ours, numpys = (metric(each[0], each[other], average=average) for each in (there, here))
            if not np.allclose(ours, numpys, rtol=1e-12, atol=1e-14):
                problems.append(f"{metric.name} of labels, {average}: {ours!r}, NumPy has {numpys!r}")
    for metric in (steelyard.label_ranking_average_precision, steelyard.ndcg):
        ours, numpys = (metric(each[0], each[2]) for each in (there, here))
        if not np.allclose(ours, numpys, rtol=1e-12, atol=1e-14):
            problems.append(f"{metric.name} of labels: {ours!r}, NumPy has {numpys!r}")
    tables = [steelyard.tables.multilabel(each[0], each[1]) for each in (there, here)]
    if len({table.imbalance.distinct_sets for table in tables}) > 1:
        problems.append("the number of different sets of labels")
    for given in ({}, {"sample_weight": 3}):
        ours, numpys = (
            steelyard.evaluate(each[0], y_score=each[2], **{name: each[place] for name, place in given.items()})
            for each in (there, here)
        )
        problems += _label_problems(ours, numpys, " with weights" if given else "")
    return problems


def _label_problems(ours, numpys, what: str) -> list[str]:
    problems = []
    for mine, other in zip(ours, numpys, strict=True):
        if not np.isclose(mine.value, other.value, rtol=1e-12, atol=1e-14, equal_nan=True):
            problems.append(f"{mine.name} of labels{what}: {mine.value!r}, NumPy has {other.value!r}")
        ends, beside = ((row.low, row.high, row.chance) for row in (mine, other))
        if not np.allclose(ends, beside, rtol=1e-9, atol=1e-12, equal_nan=True):
            problems.append(f"ends or baseline of {mine.name} of labels{what}: {ends}, NumPy has {beside}")
    for mine, other in zip(ours.per_label, numpys.per_label, strict=True):
        if (mine.rows, mine.predicted) != (other.rows, other.predicted):
            problems.append(f"counts of label {mine.label}{what}: {mine.rows, mine.predicted}")
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
