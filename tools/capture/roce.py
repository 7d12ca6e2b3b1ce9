# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The traffic between two RoCE (or InfiniBand) ports, in words: the CM's messages, requests, responses.

Place: between frames.py and ladder.py. Contract: one Step a packet. PSNs are counted from the one that the CM's
messages name as the first, or else from the first that is seen; a PSN that is seen again is a retransmission.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from . import private_data
from .frames import Frame, Layer
from .ladder import Step

CM = {
    0x10: "REQ", 0x11: "MRA", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP",
}  # fmt: skip
REJECTIONS = {8: "nobody listens (invalid service ID)", 10: "stale connection", 28: "the program refused (consumer)"}
PSNS = 1 << 24
HALF = PSNS // 2
MTUS = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}
ACKNOWLEDGES, READ_REQUEST, RESPONSES = (17, 18), 12, range(13, 17)
COMPARE_SWAP, FETCH_ADD = 19, 20
WITHOUT_DATA = (READ_REQUEST, COMPARE_SWAP, FETCH_ADD)
PART = re.compile(r"(.*) (First|Middle|Last)\b")
NO_LIMIT = 31  # the responder does not count credits


def _counted(end: End | None, psn: int) -> str:
    """A PSN, counted as the requests to an end are."""
    return f"PSN {psn if end is None or end.first is None else (psn - end.first) % PSNS}"


def _where(layer: Layer, code: int) -> str:
    """Returns the operation and place of a one-sided request in the other side's memory."""
    address, key = layer.number("infiniband.reth.va"), layer.number("infiniband.reth.r_key")
    swap, compare = (layer.number(f"infiniband.atomiceth.{name}dt") for name in ("swap", "cmp"))
    what = f"{layer.number('infiniband.reth.dmalen')} bytes"
    if code == FETCH_ADD:
        what = f"add {swap}"
    elif code == COMPARE_SWAP:
        what = f"{swap} if it is {compare},"
    return f"{what} at 0x{address:x}, rkey 0x{key:x}"


@dataclass
class End:
    """One side's queue pair, as the packets to it name it."""

    first: int | None = None  # the PSN of the first request to it
    following: int = 0  # the PSN of the next request to it, if none is lost
    mtu: int = 1024
    peer: End | None = None
    responses: set[int] = field(default_factory=set)  # PSNs that it was answered with


