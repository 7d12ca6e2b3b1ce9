# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The pages whose quoted outputs test_quoted.py compares with real ones.

Place: between test_quoted.py and page.py. Contract: paths relative to the top of the tree. docs/symptoms.md is not among
them: tests/drivers/test_symptoms.py runs its commands.
"""

from pathlib import Path

from . import page

TOP = Path(__file__).resolve().parents[2]
LABS = sorted(str(path.relative_to(TOP)) for path in TOP.glob("course/labs/lab-[0-9].md"))
PAGES = [*LABS, "docs/primer.md", "docs/capture.md", "course/README.md"]


def of(name: str) -> list[page.Quote]:
    """The commands of a page."""
    return page.quotes(name, (TOP / name).read_text())
