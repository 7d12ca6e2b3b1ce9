# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The checks for each exercise, and their points.

Place: between exercises.py and grade.py. Contract: a function for each exercise, which draws counts, sizes and the
like. Whatever it draws, the same edges are reached. The points of its checks and grade.BUILD_POINTS add up to 100. The
starting tree has at most 40 of them, and passes no check that is marked as key. A lazy solution has at most 70.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from . import judges, kernel, pieces, variants
from .cases import ITSELF, KERNEL, PARTNER, Check, alone, case, draw_count, innocent, key, messages, over_sim, side


def ping_sr_2e(chance: Random) -> list[Check]:
    """Both roles, over both transports."""
    checks = []
    for transport in ("RoCE", "iWARP"):
        size = str(chance.randrange(300, 1200))
        client = key(messages(5, "client", transport, "ping-sr-1", draw_count(chance), "-s", size))
        server = messages(5, "server", transport, "ping-sr-1", draw_count(chance))
        checks += [client, server]
        if transport == "RoCE":
            checks += [innocent(5, "client", client), innocent(5, "server", server)]
            checks.append(Check(10, "client: a channel of its own, every event acked", client.case, judges.own_channel))
            text = "client: a receive is posted before rdma_connect"
            checks.append(Check(5, text, client.case, judges.receives_first("client", "rdma_connect")))
    text = "client: a server that is not there"
    lost = case("RoCE", client=side("client", "-s", size, "-c", str(draw_count(chance)), "-w", "5", "-v"))
    checks.append(Check(5, text, lost, kernel.tried(1, judges.complains("connection refused"))))
    steps = [["start", "server"], ["listening", "server"], ["interrupt", "server"]]
    run = case("RoCE", server=side("server"), steps=steps)
    checks.append(Check(5, "server: Ctrl-C ends it", run, judges.interrupted("server", "rdma_listen")))
    return checks + [
        over_sim(15, "ping-sr-2e", "client", "odd"),
        over_sim(10, "ping-sr-2e", "client", "sweep"),
        over_sim(10, "ping-sr-2e", "server", "sweep"),
    ]


def echoed(points: int, transport: str, count: int, size: int) -> Check:
    """A run of a server of ping-sr-0, which has to be told count and size."""
    agreed = ("-c", str(count), "-s", str(size))
    run = messages(points, "server", transport, "ping-sr-0", count, *agreed, partners=("-s", str(size)))
    return replace(run, text=f"server, {transport}: {count} messages of {size} bytes")


def header(chance: Random, length: int = 16) -> list[Check]:
    """Messages with a payload, and messages that are only a header."""
    count = draw_count(chance)
    large = echoed(5, "RoCE", count, chance.randrange(100, 2049))
    text = "server, RoCE: each send is gathered from two regions"
    return [
        large,
        Check(25, text, large.case, pieces.gathered(length, count), KERNEL, key=True),
        Check(10, "server: each receive is scattered", large.case, pieces.scattered(length, count), each_message=True),
        echoed(10, "iWARP", draw_count(chance), chance.randrange(length + 1, 64)),
        *(replace(echoed(5, "RoCE", draw_count(chance), size), needs=text) for size in (1, chance.randrange(2, length), length)),
        replace(echoed(20, "iWARP", draw_count(chance), chance.randrange(1, length)), needs=text),
        innocent(5, "server", large),
    ]


def signaling(chance: Random) -> list[Check]:
    """A stream in which the buffers are used again and again, with several values of --signal-every."""
    buffers = chance.randrange(12, 25)
    odd = [every for every in range(2, 12) if buffers % every and every % 2]
    even = [every for every in range(2, 12) if buffers % every and every % 2 == 0]
    checks = []
    for transport, every, seen, said in (("RoCE", chance.choice(odd), 5, 25), ("RoCE", chance.choice(even), 5, 15),
                                         ("RoCE", 1, 0, 5), ("iWARP", chance.choice(odd), 5, 20)):  # fmt: skip
        count = chance.choice([n for n in range(700, 800) if n % buffers and (n % every or every == 1)])
        own = side("client", "-c", str(count), "-b", str(buffers), "--signal-every", str(every), "-w", "5", "-v")
        run = case(transport, server=side("blast-sr-2/server", "-v", "-j"), client=own)
        name = f"{transport}, {buffers} buffers, --signal-every {every}"
        if seen:
            counted = judges.complete("server", "client", count, True)
            checks.append(Check(seen, f"{name}: {count} messages, verified", run, counted, by=PARTNER))
        by = KERNEL if transport == "RoCE" else ITSELF  # soft-iWARP is not watched
        signaled = judges.signaled(every, count)
        checks.append(Check(said, f"{name}: which sends are signaled", run, signaled, by, by == KERNEL and every > 1, each_message=by == ITSELF))
    return checks + [innocent(5, "client", checks[0]), over_sim(5, "blast-sr-2", "client", "orderings")]


