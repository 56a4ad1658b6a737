"""Predictions: rows are given in every way, read once, and answer every question."""

from __future__ import annotations

import inspect
import pickle
import threading
from datetime import date, datetime
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from engines import ENGINES
from input_matrix import EXTRAS, INPUTS, PAGE, REFUSED, cells, expected, outcome, page, refusal

import steelyard
from steelyard import Predictions
from steelyard.exceptions import InputError, InputTypeError, SteelyardError
from steelyard.predictions import RowOptions

Y, S = np.array([0, 0, 1, 1, 0, 1]), np.array([0.1, 0.6, 0.7, 0.9, 0.3, 0.4])
FRAME = pl.DataFrame({"y": Y, "a": S, "b": S[::-1], "site": list("nnssns"), "age": [20, 40, 60, 80, 30, 50]})


# ---------------------------------------------------------------- every question with every kind of input


def paired_cells():
    """Each question on each kind of rows with every input, so that each meets every extra and each input every extra."""
    asked, extras = list(cells()), list(EXTRAS)
    of_question = list(dict.fromkeys((question, kind) for question, kind, *_ in asked))
    chosen = {
        (question, kind, source, extras[(i + j) % len(extras)])
        for (i, (question, kind)), (j, source) in product(enumerate(of_question), enumerate(INPUTS))
    }
    return [cell for cell in asked if cell in chosen]


@pytest.mark.parametrize(("question", "kind", "source", "extra"), paired_cells())
def test_every_question_gives_of_every_input_what_arrays_give(question, kind, source, extra):
    if source == "tensors":
        pytest.importorskip("torch", reason="torch is not installed")
    assert outcome(question, kind, source, extra) in ("same", "refused")


def test_every_refusal_of_the_matrix_is_one_of_a_question_that_is_asked():
    for *pattern, reason in REFUSED:
        assert reason is None or any(refusal(*cell) == reason for cell in cells()), pattern


def test_the_page_of_the_matrix_says_what_is_declared():
    assert PAGE.read_text(encoding="utf-8") == page(), "`make matrix` asks every cell, and writes it"


# ---------------------------------------------------------------- how rows are given


def test_a_column_for_each_class_is_counted_into_a_table_of_probabilities():
    scores = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]])
    counted = Predictions(["a", "b", "b"], y_score=scores, labels=["a", "b", "c"]).probability_table()
    table = steelyard.tables.ProbabilityTable(("a", "b", "c"), np.array([0, 1, 1]), scores)
    assert isinstance(counted, steelyard.tables.ProbabilityTable) and counted.labels == table.labels
    assert counted.codes.tolist() == table.codes.tolist() and counted.probabilities.tolist() == scores.tolist()
    assert steelyard.interval("log_loss", table) == steelyard.interval("log_loss", counted)


def test_a_name_of_a_column_is_text():
    words = "is the name of a column of the frame, as text, not"
    for use in ("true", "pred", "score"):
        for values in (S, [S, S], S.tolist()):
            with pytest.raises(InputTypeError, match=f"^{use}= {words}") as refused:
                steelyard.evaluate(FRAME, **{"true": "y", "pred": "p", use: values})
            assert refused.value.argument == use and refused.value.given
    with pytest.raises(InputTypeError, match=rf"^score= {words} array.*; values are given as y_score=\.$"):
        steelyard.compare(FRAME, true="y", score={"a": "s", "b": S})


def test_a_metric_says_of_predictions_why_it_is_undefined():
    nobody_flagged = Predictions([0, 1, 1, 0], [0, 0, 0, 0])
    assert np.isnan(steelyard.precision(nobody_flagged))
    assert steelyard.precision.why(nobody_flagged) == "no predicted positives"
    assert steelyard.roc_auc.why(Predictions([0, 1], y_score=[0.1, 0.2])) is None
    with pytest.raises(InputError, match="cannot state which threshold was assumed"):
        steelyard.f1.why(Predictions([0, 1], y_score=[0.1, 0.2]))


