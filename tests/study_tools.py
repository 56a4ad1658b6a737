"""What the tests of the studies share: the studies' own objects, whether the real data are there, and parts by name.

No public name gives a study, and its tables and claims are read by people; only this file imports what makes them.
"""

from __future__ import annotations

import pytest

from steelyard import studies
from steelyard.datasets import data_folder, paper_datasets
from steelyard.studies import (
    asawa,
    asawa_claims,
    declared_study,
    garcia,
    kalita,
    nguyen,
    registry,
    selection,
    selection_claims,
    selection_runs,
    selection_tables,
    study_files,
    study_names,
    wu,
)
from steelyard.studies.own_table import own_table
from steelyard.studies.study import (
    Claim,
    Effect,
    Finding,
    Picture,
    Study,
    Table,
    Verdict,
    joint_level,
    published,
    verdict_of,
)

__all__ = [
    "PULSARS",
    "Claim",
    "DeclaredStudy",
    "Effect",
    "Finding",
    "HoldOuts",
    "Picture",
    "RunPlan",
    "Study",
    "Table",
    "Verdict",
    "asawa",
    "asawa_claims",
    "data_folder",
    "grey",
    "htru2",
    "invariance",
    "joint_level",
    "kalita",
    "newsgroups20",
    "nguyen",
    "own_table",
    "published",
    "registry",
    "selection",
    "selection_claims",
    "selection_runs",
    "selection_tables",
    "studies",
    "study_files",
    "study_names",
    "svhn_1_6",
    "verdict_of",
    "wu",
]

run, run_own = registry.run, registry.run_own
PULSARS, grey, htru2 = paper_datasets.PULSARS, paper_datasets.grey, paper_datasets.htru2
newsgroups20, svhn_1_6 = paper_datasets.newsgroups20, paper_datasets.svhn_1_6
HoldOuts, invariance = kalita.HoldOuts, garcia.invariance
DeclaredStudy, RunPlan = declared_study.DeclaredStudy, declared_study.RunPlan


def needs(file):
    """The mark of a test that needs a file of real data: skipped by name where it is in none of the folders."""
    found = any((folder / file).is_file() for folder in data_folder.data_folders())
    return pytest.mark.skipif(not found, reason=f"{file} is not there; name its folder with STEELYARD_DATA")


newsgroups_needed, pulsars_needed = needs("newsgroups20.parquet"), needs("htru2.csv.gz")


def claims_of(study):
    """The claims by what they claim."""
    return {claim.claim: claim for claim in study.claims}


def table_of(study, name):
    """The rows of one table."""
    (table,) = [table for table in study.tables if table.name == name]
    return table.rows
