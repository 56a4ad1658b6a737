"""The audit: every property decided for every metric, the papers' tables again, and each verdict checked anew."""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest
from checks import decide
from oracle import ORACLE

import steelyard
from steelyard import SteelyardError, audit, get_metric, list_metrics
from steelyard.auditing import decisions as decision_store
from steelyard.auditing import exact_values, laws, proof, properties, rulings, score_rulings, symbolic
from steelyard.auditing.identities import combinations
from steelyard.metrics import Metric, harsher, identities, metric, ratio, sqrt, where
from steelyard.metrics.expression import SYMBOLS, as_expression

PROVED, REFUTED, UNDEFINED, DOES_NOT_APPLY = "proved", "refuted", "undefined everywhere", "does not apply"
CELLS = ("tp", "fn", "fp", "tn")
PROPERTIES = laws.PROPERTIES
BIBLIOGRAPHY = Path(steelyard.metrics.__file__).with_name("references.bib").read_text(encoding="utf-8")
REFERENCES = set(re.findall(r"^@\w+\{([^,]+),", BIBLIOGRAPHY, re.MULTILINE))

CHECKS = int(os.environ.get("STEELYARD_AUDIT_CHECKS", "400"))  # tables on which each proof is checked; 10,000 by hand
EQUALITY = [name for name, property_ in PROPERTIES.items() if property_.is_equality]


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    """An empty cache, and none that comes with the package."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(decision_store, "shipped", dict)
    yield tmp_path / "steelyard" / "audit.json"
    decision_store.stored_decisions.cache_clear()


@pytest.fixture(scope="module")
def decisions(tmp_path_factory):
    """All decisions, made anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("audit")))
        patch.setattr(decision_store, "shipped", dict)
        patch.setattr(proof, "LONGEST", 3600.0)  # seconds: what is proved is no matter of how fast the machine is
        decision_store.stored_decisions.cache_clear()
        rows = audit()
    decision_store.stored_decisions.cache_clear()
    return {(row.metric, row.property): row for row in rows}


@pytest.fixture(scope="module")
def equations():
    return identities()


# ---------------------------------------------------------------- the papers


COLUMNS = {
    "TPr": "recall", "TNr": "specificity", "Prec": "precision", "Acc": "accuracy", "Gm": "g_mean",
    "AUC": "balanced_accuracy", "F1": "f1", "OP": "optimized_precision", "IBA": "iba", "kappa": "kappa",
    "AGm": "adjusted_g_mean", "cwA": "class_weighted_accuracy", "wAUC": "weighted_auc",
}  # fmt: skip


def garcia_row(metric):
    """A metric's column of García's Table 2, p1 to p5: "-" invariant, "+" not."""
    return "".join(
        {True: "-", False: "+"}[row.holds] for row in audit(metric, properties=["p1", "p2", "p3", "p4", "p5"])
    )


def test_garcia_table_2_as_printed(golden, decisions):
    printed = golden("papers")["garcia_table2"]["paper"]
    assert {column: garcia_row(name) for column, name in COLUMNS.items()} == printed
    assert sum(map(len, printed.values())) == 65


def test_the_one_qualification_of_table_2_and_its_kin():
    for name in ("class_weighted_accuracy[w=0.5]", "iba[alpha=0]", "weighted_auc[rho=0]"):
        assert garcia_row(name) == "-++++", name


@pytest.mark.parametrize(
    ("row", "names"),
    {
        "-++++": "tpnr ac_score mcc informedness alpha_accuracy",
        "+++++": "alpha_precision alpha_f1",
        "++--+": "negative_predictive_value",
    }.items(),
)
def test_the_other_papers_metrics_in_garcia_terms(row, names, decisions):
    assert {name: garcia_row(name) for name in names.split()} == dict.fromkeys(names.split(), row)


def holding(decisions, name):
    return {metric for (metric, property_name), row in decisions.items() if property_name == name and row.holds}


def test_what_does_not_change_with_prevalence(decisions):
    kept = holding(decisions, "prevalence_invariance")
    assert kept >= {
        "recall", "specificity", "balanced_accuracy", "g_mean", "ac_score", "tpnr", "informedness", "iba",
        "class_weighted_accuracy", "weighted_auc", "alpha_accuracy", "alpha_precision", "alpha_f1",
    }  # fmt: skip
    changing = {"accuracy", "precision", "f1", "mcc", "kappa", "optimized_precision", "adjusted_g_mean"}
    assert all(decisions[name, "prevalence_invariance"].verdict == REFUTED for name in changing)


def test_what_does_not_change_when_the_classes_are_swapped(decisions):
    kept = holding(decisions, "class_symmetry")
    assert kept == holding(decisions, "p1")
    assert kept >= {
        "accuracy", "balanced_accuracy", "g_mean", "tpnr", "ac_score", "mcc", "kappa", "optimized_precision",
        "informedness", "alpha_accuracy",
    }  # fmt: skip
    assert not kept & {
        "recall", "specificity", "precision", "f1", "alpha_precision", "alpha_f1", "iba", "adjusted_g_mean",
        "class_weighted_accuracy", "weighted_auc",
    }  # fmt: skip


def test_asawa_wants_both_and_finds_the_winners(decisions):
    winners = holding(decisions, "prevalence_invariance") & holding(decisions, "class_symmetry")
    candidates = {"accuracy", "precision", "recall", "f1", "specificity", "balanced_accuracy", "mcc", "kappa", "tpnr"}
    assert winners & candidates == {"tpnr", "balanced_accuracy"}


