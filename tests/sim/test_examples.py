# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The programs of examples/ when all goes well: each says what it has done, in these lines and no others, with figures that the
trace of the same run bears out; it posts what its messages need, sleeps where it says so, and keeps nobody waiting.

Contract: {a} is the server's address. A row's lines come in any order; a word in braces is a figure.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from sim.simulation import ADDRESS, SIDES, TOP, TRANSPORTS, Run, calls_of, nth, simulate
from sim.timeline import CALL, LINE

FIGURES = {"us": r"(?P<us{n}>\d+\.\d)", "call": r"0\.[1-3]\d", "any": r"\d+\.\d\d", "once": "[12]"}
PROGRESS = re.compile(r"loop_client: \d+ of \d+ messages$")  # a line of each second
SEEDS = range(1, 25)
MOST_CALLS = 24  # calls of a program that sleeps, for a message there and back
MOST_US = 70  # microseconds for one such message
LAST_RECEIVE_US = 10000  # microseconds in which a device may still say that a QP has taken its last receive of an SRQ; soft-RoCE never does
IDLE_S = 30


@dataclass(frozen=True)
class Example:
    """A server, its clients, and what they say."""

    what: str
    server: str
    clients: tuple[str, ...]
    said: str  # lines that the server says, separated by |
    counts: tuple[int, ...]  # messages of each client
    transports: str = "RoCE iWARP"
    spins: bool = False  # a client polls
    strict: str = "--strict"  # a receive for a message of several packets may have the memory of an answer that has arrived

    def __str__(self) -> str:
        return self.what.replace(" ", "-")

    def short(self) -> Example:
        """The same example with few messages."""
        clients = tuple(f"{client} 12321 3" if client.endswith("{a}") else client for client in self.clients)
        return replace(self, clients=clients, said=self.said.replace("2000", "6").replace("1000", "3").replace(", 2 at", ", {once} at").replace("{call}", "{any}"))


def echo(server: str, *clients: str) -> str:
    """Returns the output of a server and its clients, which are given as `COUNT SIZE`."""
    name, counts = server.rpartition("/")[2], [int(client.split()[0]) for client in clients]
    each = "|".join("{} messages of {} bytes, there and back in {{us}} us each".format(*client.split()) for client in clients)
    whom = f" to {len(clients)} clients" if "echo" not in name else ""
    back = f"{sum(counts)} messages sent back{whom}" if whom else "|".join(f"{count} messages sent back" for count in counts)
    return f"{name}: listening|{each}|{back}" + (f", {len(clients)} at once" if name == "srq_server" else "")


