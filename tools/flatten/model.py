# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The items of a program as functions with trees, and what type of struct an expression has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from . import source
from .expressions import Node, Unknown
from .source import Item
from .statements import Statement, parse_body, simple

PARAMETER = re.compile(r"((?:const |struct |enum |unsigned )*\w+) ?(\**)(\w+)")
MEMBER = re.compile(r"((?:const |struct |enum |unsigned |_Atomic )*\w+)\s+(\**)(\w+)((?:\[[^\]]*\])*);")


@dataclass
class Parameter:
    text: str  # the whole declaration
    name: str
    tag: str  # of the struct that it is, or points to; else ""
    is_pointer: bool


@dataclass
class Function:
    item: Item
    name: str
    returns: str  # all before the name
    parameters: list[Parameter]
    body: list[Statement] | None  # None: not understood, to be left alone

    def statements(self) -> Iterator[Statement]:
        for one in self.body or []:
            yield from one.walk()

    def nodes(self) -> Iterator[Node]:
        """Every expression in it, and every part of one."""
        for one in self.statements():
            for node in one.expressions():
                yield from node.walk()

    def locals(self) -> dict[str, str]:
        """The variables declared in it, parameters too, and the tags of their structs."""
        found = {one.name: one.tag for one in self.parameters}
        for one in self.statements():
            for part in one.declared:
                found[part.name] = tag_in(one.head)
        return found

    def own_names(self) -> set[str]:
        """Its variables, but for those that are called like a struct or enum that it names."""
        heads = [one.text for one in self.parameters] + [one.head for one in self.statements()]
        tags = {tag for text in heads for tag in re.findall(r"(?:struct|enum|union) (\w+)", text)}
        return self.locals().keys() - tags

    def head(self) -> str:
        return f"{self.returns}{self.name}({', '.join(one.text for one in self.parameters) or 'void'})"


def tag_in(text: str) -> str:
    match = re.search(r"struct (\w+)", text)
    return match[1] if match else ""


def parameter(text: str) -> Parameter:
    pointer = re.search(r"\(\*(\w+)\)", text)
    if pointer:  # to a function
        return Parameter(text, pointer[1], "", True)
    match = PARAMETER.fullmatch(text)
    if match is None:
        return Parameter(text, text.split()[-1].strip("*[]"), "", True)
    return Parameter(text, match[3], tag_in(match[1]), bool(match[2]))


def split_parameters(text: str) -> list[str]:
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def function_of(item: Item) -> Function:
    head = " ".join(item.text[: item.text.index("\n{")].split())
    match = re.match(r"(.*?)(\w+)\((.*)\)$", head)
    assert match, head
    parameters = [] if match[3] == "void" else [parameter(one) for one in split_parameters(match[3])]
    try:
        body: list[Statement] | None = parse_body(item.text)
    except (Unknown, IndexError, ValueError):
        body = None
    return Function(item, match[2], match[1], parameters, body)


@dataclass
class Model:
    """A program: functions, struct members, variables."""

    functions: dict[str, Function] = field(default_factory=dict)
    members: dict[str, dict[str, tuple[str, str, str]]] = field(default_factory=dict)  # tag, name: type, *, []
    variables: dict[str, str] = field(default_factory=dict)  # those of the top level, and their tags
    initial: list[tuple[str, Statement]] = field(default_factory=list)  # of those: tag, declaration
    opaque: list[str] = field(default_factory=list)  # texts that are not understood

    def tag_of(self, node: Node, scope: dict[str, str]) -> str:
        """Of the struct that an expression is, or points to; "" if there is none, or who knows."""
        if node.kind == "name":
            return scope.get(node.text, "") if node.text in scope else self.variables.get(node.text, "")
        if node.kind == "member":
            tag, name = self.tag_of(node.parts[0], scope), node.text.lstrip("->.")
            if tag and tag not in self.members:
                return f"{tag}.{name}"  # within a struct of a library, which has none of ours
            of = self.members.get(tag, {}).get(name)
            return tag_in(of[0]) if of else ""
        if node.kind == "call" and node.parts[0].text in self.functions:
            return tag_in(self.functions[node.parts[0].text].returns)
        if node.kind in ("index", "parentheses") or (node.kind == "prefix" and node.text in "*&"):
            return self.tag_of(node.parts[0], scope)
        if node.kind in ("cast", "literal"):
            return tag_in(node.text)
        return ""


def model_of(items: list[Item]) -> Model:
    model = Model()
    for item in items:
        if item.kind == "function":
            model.functions[item.names[0]] = function_of(item)
        elif item.kind == "type" and item.text.startswith("struct"):
            model.members[item.names[0]] = {
                match[3]: (match[1], match[2], match[4]) for match in MEMBER.finditer(source.strip(item.text))
            }
            for name in item.names[1:]:
                model.variables[name] = item.names[0]
        elif item.kind == "variable":
            add_variable(model, item)
    model.opaque += [one.item.text for one in model.functions.values() if one.body is None]
    return model


def add_variable(model: Model, item: Item) -> None:
    try:
        declaration = simple(source.strip_comments(item.text).strip().rstrip(";"))
    except (Unknown, IndexError):
        declaration = Statement("empty")
    if declaration.kind != "declaration":
        model.opaque.append(item.text)
        model.variables[item.names[0]] = ""
        return
    tag = tag_in(declaration.head)
    for one in declaration.declared:
        model.variables[one.name] = tag
    model.initial.append((tag, declaration))
