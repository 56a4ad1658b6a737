"""The layers: which may import which, and what a plain import may cost."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from checks import public_names, public_thing

import steelyard
from steelyard.exceptions import needs_sklearn

SOURCE = Path(steelyard.__file__).parent
LAYERS = (
    "_names", "_types", "exceptions", "written_files", "arguments", "arrays", "tables", "frames", "files", "predictions", "counting", "metrics", "analysis", "auditing", "evaluation", "gates", "estimators", "protocol",
    "datasets", "ledger", "report", "interop", "sklearn", "mlflow", "studies", "figures", "results", "cli",
)  # fmt: skip
# The packages of the analysis, each with what it may import before it.
PACKAGES = (
    "levels",
    "distributions",
    "holm",
    "requirements",
    "results",
    "prevalence",
    "intervals",
    "sequential",
    "chance",
    "confusions",
    "planning",
    "comparison",
    "calibration",
    "thresholds",
    "decisions",
    "monitoring",
    "slices",
    "loading",
)
HEAVY = ("pandas", "sklearn", "scipy", "matplotlib", "polars", "sympy", "pyarrow", "rich", "click", "numpy", "jinja2")


def imports(path):
    """The steelyard modules that a file imports at any place in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module == "steelyard":
            names = [f"steelyard.{alias.name}" for alias in node.names]
        yield from (name for name in names if name.split(".")[0] == "steelyard")


FILES = sorted(SOURCE.rglob("*.py"))
# Where a module of the package is found by a string: the lazy public names, and what shows a result.
LAZY = ("__init__.py", "_names.py", "analysis/results/result_homes.py", "report/figures/figure_kinds.py")


