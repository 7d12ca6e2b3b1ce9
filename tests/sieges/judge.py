# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Judges a server that was besieged, and makes the table. Nothing here runs anything: see test_judge.py."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

# What a server's memory may grow by, KiB: malloc(3) keeps an arena for each thread that there has been, up to
# eight a processor.
GROWN_KIB = 16384

RECOVERY_S = 30  # after the machine has stood still

# How far a server has been seen: its siege is going on; it is over, and the server still runs; it has ended.
BESIEGED, RELIEVED, ENDED = "besieged", "relieved", "ended"

# What a server says of clients that do what ways.py lists. Anything else is a surprise.
LEFT = r"most likely the client has left meanwhile"
EXPECTED = (
    r"listening on .*",
    # talk-rdma-0 and count-atomic-1, after each client
    r"[0-9]+ lines said, [0-9]+ heard",
    r"counted to [0-9]+, and the clients' counts add up to [0-9]+(, without those who left early)?",
    r"client refused: .*",  # if it was an honest one, that one says so
    # The kernel has destroyed the id of a client that has died, or whose patience was over.
    rf"rdma_create_qp: Invalid argument \(22\): {LEFT}",
    rf"rdma_accept: Invalid argument \(22\): {LEFT}",
    rf"rdma_accept: Connection refused \(111\): {LEFT} \(RDMA_CM_EVENT_REJECTED\)",
    rf"rdma_accept: Connection reset by peer \(104\): {LEFT}( \(RDMA_CM_EVENT_[A-Z_]+\))?",  # soft-iWARP
    # A handshake that was never finished.
    rf"rdma_accept: Connection timed out \(110\): {LEFT}( \(RDMA_CM_EVENT_UNREACHABLE\))?",
    # A client of a one-sided stage that was interrupted tells how far it came.
    r"the client says that it is done after [0-9]+ messages, and 1000000000 were due",
    r"the client left after [0-9]+ messages(; what was sent to it last failed \(local QP operation error\))?",
    r"the client said nothing for [0-9]+ s, after [0-9]+ messages",
    r"the client sent more than the [0-9]+ messages due",
    r"received a message of [0-9]+ bytes where [0-9]+ were expected: were both sides started with the same -s\?",
    # ping-rc-0, of what came by TCP
    r"recv: Connection reset by peer \(104\): the client at .* ended the exchange: its own messages say why",
    r"recv: Protocol error \(71\): the client at .* did not say LID:QPN:PSN:GID, or done, .*",
    # soft-RoCE, seen rarely: a client was killed, and its memory was gone before its QP (docs/drivers.md)
    r"completion of the send, write or read with wr_id 0x[0-9a-f]+ on QP 0x[0-9a-f]+: remote (operation|access) error "
    r"\(status [0-9]+, vendor 0x[0-9a-f]+\): the peer('s memory may not be accessed so| could not take it): "
    r".*it was just killed.*",
    # Of a message that is too long: soft-RoCE, soft-iWARP
    r"completion of the receive with wr_id 0x[0-9a-f]+ on QP 0x[0-9a-f]+: local (QP operation|length) error "
    r"\(status [12], vendor 0x[0-9a-f]+\): most likely the message is longer than the buffer of the receive it met: "
    r"were both sides started with the same -s\?",
    # soft-RoCE, of an access without the right, when the client's end comes more than a second later
    r"a work request was flushed after [0-9]+ messages, although the client has not disconnected: "
    r"it asked for what it has no right to, or our device could not send, and its driver does not say why: is its "
    r"link up\?",
    # soft-iWARP, of an access without the right
    r"siw0, QP of the connection with .*: the peer (broke the protocol, or asked for what cannot be"
    r"|asked for memory that it may not reach) \(IBV_EVENT_QP_(REQ|ACCESS)_ERR\)",
)


@dataclass
class Honest:
    """An honest client: how it ended, what it said, and from when to when it ran, in seconds."""

    status: int = 0
    said: str = ""
    begun: float = 0.0
    ended: float = 0.0


@dataclass
class Seen:
    """All that was seen of one server."""

    name: str
    transport: str
    honest: list[Honest] = field(default_factory=list)  # in the siege
    after: Honest = field(default_factory=Honest)  # when it was over
    hostile: dict[str, int] = field(default_factory=dict)  # programs of each kind
    requests: int = 0  # connect requests of those that make many
    stuck: int = 0  # of those: the kernel did not let them end when they were killed
    kib: list[int] = field(default_factory=list)  # resident: before, at half time, at the end
    held: list[str] = field(default_factory=list)  # descriptors and objects: before, at the end
    said: list[str] = field(default_factory=list)  # on stderr; surprises at least
    status: int = 0
    hung: bool = False  # it did not end on SIGTERM
    ended_early: bool = False
    left: str = ""  # on the devices, when all servers had ended
    lost: str = ""  # why there is nothing to see
    driver: str = ""  # what the driver has done to the server, which cannot help it
    until: str = ENDED  # how far it was seen,
    cut: str = ""  # and why no further: the machine has not lasted, which is no fault of the server
    about: dict[str, str] = field(default_factory=dict)  # date, versions, and how it was besieged
    # From when to when the machine itself stood still, with all limits on silence going on: the honest clients
    # of these moments, and those that came before the server had recovered, do not count.
    pauses: list[tuple[float, float]] = field(default_factory=list)

    def counted(self) -> list[Honest]:
        """The honest clients that count."""
        found_it = self.driver and self.until == BESIEGED  # the last one has found that the server hangs
        whole = self.honest[:-1] if found_it else self.honest
        return [
            each for each in whole
            if not any(each.begun < to + RECOVERY_S and each.ended > since for since, to in self.pauses)
        ]  # fmt: skip

    def why_cut(self) -> str:
        """Why a siege was not to its end, if that was the driver."""
        if not self.driver or self.until != BESIEGED:
            return self.driver
        return f"after {(self.honest[-1].begun - self.honest[0].begun) / 60:.1f} minutes, {self.driver}"

    @staticmethod
    def read(record: dict[str, Any]) -> Seen:
        """From JSON."""
        seen = Seen(**record)
        seen.honest = [Honest(**each) for each in record["honest"]]
        seen.after = Honest(**record["after"])
        return seen


