# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""our_process over the simulated device: group.c has both ends of a connection in one loop, which sleeps in poll alone, and prints each event."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sim.simulation import Run, simulate

DEVICES = ["roce", "iwarp", "adapter"]
each_device = pytest.mark.parametrize("device", DEVICES)
RESET, ABORT, GONE = "end, Connection reset by peer", "end, Software caused connection abort", "end, No such device"
CLIENT, AGENT = ["resolved", "established"], ["request", "established"]


def ask(question: str, device: str, *options: str) -> Run:
    """Runs a question. A sleep that lasts longer than anything the library waits for ends the program with status 1."""
    run = simulate([["build/tests/sim/group", question]], "--device", device, *options)
    assert not run.exit and run.left == "nothing", run.why()
    return run


def events(run: Run, who: str) -> list[str]:
    """Returns the events of one of the ends, but for completions, and for the flushes of an end."""
    return [one for one in re.findall(rf"^{who}: (.*)$", run.out, re.MULTILINE) if not re.match("completion|failure of receive", one)]


@each_device
@pytest.mark.parametrize("question", ["live", "share", "share-late"])
def test_the_life_of_a_connection(question: str, device: str) -> None:
    """The client leaves when it has sent all: the agent is handed all before the end. Few wake-ups are in vain, although the program takes one event each time."""
    run = ask(question, device)
    assert events(run, "client") == [*CLIENT, "end"] and events(run, "agent") == [*AGENT, RESET], run.out
    assert re.findall(r"^agent: completion of receive (\d+)$", run.out, re.MULTILINE) == [*map(str, range(100))], run.out
    wakes, empty = map(int, re.findall(r"(\d+) wake-ups, (\d+) of them empty", run.err)[0])
    assert wakes > 200 and empty < wakes / 6, run.err


@each_device
def test_a_connection_that_joins_late(device: str) -> None:
    """No descriptor tells of the messages that are there by then: it made no event for them."""
    run = ask("join-late", device)
    assert len(re.findall(r"^client: completion of receive", run.out, re.MULTILINE)) == 100 and events(run, "client") == ["end"], run.out


@each_device
def test_messages_that_come_as_the_cq_is_armed(device: str, tmp_path: Path) -> None:
    """The server is held up between the poll that found nothing and the arming: no event is made for what comes meanwhile."""
    (tmp_path / "steps").write_text("wait 1\nsignal 0 SIGCONT\n")
    held = ["--fail", "0:ibv_req_notify_cq:3:SIGSTOP", "--steps", str(tmp_path / "steps")]
    run = simulate([["build/tests/sim/group", question] for question in ("be-server", "be-client")], "--device", device, *held)
    assert run.fault and run.statuses == [0, 0] and len(re.findall("^agent: completion", run.out, re.MULTILINE)) == 100, run.why()


@each_device
def test_the_life_of_a_connection_in_any_order(device: str) -> None:
    for seed in range(1, 25):
        run = ask("share" if seed % 2 else "live", device, "--strict", "--strategy", "mixed", "--seed", str(seed))
        assert events(run, "client") == [*CLIENT, "end"] and events(run, "agent") == [*AGENT, RESET], run.why()


@each_device
def test_an_agent_that_is_closed_before_its_first_completion(device: str) -> None:
    """The buffer of that completion is posted again: the next client needs all."""
    run = ask("close-early", device)
    assert events(run, "agent") == [*AGENT, *AGENT, RESET], run.out
    assert len(re.findall(r"^agent: completion", run.out, re.MULTILINE)) == 100, run.out


@each_device
def test_a_request_that_fails_is_named_before_the_end(device: str) -> None:
    """Soft-iWARP says of no request why it has failed."""
    run = ask("read-wrongly", device)
    why, end = ("Connection reset by peer", RESET) if device == "iwarp" else ("Software caused connection abort", ABORT)
    agent = events(run, "agent")
    assert agent[:3] == [*AGENT, f"failure of send 7, {why}"] and agent[3:] in ([end], [ABORT]) and events(run, "client")[-1].startswith("end, "), run.out


@each_device
@pytest.mark.parametrize("question, end", [("be-refused", "Permission denied"), ("find-nobody", "Connection refused")])
def test_a_connect_in_vain(question: str, end: str, device: str) -> None:
    assert events(ask(question, device), "client") == ["resolved", f"end, {end}"]


@pytest.mark.parametrize("device", ["roce", "iwarp"])
def test_a_connect_without_an_answer(device: str) -> None:
    run = ask("connect-to-silent", device, "--fail", "0:rdma_connect:1:SILENCE")
    assert events(run, "client") == ["resolved", "end, Connection timed out"] and "no connection within 3 s" in run.err and 3000 <= run.ms < 4000, run.why()


@each_device
def test_a_host_that_falls_silent(device: str) -> None:
    """Both ends notice by keepalives, and say so once."""
    run = ask("break-off", device, "--fail", "0:ibv_post_send:1:SILENCE")
    ends = [events(run, who)[-1] for who in ("client", "agent")]
    assert all(one in (ABORT, "end, No route to host") for one in ends) and len(re.findall("^group: ", run.err, re.MULTILINE)) == 2, run.why()


@each_device
@pytest.mark.parametrize("fault, end", [("QP_FATAL", "end, Broken pipe"), ("DEVICE_FATAL", "end, Input/output error")])
def test_an_asynchronous_event(fault: str, end: str, device: str) -> None:
    """It ends both ends at once, which wait for no keepalive. On iWARP one of them hears of the other's disconnect first."""
    run = ask("break-off", device, "--fail", f"0:ibv_post_send:1:{fault}")
    ends = {events(run, who)[-1] for who in ("client", "agent")}
    assert ends == ({end, RESET} if device == "iwarp" else {end}) and run.ms < 1, run.why()


@each_device
def test_a_flush(device: str) -> None:
    """The client waits for the CM to say why, longer on iWARP, and says once that there is no cause."""
    run, least_ms = ask("flush", device), 5000 if device == "iwarp" else 1000
    assert [events(run, who)[-1] for who in ("client", "agent")] == [ABORT, RESET] and run.err.count("a work request was flushed") == 1, run.out
    assert least_ms <= run.ms < least_ms + 500, run.why()


@each_device
def test_a_device_that_is_removed(device: str) -> None:
    run = ask("lose-device", device, "--fail", "0:ibv_post_send:1:REMOVAL")
    assert run.err.count("nobody can connect any more") == events(run, "listener").count(GONE), run.why()
    assert {events(run, who)[-1] for who in ("client", "agent", "listener")} <= {GONE, "end, Input/output error"}, run.out


@each_device
def test_a_disconnect_without_an_answer(device: str) -> None:
    """Soft-iWARP does not wait for the peer."""
    run = ask("leave", device, "--fail", "0:rdma_disconnect:1:SILENCE")
    assert events(run, "client")[-1] == "end" and (device == "iwarp" or 7000 <= run.ms < 8000), run.why()


@each_device
def test_an_agent_of_another_thread(device: str) -> None:
    run = ask("hand-over", device)
    assert events(run, "client") == [*CLIENT, "end"] and events(run, "agent") == [*AGENT, RESET], run.out


def test_requests_to_stop() -> None:
    assert ask("request-stops", "roce").out.split() == ["stop", "leave", "stop", "leave", "quiet"]


def test_a_way_to_wait_without_descriptors() -> None:
    run = ask("poll-busily", "roce")
    assert run.out == "Invalid argument\n" and "it takes our_cm_nonblocking" in run.err
