"""The audit's studies on simulated and on the user's own data: García's correlations, Asawa's and Nguyen's tests, Wu's."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest
from checks import assert_refused
from scipy import stats

from steelyard import (
    Counts,
    Predictions,
    Result,
    SteelyardError,
    at_prevalence,
    confusion,
    get_metric,
    list_metrics,
    score_table,
)
from steelyard.auditing.correlation import GARCIA_METRICS, LIST_KINDS, Conclusion, RateBounds, widths_of
from steelyard.auditing.ratio_spread import spread_of
from steelyard.auditing.robustness import undersampled
from steelyard.exceptions import InputError
from steelyard.studies import (
    correlation_study,
    disagreement,
    discrimination,
    metric_correlation,
    ratio_spread,
    refit_robustness,
    robustness,
    swap_prevalences,
)

PRINTED = {
    "TPr": "recall", "TNr": "specificity", "Prec": "precision", "Acc": "accuracy", "AUC": "balanced_accuracy",
    "Gm": "g_mean", "kappa": "kappa", "F1": "f1", "OP": "optimized_precision", "IBA": "iba",
    "cwA": "class_weighted_accuracy", "AGm": "adjusted_g_mean", "wAUC10": "weighted_auc", "AC": "ac_score",
    "TPNR": "tpnr", "MCC": "mcc", "cwA05": "class_weighted_accuracy[w=0.5]",
}  # fmt: skip
ROUNDED = 0.000501  # golden has three digits
ASAWA = ("accuracy", "precision", "recall", "f1", "specificity", "tpnr", "mcc", "kappa", "balanced_accuracy")
FIGURE_4 = dict(zip(("acc", "prec", "rec", "f1", "spec", "tpnr", "mcc", "kappa"), ASAWA, strict=False))


def two_band_auc(c):
    """García's weighted AUC with the ROC point itself as the only band edge."""
    r, s = c.tp / c.positives, c.tn / c.negatives
    return (0.9 * r * (1 + s) + 1.1 * (1 - r) * s) / 2


def off_golden(study, golden):
    """The largest distance to golden of the metrics that are defined throughout, and of the others."""
    rows = {(row.positives, row.metric): row for row in study.rows()}
    off = {True: [0.0], False: [0.0]}
    for level, printed in golden.items():
        for short, name in PRINTED.items():
            row = rows[float(level), name]
            here = (row.recall, row.specificity)
            off[row.undefined == 0] += [abs(a - b) for a, b in zip(here, printed[short], strict=True)]
    return max(off[True]), max(off[False])


# ---------------------------------------------------------------- García


@pytest.mark.parametrize(("n", "seeds"), [(100, 20), (1000, 5)])
def test_the_correlations_are_golden(golden, n, seeds):
    study = correlation_study(PRINTED.values(), n=n, seeds=seeds)
    defined, others = off_golden(study, golden("papers")["garcia_pearson"][str(n)])
    assert defined < ROUNDED
    assert others < 0.005  # golden puts a number where precision is undefined


@pytest.mark.parametrize("kind", LIST_KINDS)
@pytest.mark.parametrize("n", [100, 200, 1000])
def test_the_other_choices_are_golden(golden, kind, n):
    for threshold in (0.5, "prior") if kind == "global_linear" else (0.5,):
        study = correlation_study(PRINTED.values(), n=n, seeds=4, list_kind=kind, threshold=threshold)
        defined, _ = off_golden(study, golden("papers")["garcia_pearson_all_choices"][f"{kind}|{n}|{threshold}"])
        assert defined < ROUNDED


@pytest.mark.parametrize("n", [100, 1000])
def test_other_seeds_agree_within_the_error_of_simulation(golden, n):
    study = correlation_study(n=n, seeds=40, rng=2012)
    seeds = {100: 20, 1000: 5}[n]
    for row in study.rows():
        printed = golden("papers")["garcia_pearson"][str(n)][f"{row.positives:g}"]
        short = {name: key for key, name in PRINTED.items()}[row.metric]
        for here, there, sd in zip(
            (row.recall, row.specificity), printed[short], (row.sd_recall, row.sd_specificity), strict=True
        ):
            assert abs(here - there) <= 4 * sd * math.sqrt(1 / 40 + 1 / seeds) + 0.005, row


@pytest.mark.parametrize("n", [200, 1000, 5000])
@pytest.mark.parametrize("kind", ["class_linear", "class_uniform"])
def test_the_three_conclusions_hold_with_the_classes_on_either_side_of_the_cut(kind, n):
    found = correlation_study(n=n, seeds=10, list_kind=kind).conclusions()
    assert [c.holds for c in found] == [True, True, True]


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize(
    ("choices", "holds"),
    [
        ({"list_kind": "global_linear"}, [False, True, False]),
        ({"list_kind": "global_linear", "threshold": "prior"}, [False, True, False]),
        ({"list_kind": "extreme"}, [False, True, True]),
    ],
)
def test_the_conclusions_fail_under_the_other_choices(choices, holds, n):
    found = correlation_study(n=n, seeds=10, **choices).conclusions()
    assert [c.holds for c in found] == holds
    assert found[0].share == 0
    assert found[0].fails.startswith("accuracy at ") and "25 %" in found[0].fails