def verify(chance: Random) -> list[Check]:
    """A server that changes one byte of a message, and one that changes none."""
    checks = []
    words, rest = 8 * chance.randrange(4, 20), chance.randrange(1, 8)
    odd_size, middle = words + rest, chance.randrange(9, words - 1)
    for transport, size in (("RoCE", odd_size), ("RoCE", words), ("RoCE", rest), ("iWARP", odd_size)):
        count = draw_count(chance)
        agreed = ("-c", str(count), "-s", str(size))
        run = case(transport, server=side("ping-sr-0/server", *agreed, "-j"), client=side("client", *agreed, "-v", "-w", "5"))
        text = f"{transport}, {size} bytes: what came back whole is found good"
        checks.append(Check(5, text, run, judges.complete("server", "client", count, False), by=PARTNER))
    checks.append(innocent(10, "client", checks[0]))
    changed = [(words, 0), (words, words - 1), (odd_size, odd_size - 1), (odd_size, middle), (rest, rest - 1), (1, 0)]
    for (size, offset), message in zip(changed, [0, *chance.sample(range(1, 200), 5)]):
        agreed = ("-c", str(draw_count(chance)), "-s", str(size))
        bad = side("build/course/corrupt", *agreed, "--timeout", "5", CORRUPT_MESSAGE=str(message), CORRUPT_BYTE=str(offset))
        run = case("RoCE", server=bad, client=side("client", *agreed, "-v", "-w", "5"))
        finds = judges.finds(message, offset)
        checks.append(Check(10, f"byte {offset} of {size} is changed", run, finds, PARTNER, key=not message))
    return checks


def inline(chance: Random) -> list[Check]:
    """Small messages and large ones, and devices that grant less inline data, or none."""
    few, many = draw_count(chance), draw_count(chance)
    small = messages(5, "client", "RoCE", "ping-sr-1", few, "-s", "64")
    large = messages(5, "client", "RoCE", "ping-sr-1", many, "-s", "65")
    return [
        small,
        Check(25, "client: messages of 64 bytes go inline", small.case, judges.inlined(few), KERNEL, key=True),
        large,
        Check(5, "client: messages of 65 bytes do not", large.case, judges.inlined(many), KERNEL),
        messages(10, "server", "iWARP", "ping-sr-1", draw_count(chance), partners=("-s", str(chance.randrange(1, 65)))),
        innocent(5, "client", small),
        over_sim(35, "ping-sr-1", "client", "odd"),
    ]


def credits_(chance: Random) -> list[Check]:
    """Both roles of a stream, with many buffers and with one."""
    checks = []
    for transport, points in (("RoCE", 10), ("iWARP", 5)):
        count, buffers = draw_count(chance, 700), str(chance.randrange(12, 25))
        own = side("client", "-c", str(count), "-b", buffers, "-w", "5", "-v")
        run = case(transport, server=side("blast-sr-2/server", "-v", "-j"), client=own)
        text = f"client, {transport}: {count} messages, verified"
        checks.append(Check(points, text, run, judges.complete("server", "client", count, True), PARTNER, key=True))
        run = case(transport, server=side("server"),
                   client=side("blast-sr-2/client", "-c", str(count), "-b", buffers, "-w", "5", "-j"))  # fmt: skip
        text = f"server, {transport}: {count} messages"
        checks.append(Check(points, text, run, judges.complete("client", "server", count, False), PARTNER, key=True))
    client, server = side("client", "-c", str(draw_count(chance)), "-b", "1", "-w", "5"), side("server")
    run = case("iWARP", server=server, client=client)
    checks.append(Check(5, "your client and your server with one buffer", run, judges.both_well))
    # As many credits as there are buffers are always too many, because at least one message was not credited before.
    lies = side("build/course/overcredit", OVERCREDIT=buffers)
    own = side("client", "-c", str(draw_count(chance, 700)), "-b", buffers, "-w", "5", "-v")
    liar = case("RoCE", server=lies, client=own)
    checks.append(Check(30, "client: a server that returns more than it owes", liar, judges.refuses_credits(int(buffers)), PARTNER))
    return checks + [
        innocent(5, "client", checks[0]),
        innocent(5, "server", checks[1]),
        over_sim(5, "blast-sr-2", "client", "orderings", 0),
        over_sim(10, "blast-sr-2", "server", "orderings", 1),
    ]


