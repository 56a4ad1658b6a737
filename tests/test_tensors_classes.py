"""Tensors of a column of scores for each class, evaluated where they are, with NumPy's numbers."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from tensors import (
    LIBRARIES,
    Backend,
    Travelled,
    assert_refused_alike,
    assert_same,
    assert_same_rows,
    backend,
    column_intervals,
    jax_array,
    sent,
    torch_array,
)

import steelyard

N, K, BINS = 12_000, 4, 2_500  # more than the intervals keep apart of a class, and few of the rows
LABELS = 64**2  # cells of small labels that are counted before anyone asks which there are
WEIGHTS = [{}, {"sample_weight": "w"}, {"frequency": "f"}, {"sample_weight": "w", "frequency": "f"}]


def drawn_rows(n):
    """Labels, probabilities that are about right, and weights of which some are 0."""
    rng = np.random.default_rng(2)
    given = rng.dirichlet(np.arange(1, K + 1), n)
    classes = np.minimum((given.cumsum(1) < rng.random((n, 1))).sum(1), K - 1)
    weight = rng.random(n) * (np.arange(n) > 9)
    return {"y": classes, "p": given, "w": weight, "f": rng.integers(0, 3, n)}


@pytest.fixture(scope="module")
def rows():
    return drawn_rows(N)


@pytest.fixture
def travelled(to_device, monkeypatch):
    monkeypatch.setattr(backend, "MOST_BROUGHT", BINS)
    return Travelled(monkeypatch)


def both(call, rows, to_device, options):
    """What a call gives of the tensors and of NumPy's arrays."""
    return [
        call(
            each,
            **{key: each[name] if isinstance(name, str) and name in each else name for key, name in options.items()},
        )
        for each in (sent(rows, to_device), rows)
    ]


def evaluated(rows, **options):
    return steelyard.evaluate(rows["y"], y_score=rows["p"], **options)


@pytest.mark.parametrize("weights", WEIGHTS, ids=lambda weights: " and ".join(weights) or "rows")
def test_evaluate_of_a_column_for_each_class_is_numpys_and_brings_no_rows(rows, to_device, travelled, weights):
    ours, numpys = both(evaluated, rows, to_device, weights)
    assert 0 < max(travelled.sizes) <= LABELS
    assert len(travelled.sizes) < 3_000  # each of them waits for all that was begun there
    assert_same_rows(ours, numpys)
    assert [str(line) for line in ours.verdict] == [str(line) for line in numpys.verdict]
    assert (ours.confusion.rows == numpys.confusion.rows).all()
    assert_same([row.chance for row in ours], [row.chance for row in numpys])
    for name in ("risk", "low", "high", "limit", "coverage", "least_coverage", "area", "least_area"):
        assert_same(getattr(ours.risk_coverage, name), getattr(numpys.risk_coverage, name))


@pytest.mark.parametrize("weights", [{}, {"sample_weight": "w"}], ids=["rows", "weights"])
def test_what_travels_does_not_grow_with_the_rows(taken_for_a_device, monkeypatch, weights):
    monkeypatch.setattr(backend, "MOST_BROUGHT", BINS)
    monkeypatch.setattr(column_intervals, "_ROWS", 6_000)
    totals = []
    for n in (40_000, 80_000):
        rows, travelled = sent(drawn_rows(n), torch_array), Travelled(monkeypatch)
        evaluated(rows, **{key: rows[name] for key, name in weights.items()})
        totals.append(sum(travelled.sizes))
    assert totals[1] < 1.05 * totals[0]


@pytest.mark.parametrize(
    "options",
    [
        {"design": "stratified"},
        {"prevalence": (0.4, 0.3, 0.2, 0.1)},
        {"labels": (3, 2, 1, 0)},
        {"pos_label": 1},
        {"pos_label": 1, "sample_weight": "w"},
        {"metrics": ("roc_auc[average=micro]", "average_precision[average=micro]", "pr_auc[average=macro]")},
        {
            "metrics": (
                "gini[average=weighted]",
                "weighted_auc[average=macro]",
                "roc_auc[max_fpr=0.2, average=macro]",
                "accuracy",
            )
        },
        {"metrics": ("ranked_probability_score", "brier_skill_score", "recall[class=2]", "roc_auc[class=0]")},
    ],
    ids=str,
)
def test_evaluate_of_classes_as_asked_is_numpys_and_brings_no_rows(rows, to_device, travelled, options):
    narrow = {**rows, "p": rows["p"].astype(np.float32)}
    ours, numpys = both(evaluated, narrow, to_device, options)
    assert 0 < max(travelled.sizes) <= LABELS
    assert_same_rows(ours, numpys)
    assert ours.assumed == numpys.assumed


