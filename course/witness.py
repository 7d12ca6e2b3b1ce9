# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Records what the kernel sees of a submission, whatever the submission's own trace says.

Place: used by run_cases.py, as root in the lab's guest. Contract: probes (kprobes) record when a verb enters the kernel
and when soft-RoCE has carried out a work request. What our partners did is left out.
"""

import errno
import re
from collections.abc import Container
from pathlib import Path
from typing import Any

TRACING = Path("/sys/kernel/debug/tracing")
# The offsets in a send work request are those of struct rxe_send_wqe in <rdma/rdma_user_rxe.h>, which does not change.
PROBES = """
p:seen/post rdma_rxe:rxe_post_send qp=$arg1:x64
p:seen/sent rdma_rxe:do_complete qp=$arg1:x64 opcode=+12($arg2):u32 flags=+16($arg2):u32 imm=+20($arg2):u32 length=+184($arg2):u32 pieces=+196($arg2):u32 first=+216($arg2):u32 key=+220($arg2):u32 other=+236($arg2):u32
p:seen/modify_srq rdma_rxe:rxe_modify_srq limit=+8($arg2):u32
p:seen/srq_event ib_uverbs:ib_uverbs_srq_event_handler event=+16($arg1):u32
r:seen/rdma_connect rdma_ucm:ucma_connect result=$retval:s32
r:seen/rdma_listen rdma_ucm:ucma_listen result=$retval:s32
r:seen/get_cq_event ib_uverbs:ib_uverbs_comp_event_read result=$retval:s32
r:seen/poll_channel ib_uverbs:ib_uverbs_comp_event_poll result=$retval:s32
"""
# The name of a process has 16 columns: prepare() has it left out.
LINE = re.compile(r"^.{16}-\d+ +\( *(\d+|-+)\) \[\d+\] \S+ +[\d.]+: (\w+): \([^)]*\) ?(.*)$")
OPCODES = ("RDMA_WRITE", "RDMA_WRITE_WITH_IMM", "SEND", "SEND_WITH_IMM", "RDMA_READ", "ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD")
SRQ_LIMIT_REACHED = 15
FLAGS = ("FENCE", "SIGNALED", "SOLICITED", "INLINE")


def prepare() -> None:
    """Sets the probes."""
    (TRACING / "buffer_size_kb").write_text("8000")
    (TRACING / "kprobe_events").write_text(PROBES.lstrip())
    (TRACING / "options/record-tgid").write_text("1")
    (TRACING / "options/record-cmd").write_text("0")  # a name with a line end would hide the event
    (TRACING / "events/seen/enable").write_text("1")


def forget() -> None:
    """Forgets what was seen so far."""
    (TRACING / "trace").write_text("")


def events(text: str) -> list[tuple[int, str, dict[str, int]]]:
    """The process, the name and the numbers of each event in a trace of the kernel. The process is 0 if the kernel does
    not know it."""
    found = []
    for match in filter(None, map(LINE.match, text.splitlines())):
        numbers = {name: int(value, 0) for name, value in (word.split("=") for word in match[3].split())}
        found.append((int(match[1].strip("-") or 0), match[2], numbers))
    return found


def work_request(numbers: dict[str, int]) -> dict[str, Any]:
    """A work request in the words of verbs-trace."""
    names = [name for bit, name in enumerate(FLAGS) if numbers["flags"] >> bit & 1]
    imm = int.from_bytes(numbers["imm"].to_bytes(4, "little"), "big")
    opcode = OPCODES[numbers["opcode"]] if numbers["opcode"] < len(OPCODES) else "other"
    found = {"opcode": opcode, "flags": "|".join(names), "imm": hex(imm), "sge": [{"length": numbers["length"]}]}
    if numbers["pieces"] == 2 and "INLINE" not in names:  # inline data are where the SGEs would be
        rest = {"length": numbers["length"] - numbers["first"], "lkey": numbers["other"]}
        found["sge"] = [{"length": numbers["first"], "lkey": numbers["key"]}, rest]
    return found


def seen(text: str, partners: Container[int]) -> dict[str, Any]:
    """The record of all processes but the partners: the work requests that soft-RoCE has carried out, in order; the
    limits that an SRQ was given; how often a call succeeded, or the peer refused it, which soft-iWARP returns at once;
    how often it found no event (get_cq_event_empty); and how often an SRQ's limit was reached."""
    own = [(name, numbers) for pid, name, numbers in events(text) if pid not in partners]
    of_partners = {numbers["qp"] for pid, name, numbers in events(text) if name == "post" and pid in partners}
    queue_pairs = {numbers["qp"] for name, numbers in own if name == "post"} - of_partners  # the CM's own is in both sets
    sent = [numbers for _, name, numbers in events(text) if name == "sent"]
    found: dict[str, Any] = {
        "sends": [work_request(numbers) for numbers in sent if numbers["qp"] in queue_pairs],
        "limits": [numbers["limit"] for name, numbers in own if name == "modify_srq"],
    }
    for call in ("rdma_connect", "rdma_listen", "get_cq_event", "poll_channel"):
        results = [numbers["result"] for name, numbers in own if name == call]
        found[call] = sum(1 for result in results if result >= 0 or -result == errno.ECONNREFUSED)
    found["get_cq_event_empty"] = sum(1 for name, numbers in own if name == "get_cq_event" and -numbers["result"] == errno.EAGAIN)
    found["low"] = sum(1 for _, name, numbers in events(text) if name == "srq_event" and numbers["event"] == SRQ_LIMIT_REACHED)
    return found


def now(partners: Container[int]) -> dict[str, Any]:
    """The record of `seen` for the time since `forget`; empty, if there were so many events that some are lost."""
    stats = [path.read_text() for path in TRACING.glob("per_cpu/cpu*/stats")]
    whole = all(re.search(r"^overrun: 0$", text, re.MULTILINE) for text in stats)
    return seen((TRACING / "trace").read_text(errors="replace") if whole else "", partners)