def test_names_of_columns_beside_arrays_are_answered_by_what_holds_columns():
    with pytest.raises(
        InputTypeError, match=r"^true= names a column of a frame or file, .* were given; leave"
    ) as beside:
        steelyard.evaluate(Y, S > 0.5, true="y")
    assert beside.value.argument == "true"
    with pytest.raises(InputError, match=r"no column 'sight'; there are 'site'\. Did you mean 'site'"):
        Predictions(Y, y_score=S, columns={"site": Y}, by="sight").evaluate()


def test_what_is_guessed_wrong_is_answered_by_what_to_write(tmp_path):
    p = Predictions.read(FRAME, true="y", score="a")
    best = p.best_threshold("f1", draws=0)
    guesses = (
        (lambda: p.at(best).confusion(), r"^A threshold is a number, not a BestThreshold; give its \.threshold\.$"),
        (lambda: Predictions(FRAME, true="y", score="a"), r"Predictions\.read\(frame, true=\.\.\.\) takes the names of columns"),
        (lambda: p.interval("f_beta", beta=2), r"a parameter is part of a metric's name, such as 'f_beta\[beta=2\]'"),
        (lambda: p.compare("a", "b"), r"^compare takes the models as one argument"),
        (lambda: steelyard.compare(Y, S, S[::-1]), r"^compare takes the models as one argument"),
        (lambda: steelyard.evaluate(Y, score="a"), r"beside arrays give y_score="),
        (lambda: Predictions.read(FRAME, true="y", score=["a", "b", "age"]).evaluate(), r"one model by a pattern, such as 'p_\*'"),
        (lambda: steelyard.evaluate(tmp_path / "rows.csv", y_true="y", y_score="a"), r"^y_true= holds values.* name the column by true=\.$"),
        (lambda: steelyard.compare(FRAME, ["a", "b"], true="y"), r"no model 'a', 'b', since none was given; name their columns by score="),
        (lambda: Predictions.read(FRAME, true="y", pred={"old": "y"}, score={"new": "a"}), "name other models"),
        (lambda: p.best_threshold("recall >= 0.7"), r"^'recall >= 0\.7' is a limit; give it by where='recall >= 0\.7'"),
        (lambda: p.best_threshold("precision", recall=0.7), r"a limit is written as where='recall >= 0\.9'\.$"),
        (lambda: steelyard.gate(p, recall=0.7), r"a limit is written as the text 'recall >= 0\.9'\.$"),
        (lambda: p.compare_groups("site"), r"'site' has no place beside it; say by a keyword.* by='site'"),
        (lambda: p.evaluate(cost={"cost_fn": 9}), r"best_threshold, operating_points .* take it"),
        (lambda: p.filter("age != 3"), "cannot be read"),
        (lambda: p.filter(pl.col("age") > 3), "is a text such as"),
    )  # fmt: skip
    for ask, answer in guesses:
        with pytest.raises(SteelyardError, match=answer):
            ask()
    for name, home in (("gate", "steelyard.gate"), ("plot", "steelyard.figures.plot")):
        with pytest.raises(AttributeError, match=f"The function {home} takes them"):
            getattr(p, name)
    with pytest.raises(AttributeError, match=r"steelyard\.recall\(predictions\) gives its value"):
        p.recall  # noqa: B018 - asked for
    with pytest.raises(AttributeError, match=r"predictions\.evaluate\(\)\.save"):
        p.save("page.html")


def test_other_groups_leave_the_bins_of_those_that_were_carried():
    p = Predictions.read(FRAME, true="y", score="a", by=["site", "age"], bins={"age": [40]})
    assert p.with_options(by="site").tally().by == ("site",)
    assert sorted(p.with_options(by="age").tally().groups) == [("age < 40",), ("age >= 40",)]
    with pytest.raises(InputError, match="bins= names 'age'"):
        p.with_options(by="site", bins={"age": [40]}).tally()


def test_a_metric_of_labels_takes_the_class_of_the_highest_score_and_says_so():
    rng = np.random.default_rng(3)
    truth, scores = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)], rng.dirichlet(np.ones(3), 60)
    labels = np.array(["a", "b", "c"])[scores.argmax(1)]
    for rows in ({}, {"cluster": rng.integers(0, 12, 60)}):
        of_scores = steelyard.interval("f1[average=macro]", truth, y_score=scores, **rows)
        of_labels = steelyard.interval("f1[average=macro]", truth, labels, **rows)
        assert (of_scores.value, of_scores.low, of_scores.high) == (of_labels.value, of_labels.low, of_labels.high)
        assert of_scores.assumed == ("The class with the highest score of a row was taken as its predicted label.",)


