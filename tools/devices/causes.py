# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Reads causes.ini and codes.ini, for explain.py; tools/site writes them as Markdown.

Contract: any Python 3 from 3.6 on; a wrong table is an error.

A cause is a section of causes.ini. `title` is the symptom, `about` the reason, `remedy` the help. It is found by the `codes`
that a program gets, by the `calls` that fail with them, and by `words`. `chapter`, of the page, holds until the next one.
`check` names the steps of `devices --check` that tell it from others, and `page` says what to read. `sim` is a command that shows
the cause without a device, and `lab` one for the drivers; `shows` and `prints` have what these print. `later` is what differs on
newer kernels.
"""

import configparser
import errno
import posixpath
import re
from pathlib import Path
from typing import Dict, List, NamedTuple

HERE = Path(__file__).resolve().parent
CHAPTERS = ("connecting", "waiting", "running")
TEXTS = ("title", "about", "remedy", "codes", "calls", "words", "check", "page", "sim", "lab")
KEYS = {*TEXTS, "chapter", "shows", "prints", "later"}
KINDS = {"completion statuses": "WC", "CM events": "CM", "device events": "ASYNC", "reject reasons": "REASON"}
PREFIXES = {"WC": "IBV_WC_", "CM": "RDMA_CM_EVENT_", "ASYNC": "IBV_EVENT_", "REASON": "RDMA_CM_EVENT_REJECTED ", "ERRNO": ""}
LINK = re.compile(r"\[([^]]+)\]\(([^)#]*)[^)]*\)")
ERRNOS = {**errno.errorcode, errno.EOPNOTSUPP: "EOPNOTSUPP"}  # EWOULDBLOCK has two names


class Code(NamedTuple):
    """A line of codes.ini: kind, value, name without its prefix, and the three parts of the text; or an errno value."""

    kind: str
    value: int
    name: str
    about: str = ""
    remedy: str = ""
    shown: str = ""

    @property
    def full(self) -> str:
        """Returns the name in causes.ini."""
        return PREFIXES[self.kind] + self.name


class Cause(NamedTuple):
    """A section of causes.ini; what is not given is empty."""

    name: str
    chapter: str
    texts: Dict[str, str]
    shows: List[str]  # the output of `sim`
    prints: List[str]  # the output of `lab`
    later: str


def _read(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment]
    with (HERE / name).open(encoding="utf-8") as file:
        parser.read_file(file)
    return parser


def codes() -> List[Code]:
    """Returns the explained codes, in the order of the headers, whose enumerations have no gaps."""
    parser, found = _read("codes.ini"), []
    for title, kind in KINDS.items():
        for place, (name, text) in enumerate(parser[title].items()):
            value = int(name) if kind == "REASON" else place
            found.append(Code(kind, value, name, *(part.strip() for part in text.split("|"))))
    return found


def errnos() -> List[Code]:
    """Returns the errno values of this machine."""
    return [Code("ERRNO", value, name) for value, name in sorted(ERRNOS.items())]


def words() -> Dict[str, str]:
    """Returns phrases that stand for a completion status."""
    return dict(_read("codes.ini")["words"])


def causes() -> List[Cause]:
    """Returns all causes, in the order of the file."""
    found, chapter, known = [], "", {code.full for code in codes()} | {*ERRNOS.values()}
    for name, section in _read("causes.ini").items():
        if name == configparser.DEFAULTSECT:
            continue
        texts, chapter = {key: section.get(key, "") for key in TEXTS}, section.get("chapter", chapter)
        texts["page"] = texts["page"] or "pitfalls.md"
        lines = {key: section.get(key, "").splitlines() for key in ("shows", "prints")}
        wrong = [code for code in texts["codes"].split("; ") if code and code not in known]
        if wrong or not {*section} <= KEYS or chapter not in CHAPTERS or not texts["remedy"] or not (texts["sim"] or texts["lab"]):
            raise ValueError(f"causes.ini: [{name}]: {wrong}, or a key is wrong or missing")
        quoted = [line for line in lines["prints"] if line != "..."]
        found.append(Cause(name, chapter, texts, lines["shows"] or quoted, lines["prints"], section.get("later", "")))
    return found


def plain(text: str) -> str:
    """Returns the text without the marks of Markdown; a link becomes its text, and the file that it leads to."""
    text = LINK.sub(lambda link: f"{link[1]} ({posixpath.normpath('docs/' + link[2])})", text)
    return " ".join(text.replace("**", "").split()).replace("\\ ", "")
