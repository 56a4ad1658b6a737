"""Paper data sets: the real data sets of the papers: pulsars, news and house numbers.

Each is read from a file in the folder given, the one that STEELYARD_DATA names, or the user's cache; without the file
scikit-learn's fetchers bring it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.datasets.data_folder import load_or_fetch

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from steelyard._types import Array

OPENML = "OpenML"
PULSARS = (
    "mean_profile",
    "std_profile",
    "kurtosis_profile",
    "skewness_profile",
    "mean_dmsnr",
    "std_dmsnr",
    "kurtosis_dmsnr",
    "skewness_dmsnr",
)
_GREY = (0.299, 0.587, 0.114)  # the shares of red, green and blue in a grey value


class Pulsars(NamedTuple):
    """HTRU2: candidates for pulsars in the order of the file, 1 where one is."""

    X: Array
    y: Array
    names: tuple[str, ...]


class News(NamedTuple):
    """20 Newsgroups: texts and their groups."""

    texts: list[str]
    labels: list[str]
    edition: str


class Digits(NamedTuple):
    """House numbers of SVHN that show a 1 or a 6, grey, 32 x 32."""

    images: Array
    labels: Array


def htru2(data: str | PathLike[str] | None = None) -> Pulsars:
    """HTRU2 (Lyon and others 2016): 17,898 candidates, eight attributes, 1,639 pulsars."""
    X, y = load_or_fetch("htru2.csv.gz", _read_htru2, _fetch_htru2, data=data, source=OPENML)
    return Pulsars(X, y, PULSARS)


def newsgroups20(data: str | PathLike[str] | None = None) -> News:
    """20 Newsgroups: 18,828 texts in the file; scikit-learn's fetcher brings the edition of 18,846."""
    source = "scikit-learn's fetch_20newsgroups"
    return News(*load_or_fetch("newsgroups20.parquet", _read_news, _fetch_news, data=data, source=source))


def svhn_1_6(data: str | PathLike[str] | None = None) -> Digits:
    """SVHN's cropped digits 1 and 6 (Netzer and others 2011), training and test part together: 18,960 and 7,704."""
    return Digits(*load_or_fetch("svhn_1_6.npz", _read_svhn, _fetch_svhn, data=data, source=OPENML))


# ---------------------------------------------------------------- the files


def _read_htru2(path: Path) -> tuple[Array, Array]:
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1].astype(np.int64)


def _read_news(path: Path) -> tuple[list[str], list[str], str]:
    import polars as pl

    table = pl.read_parquet(path, columns=["text", "label"])
    return table["text"].to_list(), table["label"].to_list(), f"{len(table):,} texts"


def _read_svhn(path: Path) -> tuple[Array, Array]:
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:  # NumPy leaves a damaged one open
        return file["images"], file["labels"]


# ---------------------------------------------------------------- the network


def _fetch_htru2(home: Path) -> tuple[Array, Array]:
    bunch = _openml("HTRU2", home)
    return np.asarray(bunch.data, dtype=np.float64), np.asarray(bunch.target).astype(np.float64).astype(np.int64)


def _fetch_news(home: Path) -> tuple[list[str], list[str], str]:
    from sklearn.datasets import fetch_20newsgroups

    bunch = fetch_20newsgroups(data_home=str(home), subset="all", n_retries=1)
    labels = [bunch.target_names[i] for i in bunch.target]
    return list(bunch.data), labels, f"{len(labels):,} texts of scikit-learn's edition"


def _fetch_svhn(home: Path) -> tuple[Array, Array]:
    bunch = _openml("SVHN", home)
    labels = np.asarray(bunch.target).astype(np.float64).astype(np.int64)
    is_one_or_six = np.isin(labels, (1, 6))
    return grey(np.asarray(bunch.data)[is_one_or_six]), labels[is_one_or_six]


def _openml(name: str, home: Path) -> Any:
    from sklearn.datasets import fetch_openml

    return fetch_openml(name, data_home=str(home), as_frame=False, n_retries=1, parser="liac-arff")


def grey(rows: Array) -> Array:
    """Rows of 3,072 colour values as grey pictures; OpenML does not say whether colours or places come first.

    Neighbouring values of one colour are alike, so the order in which they differ less is the right one.
    """
    planes, mixed = rows.reshape(-1, 3, 32, 32), rows.reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2)
    colours = min((planes, mixed), key=lambda c: float(np.abs(np.diff(c[:200].astype(np.float64), axis=-1)).mean()))
    return np.rint(np.tensordot(colours, _GREY, (1, 0))).astype(np.uint8)