def test_a_table_of_all_classes_is_read_as_its_rows():
    p = Predictions(Y, y_score=np.column_stack([1 - S, S]))
    assert p.probability_table().labels == (0, 1)
    of_table = steelyard.evaluate(p.probability_table(), draws=40)
    assert of_table.to_dict()["metrics"] == p.evaluate(draws=40).to_dict()["metrics"]


def test_the_first_argument_alone_decides_how_the_rows_are_read():
    by_place = steelyard.evaluate(Y, S > 0.5)["recall"].value
    p = Predictions(Y, S > 0.5)
    assert by_place == p.evaluate()["recall"].value == steelyard.evaluate(p)["recall"].value
    assert steelyard.evaluate(p.confusion())["recall"].value == by_place
    with pytest.raises(InputTypeError, match="has no place beside it"):
        steelyard.evaluate(p, S > 0.5)
    with pytest.raises(InputTypeError, match="given twice"):
        steelyard.evaluate(Y, S > 0.5, y_pred=S > 0.5)
    with pytest.raises(InputTypeError, match="bring"):
        steelyard.evaluate(p, y_true=Y)
    with pytest.raises(InputTypeError, match="true="):
        steelyard.evaluate(FRAME, "y")


def test_a_list_of_columns_is_models_and_a_pattern_is_classes():
    p = Predictions.read(FRAME, true="y", score=["a", "b"])
    assert p.models == ("a", "b")
    assert p["b"].interval("roc_auc").value == steelyard.roc_auc(Y, S[::-1])
    with pytest.raises(InputError, match="2 models, 'a', 'b', and one is asked about"):
        p.interval("roc_auc")
    with pytest.raises(InputError, match="Did you mean 'a'"):
        p["A"]
    named = Predictions.read(FRAME, true="y", score={"one": "a", "two": "b"})
    assert named.models == ("one", "two")


def test_scores_of_two_classes_are_taken_everywhere():
    both = np.column_stack([1 - S, S])
    one = steelyard.evaluate(Y, y_score=S, draws=40)
    assert steelyard.evaluate(Y, y_score=both, draws=40).to_dict()["metrics"] == one.to_dict()["metrics"]
    for question in ("interval", "chance"):
        ask = getattr(steelyard, question)
        assert ask("roc_auc", Y, y_score=both).to_dict() == ask("roc_auc", Y, y_score=S).to_dict()


def test_a_score_given_as_predictions_is_answered_by_y_score():
    with pytest.raises(InputTypeError, match="y_score="):
        steelyard.interval("roc_auc", Y, S)


def test_series_of_one_index_in_other_orders_are_refused():
    truth = pd.Series(Y)
    with pytest.raises(InputError, match="different orders"):
        Predictions(truth, truth[::-1]).evaluate()


def test_columns_beside_arrays_may_be_named():
    p = Predictions(Y, y_score=S, columns=FRAME.to_dict(as_series=False), by="site")
    assert p.columns[:2] == ("y", "a")
    of_frame = Predictions.read(FRAME, true="y", score="a", by="site")
    assert {key: part.scores.saved() for key, part in p.tally().groups.items()} == {
        key: part.scores.saved() for key, part in of_frame.tally().groups.items()
    }
    assert p.filter("age >= 40").collect().rows == 4


def test_a_filter_keeps_rows_of_frames_and_arrays_alike():
    of_frame = Predictions.read(FRAME, true="y", score="a").filter("age >= 30")
    of_arrays = Predictions(Y, y_score=S, columns=FRAME).filter("age >= 30")
    assert of_frame.score_table().n == of_arrays.score_table().n == 5
    assert of_frame.score_table().saved() == of_arrays.score_table().saved()


