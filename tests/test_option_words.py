"""Sentences of the library on the command line: arguments and calls are named as the shell writes them."""

import ast
import pickle
import re
from pathlib import Path

import click
import pytest
from command_line import command_named

import steelyard
from steelyard.cli.option_words import of_shell
from steelyard.exceptions import SteelyardError

pytest.importorskip("pandas")
from recorded import record

SOURCE = Path(steelyard.__file__).parent
SURFACES = ("cli", "report", "studies/study_files.py", "evaluation/verdict/sentences.py")  # which write shell lines
COMMANDS = re.compile(r"`steelyard [^`]*`")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("y_score= names no column", "--score names no column"),
        ("name it with pos_label=.", "name it with --pos-label."),
        ("pos_label='spam' makes 'spam' positive", "--pos-label spam makes 'spam' positive"),
        ("pos_label=-1; pos_label='no go'", "--pos-label -1; --pos-label 'no go'"),
        ("pos_label=RARER is the rarer one", "--rarer-positive is the rarer one"),
        ("count with exact=True, or exact=False", "count with --exact, or --binned"),
        ("such as where='recall >= 0.9'.", "such as --where 'recall >= 0.9'."),
        ("cost_between=(0, 500) and confidence=0.95.", "--cost-between 0,500 and --confidence 0.95."),
        ("what errors cost, cost={'cost_fn': 10, 'cost_fp': 1}.", "what errors cost, --cost-fn 10 --cost-fp 1."),
        ("labels=['a', 'b'] declares them", "--labels a,b declares them"),
        ("list_metrics() lists them", "`steelyard metrics` lists them"),
        ("operating_points compares it with others", "steelyard threshold compares it with others"),
        ("by tally(cost='fee', labels=['a', 'b'])", "by `steelyard tally --cost fee --labels a,b`"),
        ("evaluate(y_true, y_score=...)", "`steelyard report --score ...`"),
        ("or ask for average='macro' (or None)", "or ask for METRIC[average=macro] (or None)"),
    ],
)
def test_code_in_a_sentence_is_written_as_on_the_command_line(said, shown):
    assert of_shell(said) == shown
    assert of_shell(shown) == shown


@pytest.mark.parametrize(
    "said",
    [
        "The column 'y_score=' is no number",
        "There is no file best_threshold.json in runs/label_plan",
        "f_beta[beta=2] and net_benefit[threshold=0.3]",
        "a tag such as model=v3",
        "recall >= 0.9 and recall>=0.9",
        "cv= takes a number of folds",
        "cost={'price': 3}",
        "steelyard.precision(y_true, y_pred, zero_division=0)",
    ],
)
def test_what_was_given_and_what_has_no_option_stays(said):
    assert of_shell(said) == said


def test_an_error_of_one_argument_has_facts_that_make_its_sentence():
    with pytest.raises(SteelyardError) as refused:
        steelyard.interval("recall", steelyard.Counts(3, 1, 2, 9), level=95)
    for error in (refused.value, pickle.loads(pickle.dumps(refused.value))):
        assert (error.argument, error.given) == ("level", "95")
        assert str(error) == f"level= is {error.expected}, not 95."
        assert of_shell(str(error)) == f"--level is {error.expected}, not 95."
    plain = SteelyardError("No rows.")
    assert (str(plain), plain.argument, plain.given, plain.expected, plain.do) == ("No rows.", "", "", "", "")
    with_way = SteelyardError(argument="y_score", expected="a column", do="name one")
    assert str(with_way) == "y_score= is a column; name one." and not with_way.given


def test_the_option_that_was_given_is_the_one_named():
    for name, given, named in (
        ("threshold", ["--cost-fp", "2"], "--cost-fp"),
        ("report", ["--score", "p_*"], "--score"),
    ):
        said = "cost=" if name == "threshold" else "score="
        command = command_named(name)
        with click.Context(click.Command("steelyard")) as root:
            command.make_context(name, ["rows.csv", *given], parent=root)
            assert of_shell(said) == named


def sentences():
    """The texts of the library outside its surfaces, with their places."""
    for path in sorted(SOURCE.rglob("*.py")):
        if not path.relative_to(SOURCE).as_posix().startswith(SURFACES):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", node.value


def test_the_library_names_arguments_as_python_does():
    options = re.compile(r"(?<![\w-])--[a-z]\w+")
    texts = ((place, COMMANDS.sub("", text)) for place, text in sentences() if "\n" not in text)
    assert not [(place, found[0]) for place, text in texts if (found := options.search(text)) and " " in text]


def test_the_shell_names_no_argument_of_python():
    keywords = re.compile(r"\b(y_true|y_pred|y_score|sample_weight|pos_label|labels|threshold|rng|cluster)=(?!=)")
    for question in (name for name in record.QUESTIONS if name.startswith("cli-")):
        for call, shown in record.read(question).items():
            for stream in ("stderr", "stdout") if "json" not in call and "html" not in call else ("stderr",):
                found = keywords.search("\n".join(map(str, shown.get(stream, []))))
                assert not found, (call, stream, found)
