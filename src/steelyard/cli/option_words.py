"""Option words: sentences of the library, which name arguments of Python, with the shell's options in their place."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from steelyard.analysis.results.result import Result

    Shown = TypeVar("Shown", bound=Result[Any])

_SAID = ("summary", "notes", "remarks", "assumed")  # fields of results that hold sentences
_ENDS = r"(?=[ ,.;:)]|$)"
_WORDS = {
    r"\blist_metrics\(\) lists": "`steelyard metrics` lists",
    r"\bbest_threshold finds": "steelyard threshold finds",
    r"`interval` gives the confidence interval of one": "`steelyard report` gives the confidence interval of one",
    r"\bpos_label= \(--positive on the command line\)": "--positive",
    r"\bcost=True \(--cost\)": "--cost",
    r"^(margin|samplers)= is\b": r"--\1 is",
    r"^y holds\b": "The target holds",
    r"^repeats is a whole number": "--repeats is a whole number",
    rf"\bpos_label={_ENDS}": "--positive",
    r"\bpos_label=RARER\b": "--rarer-positive",
    r"\bpos_label=(?=\S)": "--positive ",
    r"^The columns of score= are (\d+), and those of true=": r"The columns of --scores are \1, and those of --true",
    r"^The columns of pred= are (\d+), and those of true=": r"The columns of --pred are \1, and those of --true",
    rf"\btrue={_ENDS}": "--true",
    rf"\b(?:y_)?score={_ENDS}": "--score",
    rf"\bpred={_ENDS}": "--pred",
    r"\bexact=True\b": "--exact",
    rf"\bscore_range={_ENDS}": "--score-range",
    rf"\bthreshold={_ENDS}": "--threshold",
    rf"\bmetrics={_ENDS}": "--metrics",
    rf"\bfrequency={_ENDS}": "--frequency",
    rf"\bfeatures={_ENDS}": "--features",
    r"\bmetric= and cost= both": "--metric and costs both",
    r"\bcost= is of scores": "--cost is of scores",
    r"^Costs by row and weights cannot": "Costs by row and --weight cannot",
    r"\(cost_fp is 1 where": "(--cost-fp is 1 where",
    r"\bleave out weight=": "leave out --weight",
    r"\bCount them too, with cost='(.*)'": r"Count them too, with `steelyard tally --cost \1`",
    r"\bconfidence=(?=\d|\.\d)": "--confidence ",
    rf"\bconfidence={_ENDS}": "--confidence",
    r"\bwhere='([^']*)'": r'--where "\1"',
    rf"\bwhere={_ENDS}": "--where",
    rf"\bcluster={_ENDS}": "--cluster",
    rf"\bkeys={_ENDS}": "--keys",
    rf"\bby={_ENDS}": "--by",
    r"\bgive its table as reference=": "name its report or tally with --reference",
    r"\bcost_between=\(0, 500\)": "--cost-between 0,500",
    rf"\bcost_between={_ENDS}": "--cost-between",
    rf"\bmature={_ENDS}": "--mature",
    rf"\bweight={_ENDS}": "--weight",
    r"\bbaseline=(?=\S)": "--baseline ",
    r"\ballow_worse=True\b": "--allow-worse",
    rf"\bmin_positives={_ENDS}": "--min-positives",
    rf"\bhierarchy={_ENDS}": "--hierarchy",
    rf"\bdesign={_ENDS}": "--design",
    r"^y_true holds\b": "The truth holds",
    r"\boccur in y_true\.": "occur in the truth.",
    r", or ask for average='macro', 'weighted', 'micro' or None\.": ".",
    r", or declare the labels(?: with labels=)?\.": ".",
    r"\btally\(labels=\[\.\.\.\]\)": "`steelyard tally --labels A,B`",
    rf"\blabels={_ENDS}": "--labels",
    r" give scores=True, or leave it out\.": " give --score, or leave it out.",
}


def of_shell(sentence: str) -> str:
    """The sentence with the options of the command line in it.

    >>> of_shell("y_true holds one class only, 1; name it with pos_label=.")
    'The truth holds one class only, 1; name it with --positive.'
    """
    for words, option in _WORDS.items():
        sentence = re.sub(words, option, sentence)
    return sentence


def with_shell_words(result: Shown) -> Shown:
    """The result with the options of the command line in the sentences that it carries."""
    said = [field.name for field in fields(result) if field.name in _SAID]  # type: ignore[arg-type]  # a dataclass
    changed = {
        name: type(sentences)(map(of_shell, sentences)) for name in said for sentences in [getattr(result, name)]
    }
    return replace(result, **changed)  # type: ignore[type-var]  # a dataclass
