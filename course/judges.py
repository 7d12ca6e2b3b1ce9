# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Decides what the results of a case show.

Place: used by cases.py. Contract: a judge returns an empty string, or the reason why the points are lost.
"""

import json
import math
import re
import struct
from collections.abc import Callable

from . import recovery
from .kernel import seen
from .reasons import Result, did, ended, ended_with, last_words

Judge = Callable[[Result], str]
INLINE_WANTED = 64  # bytes: the value of control->inline_wanted in ping-sr-1


def calls(of: Result) -> list[Result]:
    """The calls in the submission's trace."""
    found = []
    for line in of.get("trace", []):
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def complete(partner: str, own: str, count: int, verified: bool) -> Judge:
    """Both sides ended well, and the partner counted exactly that many messages."""

    def judge(result: Result) -> str:
        reason = ended_with(result, own, partner, f"{count} messages")
        if reason:
            return reason
        try:
            figures = json.loads(result[partner]["out"].splitlines()[-1])
            messages = figures["count"] + figures["warm_up"]
        except (ValueError, KeyError, IndexError):
            return f"your {own} exited with status 0 without a connection to our {partner}; expected: {count} messages"
        if messages != count:
            return f"your {own} exchanged {messages} messages with our {partner}; expected: {count}"
        if verified and not figures["verified"]:
            return f"your {own} changed a message: our {partner} did not find every byte as it should be"
        return ""

    return judge


def innocent(own: str) -> Judge:
    """verbs-trace reports no fault, and the submission made a connection and ended well."""

    def judge(result: Result) -> str:
        every = calls(result[own])
        accused = [f"{call['accusation']}: {call['text']}" for call in every if "accusation" in call]
        if accused:
            return f"verbs-trace reports of your {own}: " + "; ".join(accused[:3])
        reason = ended(result[own], 0, f"your {own}")
        if reason or any(call.get("call") in ("rdma_connect", "rdma_accept", "ibv_modify_qp") for call in every):
            return reason
        return f"your {own} exited with status 0 and made no connection: there is nothing to judge"

    return judge


def not_all(of: Result, name: str, posted: int, count: int, what: str = "sends") -> str:
    """Returns an empty string if exactly `count` work requests were posted."""
    if posted == count:
        return ""
    return ended(of, 0, f"your {name}") or f"your {name} posted {posted} {what}; expected: {count}"


def receives_first(own: str, call: str) -> Judge:
    """A receive is posted before the connection can bring a message."""

    def judge(result: Result) -> str:
        names = [each.get("call") for each in calls(result[own])]
        if call not in names or "ibv_post_recv" not in names:
            none = f"your {own} exited with status 0; expected: ibv_post_recv, then {call}"
            return ended(result[own], 0, f"your {own}") or none
        early = names.index("ibv_post_recv") < names.index(call)
        return "" if early else f"your {own} posted its first receive after {call}; expected: before it"

    return judge


def complains(words: str) -> Judge:
    """The client fails, with these words in its message."""

    def judge(result: Result) -> str:
        reason = ended(result["client"], 1, "your client")
        if reason or words.lower() in result["client"]["err"].lower():
            return reason
        return f"your client exited with status 1; expected: '{words}' in its message; {last_words(result['client'])}"

    return judge


def after(of: Result, what: str) -> int:
    """The number after which something happened, as one of our programs says; -1 if it does not say that."""
    found = re.search(rf"after (\d+) {what}", of["err"])
    return int(found[1]) if found else -1


def refuses_credits(buffers: int) -> Judge:
    """The client says what is wrong with the credits, and has sent no message for which it had none before."""
    says = complains("bad credits")

    def judge(result: Result) -> str:
        returned, sent = after(result["server"], "credits"), after(result["server"], "messages")
        if reason := says(result):
            return reason
        if returned < 0 or not 0 <= sent <= buffers + returned:
            few = "before our server had returned more than it owed" if returned < 0 else \
                f"after {sent} messages; expected: at most {buffers + returned}, for which it had credits"  # fmt: skip
            return f"your client complained of bad credits {few}"
        return ""

    return judge


def own_channel(result: Result) -> str:
    """The ids have an event channel, and each event that was read was acknowledged."""
    every = calls(result["client"])
    names = [call.get("call") for call in every]
    if "rdma_create_event_channel" not in names:
        return ended(result["client"], 0, "your client") or "your client did not call rdma_create_event_channel"
    ids = [call for call in every if call.get("call") == "rdma_create_id"]
    if any(not str(call["args"].get("channel", "")).startswith("event_channel") for call in ids):
        return "your client called rdma_create_id without the channel: the calls with that id are synchronous"
    got = sum(1 for call in every if call.get("call") == "rdma_get_cm_event" and call.get("result") == 0)
    acked = names.count("rdma_ack_cm_event")
    if got < 4:
        few = f"your client read {got} events; expected: at least 4 (address, route, connection, end)"
        return ended(result["client"], 0, "your client") or few
    return "" if got == acked else f"your client read {got} events and acked {acked}; expected: each is acked once"


