# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the calls of a program say of its functions: parameters that are always the same, or that
nobody reads; functions that do nothing, or are no more than another expression.
"""

from __future__ import annotations

from .expressions import Node, is_tight, replaced, show
from .flow import assigned_in
from .folding import COMPARISONS, Knowledge
from .model import Function, Model
from .statements import Statement


class Calls:
    def __init__(self, model: Model, knowledge: Knowledge) -> None:
        self.model = model
        self.knowledge = knowledge
        self.calls: dict[str, list[Node]] = {name: [] for name in model.functions}
        self.callers: dict[str, str] = {}  # of each function one that calls it
        self.fixed: set[str] = {"main"}  # functions whose address is taken, or that we do not see through
        for function in model.functions.values():
            for outer in (node for one in function.statements() for node in one.expressions()):
                self.look(outer, function.name)
        for _, declaration in model.initial:
            for outer in declaration.expressions():
                self.look(outer)
        for text in model.opaque:
            self.fixed |= {name for name in model.functions if name in text}

    def look(self, node: Node, caller: str = "") -> None:
        if node.kind == "call" and node.parts[0].text in self.calls:
            self.calls[node.parts[0].text].append(node)
            self.callers[node.parts[0].text] = caller
            for part in node.parts[1:]:
                self.look(part, caller)
            return
        if node.kind == "name" and node.text in self.calls:
            self.fixed.add(node.text)
        for part in node.parts:
            self.look(part, caller)

    def open_functions(self) -> list[Function]:
        """Those whose calls are all known, and that may be changed."""
        return [
            one
            for name, one in self.model.functions.items()
            if name not in self.fixed and one.body is not None and self.calls[name] and "..." not in one.head()
        ]

    def constant_parameters(self) -> dict[str, dict[str, Node]]:
        """Of each function the parameters that are the same constant in every call."""
        found: dict[str, dict[str, Node]] = {}
        for function in self.open_functions():
            changed = {name for node in function.nodes() for name in assigned_in(node)}
            for at, one in enumerate(function.parameters):
                values = [call.parts[1 + at] for call in self.calls[function.name]]
                if len({show(value) for value in values}) > 1 or one.name in changed:
                    continue
                value = values[0]
                is_function = value.kind == "name" and value.text in self.model.functions
                is_known = self.knowledge.value(value) is not None and value.kind in ("name", "number", "string")
                if is_function or is_known:
                    found.setdefault(function.name, {})[one.name] = value
        return found

    def possible_events(self) -> dict[str, dict[str, set[str]]]:
        """Of each function the constants that a parameter can have, where they are all known."""
        found: dict[str, dict[str, set[str]]] = {}
        for function in self.open_functions():
            for at, one in enumerate(function.parameters):
                values = {self.knowledge.value(call.parts[1 + at]) for call in self.calls[function.name]}
                if all(isinstance(value, str) and value[0] != '"' for value in values):
                    found.setdefault(function.name, {})[one.name] = {str(value) for value in values}
        return found

    def drop_parameters(self) -> bool:
        """Takes out those that nobody reads, and what is passed for them."""
        dropped = False
        for function in self.open_functions():
            silence(function)
            used = {node.text for node in function.nodes() if node.kind == "name"}
            for at in reversed(range(len(function.parameters))):
                passed = [call.parts[1 + at] for call in self.calls[function.name]]
                if function.parameters[at].name in used or not all(self.knowledge.is_pure(one) for one in passed):
                    continue
                del function.parameters[at]
                for call in self.calls[function.name]:
                    del call.parts[1 + at]
                dropped = True
        return dropped

    def short_functions(self) -> dict[str, tuple[Function, Node]]:
        """Those that are one expression, and called once, or no more than a name or a number."""
        found = {}
        for function in self.open_functions():
            body = function.body or []
            if len(body) != 1 or body[0].kind not in ("return", "expression") or not body[0].nodes[0]:
                continue
            node = body[0].nodes[0]
            returns = body[0].kind == "return"
            if returns == function.returns.strip().endswith("void") or any(
                one.kind == "call" and one.parts[0].text == function.name for one in node.walk()
            ):
                continue
            is_variable = node.kind == "name" and not function.parameters
            if len(self.calls[function.name]) == 1 or is_variable or self.is_plain_call(node, function):
                found[function.name] = (function, node)
        return found

    def is_plain_call(self, node: Node, function: Function) -> bool:
        """Whether a function is no more than a call of another one with some of its own arguments."""
        return node.kind == "call" and sum(part.kind != "number" for part in node.parts) <= 2 + len(function.parameters) and all(
            part.kind in ("name", "number") or (part.kind == "member" and part.parts[0].kind == "name") for part in node.parts[1:]
        )  # fmt: skip

    def results(self) -> dict[str, Node]:
        """Functions that do nothing but return a constant."""
        found = {}
        for function in self.open_functions():
            body = function.body or []
            node = body[0].nodes[0] if len(body) == 1 and body[0].kind == "return" else None
            if node and node.kind in ("name", "number", "string", "prefix") and self.knowledge.value(node) is not None:
                found[function.name] = node
        return found

    def empty_functions(self) -> set[str]:
        found = set()
        for function in self.open_functions():
            silence(function)
            if not function.body and function.returns.strip().endswith("void"):
                found.add(function.name)
        return found

    def pure_functions(self) -> set[str]:
        """Those that only read."""
        found = set(self.knowledge.pure)
        for function in self.model.functions.values():
            if function.body and all(
                one.kind in ("return", "if", "declaration", "switch", "label")
                and all(self.knowledge.is_pure(node) for node in one.expressions())
                for one in function.statements()
            ):
                found.add(function.name)
        return found


def silence(function: Function) -> None:
    """Takes out "(void)parameter;"."""
    names = {one.name for one in function.parameters}
    function.body = [
        one
        for one in function.body or []
        if not (one.kind == "expression" and one.nodes[0] and one.nodes[0].kind == "cast"
                and one.nodes[0].text == "void" and one.nodes[0].parts[0].text in names)
    ]  # fmt: skip


def put_in(call: Node, function: Function, node: Node, knowledge: Knowledge) -> Node | None:
    """What a function is, in place of a call of it; None where that would not be the same."""
    arguments = {one.name: value for one, value in zip(function.parameters, call.parts[1:])}
    uses = [part.text for part in node.walk() if part.kind == "name" and part.text in arguments]
    for name, value in arguments.items():
        if not knowledge.is_pure(value) and (uses.count(name) != 1 or len(arguments) > 1):
            return None
        if uses.count(name) > 1 and value.kind not in ("name", "number", "string", "member"):
            return None

    def change(part: Node) -> Node:
        if part.kind != "name" or part.text not in arguments:
            return part
        value = arguments[part.text]
        return value if is_tight(value) else Node("parentheses", "", [value])

    if assigned_in(node) & set(arguments):
        return None
    inner = replaced(node, change)
    inner = tidied(inner)
    return inner if is_tight(inner) else Node("parentheses", "", [inner])


def tidied(node: Node) -> Node:
    """Without parentheses around an argument, and without "*(&x)" and "(&x)->"."""

    def change(one: Node) -> Node:
        if one.kind == "call" and one.parts[-1].text == '""' and one.parts[-2].text.endswith('%s"'):
            one.parts[-2:] = [Node("string", one.parts[-2].text[:-3] + '"')]
        if one.kind in ("call", "index"):
            start = 1
            one.parts[start:] = [
                part.parts[0] if part.kind == "parentheses" and part.parts[0].kind != "comma" else part
                for part in one.parts[start:]
            ]
        if one.kind == "binary" and one.text in ("&&", "||"):
            one.parts = [
                part.parts[0] if part.kind == "parentheses" and part.parts[0].text in COMPARISONS else part
                for part in one.parts
            ]
        inner = one.parts[0] if one.parts else one
        if one.kind == "cast" and inner.kind == "parentheses" and inner.parts[0].kind == "cast":
            one.parts = inner.parts
        if one.kind == "prefix" and one.text == "*" and inner.kind == "parentheses" and inner.parts[0].text == "&":
            return inner.parts[0].parts[0] if inner.parts[0].kind == "prefix" else one
        if one.kind == "member" and one.text.startswith("->") and inner.kind == "parentheses":
            address = inner.parts[0]
            if address.kind == "prefix" and address.text == "&":
                return Node("member", "." + one.text[2:], address.parts)
        if one.kind in ("assign",) and one.parts[1].kind == "parentheses":
            one.parts[1] = one.parts[1].parts[0]
        return one

    return replaced(node, change)


def outermost(statement: Statement) -> None:
    """Without parentheses around all that a statement is or returns, or an if asks."""
    statement.nodes = [
        node.parts[0]
        if node and node.kind == "parentheses" and (node.parts[0].kind != "assign" or statement.kind == "expression")
        else node and tidied(node)
        for node in statement.nodes
    ]
    for one in statement.declared:
        if one.value and one.value.kind == "parentheses":
            one.value = one.value.parts[0]
