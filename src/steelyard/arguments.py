"""Arguments: what a public function says of a keyword that has no place in it, or of a value of a wrong kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

from steelyard.exceptions import ArgumentKindError, InputError, InputTypeError, SteelyardError, surrogate_sentence

if TYPE_CHECKING:
    from typing import ParamSpec, TypeVar

    _Given = ParamSpec("_Given")
    _Result = TypeVar("_Result")

_MOST = 10**9  # repetitions, bins or rows that one call can ask for
_ELSEWHERE = {  # keywords that other functions take
    "by": "by= reports groups of rows separately, and {who} gives one result: evaluate takes by=, or give {who} the "
    "rows of one group.",
    "cluster": "cluster= is for intervals, and {who} takes the rows as independent; evaluate, compare and "
    "interval allow for it.",
    "zero_division": "zero_division= puts a number in place of an undefined metric, and {who} leaves it undefined and "
    "says why; for the number call the metric, as in steelyard.precision(y_true, y_pred, zero_division=0).",
    "cost": "cost= is of thresholds: best_threshold, operating_points and group_thresholds take it; {who} has what "
    "errors cost as a metric, 'expected_cost[cost_fn=10]'.",
    "average": "average= is part of a metric's name, such as 'f1[average=macro]', and {who} takes it there alone.",
}
_OF_SPLITS = (
    "{name}= has no place in {who}; groups= keeps grouped rows, such as those of a patient, on one side of every split."
)
_SYNONYMS = {  # words of other libraries
    "y_prob": "y_score",
    "y_proba": "y_score",
    "y_hat": "y_pred",
    "weights": "sample_weight",
    "random_state": "rng",
    "seed": "rng",
    "positive": "pos_label",
    "alpha": "level",
}
_LIMITED = ("recall", "precision", "specificity", "fpr", "f1", "mcc")  # metrics that limits are often of
_OF_READ = ("true", "pred", "score", "weight", "label_sep", "long", "exact")  # options that name columns
_PARAMETERS = (
    "beta",
    "w",
    "rho",
    "bands",
    "k",
    "max_fpr",
    "multi_class",
    "of",
    "share",
)  # of metrics, not of questions
_WORSE_RULES = "a rule that fails better models is refused"
# Keywords that were renamed, by the function that took them or None for all: the new one, or what to do in its place.
# An entry acts where the function does not take the old keyword.
RENAMED: dict[str | None, dict[str, str]] = {
    None: {"resamples": "draws", "promise": "guarantee"},
    "Accumulator": {"weigh": "give sample_weight= or frequency= with each batch"},
    "Ledger.log": {"frame": "predictions"},
    "best_threshold": {
        "tolerance": "the plateau is relative to the value",
        "both_directions": "give the scores with the other sign where low ones are positive",
    },
    "at_prevalence": {"pi": "give the prevalence in the second place, after the rows or the table"},
    "compare": {"scores": "give y_score=, or of a frame score="},
    "correct_prior": {"p": "y_score"},
    "cross_evaluate": {"cost": "resources"},
    "errors": {"where": "filter", "keys": "key"},
    "gate": {"allow_worse": _WORSE_RULES},
    "assert_gate": {"allow_worse": _WORSE_RULES},
    "multilabel": {"row": "long", "label": "long"},
    "recommend": {
        "equal_class_weight": "give use='balance' where both classes matter alike, use='alerts' where positives do",
        "ranking": "give use='ranking'",
        "calibration": "give use='probabilities'",
        "costs": "give cost={'cost_fn': 10, 'cost_fp': 1}",
        "clusters": "cluster",
        "reference_threshold": "threshold",
        "deployment_prevalence": "stable_prevalence",
    },
    "sample_size": {"y_score": "like", "threshold": "like"},
    "slices": {"least": "min_rows", "rate": "fdr", "most": "first"},
    "unlabelled": {"scores": "y_score"},
}


@overload
def names_wrong_arguments(function: Callable[_Given, _Result], /) -> Callable[_Given, _Result]: ...
@overload
def names_wrong_arguments(
    *, keywords: type[Any]
) -> Callable[[Callable[_Given, _Result]], Callable[_Given, _Result]]: ...
def names_wrong_arguments(
    function: Callable[..., Any] | None = None, /, *, keywords: type[Any] | None = None
) -> Callable[..., Any]:
    """The function, whose failure on a wrong argument is a sentence that names it.

    The function's own sentences come first. Where it fails by another error, it was called with a keyword that it does
    not take or with too many values, or an argument is of none of the kinds that its annotation allows; where all fit,
    the error is a fault of ours and stays as it is. A function within names the argument by its own word, so that it
    is named anew here. A switch is looked at before, since "no" would pass for yes, and so is a whole number, since
    10**30 repetitions never end. `keywords` is the TypedDict of what `**` takes: these are parameters as well, which
    the signature lists.

    >>> @names_wrong_arguments
    ... def half(n: int) -> float:
    ...     return n / 2
    >>> half([])
    Traceback (most recent call last):
    steelyard.exceptions.ArgumentKindError: n= is a whole number, not [].
    >>> half(number=2)
    Traceback (most recent call last):
    steelyard.exceptions.InputTypeError: half takes no number=; leave it out.
    """
    if function is None:
        return partial(_named, keywords=keywords)
    return _named(function)


def _named(function: Callable[..., Any], keywords: type[Any] | None = None) -> Callable[..., Any]:
    taken = None if keywords is None else _with_keywords(signature(function), keywords)
    kinds = {**function.__annotations__, **({} if keywords is None else _kinds_of_keywords(keywords))}
    switches = {name for name, kind in kinds.items() if kind == "bool"}
    whole = {name for name, kind in kinds.items() if kind in ("int", "int | None")}
    watched = switches | whole

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if taken is not None and not options.keys() <= taken.parameters.keys():
            unknown = next(name for name in options if name not in taken.parameters)
            raise InputTypeError(_unknown(function, unknown, taken.parameters))
        for name in watched.intersection(options):
            value = options[name]
            if name in switches and not isinstance(value, Integral) and not hasattr(value, "dtype"):
                raise ArgumentKindError(argument=name, expected="True or False", given=value)
            if name in whole and isinstance(value, int) and value > _MOST:
                raise InputError(argument=name, expected=f"{_MOST:,} at most", given=value)
        try:
            return function(*arguments, **options)
        except UnicodeEncodeError as error:
            raise InputError(surrogate_sentence(error)) from error
        except Exception as error:
            if wrong := _wrong_argument(function, taken or signature(function), arguments, options, error):
                raise wrong from error
            raise

    if taken is not None:
        call.__signature__ = taken  # type: ignore[attr-defined]  # what inspect and editors read
    return call


def _wrong_argument(
    function: Callable[..., Any],
    taken: Signature,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    error: Exception,
) -> InputTypeError | None:
    """The refusal of the argument by which a call failed; None where the error is to stay as it is."""
    if isinstance(error, InputTypeError) and not isinstance(error, ArgumentKindError):
        return _misspelled(function, taken, options, str(error))
    if isinstance(error, (SteelyardError, OSError, ImportError)) and not isinstance(error, ArgumentKindError):
        return None
    return _has_no_place(function, taken, arguments, options) or _has_wrong_kind(taken, arguments, options)


def _name_of(function: Callable[..., Any]) -> str:
    """The name by which a function is called: that of the class for its constructor."""
    *_, holder, name = ["", *function.__qualname__.split(".")]
    return holder if name in ("__init__", "__call__") else name


def _with_keywords(own: Signature, keywords: type[Any]) -> Signature:
    """The signature with the keywords of a TypedDict in place of `**`."""
    named = [parameter for parameter in own.parameters.values() if parameter.kind is not Parameter.VAR_KEYWORD]
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _kinds_of_keywords(keywords).items()
    ]
    return own.replace(parameters=[*named, *more])


def _kinds_of_keywords(keywords: type[Any]) -> dict[str, str]:
    return {name: str(getattr(kind, "__forward_arg__", kind)) for name, kind in keywords.__annotations__.items()}


def refuse_keywords(who: str, options: Mapping[str, object], names: Iterable[str] = tuple(_ELSEWHERE)) -> None:
    """Refuse the keywords of other functions among the options, each by what to do instead."""
    for name in names:
        if options.get(name) is not None:
            raise InputTypeError(_ELSEWHERE[name].format(who=who))


def _misspelled(
    function: Callable[..., Any], taken: Signature, options: Mapping[str, object], sentence: str
) -> InputTypeError | None:
    """What is refused as no parameter of a metric is named as the keyword of the function that it nearly is."""
    own = taken.parameters
    for name in options:
        if name not in own and name in sentence:
            if old := _renamed(function, name, own):
                return InputTypeError(old)
            if near := get_close_matches(name, own, n=1, cutoff=0.8):
                return InputTypeError(f"{_name_of(function)} takes no {name}=. Did you mean {near[0]}=?")
    return None


def _has_no_place(
    function: Callable[..., Any], taken: Signature, arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> InputTypeError | None:
    """The refusal of a keyword that the function does not take, of too many values or of too few."""
    try:
        taken.bind(*arguments, **options)
    except TypeError:
        pass
    else:
        return None
    who, known = _name_of(function), taken.parameters
    if not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in known.values()):
        for name in options:
            if name not in known or known[name].kind is Parameter.POSITIONAL_ONLY:
                return InputTypeError(_unknown(function, name, known))
    own = [name for name in known if name not in ("self", "cls")]
    by_place = [name for name in own if known[name].kind not in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD)]
    given = arguments[len(known) - len(own) :]
    if len(given) > len(by_place):
        columns = given[1:]
        if by_place[-1] == "models":
            return InputTypeError(
                f'{who} takes the models as one argument: {{"A": ..., "B": ...}} of values, ["A", "B"] of names.'
            )
        if len(columns) == 2 and all(isinstance(name, str) for name in columns) and "true" in known:
            use = "pred" if "pred" in known else "score"
            return InputTypeError(
                f"{who} takes the columns of a frame by name: {who}(frame, true={columns[0]!r}, {use}={columns[1]!r})."
            )
        return InputTypeError(
            f"{who} takes {len(by_place)} values by place, {' and '.join(by_place)}, not {len(given)}; name the others."
        )
    twice = next((name for name in by_place[: len(given)] if name in options), None)
    if twice is not None:
        return InputTypeError(f"{twice}= was given to {who} twice, by place and by name; give it once.")
    lacking = next(name for name in own[len(given) :] if known[name].default is Parameter.empty and name not in options)
    equals = "" if known[lacking].kind is Parameter.POSITIONAL_ONLY else "="
    return InputTypeError(f"{who} needs {lacking}{equals}; give it.")


def _renamed(function: Callable[..., Any], name: str, known: Mapping[str, Parameter]) -> str:
    """What to give in place of a keyword that the function took once; nothing where it never did."""
    who = _name_of(function)
    own = RENAMED.get(function.__qualname__) or RENAMED.get(who) or {}
    new = own.get(name) or RENAMED[None].get(name, "")
    if " " in new:
        return f"{who} takes no {name}= any more: {new}."
    return f"{who} takes {new}= in place of {name}=." if new in known else ""


def _unknown(function: Callable[..., Any], name: str, known: Mapping[str, Parameter]) -> str:
    """What to do in place of giving a keyword that the function does not take."""
    who = _name_of(function)
    if old := _renamed(function, name, known):
        return old
    if who == "Predictions" and name in _OF_READ:
        return f"Predictions takes values; Predictions.read(frame, {name}=...) takes the names of columns."
    if "groups" in known and name in ("by", "cluster"):
        return _OF_SPLITS.format(name=name, who=who)
    if name in _ELSEWHERE:
        return _ELSEWHERE[name].format(who=who)
    if "metric" in known and name in _PARAMETERS:
        return f"{who} takes no {name}=; a parameter is part of a metric's name, such as 'f_beta[beta=2]'."
    if name in _LIMITED and ("where" in known or "rules" in known):
        how = f"where='{name} >= 0.9'" if "where" in known else f"the text '{name} >= 0.9'"
        return f"{who} takes no {name}=; a limit is written as {how}."
    near = [_SYNONYMS[name]] if _SYNONYMS.get(name) in known else get_close_matches(name, known, n=1)
    return f"{who} takes no {name}=. Did you mean {near[0]}=?" if near else f"{who} takes no {name}=; leave it out."


def _has_wrong_kind(taken: Signature, arguments: tuple[Any, ...], options: dict[str, Any]) -> ArgumentKindError | None:
    """The refusal of the first argument that none of its annotation's kinds fits."""
    for name, value in taken.bind(*arguments, **options).arguments.items():
        parameter = taken.parameters[name]
        if parameter.kind is Parameter.VAR_KEYWORD or name in ("self", "cls"):
            continue
        kinds = kinds_of(str(parameter.annotation))
        for one in value if parameter.kind is Parameter.VAR_POSITIONAL else (value,):
            if not any(fits(kind, one) for kind in kinds):
                words = list(dict.fromkeys(_words(kind) for kind in kinds if kind != "None"))
                expected = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
                return ArgumentKindError(argument=name, expected=expected, given=one)
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
    "PrevalenceLike": "float | str | ArrayLike | Mapping | Table",
    "PlannedLike": "Table | ArrayLike | float",
    "Classifier": "Table | ArrayLike",
    "Scores": "ArrayLike | Table | Mapping",
    "Models": "Table | Mapping",
    "Gated": "Table | Mapping",
    "BaselineLike": "str | PathLike | Table",
    "GuaranteeLike": "str | PathLike | Table",
    "Given": "ArrayLike | Frame | Table",
    "RowsLike": "ArrayLike | Frame | Table | str | PathLike | Iterable | None",
    "Statistic": "Table",
    "MetricTable": "Table",
    "AnyTable": "Table",
    "ReferenceTable": "Table",
    "Evaluated": "Table",
    "Operand": "Table | ArrayLike | float",
    "DrawingArea": "Axes",
}