def test_a_level_of_a_filter_may_stand_in_either_quotation_marks():
    p = Predictions.read(FRAME, true="y", score="a")
    for site in ("n", "'n'", '"n"'):
        assert p.filter(f"site == {site} and age >= 30").collect().rows == 2
    names = Predictions(Y, y_score=S, columns={"name": ["O'Neil", "'t Hart", "x", "x", "x", "x"]})
    for name in ("O'Neil", '"\'t Hart"', "'O\u2019Neil' "):
        kept = names.filter(f"name = {name}")
        assert kept.collect().rows == ("\u2019" not in name)


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "ibis-sqlite"])  # which has no dates
def test_a_filter_reads_days_and_times(engine):
    days = [date(2026, 1, day) for day in range(1, 21)]
    times = [datetime(2026, 1, day, 12) for day in range(1, 21)]  # noqa: DTZ001 - as most frames have them
    frame = pl.DataFrame({"y": [0, 1] * 10, "s": np.linspace(0, 1, 20), "day": days, "at": times})
    p = Predictions.read(ENGINES[engine](frame.to_arrow()), true="y", score="s")
    for condition, rows in (
        ("at >= 2026-01-11", 10),
        ("2026-01-05 <= at < 2026-01-15", 10),
        ("at < 2026-01-05T12:00:00", 4),
        ("day >= 2026-01-11", 10),
        ("day = 2026-01-03", 1),
        ('day = "2026-01-03"', 1),
        ("day not in (2026-01-03, 2026-01-04)", 18),
    ):
        # pandas and Dask hold days as objects or text, and times of Spark are in a time zone.
        name = next(name for name in ("day", "at") if name in condition)
        if (engine, name) in (("pandas", "day"), ("dask", "day"), ("pyspark", "at")):
            with pytest.raises(InputError, match=r"make (it|them) dates"):
                p.filter(f"{name} >= 2026-01-11").collect()
        else:
            assert p.filter(condition).rows == rows, condition
    for condition in ("at >= 11", "at = x", "s >= 2026-01-01"):
        with pytest.raises(InputError, match="dates"):
            p.filter(condition).collect()


def test_a_filter_by_columns_beside_arrays_goes_with_every_question():
    rows = {"y_true": Y, "y_score": S, "columns": {"age": FRAME["age"]}, "filter": "age >= 30"}
    kept = Predictions(**rows)
    assert (
        steelyard.decision_curve(**rows, thresholds=[0.5])[0].net_benefit
        == kept.decision_curve(thresholds=[0.5])[0].net_benefit
    )
    assert steelyard.at_prevalence(None, 0.1, **rows).n == kept.rows == 5
    with pytest.raises(InputTypeError, match="columns= has no place in decision_curve"):
        steelyard.decision_curve(Y, y_score=S, columns={"age": FRAME["age"]})


def test_a_tally_with_groups_gives_what_its_rows_give():
    p = Predictions.read(FRAME.with_columns(half=pl.Series([0, 1, 0, 1, 1, 0])), true="y", score="a", by="half")
    assert Predictions.of(p.tally()).by == ("half",)
    of_rows, of_table = p.decision_curve(thresholds=[0.2]), steelyard.decision_curve(p.tally(), thresholds=[0.2])
    assert [point.group for point in of_table] == ["half = 0", "half = 1"]
    assert [point.net_benefit for point in of_rows] == [point.net_benefit for point in of_table]


@pytest.mark.parametrize("option", [{"filter": "age >= 30"}, {"bins": 3}, {"cluster": Y}, {"frequency": Y}])
def test_a_table_refuses_options_of_rows(option):
    p = Predictions.read(FRAME, true="y", score="a", by="site")
    evaluation = p.evaluate()
    for counted in (p.tally(), p.score_table(), p.confusion(), evaluation):
        for ask in (steelyard.evaluate, lambda *given, **rows: steelyard.interval("recall", *given, **rows)):
            with pytest.raises(SteelyardError, match=r"is about rows|names the cluster of each row") as refused:
                ask(counted, **option)
            assert refused.value.argument in option


