# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ping-reconnect-2 loses and duplicates nothing, at whatever call its server is killed, and whatever breaks its connection: the
client has each answer, and the journal has each message once, in order. reconnect_client has more than one message under way.

Contract: servers come one second after the other, and the next one listens where the one before did.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest
from sim.simulation import ADDRESS, OF_ITS_OWN, TRANSPORTS, Run, calls_in, simulate

STAGE = "beyond/ping-reconnect-2"
MESSAGES, KILLED = 4, 128 + 9
OVER = pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)


def run(folder: Path, transport: list[str], *options: str, servers: int = 2, apart: int = 1, count: int = MESSAGES, more: str = "", before: str = "") -> Run:
    """The servers, and a client. The last server serves until it is told to stop, after a command, the others one client."""
    folder.mkdir()
    server = [f"{STAGE}/server", "-q", "-a", ADDRESS, "--journal", str(folder)]
    programs = [["build/tests/sim/programs", "later", str(apart * late), *server] for late in range(servers - 1)]
    programs += [["build/tests/sim/programs", "later", str(apart * (servers - 1)), *before.split(), *server, "-n", "0"]]
    client = [f"{STAGE}/client", "-a", ADDRESS, "-w", "60", "-v", "-j", "-c", str(count), *more.split()]
    return simulate([*programs, client], *transport, "--servers", str(servers), *options)


def check(done: Run, folder: Path, count: int = MESSAGES) -> None:
    """Checks the promises."""
    assert done.exit not in OF_ITS_OWN and not done.statuses[-1], done.why()
    result = json.loads(done.out)
    assert result["complete"] and result["verified"], done.why()
    (journal,) = folder.iterdir()
    assert [int(line) for line in journal.read_text().splitlines()] == [*range(count)], done.why()


@OVER
def test_its_server_is_killed_at_each_call(transport: list[str], tmp_path: Path) -> None:
    """The server is killed at each call until it makes no more. The first four calls belong to the program that starts it."""
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


FLAPS = ["0:{}:PORT_DOWN=2s", "0:{}:PORT_DOWN=30s", "1:{}:PORT_DOWN=2s", "0:{}:GID_MOVE=1s", "1:{}:GID_MOVE=1s", "1:{}:SILENCE=30s", "1:{}:LOSSY=2/9s"]


@pytest.mark.parametrize("fault", FLAPS)
@OVER
def test_its_link_goes_down_for_a_while(transport: list[str], fault: str, tmp_path: Path) -> None:
    for number in range(1, 120, 6):
        done = run(tmp_path / str(number), transport, "--seed", str(number), "--fail", fault.format(number), servers=1)
        check(done, tmp_path / str(number))


@OVER
@pytest.mark.parametrize("call", ["rdma_create_id:1", "ibv_post_send:3"])
def test_its_own_port_is_down(call: str, transport: list[str], tmp_path: Path) -> None:
    """rdma_resolve_addr fails with ENETUNREACH meanwhile, in each attempt: for the first connection, and for the next one."""
    done = run(tmp_path / "own", transport, "--trace", f"--fail=1:{call}:PORT_DOWN=2s", servers=1)
    check(done, tmp_path / "own")
    calls = calls_in(done.err, 1)
    assert calls.count("rdma_resolve_addr") > calls.count("rdma_connect") + 1, done.why()


@OVER
def test_its_last_connection_has_the_only_place(transport: list[str], tmp_path: Path) -> None:
    """The server does not know yet that the connection has ended, and refuses the next one for a while."""
    server = f"{STAGE}/server -q -n 0 --max-clients 1 -a {ADDRESS} --journal {tmp_path}".split()
    done = simulate([server, f"{STAGE}/client -v -j -c {MESSAGES} -w 60 -a {ADDRESS}".split()], *transport, "--fail=1:ibv_post_send:3:PORT_DOWN=2s")
    check(done, tmp_path)
    assert "it serves 1 clients at a time" in done.err, done.why()


