"""Uses: a word or a profile, read once; its number leads on every surface."""

from __future__ import annotations

import numpy as np
import pytest
from checks import assert_refused
from text_tools import summary

from steelyard import Confusion, Counts, brier_skill_score, evaluate
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


# ---------------------------------------------------------------- evaluations


RNG = np.random.default_rng(5)
Y = (RNG.random(500) < 0.2).astype(int)
S = (1 / (1 + np.exp(2 - 2 * (RNG.normal(size=500) + Y)))).round(3)
CLASSES = RNG.choice(["a", "b", "c"], 300, p=[0.6, 0.3, 0.1])
GUESSES = np.where(RNG.random(300) < 0.7, CLASSES, "a")
LEADING = {
    "alerts": "average_precision",
    "balance": "ac_score",
    "ranking": "roc_auc",
    "probabilities": "brier_skill_score",
}


def codes(evaluation):
    return [sentence.code for sentence in evaluation.verdict]


def test_without_a_use_there_is_one_number_for_each_and_none_is_called_the_first():
    scores, labels = evaluate(Y, y_score=S), evaluate(Y, S >= 0.5)
    assert [code for code in codes(scores) if code.startswith("for-")] == [f"for-{use}" for use in USES]
    assert [code for code in codes(labels) if code.startswith("for-")] == ["for-alerts", "for-balance"]
    assert "without-number" in codes(labels) and "without-number" not in codes(scores)
    said = {sentence.code: sentence for sentence in scores.verdict}
    for use, name in LEADING.items():
        row = scores[name]
        for number in (row.value, row.low, row.high, row.chance):
            assert row.text(number) in said[f"for-{use}"], (use, number)
    text = scores.to_html() + scores._repr_html_() + repr(scores) + scores.to_markdown()
    assert "ead first" not in text and text.count("One number, by what it is for") == 4
    assert codes(scores).index("for-alerts") > codes(scores).index("outcomes")


def test_a_reason_is_what_is_decided_of_the_metric():
    said = {sentence.code: sentence for sentence in evaluate(Y, y_score=S).verdict}
    assert said["for-alerts"].endswith(": it moves with prevalence, as precision does.")
    assert said["for-balance"].endswith(": it falls to 0 with either recall and stays the same at any prevalence.")
    assert said["for-ranking"].endswith(": it stays the same at any prevalence.")
    assert "true probabilities" in said["for-probabilities"]
    of_each = {stated: float(brier_skill_score([1, 1] + [0] * 8, y_score=[stated] * 10)) for stated in (0.1, 0.2, 0.3)}
    assert max(of_each, key=of_each.get) == 0.2  # which two of ten are


@pytest.mark.parametrize("use", LEADING)
def test_the_number_of_a_use_leads_on_every_surface(use, tmp_path):
    evaluation, name = evaluate(Y, y_score=S, use=use), LEADING[use]
    row = evaluation[name]
    assert codes(evaluation)[0] == "leading-number" and row.text(row.value) in evaluation.verdict[0]
    assert evaluation.metrics[0].name == evaluation.shown()[0].name == evaluation.leading[0] == name
    assert {*USES[use].beside} <= {*evaluation.leading}
    assert not [code for code in codes(evaluation) if code.startswith("for-")]
    data = evaluation.to_dict()
    assert data["use"] == use and data["metrics"][0]["name"] == name
    terminal = summary(evaluation, tmp_path)
    assert terminal.partition(f"── For {use}\n")[2].startswith(name)
    assert evaluation.to_markdown().partition("| metric |")[2].splitlines()[2].startswith(f"| {name} |")
    page = evaluation.to_html()
    assert f">For {use}<" in page and evaluation.verdict[0].partition(" (")[0] in page.replace("\xa0", " ")
    assert evaluation.verdict[0].partition(" (")[0] in evaluation._repr_html_()
    assert evaluation[name] == evaluate(Y, y_score=S, metrics=[name])[name]  # the same number as without the use


def test_a_profile_is_printed_in_python_as_in_the_shell():
    evaluation = evaluate(Y, y_score=S, use="retrieval")
    asked = evaluate(Y, y_score=S, metrics=[*read_use("retrieval").metrics])
    assert [row.name for row in evaluation.metrics] == [row.name for row in asked.metrics]
    assert codes(evaluation)[0] == "leading-number" and evaluation.verdict[0].startswith("ROC AUC is ")
    for text in (repr(evaluation), evaluation.to_markdown()):
        assert "Performance of a ranking" in text and "Methods. Performance was evaluated on 500 rows" in text
    data = evaluation.to_dict()
    assert data["use"] == "ranking" and data["profile"]["name"] == "retrieval"
    at = evaluate(Y, y_score=S, threshold=0.3, use="clinical")
    assert "net_benefit[threshold=0.3]" in at


