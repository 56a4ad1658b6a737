"""Tensors: arrays of torch, JAX and the array API standard, counted where they are, with NumPy's numbers."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from checks import assert_refused
from tensors import (
    Backend,
    array_tables,
    assert_refused_alike,
    assert_same,
    backend,
    checks,
    column,
    jax_array,
    sent,
    strict_array,
)

import steelyard
from steelyard.exceptions import InputTypeError

N = 3_000


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


def test_counts_are_numpys_bit_for_bit(rows, to_device):
    there, declared = sent(rows, to_device), {"labels": [3, 2, 1, 0, -1]}
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
    assert_same(ours.weights, numpys.weights)
    assert_same(ours.squares, numpys.squares)


@pytest.mark.parametrize("weights", [{}, {"sample_weight": "w"}, {"frequency": "f"}], ids=["rows", "weights", "times"])
def test_every_metric_of_scores_is_numpys_to_the_twelfth_digit(rows, to_device, weights):
    there = sent(rows, to_device)
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
        assert_same(*of_rows)
    assert ours.precision == numpys.precision == "float32"
    assert ours == numpys if not weights else ours.n == numpys.n


def test_evaluate_and_calibration_give_the_same_result_and_evaluate_brings_no_rows(to_device, monkeypatch):
    bins = 2_500  # more than the intervals keep apart of a class, and few of the rows
    monkeypatch.setattr(backend, "MOST_BROUGHT", bins)
    rng = np.random.default_rng(1)
    y = (rng.random(20_000) < 0.3).astype(np.int64)
    rows = {"y": y, "s": 1 / (1 + np.exp(2 - rng.normal(size=len(y)) - 1.5 * y))}
    there = sent(rows, to_device)
    monkeypatch.setattr(backend, "largest_brought", 0)
    ours, numpys = (steelyard.evaluate(each["y"], y_score=each["s"]) for each in (there, rows))
    assert 0 < backend.largest_brought <= bins
    for mine, other in zip(ours, numpys, strict=True):
        assert_same([mine.value], [other.value])
        np.testing.assert_allclose([mine.low, mine.high], [other.low, other.high], rtol=1e-9, err_msg=mine.name)
    assert ours.verdict == numpys.verdict
    ours, numpys = (steelyard.calibration(each["y"], each["s"]) for each in (there, rows))
    assert [str(line) for line in ours.verdict] == [str(line) for line in numpys.verdict]
    np.testing.assert_allclose([row.value for row in ours], [row.value for row in numpys], rtol=1e-9)


@pytest.mark.parametrize("side", ["left", "right"])
def test_narrow_scores_are_searched_for_wide_numbers_as_numpy_does(to_device, side):
    ordered = np.sort(np.random.default_rng(3).random(50).astype(np.float32))
    wide = ordered.astype(np.float64)
    values = np.concatenate([wide, np.nextafter(wide, 2), np.nextafter(wide, -1), np.linspace(-1, 2, 99)])
    there = column(ordered, to_device)
    assert (np.searchsorted(there, values, side=side) == np.searchsorted(wide, values, side=side)).all()


def test_columns_of_classes_and_of_labels_give_numpys_numbers(to_device):
    rng = np.random.default_rng(2)
    classes, odds = rng.integers(0, 3, 400), rng.random((400, 3))
    odds[np.arange(400), classes] += 0.5
    scores, sets = odds / odds.sum(1, keepdims=True), rng.integers(0, 2, (400, 4))
    guessed = np.where(rng.random((400, 4)) < 0.8, sets, 1 - sets)
    weight = rng.random(400)
    cases = [
        lambda send: steelyard.roc_auc(send(classes), send(scores), average="macro"),
        lambda send: steelyard.roc_auc(send(classes), send(scores), average="micro"),
        lambda send: steelyard.average_precision(send(classes), send(scores), average=None, sample_weight=send(weight)),
        lambda send: steelyard.roc_auc(send(classes), send(scores), average="weighted", multi_class="ovo"),
        lambda send: steelyard.log_loss(send(classes), send(scores)),
        lambda send: steelyard.f1(send(sets), send(guessed), average="macro"),
        lambda send: steelyard.roc_auc(send(sets), send(scores[:, [0, 1, 2, 0]]), average="macro"),
        lambda send: [row.value for row in steelyard.evaluate(send(classes), y_score=send(scores))],
        lambda send: [
            row.value for row in steelyard.evaluate(send(sets), send(guessed), metrics=["f1[average=macro]"])
        ],
    ]
    for case in cases:
        assert_same(case(to_device), case(lambda values: values))


def test_areas_of_a_rare_class_among_columns_are_numpys(to_device):
    rng = np.random.default_rng(5)
    classes, scores = rng.choice(3, N, p=[0.01, 0.39, 0.6]), rng.random((N, 3))
    scores[np.arange(N), classes] += 0.3
    for metric in (steelyard.roc_auc, steelyard.average_precision):
        assert_same(
            metric(to_device(classes), to_device(scores), average=None),
            metric(classes, scores, average=None),
        )


def test_evaluate_asks_the_device_few_questions(to_device, monkeypatch):
    monkeypatch.setattr(backend, "MOST_BROUGHT", 2_500)
    rng = np.random.default_rng(1)
    y = (rng.random(20_000) < 0.3).astype(np.int64)
    scores = 1 / (1 + np.exp(2 - rng.normal(size=len(y)) - 1.5 * y))
    asked, bring = [], Backend.to_host
    monkeypatch.setattr(Backend, "to_host", lambda *given: asked.append(1) or bring(*given))
    steelyard.evaluate(to_device(y), y_score=to_device(scores))
    assert 0 < len(asked) < 110  # each of them waits for all that was begun there


def test_which_of_two_labels_occur_is_not_counted(rows, to_device, monkeypatch):
    monkeypatch.setattr(Backend, "code_sums", lambda *_: pytest.fail("counted"))
    for given, labels in ((rows["y"], (0, 1)), (rows["y"] + 6, (6, 7)), (rows["y"] * 0, (0,)), (rows["y"] == 1, None)):
        occurring = array_tables.occurring_labels(to_device(given))
        assert occurring == (labels or (False, True)) and all(type(label) is type(occurring[0]) for label in occurring)


def test_whole_floats_beyond_all_integers_are_labels_and_large_whole_scores_are_refused(to_device):
    labels = np.where(np.arange(50) % 3 == 0, 2.0**70, -3.0)
    ours = steelyard.confusion(to_device(labels), to_device(np.roll(labels, 1)))
    assert ours == steelyard.confusion(labels, np.roll(labels, 1))
    sets, scores = np.tile([[1, 0], [0, 1]], (25, 1)), np.arange(100).reshape(50, 2) + 2**53
    assert_refused_alike([lambda send: steelyard.roc_auc(send(sets), send(scores), average="macro")], to_device)


@pytest.mark.parametrize("starts", [[0, 9, 10, 2_000], np.arange(0, 5_000, 100), np.arange(5, 5_000, 2)])
def test_sums_of_stretches_are_numpys(to_device, starts):
    values, places = np.random.default_rng(0).random(5_000), np.asarray(starts)
    there = column(values, to_device)
    # By the standard alone they are differences of running sums, which round.
    np.testing.assert_allclose(np.add.reduceat(there, places), np.add.reduceat(values, places), rtol=1e-10)
    whole = (values > 0.5).astype(np.int64), (there > 0.5).astype(np.int64)
    assert np.array_equal(*(np.asarray(np.add.reduceat(column, places)) for column in whole))


@pytest.mark.parametrize("weights", [{}, {"sample_weight": "w"}, {"frequency": "f"}], ids=["rows", "weights", "times"])
def test_losses_of_a_column_for_each_class_are_numpys_and_bring_no_rows(to_device, weights, monkeypatch):
    rng = np.random.default_rng(2)
    given = rng.dirichlet([1, 2, 3, 4], N).astype(np.float32)
    classes = np.array([rng.choice(4, p=row / row.sum()) for row in given.astype(np.float64)])
    rows = {"y": classes, "p": given, "w": rng.random(N) * (np.arange(N) > 9), "f": rng.integers(0, 3, N)}
    monkeypatch.setattr(backend, "largest_brought", 0)
    for name in ("log_loss", "d2_log_loss", "brier", "brier_skill_score", "top_k_accuracy", "ranked_probability_score"):
        metric = steelyard.get_metric(name)
        values = [
            metric(each["y"], each["p"], **{key: each[column] for key, column in weights.items()})
            for each in (sent(rows, to_device), rows)
        ]
        np.testing.assert_allclose(*values, rtol=1e-12, err_msg=name)
    assert 0 < backend.largest_brought <= 16
    spoilt = given.copy()
    spoilt[7] *= 2
    with pytest.raises(steelyard.SteelyardError, match="row 8 sums to 2"):
        steelyard.log_loss(to_device(classes), to_device(spoilt))


NARROW = ["bool", "int8", "uint8", "float16", "bfloat16"]


@pytest.mark.parametrize("place", ["processor", "device"])
@pytest.mark.parametrize("kind", NARROW)
def test_narrow_scores_and_weights_of_torch_have_numpys_numbers(rows, kind, place, request):
    torch = pytest.importorskip("torch")
    if place == "device":
        request.getfixturevalue("taken_for_a_device")
    scale = 100 if "int" in kind else 1
    scores = (torch.from_numpy(rows["s"]) * scale).to(getattr(torch, kind))
    numpys = (scores.float() if kind == "bfloat16" else scores).numpy()
    truth = torch.from_numpy(rows["y"]).to(torch.int8)
    spread = torch.stack([scores, scores], 1)[:, 0]  # every second number in memory
    for given in (scores, spread, scores.clone().requires_grad_() if "float" in kind else scores):
        assert_same(steelyard.average_precision(truth, given), steelyard.average_precision(rows["y"], numpys))
    ours = steelyard.roc_auc(truth[::2], scores[::2], sample_weight=scores[::2])
    assert_same(ours, steelyard.roc_auc(rows["y"][::2], numpys[::2], sample_weight=numpys[::2]))
    names = ["recall", "roc_auc", "pr_auc"]
    evaluated = [
        steelyard.evaluate(y, y_score=s, threshold=scale / 4, metrics=names)
        for y, s in ((truth, scores), (rows["y"], numpys))
    ]
    assert_same(*([row.value for row in each] for each in evaluated))


@pytest.mark.parametrize("place", ["processor", "device"])
def test_tensors_that_are_no_columns_are_refused_in_one_sentence(rows, place, request):
    torch = pytest.importorskip("torch")
    if place == "device":
        request.getfixturevalue("taken_for_a_device")
    truth, scores = torch.from_numpy(rows["y"]), torch.from_numpy(rows["s"])
    cases = {
        "y_true has 0 dimensions": (truth[0], scores[0]),
        "y_score has 0 dimensions": (truth, scores[0]),
        "are empty; give at least one row": (truth[:0], scores[:0]),
        "differ in length": (truth, scores[:0]),
        "y_score (holds torch.complex64|must hold numbers)": (truth, scores.to(torch.complex64)),
    }
    for sentence, columns in cases.items():
        with pytest.raises(steelyard.SteelyardError, match=sentence) as refused:
            steelyard.roc_auc(*columns)
        assert str(refused.value).count(". ") == 0


def test_matrices_of_label_sets_travel_as_bytes(to_device, monkeypatch):
    rng = np.random.default_rng(3)
    sets, predicted = (rng.integers(0, 2, (N, 4)) for _ in range(2))
    travelled, bring = [], Backend.to_host
    monkeypatch.setattr(Backend, "to_host", lambda *given: travelled.append(bring(*given)) or travelled[-1])
    monkeypatch.setattr(checks, "as_numpy", lambda values: Backend.of(values).to_host(values))
    assert_same(steelyard.metrics.label_propensities(to_device(sets)), steelyard.metrics.label_propensities(sets))
    assert {array.dtype for array in travelled if array.size == N * 4} == {np.dtype(np.uint8)}
    with pytest.raises(steelyard.SteelyardError) as ours:
        steelyard.f1(to_device(sets + 1), to_device(predicted), average="macro")
    with pytest.raises(steelyard.SteelyardError) as numpys:
        steelyard.f1(sets + 1, predicted, average="macro")
    assert str(ours.value) == str(numpys.value)


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
    assert_refused_alike(cases, to_device)


def test_arrays_of_jax_are_counted_and_ranked_with_numpys_numbers(rows, taken_for_a_device):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        there = sent(rows, jax_array)
        assert steelyard.confusion(there["k"], there["g"]) == steelyard.confusion(rows["k"], rows["g"])
        assert_same(steelyard.roc_auc(there["y"], there["s"]), steelyard.roc_auc(rows["y"], rows["s"]))


def test_jax_without_its_64_bit_mode_is_refused_with_what_to_do(monkeypatch):
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(backend, "is_on_host", lambda _: False)
    monkeypatch.setattr(backend, "MOST_BROUGHT", 1)
    with jax.enable_x64(False), pytest.raises(steelyard.SteelyardError, match=r"jax_enable_x64.*start of the program"):
        steelyard.confusion(jax.numpy.arange(4) % 2, jax.numpy.arange(4) % 2)


def test_tensors_in_the_processors_memory_are_not_copied():
    torch = pytest.importorskip("torch")
    scores = torch.rand(100, dtype=torch.float64, requires_grad=True)
    assert checks.as_numpy(scores).ctypes.data == scores.data_ptr()
    assert checks.numbers(scores, "y_score").ctypes.data == scores.data_ptr()
    halves = torch.rand(100).to(torch.bfloat16)
    truth = torch.arange(100) % 2
    assert steelyard.roc_auc(truth, halves) == steelyard.roc_auc(truth.numpy(), halves.float().numpy())
    jax = pytest.importorskip("jax")
    array = jax.numpy.arange(100)
    assert checks.as_numpy(array).ctypes.data == array.unsafe_buffer_pointer()


def test_a_tensor_that_numpy_cannot_read_is_refused_by_what_it_is():
    torch = pytest.importorskip("torch")
    score = torch.tensor([0.1, 0.8, 0.4])
    unread = {
        "float8_e4m3fn": score.to(torch.float8_e4m3fn),
        "sparse_coo": score.to_sparse(),
        "on 'meta'": torch.empty(3, device="meta"),
    }
    for words, given in unread.items():
        told = rf"y_score is a tensor that NumPy cannot read \(.*{words}"
        assert_refused(lambda given=given: steelyard.roc_auc([0, 1, 1], given), InputTypeError, told)
    small = torch.full((3, 3), 0.5).to(torch.float8_e4m3fn)
    assert_refused(lambda: steelyard.log_loss([0, 1, 2], small), InputTypeError, r"NumPy cannot read \(torch.float8")


def test_an_array_of_jax_that_numpy_cannot_read_is_refused_by_what_it_is():
    jax = pytest.importorskip("jax")
    told = r"y_score is a tensor that NumPy cannot read \(float8_e4m3fn\); give a dense one of floats"
    for y_true, shape in (([0, 1, 1], (3,)), ([0, 1, 2], (3, 3))):
        given = jax.numpy.full(shape, 0.5).astype(jax.numpy.float8_e4m3fn)
        assert_refused(lambda y=y_true, s=given: steelyard.roc_auc(y, s), InputTypeError, told)


def test_a_view_whose_sign_is_turned_when_it_is_read_is_read_so():
    torch = pytest.importorskip("torch")
    turned = torch.tensor([0.1 + 0.1j, 0.8 + 0.8j, 0.4 + 0.4j]).conj().imag
    assert turned.is_neg()
    assert steelyard.roc_auc([0, 1, 1], turned) == 0 == steelyard.roc_auc([0, 1, 1], -np.array([0.1, 0.8, 0.4]))


def test_no_library_of_tensors_is_imported_unless_it_is_given():
    script = (
        "import sys, numpy as np, steelyard; y = np.arange(9) % 2; steelyard.evaluate(y, y_score=y / 2);"
        "print([name for name in ('torch', 'jax', 'cupy', 'array_api_compat') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_library_is_known_by_its_arrays_alone():
    assert backend.library_name(np.zeros(1)) is None and backend.library_name([1]) is None
    assert backend.library_name(strict_array(np.zeros(1))) == "array_api_strict"
    assert backend.is_on_host(pytest.importorskip("array_api_strict").zeros(1))


# ---------------------------------------------------------------- batches and processes


@pytest.mark.parametrize("options", [{"labels": [1, 0]}, {}, {"labels": [0, 1], "pos_label": 1}], ids=str)
def test_batches_on_a_device_add_up_to_numpys_table(rows, to_device, options):
    for weights in ({}, {"sample_weight": "w"}, {"frequency": "f"}, {"sample_weight": "w", "frequency": "f"}):
        ours, numpys = steelyard.Accumulator(**options), steelyard.Accumulator(**options)
        for start in (0, 100, 250):
            batch = {name: values[start : start + 100] for name, values in rows.items()}
            there = sent(batch, to_device)
            predicted = (batch["s"] >= 0.3).astype(np.int64)
            numpys.update(batch["y"], predicted, **{key: batch[name] for key, name in weights.items()})
            ours.update(there["y"], to_device(predicted), **{key: there[name] for key, name in weights.items()})
        a, b = pickle.loads(pickle.dumps(ours)).result(), numpys.result()
        assert (a.labels, a.positive) == (b.labels, b.positive) and (a.rows == b.rows).all()
        assert_same(a.weights, b.weights)
        assert_same(a.squares, b.squares)


def test_no_batch_on_a_device_waits_for_it_and_the_result_refuses_what_was_wrong(rows, to_device, monkeypatch):
    there, seen = sent(rows, to_device), steelyard.Accumulator(labels=[0, 1])
    ranks = steelyard.Accumulator(steelyard.score_table)
    bring = Backend.to_host
    monkeypatch.setattr(Backend, "to_host", lambda *_: pytest.fail("brought"))
    seen.update(there["y"], there["y"])
    seen.update(there["y"], there["k"], sample_weight=there["w"])
    ranks.update(there["y"], y_score=there["s"])
    ranks.update(there["y"][:0], y_score=there["s"][:0])
    monkeypatch.setattr(Backend, "to_host", bring)
    others = int(((rows["k"] < 0) | (rows["k"] > 1))[rows["w"] > 0].sum())
    with pytest.raises(steelyard.SteelyardError, match=f"{others:,} rows .* none of the labels 0, 1"):
        seen.result()
    assert ranks.result() == steelyard.score_table(rows["y"], rows["s"])
    weighed = steelyard.Accumulator(labels=[0, 1])
    weighed.update(there["y"], there["y"], sample_weight=to_device(rows["w"] - 0.5))
    with pytest.raises(steelyard.SteelyardError, match="weights that are negative"):
        weighed.result()


@pytest.mark.parametrize(
    ("sample_weight", "frequency", "words"),
    [
        (None, [1.9, 1.5, 0.5], "a whole number; shares are sample weights"),
        (None, [2, -1, 1], "1 rows of the batches have weights that are negative"),
        ([1.0, 1.0, -0.5], [1, -1, 1], "2 rows of the batches have weights that are negative"),
        ([1.0, 1.0, -0.5], [1, 1, 0], "1 rows of the batches have weights that are negative"),
        (None, [1.0, math.nan, 2.0], "negative, infinite or NaN"),
        ([0.0, 0.0, 0.0], None, "is 0 in every row"),
    ],
)
def test_a_batch_on_a_device_refuses_the_weights_that_numpy_refuses(to_device, sample_weight, frequency, words):
    y, predicted = np.array([0, 1, 1]), np.array([0, 1, 0])
    given = {"sample_weight": sample_weight, "frequency": frequency}
    weights = {name: np.array(values) for name, values in given.items() if values is not None}
    seen = steelyard.Accumulator(labels=[0, 1])
    seen.update(to_device(y), to_device(predicted), **sent(weights, to_device))
    with pytest.raises(steelyard.SteelyardError, match=words):
        seen.result()
    with pytest.raises(steelyard.SteelyardError):
        steelyard.confusion(y, predicted, **weights)


PROCESS = """
import sys, torch, steelyard
rank, meeting = int(sys.argv[1]), sys.argv[2]
torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
truth, predicted = torch.tensor([0, 1, 1, 0][: 4 - rank]), torch.tensor([0, 1, 0, 1][: 4 - rank])
labels, weighed, ranks = (steelyard.Accumulator(labels=[0, 1]) for _ in range(3))
ranks = steelyard.Accumulator(steelyard.score_table)
labels.update(truth, predicted)
if rank:
    weighed.update(truth, predicted, sample_weight=truth + 0.5)
