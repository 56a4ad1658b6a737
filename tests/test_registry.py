"""Declaring and finding metrics."""

from __future__ import annotations

import inspect
import json
import math
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
import test_laws
from checks import assert_refused
from command_line import run_command

import steelyard
from steelyard import Counts, SteelyardError, audit, get_metric, list_metrics
from steelyard.exceptions import InputError
from steelyard.metrics import Metric, metric, ratio, sqrt

FINLEY = Counts(28, 23, 72, 2680)


def declare():
    @metric("Geometric precision", family="own", range=(0, 1), aliases=("gp",), cite="fawcett2006")
    def geometric_precision(c):
        """Geometric mean of the two predictive values."""
        return sqrt(ratio(c.tp, c.predicted_positives) * ratio(c.tn, c.predicted_negatives))

    return geometric_precision


def test_a_metric_declared_on_the_fly_is_everywhere(registry):
    own = declare()
    assert isinstance(own, Metric)
    assert steelyard.geometric_precision is own is get_metric("gp")
    assert own in list_metrics("own")
    assert "geometric_precision" in dir(steelyard.metrics)
    assert own(FINLEY) == pytest.approx(math.sqrt(0.28 * 2680 / 2703))
    assert own.why(Counts(0, 1, 0, 1)) == "no predicted positives"
    assert own.text == "sqrt(tp / (tp + fp) * (tn / (fn + tn)))"
    listed = run_command("metrics", "--family", "own", "--format", "json")
    assert json.loads(listed.stdout)[0]["name"] == "geometric_precision"
    assert "Geometric mean of the two predictive values." in run_command("explain", "gp").stdout


LAWS = [
    law
    for name, law in vars(test_laws).items()
    if name.startswith("test_") and "metric" in law.__code__.co_varnames[:1]
]


@pytest.mark.parametrize("law", [law for law in LAWS if "scikit" not in law.__name__], ids=lambda law: law.__name__)
def test_the_laws_hold_for_a_metric_declared_on_the_fly(registry, law):
    law(declare(), *([3] if "scale" in law.__code__.co_varnames else []))


def test_a_value_outside_the_declared_range_is_refused_with_the_table(registry):
    with pytest.raises(InputError, match=r"doubled is 2 on the table tp=1, fn=0, fp=0, tn=0, outside .* 0 to 1\."):

        @metric("Doubled", range=(0, 1))
        def doubled(c):
            return ratio(2 * c.tp, c.positives)

    with pytest.raises(InputError, match=r"plain is 10 on the table tp=0, fn=0, fp=0, tn=1, outside .* -1 to 1\."):

        @metric("A function of numbers only", range=(-1, 1))
        def plain(tp, fn, fp, tn):
            return 10.0 if tn else 0.0

    with pytest.raises(InputError, match=r"gap is .* on the table y_true=\[0, 1\], y_score=\[0.2, 0.8\], outside"):

        @metric("Gap", on="scores", range=(-0.5, 0.5))
        def gap(t):
            return t.positive.scores.mean() - t.negative.scores.mean()

    assert not {"doubled", "plain", "gap"} & {m.name for m in list_metrics()}


def test_a_call_never_gives_a_value_outside_the_declared_range(registry):
    @steelyard.metrics.metric("Hits", range=(0, 20))
    def hits(tp, fn, fp, tn):
        """True positives."""
        return tp + 0 * (fn + fp + tn)

    assert hits(Counts(20, 1, 1, 1)) == 20
    with pytest.raises(InputError, match=r"hits is 30 here, outside its declared range, 0 to 20"):
        hits(Counts(30, 1, 1, 1))


def test_a_parameter_that_leaves_the_range_is_refused_and_bounds_make_room(registry):
    @metric("Scaled", range=(0, 1))
    def scaled(c, *, by=1.0):
        return by * ratio(c.tp, c.positives)

    for ask in (lambda: scaled.fixed(by=5.0), lambda: steelyard.interval("scaled[by=5]", FINLEY)):
        with pytest.raises(InputError, match=r"scaled\[by=5\] is 5 on the table .* 0 to 1\. .* or bounds="):
            ask()

    @metric("Scaled with room", bounds=lambda by: ((0, by), by))
    def roomy(c, *, by=1.0):
        return by * ratio(c.tp, c.positives)

    assert roomy.fixed(by=5.0).range == (0, 5) and steelyard.interval("roomy[by=5]", FINLEY).high <= 5


