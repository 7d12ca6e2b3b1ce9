# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The energy that the machine's processors use, from the kernel's RAPL counters, where there are any.

Place: below runner.py. Contract: only packages are counted, once each: their parts (core, uncore) are in them, 'psys' has
them in it, and intel-rapl-mmio shows them again. Memory ('dram') is not in them. Reads files; changes nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")


@dataclass(frozen=True)
class Reading:
    """The counters of all packages, in uJ, and the time when they were read."""

    clock_ns: int
    energy_uj: tuple[int, ...]


@dataclass(frozen=True)
class Packages:
    """The folders of the packages, and the value behind which each counter starts again at 0."""

    folders: tuple[Path, ...] = ()
    range_uj: tuple[int, ...] = ()

    def read(self) -> Reading:
        """Reads the counters."""
        now = time.monotonic_ns()
        return Reading(now, tuple(int((folder / "energy_uj").read_text()) for folder in self.folders))

    def watts(self, first: Reading, last: Reading) -> float:
        """The power of all packages between two readings, if no counter started again more than once."""
        used = 0
        for before, after, most in zip(first.energy_uj, last.energy_uj, self.range_uj):
            used += after - before if after >= before else after + most - before
        return used / ((last.clock_ns - first.clock_ns) / 1000)


def packages(powercap: Path = POWERCAP) -> tuple[Packages, str]:
    """Returns the readable packages, and their names; or none, and the reason: most kernels let only root read them."""
    try:
        zones = [(folder, (folder / "name").read_text().strip()) for folder in sorted(powercap.glob("intel-rapl:*"))]  # also for AMD
        folders = [folder for folder, name in zones if name.startswith("package-")]
        found = Packages(tuple(folders), tuple(int((folder / "max_energy_range_uj").read_text()) for folder in folders))
        found.read()
    except (OSError, ValueError) as error:
        return Packages(), f"none: {error}"
    return (found, ", ".join(folder.name for folder in folders)) if folders else (found, f"none: no package in {powercap}")
