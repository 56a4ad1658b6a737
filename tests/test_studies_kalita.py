"""Kalita's study: the protocol on real data, and the statements that it can try."""

from __future__ import annotations

import math

import numpy as np
import pytest
from study_tools import claims_of, kalita, newsgroups_needed, pulsars_needed, run, table_of

pytestmark = [newsgroups_needed, pulsars_needed]
DATA = ("HTRU2, 2 classes", "20 Newsgroups, 7 classes")


@pytest.fixture(scope="module")
def study():
    return run("kalita", quick=True, seed=0)


def test_every_step_of_the_protocol_is_on_both_data_sets(study):
    for name in ("data", "holdout", "few", "folds", "differences", "classes", "four_things", "leak", "selection"):
        assert {row["data"] for row in table_of(study, name)} == set(DATA)
    assert {p.name for p in study.pictures} == {f"{n}_{i}" for n in ("holdout", "folds", "chosen") for i in (1, 2)}


def test_the_training_part_is_k_times_the_test_part(study):
    for row in table_of(study, "holdout"):
        assert row["trained on"] / row["tested"] == pytest.approx(row["k"], rel=0.02)
    assert sorted({row["k"] for row in table_of(study, "holdout")}) == list(range(2, 10))


def test_few_rows_are_sixteen_and_eight_with_the_classes_shares():
    task = kalita.pulsar_task(None, kalita.QUICK_EFFORT)
    result = kalita.evaluated_on_few(task, 0)
    assert {(len(run.part.train), len(run.part.test)) for run in result.runs} == {(16, 8)}
    assert len(result.runs) == 10
    assert int(np.sum(result.runs[0].data.codes)) == 2  # of 24 rows, where one in eleven is a pulsar


def test_the_averages_are_those_of_the_classes(study):
    for name in DATA:
        rows = {row["class"]: row for row in table_of(study, "classes") if row["data"] == name}
        macro, shares = rows.pop("macro"), rows.pop("class shares")
        for metric in ("precision", "recall", "F"):
            assert macro[metric] == pytest.approx(np.mean([row[metric] for row in rows.values()]))
        folds = next(r for r in table_of(study, "folds") if r["data"] == name and r["learner"] == "tree")
        assert shares["recall"] == pytest.approx(folds["accuracy"])


def test_rows_repeated_before_the_split_leak(study):
    for name in DATA:
        rows = {r["rows repeated"]: r for r in table_of(study, "leak") if r["data"] == name}
        assert rows["before the split"]["low"] > rows["in the training part"]["high"]


def test_the_four_things_are_measured(study):
    for row in table_of(study, "four_things"):
        for thing in ("mean F", "seconds to train", "seconds to predict 1,000 rows", "peak memory, bytes", "nodes"):
            assert row[thing] > 0 and math.isfinite(row[thing])


def test_the_chosen_tree_is_smaller(study):
    for row in table_of(study, "selection"):
        assert row["pruned: nodes"] < row["best tree: nodes"]


def test_the_misprints_and_the_preference_for_micro_do_not_hold(study):
    claims = claims_of(study)
    assert claims["With k from 2 to 9 the training set is 3 to 10 times the test set."].verdict == "does not hold"
    micro = next(c for words, c in claims.items() if "micro average" in words)
    assert micro.verdict == "does not hold" and "differ by 0 at most" in micro.why


def test_what_few_folds_do_not_show_is_no_refutation(study):
    """A verdict against balancing or pruning needs an interval below 0; a p-value above 0.05 is none."""
    rows = {i: [r for r in table_of(study, "effects") if r["claim"] == i] for i in range(1, len(study.claims) + 1)}
    tried = [
        i for i, claim in enumerate(study.claims, 1) if "should be balanced" in claim.claim or "prune" in claim.claim
    ]
    assert len(tried) == 3
    for i in tried:
        sides = {row["shown"] for row in rows[i]}
        refuted = any(row["high"] is not None and row["high"] <= 0 for row in rows[i])
        assert (study.claims[i - 1].verdict == "does not hold") is (refuted and "yes" not in sides)
        assert (study.claims[i - 1].verdict == "not shown") is (sides == {"open"})


def test_pruning_is_not_shown_by_one_selection_and_the_rule_is_breimans(study):
    claim = claims_of(study)["Better: prune the best trees, and keep the best with the fewest nodes."]
    assert claim.verdict == "not shown" and "Breiman" in claim.why


def test_what_is_said_of_averages_is_tried(study):
    claims = claims_of(study)
    assert claims["In macro-averaging each class counts the same, however many examples it has."].verdict == "holds"
    either = claims["If the classes are more or less balanced, micro and macro averaging both work."]
    assert "micro less macro" in either.ours and either.verdict in ("holds", "not shown")
    assert claims["One reports the average or the best performance over the repeats."].verdict != "holds"
