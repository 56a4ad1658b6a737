"""Leaderboard: compared models from the best to the worst by a metric, and which of them are not distinguishable."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import combinations, count
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from steelyard.analysis.holm import holm
from steelyard.analysis.intervals.inference import ClusteredRows, Inference
from steelyard.analysis.intervals.intervals import IntervalSampler
from steelyard.analysis.results.formatting import ROUNDING, interval_text, listed, p_text, value_text
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.exceptions import InputError, did_you_mean
from steelyard.metrics.registry import default_metric
from steelyard.metrics.score_values import reads_columns
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from steelyard._types import Array
    from steelyard.analysis.comparison.comparison import Comparison, ModelTables, PairWins
    from steelyard.analysis.comparison.metric_ranking import PrevalenceLeaders
    from steelyard.analysis.intervals.design import RowMass
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.metrics.spec import SpecLike


# ---------------------------------------------------------------- brackets
# Which models of an order no test distinguishes, and the letters that say so.
#
# Letters as in Piepho (2004), Journal of Computational and Graphical Statistics 13, 456-466: two models share one
# exactly where they are not distinguishable, which need not pass on from a pair to the next.


Bracket: TypeAlias = tuple[str, ...]
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def brackets(order: Sequence[str], distinguished: Collection[frozenset[str]]) -> tuple[Bracket, ...]:
    """Sets of models that no test distinguishes, as large as can be, which cover every such pair and every model.

    >>> brackets("ABCD", {frozenset("AC"), frozenset("AD"), frozenset("BD")})
    (('A', 'B'), ('B', 'C'), ('C', 'D'))
    """
    alike = [pair for pair in combinations(order, 2) if frozenset(pair) not in distinguished]
    grown: list[Bracket] = []
    for a, b in alike:
        if not any(a in bracket and b in bracket for bracket in grown):
            grown.append(_grown((a, b), order, distinguished))
    for model in order:
        if not any(model in bracket for bracket in grown):
            grown.append((model,))
    index = {model: i for i, model in enumerate(order)}
    return tuple(sorted(_needed(grown), key=lambda bracket: [index[model] for model in bracket]))


def _grown(pair: Bracket, order: Sequence[str], distinguished: Collection[frozenset[str]]) -> Bracket:
    """The pair and every model that fits to all before it: first those between them and next in the order."""
    members = set(pair)
    for model in order:
        if all(frozenset((model, member)) not in distinguished for member in members - {model}):
            members.add(model)
    return tuple(model for model in order if model in members)


def _needed(grown: list[Bracket]) -> list[Bracket]:
    """The brackets without which some pair would be in none; a later one may hold all pairs of an earlier one."""
    needed = list(grown)
    for bracket in grown:
        others = [other for other in needed if other is not bracket]
        pairs = list(combinations(bracket, 2))
        if pairs and all(any(a in other and b in other for other in others) for a, b in pairs):
            needed = others
    return needed


def letters(order: Sequence[str], grouped: Sequence[Bracket]) -> dict[str, str]:
    """The letters of each model, one for each bracket that it is in.

    >>> letters("ABC", [("A", "B"), ("B", "C")])
    {'A': 'a', 'B': 'ab', 'C': 'b'}
    """
    names = (f"{letter}{turn or ''}" for turn in count() for letter in _ALPHABET)  # a to z, then a1 to z1, and so on
    named = list(zip(names, grouped, strict=False))
    joint = "" if len(grouped) <= len(_ALPHABET) else ","
    return {model: joint.join(name for name, bracket in named if model in bracket) for model in order}


# ---------------------------------------------------------------- sentences of a leaderboard
# Who leads whom by the metric, and from whom no test distinguishes the leader.


_MOST_NAMED = 4


@dataclass(frozen=True)
class Statement:
    """A sentence with places for the names of models, which each surface writes in its own way."""

    template: str
    models: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: Callable[[str], str] = str) -> str:
        """The sentence as text."""
        return self.template.format(**{key: name(model) for key, model in self.models.items()})


def leaderboard_sentences(board: Leaderboard) -> list[Statement]:
    """The leader and its value, and the models that are or are not distinguishable from it."""
    ranked = [row for row in board.rows if row.place is not None]
    if not ranked:
        return [Statement(_capital(f"{_title(board)} is undefined for every model."))]
    if len(ranked) == 1:
        only = ranked[0]
        sentences = [Statement(_capital(f"{_title(board)} of {{a}} is {_value(board, only)}."), {"a": only.model})]
    elif len(ranked) == 2:
        sentences = [_of_two(board, *ranked)]
    else:
        sentences = _of_many(board, ranked)
    undefined = [row.model for row in board.rows if row.place is None]
    if undefined:
        sentences.append(_named("{is} undefined for {models}", undefined, title=_capital(_title(board))))
    return sentences


def _title(board: Leaderboard) -> str:
    phrase = metric_phrase(board.spec)
    return phrase if board.runs is None else f"mean {phrase}"


def metric_phrase(spec: MetricSpec) -> str:
    """The metric inside a statement, such as "macro F1"; a class of its name may hold braces."""
    words = spec.metric.phrase if spec.is_native else spec.title
    if spec.label is None and isinstance(spec.average, str) and not spec.is_native:
        words = f"{spec.average} {spec.metric.phrase}"
    return words.replace("{", "{{").replace("}", "}}")


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _value(board: Leaderboard, row: RankedModel) -> str:
    """The value with its interval, alone where it has none."""
    share = board.spec.is_share
    if math.isnan(row.low):
        return value_text(row.value, share=share)
    return interval_text(row.value, row.low, row.high, share=share)


def _of_two(board: Leaderboard, first: RankedModel, second: RankedModel) -> Statement:
    models = {"a": first.model, "b": second.model}
    pair = board.pair(first.model, second.model)
    values = f"{_value(board, first)} against {_value(board, second)}"
    if not pair.is_tested:
        return Statement(f"{_capital(_title(board))} of {{a}} and {{b}}: {values}; {_not_tested([pair])}.", models)
    p_value = p_text(pair.p_holm)
    if pair.is_distinguishable:
        better = "higher" if board.spec.sign > 0 else "lower"
        return Statement(f"{{a}} has a {better} {_title(board)} than {{b}}: {values}, {p_value}.", models)
    return Statement(f"{{a}} and {{b}} are not distinguishable by {_title(board)}: {values}, {p_value}.", models)


def _not_tested(pairs: Sequence[RankedPair]) -> str:
    """That a difference was not tested, and why."""
    reasons = list(dict.fromkeys(pair.why for pair in pairs if pair.why))
    words = "; ".join(reasons).replace("{", "{{").replace("}", "}}")
    return f"not tested: {words}" if words else "not tested"


def letters_note(board: Leaderboard, title: str, over: str, joined: str = "") -> str:
    """What the letters of the leaderboard state; that there are none where no difference was tested."""
    if not board.has_letters:
        return f"No difference by {title} was tested, so that no letters are shown."
    limit, untested = f"p of {1 - board.level:.2g} or more{over}", len(board.untested)
    left = f" Not tested, and without a shared letter: {untested} of {len(board.pairs)} pairs."
    shared = f"Models that share a letter{joined} are not distinguishable by {title} ({limit})."
    return f"{shared}{left if untested else ''}"


def _of_many(board: Leaderboard, ranked: Sequence[RankedModel]) -> list[Statement]:
    first, others = ranked[0], ranked[1:]
    pairs = {row.model: board.pair(first.model, row.model) for row in others}
    worse = [model for model, pair in pairs.items() if pair.is_distinguishable]
    untested = [model for model, pair in pairs.items() if not pair.is_tested]
    tied = [row for row in others if row.model not in (*worse, *untested)]
    if tied:
        sentences = [_tied(board, first, tied)]
    else:
        best = "highest" if board.spec.sign > 0 else "lowest"
        leads = f"{{a}} has the {best} {_title(board)} of {len(board.rows)} models, {_value(board, first)}."
        sentences = [Statement(leads, {"a": first.model})]
    if worse:
        than = "lower" if board.spec.sign > 0 else "higher"
        verb = f"has a {than}" if len(worse) == 1 else f"have a {than}"
        over = ", Holm over all pairs" if len(board.pairs) > 1 else ""
        words = f"{{models}} {verb} {_title(board)} than {{leader}} (p < {1 - board.level:.2g}{over})"
        sentences.append(_named(words, worse, leader=first.model))
    if untested:
        why = _not_tested([pairs[model] for model in untested])
        sentences.append(_named(f"{{models}} against {{leader}}: {why}", untested, leader=first.model))
    return sentences


def _tied(board: Leaderboard, first: RankedModel, others: Sequence[RankedModel]) -> Statement:
    """The models that lead together, as no test distinguishes the first from the others."""
    best, last = (value_text(row.value, share=board.spec.is_share) for row in (first, others[-1]))
    names = [first.model, *(row.model for row in others)]
    head = f"{{models}} lead by {_title(board)}"
    if len(others) == 1:
        return _named(f"{head} ({best} and {last}), which no test distinguishes", names)
    words = f"{head} ({best} to {last}), and no test distinguishes the others from {{leader}}"
    return _named(words, names, leader=first.model)


def _named(template: str, models: Sequence[str], leader: str | None = None, title: str = "") -> Statement:
    """A sentence about several models; the first ones are named, the others counted."""
    shown = {f"m{i}": model for i, model in enumerate(models[:_MOST_NAMED])}
    rest = len(models) - len(shown)
    words = [f"{{{key}}}" for key in shown] + ([f"{rest} more"] if rest else [])
    verb = "is" if len(models) == 1 or title else "are"
    parts = {"{models}": listed(words), "{is}": f"{title} {verb}".strip(), "{leader}": "{leader}"}
    for key, part in parts.items():
        template = template.replace(key, part)
    return Statement(f"{template}.", shown | ({} if leader is None else {"leader": leader}))


# ---------------------------------------------------------------- sentences of a comparison
# By how many metrics which model is better than which, and where the leader changes.


def best_value_sentences(comparison: Comparison) -> list[Statement]:
    """How often each model has the best value."""
    best: dict[str, int] = {}
    boards = [comparison.leaderboard(spec) for spec in comparison.tables.specs if spec.sign]
    for row in (row for board in boards for row in board if row.place == 1):
        best[row.model] = best.get(row.model, 0) + 1
    if not best:
        return []
    most = sorted(best.items(), key=lambda item: -item[1])
    named = {f"m{i}": name for i, (name, _) in enumerate(most[:_MOST_NAMED])}
    first, *others = (times for _, times in most)
    words = [f"{{m0}} has the best value by {first} of {_counted(len(boards))}"]
    words += [f"{{m{i}}} by {times}" for i, times in enumerate(others[: _MOST_NAMED - 1], 1)]
    rest = len(most) - len(named)
    if rest:
        words.append(f"{rest} other{'s' * (rest > 1)} by fewer")
    return [Statement(f"{', '.join(words)}.", named)]


def pair_sentence(comparison: Comparison, pair: PairWins) -> Statement:
    """By which metrics one model of a pair is better than the other, both of them named."""
    models, tested = {"a": pair.a, "b": pair.b}, len(pair.by_a) + len(pair.by_b) + len(pair.undecided)
    if not tested:
        return Statement(f"By none of {_counted(len(pair.untested))} {{a}} and {{b}} were tested.", models)
    limit, untested = f"{1 - comparison.level:.2g}", len(pair.untested)
    left = f"; {untested} more {'was' if untested == 1 else 'were'} not tested" if untested else ""
    if not pair.by_a and not pair.by_b:
        words = f"None of {_counted(tested)} tested together distinguishes {{a}} and {{b}}"
        return Statement(f"{words} (p of {limit} or more, Holm over all tests){left}.", models)
    phrases = {spec.name: metric_phrase(spec) for spec in comparison.tables.specs}
    parts = []
    for better, worse, by in (("{a}", "{b}", pair.by_a), ("{b}", "{a}", pair.by_b)):
        if by:
            few = listed([phrases[name] for name in by]) if len(by) <= _MOST_NAMED else None
            parts.append(f"{better} is better than {worse} by {few or f'{len(by)} of {_counted(tested)}'}")
    rest = len(pair.undecided)
    others = f"; {rest} of {_counted(tested)} {'does' if rest == 1 else 'do'} not distinguish them" if rest else ""
    return Statement(f"{', '.join(parts)} (p below {limit}, Holm over all tests){others}{left}.", models)


def short_percent(share: float) -> str:
    """A prevalence in as few digits as it has, three at most.

    >>> short_percent(0.2), short_percent(0.08123)
    ('20 %', '8.12 %')
    """
    return f"{float(f'{100 * share:.3g}'):g} %"


def _counted(metrics: int) -> str:
    return f"{metrics} metric{'s' * (metrics != 1)}"


def flip_sentences(comparison: Comparison, leaders: PrevalenceLeaders) -> list[Statement]:
    """By which metrics the leader depends on the prevalence, and the first changes; one sentence where none does."""
    flips, metrics = leaders.flips, {row.metric for row in leaders if row.models}
    if not metrics:
        return []
    if not flips:
        low, high = short_percent(leaders.prevalences[0]), short_percent(leaders.prevalences[-1])
        return [Statement(f"At every prevalence between {low} and {high} the same model leads by each metric.")]
    changing = list(dict.fromkeys(flip.metric for flip in flips))
    phrases = {spec.name: metric_phrase(spec) for spec in comparison.tables.specs}
    head = f"The leader changes with the prevalence by {len(changing)} of {_counted(len(metrics))}."
    sentences = [Statement(head)]
    for flip in flips[:_MOST_NAMED]:
        low, high = short_percent(flip.low), short_percent(flip.high)
        moves = f"the lead goes from {{before}} to {{after}} between {low} and {high} positives"
        names = {"before": flip.before, "after": flip.after}
        sentences.append(Statement(f"By {phrases[flip.metric]} {moves}.", names))
    rest = len(flips) - _MOST_NAMED
    if rest > 1:
        sentences.append(Statement(f"{rest} more changes are in the table."))
    return sentences


# ---------------------------------------------------------------- model intervals
# The value of every compared model by every metric, with its own interval.


@dataclass(frozen=True)
class RowDesign:
    """What the tables of models do not keep of their rows: clusters, and class sizes that were chosen."""

    true: Array | None = None
    mass: RowMass | None = None
    labels: Mapping[str, Array] = field(default_factory=dict)
    scores: Mapping[str, Array] = field(default_factory=dict)
    fixed: Mapping[str, bool] = field(default_factory=dict)

    def inference(self, model: str, requested: Inference) -> Inference:
        """How the model's intervals are made; their generator is a new one, so that draws of differences stay."""
        design = "stratified" if self.fixed.get(model) else "random"
        inference = Inference(requested.level, draws=requested.draws, design=design)
        if self.true is None or self.mass is None or self.mass.clusters is None:
            return inference
        labels, scores = self.labels.get(model), self.scores.get(model)
        rows = ClusteredRows(self.true, labels, self.mass.clusters, y_score=scores, sample_weight=self.mass.mass)
        return replace(inference, clustered=rows)

    def cluster_tables(self, model: str, k: int) -> Array | None:
        """The table of each cluster, in which the mean row has weight 1; None where rows are not clustered."""
        if self.true is None or self.mass is None or self.mass.clusters is None or model not in self.labels:
            return None
        code = (self.mass.clusters.astype(np.intp) * k + self.true) * k + self.labels[model]
        tables = np.bincount(code, self.mass.mass, minlength=(int(self.mass.clusters.max()) + 1) * k * k)
        tables = tables.reshape(-1, k, k)
        weights, squares = self.mass.weights, self.mass.squares
        row_weight = 1.0 if weights is None or squares is None else squares.sum() / weights.sum()
        return np.asarray(tables[tables.any((1, 2))] / row_weight)


