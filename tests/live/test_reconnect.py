# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ping-reconnect-2: its server is killed hundreds of times, and its client has each answer, and the journal each message once.
tests/sim/test_reconnect.py kills it at each of its calls. ping-sr-4's server is killed while it has many clients.
"""

from pathlib import Path
from random import Random

import pytest
from live.conftest import ENDLESS, Client, Run, Server
from live.processes import Process, until
from live.table import each

LINE = 13  # bytes of a journal's line


def messages(folder: Path) -> int:
    """Returns how many messages are done."""
    return sum(journal.stat().st_size // LINE for journal in folder.iterdir())


def restart(run: Run, server: Server, *words: object) -> Process:
    """A server that listens: the port of the one before may still be taken."""
    address = f"-a {server.link.address} -p {server.port}"
    while True:
        s = run(f"{server.stage.folder}/server", address, *words)
        until(lambda: s.has_ended() or "listening on" in s.err, "it listens, or cannot")
        if not s.has_ended():
            return s
        assert "another program listens there" in s.err
        run.forget(s)


def kill(kills: int, run: Run, server: Server, client: Client, folder: Path, rng: Random) -> None:
    """Kills so many servers, each after some messages. In the end one message may be done without an answer."""
    s = server("-n 0 --journal", folder)
    c = client(ENDLESS, "-w 60 -v -j")
    for i in range(kills + 1):
        enough = messages(folder) + rng.randrange(1, 50)
        until(lambda: messages(folder) >= enough, "messages arrive")
        if i == kills:
            break
        run.forget(s.kill())
        s = restart(run, server, "-n 0 --journal", folder)
    (result,) = c.signal("INT").ends(0).json
    s.signal("INT").ends(0)
    (journal,) = folder.iterdir()
    numbers = [int(line) for line in journal.read_text().splitlines()]
    assert numbers == [*range(len(numbers))]
    assert len(numbers) - result["count"] - result["warm_up"] in (0, 1)
    assert c.err.count("goes on with message") > kills // 2


@each("ping-reconnect-2")
def test_its_server_is_killed_now_and_then(run: Run, server: Server, client: Client, tmp_path: Path, rng: Random) -> None:
    kill(10, run, server, client, tmp_path, rng)


@pytest.mark.long
@each("ping-reconnect-2")
def test_its_server_is_killed_hundreds_of_times(run: Run, server: Server, client: Client, tmp_path: Path, rng: Random) -> None:
    kill(200, run, server, client, tmp_path, rng)


@pytest.mark.long
@each("ping-sr-4")
def test_two_hundred_clients_of_one_loop_come_back(run: Run, server: Server) -> None:
    """soft-iWARP has queues for 48 connections of a process: there the clients are admitted in turn."""
    full = server.link.transport == "iWARP"
    words = f"-n 0 --timeout 0 --keepalive 0 --max-clients {40 if full else 200}"
    s = server(words)
    c = run("build/examples/storm_client", server.link.address, server.port, 200)
    until(lambda: "40 are being served" in s.err if full else "round 1: 200 clients" in c.out, "the clients are there", 240)
    run.forget(s.kill())
    s = restart(run, server, words)
    c.ends(0, within=240)
    assert "round 2: 200 clients" in c.out and full == ("are being served" in s.err)
    s.signal("INT").ends(0)
