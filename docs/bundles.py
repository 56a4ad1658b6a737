"""Bundles: the script and the style of each kind of page, one file each, minified by esbuild; `make scripts` writes them.

Only this needs node: the bundles are kept beside their sources, so that nothing else does.
"""

from __future__ import annotations

import subprocess
from hashlib import sha256
from pathlib import Path

import steelyard

PAGES = Path(steelyard.__file__).parent / "report" / "pages"
BUNDLES = PAGES / "bundles"
WRITTEN = BUNDLES / "sources.sha256"
ESBUILD = "esbuild@0.28.2"


def digest() -> str:
    """Of every script and style, with its name."""
    files = sorted(path for name in ("kinds", "templates") for path in (PAGES / name).glob("*.[jc]s*"))
    parts = (part for path in files for part in (path.name.encode(), path.read_bytes()))
    return sha256(b"\0".join(parts)).hexdigest()


def main() -> None:
    """Write the bundles, and of which sources they are."""
    kinds = sorted(map(str, (PAGES / "kinds").iterdir()))
    options = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning"]
    for old in BUNDLES.glob("*"):
        old.unlink()
    subprocess.run(["npx", "--yes", ESBUILD, *kinds, *options, f"--outdir={BUNDLES}"], check=True)
    WRITTEN.write_text(f"{digest()}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
