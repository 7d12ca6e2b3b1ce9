# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Takes statements out of the body of a function, whole, so that what is left is still C.

Like source.py it relies on the project's style: one statement a line, braces as the kernel has
them, no declarations in a for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CONTROL = re.compile(r"(?:else if|if|for|while|switch|SLIST_FOREACH|LIST_FOREACH|STAILQ_FOREACH) \(|(?:else|do)\b")
LABEL = re.compile(r"(?:case [^:?]+|default|\w+):$", re.MULTILINE)


@dataclass
class Rules:
    """What is to go."""

    calls: re.Pattern[str]  # statements that are a call of such a function alone
    counts: re.Pattern[str]  # statements that set such a member
    false: re.Pattern[str]  # conditions that never hold; with "!" before them they always do


def end_of_statement(lines: list[str], at: int) -> int:
    """The last line of the simple statement, or head of a control statement, at line `at`."""
    depth = 0
    for end in range(at, len(lines)):
        code = re.sub(r'"(?:\\.|[^"\\])*"|/\*.*?\*/', '""', lines[end])
        depth += code.count("(") - code.count(")")
        if depth == 0 and code.rstrip().endswith((";", "{", ")", "else", "do", ":", "}", "*/")):
            return end
    raise ValueError(f"no end of: {lines[at]}")


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip("\t"))


def body_end(lines: list[str], at: int, head_end: int) -> int:
    """The last line of the control statement whose head is the lines `at` to `head_end`."""
    indent = indent_of(lines[at])
    if lines[head_end].rstrip().endswith("{"):
        for end in range(head_end + 1, len(lines)):
            if indent_of(lines[end]) == indent and lines[end].strip().startswith("}"):
                return end
        raise ValueError(f"no brace for: {lines[at]}")
    return statement_end(lines, head_end + 1)


def statement_end(lines: list[str], at: int) -> int:
    """The last line of the whole statement at line `at`, without an else that may follow."""
    while lines[at].strip().startswith("/*"):
        while "*/" not in lines[at]:
            at += 1
        at += 1
    head_end = end_of_statement(lines, at)
    return body_end(lines, at, head_end) if CONTROL.match(lines[at].strip()) else head_end


def condition_of(lines: list[str], at: int, head_end: int) -> str:
    head = " ".join(line.strip() for line in lines[at : head_end + 1])
    return head[head.index("(") + 1 : head.rindex(")")]


def never(condition: str, rules: Rules) -> bool:
    return any(rules.false.fullmatch(part.strip()) for part in condition.split("&&"))


def always(condition: str, rules: Rules) -> bool:
    return condition.startswith("!") and rules.false.fullmatch(condition[1:]) is not None


def is_single_body(lines: list[str], at: int) -> bool:
    """Whether the statement at `at` is all that the control statement above it has, without braces."""
    above = at - 1
    while above > 0 and not lines[above].strip():
        above -= 1
    head = head_above(lines, at)
    text = lines[head].strip()
    return (
        indent_of(lines[head]) == indent_of(lines[at]) - 1
        and CONTROL.match(text) is not None
        and not lines[above].rstrip().endswith("{")
        and end_of_statement(lines, head) == above
    )


def head_above(lines: list[str], at: int) -> int:
    """The first line of what line `at` is the body of, if it is one; some line above it in any case."""
    head = at - 1
    while head > 0 and (indent_of(lines[head]) >= indent_of(lines[at]) or lines[head].lstrip("\t").startswith(" ")):
        head -= 1
    return head


def comment_above(lines: list[str], at: int) -> int:
    """The first line of a comment that stands right above line `at`, or `at`."""
    if at == 0 or not lines[at - 1].rstrip().endswith("*/") or not is_comment_line(lines, at - 1):
        return at
    first = at - 1
    while "/*" not in lines[first]:
        first -= 1
    return first


def is_comment_line(lines: list[str], at: int) -> bool:
    first = at
    while "/*" not in lines[first]:
        first -= 1
    return lines[first].strip().startswith("/*")


