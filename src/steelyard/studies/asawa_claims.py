"""Asawa's claims, each tried by what the run gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.curves import roc_curve
from steelyard.metrics.registry import get_metric
from steelyard.studies.asawa_sizes import divisions
from steelyard.studies.asawa_tables import ADDED, own, printed, reconstructed
from steelyard.studies.published_values import published
from steelyard.studies.study import Claim, tiny, verdict

if TYPE_CHECKING:
    from steelyard.studies.asawa import Outcome
    from steelyard.studies.asawa_tables import View

_SAME = 1e-9
OTHER_PAIR = "attributes 1 and 4"


def claims(view: View) -> list[Claim]:
    """All that the paper says that this run can try."""
    return [
        _shares(view),
        _chosen(view),
        _pair(view),
        _components(view),
        _figure_4(),
        _one_fit(view),
        _robust(view),
        _robust_draws(view),
        _symmetric(view),
        _winners(view),
        _per_class(view),
        _area(view),
        _cut(view),
    ]


def summary(view: View) -> list[str]:
    """What was found, in sentences."""
    n, held = len(view.outcomes), sum(own(o.found.robust) == _paper("robust") for o in view.outcomes)
    same = sum(own(o.found.symmetric) == _paper("symmetric") for o in view.outcomes)
    alike, draws = _agreeing(view.first)
    return [
        f"Balanced by weights, {_listed('robust')} stay as they are in {held} of {n} splits, and "
        f"in {alike} of {draws} drawn test sets of the first; swapped, {_listed('symmetric')} in {same} of {n}.",
        "That is algebra rather than evidence: rates of each class cannot move when a class is thinned at random, and "
        "the formulas of the others do not know which class is called positive.",
        "The paper's Figure 4 comes out of whole counts to ten digits; they show that its last tree was fitted twice.",
        _pair_words(view),
    ]


def _paper(kind: str) -> set[str]:
    return set(published("asawa")[kind])


def _listed(kind: str) -> str:
    return ", ".join(published("asawa")[kind])


def _agreeing(one: Outcome) -> tuple[int, int]:
    """In how many draws exactly the paper's metrics stay as they are."""
    draws = len(one.drawn)
    return sum(own(one.robust_in(d)) == _paper("robust") for d in range(draws)), draws


# ---------------------------------------------------------------- the data


def _shares(view: View) -> Claim:
    p = int(view.pulsars.y.sum())
    n = len(view.pulsars.y) - p
    return Claim(
        "Positives and negatives are as 1 to 10.",
        "1:10",
        f"{p:,} and {n:,}, 1:{n / p:.2f}",
        "no seed: the data set",
        verdict(holds=abs(n / p - 10) < 0.05, partly=9.5 < n / p < 10.5),
        "A round number.",
        "Section 2",
    )


def _chosen(view: View) -> Claim:
    with_class = np.abs(view.correlations[:-1, -1])
    top = sorted((np.argsort(-with_class)[:3] + 1).tolist())
    values = ", ".join(f"{i}: {with_class[i - 1]:.3f}" for i in top)
    return Claim(
        "Attributes 1, 3 and 4 are most correlated with the class.",
        "1, 3, 4",
        values,
        "no seed: the data set",
        verdict(holds=top == [1, 3, 4]),
        "By the size of Pearson's r over all rows.",
        "Section 4.1",
    )


def _pairs(view: View) -> dict[str, float]:
    return {f"{a + 1} and {b + 1}": float(view.correlations[a, b]) for a, b in ((0, 2), (0, 3), (2, 3))}


def _pair_words(view: View) -> str:
    pairs = _pairs(view)
    least, signed = min(pairs, key=lambda k: abs(pairs[k])), min(pairs, key=lambda k: pairs[k])
    told = ", ".join(f"r = {r:.3f} for {pair}" for pair, r in pairs.items())
    if least == "1 and 3":
        return f"Of the attributes 1, 3 and 4 the pair 1 and 3 is least correlated: {told}."
    return f"Of the attributes 1, 3 and 4 the pair {least} is least correlated, not 1 and 3 ({told})" + (
        "; 1 and 3 have the lowest r only where its sign counts." if signed == "1 and 3" else "."
    )


def _pair(view: View) -> Claim:
    pairs = _pairs(view)
    least = min(pairs, key=lambda k: abs(pairs[k]))
    return Claim(
        "Of these, 1 and 3 are least correlated with each other.",
        "1 and 3",
        f"{least}, r = {pairs[least]:.3f}",
        "no seed: the data set",
        verdict(holds=least == "1 and 3"),
        _pair_words(view),
        "Section 4.1",
    )


