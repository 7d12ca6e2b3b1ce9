#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""explain.py DEVICES PORT ADDRESS TEXT: explains the causes of an error, by the tables of causes.py.

Place: `devices --explain` executes it; DEVICES is that program, whose --check says what is wrong on this machine. Contract:
TEXT is a code, a message, the name of a file, or "-" for stdin. Exit status 0; 1 if nothing is known; 2 for a wrong address.
"""

import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import List, NamedTuple, Optional

sys.dont_write_bytecode = True

from causes import Cause, Code, plain  # noqa: E402
from symptom import Found, rank, text_of  # noqa: E402

WIDTH = 96
SHOWN = 4  # causes that are explained in full; twice as many more by title only
FINDINGS = 3  # lines of a file that are explained
ACCUSATION = re.compile(r'  +[a-z0-9-]+:|.*"accusation"')  # from verbs-trace, as text or as JSON
ADDRESS = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])")
NOTHING = "devices: nothing is known about this; docs/README.md says which page answers what, and verbs-trace shows each call of a program"
DUMP = "libmlx5 prints the completion behind this line, as 16 hexadecimal words: give them, too"


class Answer(NamedTuple):
    """The answer of a step of --check."""

    verdict: str
    name: str
    text: str


def wrapped(head: str, text: str) -> None:
    """Returns lines, all indented alike; the first begins with `head`."""
    print(textwrap.fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False, break_on_hyphens=False))


def answers_of(program: str, address: str, port: str) -> List[Answer]:
    """Returns the answers of --check for an address, or for this machine's own. Exits with status 2 if there is no such address."""
    done = subprocess.run([program, "--check", address, "-p", port], stdout=subprocess.PIPE, universal_newlines=True, check=False)
    if done.returncode == 2:
        sys.exit(2)
    lines = (re.match(r"(ok|FAILS|\?|-) +(\S+) +(.*)", line) for line in done.stdout.splitlines())
    found = [Answer(*line.groups()) for line in lines if line]
    return [answer for answer in found if answer.text != "no address is known"]


class Explanation:
    """Prints explanations, with the findings of --check on this machine."""

    def __init__(self, answers: List[Answer]) -> None:
        """Nothing has been told yet."""
        self.answers = answers
        self.told: List[Cause] = []  # true for a file

    def here(self, cause: Cause) -> List[Answer]:
        """Returns the answers of the steps that a cause names."""
        return [answer for answer in self.answers if answer.name in cause.texts["check"].split()]

    def ranked(self, found: Found, code: Optional[Code] = None) -> List[Cause]:
        """Sorts causes, the likeliest first; before them those that a failing step confirms, if they fit nearly as well."""
        scores = rank(found, code)
        best = max((score for _, score in scores), default=0.0)
        confirmed = [c for c, score in scores if 2 * score >= best and any(a.verdict == "FAILS" for a in self.here(c))]
        return confirmed + [cause for cause, _ in scores if cause not in confirmed]

    def code(self, code: Code) -> None:
        """Prints the meaning of a code."""
        meaning = "; ".join(part for part in (text_of(code), plain(code.about)) if part)
        print(f"{code.full}:" if code.kind == "REASON" else f"{code.full} ({code.value}):")
        wrapped("    ", meaning + (f". What to do: {plain(code.remedy)}" if code.remedy else ""))

    def cause(self, cause: Cause, number: int) -> None:
        """Prints a cause's reason, the findings on this machine, and the remedy."""
        texts = {name: plain(text) for name, text in cause.texts.items()}
        wrapped(f"  {number}. ", texts["title"])
        wrapped("     why:    ", texts["about"])
        for answer in self.here(cause):
            wrapped(f"     here:   {answer.verdict:5}  {answer.name:10}  ", answer.text)
        wrapped("     remedy: ", texts["remedy"])
        print(f"     page:   docs/{texts['page']}")
        wrapped("     try:    ", texts["sim"] or f"lab/run -- sh -c '{texts['lab']}'")

    def causes(self, found: Found, code: Optional[Code] = None) -> bool:
        """Prints some causes in full, and the titles of some more. Returns whether there is any."""
        ranked = self.ranked(found, code)
        for number, cause in enumerate(ranked[:SHOWN], 1):
            self.cause(cause, number)
        for number, cause in enumerate(ranked[SHOWN : 3 * SHOWN]):
            wrapped("        " if number else "  also: ", plain(cause.texts["title"]))
        return bool(ranked)

    def text(self, text: str) -> bool:
        """Explains a message, or a code. Returns whether anything is known about it."""
        found, known = Found(text), False
        for code in found.codes:
            # A number that is an errno value without a cause here means something else.
            if found.bare and not code.about and not rank(found, code):
                continue
            self.code(code)
            known |= bool(code.about or rank(found, code))
            if found.bare:
                self.causes(found, code)
        if not found.codes and found.has("got completion with error"):
            print(DUMP)
            return True
        return (not found.bare and self.causes(found)) or known

    def line(self, line: str) -> None:
        """Explains a line of a file, if it is an error: its codes, and its likeliest cause, unless printed before."""
        found = Found(line)
        if len(self.told) == FINDINGS or not (ACCUSATION.match(line) or is_error(found, bool(self.told))):
            return
        ranked = self.ranked(found)
        if ranked and ranked[0] in self.told:
            return
        wrapped("", line)
        for code in found.codes:
            self.code(code)
        if ranked:
            self.told.append(ranked[0])
            self.cause(ranked[0], 1)


def is_error(found: Found, before: bool) -> bool:
    """Returns whether a line is an error: flushes follow from an earlier error, and a disconnect is the normal end."""
    for code in found.codes:
        if code.full == "RDMA_CM_EVENT_DISCONNECTED":
            continue
        if code.name not in ("EAGAIN", "EINTR") if code.kind == "ERRNO" else code.remedy:
            return not (before and code.full == "IBV_WC_WR_FLUSH_ERR")
    return False


def main(arguments: List[str]) -> int:
    """Returns the exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the default, because the reader of the output may leave
    program, port, address, text = arguments
    named = ADDRESS.search(text)
    explanation = Explanation(answers_of(program, address or (named[0] if named else ""), port))
    if text == "-" or Path(text).is_file() or Path(text).is_char_device():
        with sys.stdin if text == "-" else open(text, encoding="utf-8", errors="replace") as file:
            for line in file:
                explanation.line(line.rstrip("\n"))
        known = bool(explanation.told)
    else:
        known = explanation.text(text)
    if not known:
        print(NOTHING, file=sys.stderr)
    return 0 if known else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
