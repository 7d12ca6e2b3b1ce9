# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Takes out of a program what its role does not need, over and over, until nothing changes: branches
that are never taken, functions that do nothing, members that nobody reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from . import layout, source
from .calls import Calls, outermost, put_in, silence
from .cleanup import clean, in_order, with_casts, with_values, with_voids
from .expressions import Node, Unknown, parse, show
from .flow import Flow
from .folding import ZERO, Knowledge
from .members import Key, Members, target_of
from .model import Function, Model, model_of, tag_in
from .source import Item
from .splice import splice
from .statements import Statement


def names_of(items: list[Item]) -> dict[str, int | str | None]:
    """What defines and enumerators come to."""
    knowledge = Knowledge()
    for item in items:
        if item.kind == "define" and "(" not in item.text.split()[1]:
            try:
                knowledge.names[item.names[0]] = knowledge.value(parse(source.strip_comments(item.text.split(None, 2)[2])))
            except Unknown:
                continue
        elif item.kind == "type" and item.text.startswith("enum"):
            value = -1
            for name, given in source.enumerators(source.strip(item.text)):
                value = int(given, 0) if given.isdigit() else value + 1
                knowledge.names[name] = value
    return {name: value for name, value in knowledge.names.items() if value is not None}


def unsigned_members(model: Model) -> set[str]:
    """Those that are of 32 or 64 bits without a sign in whatever struct of the program has them."""
    kinds: dict[str, set[bool]] = {}
    for members in model.members.values():
        for name, (kind, stars, dimensions) in members.items():
            is_unsigned = kind.split()[-1] in ("uint32_t", "uint64_t", "size_t") and not stars and not dimensions
            kinds.setdefault(name, set()).add(is_unsigned)
    return {name for name, found in kinds.items() if found == {True}}