def test_no_interval_is_given_without_its_value_in_it(registry):
    @metric("Above its range on large tables only", range=(0, 1))
    def late(c):
        return c.tp / 100

    with pytest.raises(InputError, match=r"late is 3 here, outside its declared range, 0 to 1\."):
        steelyard.interval("late", Counts(300, 1, 1, 1))
    with pytest.raises(InputError, match=r"late is 3 here"):
        steelyard.evaluate(Counts(300, 1, 1, 1), metrics=["late"])
    for alpha in (0.0, 0.5, 1.0, 2.0):
        for given in (steelyard.interval(f"iba[alpha={alpha}]", Counts(30, 0, 10, 20)),):
            assert given.low <= given.value <= given.high <= given.spec.metric.range[1]


def test_beta_0_is_precision_and_an_alpha_of_2_has_a_range_of_its_own():
    assert steelyard.f_beta(FINLEY, beta=0) == steelyard.precision(FINLEY)
    assert get_metric("iba").range == get_metric("iba[alpha=0.5]").range == (0, 1)
    assert get_metric("iba[alpha=1]").range == pytest.approx((0, 4 / 3 * math.sqrt(2 / 3)))
    assert get_metric("iba[alpha=2]").range == pytest.approx((-2 / 3 / math.sqrt(6), math.sqrt(2)))
    assert get_metric("iba[alpha=1, of=tpnr]").range == (0, 1)


def test_the_laws_catch_a_wrong_declaration(registry):
    wrong = Metric.from_function(lambda c: ratio(2 * c.tp, c.positives), "Wrong", range=(0, 1), best=1, is_own=False)
    with pytest.raises(AssertionError):
        test_laws.test_in_range_or_nan(wrong)
    with pytest.raises(AssertionError):
        test_laws.test_perfect_predictions_reach_the_best_or_are_undefined(wrong)


@pytest.mark.parametrize("pickler", [pickle, cloudpickle], ids=["pickle", "cloudpickle"])
def test_a_local_metric_pickles(registry, pickler):
    own = declare()
    assert pickle.loads(pickler.dumps(own)) is own
    saved = pickler.dumps(own)
    registry._REGISTRY.pop("geometric_precision")  # as in a process that has never seen it
    registry._ALIASES.pop("gp")
    assert pickle.loads(saved)(FINLEY) == own(FINLEY)
    assert get_metric("gp").title == "Geometric precision"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_metrics_travel_into_worker_processes(registry, method):
    sys.path.insert(0, str(Path(__file__).parent))
    import own_metrics

    metrics = [own_metrics.hit_share, own_metrics.hits_of_four, own_metrics.hit_share.fixed(bonus=1.0)]
    metrics += [declare(), get_metric("f_beta[beta=2]"), get_metric("mcc")]
    with ProcessPoolExecutor(2, get_context(method)) as pool:
        values = list(pool.map(call, metrics))
    assert values == [m(FINLEY) for m in metrics]


def call(metric):
    return metric(FINLEY)


def test_a_plain_function_of_the_four_cells_is_a_metric():
    def plain(tp, fn, fp, tn):
        return (tp + tn) / (tp + fn + fp + tn)

    assert get_metric(plain)(FINLEY) == steelyard.accuracy(FINLEY)
    assert get_metric(plain)(Counts([1, 0], 1, 1, [1, 0])).tolist() == [0.5, 0.0]
    assert math.isnan(get_metric(plain)(Counts(0, 0, 0, 0)))
    opaque = get_metric(lambda tp, fn, fp, tn: np.log(tp))
    assert opaque.text == "a function of tp, fn, fp, tn"
    assert opaque.javascript is None
    assert get_metric(lambda tp, fn, fp, tn: np.sqrt(tp - 2)).why(Counts(1, 1, 1, 1)) == "the function returned NaN"


def test_names_are_found_by_alias_case_and_written_form():
    assert get_metric("TPR") is get_metric("Sensitivity") is steelyard.recall
    assert get_metric("AC-score") is steelyard.ac_score
    assert get_metric(steelyard.mcc) is steelyard.mcc
    assert get_metric("iba[alpha=0.1,of=f_beta[beta=2]]").parameters == {"alpha": 0.1, "of": "f_beta[beta=2]"}
    assert repr(get_metric("f_beta[beta=2]")) == "<metric f_beta[beta=2]>"
    assert repr(get_metric("f_beta[beta=1]")) == "<metric f_beta>"
    assert get_metric("alpha_accuracy[alpha=None]")(FINLEY) == steelyard.alpha_accuracy(FINLEY)


