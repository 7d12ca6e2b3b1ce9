# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Looks through the finished site: links and anchors that lead nowhere, and what comes from other hosts.

Place: the last part of tools/website. Contract: reads files only; a link to another host is not followed, but
a script, style, font or picture from there is a mistake.
"""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
NO_PAGES = {"genindex.html", "search.html"}  # Sphinx's own
REMOTE = re.compile(r"^(https?:)?//")


class Page(HTMLParser):
    """What a page links to, what it fetches, and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.title = self.description = ""
        self._in_title = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes what an element refers to."""
        values = {name: value or "" for name, value in attrs}
        self.anchors.update(values[name] for name in ("id", "name") if name in values)
        self._in_title = tag == "title" and not self.title  # pictures have titles, too
        if tag == "meta" and values.get("name") == "description":
            self.description = values.get("content", "")
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        reference = FETCHED.get(tag)
        if reference and reference in values and values.get("rel") != "canonical":
            self.fetched.append(values[reference])

    def handle_data(self, data: str) -> None:
        """The page's title."""
        if self._in_title:
            self.title += data
            self._in_title = False


def of_link(link: str, path: Path, pages: dict[Path, Page]) -> str:
    """What is wrong with a link of the page at `path`; empty: nothing."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        return f"leads to {link}, which is not there"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return f"leads to {link}, and that page has no such anchor"
    return ""


def of_page(path: Path, pages: dict[Path, Page]) -> list[str]:
    """What is wrong with a page."""
    page = pages[path]
    mistakes = [of_link(link, path, pages) for link in page.links + page.fetched]
    mistakes += [f"fetches {name} from another host" for name in page.fetched if REMOTE.match(name)]
    return [mistake for mistake in mistakes if mistake]


def not_indexed(html: Path) -> list[str]:
    """Pages that a search does not find."""
    index = html / "searchindex.js"
    if not index.exists():
        return ["there is no index to search"]
    found = re.search(r'"?docnames"?:\s*(\[[^\]]*\])', index.read_text())
    names = set(json.loads(found[1])) if found else set()
    pages = {str(path.relative_to(html)) for path in html.rglob("*.html")} - NO_PAGES
    return [f"{name} is not in the index to search" for name in sorted(pages - {f"{name}.html" for name in names})]


def not_described(pages: dict[str, Page]) -> list[str]:
    """Pages that a search engine could not tell from others, or say anything of."""
    mistakes: list[str] = []
    seen: dict[str, str] = {}
    for name in sorted({*pages} - NO_PAGES):
        page = pages[name]
        mistakes += [f"{name} has no {what}" for what in ("title", "description") if not getattr(page, what).strip()]
        for text in (page.title, page.description):
            other = seen.setdefault(text, name)
            if other != name and text:
                mistakes.append(f"{name} says of itself what {other} says: {text}")
    return mistakes


def site(html: Path) -> list[str]:
    """All that is wrong with the site."""
    html = html.resolve()
    pages = {path: Page(path.read_text()) for path in html.rglob("*.html")}
    mistakes = [f"{path.relative_to(html)} {text}" for path in sorted(pages) for text in of_page(path, pages)]
    for style in html.rglob("*.css"):
        if re.search(r"(url\(|@import\s)\s*['\"]?(https?:|/)", style.read_text()):
            mistakes.append(f"{style.relative_to(html)} fetches something from a host")
    for script in html.rglob("*.js"):
        if re.search(r"^import ", script.read_text(), re.MULTILINE):
            mistakes.append(f"{script.relative_to(html)} is a module, which is not loaded from a file")
    return mistakes + not_described({str(path.relative_to(html)): page for path, page in pages.items()}) + not_indexed(html)
