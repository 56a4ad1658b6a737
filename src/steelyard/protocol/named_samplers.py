"""Named samplers: ways to make classes equally frequent, ours and imbalanced-learn's, each under a name."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from steelyard.exceptions import InputError, InputTypeError, UnknownNameError, did_you_mean
from steelyard.protocol.candidates import class_name, numbered, takes_class_weight
from steelyard.protocol.resample import CLASS_WEIGHT, SAMPLER_WORDS, check_resampler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Estimator
    from steelyard.protocol.resample import Resampler, Sampler

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

    >>> sampler_of("under")
    'under'
    """
    if sampler is None:
        raise InputTypeError(f"The {PLAIN} model is always in the study; leave None out of samplers=.")
    if not isinstance(sampler, str) or sampler in SAMPLER_WORDS:
        check_resampler(sampler)
        return cast("Resampler", sampler)
    known = _imbalanced_learn(sampler)
    place = {_key(name): name for name in known}.get(_key(sampler))
    if place is None:
        near = did_you_mean(sampler, SAMPLER_WORDS) or _nearest(sampler, known)
        every = ", ".join([*SAMPLER_WORDS, *known])
        raise UnknownNameError(f"No sampler is called {sampler!r}.{near or f' There are {every}.'}")
    return cast("Sampler", known[place]())


def _key(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _nearest(name: str, known: Mapping[str, object]) -> str:
    """The sentence that names the nearest, whatever their capitals."""
    by_key = {_key(each): each for each in known}
    near = get_close_matches(_key(name), by_key, n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(by_key[key]) for key in near)}?" if near else ""


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