def test_parameters_may_be_given_in_the_call_and_may_be_arrays():
    assert steelyard.f_beta(FINLEY, beta=2) == steelyard.f2(FINLEY)
    curve = steelyard.net_benefit(FINLEY, threshold=np.array([0.1, 0.5]))
    assert curve.tolist() == [steelyard.net_benefit(FINLEY, threshold=t) for t in (0.1, 0.5)]


def test_the_four_cells_are_taken_by_name_in_any_order():
    assert get_metric(lambda tn, fp, fn, tp: tp)(Counts(1, 2, 3, 4)) == 1


def test_a_plain_division_by_zero_is_undefined_with_its_reason():
    plain = get_metric(lambda tp, fn, fp, tn: tp / fp)
    assert math.isnan(plain(Counts(1, 1, 0, 1)))
    assert plain.why(Counts(1, 1, 0, 1)) == plain.why(Counts(0, 1, 0, 1)) == "no false positives"
    assert plain(Counts(1, 1, 0, 1), undefined=0) == 0


def test_reasons_take_the_shape_of_array_parameters():
    whys = steelyard.net_benefit.why(Counts(0, 0, 0, 0), threshold=np.array([0.1, 0.5]))
    assert whys.tolist() == ["no rows", "no rows"]


def test_own_names_may_have_capitals(registry):
    @metric("Mine", aliases=("M2",))
    def MyScore(c):
        return c.tp

    assert get_metric("MyScore") is get_metric("myscore") is get_metric("m2") is MyScore