def test_few_distinct_scores_of_many_rows_and_a_rare_class_are_evaluated_there(to_device, travelled):
    rows = drawn_rows(N)
    rare = rows["y"] == 0
    rare[np.flatnonzero(rare)[:100]] = False
    coarse = {"y": np.where(rare, 1, rows["y"]), "p": rows["p"].round(2)}
    ours, numpys = both(evaluated, coarse, to_device, {})
    assert 0 < max(travelled.sizes) <= LABELS
    assert_same_rows(ours, numpys)


def test_two_columns_are_evaluated_by_that_of_the_positive_class(rows, to_device, travelled):
    share = rows["p"][:, :1].astype(np.float32)
    two = {"y": (rows["y"] > 0).astype(np.int64), "p": np.hstack([share, 1 - share])}
    ours, numpys = both(evaluated, two, to_device, {"threshold": 0.7})
    assert 0 < max(travelled.sizes) <= BINS
    assert_same_rows(ours, numpys)


@pytest.mark.parametrize(
    "labels", [np.array([3, 7, 9, 12]), np.array([0.0, 1.0, 2.0, 3.0]), np.arange(4, dtype=np.int8)]
)
def test_labels_of_any_numbers_are_predicted_as_they_are(rows, to_device, travelled, labels):
    named = {"y": labels[rows["y"]], "p": rows["p"]}
    ours, numpys = both(evaluated, named, to_device, {"metrics": ("mcc", "roc_auc[average=macro]")})
    assert 0 < max(travelled.sizes) <= LABELS
    assert ours.confusion == numpys.confusion
    assert_same_rows(ours, numpys)
    text = steelyard.evaluate(np.array(list("abcd"))[rows["y"]], y_score=to_device(rows["p"]), metrics=["mcc"])
    assert text["mcc"].value == ours["mcc"].value


def test_classes_on_a_device_are_refused_as_numpys_are(rows, to_device):
    y, p = rows["y"], rows["p"]
    cases = [
        lambda send: steelyard.evaluate(send(y), y_score=send(p[:, :3].copy())),
        lambda send: steelyard.evaluate(send(y[:-1]), y_score=send(p)),
        lambda send: steelyard.evaluate(send(y), y_score=send(np.where(np.arange(N)[:, None] == 3, np.nan, p))),
        lambda send: steelyard.evaluate(send(y), y_score=send(p), pos_label=8),
        lambda send: steelyard.evaluate(send(y), y_score=send(p), threshold=0.5),
        lambda send: steelyard.evaluate(send(y), y_score=send(p), sample_weight=send(-rows["w"])),
        lambda send: steelyard.evaluate(send(y), y_score=send(2 * p), metrics=["log_loss"]),
        lambda send: steelyard.calibration(send(y), send(2 * p)),
    ]
    for case in cases:
        sentences = []
        for send in (to_device, lambda values: values):
            with pytest.raises(steelyard.SteelyardError) as refused:
                case(send)
            sentences.append(str(refused.value))
        assert sentences[0] == sentences[1]


