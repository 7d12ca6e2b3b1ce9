# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs a group of tests over the fake verbs on the tree of an exercise, as the grader does.

Place: `make fakes DIR=... ROLE=... TESTS=...` calls it. Contract: it runs the student's program on this machine,
unconfined: it is for one's own work. Exit status: 0 all tests passed, 1 one failed, 2 wrong usage.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from . import fakes, grade


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make fakes", description="Runs tests over the fake verbs.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("role", choices=("client", "server"))
    parser.add_argument("tests", choices=("orderings", "sweep", "lines", "figures"))
    options = parser.parse_args()
    try:
        stage = grade.submitted(options.directory)[0].stage
        with tempfile.TemporaryDirectory() as name:
            program = fakes.build(options.directory, stage, options.role, "asan", Path(name))
            passed, failed = fakes.run(program, stage, options.role, options.tests)
    except (grade.Unfit, fakes.DoesNotBuild) as reason:
        print(f"make fakes: {reason}", file=sys.stderr)
        return 2
    print("\n".join([f"ok {test}" for test in passed] + [f"not ok {failed}"] * bool(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
