# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The fields of the structures on docs/structures.md: those of the installed headers, and the files that use each.

Place: for the test of that page. Run as a program (python3 -B -m tools.site.structures), it corrects the page's last
column. Contract: all that is said of C comes from libclang, which reads each file once.
"""

import functools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tools.folders import files

from .pages import TOP

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's place: it fits any other python3, too
from clang import cindex  # type: ignore # noqa: E402

PAGE = TOP / "docs/structures.md"
HEADERS = "".join(f"#include <{name}>\n" for name in ("infiniband/verbs.h", "rdma/rdma_cma.h", "rdma/rdma_verbs.h"))
HEADING = re.compile(r"^### `struct (\w+)`$")
ROW = re.compile(r"^(\| `([\w.]+)`(?: \(since rdma-core (\d+)\))? \|.*\|) ([^|]*) \|$")
LINK = re.compile(r"^\[(\S+)\]\(\.\./\1\)$")
NOT_USED = "not used"
MEMBERS = (cindex.CursorKind.MEMBER_REF_EXPR, cindex.CursorKind.MEMBER_REF)
# The order in which a reader looks: the code of all stages, the ladder, the other stages; last, what only shows fields.
NO_USERS = ("tests/", "course/", "bench/", "tools/verbs-sim/")  # the last one is a device
ORDER = ("common/", "ping-", "blast-", "beyond/", "examples/", "tools/devices/", "")

Place = tuple[str, int]


@dataclass(frozen=True)
class Row:
    """A field as the page has it."""

    structure: str
    field: str
    since: int  # the release of rdma-core that brought it; 0: an old one
    used_in: str  # a file, or ""


def _place(cursor: Any) -> Place:
    """Returns a key for the declaration at a cursor."""
    return str(cursor.location.file), int(cursor.location.offset)


def _fields(record: Any, prefix: str = "") -> Iterator[tuple[str, Place]]:
    """The fields of a type, with those of structures and unions that have no name in their place."""
    for field in record.get_fields():
        name = prefix + str(field.spelling)
        inner = field.type.get_declaration()
        if inner.is_anonymous():
            named = field.spelling.isidentifier()  # one without a name: "", and since LLVM 16 "union ... (anonymous at ...)"
            yield from _fields(field.type, f"{name}." if named else prefix)
        else:
            yield name, _place(field)


@functools.cache
def _headers() -> list[Any]:
    """Returns the declarations of the headers."""
    unit = cindex.Index.create().parse("headers.c", unsaved_files=[("headers.c", HEADERS)])
    return list(unit.cursor.get_children())


def constants(enumeration: str) -> list[str]:
    """The names of an enumeration of the headers, in their order."""
    found = [c for c in _headers() if c.kind == cindex.CursorKind.ENUM_DECL and c.spelling == enumeration]
    return [str(constant.spelling) for constant in found[0].get_children()]


def functions() -> list[Any]:
    """The functions of the headers, those of other headers that they include as well."""
    return [cursor for cursor in _headers() if cursor.kind == cindex.CursorKind.FUNCTION_DECL]


@functools.cache
def declared() -> dict[str, dict[str, Place]]:
    """The fields of each structure of the headers."""
    records = [c for c in _headers() if c.kind == cindex.CursorKind.STRUCT_DECL and c.is_definition()]
    return {str(record.spelling): dict(_fields(record.type)) for record in records}


@functools.cache
def used_in(path: str) -> set[Place]:
    """The fields that a C file of the tree uses."""
    folders = {str(header.parent) for header in TOP.glob("*/our_control.h")}
    unit = cindex.Index.create().parse(str(TOP / path), [f"-I{TOP}", f"-I{TOP}/tools", *(f"-I{folder}" for folder in folders), "-D_GNU_SOURCE"])
    own = [cursor for cursor in unit.cursor.get_children() if str(cursor.location.file) == str(TOP / path)]
    found = (each for cursor in own for each in cursor.walk_preorder() if each.kind in MEMBERS)
    return {_place(each.referenced) for each in found if each.referenced and each.referenced.location.file}


@functools.cache
def sources() -> dict[str, str]:
    """The C files of programs that use a device, and their texts; those to be read first come first."""
    names = [name for name in files(".c", new=True) if not name.startswith(NO_USERS)]
    ranks = {name: min(rank for rank, start in enumerate(ORDER) if name.startswith(start)) for name in names}
    return {name: (TOP / name).read_text() for name in sorted(names, key=lambda name: (ranks[name], name))}


def users(structure: str, field: str) -> Iterator[str]:
    """The files that use a field of a structure."""
    member = re.compile(rf"\b{re.escape(field.rsplit('.', 1)[-1])}\b")
    for path, text in sources().items():
        if member.search(text) and declared()[structure][field] in used_in(path):
            yield path


def rows() -> list[Row]:
    """All rows of the page."""
    found, structure = [], ""
    for line in PAGE.read_text().splitlines():
        if heading := HEADING.match(line):
            structure = heading[1]
        elif row := ROW.match(line):
            link = LINK.match(row[4])
            if not link and row[4] != NOT_USED:
                raise ValueError(f"{PAGE.name}: `{row[2]}` of {structure} is used in '{row[4]}', which is no link to a file")
            found.append(Row(structure, row[2], int(row[3] or 0), link[1] if link else ""))
    return found


def _corrected(structure: str, line: str) -> str:
    """A line of the page with a file that does use the field."""
    row = ROW.match(line)
    if not row or row[2] not in declared()[structure]:
        return line
    link = LINK.match(row[4])
    if link and link[1] in sources() and declared()[structure][row[2]] in used_in(link[1]):
        return line
    path = next(users(structure, row[2]), "")
    return f"{row[1]} {f'[{path}](../{path})' if path else NOT_USED} |"


def correct() -> None:
    """Puts a file that uses the field into each row that names none, or a wrong one."""
    lines, structure = [], ""
    for line in PAGE.read_text().splitlines():
        heading = HEADING.match(line)
        structure = heading[1] if heading else structure
        lines.append(_corrected(structure, line))
    PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    correct()
