"""A program that logs: `python ledger_writer.py FOLDER NAME FIRST LAST` prints each id when its evaluation is kept."""

from __future__ import annotations

import sys
from functools import cache

from steelyard import Counts, Ledger, evaluate


def logged(place):
    """The evaluation that a writer logs in that place, one of three."""
    return _evaluated(place % 3)


@cache
def _evaluated(more):
    return evaluate(Counts(tp=28 + more, fn=23, fp=72, tn=2680), metrics=["recall", "mcc"])


def write(folder, name, first, last):
    ledger = Ledger(folder)
    for place in range(first, last):
        print(ledger.log(logged(place), {"writer": name, "place": place}), place, flush=True)


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
