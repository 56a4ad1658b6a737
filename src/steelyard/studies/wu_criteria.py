"""What Wu and Cannistraci say of metrics as such: their criteria, and the profile of Figure 1; no data, no seed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import listed
from steelyard.auditing.identities import harsher
from steelyard.auditing.model_tables import at_rates
from steelyard.auditing.properties import decide
from steelyard.metrics.registry import get_metric
from steelyard.studies.claims import Finding, judged, published
from steelyard.studies.wu import WU_STUDY

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.studies.wu_trials import DigitTrials

_NO_SEED = "no randomness"
_CRITERIA = {
    "prevalence_invariance": "null-biased",
    "class_symmetry": "the same for both classes",
    "equal_recalls_kept": "keeps the value of equal rates",
}
_OTHERS = {"GM": "g_mean", "BA": "balanced_accuracy"}
_EXCLUDED = {"BM": "informedness", "GM squared": "tpnr", "IBA of GM": "iba", "IBA of GM squared": "iba[of=tpnr]"}


def _met(metric: str) -> list[str]:
    return [name for name in _CRITERIA if decide(metric, name).holds]


def _at(metric: str, tpr: float | Array, tnr: float | Array) -> Array:
    return np.asarray(get_metric(metric)(at_rates(tpr, tnr, 0.5)))


@WU_STUDY.claim(
    "AC-score meets the criteria for a metric: null-biased, equal for both classes, continuous",
    place="abstract, introduction and section 3.1",
)
def _criteria(_: DigitTrials) -> Finding:
    met = {name: _met(metric) for name, metric in {"AC-score": "ac_score", **_OTHERS}.items()}
    ours = "; ".join(f"{name}: {', '.join(_CRITERIA[c] for c in criteria)}" for name, criteria in met.items())
    why = (
        "Each is proved for all tables. It is continuous save where both rates are 0, where it is 0 over 0 and the "
        "paper says nothing; 0 is the limit. GM and BA meet the same criteria, so these alone do not choose it."
    )
    return Finding(ours, _NO_SEED, judged(holds=len(met["AC-score"]) == len(_CRITERIA)), why)


@WU_STUDY.claim(
    "A metric should keep the value of TPR and TNR where they are the same; BM and all powers of GM such as IBA do not",
    place="introduction, second paragraph",
)
def _keeps(_: DigitTrials) -> Finding:
    kept = {name: decide(metric, "equal_recalls_kept").holds for name, metric in _EXCLUDED.items()}
    values = {name: float(_at(metric, 0.8, 0.8)) for name, metric in _EXCLUDED.items()}
    ours = "; ".join(f"{name} {value:.2f}" for name, value in values.items())
    wrong = [name for name, keeps in kept.items() if keeps]
    why = (
        f"Both rates 0.80. {listed(wrong) if wrong else 'None'} keeps the value: with equal rates the dominance is 0, "
        "and IBA is what it is made of. IBA is no power of GM; of GM squared, its first form, the sentence is true."
    )
    return Finding(ours, _NO_SEED, judged(holds=not wrong, partly=len(wrong) < len(kept)), why)


@WU_STUDY.claim(
    "BA and AUROC create no nonlinear penalty as TPR and TNR part, GM does, and AC-score penalises more strongly",
    place="introduction and section 2.1",
)
def _penalty(_: DigitTrials) -> Finding:
    """At a mean rate of one half, apart by d: BA stays, GM is a half circle, AC a parabola below it."""
    apart = np.linspace(0, 1, 201)
    values = {
        name: _at(metric, 0.5 + apart / 2, 0.5 - apart / 2) for name, metric in {"AC": "ac_score", **_OTHERS}.items()
    }
    extra = values["GM"] - values["AC"]
    ours = "; ".join(
        f"{apart[i]:.1f} apart: " + ", ".join(f"{name} {value[i]:.2f}" for name, value in values.items())
        for i in (0, 100, 200)
    )
    why = (
        "Mean of the rates 0.50. BA does not move at all, GM and AC do and AC more; but what AC takes more than GM is "
        f"most where the rates are {math.sqrt(3) / 2:.2f} apart and nothing where one is 0. This is the AUROC of one "
        "threshold; that of all thresholds is not made of one TPR and TNR."
    )
    return Finding(ours, _NO_SEED, judged(holds=False, partly=bool((extra >= -1e-12).all())), why)


@WU_STUDY.claim(
    "AC-score achieved the strongest penalization for favouring one class", place="introduction, last paragraph"
)
def _strongest(_: DigitTrials) -> Finding:
    """Among the paper's metrics of both rates; the smaller rate meets every criterion and is harsher still."""
    decided = [harsher("ac_score", "g_mean"), harsher("ac_score", "balanced_accuracy")]
    rates = np.linspace(0.05, 1, 20)
    tpr, tnr = np.meshgrid(rates, rates)
    lower = bool((np.minimum(tpr, tnr) <= _at("ac_score", tpr, tnr) + 1e-12).all())
    ac = float(_at("ac_score", 0.9, 0.3))
    ours = "; ".join(f"{d.metric} is {d.property}: {d.verdict}" for d in decided)
    why = (
        "Of the metrics that the paper compares. A metric that penalises as much as possible, which the introduction "
        f"asks for, it is not: the smaller of the two rates meets every criterion too and is never above it "
        f"(rates 0.9 and 0.3: AC {ac:.2f}, the smaller 0.30)."
    )
    return Finding(ours, _NO_SEED, judged(holds=False, partly=all(d.holds for d in decided) and lower), why)


