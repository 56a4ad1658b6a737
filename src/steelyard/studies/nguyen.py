"""Nguyen (2019): test sets of three ratios, 20 Newsgroups, and the unbalanced factor that should make them agree.

For each topic 500 of its texts and 500 others are drawn and cut into ten training subsets; a multinomial naive Bayes
classifier of each is tested on sets of 20:80, 50:50 and 80:20.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.datasets.paper_datasets import newsgroups20
from steelyard.ingest.array_tables import confusion
from steelyard.metrics.references import reference
from steelyard.protocol.sized_splits import Drawn, Draws, Sizes
from steelyard.statistics.counts import Counts
from steelyard.studies import nguyen_claims, nguyen_tables
from steelyard.studies.nguyen_sizes import RUNS
from steelyard.studies.study import Study
from steelyard.studies.text_counts import known_columns, naive_bayes, phrases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array
    from steelyard.datasets.paper_datasets import News

RATIOS = {"20:80": Sizes(20, 80), "50:50": Sizes(50, 50), "80:20": Sizes(80, 20)}
SHOWN = {"20:95": Sizes(20, 95, even=True), "80:19": Sizes(80, 19, even=True)}  # 5 and 1 of each of the 19 others
TRAINING = Sizes(500, 500)
_SEEDS, OTHER_SEEDS, QUICK_SEEDS = 10, 3, 2
QUICK_TOPICS, QUICK_OTHERS = 5, 200  # every fifth topic whole, and so many texts of each of the others


@dataclass(frozen=True)
class Variant:
    """How a run trains and draws its test sets: on its subset or on all that was drawn, apart or overlapping."""

    whole: bool = False
    overlap: bool = False

    @property
    def trained(self) -> str:
        """How many texts a classifier saw."""
        return "500 + 500" if self.whole else "50 + 50"

    @property
    def tested(self) -> str:
        """Which texts it is tested on."""
        return "may overlap" if self.overlap else "unseen"

    @property
    def words(self) -> str:
        """The variant in words."""
        return f"Trained on {self.trained} texts, test texts {self.tested.replace('may', 'that may')}"


VARIANTS = tuple(Variant(whole, overlap) for whole in (False, True) for overlap in (False, True))


@dataclass(frozen=True, eq=False)
class Corpus:
    """The phrases of the texts and their topics, as codes; and which topics are tried against the rest."""

    counts: Any
    codes: Array
    labels: tuple[str, ...]
    topics: tuple[str, ...]
    sizes: dict[str, int]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a variant: for each ratio the tables by seed, topic and run, and the share of texts seen before."""

    variant: Variant
    tables: dict[str, Counts]
    seen: dict[str, float]


def run(*, quick: bool, data: Any, seed: int, progress: Callable[[str], Any], overlap: bool = False) -> Study:
    """The experiment; `overlap` draws the test texts as the paper did, whether or not they were trained on."""
    progress("reading 20 Newsgroups")
    corpus = _read(newsgroups20(data), quick=quick, seed=seed)
    main = Variant(overlap=overlap)
    found = {}
    for variant in (main, *(v for v in VARIANTS if v != main)):
        seeds = QUICK_SEEDS if quick else _SEEDS if variant == main else OTHER_SEEDS
        found[variant] = _outcome(corpus, variant, range(seed, seed + seeds), progress)
    return _told(corpus, found, main)


def _read(news: News, *, quick: bool, seed: int) -> Corpus:
    """The texts, stop words out, as counts of one to three words; for a quick run some topics and some of the rest."""
    labels, codes = np.unique(np.array(news.labels), return_inverse=True)
    topics, rows = labels, np.arange(len(codes))
    if quick:
        topics = labels[::QUICK_TOPICS]
        order = np.random.default_rng(seed).permutation(len(codes))
        some = [order[codes[order] == i][: None if label in topics else QUICK_OTHERS] for i, label in enumerate(labels)]
        rows = np.sort(np.concatenate(some))
    sizes = dict(zip(labels.tolist(), np.bincount(codes).tolist(), strict=True))
    counts = phrases([news.texts[i] for i in rows])
    return Corpus(counts, codes[rows], tuple(labels.tolist()), tuple(topics.tolist()), sizes)


