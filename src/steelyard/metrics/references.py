"""References: what references.bib says about a key, as one line. Used wherever a metric cites its source."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


@cache
def references() -> dict[str, dict[str, str]]:
    """The fields of every entry by its key; an entry is one line."""
    lines = files("steelyard.metrics").joinpath("references.bib").read_text(encoding="utf-8").splitlines()
    return {_key(line): dict(re.findall(r"(\w+) = \{(.*?)\}(?=[,}])", line)) for line in lines if line.startswith("@")}


def _key(line: str) -> str:
    return line[line.index("{") + 1 : line.index(",")]


def reference(key: str) -> str:
    """One line in words: authors, year, title, where, doi.

    >>> reference("weng2008")
    'Weng, C. G. and Poon, J. (2008) A new evaluation measure for imbalanced datasets. AusDM, 27-32.'
    """
    if key not in references():
        return key  # a user's own words
    entry = references()[key]
    where = next((entry[kind] for kind in ("journal", "booktitle", "howpublished", "publisher") if kind in entry), "")
    year = f" ({entry['year']})" if "year" in entry else ""
    doi = f" doi:{entry['doi']}" if "doi" in entry else ""
    return f"{entry['author']}{year} {entry['title']}. {where}.{doi}"


def references_in(text: str) -> list[str]:
    """The references that a text names by authors and year, each as one line.

    >>> [line[:45] for line in references_in("by default that of Hand and Anagnostopoulos 2014")]
    ['Hand, D. J. and Anagnostopoulos, C. (2014) A ']
    """
    words = " ".join(text.split())
    return [reference(key) for key, entry in references().items() if _authors_and_year(entry) in words]


def _authors_and_year(entry: dict[str, str]) -> str:
    names = (author.partition(",")[0] for author in entry["author"].split(" and "))
    return f"{' and '.join(names)} {entry.get('year', 'without year')}"
