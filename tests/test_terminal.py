"""A real terminal and real shells: bold and colour where someone looks, and TAB in bash, zsh and fish."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from command_line import COMMANDS, command_named, run_command

from steelyard import list_metrics
from steelyard.cli.suggestions import SUGGESTIONS

pty = pytest.importorskip("pty", reason="this system has no terminals of that kind", exc_type=ImportError)

COMMAND = [sys.executable, "-m", "steelyard.cli"]
COUNTS = ["report", "--counts", "28,23,72,2680"]
CODES = re.compile(r"\x1b\[([\d;]*)m")


def settings(**own):
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS")}
    return {**kept, "TERM": "xterm-256color", "COLUMNS": "100", **own}


def on_terminal(*words, **environment):
    """What a command writes to a terminal of its own."""
    master, slave = pty.openpty()
    with subprocess.Popen([*COMMAND, *words], stdout=slave, stderr=subprocess.PIPE, env=settings(**environment)):
        os.close(slave)
        parts = []
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            parts.append(part)
    os.close(master)
    return b"".join(parts).decode().replace("\r\n", "\n")


def in_pipe(*words, **environment):
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, check=True, env=settings(**environment)
    ).stdout


def test_bold_and_one_colour_are_for_the_terminal_alone(tmp_path):
    plain, shown = in_pipe(*COUNTS), on_terminal(*COUNTS)
    assert "\x1b" not in plain
    assert set(CODES.findall(shown)) == {"1", "38;5;31", "0"}
    assert CODES.sub("", shown) == plain
    assert "\x1b[1mmetric" in shown and "●" in re.search(r"\x1b\[38;5;31m(.*?)\x1b", shown)[1]
    on_terminal(*COUNTS, "-o", str(tmp_path / "report.txt"))
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == plain


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}])
def test_codes_can_be_switched_off(environment):
    assert "\x1b" not in on_terminal(*COUNTS, **environment)


def test_codes_can_be_asked_for_in_a_pipe_and_never_stand_in_data():
    assert CODES.search(in_pipe(*COUNTS, FORCE_COLOR="1"))
    assert "\x1b" not in in_pipe(*COUNTS, FORCE_COLOR="0")
    for form in ("json", "csv", "md"):
        assert "\x1b" not in in_pipe(*COUNTS, "--format", form, FORCE_COLOR="1")


def test_codes_in_labels_never_reach_the_terminal(tmp_path):
    path, label = tmp_path / "rows.csv", "\x1b[31mred\x1b[0m"
    pl.DataFrame({"y_true": [label, "b", label, "b"], "y_pred": [label, label, "b", "b"]}).write_csv(path)
    shown = on_terminal("report", str(path), "--pos-label", label)
    assert set(CODES.findall(shown)) == {"1", "38;5;31", "0"} and "·[31mred" in shown


# ---------------------------------------------------------------- completion


def complete(*words, cwd=None):
    """What click offers for the last of the words."""
    line = {"COMP_WORDS": " ".join(["steelyard", *words]), "COMP_CWORD": str(len(words))}
    ran = subprocess.run(
        COMMAND,
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=settings(_STEELYARD_COMPLETE="bash_complete", **line),
    )
    assert ran.returncode in (0, 1) and not ran.stderr
    return [item.partition(",")[2] for item in ran.stdout.splitlines()]


@pytest.fixture
def folder(tmp_path):
    frame = pl.DataFrame({"truth": ["a", "b"], "model one": [0.1, 0.9], "site": ["x", "y"]})
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_ndjson(tmp_path / "rows.jsonl")
    frame.write_csv(tmp_path / "rows.tsv", separator="\t")
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes()))
    (tmp_path / "noise.csv").write_bytes(os.urandom(300))
    return tmp_path


def test_commands_options_formats_columns_metrics_and_names_are_completed(folder):
    assert complete("re") == ["report", "resampling", "recommend"]
    assert complete("") == list(COMMANDS)
    assert complete("report", "--fo") == ["--format", "--force"]
    assert complete("report", "--format", "") == ["table", "json", "md", "csv", "html"]
    assert complete("report", "rows.csv", "--true", "t", cwd=folder) == ["truth"]
    assert complete("report", "rows.csv", "--score", "", cwd=folder) == ["truth", "'model one'", "site"]
    assert complete("crossval", "rows.csv", "--target", "s", cwd=folder) == ["site"]
    assert complete("audit", "--against", "rows.csv", "--pred", "s", cwd=folder) == ["site"]
    assert complete("explain", "kap") == ["kappa"]
    assert complete("report", "--metrics", "mcc,kap") == ["mcc,kappa"]
    assert complete("gate", "--require", "kap") == ["kappa"]
    assert "f_beta[average=macro]" in complete("explain", "f_beta[")
    assert complete("study", "w") == ["wu"]
    assert complete("plot", "ro") == ["roc"]
    assert complete("crossval", "--model", "lo") == ["logistic"]
    assert complete("completion", "") == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.jsonl", "rows.tsv", "rows.csv.gz"])
def test_the_header_of_every_kind_of_file_is_read_and_noise_is_nothing(name, folder):
    assert complete("report", name, "--score", "", cwd=folder) == ["truth", "'model one'", "site"]


def test_a_file_that_is_not_there_or_no_table_suggests_nothing_and_fails_nothing(folder):
    assert complete("report", "none.csv", "--score", "", cwd=folder) == [""]
    assert "truth" not in complete("report", "noise.csv", "--score", "", cwd=folder)


def test_every_metric_is_suggested_under_each_of_its_names():
    names = {name for metric in list_metrics() for name in (metric.name, *metric.aliases)}
    assert {*complete("explain", "")} == names


def test_every_value_of_text_has_suggestions_or_is_the_users_own():
    own = {
        "A:B,A:B",
        "C",
        "GROUP",
        "K|A:B",
        "K|KxN",
        "LABEL",
        "LOW,HIGH",
        "N",
        "NAME,NAME",
        "NAME=TEXT",
        "P",
        "P_*",
        "PERIOD",
        "S,S",
        "SHARE",
        "SIGN",
        "SLICE",
        "T",
        "TABLE",
        "TP,FN,FP,TN",
    }
    for name in COMMANDS:
        for parameter in command_named(name).params:
            text = parameter.type.name == "text" and not getattr(parameter, "is_flag", False)
            keys = {parameter.metavar, f"{name} {parameter.name}"}
            assert not text or keys & (own | SUGGESTIONS.keys()), f"{name} {parameter.name}"


@pytest.mark.parametrize("words", [("re",), ("report", "--tr"), ("report", "rows.csv", "--true", ""), ("explain", "m")])
def test_completion_loads_nothing_heavy(words, folder):
    line = {"COMP_WORDS": " ".join(["steelyard", *words]), "COMP_CWORD": str(len(words))}
    code = (
        "import atexit, sys; from steelyard.cli import main; heavy = {'numpy', 'scipy', 'polars', 'rich', 'jinja2'}\n"
        "atexit.register(lambda: print('LOADED', sorted(heavy & sys.modules.keys()))); main([])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=settings(_STEELYARD_COMPLETE="bash_complete", **line),
    )
    assert "LOADED []" in ran.stdout and ran.stdout.startswith("plain,"), ran.stderr


@pytest.fixture
def on_path(tmp_path):
    """A folder with `steelyard` in it, as an installed package has."""
    tool = tmp_path / "bin" / "steelyard"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n', encoding="utf-8")
    tool.chmod(0o755)
    return f"{tool.parent}:{os.environ['PATH']}"


def needed(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


def test_bash_completes_by_the_documented_line(folder, on_path):
    needed("bash")
    script = """
    eval "$(steelyard completion bash)"
    offered() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _steelyard_completion steelyard; echo "${COMPREPLY[*]}"; }
    offered steelyard rep; offered steelyard report rows.csv --true t; offered steelyard explain kap
    """
    ran = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False, cwd=folder, env=settings(PATH=on_path)
    )
    assert ran.stdout.splitlines() == ["report", "truth", "kappa"], ran.stderr


def test_fish_completes_by_the_documented_line(folder, on_path):
    needed("fish")
    script = "steelyard completion fish | source; complete -C 'steelyard rep'; complete -C 'steelyard report rows.csv --true t'"
    ran = subprocess.run(
        ["fish", "--no-config", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=settings(PATH=on_path, HOME=str(folder)),
    )
    assert [line.partition("\t")[0] for line in ran.stdout.splitlines()] == ["report", "truth"], ran.stderr


def test_zsh_completes_by_the_documented_line(folder, on_path):
    needed("zsh")
    master, slave = pty.openpty()
    zsh = subprocess.Popen(
        ["zsh", "-f", "-i"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        start_new_session=True,
        env=settings(PATH=on_path, HOME=str(folder)),
    )
    os.close(slave)
    os.set_blocking(master, False)
    try:
        os.write(master, b'autoload -U compinit; compinit -u -D; eval "$(steelyard completion zsh)"; echo re"ady"\n')
        _until(master, "ready\r\n")
        os.write(master, b"steelyard rep\t")
        _until(master, "steelyard report")
        os.write(master, b"rows.csv --true t\t")
        _until(master, "--true truth")
    finally:
        zsh.kill()
        zsh.wait()
        os.close(master)


def _until(master, words, seconds=600):
    """Read until the terminal shows these words."""
    shown, end = "", time.monotonic() + seconds
    while words not in re.sub(r"\x1b\[[\d;?]*[A-Za-z]|\x1b[=>]", "", shown):
        assert time.monotonic() < end, shown
        try:
            shown += os.read(master, 65536).decode(errors="replace")
        except BlockingIOError:
            time.sleep(0.05)


def test_a_shell_without_completion_is_refused_in_one_sentence():
    ran = run_command("completion", "tcsh")
    assert ran.exit_code == 2 and ran.stderr.count("\n") == 1 and "bash" in ran.stderr


def test_the_documentation_gives_the_lines_that_the_help_gives():
    text = (Path(__file__).parent.parent / "docs" / "how" / "shell.md").read_text(encoding="utf-8")
    for line in (
        'eval "$(steelyard completion bash)"',
        'eval "$(steelyard completion zsh)"',
        "completion fish > ~/.config",
    ):
        assert line in text
