"""The house counted: what `make house` prints, and what tests/test_house.py holds.

Each count is of the package's own source, read as a tree and not as text, so that a comment or a docstring is no hit.
`python tests/house.py -v` lists every place; a folder after it is counted in place of the package.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.metrics.registry import list_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).parent.parent
FOLDERS = [Path(word) for word in sys.argv[1:] if __name__ == "__main__" and Path(word).is_dir()]
SOURCE = FOLDERS[0] if FOLDERS else ROOT / "src" / "steelyard"
FILES = sorted(SOURCE.rglob("*.py"))
CATALOGUE = {
    f"metrics/{name}.py"
    for name in ("calibration", "catalogue", "class_forms", "discrimination", "label_ranking", "ordinal", "ranking")
}
NAMES = {name for metric in list_metrics() for name in (metric.name, *metric.aliases)}
LONG_MODULE, LONG_FUNCTION = 250, 25
# Drop-ins carry scikit-learn's names, by which a user looks for them, beside our own functions of the same idea.
SHARED_NAMES = {"roc_curve", "precision_recall_curve"}


def place(path):
    """A file's path inside the package."""
    return path.relative_to(SOURCE).as_posix()


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path):
    """Every part of the tree."""
    return list(ast.walk(tree(path)))


@cache
def code(path):
    """Every part of the tree without the strings that stand as statements."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(module):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            node.body = body[1:] or [ast.Pass()]
    return list(ast.walk(module))


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_study(path):
    return place(path).startswith("studies/")


def functions(path):
    return (node for node in nodes(path) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


# ---------------------------------------------------------------- metrics by name


def metric_lists():
    """Literal collections of two or more metrics outside the catalogue and the studies, by name or as imported."""
    for path in FILES:
        if place(path) in CATALOGUE or is_study(path) or place(path) == "sklearn.py":  # scikit-learn's names
            continue
        imported = {name for module, names in imports(path) if module in CATALOGUE for name in names}
        for node in code(path):
            metrics = _metrics(_collected(node, imported))
            if len(metrics) >= 2:
                yield f"{place(path)}:{node.lineno} {', '.join(sorted(metrics))}"


def _metrics(words):
    return {_stem(word) for word in words} & NAMES


def _collected(node, imported):
    """The words of a collection: of a tuple, list, set, dictionary, `case a | b`, `dict(a=...)` or a text to be split."""
    match node:
        case ast.Dict(keys=keys, values=values):
            return max(_texts(keys, imported), _texts(values, imported), key=lambda words: len(_metrics(words)))
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return _texts(elements, imported)
        case ast.MatchOr(patterns=patterns):
            return _texts([p.value for p in patterns if isinstance(p, ast.MatchValue)], imported)
        case ast.BoolOp(op=ast.Or(), values=values):
            tests = [v for v in values if isinstance(v, ast.Compare) and isinstance(v.ops[0], ast.Eq)]
            return _texts([t.comparators[0] for t in tests], imported)
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return [keyword.arg for keyword in keywords if keyword.arg]
        case ast.Constant(value=str(text)) if set(words := re.split(r"[,\s]+", text.strip())) <= NAMES:
            return words
    return []


def _texts(nodes, imported):
    """The strings among the nodes, and the names that are metrics imported from the catalogue."""
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names = [node.id for node in nodes if isinstance(node, ast.Name) and node.id in imported]
    attributes = [n.attr for n in nodes if isinstance(n, ast.Attribute) and _is_catalogue(n.value)]
    return texts + names + attributes


def _is_catalogue(node):
    return isinstance(node, ast.Name) and f"metrics/{node.id}.py" in CATALOGUE


def _stem(word):
    return word.partition("[")[0]


def files_that_name(metric):
    """Files outside the studies whose code, not their prose, names a metric."""
    for path in FILES:
        words = (word for node in code(path) for word in _words(node))
        if not is_study(path) and any(metric == _stem(word.strip()) for word in words):
            yield place(path)


def _words(node):
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.FunctionDef(name=word) | ast.alias(name=word):
            yield word
        case ast.keyword(arg=str(word)):
            yield word
        case ast.Constant(value=str(text)):
            yield from text.split(",")


# ---------------------------------------------------------------- types


def parameters():
    """Every annotated parameter: where it stands, and its annotation."""
    for path in FILES:
        for node in functions(path):
            a = node.args
            for parameter in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg):
                if parameter is not None and parameter.annotation is not None:
                    yield path, node.name, parameter


def parameters_typed(names):
    """The parameters that a type of this name, or an alias of it in any module, makes open to every value."""
    aliases = aliases_of(names)
    for path, function, parameter in parameters():
        if _admits(parameter.annotation, aliases[place(path)]) and not _takes_anything(function):
            yield f"{place(path)}:{parameter.lineno} {parameter.arg}"


def _takes_anything(function):
    """Python itself asks these to take any object."""
    return function in {"__eq__", "__ne__", "__contains__", "__exit__"}


def aliases_of(names):
    """By file, the words that mean one of these types: imported under another name, assigned, or imported from there."""
    words = {place(path): set(names) | _renamed(path, names) for path in FILES}
    while True:
        grown = {place(path): words[place(path)] | _assigned(path, words) | _imported(path, words) for path in FILES}
        if grown == words:
            return words
        words = grown


def _renamed(path, names):
    froms = (node for node in nodes(path) if isinstance(node, ast.ImportFrom) and node.module == "typing")
    return {alias.asname for node in froms for alias in node.names if alias.name in names and alias.asname}


def _assigned(path, words):
    """Names that a statement makes mean such a type: `X = Any`, `X: TypeAlias = Any | None`."""
    known = words[place(path)]
    return {name for names, value in _assignments(path) if _admits(value, known) for name in names}


@cache
def _assignments(path):
    """The names that each statement assigns to, and what it assigns."""
    found = [(_targets(node), node.value) for node in nodes(path) if isinstance(node, (ast.Assign, ast.AnnAssign))]
    return [(names, value) for names, value in found if names and value is not None]


def _targets(node):
    match node:
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias") | ast.Attribute()):
            return [name]
    return []


def _imported(path, words):
    return {
        own
        for module, names in imports(path)
        for own, name in names.items()
        if name in words.get(module, ())  # a module's own words: it may re-export them
    }


@cache
def imports(path):
    """What a file imports from the package: each module's place, and the names under which its names are used."""
    return list(_imports(path))


