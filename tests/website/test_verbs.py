# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compares docs/verbs.md with the sources."""

import re

from tools.website import prototypes, verbs
from tools.website.pages import TOP


def test_page() -> None:
    used = verbs.used()
    assert len(used) > 50
    assert verbs.documented() == used


def test_prototypes() -> None:
    """Each part of the page asks for its own: lint checks that they are current."""
    page = (TOP / "docs/verbs.md").read_text()
    asked = re.findall(r"^<!-- table: (prototypes-\S+) -->$", page, re.MULTILINE)
    assert asked == list(prototypes.parts())
    assert {verb for part in asked for verb in prototypes.parts()[part]} == set(verbs.documented())


def test_layout() -> None:
    """A macro's prototype has the types of the function behind it; lines are short."""
    found = prototypes.prototypes()
    assert found["ibv_dealloc_pd"] == "int ibv_dealloc_pd(struct ibv_pd *pd);"
    assert "struct ibv_port_attr *port_attr" in found["ibv_query_port"]
    assert prototypes.wrapped("int f(", ["int " + "a" * 50, "int " + "b" * 50]) == f"int f(int {'a' * 50},\n      int {'b' * 50});"
