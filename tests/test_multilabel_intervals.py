"""Intervals and no-skill baselines of label sets."""

import numpy as np
import pandas as pd
import pytest

from steelyard import (
    Counts,
    chance,
    compare,
    coverage_error,
    evaluate,
    f1,
    get_metric,
    hamming_loss,
    interval,
    jaccard,
    precision,
    recall,
)
from steelyard.exceptions import InputError, UndefinedError
from steelyard.tables import multilabel

AVERAGES = [f"{name}[average={average}]" for name in ("f1", "recall") for average in ("micro", "macro", "weighted")]
POOLED = ["roc_auc[average=micro]", "average_precision[average=micro]"]
OTHERS = ["f1[average=samples]", "roc_auc[average=macro]", "average_precision[average=weighted]", *POOLED]


def drawn(n=500, labels=6, together=0.6, seed=0):
    """Rows whose labels go together, in truth and in what is wrong of them."""
    rng = np.random.default_rng(seed)

    def normal():
        return together**0.5 * rng.normal(size=(n, 1)) + (1 - together) ** 0.5 * rng.normal(size=(n, labels))

    truth, bars = normal(), np.linspace(-0.5, 1.2, labels)
    scores = 1 / (1 + np.exp(-2 * (0.8 * truth + 0.6 * normal() - bars)))
    return multilabel(*(_at_least_one(each) for each in (truth - bars, scores - 0.5)), y_score=scores)


def _at_least_one(excess):
    return ((excess > 0) | (excess == excess.max(1, keepdims=True))).astype(int)


def ends(names, table, **options):
    return interval(names, table, **options)


def value(name, table):
    metric, _, asked = name.partition("[")
    options = dict(part.split("=") for part in asked.rstrip("]").split(",") if part)
    place = {"pos_label": int(options.pop("class"))} if "class" in options else {}
    return get_metric(metric)(table, **options, **place)


def test_intervals_are_about_as_wide_as_a_bootstrap_of_rows_and_not_of_cells():
    table, rng = drawn(300, 4), np.random.default_rng(1)
    tables = [table.of_rows(rng.integers(0, 300, 300)) for _ in range(150)]
    for row in ends([*AVERAGES, *OTHERS], table):
        low, high = np.quantile([value(row.metric, each) for each in tables], [0.025, 0.975])
        assert row.low <= row.value <= row.high
        assert 0.8 < (row.high - row.low) / (high - low) < 1.5, row


def test_the_interval_of_one_label_is_that_of_its_own_table():
    table = drawn()
    recall, auc = ends(["recall[class=2]", "roc_auc[class=2]"], table)
    own = interval("recall", Counts(*(int(cell) for cell in table.by_label[2])))
    assert (recall.low, recall.high) == pytest.approx((own.low, own.high), abs=0.005)  # of other draws
    assert auc.low == pytest.approx(interval("roc_auc", table.score_table(2)).low)


def test_labels_that_are_copies_of_one_are_worth_one():
    one = drawn(labels=2, together=0.0)
    copied = multilabel(*(np.repeat(each[:, :1], 8, 1) for each in (one.true, one.predicted)))
    many, alone = ends(["recall[average=micro]"], copied)[0], ends(["recall[class=0]"], one)[0]
    assert many.high - many.low == pytest.approx(alone.high - alone.low, rel=0.1)


def test_sparse_and_dense_and_repeated_rows_have_the_same_intervals():
    table = drawn(n=120)
    from scipy.sparse import csr_array

    sparse = multilabel(csr_array(table.true), csr_array(table.predicted), y_score=table.scores)
    for a, b in zip(ends(AVERAGES, table), ends(AVERAGES, sparse), strict=True):
        assert (a.low, a.high) == pytest.approx((b.low, b.high))
    times = np.random.default_rng(2).integers(1, 4, 120)
    counted = multilabel(table.true, table.predicted, frequency=times)
    repeated = table.of_rows(np.repeat(np.arange(120), times))
    for a, b in zip(ends(AVERAGES, counted), ends(AVERAGES, repeated), strict=True):
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), rel=0.02)


def test_clusters_of_copied_rows_are_worth_one_row_each():
    table = drawn(n=200)
    copies = np.repeat(np.arange(200), 4)
    for name in ("f1[average=macro]", "f1[average=micro]", "f1[average=samples]"):
        many = ends([name], table.of_rows(copies), cluster=copies)[0]
        once = ends([name], table)[0]
        assert many.high - many.low == pytest.approx(once.high - once.low, rel=0.15), name


def test_baselines_are_those_of_predictions_from_other_rows():
    table, rng = drawn(n=300), np.random.default_rng(3)
    orders = [rng.permutation(300) for _ in range(100)]
    shuffled = [multilabel(table.true, table.predicted[order], y_score=table.scores[order]) for order in orders]
    for name in (*AVERAGES, "f1[average=samples]", "roc_auc[average=macro]", "recall[class=1]"):
        mean = np.mean([value(name, each) for each in shuffled])
        assert chance(name, table).value == pytest.approx(mean, abs=0.015), name


def test_the_baseline_of_pooled_areas_gives_every_row_the_shares_of_the_labels():
    table = drawn(n=300)
    level = multilabel(table.true, y_score=np.tile(table.true.mean(0), (300, 1)))
    for row in evaluate(table, metrics=POOLED):
        assert row.chance == pytest.approx(value(row.name, level)) == chance(row.name, table).value
        assert row.chance > 0.4


# ---------------------------------------------------------------- asked by themselves