ranks.update(truth, y_score=predicted + 0.25 * rank)
steelyard.roc_auc(ranks.result())  # what a table remembers is not sent
for each in (labels, weighed, ranks):
    table = each.across_processes().result()
    print(table.to_json())
torch.distributed.destroy_process_group()
"""


def test_two_processes_of_torch_get_the_table_of_both(tmp_path):
    pytest.importorskip("torch")
    command = [sys.executable, "-c", PROCESS]
    started = [
        subprocess.Popen([*command, str(rank), str(tmp_path / "meeting")], stdout=subprocess.PIPE, text=True)
        for rank in (0, 1)
    ]
    texts = [process.communicate(timeout=300)[0].splitlines() for process in started]
    assert texts[0] == texts[1] and len(texts[0]) == 3
    labels, weighed = map(steelyard.Confusion.from_json, texts[0][:2])
    truth, predicted = [0, 1, 1, 0, 0, 1, 1], [0, 1, 0, 1, 0, 1, 0]
    assert labels == steelyard.confusion(truth, predicted)
    assert weighed == steelyard.confusion(truth[4:], predicted[4:], sample_weight=[0.5, 1.5, 1.5])
    scores = [*predicted[:4], *(score + 0.25 for score in predicted[4:])]
    numpys = steelyard.score_table(truth, np.array(scores, np.float32))  # as torch has them
    assert steelyard.ScoreTable.from_json(texts[0][2]) == numpys


def test_a_state_that_is_none_or_of_other_labels_is_refused():
    torch = pytest.importorskip("torch")
    seen = steelyard.Accumulator(labels=[0, 1])
    seen.update([0, 1, 1], [0, 1, 0])
    state = seen.state()
    assert steelyard.Accumulator(labels=[0, 1]).with_state(state).result() == seen.result()
    twice = {name: values * 2 for name, values in state.items()}
    assert seen.with_state(twice).result() == (seen + seen).result()
    for labels in ([0, 1, 2], ["a", "b"], [1, 0]):
        with pytest.raises(steelyard.SteelyardError, match="not of the labels"):
            steelyard.Accumulator(labels=labels).with_state(state)
    for bad in ({}, {"rows": torch.zeros(3)}, None, {**state, "rows": [1, 2]}):
        with pytest.raises(steelyard.SteelyardError, match="A state holds the tensors rows"):
            seen.with_state(bad)
    with pytest.raises(steelyard.SteelyardError, match="sums below 0"):
        seen.with_state({**state, "rows": -state["rows"]})
    with pytest.raises(steelyard.SteelyardError, match="not of the labels"):
        seen.with_state({**state, "rows": state["rows"][:4]})
    scores = steelyard.Accumulator(steelyard.score_table, labels=[0, 1], pos_label=1)
    for each in (scores, steelyard.Accumulator()):
        with pytest.raises(steelyard.SteelyardError, match="declared labels"):
            each.with_state(state)


def test_the_state_needs_declared_labels_and_processes_need_to_be_joined():
    pytest.importorskip("torch")
    seen = steelyard.Accumulator()
    seen.update([0, 1], [0, 1])
    with pytest.raises(steelyard.SteelyardError, match="declared labels"):
        seen.state()
    with pytest.raises(steelyard.SteelyardError, match="init_process_group"):
        seen.across_processes()
