"""The benchmark's own machinery: what is timed, what is refused, what is written; on rows that take no time."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import gpu, growth, page, readme, row, surroundings, tables
from benchmarks.growth import Step
from benchmarks.row import Row
from benchmarks.trial import Trial

ROOT = Path(__file__).parent.parent
ROWS = [r for rows in row.themes().values() for r in rows]
NOTHING = Row("work", "peer", lambda _: (int, int), 1, aim=2)
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of a process")

# In a process of its own, because that of the tests has threads and must not be forked.
SCRIPT = """
import json, os, signal, sys, time
import numpy as np
from benchmarks import growth, tables
from benchmarks.row import Row, needed
from benchmarks.trial import tried

calls = sys.argv[1]
def counted():
    with open(calls, "a") as file:
        file.write("x")
    return 2
def pair(ours, theirs):
    return lambda _: (ours, theirs)
def later():
    time.sleep(0.01)
    return 1
rows = {
    "faster": pair(lambda: 1, later),
    "slower": pair(later, lambda: 1),
    "unequal": pair(lambda: 1, counted),
    "raising": pair(lambda: 1, lambda: 1 / 0),
    "killed": pair(lambda: 1, lambda: os.kill(os.getpid(), signal.SIGKILL)),
    "absent": lambda _: (lambda: 1, needed("no_such_peer").work),
    "hungry": lambda n: (lambda: n, lambda: int(np.ones(n).sum())),
}
out = {name: tried(Row(name, "peer", make, 8_000_000, aim=1)) for name, make in rows.items()}
for name in ("faster", "unequal"):
    out[f"{name} outside"] = tried(Row(name, "peer", rows[name], 1, outside=True))
