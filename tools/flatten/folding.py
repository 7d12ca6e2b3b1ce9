# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What an expression comes to when some of its parts are known."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .expressions import Node, is_tight

Value = int | str | None  # a number; the name of something that is no other; unknown
WORDS: dict[str, int] = {
    "NULL": 0, "false": 0, "true": 1, "UINT64_MAX": 2**64 - 1, "UINT32_MAX": 2**32 - 1, "INT32_MAX": 2**31 - 1,
}  # fmt: skip
ZERO, ONE = Node("number", "0"), Node("number", "1")
NARROW = re.compile(r"int|unsigned int|u?int(?:8|16|32)_t")  # not those in which more bits are counted with
EVENTS = "RDMA_CM_EVENT_"
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    ">": lambda a, b: a > b, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
}  # fmt: skip
ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "*": lambda a, b: a * b, "<<": lambda a, b: a << b,
}  # fmt: skip
# Functions of the libraries, and of ours that do more than read, whose result alone matters.
READERS = {"strcmp", "our_now_ns", "strerror", "ibv_get_device_name", "rdma_event_str", "be32toh", "be64toh"}


def is_moment(node: Node) -> bool:
    """By its name, a time in nanoseconds: UINT64_MAX is one that never comes."""
    return node.kind in ("name", "member", "call") and (node.parts[0].text if node.kind == "call" else node.text).endswith("_ns")


def is_boolean(node: Node) -> bool:
    """Whether it is 0 or 1, for all that one can see."""
    if node.kind == "parentheses":
        return is_boolean(node.parts[0])
    return (node.kind == "binary" and node.text in {*COMPARISONS, "&&", "||"}) or (
        node.kind == "prefix" and node.text == "!"
    )


