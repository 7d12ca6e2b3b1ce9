# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Makes a site that Debian's theme has made work from files: its script and style expect a web server.

Place: after Sphinx, before tools/website/check.py. Contract: does nothing to a theme that needs none of it.
"""

import re
from pathlib import Path

IMPORT = re.compile(r'^import (?:\* as )?\w+ from "\./([\w.-]+)";\n', re.MULTILINE)
DARK = re.compile(r'@media not print \{\s*body\[data-theme="dark"\] \{([^{}]*)\}')
AUTO = 'body:not([data-theme="light"])'
STYLE = re.compile(r"@import url\((/javascript/[\w./-]+)\);")


def script(path: Path) -> None:
    """Puts what a script imports before it: a browser loads no modules from files."""
    text = path.read_text()
    for found in IMPORT.findall(text):
        text = (path.parent / found).read_text() + "\n" + text
    path.write_text(IMPORT.sub("", text))


def also_by_preference(text: str) -> str:
    """A style whose dark colours the reader has to choose, so that it also uses them if the browser prefers dark. The
    style of Debian 12 lacks this rule, so that code was dark, and the page was not."""
    colours = DARK.search(text)
    if not colours or "prefers-color-scheme" in text:
        return text
    return (
        f"{text}\n@media not print {{ @media (prefers-color-scheme: dark) {{\n  {AUTO} {{{colours[1]}}}\n"
        f"  html {AUTO} .only-light {{ display: none !important; }}\n"
        f"  {AUTO} .only-dark {{ display: block !important; }}\n}} }}\n"
    )


def style(path: Path) -> None:
    """Puts in the styles that Debian keeps for web servers below /usr/share."""
    text = also_by_preference(path.read_text())
    path.write_text(STYLE.sub(lambda found: Path("/usr/share" + found.group(1)).read_text(), text))


def site(html: Path) -> None:
    """Mends all scripts and styles of the theme."""
    for path in html.glob("_static/**/*.js"):
        script(path)
    for path in html.glob("_static/**/*.css"):
        style(path)