@pytest.mark.parametrize(
    ("rows", "option"),
    [
        (Predictions(Y, y_score=S), {"exact": True}),
        (Predictions(Y, y_score=S), {"weight": "age"}),
        (Predictions.read(FRAME, true="y", pred="y"), {"exact": True}),
        (Predictions.read(FRAME, true="y", score="a"), {"columns": FRAME}),
        (Predictions.read(FRAME, true="y", score="a"), {"sample_weight": S}),
        *((Predictions.of(steelyard.confusion(Y, Y)), {name: Y}) for name in ("sample_weight", "frequency", "cluster")),
        (Predictions.of(steelyard.confusion(Y, Y)), {"by": Y}),
        (Predictions.of(steelyard.score_table(Y, S)), {"pos_label": 0}),
    ],
)
def test_other_options_are_refused_as_those_that_come_with_the_rows(rows, option):
    with pytest.raises(SteelyardError, match=f"^({next(iter(option))}=|A ScoreTable)") as refused:
        rows.with_options(**option)
    with pytest.raises(SteelyardError) as in_call:
        steelyard.evaluate(rows, **option)
    assert str(in_call.value) == str(refused.value)
    rows.with_options(**dict.fromkeys(option))


def test_a_tally_is_asked_by_its_own_groups_alone():
    tally = Predictions.read(FRAME, true="y", score="a", by="site").tally()
    for by in ("site", ["site"], None):
        assert Predictions.of(tally, by=by).by == ("site",)
        assert {group.by for group in steelyard.evaluate(tally, by=by).groups} == {("site",)}
    with pytest.raises(InputError, match=r"^These rows were counted by 'site'; leave by= out, or give the rows\.$"):
        steelyard.evaluate(tally, by="age")
    with pytest.raises(InputError, match=r"counted by 'site'"):
        Predictions.of(tally, by=list(FRAME["site"]))
    with pytest.raises(InputError, match=r"^These rows were counted without groups; give the rows\.$"):
        steelyard.evaluate(Predictions(Y, y_score=S).tally(), by="site")


@pytest.mark.parametrize("columns", [FRAME, FRAME.to_pandas(), FRAME.to_arrow(), FRAME.to_dict(as_series=False)])
def test_rows_as_a_frame_have_the_columns_and_the_groups_beside_them(columns):
    site = FRAME["site"].to_list()
    frame = Predictions(Y, y_score=S, columns=columns, by=site).to_frame()
    assert frame.columns == ["y_true", "y_score", "group", "y", "a", "b", "site", "age"]
    assert frame["age"].to_list() == FRAME["age"].to_list() and frame["group"].to_list() == site
    assert Predictions(Y, y_score=S, columns=columns, by=["site"]).to_frame()["site"].to_list() == site
    with pytest.raises(InputTypeError, match="These rows are counted"):
        Predictions.of(steelyard.confusion(Y, Y)).to_frame()


def test_a_table_that_holds_its_rows_takes_their_clusters():
    both, cluster = np.column_stack([1 - S, S]), [1, 1, 2, 2, 3, 3]
    table = Predictions(Y, y_score=both).probability_table()
    of_rows = steelyard.interval("log_loss", Y, y_score=both, cluster=cluster)
    assert steelyard.interval("log_loss", table, cluster=cluster).to_dict() == of_rows.to_dict()


def test_a_tally_of_two_models_is_their_paired_table():
    p = Predictions(Y, {"new": Y, "old": 1 - Y})
    assert steelyard.tables.paired(p.tally()) == p.paired()


# ---------------------------------------------------------------- lazy, immutable, kept


