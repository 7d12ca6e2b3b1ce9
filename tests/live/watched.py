# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs under a sanitizer or valgrind (--watch), of which each report fails the test that it comes from.

Place: for tests/sanitize, which builds the programs. Contract: a report is a file in the test's folder.
"""

from __future__ import annotations

from pathlib import Path

from live.table import TOP

KINDS = ("thread", "address", "memcheck")


def built(kind: str, program: str) -> str:
    """The stage's program that was built for the tool, which must be there; peers are not watched."""
    return program if program.startswith("build/") else f"build/sanitize/{kind}/{program}"


def environment(folder: Path) -> dict[str, str]:
    """Returns the environment that tells the tool where to write its reports."""
    log = f"log_path={folder}/report"
    return {
        "TSAN_OPTIONS": f"{log} suppressions={TOP}/tests/sanitize-thread.supp",
        "ASAN_OPTIONS": f"{log} detect_leaks=1",
        "UBSAN_OPTIONS": f"{log} print_stacktrace=1",
    }


def command(kind: str, folder: Path) -> list[str]:
    """Returns the command that runs a program under the tool. With -T it becomes verbs-trace, and that becomes the program again."""
    if kind != "memcheck":
        return []
    leaks = "--leak-check=full --show-leak-kinds=definite,possible --errors-for-leak-kinds=definite,possible"
    files = f"--log-file={folder}/report.%p --suppressions={TOP}/tests/sanitize-memcheck.supp"
    return f"valgrind -q --trace-children=yes {leaks} {files}".split()


def reports(folder: Path) -> list[str]:
    """Returns the reports of the tools."""
    return [file.read_text(errors="replace") for file in folder.glob("report*") if file.stat().st_size]
