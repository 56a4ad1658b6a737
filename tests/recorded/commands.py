"""Recorded commands: each line as one types it, in every format that the command has, on small files."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import tempfile
from functools import cache, partial
from pathlib import Path

import matplotlib.font_manager  # noqa: F401 - finds the fonts before HOME is another folder
import numpy as np
import polars as pl
from command_line import run_command

from recorded import inputs as i
from recorded.pages import page_content
from recorded.values import in_a_plain_shell, leaves_of, plain, shortened, summed_up

MOST_SHOWN = 400  # letters of a part of JSON, of which longer ones are summed up
FIRST_LINES = 12

# The first line of a command is run in every format.
LINES = {
    "report": [
        "report rows.csv --true y --pred p",
        "report rows.csv --true y --score s --threshold 0.45 --by site --level 0.9",
        "report rows.csv --true y --pred p --all",
        "report rows.csv --true y --pred p --weight w --frequency n --metrics recall,f_beta[beta=2]",
        "report rows.csv --true y --pred p --cluster patient --metrics recall,mcc",
        "report rows.csv --true y --pred p --design stratified --metrics precision",
        "report rows.csv --true y --score s --use clinical",
        "report rows.csv --true y --score s --use alerts --capacity 20",
        "report rows.csv --true y --pred p --mute outcomes --min-count 5 --by site --metrics recall",
        "report rows.csv --true y --score s --binned --metrics roc_auc",
        "report rows.csv --true kind --pred guess",
        "report rows.csv --true kind --score p_* --metrics accuracy,log_loss",
        "report rows.csv --true kind --pred guess --pos-label dog --metrics recall,precision",
        "report rows.csv --true y_* --pred a_*",
        "report sets.csv --true y --pred p --label-sep ; --metrics f1[average=macro]",
        "report paths.csv --true y --pred p --hierarchy / --metrics accuracy",
        "report --counts 28,23,72,2680",
        "report plan.csv --design plan.csv --metrics f1,recall",
        "report usual.csv",
        "report scores.json --metrics roc_auc",
        "report rows.csv --true y --score s --errors key,site -o errors.html",
        "report - --true y --pred p --metrics recall",
        "report rows.csv --true y --pred q",
        "report missing.csv",
        "report rows.csv --true y --pred p --score s --threshold 0.5",
        "report rows.csv --treu y",
        "--help",
        "repotr",
    ],
    "compare": [
        "compare rows.csv --true y --pred p --pred p2 --metrics recall,precision,mcc",
        "compare rows.csv --true y --score s --score s2",
        "compare rows.csv --true y --pred p --pred p2 --pred p3 --metrics recall,mcc --margin 0.1",
        "compare rows.csv --true y --pred p --pred p2 --weight w --cluster patient --metrics recall",
        "compare rows.csv --true kind --score p_* --score q_* --metrics log_loss",
        "compare rows.csv --true y_* --pred a_* --pred b_* --metrics f1[average=macro]",
        "compare old.json new.json --metrics recall,mcc",
        "compare pair.json --metrics recall",
        "compare rows.csv --true y --pred p --pred p2 --anytime --metrics recall",
        "compare rows.csv --true y --pred p",
    ],
    "threshold": [
        "threshold rows.csv --true y --score s --metric f1",
        "threshold rows.csv --true y --score s --metric precision --where recall>=0.5 --confidence 0.9",
        "threshold rows.csv --true y --score s --metric recall --where 'alerts<=20 of 240'",
        "threshold rows.csv --true y --score s --cost-fn 5 --cost-fp 1",
        "threshold rows.csv --true y --score s --cost-fn amount --cost-fp 20",
        "threshold rows.csv --true y --score s --weight w --prevalence 0.05",
        "threshold rows.csv --true kind --score p_* --metric f1[average=macro]",
        "threshold rows.csv --true kind --score p_* --cost-matrix costs.csv --reject-cost 1",
        "threshold rows.csv --true y_* --score s_* --metric f1[average=micro]",
        "threshold scores.json",
        "threshold rows.csv --true y --score s --where nothing",
    ],
    "calibration": [
        "calibration rows.csv --true y --score s",
        "calibration rows.csv --true y --score s --strategy quantile --n-bins 4 --by site",
        "calibration rows.csv --true y --score s --prevalence 0.05 --weight w",
        "calibration rows.csv --true kind --score p_*",
    ],
    "groups": [
        "groups rows.csv --true y --pred p --by site --metrics recall,precision",
        "groups rows.csv --true y --score s --threshold 0.45 --by site --versus pairs --metrics recall",
        "groups rows.csv --true y --score s --by site --thresholds --cost-fn 5",
        "groups rows.csv --true y --pred p --by age --bins age=3 --metrics recall",
    ],
    "errors": [
        "errors rows.csv --true y --score s --first 5 --key key,site",
        "errors rows.csv --true y --pred p --kind fn --first 3 --filter site=north",
        "errors rows.csv --true kind --pred guess --first 4",
    ],
    "slices": [
        "slices rows.csv --true y --pred p --features site,age --min-rows 5",
        "slices rows.csv --true y --pred p2 --features site,age --metric accuracy --fdr 0.5 --method by",
    ],
    "shift": [
        "shift rows.csv --true y --pred p --prevalence 0.05",
        "shift rows.csv --true y --score s --prevalence 12/400 --metrics precision,average_precision",
        "shift --counts 28,23,72,2680 --prevalence 0.2 --metrics mcc",
    ],
    "drift": [
        "drift rows.csv --true y --pred p --period month --metrics recall,precision",
        "drift rows.csv --true y --score s --period month --unlabelled new.csv --reference 2024-02 --metrics recall",
        "drift day1.csv day2.csv --true y --pred p --metrics recall",
    ],
    "unlabelled": [
        "unlabelled new.csv --score s --reference rows.csv --true y --threshold 0.45 --metrics recall,precision",
        "unlabelled new.csv --score s --reference scores.json --threshold 0.45 --metrics f1",
    ],
    "gate": [
        "gate rows.csv --true y --pred p --require recall>=0.5 --require low(mcc)>=0.1",
        "gate rows.csv --true y --pred p --require recall>=0.99",
        "gate rows.csv --true y --pred p --by site --require recall>=0.5 --min-rows 10",
        "gate rows.csv --true y --pred p2 --versus p --metrics recall,precision",
        "gate rows.csv --true y --pred p2 --baseline base.json",
        "gate rows.csv --true y --pred p2 --baseline base.json --require 'mcc>=baseline-0.2'",
        "gate --counts 0,5,0,40 --require precision>=0.1",
        "threshold rows.csv --true y --score s --metric precision --where recall>=0.5 -o chosen.json",
        "gate rows.csv --true y --score s2 --guarantee chosen.json",
        "gate rows.csv --true y --pred p --require nothing>=0.5",
    ],
    "log": [
        "log rows.csv --true y --pred p --ledger kept --tag model=v3 --keep-rows key",
        "log old.json --ledger kept --tag model=v4",
    ],
    "history": [
        "history --ledger ledger",
        "history --ledger ledger --metrics recall --last 1",
        "history --ledger empty",
    ],
    "diff": [
        "diff old.json new.json",
        "diff model=v1 model=v2 --ledger ledger --metrics recall",
        "diff old.json new.json --prevalence 0.05 --metrics precision",
    ],
    "plan": [
        "plan rows.csv --score s --budget 10 --metric precision --threshold 0.45 --key key",
        "plan rows.csv --score s --budget 12 --metric roc_auc --seed 3",
        "plan rows.csv --score s --budget 10 --top-up plan.csv",
    ],
    "watch": [
        "watch day1.csv day2.csv day3.csv --true y --pred p --require recall>=0.5 --state state.json --json out.json",
        "watch day*.csv --true y --pred p --require recall>=0.95 --page page.html",
        "watch day*.csv --true y --score s --threshold 0.45 --by site --require mcc>=0.9",
    ],
    "tally": [
        "tally rows.csv --true y --pred p -o a.json",
        "tally rows.csv --true y --score s --by site -o b.json",
        "tally rows.csv --true kind --pred guess -o c.json",
        "tally rows.csv --true y --pred p -o a.json",
    ],
    "sql": [
        "sql --table lab.preds --true y --pred p --by site",
        "sql --table preds --true y --score s --dialect bigquery",
    ],
    "merge": ["merge part1.json part2.json -o both.json", "merge part1.json scores.json -o other.json"],
    "plot": [
        f"plot {kind} rows.csv --true y {columns} -o {kind}.svg"
        for columns, kinds in {
            "--pred p": "confusion prevalence surface",
            "--score s": "roc pr threshold density dots decision reliability murphy gain lift cost brier triptych",
            "--pred p --pred p2": "intervals ranking",
            "--pred p --pred p2 --pred p3": "leaderboard wins leaders",
        }.items()
        for kind in kinds.split()
    ]
    + ["plot correlation -o correlation.svg", "plot runs rows.csv --true y --pred p --by month -o runs.svg", "plot risk rows.csv --true kind --score p_* -o risk.svg"],
    "crossval": [
        "crossval table.csv --target y --split 2 --metrics recall,mcc",
        "crossval table.csv --target y --split 2 --model tree --model logistic --resample over --metrics mcc",
        "crossval table.csv --target y --split holdout:2-3x2 --model tree --metrics recall",
        "crossval table.csv --target y --select-tree --split holdout:2x2",
    ],
    "resampling": ["resampling --data table.csv --target y --samplers over --folds 2 --repeats 1 --inner 2"],
    "study": [
        "study --list",
        "study nguyen --data table.csv --target y --quick --seed 1",
        "study asawa --data table.csv --target y --quick",
        "study kalita --data table.csv --target y --quick --folds 2 --repeats 1",
        "study wu --data rows240.csv --target y --quick",
        "study garcia --data rows240.csv --target y --quick",
    ],
    "metrics": ["metrics", "metrics --family rates"],
    "explain": [f"explain {name}" for name in ("mcc", "f_beta[beta=2]", "roc_auc", "log_loss", "for-alerts", "mccc")],
    "audit": [
        "audit recall f1",
        "audit --against rows.csv --true y --pred p --pred p2",
        "audit nothing",
    ],
    "recommend": [
        "recommend",
        "recommend rows.csv --true y --score s --cost-fn 5",
        "recommend --use alerts --capacity 50 --positives 20",
    ],
    "completion": ["completion bash", "completion zsh", "completion fish"],
    "demo": ["demo -o made"],
}  # fmt: skip


@cache
def files():
    """A folder with all files that the lines name."""
    folder = Path(tempfile.mkdtemp())
    i.FRAME.with_columns(p3=i.THREE["third"]).write_csv(folder / "rows.csv")
    i.FRAME.select(y_true="y", y_pred="p").write_csv(folder / "usual.csv")
    i.SETS_TEXT.write_csv(folder / "sets.csv")
    pl.DataFrame({"y": i.PATHS[i.Y4], "p": i.PATHS[i.L4]}).write_csv(folder / "paths.csv")
    pl.DataFrame({"s": i.NEW}).write_csv(folder / "new.csv")
    pl.DataFrame(
        {f"x{n}": i.XF[:, n] for n in range(3)} | {"s": i.S[: i.FEW], "s2": i.S2[: i.FEW], "y": i.YF}
    ).write_csv(folder / "table.csv")
    pl.DataFrame({f"x{n}": i.X[:, n] for n in range(3)} | {"y": i.Y}).write_csv(folder / "rows240.csv")
    matrix = {"true": i.ANIMALS} | {name: np.where(name == i.ANIMALS, 0, n + 1) for n, name in enumerate(i.ANIMALS)}
    pl.DataFrame(matrix).write_csv(folder / "costs.csv")
    for n in range(3):
        i.FRAME[80 * n : 80 * n + 80].write_csv(folder / f"day{n + 1}.csv")
    with contextlib.chdir(folder):
        for line in (
            "report rows.csv --true y --pred p -o base.json",
            "report --counts 28,23,72,2680 -o old.json",
            "report --counts 40,11,72,2680 -o new.json",
            "tally rows.csv --true y --score s --by site -o scores.json",
            "tally rows.csv --true y --pred p --pred p2 -o pair.json",
            "tally day1.csv --true y --pred p -o part1.json",
            "tally day2.csv --true y --pred p -o part2.json",
            "log old.json --ledger ledger --tag model=v1",
            "log new.json --ledger ledger --tag model=v2",
            "plan rows.csv --score s --budget 20 --metric f1 --threshold 0.45 --key key -o plan.csv",
        ):
            ran = run(line, folder)
            assert ran.exit_code == 0, (line, ran.output)
        sheet = pl.read_csv("plan.csv", infer_schema=False)
        labels = [str(i.Y[int(key)]) for key in sheet["key"]]
        sheet.with_columns(label=pl.Series(labels)).write_csv("plan.csv")
    return folder


def run(line, folder, given=None):
    """A command line in this process, in a terminal of 80 columns."""
    home = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    with in_a_plain_shell():
        return run_command(*shlex.split(line), env=home, input=given)


@cache
def folder_of(question):
    """A folder of a question's own, so that what its lines write is seen by its lines alone."""
    place = Path(tempfile.mkdtemp()) / "files"
    shutil.copytree(files(), place)
    return place


