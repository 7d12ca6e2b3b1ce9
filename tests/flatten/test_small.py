# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests that the second forms in tools/flatten/small/ are of something. Contract: each stands for a
file that there is, has its public functions' types, and holds nothing that no flattened program would take.

That a function is called as it is defined, the compiler says of each flattened program: tests/pairs.mk.
"""

from __future__ import annotations

import re
import sys
import unittest
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools.flatten import source  # noqa: E402

SMALL = ROOT / "tools/flatten/small"
FORMS = sorted(path for path in SMALL.glob("*/*.[ch]"))


def types_of(item: source.Item) -> str:
    """What a function takes and returns, without the names of its parameters."""
    head = " ".join(source.strip(item.text).split("{")[0].rstrip("; \n").split())
    result, _, parameters = head.removeprefix("static ").partition("(")
    return result + "(" + re.sub(r"\b\w+(?=\s*(?:,|\)$|\[))", "", parameters)


def functions(path: Path) -> list[source.Item]:
    return [item for item in source.items(path, ROOT) if item.kind in ("function", "prototype")]


class Small(unittest.TestCase):
    def setUp(self) -> None:
        self.known: dict[str, set[str]] = defaultdict(set)
        for folder in {path.parent.name for path in FORMS}:
            for path in (ROOT / folder).glob("*.[ch]"):
                for item in functions(path):
                    self.known[item.names[0]].add(types_of(item))

    def test_each_stands_for_a_file(self) -> None:
        gone = [str(path.relative_to(SMALL)) for path in FORMS if not (ROOT / path.relative_to(SMALL)).exists()]
        self.assertEqual(gone, [])

    def test_public_functions_have_the_types_of_those_that_they_stand_for(self) -> None:
        for path in FORMS:
            for item in functions(path):
                name = item.names[0]
                if name in self.known and not item.text.startswith("static"):
                    self.assertIn(types_of(item), self.known[name], f"{path.relative_to(SMALL)}: {name}")

    def test_what_stands_for_nothing_is_called(self) -> None:
        called = {name for path in FORMS for item in source.items(path, ROOT) for name in item.calls}
        own = {item.names[0]: path for path in FORMS for item in functions(path)}
        stale = [f"{path.relative_to(SMALL)}: {name}" for name, path in own.items() if name not in called | set(self.known)]
        self.assertEqual(stale, [])


if __name__ == "__main__":
    unittest.main()
