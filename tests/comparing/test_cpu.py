# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The use of the machine by all: with files made up as in /proc."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.comparison import cpu


def test_the_machine_is_idle_while_it_waits_for_a_disk_or_its_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns are user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice: proc_stat(5)."""
    (tmp_path / "stat").write_text("cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 9 9 9 9 9 9 9 9 9 9\nintr 7\nctxt 1024\nbtime 5\n")
    monkeypatch.setattr(cpu, "PROC", tmp_path)
    machine = cpu.read_machine()
    assert (machine.idle_ticks, machine.irq_ticks, machine.softirq_ticks, machine.switches) == (8 + 16 + 128, 32, 64, 1024)
