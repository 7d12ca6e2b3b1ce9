# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Named replacements: "in function F of this source, replace this statement by that".

Place: used by bug.py and make.py. Contract: the search for the old text ignores white space and comments, so an edit
still applies after a change of the layout or of other lines. If the text is not in that function exactly once, that is
an error.
"""

import re

from . import cut

COMMENT = r"/\*(?:[^*]|\*(?!/))*\*/"
TOKEN = re.compile(rf'{COMMENT}|"(?:\\.|[^"\\])*"|\w+|->|[-+*/%<>=!&|^]=|<<|>>|&&|\|\||\+\+|--|\S')
GAP = rf"(?:\s|{COMMENT})*"
STRING = r'"(?:\\.|[^"\\\n])*"'
KEPT = r"^/\* SPDX[^\n]*\n|[ \t]*/\* fall through \*/"  # comments that stay
REMOVABLE = re.compile(rf"({STRING}|{KEPT})|^[ \t]*{COMMENT}[ \t]*\n|[ \t]*{COMMENT}", re.MULTILINE)


class DoesNotApply(Exception):
    """The text is missing, or there more than once."""


def pattern(old: str) -> re.Pattern[str]:
    """The pattern that finds the old text in any layout."""
    pieces = []
    for token in TOKEN.findall(old):
        if token.startswith("/*"):
            words = token[2:-2].replace("*", " ").split()
            pieces.append(r"/\*[\s*]*" + r"[\s*]+".join(map(re.escape, words)) + r"\s*\*/")
        elif re.fullmatch(r"\w+", token):
            pieces.append(rf"\b{token}\b")
        else:
            pieces.append(re.escape(token))
    return re.compile(GAP.join(pieces))


def without_comments(source: str) -> str:
    """The source without its comments, except those for a license or for the compiler."""
    return re.sub(r"\n{3,}", "\n\n", REMOVABLE.sub(lambda found: found[1] or "", source))


def _code(source: str) -> list[str]:
    """The tokens that the compiler sees."""
    return [token for token in TOKEN.findall(source) if not token.startswith("/*")]


def same(one: str, other: str) -> bool:
    """Returns whether two sources differ in nothing but comments and layout."""
    return _code(one) == _code(other)


def replace(source: str, function: str, old: str, new: str) -> str:
    """The source after the edit. A comment at the end of the replaced line is removed with it."""
    lines = source.split("\n")
    _, first, last = cut.find(lines, function)
    before, body, after = lines[:first], "\n".join(lines[first : last + 1]), lines[last + 1 :]
    found = list(pattern(old).finditer(body))
    if len(found) != 1:
        raise DoesNotApply(f"in {function} there is {len(found)} times: {old.strip()}")
    start, end = found[0].span()
    line = body.rfind("\n", 0, start) + 1
    rest = re.compile(rf"[ \t]*{COMMENT}(?=\n)").match(body, end)
    end = rest.end() if rest else end
    if not new.strip() and not body[line:start].strip() and body[end] == "\n":
        return "\n".join([*before, body[:line] + body[end + 1 :], *after])
    indent = "\n" + re.match(r"\s*", body[line:])[0]  # type: ignore[index]
    text = indent.join(new.strip("\n").split("\n"))
    return "\n".join([*before, body[:start] + text + body[end:], *after])
