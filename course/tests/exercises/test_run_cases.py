# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of what runs a submission: the time limits of course/run_cases.py, with clocks that the test sets; and
course/witness.py, with a trace as the kernel writes it.

Contract: the layout of a line of the trace is that of Linux 6.1 and 6.12 with the option record-tgid.
"""

import signal
import subprocess
from pathlib import Path

import pytest

from course import jail, run_cases, witness


class Clock:
    """A clock that is set by hand, and a limit of ten seconds, or of three without activity."""

    def __init__(self) -> None:
        self.now, self.activity = 100.0, 0
        self.limit: run_cases.Limit

    def passes(self, seconds: float, active: bool) -> bool:
        """Looks after a time, in which there was activity or not."""
        self.now += seconds
        self.activity += active
        return self.limit.over()

    def looks(self, active: bool, most: int = 1000) -> int:
        """Returns how many looks, each after a twentieth of a second, it takes."""
        return next((look for look in range(1, most + 1) if self.passes(0.05, active)), most)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock in place of the machine's."""
    own = Clock()
    monkeypatch.setattr("course.run_cases.time.monotonic", lambda: own.now)
    own.limit = run_cases.Limit(10, 3, lambda: own.activity)
    return own


@pytest.mark.parametrize("active, looks, told", [(True, 200, "was still running after 10 s"), (False, 60, "used no CPU for 3 s")])
def test_there_is_less_time_without_activity(clock: Clock, active: bool, looks: int, told: str) -> None:
    assert clock.looks(active) == pytest.approx(looks, abs=2)
    assert clock.limit.reached() == told


def test_idle_times_do_not_add_up(clock: Clock) -> None:
    for _ in range(4):
        assert clock.looks(active=False, most=35) == 35
        assert not clock.passes(0.05, True)
        assert clock.looks(active=True, most=5) == 5


def test_a_host_that_stood_still_takes_no_time(clock: Clock) -> None:
    for _ in range(4):
        assert not clock.passes(3600, False)
    assert not clock.passes(3600, True)
    assert clock.looks(active=True) == pytest.approx(150, abs=2)


@pytest.mark.parametrize("status, alone, run", [(run_cases.STILL, True, 3), (run_cases.STILL, False, 1), ("used no CPU", False, 3), ("", False, 5)])
def test_after_late_cases_no_other_is_run(monkeypatch: pytest.MonkeyPatch, status: str, alone: bool, run: int) -> None:
    """Beside other submissions one that takes too long is enough: it may be theirs, and the submission is graded again, alone."""

    class Ends:
        """A case that ends like this."""

        def __init__(self, *_: object) -> None:
            pass

        def late(self) -> str:
            return status

        def run(self) -> dict[str, str]:
            return {"client": "run"}

    monkeypatch.setattr(run_cases, "Case", Ends)
    results = run_cases.run_all([{"client": {}}] * 5, [*range(5)], "-jq", alone)
    assert [result["client"] == "run" for result in results] == [True] * run + [False] * (5 - run)
    assert all("did not end in time" in result["client"]["status"] for result in results[run:])


class Watched:
    """A side of a case that notes what is done to it."""

    out, err = "out", "err"

    def __init__(self) -> None:
        self.done: list[tuple[object, ...]] = []

    def wait(self, *words: object) -> None:
        self.done.append(words)

    def interrupt(self) -> None:
        self.done.append(("interrupted",))


def test_the_steps_of_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    side, case = Watched(), object.__new__(run_cases.Case)
    monkeypatch.setattr(jail, "cpu_seconds", lambda: 4.5)
    monkeypatch.setattr(case, "sides", {"client": side}, raising=False)
    monkeypatch.setattr(case, "meter", [], raising=False)
    monkeypatch.setattr(case, "end", lambda name: side.done.append(("ended", name)))
    monkeypatch.setattr(case, "await_seen", lambda *words: side.done.append(("seen", *words)))
    steps: list[tuple[str, list[object]]] = [
        ("listening", []), ("said", ["x", 3]), ("printed", ["got", 20]), ("seen", ["rdma_connect", 2]), ("meter", []), ("interrupt", []), ("end", [])]  # fmt: skip
    for action, words in steps:
        case.step(action, "client", *words)
    assert side.done == [("err", "listening on"), ("err", "x", 3), ("out", "got", 20), ("seen", "client", "rdma_connect", 2), ("interrupted",), ("ended", "client")]
    assert [cpu for _, cpu in case.meter] == [4.5]
    with pytest.raises(ValueError, match="no such step: sleep"):
        case.step("sleep", "client")


def test_what_is_killed() -> None:
    """The command, and what it has started: the pipe ends when nobody has it any more."""
    process = subprocess.Popen(["sh", "-c", "sleep 1000 & echo; wait"], stdout=subprocess.PIPE)
    assert process.stdout and process.stdout.read(1) == b"\n"
    jail.kill(process)
    assert process.communicate(timeout=60)[0] == b"" and process.returncode == -signal.SIGKILL


