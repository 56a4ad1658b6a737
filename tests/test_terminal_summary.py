"""What a terminal shows of an evaluation: at every width whole, in any encoding, with the next command."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from command_line import run_command
from pages_open import dot_outcomes
from text_tools import summary, text_width

from steelyard import Counts, evaluate

CODES = re.compile(r"\x1b\[[\d;]*m")
COMMAND = [sys.executable, "-m", "steelyard.cli"]


def scored(rows=3_000, share=0.05, seed=0, **options):
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < share).astype(int)
    return evaluate(y, y_score=1 / (1 + np.exp(-rng.normal(2.4 * y - 2))), **options)


def twelve():
    rng = np.random.default_rng(1)
    names = np.array([f"a rather long class name {i:02}" for i in range(12)])
    y = rng.integers(0, 12, 60_000)
    return evaluate(names[y], names[np.where(rng.random(60_000) < 0.8, y, rng.integers(0, 12, 60_000))])


EVALUATIONS = {
    "counts": lambda: evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)),
    "scores": lambda: scored(threshold=0.3),
    "rare": lambda: scored(40_000, 0.002, threshold=0.4),
    "prevalence": lambda: scored(threshold=0.3, prevalence=0.001),
    "twelve": twelve,
}


@pytest.fixture(scope="module", params=EVALUATIONS)
def evaluation(request):
    return EVALUATIONS[request.param]()


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
def test_no_line_is_wider_than_the_terminal_and_no_number_is_cut(evaluation, columns, tmp_path):
    text = CODES.sub("", summary(evaluation, tmp_path, columns=columns))
    assert max(map(text_width, text.splitlines())) <= columns
    assert not re.search(r"\d…", text)
    for row in evaluation.shown():
        assert re.search(rf"^{re.escape(row.name)} +{re.escape(row.text(row.value))}", text, re.MULTILINE)


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
def test_the_headline_is_that_of_the_verdict_in_bold(evaluation, columns, tmp_path):
    text = summary(evaluation, tmp_path, columns=columns)
    headline = next(str(sentence) for sentence in evaluation.verdict if sentence.is_headline)
    bold = re.findall(r"\x1b\[1m(.*?)\x1b\[0m", text, re.DOTALL)
    assert " ".join(bold[1].split()) == headline


def test_twelve_classes_of_long_names_can_be_told_apart_at_80_columns(tmp_path):
    text = CODES.sub("", summary(twelve(), tmp_path, columns=80))
    for i in range(12):
        assert re.search(rf"^a rather long cl…name {i:02} +\d,\d{{3}} ", text, re.MULTILINE)


# ---------------------------------------------------------------- the scores


def drawn_scores(evaluation, folder):
    """The two lines of the scores of either class, and the axis below them; none where no threshold lies between."""
    lines = CODES.sub("", summary(evaluation, folder, columns=80)).splitlines()
    first = [i for i, line in enumerate(lines) if re.match(r"positives +\S*[▁▂▃▄▅▆▇█│]", line)]
    return lines[first[0] : first[0] + 3] if first else []


def test_the_scores_are_drawn_by_class_with_the_threshold_through_both(tmp_path):
    evaluation = scored(threshold=0.3)
    positives, negatives, axis = drawn_scores(evaluation, tmp_path)
    assert positives.startswith("positives  ") and negatives.startswith("negatives  ")
    assert positives.index("│") == negatives.index("│") == 11 + 18  # 0.3 of 60 cells
    assert "threshold 0.300" in axis
    # Cells right of the line have bars exactly where rows are flagged.
    found, _, alarms, _ = dot_outcomes(evaluation.scores, 0.3)
    assert bool(positives.partition("│")[2].strip()) == bool(found)
    assert bool(negatives.partition("│")[2].strip()) == bool(alarms)
    flagged = drawn_scores(scored(threshold=0.999), tmp_path)
    assert not flagged[1].partition("│")[2].strip()


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 1.0, 2.0, np.inf])
def test_a_threshold_outside_of_the_scores_draws_none(threshold, tmp_path):
    assert drawn_scores(scored(threshold=threshold), tmp_path) == []


def test_labels_alone_have_no_scores_to_draw(tmp_path):
    assert drawn_scores(evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)), tmp_path) == []


# ---------------------------------------------------------------- encodings and colour


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "some rows.csv"
    rng = np.random.default_rng(2)
    y = (rng.random(500) < 0.2).astype(int)
    score = (1 / (1 + np.exp(-rng.normal(2 * y - 1)))).round(4)
    pl.DataFrame({"y": y, "model 1": score, "guess": (score > 0.5).astype(int)}).write_csv(path)
    return path


def ran(*words, **environment):
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONIOENCODING")}
    done = subprocess.run([*COMMAND, *map(str, words)], capture_output=True, check=False, env={**kept, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_signs_that_an_encoding_lacks_are_plain_ones_of_the_same_meaning(encoding, rows):
    shown = ran("report", rows, "--true", "y", "--score", "model 1", PYTHONIOENCODING=encoding).decode(encoding)
    assert "\\u" not in shown and "\\x" not in shown
    assert ("●" in shown) == (encoding == "utf-8") and ("=o" in shown or "o=" in shown) == (encoding != "utf-8")


def test_letters_of_the_users_own_are_left_to_the_stream(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,naïve\n" + "0,0.25\n1,0.75\n" * 20, encoding="utf-8")
    shown = ran("report", path, "--true", "y", "--score", "naïve", PYTHONIOENCODING="ascii").decode("utf-8")
    assert "naïve" in shown and "=" in shown and not re.search("[━●│]", shown)


def test_no_color_is_an_option_too():
    coloured = ran("report", "--counts", "28,23,72,2680", FORCE_COLOR="1")
    plain = ran("report", "--counts", "28,23,72,2680", "--no-color", FORCE_COLOR="1")
    assert b"\x1b" in coloured and b"\x1b" not in plain
    assert CODES.sub("", coloured.decode()) == plain.decode()


# ---------------------------------------------------------------- the next command


@pytest.mark.parametrize("columns", ["60", "100"])
@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["--true", "y", "--score", "model 1"], "threshold"),
        (["--true", "y", "--score", "model 1", "--pred", "guess"], "threshold"),
        (["--true", "y", "--pred", "guess"], "report"),
    ],
)
def test_the_last_lines_are_a_command_that_runs_as_it_stands(words, command, columns, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = ran("report", rows.name, *words, COLUMNS=columns).decode()
    written = shlex.split(re.sub(r"\\\n", " ", shown.partition(":\n  steelyard ")[2]))
    assert written[0] == command
    ran(*written)
    assert (tmp_path / "page.html").exists() == (command == "report")


def test_a_command_that_no_line_holds_is_named_alone(rows, tmp_path):
    folder = tmp_path / ("a rather long name of a folder" * 5)
    folder.mkdir()
    shutil.copy(rows, folder / "rows.csv")
    text = run_command("report", folder / "rows.csv", "--true", "y", "--score", "model 1", code=0, columns=60).stdout
    assert " ".join(text.split()).endswith("steelyard threshold finds the best threshold.")
    assert max(map(text_width, text.splitlines())) <= 60


def test_counts_and_a_pipe_have_a_next_step_too(rows):
    assert "steelyard report --counts 28,23,72,2680 -o page.html" in ran("report", "--counts", "28,23,72,2680").decode()
    done = subprocess.run(
        [*COMMAND, "report", "-", "--true", "y", "--pred", "guess"],
        input=rows.read_bytes(), capture_output=True, check=True,
    )  # fmt: skip
    assert b"--format json gives every number" in done.stdout


def test_rare_positives_are_seen_on_an_axis_of_log_odds_with_their_own_scale(tmp_path):
    """Fifty positives among ten thousand rows, each of them counted; what the highest bars stand for is said."""
    rng = np.random.default_rng(0)
    y = (np.arange(10_000) < 50).astype(int)
    p = 1 / (1 + np.exp(5.3 + 2 - 2 * (rng.normal(size=len(y)) + 2 * y)))
    rare = evaluate(y, y_score=p, metrics=["recall"], threshold=0.02)
    text = " ".join(CODES.sub("", summary(rare, tmp_path, columns=80)).split())
    for line in drawn_scores(rare, tmp_path)[:2]:
        assert len(re.findall("[▁▂▃▄▅▆▇█]", line)) > 15
    highest, _ = re.search(
        r"fullest bars: ([\d.]+) % of positives, ([\d.]+) % of negatives; axis in log-odds", text
    ).groups()
    assert float(highest) / 2 == round(float(highest) / 2)  # so many of the fifty
    often = CODES.sub("", summary(scored(threshold=0.3), tmp_path, columns=80))
    assert "fullest bars: " in often and "log-odds" not in often
