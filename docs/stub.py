"""Stub: what type checkers and editors see of `import steelyard`, whose names load on first use; `make stub` writes it.

Every public name comes from its home, and every metric is an instance of a class whose call has that metric's own
parameters; metrics of one signature share one class.
"""

from __future__ import annotations

import inspect
import json
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import steelyard
from steelyard import list_metrics
from steelyard._names import HOME, SHELVES, SUBMODULES
from steelyard.metrics import Metric
from steelyard.metrics.formula import ARRAY_OF

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STUB = Path(steelyard.__file__).with_suffix(".pyi")
WRITTEN = ("figures", "metrics", "results", "studies", "tables")  # submodules whose names load on first use
WIDTH = 120
CALL = inspect.signature(Metric.__call__).parameters
ROWS = ("pos_label", "labels", "average", "sample_weight", "frequency", "undefined", "zero_division")
SETS = ("labels", "sample_weight", "frequency", "undefined", "zero_division")
TABLE = ("pos_label", "average", "undefined", "zero_division")
MANY_TABLES = ("undefined", "zero_division")
HEAD = """# The public names with their types, written by `make stub`.

from typing import Literal, overload

from numpy.typing import ArrayLike

"""
# A metric's call does not take what another one takes, so that a checker can refuse it; Metric's own takes all.
NARROWER = "# type: ignore[override]"


def text() -> str:
    """The whole stub."""
    metrics = sorted(list_metrics(), key=_class_name)
    classes = [(name, list(members)) for name, members in groupby(metrics, _class_name)]
    parts = [
        HEAD + "\n".join(_imports()),
        "__version__: str\n\ndef __dir__() -> list[str]: ...",
        *(_class(name, members[0]) for name, members in classes),
        "\n".join(_variable(metric, name) for name, members in classes for metric in members),
    ]
    return "\n\n".join(parts) + "\n"


def shelf_text(shelf: str) -> str:
    """The stub of a submodule: its names from their homes, of `metrics` the measures too."""
    lines = [f"# The names of steelyard.{shelf} with their types, written by `make stub`.", ""]
    measures = [("", metric.name) for metric in list_metrics()] if shelf == "metrics" else []
    lines += _sorted([*measures, *((home, name) for name, home in SHELVES[shelf].items())])
    own = {"studies": "def study_names() -> tuple[str, ...]: ..."}
    return "\n".join([*lines, "", *([own[shelf]] if shelf in own else []), "def __dir__() -> list[str]: ...", ""])


def stubs() -> dict[Path, str]:
    """Every stub by its file."""
    folder = STUB.parent
    paths = {name: folder / name / "__init__.pyi" for name in WRITTEN if (folder / name).is_dir()}
    return {STUB: text()} | {paths.get(name, folder / f"{name}.pyi"): shelf_text(name) for name in WRITTEN}


def _imports() -> list[str]:
    """The submodules, each public name from its home, and what the classes of metrics are written with."""
    public = [("", name) for name in SUBMODULES] + [(home, name) for name, home in HOME.items()]
    own = [
        ("_types", "Array, Label, LabelSet, Weights"),
        ("metrics.measure", "Metric"),
        ("metrics.registry", "MetricLike"),
        ("tables.multilabel_table", "MultilabelTable"),
    ]
    return _sorted(public, own)


def _sorted(public: list[tuple[str, str]], own: Sequence[tuple[str, str]] = ()) -> list[str]:
    """Imports in the order of the linter; public names are given on."""
    ordered = sorted([*public, *own], key=lambda pair: (pair[0].split(".") if pair[0] else [], _as_sorted(pair[1])))
    return [
        f"from steelyard{f'.{home}' if home else ''} import {name}{'' if (home, name) in own else f' as {name}'}"
        for home, name in ordered
    ]


def _as_sorted(name: str) -> tuple[bool, str]:
    """Classes before functions."""
    return not name[0].isupper(), name.lower()


# ---------------------------------------------------------------- metrics


