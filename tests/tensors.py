"""Tensors that several tests share: arrays of each library, sent to what is taken for a device, and what travels.

What is kept where and what travels no public call tells: only this file imports what knows it.
"""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from steelyard.analysis.intervals import column_intervals
from steelyard.arrays import backend, checks
from steelyard.exceptions import SteelyardError
from steelyard.tables import array_tables

Backend = backend.Backend

__all__ = ["Backend", "array_tables", "backend", "checks", "column_intervals"]


def strict_array(values):
    xp = pytest.importorskip("array_api_strict")
    return xp.asarray(values, device=xp.Device("device1"))  # which NumPy refuses to read


def jax_array(values):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        return jax.numpy.asarray(values)


def torch_array(values):
    return pytest.importorskip("torch").from_numpy(values)


LIBRARIES = {"array_api_strict": strict_array, "jax": jax_array, "torch": torch_array}


def column(values, to_device):
    """An array as a column of the device."""
    native = to_device(values)
    return Backend.of(native).column(native)


def sent(rows, to_device):
    """Columns by their names, each on the device."""
    return {name: to_device(values) for name, values in rows.items()}


def assert_refused_alike(cases, to_device):
    """Each case, a function of what sends an array, is refused on the device in NumPy's words."""
    for case in cases:
        words = []
        for send in (to_device, lambda values: values):
            with pytest.raises(SteelyardError) as refused:
                case(send)
            words.append(str(refused.value))
        assert words[0] == words[1]


def assert_same(ours, numpys):
    """NumPy's numbers to the twelfth digit."""
    np.testing.assert_allclose(ours, numpys, rtol=1e-12, atol=1e-14)


def assert_same_rows(ours, numpys):
    """The same metrics, their values to the twelfth digit and the ends of their intervals to the ninth."""
    for mine, other in zip(ours, numpys, strict=True):
        name = str(mine.spec)
        np.testing.assert_allclose(mine.value, other.value, rtol=1e-12, atol=1e-14, err_msg=name)
        ends = [mine.low, mine.high], [other.low, other.high]
        np.testing.assert_allclose(*ends, rtol=1e-9, atol=1e-12, err_msg=name)


class Travelled:
    """How many numbers each array had that was brought from the device, by whatever way."""

    def __init__(self, monkeypatch):
        self.sizes = []
        bring, read = Backend.to_host, checks.as_numpy
        monkeypatch.setattr(Backend, "to_host", lambda there, values: bring(there, self._seen(values)))
        monkeypatch.setattr(checks, "as_numpy", lambda values: read(self._seen(values)))

    def _seen(self, values):
        self.sizes.append(prod(values.shape))
        return values