# ---------------------------------------------------------------- the experiment


def _outcome(corpus: Corpus, variant: Variant, seeds: range, progress: Callable[[str], Any]) -> Outcome:
    """Every topic against the rest, ten runs for each seed."""
    plan = Draws(TRAINING, RATIOS | SHOWN, RUNS, variant.whole, variant.overlap)
    cells = {name: np.zeros((4, len(seeds), len(corpus.topics), RUNS), dtype=np.int64) for name in plan.tests}
    seen: dict[str, list[float]] = {name: [] for name in plan.tests}
    for s, seed in enumerate(seeds):
        progress(f"{variant.words}: seed {seed}")
        for t, topic in enumerate(corpus.topics):
            for drawn, tables in _tested(corpus, corpus.labels.index(topic), plan, seed):
                for name, table in tables.items():
                    cells[name][:, s, t, drawn.run - 1] = tuple(table)
                    seen[name].append(drawn.seen(name))
    tables = {name: Counts(*part) for name, part in cells.items()}
    return Outcome(variant, tables, {name: float(np.mean(part)) for name, part in seen.items()})


def _tested(corpus: Corpus, topic: int, plan: Draws, seed: int) -> Iterator[tuple[Drawn, dict[str, Counts]]]:
    """The runs of one topic: the classifier of the training part on the test sets of all ratios."""
    positive = corpus.codes == topic
    trained, columns = None, np.empty(0)
    model = naive_bayes()
    for drawn in plan.split(positive, np.random.default_rng((seed, topic)), corpus.codes):
        if drawn.train is not trained:
            trained, columns = drawn.train, known_columns(corpus.counts, drawn.train)
            model.fit(corpus.counts[trained][:, columns], positive[trained])
        rows = np.concatenate(list(drawn.tests.values()))
        said = model.predict(corpus.counts[rows][:, columns])
        parts = np.split(said, np.cumsum([len(part) for part in drawn.tests.values()])[:-1])
        yield (
            drawn,
            {
                name: confusion(positive[part], heard, pos_label=True, labels=[False, True]).counts()
                for (name, part), heard in zip(drawn.tests.items(), parts, strict=True)
            },
        )


# ---------------------------------------------------------------- what it says


def _told(corpus: Corpus, found: dict[Variant, Outcome], main: Variant) -> Study:
    """The tables, figures and claims."""
    view = nguyen_tables.View(corpus.topics, corpus.sizes, {v.words: one for v, one in found.items()}, main.words)
    full = replace(main, whole=True)
    claims = nguyen_claims.claims(view, full.words)
    return Study(
        "nguyen",
        "The unbalanced factor on test sets of three ratios",
        reference("nguyen2019"),
        nguyen_claims.summary(view, full.words),
        nguyen_tables.tables(view),
        nguyen_tables.pictures(view),
        claims,
        _choices(corpus, main),
    )


def _choices(corpus: Corpus, main: Variant) -> dict[str, Any]:
    n = len(corpus.codes)
    return {
        "texts": f"{n:,} of {sum(corpus.sizes.values()):,}, with their From and Subject lines",
        "topics": f"{len(corpus.topics)} of {len(corpus.labels)}",
        "words": "scikit-learn's English stop words out, then runs of one to three words, TF-IDF of unit length",
        "classifier": "multinomial naive Bayes, Laplace's smoothing, equal priors as the training set has them",
        "training": "500 + 500 texts cut into ten subsets of 50 + 50; negatives drawn from all other topics together",
        "test texts": "drawn whether trained on or not, as the paper's sizes force"
        if main.overlap
        else "none that the run trained on; runs may share some, since no topic has 1,300 texts",
        "20:95 and 80:19": "five and one of each of the 19 other topics: what the paper's numbers show",
        "F1": "the mean over the runs, as the paper's; undefined nowhere, since it is taken of the counts",
    }
