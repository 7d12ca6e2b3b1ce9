# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A C file of this project as a list of its top-level items, each with the comment above it.

This is no parser of C: it relies on the style that .clang-format enforces. What stands at the top
level begins in the first column, and a brace that closes it stands there, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.DOTALL)
IDENTIFIER = re.compile(r"(?<![>.\w])[A-Za-z_]\w*")  # no member of a struct
INCLUDE = re.compile(r"#include ([<\"])([^>\"]+)[>\"]")


@dataclass
class Item:
    """One definition or declaration."""

    kind: str  # "include", "define", "type", "prototype", "function", "variable"
    names: list[str]  # what it makes known; of an enum its members, too
    comment: str  # what stands above it, or ""
    text: str
    path: str
    calls: set[str] = field(default_factory=set)  # identifiers in it, but for its own name


def strip(text: str) -> str:
    """The text without comments and with empty strings: what the compiler sees of names."""
    return COMMENT_OR_STRING.sub(lambda m: " " if m[0].startswith("/*") else '""', text)


def strip_comments(text: str) -> str:
    return COMMENT_OR_STRING.sub(lambda m: "" if m[0].startswith("/*") else m[0], text)


def identifiers(text: str) -> set[str]:
    return set(IDENTIFIER.findall(strip(text)))


def chunks(text: str) -> list[str]:
    """The file, cut where a line at the top level begins something new."""
    parts: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        end = at
        if lines[at].startswith("/*"):
            while "*/" not in lines[end]:
                end += 1
        elif lines[at].startswith("#"):
            while lines[end].endswith("\\"):
                end += 1
        else:
            end = end_of_item(lines, at)
        parts.append("\n".join(lines[at : end + 1]))
        at = end + 1
    return parts


def end_of_item(lines: list[str], at: int) -> int:
    """The last line of the definition or declaration that begins with line `at`."""
    depth = 0
    for end in range(at, len(lines)):
        code = strip(lines[end])
        depth += code.count("{") + code.count("(") - code.count("}") - code.count(")")
        line = code.rstrip()
        if depth == 0 and (line.endswith(";") or line == "}"):
            return end
    raise ValueError(f"no end of: {lines[at]}")


def item_of(text: str, comment: str, path: str) -> Item | None:
    """The item that a chunk is; None for what a single file does not need."""
    code = strip(text)
    if text.startswith("#"):
        include = INCLUDE.match(text)
        if include:
            return Item("include", [include[2]], "", text, path) if include[1] == "<" else None
        define = re.match(r"#define (\w+)(.*)", text, re.DOTALL)
        if define is None or not define[2].strip():
            return None  # an include guard
        return Item("define", [define[1]], comment, text, path, identifiers(define[2]))
    head = code.split("{")[0]
    if re.match(r"(?:static )?(?:extern )?(?:const )?(?:struct|enum|union) \w+ \{", code):
        return type_item(code, comment, text, path)
    if "{" in code and re.search(r"\)\s*$", head) and "=" not in head:
        name = function_name(head)
        return Item("function", [name], comment, text, path, identifiers(text) - {name})
    if "(" in head and head.rstrip().endswith(";") and "=" not in head and "__attribute__" not in head.split("(")[0]:
        if re.match(r"\w+\(", head):  # LIST_HEAD(...): a type made by a macro
            names = re.findall(r"\w+", head)[1:]
            return Item("type", names[:1], comment, text, path, identifiers(text))
        return Item("prototype", [function_name(head)], comment, text, path)
    if code.startswith("extern ") or re.fullmatch(r"struct \w+;\s*", code):
        return None
    names = [variable_name(code)]
    return Item("variable", names, comment, text, path, identifiers(text) - set(names))


def type_item(code: str, comment: str, text: str, path: str) -> Item:
    tag = re.search(r"(?:struct|enum|union) (\w+)", code)
    assert tag
    names = [tag[1]]
    if re.search(r"\benum ", code.split("{")[0]):
        names += [name for name, _ in enumerators(code)]
    after = code[end_of_braces(code) :].strip(" ;\n")
    if code.startswith("extern"):
        text = re.sub(r"^extern ", "", text)
        text = re.sub(r"\} *\w+;$", "};", text)
    elif variable := IDENTIFIER.match(after):
        names.append(variable[0])  # of the type, declared with it
    declared = re.sub(r"(?<=[\s*])\w+(?=[;,\[])", "", code[: end_of_braces(code)])  # but for the members
    used = identifiers(declared) | identifiers(code[end_of_braces(code) :])
    return Item("type", names, comment, text, path, used - set(names))


def enumerators(code: str) -> list[tuple[str, str]]:
    """Of an enum without comments: each name, and what it is given, or ""."""
    inner = code[code.index("{") + 1 : end_of_braces(code) - 1]
    return [(match[1], match[2] or "") for match in re.finditer(r"(\w+)\s*(?:=\s*([^,]*?)\s*)?(?:,|$)", inner.strip())]


def end_of_braces(code: str) -> int:
    """Where the first pair of braces ends."""
    depth = 0
    for match in re.finditer(r"[{}]", code):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    raise ValueError(f"no end of: {code}")


def function_name(head: str) -> str:
    name = re.search(r"(\w+)\(", head)
    assert name, head
    return name[1]


def variable_name(code: str) -> str:
    if "struct {" in code.split(";")[0]:  # of a type without a name
        code = code[code.rindex("}") + 1 :]
    head = re.split(r"[=\[;]", code)[0]
    return str(IDENTIFIER.findall(head)[-1])


def items(path: Path, root: Path) -> list[Item]:
    """All items of a file. A comment belongs to what follows it at once."""
    found: list[Item] = []
    text = path.read_text()
    comment = ""
    for chunk in chunks(text):
        if chunk.startswith("/*"):
            follows = text[text.index(chunk) + len(chunk) :]
            comment = chunk if follows.startswith("\n") and not follows.startswith("\n\n") else ""
            continue
        item = item_of(chunk, comment, str(path.relative_to(root)))
        if item:
            found.append(item)
        comment = ""
    return found


def own_headers(path: Path, root: Path) -> list[Path]:
    """The project's headers that a file includes, in its order."""
    return [
        root / match[2]
        for match in INCLUDE.finditer(path.read_text())
        if match[1] == '"'
    ]
