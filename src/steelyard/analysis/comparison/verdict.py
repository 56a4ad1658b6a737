"""The verdict of a comparison: what each model does with the rows, the number of the use, and which one to choose.

Without a use each of the four is asked, or each metric that was named, and Holm's method holds for all together. At a
capacity alerts are decided by what is found there; where none is given, also by the number of the use, which is of all
numbers of alerts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from steelyard.analysis.chance.chance import without_skill
from steelyard.analysis.comparison.leaderboard import Statement, metric_phrase
from steelyard.analysis.comparison.outcomes import (
    AT_CAPACITY,
    FALSE_ALARMS,
    FOUND,
    OF_CLASSES,
    OF_LABEL_SETS,
    RIGHT,
    rows_that_tell,
)
from steelyard.analysis.holm import holm
from steelyard.analysis.results.denominator import whole_rows
from steelyard.analysis.results.formatting import ROUNDING, listed, number_of, value_text
from steelyard.analysis.results.result import Rows
from steelyard.metrics.uses import USES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from steelyard.analysis.comparison.comparison import Difference
    from steelyard.analysis.comparison.outcomes import Outcomes
    from steelyard.metrics.spec import MetricSpec

_MOST_NAMED = 4
_MOST_NEEDED = 10_000_000  # rows beyond which nobody collects them
ALERTS, BALANCE, RANKING, PROBABILITIES = USES


class Size(NamedTuple):
    """How many rows the differences rest on, and what these are called: positives, or rows."""

    number: float
    noun: str


class Test(NamedTuple):
    """By how much a model is better than another, with the interval and the p-value."""

    gain: float
    low: float
    high: float
    p: float
    needed: float

    def reversed(self) -> Test:
        """The same from the other model's side."""
        return Test(-self.gain, -self.high, -self.low, self.p, self.needed)


def reaches_no_skill(spec: MetricSpec, low: float, high: float, none: float) -> bool:
    """Whether an interval does not lie on the better side of the no-skill baseline; False where one is not known."""
    return spec.sign * ((low if spec.sign > 0 else high) - none) <= 0


@dataclass(frozen=True)
class Contest:
    """Models by one number, the best first, and the tests of all pairs; `better` words a gain with its interval."""

    merits: Mapping[str, float]
    tests: Mapping[tuple[str, str], Test]
    level: float
    phrase: str
    no_skill: Collection[str]  # the models that are not shown to be better than no skill
    spec: MetricSpec | None = None  # None of what is found

    @property
    def order(self) -> list[str]:
        """The models with a value, the best first."""
        defined = [name for name, merit in self.merits.items() if not math.isnan(merit)]
        return sorted(defined, key=lambda name: -self.merits[name])

    def test(self, a: str, b: str) -> Test:
        """How much better a is than b."""
        return self.tests[a, b] if (a, b) in self.tests else self.tests[b, a].reversed()

    def is_shown(self, a: str, b: str) -> bool:
        """Whether a is shown to be better than b."""
        test = self.test(a, b)
        return test.p < 1 - self.level and test.low > 0

    def _alike(self, order: Sequence[str]) -> tuple[str, ...]:
        """The first model, and those that it is not shown to be better than."""
        return tuple(name for name in order if name == order[0] or not self.is_shown(order[0], name))

    @property
    def skilled(self) -> list[str]:
        """The models that are shown to be better than no skill, the best first."""
        return [name for name in self.order if name not in self.no_skill]

    @property
    def choice(self) -> tuple[str, ...]:
        """The best of the models with skill, and those of them that it is not shown to be better than."""
        return self._alike(self.skilled)

    @property
    def passed_over(self) -> list[str]:
        """The models without shown skill to which no other is shown to be preferable."""
        return [name for name in self._alike(self.order) if name in self.no_skill]

    @property
    def is_decided(self) -> bool:
        """Whether some model is shown to be worse than the first."""
        return len(self._alike(self.order)) < len(self.order)

    @property
    def is_tested(self) -> bool:
        """Whether there are tests."""
        return any(not math.isnan(test.p) for test in self.tests.values())


