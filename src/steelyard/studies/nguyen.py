"""Nguyen (2019): test sets of three ratios, 20 Newsgroups, and the unbalanced factor that should make them agree.

For each topic 500 of its texts and 500 others are drawn and split into ten training subsets; a multinomial naive Bayes
classifier of each is tested on sets of 20:80, 50:50 and 80:20.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.ratio_spread import Spread, spread_of
from steelyard.datasets.paper_datasets import newsgroups20
from steelyard.ingest.array_tables import confusion
from steelyard.metrics.registry import get_metric
from steelyard.protocol.splits import Drawn, Draws, Sizes
from steelyard.statistics.counts import Counts
from steelyard.studies.declared_study import DeclaredStudy, RunPlan
from steelyard.studies.nguyen_printed import PRINTED, RUNS
from steelyard.studies.text_counts import known_columns, naive_bayes, phrases

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scipy.sparse import csr_array

    from steelyard._types import Array, Progress
    from steelyard.datasets.paper_datasets import News

RATIOS = {"20:80": Sizes(20, 80), "50:50": Sizes(50, 50), "80:20": Sizes(80, 20)}
SHOWN = {"20:95": Sizes(20, 95, even=True), "80:19": Sizes(80, 19, even=True)}  # 5 and 1 of each of the 19 others
_TRAINING = Sizes(500, 500)
_SEEDS, _OTHER_SEEDS, _QUICK_SEEDS = 10, 3, 2
_QUICK_TOPICS, _QUICK_OTHERS = 5, 200  # every fifth topic whole, and so many texts of each of the others


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


_VARIANTS = tuple(Variant(whole, overlap) for whole in (False, True) for overlap in (False, True))


@dataclass(frozen=True, eq=False)
class Corpus:
    """The phrases of the texts and their topics, as codes; and which topics are tried against the rest."""

    counts: csr_array
    codes: Array
    labels: tuple[str, ...]
    topics: tuple[str, ...]
    sizes: dict[str, int]


@dataclass(frozen=True, eq=False)
class VariantOutcome:
    """What came of a variant: for each ratio the tables by seed, topic and run, and the share of texts seen before."""

    variant: Variant
    tables: dict[str, Counts]
    seen: dict[str, float]


@dataclass(frozen=True, eq=False)
class NguyenResults:
    """The outcome of each variant by its words; `main` is the paper's own, `whole` the same trained on all texts."""

    corpus: Corpus
    outcomes: dict[str, VariantOutcome]
    main: str
    whole: str

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that were tried against the rest."""
        return self.corpus.topics

    @property
    def seeds(self) -> int:
        """How many seeds the paper's own variant was run with."""
        return int(self.outcomes[self.main].tables["50:50"].shape[0])

    def values(self, metric: str, ratio: str, variant: str | None = None) -> Array:
        """The metric in percent, by seed, topic and run."""
        return np.asarray(100 * get_metric(metric)(self.outcomes[variant or self.main].tables[ratio]))

    def averages(self, metric: str, ratios: Sequence[str] = PRINTED, variant: str | None = None) -> Array:
        """The mean over topics and runs, by ratio and seed."""
        return np.stack([self.values(metric, ratio, variant).mean((1, 2)) for ratio in ratios])

    def over_topics(
        self, metric: str, seed: int, ratios: Sequence[str] = PRINTED, variant: str | None = None
    ) -> Spread:
        """The spread over the ratios, topic by topic, each the mean of its runs."""
        means = {ratio: self.values(metric, ratio, variant)[seed].mean(1) for ratio in ratios}
        return spread_of(means, name=metric)

    def over_runs(self, metric: str, seed: int, ratios: Sequence[str] = PRINTED) -> Spread:
        """The spread over the ratios, run by run, each the mean of all topics: what Figures 1 and 2 show."""
        return spread_of({ratio: self.values(metric, ratio)[seed].mean(0) for ratio in ratios}, name=metric)

    def calmer(self, pair: tuple[str, str], seed: int) -> int:
        """In how many topics the factor makes the spread over the ratios smaller."""
        plain, factored = (np.stack([self.values(m, r)[seed].mean(1) for r in PRINTED]) for m in pair)
        return int((np.ptp(factored, 0) < np.ptp(plain, 0)).sum())

    def shares(self, pair: tuple[str, str], variant: str | None = None) -> list[float]:
        """The mean spread with the factor as a share of that without, seed by seed."""
        n = self.outcomes[variant or self.main].tables["50:50"].shape[0]
        each = [[self.over_topics(m, s, variant=variant).spread for m in pair] for s in range(n)]
        return [factored / plain for plain, factored in each]


