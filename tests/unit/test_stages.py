# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The stages describe themselves (--describe), and tools/stages.py asks again when one has been built anew."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tools import folders, stages

NAMES = sorted(stages.facts())


def said(name: str, role: str, option: str) -> str:
    """The stdout of a program."""
    program = folders.TOP / folders.folder(name) / role
    return subprocess.run([program, option], check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.parametrize("name", NAMES)
def test_both_sides_say_what_their_stage_is_made_of(name: str) -> None:
    """Their descriptions fit their options."""
    facts = stages.facts()[name]
    assert facts["stage"] == name
    assert [json.loads(said(name, role, "--describe")) for role in stages.ROLES] == [facts, facts]
    assert ("--max-clients" in said(name, "server", "--help")) == facts["serves_many"]
    assert ("--max-count" in said(name, "server", "--help")) == facts["negotiates"]


def test_a_stage_is_asked_again_when_it_has_been_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (folders, stages):
        monkeypatch.setattr(module, "TOP", tmp_path)
    ask, client = stages.facts.__wrapped__, tmp_path / "ping-x/client"
    for directory in ("ping-x", "build"):
        (tmp_path / directory).mkdir()
    (tmp_path / "ping-x/stage.c").touch()
    with pytest.raises(stages.NotBuilt, match="ping-x/client; run make"):
        ask()
    for second, sleeps in enumerate((True, False)):
        client.write_text(f"#!/bin/sh\necho '{json.dumps({'sleeps': sleeps})}'\n")
        client.chmod(0o755)
        assert ask() == ask() == {"ping-x": {"sleeps": sleeps}}
        os.utime(tmp_path / "build/stages.json", (second, second))
