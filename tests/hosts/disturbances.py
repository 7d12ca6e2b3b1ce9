# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Disturbances of two hosts or of the link between them, one row for each.

Place: the table that case.py plays and judge.py judges by. Contract: nothing here runs anything. Servers run on host 1,
clients on host 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tools.stages import facts

STAGES = (
    "ping-sr-0", "ping-sr-1", "ping-sr-2e", "ping-sr-2",
    "ping-sr-3", "ping-sr-4", "ping-sr-5", "blast-sr-2",
    "ping-srq-4", "ping-rdma-1", "ping-rdma-2", "ping-rdma-3",
    "blast-rdma-1", "pubsub-rdma-1", "pubsub-rdma-2", "count-atomic-1",
)  # fmt: skip
ONLY_ROCE = [stage for stage in STAGES if facts()[stage]["roce_only"]]
# These servers do not notice what their clients write and read: --timeout limits a whole run.
REACHED = [stage for stage in STAGES if not facts()[stage]["agent_sees"]]
TOGETHER = 8  # stages: more are too many for two emulated processors
DEVICES = {"rxe0": "soft-RoCE", "siw0": "soft-iWARP"}

# The reasons that a program may print, by their meaning.
SILENCE = r"said nothing for \d+ s|waited in vain|no answer from"
RETRIES = r"retry counter exceeded"
LEFT = r"the (client|server) left after|most likely the client has left"
UNREACHABLE = (
    r"RDMA_CM_EVENT_(UNREACHABLE|ADDR_ERROR|ROUTE_ERROR)|Connection timed out|No route to host"
    r"|Network is unreachable"
)
REMOVED = r"RDMA_CM_EVENT_DEVICE_REMOVAL"
CANNOT_SEND = r"local QP operation error|a work request was flushed"
HOST_IS_DEAD = r"has not answered to a keepalive"
PEER_IS_GONE = (SILENCE, RETRIES, LEFT, UNREACHABLE, HOST_IS_DEAD)
# Further lines of the device: they tell what was done to it, and are no reason by themselves.
HINT = r"IBV_EVENT_(GID_CHANGE|LID_CHANGE|PKEY_CHANGE|PORT_ACTIVE|PORT_ERR)"

RATE = 10  # messages a second of a run that something happens to
PATIENCE_S = 20  # --timeout of both sides: after a cut of 5 s TCP may take 13 s to try again, soft-RoCE 8
SETTLE_S = 8  # seconds with messages before and after
RUN_S = 80  # the longest run, with a margin


@dataclass(frozen=True)
class Disturbance:
    """A row of the table of disturbances."""

    name: str
    what: str  # a text for the table
    apply: str  # a shell command; {net}, {rdma}, {type} and {address} are the device's
    undo: str
    hosts: tuple[int, ...] = (1, 2)
    phase: str = "transfer"  # start: before the clients; idle; or the call that is waited for
    hold_s: int | None = None  # seconds until it is undone; None: when the clients have ended
    harmless: bool = False  # every program has to succeed
    causes: tuple[str, ...] = PEER_IS_GONE
    freeze: bool = False  # the hosts are frozen, and there is nothing to apply
    removes: bool = False  # the device goes: its host's servers cannot go on
    few: bool = False  # true if each message may take seconds
    lasts_s: int = 0  # seconds to apply it

    @property
    def count(self) -> int:
        """The number of messages of a client."""
        if self.phase == "idle":
            return RATE * 2 * SETTLE_S  # enough until the last client of all stages is in mid-run
        if self.phase != "transfer":
            return 10 if self.few else 40
        return RATE * ((PATIENCE_S if self.hold_s is None else self.hold_s) + self.lasts_s + SETTLE_S)

    @property
    def timeout_s(self) -> int:
        """The --timeout of both sides: an idle client is no dead one."""
        return 60 if self.phase == "idle" else PATIENCE_S

    def server_timeout_s(self, stage: str) -> int:
        """The --timeout of a server."""
        return RUN_S if stage in REACHED else self.timeout_s


def netem(name: str, what: str, parameters: str, harmless: bool, few: bool = False) -> Disturbance:
    """A link that is bad all the time, both ways."""
    return Disturbance(
        name, what, f"tc qdisc replace dev {{net}} root netem limit 10000 {parameters}",
        "tc qdisc del dev {net} root", phase="start", harmless=harmless, few=few,
    )  # fmt: skip


CUT = "tc qdisc replace dev {net} root netem loss 100%"
MEND = "tc qdisc del dev {net} root"
PHASES = {
    "resolving": "start",
    "connecting": "rdma_connect",
    "accepting": "rdma_accept",
    "transfer": "transfer",
    "idle": "idle",
    "disconnecting": "rdma_disconnect",
}


