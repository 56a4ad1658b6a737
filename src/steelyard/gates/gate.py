"""Gate: an evaluation or a comparison passed or failed by rules on its metrics."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Integral
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from steelyard.analysis.comparison.compare import compare
from steelyard.analysis.loading import load
from steelyard.analysis.requirements import BASELINE, VERSUS
from steelyard.analysis.results.result import Result, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.evaluation.evaluate import evaluate
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, first_ten
from steelyard.gates.baseline import check_baseline, judge_drops, read_baseline, saved_baseline, usual_metrics
from steelyard.gates.confirmation import confirmation_notes
from steelyard.gates.guarantee import judge_limits, read_guarantee
from steelyard.gates.rules import (
    SKIPPED,
    UNDECIDED,
    WORSE,
    Judgement,
    check_prove,
    gate_parts,
    judge_rules,
    power_text,
    read_rules,
    usual_rules,
)
from steelyard.metrics.spec import MetricSpec
from steelyard.predictions import TABLES, Predictions
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard.analysis.requirements import Requirement
    from steelyard.gates.baseline import Baseline, BaselineLike
    from steelyard.gates.guarantee import GuaranteeLike, SavedGuarantee
    from steelyard.gates.rules import Gated, GatePart
    from steelyard.predictions import RowsLike


# ---------------------------------------------------------------- GateResult
# Whether a model may be released, rule by rule.


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(Result[Judgement]):
    """What became of every rule in all rows and in each group, and which errors the gate holds, in sentences.

    `passed` is False where a rule is broken, and None where none is but one is undefined, as with too few rows.

    >>> from steelyard import Counts, evaluate, gate
    >>> gate(evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)), "recall >= 0.5", "low(mcc) >= 0.5")
    pass  recall is 54.9 %, required >= 50 %
    FAIL  low(mcc) is 0.279, required >= 0.5
    If a model truly violates `low(mcc) >= 0.5`, this gate lets it through in at most 2.5 % of runs.
    """

    rules: Rows[Judgement]
    level: float
    sentences: tuple[str, ...] = field(default=(), metadata={"key": "notes"})
    assumed: tuple[str, ...] = ()
    also_saved = ("passed",)

    def __iter__(self) -> Iterator[Judgement]:
        return iter(self.rules)

    def __bool__(self) -> bool:
        return self.passed is True  # `assert gate(...)` holds what it says

    @property
    def passed(self) -> bool | None:
        """Whether all rules are kept; None where a metric is undefined, and no rule is broken."""
        if any(judgement.passed is False for judgement in self.rules):
            return False
        judged = [judgement.passed for judgement in self.rules if judgement.outcome != SKIPPED]
        return None if None in judged or not judged else True

    @property
    def exit_code(self) -> int:
        """What `steelyard gate` exits with: 0 passed, 1 failed, 3 undefined."""
        return {True: 0, False: 1, None: 3}[self.passed]

    @property
    def headline(self) -> str:
        """Whether it passed, and how many rules are broken."""
        broken = sum(each.passed is False for each in self.rules)
        undefined = sum(each.passed is None and each.outcome != SKIPPED for each in self.rules)
        verdict = {True: "is passed", False: "failed", None: "is undefined"}[self.passed]
        judged = sum(each.outcome != SKIPPED for each in self.rules)
        left_out = f", {len(self.rules) - judged:,} left out" if judged < len(self.rules) else ""
        return f"The gate {verdict}: {judged:,} judged, {broken:,} broken, {undefined:,} undefined{left_out}."

    @property
    def notes(self) -> list[str]:
        """Which errors the gate holds."""
        return list(self.sentences)

    def shown_rows(self) -> list[dict[str, Any]]:
        """The judgements as people see them."""
        return [{"outcome": each.outcome, "group": each.group, "text": each.text} for each in self.rules]

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self.rules), *self.sentences])


# ---------------------------------------------------------------- gate


class GateOptions(TypedDict, total=False):
    """The options of a gate."""

    baseline: BaselineLike | None
    guarantee: GuaranteeLike | None
    metrics: Iterable[str] | None
    prove: str
    margin: float
    min_rows: int
    min_positives: int
    skip_small: bool


@names_wrong_arguments
def gate(
    data: Gated | RowsLike,
    /,
    *rules: str | Sequence[str],
    baseline: BaselineLike | None = None,
    guarantee: GuaranteeLike | None = None,
    metrics: Iterable[str] | None = None,
    prove: str = WORSE,
    margin: float = 0.05,
    min_rows: int = 0,
    min_positives: int = 0,
    skip_small: bool = False,
) -> GateResult:
    """Whether a model keeps rules on its metrics, in all rows and in each group.

    `data` is what `evaluate` returns (with `by=` every rule holds in every group as well), what `compare` returns of
    two models, the first held against the second, several of these by name, the file of one of them, or the
    Predictions themselves: of one model evaluated, of two compared. A rule is on a value ("recall >= 0.8"), an end of
    its interval ("low(mcc) >= 0.5"), a value beside that of the other model or of the `baseline`, an earlier evaluation
    or the file of one ("mcc >= versus - 0.02"), or the interval of the difference from them
    ("low(mcc - versus) >= -0.02").

    Without rules the usual `metrics`, or those named, are held against the other model: with `prove="worse"` a metric
    fails where it is shown to be worse, with "not-worse" it passes where it is shown to be worse by less than `margin`.
    `guarantee` is a threshold that `best_threshold(..., where=)` chose, or its file, held to its limits; Predictions
    become labels there. Parts with fewer rows or positives than the least are undefined, groups with `skip_small` left
    out. A limit is a share or in percent ("recall >= 80 %"), inside the metric's range; a rule that fails better models
    ("recall <= 0.8") is refused.

    Where near ends are read (low >=, high <=) a model that breaks a rule passes in at most half of 1 - level of runs;
    where far ends are (high >=, low <=) a model that keeps all rules fails in at most as many: intervals are widened
    for that by Bonferroni, over rules and groups.

    >>> from steelyard import compare
    >>> truth, old = [0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0]
    >>> both = compare(truth, y_pred={"new": [0] * 89 + [1] * 10 + [0], "old": old})
    >>> gate(both, "low(specificity - versus) >= -0.02")
    pass  low(specificity - versus) is 0 points, required >= -2 points (98.9 %, versus 94.4 %)
    If a model truly violates `low(specificity - versus) >= -0.02`, this gate lets it through in at most 2.5 % of runs.
    """
    check_prove(prove)
    _check_numbers(margin, min_rows, min_positives)
    if not isinstance(skip_small, bool):
        raise InputError(argument="skip_small", expected="True or False", given=skip_small)
    old, saved = read_baseline(baseline), read_guarantee(guarantee)
    required = read_rules(rules, old)
    named = None if metrics is None else [spec.name for spec in MetricSpec.all_of(metrics)]
    evaluated = _evaluated(data, required, old, saved, named)
    all_parts = gate_parts(evaluated)
    if skip_small and all(part.group is None for part in all_parts):
        raise InputError("skip_small= leaves out groups, and there are none here; evaluate with by=, or leave it out.")
    parts: list[GatePart] = []
    small: list[Judgement] = []
    for part in all_parts:
        if (judgement := _too_small(part, min_rows, min_positives)) is None:
            parts.append(part)
        else:
            outcome = SKIPPED if skip_small and part.group is not None else UNDECIDED
            small.append(replace(judgement, outcome=outcome))
    result = evaluated if isinstance(evaluated, Result) else None
    notes = [] if old is None else check_baseline(old, _evaluation(result, "A baseline"))
    if required and prove != WORSE:
        raise InputError("prove= is about a gate without rules; a rule on low(...) or high(...) says what to show.")
    judged: list[Judgement] = []
    sentences: list[str] = []
    read: list[str] = [] if saved is None else saved.metrics
    if not required and old is not None and prove == WORSE:
        names = named or usual_metrics(old)
        drops = judge_drops(old, _whole(result), names, margin)
        read = [*read, *names]
        judged, sentences = drops if parts else ([], [])
    elif required or saved is None:
        applied = required or _usual(parts, old, result, named, prove, margin)
        beside = parts
        if old is not None and any(rule.is_difference and rule.other == BASELINE for rule in applied):
            beside = _beside_baseline(parts, result, old, applied)
        judged, sentences = judge_rules(applied, beside, old, margin)
        read = [*read, *(rule.metric for rule in applied)]
        sentences += [] if required else _power_sentences(judged, applied, prove, margin)
    if saved is not None:
        notes += saved.notes(_evaluation(result, "A guarantee"))
        limits, errors = judge_limits(saved, parts, margin) if parts else ([], [])
        judged, sentences = [*judged, *limits], [*sentences, *errors]
    unconfirmed = confirmation_notes(evaluated, read)
    unconfirmed += [] if old is None else [f"{old.name}: {note}" for note in confirmation_notes(old.evaluation, read)]
    if unconfirmed:  # numbers that no table confirms carry no error guarantee, so that these notes stand in its place
        sentences = unconfirmed
    return GateResult(Rows([*judged, *small]), all_parts[0].level, tuple(sentences), tuple(notes))


@names_wrong_arguments
def assert_gate(data: Gated | RowsLike, /, *rules: str | Sequence[str], **options: Unpack[GateOptions]) -> None:
    """Raise AssertionError with the judgements of `gate` unless all rules are kept: one line in a test.

    What is undefined, or of too few rows, fails as well, with its reason. The options are those of `gate`.

    >>> from steelyard import Counts, evaluate
    >>> assert_gate(evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)), "recall >= 0.5", "low(mcc) >= 0.2")
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    result = gate(data, *rules, **options)
    if not result.passed:
        raise AssertionError(f"{result.headline}\n{result!r}")


