"""How sure an AUC is: the quadratic definition, three packages, Newcombe's polynomial, coverage and the paired test."""

from __future__ import annotations

import math
import warnings
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from steelyard import SteelyardError, compare, interval, roc_auc, score_table

METHODS = ("delong", "logit-delong", "score")
every = pytest.mark.parametrize("method", METHODS)


def ends(table, method, level=0.95):
    found = interval("roc_auc", table, method=method, level=level)
    return found.low, found.high


def variance(table):
    """DeLong's variance, from an interval that ends within 0 and 1."""
    for level in (0.5, 0.01):
        low, high = ends(table, "delong", level)
        if low > 0 and high < 1:
            break
    auc = roc_auc(table)
    return (max(auc - low, high - auc) / stats.norm.ppf((1 + level) / 2)) ** 2


def delong_test(y, a, b, **options):
    return compare(y, y_score={"a": a, "b": b}, metrics=["roc_auc"], **options).delong[0]


def variance_of_difference(test):
    return (test.difference / test.z) ** 2


def rows(rng, positives, negatives, digits=1, shift=1.0):
    y = rng.permutation(np.repeat([1, 0], [positives, negatives]))
    return y, np.round(rng.normal(size=len(y)) + shift * y, digits)


def placements(y, score):
    """The quadratic definition: every positive against every negative."""
    x, z = score[y == 1][:, None], score[y == 0][None]
    kernel = (x > z) + 0.5 * (x == z)
    return kernel.mean(1), kernel.mean(0)


SIZES = [(2, 2), (2, 40), (40, 2), (7, 9), (30, 31), (3, 500), (500, 3), (100, 100)]


@pytest.mark.parametrize(("positives", "negatives"), SIZES)
@pytest.mark.parametrize("digits", [0, 1, 12])
def test_the_variance_is_the_quadratic_definition(positives, negatives, digits):
    rng = np.random.default_rng([positives, negatives, digits])
    for _ in range(20):
        y, score = rows(rng, positives, negatives, digits)
        up, down = placements(y, score)
        expected = up.var(ddof=1) / positives + down.var(ddof=1) / negatives
        assert variance(score_table(y, score)) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_a_rare_class_is_placed_without_sorting_the_other():
    y, score = rows(np.random.default_rng(1), 20, 5_000)
    table = score_table(y, score)
    up, down = placements(y, score)
    assert variance(table) == pytest.approx(up.var(ddof=1) / 20 + down.var(ddof=1) / 5_000, rel=1e-9)
    assert "scores" not in table.negative.__dict__


def test_frequencies_are_repeated_rows_and_equal_weights_change_nothing():
    rng = np.random.default_rng(2)
    y, score = rows(rng, 15, 40)
    times = rng.integers(0, 5, len(y))
    repeated = variance(score_table(np.repeat(y, times), np.repeat(score, times)))
    assert variance(score_table(y, score, frequency=times)) == pytest.approx(repeated, rel=1e-9)
    plain, weighted = score_table(y, score), score_table(y, score, sample_weight=np.full(len(y), 0.3))
    assert variance(weighted) == pytest.approx(variance(plain), rel=1e-9)
    for method in METHODS:
        assert ends(weighted, method) == pytest.approx(ends(plain, method), rel=1e-10)


def test_weights_count_by_their_effective_size():
    rng = np.random.default_rng(3)
    y, score = rows(rng, 25, 60)
    w = rng.exponential(size=len(y))
    expected = 0.0
    for kind, other, sign in ((1, 0, 1), (0, 1, -1)):
        mine, theirs = y == kind, y == other
        above = sign * (score[mine][:, None] - score[theirs])
        v = ((above > 0) + 0.5 * (above == 0)) @ w[theirs] / w[theirs].sum()
        size = w[mine].sum() ** 2 / (w[mine] ** 2).sum()
        mean = np.average(v, weights=w[mine])
        expected += np.average((v - mean) ** 2, weights=w[mine]) / (size - 1)
    assert variance(score_table(y, score, sample_weight=w)) == pytest.approx(expected, rel=1e-9)


