# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Judges what the README's commands have printed and left behind.

Nothing here runs a program: see test_judge.py. Each function that judges returns None, or the error in a few words.
"""

import os
import re
from pathlib import Path

Snapshot = dict[str, tuple[int, int]]

TRANSPORTS = ("RoCE", "iWARP")
MIRROR = "http://deb.debian.org/debian"
SECURITY = "http://security.debian.org/debian-security"
CANARIES = ("testing", "unstable", "sid")

# What the two commands say while they install packages, and while they make the lab's kernel.
INSTALLS = re.compile(r"packages missing|installing them")
FETCHES = re.compile(r"lab: (fetching|refreshing|building)")


# What has to be skipped: soft-RoCE and soft-iWARP take messages of any length.
NECESSARY = re.compile(r": \w+ takes (more than -s can ask for|messages of \d+ bytes, for which this machine is too slow)$")


def sources(release: str) -> list[str]:
    """The lines of apt's sources that an installed system of the release has."""
    lines = [f"deb {MIRROR} {release} main"]
    if release not in CANARIES:
        lines.append(f"deb {MIRROR} {release}-updates main")
        lines.append(f"deb {SECURITY} {release}-security main")
    return lines


def last_line(text: str) -> str:
    """The last line that is not empty."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no output"


def first_error(text: str) -> str:
    """What apt and its kin complain of first; what follows from it comes later."""
    errors = [line for line in text.splitlines() if line.startswith("E: ")]
    return errors[0][3:] if errors else last_line(text)


def of_demo(status: int, text: str) -> str | None:
    """`make demo`: results of both transports, all of them verified."""
    if status:
        return f"make demo: exit status {status}: {last_line(text)}"
    for transport in TRANSPORTS:
        rows = [line.split() for line in text.splitlines() if line.startswith(transport + " ")]
        if not rows:
            return f"make demo: no results of {transport}"
        if any(row[-1] != "yes" for row in rows):
            return f"make demo: results of {transport} are not verified"
    return None


def of_sum(what: str, status: int, text: str) -> str | None:
    """Tests: something passed, nothing failed; the last line says so. What is skipped has to be."""
    sums = re.findall(r"^\d+ passed, \d+ failed, \d+ skipped$", text, re.MULTILINE)
    if not sums:
        return f"{what}: exit status {status}: {last_line(text)}"
    passed, failed, skipped = (int(number) for number in re.findall(r"\d+", sums[-1]))
    if status or failed or not passed or last_line(text) != sums[-1]:
        return f"{what}: exit status {status}: {sums[-1]}"
    named = [(int(times), why) for times, why in re.findall(r"^SKIPPED \[(\d+)\] (.*)$", text, re.MULTILINE)]
    for _, why in named:
        if not NECESSARY.search(why):
            return f"{what}: skipped {why}"
    if sum(times for times, _ in named) != skipped:
        return f"{what}: {skipped} skipped, but named: {named}"
    return None


def remedy(text: str) -> str | None:
    """The command that root is to run, where exactly one line names one."""
    found = re.findall(r"run as root: (\S.*)$", text, re.MULTILINE)
    return found[0].strip() if len(found) == 1 else None


def of_silence(text: str, *about: re.Pattern[str]) -> str | None:
    """Once all is there, nothing is said of installing or fetching it."""
    for line in text.splitlines():
        if any(pattern.search(line) for pattern in about):
            return f"all should be there, but it says: {line.strip()}"
    return None


def snapshot(top: Path, *below: str) -> Snapshot:
    """Size and time of each file in some of a root's directories, or of the file itself."""
    files: Snapshot = {}
    for name in below:
        paths = [top / name]
        for directory, _, names in os.walk(top / name):
            paths += [Path(directory) / file for file in names]
        for path in paths:
            if path.is_file() and not path.is_symlink():
                found = path.stat()
                files[str(path.relative_to(top))] = (found.st_size, found.st_mtime_ns)
    return files


def of_change(before: Snapshot, after: Snapshot) -> str | None:
    """Nothing is new, gone or other than before."""
    names = before.keys() | after.keys()
    changed = sorted(name for name in names if before.get(name) != after.get(name))
    if not before:
        return "nothing was there before"
    if changed:
        return f"a second run has changed {len(changed)} files: {', '.join(changed[:3])}"
    return None
