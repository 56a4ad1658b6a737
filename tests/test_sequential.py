"""Sequences that may be looked at after every row: what they hold, by the laws and by exact and simulated values."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import polars as pl
import pytest

import steelyard
from steelyard import Counts, compare, interval, list_metrics
from steelyard.analysis.intervals import evidence, metric_sequence
from steelyard.analysis.monitoring import alarms
from steelyard.analysis.sequential import anytime
from steelyard.exceptions import InputError, InputTypeError
from steelyard.studies import anytime_mean
from steelyard.tables import paired

COUNT_METRICS = [metric for metric in list_metrics() if metric.function is not None]
RNG = np.random.default_rng(5)


def spec_of(metric):
    """The metric as it is asked for."""
    return steelyard.interval(metric, Counts(1, 2, 3, 4)).spec


@pytest.mark.parametrize("limit", [0.5, 0.8, 0.99])
def test_evidence_about_a_rate_at_the_limit_is_fair_after_every_number_of_rows(limit):
    """Exactly, by all numbers of hits: the mean of the evidence is 1, so that it is a martingale's."""
    for rows in (1, 7, 40):
        hits = np.arange(rows + 1)
        weight = np.array([comb(rows, int(k)) * limit**k * (1 - limit) ** (rows - k) for k in hits])
        odds = np.exp(evidence.log_evidence_below(hits, rows - hits, limit))
        assert weight @ odds == pytest.approx(1, rel=1e-9)


def test_bets_on_rows_are_fair_where_the_mean_payoff_is_nothing():
    payoffs, shares = np.array([2.0, -1.0, 0.5]), np.array([0.25, 0.55, 0.1])
    assert payoffs @ shares == pytest.approx(0)
    wealth = np.exp(evidence.log_wealth(np.eye(3), payoffs))
    assert shares @ wealth + 0.1 == pytest.approx(1)


def test_a_ratio_is_read_off_the_formula():
    for metric in COUNT_METRICS:
        ratio = evidence.LinearRatio.of(metric)
        if ratio is not None:
            cells = RNG.integers(1, 50, (20, 4)).astype(float)
            assert ratio.value(cells) == pytest.approx(metric(Counts(*cells.T))), metric.name


@pytest.mark.parametrize("metric", COUNT_METRICS, ids=lambda metric: metric.name)
def test_an_interval_holds_its_value_and_every_table_of_its_region(metric):
    cells = np.array([[80, 20, 30, 870], [3, 1, 2, 40], [0, 5, 0, 60], [400, 4, 9, 9000]])
    sequence = metric_sequence.MetricSequence.of(spec_of(metric))
    low, high = sequence.ends(cells, 0.025, 0.025)
    value = sequence.value(cells)
    fine = ~np.isnan(value)
    assert (low[fine] <= value[fine]).all() and (value[fine] <= high[fine]).all()
    if sequence.method != "region":
        return
    region, share = metric_sequence.RateRegion.of(metric), 0.025 / len(metric_sequence.RateRegion.of(metric).rates) / 2
    names = ("tp", "fn", "fp", "tn")
    ends = []
    for hit, miss in region.rates:
        hits, misses = (cells[:, [names.index(cell) for cell in part.split()]].sum(1) for part in (hit, miss))
        ends.append((evidence.lowest_rate(hits, misses, 2 * share), evidence.highest_rate(hits, misses, 2 * share)))
    lows, highs = (np.stack(side, -1)[:, None] for side in zip(*ends, strict=True))
    inside = region.values(lows + RNG.random((1, 300, len(region.rates))) * (highs - lows))
    inside = np.where(np.isnan(inside), low[:, None], inside)
    assert (inside >= low[:, None] - 1e-6).all() and (inside <= high[:, None] + 1e-6).all()


