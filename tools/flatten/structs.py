# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Takes members out of structs that nothing refers to, with their comments."""

from __future__ import annotations

import re

from . import source
from .members import Key
from .source import Item


def drop_members(items: list[Item], mentioned: set[Key]) -> None:
    for item in items:
        if item.kind == "type" and item.text.startswith("struct"):
            used = {name for tag, name in mentioned if tag in ("", item.names[0])}
            item.text = without_members(item.text, used)
            item.calls &= source.identifiers(item.text)


def without_members(text: str, used: set[str]) -> str:
    lines = text.split("\n")
    kept = [lines[0]]
    at = 1
    while at < len(lines):
        end = at
        while end + 1 < len(lines) and (
            ("/*" in lines[end] and "*/" not in lines[end].split("/*", 1)[1]) or re.fullmatch(r"\t\w+", lines[end])
        ):
            end += 1
            while "*/" not in lines[end] and not lines[end].rstrip().endswith(";"):
                end += 1
        code = source.strip("\n".join(lines[at : end + 1])).strip()
        member = re.fullmatch(r"[\w\s*]*?(\w+)(?:\[\w+\])?;", code)
        if member is None or member[1] in used:
            kept += lines[at : end + 1]
        at = end + 1
    return without_lonely_headings("\n".join(kept))


def without_lonely_headings(text: str) -> str:
    """Without a comment that headed members which have all gone."""
    previous = ""
    while previous != text:
        previous = text
        text = re.sub(r"\n\n\t/\*[^\n]*\*/\n(?=\n|\})", "\n", text)
        text = re.sub(r"\n{3,}", "\n\n", text)
        text = re.sub(r"\{\n\n", "{\n", text)
        text = re.sub(r"\n\n\}", "\n}", text)
    return text
