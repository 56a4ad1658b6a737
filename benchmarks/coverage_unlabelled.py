"""How often what unlabelled scores show holds the truth: prevalence and metrics under label shift, and the test of it.

A reference of 2,000 rows, 5 % of them positive, meets unlabelled rows of another prevalence. Scores are normal, two
standard deviations apart (ROC AUC .92), as probabilities that are right in the reference or far off. Real sets are
resampled: a classifier is fitted on a third of the rows, and the others are the population that both samples come from.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import norm

from benchmarks.unlabelled_peers import Peer, cbpe, emq
from steelyard import Confusion, Counts, get_metric, intervals, score_table
from steelyard.analysis.prevalence.mixture_test import mixture_test
from steelyard.analysis.prevalence.score_cells import class_cells, range_count, two_class_cells
from steelyard.analysis.prevalence.unlabelled_prevalence import UnlabelledPrevalence
from steelyard.ingest.score_matrix import probability_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array

RATES = ("precision", "negative_predictive_value", "accuracy", "recall", "specificity")
SUMMARIES = ("f1", "mcc", "ac_score")
REFERENCE, HERE = 2_000, 0.05  # rows of the reference, and its share of positives
SHARES, ROWS = (0.005, 0.01, 0.15, 0.30), (50, 200, 1_000, 5_000)
APART, DRAWS, SIMULATED = 2.0, 500, 199
ENOUGH = 5  # positives that are expected where shares are held to an upper bar as well
CLASS_SHARES = (0.5, 0.3, 0.15, 0.05)
NEW_SHARES = ((0.1, 0.2, 0.3, 0.4), (0.7, 0.2, 0.09, 0.01), (0.25, 0.25, 0.25, 0.25))
CLASS_METRICS = ("accuracy", "mcc", "ac_score", "f1[average=macro]")


class World(NamedTuple):
    """Where rows come from: scores of so many rows of each class, and what share of each is flagged in truth."""

    scores: Callable[[np.random.Generator, int, int], tuple[Array, Array]]
    rates: tuple[float, float]
    threshold: float

    def table(self, share: float) -> Counts:
        """The true table at a prevalence."""
        recall, false = self.rates
        return Counts(share * recall, share * (1 - recall), (1 - share) * false, (1 - share) * (1 - false))


def simulated(calibrated: bool) -> World:
    """Normal scores as probabilities, of which half are flagged from 0.5 on; or those, stretched and moved."""
    stretch, move = (1.0, 0.0) if calibrated else (1.6, 2.0)
    prior = np.log(HERE / (1 - HERE)) - APART**2 / 2

    def scores(rng: np.random.Generator, positives: int, negatives: int) -> tuple[Array, Array]:
        drawn = rng.normal(APART, size=positives), rng.normal(size=negatives)
        both = [1 / (1 + np.exp(-(stretch * (prior + APART * part) + move))) for part in drawn]
        return both[0], both[1]

    at = (-move / stretch - prior) / APART
    return World(scores, (float(norm.sf(at - APART)), float(norm.sf(at))), 0.5)


class Sample(NamedTuple):
    """A reference, the unlabelled scores, and what they show."""

    truth: Array
    scores: Array
    new: Array
    prevalence: UnlabelledPrevalence


def sampled(world: World, share: float, rows: int, rng: np.random.Generator) -> Sample:
    """Both samples, drawn anew."""
    positives = max(int(rng.binomial(REFERENCE, HERE)), 2)
    known = world.scores(rng, positives, REFERENCE - positives)
    there = int(rng.binomial(rows, share))
    new = np.concatenate(world.scores(rng, there, rows - there))
    truth, scores = np.repeat([1, 0], [positives, REFERENCE - positives]), np.concatenate(known)
    table = score_table(truth, scores)
    ranged = two_class_cells(table, world.threshold, range_count(min(positives, REFERENCE - positives)))
    prevalence = UnlabelledPrevalence.of(ranged.cells, ranged.counted(new), (1, 0), rng)
    return Sample(truth, scores, new, prevalence)


def covered(world: World, share: float, rows: int, repeats: int, rng: np.random.Generator) -> dict[str, float]:
    """The share of intervals that hold the truth, by metric."""
    names = (*RATES, *SUMMARIES)
    true = {name: float(get_metric(name)(world.table(share))) for name in names}
    held = dict.fromkeys(("prevalence", *names), 0)
    for _ in range(repeats):
        sample = sampled(world, share, rows, rng)
        low, high = sample.prevalence.interval()
        held["prevalence"] += low <= share <= high
        table = score_table(sample.truth, sample.scores).at(world.threshold)
        for found in intervals(names, table, prevalence=sample.prevalence, draws=DRAWS, rng=rng):
            held[found.metric] += found.low <= true[found.metric] <= found.high
    return {name: count / repeats for name, count in held.items()}


@cache
def _every(repeats: int) -> tuple[tuple[str, float, dict[str, float]], ...]:
    """Each setting, the positives that are expected in it, and its shares."""
    rng, found = np.random.default_rng(24), []
    for calibrated in (True, False):
        world = simulated(calibrated)
        for share in SHARES:
            for rows in ROWS:
                text = f"{'calibrated' if calibrated else 'not calibrated'}, 5 % to {100 * share:g} %, {rows:,} rows"
                found.append((text, share * rows, covered(world, share, rows, repeats, rng)))
    return tuple(found)


def _of(
    every: tuple[tuple[str, float, dict[str, float]], ...], names: tuple[str, ...], enough: bool | None
) -> Iterator[tuple[str, dict[str, float]]]:
    for text, expected, shares in every:
        if enough is None or (expected >= ENOUGH) == enough:
            yield text, {name: shares[name] for name in names}


def rate_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """The rates where five positives or more are expected."""
    yield from _of(_every(repeats), ("prevalence", *RATES), enough=True)


def few_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """The rates where fewer are expected."""
    yield from _of(_every(repeats), ("prevalence", *RATES), enough=False)


def summary_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """F1, MCC and the AC-score everywhere."""
    yield from _of(_every(repeats), SUMMARIES, enough=None)


# ---------------------------------------------------------------- many classes


def _columns(rng: np.random.Generator, truth: Array) -> Array:
    logits = rng.normal(2.0 * np.eye(len(CLASS_SHARES))[truth]) * 1.5
    return np.asarray(np.exp(logits) / np.exp(logits).sum(1, keepdims=True))


def _true_classes(shares: tuple[float, ...]) -> dict[str, float]:
    """The metrics of very many rows."""
    rng = np.random.default_rng(1)
    k, rows = len(shares), 200_000
    predicted = [_columns(rng, np.full(rows, label)).argmax(1) for label in range(k)]
    rates = np.array([np.bincount(part, minlength=k) / rows for part in predicted])
    table = Confusion.of_rows(tuple(range(k)), np.rint(1e9 * np.array(shares)[:, None] * rates).astype(np.int64))
    return {found.metric: float(found.value) for found in intervals(CLASS_METRICS, table, draws=20)}


def class_rows(repeats: int = 200) -> Iterator[tuple[str, dict[str, float]]]:
    """Four classes: their shares, the first to the last, and metrics of labels."""
    rng = np.random.default_rng(25)
    for shares in NEW_SHARES:
        true = _true_classes(shares)
        for rows in (200, 1_000, 5_000):
            held = dict.fromkeys((*(f"share {place + 1}" for place in range(4)), *CLASS_METRICS), 0)
            for _ in range(repeats):
                _count_classes(held, shares, rows, true, rng)
            yield (
                f"{' '.join(f'{share:g}' for share in shares)}, {rows:,} rows",
                {k: v / repeats for k, v in held.items()},
            )


def _count_classes(
    held: dict[str, int], shares: tuple[float, ...], rows: int, true: dict[str, float], rng: np.random.Generator
) -> None:
    truth, new = rng.choice(4, REFERENCE, p=CLASS_SHARES), rng.choice(4, rows, p=shares)
    table = probability_table(truth, _columns(rng, truth))
    ranged = class_cells(table, int(np.clip(np.bincount(truth).min() / 40, 1, 4)))
    prevalence = UnlabelledPrevalence.of(ranged.cells, ranged.counted(_columns(rng, new)), table.labels, rng)
    for place, (low, high) in enumerate(prevalence.class_ends(0.95)):
        held[f"share {place + 1}"] += low <= shares[place] <= high
    matrix = np.bincount(4 * truth + table.most_probable, minlength=16).reshape(4, 4)
    for found in intervals(
        CLASS_METRICS, Confusion.of_rows(table.labels, matrix), prevalence=prevalence, draws=DRAWS, rng=rng
    ):
        held[found.metric] += found.low <= true[found.metric] <= found.high


# ---------------------------------------------------------------- the test of label shift


def _rejected(draw: Callable[[], Array], world: World, repeats: int, rng: np.random.Generator) -> float:
    count = 0
    for _ in range(repeats):
        positives = max(int(rng.binomial(REFERENCE, HERE)), 2)
        known = world.scores(rng, positives, REFERENCE - positives)
        table = score_table(np.repeat([1, 0], [positives, REFERENCE - positives]), np.concatenate(known))
        fine = two_class_cells(table, world.threshold, range_count(positives, fine=True))
        counts = fine.counted(draw())
        used = (fine.cells.rows.sum(0) > 0) | (counts > 0)
        count += mixture_test(fine.cells.rows[:, used], counts[used], rng, SIMULATED).p_value < 0.05
    return count / repeats


def rejection_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """How often the test rejects label shift that holds."""
    rng = np.random.default_rng(26)
    for share in SHARES:
        shares = {}
        for rows in (200, 1_000, 5_000):
            for calibrated in (True, False):
                world = simulated(calibrated)

                def draw(world: World = world, share: float = share, rows: int = rows) -> Array:
                    there = int(rng.binomial(rows, share))
                    return np.concatenate(world.scores(rng, there, rows - there))

                shares[f"{rows:,} rows{'' if calibrated else ', not calibrated'}"] = _rejected(
                    draw, world, repeats, rng
                )
        yield f"5 % to {100 * share:g} %", shares


def shifted_rows(world: World, rows: int, rng: np.random.Generator) -> Array:
    """Rows of the reference's population, those of a probability from 0.05 to 0.5 twice as common."""
    many = 6 * rows
    there = int(rng.binomial(many, HERE))
    scores = np.concatenate(world.scores(rng, there, many - there))
    weights = np.where((scores >= 0.05) & (scores < 0.5), 2.0, 1.0)
    return rng.choice(scores, rows, p=weights / weights.sum())


