# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Takes members out of structs that nothing refers to, with their comments."""

from __future__ import annotations

import re

from . import comments, source
from .members import Key
from .source import Item


def drop_members(items: list[Item], mentioned: set[Key]) -> None:
    for item in items:
        if item.kind == "type" and item.text.startswith("struct"):
            used = {name for tag, name in mentioned if tag in ("", item.names[0])}
            item.text = aligned(without_members(item.text, used))
            item.text = re.sub(r"_Atomic (\w+)", r"_Atomic(\1)", item.text)  # as C++ has it, too
            item.calls &= source.identifiers(item.text)


def drop_enumerators(items: list[Item]) -> None:
    """Takes out the last ones of an enum if nobody names them: the values of the others stay."""
    words = set().union(*(item.calls for item in items))
    for item in items:
        lines = item.text.split("\n")
        while item.text.startswith("enum") and len(lines) > 3:
            last = re.match(r"\t(\w+)", lines[-2])
            if last is None or last[1] in words:
                break
            del lines[-2]
        item.text = "\n".join(lines)


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


MEMBER = re.compile(r"\t(?P<code>[^/;{}]+;)(?:\s*/\* (?P<comment>.*?) \*/)?$", re.DOTALL)


def aligned(text: str) -> str:
    """Each member on one line, if it fits there, and the comments of members that stand together in one column."""
    result: list[str] = []
    group: list[tuple[str, str]] = []

    def end_group() -> None:
        width = max((len(code) for code, comment in group if comment), default=0)
        for code, comment in group:
            line = f"\t{code.ljust(width)} /* {comment} */" if comment else f"\t{code}"
            if len(line) + 7 > 100:
                line = f"\t{code} /* {comment} */"
            if len(line) + 7 > 100:
                result.append(f"\t/* {comment} */")
                line = f"\t{code}"
            result.append(line)
        group.clear()

    for line in joined(text.split("\n")):
        member = MEMBER.fullmatch(line)
        if member:
            said = " ".join((member["comment"] or "").split())
            group.append((" ".join(member["code"].split()), comments.unreferred(said).rstrip(",;")))
        else:
            end_group()
            result.append(comments.unreferred(line))
    end_group()
    return "\n".join(result)


def joined(lines: list[str]) -> list[str]:
    """The lines, those of one member made one."""
    result: list[str] = []
    for line in lines:
        if result and (re.fullmatch(r"\t[\w ]+", result[-1]) or result[-1].count("/*") > result[-1].count("*/")):
            result[-1] += " " + line.strip()
        else:
            result.append(line)
    return result
