# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A plugin of pytest: writes down which functions of the programs each test runs, and how many seconds of
a processor.

Place: suites.py has pytest load it, in a copy of the tree that is built with gcov.
"""

from __future__ import annotations

import functools
import os
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mutate.suites import RECORD, append


def _strings(data: bytes, at: int) -> tuple[str, int]:
    """A string of gcov's, and where the next field begins."""
    (length,) = struct.unpack_from("<I", data, at)
    return data[at + 4 : at + 4 + length].rstrip(b"\0").decode(), at + 4 + length


@functools.cache
def _functions(notes: str) -> dict[int, tuple[str, int]]:
    """Of a .gcno file: the file and first line of each function, by its ident."""
    data, found = Path(notes).read_bytes(), {}
    _, at = _strings(data, 16)  # magic, version, stamp, checksum, then the folder
    at += 4
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        if tag == 0x01000000:
            (ident,) = struct.unpack_from("<I", data, at + 8)
            _, next_ = _strings(data, at + 20)
            file, next_ = _strings(data, next_ + 4)
            found[ident] = (file, struct.unpack_from("<I", data, next_)[0])
        at += 8 + max(length, 0)
    return found


def _ran(path: Path) -> set[int]:
    """Of a .gcda file: the functions that were run, by their idents."""
    data, at, ident, found = path.read_bytes(), 16, 0, set()
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        if tag == 0x01000000 and length:
            (ident,) = struct.unpack_from("<I", data, at + 8)
        elif tag == 0x01A10000 and length > 0 and any(data[at + 8 : at + 8 + length]):
            found.add(ident)
        at += 8 + max(length, 0)
    return found


def _lines(folder: Path) -> dict[str, list[int]]:
    """The first line of each function that was run, by file."""
    found: dict[str, set[int]] = {}
    for path in folder.rglob("*.gcda"):
        known = _functions("/" + str(path.relative_to(folder).with_suffix(".gcno")))
        for ident in _ran(path):
            file, line = known[ident]
            found.setdefault(file, set()).add(line)
    return {file: sorted(lines) for file, lines in found.items() if not file.startswith(("/", "tests/"))}


def used() -> float:
    """Seconds of a processor that this process has used, and those that it has started."""
    return sum(os.times()[:4])


PASSED: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes which test passes."""
    if report.when == "call" and report.passed:
        PASSED.add(report.nodeid)


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Records a test that passes, with what its fixtures run."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GCOV_PREFIX"] = folder
        begun = used()
        yield
        if item.nodeid in PASSED:
            append(Path(os.environ[RECORD]), [f"tests/{item.nodeid}", used() - begun, _lines(Path(folder))])