def test_weighted_auc_falls_with_recall_where_the_point_is_the_only_band_edge(golden):
    claim = Conclusion(
        2, "weighted AUC of two bands rises with recall", (two_band_auc,), RateBounds(recall=(0, math.inf))
    )
    assert correlation_study(n=1000, seeds=20).conclusions([claim])[0].share == 0
    assert correlation_study(n=100, seeds=20).conclusions([claim])[0].share == pytest.approx(0.65, abs=0.051)
    row = next(r for r in correlation_study([two_band_auc], n=100, seeds=20).rows() if r.metric == "two_band_auc")
    assert row.recall == pytest.approx(golden("papers")["garcia_pearson"]["100"]["0.05"]["wAUC"][0], abs=ROUNDED)


def test_class_weighted_accuracy_is_strongly_for_recall_and_against_specificity_from_a_weight_of_070():
    claims = [
        Conclusion(
            2,
            "the second half of the second conclusion",
            (f"class_weighted_accuracy[w={w}]",),
            RateBounds(recall=(0.5, math.inf), specificity=(-math.inf, -0.5)),
        )
        for w in (0.6, 0.7)
    ]
    found = correlation_study(n=1000, seeds=10).conclusions(claims)
    assert [c.holds for c in found] == [False, True]
    assert found[0].fails == "class_weighted_accuracy at 5 %"


def test_much_of_the_correlation_with_recall_is_noise_of_few_positives():
    few, many = (correlation_study(["g_mean"], n=n, seeds=5).rows()[2].recall for n in (100, 5000))
    assert few > 0.6 and many < 0.35


def test_the_distortions_are_whole_steps_that_end_at_zero():
    widths = widths_of(0.6, 13)
    assert widths[0].tolist() == [0.6, 0] and widths[-1].tolist() == [0, 0.6]
    assert np.allclose(widths.sum(1), 0.6, atol=1e-15) and (widths >= 0).all()


def test_a_collection_holds_130_tables_for_each_imbalance():
    study = correlation_study(seeds=2)
    assert study.counts.shape == (2, 5, 13, 10)
    assert (study.counts.positives / study.counts.total == np.reshape(study.positives, (5, 1, 1))).all()
    assert study.names == GARCIA_METRICS and study.matrix(0.05).shape == (13, 13)


def test_a_seed_is_the_same_study_however_many_there_are():
    one, three = correlation_study(seeds=1), correlation_study(seeds=3)
    assert one.counts == three.counts[:1]
    assert correlation_study(rng=7).counts == correlation_study(rng=7).counts != one.counts


@pytest.mark.parametrize("rank", [False, True])
def test_every_pair_is_correlated_over_the_tuples_where_both_are_defined(rank):
    study = correlation_study(["precision", "mcc", "f1", "accuracy"], n=40, positives=[0.05, 0.1])
    assert (study.undefined > 0).any()
    judge = stats.spearmanr if rank else stats.pearsonr
    for i, level in enumerate(study.positives):
        values = np.stack([np.ravel(get_metric(name)(study.counts[0, i])) for name in study.names])
        for a, b in itertools.product(range(len(values)), repeat=2):
            both = ~np.isnan(values[a] + values[b])
            expected = judge(values[a][both], values[b][both]).statistic
            assert study.matrix(level, rank=rank)[a, b] == pytest.approx(expected, abs=1e-9)


def test_a_metric_that_never_varies_correlates_with_nothing():
    study = correlation_study(["prevalence", "alpha_recall"], seeds=2)
    r = study.matrix(0.1)[study.names.index("prevalence")]
    assert np.isnan(r).all()
    assert study.matrix(0.1)[0, study.names.index("alpha_recall")] == pytest.approx(1)


def test_two_functions_of_one_name_are_two_metrics():
    study = correlation_study([lambda c: c.tp, lambda c: c.tn, "recall"])
    assert study.names == ("recall", "specificity", "<lambda>", "<lambda>")
    assert study.matrix(0.1)[0, 2] == pytest.approx(1) and study.matrix(0.1)[1, 3] == pytest.approx(1)


def test_every_metric_of_counts_can_be_studied():
    study = correlation_study([m for m in list_metrics() if m.function], n=100)
    assert len(study.rows()) == 5 * len(study.names)
    assert "of seeds" in repr(study) and "balanced_accuracy" in repr(study)


# ---------------------------------------------------------------- Asawa


@pytest.fixture
def trees(golden):
    found = golden("papers")["asawa"]["reconstructed"]
    return [
        {name: Counts(*tables[f"{which}_tp_fn_fp_tn"]) for name, tables in found.items()}
        for which in ("unbalanced", "balanced")
    ]


