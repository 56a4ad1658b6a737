"""What the tests of the studies share: whether the real data are there, and a study's parts by name."""

from __future__ import annotations

import pytest

from steelyard.datasets.data_folder import data_folders


def needs(file):
    """The mark of a test that needs a file of real data: skipped by name where it is in none of the folders."""
    found = any((folder / file).is_file() for folder in data_folders())
    return pytest.mark.skipif(not found, reason=f"{file} is not there; name its folder with STEELYARD_DATA")


newsgroups_needed, pulsars_needed = needs("newsgroups20.parquet"), needs("htru2.csv.gz")


def claims_of(study):
    """The claims by what they claim."""
    return {claim.claim: claim for claim in study.claims}


def table_of(study, name):
    """The rows of one table."""
    (table,) = [table for table in study.tables if table.name == name]
    return table.rows
