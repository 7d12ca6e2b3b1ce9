# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""course/partners/histogram.c, called as the grader calls it: what it says of a right histogram and of others."""

import subprocess
from pathlib import Path
from random import Random

import pytest

from course import call
from course.checks import CHECKS
from exercises.solutions import TOP

KEEPS = "course/tests/exercises/attacks/keep.c"


@pytest.mark.parametrize(("source", "right"), [("program/measure/histogram.c", True), (KEEPS, False)], ids=["right", "keeps all values"])
def test_a_histogram(source: str, right: bool, tmp_path: Path) -> None:
    """The key checks of the exercise pass if the histogram is right, and only then."""
    program = tmp_path / "probe"
    subprocess.run(["cc", "-std=c11", "-I.", "-O2", "course/partners/histogram.c", source, "-o", str(program)], cwd=TOP, check=True)
    every = [check for check in CHECKS["statistics"](Random(1)) if check.key]
    assert every
    for check in every:
        with subprocess.Popen([str(program), "-"], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            function = int(process.stdout.readline(), 16)
            returned = list(call.results(process.pid, function, check.case["client"]["calls"]))
            process.kill()
        reason = check.judge({"client": {"status": 0, "err": "", "returned": returned}})
        assert (reason == "") == right, reason
