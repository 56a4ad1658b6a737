"""Resampling: the classes of a training part made equal. Only training parts ever come here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, UnknownNameError, did_you_mean, needs_sklearn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Label


_OVER, UNDER, CLASS_WEIGHT = "over", "under", "class_weight"
SAMPLER_WORDS = (_OVER, UNDER, CLASS_WEIGHT)


class Sampler(Protocol):
    """What imbalanced-learn calls a sampler."""

    def fit_resample(self, X: ArrayLike, y: ArrayLike, /) -> tuple[ArrayLike, ArrayLike]:
        """The rows and their labels, resampled."""


Resampler: TypeAlias = Sampler | str | None


@dataclass(frozen=True, eq=False)
class Training:
    """The rows that an estimator is fitted on."""

    X: ArrayLike
    y: Array
    weight: Array | None


def check_resampler(resampler: object) -> None:
    """Refuse what cannot resample."""
    if isinstance(resampler, type):
        raise InputTypeError(f"{resampler.__name__} is a class; give an object: {resampler.__name__}().")
    if resampler is None or resampler in SAMPLER_WORDS or hasattr(resampler, "fit_resample"):
        return
    raise InputTypeError(
        f"resample= takes 'over', 'under', 'class_weight' or a sampler with fit_resample, "
        f"not {type(resampler).__name__}."
    )


def resampled(resampler: Resampler, training: Training, seed: int) -> Training:
    """The training part with its classes made equal; as it is where nothing is asked for."""
    if resampler is None or resampler == CLASS_WEIGHT:
        return training
    if isinstance(resampler, str):
        from sklearn.utils import _safe_indexing

        rows = equal_rows(training.y, resampler, np.random.default_rng(seed))
        weight = None if training.weight is None else training.weight[rows]
        return Training(_safe_indexing(training.X, rows), training.y[rows], weight)
    return _by_sampler(resampler, training, seed)


def equal_rows(y: Array, how: str, rng: np.random.Generator) -> Array:
    """The indices of rows, in order, that make the classes equally frequent.

    "over" repeats all rows of a smaller class as often as they fit and a random choice of them for the rest; "under"
    keeps a random choice of a larger class.

    >>> equal_rows(np.array([0, 0, 0, 0, 0, 1, 1]), "over", np.random.default_rng(0)).tolist()
    [0, 1, 2, 3, 4, 5, 5, 6, 6, 6]
    """
    classes, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    wanted = int(sizes.max() if how == _OVER else sizes.min())
    picked = []
    for i, size in enumerate(sizes.tolist()):
        rows = np.flatnonzero(codes == i)
        again, rest = divmod(wanted, size)
        picked += [np.repeat(rows, again), rng.choice(rows, rest, replace=False)]
    return np.sort(np.concatenate(picked)) if len(classes) else np.zeros(0, dtype=np.intp)


def _by_sampler(sampler: Sampler, training: Training, seed: int) -> Training:
    """By a sampler of imbalanced-learn, or anything with its method."""
    from sklearn.base import clone

    from steelyard.protocol.splits import seeded

    fresh: Sampler = seeded(clone(sampler, safe=False), seed)
    X, y = fresh.fit_resample(training.X, training.y)
    if training.weight is None:
        return Training(X, np.asarray(y), None)
    rows = getattr(fresh, "sample_indices_", None)
    if rows is None or len(rows) != len(np.asarray(y)):
        raise InputError(
            f"{type(sampler).__name__} makes rows that have no weight; leave the weights out, or use resample='over'."
        )
    return Training(X, np.asarray(y), training.weight[rows])


def trained_share(model: object, label: Label) -> float | None:
    """The share of a class among the resampled rows that a model was fitted on; None where none were resampled."""
    steps = getattr(model, "steps", None)
    shares = getattr(steps[-1][1] if steps else model, "shares_", None)
    return None if shares is None else float(shares.get(label, 0.0))


# ---------------------------------------------------------------- candidates
# What is evaluated, an estimator and how its training part is resampled, each under a name.


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
    named = []
    by_name, resamplers = _named_estimators(estimators), _named_resamplers(resample)
    for name, estimator in by_name.items():
        for way, resampler in resamplers.items():
            is_balanced = isinstance(resampler, str) and resampler == CLASS_WEIGHT
            made = balanced(estimator) if is_balanced else estimator
            weight_name = _weight_name(made) if weighted else "sample_weight"
            named.append(Candidate(name if way is None else f"{name} + {way}", made, resampler, weight_name))
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
        named = {str(name): _resampler(given) for name, given in resample.items()}
    elif isinstance(resample, (list, tuple)):
        found = [_resampler(given) for given in resample]
        names = ["" if each is None else each if isinstance(each, str) else type(each).__name__ for each in found]
        named = {name or None: resampler for name, resampler in zip(numbered(names), found, strict=True)}
    else:
        named = {None: _resampler(resample)}
    if not named:
        raise InputError("resample= is empty; leave it out to train on the rows as they are.")
    return named


def _resampler(given: object) -> Resampler:
    return None if given is None or given == "none" else sampler_of(given)


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


# ---------------------------------------------------------------- named samplers
# Ways to make classes equally frequent, ours and imbalanced-learn's, each under a name.


SamplersLike: TypeAlias = "Resampler | Sequence[Resampler] | Mapping[str, Resampler]"
PLAIN = "plain"  # the model without resampling, which no sampler may be called
_MODULES = ("over_sampling", "under_sampling", "combine")


def named_samplers(samplers: SamplersLike, estimator: Estimator) -> dict[str, Resampler]:
    """The samplers by name; without any over- and undersampling, and class weights where the estimator takes them."""
    if samplers is None:
        words = [word for word in SAMPLER_WORDS if word != CLASS_WEIGHT or takes_class_weight(estimator)]
        return {word: word for word in words}
    if isinstance(samplers, Mapping):
        named = {str(name): sampler_of(sampler) for name, sampler in samplers.items()}
    else:
        given = samplers if isinstance(samplers, (list, tuple)) else [samplers]
        found = [sampler_of(sampler) for sampler in given]
        names = numbered([each if isinstance(each, str) else class_name(each) for each in found])
        named = dict(zip(names, found, strict=True))
    if not named:
        raise InputError("samplers= is empty; name one, such as 'over', 'under', 'class_weight' or 'SMOTE'.")
    if PLAIN in named:
        raise InputError(f"A sampler cannot be called {PLAIN!r}, which is the model without one; give another name.")
    return named


def sampler_of(sampler: object) -> Resampler:
    """A sampler as it is, or by its name: "over", "under", "class_weight", or one of imbalanced-learn's, "SMOTE".

    Capitals, hyphens and underscores of a name do not matter.

    >>> sampler_of("Under"), sampler_of("class-weight")
    ('under', 'class_weight')
    """
    if sampler is None:
        raise InputTypeError(f"The {PLAIN} model is always in the study; leave None out of samplers=.")
    if not isinstance(sampler, str):
        check_resampler(sampler)
        return cast("Resampler", sampler)
    words = {_key(word): word for word in SAMPLER_WORDS}
    if _key(sampler) in words:
        return words[_key(sampler)]
    known = _imbalanced_learn(sampler)
    by_key = {_key(name): name for name in known}  # whatever their capitals
    if _key(sampler) in by_key:
        return cast("Sampler", known[by_key[_key(sampler)]]())
    hint = did_you_mean(sampler, SAMPLER_WORDS)
    if not hint and (near := get_close_matches(_key(sampler), by_key, n=3, cutoff=0.6)):
        hint = f" Did you mean {' or '.join(repr(by_key[key]) for key in near)}?"
    every = ", ".join([*SAMPLER_WORDS, *known])
    raise UnknownNameError(f"No sampler is called {sampler!r}.{hint or f' There are {every}.'}")


def _key(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _imbalanced_learn(sampler: str) -> dict[str, Any]:
    """The classes of imbalanced-learn's samplers by name."""
    try:
        modules = [import_module(f"imblearn.{name}") for name in _MODULES]
    except ImportError:
        raise InputError(
            f"{sampler!r} would be a sampler of imbalanced-learn, which is not installed; 'pip install "
            f"imbalanced-learn' brings it, and {', '.join(map(repr, SAMPLER_WORDS))} need nothing."
        ) from None
    return {name: getattr(module, name) for module in modules for name in module.__all__}
