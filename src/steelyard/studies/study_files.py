"""The folder of a study: its page, tables, figures and JSON, written whole or not at all."""

from __future__ import annotations

import math
import os
import shlex
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

from steelyard.analysis.results.formatting import three_digits
from steelyard.exceptions import InputError
from steelyard.report.csv_text import csv_rows
from steelyard.report.pages.document import label_html, rendered_html
from steelyard.report.pages.frame import Section, framed
from steelyard.studies.study import MOST_SHOWN, SavedPicture, Study, Table
from steelyard.written_files import check_replaceable, replacement_folder

# ---------------------------------------------------------------- the page of a study
# One HTML file with its claims, tables and figures inside.


REPEATED = ("model", "pred", "score")  # options that are given once for each value

_KINDS = {
    "holds": "holds",
    "holds with qualification": "partly",
    "not shown": "unshown",
    "does not hold": "fails",
}


def study_page(study: Study, drawings: dict[str, bytes] | None = None) -> str:
    """The whole file; its figures are SVG inside it, those handed in or drawn now, and nothing comes from elsewhere."""
    svgs = {picture.name: picture.image("svg") for picture in study.pictures} if drawings is None else drawings
    html = rendered_html(
        "study.html",
        study=study,
        kinds=_KINDS,
        tally=_tally(study),
        drawings={name: b64encode(svg).decode() for name, svg in svgs.items()},
        tables=[_table(table) for table in study.tables],
        command=shell_command(study),
        choices={key: _value(value) for key, value in study.choices.items()},
        environment={key: _value(value) for key, value in {**study.environment, "computed in": study.took}.items()},
    )
    facts = [f"study {study.name}", label_html(study.title)]
    section = Section(html)
    return framed(
        "study", f"{study.title} · Steelyard", facts, [section], exports=("CSV", "JSON") if study.claims else ()
    )


def shell_command(study: Study) -> str:
    """The words that run this study again from the shell."""
    flags = "".join(f" --{name}" for name, value in study.choices.items() if value is True)
    words: list[str] = []  # the options on a user's table: --model tree --model lda, or --ratios 1:9,1:1
    for name, value in study.own.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)) and name in REPEATED:
            for part in value:
                words += [flag, str(part)]
        else:
            words += [flag, ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)]
    options = f" {shlex.join(words)}" if words else ""
    return f"steelyard study {study.name}{options}{flags} --seed {study.choices.get('seed', 0)}"


# ---------------------------------------------------------------- the parts


def _tally(study: Study) -> list[dict[str, object]]:
    """The claims by verdict as parts of a bar, in percent of all."""
    parts, start = [], 0.0
    for verdict, kind in _KINDS.items():
        count = sum(claim.verdict == verdict for claim in study.claims)
        width = 100 * count / len(study.claims) if study.claims else 0.0
        if count:
            parts.append(
                {"kind": kind, "start": round(start, 3), "width": round(width, 3), "words": f"{count} {verdict}"}
            )
        start += width
    return parts


def _table(table: Table) -> dict[str, object]:
    """A table as the page shows it, negative numbers with the sign of print in all columns but the first."""
    names, rows = list(table.rows[0]), []
    for row in table.rows:
        cells = []
        for i, name in enumerate(names):
            value, form = row[name], table.formats.get(name)
            is_formatted = form is not None and isinstance(value, float) and math.isfinite(value)
            cell = f"{value:{form}}" if is_formatted else three_digits(value)
            is_negative = cell[:1] == "-" and cell[1:2].isdigit()
            cells.append(f"−{cell[1:]}" if i and is_negative else cell)
        rows.append(cells)
    return {
        "name": table.name,
        "title": table.title,
        "head": names,
        "rows": rows,
        "note": table.note,
        "folded": len(rows) > MOST_SHOWN and not table.unfolded,
    }


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


# ---------------------------------------------------------------- the folder of a study


_FORMATS = ("svg", "pdf")


def check_folder(folder: str | Path, *, force: bool = False) -> Path:
    """The folder to write to; refused before any work where something is there that would be replaced."""
    path = Path(folder)
    _check_parent(path)
    if path.is_dir() and not any(path.iterdir()):
        return path
    check_replaceable(path, str(folder), force=force)
    if path.exists() and not (path / "study.json").is_file():
        raise InputError(f"{str(folder)!r} holds no study, so it is not replaced; give another name.")
    return path


def _check_parent(path: Path) -> None:
    """Refuse a folder that could not be made, since the nearest that exists above it is none or is not ours."""
    above = next((part for part in path.absolute().parents if os.path.exists(part)), path)  # noqa: PTH110 - never raises
    if not above.is_dir():
        raise InputError(f"{str(path)!r} would lie in {str(above)!r}, which is a file; give another folder.")
    if not os.access(above, os.W_OK | os.X_OK):
        raise InputError(
            f"{str(path)!r} would lie in {str(above)!r}, which may not be written to; give another folder."
        )
    try:
        path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:  # such as a name too long
        raise InputError(f"A folder of this name cannot be made ({error.strerror}); give another folder.") from error


def write_study(study: Study, folder: str | Path, *, force: bool = False) -> Path:
    """Write page.html, study.json, tables/*.csv, figures/*.svg, *.pdf, and any claims.csv, or nothing."""
    path = check_folder(folder, force=force).absolute()
    drawings = {kind: {p.name: p.image(kind) for p in study.pictures} for kind in _FORMATS}
    drawn = [SavedPicture(p.name, p.words, p.columns, drawings["svg"][p.name].decode()) for p in study.pictures]
    texts = {"page.html": study_page(study, drawings["svg"]), "study.json": to_json(replace(study, pictures=drawn))}
    if study.claims:
        texts["claims.csv"] = csv_rows([claim.row() for claim in study.claims])
    texts |= {f"tables/{table.name}.csv": csv_rows(table.rows) for table in study.tables}
    contents = {name: text.encode() for name, text in texts.items()}
    contents |= {f"figures/{name}.{kind}": data for kind in _FORMATS for name, data in drawings[kind].items()}
    with replacement_folder(path) as temporary:
        for name, data in contents.items():
            (temporary / name).parent.mkdir(exist_ok=True)
            (temporary / name).write_bytes(data)
    return path


def to_json(study: Study) -> str:
    """The study as strict JSON: its claims, findings and choices, every table and every figure."""
    return study.to_json(indent=1)
