# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""One role of a stage as one C file: what its main needs, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from . import comments, headers, layout, options, simplify, source, structs
from .source import Item

SMALL = "tools/flatten/small"  # small/X is taken, function by function, instead of X, where X is a part
PLUMBING = ["tools/flatten/plumbing.c", "tools/flatten/command_line.c",
            "program/option_tables.c", "program/addresses.c", "program/admission.c"]  # fmt: skip
# Not for those who copy: results, the test pattern, mistakes that are made on purpose.
LEFT_OUT = ("measure/", "ping-sr-0/report_results.c", "ping-sr-0/user_data.", "ping-rdma-3/user_data.", "ping-rc-0/mistakes.c",
            "verbs-trace/")
KEPT = ("measure/clock.h", "measure/statistics.h", "measure/histogram.h")

# Who waits reads the event channel itself, as in ping-sr-4, except in the stages of which the thread is the lesson.
WITH_THREAD = ("ping-sr-2", "ping-sr-3")
INSTEAD: dict[str, list[str]] = {
    "ping-sr-2/cm_events.c": ["tools/flatten/channel.c"],
    "ping-sr-2/cm_event_thread.c": [],
}

# What these post in any case fails if the peer's host is gone.
WITHOUT_KEEPALIVE = ("pubsub-rdma-2 server", "talk-rdma-0 client", "talk-rdma-0 server")

# What a role never meets.
IMPOSSIBLE = {"client": {"type": {"RDMA_CM_EVENT_CONNECT_REQUEST"}}}


