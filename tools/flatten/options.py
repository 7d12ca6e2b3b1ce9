# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The command line of a flattened program: one case of a switch for each option with a letter.

The tables of options, which the parts declare, say what there is. Most are left out: what they
set stays at its default, a constant for simplify.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .source import Item

ROW = re.compile(
    r'\{\s*"(?P<name>[\w-]+)",\s*(?P<letter>\'.\'|0),\s*(?P<argument>"[^"]*"|NULL),\s*'
    r'(?P<help>(?:"(?:[^"\\]|\\.)*"|\w+|\s)+),\s*(?P<value>[^{}]+?)\s*\}',
    re.DOTALL,
)
SUFFIXES = "; suffixes k, m, g are powers of 1024"
KEPT = "apncsb"  # what one would want of a program of one's own


@dataclass
class Option:
    letter: str
    argument: str  # "" for a flag
    help: str
    value: str  # the rest of its row


def tables_of(items: dict[str, Item], role: str) -> list[str]:
    """The names of the tables that a role accepts."""
    program = items[f"our_{role}_program"].text
    listed = re.search(r"\.options = \{(.*?)\}", program, re.DOTALL)
    assert listed
    names = re.findall(r"\w+", listed[1])
    added = ["our_waiting_options", "our_watching_options"] + (["our_server_options"] if role == "server" else [])
    for name in added:
        alias = re.search(r"= (\w+);", items[name].text)
        if alias and alias[1] != "NULL":
            names.append(alias[1])
    return names


def options_of(items: dict[str, Item], role: str) -> list[Option]:
    found = []
    for table in tables_of(items, role):
        for row in ROW.finditer(items[table].text):
            letter = row["letter"].strip("'")
            if letter not in KEPT or "ignored" in row["value"]:
                continue
            text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', row["help"])).replace(SUFFIXES, "")
            found.append(Option(letter, row["argument"].strip('"').replace("NULL", ""), text, row["value"]))
    return found


def case(option: Option) -> str:
    """What the switch does with an option."""
    value = " ".join(option.value.split())
    macro = re.match(r"OUR_(OWN_)?(FLAG|NUMBER|BYTES)\(([^,)]*)(?:, (.*))?\)$", value)
    if macro is None:
        member = "port" if option.letter == "p" else "address"
        return f"\t\tcase '{option.letter}':\n\t\t\toptions->{member} = optarg;\n\t\t\tbreak;"
    where = macro[3] if macro[1] else f"options->{macro[3]}"
    if macro[2] == "FLAG":
        what = f"{where} = true;"
    else:
        what = f"ret = take_number(optarg, {macro[4]}, &{where});"
    return f"\t\tcase '{option.letter}':\n\t\t\t{what}\n\t\t\tbreak;"


def usage(options: list[Option]) -> str:
    lines = [f'"  -{one.letter} {one.argument + ": " if one.argument else ""}{one.help}\\n"' for one in options]
    return "\n\t      ".join(lines)


def fill_in(text: str, options: list[Option]) -> str:
    letters = "".join(one.letter + (":" if one.argument else "") for one in options)
    text = text.replace("USAGE", usage(options)).replace("LETTERS", f'"{letters}"')
    return text.replace("\t\tCASES", "\n".join(case(one) for one in options))