@dataclass(frozen=True)
class Verdict:
    """What the verdict reads of a comparison, or of a cross-evaluation."""

    models: Sequence[str]
    outcomes: Sequence[Outcomes]
    decisive: Mapping[str, Sequence[Difference]]  # by the name of the use, else by that of a metric
    use: str | None
    level: float
    size: Size
    no_skill: Mapping[str, Collection[str]]  # by the same names the models not shown to be better than no skill

    @property
    def is_of_one_number(self) -> bool:
        """Whether one use, or one metric, decides."""
        return self.use is not None or len(self.decisive) <= 1

    # ---------------------------------------------------------------- contests

    @property
    def at_capacity(self) -> Outcomes | None:
        """The outcomes at a capacity, where scores are compared."""
        return next((each for each in self.outcomes if each.basis == AT_CAPACITY), None)

    def contests(self) -> dict[str, Contest]:
        """The contest of each use by its number; what is found at the capacity stands under "found"."""
        contests = {}
        if self.at_capacity is not None and ALERTS in self.decisive:
            contests[FOUND] = self._of_found(self.at_capacity)
        for use, rows in self.decisive.items():
            contests[use] = self._of_metric(use, rows)
        return {name: each for name, each in contests.items() if each.is_tested and len(each.order) > 1}

    def _of_found(self, outcomes: Outcomes) -> Contest:
        merits = {model.model: model.found for model in outcomes.models}
        tests = {
            (row.a, row.b): Test(row.difference, row.low, row.high, row.p_holm, max(row.needed, self.size.number))
            for row in outcomes.differences
        }
        return Contest(merits, tests, self.level, "", self.no_skill.get(ALERTS, ()))

    def _of_metric(self, use: str, rows: Sequence[Difference]) -> Contest:
        spec = rows[0].spec
        merits: dict[str, float] = {}
        tests: dict[tuple[str, str], Test] = {}
        for row in rows:
            merits |= {row.a: spec.sign * row.value_a, row.b: spec.sign * row.value_b}
            needed = rows_that_tell(row.difference, row.high - row.low, self.size.number, self.level)
            test = Test(row.difference, row.low, row.high, row.p_holm, max(needed, self.size.number))
            tests[row.a, row.b] = test if spec.sign > 0 else test.reversed()
        return Contest(merits, tests, self.level, metric_phrase(spec), self.no_skill.get(use, ()), spec)

    def together(self, contests: Mapping[str, Contest]) -> dict[str, Contest]:
        """The contests with Holm's p-values of all of them together."""
        keys = [(name, pair) for name, contest in contests.items() for pair in contest.tests]
        adjusted = dict(zip(keys, holm(contests[name].tests[pair].p for name, pair in keys), strict=True))
        return {
            name: replace(
                contest, tests={pair: test._replace(p=adjusted[name, pair]) for pair, test in contest.tests.items()}
            )
            for name, contest in contests.items()
        }

    # ---------------------------------------------------------------- sentences

    def statements(self) -> list[Statement]:
        """The sentences, each with places for the names of the models."""
        texts = [text for outcomes in self.outcomes for text in self._rows(outcomes)]
        contests = self.contests()
        judged = contests if self.is_of_one_number else self.together(contests)
        for name, rows in self.decisive.items():
            contest = judged.get(name)
            lead = f"For {name}, " if self.use is None and len(self.decisive) > 1 and name in USES else ""
            texts.append(self._untested(lead, rows) if contest is None else self._number(lead, contest))
        if contests:
            texts.append(self._decision(contests))
        names = {self._place(name)[1:-1]: name for name in self.models}
        return [Statement(text, names) for text in texts]

    def _place(self, model: str) -> str:
        return f"{{m{list(self.models).index(model)}}}"

    def _named(self, models: Iterable[str], joint: str = "and") -> str:
        """Models in a row; of many the first ones by name."""
        names = [self._place(name) for name in models]
        shown, rest = names[:_MOST_NAMED], len(names) - _MOST_NAMED
        return listed([*shown, f"{rest} more"] if rest > 0 else shown, joint)

    # ---------------------------------------------------------------- rows

    def _rows(self, outcomes: Outcomes) -> list[str]:
        """What each model does with the rows."""
        runs = "" if outcomes.runs is None else f", mean of {number_of(outcomes.runs, 'run')}"
        if outcomes.basis == AT_CAPACITY:
            alerts = _total(outcomes.alerts)
            where = f"At {alerts} {_plural('alerts', alerts)} of {_total(outcomes.of)} rows{runs}"
            return self._most(outcomes, FOUND, f"{where}{',' if runs else ''} ", "finds", "positives")
        if outcomes.basis == OF_CLASSES:
            mean = "" if outcomes.runs is None else f"In the mean of {number_of(outcomes.runs, 'run')} "
            return self._most(outcomes, RIGHT, mean, "is right in", "rows", outcomes.of)
        return self._each(outcomes, runs)

    def _most(
        self, outcomes: Outcomes, what: str, where: str, verb: str, noun: str, of: float | None = None
    ) -> list[str]:
        """Who has most, how many others have, and by how many more, with the interval."""
        differences = Rows(row for row in outcomes.differences if row.what == what)
        contest = self._of_found(replace(outcomes, differences=differences))
        total, order = outcomes.positives if of is None else of, contest.order
        digits = _digits(*(contest.merits[name] for name in order))
        counts = {name: _count(contest.merits[name], digits) for name in order}
        first, *others = order
        into = "in " if verb.endswith(" in") else ""
        most = f"{where}{self._place(first)} {verb} {counts[first]} of {_total(total)} {noun}"
        if len(others) == 1:
            second = others[0]
            gap, between = self._gap(contest.test(first, second), counts[first], counts[second], digits)
            if not gap:
                return [f"{most} and {self._place(second)} {into}as many{_in_brackets(between)}."]
            return [f"{most} and {self._place(second)} {into}{counts[second]}: {gap} more{_in_brackets(between)}."]
        named = [f"{self._place(name)} {into}{counts[name]}" for name in others[: _MOST_NAMED - 1]]
        rest = others[_MOST_NAMED - 1 :]
        named += [f"{len(rest)} more at most {counts[rest[0]]}"] if rest else []
        gaps = []
        for name in others[: _MOST_NAMED - 1]:
            gap, between = self._gap(contest.test(first, name), counts[first], counts[name], digits)
            gaps.append(f"{f'{gap} more than' if gap else 'as many as'} {self._place(name)}{_in_brackets(between)}")
        return [f"{most}, {listed(named)}.", f"{self._place(first)} {verb} {listed(gaps)}."]

    @staticmethod
    def _gap(test: Test, first: str, second: str, digits: int) -> tuple[str, str]:
        """How many more, empty where as many, and the interval of that: 7 and 2 to 12."""
        gap = _number_of(first) - _number_of(second)
        return _count(gap, digits) if gap else "", _rows_range(test.low, test.high, digits)

    def _each(self, outcomes: Outcomes, runs: str) -> list[str]:
        """What each model finds, misses and flags in error as it predicts; of two models by how many they differ."""
        noun = "labels" if outcomes.basis == OF_LABEL_SETS else "positives"
        false = "false labels" if outcomes.basis == OF_LABEL_SETS else "false alarms"
        order = sorted(outcomes.models, key=lambda model: -model.found)
        shown = _shown_counts(outcomes)
        texts: list[str] = []
        for model in order[:_MOST_NAMED]:
            found, missed, alarms = shown[model.model]
            total = f" of {_total(outcomes.positives)} {noun}" if not texts else ""
            end = f" {_plural(false, alarms)}" if not texts else ""
            texts.append(f"{self._place(model.model)} finds {found}{total}, misses {missed} and raises {alarms}{end}")
        rest = len(order) - len(texts)
        more = f"; {rest} more find fewer" if rest > 0 else ""
        sentences = [f"In {_total(outcomes.of)} rows{runs}{',' if runs else ''} {'; '.join(texts)}{more}."]
        if len(order) == 2:
            sentences += self._differ(outcomes, order[0].model, order[1].model, false)
        return sentences

    def _differ(self, outcomes: Outcomes, a: str, b: str, false: str) -> list[str]:
        """By how many two models differ, of the found and of the false alarms."""
        parts, shown = [], _shown_counts(outcomes)
        for what, place in ((FOUND, 0), (FALSE_ALARMS, 2)):
            row = next((row for row in outcomes.differences if row.what == what), None)
            if row is None or math.isnan(row.low):
                continue
            test = Test(row.difference, row.low, row.high, row.p_holm, row.needed)
            test = test if (row.a, row.b) == (a, b) else test.reversed()
            counts = [shown[name][place] for name in (a, b)]
            digits = int(any("." in count for count in counts))
            difference = _number_of(counts[0]) - _number_of(counts[1])
            number = _count(abs(difference), digits)
            gap = f"{number} {'more' if difference > 0 else 'fewer'}" if difference else "as many"
            words = f"finds {gap}" if what == FOUND else f"raises {gap} {_plural(false, number)}"
            parts.append(f"{words}{_in_brackets(_rows_range(test.low, test.high, digits))}")
        return [f"{self._place(a)} {listed(parts)} than {self._place(b)}."] if parts else []

    # ---------------------------------------------------------------- the number of a use

    def _number(self, lead: str, contest: Contest) -> str:
        """The values of the models by the number of a use, and how much the first exceeds the second."""
        assert contest.spec is not None  # noqa: S101 - of a metric
        spec, order = contest.spec, contest.order
        share, title = spec.is_share, metric_phrase(spec)
        exact = {name: spec.sign * contest.merits[name] for name in order}
        values = {
            name: value_text(0.0 if abs(value) < ROUNDING else value, share=share) for name, value in exact.items()
        }
        head = f"{lead}{title}" if lead else f"{title[:1].upper()}{title[1:]}"
        sides = ("lower", "higher") if spec.sign > 0 else ("higher", "lower")
        first, *others = order
        parts = [f"{values[name]} for {self._place(name)}" for name in order[:_MOST_NAMED]]
        if len(order) == 2:
            test = contest.test(first, others[0])
            if test.gain <= ROUNDING and test.high <= ROUNDING:
                return f"{head} is {values[first]} for both."
            gain = f"{_gain(test.gain, share=share)} {sides[1]}" if test.gain > ROUNDING else "no difference"
            between = _metric_range(test.low, test.high, sides, share=share)
            return f"{head} is {listed(parts)}: {gain}{_in_brackets(between)}."
        left = len(order) - _MOST_NAMED
        rest = f" and at best {values[order[_MOST_NAMED]]} for {left} more" if left > 0 else ""
        shown = [name for name in others if contest.is_shown(first, name)]
        alike = [name for name in others if name not in shown]
        ends = [f"{sides[1]} than {self._named(shown)}"] if shown else []
        ends += [f"not distinguishable from {self._named(alike)}"] if alike else []
        values_text = ", ".join(parts) + rest if rest else listed(parts)
        return f"{head} is {values_text}; {self._place(first)} is {' and '.join(ends)}."

    def _untested(self, lead: str, rows: Sequence[Difference]) -> str:
        """That the number of a use was not tested, and why."""
        title = metric_phrase(rows[0].spec)
        head = f"{lead}{title}" if lead else f"{title[:1].upper()}{title[1:]}"
        why = next((row.why for row in rows if row.why), None)
        reason = "" if why is None else ": " + why.replace("{", "{{").replace("}", "}}")
        return f"{head} is not tested{reason}."

    # ---------------------------------------------------------------- the decision

    def _decision(self, contests: Mapping[str, Contest]) -> str:
        """Which model to choose, for which use, or what would tell; none that is not shown to have skill."""
        if self.is_of_one_number:
            return self._of_one_use(contests)
        judged = self.together(contests)
        uses = [name for name in self.decisive if name in judged]
        without = [use for use in uses if not judged[use].skilled]
        chosen, sentences = {}, []
        for use in (use for use in uses if use not in without):
            decided = next((each for each in self._deciding(use, judged) if each.is_decided), None)
            if decided is None:
                continue
            chosen[use] = decided.choice
            if decided is not judged.get(FOUND) and FOUND in judged and use == ALERTS:
                sentences.append(f"Alerts are decided {self._over_all(judged[use])}.")
            sentences += self._passed_over(use, decided)
        open_ = [use for use in uses if use not in chosen and use not in without]
        if chosen:
            sentences.insert(0, self._chosen(chosen, open_, contests, judged))
        elif open_:
            sentences.append(self._open(open_, contests))
        return " ".join([*sentences, *self._none(without)])

    def _deciding(self, use: str, contests: Mapping[str, Contest]) -> list[Contest]:
        """The contests that decide for a use: of alerts what is found, then their number where no capacity is given."""
        if use != ALERTS or FOUND not in contests:
            return [contests[use]]
        return [contests[FOUND]] if self._capacity_given else [contests[FOUND], contests[use]]

    def _chosen(
        self,
        chosen: Mapping[str, tuple[str, ...]],
        open_: Sequence[str],
        contests: Mapping[str, Contest],
        judged: Mapping[str, Contest],
    ) -> str:
        """Which models to choose for which uses, and for which uses they are not distinguishable."""
        by_choice: dict[tuple[str, ...], list[str]] = {}
        for use, models in chosen.items():
            same = next((named for named in by_choice if set(named) == set(models)), models)
            by_choice.setdefault(same, []).append(use)
        if len(by_choice) == 1 and len(chosen) == len([name for name in judged if name != FOUND]):
            return self._choose(next(iter(by_choice)))
        joint = "for" if next(iter(chosen)) in USES else "by"
        words = {use: use if use in USES else judged[use].phrase for use in (*chosen, *open_)}
        parts = [
            f"{self._named(models, 'or')} {joint} {listed([words[use] for use in of_choice])}"
            for models, of_choice in by_choice.items()
        ]
        rest = ""
        if open_:
            together = " when all are tested together" if any(contests[use].is_decided for use in open_) else ""
            rest = f"; {joint} {listed([words[use] for use in open_])} {self._them} are not distinguishable{together}"
        return f"Choose {', '.join(parts)}{rest}."

    def _open(self, open_: Sequence[str], contests: Mapping[str, Contest]) -> str:
        """That the models are not distinguishable for any of these uses, and what would tell."""
        if not any(contests[use].is_decided for use in open_):
            of_found = FOUND in contests and ALERTS in open_
            return self._not_distinguishable(open_[0], contests[FOUND if of_found else open_[0]])
        what, one = ("uses", "the use that you need") if open_[0] in USES else ("metrics", "the one that matters")
        return (
            f"Not distinguishable by {len(open_)} {what} tested together, though an interval above leaves out 0; name "
            f"{one}, which then decides alone."
        )

    @property
    def _them(self) -> str:
        return "the models" if len(self.models) > 2 else "the two"

    @property
    def _capacity_given(self) -> bool:
        return self.at_capacity is not None and self.at_capacity.is_given

    def _over_all(self, number: Contest) -> str:
        """That the number of alerts decides, and not what is found at one number of them."""
        alerts = _total(self.at_capacity.alerts if self.at_capacity is not None else math.nan)
        return (
            f"by {number.phrase} over all numbers of alerts; at {alerts} alerts alone {self._them} are not "
            "distinguishable"
        )

    def _of_one_use(self, contests: Mapping[str, Contest]) -> str:
        """The choice by one use: of alerts what is found, then its number where no capacity was given."""
        use, found = next(iter(self.decisive)), contests.get(FOUND)
        number = contests.get(use)
        first = found or number
        assert first is not None  # noqa: S101 - some contest is tested
        if not first.skilled:
            return " ".join(self._none([use]))
        if found is None or number is None or self._capacity_given or not number.is_decided:
            if not first.is_decided:
                return self._not_distinguishable(use, first)
            return " ".join([self._choose(first.choice), *self._passed_over(use, first)])
        if not found.is_decided:
            which = self._choose(number.choice).removesuffix(".")
            return " ".join([f"{which}, {self._over_all(number)}.", *self._passed_over(use, number)])
        if found.choice[0] in number.choice or number.choice[0] in found.choice:
            return " ".join([self._choose(found.choice), *self._passed_over(use, found)])
        alerts = self.at_capacity.alerts if self.at_capacity is not None else math.nan
        return (
            f"Choose {self._named(found.choice, 'or')} for {_total(alerts)} alerts, "
            f"{self._named(number.choice, 'or')} where their number varies."
        )

    def _choose(self, models: tuple[str, ...]) -> str:
        if len(models) == 1:
            return f"Choose {self._place(models[0])}."
        alike = "the two" if len(models) == 2 else f"{self._place(models[0])} from the others"
        return f"Choose {self._named(models, 'or')}: no test distinguishes {alike}."

    # ---------------------------------------------------------------- no skill

    def _baseline(self, use: str) -> str:
        """What a model without skill does, by the number of a use."""
        words = without_skill(self.decisive[use][0].spec.metric)
        return f"a {words}" if words.startswith("random") else f"{words} for every row"

    def _none(self, uses: Sequence[str]) -> list[str]:
        """That no model is shown to be better than no skill for these uses."""
        by_baseline: dict[str, list[str]] = {}
        for use in uses:
            by_baseline.setdefault(self._baseline(use), []).append(use)
        none, sentences = "Neither" if len(self.models) == 2 else "None", []
        for baseline, of_baseline in by_baseline.items():
            if of_baseline == [PROBABILITIES] and RANKING not in uses:
                do = "recalibrate before you use one for probabilities"
            elif of_baseline[0] in USES:
                do = f"use none for {listed(of_baseline, 'or')}"
            else:
                do = (
                    f"choose none by {listed([metric_phrase(self.decisive[use][0].spec) for use in of_baseline], 'or')}"
                )
            sentences.append(f"{none} is shown to be better than {baseline}: {do}.")
        return sentences

    def _passed_over(self, use: str, contest: Contest) -> list[str]:
        """Which models are not chosen as they are not shown to have skill."""
        if not contest.passed_over:
            return []
        verb = "is" if len(contest.passed_over) == 1 else "are"
        return [f"{self._named(contest.passed_over)} {verb} not shown to be better than {self._baseline(use)}."]

    # ---------------------------------------------------------------- not distinguishable

    def _not_distinguishable(self, use: str, contest: Contest) -> str:
        """What the difference could be, how many rows would tell, and which models alone are shown to have skill."""
        first, last = contest.order[0], contest.order[-1]
        test, is_of_two = contest.test(first, last), len(contest.order) == 2
        if contest.spec is None:
            between = _rows_range(test.low, test.high, _digits(*contest.merits.values()))
            could = f"{self._place(first)} could find from {between}"
        else:
            sides = ("lower", "higher") if contest.spec.sign > 0 else ("higher", "lower")
            between = _metric_range(test.low, test.high, sides, share=contest.spec.is_share)
            could = f"{contest.phrase} of {self._place(first)} could be from {between}"
        who = "" if is_of_two else f"{self._named(contest.order)}; "
        than = "" if is_of_two else f" than {'' if contest.spec is None else 'that of '}{self._place(last)}"
        skilled, only = contest.skilled, ""
        if len(skilled) < len(contest.order):
            verb = "is" if len(skilled) == 1 else "are"
            only = f" Only {self._named(skilled)} {verb} shown to be better than {self._baseline(use)}."
        return f"Not distinguishable: {who}{could}{than}{self._tell(test)}.{only}"

    def _tell(self, test: Test) -> str:
        """How many rows would tell a difference of this size."""
        if math.isinf(test.needed) or math.isnan(test.needed):
            return ""
        if test.needed > _MOST_NEEDED:
            return f"; more than {_MOST_NEEDED:,} {self.size.noun} would be needed to tell"
        return f"; about {float(f'{test.needed:.2g}'):,.0f} {self.size.noun} would tell"


