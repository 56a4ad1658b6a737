"""Random calls of every drop-in beside scikit-learn's own function: the same value, or an error where it raises one.

`make fuzz` runs 100,000 of them, `python tests/dropin_fuzz.py FIRST LAST` those of some seeds, and the tests a few
thousand. A case is its seed, so that one that differs can be run alone.

Three things are compared with another call of scikit-learn's. Unsigned scores of labels with the same as signed ones,
since scikit-learn orders them by their negative, which wraps. Whole numbers beyond 2**53 that NumPy would turn into
floats, some of them into one, are compared with small numbers in the same order, or refused. And where the products of
weights such as 1e300 are infinite to scikit-learn, or sums below 1e-8 are 0, the value may be its own at weights divided
by the largest; where weights of 1e-311 stand beside 1e300, scikit-learn's NaN may be a number.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import sklearn
import sklearn.metrics as theirs

import steelyard.sklearn as ours
from steelyard.exceptions import SteelyardError

RATES = ("precision_score", "recall_score", "f1_score", "fbeta_score", "jaccard_score")
OF_LABELS = (
    *RATES, "precision_recall_fscore_support", "accuracy_score", "balanced_accuracy_score", "matthews_corrcoef",
    "cohen_kappa_score", "confusion_matrix", "classification_report", "hamming_loss", "zero_one_loss",
    "multilabel_confusion_matrix",
)  # fmt: skip
OF_SETS = (
    *RATES, "precision_recall_fscore_support", "accuracy_score", "classification_report", "hamming_loss",
    "zero_one_loss", "multilabel_confusion_matrix",
)  # fmt: skip
OF_SCORES = ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve")
OF_ORDERS = (
    "roc_auc_score", "average_precision_score", "coverage_error", "label_ranking_loss",
    "label_ranking_average_precision_score", "ndcg_score",
)  # fmt: skip
AVERAGES = ("binary", "micro", "macro", "weighted", None)
NOT_RATIOS = ("zero_one_loss", "accuracy_score")  # with normalize=False, which grows with the weights


class Case(NamedTuple):
    """A call: the function, its columns and options, and the columns and options that scikit-learn is given."""

    name: str
    columns: tuple[Any, ...]
    options: dict[str, Any]
    reference: tuple[tuple[Any, ...], dict[str, Any]] | None = None

    def __str__(self) -> str:
        shown = ", ".join([*(_shown(c) for c in self.columns), *(f"{k}={_shown(v)}" for k, v in self.options.items())])
        return f"{self.name}({shown})"


def _shown(value: Any) -> str:
    return f"np.array({value.tolist()!r}, {value.dtype.str!r})" if isinstance(value, np.ndarray) else repr(value)


# ---------------------------------------------------------------- what is given

BIG = {  # kinds of labels whose numbers float64 cannot hold apart
    "list beyond 2**63": ([2**63, 2**63 + 1, 2**63 + 2, 2**64 - 1], list, list),
    "list beyond 2**64": ([-(2**70), 2**64, 2**64 + 1, 2**70 + 1], list, list),
    "list of both signs": ([-1, 2**63, 2**63 + 1, 2**63 + 2], list, list),
    "uint64": ([1, 2**63, 2**63 + 1, 2**64 - 1], lambda v: np.array(v, np.uint64), lambda v: np.array(v, np.uint64)),
    "int64": ([-(2**63), 2**53, 2**53 + 1, 2**63 - 1], lambda v: np.array(v, np.int64), lambda v: np.array(v, np.int64)),
    "uint64 and int64": ([1, 2**53, 2**53 + 1, 2**53 + 2], lambda v: np.array(v, np.uint64), lambda v: np.array(v, np.int64)),
    "list and uint64": ([1, 2**63, 2**63 + 1, 2**64 - 1], list, lambda v: np.array(v, np.uint64)),
    "object": ([-1, 2**53, 2**63 + 1, 2**70], lambda v: np.array(v, object), lambda v: np.array(v, object)),
    "float and int64": ([0, 1, 2**53, 2**53 + 2], lambda v: np.array(v, np.float64), lambda v: np.array([x + (x > 2**53) for x in v], np.int64)),
    "longdouble and int64": ([0, 1, 2**53, 2**53 + 1], lambda v: np.array(v, np.int64).astype(np.longdouble), lambda v: np.array(v, np.int64)),
}  # fmt: skip


def _columns_of(kind: str, rng: np.random.Generator):
    """The values of a kind of labels, and what makes a column of them, for truth and prediction."""
    wide = [-7, 0, 3, 10**12]
    kinds = {
        "ints": ([0, 1, 2, 3], np.array, np.array),
        "int8": ([-1, 1, 2, 9], lambda v: np.array(v, np.int8), lambda v: np.array(v, np.int8)),
        "uint8 and int": ([0, 1, 2, 200], lambda v: np.array(v, np.uint8), np.array),
        "small uint64": ([0, 1, 2, 70], lambda v: np.array(v, np.uint64), lambda v: np.array(v, np.int64)),
        "wide": (wide, np.array, np.array),
        "bool": ([False, True], np.array, np.array),
        "bool and int": ([0, 1], lambda v: np.array(v, bool), np.array),
        "list": ([0, 1, 2, 5], list, list),
        "tuple": ([1, 2, 3, 4], tuple, list),
        "text": (["a", "b", "cat", "ox"], np.array, np.array),
        "text list": (["no", "yes", "zz", "é"], list, list),
        "text object": (["no", "yes", "zz", "é"], lambda v: np.array(v, object), np.array),
        "floats": ([0.0, 1.0, 2.0, 7.0], np.array, np.array),
        "float32 and int": ([0, 1, 2, 7], lambda v: np.array(v, np.float32), np.array),
        "minus one": ([-1, 1], np.array, np.array),
        "fractions": ([0.5, 1.0, 2.0, 7.0], np.array, np.array),
        "object ints": ([0, 1, 2, 3], lambda v: np.array(v, object), lambda v: np.array(v, object)),
        "longdouble": ([0, 1, 2, 3], lambda v: np.array(v, np.longdouble), np.array),
        "float16": ([0, 1, 2, 3], lambda v: np.array(v, np.float16), np.array),
        "text and ints": ([0, 1, 2, 3], np.array, lambda v: [str(x) for x in v]),
        **BIG,
    }  # fmt: skip
    if kind == "any":
        usual = [name for name in kinds if name not in BIG]
        kind = str(rng.choice(usual if rng.random() < 0.85 else list(BIG)))
    return kind, kinds[kind]


def _weights(rng: np.random.Generator, n: int, codes: np.ndarray) -> Any:
    """Weights, or None: zeros, a class of none, tiny and huge ones, and bad ones."""
    kind = rng.choice(
        ["none", "float", "int", "zeros", "class of none", "tiny", "huge", "both", "scaled", "bad", "list"],
        p=[0.3, 0.1, 0.1, 0.1, 0.12, 0.07, 0.07, 0.03, 0.04, 0.04, 0.03],
    )
    whole = rng.integers(1, 5, n)
    zero = rng.random(n) < 0.5
    if kind == "none":
        return None
    if kind == "float":
        return rng.random(n)
    if kind == "int":
        return whole.astype(rng.choice([np.int64, np.uint8, np.int32, bool]))
    if kind == "zeros":
        return np.where(zero, 0, whole).astype(rng.choice([np.float64, np.int64, np.float32]))
    if kind == "class of none":
        return np.where(codes == rng.choice(codes), 0, whole).astype(rng.choice([np.float64, np.int64]))
    if kind == "tiny":
        return np.where(zero & (rng.random() < 0.5), 0, whole) * 2.0**-1033  # about 1e-311; sums of them are exact
    if kind == "huge":
        return np.where(zero & (rng.random() < 0.5), 0, whole) * 2.0**996  # about 1e300
    if kind == "both":
        return np.where(zero, 1e-311, 1e300)
    if kind == "scaled":
        return whole * 2.0 ** rng.integers(-1000, 990)
    if kind == "list":
        return [float(w) for w in whole]
    bad = whole.astype(float)
    bad[rng.integers(n)] = rng.choice([-1.0, np.nan, np.inf])
    return [bad, np.zeros(n), bad[:-1], whole[:, None]][rng.integers(4)]


def _codes(rng: np.random.Generator, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    true, other = rng.integers(0, k, (2, n))
    pred = np.where(rng.random(n) < rng.random(), true, other)
    if rng.random() < 0.2:
        true[true == rng.integers(k)] = 0
    if rng.random() < 0.2:
        pred[:] = rng.integers(k)
    return true, pred


def _division(rng: np.random.Generator) -> Any:
    return ["warn", 0, 1, np.nan][rng.integers(4)]


def _rate_options(rng: np.random.Generator, name: str, averages: tuple[Any, ...]) -> dict[str, Any]:
    """Options that have no labels in them."""
    options: dict[str, Any] = {}
    if name in (*RATES, "precision_recall_fscore_support"):
        options["average"] = averages[rng.integers(len(averages))]
    if name in (*RATES, "precision_recall_fscore_support", "classification_report"):
        options["zero_division"] = _division(rng)
    if name in ("fbeta_score", "precision_recall_fscore_support"):
        options["beta"] = float(rng.choice([0, 0.3, 1, 2, np.inf]))
    if name == "classification_report":
        options["output_dict"] = True
    if name in NOT_RATIOS:
        options["normalize"] = bool(rng.integers(2))
    if name == "balanced_accuracy_score":
        options["adjusted"] = bool(rng.integers(2))
    if name == "confusion_matrix":
        options["normalize"] = [None, "true", "pred", "all"][rng.integers(4)]
    if name == "cohen_kappa_score":
        options["weights"] = [None, "linear", "quadratic"][rng.integers(3)]
    return options


def label_case(rng: np.random.Generator) -> Case:
    """Rows of one label each, predicted as one."""
    name = str(rng.choice(OF_LABELS))
    kind, (values, make_true, make_pred) = _columns_of("any", rng)
    n, k = int(rng.integers(1, 30)), int(rng.integers(1, len(values) + 1))
    true, pred = _codes(rng, n, k)
    options = _rate_options(rng, name, AVERAGES)
    if rng.random() < 0.7:
        options["sample_weight"] = _weights(rng, n, true)
    chosen: dict[str, list[int]] = {}
    if name in (*RATES, "precision_recall_fscore_support") and options["average"] == "binary" and rng.random() < 0.7:
        chosen["pos_label"] = [int(rng.integers(len(values)))]
    lists = (*RATES, "precision_recall_fscore_support", "confusion_matrix", "cohen_kappa_score",
             "classification_report", "multilabel_confusion_matrix")  # fmt: skip
    if name in lists and rng.random() < 0.3:
        chosen["labels"] = rng.permutation(len(values))[: rng.integers(1, len(values) + 1)].tolist()

    def given(listed: list[Any]) -> dict[str, Any]:
        return options | {
            key: listed[places[0]] if key == "pos_label" else [listed[place] for place in places]
            for key, places in chosen.items()
        }

    def columns(listed: list[Any], one: Any, other: Any) -> tuple[Any, Any]:
        return one([listed[code] for code in true]), other([listed[code] for code in pred])

    reference = None
    if kind in BIG:
        # Small numbers in the same order; 1, which is positive where nobody says so, stays 1.
        small = [
            1 if value == 1 else 10 * (i - values.index(1) if 1 in values else i + 1) for i, value in enumerate(values)
        ]
        other = [x + 5 * (x > 10 and kind == "float and int64" and values[i] > 2**53) for i, x in enumerate(small)]
        reference = (np.array([small[code] for code in true]), np.array([other[code] for code in pred])), given(small)
    return Case(name, columns(values, make_true, make_pred), given(values), reference)


def set_case(rng: np.random.Generator) -> Case:
    """Rows of several labels each, predicted as several."""
    name = str(rng.choice(OF_SETS))
    n, k = int(rng.integers(1, 25)), int(rng.integers(1, 5))
    true = (rng.random((n, k)) < rng.random(k)).astype(int)
    pred = np.where(rng.random((n, k)) < 0.3, 1 - true, true)
    options = _rate_options(rng, name, (*AVERAGES[1:], "samples"))
    if rng.random() < 0.7:
        options["sample_weight"] = _weights(rng, n, true[:, 0])
    if name not in ("accuracy_score", "hamming_loss", "zero_one_loss") and rng.random() < 0.3:
        options["labels"] = rng.permutation(k)[: rng.integers(1, k + 1)].tolist()
    if name == "multilabel_confusion_matrix":
        options["samplewise"] = bool(rng.integers(2))
    form = _forms(rng)
    return Case(name, (form(true), form(pred)), options)


def _forms(rng: np.random.Generator) -> Any:
    from scipy import sparse

    forms = (np.asarray, sparse.csr_array, np.ndarray.tolist, lambda m: m.astype(bool), lambda m: m.astype(float),
             lambda m: m.astype(np.uint64), lambda m: m.astype(np.float16), lambda m: m.astype(object))  # fmt: skip
    return forms[rng.integers(len(forms))]


def _scores(rng: np.random.Generator, shape: Any) -> np.ndarray:
    scores = rng.random(shape)
    kind = rng.integers(6)
    if kind == 0:
        return np.round(scores * 4).astype(rng.choice([np.int64, np.uint64, np.int8, np.float64]))
    if kind == 1:
        return np.round(scores, 1).astype(rng.choice([np.float32, np.float16, np.float64, np.longdouble]))
    if kind == 2:
        return (scores * 4).astype(np.uint64) + np.uint64(2**63)  # not apart as float64
    if kind == 3 and rng.random() < 0.1:
        scores.flat[0] = rng.choice([np.nan, np.inf])
    return scores


def score_case(rng: np.random.Generator) -> Case:
    """Rows of one label each and their scores."""
    name = str(rng.choice(OF_SCORES))
    kind, (values, make, _) = _columns_of("any", rng)
    while kind in BIG:
        kind, (values, make, _) = _columns_of("any", rng)
    n, k = int(rng.integers(2, 30)), 2 if rng.random() < 0.9 else int(rng.integers(1, len(values) + 1))
    true, _ = _codes(rng, n, k)
    options: dict[str, Any] = {}
    if rng.random() < 0.7:
        options["sample_weight"] = _weights(rng, n, true)
    if name == "roc_auc_score":
        options["max_fpr"] = [None, None, 0.3, 1.0][rng.integers(4)]
    elif rng.random() < 0.6:
        options["pos_label"] = values[rng.integers(len(values))]
    if name in ("roc_curve", "precision_recall_curve"):
        options["drop_intermediate"] = bool(rng.integers(2))
    scores = _scores(rng, n)
    return Case(
        name, (make([values[code] for code in true]), scores.tolist() if rng.random() < 0.2 else scores), options
    )


def column_case(rng: np.random.Generator) -> Case:
    """Rows of one of several classes each, and a score for every class."""
    n, k = int(rng.integers(4, 40)), int(rng.integers(3, 5))
    true, _ = _codes(rng, n, k)
    options: dict[str, Any] = {
        "multi_class": ["ovr", "ovo", "raise"][rng.integers(3)],
        "average": ["macro", "weighted", "micro", None][rng.integers(4)],
    }
    if rng.random() < 0.7:
        options["sample_weight"] = _weights(rng, n, true)
    if rng.random() < 0.2:
        options["labels"] = list(range(k))
    return Case("roc_auc_score", (true, rng.dirichlet(np.ones(k), n)), options)


def order_case(rng: np.random.Generator) -> Case:
    """Rows of several labels each, and a score for every label."""
    name = str(rng.choice(OF_ORDERS))
    n, k = int(rng.integers(1, 25)), int(rng.integers(1, 5))
    true = (rng.random((n, k)) < rng.random(k)).astype(int)
    options: dict[str, Any] = {}
    if rng.random() < 0.7:
        options["sample_weight"] = _weights(rng, n, true[:, 0])
    if name in ("roc_auc_score", "average_precision_score"):
        options["average"] = ["macro", "micro", "weighted", "samples", None][rng.integers(5)]
    if name == "ndcg_score":
        options["k"] = [None, 1, 2][rng.integers(3)]
    given, scores = _forms(rng)(true), _scores(rng, (n, k))
    if scores.dtype.kind != "u":
        return Case(name, (given, scores), options)
    # scikit-learn turns the order around by a minus sign, which unsigned numbers do not have.
    return Case(name, (given, scores), options, ((given, (scores - scores.min()).astype(np.int64)), options))


def case_of(seed: int) -> Case:
    """The call of a seed."""
    rng = np.random.default_rng(seed)
    make = (label_case, label_case, label_case, set_case, score_case, score_case, column_case, order_case)
    return make[rng.integers(len(make))](rng)


# ---------------------------------------------------------------- what comes back


def outcome(function: Any, columns: Any, options: Any) -> Any:
    """The value or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*columns, **options)
        except Exception as error:  # noqa: BLE001 - whatever is raised
            return error