@dataclass
class Knowledge:
    """What is known of a program, besides its text."""

    names: dict[str, Value] = field(default_factory=dict)  # defines and enumerators
    results: dict[str, Node] = field(default_factory=dict)  # functions that always return this, and do nothing
    pure: set[str] = field(default_factory=lambda: set(READERS))
    possible: dict[str, set[str]] = field(default_factory=dict)  # all values that a parameter has
    unsigned: set[str] = field(default_factory=set)  # members that are no shorter than unsigned int
    impossible: dict[str, set[str]] = field(default_factory=dict)  # a member never has these values

    def value(self, node: Node) -> Value:
        kind = node.kind
        if kind == "number":
            match = re.fullmatch(r"(0x[0-9a-fA-F]+|\d+)[uUlL]*", node.text)
            return int(match[1], 0) if match and not re.match(r"0\d", node.text) else None
        if kind == "name":
            if node.text in WORDS:
                return WORDS[node.text]
            if node.text in self.names:
                return self.names[node.text]
            return node.text if node.text.startswith((EVENTS, "IBV_")) else None
        if kind == "string":
            return node.text if node.text[0] == '"' else None
        if kind in ("cast", "parentheses"):
            return self.value(node.parts[0])
        if kind == "binary":
            left, right = self.value(node.parts[0]), self.value(node.parts[1])
            if isinstance(left, int) and isinstance(right, int) and node.text in ARITHMETIC:
                return ARITHMETIC[node.text](left, right)
        if kind == "prefix" and node.text == "-" and isinstance(self.value(node.parts[0]), int):
            return -int(self.value(node.parts[0]) or 0)
        return None

    def truth(self, node: Node) -> bool | None:
        value = self.value(node)
        if isinstance(value, int):
            return value != 0
        return True if value and value[0] == '"' else None

    def is_pure(self, node: Node) -> bool:
        return not any(
            (one.kind == "call" and one.parts[0].text not in self.pure)
            or one.kind in ("assign", "postfix")
            or (one.kind == "prefix" and one.text in ("++", "--"))
            for one in node.walk()
        )

    def fold(self, node: Node) -> Node:
        """One node whose parts are folded already."""
        if node.kind == "binary":
            return self.binary(node)
        if node.kind == "choice":
            return self.choice(node)
        if node.kind == "prefix" and node.text == "!":
            truth = self.truth(node.parts[0])
            return node if truth is None else ZERO if truth else ONE
        if node.kind == "call":
            return self.call(node)
        if node.kind == "cast" and NARROW.fullmatch(node.text) and node.parts[0].kind in ("number", "name"):
            value = self.value(node.parts[0])
            return node.parts[0] if isinstance(value, int) and 0 <= value < 2**31 else node
        if node.kind == "parentheses":
            inner = node.parts[0]
            is_constant = inner.kind != "binary" and self.value(inner) is not None  # "(64 + 3) / 4" needs them
            return inner if is_tight(inner) or is_constant else node
        return node

    def choice(self, node: Node) -> Node:
        condition, chosen, otherwise = node.parts
        truth = self.truth(condition)
        if truth is not None:
            return chosen if truth else otherwise
        if chosen == otherwise and self.is_pure(condition):
            return chosen  # "x ? 1 : 1"
        if chosen == condition and otherwise == ZERO and self.is_pure(condition):
            return condition  # "x ? x : 0"
        return node

    def call(self, node: Node) -> Node:
        name, arguments = node.parts[0].text, node.parts[1:]
        if name in self.results and all(self.is_pure(one) for one in arguments):
            return self.results[name]
        if name == "strcmp":
            left, right = self.value(arguments[0]), self.value(arguments[1])
            if isinstance(left, str) and isinstance(right, str):
                return ZERO if left == right else ONE
        return node

    def binary(self, node: Node) -> Node:
        left, right = node.parts
        if node.text in ("&&", "||"):
            return self.logical(node, is_boolean(left), is_boolean(right))
        one, other = self.value(left), self.value(right)
        if node.text in COMPARISONS:
            return self.comparison(node, one, other)
        if node.text == "*" and (one == 0 or other == 0) and self.is_pure(node):
            return ZERO
        if node.text in "+|" and one == 0:
            return right
        if node.text in ("+", "-", "|") and other == 0 and not self.is_null(right):
            return left
        if one == other == 0 and node.text in ("/", "%"):
            return node
        if one == 0 and node.text in ("/", "%") and self.is_pure(right):
            return ZERO
        return left if other == 1 and node.text in ("*", "/") else node

    @staticmethod
    def is_null(node: Node) -> bool:
        return node.text == "NULL"

    def condition(self, node: Node) -> Node:
        """A folded expression of which only the truth matters."""
        if node.kind == "parentheses" and node.parts[0].kind == "binary":
            inner = self.condition(node.parts[0])
            return inner if is_tight(inner) else Node("parentheses", "", [inner])
        if node.kind == "binary" and node.text in ("&&", "||"):
            return self.logical(Node("binary", node.text, [self.condition(part) for part in node.parts]), True, True)
        if node.kind == "binary" and node.text in ("==", "!="):
            for part, other in (node.parts, node.parts[::-1]):
                if self.value(other) == 0 and is_boolean(part):
                    return Node("prefix", "!", [part]) if node.text == "==" else part
        if node.kind == "choice" and self.truth(node.parts[2]) is False:
            return self.condition(Node("binary", "&&", node.parts[:2]))
        if node.kind == "choice" and self.truth(node.parts[1]) is False and is_tight(node.parts[0]):
            return self.condition(Node("binary", "&&", [Node("prefix", "!", [node.parts[0]]), node.parts[2]]))
        return node

    def logical(self, node: Node, left_will_do: bool, right_will_do: bool) -> Node:
        """`left_will_do`: whether the left side stands for the whole if the right one does not matter."""
        left, right = node.parts = [
            part.parts[0] if part.kind == "parentheses" and part.parts[0].kind == "prefix" else part for part in node.parts
        ]
        decides = node.text == "||"  # the truth that makes the other side irrelevant
        first, second = self.truth(left), self.truth(right)
        if first is not None and (first == decides or right_will_do):
            return (ONE if decides else ZERO) if first == decides else right
        if second is not None and second != decides and left_will_do:
            return left
        if second is not None and second == decides and self.is_pure(left):
            return ONE if decides else ZERO
        return node

    def is_never(self, name: str, value: str) -> bool:
        return value in self.impossible.get(name, ()) or value not in self.possible.get(name, {value})

    def is_unsigned(self, node: Node) -> bool:
        if node.kind == "parentheses" or (node.kind == "binary" and node.text in ("+", "-", "*")):
            return any(self.is_unsigned(part) for part in node.parts)
        return node.kind == "member" and node.text.lstrip("->.") in self.unsigned

    def comparison(self, node: Node, one: Value, other: Value) -> Node:
        left, right = node.parts
        if isinstance(one, int) and isinstance(other, int):
            return ONE if COMPARISONS[node.text](one, other) else ZERO
        if other == 2**64 - 1 and node.text in ("<", ">") and is_moment(left):
            return ONE if node.text == "<" else ZERO
        if one == 2**64 - 1 and node.text in ("<", ">=") and is_moment(right):
            return ZERO if node.text == "<" else ONE
        if (one == 0 and node.text == ">" and self.is_unsigned(right)) or (
            other == 0 and node.text == "<" and self.is_unsigned(left)
        ):
            return ZERO if self.is_pure(node) else node
        if node.text not in ("==", "!="):
            return node
        if isinstance(one, str) and isinstance(other, str) and one[0] != '"':
            same = one == other
            if same or (one.startswith(EVENTS) and other.startswith(EVENTS)):
                return ONE if same == (node.text == "==") else ZERO
        for side, value in ((left, other), (right, one)):
            key = side.text.lstrip("->.") if side.kind in ("member", "name") else ""
            if isinstance(value, str) and self.is_never(key, value) and self.is_pure(side):
                return ZERO if node.text == "==" else ONE
        return node
