# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Carries what is known of local variables through the statements of a function, and takes out
what cannot happen: branches not taken, what follows a return, labels that nobody jumps to.
"""

from __future__ import annotations

from collections.abc import Iterable

from .expressions import Node, show
from .folding import ZERO, Knowledge
from .model import Function, Model, tag_in
from .statements import Statement

Known = dict[str, Node]  # local variables, and the constants that they hold
PRINTERS = {"printf", "fprintf", "snprintf", "sprintf"}
ENDS = ("return", "jump")


def is_counter(kind: str) -> bool:
    return not tag_in(kind) and not kind.startswith(("static", "_"))


class Flow:
    def __init__(
        self, function: Function, model: Model, knowledge: Knowledge, members: dict[tuple[str, str], Node], always: Known
    ) -> None:
        self.function = function
        self.model = model
        self.knowledge = knowledge
        self.members = members
        self.scope = function.locals()
        declared = {part.name for one in function.statements() for part in one.declared}
        self.always = {name: value for name, value in always.items() if name not in declared}
        self.variadic = PRINTERS | {one.name for one in model.functions.values() if "..." in one.head()}
        self.never: set[str] = set()  # what the innermost switch cannot meet
        self.tracked = self.tracked_locals()
        self.always.update(self.constant_locals())

    def tracked_locals(self) -> set[str]:
        """Scalars of the function whose address nobody takes."""
        found = {one.name for one in self.function.parameters if not one.is_pointer and not one.tag}
        for one in self.function.statements():
            found |= {
                part.name for part in one.declared if is_counter(one.head) and not part.stars and not part.dimensions
            }
        return found - {
            node.parts[0].text for node in self.function.nodes() if node.kind == "prefix" and node.text == "&"
        }

    def constant_locals(self) -> Known:
        """Those that hold the same constant from their declaration on."""
        changed = {name for node in self.function.nodes() for name in assigned_in(node)}
        return {
            part.name: part.value
            for one in self.function.statements()
            for part in one.declared
            if part.value and part.name in self.tracked - changed and self.is_plain(part.value)
        }

    def is_plain(self, value: Node) -> bool:
        return value.kind in ("name", "number") and self.knowledge.value(value) is not None

    def assigned(self, statements: Iterable[Statement]) -> set[str]:
        """The variables that any of them sets."""
        found: set[str] = set()
        for outer in statements:
            for one in outer.walk():
                found |= {part.name for part in one.declared}
                found |= {name for node in one.expressions() for name in assigned_in(node)}
                if one.head.endswith("_FOREACH") and one.nodes[0]:
                    found |= {part.text for part in one.nodes[0].walk()}
        return found

    def fold(self, node: Node, known: Known) -> Node:
        """The expression with what is known put in; what it sets itself is not known."""
        set_here = assigned_in(node)
        known = {**self.always, **known}
        return self.put_in(node, {name: value for name, value in known.items() if name not in set_here})

    def put_in(self, node: Node, known: Known, lvalue: bool = False) -> Node:
        if node.kind == "call" and node.parts[0].text in self.variadic:
            return Node("call", "", [node.parts[0]] + [self.as_typed(part, known) for part in node.parts[1:]])
        takes_address = node.kind in ("postfix",) or (node.kind == "prefix" and node.text in ("&", "++", "--"))
        parts = [
            self.put_in(part, known, takes_address or (number == 0 and node.kind == "assign")
                        or (lvalue and node.kind == "parentheses"))
            for number, part in enumerate(node.parts)
        ]  # fmt: skip
        if node.kind == "choice":
            parts[0] = self.knowledge.condition(parts[0])
        if node.kind == "prefix" and node.text == "!":
            parts[0] = self.knowledge.condition(parts[0])
        if not lvalue and node.kind == "name" and node.text in known:
            return known[node.text]
        if not lvalue and node.kind == "member":
            tag = self.model.tag_of(node.parts[0], self.scope)
            constant = self.members.get((tag, node.text.lstrip("->.")))
            if constant and self.knowledge.is_pure(node):
                return constant
        if node.kind == "sizeof":
            return node
        return self.knowledge.fold(Node(node.kind, node.text, parts))

    def as_typed(self, node: Node, known: Known) -> Node:
        """An argument whose type matters: only what is chosen by a condition may change."""
        parts = [self.as_typed(part, known) for part in node.parts]
        if node.kind == "choice":
            parts[0] = self.knowledge.condition(self.put_in(node.parts[0], known))
            return self.knowledge.fold(Node("choice", "?", parts))
        if node.kind in ("name", "member"):
            constant = self.put_in(node, known)
            return constant if constant.kind == "string" else node
        return Node(node.kind, node.text, parts)

    def block(self, statements: list[Statement], known: Known) -> list[Statement]:
        """The statements that are left; `known` becomes what holds after them."""
        result: list[Statement] = []
        for one in statements:
            if result and result[-1].kind in ENDS and one.kind != "label":
                continue
            result += self.statement(one, known)
        return result

    def statement(self, one: Statement, known: Known) -> list[Statement]:
        if one.kind == "label":
            known.clear()
            return [] if one.head.removeprefix("case ") in self.never else [one]
        if one.kind == "if":
            return self.branch(one, known)
        if one.kind in ("loop", "do", "switch", "block"):
            return self.loop(one, known)
        for part in one.declared:
            if part.value:
                part.value = self.fold(part.value, known)
            self.note(part.name, part.value, known)
        one.nodes = [node and self.fold(node, known) for node in one.nodes]
        for node in one.nodes:
            if node and node.kind == "assign" and node.text == "=" and node.parts[0].kind == "name":
                self.note(node.parts[0].text, node.parts[1], known)
            elif node:
                forget(known, assigned_in(node))
        return [one]

    def note(self, name: str, value: Node | None, known: Known) -> None:
        if value and name in self.tracked and self.is_plain(value):
            known[name] = value
        else:
            known.pop(name, None)

    def branch(self, one: Statement, known: Known) -> list[Statement]:
        assert one.nodes[0]
        condition = self.knowledge.condition(self.fold(one.nodes[0], known))
        truth = self.knowledge.truth(condition)
        if truth is not None:
            return self.block(one.body if truth else one.other, known)
        forget(known, assigned_in(condition))
        one.nodes = [condition]
        chosen, otherwise = dict(known), dict(known)
        if condition.kind == "name" and condition.text in self.tracked:
            otherwise[condition.text] = ZERO
        if condition.kind == "prefix" and condition.text == "!" and condition.parts[0].text in self.tracked:
            chosen[condition.parts[0].text] = ZERO
        one.body = self.block(one.body, chosen)
        one.other = self.block(one.other, otherwise)
        if one.body and one.body[-1].kind in ENDS:
            chosen = otherwise
        elif one.other and one.other[-1].kind in ENDS:
            otherwise = chosen
        known.clear()
        known.update({
            name: value for name, value in chosen.items() if name in otherwise and show(otherwise[name]) == show(value)
        })
        return self.shaped(one)

    def shaped(self, one: Statement) -> list[Statement]:
        """An if whose branches may be empty by now."""
        assert one.nodes[0]
        if not one.body and not one.other:
            return [] if self.knowledge.is_pure(one.nodes[0]) else [Statement("expression", nodes=one.nodes)]
        if not one.body:
            condition = one.nodes[0]
            negated = condition.kind == "prefix" and condition.text == "!"
            tight = condition.kind in ("name", "member", "call", "parentheses", "index")
            inner = condition if tight else Node("parentheses", "", [condition])
            one.nodes = [condition.parts[0] if negated else Node("prefix", "!", [inner])]
            one.body, one.other = one.other, []
        return [one]

    def loop(self, one: Statement, known: Known) -> list[Statement]:
        forget(known, self.assigned([one]))
        start = dict(known)
        one.nodes = [node and self.fold(node, start) for node in one.nodes]
        if one.kind == "loop" and one.head in ("while", "for"):
            at = 0 if one.head == "while" else 1
            condition = one.nodes[at]
            if condition:
                condition = one.nodes[at] = self.knowledge.condition(condition)
                truth = self.knowledge.truth(condition)
                if truth is False and (one.head == "while" or one.nodes[0] is None):
                    return []
        if one.kind == "do" and one.nodes[0] and self.knowledge.truth(one.nodes[0]) is False:
            if not any(inner.kind == "jump" and not inner.head.startswith("goto") for inner in one.walk()):
                return self.block(one.body, known)
        outer = self.never
        if one.kind == "switch" and one.nodes[0]:
            self.never = self.knowledge.impossible.get(one.nodes[0].text.lstrip("->."), set())
        one.body = self.block(one.body, start)
        self.never = outer
        return [one]


def assigned_in(node: Node) -> set[str]:
    return {
        part.parts[0].text
        for part in node.walk()
        if part.kind in ("assign", "postfix") or (part.kind == "prefix" and part.text in ("++", "--"))
    } - {""}


def forget(known: Known, names: Iterable[str]) -> None:
    for name in names:
        known.pop(name, None)
