"""The house counted: what `make house` prints, and what tests/test_house.py holds.

Each count is of the package's own source, read as a tree and not as text, so that a comment or a docstring is no hit.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from steelyard.metrics.registry import list_metrics

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "steelyard"
FILES = sorted(SOURCE.rglob("*.py"))
CATALOGUE = {f"metrics/{name}.py" for name in ("catalogue", "class_forms", "ranking")}
NAMES = {name for metric in list_metrics() for name in (metric.name, *metric.aliases)}
LISTS = {"metrics/catalogue.py"}  # a list is as long as what it lists
LONG_MODULE, LONG_FUNCTION = 250, 25


def place(path):
    """A file's path inside the package."""
    return path.relative_to(SOURCE).as_posix()


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def is_study(path):
    return place(path).startswith("studies/")


def without_docstrings(node):
    """The tree with no string that stands as a statement."""
    for part in ast.walk(node):
        body = getattr(part, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            part.body = body[1:] or [ast.Pass()]
    return node


# ---------------------------------------------------------------- what is counted


def metric_lists():
    """Literal collections of two or more metric names outside the catalogue and the studies."""
    for path in FILES:
        if place(path) in CATALOGUE or is_study(path):
            continue
        for node in ast.walk(without_docstrings(tree(path))):
            elements = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", None)
            words = [e.value for e in elements or () if isinstance(e, ast.Constant) and isinstance(e.value, str)]
            if sum(_stem(word) in NAMES for word in words) >= 2:
                yield f"{place(path)}:{node.lineno}"


def _stem(word):
    return word.partition("[")[0]


def parameters():
    """Every annotated parameter: where it stands, and whether any value passes its annotation."""
    for path in FILES:
        module = tree(path)
        aliases = {"Any", "object"} - {"object"} | set(_aliases_of_any(module))
        for node in ast.walk(module):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = node.args
                every = [
                    *arguments.posonlyargs,
                    *arguments.args,
                    *arguments.kwonlyargs,
                    arguments.vararg,
                    arguments.kwarg,
                ]
                for argument in every:
                    if argument is not None and argument.annotation is not None:
                        yield f"{place(path)}:{argument.lineno} {argument.arg}", _is_any(argument.annotation, aliases)


def _aliases_of_any(module):
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == "Any":
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _is_any(annotation, aliases):
    """Any itself, under whatever name, or a union with it."""
    if isinstance(annotation, ast.BinOp):
        return _is_any(annotation.left, aliases) or _is_any(annotation.right, aliases)
    return isinstance(annotation, ast.Name) and annotation.id in aliases


def loose_parameters():
    """Parameters that any value passes."""
    return [where for where, loose in parameters() if loose]


def format_marks():
    """Lines that the formatter is told to leave alone."""
    for path in FILES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"# fmt: (skip|off)", line):
                yield f"{place(path)}:{number}"


def names_defined_twice():
    """Public names that two modules define at their top, other than by import."""
    homes = defaultdict(set)
    for path in FILES:
        for node in tree(path).body:
            for name in _defined(node):
                if not name.startswith("_"):
                    homes[name].add(place(path))
    return [f"{name}: {', '.join(sorted(places))}" for name, places in sorted(homes.items()) if len(places) > 1]


def _defined(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


def long_modules():
    """Modules over 250 lines."""
    lengths = {place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    return [f"{name} ({length})" for name, length in lengths.items() if length > LONG_MODULE]


def long_functions():
    """Functions whose body, without its docstring, is over 25 lines."""
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                if length > LONG_FUNCTION:
                    yield f"{place(path)}:{node.lineno} {node.name} ({length})"


def files_that_name(metric):
    """Files outside the studies whose code, not their prose, names a metric."""
    for path in FILES:
        words = (word for node in ast.walk(without_docstrings(tree(path))) for word in _words(node))
        if not is_study(path) and any(metric == _stem(word) for word in words):
            yield place(path)


def _words(node):
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.FunctionDef(name=word) | ast.alias(name=word):
            yield word
        case ast.Constant(value=str(word)):
            yield word


# ---------------------------------------------------------------- what is held


@dataclass(frozen=True)
class Count:
    """One thing counted: what it is, what 0.1.0 had, what is allowed now, and where it is found."""

    what: str
    before: str
    allowed: float
    where: list[str]
    value: float
    unit: str = ""

    @property
    def holds(self):
        return self.value <= self.allowed


def counts():
    """All that is counted, in the order of the table."""
    every, loose = list(parameters()), loose_parameters()
    lists = (
        ("literal collections of metric names outside the catalogue and the studies", "39", 5, list(metric_lists())),
        ("lines the formatter is told to leave alone", "222", 20, list(format_marks())),
        ("public top-level names defined twice", "38", 0, names_defined_twice()),
        ("modules over 250 lines", "23", 5, long_modules()),
        ("functions over 25 lines", "6", 0, list(long_functions())),
        ("files outside the studies that name ac_score in code", "17", 4, list(files_that_name("ac_score"))),
    )
    share = Count(
        "annotated parameters that any value passes", "26 %", 10, loose, round(100 * len(loose) / len(every), 1), " %"
    )
    return [share, *(Count(what, before, allowed, where, len(where)) for what, before, allowed, where in lists)]


def table():
    """The counts as text."""
    head = f"{'what is counted':74} {'0.1.0':>6} {'allowed':>8} {'now':>8}"
    rows = (f"{c.what:74} {c.before:>6} {f'{c.allowed:g}{c.unit}':>8} {f'{c.value:g}{c.unit}':>8}" for c in counts())
    return "\n".join([head, *rows])


if __name__ == "__main__":
    import sys

    print(table())
    for count in counts():
        if "-v" in sys.argv or not count.holds:
            print(f"\n{count.what}:", *count.where, sep="\n  ")