def test_a_capacity_gives_the_precision_and_recall_of_as_many_alerts():
    order = np.argsort(-S, kind="stable")[:50]
    for given in (50, "10 of 100"):
        evaluation = evaluate(Y, y_score=S + np.arange(500) * 1e-9, use="alerts", capacity=given, threshold=0.5)
        (sentence,) = (s for s in evaluation.verdict if s.code == "at-capacity")
        hits = Y[order].sum()
        assert f"precision is {100 * hits / 50:.1f} %" in sentence
        assert f"recall {100 * hits / Y.sum():.1f} %" in sentence and f"{50 / hits:.2f} alerts for each" in sentence
    assert sentence.startswith("At 10 alerts of 100 rows (scores from 0.789 on), ")
    assert "at-capacity" in codes(evaluate(Y, y_score=S, capacity=50))


def test_many_classes_are_a_table_and_products_are_shown_where_asked(tmp_path):
    evaluation = evaluate(CLASSES, GUESSES)
    names = [row.name for row in evaluation.shown()]
    assert names == ["f1[average=macro]", "balanced_accuracy", "mcc", "accuracy"]
    assert {"ac_score", "g_mean", "tpnr"} <= {row.name for row in evaluate(CLASSES, GUESSES, use="balance").shown()}
    assert evaluate(CLASSES, GUESSES, use="alerts").verdict[0].startswith("Macro F1 is ")
    worst = min(evaluation.per_class, key=lambda row: row.recall.value)
    for text in (repr(evaluation), summary(evaluation, tmp_path)):
        table = text.partition("class  rows  recall")[2].splitlines()
        assert table[1].split()[:2] == [worst.label, str(worst.rows)]
    assert f"| {worst.label} | {worst.rows} |" in evaluation.to_markdown()
    assert "sy-classes" in evaluation._repr_html_()


def test_of_more_than_twenty_classes_the_others_are_folded():
    truth = np.repeat(np.arange(30), 20)
    found = evaluate(truth, np.where(np.arange(600) % 20 < truth % 7, (truth + 1) % 30, truth))
    text = repr(found)
    table = text.partition("class  rows  recall")[2]
    assert "And 10 more classes, all with a recall of 95.0 % or more" in text
    assert sum(line.split()[1:2] == ["20"] for line in table.splitlines()) == 20


def test_the_class_that_makes_a_product_0_is_named():
    blind = Confusion.of_rows(("a", "b", "c"), np.array([[50, 5, 0], [5, 50, 0], [6, 4, 0]]))
    said = {sentence.code: sentence for sentence in evaluate(blind, use="balance").verdict}
    assert said["class-at-zero"] == 'AC-score, G-mean and TPNR are 0: no row of class "c" is found.'
    assert "class-at-zero" not in codes(evaluate(blind))


def test_label_sets_lead_by_their_labels_beside_predicting_nothing():
    true = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0], [1, 0, 1]])
    predicted = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 0, 1]])
    evaluation = evaluate(true, predicted)
    assert evaluation.verdict[0] == (
        "These 4 rows have 5 labels. The classifier finds 4, misses 1 and adds 1 false one; predicting nothing misses all 5."
    )
    assert evaluation.verdict[1] == "2 of 4 rows have all labels right; predicting nothing gets 1 right."
    assert evaluation.metrics[0].spec.average == "micro"


REFUSED = {
    "ranking of labels": (
        lambda: evaluate(Y, S > 0.5, use="ranking"),
        ValueError,
        "is judged by scores; give them, or choose",
    ),
    "probabilities of labels": (
        lambda: evaluate(Y, S > 0.5, use="probabilities"),
        ValueError,
        "judged by probabilities",
    ),
    "probabilities of other scores": (
        lambda: evaluate(Y, y_score=9 * S, use="probabilities"),
        ValueError,
        "needs probabilities from 0 to 1",
    ),
    "balance of a ranking": (
        lambda: evaluate(Y, y_score=9 * S, use="balance"),
        ValueError,
        "a threshold for the scores",
    ),
    "a capacity of labels": (lambda: evaluate(Counts(5, 5, 5, 85), capacity=5), ValueError, "there are labels alone"),
    "metrics beside a profile": (
        lambda: evaluate(Y, y_score=S, use="fraud", metrics=["mcc"]),
        ValueError,
        "leave metrics= out",
    ),
    "groups beside a profile": (lambda: evaluate(Y, y_score=S, use="fraud", by=Y), ValueError, "leave by= out"),
    "label sets": (lambda: evaluate([["a"], ["b"]], [["a"], ["b"]], use="alerts"), ValueError, "use="),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_use_of_which_the_data_have_no_number_is_refused(case):
    assert_refused(*REFUSED[case])