def shell(question, line):
    """What a command line prints, says and writes, and its exit code."""
    folder = folder_of(question)
    with contextlib.chdir(folder):
        before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
        given = (folder / "rows.csv").read_text() if " - " in line else None
        ran = run(line, folder, given)
        new = [
            path for path in sorted(folder.rglob("*")) if path.is_file() and before.get(path) != path.stat().st_mtime_ns
        ]
        # Of a ledger the names of the files are times and random signs.
        wrote = {
            path.name: content(path.read_text("utf-8"))
            for path in new
            if path.suffix in (".json", ".html", ".csv", ".md") and "-" not in path.stem
        }
    ended = {"exit": ran.exit_code} if ran.exit_code else {}
    said = {"stderr": plain(ran.stderr).splitlines()} if ran.stderr else {}
    return {
        **ended,
        "stdout": content(ran.stdout, whole="--format" not in line),
        **said,
        **({"wrote": wrote} if wrote else {}),
    }


def content(text, whole=False):
    """A text by its lines, JSON by its parts, a page by what it shows and holds."""
    if text.lstrip().startswith("<!"):
        return page_content(text)
    try:
        data = json.loads(text)
    except ValueError:
        lines = [line.rstrip() for line in plain(text).splitlines()]
        return lines if whole or len(lines) <= FIRST_LINES else shortened(lines, lines, FIRST_LINES)
    return parts(plain(data)) if isinstance(data, dict) else summed_up(plain(data))


def parts(data, most=MOST_SHOWN):
    """JSON by its keys, of which the long ones are summed up."""
    short = {}
    for key, each in data.items():
        found = summed_up(each)
        if len(json.dumps(found)) > most:
            found = shortened(each if isinstance(each, list) else [each], list(leaves_of(each)), 0)
        short[key] = found
    return short


@cache
def formats(command):
    """The formats that the help of a command lists."""
    listed = re.search(r"--format \[([\w|\s-]+)\]", run(f"{command} --help", Path()).stdout)
    return listed[1].split("|") if listed else []


def every_line(question):
    """The lines of a command, the first in every format, and its help."""
    first, *others = LINES[question]
    return [first, *(f"{first} --format {each}" for each in formats(question)), *others, f"{question} --help"]


QUESTIONS = {
    f"cli-{question}": {line: partial(shell, question, line) for line in every_line(question)} for question in LINES
}
