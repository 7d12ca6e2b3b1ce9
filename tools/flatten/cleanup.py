# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What is left over in a function once something has gone from it: variables, labels, detours."""

from __future__ import annotations

import re
from collections.abc import Container

from .expressions import Node, show
from .folding import Knowledge
from .flow import ENDS, assigned_in
from .model import Function, Model
from .statements import Statement


FIRST = {"struct our_completion": "wr_id", "struct our_cm_event": "status"}  # a member that may begin as 0


def clean(function: Function, knowledge: Knowledge) -> None:
    """Changes the function until there is nothing more to clean up."""
    assert function.body is not None
    before = ""
    while before != repr(function.body):
        before = repr(function.body)
        shorten_jumps(function)
        drop_labels(function)
        function.body = straightened(function.body, knowledge, function.returns.strip().endswith("void"))
        drop_lost(function, knowledge)
        drop_locals(function, knowledge)
        coalesce(function)


def in_order(function: Function) -> None:
    """Puts the variables at its head that begin with no value behind those that do, and int last."""
    body = function.body or []
    end = next((at for at, one in enumerate(body) if one.kind != "declaration"), len(body))

    used = {node.text for one in body[:end] for outer in one.expressions() for node in outer.walk()}

    def rank(one: Statement) -> int:
        if one.head.startswith("static") or any(part.value or part.name in used for part in one.declared):
            return 0
        return 2 if one.head == "int" else 1

    if not any(one.above for one in body[:end]):
        function.body = sorted(body[:end], key=rank) + body[end:]


def drop_labels(function: Function) -> None:
    """Takes out labels that nobody jumps to."""
    wanted = {one.head.removeprefix("goto ") for one in function.statements() if one.kind == "jump"}

    def is_wanted(one: Statement) -> bool:
        return one.kind != "label" or one.head.startswith("case ") or one.head == "default" or one.head in wanted

    function.body = [one for one in function.body or [] if is_wanted(one)]


def shorten_jumps(function: Function) -> None:
    """Returns at once where a jump leads to a return, and takes out what is then not reached."""
    body = function.body or []
    ends = {
        f"goto {one.head}": follows
        for one, follows in zip(body, body[1:])
        if one.kind == "label" and follows.kind == "return" and not follows.above and not one.behind
    }
    for one in function.statements():
        if one.kind == "jump" and one.head in ends:
            one.kind, one.head, one.nodes = "return", "", list(ends[one.head].nodes)
    result: list[Statement] = []
    for one in body:
        if one.kind == "label" or not result or result[-1].kind not in ("return", "jump"):
            result.append(one)
    function.body = result


def straightened(body: list[Statement], knowledge: Knowledge, is_void: bool, depth: int = 0) -> list[Statement]:
    result: list[Statement] = []
    for one in body:
        one.body = straightened(one.body, knowledge, is_void, depth + 1)
        one.other = straightened(one.other, knowledge, is_void, depth + 1)
        if result and one.kind == "label" and result[-1].kind == "jump" and result[-1].head == f"goto {one.head}":
            result.pop()  # to where it goes on in any case
        if result and is_zero_already(one, result):
            continue
        if stored_name(one) and one.nodes[0] and show(one.nodes[0].parts[1]) == stored_name(one):
            continue  # "ret = ret;"
        if is_zero_anyway(one):
            continue
        last = result[-1] if result else None
        if last and asks_again(last, one):
            last.body += one.body
            continue
        if last and is_overwritten(last, one, knowledge):
            result.pop()
            one.above, one.blank = one.above or last.above, one.blank or last.blank
        if one.kind == "block" and not any(inner.kind == "declaration" for inner in one.body):
            result += one.body
        else:
            result.append(one)
        shorten_return(result)
    if is_void and depth == 0 and result and result[-1].kind == "return":
        result.pop()
    return result


def stored_name(one: Statement) -> str:
    """The variable that a statement stores to, if that is all it does."""
    node = one.nodes[0] if one.kind == "expression" else None
    if node is None or node.kind != "assign" or node.text != "=" or node.parts[0].kind != "name":
        return ""
    return node.parts[0].text


def mentions(body: list[Statement], name: str) -> bool:
    """Whether the value that a variable has before these statements may matter to them, or to what follows."""
    for one in body:
        if stored_name(one) == name and one.nodes[0]:
            return any(part.text == name for part in one.nodes[0].parts[1].walk())
        if any(part.text == name for outer in one.expressions() for part in outer.walk()):
            return True
        if one.kind in ("jump", "label"):
            return True
        if one.kind == "return":
            return False
        if one.kind == "if":
            if any(mentions(branch, name) for branch in (one.body, one.other)):
                return True
        elif any(
            inner.kind == "jump" or any(part.text == name for outer in inner.expressions() for part in outer.walk())
            for inner in one.walk()
        ):
            return True
    return False


