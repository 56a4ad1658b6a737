"""Nguyen (2019): test sets of three ratios, 20 Newsgroups, and the unbalanced factor that should make them agree.

For each topic 500 of its texts and 500 others are drawn and split into ten training subsets; a multinomial naive Bayes
classifier of each is tested on sets of 20:80, 50:50 and 80:20.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.ratio_spread import Spread, spread_of
from steelyard.datasets.paper_datasets import newsgroups20
from steelyard.exceptions import InputError
from steelyard.metrics.registry import get_metric
from steelyard.protocol.ratio_study import NGUYEN_RATIOS, ratio_study
from steelyard.protocol.splits import Drawn, Draws, Sizes
from steelyard.report.figures.runs import RunsDisplay
from steelyard.studies.declared_study import DeclaredStudy, RunPlan
from steelyard.studies.own_table import OwnFindings, OwnTable
from steelyard.studies.study import Picture, Table, published
from steelyard.tables.array_tables import confusion
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scipy.sparse import csr_array
    from sklearn.pipeline import Pipeline

    from steelyard._types import Array, Progress
    from steelyard.analysis.comparison.classical_tests import Friedman
    from steelyard.datasets.paper_datasets import News
    from steelyard.protocol.ratio_study import RatioStudy
    from steelyard.studies.study import TableRow


# ---------------------------------------------------------------- nguyen's printed tables
# Their spread, and which numbers of texts can give their accuracies at all.


PRINTED = ("20:80", "50:50", "80:20")
PRINTED_TABLES = {"table_II": ("accuracy", "f1"), "table_III": ("alpha_accuracy", "alpha_f1")}
FACTORED = "with the factor"
_NOMINAL = {"20:95": 0.25, "80:19": 4.0}  # the factor that the tables' heads print

RUNS = 10  # pooled in the tables
MOST_TEXTS = 1_600  # texts of a topic's test set, all runs together: more than any reading of the paper gives
PRINTING = 0.0051  # how far a number may be from one printed with two decimals
_SHARES = (0.2, 0.5, 0.8)  # of positives, by the heads of Tables II and III


def _columns(column: int) -> list[tuple[float, float]]:
    """The accuracies of each topic, without and with the factor."""
    plain, factored = published("nguyen")["table_II"]["accuracy"], published("nguyen")["table_III"]["alpha_accuracy"]
    return [(plain[topic][column], factored[topic][column]) for topic in plain if topic != "Average"]


@cache
def totals(column: int) -> tuple[int, ...]:
    """The numbers of texts, 50 to 1,600, of which whole numbers of right answers give all accuracies of a column.

    >>> totals(0), totals(1), totals(2)
    ((1150,), (), (990,))
    """
    printed = np.array([plain for plain, _ in _columns(column)])
    return tuple(
        n for n in range(50, MOST_TEXTS + 1) if np.abs(100 * np.rint(printed * n / 100) / n - printed).max() <= PRINTING
    )


@cache
def text_divisions(column: int, factor: float | None = None) -> tuple[tuple[int, int], ...]:
    """The positives and negatives of such a number that give the accuracies with the factor too.

    The factor is that of the two, or the one given; the two exchanged give the same, so that nearer to the head comes
    first.

    >>> text_divisions(0), text_divisions(0, factor=0.25)
    (((200, 950), (950, 200)), ())
    """
    divisions = []
    for n in totals(column):
        for positives in range(1, n):
            negatives = n - positives
            alpha = factor or positives / negatives
            if all(_fits(plain, factored, positives, negatives, alpha) for plain, factored in _columns(column)):
                divisions.append((positives, negatives))
    return tuple(sorted(divisions, key=lambda sizes: abs(sizes[0] / sum(sizes) - _SHARES[column])))


def fitting() -> str:
    """The sets of the two unbalanced columns that can give the printed numbers.

    >>> fitting()
    '200 + 950 or 950 + 200, and 800 + 190 or 190 + 800'
    """
    return ", and ".join(" or ".join(f"{p} + {n}" for p, n in text_divisions(column)) for column in (0, 2))


def _fits(plain: float, factored: float, positives: int, negatives: int, factor: float) -> bool:
    """Whether the right answers of one topic can be shared between the classes so that both accuracies come out."""
    right = round(plain * (positives + negatives) / 100)
    tp = np.arange(max(0, right - negatives), min(positives, right) + 1)
    values = 100 * (tp + factor * (right - tp)) / (positives + factor * negatives)
    return bool((np.abs(values - factored) <= PRINTING).any())


# ---------------------------------------------------------------- what is printed, by topic


def paper_spread(metric: str, topics: tuple[str, ...] | None = None) -> Spread:
    """The same of the numbers that the paper prints, of all topics or of those named."""
    columns = zip(*(printed_rows(metric)[topic] for topic in topics or all_topics()), strict=True)
    return spread_of(dict(zip(PRINTED, map(list, columns), strict=True)), name=metric)


def paper_averages(metric: str, topics: tuple[str, ...]) -> list[float]:
    """The averages that the paper prints or, where only some topics were tried, its averages of these."""
    if set(topics) == set(all_topics()):
        return printed_rows(metric)["Average"]
    return list(paper_spread(metric, topics).means.values())


def paper_calmer(pair: tuple[str, str], topics: tuple[str, ...]) -> int:
    """In how many topics the paper's own spread over the ratios is smaller with the factor."""
    plain, factored = (np.array([printed_rows(metric)[topic] for topic in topics]) for metric in pair)
    return int((np.ptp(factored, 1) < np.ptp(plain, 1)).sum())


