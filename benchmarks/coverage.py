"""How often the intervals hold the true value, by simulation; `make coverage` writes docs/coverage.md and README's table.

`REPEATS=400 make coverage` is a quick look. `python -m benchmarks.coverage "Few errors"` simulates that section anew and
leaves the others on the page as they are; several may be named. The page opens with what lies outside its bar.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import readme
from benchmarks.coverage_tables import SHOWN
from benchmarks.tables import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs" / "coverage.md"
REPEATS = int(os.environ.get("REPEATS", "2000"))


class Section(NamedTuple):
    """One table of the page: what is simulated, how often, and between what its shares should lie."""

    title: str
    source: str  # the module and the function that simulate it, given the repeats
    bar: tuple[float, float]
    about: str
    part: int = 1  # of the repeats
    head: tuple[str, ...] = ("setting",)
    only: tuple[str, ...] = ()  # the columns that are shown, of very many
    beside: tuple[str, ...] = ()  # what stands in the names of columns that are shown beside ours and not judged

    def is_beside(self, name: str) -> bool:
        """Whether a column is shown beside ours."""
        return any(part in name for part in self.beside)

    def rows(self, repeats: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each setting with its shares."""
        module, function = self.source.split(".")
        yield from getattr(importlib.import_module(f"benchmarks.coverage_{module}"), function)(repeats)


