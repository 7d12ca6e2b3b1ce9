# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A site is files only: what its pages would fetch from elsewhere is found. Rows with the pages of the tree are in tests/website."""

from pathlib import Path

import pytest

from tools.site import files_only


def mistakes(tmp_path: Path, name: str, text: str) -> list[str]:
    """Returns the mistakes of a site with this file."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / name).write_text(text)
    return files_only.mistakes(tmp_path)


@pytest.mark.parametrize("name, text", [
    ("b.html", '<img alt="x"\n src="https://example.org/a.png">'),
    ("b.html", '<script src="//example.org/a.js"></script>'),
    ("b.css", "@import url(https://example.org/a.css);"),
    ("b.css", "@import url(/javascript/a.css);"),
    ("b.js", 'let a;\nimport A from "./a.js";'),
])  # fmt: skip
def test_what_files_cannot_have(tmp_path: Path, name: str, text: str) -> None:
    assert len(mistakes(tmp_path, name, text)) == 1


@pytest.mark.parametrize("name, text", [
    ("b.html", '<a href="https://example.org">b</a><script src="../c.js"></script><img src="_images/d.svg">'),
    ("b.css", "p { background: url(data:x) } q { background: url(e.png) }"),
    ("b.js", "let important = 1;"),
])  # fmt: skip
def test_what_they_can(tmp_path: Path, name: str, text: str) -> None:
    assert mistakes(tmp_path, name, text) == []


def test_dark_by_preference() -> None:
    text = '@media not print {\n  body[data-theme="dark"] {\n    --a: #131416; }\n}\n'
    repaired = files_only.also_by_preference(text)
    assert "(prefers-color-scheme: dark)" in repaired
    assert repaired.count("--a: #131416;") == 2
    assert files_only.also_by_preference(repaired) == repaired
    assert files_only.also_by_preference("p {}") == "p {}"
