# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Finds the commands of a page and the lines of output that it quotes, and compares these with a real output.

Place: used by test_quoted.py. Contract: a command is a line of an indented block that begins with `$`, up to the end of
its quotation marks. The indented lines after it, up to the next command of the section, are quoted output. In a quoted
line `...` matches anything; a line `...` alone says that lines are left out. A number is compared only if the text of
the section repeats it: all others differ in each run. The length of an arrow is not compared, because it depends on
the text beside it. Folded answers are left out.
"""

import re
import shlex
import textwrap
from dataclasses import dataclass

BLOCK = re.compile(r"(?:^    [^\n]*\n|^\n(?=    \S))+", re.MULTILINE)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
CODE = re.compile(r"`[^`]*`")
NUMBER = re.compile(r"(?<![\w-])(?:0x[0-9a-f]+|\d+(?:\.\d+)?)")
ARROW = re.compile(r"-{3,}")
PRINTED = re.compile(r"[\w./-]+(?: \(\w+\))?: ")  # a program's name, and what it says
ANSWER = re.compile(r"<details><summary>Answers?</summary>.*?</details>", re.DOTALL)
TYPED = re.compile(r"(?:make|lab/run|python3 -m pytest) ")


class NotAPage(Exception):
    """A block of a page that cannot be tested."""


@dataclass(frozen=True)
class Quote:
    """A command, lines that it prints, and numbers that are as quoted each time."""

    title: str
    command: str
    lines: tuple[str, ...]
    kept: frozenset[str]

    @property
    def chance(self) -> bool:
        """Returns whether the lines are not to be expected of each run: packets are lost."""
        return "--loss" in self.command

    @property
    def attempts(self) -> int:
        """Returns how often to run the command until it prints the lines. A client that comes before its server tries again, with
        another QP."""
        return 12 if self.chance else 2 if " -w " in self.command else 1

    @property
    def directories(self) -> list[str]:
        """Returns the folders that `make bug` and the like write in the project's directory."""
        return re.findall(r"\bDIR=(\S+)", self.command) if "make bug " in self.command else []


def bare(line: str, kept: frozenset[str]) -> str:
    """A line with `#` for each number that is not kept, short arrows, and single spaces."""
    text = NUMBER.sub(lambda found: found.group() if found.group() in kept else "#", line)
    return " ".join(ARROW.sub("--", text).split())


def pattern(line: str, kept: frozenset[str]) -> re.Pattern[str]:
    """Returns a pattern that fits a quoted line."""
    parts = [" ".join(part.split()) for part in bare(line, kept).split("...")]
    return re.compile(r"\s*.*?\s*".join(re.escape(part) for part in parts))


def missing(quote: Quote, output: str) -> list[str]:
    """The quoted lines that are not among those of the output."""
    kept = frozenset() if quote.chance else quote.kept
    printed = [bare(line, kept) for line in output.splitlines()]
    return [line for line in quote.lines if not any(map(pattern(line, kept).fullmatch, printed))]


def whole(command: str) -> bool:
    """Returns whether all quotation marks are closed."""
    try:
        shlex.split(command)
    except ValueError:
        return False
    return True


def of_section(title: str, blocks: list[str], kept: frozenset[str]) -> list[Quote]:
    """The commands in the blocks of a section, each with what is quoted of it."""
    quotes: list[Quote] = []
    rest = list(blocks)
    while rest:
        line = rest.pop(0)
        if not line.startswith("$ "):
            if quotes and TYPED.match(line):
                raise NotAPage(f"{title}: is '{line}' a command? Then it needs a $")
            if quotes and line.strip() not in ("", "..."):
                last = quotes.pop()
                line = re.sub(r"^\.\.\. (?=\S)", "", line)
                quotes.append(Quote(last.title, last.command, (*last.lines, line), last.kept))
            elif not quotes and PRINTED.match(line):
                raise NotAPage(f"{title}: no command before '{line}'")
            continue
        command = line[2:]
        while not whole(command):
            if not rest:
                raise NotAPage(f"{title}: no end of the command '{command}'")
            command += "\n" + rest.pop(0)
        quotes.append(Quote(title, command, (), kept))
    return quotes


def numbers_of(prose: str) -> frozenset[str]:
    """The numbers that a text names."""
    return frozenset(NUMBER.findall(CODE.sub("", HEADING.sub("", prose)).replace(",", "")))


def quotes(name: str, text: str) -> list[Quote]:
    """The commands of a page, in its order. Those of which nothing is quoted are among them: others may need them."""
    found: list[Quote] = []
    text = ANSWER.sub("", text)
    starts = [match.start() for match in HEADING.finditer(text)] or [0]
    for start, end in zip(starts, [*starts[1:], len(text)]):
        section = text[start:end]
        heading = HEADING.match(section)
        title = f"{name}: {heading.group(1) if heading else ''}"
        kept = numbers_of(BLOCK.sub("\n", section))
        lines: list[str] = []
        for block in BLOCK.findall(section):
            lines += textwrap.dedent(block).splitlines()
        found += of_section(title, lines, kept)
    return found
