# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of odd peers, hosts and devices that a student's program meets over the simulated device.

Place: read by over_sim.py. Contract: {server} and {client} are the stage's programs, of which one is the student's.
"""

from dataclasses import dataclass

ALL, PING, LADDER = ".*", "ping-sr.*", "ping-sr-.*"
NEGOTIATE = "ping-sr-[1-5]e?|blast-sr-2|ping-srq-4|ping-rdma-[123]"
PEER = "build/tests/peer --server --stage 0 {a} -c 9"
CLIENT = "{client} {a} -c 9 --timeout 5 -q -v"
INLINE = "env INLINE=%s {client} {a} -q -v -c 9 -s %d"


@dataclass(frozen=True)
class Odd:
    """A run, and what it has to be like."""

    what: str
    role: str  # the student's program
    stages: str  # a regular expression for names of stages
    line: str  # the programs of the run
    statuses: str  # exit statuses of the programs; -: any
    said: str = ""  # a part of stderr
    device: str = ""  # the only kind of device for this row: --roce or --iwarp
    calls: int = 1_000_000  # the most calls that the student's program makes; with more, it polls or tries again


def private_data(hexadecimal: str, good: bool, device: str = "") -> Odd:
    """A client with these bytes in its connect request."""
    client = f"build/tests/peer --client {{a}} --stage 1 -c 3 -s 64 --raw-private {hexadecimal}"
    refuses = f"a client with the private data {hexadecimal} is {'served' if good else 'refused'}"
    return Odd(refuses, "server", "ping-sr-1", f"{{server}} {{a}} -q ::: {client}", "0 0" if good else "0 3", device=device)


BASE = f"{3:016x}{64:016x}"
WHOLE = f"{BASE}{0:016x}4f555231"  # up to the magic number

ODD = (
    Odd("a server that falls silent", "client", PING, f"{PEER} --silent-after 3 ::: {CLIENT}", "- 1", "said nothing for 5 s"),
    Odd("a server that falls silent, while the client sleeps", "client", "ping-sr-[34]", f"{PEER} --silent-after 3 ::: {CLIENT}", "- 1", calls=500),
    Odd("a server that leaves", "client", PING, f"{PEER} --leave-after 3 ::: {CLIENT}", "- 1"),
    Odd("a server that does not answer the connect request", "client", PING,
        "ping-sr-1/server {a} -q -n 3 ::: ping-sr-1/client {a} -q -D 4 --rate 1 ::: {client} {a} -q -c 1 --timeout 2 -w 9", "- 0 1", "no answer"),
    Odd("a byte that is changed", "client", PING,
        f"env CORRUPT_MESSAGE=2 CORRUPT_BYTE=9 build/course/corrupt {{a}} -q -c 9 ::: {CLIENT}", "- 1", "message 2: byte 9"),
    Odd("an answer that is too short", "client", PING, f"env CORRUPT_MESSAGE=2 build/course/corrupt {{a}} -q -c 9 ::: {CLIENT}", "- 1", "63 bytes"),
    Odd("a server that refuses", "client", NEGOTIATE, f"{{server}} {{a}} -q --max-size 3 ::: {CLIENT}", "- 1", "refused us"),
    Odd("a server that refuses, and is not asked again", "client", NEGOTIATE, f"{{server}} {{a}} -q --max-size 3 ::: {CLIENT} -w 9", "- 1", "refused us", calls=200),
    Odd("a device that refuses inline data", "client", PING, f"{{server}} {{a}} -q -c 9 -s 64 ::: {INLINE}" % ("refused", 64), "0 0"),
    Odd("a device that grants no inline data", "client", PING, f"{{server}} {{a}} -q -c 9 -s 64 ::: {INLINE}" % ("none", 64), "0 0"),
    Odd("a server with two addresses", "client", PING, "{server} {a} -q -c 9 ::: {client} -a two.example -q -c 9", "0 0",
        "trying the next address of two.example"),
    Odd("a WRITE with a wrong number", "client", "ping-rdma-3", f"build/course/misnumber {{a}} -q --immediate ::: {CLIENT} --immediate", "- 1", device="--roce"),
    Odd("a client that writes after it has said that it is done", "server", "ping-rdma-1",
        "{server} {a} -q ::: build/tests/peer --client {a} -c 9 --reach stale", "- 0", device="--roce"),  # iWARP: too late to post
    Odd("a client that offers a depth of 0", "server", "ping-sr-[1-5]e?", "{server} {a} -q ::: build/tests/peer --client --stage 1 {a} -c 2 --depth 0", "0 0"),
    *(private_data(data, True) for data in (
        BASE, BASE + "00" * 4, BASE + "00" * 8, BASE + f"{7:016x}", BASE + "00" * 20,  # 16 bytes and 24, and padding
        WHOLE + "00010020", WHOLE + "00010020" + "00" * 5, WHOLE + "00020028" + "07" * 8, WHOLE + "00020020",
    )),
    *(private_data(data, False) for data in (
        "00" * 7, BASE[:-2],
        WHOLE[:-2] + "32" + "00010020", WHOLE + "00000020", WHOLE + "0001001f", WHOLE + "00010028" + "07" * 8,
        WHOLE + "00020039" + "07" * 8, WHOLE + "0002001f", WHOLE + "00010020" + "00" * 3 + "01", WHOLE + "00010020" + "01", WHOLE,
    )),
    # Half a number: on RoCE padding completes it.
    *(private_data(BASE + half, False, "--iwarp") for half in ("00" * 3 + "01", "07" * 7)),
)  # fmt: skip
