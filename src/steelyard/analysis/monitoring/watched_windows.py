"""Watched windows: the stretches of batches at whose evidence a monitor looks, and what each may spend of the error.

A model that was good for a year hides a bad week in the counts since its release. So evidence is gathered from later
starts as well, as if the monitor had been begun anew there. The weights of all starts add up to 1, and the weighted sum
of their evidence is evidence again: the limit on false alarms holds over all starts and looks together. Half of the
weight is the release's; the other starts share the rest, most of it those at multiples of high powers of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array

_RELEASE = 0.5


@dataclass(frozen=True, eq=False)
class Windows:
    """Stretches of batches in the order of their looks: from `start` up to, and without, `look`."""

    look: Array
    start: Array
    log_weight: Array

    @property
    def first_places(self) -> Array:
        """Where the windows of each look begin."""
        return np.flatnonzero(np.diff(self.look, prepend=0))


def start_weights(starts: Array) -> Array:
    """The weight of each start, of which there may be infinitely many: they add up to 1.

    >>> float(start_weights(np.arange(2**16)).sum()) <= 1
    True
    """
    after = np.maximum(starts, 1)
    block = np.floor(np.log2(after)).astype(np.int64)  # starts from 2**block on
    level = np.round(np.log2(after & -after)).astype(np.int64)  # how often it can be halved
    alike = np.exp2(np.maximum(block - 1 - level, 0))  # how many of the block can be halved as often
    return np.where(starts == 0, _RELEASE, (1 - _RELEASE) / ((block + 1) ** 2 * (block + 2) * alike))


def watched_windows(looks: int) -> Windows:
    """The windows of all looks from 1 on: the last batch, from the release, and between, of each power of two one.

    That one starts at the last multiple but one of the power, so that it is about as long as the power or twice that.
    """
    ends = np.arange(1, looks + 1)
    between = [(((ends - 1) >> power) - 1) << power for power in range(max(looks - 1, 1).bit_length())]
    every = np.concatenate([np.stack([ends, starts], 1) for starts in (np.zeros_like(ends), ends - 1, *between)])
    every = np.unique(every[every[:, 1] >= 0], axis=0) if looks else every[:0]
    return Windows(every[:, 0], every[:, 1], np.log(start_weights(every[:, 1])))
