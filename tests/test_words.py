"""The words: what users read is in the field's language; none of the phrases listed here occurs in it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from command_line import COMMANDS, run_command

import steelyard
from steelyard import list_metrics

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "steelyard"
(REFERENCES,) = SOURCE.rglob("references.bib")
TITLES = re.findall(r"title = \{(.*?)\},? [a-z]+ = \{", REFERENCES.read_text(encoding="utf-8"))
assert len(TITLES) > 50
PHRASES = {  # what is not written, and what is written in its place
    r"weigh(s|ed|ing)?\b": "count; weight as a verb",
    r"classes are unequal\b|unequal classes\b": "imbalanced data",
    r"measures?\b": "metric",
    r"cuts?\b": "threshold",
    r"guess(es|ed|ing)?\b": "no-skill baseline, random predictor",
    r"how sure\b|either way\b|as sure as\b": "confidence interval; known to ± so many points",
    r"left alone\b|flagged in error\b|spared\b": "true negatives, false positives",
    r"of what it flags\b|flags that are right\b": "precision",
    r"(?<!random )positive outranks a negative\b": "ROC AUC",
    r"weak side\b": "recall is far below specificity",
    r"cannot tell\b|classifier from none\b": "no better than",
    r"both classes alike\b|classes alike:": "giving both classes equal weight",
    r"belongs? together\b": "clustered, grouped",
    r"rows' importance\b|weights? of importance\b|importance of a row\b": "sample weight",
    r"rows (a row|it|each row) stands for\b": "frequency weight",
    r"prevalence in use\b|shares? of the use\b|positives are rarer\b": "deployment prevalence",
    r"half.credit\b|(gives|given|giving|gave) (one class |a class )?up\b": "a class with zero recall",
    r"is decided about\b|what decided\b|properties that decided\b": "proven properties",
    r"(one|a) (value|row|number|line|label|panel|interval) an? (row|table|metric|model|class|threshold)\b": "per",
    r"tells?\b|told\b|said\b": "shows, reports, states",
    r"surprise at\b": "negative log-likelihood",
    r"doors?\b": "other ways in, see also",
    r"chance levels?\b|beside chance\b|chance lines?\b|, chance \d": "no-skill baseline",
}
PATTERN = re.compile("|".join(rf"(?<![\w.\-/`=])(?:{phrase})(?![=`(])" for phrase in PHRASES), re.IGNORECASE)
EXCEPTIONS = {  # what may keep such a word, and why
    "measure the peak memory": "a verb",
    "would tell": "of rows that show a difference",
    "measures the peak memory": "a verb",
    "how to measure a classifier": "a verb, and Kalita's subject",
    "The four things to measure": "a verb, and Kalita's subject",
    "a way to choose, not to measure": "a verb",
    **dict.fromkeys(TITLES, "the title of a work that is cited"),
}


def phrases(text):
    """Each phrase of the list in a text, with what stands around it, unless an exception names it."""
    text = re.sub(r"\s+", " ", text)
    for excepted in EXCEPTIONS:
        text = text.replace(excepted, "")
    return [text[max(0, hit.start() - 60) : hit.end() + 40] for hit in PATTERN.finditer(text)]


def assert_plain(texts):
    found = [f"{place}: {phrase}" for place, text in texts.items() for phrase in phrases(text)]
    assert not found, "\n".join(found)


# ---------------------------------------------------------------- what is written


def _unreleased():
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("## Unreleased")[2].partition("\n## ")[0]


def test_the_documentation_is_in_the_fields_words():
    pages = [ROOT / "README.md", ROOT / "CITATION.cff", ROOT / "mkdocs.yml", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in pages}
    assert_plain(texts | {"CHANGELOG.md": _unreleased()})


def _written(path):
    """The sentences in a module: every string that is more than a name, docstrings and parts of f-strings too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (" " in node.value or id(node) in parts):
            yield f"{path.relative_to(ROOT)}:{node.lineno}", re.sub(r"\s*\n\s*", " ", node.value)


@pytest.mark.parametrize("floor", sorted({path.parent for path in SOURCE.rglob("*.py")}), ids=lambda floor: floor.name)
def test_docstrings_errors_and_texts_are_in_the_fields_words(floor):
    assert_plain({place: text for path in sorted(floor.glob("*.py")) for place, text in _written(path)})


