# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""C expressions as trees, and back as text in the project's style.

All of C that the project uses is understood; what is not raises Unknown, and the caller then leaves
the function alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

TOKEN = re.compile(
    r'\s+|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\d\w*(?:\.\w+)?(?:(?<=\de)-\d+)?|->|\+\+|--|<<=|>>=|\.\.\.|'
    r"[-+*/%&|^=!<>]=|<<|>>|&&|\|\||[-+*/%&|^=!<>~?:,.;()\[\]{}]"
)
BASE = r"(?:struct \w+|union \w+|enum \w+|void|char|short|int|long long|long|unsigned(?: (?:int|char|short|long long|long))?|float|double|bool|size_t|\w+_t)"
TYPE = re.compile(rf"(?:const |volatile )*{BASE}(?: const)?(?: ?\*)*")
BINARY = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"],
          ["*", "/", "%"]]  # fmt: skip
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="}
PREFIXES = ("!", "~", "-", "+", "*", "&", "++", "--")


class Unknown(Exception):
    """Not of the C that is understood here."""


@dataclass
class Node:
    """An expression: what it is, an operator, name or type, and its parts."""

    kind: str  # name, number, string, call, index, member, prefix, postfix, cast, sizeof, binary, choice, assign, ...
    text: str
    parts: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        yield self
        for part in self.parts:
            yield from part.walk()


def tokens_of(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise Unknown(text[at : at + 20])
        if not match[0].isspace():
            found.append(match[0])
        at = match.end()
    return found


class Parser:
    """Reads one expression from a list of tokens."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise Unknown(f"{token} where {expected or 'more'} was due: {' '.join(self.tokens)}")
        self.at += 1
        return token

    def comma(self) -> Node:
        first = self.assignment()
        while self.peek() == ",":
            self.take()
            first = Node("comma", ",", [first, self.assignment()])
        return first

    def assignment(self) -> Node:
        if self.peek() == "{":
            return Node("braces", "", self.elements())
        left = self.choice()
        if self.peek() in ASSIGNMENTS:
            return Node("assign", self.take(), [left, self.assignment()])
        return left

    def choice(self) -> Node:
        condition = self.binary(0)
        if self.peek() != "?":
            return condition
        self.take()
        chosen = self.comma()
        self.take(":")
        return Node("choice", "?", [condition, chosen, self.choice()])

    def binary(self, level: int) -> Node:
        if level == len(BINARY):
            return self.prefix()
        left = self.binary(level + 1)
        while self.peek() in BINARY[level]:
            operator = self.take()
            left = Node("binary", operator, [left, self.binary(level + 1)])
        return left

    def type_in_parentheses(self) -> str | None:
        """The type, if that is what the parentheses here hold; they are taken then."""
        if self.peek() != "(":
            return None
        end = self.at + 1
        while end < len(self.tokens) and self.tokens[end] not in "()":
            end += 1
        text = re.sub(r"\* \*", "**", " ".join(self.tokens[self.at + 1 : end]))
        if end >= len(self.tokens) or self.tokens[end] != ")" or not TYPE.fullmatch(text):
            return None
        self.at = end + 1
        return text

    def prefix(self) -> Node:
        if self.peek() in PREFIXES:
            return Node("prefix", self.take(), [self.prefix()])
        if self.peek() == "sizeof":
            self.take()
            kind = self.type_in_parentheses()
            return Node("sizeof", kind) if kind else Node("sizeof", "", [self.prefix()])
        kind = self.type_in_parentheses()
        if kind and self.peek() == "{":
            return self.postfix(Node("literal", kind, self.elements()))
        return Node("cast", kind, [self.prefix()]) if kind else self.postfix(self.primary())

    def postfix(self, node: Node) -> Node:
        while True:
            token = self.peek()
            if token == "(":
                node = Node("call", "", [node] + self.arguments())
            elif token == "[":
                self.take()
                node = Node("index", "", [node, self.comma()])
                self.take("]")
            elif token in ("->", "."):
                self.take()
                node = Node("member", token + self.take(), [node])
            elif token in ("++", "--"):
                node = Node("postfix", self.take(), [node])
            else:
                return node

    def arguments(self) -> list[Node]:
        self.take("(")
        found: list[Node] = []
        while self.peek() != ")":
            if found:
                self.take(",")
            found.append(self.assignment())
        self.take(")")
        return found

    def elements(self) -> list[Node]:
        self.take("{")
        found: list[Node] = []
        while self.peek() != "}":
            if self.peek() == ".":
                self.take()
                name = self.take()
                self.take("=")
                found.append(Node("designator", name, [self.assignment()]))
            else:
                found.append(self.assignment())
            if self.peek() != "}":
                self.take(",")
        self.take("}")
        return found

    def primary(self) -> Node:
        token = self.take()
        if token == "(":
            inner = self.comma()
            self.take(")")
            return Node("parentheses", "", [inner])
        if token[0] == '"' or (self.peek()[:1] == '"' and re.match(r"[A-Z]", token)):
            while self.peek()[:1] == '"' or re.fullmatch(r"(?:PRI|SCN)\w+|OUR_STAGE", self.peek() or "-"):
                follows = self.take()
                joined = token.endswith('"') and follows[0] == '"' and not token.endswith('\\n"')
                token = token[:-1] + follows[1:] if joined else f"{token} {follows}"
            return Node("string", token)
        if token[0].isdigit() or token[0] == "'":
            return Node("number", token)
        if token[0].isalpha() or token[0] == "_":
            return Node("name", token)
        raise Unknown(f"{token} in {' '.join(self.tokens)}")


def parse(text: str) -> Node:
    parser = Parser(tokens_of(text))
    node = parser.comma()
    if parser.peek():
        raise Unknown(f"{parser.peek()} is left over of {text}")
    return node


def show(node: Node) -> str:
    """The expression in one line."""
    parts = [show(part) for part in node.parts]
    text = node.text
    shown: dict[str, Callable[[], str]] = {
        "call": lambda: f"{parts[0]}({', '.join(parts[1:])})",
        "index": lambda: f"{parts[0]}[{parts[1]}]",
        "member": lambda: parts[0] + text,
        "prefix": lambda: text + parts[0],
        "postfix": lambda: parts[0] + text,
        "cast": lambda: f"({text}){parts[0]}",
        "sizeof": lambda: f"sizeof({text})" if text else f"sizeof{parts[0]}",
        "binary": lambda: f"{parts[0]} {text} {parts[1]}",
        "assign": lambda: f"{parts[0]} {text} {parts[1]}",
        "choice": lambda: f"{parts[0]} ? {parts[1]} : {parts[2]}",
        "comma": lambda: f"{parts[0]}, {parts[1]}",
        "parentheses": lambda: f"({parts[0]})",
        "designator": lambda: f".{text} = {parts[0]}",
        "braces": lambda: f"{{ {', '.join(parts)} }}" if parts else "{}",
        "literal": lambda: f"({text}){{ {', '.join(parts)} }}",
    }
    return shown[node.kind]() if node.kind in shown else text


def is_tight(node: Node) -> bool:
    """Whether it needs no parentheses, wherever it is put."""
    return node.kind in ("name", "number", "string", "call", "index", "member", "parentheses")


def replaced(node: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with `change` made to each node, the parts first."""
    return change(Node(node.kind, node.text, [replaced(part, change) for part in node.parts]))
