# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs the survivors of a measurement against suites that need a VM.

Place: the last step of tests/mutate/measure.py, with --lab. Contract: these suites run the programs of a tree, so it is
a copy, in build/mutate/lab, that is changed, built and restored. A survivor is tried with two stages that link its file,
its own before others; one in the library also with the examples, which call what no stage needs. Of a suite only the
rows of these are run.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from mutate import score
from mutate.build import ENVIRONMENT, TOP, make, output
from mutate.tree import Site
from mutate.trial import CAUGHT, SURVIVED

COPY = TOP / "build/mutate/lab"
STAGES = 2
LIMIT_S = 900.0  # of a suite's rows, which take a minute
PYTEST = "/usr/bin/python3 -m pytest -q -x".split()
CASES = {"live": "{}-RoCE"}  # what -k is for a stage; for other folders its name
LIBRARY, EXAMPLES = "common/", "examples"
Row = tuple[str, str]  # a folder of tests/, and a stage


def stages(file: str, top: Path = COPY) -> list[str]:
    """The stages to try a file with. The linker's maps say which of them take it."""
    maps, part = top / "build/maps", f"build/{file.removesuffix('.c')}.o"
    folders = {path.parent.relative_to(maps) for path in maps.rglob("client") if part in path.read_text()}
    folders |= {path.parent.relative_to(maps) for path in maps.rglob("server") if part in path.read_text()}
    ordered = sorted(folders, key=lambda folder: (folder != Path(file).parent, len(folder.parts), folder))
    found = [folder.name for folder in ordered[:STAGES]] or [Path(file).parent.name]
    return [*found, EXAMPLES] if file.startswith(LIBRARY) else found


def copy() -> None:
    """Brings the copy up to date; makes it anew if files are gone from the tree, as an archive would keep them."""
    tracked = output("git", "ls-files").splitlines()
    listed = COPY / "build/copied"
    if listed.exists() and not {*listed.read_text().splitlines()} <= {*tracked}:
        shutil.rmtree(COPY)
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text("\n".join(tracked))
    output("cp", "--parents", "-u", "-t", str(COPY), *tracked)


def make_copy() -> None:
    """Builds the copy as it is."""
    make("all", "nine", "tests-build", "pairs-build", top=COPY)


def passes(row: Row) -> bool:
    """Runs these tests in the copy, within the limit. If this is interrupted, they end their VMs."""
    folder, stage = row
    chosen = stage if stage == EXAMPLES else CASES.get(folder, "{}").format(stage)
    command = [*PYTEST, f"tests/{folder}", "-k", chosen]
    with subprocess.Popen(command, cwd=COPY, env=ENVIRONMENT, stdout=subprocess.DEVNULL) as process:
        try:
            return process.wait(LIMIT_S) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            process.terminate()


@cache
def passes_unchanged(row: Row) -> bool:
    """Whether there are such rows, and they pass without a fault."""
    passed = passes(row)
    if not passed:
        print(f"not run: {' '.join(row)}: without a fault no test passes, or one fails", flush=True)
    return passed


def judge(rows: Iterable[Row]) -> str:
    """Builds the copy with its fault. Returns the verdict of the rows, which pass without it."""
    make_copy()
    for row in rows:
        if not passes(row) and not passes(row):
            return f"{CAUGHT} by {' '.join(row)}"
    return SURVIVED


def run(suites: str, drawn: dict[int, tuple[Site, bytes]], kept: score.Results) -> None:
    """Adds to the results what the suites say of the survivors."""
    copy()
    make_copy()
    for mutant in score.sort_out([kept.mutants[number] for number in drawn]):
        if mutant.verdict != SURVIVED or mutant.lab:
            continue
        site, new = drawn[mutant.number]
        text = (TOP / site.file).read_bytes()
        rows = [(suite, stage) for suite in suites.split() for stage in stages(site.file)]
        rows = [row for row in rows if passes_unchanged(row)]
        try:
            (COPY / site.file).write_bytes(site.planted(text, new))
            lab = judge(rows) if rows else "not tested"
        finally:
            (COPY / site.file).write_bytes(text)
            make_copy()
        kept.add(replace(mutant, lab=lab))
        print(f"in VMs: {lab}: {mutant.diff()}", flush=True)
