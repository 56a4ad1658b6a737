"""The laws that hold for every measure in the registry, over every table with cells from {0, 1, 2, 3, 50, 10**6}."""

from __future__ import annotations

import itertools
import math
import pickle
import random

import numpy as np
import pytest
from checks import TABLES, close
from oracle import ORACLE

from steelyard import Counts, get_metric, list_metrics
from steelyard.metrics.references import references

COUNTS = Counts(*np.array(TABLES).T)
_draw = random.Random(20)
HUGE = list(itertools.product((0, 1, 10**9, 10**18), repeat=4))
HUGE += [tuple(_draw.choices((1, 2, 999, 10**9 + 7, 10**12, 10**15 + 3, 10**18 - 1), k=4)) for _ in range(500)]

COUNT_MEASURES = [m for m in list_metrics() if m.function]
every = pytest.mark.parametrize("measure", COUNT_MEASURES, ids=lambda m: m.name)


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


def test_the_oracle_knows_every_measure_of_the_catalogue():
    assert {m.name for m in COUNT_MEASURES} <= {name.split("[")[0] for name in ORACLE}


@pytest.mark.parametrize("name", ORACLE)
@pytest.mark.parametrize("tables", [TABLES, HUGE], ids=["small", "to 1e18"])
def test_equals_exact_rational_arithmetic(name, tables):
    values = get_metric(name)(Counts(*np.array(tables).T))
    for table, value in zip(tables, values, strict=True):
        expected = ORACLE[name](*table)
        assert math.isnan(value) if expected is None else close(value, float(expected)), (table, value, expected)


ANY_PARAMETERS = [*ORACLE, "iba[alpha=1]", "iba[of=mcc]", "iba[alpha=0.3,of=dor]", "expected_cost[cost_tp=5]"]


@pytest.mark.parametrize("measure", [get_metric(name) for name in ANY_PARAMETERS], ids=lambda m: m.name)
def test_in_range_or_nan(measure):
    low, high = measure.range
    for tables in (TABLES, HUGE):
        values = measure(Counts(*np.array(tables).T))
        assert not np.isinf(values).any()
        defined = values[~np.isnan(values)]
        assert len(defined) and (defined >= low).all() and (defined <= high).all()


@pytest.mark.parametrize("measure", [get_metric(name) for name in ANY_PARAMETERS], ids=lambda m: m.name)
def test_perfect_predictions_reach_the_best_or_are_undefined(measure):
    perfect = COUNTS[(COUNTS.fn == 0) & (COUNTS.fp == 0)]
    values = measure(perfect)
    if measure.best is not None:
        assert (np.isnan(values) | (values == measure.best)).all()
        assert np.isinf(measure.best) or (values == measure.best).any()


@every
def test_no_table_is_better_than_the_best(measure):
    values = measure(COUNTS)
    if measure.best is not None and np.isfinite(measure.best):
        worse = values <= measure.best if measure.direction == "higher" else values >= measure.best
        assert worse[~np.isnan(values)].all()
    assert measure.direction in ("higher", "lower") or measure.best is None


@every
@pytest.mark.parametrize("scale", [3, 2**20, 0.1, 1e-9, 1e-100, 1e100])
def test_scaling_all_weights_changes_nothing(measure, scale):
    np.testing.assert_allclose(measure(COUNTS.scaled(scale)), measure(COUNTS), rtol=1e-12, atol=1e-14)


@every
def test_an_array_of_tables_equals_each_table(measure):
    values = measure(COUNTS)
    some = range(0, len(TABLES), 37)
    assert same([measure(Counts(*TABLES[i])) for i in some], values[list(some)])
    assert same(measure(Counts(*(np.reshape(cell, (36, 36)) for cell in COUNTS))), values.reshape(36, 36))


@every
def test_dtype_changes_nothing(measure):
    assert same(measure(Counts(*(np.asarray(cell, dtype=np.uint32) for cell in COUNTS))), measure(COUNTS))
    assert same(measure(Counts(*(np.asarray(cell, dtype=np.float64) for cell in COUNTS))), measure(COUNTS))
    assert same(measure(Counts(1, 2, 3, 50)), measure(Counts(*map(np.float32, (1, 2, 3, 50)))))


P, N, PP, PN = COUNTS.positives, COUNTS.negatives, COUNTS.predicted_positives, COUNTS.predicted_negatives
WRONG = COUNTS.fn + COUNTS.fp
TRUE = {
    "no rows": P + N == 0,
    "no positives": P == 0,
    "no negatives": N == 0,
    "no predicted positives": PP == 0,
    "no predicted negatives": PN == 0,
    "no positives, true or predicted": P + PP == 0,
    "no negatives, true or predicted": N + PN == 0,
    "no positives, or none predicted": (P == 0) | (PP == 0),
    "no false positives": COUNTS.fp == 0,
    "no false negatives": COUNTS.fn == 0,
    "no true negatives": COUNTS.tn == 0,
    "both class recalls are 0": COUNTS.tp + COUNTS.tn == 0,
    "one class only, and no error": (WRONG == 0) & (COUNTS.tp * COUNTS.tn == 0),
    "truth and prediction hold one and the same class only": (WRONG == 0) & (COUNTS.tp * COUNTS.tn == 0),
}


@pytest.mark.parametrize("name", ORACLE)
def test_undefined_always_has_a_true_reason_and_defined_never_has_one(name):
    measure = get_metric(name)
    whys, values = measure.why(COUNTS), measure(COUNTS)
    assert all((why is None) == (not math.isnan(value)) for why, value in zip(whys, values, strict=True))
    for phrase in {why for why in whys if why}:
        assert TRUE[phrase][whys == phrase].all(), phrase
    for phrase, result in measure.guards:
        if result == "undefined":
            assert np.isnan(values[TRUE[phrase]]).all(), f"explained as undefined where there are {phrase}"


