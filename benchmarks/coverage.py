"""How often the intervals hold the true value, by simulation; `make coverage` writes the tables into docs/coverage.md.

The short table of README.md is taken from there. Seeded. `REPEATS=400 make coverage` is a quick look. The page
opens with how many cells lie outside their bar.
"""

from __future__ import annotations

import itertools
import os
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks import readme
from steelyard import Confusion, Counts, get_metric, intervals, list_metrics, score_table
from steelyard.analysis.interval import Interval

REPEATS = int(os.environ.get("REPEATS", "4000"))
DRAWS = 2_000
OUT = Path(__file__).parent.parent / "docs" / "coverage.md"
BOUNDED = [m for m in list_metrics() if m.function and np.isfinite(m.range).all() and m.name != "alpha_recall"]
SHOWN = ("recall", "precision", "f1", "balanced_accuracy", "g_mean", "ac_score", "mcc", "kappa", "optimized_precision")
BARS = {"Two classes": (0.925, 0.98), "K classes": (0.925, 0.98), "Rank metrics": (0.91, 0.99), "Clusters": (0.925, 0.98)}  # fmt: skip
CONTRAST = "recall, by rows"  # shown beside ours to tell what it misses
ABOUT = (
    f"Nominal 95 % intervals over {REPEATS:,} simulated test sets a cell ({REPEATS // 4:,} for rank metrics and comparisons, "
    "1,000 for the bootstrap), written by `make coverage`. A cell reads: the default interval / the percentile bootstrap "
    "that other libraries offer. Draws are 400 to 2,000 a table here; the defaults draw more."
)
warnings.simplefilter("error")


def covered(interval: Interval, truth: float) -> float:
    """The share of the intervals that hold the truth, of those whose value is defined."""
    inside = (interval.low <= truth + 1e-12) & (interval.high >= truth - 1e-12)
    return float(np.mean(inside[~np.isnan(interval.value)]))


def tables(n, prevalence, recall, specificity, rng):
    """Simulated test sets of n rows, and the table of their expectation."""
    shares = [
        prevalence * recall,
        prevalence * (1 - recall),
        (1 - prevalence) * (1 - specificity),
        (1 - prevalence) * specificity,
    ]
    drawn = rng.multinomial(n, shares, size=REPEATS)
    return Counts(*drawn.T), Counts(*(n * np.array(shares)))


def binary_rows():
    """Coverage of every bounded metric in every cell of the grid; with the percentile bootstrap beside it."""
    rng = np.random.default_rng(1)
    for n, prevalence, recall, specificity in itertools.product(
        (300, 1_000, 10_000), (0.5, 0.1, 0.05, 0.01), (0.8, 0.95), (0.8, 0.95)
    ):
        if n * prevalence < 10:
            continue
        simulated, truth = tables(n, prevalence, recall, specificity, rng)
        parts = [intervals(BOUNDED, simulated[a : a + 500], draws=DRAWS, rng=rng) for a in range(0, REPEATS, 500)]
        shares = {m.name: float(np.mean([covered(part[i], m(truth)) for part in parts])) for i, m in enumerate(BOUNDED)}
        boot = percentile_bootstrap(simulated[: min(REPEATS, 1_000)], truth, rng)
        yield (n, prevalence, recall, specificity), shares, boot


def percentile_bootstrap(simulated, truth, rng):
    """What every peer offers: quantiles over resampled rows, here by the identity with a multinomial draw."""
    n = int(simulated[0].total)
    shares = np.stack(list(simulated), -1) / n
    drawn = Counts(*np.moveaxis(rng.multinomial(n, shares[:, None, :].repeat(500, 1)), -1, 0))
    out = {}
    for name in SHOWN:
        values = get_metric(name)(drawn)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            low, high = np.nanquantile(values, (0.025, 0.975), axis=-1)
        point = get_metric(name)(simulated)
        out[name] = covered(Interval(name, point, low, high, 0.95, "bootstrap"), get_metric(name)(truth))
    return out