def all_topics() -> tuple[str, ...]:
    """The topics of Table I."""
    return tuple(published("nguyen")["table_I"])


def printed_rows(metric: str) -> dict[str, list[float]]:
    """The values of a metric by topic, each at the three ratios, in Table II or III."""
    table = next(name for name, metrics in PRINTED_TABLES.items() if metric in metrics)
    rows: dict[str, list[float]] = published("nguyen")[table][metric]
    return rows


def regenerated() -> list[TableRow]:
    """The accuracies of Tables II and III from the reconstructed counts, with the real factor and the nominal one."""
    rows = []
    for ratio, tables in published("nguyen")["counts"].items():
        column = 0 if ratio == "20:95" else 2
        for topic, cells in tables.items():
            counts = Counts(*cells)
            row: TableRow = {"topic": topic, "test set": ratio}
            for name, metric in (("accuracy", "accuracy"), (FACTORED, "alpha_accuracy")):
                printed, value = printed_rows(metric)[topic][column], 100 * float(get_metric(metric)(counts))
                row |= {f"{name} P": printed, name: value, f"{name}, difference": round(value - printed, 8)}
            nominal = 100 * float(get_metric("alpha_accuracy")(counts, alpha=_NOMINAL[ratio]))
            rows.append(row | {"with the printed factor": nominal})
    return rows


# ---------------------------------------------------------------- counts of words
# Texts counted once, and a learner whose vocabulary is that of its training part.
#
# Equal to scikit-learn's TfidfVectorizer and MultinomialNB fitted on the training texts alone, and many times faster
# where hundreds of fits share the texts; a test holds the two together.


HASHES = 2**31 - 1  # so many that of four million phrases one in five hundred shares its number with another


def phrases(texts: Sequence[str], longest: int = 3) -> csr_array:
    """The counts of all runs of 1 to `longest` words, stop words left out first: a row a text, a column a phrase."""
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import HashingVectorizer

    hashing = HashingVectorizer(
        stop_words="english", ngram_range=(1, longest), n_features=HASHES, alternate_sign=False, norm=None
    )
    hashed = hashing.transform(texts)
    hashes, columns = np.unique(hashed.indices, return_inverse=True)
    counts = csr_array((hashed.data, columns.astype(np.int32), hashed.indptr), shape=(len(texts), len(hashes)))
    counts.sort_indices()
    return counts