NGUYEN_STUDY = DeclaredStudy[NguyenResults](
    "nguyen", "The unbalanced factor on test sets of three ratios", cite="nguyen2019"
)


@NGUYEN_STUDY.experiment
def _experiment(plan: RunPlan, *, overlap: bool = False) -> NguyenResults:
    """The experiment; `overlap` draws the test texts as the paper did, whether or not they were trained on."""
    plan.progress("reading 20 Newsgroups")
    corpus = _read(newsgroups20(plan.data), quick=plan.quick, seed=plan.seeds(1)[0])
    main = Variant(overlap=overlap)
    outcomes = {}
    for variant in (main, *(other for other in _VARIANTS if other != main)):
        seeds = _QUICK_SEEDS if plan.quick else _SEEDS if variant == main else _OTHER_SEEDS
        outcomes[variant.words] = _outcome(corpus, variant, plan.seeds(seeds), plan.progress)
    return NguyenResults(corpus, outcomes, main.words, replace(main, whole=True).words)


def _read(news: News, *, quick: bool, seed: int) -> Corpus:
    """The texts, stop words out, as counts of one to three words; for a quick run some topics and some of the rest."""
    labels, codes = np.unique(np.array(news.labels), return_inverse=True)
    topics, rows = labels, np.arange(len(codes))
    if quick:
        topics = labels[::_QUICK_TOPICS]
        order = np.random.default_rng(seed).permutation(len(codes))
        by_topic = [(order[codes[order] == i], label in topics) for i, label in enumerate(labels)]
        rows = np.sort(np.concatenate([rows if whole else rows[:_QUICK_OTHERS] for rows, whole in by_topic]))
    sizes = dict(zip(labels.tolist(), np.bincount(codes).tolist(), strict=True))
    counts = phrases([news.texts[i] for i in rows])
    return Corpus(counts, codes[rows], tuple(labels.tolist()), tuple(topics.tolist()), sizes)


# ---------------------------------------------------------------- the experiment


def _outcome(corpus: Corpus, variant: Variant, seeds: range, progress: Progress) -> VariantOutcome:
    """Every topic against the rest, ten runs for each seed."""
    plan = Draws(_TRAINING, RATIOS | SHOWN, RUNS, variant.whole, variant.overlap)
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
    return VariantOutcome(variant, tables, {name: float(np.mean(part)) for name, part in seen.items()})


def _tested(corpus: Corpus, topic: int, plan: Draws, seed: int) -> Iterator[tuple[Drawn, dict[str, Counts]]]:
    """The runs of one topic: the classifier of the training part on the test sets of all ratios."""
    positive = corpus.codes == topic
    trained: Array | None = None
    columns: Array = np.empty(0, dtype=np.intp)
    model = naive_bayes()
    for drawn in plan.split(positive, np.random.default_rng((seed, topic)), corpus.codes):
        if drawn.train is not trained:
            trained, columns = drawn.train, known_columns(corpus.counts, drawn.train)
            model.fit(corpus.counts[trained][:, columns], positive[trained])
        rows = np.concatenate(list(drawn.tests.values()))
        labels = model.predict(corpus.counts[rows][:, columns])
        parts = np.split(labels, np.cumsum([len(part) for part in drawn.tests.values()])[:-1])
        tables = {
            name: confusion(positive[part], predicted, pos_label=True, labels=[False, True]).counts()
            for (name, part), predicted in zip(drawn.tests.items(), parts, strict=True)
        }
        yield drawn, tables


@NGUYEN_STUDY.choices
def _choices(results: NguyenResults) -> dict[str, Any]:
    corpus, n = results.corpus, len(results.corpus.codes)
    return {
        "texts": f"{n:,} of {sum(corpus.sizes.values()):,}, with their From and Subject lines",
        "topics": f"{len(corpus.topics)} of {len(corpus.labels)}",
        "words": "scikit-learn's English stop words out, then runs of one to three words, TF-IDF of unit length",
        "classifier": "multinomial naive Bayes, Laplace's smoothing, equal priors as the training set has them",
        "training": "500 + 500 texts split into ten subsets of 50 + 50; negatives drawn from all other topics together",
        "test texts": "drawn whether trained on or not, as the paper's sizes force"
        if results.outcomes[results.main].variant.overlap
        else "none that the run trained on; runs may share some, since no topic has 1,300 texts",
        "20:95 and 80:19": "five and one of each of the 19 other topics: what the paper's numbers show",
        "F1": "the mean over the runs, as the paper's; undefined nowhere, since it is taken of the counts",
    }