def test_figure_4_comes_from_the_reconstructed_tables(golden, trees):
    found = robustness(trees[0], balanced=trees[1], metrics=ASAWA)
    changes = {(row.model, row.metric): row.change for row in found.rows()}
    printed = golden("papers")["asawa"]["figure4_differences_unbalanced_minus_balanced"]
    for tree, short in itertools.product(printed, FIGURE_4):
        assert changes[tree, FIGURE_4[short]] == pytest.approx(printed[tree][short], abs=1e-10)
    assert changes["DT1", "balanced_accuracy"] == pytest.approx(printed["DT1"]["auc"], abs=1e-10)


@pytest.mark.parametrize("how", ["weights", "tables"])
@pytest.mark.parametrize("tolerance", [0.006, 0.01, 0.02, 0.06])
def test_asawas_verdicts_and_winners(trees, how, tolerance):
    balanced = trees[1] if how == "tables" else None
    found = robustness(trees[0], balanced=balanced, metrics=ASAWA, tolerance=tolerance)
    assert set(found.robust) == {"recall", "specificity", "tpnr", "balanced_accuracy"}
    assert set(found.symmetric) == {"accuracy", "tpnr", "kappa", "mcc", "balanced_accuracy"}
    assert found.winners == ["tpnr", "balanced_accuracy"]
    assert "Robust and symmetric: tpnr, balanced_accuracy" in repr(found)


def test_the_verdict_is_by_the_largest_change_over_the_models(trees):
    alone = robustness({"DT4": trees[0]["DT4"]}, balanced={"DT4": trees[1]["DT4"]}, metrics=["kappa"])
    assert alone.robust == ["kappa"]
    together = robustness(trees[0], balanced=trees[1], metrics=["kappa"]).verdicts[0]
    assert together.robust is False and together.model == "DT1"


def test_balancing_by_weights_leaves_exactly_the_metrics_of_the_two_recalls(trees):
    found = robustness(trees[0], prevalences=[0.01, 0.2, 0.5, 0.9], draws=0)
    assert found.changes.shape == (4, 4, len(found.metrics))
    for i, name in enumerate(found.metrics):
        expected = get_metric(name)(trees[0]["DT2"]) - get_metric(name)(at_prevalence(trees[0]["DT2"], 0.9))
        assert found.changes[1, 3, i] == pytest.approx(expected, abs=1e-10)
    exact = {v.metric for v in found.verdicts if v.change == 0}
    assert {"recall", "specificity", "tpnr", "g_mean", "ac_score", "iba", "alpha_f1", "weighted_auc"} <= exact
    assert not exact & {"accuracy", "precision", "f1", "mcc", "kappa", "p4", "adjusted_g_mean"}


def test_resampling_scatters_about_the_exact_change_as_draws_without_replacement_do(trees):
    found = robustness(trees[0], metrics=["specificity", "recall", "accuracy"], draws=4_000)
    rows = {(row.model, row.metric): row for row in found.rows()}
    for row in rows.values():
        assert abs(row.resampled - row.change) <= 4 * row.resampled_sd / math.sqrt(4_000) + 1e-12
        assert row.resampled_low <= row.resampled <= row.resampled_high
    share, n, of = 116 / 4860, 510, 4860
    sd = math.sqrt(share * (1 - share) / n * (of - n) / (of - 1))
    assert rows["DT4", "specificity"].resampled_sd == pytest.approx(sd, rel=0.05)
    assert rows["DT4", "recall"].resampled_sd == 0


def test_a_resampled_table_has_the_prevalence_asked_for():
    counts = Counts([60, 200], [40, 100], [10, 30], [890, 70])
    at = np.array([0.05, 0.5, 0.8])
    drawn = undersampled(counts, at, 50, np.random.default_rng(0))
    assert drawn.shape == (50, 2, 3)
    assert np.allclose(drawn.positives / drawn.total, at, atol=0.01)
    for part, whole in zip(drawn, counts, strict=True):
        assert (part <= np.asarray(whole)[:, None]).all()


def test_labels_tables_and_one_model_are_told_alike():
    rng = np.random.default_rng(1)
    y = np.where(rng.random(500) < 0.2, "pulsar", "noise")
    predicted = {name: np.where(rng.random(500) < keep, y, "noise") for name, keep in (("a", 0.5), ("b", 0.9))}
    by_rows = robustness(y, predicted, pos_label="pulsar", metrics=ASAWA)
    tables = {name: confusion(y, p, pos_label="pulsar") for name, p in predicted.items()}
    by_tables = robustness({name: table.counts() for name, table in tables.items()}, metrics=ASAWA)
    assert np.array_equal(by_rows.changes, by_tables.changes, equal_nan=True)
    assert by_rows.verdicts == robustness(tables, metrics=ASAWA).verdicts
    assert robustness(y, predicted["a"], pos_label="pulsar", metrics=["tpnr"]).models == ("model",)


def test_weighted_rows_are_balanced_but_not_resampled():
    found = robustness([0, 0, 0, 1], [0, 1, 0, 1], sample_weight=[1, 2, 3.5, 1], metrics=["accuracy"])
    assert found.rows()[0].change == pytest.approx(5.5 / 7.5 - (1 + 4.5 / 6.5) / 2)
    assert math.isnan(found.rows()[0].resampled)


