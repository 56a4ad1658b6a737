"""Anything that a call gives, as JSON that a person can review; and what differs between two of them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import numbers
import os
import re
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from unittest.mock import patch

import numpy as np

import steelyard

MOST_NUMBERS, MOST_TEXTS, MOST_ROWS, MOST_DEEP = 16, 40, 30, 40  # longer lists are summed up
MOST_LETTERS, MOST_LINES = 500, 70
WIDTH = 220  # what fits a line is written on one
RELATIVE, ABSOLUTE = 1e-9, 1e-12

# What differs between two runs, machines or releases, and is not recorded: values under these keys, and such texts.
VOLATILE_KEYS = re.compile(r"^(versions?|.*memory|peak.*|digests?|key_hash|time|made|logged|python|path|folder)$")
VOLATILE_TEXTS = (
    (re.compile(r"\d{8}T\d{6}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"^(\| )?[0-9a-f]{8}(?= |$)", re.MULTILINE), "<id>"),
    (re.compile(r"computed in .* of CPU"), "computed in <cost>"),
    (re.compile(r"(?<=steelyard diff )[0-9a-f]{8} [0-9a-f]{8}\b"), "<id> <id>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z|[+]00:00)?"), "<time>"),
    (re.compile(rf"{re.escape(tempfile.gettempdir())}/[\w./-]*?(?=[\w.-]+\.\w+\b|['\"\s]|$)"), "<folder>/"),
    (re.compile(r"<function [\w.<>]+ at 0x[0-9a-f]+>"), "<function>"),
    (re.compile(r"<[\w. ]+ object at 0x[0-9a-f]+>"), "<object>"),
    (re.compile(r"\d+(\.\d+)? (ms|milliseconds|s|seconds|MB|MiB|KB|kB)\b"), "<cost>"),
    (re.compile(rf"\b{re.escape(steelyard.__version__)}\b"), "<version>"),
    (re.compile(re.escape(date.today().isoformat())), "<today>"),  # noqa: DTZ011 - as the program writes it
)
LONG_NUMBER = re.compile(r"\b\d+\.\d{10,}(e[+-]?\d+)?\b")  # whose last digits machines may disagree on


def masked(text):
    """A text without what differs between two runs, and numbers in it to nine digits."""
    for pattern, instead in VOLATILE_TEXTS:
        text = pattern.sub(instead, text)
    return LONG_NUMBER.sub(lambda found: f"{float(found[0]):.9g}", text)


class Clock:
    """A clock by which every step takes the same time, so that what fits cost in seconds is recorded too."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1 / 1024
        return self.now


@contextmanager
def in_a_plain_shell():
    """No setting of a user's shell may change a record: a terminal of 80 columns without colours.

    Nor may the speed of a machine, or what a fit takes of its memory.
    """
    before = dict(os.environ)
    for name in [name for name in before if name.startswith("STEELYARD_") or name in ("FORCE_COLOR", "LINES")]:
        del os.environ[name]
    os.environ.update(COLUMNS="80", NO_COLOR="1", TERM="dumb")
    try:
        with (
            patch.object(time, "perf_counter", Clock()),
            patch.object(time, "process_time", Clock()),
            patch.object(tracemalloc, "get_traced_memory", lambda: (0, 65536)),
        ):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def asked(call):
    """What a call gives or refuses, and its warnings."""
    with warnings.catch_warnings(record=True) as caught, in_a_plain_shell():
        warnings.simplefilter("always")
        try:
            given = recorded(call())
        except Exception as error:  # noqa: BLE001 - whatever a call ends in is recorded
            given = {"refused": recorded(str(error)), "as": kind(error)}
    said = [masked(str(each.message)) for each in caught if each.category is UserWarning]
    return {"given": given, "warned": said} if said else given


def kind(error):
    """The public names of an error: what one may catch."""
    names = [each.__name__ for each in type(error).__mro__ if each.__module__ == "builtins"]
    ours = ["SteelyardError"] if isinstance(error, steelyard.SteelyardError) else []
    return " ".join([*ours, names[0]])


def recorded(value):
    """A value as JSON: numbers to 12 digits, results by their fields and their text, long lists summed up."""
    return summed_up(plain(value))


# ---------------------------------------------------------------- to JSON


def plain(value, inside=False):
    """A value as JSON in full."""
    match value:
        case None | bool() | int():
            return value
        case str():
            return masked(value)
        case np.generic() | np.ndarray():
            return plain(value.tolist(), inside)
        case numbers.Real():
            return plain_number(float(value))
        case Mapping():
            return {masked(str(key)): plain_at(str(key), each) for key, each in value.items()}
        case _ if hasattr(value, "_asdict"):
            return plain(value._asdict(), inside=True)
        case set() | frozenset():
            return sorted((plain(each, inside=True) for each in value), key=str)
        case Iterator():
            return [plain(each, inside=True) for each in value]
        case list() | tuple() if not hasattr(value, "to_dict"):
            return [plain(each, inside=True) for each in value]
        case _:
            return plain_object(value, inside)


def plain_at(key, value):
    return "<masked>" if VOLATILE_KEYS.match(key) else plain(value, inside=True)


def plain_number(value):
    return float(f"{value:.12g}") if math.isfinite(value) else str(value)


