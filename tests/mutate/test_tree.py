# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests of what is found in a file, and of what is planted there."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from mutate import tree

PREFIX = """#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#define TWICE(x) ((x) * 2 + 1)
enum colour { RED, GREEN };
struct point { int x; int y; };
int take(int a); void pool_close(int a); void pool_free(int a);
static atomic_int level;
"""
# One fault in a line of its own: the code, the operator, and all that it may become.
CASES: tuple[tuple[str, str, set[str]], ...] = (
    ("take(1);", "call dropped", {";"}),
    ("a = 1;", "assignment dropped", {";"}),
    ("a++;", "assignment dropped", {";"}),
    ("while (a) a -= 2;", "statement dropped", {";"}),
    ("for (;;) { take(1); }", "statement dropped", {";"}),
    ("if (a) return 1;", "return dropped", {"if (a) ;"}),
    ("while (a) break;", "jump dropped", {"while (a) ;"}),
    ("struct point p = { .x = 1, .y = a };", "field dropped", {"struct point p = {  .y = a };", "struct point p = { .x = 1, };"}),
    ("if (a) b = 1; else b = 2;", "condition negated", {"if (!(a)) b = 1; else b = 2;"}),
    ("if (a == 2) b = 1;", "condition shifted", set()),  # it would be the same as to negate it
    ("b = a == 2;", "condition shifted", {"b = a != 2;"}),
    ("b = a <= 2;", "condition shifted", {"b = a < 2;"}),
    ("b = a && take(a);", "and, or", {"b = a || take(a);"}),
    ("b = a + TWICE(a);", "arithmetic", {"b = a - TWICE(a);"}),
    ("b <<= a;", "arithmetic", {"b >>= a;"}),
    ("b = 16;", "constant", {"b = 17;", "b = 15;"}),
    ("b = 0x1fu;", "constant", {"b = 0x20u;", "b = 0x1eu;"}),
    ("b = RED;", "enumerator", {"b = GREEN;"}),
    ("b = EIO;", "errno", {"b = EINVAL;"}),
    ("b = htons(a);", "byte order", {"b = (a);"}),
    ("b = atomic_load(&level);", "memory order", {"b = atomic_load_explicit(&level, memory_order_relaxed);"}),
    ("pool_close(a); pool_free(b);", "tear-down swapped", {"pool_free(b); pool_close(a);"}),
    ("take(a); take(b);", "tear-down swapped", set()),
)


def faults(code: str) -> list[tuple[tree.Site, str]]:
    """Each site of the code in a function of its own, with the line that it becomes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.c"
        path.write_text(f"{PREFIX}int f(int a, int b)\n{{\n{code}\nreturn a + b;\n}}\n")
        text = path.read_bytes()
        found = []
        for site in tree.sites("one.c", path, ["-std=c11"]):
            for new in site.choices:
                changed = site.planted(text, new).decode().splitlines()
                assert len(changed) == len(text.splitlines()), site
                found.append((site, changed[10].strip()))
    last = [site.operator for site, _ in found if site.line == len(text.splitlines()) - 1]
    assert last == ["arithmetic"], "the function would return nothing"
    return [(site, line) for site, line in found if site.line == 11]


class Operators(unittest.TestCase):
    """Each operator, on a line of code."""

    def test_each(self) -> None:
        """Exactly these faults of the operator are found."""
        for code, operator, wanted in CASES:
            with self.subTest(code=code, operator=operator):
                self.assertEqual({line for site, line in faults(code) if site.operator == operator}, wanted)

    def test_macros_are_left_alone(self) -> None:
        """What a macro expands to is no place for a fault, but its definition is."""
        self.assertEqual({site.operator for site, _ in faults("TWICE(a + 1);")}, {"statement dropped"})
        self.assertIn("#define LIMIT 17", [line for _, line in faults("#define LIMIT 16")])

    def test_line_counts_are_kept(self) -> None:
        """faults() looks at that; it knows the function's lines."""
        found = faults("if (a) {\n\ttake(a);\n\ttake(b);\n}")
        self.assertIn("statement dropped", {site.operator for site, _ in found})
        self.assertEqual({site.function for site, _ in found}, {range(9, 17)})

    def test_what_does_not_compile_is_an_error(self) -> None:
        """A header that is not there would hide sites."""
        with self.assertRaisesRegex(ValueError, "cannot read one.c"):
            faults("undeclared = 1;")
