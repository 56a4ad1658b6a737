"""Tensors: arrays of torch, JAX and the array API standard, counted where they are, with NumPy's numbers."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import steelyard
from steelyard.ingest import device_columns
from steelyard.statistics import device_array, device_library

N = 3_000


def _strict(values):
    xp = pytest.importorskip("array_api_strict")
    return xp.asarray(values, device=xp.Device("device1"))  # which NumPy refuses to read


def _jax(values):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        return jax.numpy.asarray(values)


def _torch(values):
    return pytest.importorskip("torch").from_numpy(values)


LIBRARIES = {"array_api_strict": _strict, "jax": _jax, "torch": _torch}


@pytest.fixture(params=[name for name in LIBRARIES if name != "jax"])
def to_device(request, taken_for_a_device):
    """Sends an array to a device; JAX, which compiles each function for each length first, has a test of its own."""
    send = LIBRARIES[request.param]
    send(np.zeros(1))
    return send


@pytest.fixture
def taken_for_a_device(monkeypatch):
    """The processor, of JAX and torch, taken for a device that NumPy cannot read; little is brought from it."""
    monkeypatch.setattr(device_columns, "is_on_host", lambda _: False)
    monkeypatch.setattr(device_array, "MOST_BROUGHT", 8)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = (rng.random(N) < 0.2).astype(np.int64)
    scores = (1 / (1 + np.exp(2 - rng.normal(size=N) - 1.5 * y))).astype(np.float32).round(3)
    weight, times = rng.random(N), rng.integers(0, 4, N)
    weight[:5] = 0
    classes = rng.integers(-1, 4, N)
    guessed = np.where(rng.random(N) < 0.6, classes, rng.integers(-1, 4, N))
    return {"y": y, "s": scores, "w": weight, "f": times, "k": classes, "g": guessed}


def _sent(rows, to_device):
    return {name: to_device(values) for name, values in rows.items()}


def _same(ours, numpys):
    np.testing.assert_allclose(ours, numpys, rtol=1e-12, atol=1e-14)


def test_counts_are_numpys_bit_for_bit(rows, to_device):
    there, declared = _sent(rows, to_device), {"labels": [3, 2, 1, 0, -1]}
    predicted = rows["s"] >= 0.5
    cases = [
        (rows["y"], predicted.astype(np.int64), {}),
        (rows["y"] == 1, predicted, {}),
        (rows["y"].astype(np.uint8), predicted, {}),
        (rows["k"], rows["g"], {}),
        (rows["k"], rows["g"], declared),
        (rows["k"].astype(np.float64), rows["g"] * 10**12, {}),
        (rows["k"], rows["g"], {"frequency": "f"}),
    ]
    for true, pred, options in cases:
        other, ours = (
            {**options, "frequency": each["f"]} if "frequency" in options else options for each in (rows, there)
        )
        assert steelyard.confusion(to_device(true), to_device(pred), **ours) == steelyard.confusion(true, pred, **other)
    ours = steelyard.confusion(there["k"], there["g"], sample_weight=there["w"], frequency=there["f"])
    numpys = steelyard.confusion(rows["k"], rows["g"], sample_weight=rows["w"], frequency=rows["f"])
    assert (ours.rows == numpys.rows).all()
    _same(ours.weights, numpys.weights)
    _same(ours.squares, numpys.squares)


@pytest.mark.parametrize("weights", [{}, {"sample_weight": "w"}, {"frequency": "f"}], ids=["rows", "weights", "times"])
def test_every_metric_of_scores_is_numpys_to_the_twelfth_digit(rows, to_device, weights):
    there = _sent(rows, to_device)
    ours, numpys = (
        steelyard.score_table(each["y"], each["s"], **{key: each[name] for key, name in weights.items()})
        for each in (there, rows)
    )
    for metric in steelyard.list_metrics():
        if metric.scores is not None and metric.least_classes == 2:
            np.testing.assert_allclose(metric(ours), metric(numpys), rtol=1e-12, atol=1e-13, err_msg=metric.name)
    for metric in (steelyard.roc_auc, steelyard.average_precision):  # of a table for one question
        of_rows = [
            metric(each["y"], each["s"], **{k: each[name] for k, name in weights.items()}) for each in (there, rows)
        ]
        _same(*of_rows)
    assert ours.precision == numpys.precision == "float32"
    assert ours == numpys if not weights else ours.n == numpys.n


def test_evaluate_and_calibration_give_the_same_result_and_evaluate_brings_no_rows(to_device, monkeypatch):
    bins = 2_500  # more than the intervals keep apart of a class, and few of the rows
    monkeypatch.setattr(device_array, "MOST_BROUGHT", bins)
    rng = np.random.default_rng(1)
    y = (rng.random(20_000) < 0.3).astype(np.int64)
    rows = {"y": y, "s": 1 / (1 + np.exp(2 - rng.normal(size=len(y)) - 1.5 * y))}
    there = _sent(rows, to_device)
    monkeypatch.setattr(device_array, "largest_brought", 0)
    ours, numpys = (steelyard.evaluate(each["y"], y_score=each["s"]) for each in (there, rows))
    assert 0 < device_array.largest_brought <= bins
    for mine, other in zip(ours, numpys, strict=True):
        _same([mine.value], [other.value])
        np.testing.assert_allclose([mine.low, mine.high], [other.low, other.high], rtol=1e-9, err_msg=mine.name)
    assert ours.verdict == numpys.verdict
    ours, numpys = (steelyard.calibration(each["y"], each["s"]) for each in (there, rows))
    assert [str(line) for line in ours.verdict] == [str(line) for line in numpys.verdict]
    np.testing.assert_allclose([row.value for row in ours], [row.value for row in numpys], rtol=1e-9)


def test_bad_rows_on_a_device_are_refused_as_numpys_are(rows, to_device):
    broken = rows["s"].copy()
    broken[7] = np.nan
    cases = [
        lambda send: steelyard.score_table(send(rows["y"]), send(broken)),
        lambda send: steelyard.confusion(send(rows["y"]), send(rows["s"])),
        lambda send: steelyard.confusion(send(rows["y"]), send(rows["y"][:-1])),
        lambda send: steelyard.confusion(send(rows["y"]), send(rows["y"]), labels=[0, 2]),
        lambda send: steelyard.confusion(send(rows["y"]), send(rows["y"]), sample_weight=send(-rows["w"])),
        lambda send: steelyard.confusion(send(rows["y"]), send(rows["y"]), frequency=send(rows["w"])),
        lambda send: steelyard.confusion(send(rows["y"].reshape(-1, 2)), send(rows["y"])),
    ]
    for case in cases:
        with pytest.raises(steelyard.SteelyardError) as ours:
            case(to_device)
        with pytest.raises(steelyard.SteelyardError) as numpys:
            case(lambda values: values)
        assert str(ours.value) == str(numpys.value)


def test_arrays_of_jax_are_counted_and_ranked_with_numpys_numbers(rows, taken_for_a_device):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        there = _sent(rows, _jax)
        assert steelyard.confusion(there["k"], there["g"]) == steelyard.confusion(rows["k"], rows["g"])
        _same(steelyard.roc_auc(there["y"], there["s"]), steelyard.roc_auc(rows["y"], rows["s"]))


def test_jax_without_its_64_bit_mode_is_refused_with_what_to_do(monkeypatch):
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(device_columns, "is_on_host", lambda _: False)
    monkeypatch.setattr(device_array, "MOST_BROUGHT", 1)
    with jax.enable_x64(False), pytest.raises(steelyard.SteelyardError, match=r"jax_enable_x64.*start of the program"):
        steelyard.confusion(jax.numpy.arange(4) % 2, jax.numpy.arange(4) % 2)


def test_tensors_in_the_processors_memory_are_not_copied():
    torch = pytest.importorskip("torch")
    scores = torch.rand(100, dtype=torch.float64, requires_grad=True)
    assert device_columns.as_numpy(scores).ctypes.data == scores.data_ptr()
    assert steelyard.ingest.arrays.numbers(scores, "y_score").ctypes.data == scores.data_ptr()
    halves = torch.rand(100).to(torch.bfloat16)
    truth = torch.arange(100) % 2
    assert steelyard.roc_auc(truth, halves) == steelyard.roc_auc(truth.numpy(), halves.float().numpy())
    jax = pytest.importorskip("jax")
    array = jax.numpy.arange(100)
    assert device_columns.as_numpy(array).ctypes.data == array.unsafe_buffer_pointer()


def test_no_library_of_tensors_is_imported_unless_it_is_given():
    script = (
        "import sys, numpy as np, steelyard; y = np.arange(9) % 2; steelyard.evaluate(y, y_score=y / 2);"
        "print([name for name in ('torch', 'jax', 'cupy', 'array_api_compat') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_library_is_known_by_its_arrays_alone():
    assert device_library.library_name(np.zeros(1)) is None and device_library.library_name([1]) is None
    assert device_library.library_name(_strict(np.zeros(1))) == "array_api_strict"
    assert device_library.is_on_host(pytest.importorskip("array_api_strict").zeros(1))
