# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Comments as short as a reader of one file needs them: what something is, in one line or two."""

from __future__ import annotations

import re
import textwrap

ONE_LINE = 96
# What the head of the file says once for all functions, and what is for those who change the parts.
LEFT_OUT = re.compile(
    r"(?:Returns? |See |Any thread|One thread|After |Before |Cannot fail|Never fails|Call it|For |To be called)"
)


# Where to read on, unless it is a man page.
SEE = re.compile(r"(?:[:;,.] |\()[Ss]ee (?!(?:\w+)\(\d\))(?:(?! \*/)(?:[^;.)]|\.(?=\w)))*\)?")


def unreferred(comment: str) -> str:
    """Without "see there"."""
    return SEE.sub("", re.sub(r" \(docs/[\w.]+\)|(?:[:;] the differences)?: docs/[\w.-]*\w", "", comment))


def plain(comment: str) -> str:
    """The first paragraph of a comment, as one line."""
    inner = re.sub(r"^\s*/?\*+/? ?|\s*\*/$", "", comment, flags=re.MULTILINE).strip()
    return unreferred(" ".join(inner.split("\n\n")[0].split()))


def sentences_of(text: str) -> list[str]:
    return re.split(r"(?<=\.) (?=[A-Z])", text)


def shown(text: str, width: int = ONE_LINE) -> str:
    if len(text) + 6 <= width:
        return f"/* {text} */"
    return "/* " + "\n * ".join(textwrap.wrap(text, width - 6)) + " */"


def of_item(comment: str) -> str:
    """What stands above a function, type or define: its first sentence, and more if it fits one line."""
    if not comment:
        return ""
    text = plain(comment)
    text = re.sub(r",? ?(?:not )?\breported\b(?=[.;])", "", text)
    kept = [one for one in sentences_of(text) if not LEFT_OUT.match(one)]
    if not kept:
        return ""
    result = kept[0]
    if len(result) + 6 > ONE_LINE:
        result = first_clause(result)
    if len(result) + 6 > ONE_LINE:
        return shown(up_to_comma(result))
    for one in kept[1:]:
        if len(result) + len(one) + 7 > ONE_LINE:
            break
        result += " " + one
    return shown(result)


def first_clause(sentence: str) -> str:
    """A long sentence up to a colon or semicolon outside of parentheses, if what is left still says something."""
    clause = re.split(r"[:;] (?![^(]*\))", sentence)[0]
    return clause + "." if len(clause) > 25 and clause != sentence else sentence


def up_to_comma(sentence: str) -> str:
    """As much of a long sentence as is one line, up to a comma outside of parentheses."""
    cuts = [match.start() for match in re.finditer(r", (?![^(]*\))", sentence[: ONE_LINE - 6])]
    return sentence[: cuts[-1]] + "." if cuts and cuts[-1] > 40 else sentence


def of_statement(comment: str) -> str:
    """Why a statement is there: all of its first paragraph, as it may be the reason for a line of code."""
    if "\n" not in comment and len(comment) <= 88:
        return unreferred(comment)
    return shown(plain(comment), 88)