def drop_lost(function: Function, knowledge: Knowledge) -> None:
    """Takes out what is stored in a variable at the top of a function and not read before the next store."""
    body = function.body or []
    if any(node.kind == "prefix" and node.text == "&" and node.parts[0].kind == "name" and node.parts[0].text == "ret"
           for node in function.nodes()):  # fmt: skip
        return
    for at in reversed(range(len(body))):
        node = body[at].nodes[0] if stored_name(body[at]) == "ret" else None
        if node and knowledge.is_pure(node.parts[1]) and not mentions(body[at + 1 :], "ret"):
            if any(one.kind in ENDS for one in body[at + 1 :]) or function.returns.strip().endswith("void"):
                if at + 1 < len(body) and body[at].above and not body[at + 1].above:
                    body[at + 1].above = body[at].above
                del body[at]


def is_zero_anyway(one: Statement) -> bool:
    """Whether it is "if (!ret) ret = 0;"."""
    name = stored_name(one.body[0]) if one.kind == "if" and len(one.body) == 1 and not one.other else ""
    return name != "" and returned(one) == f"!{name}" and show(one.body[0].nodes[0].parts[1]) == "0"  # type: ignore[union-attr]


def is_zero_already(one: Statement, before: list[Statement]) -> bool:
    """Whether it stores NULL in what has just been made all zeros."""
    node = one.nodes[0] if one.kind == "expression" else None
    if node is None or node.kind != "assign" or node.text != "=" or node.parts[0].kind != "member" or one.above:
        return False
    name, value = node.parts[0].parts[0].text, show(node.parts[1])
    for other in reversed(before):
        outer = other.nodes[0] if other.kind == "expression" else None
        if outer is None:
            return False
        if outer.kind == "call" and outer.parts[0].text == "memset":
            return value in ("NULL", "0") and show(outer.parts[1]).lstrip("&") == name and show(outer.parts[2]) == "0"
        if outer.kind != "assign" or not show(outer.parts[0]).startswith((name + "->", name + ".")) or outer.parts[0] == node.parts[0]:
            return False
    return False


def asks_again(one: Statement, follows: Statement) -> bool:
    """Whether both are "if (ret)", and the first does not change that."""
    if not (one.kind == follows.kind == "if") or one.other or follows.other or follows.above:
        return False
    if not (returned(one) == returned(follows) == "ret") or "ret" in changed_in(one.body):
        return False
    return not any(inner.kind in ENDS for outer in one.body for inner in outer.walk())


def is_overwritten(one: Statement, follows: Statement, knowledge: Knowledge) -> bool:
    """Whether what `one` stores is lost at once."""
    name = stored_name(one)
    if not name or stored_name(follows) != name or not one.nodes[0] or not follows.nodes[0]:
        return False
    reads = {part.text for part in follows.nodes[0].parts[1].walk()}
    return one.nodes[0].parts[0].kind == "name" and knowledge.is_pure(one.nodes[0].parts[1]) and name not in reads


def shorten_return(result: list[Statement]) -> None:
    """Of "ret = X; if (ret) return ret; return 0;" leaves "return X;"."""
    last = result[-1]
    if last.kind != "return" or last.above or len(result) < 2:
        return
    if returned(last) in ("0", "ret") and is_return_of_ret(result[-2]) and stored_name(result[-3:][0]) == "ret":
        last.nodes = [Node("name", "ret")]
        del result[-2]
    node = result[-2].nodes[0] if stored_name(result[-2]) == "ret" and returned(last) == "ret" else None
    if node:
        last.nodes = [node.parts[1]]
        last.above, last.blank = result[-2].above, result[-2].blank
        del result[-2]


def returned(one: Statement) -> str:
    return show(one.nodes[0]) if one.nodes and one.nodes[0] else ""


def is_return_of_ret(one: Statement) -> bool:
    """Whether it is "if (ret) return ret;"."""
    return (
        one.kind == "if" and not one.other and len(one.body) == 1 and one.body[0].kind == "return"
        and not (one.above or one.body[0].above) and returned(one) == returned(one.body[0]) == "ret"
    )  # fmt: skip


def coalesce(function: Function) -> None:
    """Makes one variable of two where the second takes over the first one's value, and begins with that."""
    body = function.body or []
    declared = {part.name: (one.head, part) for one in body if one.kind == "declaration" for part in one.declared}
    shared = {
        node.parts[0].text for node in function.nodes() if node.kind == "prefix" and node.text == "&"
    }  # fmt: skip
    for at, one in enumerate(body):
        node = one.nodes[0] if stored_name(one) in declared else None
        if node is None or node.parts[1].text not in declared or one.above:
            continue
        old, new = node.parts[1].text, node.parts[0].text
        (head, first), (other_head, second) = declared[old], declared[new]
        alike = (head, first.stars, first.dimensions) == (other_head, second.stars, second.dimensions)
        if not alike or second.value or old == new or {old, new} & shared:
            continue
        rest = body[at + 1 :]
        if names_in(body[:at], {new}) or (names_in(rest, {old}) and changed_in(rest) & {old, new}):
            continue

        def renamed(part: Node, old: str = old, new: str = new) -> Node:
            return Node("name", new) if part.kind == "name" and part.text == old else part

        for outer in body[:at] + rest:
            for inner in outer.walk():
                inner.change(renamed)
        second.value, first.value = first.value, None
        function.body = body[:at] + body[at + 1 :]
        return  # clean comes again, and takes out the declaration


