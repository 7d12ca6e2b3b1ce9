# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""All tests: which are run, by whom, and what is said at the end.

    tests/run                                          # as make check does: a call for each place
    python3 -m pytest tests/sim -k ping-sr-3-RoCE   # some of the tests

Contract: tests of `drivers` and `live` run in guests of the lab, which are xdist's workers and end with it, or with RDMA_ADDR on
this machine; all others run here. A test of one process is a function; of a program that has rows of its own, see rows.py.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import]

TOP = Path(__file__).resolve().parents[1]
TESTS, COURSE = TOP / "tests", TOP / "course/tests"  # tools/ has tests of its own: see house/test_products.py
TOOLS = [str(TOP / "tools" / folder) for folder in ("devices", "devices/tests", "verbs-sim", "verbs-sim/tests", "verbs-trace/tests")]
sys.path[:0] = [str(TOP), str(TESTS), str(COURSE), *TOOLS]

from live import kernel  # noqa: E402
from live import simulated  # noqa: E402
from live import watched  # noqa: E402
from tools.place import IN_GUEST, ON_DEVICE  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's Python: it has Debian's pytest, also in the guest
# Where tests run: those that need the machine for themselves and boot guests of their own; those in guests or on a
# device; those that would slow these down, with a guest each; and all others.
ALONE, DRIVERS, LAST, HERE = "alone", "drivers", "last", "here"
FOLDERS = {"hosts": ALONE, "lab": ALONE, "live": DRIVERS, "drivers": DRIVERS, "graded": LAST}
WORKERS = {
    ALONE: 0,
    DRIVERS: 1,  # guests: two take longer on two processors, as programs that poll cost each other more than they share
    HERE: 2 * (os.cpu_count() or 1),  # half of these tests wait for something
    LAST: os.cpu_count() or 1,
}
# Folders in the order in which they are begun; tests in these are handed out one by one, in all others file by file.
APART = ["live", "drivers", "graded", "sim", "mine", "bugs", "unit"]
LIMITS_S = {"live": 300, "graded": 1800, "hosts": 1200, "quotes": 3600}  # time limits of tests, where they are not 900
BRIEF = "not long and not by_name"  # the default of -m


@functools.cache  # resolve() takes an emulated guest 15 ms, and there are hundreds of tests
def folder_of(path: Path) -> str:
    """Returns the folder of tests/ or course/tests/ that has the file."""
    path = path.resolve()
    parts = path.relative_to(COURSE if path.is_relative_to(COURSE) else TESTS).parts
    return parts[0] if parts else ""


def place_of(path: Path) -> str:
    """Returns the kind of worker that runs the tests of a file."""
    return FOLDERS.get(folder_of(path), HERE)


# ---- Which tests, and where they run ----------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds options for tests that draw their events and last for a time; and for the lab."""
    group = parser.getgroup("tests of this project")
    group.addoption("--seed", default=str(int(time.time())), help="of random numbers (default: the time)")
    group.addoption("--watch", choices=watched.KINDS, default="", help="run the programs under this tool: tests/sanitize")
    group.addoption("--seconds", type=float, default=30.0, help="how long each siege and soak lasts (default: 30)")
    group.addoption("--kernel", help="the kernel of two machines, as lab/run has it")
    group.addoption("--place", choices=[*WORKERS], default="", help="run only these, with as many workers as is best: tests/run")


def pytest_report_header(config: pytest.Config) -> str:
    """Prints the option that repeats the choices of this run."""
    return f"--seed {config.option.seed} --seconds {config.option.seconds:g}"


@pytest.hookimpl(tryfirst=True)  # type: ignore[misc]
def pytest_configure(config: pytest.Config) -> None:
    """Gives tests their marks. A test that is named is run, long or not."""
    config.addinivalue_line("markers", "long: only make check-long runs it")
    config.addinivalue_line("markers", "by_name: run only by name: it takes hours, needs other libraries, or the kernel may not survive it")
    if any("::" in arg for arg in config.args) and config.option.markexpr == BRIEF:
        config.option.markexpr = ""
    if IN_GUEST:
        config.option.basetemp = None  # xdist's controller has chosen one; a guest's /tmp is its own


def places(config: pytest.Config) -> set[str]:
    """Returns the kinds of workers for the tests that the arguments name."""
    paths = [Path(arg.partition("::")[0]).resolve() for arg in config.args]
    if any(TESTS.is_relative_to(path) for path in paths):
        return {*WORKERS}
    return {place_of(path) for path in paths if path.is_relative_to(TESTS) or path.is_relative_to(COURSE)}