def power_rows(repeats: int = 400) -> Iterator[tuple[str, dict[str, float]]]:
    """How often the test rejects label shift under a covariate shift: hard rows become twice as common."""
    rng, world = np.random.default_rng(27), simulated(calibrated=True)
    for rows in (1_000, 2_000, 5_000):
        yield (
            f"{rows:,} rows",
            {"rejected": _rejected(lambda rows=rows: shifted_rows(world, rows, rng), world, repeats, rng)},
        )  # type: ignore[misc]  # bound


# ---------------------------------------------------------------- beside peers


def peer_rows(repeats: int = 40) -> Iterator[tuple[str, dict[str, float]]]:
    """F1 beside NannyML's CBPE and the prevalence beside QuaPy's EMQ, on the same runs: coverage and mean error."""
    rng = np.random.default_rng(29)
    for calibrated in (True, False):
        world = simulated(calibrated)
        for share in (0.01, 0.30):
            true = float(get_metric("f1")(world.table(share)))
            runs = [_beside(world, share, 1_000, rng) for _ in range(repeats)]
            text = f"{'calibrated' if calibrated else 'not calibrated'}, 5 % to {100 * share:g} %"
            yield text, _of_peers(runs, {"F1": true, "prevalence": share})


def _beside(world: World, share: float, rows: int, rng: np.random.Generator) -> dict[str, Peer | None]:
    """Each estimate of one run, by what it is of and whose it is."""
    sample = sampled(world, share, rows, rng)
    table = score_table(sample.truth, sample.scores).at(world.threshold)
    (found,) = intervals(["f1"], table, prevalence=sample.prevalence, draws=DRAWS, rng=rng)
    return {
        "F1": Peer(float(found.value), float(found.low), float(found.high)),
        "F1, CBPE": cbpe(sample.truth, sample.scores, sample.new, world.threshold),
        "prevalence": Peer(float(sample.prevalence), *sample.prevalence.interval()),
        "prevalence, EMQ": emq(sample.truth, sample.scores, sample.new),
    }


