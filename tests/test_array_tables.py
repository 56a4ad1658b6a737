"""Labels counted into a Confusion: any dtype, any partition, any weights, and what is refused."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from checks import assert_refused
from hypothesis import given
from hypothesis import strategies as st

import steelyard
from steelyard import Accumulator, Confusion, Counts, confusion, get_metric, list_metrics, score_table
from steelyard.exceptions import InputError
from steelyard.metrics.values import ClassCells

TRUE, PRED = [0, 0, 1, 1, 1, 0, 1], [0, 1, 1, 0, 1, 0, 1]
TABLE = [[2, 1], [1, 3]]


def as_pandas(values):
    return pytest.importorskip("pandas").Series(values)


def as_polars(values):
    return pytest.importorskip("polars").Series(values)


def as_arrow(values):
    return pytest.importorskip("pyarrow").chunked_array([values[:3], values[3:]])


FORMS = {
    "list": list, "tuple": tuple, "array": np.array, "bool": lambda v: np.array(v, bool), "int8": lambda v: np.array(v, np.int8),
    "uint64": lambda v: np.array(v, np.uint64), "float": lambda v: np.array(v, float), "float32": lambda v: np.array(v, np.float32),
    "object": lambda v: np.array(v, object), "strided": lambda v: np.repeat(v, 2)[::2], "pandas": as_pandas, "polars": as_polars,
    "arrow": as_arrow, "readonly": lambda v: np.broadcast_to(np.array(v), len(v)), "big-endian": lambda v: np.array(v, ">i4"),
    "pandas nullable": lambda v: as_pandas(v).astype("Int64"), "pandas bool": lambda v: as_pandas(v).astype("boolean"),
}  # fmt: skip


@pytest.mark.parametrize("one", FORMS)
@pytest.mark.parametrize("other", ["list", "bool", "float", "object", "polars"])
def test_the_form_of_the_labels_changes_nothing(one, other):
    table = confusion(FORMS[one](TRUE), FORMS[other](PRED))
    assert table.matrix.tolist() == TABLE
    assert table.labels == (0, 1)
    assert steelyard.recall(table) == 0.75


NAMES = ["no", "yes"]
TEXTS = {
    "list": list, "U": np.array, "S": lambda v: np.array(v, "S"), "object": lambda v: np.array(v, object),
    "StringDType": lambda v: np.array(v, np.dtypes.StringDType()), "wide": lambda v: np.array(v, "U40"),
    "pandas": as_pandas, "category": lambda v: as_pandas(v).astype("category"), "polars": as_polars, "arrow": as_arrow,
    "polars category": lambda v: as_polars(v).cast(pytest.importorskip("polars").Categorical),
}  # fmt: skip


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("times", [1, 1_000], ids=["short", "long"])
def test_text_labels_of_any_form(form, times):
    true, pred = ([NAMES[i] for i in column] * times for column in (TRUE, PRED))
    table = confusion(TEXTS[form](true), TEXTS[form](pred))
    assert (table.matrix == np.array(TABLE) * times).all()
    assert [getattr(label, "decode", lambda label=label: label)() for label in table.labels] == NAMES


@pytest.mark.parametrize("n", [50, 40_000])
@pytest.mark.parametrize(
    "make",
    [
        lambda r, n: r.integers(-3, 4, n), lambda r, n: r.integers(0, 90, n), lambda r, n: r.integers(10**12, 10**12 + 5, n),
        lambda r, n: r.choice([-(2**62), 0, 7, 2**62], n), lambda r, n: r.choice(["ä", "b\u20ac", "c" * 30, ""], n),
        lambda r, n: r.choice([b"a", b"bb"], n), lambda r, n: r.integers(0, 2, n).astype(bool), lambda r, n: r.integers(0, 9, n) * 1.0,
        lambda r, n: np.array([f"label {i:06d}" for i in range(500)])[r.integers(0, 500, n)],
    ],
)  # fmt: skip
def test_counts_equal_a_dictionary(make, n):
    rng = np.random.default_rng(n)
    true, pred = make(rng, n), make(rng, n)
    pairs = {}
    for pair in zip(true.tolist(), pred.tolist(), strict=True):
        pairs[pair] = pairs.get(pair, 0) + 1
    table = confusion(true, pred)
    counted = {
        (a, b): int(table.rows[i, j])
        for i, a in enumerate(table.labels)
        for j, b in enumerate(table.labels)
        if table.rows[i, j]
    }
    assert counted == pairs
    assert list(table.labels) == sorted({*true.tolist(), *pred.tolist()})


@pytest.mark.parametrize("times", [1, 1_000], ids=["short", "long"])
def test_a_negative_label_that_is_only_predicted_is_a_label_of_its_own(times):
    table = confusion(np.tile([1, 2, 2], times), np.tile([-1, 2, 1], times))
    assert table.labels == (-1, 1, 2)
    assert (table.matrix == times * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1]])).all()


def test_the_cells_of_many_labels_add_up_over_more_rows_than_are_sorted_at_once():
    labels = np.arange(4_300_000, dtype=np.int32) % 1_009
    table = confusion(labels, np.where(labels == 7, 8, labels))
    assert table.rows.sum() == 4_300_000
    of_seven = (labels == 7).sum()
    assert (table.rows[7, 8], table.rows[7, 7], table.rows[8, 8]) == (of_seven, 0, (labels == 8).sum())


def test_a_label_seen_late_is_not_lost():
    true = np.array(["common"] * 40_000 + ["rare"])
    assert confusion(true, true).matrix.tolist() == [[40_000, 0], [0, 1]]


labels = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.integers(1, 5)), min_size=1, max_size=40
)


@given(labels, st.lists(st.integers(0, 40), max_size=4), st.randoms())
def test_any_partition_in_any_order_merges_to_the_whole(rows, cuts, shuffle):
    whole = confusion(*([row[i] for row in rows] for i in (0, 1)))
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    parts = [rows[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    shuffle.shuffle(parts)
    empty = Confusion.of_rows((), np.zeros((0, 0), dtype=np.int64))
    tables = [confusion([r[0] for r in part], [r[1] for r in part]) if part else empty for part in parts]
    assert sum(tables) == whole
    seen = Accumulator()
    for part in parts:
        seen.update([r[0] for r in part], [r[1] for r in part])
    assert seen.result() == whole
    assert Confusion.from_json(whole.to_json()) == whole
    assert pickle.loads(pickle.dumps(whole)) == whole


@given(labels)
def test_frequency_is_repetition_and_zero_weight_is_absence(rows):
    true, pred, times = ([row[i] for row in rows] for i in range(3))
    repeated = confusion(np.repeat(true, times), np.repeat(pred, times))
    assert confusion(true, pred, frequency=times) == repeated
    weighted = confusion(true, pred, sample_weight=times)
    assert np.array_equal(weighted.matrix, repeated.matrix)
    assert (weighted.squares == confusion(true, pred, sample_weight=np.square(times)).weights).all()
    assert weighted.rows.sum() == len(rows)
    for zero in ({"sample_weight": [*times, 0]}, {"frequency": [*times, 0]}):
        absent = confusion([*true, "z"], [*pred, "y"], **zero)
        assert absent == (weighted if "sample_weight" in zero else repeated)
    for metric in (m for m in list_metrics() if m.classes):
        assert metric(weighted) == pytest.approx(metric(repeated), nan_ok=True)


def test_accumulators_merge_and_weigh_scores():
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 300), rng.random(300).round(2)
    one, two = Accumulator(score_table), Accumulator(score_table)
    for part in np.array_split(np.arange(300), 7):
        (one if part[0] % 2 else two).update(y[part], score[part])
    assert steelyard.roc_auc((one + two).result()) == steelyard.roc_auc(y, score)
    with pytest.raises(ValueError, match="Nothing has been counted"):
        Accumulator().result()
    with pytest.raises(ValueError, match="count differently"):
        Accumulator() + one


# ---------------------------------------------------------------- metrics of classes


def close(value, expected):
    return np.isnan(value) if expected is None else abs(value - expected) <= max(1e-12 * abs(expected), 1e-14)


def test_every_golden_value_of_every_multi_class_table(golden):
    for case in golden("multiclass")["cases"]:
        matrix, expected = np.array(case["matrix"]), case["expected"]
        table = Confusion.of_rows([chr(97 + i) for i in range(len(matrix))], matrix)
        for name in ("accuracy", "balanced_accuracy", "tpnr", "g_mean", "ac_score", "kappa", "mcc"):
            assert close(get_metric(name)(table), expected[name]), (case["name"], name)
            assert (get_metric(name).why(table) is None) == (expected[name] is not None)
        for name in ("precision", "recall", "f1"):
            metric = get_metric(name)
            each = expected[f"{name}_per_class" + ("_counts" if name == "f1" else "")]
            assert all(map(close, metric(table, average=None), each))
            for average, word in (("macro", "macro"), ("weighted", "kalita_micro")):
                assert close(metric(table, average=average), expected[f"{word}_{name}"]), (case["name"], name)
                assert close(metric(table, average=average, undefined=0), expected[f"{word}_{name}_zero"])
            assert close(metric(table, average="micro"), expected["standard_micro_prf"])
        assert [list(map(int, cells)) for cells in zip(*table.one_vs_rest(), strict=True)] == expected["one_vs_rest"]


def test_averages_over_both_classes_of_the_binary_tables(golden):
    for case in golden("binary")["cases"]:
        table = Confusion.of_rows("np", np.array([[case["tn"], case["fp"]], [case["fn"], case["tp"]]]))
        for name, expected in case["averages_over_both_classes"].items():
            if name == "standard_micro_prf":
                assert close(steelyard.f1(table, average="micro"), expected)
                continue
            word, _, rest = name.replace("kalita_micro", "weighted").partition("_")
            metric, _, zero = rest.partition("_")
            options = {"undefined": 0} if zero else {}
            assert close(get_metric(metric)(table, average=word, **options), expected), (case["name"], name)


@pytest.mark.parametrize("metric", [m for m in list_metrics() if m.classes], ids=lambda m: m.name)
def test_two_classes_are_a_special_case_of_many(metric):
    rng = np.random.default_rng(3)
    matrices = rng.integers(0, 4, (400, 2, 2))
    many = metric.classes(ClassCells.of(matrices), **metric.parameters)
    np.testing.assert_allclose(many, metric(Counts.from_matrix(matrices)), rtol=1e-13, atol=1e-15)


def test_mcc_kappa_and_balanced_accuracy_of_many_classes_equal_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    for k in (2, 3, 7):
        true, pred, weight = rng.integers(0, k, 300), rng.integers(0, k, 300), rng.random(300)
        for options in ({}, {"sample_weight": weight}):
            assert steelyard.mcc(true, pred, **options) == pytest.approx(
                metrics.matthews_corrcoef(true, pred, **options)
            )
            assert steelyard.balanced_accuracy(true, pred, **options) == pytest.approx(
                metrics.balanced_accuracy_score(true, pred, **options)
            )
            assert steelyard.informedness(true, pred, **options) == pytest.approx(
                metrics.balanced_accuracy_score(true, pred, adjusted=True, **options)
            )
            for weights in (None, "linear", "quadratic"):
                assert steelyard.kappa(true, pred, weights=weights, **options) == pytest.approx(
                    metrics.cohen_kappa_score(true, pred, weights=weights, **options)
                )


def test_one_against_the_rest_and_the_average_it_is_part_of():
    true, pred = list("aabbcc"), list("ababcb")
    assert steelyard.precision(true, pred, pos_label="b") == pytest.approx(1 / 3)
    each = steelyard.precision(true, pred, average=None)
    assert steelyard.precision(true, pred, average="macro") == pytest.approx(each.mean())
    kept = confusion(true, pred, pos_label="b")
    assert steelyard.precision(kept) == pytest.approx(1 / 3)
    assert steelyard.recall(true, pred, average="weighted") == steelyard.accuracy(true, pred)
    assert steelyard.recall(true, pred, average="macro") == pytest.approx(steelyard.balanced_accuracy(true, pred))


def test_an_absent_class_makes_the_average_undefined_and_is_named():
    true, pred = ["a", "b", "b"], ["a", "b", "c"]
    assert np.isnan(steelyard.recall(true, pred, average="macro"))
    assert steelyard.recall.why(true, pred, average="macro") == "class 'c': no positives"
    assert steelyard.recall(true, pred, average="weighted") == pytest.approx(2 / 3)
    assert steelyard.balanced_accuracy.why(true, pred) == "class 'c' has no rows in the truth"
    assert steelyard.recall(true, pred, average="macro", labels=["a", "b", "c", "d"], undefined=0) == 1.5 / 4


def test_the_label_set_may_be_declared_in_any_order():
    assert confusion([1, 1], [1, 0], labels=[1, 0]).matrix.tolist() == [[1, 1], [0, 0]]
    assert confusion([], [], labels=["a", "b"]).rows.sum() == 0
    assert confusion([True, False], [True, True]).labels == (False, True)
    assert confusion([-1, 1], [1, 1]).positive_label() == 1


def test_merging_keeps_the_declared_order_of_the_labels():
    order = ["low", "mid", "high"]
    true, pred = (
        ["low", "mid", "high", "low", "mid", "high", "low"],
        ["low", "high", "mid", "mid", "mid", "high", "high"],
    )
    whole = steelyard.kappa(true, pred, labels=order, weights="linear")
    parts = confusion(true[:3], pred[:3], labels=order) + confusion(true[3:], pred[3:], labels=order)
    assert steelyard.kappa(parts, weights="linear") == whole
    seen = Accumulator(labels=np.array(order))
    seen.update(true[:3], pred[:3])
    seen.update(true[3:], pred[3:])
    assert steelyard.kappa(seen.result(), weights="linear") == whole
    pandas = pytest.importorskip("pandas")
    ordered = pandas.Categorical(true, categories=[*order, "never"], ordered=True)
    assert confusion(ordered, pred).labels == ("low", "mid", "high")
    assert steelyard.kappa(ordered, pred, weights="linear") == whole


def test_a_batch_without_the_positive_is_no_error():
    seen = Accumulator(pos_label="spam")
    seen.update(["ham", "ham"], ["ham", "ham"])
    seen.update(["spam", "ham"], ["spam", "spam"])
    assert steelyard.recall(seen.result()) == 1
    scores = Accumulator(score_table, pos_label="spam")
    scores.update(["ham", "ham"], [0.1, 0.2])
    scores.update(["spam", "spam"], [0.3, 0.3])
    assert steelyard.roc_auc(scores.result()) == 1
    assert len(scores.result().positive.scores) == 1
    assert sum([seen, seen]).result().rows.sum() == 8


def test_frequencies_are_exact_and_refuse_to_overflow():
    assert confusion([0, 1], [0, 1], frequency=[2**53 + 1, 1]).rows[0, 0] == 2**53 + 1
    for big in ([2**62] * 3, [1e19, 1, 1]):
        with pytest.raises(OverflowError, match="largest whole count"):
            confusion([0, 0, 1], [0, 0, 1], frequency=big)


def test_cells_of_classes_are_exact():
    table = confusion(list("aabbc"), list("abbbc"), frequency=[10**18, 1, 1, 1, 1])
    assert steelyard.specificity(table, average=None)[0] == steelyard.specificity(table, pos_label="a") == 1.0
    heavy = confusion(list("aabbc"), list("abbbc"), sample_weight=[1e17, 1, 1, 1, 1])
    assert steelyard.specificity(heavy, average=None)[0] == 1.0


def test_weighted_values_stay_in_their_range():
    rng = np.random.default_rng(0)
    for _ in range(60):
        n, w = 40, rng.random(40)
        y, score = np.arange(n) < 15, np.where(np.arange(n) < 15, 1.0, 0.0) + rng.random(n) * 0.5
        for name in ("roc_auc", "average_precision", "mean_average_precision"):
            assert get_metric(name)(y, score, sample_weight=w) <= 1
            assert get_metric(name)(y, -score, sample_weight=w) >= 0
        table = score_table(y, score, sample_weight=w)
        assert table.counts[-1].fn == table.counts[-1].tn == 0
        labels = rng.integers(0, 4, n)
        assert steelyard.accuracy(labels, labels, sample_weight=w) == 1


def test_labels_that_are_enums_keep_apart():
    from enum import Enum

    class Kind(str, Enum):  # noqa: UP042 - what users have
        A = "a"
        B = "b"

    assert confusion([Kind.A, Kind.B], [Kind.A, Kind.A]).matrix.tolist() == [[1, 0], [1, 0]]


def test_threads_may_share_a_table(sorts_slowly):
    from concurrent.futures import ThreadPoolExecutor

    sorts_slowly(False)
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 200_000), rng.random(200_000)
    for _ in range(3):
        table = score_table(y, score)
        with ThreadPoolExecutor(4) as pool:
            values = set(pool.map(lambda _, table=table: steelyard.roc_auc(table), range(4)))
        assert values == {steelyard.roc_auc(y, score)}


def test_joblib_and_pickle_keep_a_table_unweighted(tmp_path):
    joblib = pytest.importorskip("joblib")
    table = confusion(TRUE, PRED)
    joblib.dump(table, tmp_path / "table")
    again = joblib.load(tmp_path / "table")
    assert again == table
    assert not again.weighted


@pytest.mark.parametrize("prevalence", [0.5, 0.01], ids=["even", "rare"])
def test_a_score_table_is_pickled_as_it_was_given_once_metrics_were_read(prevalence):
    rng = np.random.default_rng(0)
    y, score = rng.random(5_000) < prevalence, rng.random(5_000)
    table = score_table(y, score)
    fresh = pickle.dumps(table)
    values = {name: getattr(steelyard, name)(table) for name in ("roc_auc", "average_precision", "pr_auc", "log_loss")}
    steelyard.interval("roc_auc", table)
    assert len(pickle.dumps(table)) == len(fresh)
    for again in (pickle.loads(pickle.dumps(table)), copy.copy(table), copy.deepcopy(table)):
        assert again == table
        assert {name: getattr(steelyard, name)(again) for name in values} == values


def test_a_tally_and_an_accumulator_of_scores_are_pickled_once_they_were_evaluated():
    y, score = [0, 1, 1, 0, 1], [0.1, 0.4, 0.8, 0.2, 0.1]
    counted = steelyard.tally(pl.DataFrame({"y": y, "s": score}), true="y", score="s")
    seen = Accumulator(score_table, labels=[0, 1], pos_label=1)
    seen.update(y, y_score=score)
    assert steelyard.roc_auc(counted.scores) == steelyard.roc_auc(seen.result())
    assert pickle.loads(pickle.dumps(counted)) == counted
    assert pickle.loads(pickle.dumps(seen)).result() == seen.result()


def test_a_thousand_labels_fit():
    many = np.arange(1_000)
    assert steelyard.accuracy(many, many) == steelyard.mcc(many, many) == steelyard.g_mean(many, many) == 1


# ---------------------------------------------------------------- bad input

Y = [0, 1, 1, 0]
BAD = {
    "lengths": (lambda: confusion(Y, [0, 1]), ValueError, "y_true has 4, y_pred has 2 rows"),
    "weights' length": (lambda: confusion(Y, Y, sample_weight=[1]), ValueError, "sample_weight has 1"),
    "NaN weight": (lambda: confusion(Y, Y, sample_weight=[1, 1, 1, np.nan]), ValueError, "sample_weight holds NaN"),
    "negative weight": (lambda: confusion(Y, Y, sample_weight=[1, 1, 1, -1]), ValueError, "cannot be negative"),
    "zero weights": (lambda: confusion(Y, Y, sample_weight=[0, 0, 0, 0]), ValueError, "0 in every row"),
    "text weights": (lambda: confusion(Y, Y, sample_weight=list("abcd")), TypeError, "sample_weight must hold numbers"),
    "broken frequency": (lambda: confusion(Y, Y, frequency=[1, 1, 1, 0.5]), ValueError, "a whole number"),
    "empty": (lambda: confusion([], []), ValueError, "are empty"),
    "one class": (lambda: steelyard.accuracy([1, 1], [1, 0]), ValueError, "The truth holds one class only, 1"),
    "positive absent": (lambda: steelyard.recall(Y, Y, pos_label=2), ValueError, "The positive class 2 does not occur"),
    "positive near": (lambda: steelyard.recall(["spam", "ham"], ["ham", "ham"], pos_label="spm"), ValueError, "Did you mean 'spam'"),
    "positive not true": (lambda: steelyard.recall(Y, [0, 1, 2, 0], pos_label=2), ValueError, "does not occur in the truth"),
    "ambiguous": (lambda: steelyard.recall(list("abab"), list("aabb")), ValueError, "pos_label=, or ask for average="),
    "ambiguous K": (lambda: steelyard.f1([0, 1, 2], [0, 1, 2]), ValueError, "pos_label=, or ask for average="),
    "labels": (lambda: confusion(range(1_001), range(1_001)), ValueError, "1,001 different labels"),
    "2-D": (lambda: confusion(np.ones((4, 3)), Y), ValueError, "label sets"),
    "column of one": (lambda: confusion(np.ones((4, 1)), Y), ValueError, "ravel"),
    "3-D": (lambda: confusion(np.ones((4, 1, 1)), Y), ValueError, "3 dimensions"),
    "ragged": (lambda: confusion([[1], [1, 2]], Y[:2]), TypeError, "rows differ"),
    "scalar": (lambda: confusion(1, 1), TypeError, "must be a column"),
    "string": (lambda: confusion("abab", Y), TypeError, "A frame or file holds its rows"),
    "None": (lambda: confusion(None, Y), TypeError, "must be a column"),
    "continuous": (lambda: confusion([0.2, 0.7], [0, 1]), ValueError, "a label is text or a whole number"),
    "NaN label": (lambda: confusion([0, 1, np.nan], [0, 1, 1]), ValueError, "missing labels"),
    "None label": (lambda: confusion(["a", None], ["a", "a"]), ValueError, "missing labels"),
    "mixed": (lambda: confusion(["a", 1], ["a", "a"]), TypeError, "mixes text such as 'a' and numbers such as 1"),
    "two kinds": (lambda: confusion(["0", "1"], [0, 1]), TypeError, "y_true holds text such as '0' and y_pred numbers"),
    "dates": (lambda: confusion(np.array(["2020-01-01"], "M8[D]"), [1]), TypeError, "labels are text, whole numbers"),
    "lists as labels": (lambda: confusion(np.array([[1], None], object), Y[:2]), TypeError, "cannot be labels"),
    "undeclared": (lambda: confusion(Y, [0, 1, 2, 0], labels=[0, 1]), ValueError, "y_pred holds 2, which is none"),
    "declared twice": (lambda: confusion(Y, Y, labels=[0, 0]), ValueError, "two or more labels, each once"),
    "average": (lambda: steelyard.f1(Y, Y, average="mean"), ValueError, "average= is '"),
    "both": (lambda: steelyard.f1(Y, Y, average="macro", pos_label=1), ValueError, "contradict"),
    "alone": (lambda: steelyard.f1(Y), TypeError, r"or \(y_true, y_pred\), not list alone"),
    "scores needed": (lambda: steelyard.roc_auc(confusion(Y, Y)), TypeError, "metric of scores"),
    "kappa weights": (lambda: steelyard.kappa([0, 1, 2], [0, 1, 2], weights="cubic"), ValueError, "is one of linear, quadratic"),
    "positives differ": (lambda: confusion(Y, Y, pos_label=0) + confusion(Y, Y, pos_label=1), ValueError, "different positives"),
    "option on counts": (lambda: steelyard.precision(Counts(1, 2, 3, 4), average="macro"), ValueError, "one positive class already"),
    "weights on a table": (lambda: steelyard.precision(confusion(Y, Y), sample_weight=[1] * 4), ValueError, "is about rows"),
    "other positive": (lambda: steelyard.roc_auc(score_table(Y, Y), pos_label=0), ValueError, "positive class 1, not 0"),
    "curve of a table": (lambda: steelyard.roc_curve(score_table(Y, Y), pos_label=0), TypeError, "holds its rows already"),
    "word": (lambda: steelyard.roc_auc(Y, Y, multi_class="OVO"), ValueError, "one of ovr, ovo"),
    "kappa word": (lambda: steelyard.kappa(Y, [0, 1, 1, 1], weights="lineer"), ValueError, "one of linear, quadratic"),
    "no rows": (lambda: steelyard.recall([], [], labels=[0, 1]), ValueError, "are empty"),
    "NA": (lambda: confusion(as_pandas(["a", None]).astype("string"), ["a", "a"]), ValueError, "missing labels"),
    "NaN declared": (lambda: confusion(Y, Y, labels=[0, np.nan]), ValueError, "missing labels"),
    "masked scores": (lambda: steelyard.roc_auc([0, 1, 2], np.ma.array(np.eye(3), mask=np.eye(3) > 0.5), average="macro"), ValueError, "masked"),
    "saved labels": (lambda: Confusion.from_json(saved(labels=None)), ValueError, "each label once"),
    "bytes saved": (lambda: confusion([b"a"], [b"b"]).to_json(), TypeError, "JSON cannot hold"),
    "negative saved": (lambda: Confusion.from_json(saved(rows=[[1, -1], [0, 2]])), ValueError, "not negative"),
    "shape saved": (lambda: Confusion.from_json(saved(rows=[[1, 1]])), ValueError, "2 x 2 numbers"),
    "labels saved": (lambda: Confusion.from_json(saved(labels=[0, 0])), ValueError, "each label once"),
    "positive saved": (lambda: Confusion.from_json(saved(positive=5)), ValueError, "none of the saved labels"),
}  # fmt: skip


def saved(**changes):
    return json.dumps({**confusion(Y, Y).saved(), **changes})


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    assert_refused(*BAD[case])


def test_sparse_labels_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="is sparse"):
        confusion(sparse.csr_matrix([[0, 1]]), [0, 1])


def test_merging_never_overflows():
    big = Confusion.of_rows((0, 1), np.full((2, 2), 2**62))
    with pytest.raises(OverflowError):
        big + big


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("form", ["array", "list", "objects", "pandas", "nullable", "polars", "arrow"])
def test_a_threshold_is_read_in_the_precision_of_the_scores(kind, form):
    cents = np.arange(1, 100) / 100
    scores, truth = cents.astype(kind), np.arange(99) % 2
    ways = {
        "array": lambda: scores,
        "list": lambda: list(scores),
        "objects": lambda: np.array([*scores, None], dtype=object)[:-1],
        "pandas": lambda: as_pandas(scores),
        "nullable": lambda: as_pandas(scores).astype("Float32" if kind is np.float32 else "Float64"),
        "polars": lambda: as_polars(scores),
        "arrow": lambda: pytest.importorskip("pyarrow").array(scores),
    }  # fmt: skip
    if form == "nullable" and kind is np.float16:
        pytest.skip("pandas has no nullable float16")
    if form == "polars" and kind is np.float16 and not hasattr(pytest.importorskip("polars"), "Float16"):
        pytest.skip("this Polars has no float16")
    column = ways[form]()
    table = steelyard.score_table(truth, column)
    for cent in cents.tolist():
        assert table.at(cent) == steelyard.confusion(truth, scores >= cent, labels=[0, 1]).counts()
    weighted = steelyard.evaluate(truth, y_score=column, threshold=0.7, sample_weight=np.full(99, 2.0))
    assert weighted.confusion.rows.tolist() == steelyard.confusion(truth, scores >= 0.7).rows.tolist()
    assert steelyard.Evaluation.from_json(weighted.to_json()).scores.precision == kind.__name__
    by_group = steelyard.evaluate(truth, y_score=column, threshold=0.7, by=np.arange(99) % 3)
    assert sum(group.confusion.rows.sum(0)[1] for group in by_group.groups) == (scores >= 0.7).sum()


def test_scores_of_two_precisions_are_compared_in_the_finer_one():
    fine, coarse = (steelyard.score_table([0, 1], np.array([0.1, 0.7], kind)) for kind in (np.float64, np.float32))
    assert (coarse.at(0.7).tp, (fine + coarse).at(0.7).tp, (coarse + coarse).at(0.7).tp) == (1, 1, 2)
    spoiled = {**coarse.saved(), "precision": "float8"}
    assert_refused(lambda: steelyard.ScoreTable.from_json(spoiled), InputError, "one of float16, float32, float64")


def test_series_of_one_index_in_another_order_are_refused():
    pd = pytest.importorskip("pandas")
    y, p = pd.Series(TRUE, index=list("abcdefg")), pd.Series(PRED, index=list("abcdefg"))
    turned, score, words = p[::-1], p[::-1] / 2, "have the same index in different orders"
    attempts = {
        "confusion": lambda: confusion(y, turned),
        "metric": lambda: steelyard.recall(y, turned),
        "weights": lambda: steelyard.recall(y, p, sample_weight=turned + 1),
        "scores": lambda: steelyard.roc_auc(y, score),
        "evaluate": lambda: steelyard.evaluate(y, turned),
        "groups": lambda: steelyard.evaluate(y, p, by=turned),
        "named groups": lambda: steelyard.evaluate(y, p, by={"site": turned}),
        "clusters": lambda: steelyard.interval("recall", y, p, cluster=turned),
        "paired": lambda: steelyard.tables.paired(y, p, turned),
        "compare": lambda: steelyard.compare(y, {"a": p, "b": turned}),
        "batches": lambda: Accumulator().update(y, turned),
        "numbers": lambda: steelyard.recall(y.reset_index(drop=True), p.reset_index(drop=True).sample(frac=1, random_state=1)),
    }  # fmt: skip
    for attempt in attempts.values():
        assert_refused(attempt, InputError, words)
    assert confusion(y, turned.reindex(y.index)) == confusion(y, turned.to_numpy()[::-1]) == confusion(TRUE, PRED)
    assert confusion(y, p.reset_index(drop=True)) == confusion(y, PRED) == confusion(y, p) == confusion(TRUE, PRED)


def test_probabilities_are_matched_to_the_classes_by_the_names_of_their_columns():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 200)]
    raw = rng.random((200, 3)) + (y[:, None] == ["a", "b", "c"])
    scores = raw / raw.sum(1, keepdims=True)
    named = pd.DataFrame(scores, columns=["a", "b", "c"])[["c", "a", "b"]]
    for metric in (steelyard.roc_auc, steelyard.average_precision):
        assert metric(y, named, average="macro") == metric(y, scores, average="macro")
        assert metric(y, as_polars_frame(named), average="macro") == metric(y, scores, average="macro")
    for start in ("p_", "proba of "):
        prefixed = named.add_prefix(start)
        assert steelyard.roc_auc(y, prefixed, average="macro") == steelyard.roc_auc(y, scores, average="macro")
    codes = (y[:, None] == ["a", "b", "c"]).argmax(1)
    assert steelyard.roc_auc(codes, named.set_axis(["2", "0", "1"], axis=1), average="macro") == steelyard.roc_auc(codes, scores, average="macro")  # fmt: skip
    for counted in (pd.DataFrame(scores), pytest.importorskip("polars").DataFrame(scores)):
        assert steelyard.roc_auc(y, counted, average="macro") == steelyard.roc_auc(y, scores, average="macro")
    others = pd.DataFrame(scores, columns=["p", "q", "r"])
    assert_refused(lambda: steelyard.roc_auc(y, others, average="macro"), InputError, "columns of y_score are called")
    words = "columns of y_score are called 'a', 'b', 'd' and the classes 'a', 'b', 'c'"
    wrong = pd.DataFrame(scores, columns=["a", "b", "d"])
    assert_refused(lambda: steelyard.roc_auc(y, wrong, average="macro"), InputError, words)


def as_polars_frame(frame):
    return pytest.importorskip("polars").DataFrame({name: frame[name].to_numpy() for name in frame})


def test_labels_that_differ_in_blanks_alone_get_a_hint():
    assumed = steelyard.evaluate([" yes", "no", "no", "yes"], ["yes", "no", "no", " yes"], pos_label="yes").assumed
    assert "The labels ' yes' and 'yes' differ in blanks or case alone; are they one class?" in assumed


@pytest.mark.parametrize(
    "ask", [steelyard.recall, partial(steelyard.interval, "recall"), partial(steelyard.chance, "recall")]
)
def test_a_single_metric_warns_where_predictions_differ_from_the_truth_in_blanks_alone(ask):
    with pytest.warns(UserWarning, match="' yes' and 'yes' differ in blanks or case alone") as caught:
        ask(["yes", "no", "yes"], [" yes", "no", " yes"], pos_label="yes")
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]
    ask(["a", "A", "b"], ["a", "A", "c"], pos_label="a")  # both occur in the truth, so they are meant


def test_scores_exactly_at_one_half_are_counted_and_a_threshold_beside_all_scores_gets_a_hint():
    truth, scores = [1, 0, 0, 1], [0.5, 0.5, 0.1, 0.9]
    at_half = (
        "2 rows score exactly 0.5 and count as predicted positive; scikit-learn's argmax predicts the other class."
    )
    assert at_half in steelyard.evaluate(truth, y_score=scores).assumed
    assert at_half in steelyard.evaluate(truth, y_score=np.float32(scores), threshold=0.5).assumed
    assert not steelyard.evaluate(truth, y_score=scores, threshold=0.1).assumed
    percent = "The threshold 50 lies outside 0 to 1, where all scores are; as a percentage it would be 0.5."
    assert steelyard.evaluate(truth, y_score=scores, threshold=50).assumed == (percent,)
    assert not steelyard.evaluate(truth, y_score=[3, 60, 2, 70], threshold=50).assumed


@pytest.mark.parametrize("count", [confusion, score_table], ids=["labels", "scores"])
def test_threads_that_share_an_accumulator_count_every_row_once(count):
    seen, before = Accumulator(count, labels=[0, 1], pos_label=1), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            jobs = [pool.submit(seen.update, TRUE, PRED) for _ in range(400)]
            for i, job in enumerate(jobs):
                job.result()
                if i % 40 == 0:
                    seen.result()
    finally:
        sys.setswitchinterval(before)
    expected = count(TRUE * 400, PRED * 400, labels=[0, 1], pos_label=1)
    assert seen.result() == pickle.loads(pickle.dumps(seen)).result() == expected


@pytest.mark.parametrize("scores", [[0, 1, 7], [0.2, 0.4, 0.9], [0, 1, 1]])
def test_scores_are_not_counted_as_labels_by_an_accumulator_of_labels(scores):
    with pytest.raises(TypeError, match=r"counts predicted labels.* Accumulator\(score_table\)"):
        Accumulator().update([0, 1, 1], y_score=scores)
    seen = Accumulator(score_table)
    seen.update([0, 1, 1], y_score=scores)
    assert seen.result() == score_table([0, 1, 1], scores)


def test_a_batch_that_is_refused_leaves_the_accumulator_as_it_was():
    seen = Accumulator()
    seen.update(TRUE, PRED)
    with pytest.raises(TypeError, match="give all labels as one kind"):
        seen.update(["cat"], ["dog"])
    seen.update(TRUE, PRED)
    assert seen.result() == confusion(TRUE * 2, PRED * 2)


FORKED = """
import os, polars as pl, steelyard
frame = pl.DataFrame({"y": [0, 1] * 5000, "p": [0, 1] * 5000})
steelyard.tally(frame.lazy(), true="y", pred="p")
child = os.fork()
if child:
    assert steelyard.tally(frame, true="y", pred="p").rows == 10_000
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
try:
    steelyard.tally(frame, true="y", pred="p")