def plain_object(value, inside):
    """A result, a table, a frame, a figure or an estimator, by what its class makes public of it."""
    if hasattr(value, "frame") and hasattr(value, "caption"):  # a figure
        return {"caption": plain(value.caption()), "frame": plain(value.frame().to_dicts())}
    if (data := plain_data(value)) is not None:
        return data if inside else {"text": plain(str(value)).splitlines(), "data": data}
    if hasattr(value, "get_params"):  # an estimator: its options and what it learnt
        learnt = {name: plain(each, inside=True) for name, each in vars(value).items() if name.endswith("_")}
        return {
            "text": plain(repr(value)),
            **{name: each for name, each in sorted(learnt.items()) if not name.startswith("_")},
        }
    return plain(repr(value))


def plain_data(value):
    """The fields of what has fields, else None."""
    if type(value).__module__.split(".")[0] in ("polars", "pandas", "pyarrow"):
        columns = value.to_dict("list") if hasattr(value, "iloc") else value.to_dict()
        return plain({name: list(each) for name, each in columns.items()})
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "to_json"):
        return plain(json.loads(value.to_json()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return plain({name: each for name, each in fields.items() if not callable(each)})
    return None


# ---------------------------------------------------------------- made short


def summed_up(value):
    """Plain JSON made short: tables by columns, long lists by a few elements, sums and digests."""
    match value:
        case str() if "\n" in value.strip() and len(value) > WIDTH:
            return summed_up(value.splitlines())
        case str() if len(value) > MOST_LETTERS:
            return {"starts": value[:80], "letters": len(value), "sha": digest(value)}
        case dict():
            return {key: summed_up(each) for key, each in value.items()}
        case list():
            return summed_list(value)
        case _:
            return value


def summed_list(value):
    leaves = list(leaves_of(value))
    numeric = sum(not isinstance(leaf, str) for leaf in leaves)
    if all(isinstance(each, str) for each in value):
        return value if len(value) <= MOST_LINES else shortened(value, leaves, MOST_TEXTS)
    if numeric == len(leaves) and numeric > MOST_NUMBERS:
        return shortened(value, leaves, 3)
    if len(value) > MOST_ROWS or len(leaves) > MOST_ROWS * MOST_DEEP:
        return shortened(value, leaves, 4)
    if len(value) > 1 and all(isinstance(each, dict) for each in value):
        rows = [flat(each) for each in value]
        if len({tuple(row) for row in rows}) == 1:
            return table(rows)
    return [summed_up(each) for each in value]


def table(rows):
    """Rows of the same columns; what is the same in all of them stands beside them."""
    first = rows[0]
    same = {name: first[name] for name in first if all(repr(row[name]) == repr(first[name]) for row in rows)}
    columns = [name for name in first if name not in same]
    cells = [[summed_up(row[name]) for name in columns] for row in rows]
    return {"same": summed_up(same), "columns": columns, "rows": cells} if same else {"columns": columns, "rows": cells}


def flat(row):
    """A row whose cells are small dictionaries, with a column for each of their keys."""
    cells = {}
    for name, cell in row.items():
        cells |= {f"{name}.{key}": each for key, each in flat(cell).items()} if isinstance(cell, dict) else {name: cell}
    return cells


def shortened(value, leaves, shown):
    """A long list: how long, its first elements, the sums of its numbers and the digest of its texts."""
    found = [leaf for leaf in leaves if isinstance(leaf, (int, float)) and not isinstance(leaf, bool)]
    texts = [str(leaf) for leaf in leaves if leaf is None or isinstance(leaf, (str, bool))]
    short = {"length": len(value), "first": [summed_up(each) for each in value[:shown]]}
    if found:
        places = np.arange(1, len(found) + 1) / len(found)  # so that an exchange of two is seen
        short |= {"last": found[-1], "middle": found[len(found) // 2], "numbers": len(found)}
        short |= {"sum": plain_number(math.fsum(found)), "by place": plain_number(math.fsum(found * places))}
    if texts:
        short |= {"texts": len(texts), "sha": digest("\n".join(texts))}
    return short


def leaves_of(value):
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from leaves_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves_of(each)
    else:
        yield value


def digest(text):
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


# ---------------------------------------------------------------- written and compared


def written(entries):
    """The JSON text of a question's entries: what fits a line on one line, so that a diff reads like a table."""
    return f"{_text(dict(sorted(entries.items())), 0)}\n"


def _text(value, deep):
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or (deep > 1 and len(line) + deep <= WIDTH):
        return line
    inner, space = "\n" + " " * (deep + 1), "\n" + " " * deep
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {_text(each, deep + 1)}" for key, each in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{space}}}"
    return f"[{inner}{f',{inner}'.join(_text(each, deep + 1) for each in value)}{space}]"


def differences(before, now, place=""):
    """Where two recorded values differ: the place, what was recorded and what is given now."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in [*before, *(key for key in now if key not in before)]:
            yield from differences(before.get(key, "<missing>"), now.get(key, "<missing>"), f"{place} / {key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for i, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from differences(one, other, f"{place}[{i}]")
    elif not same(before, now):
        yield place.removeprefix(" / "), before, now


def same(before, now):
    """Texts exactly, numbers to nine digits."""
    if isinstance(before, (str, bool, type(None))) or isinstance(now, (str, bool, type(None))):
        return type(before) is type(now) and before == now
    if isinstance(before, (list, dict)) or isinstance(now, (list, dict)):
        return before == now
    return math.isclose(before, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
