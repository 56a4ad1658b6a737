"""The command line, run in a process of its own as a user would."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from command_line import COMMANDS, command_named, run_command

from steelyard import __version__, best_threshold, explain, list_metrics


def run(*words, columns=100):
    import os

    environment = {**os.environ, "COLUMNS": str(columns)}
    return subprocess.run(
        [sys.executable, "-m", "steelyard.cli", *words], capture_output=True, text=True, check=False, env=environment
    )


def test_version_and_help():
    assert run("--version").stdout == f"steelyard {__version__}\n"
    shown = run("--help").stdout
    assert shown == run("-h").stdout == run().stdout and shown.startswith("Usage: steelyard COMMAND [OPTIONS]\n")
    listed = dict(re.findall(r"^  (\w+)  +(.+)$", shown, re.MULTILINE))
    assert listed == {name: command_named(name).short_help for name in COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_found_by_its_name_and_described(name):
    command = command_named(name)
    assert command.name == name and command.short_help and command.help
    shown = run_command(name, "--help")
    assert shown.output.startswith(f"Usage: steelyard {name}")


def test_help_explains_the_question_and_names_the_options_of_rows_which_their_own_help_explains():
    shown, of_rows = run("report", "--help").stdout, run("report", "--help-rows").stdout
    assert "--frequency" in shown and "frequency weights" not in shown and "--level FLOAT" in shown
    assert "Rows, which `steelyard report --help-rows` explains:" in shown
    assert "--frequency COL" in of_rows and "frequency weights" in of_rows and "--level" not in of_rows
    assert "--help-rows" not in run("crossval", "--help").stdout


@pytest.mark.parametrize(
    ("command", "option", "refused"),
    [
        ("study", "name", ["study", "zzz"]),
        ("crossval", "models", ["crossval", "rows.csv", "--target", "y", "--model", "zzz"]),
        ("plot", "kind", ["plot", "zzz", "rows.csv"]),
    ],
)
def test_a_help_that_lists_names_lists_them_all(command, option, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("x,y\n" + "1,0\n2,1\n" * 20)
    names = run_command(*refused, code=2).stderr.lower().partition("there are ")[2].partition(".")[0].split(", ")
    assert len(names) > 3
    (parameter,) = [parameter for parameter in command_named(command).params if parameter.name == option]
    text = f"{command_named(command).help} {getattr(parameter, 'help', '')}"
    assert not [name for name in names if not re.search(rf"\b{name}\b", text)]


def test_the_threshold_is_best_by_the_same_metric_as_in_python(tmp_path):
    y_true, y_score = [0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.3, 0.35, 0.4, 0.6, 0.7, 0.75, 0.9]
    path = tmp_path / "scores.csv"
    path.write_text("y,s\n" + "".join(f"{y},{s}\n" for y, s in zip(y_true, y_score, strict=True)))
    words = ("threshold", str(path), "--true", "y", "--score", "s", "--format", "json")
    row = json.loads(run(*words, "--use", "balance").stdout)
    best = best_threshold(y_true, y_score, "ac_score")
    assert (row["metric"], row["value"]) == ("ac_score", pytest.approx(best.value))
    (menu,) = [point for point in json.loads(run(*words).stdout)["points"] if point["point"] == "best AC-score"]
    assert menu["threshold"] == best.threshold


@pytest.mark.parametrize("columns", [80, 100])
def test_the_listing_fits_the_terminal_and_holds_every_metric(columns):
    out = run("metrics", columns=columns).stdout
    assert max(map(len, out.splitlines())) <= columns
    assert all(m.name in out for m in list_metrics())
    assert "── balanced" in out


def test_the_listing_as_json_and_markdown():
    rows = json.loads(run("metrics", "--format", "json").stdout)
    assert [row["name"] for row in rows] == [m.name for m in list_metrics()]
    assert rows[0]["undefined"] == ["no positives"]
    count, _, *lines = run("metrics", "--family", "balanced", "--format", "md").stdout.splitlines()
    assert count == f"{len(list_metrics('balanced'))} metrics"
    assert len(lines) == 2 + len(list_metrics("balanced"))
    assert all(line.replace(r"\|", "").count("|") == 8 for line in lines)


def test_explain_knows_the_codes_of_the_verdict_and_the_help_says_where_they_stand():
    out = " ".join(run("explain", "for-alerts").stdout.split())
    assert "a sentence of the verdict, of severity info: what was found." in out
    assert "docs/verdict.md#for-alerts explains it; --mute for-alerts leaves it out." in out
    assert "--format json and docs/verdict.md" in " ".join(run("report", "--help").stdout.split())


def test_explain_tells_what_there_is_to_know():
    out = run("explain", "mcc").stdout
    for words in ("Matthews", "[-1, 1]", "no predicted positives", "doi:10.1016/0005-2795(75)90109-9", "0.377"):
        assert words in out
    assert "5 * tp / (5 * tp + 4 * fn + fp)" in run("explain", "f_beta[beta=2]").stdout
    assert "where band = " in run("explain", "wauc").stdout
    assert "a function of the scores of each class" in run("explain", "roc_auc").stdout
    words = " ".join(run("explain", "h_measure").stdout.split())
    assert "by default the ratio of positives to negatives (Hand and Anagnostopoulos 2014)" in words
    assert "undefined where there are no positives where there are no negatives parameters" in words
    assert "Hand, D. J. (2009)" in words and "Hand, D. J. and Anagnostopoulos, C. (2014) A better Beta" in words


def test_demo_evaluates_real_predictions_and_works_the_paradox():
    pytest.importorskip("sklearn")
    out = run("demo").stdout
    for words in (
        "Of these 899 rows, 87 are positive",
        "AC-score",
        "average_precision",
        "Scores were thresholded at 0.5",
        "90.0 %",
        "66.7 %",
    ):
        assert words in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["explain", "acuracy"], "steelyard: No metric is called 'acuracy'. Did you mean 'accuracy' or"),
        (["metrics", "--family", "x"], "steelyard: No family is called 'x'; there are rates,"),
        (["explain", "f_beta[beta=-1]"], "steelyard: beta of f_beta must lie in [0, 1e9], not -1.\n"),
        (["nothing"], "No such command 'nothing'"),
    ],
)
def test_a_refusal_is_one_sentence_on_stderr_and_exit_2(words, sentence):
    ran = run(*words)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert sentence in ran.stderr
    assert "Traceback" not in ran.stderr


def _options():
    return [
        pytest.param(name, option, id=f"{name} {option.opts[-1]}")
        for name in COMMANDS
        for option in command_named(name).params
        if option.param_type_name == "option"
    ]


OF_ROWS = [name for name in COMMANDS if any("--counts" in option.opts for option in command_named(name).params)]
REPEATED = {
    *(f"{name} {option}" for name in OF_ROWS for option in ("--by", "--bins")),
    "audit --pred",
    "audit --score",
    "compare --pred",
    "compare --score",
    "crossval --model",
    "crossval --resample",
    "gate --require",
    "history --tag",
    "log --tag",
    "plot --pred",
    "plot --score",
    "study --data",
    "study --model",
    "study --pred",
    "study --score",
    "report --mute",
    "resampling --data",
    "shift --mute",
    "slices --features",
    "sql --by",
    "sql --pred",
    "drift --unlabelled",
    "tally --cost",
    "tally --pred",
    "tally --score",
    "threshold --where",
    "watch --by",
    "watch --require",
}


@pytest.mark.parametrize(("name", "option"), _options())
def test_an_option_of_one_value_is_refused_when_it_is_given_twice(name, option):
    spellings = [*option.opts, *option.secondary_opts]
    value = [] if option.is_flag else [getattr(option.type, "choices", ["1"])[0]]
    for first in spellings:
        ran = run_command(name, first, *value, spellings[0], *value)
        refused = ran.exit_code == 2 and re.search(r"^steelyard: --\S+ .*was given 2.*once; .*\n$", ran.stderr)
        assert bool(refused) == (f"{name} {option.opts[-1]}" not in REPEATED), ran.output
        assert not (refused and ran.stdout)


@pytest.mark.parametrize("metric", list_metrics(), ids=lambda metric: metric.name)
def test_every_metric_is_explained_under_each_of_its_names(metric):
    for name in (metric.name, *metric.aliases):
        ran = run_command("explain", name)
        assert (ran.exit_code, ran.stderr) == (0, "")
        assert ran.stdout.startswith(metric.title)
        assert ran.stdout.startswith(f"{explain(metric).title} ({metric.name})\n")
