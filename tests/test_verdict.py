"""The verdict: a headline in whole rows, and coded sentences."""

from __future__ import annotations

import copy
import json
import pickle
import re
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from checks import assert_refused
from command_line import run_command

from steelyard import Confusion, Counts, compare_groups, evaluate

FINLEY = Counts(28, 23, 72, 2680)
RNG = np.random.default_rng(7)
Y = (RNG.random(600) < 0.15).astype(int)
S = (1 / (1 + np.exp(-(RNG.normal(size=600) + 2 * Y - 1)))).round(3)
PRED = (S >= 0.5).astype(int)
THREE = RNG.choice(["a", "b", "c"], 400, p=[0.7, 0.2, 0.1])
GUESS = np.where(RNG.random(400) < 0.7, THREE, RNG.choice(["a", "b", "c"], 400))
DOCS = Path(__file__).parent.parent / "docs" / "verdict.md"

INPUTS = {
    "rare": lambda **o: evaluate(FINLEY, **o),
    "few": lambda **o: evaluate(Counts(9, 1, 12, 978), **o),
    "few negatives": lambda **o: evaluate(Counts(900, 20, 3, 5), **o),
    "balanced": lambda **o: evaluate(Counts(400, 100, 90, 410), **o),
    "lopsided": lambda **o: evaluate(Counts(200, 300, 10, 490), **o),
    "random": lambda **o: evaluate(Counts(5, 45, 95, 855), **o),
    "inverted": lambda **o: evaluate(Counts(10, 40, 400, 100), **o),
    "nobody flagged": lambda **o: evaluate(Counts(0, 40, 0, 960), **o),
    "one class": lambda **o: evaluate(Counts(0, 0, 12, 988), **o),
    "perfect": lambda **o: evaluate(Counts(50, 0, 0, 950), **o),
    "rare negatives": lambda **o: evaluate(Counts(900, 20, 30, 50), **o),
    "prevalence": lambda **o: evaluate(FINLEY, prevalence=0.001, **o),
    "weights": lambda **o: evaluate(Y, PRED, sample_weight=1 + S, **o),
    "scores": lambda **o: evaluate(Y, y_score=S, draws=50, **o),
    "ranking": lambda **o: evaluate(Y, y_score=10 * S - 3, draws=50, **o),
    "few ranked": lambda **o: evaluate(Y[:90], y_score=10 * S[:90] - 3, draws=50, **o),
    "inverted order": lambda **o: evaluate(Y, y_score=-10 * S, draws=50, **o),
    "classes": lambda **o: evaluate(THREE, GUESS, **o),
    "one of three": lambda **o: evaluate(THREE, GUESS, pos_label="c", **o),
    "words": lambda **o: evaluate(np.where(Y, "fraud", "legit"), np.where(PRED, "fraud", "legit"), pos_label="fraud", **o),
}  # fmt: skip


@pytest.fixture(params=INPUTS)
def evaluation(request):
    return INPUTS[request.param]()


def said(found):
    return {sentence.code: str(sentence) for sentence in found.verdict}


# ---------------------------------------------------------------- the words


def test_finleys_forecasts():
    assert [f"{sentence.code}: {sentence}" for sentence in evaluate(FINLEY).verdict] == [
        "outcomes: Of 1,000 rows like these, 18 are positive. The classifier flags 36, finds 10 and misses 8; 26 are false alarms.",
        "recall-below-specificity: Recall is 54.9 % (41.4 to 68.1), far below specificity (97.4 %); precision is 28.0 % (19.7 to 37.4). "
        "A random predictor that flags as many rows has 3.57 % recall and 1.82 % precision.",
        "for-alerts: For alerts, F1 is 0.371 (0.274 to 0.470; no skill 0.0241): it moves with prevalence, as precision does.",
        "for-balance: For balance between the classes, AC-score is 0.702 (0.581 to 0.802; no skill 0.0676): it falls to 0 with "
        "either recall and stays the same at any prevalence.",
        "without-number: Ranking and probabilities have no number here: they need scores.",
        "accuracy-below-majority: By accuracy (96.6 %) it is worse than always predicting 0 (98.2 %), but it is far better than a random "
        "predictor (p < 0.001).",
        "sample-size: Recall is known to ±13.4 points by 51 positives; 370 would give ±5.",
    ]  # fmt: skip


