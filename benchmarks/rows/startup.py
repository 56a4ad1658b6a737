"""What a person waits for at every command: importing the library and asking for help, beside importing NumPy."""

from __future__ import annotations

import subprocess
import sys

AIMS = {("-c", "import steelyard"): 1 / 1.2, ("-m", "steelyard.cli", "--help"): 2}


def rows(wanted):
    """Each start as ours, that of `import numpy` as theirs."""
    for words, aim in AIMS.items():
        what = f"start, python {' '.join(words)}"
        if wanted in what:
            yield what, "import numpy", _start(*words), _start("-c", "import numpy"), aim


def _start(*words):
    return lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True).returncode