def interrupted(own: str, call: str) -> Judge:
    """The program made that call, and then ended well after Ctrl-C."""

    def judge(result: Result) -> str:
        if not seen(result[own], call):
            return f"your {own} {did(result[own])}; expected: a call of {call}; {last_words(result[own])}"
        return ended(result[own], 0, f"your {own}, after Ctrl-C,")

    return judge


def work_requests(of: Result, call: str) -> list[Result]:
    """All work requests that these calls posted, in order."""
    key = {"ibv_post_srq_recv": "recv_wr"}.get(call, "wr")
    return [wr for each in calls(of) if each.get("call") == call for wr in each["args"].get(key, [])]


def sends(of: Result, *opcodes: str) -> list[Result]:
    """The messages that were sent, in order, with any opcode or with one of these: as soft-RoCE saw them. With soft-iWARP
    only the trace has them."""
    every = seen(of, "sends")
    every = work_requests(of, "ibv_post_send") if every is None else every
    return [wr for wr in every if not opcodes or wr.get("opcode") in opcodes]


def signaled(every: int, count: int) -> Judge:
    """In each group of `every` sends the last one is signaled, and no other."""

    def judge(result: Result) -> str:
        flags = ["SIGNALED" in request.get("flags", "") for request in sends(result["client"])]
        for number, flag in enumerate(flags, 1):
            if flag != (number % every == 0):
                is_not, due = ("", "not signaled") if flag else ("not ", "signaled")
                return f"send {number} of your client was {is_not}signaled; expected: {due}"
        return not_all(result["client"], "client", len(flags), count)

    return judge


def finds(message: int, offset: int) -> Judge:
    """The changed byte is found, the message names it and no other, and it was the last that the server got."""

    def judge(result: Result) -> str:
        what, words = f"byte {offset} of message {message} was changed", f"message {message}: byte {offset}"
        reason = ended(result["client"], 1, f"{what}: your client")
        if reason:
            return reason
        if re.findall(r"\bmessage \d+: byte \d+", result["client"]["err"]) != [words]:
            return f"{what}: your client exited with status 1; expected: '{words}', once; {last_words(result['client'])}"
        sent = after(result["server"], "messages")
        return "" if sent == message + 1 else f"{what}: your client left after {sent} messages; expected: {message + 1}"

    return judge


def inlined(count: int) -> Judge:
    """A message is sent inline if and only if it fits. In the lab the device grants as much as the program asks for."""

    def judge(result: Result) -> str:
        of = result["client"]
        granted = [call["args"]["qp_init_attr"]["cap"]["inline"] for call in calls(of)
                   if call.get("call") == "rdma_create_qp" and call.get("result") == 0]  # fmt: skip
        if granted and granted[-1] != INLINE_WANTED:
            return f"your client was granted {granted[-1]} bytes of inline data; expected: it asks for {INLINE_WANTED}"
        for number, wr in enumerate(sends(of)):
            length, inline = sum(sge["length"] for sge in wr["sge"]), "INLINE" in wr.get("flags", "")
            if inline != (length <= INLINE_WANTED):
                is_not, due = ("", "not inline") if inline else ("not ", "inline")
                return f"send {number} of your client, of {length} bytes, was {is_not}inline; expected: {due}"
        return not_all(of, "client", len(sends(of)), count)

    return judge


def numbered(count: int) -> Judge:
    """Each message is a WRITE with immediate data, and the numbers in it are 0, 1, 2 and so on."""

    def judge(result: Result) -> str:
        writes = sends(result["client"], "RDMA_WRITE", "RDMA_WRITE_WITH_IMM")
        for number, wr in enumerate(writes):
            if wr["opcode"] != "RDMA_WRITE_WITH_IMM":
                return f"your client wrote message {number} by {wr['opcode']}; expected: RDMA_WRITE_WITH_IMM"
            if int(wr.get("imm", "-1"), 0) != number:
                return f"message {number} of your client has the immediate data {wr.get('imm')}; expected: {number}"
        return not_all(result["client"], "client", len(writes), count, "WRITEs")

    return judge


def sleeps(count: int) -> Judge:
    """The program polls the CQ only a few times for each message."""

    def judge(result: Result) -> str:
        traced = calls(result["client"])
        polls = sum(call.get("times", 1) for call in traced if call.get("call") == "ibv_poll_cq")  # empty polls in a row are one line
        reason = not_all(result["client"], "client", len(sends(result["client"])), count)
        most = 8 * count
        return reason or ("" if polls <= most else f"your client called ibv_poll_cq {polls} times; expected: at most {most}")

    return judge


