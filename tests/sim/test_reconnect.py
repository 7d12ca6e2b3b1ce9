# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ping-reconnect-2 loses and duplicates nothing, at whatever call its server is killed, and whatever breaks its connection: the
client has each answer, and the journal has each message once, in order.

Contract: servers come one second after the other, and the next one listens where the one before did.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from sim.simulation import ADDRESS, OF_ITS_OWN, TRANSPORTS, Run, simulate

STAGE = "beyond/ping-reconnect-2"
MESSAGES, KILLED = 4, 128 + 9
OVER = pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)


def run(folder: Path, transport: list[str], *options: str, servers: int = 2, apart: int = 1, count: int = MESSAGES, more: str = "") -> Run:
    """The servers, and a client. The last server serves until it is told to stop, the others one client."""
    folder.mkdir()
    server = [f"{STAGE}/server", "-q", "-a", ADDRESS, "--journal", str(folder)]
    programs = [["build/tests/sim/programs", "later", str(apart * late), *server] for late in range(servers - 1)]
    programs += [["build/tests/sim/programs", "later", str(apart * (servers - 1)), *server, "-n", "0"]]
    client = [f"{STAGE}/client", "-a", ADDRESS, "-w", "60", "-v", "-j", "-c", str(count), *more.split()]
    return simulate([*programs, client], *transport, "--servers", str(servers), *options)


def check(done: Run, folder: Path, count: int = MESSAGES) -> None:
    """What was promised."""
    assert done.exit not in OF_ITS_OWN and not done.statuses[-1], done.why()
    result = json.loads(done.out)
    assert result["complete"] and result["verified"], done.why()
    (journal,) = folder.iterdir()
    assert [int(line) for line in journal.read_text().splitlines()] == [*range(count)], done.why()


@OVER
def test_its_server_is_killed_at_each_call(transport: list[str], tmp_path: Path) -> None:
    """Until it makes no more calls. The first four belong to what starts it."""
    number, killed = 1, 0
    while True:
        folder = tmp_path / str(number)
        done = run(folder, transport, "--fail", f"0:{number}:SIGKILL")
        check(done, folder)
        if not done.fault:
            break
        assert done.statuses[0] == KILLED and not any(done.statuses[1:]), done.why()
        killed += "goes on with message" in done.err
        number += 1
    assert number > 60 and killed > 10


@OVER
def test_each_of_its_servers_is_killed(transport: list[str], tmp_path: Path) -> None:
    """Five, each at any of its calls, and in any order of events. A client may notice after 23 s only, by the device's retries."""
    for seed in range(1, 11):
        folder, random = tmp_path / str(seed), Random(seed)
        faults = [f"--fail={server}:{random.randrange(20, 90)}:SIGKILL" for server in range(5)]
        done = run(folder, transport, "--seed", str(seed), *faults, servers=6, apart=30, count=200, more="--rate 40 -w 600")
        check(done, folder, 200)
        assert done.statuses == [KILLED] * 5 + [0, 0], done.why()


@OVER
def test_a_run_for_a_time_goes_on(transport: list[str], tmp_path: Path) -> None:
    """Over a new connection, and no server expects messages after its end."""
    fault = f"1:ibv_post_send:4:{'WR_FLUSH_ERR' if transport else 'RETRY_EXC_ERR'}"
    server = [f"{STAGE}/server", "-j", "-n", "2", "-a", ADDRESS, "--journal", str(tmp_path)]
    done = simulate([server, [f"{STAGE}/client", "-j", "-a", ADDRESS, *"-w 60 -D 2 --rate 10".split()]], *transport, "--fail", fault)
    *_, one, other = [json.loads(line)["complete"] for line in done.out.splitlines()]
    assert not done.exit and one and other and "goes on with message" in done.err and "left after" not in done.err, done.why()


# libsiw knows no status for a peer that does not answer.
BREAKS = [pytest.param(TRANSPORTS[name], how, id=f"{name}-{how}") for name, how in (("RoCE", "RETRY_EXC_ERR"), ("RoCE", "WR_FLUSH_ERR"), ("iWARP", "WR_FLUSH_ERR"))]


@pytest.mark.parametrize("transport, how", BREAKS)
def test_its_connection_breaks(transport: list[str], how: str, tmp_path: Path) -> None:
    """The server lives on, and may not know yet that the connection has ended, nor have seen all that came over it."""
    for seed in range(1, 21):
        folder = tmp_path / str(seed)
        done = run(folder, transport, "--seed", str(seed), f"--fail=1:ibv_post_send:{1 + seed % MESSAGES}:{how}", servers=1)
        check(done, folder)
        assert done.fault and "goes on with message" in done.err, done.why()


@OVER
def test_its_connection_breaks_when_it_has_lasted_longer_than_a_client_waits(transport: list[str], tmp_path: Path) -> None:
    """The wait for a server begins then, not with the program."""
    done = run(tmp_path / "late", transport, "--fail", "1:ibv_post_send:5:WR_FLUSH_ERR", servers=1, count=8, more="-w 2 --rate 1")
    check(done, tmp_path / "late", 8)
    assert "goes on with message 4" in done.err, done.why()
