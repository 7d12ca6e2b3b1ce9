# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The figures of the labs and slides of course/, one function each.

Place: beside tools/figures/drawings.py, which has those of docs/. Contract: the same.
"""

from collections.abc import Callable

from .svg import Drawing


def private_data() -> Drawing:
    """What a connect request carries."""
    figure = Drawing("The private data of a connect request", 760, 250)
    fields = ((0, 8, "count"), (8, 16, "size of a message"), (16, 24, "number of buffers"), (24, 28, "OUR1"), (28, 32, "version"))
    figure.text(10, 24, "bytes", "start", "faint")
    for start, end, words in fields:
        figure.box(10 + 16 * start, 40, 16 * (end - start), 46, words, "memory" if start < 24 else "event")
        figure.text(10 + 16 * start, 24, str(start), kind="faint") if start else None
    figure.box(522, 40, 228, 46, "RoCE pads with zeros, to 56 bytes", "plain dashed")
    figure.arrow((10, 104), (266, 104), tip=False, words="all that the course's clients send", side="below")
    figure.arrow((394, 104), (522, 104), tip=False, words="ours alone", side="below")
    figure.text(10, 160, "Integers are big-endian. The extension has a magic number, a version and its own length.", "start")
    figure.text(10, 184, "Who receives this knows nothing about the sender: check the length, then each value against a limit of your own,", "start")
    figure.text(10, 202, "then allocate. A field that is not there reads as 0, on both transports.", "start")
    figure.text(10, 226, "iWARP delivers the length that was sent.", "start", "faint")
    return figure


def arm_and_sleep() -> Drawing:
    """The order that loses no completion, and the one that does."""
    figure = Drawing("Arm, poll once more, then sleep", 760, 300)
    for x, title, steps in (
        (10, "loses a completion", ("poll: empty", "(a completion comes)", "arm", "sleep, forever")),
        (390, "loses none", ("arm", "poll once more", "empty: sleep", "wake, poll until empty")),
    ):
        figure.area(x, 10, 360, 230, title)
        boxes = []
        for row, words in enumerate(steps):
            kind = "device" if words.startswith("(") else "program"
            boxes.append(figure.box(x + 80, 42 + 48 * row, 200, 30, words, kind))
        for above, below in zip(boxes, boxes[1:]):
            figure.arrow(above.bottom(), below.top())
    figure.text(10, 262, "Arming (ibv_req_notify_cq) asks for one event, for the next completion that comes. It says nothing about one", "start")
    figure.text(10, 280, "that is already in the queue. So whoever arms looks once more before sleeping, and arms again after each event.", "start")
    return figure


def credits() -> Drawing:
    """A stream with four buffers."""
    figure = Drawing("Credits: never more messages under way than there are receives", 760, 380)
    client, server = 140, 560
    for x, name, kind in ((client, "client: 4 send buffers", "program"), (server, "agent: 4 receives posted", "memory")):
        figure.box(x - 100, 10, 200, 32, name, kind)
        figure.arrow((x, 42), (x, 330), dashed=True, tip=False)
    for row in range(4):
        y = 66 + 22 * row
        figure.arrow((client, y), (server, y + 10))
    figure.text(350, 58, "4 messages")
    figure.text(client - 8, 170, "credits: 0\nthe client waits", "end")
    figure.text(server + 8, 160, "handles 2 messages,\nposts 2 receives,", "start")
    figure.arrow((server, 195), (client, 205), words="8 bytes: 2 more")
    figure.text(client - 8, 218, "credits: 2", "end")
    for row in range(2):
        figure.arrow((client, 240 + 22 * row), (server, 250 + 22 * row))
    figure.text(server + 8, 290, "handles 4 messages", "start")
    figure.arrow((server, 305), (client, 315), words="8 bytes: 4 more")
    figure.text(10, 352, "A credit stands for a receive that is posted. An acknowledgement of the device does not: it says that a message", "start")
    figure.text(10, 370, "has arrived, not that the program has looked at it, nor that there is room for the next one.", "start")
    return figure


def one_sided() -> Drawing:
    """A WRITE and a READ, and what the peer's program does meanwhile."""
    figure = Drawing("WRITE and READ: the peer's program takes no part", 760, 370)
    lanes = {"client: program": 80, "client: device": 250, "server: device": 510, "server: program": 680}
    for name, x in lanes.items():
        figure.box(x - 70, 10, 140, 30, name, "device" if "device" in name else "program")
        figure.arrow((x, 40), (x, 310), dashed=True, tip=False)
    program, device, peer, other = lanes.values()
    figure.arrow((other, 62), (program, 62), words="once, by a message:\naddress, length, rkey of a region", side="below")
    figure.arrow((program, 112), (device, 112), words="post WRITE")
    figure.arrow((device, 124), (peer, 124), words="bytes, remote address, rkey")
    figure.text(peer + 8, 140, "checks key, bounds,\nrights; writes memory", "start")
    figure.arrow((peer, 165), (device, 165), words="ACK")
    figure.arrow((device, 178), (program, 178), words="completion")
    figure.arrow((program, 216), (device, 216), words="post READ")
    figure.arrow((device, 228), (peer, 228), words="remote address, rkey, length")
    figure.text(peer + 8, 252, "reads memory", "start")
    figure.arrow((peer, 270), (device, 270), words="bytes: they acknowledge it, too")
    figure.arrow((device, 284), (program, 284), words="completion")
    figure.text(10, 332, "The server's program posts no receive, gets no completion, and may sleep. So the two programs need another way to", "start")
    figure.text(10, 350, "say \"it is there\": a message, immediate data, or a value in memory that the other side watches.", "start")
    return figure


def from_one_file() -> Drawing:
    """What each call of ping-ep-0 is in ping-sr-0."""
    figure = Drawing("One call of ping-ep-0, and the verbs of ping-sr-0 behind it", 760, 320)
    rows = (
        ("rdma_create_ep", "rdma_create_id, rdma_resolve_addr, rdma_resolve_route,\nibv_alloc_pd, ibv_create_cq, rdma_create_qp"),
        ("rdma_reg_msgs", "ibv_reg_mr with IBV_ACCESS_LOCAL_WRITE"),
        ("rdma_post_recv, rdma_post_send", "ibv_post_recv, ibv_post_send: a work request\nwith one scatter/gather element"),
        ("rdma_get_recv_comp", "ping-ep-0: poll, arm, poll, sleep, acknowledge\nping-sr-0: ibv_poll_cq, again and again"),
        ("rdma_destroy_ep", "rdma_destroy_qp, ibv_destroy_cq, ibv_dealloc_pd,\nrdma_destroy_id"),
    )
    figure.text(115, 18, "ping-ep-0, one file", kind="title")
    figure.text(530, 18, "ping-sr-0, and where the lessons of later stages begin", kind="title")
    for row, (call, verbs) in enumerate(rows):
        left = figure.box(10, 36 + 56 * row, 220, 44, call, "program")
        right = figure.box(310, 36 + 56 * row, 440, 44, verbs, "memory")
        figure.arrow(left.right(), right.left())
    return figure


LESSONS: dict[str, Callable[[], Drawing]] = {
    "private-data": private_data,
    "arm-and-sleep": arm_and_sleep,
    "credits": credits,
    "one-sided": one_sided,
    "from-one-file": from_one_file,
}