def model_intervals(tables: ModelTables, inference: Inference, design: RowDesign) -> dict[str, Rows[Interval]]:
    """The intervals of each model, by its name, in the order of the metrics.

    Labels, or one column of scores, share one set of draws; metrics of a column for each class have one of their own.
    """
    of_columns = [spec for spec in tables.specs if tables.columns and reads_columns(spec)]
    others = [spec for spec in tables.specs if spec not in of_columns]
    by_model = {}
    for name in tables.labels or tables.scores or tables.columns or tables.label_sets:
        k = len(tables.labels[name].labels) if tables.labels else 0
        model_inference = design.inference(name, inference)
        intervals: dict[MetricSpec, Interval] = {}
        for specs, cluster_tables in ((others, design.cluster_tables(name, k)), (of_columns, None)):
            sampler = IntervalSampler(model_inference, cluster_tables)
            estimands = [tables.estimand(spec, name) for spec in specs]
            intervals |= dict(zip(specs, sampler.intervals(estimands), strict=True))
        by_model[name] = Rows(intervals[spec] for spec in tables.specs)
    return by_model


# ---------------------------------------------------------------- leaderboard


class RankedValue(Protocol):
    """A value with its interval, and why one of them is missing."""

    @property
    def value(self) -> float:
        """The value."""

    @property
    def low(self) -> float:
        """The lower bound."""

    @property
    def high(self) -> float:
        """The upper bound."""

    @property
    def why(self) -> Any:
        """The reason."""


