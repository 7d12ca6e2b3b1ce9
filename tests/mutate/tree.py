# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Finds the places in a C file where a fault can be planted, on libclang's syntax tree.

Place: the first step of tests/mutate. Contract: sites() knows no file by name. Planting a fault keeps the number of
lines. What a macro expands to is left alone; the call of the macro is not.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian has it: it fits any other python3, too
from clang import cindex  # type: ignore # noqa: E402

KIND = cindex.CursorKind
COMPUTED = {b"+": b"-", b"-": b"+", b"*": b"/", b"/": b"*", b"%": b"/", b"<<": b">>", b">>": b"<<", b"&": b"|", b"|": b"&", b"^": b"&"}
OPERATORS = {
    "condition shifted": {b"<": b"<=", b"<=": b"<", b">": b">=", b">=": b">", b"==": b"!=", b"!=": b"=="},
    "and, or": {b"&&": b"||", b"||": b"&&"},
    "arithmetic": COMPUTED | {old + b"=": new + b"=" for old, new in COMPUTED.items()},
}
BYTE_ORDER = {"htons", "htonl", "ntohs", "ntohl"}
BYTE_ORDER |= {name for n in (16, 32, 64) for e in ("be", "le") for name in (f"hto{e}{n}", f"{e}{n}toh")}
ERRNOS = set(errno.errorcode.values())
# Words in the name of a call that undoes something, or ends it.
TEAR_DOWN = set(
    "ack cancel close dealloc dereg destroy disconnect dismiss end flush free join leave refuse reject release remove"
    " stop unlock unsetup".split()
)
UNDROPPED = (KIND.COMPOUND_STMT, KIND.DECL_STMT, KIND.NULL_STMT, KIND.LABEL_STMT, KIND.CASE_STMT, KIND.DEFAULT_STMT)
DROPPED = {KIND.CALL_EXPR: "call", KIND.RETURN_STMT: "return", KIND.COMPOUND_ASSIGNMENT_OPERATOR: "assignment"}
DROPPED |= {kind: "jump" for kind in (KIND.GOTO_STMT, KIND.BREAK_STMT, KIND.CONTINUE_STMT)}
# Which of the children of a statement are statements themselves.
BODIES = {KIND.COMPOUND_STMT: slice(None), KIND.DO_STMT: slice(1), KIND.IF_STMT: slice(1, None)}
ONE_BODY = (KIND.WHILE_STMT, KIND.FOR_STMT, KIND.SWITCH_STMT, KIND.CASE_STMT, KIND.DEFAULT_STMT, KIND.LABEL_STMT)
BODIES |= {kind: slice(-1, None) for kind in ONE_BODY}
# Which child is the condition. That of a for is left to "condition shifted".
CONDITIONS = {KIND.IF_STMT: 0, KIND.WHILE_STMT: 0, KIND.DO_STMT: 1, KIND.CONDITIONAL_OPERATOR: 0}


@dataclass(frozen=True)
class Site:
    """A fault: the bytes from `begin` to `end` of a file are replaced by one of `choices`."""

    file: str
    line: int
    operator: str
    begin: int
    end: int
    choices: tuple[bytes, ...]
    function: range  # its lines; none if it is in no function

    def planted(self, text: bytes, new: bytes) -> bytes:
        """The file's text with the fault, in as many lines as before."""
        lost = text[self.begin : self.end].count(b"\n") - new.count(b"\n")
        return text[: self.begin] + new + b"\n" * lost + text[self.end :]


def _bare(cursor: Any) -> Any:
    """The expression without the implicit casts around it."""
    inner = list(cursor.get_children())
    cast = cursor.kind == KIND.UNEXPOSED_EXPR and len(inner) == 1 and inner[0].extent == cursor.extent
    return _bare(inner[0]) if cast else cursor


def _range(cursor: Any) -> tuple[int, int]:
    """The bytes of the file that the cursor stands for."""
    return cursor.extent.start.offset, cursor.extent.end.offset


