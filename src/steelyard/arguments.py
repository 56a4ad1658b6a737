"""Arguments of a wrong kind: what a public function says of one that it failed on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import ArgumentKindError, InputError, SteelyardError, short_repr, surrogate_sentence

if TYPE_CHECKING:
    from typing import ParamSpec, TypeVar

    _Given = ParamSpec("_Given")
    _Result = TypeVar("_Result")

_MOST = 10**9  # repetitions, bins or rows that one call can ask for


def names_wrong_arguments(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """The function, whose failure on an argument of a wrong kind is a sentence that names it.

    The function's own sentences come first. Where it fails by another error, each argument is held against the kinds
    that its annotation allows; where all fit, the error is a fault of ours and stays as it is. A function within names
    the argument by its own word, so that it is named anew here. A switch is looked at before, since "no" would pass for
    yes, and so is a whole number, since 10**30 repetitions never end.

    >>> @names_wrong_arguments
    ... def half(n: int) -> float:
    ...     return n / 2
    >>> half([])
    Traceback (most recent call last):
    steelyard.exceptions.ArgumentKindError: n= is a whole number, not [].
    """
    kinds = function.__annotations__
    switches = {name for name, kind in kinds.items() if kind == "bool"}
    whole = {name for name, kind in kinds.items() if kind in ("int", "int | None")}
    watched = switches | whole

    @wraps(function)
    def call(*arguments: _Given.args, **options: _Given.kwargs) -> _Result:
        for name in watched.intersection(options):
            value = options[name]
            if name in switches and not isinstance(value, Integral) and not hasattr(value, "dtype"):
                raise ArgumentKindError(f"{name}= is True or False, not {short_repr(value)}.")
            if name in whole and isinstance(value, int) and value > _MOST:
                raise InputError(f"{name}= is {_MOST:,} at most, not {short_repr(value)}.")
        try:
            return function(*arguments, **options)
        except ArgumentKindError as error:
            if sentence := _wrong_kind(function, arguments, options):
                raise ArgumentKindError(sentence) from error
            raise
        except (SteelyardError, OSError, ImportError):
            raise
        except UnicodeEncodeError as error:
            raise InputError(surrogate_sentence(error)) from error
        except Exception as error:
            if sentence := _wrong_kind(function, arguments, options):
                raise ArgumentKindError(sentence) from error
            raise

    return call


def _wrong_kind(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    """The sentence about the first argument that none of its annotation's kinds fits."""
    taken = signature(function)
    try:
        given = taken.bind(*arguments, **options).arguments
    except TypeError:
        return None  # Python's own sentence names the argument
    for name, value in given.items():
        parameter = taken.parameters[name]
        if parameter.kind is Parameter.VAR_KEYWORD or name in ("self", "cls"):
            continue
        kinds = kinds_of(str(parameter.annotation))
        for one in value if parameter.kind is Parameter.VAR_POSITIONAL else (value,):
            if not any(fits(kind, one) for kind in kinds):
                words = list(dict.fromkeys(_words(kind) for kind in kinds if kind != "None"))
                expected = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
                return f"{name}= is {expected}, not {short_repr(one)}."
    return None


def kinds_of(annotation: str) -> list[str]:
    """The kinds that an annotation lists, each without what it holds.

    >>> kinds_of("Sequence[str | int] | Weights")
    ['Iterable', 'ArrayLike', 'None']
    """
    while "[" in annotation:  # from the innermost bracket outwards
        before, _, rest = annotation.rpartition("[")
        annotation = before + rest.partition("]")[2]
    names = (name.strip().rpartition(".")[2] for name in annotation.split("|"))
    return [kind for name in names for kind in (kinds_of(_ALIASES[name]) if name in _ALIASES else [name])]


def fits(kind: str, value: object) -> bool:
    """Whether a value is of a kind: one of those below, or a class of that name."""
    if kind in _KINDS:
        return bool(_KINDS[kind][1](value))
    return any(base.__name__ == kind for base in type(value).__mro__)


def _words(kind: str) -> str:
    return _KINDS[kind][0] if kind in _KINDS else f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}"


def _is_column(value: object) -> bool:
    """Whether a value may be a column or a table of an array: of real numbers, text, truth values or times."""
    import numpy as np

    if value is None or isinstance(value, (str, bytes, Mapping, set, frozenset, Iterator, type)):
        return False
    if str(getattr(value, "device", "cpu")) != "cpu":
        return True
    try:
        array = np.asarray(value)
    except Exception:  # noqa: BLE001 - of whatever library the value is
        return False
    if array.dtype.kind == "O" and any(
        item is None or isinstance(item, (complex, set, frozenset, Mapping, list)) for item in array.flat
    ):
        return False
    return array.ndim > 0 and array.dtype.kind != "c"


