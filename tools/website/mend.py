# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Makes a site that Debian's theme has made work from files: its script and style expect a web server.

Place: after Sphinx, before tools/website/check.py. Contract: does nothing to a theme that needs none of it.
"""

from __future__ import annotations

import re
from pathlib import Path

IMPORT = re.compile(r'^import (?:\* as )?\w+ from "\./([\w.-]+)";\n', re.MULTILINE)
STYLE = re.compile(r"@import url\((/javascript/[\w./-]+)\);")


def script(path: Path) -> None:
    """Puts what a script imports before it: a browser loads no modules from files."""
    text = path.read_text()
    for found in IMPORT.findall(text):
        text = (path.parent / found).read_text() + "\n" + text
    path.write_text(IMPORT.sub("", text))


def style(path: Path) -> None:
    """Puts in the styles that Debian keeps for web servers below /usr/share."""
    text = path.read_text()
    path.write_text(STYLE.sub(lambda found: Path("/usr/share" + found.group(1)).read_text(), text))


def site(html: Path) -> None:
    """Mends all scripts and styles of the theme."""
    for path in html.glob("_static/**/*.js"):
        script(path)
    for path in html.glob("_static/**/*.css"):
        style(path)
