# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""One role of a stage as one C file: what its main needs, and nothing else."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

from . import options, source, statements
from .source import Item

PLUMBING = ["tools/flatten/plumbing.c", "tools/flatten/command_line.c", "program/option_tables.c",
            "program/addresses.c", "program/admission.c", "program/output.c", "program/report.c",
            "program/stop.c"]
# Not for those who copy: results, the test pattern.
LEFT_OUT = ("measure/", "ping-sr-0/report_results.c", "ping-sr-0/user_data.", "verbs-trace/")
KEPT = ("measure/clock.h",)
# Options that are left out with what they ask for.
OPTIONS = "verify|rate|stats|json|quiet"

LEFT_OUT_OPTIONS = re.compile(rf"\((?:{OPTIONS})\b")

RULES = statements.Rules(
    calls=re.compile(
        r"(?:our_statistics_(?:want_)?progress|our_statistics_add_stream|our_histogram_add|our_setup_user_data|"
        r"our_add_options|our_check_server_options)\("
    ),
    counts=re.compile(
        r"(?:[\w>.-]*statistics(?:\.|->)|[\w>.-]*stream(?:\.|->))"
        r"(?:cq_polls|cq_empty_polls|completions|sleeps|empty_wake_ups|verified|stream|credit_\w+)"
        r"(?:\+\+| \+?= .*);$"
    ),
    false=re.compile(rf"[\w>.-]*options(?:->|\.)(?:{OPTIONS})"),
)


class Program:
    """Collects what a role's main needs, and prints it."""

    def __init__(self, root: Path, parts: Iterable[str], role: str) -> None:
        self.root = root
        self.role = role
        common = sorted(str(path.relative_to(root)) for path in root.glob("common/*.c"))
        names = PLUMBING + common + list(parts)
        self.sources = [root / name for name in names if not name.startswith(LEFT_OUT)]
        self.headers: list[Path] = []
        for path in self.sources:
            self.add_headers(path)
        self.items = [item for path in self.headers + self.sources for item in source.items(path, root)]
        self.comments = {
            item.names[0]: item.comment for item in self.items if item.kind == "prototype" and item.comment
        }
        self.items = [item for item in self.items if item.kind != "prototype"]

    def add_headers(self, path: Path) -> None:
        for header in source.own_headers(path, self.root):
            name = str(header.relative_to(self.root))
            if name == "measure/statistics.h":
                header, name = self.root / "tools/flatten/plumbing.h", ""
            if name.startswith(LEFT_OUT) and not name.startswith(KEPT):
                continue
            if header not in self.headers:
                self.add_headers(header)
                if header not in self.headers:
                    self.headers.append(header)

    def simplify(self) -> None:
        """Takes out statements, and the calls of functions that do nothing, until none is left."""
        rules = RULES
        empty: set[str] = set()
        while True:
            for item in self.items:
                if item.kind == "function":
                    item.text = statements.edit(item.text, rules)
            found = {
                item.names[0]
                for item in self.items
                if item.kind == "function" and item.text.startswith(("void", "static void"))
                and statements.is_empty(item.text)
            } - empty
            if not found:
                break
            empty |= found
            rules = statements.Rules(
                re.compile(f"(?:{RULES.calls.pattern}|(?:{'|'.join(sorted(empty))})\\()"), RULES.counts, RULES.false
            )
        self.read_options()
        for item in self.items:
            if item.kind == "function":
                item.text = statements.without_unused_locals(item.text)
                item.calls = source.identifiers(item.text) - {item.names[0]}

    def read_options(self) -> None:
        """Puts the options into the function that reads them, in place of their tables."""
        by_name = {item.names[0]: item for item in self.items if item.kind in ("variable", "function")}
        found = options.options_of(by_name, self.role, LEFT_OUT_OPTIONS)
        for name in ("our_process_options", "show_usage"):
            by_name[name].text = options.fill_in(by_name[name].text, found, self.role)
        by_name["main"].text = by_name["main"].text.replace("(argc, argv, &program, &options)", "(argc, argv, &options)")

    def reach(self) -> None:
        """Keeps what main needs."""
        by_name: dict[str, list[Item]] = {}
        for item in self.items:
            if item.kind != "include":
                for name in item.names:
                    by_name.setdefault(name, []).append(item)
        kept: list[Item] = []
        wanted = ["main"]
        seen: set[str] = set()
        while wanted:
            name = wanted.pop()
            if name in seen:
                continue
            seen.add(name)
            for item in by_name.get(name, []):
                if item not in kept:
                    kept.append(item)
                    wanted += item.calls
        paths = {item.path for item in kept}
        self.items = [item for item in self.items if item in kept or (item.kind == "include" and item.path in paths)]

    def drop_members(self) -> None:
        """Takes members out of structs that nothing refers to."""
        used = " ".join(source.strip(i.text) for i in self.items if i.kind in ("function", "variable", "define"))
        for item in self.items:
            if item.kind == "type" and "enum " not in item.text.split("{")[0]:
                item.text = without_members(item.text, used)
                item.calls &= source.identifiers(item.text)

    def write(self, stage: str, role: str) -> str:
        parts = [HEADER.format(stage=stage, role=role)]
        parts.append("#define _GNU_SOURCE\n")
        includes = sorted({item.text for item in self.items if item.kind == "include"})
        parts.append("\n".join(includes) + "\n")
        for item in self.items:
            if item.kind != "include" and item.path.endswith(".h"):
                parts.append(self.shown(item))
        sources = self.ordered_sources()
        prototypes = self.prototypes(sources)
        if prototypes:
            parts.append("\n".join(prototypes) + "\n")
        for path in sources:
            parts.append(f"/* ---- {path} ---- */\n")
            for item in self.items:
                if item.path == path and item.kind != "include":
                    parts.append(self.shown(item))
        text = "\n".join(parts).replace("OUR_STAGE", f'"{stage}"')
        return re.sub(r"(#define [^\n]*\n)\n(?=#define)", r"\1", text)

    def ordered_sources(self) -> list[str]:
        """The files, those that are called before those that call, as far as that goes."""
        homes = {item.names[-1]: item.path for item in self.items if item.kind != "include"}
        calls: dict[str, list[str]] = {}
        for item in self.items:
            if item.path.endswith(".c") and item.kind != "include":
                wanted = [homes[name] for name in sorted(item.calls) if name in homes and homes[name].endswith(".c")]
                calls.setdefault(item.path, []).extend(wanted)
        order: list[str] = []
        visiting: set[str] = set()

        def visit(path: str) -> None:
            if path in visiting:
                return
            visiting.add(path)
            for one in calls.get(path, []):
                visit(one)
            order.append(path)

        visit(homes["main"])
        order += [path for path in calls if path not in order]
        return [path for path in order if path.endswith(".c")]

    def prototypes(self, sources: list[str]) -> list[str]:
        """Of the functions that are called above where they stand."""
        known = {item.names[0] for item in self.items if item.path.endswith(".h")}
        early: list[str] = []
        functions = {item.names[0]: item for item in self.items if item.kind == "function"}
        for path in sources:
            for item in self.items:
                if item.path != path or item.kind == "include":
                    continue
                early += [
                    name
                    for name in sorted(item.calls)
                    if name in functions and name not in known and name not in early
                ]
                known.add(item.names[0])
        return [head_of(static(functions[name].text)) + ";" for name in early]

    def shown(self, item: Item) -> str:
        comment = item.comment
        if item.kind == "function" and not item.path.startswith("tools/"):
            comment = self.comments.get(item.names[0], comment)
        text = item.text
        if item.kind in ("function", "variable") and item.names[0] != "main":
            text = static(text)
        comment = shorter(comment)
        return (comment + "\n" if comment else "") + text + "\n"


