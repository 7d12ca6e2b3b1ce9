# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What others read of a version: CITATION.cff and CHANGELOG.md name the one that make dist packs."""

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
VERSION = re.findall(r"^VERSION = (\S+)$", (TOP / "install/install.mk").read_text(), re.MULTILINE)
CITED = dict(re.findall(r"^(\S+): *(.*)$", (TOP / "CITATION.cff").read_text(), re.MULTILINE))


def test_the_citation_names_the_version() -> None:
    assert [CITED["version"].strip('"')] == VERSION
    assert {"cff-version", "message", "title", "authors"} <= {*CITED}  # what the format requires


def test_the_newest_section_is_the_version_s() -> None:
    sections = re.findall(r"^## (\S+?),? ?(\d{4}-\d\d-\d\d)?$", (TOP / "CHANGELOG.md").read_text(), re.MULTILINE)
    newest, date = sections[0]
    assert [newest] == VERSION
    assert date == CITED.get("date-released", ""), "a release has its date in both"


def test_the_site_is_published_by_the_command_that_makes_it() -> None:
    workflow = (TOP / ".github/workflows/pages.yml").read_text()
    assert re.findall(r"run: make (\S+)$", workflow, re.MULTILINE) == ["docs"]
    assert "path: build/site/html\n" in workflow
