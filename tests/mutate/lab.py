# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs the survivors of a measurement against suites that need a VM.

Place: `tests/mutate/run --lab`. Contract: these suites run the programs of a tree, so it is a copy, in build/mutate/lab, that
is changed, built and restored. A suite is run whole: minutes for each survivor.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess

from mutate import record
from mutate.build import ENVIRONMENT, TOP, Graph, make, output
from mutate.measure import draw, find_sites, results, results_file
from mutate.trial import SURVIVED

COPY = TOP / "build/mutate/lab"


def copy() -> None:
    """Brings the copy up to date; what has not changed is not built again."""
    for name in output("git", "ls-files").splitlines():
        source, target = TOP / name, COPY / name
        if source.is_file() and not (target.is_file() and source.read_bytes() == target.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def passes(suites: list[str]) -> bool:
    """Builds the copy, and runs the suites."""
    make("all", "tests-build", "tracer-build", "fake-build", "fuzz-build", "pairs-build", top=COPY)
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "TESTS_ALL"}
    return subprocess.run(["tests/run", *suites], cwd=COPY, env=environment, stdout=subprocess.DEVNULL).returncode == 0


def run(options: argparse.Namespace) -> int:
    """Tries all survivors. Returns the exit status."""
    suites = options.lab.split()
    done = results(results_file(options.seed, options.folders), record.state_of_the_tree())
    survivors = [number for number, mutant in done.items() if mutant.verdict == SURVIVED]
    if not survivors:
        print("tests/mutate/run: no survivors with this seed, in these folders, of this tree")
        return 2
    copy()
    if not passes(suites):
        print(f"without a fault, a test of {options.lab} fails: nothing counts")
        return 1
    drawn = draw(find_sites(Graph(*record.programs(record.tests())), options.folders), max(done) + 1, options.seed)
    for number in survivors:
        site, new = drawn[number]
        text = (TOP / site.file).read_bytes()
        try:
            (COPY / site.file).write_bytes(site.planted(text, new))
            print(f"{'survived' if passes(suites) else 'caught by'} {options.lab}: {done[number].diff()}", flush=True)
        finally:
            (COPY / site.file).write_bytes(text)
    return 0
