"""The errors by level of a hierarchy, and the pairs of classes, as the values of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.confusions.confused_pairs import ConfusedPair
from steelyard.analysis.confusions.hierarchy import BoundedValue, Level, LevelErrors
from steelyard.evaluation.saved.json_values import label_json, numbers_json, read_label, read_numbers

if TYPE_CHECKING:
    from steelyard.statistics.saved_field import SavedField

_PAIR_NUMBERS = ("weight", "share", "low", "high", "expected", "p_value")
_ENDS = ("value", "low", "high")


def levels_json(errors: LevelErrors) -> dict[str, Any]:
    """The levels, and the metrics over all of them."""
    return {
        "levels": [
            {
                "level": level.level,
                "classes": level.classes,
                "accuracy": _value_json(level.accuracy),
                "errors": level.errors,
                "inside_parent": _value_json(level.inside),
                "pairs": [pair_json(pair) for pair in level.pairs],
            }
            for level in errors.levels
        ],
        "metrics": {name: _value_json(value) for name, value in errors.metrics.items()},
    }


def read_levels(field: SavedField) -> LevelErrors:
    """What `levels_json` wrote."""
    levels = tuple(
        Level(
            level["level"].whole(),
            level["classes"].whole(),
            _read_value(level["accuracy"]),
            level["errors"].number(),
            _read_value(level["inside_parent"]),
            tuple(_read_pair(pair) for pair in level["pairs"].each()),
        )
        for level in field["levels"].each()
    )
    return LevelErrors(levels, {name: _read_value(value) for name, value in field["metrics"].entries().items()})


def pair_json(pair: ConfusedPair) -> dict[str, Any]:
    """A pair of classes that are confused, with its share, what is expected, and the adjusted p-value."""
    numbers = numbers_json(**{name: getattr(pair, name) for name in _PAIR_NUMBERS})
    return {"true": label_json(pair.true), "predicted": label_json(pair.predicted), "rows": pair.rows, **numbers}


def _read_pair(field: SavedField) -> ConfusedPair:
    numbers = read_numbers(field, *_PAIR_NUMBERS)
    return ConfusedPair(
        read_label(field["true"]), read_label(field["predicted"]), rows=field["rows"].whole(), **numbers
    )


def _value_json(value: BoundedValue) -> dict[str, Any]:
    return numbers_json(**{name: getattr(value, name) for name in _ENDS})


def _read_value(field: SavedField) -> BoundedValue:
    return BoundedValue(**read_numbers(field, *_ENDS))