FILE = "docs/primer.md"
SIZE = (TOP / FILE).stat().st_size
CHUNKS = -(-SIZE // 4096)
EXTENDED = "|".join(f"{way}: {{call}} us to post, {{call}} us to take a completion" for way in ("ordinary", "extended"))
ROWS = [
    *(
        Example(f"{server} {client}", f"{server} {{a}}", (f"{client} {{a}}",), echo(server, "1000 64"), (1000,))
        for server in ("echo_server", "epoll_server", "srq_server", "plain/echo_server")
        for client in ("echo_client", "plain/echo_client", "loop_client")
    ),
    *(
        Example(f"{server} and two that differ", f"{server} {{a}} 7", ("echo_client {a} 7 40 4000", "loop_client {a} 7 90 1"), echo(server, "40 4000", "90 1"), (40, 90), strict="-q")
        for server in ("echo_server", "epoll_server", "srq_server", "plain/echo_server")
    ),
    Example("extended", "plain/echo_server {a}", ("plain/extended_client {a}",), f"echo_server: listening|2000 messages sent back|{EXTENDED}", (2000,), "RoCE", True),
    Example("first", "plain/echo_server {a}", ("plain/first_client {a}",), "echo_server: listening|1 messages sent back|'hello, RDMA' came back", (1,), spins=True),
    Example("first pair", "plain/first_server {a}", ("plain/first_client {a}",), "first_server: listening|one message sent back|'hello, RDMA' came back", (1,), spins=True),
    Example("reconnect", "srq_server {a}", ("reconnect_client {a} 12321 20",), "srq_server: listening|20 answers over 1 connections|20 messages sent back to 1 clients, 1 at once", (20,)),
    Example("memory", "epoll_server {a}", (f"memory_client {{a}} 12321 {FILE}",),
            f"epoll_server: listening|{SIZE} bytes there and back over 2 connections|{CHUNKS} messages sent back to 2 clients", (CHUNKS,), strict="-q"),
]  # fmt: skip
each_row = pytest.mark.parametrize(
    "row, transport", [pytest.param(row, TRANSPORTS[one], id=f"{row}-{one}") for row in ROWS for one in row.transports.split()]
)


def programs(row: Example) -> list[list[str]]:
    """The programs with their arguments."""
    return [f"build/examples/{program}".format(a=ADDRESS).split() for program in (row.server, *row.clients)]


def play(row: Example, *options: str) -> Run:
    """Runs the programs of a row."""
    return simulate(programs(row), *options)


def figures(row: Example, run: Run) -> list[float]:
    """Checks that it has printed the lines of the row, and no others. Returns how long each message takes, in microseconds."""
    said = "\n".join(sorted(line for line in (run.out + run.err).splitlines() if not LINE.match(line) and not PROGRESS.match(line)))
    parts = re.split(r"\{(\w+)\}", "\n".join(sorted(row.said.split("|"))))
    pattern = "".join(FIGURES[part].format(n=n) if n % 2 else re.escape(part) for n, part in enumerate(parts))
    found = re.fullmatch(pattern, said)
    assert found and not any(run.statuses) and not run.exit, f"{said}\nis not\n{row.said}\n{run.why()[:500]}"
    return [float(us) for us in found.groupdict().values()]


def calls(run: Run) -> dict[int, list[tuple[float, str]]]:
    """Returns the calls of each program, with their times in microseconds, and their results."""
    made: dict[int, list[tuple[float, str]]] = {}
    for us, ns, number, _, _, text in CALL.findall(run.err):
        made.setdefault(int(number), []).append((int(us) + int(ns) / 1000, text))
    return made


@each_row
def test_what_it_says_and_does(row: Example, transport: list[str]) -> None:
    run = play(row, *transport, "--trace", "--patience", str(IDLE_S))
    printed, spans = figures(row, run), []
    server, *clients = (made for _, made in sorted(calls(run).items()))
    gone = max(client[-1][0] for client in clients)
    for count, client in zip(row.counts, clients):
        names = [text for _, text in client]
        assert names.count("ibv_post_send") in (count, count // 2 if "extended" in row.what else count), names.count("ibv_post_send")
        assert row.spins or len(names) < 100 + MOST_CALLS * count, "it does not sleep"
        sends, ends = ([us for us, text in client if text.startswith(kind)] for kind in ("ibv_post_send", "= completion"))
        spans.append((count, ends[-1] - sends[0]))
    ends_us = LAST_RECEIVE_US * len(row.clients) if "srq" in row.server else 0
    assert gone < 1000 + MOST_US * sum(row.counts) + ends_us, "somebody waits in vain"
    idle = sum(us > gone + 100 for us, _ in server)
    assert idle < 20 + 4 * IDLE_S, f"an idle server makes {idle} calls"
    if len(printed) == len(spans):
        for us in printed:
            assert any(abs(us - span / count) < 0.06 + 1 / count for count, span in spans), (printed, spans)


@each_row
def test_whatever_the_order(row: Example, transport: list[str]) -> None:
    for seed in SEEDS:
        figures(row.short(), play(row.short(), *transport, row.strict, "--strategy", "mixed", "--seed", str(seed)))


# ---- One of them is held up: it is stopped at a call, and goes on a second later ----

HELD = [row.short() for row in ROWS if row.what in ("echo_server echo_client", "epoll_server loop_client", "srq_server plain/echo_client", "plain/echo_server plain/echo_client")]
each_held = pytest.mark.parametrize("row", HELD, ids=str)


@pytest.fixture
def goes_on(tmp_path: Path) -> Callable[[int], list[str]]:
    """Options for a run in which this program goes on after a second."""

    def options(program: int) -> list[str]:
        (tmp_path / "steps").write_text(f"wait 1\nsignal {program} SIGCONT\n")
        return ["--steps", str(tmp_path / "steps")]

    return options


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@each_held
def test_whoever_is_held_up(row: Example, transport: list[str], side: int, goes_on: Callable[[int], list[str]]) -> None:
    """A program may be held up at any call, a server once it listens: what has come in the meantime comes all at once."""
    names = calls_of(programs(row), side, *transport)
    for call in range(1 if side else names.index("rdma_get_cm_event") + 1, names.index("rdma_disconnect") + 1):
        figures(row, play(row, *transport, "--fail", f"{side}:{nth(names, call)}:SIGSTOP", *goes_on(side)))


@pytest.mark.parametrize("row", [row for row in ROWS if row.what.startswith("epoll_server") and row.counts == (1000,)], ids=str)
def test_what_it_says_of_its_time(row: Example, goes_on: Callable[[int], list[str]]) -> None:
    """The run is long enough to show a difference of a thousandth."""
    run = play(row, "--trace", "--fail", "0:ibv_post_send:500:SIGSTOP", *goes_on(0))
    (us,), client = figures(row, run), calls(run)[1]
    sends, ends = ([us for us, text in client if text.startswith(kind)] for kind in ("ibv_post_send", "= completion"))
    assert ends[-1] - sends[0] > 900_000 and abs(us - (ends[-1] - sends[0]) / 1000) < 0.06, us


def test_a_connection_may_outlive_what_limits_a_wait(tmp_path: Path) -> None:
    """The limit is ten seconds: its server is held up for four, three times."""
    (tmp_path / "steps").write_text("wait 4\nsignal 0 SIGCONT\n" * 3)
    stops = [word for number in (2, 4, 6) for word in ("--fail", f"0:ibv_post_send:{number}:SIGSTOP")]
    for row in HELD:
        long = replace(row, clients=tuple(client.removesuffix("3") + "9" for client in row.clients), said=re.sub(r"\b3 messages", "9 messages", row.said))
        run = play(long, *stops, "--steps", str(tmp_path / "steps"))
        figures(long, run)
        assert run.ms > 11_900


# ---- Streams and the store ----


def shell(command: str) -> list[str]:
    """A shell command with files in the place of stdin and stdout."""
    return ["sh", "-c", f"exec build/examples/{command}"]


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_a_stream_arrives_whole_in_any_order(transport: list[str], tmp_path: Path, goes_on: Callable[[int], list[str]]) -> None:
    """Every buffer is used some times, and who writes and who reads are held up now and then."""
    given, taken = tmp_path / "given", tmp_path / "taken"
    given.write_bytes(bytes(Random(1).randbytes(65536 * 150 + 1)))
    programs = [shell(f"stream_server {ADDRESS} >{taken}"), shell(f"stream_client {ADDRESS} <{given}")]
    for seed in range(1, 5):
        run = simulate(programs, *transport, "--strict", "--strategy", "mixed", "--seed", str(seed))
        assert not run.exit and taken.read_bytes() == given.read_bytes(), run.why()
        assert re.findall(r": (\d+) messages", run.err) == ["152", "152"] and "waited for credits" in run.err, run.why()
        assert "credits 0 times" not in run.err, run.why()
    for program, at in ((0, 2), (1, 64)):  # it is held up when all that may be under way is
        run = simulate(programs, *transport, "--fail", f"{program}:ibv_post_send:{at}:SIGSTOP", *goes_on(program))
        assert not run.exit and taken.read_bytes() == given.read_bytes() and run.ms > 900, run.why()


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_the_end_of_a_stream_comes_with_all_that_is_before_it(transport: list[str], tmp_path: Path, goes_on: Callable[[int], list[str]]) -> None:
    """The stream ends after half of the credits, or one more: those are on their way when the last ones are due."""
    given, taken = tmp_path / "given", tmp_path / "taken"
    for messages in (32, 33):
        given.write_bytes(b"x" * 65536 * messages)
        programs = [shell(f"stream_server {ADDRESS} >{taken}"), shell(f"stream_client {ADDRESS} <{given}")]
        run = simulate(programs, *transport, "--fail", "0:ibv_poll_cq:1:SIGSTOP", *goes_on(0))
        assert run.statuses == [0, 0] and taken.read_bytes() == given.read_bytes(), run.why()


@pytest.mark.parametrize("stdout", [">/dev/full", ">&-"])
def test_the_other_side_hears_that_a_line_was_not_shown(stdout: str, tmp_path: Path) -> None:
    """The other side does not hear that its memory is wrong."""
    (tmp_path / "line").write_text("a line\n")
    server, client = (f"{side} -a {ADDRESS} <{tmp_path / 'line'}" for side in SIDES)
    run = simulate([["sh", "-c", f"exec beyond/talk-rdma-0/{program}"] for program in (f"{server} {stdout}", client)])
    assert run.statuses == [1, 1] and "the server left" in run.err and "access error" not in run.err, run.why()


def test_a_client_that_does_not_leave(tmp_path: Path) -> None:
    """All that the client has sent is here."""
    taken, given = tmp_path / "taken", Path(FILE)
    (tmp_path / "steps").write_text("wait 30 0\nsignal 1 SIGCONT\n")
    stays = ["--fail", "1:rdma_disconnect:1:SIGSTOP", "--steps", str(tmp_path / "steps")]
    run = simulate([shell(f"stream_server {ADDRESS} >{taken}"), shell(f"stream_client {ADDRESS} <{given}")], *stays)
    assert run.statuses == [0, 0] and taken.read_bytes() == (TOP / given).read_bytes() and run.ms > 9000, run.why()


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
def test_a_long_pause(side: int, tmp_path: Path) -> None:
    """The reader of stdout or the writer of stdin pauses."""
    taken, given = tmp_path / "taken", Path(FILE)
    (tmp_path / "steps").write_text(f"wait 100\nsignal {side} SIGCONT\n")
    pauses = ["--fail", f"{side}:{'ibv_post_send' if side else 'ibv_poll_cq'}:1:SIGSTOP", "--steps", str(tmp_path / "steps")]
    run = simulate([shell(f"stream_server {ADDRESS} >{taken}"), shell(f"stream_client {ADDRESS} <{given}")], *pauses)
    assert run.statuses == [0, 0] and taken.read_bytes() == (TOP / given).read_bytes() and run.ms > 99_000, run.why()


STORE = ["build/examples/store_server", ADDRESS]
TRIED = "21 values put, got and deleted\n"


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_a_store_has_each_value_whole_in_any_order(transport: list[str]) -> None:
    """The values of two clients are of all lengths, and many are under way."""
    programs = [STORE, *[["build/examples/store_client", ADDRESS, "try", "21"]] * 2]
    for seed in range(1, 9):
        run = simulate(programs, *transport, "--strict", "--strategy", "mixed", "--seed", str(seed))
        assert not run.exit and run.out == 2 * TRIED, run.why()


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_a_store_never_has_more_requests_than_receives(transport: list[str], side: int, goes_on: Callable[[int], list[str]]) -> None:
    """Either side is held up when all that may be under way is. On iWARP a message without a receive would end the connection."""
    programs = [STORE, ["build/examples/store_client", ADDRESS, "try", "21"]]
    for at in (1, 8, 9, 16, 30):
        run = simulate(programs, *transport, "--fail", f"{side}:ibv_post_send:{at}:SIGSTOP", *goes_on(side))
        assert not run.exit and TRIED in run.out and run.ms > 900, run.why()


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_a_store_does_not_wait_for_a_client_that_is_gone(transport: list[str]) -> None:
    """Its host falls silent while its values are READ. Others are served, and the server ends the connection by itself: over iWARP by stall_s alone."""
    one = ["build/examples/store_client", ADDRESS, "try", "21"]
    run = simulate([STORE, one, ["build/tests/sim/programs", "later", "1", *one]], *transport, "--fail", "1:ibv_post_send:8:SILENCE", "--patience", "60")
    assert run.statuses == [0, 1, 0] and run.out == TRIED and run.left == "nothing", run.why()
    assert re.search("store_server: .*(retry counter exceeded|a send has not completed for 10 s)", run.err), run.why()


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_a_value_that_has_changed_is_not_shown(transport: list[str]) -> None:
    """It changes when the server READs it, which keeps what has come; the client that gets it notices."""
    run = simulate([STORE, ["build/examples/store_client", ADDRESS, "try", "1"]], *transport, "--fail", "0:message:3:FLIP=60")
    assert run.statuses == [0, 1] and "the value is not the one that was put" in run.err and run.fault, run.why()


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@pytest.mark.parametrize("small, large", [(True, True), (True, False), (False, True), (False, False)])
def test_what_a_store_counts(transport: list[str], small: bool, large: bool, tmp_path: Path) -> None:
    """Values are put, put again, and deleted or not. Each takes 256 bytes more, and 8 for its checksum."""
    (tmp_path / "small").write_bytes(bytes(100))
    (tmp_path / "large").write_bytes(bytes(100_000))
    deeds = [deed for _ in range(2) for deed in (f"put small <{tmp_path}/small", f"put large <{tmp_path}/large")]
    deeds += ["get small >/dev/null", *["delete small"] * (not small), *["delete large"] * (not large)]
    clients = [shell(f"store_client {ADDRESS} {deed}") for deed in deeds]
    later = [["build/tests/sim/programs", "later", str(second), *client] for second, client in enumerate([*clients, ["build/tests/sim/library", "read-counters"]])]
    run = simulate([STORE, *later], *transport)
    held = (100 + 8 + 256) * small + (100_000 + 8 + 256) * large
    assert not run.exit and run.out.splitlines()[0] == f"1 clients, {small + large} values, {held} bytes, {len(deeds)} requests", run.why()


def test_a_store_has_room_for_so_much(tmp_path: Path) -> None:
    """63 values of 1 MiB each, with what else they take, for whatever clients."""
    (tmp_path / "value").write_bytes(bytes(1 << 20))
    run = simulate([STORE, *[shell(f"store_client {ADDRESS} put {number} <{tmp_path}/value") for number in range(65)]])
    assert run.err.count("there is no room for the value") == run.statuses.count(1) == 2 and not run.statuses[0], run.why()[-500:]


# ---- Servers: whom they refuse, and what they do first ----


def test_one_client_too_many_of_the_store() -> None:
    """Five programs want 64 connections each."""
    client = ["build/beyond/ping-mt-4/client", ADDRESS, "nothing", "64", "9"]
    run = simulate([STORE, *[client] * 5])
    assert run.statuses[0] == 0 and 1 in run.statuses and "store_server: a client is refused: there are 256\n" in run.err, run.why()


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@pytest.mark.parametrize("server", ["epoll_server", "srq_server"])
def test_who_connects_is_not_kept_waiting_by_those_who_are_busy(server: str, transport: list[str]) -> None:
    """soft-iWARP gives up after ten seconds. Meanwhile others have had less than half of their messages back."""
    run = simulate([[f"build/examples/{server}", ADDRESS], *[["build/examples/echo_client", ADDRESS, "12321", "100"]] * 40], *transport, "--trace")
    names = [text for _, text in calls(run)[0]]
    last = len(names) - names[::-1].index("rdma_accept")
    assert not run.exit and names.count("rdma_accept") == 40 and names[:last].count("ibv_post_send") < 1500, names[:last].count("ibv_post_send")


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_a_store_that_is_told_to_stop_ends_its_connections_first(transport: list[str], tmp_path: Path) -> None:
    """A client that READs meanwhile may find its memory, or that the server has left, but no memory that is not registered."""
    (tmp_path / "steps").write_text("wait 1\nsignal 0 SIGTERM\nwait 1\nsignal 1 SIGCONT\nwait 1\nsignal 0 SIGCONT\n")
    held = ["--fail", "1:ibv_post_send:1:SIGSTOP", "--fail", "0:rdma_disconnect:1:SIGSTOP", "--steps", str(tmp_path / "steps")]
    run = simulate([STORE, ["build/beyond/ping-mt-4/client", ADDRESS, "nothing", "1", "1"]], *transport, *held)
    assert run.statuses == [0, 0] and len(run.fault.split("; ")) == 2, run.why()


@pytest.mark.parametrize("times, least_s, most_s", [(1, 3, 20), (2, 0, 0.5)])
def test_a_second_stop_does_not_wait_for_a_silent_server(times: int, least_s: float, most_s: float, tmp_path: Path) -> None:
    told = "wait 0.1\nsignal 1 SIGINT\n" * times
    server, client = f"build/examples/echo_server {ADDRESS}", f"build/examples/loop_client {ADDRESS} 12321 1000000"
    (tmp_path / "steps").write_text(f"start {server}\nwait 0.1\nstart {client}\nwait 0.01\nfail 0 SILENCE\n{told}")
    run = simulate([], "--servers", "1", "--steps", str(tmp_path / "steps"), "--trace")
    last_s = max(float(us) for us in re.findall(r"^\[ *([\d.]+) us\] 1\.", run.err, re.MULTILINE)) / 1e6 - 0.11 - 0.1 * times
    assert run.statuses[1] == 0 and least_s < last_s < most_s, (last_s, run.command)


LIBRPMA = "build/examples/others/librpma"


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_the_echo_on_librpma(transport: list[str]) -> None:
    """The run comes twice with the same seed, and is the same."""
    if not Path(TOP, LIBRPMA).exists():
        pytest.skip(f"{LIBRPMA} is not there: librpma-dev, make others")
    programs = [[LIBRPMA, "server", ADDRESS, "7471"], [LIBRPMA, "client", ADDRESS, "7471", "20", "64"]]
    for seed in range(1, 6):
        one, other = (simulate(programs, *transport, "--seed", str(seed)) for _ in "ab")
        assert not one.exit and one.statuses == [0, 0] and one.hash == other.hash, one.why()


@pytest.mark.parametrize("count, status", [(1, 0), (3, 0), (4, 1), (1000, 1)])
def test_the_echo_on_others_says_if_the_server_has_left(count: int, status: int, tmp_path: Path) -> None:
    """The library is made up: it answers three messages."""
    sources = [f"{TOP}/examples/others/echo.c", f"{TOP}/tests/support/half_echo.c"]
    subprocess.run(["cc", "-o", tmp_path / "echo", f"-I{TOP}/examples/others", *sources], timeout=60, check=True)
    done = subprocess.run([tmp_path / "echo", "client", "-", "-", str(count), "64"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status and ("left after 3 answers" in done.stderr) == bool(status), done.stderr
    assert done.stdout.startswith(f"{count} messages of 64 bytes") != bool(status), done.stdout