# ---------------------------------------------------------------- the usual rules, and what a gate reads


def _evaluated(
    data: Any, rules: list[Requirement], old: Baseline | None, saved: SavedGuarantee | None, named: list[str] | None
) -> Gated:
    """What was evaluated or compared, as given; of Predictions and tables by the metrics that the gate reads."""
    if isinstance(data, (str, PathLike)):
        data = load(data)
    if not isinstance(data, (Predictions, *TABLES)):
        return data  # type: ignore[no-any-return]  # what it is not is refused where its parts are read
    p = Predictions.of(data)
    usual = [] if rules or old is None else named or usual_metrics(old)
    read = dict.fromkeys([*(rule.metric for rule in rules), *usual, *([] if saved is None else saved.metrics)])
    asked = [*read] or named
    if len(p.models) > 1:
        return compare(p, metrics=asked)
    if not asked:
        raise InputError(_NOTHING)
    if saved is not None and p.threshold is None and not isinstance(data, (Counts, Confusion)):
        p = p.at(saved.best.threshold)
    return evaluate(p, metrics=asked)


_NOTHING = 'A gate needs a rule, such as "ac_score >= 0.8", a baseline, or a comparison of two models.'


def _usual(
    parts: list[GatePart],
    old: Baseline | None,
    result: Result[Any] | None,
    named: list[str] | None,
    prove: str,
    margin: float,
) -> list[Requirement]:
    """The rules where none are given: on the metrics that are named, or on the usual ones."""
    if not parts:
        return []
    if old is not None:
        new, names = _whole(result), named or usual_metrics(old)
        specs = [new[name].spec for name in names if name in new]
        return _of_each(usual_rules(specs, BASELINE, prove, margin), named)
    if VERSUS not in parts[0].differences:
        raise InputError(_NOTHING)
    specs = [row.spec for row in parts[0].differences[VERSUS].rows]
    headline = [spec for spec in specs if spec.is_headline] or specs
    specs = [spec for spec in specs if spec.name in named] if named else headline
    return _of_each(usual_rules(specs, VERSUS, prove, margin), named)