class TestedPair(Protocol):
    """Two models, their difference, and the p-value that it is 0."""

    @property
    def a(self) -> str:
        """The first model."""

    @property
    def b(self) -> str:
        """The second model."""

    @property
    def difference(self) -> float:
        """The first minus the second."""

    @property
    def p_value(self) -> float:
        """Of the test that it is 0; NaN where it was not tested."""

    @property
    def why(self) -> Any:
        """Why it was not tested."""


@dataclass(frozen=True, eq=False)
class RankedModel(Flat):
    """One model of a leaderboard: its place, its value with the interval, and the letters of its brackets."""

    place: int | None
    model: str
    value: float
    low: float
    high: float
    letters: str
    why: str | None = None


@dataclass(frozen=True, eq=False)
class RankedPair(Flat):
    """Two models of a leaderboard, the better one first, and the test that they are equal; Holm's p of all pairs."""

    better: str
    worse: str
    difference: float
    p_value: float
    p_holm: float
    is_distinguishable: bool
    why: str | None = None

    @property
    def is_tested(self) -> bool:
        """Whether there is a p-value."""
        return not math.isnan(self.p_holm)


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result[RankedModel]):
    """The models from the best to the worst by one metric.

    Models that share a letter, and so stand in one of the `brackets`, are not distinguishable: the test of their
    difference has a p-value of 1 - level or more by Holm's method over all pairs by this metric. A pair that was not
    tested shares none. Where `runs` says how many, values are means over the runs of a cross-evaluation.
    """

    spec: MetricSpec = field(metadata={"key": "metric"})
    level: float
    rows: Rows[RankedModel]
    pairs: Rows[RankedPair]
    brackets: tuple[tuple[str, ...], ...]
    runs: int | None = None

    def __iter__(self) -> Iterator[RankedModel]:
        return iter(self.rows)

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    @property
    def headline(self) -> str:
        """Who leads whom, and which tests do not distinguish."""
        return " ".join(statement.text() for statement in leaderboard_sentences(self))

    def shown_rows(self) -> list[dict[str, object]]:
        """The models as people see them."""
        share = self.spec.is_share
        shown: list[dict[str, object]] = []
        for row in self.rows:
            interval = None
            if not math.isnan(row.low):
                text = interval_text(row.value, row.low, row.high, share=share)
                interval = text.partition("(")[2].removesuffix(")")
            shown.append(
                {
                    "place": row.place,
                    "model": row.model,
                    self.metric: value_text(row.value, share=share),
                    f"{100 * self.level:g} % interval": interval,
                    "letters": row.letters,
                    "why": row.why,
                }
            )
        return shown

    @property
    def untested(self) -> list[RankedPair]:
        """The pairs of models with a value whose difference was not tested, each with the reason."""
        ranked = {row.model for row in self.rows if row.place is not None}
        return [pair for pair in self.pairs if {pair.better, pair.worse} <= ranked and not pair.is_tested]

    @property
    def has_letters(self) -> bool:
        """Whether a test was made for letters to show."""
        return any(pair.is_tested for pair in self.pairs)

    def pair(self, a: str, b: str) -> RankedPair:
        """The test of two models."""
        return next(pair for pair in self.pairs if {pair.better, pair.worse} == {a, b})


