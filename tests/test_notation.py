"""Formulas written as text, LaTeX and JavaScript, and the JavaScript run by node."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess

import numpy as np
import pytest
from checks import TABLES, close
from oracle import ORACLE

from steelyard import Counts, evaluate, get_metric, list_metrics
from steelyard.metrics import metric

NODE = shutil.which("node")
NAMES = [*ORACLE, "iba[alpha=0.1,of=mcc]"]


def test_text_reads_like_the_textbook():
    written = {name: get_metric(name).text for name in ("recall", "f_beta", "ac_score", "mcc", "iba", "net_benefit")}
    assert written == {
        "recall": "tp / (tp + fn)",
        "f_beta": "(1 + beta ** 2) * tp / ((1 + beta ** 2) * tp + beta ** 2 * fn + fp)",
        "ac_score": "2 * recall * specificity / (recall + specificity)",
        "mcc": "(tp * tn - fn * fp) / sqrt((tp + fn) * (fp + tn) * (tp + fp) * (fn + tn))",
        "iba": "(1 + alpha * dominance) * g_mean",
        "net_benefit": "(tp - fp * (threshold / (1 - threshold))) / (tp + fn + fp + tn)",
    }
    assert get_metric("f2").text == "5 * tp / (5 * tp + 4 * fn + fp)"


def test_brackets_keep_the_order_of_operations():
    @metric("Bracketed", range=(-np.inf, np.inf))
    def own(c):
        return c.tp - (c.fn - c.fp) - c.tn * (c.tp + 1) ** 2 + abs(-c.tp) / c.fn

    assert own.text == "tp - (fn - fp) - tn * (tp + 1) ** 2 + abs(-tp) / fn"
    assert own(Counts(7, 5, 3, 2)) == eval(own.text, {"tp": 7, "fn": 5, "fp": 3, "tn": 2})


@pytest.mark.parametrize("name", [n for n in ORACLE if "[" not in n and n != "weighted_auc"])  # its parts have brackets
def test_the_text_computes_the_value(name):
    """The printed formula, read by Python with other metrics' values for their names, gives the same number."""
    metric = get_metric(name)
    table = Counts(28, 23, 72, 2680)
    names = {m.name: m(table) for m in list_metrics() if m.function} | {
        k: v for k, v in metric.parameters.items() if v is not None
    }
    names = (
        {"sqrt": math.sqrt, "arccos": math.acos, "pi": math.pi}
        | names
        | {k: float(v) for k, v in table.to_dict().items()}
    )
    assert eval(metric.text, names) == pytest.approx(metric(table), rel=1e-14)


def test_latex_is_balanced_and_names_the_cells():
    assert get_metric("recall").latex == r"\frac{\mathit{tp}}{\mathit{tp} + \mathit{fn}}"
    for metric in list_metrics():
        written = metric.latex
        assert written.count("{") == written.count("}")
        assert written.count(r"\left") == written.count(r"\right")
        assert "**" not in written


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_node_computes_the_same_values(tmp_path):
    formulas = ",\n".join(f"{json.dumps(name)}: {get_metric(name).javascript}" for name in NAMES)
    page = evaluate(Counts(28, 23, 72, 2680)).to_html()
    helpers = re.findall(r"^const (?:ratio|where) = .*;$", page, re.MULTILINE)  # which the formulas call
    script = f"""
    {" ".join(helpers)}
    const metrics = {{{formulas}}};
    const tables = JSON.parse(require("fs").readFileSync(0, "utf8"));
    const out = {{}};
    for (const [name, f] of Object.entries(metrics))
      out[name] = tables.map(t => {{ const v = f(...t); return Number.isNaN(v) ? null : v; }});
    process.stdout.write(JSON.stringify(out));
    """
    (tmp_path / "run.js").write_text(script)
    tables = [*TABLES, (10**12, 3 * 10**11, 7, 10**12), (10**18, 1, 10**18, 10**9)]
    ran = subprocess.run(
        [NODE, tmp_path / "run.js"], input=json.dumps(tables), capture_output=True, text=True, check=True
    )
    theirs = json.loads(ran.stdout)
    assert set(theirs) == set(NAMES)
    counts = Counts(*np.array(tables).T)
    for name, values in theirs.items():
        for table, other, ours in zip(tables, values, get_metric(name)(counts), strict=True):
            assert (other is None) == math.isnan(ours), (name, table)
            assert other is None or close(other, ours), (name, table, other, ours)
