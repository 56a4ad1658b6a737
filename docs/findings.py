"""The pages of the studies, each filled from a run; `python docs/findings.py` runs all with three seeds each.

A page is `studies/NAME.md`, made of the words in `studies/NAME.j2` and of the run kept in `studies/NAME.json`; no number
of a run is written by hand. `make studies` does it; a test fills the pages again from the runs that are kept.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from steelyard import get_metric, list_metrics
from steelyard.exceptions import InputError
from steelyard.studies import study_names
from steelyard.studies.registry import run
from steelyard.studies.study_files import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.studies.study import Study

HERE = Path(__file__).parent / "studies"
GROUPS = {
    "holds": "What holds",
    "holds with qualification": "What holds with qualification",
    "not shown": "What is not shown",
    "does not hold": "What does not hold",
}
SEEDS = (0, 7, 4)  # the page is of the first; what the others say otherwise stands on it
ALONE = "selection"  # takes most of an hour: run when it is named, and with the first seed alone
PLAIN = """# {{ run.title }}

{{ run.cite }}. All numbers are those of

    steelyard study {{ run.name }} --seed {{ run.choices.seed }}

{{ made }}

{{ findings }}
"""
INTERVAL = re.compile(r"\((\d+\.\d+) to (\d+\.\d+)\)")
SPECIAL = re.compile(r"([\\*<|])")


def filled(name: str, record: dict[str, Any]) -> str:
    """The page of a study: its words, with the numbers of a run."""
    world = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    world.filters["digits"] = _digits
    world.filters["limited"] = limited
    world.globals |= {"findings": _findings(record), "made": _made(record), "run": record}
    world.globals |= {"cell": lambda *place: _cell(record, *place), "span": lambda *place: _span(record, *place)}
    world.globals |= {"resampling_cost": lambda: resampling_cost(record)}
    return world.from_string(words(name)).render()


def words(name: str) -> str:
    """What is written by hand of a page; of a study without such words, its findings alone."""
    path = HERE / f"{name}.j2"
    return path.read_text(encoding="utf-8") if path.exists() else PLAIN


# ---------------------------------------------------------------- what a page may ask of a run


def _findings(record: dict[str, Any]) -> str:
    """The summary and every claim under its verdict."""
    summary = "\n".join(f"- {_plain(sentence)}." for sentence in record["summary"])
    parts = ["## In short", summary]
    for verdict, title in GROUPS.items():
        lines = [_claim_line(claim) for claim in record["claims"] if claim["verdict"] == verdict]
        parts += [f"## {title}", "\n".join(lines)] if lines else []
    return "\n\n".join([*parts, *_other_seeds(record)])


def _other_seeds(record: dict[str, Any]) -> list[str]:
    """Whether other seeds, which share none of the draws, give the same verdicts, and where not."""
    ours = {claim["claim"]: claim["verdict"] for claim in record["claims"]}
    lines = [
        f"- **{_plain(words)}** With seed {seed}: {verdict}."
        for seed, verdicts in record.get("other_seeds", {}).items()
        for words, verdict in verdicts.items()
        if verdict != ours[words]
    ]
    seeds = " and ".join(record.get("other_seeds", {}))
    if not seeds:
        return ["## Other seeds", "None were run for this page; `make studies` runs 7 and 4 as well."]
    same = f"The same study with seed {seeds}, whole and with draws of its own, "
    head = same + ("gives another verdict on:" if lines else "gives the same verdict on every claim.")
    return ["## Other seeds", "\n".join([head, "", *lines]).rstrip()]


def _claim_line(claim: dict[str, Any]) -> str:
    spread = f"; {claim['spread']}" if claim["spread"] else ""
    words = f"*Paper:* {_plain(claim['paper'])}. *This run:* {_plain(claim['ours'] + spread)}."
    return f"- **{_plain(claim['claim'])}** ({_plain(claim['place'])}). {words} {_plain(claim['why'])}."


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, without its last point."""
    return SPECIAL.sub(r"\\\1", text.rstrip("."))


def _made(record: dict[str, Any]) -> str:
    """What made the numbers, without a date."""
    versions = record["environment"]
    return (
        f"Written by `make {ALONE if record['name'] == ALONE else 'studies'}` from one run of Steelyard {versions['steelyard']} with seed {record['choices']['seed']}, "
        f"{record['cpu']:,.0f} seconds of CPU (Python {versions['python']}, NumPy {versions['numpy']}, scikit-learn "
        f"{versions['scikit-learn']})."
    )


def _row(record: dict[str, Any], table: str, row: str | float | dict[str, Any]) -> dict[str, Any]:
    """The one row of a table that holds these values, or this value in its first column."""
    rows = record["tables"][table]["rows"]
    wanted = row if isinstance(row, dict) else {next(iter(rows[0])): row}
    (match,) = [other for other in rows if wanted.items() <= other.items()]
    return match


