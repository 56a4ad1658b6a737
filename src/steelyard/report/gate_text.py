"""Gate text: what became of the rules as lines, as JUnit's XML and as annotations of GitHub."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from steelyard.gates.rules import FAIL, PASS, SKIPPED
from steelyard.report.terminal.layout import one_line

if TYPE_CHECKING:
    from steelyard.gates.gate import GateResult
    from steelyard.gates.rules import Judgement

_ALL_ROWS = "all rows"
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML 1.0 has no letter for
_TITLE = "steelyard gate"


def gate_lines(result: GateResult) -> str:
    """One line for each judgement, then which errors the gate holds."""
    return "\n".join(one_line(text) for text in [*map(repr, result.rules), *result.sentences])


def gate_junit(result: GateResult) -> str:
    """JUnit's XML: a test case for each rule and group, as GitLab and Jenkins read it."""
    broken = sum(each.outcome == FAIL for each in result.rules)
    left_out = sum(each.outcome == SKIPPED for each in result.rules)
    passed = sum(each.outcome == PASS for each in result.rules)
    counts = {"tests": len(result.rules), "failures": broken, "errors": len(result.rules) - broken - left_out - passed}
    suite = {**{name: str(count) for name, count in counts.items()}, "skipped": str(left_out), "time": "0"}
    suites = ET.Element("testsuites", attrib={key: suite[key] for key in list(counts)})
    cases = ET.SubElement(suites, "testsuite", attrib={"name": _TITLE, **suite})
    for judgement in result.rules:
        _add_case(cases, judgement)
    if result.sentences:
        ET.SubElement(cases, "system-out").text = _of_xml("\n".join(result.sentences))
    ET.indent(suites)
    # Other letters than ASCII's are written by their numbers, whatever encodes the standard output.
    return str(ET.tostring(suites, encoding="us-ascii", xml_declaration=True), "ascii")


def _add_case(cases: ET.Element, judgement: Judgement) -> None:
    group = _of_xml(judgement.group or _ALL_ROWS)
    case = ET.SubElement(cases, "testcase", classname=group, name=_of_xml(judgement.rule), time="0")
    tag = {PASS: None, FAIL: "failure", SKIPPED: "skipped"}.get(judgement.outcome, "error")
    if tag is not None:
        found = ET.SubElement(case, tag, message=_of_xml(judgement.text))
        if tag != "skipped":
            found.set("type", judgement.outcome)
            found.text = _of_xml(repr(judgement))


def _of_xml(text: str) -> str:
    """The text with a sign in place of what XML cannot hold."""
    return _NO_XML.sub("\ufffd", text)


def gate_github(result: GateResult) -> str:
    """Annotations of GitHub: an error for each rule that is broken or undefined, and one notice of the whole.

    Rules that are kept are plain lines of the log: GitHub shows ten annotations of a step at most.
    """
    lines = []
    for judgement in result.rules:
        if judgement.outcome in (PASS, SKIPPED):
            lines.append(one_line(repr(judgement)))
        else:
            title = one_line(f"{_TITLE}: {judgement.rule}")
            lines.append(f"::error title={_of_property(title)}::{_of_message(one_line(repr(judgement)))}")
    whole = "\n".join(map(one_line, [result.headline, *result.sentences]))
    return "\n".join([*lines, f"::notice title={_of_property(_TITLE)}::{_of_message(whole)}"])


def _of_message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _of_property(text: str) -> str:
    return _of_message(text).replace(":", "%3A").replace(",", "%2C")


GATE_FORMS = {"table": gate_lines, "junit": gate_junit, "github": gate_github}
