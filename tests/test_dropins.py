"""The drop-ins give what scikit-learn gives, type and warning included, and put right what imbalanced-learn gets wrong."""

from __future__ import annotations

import inspect
import itertools
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from packaging.version import Version

asked = pytest.importorskip("sklearn.metrics")
sklearn_metrics = SimpleNamespace(**vars(asked))  # its functions, whatever a test puts in their place

import dropin_fuzz  # noqa: E402
import sklearn  # noqa: E402

import steelyard  # noqa: E402
import steelyard.sklearn as ours  # noqa: E402
from steelyard.exceptions import InputError  # noqa: E402

IMBALANCED = (
    "geometric_mean_score", "sensitivity_score", "specificity_score", "sensitivity_specificity_support",
    "classification_report_imbalanced",
)  # fmt: skip
SCIKIT = [name for name in ours.__all__ if name not in IMBALANCED]
SETWISE = ["precision_score", "recall_score", "f1_score", "jaccard_score", "precision_recall_fscore_support"]
WHOLE = ["accuracy_score", "balanced_accuracy_score", "matthews_corrcoef", "cohen_kappa_score", "confusion_matrix"]
CURVES = ["roc_curve", "precision_recall_curve"]
AREAS = ["roc_auc_score", "average_precision_score"]
N = 60
OLDER = Version(sklearn.__version__) < Version("1.9")  # which gives other kinds of floats; the values are the same
KAPPAS = inspect.signature(sklearn_metrics.cohen_kappa_score).parameters
NONE_SUCH = pytest.mark.skipif("replace_undefined_by" not in KAPPAS, reason="this scikit-learn has no such option")
REPLACED = pytest.param("cohen_kappa_score", {"replace_undefined_by": 0.5}, marks=NONE_SUCH)