@OVER
@pytest.mark.parametrize("left", [0, 1, 12])
def test_a_line_that_a_kill_has_cut_off_is_written_again(left: int, transport: list[str], tmp_path: Path) -> None:
    """So many of the line's 13 bytes are left."""
    cut = tmp_path / "cut"
    cut.write_text(f'#!/bin/sh\ntruncate -s -{13 - left} {tmp_path}/journal/*\nexec "$@"\n')
    cut.chmod(0o755)
    done = run(tmp_path / "journal", transport, "--fail", "0:ibv_post_send:3:SIGKILL", before=str(cut))
    check(done, tmp_path / "journal")
    assert "goes on with message 2" in done.err, done.why()


@OVER
def test_each_of_its_servers_is_killed(transport: list[str], tmp_path: Path) -> None:
    """Five, each at any of its calls, and in any order of events. A client may notice after 23 s only, by the device's retries.
    Messages are too long to be sent inline, so each connection needs the keys of its own regions."""
    for seed in range(1, 11):
        folder, random = tmp_path / str(seed), Random(seed)
        faults = [f"--fail={server}:{random.randrange(20, 90)}:SIGKILL" for server in range(5)]
        done = run(folder, transport, "--seed", str(seed), *faults, servers=6, apart=30, count=200, more="--rate 40 -w 600 -s 1000")
        check(done, folder, 200)
        assert done.statuses == [KILLED] * 5 + [0, 0], done.why()


@OVER
def test_a_run_for_a_time_goes_on(transport: list[str], tmp_path: Path) -> None:
    """The run goes on over a new connection, and no server expects messages after its end."""
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
    """The wait for a server begins when the connection breaks, not with the program."""
    done = run(tmp_path / "late", transport, "--fail", "1:ibv_post_send:5:WR_FLUSH_ERR", servers=1, count=8, more="-w 2 --rate 1")
    check(done, tmp_path / "late", 8)
    assert "goes on with message 4" in done.err, done.why()


def test_a_keepalive_that_was_lost_with_a_connection_is_not_that_of_the_next(tmp_path: Path) -> None:
    """The first host falls silent for a minute; the next server is only held up for half of one, and its host answers."""
    held = tmp_path / "steps"
    held.write_text("wait 110 0\nsignal 0 SIGCONT\n")
    faults = ["--fail=1:ibv_post_send:3:SILENCE=60s", "--fail=0:ibv_post_send:12:SIGSTOP", f"--steps={held}"]
    done = run(tmp_path / "silent", TRANSPORTS["iWARP"], *faults, servers=1, count=20, more="-w 90")
    check(done, tmp_path / "silent", 20)
    assert done.err.count("goes on with message") == 1 and done.fault.count(";") == 1, done.why()


def test_connections_that_break_at_once_do_not_make_a_storm(tmp_path: Path) -> None:
    """Twenty pauses of at most 50 ms would take a second; pauses that grow up to 2 s take at least four."""
    faults = [f"--fail=1:ibv_post_send:{send}:REM_ACCESS_ERR" for send in range(1, 21)]
    done = run(tmp_path / "storm", [], *faults, servers=1)
    check(done, tmp_path / "storm")
    assert done.err.count("goes on with message 0") == 20 and done.ms > 4000, done.why()


SERVER, CLIENT = f"build/examples/srq_server {ADDRESS}".split(), f"build/examples/reconnect_client {ADDRESS} 12321 20".split()


@pytest.mark.parametrize("transport, how", BREAKS)
def test_what_has_no_answer_is_sent_again(transport: list[str], how: str) -> None:
    """The connection breaks at each send in turn, in any order of events. An answer that is missing, comes twice or in
    another order ends the client."""
    for send in range(1, 21):
        done = simulate([SERVER, CLIENT], *transport, "--servers=1", "--strict", "--seed", str(send), f"--fail=1:ibv_post_send:{send}:{how}")
        assert not done.exit and "20 answers over 2 connections" in done.out and done.left == "nothing" and not done.wrong, done.why()


@OVER
def test_the_first_attempt_may_fail(transport: list[str]) -> None:
    done = simulate([SERVER, CLIENT], *transport, "--servers=1", "--fail=1:rdma_connect:1:SILENCE=12s")
    assert not done.exit and "20 answers over 1 connections" in done.out and "timed out" in done.err, done.why()