def _class_name(metric: Metric) -> str:
    """The class of all metrics of one signature: what they take, and their parameters with type and default."""
    taken = {(False, True): "Label", (True, False): "Score", (True, True): "ScoreOrLabel"}
    kind = taken[metric.takes_scores, metric.function is not None or not metric.takes_scores]
    kind = f"{kind}Set" if metric.is_of_label_sets else kind
    own = "".join(word.capitalize() for key in _free(metric) for word in key.split("_"))
    twins = sorted({tuple(_own(m)) for m in list_metrics() if [*_free(m)] == [*_free(metric)]})
    return f"_{kind}Metric{own}{twins.index(tuple(_own(metric))) + 1 if len(twins) > 1 else ''}"


def _free(metric: Metric) -> dict[str, object]:
    return {} if metric.is_fixed else dict(metric.parameters)


def _own(metric: Metric) -> list[str]:
    """The metric's own parameters as they are written in a signature."""
    return [
        f"{key}: {_type(value, metric.domain.get(key, ''))} = {_written(value)}" for key, value in _free(metric).items()
    ]


def _written(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _type(default: object, domain: str) -> str:
    """The type of a parameter: words, a metric, or a number, whole where the default is."""
    words = ", ".join(f'"{word}"' for word in domain.split("|"))
    if domain.startswith(ARRAY_OF):
        return "ArrayLike | None"
    kind = f"Literal[{words}]" if "|" in domain else "MetricLike" if domain == "metric" else _number(default)
    return kind if default is not None else f"{kind} | None"


def _number(default: object) -> str:
    return "int" if isinstance(default, int) else "float"


def _class(name: str, metric: Metric) -> str:
    """A class of metrics with the forms of their call."""
    lines = [f"class {name}(Metric):"]
    for number, (first, keywords, given, result) in enumerate(_forms(metric)):
        parameters = ["self", *first, "*", *(_keyword(key, given) for key in keywords), *_own(metric)]
        lines += ["    @overload" + ("" if number else f"  {NARROWER}"), *_definition(parameters, result)]
    return "\n".join(lines)


def _forms(metric: Metric) -> Iterable[tuple[list[str], tuple[str, ...], str, str]]:
    """What a metric may be called with: its first arguments, keywords, the type of `average`, and what it gives."""
    other = "y_score" if metric.takes_scores else "y_pred"
    if metric.is_of_label_sets:
        yield ["y_true: ArrayLike", f"{other}: ArrayLike"], SETS, "", "float"
        yield ["y_true: MultilabelTable"], MANY_TABLES, "", "float"
        return
    tables = "Counts | Confusion" if metric.scores is None else "ScoreTable"
    if metric.scores is not None and metric.function is not None:
        tables = "Counts | Confusion | ScoreTable"
    each = ["y_true: ArrayLike | Confusion", f"{other}: ArrayLike | None = None"]
    yield ["y_true: ArrayLike", f"{other}: ArrayLike"], ROWS, 'str = "native"', "float"
    yield each if metric.scores is None else ["y_true: ArrayLike", f"{other}: ArrayLike"], ROWS, "None", "Array"
    yield [f"y_true: {tables}"], TABLE, 'str = "native"', "float"
    if metric.function is not None:
        yield ["y_true: Counts[Array]"], MANY_TABLES, "", "Array"


def _keyword(key: str, average: str) -> str:
    """A keyword of every call as Metric declares it, `average` as this form has it."""
    if key == "average":
        return f"average: {average}"
    default = CALL[key].default
    return f"{key}: {CALL[key].annotation} = {'...' if default != default else _written(default)}"  # noqa: PLR0124 - NaN


def _definition(parameters: list[str], result: str) -> list[str]:
    """One form of the call, in as few lines as the formatter leaves it."""
    line = f"    def __call__({', '.join(parameters)}) -> {result}: ..."
    if len(line) <= WIDTH:
        return [line]
    inner = f"        {', '.join(parameters)}"
    inside = [inner] if len(inner) <= WIDTH else [f"        {parameter}," for parameter in parameters]
    return ["    def __call__(", *inside, f"    ) -> {result}: ..."]


def _variable(metric: Metric, name: str) -> str:
    """A metric and its other names, each with the meaning for the editor to show."""
    meaning = "\n".join(wrap(f'"""{metric.title}: {metric.meaning}"""', WIDTH))
    return "\n".join(f"{word}: {name}\n{meaning}" for word in (metric.name, *metric.aliases))


if __name__ == "__main__":
    for path, written in stubs().items():
        path.write_text(written, encoding="utf-8")
        print(path)
