"""Sentences of a comparison: by how many metrics which model is better than which, and where the leader changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.comparison.leaderboard_sentences import Statement, metric_phrase
from steelyard.analysis.results.formatting import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.comparison.pair_wins import PairWins
    from steelyard.analysis.comparison.prevalence_leaders import Flip, PrevalenceLeaders

_MOST_NAMED = 4


def win_sentences(comparison: Comparison) -> list[Statement]:
    """Of two models the metrics by which each is better; of more, which of them have the best value by how many."""
    wins = comparison.wins()
    return [pair_sentence(comparison, wins[0])] if len(comparison.models) == 2 else _best_values(comparison)


def pair_sentence(comparison: Comparison, pair: PairWins) -> Statement:
    """By which metrics one model of a pair is better than the other, both of them named."""
    models, tested = {"a": pair.a, "b": pair.b}, len(pair.by_a) + len(pair.by_b) + len(pair.undecided)
    limit, left = f"{1 - comparison.level:.2g}", _left_untested(len(pair.untested), tested)
    if not tested:
        return Statement(f"By none of {_counted(len(pair.untested))} {{a}} and {{b}} were tested.", models)
    if not pair.by_a and not pair.by_b:
        words = f"Of {_counted(tested)} tested together none distinguishes {{a}} and {{b}}"
        return Statement(f"{words} (p of {limit} or more, Holm over all tests){left}.", models)
    phrases = {spec.name: metric_phrase(spec) for spec in comparison.tables.specs}
    sides = [("{a}", "{b}", pair.by_a), ("{b}", "{a}", pair.by_b)]
    parts = [
        f"{better} is better than {worse} by {_few([phrases[name] for name in by], tested)}"
        for better, worse, by in sides
        if by
    ]
    rest = len(pair.undecided)
    others = f"; {rest} of {_counted(tested)} {'does' if rest == 1 else 'do'} not distinguish them" if rest else ""
    return Statement(f"{', '.join(parts)} (p below {limit}, Holm over all tests){others}{left}.", models)


def _left_untested(untested: int, tested: int) -> str:
    return f"; {untested} more {'was' if untested == 1 else 'were'} not tested" if untested and tested else ""


def short_percent(share: float) -> str:
    """A prevalence in as few digits as it has, three at most.

    >>> short_percent(0.2), short_percent(0.08123)
    ('20 %', '8.12 %')
    """
    return f"{float(f'{100 * share:.3g}'):g} %"


def _counted(metrics: int) -> str:
    return f"{metrics} metric{'s' * (metrics != 1)}"


def _few(phrases: Sequence[str], of: int) -> str:
    return listed(list(phrases)) if len(phrases) <= _MOST_NAMED else f"{len(phrases)} of {_counted(of)}"


def _best_values(comparison: Comparison) -> list[Statement]:
    """How often each model has the best value, which no test is needed for."""
    best: dict[str, int] = {}
    boards = [comparison.leaderboard(spec) for spec in comparison.tables.specs if spec.sign]
    for row in (row for board in boards for row in board if row.place == 1):
        best[row.model] = best.get(row.model, 0) + 1
    if not best:
        return []
    most = sorted(best.items(), key=lambda item: -item[1])
    named = {f"m{i}": name for i, (name, _) in enumerate(most[:_MOST_NAMED])}
    first, *others = (count for _, count in most)
    words = [f"{{m0}} has the best value by {first} of {_counted(len(boards))}"]
    words += [f"{{m{i}}} by {count}" for i, count in enumerate(others[: _MOST_NAMED - 1], 1)]
    rest = len(most) - len(named)
    words += [f"{rest} other{'s' * (rest > 1)} by fewer"] if rest else []
    return [Statement(f"{', '.join(words)}.", named)]


def flip_sentences(comparison: Comparison, leaders: PrevalenceLeaders) -> list[Statement]:
    """By which metrics the leader depends on the prevalence, and the first changes; one sentence where none does."""
    flips, metrics = leaders.flips, {row.metric for row in leaders if row.models}
    if not metrics:
        return []
    if not flips:
        ends = " and ".join(short_percent(share) for share in (leaders.prevalences[0], leaders.prevalences[-1]))
        return [Statement(f"At every prevalence between {ends} the same model leads by each metric.")]
    changing = list(dict.fromkeys(flip.metric for flip in flips))
    phrases = {spec.name: metric_phrase(spec) for spec in comparison.tables.specs}
    head = f"The leader changes with the prevalence by {len(changing)} of {_counted(len(metrics))}."
    shown = [_flip(flip, phrases[flip.metric]) for flip in flips[:_MOST_NAMED]]
    rest = len(flips) - len(shown)
    return [Statement(head), *shown, *([Statement(f"{rest} more changes are in the table.")] if rest > 1 else [])]


def _flip(flip: Flip, phrase: str) -> Statement:
    low, high = (short_percent(share) for share in (flip.low, flip.high))
    return Statement(
        f"By {phrase} the lead goes from {{before}} to {{after}} between {low} and {high} positives.",
        {"before": flip.before, "after": flip.after},
    )
