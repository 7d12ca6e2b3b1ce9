# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The checks for each exercise, and their points.

Place: between exercises.py and grade.py. Contract: a function for each exercise. The points of its checks and
grade.BUILD_POINTS add up to 100. The first check relies on what a partner reports.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from . import judges
from .cases import Check, alone, case, innocent, messages, over_fakes, side


def ping_sr_2e() -> list[Check]:
    """Both roles, over both transports."""
    checks = []
    for transport, points in (("RoCE", 10), ("iWARP", 5)):
        client = messages(points, "client", transport, "ping-sr-1", 300, "-c", "300", "-s", "600")
        server = messages(points, "server", transport, "ping-sr-1", 300, partners=("-c", "300"))
        checks += [client, innocent(5, "client", client), server, innocent(5, "server", server)]
        if transport == "RoCE":
            checks.append(Check(10, "client: a channel of its own, every event acked", client.case, judges.own_channel))
            text = "client: a receive is posted before rdma_connect"
            checks.append(Check(5, text, client.case, judges.receives_first("client", "rdma_connect")))
    text = "client: a server that is not there"
    checks.append(Check(10, text, case("RoCE", client=side("client", "-c", "1")), judges.complains("connection refused")))
    steps = [["start", "server"], ["listening", "server"], ["interrupt", "server"]]
    run = case("RoCE", server=side("server"), steps=steps)
    checks.append(Check(5, "server: Ctrl-C ends it", run, judges.interrupted("server", "rdma_listen")))
    return checks + [over_fakes(5, "ping-sr-2e", "client", "sweep"), over_fakes(5, "ping-sr-2e", "server", "sweep")]


def signaling() -> list[Check]:
    """A stream, with several values of --signal-every."""
    checks = []
    for transport, every, points in (("RoCE", 4, 15), ("RoCE", 1, 10), ("RoCE", 8, 10), ("iWARP", 4, 10)):
        own = side("client", "-c", "1000", "-b", "16", "--signal-every", str(every), "-w", "5", "-v")
        run = case(transport, server=side("blast-sr-2/server", "-v", "-j"), client=own)
        name = f"{transport}, --signal-every {every}"
        counted = judges.complete("server", "client", 1000, True)
        checks.append(Check(points, f"{name}: 1000 messages, verified", run, counted, own_word=False))
        if transport == "RoCE":
            checks.append(Check(10, f"{name}: which sends are signaled", run, judges.signaled(every, 1000)))
    return checks + [innocent(10, "client", checks[0]), over_fakes(5, "blast-sr-2", "client", "orderings")]


def verify() -> list[Check]:
    """A server that changes one byte of a message, and one that changes none."""
    checks = []
    for transport, points in (("RoCE", 15), ("iWARP", 5)):
        own = side("client", "-c", "200", "-s", "75", "-v", "-w", "5")
        run = case(transport, server=side("ping-sr-0/server", "-c", "200", "-s", "75", "-j"), client=own)
        text = f"{transport}: what came back whole is found good"
        checks.append(Check(points, text, run, judges.complete("server", "client", 200, False), own_word=False))
    checks.append(innocent(10, "client", checks[0]))
    for size, message, offset in ((64, 7, 0), (64, 30, 63), (75, 3, 74), (75, 0, 37), (5, 9, 3), (1, 2, 0)):
        own = side("client", "-c", "60", "-s", str(size), "-v", "-w", "5")
        bad = side("build/course/corrupt", "-c", "60", "-s", str(size), "--timeout", "5",
                   CORRUPT_MESSAGE=str(message), CORRUPT_BYTE=str(offset))  # fmt: skip
        run = case("RoCE", server=bad, client=own)
        text = f"byte {offset} of {size} is changed"
        checks.append(Check(10, text, run, judges.finds(message, offset)))
    return checks


def inline() -> list[Check]:
    """Small messages and large ones, and a device that grants no inline data."""
    small = messages(10, "client", "RoCE", "ping-sr-1", 300, "-c", "300", "-s", "64")
    large = messages(10, "client", "RoCE", "ping-sr-1", 100, "-c", "100", "-s", "65")
    return [
        small,
        Check(25, "client: messages of 64 bytes go inline", small.case, judges.inlined(300)),
        large,
        Check(10, "client: messages of 65 bytes do not", large.case, judges.inlined(100)),
        messages(10, "server", "iWARP", "ping-sr-1", 300, partners=("-c", "300", "-s", "64")),
        innocent(10, "client", small),
        over_fakes(15, "ping-sr-1", "client", "lines"),
    ]


