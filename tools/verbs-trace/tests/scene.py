# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Made-up traces of two programs that exchange messages, in the format of verbs-trace -j.

Place: used by the tests of verbs-trace --html. Contract: the test chooses the clock, and the traces depend only on the
arguments; so the test knows what the picture must show.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Line = dict[str, Any]
CLIENT, SERVER = "192.0.2.1:50000", "192.0.2.2:12321"
STEP = 10_000  # nanoseconds between two steps
ROUND = 10 * STEP  # time from a ping to the next
FIRST = 40 * STEP  # the time of the first ping's post
TRANSFER = 2 * STEP  # from a post to the poll that finds the message at the other side, and its completion at this one


class Side:
    """One program, whose clock shows clock(t) at the true time t."""

    def __init__(self, program: str, pid: int, boot: str, clock: Callable[[int], int]) -> None:
        """Begins without calls."""
        self.pid, self.clock = pid, clock
        self.lines: list[Line] = [{"pid": pid, "program": [program], "start_ns": 0, "boot_id": boot}]

    def call(self, time: int, took: int, name: str, args: Line, result: object = 0, **more: object) -> None:
        """Adds a call of the program's only thread."""
        begin = self.clock(time)
        line = {"time_ns": begin, "pid": self.pid, "tid": self.pid, "thread": 1, "call": name, "args": args}
        self.lines.append({**line, "result": result, "took_ns": self.clock(time + took) - begin, **more})

    def set_up(self, local: str, peer: str) -> None:
        """Adds objects, with the states that -n shows."""
        made = {"pointer": "0x1000"}
        self.call(0, STEP, "rdma_create_id", {"id": "id1", "id_pointer": "0x1", "ps": "TCP"})
        self.call(1 * STEP, STEP // 2, "ibv_alloc_pd", {"context": "context1"}, "pd1", **made)
        self.call(2 * STEP, STEP // 2, "ibv_create_cq", {"context": "context1", "cqe": 4}, "cq1", **made)
        init = {"qp_type": "RC", "send_cq": "cq1", "recv_cq": "cq1", "sq_sig_all": 0}
        made_qp = {"id": "id1", "pd": "pd1", "qp_init_attr": init, "qp": "qp1", "qp_num": 17}
        self.call(3 * STEP, STEP // 2, "rdma_create_qp", {**made_qp, "local": local, "peer": peer})
        self.call(4 * STEP, STEP // 2, "ibv_reg_mr", {"pd": "pd1", "length": 64}, "mr1", **made)
        for number, state in enumerate(("INIT", "RTR", "RTS")):
            attr = {"qp": "qp1", "attr": {"state": state}}
            self.call((5 + number) * STEP, STEP // 2, "ibv_modify_qp", attr, depth=1)

    def post(self, time: int, receive: bool, number: int) -> None:
        """Posts a work request."""
        wr: Line = {"wr_id": hex(number)}
        if not receive:
            wr.update(opcode="SEND", flags="SIGNALED")
        wr["sge"] = [{"addr": "0x2000", "length": 64, "lkey": "0x3"}]
        self.call(time, STEP // 10, f"ibv_post_{'recv' if receive else 'send'}", {"qp": "qp1", "wr": [wr]})

    def poll(self, end: int, *found: tuple[int, str, str]) -> None:
        """Adds a poll that returns at `end` with completions: number, opcode, status."""
        wc = []
        for number, opcode, status in found:
            what: Line = {"opcode": opcode} if status == "SUCCESS" else {"vendor_err": "0x0"}
            size: Line = {"bytes": 64} if opcode == "RECV" else {}
            wc.append({"wr_id": hex(number), "status": status, **what, **size, "qp": "qp1"})
        args = {"cq": "cq1", "num_entries": 4, "wc": wc}
        self.call(end - STEP // 10, STEP // 10, "ibv_poll_cq", args, len(wc))

    def write(self, path: Path) -> str:
        """Writes the file: a line at the end of each call."""
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return str(path)


def ping_pong(
    rounds: int,
    boots: tuple[str, str] = ("one", "two"),
    clock: Callable[[int], int] = lambda t: t,
    slower: int = 0,
    fails: bool = False,
) -> tuple[Side, Side]:
    """
    Returns a client and a server: each message takes TRANSFER, the server's messages `slower` more. The server's clock is
    `clock`. With `fails` the last completion of the client is an error.
    """
    client = Side("client", 10, boots[0], lambda t: t)
    server = Side("server", 20, boots[1], clock)
    client.set_up(CLIENT, SERVER)
    server.set_up(SERVER, CLIENT)
    for number in range(rounds):
        ping = FIRST + number * ROUND
        pong = ping + TRANSFER + STEP
        for side in (client, server):
            side.post(ping - STEP, True, 1000 + number)
        client.post(ping, False, number)
        server.poll(ping + TRANSFER, (1000 + number, "RECV", "SUCCESS"))
        server.post(pong, False, number)
        if fails and number == rounds - 1:
            client.poll(ping + TRANSFER + STEP // 2, (number, "SEND", "RNR_RETRY_EXC_ERR"))
            break
        client.poll(ping + TRANSFER + STEP // 2, (number, "SEND", "SUCCESS"))
        sleep = {"fds": [{"fd": 5, "events": "IN", "revents": "IN"}], "nfds": 1, "timeout": -1}
        client.call(ping + 3 * STEP, pong + TRANSFER + slower - ping - 4 * STEP, "poll", sleep, 1)
        client.poll(pong + TRANSFER + slower, (1000 + number, "RECV", "SUCCESS"))
        server.poll(pong + TRANSFER + STEP // 2, (number, "SEND", "SUCCESS"))
    last = FIRST + (rounds + 1) * ROUND
    for side in (client, server):
        side.call(last, STEP // 2, "rdma_destroy_qp", {"id": "id1"}, None)
        side.call(last + STEP, STEP // 2, "ibv_destroy_cq", {"cq": "cq1"})
        side.call(last + 2 * STEP, STEP // 2, "ibv_dealloc_pd", {"pd": "pd1"})
    return client, server


def packet(time: int, text: str, from_client: bool, **more: object) -> Line:
    """Returns a packet, as make capture writes it."""
    return {"time_ns": time, "from": "client" if from_client else "server", "text": text, **more}


def packets(rounds: int, clock: Callable[[int], int] = lambda t: t) -> Line:
    """
    Returns the packets of ping_pong, on a third clock: each message is one packet in the middle of its TRANSFER, and acknowledged a quarter of that
    later. The first ping is seen twice, the second time as a repetition.
    """
    found = []
    for number in range(rounds):
        ping = FIRST + number * ROUND
        for begin, from_client in ((ping, True), (ping + TRANSFER + STEP, False)):
            at = begin + TRANSFER // 2
            found.append(packet(clock(at), f"SEND Only, PSN {number}", from_client, ends="SEND", details=["64 bytes"]))
            if begin == FIRST:
                again = f"SEND Only, again, PSN {number}"
                found.append(packet(clock(at + 1000), again, from_client, ends="SEND", again=True))
            found.append(packet(clock(at + TRANSFER // 4), "ACK", not from_client, minor=True))
    return {"client": CLIENT.split(":")[0], "server": SERVER.split(":")[0], "packets": found}
