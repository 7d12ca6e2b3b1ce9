# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of course/judges.py, course/reasons.py and of what course/checks.py draws, with made-up results.

Contract: no program of a submission is run here; course/tests/graded runs some.
"""

import ast
import json
import re
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from course import cases, grade, judges, kernel, over_sim, pieces, reasons
from course.checks import CHECKS
from course.judges import Judge
from course.reasons import Result

WAITS = "used no CPU for 20 s"  # the same words as in course/run_cases.py
RUNS = "was still running after 40 s"


def of(status: int | str = 0, out: str = "", err: str = "", trace: tuple[Result, ...] = ()) -> Result:
    """The result of a process."""
    return {"status": status, "out": out, "err": err, "trace": [json.dumps(call) for call in trace]}


def counted(messages: int, verified: bool = True) -> str:
    """The line that a partner prints."""
    return json.dumps({"count": messages - 30, "warm_up": 30, "verified": verified})


def post(opcode: str, **more: object) -> Result:
    """A call of ibv_post_send with one work request."""
    return {"call": "ibv_post_send", "args": {"wr": [{"opcode": opcode, "sge": [{"length": 64}], **more}]}}


ALL_WELL = {"client": of(), "server": of(out=counted(300))}
CONNECT: Result = {"call": "rdma_connect"}
NOTIFY, EVENT = {"call": "ibv_req_notify_cq"}, {"call": "ibv_get_cq_event"}
QP: Result = {"call": "rdma_create_qp", "result": 0, "args": {"qp_init_attr": {"cap": {"inline": 64}}}}
LEFT = "server: the client left after 4 messages"
COMPLETE = judges.complete("server", "client", 300, True)


def test_each_kind() -> None:
    hung = of(WAITS, err="listening on 192.0.2.1")
    table = [
        (of(3), "your client exited with status 3; expected: exit status 0; it wrote nothing to stderr"),
        (of(1, err="a\nno device\n"), "your client exited with status 1; expected: exit status 0; its last line on stderr: no device"),
        (of(0), "your client exited with status 0 while our server still waited for it; expected: 300 messages"),
        (of(WAITS), "your client used no CPU for 20 s; expected: exit status 0; it wrote nothing to stderr"),
        (of(RUNS), "your client was still running after 40 s; expected: exit status 0; it wrote nothing to stderr"),
        (of(-11), "your client was killed by signal SIGSEGV; expected: exit status 0; it wrote nothing to stderr"),
        (of(134), "your client was killed by signal SIGABRT; expected: exit status 0; it wrote nothing to stderr"),
    ]  # fmt: skip
    for client, reason in table:
        assert COMPLETE({"client": client, "server": hung}) == reason


def test_a_server_that_failed() -> None:
    reason = COMPLETE({"client": of(), "server": of(1, err="server: too long\n")})
    assert reason == (
        "your client exited with status 0, but our server exited with status 1; expected: 300 messages; "
        "our server: its last line on stderr: server: too long"
    )


def test_a_server_without_a_client() -> None:
    reason = "your client exited with status 0 without a connection to our server; expected: 300 messages"
    assert COMPLETE({"client": of(), "server": of()}) == reason


def test_the_end_comes_before_what_is_missing() -> None:
    """A program that crashed has posted too little, and that is not the reason."""
    crashed = {"client": of(-11, trace=(CONNECT,)), "server": of(trace=())}
    every: list[Judge] = [
        judges.innocent("client"), judges.receives_first("client", "rdma_connect"), judges.own_channel,
        judges.signaled(3, 300), judges.inlined(300), judges.numbered(300), judges.sleeps(300),
        judges.figures([1], 0), judges.over_sim("client"), judges.both_well,
        judges.complains("bad"), judges.finds(3, 7), judges.interrupted("client", "rdma_connect"),
    ]  # fmt: skip
    for judge in every:
        assert re.search(r"\byour .* was killed by signal SIGSEGV", judge(crashed))
    crashed = {"client": of(), "server": of(-11)}
    for judge in (judges.in_chains(300, 64), kernel.limited):
        assert "your server was killed by signal SIGSEGV" in judge(crashed)


def test_who_sleeps() -> None:
    """A program that sleeps reads events, and lets poll(2) look at the channel twice for each sleep; one that polls reads
    as many events."""
    for events, looks, empty, reason in (
        (208, 416, 0, ""), (26, 830, 2, ""), (25, 50, 0, "read 25 completion"), (208, 833, 0, "looked 833 times"), (208, 3, 9000, "looked 9003 times")
    ):  # fmt: skip
        client = {**of(), "kernel": {"get_cq_event": events, "poll_channel": looks, "get_cq_event_empty": empty}}
        found = kernel.wakes(208)({"client": client})
        assert (reason in found) and bool(found) == bool(reason)


def test_who_does_not() -> None:
    """Only the CPU time between two looks counts, whatever was used before."""
    for cpu, reason in ((93.4, ""), (96.5, "used 3.5 s of CPU time in 6.0 s")):
        server = {**of(), "kernel": {"meter": [[100, 93], [106, cpu]]}}
        found = kernel.idle(lambda _: "")({"server": server})
        assert (reason in found) and bool(found) == bool(reason)
    assert kernel.idle(lambda _: "it crashed")({"server": of(-11)}) == "it crashed"


def test_who_tries_again() -> None:
    refused = judges.complains("refused us")
    for times, err, reason in ((1, "refused us", ""), (0, "refused us", "called rdma_connect 0 times"), (7, "refused us", "called rdma_connect 7 times"), (1, "gone", "expected: 'refused us'")):
        found = kernel.gave_up(refused)({"client": {**of(1, err=err), "kernel": {"rdma_connect": times}}})
        assert (reason in found) and bool(found) == bool(reason)


def test_who_arms_again() -> None:
    table: list[tuple[list[int], int, str]] = [
        ([1] * 40, 39, ""), ([1], 1, "armed the limit 1 times, and it was reached 1 times"), ([1, 0] * 9, 9, "limit to 0"), ([], 0, "did not call"),
        ([1] * 40, 1, "armed the limit 40 times, and it was reached 1 times"),
    ]  # fmt: skip
    for limits, low, reason in table:
        found = kernel.limited({"server": {**of(), "kernel": {"limits": limits, "low": low}}})
        assert (reason in found) and bool(found) == bool(reason)


def test_what_a_terminal_would_obey() -> None:
    """No reason has characters that a terminal obeys, wherever the reason is from."""
    bad = "\x1b]0;x\x07\x9b2J\u202e\udcff"
    reasons_ = [COMPLETE({"client": of(1, err=bad), "server": of()}), grade.mark_of_build(1, f"x.c:1: error: {bad}").reason,
                judges.over_sim("client")({"client": of(1, f"not ok: {bad}")})]  # fmt: skip
    for reason in reasons_:
        assert "0;x" in reason and grade.Mark(0, 1, "", reason).reason.isprintable()


def test_what_the_partner_has_counted() -> None:
    assert COMPLETE(ALL_WELL) == ""
    for count in (299, 301):
        due = f"your client exchanged {count} messages with our server; expected: 300"
        assert COMPLETE({"client": of(), "server": of(out=counted(count))}) == due
    assert "changed a message" in COMPLETE({"client": of(), "server": of(out=counted(300, verified=False))})


def test_what_was_posted() -> None:
    def signaled(number: int) -> Result:
        return post("SEND", flags="SIGNALED" if number % 3 == 2 else "")

    made: dict[str, tuple[Judge, Callable[[int], Result], tuple[Result, ...]]] = {
        "sends": (judges.signaled(3, 20), signaled, ()),
        "inline": (judges.inlined(20), lambda _: post("SEND", flags="SIGNALED|INLINE"), (QP,)),
        "WRITEs": (judges.numbered(20), lambda number: post("RDMA_WRITE_WITH_IMM", imm=str(number)), ()),
        "sleeps": (judges.sleeps(20), lambda _: post("SEND"), (NOTIFY, EVENT)),
    }
    for name, (judge, request, before) in made.items():
        for count in (19, 20, 21):
            result = {"client": of(trace=(*before, *map(request, range(count))))}
            found = judge(result)
            assert (found == "") == (count == 20), f"{name}: {found}"
            assert ("" if count == 20 else f"posted {count} ") in found


def test_the_trace_is_not_asked_for_what_the_kernel_watches() -> None:
    """A message that the kernel has not seen was not sent, and one that was sent otherwise counts, too."""
    judge, trace = judges.signaled(1, 1), (post("SEND", flags="SIGNALED"),)
    table: list[tuple[list[Result] | None, str]] = [
        (None, ""), ([], "posted 0 sends"), ([{"opcode": "SEND", "flags": "SIGNALED"}], ""),
        ([{"opcode": "SEND_WITH_IMM"}, {"opcode": "SEND", "flags": "SIGNALED"}], "send 1 of your client was not signaled"),
    ]  # fmt: skip
    for kernel_saw, reason in table:
        found = judge({"client": {**of(trace=trace), "kernel": {"sends": kernel_saw}}})
        assert (reason in found) and bool(found) == bool(reason), kernel_saw


def test_receives_of_a_pool() -> None:
    for receives, good in ((96, False), (100, True), (116, True), (120, False)):
        chain: Result = {"call": "ibv_post_srq_recv", "args": {"recv_wr": [{}] * 4}}
        found = judges.in_chains(100, 16)({"server": of(trace=(chain,) * (receives // 4))})
        assert (found == "") == good, f"{receives}: {found}"


def test_more_inline_data_than_due() -> None:
    more = {**QP, "args": {"qp_init_attr": {"cap": {"inline": 256}}}}
    found = judges.inlined(1)({"client": of(trace=(more, post("SEND", flags="INLINE")))})
    assert found == "your client was granted 256 bytes of inline data; expected: it asks for 64"


def test_a_byte_with_more_digits() -> None:
    for text, good in (("message 3: byte 7 is", True), ("message 3: byte 74 is", False), ("message 3: byte 7", True)):
        assert (judges.finds(3, 7)({"client": of(1, err=text), "server": of(err=LEFT)}) == "") == good, text


def test_what_is_said_agrees_with_what_was_done() -> None:
    """The server has seen no more messages than a client sends that has noticed it; and one reason is said, once."""
    byte, credits = judges.finds(3, 7), judges.refuses_credits(20)
    lied = "overcredit: too many, after 10 credits\n"
    for judge, said, seen, reason in (
        (byte, "message 3: byte 7 is", "after 5 messages", "left after 5 messages; expected: 4"),
        (byte, "message 3: byte 7 is\nmessage 3: byte 8 is", LEFT, "once"),
        (byte, "message 3: byte 7 is", "", "left after -1"),
        (credits, "bad credits: 25", lied + "after 30 messages", ""),
        (credits, "bad credits: 25", lied + "after 31 messages", "after 31 messages; expected: at most 30"),
        (credits, "bad credits: 25", lied, "after -1 messages"),
        (credits, "bad credits: 25", "after 30 messages", "before our server had returned more"),
        (credits, "another reason", lied + "after 30 messages", "expected: 'bad credits'"),
    ):
        found = judge({"client": of(1, err=said), "server": of(err=seen)})
        assert (reason in found) and bool(found) == bool(reason), (said, seen, found)


def test_figures_of_a_histogram() -> None:
    values, first = [5, 1, 900, 70, 6], 2

    def answers(of_them: list[int]) -> list[int]:
        mean = struct.unpack("Q", struct.pack("d", sum(of_them) / len(of_them)))[0]
        by_size = sorted(of_them)
        percents = [by_size[max(0, -(-percent * len(by_size) // 1000) - 1)] for percent in (0, 10, 500, 900, 990, 999, 1000)]
        return [len(of_them), min(of_them), max(of_them), mean, *percents]

    good = [0, 0, *answers(values[:first]), 0, 0, 0, *answers(values)]
    assert judges.figures(values, first)({"client": {**of(), "returned": good}}) == ""
    for place, name in ((2, "count of 2"), (3, "min of 2"), (5, "mean of 2"), (8, "percentile 50 of 2"), (-1, "percentile 100 of 5")):
        bad = [*good[: place % len(good)], 77, *good[place % len(good) + 1 :]]
        assert f" as {name} values" in judges.figures(values, first)({"client": {**of(), "returned": bad}})
    early = judges.figures(values, first)({"client": {**of(-9), "returned": good[:-1]}})
    assert early.startswith("the program with your histogram was killed by signal SIGKILL before call 27 of 27")


def shape(side: Result) -> tuple[str, ...]:
    """A command line without its numbers."""
    return tuple(re.sub(r"\d+", "N", word) for word in side["arguments"])


def numbers(side: Result) -> list[int]:
    """The numbers of a command line."""
    return [int(word) for word in side["arguments"] if word.isdigit()]


ALWAYS = "build/course/adder"  # the partner in each case of "exactly-once", where something always goes wrong


def test_no_case_is_told_by_its_command_line() -> None:
    """If something goes wrong in a case, the submission is started as in one in which all is well."""
    for name, checks in CHECKS.items():
        drawn = [check.case for seed in range(100) for check in checks(Random(seed))]
        for role in ("client", "server"):
            good: dict[tuple[str, ...], list[list[int]]] = {}
            odd: dict[tuple[str, ...], list[list[int]]] = {}
            for case in drawn:
                own, other = case.get(role, {}), case.get("server" if role == "client" else "client")
                if own.get("program") != role:
                    continue
                well = other and not other["program"].startswith("build/") and ["interrupt", role] not in [step[:2] for step in case.get("steps", [])]
                well = well or other and other["program"] == ALWAYS
                (good if well else odd).setdefault(shape(own), []).append(numbers(own))
            assert odd.keys() <= good.keys(), (name, odd.keys() - good.keys())
            for words, every in odd.items():
                for one, other in zip(zip(*every), zip(*good[words])):
                    assert min(other) - 2 <= min(one) and max(one) <= max(other) + 2, (name, words)


def test_the_same_seed() -> None:
    for name, checks in CHECKS.items():
        drawn = [[check.case for check in checks(Random(seed))] for seed in (1, 1, 2, 3)]
        assert drawn[0] == drawn[1], name
        assert drawn[0] != drawn[2] != drawn[3] != drawn[0], name


def test_each_reaches_the_edges() -> None:
    for seed in range(200):
        for check in CHECKS["signaling"](Random(seed)):
            words = check.case["client"]["arguments"]
            if "--signal-every" in words:
                count, buffers, every = (int(words[words.index(name) + 1]) for name in ("-c", "-b", "--signal-every"))
                divides = [every == 1 or number % every for number in (count, buffers)]
                assert all(divides) and every <= buffers and count > 20 * buffers, words
        sizes = []
        for check in CHECKS["verify"](Random(seed)):
            server = check.case["server"]
            if "CORRUPT_BYTE" in server["environment"]:
                size = int(server["arguments"][server["arguments"].index("-s") + 1])
                sizes.append((size % 8 == 0, size > 8, size - int(server["environment"]["CORRUPT_BYTE"]) == 1))
        assert {(True, True, True), (False, True, True), (False, True, False)} <= set(sizes), sizes
        lie = next(check.case for check in CHECKS["credits"](Random(seed)) if "more than it owes" in check.text)
        buffers = int(lie["client"]["arguments"][lie["client"]["arguments"].index("-b") + 1])
        assert int(lie["server"]["environment"]["OVERCREDIT"]) >= buffers


def test_a_run_with_a_partner() -> None:
    run = cases.messages(5, "client", "iWARP", "ping-sr-1", 300, "-s", "9").case
    assert reasons.command(run, False) == (
        "lab/run --writable DIR --timeout 60 -- sh -c 'ping-sr-1/server -j -a $LAB_IWARP_ADDR & sleep 2; "
        "DIR/client -s 9 -c 300 -w 5 -v -a $LAB_IWARP_ADDR; echo exit status $?'"
    )
    assert " tools/verbs-trace/verbs-trace DIR/client " in reasons.command(run, True)
    assert "verbs-trace ping-sr-1" not in reasons.command(run, True)


def test_what_is_stopped() -> None:
    steps = [["start", "server"], ["listening", "server"], ["interrupt", "server"]]
    run = cases.case("RoCE", server=cases.side("server"), steps=steps)
    due = "'DIR/server -a $LAB_ROCE_ADDR & server=$!; sleep 2; kill -INT $server; wait $server; echo"
    assert due in reasons.command(run, False)


def test_who_ends_before_the_other() -> None:
    """The exit status of the submission is shown where the submission ends."""
    run = next(check.case for check in CHECKS["retry"](Random(1)) if "refuses" in check.text)
    due = " -v -a $LAB_ROCE_ADDR; echo exit status $?; kill -INT $server'"
    assert reasons.command(run, False).endswith(due)


def test_every_check_has_a_command() -> None:
    for checks in CHECKS.values():
        for check in checks(Random(1)):
            assert "DIR" in reasons.command(check.case, check.by != cases.PARTNER)


def test_runs_over_the_simulated_device() -> None:
    run = cases.over_sim(5, "blast-sr-2", "server", "odd").case
    assert reasons.command(run, True) == "make sim DIR=DIR ROLE=server TESTS=odd"
    for out, status, reason in (("ok: 7 runs\n", 0, ""), ("not ok: it left a PD; see it: x\n", 1, "device: it left a PD"),
                                ("ok: 0 runs\n", 0, "before its first run"), ("ok: 7 runs\n", 1, "exit status 0")):  # fmt: skip
        found = judges.over_sim("server")({"client": of(status, out)})
        assert (reason in found) and bool(found) == bool(reason), found


def test_calls_that_succeed_and_are_wrong() -> None:
    """Each wrong attribute is found, and its neighbour, which is right, is not."""
    mine = {"rq_psn": 1, "sq_psn": 2, "timeout": 14, "retry_cnt": 7, "rnr_retry": 7}
    other = [{"call": "ibv_modify_qp", "result": 0, "args": {"attr": {**mine, "rq_psn": 2, "sq_psn": 1}}}]
    for name in mine:
        found = [[*over_sim.wrong_calls([{**other[0], "args": {"attr": attr}}], other)] for attr in (mine, {**mine, name: 0})]
        assert not found[0] and ("first PSNs" if "psn" in name else "timeout of 0") in "".join(found[1]), name
    for call, of, right, wrong, said in (
        ("rdma_connect", "conn_param", {"private_data": {"bytes": 32}}, {"private_data": {"bytes": 31}}, "private data ends"),
        ("ibv_modify_srq", "srq_attr", {"srq_limit": 1}, {}, "a limit of 0"),
    ):
        assert [said in "".join(over_sim.wrong_calls([{"call": call, "result": 0, "args": {of: attr}}], [])) for attr in (right, wrong)] == [False, True]
    assert [[*over_sim.wrong_calls([{"accusation": sort, "text": "x"}], [])] for sort in ("leak", "rnr")] == [[], ["verbs-trace accuses it: x"]]


def traced(*names: str, **more: object) -> Result:
    """A program that made these calls, and ended well."""
    return of(trace=tuple({"call": name, "result": 0, "args": {"channel": "event_channel1"}, **more} for name in names))


def sent(length: int, flags: str = "", **more: object) -> Result:
    """A program that was granted 64 bytes inline, and sent one message."""
    return of(trace=(QP, {"call": "ibv_post_send", "args": {"wr": [{"opcode": "SEND", "flags": flags, "sge": [{"length": length}], **more}]}}))


def in_two(call: str, first: int, lkey: int) -> Result:
    """A program that posted a request of two pieces."""
    wr: Result = {"opcode": "SEND", "sge": [{"length": first, "lkey": 1}, {"length": 9, "lkey": lkey}]}
    return of(trace=({"call": call, "args": {"wr": [wr]}},))


OWN = ["rdma_create_event_channel", "rdma_create_id", *["rdma_get_cm_event", "rdma_ack_cm_event"] * 3]
ACCUSED: Result = {"accusation": "leak", "text": "mr1 was never destroyed"}


def test_what_is_wrong_and_its_neighbour_that_is_not() -> None:
    table: list[tuple[Judge, Result, Result, str]] = [
        (judges.innocent("client"), of(trace=(CONNECT, ACCUSED)), of(trace=(CONNECT,)), "verbs-trace reports of your client: leak: mr1"),
        (judges.innocent("client"), traced("rdma_create_id"), traced("rdma_create_id", "rdma_accept"), "made no connection"),
        (judges.receives_first("client", "rdma_connect"), traced("rdma_connect", "ibv_post_recv"), traced("ibv_post_recv", "rdma_connect"), "posted its first receive after"),
        (judges.receives_first("client", "rdma_connect"), traced("rdma_connect"), traced("ibv_post_recv", "rdma_connect"), "expected: ibv_post_recv, then"),
        (judges.own_channel, traced(*OWN), traced(*OWN, *OWN[-2:]), "read 3 events"),
        (judges.own_channel, traced(*OWN, OWN[-2]), traced(*OWN, *OWN[-2:]), "read 4 events and acked 3"),
        (judges.own_channel, traced(*OWN, *OWN[-2:], args={"channel": None}), traced(*OWN, *OWN[-2:]), "without the channel"),
        (judges.own_channel, traced(*OWN[1:]), traced(*OWN, *OWN[-2:]), "did not call rdma_create_event_channel"),
        (judges.inlined(1), sent(64), sent(64, "INLINE"), "of 64 bytes, was not inline"),
        (judges.inlined(1), sent(65, "INLINE"), sent(65), "of 65 bytes, was inline"),
        (judges.numbered(1), sent(9, opcode="RDMA_WRITE"), sent(9, opcode="RDMA_WRITE_WITH_IMM", imm="0"), "wrote message 0 by RDMA_WRITE;"),
        (judges.numbered(1), sent(9, opcode="RDMA_WRITE_WITH_IMM", imm="1"), sent(9, opcode="RDMA_WRITE_WITH_IMM", imm="0x0"), "immediate data 1; expected: 0"),
        (judges.sleeps(1), of(trace=(post("SEND"), {"call": "ibv_poll_cq", "times": 9})), of(trace=(post("SEND"), {"call": "ibv_poll_cq", "times": 8})), "9 times; expected: at most 8"),
        (judges.interrupted("client", "rdma_connect"), {**of(1), "kernel": {"rdma_connect": 1}}, {**of(), "kernel": {"rdma_connect": 1}}, "after Ctrl-C, exited with status 1"),
        (judges.interrupted("client", "rdma_connect"), {**of(), "kernel": {"rdma_connect": 0}}, {**of(), "kernel": {"rdma_connect": 1}}, "expected: a call of"),
        (kernel.tried(3, lambda _: ""), {**of(), "kernel": {"rdma_connect": 2}}, {**of(), "kernel": {"rdma_connect": 3}}, "2 times; expected: at least 3"),
        (judges.complains("bad"), of(1, err="good"), of(1, err="Bad"), "expected: 'bad' in its message"),
        (pieces.gathered(16, 1), in_two("ibv_post_send", 15, 2), in_two("ibv_post_send", 16, 2), "pieces of 15, 9 bytes"),
        (pieces.gathered(16, 1), in_two("ibv_post_send", 16, 1), in_two("ibv_post_send", 16, 2), "send 0 of your server has the same lkey twice"),
        (pieces.scattered(16, 0), in_two("ibv_post_recv", 17, 2), in_two("ibv_post_recv", 16, 2), "receive 0 of your server has pieces of 17, 9"),
        (judges.over_sim("client"), of(1, "not ok: it leaks; see it: x"), of(0, "ok: 1 runs"), "simulated device: it leaks"),
        (judges.over_sim("client"), of(0, "ok: 0 runs"), of(0, "ok: 1 runs"), "before its first run"),
        (judges.in_chains(4, 4), of(trace=({"call": "ibv_post_srq_recv", "args": {"recv_wr": [{}] * 2}},) * 2), of(trace=({"call": "ibv_post_srq_recv", "args": {"recv_wr": [{}] * 4}},)), "2 calls of ibv_post_srq_recv"),
    ]  # fmt: skip
    for judge, wrong, right, reason in table:
        assert reason in judge(dict.fromkeys(("client", "server"), wrong)), reason
        assert not judge(dict.fromkeys(("client", "server"), right)), reason


def test_who_answered_enosys() -> None:
    said = {"server": {"err": "x: rdma_join_multicast: Function not implemented\n"}}
    failed = "your server exited with status 1"
    assert reasons.not_implemented(failed, said, []).endswith("it made a call that there is not in this lab")
    assert reasons.not_implemented(failed, said, ["our_take_credits"]).endswith("nothing else is in our_take_credits")
    assert not reasons.not_implemented("our server exited with status 1", said, ["our_take_credits"])


def reasons_of(file: str) -> list[str]:
    """The texts that a judge's source can say, as patterns."""
    texts = [node for node in ast.walk(ast.parse(Path(file).read_text())) if isinstance(node, ast.JoinedStr)]
    parts = [[re.escape(part.value) if isinstance(part, ast.Constant) else ".*" for part in text.values] for text in texts]
    return [one for one in map("".join, parts) if re.search("expected|your", one)]


def test_each_reason_is_given() -> None:
    """Some row of this file gives each reason."""
    files, said = [str(module.__file__) for module in (judges, kernel, pieces, reasons)], set()

    def listen(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "return" and isinstance(arg, str):
            said.add(arg)
        return listen if frame.f_code.co_filename in files else None

    sys.settrace(listen)
    try:
        for name, test in globals().copy().items():
            if name.startswith("test_") and name != "test_each_reason_is_given":
                test()
    finally:
        sys.settrace(None)
    missing = [reason for file in files for reason in reasons_of(file) if not any(re.search(reason, one, re.DOTALL) for one in said)]
    assert not missing