# ---------------------------------------------------------------- numbers of rows


def _digits(*counts: float) -> int:
    """No decimals where all are whole, or where some are ten or more and whole numbers show the differences; else one.

    >>> _digits(12.3, 11.0), _digits(12.3, 12.4), _digits(20.3, 17.5), _digits(0.7, 8.3)
    (0, 1, 1, 1)
    """
    known = sorted(count for count in counts if not math.isnan(count))
    if all(abs(count - round(count)) < 0.005 for count in known):
        return 0
    gaps = [(above - below, whole_rows(above) - whole_rows(below)) for below, above in pairwise(known)]
    shown = all(gap < 0.005 or (whole > 0 and abs(gap - whole) <= 0.5) for gap, whole in gaps)
    return 0 if shown and known[0] >= 0.5 and known[-1] >= 10 else 1


def _number_of(count: str) -> float:
    """The number that a text shows."""
    return float(count.replace(",", ""))


def _shown_counts(outcomes: Outcomes) -> dict[str, tuple[str, str, str]]:
    """What each model finds and misses, which add up, and its false alarms."""
    models, positives = outcomes.models, outcomes.positives
    digits = _digits(*(model.found for model in models))
    of_alarms = _digits(*(model.false_alarms for model in models))
    shown = {}
    for model in models:
        found = _count(model.found, digits)
        missed = model.missed if digits or positives < 10 else whole_rows(positives) - _number_of(found)
        shown[model.model] = found, _count(missed, digits), _count(model.false_alarms, of_alarms)
    return shown


