# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The body of a function as a tree of statements, with the comments at them.

Comments stand above a statement, or behind its first line. One anywhere else, as all that is not
understood, raises Unknown: the function then stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .expressions import BASE, Node, Unknown, parse, replaced

WORD = re.compile(r"[A-Za-z_]\w*")
SKIP = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.DOTALL)
DECLARATION = re.compile(
    rf"(?:(?:static|const|_Thread_local|_Atomic) )*(?:{BASE}|va_list)(?: const)?(?= [*\w])"
)
DECLARATOR = re.compile(r"(\**)(\w+)((?:\[[^\]]*\])*)(?: = (.*))?$", re.DOTALL)


@dataclass
class Declarator:
    stars: str
    name: str
    dimensions: str
    value: Node | None


@dataclass
class Statement:
    kind: str  # expression, declaration, return, jump, if, loop, do, switch, label, block, empty
    head: str = ""  # of a loop its keyword, of a jump its words, of a declaration its type, of a label all
    nodes: list[Node | None] = field(default_factory=list)  # the expressions in the head
    body: list[Statement] = field(default_factory=list)
    other: list[Statement] = field(default_factory=list)  # what follows else
    declared: list[Declarator] = field(default_factory=list)
    above: str = ""  # the comment above it
    behind: str = ""  # the comment at the end of its first line
    blank: bool = False  # a blank line is above it

    def walk(self) -> Iterator[Statement]:
        yield self
        for one in self.body + self.other:
            yield from one.walk()

    def expressions(self) -> Iterator[Node]:
        """Those of this statement alone."""
        yield from (node for node in self.nodes if node)
        yield from (one.value for one in self.declared if one.value)

    def change(self, edit: Callable[[Node], Node]) -> None:
        """Makes a change to each node of its own expressions."""
        self.nodes = [node and replaced(node, edit) for node in self.nodes]
        for one in self.declared:
            one.value = one.value and replaced(one.value, edit)


class Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def space(self) -> int:
        """Skips white space; how many line ends there were."""
        start = self.at
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text.count("\n", start, self.at)

    def comment(self) -> str:
        if not self.text.startswith("/*", self.at):
            return ""
        start = self.at
        self.at = self.text.index("*/", self.at) + 2
        return self.text[start : self.at]

    def behind(self) -> str:
        """A comment that follows on the same line."""
        start = self.at
        if self.space() == 0:
            found = self.comment()
            if found:
                return found
        self.at = start
        return ""

    def word(self) -> str:
        match = WORD.match(self.text, self.at)
        return match[0] if match else ""

    def until(self, ends: str) -> str:
        """The text up to one of the characters `ends` outside of brackets, which is taken, too."""
        start, depth = self.at, 0
        while self.at < len(self.text):
            string = SKIP.match(self.text, self.at)
            if string:
                self.at = string.end()
                continue
            char = self.text[self.at]
            if self.text.startswith("/*", self.at):
                raise Unknown("a comment within a statement")
            if depth == 0 and char in ends:
                self.at += 1
                return self.text[start : self.at - 1].strip()
            depth += (char in "([{") - (char in ")]}")
            self.at += 1
        raise Unknown(self.text[start : start + 40])

    def parentheses(self) -> str:
        self.space()
        if self.text[self.at] != "(":
            raise Unknown(self.text[self.at : self.at + 40])
        self.at += 1
        return self.until(")")

    def statements(self) -> list[Statement]:
        """All up to a closing brace, or the end."""
        found: list[Statement] = []
        while True:
            self.space()
            if self.at >= len(self.text) or self.text[self.at] == "}":
                return found
            found.append(self.statement())

    def leading(self) -> tuple[bool, str]:
        start = self.text.rfind("\n", 0, self.at) + 1
        blank = self.text[max(0, start - 2) : start].count("\n") == 2
        comments: list[str] = []
        while True:
            self.space()
            comment = self.comment()
            if not comment:
                return blank, "\n".join(comments)
            comments.append(comment)

    def statement(self) -> Statement:
        self.space()
        blank, above = self.leading()
        if self.at >= len(self.text) or self.text[self.at] == "}":
            raise Unknown("a comment at the end of a block")
        one = self.one()
        one.blank, one.above = blank, above
        return one

    def one(self) -> Statement:
        word = self.word()
        if self.text[self.at] == "{":
            return self.block("block")
        if self.text[self.at] == ";":
            self.at += 1
            return Statement("empty")
        if word in ("if", "while", "for", "switch", "do") or word.endswith("_FOREACH"):
            self.at += len(word)
            return self.control(word)
        label = re.compile(r"(case [^:?]+|default|\w+):(?!:)").match(self.text, self.at)
        if label:
            self.at = label.end()
            return Statement("label", label[1], behind=self.behind())
        result = simple(one_line(self.until(";")))
        result.behind = self.behind()
        return result

    def block(self, kind: str) -> Statement:
        self.at += 1
        result = Statement(kind, behind=self.behind())
        result.body = self.statements()
        self.at += 1
        return result

    def body(self) -> tuple[list[Statement], str]:
        behind = self.behind()
        self.space()
        if self.text[self.at] == "{":
            block = self.block("block")
            return block.body, behind or block.behind
        return [self.statement()], behind

    def control(self, word: str) -> Statement:
        if word == "do":
            body, behind = self.body()
            self.space()
            self.at += len("while")
            result = Statement("do", word, [parse(self.parentheses())], body, behind=behind)
            self.until(";")
            return result
        head = self.parentheses()
        heads = head.split(";") if word == "for" else [head]
        nodes = [parse(part) if part.strip() else None for part in heads]
        kind = word if word in ("if", "switch") else "loop"
        result = Statement(kind, word, nodes)
        result.body, result.behind = self.body()
        if word == "if":
            start = self.at
            self.space()
            if self.word() == "else":
                self.at += 4
                result.other, behind = self.body()
                if behind:
                    raise Unknown("a comment after else")
            else:
                self.at = start
        return result


def one_line(text: str) -> str:
    return re.sub(SKIP.pattern + r"|\s+", lambda match: " " if match[0].isspace() else match[0], text)


def simple(text: str) -> Statement:
    if text in ("return", "break", "continue") or text.startswith("goto "):
        return Statement("return", nodes=[None]) if text == "return" else Statement("jump", text)
    if text.startswith("return "):
        return Statement("return", nodes=[parse(text[len("return ") :])])
    declaration = DECLARATION.match(text)
    if declaration:
        parts = Parser(text[declaration.end() :].strip() + ";")
        declared = []
        while parts.at < len(parts.text):
            match = DECLARATOR.fullmatch(parts.until(",;"))
            if match is None:
                raise Unknown(text)
            value = parse("{ x = " + match[4] + " }").parts[0].parts[1] if match[4] else None
            declared.append(Declarator(match[1], match[2], match[3], value))
        return Statement("declaration", declaration[0], declared=declared)
    return Statement("expression", nodes=[parse(text)])


def parse_body(text: str) -> list[Statement]:
    """The statements of a function, whose text this is."""
    start = text.index("\n{") + 2
    parser = Parser(text[start : text.rindex("}")])
    found = parser.statements()
    if parser.at < len(parser.text):
        raise Unknown("a brace too many")
    return found
