# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The site is read from files: what Debian's theme expects of a web server is put in, and nothing comes from another host.

Place: after Sphinx, which has found the links that lead nowhere. Contract: changes nothing of a theme that needs none of it.
"""

import re
from pathlib import Path

IMPORT = re.compile(r'^import (?:\* as )?\w+ from "\./([\w.-]+)";\n', re.MULTILINE)
DARK = re.compile(r'@media not print \{\s*body\[data-theme="dark"\] \{([^{}]*)\}')
AUTO = 'body:not([data-theme="light"])'
STYLE = re.compile(r"@import url\((/javascript/[\w./-]+)\);")
# Things that a browser would fetch from elsewhere, or not at all.
FETCHED = {
    "*.html": re.compile(r'<(?:script|img|iframe|source|link)\b[^>]*\s(?:src|href)="(?:https?:)?//[^"]*"'),
    "*.css": re.compile(r"(?:url\(|@import\s)\s*['\"]?(?:https?:|/)[^;)]*"),
    "*.js": re.compile(r"^import .*", re.MULTILINE),
}


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


def repair(html: Path) -> None:
    """All scripts and styles of the theme."""
    for path in html.glob("_static/**/*.js"):
        script(path)
    for path in html.glob("_static/**/*.css"):
        style(path)


def mistakes(html: Path) -> list[str]:
    """Returns things that a page still fetches from a host, or as a module."""
    found = [(path, pattern.search(path.read_text())) for name, pattern in FETCHED.items() for path in sorted(html.rglob(name))]
    return [f"{path.relative_to(html)} fetches {match[0]}" for path, match in found if match]
