# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of course/witness.py, with a trace as the kernel writes it.

Contract: the layout of a line is that of Linux 6.1 and 6.12 with the option record-tgid.
"""


from course import witness

OWN, PARTNER = 226, 225


def line(process: int, event: str, thread: int = 0, name: str = "client") -> str:
    """A line of the trace."""
    tgid = f"{process or '-------':>7}"
    return f"{name:>16}-{thread or process:<7} ({tgid}) [001] d..2.    30.671763: {event}\n"


def post(process: int, queue_pair: int, kernel: int = 0, thread: int = 0) -> str:
    """A process posts."""
    return line(process, f"post: (rxe_post_send+0x0/0x4b0 [rdma_rxe]) qp={queue_pair:#x} kernel={kernel:#x}", thread)


def sent(queue_pair: int, flags: int = 2, opcode: int = 2, imm: int = 0) -> str:
    """The driver, in a thread of its own, has carried out a work request."""
    numbers = f"qp={queue_pair:#x} opcode={opcode} flags={flags} imm={imm} length=64 pieces=2 first=16 key=7 other=9"
    return line(14, f"sent: (do_complete+0x0/0x220 [rdma_rxe]) {numbers}", name="ksoftirqd/0")


def connected(process: int, result: int) -> str:
    """A process has called rdma_connect."""
    return line(process, f"rdma_connect: (ucma_write+0xb3/0x150 [rdma_ucm] <- ucma_connect) result={result}")


def flags(text: str) -> list[str]:
    """The flags of what the submission sent."""
    return [wr["flags"] for wr in witness.seen("# tracer: nop\n" + text, [PARTNER])["sends"]]


def test_a_partner_is_left_out() -> None:
    text = post(OWN, 1) + post(PARTNER, 2, thread=230) + sent(1) + sent(2, 8) + sent(1, 10)
    assert flags(text) == ["SIGNALED", "SIGNALED|INLINE"]


def test_the_kernels_own_queue_pair_is_left_out() -> None:
    assert flags(post(OWN, 1, kernel=0x1234) + sent(1)) == []


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
    assert witness.seen(text, [PARTNER])["rdma_connect"] == 2  # 111: ECONNREFUSED
