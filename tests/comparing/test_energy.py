# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The energy of processors: with files made up as in /sys/class/powercap, as virtual machines have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.comparison import energy, page
from bench.comparison.runner import Runner
from comparing.made_up import results

RANGE = 262143328850  # uJ, of many processors of Intel's


def zone(powercap: Path, folder: str, name: str, uj: int) -> None:
    (powercap / folder).mkdir(exist_ok=True)
    for file, text in (("name", name), ("energy_uj", uj), ("max_energy_range_uj", RANGE)):
        (powercap / folder / file).write_text(f"{text}\n")


def two_packages(powercap: Path, first: int, second: int) -> None:
    """Makes two packages, and counters that must not be added to them."""
    zone(powercap, "intel-rapl:0", "package-0", first)
    zone(powercap, "intel-rapl:0:0", "core", first // 2)
    zone(powercap, "intel-rapl:0:1", "dram", 7)
    zone(powercap, "intel-rapl:1", "package-1", second)
    zone(powercap, "intel-rapl:2", "psys", first + second)
    zone(powercap, "intel-rapl-mmio:0", "package-0", first)


def test_none() -> None:
    assert energy.packages(Path("/nowhere")) == (energy.Packages(), "none: no package in /nowhere")


def test_each_package_counts_once_and_starts_again_at_0(tmp_path: Path) -> None:
    two_packages(tmp_path, 1000, RANGE - 3_000_000)
    found, said = energy.packages(tmp_path)
    assert said == "intel-rapl:0, intel-rapl:1"
    first = found.read()
    two_packages(tmp_path, 10_001_000, 2_000_000)  # the counters rose by 10 J, and 3 + 2 J
    last = found.read()
    assert last.clock_ns > first.clock_ns
    assert found.watts(energy.Reading(0, first.energy_uj), energy.Reading(2_000_000_000, last.energy_uj)) == 7.5


@pytest.mark.parametrize("file", ["energy_uj", "max_energy_range_uj"])
def test_what_cannot_be_read_is_said(tmp_path: Path, file: str) -> None:
    two_packages(tmp_path, 1, 2)
    (tmp_path / "intel-rapl:1" / file).unlink()
    found, said = energy.packages(tmp_path)
    assert not found.folders and said.startswith("none: ") and f"intel-rapl:1/{file}" in said


def test_a_window_has_it(tmp_path: Path) -> None:
    """The counters stand still, so that the power is 0: of a machine without any there is no figure."""
    two_packages(tmp_path, 1, 2)
    runner = Runner(tmp_path, window=0.01, limit=10)
    sleeping = runner.children.start("sleeping", ["sleep", "60"])
    try:
        assert runner.use_of([sleeping], 0.0)[2] == {}
        runner.packages = energy.packages(tmp_path)[0]
        assert runner.use_of([sleeping], 0.0)[2] == {"watts": 0.0}
    finally:
        runner.children.end_all()


def test_the_report_has_a_column() -> None:
    made = results()
    assert "mJ a message" not in page.page([made])
    for one in made.samples:
        one.figures["watts"] = 0.25 * one.figures["rate"]
    text = page.table(made, "RoCE")
    assert "<th>mJ a message</th>" in text
    assert text.count("<td>250 [250, 250]</td>") == 10
