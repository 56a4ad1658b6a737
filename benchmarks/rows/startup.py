"""What a person waits for at every command: importing the library and asking for help, beside importing NumPy."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.row import Row

TITLE = "Start"
AIMS = {("-c", "import steelyard"): 1 / 1.2, ("-m", "steelyard.cli", "--help"): 2}


def rows():
    """Each start as ours, that of `import numpy` as theirs."""
    for words, aim in AIMS.items():
        yield Row(f"python {' '.join(words)}", "import numpy", lambda _, words=words: both(words), 0, aim, outside=True)


def both(words):
    return start(*words), start("-c", "import numpy")


def start(*words):
    return lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True).returncode
