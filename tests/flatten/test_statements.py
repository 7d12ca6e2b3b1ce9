# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of tools/flatten/: reading C, writing it again, and simplifying it.

tests/pairs compiles and runs the programs that it writes.
"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tools.flatten import layout, source  # noqa: E402
from tools.flatten.expressions import Unknown, parse, show  # noqa: E402
from tools.flatten.statements import parse_body  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
ROOMS = ("common", "program", "ping-sr-0", "ping-sr-2", "ping-sr-4", "ping-sr-5", "blast-sr-2")


def words(text: str) -> str:
    """All but white space, comments, and strings cut in another place."""
    return "".join(source.strip_comments(text).split()).replace('""', "").replace(",}", "}")


class Expressions(unittest.TestCase):
    def test_shown_as_read(self) -> None:
        for text in (
            "a ? b : c", "x->y[3].z = (uint32_t)q * 2", 'f("  a" PRIu64 "b", g(), *p++)', '*text ? ": " : ""',
            "(struct x){ .a = 1, { 2, 3 } }", "sizeof(*p)", "sizeof(struct q)", "n & ~(unsigned int)FLAG",
            "!(a && b) || -c < d", "((struct sockaddr *)&x)->y", "(void **)&c", "1e-6 * x", "'\\'' == c",
        ):  # fmt: skip
            self.assertEqual(show(parse(text)), text)

    def test_strings_are_joined_but_not_across_a_line(self) -> None:
        self.assertEqual(show(parse('f("a " "b")')), 'f("a b")')
        self.assertEqual(show(parse('f("a\\n" "b")')), 'f("a\\n" "b")')

    def test_what_is_not_understood_is_said(self) -> None:
        for text in ("a b", "f(", "a ? b", "@"):
            with self.assertRaises(Unknown):
                parse(text)


class Statements(unittest.TestCase):
    def test_the_tree_is_written_as_it_was_read(self) -> None:
        """But for where lines are broken."""
        seen = 0
        for path in (path for room in ROOMS for path in sorted((ROOT / room).glob("*.c"))):
            for item in source.items(path, ROOT):
                if item.kind == "function":
                    again = layout.shown_function(item.text[: item.text.index("\n{")], parse_body(item.text))
                    self.assertEqual(words(again), words(item.text), item.names[0])
                    seen += 1
        self.assertGreater(seen, 100)

    def test_comments_stay_where_they_are(self) -> None:
        text = "int f(void)\n{\n\t/* why */\n\ta(); /* and how */\n\n\tif (b) /* or not */\n\t\tc();\n}"
        self.assertEqual(layout.shown_function("int f(void)", parse_body(text)), text)

    def test_a_comment_within_a_statement_is_not_lost(self) -> None:
        with self.assertRaises(Unknown):
            parse_body("int f(void)\n{\n\ta(/* b */ c);\n}")

    def test_else_and_braces(self) -> None:
        text = "int f(void)\n{\n\tif (a) {\n\t\tb();\n\t\tc();\n\t} else if (d) {\n\t\te();\n\t} else {\n\t\tg();\n\t}\n}"
        self.assertEqual(layout.shown_function("int f(void)", parse_body(text)), text)


class Lines(unittest.TestCase):
    def test_no_line_is_too_long(self) -> None:
        call = f"x = call({', '.join(f'argument_{number}' for number in range(12))});"
        lines = layout.filled(call, 2)
        self.assertEqual(words("".join(lines)), words(call))
        self.assertTrue(all(layout.columns(line) <= layout.WIDTH for line in lines) and len(lines) > 1)

    def test_a_head_is_broken_in_its_parentheses(self) -> None:
        head = f"static int function({', '.join(f'struct type *name_{number}' for number in range(6))})"
        lines = layout.filled_head(head)
        self.assertTrue(lines[0].startswith("static int function(struct type *name_0,"))
        self.assertEqual(words("".join(lines)), words(head))
        self.assertTrue(all(layout.columns(line) <= layout.WIDTH for line in lines))

    def test_a_string_is_cut_at_a_space(self) -> None:
        lines = layout.filled('f("' + "word " * 40 + '", a);', 1)
        self.assertTrue(all(layout.columns(line) <= layout.WIDTH for line in lines))
        self.assertEqual("".join(line.strip() for line in lines).replace('""', ""), 'f("' + "word " * 40 + '", a);')


class Items(unittest.TestCase):
    def item(self, text: str) -> source.Item:
        item = source.item_of(text, "", "x.c")
        assert item
        return item

    def test_kinds_and_names(self) -> None:
        for text, kind, names in (
            ("static int f(int a)\n{\n\treturn g(a);\n}", "function", ["f"]),
            ("int f(int a);", "prototype", ["f"]),
            ("struct s {\n\tint a;\n};", "type", ["s"]),
            ("enum e {\n\tA,\n\tB = 2,\n};", "type", ["e", "A", "B"]),
            ("enum e {\n\tA,\n\tB = 2,\n\tC\n};", "type", ["e", "A", "B", "C"]),
            ("static const struct s {\n\tint a;\n} table[] = {\n\t{ 1 },\n};", "type", ["s", "table"]),
            ("static const int table[] = { 1 };", "variable", ["table"]),
            ("#define N 1", "define", ["N"]),
            ("#include <errno.h>", "include", ["errno.h"]),
            ("LIST_HEAD(heads, head);", "type", ["heads"]),
        ):
            item = self.item(text)
            self.assertEqual((item.kind, item.names), (kind, names), text)

    def test_what_is_called(self) -> None:
        text = 'int f(void)\n{\n\t/* h */\n\treturn g("k", x->m, y.n);\n}'
        self.assertEqual(self.item(text).calls & set("ghkmnxy"), {"g", "x", "y"})

    def test_members_are_no_calls(self) -> None:
        self.assertNotIn("count", self.item("struct s {\n\tstruct t count;\n};").calls)

    def test_a_member_may_have_the_name_of_its_type(self) -> None:
        item = self.item("static struct s {\n\tenum t t;\n\tint a[N];\n} table[] = {\n\t{ A, { 1 } },\n};")
        self.assertEqual(item.calls & {"t", "a", "N", "A"}, {"t", "N", "A"})


if __name__ == "__main__":
    unittest.main()
