# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs the survivors of a measurement against suites that need a VM.

Place: the last step of tests/mutate/measure.py, with --lab. Contract: these suites run the programs of a tree, so it is
a copy, in build/mutate/lab, that is changed, built and restored. A suite is run whole, or the case that CK_RUN_CASE
names: minutes for each survivor.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace

from mutate import score
from mutate.build import ENVIRONMENT, TOP, make, output
from mutate.tree import Site
from mutate.trial import CAUGHT, SURVIVED

COPY = TOP / "build/mutate/lab"


def copy() -> None:
    """Brings the copy up to date; what has not changed is not built again."""
    COPY.mkdir(parents=True, exist_ok=True)
    output("cp", "--parents", "-u", "-t", str(COPY), *output("git", "ls-files").splitlines())


def passes(suites: list[str]) -> bool:
    """Builds the copy, and runs the suites. A suite that is interrupted ends its VMs."""
    make("all", "nine", "tests-build", "pairs-build", top=COPY)
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "TESTS_ALL"}
    with subprocess.Popen(["tests/run", *suites], cwd=COPY, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            return process.wait() == 0
        finally:
            process.terminate()


def run(suites: str, drawn: dict[int, tuple[Site, bytes]], kept: score.Results) -> bool:
    """Adds to the results what the suites say of the survivors. Returns False if they fail without a fault."""
    named = f"{suites} {os.environ.get('CK_RUN_CASE', '')}".strip()
    mutants = score.sort_out([kept.mutants[number] for number in drawn])
    survivors = [mutant for mutant in mutants if mutant.verdict == SURVIVED and not mutant.lab]
    copy()
    if survivors and not passes(suites.split()):
        print(f"without a fault, a test of {named} fails: nothing counts")
        return False
    for mutant in survivors:
        site, new = drawn[mutant.number]
        text = (TOP / site.file).read_bytes()
        try:
            (COPY / site.file).write_bytes(site.planted(text, new))
            verdict = SURVIVED if passes(suites.split()) or passes(suites.split()) else CAUGHT
        finally:
            (COPY / site.file).write_bytes(text)
        kept.add(replace(mutant, lab=f"{named}: {verdict}"))
        print(f"{named}: {verdict}: {mutant.diff()}", flush=True)
    return True