def test_wu_order_and_conditions(decisions):
    assert harsher("ac_score", "g_mean").verdict == PROVED
    assert harsher("g_mean", "balanced_accuracy").verdict == PROVED
    assert harsher("ac_score", "balanced_accuracy").verdict == PROVED
    assert harsher("balanced_accuracy", "g_mean").counterexample.before == (0, 1, 0, 1)
    kept = holding(decisions, "equal_recalls_kept")
    assert kept >= {"ac_score", "g_mean", "balanced_accuracy"}
    assert not kept & {"informedness", "tpnr"}
    assert holding(decisions, "zero_when_a_class_fails") >= {"ac_score", "g_mean", "tpnr"}
    assert "balanced_accuracy" not in holding(decisions, "zero_when_a_class_fails")


def test_harsher_elsewhere():
    assert harsher("tpnr", "ac_score").verdict == PROVED
    assert harsher("jaccard", "f1").verdict == PROVED
    assert harsher("jaccard", "f1").headline.startswith("jaccard: It is harsher than f1. This is proved (algebra: ")
    assert harsher("optimized_precision", "accuracy").verdict == PROVED
    assert harsher("weighted_auc", "balanced_accuracy").verdict.startswith("no counterexample among")
    # Of metrics that are to be low the harsher is the higher one.
    assert harsher("error_rate", "expected_cost").verdict == PROVED
    assert harsher("false_negative_rate", "error_rate").verdict == REFUTED
    with pytest.raises(SteelyardError, match="not both better when higher"):
        harsher("accuracy", "error_rate")
    with pytest.raises(SteelyardError, match="not both better when higher"):
        harsher("prevalence", "dominance")


def test_chance_is_constant_for_the_corrected_metrics(decisions):
    kept = holding(decisions, "approximate_constant_baseline")
    assert kept >= {"mcc", "kappa", "informedness", "markedness", "balanced_accuracy", "weighted_auc"}
    assert not kept & {"accuracy", "f1", "precision", "g_mean", "ac_score", "tpnr"}


# ---------------------------------------------------------------- the share decided, and the time


OPEN = {
    ("adjusted_g_mean", "monotone_tn"),
    *(("weighted_auc", f"monotone_{cell}") for cell in ("tp", "fn", "fp", "tn")),
    *(("weighted_auc", name) for name in ("maximal_agreement", "minimal_agreement", "corrections_improve")),
    ("optimized_precision", "maximal_agreement"),
    ("correlation_distance", "distance"),
    ("normalized_expected_cost", "fixed_threshold"),
    *(("normalized_expected_cost", f"monotone_{cell}") for cell in ("tp", "tn")),
}
WITHOUT_A_BEST = ("positive_likelihood_ratio", "diagnostic_odds_ratio")
NOWHERE = {
    *((name, property_name) for name in WITHOUT_A_BEST for property_name in ("maximal_agreement", "distance")),
    ("optimized_precision", "minimal_agreement"),
    ("negative_likelihood_ratio", "minimal_agreement"),
    ("diagnostic_odds_ratio", "constant_baseline"),
}


def test_every_pair_is_decided_but_those_named_here(decisions):
    of_labels = itertools.product((m.name for m in list_metrics() if m.function), PROPERTIES)
    assert decisions.keys() == {*of_labels, *((m.name, "prevalence_invariance") for m in OF_SCORES)}
    undecided = {pair for pair, row in decisions.items() if row.holds is None and row.verdict != DOES_NOT_APPLY}
    assert undecided == OPEN | NOWHERE
    assert not [pair for pair in OPEN if pair[1] in EQUALITY]
    for pair in OPEN:
        assert decisions[pair].verdict.startswith("no counterexample among ")
        assert decisions[pair].how.endswith("exact search; no proof found")
    assert {decisions[pair].verdict for pair in OPEN if "monotone" in pair[1]} == {
        "no counterexample among 2,791 exact tables"
    }
    assert {decisions[pair].verdict for pair in NOWHERE} == {UNDEFINED}


def test_no_metric_is_monotone_a_distance_and_of_a_constant_baseline(decisions):
    """The impossibility theorem of Gösgens and others (2021): each two of the three go together, all three do not."""
    monotone, distances, constant = (
        holding(decisions, name) for name in ("corrections_improve", "distance", "constant_baseline")
    )
    assert not monotone & distances & constant
    assert {"accuracy", "error_rate"} <= monotone & distances
    assert {"mcc", "symmetric_balanced_accuracy", "balanced_accuracy"} <= monotone & constant
    distant = decisions["correlation_distance", "distance"]
    assert "correlation_distance" in monotone and distant.verdict.endswith(" triples of labellings")
    assert decisions["correlation_distance", "constant_baseline"].verdict == REFUTED
    assert decisions["correlation_distance", "approximate_constant_baseline"].verdict == PROVED


def test_a_baseline_may_be_constant_on_the_independent_table_and_not_on_average(decisions):
    for name in ("positive_likelihood_ratio", "negative_likelihood_ratio", "weighted_auc", "alpha_precision"):
        assert decisions[name, "approximate_constant_baseline"].holds, name
        assert decisions[name, "constant_baseline"].holds is False, name


def test_the_threshold_on_true_probabilities_is_that_of_the_costs(decisions):
    above = {
        name: decisions[name, "fixed_threshold"].how for name in ("accuracy", "net_benefit", "recall", "specificity")
    }
    assert above == {
        "accuracy": "algebra: the rows above 1/2",
        "net_benefit": "algebra: the rows above 1/2",
        "recall": "algebra: the rows above 0",
        "specificity": "algebra: the rows above 1",
    }
    assert decide("net_benefit[threshold=0.2]", "fixed_threshold").how.endswith(" 1/5")
    assert decide("expected_cost[cost_fn=10,cost_tp=1]", "fixed_threshold").how.endswith(" 1/10")
    assert decisions["balanced_accuracy", "fixed_threshold"].holds is False


