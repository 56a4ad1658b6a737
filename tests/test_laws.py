"""The laws that hold for every metric in the registry, over every table with cells from {0, 1, 2, 3, 50, 10**6}."""

from __future__ import annotations

import itertools
import math
import pickle
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from checks import TABLES, close
from command_line import run_command
from oracle import ORACLE

import steelyard
from steelyard import Counts, get_metric, list_metrics, score_table

COUNTS = Counts(*np.array(TABLES).T)
_draw = random.Random(20)
HUGE = list(itertools.product((0, 1, 10**9, 10**18), repeat=4))
HUGE += [tuple(_draw.choices((1, 2, 999, 10**9 + 7, 10**12, 10**15 + 3, 10**18 - 1), k=4)) for _ in range(500)]

COUNT_METRICS = [m for m in list_metrics() if m.function]
every = pytest.mark.parametrize("metric", COUNT_METRICS, ids=lambda m: m.name)


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


def test_the_oracle_knows_every_metric_of_the_catalogue():
    assert {m.name for m in COUNT_METRICS} <= {name.split("[")[0] for name in ORACLE}


@pytest.mark.parametrize("name", ORACLE)
@pytest.mark.parametrize("tables", [TABLES, HUGE], ids=["small", "to 1e18"])
def test_equals_exact_rational_arithmetic(name, tables):
    values = get_metric(name)(Counts(*np.array(tables).T))
    for table, value in zip(tables, values, strict=True):
        expected = ORACLE[name](*table)
        assert math.isnan(value) if expected is None else close(value, float(expected)), (table, value, expected)


ANY_PARAMETERS = [*ORACLE, "iba[alpha=1]", "iba[of=mcc]", "iba[alpha=0.3,of=dor]", "expected_cost[cost_tp=5]"]


@pytest.mark.parametrize("metric", [get_metric(name) for name in ANY_PARAMETERS], ids=lambda m: m.name)
def test_in_range_or_nan(metric):
    low, high = metric.range
    for tables in (TABLES, HUGE):
        values = metric(Counts(*np.array(tables).T))
        assert not np.isinf(values).any()
        defined = values[~np.isnan(values)]
        assert len(defined) and (defined >= low).all() and (defined <= high).all()


def corners(metric):
    """The values of each parameter at and near the ends of its domain, and the words that it may be."""
    for name, default in metric.parameters.items():
        domain = metric.domain[name]
        if domain == "metric":
            yield name, [m.name for m in COUNT_METRICS]
        elif "|" in domain:
            yield name, [default, *domain.split("|")]
        else:
            low, high = (float(end) for end in domain[1:-1].split(","))
            ends = [low if domain[0] == "[" else low + 1e-3, min(high if domain[-1] == "]" else high - 1e-3, 1e6)]
            inside = [v for v in (*ends, 0.3, 0.9, 2) if ends[0] <= v <= ends[1]]
            if isinstance(default, int):
                inside = [int(v) for v in inside if v == int(v) <= 10]
            yield name, dict.fromkeys([default, *inside])


def with_every_parameter(metrics):
    for metric in metrics:
        ways = dict(corners(metric))
        yield from (metric.fixed(**dict(zip(ways, way, strict=True))) for way in itertools.product(*ways.values()))


@pytest.mark.parametrize("metric", [m for m in COUNT_METRICS if m.parameters], ids=lambda m: m.name)
def test_no_parameter_lets_a_value_leave_the_range_it_declares(metric):
    free = replace(metric, is_fixed=False)
    counts = Counts(*np.array(list(itertools.product(range(5), repeat=4))[1:]).T)
    for fixed in with_every_parameter([free]):
        values = fixed(counts)
        low, high = fixed.range
        slack = 1e-15 * max([abs(end) for end in (low, high) if math.isfinite(end)], default=0)  # what rounding adds
        assert low <= high and not (values < low - slack).any() and not (values > high + slack).any(), fixed.name


@pytest.mark.parametrize("metric", [m for m in list_metrics() if m.scores], ids=lambda m: m.name)
def test_no_scores_let_a_value_leave_the_range_of_its_metric(metric):
    scores = [s for n in (2, 3, 4) for s in itertools.product((0.0, 0.4, 1.0), repeat=n)]
    tables = [(y, s) for s in scores for y in itertools.product((0, 1), repeat=len(s)) if 0 < sum(y) < len(y)]
    for fixed in with_every_parameter([metric]):
        low, high = fixed.range
        for y, s in tables[:: 1 if not metric.parameters else 7]:
            table = score_table(y, s)
            if fixed.fits_scores(table):
                value = fixed(table)
                assert math.isnan(value) or low <= value <= high * (1 + 1e-15), (fixed.name, y, s)


@pytest.mark.parametrize("metric", [get_metric(name) for name in ANY_PARAMETERS], ids=lambda m: m.name)
def test_perfect_predictions_reach_the_best_or_are_undefined(metric):
    perfect = COUNTS[(COUNTS.fn == 0) & (COUNTS.fp == 0)]
    values = metric(perfect)
    if metric.best is not None:
        assert (np.isnan(values) | (values == metric.best)).all()
        assert np.isinf(metric.best) or (values == metric.best).any()


@every
def test_no_table_is_better_than_the_best(metric):
    values = metric(COUNTS)
    if metric.best is not None and np.isfinite(metric.best):
        worse = values <= metric.best if metric.direction == "higher" else values >= metric.best
        assert worse[~np.isnan(values)].all()
    assert metric.direction in ("higher", "lower") or metric.best is None


