"""The works of the benchmark of a GPU: areas, counts and evaluations beside torch's own sort and sums, and the peers."""

from __future__ import annotations

from functools import partial

import steelyard
from benchmarks.gpu_clock import Clock, Timed, beside, columns_of, label_rows_of, rows_of, shown


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


def labels(clock: Clock, n: int) -> list[Timed]:
    """Rows of several labels each, counted and evaluated; for the evaluation a tenth of the rows."""
    return [*_label_counts(clock, n), *_label_areas(clock, n // 10), _label_evaluation(clock, n // 10)]


def _brought(work, *tensors, **named):
    """The same work of NumPy's arrays, which are brought first."""
    given = [tensor.cpu().numpy() for tensor in tensors]
    return work(*given, **{name: tensor.cpu().numpy() for name, tensor in named.items()})


def _label_counts(clock: Clock, n: int) -> list[Timed]:
    truth, scores = label_rows_of(clock.torch, clock.device, n)
    predicted = scores >= 0.5
    del scores
    f1 = partial(steelyard.f1, average="macro")
    what, ours = f"f1, macro over labels, {n:.0e} x 20 bool", partial(f1, truth, predicted)
    found = [beside(clock, what, "the same brought to NumPy", ours, partial(_brought, f1, truth, predicted), most=1)]
    try:
        from torchmetrics.classification import MultilabelF1Score
    except ImportError:
        return [*found, shown(Timed(what, "torchmetrics on tensors"))]
    theirs = MultilabelF1Score(num_labels=20, average="macro").to(clock.device)
    whole = (predicted.to(clock.torch.int64), truth.to(clock.torch.int64))
    return [*found, beside(clock, what, "torchmetrics on int64 tensors", ours, partial(theirs, *whole), most=1)]


def _label_areas(clock: Clock, n: int) -> list[Timed]:
    truth, scores = label_rows_of(clock.torch, clock.device, n)
    auc, lrap = partial(steelyard.roc_auc, average="macro"), steelyard.label_ranking_average_precision
    works = {"roc_auc, macro over labels": auc, "label_ranking_average_precision": lrap}
    return [
        beside(
            clock,
            f"{name}, {n:.0e} x 20 float32 scores",
            "the same brought to NumPy",
            partial(work, truth, scores),
            partial(_brought, work, truth, scores),
            most=1,
            repeats=3,
        )
        for name, work in works.items()
    ]


def _label_evaluation(clock: Clock, n: int) -> Timed:
    truth, scores = label_rows_of(clock.torch, clock.device, n)
    what = f"evaluate of {n:.0e} x 20 labels with scores"
    ours, theirs = partial(steelyard.evaluate, truth, y_score=scores), partial(_brought, steelyard.evaluate, truth)
    return beside(clock, what, "the same brought to NumPy", ours, partial(theirs, y_score=scores), most=1, repeats=2)


def classes(clock: Clock, n: int) -> list[Timed]:
    truth, columns = columns_of(clock.torch, clock.device, n, 10)
    what = f"evaluate, all metrics with intervals, {n:.0e} rows of 10 classes, float32"
    ours, theirs = (partial(work, truth, columns) for work in (_evaluated, _evaluated_by_numpy))
    return [beside(clock, what, "the same brought to NumPy", ours, theirs, most=1, repeats=1)]


def _evaluated(truth, scores):
    return steelyard.evaluate(truth, y_score=scores)


def _evaluated_by_numpy(truth, scores):
    return _evaluated(truth.cpu().numpy(), scores.cpu().numpy())


def calibrations(clock: Clock, n: int) -> list[Timed]:
    truth, scores = rows_of(clock.torch, clock.device, n, 0.1)
    what, ours = f"calibration, {n:.0e} float32 scores, 10% positive", partial(steelyard.calibration, truth, scores)
    theirs = partial(_calibrated_by_numpy, truth, scores)
    return [beside(clock, what, "the same brought to NumPy", ours, theirs, most=1, repeats=1)]


def _calibrated_by_numpy(truth, scores):
    return steelyard.calibration(truth.cpu().numpy(), scores.cpu().numpy())


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
            found.append(shown(Timed("", peer)))
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