def _components(view: View) -> Claim:
    metric, pair = "tpnr", "attributes 1 and 3"
    ours, other = view.with_components(metric).mean(1), view.with_attributes(metric, pair).mean(1)
    wins, n = int((ours > other).sum()), len(ours)
    plain = view.with_components("accuracy").mean(), view.with_attributes("accuracy", pair).mean()
    return Claim(
        "Two principal components give better results than the two attributes.",
        "said, no numbers",
        f"TPNR {ours[0]:.3f} against {other[0]:.3f}, mean of four trees",
        f"better in {wins} of {n} splits",
        verdict(holds=wins >= 0.9 * n, partly=wins > n / 2),
        f"Means over the splits: TPNR {ours.mean():.3f} and {other.mean():.3f}, accuracy {plain[0]:.4f} and "
        f"{plain[1]:.4f}. With attributes 1 and 4 TPNR is {view.with_attributes(metric, OTHER_PAIR).mean():.3f}.",
        "Section 4",
    )


# ---------------------------------------------------------------- Figure 4


def _figure_4() -> Claim:
    again, numbers = reconstructed(), sum(map(len, published("asawa")["figure_4"].values()))
    sizes, rows = divisions(), sum(divisions()[0])
    known = [name for name in again.metrics if name != ADDED]
    gaps = [np.abs(again.changes[:, 0, again.metrics.index(name)] - printed(name)).max() for name in known]
    return Claim(
        "Figure 4: the changes of the metrics when the test set is balanced.",
        f"{numbers} numbers of ten digits",
        f"from four recovered tables, within {max(gaps):.1e} for {len(known)} metrics",
        "no seed: the paper's numbers alone",
        verdict(holds=False, partly=max(gaps) < _SAME),
        f"For a test set of {rows:,} rows, 30 % of HTRU2, such tables exist only for "
        f"{' or '.join(f'{p:,} positives and {n:,} negatives' for p, n in sizes)}; ratios alone would allow multiples. "
        "The area needs the scores of the leaves, which are lost; and no pipeline tried gives these tables again, "
        "so they stay a reconstruction.",
        "the table under Figure 5",
    )


def _one_fit(view: View) -> Claim:
    change, positives = printed("recall"), divisions()[0][0]
    drawn = view.first.drawn[:, :, view.first.found.metrics.index("recall")]
    return Claim(
        "The same trees are tested on the unbalanced and the balanced set.",
        f"recall changes by {change[-1]:.4f} (DT4)",
        f"recall changes by {np.abs(drawn).max():.4f} at most",
        f"over {len(drawn)} draws and four trees",
        verdict(holds=change[-1] == 0),
        "Thinning the negatives leaves recall as it is. The change of "
        f"{abs(round(change[-1] * positives))} of {positives} positives shows that the last tree was fitted anew, "
        "without a seed, between the two tests.",
        "Sections 4 and 5.2",
    )


# ---------------------------------------------------------------- verdicts


def _robust(view: View) -> Claim:
    held = sum(own(o.found.robust) == _paper("robust") for o in view.outcomes)
    moved = {v.metric: abs(v.change) for v in view.first.found.verdicts if not v.robust}
    n, least = len(view.outcomes), min(moved, key=lambda name: moved[name])
    return Claim(
        "Recall, specificity, TPNR and AUC do not feel the imbalance; the others do.",
        _listed("robust"),
        ", ".join(view.first.found.robust),
        f"the same in {held} of {n} splits",
        verdict(holds=held == n, partly=own(view.first.found.robust) == _paper("robust")),
        f"By weights they move by exactly 0, as does per-class accuracy, which the paper did not try; of the others "
        f"{least} moves least, by {moved[least]:.3f}.",
        "Section 5.2",
    )


def _robust_draws(view: View) -> Claim:
    alike, draws = _agreeing(view.first)
    held, tried = (sum(column) for column in zip(*map(_agreeing, view.outcomes), strict=True))
    names = view.first.found.metrics
    widest = {n: float(np.abs(view.first.drawn[:, :, names.index(n)]).max()) for n in published("asawa")["robust"]}
    return Claim(
        "The same, where the test set is balanced by drawing negatives, as the paper did.",
        "one draw",
        f"in {alike} of {draws} draws",
        f"{held:,} of {tried:,} draws over all splits",
        verdict(holds=held == tried, partly=held >= 0.9 * tried),
        "The largest changes: " + ", ".join(f"{n} {v:.4f}" for n, v in widest.items()) + ".",
        "Section 5.2, Figure 4",
    )