@pytest.mark.parametrize(
    ("name", "sign"), [("mcc", 1), ("mcc", -1), ("ac_score", 1), ("fowlkes_mallows", 1), ("correlation_distance", -1)]
)
def test_joint_bets_are_fair_at_the_limit_and_lose_beyond_it_and_the_least_is_taken(name, sign):
    region, rng = metric_sequence.RateRegion.of(steelyard.get_metric(name)), np.random.default_rng(3)
    joint = metric_sequence.JointEvidence.of(region, 0.6, sign)
    free = rng.uniform(0.02, 0.98, (200, len(region.rates) - 1))
    rates, exists = joint._at_limit(free)
    payoffs, better = joint._payoffs(rates), rates.copy()
    best = 1.0 if joint._side > 0 else 0.0
    better[:, joint.solved] += rng.random(200) * (best - rates[:, joint.solved])
    at, beyond = (np.stack([*region.shares(each)], -1) for each in (rates, better))
    assert exists.any() and (payoffs[exists] * at[exists]).sum(-1) == pytest.approx(0, abs=1e-9)
    assert ((payoffs * beyond).sum(-1)[exists] <= 1e-6).all()
    cells = np.array([[60.0, 40, 30, 870], [6, 4, 30, 960], [400, 300, 200, 9000], [0, 3, 1, 20]])
    least = joint.least(cells)
    assert (least[:, None] <= joint._log_wealth(cells[:, None], free[None]) + 0.01).all()
    assert (least <= joint.most(cells) + 1e-9).all()
    assert (np.exp(least[joint.stays_below(cells, 3.0)]) < np.exp(3.0)).all()


def test_joint_evidence_of_a_fall_of_one_rate_is_more_than_that_of_a_box():
    cells = np.array([[120.0, 80, 594, 19206]])  # recall 0.6 of 0.8
    sequence = metric_sequence.MetricSequence.of(spec_of("mcc"))
    limit = float(sequence.value(np.array([160.0, 40, 594, 19206])))
    assert sequence.joint_evidence(limit, 1).least(cells)[0] > 6
    assert -sequence.log_p(cells, limit, 1)[0] < 3


def test_intervals_of_ratios_end_where_a_search_over_all_values_ends():
    ratio = evidence.LinearRatio.of(steelyard.get_metric("f_beta[beta=2]"))
    cells = RNG.integers(0, 40, (12, 4)).astype(float)
    grid = np.linspace(*ratio.ends, 4001)[1:-1]
    kept = np.array([ratio.log_evidence_below(cells, np.full(12, at)) < np.log(40) for at in grid])
    highest = [grid[kept[:, i]].max() for i in range(12)]
    assert ratio.highest(cells, 1 / 40) == pytest.approx(highest, abs=3e-4)


def anytime_interval(metric, *rows, **options):
    return interval(metric, *rows, method="anytime", **options)


def test_an_interval_depends_on_the_counts_alone_and_one_side_is_shorter():
    counts = Counts(tp=80, fn=20, fp=30, tn=870)
    whole = anytime_interval("recall", Counts(tp=30, fn=10, fp=5, tn=90) + Counts(tp=50, fn=10, fp=25, tn=780))
    assert whole == anytime_interval("recall", counts)
    low, high = metric_sequence.MetricSequence.of(spec_of("recall")).ends(np.array([*counts]), 0.05, 0)
    assert whole.low < low < whole.value and high == 1
    truth, predicted = np.repeat([1, 1, 0, 0], [80, 20, 30, 870]), np.repeat([1, 0, 1, 0], [80, 20, 30, 870])
    assert whole == anytime_interval("recall", truth, predicted)
    turned = anytime_interval("recall", 1 - truth, 1 - predicted, pos_label=0)
    assert (turned.value, turned.low, turned.high) == (whole.value, whole.low, whole.high)
    with pytest.raises(InputTypeError, match="give y_pred"):
        anytime_interval("recall", [0, 1])
    assert anytime_interval("recall", Counts(tp=0, fn=0, fp=3, tn=9)).why == "no positives"


def test_every_kind_of_rows_has_an_anytime_interval_and_several_metrics_give_rows():
    truth, predicted = np.repeat(["yes", "no"], [100, 900]), np.repeat(["yes", "no", "yes", "no"], [80, 20, 30, 870])
    scores = np.where(predicted == "yes", 0.8, 0.3)
    expected = anytime_interval("recall", Counts(tp=80, fn=20, fp=30, tn=870))
    frame = pl.DataFrame({"y": truth, "p": predicted})
    found = [anytime_interval("recall", truth, predicted), anytime_interval("recall", truth, y_score=scores)]
    for each in [*found, anytime_interval("recall", frame, true="y", pred="p")]:
        assert (each.low, each.high) == (expected.low, expected.high) and "by convention" in each.assumed[0]
    both = anytime_interval(["recall", "mcc"], truth, predicted)
    assert [row.metric for row in both] == ["recall", "mcc"]
    assert steelyard.Predictions(truth, predicted).interval("recall", method="anytime") == found[0]
    tables = Counts.stack([Counts(80, 20, 30, 870), Counts(8, 2, 3, 87)])
    assert anytime_interval("recall", tables).low[0] == expected.low


