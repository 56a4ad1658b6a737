"""Uses: a word or a profile, read once."""

from __future__ import annotations

import pytest

from steelyard.analysis.thresholds.limits import read_capacity
from steelyard.exceptions import SteelyardError
from steelyard.metrics.uses import PROFILES, USES, read_use


def test_a_use_is_read_by_its_word_and_stays_itself():
    for word, use in USES.items():
        assert read_use(word) is use and read_use(use) is use and use.given == word
    assert read_use(None) is None


def test_a_profile_is_a_use_with_the_metrics_of_a_field():
    for name in PROFILES:
        profile = read_use(name)
        base = USES[profile.name]
        assert (profile.of_scores, profile.of_labels, profile.aim) == (base.of_scores, base.of_labels, base.aim)
        assert profile.given == name and profile.title and profile.metrics and profile.figures
        assert base.of_scores in profile.metrics


def test_a_file_is_a_profile_by_text_or_path(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text('use = "balance"\nmetrics = ["net_benefit[threshold={threshold}]", "mcc"]\n')
    for given in (path, str(path)):
        use = read_use(given)
        assert use.name == "balance" and use.given == str(path)
        assert use.metrics_at(0.25) == ("net_benefit[threshold=0.25]", "mcc")


@pytest.mark.parametrize(
    ("given", "words"), [("alert", "Did you mean 'alerts'"), ("frauds", "'fraud'"), (3, "use= is")]
)
def test_what_is_no_use_is_refused_with_those_that_there_are(given, words):
    with pytest.raises(SteelyardError) as error:
        read_use(given)
    assert words in str(error.value) and "clinical, fraud, retrieval" in str(error.value)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (200, (200, 24_000)),
        ("200", (200, 24_000)),
        ("200 of 10000", (200, 10_000)),
        ("1_000 of 50,000 rows", (1_000, 50_000)),
    ],
)
def test_a_capacity_is_alerts_of_the_rows_at_hand_or_of_others_like_them(given, read):
    capacity = read_capacity(given, 24_000)
    assert (capacity.alerts, capacity.rows) == read and read_capacity(capacity, 7) is capacity
    assert read_capacity(None, 5) is None


@pytest.mark.parametrize("given", [0, -1, "many", True, 2.5, "300 of 200", 25_000, "recall >= 0.5"])
def test_what_is_no_capacity_is_refused(given):
    with pytest.raises(SteelyardError, match=r"capacity=|[Aa]lerts are some of the rows"):
        read_capacity(given, 24_000)
