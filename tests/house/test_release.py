# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Files that describe a version: CITATION.cff and CHANGELOG.md name the one that make dist packs; each license that REUSE.toml
names has its text in LICENSES/."""

import re
import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
VERSION = re.findall(r"^VERSION = (\S+)$", (TOP / "tools/packaging/packaging.mk").read_text(), re.MULTILINE)
CITED = dict(re.findall(r"^(\S+): *(.*)$", (TOP / "CITATION.cff").read_text(), re.MULTILINE))
TABLES = tomllib.loads((TOP / "REUSE.toml").read_text())["annotations"]


def test_the_citation_names_the_version() -> None:
    assert [CITED["version"].strip('"')] == VERSION
    assert {"cff-version", "message", "title", "authors"} <= {*CITED}  # keys that the format requires


def test_the_newest_section_is_the_version_s() -> None:
    sections = re.findall(r"^## (\S+?),? ?(\d{4}-\d\d-\d\d)?$", (TOP / "CHANGELOG.md").read_text(), re.MULTILINE)
    newest, date = sections[0]
    assert [newest] == VERSION
    assert date == CITED.get("date-released", ""), "a release has its date in both"


def test_the_site_is_published_by_the_command_that_makes_it() -> None:
    workflow = (TOP / ".github/workflows/pages.yml").read_text()
    assert re.findall(r"run: make (\S+)$", workflow, re.MULTILINE) == ["docs"]
    assert "path: build/site/html\n" in workflow


def named(expression: str) -> set[str]:
    """The licenses of an SPDX expression."""
    return set(re.findall(r"[\w.-]+", expression)) - {"OR", "AND", "WITH"}


def test_each_license_has_its_text() -> None:
    texts = {path.stem for path in (TOP / "LICENSES").glob("*.txt")}
    assert texts == set().union(*(named(table["SPDX-License-Identifier"]) for table in TABLES))
    assert "Creative Commons Attribution 4.0 International Public License" in (TOP / "LICENSES/CC-BY-4.0.txt").read_text()


def test_texts_have_another_license_than_code() -> None:
    """The last table that fits a file is the one that counts: so that of the texts comes after that of everything."""
    everything, texts = TABLES
    assert everything["path"] == "**" and "CC-BY-4.0" not in everything["SPDX-License-Identifier"]
    assert {"*.md", "**/*.md"} < {*texts["path"]} and texts["SPDX-License-Identifier"] == "CC-BY-4.0"
