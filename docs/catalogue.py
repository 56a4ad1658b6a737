"""Catalogue: a page for every metric, made from the registry, the audit and the peers; nothing is kept by hand."""

from __future__ import annotations

import re
from collections import defaultdict
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any

import decided
import numpy as np
from contours import PREVALENCES
from label_sets import LABEL_SETS
from latex2mathml.converter import convert
from peers import REMARKS, called, differences, peers, scikit_learn, undefined

from steelyard import Counts, chance, list_metrics, score_table
from steelyard.evaluation.explanation import number_text, range_text
from steelyard.metrics import notation, references
from steelyard.metrics.expression import Named
from steelyard.metrics.expression_walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.metrics.measure import Metric

FAMILIES = {
    "rates": "one class, one direction",
    "overall": "all rows alike",
    "description": "no value of them is best",
    "F": "precision and recall of one class",
    "balanced": "the two recalls alike",
    "agreement": "truth and prediction as two raters",
    "corrected": "Nguyen's unbalanced factor",
    "skewed": "balanced metrics that lean to one class",
    "diagnostic": "odds",
    "decision": "what the errors cost",
    "ranking": "scores as an order",
    "calibration": "scores as probabilities",
    "label sets": "rows that may have several labels each",
}
FINLEY = Counts(tp=28, fn=23, fp=72, tn=2680)
ROWS = 1_000
LONG = 400  # signs of LaTeX beyond which a formula is shown as text alone


def families() -> dict[str, list[Metric]]:
    """The metrics by family, in the order of the registry."""
    members: dict[str, list[Metric]] = defaultdict(list)
    for metric in list_metrics():
        members[metric.family].append(metric)
    return dict(members)


def index() -> str:
    """The page that leads to all of them."""
    lines = [
        "# The catalogue",
        "",
        f"{len(list_metrics())} metrics, each declared once. A page shows the formula, its other names, its proven properties, where it "
        "is undefined, what other libraries call it and where it comes from. The same facts are printed by "
        "`steelyard metrics` and `steelyard explain NAME`; this section is written from them.",
    ]
    for family, metrics in families().items():
        lines += [
            "",
            f"## {family}: {FAMILIES.get(family, '')}",
            "",
            "| metric | range | best | meaning |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| [{m.title}]({m.name}.md) | {range_text(m.range)} | {number_text(m.best)} | {decided.cell(m.meaning)} |"
            for m in metrics
        ]
    return "\n".join(lines) + "\n"