def test_an_undefined_metric_has_no_verdict():
    found = robustness(Counts(0, 10, 0, 90), metrics=["precision", "accuracy"])
    assert found.verdicts[0].robust is None and found.verdicts[0].symmetric is None
    assert found.verdicts[1].robust is False
    assert "undefined" in repr(found)


def ranked_rows(seed=0, n=2_000):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.1).astype(int)
    return y, 1 / (1 + np.exp(2 - 2 * y - rng.normal(size=n)))


def test_asawas_two_tests_take_the_auc_one_of_his_winners():
    y, scores = ranked_rows()
    asked, options = ["accuracy", "tpnr", "roc_auc"], {"draws": 5}
    both = robustness(y, {"a": (scores >= 0.5).astype(int)}, y_score={"a": scores}, metrics=asked, **options)
    assert both.metrics == tuple(asked) and both.winners == ["tpnr", "roc_auc"]
    alone = robustness(y, y_score={"a": scores}, metrics=asked, **options)  # probabilities, thresholded at 0.5
    assert alone.verdicts == both.verdicts
    assert robustness({"a": score_table(y, scores)}, metrics=asked, **options).verdicts == both.verdicts
    several = robustness(y, y_score=10 * scores, prevalences=[0.2, 0.5, 0.9])
    assert several.metrics == ("roc_auc", "average_precision") and several.winners == ["roc_auc"]
    assert several.values[0, 0] == get_metric("roc_auc")(y, scores) and several.balanced.shape == (1, 3, 2)


def test_robustness_says_what_the_auc_and_labels_need():
    y, scores = ranked_rows()
    predicted = (scores >= 0.5).astype(int)
    with pytest.raises(SteelyardError, match=r"roc_auc reads scores, .* give y_score="):
        robustness(y, predicted, metrics=["f1", "roc_auc"])
    with pytest.raises(SteelyardError, match=r"f1 reads predicted labels, and the scores are no probabilities"):
        robustness(y, y_score=10 * scores, metrics=["f1"])
    with pytest.raises(SteelyardError, match=r"y_pred= and y_score= name other models"):
        robustness(y, {"a": predicted}, y_score={"b": scores}, metrics=["f1", "roc_auc"])


def test_robustness_and_correlation_ask_predictions_and_frames_too():
    y, scores = ranked_rows()
    asked = {"metrics": ["f1", "roc_auc"], "draws": 0}
    expected = robustness(y, y_score={"a": scores}, **asked)
    frame = pl.DataFrame({"y": y, "a": scores})
    p = Predictions(y, y_score={"a": scores})
    assert robustness(p, **asked).verdicts == expected.verdicts
    assert robustness(frame, true="y", score=["a"], **asked).verdicts == expected.verdicts
    cut = robustness(p.at(0.3), metrics=["f1"], draws=0)
    assert cut.verdicts == robustness(y, {"a": (scores >= 0.3).astype(int)}, metrics=["f1"], draws=0).verdicts
    few = {"metrics": ["f1"], "steps": 3, "tuples": 2, "seeds": 2}
    assert metric_correlation(frame, true="y", score="a", **few).counts == metric_correlation(p, **few).counts
    with pytest.raises(TypeError, match="cluster= has no place in robustness"):
        robustness(y, y_score=scores, cluster=y)


@pytest.mark.parametrize("name", ["tree", "svm"])
def test_refits_on_swapped_labels_take_the_auc(name):
    from sklearn.datasets import load_breast_cancer
    from sklearn.svm import LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_depth=3, random_state=0) if name == "tree" else LinearSVC(random_state=0)
    X, y = load_breast_cancer(return_X_y=True)
    parts = X[::2] / X.max(0), y[::2], X[1::2] / X.max(0), y[1::2]
    refit = refit_robustness(model, *parts, metrics=["f1", "tpnr", "roc_auc"], draws=5)
    assert refit.metrics == ("f1", "tpnr", "roc_auc") and "roc_auc" in refit.winners
    alone = refit_robustness(model, *parts, metrics=["roc_auc"])
    assert alone.values[0, 0] == refit.values[0, 2] and 0.8 < alone.values[0, 0] < 1


def test_a_metric_that_only_these_models_leave_as_it_is_is_not_called_robust_in_general():
    y, scores = ranked_rows()
    own = lambda tp, fn, fp, tn: 0 * tp
    found = robustness(y, (scores >= 0.5).astype(int), metrics=["tpnr", "mcc", "weighted_auc", own])
    by_name = {verdict.metric: verdict for verdict in found.verdicts}
    assert by_name["mcc"].robust and by_name["mcc"].robust_in_general is False
    assert by_name["weighted_auc"].symmetric and by_name["weighted_auc"].symmetric_in_general is False
    assert by_name["tpnr"].robust_in_general is by_name["tpnr"].symmetric_in_general is True
    assert by_name["<lambda>"].robust_in_general is None
    assert found.headline == (
        "Robust and symmetric: tpnr. Within tolerance here, not decided in general: <lambda>. Within tolerance here, "
        "refuted in general: mcc, weighted_auc."
    )
    assert repr(found).count("here only") == 2