def class_rows():
    """K classes, n = 500, the diagonal at 0.7 on average: accuracy, balanced accuracy, macro F1, mcc."""
    rng = np.random.default_rng(2)
    for k, n in ((3, 500), (10, 500), (20, 1_000)):
        truth = np.full((k, k), 0.3 / (k - 1)) + np.eye(k) * (0.7 - 0.3 / (k - 1))
        truth = truth * np.linspace(0.5, 1.5, k)[:, None]
        truth /= truth.sum()
        exact = Confusion((*range(10, 10 + k),), (truth * 1e9).round().astype(np.int64), truth, truth)
        names = [("accuracy", {}), ("balanced_accuracy", {}), ("g_mean", {}), ("mcc", {}), ("f1", {"average": "macro"})]
        truths = {name: get_metric(name)(exact, **options) for name, options in names}
        covering = dict.fromkeys((name for name, _ in names), 0)
        repeats = REPEATS
        for _ in range(repeats):
            table = Confusion.of_rows((*range(10, 10 + k),), rng.multinomial(n, truth.ravel()).reshape(k, k))
            native = intervals([name for name, options in names if not options], table, draws=500, rng=rng)
            for interval in [*native, *intervals(["f1"], table, draws=500, rng=rng, average="macro")]:
                covering[interval.metric] += bool(interval.low <= truths[interval.metric] <= interval.high)
        yield f"K = {k}, n = {n:,}", {name: count / repeats for name, count in covering.items()}


def weighted_rows():
    """Negatives sampled 1:100 with weight 100: what raw weights would claim, and what is claimed here."""
    rng = np.random.default_rng(3)
    names = ("recall", "specificity", "precision", "ac_score", "mcc", "accuracy")
    covering, raw = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    repeats = REPEATS
    truth = Counts(*(np.array([80, 20, 0.05 * 10_000, 0.95 * 10_000])))
    for _ in range(repeats):
        tp, fp = rng.binomial(100, 0.8), rng.binomial(100, 0.05)
        rows = np.array([[100 - fp, fp], [100 - tp, tp]])
        weight = np.array([[100.0], [1.0]])
        table = Confusion((0, 1), rows, rows * weight, rows * weight**2, 1)
        for i, name in enumerate(names):
            interval = intervals([name], table, draws=1_000, rng=rng)[0]
            plain = intervals([name], Counts(tp, 100 - tp, 100 * fp, 100 * (100 - fp)), draws=1_000, rng=rng)[0]
            covering[name] += bool(interval.low <= get_metric(name)(truth) <= interval.high)
            raw[name] += bool(plain.low <= get_metric(name)(truth) <= plain.high)
            del i
    return {n: v / repeats for n, v in covering.items()}, {n: v / repeats for n, v in raw.items()}