# ---- What the kernel has seen ----

OWN, PARTNER = 226, 225


def line(process: int, event: str, thread: int = 0, name: str = "client") -> str:
    """A line of the trace."""
    tgid = f"{process or '-------':>7}"
    return f"{name:>16}-{thread or process:<7} ({tgid}) [001] d..2.    30.671763: {event}\n"


def post(process: int, queue_pair: int, thread: int = 0) -> str:
    """The line of the trace for a process that posts."""
    return line(process, f"post: (rxe_post_send+0x0/0x4b0 [rdma_rxe]) qp={queue_pair:#x}", thread)


def sent(queue_pair: int, flags: int = 2, opcode: int = 2, imm: int = 0) -> str:
    """The line for a work request that the driver, in a thread of its own, has carried out."""
    numbers = f"qp={queue_pair:#x} opcode={opcode} flags={flags} imm={imm} length=64 pieces=2 first=16 key=7 other=9"
    return line(14, f"sent: (do_complete+0x0/0x220 [rdma_rxe]) {numbers}", name="ksoftirqd/0")


def connected(process: int, result: int) -> str:
    """The line for a process that has called rdma_connect."""
    return line(process, f"rdma_connect: (ucma_write+0xb3/0x150 [rdma_ucm] <- ucma_connect) result={result}")


def flags(text: str) -> list[str]:
    """The flags of what the submission sent."""
    return [wr["flags"] for wr in witness.seen("# tracer: nop\n" + text, [PARTNER])["sends"]]


def test_a_partner_is_left_out() -> None:
    text = post(OWN, 1) + post(PARTNER, 2, thread=230) + sent(1) + sent(2, 8) + sent(1, 10)
    assert flags(text) == ["SIGNALED", "SIGNALED|INLINE"]


def test_the_kernels_own_queue_pair_is_left_out() -> None:
    """Both sides connect by this queue pair."""
    assert flags(post(OWN, 1) + post(PARTNER, 1) + sent(1)) == []


@pytest.mark.parametrize("lost", [0, 7])
def test_a_trace_that_is_not_whole_shows_nothing(lost: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a program could drown what was seen."""
    monkeypatch.setattr(witness, "TRACING", tmp_path)
    for cpu, overrun in (("cpu0", 0), ("cpu1", lost)):
        (tmp_path / "per_cpu" / cpu).mkdir(parents=True)
        (tmp_path / "per_cpu" / cpu / "stats").write_text(f"entries: 9\noverrun: {overrun}\ncommit overrun: 0\n")
    (tmp_path / "trace").write_text(post(OWN, 1) + sent(1) + connected(OWN, 0))
    found = witness.now([PARTNER])
    assert (len(found["sends"]), found["rdma_connect"]) == ((0, 0) if lost else (1, 1))


def test_another_process_of_the_submission_counts() -> None:
    assert len(flags(post(OWN, 1) + post(300, 3) + post(0, 4, thread=9) + sent(1) + sent(3) + sent(4))) == 3


def test_two_pieces() -> None:
    """An inline message has its bytes where the pieces would be."""
    found = witness.seen(post(OWN, 1) + sent(1) + sent(1, flags=8), [])["sends"]
    pieces = [{"length": 16, "lkey": 7}, {"length": 48, "lkey": 9}]
    assert [wr["sge"] for wr in found] == [pieces, [{"length": 64}]]


def test_a_name_is_no_event() -> None:
    named = line(OWN, "other: (f+0x0/0x1) a=1", name=") [0] d 1: sent:")
    assert witness.seen(named, [])["sends"] == []


def test_immediate_data_is_big_endian() -> None:
    found = witness.seen(post(OWN, 1) + sent(1, opcode=1, imm=0x07000000), [])["sends"]
    assert [(wr["opcode"], wr["imm"]) for wr in found] == [("RDMA_WRITE_WITH_IMM", "0x7")]


def test_calls_that_failed_do_not_count() -> None:
    text = connected(OWN, 0) + connected(OWN, -22) + connected(OWN, -111) + connected(PARTNER, 0)
    assert witness.seen(text, [PARTNER])["rdma_connect"] == 2  # result -111 is ECONNREFUSED


def test_reads_without_an_event() -> None:
    read = "get_cq_event: (vfs_read+0xb3/0x150 <- ib_uverbs_comp_event_read) result="
    found = witness.seen(line(OWN, f"{read}8") + 3 * line(OWN, f"{read}-11") + line(PARTNER, f"{read}-11"), [PARTNER])
    assert (found["get_cq_event"], found["get_cq_event_empty"]) == (1, 3)


def test_limits_that_are_reached() -> None:
    """The event counts whatever process runs when the driver reports it; 13 is another event."""
    events = [line(process, f"srq_event: (ib_uverbs_srq_event_handler+0x0/0x1) event={number}") for process, number in ((0, 15), (PARTNER, 15), (0, 13))]
    assert witness.seen("".join(events), [PARTNER])["low"] == 2
