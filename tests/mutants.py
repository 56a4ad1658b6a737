"""Change the code one small step at a time; each change must make a test fail.

Run by `make mutants`. Of the formulas of the catalogue every cell and margin is changed; of the statistics, some hundred and
fifty syntax nodes that a digest chooses: a sign, a tail, an off-by-one, a boundary, a dropped factor, swapped classes. A change
is addressed by the function it stands in and its own text, so that files may move and lines may come and go.

    make mutants                    # all
    .venv/bin/python tests/mutants.py drift gates   # some areas
    .venv/bin/python tests/mutants.py --state       # what is known so far; tries nothing

A run may be stopped and goes on where it was: what was found is kept in build/mutants.jsonl, and holds while the changed
function reads the same and, of a change that no test noticed, the tests do. Without that file all are tried. WORKERS=1 tries
one at a time. Of each change the tests that call its function are asked first, as one run of all of them on the package as
it is found them, then the record, then all.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).parent.parent
PACKAGE = Path("src/steelyard")
FOUND = ROOT / "build/mutants.jsonl"
SECONDS = 900  # a change that computes longer than this, such as in an endless loop, is noticed
MOST_OF_A_FUNCTION = 2


class Mutant(NamedTuple):
    """A change: where and what it is in words, the file, the whole text of the changed file, and of the function before."""

    address: str
    file: Path
    changed: str
    function: str


class Area(NamedTuple):
    """A question of the statistics: its files, how many changes are drawn, and the tests that must notice, quickest first."""

    places: tuple[str, ...]
    drawn: int
    tests: tuple[str, ...]
    recorded: tuple[str, ...]  # questions of the record, which are asked last


AREAS = {
    "intervals": Area(
        ("analysis/intervals", "analysis/distributions.py"), 36,
        ("test_score_influence", "test_uncertainty", "test_clusters", "test_point_thresholds", "test_multilabel_intervals", "test_multilabel_compare", "test_many_classes"),
        ("interval", "evaluate"),
    ),
    "comparison": Area(
        ("analysis/comparison", "analysis/holm.py"), 24,
        ("test_published", "test_comparison", "test_drop_test", "test_groups", "test_leaderboard", "test_verdict", "test_multilabel_compare"),
        ("compare", "compare_groups"),
    ),
    "thresholds": Area(
        ("analysis/thresholds",), 22,
        ("test_threshold", "test_promises", "test_confidence_band", "test_decision_curve", "test_label_thresholds", "test_probability_curves", "test_gates", "test_drop_test"),
        ("best_threshold",),
    ),
    "calibration": Area(("analysis/calibration",), 10, ("test_calibration",), ("calibration", "page-evaluation")),
    "slices": Area(("analysis/slices",), 14, ("test_slices",), ("slices",)),
    "drift": Area(("evaluation/drift.py", "analysis/prevalence"), 14, ("test_drift", "test_prevalence", "test_unlabelled"), ("drift", "prevalence", "unlabelled")),
    "gates": Area(("gates",), 12, ("test_gates",), ("gate", "cli-gate")),
    "planning": Area(("analysis/planning",), 14, ("test_label_plan", "test_uncertainty"), ("planning", "cli-plan")),
    "labels": Area(("arrays/label_codes.py",), 4, ("test_array_tables", "test_counts"), ("measures",)),
    "sequential": Area(("analysis/sequential", "analysis/intervals/evidence.py", "analysis/intervals/metric_sequence.py", "analysis/monitoring"), 14, ("test_sequential", "test_monitor"), ("anytime", "monitor")),
}  # fmt: skip

# Changes that once went unnoticed, or that no operator below makes: area, function, its old text and the new one.
NAMED = (
    ("calibration", "_chi_square", "- 2 * covariance * first * second", "+ 2 * covariance * first * second"),
    ("slices", "_testable", "rate / counts", "rate"),
    ("slices", "discoveries", "np.arange(1, tested + 1)).sum()", "np.arange(1, tested)).sum()"),
    ("intervals", "WeightedRows.error", "n / (n - 1)", "1.0"),
    ("drift", "unlabelled_period", "given.scores >= first.threshold", "given.scores > first.threshold"),
    ("gates", "judge_limits", "(1 - confidence) / len(parts)", "(1 - confidence)"),
    ("gates", "judge_rules", "(1 - level) / max(len(far), 1)", "(1 - level)"),
    ("thresholds", "_tail_test", "rate.bound - margin", "rate.bound + margin"),
    ("planning", "rows_to_distinguish", "min(plan.class_shares)", "max(plan.class_shares)"),
    ("planning", "rows_for_width", "min(plan.class_shares)", "max(plan.class_shares)"),
    ("labels", "_whole_floats", ">= 2**62", "> 2**62"),
    ("labels", "small_counts", ">= _SMALL", "> _SMALL"),
)

# What no result shows, each with the reason; the address as it is printed.
EQUIVALENT: dict[str, str] = {
    "_whole_floats: >= 2**62 -> > 2**62": "2**62 itself is a whole number of 64 bits: hashed or not, it has the same code",
    "small_counts: min(t.min(), p.min()) < 0 -> min(t.min(), p.min()) <= 0": "labels of 0 are counted by their codes instead",
    "_slots: 64 - SLOT_BITS -> (64 + (SLOT_BITS))": "all labels share a slot, so that they are told apart by a hash table instead: the same codes",
    "_integers: np.iinfo(np.intp).max -> np.iinfo(np.intp).min": "the labels are sorted instead of read off a table: the same",
    "rows_to_distinguish: min(plan.class_shares) -> max(plan.class_shares)": "the search begins at fewer rows and ends within the same 1 %",
    "trend_p_value: drawn >= logits @ positives - 1e-09 * np.abs(logits).max() -> drawn > logits @ positives - 1e-09 * np.abs(logits).max()": "no draw lies exactly at the margin for rounding",
    "FollowedRule.first_alarm: log_p <= np.log(self.alpha) + 1e-12 -> log_p < np.log(self.alpha) + 1e-12": "no evidence lies exactly at the margin for rounding",
    "_determine: table.tn + more -> (table.tn - (more))": "a metric that depends on true negatives differs with fewer as well",
    "reference_limit: side < 0 -> side <= 0": "a side is -1 or 1",
    "ranked_leaderboard: other > merits[name] + ROUNDING -> other >= merits[name] + ROUNDING": "no value lies just the rounding above another",
    "_tails: np.abs(step.shift).max -> np.abs(step.shift).min": "only tails below 1e-20 move, and none is compared with so little",
    "_furthest: stop - end -> (stop + (end)) (the 2.)": "more points than there are indices in between are the same indices",
}

# ---------------------------------------------------------------- formulas

CELLS = ("tp", "fn", "fp", "tn", "positives", "negatives", "predicted_positives", "predicted_negatives", "total")
OF_FORMULAS = ["-k", "golden or exact", "tests/test_golden.py", "tests/test_laws.py"]


def of_formulas() -> list[Mutant]:
    """Every change of one `c.name` of the catalogue into the next name."""
    file = ROOT / PACKAGE / "metrics/catalogue.py"
    source, found = file.read_text(), []
    for name, function in functions(ast.parse(source), every=True):
        body = ast.get_source_segment(source, function) or ""
        start = source.index(body)
        for number, match in enumerate(re.finditer(rf"\bc\.({'|'.join(CELLS)})\b", body), 1):
            other = CELLS[(CELLS.index(match[1]) + 1) % len(CELLS)]
            changed = source[: start + match.start(1)] + other + source[start + match.end(1) :]
            found.append(Mutant(f"{name}: c.{match[1]} -> c.{other} (cell {number})", file, changed, body))
    return found


# ---------------------------------------------------------------- statistics

BOUNDARIES = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
SWAPPED = {"positive": "negative", "negative": "positive", "positives": "negatives", "negatives": "positives"}
SWAPPED |= {
    "minimum": "maximum",
    "maximum": "minimum",
    "min": "max",
    "max": "min",
    "argmin": "argmax",
    "argmax": "argmin",
}
SWAPPED |= {"low": "high", "high": "low"}
WORDS = re.compile(r"text|sentence|row|title|repr|note|headline|check|refuse|json|html|words|shown|saved|read")


def replacements(node: ast.AST) -> list[str]:
    """What one syntax node may be changed into."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in BOUNDARIES:
            return [f"{ast.unparse(left)} {BOUNDARIES[type(op)]} {ast.unparse(right)}"]
        case ast.BinOp(left=ast.Constant(value=1), op=ast.Sub(), right=right):  # the other tail
            return [f"({ast.unparse(right)})"]
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant(value=1)):  # off by one
            return [f"({ast.unparse(left)})"]
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if not is_text(left) and not is_text(
            right
        ):
            return [f"({ast.unparse(left)} {'-' if isinstance(op, ast.Add) else '+'} ({ast.unparse(right)}))"]
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right) if not is_text(left) and not is_text(right):
            return [f"({ast.unparse(left)})"]  # the factor is dropped
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            return [f"({ast.unparse(operand)})"]
        case ast.Attribute(value=value, attr=name) if name in SWAPPED:
            return [f"{ast.unparse(value)}.{SWAPPED[name]}"]
        case ast.Call(func=ast.Name(id=name)) if name in SWAPPED and len(node.args) > 1:
            return [SWAPPED[name] + ast.unparse(node)[len(name) :]]
    return []