class _File:
    """Walks over one file's tree."""

    def __init__(self, name: str, path: Path, arguments: list[str]) -> None:
        options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        unit = cindex.Index.create().parse(str(path), arguments, options=options)
        wrong = [str(said) for said in unit.diagnostics if said.severity >= cindex.Diagnostic.Error]
        if wrong:
            raise ValueError(f"libclang cannot read {name}: {wrong[0]}")
        self.name, self.text = name, path.read_bytes()
        self.function = range(0)
        self.own = [c for c in unit.cursor.get_children() if c.location.file and c.location.file.name == str(path)]
        self.macros = [c for c in self.own if c.kind == KIND.MACRO_INSTANTIATION]
        self.expanded = [_range(c) for c in self.macros]

    def said(self, cursor: Any) -> bytes:
        begin, end = _range(cursor)
        return self.text[begin:end]

    def site(self, operator: str, begin: int, end: int, *choices: bytes) -> Iterator[Site]:
        """A site, unless it begins, ends or lies within a call of a macro."""
        if not any(a < end and begin < b and not (begin <= a and b <= end) for a, b in self.expanded):
            yield Site(self.name, self.text.count(b"\n", 0, begin) + 1, operator, begin, end, choices, self.function)

    def all(self) -> Iterator[Site]:
        """Those of each function, variable and macro."""
        functions = [c for c in self.own if c.kind == KIND.FUNCTION_DECL]
        for cursor in self.own:
            begin, _ = _range(cursor)
            around = [c.extent for c in functions if _range(c)[0] <= begin < _range(c)[1]]
            self.function = range(around[0].start.line, around[0].end.line + 1) if around else range(0)
            if cursor.kind == KIND.MACRO_DEFINITION:
                for token in list(cursor.get_tokens())[1:]:
                    yield from self.literal(token)
            elif cursor.kind == KIND.MACRO_INSTANTIATION:
                yield from self.macro(cursor)
            elif cursor.kind != KIND.INCLUSION_DIRECTIVE:
                yield from self.walk(cursor, None)

    def walk(self, cursor: Any, parent: Any) -> Iterator[Site]:
        """The sites of a cursor, and of all below it."""
        yield from self.expression(cursor, parent)
        children = list(cursor.get_children())
        bodies = [_bare(body) for body in children[BODIES[cursor.kind]]] if cursor.kind in BODIES else []
        of_function = parent is not None and parent.kind == KIND.FUNCTION_DECL
        for body in bodies:
            # Without its last return the function's result would be any value.
            if not (of_function and body == bodies[-1] and body.kind == KIND.RETURN_STMT):
                yield from self.dropped(body)
        for one, other in zip(bodies, bodies[1:]):
            yield from self.swapped(one, other)
        for child in children:
            yield from self.walk(child, cursor)

    def dropped(self, cursor: Any) -> Iterator[Site]:
        """A statement that is not there. The semicolon of a simple one stays."""
        inner = list(cursor.get_children())
        # An if without else around one simple statement: to drop that is the same.
        if cursor.kind in UNDROPPED or (cursor.kind == KIND.IF_STMT and len(inner) == 2 and inner[1].kind not in UNDROPPED):
            return
        said = self.said(cursor)
        assigns = cursor.kind == KIND.UNARY_OPERATOR and {said[:2], said[-2:]} & {b"++", b"--"}
        if assigns or (cursor.kind == KIND.BINARY_OPERATOR and self.between(inner)[0] == b"="):
            what = "assignment"
        else:
            what = DROPPED.get(cursor.kind, "statement")
        yield from self.site(f"{what} dropped", *_range(cursor), b";" if said.endswith(b"}") else b"")

    def swapped(self, one: Any, other: Any) -> Iterator[Site]:
        """Two neighbours, of which one undoes something."""
        undone = TEAR_DOWN & {*one.spelling.split("_"), *other.spelling.split("_")}
        if undone and one.kind == other.kind == KIND.CALL_EXPR:
            (begin, middle), (rest, end) = _range(one), _range(other)
            yield from self.site("tear-down swapped", begin, end, self.said(other) + self.text[middle:rest] + self.said(one))

    def between(self, operands: list[Any]) -> tuple[bytes, int]:
        """The operator of two operands, and where it stands."""
        (_, begin), (end, _) = map(_range, operands)
        gap = self.text[begin:end]
        return gap.strip(), begin + len(gap) - len(gap.lstrip())

    def expression(self, cursor: Any, parent: Any) -> Iterator[Site]:
        """What can be wrong in an expression."""
        condition = CONDITIONS.get(parent.kind) if parent else None
        decides = condition is not None and list(parent.get_children())[condition] == cursor
        if decides:
            yield from self.site("condition negated", *_range(cursor), b"!(" + self.said(cursor) + b")")
        if cursor.kind in (KIND.BINARY_OPERATOR, KIND.COMPOUND_ASSIGNMENT_OPERATOR):
            old, at = self.between(list(cursor.get_children()))
            for what, table in OPERATORS.items():
                if old in table and not (decides and old in (b"==", b"!=")):  # which would negate it
                    yield from self.site(what, at, at + len(old), table[old])
        elif cursor.kind == KIND.INTEGER_LITERAL:
            yield from self.literal(cursor)
        elif cursor.kind == KIND.DECL_REF_EXPR:
            yield from self.enumerator(cursor)
        elif cursor.kind == KIND.CALL_EXPR and cursor.spelling in BYTE_ORDER:
            yield from self.site("byte order", _range(cursor)[0], _range(cursor)[0] + len(cursor.spelling), b"")
        elif cursor.kind == KIND.INIT_LIST_EXPR:
            for field in cursor.get_children():
                begin, end = _range(field)
                end += len(self.text[end:]) - len(self.text[end:].lstrip(b" \t\n").removeprefix(b","))
                if self.said(field)[:1] == b".":
                    yield from self.site("field dropped", begin, end, b"")

    def literal(self, cursor: Any) -> Iterator[Site]:
        """One more or one less."""
        said = self.said(cursor)
        digits = said.rstrip(b"uUlL")
        try:
            value = int(digits, 8 if digits.isdigit() and digits[:1] == b"0" else 0)
        except ValueError:  # no number, or in what a macro expands to
            return
        form, rest = b"%#x" if digits[:2].lower() == b"0x" else b"%d", said[len(digits) :]
        choices = [form % n + rest for n in (value + 1, value - 1) if n >= 0]
        yield from self.site("constant", *_range(cursor), *choices)

    def enumerator(self, cursor: Any) -> Iterator[Site]:
        """Another one of the same type."""
        name = cursor.referenced
        if name is None or name.kind != KIND.ENUM_CONSTANT_DECL or self.said(cursor) != cursor.spelling.encode():
            return
        others = [c.spelling.encode() for c in name.semantic_parent.get_children() if c.spelling != cursor.spelling]
        what = "memory order" if cursor.spelling.startswith("memory_order_") else "enumerator"
        if others:
            yield from self.site(what, *_range(cursor), *others)

    def macro(self, call: Any) -> Iterator[Site]:
        """An errno, a truth value, a byte order or an atomic access, all of which are macros."""
        name, said = call.spelling, self.said(call)
        arguments = said[len(name) :]
        what, choices = "", set[bytes]()
        if name in ERRNOS:
            what, choices = "errno", {c.spelling.encode() for c in self.macros if c.spelling in ERRNOS} | {b"EIO", b"EINVAL"}
        elif name in ("true", "false"):
            what, choices = "constant", {b"true", b"false"}
        elif name in BYTE_ORDER:
            what, choices = "byte order", {arguments}
        elif name.startswith("atomic_") and not name.endswith("_explicit") and arguments:
            what, choices = "memory order", {name.encode() + b"_explicit" + arguments[:-1] + b", memory_order_relaxed)"}
        if what:
            yield from self.site(what, *_range(call), *sorted(choices - {said}))


def sites(name: str, path: Path, arguments: list[str]) -> list[Site]:
    """All sites of the file, which is parsed with these of the compiler's arguments. Raises ValueError."""
    found = {(s.begin, s.end, s.operator): s for s in _File(name, path, arguments).all()}
    return [found[key] for key in sorted(found)]