def _of_each(rules: list[Requirement], named: list[str] | None) -> list[Requirement]:
    """The rules, where there is one of every metric that is named."""
    without = [name for name in named or () if name not in {rule.metric for rule in rules}]
    if without or not rules:
        raise InputError(
            f"There is no usual rule on {first_ten(without) if without else 'these metrics'}: each metric is one that "
            "both models have and that is better when higher, or when lower; name others with metrics=, or give rules."
        )
    return rules


def _beside_baseline(
    parts: list[GatePart], result: Result[Any] | None, old: Baseline, rules: list[Requirement]
) -> list[GatePart]:
    """The parts with the difference of the new rows from those of the baseline."""
    if not parts:
        return []
    if len(parts) > 1:
        raise InputError(
            "The difference from a baseline is known of all rows together, since a report keeps no tables of groups; "
            "compare both models on the same rows for groups, or leave by= out."
        )
    new, metrics = _whole(result), list(dict.fromkeys(rule.metric for rule in rules if rule.is_difference))
    models = {"new": new, BASELINE: saved_baseline(old)}
    return [replace(parts[0], differences={BASELINE: compare(models, metrics=metrics, level=new.level)})]


def _evaluation(result: Result[Any] | None, what: str) -> Evaluation:
    if not isinstance(result, Evaluation):
        raise InputError(f"{what} is held against one evaluation; give what evaluate returns.")
    return result