def test_only_descriptions_have_no_order(decisions):
    without = {pair for pair, row in decisions.items() if row.verdict == DOES_NOT_APPLY}
    upward = {name for name, property_ in PROPERTIES.items() if property_.upward}
    assert {name for name, property_name in without if property_name not in upward} == {
        m.name for m in list_metrics("description")
    }
    assert {name for name, _ in without} == {m.name for m in list_metrics() if m.function and m.direction != "higher"}


def test_each_property_says_what_it_is_who_wants_it_and_where():
    for property_ in PROPERTIES.values():
        assert property_.meaning.endswith(".") and property_.wanted.endswith(".")
        assert set(property_.cite) <= REFERENCES
    for name in ("p1", "class_symmetry"):
        assert all(who in PROPERTIES[name].wanted for who in ("García", "Asawa", "Wu"))
        assert {"garcia2012", "asawa", "wu2025"} == set(PROPERTIES[name].cite)


# ---------------------------------------------------------------- each verdict anew, by the oracle


def close(a, b):
    return a == b if isinstance(a, Fraction) and isinstance(b, Fraction) else abs(mp(a) - mp(b)) < mpmath.mpf(10) ** -45


def mp(value):
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, (Fraction, int)) else mpmath.mpf(value)


def written(value):
    return Fraction(value) if "." not in value and "E" not in value else mpmath.mpf(value)


WITHOUT_TABLE = ("bounds_attained", "constant_baseline", "distance", "fixed_threshold")  # their reason says what fails


def test_each_refutation_in_exact_arithmetic(decisions):
    checked = 0
    for (name, property_name), row in decisions.items():
        found = row.counterexample
        has_table = get_metric(name).function is not None and property_name not in WITHOUT_TABLE
        assert (found is not None) == (row.verdict == REFUTED and has_table)
        if found is None:
            continue
        checked += 1
        value = ORACLE[name](*found.before)
        assert close(value, written(found.value)), (name, property_name)
        if found.after is not None:
            assert close(ORACLE[name](*found.after), written(found.other)), (name, property_name)
        strict = property_name in ("maximal_agreement", "minimal_agreement", "corrections_improve", "strictly_monotone")
        assert strict or not close(written(found.value), written(found.other))
        assert refers(PROPERTIES[property_name], found), (name, property_name, found)
        if property_name.startswith("monotone"):
            worse = mp(written(found.other)) < mp(written(found.value))
            lower = get_metric(name).direction == "lower"
            assert worse == ((property_name[-2:] in ("tp", "tn")) != lower), (name, property_name)
    assert checked > 300


def refers(property_, found):
    """Whether the two tables are a case of the property, from its words."""
    (tp, fn, fp, tn), after = found.before, found.after
    match property_.name:
        case "p1" | "class_symmetry":
            return after == (tn, fp, fn, tp)
        case "prevalence_invariance":
            return after[2:] == (fp, tn) and after[0] * fn == after[1] * tp
        case "equal_recalls_kept":
            return tp * (fp + tn) == tn * (tp + fn) and Fraction(tp, tp + fn) == written(found.other)
        case "zero_when_a_class_fails":
            return tp * tn == 0 and tp + fn and fp + tn and found.other == "0"
        case "approximate_constant_baseline":
            return tp * tn == fn * fp and after == (1, 1, 1, 1)
        case "no_credit_when_a_class_fails":
            return tp * tn == 0 and tp + fn and fp + tn and mp(written(found.value)) > 0
        case "transposition_symmetry":
            return after == (tp, fp, fn, tn)
        case "maximal_agreement":
            return after == (1, 0, 0, 1) and (fn + fp == 0 or (tp + fn and fp + tn))
        case "minimal_agreement":
            return after == (0, 1, 1, 0) and (tp + tn == 0 or (tp + fn and fp + tn))
        case "corrections_improve":
            moved = [b - a for a, b in zip(found.before, after, strict=True)]
            return moved[0] == -moved[1] >= 0 and moved[3] == -moved[2] >= 0 and sum(map(bool, moved)) == 2
        case "strictly_monotone":
            return sum(a != b for a, b in zip(found.before, after, strict=True)) == 1
        case "leans_to_positives":
            return tp + fn == fp + tn and tn > tp and after == (tn, fp, fn, tp)
    changed = [cell for cell, a, b in zip(("tp", "fn", "fp", "tn"), found.before, after, strict=True) if a != b]
    return changed == [{"p2": "tn", "p3": "fp", "p4": "tp", "p5": "fn"}.get(property_.name, property_.name[-2:])]


def test_the_counterexample_is_the_smallest():
    found = decide("weighted_auc", "p1").counterexample
    tables = sorted((t for t in laws.CLASS_SWAP.small_cases if sum(t) < sum(found.before)), key=sum)
    assert all(
        None in (values := [ORACLE["weighted_auc"](*t), ORACLE["weighted_auc"](*t[::-1])]) or values[0] == values[1]
        for t in tables
    )
    assert decide("accuracy", "p2").counterexample.before == (0, 0, 1, 0)


def rational(rng, *, positive):
    return Fraction(0) if not positive and rng.random() < 0.1 else Fraction(rng.randint(1, 300), rng.randint(1, 12))


