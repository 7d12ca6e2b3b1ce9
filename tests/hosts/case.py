# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Plays one disturbance on one device, for several stages at the same time.

Place: between test_disturbed.py and pair.py. Contract: play() returns what was seen of each stage, and
what is wrong with the hosts themselves; each wait has a bound. A Lost passes through.
"""

from __future__ import annotations

import re
import signal
import time
from typing import Any, Callable

from hosts.disturbances import RATE, Disturbance
from hosts.judge import Seen, Side
from hosts.pair import TOP, Host, Pair
from live.kernel import COMPLAINT
from tools.folders import folder

SIZE = "4k"
END_S = 90  # for anything that has to end by itself, once the disturbance is over
START_S = 60
LEFT_S = 100  # for the kernel to give back everything: its id may take a minute (docs/pitfalls.md)
GATE = "/tmp/sweep-gate"
TYPES = {"rxe0": ("rxe", "roce0", "192.0.2"), "siw0": ("siw", "iwarp0", "198.51.100")}


class Case:
    """A case: one disturbance, one device."""

    next_port = 20000

    def __init__(self, pair: Pair, device: str, stages: list[str], row: Disturbance) -> None:
        self.pair, self.stages, self.row = pair, stages, row
        self.server_host, self.client_host = pair.hosts
        kind, net, network = TYPES[device]
        self.device = {"rdma": device, "type": kind, "net": net}
        self.network = network
        self.seen = {stage: Seen() for stage in stages}
        self.notes: list[str] = []
        Case.next_port += 10
        self.ports = {stage: Case.next_port + n for n, stage in enumerate(stages)}

    # Questions to the hosts.

    def states(self, host: Host, names: list[str]) -> dict[str, dict[str, Any]]:
        """Returns the states of programs."""
        return dict(zip(names, host.ask(*[["state", name] for name in names])))

    def wait(self, host: Host, names: list[str], ready: Callable[[dict[str, Any]], object], seconds: int) -> list[str]:
        """Waits for programs to be ready, or to end. Returns those that did neither."""
        end = time.monotonic() + seconds
        while True:
            states = self.states(host, names)
            late = [n for n in names if states[n]["status"] is None and not ready(states[n])]
            if not late or time.monotonic() > end:
                return late
            time.sleep(0.3)

    def shell(self, text: str, hosts: tuple[int, ...]) -> None:
        """Runs a command with the device's names in it, on both hosts at the same time."""
        for number in hosts:
            command = text
            for name, value in {**self.device, "address": f"{self.network}.{number}"}.items():
                command = command.replace("{" + name + "}", value)
            self.pair.hosts[number - 1].send([["shell", command, 150]])
        for number in hosts:
            self.pair.hosts[number - 1].succeeds(text, 240)

    def take(self, host: Host, name: str, side: Side) -> None:
        """Returns the result of a program; kills one that has not ended."""
        state = self.states(host, [name])[name]
        side.status, side.said, side.out = state["status"], state["said"], state["out"]
        if side.status is None:
            side.hung = host.ask(["kill", name])[0]

    # The programs.

    def gate(self, role: str) -> dict[str, str]:
        """The environment of a program that is to wait before a call."""
        call = self.row.phase
        if not call.startswith("rdma_") or (call == "rdma_accept") != (role == "server"):
            return {}
        preload = str(TOP / "build/tests/gate.so")
        return {"LD_PRELOAD": preload, "GATE": GATE, "GATE_CALL": call}

    def start_servers(self, stages: list[str]) -> None:
        """Starts each stage's server, and waits until it listens."""
        requests = []
        for stage in stages:
            argv = [f"{folder(stage)}/server", "-a", f"{self.network}.1", "-p", str(self.ports[stage])]
            argv += ["-n", "0", "-j", "--timeout", str(self.row.server_timeout_s(stage))]
            if stage == "ping-sr-0":
                argv += ["-c", str(self.row.count), "-s", SIZE]
            argv += ["-v"] if stage == "blast-sr-2" else []
            argv += ["--record", SIZE] if stage.startswith("pubsub") else []
            requests.append(["start", f"{stage}-server", argv, self.gate("server")])
        if requests:
            self.server_host.ask(*requests)
        names = [f"{stage}-server" for stage in stages]
        if names and self.wait(self.server_host, names, lambda state: bool(state["said"]), START_S):
            self.notes.append("a server did not listen in time")

    def start_clients(self, name: str, disturbed: bool) -> None:
        """Starts each stage's client."""
        requests = []
        for stage in self.stages:
            argv = [f"{folder(stage)}/client", "-a", f"{self.network}.1", "-p", str(self.ports[stage])]
            argv += ["-c", str(self.row.count), "-v", "-j", "--timeout", str(self.row.timeout_s)]
            argv += ["-s", SIZE] if not stage.startswith("count") else []
            if disturbed and self.row.phase in ("transfer", "idle"):
                argv += ["-T", "--rate", str(RATE)]
            gate = self.gate("client") if disturbed else {}
            requests.append(["start", f"{stage}-{name}", argv, gate])
        self.client_host.ask(*requests)

    def stop_servers(self) -> None:
        """Interrupts the servers."""
        names = [f"{stage}-server" for stage in self.stages]
        states = self.states(self.server_host, names)
        for stage in self.stages:
            self.seen[stage].server_lasted &= states[f"{stage}-server"]["status"] is None
        self.server_host.ask(*[["signal", name, int(signal.SIGINT)] for name in names])
        self.wait(self.server_host, names, lambda state: False, END_S)
        for stage in self.stages:
            server = self.seen[stage].server
            earlier = server.said
            self.take(self.server_host, f"{stage}-server", server)
            self.seen[stage].said_later = server.said[len(earlier) :]
            server.said = earlier

    # The events of a case.

    def await_phase(self, clients: list[str]) -> None:
        """Waits until all programs have reached the phase of the disturbance."""
        if self.row.phase in ("transfer", "idle"):
            sending = [name for name in clients if not name.startswith("pubsub-rdma-2")]  # its client is written to, and sends nothing
            if self.wait(self.client_host, sending, lambda state: state["sends"] > 10, START_S):
                self.notes.append("a client was not in mid-run in time")
        elif self.row.phase.startswith("rdma_"):
            host = self.server_host if self.row.phase == "rdma_accept" else self.client_host
            end = time.monotonic() + 50
            while int(host.shell(f"ls {GATE} | wc -l")) < len(self.stages):
                if time.monotonic() > end:
                    self.notes.append(f"not all came to {self.row.phase}")
                    break
        if self.row.phase != "start":
            states = self.states(self.client_host, clients)
            early = [name for name in clients if states[name]["status"] is not None]
            self.notes += [f"{name} had ended before it happened" for name in early]

    def disturb(self, clients: list[str]) -> None:
        """Makes the disturbance happen; it is over after its time, if it has one."""
        row = self.row
        if row.phase == "idle":
            self.client_host.ask(*[["signal", name, int(signal.SIGSTOP)] for name in clients])
        if row.freeze:
            host = self.pair.hosts[row.hosts[0] - 1]
            self.pair.freeze(host)
            try:
                time.sleep(row.hold_s or 0)
            finally:
                self.pair.thaw(host)
            return
        if row.phase == "start":
            if row.hold_s is not None:
                time.sleep(row.hold_s)
                self.shell(row.undo, row.hosts)
            return
        steps = [row.apply, f"touch {GATE}/open"]
        steps += [f"sleep {row.hold_s}", row.undo] if row.hold_s is not None else []
        self.shell(" && ".join(steps), row.hosts)
        if row.phase == "idle":
            self.client_host.ask(*[["signal", name, int(signal.SIGCONT)] for name in clients])

    def settle(self) -> None:
        """Waits until the hosts see each other again, and the device has its addresses."""
        until = "for i in $(seq 100); do {}; sleep 0.1; done; false"
        if self.device["type"] == "rxe":
            gids = "/sys/class/infiniband/rxe0/ports/1/gids/*"
            self.pair.both(until.format(f"grep -qs 0000:ffff: {gids} && exit"))
        peer = f"{self.network}.1"
        self.shell(until.format(f"ping -q -c 1 -W 1 {peer} >/dev/null && exit"), (2,))

    def await_released(self) -> None:
        """Waits until no server has a QP any more: its client has gone. A single empty list may be an interrupted one."""
        names = [f"{stage}-server" for stage in self.stages]
        end = time.monotonic() + END_S
        empty = 0
        while True:
            states = self.states(self.server_host, names)
            listing = self.server_host.shell("rdma resource show qp")
            makers = set(map(int, re.findall(r" pid (\d+) ", listing)))
            held = [s for s in self.stages if makers & set(states[f"{s}-server"]["tasks"])]
            empty = 0 if held else empty + 1
            if empty == 2 or time.monotonic() > end:
                break
            time.sleep(0.5)
        states = self.states(self.server_host, names)  # each server has printed everything by now
        for stage in self.stages:
            self.seen[stage].held = "a QP" if stage in held else ""
            self.seen[stage].server.said = states[f"{stage}-server"]["said"]

    def play(self, baseline: list[str]) -> tuple[dict[str, Seen], list[str]]:
        """Plays the case from the servers' start to what is left. Returns what each stage did, and what the hosts show."""
        row = self.row
        clients = [f"{stage}-client" for stage in self.stages]
        self.pair.both(f"rm -rf {GATE}; mkdir {GATE}; dmesg -C")
        self.start_servers(self.stages)
        if row.phase == "start":
            self.shell(row.apply, row.hosts)
        self.start_clients("client", True)
        self.await_phase(clients)
        self.disturb(clients)
        self.wait(self.client_host, clients, lambda state: False, END_S + (60 if row.hold_s is None else 0))
        for stage in self.stages:
            self.take(self.client_host, f"{stage}-client", self.seen[stage].client)
        self.await_released()
        if "netem loss" in row.apply.replace("limit 10000 ", "") and row.phase == "start" and row.hold_s is None:
            self.has_lost()
        self.serve_next()
        left = self.leftovers(baseline)
        self.pair.hosts[0].ask(["forget"])
        self.pair.hosts[1].ask(["forget"])
        return self.seen, self.notes + left

    def has_lost(self) -> None:
        """Checks that the link has lost packets: if it lost nothing, nothing was shown."""
        counts = [host.shell(f"tc -s qdisc show dev {self.device['net']}") for host in self.pair.hosts]
        if not any(map(int, re.findall(r"\(dropped (\d+)", " ".join(counts)))):
            self.notes.append("the link has lost no packet")

    def serve_next(self) -> None:
        """The next client of each stage, with the link as it was; then the servers' end."""
        stopped = self.row.removes and 1 in self.row.hosts
        if stopped:
            self.stop_servers()
        if self.row.hold_s is None:
            self.shell(self.row.undo, self.row.hosts)
        self.settle()
        if stopped:
            self.start_servers(self.stages)
        self.start_clients("next", False)
        names = [f"{stage}-next" for stage in self.stages]
        self.wait(self.client_host, names, lambda state: False, END_S)
        for stage in self.stages:
            self.take(self.client_host, f"{stage}-next", self.seen[stage].next)
        if not stopped:
            self.stop_servers()
            return
        servers = [f"{stage}-server" for stage in self.stages]
        self.server_host.ask(*[["signal", name, int(signal.SIGINT)] for name in servers])
        if self.wait(self.server_host, servers, lambda state: False, END_S):
            self.notes.append("a server that was started anew hangs")

    def leftovers(self, baseline: list[str]) -> list[str]:
        """Returns the objects that the hosts have more than before, and the complaints of their kernels."""
        found = []
        for host, before in zip(self.pair.hosts, baseline):
            end = time.monotonic() + LEFT_S
            while (now := resources(host)) != before and time.monotonic() < end:
                time.sleep(1)
            if now != before:
                found.append(f"left on host {host.number}: {now.strip()}")
            said = host.shell(f"dmesg | grep -E '{COMPLAINT.pattern}' | head -n 3 || :").strip()
            if said and not (self.row.freeze and re.search("stall|lockup", said)):
                found.append(f"kernel of host {host.number}: {said}")
        return found


def resources(host: Host) -> str:
    """Returns the objects of a host's devices; the numbers of the devices do not matter."""
    return host.shell("rdma resource show | sed 's/^[0-9]*: //' | sort")