def is_text(node: ast.AST) -> bool:
    """Whether it is text, or a list or tuple, of which + and * are no arithmetic."""
    made = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.Set, ast.GeneratorExp)
    return isinstance(node, made) or (isinstance(node, ast.Constant) and not isinstance(node.value, (int, float)))


def functions(tree: ast.Module, *, every: bool = False) -> list[tuple[str, ast.FunctionDef]]:
    """The functions of a module that compute something, or every one, by their qualified names."""
    found = []

    def walk(node: ast.AST, name: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                full = f"{name}.{child.name}" if name else child.name
                if isinstance(child, ast.FunctionDef) and (every or not WORDS.search(child.name)):
                    found.append((full, child))
                elif isinstance(child, ast.ClassDef):
                    walk(child, full)

    walk(tree, "")
    return found


def nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """The syntax nodes of a function's body, without annotations, defaults, and what is raised or written."""
    found, waiting = [], [*function.body]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert)):
            continue
        found.append(node)
        fields = [
            value
            for key, value in ast.iter_fields(node)
            if key not in ("annotation", "returns", "args" if isinstance(node, ast.FunctionDef) else "")
        ]
        for value in fields:
            waiting += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST)]
    return found


def named(name: str) -> list[Mutant]:
    """The named changes of an area; one whose function or text is gone is an error, so that none is lost in silence."""
    found = []
    for _, address, old, new in (each for each in NAMED if each[0] == name):
        for place in AREAS[name].places:
            path = ROOT / PACKAGE / place
            for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
                source = file.read_text()
                for qualified, function in functions(ast.parse(source), every=True):
                    body = ast.get_source_segment(source, function) or ""
                    if qualified == address and old in body:
                        changed = source.replace(body, body.replace(old, new, 1), 1)
                        found.append(Mutant(f"{address}: {old} -> {new}", file, changed, body))
    wanted = [each for each in NAMED if each[0] == name]
    if len(found) != len(wanted):
        raise LookupError(f"{name}: {len(wanted)} changes are named, and {len(found)} are found: {wanted}")
    return found


