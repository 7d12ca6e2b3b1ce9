# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs each command of docs/symptoms.md that shows a symptom: the lines that the page quotes must be printed."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from quotes.symptoms import Symptom, bare, symptoms

pytestmark = pytest.mark.long
TOP = Path(__file__).resolve().parents[2]
LIMIT_S = 60
ATTEMPTS = 5  # of two lines that a program may print, which one comes can depend on who is first
PAGE = (TOP / "docs/symptoms.md").read_text()


def missing(symptom: Symptom) -> list[str]:
    """The quoted lines that the command did not print."""
    # In a session of its own: what it leaves in the background goes with it.
    run = ["timeout", "-k", "5", str(LIMIT_S), "sh", "-c", symptom.command]
    result = subprocess.run(run, cwd=TOP, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    printed = {bare(line) for line in result.stdout.decode(errors="replace").splitlines()}
    lines = [line for line in symptom.quoted if bare(line) not in printed]
    if not symptom.printed:
        return [] if lines else ["(but all of what is not to be printed on this kernel)"]
    return lines


@pytest.mark.parametrize("symptom", [pytest.param(one, id=one.title) for one in symptoms(PAGE, platform.release())])
def test_a_symptom(symptom: Symptom) -> None:
    """In one of some attempts."""
    assert symptom.quoted
    lines: list[str] = []
    for _ in range(ATTEMPTS if symptom.printed else 1):
        lines = missing(symptom)
        if not lines:
            break
    assert not lines, f"$ {symptom.command}\nnot printed:\n" + "\n".join(lines)