# What destroys an id waits forever if the driver has lost a reference to it; SIGKILL does not end it.
HANGS = re.compile(r"\b(cm_destroy_id)\b")
LISTENS = "0A"  # the state, in the kernel's list of TCP sockets


KINDS = ("pd", "cq", "qp", "cm_id", "mr")


def held_by(tasks: set[int], listed: dict[str, list[dict[str, Any]]]) -> dict[str, int]:
    """How many RDMA objects of each kind a process with these threads holds, by what `rdma -j resource show` lists.

    The list has the thread that made an object, which may have ended. So what belongs to the process' contexts counts.
    """
    contexts = {(each["ifname"], each["ctxn"]) for each in listed["ctx"] if each.get("pid") in tasks}
    own = {kind: [e for e in listed[kind] if (e["ifname"], e.get("ctxn")) in contexts] for kind in ("pd", "cq")}
    domains = {(each["ifname"], each["pdn"]) for each in own["pd"]}
    own |= {kind: [e for e in listed[kind] if (e["ifname"], e.get("pdn")) in domains] for kind in ("qp", "mr")}
    own["cm_id"] = [each for each in listed["cm_id"] if each.get("pid") in tasks]
    return {kind: len(own[kind]) for kind in KINDS}


def driver_hangs(stacks: list[str]) -> str:
    """That one of a server's threads waits forever in the kernel, or nothing."""
    found = [match[1] for match in map(HANGS.search, stacks) if match]
    return f"a thread of the server hangs in the kernel's {found[0]}, which nothing ends" if found else ""


def driver_is_deaf(tcp: str, port: int) -> str:
    """That the driver has closed a listener's socket, by what /proc/net/tcp says; or nothing."""
    sockets = [line.split() for line in tcp.splitlines()[1:]]
    if any(words[1].endswith(f":{port:04X}") and words[3] == LISTENS for words in sockets):
        return ""
    return "the driver closed the socket of the listener, of which the server is not told"


KNOWN = re.compile("|".join(f"(?:{line})" for line in EXPECTED))


def is_surprise(line: str) -> bool:
    """Whether no hostile client explains what a server says."""
    return not KNOWN.fullmatch(line)


def surprises(said: list[str]) -> Counter[str]:
    """Lines that no hostile client explains, with N for each number."""
    return Counter(re.sub(r"\b(0x[0-9a-f]+|[0-9]+)\b", "N", line) for line in said if is_surprise(line))


def faults(seen: Seen) -> list[str]:
    """What is wrong, a line for each."""
    found = []
    if seen.lost:
        return [seen.lost]
    relieved, ended = seen.until != BESIEGED, seen.until == ENDED
    honest = seen.counted()
    failed = [each for each in honest if each.status]
    if failed:
        found.append(f"{len(failed)} of {len(honest)} honest clients failed, first: {failed[0].said}")
    if not honest:
        found.append("no honest client came")
    if seen.ended_early:
        found.append("the server ended in the siege")
    elif relieved and seen.after.status and not seen.driver:
        found.append(f"an honest client fails after the siege: {seen.after.said}")
    if ended and seen.hung:
        found.append("the server did not end on SIGTERM")
    elif ended and seen.status:
        found.append(f"the server's exit status is {seen.status}")
    if len(seen.held) == 2 and seen.held[0] != seen.held[1] and not seen.driver:
        found.append(f"the server held {seen.held[0]}, and holds {seen.held[1]}")
    if relieved and len(seen.kib) > 1 and seen.kib[-1] - seen.kib[0] > GROWN_KIB:
        found.append(f"the server has grown: {', '.join(map(str, seen.kib))} KiB")
    if seen.left:
        found.append(f"left on the devices: {seen.left}")
    for line, times in surprises(seen.said).most_common(20):
        found.append(f"the server said ({times} times): {line}")
    return found


# What the kernel says on its console when it dies, and a function of a module in the trace before that.
PANIC = re.compile(r"Kernel panic - not syncing: (.*)")
COMPLAINT = re.compile(r"\] (list_\w+ corruption.*|BUG: .*|general protection fault.*)")
FRAME = re.compile(r"\]  (?:\? )?(\w+)\+0x[0-9a-f]+/0x[0-9a-f]+ \[(\w+)\]")


def cause_of_death(console: str, status: int) -> str:
    """Why a machine ended that has not finished its work, with that exit status."""
    panic = PANIC.search(console)
    if not panic:
        return f"the machine ended with status {status}"
    last = ([panic] + [found for found in COMPLAINT.finditer(console) if found.start() < panic.start()])[-1]
    frame = FRAME.search(console, last.start(), panic.start())
    text = f"the kernel panicked ({last[1].strip()})"
    return text + (f" in {frame[1]} of {frame[2]}" if frame else "")


def verdict(seen: Seen) -> str:
    """One of: it has held out, as far as it was seen; it has not; nothing was seen."""
    if seen.lost:
        return "**not seen**"
    if faults(seen):
        return "**BAD**"
    if not seen.cut:
        return "held"
    return "held" + (" to the end of the siege" if seen.until == RELIEVED else "") + f", then {seen.cut}"
