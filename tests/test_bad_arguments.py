"""Bad arguments: every public function, constructor and method, called with what each parameter cannot be.

The calls are made from the signatures: a good call with one argument put in the place of another. Each is refused in a
sentence of ours, or answered.
"""

from __future__ import annotations

import inspect
import os
import warnings
from datetime import datetime

import good_calls
import numpy as np
import polars as pl
import pytest
from checks import function, public_names

import steelyard
from steelyard import SteelyardError

BAD = {
    "None": lambda: None,
    "[]": list,
    "{}": dict,
    "object": object,
    "empty text": lambda: "",
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "-1": lambda: -1,
    "10**30": lambda: 10**30,
    "bytes": lambda: b"\xff",
    "surrogate": lambda: "\ud800",
    "set": lambda: {1, 2},
    "generator": lambda: (i for i in range(3)),
    "three numbers": lambda: np.arange(3),
    "nested": lambda: [[1, [2]], 3],
    "Int128": lambda: pl.Series([1, 0] * 30, dtype=pl.Int128),
    "complex": lambda: 1j,
    "time": lambda: datetime(2026, 1, 1),  # noqa: DTZ001 - of no zone
    "another word": lambda: "no such thing",
    "a class": lambda: int,
    "no dimension": lambda: np.array(1.0),
    "complex numbers": lambda: np.ones(good_calls.N, dtype=complex),
}

# Public names and methods that no good call starts from, and why.
WITHOUT_CALL = {
    "RARER": "a constant",
    "Result": "abstract; its methods are tried on its kinds",
    "SteelyardError": "an exception",
    "Metric": "made by `metric`",
    "CrossEvaluation": "made by cross_evaluate",
    "Evaluation": "made by evaluate",
    "GateResult": "made by gate",
    "LabelPlan": "made by label_plan",
    "ResamplingStudy": "made by resampling_study",
}
# A class is a function here, and the errors of a function of the user's own are the user's.
OWN_FUNCTIONS = {("progress", "a class")}
# scikit-learn's own checks of an estimator ask for its errors here.
OF_SKLEARN = {"NearestMeanClassifier", "Recalibrator", "ThresholdClassifier"}
ALL = "STEELYARD_ALL_BAD" in os.environ  # `make bad-arguments`; else a fifth of the values at each parameter


QUICK = {"sample_size": {"assurance": None}}  # options beside a bad argument, without which an answer takes long


CALLED = [name for name in good_calls.GOOD if name.partition(".")[0] not in OF_SKLEARN or "." not in name]


def parameters(name):
    """The parameters of a function that can be replaced, with their places."""
    skipped = ("self", "n_jobs", "path")
    for place, parameter in enumerate(inspect.signature(function(name)).parameters.values()):
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.name not in skipped and parameter.name[0] != "_":
            yield place, parameter


def with_bad(name, place, parameter, value):
    """The arguments of the good call with one of them put in the place of another."""
    arguments, options = good_calls.GOOD[name]()
    if parameter.kind is parameter.VAR_POSITIONAL:
        return (*arguments[:place], value), options
    if place < len(arguments):
        return (*arguments[:place], value, *arguments[place + 1 :]), options
    return arguments, {**QUICK.get(name, {}), **options, parameter.name: value}


def foreign(name, place, parameter, bad):
    """What is wrong with the answer to a bad argument; nothing where it is a sentence of ours or a result."""
    arguments, options = with_bad(name, place, parameter, BAD[bad]())
    try:
        function(name)(*arguments, **options)
    except SteelyardError as error:
        text = str(error)
        return f"{bad}: {text}" if "\n" in text or "Traceback" in text or not text.endswith((".", "?", ")")) else None
    except Exception as error:  # noqa: BLE001 - whatever it is
        return f"{bad}: {type(error).__name__}: {str(error)[:100]}"
    return None


def tried():
    """Every parameter of every good call."""
    return [(name, place, parameter) for name in CALLED for place, parameter in parameters(name)]


def test_every_public_name_has_a_good_call_or_a_reason():
    called = {name.partition(".")[0] for name in good_calls.GOOD}
    whole = {name for name in good_calls.GOOD if "." not in name}
    public = {name.rpartition(".")[2] for name in public_names() if "results." not in name}
    displays = {name for name in public if name.endswith("Display")}
    assert public - whole - set(WITHOUT_CALL) - displays == set()
    assert displays <= called
    assert len(tried()) * len(BAD) // 5 > 2_500


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", CALLED)
def test_bad_arguments_are_refused_in_a_sentence(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place, parameter in parameters(name):
            values = [bad for i, bad in enumerate(BAD) if ALL or (i + place) % 5 == 0]
            values = [bad for bad in values if (parameter.name, bad) not in OWN_FUNCTIONS]
            found = [wrong for bad in values if (wrong := foreign(name, place, parameter, bad))]
            assert not found, f"{parameter.name}: {found}"


METRICS = [
    pytest.param(metric, bad, id=f"{bad}-{metric.name}")
    for place, bad in enumerate(BAD)
    for i, metric in enumerate(steelyard.list_metrics())
    if ALL or (i + place) % 5 == 0  # so that every value is tried
]


@pytest.mark.parametrize(("metric", "bad"), METRICS)
def test_metrics_refuse_bad_columns_in_a_sentence(metric, bad):
    for arguments in ((BAD[bad](), good_calls.P), (good_calls.Y, BAD[bad]())):
        try:
            value = metric(*arguments)
        except SteelyardError:
            continue
        assert value is None or np.ndim(value) == 0, "one number of one table"


def test_none_for_what_may_be_none_is_as_good_as_leaving_it_out():
    for name in ("evaluate", "interval", "compare", "confusion", "best_threshold", "calibration", "drift", "errors"):
        arguments, options = good_calls.GOOD[name]()
        answer = repr(function(name)(*arguments, **options))
        for place, parameter in parameters(name):
            if parameter.default is None and parameter.name not in options and place >= len(arguments):
                given, more = with_bad(name, place, parameter, None)
                assert repr(function(name)(*given, **more)) == answer, parameter.name


def test_an_argument_of_a_wrong_kind_has_the_name_that_the_caller_gave_it():
    for call in (steelyard.evaluate, steelyard.confusion):
        with pytest.raises(SteelyardError, match=r"^pos_label= is one label, not \[\]"):
            call(good_calls.Y, good_calls.P, pos_label=[])