def test_estimators_are_refitted_on_swapped_labels():
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    X, y = make_classification(3_000, weights=[0.9], class_sep=0.8, flip_y=0.02, random_state=0)
    trees = {n: DecisionTreeClassifier(max_leaf_nodes=n + 1, criterion="entropy") for n in (1, 5, 10)}
    models = {**trees, "logistic": LogisticRegression()}
    found = refit_robustness(models, X[::2], y[::2], X[1::2], y[1::2], metrics=ASAWA)
    assert set(found.symmetric) == {"accuracy", "tpnr", "kappa", "mcc", "balanced_accuracy"}
    assert found.winners == ["tpnr", "balanced_accuracy"]
    assert found.models == ("1", "5", "10", "logistic")
    assert not hasattr(models["logistic"], "coef_"), "what is handed in is not fitted"


def test_a_learner_that_favours_a_name_is_caught_by_refitting_alone():
    from sklearn.dummy import DummyClassifier

    X, y = np.zeros((100, 1)), np.arange(100) < 20
    always = DummyClassifier(strategy="constant", constant=True)
    found = refit_robustness(always, X, y, X, y, metrics=["accuracy"])
    assert found.verdicts[0].swap_change == pytest.approx(0.2 - 0.8) and not found.symmetric


# ---------------------------------------------------------------- Nguyen


@pytest.fixture
def printed(golden):
    nguyen = golden("papers")["nguyen"]

    def columns(table, first):
        ratios = ("20:80", "50:50", "80:20")
        rows = [nguyen[table][label] for label in nguyen["table_I"]]
        return {ratio: [row[first + i] for row in rows] for i, ratio in enumerate(ratios)}

    return columns


@pytest.mark.parametrize(
    ("first", "table", "spread", "of_means"),
    [
        (0, "table_II", 8.454, 7.7235), (0, "table_III", 1.355, 0.8635),
        (3, "table_II", 21.453, 21.4535), (3, "table_III", 1.259, 0.6825),
    ],
)  # fmt: skip
def test_nguyens_spreads(printed, first, table, spread, of_means):
    values = printed(table, first)
    found = spread_of(values)
    assert found.spread == pytest.approx(spread, abs=0.0006)
    assert found.of_means == pytest.approx(of_means, abs=1e-9)
    assert found.runs == 20 and found.left_out == 0
    assert found.test.p_value == pytest.approx(stats.friedmanchisquare(*values.values()).pvalue)
    pair = found.test.pairs[1]
    assert (pair.a, pair.b) == ("20:80", "80:20")
    assert pair.p_value == pytest.approx(stats.wilcoxon(values["20:80"], values["80:20"]).pvalue)


@pytest.mark.parametrize("first", [0, 3])
def test_the_unbalanced_factor_narrows_every_label_but_the_ratios_still_differ(printed, first):
    with_alpha, without = (np.ptp(np.array([*printed(t, first).values()]), 0) for t in ("table_III", "table_II"))
    assert (with_alpha < without).all()
    assert spread_of(printed("table_III", first)).test.p_value < 0.05


def test_the_spread_of_the_reconstructed_tables(golden):
    found = golden("papers")["nguyen"]["reconstructed_pooled_confusions_over_10_runs"]
    tables = {ratio: {label: Counts(**c) for label, c in part["rows"].items()} for ratio, part in found.items()}
    rows = {row.metric: row for row in ratio_spread(tables)}
    assert rows["accuracy"].means["20:80"] == pytest.approx(0.883515, abs=5e-5)
    assert rows["alpha_accuracy"].means["80:20"] == pytest.approx(0.93468, abs=5e-5)
    assert rows["alpha_accuracy"].spread < rows["accuracy"].spread / 5
    assert rows["alpha_f1"].spread < rows["f1"].spread / 5
    assert "p (Friedman)" in repr(ratio_spread(tables))


def test_what_balancing_by_weights_cannot_move_differs_by_no_rounding_either():
    runs = Counts([30, 41, 55, 27], [13, 9, 31, 40], [7, 19, 3, 11], [301, 222, 411, 97])
    tables = {f"{pi}": at_prevalence(runs, pi) for pi in (0.03, 0.3, 0.5, 0.9)}
    rows = {row.metric: row for row in ratio_spread(tables, metrics=["g_mean", "weighted_auc", "accuracy"])}
    for name in ("g_mean", "weighted_auc"):
        assert rows[name].spread < 1e-12 and rows[name].test.p_value == 1
    assert rows["accuracy"].test.p_value < 0.05


