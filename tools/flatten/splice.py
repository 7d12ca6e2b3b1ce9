# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Puts the body of a function that is called once in place of the call, where the result stays short.

Three kinds of calls are understood: "f(x);" of a function that never returns early, "return f(x);",
and "ret = f(x);" with an "if (ret)" behind it that leaves. All else stays a call.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator

from . import layout
from .calls import Calls
from .cleanup import mentions
from .expressions import Node, is_tight, show
from .flow import assigned_in
from .model import Function
from .statements import Statement

LONGEST = 54  # lines that a function may have after it
ERRORS = re.compile(r"E[A-Z]+")


def splice(calls: Calls) -> bool:
    """Puts in one function after the other; whether there was any."""
    gone: set[str] = set()
    lengths = {one.name: length(one) for one in calls.open_functions()}
    for name in sorted((name for name in lengths if len(calls.calls[name]) == 1), key=lambda name: lengths[name]):
        caller = calls.model.functions.get(calls.callers[name])
        if caller is None or caller.body is None or caller.name == name:
            continue  # it has gone into another itself: the next time
        whole = lengths.get(caller.name, 0) + lengths[name]
        if whole < LONGEST and Splicer(calls, caller, calls.model.functions[name]).run():
            lengths[caller.name] = whole
            gone.add(name)
    return bool(gone)


def length(function: Function) -> int:
    return len(layout.shown_block(function.body or [], 1))


