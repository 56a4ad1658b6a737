"""What a person waits for at every command: the import, the help and a report of a small file, beside importing NumPy."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.data import labels
from benchmarks.row import Row

TITLE = "Start"
AIMS = {("-c", "import steelyard"): 1 / 1.2, ("-m", "steelyard.cli", "--help"): 2}


def rows():
    """Each start as ours, that of `import numpy` as theirs."""
    for words, aim in AIMS.items():
        yield Row(f"python {' '.join(words)}", "import numpy", lambda _, words=words: both(words), 0, aim, outside=True)
    what = "steelyard report of a CSV file, 1e3 rows, from the shell"
    yield Row(what, "import numpy", report, 10**3, outside=True)


def both(words):
    return start(*words), start("-c", "import numpy")


def report(n):
    """A report of a small file, which is written once."""
    file = Path(tempfile.mkdtemp()) / "predictions.csv"
    np.savetxt(file, np.stack(labels(n), axis=1), fmt="%d", delimiter=",", header="y_true,y_pred", comments="")
    return both(("-m", "steelyard.cli", "report", str(file)))


def start(*words):
    return lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True).returncode
