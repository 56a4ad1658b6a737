"""Numbers that R's packages compute, beside ours: pROC, epiR, cutpointr, hmeasure, mccf1, and Hand and Till's area."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard import Counts, best_threshold, compare, evaluate, f1, informedness, interval, roc_auc, score_table

CASES = ("overconfident", "ties", "rare")
NORMAL = 1.959963984540054  # the quantile at 97.5 %
MARKERS = ("s100b", "wfns", "ndka")
# epiR's names of the shares of a table, and ours.
RATES = {"se": "recall", "sp": "specificity", "pv.pos": "precision", "pv.neg": "negative_predictive_value", "diag.ac": "accuracy"}  # fmt: skip


@pytest.mark.parametrize("marker", MARKERS)
def test_areas_and_delongs_intervals_of_asah_are_procs(golden, marker):
    patients, expected = golden("asah")["input"], golden("asah")["expected"][marker]
    y, score = patients["y"], patients[marker]
    assert roc_auc(y, y_score=score) == pytest.approx(expected["auc"], abs=1e-12)
    found = interval("roc_auc", y, y_score=score, method="delong")
    assert (found.low, found.high) == pytest.approx(expected["delong_ci"], abs=1e-12)
    assert ((found.high - found.low) / (2 * NORMAL)) ** 2 == pytest.approx(expected["delong_var"], abs=1e-12)
    corrected = roc_auc(y, y_score=score, max_fpr=0.1)
    assert corrected == pytest.approx(expected["pauc_0.1_corrected"], abs=1e-12)
    assert mcclish(expected["pauc_0.2"], 0.2) == pytest.approx(roc_auc(y, y_score=score, max_fpr=0.2), abs=1e-12)


def mcclish(area, fpr):
    """The area up to a false positive rate, on the scale where chance is .5."""
    return (1 + (area - fpr**2 / 2) / (fpr - fpr**2 / 2)) / 2


@pytest.mark.parametrize("marker", ["wfns", "ndka"])
def test_delongs_paired_test_of_asah_is_procs(golden, marker):
    patients, expected = golden("asah")["input"], golden("asah")["expected"]
    both = {name: patients[name] for name in ("s100b", marker)}
    (found,) = compare(patients["y"], y_score=both, metrics=["roc_auc"]).delong
    assert found.z == pytest.approx(expected["paired"][marker]["z"], abs=1e-12)
    # pROC reads z by the normal distribution, we by Student's t, which asks for a little more.
    assert expected["paired"][marker]["p"] < found.p_value < expected["paired"][marker]["p"] + 0.005
    variances = expected["s100b"]["delong_var"] + expected[marker]["delong_var"]
    assert (found.difference / found.z) ** 2 == pytest.approx(
        variances - 2 * expected["paired"][marker]["covariance"], abs=1e-12
    )


def test_the_interval_of_a_partial_area_is_near_procs_bootstrap(golden):
    patients, expected = golden("asah")["input"], golden("asah")["expected"]["bootstrap"]
    found = interval("roc_auc[max_fpr=0.1]", patients["y"], y_score=patients["s100b"])
    theirs = [mcclish(area, 0.1) for area in expected["pauc_0.1_ci"]]
    assert (found.low, found.high) == pytest.approx(theirs, abs=0.03)


@pytest.mark.parametrize("case", CASES)
def test_procs_areas_and_tests_of_two_models(golden, case):
    rows, expected = golden("r")["cases"][case]["input"], golden("r")["cases"][case]["expected"]["pROC"]
    y, p, p2 = rows["y"], rows["p"], rows["p2"]
    assert roc_auc(y, y_score=p) == pytest.approx(expected["auc"], abs=1e-12)
    found = interval("roc_auc", y, y_score=p, method="delong")
    assert (found.low, found.high) == pytest.approx(expected["delong_ci"], abs=1e-12)
    assert roc_auc(y, y_score=p, max_fpr=0.1) == pytest.approx(expected["pauc_0.1_corrected"], abs=1e-12)
    (paired,) = compare(y, y_score={"p": p, "p2": p2}, metrics=["roc_auc"]).delong
    assert paired.z == pytest.approx(expected["delong_paired"]["z"], abs=1e-12)
    both = compare({"p": score_table(y, p), "p2": score_table(y, p2)}, metrics=["roc_auc"]).rows[0]
    assert both.p_value == pytest.approx(
        expected["delong_unpaired"]["p"], abs=0.01
    )  # another count of degrees of freedom


@pytest.mark.parametrize("case", CASES)
def test_epirs_rates_and_exact_intervals(golden, case):
    expected = golden("r")["cases"][case]["expected"]["epiR_at_0.2"]
    rows = golden("r")["cases"][case]["input"]
    tp, fp, fn, tn = expected["table"]
    assert evaluate(rows["y"], y_score=rows["p"], threshold=0.2).counts == Counts(tp=tp, fn=fn, fp=fp, tn=tn)
    for theirs, name in RATES.items():
        at = expected["statistic"].index(theirs)
        found = interval(name, Counts(tp=tp, fn=fn, fp=fp, tn=tn), method="exact")
        ours = (found.value, found.low, found.high)
        assert ours == pytest.approx([expected[column][at] for column in ("est", "lower", "upper")], abs=1e-9), name


@pytest.mark.parametrize("case", CASES)
def test_cutpointrs_thresholds(golden, case):
    rows, expected = golden("r")["cases"][case]["input"], golden("r")["cases"][case]["expected"]["cutpointr"]
    y, p = np.array(rows["y"]), np.array(rows["p"])
    for metric, key in ((informedness, "youden_midpoint"), (f1, "f1_observed")):
        found = best_threshold(y, p, metric, draws=0)
        assert found.value == pytest.approx(expected[key]["value"], abs=1e-12)
        assert metric(y, p >= expected[key]["cut"]) == pytest.approx(found.value, abs=1e-12)


def test_hand_and_tills_area_of_many_classes(golden):
    case = golden("r")["cases"]["classes"]
    area = roc_auc(case["input"]["y"], y_score=np.array(case["input"]["P"]), multi_class="ovo", average="macro")
    assert area == pytest.approx(case["expected"]["hand_till_auc"], abs=1e-12)


@pytest.mark.parametrize("name", [*CASES, *MARKERS])
def test_h_measure_gini_ks_mcc_f1_and_auprg_are_those_of_their_packages(golden, name):
    rows = golden("asah")["input"] if name in MARKERS else golden("r")["cases"][name]["input"]
    y, score = rows["y"], rows[name if name in MARKERS else "p"]
    for written, expected in golden("curves")["expected"][name].items():
        assert interval(written, y, y_score=score).value == pytest.approx(expected, abs=1e-12), written