class Splicer:
    def __init__(self, calls: Calls, caller: Function, function: Function) -> None:
        self.calls = calls
        self.caller = caller
        self.function = function
        self.outer = {part.name: (one.head, part) for one in caller.statements() for part in one.declared}

    def run(self) -> bool:
        body = self.caller.body
        assert body is not None
        for statements in blocks(body):
            for at, one in enumerate(statements):
                if self.is_call(one):
                    return self.put_in(statements, at, statements is body)
        return False

    def is_call(self, one: Statement) -> bool:
        node = one.nodes[0] if one.nodes else None
        if one.kind == "expression" and node and node.kind == "assign" and node.text == "=" and show(node.parts[0]) == "ret":
            node = node.parts[1]
        is_own = node is not None and node.kind == "call" and node.parts[0].text == self.function.name
        return is_own and one.kind in ("expression", "return")

    def put_in(self, statements: list[Statement], at: int, is_top: bool) -> bool:
        one = statements[at]
        node = one.nodes[0]
        assert node
        stored = node.kind == "assign"
        call = node.parts[1] if stored else node
        names = self.renamed(call)
        if names is None or not self.may_share(statements, at, stored or one.kind == "return", is_top):
            return False
        body = copy.deepcopy(self.function.body or [])
        if one.kind == "expression" and not stored:
            if any(inner.kind in ("return", "label") for inner in walked(body)):
                return False
        elif stored:
            if at + 1 >= len(statements) or not self.leave(body, statements[at + 1]):
                return False
        for inner in walked(body):
            inner.change(bound(names))
        moved = self.declarations(body)
        if moved is None:
            return False
        if moved and not moved[0].above:
            moved[0].above = one.above
        elif moved:
            moved[0].above = one.above or moved[0].above
        if moved:
            moved[0].blank = one.blank
        at = next(number for number, other in enumerate(statements) if other is one)  # the head may have grown
        statements[at : at + 1] = moved
        self.function.body = None  # gone: nobody calls it any more
        del self.calls.model.functions[self.function.name]
        return True

    def renamed(self, call: Node) -> dict[str, Node] | None:
        """What stands for each parameter; None if that would be too much."""
        names: dict[str, Node] = {}
        changed = {name for node in self.function.nodes() for name in assigned_in(node)}
        own = {part.name for one in self.function.statements() for part in one.declared}
        for one, value in zip(self.function.parameters, call.parts[1:]):
            uses = sum(node.kind == "name" and node.text == one.name for node in self.function.nodes())
            simple = value.kind in ("name", "number", "string") or (
                value.kind == "member" and (uses == 1 or not is_stored(self.others(), value.text))
            )
            address = value.kind == "prefix" and value.text == "&" and value.parts[0].kind in ("name", "member")
            if one.name in changed or not (simple or (address and uses <= 4)) or value.text in own:
                return None
            if {part.text for part in value.walk()} & (own | changed):
                return None
            names[one.name] = value if is_tight(value) else Node("parentheses", "", [value])
        return names

    def others(self) -> list[Function]:
        return [one for one in self.calls.model.functions.values() if one is not self.caller]

    def may_share(self, statements: list[Statement], at: int, is_stored: bool, is_top: bool) -> bool:
        """Whether the function's variables can be the caller's, where they have the same names."""
        for one in self.function.statements():
            for part in one.declared:
                mine = self.outer.get(part.name)
                if part.name in {other.name for other in self.caller.parameters}:
                    return False
                if mine is None:
                    continue
                if mine[0] != one.head or (mine[1].stars, mine[1].dimensions) != (part.stars, part.dimensions):
                    return False
                if part.dimensions or "struct" in one.head or (part.name != "ret" or not is_stored):
                    if mentions(statements[at + 1 :], part.name) or not is_top:
                        return False
        labels = {one.head for one in self.function.statements() if one.kind == "label"}
        return not labels & {one.head for one in self.caller.statements() if one.kind == "label"}

    def leave(self, body: list[Statement], test: Statement) -> bool:
        """Makes of each return what `test`, which follows the call, does with its value."""
        leaves = test.body[0] if len(test.body) == 1 and test.kind == "if" and not test.other else None
        if leaves is None or show(test.nodes[0] or Node("", "")) != "ret" or not body or body[-1].kind != "return":
            return False
        if any(one.kind == "label" for one in walked(body)):
            return False
        is_return = leaves.kind == "return" and show(leaves.nodes[0] or Node("name", "")) == "ret"
        if not is_return and not (leaves.kind == "jump" and leaves.head.startswith("goto ")):
            return False
        last = body.pop()
        if any(one.kind == "return" and not self.is_error(one) for one in walked(body)):
            return False
        if not is_return:
            for inner in blocks(body):
                for number, one in reversed(list(enumerate(inner))):
                    if one.kind == "return":
                        inner[number : number + 1] = left_by(one, leaves)
        value = last.nodes[0] or Node("name", "ret")
        body.append(Statement("expression", nodes=[Node("assign", "=", [Node("name", "ret"), value])]))
        return True

    def is_error(self, one: Statement) -> bool:
        """Whether a return is of an error, and never of 0."""
        node = one.nodes[0]
        if node is None:
            return False
        if node.kind == "call":
            return "report" in node.parts[0].text
        return node.kind == "name" and (ERRORS.fullmatch(node.text) is not None or node.text == "ret")

    def declarations(self, body: list[Statement]) -> list[Statement] | None:
        """Moves them to the head of the caller; what they begin with is stored in place."""
        rest: list[Statement] = []
        wanted = []
        for number, one in enumerate(body):
            if one.kind != "declaration":
                if number and body[number - 1].kind == "declaration":
                    one.blank = False  # it was the end of the declarations
                rest.append(one)
                continue
            for part in one.declared:
                if part.value and (part.value.kind == "braces" or part.dimensions or one.head.startswith(("static", "const "))):
                    if not (one.head.startswith("static") or (one.head.startswith("const ") and part.stars)):
                        return None
                if part.value and not one.head.startswith("static"):
                    store = Node("assign", "=", [Node("name", part.name), part.value])
                    rest.append(Statement("expression", nodes=[store], above=one.above))
                    part.value = None
                if part.name not in self.outer:
                    wanted.append((one.head, part))
        top = self.caller.body
        assert top is not None
        for head, part in wanted:
            same = next((one for one in top if one.kind == "declaration" and one.head == head and not part.value), None)
            if same:
                same.declared.append(part)
            else:
                top.insert(0, Statement("declaration", head, declared=[part]))
        return rest


def bound(names: dict[str, Node]) -> Callable[[Node], Node]:
    return lambda part: names.get(part.text, part) if part.kind == "name" else part


def left_by(one: Statement, leaves: Statement) -> list[Statement]:
    value = one.nodes[0]
    goes = Statement("jump", leaves.head)
    if value is None or show(value) == "ret":
        goes.above = one.above
        return [goes]
    store = Node("assign", "=", [Node("name", "ret"), value])
    return [Statement("expression", nodes=[store], above=one.above, behind=one.behind), goes]


def is_stored(functions: Iterable[Function], member: str) -> bool:
    """Whether one of the functions may change a member of that name."""
    return any(
        node.kind in ("assign", "postfix", "prefix") and node.text not in ("!", "-", "*", "~")
        and node.parts[0].kind == "member" and node.parts[0].text.lstrip("->.") == member.lstrip("->.")
        for one in functions
        for node in one.nodes()
    )  # fmt: skip


def walked(body: list[Statement]) -> Iterator[Statement]:
    for one in body:
        yield from one.walk()


def blocks(body: list[Statement]) -> Iterator[list[Statement]]:
    """The list, and all lists of statements within it."""
    yield body
    for one in body:
        yield from blocks(one.body)
        yield from blocks(one.other)
