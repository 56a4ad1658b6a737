"""A ledger under writers that are killed: what was acknowledged is there, nothing is torn, and no reader is refused.

STEELYARD_LEDGER_WRITES is how many evaluations each of two programs logs; `make test-ledger` takes 500.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from ledger_writer import logged

from steelyard import Ledger

WRITES = int(os.environ.get("STEELYARD_LEDGER_WRITES", "40"))
KILLS = max(2, WRITES // 50)
WRITER = Path(__file__).with_name("ledger_writer.py")


def started(folder, name, first):
    words = [sys.executable, WRITER, folder, name, str(first), str(WRITES)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def acknowledged(lines):
    return {place: entry_id for entry_id, place in (line.split() for line in lines if line.endswith("\n"))}


def killed_writer(folder, kills):
    """What a program acknowledged that was killed and started again so often, each time after some more evaluations."""
    rng, kept = np.random.default_rng(5), {}
    for kill in range(kills + 1):
        with started(folder, "killed", len(kept)) as writer:
            until = len(kept) + int(rng.integers(1, max(2, (WRITES - len(kept)) // (kills + 1 - kill))))
            lines = []
            for line in writer.stdout:
                lines.append(line)
                if kill < kills and len(kept) + len(lines) >= until:
                    time.sleep(rng.uniform(0, 0.02))  # it may be anywhere in the next one
                    writer.send_signal(signal.SIGKILL)
                    break
            lines += list(writer.stdout)  # what it wrote before it was gone
        kept |= acknowledged(lines)
    return kept


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_two_programs_log_at_once_and_one_is_killed(tmp_path):
    folder = tmp_path / "ledger"
    ledger, done = Ledger(folder), threading.Event()
    seen, damaged, kept = [], [], {}

    def read():
        while not done.is_set():
            if folder.is_dir():
                history = ledger.history(metrics=["recall"])
                damaged.extend(history.left_out)
                seen.append(len(history))
            done.wait(0.02)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with started(folder, "other", 0) as other:
            kept["killed"] = killed_writer(folder, KILLS)
            kept["other"] = acknowledged(other.stdout)
    finally:
        done.set()
        reader.join()
    assert {name: len(ids) for name, ids in kept.items()} == {"killed": WRITES, "other": WRITES}
    assert damaged == [] and seen == sorted(seen) and seen[-1] > 0
    history = ledger.history(metrics=["recall"])
    assert history.left_out == ()
    assert 2 * WRITES <= len(history) <= 2 * WRITES + KILLS  # a killed program may have logged one that it did not name
    values = {row.id: (row.tags["writer"], row.tags["place"], row.value) for row in history}
    for writer, ids in kept.items():
        for place, entry_id in ids.items():
            assert values[entry_id] == (writer, place, logged(int(place))["recall"].value)
    some = [*kept["killed"].items(), *kept["other"].items()][:: max(1, WRITES // 10)]
    assert all(ledger.read(entry_id) == logged(int(place)) for place, entry_id in some)
    assert len([path for path in folder.iterdir() if path.name.endswith(".tmp")]) <= KILLS
