"""Profiles: the core set of a field as a table with its methods."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest
from command_line import run_command

import steelyard


@pytest.fixture(scope="module")
def predictions(tmp_path_factory):
    rng = np.random.default_rng(1)
    y = (rng.random(400) < 0.2).astype(int)
    p = 1 / (1 + np.exp(1.4 - 1.5 * (rng.normal(size=400) + y)))
    path = tmp_path_factory.mktemp("profile") / "p.csv"
    path.write_text("y,p\n" + "".join(f"{a},{b}\n" for a, b in zip(y, p.tolist(), strict=True)))
    return path, y, p


def report(path, *arguments):
    return run_command("report", path, "--true", "y", "--score", "p", *arguments)


KINDS = ("roc", "pr", "threshold", "reliability", "decision", "density", "gain", "lift", "cost", "dots", "confusion")
PROFILES = ("clinical", "fraud", "retrieval")


def test_these_are_the_profiles(predictions):
    refused = " ".join(report(predictions[0], "--use", "nonsense").output.split())
    assert "a profile (clinical, fraud, retrieval) or a TOML file" in refused


@pytest.mark.parametrize("name", PROFILES)
def test_each_profile_names_metrics_figures_and_a_known_source(name, predictions):
    path, y, p = predictions
    text = " ".join(report(path, "--use", name).output.split())
    figures = re.search(r"Figures that go with it: steelyard plot ([\w, ]+)\.", text)[1]
    assert not set(re.split(", | and ", figures)) - set(KINDS)
    follows = text.partition("The choice of metrics follows ")[2]
    assert not follows or re.match(r"[A-Z][\w ]+, .*? \(\d{4}\) \w", follows)
    rows = json.loads(report(path, "--use", name, "--format", "json").output)["metrics"]
    values = {row["name"]: row["value"] for row in rows}
    expected = steelyard.evaluate(y, y_score=p, metrics=[*values])
    assert values == {row.name: row.row()["value"] for row in expected.metrics}


def test_the_table_stands_in_the_order_of_the_guideline_with_its_methods(predictions):
    text = report(predictions[0], "--use", "clinical", "--threshold", "0.3").output
    words = ["ROC AUC", "Calibration intercept", "Calibration slope", "Net benefit (threshold 0.3)", "Recall"]
    text = text[text.index("metric ") :]  # below the verdict
    assert sorted(map(text.index, words)) == [text.index(word) for word in words]
    filled = " ".join(text.split())
    assert "Methods. Performance was evaluated on 400 rows, " in filled and "Van Calster" in filled
    assert "steelyard plot reliability, decision and density." in filled
    table = report(predictions[0], "--use", "clinical", "--format", "md").output
    assert "| ROC AUC | " in table and "Methods. " in table


def test_a_profile_of_ones_own(tmp_path, predictions):
    own = tmp_path / "ours.toml"
    own.write_text('use = "balance"\ntitle = "Our board"\nmetrics = ["recall_at_fpr[at=0.05]", "mcc"]\n')
    text = report(predictions[0], "--use", str(own)).output
    assert text.startswith("Our board") and "Recall at FPR (at 0.05)" in text and "Matthews" in text


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (None, "No use is called"),
        ("metrics = [", "is no TOML"),
        ('title = "x"\n', "does not say what it is for"),
        ('use = "sport"\n', "has use = 'sport'"),
        ('use = "alerts"\n', "names no metrics"),
        ('use = "alerts"\nmetrics = ["recal"]\n', "No metric is called 'recal'"),
        ('metrics = ["recall"]\nfigure = 1\n', "has figure = 1; it takes use, title and follows"),
    ],
)
def test_a_profile_that_cannot_be_read_is_refused(tmp_path, predictions, written, words):
    own = tmp_path / "ours.toml"
    if written is not None:
        own.write_text(written)
    refused = report(predictions[0], "--use", str(own))
    assert refused.exit_code == 2 and words in " ".join(refused.output.split()) and "Traceback" not in refused.output


def test_a_profile_and_metrics_do_not_go_together(predictions):
    refused = report(predictions[0], "--use", "fraud", "--metrics", "mcc")
    assert refused.exit_code == 2 and "leave --metrics out, or give --use alerts" in refused.output
    old = report(predictions[0], "--profile", "fraud")
    assert old.exit_code == 2 and "takes --use in place of --profile" in old.output


def test_a_random_order_is_the_baseline_of_a_bound_on_a_rate():
    y, score = [0, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.2]
    orders = [[int(i in pair) for i in range(5)] for pair in itertools.combinations(range(5), 2)]
    for name, options in (("recall_at_fpr", {"at": 0.1}), ("specificity_at_recall", {"at": 0.9}), ("ks", {})):
        mean = np.mean([getattr(steelyard, name)(order, y_score=score, **options) for order in orders])
        asked = f"{name}[at={options['at']}]" if options else name
        assert steelyard.chance(asked, y, y_score=score).value == pytest.approx(mean, abs=0.02), name