def pytest_cmdline_main(config: pytest.Config) -> None:
    """Chooses the workers, unless the tests run in this process."""
    option = config.option
    if hasattr(config, "workerinput"):  # the main thread may have another task of execnet's
        os.nice(10 if option.place == HERE else 0)  # tests in guests have limits in real time
        return
    # Guests end with it. A shell may have made this process, and so all others, ignore SIGINT.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    wanted = {option.place} if option.place else places(config)
    if option.collectonly or option.usepdb:
        return
    if IN_GUEST or (ON_DEVICE and wanted == {DRIVERS}):
        if len(option.tx) > 1:
            raise pytest.UsageError("tests would see each other's objects on the device: no -n here")
    elif DRIVERS in wanted and len(wanted) > 1:
        raise pytest.UsageError("tests in guests and others: a call for each, or tests/run")
    elif DRIVERS in wanted:
        os.chdir(TOP)
        guest = f"popen//python=lab/run -q --stdin --memory 2000 -- {PYTHON}"
        option.tx = [guest] * (len(option.tx) or WORKERS[DRIVERS])
        option.dist = "load"
    elif option.place:
        option.tx = ["popen"] * WORKERS[option.place]
        option.dist = "load" if option.tx else "no"


class FileByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out the tests of a file together, but for those of some folders."""

    def _split_scope(self, nodeid: str) -> str:
        """Splits scopes as xdist's documentation describes."""
        return nodeid if folder_of(TESTS / nodeid) in APART else nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)  # type: ignore[misc]
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileByFile | None:
    """Distributes the tests of many files."""
    return FileByFile(config, log) if config.option.place in (HERE, LAST) else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out files that run elsewhere."""
    place = config.option.place
    if not place or collection_path == TESTS or not collection_path.is_relative_to(TESTS):
        return None
    return place_of(collection_path) != place or None


@pytest.hookimpl(tryfirst=True)  # type: ignore[misc]
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Rows that would be deselected are not made, which takes an emulated guest a minute."""
    for mark in metafunc.definition.iter_markers("parametrize") if metafunc.config.option.markexpr == BRIEF else ():
        rows = mark.args[1] if len(mark.args) > 1 else mark.kwargs["argvalues"]
        short = [row for row in rows if not {"long", "by_name"} & {one.name for one in getattr(row, "marks", ())}]
        if isinstance(rows, list):
            rows[:] = short or rows[:1]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The order and the limits; and those of course/tests that run elsewhere, which pytest_ignore_collect is not asked about."""
    if place := config.option.place:
        items[:] = [item for item in items if place_of(item.path) == place]
    if place == DRIVERS and not ON_DEVICE and config.option.markexpr == BRIEF:
        items[:] = simulated.left_to_the_drivers(items)
    folders = {item: folder_of(item.path) for item in items}
    items.sort(key=lambda item: APART.index(folders[item]) if folders[item] in APART else len(APART))
    for item in items:
        if folders[item] in LIMITS_S and config.option.timeout is None:
            item.add_marker(pytest.mark.timeout(LIMITS_S[folders[item]]))


# ---- What is checked beside each test ---------------------------------------------------------------------


@pytest.fixture(autouse=True)
def quiet_kernel() -> Iterator[None]:
    """The guest's kernel has nothing to complain about while the test runs."""
    if not IN_GUEST:
        yield
        return
    log = kernel.Log()
    yield
    complaints = log.close()
    if complaints:
        pytest.fail("\n  ".join(["the kernel complained:", *complaints[:10]]), pytrace=False)


# ---- What is said at the end ------------------------------------------------------------------------------


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Adds to a failure the command that runs the test again."""
    report = (yield).get_result()
    if report.failed:
        seed = f" --seed {item.config.option.seed}" if "rng" in getattr(item, "fixturenames", ()) else ""
        report.sections.append(("to run it again", f"{PYTHON} -m pytest '{item.path.relative_to(TOP)}::{item.nodeid.partition('::')[2]}'{seed}"))


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line is the sum."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter and not config.option.collectonly:
        count = Counter({kind: len(reports) for kind, reports in reporter.stats.items()})
        if config.option.keyword and config.option.markexpr == BRIEF and not count["passed"] + count["failed"] + count["error"] + count["skipped"]:
            reporter.write_line("nothing ran: -k chooses among the tests of make check; -m 'not by_name' adds those marked long, -m '' all")
        reporter.write_line(f"{count['passed']} passed, {count['failed'] + count['error']} failed, {count['skipped']} skipped")