def test_the_templates_are_in_the_fields_words():
    templates = sorted((SOURCE / "report" / "pages" / "templates").iterdir())
    assert_plain({path.name: path.read_text(encoding="utf-8") for path in templates})


def test_the_generated_pages_are_in_the_fields_words():
    pytest.importorskip("latex2mathml", reason="the documentation's tools are not installed: pip install '.[docs]'")
    sys.path.append(str(ROOT / "docs"))
    import catalogue
    import decided
    import reference

    texts = {metric.name: catalogue.page(metric, plotted=False) for metric in list_metrics()}
    texts |= {floor: reference.page(floor) for floor in reference.floors()}
    assert_plain(texts | {"index": catalogue.index(), "asked": decided.asked(), "commands": reference.commands()})


# ---------------------------------------------------------------- what is printed


def printed(*words):
    return run_command(*words).output


def test_the_help_is_in_the_fields_words():
    words = [sys.executable, "-m", "steelyard", "--help"]
    overview = subprocess.run(words, capture_output=True, text=True, check=True)
    assert all(name in overview.stdout for name in COMMANDS)
    assert_plain({"steelyard": overview.stdout} | {name: printed(name, "--help") for name in COMMANDS})


def test_the_explanations_are_in_the_fields_words():
    assert_plain({metric.name: printed("explain", metric.name) for metric in list_metrics()})


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What the demo prints, and the predictions that it writes."""
    folder = tmp_path_factory.mktemp("words") / "demo"
    return printed("demo", "-o", folder), folder / "predictions.parquet"


ROWS = ("--true", "y_true", "--score", "logistic")
CALLS = {
    "the report": ("report", *ROWS, "--all"),
    "the page": ("report", *ROWS, "--format", "html"),
    "a report of four counts": ("report", "--counts", "28,23,72,2680"),
    "a comparison": ("compare", "--true", "y_true", "--score", "logistic", "--score", "nearest_mean"),
    "a threshold": ("threshold", *ROWS, "--where", "specificity>=0.9"),
    "a shift": ("shift", *ROWS, "--prevalence", "0.01"),
    "the advice": ("recommend",),
    "the audit": ("audit", "mcc"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_a_command_prints_is_in_the_fields_words(call, demo):
    file = [] if "--counts" in call or "--true" not in call else [demo[1]]
    assert_plain({call[0]: printed(call[0], *file, *call[1:])})


def test_the_demo_is_in_the_fields_words(demo):
    assert_plain({"demo": demo[0]})


# ---------------------------------------------------------------- the glossary


def _glossary():
    pytest.importorskip("latex2mathml", reason="the documentation's tools are not installed: pip install '.[docs]'")
    sys.path.append(str(ROOT / "docs"))
    import tables

    return tables.filled((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))


def test_the_glossary_has_every_metric_with_its_names():
    page = _glossary()
    for metric in list_metrics():
        row = next(line for line in page.splitlines() if line.startswith(f"| {metric.title} | {metric.meaning} |"))
        assert f"[`{metric.name}`](catalogue/{metric.name}.md)" in row
        assert all(alias.replace("_", " ") in row for alias in metric.aliases)
        assert metric.sklearn is None or f"`{metric.sklearn}" in row


def test_the_glossary_has_every_word_of_a_result():
    finley = steelyard.Counts(tp=28, fn=23, fp=72, tn=2680)
    pair = steelyard.compare([0, 0, 1, 1, 1], {"A": [0, 1, 1, 1, 0], "B": [0, 0, 1, 1, 1]}, metrics=["recall"])
    best = steelyard.best_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], "f1", draws=0)
    results = [steelyard.chance("f1", finley), steelyard.beats_chance(finley), steelyard.interval("f1", finley)]
    words = {field.name for result in (*results, best, pair.rows[0]) for field in fields(result)}
    words |= set(steelyard.evaluate(finley).to_dict()["metrics"][0])
    missing = {word for word in words - {"a", "b", "name", "bin_error"} if f"`{word}`" not in _glossary()}
    assert not missing


def test_a_phrase_is_noticed_and_an_exception_is_not():
    assert phrases("All is well.\nJump to the best\ncut.") == ["All is well. Jump to the best cut."]
    assert phrases("positive outranks a\nnegative") == ["positive outranks a negative"]
    assert not phrases("It measures the peak memory; `cut_` was its name; a random positive outranks a negative.")