def test_a_named_variant_and_a_redefined_metric_travel(registry):
    joblib = pytest.importorskip("joblib")
    f3 = steelyard.f_beta.fixed("f3", beta=3.0)
    script = "from steelyard import Counts; from steelyard.metrics import metric; from joblib import Parallel, delayed; F = Counts(28, 23, 72, 2680)\n"
    cell = "@metric('N')\ndef nb(c, *, k=1.0):\n    return k * c.tp\n"
    ask = "print(Parallel(2)(delayed(nb)(F, k=2.0) for _ in range(2)))\n"
    ran = subprocess.run(
        [sys.executable, "-c", script + cell + ask + cell.replace("c.tp", "c.tn") + ask],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stdout == "[56.0, 56.0]\n[5360.0, 5360.0]\n"
    assert joblib.Parallel(2)(joblib.delayed(f3)(FINLEY) for _ in range(2)) == [f3(FINLEY)] * 2


def test_alpha_may_be_given():
    always = Counts(90, 0, 10, 0)
    assert steelyard.alpha_accuracy(always, alpha=1) == steelyard.accuracy(always)
    assert steelyard.alpha_precision(always, alpha=9) == steelyard.alpha_precision(always)


def test_undefined_raises_where_asked():
    with pytest.raises(ArithmeticError, match=r"^precision is undefined: no predicted positives\.$"):
        steelyard.precision(Counts(0, 1, 0, 1), undefined="raise")
    assert steelyard.precision(Counts(1, 1, 0, 1), undefined="raise") == 1


BAD = {
    "unknown": (lambda: get_metric("acuracy"), KeyError, "Did you mean 'accuracy'"),
    "far": (lambda: get_metric("zzzz"), KeyError, r"list_metrics\(\) lists them"),
    "type": (lambda: get_metric(3), TypeError, "named by a string"),
    "family": (lambda: list_metrics("rate"), KeyError, "there are rates"),
    "brackets": (lambda: get_metric("f_beta[2]"), ValueError, r"write it like f_beta\[beta=2\]"),
    "parameter": (lambda: get_metric("f_beta[bta=2]"), TypeError, "Did you mean 'beta'"),
    "domain": (lambda: get_metric("weighted_auc[rho=1]"), ValueError, r"must lie in \[0, 1\), not 1"),
    "text parameter": (lambda: steelyard.f_beta(FINLEY, beta="two"), ValueError, "must lie in"),
    "no counts": (lambda: steelyard.mcc(3), TypeError, "not int"),
    "undefined": (lambda: steelyard.mcc(FINLEY, undefined="zero"), ValueError, "a number or 'raise'"),
    "arguments": (lambda: get_metric(lambda a, b: a), TypeError, r"takes \(a, b\)"),
    "other cells": (lambda: get_metric(lambda a, b, c, d: a), TypeError, "the four cells tp, fn, fp, tn"),
    "no signature": (lambda: get_metric(max), TypeError, "max"),
    "no default": (lambda: get_metric(lambda c, *, k: c.tp), TypeError, "without a default"),
    "title": (lambda: metric(lambda c: c.tp), TypeError, "takes a title first"),
    "range": (lambda: metric("X", range=(1, 0))(lambda c: c.tp), ValueError, "must rise"),
    "lambda": (lambda: metric("X")(lambda c: c.tp), ValueError, "must be an identifier"),
    "not whole": (lambda: get_metric("wauc[bands=2.5]"), ValueError, "must be a whole number"),
    "too many": (lambda: get_metric("wauc[bands=2000]"), ValueError, r"must lie in \[1, 200\]"),
    "none": (lambda: get_metric("f_beta[beta=None]"), ValueError, "must lie in"),
    "metric": (lambda: get_metric("iba[of=nonsense]"), KeyError, "No metric is called 'nonsense'"),
    "twice": (lambda: get_metric("f_beta[beta=2,beta=3]"), ValueError, "twice"),
    "open": (lambda: get_metric("f_beta[beta=2"), ValueError, "write it like"),
    "fixed": (lambda: steelyard.f2(FINLEY, beta=3), TypeError, "it has none"),
    "replacement": (lambda: steelyard.mcc(FINLEY, undefined=None), ValueError, "a number or 'raise'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    assert_refused(*BAD[case])


def test_a_metric_assigned_under_another_name_pickles(registry):
    own = metric("T")(lambda_like)
    assert pickle.loads(pickle.dumps(own)) is own


def lambda_like(c):
    return c.tp + 1


def test_a_script_may_not_steal_a_name():
    script = """from steelyard.metrics import metric
@metric("A")
def a(c): return c.tp
try:
    @metric("B", aliases=("a",))
    def b(c): return c.fn
except ValueError as error:
    print(error)"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "'a' already names the metric 'a'" in ran.stdout


def test_two_metrics_of_one_name_are_refused(registry):
    declare()
    with pytest.raises(ValueError, match="already names the metric 'geometric_precision'"):
        declare()
    with pytest.raises(ValueError, match="already names the metric 'recall'"):

        @metric("Mine", aliases=("tpr",))
        def mine(c):
            return c.tp

    assert registry.find("mine") is None


def test_a_notebook_may_run_its_cell_again():
    cell = "@metric('Mine')\ndef mine(c):\n    return c.tp\n"
    script = f"from steelyard import Counts\nfrom steelyard.metrics import metric\n{cell}{cell.replace('c.tp', 'c.tn')}print(mine(Counts(1, 2, 3, 4)))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "4.0\n"


def test_a_formula_that_branches_on_a_cell_says_what_to_use():
    @metric("Branching", range=(0, 1))
    def branching(tp, fn, fp, tn):
        return 0 if tp == 0 else tp / (tp + fn)

    assert (
        "steelyard.metrics.where can be read, math, numpy and if cannot"
        in audit(branching, properties=["class_symmetry"])[0].how
    )
    with pytest.raises(TypeError, match=r"handed arrays of cells, so use where\(\)"):
        branching(Counts([1, 2], [3, 4], [5, 6], [7, 8]))


@pytest.mark.parametrize(("best", "direction"), [(2, "higher"), (0, "lower"), (1, None)])
def test_a_best_value_inside_the_range_has_no_direction(registry, best, direction):
    @metric("Flags a positive", range=(0, 2), best=best)
    def flag_ratio(c):
        """Share of the flags over that of the positives as a sum of shares, 1 where there are as many."""
        return 1 + ratio(c.fp - c.fn, c.total)

    assert flag_ratio.direction == direction


def test_help_on_a_metric_is_about_the_metric_and_its_calls_run():
    import pydoc

    for metric in list_metrics():
        told = pydoc.render_doc(metric, renderer=pydoc.plaintext)
        assert metric.meaning in " ".join(told.split()) and f"Formula: {metric.name} = " in told
        calls = [line.strip() for line in metric.__doc__.splitlines() if line.startswith("    steelyard.")]
        assert calls and all(np.isscalar(eval(call, {"steelyard": steelyard})) for call in calls)
        assert pickle.loads(pickle.dumps(metric)).__doc__ == metric.__doc__
    assert Metric.__doc__.startswith("A metric: a formula over confusion counts")
    assert "get_metric('f_beta[beta=2]')(" in steelyard.f_beta.fixed(beta=2).__doc__


# ---------------------------------------------------------------- scikit-learn's words


@pytest.mark.parametrize("name", [m.name for m in list_metrics() if m.function is not None])
def test_a_metric_of_labels_takes_scikit_learns_keywords(name):
    metric = get_metric(name)
    y_true, y_pred = [0, 0, 1, 1, 1, 0], [0, 1, 1, 1, 0, 0]
    by_place, by_name = metric(y_true, y_pred), metric(y_true=y_true, y_pred=y_pred, sample_weight=np.ones(6))
    assert by_name == pytest.approx(by_place, nan_ok=True) and metric.__name__ == name


@pytest.mark.parametrize("name", [m.name for m in list_metrics() if m.scores is not None])
def test_a_metric_of_scores_takes_y_score(name):
    metric = get_metric(name)
    y_true, y_score = [0, 1] * 60, np.linspace(0.01, 0.99, 120)
    assert metric(y_true, y_score=y_score) == pytest.approx(metric(y_true, y_score), nan_ok=True)
    assert metric.why(y_true, y_score=y_score) == metric.why(y_true, y_score)


def test_every_question_takes_scikit_learns_keywords():
    y_true, y_pred, y_score = [0, 1] * 60, [0, 1, 1] * 40, np.linspace(0.01, 0.99, 120)
    rows, scores = {"y_true": y_true, "y_pred": y_pred}, {"y_true": y_true, "y_score": y_score}
    assert steelyard.evaluate(**rows)["f1"].value == steelyard.f1(**rows)
    assert steelyard.evaluate(**scores)["roc_auc"].value == steelyard.roc_auc(**scores)
    assert steelyard.interval("f1", **rows) == steelyard.interval("f1", y_true, y_pred)
    assert steelyard.interval("roc_auc", **scores) == steelyard.interval("roc_auc", y_true, y_score=y_score)
    assert steelyard.chance("roc_auc", **scores).value == 0.5
    assert steelyard.chance("f1", **rows).value == steelyard.chance("f1", y_true, y_pred).value
    assert steelyard.beats_chance(**scores) == steelyard.beats_chance(y_true, y_score=y_score)
    assert (
        steelyard.best_threshold(**scores, metric="f1").threshold
        == steelyard.best_threshold(y_true, y_score, "f1").threshold
    )
    assert (steelyard.roc_curve(**scores).tpr == steelyard.roc_curve(y_true, y_score).tpr).all()
    assert steelyard.interval("recall", **scores).value == steelyard.evaluate(**scores)["recall"].value
    with pytest.raises(SteelyardError, match="scores are no probabilities; give threshold="):
        steelyard.interval("recall", y_true, y_score=np.log(y_score))


def test_zero_division_is_another_word_for_undefined():
    nobody = [0, 0, 0, 0]
    assert math.isnan(steelyard.precision([0, 0, 1, 1], nobody))
    assert [steelyard.precision([0, 0, 1, 1], nobody, zero_division=z) for z in (0, 1, "warn")] == [0, 1, 0]
    with pytest.raises(SteelyardError, match="mean the same; give one"):
        steelyard.precision([0, 0, 1, 1], nobody, zero_division=0, undefined=1)


def test_scores_for_a_metric_of_labels_and_both_at_once_are_refused_with_what_to_give():
    with pytest.raises(SteelyardError, match=r"f1 is of predicted labels; give y_pred="):
        steelyard.f1([0, 1], y_score=[0.2, 0.7])
    with pytest.raises(SteelyardError, match=r"both y_pred= and y_score=; give one"):
        steelyard.roc_auc([0, 1], [0, 1], y_score=[0.2, 0.7])


def test_a_metric_can_be_printed_by_whoever_takes_functions():
    from sklearn.metrics import make_scorer

    assert "mcc" in str(make_scorer(steelyard.mcc))
    signature = inspect.signature(steelyard.f_beta)
    assert list(signature.parameters)[:2] == ["y_true", "y_pred"] and signature.parameters["beta"].default == 1.0
    assert list(inspect.signature(steelyard.roc_auc).parameters)[:2] == ["y_true", "y_score"]
    assert "beta" not in inspect.signature(get_metric("f2")).parameters
    assert "family" in inspect.signature(steelyard.metrics.Metric).parameters


def test_a_metric_is_found_by_its_name_in_scikit_learn():
    first = {m.sklearn: m for m in reversed(list_metrics()) if m.sklearn}  # f2 is scikit-learn's fbeta_score too
    assert {name: get_metric(name) for name in first} == first
    assert (
        get_metric("matthews_corrcoef").name == "mcc" and steelyard.balanced_accuracy_score.name == "balanced_accuracy"
    )
    assert get_metric("fbeta_score[beta=2]")(Counts(8, 2, 2, 8)) == 0.8
