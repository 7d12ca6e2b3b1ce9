# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Finds the commands of docs/symptoms.md that show a symptom, and the lines that the page quotes.

Place: for tests/drivers/test_symptoms.py, which runs them in the lab. Contract: numbers are not compared: the lines are of
another run. What is said of Linux 6.1 is run there only. Where the next paragraph begins with "On Linux 6.12", what is
quoted in it is looked for on such a kernel instead; if nothing is quoted in it, the lines may not all be printed there.
"""

import re
from dataclasses import dataclass

SYMPTOM = re.compile(
    r"^\*\*(.+?)\*\* (.*?)\n\n((?:    [^\n]*\n)+)"
    r"(?:\n(On Linux 6\.12\b(?:[^\n]+\n)+)(?:\n((?:    (?!\$)[^\n]*\n)+))?)?",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"\$ lab/run -- sh -c '(.*?)'\n(.*)", re.DOTALL)
NUMBER = re.compile(r"0x[0-9a-f]+|\d+(\.\d+)?")


@dataclass(frozen=True)
class Symptom:
    """What the page says: a title, a command, and lines of its output."""

    title: str
    command: str
    quoted: list[str]
    printed: bool = True  # or the lines belong to another kernel


def bare(line: str) -> str:
    """A line without its numbers, and with single spaces."""
    return " ".join(NUMBER.sub("#", line).split())


def quoted_lines(block: str) -> list[str]:
    """What is quoted in a block, or in what is left of it after the command."""
    return [line.removeprefix("    ") for line in block.splitlines() if line.strip() != "..."]


def symptoms(text: str, release: str) -> list[Symptom]:
    """Those of the page, as they are on a kernel."""
    found = []
    for title, about, block, other, other_block in SYMPTOM.findall(text):
        if "(Linux 6.1)" in title and not release.startswith("6.1."):
            continue
        lines = "".join(line[4:] + "\n" for line in block.splitlines())
        parts = COMMAND.fullmatch(lines)
        if not parts:
            raise ValueError(f"docs/symptoms.md: no command after '{title}' {about}")
        differs = bool(other) and release.startswith("6.12.")
        quoted = quoted_lines(other_block if differs and other_block else parts[2])
        printed = not differs or bool(other_block)
        found.append(Symptom(" ".join(title.split()), parts[1], quoted, printed))
    return found