def test_few_positives_lead_with_what_they_cannot_show():
    few = INPUTS["few"]().verdict
    assert few[0] == "Recall is 90.0 %, but with 10 positives anything from 62.1 % to 99.4 % fits."
    assert [sentence.code for sentence in few[:2]] == ["few-positives", "outcomes"]
    assert "with 8 negatives anything" in INPUTS["few negatives"]().verdict[0]
    assert INPUTS["few ranked"]().verdict[0].startswith("ROC AUC is ")


def test_balanced_classes_are_brief():
    words = said(INPUTS["balanced"]())
    assert list(words) == ["outcomes", "rates", "for-alerts", "for-balance", "without-number", "accuracy-fair"]
    assert "accuracy, 81.0 % (78.4 to 83.4), is a fair summary" in words["accuracy-fair"]
    assert "recall-below-specificity" in said(INPUTS["lopsided"]())


def test_no_skill_and_less_than_that_are_warnings():
    random, inverted = INPUTS["random"](), INPUTS["inverted"]()
    assert (
        "not shown to be better than a random predictor (p = 0.573): do not use it until more rows show"
        in said(random)["not-better-than-random"]
    )
    assert "check which class is the positive one" in said(inverted)["worse-than-random"]
    assert "The order is worse than a random one" in said(INPUTS["inverted order"]())["worse-than-random"]
    small = evaluate(Counts(101_000, 399_000, 99_000, 401_000))
    assert "it is better than a random predictor" in said(small)["accuracy-fair"]


def test_what_is_undefined_says_why_in_its_place():
    words = said(INPUTS["nobody flagged"]())
    assert words["outcomes"] == "Of these 1,000 rows, 40 are positive. The classifier flags none and misses 40."
    assert words["precision-undefined"].endswith("precision is undefined: no predicted positives.")
    assert words["not-better-than-random"].endswith("choose a threshold at which it flags some rows.")
    assert said(INPUTS["one class"]())["one-class"].startswith("There are no positives")
    hollow = evaluate(Confusion.of_rows(("a", "b", "c"), np.array([[5, 1, 0], [1, 5, 0], [0, 0, 0]])))
    assert "undefined: " in said(hollow)["classes-undefined"]
    assert evaluate(Confusion.of_rows((0, 1), np.zeros((2, 2), dtype=int), 1)).verdict == []


def test_the_headline_says_where_it_is_read():
    assert INPUTS["prevalence"]().verdict[0].startswith("Of 10,000 rows at a prevalence of 0.100 %, 10 are positive.")
    assert INPUTS["weights"]().verdict[0].startswith("Of 1,000 rows like these, by sample weight, ")
    shares = evaluate(THREE, GUESS, prevalence=[0.5, 0.3, 0.2])
    assert shares.verdict[0].startswith("Of 1,000 rows at the given class shares, in 3 classes, the classifier gets ")


def test_the_classes_go_by_their_names_where_these_are_words():
    words = said(INPUTS["words"]())
    assert '" are "fraud". The' in words["outcomes"].replace("are", '" are', 1)
    assert any('always predicting "legit"' in text for text in words.values())
    assert any('never predicting "c"' in text for text in said(INPUTS["one of three"]()).values())
    plain = evaluate(np.where(Y, "yes", "no"), np.where(PRED, "yes", "no"), pos_label="yes")
    assert " are positive." in plain.verdict[0] and any('always predicting "no"' in s for s in plain.verdict)
    assert any("always predicting 0 (" in sentence for sentence in evaluate(Y, PRED).verdict)
    assert any("always predicting False (" in sentence for sentence in evaluate(Y == 1, PRED == 1).verdict)


def test_several_classes():
    def words(hit, missed):
        rows = [[hit, missed, missed], [1, 40, 1], [1, 1, 40]]
        return said(evaluate(Confusion.of_rows(("a", "b", "c"), np.array(rows))))

    few = words(800, 100)
    assert few["classes"] == "Of 1,000 rows like these, in 3 classes, the classifier gets 812 right and 188 wrong."
    assert 'worse than always predicting "a" (92.3 %), but it is far better' in few["accuracy-below-majority"]
    assert 'no better than always predicting "a" (92.3 %)' in words(920, 42)["accuracy-at-majority"]
    assert "accuracy-above-majority" in words(990, 5)
    assert re.match(r'Recall is lowest for class "a": 80\.0 % \(.* to .*\) of its 1,000 rows\.', few["weakest-class"])
    assert said(evaluate(THREE, THREE))["classes"].endswith("the classifier gets all right.")