def cut(seconds: int, phase: str) -> Disturbance:
    """A link that carries nothing for a while. Who resolves has to ask for the hardware address anew."""
    forget = "ip neigh flush dev {net}; " if phase == "resolving" else ""
    return Disturbance(
        f"cut-{seconds}-{phase}", f"cut for {seconds} s, {phase}", forget + CUT, MEND,
        phase=PHASES[phase], hold_s=seconds,
    )  # fmt: skip


def cuts(number: int) -> Disturbance:
    """A link that is cut at random moments, for random times; the number is the seed."""
    rng = Random(number)
    pauses = [rng.uniform(0.2, 4) for _ in range(5)]
    times = [min(rng.expovariate(1 / 2), 8) for _ in range(5)]
    steps = [f"sleep {pause:.2f} && {CUT} && sleep {time:.2f} && {MEND}" for pause, time in zip(pauses, times)]
    return Disturbance(
        f"cuts-{number}", f"cut 5 times at random, for up to {max(times):.1f} s", " && ".join(steps), ":",
        hold_s=1, lasts_s=int(sum(pauses + times)),
    )  # fmt: skip


def on_each(
    name: str, what: str, apply: str, undo: str, causes: tuple[str, ...], hold_s: int | None,
    removes: bool = False,
) -> list[Disturbance]:  # fmt: skip
    """The same on the host of the servers, and on that of the clients."""
    return [
        Disturbance(
            f"{name}-{role}", f"{what}, {role}'s host", apply, undo, hosts=(host,), hold_s=hold_s,
            causes=causes, removes=removes,
        )
        for role, host in (("server", 1), ("client", 2))
    ]  # fmt: skip


def freezes() -> list[Disturbance]:
    """A whole machine stands still."""
    return [
        Disturbance(
            f"freeze-{seconds}-{role}", f"frozen for {seconds} s, {role}'s host", "", "",
            hosts=(host,), hold_s=seconds, freeze=True,
        )
        for seconds in (3, 30)
        for role, host in (("server", 1), ("client", 2))
    ]  # fmt: skip


def clock(name: str, what: str, seconds: int) -> Disturbance:
    """The clocks of both hosts are set, and set back."""
    step = "date -s @$(($(date +%s) + {}))"
    return Disturbance(
        name, what, step.format(seconds), step.format(-seconds), hold_s=5, harmless=True, causes=()
    )


DELETE = "(timeout 100 rdma link delete {rdma} </dev/null >/dev/null 2>&1 &)"
RESTORE = (
    "for i in $(seq 400); do [ -e /sys/class/infiniband/{rdma} ] || break; sleep 0.2; done; "
    "rdma link add {rdma} type {type} netdev {net}"
)

TABLE: tuple[Disturbance, ...] = (
    netem("loss-0.1", "loss 0.1 %", "loss 0.1%", True),
    netem("loss-1", "loss 1 %", "loss 1%", True),
    netem("loss-5", "loss 5 %", "loss 5%", False),
    netem("loss-20", "loss 20 %", "loss 20%", False, few=True),
    netem("delay-1", "delay 1 ms", "delay 1ms", True),
    netem("delay-20", "delay 20 ms", "delay 20ms", True),
    netem("delay-100", "delay 100 ms", "delay 100ms", True),
    netem("reorder", "reordering, 25 % of packets 10 ms early", "delay 10ms reorder 25% 50%", True),
    netem("duplicate", "duplication, 10 %", "duplicate 10%", True),
    netem("corrupt-1", "corruption, a bit in 1 %", "corrupt 1%", True),
    netem("corrupt-5", "corruption, a bit in 5 %", "corrupt 5%", False),
    *(cut(seconds, phase) for phase in PHASES for seconds in (1, 5, 30)),
    *(cuts(number) for number in range(1, 6)),
    *on_each(
        "mtu", "MTU 1500 to 600 for 5 s", "ip link set {net} mtu 600",
        "ip link set {net} mtu 1500; ip route flush cache",  # the route keeps its MTU: docs/drivers.md
        (*PEER_IS_GONE, CANNOT_SEND), 5,
    ),
    *on_each(
        "address", "address away for 5 s", "ip addr del {address}/24 dev {net}",
        "ip addr add {address}/24 dev {net}", (*PEER_IS_GONE, CANNOT_SEND), 5,
    ),
    *on_each(
        "down", "link down for 5 s", "ip link set {net} down", "ip link set {net} up",
        (*PEER_IS_GONE, CANNOT_SEND), 5,
    ),
    *on_each(
        "delete", "device deleted", DELETE, RESTORE, (*PEER_IS_GONE, CANNOT_SEND, REMOVED), None,
        removes=True,
    ),
    *freezes(),
    clock("clock-forwards", "clocks set an hour ahead for 5 s", 3600),
    clock("clock-backwards", "clocks set an hour back for 5 s", -3600),
)  # fmt: skip


def stages_on(device: str, stages: list[str]) -> list[str]:
    """Returns the stages that this device can run."""
    return [stage for stage in stages if DEVICES[device] == "soft-RoCE" or stage not in ONLY_ROCE]