except steelyard.SteelyardError as error:
    os._exit(7 if "forked while Polars was running" in str(error) else 1)
os._exit(2)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the threads of a process are known on Linux alone")
def test_polars_in_a_forked_process_is_refused_and_does_not_hang():
    pytest.importorskip("polars")
    words = [sys.executable, "-W", "ignore", "-c", FORKED]
    assert subprocess.run(words, timeout=600, check=False, env={**os.environ}).returncode == 7


# ---------------------------------------------------------------- very large labels, tiny and huge weights

BIG = 2**63


@pytest.mark.parametrize("times", [1, 1_500], ids=["short", "long"])
@pytest.mark.parametrize(
    "labels",
    [
        [BIG, BIG + 1, -1],
        np.array([BIG, BIG + 1, 1], np.uint64),
        np.array([BIG, BIG + 1, 1], np.uint64).astype(np.longdouble),
        np.array([2**53, 2**53 + 1, 1]).astype(np.longdouble),
        np.array([2.0**62, 2.0**62 - 1024, 1.0]),
        np.array([2.0**63, 2.0**62, -(2.0**63)]),
        np.array([63, 64, 0]),
        np.array([2**70, 2**70 + 1, 1], dtype=object),
    ],
    ids=["list", "uint64", "longdouble", "small longdouble", "float", "large float", "63 and 64", "object"],
)
def test_large_labels_are_kept_apart(labels, times):
    true = labels * times if isinstance(labels, list) else np.tile(labels, times)
    exact = [int(label) for label in labels]
    table = confusion(true, true[::-1])
    assert table.labels == tuple(sorted(exact))
    assert all(type(label) is int for label in table.labels)
    assert confusion(true, exact * times).matrix.tolist() == (np.eye(3, dtype=int) * times).tolist()
    pred = [exact[0]] * len(true)
    assert steelyard.accuracy(true, pred) == pytest.approx(1 / 3)
    assert steelyard.recall(true, pred, pos_label=exact[0]) == 1
    assert steelyard.recall(true, pred, pos_label=exact[1]) == 0


