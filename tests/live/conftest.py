# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Real programs as real processes over real drivers: what each test can ask for, and what is checked after it.

    python3 -m pytest tests/live -k talk

Contract: inside a guest of the lab, or with RDMA_ADDR, tests run in this process. Otherwise they run in guests, which
are xdist's workers: -n says how many.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

import kernel
from processes import Process, until
from table import IN_GUEST, ON_DEVICE, TOP, Link, Stage

GUESTS = 2
GONE_S = 100  # the kernel may take a minute to destroy an id: docs/pitfalls.md
STARTED = pytest.StashKey[list[Process]]()
PYTHON = "/usr/bin/python3"  # Debian's: it has Debian's pytest, also in the guest


# ---- Where tests run, and which ---------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    """Marks. A test that is named is run, long or not."""
    config.addinivalue_line("markers", "long: only make check-long runs it")
    if any("::" in arg for arg in config.args) and config.option.markexpr == "not long":
        config.option.markexpr = ""


def pytest_cmdline_main(config: pytest.Config) -> None:
    """Without a device here: xdist's workers are guests of the lab, which pass stdin and stdout through."""
    workers = len(config.option.tx)
    if ON_DEVICE or IN_GUEST:
        if workers > 1:
            raise pytest.UsageError("tests would see each other's objects on the device: no -n here")
    elif not config.option.collectonly and not config.option.usepdb:
        os.chdir(TOP)
        config.option.dist = "load"
        config.option.tx = [f"popen//python=lab/run -q --stdin -- {PYTHON}"] * (workers or GUESTS)


# ---- What is checked after each test ----------------------------------------------------------------------


@pytest.fixture(autouse=True)
def quiet_kernel() -> Iterator[None]:
    """The kernel has nothing to complain about while the test runs."""
    if not IN_GUEST:
        yield
        return
    log = kernel.Log()
    yield
    complaints = log.close()
    if complaints:
        pytest.fail("\n  ".join(["the kernel complained:", *complaints[:10]]), pytrace=False)


@pytest.fixture
def started(request: pytest.FixtureRequest) -> list[Process]:
    """The test's processes."""
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
    """One that no other test has used."""
    return next(_ports)


def words(options: tuple[object, ...]) -> list[str]:
    """Options as they are typed."""
    return [word for option in options for word in str(option).split()]


class Run:
    """run("build/tests/peer", "-a 192.0.2.1"): any program. It ends with the test."""

    def __init__(self, started: list[Process], folder: Path) -> None:
        """`folder` is for what they write."""
        self.started, self.folder = started, folder

    def __call__(self, program: str, *options: object, **how: Any) -> Process:
        """Options are split into words; `how`: as Process has it."""
        name = f"{len(self.started) + 1} {program.removeprefix('build/tests/').removeprefix('beyond/')}"
        self.started.append(Process(name, [program, *words(options)], self.folder, **how))
        return self.started[-1]


@pytest.fixture
def run(started: list[Process], no_leftovers: None) -> Iterator[Run]:
    """Not in tmp_path: xdist's controller chooses that, and a guest's /tmp is its own."""
    with tempfile.TemporaryDirectory(prefix="live-") as folder:
        yield Run(started, Path(folder))


class Server:
    """server("-n 2", "-j"): the stage's server, on a port of its own, once it listens."""

    def __init__(self, run: Run, stage: Stage, link: Link) -> None:
        """Of the test's stage and link."""
        self.run, self.stage, self.link, self.port = run, stage, link, 0

    def __call__(self, *options: object, program: str = "", before: str = "", port: int = 0, **how: Any) -> Process:
        """`program` is another one, `before` what to run it with, such as "env A=1"."""
        self.port = port or next_port()
        argv = [*before.split(), program or f"{self.stage.folder}/server", "-a", self.link.address, "-p", self.port]
        return self.run(str(argv[0]), *argv[1:], *options, **how).awaits("listening on")


@pytest.fixture
def server(run: Run, stage: Stage, link: Link) -> Server:
    """Of the test's stage and link."""
    return Server(run, stage, link)


class Client:
    """client("-c 20", "-v"): the stage's client of the server that was started last."""

    def __init__(self, server: Server) -> None:
        """Finds it by the port."""
        self.server = server

    def __call__(self, *options: object, stage: Stage | str = "", **how: Any) -> Process:
        """`stage` is another one's folder."""
        program = f"{stage or self.server.stage.folder}/client"
        return self.server.run(program, "-a", self.server.link.address, "-p", self.server.port, *options, **how)


@pytest.fixture
def client(server: Server) -> Client:
    """Of the test's stage and link."""
    return Client(server)


class Peer:
    """peer("trespass {address} stale -p {port}"): another program of build/tests/, against the last server."""

    def __init__(self, server: Server) -> None:
        """Finds it by the port."""
        self.server = server

    def __call__(self, command: str, **how: Any) -> Process:
        """{address} and {port} are the server's."""
        to = command.format(address=self.server.link.address, port=self.server.port)
        return self.server.run(*f"build/tests/{to}".split(), **how)


@pytest.fixture
def peer(server: Server) -> Peer:
    """Of the test's link."""
    return Peer(server)


# ---- What a failure shows ---------------------------------------------------------------------------------


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Each program with its command line, status and output; and how to run the test again."""
    report = (yield).get_result()
    if report.failed:
        again = f"{item.path.relative_to(TOP)}::{item.name}"
        report.sections += [(process.name, process.report()) for process in item.stash.get(STARTED, [])]
        report.sections.append(("to run it again", f"{PYTHON} -m pytest '{again}'"))


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line is the sum, as of all our tests."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter and not hasattr(config, "workerinput") and not config.option.collectonly:
        count = {kind: len(reports) for kind, reports in reporter.stats.items()}
        failed = count.get("failed", 0) + count.get("error", 0)
        reporter.write_line(f"{count.get('passed', 0)} passed, {failed} failed, {count.get('skipped', 0)} skipped")