class Program:
    """Collects what a role's main needs, and prints it."""

    def __init__(self, root: Path, parts: Iterable[str], without: Iterable[str], stage: str, role: str) -> None:
        self.root = root
        self.role = role
        self.has_keepalive = f"{stage} {role}" not in WITHOUT_KEEPALIVE
        common = sorted(str(path.relative_to(root)) for path in root.glob("common/*.c"))
        common = [name for name in common if name not in without]
        names = [name for name in PLUMBING + common + list(parts) if not name.startswith(LEFT_OUT)]
        self.sources = [
            path for name in names for path in (root / SMALL / name, root / name) if path.exists()
        ]  # fmt: skip
        self.headers: list[Path] = []
        for path in self.sources:
            self.add_headers(path)
        self.items = [item for path in self.headers + self.sources for item in source.items(path, root)]
        self.comments = {
            item.names[0]: item.comment for item in self.items if item.kind == "prototype" and item.comment
        }
        self.attributes = {
            item.names[0]: match[0]
            for item in self.items
            if item.kind == "prototype" and (match := re.search(r"__attribute__\(.*(?=;)", item.text, re.DOTALL))
        }
        ranks: dict[str, int] = {}
        for item in self.items:
            if item.kind not in ("include", "prototype"):
                ranks[item.names[0]] = max(ranks.get(item.names[0], 0), rank(item))
        self.items = [
            item
            for item in self.items
            if item.kind == "include" or (item.kind != "prototype" and rank(item) == ranks[item.names[0]])
        ]
        self.items += self.questions()

    def questions(self) -> list[Item]:
        """What our own sources ask: IS_CLIENT, HAS_KEEPALIVE, and USES_f, whether some part calls the function f."""
        called = {name for item in self.items if item.path != PLUMBING[0] for name in item.calls}
        asked = {name for item in self.items for name in item.calls if name.startswith("USES_")}
        answers = {"IS_CLIENT": self.role == "client", "HAS_KEEPALIVE": self.has_keepalive}
        answers |= {name: name[len("USES_"):] in called for name in asked}
        return [
            Item("define", [name], "", f"#define {name} {int(answer)}", "tools/flatten")
            for name, answer in answers.items()
        ]  # fmt: skip

    def add_headers(self, path: Path) -> None:
        for header in source.own_headers(path, self.root):
            name = str(header.relative_to(self.root))
            if name.startswith(LEFT_OUT) and not name.startswith(KEPT):
                continue
            for one in (header, self.root / SMALL / name):
                if one.exists() and one not in self.headers:
                    self.add_headers(one)
                    if one not in self.headers:
                        self.headers.append(one)

    def read_options(self) -> None:
        """Puts the options into the function that reads them, in place of their tables."""
        by_name = {item.names[0]: item for item in self.items if item.kind in ("variable", "function")}
        found = options.options_of(by_name, self.role)
        for name in ("our_process_options", "show_usage"):
            by_name[name].text = options.fill_in(by_name[name].text, found)

    def simplify(self) -> None:
        self.items, mentioned = simplify.simplify(self.items, IMPOSSIBLE.get(self.role, {}))
        self.reach()
        for _ in range(2):  # a member that goes may have been the last to need a type
            structs.drop_members(self.items, mentioned)
            self.reach()
        structs.drop_enumerators(self.items)

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
        self.items = [item for item in self.items if item in kept or item.kind == "include"]

    def write(self, stage: str, role: str, libs: Iterable[str]) -> str:
        parts = [HEADER.format(stage=stage, role=role, libs=" ".join(libs))]
        parts.append("#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif")
        parts.append("\n".join(self.includes()) + "\n")
        for item in self.items:
            if item.kind != "include" and item.path.endswith(".h"):
                parts.append(self.shown(item))
        ordered = self.ordered()
        prototypes = self.prototypes(ordered)
        if prototypes:
            parts.append("\n".join(prototypes) + "\n")
        parts += [self.shown(item) for item in ordered]
        text = "\n".join(parts).replace("OUR_STAGE", f'"{stage}"')
        text = re.sub(r" \(--[a-z-]+\)", "", text)  # advice in messages, on options that it does not have
        text = re.sub(r"(#define [^\n]*[^\\\n]\n)\n(?=#define)", r"\1", text)
        return layout.aligned_defines(text)

    def includes(self) -> list[str]:
        """Those of the files of which something is left."""
        paths = {item.path for item in self.items if item.kind != "include"}
        found = {item.names[0]: item.text for item in self.items if item.kind == "include" and item.path in paths}
        words = set().union(*(source.identifiers(item.text) for item in self.items if item.kind != "include"))
        wanted = {name for name in found if name not in headers.WORDS or headers.is_wanted(name, words)}
        return sorted(found[name] for name in wanted)

    def ordered(self) -> list[Item]:
        """What the sources define: each after all that it needs, as far as that goes."""
        own = [item for item in self.items if item.kind != "include" and item.path.endswith(".c")]
        by_name = {name: item for item in own for name in item.names}
        place = {name: number for number, name in enumerate(by_name)}
        order: list[Item] = []
        visiting: set[str] = set()

        def visit(item: Item) -> None:
            if item.names[0] in visiting:
                return
            visiting.add(item.names[0])
            for one in own if item.kind == "function" else []:
                if one.kind == "type" and one.path.removeprefix(SMALL + "/") == item.path.removeprefix(SMALL + "/"):
                    visit(one)
            for name in sorted(item.calls & set(place), key=lambda name: place[name]):
                visit(by_name[name])
            order.append(item)

        visit(by_name["main"])
        return order

    def prototypes(self, ordered: list[Item]) -> list[str]:
        """Of the functions that are called above where they stand, and those whose arguments are checked."""
        known = {item.names[0] for item in self.items if item.path.endswith(".h")}
        functions = {item.names[0]: item for item in ordered if item.kind == "function"}
        early = [name for name in functions if name in self.attributes]
        for item in ordered:
            early += [
                name for name in sorted(item.calls) if name in functions and name not in known and name not in early
            ]
            known.add(item.names[0])
        return [prototype(functions[name].text, self.attributes.get(name, "")) for name in early]

    def shown(self, item: Item) -> str:
        comment = item.comment
        if item.kind == "function" and not item.path.startswith("tools/"):
            comment = self.comments.get(item.names[0], comment)
        text = item.text
        if item.kind in ("function", "variable") and item.names[0] != "main":
            text = static(text)
        if item.kind == "variable":
            text = re.sub(r"; +/\*", "; /*", text)
        if item.kind == "function":
            text = "\n".join(layout.filled_head(head_of(text))) + text[text.index("\n{") :]
        comment = comments.of_item(comment)
        return (comment + "\n" if comment else "") + text + "\n"


HEADER = """/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The {role} of {stage} in one file, written by `make flatten STAGE={stage}`.
 *
 *	cc {role}.c {libs} -o {role}
 *
 * main is the last function. Unless a comment says otherwise, a function that returns int returns 0
 * or an errno value, and has reported an error on stderr by then.
 */"""


def rank(item: Item) -> int:
    """Which of several definitions of a name is taken: the highest. Our own parts', a small form's, the tree's."""
    return 0 if not item.path.startswith("tools/") else 1 if item.path.startswith(SMALL) else 2


def static(text: str) -> str:
    return text if text.startswith("static ") else "static " + text


def head_of(text: str) -> str:
    return " ".join(text[: text.index("\n{")].split())


def prototype(text: str, attribute: str) -> str:
    lines = layout.filled(head_of(static(text)) + (" " + " ".join(attribute.split()) if attribute else "") + ";", 0)
    return "\n".join(lines)


def flatten(
    root: Path, parts: Iterable[str], without: Iterable[str], libs: Iterable[str], stage: str, role: str
) -> str:
    if stage not in WITH_THREAD:
        parts = [other for part in parts for other in INSTEAD.get(part, [part])]
    program = Program(root, parts, without, stage, role)
    program.read_options()
    program.simplify()
    return program.write(stage, role, libs)
