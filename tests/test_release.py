"""The workflows and the lock file: what runs where, with which right, and from which versions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
JOBS = {
    (path.stem, name): job
    for path in WORKFLOWS
    for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items()
}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
LOCKED = [Requirement(line.rstrip(" \\")) for line in LOCK.splitlines() if re.match(r"[a-z]", line)]

pytestmark = pytest.mark.skipif(
    not WORKFLOWS, reason="the workflows are in the repository, not in the source distribution"
)


def steps(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_every_action_is_pinned_by_its_digest_and_says_its_version():
    used = [line for path in WORKFLOWS for line in path.read_text().splitlines() if "uses:" in line]
    assert used
    assert [line for line in used if not re.search(r"uses: [\w./-]+@[0-9a-f]{40}  # v\d", line)] == []


def test_the_job_that_may_publish_runs_nothing_of_ours():
    trusted = {key for key, job in JOBS.items() if "id-token" in job.get("permissions", {})}
    assert trusted == {("publish", "publish")}
    assert steps(JOBS["publish", "publish"]) == []
    assert JOBS["publish", "publish"]["needs"] == "build"
    assert "permissions" not in JOBS["publish", "build"]
    assert all(
        yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"} for path in WORKFLOWS
    )


@pytest.mark.parametrize(
    ("flow", "name"), [key for key in JOBS if key not in {("publish", "publish"), ("publish", "bill")}]
)
def test_every_job_calls_commands_of_the_makefile(flow, name):
    words = [line.split() for line in steps(JOBS[flow, name])]
    assert words
    assert {line[0] for line in words} == {"make"}
    assert {word for line in words for word in line[1:] if "=" not in word} <= TARGETS


def test_every_system_and_python_that_is_promised_has_its_job():
    pythons = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line}
    assert set(JOBS["test", "test"]["strategy"]["matrix"]["python"]) == pythons
    assert set(JOBS["test", "systems"]["strategy"]["matrix"]["system"]) == {"windows-latest", "macos-latest"}


def test_the_lock_names_every_dependency_within_its_bounds_and_with_hashes():
    extras = PROJECT["optional-dependencies"]
    apart = {"bench", "mlflow", "engines", "selection"}  # which CI does not install
    asked = [
        Requirement(line)
        for part in (PROJECT["dependencies"], *(extras[name] for name in extras if name not in apart))
        for line in part
    ]
    versions = {}
    for locked in LOCKED:
        versions.setdefault(canonicalize_name(locked.name), []).append(next(iter(locked.specifier)).version)
    for need in asked:
        if need.name == PROJECT["name"]:
            continue
        found = versions.get(canonicalize_name(need.name), [])
        assert found, f"{need.name} is not in requirements.lock: make lock"
        assert all(need.specifier.contains(version) for version in found), f"{need} but {found}: make lock"
    blocks = re.split(r"^(?=[a-z])", LOCK, flags=re.MULTILINE)[1:]
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert "://" not in LOCK