@pytest.mark.parametrize(
    ("metric", "given", "options", "words"),
    [
        ("roc_auc", Counts(1, 2, 3, 4), {}, "metric of predicted labels"),
        ("recall[class=1]", Counts(1, 2, 3, 4), {}, "pos_label="),
        ("recall", Counts(1.5, 2, 3, 4), {}, "not whole"),
        ("recall", steelyard.confusion([0, 1], [0, 1], sample_weight=[1, 2]), {}, "sample weights"),
        ("recall", Counts(1, 2, 3, 4), {"prevalence": 0.1}, "prevalence= has no place in an anytime interval"),
        ("recall", Counts(1, 2, 3, 4), {"draws": 100}, "draws= has no place in an anytime interval"),
    ],
)
def test_what_has_no_sequence_is_refused(metric, given, options, words):
    with pytest.raises(InputError, match=words):
        anytime_interval(metric, given, **options)


def test_rows_that_do_not_count_alike_are_refused():
    for extra in ({"sample_weight": [1, 2]}, {"cluster": [1, 2]}, {"by": ["a", "b"]}):
        with pytest.raises(InputTypeError, match="has no place in an anytime interval"):
            anytime_interval("recall", [0, 1], [0, 1], **extra)


def test_amounts_are_kept_by_nodes_without_gain_and_with_their_mean():
    amounts = RNG.pareto(1.5, 500).clip(0, 80)
    table = anytime.CostTable.of(amounts[:200], 0, 80) + anytime.CostTable.of(amounts[200:], 0, 80)
    assert table.rows == 500 and table.mean == pytest.approx(amounts.mean())
    for limit in (1.0, 2.0, 6.0):
        exact = evidence.log_wealth(
            np.append(np.ones(500), 0), np.append(amounts, 0) - limit
        )  # each row a kind of its own
        assert exact - 0.2 < table.ratio.log_evidence_above(table.weights, limit) <= exact + 1e-9
    assert anytime_mean(amounts, between=(0, 80)).mean == pytest.approx(amounts.mean())
    with pytest.raises(InputError, match="not between 0 and 5"):
        anytime_mean(amounts, between=(0, 5))


def test_a_comparison_is_by_the_rows_where_one_model_alone_is_right():
    truth = np.array([1] * 50 + [0] * 100)
    a, b = truth.copy(), truth.copy()
    a[:5], b[3:20] = 0, 0
    first, *_ = compare(paired(truth, a, b), metrics=["recall", "accuracy"], method="anytime")
    mixed = np.exp(-evidence.log_evidence_uneven(np.array(15.0), np.array(3.0)))  # b alone misses 15 of them, a alone 3
    assert first.difference == pytest.approx(0.24) and first.p_value == pytest.approx(float(mixed), rel=1e-12)
    assert first.low < first.difference < first.high
    even = Fraction(comb(18, 3), 2**18)  # of one order; the mixture divides it by its own share
    assert 0 < first.p_value < 1 and first.p_value > float(even) / 10
    swapped, *_ = compare(paired(truth, b, a), metrics=["recall"], method="anytime")
    assert swapped.low == pytest.approx(-first.high) and swapped.p_value == first.p_value
    same, *_ = compare(paired(truth, a, a), metrics=["mcc"], method="anytime")
    assert same.p_value == 1 and same.low < 0 < same.high


def test_the_weights_of_all_starts_add_up_to_one_and_windows_are_few():
    assert 0.9 < alarms.start_weights(np.arange(2**14)).sum() <= 1
    windows = alarms.watched_windows(1000)
    assert np.bincount(windows.look)[1:].max() <= 12
    assert {*windows.start[windows.look == 1000]} == {0, 512, 768, 896, 960, 976, 984, 992, 996, 998, 999}
    assert not len(alarms.watched_windows(0).look)
