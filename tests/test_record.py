"""The record of what the program gives: texts exactly, numbers to nine digits.

Where something was meant to move, `make record` writes it anew, and the diff of `tests/record` is read before it is kept.
"""

from __future__ import annotations

import ast
import inspect
import re
from itertools import islice
from pathlib import Path

import pytest
from checks import public_names, public_thing

import steelyard
import steelyard.sklearn

pytest.importorskip("pandas")
from recorded import record, values

HERE = Path(__file__).parent
WRITTEN, INSTALLED = record.read("versions"), record.versions()
OTHERS = [f"{name} {INSTALLED[name]}, not {WRITTEN[name]}" for name in WRITTEN if INSTALLED[name] != WRITTEN[name]]
MOST_BYTES, LEAST_CALLS = 2_100_000, 400


@pytest.mark.skipif(bool(OTHERS), reason=f"the record is of other versions: {'; '.join(OTHERS)}")
@pytest.mark.parametrize("question", record.QUESTIONS)
def test_nothing_has_moved(question):
    before = record.read(question)
    found = list(islice(values.differences(before, record.now(question)), 10))
    lines = [f"{place}\n    recorded {short(old)}\n    now      {short(new)}" for place, old, new in found]
    if lines:
        pytest.fail(f"{question}.json, the first {len(lines)} differences:\n" + "\n".join(lines), pytrace=False)


def short(value):
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]} ... ({len(text)} letters)"


def test_the_record_has_a_file_for_each_question_and_is_small():
    files = {path.stem for path in record.FOLDER.glob("*.json")}
    assert files == {*record.QUESTIONS, "versions"}
    assert sum(path.stat().st_size for path in record.FOLDER.glob("*.json")) <= MOST_BYTES
    calls = [question for question, calls in record.QUESTIONS.items() if not question.startswith(("cli-", "page-"))]
    assert sum(len(record.QUESTIONS[question]) for question in calls) >= LEAST_CALLS


def names_called():
    """The names that the recorded calls use."""
    for path in [*(HERE / "recorded").glob("*.py"), HERE / "good_calls.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Name, ast.Attribute)):
                yield node.id if isinstance(node, ast.Name) else node.attr


def test_every_public_name_occurs_in_the_record():
    things = {name.rpartition(".")[2]: public_thing(name) for name in public_names() if "results." not in name}
    public, metrics = set(things), {metric.name for metric in steelyard.list_metrics()}
    classes = {name for name, thing in things.items() if inspect.isclass(thing)}
    text = "".join(record.path(question).read_text(encoding="utf-8") for question in record.QUESTIONS)
    assert metrics <= set(re.findall(r'"(\w+)": ', record.path("measures").read_text(encoding="utf-8")))
    assert not public - metrics - classes - set(names_called())
    assert not {name for name in classes if name not in text and name not in set(names_called())}
    assert set(steelyard.sklearn.__all__) <= {re.split(r"\W", name)[0] for name in record.read("sklearn")}


def test_every_command_is_recorded():
    listed = record.read("cli-report")["--help"]["stdout"]
    commands = re.findall(r"^  (\w+)  ", "\n".join(listed).partition("Commands:")[2], re.MULTILINE)
    assert commands and {f"cli-{name}" for name in commands} == {
        name for name in record.QUESTIONS if name.startswith("cli-")
    }