def test_swapping_the_classes_leaves_the_variance():
    rng = np.random.default_rng(4)
    for sizes in SIZES:
        table = score_table(*rows(rng, *sizes))
        assert variance(table.swapped()) == pytest.approx(variance(table), rel=1e-9, abs=1e-15)
        for method in METHODS:
            assert ends(table.swapped(), method) == pytest.approx(ends(table, method), abs=1e-12)


@pytest.mark.parametrize("times", [1, 10**5, 10**10, 10**12])
def test_more_pairs_than_64_bits_hold_do_not_overflow(times):
    y, score = rows(np.random.default_rng(5), 40, 60)
    up, down = placements(y, score)
    expected = sum(v.var() / (len(v) * times - 1) for v in (up, down))
    table = score_table(y, score, frequency=np.full(100, times))
    assert variance(table) == pytest.approx(expected, rel=1e-7)  # the ends lie within 1e-7 of the area
    for method in METHODS:
        low, high = ends(table, method)
        assert 0 <= low < roc_auc(table) < high <= 1


# ---------------------------------------------------------------- other packages, on real data

# Generated from real(name), the data of scikit-learn 1.9.1, by
#   MLstatkit 0.1.91: Delong_test(y, a, b, alpha=0.5): the variances from the half widths (low, high) of ci_A and ci_B,
#                     ((high - low) / 2 / norm.ppf(0.75))**2, that of the difference and the p-value as given
#   pauc 0.2.2:       ROC(y, a, direction="<"), var(roc), compare(roc_a, roc_b).p_value
#   pyroc 0.1.1:      ROC(y, [a, b]).S, the covariance matrix, from every pair
# confidenceinterval 1.0.5 ranks in float32, so that it agrees to 3e-8 of the value only.
FROZEN = {
    "breast_cancer": {
        "MLstatkit": (0.00038944311329827837, 0.0004522535297559961, 0.000985366408209876, 0.08664909979344951),
        "pauc": (0.0003894431132982798, 0.0004522535297559955, 0.0009853664082098753, 0.08664909979344815),
        "pyroc": (0.0003894431132982807, 0.00045225352975599505, 0.0009853664082098785, None),
    },
    "digits": {
        "MLstatkit": (0.00028132834828757143, 0.00033290188723932105, 0.0005179240148931164, 0.11367934830575568),
        "pauc": (0.00028132834828757084, 0.00033290188723931937, 0.0005179240148931165, 0.11367934830575588),
        "pyroc": (0.00028132834828757685, 0.0003329018872393213, 0.0005179240148931259, None),
    },
}


def real(name):
    """Columns as scores: no fit whose last digits depend on a version, and real ties."""
    from sklearn import datasets

    if name == "breast_cancer":
        X, y = datasets.load_breast_cancer(return_X_y=True)
        return 1 - y, X[:, 1], X[:, 4]
    X, digit = datasets.load_digits(return_X_y=True)
    return (digit == 8).astype(int), X[:, 28], X[:, 36]


def by_mlstatkit(module, y, a, b):
    _, p_value, *intervals, _, _, info = module.Delong_test(y, a, b, alpha=0.5)
    z = stats.norm.ppf(0.75)
    return (*(((high - low) / 2 / z) ** 2 for low, high in intervals), info["var_diff"], p_value)


def by_pauc(module, y, a, b):
    one, two = (module.ROC(y, score, direction="<") for score in (a, b))
    both = module.var(one), module.var(two)
    return (*both, sum(both) - 2 * module.cov(one, two), module.compare(one, two).p_value)


def by_pyroc(module, y, a, b):
    s = module.ROC(y, [a, b]).S
    return s[0, 0], s[1, 1], s[0, 0] + s[1, 1] - 2 * s[0, 1], None