@OVER
def test_its_pauses_grow(transport: list[str]) -> None:
    """Nobody listens any more, which is said once. After the first seconds an attempt comes each second, on average."""
    done = simulate([SERVER, CLIENT], *transport, "--servers=1", "--trace", "--fail=0:ibv_post_send:5:SIGKILL")
    attempts = len(re.findall(r" 1\.\d+ +\d+ rdma_connect\(", done.err))
    assert done.err.count("nobody listens") == 1, done.why()
    assert done.statuses == [KILLED, 1] and "gave up after 60 s" in done.err and 40 < attempts < 90 and done.ms < 60_100, done.why()


@pytest.mark.parametrize("send", range(6, 12))
def test_its_limit_begins_anew_when_a_connection_stood(send: int) -> None:
    """A minute at most. The second server comes after 40 s, and dies while the client repeats its messages; the third after 80."""
    later = [["build/tests/sim/programs", "later", str(seconds), *SERVER] for seconds in (40, 80)]
    faults = ["--fail=0:ibv_post_send:3:SIGKILL", "--fail=1:ibv_post_send:1:SIGKILL", f"--fail=3:ibv_post_send:{send}:ECONNRESET"]
    done = simulate([SERVER, *later, CLIENT], "--servers=3", *faults)
    assert done.statuses == [KILLED, KILLED, 0, 0] and "20 answers" in done.out, done.why()


ROUND = re.compile(r"round (\d): (\d+) clients after ([\d.]+) s; attempts in vain: (\d+) without a server, (\d+) refused, (\d+) failed$", re.MULTILINE)
CLIENTS = 1000


@pytest.mark.parametrize("pause_ms, places", [("", 5000), ("50", 64)])
def test_a_thousand_clients_of_one_loop_come_back(pause_ms: str, places: int, tmp_path: Path) -> None:
    """The server is away for a second: that is 19 pauses of 50 ms for each client. A pause that grows is at most 50, 100, 200
    and 400 ms long, so the first four attempts of each client find nobody."""
    server = f"start ping-sr-4/server -q -a {ADDRESS} -n 0 --timeout 0 --keepalive 0 --max-clients"
    client = f"start build/examples/storm_client {ADDRESS} 12321 {CLIENTS} {pause_ms}"
    (tmp_path / "steps").write_text(f"{server} {CLIENTS}\n{client}\nuntil 1 out 1 round 1\nsignal 0 SIGKILL\nwait 1\n{server} {places}\n")
    done = simulate([], "--steps", str(tmp_path / "steps"), within_s=400)
    assert done.statuses == [KILLED, 0, 0] and done.left == "nothing", done.why()
    (one, n, _, *failed), (two, m, seconds, without, refused, others) = ROUND.findall(done.out)
    assert (one, n, failed) == ("1", str(CLIENTS), ["0"] * 3) and (two, m, others) == ("2", str(CLIENTS), "0")
    assert int(refused) == done.err.count("64 are being served")
    if pause_ms:
        assert int(without) == 19 * CLIENTS and int(refused) and 1 <= float(seconds), done.out
    else:
        assert 4 * CLIENTS <= int(without) < 19 * CLIENTS / 2 and 1 <= float(seconds) < 4, done.out


def test_a_round_counts_its_own_attempts(tmp_path: Path) -> None:
    """The first round has to wait a second for its server, the second one not even for a pause."""
    server = f"start ping-sr-4/server -q -a {ADDRESS} -n 0 --timeout 0 --keepalive 0"
    client = f"start build/examples/storm_client {ADDRESS} 12321 8 50"
    (tmp_path / "steps").write_text(f"{client}\nwait 1\n{server}\nuntil 0 out 1 round 1\nsignal 1 SIGKILL\n{server}\n")
    done = simulate([], "--steps", str(tmp_path / "steps"))
    assert done.statuses == [0, KILLED, 0], done.why()
    first, second = ([int(number) for number in found[3:]] for found in ROUND.findall(done.out))
    assert sum(first) > 8 * 10 and sum(second) <= 8, done.out