def _of_peers(runs: list[dict[str, Peer | None]], true: dict[str, float]) -> dict[str, float]:
    """How often each holds the truth, and how far it is from it on average."""
    shares: dict[str, float] = {}
    for name in runs[0]:
        found, at = [run[name] for run in runs], true[name.partition(",")[0]]
        peers = [peer for peer in found if peer is not None]
        if peers:
            shares[name] = float(np.mean([peer.low <= at <= peer.high for peer in peers]))
            shares[f"{name}, mean error"] = float(np.mean([abs(peer.value - at) for peer in peers]))
    return shares


# ---------------------------------------------------------------- real sets


def real_rows(repeats: int = 200) -> Iterator[tuple[str, dict[str, float]]]:
    """Real sets, resampled to other prevalences; one that is not there is left out."""
    from benchmarks.unlabelled_data import populations

    rng = np.random.default_rng(28)
    for name, truth, scores in populations():
        positives, negatives = scores[truth == 1], scores[truth == 0]
        rates = (float((positives >= 0.5).mean()), float((negatives >= 0.5).mean()))
        world = World(lambda rng, p, n, a=positives, b=negatives: (rng.choice(a, p), rng.choice(b, n)), rates, 0.5)  # type: ignore[misc]  # bound
        for share in SHARES:
            for rows in (1_000,):
                shares = covered(world, share, rows, repeats, rng)
                yield f"{name}, 5 % to {100 * share:g} %, {rows:,} rows", shares


if __name__ == "__main__":
    import sys

    for section in sys.argv[2:]:
        for text, by_metric in globals()[section](int(sys.argv[1])):
            print(text, {name: round(share, 3) for name, share in by_metric.items()}, flush=True)