def srq(chance: Random) -> list[Check]:
    """One client, and two at once."""
    count, pool = draw_count(chance, 300), chance.randrange(32, 65)
    low = two_at_once(chance, 0, "RoCE", "--pool", "2", least=1000, rate=500)
    one = key(messages(5, "server", "RoCE", "ping-sr-1", count, "--pool", str(pool)))
    return [
        one,
        messages(5, "server", "iWARP", "ping-sr-1", draw_count(chance), "--pool", str(chance.randrange(4, 9))),
        two_at_once(chance, 5, "RoCE", "--pool", str(chance.randrange(8, 17))),
        Check(30, "server, RoCE: receives are posted in chains", one.case, judges.in_chains(count, pool), each_message=True),
        Check(30, "server: the limit is armed again and again", low.case, kernel.limited, KERNEL),
        innocent(5, "server", one),
        over_sim(10, "ping-srq-4", "server", "orderings"),
    ]


def retry(chance: Random) -> list[Check]:
    """A server that starts late, or never."""
    checks = []
    wait = ("-w", str(chance.randrange(12, 18)), "-v")
    for transport, points in (("RoCE", 15), ("iWARP", 10)):
        attempts, count = chance.randrange(2, 5), draw_count(chance)
        steps = [["start", "client"], ["seen", "client", "rdma_connect", attempts], ["start", "server"]]
        own = side("client", "-c", str(count), *wait)
        run = case(transport, server=side("ping-sr-1/server", "-j"), client=own, steps=steps)
        text = f"{transport}: the server comes after {attempts} attempts"
        complete = judges.complete("server", "client", count, False)
        checks.append(Check(points, text, run, kernel.tried(attempts + 1, complete), PARTNER, key=True))
    steps = [["start", "client"], ["seen", "client", "rdma_connect", attempts], ["interrupt", "client"]]
    nobody = case("RoCE", client=side("client", "-c", str(draw_count(chance)), *wait))
    left = case("RoCE", client=side("client", "-c", str(draw_count(chance)), *wait), steps=steps)
    steps = [["start", "server"], ["listening", "server"], ["start", "client"], ["end", "client"], ["interrupt", "server"]]
    refused = case("RoCE", server=side("ping-sr-1/server", "--max-size", "3"),
                   client=side("client", "-c", str(draw_count(chance)), *wait), steps=steps)  # fmt: skip
    return checks + [
        Check(15, "nobody comes: it fails when -w is over", nobody, kernel.tried(2, judges.complains("connection refused"))),
        Check(10, "a server that refuses it: it does not try again", refused, kernel.gave_up(judges.complains("refused us")), KERNEL),
        Check(10, "Ctrl-C ends it while it tries", left, judges.interrupted("client", "rdma_connect")),
        innocent(5, "client", checks[0]),
        over_sim(25, "ping-sr-1", "client", "odd"),
    ]


def asleep(chance: Random) -> list[Check]:
    """Both roles: the program sleeps, and each sleep ends."""
    count = draw_count(chance)
    # The partner sleeps, too, because one that polls may answer before the client's CQ is armed.
    client = key(messages(10, "client", "RoCE", "ping-sr-3", count))
    slow = messages(0, "server", "RoCE", "ping-sr-1", 40, partners=("--rate", "5", "-T"))
    slow.case["steps"] = [["start", "server"], ["listening", "server"], ["start", "client"],
                          ["said", "client", "ibv_post_send", 5], ["meter", "server"],
                          ["said", "client", "ibv_post_send", 35], ["meter", "server"]]  # fmt: skip
    return [
        client,
        messages(5, "client", "iWARP", "ping-sr-1", draw_count(chance)),
        messages(5, "server", "RoCE", "ping-sr-1", draw_count(chance)),
        Check(25, "client: it waits for events", client.case, kernel.wakes(count), KERNEL, key=True),
        Check(5, "client: it does not poll", client.case, judges.sleeps(count), each_message=True),
        Check(10, "server: it sleeps between messages", slow.case, kernel.idle(slow.judge), KERNEL, key=True),
        innocent(5, "client", client),
        over_sim(10, "ping-sr-3", "client", "orderings"),
        over_sim(15, "ping-sr-3", "client", "odd"),
    ]


