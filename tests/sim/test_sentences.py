# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Each sentence that a program of ours can say is in a transcript, or a row looks for it: an error that nobody has seen may name the wrong side."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sim.simulation import TOP

SPOKEN = r"(common|program|ping-\w+-\d\w?|blast-sr-2|beyond|examples/(?!others)|ways)/"
LITERAL = r'"((?:[^"\\\n]|\\.)*)"'
SENTENCE = re.compile(rf"{LITERAL}(?:\s*{LITERAL})*")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FORMAT = re.compile(r"%[-0-9.*]*(?:hh?|ll?|z|j)?[a-zA-Z]")
PRI = re.compile(r'%" PRI([udx])\d+(?: ")?')

WINDOW = 28  # characters of a sentence that a row looks for

# Why nobody looks for it.
UNSAID = {
    "the server sent a message that nobody had asked for": "no server of the tests does",
    "the server has told its count, and a message is not back": "nor this",
    "the publisher has told its count, and more records are due": "nor this",
    "(%u came late or twice)": "nothing delays a datagram, or brings it twice",
    "the journal of a client": "no disk is full",
    "the pool of %u receives on %s was low %u times (--pool)": "tests/live/test_pools.py looks for two words",
    "the peer said nothing until the limit of the wait": "each program that sets a limit says its own",
    "option not implemented": "each option is",
    "-t needs /proc/self/exe": "/proc is there",
    "polling, with sched_yield": "names that nothing prints: --describe has that of all the ways",
    "polling, with naps": "as before",
    "polling, with a backoff": "as before",
    "completion channel in io_uring": "as before",
}


def sentences() -> Iterator[str]:
    """Yields what the programs can say in three words or more; neither lines of --help nor names."""
    for path in sorted(TOP.glob("**/*.[ch]")):
        if not re.match(SPOKEN, str(path.relative_to(TOP))):
            continue
        text = PRI.sub(lambda found: f"%{found[1]}" + '"' * (found[0][-1] != '"'), COMMENT.sub("", path.read_text()))
        for found in SENTENCE.finditer(text):
            said = "".join(re.findall(LITERAL, found[0])).replace("\\n", "").strip()
            if said.count(" ") > 1 and not re.match(r"usage|\.name|\S+ \|", said):
                yield said


def test_each_sentence_has_a_row() -> None:
    lines = [line for path in (TOP / "tests/sim/transcripts").glob("*.txt") for line in path.read_text().splitlines()]
    rows = [path.read_text() for path in (TOP / "tests").glob("**/*.*") if path.suffix in (".c", ".py") and path.name != "test_sentences.py"]
    in_rows = re.sub(r'"\s*f?"', "", "\n".join(rows))
    every, missing = {*sentences()}, list[str]()
    for said in every:
        parts = [part.replace("%%", "%").replace('\\"', '"') for part in FORMAT.split(said)]
        pattern, longest = re.compile(".*".join(map(re.escape, parts))), max(parts, key=len).strip()
        if any(pattern.search(line) for line in lines if longest in line):
            continue
        if longest not in in_rows and not any(part[begin : begin + WINDOW] in in_rows for part in parts for begin in range(len(part) - WINDOW + 1)):
            missing.append(said)
    assert len(every) > 300
    assert sorted(missing) == sorted(UNSAID)
