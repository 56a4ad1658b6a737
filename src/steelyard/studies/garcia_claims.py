"""García's conclusions and invariances, each tried by what the run gave."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import listed
from steelyard.auditing.correlation import CONCLUSIONS, STRONG, Conclusion, RateBounds
from steelyard.auditing.properties import garcia_row
from steelyard.metrics.registry import get_metric
from steelyard.studies.claims import Effect, Finding, joint_level, judged
from steelyard.studies.garcia import (
    GARCIA_NAMES,
    GARCIA_PAPER,
    GARCIA_STUDY,
    LISTED,
    ONE_EDGE,
    SIZES,
    WEIGHTS,
    GarciaResults,
    margin,
    pearson_between,
    with_rate,
)
from steelyard.studies.garcia_tables import SIGN_WORDS

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.auditing.correlation import CorrelationStudy

_NO_SEED = "no randomness"


@GARCIA_STUDY.summary
def _summary(results: GarciaResults) -> list[str]:
    main = results.main
    verdicts = [_conclusion(results, number, *asked[1:]).verdict for number, asked in enumerate(_CONCLUSIONS)]
    conclusions = listed([f"{verdict} ({verdicts.count(verdict)})" for verdict in dict.fromkeys(verdicts)])
    cells = len(_cells())
    least, most = results.auc_by_size
    return [
        f"Verdicts on García's three conclusions: {conclusions}; {cells - len(_wrong_cells(results))} of the {cells} "
        "signs of Table 2 come out again.",
        f"Accuracy listens to the frequent class: its correlation with TNr is {_range(main, 'Acc', 'TNr')} over the "
        f"five imbalances and with TPr {_range(main, 'Acc', 'TPr')}; OP, kappa, AGm and F1 follow TNr as well, OP "
        f"the least ({_range(main, 'OP', 'TNr')}).",
        f"That AUC and Gm lean to the rare class is weaker than it sounds: {_range(main, 'AUC', 'TPr')} with TPr and "
        f"{_range(main, 'AUC', 'TNr')} with TNr; at 5 % positives the correlation with TPr goes from {least:+.2f} to "
        f"{most:+.2f} as the list grows from {SIZES[0]} to {SIZES[-1]:,} rows, as few positives make TPr noisy.",
        f"The design sets the two rates against each other: TPr and TNr correlate at {_range(main, 'TPr', 'TNr')}, "
        "since their distortions always add up to the same. So no metric can follow both, and following one is "
        "falling with the other.",
        *_on_readings(results.readings),
    ]


def _on_readings(readings: dict[str, CorrelationStudy]) -> list[str]:
    """What becomes of the conclusions on the lists that the paper may have used instead."""
    failing = {words: [str(c.number) for c in study.conclusions() if not c.holds] for words, study in readings.items()}
    parts = [
        f"{'conclusion' if len(numbers) == 1 else 'conclusions'} {listed(numbers)} with {words}"
        for words, numbers in failing.items()
        if numbers
    ]
    head = "The paper does not give its list of true probabilities, and that matters: what fails is"
    return [f"{head} {'; '.join(parts)}."] if parts else []


# ---------------------------------------------------------------- the conclusions of section 3.1


def _range(study: CorrelationStudy, short: str, rate: str) -> str:
    return _span(with_rate(study, short, rate))


def _span(r: Array) -> str:
    """The means over seeds at the five imbalances, from the lowest to the highest."""
    means = np.nanmean(r, axis=0)
    return f"{means.min():+.2f} to {means.max():+.2f}".replace("-", "−")


def _conclusion(results: GarciaResults, number: int, metrics: tuple[str, ...], rates: tuple[str, ...]) -> Finding:
    """The least margin of a conclusion, over its metrics and the five imbalances, by seed, under every reading."""
    main = results.main
    ours = "; ".join(" and ".join(f"{m} {_range(main, m, rate)} with {rate}" for rate in rates) for m in metrics)
    margins = {words: margin(study, CONCLUSIONS[number]) for words, study in results.readings.items()}
    effects = [Effect(words, values) for words, values in margins.items()]
    if number == 1:
        effects.append(Effect("wAUC with the ROC point as the only edge", margin(main, ONE_EDGE)))
    failed = [effect.name for effect in effects if not effect.shown(joint_level(effects))]
    why = f"{_why_size(results)} {_why_lists(failed)}" if number == 1 else _why_lists(failed)
    return Finding.of(effects, why, seeds="seeds", ours=ours)


_CONCLUSIONS = (
    ("Acc shows negative correlation with TPr but strong positive correlation with TNr", ("Acc",), ("TPr", "TNr")),
    ("AUC, Gm, IBA, wAUC and cwA show positive correlation with TPr", LISTED, ("TPr",)),
    ("OP, kappa, AGm and F1 are strongly correlated with TNr", ("OP", "kappa", "AGm", "F1"), ("TNr",)),
)
for _number, (_words, _metrics, _rates) in enumerate(_CONCLUSIONS):
    GARCIA_STUDY.claim(_words, place=f"section 3.1, conclusion {_number + 1}")(
        partial(_conclusion, number=_number, metrics=_metrics, rates=_rates)
    )


def _why_lists(failed: list[str]) -> str:
    if not failed:
        return "It holds under every reading of the unsaid list of probabilities that was tried."
    lists = "; ".join(failed)
    return f"It depends on what the paper does not give, first the list of true probabilities: not with {lists}."


def _why_size(results: GarciaResults) -> str:
    least, most = results.auc_by_size
    return (
        f"For AUC and Gm much of it is the noise of few positives: with 5 % of them the correlation of AUC with TPr is "
        f"{least:+.2f} on lists of {SIZES[0]} rows (5 positives) and {most:+.2f} on {SIZES[-1]:,}. wAUC is split into "
        "ten bands here; with the single ROC point as the only edge, which equation (1) allows as well, it is another."
    )


@GARCIA_STUDY.claim(
    "cwA with w > 0.5 presents strong positive and negative correlation values with TPr and TNr",
    paper="w > 0.5, in words only",
    place="section 3.1, conclusion 2",
)
def _weight(results: GarciaResults) -> Finding:
    """The paper never says its w, so several are tried."""
    heavier = {w: name for w, name in WEIGHTS.items() if w > 0.5}
    effects = [Effect(f"w = {w}", margin(results.weights, _strongly(name))) for w, name in heavier.items()]
    level = joint_level(effects)
    true = [w for w, effect in zip(heavier, effects, strict=True) if effect.shown(level)]
    spans = {
        w: [_span(pearson_between(results.weights, name, rate)) for rate in ("recall", "specificity")]
        for w, name in heavier.items()
    }
    ours = "; ".join(f"w = {w}: {tpr} with TPr, {tnr} with TNr" for w, (tpr, tnr) in spans.items())
    return Finding.of(effects, _why_weights(true, [w for w in heavier if w not in true]), seeds="seeds", ours=ours)


def _why_weights(true: list[float], other: list[float]) -> str:
    if not true:
        return f"No weight tried makes both correlations stronger than {STRONG}."
    rest = f" and not of {', '.join(map(str, other))}" if other else ""
    weights = ", ".join(map(str, true))
    return (
        f"The paper does not say its w. It is true of the weights {weights}{rest}, where strong means beyond {STRONG} "
        "in absolute value."
    )


def _strongly(name: str) -> Conclusion:
    bounds = RateBounds(recall=(STRONG, np.inf), specificity=(-np.inf, -STRONG))
    return Conclusion(2, "strongly with recall and against specificity", (name,), bounds)


# ---------------------------------------------------------------- the invariances of section 3.2


def _cells() -> list[tuple[str, int]]:
    return [(short, i) for short in GARCIA_NAMES for i in range(5)]


def _wrong_cells(results: GarciaResults) -> list[str]:
    printed = GARCIA_PAPER["table_2"]
    return [
        f"{short} {printed['order'][i]}"
        for short, i in _cells()
        if results.table_2[short][i] != printed["signs"][short][i]
    ]


@GARCIA_STUDY.claim(
    "Table 2: which of five changes of the matrix each metric notices",
    paper="65 signs",
    place=GARCIA_PAPER["table_2"]["place"],
)
def _table_2(results: GarciaResults) -> Finding:
    cells, wrong = len(_cells()), _wrong_cells(results)
    half = garcia_row(WEIGHTS[0.5], anew=True)
    why = "Each cell is decided by algebra or by a table where the value changes, not by the rounding of examples"
    if half != results.table_2["cwA"]:
        why += "; with w = 0.5 cwA is AUC and the exchange of the classes leaves it unchanged: p1 is "
        why += f"“{SIGN_WORDS[half[0]]}”"
    ours = f"{cells - len(wrong)} of {cells} signs the same" + (f"; not {', '.join(wrong)}" if wrong else "")
    return Finding(ours, _NO_SEED, judged(holds=not wrong), f"{why}.")


_WHY_SETS = {
    "sensitive": "The paper wants a metric to notice every change; noticing the exchange of the classes (p1) is what "
    "Asawa and Wu want a metric not to do, so the papers disagree on whether this is a virtue.",
    "exchange": "Asawa and Wu call this symmetry and ask for it.",
    "negatives": "TPr and Prec do not see TN by their definition; among the metrics that claim to count both classes "
    "F1 is the one.",
}


def _set(results: GarciaResults, key: str, named: tuple[str, ...]) -> Finding:
    """The metrics that notice every change, that do not notice p1, or that do not notice p2."""
    signs = results.table_2
    shorts = {
        "sensitive": [short for short in GARCIA_NAMES if "-" not in signs[short]],
        "exchange": [short for short in GARCIA_NAMES if signs[short][0] == "-"],
        "negatives": [short for short in GARCIA_NAMES if signs[short][1] == "-"],
    }[key]
    verdict = judged(holds=set(named) <= set(shorts) if key == "negatives" else set(named) == set(shorts))
    return Finding(", ".join(shorts), _NO_SEED, verdict, _WHY_SETS[key], paper=", ".join(named))


for _key, _words, _named in (
    ("sensitive", "The four more sensitive metrics are IBA, AGm, cwA and wAUC", ("IBA", "AGm", "cwA", "wAUC")),
    (
        "exchange",
        "Acc, Gm, AUC, OP and kappa are insensitive to the inversion of class performances (p1)",
        ("Acc", "Gm", "AUC", "OP", "kappa"),
    ),
    ("negatives", "F1 remains invariant under a change in TN (p2)", ("F1",)),
):
    GARCIA_STUDY.claim(_words, place="section 3.2, below Table 2")(partial(_set, key=_key, named=_named))


@GARCIA_STUDY.claim(
    "When rho is 0, the weighted AUC is equal to the conventional AUC",
    paper="equal",
    place="section 2, below equation (1)",
)
def _rho(results: GarciaResults) -> Finding:
    """As printed, w(0) = rho would leave the lowest area out; with 1 - rho the sentence below the equation is true."""
    plain, auc = (
        np.asarray(get_metric(name)(results.main.counts)) for name in ("weighted_auc[rho=0]", "balanced_accuracy")
    )
    gap = float(np.nanmax(np.abs(plain - auc)))
    return Finding(
        f"largest difference {gap:.1e} over {auc.size:,} tables",
        "every table of every seed",
        judged(holds=False, partly=gap < 1e-12),
        "Equation (1) prints w(0) = ρ, by which ρ = 0 gives the lowest area no weight and the sentence would be false; "
        "it must be 1 − ρ, and then the weights add up to the number of areas for every ρ.",
    )