def drawn(law, rng, tables):
    """Random rational values of a law, now and then a 0; laws about any table share the tables."""
    if law.variables[:4] == CELLS:
        yield from ((*cells, *(rational(rng, positive=True) for _ in law.variables[4:])) for cells in tables)
        return
    for _ in tables:
        values = [0]
        while len(values) == 1 or not law.valid(*values):
            values = [rational(rng, positive=name in law.positive.split()) for name in law.variables]
        yield values


def test_each_proof_on_random_rational_tables(decisions):
    rng = random.Random(3)
    tables = [tuple(rational(rng, positive=False) for _ in range(4)) for _ in range(CHECKS)]
    laws = {law for property_ in PROPERTIES.values() for law in property_.laws}
    cases = {law: list(drawn(law, rng, tables)) for law in laws}
    proofs = [
        (name, PROPERTIES[property_name])
        for (name, property_name), row in decisions.items()
        if row.holds and get_metric(name).function
    ]
    assert len(proofs) > 250
    for metric in {name: get_metric(name) for name, _ in proofs}.values():
        value = cache(lambda *cells, name=metric.name: ORACLE[name](*four_cells(cells)))
        for law in {law for name, property_ in proofs if name == metric.name for law in property_.laws}:
            checked = sum(agrees(metric, value, law, values) for values in cases[law])
            assert checked > CHECKS / 3, (metric.name, law)


def four_cells(cells):
    """The table times its common denominator, which no metric notices."""
    times = math.lcm(*(Fraction(cell).denominator for cell in cells))
    return [int(cell * times) for cell in cells]


def agrees(metric, value, law, values):
    """Whether both sides are defined; that they relate as claimed is asserted."""
    against = law.against(*values)
    here, there = value(*law.before(*values)), value(*against) if isinstance(against, tuple) else Fraction(against)
    if here is None or there is None or not law.valid(*values):
        return False
    assert not close(here, there) or "=" in law.relation, (metric.name, values)
    if not close(here, there):
        assert law.relation != "=", (metric.name, values)
        rises = (law.relation[0] == "<") == (metric.direction == "higher")
        assert rises == (mp(here) < mp(there)), (metric.name, values)
    return True


# ---------------------------------------------------------------- identities


def test_the_identities_of_the_papers_are_found_and_proved(equations):
    found = {identity.law: identity for identity in equations}
    expected = {
        "alpha_accuracy = balanced_accuracy": "equal",
        "f1 = f_beta": "equal",
        "alpha_recall = recall": "equal",
        "expected_cost = error_rate": "equal",
        "informedness = 2 * balanced_accuracy - 1": "affine",
        "error_rate = 1 - accuracy": "affine",
        "false_negative_rate = 1 - recall": "affine",
        "mean_absolute_class_error = error_rate": "equal",
        "macro_mean_absolute_class_error = 1 - balanced_accuracy": "affine",
        "tpnr = g_mean ** 2": "power",
        "jaccard = f1 / (2 - f1)": "fractional",
        "positive_likelihood_ratio = alpha_precision / (1 - alpha_precision)": "fractional",
    }
    assert {law: found[law].relation for law in expected} == expected
    assert [identity.law for identity in equations if identity.verdict != PROVED] == [
        "correlation_distance orders as mcc"
    ]
    assert len(equations) == 23


def test_metrics_made_of_two_others_are_found_and_proved():
    found = {law.law: law.verdict for law in combinations()}
    expected = [
        "alpha_precision = recall / (recall + false_positive_rate)",
        "tpnr = recall * specificity",
        "tpnr = balanced_accuracy * ac_score",
        "ac_score = 2 * recall * specificity / (recall + specificity)",
        "mcc ** 2 = informedness * markedness",
        "g_mean ** 2 = recall * specificity",
        "p4 = 2 * f1 * negative_f1 / (f1 + negative_f1)",
    ]
    assert set(expected) <= found.keys()
    assert set(found.values()) == {PROVED}


def test_a_monotone_function_without_a_simple_law_is_still_told():
    @metric("Cube", range=(0, 1))
    def cubed(c):
        """Recall to the power of three."""
        return ratio(c.tp, c.positives) ** 3

    (law,) = identities(["recall", "cubed"])
    assert (law.relation, law.law) == ("monotone", "cubed orders as recall")
    assert law.verdict == "no counterexample among 300 exact tables"


def test_an_opaque_function_equal_to_a_metric_is_recognised():
    def branching(tp, fn, fp, tn):
        return tp / (tp + fn) if tp > 0 else 0.0 * fn

    (law,) = identities([branching, "recall"])
    assert law.law == "recall = branching"
    assert law.verdict == "no counterexample among 300 exact tables"


# ---------------------------------------------------------------- the algebra itself


def grown(rng, depth):
    """A random formula of everything that formulas are made of."""
    if depth == 0:
        return rng.choice([*SYMBOLS, as_expression(rng.choice([1, 2, 0.5, 0.1, 8]))])
    a, b = grown(rng, depth - 1), grown(rng, depth - 1)
    cells = rng.sample(list(SYMBOLS), 2)
    made = [
        a + b, a - b, a * b, a / b, ratio(a, b), ratio(a, b, limit=0), abs(a - b), sqrt(a), sqrt(a * a * b), -a, a**2,
        a**-1, b**0.5, where(cells[0] > cells[1], a, b), where(cells[0] == cells[1], a, b), where(a + b <= 2, b, a),
    ]  # fmt: skip
    return rng.choice(made)


def polynomial(poly, values):
    return sum(Fraction(int(c.numerator), int(c.denominator)) * math.prod(x**e for x, e in zip(values, powers, strict=True))
               for powers, c in poly.terms())  # fmt: skip


