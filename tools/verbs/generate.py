#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes the functions that replace the verbs, from the table calls.txt, and those that show structures.

Place: run by the Makefile. Contract: generate.py DIRECTORY writes verbs.[ch], structures.[ch] and
calls.c, which hands each call to what is written by hand. The variable MACHINE is what the
compiler says with -dumpmachine.

A line of calls.txt is a prototype, with a decoder behind an argument where its type does not say
enough, then "=", how the result tells of an error, and ";", what else there is:
    argument:-            is not shown
    argument:DECODER(...) is shown by say_DECODER(out, "argument", argument, ...)
    argument:>DECODER     in the same way, but only when the call has succeeded
    argument:new          points to where the call has put a new object
    = errno, minus1, size: an errno value; -1 and errno, or a number from 0 up; the same without a sign
    = new, pointer        an object of the program's from now on; a pointer; NULL and errno
    = number, hex, text, port, void: no error
    data                  comes with every message: with -q only the first on each queue is shown
    counted               has a short way for -c: see call.h
    before, after CALL    CALL is made before the verb, or after it: see watch.h and devices.h
    ends ARGUMENT         the object is no more, if the call succeeds
    waits                 sleeps, and is no verb: only with -w
    via MEMBER            of the table of functions that the section names

In structures.txt a line of [constants] or [bits] is a decoder, the prefix of the constants, and their names without
it. Each other section is one structure, [DECODER TYPE] or [DECODER TYPE, PARAMETER], with a line for each member:
    MEMBER:DECODER(...)   as for an argument; a text or a number needs no decoder
    NAME = MEMBER         is shown under this name; ~MEMBER under none, other than in JSON
    ... if CONDITION      is shown only then; C, like a MEMBER with it->, in which `it` is the structure
"""

import os
import re
import sys
from pathlib import Path

from verb import KINDS, Argument, Verb, Wrong, decoded

HERE = Path(__file__).resolve().parent
HEAD = "/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */\n/* Written by generate.py. */\n"
INCLUDES = """#include <poll.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>
#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/say.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/watch.h"
struct ib_user_path_rec;
struct ib_uverbs_qp_attr;
struct ib_uverbs_ah_attr;
"""
SECTION = re.compile(r"\[(\S+)\]$")
# The first version of glibc for a processor, which is newer than all that the tables name.
FIRST_GLIBC = {"aarch64": "GLIBC_2.17"}
LINE = re.compile(r"(.+?[ *])(\w+)\((.*)\) = (\w+)(?:; (.*))?$")


def split_arguments(text: str) -> list[str]:
    """At commas outside parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def read_argument(text: str) -> Argument:
    """`struct ibv_qp_attr *attr:qp_attr(mask)`"""
    if text == "...":
        return Argument("long", "argument", "", variadic=True)
    declared, _, decoder = text.partition(":")
    match = re.fullmatch(r"(.*[ *])(\w+)", declared)
    if not match:
        raise Wrong(f"cannot read the argument {text}")
    ctype = match[1] if match[1].endswith("*") else match[1].strip()
    return Argument(ctype, match[2], decoder)


def section_here(name: str) -> str:
    """A version of glibc is one of x86-64: the version that these functions have on the processor that is compiled for."""
    processor = os.environ.get("MACHINE", "").partition("-")[0]
    return FIRST_GLIBC.get(processor, name) if name.startswith("GLIBC_") else name


