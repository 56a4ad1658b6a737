"""García, Sánchez and Mollineda 2012: which class each of 13 metrics listens to, and what changes it notices.

Section 3.1 perturbs a list of true probabilities, negatives and positives by different amounts, and correlates the
metrics over the perturbed predictions at five imbalances. Section 3.2 asks which changes of the confusion matrix leave
a metric as it is. The paper prints no correlations, only three conclusions, and leaves the list, its length, the
threshold, the weight w of cwA and the bands of wAUC unsaid; so each conclusion is also tried under other choices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.rows import listed
from steelyard.auditing.correlation import CorrelationStudy, correlation_study
from steelyard.auditing.garcia_conclusions import CONCLUSIONS, STRONG, USUALLY, Conclusion
from steelyard.auditing.properties import garcia_row
from steelyard.metrics.references import reference
from steelyard.metrics.registry import get_metric
from steelyard.report.figures.caption_text import percent
from steelyard.studies.garcia_readings import (
    LATER,
    METRICS,
    ONE_EDGE,
    PAPER,
    READINGS,
    ROWS,
    SIZES,
    WEIGHTS,
    WORDS,
    between,
    correlations,
)
from steelyard.studies.garcia_tables import pictures, tables
from steelyard.studies.study import Claim, Study, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array


def run(*, quick: bool, data: Any, seed: int, progress: Callable[[str], Any]) -> Study:  # noqa: ARG001 - no data
    """Both analyses: the correlations over seeds and readings, and Table 2 decided by proof or counterexample."""
    seeds, fewer = (10, 4) if quick else (100, 20)
    plan = PAPER["combinations"]
    how = {"positives": PAPER["positives"]["values"]} | {key: plan[key] for key in ("total_range", "steps", "tuples")}

    def study(n: int = ROWS, seeds: int = fewer, metrics: Any = None, **options: Any) -> CorrelationStudy:
        return correlation_study(metrics, n=n, seeds=seeds, rng=seed, **how, **options)

    progress(f"correlations of 13 metrics at five imbalances, {seeds} seeds")
    main = study(seeds=seeds, metrics=METRICS.values())
    progress(f"the conclusions under {len(READINGS)} readings of the paper, {fewer} seeds each")
    readings = {words: main if not options else study(**options) for words, options in READINGS.items()}
    progress("the effect of the size, and of the weight of cwA")
    sizes = {n: study(n, metrics=["balanced_accuracy", "g_mean"]) for n in SIZES}
    weights = study(seeds=seeds, metrics=[f"class_weighted_accuracy[w={w}]" for w in WEIGHTS])
    later = study(metrics=LATER)
    progress("Table 2: 65 cells, each proved or refuted")
    table_2 = {short: garcia_row(name, anew=True) for short, name in METRICS.items()}
    claims = [
        *_correlation_claims(main, readings, sizes),
        _weight_claim(weights),
        *_invariance_claims(table_2),
        _rho(main),
    ]
    return Study(
        "garcia",
        "Which metrics listen to the rare class?",
        reference("garcia2012"),
        _summary(main, readings, sizes, claims, table_2),
        tables(main, readings, sizes, weights, later, table_2),
        pictures(main),
        claims,
        {
            "seeds": seeds,
            "seeds of the other readings": fewer,
            "rows of a list": ROWS,
            "threshold": 0.5,
            "list of true probabilities": next(iter(READINGS)),
            "weight of cwA": 0.6,
            "bands of wAUC": 10,
            "strong correlation": f"above {STRONG}",
            "a conclusion holds": f"in {percent(USUALLY)} of the seeds or more",
        },
    )


# ---------------------------------------------------------------- the conclusions of section 3.1


def _correlation_claims(
    main: CorrelationStudy, readings: dict[str, CorrelationStudy], sizes: dict[int, CorrelationStudy]
) -> list[Claim]:
    whys = {
        "accuracy": _why_lists,
        "minority": lambda failed: _why_size(failed, sizes, readings),
        "majority": _why_lists,
    }
    asked = dict(zip(whys, CONCLUSIONS, strict=True))
    ours = {
        "accuracy": f"{_range(main, ['Acc'], 'TPr')} with TPr, {_range(main, ['Acc'], 'TNr')} with TNr",
        "minority": "; ".join(f"{m} {_range(main, [m], 'TPr')}" for m in ("AUC", "Gm", "IBA", "wAUC", "cwA")),
        "majority": "; ".join(f"{m} {_range(main, [m], 'TNr')}" for m in ("OP", "kappa", "AGm", "F1")),
    }
    found = []
    for key, bounds in asked.items():
        tried = {words: study.conclusions([bounds])[0] for words, study in readings.items()}
        failed = [words for words, one in tried.items() if not one.holds]
        first = tried[next(iter(READINGS))]
        verdict = _verdict(first.holds, clean=not failed and key != "minority")
        spread = f"{round(first.share * len(main.pearson))} of {len(main.pearson)} seeds at all five imbalances"
        sentence = PAPER["sentences"][key]
        found.append(
            Claim(sentence["words"], "in words only", ours[key], spread, verdict, whys[key](failed), sentence["place"])
        )
    return found


def _verdict(holds: bool, *, clean: bool) -> Verdict:
    return "does not hold" if not holds else "holds" if clean else "holds with qualification"


def _why_lists(failed: list[str]) -> str:
    if not failed:
        return "It holds under every reading of the unsaid list of probabilities that was tried."
    told = "; ".join(failed)
    return f"It depends on the list of true probabilities, which the paper does not give: it fails with {told}."


def _why_size(failed: list[str], sizes: dict[int, CorrelationStudy], readings: dict[str, CorrelationStudy]) -> str:
    least, most = (float(np.nanmean(correlations(sizes[n], "AUC", "TPr")[:, 0])) for n in (SIZES[0], SIZES[-1]))
    two = next(iter(readings.values())).conclusions([ONE_EDGE])[0].share
    said = (
        f"For AUC and Gm much of it is the noise of few positives: with 5 % of them the correlation of AUC with TPr is "
        f"{least:+.2f} on lists of {SIZES[0]} rows (5 positives) and {most:+.2f} on {SIZES[-1]:,}. wAUC is cut into "
        "ten bands here; with the single ROC point as the only edge, which equation (1) allows as well, it rises with "
        f"TPr in {percent(two)} of the seeds."
    )
    return f"{said} {_why_lists(failed)}" if failed else said


def _weight_claim(weights: CorrelationStudy) -> Claim:
    """The paper never says its w, so the smallest of a few at which the sentence is true is looked for."""
    strong = {w: weights.conclusions([_strongly(w)])[0].share for w in WEIGHTS[1:]}
    true = [w for w, share in strong.items() if share >= USUALLY]
    names = [f"class_weighted_accuracy[w={w}]" for w in WEIGHTS[1:]]
    ours = "; ".join(
        f"w = {w}: {_span(between(weights, name, 'recall'))} with TPr, {_span(between(weights, name, 'specificity'))} "
        "with TNr"
        for w, name in zip(WEIGHTS[1:], names, strict=True)
    )
    why = (
        f"The paper does not say its w. It is true of the weights {', '.join(map(str, true))}"
        + (" and not of " + ", ".join(str(w) for w in WEIGHTS[1:] if w not in true) if len(true) < len(strong) else "")
        + f", where strong means beyond {STRONG} either way."
        if true
        else f"No weight tried makes both correlations stronger than {STRONG}."
    )
    spread = "; ".join(f"w = {w}: {percent(share)} of seeds" for w, share in strong.items())
    sentence = PAPER["sentences"]["weighted"]
    verdict = _verdict(bool(true), clean=len(true) == len(strong))
    return Claim(sentence["words"], "w > 0.5, in words only", ours, spread, verdict, why, sentence["place"])


def _strongly(w: float) -> Conclusion:
    name = f"class_weighted_accuracy[w={w}]"
    return Conclusion(2, "strongly with recall and against specificity", (name,), (STRONG, np.inf), (-np.inf, -STRONG))


def _range(study: CorrelationStudy, shorts: Sequence[str], rate: str) -> str:
    return _span(np.stack([correlations(study, short, rate) for short in shorts]))


def _span(r: Array) -> str:
    """The means over seeds at the five imbalances, from the lowest to the highest."""
    means = np.nanmean(r.reshape(-1, r.shape[-1]), axis=0)
    return f"{means.min():+.2f} to {means.max():+.2f}".replace("-", "−")


# ---------------------------------------------------------------- the invariances of section 3.2


def _invariance_claims(table_2: dict[str, str]) -> list[Claim]:
    printed = PAPER["table_2"]
    cells = [(short, i) for short in METRICS for i in range(5)]
    wrong = [f"{s} {printed['order'][i]}" for s, i in cells if table_2[s][i] != printed["signs"][s][i]]
    half = garcia_row("class_weighted_accuracy[w=0.5]", anew=True)
    why = "Each cell is decided by algebra or by a table where the value changes, not by the rounding of examples"
    turned = (
        f"; with w = 0.5 cwA is AUC and the exchange of the classes leaves it unchanged: p1 is “{WORDS[half[0]]}”"
        if half != table_2["cwA"]
        else ""
    )
    whole = Claim(
        "Table 2: which of five changes of the matrix each metric notices",
        "65 signs",
        f"{len(cells) - len(wrong)} of {len(cells)} signs the same" + (f"; not {', '.join(wrong)}" if wrong else ""),
        "no randomness",
        "holds" if not wrong else "does not hold",
        f"{why}{turned}.",
        printed["place"],
    )
    sets = {
        "sensitive": [s for s in METRICS if "-" not in table_2[s]],
        "exchange": [s for s in METRICS if table_2[s][0] == "-"],
        "negatives": [s for s in METRICS if table_2[s][1] == "-"],
    }
    return [whole, *(_set_claim(key, found) for key, found in sets.items())]


WHY_SETS = {
    "sensitive": "The paper wants a metric to notice every change; noticing the exchange of the classes (p1) is what "
    "Asawa and Wu want a metric not to do, so the papers disagree on whether this is a virtue.",
    "exchange": "Asawa and Wu call this symmetry and ask for it.",
    "negatives": "TPr and Prec do not see TN by their definition; among the metrics that claim to weigh both classes "
    "F1 is the one.",
}


def _set_claim(key: str, found: list[str]) -> Claim:
    sentence = PAPER["sentences"][key]
    named, whole = set(sentence["metrics"]), key != "negatives"
    right = named == set(found) if whole else named <= set(found)
    return Claim(
        sentence["words"],
        ", ".join(sentence["metrics"]),
        ", ".join(found),
        "no randomness",
        "holds" if right else "does not hold",
        WHY_SETS[key],
        sentence["place"],
    )


def _rho(main: CorrelationStudy) -> Claim:
    """As printed, w(0) = rho would leave the lowest area out; with 1 - rho the sentence below the equation is true."""
    plain, auc = get_metric("weighted_auc[rho=0]")(main.counts), get_metric("balanced_accuracy")(main.counts)
    gap = float(np.nanmax(np.abs(np.asarray(plain) - np.asarray(auc))))
    sentence = PAPER["sentences"]["rho"]
    return Claim(
        sentence["words"],
        "equal",
        f"largest difference {gap:.1e} over {np.asarray(auc).size:,} tables",
        "every table of every seed",
        "holds with qualification" if gap < 1e-12 else "does not hold",
        "Equation (1) prints w(0) = ρ, by which ρ = 0 gives the lowest area no weight and the sentence would be false; "
        "it must be 1 − ρ, and then the weights add up to the number of areas for every ρ.",
        sentence["place"],
    )


# ---------------------------------------------------------------- what is shown


def _summary(
    main: CorrelationStudy,
    readings: dict[str, CorrelationStudy],
    sizes: dict[int, CorrelationStudy],
    claims: list[Claim],
    table_2: dict[str, str],
) -> list[str]:
    three = [claims[i].verdict != "does not hold" for i in range(3)]
    same = sum(a == b for s in METRICS for a, b in zip(table_2[s], PAPER["table_2"]["signs"][s], strict=True))
    least, most = (float(np.nanmean(correlations(sizes[n], "AUC", "TPr")[:, 0])) for n in (SIZES[0], SIZES[-1]))
    return [
        f"{sum(three)} of García's three conclusions and {same} of the 65 signs of Table 2 come out again.",
        f"Accuracy listens to the frequent class: its correlation with TNr is {_range(main, ['Acc'], 'TNr')} over the "
        f"five imbalances and with TPr {_range(main, ['Acc'], 'TPr')}; OP, kappa, AGm and F1 follow TNr as well, OP "
        f"the least ({_range(main, ['OP'], 'TNr')}).",
        f"That AUC and Gm lean to the rare class is weaker than it sounds: {_range(main, ['AUC'], 'TPr')} with TPr and "
        f"{_range(main, ['AUC'], 'TNr')} with TNr; at 5 % positives the correlation with TPr goes from {least:+.2f} to "
        f"{most:+.2f} as the list grows from {SIZES[0]} to {SIZES[-1]:,} rows, as few positives make TPr noisy.",
        f"The design sets the two rates against each other: TPr and TNr correlate at {_range(main, ['TPr'], 'TNr')}, "
        "since their distortions always add up to the same. So no metric can follow both, and following one is "
        "falling with the other.",
        *_readings_said(readings),
    ]


def _readings_said(readings: dict[str, CorrelationStudy]) -> list[str]:
    """What becomes of the conclusions on the lists that the paper may have used instead."""
    failing = {words: [str(c.number) for c in study.conclusions() if not c.holds] for words, study in readings.items()}
    told = [
        f"{'conclusion' if len(n) == 1 else 'conclusions'} {listed(n)} with {words}"
        for words, n in failing.items()
        if n
    ]
    return (
        [f"The paper does not give its list of true probabilities, and that matters: what fails is {'; '.join(told)}."]
        if told
        else []
    )
