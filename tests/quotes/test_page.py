# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of page.py, and that it can read each page."""

import pytest

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

FIRST, OTHER, SECOND = page.quotes("p", PAGE)


def test_commands() -> None:
    assert FIRST.command == "run 'server &\n      client'"
    assert (OTHER.command, OTHER.lines) == ("other", ())
    assert [quote.title for quote in (FIRST, SECOND)] == ["p: First", "p: Second"]


def test_what_is_printed() -> None:
    output = "a/client (client): 810 messages, p50 9 us\n  completions 1800, 1.9 for each\n"
    assert page.missing(FIRST, output) == []
    assert page.missing(SECOND, "1.5 RTU ---> QP 9\n2 data (32 bytes) 00ff: count 1, size 2\n") == []


def test_a_line_that_is_not_printed() -> None:
    output = "a/client (client): 810 messages, p50 9 us, late\n  completions 1800, 1.9 for each\n"
    assert len(page.missing(FIRST, output)) == 1
    assert len(page.missing(SECOND, "1.5 RTU <--- QP 9\n2 data (32 bytes) ff: size 2\n")) == 2


def test_a_number_that_the_prose_repeats() -> None:
    output = "a/client (client): 810 messages, p50 9 us\n  completions 1801, 1.9 for each\n"
    assert len(page.missing(FIRST, output)) == 1


def test_names_are_no_numbers() -> None:
    assert page.bare("ping-sr-0/client: 7 0x1f qp1 192.0.2.1", frozenset()) == "ping-sr-0/client: # # qp1 #.#"


def test_chance() -> None:
    quote = page.quotes("p", "The 5 was lost.\n\n    $ capture --loss 9\n    PSN 5\n")[0]
    assert page.missing(quote, "PSN 8") == []


def test_what_cannot_be_tested() -> None:
    for text in ("    a/client: says\n", "    $ run 'server\n", "    $ run\n    make all\n"):
        with pytest.raises(page.NotAPage):
            page.quotes("p", text)


def test_each_can_be_read() -> None:
    for name in pages.PAGES:
        assert pages.of(name), name