def credits_() -> list[Check]:
    """Both roles of a stream, with many buffers and with one."""
    checks = []
    for transport, points in (("RoCE", 15), ("iWARP", 10)):
        own = side("client", "-c", "1000", "-b", "16", "-w", "5", "-v")
        run = case(transport, server=side("blast-sr-2/server", "-v", "-j"), client=own)
        text = f"client, {transport}: 1000 messages, verified"
        checks.append(Check(points, text, run, judges.complete("server", "client", 1000, True), own_word=False))
        run = case(transport, server=side("server"),
                   client=side("blast-sr-2/client", "-c", "1000", "-b", "16", "-w", "5", "-j"))  # fmt: skip
        text = f"server, {transport}: 1000 messages"
        checks.append(Check(points, text, run, judges.complete("client", "server", 1000, False), own_word=False))
    client, server = side("client", "-c", "200", "-b", "1", "-w", "5"), side("server")
    run = case("iWARP", server=server, client=client)
    checks.append(Check(5, "your client and your server with one buffer", run, judges.both_well))
    liar = case("RoCE", server=side("build/course/overcredit"), client=side("client", "-c", "2000", "-b", "16", "-w", "5"))
    checks.append(Check(10, "client: a server that returns more than it owes", liar, judges.complains("bad credits")))
    return checks + [
        innocent(5, "client", checks[0]),
        innocent(5, "server", checks[1]),
        over_fakes(5, "blast-sr-2", "client", "orderings"),
        over_fakes(10, "blast-sr-2", "server", "orderings"),
    ]


def srq() -> list[Check]:
    """One client, and two at once."""
    one = messages(15, "server", "RoCE", "ping-sr-1", 300, partners=("-c", "300"))
    return [
        one,
        messages(10, "server", "iWARP", "ping-sr-1", 300, "--pool", "4", partners=("-c", "300")),
        two_at_once(15, "RoCE", "--pool", "8"),
        Check(10, "server, RoCE: receives are posted in chains", one.case, judges.in_chains(300, 64)),
        Check(10, "server: the limit is armed", one.case, judges.limited),
        innocent(10, "server", one),
        over_fakes(10, "ping-srq-4", "server", "orderings"),
        over_fakes(10, "ping-srq-4", "server", "lines"),
    ]


def retry() -> list[Check]:
    """A server that starts late, or never."""
    checks = []
    for transport, points in (("RoCE", 25), ("iWARP", 10)):
        steps = [["start", "client"], ["traced", "client", '"rdma_connect"', 2], ["start", "server"]]
        own = side("client", "-c", "300", "-w", "30", "-v")
        run = case(transport, server=side("ping-sr-1/server", "-j"), client=own, steps=steps)
        text = f"{transport}: the server comes after the second attempt"
        checks.append(Check(points, text, run, judges.complete("server", "client", 300, False), own_word=False))
    steps = [["start", "client"], ["traced", "client", '"rdma_connect"', 2], ["interrupt", "client"]]
    left = case("RoCE", client=side("client", "-w", "60"), steps=steps)
    return checks + [
        Check(15, "nobody comes: it fails when -w is over", case("RoCE", client=side("client", "-w", "1")), judges.complains("connection refused")),
        Check(10, "Ctrl-C ends it while it tries", left, judges.interrupted("client", "rdma_connect")),
        innocent(10, "client", checks[0]),
        over_fakes(20, "ping-sr-1", "client", "lines"),
    ]


def asleep() -> list[Check]:
    """Both roles; whether the program sleeps; and whether each sleep ends."""
    client = messages(15, "client", "RoCE", "ping-sr-1", 300, "-c", "300")
    return [
        client,
        messages(10, "client", "iWARP", "ping-sr-1", 300, "-c", "300"),
        messages(10, "server", "RoCE", "ping-sr-1", 300, partners=("-c", "300")),
        Check(15, "client: it waits for events, and does not poll", client.case, judges.sleeps(300)),
        innocent(10, "client", client),
        over_fakes(15, "ping-sr-3", "client", "orderings"),
        over_fakes(15, "ping-sr-3", "client", "lines"),
    ]


