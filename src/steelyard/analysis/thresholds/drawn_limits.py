"""Drawn limits: the thresholds at which draws of the table break limits on any metrics seldom enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array
    from steelyard.analysis.thresholds.class_curves import Rates
    from steelyard.analysis.thresholds.threshold_limits import Limit
    from steelyard.analysis.thresholds.threshold_sample import ThresholdSample

_TAIL_DRAWS, _DRAWS = 25, (1_000, 20_000)  # draws that break a limit at the risk allowed, and in all
_THRESHOLDS, _REFINED, _QUICK_THRESHOLDS = 64, 16, 64


def on_draws(
    limits: list[Limit], met: Array, sample: ThresholdSample, risk: float, rng: np.random.Generator, *, quick: bool
) -> Array:
    """The thresholds around the surest one at which draws of the table break limits on any metrics seldom enough.

    Only where a run of them ends can it reach too far, and the threshold that is chosen lies at one end at most. The
    surest is the best of many by luck too, so it is to break them half as often. A few thresholds show between which
    two of them a run ends, others between those two show where. Those that flag nobody, or everybody, are judged apart.
    """
    allowed, size = risk / len(met), met.shape[-1]
    draws = int(np.clip(2 * _TAIL_DRAWS / allowed, *((200, 200) if quick else _DRAWS)))

    def broken(places: Array) -> Array:
        shares = broken_shares(limits, sample, sample.rates_at(places), draws, rng)
        return np.where(met.reshape(-1)[places], shares, 1.0)

    kept = np.zeros(met.size, dtype=bool)
    for side, of_side in enumerate(np.split(sample.some_places(_QUICK_THRESHOLDS if quick else _THRESHOLDS), len(met))):
        shares = broken(of_side)
        trivial = sample.are_trivial(of_side)
        kept[of_side[trivial & (shares <= allowed / 2)]] = True
        surest = np.where(trivial, 1.0, shares)
        run = run_around(int(surest.argmin()), shares <= allowed)
        if surest.min() > allowed / 2:
            continue
        first, last = int(of_side[run.start]), int(of_side[run.stop - 1])
        if not quick:
            before = side * size - 1 if run.start == 0 else int(of_side[run.start - 1])
            after = (side + 1) * size if run.stop == len(of_side) else int(of_side[run.stop])
            first, last = (_furthest(end, stop, broken, allowed) for end, stop in ((first, before), (last, after)))
        kept[first : last + 1] = True
    return kept.reshape(met.shape)


def _furthest(end: int, stop: int, broken: Callable[[Array], Array], allowed: float) -> int:
    """How far a run of good places goes on from its end, short of a place that is not good."""
    step = 1 if stop > end else -1
    while abs(stop - end) > 1:
        count = min(abs(stop - end) - 1, _REFINED)
        places = np.unique(np.linspace(end + step, stop - step, count).astype(np.int64))[::step]
        bad = np.flatnonzero(broken(places) > allowed)
        end, stop = (
            (int(places[-1]), stop)
            if not len(bad)
            else (int(places[bad[0] - 1]) if bad[0] else end, int(places[bad[0]]))
        )
    return end


def broken_shares(
    limits: Sequence[Limit], sample: ThresholdSample, rates: Rates, draws: int, rng: np.random.Generator
) -> Array:
    """How often draws of the table break one of the limits at each threshold, with both rates at their worst."""
    shares = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for table in sample.tables(rates, draws, rng):
            risks = [limit.broken(table) for limit in limits]
            shares.append(np.max(risks, axis=0).mean(0))
    return np.asarray(np.max(shares, axis=0))


def run_around(place: int, good: Array) -> slice:
    """The run of good places around one of them; empty where it is not good itself."""
    bad = np.flatnonzero(~good)
    after = int(np.searchsorted(bad, place))
    if after < len(bad) and bad[after] == place:
        return slice(0, 0)
    return slice(int(bad[after - 1]) + 1 if after else 0, int(bad[after]) if after < len(bad) else len(good))
