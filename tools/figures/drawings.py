# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The figures of docs/, one function each.

Place: above tools/figures/svg.py. Contract: FIGURES has each under the name of its file in docs/figures.
"""

from collections.abc import Callable

from .svg import Box, Drawing


def tcp_and_rdma() -> Drawing:
    """The way of a message by TCP, and by RDMA."""
    figure = Drawing("The way of a message through TCP, and through RDMA", 760, 400)

    def half(x: int, title: str, kernel: str, kernel_kind: str, width: int) -> list[Box]:
        figure.text(x + 180, 20, title, kind="title")
        found = []
        for side, name in ((x, "sender"), (x + 195, "receiver")):
            figure.text(side + 82, 44, name, kind="faint")
            found.append(figure.box(side, 58, 165, 44, "program\nits own buffer", "program"))
            found.append(figure.box(side, 160, width, 44, kernel, kernel_kind))
            found.append(figure.box(side, 262, 165, 44, "adapter", "device"))
        figure.arrow(found[2].bottom(), (x + 82, 330), (x + 277, 330), found[5].bottom(), words="the network", side="below")
        return found

    tcp = half(10, "TCP", "kernel: TCP\nsocket buffer", "kernel", 165)
    for start, end, words in ((0, 1, "copy by the CPU\n(send)"), (1, 2, "DMA"), (5, 4, "DMA"), (4, 3, "copy by the CPU\n(recv)")):
        down = end > start
        figure.arrow(tcp[start].bottom(0.3) if down else tcp[start].top(0.3), tcp[end].top(0.3) if down else tcp[end].bottom(0.3),
                     words=words, side="right")
    figure.text(190, 375, "2 copies and 2 system calls for each message;\nthe CPUs work for the protocol")
    rdma = half(390, "RDMA", "kernel:\nset-up only", "plain dashed", 90)
    figure.arrow(rdma[0].bottom(0.7), rdma[2].top(0.7), words="DMA", side="right")
    figure.arrow(rdma[5].top(0.7), rdma[3].bottom(0.7), words="DMA", side="right")
    figure.text(570, 375, "no copy, and on hardware no system call;\nthe adapters work for the protocol")
    return figure


def posted_operation() -> Drawing:
    """A send, from the post to the completion."""
    figure = Drawing("A posted send: the device works, then reports", 760, 312)
    program = figure.box(10, 40, 130, 210, "your program", "program")
    queue = figure.box(290, 40, 150, 54, "send queue\nof the QP", "memory")
    buffer = figure.box(290, 118, 150, 54, "buffer\n(registered)", "memory")
    completions = figure.box(290, 196, 150, 54, "completion queue\n(CQ)", "memory")
    device = figure.box(590, 40, 100, 210, "device", "device")
    figure.arrow(program.right(0.13), queue.left(), words="1 ibv_post_send\n(returns at once)")
    figure.arrow(queue.right(), device.left(0.13), words="2 takes the\nwork request")
    figure.arrow(buffer.right(), device.left(0.5), words="3 reads the bytes")
    figure.arrow(device.right(0.5), (750, 145), words="4")
    figure.text(725, 165, "sends")
    figure.arrow(device.left(0.87), completions.right(), words="5 is done:\nwrites a completion")
    figure.arrow(completions.left(), program.right(0.87), words="6 ibv_poll_cq", side="above")
    figure.text(215, 145, "the program goes on\nwith other work", kind="faint")
    figure.text(10, 275, "From 1 to 6 the buffer is the device's: the program must not change it.", "start")
    figure.text(10, 295, "Only 6 tells the program that the send is done, or why it failed. The return value of 1 does not.", "start")
    return figure


def pyramid() -> Drawing:
    """The objects in the order of set-up, and their fields that point to others."""
    figure = Drawing("The objects: the order in which they are made, and which field points to which", 760, 470)
    channel = figure.box(20, 400, 175, 50, "1 event channel\nrdma_event_channel", "event")
    context = figure.box(300, 400, 190, 50, "3 the opened device\nibv_context", "device")
    ident = figure.box(20, 300, 175, 50, "2 id\nrdma_cm_id", "event")
    pd = figure.box(560, 300, 180, 50, "4 protection domain\nibv_pd", "memory")
    sleep = figure.box(300, 300, 190, 50, "5 completion channel\nibv_comp_channel", "event")
    queue = figure.box(300, 200, 190, 50, "6 completion queue\nibv_cq", "memory")
    qp = figure.box(300, 100, 190, 50, "7 queue pair\nibv_qp", "program")
    region = figure.box(560, 100, 180, 50, "8 memory region\nibv_mr", "memory")
    request = figure.box(410, 15, 200, 44, "9 work request, with SGEs\nibv_send_wr, ibv_recv_wr", "plain dashed")
    figure.arrow(ident.bottom(), channel.top(), words="channel", side="right")
    figure.arrow(ident.bottom(0.85), context.top(0.1))
    figure.text(255, 365, "verbs")
    figure.arrow(sleep.bottom(), context.top(), words="context", side="right")
    figure.arrow(pd.bottom(0.3), context.top(0.9))
    figure.text(580, 385, "context")
    figure.arrow(queue.bottom(), sleep.top(), words="channel", side="right")
    figure.arrow(qp.bottom(0.4), queue.top(0.4), words="send_cq\nrecv_cq", side="left")
    figure.arrow(qp.bottom(0.9), pd.top(0.2))
    figure.text(555, 225, "pd")
    figure.arrow(region.bottom(0.6), pd.top(0.6), words="pd", side="right")
    figure.arrow(ident.top(), (107, 125), qp.left(), words="qp", side="above")
    figure.arrow(request.bottom(0.3), qp.top(0.84), words="posted to", side="left", dashed=True)
    figure.arrow(request.bottom(0.8), region.top(0.05), words="sge.lkey", side="right", dashed=True)
    figure.text(20, 30, "Set up from 1 to 9. Tear down from 9 to 1:", "start")
    figure.text(20, 48, "what an arrow points to must live longer,", "start")
    figure.text(20, 66, "except the QP of an id: it goes before the id.", "start")
    return figure


def work_request_list() -> Drawing:
    """Three requests posted with one call, of which the second is refused."""
    figure = Drawing("A list of work requests, of which the second is refused", 760, 330)
    figure.text(20, 22, "ibv_post_send(qp, wr, &bad_wr)", "start", "title")
    for number in range(3):
        x = 30 + 250 * number
        request = figure.box(x, 80, 170, 92, "", "program")
        for row, words in enumerate((f"wr_id = {number + 1}", "next" + (" = NULL" if number == 2 else ""), "sg_list, num_sge = 1",
                                     "send_flags" + (" = SIGNALED" if number == 2 else " = 0"))):
            figure.text(x + 10, 95 + 21 * row, words, "start")
        element = figure.box(x, 206, 170, 30, "SGE: addr, length, lkey", "plain")
        memory = figure.box(x, 266, 170, 30, f"memory of message {number + 1}", "memory")
        figure.arrow(request.bottom(), element.top())
        figure.arrow(element.bottom(), memory.top())
        if number < 2:
            figure.arrow((x + 170, 116), (x + 250, 116), words="next")
    figure.arrow((115, 32), (115, 80), words="wr", side="left")
    figure.arrow((365, 32), (365, 80), words="bad_wr, after an error", side="right", dashed=True)
    figure.text(30, 314, "1 is posted: the device does it.", "start")
    figure.text(280, 314, "2 and 3 are not posted: they are still yours, and never complete.", "start")
    return figure


def two_elements() -> Drawing:
    """Header and payload: gathered from two pieces of memory, scattered into two."""
    figure = Drawing("A message gathered from two pieces of memory, and scattered into two", 760, 300)
    for x, title, what in ((10, "sender: ibv_send_wr", "gather"), (590, "receiver: ibv_recv_wr", "scatter")):
        figure.text(x + 80, 20, title, kind="title")
        figure.text(x + 80, 40, f"num_sge = 2: {what}", kind="faint")
    header = figure.box(10, 70, 160, 44, "header, 16 bytes\nsg_list[0]", "event")
    payload = figure.box(10, 160, 160, 80, "payload, 4096 bytes\nsg_list[1]", "memory")
    wire_header = figure.box(265, 115, 60, 44, "header", "event")
    wire_payload = figure.box(325, 115, 170, 44, "payload", "memory")
    got_header = figure.box(590, 70, 160, 44, "header, 16 bytes\nsg_list[0]", "event")
    got_payload = figure.box(590, 160, 160, 80, "payload, 4096 bytes\nsg_list[1]", "memory")
    figure.text(360, 182, "one message of 4112 bytes", "start")
    figure.arrow(header.right(), wire_header.left(0.4))
    figure.arrow(payload.right(), (345, 200), wire_payload.bottom(20 / 170))
    figure.arrow(wire_header.top(), (295, 88), got_header.left(0.4))
    figure.arrow(wire_payload.right(), got_payload.left())
    figure.text(10, 266, "The pieces may lie anywhere, each with the lkey of its own region. The receiver need not cut at the same places:", "start")
    figure.text(10, 284, "its first SGE is filled to the end, then the next. byte_len is the length of the whole message.", "start")
    return figure


def one_transfer() -> Drawing:
    """Queues and completions of one message."""
    figure = Drawing("Queues and completions of one message", 760, 350)
    sides = []
    for x, title in ((10, "sender"), (400, "receiver")):
        figure.area(x, 10, 350, 270, title)
        program = figure.box(x + 20, 40, 310, 36, "program", "program")
        queues = [figure.box(x + 20 + 105 * n, 120, 100, 40, words, "memory") for n, words in enumerate(("send queue", "receive queue", "CQ"))]
        sides.append([program, *queues, figure.box(x + 20, 220, 310, 36, "device", "device")])
    sender, receiver = sides
    figure.arrow(receiver[0].bottom(0.5), receiver[2].top(0.5), words="1 post", side="right")
    figure.arrow(sender[0].bottom(0.16), sender[1].top(0.5), words="2 post", side="right")
    figure.arrow(sender[1].bottom(), sender[4].top(0.16), words="3", side="right")
    figure.arrow(sender[4].right(0.35), receiver[4].left(0.35), words="4")
    figure.arrow(receiver[2].bottom(), receiver[4].top(0.5), words="5", side="right")
    figure.arrow(receiver[4].top(0.84), receiver[3].bottom(), words="6", side="right")
    figure.arrow(receiver[4].left(0.75), sender[4].right(0.75), words="7", side="below")
    figure.arrow(sender[4].top(0.84), sender[3].bottom(), words="8", side="right")
    figure.arrow(receiver[3].top(), receiver[0].bottom(0.84), words="9 poll", side="left")
    figure.arrow(sender[3].top(), sender[0].bottom(0.84), words="9 poll", side="left")
    figure.text(10, 300, "1 the receive is posted first; 2 the send; 3 the device takes it; 4 the message; 5 it meets the first receive;", "start")
    figure.text(10, 318, "6 the receive completes; 7 the acknowledgement; 8 the send completes; 9 each program polls its own CQ.", "start")
    figure.text(10, 336, "(On iWARP a send completes when TCP has taken it: 8 does not wait for 7.)", "start", "faint")
    return figure


def who_may_touch() -> Drawing:
    """Whose a buffer is, in send and receive."""
    figure = Drawing("Who may read and write a buffer, before, during and after a transfer", 760, 300)
    columns = ((120, 165, "before the post"), (285, 295, "from the post to the completion"), (580, 170, "after the completion"))
    for x, width, words in columns:
        figure.text(x + width / 2, 20, words, kind="title")
    rows = (
        ("send buffer", ("program:\nread, write", "device: read\nprogram: read, but not write", "program:\nread, write")),
        ("sent inline", ("program:\nread, write", "program: read, write\n(ibv_post_send has copied it)", "program:\nread, write")),
        ("receive buffer", ("program:\nread, write", "device: write\nprogram: nothing, contents undefined", "program:\nread the message")),
    )
    for row, (name, cells) in enumerate(rows):
        y = 42 + 64 * row
        figure.text(10, y + 25, name, "start", "title")
        for (x, width, _), words in zip(columns, cells):
            kind = "device" if words.startswith("device") else "program"
            figure.box(x + 3, y, width - 6, 52, words, kind)
    figure.text(10, 250, "The peer touches neither: a send meets a receive, and each side's device uses its own buffer. The region of a", "start")
    figure.text(10, 268, "receive buffer needs IBV_ACCESS_LOCAL_WRITE; to read is always allowed to the own device. With WRITE and READ", "start")
    figure.text(10, 286, "the peer's requests reach your memory, if the region has IBV_ACCESS_REMOTE_WRITE or IBV_ACCESS_REMOTE_READ.", "start")
    return figure


def two_flows() -> Drawing:
    """How CM events and completions reach the program, without channels and with them."""
    figure = Drawing("The two flows of status, without channels and with channels", 760, 400)
    for x, title in ((10, "without channels: ping-sr-0"), (390, "with channels: ping-sr-4")):
        figure.area(x, 10, 360, 340, title)
    for x in (25, 405):
        figure.box(x, 290, 150, 44, "kernel: connection\nmanager (CM)", "kernel")
        figure.box(x + 180, 290, 150, 44, "device", "device")
        figure.box(x + 180, 205, 150, 36, "CQ", "memory")
        figure.arrow((x + 255, 290), (x + 255, 241), words="completions", side="left")
        figure.box(x, 45, 330, 44, "program", "program")
    figure.arrow((60, 290), (60, 89))
    figure.text(67, 150, "each call waits for\nits event inside\nlibrdmacm;\nat other times\nnobody looks", "start")
    figure.arrow((230, 205), (230, 89), words="ibv_poll_cq,\nagain and again", side="right")
    figure.box(405, 205, 150, 36, "event channel: fd", "event")
    figure.arrow((480, 290), (480, 241), words="events", side="left")
    figure.box(610, 130, 120, 36, "completion\nchannel: fd", "event")
    figure.arrow((670, 205), (670, 166), words="if armed", side="left")
    figure.arrow((735, 223), (743, 223), (743, 67), (735, 67))
    figure.arrow((440, 205), (440, 89), words="rdma_get_cm_event,\nrdma_ack_cm_event", side="right")
    figure.arrow((670, 130), (670, 89), words="ibv_get_cq_event", side="left")
    figure.text(10, 370, "With channels the program sleeps in poll(2) on both descriptors. A completion makes an event only if the CQ", "start")
    figure.text(10, 388, "was armed before (ibv_req_notify_cq). The event brings no completion: the program polls the CQ (outer arrow).", "start")
    return figure


def disconnect() -> Drawing:
    """A disconnect by the client, as both flows report it on both sides."""
    figure = Drawing("A disconnect on RoCE, reported by both flows on both sides", 760, 430)
    lanes = {}
    for x, name, kind in ((80, "client: completions", "memory"), (230, "client: program, CM", "program"),
                          (530, "server: program, CM", "program"), (680, "server: completions", "memory")):
        lanes[name] = x
        figure.box(x - 72, 12, 144, 34, name, kind)
        figure.arrow((x, 46), (x, 400), dashed=True, tip=False)
    steps = ((75, 230, 230, "rdma_disconnect", False), (111, 230, 80, "QP in error", False), (150, 230, 530, "DREQ", False),
             (225, 530, 530, "DISCONNECTED", True), (265, 530, 530, "rdma_disconnect", False), (301, 530, 680, "QP in error", False),
             (326, 530, 230, "DREP", False), (356, 230, 230, "DISCONNECTED", True))
    for y, start, end, words, event in steps:
        if start == end:
            figure.box(start - 62, y - 13, 124, 26, words, "event" if event else "program")
        else:
            figure.arrow((start, y), (end, y), words=words)
    figure.box(18, 124, 124, 42, "what is posted\nis flushed", "memory")
    figure.box(618, 314, 124, 42, "what is posted\nis flushed", "memory")
    figure.text(380, 185, "until here the server's QP is in RTS:\nits completion flow says nothing", kind="faint")
    figure.text(10, 416, "DREQ, DREP: the CM's messages. On iWARP the end of TCP flushes both sides at once, before or after the events.", "start")
    return figure


def qp_states() -> Drawing:
    """The states of a queue pair."""
    figure = Drawing("The states of a queue pair", 760, 440)
    reset = figure.box(10, 150, 80, 44, "RESET", "memory")
    init = figure.box(180, 150, 70, 44, "INIT", "memory")
    rtr = figure.box(390, 150, 120, 44, "RTR\nready to receive", "memory")
    rts = figure.box(640, 150, 110, 44, "RTS\nready to send", "program")
    drained = figure.box(610, 15, 140, 44, "SQD\nsend queue drained", "event")
    failed = figure.box(610, 255, 140, 44, "SQE\nsend queue error", "event")
    error = figure.box(380, 350, 140, 44, "ERR\nall work is flushed", "device")
    figure.arrow(reset.right(), init.left(), words="port, P_Key,\naccess flags")
    figure.arrow(init.right(), rtr.left(), words="peer's QP number,\naddress, PSN, MTU")
    figure.arrow(rtr.right(0.3), rts.left(0.3), words="own PSN, retries,\ntimeouts")
    figure.arrow((665, 150), (665, 59))
    figure.text(658, 82, "ibv_modify_qp; on iWARP\nrdma_disconnect", "end")
    figure.arrow((725, 59), (725, 150))
    figure.arrow((665, 194), (665, 255))
    figure.arrow((725, 255), (725, 194))
    figure.text(658, 224, "UC, UD:\na failed send", "end")
    figure.arrow(init.bottom(), (215, 361), error.left(0.25))
    figure.arrow(rtr.bottom(), error.top())
    figure.arrow(rts.left(0.85), (568, 187), (568, 361), error.right(0.25))
    figure.text(562, 296, "an error, or\nrdma_disconnect", "end")
    figure.arrow(failed.bottom(), (680, 383), error.right(0.75))
    figure.arrow(drained.right(0.5), (756, 37), (756, 390), error.right(40 / 44))
    figure.arrow(error.left(0.8), (50, error.left(0.8)[1]), reset.bottom(), words="ibv_modify_qp", dashed=True)
    figure.text(10, 422, "SQE goes back to RTS by ibv_modify_qp; reliable connections never see it.", "start")
    return figure


def cm_states() -> Drawing:
    """The states of a connection, on both sides."""
    figure = Drawing("The states of a connection", 760, 450)
    step = 62
    client = [figure.box(20, 34 + step * row, 170, 30, words, "program") for row, words in enumerate(
        ("id created", "device known", "route known", "request sent", "connected", "disconnected"))]
    server = [figure.box(460, 34 + step * row, 175, 30, words, "memory") for row, words in enumerate(
        ("listener: id created", "address bound", "listening", "new id, to be answered", "accepted", "connected", "disconnected"))]
    figure.text(105, 16, "client", kind="title")
    figure.text(547, 16, "server", kind="title")
    end = "rdma_disconnect or the peer's\nDISCONNECTED"
    for column, labels in (
        (client, ("rdma_resolve_addr\nADDR_RESOLVED", "rdma_resolve_route\nROUTE_RESOLVED", "rdma_connect", "ESTABLISHED", end)),
        (server, ("rdma_bind_addr", "rdma_listen", "CONNECT_REQUEST", "rdma_accept", "ESTABLISHED", end)),
    ):
        for above, below, words in zip(column, column[1:], labels):
            figure.arrow(above.bottom(), below.top(), words=words, side="right")
    again = "REJECTED,\nUNREACHABLE:\nbegin again with\na new id"
    figure.arrow(client[3].right(), (320, client[3].right()[1]), (320, 49), client[0].right(), words=again, dashed=True, side="right")
    left = server[3].left()[1], server[6].left()[1]
    figure.arrow(server[3].left(), (450, left[0]), (450, left[1]), server[6].left(), words="rdma_reject", dashed=True, side="left")
    return figure


FIGURES: dict[str, Callable[[], Drawing]] = {
    "qp-states": qp_states,
    "cm-states": cm_states,
    "tcp-and-rdma": tcp_and_rdma,
    "posted-operation": posted_operation,
    "pyramid": pyramid,
    "work-request-list": work_request_list,
    "two-elements": two_elements,
    "one-transfer": one_transfer,
    "who-may-touch": who_may_touch,
    "two-flows": two_flows,
    "disconnect": disconnect,
}
