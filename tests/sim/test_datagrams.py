# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Datagrams and multicast: programs of the package rdmacm-utils, what probe asks of Linux 6.12, and loss on the way. What it
asks of 6.1 is compared with the drivers: drivers/test_simulation.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sim.simulation import ADDRESS, simulate

UDADDY = [["udaddy", "-b", ADDRESS, "-C", "3"], ["udaddy", "-s", ADDRESS, "-C", "3"]]
MCKEY = ["mckey", "-m", "224.1.2.3", "-b", ADDRESS, "-C", "3"]


@pytest.mark.parametrize("seed", range(1, 21))
def test_udaddy(seed: int) -> None:
    run = simulate(UDADDY, "--seed", str(seed))
    assert not run.exit and run.out.count("data transfers complete\n") == 2, run.why()


def test_datagrams_that_are_lost_on_their_way() -> None:
    """udaddy waits for each of them, forever."""
    runs = [simulate(UDADDY, "--seed", str(seed), "--device", "roce,loses=10") for seed in range(1, 41)]
    assert {run.exit for run in runs} == {0, 120}


@pytest.mark.parametrize("argv", [UDADDY[1], MCKEY], ids=["udaddy", "mckey"])
def test_iwarp_has_no_datagrams(argv: list[str]) -> None:
    run = simulate([argv], "--iwarp")
    assert run.statuses == [255] and "unable to create QP: Operation not supported" in run.err, run.why()


def test_mckey_ends_before_it_has_sent() -> None:
    """The QP of mckey goes before its sends have completed: a driver that sends in ibv_post_send has sent them, another one may have."""
    for device, worst in (("roce", 2), ("roce-6.12", 1)):
        runs = [simulate([MCKEY, [*MCKEY, "-s"]], "--device", device, "--seed", str(seed)) for seed in range(1, 11)]
        assert min(run.out.count("data transfers complete\n") for run in runs) == worst, runs[0].why()


def probe(question: str, device: str) -> list[str]:
    """Returns the output of the probe, without times."""
    return re.findall(r"^ *[\d.]+ ms +(.*)$", simulate([["build/tests/probe", ADDRESS, question]], "--device", device).out, re.M)


def test_linux_6_12_keeps_a_receive_that_is_too_small() -> None:
    """The QP lives, and the receive stays in front of the others."""
    old, new = (probe("datagrams", device) for device in ("roce", "roce-6.12"))
    assert "a small receive: server: receive completed: local QP operation error" in old
    assert not [line for line in new if "receive completed" in line and not line.startswith("the MTU")]


def test_over_ipv6_the_header_is_its_own() -> None:
    run = simulate([["udaddy", "-b", "2001:db8:1::1", "-C", "3"], ["udaddy", "-s", "2001:db8:1::1", "-C", "3"]])
    assert not run.exit, run.why()


def test_a_server_with_fewer_receives_than_messages_come_at_once() -> None:
    argv = [["beyond/ping-ud-0/server", "-a", ADDRESS, "-r", "4"], ["beyond/ping-ud-0/client", "-a", ADDRESS, "-c", "320", "-w", "32"]]
    runs = [simulate(argv, "--seed", str(seed)) for seed in range(1, 11)]
    lost = [int(found) for run in runs for found in re.findall(r"^320 messages of 64 bytes, (\d+) lost", run.out, re.M)]
    assert not any(run.exit for run in runs) and len(lost) == 10 and all(0 < number < 320 for number in lost)


PING = [["beyond/ping-ud-0/server", "-a", ADDRESS], ["beyond/ping-ud-0/client", "-a", ADDRESS, "-c", "300", "-w", "8"]]
GROUP = [["beyond/mcast-ud-0/client", "224.1.2.3", ADDRESS], ["beyond/mcast-ud-0/server", "224.1.2.3", ADDRESS, "100"]]


def test_none_is_lost_where_nothing_loses_any() -> None:
    """Even a datagram that comes just before the server sleeps is back within 100 ms."""
    for seed in range(1, 9):
        run = simulate(PING, "--seed", str(seed))
        assert not run.exit and run.out.startswith("300 messages of 64 bytes, 0 lost, there"), run.out + run.why()


def test_answers_that_come_twice() -> None:
    """Such answers stand for no other message. Some find no receive, as there are more of them than the client has asked for."""
    for losses, most in (("", 20), (",loses=30", 100)):
        run = simulate(PING, "--device", f"roce,repeats=3{losses}")
        ((lost, others),) = re.findall(r"^300 messages of 64 bytes, (\d+) lost \((\d+) came late or twice\), there", run.out, re.M)
        assert not run.exit and bool(losses) <= int(lost) < most and int(others) > 100, run.why()


@pytest.mark.parametrize(
    "faults, unknown",
    [("1:ibv_post_send:4", 0), ("0:ibv_get_cq_event:5", 1), ("0:ibv_get_cq_event:5:SIGTERM 0:ibv_get_cq_event:5:EINTR", 0)],
)
def test_what_was_sent_back_is_what_came_back(faults: str, unknown: int) -> None:
    """This holds if a send fails, too, or a signal comes before its completion, without which nobody knows whether it has left."""
    for seed in range(1, 21):
        run = simulate(PING, "--seed", str(seed), *(word for fault in faults.split() for word in ("--fail", fault)))
        back, sent, lost = (int(re.findall(rf"(\d+) {what}", run.out)[0]) for what in ("messages sent back", "messages of", "lost"))
        assert run.fault and back and 0 <= sent - lost - back <= unknown, run.out + run.why()


def test_a_server_that_is_late_for_a_while(tmp_path: Path) -> None:
    """Late datagrams count as lost, and so do those that find no receive when all come at once; all later ones arrive."""
    steps = tmp_path / "steps"
    steps.write_text("wait 1\nsignal 0 SIGCONT\n" * 5)
    stops = [word for number in range(20, 70, 10) for word in ("--fail", f"0:ibv_post_send:{number}:SIGSTOP")]
    argv = [["beyond/ping-ud-0/server", "-a", ADDRESS], ["beyond/ping-ud-0/client", "-a", ADDRESS, "-c", "200", "-w", "2"]]
    run = simulate(argv, *stops, "--steps", str(steps))
    (lost, late), ms = re.findall(r"(\d+) lost \((\d+) came late or twice\)", run.out)[0], 5000
    assert not run.exit and 10 <= int(late) <= int(lost) <= 2 * ms // 100, run.why()


def test_members_that_miss_different_messages() -> None:
    """Each member says which messages it misses."""
    member = ["beyond/mcast-ud-0/client", "224.1.2.3", ADDRESS]
    run = simulate([member, member, ["beyond/mcast-ud-0/server", "224.1.2.3", ADDRESS, "100"]], "--device", "roce,loses=20")
    ends = re.findall(r"^(\d+) messages, (\d+) missing$", run.out, re.M)
    assert not run.exit and ends[0] != ends[1] and all(int(missing) for _, missing in ends), run.out


def test_what_is_not_the_next_message() -> None:
    """A datagram may come twice, or from another sender, or another program, to the same group."""
    member, server = GROUP
    for run in (simulate(GROUP, "--device", "roce,repeats=4"), simulate([member, server, server])):
        assert not run.exit and re.search(r"^100 messages, 0 missing, \d+ late or twice$", run.out, re.M), run.out
    run = simulate([member, [*MCKEY, "-s", "-S", "4"], ["build/tests/sim/programs", "later", "1", *server]])
    assert run.statuses[0] == 0 and "100 messages, 0 missing\n" in run.out, run.out
