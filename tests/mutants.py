"""Change one cell or margin in every formula of the catalogue, one at a time; each change must make a test fail.

Run by `make mutants`. The tests asked are the golden tables and the exact arithmetic, which is what a wrong
formula has to get past.
"""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
NAMES = ("tp", "fn", "fp", "tn", "positives", "negatives", "predicted_positives", "predicted_negatives", "total")
TESTS = ["tests/test_golden.py", "tests/test_laws.py"]


def mutants(source: str) -> list[tuple[str, str]]:
    """Every change of one `c.name` into the next name, with the line it stands in."""
    found = []
    for match in re.finditer(rf"\bc\.({'|'.join(NAMES)})\b", source):
        other = NAMES[(NAMES.index(match[1]) + 1) % len(NAMES)]
        line = source[: match.start()].count("\n") + 1
        changed = source[: match.start(1)] + other + source[match.end(1) :]
        found.append((f"line {line}: c.{match[1]} -> c.{other}", changed))
    return found


def survives(changed: str, folder: Path) -> bool:
    """Whether the tests pass with the changed catalogue."""
    copy = folder / str(abs(hash(changed)))
    copytree(ROOT / "src", copy / "src")
    (copy / "src/steelyard/metrics/catalogue.py").write_text(changed)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-k", "golden or exact", *TESTS]
    ran = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(copy / "src")}, capture_output=True, check=False)
    if ran.returncode not in (0, 1):
        raise RuntimeError(ran.stdout.decode()[-2000:])
    return ran.returncode == 0


def main() -> int:
    """Try them all and name the survivors."""
    original = (ROOT / "src/steelyard/metrics/catalogue.py").read_text()
    found = mutants((ROOT / "src/steelyard/metrics/catalogue.py").read_text())
    with TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        if not survives(original, Path(folder)):
            sys.stdout.write("the tests fail without any change; mend that first\n")
            return 1
        alive = list(pool.map(lambda m: survives(m[1], Path(folder)), found))
    survivors = [name for (name, _), lives in zip(found, alive, strict=True) if lives]
    for name in survivors:
        sys.stdout.write(f"survived: {name}\n")
    sys.stdout.write(f"{len(found) - len(survivors)} of {len(found)} mutants killed\n")
    return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