def two_at_once(chance: Random, points: int, transport: str, *arguments: str, least: int = 100, rate: int = 20) -> Check:
    """A client is served while another one, which is connected, stays."""
    steps = [
        ["start", "server"], ["listening", "server"],
        ["start", "holder"], ["said", "holder", "ibv_post_send", 3],  # the server is serving the holder now
        ["start", "client"], ["end", "client"], ["interrupt", "holder"],
    ]  # fmt: skip
    count = draw_count(chance, least)
    run = case(
        transport, steps=steps, server=side("server", "-n", "2", *arguments),
        holder=side("ping-sr-1/client", "-D", "120", "--rate", str(rate), "-T", "-w", "5"),
        client=side("ping-sr-1/client", "-c", str(count), "-v", "-j", "--timeout", "15"),
    )  # fmt: skip
    text = f"server, {transport}: a client is served while another one stays"
    return Check(points, text, run, judges.complete("client", "server", count, True), by=PARTNER)


def two_clients(chance: Random) -> list[Check]:
    """One client, and two at once."""
    one = messages(5, "server", "RoCE", "ping-sr-1", draw_count(chance))
    steps = [["start", "server"], ["listening", "server"], ["interrupt", "server"]]
    left = case("RoCE", server=side("server", "-n", "2"), steps=steps)
    both = key(two_at_once(chance, 25, "RoCE"))
    return [
        one,
        both,
        two_at_once(chance, 15, "iWARP"),
        Check(5, "server: Ctrl-C ends it", left, judges.interrupted("server", "rdma_listen")),
        innocent(5, "server", one),
        over_sim(5, "ping-sr-2", "server", "orderings"),
        replace(over_sim(30, "ping-sr-2", "server", "sweep"), needs=both.text),  # a server without threads passes this one
    ]


def immediate(chance: Random) -> list[Check]:
    """Both roles, and the way without immediate data. RoCE only: iWARP has no immediate data."""
    both, count = ("--immediate",), draw_count(chance)
    client = key(messages(15, "client", "RoCE", "ping-rdma-3", count, *both, partners=both))
    return [
        client,
        messages(15, "server", "RoCE", "ping-rdma-3", draw_count(chance), *both, partners=both),
        messages(5, "client", "RoCE", "ping-rdma-3", draw_count(chance)),
        Check(10, "client: WRITEs with immediate data, numbered", client.case, judges.numbered(count), KERNEL),
        innocent(5, "client", client),
        over_sim(5, "ping-rdma-3", "client", "orderings", 0),
        over_sim(5, "ping-rdma-3", "server", "orderings", 1),
        over_sim(30, "ping-rdma-3", "client", "odd"),
    ]


