# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of page.py, and that it can read each page."""

from __future__ import annotations

import unittest

from quotes import page, pages

PAGE = """# A page

## First

Predict.

    $ run 'server &
          client'
    a/client (client): 900 messages, p50 1.5 us
    ...
      completions    1800, 1.21 for each
    $ other

Explain 1800, and `-c 900`.

## Second

    plain command

    $ capture
         0.5 RTU --------> QP 17
         0.6 data (56 bytes) 0000...: count 7, ...
"""


class Pages(unittest.TestCase):
    """What is found in a page."""

    def setUp(self) -> None:
        self.first, self.other, self.second = page.quotes("p", PAGE)

    def test_commands(self) -> None:
        self.assertEqual(self.first.command, "run 'server &\n      client'")
        self.assertEqual((self.other.command, self.other.lines), ("other", ()))
        self.assertEqual([quote.title for quote in (self.first, self.second)], ["p: First", "p: Second"])

    def test_what_is_printed(self) -> None:
        output = "a/client (client): 810 messages, p50 9 us\n  completions 1800, 1.9 for each\n"
        self.assertEqual(page.missing(self.first, output), [])
        self.assertEqual(page.missing(self.second, "1.5 RTU ---> QP 9\n2 data (32 bytes) 00ff: count 1, size 2\n"), [])

    def test_a_line_that_is_not_printed(self) -> None:
        output = "a/client (client): 810 messages, p50 9 us, late\n  completions 1800, 1.9 for each\n"
        self.assertEqual(len(page.missing(self.first, output)), 1)
        self.assertEqual(len(page.missing(self.second, "1.5 RTU <--- QP 9\n2 data (32 bytes) ff: size 2\n")), 2)

    def test_a_number_that_the_prose_repeats(self) -> None:
        output = "a/client (client): 810 messages, p50 9 us\n  completions 1801, 1.9 for each\n"
        self.assertEqual(len(page.missing(self.first, output)), 1)

    def test_names_are_no_numbers(self) -> None:
        self.assertEqual(page.bare("ping-sr-0/client: 7 0x1f qp1 192.0.2.1", frozenset()), "ping-sr-0/client: # # qp1 #.#")

    def test_chance(self) -> None:
        quote = page.quotes("p", "The 5 was lost.\n\n    $ capture --loss 9\n    PSN 5\n")[0]
        self.assertEqual(page.missing(quote, "PSN 8"), [])

    def test_what_cannot_be_tested(self) -> None:
        for text in ("    a/client: says\n", "    $ run 'server\n", "    $ run\n    make all\n"):
            with self.assertRaises(page.NotAPage):
                page.quotes("p", text)


class Real(unittest.TestCase):
    """The pages whose quotes are tested."""

    def test_each_can_be_read(self) -> None:
        for name in pages.PAGES:
            self.assertTrue(pages.of(name), name)


if __name__ == "__main__":
    unittest.main()
