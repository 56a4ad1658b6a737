"""The pages as text: their size, their policy, what hostile words become, and the cuts and stops they hold."""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pages_open import grouped
from pages_open import page_data as data

from steelyard import (
    Confusion,
    Counts,
    at_prevalence,
    best_threshold,
    compare,
    evaluate,
    get_metric,
    list_metrics,
    roc_auc,
    score_table,
)
from steelyard.metrics import metric, ratio

sys.path.append(str(Path(__file__).parent.parent / "docs"))
import bundles

MOST = 180 * 1024
HOSTILE = "</script><script>alert(1)</script><!-- '\"&<b>\u2028\u2029\u202e{{body}}"
DOTTED = HOSTILE.replace("\u202e", "·")  # what turns the direction of text is shown as a dot
DOCS = Path(__file__).parent.parent / "docs" / "properties.md"


SIGNS = {"yes": "+", "no": "-", "?": "?"}  # of a decision in the documentation, and on a page


def scored(n, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.05).astype(int)
    return y, 1 / (1 + np.exp(-(1.4 * rng.normal(size=n) + 2.5 * y - 2.6))), rng.gamma(2, 1, n) if weighted else None


def evaluated(n, weighted=False):
    y, score, weight = scored(n, weighted)
    return evaluate(y, y_score=score, sample_weight=weight, draws=20)


class Elements(HTMLParser):
    """Counts what a parser of HTML makes of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, words):
        self.words.append(words)


def test_the_bundles_are_those_of_the_scripts_and_styles():
    assert bundles.WRITTEN.read_text(encoding="utf-8").strip() == bundles.digest(), "run make scripts"


def test_colours_do_not_depend_on_the_width():
    """So that contrast on a wide screen is contrast on every screen; words a style adds are none of the document's."""
    for sheet in files("steelyard.report.pages").joinpath("templates").iterdir():
        narrow = re.findall(r"@media[^{]*-width[^{]*\{((?:[^{}]*\{[^{}]*\})*)", sheet.read_text(encoding="utf-8"))
        rules = [rule for block in narrow for rule in re.findall(r"([^{}]*)\{([^{}]*)\}", block)]
        assert not [
            name.strip()
            for name, body in rules
            if re.search(r"(^|[\s;-])(color|background|opacity)\s*:", body) and "::before" not in name
        ], sheet.name


@pytest.mark.parametrize("weighted", [False, True])
def test_a_page_is_small_whatever_the_number_of_rows(weighted):
    sizes = [len(evaluated(n, weighted).to_html().encode()) for n in (10**4, 10**6)]
    assert max(sizes) <= MOST
    assert sizes[1] <= sizes[0] * 1.05


def test_a_page_with_long_names_and_many_groups_keeps_to_its_size():
    evaluation = grouped(evaluated(10**4, weighted=True), *[("\U0001f9ea" * 10_000,)] * 500)
    html = evaluation.to_html(source="x" * 10_000)
    assert len(html.encode()) <= MOST
    assert re.search(r"Of 500 groups \d+ are shown", html)


def test_a_page_of_many_groups_and_costly_signs_keeps_to_its_size():
    rng = np.random.default_rng(1)
    n = 6_000
    y = (rng.random(n) < 0.3).astype(int)
    frame = pl.DataFrame(
        {
            "y": np.where(y == 1, '"<&>' * 60, "'<&'" * 60),
            "s": 1 / (1 + np.exp(-(rng.normal(-1, 1.5, n) + 1.5 * y))),
            "w": rng.exponential(1, n) + 0.01,
            "g": [f"gröup & <{'ü' * 70}{i}" for i in rng.integers(0, 30, n)],
        }
    )
    how = {"true": "y", "score": "s", "weight": "w", "by": "g", "pos_label": '"<&>' * 60}
    html = evaluate(frame, **how, draws=20).to_html()
    assert len(html.encode()) <= MOST
    assert int(re.search(r"Of 30 groups (\d+) are shown", html)[1]) == len(data(html)["groups"]["parts"]) >= 3


def test_the_same_evaluation_gives_the_same_bytes():
    assert evaluated(500).to_html() == evaluated(500).to_html()


@pytest.mark.parametrize("kind", ["scores", "labels", "classes", "comparison"])
def test_the_policy_allows_exactly_the_inline_script_and_style(kind):
    y, score, _ = scored(300)
    html = {
        "scores": lambda: evaluate(y, y_score=score, draws=20).to_html(),
        "labels": lambda: evaluate(Counts(28, 23, 72, 2680), draws=20).to_html(),
        "classes": lambda: evaluate(Confusion.of_rows("abc", np.arange(1, 10).reshape(3, 3)), draws=20).to_html(),
        "comparison": lambda: compare(y, {"A": (score > 0.3) * 1, "B": (score > 0.5) * 1}, draws=50).to_html(),
    }[kind]()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    inline = {
        "style": re.findall(r"<style>(.*?)</style>", html, re.DOTALL),
        "script": re.findall(r"<script>(.*?)</script>", html, re.DOTALL),
    }
    for name, texts in inline.items():
        hashes = [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts]
        assert re.findall(rf"{name}-src ([^;]*)", policy) == hashes
    assert not re.search(r"https?://(?!www\.w3\.org)", html)
    page_of = Elements(html)
    assert not {"link", "img", "iframe", "base", "form", "object"} & set(page_of.tags)
    assert not [name for name, _ in page_of.attributes if name.startswith("on") or name in ("src", "href", "style")]


