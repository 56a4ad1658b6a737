"""The folder of a study: its page, tables, figures and JSON, written whole or not at all."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.ingest.replaced_files import check_replaceable, replacement_folder
from steelyard.report.csv_text import csv_rows
from steelyard.studies.pictures import SavedPicture
from steelyard.studies.study_page import study_page

if TYPE_CHECKING:
    from steelyard.studies.study import Study

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
    with replacement_folder(path) as temporary:
        _fill(study, temporary)
    return path


def to_json(study: Study) -> str:
    """The study as strict JSON: its claims, findings and choices, every table and every figure."""
    return study.to_json(indent=1)


def _fill(study: Study, folder: Path) -> None:
    drawings = {kind: {p.name: p.image(kind) for p in study.pictures} for kind in _FORMATS}
    drawn = [SavedPicture(p.name, p.words, p.columns, drawings["svg"][p.name].decode()) for p in study.pictures]
    texts = {"page.html": study_page(study, drawings["svg"]), "study.json": to_json(replace(study, pictures=drawn))}
    texts |= {"claims.csv": csv_rows([claim.row() for claim in study.claims])} if study.claims else {}
    texts |= {f"tables/{table.name}.csv": csv_rows(table.rows) for table in study.tables}
    files = {name: text.encode() for name, text in texts.items()}
    files |= {f"figures/{name}.{kind}": data for kind in _FORMATS for name, data in drawings[kind].items()}
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
