#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The C functions that show constants by their names, and structures: those of structures.txt.

Place: part of generate.py, which says what a section is made of. Contract: writes no file.
"""

from verb import decoded


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


def functions(text: str) -> list[tuple[str, str]]:
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