def numbers(total, values):
    """A sum of terms at some values of its values, without the algebra; None at a pole or a root of less than 0."""
    value = mpmath.mpf(0)
    for (under, places), part in total.terms.items():
        signs = [(sign, polynomial(p, values)) for sign, p in places]
        if all(at > 0 if sign == "+" else at == 0 for sign, at in signs):
            below, inside = polynomial(part.denom, values), polynomial(under, values)
            if below == 0 or inside < 0:
                return None
            value += mp(polynomial(part.numer, values) / below) * mpmath.sqrt(mp(inside))
    return value


def test_symbolic_formulas_have_the_formulas_values():
    rng, checked = random.Random(5), 0
    for _ in range(650):
        formula, field = exact_values.ExactFormula(grown(rng, 3)), symbolic.SymbolicField(CELLS)
        there = [rng.random() < 0.85 for _ in range(4)]
        try:
            total = symbolic.symbolic_value(
                formula, [x if t else field.number(0) for x, t in zip(field.variables, there, strict=True)]
            )
        except symbolic.Unprovable:
            continue
        for _ in range(5):
            values = [Fraction(rng.choice((1, 1, 2, 3, 5)), rng.choice((1, 1, 2))) for _ in range(4)]
            value = formula.value([x if t else 0 for x, t in zip(values, there, strict=True)])
            if total is None:
                assert value is None, formula.node
            elif value is not None and (other := numbers(total, values)) is not None:
                checked += 1
                near = mpmath.mpf(10) ** -40 * max(1, abs(other))
                assert abs(mp(value if isinstance(value, Fraction) else str(value)) - other) < near, formula.node
    assert checked > 1500


def test_what_is_the_same_by_its_parts_has_the_same_values():
    rng, checked = random.Random(7), 0
    for _ in range(400):
        formula, field = exact_values.ExactFormula(grown(rng, 3)), symbolic.SymbolicField((*CELLS, "k"))
        *cells, k = field.variables
        times = rng.choice([(0, 0, 0, 0), (1, 1, 0, 0), (0, 0, 1, 1), (1, 0, 0, 1), (1, 1, 1, 1)])
        if not symbolic.same_by_parts(
            formula, cells, [cell * k if one else cell for cell, one in zip(cells, times, strict=True)]
        ):
            continue
        for _ in range(5):
            table = [Fraction(rng.randint(1, 7)) for _ in range(4)]
            scaled = [cell * 3 if one else cell for cell, one in zip(table, times, strict=True)]
            assert formula.value(table) == formula.value(scaled), formula.node
            checked += any(times)
    assert checked > 200


def test_a_long_metric_of_the_recalls_is_the_same_at_any_prevalence_and_open_where_its_cases_are_too_many():
    rows = {name: decide("weighted_auc[bands=50]", name) for name in ("prevalence_invariance", "monotone_fp")}
    assert rows["prevalence_invariance"].verdict == PROVED
    assert rows["monotone_fp"].holds is None and "no proof found" in rows["monotone_fp"].how
    formula, field = (
        exact_values.ExactFormula(exact_values.exact_expression(get_metric("weighted_auc[bands=200]"))),
        symbolic.SymbolicField((*CELLS, "k")),
    )
    tp, fn, fp, tn, k = field.variables
    assert symbolic.same_by_parts(formula, [tp, fn, fp, tn], [tp * k, fn * k, fp, tn])
    assert not symbolic.same_by_parts(formula, [tp, fn, fp, tn], [tp * k, fn, fp, tn])


# ---------------------------------------------------------------- formulas of one's own


def test_a_wrong_formula_gets_other_verdicts(decisions):
    @metric("A slip", range=(0, 1))
    def wrong_balanced_accuracy(c):
        """Balanced accuracy with fp for fn in the first denominator."""
        return (ratio(c.tp, c.tp + c.fp) + ratio(c.tn, c.fp + c.tn)) / 2

    right = {property_name: decisions["balanced_accuracy", property_name].verdict for property_name in PROPERTIES}
    wrong = {row.property: row.verdict for row in audit("wrong_balanced_accuracy")}
    changed = {property_name for property_name in PROPERTIES if right[property_name] != wrong[property_name]}
    assert changed == {
        "p1", "class_symmetry", "p5", "prevalence_invariance", "equal_recalls_kept", "approximate_constant_baseline",
        "leans_to_positives", "maximal_agreement", "corrections_improve", "constant_baseline",
    }  # fmt: skip
    assert garcia_row("wrong_balanced_accuracy") == "++++-"
    (law,) = identities(["wrong_balanced_accuracy", "balanced_accuracy", "informedness"])
    assert "wrong_balanced_accuracy" not in law.metrics
    assert harsher("g_mean", "wrong_balanced_accuracy").verdict == REFUTED


def test_roots_sums_of_roots_absolute_values_and_branches_are_proved():
    @metric("Twisted", range=(0, 10))
    def twisted(c):
        """A formula with everything in it."""
        r, s = ratio(c.tp, c.positives), ratio(c.tn, c.negatives)
        return where(r > s, abs(s - r) / (1 + sqrt(r * s)), abs(r - s) * (2 - sqrt(4 * r * s)) / (2 - 2 * r * s))

    rows = {row.property: row for row in audit("twisted", properties=EQUALITY)}
    # Both branches are |r - s| / (1 + sqrt(r s)), written differently; the second is 0/0 where both recalls are 1.
    assert {name for name, row in rows.items() if row.holds} == {"p1", "class_symmetry", "prevalence_invariance"}


