"""Checks that many tests share; other processes may import this, whatever their path finds under conftest."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from packaging.version import Version

import steelyard
from steelyard._names import HOME, SHELVES

CELLS = (0, 1, 2, 3, 50, 10**6)
TABLES = list(itertools.product(CELLS, repeat=4))


def close(value, expected):
    """Right to the last digits: 1e-12 relative or 1e-14 absolute."""
    return abs(value - expected) <= max(1e-12 * abs(expected), 1e-14)


def same(a, b, tolerance=1e-12):
    """Equal numbers or arrays but for rounding; undefined in the same places."""
    return np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


def holm(p_values):
    """Holm's step-down adjustment, written from its definition; of what is NaN there is none.

    >>> holm([0.01, 0.02, 0.03, 0.04, 0.05])  # R: p.adjust(..., "holm")
    [0.05, 0.08, 0.09, 0.09, 0.09]
    """
    p_values = list(p_values)
    known = sorted((p, i) for i, p in enumerate(p_values) if not np.isnan(p))
    adjusted, largest = [float("nan")] * len(p_values), 0.0
    for rank, (p, i) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[i] = largest
    return adjusted


def assert_refused(attempt, builtin, words):
    """The attempt is refused in one sentence, by a SteelyardError that is also the fitting builtin."""
    from steelyard import SteelyardError

    with pytest.raises(builtin, match=words) as caught:
        attempt()
    assert isinstance(caught.value, SteelyardError)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith((".", "?"))


def failing_checks(estimator, kinds=("dense",)):
    """Of scikit-learn's checks of an estimator of two classes those that an older release gets wrong."""
    import sklearn

    first = "before scikit-learn 1.7 the check makes two classes of three by whichever row comes first"
    wrong = Version(sklearn.__version__) < Version("1.7")
    return {f"check_sample_weight_equivalence_on_{kind}_data": first for kind in kinds if wrong}


def public_names():
    """Every public name, with its submodule where it is in one, and the module that it is loaded from."""
    shelved = {f"{shelf}.{name}": home for shelf, names in SHELVES.items() for name, home in names.items()}
    return HOME | shelved


def decide(metric, name):
    """What is decided of one property of a metric."""
    (decision,) = steelyard.audit(metric, properties=[name])
    return decision


def public_thing(name):
    """What a public name is of."""
    shelf, _, last = name.rpartition(".")
    return getattr(getattr(steelyard, shelf) if shelf else steelyard, last)


def function(name):
    """The function, class or method of a name without its submodule."""
    first, *parts = name.split(".")
    found = public_thing(next(each for each in public_names() if each.rpartition(".")[2] == first))
    for part in parts:
        found = getattr(found, part)
    return found
