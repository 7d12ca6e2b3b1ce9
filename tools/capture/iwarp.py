# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The traffic of an iWARP connection, in words: TCP, MPA, and RDMAP over DDP.

Place: between frames.py and ladder.py. Contract: one Step for each of TCP's own packets that matters, each MPA frame
and each DDP segment; segments that do not end a message may be drawn as one.
"""

from . import private_data
from .frames import Frame, Layer
from .ladder import Step

TAGGED_HEADER, UNTAGGED_HEADER = 14, 18  # bytes of DDP and RDMAP in a segment
READ_REQUEST, READ_RESPONSE, WRITE, TERMINATE = 1, 2, 0, 7
ENHANCED = 0x10  # a flag of MPA: IRD and ORD come before the private data
DEPTH = 0x3FFF  # the bits of these two that are a number
AGAIN = ("tcp.analysis.retransmission", "tcp.analysis.fast_retransmission", "tcp.analysis.spurious_retransmission")
QUEUES = {0: "SENDs", 1: "READ requests", 2: "Terminate"}


def _of_tcp(step: Step, tcp: Layer) -> None:
    """TCP's own: beginning and end, and acknowledgements."""
    flags = [name for name in ("syn", "fin", "reset") if tcp.number(f"tcp.flags.{name}")]
    acknowledges = tcp.number("tcp.flags.ack")
    step.text = "TCP " + " ".join(name.upper() for name in flags)
    if flags == ["syn"] and acknowledges:
        step.text += " ACK"
    if not flags:
        step.text = f"TCP ACK {tcp.number('tcp.ack')}"
        step.minor = True


def _of_mpa(step: Step, mpa: Layer) -> None:
    """MPA's request or reply, which carry the private data."""
    request = mpa.has("iwarp_mpa.key.req")
    data = mpa.data("iwarp_mpa.privatedata")
    refused = mpa.number("iwarp_mpa.rej_flag")
    step.text = f"MPA {'Request' if request else 'Reply'}, revision {mpa.number('iwarp_mpa.rev')}"
    step.text += ", refused" if refused else ""
    on = [name for name in ("marker", "crc") if mpa.number(f"iwarp_mpa.{name}_flag")]
    step.text += f", with {' and '.join(on)}" if on else ", no CRC, no markers"
    if mpa.number("iwarp_mpa.res") & ENHANCED and len(data) >= 4:
        ird, ord_ = (int.from_bytes(data[at : at + 2], "big") & DEPTH for at in (0, 2))
        step.details.append(f"READs at a time: {ord_} from me (ORD), {ird} to me (IRD)")
        data = data[4:]
    step.details += private_data.of_refusal(data) if refused else private_data.of_request(data)


def _of_segment(step: Step, mpa: Layer | None, segment: Layer) -> None:
    """A DDP segment of an RDMAP message."""
    code = segment.number("iwarp_rdma.opcode")
    tagged, last = (segment.number(f"iwarp_ddp.{name}_flag") for name in ("tagged", "last"))
    name = segment.words["iwarp_rdma.opcode"].upper()
    length = mpa.number("iwarp_mpa.ulpdulength") if mpa else 0
    size = length - (TAGGED_HEADER if tagged else UNTAGGED_HEADER)
    step.text = f"RDMAP {name}" if code in (READ_REQUEST, TERMINATE) else f"RDMAP {name}, {size} bytes"
    step.text += ", last segment" if last else ""
    if tagged:
        stag, offset = segment.number("iwarp_ddp.stag"), segment.number("iwarp_ddp.tagged_offset")
        step.details.append(f"DDP to STag 0x{stag:x}, offset 0x{offset:x}")
    else:
        queue, number = segment.number("iwarp_ddp.qn"), segment.number("iwarp_ddp.msn")
        offset = segment.number("iwarp_ddp.mo")
        step.details.append(f"DDP to queue {queue} ({QUEUES.get(queue, '?')}), message {number}, offset {offset}")
    if code == READ_REQUEST:
        step.details.append(
            f"{segment.number('iwarp_rdma.rdmardsz')} bytes from STag 0x{segment.number('iwarp_rdma.srcstag'):x},"
            f" offset 0x{segment.number('iwarp_rdma.srcto'):x}"
        )
    if code == TERMINATE:
        of = [text for field, text in segment.words.items() if field.startswith(("iwarp_rdma.term_layer",
              "iwarp_rdma.term_etype", "iwarp_rdma.term_errcode"))]  # fmt: skip
        step.details.append(", ".join(of))
    step.inside, step.ends = f"RDMAP {name}", bool(last)


def steps(frame: Frame, from_client: bool) -> list[Step]:
    """A TCP packet in words; none if it is none of TCP."""
    tcp = frame.layer("tcp")
    if not tcp:
        return []
    found: list[Step] = []
    mpa: Layer | None = None
    for layer in frame.layers:
        step = Step(frame.seconds, from_client, "")
        if layer.name == "iwarp_mpa":
            mpa = layer
            if layer.has("iwarp_mpa.rev"):
                _of_mpa(step, layer)
        elif layer.name == "iwarp_ddp_rdmap":
            _of_segment(step, mpa, layer)
        if step.text:
            found.append(step)
    if not found and not tcp.number("tcp.len"):
        found.append(Step(frame.seconds, from_client, ""))
        _of_tcp(found[0], tcp)
    elif not found:
        found.append(Step(frame.seconds, from_client, f"TCP, {tcp.number('tcp.len')} bytes"))
        data = tcp.data("tcp.payload").rstrip(b"\0")
        if data.isascii() and data.decode().isprintable():
            found[0].details = [f'"{data.decode()}"']
    if any(tcp.has(name) for name in AGAIN):
        found[0].text += ", again"
    if tcp.has("tcp.analysis.lost_segment"):
        found[0].remark = "(bytes of TCP are not in the capture: lost before it)"
    return found