told = {name: [tables.cells(trial), trial.memory] for name, trial in out.items()}
odd = Row("odd", "peer", lambda n: (lambda: n, lambda: n + (n > 10)), 0)
told["growth"] = [tables.rung(*step) for step in growth.climbed(odd, (1, 10, 100, 1000))]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The cells of some rows, and how often the unequal one was called."""
    calls = tmp_path_factory.mktemp("calls") / "calls"
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, calls], cwd=ROOT, capture_output=True, text=True, check=True
    )  # fmt: skip
    return json.loads(ran.stdout) | {"calls": len(calls.read_text())}


def test_a_faster_row_has_times_and_no_mark(told):
    (_, _, ours, theirs, ratio, aim, *_), _ = told["faster"]
    assert ours.endswith("s") and theirs.endswith("s") and "slower" not in ratio and aim == "1 x"


def test_work_done_outside_has_times_and_no_memory(told):
    (_, _, ours, *_, a, b), memory = told["faster outside"]
    assert ours.endswith("s") and memory == [None, None] and a == b == ""


def test_a_slower_row_stays_and_is_marked(told):
    (*_, ratio, aim, _, _), _ = told["slower"]
    assert "slower" in ratio and "missed" in aim


def test_an_unequal_row_is_not_timed(told):
    for name in ("unequal", "unequal outside"):
        assert told[name][0][2:] == ["failed: differs from peer", "", "", "", "", ""]
    assert told["calls"] == 3  # on few rows first, and then once for its answer; outside once for its answer


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("raising", "failed: ZeroDivisionError: division by zero"),
        pytest.param("killed", "failed: its process ended with -9", marks=linux),
        ("absent", "skipped: no_such_peer is not installed"),
    ],
)
def test_a_row_that_cannot_be_tried_says_why_and_the_others_go_on(told, name, why):
    assert told[name][0][2] == why


@linux
def test_the_memory_of_a_known_allocation_is_told(told):
    ours, theirs = told["hungry"][1]
    # The system counts pages in batches: the answer is right to some hundred kilobytes, and shown in megabytes.
    assert ours < 1e6 and abs(theirs - 64e6) < 1e6


def test_growth_ends_where_answers_differ(told):
    told_sizes = {n: ours for n, ours, *_ in told["growth"]}
    assert told_sizes["10"].endswith("s")
    assert told_sizes["100"] == told_sizes["1,000"] == "answers differ"


@pytest.mark.parametrize(
    ("last", "why"),
    [
        (Step(seconds=5.0, whole=1), ""),
        (Step(seconds=7.0, whole=1), "not tried: about 70 s"),
        pytest.param(Step(seconds=1.0, whole=10**15), "not tried: about 10000000 GB", marks=linux),
    ],
)
def test_a_size_that_would_take_too_much_is_not_tried(last, why):
    assert growth.refused(last) == why


def test_the_summary_counts_what_is_slower_and_what_misses():
    part = Row("work", "np.sort", NOTHING.make, 1, part=True)
    trials = [Trial(NOTHING, (1.0, 3.0)), Trial(NOTHING, (1.0, 1.5)), Trial(part, (2.0, 1.0)), Trial(NOTHING, skipped="x is not installed")]  # fmt: skip
    steps = [(10, Step(2.0), Step(1.0)), (100, Step(1.0), Step(2.0)), (1_000, Step(1.0), Step(why="not tried"))]
    told = page.summary(trials, steps)
    assert "1 of 3 rows are slower than what stands beside them, 1 of them beside a part" in told
    assert "1 of the 2 with an aim miss it" in told and "Skipped: x is not installed." in told
    assert "Of the 2 steps of growth that both sides took, 1 is slower." in told
    assert "growth" not in page.summary(trials, [])


def test_the_page_names_the_versions_and_holds_every_row(tmp_path):
    trials, steps = [Trial(NOTHING, (1e-3, 2.0), (10**7, None))], [(1_000, Step(1.0, 10), Step(why="not tried"))]
    page.write(page.text({"Theme": trials}, {growth.WORKS[0]: steps}, 0.25), tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| work | peer | 1 ms | 2 s | 2,000 x | 2 x | 10 MB |  |" in text
    assert "| 1,000 | 1 s | not tried |  | < 1 MB |  |" in text
    assert "load 0.25 at the start" in text and f"| numpy | {surroundings.version('numpy')} |" in text
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]
    alone = page.with_theme(text, "Another", trials, 0.25)
    assert (
        alone.index("## Theme") < alone.index("## Another") < alone.index("## Growth") and "Measured by itself" in alone
    )
    assert page.with_theme(alone, "Another", trials, 0.25) == alone and alone.startswith(
        text.split("## Growth")[0].rstrip()
    )


@pytest.mark.parametrize(
    ("seconds", "told"), [(2.5e-6, "2.5 µs"), (0.00125, "1.25 ms"), (0.9999, "1 s"), (1.0, "1 s"), (93.4, "93.4 s")]
)
def test_a_duration_has_three_digits_in_its_unit(seconds, told):
    assert tables.duration(seconds) == told


@pytest.mark.parametrize("peer", surroundings.PEERS)
def test_every_peer_has_a_row(peer):
    assert [r for r in ROWS if peer in r.peer.lower()]


def test_no_two_rows_have_one_name_and_every_row_of_the_readme_is_one():
    names = [(r.what, r.peer) for r in ROWS]
    assert len(set(names)) == len(names)
    assert set(readme.SPEED) <= set(names)


def test_a_billion_rows_are_made_only_on_request():
    assert not [r for r in ROWS if r.n >= 10**9 and r.asked]
    assert any(r.asked for rows in row.themes("billion").values() for r in rows)


def test_the_readme_shows_the_tables_of_the_documents():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.PLACE.findall(text)) == 3
    assert readme.filled(text) == text, "`make pages` writes them"


def test_the_readme_counts_metrics_and_properties_as_the_catalogue_does():
    stale = readme.filled("Which of seventy metrics? 1,096 of 1,175 properties of 47 metrics are proved")
    assert "seventy" not in stale and "1,096" not in stale
    table = [line.split(" | ") for line in (ROOT / "docs/properties.md").read_text().splitlines() if line[:2] == "| "]
    marks = [cell.strip(" |") for line in table for cell in line[1:] if line[0] != "| metric"]
    decided = sum(mark in ("yes", "no") for mark in marks)
    assert f"{decided:,} of {len(marks):,} properties" in stale


def test_a_changed_document_changes_the_readme():
    few = ["1000", "0.01", "0.8", "0.9", ".9 / .8", *[".5 / .4"] * 3]
    head = ["n", "prevalence", "recall", "specificity", *readme.METRICS]
    shown = readme.coverage([head, few, ["300", *few[1:]]])
    assert shown.splitlines()[2:] == ["| 0.8 | 0.9 | .9 / .8 | .5 / .4 | .5 / .4 | .5 / .4 |"]


def test_the_page_of_coverage_opens_with_what_its_tables_miss():
    from benchmarks.coverage import SECTIONS, share

    text = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    head, *parts = text.split("\n## ")
    assert [part.split("\n")[0] for part in parts] == [section.title for section in SECTIONS]
    for section, part in zip(SECTIONS, parts, strict=True):
        (names, *rows), named = readme.lines(part), part.count("\n- outside: ")
        (low, high), runs = section.bar, int(re.search(r"([\d,]+) test sets a cell", part)[1].replace(",", ""))
        opening = rf"\*\*{re.escape(section.title)}\*\*: mean [.\d]+ of \d+ cells; {named} outside {low:g} to {high:g}"
        assert re.search(opening, head)
        low, high = (
            end + sign * (2 * math.sqrt(max(end * (1 - end), 0) / runs) + 0.0005)
            for sign, end in ((-1, low), (1, high))
        )
        for cells in rows:
            shown = {name: float(re.match(r"[.\d]+", cell)[0]) for name, cell in zip(names, cells, strict=True) if name not in section.head and cell[:1] in (".", "1")}  # fmt: skip
            for name, value in shown.items():
                if not section.is_beside(name) and not low <= value <= high:
                    assert f"- outside: {name}, " in part
    assert share((0.9, 0.8)) == share(0.9) == 0.9


def test_a_section_of_coverage_that_is_simulated_anew_leaves_the_others_as_they_are():
    from benchmarks import coverage

    page = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    sections = coverage.written(page)
    assert coverage.page_of(sections) == page
    few = next(section for section in coverage.SECTIONS if section.title == "Few errors")
    part = {"runs": 50, "rows": [("a setting", {"recall": 0.5})]}
    anew = coverage.page_of(sections | {few.title: (coverage.line_of(few, part), coverage.text_of(few, part))})
    assert coverage.written(anew).keys() == sections.keys()
    assert coverage.written(anew)["Two classes"] == sections["Two classes"]
    assert "- **Few errors**: mean .500 of 1 cells; 1 outside 0.93 to 1, the worst recall, a setting: .500." in anew


def test_the_benchmark_of_a_gpu_refuses_to_run_without_one(capsys):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert gpu.main([]) == 2
    assert capsys.readouterr().err.strip() == gpu.NO_GPU


def test_a_heading_that_was_measured_by_itself_takes_its_place_on_the_page():
    row = gpu.Timed("roc_auc", "torch.sort", 0.06, 0.04, aim="at most 2.5 x", memory=10**9)
    own = f"{page.ON_A_GPU}\n\n{tables.markdown(['work'] * 8, [row.cells()])}"
    written = page.with_section("# Page\n\n## Growth\n\nrows\n", own)
    assert written.index("## On a GPU") < written.index("## Growth") and "1.50 x as long" in written
    assert page.with_section(written, own) == written


def test_a_new_page_keeps_what_was_measured_on_a_gpu():
    before = "# Page\n\n## On a GPU\n\nold times\n\n## Growth\n\nrows\n"
    assert page.with_gpu("# New\n\n## Growth\n\nsteps\n", before) == (
        "# New\n\n## On a GPU\n\nold times\n\n## Growth\n\nsteps\n"
    )
    assert page.with_gpu("# New\n", "# Page\n") == "# New\n"
