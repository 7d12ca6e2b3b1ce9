# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Builds a student's program, and runs tests of it over the simulated device, on this machine.

Place: `make sim DIR=... ROLE=... TESTS=...` calls it, and bug.py. Contract: only sources (.c) of the program are taken
from the student's tree. Those that differ from the project's are compiled, with a sanitizer; all else is the project's.
The program runs unconfined: this is for one's own work. Exit status: 0 the tests passed, 1 one failed, 2 wrong usage.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.stages import without_make

from . import edit, grade, over_sim, trees
from .reasons import printable

COMPILE_LIMIT_S = 120


class DoesNotBuild(Exception):
    """The compiler or the linker refuses the student's program."""


def own_sources(tree: Path, out: Path) -> list[str]:
    """The sources of the tree `out` that differ in the student's tree in more than comments and layout."""
    names = [str(path.relative_to(out)) for path in out.rglob("*.c")]
    files = [name for name in names if (tree / name).is_file() and not (tree / name).is_symlink()]
    return [name for name in files if not edit.same((tree / name).read_text(errors="replace"), (out / name).read_text())]


def build(tree: Path, stage: str, role: str, sanitizer: str) -> Path:
    """Builds the tree's program, in a folder of the tree. Raises DoesNotBuild."""
    out = tree.resolve() / "build" / f"sim-{sanitizer}"
    shutil.rmtree(out, ignore_errors=True)
    trees.write(out, stage, "")
    own = own_sources(tree, out)
    trees.add_objects(out, own)
    for name in own:
        shutil.copyfile(tree / name, out / name)
    command = ["env", "LC_ALL=C", "prlimit", "--as=8000000000", "make", "-s", role, trees.for_simulation(out, sanitizer)]
    try:
        done = subprocess.run(command, cwd=out, env=without_make(), capture_output=True, text=True, errors="replace", timeout=COMPILE_LIMIT_S)
    except subprocess.TimeoutExpired as late:
        raise DoesNotBuild(f"it is not built after {COMPILE_LIMIT_S} s") from late
    if done.returncode:
        said = re.findall(r"^.*(?:error:|undefined reference).*$", done.stderr, re.MULTILINE)
        raise DoesNotBuild(" / ".join(said[:3])[:600] or done.stderr[-300:])
    return out / role


def check(tree: Path, stage: str, role: str, tests: Iterable[str], sanitizer: str = "asan") -> tuple[int, str]:
    """Returns how many runs were as they should be, and the reason why the next one was not, or empty. Raises DoesNotBuild."""
    program, runs = build(tree, stage, role, sanitizer), 0
    for each in tests:
        number, why = over_sim.check(stage, role, each, str(program))
        runs += number
        if why:
            return runs, why
    return runs, ""


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make sim", description="Runs tests over the simulated device.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("role", choices=over_sim.SIDES)
    parser.add_argument("tests", metavar="TESTS", help=f"{', '.join(over_sim.TESTS)}; make grade says which, with numbers behind some")
    options = parser.parse_args()
    if options.tests.split(":")[0] not in over_sim.TESTS:
        parser.error(f"there are no tests '{options.tests}'")
    try:
        stage = grade.submitted(options.directory)[0].stage
        runs, why = check(options.directory, stage, options.role, [options.tests])
    except (grade.Unfit, DoesNotBuild) as reason:
        print(f"make sim: {printable(str(reason))}", file=sys.stderr)
        return 2
    print(f"not ok: {printable(why)}" if why else f"ok: {runs} runs")
    return int(bool(why))


if __name__ == "__main__":
    sys.exit(main())
