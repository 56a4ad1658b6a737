"""Unlabelled rows beside peers: F1 beside NannyML's CBPE, and the prevalence beside QuaPy's EMQ, on the same runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.unlabelled_peers import Peer, cbpe, emq
from benchmarks.unlabelled_worlds import DRAWS, World, sampled, simulated
from steelyard import get_metric, interval, score_table

if TYPE_CHECKING:
    from collections.abc import Iterator


SETTINGS = (
    # whether scores are calibrated, the threshold, the new prevalence, the unlabelled rows
    (True, 0.5, 0.01, 1_000),
    (True, 0.15, 0.01, 1_000),
    (True, 0.15, 0.01, 5_000),
    (True, 0.15, 0.30, 1_000),
    (False, 0.5, 0.01, 1_000),
    (False, 0.5, 0.30, 1_000),
)


def peer_rows(repeats: int = 40) -> Iterator[tuple[str, dict[str, float]]]:
    """F1 beside NannyML's CBPE and the prevalence beside QuaPy's EMQ, on the same runs: coverage and errors.

    At 0.5 what CBPE gets wrong of precision and of recall cancels out in F1; at 0.15, the best threshold of F1 at a
    lower prevalence than that of the reference, it does not.
    """
    rng = np.random.default_rng(29)
    for calibrated, threshold, share, rows in SETTINGS:
        world = simulated(calibrated, threshold)
        true = float(get_metric("f1")(world.table(share)))
        runs = [_beside(world, share, rows, rng) for _ in range(repeats)]
        scores = "calibrated" if calibrated else "not calibrated"
        text = f"{scores}, threshold {threshold:g}, 5 % to {100 * share:g} %, {rows:,} rows, F1 {true:.3f}"
        yield text, _of_peers(runs, {"F1": true, "prevalence": share})


def _beside(world: World, share: float, rows: int, rng: np.random.Generator) -> dict[str, Peer | None]:
    """Each estimate of one run, by what it is of and whose it is."""
    sample = sampled(world, share, rows, rng)
    table = score_table(sample.truth, sample.scores).at(world.threshold)
    (found,) = interval(["f1"], table, prevalence=sample.prevalence, draws=DRAWS, rng=rng)
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
            off = np.array([peer.value - at for peer in peers])
            shares[f"{name}, bias"], shares[f"{name}, root mean squared error"] = off.mean(), np.sqrt((off**2).mean())
    return shares