def test_intervals_of_columns_are_numpys_and_bring_no_rows(rows, to_device, travelled):
    for metric, options in {
        "roc_auc[average=macro]": {},
        "average_precision[average=weighted]": {"sample_weight": "w"},
        "log_loss": {"sample_weight": "w", "frequency": "f"},
        "d2_log_loss": {},
        "top_k_accuracy": {"cluster": np.arange(N) // 7},
        "brier[average=macro]": {"cluster": np.arange(N) // 7},
    }.items():
        ours, numpys = both(
            lambda each, metric=metric, **given: steelyard.interval(metric, each["y"], y_score=each["p"], **given),
            rows,
            to_device,
            options,
        )
        assert_same_rows([ours], [numpys])
    assert 0 < max(travelled.sizes) <= BINS


def assert_same_calibration(ours, numpys):
    """The same metrics, curve, test and verdict, and those of each class; a fit ends to the ninth digit."""
    for mine, other in zip(ours, numpys, strict=True):
        numbers = [[row.value, row.low, row.high] for row in (mine, other)]
        np.testing.assert_allclose(*numbers, rtol=1e-9, atol=1e-12, err_msg=mine.metric)
    curves = ([[*vars(point).values()] for point in each.curve] for each in (ours, numpys))
    np.testing.assert_allclose(*curves, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose([ours.statistic, ours.p_value], [numpys.statistic, numpys.p_value], rtol=1e-8)
    assert ours.rows == numpys.rows and ours.positives == numpys.positives
    assert [str(line) for line in ours.verdict] == [str(line) for line in numpys.verdict]
    assert [*ours.groups] == [*numpys.groups]
    for name, group in ours.groups.items():
        assert_same_calibration(group, numpys.groups[name])


@pytest.mark.parametrize(
    "options",
    [*WEIGHTS, {"strategy": "uniform"}, {"strategy": "quantile"}, {"prevalence": 0.3}],
    ids=lambda options: " and ".join(options) or "rows",
)
def test_calibration_of_one_column_is_numpys_and_brings_no_rows(rows, to_device, travelled, options):
    one = {**rows, "y": (rows["y"] == 2).astype(np.int64), "p": rows["p"][:, 2].astype(np.float32)}
    ours, numpys = both(calibrated, one, to_device, options)
    assert 0 < max(travelled.sizes) <= BINS
    assert_same_calibration(ours, numpys)


def calibrated(rows, **options):
    return steelyard.calibration(rows["y"], rows["p"], **options)


@pytest.mark.parametrize("weights", WEIGHTS, ids=lambda weights: " and ".join(weights) or "rows")
def test_calibration_of_a_column_for_each_class_is_numpys_and_brings_no_rows(rows, to_device, weights, monkeypatch):
    most = 8_200  # twice what the intervals of rows in clusters keep apart
    monkeypatch.setattr(backend, "MOST_BROUGHT", most)
    travelled = Travelled(monkeypatch)
    ours, numpys = both(calibrated, rows, to_device, weights)
    assert 0 < max(travelled.sizes) <= most
    assert_same_calibration(ours, numpys)


def test_calibration_of_one_class_of_several_columns_and_of_clusters_is_numpys(rows, to_device, travelled):
    ours, numpys = both(calibrated, rows, to_device, {"pos_label": 1, "sample_weight": "w"})
    assert 0 < max(travelled.sizes) <= BINS
    assert_same_calibration(ours, numpys)
    ours, numpys = both(calibrated, rows, to_device, {"cluster": np.arange(N) // 3})
    assert_same_calibration(ours, numpys)


@pytest.mark.parametrize("parted", ["by", "cluster"])
def test_groups_and_clusters_of_rows_are_evaluated_on_the_processor(rows, to_device, parted):
    ours, numpys = both(evaluated, rows, to_device, {parted: np.arange(N) // 100 % 5})
    assert_same_rows(ours, numpys)


@pytest.mark.parametrize("library", LIBRARIES)
def test_values_are_placed_on_a_device_as_in_numpy(taken_for_a_device, library):
    jax = pytest.importorskip("jax") if library == "jax" else None
    with jax.enable_x64(True) if jax else nullcontext():
        values, places = np.arange(5.0) + 1, np.array([7, 3, 11, 0, 4])
        there = {
            name: Backend.of(each).column(each)
            for name, each in sent({"v": values, "p": places}, LIBRARIES[library]).items()
        }
        for given in (there["v"], values):
            assert np.array_equal(
                np.asarray(backend.scattered(given, there["p"], 12)), backend.scattered(values, places, 12)
            )
        many = backend.scattered(there["v"], there["p"], 12)
        assert np.array_equal(np.asarray(backend.taken(np.arange(12.0), there["p"])), places)
        assert np.array_equal(np.asarray(backend.taken(many, places)), values)
        added = np.array([-1, 2, 2]), np.array([1.0, 2.0, 3.0])
        assert np.array_equal(
            np.asarray(backend.with_added(many, *added)),
            backend.with_added(backend.scattered(values, places, 12), *added),
        )


def test_classes_of_jax_are_evaluated_with_numpys_numbers(taken_for_a_device):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        ours, numpys = both(evaluated, drawn_rows(600), jax_array, {"metrics": ("log_loss", "top_k_accuracy", "mcc")})
    assert_same_rows(ours, numpys)


def test_booleans_are_ranked_as_numpys_are(to_device):
    rng = np.random.default_rng(5)
    y, flags = rng.choice(3, 3_000, p=[0.6, 0.39, 0.01]), rng.random((3_000, 3)) > 0.5
    for metric in (steelyard.roc_auc, steelyard.average_precision, steelyard.log_loss):
        for average in ("macro", "micro", "weighted"):
            ours = metric(to_device(y), to_device(flags), average=average)
            assert_same(ours, metric(y, flags, average=average))


def test_whole_numbers_that_tie_as_floats_are_refused_in_numpys_words(to_device):
    rng = np.random.default_rng(6)
    y, scores = rng.integers(0, 3, 3_000), rng.integers(2**60, 2**60 + 100, (3_000, 3))
    assert_refused_alike([lambda send: steelyard.roc_auc(send(y), send(scores), average="macro")], to_device)


def test_one_of_two_columns_keeps_the_precision_of_the_scores(to_device):
    rng = np.random.default_rng(7)
    y, p = rng.integers(0, 2, 3_000), rng.random(3_000).astype(np.float32).round(2)
    both = np.column_stack([1 - p, p])
    ours = steelyard.evaluate(to_device(y), y_score=to_device(both), threshold=0.7)
    numpys, column = (steelyard.evaluate(y, y_score=given, threshold=0.7) for given in (both, p))
    assert ours.scores.precision == numpys.scores.precision == column.scores.precision == "float32"
    assert ours.counts == numpys.counts == column.counts