def _imports(path):
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("steelyard."):
            home = node.module.removeprefix("steelyard.").replace(".", "/")
            names = {alias.asname or alias.name: alias.name for alias in node.names}
            yield f"{home}.py", names
            yield f"{home}/__init__.py", names


def _admits(annotation, words):
    """Whether an annotation is one of these words, or a union with it, quoted or not."""
    match annotation:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _admits(left, words) or _admits(right, words)
        case ast.Constant(value=str(text)):
            try:
                return _admits(ast.parse(text, mode="eval").body, words)
            except SyntaxError:
                return False
        case ast.Subscript(value=ast.Name(id="Optional" | "Union" | "Annotated"), slice=part):
            parts = part.elts if isinstance(part, ast.Tuple) else [part]
            return any(_admits(member, words) for member in parts)
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word in words
    return False


# ---------------------------------------------------------------- form


def format_marks():
    """Lines that the formatter is told to leave alone."""
    for path in FILES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"# (fmt: (skip|off)|yapf: disable)", line):
                yield f"{place(path)}:{number}"


def names_defined_twice():
    """Public names that two modules define at their top, other than by import."""
    homes = defaultdict(set)
    for path in FILES:
        for node in _top(tree(path)):
            for name in _defined(node):
                if not name.startswith("_") and name not in SHARED_NAMES:
                    homes[name].add(place(path))
    return [f"{name}: {', '.join(sorted(places))}" for name, places in sorted(homes.items()) if len(places) > 1]


def _top(node):
    """The statements of a module, those inside its `if` and `try` among them."""
    for part in node.body:
        yield part
        if isinstance(part, (ast.If, ast.Try)):
            yield from _top(part)


def _defined(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    stored = (name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
    return [name.id for name in stored if isinstance(name.ctx, ast.Store)]


def long_modules():
    """Modules over 250 lines."""
    lengths = {place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    return [f"{name} ({length})" for name, length in lengths.items() if length > LONG_MODULE]


def body_lengths():
    """Every function: where it stands, and the lines of its body without the docstring."""
    for path in FILES:
        for node in functions(path):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield f"{place(path)}:{node.lineno} {node.name}", body[-1].end_lineno - body[0].lineno + 1 if body else 0


def long_functions():
    """Functions whose body, without its docstring, is over 25 lines."""
    return [f"{where} ({length})" for where, length in body_lengths() if length > LONG_FUNCTION]


# ---------------------------------------------------------------- what is held


@dataclass(frozen=True)
class Count:
    """One thing to count: what it is, what 0.1.0 had, what is allowed now, how it is found, and of how many."""

    what: str
    before: str
    allowed: float
    found: Callable[[], Iterable[str]]
    total: Callable[[], Iterable[object]] | None = None

    @property
    def unit(self):
        return "" if self.total is None else " %"

    @cached_property
    def where(self):
        return list(self.found())

    @cached_property
    def value(self):
        number = len(self.where)
        return number if self.total is None else round(100 * number / sum(1 for _ in self.total()), 1)

    @property
    def holds(self):
        return self.value <= self.allowed


# All that is counted, in the order of the table; nothing is counted before it is asked for.
COUNTS = (
    Count("literal collections of metrics outside the catalogue and the studies", "39", 5, metric_lists),
    Count("files outside the studies that name ac_score in code", "17", 4, partial(files_that_name, "ac_score")),
    Count(
        "annotated parameters typed Any or an alias of it", "26 %", 10, partial(parameters_typed, {"Any"}), parameters
    ),
    Count("annotated parameters typed object", "0.4 %", 3, partial(parameters_typed, {"object"}), parameters),
    Count("lines the formatter is told to leave alone", "222", 20, format_marks),
    Count("public top-level names defined twice", "167", 0, names_defined_twice),
    Count("modules over 250 lines", "23", 5, long_modules),
    Count("functions over 25 lines", "6", 0, long_functions),
)


def table():
    """The counts as text."""
    head = f"{'what is counted':70} {'0.1.0':>11} {'allowed':>8} {'now':>11}"
    rows = (f"{c.what:70} {c.before:>11} {f'{c.allowed:g}{c.unit}':>8} {f'{c.value:g}{c.unit}':>11}" for c in COUNTS)
    return "\n".join(
        [head, *rows, f"{'lines of a function, median / p90 / max':70} {'4 / 13 / 28':>11} {'':8} {body():>11}"]
    )


def body():
    """The lines of the functions' bodies: the median, the ninth tenth and the longest."""
    lengths = sorted(length for _, length in body_lengths())
    return f"{statistics.median(lengths):g} / {statistics.quantiles(lengths, n=10)[-1]:.0f} / {lengths[-1]}"


if __name__ == "__main__":
    print(table())
    for count in COUNTS:
        if "-v" in sys.argv:
            print(f"\n{count.what}:", *count.where, sep="\n  ")