def ranked_spec(comparison: Comparison, metric: SpecLike | None) -> MetricSpec:
    """The metric of the comparison that is named; else the default where it was compared, or the first with a best."""
    specs = comparison.tables.specs
    if metric is None:
        of_use = [rows[0].spec for rows in comparison.decisive.values()]
        of_use = of_use if comparison.use is not None or comparison.tables.scores else []
        preferred = (*of_use[:1], MetricSpec(default_metric()))
        named = next((spec for spec in preferred if spec in specs), None)
        named = named or next((spec for spec in specs if spec.sign), specs[0])
    else:
        named = MetricSpec.of(metric)
    if named not in specs:
        near = did_you_mean(named.name, [spec.name for spec in specs])
        listed = ", ".join(spec.name for spec in specs)
        raise InputError(f"The models were not compared by {named.name}, only by {listed}.{near}")
    if not named.sign:
        raise InputError(f"No value of {named.name} is best, so no model leads by it; name another.")
    return named


def leaderboard(comparison: Comparison, metric: SpecLike | None = None) -> Leaderboard:
    """The models of a comparison by one metric."""
    spec = ranked_spec(comparison, metric)
    index = comparison.tables.specs.index(spec)
    intervals = comparison.intervals or model_intervals(comparison.tables, Inference(comparison.level), RowDesign())
    values = {name: intervals[name][index] for name in comparison.models}
    tests = [row for row in comparison.rows if row.spec == spec]
    return ranked_leaderboard(spec, comparison.level, values, tests)


