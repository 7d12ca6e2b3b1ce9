# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What a search engine reads of the site: a description of each page, the title of the first, and a sitemap.

Place: beside tools/website/markdown.py. Contract: a description is a page's own first sentences. A sitemap has whole
addresses, so there is one only if the site's address is known.
"""

import re
from html import escape
from pathlib import Path

from .check import NO_PAGES

LONGEST = 160  # characters of a description that are shown
SHORTEST = 40  # of one that says something
FRONT_TITLE = "RDMA by example: small programs in C, which run without RDMA hardware"

BLOCK = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[^\n]*$|<!--.*?-->|^(?:    |\t)[^\n]*$", re.MULTILINE | re.DOTALL)
TAGS = re.compile(r"<[^>]+>")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
MARKS = re.compile(r"[`*]|(?<!\w)_|_(?!\w)")
TALK = re.compile(r"^(?:[#|>!@]|[-*+] |\d+\. |\s*$)")  # how a paragraph does not begin


def plain(text: str) -> str:
    """Markdown as words."""
    return " ".join(MARKS.sub("", LINK.sub(r"\1", TAGS.sub("", text))).split()).removeprefix("The problem. ")


def shortened(text: str) -> str:
    """As many whole sentences as fit, or as many words."""
    if len(text) <= LONGEST:
        return text
    end = max(text.rfind(mark, 0, LONGEST) for mark in (". ", "? "))
    if end >= SHORTEST:
        return text[: end + 1]
    return text[: text.rfind(" ", 0, LONGEST - 1)] + "…"


def description(text: str) -> str:
    """What a page is about: its first paragraph, or else the first cell of a table that says something."""
    body = BLOCK.sub("", text)
    paragraphs = [part for part in re.split(r"\n\s*\n", body) if not TALK.match(part)]
    cells = [cell for line in body.splitlines() if line.startswith("|") for cell in line.split("|")]
    found = [words for words in map(plain, paragraphs + cells) if len(words) >= SHORTEST]
    title = plain(body.lstrip().split("\n", 1)[0].lstrip("#"))
    return shortened(found[0] if found else f"{title}, in RDMA by example: programs and a course on verbs.")


def of_source(path: str, text: str) -> str:
    """What the page of a file is about: the first sentences of its own."""
    if path.endswith(".md"):
        return description(text)
    comment = re.search(r'(?:/\*|""")(.*?)(?:\*/|""")', re.sub(r"/\*\s*SPDX[^\n]*\*/", "", text), re.DOTALL)
    said = comment[1] if comment else "\n".join(re.findall(r"^#(?!!)(.*)$", text, re.MULTILINE)[:8])
    words = plain(" ".join(line.strip(" *#/") for line in said.splitlines() if "SPDX" not in line))
    return shortened(f"{path} in RDMA by example: {words or 'a file'}")


def meta(text: str, orphan: bool = False) -> str:
    """The front matter of a page with this description."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return ("---\norphan: true\n" if orphan else "---\n") + f'myst:\n  html_meta:\n    description: "{quoted}"\n---\n\n'


def title_front(html: Path) -> None:
    """The first page says what the site is about."""
    page = html / "index.html"
    page.write_text(re.sub(r"<title>[^<]*</title>", f"<title>{escape(FRONT_TITLE)}</title>", page.read_text(), count=1))


def sitemap(html: Path, url: str) -> None:
    """All pages, below the site's address; without one, no file."""
    file = html / "sitemap.xml"
    file.unlink(missing_ok=True)
    if not url:
        return
    pages = sorted(str(path.relative_to(html)) for path in html.rglob("*.html") if "_static" not in path.parts)
    lines = [f"<url><loc>{escape(url.rstrip('/'))}/{escape(page)}</loc></url>" for page in pages if page not in NO_PAGES]
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    file.write_text(head + "\n".join(lines) + "\n</urlset>\n")