def assert_agrees(name, theirs):
    y, a, b = real(name)
    test = delong_test(y, a, b)
    variances = variance(score_table(y, a)), variance(score_table(y, b)), variance_of_difference(test)
    assert variances == pytest.approx(theirs[:3], rel=1e-10)
    normal = 2 * stats.norm.sf(abs(test.z))  # by which they read z
    assert theirs[3] is None or normal == pytest.approx(theirs[3], rel=1e-10)


@pytest.mark.parametrize("name", FROZEN)
@pytest.mark.parametrize("package", ["MLstatkit", "pauc", "pyroc"])
def test_the_variances_are_those_other_packages_gave_on_real_data(name, package):
    assert_agrees(name, FROZEN[name][package])


@pytest.mark.parametrize("name", FROZEN)
@pytest.mark.parametrize(("package", "ask"), [("MLstatkit", by_mlstatkit), ("pauc", by_pauc), ("pyroc", by_pyroc)])
def test_the_variances_are_those_of_other_packages_where_installed(name, package, ask):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, not ours
        module = pytest.importorskip(package)
        theirs = ask(module, *real(name))
    assert_agrees(name, theirs)


# ---------------------------------------------------------------- intervals


def newcombe_variance(auc, m, n):
    """Hanley and McNeil's variance of an AUC with both sizes of its bracket at their mean, as Newcombe has it."""
    return auc * (1 - auc) * (1 + ((m + n) / 2 - 1) * ((1 - auc) / (2 - auc) + auc / (1 + auc))) / (m * n)


def newcombe(auc, m, n, z):
    """Newcombe's quartic in A, solved as a polynomial: its roots in [0, 1] next to the estimate."""
    A, rest = np.poly1d([1, 0]), (m + n) / 2 - 1
    bracket = (2 - A) * (1 + A) + rest * (1 - A) * (1 + A) + rest * A * (2 - A)
    roots = (m * n * (auc - A) ** 2 * (2 - A) * (1 + A) - z**2 * A * (1 - A) * bracket).roots
    inside = sorted(float(r.real) for r in roots if abs(r.imag) < 1e-9 and 0 < r.real < 1)
    assert len(inside) == 2  # so that the set is an interval, and each end is found by halving
    return inside


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
def test_the_score_interval_solves_newcombes_polynomial_with_the_larger_of_two_variances(level):
    rng = np.random.default_rng(6)
    z = float(stats.norm.ppf((1 + level) / 2))  # NumPy's would multiply a polynomial as an array
    for sizes in [*SIZES, (10, 200), (1, 20)]:
        table = score_table(*rows(rng, *sizes))
        if 0 < roc_auc(table) < 1:
            excess = variance(table) / newcombe_variance(roc_auc(table), *sizes) if min(sizes) > 1 else 1
            expected = newcombe(roc_auc(table), *sizes, z * math.sqrt(max(excess, 1)))
            assert ends(table, "score", level) == pytest.approx(expected, abs=1e-7)


def test_the_delong_intervals_are_the_textbooks():
    table = score_table(*rows(np.random.default_rng(7), 30, 80))
    auc, error = roc_auc(table), math.sqrt(variance(table))
    z = stats.norm.ppf(0.95)
    assert ends(table, "delong", 0.9) == pytest.approx((auc - z * error, auc + z * error), rel=1e-9)
    reach = z * error / (auc * (1 - auc))
    expected = [1 / (1 + math.exp(-(math.log(auc / (1 - auc)) + sign * reach))) for sign in (-1, 1)]
    assert ends(table, "logit-delong", 0.9) == pytest.approx(expected, rel=1e-9)