def test_runs_where_a_metric_is_undefined_are_left_out_and_counted():
    tables = {"a": Counts([5, 0, 3], [5, 10, 7], [1, 0, 2], [9, 10, 8]), "b": Counts([5, 4, 3], [5, 6, 7], 1, 9)}
    row = ratio_spread(tables, metrics=["precision"])[0]
    assert (row.runs, row.left_out) == (2, 1)
    assert ratio_spread({"a": Counts(0, 1, 0, 1), "b": Counts(0, 1, 0, 1)}, metrics=["precision"])[0].runs == 0


# ---------------------------------------------------------------- Wu


@pytest.mark.parametrize("pi", [0.001, 0.1, 0.3, 0.5])
def test_accuracy_and_balanced_accuracy_disagree_as_geometry_says(pi):
    odds = pi / (1 - pi)
    share = (1 - odds) / 3 - (1 - odds**2) / 12
    assert disagreement("accuracy", "balanced_accuracy", pi).share == pytest.approx(share, abs=0.003)


@pytest.mark.parametrize("points", ["quasi-random", "grid"])
@pytest.mark.parametrize(
    ("a", "b"), [("tpnr", "g_mean"), ("accuracy", "error_rate"), ("alpha_accuracy", "informedness"), ("f1", "jaccard")]
)
def test_metrics_that_are_functions_of_one_another_never_disagree(a, b, points):
    found = disagreement(a, b, [0.03, 0.5, 0.8], points=points)
    assert found.share == 0
    assert found.tied == 0 or points == "grid"


def test_the_two_recalls_disagree_in_half_of_all_pairs():
    assert disagreement("recall", "specificity").share == pytest.approx(0.5, abs=0.003)


def test_disagreements_are_those_of_each_pair_of_points():
    names, at = ["mcc", "precision", "ac_score", "error_rate"], [0.1, 0.6]
    grid = list(itertools.product(np.linspace(0, 1, 5), repeat=2))
    at_rates = lambda r, s, pi: Counts(pi * r, pi * (1 - r), (1 - pi) * (1 - s), (1 - pi) * s)
    for a, b in itertools.combinations(names, 2):
        orders = []
        for pi, (one, other) in itertools.product(at, itertools.combinations(grid, 2)):
            gaps = [get_metric(m)(at_rates(*one, pi)) - get_metric(m)(at_rates(*other, pi)) for m in (a, b)]
            turned = [-g if m == "error_rate" else g for g, m in zip(gaps, (a, b), strict=True)]
            orders.append(np.prod([0 if abs(g) < 1e-12 else np.sign(g) for g in turned]))
        known = [o for o in orders if not math.isnan(o)]
        row = disagreement(a, b, at, points="grid", size=5)
        assert row.share == pytest.approx(np.mean([o < 0 for o in known]))
        assert row.tied == pytest.approx(np.mean([o == 0 for o in known]))
        assert row.undefined == pytest.approx(1 - len(known) / len(orders))


def test_a_metric_flips_where_the_ranks_swap():
    a, b = Counts(60, 40, 10, 890), Counts(90, 10, 150, 750)
    found = discrimination(a, b, prevalences=np.linspace(0.001, 0.999, 999))
    for row in found.separations:
        swaps = swap_prevalences(row.metric, a, b, least=0.001)
        assert row.flips == len(swaps), row.metric
        assert (row.leader == "A or B") == bool(swaps)
    assert "accuracy" in found.flipping and "mcc" in found.flipping
    assert not set(found.flipping) & {"ac_score", "g_mean", "balanced_accuracy", "tpnr", "iba"}


@pytest.mark.parametrize("level", [0.6, 0.75, 0.9])
def test_ac_score_separates_an_even_classifier_from_a_lopsided_one_the_most(level):
    names = ["ac_score", "g_mean", "balanced_accuracy"]
    for tpr, tnr in itertools.product(np.linspace(0, 1, 11), repeat=2):
        if tpr + tnr <= 2 * level + 1e-9:
            ac, gm, ba = (s.least for s in discrimination((level, level), (tpr, tnr), metrics=names).separations)
            assert ac >= gm - 1e-12 >= ba - 2e-12


def test_wus_three_conditions():
    # The even classifier stays where it is; the other leans to the class it saw most of, as LDA does.
    even = Counts([3600, 1200, 400], [900, 300, 100], [300, 300, 300], [1200, 1200, 1200])
    leaning = Counts([4410, 1215, 200], [90, 285, 300], [900, 285, 30], [600, 1215, 1470])
    names = ["recall", "specificity", "ac_score", "g_mean", "balanced_accuracy", "accuracy", "mean_f1"]
    found = discrimination(even, leaning, metrics=names)
    assert found.conditions == ("0.75", "0.5", "0.25")
    few_negatives, few_positives = dict(found.ranking("0.75")), dict(found.ranking("0.25"))
    # At N:P = 1:3 it is specificity that favours the even one: the paper's "sensitivity" is a slip.
    assert few_negatives["specificity"] > 0 > few_negatives["recall"]
    assert few_positives["recall"] > 0 > few_positives["specificity"]
    for condition in ("0.75", "0.25"):
        one_class = {"recall", "specificity"}
        both = [name for name, _ in found.ranking(condition) if name not in one_class]
        assert both[:2] == ["ac_score", "g_mean"]
    assert found["ac_score"].ranks[0] == found["ac_score"].ranks[2] == 2
    assert found["ac_score"].shift <= 1 < found["recall"].shift
    assert {"recall", "specificity"} <= set(found.flipping)
    assert found.separations.to_dicts()[0]["at 0.75"] == pytest.approx(0.8 - 0.98)
    assert repr(found).startswith("A minus B, positive where A is better; 6 of 7 metrics change their order.")


