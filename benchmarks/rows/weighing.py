"""Labels and scores weighed: beside reading the arrays once, np.sort, and the compiled peers that are installed."""

from __future__ import annotations

from importlib import import_module

import numpy as np

import steelyard


def optional(name):
    """The module, or None where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def rows(wanted):
    """What is weighed, beside what, and the ratio aimed at."""
    for make in (labels, scores):
        yield from (row for row in make() if wanted in row[0])


def labels():
    rng = np.random.default_rng(0)
    true, pred = (rng.integers(0, 2, 10**7) for _ in range(2))
    matrix = lambda: steelyard.confusion(true, pred).matrix
    total = lambda: (true.sum(), pred.sum())
    yield "confusion, 1e7 labels of 2 classes", "summing both", lambda: matrix()[1].sum(), lambda: total()[0], 0.5
    if mmu := optional("mmu"):
        yield "confusion, 1e7 labels of 2 classes", "mmu (C++)", matrix, lambda: mmu.confusion_matrix(true, pred), 1


def scores():
    rng = np.random.default_rng(1)
    for n, share in ((10**7, 0.01), (10**7, 0.5), (10**6, 0.01), (10**6, 0.5)):
        score, y = rng.random(n), (rng.random(n) < share).astype(np.int64)
        what = f"{n:.0e} scores, {share:.0%} positive".replace("e+0", "e")
        auc = lambda score=score, y=y: steelyard.roc_auc(y, score)
        sort = lambda score=score, value=auc(): (np.sort(score), value)[1]
        yield f"roc_auc, {what}", "np.sort", auc, sort, 0.5 if share < 0.1 else 0.125
        if n < 10**7 and (rapidstats := optional("rapidstats")):
            yield f"roc_auc, {what}", "rapidstats (Rust)", auc, lambda s=score, y=y: rapidstats.metrics.roc_auc(y, s), 3
        if n < 10**7 and (torch := optional("torch")) and (peer := optional("torchmetrics.functional.classification")):
            given = torch.from_numpy(score), torch.from_numpy(y)
            yield f"roc_auc, {what}", "torchmetrics", auc, lambda given=given: float(peer.binary_auroc(*given)), 5
