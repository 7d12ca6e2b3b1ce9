# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The packets between two hosts: reads the output of `make capture`, and converts the times to the traces' clock.

Place: part of picture.py, beside the traces. Contract: the file is one JSON object (tools/verbs-trace/json.md); any
other file is an error. The capture has a clock of its own, matched by the packets that end a SEND: such a packet was
on the network after its SEND was posted, and before its receive was found completed.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clocks import Clock, Crossing
from layout import EMPTY, ERROR, Drawing, Lane
from peers import Message, QueuePair
from records import Unreadable

@dataclass(frozen=True)
class Packet:
    """A packet, in the words of the capture's reader."""

    time: int  # nanoseconds since the first packet
    from_client: bool
    text: str
    ends: str  # the kind of message that it ends: "SEND"; or ""
    again: bool  # a repetition, or it reports a lost packet
    minor: bool  # an acknowledgement


@dataclass(frozen=True)
class Capture:
    """The contents of a file."""

    name: str
    client: str  # address
    server: str
    packets: list[Packet]


def _packet(record: dict[str, Any], first: int) -> Packet:
    """Returns one packet of a file whose first packet came at `first`."""
    return Packet(
        time=int(record["time_ns"]) - first,
        from_client=record["from"] == "client",
        text="\n".join([str(record["text"]), *(str(line) for line in record.get("details", []))]),
        ends=str(record.get("ends", "")),
        again=bool(record.get("again", False)),
        minor=bool(record.get("minor", False)),
    )


def read(path: str) -> Capture:
    """Reads the packets in a file, in order of time."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        records = sorted(found["packets"], key=lambda record: int(record["time_ns"]))
        first = int(records[0]["time_ns"]) if records else 0  # small numbers, because the fit uses floating point
        packets = [_packet(record, first) for record in records]
        return Capture(Path(path).name, str(found["client"]), str(found["server"]), packets)
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(f"{path}: no packets in it: is it what make capture has written?") from error


def _from_client(capture: Capture, pair: QueuePair) -> bool:
    """Returns whether this QP is on the client's host. Without addresses the first trace is the client's."""
    host = pair.local.rsplit(":", 1)[0].strip("[]")
    if host in (capture.client, capture.server) and capture.client != capture.server:
        return host == capture.client
    return pair.process.trace == 0


def crossings(capture: Capture, number: int, sent: Iterable[tuple[QueuePair, list[Message]]]) -> list[Crossing]:
    """Returns the bounds that the SENDs of one connection give for the capture's clock, as trace `number`."""
    found = []
    for pair, messages in sent:
        way = _from_client(capture, pair)
        ends = [p for p in capture.packets if p.from_client == way and p.ends == "SEND" and not p.again]
        sends = [message for message in messages if message.send.opcode.startswith("SEND")]
        for message, packet in zip(sends, ends):
            post, done = message.send.post, message.receive.done
            assert done
            found.append(Crossing(post.process.trace, number, post.time, packet.time))
            found.append(Crossing(number, done.process.trace, packet.time, done.end))
    return found


def lanes(capture: Capture, clock: Clock, drawing: Drawing) -> list[Lane]:
    """Returns a lane for each direction. Their process is the network, which the caller numbers."""
    found = [Lane(0, "to server"), Lane(0, "to client")]
    for packet in capture.packets:
        lane = found[0 if packet.from_client else 1]
        series = lane.empty if packet.minor else lane.levels[0]
        flags = (ERROR if packet.again else 0) | (EMPTY if packet.minor else 0)
        series.add(clock.of(packet.time) - drawing.origin, 0, drawing.words.of(packet.text), flags)
    return found