def outcome(function, *args, **options):
    """The value or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(*args, **options)
        except Exception as error:  # noqa: BLE001 - whatever scikit-learn raises
            value = error
    return value, sorted((w.category.__name__, str(w.message)) for w in caught)


def check_equal(a, b):
    a, b = (float(v) if OLDER and isinstance(v, np.floating) else v for v in (a, b))
    assert type(a) is type(b)
    if isinstance(a, Exception):
        assert str(a) == str(b)
    elif isinstance(a, tuple):
        for one, other in zip(a, b, strict=True):
            check_equal(one, other)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            check_equal(a[key], b[key])
    elif isinstance(a, str) or a is None:
        assert a == b
    else:
        assert np.asarray(a).dtype == np.asarray(b).dtype or (OLDER and np.asarray(a).dtype.kind == "f")
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def check_same(name, *args, **options):
    (a, told), (b, expected) = (outcome(getattr(m, name), *args, **options) for m in (ours, sklearn_metrics))
    try:
        check_equal(a, b)
        assert told == expected
    except AssertionError as error:
        raise AssertionError(f"{name} with {options}: {a!r}, {told}; scikit-learn {b!r}, {expected}") from error


@pytest.fixture
def only_ours(monkeypatch):
    """No call may be handed on."""

    def refuse(name):
        return lambda *_, **__: pytest.fail(f"{name} was handed to scikit-learn")

    for name in SCIKIT:
        monkeypatch.setattr(asked, name, refuse(name))


def codes(seed, k):
    """Truth and prediction over k classes, in which the last is never true, or the first never predicted."""
    rng = np.random.default_rng(seed)
    true, pred = rng.integers(0, k, N), rng.integers(0, k, N)
    right = rng.random(N) < 0.5
    pred[right] = true[right]
    if k > 2 and seed % 3 == 1:
        true[true == k - 1] = 0
    if k > 2 and seed % 3 == 2:
        pred[pred == 0] = 1
    return true, pred


def as_series(library):
    return lambda values: pytest.importorskip(library).Series(values)


TEXT, MORE_TEXT = np.array(["no", "yes"]), np.array(["a", "cat", "d", "ox"])
CROSSED = ("0/1", "ints", "more text", "list", "pandas")  # kinds of labels on which every option meets every other
KINDS = {
    "0/1": (np.array([0, 1]), np.asarray),
    "uint8": (np.array([0, 1], dtype=np.uint8), np.asarray),
    "int8 -1/1": (np.array([-1, 1], dtype=np.int8), np.asarray),
    "bool": (np.array([False, True]), np.asarray),
    "ints": (np.array([1, 2, 5, 9]), np.asarray),
    "negative ints": (np.array([-3, 0, 1, 2]), np.asarray),
    "wide ints": (np.array([-(10**12), 0, 1, 10**12]), np.asarray),
    "whole floats": (np.array([0.0, 1.0, 2.0, 7.0]), np.asarray),
    "float32": (np.array([0, 1], dtype=np.float32), np.asarray),
    "text": (TEXT, np.asarray),
    "more text": (MORE_TEXT, np.asarray),
    "text objects": (MORE_TEXT.astype(object), np.asarray),
    "list": (np.array([0, 1, 2]), np.ndarray.tolist),
    "list of text": (MORE_TEXT, np.ndarray.tolist),
    "tuple": (np.array([0, 1]), lambda values: tuple(values.tolist())),
    "pandas": (np.array([0, 1, 2]), as_series("pandas")),
    "pandas text": (MORE_TEXT, as_series("pandas")),
    "polars": (np.array([0, 1, 2]), as_series("polars")),
}


def pair(kind, seed=0):
    values, wrap = KINDS[kind]
    true, pred = codes(seed, len(values))
    return wrap(values[true]), wrap(values[pred])


def weights_of(seed):
    rng = np.random.default_rng(seed)
    return {
        "none": None,
        "float": rng.integers(0, 9, N) / 4,
        "int": rng.integers(0, 3, N),
        "list": (rng.integers(1, 9, N) / 8).tolist(),
    }


def label_sets(kind):
    values, _ = KINDS[kind]
    known = values.tolist()
    absent = "zebra" if isinstance(known[0], str) else 77
    return {"none": None, "reversed": known[::-1], "one": known[:1], "some": known[-2:], "absent": [absent, *known]}


# ---------------------------------------------------------------- the same as scikit-learn


@pytest.mark.parametrize("name", SCIKIT)
def test_the_signatures_are_scikit_learns(name):
    def names(function):
        return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]

    if OLDER and name in ("cohen_kappa_score", "precision_recall_curve"):
        pytest.skip(f"scikit-learn {sklearn.__version__} has other options of {name}")
    mine = [p for p in names(getattr(ours, name)) if p[0] != "extra"]
    assert str(mine) == str(names(getattr(sklearn_metrics, name)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETWISE)
def test_rates_of_classes_agree_with_scikit_learn(name, kind):
    averages, divisions = ("binary", "micro", "macro", "weighted", None), ("warn", 0, 1, np.nan)
    pairs = itertools.cycle(pair(kind, seed) for seed in range(3))
    positive = KINDS[kind][0].tolist()[-1]
    options = [*itertools.product(averages, divisions, label_sets(kind).values())]
    # The kind of the labels is read before anything is divided: of most kinds every third of the options will do.
    for average, division, labels in options if kind in CROSSED else options[::3]:
        chosen = {"pos_label": positive} if average == "binary" else {}
        check_same(name, *next(pairs), average=average, zero_division=division, labels=labels, **chosen)
    for average, weight in itertools.product(averages, weights_of(0).values()):
        check_same(name, *next(pairs), average=average, sample_weight=weight)


@pytest.mark.parametrize("beta", [0, 0.5, 2, 1.0, np.inf, -1, np.nan])
def test_every_beta_agrees_with_scikit_learn(beta):
    for name, kind in itertools.product(("fbeta_score", "precision_recall_fscore_support"), ("0/1", "more text")):
        for average in ("binary", "macro", None):
            check_same(name, *pair(kind), beta=beta, average=average)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WHOLE)
def test_metrics_of_the_whole_table_agree_with_scikit_learn(name, kind):
    options = {
        "accuracy_score": [{}, {"normalize": False}],
        "balanced_accuracy_score": [{}, {"adjusted": True}],
        "confusion_matrix": [{"normalize": how} for how in (None, "true", "pred", "all")],
        "cohen_kappa_score": [{"weights": how} for how in (None, "linear", "quadratic")],
    }.get(name, [{}])
    for seed, more in itertools.product(range(3), options):
        true, pred = pair(kind, seed)
        for weight in weights_of(seed).values():
            check_same(name, true, pred, sample_weight=weight, **more)
        for labels in label_sets(kind).values() if name in ("confusion_matrix", "cohen_kappa_score") else ():
            check_same(name, true, pred, labels=labels, **more)


@pytest.mark.parametrize("kind", KINDS)
def test_reports_agree_with_scikit_learn(kind):
    pairs = itertools.cycle(pair(kind, seed) for seed in range(3))
    options = itertools.product((True, False), ("warn", 0, 1, np.nan), label_sets(kind).values())
    for as_dict, division, labels in options:
        more = {"labels": labels, "output_dict": as_dict, "zero_division": division}
        check_same("classification_report", *next(pairs), **more)
    names = ["first of them", "b", "c", "d"]
    for weight, digits in itertools.product(weights_of(0).values(), (0, 2, 5)):
        check_same("classification_report", *pair(kind), sample_weight=weight, digits=digits, target_names=names)
        check_same("classification_report", *pair(kind), target_names=names[: len(KINDS[kind][0])], digits=digits)


def scored(seed, ties):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 2, N)
    score = rng.standard_normal(N) + true
    return true, np.round(score * 2) if ties else score


SCORED = {
    "0/1": lambda true: true, "bool": lambda true: true == 1, "-1/1": lambda true: 2 * true - 1,
    "text": lambda true: TEXT[true], "float": lambda true: true.astype(float), "list": lambda true: true.tolist(),
    "1/2": lambda true: true + 1, "one class": lambda true: true * 0, "three": lambda true: true + (np.arange(N) < 9),
    "pandas": as_series("pandas"),
}  # fmt: skip
DTYPES = ("float64", "float32", "int64")


@pytest.mark.parametrize("kind", SCORED)
@pytest.mark.parametrize("name", AREAS + CURVES)
def test_areas_and_curves_agree_with_scikit_learn(name, kind):
    positives = [{}, *({"pos_label": label} for label in (1, 0, 2, "yes", "no", True))]
    options = {
        "roc_auc_score": [{}, {"max_fpr": 0.3}, {"max_fpr": 1}, {"average": None}],
        "average_precision_score": positives,
    }.get(name, [a | {"drop_intermediate": b} for a, b in itertools.product(positives, (True, False))])
    inputs = itertools.cycle(scored(seed, ties) for seed in range(3) for ties in (True, False))
    for more in options:
        for weight in weights_of(0).values():
            true, score = next(inputs)
            check_same(name, SCORED[kind](true), score, sample_weight=weight, **more)
        for dtype in DTYPES:
            true, score = next(inputs)
            check_same(name, SCORED[kind](true), score.astype(dtype), **more)


@pytest.mark.parametrize("how", ["ovr", "ovo", "raise"])
def test_areas_of_many_classes_agree_with_scikit_learn(how):
    rng = np.random.default_rng(0)
    for k, average in itertools.product((3, 5), ("macro", "weighted", "micro", None)):
        true, score = rng.integers(0, k, N), rng.dirichlet(np.ones(k), N)
        for truth, weight in itertools.product((true, true.astype(str), true % (k - 1)), (None, rng.random(N))):
            check_same("roc_auc_score", truth, score, multi_class=how, average=average, sample_weight=weight)


BAD = {
    "lengths differ": ([0, 1, 1], [0, 1]),
    "empty": ([], []),
    "one label": ([1, 1], [1, 1]),
    "continuous": ([0.5, 1.2, 3.4], [0.5, 1.2, 3.4]),
    "NaN": ([0, 1, np.nan], [0, 1, 1]),
    "text and numbers": (["a", "b"], [0, 1]),
    "mixed": (["a", 1], ["a", 1]),
    "a column": (np.array([[0], [1]]), np.array([[0], [1]])),
    "multilabel": (np.array([[0, 1], [1, 1]]), np.array([[1, 1], [1, 0]])),
    "objects": (np.array([0, 1], dtype=object), np.array([0, 1], dtype=object)),
    "bytes": (np.array([b"a", b"b"]), np.array([b"a", b"a"])),
    "None": ([0, None], [0, 1]),
    "scalars": (1, 1),
}


@pytest.mark.parametrize("name", SCIKIT)
@pytest.mark.parametrize("case", BAD)
def test_what_scikit_learn_refuses_it_refuses_in_its_own_words(case, name):
    check_same(name, *BAD[case], **({"beta": 2} if name == "fbeta_score" else {}))


@pytest.mark.parametrize(
    "weight",
    [[1, -1, 2], [1, np.nan, 1], [0, 0, 0], [1, 2], [[1], [1], [1]], 2.0, [True, False, True], ["a", "b", "c"]],
)
@pytest.mark.parametrize("name", SCIKIT)
def test_odd_weights_are_scikit_learns_affair(name, weight):
    more = {"beta": 2} if name == "fbeta_score" else {}
    check_same(name, [0, 1, 1], [0, 1, 0], sample_weight=weight, **more)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("f1_score", {"average": "many"}), ("f1_score", {"zero_division": 2}), ("f1_score", {"pos_label": 3}),
        ("f1_score", {"average": "macro", "pos_label": 0}), ("f1_score", {"labels": [1, 1], "average": None}),
        ("f1_score", {"labels": [], "average": None}), ("f1_score", {"labels": 3}), ("f1_score", {"average": "samples"}),
        ("jaccard_score", {"zero_division": np.nan}), ("confusion_matrix", {"normalize": "rows"}),
        ("confusion_matrix", {"labels": [7, 8]}), ("confusion_matrix", {"labels": []}), ("roc_curve", {"pos_label": 5}),
        ("confusion_matrix", {"labels": ["a", "b"]}), ("cohen_kappa_score", {"weights": "cubic"}),
        ("cohen_kappa_score", {"labels": [5, 6]}), REPLACED,
        ("accuracy_score", {"normalize": "yes"}), ("balanced_accuracy_score", {"adjusted": 3}),
        ("roc_auc_score", {"max_fpr": 2}), ("roc_auc_score", {"average": "x"}), ("roc_auc_score", {"multi_class": 3}),
        ("average_precision_score", {"pos_label": 4}), ("precision_recall_fscore_support", {"warn_for": ["recall"]}),
        ("precision_recall_fscore_support", {"warn_for": 3}), ("classification_report", {"digits": -1}),
    ],
)  # fmt: skip
def test_odd_options_are_scikit_learns_affair(name, options):
    check_same(name, [0, 1, 1, 0], [0, 1, 0, 0], **options)


def test_an_option_that_an_older_scikit_learn_lacks_is_named(monkeypatch):
    monkeypatch.setattr(asked, "cohen_kappa_score", lambda y1, y2, labels, weights, sample_weight: 0.0)
    assert ours.cohen_kappa_score([0, 0], [0, 0]) == 0
    refused = (
        r"cohen_kappa_score takes replace_undefined_by= only where scikit-learn does, and \S+ does not; update it\."
    )
    with pytest.raises(steelyard.exceptions.InputTypeError, match=refused):
        ours.cohen_kappa_score([0, 0], [0, 0], replace_undefined_by=0.5)


@pytest.mark.parametrize("name", [*AREAS, *CURVES])
def test_scores_that_are_not_finite_are_scikit_learns_affair(name):
    for bad in (np.nan, np.inf, -np.inf):
        check_same(name, [0, 1, 1], [0.1, bad, 0.2])
    check_same(name, [0, 1, 1], [0.1, 0.2])


@pytest.mark.parametrize("kind", KINDS)
def test_usual_labels_are_counted_here_and_not_handed_on(kind, only_ours):
    true, pred = pair(kind)
    for name in (*SETWISE, *WHOLE, "classification_report"):
        options = {"average": "macro"} if name in SETWISE else {}
        outcome(getattr(ours, name), true, pred, **options)
        getattr(ours, name)(true, pred, sample_weight=np.ones(N), **options)


@pytest.mark.parametrize("kind", ["0/1", "bool", "-1/1", "float", "list", "pandas"])
def test_usual_scores_are_weighed_here_and_not_handed_on(kind, only_ours):
    true, score = scored(0, ties=True)
    for name in AREAS + CURVES:
        getattr(ours, name)(SCORED[kind](true), score)
        getattr(ours, name)(SCORED[kind](true), score, sample_weight=np.ones(N))


def test_importing_the_drop_ins_imports_no_scikit_learn():
    code = "import sys, steelyard.sklearn as s; s.f1_score([0, 1], [0, 1]); print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_labels_that_are_never_right_are_compared():
    true = np.arange(1_500)
    check_same("f1_score", true, true[::-1], average="macro")
    check_same("accuracy_score", true, true[::-1])


MANY_CLASSES = [
    *itertools.product(
        ("precision_score", "recall_score", "f1_score", "jaccard_score"),
        [*({"average": each} for each in (None, "macro", "micro", "weighted")), {"average": None, "labels": [1, 2, 3]}],
    ),
    ("fbeta_score", {"average": "macro", "beta": 0.5}),
    ("precision_recall_fscore_support", {}),
    ("precision_recall_fscore_support", {"labels": [1, 2, 3, 9_999]}),
    ("multilabel_confusion_matrix", {}),
    ("multilabel_confusion_matrix", {"labels": [3, 9_999]}),
    ("confusion_matrix", {}),
    ("confusion_matrix", {"labels": [1, 2, 3, 9_999]}),
    ("confusion_matrix", {"labels": [2, 1], "normalize": "true"}),
    ("classification_report", {"output_dict": True}),
    ("classification_report", {"labels": [1, 2, 3]}),
    ("cohen_kappa_score", {}),
    ("cohen_kappa_score", {"labels": [1, 2, 3], "weights": "linear"}),
    ("cohen_kappa_score", {"weights": "quadratic"}),
    ("matthews_corrcoef", {}),
    ("balanced_accuracy_score", {}),
    ("accuracy_score", {}),
]


def rows_of_many_classes(k=1_100, n=4_000):
    rng = np.random.default_rng(5)
    true, other = rng.integers(0, k, (2, n))
    return true, np.where(rng.random(n) < 0.6, true, other), rng.integers(1, 9, n) / 4


@pytest.mark.parametrize("place", range(len(MANY_CLASSES)))
def test_more_than_a_thousand_classes_are_scored_from_the_margins(place):
    (name, options), (true, pred, weight) = MANY_CLASSES[place], rows_of_many_classes()
    check_same(name, true, pred, sample_weight=weight if place % 2 else None, **options)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
def test_the_margins_of_many_classes_are_not_handed_on(only_ours):
    true, pred, weight = rows_of_many_classes()
    handed = [("confusion_matrix", {}), ("cohen_kappa_score", {"weights": "quadratic"})]  # which read every cell
    for name, options in MANY_CLASSES:
        if (name, options) not in handed:
            getattr(ours, name)(true, pred, sample_weight=weight, **options)


# ---------------------------------------------------------------- odd weights and very large numbers


@pytest.mark.parametrize("name", [*SETWISE, *WHOLE, "classification_report", "multilabel_confusion_matrix"])
def test_a_class_of_no_weight_is_a_class_as_to_scikit_learn(name):
    options = {"average": "macro"} if name in SETWISE else {}
    check_same(name, [0, 1, 2], [0, 1, 2], sample_weight=[1, 1, 0], **options)
    check_same(name, ["a", "b", "a"], ["a", "a", "c"], sample_weight=[1.0, 0.0, 0.0], **options)
    given = {"sample_weight": [1, 1, 0]}
    assert ours.f1_score([0, 1, 2], [0, 1, 2], average="macro", zero_division=0, **given) == pytest.approx(2 / 3)
    assert ours.confusion_matrix([0, 1, 2], [0, 1, 2], **given).shape == (3, 3)


def test_a_class_of_no_weight_is_a_class_to_imbalanced_learns_functions(imblearn):
    for name in ("sensitivity_score", "geometric_mean_score"):
        given = {"average": None, "sample_weight": [1, 1, 0, 1]}
        a, b = (outcome(getattr(m, name), [0, 1, 2, 1], [0, 1, 2, 0], **given)[0] for m in (ours, imblearn))
        assert a.shape == b.shape == (3,)
        np.testing.assert_allclose(a[:2], b[:2] if name == "sensitivity_score" else a[:2])


def test_to_our_own_functions_a_row_of_no_weight_is_absent():
    assert steelyard.confusion([0, 1, 2], [0, 1, 2], sample_weight=[1, 1, 0]).labels == (0, 1)
    assert steelyard.f1([0, 1, 2], [0, 1, 2], average="macro", sample_weight=[1, 1, 0]) == 1


@pytest.mark.parametrize("scale", [1e-311, 1e-160, 1e154, 1e300])
@pytest.mark.parametrize("name", [*SETWISE, *WHOLE, *AREAS, "hamming_loss"])
def test_tiny_and_huge_weights_give_the_values_of_usual_ones(name, scale):
    true, pred = pair("ints") if name not in AREAS else scored(0, ties=True)
    options = {"average": "macro"} if name in SETWISE else {}
    weight = np.random.default_rng(0).integers(0, 9, N).astype(float)
    usual, extreme = (
        outcome(getattr(ours, name), true, pred, sample_weight=weight * by, **options)[0] for by in (1, scale)
    )
    if name == "confusion_matrix":
        extreme = extreme / scale
    parts = zip(usual, extreme, strict=True) if name == "precision_recall_fscore_support" else [(usual, extreme)]
    for one, other in parts:
        if one is not None:
            np.testing.assert_allclose(other, one, rtol=1e-12)


BIG = 2**63
MERGED = {
    "lists of both signs": ([BIG, BIG + 1, -1], [BIG + 1, BIG + 1, -1]),
    "a float64 and int64": (np.array([2.0**53, 0, 1]), np.array([2**53 + 1, 0, 1])),
    "a longdouble and int64": (np.array([2**53, 0, 1]).astype(np.longdouble), np.array([2**53 + 1, 0, 1])),
    "uint64 and int64": (np.array([2**53, 0, 1], np.uint64), np.array([2**53 + 1, 0, 1])),
    "a list and uint64": ([BIG, 0, 1], np.array([BIG + 1, 0, 1], np.uint64)),
}


@pytest.mark.parametrize("case", MERGED)
@pytest.mark.parametrize("name", [*SETWISE, *WHOLE, "zero_one_loss"])
def test_whole_numbers_that_floats_merge_are_exact_or_refused(name, case):
    small = {"lists of both signs": ([2, 3, -1], [3, 3, -1])}.get(case, ([5, 0, 1], [6, 0, 1]))
    options = {"average": "macro"} if name in SETWISE else {}
    value, _ = outcome(getattr(ours, name), *MERGED[case], **options)
    if isinstance(value, Exception):
        assert isinstance(value, ValueError)
    else:
        check_equal(value, outcome(getattr(sklearn_metrics, name), *small, **options)[0])


def test_what_scikit_learn_would_merge_is_refused_in_a_sentence():
    with pytest.raises(InputError, match=r"y_pred holds 9007199254740993, and beside the other columns NumPy turns it"):
        ours.confusion_matrix(*MERGED["a longdouble and int64"])
    with pytest.raises(InputError, match="y_pred holds 9007199254740993"):
        ours.f1_score(*MERGED["a float64 and int64"], average="macro")
    got = ours.recall_score(
        np.array([1, BIG], np.uint64),
        np.array([1, BIG + 1], np.uint64),
        labels=[1, BIG, BIG + 1],
        average=None,
        zero_division=0,
    )
    assert got.tolist() == [1, 0, 0]


def test_unsigned_scores_are_ordered_as_numbers():
    # scikit-learn orders scores by their negative, which wraps where they have no sign: to it 0 is the highest.
    true, scores = np.array([[1, 0], [0, 1]]), np.array([[0, 3], [1, 2]], dtype=np.uint64)
    signed = scores.astype(np.int64)
    for name in ORDERS_OF_LABELS:
        assert getattr(ours, name)(true, scores) == pytest.approx(getattr(sklearn_metrics, name)(true, signed))


def test_random_calls_agree_with_scikit_learn():
    calls, found = dropin_fuzz.differences(0, 5_000)
    assert not found, "\n".join(found[:5])
    assert {*calls} == {*SCIKIT}
    assert min(calls.values()) > 40


# ---------------------------------------------------------------- more than scikit-learn gives


def test_a_report_takes_columns_of_any_metric():
    true, pred = pair("more text")
    extra = ("specificity", "g_mean", "ac_score", "f_beta[beta=2]")
    report = ours.classification_report(true, pred, output_dict=True, extra=extra)
    plain = sklearn_metrics.classification_report(true, pred, output_dict=True)
    table = steelyard.confusion(true, pred)
    for name in extra:
        metric = steelyard.get_metric(name)
        for label, value in zip(table.labels, metric(table, average=None), strict=True):
            assert report[label].pop(name) == pytest.approx(value)
        for average in ("macro", "weighted"):
            assert report[f"{average} avg"].pop(name) == pytest.approx(metric(table, average=average))
    check_equal(report, plain)
    some = ours.classification_report(true, pred, labels=["cat", "ox"], output_dict=True, extra=("specificity",))
    assert 0 < some["micro avg"]["specificity"] < 1
    text = ours.classification_report(true, pred, extra=extra)
    assert len({len(line) for line in text.splitlines() if line}) == 1


def test_an_undefined_extra_follows_zero_division():
    report = {"output_dict": True, "extra": ("npv",), "labels": [0, 1]}
    for division in (0, 1, np.nan):
        got = ours.classification_report([0, 0, 1], [0, 0, 0], zero_division=division, **report)["0"]["npv"]
        assert got == division or np.isnan(got) == np.isnan(division)
    _, told = outcome(ours.classification_report, [0, 0, 1], [0, 0, 0], **report)
    assert any(text.startswith("negative_predictive_value is ill-defined") for _, text in told)


def test_extra_columns_of_what_cannot_be_counted_are_refused():
    with pytest.raises(steelyard.SteelyardError, match="two classes"):
        ours.classification_report([1, 1], [1, 1], extra=("g_mean",))


# ---------------------------------------------------------------- imbalanced-learn's, done right


@pytest.fixture
def imblearn():
    return pytest.importorskip("imblearn.metrics")


@pytest.mark.parametrize("kind", ["0/1", "ints", "more text", "list"])
def test_what_imbalanced_learn_gets_right_is_the_same(kind, imblearn):
    true, pred = pair(kind)
    for average, labels in itertools.product((None, "micro", "macro", "weighted"), label_sets(kind).values()):
        for name in IMBALANCED[1:4]:
            a, b = (outcome(getattr(m, name), true, pred, average=average, labels=labels)[0] for m in (ours, imblearn))
            check_equal(a, b)
    for average in ("multiclass", None, "micro"):
        a, b = (m.geometric_mean_score(true, pred, average=average) for m in (ours, imblearn))
        check_equal(a, b)
    a, b = (m.geometric_mean_score([0, 1, 2], [0, 0, 2], correction=0.001) for m in (ours, imblearn))
    check_equal(a, b)
    for options in ({}, {"alpha": 0.7}, {"digits": 4}, {"output_dict": True, "alpha": 0.3}):
        a, b = (m.classification_report_imbalanced(true, pred, **options) for m in (ours, imblearn))
        check_equal(_plain(a), _plain(b))


def _plain(report):
    return (
        {k: _plain(v) for k, v in report.items()}
        if isinstance(report, dict)
        else report
        if isinstance(report, str)
        else float(report)
    )


def test_specificity_does_not_change_when_every_row_weighs_twice(imblearn):
    # True negatives are weighed as all cells are; imbalanced-learn subtracts weights from a number of rows.
    true, pred = pair("ints")
    for average in (None, "macro", "weighted", "micro"):
        once, twice = (
            ours.specificity_score(true, pred, average=average, sample_weight=w) for w in (None, np.full(N, 2))
        )
        np.testing.assert_allclose(twice, once, rtol=1e-14)
    wrong = imblearn.specificity_score(true, pred, average=None, sample_weight=np.full(N, 2))
    assert not np.allclose(wrong, ours.specificity_score(true, pred, average=None))
    assert ours.specificity_score([0, 0, 1], [0, 1, 1], sample_weight=[3, 1, 1]) == 0.75


def test_an_averaged_g_mean_is_the_mean_of_the_classes_own(imblearn):
    # imbalanced-learn#1096: sqrt(mean sensitivity * mean specificity) is the G-mean of no classifier.
    # Class 0: recall 1, specificity 1/2; class 1: recall 1/2, specificity 3/4; class 2: recall 0, specificity 1.
    true, pred = [0, 0, 1, 1, 2, 2], [0, 0, 1, 0, 0, 1]
    each = np.sqrt([1 * 2 / 4, 1 / 2 * 3 / 4, 0])
    np.testing.assert_allclose(ours.geometric_mean_score(true, pred, average=None), each)
    assert ours.geometric_mean_score(true, pred, average="macro") == pytest.approx(each.mean())
    assert imblearn.geometric_mean_score(true, pred, average="macro") != pytest.approx(each.mean())
    weighted = ours.geometric_mean_score([0, *true], [0, *pred], average="weighted")
    assert weighted == pytest.approx(np.average(np.sqrt([1 * 2 / 4, 1 / 2 * 4 / 5, 0]), weights=[3, 2, 2]))


def test_the_index_of_balanced_accuracy_of_the_report_uses_alpha():
    # Class 1: recall 1/2, specificity 3/4, so the squared G-mean is 3/8 and the dominance -1/4.
    true, pred = [0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]
    for alpha in (0, 0.1, 1):
        report = ours.classification_report_imbalanced(true, pred, alpha=alpha, output_dict=True)
        assert report["1"]["iba"] == pytest.approx((1 - alpha / 4) * 3 / 8)


def test_the_imbalanced_report_tells_truth_from_prediction():
    # imbalanced-learn#394: the two were swapped inside.
    report = ours.classification_report_imbalanced([0, 0, 1], [0, 1, 1], output_dict=True)
    assert (report["1"]["pre"], report["1"]["rec"], report["1"]["spe"]) == (0.5, 1, 0.5)


@pytest.mark.parametrize("name", IMBALANCED[:4])
def test_imbalanced_functions_refuse_in_a_sentence(name):
    function = getattr(ours, name)
    with pytest.raises(ValueError, match="average"):
        function([0, 1], [0, 1], average="samples")
    with pytest.raises(ValueError, match="multiclass"):
        function([0, 1, 2], [0, 1, 2], average="binary")
    with pytest.raises(ValueError, match="labels= lists"):
        function([0, 1, 2], [0, 1, 2], average="macro", labels=["a"])
    with pytest.raises(ValueError, match="differ in length"):
        function([0, 1, 2], [0, 1], average="macro")
    with pytest.warns(UserWarning, match="pos_label"):
        function([0, 1, 2], [0, 1, 2], average="macro", pos_label=2)


ORDERS_OF_LABELS = ("coverage_error", "label_ranking_average_precision_score", "label_ranking_loss", "ndcg_score")


@pytest.mark.parametrize("handed_on", [False, True], ids=["counted here", "handed on"])
@pytest.mark.parametrize("name", ours.__all__)
def test_series_of_one_index_in_different_orders_are_refused_as_the_metrics_do(name, handed_on):
    pandas = pytest.importorskip("pandas")
    values = [0.1, 0.6, 0.4, 0.9] if name in (*CURVES, *AREAS) else [0, 1, 0, 1]
    options = {"beta": 1.0} if name == "fbeta_score" else {}
    y_true = pandas.Series([0, 1, 1, 0], index=list("abcd"))
    other = pandas.Series(values, index=list("dcba"))
    if name in ORDERS_OF_LABELS:
        y_true, other = (pandas.DataFrame({"a": column, "b": 1 - column}) for column in (y_true, other))
        values = other.to_numpy()
    if handed_on and name not in IMBALANCED:
        y_true, options = y_true.astype("Int64"), options | {"sample_weight": [1, 1, 1, 1]}
    function = getattr(ours, name)
    with pytest.raises(InputError, match="have the same index in different orders, and rows are taken by position"):
        function(y_true, other, **options)
    function(y_true, other.to_numpy(), **options)
    function(y_true, other.set_axis(y_true.index), **options)