HEADER = """/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The {role} of {stage} in one file, written by `make flatten STAGE={stage}`.
 *
 *	cc {role}.c -lrdmacm -libverbs -pthread -o {role}
 *
 * main is the last function. Unless a comment says otherwise, a function that returns int returns 0
 * or an errno value, and has reported an error on stderr by then.
 */"""


def static(text: str) -> str:
    return text if text.startswith("static ") else "static " + text


def head_of(text: str) -> str:
    return text[: text.index("\n{")]


def shorter(comment: str) -> str:
    """What a function does, without what the head of the file says once for all of them."""
    if not comment or not comment.startswith("/*"):
        return comment
    plain = re.sub(r"^\s*/?\*+/? ?|\s*\*/$", "", comment, flags=re.MULTILINE).strip()
    first = " ".join(plain.split("\n\n")[0].split())
    first = re.sub(r" ?Returns 0 or an errno value, (?:not )?reported[^.]*\.", "", first)
    sentences = re.split(r"(?<=[.:]) (?=[A-Z])", first)
    kept = [one for one in sentences if not re.match(r"(?:Returns 0|See |Any thread|One thread|After|Cannot fail)", one)]
    text = " ".join(kept[:2])
    if not text:
        return ""
    if len(text) <= 92:
        return f"/* {text} */"
    return "/*\n" + "\n".join(" * " + line for line in textwrap.wrap(text, 96)) + "\n */"


def without_members(text: str, used: str) -> str:
    lines = text.split("\n")
    kept = [lines[0]]
    at = 1
    while at < len(lines):
        end = at
        while end + 1 < len(lines) and "/*" in lines[end] and "*/" not in lines[end].split("/*", 1)[1]:
            end += 1
            if "*/" in lines[end]:
                break
        code = source.strip("\n".join(lines[at : end + 1])).strip()
        member = re.fullmatch(r"[\w\s*]*?(\w+)(?:\[\w+\])?;", code)
        if member is None or re.search(rf"(?:->|\.){member[1]}\b", used):
            kept += lines[at : end + 1]
        at = end + 1
    result = re.sub(r"\n\n(?=(?:\t/\*[^\n]*\*/\n)?\n?\})", "\n", "\n".join(kept))
    return without_lonely_headings(result)


def without_lonely_headings(text: str) -> str:
    """Without a comment that headed members which have all gone."""
    previous = ""
    while previous != text:
        previous = text
        text = re.sub(r"\n\n\t/\*[^\n]*\*/\n(?=\n|\})", "\n", text)
        text = re.sub(r"\n{3,}", "\n\n", text)
        text = re.sub(r"\{\n\n", "{\n", text)
        text = re.sub(r"\n\n\}", "\n}", text)
    return text


def flatten(root: Path, parts: Iterable[str], stage: str, role: str) -> str:
    program = Program(root, parts, role)
    program.simplify()
    program.reach()
    for _ in range(2):  # a member that goes may have been the last to need a type
        program.drop_members()
        program.reach()
    return program.write(stage, role)
