#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Reads causes.ini and codes.ini, and writes them as C, for `devices --explain`; tools/website writes them as Markdown.

Place: run by the Makefile (causes.py FILE.c). Contract: any Python 3, as whoever builds has it; a wrong table is an error.

A cause is a section of causes.ini. `title` is what is seen, `about` why, `remedy` what helps. It is found by the `codes`
that a program gets, by the `calls` that fail with them, and by `words`. `chapter`, of the page, holds until the next one.
`check` names the steps of `devices --check` that tell it from others, `page` what to read. `sim` is a command that shows it, without a device; the lines that it prints are in `shows`, or
else in `prints`, which are those of `lab`: a command for the drivers. `later` is what differs on newer kernels.
"""

import configparser
import errno
import posixpath
import re
import sys
from pathlib import Path
from typing import Dict, List, NamedTuple

HERE = Path(__file__).resolve().parent
CHAPTERS = ("connecting", "waiting", "running")
TEXTS = ("title", "about", "remedy", "codes", "calls", "words", "check", "page", "sim", "lab")
KEYS = {*TEXTS, "chapter", "shows", "prints", "later"}
KINDS = {"completion statuses": "WC", "CM events": "CM", "device events": "ASYNC", "reject reasons": "REASON"}
PREFIXES = {"WC": "IBV_WC_", "CM": "RDMA_CM_EVENT_", "ASYNC": "IBV_EVENT_", "REASON": "RDMA_CM_EVENT_REJECTED "}
LINK = re.compile(r"\[([^]]+)\]\(([^)#]*)[^)]*\)")
ERRNOS = {**errno.errorcode, errno.EOPNOTSUPP: "EOPNOTSUPP"}  # which has two names
HEAD = "/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */\n/* Written by causes.py. */\n#include <errno.h>\n#include <rdma/rdma_cma.h>\n#include \"devices/explain.h\"\n\n"  # fmt: skip


class Code(NamedTuple):
    """A line of codes.ini: kind, name without its prefix, and the three parts of the text."""

    kind: str
    name: str
    about: str
    remedy: str
    shown: str

    @property
    def full(self) -> str:
        """The name in causes.ini and in C."""
        return PREFIXES[self.kind] + self.name


class Cause(NamedTuple):
    """A section of causes.ini; what is not given is empty."""

    name: str
    chapter: str
    texts: Dict[str, str]
    shows: List[str]  # what `sim` prints
    prints: List[str]  # what `lab` prints
    later: str


def _read(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment]
    with (HERE / name).open(encoding="utf-8") as file:
        parser.read_file(file)
    return parser


def codes() -> List[Code]:
    """Those that are explained, in the order of the headers."""
    parser = _read("codes.ini")
    return [Code(kind, name, *(part.strip() for part in text.split("|"))) for title, kind in KINDS.items() for name, text in parser[title].items()]


def words() -> Dict[str, str]:
    """Phrases that stand for a completion status."""
    return dict(_read("codes.ini")["words"])


def causes() -> List[Cause]:
    """All of them, in the order of the file."""
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
    """The text without the marks of Markdown; a link is its text, and the file that it leads to."""
    text = LINK.sub(lambda link: f"{link[1]} ({posixpath.normpath('docs/' + link[2])})", text)
    return " ".join(text.replace("**", "").split()).replace("\\ ", "")


def _text(text: str) -> str:
    """A string of C."""
    return '"' + plain(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _code(code: Code) -> str:
    value = code.name if code.kind == "REASON" else code.full
    return f"\t{{ EXPLAIN_{code.kind}, {_text(code.full)}, {value}, {_text(code.about)}, {_text(code.remedy)} }},\n"


def _cause(cause: Cause) -> str:
    texts = dict(cause.texts, lab=f"lab/run -- sh -c '{cause.texts['lab']}'" if cause.texts["lab"] else "")
    return "\t{ " + ", ".join(f".{key} = {_text(text)}" for key, text in texts.items()) + " },\n"


def c_source() -> str:
    """The tables of explain.h. Each ends with an empty row."""
    errnos = "".join(f'\t{{ EXPLAIN_ERRNO, "{name}", {name}, "", "" }},\n' for _, name in sorted(ERRNOS.items()))
    phrases = "".join(f"\t{{ {_text(phrase)}, IBV_WC_{status} }},\n" for phrase, status in words().items())
    return (
        f"{HEAD}const struct explain_code explain_codes[] = {{\n{''.join(map(_code, codes()))}{errnos}\t{{ 0 }}\n}};\n\n"
        f"const struct explain_phrase explain_phrases[] = {{\n{phrases}\t{{ 0 }}\n}};\n\n"
        f"const struct explain_cause explain_causes[] = {{\n{''.join(map(_cause, causes()))}\t{{ 0 }}\n}};\n"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: causes.py FILE.c")
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    Path(sys.argv[1]).write_text(c_source(), encoding="utf-8")
