# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Links that go down and come back, lose messages, or move: what comes to whom, and when."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from flaps import AT, SECONDS, TABLE, Flap, said
from running import ends, steps
from verbs_sim import ADDRESS, TOP, Run, simulate

SIDES = ("server", "client")
FLAP = "build/tests/sim/flap"
SEEDS = range(1, 6)


def watch(*options: str, seconds: int = SECONDS) -> Run:
    """Both sides, each of which has a host of its own."""
    return simulate([[FLAP, side, ADDRESS, str(seconds)] for side in SIDES], "--leaks", "ignore", *options)


@pytest.mark.parametrize("kind, row", [pytest.param(kind, row, id=f"{row.name}-{kind}") for row in TABLE for kind in row.comes])
def test_as_the_drivers_do(kind: str, row: Flap) -> None:
    for seed in SEEDS:
        run = watch("--device", kind, "--seed", str(seed), "--fail", f"{SIDES.index(row.side)}:{AT}:{row.how}")
        assert tuple(said(run.out, side) for side in SIDES) == row.comes[kind], run.why()


@pytest.mark.parametrize("event", ["ADDR_CHANGE", "DISCONNECTED"])
def test_an_event_reaches_an_id_that_a_server_has_accepted(event: str) -> None:
    """Its listener has another channel, and is not told of a disconnect."""
    run = watch("--fail", f"0:ibv_poll_cq:9:{event}", seconds=1)
    assert re.findall(r"^(\w+) .*: RDMA_CM_EVENT_(\w+)$", run.out, re.M) == [("server", event)], run.why()


@pytest.mark.parametrize(
    "how, answered", [("SILENCE=1s", "success after 2 s"), ("SILENCE=13s", "success after 13 s"), ("SILENCE=15s", "transport retry counter exceeded after 16 s")]
)
def test_an_answer_that_is_lost_is_asked_for_again(how: str, answered: str) -> None:
    """By timeout and retry_cnt: seven times, each 2.3 s after the one before; the last one is lost, too, if the host is silent for 15 s."""
    outs = {ends("lose-answer", "roce", "--fail", f"0:ibv_query_device:1:{how}", "--seed", str(seed)) for seed in range(1, 21)}
    assert outs == {f"received: success, sent: {sent}\n" for sent in ("success after 0 s", answered)}


@pytest.mark.parametrize("how, retries", [("LOSSY=3", "RNR"), ("LOSSY=1", "transport"), ("LOSSY=1/5s", "RNR"), ("PARTITION=0/5s", "RNR"), ("PARTITION=1", "RNR")])
def test_what_is_lost_is_repeated(how: str, retries: str) -> None:
    """A send without a receive: it has arrived if RNR ends it. Program 1 there is none."""
    assert ends("send-in-vain 2", "roce", "--fail", f"0:ibv_post_send:1:{how}").startswith(f"{retries} retry counter exceeded")


@pytest.mark.parametrize(
    "transport, fault, seconds",
    [
        ("roce", "1:rdma_connect:1:SILENCE=8s", 12.2),  # repeated every 6.1 s
        ("roce", "0:rdma_accept:1:PORT_DOWN=8s", 12.2),
        ("roce", "1:rdma_connect:1:LOSSY=1/1s", 6.1),
        ("iwarp", "1:rdma_connect:1:SILENCE=4s", 7),  # after 1, 3 and 7 s
        ("iwarp", "1:rdma_connect:1:PORT_DOWN=4s", 7),
        ("iwarp", "0:rdma_accept:1:PARTITION=1/4s", 6.2),  # after 0.2, 0.6, 1.4, 3 and 6.2 s
    ],
)
def test_a_message_of_the_connection_manager_is_repeated(transport: str, fault: str, seconds: float) -> None:
    run = watch("--device", transport, "--fail", fault, seconds=1)
    assert run.out.count("connected") == 2, run.why()
    assert seconds <= run.ms / 1e3 - 1 < seconds + 0.1, run.why()


def test_partitions_are_between_two() -> None:
    """The third program has the server to itself."""
    server, client = ([FLAP, side, ADDRESS, "30"] for side in SIDES)
    run = simulate([server, ["true"], client], "--leaks", "ignore", "--fail", f"0:{AT}:PARTITION=1")
    assert run.fault and not any(said(run.out, side) for side in SIDES), run.why()


def test_a_device_goes_down_alone() -> None:
    two = ["--device", "roce,name=one,address=192.0.2.1", "--device", "roce,name=two,address=192.0.2.2"]
    ones, twos = (watch(*two, "--fail", f"0:{AT}:PORT_DOWN={name}", seconds=10).out for name in ("one", "two"))
    assert said(ones, "server") == {"port error", "the port is down"} and not said(twos, "server")


def test_steps(tmp_path: Path) -> None:
    """Down and up at moments of a list of steps."""
    start = [f"start {FLAP} {side} {ADDRESS} 10" for side in SIDES]
    run = steps(tmp_path, *start, "wait 3", "fail 0 PORT_DOWN=rxe0", "wait 1", "fail 0 PORT_UP", "fail 1 PORT_UP")
    assert said(run.out, "server") == {"port error", "the port is down", "port active", "the port is active", "a message after a pause"}, run.why()
    assert re.search(r"^server +3\.\d+ s: port error$", run.out, re.MULTILINE), run.out


@pytest.mark.parametrize("step", ["fail 0 ENOMEM", "fail 0 SIGTERM", "fail 0 PORT_DOWN=rxe1", "fail 9 PORT_DOWN", "fail 0", "fail 0 PORT_UP now"])
def test_steps_that_cannot_be_done(tmp_path: Path, step: str) -> None:
    run = steps(tmp_path, f"start {FLAP} server {ADDRESS} 1", step)
    assert run.exit == 2 and run.reason == f"step 2 cannot be done: {step}", run.why()


@pytest.mark.parametrize(
    "how", ["PORT_DOWN=siw0", "PORT_UP=2s", "PORT_DOWN=2", "PORT_DOWN=0s", "PORT_DOWN=2s/", "LOSSY", "LOSSY=0", "LOSSY=rxe0", "PARTITION", "PARTITION=5000", "SILENCE=rxe0", "SILENCE=1", "QP_FATAL=", "QP_FATAL=siw0"]
)
def test_wrong_faults(how: str) -> None:
    argv = ["tools/verbs-sim/verbs-sim", "--fail", f"0:1:{how}", "--", "true"]
    done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and f"--fail 0:1:{how}: " in done.stderr, done.stderr