def changed_in(body: list[Statement]) -> set[str]:
    return {
        name for one in body for inner in one.walk() for outer in inner.expressions() for name in assigned_in(outer)
    }  # fmt: skip


def with_values(function: Function, ours: Container[str]) -> None:
    """Gives a value to what a function of ours is to set: the compiler does not see that an error is never 0."""
    handed = {
        part.parts[0].text
        for node in function.nodes()
        if node.kind == "call" and node.parts[0].text in ours
        for part in node.parts[1:]
        if part.kind == "prefix" and part.text == "&"
    }
    for one in function.statements():
        for part in one.declared:
            if part.name not in handed or part.value or part.dimensions or not one.head.startswith("struct our_"):
                continue
            if part.stars:
                part.value = Node("name", "NULL")
            elif one.head in FIRST:
                part.value = Node("braces", "", [Node("designator", FIRST[one.head], [Node("number", "0")])])


def with_voids(function: Function) -> None:
    """Says of each parameter that nobody reads, and that must stay, that this is meant."""
    used = {node.text for node in function.nodes() if node.kind == "name"}
    body = function.body or []
    at = next((at for at, one in enumerate(body) if one.kind != "declaration"), len(body))
    body[at:at] = [
        Statement("expression", nodes=[Node("cast", "void", [Node("name", one.name)])])
        for one in function.parameters
        if one.name not in used and one.name != "..." and function.name != "main"
    ]


def with_casts(function: Function, model: Model) -> None:
    """Converts what is allocated, or handed on as void *, as C++ wants it."""
    generic = {one.name for one in function.parameters if re.match(r"(?:const )?void \*", one.text)}
    local = {part.name: f"{one.head} {part.stars}" for one in function.statements() for part in one.declared}
    scope = function.locals()

    def cast(kind: str, value: Node | None) -> Node | None:
        if value is None or not kind.endswith(" *") or kind.endswith("void *"):
            return value
        if value.kind == "cast" and value.text == "void *":
            return Node("cast", kind, value.parts)
        is_generic = (
            (value.kind == "call" and value.parts[0].text in ("calloc", "malloc", "memchr"))
            or (value.kind == "member" and value.text.endswith(("context", "->user_context")))
            or (value.kind == "name" and value.text in generic | {name for name, kind in local.items() if kind == "void *"})
        )
        return Node("cast", kind, [value]) if is_generic else value

    for one in function.statements():
        for part in one.declared:
            part.value = cast(f"{one.head} {part.stars}", part.value)
            if one.head.startswith(("static const struct ", "static const union ")) and not part.value:
                part.value = Node("braces", "")
        node = one.nodes[0] if one.kind == "expression" else None
        if node is None or node.kind != "assign" or node.text != "=":
            continue
        target, kind = node.parts[0], ""
        if target.kind == "name":
            kind = local.get(target.text, "")
        elif target.kind == "member":
            of = model.members.get(model.tag_of(target.parts[0], scope), {}).get(target.text.lstrip("->."))
            kind = f"{of[0]} {of[1]}" if of else ""
        elif target.kind == "prefix" and target.text == "*":
            kind = next((one.text[: one.text.rindex("*")] for one in function.parameters if one.name == target.parts[0].text), "")
        node.parts[1] = cast(kind, node.parts[1]) or node.parts[1]


def names_in(body: list[Statement], names: set[str]) -> bool:
    """Whether one of the variables is named there, but for its declaration."""
    return any(
        node.text in names and node.kind == "name"
        for one in body
        for inner in one.walk()
        for outer in inner.expressions()
        for node in outer.walk()
    )


def drop_locals(function: Function, knowledge: Knowledge) -> None:
    """Takes out variables that nobody reads, with what is stored in them."""
    reads: set[str] = set()
    for one in function.statements():
        stored = stored_name(one)
        for outer in one.expressions():
            parts = outer.parts[1:] if stored and outer is one.nodes[0] else [outer]
            reads |= {node.text for part in parts for node in part.walk() if node.kind == "name"}
    names = {part.name for one in function.statements() for part in one.declared} - reads

    def kept(body: list[Statement]) -> list[Statement]:
        result = []
        for one in body:
            one.body, one.other = kept(one.body), kept(one.other)
            node = one.nodes[0] if stored_name(one) in names - {""} else None
            if node and knowledge.is_pure(node.parts[1]):
                continue
            if node and node.parts[1].kind == "call":
                one.nodes = [node.parts[1]]
            if one.kind == "declaration":
                one.declared = [
                    part for part in one.declared
                    if part.name not in names or (part.value and not knowledge.is_pure(part.value))
                    or stored_still(function, part.name, knowledge)
                ]  # fmt: skip
                if not one.declared:
                    continue
            result.append(one)
        return result

    function.body = kept(function.body or [])


def stored_still(function: Function, name: str, knowledge: Knowledge) -> bool:
    """Whether something is stored in it that must stay."""
    return any(
        stored_name(one) == name and one.nodes[0] is not None and not knowledge.is_pure(one.nodes[0].parts[1])
        for one in function.statements()
    )