def of_area(area: Area) -> list[Mutant]:
    """The changes of an area that a digest of their address draws, at most two of a function."""
    candidates = []
    for place in area.places:
        path = ROOT / PACKAGE / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            source = file.read_text()
            lines = [0]
            for line in source.encode().splitlines(keepends=True):
                lines.append(lines[-1] + len(line))
            for name, function in functions(ast.parse(source)):
                body, seen = ast.get_source_segment(source, function) or "", Counter[str]()
                for node in nodes(function):
                    for text in replacements(node):
                        old = ast.unparse(node)
                        seen[old] += 1
                        address = f"{name}: {old} -> {text}" + (f" (the {seen[old]}.)" if seen[old] > 1 else "")
                        start, stop = (
                            lines[row - 1] + column
                            for row, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
                        )
                        changed = source.encode()[:start] + text.encode() + source.encode()[stop:]
                        candidates.append((name, Mutant(address, file, changed.decode(), body)))
    candidates.sort(key=lambda each: hashlib.sha256(each[1].address.encode()).digest())
    drawn, of_function = [], Counter()
    for name, mutant in candidates:
        if of_function[name] < MOST_OF_A_FUNCTION and len(drawn) < area.drawn:
            of_function[name] += 1
            drawn.append(mutant)
    return drawn


# ---------------------------------------------------------------- trying them


class Asked(NamedTuple):
    """A change of an area, and the calls of pytest that must notice it."""

    area: str
    mutant: Mutant
    runs: list[list[str]]

    @property
    def key(self) -> str:
        """What the change is, and the function that it changes."""
        return digest(self.mutant.address, self.mutant.function)

    @property
    def tests(self) -> str:
        """The text of the tests that are asked."""
        files = [each.split("::")[0] for run in self.runs for each in run if each.startswith("tests/")]
        recorded = [f"tests/record/{name}.json" for name in (AREAS[self.area].recorded if self.area in AREAS else ())]
        return digest(*((ROOT / each).read_text() for each in (*files, *recorded)))


