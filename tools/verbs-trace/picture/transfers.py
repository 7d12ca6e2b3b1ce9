# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Work requests, each from its post to its completion, in the queues of one process.

Place: part of picture.py. Contract: completions come in the order of a queue's posts; an unsignaled send is complete
when a later send of its queue is. Calls that failed posted nothing.
"""

from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from records import Call, Process

POSTS = {"ibv_post_send", "ibv_post_recv", "ibv_post_srq_recv"}
POLLS = {"ibv_poll_cq", "ibv_start_poll", "ibv_next_poll"}
# ibv_wr_*, the posts of an extended QP, with their opcodes in ibv_post_send's words.
EXTENDED = {
    "ibv_wr_send": "SEND",
    "ibv_wr_send_imm": "SEND_WITH_IMM",
    "ibv_wr_send_inv": "SEND_WITH_INV",
    "ibv_wr_send_tso": "TSO",
    "ibv_wr_rdma_read": "RDMA_READ",
    "ibv_wr_rdma_write": "RDMA_WRITE",
    "ibv_wr_rdma_write_imm": "RDMA_WRITE_WITH_IMM",
    "ibv_wr_atomic_cmp_swp": "ATOMIC_CMP_AND_SWP",
    "ibv_wr_atomic_fetch_add": "ATOMIC_FETCH_AND_ADD",
    "ibv_wr_atomic_write": "ATOMIC_WRITE",
    "ibv_wr_bind_mw": "BIND_MW",
    "ibv_wr_local_inv": "LOCAL_INV",
}
SIZES = {"ibv_wr_set_sge", "ibv_wr_set_inline_data"}  # they belong to the request before
FARTHEST = 4096  # unsignaled requests before one that is signaled
TAKES_A_RECEIVE = {"SEND", "SEND_WITH_IMM", "SEND_WITH_INV", "RDMA_WRITE_WITH_IMM"}


@dataclass(eq=False)
class Request:
    """A work request. The opcode of a receive is RECV."""

    post: Call
    queue: str  # "qp1", or "srq1"
    opcode: str
    wr: dict[str, Any]
    signaled: bool
    bytes: int
    done: Call | None = None  # the poll that found it, or a later one of its queue
    status: str = ""
    qp: str = ""  # its QP: with a shared receive queue, known at its completion
    arrived: int = -1  # bytes that a receive has got

    @property
    def wr_id(self) -> str:
        """Returns the wr_id, as in the trace."""
        return str(self.wr.get("wr_id", ""))


@dataclass
class Queues:
    """The queues of a process."""

    requests: list[Request] = field(default_factory=list)
    sent: dict[str, list[Request]] = field(default_factory=dict)  # by QP, in order: requests that take a receive
    received: dict[str, list[Request]] = field(default_factory=dict)  # by QP, in order of completion
    strange: int = 0  # completions without a known post
    sends: dict[str, deque[Request]] = field(default_factory=dict)
    receives: dict[str, deque[Request]] = field(default_factory=dict)
    srq_of: dict[str, str] = field(default_factory=dict)
    all_signaled: set[str] = field(default_factory=set)

    def new_qp(self, call: Call) -> None:
        """Notes the attributes of a new QP."""
        attr = call.args.get("qp_init_attr", call.args.get("qp_init_attr_ex"))
        qp = call.args.get("qp") if call.name.startswith("rdma_") else call.result
        if not isinstance(attr, dict) or not isinstance(qp, str):
            return
        if attr.get("sq_sig_all"):
            self.all_signaled.add(qp)
        if isinstance(attr.get("srq"), str):
            self.srq_of[qp] = attr["srq"]

    def post(self, call: Call) -> None:
        """Takes one call that posts."""
        if call.error or call.result not in (0, None):
            return
        queue = str(call.args.get("qp", call.args.get("srq", "")))
        if call.name in SIZES:
            if self.sends.get(queue) and isinstance(call.args.get("length"), int):
                self.sends[queue][-1].bytes = call.args["length"]
            return
        if call.name in EXTENDED:
            wrs: Any = [{**call.args, "opcode": EXTENDED[call.name]}]
        else:
            wrs = call.args.get("wr", call.args.get("recv_wr"))
        for wr in wrs if isinstance(wrs, list) else []:
            if isinstance(wr, dict):
                self._add(call, queue, wr)

    def _add(self, call: Call, queue: str, wr: dict[str, Any]) -> None:
        is_send = call.name not in ("ibv_post_recv", "ibv_post_srq_recv")
        sges = wr.get("sge")
        lengths = [s.get("length") for s in sges if isinstance(s, dict)] if isinstance(sges, list) else []
        size = sum(x for x in lengths if isinstance(x, int)) if lengths else -1
        opcode = str(wr.get("opcode", "?")) if is_send else "RECV"
        signaled = not is_send or "SIGNALED" in str(wr.get("flags", "")).split("|") or queue in self.all_signaled
        request = Request(call, queue, opcode, wr, signaled, size)
        if queue.startswith("qp"):
            request.qp = queue
        self.requests.append(request)
        (self.sends if is_send else self.receives).setdefault(queue, deque()).append(request)
        if is_send and opcode in TAKES_A_RECEIVE:
            self.sent.setdefault(queue, []).append(request)

    def poll(self, call: Call) -> None:
        """Takes one call that polls completions."""
        found = call.args.get("wc", call.args.get("completion"))
        for wc in found if isinstance(found, list) else []:
            if isinstance(wc, dict):
                self._complete(call, wc)

    def _queue_of(self, wc: dict[str, Any]) -> tuple[str, deque[Request]]:
        """Returns the QP, and the queue that the completion comes from, which an error does not tell."""
        qp, wr_id = str(wc.get("qp", "")), str(wc.get("wr_id", ""))
        if not qp:  # an extended CQ need not have the opcode
            known = [q for q, queue in (*self.sends.items(), *self.receives.items()) if queue]
            qp = known[0] if len(set(known)) == 1 else ""
        sends = self.sends.get(qp, deque())
        receives = self.receives.get(self.srq_of.get(qp, qp), deque())
        opcode = wc.get("opcode")
        if isinstance(opcode, str):
            return qp, receives if opcode.startswith("RECV") else sends
        if any(request.wr_id == wr_id for request in islice(sends, FARTHEST)):
            return qp, sends
        return qp, receives

    def _complete(self, call: Call, wc: dict[str, Any]) -> None:
        qp, queue = self._queue_of(wc)
        wr_id, status = str(wc.get("wr_id", "")), str(wc.get("status", ""))
        first = enumerate(islice(queue, FARTHEST))
        at = next((i for i, r in first if r.wr_id == wr_id and (r.signaled or status != "SUCCESS")), -1)
        if at < 0:
            self.strange += 1
            return
        shared = queue[at].queue.startswith("srq")
        before = [] if shared else [queue.popleft() for _ in range(at)]
        request = queue[at] if shared else queue.popleft()
        if shared:
            del queue[at]
        for other in before:  # unsignaled sends, or a queue that the trace does not have whole
            other.done, other.status = call, "SUCCESS" if other.opcode != "RECV" else ""
        request.done, request.status, request.qp = call, status, qp
        if request.opcode == "RECV" and status == "SUCCESS":
            size = wc.get("bytes")
            request.arrived = size if isinstance(size, int) else -1
            self.received.setdefault(qp, []).append(request)


def follow(process: Process) -> Queues:
    """Returns all work requests of a process. At the same time, posts come before polls."""
    queues = Queues()
    steps = [
        (call.end if call.name in POLLS else call.time, call.name in POLLS, number)
        for number, call in enumerate(process.calls)
        if call.name in POSTS or call.name in POLLS or call.name in EXTENDED or call.name in SIZES
        or "create_qp" in call.name
    ]
    for _, is_poll, number in sorted(steps):
        call = process.calls[number]
        if is_poll:
            queues.poll(call)
        elif "create_qp" in call.name:
            queues.new_qp(call)
        else:
            queues.post(call)
    return queues
