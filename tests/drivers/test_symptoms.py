# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs each command for the lab of tools/devices/causes.ini, which docs/symptoms.md shows: the quoted lines must be printed."""

from __future__ import annotations

import platform

import pytest

from causes import Cause
from quotes import symptoms

pytestmark = pytest.mark.long
LIMIT_S = 60
ATTEMPTS = 5  # a program may print one of two lines, depending on which side is first
RELEASE = platform.release()


@pytest.mark.parametrize("cause", [pytest.param(one, id=one.name) for one in symptoms.of_lab()])
def test_a_symptom(cause: Cause) -> None:
    """The symptom shows in one of some attempts; or, where the kernel differs, not all of it."""
    command, quoted, all_printed = cause.texts["lab"], symptoms.quoted(cause), symptoms.all_printed(cause, RELEASE)
    assert quoted
    lines: list[str] = []
    for _ in range(ATTEMPTS if all_printed else 1):
        lines = symptoms.missing(quoted, symptoms.run(command, LIMIT_S))
        if not lines:
            break
    assert bool(lines) != all_printed, f"$ {command}\nnot printed:\n" + "\n".join(lines)