def in_chains(count: int, pool: int) -> Judge:
    """Receives are posted to the SRQ several at a time, and no more of them than there are buffers."""

    def judge(result: Result) -> str:
        posts = sum(1 for call in calls(result["server"]) if call.get("call") == "ibv_post_srq_recv")
        receives = len(work_requests(result["server"], "ibv_post_srq_recv"))
        if not count <= receives <= count + pool:
            few = f"your server posted {receives} receives; expected: {count} to {count + pool}"
            return ended(result["server"], 0, "your server") or few
        most = receives // 4
        return "" if posts <= most else f"{posts} calls of ibv_post_srq_recv in your server; expected: at most {most}"

    return judge


def over_sim(role: str) -> Judge:
    """The output of over_sim.py says that all runs over the simulated device were as they should be."""

    def judge(result: Result) -> str:
        of, who = result["client"], f"your {role} over the simulated device"
        said = of["out"].strip().splitlines()[-1:] or [""]
        if said[0].startswith("not ok: "):
            return f"{who}: {said[0].removeprefix('not ok: ').partition('; see it: ')[0][:600]}"
        if of["status"] == 0 and re.fullmatch(r"ok: [1-9]\d* runs", said[0]):
            return ""
        return ended(of, 0, who) or f"{who} exited with status 0 before its first run"

    return judge


def percentile(values: list[int], percent: float) -> int:
    """The smallest value that is not less than that percentage of all values."""
    return sorted(values)[max(0, math.ceil(percent * len(values) / 100) - 1)]


ADD, COUNT, MIN, MAX, MEAN, PERCENTILE = range(6)  # questions of partners/histogram.c
PERCENTS = (0, 1, 50, 90, 99, 99.9, 100)


def questions(values: list[int], first: int) -> list[tuple[int, int]]:
    """Calls that add the first values and ask about them, and then add the rest and ask again."""
    asked = [(COUNT, 0), (MIN, 0), (MAX, 0), (MEAN, 0), *((PERCENTILE, round(10 * percent)) for percent in PERCENTS)]
    return [*((ADD, value) for value in values[:first]), *asked, *((ADD, value) for value in values[first:]), *asked]


def wrong_figures(values: list[int], said: list[int]) -> str:
    """Says which answers to the questions about these values are wrong; empty if none is."""
    mean = struct.unpack("d", struct.pack("Q", said[MEAN - COUNT]))[0]
    found = {"count": said[COUNT - COUNT], "max": said[MAX - COUNT], "mean": mean}
    exact = {"count": len(values), "max": max(values, default=0), "mean": sum(values) / max(1, len(values))}
    if values:
        found["min"], exact["min"] = said[MIN - COUNT], min(values)
    for name, value in exact.items():
        if not abs(found[name] - value) <= 1e-6 * value:  # "not a number" is wrong, too
            return f"your histogram has {found[name]} as {name} of {len(values)} values; expected: {value:.9g}"
    for percent, answer in zip(PERCENTS, said[PERCENTILE - COUNT :]):
        due = percentile(values, percent) if values else 0
        if abs(answer - due) > due / 100:
            return f"your histogram has {answer} as percentile {percent:g} of {len(values)} values; expected: {due}, or at most 1 % from it"
    return ""


def figures(values: list[int], first: int) -> Judge:
    """Count, minimum, maximum and mean of the histogram are exact, and its percentiles have an error of at most one
    percent, both for the first values and for all."""

    def judge(result: Result) -> str:
        calls, said = questions(values, first), result["client"].get("returned", [])
        if len(said) < len(calls):
            what = f"the program with your histogram {did(result['client'])}"
            return f"{what} before call {len(said) + 1} of {len(calls)} returned; {last_words(result['client'])}"
        answers = [answer for (question, _), answer in zip(calls, said) if question != ADD]
        half = len(answers) // 2
        return wrong_figures(values[:first], answers[:half]) or wrong_figures(values, answers[half:])

    return judge


def both_well(result: Result) -> str:
    """Client and server are both the submission's, and end well."""
    return ended(result["client"], 0, "your client") or ended(result["server"], 0, "your server")


def done_once(count: int, tag: int) -> Judge:
    """The journals of the server that comes again have each message once, and the client ended well."""

    def judge(result: Result) -> str:
        journals: dict[str, list[int]] = {}
        for name, number in re.findall(r"^([0-9a-f]{16}):(\d{12})$", result["server"]["out"], re.MULTILINE):
            journals.setdefault(name, []).append(int(number))
        return recovery.lost_or_doubled(journals, count, tag) or ended(result["client"], 0, "your client")

    return judge


def added_once(count: int) -> Judge:
    """The client's history is one in which each addition was executed once, and the server ended well."""

    def judge(result: Result) -> str:
        history = recovery.history(result["client"]["out"])
        answers = sum(one.result is not None for one in history)
        few = f"our client had {answers} of {count} answers; {last_words(result['client'])}"
        return recovery.wrong_history(history) or few * (answers < count) or ended(result["server"], 0, "your server")

    return judge
