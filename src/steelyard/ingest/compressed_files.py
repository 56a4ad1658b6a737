"""Compressed files: gzip and zstd unpacked block by block, so that a file made to fill memory or disk never does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedIOBase
    from pathlib import Path

# What a packed file may grow to: this many times its size, or a gibibyte, whichever is more. Tables of predictions
# are seldom packed 100 to 1; a file made to fill the disk is packed 1,000 to 1.
MOST_TIMES, ALWAYS_FINE = 200, 2**30
BLOCK = 2**20
_SMALL = 2**12  # bytes of zstd at a time: one block of a few bytes may hold 128 KiB


def unpack(packed: Path, kind: str, path: Path, name: str) -> Path:
    """The file unpacked to the path; refused where it is truncated, damaged, or grows beyond what is fair."""
    limit = max(ALWAYS_FINE, MOST_TIMES * packed.stat().st_size)
    blocks = _gzip(packed) if kind == "gzip" else _zstd(packed, name)
    try:
        with path.open("wb") as plain:
            for block in blocks:
                plain.write(block)
                if plain.tell() > limit:
                    raise InputError(
                        f"{name} unpacks to more than {limit / 2**30:,.3g} GiB, over {MOST_TIMES} times its size; "
                        "unpack it yourself if that is right."
                    )
    except (OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the system, not of what the file holds
            raise
        raise InputError(f"{name} is a {kind} file that cannot be unpacked: it is truncated or damaged.") from None
    return path


def _gzip(path: Path) -> Iterator[bytes]:
    import gzip
    import zlib

    with gzip.open(path, "rb") as file:
        yield from _blocks(file, zlib.error)


def _blocks(file: BufferedIOBase, fault: type[Exception]) -> Iterator[bytes]:
    """The unpacked file block by block; what is no longer this kind of file is an error without a number."""
    try:
        while block := file.read(BLOCK):
            yield block
    except fault as error:
        raise OSError from error


def _zstd(path: Path, name: str) -> Iterator[bytes]:
    if sys.version_info >= (3, 14):
        yield from _standard_zstd(path)
        return
    try:
        import zstandard
    except ImportError:
        raise InputError(f"{name} is packed with zstd; pip install zstandard to read it.") from None
    frame, whole = zstandard.ZstdDecompressor().decompressobj(), True
    with path.open("rb") as file:
        while data := file.read(_SMALL):
            while data:
                try:
                    yield frame.decompress(data)
                except zstandard.ZstdError as error:
                    raise OSError from error
                data, whole = frame.unused_data, frame.eof
                if whole:  # another frame may follow
                    frame = zstandard.ZstdDecompressor().decompressobj()
    if not whole:
        raise EOFError


if sys.version_info >= (3, 14):

    def _standard_zstd(path: Path) -> Iterator[bytes]:
        """By the standard library, which has zstd since 3.14."""
        from compression import zstd

        with zstd.open(path, "rb") as file:
            yield from _blocks(file, zstd.ZstdError)