def _cell(record: dict[str, Any], table: str, row: str | float | dict[str, Any], column: str) -> Any:
    return _row(record, table, row)[column]


def _span(record: dict[str, Any], table: str, row: str | float | dict[str, Any], ending: str) -> str:
    """The lowest and the highest of the cells of a row whose columns end alike, as correlations are written."""
    values = [value for column, value in _row(record, table, row).items() if column.endswith(ending)]
    return f"{min(values):+.2f} to {max(values):+.2f}".replace("-", "−")


def _digits(value: float, digits: int, *, sign: bool = False) -> str:
    """A number with so many digits after the point."""
    return f"{value:{'+' if sign else ''},.{digits}f}".replace("-", "−")


def limited(text: str, low: float, high: float) -> str:
    """A text whose intervals, as the run kept them, are limited to what is possible when they are shown.

    >>> limited("0.926 (0.800 to 1.052)", 0, 1)
    '0.926 (0.800 to 1.000)'
    """
    return INTERVAL.sub(lambda ends: f"({max(float(ends[1]), low):.3f} to {min(float(ends[2]), high):.3f})", text)


def resampling_cost(record: dict[str, Any]) -> str:
    """What each way of resampling is shown to do at the tuned threshold and to scores, by the rows of its table."""
    signs = {get_metric(name).title: -1 if get_metric(name).direction == "lower" else 1 for name in list_metrics()}
    every = record["tables"]["resampling"]["rows"]
    tuned = {row["metric"] for row in every if row["threshold"] == "tuned"}
    rows = [row for row in every if row["threshold"] == "tuned" or row["metric"] not in tuned]
    sentences = []
    for arm in dict.fromkeys(row["resampling"] for row in rows):
        shown = [row for row in rows if row["resampling"] == arm and (row["low"] > 0 or row["high"] < 0)]
        parts = []
        for word, sign in (("better", 1), ("worse", -1)):
            found = [row for row in shown if sign * signs[row["metric"]] * row["change"] > 0]
            if found:
                texts = (f"{row['metric']} ({_digits(row['change'], 3, sign=True)})" for row in found)
                parts.append(f"is shown to be {word} by {', '.join(texts)}")
        sentences.append(f"{arm} {' and '.join(parts) or 'is not shown to change any metric'}")
    return "; ".join(sentences)


# ---------------------------------------------------------------- writing


def record_of(study: Study, others: Sequence[Study] = ()) -> dict[str, Any]:
    """What is kept of a run: what it says and the tables that its page asks for, without the clock and the machine.

    Of runs with other seeds the verdicts are kept.
    """
    whole: dict[str, Any] = json.loads(to_json(study))
    page = words(study.name)
    whole["tables"] = {name: table for name, table in whole["tables"].items() if re.search(rf"\b{name}\b", page)}
    whole["cpu"] = round(whole["cpu"])
    del whole["seconds"], whole["environment"]["machine"]
    verdicts = {str(other.choices["seed"]): {c.claim: c.verdict for c in other.claims} for other in others}
    return whole | {"other_seeds": verdicts}


def write(study: Study, folder: Path, others: Sequence[Study] = ()) -> None:
    """The page of a run, the run, and the figures that the page shows."""
    record = record_of(study, others)
    text = filled(study.name, record)
    pictures = {f"images/{study.name}_{picture.name}.svg": picture for picture in study.pictures}
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for path, picture in pictures.items():
        if path in text:
            (folder / path).write_bytes(picture.image("svg"))
    (folder / f"{study.name}.json").write_text(
        json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    (folder / f"{study.name}.md").write_text(text, encoding="utf-8")


def main(given: list[str] | None = None) -> None:
    """Run the studies and write their pages; one whose data are missing keeps its page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        default=[name for name in study_names() if name != ALONE],
        metavar="NAME",
        help=f"the studies; all but {ALONE} without a name",
    )
    parser.add_argument("--quick", action="store_true", help="short runs, to try the words; they ask for --to")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="another folder than docs/studies")
    chosen = parser.parse_args(given)
    if chosen.quick and chosen.to is None:
        parser.error("a quick run is none to cite: name another folder with --to")
    for name in chosen.names:
        try:
            study, *others = (
                run(name, quick=chosen.quick, seed=seed)
                for seed in (SEEDS[:1] if chosen.quick or name == ALONE else SEEDS)
            )
        except InputError as error:
            sys.stdout.write(f"{name}: its page is left as it is. {error}\n")
            continue
        write(study, chosen.to or HERE, others)
        sys.stdout.write(f"{name}: {study.verdict_counts}; computed in {study.took}\n")


if __name__ == "__main__":
    main()