def string_imports(path):
    """The steelyard modules that a file writes as a string, where it imports by strings."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    if {"import_module", "__import__"} & {getattr(node, "id", getattr(node, "attr", None)) for node in nodes}:
        words = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
        yield from (word for word in words if word.startswith("steelyard."))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_layer_imports_only_the_layers_above_it(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    if parts in (("__init__",), ("__main__",)):  # the names, and the command line under `python -m`
        return
    assert parts[0] in LAYERS, f"{parts[0]} has no layer"
    lazy = [] if path.relative_to(SOURCE).as_posix() in LAZY else string_imports(path)
    for name in [*imports(path), *lazy]:
        layer = [*name.split("."), ""][1]
        allowed = LAYERS[: LAYERS.index(parts[0]) + 1]
        assert layer in allowed, f"{path.name} imports {name}, which lies below it"


def test_every_layer_and_package_that_is_named_here_exists():
    for folder, named in ((SOURCE, LAYERS), (SOURCE / "analysis", PACKAGES)):
        there = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
        assert there - {"__init__", "__main__"} == set(named)
    assert all((SOURCE / path).is_file() for path in LAZY)


def test_a_package_of_the_analysis_imports_only_those_before_it():
    for path in sorted((SOURCE / "analysis").rglob("*.py")):
        package = path.relative_to(SOURCE / "analysis").with_suffix("").parts[0]
        if package == "__init__" or path.name == "result_homes.py":
            continue
        for name in at_run_time(path):
            if name.startswith("steelyard.analysis."):
                other = name.split(".")[2]
                assert PACKAGES.index(other) <= PACKAGES.index(package), (
                    f"{path.name} imports {name}, which comes after it"
                )


def at_run_time(path):
    """What a file imports, but for what type checkers alone read."""
    tree = ast.parse(path.read_text())
    typed = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    skipped = {id(inner) for node in typed for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in skipped:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(code):
    script = f"import sys\n{code}\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ran.stdout.splitlines()[-1].split())


def loaded(code):
    return {name.split(".")[0] for name in modules(code)}


@pytest.mark.parametrize(
    "code",
    [
        "import steelyard",
        "from steelyard.cli import main; main(['--help'])",
        "from steelyard.cli import main; main(['--version'])",
    ],
)
def test_import_help_and_version_load_nothing_heavy(code):
    assert not loaded(code) & set(HEAVY)


def test_using_a_metric_loads_numpy_alone():
    assert loaded("import steelyard; steelyard.mcc(steelyard.Counts(1, 2, 3, 4))") & set(HEAVY) == {"numpy"}


def test_printing_an_evaluation_loads_nothing_that_pages_tables_or_figures_need():
    code = "import steelyard; repr(steelyard.evaluate(steelyard.Counts(28, 23, 72, 2680)))"
    assert not loaded(code) & {"jinja2", "rich", "matplotlib", "click"}


@pytest.mark.parametrize(
    "code",
    [
        "print(steelyard.evaluate([0, 0, 1, 1] * 9, y_score=[0.1, 0.4, 0.35, 0.8] * 9))",
        "steelyard.compare([0, 0, 1, 1] * 9, {'a': [0.1, 0.4, 0.35, 0.8] * 9, 'b': [0.2, 0.1, 0.6, 0.3] * 9})",
    ],
    ids=["evaluate", "compare"],
)
def test_reports_and_comparisons_do_without_the_second_that_scipy_stats_takes_to_import(code):
    names = modules(f"import steelyard\n{code}")
    assert "scipy.special" in names
    assert "scipy.stats" not in names


def test_a_report_of_labels_in_a_file_loads_nothing_that_other_questions_need(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("y_true,y_pred\n" + "0,0\n1,1\n0,1\n1,0\n" * 9)
    code = f"import atexit; from steelyard.cli import main; atexit.register(lambda: print(*sys.modules)); main(['report', {str(file)!r}])"
    names = modules(code.replace("import atexit", "import atexit, sys"))
    assert {"polars", "scipy.special", "steelyard.evaluation.evaluate"} <= names
    others = {"scipy.stats", "scipy.sparse", "rich", "jinja2", "matplotlib", "pandas", "pyarrow", "sympy"}
    ours = ("evaluation.evaluate_label_sets", "analysis.planning.label_plan", "report.csv_text")
    assert all(find_spec(f"steelyard.{name}") for name in ours)
    assert not names & {*others, *(f"steelyard.{name}" for name in ours)}


PUBLIC = [name for name in public_names() if not name.startswith("results.")]  # which are for annotations


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented_with_an_example_that_runs(name):
    thing = public_thing(name)
    (test,) = doctest.DocTestFinder(recurse=False).find(thing, name)
    assert test.examples, f"{name} has no example"
    # pytest runs the examples of a module: those of its own, so the name must live where it is said to.
    assert thing.__module__ == f"steelyard.{public_names()[name]}"


def words(path):
    """The names that a test file uses, as names or as attributes."""
    for node in ast.walk(ast.parse(path.read_text())):
        yield from [node.id] if isinstance(node, ast.Name) else [node.attr] if isinstance(node, ast.Attribute) else []


@cache
def used_in_tests():
    return {word for path in Path(__file__).parent.glob("test_*.py") for word in words(path)}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_used_by_a_test(name):
    assert name.rpartition(".")[2] in used_in_tests()


def test_every_module_says_what_it_is_in_its_first_line():
    for path in FILES:
        assert ast.get_docstring(ast.parse(path.read_text())), path


PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]


def test_the_lowest_scikit_learn_is_named_as_pyproject_asks_for_it(monkeypatch):
    (floor,) = PROJECT["optional-dependencies"]["sklearn"]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: [f'{floor}; extra == "sklearn"'])
    assert f"needs {floor.replace('>=', ' ')} or later" in str(needs_sklearn("It"))


def test_the_lowest_versions_stand_on_the_page_that_installs_as_pyproject_asks_for_them():
    page = (Path(__file__).parent.parent / "docs" / "start.md").read_text(encoding="utf-8")
    install = page.partition("## Install")[2].partition("## ")[0]
    named = dict(re.findall(r"([\w-]{3,})\s(\d+\.\d+)(?=,| and| or| to)", install))
    extras = PROJECT["optional-dependencies"]
    asked = [*PROJECT["dependencies"], *extras["sklearn"], *extras["figures"], *extras["checks"]]
    floors = dict(re.findall(r"^([\w-]+)>=([\d.]+)", line)[0] for line in asked if ">=" in line and "[" not in line)
    assert named == {name: floors[name] for name in named if name != "Python"} | {"Python": "3.11"}
    assert PROJECT["requires-python"] == ">=3.11" and len(named) == 9


def test_no_module_says_who_uses_it():
    """Who may use a module is for the test of layers; a sentence on it is wrong after the next change."""
    for path in FILES:
        first = ast.get_docstring(ast.parse(path.read_text())) or ""
        assert not re.search(r"Used by|may use it|[Ee]very layer|layers below", first), path


def test_the_version_is_the_same_wherever_it_stands():
    root = Path(__file__).parent.parent
    newest = re.search(r"^## (\S+), (\S+)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    cited = dict(re.findall(r"^(version|date-released): (\S+)$", (root / "CITATION.cff").read_text(), re.MULTILINE))
    assert newest is not None
    assert (newest[1], newest[2]) == (steelyard.__version__, cited["date-released"])
    assert cited["version"] == steelyard.__version__