def numbers(value: Any) -> list[np.ndarray]:
    """A value as arrays, its parts in order."""
    if isinstance(value, dict):
        return [part for key in value for part in numbers(value[key])]
    if isinstance(value, tuple):
        return [part for each in value for part in numbers(each)]
    return [] if value is None else [np.asarray(value)]


def alike(value: Any, expected: Any, size: float = 1.0) -> bool:
    """Whether two values are the same but for rounding: types, shapes and the keys of a report too."""
    if isinstance(expected, dict) and (not isinstance(value, dict) or len(value) != len(expected)):
        return False
    mine, other = numbers(value), numbers(expected)
    if len(mine) != len(other):
        return False
    return all(
        a.shape == b.shape and a.dtype.kind == b.dtype.kind and np.allclose(a, b, rtol=1e-9 if b.dtype.itemsize == 8 else 1e-5, atol=1e-12 * max(size, _largest(b)), equal_nan=True)
        for a, b in zip(mine, other, strict=True)
    )  # fmt: skip


def _largest(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else np.zeros(0)
    return float(np.abs(finite).max(initial=0.0))


def _size(options: dict[str, Any]) -> float:
    """What rounding is measured by: 1, or the largest weight where all are tiny."""
    weight = options.get("sample_weight")
    return 1.0 if weight is None else float(min(1.0, np.nanmax(np.asarray(weight, dtype=np.float64), initial=0.0)))


def difference(case: Case) -> str | None:
    """How a drop-in's outcome differs from scikit-learn's, or None."""
    value = outcome(getattr(ours, case.name), case.columns, case.options)
    columns, options = case.reference or (case.columns, case.options)
    expected = outcome(getattr(theirs, case.name), columns, options)
    if isinstance(value, Exception) and isinstance(expected, Exception):
        return None
    if case.reference is not None and isinstance(value, SteelyardError):
        return None  # refused in a sentence
    if isinstance(value, Exception) and isinstance(
        outcome(getattr(theirs, case.name), case.columns, case.options), Exception
    ):
        return None  # numbers that scikit-learn refuses too
    if isinstance(value, Exception):
        return f"raises {type(value).__name__} ({str(value)[:100]}), scikit-learn gives {expected!r}"
    if isinstance(expected, Exception):
        return f"gives {value!r}, scikit-learn raises {type(expected).__name__} ({str(expected)[:100]})"
    if alike(value, expected, _size(options)) or _alike_scaled(case, value, expected, columns, options):
        return None
    if case.name in OF_ORDERS and alike(value, outcome(getattr(theirs, case.name), case.columns, case.options)):
        return None  # unsigned scores that were handed on
    return f"gives {value!r}, scikit-learn {expected!r}"


def _flat(value: Any) -> np.ndarray:
    return np.concatenate([np.zeros(0), *(part.ravel() for part in numbers(value))])


def _alike_scaled(case: Case, value: Any, expected: Any, columns: Any, options: dict[str, Any]) -> bool:
    """Whether it is what scikit-learn gives with extreme weights divided by the largest."""
    weight = np.asarray(options.get("sample_weight", 1.0), dtype=np.float64)
    if not weight.any() or 1e-8 < np.max(weight) < 1e100 or not np.isfinite(weight).all():
        return False
    scaled = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
    if np.min(weight[weight > 0]) < 1e-300 * weight.max() and np.isnan(_flat(expected)).any():
        return bool(np.isfinite(_flat(value)).all())
    with np.errstate(all="ignore"):
        return alike(value, outcome(getattr(theirs, case.name), columns, options | {"sample_weight": scaled}))


def differences(first: int, last: int) -> tuple[Counter[str], list[str]]:
    """How many calls of each function were compared, and those that differ."""
    calls: Counter[str] = Counter()
    found = []
    for seed in range(first, last):
        case = case_of(seed)
        calls[case.name] += 1
        if (how := difference(case)) is not None:
            found.append(f"seed {seed}: {case}\n    {how}")
    return calls, found


def main() -> int:
    first, last = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, int((sys.argv[1:] or ["100000"])[0]))
    calls, found = differences(first, last)
    for name, number in sorted(calls.items()):
        print(f"{name:40} {number:7,} calls")
    print(*found[:200], sep="\n")
    print(f"{sum(calls.values()):,} calls beside scikit-learn {sklearn.__version__}, {len(found)} differ")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
