# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Real programs as real processes over real drivers: what each test can ask for, and what is checked after it.

    python3 -m pytest tests/live -k talk

Contract: tests run in a guest of the lab, or with RDMA_ADDR on this machine: see ../conftest.py. -n says in how many guests.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from live import kernel
from live import processes
from live import watched
from live.processes import Process, until
from live.table import Link, Stage

ENDLESS = "-c 1000000000"  # a run that ends only by a signal, or with its peer
GONE_S = 100  # the kernel may take a minute to destroy an id: docs/pitfalls.md
STARTED = pytest.StashKey[list[Process]]()
FOLDER = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Longer waits under valgrind."""
    pytest.register_assert_rewrite("results")
    processes.WAIT_S *= 5 if config.option.watch == "memcheck" else 1


# ---- What is checked after each test ----------------------------------------------------------------------


@pytest.fixture
def started(request: pytest.FixtureRequest) -> list[Process]:
    """The processes that the test has started."""
    processes: list[Process] = []
    request.node.stash[STARTED] = processes
    return processes


@pytest.fixture(autouse=True)
def no_leftovers(quiet_kernel: None, started: list[Process]) -> Iterator[None]:
    """When the test's processes are gone, the devices hold what they held before."""
    before = kernel.objects()
    yield
    for process in reversed(started):
        process.close()
    until(lambda: kernel.objects() == before, f"the devices hold no more than before: {before}", GONE_S)


# ---- What a test can ask for ------------------------------------------------------------------------------

_ports = itertools.count(20000)


def next_port() -> int:
    """A port that no other test has used."""
    return next(_ports)


def words(options: tuple[object, ...]) -> list[str]:
    """Returns options as they are typed."""
    return [word for option in options for word in str(option).split()]


class Run:
    """run("build/tests/peer", "-a 192.0.2.1"): any program. It ends with the test."""

    def __init__(self, started: list[Process], folder: Path, watch: str) -> None:
        """`folder` is for what they write, `watch` the tool to run them with."""
        self.started, self.folder, self.watch, self.number = started, folder, watch, 0

    def __call__(self, program: str, *options: object, **how: Any) -> Process:
        """Options are split into words; `how`: as Process has it."""
        self.number += 1
        name = f"{self.number} {program.removeprefix('build/tests/').removeprefix('beyond/')}"
        if self.watch:
            program = watched.built(self.watch, program)
            how |= {"env": watched.environment(self.folder), "under": watched.command(self.watch, self.folder)}
        self.started.append(Process(name, [program, *words(options)], self.folder, **how))
        return self.started[-1]

    def forget(self, process: Process) -> None:
        """Ends a process, and keeps nothing of it: for tests that start thousands."""
        process.close()
        for file in process.files.values():
            file.unlink()
        self.started.remove(process)


@pytest.fixture
def run(request: pytest.FixtureRequest, started: list[Process], no_leftovers: None) -> Iterator[Run]:
    """Starts programs. Their files are not in tmp_path, which xdist's controller chooses, as a guest's
    /tmp is its own; they stay until the test's report is made."""
    folder = tempfile.TemporaryDirectory(prefix="live-")
    request.node.stash[FOLDER] = folder
    yield Run(started, Path(folder.name), request.config.option.watch)
    if reports := watched.reports(Path(folder.name)):
        pytest.fail("\n".join(reports), pytrace=False)


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, None, None]:
    """Removes the test's folder."""
    yield
    if folder := item.stash.get(FOLDER, None):
        folder.cleanup()


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Random:
    """The random numbers of --seed and the test's name."""
    return Random(f"{request.config.option.seed} {request.node.name}")


@pytest.fixture
def seconds(request: pytest.FixtureRequest) -> float:
    """Returns how long a test with a duration lasts."""
    return float(request.config.option.seconds)


class Server:
    """server("-n 2", "-j"): the stage's server, on a port of its own, once it listens. With -q it does not say so."""

    def __init__(self, run: Run, stage: Stage, link: Link) -> None:
        """Takes the test's stage and link."""
        self.run, self.stage, self.link, self.port = run, stage, link, 0

    def __call__(self, *options: object, program: str = "", before: str = "", port: int = 0, **how: Any) -> Process:
        """`program` is another one, `before` what to run it with, such as "env A=1"."""
        self.port = port or next_port()
        argv = [*before.split(), program or f"{self.stage.folder}/server", "-a", self.link.address, "-p", self.port]
        process = self.run(str(argv[0]), *argv[1:], *options, **how)
        return process if "-q" in process.argv else process.awaits("listening on")


@pytest.fixture
def server(run: Run, stage: Stage, link: Link) -> Server:
    """Starts servers of the test's stage and link."""
    return Server(run, stage, link)


class Client:
    """client("-c 20", "-v"): the stage's client of the server that was started last."""

    def __init__(self, server: Server) -> None:
        """Finds the server by its port."""
        self.server = server

    def __call__(self, *options: object, stage: Stage | str = "", **how: Any) -> Process:
        """`stage` is another one's folder."""
        program = f"{stage or self.server.stage.folder}/client"
        return self.server.run(program, "-a", self.server.link.address, "-p", self.server.port, *options, **how)


@pytest.fixture
def client(server: Server) -> Client:
    """Starts clients of the test's stage and link."""
    return Client(server)


class Pair:
    """pair("-c 50", server="-j", client="-v"): both of the stage's programs. What they must agree on is for the client,
    which tells it to its server, or for both; the rest is for one of them. Returns the server and the client."""

    def __init__(self, client: Client) -> None:
        """Takes the test's stage and link."""
        self.server, self.client = client.server, client

    def __call__(self, agreed: str = "", server: str = "", client: str = "") -> tuple[Process, Process]:
        """The client waits for its server, which takes messages of any size."""
        return self.start(agreed, f"{self.server.stage.of_server} {server}", client)

    def start(self, agreed: str, server: str, client: str) -> tuple[Process, Process]:
        """The server has no options but these."""
        s = self.server(server, "" if self.server.stage.negotiates else agreed)
        return s, self.client("-w 60", agreed, client)

    def endless(self, both: str = "", timeout: str = "") -> tuple[Process, Process]:
        """Starts a run that does not end by itself, once messages are measured: after the warm-up of 100. The server listens, and
        with -w the client of ping-reconnect-2 would wait for the next one."""
        s, c = self.start(ENDLESS, f"-j {both} {timeout}", f"-T -j {both} {timeout} -w 0")
        return s, c.awaits("ibv_post_send", 200)


@pytest.fixture
def pair(client: Client) -> Pair:
    """Starts pairs of the test's stage and link."""
    return Pair(client)


class Peer:
    """peer("peer --client --reach stale -a {address} -p {port}"): another program of build/tests/, against the last server."""

    def __init__(self, server: Server) -> None:
        """Finds the server by its port."""
        self.server = server

    def __call__(self, command: str, **how: Any) -> Process:
        """{address} and {port} are the server's."""
        to = command.format(address=self.server.link.address, port=self.server.port)
        return self.server.run(*f"build/tests/{to}".split(), **how)


@pytest.fixture
def peer(server: Server) -> Peer:
    """Starts peers on the test's link."""
    return Peer(server)


# ---- What a failure shows ---------------------------------------------------------------------------------


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Adds to a report each program with its command line, status and output."""
    report = (yield).get_result()
    if report.failed:
        report.sections += [(process.name, process.report()) for process in item.stash.get(STARTED, [])]
