"""What a person waits for at every command: the import, the help and a report of a small file, beside importing NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.data import labels, scores
from benchmarks.row import Row

TITLE = "Start"
AIMS = {("-c", "import steelyard"): 1 / 1.2, ("-m", "steelyard.cli", "--help"): 2}


def rows():
    """Each start as ours, that of `import numpy` as theirs."""
    for words, aim in AIMS.items():
        yield Row(f"python {' '.join(words)}", "import numpy", lambda _, words=words: both(words), 0, aim, outside=True)
    for column, drawn in (("y_pred", labels), ("score", chances)):
        what = f"steelyard report of a CSV file, 1e3 rows with {column}, from the shell"
        yield Row(what, "import numpy", lambda n, c=column, d=drawn: report(n, c, d), 10**3, outside=True)


def both(words):
    return start(*words), start("-c", "import numpy")


def report(n, column, drawn):
    """A report of a small file, which is written once."""
    file = Path(tempfile.mkdtemp()) / "predictions.csv"
    np.savetxt(file, np.stack(drawn(n), axis=1), fmt="%g", delimiter=",", header=f"y_true,{column}", comments="")
    return both(("-m", "steelyard.cli", "report", str(file)))


def chances(n):
    """True labels, and scores that read as probabilities."""
    true, score = scores(n)
    return true, 1 / (1 + np.exp(-score))


def start(*words):
    """A start as of an installed package, whose bytecode is written: the run before the first that is timed writes it."""
    left = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**left, "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "steelyard-bytecode")}
    command = [sys.executable, *words]
    return lambda: subprocess.run(command, check=True, capture_output=True, env=environment).returncode