def page(metric: Metric, plotted: bool) -> str:
    """The page of one metric."""
    sections = [
        f"# {metric.title}\n\n{_names(metric)}\n\n{metric.meaning}",
        _section("Formula", _formula(metric)),
        _section("How it behaves", _picture(metric) if plotted else ""),
        _section("Range and no-skill baseline", _chance(metric)),
        _section("When it is undefined", _undefined(metric)),
        _section("Proven properties", decided.properties(metric)),
        _section("How it relates to others", decided.related(metric)),
        _section("In other libraries", _peers(metric)),
        _section("Source", _source(metric)),
        _section("Try it", _example(metric)),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _names(metric: Metric) -> str:
    """What it is called here and elsewhere, and its family."""
    also = f" · also called {', '.join(f'`{alias}`' for alias in metric.aliases)}" if metric.aliases else ""
    theirs = f" · scikit-learn: `{called(*call)}`" if (call := scikit_learn(metric)) else ""
    return f"`steelyard.{metric.name}`{also}{theirs} · {metric.family}"


def _section(title: str, body: str) -> str:
    return f"## {title}\n\n{body}" if body else ""


# ---------------------------------------------------------------- formula


def _formula(metric: Metric) -> str:
    return "\n\n".join([*_written(metric), *_named(metric)])


def _written(metric: Metric) -> Iterator[str]:
    if metric.is_of_label_sets:
        yield f"It is {metric.text}; the labels of a row may be several, or none."
        return
    if metric.general is None:
        yield "It is computed from the scores of each class by an algorithm; no formula of the four counts gives it."
        return
    if len(metric.latex) <= LONG:
        yield _mathml(metric.name, metric.latex)
    yield "```text\n" + "\n".join(_lines(metric)) + "\n```"
    yield f'??? note "As LaTeX"\n\n    ```latex\n    {metric.latex}\n    ```'


def _named(metric: Metric) -> Iterator[str]:
    """Its parameters."""
    if metric.parameters and not metric.is_fixed:
        values = ", ".join(f"`{key}` = {_parameter(value)}" for key, value in metric.parameters.items())
        yield f"Parameters: {values}. Other values are written `{_other(metric)}`."


def _mathml(name: str, latex: str) -> str:
    drawn = convert(rf"\mathrm{{{name.replace('_', chr(92) + '_')}}} = {latex}", display="block")
    return f'<div class="formula" tabindex="0" role="group" aria-label="The formula">{drawn}</div>'


def _lines(metric: Metric) -> Iterator[str]:
    """The formula, and below it those of the metrics it names, each once."""
    yield f"{metric.name} = {metric.text}"
    named = {node.name.split("[")[0]: node for node in walk(metric.general) if isinstance(node, Named)}
    yield from (f"where {name} = {notation.text(node.general)}" for name, node in named.items())


def _parameter(value: Any) -> str:
    return "from the table" if value is None else str(getattr(value, "name", value))


def _other(metric: Metric) -> str:
    return f"{metric.name}[{next(iter(metric.parameters))}=...]"


# ---------------------------------------------------------------- picture


def _picture(metric: Metric) -> str:
    sentence = (
        "The same at both: it does not depend on the prevalence."
        if decided.proved(metric, "prevalence_invariance")
        else (
            "The lines move with the prevalence: the same classifier gets another value on another mix of classes."
            if decided.refuted(metric, "prevalence_invariance")
            else ""
        )
    )
    where = "Lines of equal value over recall and specificity, where half and where a tenth of the rows are positive."
    return f"![{metric.title} over recall and specificity at two prevalences]({metric.name}.svg){{ .plot }}\n\n{where} {sentence}".strip()


# ---------------------------------------------------------------- numbers


def _chance(metric: Metric) -> str:
    best = (
        f"best {number_text(metric.best)}"
        if metric.best is not None
        else (f"{metric.direction} is better" if metric.direction else "a description: no value is best")
    )
    if metric.is_of_label_sets:
        return f"Range {range_text(metric.range)}; {best}.\n\n{LABEL_SETS[metric.name].baseline}"
    lines = [f"Range {range_text(metric.range)}; {best}.", "", "No-skill baseline:", ""]
    if metric.function is None:
        lines += ["| positives | one constant score |", "|---|---|"]
        lines += [f"| {100 * share:g} % | {_shown(_score_chance(metric, share))} |" for share in PREVALENCES]
        return "\n".join(lines)
    lines += ["| positives | always the majority | always the minority | a fair coin |", "|---|---|---|---|"]
    for share in PREVALENCES:
        levels = chance(metric, _coin(share))
        shown = [levels.majority, levels.minority, levels.coin] if share != 0.5 else ["–", "–", levels.coin]
        lines.append(f"| {100 * share:g} % | " + " | ".join(map(_shown, shown)) + " |")
    return "\n".join(lines)


def _coin(share: float) -> Counts:
    half = int(ROWS * share / 2)
    return Counts(tp=half, fn=half, fp=ROWS // 2 - half, tn=ROWS // 2 - half)


def _score_chance(metric: Metric, share: float) -> float:
    positives = int(ROWS * share)
    truth = np.repeat([1, 0], [positives, ROWS - positives])
    return float(chance(metric, score_table(truth, np.linspace(0, 1, ROWS))).value)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "undefined" if isnan(value) else "∞" if value == inf else f"{value:.3g}"


def _undefined(metric: Metric) -> str:
    if metric.is_of_label_sets:
        return LABEL_SETS[metric.name].undefined
    if metric.general is None:
        return _undefined_scores(metric)
    lines = [
        f"- {_where(why)}: {'NaN' if value == 'undefined' else f'{value}, the limit'}" for why, value in metric.guards
    ]
    return "\n".join(lines) or "Never."


def _undefined_scores(metric: Metric) -> str:
    cases = {"only negatives": [0, 0, 0], "only positives": [1, 1, 1]}
    reasons = {
        words: metric.why(score_table(y, [0.2, 0.5, 0.9], labels=[0, 1], pos_label=1)) for words, y in cases.items()
    }
    lines = [f'- On {words}: NaN, "{why}"' for words, why in reasons.items() if why]
    return "\n".join(lines) or "Neither on positives alone nor on negatives alone; without a row."


def _where(why: str) -> str:
    return f"Where there are {why}" if why.startswith("no ") else f"Where {why}"


# ---------------------------------------------------------------- peers, example


def _peers(metric: Metric) -> str:
    counterparts, remark = peers(metric), REMARKS.get(metric.name)
    if not counterparts:
        return (
            remark
            or "scikit-learn, imbalanced-learn, torchmetrics, yardstick and PyCM have no function of this metric that we "
            "know of."
        )
    lines = ["| library | name |", "|---|---|", *(f"| {peer.library} | `{peer.name}` |" for peer in counterparts)]
    differ = list(dict.fromkeys(f"{peer.library}: {peer.differs}." for peer in counterparts if peer.differs))
    differ += differences(metric)
    differ += [*undefined(metric), *([remark] if remark else [])]
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in differ)])


def _example(metric: Metric) -> str:
    if metric.function is not None:
        value = float(metric(FINLEY))
        text = f"{value:.3g}" if isfinite(value) else _shown(value)
        code = f'>>> import steelyard\n>>> finley = steelyard.Counts(tp=28, fn=23, fp=72, tn=2680)  # tornado forecasts, 1884\n>>> print(f"{{steelyard.{metric.name}(finley):.3g}}")\n{text}'
        return f"```python\n{code}\n```"
    truth: Any = [0, 0, 1, 0, 1]
    scores: Any = [0.1, 0.3, 0.4, 0.6, 0.9]
    if metric.is_of_label_sets:
        truth, scores = (
            [[0, 1, 0], [1, 1, 0]],
            [[0.2, 0.7, 0.4], [0.9, 0.1, 0.6]] if metric.takes_scores else [[0, 1, 1], [1, 1, 0]],
        )
        return _called(metric, truth, scores, LABEL_SETS[metric.name].options)
    return _called(metric, truth, scores, {"k": 2} if metric.name == "precision_at_k" else {})


def _called(metric: Metric, truth: Any, scores: Any, options: dict[str, Any]) -> str:
    value = metric(truth, scores, **options)
    given = "".join(f", {key}={number}" for key, number in options.items())
    code = f'>>> import steelyard\n>>> print(f"{{steelyard.{metric.name}({truth}, {scores}{given}):.3g}}")\n{float(value):.3g}'
    return f"```python\n{code}\n```"


def _source(metric: Metric) -> str:
    return re.sub(r"doi:(\S+)", r"[doi:\1](https://doi.org/\1)", references.reference(metric.cite or ""))