class Simplifier:
    def __init__(self, items: list[Item], impossible: dict[str, set[str]]) -> None:
        self.items = items
        self.model = model_of(items)
        self.knowledge = Knowledge(names=names_of(items), impossible=impossible, unsigned=unsigned_members(self.model))

    def functions(self) -> list[Function]:
        return [one for one in self.model.functions.values() if one.body is not None]

    def run(self) -> None:
        self.rounds()
        while splice(Calls(self.model, self.knowledge)):
            self.rounds()
        for function in self.functions():
            silence(function)
            with_values(function, self.model.functions)
            with_voids(function)
            with_casts(function, self.model)
            in_order(function)
            text = layout.shown_function("\n".join(layout.filled_head(function.head())), function.body or [])
            function.item.text = text
            function.item.calls = source.identifiers(text) - {function.name} - function.own_names()

    def rounds(self) -> None:
        before = ""
        while before != self.state():
            before = self.state()
            self.round()

    def state(self) -> str:
        return "".join(repr((one.parameters, one.body)) for one in self.functions())

    def reachable(self) -> None:
        """Forgets the functions that main does not need: what they store does not count."""
        wanted, seen = ["main"], set()
        by_name = {name: item for item in self.items if item.kind in ("variable", "type", "define") for name in item.names}
        while wanted:
            name = wanted.pop()
            if name in seen:
                continue
            seen.add(name)
            function = self.model.functions.get(name)
            if function is not None and function.body is not None:
                own = function.own_names()
                wanted += [node.text for node in function.nodes() if node.kind == "name" and node.text not in own]
                wanted += [name for one in function.statements() for name in source.identifiers(one.head)]
                wanted += [node.text for node in function.nodes() if node.kind == "string" and node.text[0] != '"']
            elif function is not None:
                wanted += list(function.item.calls)
            elif name in by_name:
                wanted += list(by_name[name].calls)
        self.items = [item for item in self.items if item.kind != "function" or item.names[0] in seen]
        self.model.functions = {name: one for name, one in self.model.functions.items() if name in seen}
        self.model.opaque = [one.item.text for one in self.model.functions.values() if one.body is None]
        self.model.initial = [
            (tag, one) for tag, one in self.model.initial if any(part.name in seen for part in one.declared)
        ]

    def round(self) -> None:
        self.reachable()
        members = Members(self.model, self.knowledge)
        constants, variables = members.constants(), members.constant_variables()
        calls = Calls(self.model, self.knowledge)
        fixed = calls.constant_parameters()
        events = calls.possible_events()
        self.knowledge.pure = calls.pure_functions()
        self.knowledge.results = calls.results()
        for function in self.functions():
            silence(function)
            knowledge = replace(self.knowledge, possible=events.get(function.name, {}))
            always = {**variables, **fixed.get(function.name, {})}
            function.body = Flow(function, self.model, knowledge, constants, always).block(function.body or [], {})
        self.drop_stores(Members(self.model, self.knowledge))
        self.drop_empty(Calls(self.model, self.knowledge).empty_functions())
        Calls(self.model, self.knowledge).drop_parameters()
        self.inline(Calls(self.model, self.knowledge))
        for function in self.functions():
            clean(function, self.knowledge)
            for one in function.statements():
                outermost(one)

    def drop_stores(self, members: Members) -> None:
        """Takes out what is stored in members that nobody reads."""
        unread, tested = members.unread(), members.tested()
        for function in self.functions():
            scope = function.locals()

            for one in function.statements():
                one.change(lambda node: self.without_unread(node, unread))
                for part in one.declared:
                    if part.value and part.value.kind == "braces" and not part.dimensions:
                        part.value.parts = self.read_parts(part.value, tag_in(one.head), unread)

            def stays(one: Statement, scope: dict[str, str] = scope) -> bool:
                node = one.nodes[0] if one.kind == "expression" else None
                target = node and target_of(one, node)
                if node is None or target is None:
                    return True
                key = (self.model.tag_of(target.parts[0], scope), target.text.lstrip("->."))
                is_null = node.kind == "assign" and show(node.parts[1]) == "NULL"
                if is_null and key[0] in self.model.members and key not in tested:
                    return False  # nobody looks whether it is there still
                return key not in unread or not all(self.knowledge.is_pure(part) for part in node.parts[1:])

            function.body = kept(function.body or [], stays, self.knowledge)

    def without_unread(self, node: Node, unread: set[Key]) -> Node:
        """A literal of a struct without what nobody reads."""
        if node.kind == "literal":
            return Node("literal", node.text, self.read_parts(node, self.model.tag_of(node, {}), unread))
        return node

    def read_parts(self, node: Node, tag: str, unread: set[Key]) -> list[Node]:
        return [
            part for part in node.parts
            if part.kind != "designator" or (tag, part.text) not in unread or not self.knowledge.is_pure(part)
        ] or [ZERO]  # fmt: skip

    def drop_empty(self, empty: set[str]) -> None:
        def stays(one: Statement) -> bool:
            node = one.nodes[0] if one.kind == "expression" else None
            if node and node.kind == "call" and node.parts[0].text == "free" and self.knowledge.value(node.parts[1]) == 0:
                return False
            if node and node.kind in ("name", "number", "member", "choice") and self.knowledge.is_pure(node):
                return False
            if node and node.kind == "assign" and node.text in ("+=", "-=", "|=") and show(node.parts[1]) == "0":
                return not self.knowledge.is_pure(node.parts[0])
            return not (node and node.kind == "call" and node.parts[0].text in empty
                        and all(self.knowledge.is_pure(part) for part in node.parts[1:]))  # fmt: skip

        for function in self.functions():
            function.body = kept(function.body or [], stays, self.knowledge)

    def inline(self, calls: Calls) -> None:
        """Puts short functions where they are called."""
        short = calls.short_functions()

        def change(node: Node) -> Node:
            name = node.parts[0].text if node.kind == "call" else ""
            if name not in short:
                return node
            return put_in(node, *short[name], self.knowledge) or node

        for function in self.functions():
            if function.name not in short:
                for one in function.statements():
                    one.change(change)


def kept(body: list[Statement], stays: Callable[[Statement], bool], knowledge: Knowledge) -> list[Statement]:
    """The statements without those that do not stay, and without an if that is left with nothing."""
    result = []
    for one in body:
        had = bool(one.body or one.other)
        one.body, one.other = kept(one.body, stays, knowledge), kept(one.other, stays, knowledge)
        if not stays(one):
            continue
        if one.kind == "if" and had and not one.body and not one.other:
            if one.nodes[0] and not knowledge.is_pure(one.nodes[0]):
                result.append(Statement("expression", nodes=one.nodes, above=one.above, blank=one.blank))
            continue
        result.append(one)
    return result


def simplify(items: list[Item], impossible: dict[str, set[str]]) -> tuple[list[Item], set[Key]]:
    """The items that are left, functions rewritten; and the members that those still name."""
    simplifier = Simplifier(items, impossible)
    simplifier.run()
    return simplifier.items, Members(simplifier.model, simplifier.knowledge).mentioned()