def test_a_point_and_its_table_are_the_same_classifier():
    a, b = Counts(80, 20, 90, 810), Counts(95, 5, 360, 540)
    assert discrimination(a, b).separations == discrimination((0.8, 0.9), (0.95, 0.6)).separations


def test_what_separates_does_so_everywhere_by_more_than_the_tolerance():
    a, b = (0.8, 0.8), (0.99, 0.5)
    assert set(discrimination(a, b, metrics=GARCIA_METRICS, tolerance=0.05).separating) == {
        "recall", "specificity", "balanced_accuracy", "g_mean", "optimized_precision", "iba", "adjusted_g_mean",
        "weighted_auc",
    }  # fmt: skip
    same = discrimination(a, a, metrics=["mcc"]).separations[0]
    assert same.leader == "neither" and not same.separates and same.least == 0


# ---------------------------------------------------------------- refusals


def raises(c):
    raise RuntimeError("no licence")


def wrong_shape(c):
    return np.zeros(3)


def nowhere(c):
    return np.nan * c.tp


def scalar_only(tp, fn, fp, tn):
    return tp if tp > fn else 0


ONE, TWO = Counts(8, 2, 2, 8), {"a": Counts(8, 2, 2, 8)}
REFUSALS = {
    "study of what raises": lambda: correlation_study([raises]),
    "study of a wrong shape": lambda: correlation_study([wrong_shape]),
    "study of NaN": lambda: correlation_study([nowhere]),
    "study of a scalar function": lambda: correlation_study([scalar_only]),
    "study of a score metric": lambda: correlation_study(["roc_auc"]),
    "study of text": lambda: correlation_study("mcc"),
    "unknown list": lambda: correlation_study(list_kind="linear"),
    "no positives": lambda: correlation_study(n=10, positives=[0.01]),
    "share above 1": lambda: correlation_study(positives=[5]),
    "no shares": lambda: correlation_study(positives=[]),
    "n": lambda: correlation_study(n=10**9),
    "range": lambda: correlation_study(total_range=0),
    "threshold": lambda: correlation_study(threshold="half"),
    "steps": lambda: correlation_study(steps=1),
    "seeds": lambda: correlation_study(seeds=0),
    "no such level": lambda: correlation_study().matrix(0.5),
    "robustness of nothing": lambda: robustness({}),
    "robustness of what raises": lambda: robustness(ONE, metrics=[raises]),
    "robustness of rates": lambda: robustness((0.8, 0.9)),
    "robustness of an array": lambda: robustness({"a": Counts([1, 2], 1, 1, 1)}),
    "one class": lambda: robustness([1, 1], [1, 0]),
    "table of one class": lambda: robustness(Counts(1, 1, 0, 0)),
    "tolerance": lambda: robustness(ONE, tolerance=-1),
    "draws": lambda: robustness(ONE, draws=1.5),
    "prevalence": lambda: robustness(ONE, prevalences=2),
    "too rare to draw": lambda: robustness(ONE, prevalences=1e-9),
    "too large to draw": lambda: robustness(Counts(10**12, 1, 1, 1)),
    "other models": lambda: robustness(TWO, balanced={"b": ONE}),
    "not an estimator": lambda: refit_robustness("tree", [[0], [1]], [0, 1], [[0], [1]], [0, 1]),
    "three classes": lambda: refit_robustness(None, [[0]], [0], [[0], [1]], [1, 2]),
    "one ratio": lambda: ratio_spread({"a": ONE}),
    "other runs": lambda: ratio_spread({"a": {"x": ONE}, "b": {"y": ONE}}),
    "spread of one": lambda: spread_of([1, 2]),
    "spread of unequal": lambda: spread_of({"a": [1, 2], "b": [1]}),
    "disagreement of what raises": lambda: disagreement(raises, "mcc"),
    "disagreement of NaN": lambda: disagreement(nowhere, "mcc"),
    "points": lambda: disagreement("f1", "mcc", points="random"),
    "size": lambda: disagreement("f1", "mcc", size=1),
    "grid size": lambda: disagreement("f1", "mcc", points="grid", size=1_000),
    "disagreement prevalence": lambda: disagreement("f1", "mcc", 0),
    "not a classifier": lambda: discrimination(0.8, (0.8, 0.9)),
    "rate above 1": lambda: discrimination((0.8, 1.9), (0.8, 0.9)),
    "discrimination of one class": lambda: discrimination(Counts(1, 1, 0, 0), ONE),
    "shapes": lambda: discrimination(Counts([1, 2], 1, 1, 1), Counts([1, 2, 3], 1, 1, 1)),
    "mixed": lambda: discrimination(Counts([1, 2], 1, 1, 1), ONE),
    "discrimination tolerance": lambda: discrimination(ONE, ONE, tolerance="none"),
    "no such condition": lambda: discrimination(ONE, ONE).ranking("0.3"),
    "not tried": lambda: discrimination(ONE, ONE, metrics=["mcc"])["f1"],
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_is_one_sentence(case):
    with pytest.raises(SteelyardError) as caught:
        REFUSALS[case]()
    said = str(caught.value)
    assert said.endswith((".", "?")) and "\n" not in said and said.count(". ") <= 1


def test_nobody_leads_by_a_metric_that_calls_no_value_better():
    with pytest.raises(SteelyardError, match=r"^dominance has no better or worse values"):
        discrimination((0.8, 0.8), (0.9, 0.5), metrics=["accuracy", "dominance"])


def test_equal_differences_have_equal_ranks():
    found = discrimination((0.8, 0.8), (0.99, 0.5), metrics=["accuracy", "error_rate", "g_mean"])
    assert found["accuracy"].ranks == found["error_rate"].ranks
    assert found["accuracy"].shift == found["error_rate"].shift


STUDY = {
    "a share that is no number": ({"positives": ["a"]}, "positives are shares of the rows"),
    "no tuples": ({"tuples": None}, "tuples= is a whole number of 2 or more, not None"),
    "half a step": ({"steps": 2.5}, "steps= is a whole number of 2 or more, not 2.5"),
    "no seed": ({"seeds": 0}, "seeds= is a whole number of 1 or more, not 0"),
    "a word for a range": ({"total_range": "x"}, "total_range= is the width"),
}


@pytest.mark.parametrize("case", STUDY)
def test_a_study_that_cannot_be_gets_one_sentence(case):
    options, sentence = STUDY[case]
    with pytest.raises(SteelyardError, match=sentence):
        correlation_study(["accuracy"], n=100, **options)


def test_one_share_of_positives_needs_no_list():
    assert correlation_study(["accuracy"], n=100, positives=0.1).positives == (0.1,)


def test_the_words_of_a_study_fit_what_was_given():
    one = robustness(Counts(5, 1, 2, 8), metrics=["accuracy"], rng=0)
    assert "\n\nLargest change of one model against" in repr(one) and "Without draws" not in repr(one)
    assert "Without draws" in repr(robustness(Counts(5.5, 1, 2, 8), metrics=["accuracy"]))
    with pytest.raises(SteelyardError, match=r"name it with pos_label=\.$"):
        robustness(["a", "b", "b"], ["a", "b", "a"])
    same = discrimination((0.8, 0.6), (0.6, 0.8 + 1e-5), metrics=["balanced_accuracy"])
    assert "-0.000" not in repr(same)
    uneven = {"1:1": Counts([5, 4], [1, 2], [2, 2], [8, 8]), "1:2": Counts([5], [1], [2], [8])}
    with pytest.raises(SteelyardError, match=r"^A ratio holds 0; it needs what the first holds: 0, 1"):
        ratio_spread(uneven)


def test_the_studies_are_public():
    import steelyard

    assert steelyard.studies.robustness is robustness and steelyard.studies.discrimination is discrimination
    assert steelyard.studies.correlation_study is correlation_study and steelyard.studies.ratio_spread is ratio_spread


def test_labels_of_a_convention_are_taken_and_stated():
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(4)
    y = rng.random(200) < 0.3
    scores = np.clip(0.3 * y + rng.random(200) * 0.7, 0, 1)
    words, flagged = np.where(y, "yes", "no"), np.where(scores >= 0.5, "yes", "no")
    metrics = ["precision", "recall", "roc_auc"]
    named = robustness(words, flagged, y_score=scores, metrics=metrics, pos_label="yes")
    found = robustness(words, flagged, y_score=scores, metrics=metrics)
    stated = "The positive class is 'yes' by convention; pos_label='no' would take the other one."
    assert found.assumed == (stated,) and named.assumed == ()
    assert stated in " ".join(repr(found).split()) and Result.from_json(found.to_json()).assumed == (stated,)
    assert np.array_equal(found.values, named.values)
    assert robustness(words, y_score=scores, metrics=["roc_auc"]).assumed == (stated,)
    assert robustness(y, scores >= 0.5, metrics=["recall"]).assumed == ()
    X = np.column_stack([scores, rng.random(200)])
    fitted = refit_robustness(linear.LogisticRegression(), X, words, X, words, metrics=["recall", "roc_auc"], draws=0)
    assert fitted.assumed == (stated,)


def test_labels_of_no_convention_still_need_a_name():
    y = ["fraud", "ok", "ok", "fraud"]
    assert_refused(
        lambda: robustness(y, y), InputError, "not clear from the labels 'fraud', 'ok'; name it with pos_label="
    )