@every
@pytest.mark.parametrize("scale", [3, 2**20, 0.1, 1e-9, 1e-100, 1e100])
def test_scaling_all_weights_changes_nothing(metric, scale):
    np.testing.assert_allclose(metric(COUNTS.scaled(scale)), metric(COUNTS), rtol=1e-12, atol=1e-14)


@every
def test_an_array_of_tables_equals_each_table(metric):
    values = metric(COUNTS)
    some = range(0, len(TABLES), 37)
    assert same([metric(Counts(*TABLES[i])) for i in some], values[list(some)])
    assert same(metric(Counts(*(np.reshape(cell, (36, 36)) for cell in COUNTS))), values.reshape(36, 36))


@every
def test_dtype_changes_nothing(metric):
    assert same(metric(Counts(*(np.asarray(cell, dtype=np.uint32) for cell in COUNTS))), metric(COUNTS))
    assert same(metric(Counts(*(np.asarray(cell, dtype=np.float64) for cell in COUNTS))), metric(COUNTS))
    assert same(metric(Counts(1, 2, 3, 50)), metric(Counts(*map(np.float32, (1, 2, 3, 50)))))


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
    metric = get_metric(name)
    whys, values = metric.why(COUNTS), metric(COUNTS)
    assert all((why is None) == (not math.isnan(value)) for why, value in zip(whys, values, strict=True))
    for phrase in {why for why in whys if why}:
        assert TRUE[phrase][whys == phrase].all(), phrase
    for phrase, result in metric.guards:
        if result == "undefined":
            assert np.isnan(values[TRUE[phrase]]).all(), f"explained as undefined where there are {phrase}"


@every
def test_no_warning_escapes_and_the_answer_is_a_plain_float(metric):
    assert type(metric(Counts(0, 0, 0, 0))) is float
    assert metric(COUNTS).dtype == np.float64


@every
def test_pickles_to_itself(metric):
    assert pickle.loads(pickle.dumps(metric)) is metric


@every
def test_explains_itself_in_one_sentence_and_cites_its_source(metric):
    assert metric.meaning.endswith(".")
    assert metric.meaning[0].isupper()
    assert ". " not in metric.meaning
    assert metric.title and metric.family
    explained = run_command("explain", metric.name, code=0).output
    assert re.search(r"\nsource\n  \w[^.]+, [A-Z]\. ", explained), explained


@every
def test_parameters_have_defaults_and_the_written_form_finds_them(metric):
    for key, default in metric.parameters.items():
        if not metric.is_fixed:
            again = get_metric(f"{metric.name}[{key}={default}]")
            assert same(again(COUNTS), metric(COUNTS))


@every
def test_undefined_can_be_replaced_by_a_number(metric):
    values, replaced = metric(COUNTS), metric(COUNTS, undefined=-7)
    assert same(replaced, np.where(np.isnan(values), -7, values))


def test_asymmetric_metrics_notice_a_swap_of_truth_and_prediction():
    transposed = Counts(COUNTS.tp, COUNTS.fp, COUNTS.fn, COUNTS.tn)
    alike = {m.name for m in COUNT_METRICS if same(m(COUNTS), m(transposed))}
    assert alike == {
        "accuracy", "error_rate", "f_beta", "f1", "negative_f1", "mean_f1", "jaccard", "fowlkes_mallows",
        "mcc", "kappa", "p4", "expected_cost", "diagnostic_odds_ratio", "symmetric_balanced_accuracy",
        "correlation_distance", "mean_absolute_class_error",
    }  # fmt: skip


def test_swapping_the_classes_turns_each_metric_into_its_dual():
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


@pytest.mark.parametrize("metric", [m for m in COUNT_METRICS if m.sklearn], ids=lambda m: m.name)
def test_equals_scikit_learn_where_both_are_defined(metric):
    import warnings

    from sklearn import metrics

    function = getattr(metrics, metric.sklearn)
    options = dict(metric.parameters)
    truth, predicted = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    compared = 0
    for table in TABLES[:: 11 if "score" in metric.sklearn else 3]:
        value = metric(Counts(*table))
        if math.isnan(value):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = function(truth, predicted, sample_weight=np.array(table), **options)
        compared += 1
        if metric.name == "balanced_accuracy" or not math.isnan(theirs):
            assert close(value, theirs), (table, value, theirs)
    assert compared > 50


def test_the_catalogue_is_what_we_think_it_is():
    assert [m.name for m in COUNT_METRICS] == [name for name in ORACLE if "[" not in name]


def test_cells_that_formulas_share_give_every_metric_the_same_bits():
    table = steelyard.Counts(28, 23, 72, 2680)
    for row in steelyard.evaluate(table, metrics=[m.name for m in COUNT_METRICS], draws=20):
        assert same(row.value, steelyard.get_metric(row.name)(table)), row.name


def test_a_function_of_a_users_own_cannot_write_into_shared_cells():
    @steelyard.metrics.metric("Spoiler", family="rates", range=(0, 2))
    def spoiler(c):
        """Writes into what it reads."""
        rates = steelyard.recall(c)
        rates += 1
        return rates

    table = steelyard.Counts(28, 23, 72, 2680)  # whose draws all metrics read
    alone = steelyard.evaluate(table, metrics=["recall"])["recall"]
    for names in (["spoiler", "recall"], ["recall", "spoiler"]):
        beside = steelyard.evaluate(table, metrics=names)
        assert (beside["recall"].low, beside["recall"].high) == (alone.low, alone.high)
        assert beside["spoiler"].value == pytest.approx(1 + alone.value)
