# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The archive of make dist has the files and the name of its commit, and builds, installs and passes tests without git. And the
library's two files, in the place of its sources."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif((TOP / "MANIFEST").exists(), reason="this tree was packed itself")
SHORT = "tests/unit tests/house tests/website course/tests/exercises".split()


def run(*words: object, cwd: Path = TOP) -> str:
    """A command that has to succeed, not as a part of the make that runs the tests; what it prints."""
    done = subprocess.run([*map(str, words)], cwd=cwd, env={**os.environ, "MAKEFLAGS": "", "MFLAGS": "", "MAKELEVEL": ""},
                          capture_output=True, text=True, timeout=1800)  # fmt: skip
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked tree."""
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
    """The tree does this by itself, in its own folder."""
    run("make", "-s", f"-j{os.cpu_count()}", "all", "tests-build", "tracer-build", "sim-build", cwd=tree)
    run("make", "-s", "install", f"PREFIX={tree}/root", cwd=tree)
    shown = run(tree / "tools/verbs-trace/verbs-trace", "--version")
    assert run("git", "rev-parse", "HEAD")[:12] in shown
    said = run("/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:xdist", *SHORT, cwd=tree)
    assert ", 0 failed," in said.splitlines()[-1]


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_library_s_tests_pass_with_its_two_files() -> None:
    """In a copy of the tree that has them in the place of the library's sources. The stages are those of this tree: rows ask
    them what they are."""
    copy = TOP / "build/two-files"
    run(TOP / "tools/files", "--copy", copy)
    for path in (copy / "common").glob("*.c"):
        path.unlink()
    run("make", "-s", "amalgamation")
    shutil.copy(TOP / "build/amalgamation/our_control.c", copy / "common")
    for program in run("make", "-s", "print-PROGRAMS").split():
        shutil.copy(TOP / program, copy / program)
    built = [f"build/tests/{name}" for name in ("unit-tests", "peer", "parts", "allocations.so", "gate.so", "gids.so")]
    run("make", "-s", f"-j{os.cpu_count()}", "LIBRARY_SOURCES=common/our_control.c", "examples", "verbs-sim", *built, cwd=copy)
    rows = "test_in_c or examples and not (ping_sr_0 or two-files)"
    run("/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:xdist", "tests/unit", "tests/sim/test_rows.py", "-k", rows, cwd=copy)
