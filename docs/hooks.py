"""Hooks: what MkDocs adds to the written pages: the catalogue, the reference, figures that pages save, the live pages, and the studies' pages."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import blocks
import catalogue
import contours
import decided
import live
import reference
import tables
from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig

PROMPT = re.compile(r"^```python(?=\n>>>)", re.MULTILINE)
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)/:]+\.svg)\)")


def on_config(config: MkDocsConfig) -> None:
    """Complete the menu by what is generated and by pages that may be there."""
    docs = Path(config.docs_dir)
    filled = {
        "CATALOGUE": ["catalogue/index.md", "catalogue/asked.md", *({family: [f"catalogue/{m.name}.md" for m in metrics]}
                      for family, metrics in catalogue.families().items())],
        "REFERENCE": ["reference/index.md", *(f"reference/{floor}.md" for floor in reference.floors()),
                      "reference/sklearn.md", "reference/commands.md"],
        "STUDIES": [f"studies/{path.name}" for path in sorted(docs.glob("studies/*.md"))],
        "BENCHMARKS": ["benchmarks.md"] * (docs / "benchmarks.md").exists(),
    }  # fmt: skip
    config.nav = _filled(config.nav, filled)


def _filled(entry: Any, parts: dict[str, list[Any]]) -> Any:
    """The menu with each word in capitals replaced by its entries."""
    if isinstance(entry, dict):
        return {title: _filled(below, parts) for title, below in entry.items()}
    if isinstance(entry, list):
        return [
            new
            for old in entry
            for new in (parts[old] if isinstance(old, str) and old in parts else [_filled(old, parts)])
        ]
    return entry


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and pictures."""
    for path, content in (*_catalogue(), *_reference(), *_figures(files), *_live()):
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the tables in their places, and colour what stands at a prompt apart from what it prints."""
    return PROMPT.sub("```pycon", tables.filled(markdown))


def on_post_page(output: str, **_: Any) -> str:
    """Give the theme's search box the name that a screen reader needs."""
    dialog = 'data-md-component="search" role="dialog"'
    return output.replace(dialog, f'{dialog} aria-label="Search"')


def _catalogue() -> Iterator[tuple[str, str | bytes]]:
    yield "catalogue/index.md", catalogue.index()
    yield "catalogue/asked.md", decided.asked()
    for metrics in catalogue.families().values():
        for metric in metrics:
            drawn = contours.picture(metric)
            yield f"catalogue/{metric.name}.md", catalogue.page(metric, plotted=drawn is not None)
            if drawn is not None:
                yield f"catalogue/{metric.name}.svg", drawn


def _reference() -> Iterator[tuple[str, str]]:
    yield "reference/index.md", reference.index()
    yield from ((f"reference/{floor}.md", reference.page(floor)) for floor in reference.floors())
    yield "reference/sklearn.md", reference.drop_ins()
    yield "reference/commands.md", reference.commands()


def _live() -> Iterator[tuple[str, str]]:
    yield from ((f"live/{name}.html", live.live_page(name)) for name in live.PAGES)


def _figures(files: Files) -> Iterator[tuple[str, bytes]]:
    """The pictures beside a page that its own code saves: the page is run, and they are taken."""
    for file in list(files.documentation_pages()):
        page = Path(file.abs_src_path)
        wanted = [
            name for name in PICTURE.findall(page.read_text(encoding="utf-8")) if not (page.parent / name).exists()
        ]
        if not wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            blocks.run(page, Path(folder))
            for name in wanted:
                yield str(Path(file.src_uri).parent / name), (Path(folder) / name).read_bytes()