def test_groups_clusters_and_weights_keep_to_what_they_can_say():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"y": Y, "p": PRED, "site": RNG.choice(["north", "south"], 600)})
    alike = said(evaluate(frame, true="y", pred="p", by="site"))
    smallest = frame["site"].value_counts().min()
    expected = f"2 groups are not distinguishable by AC-score; the smallest has {smallest} rows."
    assert alike["groups-not-distinguishable"] == expected and "weakest-group" not in alike
    frame["p"] = np.where((frame["site"] == "south") & (RNG.random(600) < 0.4), 1 - Y, PRED)
    for options in ({}, {"weight": "one"}, {"cluster": "row"}):
        grouped = said(evaluate(frame.assign(one=1.5, row=range(600)), true="y", pred="p", by="site", **options))
        assert re.match(r"AC-score is lowest in site = south \(\d+ rows\), of 2 groups: ", grouped["weakest-group"])
    assert "sample-size" not in said(INPUTS["weights"]())


def _noise(sizes, seed, wrong=0.15):
    """Rows of groups that do not differ."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    y = np.arange(len(group)) % 4 // 3
    return y, np.where(rng.random(len(y)) < wrong, 1 - y, y), group


@pytest.mark.parametrize("sizes", [[4] * 20, [200] * 20, [4, 30, 400, 1000]], ids=str)
def test_no_group_is_called_the_weakest_on_noise_nor_for_its_few_rows(sizes):
    named = 0
    for seed in range(20):
        y, pred, group = _noise(sizes, seed)
        codes = [sentence.code for sentence in evaluate(y, pred, by=group, metrics=["ac_score"], draws=20).verdict]
        named += "weakest-group" in codes
        assert ("weakest-group" in codes) != ("groups-not-distinguishable" in codes)
    assert named <= 4  # of 20 at 0.05: more than four have a probability of 0.003


def test_a_group_that_differs_is_named_beside_a_smaller_one_that_is_lower_by_chance():
    y, pred, group = _noise([8, 600, 600, 600], 1, wrong=0.05)
    pred = np.where((group == 2) & (np.random.default_rng(0).random(len(y)) < 0.3), 1 - y, pred)
    pred[group == 0] = 1 - y[group == 0]
    pred[[0, 3]] = y[[0, 3]]  # of eight rows, which might be chance
    verdict = said(evaluate(y, pred, by=group, metrics=["ac_score"]))
    assert "is lower in group = 2 (600 rows) than in the others together, of 4 groups: " in verdict["weakest-group"]
    pred[group == 0] = y[group == 0]
    verdict = said(evaluate(y, pred, by=group, metrics=["ac_score"]))
    assert "is lowest in group = 2 (600 rows), of 4 groups: " in verdict["weakest-group"]


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
def test_groups_that_differ_by_their_class_shares_alone_are_said_to(metric):
    tables = {"even": [[980, 20], [400, 600]], "rare": [[1960, 40], [16, 24]]}  # of the same two rates

    def words(*metrics):
        cells = {name: np.ravel(table) for name, table in tables.items()}
        columns = {
            "y_true": np.concatenate([np.repeat([0, 0, 1, 1], rows) for rows in cells.values()]),
            "y_pred": np.concatenate([np.repeat([0, 1, 0, 1], rows) for rows in cells.values()]),
            "by": np.concatenate([np.repeat(name, rows.sum()) for name, rows in cells.items()]),
        }
        return said(evaluate(**columns, metrics=metrics, draws=20))

    explained = "beyond what their class shares explain; the smallest has 2,000 rows."
    assert words(metric)["groups-not-distinguishable"].endswith(explained)
    assert "by AC-score; the smallest" in words("ac_score")["groups-not-distinguishable"]
    tables["rare"], tables["even"] = [[1900, 100], [2, 38]], [[980, 20], [700, 300]]
    if metric == "f1":  # higher than of the rare positives, though less than the even classes would have
        assert "is lower in group = even (2,000 rows) than its class shares explain" in words("f1")["weakest-group"]


def test_a_class_of_a_billion_rows_and_groups_of_very_many_classes_are_compared():
    rows = np.full((3, 3), 10) + 10**9 * np.eye(3, dtype=int)
    rows[2, 1] += 10**9
    verdict = said(evaluate(Confusion.of_rows(("a", "b", "c"), rows), metrics=["accuracy"], draws=20))
    assert verdict["weakest-class"].startswith('Recall is lowest for class "c": 50.0 %')
    for classes in (100, 200):  # of more than a hundred no draws are made row by row
        truth, group = np.repeat(np.arange(classes), 10), np.arange(10 * classes) % 2
        found = compare_groups(truth, truth // 2, by=group, metrics=["accuracy"], draws=200)
        assert found.tests and all(0 < row.p_value <= 1 for row in found.tests)


def test_weighted_groups_of_four_rows_are_not_called_the_weakest_for_their_few_rows():
    y, pred = np.tile([0, 0, 0, 1], 20), np.tile([0, 0, 0, 1], 20)
    pred[:4] = [1, 1, 1, 1]
    group = np.repeat(np.arange(20), 4)
    pred[[9, 22, 35]] = 1  # as other groups have it
    words = said(evaluate(y, pred, by=group, metrics=["precision"], sample_weight=np.full(80, 1.5)))
    assert "groups-not-distinguishable" in words


def test_no_class_is_called_the_weakest_on_noise():
    named = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.choice(5, 300, p=[0.6, 0.3, 0.05, 0.03, 0.02])
        pred = np.where(rng.random(300) < 0.7, y, (y + 1) % 5)
        codes = [sentence.code for sentence in evaluate(y, pred, metrics=["accuracy"], draws=20).verdict]
        named += "weakest-class" in codes
        assert ("weakest-class" in codes) != ("classes-not-distinguishable" in codes)
    assert named <= 4


def test_of_very_many_groups_the_largest_are_compared():
    y, pred, group = _noise([4] * 290 + [8] * 10, 0)
    verdict = said(evaluate(y, pred, by=group, metrics=["ac_score"], draws=20))
    expected = "The 250 largest of 300 groups are not distinguishable by AC-score; the smallest has 4 rows."
    assert verdict["groups-not-distinguishable"] == expected


def test_the_scale_of_the_weights_changes_no_word():
    y, pred = [1] * 40 + [0] * 400, [1] * 30 + [0] * 10 + [1] * 20 + [0] * 380
    verdicts = [evaluate(y, pred, sample_weight=np.full(440, scale)).verdict for scale in (0.01, 1.0, 100.0)]
    assert verdicts[0] == verdicts[1] == verdicts[2]


def test_every_verdict_is_short_and_neither_praises_nor_alarms(evaluation):
    headline = [sentence for sentence in evaluation.verdict if sentence.is_headline]
    beside = [sentence for sentence in evaluation.verdict if not sentence.is_headline and not sentence.is_of_use]
    assert 1 <= len(headline) <= 2 and len(beside) <= 5
    assert [*evaluation.verdict[: len(headline)]] == headline
    text = " ".join(evaluation.verdict).lower()
    for word in ("good", "poor", "excellent", "bad ", "guess", "cut", "weak side", "chance", "nan", "alarming", "  "):
        assert word not in text, word
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in evaluation.verdict)
    assert len({sentence.code for sentence in evaluation.verdict}) == len(evaluation.verdict)


# ---------------------------------------------------------------- whole rows


def tables():
    rng = np.random.default_rng(3)
    for _ in range(400):
        cells = np.exp(rng.uniform(0, 14, 4)).astype(int) * (rng.random(4) < 0.9)
        if cells[:2].sum() and cells[2:].sum():
            yield Counts(*map(int, cells))


OUTCOMES = re.compile(
    r"Of (?P<these>these )?(?P<base>\S+) rows.*?, (?P<positives>\S+) (?:are|is) positive\. The classifier flags (?P<flagged>\w+[\d,]*?)"
    r"(?:, finds (?P<found>\S+))? and misses (?P<missed>[\w,]+)(?:; (?P<alarms>\S+) (?:are|is a) false alarms?)?\."
)


NUMBERS = {"none": 0, "fewer": 0}


def test_the_headline_is_whole_and_consistent():
    for counts in islice(tables(), 150):
        found = evaluate(counts, metrics=["recall"], draws=20)
        text = said(found)["outcomes"]
        read = OUTCOMES.fullmatch(text.replace("fewer than 1", "fewer")).groupdict()
        whole = {key: NUMBERS.get(words or "none", words) for key, words in read.items() if key != "these"}
        whole = {key: int(str(words).replace(",", "")) for key, words in whole.items()}
        total, cells = int(counts.total), [int(cell) for cell in counts][:3]
        parts = (whole["found"], whole["missed"], whole["alarms"])
        rarer = min(counts.positives, counts.negatives) / total
        tens = next(rows for rows in (10**power for power in range(3, 9)) if rarer * rows >= 10 * (1 - 1e-9))
        assert whole["base"] == found.denominator == (total if read["these"] else tens)
        words = [read[key] or "none" for key in ("found", "missed", "alarms")]
        assert [word != "none" for word in words] == [cell > 0 for cell in cells]  # what has rows is never called none
        assert whole["flagged"] == parts[0] + parts[2] and whole["positives"] == parts[0] + parts[1]
        assert whole["positives"] + parts[2] <= whole["base"]
        for part, cell in zip(parts, cells, strict=True):
            assert part == cell if read["these"] else abs(part - whole["base"] * cell / total) <= 1.5


def test_a_result_chooses_once_of_how_many_rows_it_speaks():
    assert evaluate(Counts(5, 5, 10, 980)).denominator == 1_000  # its own rows
    assert evaluate(Counts(28, 23, 72, 2680)).denominator == 1_000
    assert evaluate(Counts(40, 60, 100, 19_800)).denominator == 10_000
    rare = evaluate(Counts(40, 60, 100, 19_800), prevalence=0.0001)
    assert rare.denominator == 100_000 and rare.verdict[0].startswith(
        "Of 100,000 rows at a prevalence of 0.0100 %, 10 are"
    )
    few = evaluate(Counts(1, 400, 2, 9_597))
    assert "flags fewer than 1, finds fewer than 1 and misses 40; fewer than 1 is a false alarm." in few.verdict[0]


def test_one_and_none_read_as_words():
    text = said(evaluate(Counts(1, 0, 0, 9)))["outcomes"]
    assert (
        text
        == "Of these 10 rows, 1 is positive. The classifier flags 1, finds 1 and misses none; none is a false alarm."
    )


# ---------------------------------------------------------------- codes


def test_every_sentence_has_a_code_a_severity_and_a_section(evaluation):
    data = json.loads(evaluation.to_json())["verdict"]
    for sentence, row in zip(evaluation.verdict, data, strict=True):
        assert row == {
            "code": sentence.code,
            "severity": sentence.severity,
            "text": sentence.text,
            "docs": sentence.docs,
        }
        assert sentence.docs == f"docs/verdict.md#{sentence.code}" and type(sentence.text) is str
        for again in (copy.copy(sentence), pickle.loads(pickle.dumps(sentence))):
            assert (again, again.row()) == (sentence, sentence.row())


SEVERITIES = dict(re.findall(r"^### ([a-z-]+)\n\n\*(\w+)\.\*", DOCS.read_text(), re.MULTILINE))  # each has a section


def _twelve(hits):
    """Twelve classes of a hundred rows, of which the first has so many hits and the others 90."""
    right = np.array([hits] + [90] * 11)
    return evaluate(Confusion.of_rows(tuple("abcdefghijkl"), np.diag(right) + np.roll(np.diag(100 - right), 1, axis=1)))


def _label_sets():
    """Rows of several labels: one label worse than others and mistaken for another, and labels that are alike."""
    rng = np.random.default_rng(0)
    true = rng.random((900, 4)) < (0.5, 0.3, 0.2, 0.1)
    good = true ^ (rng.random(true.shape) < 0.1)
    worse = good.copy()
    worse[:, 3] &= rng.random(900) < 0.2
    worse[:, 1] |= true[:, 3] & ~worse[:, 3]
    alike = rng.random((900, 4)) < 0.3
    return [evaluate(true, worse), evaluate(alike, alike ^ (rng.random(alike.shape) < 0.1))]


def _of_uses():
    """Evaluations of a use, of a capacity, and of a product of recalls that one class makes 0."""
    blind = Confusion.of_rows(("a", "b", "c"), np.array([[50, 5, 0], [5, 50, 0], [6, 4, 0]]))
    return [evaluate(Y, y_score=S, use="alerts", capacity=50), evaluate(blind, use="balance")]


def test_every_code_of_the_documentation_is_said_somewhere_with_its_severity():
    hollow = evaluate(Confusion.of_rows(("a", "b", "c"), np.array([[5, 1, 0], [1, 5, 0], [0, 0, 0]])))
    pl = pytest.importorskip("polars")
    grouped = evaluate(pl.DataFrame({"y": Y, "p": PRED, "g": Y[::-1]}), true="y", pred="p", by="g")
    apart = evaluate(Y, np.where(np.arange(600) < 300, PRED, 1 - Y), by=np.arange(600) < 300)
    uneven = evaluate(THREE, np.where(THREE == "a", "b", THREE))
    found = [make() for make in INPUTS.values()] + _label_sets()
    codes = {
        sentence.code: sentence.severity
        for one in [
            *found,
            *_of_uses(),
            hollow,
            grouped,
            apart,
            uneven,
            evaluate(Counts(30, 20, 120, 830)),
            *map(_twelve, (5, 90)),
        ]
        for sentence in one.verdict
    }
    assert codes == SEVERITIES


def test_a_muted_sentence_makes_room_for_the_next(monkeypatch):
    few = INPUTS["few"]
    of_uses = ["for-alerts", "for-balance", "without-number"]
    assert [s.code for s in few().verdict][-1] == "sample-size"
    quiet = few(mute=["few-positives", "rates"])
    assert [s.code for s in quiet.verdict] == ["outcomes", *of_uses, "accuracy-at-majority", "sample-size"]
    assert quiet.to_dict()["muted"] == ["few-positives", "rates"]
    words = next(sentence for sentence in few().verdict if sentence.code == "few-positives").split(" %")[0]
    assert words in few().to_html() and words not in quiet.to_html()
    monkeypatch.setenv("STEELYARD_MUTE", "outcomes, for-alerts")
    assert not {"outcomes", "for-alerts"} & {*said(few())}
    assert {"outcomes", "for-alerts"} <= {*said(few(mute=[]))}  # what is given wins
    everything = few(mute=[*SEVERITIES])
    assert everything.verdict == [] and "There is no verdict on this table" in everything.to_html()


def test_the_shell_mutes():
    def report(*words):
        return run_command("report", "--counts", "9,1,12,978", *words)

    assert "Recall is 90.0 %, but" in report().stdout
    ran = report("--mute", "few-positives", "--mute", "outcomes", "--format", "json")
    assert not {"few-positives", "outcomes"} & {row["code"] for row in json.loads(ran.stdout)["verdict"]}
    wrong = report("--mute", "few-positivs")
    assert wrong.exit_code == 2 and "Did you mean 'few-positives'" in wrong.stderr
    shifted = run_command("shift", "--counts", "28,23,72,2680", "--prevalence", "0.1", "--mute", "outcomes")
    assert "Of 1,000 rows" not in shifted.stdout and "Recall is" in shifted.stdout


BAD = {
    "unknown": (lambda: evaluate(FINLEY, mute=["acuracy-fair"]), KeyError, "Did you mean 'accuracy-fair'"),
    "a text": (lambda: evaluate(FINLEY, mute="for-alerts"), TypeError, "a list of codes"),
    "far off": (lambda: evaluate(FINLEY, mute=["E501"]), KeyError, "There are outcomes, "),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_codes_get_one_sentence(case):
    assert_refused(*BAD[case])


def test_a_sentence_is_text():
    sentence = evaluate(FINLEY).verdict[0]
    assert isinstance(sentence, str) and f"{sentence}" == sentence.text and "18 are positive" in sentence
    assert type(sentence)("Of another version.", "new-code", "note").severity == "note"


def test_groups_of_other_class_shares_are_tested_by_the_rates_of_each_class():
    """The second group finds fewer of each class, and is called so (p = .002), though it holds most of two classes."""
    right = {"first": ([5, 9, 31], [5, 8, 9]), "second": ([40, 50, 22], [15, 15, 11])}
    rows = [
        (name, label, label if i < hits else "bca"["abc".index(label)])
        for name, counts in right.items()
        for label, size, hits in zip("abc", *counts, strict=True)
        for i in range(size)
    ]
    group, y, pred = map(np.array, zip(*rows, strict=True))
    told = said(evaluate(y, pred, by=group, metrics=["balanced_accuracy"], draws=20))
    assert "group = second" in told["weakest-group"]
