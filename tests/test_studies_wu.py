"""Wu's study on a part of the house numbers: what it finds, and that it is computed."""

from __future__ import annotations

import socket
from dataclasses import replace

import numpy as np
import pytest
from checks import assert_refused
from study_tools import needs, published, run, study_files, svhn_1_6, table_of, wu

import steelyard

FILE = "svhn_1_6.npz"
has_data = needs(FILE)
SMALL = replace(wu.QUICK_PLAN, draws=2)


@pytest.fixture(scope="module")
def digits():
    return svhn_1_6()


@pytest.fixture(scope="module")
def small(digits):
    """The quick study with two draws, without reading the file again."""

    def found(seed):
        patch = pytest.MonkeyPatch()
        patch.setattr(wu, "svhn_1_6", lambda _: digits)
        patch.setattr(wu, "QUICK_PLAN", SMALL)
        try:
            return run("wu", quick=True, seed=seed)
        finally:
            patch.undo()

    return found


@pytest.fixture(scope="module")
def study(small):
    return small(0)


def by_words(study, words):
    (claim,) = [claim for claim in study.claims if words in claim.claim]
    return claim


def test_the_sizes_are_the_papers():
    for condition, train in {"1:3": 18_000, "1:1": 9_000, "3:1": 6_000}.items():
        p, n = wu.FULL_PLAN.test(condition)
        assert wu.WU_PAPER["sizes"]["train"][condition] == train == 3 * (p + n)
        assert f"{n // min(n, p)}:{p // min(n, p)}" == condition


def test_training_and_test_rows_share_none():
    y = np.repeat([0, 1], [300, 500])
    train, test = wu.draw_rows(y, 30, 60, np.random.default_rng(0))
    assert not set(train) & set(test)
    assert (y[test].sum(), len(test), y[train].sum(), len(train)) == (30, 90, 90, 270)


@has_data
def test_ac_score_favours_the_searched_cut_and_more_than_g_mean(study):
    claim = by_words(study, "differentiates LDA and NMC more than GM")
    assert claim.verdict != "does not hold" and claim.ours.startswith("at 1:3 +") and "; at 3:1 +" in claim.ours


@has_data
def test_it_is_specificity_and_not_sensitivity_that_favours_nearest_mean(study):
    claim = by_words(study, "sensitivity favour NMC")
    assert "sensitivity −" in claim.ours and "specificity +" in claim.ours and "AC-score +" in claim.ours
    assert "it must be specificity, not sensitivity" in claim.why


@has_data
def test_with_the_same_search_lda_is_ahead(study):
    claim = by_words(study, "fair evaluation")
    assert claim.verdict in ("not shown", "does not hold")  # by two draws, whose interval is wide
    assert (
        claim.spread.count(f"NMC − {wu.HELD_OUT} at 1:3 −") == claim.spread.count(f"NMC − {wu.HELD_OUT} at 3:1 −") == 1
    )


@has_data
def test_the_middle_of_the_projection_is_by_coordinates_as_the_figure_shows_it(study):
    claim = by_words(study, "near the middle of the projection")
    places = [
        row["place of the threshold"] for row in table_of(study, "thresholds") if row["N:P and model"] == "1:3  NMC"
    ]
    assert f"place of NMC's threshold {places[0]:.3f}" in claim.ours and "By rows" in claim.why
    assert "distance from uniform" in by_words(study, "more uniform projection").ours


@has_data
def test_no_claim_cites_what_the_text_does_not_hold(study):
    claim = by_words(study, "first in the ranking")
    assert claim.own and claim.paper == "not stated; the figure that would show it is not in the text"


@has_data
def test_ac_score_may_lie_above_the_area_under_the_whole_curve(study):
    claim = by_words(study, "lowest evaluation everywhere")
    example = published("wu")["above_auroc"]
    y, scores = example["y_true"], np.array(example["y_score"])
    assert steelyard.ac_score(y, (scores >= example["threshold"]).astype(int)) == pytest.approx(0.8)
    assert steelyard.roc_auc(y, scores) == pytest.approx(0.64)
    assert claim.verdict == "holds with qualification" and "AC 0.80 above an AUROC of 0.64" in claim.ours


@has_data
def test_the_criteria_for_a_metric_are_proved_or_refuted(study):
    assert by_words(study, "meets the criteria").verdict == "holds"
    keeps = by_words(study, "should keep the value")
    assert keeps.verdict == "holds with qualification" and "IBA of GM 0.80; IBA of GM squared 0.64" in keeps.ours
    assert "the smaller 0.30" in by_words(study, "strongest penalization").why


@has_data
def test_ac_score_does_not_keep_its_side(study):
    (table,) = [table for table in study.tables if table.name == "stability"]
    rows = {row["metric"]: row for row in table.rows}
    assert [rows["AC-score"][f"favours at {c}"] for c in wu.CONDITIONS] == [wu.NMC, wu.LDA, wu.NMC]
    assert rows["AUROC"]["same side"] == "yes"
    places = [sorted(row[f"place at {c}"] for row in table.rows) for c in wu.CONDITIONS]
    assert [len(ordered) for ordered in places] == [len(wu.WU_METRICS)] * 3
    assert all(place == ordered.index(place) + 1 for ordered in places for place in ordered)
    assert rows["Acc"]["place at 1:1"] == rows["BA"]["place at 1:1"]  # the same number where the classes are equal


@has_data
def test_the_values_are_those_of_the_library(digits):
    found = wu.run_trials(digits, replace(SMALL, draws=1), 5, lambda _: None)
    trial = found.trials[0]["1:3"]
    tp = ((trial.scores[wu.LDA] >= 0) & (trial.y == 1)).sum()
    assert found.of("1:3", wu.LDA, "sensitivity")[0] == tp / trial.y.sum()
    tpr, tnr = (found.of("1:3", wu.NMC, short)[0] for short in ("sensitivity", "specificity"))
    assert found.of("1:3", wu.NMC, "AC-score")[0] == pytest.approx(2 * tpr * tnr / (tpr + tnr))
    above = trial.scores[wu.NMC][trial.y == 1][:, None] > trial.scores[wu.NMC][trial.y == 0]
    assert found.of("1:3", wu.NMC, "AUROC")[0] == pytest.approx(above.mean(), abs=1e-5)


@has_data
def test_another_seed_changes_ours_and_never_the_papers(study, small):
    other = small(1)
    for one, two in zip(study.claims, other.claims, strict=True):
        assert (one.claim, one.paper, one.place) == (two.claim, two.paper, two.place)
    assert [c.ours for c in study.claims[:9]] != [c.ours for c in other.claims[:9]]
    assert study.claims[9:] == other.claims[9:]  # proofs know no seed
    for one, two in zip(study.tables, other.tables, strict=True):
        assert one.name == two.name and one.rows != two.rows


@has_data
def test_it_is_written_and_says_that_it_is_quick(study, tmp_path):
    folder = study_files.write_study(study, tmp_path / "wu")
    html = (folder / "page.html").read_text()
    assert "quick run" in html and "steelyard study wu --quick --seed 0" in html
    assert {path.stem for path in (folder / "figures").glob("*.svg")} == {picture.name for picture in study.pictures}
    assert {"figure_1", "figure_2_abc", "figure_2_d", "figure_2_e", "figure_2_f"} <= {p.name for p in study.pictures}


def test_missing_house_numbers_are_one_sentence(monkeypatch, tmp_path):
    def unknown(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert_refused(
        lambda: run("wu", data_dir=tmp_path, quick=True), ValueError, f"{FILE} was looked for in {tmp_path} and"
    )