@every
def test_no_warning_escapes_and_the_answer_is_a_plain_float(measure):
    assert type(measure(Counts(0, 0, 0, 0))) is float
    assert measure(COUNTS).dtype == np.float64


@every
def test_pickles_to_itself(measure):
    assert pickle.loads(pickle.dumps(measure)) is measure


@every
def test_explains_itself_in_one_sentence_and_cites_its_source(measure):
    assert measure.meaning.endswith(".")
    assert measure.meaning[0].isupper()
    assert ". " not in measure.meaning
    assert measure.cite in references()
    assert measure.title and measure.family


@every
def test_parameters_have_defaults_and_the_written_form_finds_them(measure):
    for key, default in measure.parameters.items():
        if not measure.is_fixed:
            again = get_metric(f"{measure.name}[{key}={default}]")
            assert same(again(COUNTS), measure(COUNTS))


@every
def test_undefined_can_be_replaced_by_a_number(measure):
    values, replaced = measure(COUNTS), measure(COUNTS, undefined=-7)
    assert same(replaced, np.where(np.isnan(values), -7, values))


def test_asymmetric_measures_notice_a_swap_of_truth_and_prediction():
    transposed = Counts(COUNTS.tp, COUNTS.fp, COUNTS.fn, COUNTS.tn)
    alike = {m.name for m in COUNT_MEASURES if same(m(COUNTS), m(transposed))}
    assert alike == {
        "accuracy", "error_rate", "f_beta", "f1", "negative_f1", "mean_f1", "jaccard", "fowlkes_mallows",
        "mcc", "kappa", "p4", "expected_cost", "diagnostic_odds_ratio",
    }  # fmt: skip


def test_swapping_the_classes_turns_each_measure_into_its_dual():
    duals = {
        "recall": "specificity", "precision": "negative_predictive_value", "f1": "negative_f1",
        "false_positive_rate": "false_negative_rate",
    }  # fmt: skip
    for one, other in duals.items():
        assert same(get_metric(one)(COUNTS.swapped()), get_metric(other)(COUNTS))


IDENTITIES = {
    "alpha_accuracy is balanced accuracy": (lambda m: m("alpha_accuracy"), lambda m: m("balanced_accuracy")),
    "TPNR is G-mean squared": (lambda m: m("tpnr"), lambda m: m("g_mean") ** 2),
    "alpha_precision of rates": (lambda m: m("alpha_precision"), lambda m: m("tpr") / (m("tpr") + m("fpr"))),
    "alpha_f1 of rates": (lambda m: m("alpha_f1"), lambda m: 2 * m("tpr") / (1 + m("tpr") + m("fpr"))),
    "informedness is 2 BA - 1": (lambda m: m("informedness"), lambda m: 2 * m("balanced_accuracy") - 1),
    "MCC squared is J x markedness": (lambda m: m("mcc") ** 2, lambda m: m("informedness") * m("markedness")),
    "cwa at 1/2 is balanced accuracy": (lambda m: m("cwa[w=0.5]"), lambda m: m("balanced_accuracy")),
    "IBA at 0 is G-mean": (lambda m: m("iba[alpha=0]"), lambda m: m("g_mean")),
    "wAUC at rho 0 is the single-point AUC": (lambda m: m("weighted_auc[rho=0]"), lambda m: m("single_point_auc")),
    "f2 is f_beta at 2": (lambda m: m("f2"), lambda m: m("f_beta[beta=2]")),
}  # fmt: skip


@pytest.mark.parametrize("identity", IDENTITIES)
def test_identities_that_the_papers_prove(identity):
    one, other = IDENTITIES[identity]
    with np.errstate(all="ignore"):
        left, right = (side(lambda n: get_metric(n)(COUNTS)) for side in (one, other))
    both = ~np.isnan(left) & ~np.isnan(right)
    assert both.sum() > 500
    np.testing.assert_allclose(left[both], right[both], rtol=1e-9, atol=1e-12)


def test_harmonic_is_at_most_geometric_is_at_most_arithmetic():
    ac, gm, ba = (get_metric(name)(COUNTS) for name in ("ac_score", "g_mean", "balanced_accuracy"))
    defined = ~np.isnan(ba)
    assert (ac[defined] <= gm[defined] + 1e-15).all()
    assert (gm[defined] <= ba[defined] + 1e-15).all()


def test_weighted_auc_never_exceeds_the_auc():
    weighted, plain = get_metric("weighted_auc")(COUNTS), get_metric("single_point_auc")(COUNTS)
    defined = ~np.isnan(plain)
    assert (weighted[defined] <= plain[defined] + 1e-12).all()


@pytest.mark.parametrize("measure", [m for m in COUNT_MEASURES if m.sklearn], ids=lambda m: m.name)
def test_equals_scikit_learn_where_both_are_defined(measure):
    import warnings

    from sklearn import metrics

    function = getattr(metrics, measure.sklearn)
    options = dict(measure.parameters)
    truth, predicted = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    compared = 0
    for table in TABLES[:: 11 if "score" in measure.sklearn else 3]:
        value = measure(Counts(*table))
        if math.isnan(value):
            continue
        present = np.array(table) > 0  # scikit-learn takes a class of zero weight for a class
        rows = truth[present], predicted[present]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = function(*rows, sample_weight=np.array(table)[present], **options)
        compared += 1
        if measure.name == "balanced_accuracy" or not math.isnan(theirs):
            assert close(value, theirs), (table, value, theirs)
    assert compared > 50


def test_the_catalogue_is_what_we_think_it_is():
    assert [m.name for m in COUNT_MEASURES] == [name for name in ORACLE if "[" not in name]
