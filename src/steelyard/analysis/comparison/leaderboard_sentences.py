"""Sentences of a leaderboard: who leads whom by the metric, and from whom no test distinguishes the leader."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import interval_text, listed, p_text, value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steelyard.analysis.comparison.leaderboard import Leaderboard, RankedModel, RankedPair
    from steelyard.metrics.spec import MetricSpec

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
    undefined = [row.model for row in board.rows if row.place is None]
    more = [_named("{is} undefined for {models}", undefined, title=_capital(_title(board)))] if undefined else []
    if len(ranked) == 1:
        return [_only(board, ranked[0]), *more]
    return [*(_of_two(board, *ranked) if len(ranked) == 2 else _of_many(board, ranked)), *more]


def _title(board: Leaderboard) -> str:
    phrase = metric_phrase(board.spec)
    return phrase if board.runs is None else f"mean {phrase}"


def metric_phrase(spec: MetricSpec) -> str:
    """The metric inside a statement; a class of its name may hold braces."""
    words = spec.metric.phrase if spec.is_native else spec.title
    return words.replace("{", "{{").replace("}", "}}")


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _value(board: Leaderboard, row: RankedModel) -> str:
    """The value with its interval, alone where it has none."""
    share = board.spec.is_share
    if math.isnan(row.low):
        return value_text(row.value, share=share)
    return interval_text(row.value, row.low, row.high, share=share)


def _only(board: Leaderboard, row: RankedModel) -> Statement:
    return Statement(_capital(f"{_title(board)} of {{a}} is {_value(board, row)}."), {"a": row.model})


def _of_two(board: Leaderboard, first: RankedModel, second: RankedModel) -> list[Statement]:
    models = {"a": first.model, "b": second.model}
    pair = board.pair(first.model, second.model)
    values = f"{_value(board, first)} against {_value(board, second)}"
    if not pair.is_tested:
        return [Statement(f"{_capital(_title(board))} of {{a}} and {{b}}: {values}; {_not_tested([pair])}.", models)]
    p_value = p_text(pair.p_holm)
    if pair.is_distinguishable:
        better = "higher" if board.spec.sign > 0 else "lower"
        return [Statement(f"{{a}} has a {better} {_title(board)} than {{b}}: {values}, {p_value}.", models)]
    return [Statement(f"{{a}} and {{b}} are not distinguishable by {_title(board)}: {values}, {p_value}.", models)]


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
    best = "highest" if board.spec.sign > 0 else "lowest"
    pairs = {row.model: board.pair(first.model, row.model) for row in others}
    apart = [model for model, pair in pairs.items() if pair.is_distinguishable]
    untested = [model for model, pair in pairs.items() if not pair.is_tested]
    alike = [row.model for row in others if row.model not in (*apart, *untested)]
    if alike:
        sentences = _tied(board, first, [row for row in others if row.model in alike])
    else:
        leads = f"Of {len(board.rows)} models {{a}} has the {best} {_title(board)}, {_value(board, first)}."
        sentences = [Statement(leads, {"a": first.model})]
    if apart:
        than = "lower" if board.spec.sign > 0 else "higher"
        verb = f"has a {than}" if len(apart) == 1 else f"have a {than}"
        words = f"{{models}} {verb} {_title(board)} than {{leader}} (p < {1 - board.level:.2g}{_over(board)})"
        sentences.append(_named(words, apart, leader=first.model))
    if untested:
        why = _not_tested([pairs[model] for model in untested])
        sentences.append(_named(f"{{models}} against {{leader}}: {why}", untested, leader=first.model))
    return sentences


def _tied(board: Leaderboard, first: RankedModel, alike: Sequence[RankedModel]) -> list[Statement]:
    """The models that lead together, as no test distinguishes the first from the others."""
    ends = [value_text(row.value, share=board.spec.is_share) for row in (first, alike[-1])]
    values = " and ".join(ends) if len(alike) == 1 else f"{ends[0]} to {ends[1]}"
    words = f"Of {len(board.rows)} models {{models}} lead by {_title(board)} ({values})"
    tied = "which no test distinguishes" if len(alike) == 1 else "and no test distinguishes the others from {leader}"
    named = [first.model, *(row.model for row in alike)]
    return [_named(f"{words}, {tied}", named, leader=None if len(alike) == 1 else first.model)]


def _over(board: Leaderboard) -> str:
    """What the p-values are corrected for."""
    return ", Holm over all pairs" if len(board.pairs) > 1 else ""


def _named(template: str, models: Sequence[str], leader: str | None = None, title: str = "") -> Statement:
    """A sentence about several models, the first of which are named; it begins with a capital where words do."""
    shown = {f"m{i}": model for i, model in enumerate(models[:_MOST_NAMED])}
    rest = len(models) - len(shown)
    words = [f"{{{key}}}" for key in shown] + ([f"{rest} more"] if rest else [])
    verb = "is" if len(models) == 1 or title else "are"
    parts = {"{models}": listed(words), "{is}": f"{title} {verb}".strip(), "{leader}": "{leader}"}
    for key, part in parts.items():
        template = template.replace(key, part)
    return Statement(f"{template}.", shown | ({} if leader is None else {"leader": leader}))