def rank_rows():
    """Rank metrics of normal scores shifted by the class, with the truth from a very large sample."""
    rng = np.random.default_rng(4)
    names = (
        "roc_auc",
        "average_precision",
        "negative_average_precision",
        "weighted_auc",
        "lift",
        "precision_at_recall",
    )
    for positives, negatives, shift in (
        (10, 200, 1.5),
        (30, 300, 1.5),
        (30, 3_000, 1.5),
        (100, 1_000, 2.5),
        (100, 900, 0.8),
        (30, 970, 3.0),
        (30, 970, 4.5),
    ):
        share = positives / (positives + negatives)
        size = 2_000_000
        y = np.arange(size) < share * size
        big = score_table(y, rng.normal(size=size) + shift * y)
        truth = {name: get_metric(name)(big) for name in names}
        covering, repeats = dict.fromkeys(names, 0), max(REPEATS // 4, 100)
        y = np.arange(positives + negatives) < positives
        for _ in range(repeats):
            table = score_table(y, rng.normal(size=len(y)) + shift * y)
            for interval in intervals(names, table, draws=400, rng=rng):
                covering[interval.metric] += bool(interval.low <= truth[interval.metric] <= interval.high)
        yield (
            f"{positives} positives, {negatives:,} negatives, shift {shift}",
            {n: v / repeats for n, v in covering.items()},
        )


def cluster_rows():
    """Rows in clusters that share their luck, of one size and of many: recall with and without the clusters."""
    rng = np.random.default_rng(5)
    for clusters, uneven in itertools.product((15, 40), (0.0, 0.5, 1.0, 1.5)):
        sizes = f"of log-normal size, sigma {uneven}" if uneven else "of 20 rows"
        yield f"{clusters} clusters {sizes}", cluster_coverage(clusters, uneven, REPEATS, rng)


def cluster_coverage(clusters, uneven, repeats, rng):
    """How often the interval of recall holds it, with and without the clusters; their sizes are log-normal."""
    from steelyard import interval

    covering = np.zeros(2)
    for _ in range(repeats):
        luck = rng.beta(4, 1, clusters)  # the recall of each cluster: 0.8 on average
        sizes = np.maximum(2, 20 * np.exp(rng.normal(0, uneven, clusters))).astype(int)
        groups = np.repeat(np.arange(clusters), sizes)
        y = np.arange(len(groups)) % 2
        pred = np.where(y == 1, rng.random(len(y)) < luck[groups], rng.random(len(y)) < 0.1).astype(int)
        for i, how in enumerate(({"cluster": groups}, {})):
            ends = interval("recall", y, pred, draws=1_000, rng=rng, **how)
            covering[i] += ends.low <= 0.8 <= ends.high
    return dict(zip(("recall, by clusters", CONTRAST), covering / repeats, strict=True))


def level_rows():
    """Two models that are equally right: how often each comparison rejects at 0.05, and each interval holds 0."""
    from steelyard import beats_chance, compare

    rng = np.random.default_rng(6)
    names = ("recall", "balanced_accuracy", "mcc", "accuracy")
    for n, prevalence, shared in ((500, 0.05, 0.0), (1_000, 0.1, 0.6), (300, 0.5, 0.0)):
        repeats, out = max(REPEATS // 4, 100), {}
        for _ in range(repeats):
            y = (rng.random(n) < prevalence).astype(int)
            y[:2] = 0, 1
            luck = [np.where(rng.random(n) < shared, u, rng.random(n)) for u in [rng.random(n)] for _ in range(2)]
            a, b = (np.where(u < 0.8, y, 1 - y) for u in luck)
            comparison = compare(y, {"A": a, "B": b}, metrics=names, draws=1_000, rng=rng)
            for row in comparison.rows:
                out.setdefault(row.metric, []).append((row.p_value < 0.05, row.low <= 0 <= row.high))
            out.setdefault("McNemar, mid-p", []).append((comparison.mcnemar[0].mid_p < 0.05, True))
            scores = {name: rng.normal(size=n) + y for name in "AB"}
            test = compare(y, scores, scores=True, metrics=["roc_auc"], rng=rng).rows[0]
            out.setdefault("roc_auc (DeLong)", []).append((test.p_value < 0.05, test.low <= 0 <= test.high))
            predicted = (rng.random(n) < 0.3).astype(int)
            out.setdefault("beats_chance", []).append((beats_chance(y, predicted).p_value < 0.05, True))
        shares = {name: np.mean(pairs, axis=0) for name, pairs in out.items()}
        single = ("McNemar, mid-p", "beats_chance")
        texts = {k: digits(v[0]) if k in single else f"{digits(v[0])} / {digits(v[1])}" for k, v in shares.items()}
        yield f"n = {n:,}, prevalence {prevalence}, luck shared {shared:.0%}", texts


def group_rows():
    """Groups that do not differ: how often one of them is called the weakest at 0.05, by each of three metrics."""
    from steelyard.analysis.group_tests import exact_p_values, two_class_value

    rng, repeats = np.random.default_rng(7), max(REPEATS // 8, 100)
    values = {name: two_class_value(get_metric(name)) for name in ("ac_score", "mcc", "f1")}
    for groups, (words, least, most) in itertools.product(
        (2, 5, 20), (("4 rows", 4, 4), ("50 rows", 50, 50), ("1,000 rows", 1_000, 1_000), ("4 to 1,000 rows", 4, 1_000))
    ):
        named = dict.fromkeys(values, 0)
        for _ in range(repeats):
            positives, negatives = (np.geomspace(least, most, groups) * share for share in (0.25, 0.75))
            sizes = np.round(np.stack([positives, negatives], -1)).astype(np.int64)
            hits = rng.binomial(sizes, [0.8, 0.9])
            for name, value in values.items():
                named[name] += bool((exact_p_values(hits, sizes, value, 0.95, rng) <= 0.05).any())
        yield f"{groups} groups of {words}", {name: count / repeats for name, count in named.items()}


def interval_group_rows():
    """The same where the groups' intervals are compared: clustered and weighted rows, and ranks."""
    from steelyard import evaluate

    rng, repeats = np.random.default_rng(8), max(REPEATS // 40, 50)
    for groups, (words, least) in itertools.product((2, 5, 20), (("50 rows", 50), ("4 to 1,000 rows", 4))):
        named = dict.fromkeys(("clusters of 5", "weights", "roc_auc"), 0)
        for _ in range(repeats):
            group = np.repeat(np.arange(groups), np.geomspace(least, 50 if least == 50 else 1_000, groups).astype(int))
            y, cluster = (rng.random(len(group)) < 0.3).astype(int), np.arange(len(group)) // 5
            luck = rng.beta(8, 2, len(group))
            shared, own = (np.where(rng.random(len(y)) < at, y, 1 - y) for at in (luck[cluster], 0.85))
            for name, rows in {
                "clusters of 5": {"y_pred": shared, "cluster": cluster},
                "weights": {"y_pred": own, "sample_weight": rng.exponential(1, len(y))},
                "roc_auc": {"y_score": rng.normal(size=len(y)) * 3 + 4 * y},
            }.items():
                metrics = ["roc_auc" if name == "roc_auc" else "ac_score"]
                verdict = evaluate(y, **rows, by=group, metrics=metrics, draws=500, rng=rng).verdict
                named[name] += any(sentence.code == "weakest-group" for sentence in verdict)
        yield f"{groups} groups of {words}", {name: count / repeats for name, count in named.items()}


def table_text(head, rows):
    return "\n".join(
        [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(map(str, row))} |" for row in rows)]
    )


def digits(value):
    return f"{value:.3f}".lstrip("0") if value < 1 else "1.000"


def bar(title):
    low, high = BARS[title]
    return f"{100 * low:g} to {100 * high:g} %"


def opening(missed, counts):
    """What the page says first: the cells outside their bar, by section, those of two classes by name."""
    sentences = [f"{title}, outside {bar(title)}: {out} of {cells} cells." for title, (out, cells) in counts.items()]
    first, *others = sentences
    return [
        "# Do the intervals hold what they promise?", "", f"**{first}**", "", *(f"- {line}" for line in missed), "",
        f"{' '.join(others)} Those are named below their tables.", "", ABOUT, "",
    ]  # fmt: skip


def main():
    start = time.time()
    missed, rows, worst, lines = [], [], {}, ["## Two classes", ""]
    for cell, shares, boot in binary_rows():
        rows.append([*cell, *(f"{digits(shares[name])} / {digits(boot[name])}" for name in SHOWN)])
        for name, share in shares.items():
            low, high = worst.get(name, (1.0, 0.0))
            worst[name] = (min(low, share), max(high, share))
            low, high = BARS["Two classes"]
            if not low <= share <= high:
                missed.append(
                    f"{name} at n = {cell[0]:,}, prevalence {cell[1]}, recall {cell[2]}, specificity {cell[3]}: {digits(share)}"
                )
    lines += [table_text(["n", "prevalence", "recall", "specificity", *SHOWN], rows), ""]
    lines += ["## Every bounded count metric: the least and the most over these cells", "",
              table_text(["metric", "least", "most"], [[n, digits(a), digits(b)] for n, (a, b) in worst.items()]), ""]  # fmt: skip
    counts = {"Two classes": (len(missed), len(rows) * len(BOUNDED))}
    for title, rows in (("K classes", class_rows()), ("Rank metrics", rank_rows()), ("Clusters", cluster_rows())):
        rows, (low, high) = list(rows), BARS[title]
        head = ["setting", *rows[0][1]]
        lines += [
            f"## {title}",
            "",
            table_text(head, [[name, *map(digits, shares.values())] for name, shares in rows]),
            "",
        ]
        outside = [
            f"- outside {bar(title)}: {name}, {setting}: {digits(v)}"
            for setting, shares in rows for name, v in shares.items()
            if not low <= v <= high and name != CONTRAST
        ]  # fmt: skip
        counts[title] = (len(outside), sum(name != CONTRAST for _, shares in rows for name in shares))
        lines += [*outside, ""] if outside else []
    rows = list(level_rows())
    lines += ["## Equal models, and random predictions: how often a test at 0.05 rejects / a 95 % interval of the difference holds 0", "",
              table_text(["setting", *rows[0][1]], [[name, *shares.values()] for name, shares in rows]), ""]  # fmt: skip
    lines += ["## Groups that do not differ", "", "How often one of them is called the weakest at 0.05, by exact permutations.", ""]  # fmt: skip
    rows = list(group_rows())
    lines += [
        table_text(["setting", *rows[0][1]], [[name, *map(digits, shares.values())] for name, shares in rows]),
        "",
    ]
    rows = list(interval_group_rows())
    lines += ["The same where the groups' intervals are compared instead:", "",
              table_text(["setting", *rows[0][1]], [[name, *map(digits, shares.values())] for name, shares in rows]), ""]  # fmt: skip
    here, raw = weighted_rows()
    lines += ["## Negatives sampled 1:100, with weight 100", "",
              table_text(["intervals", *here], [["by effective size", *map(digits, here.values())], ["by raw weights", *map(digits, raw.values())]]), ""]  # fmt: skip
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join([*opening(missed, counts), *lines]))
    readme.main()
    print(f"wrote {OUT} in {time.time() - start:.0f} s; {len(missed)} cells outside 92.5 to 98 %")


if __name__ == "__main__":
    main()
