# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""REUSE.toml and LICENSES/: each license that is named has its text there, and no other text is."""

import re
import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TABLES = tomllib.loads((TOP / "REUSE.toml").read_text())["annotations"]


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