@every
@pytest.mark.parametrize("weighted", [False, True])
def test_an_interval_holds_its_value_within_the_range(method, weighted):
    rng = np.random.default_rng(8)
    for sizes in [*SIZES, (1, 1), (1, 30), (30, 1)]:
        for shift in (-9, -1, 0, 1, 9, 99):
            y, score = rows(rng, *sizes, shift=shift)
            table = score_table(y, score, sample_weight=rng.random(len(y)) if weighted else None)
            low, high = ends(table, method)
            value = min(max(roc_auc(table), 0), 1)  # sums of fractions may end an ulp outside
            assert 0 <= low <= value <= high <= 1
            narrow = ends(table, method, 0.5)
            assert low <= narrow[0] <= narrow[1] <= high


@pytest.mark.parametrize("flip", [1, -1])
@pytest.mark.parametrize("weight", [None, np.random.default_rng(9).random(30)])
def test_a_perfect_ranking_is_sure_to_delong_only(flip, weight):
    table = score_table(np.repeat([0, 1], [20, 10]), flip * np.arange(30.0), sample_weight=weight)
    low, high = ends(table, "score")
    assert ends(table, "logit-delong") == (low, high)
    assert (low < 0.9 and high == pytest.approx(1)) if flip == 1 else (low == pytest.approx(0) and high > 0.1)
    assert ends(table, "delong") == pytest.approx((roc_auc(table), roc_auc(table)), abs=1e-15)


def test_scores_that_are_all_tied_leave_a_score_interval():
    table = score_table([0, 1] * 10, [3.0] * 20)
    assert ends(table, "delong") == (0.5, 0.5)
    low, high = ends(table, "logit-delong")
    assert (low, high) == ends(table, "score") and low < 0.4 and high > 0.6


def test_a_single_row_of_a_class_shows_no_spread():
    table = score_table([0, 0, 0, 1], [1, 2, 4, 3])
    assert ends(table, "delong") == ends(table, "logit-delong") == (0, 1)
    low, high = ends(table, "score")
    assert 0 < low < roc_auc(table) < high < 1


@every
def test_without_a_class_there_is_no_interval(method):
    for label in (0, 1):
        table = score_table([label] * 3, np.arange(3.0), pos_label=1)
        assert np.isnan(ends(table, method)).all()


@pytest.mark.parametrize("auc", [0.86, 0.96])
def test_the_score_interval_covers_where_delong_does_not(auc):
    rng = np.random.default_rng(10)
    y, shift = np.repeat([1, 0], [10, 200]), math.sqrt(2) * NormalDist().inv_cdf(auc)
    covered = np.zeros(3)
    for _ in range(2_000):
        table = score_table(y, rng.normal(size=210) + shift * y)
        covered += [low <= auc <= high for low, high in (ends(table, method) for method in METHODS)]
    wald, logit, score = covered / 2_000
    assert 0.93 <= score <= 0.99
    assert wald < 0.93 and wald < score
    assert logit < score


def test_the_score_interval_covers_where_the_classes_spread_unlike_and_newcombes_does_not():
    rng = np.random.default_rng(15)
    y, auc, spread = np.repeat([1, 0], [30, 300]), 0.86, 2
    shift = math.sqrt(1 + spread**2) * NormalDist().inv_cdf(auc)
    covered = np.zeros(2)
    for _ in range(2_000):
        table = score_table(y, np.where(y == 1, spread, 1) * rng.normal(size=330) + shift * y)
        (low, high), (lower, higher) = both = newcombe(roc_auc(table), 30, 300, 1.959964), ends(table, "score")
        assert lower <= low + 1e-6 <= high <= higher + 1e-6
        covered += [least <= auc <= most for least, most in both]
    newcombe_covers, widened_covers = covered / 2_000
    assert newcombe_covers < 0.9 and 0.92 <= widened_covers <= 0.98


# ---------------------------------------------------------------- two models