@OVER
def test_a_stop_ends_a_pause(transport: list[str]) -> None:
    """ping-reconnect-2, as its signals do; and it says nothing about a server that is not back."""
    done = simulate([f"{STAGE}/server -q -a {ADDRESS}".split(), f"{STAGE}/client -q -a {ADDRESS} -w 60 -c 9".split()],
                    *transport, "--servers=1", "--fail=0:ibv_post_send:3:SIGKILL", "--fail=1:poll:60:SIGTERM")  # fmt: skip
    assert done.statuses[0] == KILLED and done.statuses[1] != KILLED and "gave up" not in done.err and done.ms < 50_000, done.why()


def fail_over(folder: Path, kind: str, *options: str, clients: str = "192.0.2.1 192.0.2.2 100 100") -> Run:
    """A client of two devices, and one server on both."""
    folder.mkdir()
    server = f"{STAGE}/server -q -n 0 -a 0.0.0.0 --timeout 0 --journal {folder}".split()
    devices = [f"--device={kind},address=192.0.2.{number}" for number in (1, 2)]
    return simulate([server, f"build/beyond/ping-failover-2/client {clients}".split()], *devices, "--servers=1", "--strict", *options)


PATH_BREAKS = [
    ("roce", ["RETRY_EXC_ERR"] * 2), ("adapter", ["RETRY_EXC_ERR"] * 2), ("iwarp", ["WR_FLUSH_ERR"] * 2),
    ("roce", ["RETRY_EXC_ERR"]), ("adapter", ["RETRY_EXC_ERR"]), ("iwarp", ["WR_FLUSH_ERR"]),
    ("roce", ["PORT_DOWN=rxe0/2s"]), ("adapter", ["PORT_DOWN=rxe0/2s"]), ("iwarp", ["PORT_DOWN=siw0/2s"]),
]  # fmt: skip


@pytest.mark.parametrize("kind, how", PATH_BREAKS, ids=str)
def test_a_session_moves_to_the_other_path_and_back(kind: str, how: list[str], tmp_path: Path) -> None:
    """Whatever message the first path breaks at, or the port of its device; a second fault breaks the second path, before it has moved back."""
    for send in range(1, 21):
        folder = tmp_path / str(send)
        faults = [f"--fail=1:ibv_post_send:{send + 3 * later}:{fault}" for later, fault in enumerate(how)]
        done = fail_over(folder, kind, "--seed", str(send), *faults)
        (journal,) = folder.iterdir()
        assert not done.exit and done.left == "nothing" and not done.wrong, done.why()
        assert [int(line) for line in journal.read_text().splitlines()] == [*range(100)], done.why()
        (longest_ms,) = re.findall(r"at most ([\d.]+) ms between two answers", done.out)  # a pause has 100
        assert 100 <= float(longest_ms) < done.ms, done.out
        moves, messages = zip(*re.findall(r"goes on over (\S+) with message (\d+)", done.err))
        # Ten messages a second: the first path has stood for one before the session moves back, unless the second one breaks.
        assert len(how) > 1 or int(messages[-1]) - int(messages[0]) >= 10, done.why()
        assert f"100 answers, {len(moves)} moves" in done.out and moves[0] == "192.0.2.2" and moves[-1] == "192.0.2.1", done.why()


def test_a_session_begins_on_the_path_that_works(tmp_path: Path) -> None:
    done = fail_over(tmp_path / "one", "roce", clients="192.0.2.9 192.0.2.2 5")
    assert not done.exit and "5 answers, 0 moves" in done.out, done.why()


def test_without_any_path_it_gives_up(tmp_path: Path) -> None:
    """The client gives up after a minute; the last message may be done, and has no answer."""
    done = fail_over(tmp_path / "none", "roce", "--fail=0:ibv_post_send:5:SIGKILL")
    assert done.statuses == [KILLED, 1] and "4 answers, 0 moves" in done.out and "gave up: no path for 60 s" in done.err and 60_000 < done.ms < 70_000, done.why()


@pytest.mark.parametrize("words", ["", "192.0.2.1 192.0.2.2", "192.0.2.1 192.0.2.2 0", "192.0.2.1 192.0.2.2 5 3600001", "1 2 3 4 5"])
def test_wrong_words_are_refused(words: str) -> None:
    done = simulate([f"build/beyond/ping-failover-2/client {words}".split()])
    assert done.statuses == [2] and "usage: ping-failover-2/client" in done.err, done.why()
