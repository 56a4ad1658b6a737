"""Joint windows: the evidence of a metric of several rates over all windows of a look, looked for where it may be.

The least wealth over all rates at a limit is a search for each window. Most looks need none: an upper bound in closed
form, and then the wealth at one point, show that they have too little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.monitoring.watched_windows import Windows
    from steelyard.analysis.sequential.joint_evidence import JointEvidence

_WINDOWS = 16_384  # whose tables are in memory at once
_LOOKS = 8  # looks that are searched before the next ones, which an alarm makes needless
_SMALL = 8.0  # a window with so much less evidence than an alarm needs, as a logarithm, is left out


def joint_log_p(joint: JointEvidence, sums: Array, windows: Windows, alpha: float) -> Array:
    """The logarithm of the p-value at each look up to the first alarm; 0 where there is too little evidence for one."""
    needed, log_p = -np.log(alpha), np.zeros(len(sums) - 1)
    looks = _possible_looks(joint, sums, windows, needed)
    looks = looks[_evidence_at(looks, joint, sums, windows, needed) >= needed]
    for part in chunks(len(looks), _LOOKS):
        evidence = _evidence_at(looks[part], joint, sums, windows, needed, searched=True)
        log_p[looks[part] - 1] = -np.maximum(evidence, 0.0)
        if (evidence >= needed).any():
            break
    return log_p


def _possible_looks(joint: JointEvidence, sums: Array, windows: Windows, needed: float) -> Array:
    """The looks at which some window may have the evidence that an alarm needs: weights add up to 1 at most."""
    looks = []
    for part in chunks(len(windows.look), _WINDOWS):
        cells = sums[windows.look[part]] - sums[windows.start[part]]
        looks.append(windows.look[part][~joint.stays_below(cells, needed)])
    return np.unique(np.concatenate(looks)) if looks else np.zeros(0, dtype=np.int64)


def _evidence_at(
    looks: Array, joint: JointEvidence, sums: Array, windows: Windows, needed: float, *, searched: bool = False
) -> Array:
    """The weighted evidence of all windows of each look, or a bound of it where it is not searched for."""
    places = np.flatnonzero(np.isin(windows.look, looks))
    total = np.full(len(sums), -np.inf)
    for part in chunks(len(places), _WINDOWS):
        here = places[part]
        cells, weight = sums[windows.look[here]] - sums[windows.start[here]], windows.log_weight[here]
        evidence = joint.most(cells) + weight
        large = evidence >= needed - _SMALL
        if searched:
            evidence[large] = joint.least(cells[large]) + weight[large]
        np.logaddexp.at(total, windows.look[here][large], evidence[large])
    return total[looks]
