# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What make dist packs: it has the files and the name of its commit, and builds, installs and passes tests without git."""

import os
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif((TOP / "MANIFEST").exists(), reason="this tree was packed itself")
SHORT = "tests/unit tests/house tests/website tests/exercises tests/installed".split()


def run(*words: object, cwd: Path = TOP) -> str:
    """A command that has to succeed, not as a part of the make that runs the tests; what it prints."""
    done = subprocess.run([*map(str, words)], cwd=cwd, env={**os.environ, "MAKEFLAGS": "", "MFLAGS": "", "MAKELEVEL": ""},
                          capture_output=True, text=True, timeout=1800)  # fmt: skip
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpacked."""
    folder = tmp_path_factory.mktemp("packed")
    run("make", "-s", "dist")
    run("tar", "xzf", next((TOP / "build").glob("rdma-by-example-*.tar.gz")), "--strip-components=1", "-C", folder)
    return folder


def test_all_files_are_there(tree: Path) -> None:
    listed = run(tree / "tools/files", cwd=tree).splitlines()
    assert listed == run("git", "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert [name for name in listed if not (tree / name).exists()] == []


def test_it_knows_its_commit(tree: Path) -> None:
    run("make", "-s", "amalgamation", cwd=tree)
    top = (tree / "build/amalgamation/our_control.c").read_text().split("*/")[1]
    assert f", commit {run('git', 'rev-parse', 'HEAD')[:12]}." in top


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_it_builds_installs_and_passes_tests(tree: Path) -> None:
    """By itself, in its own folder."""
    run("make", "-s", f"-j{os.cpu_count()}", "all", "tests-build", "tracer-build", "sim-build", cwd=tree)
    run("make", "-s", "install", f"PREFIX={tree}/root", cwd=tree)
    shown = run(tree / "tools/verbs-trace/verbs-trace", "--version")
    assert run("git", "rev-parse", "HEAD")[:12] in shown
    said = run("/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:xdist", *SHORT, cwd=tree)
    assert ", 0 failed," in said.splitlines()[-1]
