# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of tools/flatten/: what is taken out of a function, and what must stay.

Whether the programs that it writes work is shown by tests/pairs, which compiles and runs them.
"""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tools.flatten import source, statements  # noqa: E402

RULES = statements.Rules(
    calls=re.compile(r"measure\("),
    counts=re.compile(r"count(?:\+\+| = .*);$"),
    false=re.compile(r"options->extra"),
)


def function(*body: str) -> str:
    return "\n".join(["int f(void)", "{"] + ["\t" + line for line in body] + ["}"])


class Edit(unittest.TestCase):
    def check(self, before: list[str], after: list[str]) -> None:
        self.assertEqual(statements.edit(function(*before), RULES), function(*after))

    def test_a_statement_goes_with_its_comment(self) -> None:
        self.check(["a();", "/* why */", "measure(1,", "\t2);", "b();"], ["a();", "b();"])

    def test_what_only_mentions_it_stays(self) -> None:
        self.check(["ret = measure(1);"], ["ret = measure(1);"])

    def test_a_head_goes_with_its_only_statement(self) -> None:
        self.check(["a();", "if (x)", "\tmeasure(1);", "b();"], ["a();", "b();"])
        self.check(["for (i = 0; i < n;", "     i++)", "\tmeasure(i);", "b();"], ["b();"])

    def test_a_block_keeps_its_head(self) -> None:
        self.check(["if (x) {", "\tmeasure(1);", "\ta();", "}"], ["if (x) {", "\ta();", "}"])

    def test_a_condition_that_never_holds_takes_its_body_along(self) -> None:
        self.check(["if (options->extra) {", "\ta();", "}", "b();"], ["b();"])
        self.check(["if (!ret && options->extra)", "\ta();", "b();"], ["b();"])
        self.check(["if (ret || options->extra)", "\ta();"], ["if (ret || options->extra)", "\ta();"])

    def test_its_opposite_always_holds(self) -> None:
        self.check(["if (!options->extra)", "\ta();"], ["a();"])

    def test_an_else_is_not_guessed_at(self) -> None:
        with self.assertRaises(ValueError):
            statements.edit(function("if (options->extra)", "\ta();", "else", "\tb();"), RULES)


class Locals(unittest.TestCase):
    def test_those_without_use_go(self) -> None:
        before = function("int a, b = 1;", "int *c = &d;", "", "return a;")
        self.assertEqual(statements.without_unused_locals(before), function("int a;", "", "return a;"))

    def test_those_that_are_only_set_go(self) -> None:
        before = function("int a = 0, b;", "", "b = a;", "return a;")
        self.assertEqual(statements.without_unused_locals(before), function("int a = 0;", "", "return a;"))

    def test_a_call_is_no_mere_assignment(self) -> None:
        before = function("int b;", "", "b = g();")
        self.assertEqual(statements.without_unused_locals(before), before)


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


if __name__ == "__main__":
    unittest.main()
