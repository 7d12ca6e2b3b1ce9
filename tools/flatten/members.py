# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Members of structs that hold the same constant wherever they can be read, and those that nobody
reads.

A member is such a constant if all that is ever stored in it is. An object begins as zeros (calloc,
memset), which do not count where the function that makes them goes on to store something in the
member, whatever happens: nobody else can have seen the zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import source
from .expressions import Node, show
from .folding import ZERO, Knowledge
from .model import Function, Model, tag_in
from .statements import Statement

LOGICAL = ("==", "!=", "&&", "||")
Key = tuple[str, str]  # the tag of a struct, and a member


class Members:
    def __init__(self, model: Model, knowledge: Knowledge) -> None:
        self.model = model
        self.knowledge = knowledge
        self.stored: dict[Key, list[Node | None]] = {}  # None: who knows
        self.tainted: set[str] = set()  # members of whatever struct
        self.guarded: set[Key] = set()  # stored to where the member was seen not to be 0, which may be never
        for text in model.opaque:
            self.tainted |= set(re.findall(r"(?:->|\.)(\w+)", source.strip(text)))
        for tag, declaration in model.initial:
            for one in declaration.declared:
                if one.value:
                    self.initializer(tag, one.value)
                elif not one.stars:
                    self.zeros(tag, set())
        self.made = {tag for tag, _ in model.initial}  # those of which it is known how they begin
        for function in model.functions.values():
            self.read(function)
        for tag in model.members.keys() - self.made:
            self.zeros(tag, set())
        for tag in model.members:  # what lies within another struct begins as that does
            for outer in model.members.values():
                if any(kind == f"struct {tag}" and not stars for kind, stars, _ in outer.values()):
                    self.zeros(tag, set())

    def store(self, tag: str, name: str, value: Node | None) -> None:
        if name in self.model.members.get(tag, {}):
            self.stored.setdefault((tag, name), []).append(value)
        elif not tag:
            self.tainted.add(name)

    def zeros(self, tag: str, but: set[str]) -> None:
        for name in self.model.members.get(tag, {}):
            if name not in but:
                self.store(tag, name, ZERO)

    def unknown(self, tag: str) -> None:
        for name in self.model.members.get(tag, {}):
            self.store(tag, name, None)

    def initializer(self, tag: str, node: Node) -> None:
        if node.kind not in ("braces", "literal"):
            return
        tag = tag if node.kind == "braces" else self.model.tag_of(node, {})
        named = {part.text for part in node.parts if part.kind == "designator"}
        for part in node.parts:
            if part.kind == "designator":
                self.store(tag, part.text, part.parts[0])
                kind, stars, _ = self.model.members.get(tag, {}).get(part.text, ("", "", ""))
                if part.parts[0].kind == "braces" and not stars:
                    self.initializer(tag_in(kind), part.parts[0])
            elif part.kind != "braces":
                if show(part) != "0" or len(node.parts) > 1:  # in the order of the members
                    self.unknown(tag)
            else:
                self.initializer(tag, part)
        self.zeros(tag, named)

    def read(self, function: Function) -> None:
        scope = function.locals()
        for tag, at_once in self.constructed(function, scope):
            self.made.add(tag)
            self.zeros(tag, at_once)
        for node in function.nodes():  # what is allocated anywhere else may be read before anything is stored
            if node.kind == "assign" and node.parts[0].kind != "name" and "alloc" in show(node.parts[1]):
                self.zeros(self.model.tag_of(node.parts[0], scope), set())
        self.read_statements(function.body or [], scope, set())

    def read_statements(self, statements: list[Statement], scope: dict[str, str], guards: set[Key]) -> None:
        """`guards`: members that are not 0 here."""
        for statement in statements:
            for one in statement.declared:
                if one.value and one.value.kind == "braces":
                    self.initializer(scope.get(one.name, ""), one.value)
            for outer in statement.expressions():
                for node in outer.walk():
                    self.read_node(node, scope, guards)
            tested = statement.nodes[0] if statement.kind == "if" else None
            inner = guards | {self.key_of(tested, scope)} if tested and tested.kind == "member" else guards
            self.read_statements(statement.body, scope, inner)
            self.read_statements(statement.other, scope, guards)

    def key_of(self, member: Node, scope: dict[str, str]) -> Key:
        return self.model.tag_of(member.parts[0], scope), member.text.lstrip("->.")

    def read_node(self, node: Node, scope: dict[str, str], guards: set[Key]) -> None:
        if node.kind == "literal":
            self.initializer("", node)
        if is_call(node, "memcpy") or is_call(node, "memmove"):
            self.unknown(self.model.tag_of(node.parts[1], scope))
        changes = node.kind in ("assign", "postfix") or (node.kind == "prefix" and node.text in ("++", "--", "&"))
        if not changes:
            return
        target = node.parts[0]
        while target.kind in ("parentheses", "index"):
            target = target.parts[0]
        if target.kind != "member":
            return
        value = node.parts[1] if node.kind == "assign" and node.text == "=" else None
        key = self.key_of(target, scope)
        if key[0] and key in guards:
            self.guarded.add(key)
        else:
            self.store(*key, value)

    def constructed(self, function: Function, scope: dict[str, str]) -> Iterator[tuple[str, set[str]]]:
        """The structs that a function makes of zeros, and the members that it always stores to."""
        for name in scope:
            if scope[name] and any(makes_zeros(one, name) for one in function.statements()):
                at_once = {
                    node.parts[0].text.lstrip("->.")
                    for one in function.body or []
                    for node in one.nodes
                    if node and node.kind == "assign" and node.text == "=" and node.parts[0].kind == "member"
                    and node.parts[0].parts[0].text == name
                }  # fmt: skip
                yield scope[name], at_once

    def constants(self) -> dict[Key, Node]:
        found = {}
        for (tag, name), values in self.stored.items():
            kind, stars, dimensions = self.model.members[tag][name]
            known = {self.knowledge.value(value) if value and self.is_constant(value) else None for value in values}
            value = values[0]
            if len(known) > 1 or value is None or None in known or name in self.tainted:
                continue
            if dimensions or (tag_in(kind) and not stars):
                continue  # what is within it is asked for by itself
            is_zero = known == {0}
            if is_zero or (tag, name) not in self.guarded:
                found[(tag, name)] = Node("name", "NULL") if stars and is_zero else value
        return found

    def constant_variables(self) -> dict[str, Node]:
        """Numbers of the top level that nobody changes."""
        found = {
            one.name: one.value or ZERO
            for tag, declaration in self.model.initial
            for one in declaration.declared
            if not tag and not one.stars and not one.dimensions
        }
        touched = {
            node.parts[0].text
            for function in self.model.functions.values()
            for node in function.nodes()
            if node.kind in ("assign", "postfix") or (node.kind == "prefix" and node.text in ("&", "++", "--"))
        } | {word for text in self.model.opaque for word in source.identifiers(text)}
        return {name: value for name, value in found.items() if name not in touched and self.is_constant(value)}

    def is_constant(self, value: Node) -> bool:
        return value.kind in ("name", "number", "string") and self.knowledge.value(value) is not None

    def mentioned(self) -> set[Key]:
        """Members that are named anywhere; those of a struct that is not known have the tag ""."""
        found = {("", name) for name in self.tainted}
        for function in self.model.functions.values():
            scope = function.locals()
            for node in function.nodes():
                if node.kind == "member":
                    found.add(self.key_of(node, scope))
                elif node.kind == "designator":
                    found.add(("", node.text))
        for _, declaration in self.model.initial:
            for outer in declaration.expressions():
                found |= {("", node.text) for node in outer.walk() if node.kind == "designator"}
        return found

    def tested(self) -> set[Key]:
        """Members that somebody compares with NULL, or hands on to who may."""
        found: set[Key] = set()
        for function in self.model.functions.values():
            scope = function.locals()
            checked = {id(one): store for one, store in after_stores(function.body or [])}
            for statement in function.statements():
                condition = statement.nodes[0] if statement.kind == "if" else None
                if condition and show(condition) == "!" + checked.get(id(statement), ""):
                    continue  # it looks at what was stored just now
                asked = [node for node in statement.nodes if node] if statement.kind in ("if", "loop", "do") else []
                for node in (part for outer in statement.expressions() for part in outer.walk()):
                    if (node.kind == "binary" and node.text in LOGICAL) or (node.kind == "prefix" and node.text == "!"):
                        asked += node.parts
                    if node.kind == "choice":
                        asked += node.parts
                    if node.kind == "return" or (node.kind == "call" and node.parts[0].text in self.model.functions):
                        asked += node.parts[1:]
                    if node.kind == "assign":
                        asked.append(node.parts[1])
                asked += [one.value for one in statement.declared if one.value]
                asked += [node for node in statement.nodes if node] if statement.kind == "return" else []
                found |= {self.key_of(node, scope) for node in asked if node.kind == "member"}
        return found

    def unread(self) -> set[Key]:
        """Members that are stored to, and never read."""
        read: set[Key] = set()
        anywhere = set(self.tainted)
        for function in self.model.functions.values():
            scope = function.locals()
            for statement in function.statements():
                guarded = guarded_store(statement)
                for outer in statement.expressions():
                    stored_at = target_of(statement, outer)
                    for node in outer.walk():
                        if node.kind == "member" and node is not stored_at and show(node) != guarded:
                            key = self.key_of(node, scope)
                            read.add(key)
                            if not key[0]:
                                anywhere.add(key[1])
        return {
            (tag, name)
            for tag, names in self.model.members.items()
            for name in names
            if (tag, name) not in read and name not in anywhere
        }