# ---------------------------------------------------------------- Figure 1


@WU_STUDY.claim(
    "AC-score has the lowest evaluation everywhere, below GM, AUROC and BA",
    paper="stated of Figure 1a",
    place="section 2.1",
)
def _lowest(_: DigitTrials) -> Finding:
    decided = [harsher("ac_score", "g_mean"), harsher("g_mean", "balanced_accuracy")]
    ours = "; ".join(f"{d.metric} is {d.property}: {d.verdict}" for d in decided)
    example = published("wu")["above_auroc"]
    y, scores = np.array(example["y_true"]), np.array(example["y_score"])
    flagged = (scores >= example["threshold"]).astype(int)
    ac = float(get_metric("ac_score")(y, flagged))
    auroc = float(get_metric("roc_auc")(y, scores))
    why = (
        "Never above is proved for all tables; where TPR = TNR all three are equal, so it is lowest or equal. And of "
        "AUROC it is true only of one threshold, where that is BA: the area under the whole curve may be below. Ten "
        f"rows with labels {' '.join(map(str, y))} from the highest score, the first {flagged.sum()} flagged, have an "
        f"AC-score of {ac:.2f} and an AUROC of {auroc:.2f}; a curve through a point holds TPR times TNR at least."
    )
    partly = all(decision.holds for decision in decided)
    return Finding(
        f"{ours}; AC {ac:.2f} above an AUROC of {auroc:.2f} on ten rows",
        _NO_SEED,
        judged(holds=False, partly=partly),
        why,
    )


@WU_STUDY.claim("When TPR or TNR gets zero, AC-score converges to GM", place="section 2.1, below Figure 1")
def _converges(_: DigitTrials) -> Finding:
    """The difference of AC-score and GM goes to 0 with either rate, but their ratio does as well."""
    rates = np.array([0.1, 0.01, 0.001])
    ac, gm = _at("ac_score", rates, 1.0), _at("g_mean", rates, 1.0)
    ours = "; ".join(f"TPR {r:g}, TNR 1: AC {a:.3f}, GM {g:.3f}" for r, a, g in zip(rates, ac, gm, strict=True))
    near = bool((np.diff(gm - ac) < 0).all())
    why = (
        f"Their difference goes to 0, since both do; but AC falls faster, to {ac[-1] / gm[-1]:.2f} of GM where a rate "
        f"is {rates[-1]:g}: in proportion they part."
    )
    return Finding(ours, _NO_SEED, judged(holds=False, partly=near), why)
