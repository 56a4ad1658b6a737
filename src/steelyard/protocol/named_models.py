"""Named models: estimators by a short name, and a table of columns made ready for them.

Nothing is learned from rows outside a training part: imputing, scaling and coding are steps of the estimator.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from steelyard.analysis.results.formatting import listed, number_of
from steelyard.arrays import checks
from steelyard.exceptions import InputError, InputTypeError, UnknownNameError, did_you_mean, first_ten, needs_sklearn
from steelyard.files.reading import LoadedColumns
from steelyard.frames import decoding
from steelyard.frames.source import index_columns, index_sentences
from steelyard.protocol.cross_evaluate import cross_evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Estimator, Frame
    from steelyard.protocol.cross_evaluation import CrossEvaluation

FEW_ROWS, UNIQUE_SHARE = 10, 0.9  # of so many rows with text, more than this share of different texts name rows
NAMES_ROWS = "was left out: nearly every row has its own text there, which says nothing about other rows."
_MOST_NAMED = 5  # columns with missing values that a note names
MOST_CATEGORIES = 50  # columns that a column of text becomes at most; rarer words share one


# By their short names; nothing is imported before one of them is asked for.
MODELS = {
    "logistic": ("sklearn.linear_model", "LogisticRegression", {"max_iter": 1_000}),
    "tree": ("sklearn.tree", "DecisionTreeClassifier", {}),
    "forest": ("sklearn.ensemble", "RandomForestClassifier", {}),
    "boosting": ("sklearn.ensemble", "HistGradientBoostingClassifier", {}),
    "naive-bayes": ("sklearn.naive_bayes", "GaussianNB", {}),
    "nearest-mean": ("steelyard.estimators.nearest_mean", "NearestMeanClassifier", {}),
    "lda": ("sklearn.discriminant_analysis", "LinearDiscriminantAnalysis", {}),
}


def model(name: str) -> Estimator:
    """A new estimator by its short name, of those in MODELS, or by where it is imported from, as MODULE:CLASS.

    >>> model("logistic"), model("sklearn.naive_bayes:BernoulliNB")
    (LogisticRegression(max_iter=1000), BernoulliNB())
    """
    if ":" in name:
        return _imported_model(name)
    if name not in MODELS:
        near = did_you_mean(str(name), MODELS) or f" There are {', '.join(MODELS)}."
        raise UnknownNameError(f"No model is called {name!r}.{near}")
    module, estimator, options = MODELS[name]
    try:
        made: Estimator = getattr(import_module(module), estimator)(**options)
    except ImportError:
        raise needs_sklearn(f"The model {name!r}") from None
    return made


def imported_object(name: str, kind: str) -> Any:  # whatever stands there
    """The object of a name as for an import; `kind` is what a sentence calls it, such as FUNCTION.

    >>> imported_object("math:floor", "FUNCTION")(2.5)
    2
    """
    module, _, attribute = name.partition(":")
    sys.path.append("")  # last, so that no file in the folder stands in for a library
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # noqa: BLE001 - a user's module may raise anything
        if not module or module.startswith("."):
            raise InputError(f"{name!r} names no module that can be imported; write MODULE:{kind}.") from None
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        raise InputError(f"{name!r} was not found ({reason}); write MODULE:{kind} as for an import.") from None
    finally:
        sys.path.remove("")


def _imported_model(name: str) -> Estimator:
    """What a class or function without arguments makes, or an estimator that stands there."""
    thing = imported_object(name, "CLASS")
    try:
        estimator: Estimator = thing() if isinstance(thing, type) or not hasattr(thing, "fit") else thing
    except Exception as error:  # noqa: BLE001 - a user's class may raise anything
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        raise InputError(f"{name!r} cannot be made without arguments ({reason}); name a function that does.") from None
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise InputTypeError(f"{name!r} gives {type(estimator).__name__}, which has no fit and predict; name a model.")
    return estimator


def cross_evaluate_columns(
    table: Mapping[str, Any] | Frame, target: str, *, model: str | list[str] = "logistic", **options: Any
) -> CrossEvaluation:
    """Cross-evaluate models by name on a table of columns: `target` is predicted from all the others.

    The table is a frame of pandas or Polars, or {name: values}. Numbers are standardised and what is missing is
    replaced by the median; text becomes one column a word, with one more where it is missing. All that is learned from
    training parts only, before their classes are made equal. A column of text that names the rows is left out, as is
    the index of a pandas frame that was saved among the columns; notes say so. `options` are those of cross_evaluate.

    >>> columns = {"size": [1.0, 2, 3, 4] * 10, "colour": ["red", "blue"] * 20, "kind": [0, 0, 1, 1] * 10}
    >>> cross_evaluate_columns(columns, "kind", model="tree", split=2).evaluation.rows
    40
    """
    columns, notes = read_columns(table, [target])
    y = target_column(columns, target)
    decoding.check_numeric_text(columns)
    kept = {name: column for name, column in columns.items() if not is_a_name(column)}
    X, words = features(kept)
    names = [model] if isinstance(model, str) else list(model)
    result = cross_evaluate({name: prepared(name, words) for name in names}, X, y, **options)
    return replace(
        result,
        notes=(
            *result.notes,
            feature_sentence(kept),
            *notes,
            *left_out_sentences(columns),
            *missing_sentences(kept),
        ),
    )


def read_columns(table: Mapping[str, Any] | Frame, named: Sequence[str]) -> tuple[dict[str, Array], list[str]]:
    """The columns of a table by name, without an index of pandas that is not `named`, and sentences on what is not."""
    names = table.keys() if isinstance(table, Mapping) else getattr(table, "columns", None)
    if names is None:
        raise InputTypeError(f"A table of columns is a frame or {{name: values}}, not {type(table).__name__}.")
    get = cast("Mapping[str, Any]", table).__getitem__
    recorded = table.index if isinstance(table, LoadedColumns) else ()
    index = index_columns(map(str, names), recorded, named=named)
    columns = {str(name): checks.column(get(name), f"the column {name!r}") for name in names if str(name) not in index}
    checks.check_lengths(**columns)
    return columns, index_sentences(index)


def check_column(columns: Mapping[str, Array], name: str, use: str = "") -> None:
    """Refuse a name that no column has."""
    if name not in columns:
        near = did_you_mean(str(name), columns) or f" There are {first_ten(list(columns))}."
        raise InputError(f"There is no column {name!r}{use}.{near}")


def target_column(columns: dict[str, Array], target: str) -> Array:
    """The labels, taken out of the columns; refused where a row has none, or all have the same."""
    check_column(columns, target, " to predict")
    y = columns.pop(target)
    if lost := missing_cells(y):
        raise InputError(
            f"The column {target!r} to predict holds missing labels in {lost:,} of {number_of(len(y), 'row')} (in a "
            "file an empty cell, NA, n/a, nan, null or ?); drop those rows, or give them a label."
        )
    if len(y) and len(labels := set(y.tolist())) == 1:
        raise InputError(
            f"The column {target!r} to predict holds one class only, {labels.pop()!r}; give rows of others."
        )
    return y


def missing_cells(column: Array) -> int:
    """How many rows have no value."""
    if column.dtype.kind == "f":
        return int(np.isnan(column).sum())
    return sum(value is None or value != value for value in column.tolist()) if column.dtype.kind == "O" else 0  # noqa: PLR0124 - NaN


def feature_sentence(columns: Mapping[str, Array]) -> str:
    """Which columns a model learns from."""
    return f"The features are {listed([repr(name) for name in columns])}." if columns else "There are no features."


def left_out_sentences(columns: Mapping[str, Array]) -> list[str]:
    """Which columns name the rows, and so are no features."""
    return [f"The column {name!r} {NAMES_ROWS}" for name, column in columns.items() if is_a_name(column)]


def missing_sentences(columns: Mapping[str, Array]) -> list[str]:
    """In which columns values are missing, the emptiest first, and what stands in their place."""
    counts = {name: lost for name, column in columns.items() if (lost := missing_cells(column))}
    if not counts:
        return []
    worst = sorted(counts, key=lambda name: -counts[name])
    shown = [f"{name!r} ({number_of(counts[name], 'row')})" for name in worst[:_MOST_NAMED]]
    rest = [number_of(len(worst) - _MOST_NAMED, "other column")] if len(worst) > _MOST_NAMED else []
    return [
        f"Values are missing in {listed([*shown, *rest])}: numbers take the median of the training rows, and missing "
        "text is a word of its own."
    ]


def is_a_name(column: Array) -> bool:
    """Whether a column holds text of which nearly every row has its own, such as an identifier or a time."""
    if column.dtype.kind not in "UOT":
        return False
    texts = [value for value in column.tolist() if isinstance(value, str)]
    return len(texts) >= FEW_ROWS and len(set(texts)) > UNIQUE_SHARE * len(texts)


def features(columns: Mapping[str, Array]) -> tuple[Array, Array]:
    """The columns as one array of numbers, and which of them are codes of words; NaN where a value is missing."""
    if not columns:
        raise InputError("There is no column to predict from; give at least one beside the target.")
    coded = [_numbers(column, name) for name, column in columns.items()]
    return np.column_stack([numbers for numbers, _ in coded]), np.array([words for _, words in coded])


def _numbers(column: Array, name: str) -> tuple[Array, bool]:
    """A column as numbers, and whether they stand for words."""
    if column.dtype.kind in "biuf":
        numbers = column.astype(np.float64)
        if np.isinf(numbers).any():
            raise InputError(f"The column {name!r} holds an infinity; give a number, or leave it empty.")
        return numbers, False
    if column.dtype.kind not in "UOT":
        raise InputTypeError(f"The column {name!r} holds {column.dtype} values; give numbers or text.")
    values = [None if value is None or value != value else value for value in column.tolist()]  # noqa: PLR0124 - NaN
    if all(isinstance(value, (int, float)) for value in values if value is not None):
        return np.array([np.nan if value is None else float(value) for value in values]), False
    codes = {word: i for i, word in enumerate(sorted({str(value) for value in values if value is not None}))}
    return np.array([np.nan if value is None else float(codes[str(value)]) for value in values]), True


def prepared(estimator: str | Estimator, words: Array) -> Estimator:
    """A model, by its name or as such, behind the steps that make its columns ready, which are fitted with it."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from steelyard.estimators.resampled_pipeline import Prepared

    last = model(estimator) if isinstance(estimator, str) else estimator
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    coding = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False)
    columns = [("numbers", numbers, np.flatnonzero(~words)), ("words", coding, np.flatnonzero(words))]
    return Prepared([("columns", ColumnTransformer(columns)), ("model", last)])
