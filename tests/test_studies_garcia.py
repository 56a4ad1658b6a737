"""García's study: what is printed is quoted, and what is computed changes with the seed."""

from __future__ import annotations

import csv

import pytest
from study_tools import claims_of, published, run, study_files, table_of

import steelyard


@pytest.fixture(scope="module")
def study():
    return run("garcia", quick=True, seed=0)


@pytest.fixture(scope="module")
def other():
    return run("garcia", quick=True, seed=1)


def test_the_printed_table_is_golden(golden):
    assert published("garcia")["table_2"]["signs"] == golden("papers")["garcia_table2"]["paper"]


def test_all_sixty_five_signs_are_found_again(study):
    (claim,) = [claim for claim in study.claims if claim.claim.startswith("Table 2")]
    assert claim.ours == "65 of 65 signs the same" and claim.verdict == "holds"
    signs = {"stays": "-", "changes": "+"}
    (table,) = [table for table in study.tables if table.name == "invariance"]
    found = {row["metric"]: "".join(signs[row[f"p{i}"]] for i in range(1, 6)) for row in table.rows}
    assert found == published("garcia")["table_2"]["signs"]


def test_the_three_conclusions_come_out_with_the_lists_that_the_paper_may_mean(study):
    for i, claim in enumerate(study.claims[:3], 1):
        assert claim.verdict == "holds with qualification" and claim.spread.startswith("means over 10 seeds")
        first = next(row for row in table_of(study, "effects") if row["claim"] == i)
        assert first["shown"] == "yes" and first["seeds"] == 10
    assert (
        study.summary[0]
        == "Verdicts on García's three conclusions: holds with qualification (3); 65 of the 65 signs of Table 2 come out again."
    )


def test_what_the_paper_leaves_unsaid_decides_its_conclusions(study):
    (table,) = [table for table in study.tables if table.name == "conclusions"]
    rows = {row["reading"]: row for row in table.rows}
    assert rows["one ramp from 0 to 1 for all rows"]["1: Acc follows TNr"] == "0 %"
    assert rows["one ramp from 0 to 1 for all rows"]["3: four metrics follow TNr"] == "0 %"
    assert next(iter(rows.values()))["wAUC with one edge"] == "0 %"


def test_the_margin_of_a_conclusion_is_that_of_its_weakest_correlation(study):
    (table,) = [table for table in study.tables if table.name == "matrix_25"]
    acc = next(row for row in table.rows if row["metric"] == "Acc")
    first = next(row for row in table_of(study, "effects") if row["claim"] == 1)
    assert 0 < first["mean"] <= min(-acc["TPr"], acc["TNr"] - 0.5) + 5e-3


def test_the_remarks_on_formulas_are_tried(study):
    claims = claims_of(study)
    agm = claims["AGm = (Gm + TNr Pn) / (1 + Pn)"]
    assert agm.verdict == "holds with qualification" and agm.ours.startswith("0.4975 as printed")
    assert steelyard.adjusted_g_mean(steelyard.Counts(0, 10, 0, 990)) == 0
    lean = claims["AGm is more sensitive to changes in TNr than to changes in TPr"]
    assert lean.verdict == "holds with qualification" and "4.0 to 5.4 times" in lean.why
    assert claims["F with a non-negative beta integrates the true positive rate and precision"].verdict != "holds"
    iba = claims["In IBA the dominance is weighted by alpha >= 0 to reduce its influence"]
    assert "alpha 2: −0.27 to +1.41" in iba.ours and "alpha 0.5: +0.05 to +1.00" in iba.ours
    counts = steelyard.Counts(3, 1, 2, 4)
    assert steelyard.f_beta(counts, beta=0) == steelyard.precision(counts)
    assert steelyard.iba(steelyard.Counts(10, 0, 5, 5), alpha=2) > 1.4


def test_the_closing_list_is_tried_by_both_criteria(study):
    claims = claims_of(study)
    suitable = claims["AUC, Gm, IBA, wAUC and cwA are more suitable for dealing with imbalance"]
    assert suitable.verdict == "holds with qualification" and "AUC and Gm fail" in suitable.why
    assert "AGm would be listed" in suitable.why
    words = "AUC and Gm do not detect the exchange of positive and negative values in the confusion matrix"
    assert claims[words].verdict == "holds"
    assert claims["The F-measure is highly correlated with the results on the negative class"].verdict == "holds"


def test_the_lean_of_auc_to_the_rare_class_shrinks_with_the_list(study):
    (table,) = [table for table in study.tables if table.name == "size"]
    r = [row["AUC with TPr"] for row in table.rows]
    assert r[0] > 0.5 and 0.4 > r[-1] > 0
    assert table.rows[0]["sd TPr"] > 5 * table.rows[-1]["sd TPr"]


def test_the_correlations_are_golden_within_the_error_of_simulation(study, golden):
    (table,) = [table for table in study.tables if table.name == "correlations_with_rates"]
    printed = golden("papers")["garcia_pearson"]["1000"]["0.05"]
    for row in table.rows:
        if row["metric"] in ("Acc", "kappa", "AGm", "F1", "OP"):
            assert row["5 % TNr"] == pytest.approx(printed[row["metric"]][1], abs=0.1)


def test_another_seed_changes_ours_and_never_the_papers(study, other):
    for one, two in zip(study.claims, other.claims, strict=True):
        assert (one.claim, one.paper, one.place) == (two.claim, two.paper, two.place)
    assert [c.ours for c in study.claims[:4]] != [c.ours for c in other.claims[:4]]
    assert study.tables[0].rows != other.tables[0].rows
    assert study.tables[3].rows == other.tables[3].rows  # proofs know no seed


def test_the_same_seed_gives_the_same_study(study):
    again = run("garcia", quick=True, seed=0)
    assert again.claims == study.claims and [t.rows for t in again.tables] == [t.rows for t in study.tables]


def test_every_matrix_is_symmetric_and_drawn(study):
    matrices = [table for table in study.tables if table.name.startswith("matrix_")]
    assert [table.name for table in matrices] == ["matrix_05", "matrix_10", "matrix_15", "matrix_20", "matrix_25"]
    assert [picture.name for picture in study.pictures] == ["heat_05", "heat_10", "heat_15", "heat_20", "heat_25"]
    for table in matrices:
        cells = {(row["metric"], name): row[name] for row in table.rows for name in row if name != "metric"}
        assert len(cells) == 13 * 13 and all(cells[a, b] == cells[b, a] for a, b in cells)


def test_it_is_written_with_its_tables(study, tmp_path):
    folder = study_files.write_study(study, tmp_path / "garcia")
    rows = list(csv.DictReader((folder / "tables" / "matrix_05.csv").read_text().splitlines()))
    assert len(rows) == 13 and float(rows[0]["TPr"]) == 1
    assert "NaN" not in study.to_json()
    html = (folder / "page.html").read_text()
    assert "steelyard study garcia --quick --seed 0" in html and "quick run" in html
    assert all(claim.place in html for claim in study.claims)
