# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The hosts of a fabric, and the command that starts a program on one of them.

Place: below tournament.py and match.py. Contract: an error in the file of hosts or in a launcher is a ValueError that
names the line or the option.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

# on one node of the allocation, at the same time as other steps
SRUN = ("--nodes=1", "--ntasks=1", "--overlap", "--cpu-bind=none", "--quiet", "--nodelist={host}")


@dataclass(frozen=True)
class Host:
    """A host. The launcher uses the name; address is that of its RDMA device."""

    name: str
    address: str


def named(name: str, address: str) -> Host:
    """A host. The address may be a template with {host} in it, such as '{host}-ib'."""
    return Host(name, address.replace("{host}", name))


def unique(hosts: list[Host], where: str) -> list[Host]:
    """Checks that there are at least two hosts, and that none is there twice."""
    names = [host.name for host in hosts]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{where} has {', '.join(twice)} more than once")
    if len(hosts) < 2:
        raise ValueError(f"{where} has {len(hosts)} hosts, and a pair is two")
    return hosts


def read(file: Path, address: str = "{host}") -> list[Host]:
    """Reads a line for each host: its name, and the address of its RDMA device if that is another one. # begins a
    comment."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: {getattr(error, 'strerror', None) or 'it is no text'}") from error
    hosts = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if len(words) > 2 or any(word.startswith("-") or ">" in word for word in words):
            raise ValueError(f"{file}: line {number} is not 'NAME' or 'NAME ADDRESS'")
        if words:
            hosts.append(Host(*words) if len(words) == 2 else named(words[0], address))
    return unique(hosts, str(file))


def of_allocation(address: str = "{host}") -> list[Host]:
    """The nodes of the Slurm job in which this was started."""
    nodes = os.environ.get("SLURM_JOB_NODELIST", "")
    if not nodes:
        raise ValueError("--hosts FILE is missing, and this is not within a job of Slurm, whose nodes it could take")
    said = subprocess.run(["scontrol", "show", "hostnames", nodes], capture_output=True, text=True, check=True)
    return unique([named(name, address) for name in said.stdout.split()], "the job")


def launcher(text: str) -> tuple[str, ...]:
    """The words of a launcher, with {host} in them. Only srun gets the options that start one process on one node."""
    words = shlex.split(text)
    if words and os.path.basename(words[0]) == "srun" and "{host}" not in text:
        words[1:1] = SRUN
    if not any("{host}" in word for word in words):
        raise ValueError(f"--launch '{text}' has no {{host}} in it, such as 'ssh {{host}}' has; only srun needs none")
    return tuple(words)


def on(words: tuple[str, ...], host: Host) -> tuple[str, ...]:
    """The launcher for one host."""
    return tuple(word.replace("{host}", host.name) for word in words)
