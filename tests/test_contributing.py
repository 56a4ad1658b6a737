"""CONTRIBUTING.md: its recipes name files that are there, and the metric of its recipe is added by following it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_layers import LAYERS

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "steelyard"
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = {
    part.partition("\n")[0]: part
    for part in re.split(r"^### ", TEXT.partition("\n## Habits")[0], flags=re.MULTILINE)[1:]
}
STEPS = [
    (recipe, step) for recipe, text in RECIPES.items() for step in re.findall(r"^- (.+(?:\n  .+)*)", text, re.MULTILINE)
]


def paths(step):
    return re.findall(r"`((?:\w+/)*[\w.]+\.(?:pyi?|md|bib|json|j2|html|css|js|toml))`", step)


def place(path):
    return next((home / path for home in (ROOT, SOURCE) if (home / path).exists()), None)


def test_there_is_a_recipe_for_each_thing_that_grows():
    assert list(RECIPES) == [
        "A metric",
        "An interval method",
        "A section of the page",
        "A command",
        "An engine",
        "A study",
    ]


def test_the_layers_are_those_that_the_test_of_imports_holds():
    listed = re.findall(r"^    (\w+)  +\S", TEXT.partition("## The layers")[2], re.MULTILINE)
    assert tuple(listed) == LAYERS


@pytest.mark.parametrize(("recipe", "step"), STEPS, ids=[f"{recipe}: {paths(step)[0]}" for recipe, step in STEPS])
def test_a_step_names_a_file_that_holds_what_is_named_beside_it(recipe, step):
    first = paths(step)[0]
    for path in paths(step):
        assert place(path) if "NAME" not in path else place(Path(path).parent), f"{recipe}: there is no {path}"
    if "NAME" not in first:
        text = place(first).read_text(encoding="utf-8")
        words = [word.lstrip("@") for word in re.findall(r"`(@?[A-Za-z_]\w+)`", step)]
        assert not [word for word in words if word not in text and word not in LAYERS], f"{recipe}: {first}"


def test_every_make_target_that_is_named_is_one():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {name for name in re.findall(r"\bmake ([a-z-]+)", TEXT)} <= set(targets)


# ---------------------------------------------------------------- the metric of the recipe, added and taken away again


DECLARATION, DEFINITION = re.findall(r"```python\n(.+?)```", RECIPES["A metric"], re.DOTALL)
NAME = re.search(r"def (\w+)", DECLARATION)[1]
MEANING = re.search(r'"""(.+)"""', DECLARATION)[1]
SHOWN = """
import json, sys
import steelyard

sys.path.insert(0, "tests")
from command_line import run_command

name = sys.argv[1]

def shell(*words):
    return run_command(*words, code=0).output

finley = steelyard.Counts(tp=28, fn=23, fp=72, tn=2680)
rows = json.loads(shell("report", "--counts", "28,23,72,2680", "--format", "json"))["metrics"]
print(json.dumps({
    "listed": [metric.name for metric in steelyard.list_metrics()],
    "public": getattr(steelyard, name)(finley),
    "metrics": shell("metrics", "--format", "json"),
    "explain": shell("explain", name),
    "report": {row["name"]: row for row in rows},
    "page": f'data-metric="{name}"' in steelyard.evaluate(finley).to_html(),
    "scorer": repr(steelyard.scorer(name)),
    "audit": shell("audit", name, "--format", "json"),
}))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The package and its laws in a temporary folder, the recipe followed."""
    folder = tmp_path_factory.mktemp("recipe")
    shutil.copytree(SOURCE, folder / "src" / "steelyard", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests").mkdir()
    for name in ("test_laws.py", "checks.py", "command_line.py", "oracle.py"):
        shutil.copy(ROOT / "tests" / name, folder / "tests")
    catalogue, oracle = folder / "src" / "steelyard" / "metrics" / "catalogue.py", folder / "tests" / "oracle.py"
    catalogue.write_text(f"{catalogue.read_text(encoding='utf-8')}\n\n{DECLARATION}", encoding="utf-8")
    before, opening, after = oracle.read_text(encoding="utf-8").partition("ORACLE = {\n")
    assert opening
    oracle.write_text(f"{before}{opening}    {DEFINITION}{after}", encoding="utf-8")
    return folder


def ran(copy, *words):
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "XDG_CACHE_HOME": str(copy / "cache")}
    words = [sys.executable, *words]
    return subprocess.run(words, cwd=copy, capture_output=True, text=True, check=False, env=environment)


def test_the_metric_of_the_recipe_appears_everywhere_with_no_other_edit(copy):
    pytest.importorskip("sklearn")
    result = ran(copy, "-c", SHOWN, NAME)
    assert result.returncode == 0, result.stderr
    shown = json.loads(result.stdout)
    row = shown["report"][NAME]
    assert NAME in shown["listed"] and NAME in shown["metrics"] and NAME in shown["scorer"] and shown["page"]
    assert MEANING in shown["explain"]
    assert row["value"] == shown["public"] == pytest.approx(0.72)
    assert row["low"] < row["value"] < row["high"]
    assert {decision["metric"] for decision in json.loads(shown["audit"])} == {NAME}


def test_the_metric_of_the_recipe_keeps_every_law(copy):
    result = ran(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_laws.py", "-k", f"{NAME} or oracle")
    assert result.returncode == 0, result.stdout
    assert int(re.search(r"(\d+) passed", result.stdout)[1]) > 10


def test_the_metric_of_the_recipe_is_no_part_of_the_package():
    assert NAME not in (SOURCE / "metrics" / "catalogue.py").read_text(encoding="utf-8")
