# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""bench/fabric with real drivers: with hosts that are addresses of one machine, and with the nodes of a Slurm cluster."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif("LAB_GUEST" not in os.environ, reason="it adds addresses: only in a guest of the lab"),
]
TOP = Path(__file__).resolve().parents[2]
LIMIT_S = 600
NETWORK = os.environ.get("LAB_ROCE_ADDR", "").rpartition(".")[0]
FABRIC = "bench/fabric --program ping-sr-3 --rounds 1".split()
with_slurm = pytest.mark.skipif(
    not (shutil.which("slurmctld") and shutil.which("munged")), reason="slurm-wlm and munge are not installed"
)
# The slurmd of n3 is killed after the tournament has begun.
IN_JOB = """
    timeout -s KILL {limit} {fabric} --launch srun --rounds 2 >{said} 2>&1 &
    until grep -q 'round 1' {said}; do sleep 0.1; done
    kill -KILL $(cat ${{SLURM_CONF%/*}}/slurmd.n3.pid)
    wait $!; status=$?
    cat {said}
    exit $status
"""


@pytest.fixture(scope="module", autouse=True)
def addresses() -> Iterator[None]:
    """Of two more hosts, n2 and n3."""
    for action in ("add", "del"):
        for host in (2, 3):
            command = ["ip", "addr", action, f"{NETWORK}.{host}/24", "dev", os.environ["LAB_ROCE_NETDEV"]]
            subprocess.run(command, check=True, timeout=60)
        if action == "add":
            yield


class Tournament:
    """Of hosts in a file, with results in a folder."""

    def __init__(self, folder: Path, hosts: dict[str, str]) -> None:
        """Nothing is started."""
        self.out, self.hosts = folder / "out", folder / "hosts"
        self.hosts.write_text("".join(f"{name} {address}\n" for name, address in hosts.items()))
        self.options = ["--hosts", str(self.hosts), "--folder", str(self.out)]

    def run(self, *command: str) -> tuple[int, str]:
        """Its exit status, and what it says."""
        done = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
        return done.returncode, done.stdout

    def slurm(self, *command: str) -> tuple[int, str]:
        """Within a cluster of three nodes."""
        return self.run("bench/slurm-lab", *(f"n{host}={NETWORK}.{host}" for host in (1, 2, 3)), "--", *command)

    def measured(self) -> dict[str, int]:
        """The pairs that were measured, and how often."""
        samples = json.loads((self.out / "results.json").read_text())["samples"]
        good = [one for one in samples if one["figures"]["p50_us"] > 0 and one["figures"]["rate"] > 0]
        return Counter(" ".join(sorted(one["link"].split(">"))) for one in good)


HOSTS = {f"n{host}": f"{NETWORK}.{host}" for host in (1, 2, 3)}
ONCE = {"n1 n2": 1, "n1 n3": 1, "n2 n3": 1}


@pytest.fixture
def tournament(tmp_path: Path) -> Tournament:
    """Of three hosts."""
    return Tournament(tmp_path, HOSTS)


def test_three_hosts(tournament: Tournament) -> None:
    """Each pair once."""
    status, said = tournament.run(*FABRIC, *tournament.options, "--launch", "env HOST={host}", "--at-once", "1")
    assert status == 0 and "CPU a message" in said, said
    assert tournament.measured() == ONCE


def test_no_device(tmp_path: Path) -> None:
    """No device has the address of n4: it can be a client, as it is for n2, but not a server. The others are measured."""
    tournament = Tournament(tmp_path, HOSTS | {"n4": f"{NETWORK}.99"})
    status, said = tournament.run(*FABRIC, *tournament.options, "--launch", "env HOST={host}")
    assert status == 1 and re.search("^n1 and n4 failed 1 times: .*no RDMA device serves", said, re.MULTILINE), said
    assert tournament.measured() == ONCE | {"n2 n4": 1}


@with_slurm
def test_nodes_of_slurm(tournament: Tournament, tmp_path: Path) -> None:
    """Each pair once."""
    batch = ["sbatch", "--wait", "--nodes=3", f"--output={tmp_path}/job", "bench/fabric.sbatch"]
    status, said = tournament.slurm(*batch, "--program", "ping-sr-3", "--rounds", "1", *tournament.options)
    assert status == 0, said + (tmp_path / "job").read_text()
    assert tournament.measured() == ONCE


@with_slurm
def test_a_node_is_killed(tournament: Tournament, tmp_path: Path) -> None:
    """It is named, and the others are measured."""
    fabric = " ".join([*FABRIC, *tournament.options])
    (tmp_path / "in-job").write_text(IN_JOB.format(limit=LIMIT_S, fabric=fabric, said=tmp_path / "said"))
    status, said = tournament.slurm("salloc", "--quiet", "--nodes=3", "--no-kill", "bash", str(tmp_path / "in-job"))
    assert status == 1 and re.search("^n3 does not answer", said, re.MULTILINE), said
    pairs = dict(tournament.measured())
    assert pairs.pop("n1 n2") == 2 and {*pairs} <= {"n1 n3", "n2 n3"} and {*pairs.values()} <= {1}
