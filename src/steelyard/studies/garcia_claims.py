"""García's conclusions and invariances, each tried by what the run gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.formatting import listed
from steelyard.auditing.garcia_conclusions import STRONG, USUALLY, Conclusion, RateBounds
from steelyard.auditing.properties import garcia_row
from steelyard.metrics.registry import get_metric
from steelyard.report.figures.caption_text import percent
from steelyard.studies.declared_study import Finding
from steelyard.studies.garcia import (
    GARCIA_NAMES,
    GARCIA_PAPER,
    GARCIA_STUDY,
    ONE_EDGE,
    SIZES,
    WEIGHTS,
    GarciaResults,
    pearson_between,
    with_rate,
)
from steelyard.studies.garcia_tables import SIGN_WORDS
from steelyard.studies.study import Claim, judged

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.auditing.correlation import CorrelationStudy

_SENTENCES = GARCIA_PAPER["sentences"]
_NO_SEED = "no randomness"


@GARCIA_STUDY.summary
def _summary(results: GarciaResults) -> list[str]:
    main = results.main
    three = [next(iter(tried.values())).holds for tried in results.conclusions]
    cells = len(_cells())
    least, most = results.auc_by_size
    return [
        f"{sum(three)} of García's three conclusions and {cells - len(_wrong_cells(results))} of the {cells} signs of "
        "Table 2 come out again.",
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


@GARCIA_STUDY.claims
def _conclusions(results: GarciaResults) -> list[Claim]:
    main = results.main
    ours = {
        "accuracy": f"{_range(main, 'Acc', 'TPr')} with TPr, {_range(main, 'Acc', 'TNr')} with TNr",
        "minority": "; ".join(f"{m} {_range(main, m, 'TPr')}" for m in ("AUC", "Gm", "IBA", "wAUC", "cwA")),
        "majority": "; ".join(f"{m} {_range(main, m, 'TNr')}" for m in ("OP", "kappa", "AGm", "F1")),
    }
    claims = []
    for (key, value), tried in zip(ours.items(), results.conclusions, strict=True):
        failed = [words for words, conclusion in tried.items() if not conclusion.holds]
        first = next(iter(tried.values()))
        noisy = key == "minority"
        verdict = judged(holds=first.holds and not failed and not noisy, partly=first.holds)
        spread = f"{round(first.share * results.seeds)} of {results.seeds} seeds at all five imbalances"
        why = _why_size(results, failed) if noisy else _why_lists(failed)
        words, place = _SENTENCES[key]["words"], _SENTENCES[key]["place"]
        claims.append(Claim(words, "in words only", value, spread, verdict, why, place))
    return claims


def _why_lists(failed: list[str]) -> str:
    if not failed:
        return "It holds under every reading of the unsaid list of probabilities that was tried."
    lists = "; ".join(failed)
    return f"It depends on the list of true probabilities, which the paper does not give: it fails with {lists}."


def _why_size(results: GarciaResults, failed: list[str]) -> str:
    least, most = results.auc_by_size
    one_edge = results.main.conclusions([ONE_EDGE])[0].share
    noise = (
        f"For AUC and Gm much of it is the noise of few positives: with 5 % of them the correlation of AUC with TPr is "
        f"{least:+.2f} on lists of {SIZES[0]} rows (5 positives) and {most:+.2f} on {SIZES[-1]:,}. wAUC is split into "
        "ten bands here; with the single ROC point as the only edge, which equation (1) allows as well, it rises with "
        f"TPr in {percent(one_edge)} of the seeds."
    )
    return f"{noise} {_why_lists(failed)}" if failed else noise


@GARCIA_STUDY.sentence("weighted", paper="w > 0.5, in words only")
def _weight(results: GarciaResults) -> Finding:
    """The paper never says its w, so the smallest of a few at which the sentence is true is looked for."""
    heavier = {w: name for w, name in WEIGHTS.items() if w > 0.5}
    shares = {w: results.weights.conclusions([_strongly(name)])[0].share for w, name in heavier.items()}
    true = [w for w, share in shares.items() if share >= USUALLY]
    spans = {
        w: [_span(pearson_between(results.weights, name, rate)) for rate in ("recall", "specificity")]
        for w, name in heavier.items()
    }
    return Finding(
        "; ".join(f"w = {w}: {tpr} with TPr, {tnr} with TNr" for w, (tpr, tnr) in spans.items()),
        "; ".join(f"w = {w}: {percent(share)} of seeds" for w, share in shares.items()),
        judged(holds=len(true) == len(shares), partly=bool(true)),
        _why_weights(true, [w for w in shares if w not in true]),
    )


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


@GARCIA_STUDY.claims
def _sets(results: GarciaResults) -> list[Claim]:
    signs = results.table_2
    sets = {
        "sensitive": [short for short in GARCIA_NAMES if "-" not in signs[short]],
        "exchange": [short for short in GARCIA_NAMES if signs[short][0] == "-"],
        "negatives": [short for short in GARCIA_NAMES if signs[short][1] == "-"],
    }
    return [_set_claim(key, shorts) for key, shorts in sets.items()]


def _set_claim(key: str, shorts: list[str]) -> Claim:
    sentence = _SENTENCES[key]
    named, whole = set(sentence["metrics"]), key != "negatives"
    verdict = judged(holds=named == set(shorts) if whole else named <= set(shorts))
    paper, ours = ", ".join(sentence["metrics"]), ", ".join(shorts)
    return Claim(sentence["words"], paper, ours, _NO_SEED, verdict, _WHY_SETS[key], sentence["place"])


@GARCIA_STUDY.sentence("rho", paper="equal")
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
