# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A plugin of pytest: writes down which lines of the programs each test runs, and how many seconds of
a processor.

Place: suites.py has pytest load it, in a copy of the tree that is built with gcov.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mutate.build import output
from mutate.suites import RECORD, append


def _lines(folder: Path) -> dict[str, list[int]]:
    """From what gcov's runtime has left in a folder: the lines that were run, of each file that has some."""
    found: dict[str, set[int]] = {}
    data = [*folder.rglob("*.gcda")]
    for path in data:
        path.with_suffix(".gcno").symlink_to("/" / path.relative_to(folder).with_suffix(".gcno"))
    said = output("gcov", "--json-format", "--stdout", *map(str, data)) if data else ""
    for file in (file for line in said.splitlines() for file in json.loads(line)["files"]):
        if ran := {line["line_number"] for line in file["lines"] if line["count"]}:
            found.setdefault(file["file"], set()).update(ran)
    return {file: sorted(lines) for file, lines in found.items() if not file.startswith(("/", "tests/"))}


def used() -> float:
    """Seconds of a processor that this process has used, and those that it has started."""
    return sum(os.times()[:4])


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Records a test that passes."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GCOV_PREFIX"] = folder
        begun = used()
        outcome = yield
        if not outcome.excinfo:  # type: ignore[attr-defined]
            append(Path(os.environ[RECORD]), [f"tests/{item.nodeid}", used() - begun, _lines(Path(folder))])
