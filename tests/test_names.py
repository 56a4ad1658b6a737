"""Names: what a user meets is called alike in Python, in the shell, in JSON and on the page."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from checks import public_names, public_thing
from command_line import COMMANDS, command_named

import steelyard
from steelyard import Counts, evaluate, list_metrics
from steelyard._names import GONE, HOME, SHELVES, SUBMODULES

# The shell's own words for what Python calls otherwise: scikit-learn's at the one door, a person's at the other.
SHELL = {"seed": "rng", "folds": "k", "target": "y", "model": "estimator"}
COST_KEYS = {"cost_fn", "cost_tp", "benefit_tp", "cost_fp", "cost_tn", "benefit_tn"}  # as best_threshold takes them
# What only a shell has: where results go, how they look, what is read, and what a gate asks.
ALONE = {
    "all",
    "against",
    "counts",
    "data",
    "data_dir",
    "errors",
    "force",
    "format",
    "list",
    "min_count",
    "output",
    "overlap",
}
ALONE |= {"exit_zero", "no_color", "quick", "rarer_positive", "require"}
ALONE |= {"keep_rows", "last", "ledger", "tag"}  # which methods of Ledger take
ALONE |= {"select_tree", "help_rows"}
ALONE |= {"anytime", "top_up"}  # anytime_compare is a function of its own
ALONE |= {"batch_rows", "exit_zero", "follow", "json", "page", "state", "stop"}


def arguments():
    """The names of all arguments of the public functions and classes, and the keys of cost=."""
    names = (name for name in public_names() if name not in ("SteelyardError", "RARER") and "results." not in name)
    things = map(public_thing, names)
    return {name for thing in things for name in inspect.signature(thing).parameters} | COST_KEYS


ARGUMENTS = arguments()


def test_the_keys_of_a_cost_are_those_listed_here():
    with pytest.raises(TypeError, match="'nothing' is no cost; there are ") as refused:
        steelyard.best_threshold([0, 1], [0.2, 0.7], {"nothing": 1})
    assert set(re.findall(r"(?:cost|benefit)_\w+", str(refused.value))) == COST_KEYS


def options(command):
    """The names of each option of a command as Python would spell them: the long one, and shorter ones beside it."""
    for option in command_named(command).params:
        longs = {name.removeprefix("--").replace("-", "_") for name in option.opts if name.startswith("--")}
        if longs - {"help"}:
            yield longs


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_of_the_shell_is_called_as_in_python(command):
    strange = [names for names in options(command) if not names & (ARGUMENTS | set(SHELL) | ALONE)]
    assert not strange, f"Python knows these options of {command} by no name: {strange}"


def test_the_shells_own_words_are_in_use_and_stand_for_arguments_of_python():
    used = {name for command in COMMANDS for names in options(command) for name in names}
    assert set(SHELL) | ALONE <= used
    assert set(SHELL.values()) <= ARGUMENTS and not ALONE & ARGUMENTS - {"counts", "data"}


def test_a_key_of_the_json_is_an_attribute_of_the_evaluation():
    evaluation = evaluate([0, 0, 1, 1, 1], y_score=[0.1, 0.6, 0.4, 0.7, 0.8], prevalence=0.2)
    keys = evaluation.to_dict().keys() - {"schema", "version", "table"}  # the confusion matrix in full
    assert not [key for key in keys if not hasattr(evaluation, key)]
    row = evaluation["recall"]
    assert not [key for key in row.row() if not hasattr(row, key)]


def test_a_metric_is_called_alike_in_python_json_shell_and_page():
    evaluation = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
    names = [metric.name for metric in list_metrics() if metric.function is not None]
    assert {row["name"] for row in evaluation.to_dict()["metrics"]} <= set(names)
    assert all(getattr(steelyard, name).name == name for name in names)
    shown = set(re.findall(r'data-metric="([^"]+)"', evaluation.to_html()))
    assert shown and shown <= set(names)


def test_the_pages_attributes_are_words_of_the_library():
    templates = Path(steelyard.__file__).parent / "report"
    texts = [path.read_text() for path in templates.rglob("*") if path.suffix in (".py", ".html", ".js", ".css")]
    used = {name for text in texts for name in re.findall(r"\bdata-([a-z]+)", text)}
    library = {
        "a",
        "b",
        "bin",
        "cell",
        "class",
        "code",
        "label",
        "metric",
        "model",
        "prevalence",
        "property",
        "run",
        "value",
    }
    place = {
        "at",
        "board",
        "line",
        "number",
        "only",
        "opens",
        "own",
        "shown",
        "title",
    }  # of a model on a comparison's page
    acts = {"export", "save"}
    assert used and used <= library | place | acts  # a and b: as in Comparison


# ---------------------------------------------------------------- names of Python


def test_the_package_lists_the_names_that_are_needed_first_and_its_submodules():
    assert dir(steelyard) == sorted([*HOME, *SUBMODULES])
    assert len(SUBMODULES) == 8 and not set(HOME) & set(SUBMODULES)
    assert all(inspect.ismodule(getattr(steelyard, name)) for name in SUBMODULES if name != "mlflow")


@pytest.mark.parametrize(
    "name",
    sorted(
        {*(name for name in GONE if "." not in name), *(name for names in SHELVES.values() for name in names)}
        - set(HOME)
    ),
)
def test_a_name_that_moved_is_answered_by_where_it_is(name):
    with pytest.raises(ImportError, match=rf"^steelyard\.{name} is steelyard\.\S.* now\.$"):
        getattr(steelyard, name)
    with pytest.raises(AttributeError, match="has no attribute"):
        steelyard.nothing_of_this_name  # noqa: B018 - which is asked for


@pytest.mark.parametrize(
    ("holder", "name", "sentence"),
    [
        (steelyard.Ledger(), "diff", r"steelyard\.Ledger\.diff is steelyard\.Ledger\.compare, .* now\."),
        (steelyard.chance("f1", Counts(28, 23, 72, 2680)), "same_margins", r".* is steelyard\.Chance\.value now\."),
    ],
)
def test_a_member_that_is_gone_is_answered_by_what_does_its_work(holder, name, sentence):
    with pytest.raises(AttributeError, match=f"^{sentence}$"):
        getattr(holder, name)
    with pytest.raises(AttributeError, match=r"has no 'nothing'\.$"):
        holder.nothing  # noqa: B018 - which is asked for


@pytest.mark.parametrize("shelf", SHELVES)
def test_a_submodule_lists_what_it_has_and_loads_nothing_else_of_that_name(shelf):
    module = getattr(steelyard, shelf)
    assert set(SHELVES[shelf]) <= set(dir(module))
    for name, home in SHELVES[shelf].items():
        assert getattr(module, name) is getattr(import_module(f"steelyard.{home}"), name)
        assert f"steelyard.{shelf}.{name}" not in sys.modules
    with pytest.raises(AttributeError, match="has no attribute"):
        module.nothing_of_this_name  # noqa: B018 - which is asked for


def test_every_measure_is_in_the_submodule_of_metrics():
    assert all(getattr(steelyard.metrics, metric.name) is metric for metric in list_metrics())
    assert not {metric.name for metric in list_metrics()} & {
        name.rpartition(".")[2] for name in sys.modules if name.startswith("steelyard.metrics.")
    }