HIDDEN = {
    "a limit": lambda c: ratio(c.tp - 5, c.tp - 5, limit=0),
    "a comparison": lambda c: where(ratio(c.tp - 5, c.tp - 5) > 0, 1, 0) + 0 * c.fn,
    "a limit far away": lambda c: ratio(c.tp - 5000, c.tp - 5000, limit=0),
    "a comparison far away": lambda c: where(ratio(c.tp - 5000, c.tp - 5000) > 0, 1, 0) + 0 * c.fn,
}


@pytest.mark.parametrize("case", HIDDEN)
def test_a_division_by_zero_among_larger_tables_is_no_proof(case):
    for name in ("p1", "p4"):
        row = decide(HIDDEN[case], name)
        assert row.verdict == REFUTED if "far" not in case else row.holds is not True, row


def test_a_proof_that_a_table_contradicts_is_a_refutation(monkeypatch):
    monkeypatch.setattr(rulings, "proved", lambda audited, law: "algebra: a slip")
    broken = decide(lambda c: where(c.tp == 7, 1.0, 0.0) + 0 * c.fn, "p4")
    assert broken.verdict == REFUTED and 7 in (broken.counterexample.before[0], broken.counterexample.after[0])


def test_a_value_outside_the_declared_range_is_refuted_with_the_table():
    formula = Metric.from_function(lambda c: 10 + 0 * ratio(c.tp, c.total), "Ten", range=(-1, 1))
    opaque = Metric.from_function(lambda tp, fn, fp, tn: 10.0 if tn else 0.0, "Ten or none", range=(0, 1))
    late = Metric.from_function(lambda c: c.tp / 100, "Late", range=(0, 1))
    for own, table, value in ((formula, (0, 0, 0, 1), 10), (opaque, (0, 0, 0, 1), 10), (late, None, None)):
        decision = decide(own, "bounds_attained")
        assert decision.verdict == REFUTED and "outside the range" in decision.how, own.title
        assert table is None or decision.counterexample.before == table
        assert value is None or float(decision.counterexample.value) == value
    assert decide("iba[alpha=1]", "bounds_attained").counterexample is None
    assert decide("expected_cost[cost_fn=10]", "bounds_attained").verdict == PROVED


def test_a_constant_and_a_power_that_is_no_root():
    @metric("Constant", range=(0, 1))
    def constant(c):
        """Always a half."""
        return 0 * ratio(c.tp, c.total) + 0.5

    assert garcia_row("constant") == "-----"
    assert decide("constant", "approximate_constant_baseline").verdict == PROVED
    assert decide("constant", "bounds_attained").how == "algebra: no table reaches 0 or 1"

    @metric("Odd power", range=(0, 1))
    def odd_power(c):
        """Recall to the power of 0.3, each side raised by itself."""
        return ratio(c.tp**0.3, c.positives**0.3)

    row = decide("odd_power", "prevalence_invariance")
    assert row.verdict.startswith("no counterexample among 2,") and row.how == "exact search; no proof found"
    assert decide("odd_power", "p4").verdict == REFUTED
    # What is made of the recall alone is as invariant as the recall, whatever the algebra knows of the power.
    assert decide(lambda c: ratio(c.tp, c.positives) ** 0.3, "prevalence_invariance").verdict == PROVED


def test_a_property_of_tables_where_the_metric_is_undefined():
    @metric("Odds", range=(0, math.inf), best=None)
    def miss_odds(c):
        """Misses a hit, defined where there are hits in both classes."""
        return ratio(c.fn, c.tp) + ratio(c.fp, c.tn)

    row = decide("miss_odds", "zero_when_a_class_fails")
    assert (row.verdict, row.holds) == (UNDEFINED, None)


def test_an_opaque_function_is_searched_and_says_so():
    def larger(tp, fn, fp, tn):
        return max(tp, fn) / (tp + fn)

    row = decide(larger, "prevalence_invariance")
    assert row.verdict.startswith("no counterexample among 2,")
    assert row.how.startswith(
        "an opaque function, no formula to prove (steelyard.metrics.sqrt and steelyard.metrics.where can be read"
    )
    assert row.how.endswith("): exact search")
    broken = decide(larger, "p4")
    assert broken.verdict == REFUTED and "opaque" in broken.how
    assert (broken.counterexample.value, broken.counterexample.other) == ("1", "1/2")
    none = decide(larger, "monotone_tp")
    assert (none.verdict, none.how) == (
        DOES_NOT_APPLY,
        "no direction was declared; @metric(..., best=...) declares one",
    )
    assert decide("prevalence", "monotone_tp").how == "no value of it is better than another"


def test_long_fractions_are_told_as_decimals_that_differ():
    broken = decide(lambda c: c.tp / (c.tp + c.fn + 1e-12), "equal_recalls_kept").counterexample
    assert str(broken) == "0.999999999999 on tp=1, fn=0, fp=0, tn=1, where 1 was asked"


def test_an_opaque_function_of_floats_is_compared_with_a_tolerance():
    def rooted(tp, fn, fp, tn):
        return math.sqrt(tp / (tp + fn)) if tp else 0.0

    row = decide(rooted, "prevalence_invariance")
    assert row.verdict.startswith("no counterexample among")
    assert row.how.endswith("exact search, its values floats that are equal up to 1e-9")