def known_columns(counts: csr_array, trained: Array) -> Array:
    """The columns of the phrases that the rows trained on hold: what is unseen in training is no attribute."""
    return np.unique(counts[trained].indices)


def naive_bayes() -> Pipeline:
    """TF-IDF and the multinomial naive Bayes classifier, Laplace's smoothing."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfTransformer(), MultinomialNB())


# ---------------------------------------------------------------- nguyen


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
    columns: Array = np.empty(0, dtype=np.intp)
    model = naive_bayes()
    for drawn in plan.split(positive, np.random.default_rng((seed, topic)), corpus.codes):
        if drawn.run == 1 or not plan.whole:  # with all training rows in every run one fit serves them all
            columns = known_columns(corpus.counts, drawn.train)
            model.fit(corpus.counts[drawn.train][:, columns], positive[drawn.train])
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


# ---------------------------------------------------------------- nguyen own
# Nguyen's experiment on a table of one's own: test sets of several ratios, with the unbalanced factor and without.


_REPEATS, _QUICK_REPEATS = 30, 5


@NGUYEN_STUDY.own_data
def _own(
    table: OwnTable, plan: RunPlan, *, ratios: Sequence[str] = NGUYEN_RATIOS, repeats: int | None = None
) -> OwnFindings:
    if table.scores:
        raise InputError("Nguyen's metrics read predicted labels; name columns of these with pred=, not score=.")
    named: dict[str, Any] = {**table.models, **table.preds}
    models = named or {"naive-bayes": table.prepared("naive-bayes")}
    plan.progress(f"test sets of {', '.join(ratios)}")
    times = plan.times(repeats, _REPEATS, _QUICK_REPEATS)
    study = ratio_study(models, table.X, table.y, ratios, repeats=times, pos_label=table.positive, rng=plan.seeds(1)[0])
    sets: list[TableRow] = [
        {"ratio": ratio, "positives": size[0], "negatives": size[1], "unbalanced factor": size[0] / size[1]}
        for ratio, size in zip(study.ratios, study.sizes, strict=True)
    ]
    return OwnFindings(
        [study.headline, *study.notes],
        [
            Table("spread", "Each metric over the ratios", study.to_dicts(), _NOTE),
            Table("test_sets", "The test sets", sets, "A set of each ratio is drawn in every repetition."),
        ],
        [_boxes(study, model) for model in study.models],
        {"ratios": study.ratios, "repeats": times, "models": study.models},
        "The unbalanced factor on test sets of several ratios",
    )


_NOTE = (
    "A column a ratio, means over the repetitions. What begins with alpha is with the unbalanced factor. Spread: the "
    "highest less the lowest value of a repetition. By weights: the rows tested are weighted to each ratio and none is "
    "drawn, so what is left is the metric's own dependence on the ratio."
)


def _boxes(study: RatioStudy, model: str) -> Picture:
    """The values of the repetitions: one panel per metric, one box per ratio."""
    display = RunsDisplay.from_runs(study.tables(model), metrics=study.metrics)
    name = "ratios" if len(study.models) == 1 else f"ratios_{study.models.index(model) + 1}"
    return Picture(name, display, f"{model}: {display.caption()}", columns=2, width=7)


# ---------------------------------------------------------------- nguyen's tables and figures
# Ours beside the paper's, and the paper's accuracies again from reconstructed counts.


PAIRS = (("accuracy", "alpha_accuracy"), ("f1", "alpha_f1"))
_SHOWN = ("20:95", "50:50", "80:19")  # by the paper's own numbers
METRIC_WORDS = {
    "accuracy": "accuracy",
    "alpha_accuracy": "accuracy with the factor",
    "f1": "F1",
    "alpha_f1": "F1 with the factor",
}


# ---------------------------------------------------------------- tables


@NGUYEN_STUDY.table("table_I", "Table I: texts of each topic", "P is the paper's count.")
def _sizes(results: NguyenResults) -> list[TableRow]:
    printed, sizes = published("nguyen")["table_I"], results.corpus.sizes
    rows = [{"topic": t, "texts": n, "P": printed.get(t), "differ": n - printed[t]} for t, n in sizes.items()]
    total = {"topic": "Sum", "texts": sum(sizes.values()), "P": sum(printed.values())}
    return [*rows, total | {"differ": total["texts"] - total["P"]}]


@NGUYEN_STUDY.tables
def _beside_paper(results: NguyenResults) -> list[Table]:
    """Tables II and III: ours and the paper's side by side, a topic a row, then the averages."""
    factor = {"table_II": "Table II: accuracy and F1 (%) without", "table_III": "Table III: accuracy and F1 (%) with"}
    note = f"{results.main}; means over ten runs of each of {results.seeds} seeds. Columns marked P are the paper's."
    if len(results.topics) < len(all_topics()):
        note += " Its averages here are of the same topics."
    tables = []
    for name, metrics in PRINTED_TABLES.items():
        rows = _sides(results, metrics)
        formats = dict.fromkeys(list(rows[0])[1:], ".2f")
        tables.append(Table(name, f"{factor[name]} the unbalanced factor", rows, note, formats))
    return tables