def test_scores_that_lists_would_merge_are_refused():
    with pytest.raises(InputError, match="one and the same as float64"):
        steelyard.roc_auc([0, 1, 1], [BIG + 1, BIG, -5])


@pytest.mark.parametrize("scale", [1e-311, 1e-200, 1e154, 1e300])
@pytest.mark.parametrize("name", [m.name for m in steelyard.list_metrics() if not m.is_of_label_sets])
def test_tiny_and_huge_weights_give_every_metric_its_value(name, scale):
    rng = np.random.default_rng(3)
    metric, weight = steelyard.get_metric(name), rng.integers(1, 9, 80).astype(float)
    truth, three = rng.integers(0, 2, 80), rng.integers(0, 3, 80)
    noisy = np.where(rng.random(80) < 0.7, truth, 1 - truth)
    score = np.round(0.1 + 0.5 * rng.random(80) + 0.3 * truth, 2)
    calls = [(truth, noisy if metric.scores is None else score)]
    if metric.scores is None and metric.classes is not None:
        calls.append((three, np.where(rng.random(80) < 0.7, three, 0)))
    for rows in calls:
        usual, extreme = (metric(*rows, sample_weight=weight * by) for by in (1, scale))
        assert extreme == pytest.approx(usual, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("scale", [1e-311, 1e300])
def test_intervals_of_weights_whose_squares_floats_do_not_hold_are_refused(scale):
    weight = np.full(40, scale)
    truth, score = np.tile([0, 1], 20), np.tile([0.2, 0.1, 0.6, 0.9], 10)
    labels, scores = {"y_pred": truth}, {"y_score": score}
    for name, other in (("recall", labels), ("roc_auc", scores), ("average_precision", scores)):
        with pytest.raises(InputError, match="divide the weights by their maximum first"):
            steelyard.interval(name, truth, **other, sample_weight=weight)


def test_a_tiny_class_beside_a_huge_one_has_its_own_recall():
    weight = [1e-311, 1e-311, 1e300, 1e300]
    assert steelyard.recall([1, 1, 0, 0], [1, 0, 0, 0], sample_weight=weight) == 0.5
    assert steelyard.balanced_accuracy([1, 1, 0, 0], [1, 0, 0, 0], sample_weight=weight) == 0.75
