# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests how symptoms.py reads docs/symptoms.md."""

from pathlib import Path

from quotes.symptoms import symptoms

TOP = Path(__file__).resolve().parents[2]

PAGE = """**One.** About it.

    $ lab/run -- sh -c 'one'
    said by one

On Linux 6.12 nothing is
printed.

**Two.** About it.

    $ lab/run -- sh -c 'two'
    said by two
    ...

On Linux 6.12 it says more:

    said by another two

**Three (Linux 6.1).** About it.

    $ lab/run -- sh -c 'three'
    said by three
"""


def expected(release: str) -> list[tuple[str, list[str], bool]]:
    """Command, lines, and whether they are to be printed."""
    return [(one.command, one.quoted, one.printed) for one in symptoms(PAGE, release)]


def test_an_old_kernel() -> None:
    due = [("one", ["said by one"], True), ("two", ["said by two"], True), ("three", ["said by three"], True)]
    assert expected("6.1.0-56-amd64") == due


def test_a_newer_one() -> None:
    due = [("one", ["said by one"], False), ("two", ["said by another two"], True)]
    assert expected("6.12.95+deb12-amd64") == due


def test_the_page() -> None:
    text = (TOP / "docs/symptoms.md").read_text()
    old, new = symptoms(text, "6.1.0"), symptoms(text, "6.12.0")
    assert len(old) >= 30
    assert all(one.quoted for one in old + new)
    assert all(one.printed for one in old)
