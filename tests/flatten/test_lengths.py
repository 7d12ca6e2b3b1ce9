# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of the files that tools/flatten writes for the stages: as short as docs/flatten.md says, and without
the parts that users of a copy do not need."""

from __future__ import annotations

import os
import re
import sys
import unittest
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tools.flatten.__main__ import ask  # noqa: E402
from tools.flatten.program import flatten  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
GOAL = 1600
LIMITS = {("ping-sr-0", "client"): 900, ("ping-sr-4", "server"): GOAL, ("ping-rc-0", "server"): GOAL}
if os.environ.get("TESTS_ALL"):
    STAGES = [stage for kind in ("stages", "others") for stage in ask(ROOT, f"print-{kind}", "", "")]
    LIMITS = {(stage, "client"): GOAL for stage in STAGES} | {(stage, "server"): GOAL for stage in STAGES} | LIMITS


@cache
def flattened(stage: str, role: str) -> str:
    parts, without, libs = (ask(ROOT, f"print-{what}", stage, role) for what in ("parts", "without", "libs"))
    return flatten(ROOT, parts, without, libs, stage, role)


class Lengths(unittest.TestCase):
    def test_no_longer_than_promised(self) -> None:
        for (stage, role), limit in LIMITS.items():
            with self.subTest(stage=stage, role=role):
                self.assertLessEqual(flattened(stage, role).count("\n"), limit)

    def test_lines_are_no_wider_than_a_hundred_columns(self) -> None:
        for stage, role in LIMITS:
            wide = [line for line in flattened(stage, role).split("\n") if len(line.expandtabs(8)) > 100]
            self.assertEqual(wide, [])

    def test_no_word_of_what_is_not_there(self) -> None:
        for stage, role in LIMITS:
            text = flattened(stage, role)
            for word in ("json", "histogram", r"[ (]--[a-z]", r"stage\.h", "docs/", "lab/", "USES_", "IS_CLIENT"):
                lines = [line for line in text.split("\n") if re.search(word, line)]
                self.assertEqual(lines, [], f"{stage} {role}")
            self.assertEqual(re.findall(r".*(?:\bret = ret;|\n\n\n|[ \t]\n).*", text), [], f"{stage} {role}")


if __name__ == "__main__":
    unittest.main()
