# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Statements as lines: tabs, 100 columns, braces as the kernel has them."""

from __future__ import annotations

import re

from . import comments
from .expressions import show
from .statements import Statement

WIDTH = 100
TAB = 8
ATOM = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|.')
# Where a line is rather broken comes first; True: the operator begins the next line.
BREAKS = [([";"], False), ([","], False), (["=", "+=", "-=", "|=", "&="], False), (["||"], False), (["&&"], False), ([":"], True), (["?"], True),
          (["==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "|", "&", "<<", ">>", "^"], False)]  # fmt: skip


def columns(text: str) -> int:
    return len(text.expandtabs(TAB))


def indented(column: int) -> str:
    return "\t" * (column // TAB) + " " * (column % TAB)


def words_of(text: str) -> list[str]:
    """Cut at the spaces that are in no bracket and no string."""
    words, depth = [""], 0
    for match in ATOM.finditer(text):
        depth += (match[0] in "([{") - (match[0] in ")]}")
        if match[0] == " " and depth == 0:
            words.append("")
        else:
            words[-1] += match[0]
    return words


def units_of(text: str) -> list[str]:
    """The text cut at the places where it is rather broken than anywhere else."""
    words = words_of(text)
    for operators, begins in BREAKS:
        units = [words[0]]
        for before, word in zip(words, words[1:]):
            cut = word in operators if begins else before in operators or (operators[0] in ",;" and before.endswith(operators[0]))
            units += [word] if cut else []
            units[-1] += "" if cut else " " + word
        if len(units) > 1:
            return units
    return words


class Lines:
    """Fills lines with a text, and continues each below the bracket that is open."""

    def __init__(self, indent: int) -> None:
        self.lines: list[str] = []
        self.now = indented(indent * TAB)
        self.continued = (indent + 1) * TAB  # the column where the next line begins

    def fits(self, text: str, after: int) -> bool:
        return columns(self.now) + len(text) + after <= WIDTH

    def next(self) -> None:
        self.lines.append(self.now.rstrip(" "))
        self.now = indented(self.continued)

    def fill(self, text: str, after: int = 0) -> None:
        """Adds the text; `after` it so many characters must find room on the line."""
        if self.fits(text, after) and "\\n\" \"" not in text:
            self.now += text
            return
        units = units_of(text)
        if len(units) > 1:
            self.fill_units(units, after)
        elif re.search(r"[(\[{]", text) and not text.startswith('"'):
            self.fill_bracket(text, after)
        else:
            self.fill_string(text, after)

    def fill_units(self, units: list[str], after: int) -> None:
        for number, unit in enumerate(units):
            rest = after if number == len(units) - 1 else 0
            if number and (units[number - 1].endswith('\\n"') or not self.fits(" " + unit, rest)) and not self.goes_on(units[0], unit):
                self.next()
            elif number:
                self.now += " "
            self.fill(unit, rest)

    def goes_on(self, first: str, unit: str) -> bool:
        """Whether a unit that must be broken in any case may begin on this line."""
        too_long = len(unit) > WIDTH - self.continued
        return too_long and (unit.startswith('"') or first.endswith((" =", "return")))

    def fill_bracket(self, text: str, after: int) -> None:
        start = re.search(r"[(\[{]", text)
        assert start
        end, depth = start.end(), 1
        for match in ATOM.finditer(text, end):
            depth += (match[0] in "([{") - (match[0] in ")]}")
            end = match.end()
            if depth == 0:
                break
        self.now += text[: start.end()]
        inner = text[start.end() : end - 1]
        if start[0] == "{" and columns(self.now) > WIDTH // 2 and not self.fits(inner, 1):
            self.next()
            self.fill(inner.strip() + ",")
            self.lines.append(self.now)
            self.now = indented(self.continued - TAB) + text[end - 1 :]
            return
        outer, self.continued = self.continued, min(columns(self.now) + (start[0] == "{"), 8 * TAB)
        follows = re.search(r"[(\[{]", text[end:])
        self.fill(inner, 1 + (follows.end() if follows else len(text) - end + after))
        self.continued = outer
        self.fill(text[end - 1 :], after)

    def fill_string(self, text: str, after: int) -> None:
        """A string is cut where it has a space; what cannot be cut is longer than the line."""
        if self.now.strip() and WIDTH - columns(self.now) < 24:
            self.next()
        room = WIDTH - columns(self.now) - 1
        cut = text.rfind(" ", 1, room) if text.startswith('"') and len(text) > room else -1
        if cut < 0:
            self.now += text
            return
        self.now += text[: cut + 1] + '"'
        self.next()
        self.fill('"' + text[cut + 1 :], after)


def filled(text: str, indent: int) -> list[str]:
    """A statement, or a head, in as many lines as it needs."""
    lines = Lines(indent)
    keyword = re.match(r"(?:return|if|while|for|switch) ", text)
    if keyword:
        lines.now += keyword[0]
        lines.continued = indent * TAB + keyword.end()
        text = text[keyword.end() :]
    lines.fill(text)
    return lines.lines + [lines.now]


def filled_head(text: str) -> list[str]:
    """The head of a function, which is not broken before its parameters."""
    lines = Lines(0)
    if lines.fits(text, 0):
        return filled(text, 0)
    lines.fill_bracket(text, 0)
    return lines.lines + [lines.now]


def head_of(one: Statement) -> str:
    """The first line of a statement, without a brace."""
    shown = [show(node) if node else "" for node in one.nodes]
    if one.kind == "declaration":
        declared = ", ".join(
            part.stars + part.name + part.dimensions + (f" = {show(part.value)}" if part.value else "")
            for part in one.declared
        )
        return f"{one.head} {declared};"
    if one.kind == "return":
        return f"return {shown[0]};" if shown[0] else "return;"
    if one.head == "for":
        return f"for ({'; '.join(shown)})".replace("; ;", ";;").replace("; )", ";)")
    heads = {
        "expression": f"{shown[0]};" if shown else "",
        "jump": f"{one.head};",
        "label": f"{one.head}:",
        "if": f"if ({shown[0]})" if shown else "",
        "switch": f"switch ({shown[0]})" if shown else "",
        "loop": f"{one.head} ({shown[0]})" if shown else "",
        "empty": ";",
        "do": "do",
        "block": "",
    }
    return heads[one.kind]


def with_behind(lines: list[str], behind: str, indent: int) -> list[str]:
    """The comment goes behind the lines if there is room, else above them."""
    behind = comments.unreferred(behind)
    if not behind:
        return lines
    if columns(lines[-1] + " " + behind) <= WIDTH:
        return lines[:-1] + [lines[-1] + " " + behind]
    return [indented(indent * TAB) + behind] + lines


def comment_lines(comment: str, indent: int) -> list[str]:
    return [indented(indent * TAB) + (" " if line.strip().startswith("*") else "") + line.strip()
            for line in comment.split("\n")] if comment else []  # fmt: skip


def shown_statement(one: Statement, indent: int, in_chain: bool = False) -> list[str]:
    """`in_chain`: after an else whose if has braces."""
    above = comment_lines(comments.of_statement(one.above), indent)
    if one.kind == "label":
        outdent = indent - 1
        lines = with_behind([indented(outdent * TAB) + one.head + ":"], one.behind, outdent)
        return above + lines
    head = head_of(one)
    braces = one.kind in ("switch", "block") or (one.kind == "do" and not is_short(one.body)) or needs_braces(one) or in_chain
    lines = filled(head, indent) if head else [indented(indent * TAB)]
    if braces:
        lines[-1] += " {" if head else "{"
    lines = with_behind(lines, one.behind, indent)
    if one.kind in ("if", "loop", "do", "switch", "block"):
        lines += shown_block(one.body, indent + 1)
        if braces:
            lines.append(indented(indent * TAB) + "}")
    if one.other:
        join = lines.pop() + " else" if braces else indented(indent * TAB) + "else"
        if len(one.other) == 1 and one.other[0].kind == "if" and not one.other[0].above:
            rest = shown_statement(one.other[0], indent, braces)
            lines += [join + " " + rest[0].lstrip("\t")] + rest[1:]
        else:
            lines.append(join + (" {" if braces else ""))
            lines += shown_block(one.other, indent + 1) + ([indented(indent * TAB) + "}"] if braces else [])
    if one.kind == "do":
        end = f"while ({show(one.nodes[0])});" if one.nodes[0] else ""
        if braces:
            lines[-1] += " " + end
        else:
            lines.append(indented(indent * TAB) + end)
    return above + lines


def needs_braces(one: Statement) -> bool:
    """Also where it need not, if another part of the same if does."""
    if one.kind not in ("if", "loop"):
        return False
    return any(
        len(body) != 1 or body[0].above or (body[0].kind in ("if", "loop", "do", "switch") and not is_else_if(one, body))
        for body in (one.body, one.other)
        if body or body is one.body
    ) or (is_else_if(one, one.other) and needs_braces(one.other[0]))  # fmt: skip


def is_short(body: list[Statement]) -> bool:
    return len(body) == 1 and not body[0].above and body[0].kind in ("expression", "jump", "return")


def is_else_if(one: Statement, body: list[Statement]) -> bool:
    return body is one.other and len(body) == 1 and body[0].kind == "if"


def shown_block(statements: list[Statement], indent: int) -> list[str]:
    lines: list[str] = []
    for number, one in enumerate(statements):
        after_declarations = number and statements[number - 1].kind == "declaration" and one.kind != "declaration"
        if number and (one.blank or after_declarations) and not tests_result(one, statements[number - 1]):
            lines.append("")
        lines += shown_statement(one, indent)
    return lines


def tests_result(one: Statement, before: Statement) -> bool:
    """Whether it asks for what the statement before it has stored, which may have been a declaration once."""
    node = before.nodes[0] if before.kind == "expression" else None
    if one.kind != "if" or one.above or not node or node.kind != "assign" or not one.nodes[0]:
        return False
    return any(show(part) == show(node.parts[0]) for part in one.nodes[0].walk())


def shown_function(head: str, statements: list[Statement]) -> str:
    return "\n".join([head, "{"] + shown_block(statements, 1) + ["}"])


DEFINE = re.compile(r"#define (\w+) +((?:(?!/\*)[^\n\\])*?)\s*(/\*[^\n]*)?")


def aligned_defines(text: str) -> str:
    """Puts the values, and the comments, of defines that stand together in one column; a comment that is too long above."""
    result: list[str] = []
    group: list[tuple[str, str, str]] = []

    def end_group() -> None:
        names = max((len(name) for name, _, _ in group), default=0)
        values = max((len(value) for _, value, comment in group if comment), default=0)
        for name, value, comment in group:
            line = f"#define {name.ljust(names)} {value.ljust(values) if comment else value} {comment}".rstrip()
            if len(line) > WIDTH:
                line = f"#define {name} {value} {comment}"
            if len(line) > WIDTH:
                result.append(comment)
                line = f"#define {name} {value}"
            result.append(line)
        group.clear()

    for line in re.sub(r"(#define \w+) *\\\n\s*([^\n\\]+)(?=\n)", r"\1 \2", text).split("\n"):
        match = DEFINE.fullmatch(line)
        if match:
            group.append((match[1], match[2], comments.unreferred(match[3] or "")))
        else:
            end_group()
            result.append(line)
    end_group()
    return "\n".join(result)