def ranked_leaderboard(
    spec: MetricSpec,
    level: float,
    values: Mapping[str, RankedValue],
    tests: Sequence[TestedPair],
    runs: int | None = None,
) -> Leaderboard:
    """The models in the order of their values, joined where the tests of their pairs do not distinguish them."""
    merits = {name: spec.sign * float(value.value) for name, value in values.items()}
    order = sorted(merits, key=lambda name: math.inf if math.isnan(merits[name]) else -merits[name])
    defined = [name for name in order if not math.isnan(merits[name])]
    pairs = _pairs(tests, order, level)
    separate = {frozenset((pair.better, pair.worse)) for pair in pairs if pair.is_distinguishable or not pair.is_tested}
    joined = brackets(defined, separate)
    shown = letters(defined, joined) if len(defined) == 1 or any(pair.is_tested for pair in pairs) else {}
    rows: Rows[RankedModel] = Rows()
    for name in order:
        interval, place = values[name], None
        if name in defined:
            place = 1 + sum(other > merits[name] + ROUNDING for other in merits.values())
        why = None if interval.why is None else str(interval.why)
        numbers = (float(interval.value), float(interval.low), float(interval.high))
        rows.append(RankedModel(place, name, *numbers, shown.get(name, ""), why))
    return Leaderboard(spec, level, rows, pairs, joined, runs)


def _pairs(rows: Sequence[TestedPair], order: Sequence[str], level: float) -> Rows[RankedPair]:
    """The tests of all pairs by one metric, corrected together; one that was not made distinguishes nothing."""
    index = {name: i for i, name in enumerate(order)}
    tests: Rows[RankedPair] = Rows()
    for row, p_holm in zip(rows, holm(row.p_value for row in rows), strict=True):
        better, worse, difference = row.a, row.b, row.difference
        if index[row.a] > index[row.b]:
            better, worse, difference = row.b, row.a, -row.difference
        tests.append(RankedPair(better, worse, difference, row.p_value, p_holm, p_holm < 1 - level, row.why))
    return tests