def _is_list(value: object) -> bool:
    if hasattr(value, "dtype") or isinstance(value, (list, tuple)):
        return _is_column(value) or (isinstance(value, (list, tuple)) and not any(isinstance(i, list) for i in value))
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_label(value: object) -> bool:
    return value is None or isinstance(value, (str, Real)) or hasattr(value, "isoformat")


_SAVED = "what to_json() wrote"
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "Any": ("anything", lambda _: True),
    "object": ("anything", lambda _: True),
    "None": ("None", lambda value: value is None),
    "bool": ("True or False", lambda value: isinstance(value, bool)),
    "int": ("a whole number", lambda value: isinstance(value, Integral) and not isinstance(value, bool)),
    "float": ("a number", _is_number),
    "str": ("text", lambda value: isinstance(value, str)),
    "bytes": ("bytes", lambda value: isinstance(value, bytes)),
    "Label": ("one label", _is_label),
    "ArrayLike": ("a column of values, one for each row", _is_column),
    "Iterable": ("a list", _is_list),
    "tuple": ("a pair or list", lambda value: isinstance(value, (tuple, list)) and _is_list(value)),
    "Mapping": ("a dictionary", lambda value: isinstance(value, Mapping)),
    "Callable": ("a function", callable),
    "PathLike": ("a path", lambda value: isinstance(value, PathLike)),
    "Saved": (_SAVED, lambda value: isinstance(value, (str, bytes, dict))),
    "Frame": ("a frame", lambda value: hasattr(type(value), "columns") or hasattr(value, "columns")),
    "PairOrder": ("'weight' or 'share'", lambda value: isinstance(value, str)),
    "Metric": (
        "a metric or its name",
        lambda value: isinstance(value, str) or callable(value) or hasattr(value, "metric"),
    ),
    "Estimator": ("an estimator with fit and predict", lambda value: hasattr(value, "fit")),
    "Sampler": ("a resampler", lambda value: hasattr(value, "fit_resample")),
    "Splitter": ("a split", lambda value: hasattr(value, "split")),
    "SamplingDesign": ("a plan of the labelled rows", lambda value: hasattr(value, "index")),
    "Table": ("a table or a result", lambda value: type(value).__module__.startswith("steelyard.")),
    "Axes": ("the axes of a figure", lambda value: hasattr(value, "get_facecolor")),
    "Generator": ("a NumPy Generator", lambda value: hasattr(value, "bit_generator")),
}
# What the annotations of public functions call by one name.
_ALIASES = {
    "Array": "ArrayLike",
    "Features": "ArrayLike | Frame",
    "Weights": "ArrayLike | None",
    "Sequence": "Iterable",
    "Container": "Iterable",
    "LabelSet": "Iterable",
    "Labels": "Iterable",
    "Metrics": "Iterable",
    "dict": "Mapping",
    "Tags": "Mapping",
    "CostsLike": "Mapping",
    "Progress": "Callable",
    "Count": "Callable",
    "Path": "PathLike",
    "SavedResult": "Saved | PathLike",
    "Rng": "int | Generator | None",
    "MetricLike": "Metric",
    "SpecLike": "Metric",
    "AimLike": "Metric | Iterable | Mapping",
    "Resampler": "Sampler | str | None",
    "SamplersLike": "Resampler | Iterable | Mapping",
    "ResamplersLike": "Resampler | Iterable | Mapping",
    "EstimatorsLike": "Estimator | Iterable | Mapping",
    "Tested": "Estimator | ArrayLike",
    "SplitLike": "int | str | Splitter | Iterable",
    "VariantsLike": "Mapping | Iterable",
    "HierarchyLike": "str | Mapping | Iterable",
    "Bins": "int | Mapping",
    "By": "str | ArrayLike | Mapping",
    "ModelColumns": "ArrayLike | Mapping",
    "ScoresLike": "ArrayLike | Mapping",
    "ComparedModels": "Mapping | Iterable | None",
    "ScoreNames": "str | Iterable",
    "LimitsLike": "str | Iterable",
    "Thresholds": "float | Mapping | None",
    "RankedTable": "Mapping | Frame | ArrayLike",
    "SharesLike": "float | ArrayLike | Mapping | Table",
    "PrevalenceLike": "float | ArrayLike | Mapping | Table",
    "PlannedLike": "Table | ArrayLike | float",
    "Classifier": "Table | ArrayLike",
    "Scores": "ArrayLike | Table | Mapping",
    "Models": "Table | Mapping",
    "Gated": "Table | Mapping",
    "BaselineLike": "str | PathLike | Table",
    "PromiseLike": "str | PathLike | Table",
    "Given": "ArrayLike | Frame | Table",
    "RowsLike": "ArrayLike | Frame | Table | str | PathLike | Iterable | None",
    "Statistic": "Table",
    "MetricTable": "Table",
    "AnyTable": "Table",
    "ReferenceTable": "Table",
    "AnyEvaluation": "Table",
    "Evaluated": "Table",
    "Operand": "Table | ArrayLike | float",
    "DrawingArea": "Axes",
}