def read_table() -> list[Verb]:
    """All verbs of calls.txt."""
    verbs, section = [], ""
    for number, line in enumerate((HERE / "calls.txt").read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if match := SECTION.match(line):
            section = section_here(match[1])
            continue
        match = LINE.match(line)
        if not match:
            raise Wrong(f"calls.txt:{number}: cannot read {line}")
        arguments = [] if match[3] == "void" else split_arguments(match[3])
        flags = (match[5] or "").split()
        verbs.append(Verb(section, match[1], match[2], [read_argument(a) for a in arguments], match[4], flags))
    return verbs


def installer(section: str, verbs: list[Verb]) -> str:
    """The function that puts the tool's functions into a table of functions, and stores the original ones."""
    struct = {"ops": "ibv_context_ops", "verbs_context": "verbs_context"}.get(section)
    struct = struct or f"ibv_{section}"
    lines = [f"void install_{section}(struct {struct} *table, struct {struct} *kept)", "{"]
    for verb in verbs:
        member = verb.after("via")
        has = f"table->{member}"
        if section == "verbs_context":
            has = f"verbs_get_ctx_op(&table->context, {member})"
        lines += [f"\tif ({has} && table->{member} != {verb.ours}) {{"]
        lines += [f"\t\tkept->{member} = table->{member};", f"\t\ttable->{member} = {verb.ours};", "\t}"]
    return "\n".join([*lines, "}\n"])


def write_calls(directory: Path, verbs: list[Verb]) -> None:
    """The functions that replace the verbs."""
    sections = dict.fromkeys(v.section for v in verbs if not v.exported)
    parts = [HEAD, INCLUDES, *(v.function() for v in verbs)]
    parts += [installer(s, [v for v in verbs if v.section == s]) for s in sections]
    (directory / "calls.c").write_text("\n".join(parts))


def enum_of(prefix: str, names: list[str]) -> str:
    """The enumerators of a list."""
    return "".join(f"\t{prefix}_{name},\n" for name in names)


def write_lists(directory: Path, verbs: list[Verb]) -> None:
    """The files that list all verbs, and the kinds of objects."""
    names = list(dict.fromkeys(v.name for v in verbs))
    by_name = {v.name: v for v in sorted(reversed(verbs), key=lambda verb: verb.exported)}  # rather than an inline one
    kinds = list(dict.fromkeys(KINDS.values()))
    (directory / "verbs.h").write_text(
        f"{HEAD}#ifndef VERBS_TRACE_TOOL_VERBS_H\n#define VERBS_TRACE_TOOL_VERBS_H\n"
        f"#include <stdbool.h>\n#include <stdint.h>\nenum verb {{\n{enum_of('VERB', names)}\tN_VERBS,\n}};\n"
        "/*\n * `version` is NULL of a verb that is inline; `moves_data` is a bit of its own for each verb that\n"
        " * comes with every message, otherwise 0; `wanted` is what -e leaves.\n */\n"
        "struct verb_row {\n\tconst char *name, *version;\n\tuint64_t moves_data;\n\tbool wanted;\n};\n"
        "extern struct verb_row verbs[N_VERBS];\n"
        f"/* The kinds of objects, with their names as they are shown. */\nenum kind {{\n{enum_of('KIND', kinds)}\tN_KINDS,\n}};\n"
        "extern const char *const kind_names[N_KINDS];\n#endif\n"
    )
    rows = []
    bits = (f"1ull << {bit}" for bit in range(64))
    for name in names:
        verb = by_name[name]
        version = f'"{verb.section}"' if verb.exported else "NULL"
        data = next(bits) if "data" in verb.flags else "0"
        rows.append(f'\t[VERB_{name}] = {{ "{name}", {version}, {data}, true }},')
    lines, kind_names = "\n".join(rows), "".join(f'\t"{kind.lower()}",\n' for kind in kinds)
    (directory / "verbs.c").write_text(
        f'{HEAD}#include <stddef.h>\n#include "verbs.h"\nstruct verb_row verbs[N_VERBS] = {{\n{lines}\n}};\n'
        f"const char *const kind_names[N_KINDS] = {{\n{kind_names}}};\n"
    )


def of_constants(decoder: str, constants: list[tuple[str, str]], bits: bool) -> tuple[str, str]:
    """The prototype and the function, of prefixes and names."""
    at = "__builtin_ctz({}{})" if bits else "{}{}"
    rows = "\n".join(f'\t[{at.format(prefix, name)}] = "{name}",' for prefix, name in constants)
    prototype = f"void say_{decoder}(struct out *out, const char *name, uint64_t value)"
    show = f"out_{'flags' if bits else 'name'}(out, name, value, {decoder}_names);"
    names = f"const struct names {decoder}_names"
    table = f"static const char *const {decoder}[] = {{\n{rows}\n}};\n{names} = NAMES_OF({decoder});"
    return f"extern {names};\n{prototype};", f"{table}\n\n{prototype}\n{{\n\t{show}\n}}\n"


def of_member(line: str) -> str:
    """The statement that shows a member."""
    item, _, condition = line.partition(" if ")
    item, _, decoder = item.partition(":")
    name, _, member = item.rpartition(" = ")
    label = f'"{name or member.rpartition(".")[2]}"'
    if item.startswith("~"):
        member, label = member[1:], f"FOR_JSON(out, {label.replace('~', '')})"
    value = member if "it->" in member else f"it->{member}"
    shown = decoded(decoder, "out", label, value) if decoder else f"out_item(out, {label}, {value});"
    return f"\tif ({condition})\n\t\t{shown}" if condition else f"\t{shown}"


def of_structure(decoder: str, types: str, members: list[str]) -> tuple[str, str]:
    """The prototype and the function. `types` are that of the structure, and further parameters."""
    ctype, comma, more = types.partition(",")
    prototype = f"void say_{decoder}(struct out *out, const char *name, const {ctype} *it{comma}{more})"
    null = "\tif (!it) {\n\t\tsay_pointer(out, name, NULL);\n\t\treturn;\n\t}"
    body = [null, "\tout_open(out, name);", *map(of_member, members), "\tout_close(out);"]
    return f"{prototype};", "\n".join([prototype, "{", *body, "}\n"])


def functions_of_structures(text: str) -> list[tuple[str, str]]:
    """All of the text of structures.txt: their prototypes, and the functions."""
    found = []
    for section in text.split("\n[")[1:]:
        head, _, rest = section.partition("]\n")
        lines = rest.split("\n")
        decoder, _, types = head.partition(" ")
        if types:
            found.append(of_structure(decoder, types, [line for line in lines if line]))
            continue
        tables: dict[str, list[tuple[str, str]]] = {}
        for words in (line.split() for line in lines if line):
            tables.setdefault(words[0], []).extend((words[1], name) for name in words[2:])
        found += [of_constants(name, constants, head == "bits") for name, constants in tables.items()]
    return found


def write_structures(directory: Path) -> None:
    """The functions that show constants and structures."""
    found = functions_of_structures((HERE / "structures.txt").read_text())
    prototypes, functions = ("\n".join(part) for part in zip(*found))
    guard = "VERBS_TRACE_TOOL_STRUCTURES_H"
    includes = '#include <rdma/rdma_cma.h>\n#include "tools/verbs-trace/tool/out.h"'
    (directory / "structures.h").write_text(f"{HEAD}#ifndef {guard}\n#define {guard}\n{includes}\n{prototypes}\n#endif\n")
    (directory / "structures.c").write_text(f'{HEAD}#include "tools/verbs-trace/tool/say.h"\n{functions}')


def main() -> int:
    """Reads the tables, writes all files."""
    if len(sys.argv) != 2:
        print("usage: generate.py DIRECTORY", file=sys.stderr)
        return 2
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    verbs = read_table()
    write_calls(directory, verbs)
    write_structures(directory)
    write_lists(directory, verbs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