def statistics(chance: Random) -> list[Check]:
    """Several kinds of values, and what a client prints about a run."""
    first, step, one = chance.randrange(1, 6), chance.randrange(1, 4), chance.randrange(10**6, 10**7)
    times, often = chance.randrange(300, 500), chance.randrange(10**5, 10**6)
    scales = [range(first * 10**k, first * 10 ** (k + 1), max(1, first * 10**k // 7)) for k in range(11)]
    seq = " ".join(f"$(seq {values[0]} {values.step} {values[-1]})" for values in scales)
    small = range(first, 256, step)
    kinds: list[tuple[int, str, str, list[int]]] = [
        (25, "small values", f"$(seq {first} {step} {small[-1]})", list(small)),
        (30, "values of all magnitudes", seq, [value for values in scales for value in values]),
        (10, "one value", str(one), [one]),
        (15, "the same value many times, and one far away", f"$(yes {often} | head -n {times}) {2**39}",
         [often] * times + [2**39]),
        (5, "no value at all", "", []),
    ]  # fmt: skip
    checks = [messages(5, "client", "RoCE", "ping-sr-1", draw_count(chance))]
    for points, text, shown, values in kinds:
        chance.shuffle(values)
        run, part = alone("probe-histogram", "-"), chance.randrange(len(values) + 1)
        run["client"] |= {"calls": judges.questions(values, part), "shown": shown}  # the student's command shows the same values, in short
        checks.append(Check(points, text, run, judges.figures(values, part), PARTNER, len(values) > 1))
    return checks


def bare(chance: Random, timeout: int = 0, retries: int = 0) -> list[Check]:
    """Both roles. RoCE only: on iWARP a connection needs the connection manager (CM). With a variant, the numbers of the
    variant earn 20 of the client's points; only the client's trace shows them."""
    of_client, of_server = draw_count(chance), draw_count(chance)
    client = key(messages(5 if timeout else 20, "client", "RoCE", "ping-rc-0", of_client, partners=("-c", str(of_client))))
    tries = variants.tries("client", timeout, retries)
    return [
        client,
        *[Check(20, "client: how long and how often it tries", client.case, tries)] * bool(timeout),
        messages(20, "server", "RoCE", "ping-rc-0", of_server, "-c", str(of_server)),
        innocent(5 if timeout else 10, "client", client),
        over_sim(5, "ping-rc-0", "client", "orderings", 0),
        over_sim(5, "ping-rc-0", "server", "orderings", 1),
        over_sim(15, "ping-rc-0", "client", "calls"),
        over_sim(15, "ping-rc-0", "server", "calls"),
    ]


def private_data(chance: Random) -> list[Check]:
    """Both roles over both transports: RoCE pads private data, iWARP does not."""
    checks = []
    for transport in ("RoCE", "iWARP"):
        size = str(chance.randrange(65, 1200))
        checks.append(key(messages(10, "client", transport, "ping-sr-1", draw_count(chance), "-s", size)))
        checks.append(messages(10, "server", transport, "ping-sr-1", draw_count(chance), partners=("-s", size)))
    return checks + [over_sim(15, "ping-sr-1", "client", "calls"), over_sim(35, "ping-sr-1", "server", "odd")]


def recover(chance: Random, tag: int = 0) -> list[Check]:
    """A server that dies and comes back, as soon as over real drivers, and each call over the simulated device."""
    checks = []
    for transport in ("RoCE", "iWARP"):
        count = draw_count(chance, 100)
        server = side("course/partners/comes-again", "2", "beyond/ping-reconnect-2/server", "-n", "0")
        own = side("client", "-c", str(count), "-v", "-w", "30", "--rate", "100")
        steps = [["start", "server"], ["listening", "server"], ["start", "client"], ["end", "client"], ["interrupt", "server"]]
        run = case(transport, server=server, client=own, steps=steps)
        text = f"client, {transport}: the server is killed twice, and {count} messages are done once each"
        checks.append(Check(20, text, run, judges.done_once(count, tag), PARTNER, key=True))
    return checks + [innocent(5, "client", checks[0]), over_sim(45, "ping-reconnect-2", "client", "flaps", chance.randrange(1, 10000), tag)]


def exactly_once(chance: Random, offset: int = 0) -> list[Check]:
    """A server that adds, is killed and comes back, over real drivers, and at any call over the simulated device."""
    checks = []
    for transport in ("RoCE", "iWARP"):
        count = draw_count(chance, 100)
        steps = [["start", "server"], ["listening", "server"], ["start", "client"],
                 *[step for kill in (20, 60) for step in (["printed", "client", "got", kill], ["restart", "server"])],
                 ["end", "client"], ["interrupt", "server"]]  # fmt: skip
        own = side("server", "-n", "0", "--journal", "/tmp")
        adder = side("build/course/adder", "-c", str(count), "-v", "-q", "-w", "30", "--rate", "100", ADDER=f"{chance.randrange(1, 100)},{offset}")
        run = case(transport, server=own, client=adder, steps=steps)
        text = f"server, {transport}: killed twice, and {count} additions are executed once each"
        checks.append(Check(20, text, run, judges.added_once(count), PARTNER, key=True))
    return checks + [innocent(5, "server", checks[0]), over_sim(45, "ping-reconnect-2", "server", "once", chance.randrange(1, 10000), offset)]


CHECKS: dict[str, Callable[..., list[Check]]] = {
    "ping-sr-2e": ping_sr_2e,
    "header": header,
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
    "recover": recover,
    "exactly-once": exactly_once,
}
