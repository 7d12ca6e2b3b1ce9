# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Devices of --device: traits, values of Linux 6.12, and the answers of a real device."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from running import ends
from verbs_sim import ADDRESS, TOP, Run, simulate

BREAK_OFFS = range(1, 25)  # seeds


# ---- Traits ----


@pytest.mark.parametrize(
    "device, granted",
    [
        ("roce", "sends 5, receives 5, inline 60, CQ 7, pool 7"),  # a power of two less one
        ("iwarp", "sends 5, receives 5, inline 60, CQ 8, pool 5"),
        ("roce,rounds_wr=1,inline_piece=100,rounds_cq=1,rounds_srq=0", "sends 8, receives 8, inline 100, CQ 15, pool 5"),  # one slot of its ring stays free
    ],
)
def test_what_is_granted(device: str, granted: str) -> None:
    assert ends("five", device) == f"{granted}\n"


@pytest.mark.parametrize(
    "question, trait, without, with_it",
    [
        ("poll-late", "roce,forgets_finished", "client: s success\nserver: r success\n", ""),
        ("post-late", "roce,flushes_late", "", "server: r Work Request Flushed Error\n"),
        ("state", "iwarp,tells_state", "unknown\n", "RTS\n"),
    ],
)
def test_a_trait(question: str, trait: str, without: str, with_it: str) -> None:
    assert (ends(question, f"{trait}=0"), ends(question, f"{trait}=1")) == (without, with_it)


def test_linux_6_12() -> None:
    """docs/drivers.md says: seven attempts of 0.54 s, not of 2.3 s; and a message that breaks off loses its receive."""
    for device, seconds in (("roce", 16), ("roce-6.12", 3)):
        said = ends("send-in-vain", device, "--fail", "0:ibv_post_send:1:SILENCE")
        assert said == f"transport retry counter exceeded after {seconds} s\n"
    outs = {ends("break-off", "roce-6.12", "--seed", str(seed)) for seed in BREAK_OFFS}
    assert outs == {"server: r success\n", ""}
    assert (ends("post-late", "roce-6.12"), ends("state", "iwarp-6.12")) == ("server: r Work Request Flushed Error\n", "RTS\n")


def test_all_regions_together_count_as_locked() -> None:
    """The connection's two have 64 KiB each."""
    root = ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"] if os.geteuid() == 0 else []
    may = [*root, "prlimit", f"--memlock={2 * 65536 + 2}"]
    assert "max_mr: 2 more, then Cannot allocate memory" in simulate([[*may, "build/tests/probe", ADDRESS, "limits"]], "--device", "roce,max_mr=9").out


def test_a_limit_is_reached_once_for_each_time_that_it_is_set() -> None:
    """A fourth of five receives is taken, too."""
    assert "".join(answers("pool", "roce")).count("SRQ limit reached") == 2


def bounds(question: str, *options: str) -> Run:
    """A program with both ends of a connection, which asks for something that is just allowed, or just not."""
    return simulate([["build/tests/sim/bounds", *question.split()]], "--leaks", "ignore", *options)


