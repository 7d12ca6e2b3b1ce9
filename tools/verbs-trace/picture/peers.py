# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Finds which queue pairs are connected with each other, and in which receive each send arrived.

Place: part of picture.py. Contract: pairs are found by their addresses, or by their numbers; otherwise the only two
that are left are a pair. The sends of a reliable connection arrive in order; if the sizes do not agree, later sends
are not matched.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from records import Process
from transfers import Queues, Request


@dataclass(eq=False)
class QueuePair:
    """A QP, as the trace describes it."""

    process: Process
    name: str
    local: str = ""
    peer: str = ""
    number: int | None = None
    peer_number: int | None = None
    partner: QueuePair | None = None


@dataclass(frozen=True)
class Message:
    """A send, and the receive in which it arrived."""

    send: Request
    receive: Request


def of_process(process: Process) -> list[QueuePair]:
    """Returns the QPs of a process, in order of creation."""
    pairs: dict[str, QueuePair] = {}

    def named(name: object) -> QueuePair:
        return pairs.setdefault(str(name), QueuePair(process, str(name)))

    for call in process.calls:
        if call.error:
            continue
        number = call.returned.get("qp_num", call.args.get("qp_num"))
        if call.name == "rdma_create_qp" and "qp" in call.args:
            pair = named(call.args["qp"])
            pair.local, pair.peer = str(call.args.get("local", "")), str(call.args.get("peer", ""))
        elif call.name in ("ibv_create_qp", "ibv_create_qp_ex") and call.result:
            pair = named(call.result)
        elif call.name == "ibv_modify_qp" and isinstance(call.args.get("attr"), dict):
            dest = call.args["attr"].get("dest_qp_num")
            if isinstance(dest, int):
                named(call.args.get("qp")).peer_number = dest
            continue
        else:
            continue
        pair.number = number if isinstance(number, int) else pair.number
    return list(pairs.values())


Key = Callable[[QueuePair], tuple[Hashable, Hashable] | None]  # the QP's own key, and the partner's


def _join(pairs: list[QueuePair], key: Key) -> None:
    """Joins QPs that each have the key the other asks for; the first with the first, and so on."""
    free: dict[Hashable, list[QueuePair]] = {}
    for pair in pairs:
        own = None if pair.partner else key(pair)
        if not own:
            continue
        wanted = own[::-1]
        if own == wanted:  # a QP connected with itself
            pair.partner = pair
        elif free.get(own):
            pair.partner = free[own].pop(0)
            pair.partner.partner = pair
        else:
            free.setdefault(wanted, []).append(pair)


def _addresses(pair: QueuePair) -> tuple[Hashable, Hashable] | None:
    return (pair.local, pair.peer) if pair.local and pair.peer else None


def _numbers(pair: QueuePair) -> tuple[Hashable, Hashable] | None:
    return None if pair.number is None or pair.peer_number is None else (pair.number, pair.peer_number)


def join(pairs: list[QueuePair], queues: dict[Process, Queues]) -> None:
    """Finds the partner of each QP, if it is in the traces."""
    # A failed attempt to connect leaves a QP with the same numbers that has moved nothing.
    used = [p for p in pairs if queues[p.process].sent.get(p.name) or queues[p.process].received.get(p.name)]
    for some in (used, pairs):
        _join(some, _addresses)
        _join(some, _numbers)
    left = [p for p in used if not p.partner]
    if len(left) == 2:
        left[0].partner, left[1].partner = left[1], left[0]


def messages(pair: QueuePair, queues: dict[Process, Queues]) -> list[Message]:
    """Returns the messages of this QP that arrived at its partner."""
    if not pair.partner:
        return []
    sent = queues[pair.process].sent.get(pair.name, [])
    received = queues[pair.partner.process].received.get(pair.partner.name, [])
    found: list[Message] = []
    for send, receive in zip(sent, received):
        # The receive of a WRITE with immediate data has no size, and an extended CQ has none.
        sizes = (send.bytes, receive.arrived)
        if -1 not in sizes and sizes[0] != sizes[1] and send.opcode.startswith("SEND"):
            break
        found.append(Message(send, receive))
    return found
