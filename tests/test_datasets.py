"""The loaders: what the files hold, and the one sentence where they are not there."""

from __future__ import annotations

import gzip
import os
import socket
from pathlib import Path

import numpy as np
import pytest
from checks import assert_refused
from study_tools import data_folder, grey, htru2, newsgroups20, svhn_1_6

LOADERS = {"htru2.csv.gz": htru2, "newsgroups20.parquet": newsgroups20, "svhn_1_6.npz": svhn_1_6}


def cache_folder():
    return Path(os.environ["XDG_CACHE_HOME"]) / "steelyard" / "data"


FOLDERS = data_folder.data_folders()  # before a test hides them


def needs(file):
    there = any((folder / file).is_file() for folder in data_folder.data_folders())
    return pytest.mark.skipif(not there, reason=f"{file} is in none of the folders of data; set STEELYARD_DATA")


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No data, no cache, and a network where no name is known."""

    def unknown(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("STEELYARD_DATA", raising=False)


@needs("htru2.csv.gz")
def test_htru2_has_its_published_size():
    found = htru2()
    assert found.X.shape == (17_898, 8) and len(found.names) == 8
    assert found.y.sum() == 1_639 and set(found.y.tolist()) == {0, 1}


@needs("newsgroups20.parquet")
def test_newsgroups_have_twenty_groups():
    found = newsgroups20()
    assert len(found.texts) == len(found.labels) == 18_828
    assert len(set(found.labels)) == 20 and found.labels.count("alt.atheism") == 799


@needs("svhn_1_6.npz")
def test_svhn_has_the_ones_and_sixes():
    found = svhn_1_6()
    assert found.images.shape == (26_664, 32, 32)
    assert ((found.labels == 1).sum(), (found.labels == 6).sum()) == (18_960, 7_704)


@pytest.mark.parametrize("file", LOADERS)
def test_a_missing_data_set_is_one_sentence(offline, tmp_path, file):
    words = rf"{file} was looked for in {tmp_path}/here and .*cache/steelyard/data and asked of .*data="
    assert_refused(lambda: LOADERS[file](tmp_path / "here"), ValueError, words)


def test_the_folder_given_comes_before_the_environment_and_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("STEELYARD_DATA", "/elsewhere")
    assert data_folder.data_folders(tmp_path) == [tmp_path, cache_folder()]
    assert data_folder.data_folders() == [Path("/elsewhere"), cache_folder()]


def test_a_file_in_the_cache_is_found(offline):
    cache_folder().mkdir(parents=True)
    np.savez(cache_folder() / "svhn_1_6.npz", images=np.zeros((2, 32, 32), np.uint8), labels=np.array([1, 6]))
    assert svhn_1_6().labels.tolist() == [1, 6]


def test_a_file_with_python_objects_is_refused(offline):
    cache_folder().mkdir(parents=True)
    np.savez(cache_folder() / "svhn_1_6.npz", images=np.array([{}], dtype=object), labels=np.array([1]))
    with pytest.raises(ValueError, match="allow_pickle"):
        svhn_1_6()


@pytest.mark.parametrize("file", LOADERS)
@pytest.mark.parametrize("held", [b"", b"not one of these", b"PK\x03\x04", b"PAR1", b"\x1f\x8b\x08"])
def test_a_damaged_file_is_one_sentence_that_names_it(offline, tmp_path, file, held):
    (tmp_path / file).write_bytes(held)
    assert_refused(lambda: LOADERS[file](tmp_path), ValueError, rf"{file}' cannot be read \(.+\); it seems damaged")


def test_a_table_of_a_head_alone_is_one_sentence(offline, tmp_path):
    with gzip.open(tmp_path / "htru2.csv.gz", "wt") as file:
        file.write("a,b,class\n")
    assert_refused(lambda: htru2(tmp_path), ValueError, "htru2.csv.gz' cannot be read")


@pytest.mark.parametrize("file", LOADERS)
def test_half_of_a_real_file_is_one_sentence(offline, tmp_path, file):
    whole = next((folder / file for folder in FOLDERS if (folder / file).is_file()), None)
    if whole is None:
        pytest.skip(f"{file} is in none of the folders of data; set STEELYARD_DATA")
    (tmp_path / file).write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    assert_refused(lambda: LOADERS[file](tmp_path), ValueError, f"{file}' cannot be read")


def test_a_file_in_place_of_the_folder_is_told(offline, tmp_path):
    (tmp_path / "htru2.csv.gz").write_bytes(b"")
    assert_refused(lambda: htru2(tmp_path / "htru2.csv.gz"), ValueError, "is a file; give its folder")


@pytest.mark.parametrize("colours_last", [False, True])
def test_colours_become_grey_whichever_comes_first(colours_last):
    # A smooth picture whose three colours differ: each grey value is their weighed mean.
    ramp = np.add.outer(np.arange(32), np.arange(32)) + 60
    colours = np.stack([ramp, ramp + 90, ramp - 50]).astype(np.uint8)
    row = (colours.transpose(1, 2, 0) if colours_last else colours).reshape(1, -1)
    expected = np.rint(0.299 * ramp + 0.587 * (ramp + 90) + 0.114 * (ramp - 50))
    assert (grey(row)[0] == expected).all()