def test_hostile_words_stay_words():
    y, score, _ = scored(300)
    evaluation = evaluate(np.where(y == 1, HOSTILE, "b"), y_score=score, pos_label=HOSTILE, draws=20)
    html = evaluation.to_html(source=HOSTILE)
    plain = Elements(evaluate(np.where(y == 1, "a", "b"), y_score=score, pos_label="a", draws=20).to_html())
    attacked = Elements(html)
    assert attacked.tags == plain.tags
    assert DOTTED in attacked.words
    assert data(html)["view"]["label"] == DOTTED
    assert data(html)["source"] == DOTTED


def test_half_a_surrogate_pair_can_be_written_to_a_file(tmp_path):
    html = evaluate(Counts(28, 23, 72, 2680), draws=20).to_html(source="a\ud800b")
    (tmp_path / "report.html").write_text(html, encoding="utf-8")


def test_long_labels_are_shortened_in_the_middle():
    def shown(label):
        return data(evaluate(np.array([label, "no", "no"]), [label, label, "no"], pos_label=label).to_html())["view"][
            "label"
        ]

    assert shown("x" * 80) == "x" * 80
    assert len(shown("ab" * 5_000)) <= 100
    long = shown("start" + "x" * 500 + "end")
    assert long.startswith("start") and long.endswith("end")


# ---------------------------------------------------------------- cuts and stops


def thresholds(evaluation):
    """The thresholds of a page with the counts there, the one it opens at, and the best of each metric by its place."""
    held = data(evaluation.to_html())
    columns = {name: np.array(column, dtype=float) for name, column in held["thresholds"].items()}
    cuts = np.where(np.isnan(columns["threshold"]), np.inf, columns["threshold"])
    return cuts, columns["tp"], columns["fp"], held["index"], {row["name"]: row.get("best") for row in held["metrics"]}


def test_kept_cuts_carry_exact_counts_and_keep_the_area():
    y, score, _ = scored(50_000)
    table = score_table(y, score)
    cuts, tp, fp, place, _ = thresholds(evaluate(table, threshold=0.5, draws=20))
    assert len(cuts) <= 360
    exact = table.at(cuts)
    assert (tp == exact.tp).all() and (fp == exact.fp).all()
    assert np.trapezoid(tp / tp[-1], fp / fp[-1]) == pytest.approx(roc_auc(table), abs=2e-4)
    assert cuts[place] == 0.5 and np.isinf(cuts[0])


@pytest.mark.parametrize(("n", "share"), [(2_000, 0.05), (250_000, 0.05), (250_000, 0.6)])
def test_the_best_cut_of_every_metric_is_kept(n, share):
    rng = np.random.default_rng(n)
    y = (rng.random(n) < share).astype(int)
    table = score_table(y, (rng.normal(size=n) + y).round(6))
    names = [m.name for m in list_metrics() if m.function and m.scores is None and m.direction]
    cuts, *_, best = thresholds(evaluate(table, threshold=0.5, metrics=names, draws=20))
    for name in names:
        assert cuts[best[name]] == best_threshold(table, metric=name, draws=0).threshold, name


def test_the_threshold_in_use_is_the_one_shown_even_between_scores():
    cuts, tp, fp, place, _ = thresholds(evaluate([0, 1, 0, 1], y_score=[0.1, 0.4, 0.6, 0.9], threshold=0.5))
    assert (cuts[place], tp[place], fp[place]) == (0.5, 1, 1)


@pytest.mark.parametrize("counts", [Counts(10, 8, 5, 966), Counts(3, 0, 1, 9_999_999), Counts(9_995, 0, 1, 4)])
@pytest.mark.parametrize("prevalence", [None, 0.02, 0.0200001])
def test_stops_rise_and_hold_the_prevalences_in_use(counts, prevalence):
    stops = data(evaluate(counts, prevalence=prevalence, draws=20).to_html())["stops"]
    assert (np.diff(stops) > 0).all() and stops[0] < 2e-4 and stops[-1] >= 0.999
    assert {float(counts.positives / counts.total), prevalence or stops[0]} <= {*stops}


def test_rank_metrics_at_the_stops_are_those_of_the_reweighted_scores():
    y, score, weight = scored(400, weighted=True)
    table = score_table(y, score, sample_weight=weight)
    ranks = [m for m in list_metrics() if m.scores and m.name != "top_k_accuracy"]  # which is of columns of scores
    held = data(evaluate(table, metrics=[m.name for m in ranks], draws=20).to_html())
    rows = {row["name"]: row for row in held["metrics"]}
    for metric in ranks:
        there = [metric(at_prevalence(table, share)) for share in held["stops"]]
        found = rows[metric.name].get("at", [rows[metric.name]["value"]] * len(there))  # which many do not change with
        np.testing.assert_allclose(np.array(found, dtype=float), there, rtol=1e-9, atol=1e-10, err_msg=metric.name)