def _whole(result: Result[Any] | None) -> Evaluation:
    """The evaluation of all rows, whose tables are tested together."""
    evaluation = _evaluation(result, "A baseline")
    if evaluation.per_label:
        raise InputError("Label sets have no table that a baseline is tested by; give rules.")
    if evaluation.groups:
        raise InputError("The test of a drop takes all rows together; leave by= out, or give rules.")
    return evaluation


def _check_numbers(margin: float, min_rows: int, min_positives: int) -> None:
    """Refuse numbers that mean nothing, whether or not this gate reads them."""
    if isinstance(margin, bool) or not isinstance(margin, (int, float)) or not 0 < margin < 1:
        raise InputError(argument="margin", expected="a number above 0 and below 1, such as 0.02", given=margin)
    for name, least in (("min_rows", min_rows), ("min_positives", min_positives)):
        if isinstance(least, bool) or not isinstance(least, Integral) or least < 0:
            raise InputError(argument=name, expected="a whole number of 0 or more, 0 for any", given=least)


# ---------------------------------------------------------------- too few rows


def _too_small(part: GatePart, min_rows: int, min_positives: int) -> Judgement | None:
    if part.why is not None:
        return Judgement(None, UNDECIDED, "the rows can be judged", part.group, part.why, why=part.why)
    if min_positives and part.positives is None:
        raise InputError("min_positives= counts the rows of a class, and here is no table of classes; leave it out.")
    for what, rows, least in (("rows", part.rows, min_rows), ("positives", part.positives or 0, min_positives)):
        if rows < least:
            why = f"{rows:,} {what}, and at least {least:,} are asked for; no rule was judged"
            return Judgement(None, UNDECIDED, f"{what} >= {least}", part.group, why, rows, least, why=why)
    return None


# ---------------------------------------------------------------- power


def _power_sentences(judged: Sequence[Judgement], rules: Sequence[Requirement], prove: str, margin: float) -> list[str]:
    """How often rows like these catch a drop by the margin, or pass an equal model, from metric to metric."""
    names = {rule.text: rule.metric for rule in rules}
    powers = {names[each.rule]: each.power for each in judged if each.group is None and each.power is not None}
    if not powers:
        return []
    least, most = min(powers, key=powers.__getitem__), max(powers, key=powers.__getitem__)
    names_shown = dict.fromkeys((least, most))  # one where both are the same
    shares = " to ".join(f"{power_text(powers[name], 'about ')} ({name})" for name in names_shown)
    what = f"A drop of {margin:g} is caught" if prove == WORSE else "A model that is equal passes a rule"
    return [f"{what} in {shares} of runs, each metric by itself."]