def two_at_once(points: int, transport: str, *arguments: str) -> Check:
    """A client is served while another one, which is connected, stays."""
    steps = [
        ["start", "server"], ["listening", "server"],
        ["start", "holder"], ["said", "holder", "ibv_post_send", 3],  # the server is serving it now
        ["start", "client"], ["end", "client"], ["interrupt", "holder"],
    ]  # fmt: skip
    run = case(
        transport, steps=steps, server=side("server", "-n", "2", *arguments),
        holder=side("ping-sr-1/client", "-D", "120", "--rate", "20", "-T", "-w", "5"),
        client=side("ping-sr-1/client", "-c", "100", "-v", "-j", "--timeout", "15"),
    )  # fmt: skip
    text = f"server, {transport}: a client is served while another one stays"
    return Check(points, text, run, judges.complete("client", "server", 100, True), own_word=False)


def two_clients() -> list[Check]:
    """One client, and two at once."""
    one = messages(10, "server", "RoCE", "ping-sr-1", 300, partners=("-c", "300"))
    steps = [["start", "server"], ["listening", "server"], ["interrupt", "server"]]
    left = case("RoCE", server=side("server", "-n", "0"), steps=steps)
    return [
        one,
        two_at_once(30, "RoCE"),
        two_at_once(15, "iWARP"),
        Check(10, "server: Ctrl-C ends it", left, judges.interrupted("server", "rdma_listen")),
        innocent(10, "server", one),
        over_fakes(15, "ping-sr-2", "server", "orderings"),
    ]


def immediate() -> list[Check]:
    """Both roles, and the way without immediate data. RoCE only: iWARP has no immediate data."""
    both = ("--immediate",)
    client = messages(20, "client", "RoCE", "ping-rdma-3", 200, "-c", "200", *both, partners=both)
    return [
        client,
        messages(20, "server", "RoCE", "ping-rdma-3", 200, *both, partners=("-c", "200", *both)),
        messages(10, "client", "RoCE", "ping-rdma-3", 200, "-c", "200"),
        Check(10, "client: WRITEs with immediate data, numbered", client.case, judges.numbered(200)),
        innocent(10, "client", client),
        over_fakes(10, "ping-rdma-3", "client", "orderings"),
        over_fakes(10, "ping-rdma-3", "server", "orderings"),
    ]


def statistics() -> list[Check]:
    """Several kinds of values, and what a client prints about a run."""
    chance = random.SystemRandom()
    kinds: dict[tuple[int, str], list[int]] = {
        (20, "small values"): [chance.randrange(200) for _ in range(500)],
        (20, "values of all magnitudes"): [int(2 ** chance.uniform(0, 39)) for _ in range(1000)],
        (10, "one value"): [chance.randrange(10**6, 10**7)],
        (10, "the same value many times, and one far away"): [123457] * 400 + [2**39],
        (10, "no value at all"): [],
    }
    checks = [messages(10, "client", "RoCE", "ping-sr-1", 300, "-c", "300")]
    for (points, text), values in kinds.items():
        run = alone("probe-histogram", *map(str, values))
        checks.append(Check(points, text, run, judges.figures(values)))
    return checks + [over_fakes(10, "ping-sr-1", "client", "figures")]


def bare() -> list[Check]:
    """Both roles. RoCE only: on iWARP a connection needs the connection manager (CM)."""
    client = messages(25, "client", "RoCE", "ping-rc-0", 200, "-c", "200", partners=("-c", "200"))
    return [
        client,
        messages(25, "server", "RoCE", "ping-rc-0", 200, "-c", "200", partners=("-c", "200")),
        innocent(10, "client", client),
        over_fakes(15, "ping-rc-0", "client", "orderings"),
        over_fakes(15, "ping-rc-0", "server", "orderings"),
    ]


def private_data() -> list[Check]:
    """Both roles over both transports: RoCE pads private data, iWARP does not."""
    checks = []
    for transport in ("RoCE", "iWARP"):
        checks.append(messages(15, "client", transport, "ping-sr-1", 300, "-c", "300", "-s", "77"))
        checks.append(messages(15, "server", transport, "ping-sr-1", 300, partners=("-c", "300", "-s", "77")))
    return checks + [over_fakes(10, "ping-sr-1", "client", "lines"), over_fakes(20, "ping-sr-1", "server", "lines")]


CHECKS: dict[str, Callable[[], list[Check]]] = {
    "ping-sr-2e": ping_sr_2e,
    "signaling": signaling,
    "verify": verify,
    "inline": inline,
    "credits": credits_,
    "srq": srq,
    "retry": retry,
    "asleep": asleep,
    "two-clients": two_clients,
    "immediate": immediate,
    "statistics": statistics,
    "bare": bare,
    "private-data": private_data,
}