SECTIONS = (
    Section("Two classes", "tables.binary_rows", (0.92, 1.0),
            "The default interval / the percentile bootstrap that other libraries offer. Every bounded metric of labels is judged.",
            head=("n", "prevalence", "recall", "specificity"), only=SHOWN),
    Section("Few errors", "classes.near_perfect_rows", (0.93, 1.0), "Two classes, with next to no errors."),
    Section("Many classes", "classes.rows", (0.91, 1.0),
            "The default interval / the percentile bootstrap, and how many times as wide as that it is. Half of the settings are "
            "drawn by a seed that changes with the version.", part=4),
    Section("Scores", "scores.rows", (0.91, 1.0), "Metrics of scores; of the expected calibration error how often a calibrated model stays below its limit.", beside=(", width",), part=4),
    Section("Points of curves", "points.rows", (0.93, 1.0), "The recall at a false positive rate and others at one point of a curve, which may be 0 or 1 on the rows.", beside=(", width",)),
    Section("Best thresholds", "points.searched_rows", (0.91, 1.0), "`ks` and `h_measure`, which are read where they are best on these rows, in part by luck.", beside=(", width",), part=4),
    Section("Probabilities of many classes", "probabilities.rows", (0.91, 1.0), "n x K probabilities, and the usual method beside ours: Student's t, and the delta method.", beside=(", usual",), part=8),
    Section("Label sets", "label_sets.rows", (0.90, 1.0), "Rows of several labels that depend on each other; of each metric the default interval, which draws rows.", part=8),
    Section("Clusters", "clusters.rows", (0.93, 0.98), "Rows in clusters that have something in common.", part=8),
    Section("A prevalence that was estimated", "prevalence.rows", (0.92, 0.98), "The deployment prevalence was seen in 100 rows.", beside=(", plugged in",)),
    Section("Unlabelled rows: rates", "unlabelled.rate_rows", (0.93, 0.98), "Prevalence and rates of unlabelled rows by their scores and a reference of 2,000 rows, 5 % of them positive, where five positives or more are expected.", part=5),
    Section("Unlabelled rows: rates by fewer positives", "unlabelled.few_rows", (0.93, 1.0), "The same where fewer are expected.", part=5),
    Section("Unlabelled rows: F1, MCC and AC-score", "unlabelled.summary_rows", (0.92, 1.0), "The same runs.", part=5),
    Section("Unlabelled rows of four classes", "unlabelled_classes.share_rows", (0.93, 0.98), "Shares of the classes of which five rows or more are expected; the reference has .5, .3, .15 and .05 of 2,000 rows.", part=6),
    Section("Unlabelled rows of four classes: metrics", "unlabelled_classes.metric_rows", (0.92, 1.0), "The same runs: metrics of labels, and shares of classes of which fewer rows are expected.", part=6),
    Section("Unlabelled rows beside peers", "unlabelled_peers.peer_rows", (0.90, 1.0), "F1 beside NannyML's CBPE with 1.96 of its standard errors, the prevalence beside QuaPy's EMQ with probabilities calibrated on the reference and its bootstrap; of each the bias and the root mean squared error.", part=20, beside=("CBPE", "EMQ", "error", "bias")),
    Section("Unlabelled rows of real sets: rates", "unlabelled.real_rows", (0.93, 0.98), "HTRU2, 20 Newsgroups (science) and SVHN (6 against 1), resampled.", part=5),
    Section("Unlabelled rows of real sets: F1, MCC and AC-score", "unlabelled.real_summary_rows", (0.92, 1.0), "The same runs.", part=5),
    Section("Label shift that holds", "label_shift.rejection_rows", (0.03, 0.07), "How often the test rejects it at 0.05.", part=2),
    Section("Label shift that does not hold", "label_shift.power_rows", (0.80, 1.0), "How often the test rejects it where rows of a probability from 0.05 to 0.5 are twice as common and every probability stays right (covariate shift).", part=5),
    Section("Comparisons", "comparisons.rows", (0.0, 0.065), "How often equal models are called different at 0.05.", part=4),
    Section("Positives found at a capacity", "alerts.rows", (0.93, 1.0), "How often the interval of how many positives more one model finds among as many alerts holds the true difference, each model at its own threshold of the population.", part=2),
    Section("A choice between equal models", "alerts.choice_rows", (0.0, 0.065), "How often one of two equal models is chosen, by the use that is named, and where none is.", part=8),
    Section("A gate's default", "gate.rows", (0.0, 0.065), "How often an unchanged model fails.", part=8, beside=("drop", "stated")),
    Section("Gates by rules", "paired_gates.rows", (0.0, 0.05), "How often a gate that fails where a metric is shown to be worse fails an equal model, and one that passes where each is shown to be not worse by 0.1 passes a model whose recall (of scores, ROC AUC; in groups, that of one group) is lower by exactly that; each error is held at 0.025. Beside them, on every fourth test set, how often a drop of 0.1 is caught and an equal model passes, by the rule on recall or ROC AUC.", part=20, beside=("caught", "equal")),
    Section("Pairs and classes that do not differ", "confusions.level_rows", (0.0, 0.065), "How often a pair of classes is called more confused than quasi-independence has it, and a class unlike the median one, at 0.05 for all together.", part=8),
    Section("Hierarchies", "confusions.hierarchy_rows", (0.92, 1.0), "Hierarchical precision, recall and F of twelve classes in three levels.", part=8),
    Section("Groups that do not differ", "tables.group_rows", (0.0, 0.065), "How often one is called the weakest at 0.05, by exact permutations.", part=8),
    Section("Groups by their intervals", "tables.interval_group_rows", (0.0, 0.10), "The same where clusters, weights or ranks leave intervals to compare.", part=40),
    Section("Slices that are no worse", "slices.rows", (0.0, 0.05), "How often any slice is called worse where none is, by Benjamini and Hochberg at 0.05. Of three conditions there are a fifth of the test sets, 20 at the least.", part=5, head=("metric", "setting")),
    Section("Slices that are worse", "slices.planted_rows", (0.90, 1.0), "How often a slice of which recall is .6, and elsewhere .8, is a discovery, and which share of the discoveries' intervals hold their true recall. Of three conditions there are a fifth of the test sets, 20 at the least.", part=5, head=("metric", "setting")),
    Section("One test of equal groups", "groups.equal_rows", (0.0, 0.065), "How often groups that are equal by recall and specificity are called different at 0.05, by the exact test of a rate and by the groups' intervals.", part=4),
    Section("Differences and gaps of groups", "groups.cover_rows", (0.93, 1.0), "How often all differences between groups hold together at 95 %, and gaps between the extreme groups, of groups that are equal and of groups that are not.", part=10),
    Section("Bands of curves", "bands.rows", (0.936, 1.0), "How often the whole true curve lies in its simultaneous band, and (on every tenth test set) in Jeffreys' intervals at each threshold, which are as wide as the share says. A curve is made of both rates, so its band holds more often than theirs.", beside=("pointwise",), part=2),
    Section("Calibration", "calibration.rows", (0.91, 1.0), "Metrics of calibration, with 20 to 2,000 positives, of calibrated, over- and underconfident probabilities.", part=10),
    Section("The range of a threshold", "thresholds.range_rows", (0.93, 1.0), "How often it holds a threshold that is best in the population.", part=10),
    Section("Decisions of many classes", "decisions.rows", (0.91, 1.0), "How often the value of a decision rule on new rows lies in its interval, and what it gains on the most probable class; beside them the mean optimism of the value that is stated, and of the value on the rows that chose the rule.", part=10, beside=("optimism",)),
    Section("Thresholds of labels", "label_thresholds.rows", (0.90, 1.0), "How often the value on new rows of a threshold for each label lies in its interval; beside it the mean optimism of the value that is stated, and of the value on the rows that chose the thresholds.", part=10, beside=("optimism",)),
    Section("A gate's promise", "thresholds.gate_rows", (0.0, 0.065), "How often new rows show a limit to be broken that holds exactly.", part=5),
    Section("A fitted classifier's promise", "estimator.rows", (0.95, 1.0), "How often a ThresholdClassifier keeps its recall on new rows.", part=10),
    Section("Label plans", "plans.coverage_rows", (0.92, 1.0), "1,000 of 50,000 rows labelled, as a plan for that metric chooses them. Scores are calibrated, overconfident or useless, or those of a classifier on real data.", head=("positive", "scores"), part=10),
    Section("Errors of label plans", "plans.error_rows", (0.0, 1.05), "The root mean squared error of the plan's own metric over five times as many runs, as a multiple of that of as many labels at random (100,000 test sets; 4,000 of ROC AUC), over runs that have a value; beside it those of recall and F1 by the plan / at random, the greatest share of runs without a value, by the plan / at random, and the share of runs that warn of useless scores.", head=("positive", "scores"), beside=("error", "undefined", "warned"), part=10),
    Section("Label plans by useless scores", "plans.useless_rows", (0.0, 1.5), "The same where scores say nothing. The threshold is where the F1 that they seem to have is highest, at which 6.4 %, 1.4 % and 0.3 % of the rows are flagged, or a tenth is; labels at random find next to none of the positives there, and their errors, mostly small, are now and then large.", head=("positive", "scores"), beside=("error", "undefined", "warned"), part=10),
    Section("Was resampling worth it?", "resampling.rows", (0.90, 1.0), "How often the verdict of resampling_study with its defaults is the true one, of every sampler. It is that a sampler helps where its true gain beyond a moved threshold is 0.04 or more, of the AC-score unless another metric is named, hurts where it loses as much, and is the same where the gain lies within 0.01 of 0; the margin is 0.02. Beside it the true gains, the means of 12 training sets on 20,000 new rows.", part=20, head=("true", "setting"), beside=("gain",)),
    Section("Resampling that is worth nothing", "resampling.false_rows", (0.0, 0.05), "How often any sampler is called a help where none is, with the margin and without one.", part=20, head=("margin", "setting")),
    Section("Label plans that are topped up", "plan_steps.top_up_rows", (0.92, 1.0), "300 of 20,000 rows labelled by a plan, then 700 more by what these show; beside the coverage the bias, as a share of the root mean squared error.", head=("positive", "scores"), beside=("bias",), part=10),
    Section("Thresholds by label plans", "plan_steps.threshold_rows", (0.90, 1.0), "How often the range of a threshold that is chosen on the labels of a plan holds the best one, and the interval on new rows its value there; beside them the mean of the value that is stated less the one there.", head=("positive", "scores"), beside=("bias",), part=10),
    Section("Weights", "tables.weighted_rows", (0.92, 1.0), "By effective size / by raw weights."),
    Section("Weights of hard rows", "weights.rows", (0.91, 1.0), "Weights that are unrelated to errors, and those of rows that are harder than others.", part=4),
    Section("Monitors", "monitor.rows", (0.0, 0.05), "How often a monitor ever raises an alarm over 10,000 looks while its limit holds exactly, and its median delay in looks after a fall (one row of the class at a look for rates and costs, twenty rows for F1, MCC and AC-score); beside it MAPIE's monitor with the same limit and level (15 runs), and a test of all rows so far at 0.05, repeated at every look; of the reference beside it its own value taken for the limit. Real sets are drawn from again.", part=5, head=("setting", "median delay", "MAPIE's", "repeated test's", "runs"), beside=("repeated test",)),
    Section("Labels that come late", "monitor.delay_rows", (0.0, 0.05), "How often a monitor ever warns over 30 cohorts of 500 rows that late labels differ, where 30 % of the negatives are late, and of the positives as many (a false warning) or more.", part=5, head=("prevalence", "positives late, times"), beside=("warned",)),
)  # fmt: skip
TITLE = "# Do the intervals hold what they promise?"
ABOUT = (
    "Outside means by more than two standard errors of the runs. Nominal 95 % intervals, and tests at 0.05, on simulated test "
    "sets; written by `make coverage`. Draws are 400 to 2,000 a table here; the defaults draw more."
)
warnings.simplefilter("error")


