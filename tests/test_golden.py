"""The catalogue against the golden tables and the papers' printed numbers."""

from __future__ import annotations

import math

import pytest
from checks import close

from steelyard import Counts, get_metric


def test_every_golden_value_of_every_binary_table(golden):
    checked = 0
    for case in golden("binary")["cases"]:
        counts = Counts(case["tp"], case["fn"], case["fp"], case["tn"])
        for name, expected in case["expected"].items():
            value = get_metric(name)(counts)
            right = math.isnan(value) if expected is None else close(value, expected)
            assert right, (case["name"], name, value, expected)
            assert (get_metric(name).why(counts) is None) == (expected is not None), (case["name"], name)
            checked += 1
    assert checked == 41 * 35


@pytest.mark.parametrize("ratio", ["20:80", "80:20"])
def test_nguyens_tables_ii_and_iii_follow_from_the_reconstructed_counts(golden, ratio):
    nguyen = golden("papers")["nguyen"]
    column = nguyen["columns"].index(f"acc_{ratio}")
    rows = nguyen["reconstructed_pooled_confusions_over_10_runs"][ratio]["rows"]
    assert len(rows) == 20
    for label, cells in rows.items():
        counts = Counts(**cells)
        assert abs(100 * get_metric("accuracy")(counts) - nguyen["table_II"][label][column]) < 0.005 + 1e-9
        assert abs(100 * get_metric("alpha_accuracy")(counts) - nguyen["table_III"][label][column]) < 0.005 + 1e-9


@pytest.mark.parametrize("tree", ["DT1", "DT2", "DT3", "DT4"])
def test_asawas_figure_4_follows_from_the_reconstructed_counts(golden, tree):
    asawa = golden("papers")["asawa"]
    counts = asawa["reconstructed"][tree]
    before, after = Counts(*counts["unbalanced_tp_fn_fp_tn"]), Counts(*counts["balanced_tp_fn_fp_tn"])
    names = {
        "acc": "accuracy", "prec": "precision", "rec": "recall", "f1": "f1",
        "spec": "specificity", "tpnr": "tpnr", "mcc": "mcc", "kappa": "kappa",
    }  # fmt: skip
    printed = asawa["figure4_differences_unbalanced_minus_balanced"][tree]
    for short, name in names.items():
        difference = get_metric(name)(before) - get_metric(name)(after)
        assert abs(difference - printed[short]) < 5e-11, name


def test_nguyens_always_true_paradox():
    always = Counts(tp=90, fn=0, fp=10, tn=0)
    plain = [get_metric(name)(always) for name in ("accuracy", "precision", "recall", "f1")]
    corrected = [get_metric(f"alpha_{name}")(always) for name in ("accuracy", "precision", "recall", "f1")]
    assert plain == pytest.approx([0.9, 0.9, 1.0, 18 / 19], abs=1e-15)
    assert corrected == pytest.approx([0.5, 0.5, 1.0, 2 / 3], abs=1e-15)