def _count(number: float, digits: int) -> str:
    """A number of rows with so many decimals, none where it is whole."""
    return f"{number:,.{digits}f}" if digits and abs(number - round(number)) > 0.005 else f"{whole_rows(number):,}"


def _total(number: float) -> str:
    """A number of rows that others are part of: whole from ten on."""
    return f"{whole_rows(number):,}" if number >= 10 else _count(number, 1)


def _in_brackets(between: str) -> str:
    return f" ({between})" if between else ""


def _plural(noun: str, count: str) -> str:
    return noun.removesuffix("s") if count == "1" else noun


def _rows_range(low: float, high: float, digits: int) -> str:
    """An interval in rows: decimals only where it is narrow, and no end rounded to 0."""
    digits = digits if max(abs(low), abs(high)) < 10 else 0

    def text(number: float) -> str:
        return f"{number:,.{digits}f}" if not number or float(f"{number:.{digits}f}") else f"{number:.1g}"

    return _range(low, high, ("fewer", "more"), text)


def _range(low: float, high: float, sides: tuple[str, str], text: Callable[[float], str]) -> str:
    """2 to 12, or of an interval that holds 0: 3 fewer to 9 more; nothing where there is none."""
    if math.isnan(low) or math.isnan(high):
        return ""
    if low > 0 or (low == 0 and high == 0):
        return f"{text(low)} to {text(high)}"
    if high < 0:
        return f"{text(-high)} to {text(-low)} {sides[0]}"
    first = "0" if abs(low) < 1e-9 else f"{text(-low)} {sides[0]}"
    return f"{first} to {text(high)} {sides[1]}"


def _metric_range(low: float, high: float, sides: tuple[str, str], *, share: bool) -> str:
    """The same of a metric's differences: 0.012 to 0.110, or 0.004 lower to 0.031 higher."""

    def text(number: float) -> str:
        return _gain(number, share=share).removesuffix(" points")

    return _range(low, high, sides, text)


def _gain(number: float, *, share: bool) -> str:
    """A difference of values: of shares of rows in points, else with the three decimals that values have."""
    scaled, decimals = (100 * number, 1) if share else (number, 3)
    text = f"{scaled:.{decimals}f}"
    shown = text if not scaled or float(text) else f"{scaled:.1g}"
    return f"{shown} points" if share else shown