def simulated(section: Section, repeats: int) -> dict[str, Any]:
    """The numbers of one section."""
    start, runs = time.time(), max(repeats // section.part, 50)
    part = {"runs": runs, "rows": list(section.rows(runs))}
    print(f"{section.title}: {runs:,} runs, {time.time() - start:.0f} s", flush=True)
    return part


def share(cell: Any) -> float:
    """Our own share of a cell that may hold a peer's beside it."""
    return float(cell[0] if isinstance(cell, (list, tuple)) else cell)


def judged(section: Section, rows: list[Any]) -> Iterator[tuple[str, str, float]]:
    """Every cell that has a bar: its setting, its column and its share."""
    for setting, shares in rows:
        yield from ((setting, name, share(cell)) for name, cell in shares.items() if not section.is_beside(name))


def outside(section: Section, part: dict[str, Any]) -> list[str]:
    """The cells outside the bar by more than two standard errors of their runs, the worst first."""
    low, high = (end + 2 * sign * math.sqrt(max(end * (1 - end), 0) / part["runs"]) for sign, end in zip((-1, 1), section.bar, strict=True))  # fmt: skip
    found = [cell for cell in judged(section, part["rows"]) if not low <= cell[2] <= high]
    found.sort(key=lambda cell: min(cell[2] - low, high - cell[2]))
    return [f"- outside: {name}, {setting.replace(' | ', ', ')}: {digits(value)}" for setting, name, value in found]


def digits(value: float) -> str:
    """A share with three places, or a dash."""
    return "–" if math.isnan(value) else f"{value:.3f}".lstrip("0") if value < 1 else f"{value:.3f}"


def _text(cell: Any) -> str:
    if not isinstance(cell, (list, tuple)):
        return digits(cell)
    ours = " / ".join(digits(part) for part in cell[:2])
    return f"{ours}, {cell[2]:.2f} x" if len(cell) > 2 else ours


def text_of(section: Section, part: dict[str, Any]) -> str:
    """The section as a part of the page."""
    rows, (low, high) = part["rows"], section.bar
    names = section.only or tuple(dict.fromkeys(name for _, shares in rows for name in shares if "width" not in name))
    lines = (
        [*setting.split(" | "), *(_text(shares[name]) if name in shares else "–" for name in names)]
        for setting, shares in rows
    )
    missed, shares = outside(section, part), [value for _, _, value in judged(section, rows)]
    verdict = (
        f"Mean {digits(sum(shares) / len(shares))}, least {digits(min(shares))}, most {digits(max(shares))} of {len(shares)} cells; "
        f"{len(missed)} outside {low:g} to {high:g} by more than two standard errors. {part['runs']:,} test sets a cell."
    )
    return "\n".join(
        [
            f"## {section.title}",
            "",
            f"{section.about} {verdict}",
            "",
            markdown((*section.head, *names), lines),
            "",
            *missed,
            "",
        ]
    )


def line_of(section: Section, part: dict[str, Any]) -> str:
    """The section's line in the opening: how many cells lie outside their bar, and which is the worst."""
    missed, low, high = outside(section, part), *section.bar
    shares = [value for _, _, value in judged(section, part["rows"])]
    worst = f", the worst {missed[0].removeprefix('- outside: ')}" if missed else ""
    return f"- **{section.title}**: mean {digits(sum(shares) / len(shares))} of {len(shares)} cells; {len(missed)} outside {low:g} to {high:g}{worst}."


def written(page: str) -> dict[str, tuple[str, str]]:
    """The sections that a page has: of each title the line in the opening and the text."""
    opening, *texts = page.split("\n## ")
    lines = {line.removeprefix("- **").split("**: ")[0]: line for line in opening.splitlines() if line[:4] == "- **"}
    return {title: (lines[title], f"## {text}") for text in texts if (title := text.split("\n")[0]) in lines}


def page_of(sections: dict[str, tuple[str, str]]) -> str:
    """The page, in the order of the declarations."""
    shown = [sections[section.title] for section in SECTIONS if section.title in sections]
    return "\n".join([TITLE, "", *(line for line, _ in shown), "", ABOUT, "", *(text for _, text in shown)])


def main(asked: list[str]) -> None:
    """Simulate the sections that are asked for, or all; each takes its place on the page as soon as it is there."""
    if unknown := set(asked) - {section.title for section in SECTIONS}:
        sys.exit(f"No section is called {', '.join(sorted(unknown))}.")
    sections = written(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    for section in SECTIONS:
        if not asked or section.title in asked:
            part = simulated(section, REPEATS)
            sections[section.title] = (line_of(section, part), text_of(section, part))
            OUT.write_text(page_of(sections), encoding="utf-8")
        elif section.title not in sections:
            print(f"{section.title} is not on the page: ask for it as well.", flush=True)
    readme.main()


if __name__ == "__main__":
    main(sys.argv[1:])
