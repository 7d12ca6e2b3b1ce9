# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Judges the logs of a suite: its TAP, its list of skipped tests, its kernel's log.

Place: between suites.py, which runs a suite, and tests/run. Contract: incomplete logs give a verdict, too. A suite
that ended before it had run all planned tests, or printed nothing, has failed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.etree import ElementTree

# What a kernel says when something went wrong inside it. An oops ends the VM, and so its suite.
COMPLAINT = re.compile(
    "BUG|WARNING|Oops|Call Trace|lockup|refcount|blocked for more than|stall on CPU|"
    "stalls on CPU|general protection|corruption|use-after-free|leaked"
)
LONGEST = 400  # characters of a failed test's line
LAST_LINES = 10


@dataclass
class Verdict:
    """How many tests of something passed, and lines for the reader about those that did not."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    lines: list[str] = field(default_factory=list)

    def fail(self, text: str, log: str = "") -> None:
        """One more has failed. `log` is what was said before: its end is shown."""
        self.failed += 1
        self.lines.append(f"  FAILED  {text}")
        self.lines += [f"          {line}" for line in log.splitlines()[-LAST_LINES:]]

    def counts(self) -> str:
        """The three sums, as in the last line of tests/run."""
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def of_tap(name: str, status: int, tap: str, skipped: str, log: str) -> Verdict:
    """Of a program that writes TAP: `status` is its exit status, `skipped` has a line for each test
    that it did not run, and `log` is all that it said."""
    good = len(re.findall(r"^ok ", tap, re.M))
    failures = re.findall(r"^not ok \d+ - (.*)", tap, re.M)
    bad = len(re.findall(r"^not ok ", tap, re.M))
    plans = re.findall(r"^1\.\.(\d+)$", tap, re.M)
    reasons = [line for line in skipped.splitlines() if line]
    verdict = Verdict(name, good, bad, len(reasons))
    verdict.lines = [f"  FAILED  {text}"[:LONGEST] for text in failures]
    verdict.lines += [f"  skipped {reason}" for reason in reasons]
    if plans != [str(good + bad)]:
        text = f"{name}: ended (exit status {status}) after {good + bad} tests, before its plan"
        verdict.fail(f"{text}; the last that it said:", log)
    elif not bad and status:
        verdict.fail(f"{name}: no test failed, yet the exit status is {status}", log)
    return verdict


def of_junit(name: str, status: int, junit: str, log: str) -> Verdict:
    """Of pytest: `junit` is the file of --junitxml, which is written at the end; `log` is all that it said."""
    verdict = Verdict(name)
    for case in ElementTree.fromstring(junit).iter("testcase") if junit else ():
        title = f"{case.get('classname')}::{case.get('name')}"
        bad = [*case.iter("failure"), *case.iter("error")]
        reasons = [skipped.get("message") for skipped in case.iter("skipped")]
        verdict.passed += not bad and not reasons
        for why in bad[:1]:
            verdict.fail(f"{title}: {why.get('message')}"[:LONGEST])
        verdict.skipped += len(reasons)
        verdict.lines += [f"  skipped {title}: {reason}" for reason in reasons]
    if not verdict.failed and (status or not verdict.passed):
        verdict.fail(f"{name}: exit status {status}, though no test failed; the last that it said:", log)
    return verdict


def of_lab(status: int, log: str) -> Verdict:
    """Of lab/test: lines with "ok", "FAILED" or "skip", and a sum as the last."""
    verdict = Verdict("lab")
    for line in log.splitlines():
        word, _, text = line.partition(" ")
        if word == "ok":
            verdict.passed += 1
        elif word == "FAILED":
            verdict.fail(f"lab: {text.strip()}")
        elif word == "skip":
            verdict.skipped += 1
            verdict.lines.append(f"  skipped lab: {text.strip()}")
    last = log.splitlines()[-1] if log else ""
    if last != verdict.counts() or (status and not verdict.failed):
        verdict.fail(f"lab/test: exit status {status}; the last that it said:", log)
    return verdict


def of_kernel(path: str, log: str) -> Verdict:
    """Of the kernel under a suite: one test for each VM. `path` is where its log is."""
    verdict = Verdict("kernel")
    complaints = [line for line in log.splitlines() if COMPLAINT.search(line)]
    if "Linux version" not in log:
        verdict.fail(f"kernel: there is no log of it: {path}")
    elif complaints:
        verdict.fail(f"kernel: it complained, see {path}:", "\n".join(complaints[:5]))
    else:
        verdict.passed = 1
    return verdict