def test_very_many_scores_are_weighed_in_groups_at_other_prevalences_and_it_says_how_far_that_is_off():
    y, score, _ = scored(20_001)  # one more than are taken one by one
    y[::3] = 1 - y[::3]  # so that the rarer class has more scores than there are groups
    table = score_table(y, score)
    html = evaluate(table, draws=20).to_html()
    held = data(html)
    rows = {row["name"]: row for row in held["metrics"]}
    assert "at" not in rows["roc_auc"]
    told = held["grouped"]
    assert told["groups"] < len(table.thresholds) / 2 and 0 < told["off"] < 1e-3
    assert f"{told['groups']:,} groups of neighbouring scores" in html
    for name in ("average_precision", "precision_at_k", "brier", "log_loss"):
        for i in (0, 20, len(held["stops"]) // 2, len(held["stops"]) - 1):
            there = get_metric(name)(at_prevalence(table, held["stops"][i]))
            off = 1e-3 if i == 20 else told["off"]
            assert rows[name]["at"][i] == pytest.approx(there, rel=0, abs=off + 1e-12), (name, i)


def test_few_rare_scores_lose_nothing_of_their_order_among_very_many():
    y, score, _ = scored(40_000)
    table = score_table(y, score)
    held = data(evaluate(table, metrics=["average_precision"], draws=20).to_html())
    assert held["grouped"]["groups"] < table.negative.size / 4 + table.positive.size
    for i in (12, len(held["stops"]) - 20):
        there = get_metric("average_precision")(at_prevalence(table, held["stops"][i]))
        assert held["metrics"][0]["at"][i] == pytest.approx(there, rel=1e-9)


def test_the_bars_of_weighted_reliability_are_about_its_points():
    rng = np.random.default_rng(2)
    score = rng.random(4_000)
    y = (rng.random(4_000) < score).astype(int)

    def bars(**weights):
        parts = data(evaluate(y, y_score=score, metrics=["brier"], draws=20, **weights).to_html())["reliability"]
        return np.array([[part["low"], part["p"] / (part["p"] + part["n"]), part["high"]] for part in parts])

    weight = np.where(y == 1, 5.0, 1.0) * rng.gamma(2, 1, 4_000)
    assert (np.diff(bars(sample_weight=weight)) > 0).all()
    once, twice = bars(), bars(sample_weight=np.full(4_000, 2.0))
    counted = bars(frequency=np.full(4_000, 2))
    np.testing.assert_allclose(once, twice, rtol=1e-8)
    assert (np.ptp(counted, axis=1) < np.ptp(once, axis=1)).all()


def test_an_infinite_loss_is_undefined_with_its_reason_at_every_stop():
    y, score, _ = scored(300)
    score[np.flatnonzero(y)[0]] = 0.0
    held = data(evaluate(y, y_score=score, draws=20).to_html())
    row = next(row for row in held["metrics"] if row["name"] == "log_loss")
    assert row["value"] is None
    assert row["why"] == "1 row was given probability 0 for what came true"


# ---------------------------------------------------------------- properties


def test_the_decided_properties_are_those_of_the_documentation():
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in DOCS.read_text().splitlines()
        if line.startswith("| ")
    ]
    lines = [
        line for line in lines if len(line) == len(lines[0])
    ]  # the metrics of scores stand in a table of their own
    rows = {line[0]: "".join(SIGNS[cell] for cell in line[1:]) for line in lines[1:]}
    names = [metric.name for metric in list_metrics() if metric.function]
    explained = data(evaluate(Counts(28, 23, 72, 2680), metrics=names, draws=20).to_html())["explained"]
    assert {name: facts["holds"] for name, facts in explained["metrics"].items()} == rows
    assert len(explained["properties"]) == len(lines[0]) - 1


def test_a_metric_of_ones_own_is_shown_with_what_is_proved_of_its_formula(registry):
    @metric("Mine", range=(0, 1), best=1)
    def recall_of_mine(c):
        """Share of the positives that were found, twice named."""
        return ratio(c.tp, c.tp + c.fn)

    @metric("New", range=(0, 1), best=1)
    def new_formula(c):
        """Of which nothing is decided."""
        return ratio(c.tp, c.tp + c.fn + 7 * c.fp)

    html = evaluate(Counts(28, 23, 72, 2680), metrics=["recall_of_mine", "recall", "new_formula"], draws=20).to_html()
    rows = data(html)["explained"]["metrics"]
    assert rows["recall_of_mine"]["holds"] == rows["recall"]["holds"]
    assert "holds" not in rows["new_formula"]
    assert '"recall_of_mine": {f: (tp, fn, fp, tn) => ratio(tp, (tp + fn))' in html
