# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs the commands of the labs, course/practice.md, docs/primer.md, tools/capture/README.md and course/README.md. The lines that the pages quote must be printed.

    python3 -m pytest tests/quotes -m '' -k lab-2

Contract: each command boots a machine of the lab; page.py describes what is compared. Those of a page that need a
directory come after the command that makes it, and find it; in the end it is removed.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from quotes import page

TOP = Path(__file__).resolve().parents[2]
LIMIT_S = 300
PRACTICE = "course/practice.md"
LABS = sorted((str(path.relative_to(TOP)) for path in TOP.glob("course/labs/lab-*[0-9].md")), key=lambda name: (len(name), name))
PAGES = [*LABS, PRACTICE, "docs/primer.md", "tools/capture/README.md", "course/README.md"]  # tests/drivers/test_symptoms.py runs those of docs/symptoms.md


def quotes_of(name: str) -> list[page.Quote]:
    """Returns the commands of a page."""
    return page.quotes(name, (TOP / name).read_text())


def printed(command: str) -> str:
    """Returns the output of a command, with its stderr."""
    run = ["timeout", "-k", "20", str(LIMIT_S), "bash", "-c", command]
    unset = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment["PATH"] = f"{TOP}/bin:{os.environ['PATH']}"  # each page has this in PATH
    result = subprocess.run(
        run, cwd=TOP, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return result.stdout.decode(errors="replace")


def why_not(quote: page.Quote) -> str:
    """Names the quoted lines that the command does not print; empty if it prints them all."""
    output = ""
    for _ in range(quote.attempts):
        output += printed(quote.command)
        lines = page.missing(quote, output)
        if not lines:
            return ""
    print(f"$ {quote.command}\n{output}", flush=True)
    return f"not printed: {' / '.join(lines)}"


@pytest.fixture(scope="module")
def made() -> Iterator[set[Path]]:
    """Directories that commands have made: by `make bug` and the like."""
    folders: set[Path] = set()
    yield folders
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def makes(quote: page.Quote, made: set[Path]) -> None:
    """Checks, before a command is run, that the directories that it makes do not exist yet."""
    for folder in {TOP / name for name in quote.directories} - made:
        assert not folder.exists(), f"{folder} is in the way"
        made.add(folder)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read(name: str) -> None:
    """No quote has a form that page.py does not know."""
    assert quotes_of(name)


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_a_page(name: str, made: set[Path]) -> None:
    """A page shows all that it quotes."""
    wrong = []
    for quote in quotes_of(name):
        makes(quote, made)
        if quote.lines or quote.command.startswith("make "):
            if why := why_not(quote):
                wrong.append(f"{quote.title}: {quote.command}: {why}")
    assert not wrong, "\n".join(wrong)


def test_what_an_answer_says_is_not_compared() -> None:
    """Only text in the prose of the section is compared; a block may be in a list."""
    command, answer = "## 1.\n\n1. Text.\n\n       $ run\n       7 polls\n", "<details><summary>Answer</summary>\n\n7.\n\n    code: 7\n\n</details>\n"
    (quote,) = page.quotes("a page", command + answer)
    assert quote.lines == ("7 polls",) and page.missing(quote, "8 polls") == []
    (quote,) = page.quotes("a page", command + "\nThere are 7.\n")
    assert page.missing(quote, "8 polls") == ["7 polls"]