def test_the_paired_variance_is_the_quadratic_definition():
    rng = np.random.default_rng(11)
    for positives, negatives in SIZES:
        y, a = rows(rng, positives, negatives)
        b = np.round(a + rng.normal(size=len(y)), 1)
        (up_a, down_a), (up_b, down_b) = placements(y, a), placements(y, b)
        s = np.cov(up_a, up_b) / positives + np.cov(down_a, down_b) / negatives
        expected = s[0, 0] + s[1, 1] - 2 * s[0, 1]
        test = delong_test(y, a, b)
        assert (test.auc_a, test.auc_b) == (roc_auc(y, a), roc_auc(y, b))
        assert test.difference == pytest.approx(test.auc_a - test.auc_b, abs=1e-15)
        if expected > 1e-12:
            if test.difference:
                assert variance_of_difference(test) == pytest.approx(expected, rel=1e-9)
            parts = (up_a - up_b).var(ddof=1) / positives, (down_a - down_b).var(ddof=1) / negatives
            degrees = sum(parts) ** 2 / (parts[0] ** 2 / (positives - 1) + parts[1] ** 2 / (negatives - 1))
            assert test.degrees == pytest.approx(degrees, rel=1e-9)
            t = abs(test.difference) / math.sqrt(expected)
            assert test.p_value == pytest.approx(2 * stats.t.sf(t, degrees), rel=1e-9)


def test_models_that_rank_alike_do_not_differ():
    y, score = rows(np.random.default_rng(12), 20, 50)
    for other in (score, np.exp(score), 3 * score + 1):
        test = delong_test(y, score, other)
        assert (test.difference, test.z, test.p_value) == (0, 0, 1)


def test_the_order_of_the_models_turns_the_sign_only():
    rng = np.random.default_rng(13)
    y, a = rows(rng, 20, 50)
    b = a + rng.normal(size=70)
    one, two = delong_test(y, a, b), delong_test(y, b, a)
    assert (one.difference, one.z) == (-two.difference, -two.z)
    assert (one.degrees, one.p_value) == (two.degrees, two.p_value)


def test_where_every_row_differs_alike_z_is_infinite():
    test = delong_test([0, 0, 1, 1], [1, 2, 3, 4], [4, 3, 2, 1])
    assert (test.auc_a, test.auc_b, test.difference, test.z, test.p_value) == (1, 0, 1, math.inf, 0)
    assert delong_test([0, 0, 1, 1], [4, 3, 2, 1], [1, 2, 3, 4]).z == -math.inf


def test_one_row_of_a_class_tells_no_models_apart():
    test = delong_test([0, 0, 1], [1, 2, 3], [1, 3, 2])
    assert (test.difference, test.z, test.p_value) == (0.5, 0, 1)


def test_the_positive_label_may_be_named():
    named = delong_test(["no", "no", "yes", "yes", "no"], [1, 2, 3, 1, 2], [1, 2, 2, 3, 3], pos_label="yes")
    assert named == delong_test([0, 0, 1, 1, 0], [1, 2, 3, 1, 2], [1, 2, 2, 3, 3])


@pytest.mark.parametrize(
    ("y", "a", "b", "words"),
    [
        ([0, 1], [1, 2], [1, 2, 3], "The model 'b' has 3 rows"),
        ([1, 1], [1, 2], [1, 2], "one class only"),
        ([0, 1], [1, math.nan], [1, 2], "finite"),
    ],
)
def test_rows_that_cannot_be_paired_are_refused(y, a, b, words):
    with pytest.raises(SteelyardError, match=words):
        delong_test(y, a, b)


@pytest.mark.parametrize(("positives", "least"), [(5, 0.015), (8, 0.02), (50, 0.03)])
def test_equal_models_are_told_apart_once_in_twenty_at_most(positives, least):
    rng, y = np.random.default_rng(14), np.repeat([1, 0], [positives, 200])
    p_values = []
    for _ in range(1_000):
        common = rng.normal(size=len(y))
        a, b = (0.7 * y + math.sqrt(0.5) * (common + rng.normal(size=len(y))) for _ in range(2))
        p_values.append(delong_test(y, a, b).p_value)
    assert least <= np.mean(np.array(p_values) < 0.05) <= 0.07
