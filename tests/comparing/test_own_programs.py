# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Two programs of bench/, and what they print: tcp_ping, with which RDMA is compared, against the test's own clock, and an echo that
takes its time; and busy, which is other work, against what the kernel says of its processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "build/bench"
PROGRAM = BENCH / "tcp_ping"
SIZE, LONG = 200, 1 << 24  # bytes: no call moves all of the long one
DELAYS_US = [1000, 3000, 3000]  # delays of the echo, in turn: most exceed the shortest
WARM_UP = 100  # messages of a run without a rate
RATE = 10  # messages a second: time for two sleeps in each, also on a busy machine
LIMIT_S = 60
WITHIN = 127 / 128  # the histogram keeps a time to one in 128


@dataclass
class Echo:
    """Sends back what one client sends, later."""

    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    arrivals: list[float] = field(default_factory=list)  # arrivals of messages, in seconds

    def serve(self) -> None:
        """Serves until the client leaves."""
        connection = self.listener.accept()[0]
        with connection, suppress(ConnectionError):
            while data := connection.recv(SIZE, socket.MSG_WAITALL):
                self.arrivals.append(time.monotonic())
                time.sleep(DELAYS_US[len(self.arrivals) % 3] / 1e6)
                connection.sendall(data)

    def measure(self, how: str, number: int, *rate: str) -> tuple[dict[str, object], int, float]:
        """Stops a client after so many messages; returns its output, its voluntary context switches, and when it began."""
        thread = threading.Thread(target=self.serve, daemon=True)
        thread.start()
        began, port = time.monotonic(), str(self.listener.getsockname()[1])
        with subprocess.Popen([PROGRAM, how, "client", "127.0.0.1", port, str(SIZE), *rate], stdout=subprocess.PIPE) as client:
            try:
                assert client.stdout
                while len(self.arrivals) < number:
                    assert client.poll() is None and time.monotonic() < began + LIMIT_S
                    time.sleep(DELAYS_US[0] / 1e6)
                client.send_signal(signal.SIGINT)
                said = json.loads(client.stdout.read())
                _, client.returncode, usage = os.wait4(client.pid, 0)
            finally:
                client.kill()
            assert client.returncode == 0
        thread.join(LIMIT_S)
        self.listener.close()
        return said, usage.ru_nvcsw, began


