# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Plants one fault in a copy of the tree, and runs the tests that could notice it.

Place: between the sites that tests/mutate has drawn and its score. Contract: the copy is afterwards as before.
"""

from __future__ import annotations

import subprocess
import time

from mutate import suites
from mutate.build import Copy, DoesNotBuild

CAUGHT, SURVIVED, PART = "caught", "survived", "not run in full"
SAME, REFUSED = "same object code", "does not compile"
LIMIT_S = 1800.0  # for all tests of a fault, by the clock


def judge(first: Copy, copy: Copy, file: str, text: bytes, tests: list[str]) -> tuple[str, str]:
    """Runs the tests in a copy, with another text of a file; `first` is never changed. Returns the verdict, and by what it was
    caught."""
    begun, original = time.time(), (copy.top / file).read_bytes()
    try:
        (copy.top / file).write_bytes(text)
        code = copy.object_code(file)
        verdict, by = run_tests(copy, tests)
        if verdict == SURVIVED:
            (copy.top / file).write_bytes(original)
            verdict = SAME if copy.object_code(file) == code else SURVIVED
        return verdict, by
    except DoesNotBuild:
        return REFUSED, ""
    except subprocess.TimeoutExpired:
        return PART, ""
    finally:
        copy.restore(first, begun - 1)


def run_tests(copy: Copy, tests: list[str]) -> tuple[str, str]:
    """A test that fails is run once more: on a busy machine its limit in real time may have ended it."""
    left = tests
    while left and (failed := suites.run(copy, left, LIMIT_S)):
        name, words = failed
        if suites.run(copy, [name], LIMIT_S):
            return CAUGHT, f"{name.removeprefix('tests/')}: {words}"
        left = left[left.index(name) + 1 :]
    return SURVIVED, "" if tests else "no test runs it"
