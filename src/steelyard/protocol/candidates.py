"""Candidates: what is evaluated, an estimator and how its training part is resampled, each under a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, TypeAlias, cast

from steelyard.exceptions import InputError, InputTypeError, needs_sklearn
from steelyard.protocol.resample import CLASS_WEIGHT, Resampler, check_resampler

if TYPE_CHECKING:
    from steelyard._types import Estimator

EstimatorsLike: TypeAlias = "Estimator | Sequence[Estimator] | Mapping[str, Estimator]"
ResamplersLike: TypeAlias = "Resampler | Sequence[Resampler] | Mapping[str, Resampler]"


@dataclass(frozen=True, eq=False)
class Candidate:
    """An estimator under a name, and how the classes of its training part are made equal."""

    name: str
    estimator: Estimator
    resampler: Resampler = None
    weight_name: str = "sample_weight"


def candidates(estimators: EstimatorsLike, resample: ResamplersLike, *, weighted: bool) -> list[Candidate]:
    """Every estimator with every way of resampling, each named; one of each, or several."""
    try:
        import sklearn.base  # noqa: F401 - asked for here, so that one sentence says what to install
    except ImportError:
        raise needs_sklearn("cross_evaluate") from None
    named = [
        _candidate(name if way is None else f"{name} + {way}", estimator, resampler, weighted)
        for name, estimator in _named_estimators(estimators).items()
        for way, resampler in _named_resamplers(resample).items()
    ]
    if len({candidate.name for candidate in named}) < len(named):
        raise InputError("Two candidates have one and the same name; give the estimators as {name: estimator}.")
    return named


def _named_estimators(estimators: EstimatorsLike) -> dict[str, Estimator]:
    if isinstance(estimators, Mapping):
        named = {str(name): estimator for name, estimator in estimators.items()}
    elif isinstance(estimators, (list, tuple)):
        named = dict(zip(numbered([class_name(estimator) for estimator in estimators]), estimators, strict=True))
    else:
        named = {class_name(estimators): cast("Estimator", estimators)}
    if not named:
        raise InputError("There is no estimator to evaluate; give one, a list of them, or {name: estimator}.")
    for estimator in named.values():
        _check_estimator(estimator)
    return named


def numbered(names: list[str]) -> list[str]:
    """The names, the second and further of the same numbered.

    >>> numbered(["SMOTE", "over", "SMOTE"])
    ['SMOTE', 'over', 'SMOTE 2']
    """
    times = [names[: i + 1].count(name) for i, name in enumerate(names)]
    return [f"{name} {n}" if n > 1 else name for name, n in zip(names, times, strict=True)]


def class_name(estimator: object) -> str:
    """The class of an estimator, of the last step of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1]).__name__ if isinstance(steps, list) and steps else type(estimator).__name__


def _check_estimator(estimator: object) -> None:
    """Refuse what cannot be fitted and predict."""
    if isinstance(estimator, type):
        raise InputTypeError(f"{estimator.__name__} is a class; give an object: {estimator.__name__}().")
    for method in ("fit", "predict"):
        if not callable(getattr(estimator, method, None)) and not _will_have(estimator, method):
            raise InputTypeError(
                f"{type(estimator).__name__} has no {method}; an estimator is fitted and asked by fit and predict."
            )


def _will_have(estimator: object, method: str) -> bool:
    """Whether a classifier has the method once it is fitted, as a stack of them does."""
    from sklearn.base import is_classifier

    return hasattr(type(estimator), method) and hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator)


def _named_resamplers(resample: ResamplersLike) -> dict[str | None, Resampler]:
    """The ways of resampling by name; the only one has none."""
    named: dict[str | None, Resampler]
    if isinstance(resample, Mapping):
        named = {str(name): resampler for name, resampler in resample.items()}
    elif isinstance(resample, (list, tuple)):
        names = numbered([_resampler_name(resampler) for resampler in resample])
        named = {name or None: resampler for name, resampler in zip(names, resample, strict=True)}
    else:
        named = {None: cast("Resampler", resample)}
    if not named:
        raise InputError("resample= is empty; leave it out to train on the rows as they are.")
    for resampler in named.values():
        check_resampler(resampler)
    return named


def _resampler_name(resampler: Resampler) -> str:
    return "" if resampler is None else resampler if isinstance(resampler, str) else type(resampler).__name__


def _candidate(name: str, estimator: Estimator, resampler: Resampler, weighted: bool) -> Candidate:
    if isinstance(resampler, str) and resampler == CLASS_WEIGHT:
        estimator = balanced(estimator)
    return Candidate(name, estimator, resampler, _weight_name(estimator) if weighted else "sample_weight")


def takes_class_weight(estimator: Estimator) -> bool:
    """Whether it has a parameter for the weights of classes."""
    return bool(_class_weight_names(estimator))


def _class_weight_names(estimator: Estimator) -> list[str]:
    parameters = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    return [name for name in parameters if name == "class_weight" or name.endswith("__class_weight")]


def balanced(estimator: Estimator) -> Estimator:
    """A clone whose class weights make the classes count alike."""
    from sklearn.base import clone

    names = _class_weight_names(estimator)
    if not names:
        raise InputError(f"{class_name(estimator)} takes no class_weight; use resample='over' or 'under'.")
    return cast("Estimator", clone(estimator).set_params(**dict.fromkeys(names, "balanced")))


def _weight_name(estimator: Estimator) -> str:
    """The name under which an estimator's fit takes the weights of the rows."""
    from sklearn import get_config

    steps = getattr(estimator, "steps", None) or []
    last = steps[-1][1] if steps else estimator
    if not takes_weights(last):
        raise InputError(
            f"{class_name(estimator)} takes no sample_weight in fit; leave the weights out, or use another."
        )
    if get_config().get("enable_metadata_routing"):
        return "sample_weight"  # handed on by that name to whatever requests it
    inside = steps or getattr(getattr(estimator, "estimator", None), "steps", None)  # such as a search over a pipeline
    return f"{inside[-1][0]}__sample_weight" if inside else "sample_weight"


def takes_weights(estimator: Estimator) -> bool:
    """Whether fit names sample_weight, or takes what it hands on to estimators of its own (**params)."""
    parameters = signature(estimator.fit).parameters
    return "sample_weight" in parameters or any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