def digest(*texts: str) -> str:
    """A few letters that tell these texts from others."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


class Known:
    """What was found so far, kept in a file that may be cut off anywhere."""

    def __init__(self, file: Path) -> None:
        self.file = file
        lines = file.read_text().splitlines() if file.exists() else []
        self.found = {each["key"]: each for line in lines if line.endswith("}") for each in [json.loads(line)]}

    def of(self, asked: Asked) -> dict[str, str | None] | None:
        """What is known of a change; None where it must be tried."""
        found = self.found.get(asked.key)
        return found if found and (found["noticed"] or found["tests"] == asked.tests) else None

    def add(self, asked: Asked, noticed: str | None) -> None:
        """Keep what was found."""
        line = {"key": asked.key, "address": asked.mutant.address, "noticed": noticed, "tests": asked.tests}
        self.found[asked.key] = line
        self.file.parent.mkdir(exist_ok=True)
        with self.file.open("a") as out:
            out.write(json.dumps(line) + "\n")


class Baseline(NamedTuple):
    """The tests of an area on the package as it is: those that fail, and those that call a function, quickest first."""

    failing: tuple[str, ...] = ()
    callers: Mapping[str, list[str]] = {}  # by the file and the name of the function

    @classmethod
    def of(cls, lines: Iterable[str]) -> Baseline:
        """What the plugin wrote of each test."""
        tests = sorted((json.loads(line) for line in lines), key=lambda each: each["took"])
        called = sorted({name for each in tests for name in each["called"]})
        passing = [each for each in tests if not each["failed"] and "test_record.py" not in each["test"]]
        callers = {name: [each["test"] for each in passing if name in each["called"]] for name in called}
        return cls(tuple(each["test"] for each in tests if each["failed"]), callers)

    def runs(self, asked: Asked) -> list[list[str]]:
        """The calls of pytest for a change: the tests that call what it changes, the record, then all; of one that nothing
        is known to show the first two, lest its reason be false.
        """
        without = [f"--deselect={test}" for test in self.failing]
        first = self.callers.get(place_of(asked.mutant), [])
        every, *recorded = asked.runs
        is_excused = first and asked.mutant.address in EQUIVALENT
        return [*([first] if first else []), *recorded, *([] if is_excused else [[*without, *every]])]


def place_of(mutant: Mutant) -> str:
    """The file and the name of the function that a change is in."""
    return f"{mutant.file.relative_to(ROOT)}::{mutant.address.split(': ')[0]}"


def calls_of(asked: Asked) -> Path:
    """Where it is kept which functions the tests of an area call, of this package and these tests."""
    sources = [each.read_text() for each in sorted((ROOT / PACKAGE).rglob("*.py"))]
    return ROOT / f"build/calls/{asked.area}-{digest(asked.tests, *sources)}.jsonl"


def marked(file: Path, mutants: list[Mutant]) -> str:
    """The text of a file, in which the functions that are to be changed tell that they were called."""
    lines, places = file.read_text().splitlines(), {place_of(each) for each in mutants}
    for name, function in functions(ast.parse(file.read_text()), every=True):
        place = f"{file.relative_to(ROOT)}::{name}"
        inner = function.body[1:] if ast.get_docstring(function) else function.body
        if place in places and inner and inner[0].lineno > function.lineno:
            mark = f"__import__('builtins').__dict__.get('_called', set()).add({place!r})"
            first = min(each.lineno for each in (inner[0], *getattr(inner[0], "decorator_list", ()))) - 1
            lines[first] = f"{' ' * inner[0].col_offset}{mark}\n{lines[first]}"
    return "\n".join(lines) + "\n"


class Copies:
    """Copies of the package, each of which holds one change at a time."""

    def __init__(self, folder: Path, size: int) -> None:
        self.free: Queue[Path] = Queue()
        for number in range(size):
            shutil.copytree(ROOT / "src", folder / str(number) / "src")
            self.free.put(folder / str(number))

    def noticed_by(self, mutant: Mutant, runs: list[list[str]]) -> str | None:
        """The first test that fails on the changed package; None where all pass."""
        copy = self.free.get()
        file = copy / mutant.file.relative_to(ROOT)
        try:
            file.write_text(mutant.changed)
            return next((how for run in runs if (how := self.failed(copy, run)) is not None), None)
        finally:
            file.write_text(mutant.file.read_text())
            self.free.put(copy)

    def baseline(self, changes: list[Asked]) -> Baseline:
        """How the tests of an area go on the package as it is, and which of them call what is to be changed."""
        kept = calls_of(changes[0])
        if kept.exists():
            return Baseline.of(kept.read_text().splitlines())
        copy, calls = self.free.get(), kept.with_suffix(".part")
        calls.parent.mkdir(parents=True, exist_ok=True)
        calls.unlink(missing_ok=True)
        files = {each.mutant.file: [] for each in changes}
        for each in changes:
            files[each.mutant.file].append(each.mutant)
        for file, mutants in files.items():
            (copy / file.relative_to(ROOT)).write_text(marked(file, mutants))
        command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "calls"]
        paths = f"{copy / 'src'}{os.pathsep}{ROOT / 'tests'}"
        environment = {"PYTHONPATH": paths, "PATH": "/usr/bin:/bin", "HOME": str(copy), "CALLS": str(calls)}
        words = [word for run in changes[0].runs for word in run]
        subprocess.run([*command, *words], cwd=ROOT, env=environment, capture_output=True, check=False)
        for file in files:
            (copy / file.relative_to(ROOT)).write_text(file.read_text())
        self.free.put(copy)
        calls.rename(kept)
        return Baseline.of(kept.read_text().splitlines())

    @staticmethod
    def failed(copy: Path, run: list[str]) -> str | None:
        """The first of these tests that fails with this copy, or what else goes wrong; None where they pass."""
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *run]
        environment = {"PYTHONPATH": str(copy / "src"), "PATH": "/usr/bin:/bin", "HOME": str(copy)}
        limited = ["prlimit", f"--cpu={SECONDS}", *command] if shutil.which("prlimit") else command
        ran = subprocess.run(limited, cwd=ROOT, env=environment, capture_output=True, check=False)
        said = ran.stdout.decode()
        if ran.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
            return f"longer than {SECONDS} s"
        if ran.returncode not in (0, 1, 2):  # 2: the package does not even load
            raise RuntimeError(said[-2000:])
        named = re.search(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", said, re.MULTILINE)
        return (named[1] if named else said[-200:]) if ran.returncode else None


def runs_of(area: Area) -> list[list[str]]:
    """The two calls of pytest for an area: its tests, without those that start Spark, then its part of the record."""
    recorded = [f"tests/test_record.py::test_nothing_has_moved[{name}]" for name in area.recorded]
    return [["-k", "not spark", *(f"tests/{name}.py" for name in area.tests)], recorded]


def asked_of(names: list[str]) -> list[Asked]:
    """The changes of these areas, or of all."""
    asked = [
        Asked(name, mutant, runs_of(area))
        for name, area in AREAS.items()
        if name in (names or AREAS)
        for mutant in (*named(name), *of_area(area))
    ]
    return asked + [
        Asked("formulas", each, [OF_FORMULAS]) for each in of_formulas() if not names or "formulas" in names
    ]


def tried(asked: list[Asked], known: Known, workers: int) -> None:
    """Try what is not known yet, each area after the package as it is, and say what was found of each."""
    waiting = [each for each in asked if known.of(each) is None]
    print(f"{len(asked) - len(waiting)} of {len(asked)} changes are known, {len(waiting)} are tried now", flush=True)
    with TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        copies = Copies(Path(folder), workers)

        for area, changes in groupby(waiting, key=lambda each: each.area):
            mine = sorted(changes, key=lambda each: each.mutant.address in EQUIVALENT)  # what is excused is asked last
            before = copies.baseline(mine)
            for test in before.failing:
                print(f"{area}: {test} fails on the package as it is, so it is not asked", flush=True)
            results = pool.map(copies.noticed_by, [each.mutant for each in mine], [before.runs(each) for each in mine])
            for each, noticed in zip(mine, results, strict=True):
                known.add(each, noticed)
                address = each.mutant.address
                print(f"{area}: {address}: {noticed or EQUIVALENT.get(address) or 'SURVIVED'}", flush=True)


def main(names: list[str]) -> int:
    """Try all that are not known, or those of some areas, and name the survivors."""
    asked, known = asked_of([name for name in names if name != "--state"]), Known(FOUND)
    if "--state" not in names:
        tried(asked, known, int(os.environ.get("WORKERS", "2")))
    found = [(each, known.of(each)) for each in asked]
    noticed = [line["noticed"] for _, line in found if line and line["noticed"]]
    survivors = [each for each, line in found if line and not line["noticed"]]
    alive = [each for each in survivors if each.mutant.address not in EQUIVALENT]
    print(
        f"{len(noticed) + len(survivors)} of {len(asked)} changes tried: {len(noticed)} noticed "
        f"({sum('test_record' in each for each in noticed)} by the record alone), "
        f"{len(survivors) - len(alive)} equivalent, {len(alive)} survived"
    )
    for each in alive:
        print(f"survived: {each.area}: {each.mutant.address}")
    for each, line in found:
        if line is None:
            print(f"not tried: {each.area}: {each.mutant.address}")
    return bool(alive) or None in [line for _, line in found]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
