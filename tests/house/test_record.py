# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What make check-long keeps of its results: tests/record.py."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import record
from record import Record

CONFIG: Any = SimpleNamespace(option=SimpleNamespace(rest=True))


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A commit, and a folder for its results."""
    said = {"rev-parse": "abc", "status": ""}
    monkeypatch.setattr(record, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(record, "said", lambda *words: said.get(words[1], ""))
    return said


def ends(kept: Record, test: str, **outcomes: str) -> None:
    """A test's reports come, one for each phase."""
    for when, outcome in outcomes.items():
        report: Any = SimpleNamespace(nodeid=test, when=when, outcome=outcome, duration=0.5)
        kept.pytest_runtest_logreport(report)


def test_what_has_passed_is_done(tree: dict[str, str]) -> None:
    """Also when the last line was not written to its end; but not at another commit."""
    first = Record(CONFIG)
    ends(first, "a/t.py::passes", setup="passed", call="passed", teardown="passed")
    ends(first, "a/t.py::fails", setup="passed", call="failed", teardown="passed")
    ends(first, "a/t.py::leaves", setup="passed", call="passed", teardown="failed")
    ends(first, "b/t.py::skips", setup="skipped", teardown="passed")
    ends(first, "b/t.py::dies", dead="failed")
    ends(first, "b/t.py::runs", setup="passed", call="passed")
    assert first.file
    with first.file.open("a") as file:
        file.write('\n{"test": "a/t.py::f')
    again = Record(CONFIG)
    assert again.done() == ["a/t.py::passes", "b/t.py::skips"]
    ends(again, "a/t.py::fails", setup="passed", call="passed", teardown="passed")
    assert "a/t.py::fails" in Record(CONFIG).done()
    assert "| a | 2 | 1 | 0 | 0.1 min |\n| b | 0 | 1 | 1 | 0.0 min |\n| **all** | 2 | 2 | 1 | 0.1 min |" in again.table()
    tree["rev-parse"] = "abd"
    assert not Record(CONFIG).done() and Record(CONFIG).known_s["a/t.py::passes"] == 1.5


def test_a_tree_with_changes_keeps_nothing(tree: dict[str, str]) -> None:
    """The table says so."""
    tree["status"] = " M Makefile"
    kept = Record(CONFIG)
    ends(kept, "a/t.py::passes", setup="passed", call="passed", teardown="passed")
    assert not Record(CONFIG).done() and "commit: abc, with changes" in kept.table()
