# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The tables of docs/symptoms.md and docs/wc-status.md: tools/devices/causes.ini and codes.ini as Markdown.

Place: practice.py asks for them. Contract: tests/quotes and tests/sim read the same table, not the page.
"""

import functools
import sys
import textwrap
from collections.abc import Callable

from tools.folders import TOP

sys.path.insert(0, str(TOP / "tools/devices"))

import causes  # noqa: E402

WIDTH = 120


def _block(command: str, *lines: str) -> str:
    """A command and its output, indented; what continues a command is indented once more."""
    first, *rest = command.split("\n")
    return textwrap.indent("\n".join([f"$ {first}", *(f"    {line}" for line in rest), *lines]) + "\n", "    ")


def _symptom(cause: causes.Cause) -> str:
    texts = cause.texts
    said = textwrap.fill(" ".join(f"**{texts['title']}** {texts['about']} {texts['remedy']}".split()), WIDTH, break_long_words=False, break_on_hyphens=False)
    blocks = ""
    if texts["sim"]:
        blocks += _block(texts["sim"], *([] if texts["lab"] else cause.shows))
    if texts["lab"]:
        blocks += _block(f"lab/run -- sh -c '{texts['lab']}'", *cause.prints)
    later = textwrap.fill(" ".join(cause.later.split()), WIDTH) + "\n" if cause.later else ""
    return "\n".join(part for part in (f"{said}\n", blocks, later) if part)


def _symptoms(chapter: str) -> str:
    return "\n".join(_symptom(cause) for cause in causes.causes() if cause.chapter == chapter)


def _codes(kind: str, head: str) -> str:
    rows = "".join(f"| `{code.name}` | {code.about} | {code.remedy} | {code.shown} |\n" for code in causes.codes() if code.kind == kind)
    return f"| {head} | cause | remedy | shown by |\n|---|---|---|---|\n{rows}"


TABLES: dict[str, Callable[[], str]] = {
    **{f"symptoms-{chapter}": functools.partial(_symptoms, chapter) for chapter in causes.CHAPTERS},
    "statuses": functools.partial(_codes, "WC", "status IBV_WC_..."),
    "cm-events": functools.partial(_codes, "CM", "event"),
    "reasons": functools.partial(_codes, "REASON", "status"),
    "device-events": functools.partial(_codes, "ASYNC", "event"),
}