def _sides(results: NguyenResults, metrics: tuple[str, ...]) -> list[TableRow]:
    rows: list[TableRow] = [{"topic": topic} for topic in (*results.topics, "Average")]
    for metric in metrics:
        averages = {"Average": [round(value, 2) for value in paper_averages(metric, results.topics)]}
        for i, ratio in enumerate(PRINTED):
            ours = results.values(metric, ratio).mean((0, 2))
            word = "F1" if "f1" in metric else "acc."
            for row, value in zip(rows, [*ours.tolist(), float(ours.mean())], strict=True):
                row[f"{word} {ratio}"] = round(value, 2)
                row[f"{word} {ratio} P"] = (printed_rows(metric) | averages)[row["topic"]][i]
    return rows


@NGUYEN_STUDY.table(
    "averages",
    "Averages over the topics by variant",
    lambda results: (
        f"In percent, means over {len(results.topics)} topics, runs and seeds. "
        "Sets as printed are 20:80, 50:50 and 80:20, as shown by the "
        "paper's numbers 20:95, 50:50 and 80:19. Leak: the share of test texts that the classifier was trained on."
    ),
)
def _averages(results: NguyenResults) -> list[TableRow]:
    """The averages over the topics for every way to train and to draw, beside the paper's."""
    paper = {"trained on": "the paper", "test texts": "not stated", "sets": "printed"}
    rows = [paper | _average_row({metric: paper_averages(metric, results.topics) for metric in _metrics()})]
    for variant in results.outcomes:
        rows += [_variant_row(results, variant, *sets) for sets in (("printed", PRINTED), ("shown", _SHOWN))]
    return [{name: row.get(name) for name in rows[-1]} for row in rows]


def _metrics() -> list[str]:
    return [metric for pair in PAIRS for metric in pair]


def _variant_row(results: NguyenResults, variant: str, word: str, ratios: tuple[str, ...]) -> TableRow:
    outcome = results.outcomes[variant]
    drawn = {"trained on": outcome.variant.trained, "test texts": outcome.variant.tested, "sets": word}
    averages = {metric: results.averages(metric, ratios, variant).mean(1).tolist() for metric in _metrics()}
    rates = {
        rate: float(np.mean([results.averages(rate, [ratio], variant).mean() for ratio in ratios]))
        for rate in ("recall", "specificity")
    }
    leak = 100 * float(np.mean([outcome.seen[ratio] for ratio in ratios]))
    return drawn | _average_row(averages) | rates | {"leak": leak}


def _average_row(averages: dict[str, list[float]]) -> TableRow:
    return {METRIC_WORDS[metric]: " / ".join(f"{value:.2f}" for value in values) for metric, values in averages.items()}