class Conversation:
    """Reads the packets in their order."""

    def __init__(self) -> None:
        self.ends: dict[tuple[str, int], End] = {}  # by address and QP
        self.asking: dict[str, End] = {}  # transaction of the REQ: the end that asked
        self.messages: set[tuple[str, int]] = set()  # transactions and kinds of the CM's messages so far

    def step(self, frame: Frame, from_client: bool) -> Step | None:
        """A packet in words; None if it is none of RoCE."""
        layer = frame.layer("infiniband")
        if not layer:
            return None
        step = Step(frame.seconds, from_client, "")
        if layer.has("infiniband.mad.attributeid"):
            self._message(step, frame, layer)
        else:
            self._packet(step, frame, layer)
        return step

    def _message(self, step: Step, frame: Frame, layer: Layer) -> None:
        """One of the CM's."""
        kind = layer.number("infiniband.mad.attributeid")
        transaction = layer.numbers["infiniband.mad.transactionid"]
        step.text = CM.get(kind, f"CM message 0x{kind:x}")
        if kind == 0x10:
            self._request(step, frame, layer, transaction)
        elif kind == 0x13:
            self._reply(step, frame, layer, transaction)
        elif kind == 0x12:
            reason = layer.number("infiniband.cm.rej.reason")
            step.text += f": reason {reason}, {REJECTIONS.get(reason, 'see the InfiniBand specification')}"
            step.details += private_data.of_refusal(layer.data("infiniband.cm.rej.private"))
        if (transaction, kind) in self.messages:
            step.text += ", again"
        self.messages.add((transaction, kind))

    def _request(self, step: Step, frame: Frame, layer: Layer, transaction: str) -> None:
        def value(name: str) -> int:
            return layer.number(f"infiniband.cm.req.{name}")

        mtu = MTUS.get(value("pppmtu"), 1024)
        end = End(value("startpsn"), value("startpsn"), mtu)
        self.ends[frame.source, value("localqpn")] = self.asking[transaction] = end
        step.text += f": my QP is {value('localqpn')}, PSNs to me begin at {value('startpsn')}"
        port, retries = value("serviceid") & 0xFFFF, value("rnrretrcount")
        step.details = [
            f"port {port}, MTU {mtu}, retry count {value('retrcount')}, RNR retry count {retries}"
            + (" (no limit)" if retries == 7 else ""),
            f"READs and atomics at a time: {value('initdepth')} from me, {value('responderres')} to me",
        ]
        data = layer.data("infiniband.cm.req.ip_cm.private")
        step.details += private_data.of_request(data) or ["no private data"]

    def _reply(self, step: Step, frame: Frame, layer: Layer, transaction: str) -> None:
        number, first = (layer.number(f"infiniband.cm.rep.{name}") for name in ("localqpn", "startpsn"))
        end = End(first, first)
        self.ends[frame.source, number] = end
        asking = self.asking.get(transaction)
        if asking:
            end.peer, asking.peer, end.mtu = asking, end, asking.mtu
        step.text += f": my QP is {number}, PSNs to me begin at {first}"
        step.details = private_data.of_request(layer.data("infiniband.cm.rep.private"))

    def _end(self, frame: Frame, layer: Layer) -> End:
        """Whom a packet is for; without a CM, an end that we did not know."""
        key = (frame.destination, layer.number("infiniband.bth.destqp"))
        if key not in self.ends:
            self.ends[key] = End()
            others = [end for (address, _), end in self.ends.items() if address == frame.source and not end.peer]
            if others:
                self.ends[key].peer, others[-1].peer = others[-1], self.ends[key]
        return self.ends[key]

    def _packet(self, step: Step, frame: Frame, layer: Layer) -> None:
        """A packet between the two queue pairs."""
        code, psn = layer.number("infiniband.bth.opcode"), layer.number("infiniband.bth.psn")
        name = layer.words["infiniband.bth.opcode"].split(" - ")[-1]
        end = self._end(frame, layer)
        if code in ACKNOWLEDGES:
            self._acknowledgement(step, layer, end, psn)
            return
        size = len(frame_data(frame)) - layer.number("infiniband.bth.padcnt")
        step.text = name if code in WITHOUT_DATA else f"{name}, {size} bytes"
        if code in RESPONSES:
            step.text += self._answered(end, psn)
        else:
            step.text += self._requested(step, layer, end, psn)
        if layer.has("infiniband.reth.va"):
            step.details.append(_where(layer, code))
        if layer.has("infiniband.immdt"):
            step.details.append(f"immediate data {layer.data('infiniband.immdt').hex()}")
        self._part(step, name)

    def _part(self, step: Step, name: str) -> None:
        """Notes which part of a message of several packets it is."""
        match = PART.match(name)
        if match:
            kind, place = match.groups()
            step.inside, step.place, step.number = kind, place, step.text.split(", ", 2)[-1]
            step.begins, step.ends = place == "First", place == "Last"

    def _requested(self, step: Step, layer: Layer, end: End, psn: int) -> str:
        """The PSN of a request, and whether it is the one that was to come."""
        if end.first is None:
            end.first = end.following = psn
        ahead, shown = (psn - end.following) % PSNS, (psn - end.first) % PSNS
        if 0 < ahead < HALF:
            lost = f"PSN {shown - 1} is" if ahead == 1 else f"PSN {shown - ahead} to {shown - 1} are"
            step.remark = f"({lost} not in the capture: lost before it)"
        packets = 1
        if layer.number("infiniband.bth.opcode") == READ_REQUEST:
            packets = max(1, math.ceil(layer.number("infiniband.reth.dmalen") / end.mtu))
        if ahead < HALF:
            end.following = (psn + packets) % PSNS
        return f"{', again' if ahead >= HALF else ''}, PSN {shown}"

    def _answered(self, end: End, psn: int) -> str:
        """The PSN of a response: that of the request, counted as the requests are."""
        again = psn in end.responses
        end.responses.add(psn)
        return f"{', again' if again else ''}, {_counted(end.peer, psn)}"

    def _acknowledgement(self, step: Step, layer: Layer, end: End, psn: int) -> None:
        def field_of(name: str) -> str:
            return f"infiniband.aeth.syndrome.{name}"

        at = _counted(end.peer, psn)
        kind = layer.number(field_of("opcode"))
        if layer.has("infiniband.atomicacketh.origremdt"):
            step.details.append(f"value before: {layer.number('infiniband.atomicacketh.origremdt')}")
        if kind == 0:
            credits = layer.number(field_of("credit_count"))
            told = "not counted (31)" if credits == NO_LIMIT else str(credits)
            step.text = f"ACK, MSN {layer.number('infiniband.aeth.msn')}, credits {told}, {at}"
        elif kind == 1:
            step.text = f"RNR NAK: no receive; try again in {layer.words[field_of('timer')]}, {at}"
        else:
            step.text = f"NAK: {layer.words[field_of('error_code')]}, {at}"


def frame_data(frame: Frame) -> bytes:
    """The message's bytes in a packet."""
    for name in ("data", "fake-field-wrapper"):
        layer = frame.layer(name)
        if layer:
            return layer.data("data.data") or layer.data("data")
    return b""