def test_a_function_of_narrow_floats_is_not_refuted_by_their_rounding():
    def narrow(tp, fn, fp, tn):
        recall, specificity = (
            np.float32(a) / np.float32(a + b) if a else np.float32(0) for a, b in ((tp, fn), (tn, fp))
        )
        return (recall + specificity) / np.float32(2)

    for name in ("p1", "prevalence_invariance", "equal_recalls_kept"):
        row = decide(narrow, name)
        assert row.verdict.startswith("no counterexample among"), row
        assert row.how.endswith("equal up to 4e-6")
    assert decide(narrow, "p4").verdict == REFUTED


def test_a_comparison_is_a_metric_of_0_and_1():
    rows = {row.property: row for row in audit(lambda c: c.tp > c.fn)}
    assert rows["p2"].holds and rows["p4"].verdict == REFUTED
    assert str(rows["p4"].counterexample) == "0 on tp=0, fn=0, fp=0, tn=0, 1 on tp=1, fn=0, fp=0, tn=0"


def raises(tp, fn, fp, tn):
    raise RuntimeError("no such thing")


def many(tp, fn, fp, tn):
    return [tp, fn] if tp > 1 else [fn, tp]


def never(tp, fn, fp, tn):
    return math.nan if tp > 1 else float("nan")


def words(tp, fn, fp, tn):
    return "high" if tp > fn else "low"


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (raises, r"raises fails on the table tp=0, fn=0, fp=0, tn=0 \(RuntimeError: no such thing\); it must take any table\."),
        (many, r"many returns an array of shape \(2,\) for one table; one number per table was expected\."),
        (never, r"never is undefined on all 84 tables tried; a metric has a finite value on some\."),
        (words, r"words returns 'low' for a table; a number was expected\."),
    ],
)  # fmt: skip
def test_a_function_that_is_no_metric_gets_one_sentence(function, sentence):
    with pytest.raises(SteelyardError, match=f"^{sentence}$"):
        decide(function, "p1")


def test_an_unknown_property_is_refused():
    with pytest.raises(SteelyardError, match="Did you mean 'class_symmetry'"):
        decide("f1", "class_symetry")


def test_one_limit_of_time_is_for_all_proofs_of_a_metric(monkeypatch):
    monkeypatch.setattr(proof, "LONGEST", 1e-9)
    rows = audit("f1", properties=["p2", "monotone_tp"])
    assert [row.how for row in rows] == ["exact search; no proof found"] * 2
    monkeypatch.setattr(proof, "LONGEST", 20.0)
    hurried = proof.AuditedMetric(get_metric("f1"))
    assert proof.proved(hurried, PROPERTIES["p2"].laws[0]) and hurried.seconds < 20


def test_a_table_drawn_at_random_is_made_smaller_and_owned_up_to():
    def jumps(tp, fn, fp, tn):
        return 1 if tp > 40 else 0 * fn

    row = decide(jumps, "p4")
    assert {row.counterexample.before[0], row.counterexample.after[0]} == {0, 41} or row.counterexample.before[0] == 41
    assert row.counterexample.before[1:] == (0, 0, 0)
    assert row.how.endswith("; a smaller table may exist")
    assert "smaller" not in decide(jumps, "p2").how


# ---------------------------------------------------------------- kept between runs


def test_the_decisions_in_the_package_are_those_made_anew(decisions):
    shipped = decision_store._read(decision_store.SHIPPED)
    assert shipped, "no decisions of this version: run make properties"
    for (name, property_name), decision in decisions.items():
        assert (
            replace(shipped[decision_store.decision_key(get_metric(name), PROPERTIES[property_name])], metric=name)
            == decision
        )


def test_decisions_are_kept_and_a_changed_formula_is_decided_anew(cache_folder, monkeypatch):
    decision_store.stored_decisions.cache_clear()
    first = decide("f1", "p2")
    saved = json.loads(cache_folder.read_text())
    assert list(saved["decisions"].values()) == [asdict(first)]
    decision_store.stored_decisions.cache_clear()
    monkeypatch.setattr(properties, "_decided", None)  # would fail if asked
    assert decide("f1", "p2") == first
    assert not same_key("f1", "f2") and not same_key("iba", "iba[alpha=0.1]") and not same_key("ac_score", "g_mean")
    monkeypatch.setattr(decision_store, "VERSION", decision_store.VERSION + 1)
    decision_store.stored_decisions.cache_clear()
    assert decision_store.stored_decisions() == {}


def same_key(a, b):
    property_ = PROPERTIES["p2"]
    return decision_store.decision_key(get_metric(a), property_) == decision_store.decision_key(
        get_metric(b), property_
    )


def test_a_decision_is_known_by_the_formula_and_not_by_how_it_is_spelt():
    property_ = PROPERTIES["p2"]
    written = {lambda tp, fn, fp, tn: ratio(tp, tp + fn), lambda tp, fn, fp, tn: ratio(tp, fn + tp)}
    keys = {decision_store.decision_key(get_metric(formula), property_) for formula in written}
    assert len(keys) == 1
    assert decision_store.decision_key(get_metric(lambda tp, fn, fp, tn: ratio(tp, tp + fp)), property_) not in keys


