# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Describes the place of the measurement: links with their addresses and devices, and the kind of machine.

Place: below runner.py and measure.py. Contract: reads files and runs rdma(8); changes nothing.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DEVICES = Path("/sys/class/infiniband")
CPUS = Path("/sys/devices/system/cpu")
SLOW_US = 10  # an idle state that takes longer to leave changes what a wake-up costs


@dataclass(frozen=True)
class Link:
    """A transport that both programs use; device is empty if it is not known."""

    name: str
    address: str
    device: str = ""

    def gid_index(self) -> str:
        """The index of the address in the device's GID table, for programs without the CM; empty if there is none."""
        wanted = "0000:0000:0000:0000:0000:ffff:"
        try:
            raw = socket.inet_pton(socket.AF_INET, self.address).hex()
        except OSError:
            return ""
        wanted += f"{raw[:4]}:{raw[4:]}"
        for file in sorted((DEVICES / self.device / "ports/1/gids").glob("*")):
            try:
                if file.read_text().strip() == wanted:
                    return file.name
            except OSError:
                continue
        return ""


def links() -> list[Link]:
    """The links that the environment names: RDMA_ADDR, or the variables of lab/run."""
    found = []
    for name, address, device in (
        ("RDMA", "RDMA_ADDR", "RDMA_DEV"),
        ("RoCE", "LAB_ROCE_ADDR", "LAB_ROCE_DEV"),
        ("iWARP", "LAB_IWARP_ADDR", "LAB_IWARP_DEV"),
    ):
        if os.environ.get(address):
            found.append(Link(name, os.environ[address], os.environ.get(device, "")))
    return found


def listening(port: int, with_cm: bool) -> bool:
    """Returns whether the kernel lists a listener on the port, of the CM or of TCP."""
    if with_cm:
        said = subprocess.run(["rdma", "resource", "show", "cm_id"], capture_output=True, text=True, check=False)
        return any("state LISTEN" in line and f":{port} " in line + " " for line in said.stdout.splitlines())
    lines = [line for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    return any(f":{port:04X} " in line and " 0A " in line for line in lines)


def first_line(file: str) -> str:
    """The contents of a file; empty if it cannot be read."""
    try:
        return Path(file).read_text().strip().splitlines()[0]
    except (OSError, IndexError):
        return ""


def output(*command: str) -> str:
    """The output of a command; empty if it fails."""
    if shutil.which(command[0]) is None:
        return ""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def processor() -> str:
    """The name of the processor."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].partition(": ")[2] if names else platform.machine()


def driver(device: str) -> str:
    """The kernel module of the device. The software devices have none to look up: 'rxe', 'siw'."""
    module = DEVICES / device / "device/driver/module"
    return module.resolve().name if device and module.exists() else device.rstrip("0123456789")


def emulation() -> str:
    """Says why absolute times have no meaning here; empty if they have."""
    clock = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if "TCG" in processor() or ("QEMU" in first_line("/sys/class/dmi/id/sys_vendor") and clock != "kvm-clock"):
        return "the processor is emulated by QEMU (TCG)"
    return ""


def idle_states(cpus: Path = CPUS) -> list[tuple[str, int]]:
    """Returns the idle states that the first CPU may enter, with the time to leave each, in us."""
    found = []
    for state in sorted(cpus.glob("cpu0/cpuidle/state*")):
        name, us = first_line(f"{state}/name"), first_line(f"{state}/latency")
        if us.isdigit() and first_line(f"{state}/disable") != "1":
            found.append((name, int(us)))
    return found


def turbo(cpus: Path = CPUS) -> str:
    """Says whether the clock may exceed its nominal rate; empty if the kernel does not tell."""
    without, boost = first_line(f"{cpus}/intel_pstate/no_turbo"), first_line(f"{cpus}/cpufreq/boost")
    if not without + boost:
        return ""
    return "on" if without == "0" or (not without and boost == "1") else "off"


def unsteady(cpus: Path = CPUS) -> list[str]:
    """Returns the power saving of the processor that changes results, with the command for root that turns each off for a run."""
    said = []
    governor = first_line(f"{cpus}/cpu0/cpufreq/scaling_governor")
    if governor not in ("", "performance"):
        said.append(f"the governor is {governor}, which lowers the clock of a CPU that sleeps often: cpupower frequency-set -g performance")
    slow = [f"{name} takes {us} us" for name, us in idle_states(cpus) if us > SLOW_US]
    if slow:
        said.append(f"a CPU wakes up late from idle states ({', '.join(slow)}): cpupower idle-set -D {SLOW_US} (later: -E)")
    if turbo(cpus) == "on":
        file = "intel_pstate/no_turbo" if (cpus / "intel_pstate").exists() else "cpufreq/boost"
        said.append(f"turbo is on, so that the clock depends on load and heat: echo {int('no_' in file)} >{cpus}/{file}")
    return said


def describe(all_links: list[Link]) -> dict[str, object]:
    """Returns the environment, for the report."""
    reads: dict[str, Callable[[], str]] = {
        "kernel": platform.release,
        "distribution": lambda: platform.freedesktop_os_release().get("PRETTY_NAME", ""),
        "processor": processor,
        "clocksource": lambda: first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "governor": lambda: first_line(f"{CPUS}/cpu0/cpufreq/scaling_governor"),
        "idle states": lambda: ", ".join(f"{name} {us} us" for name, us in idle_states()),
        "turbo": turbo,
        "rdma-core": lambda: output("dpkg-query", "--show", "--showformat", "${Version}", "libibverbs1"),
        "perftest": lambda: output("dpkg-query", "--show", "--showformat", "${Version}", "perftest"),
        "commit": lambda: output("git", "describe", "--always", "--dirty"),
        "emulated": emulation,
    }
    told: dict[str, object] = {name: read() for name, read in reads.items()}
    told["cpus"] = os.cpu_count() or 1
    told["pinned to"] = sorted(os.sched_getaffinity(0))  # the CPUs that the programs may use
    told["links"] = [
        {
            "name": link.name,
            "address": link.address,
            "device": link.device,
            "driver": driver(link.device),
            "firmware": first_line(f"{DEVICES}/{link.device}/fw_ver"),
        }
        for link in all_links
    ]
    return told