def test_nothing_is_read_before_the_first_question(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.write_csv(path)
    p = Predictions.read(path, true="y", score="a")
    path.write_text("y,a\n0,0.1\n1,0.9\n")
    assert p.rows == 2


def test_a_file_that_changed_is_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.write_parquet(path)
    p = Predictions.read(path, true="y", score="a")
    assert p.score_table().n == 6
    FRAME.head(5).write_parquet(path)
    with pytest.raises(InputError, match="changed after it was read; read it again"):
        p.collect()


def test_a_frame_with_more_rows_than_were_counted_is_refused():
    import duckdb

    database = duckdb.connect()
    database.execute(
        "create table t as select * from (values (0, 0.1, 'n'), (1, 0.9, 's'), (1, 0.4, 's')) v(y, a, site)"
    )
    p = Predictions.read(database.table("t"), true="y", score="a")
    assert p.rows == 3
    database.execute("insert into t values (0, 0.2, 'n')")
    with pytest.raises(InputError, match="3 rows when it was counted and has 4 now"):
        p.collect()


def test_predictions_do_not_change():
    p = Predictions(Y, y_score=S)
    with pytest.raises(AttributeError, match="with_options"):
        p.threshold = 0.3
    assert p.threshold is None
    assert p.at(0.65).threshold == 0.65
    assert p.at(0.65).confusion().rows.tolist() == [[3, 0], [1, 2]]
    with pytest.raises(InputTypeError, match="Did you mean 'cluster'"):
        p.with_options(clusters=Y)


def test_tables_are_counted_once():
    p = Predictions(Y, y_score=S)
    assert p.score_table() is p.score_table()
    assert p.at(0.3).score_table() is p.score_table()
    assert p.with_options(sample_weight=S).score_table() is not p.score_table()


def test_what_was_kept_follows_the_threshold():
    p = Predictions.read(FRAME, true="y", score="a", cluster="site")
    assert p.collect().threshold is None
    assert p.at(0.65).collect().threshold == 0.65
    fresh = Predictions.read(FRAME, true="y", score="a", cluster="site", threshold=0.65)
    p.evaluate(draws=40)
    assert p.at(0.65).evaluate(draws=40).to_dict() == fresh.evaluate(draws=40).to_dict()


def test_scores_in_bins_are_counted_again_where_a_threshold_divides_one():
    many = pl.DataFrame({"y": np.arange(200_000) % 2, "a": np.linspace(0.0002, 0.9998, 200_000)})
    p = Predictions.read(many, true="y", score="a", exact=False)
    assert len(p.score_table().bins)
    for threshold in (0.31234567, 0.7654321):
        expected = int((many["a"] >= threshold).sum())
        assert p.at(threshold).confusion().rows[:, 1].sum() == expected


def test_threads_share_predictions():
    p, found = Predictions(Y, y_score=S), []
    threads = [threading.Thread(target=lambda: found.append(p.interval("roc_auc").value)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_arrays_tables_and_paths_are_pickled_and_live_frames_are_not(tmp_path):
    import duckdb

    path = tmp_path / "rows.parquet"
    FRAME.write_parquet(path)
    for p in (
        Predictions(Y, y_score=S),
        Predictions.of(steelyard.Counts(1, 2, 3, 4)),
        Predictions.read(path, true="y", score="a"),
    ):
        again = pickle.loads(pickle.dumps(p))
        assert again.confusion().rows.tolist() == p.confusion().rows.tolist()
    with pytest.raises(InputTypeError, match="collect"):
        pickle.dumps(Predictions.read(duckdb.from_arrow(FRAME.to_arrow()), true="y", score="a"))


def test_equality_is_identity_and_there_is_no_length():
    p = Predictions(Y, y_score=S)
    assert p != Predictions(Y, y_score=S)
    assert p
    for ask in (len, iter):
        with pytest.raises(TypeError):
            ask(p)


# ---------------------------------------------------------------- what it shows


def test_it_prints_what_it_holds():
    p = Predictions.read(FRAME, true="y", score=["a", "b"], by="site", cluster="age")
    assert repr(p).splitlines() == [
        "Predictions of 6 rows in a frame (Polars)",
        "  truth    y: 3 are 0 (50 %), 3 are 1; the positive class is 1",
        "  models   a, b: probabilities; threshold 0.5 (assumed)",
        "  design   random; 6 clusters by age",
        "  groups   site: 2",
    ]
    assert "<pre>" in p._repr_html_()


def test_the_print_of_rows_that_cannot_be_read_says_why():
    shown = repr(Predictions.read(FRAME, true="label", score="a"))
    assert "no column 'label'" in shown


def test_a_remote_frame_is_not_counted_by_its_print(monkeypatch):
    import duckdb

    p = Predictions.read(duckdb.from_arrow(FRAME.to_arrow()), true="y", score="a", by="site", cluster="age")
    monkeypatch.setattr("steelyard.frames.queries.collect", lambda frame: pytest.fail("a query was sent"))
    assert repr(p).splitlines()[:2] == ["Predictions of rows in a frame (DuckDB)", "  truth    y"]


def test_facts_of_rows():
    p = Predictions.read(FRAME, true="y", score="a", by="site", threshold=0.5)
    facts = p.kind, p.rows, p.labels, p.positive, p.by, p.engine, p.source, p.has_truth, p.design
    assert facts == ("scores", 6, (0, 1), 1, ("site",), "polars", "a frame", True, "random")
    assert Predictions(["no", "yes"] * 3, ["no", "yes"] * 3).assumed[0].startswith("The positive class is 'yes'")
    assert not Predictions(y_score=S).has_truth
    assert Predictions.of(steelyard.Counts(1, 2, 3, 4)).kind == "counted"


# ---------------------------------------------------------------- questions


TABLES = {"confusion", "score_table", "tally"}  # of these rows, which are no questions
METHODS = sorted(set(dir(Predictions(Y, Y))) & set(dir(steelyard)) - TABLES)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_the_question(name):
    p = Predictions(Y, y_score=S)
    method = getattr(p, name)
    assert method.__doc__ == getattr(steelyard, name).__doc__
    assert name in dir(p)


@pytest.mark.parametrize("name", METHODS)
def test_own_keywords_and_row_options_are_disjoint_and_few(name):
    function = getattr(steelyard, name)
    own = inspect.signature(inspect.unwrap(function), follow_wrapped=False).parameters
    shown = inspect.signature(function).parameters
    options = set(RowOptions.__annotations__)
    asked = [each for each in shown if each not in options]
    keywords = [each for each in asked if shown[each].kind is inspect.Parameter.KEYWORD_ONLY]
    assert len(keywords) <= 12 if name == "sample_size" else len(keywords) <= 10, keywords
    assert options <= set(shown), f"{name} lists no row options"
    assert own


def test_an_unknown_keyword_is_answered_by_the_near_one():
    with pytest.raises(InputTypeError, match=r"no y_prob=.*y_score"):
        steelyard.evaluate(Y, y_prob=S)
    with pytest.raises(InputTypeError, match=r"part of a metric.s name"):
        steelyard.interval("f1", Y, S > 0.5, average="macro")
    with pytest.raises(AttributeError, match="Did you mean 'evaluate'"):
        Predictions(Y, S > 0.5).evaluat  # noqa: B018 - asked for


def test_what_changes_numbers_is_refused_and_what_does_not_is_ignored_where_it_is_carried():
    p = Predictions(Y, S > 0.5, cluster=[1, 1, 2, 2, 3, 3], by={"site": list("nnssns")})
    with pytest.raises(InputTypeError, match=r"with_options\(cluster=None\)"):
        p.beats_chance()
    free = p.with_options(cluster=None)
    assert free.beats_chance().p_value == steelyard.beats_chance(Y, S > 0.5).p_value
    with pytest.raises(InputTypeError, match="one result"):
        steelyard.beats_chance(Y, S > 0.5, by=list("nnssns"))


def test_a_measure_takes_predictions_of_one_model():
    p = Predictions(Y, y_score=S)
    assert steelyard.roc_auc(p) == steelyard.roc_auc(Y, S)
    assert steelyard.recall(p.at(0.5)) == steelyard.recall(Y, (S >= 0.5).astype(int))
    labels = Predictions(["no", "yes"] * 3, ["no", "no", "yes", "yes", "no", "yes"])
    assert steelyard.recall(labels) == steelyard.recall(labels.confusion(), pos_label="yes")
    assert steelyard.recall(labels, average="macro") == steelyard.recall(labels.confusion(), average="macro")
    with pytest.raises(InputError, match=r"predictions\.at\(0\.5\)"):
        steelyard.recall(p)
    with pytest.raises(InputTypeError, match="belongs to the rows"):
        steelyard.roc_auc(p, sample_weight=S)


def test_editors_complete_the_row_options():
    from IPython.core.completer import provisionalcompleter
    from IPython.core.interactiveshell import InteractiveShell

    shell, typed = InteractiveShell.instance(), "steelyard.evaluate(y, clu"
    shell.push({"steelyard": steelyard})
    with provisionalcompleter():
        shell.Completer.use_jedi = False
        assert "cluster=" in {each.text for each in shell.Completer.completions(typed, len(typed))}
    jedi = pytest.importorskip("jedi")
    names = {c.name for c in jedi.Interpreter("steelyard.evaluate(y, fre", [{"steelyard": steelyard}]).complete()}
    assert "frequency=" in names


def test_arrays_give_the_numbers_that_the_matrix_expects():
    assert len(expected("evaluate", "scores", "plain")) > 100