def test_interval_and_chance_of_label_sets_are_those_of_evaluate():
    table = drawn(200, 4)
    names = ["f1[average=macro]", "accuracy", "recall[average=samples]", "roc_auc[average=macro]"]
    report = evaluate(table, metrics=names)
    for name, row in zip(names, interval(names, table.true, table.predicted, y_score=table.scores), strict=True):
        assert (row.value, row.low, row.high) == (report[name].value, report[name].low, report[name].high)
        assert chance(name, table).value == pytest.approx(report[name].chance, abs=1e-12)
    of_labels = interval("f1[average=None]", table)
    assert [of_labels.low[2], of_labels.high[2]] == pytest.approx(
        [getattr(interval("f1[class=2]", table), end) for end in ("low", "high")]
    )


def test_interval_of_label_sets_reads_the_columns_of_a_frame_with_clusters():
    table, members = drawn(120, 3), np.arange(120) // 4
    frame = pd.DataFrame(table.true, columns=[f"y_{i}" for i in range(3)]).assign(patient=members)
    frame[[f"s_{i}" for i in range(3)]] = table.scores
    row = interval("roc_auc[average=macro]", frame, true="y_*", score="s_*", cluster="patient")
    assert row.low == interval("roc_auc[average=macro]", table.true, y_score=table.scores, cluster=members).low


def test_what_an_interval_of_label_sets_cannot_heed_is_refused():
    table = drawn(60, 3)
    for options, words in (
        ({"design": "stratified"}, "leave it out"),
        ({"pos_label": 1}, "pos_label= is of rows with one label each"),
        ({"prevalence": 0.1}, "leave prevalence= out"),
        ({"method": "bca"}, "does not fit"),
    ):
        with pytest.raises(InputError, match=words):
            interval("f1[average=macro]", table, **options)
    for asked in (interval, chance):
        with pytest.raises(InputError, match="averaged or of one label"):
            asked("f1", table)


def test_the_baselines_of_labels_are_their_commoner_answer_their_rarer_one_and_a_coin():
    table = drawn(400, 3)
    constant = {name: np.tile(answer, (400, 1)) for name, answer in (("majority", [1, 0, 0]), ("minority", [0, 1, 1]))}
    assert ((table.true.mean(0) > 0.5) == [True, False, False]).all()
    for metric in ("f1[average=macro]", "hamming_loss", "jaccard[average=samples]", "recall[class=1]"):
        baselines = chance(metric, table)
        for name, predicted in constant.items():
            assert getattr(baselines, name) == pytest.approx(value(metric, multilabel(table.true, predicted)))
    assert chance("hamming_loss", table).coin == pytest.approx(0.5, abs=0.01)
    assert np.isnan(chance("roc_auc[average=macro]", table).coin)


# ---------------------------------------------------------------- rows without labels


def test_an_interval_of_a_metric_of_label_sets_is_its_own_where_a_mean_over_rows_is_asked_for():
    table = drawn(300, 4, seed=5)
    given = {hamming_loss: {"y_pred": table.predicted}, coverage_error: {"y_score": table.scores}}
    for metric, predictions in given.items():
        own = interval(metric, table.true, **predictions)
        asked = interval(f"{metric.name}[average=samples]", table.true, **predictions)
        assert (asked.value, asked.low, asked.high) == (own.value, own.low, own.high)


def empty_rows():
    """Rows of which some have no labels, some none predicted, and some neither."""
    table = drawn(300, 4, seed=5)
    true, predicted = table.true.copy(), table.predicted.copy()
    true[:40], predicted[20:70] = 0, 0
    return true, predicted


@pytest.mark.parametrize("name", ["f1", "jaccard", "recall", "precision"])
def test_a_mean_over_rows_leaves_out_those_without_a_value_as_scikit_learn_does_on_request(name):
    from sklearn import metrics

    true, predicted = empty_rows()
    metric = {"f1": f1, "jaccard": jaccard, "recall": recall, "precision": precision}[name]
    if name != "jaccard":  # which takes 0, 1 or "warn" alone
        theirs = getattr(metrics, f"{name}_score")(true, predicted, average="samples", zero_division=np.nan)
        assert metric(true, predicted, average="samples") == pytest.approx(theirs, abs=1e-12)
    theirs = getattr(metrics, f"{name}_score")(true, predicted, average="samples", zero_division=0)
    assert metric(true, predicted, average="samples", undefined=0) == pytest.approx(theirs, abs=1e-12)
    with pytest.raises(UndefinedError, match="row "):
        metric(true, predicted, average="samples", undefined="raise")
    empty = {"recall": true, "precision": predicted}.get(name, true | predicted).any(1)
    left = interval(f"{name}[average=samples]", true[empty], predicted[empty])
    whole = interval(f"{name}[average=samples]", true, predicted)
    assert (whole.value, whole.low, whole.high) == (left.value, left.low, left.high)


def test_evaluate_states_how_many_rows_a_mean_over_rows_leaves_out():
    true, predicted = empty_rows()
    sentence = evaluate(true, predicted).assumed[0]
    assert sentence.endswith("of 300 rows 40 have no labels, 50 none predicted, 20 neither.")
    assert evaluate(true, predicted, metrics=["f1[average=macro]"]).assumed == ()
    models = {"a": predicted, "b": np.roll(predicted, 1, 1)}
    (row,) = compare(true, models, metrics=["f1[average=samples]"])
    assert row.low <= row.difference <= row.high and row.p_holm < 0.05
    nothing = np.zeros((30, 3), int)
    assert np.isnan(f1(nothing, nothing, average="samples"))
    assert f1.why(nothing, nothing, average="samples").startswith("row 1: ")
