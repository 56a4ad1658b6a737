"""The pages of the studies: filled from the runs that are kept beside them, with no number of a run written by hand."""

from __future__ import annotations

import json
import re
import socket
import sys
from pathlib import Path

import pytest
from study_tools import study_names

pytest.importorskip("jinja2", reason="the documentation's tools are not installed: pip install '.[docs]'")
DOCS = Path(__file__).parent.parent / "docs"
sys.path.append(str(DOCS))

import findings  # noqa: E402

PLACE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|`[^`]*`|doi:\S+|^    .*$", re.DOTALL | re.MULTILINE)
BY_HAND = re.compile(r"\d\.\d|\d of \d|\d %|\d[,\d]* seconds")
PICTURE = re.compile(r"\]\((images/[^)]+)\)")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page of a quick run of García's study, in a folder of its own."""
    folder = tmp_path_factory.mktemp("pages")
    findings.main(["garcia", "--quick", "--to", str(folder)])
    return folder


def kept(name):
    path = DOCS / "studies" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"no full run of {name} is kept yet: make studies")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", study_names())
def test_a_page_is_its_words_filled_with_the_run_that_is_kept(name):
    run = kept(name)
    assert run["choices"]["seed"] == 0 and not run["choices"]["quick"]
    page = (DOCS / "studies" / f"{name}.md").read_text(encoding="utf-8")
    assert page == findings.filled(name, run)
    assert f"Steelyard {run['environment']['steelyard']} with seed 0, {run['cpu']:,} seconds of CPU" in page


@pytest.mark.parametrize("name", study_names())
def test_no_number_of_a_run_is_written_by_hand(name):
    assert not BY_HAND.findall(PLACE.sub("", findings.words(name)))


@pytest.mark.parametrize("name", study_names())
def test_the_pictures_of_a_page_are_there(name):
    shown = PICTURE.findall(findings.words(name))
    assert shown and all((DOCS / "studies" / path).is_file() for path in shown)


def test_what_is_said_of_garcias_table_is_what_the_run_found():
    (claim,) = [claim for claim in kept("garcia")["claims"] if claim["claim"].startswith("Table 2")]
    same, cells = re.fullmatch(r"(\d+) of (\d+) signs the same", claim["ours"]).groups()
    told = (DOCS / "why" / "papers.md").read_text(encoding="utf-8")
    assert same == cells and f"right in all {cells} cells but for one case" in " ".join(told.split())


def test_a_run_writes_its_page_itself_and_the_figures_shown(written):
    found = sorted(str(path.relative_to(written)) for path in written.rglob("*") if path.is_file())
    assert found == ["garcia.json", "garcia.md", "images/garcia_heat_05.svg"]
    run = json.loads((written / "garcia.json").read_text(encoding="utf-8"))
    page = (written / "garcia.md").read_text(encoding="utf-8")
    assert page == findings.filled("garcia", run) and "machine" not in run["environment"]
    assert all(claim["verdict"] in findings.GROUPS and claim["why"][:40] in page for claim in run["claims"])
    run["claims"][0]["ours"] = "another number"
    assert "another number" in findings.filled("garcia", run) != page


def test_a_place_that_the_run_lacks_is_no_page(written):
    run = json.loads((written / "garcia.json").read_text(encoding="utf-8"))
    del run["tables"]["size"]
    with pytest.raises(KeyError, match="size"):
        findings.filled("garcia", run)


def test_missing_data_leave_the_page_as_it_is(tmp_path, monkeypatch, capsys):
    def unknown(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "wu.md").write_text("as it was")
    findings.main(["wu", "--quick", "--to", str(tmp_path)])
    (said,) = capsys.readouterr().out.splitlines()
    assert said.startswith("wu: its page is left as it is. The data set svhn_1_6.npz was looked for in")
    assert (tmp_path / "wu.md").read_text() == "as it was" and not (tmp_path / "wu.json").exists()


def test_a_quick_run_is_none_for_the_documentation(capsys):
    with pytest.raises(SystemExit):
        findings.main(["garcia", "--quick"])
    assert "a quick run is none to cite" in capsys.readouterr().err