def _symmetric(view: View) -> Claim:
    alike = sum(own(o.found.symmetric) == _paper("symmetric") for o in view.outcomes)
    unlike = sum(own(o.unlike.symmetric) == _paper("symmetric") for o in view.outcomes)
    n = len(view.outcomes)
    exact = max(
        float(np.abs(o.found.swap_changes[:, o.found.metrics.index(m)]).max())
        for o in view.outcomes
        for m in published("asawa")["symmetric"]
    )
    other = max(
        float(np.abs(o.unlike.swap_changes[:, o.unlike.metrics.index(m)]).max())
        for o in view.outcomes
        for m in published("asawa")["symmetric"]
    )
    return Claim(
        "Accuracy, TPNR, kappa, MCC and AUC do not feel swapped labels; the others do.",
        _listed("symmetric"),
        ", ".join(view.first.found.symmetric),
        f"the same in {alike} of {n} splits",
        verdict(holds=alike == n, partly=own(view.first.found.symmetric) == _paper("symmetric")),
        f"The largest change of these over all splits is {tiny(exact)} where a leaf with a tie says the same original "
        f"class, and {tiny(other)} ({unlike} of {n} splits) where it says the first class, as scikit-learn does. The "
        "paper's sentence says 'insensitive to data imbalance' and must mean to swapped labels.",
        "Section 5.3",
    )


def _winners(view: View) -> Claim:
    held = sum(own(o.found.winners) == _paper("winners") for o in view.outcomes)
    return Claim(
        "TPNR and AUC alone stand both tests.",
        _listed("winners"),
        ", ".join(view.first.found.winners),
        f"the same in {held} of {len(view.outcomes)} splits",
        verdict(holds=held == len(view.outcomes), partly=own(view.first.found.winners) == _paper("winners")),
        "Of the metrics that the paper tried; G-mean, AC-score and informedness are made of the same two rates and "
        "would stand them too.",
        "Section 5.4",
    )


def _per_class(view: View) -> Claim:
    held = sum(ADDED in o.found.winners for o in view.outcomes)
    return Claim(
        "Per-class accuracy could be the third winner.",
        "not tried",
        "robust and symmetric" if held else "not both",
        f"in {held} of {len(view.outcomes)} splits",
        verdict(holds=held == len(view.outcomes), partly=held > 0),
        "It is the mean of the two rates, balanced accuracy.",
        "Section 6",
    )


# ---------------------------------------------------------------- what the paper says beside


def _area(view: View) -> Claim:
    rows = {}
    for tree, scores in view.first.trial.scores.items():
        curve = roc_curve(view.first.trial.y_test, scores)
        product = float(np.trapezoid(curve.tpr * (1 - curve.fpr), curve.fpr))
        rows[tree] = (float(get_metric("roc_auc")(view.first.trial.y_test, scores)), product)
    told = ", ".join(f"{tree} {area:.3f} and {product:.3f}" for tree, (area, product) in rows.items())
    return Claim(
        "AUC is the area under sensitivity x specificity.",
        "said as the reason why AUC does well",
        told,
        "the area, and that under the product",
        verdict(holds=all(abs(a - b) < _SAME for a, b in rows.values())),
        "AUC is the area under sensitivity over 1 - specificity; it is robust because it is made of shares of each "
        "class, as TPNR is.",
        "Section 6",
    )


def _cut(view: View) -> Claim:
    gains = [row["tpnr at the cut"] - row["tpnr at 0.5"] for row in view.cuts]
    lost = [row["precision at 0.5"] - row["precision at the cut"] for row in view.cuts]
    return Claim(
        "Use ROC to find the cut, then report TPNR.",
        "advised, not tried",
        ", ".join(f"{row['tree']} {row['tpnr at 0.5']:.3f} → {row['tpnr at the cut']:.3f}" for row in view.cuts),
        "the first split",
        verdict(holds=min(gains) >= 0, partly=max(gains) > 0),
        f"TPNR changes by {min(gains):+.3f} to {max(gains):+.3f} on rows that chose nothing, and precision falls by up "
        f"to {max(lost):.2f}: a cut that weighs both classes alike flags many more negatives.",
        "Sections 6 and 7",
    )
