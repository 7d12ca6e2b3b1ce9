# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""From a capture's frames to the steps of the conversation between client and server.

Place: between the readers of the two transports and the ladder. Contract: the server is the address that the first
connect request, or TCP's SYN, is sent to.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from . import iwarp, roce
from .frames import Frame
from .ladder import Step


@dataclass
class Conversation:
    """The messages of two hosts to each other."""

    client: str
    server: str
    steps: list[Step]


def read(frames: Iterable[Frame]) -> Conversation:
    """The conversation of all frames."""
    over_roce = roce.Conversation()
    found = Conversation("", "", [])
    for frame in frames:
        if not found.server:
            found.client, found.server = frame.source, frame.destination
        if {frame.source, frame.destination} != {found.client, found.server}:
            continue
        from_client = frame.source == found.client
        step = over_roce.step(frame, from_client)
        found.steps += [step] if step else iwarp.steps(frame, from_client)
    return found
