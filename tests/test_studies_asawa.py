"""Asawa's study: the real pulsars, the printed Figure 4, and the two tests of the metrics."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from study_tools import asawa, asawa_claims, claims_of, htru2, published, pulsars_needed, run, study_files, table_of

from steelyard import score_table
from steelyard.exceptions import InputError
from steelyard.figures import CorrelationDisplay


@pytest.fixture(scope="module")
def study():
    return run("asawa", quick=True, seed=0)


@pytest.fixture(scope="module")
def other():
    return run("asawa", quick=True, seed=4)


@pytest.fixture(scope="module")
def paper_split():
    return asawa.fit_trees(htru2(), asawa.SPLIT_SEED, asawa.attribute_transformer())


def test_the_printed_figure_is_golden(golden):
    expected = golden("papers")["asawa"]
    assert (published("asawa")["positives"], published("asawa")["negatives"]) == (
        expected["test_positives"],
        expected["test_negatives"],
    )
    for ours, theirs in zip(
        published("asawa")["figure_4"].values(),
        expected["figure4_differences_unbalanced_minus_balanced"].values(),
        strict=True,
    ):
        assert list(ours.values()) == list(theirs.values())


def test_the_recovered_tables_give_figure_4_to_ten_digits():
    found = asawa.reconstructed()
    for metric in set(found.metrics) - {"balanced_accuracy"}:
        changes = found.changes[:, 0, found.metrics.index(metric)]
        assert np.abs(changes - asawa.printed(metric)).max() < 5e-11


def test_the_printed_figure_allows_one_division_of_its_rows():
    assert asawa.pulsar_divisions() == ((published("asawa")["positives"], published("asawa")["negatives"]),)


def test_the_metrics_of_two_tries_stand_side_by_side():
    tables = {"model": score_table([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.9])}
    one = asawa.score_robustness(tables, tables)
    assert one.beside(one).metrics == ("roc_auc", "roc_auc")
    assert one.beside(one).swap_changes.shape == (1, 2)
    other = asawa.score_robustness({"another": tables["model"]}, {"another": tables["model"]})
    with pytest.raises(InputError, match="side by side"):
        one.beside(other)
    with pytest.raises(InputError, match="swapped="):
        asawa.score_robustness(tables, {})


def test_columns_are_drawn_by_their_correlations():
    display = CorrelationDisplay.from_columns({"a": [1.0, 2, 4], "b": [2.0, 4, 8], "c": [1.0, 0, 1]})
    found = {(row["metric"], row["other"]): row["correlation"] for row in display.frame()}
    assert found["b", "a"] == pytest.approx(1)
    assert found["c", "a"] == pytest.approx(np.corrcoef([1, 2, 4], [1, 0, 1])[0, 1])
    assert "3 columns over 3 rows" in display.caption()
    with pytest.raises(InputError, match="two columns"):
        CorrelationDisplay.from_columns({"a": [1.0, 2]})


@pulsars_needed
def test_the_split_is_the_papers(paper_split):
    y = paper_split.y_test
    assert (int(y.sum()), int((1 - y).sum())) == (510, 4860)
    assert not np.intersect1d(paper_split.train, paper_split.test).size


@pulsars_needed
def test_the_verdicts_are_the_papers_on_its_split(paper_split):
    found = asawa.split_outcome(paper_split, draws=20)
    for kind in ("robust", "symmetric", "winners"):
        assert set(getattr(found.alike, kind)) - {"balanced_accuracy"} == set(published("asawa")[kind])
    assert "balanced_accuracy" in found.alike.winners
    assert not found.drawn[:, :, asawa.ASAWA_METRICS.index("recall")].any()
    exact = [found.alike.metrics.index(m) for m in published("asawa")["robust"]]
    assert not found.alike.changes[:, :, exact].any()


@pulsars_needed
def test_a_tie_in_a_leaf_goes_to_the_same_original_class():
    seen = 0
    for seed in (133, 134, 135, 140):
        one = asawa.fit_trees(htru2(), seed, asawa.attribute_transformer())
        ties = any((scores == 0.5).any() for scores in one.scores.values())
        found = asawa.split_outcome(one, draws=1)
        symmetric = [found.alike.metrics.index(m) for m in published("asawa")["symmetric"]]
        assert not found.alike.swap_changes[:, symmetric].any()
        seen += ties and bool(found.unlike.swap_changes[:, symmetric].any())
    assert seen


@pulsars_needed
def test_the_pair_and_the_components_are_not_what_the_paper_says(study):
    claims = claims_of(study)
    assert claims["Attributes 1, 3 and 4 are most correlated with the class."].verdict == "holds"
    assert claims["Of these, 1 and 3 are least correlated with each other."].verdict == "does not hold"
    assert claims["AUC is the area under sensitivity x specificity."].verdict == "does not hold"


@pulsars_needed
def test_a_verdict_over_all_draws_counts_the_draws_of_all_splits(study):
    claim = claims_of(study)["The same, where the test set is balanced by drawing negatives, as the paper did."]
    held, tried = (
        int(word.replace(",", "")) for word in claim.ours.removeprefix("in ").split(" draws")[0].split(" of ")
    )
    assert tried == asawa.QUICK_SPLITS * asawa.QUICK_DRAWS and (claim.verdict == "holds") <= (held == tried)


@pulsars_needed
def test_the_threshold_by_roc_is_tried_on_every_split_and_loses_no_half_of_tpnr(study, other):
    for result in (study, other):
        _assert_tried(result)


def _assert_tried(result):
    claim = claims_of(result)["Threshold by ROC, then report TPNR."]
    effects = [row for row in table_of(result, "effects") if row["effect"] in asawa.TREES]
    assert [row["seeds"] for row in effects] == [asawa.QUICK_SPLITS] * 4
    assert "nan" not in f"{claim.ours} {claim.spread} {claim.why}".split()
    assert float(claim.why.split("TPNR is ")[1].split()[0]) > 0.5
    assert "3 splits" in next(table.note for table in result.tables if table.name == "roc_then_tpnr")


@pulsars_needed
def test_ours_changes_with_the_seed_and_the_papers_stays(study, other):
    assert not {row["split seed"] for row in table_of(study, "splits")} & {
        row["split seed"] for row in table_of(other, "splits")
    }
    one, two = (table_of(s, "figure_4") for s in (study, other))
    assert [row["paper"] for row in one] == [row["paper"] for row in two]
    assert [row["by weights"] for row in one] != [row["by weights"] for row in two]
    assert [row["recovered"] for row in one] == [row["recovered"] for row in two]


@pulsars_needed
def test_its_tables_and_figures_are_written(study, tmp_path):
    folder = study_files.write_study(study, tmp_path / "asawa")
    for table in study.tables:
        rows = list(csv.DictReader(io.StringIO((folder / "tables" / f"{table.name}.csv").read_text())))
        assert len(rows) == len(table.rows)
    assert {p.stem for p in (folder / "figures").iterdir()} == {p.name for p in study.pictures}
    html = (folder / "page.html").read_text()
    assert "quick run" in html and "<td>0.2091247672</td>" in html  # as the paper prints it


def test_the_area_under_the_product_of_the_rates_follows_the_lines_between_the_points():
    fpr, tpr = np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.7, 1.0])
    fine = np.linspace(0, 1, 200_001)
    assert asawa_claims.area_under_product(fpr, tpr) == pytest.approx(
        np.trapezoid(np.interp(fine, fpr, tpr) * (1 - fine), fine)
    )