def test_a_comment_or_another_line_ending_anywhere_in_the_source_loses_no_decision(tmp_path):
    copy = tmp_path / "steelyard"
    shutil.copytree(Path(steelyard.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [*copy.rglob("*.py"), copy / "auditing" / "decisions.json"]:
        comment = b"# changed\r\n" if path.suffix == ".py" else b""
        path.write_bytes(comment + path.read_bytes().replace(b"\n", b"\r\n"))
    code = (
        "import steelyard; from steelyard.auditing import decisions as s; "
        "of_counts = [m for m in steelyard.list_metrics() if m.function]; "
        "print(s.__file__, len(of_counts), sum(len(s.recalled_decisions(m)) for m in of_counts))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(tmp_path)}
    )
    file, metrics, recalled = ran.stdout.split()
    assert file == str(copy / "auditing" / "decisions.py")
    assert int(metrics) > 40 and int(recalled) == len(PROPERTIES) * int(metrics)


@pytest.mark.parametrize("content", ["", "[]", '{"version": 0}', "null", '{"decisions": {"a": 1}, "version": VERSION}'])
def test_a_broken_or_unwritable_cache_does_no_harm(content, cache_folder, monkeypatch):
    cache_folder.parent.mkdir()
    cache_folder.write_text(content.replace("VERSION", str(decision_store.VERSION)))
    decision_store.stored_decisions.cache_clear()
    assert decide("recall", "p2").verdict == PROVED
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/nowhere")
    decision_store.stored_decisions.cache_clear()
    assert decide("recall", "p2").verdict == PROVED
    decision_store.stored_decisions.cache_clear()


def test_without_sympy_claims_are_searched_and_nothing_is_kept(cache_folder, monkeypatch):
    decision_store.stored_decisions.cache_clear()

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(symbolic, "find_spec", lambda name: None)
    monkeypatch.setattr(symbolic, "import_module", missing)
    row = decide("recall", "p2")
    assert row.verdict.startswith("no counterexample among")
    assert row.how == "exact search; sympy, which proves, is missing"
    assert decide("recall", "p1").verdict == REFUTED
    assert not cache_folder.exists()


def test_a_property_of_tables_does_not_apply_to_a_metric_of_scores():
    for name in ("brier", "h_measure", "roc_auc"):
        row = decide(name, "class_symmetry")
        assert (row.verdict, row.how) == (DOES_NOT_APPLY, "it is of scores, and the property of tables of labels")


STAYS = (
    "roc_auc",
    "roc_auc[max_fpr=0.1]",
    "gini",
    "ks",
    "recall_at_fpr",
    "specificity_at_recall",
    "discrimination_slope",
)
OF_SCORES = [metric for metric in steelyard.list_metrics() if properties.is_decidable(metric)]


def test_what_of_scores_does_not_change_with_prevalence():
    decided = {
        row.metric: row for row in audit(*OF_SCORES, "roc_auc[max_fpr=0.1]", properties=["prevalence_invariance"])
    }
    assert {name for name, row in decided.items() if row.holds} == set(STAYS)
    assert all(row.holds is False for name, row in decided.items() if name not in STAYS)
    assert decided["average_precision"].how == (
        "1/2 for a positive at 0.8 and a negative at 0.8, 2/3 with twice as many positives (in exact arithmetic)"
    )


@pytest.mark.parametrize("metric", [*OF_SCORES, get_metric("roc_auc[max_fpr=0.1]")], ids=lambda metric: metric.name)
def test_a_metric_of_scores_keeps_its_decision_on_other_rows(metric):
    """Five random tables at another prevalence: what is proved stays on all, what is refuted moves on one."""
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(5):
        y = np.repeat([0, 1], [160, 40])
        table = steelyard.score_table(
            y, np.round(np.clip(rng.normal(0.35 + 0.25 * y, 0.2), 0.02, 0.98), 2), pos_label=1
        )
        moved = steelyard.at_prevalence(table, 0.7)
        kept.append(metric(table) == pytest.approx(metric(moved), abs=1e-9))
    assert all(kept) == (metric.name in STAYS)


@pytest.mark.parametrize("name", [*score_rulings.OF_SHARES, *score_rulings.OF_ROWS])
def test_a_written_definition_has_the_value_of_the_metric(name):
    metric, shares = get_metric(name), score_rulings.OF_SHARES.get(name)
    for positive, negative in score_rulings._small_tables():
        value = metric(score_rulings._table(positive, negative))
        if shares is None:
            exact = score_rulings.OF_ROWS[name](positive, negative)
        else:
            parts = (tuple(Fraction(n, sum(rows)) for n in rows) for rows in (positive, negative))
            exact = shares(*parts, **metric.parameters)
        assert value == pytest.approx(float(exact), abs=1e-12), (positive, negative)


def test_a_definition_that_is_not_the_metrics_proves_nothing(monkeypatch):
    monkeypatch.setitem(score_rulings.OF_SHARES, "ks", lambda positive, negative: Fraction(0))
    verdict, how, _ = score_rulings.prevalence_ruling(get_metric("ks"))
    assert verdict.startswith("no counterexample among") and how == "search; no proof found"


def test_the_decisions_about_scores_in_the_package_are_those_made_anew():
    shipped = decision_store._read(decision_store.SHIPPED)
    for metric in OF_SCORES:
        key = decision_store.decision_key(metric, PROPERTIES["prevalence_invariance"])
        assert shipped[key].how == score_rulings.prevalence_ruling(metric)[1]


def test_strictly_monotone_says_where_one_more_error_is_worse():
    """Without a right prediction accuracy is 0 with any number of errors, and it has the property all the same."""
    assert PROPERTIES["strictly_monotone"].meaning.endswith("worsens a value with right ones.")
    assert decide("accuracy", "strictly_monotone").verdict == PROVED
    accuracy, counts = get_metric("accuracy"), steelyard.Counts
    assert accuracy(counts(tp=0, fn=1, fp=1, tn=0)) == accuracy(counts(tp=0, fn=2, fp=1, tn=0)) == 0
    assert accuracy(counts(tp=1, fn=1, fp=1, tn=0)) > accuracy(counts(tp=1, fn=2, fp=1, tn=0))