def test_each_code_of_the_rnr_timer() -> None:
    """The InfiniBand specification says how long each of six retries takes: 10, 20, 30, 40, 60, 80 us and so on, but 655 ms for 0."""
    due = [655360, 10, *((10 + code % 2 * 5) * 2 ** (code // 2) for code in range(2, 32))]
    said = [bounds(f"rnr-timer {code}").out for code in range(32)]
    assert said == [f"{us} us, RNR retry counter exceeded\n" for us in due]


@pytest.mark.parametrize(
    "question, said",
    [
        ("resize 2", "Success\n"),
        ("resize 1", "Invalid argument\n"),
        ("agree 3", "3 6\n"),
        ("arm 1", "event\n"),
        ("arm 0", "no event\n"),
        ("source 0", "Address already in use\n"),
        ("source 1", "Success\n"),
    ],
)
def test_what_is_just_allowed_and_just_not(question: str, said: str) -> None:
    assert bounds(question).out == said


@pytest.mark.parametrize("event", ["QP_FATAL", "CQ_ERR", "SRQ_ERR", ""])
def test_what_has_an_event_that_is_not_acked_is_never_destroyed(event: str) -> None:
    """Also a CQ that has told of a completion."""
    fault = ["--fail", f"0:ibv_query_device:1:{event}"] if event else []
    acked, unacked = (bounds(f"destroy{'' if event else '-cq'} {acks}", *fault) for acks in (1, 0))
    assert (acked.exit, acked.out) == (0, "destroyed\n") and (unacked.exit, unacked.out) == (120, ""), acked.why() + unacked.why()


@pytest.mark.parametrize("device", ["roce", "iwarp"])
def test_a_message_that_was_sent_arrives_though_its_sender_leaves(device: str) -> None:
    assert {ends("send-and-leave", device, "--seed", str(seed)) for seed in range(20)} == {"server: r success\n"}


@pytest.mark.parametrize("device, due", [("iwarp", "early\n"), ("roce", "late\n")])
def test_what_completes_before_it_arrives(device: str, due: str) -> None:
    """On iWARP, also after more data than TCP takes at a time: arrived data no longer count as ahead."""
    for before in (0, 20):
        assert due in {ends(f"complete-early {before}", device, "--seed", str(seed)) for seed in range(10)}


def test_an_answer_is_lost_with_its_host() -> None:
    """Only an answer that was there already remains."""
    said = {ends("lose-answer", "roce", "--fail", "0:ibv_query_device:1:SILENCE", "--seed", str(seed)) for seed in range(1, 21)}
    assert said == {f"received: success, sent: {sent}\n" for sent in ("success after 0 s", "transport retry counter exceeded after 16 s")}


def answers(question: str, device: str) -> list[str]:
    """Returns the output of the probe, sorted, without times, and without an event that comes at any time."""
    out = simulate([["build/tests/probe", ADDRESS, question]], "--device", f"{device},name=one").out
    return sorted(line for line in re.findall(r"^ *[\d.]+ ms +(.*)$", out, re.M) if "TIMEWAIT_EXIT" not in line)


@pytest.mark.parametrize("kind, other", [("roce", "roce-6.12"), ("roce-6.12", "roce")])
def test_what_a_device_has_answered_makes_it(kind: str, other: str, tmp_path: Path) -> None:
    """A device of another kind that reads the file of make probe gives the same answers."""
    run = simulate([["tools/verbs-sim/tests/probe/ask", "build/tests/probe", ADDRESS, str(tmp_path / "file")]], "--device", kind)
    assert not run.exit and (tmp_path / "file").read_text().startswith("device rxe0\nkernel Linux "), run.why()
    for question in "attributes caps pool pool-torn solicited accept reject leave bad-key region-gone too-long edges".split():
        assert answers(question, f"{other}={tmp_path}/file") == answers(question, kind)
    assert answers("bad-key", other) != answers("bad-key", kind)


def test_each_attribute_is_read(tmp_path: Path) -> None:
    """Each number that the program knows is another one in the file."""
    names = {*re.findall(r'^\t(?:SAID|OF_PORT|OBJECTS)\("?(\w+)', (TOP / "tools/verbs-sim/device/answers.c").read_text(), re.M), "max_mr_size"}
    names -= {"gid_tbl_len", "atomic_cap", "max_mtu"}  # these have consequences of their own

    def another(said: re.Match[str]) -> str:
        return f"{said[1]}{'5' if said[3] == '3' else '3'}" if said[2] in names else said[0]

    other = [re.sub(r"((\w+) \w*)(\w)(?=,|$)", another, line) for line in reversed(answers("attributes", "roce"))]
    (tmp_path / "file").write_text("[attributes]\n" + "".join(f"{line}\n" for line in other))
    said = answers("attributes", f"adapter={tmp_path}/file")
    told, due = ({found[0] for found in re.findall(r"((\w+) \w+)(?=,|$)", "\n".join(lines), re.M) if found[1] in names} for lines in (said, other))
    assert told == due and len(due) > 20


@pytest.mark.parametrize("device", ["roce", "iwarp"])
def test_what_is_left_in_a_context_that_is_closed(device: str) -> None:
    run = simulate([["build/tests/sim/ends", "close-early"]], "--device", device)
    assert (run.exit, run.out, run.left) == (121, "0\n", "1 CQ of program 0, 1 PD of program 0"), run.why()


@pytest.mark.parametrize("device, places", [("roce", "0 -1 -1"), ("roce,port=active/1024,port=active/1024", "0 0 -1"), ("iwarp", "-1 -1 -1")])
def test_partition_keys_of_its_ports(device: str, places: str) -> None:
    assert ends("pkeys", device) == f"{places} No such file or directory\n"


def test_a_partition_key_that_cannot_be_found() -> None:
    assert ends("pkeys", "roce", "--fail", "0:ibv_get_pkey_index:1") == "-1 -1 -1 No such file or directory\n"


# Limits, and the largest number that each grants. The connection of the probe has some objects, and librdmacm a PD.
MOST = {
    "max_qp": (6, "max_qp: 4 more, then Cannot allocate memory"),
    "max_cq": (6, "max_cq: 4 more, then Cannot allocate memory"),
    "max_mr": (6, "max_mr: 4 more, then Cannot allocate memory"),
    "max_pd": (6, "max_pd: 3 more, then Cannot allocate memory"),
    "max_srq": (6, "max_srq: 5 more, then Cannot allocate memory"),
    "max_qp_wr": (64, "sends, 64 of 64: Success; sends, 65 of 64: Invalid argument; receives, 64 of 64: Success; receives, 65 of 64: Invalid argument"),
    "max_cqe": (64, "entries of a CQ, 64 of 64: Success; entries of a CQ, 65 of 64: Invalid argument"),
    "max_sge": (4, "pieces of a send, 4 of 4: Success; pieces of a send, 5 of 4: Invalid argument; pieces of a receive, 4 of 4: Success; "
                "pieces of a receive, 5 of 4: Invalid argument; pieces of a pool, 4 of 4: Success; pieces of a pool, 5 of 4: Invalid argument"),
    "max_srq_wr": (63, "receives of a pool, 63 of 63: Success; receives of a pool, 64 of 63: Invalid argument"),
    "max_rd_atom": (4, "READs, 4 of 4: Success; READs, 5 of 4: Invalid argument"),
    "max_inline": (64, "bytes inline: 64"),
}  # fmt: skip


@pytest.mark.parametrize("device, most", [("roce", 15), ("adapter", 8)])
def test_a_qp_that_was_reset_takes_as_many_receives_again(device: str, most: int) -> None:
    assert bounds("reset 3", "--device", device).out == f"{most}\n" * 3


def test_each_limit_has_a_row() -> None:
    """Except max_message, which refuses nothing."""
    names = re.findall(r'^\tTRAIT\("(max_\w+)"', (TOP / "tools/verbs-sim/device/traits.c").read_text(), re.MULTILINE)
    assert {*names} - {"max_message"} == {*MOST}


@pytest.mark.parametrize("limit", MOST)
def test_as_much_as_there_is_and_one_more(limit: str) -> None:
    n, due = MOST[limit]
    said = answers("limits", f"roce,{limit}={n}")
    assert {*due.split("; ")} <= {*said}, said


@pytest.mark.parametrize(
    "device", ["nothing", "roce,max_qp", "roce,max_qp=x", "roce,port=active/100", "roce,gid=1/0/v2/x", "roce,address=x", "roce-6", "iwarp,name=a/b"]
)
def test_wrong_devices(device: str) -> None:
    argv = ["tools/verbs-sim/verbs-sim", "--device", device, "--", "true"]
    done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and f"--device {device}: " in done.stderr


@pytest.mark.parametrize("device", ["roce", "iwarp"])
def test_a_backlog_is_full(device: str) -> None:
    """Five requests come, and nobody takes one; drivers/test_simulation.py asks the drivers in make check-long."""
    run = simulate([["build/tests/probe", ADDRESS, "backlog", "2"]], "--device", device, "--leaks", "ignore")
    assert run.out.endswith("server: 2 requests with a backlog of 2\n"), run.why()