@pytest.mark.parametrize("how", ["poll", "sleep"])
def test_round_trips(how: str) -> None:
    """None is shorter than what the echo takes, and together they are no longer than it took; one that sleeps leaves the CPU
    in each."""
    echo = Echo()
    said, switches, began = echo.measure(how, WARM_UP + 100)
    took_s = time.monotonic() - began
    trips = said["round_trip_us"]
    assert isinstance(said["count"], int) and isinstance(said["seconds"], float) and isinstance(trips, dict)
    assert said["count"] in (len(echo.arrivals) - WARM_UP, len(echo.arrivals) - WARM_UP - 1)
    assert DELAYS_US[1] * WITHIN <= trips["p50"] <= trips["p99"]
    least_us = sum(DELAYS_US) * (said["count"] // 3)
    assert least_us <= trips["mean"] * said["count"] <= said["seconds"] * 1e6 <= took_s * 1e6 - sum(DELAYS_US) * (WARM_UP // 3)
    assert (switches >= len(echo.arrivals)) == (how == "sleep")


@pytest.mark.parametrize("how", ["poll", "sleep"])
def test_a_rate(how: str) -> None:
    """No message comes before its time; a tenth of a second warms up. A program that sleeps does so before a message, too."""
    echo = Echo()
    said, switches, began = echo.measure(how, RATE // 2, str(RATE))
    assert said["count"] in (len(echo.arrivals) - RATE // 10, len(echo.arrivals) - RATE // 10 - 1)
    assert not [n for n, arrival in enumerate(echo.arrivals) if arrival < began + n / RATE]
    assert (switches > 1.25 * len(echo.arrivals)) == (how == "sleep")


@pytest.mark.parametrize("how", ["poll", "sleep"])
def test_a_server(how: str) -> None:
    """The server sends back whole messages, and ends when its client leaves."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    message = os.urandom(LONG)
    with subprocess.Popen([PROGRAM, how, "server", "127.0.0.1", str(port), str(LONG)]) as server:
        try:
            end = time.monotonic() + LIMIT_S
            while server.poll() is None and time.monotonic() < end:
                with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), LIMIT_S) as client:
                    client.sendall(message)
                    assert client.makefile("rb").read(LONG) == message
                    break
            assert server.wait(LIMIT_S) == 0
        finally:
            server.kill()


@pytest.mark.parametrize("words", ["tcp_ping poll client 127.0.0.1 1", "busy work", "busy work 0", "busy nice"])
def test_wrong_usage(words: str) -> None:
    program, *rest = words.split()
    done = subprocess.run([BENCH / program, *rest], capture_output=True, text=True, timeout=LIMIT_S)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("usage: ")


def cpus() -> int:
    return len(os.sched_getaffinity(0))


def works(process: str) -> bool:
    """Returns false also of one that has ended and that nobody waits for: in a container, the first process may not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("ratio, own", [(0.1, ""), (1, ""), (2, ""), (2, "own")])
def test_workers(ratio: float, own: str) -> None:
    """As many as are asked for, each on one CPU, of both kinds if there are two; all work, and end with busy."""
    if own and cpus() < 2:
        pytest.skip("one CPU")
    with subprocess.Popen([BENCH / "busy", "work", str(ratio), *own.split()], stdout=subprocess.PIPE, text=True) as busy:
        try:
            assert busy.stdout
            first = json.loads(busy.stdout.readline())
            number = max(1, round(ratio * cpus()))
            children = Path(f"/proc/{busy.pid}/task/{busy.pid}/children").read_text().split()
            assert len(children) == first["computers"] + first["walkers"] == number
            assert first["cpus"] == cpus() and (first["free"] < cpus()) == bool(own)
            assert (first["walkers"] > 0) == (number > 1)
            end = time.monotonic() + LIMIT_S
            while (lap := json.loads(busy.stdout.readline()))["computed"] == 0 or lap["walkers"] and lap["walked"] == 0:
                assert time.monotonic() < end
            used = sum(time.clock_gettime_ns((~int(one) << 3) | 2) for one in children)
            assert lap["ns"] > first["ns"] and first["cpu_ns"] < lap["cpu_ns"] <= used
            places = [os.sched_getaffinity(int(one)) for one in children]
            assert all(len(one) == 1 for one in places) and len(set().union(*places)) == min(number, first["free"])
        finally:
            busy.kill()
    end = time.monotonic() + LIMIT_S
    while any(works(one) for one in children):
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("how, command, said", [
    ("slack", "cat /proc/self/timerslack_ns", "1"), ("batch", "chrt -p $$", "SCHED_BATCH"), ("fifo", "chrt -p $$", "SCHED_FIFO"),
    ("nice", "nice", "-10"), ("own", "grep Cpus_allowed_list /proc/self/status", "")])  # fmt: skip
def test_what_helps(how: str, command: str, said: str) -> None:
    """It holds for the command; who may not do it is told so, and the command is not executed."""
    done = subprocess.run([BENCH / "busy", how, "sh", "-c", command], capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        assert os.geteuid() and how in ("nice", "fifo") and done.stderr.startswith(f"busy: {how}: ") and not done.stdout
    elif how == "own":
        assert done.stdout.split()[1].endswith(str(max(os.sched_getaffinity(0)))) and cpus() > 1
    else:
        assert said in done.stdout.split() or said in done.stdout


def test_what_does_not_help() -> None:
    done = subprocess.run([BENCH / "busy", "hope", "true"], capture_output=True, text=True, timeout=LIMIT_S)
    assert (done.returncode, done.stderr) == (1, "busy: hope: Invalid argument\n")