def after_stores(body: list[Statement]) -> Iterator[tuple[Statement, str]]:
    """The statements that follow an assignment, and to what it is."""
    for before, one in zip(body, body[1:]):
        node = before.nodes[0] if before.kind == "expression" else None
        if node and node.kind == "assign":
            yield one, show(node.parts[0])
    for one in body:
        yield from after_stores(one.body)
        yield from after_stores(one.other)


def guarded_store(statement: Statement) -> str:
    """The member of "if (!member) member = x;"."""
    if statement.kind != "if" or statement.other or len(statement.body) != 1:
        return ""
    condition, store = statement.nodes[0], statement.body[0]
    target = store.nodes[0] and target_of(store, store.nodes[0]) if store.kind == "expression" else None
    if condition and target and condition.kind == "prefix" and condition.text == "!" and condition.parts[0] == target:
        return show(target)
    return ""


def target_of(statement: Statement, node: Node) -> Node | None:
    """The member that a statement does nothing but store to."""
    if statement.kind == "expression" and (is_call(node, "memcpy") or is_call(node, "memset")):
        target = node.parts[1]
        target = target.parts[0] if target.kind == "prefix" and target.text == "&" else target
        return target if target.kind == "member" else None
    if statement.kind != "expression" or node.kind not in ("assign", "postfix", "prefix"):
        return None
    if node.kind == "prefix" and node.text not in ("++", "--"):
        return None
    target = node.parts[0]
    while target.kind == "index":
        target = target.parts[0]
    return target if target.kind == "member" else None


def makes_zeros(statement: Statement, name: str) -> bool:
    """Whether it makes `name`, or what it points to, all zeros."""
    for one in statement.declared:
        if one.name == name and one.value and is_call(one.value, "calloc"):
            return True
    for node in statement.nodes:
        if node and node.kind == "assign" and show(node.parts[0]) == name and is_call(node.parts[1], "calloc"):
            return True
        if node and is_call(node, "memset") and show(node.parts[1]).lstrip("&") == name:
            return True
    return False


def is_call(node: Node, name: str) -> bool:
    return node.kind == "call" and node.parts[0].text == name