def edit(text: str, rules: Rules) -> str:
    """A function without the statements that the rules name."""
    lines = text.split("\n")
    at = lines.index("{") + 1
    while at < len(lines):
        line = lines[at].strip()
        if not line or line in "{}" or line.startswith(("/*", "*", "}")):
            at += 1
            continue
        end = end_of_statement(lines, at)
        statement = " ".join(part.strip() for part in lines[at : end + 1])
        is_if = statement.startswith("if (")
        if is_if and never(condition_of(lines, at, end), rules):
            last = body_end(lines, at, end)
            if last + 1 < len(lines) and lines[last + 1].strip().startswith("else"):
                raise ValueError(f"an else follows: {statement}")
            first = comment_above(lines, at)
            del lines[first : last + 1]
            at = first
        elif is_if and always(condition_of(lines, at, end), rules):
            last = body_end(lines, at, end)
            body = lines[end + 1 : last + 1]
            lines[at : last + 1] = [part.removeprefix("\t") for part in body]
        elif goes(statement, rules):
            first = comment_above(lines, at)
            while is_single_body(lines, at):  # the head goes with its body
                at = head_above(lines, at)
                first = comment_above(lines, at)
            del lines[first : end + 1]
            at = first
        else:
            at = end + 1
    return tidy("\n".join(lines))


def goes(statement: str, rules: Rules) -> bool:
    if not statement.endswith(";"):
        return False
    return bool(rules.calls.match(statement) or rules.counts.match(statement))


def tidy(text: str) -> str:
    """No blank line after an opening brace, before a closing one, or beside another."""
    text = re.sub(r"\n{3,}", "\n\n", text)
    text = re.sub(r"\{\n\n", "{\n", text)
    return re.sub(r"\n\n(\t*\})", r"\n\1", text)


def is_empty(text: str) -> bool:
    """Whether a function does nothing: its body has only comments and (void)parameter."""
    body = text[text.index("{") + 1 : text.rindex("}")]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    return not re.sub(r"\(void\)\w+;", "", body).strip()


def without_unused_locals(text: str) -> str:
    """Takes out local variables that nothing refers to, and those that are set and never read."""
    before = ""
    while before != text:
        before = text
        text = without_unread(drop_declarators(text))
    return tidy(text)


def declarations(lines: list[str]) -> list[tuple[int, str, str]]:
    """Of the function's locals: the line, the type, the declarators."""
    found = []
    at = lines.index("{") + 1
    while at < len(lines) and lines[at].strip():
        match = re.fullmatch(r"\t((?:const |static |struct |enum |unsigned )*\w+ )([*\w].*);", lines[at])
        if match and match[1] not in ("return ", "goto "):
            found.append((at, match[1], match[2]))
        at += 1
    return found


def drop_declarators(text: str) -> str:
    lines = text.split("\n")
    for at, kind, declared in reversed(declarations(lines)):
        rest = "\n".join(lines[:at] + lines[at + 1 :])
        kept = [one for one in split_declarators(declared) if is_used(one, rest, declared)]
        lines[at : at + 1] = ["\t" + kind + ", ".join(kept) + ";"] if kept else []
    return "\n".join(lines)


def without_unread(text: str) -> str:
    """Takes out assignments, without calls in them, to locals that are only assigned to."""
    lines = text.split("\n")
    for _, _, declared in declarations(lines):
        for one in split_declarators(declared):
            name = re.match(r"[*\s]*(\w+)", one)
            if name is None or one.startswith("*"):
                continue
            assigned = re.compile(rf"\t+{name[1]} = [^();]*;")
            uses = [line for line in lines if re.search(rf"\b{name[1]}\b", line)]
            sets = [line for line in uses if assigned.fullmatch(line)]
            if sets and len(sets) == len(uses) - 1:
                lines = [line for line in lines if line not in sets]
    return "\n".join(lines)


def split_declarators(text: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for char in text:
        depth += char in "({[" 
        depth -= char in ")}]"
        if char == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    return parts + [current.strip()]


def is_used(declarator: str, rest: str, whole: str) -> bool:
    name = re.match(r"[*\s]*(\w+)", declarator)
    assert name
    others = " ".join(one for one in split_declarators(whole) if one != declarator)
    return re.search(rf"\b{name[1]}\b", rest + others) is not None