@NGUYEN_STUDY.table(
    "spread",
    "How far the three test sets lie apart",
    "Spread: the highest less the lowest of the three sets, in points; its mean is over the topics. P: the paper.",
)
def _spreads(results: NguyenResults) -> list[TableRow]:
    rows = []
    for metric in _metrics():
        each = [results.over_topics(metric, seed) for seed in range(results.seeds)]
        paper = paper_spread(metric, results.topics)
        rows.append(
            {
                "metric": METRIC_WORDS[metric],
                "mean spread P": paper.spread,
                "mean spread": each[0].spread,
                "lowest of seeds": min(s.spread for s in each),
                "highest of seeds": max(s.spread for s in each),
                "widest topic P": paper.widest,
                "widest topic": each[0].widest,
                "of the averages P": paper.of_means,
                "of the averages": each[0].of_means,
            }
        )
    return _rounded(rows, 3)


def friedman_of(spread: Spread) -> Friedman:
    """The test of a spread over several runs or topics, which has one."""
    assert spread.test is not None  # noqa: S101 - only a spread of a single value has none
    return spread.test


@NGUYEN_STUDY.table(
    "tests",
    "Are the three sets different?",
    "Friedman's test that the three sets do not differ; pairs by Wilcoxon's signed ranks, adjusted by Holm.",
)
def _tests(results: NguyenResults) -> list[TableRow]:
    rows = []
    for metric, word in METRIC_WORDS.items():
        spreads = {
            "ours, ten runs": results.over_runs(metric, 0),
            "ours, topics": results.over_topics(metric, 0),
            "paper's table, topics": paper_spread(metric),
        }
        for over, spread in spreads.items():
            test = friedman_of(spread)
            pairs = {f"{p.a} and {p.b}": p.p_adjusted for p in test.pairs}
            rows.append({"metric": word, "over": over, "Friedman p": test.p_value, **pairs})
    return rows


@NGUYEN_STUDY.tables
def _regenerated(_: NguyenResults) -> list[Table]:
    rows, most = regenerated(), len(PRINTED) * len(all_topics())
    nominal = [sizes for i, factor in ((0, 0.25), (2, 4.0)) for sizes in text_divisions(i, factor)]
    note = (
        f"Whole numbers of right answers that give both printed accuracies: of all sets of 50 to {MOST_TEXTS:,} texts "
        f"they exist for {fitting()}, ten runs together, with the factor of those sets; with the printed 0.25 and 4 "
        f"for {len(nominal) or 'none'}. These are {2 * len(rows)} of the {2 * most} accuracies that the "
        f"two tables print; those of 50:50 fit {len(totals(1)) or 'no'} number of texts and are left out."
    )
    title = "Accuracies of Tables II and III again, from reconstructed counts"
    formats = {name: ".4f" if "difference" in name else ".2f" for name in list(rows[0])[2:]}
    return [Table("regenerated", title, _rounded(rows, 8), note, formats, unfolded=True)]


def _rounded(rows: list[TableRow], digits: int) -> list[TableRow]:
    return [{k: round(v, digits) if isinstance(v, float) else v for k, v in row.items()} for row in rows]


# ---------------------------------------------------------------- figures


@NGUYEN_STUDY.pictures
def _pictures(results: NguyenResults) -> list[Picture]:
    """Figures 1 and 2: the ten runs on the three sets, without and with the factor."""
    pictures = []
    for i, pair in enumerate(PAIRS, 1):
        values = tuple(np.stack([results.values(m, ratio)[0].mean(0) / 100 for m in pair]) for ratio in PRINTED)
        display = RunsDisplay(PRINTED, tuple(get_metric(m) for m in pair), values)
        words = f"Figure {i}. Left without, right with the unbalanced factor. {display.caption()}"
        pictures.append(Picture(f"figure_{i}", display, f"{words} Each run is the mean of its topics."))
    return pictures
