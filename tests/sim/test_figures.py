# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The figures that a program reports, against those that the trace of the same run comes to (timeline.py): runs of every
length, for a time, at a rate, and those that end early."""

from __future__ import annotations

import json
import re
import subprocess
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from sim.simulation import ADDRESS, SIDES, TOP, Run, simulate
from sim.timeline import Expected, Result, Timeline
from live.table import STAGES, Stage

WARM_UP = 100  # "a tenth of -c, at most 100"
BUFFERS = 8  # data buffers of a stream
# The completions that end a message at the client: both for a message that comes back, otherwise the last one.
ENDS = {
    "ping-rdma-1": {"RDMA_READ": 1},
    "ping-rdma-2": {"RDMA_READ": 1},
    "ping-rdma-3": {"RDMA_WRITE": 1},
    "count-atomic-1": {"atomic": 1},
}
TWO_SIDED = {"SEND": 1, "RECV": 1}
ARRIVAL = "= completion RECV, status 0"
POSTS = {"ping-rdma-1": 2, "ping-rdma-2": 2}  # posts that a stage makes for each message
TOLD = "ping-rdma-1 ping-rdma-2 count-atomic-1 blast-rdma-1".split()  # stages whose agent knows only of the client's words
MEASURED = [stage for stage in STAGES if not stage.nine and stage.name not in ("ping-ep-0", "talk-rdma-0")]
WITHOUT_RECORDS = [stage for stage in MEASURED if "pubsub" not in stage.name]


ROLES = ("client", "agent")


def run_of(stage: Stage, agreed: str, client: str = "", server: str = "", *options: str, trace: bool = True) -> Run:
    """A pair that prints its results, traced."""
    common = ["-a", ADDRESS, "-q", "-j"]
    of_server = [*common, *server.split(), *([] if stage.negotiates else agreed.split())]
    buffers = ["-b", str(BUFFERS)] if stage.one_way else []
    of_client = [*common, *agreed.split(), *buffers, *client.split()]
    return simulate([[f"{stage.folder}/server", *of_server], [f"{stage.folder}/client", *of_client]], *["--trace"] * trace, *options)


def result_of(run: Run, role: str) -> Result:
    """Returns the figures that this side has printed."""
    (result,) = [one for one in map(json.loads, run.out.splitlines()) if one["role"] == role]
    assert isinstance(result, dict)
    return result


def warm_up_of(stage: Stage, count: int) -> int:
    """ "none if -c is not more than four times -b" """
    return 0 if stage.one_way and count <= 4 * BUFFERS else min(count // 10, WARM_UP)


# ---- What the figures must be ----


def known(timeline: Timeline, event: int, early: bool) -> int:
    """The time when a program knows that its run is over: at once, before any other call, or if it ended early, before its own end."""
    return timeline.next("rdma_disconnect" if early else "rdma_", event)


def of_client(stage: Stage, timeline: Timeline, count: int, early: bool) -> Expected:
    """Returns the figures of a client whose messages come back: as many as it had taken of so many."""
    ends = timeline.ends(ENDS.get(stage.name, TWO_SIDED))
    posts = timeline.at["ibv_post_send"]
    starts = [posts[bisect_left(posts, end) - POSTS.get(stage.name, 1)] for end in ends]
    warm_up = warm_up_of(stage, count)
    if len(ends) <= warm_up:
        return Expected(timeline, 0, warm_up)
    ended = known(timeline, ends[-1], early)
    trips = [timeline.reading(end) - timeline.reading(timeline.last("= clock", start)) for start, end in zip(starts, ends)]
    begun = ends[warm_up - 1] if warm_up else timeline.last("rdma_", starts[0])
    start, end = (begun, starts[warm_up]), (ends[-1], ended)
    looked = ended if stage.name in ENDS else 0  # this includes looks for the counts at the end
    seen = None if stage.name == "ping-rdma-3" else trips[warm_up:]  # its client finds answers in memory
    return Expected(timeline, len(ends) - warm_up, warm_up, start, end, seen, looked)


def of_agent(stage: Stage, timeline: Timeline, count: int, early: bool, lost: int) -> Expected:
    """Returns the figures of the server's side: from the arrival of a message to the next. The last ones may be `lost`: not answered."""
    arrivals, warm_up = timeline.at.get(ARRIVAL, []), warm_up_of(stage, count)
    if stage.name in TOLD:  # messages about the client's memory, or its begin, and its count
        return Expected(timeline, count, 0, (arrivals[0], arrivals[1]), (arrivals[1], timeline.next("rdma_", arrivals[1])), [])
    if stage.name == "ping-rdma-3":  # this server sees messages in its memory, and answers each
        n = len(timeline.at["= completion RDMA_WRITE, status 0"])
        arrivals, at = timeline.at["ibv_post_send"][1 : 1 + n], []  # the first post is a word of its own
    else:  # a message is taken when it has come, and the answer before it is complete
        sent = [0, *timeline.at.get("= completion SEND, status 0", [])]
        taken = [max(both) for both in zip(arrivals, sent)]
        arrivals = arrivals[: len(taken)]
        at = [timeline.reading(message) for message in taken]
    arrivals, at = arrivals[: len(arrivals) - lost], at[: len(at) - lost]
    if len(arrivals) <= warm_up:
        return Expected(timeline, 0, warm_up)
    begun = arrivals[warm_up - 1] if warm_up else 0
    trips = [b - a for a, b in zip(at, at[1:])][max(warm_up - 1, 0) :] if at else None
    ended, sleep = known(timeline, arrivals[-1], early), "poll"
    if stage.loop:  # such a server serves all in a loop: it measures until the client has left, and sleeps for other things, too
        ended, sleep = known(timeline, arrivals[-1], True), "ibv_get_cq_event"
    start, end, looked = (begun, arrivals[warm_up]), (arrivals[-1], ended), 0 if at else None
    return Expected(timeline, len(arrivals) - warm_up, warm_up, start, end, trips, looked=looked, sleep=sleep)


def of_stream(timeline: Timeline, kind: str, moved: list[int], warm_up: int, early: bool, lost: int, credits: str = "") -> Expected:
    """A side of a stream: with the nth completion of this kind so many messages have been moved."""
    at, batches = timeline.at.get(f"= completion {kind}, status 0", []), timeline.batches(kind)
    batches = batches[: len(batches) - lost]
    done = [(batch, moved[at.index(batch)]) for batch in batches]
    begun, warm_up = next(((batch, n) for batch, n in [(0, 0), *done] if n >= warm_up), (0, -1))
    if warm_up < 0 or done[-1][1] <= warm_up:
        return Expected(timeline, 0, warm_up)
    start = (begun, timeline.next("ibv_poll_cq", begun)) if begun else (timeline.last("rdma_", batches[0]), batches[0])
    end = (batches[-1], known(timeline, batches[-1], early))
    return Expected(timeline, done[-1][1] - warm_up, warm_up, start, end, [], credits=credits)


def expected(stage: Stage, run: Run, role: str, count: int, early: bool = False, lost: int = 0) -> Expected:
    """Returns the expected figures of this side."""
    server, client = Timeline(run.err, 0), Timeline(run.err, 1)
    if role == "agent" and (not stage.one_way or stage.name in TOLD):
        return of_agent(stage, server, count, early, lost)
    if not stage.one_way:
        return of_client(stage, client, count, early)
    warm_up = warm_up_of(stage, count)
    if stage.name == "blast-rdma-1":  # a chain has as many messages as there are buffers, and one completion
        return of_stream(client, "RDMA_WRITE", [*range(BUFFERS, count, BUFFERS), count], warm_up, early, lost)
    if role == "agent":
        return of_stream(server, "RECV", [*range(1, len(server.at[ARRIVAL]) + 1)], warm_up, early, lost, "= request")
    # Credits are for all that the agent had taken when it posted them.
    taken = [len(server.where(ARRIVAL, (0, post))) for post in server.at["ibv_post_send"]]
    return of_stream(client, "RECV", taken, warm_up, early, lost, ARRIVAL)


def judge(stage: Stage, run: Run, role: str, count: int, early: bool = False) -> Result:
    """Judges one side. If it ended early, its last message, or batch of them, may be counted or not."""
    result = result_of(run, role)
    wrong = [[*expected(stage, run, role, count, early, lost).differences(result)] for lost in range(1 + early)]
    assert [] in wrong, f"{role}: {wrong}\n{run.command}"
    return result


# ---- Runs that are complete ----

LENGTHS = {"whole": 60, "without a warm-up": 9, "with one message of warm-up": 10, "with the longest warm-up": 1105}
# The stages whose loops differ; the others share one of these.
LOOPS = "ping-sr-3 ping-sr-4 blast-sr-2 ping-rdma-1 blast-rdma-1".split()


def rows(stages: Iterable[Stage], further: Iterable[Any]) -> pytest.MarkDecorator:
    """Each stage has the first one of these; with the others in make check only those of LOOPS."""
    marked = [
        pytest.param(stage, one, id=f"{stage}-{one}", marks=[pytest.mark.long] if number and stage.name not in LOOPS else [])
        for stage in stages
        for number, one in enumerate(further)
    ]
    return pytest.mark.parametrize("stage, which", marked)


@rows(WITHOUT_RECORDS, LENGTHS)
def test_a_run(stage: Stage, which: str) -> None:
    count = LENGTHS[which]
    run = run_of(stage, f"-c {count}")
    assert not run.exit, run.why()
    for role in ROLES:
        result = judge(stage, run, role, count)
        assert result["complete"] and not result["verified"]


@pytest.mark.parametrize("count, server, stalls", [(BUFFERS, "", False), (60, "--sleep 1000", True)])
def test_credits_are_lacking(count: int, server: str, stalls: bool) -> None:
    """Credits are lacking if the receiver is slow; never if there are buffers for all messages."""
    (stage,) = [stage for stage in MEASURED if stage.name == "blast-sr-2"]
    run = run_of(stage, f"-c {count}", "", server, trace=False)
    assert bool(result_of(run, "client")["stream"]["credit_stalls"]) == stalls, run.why()
    assert not result_of(run, "agent")["stream"]["credit_stalls"]


# ---- Runs that end early ----

MOMENTS = {"in the middle": 40, "in the warm-up": 3, "after the last message": 60}


def call_when(run: Run, stage: Stage, side: int, message: int) -> int:
    """The call of this side that is first after the client has taken so many messages."""
    client, side_of = Timeline(run.err, 1), Timeline(run.err, side)
    ends = client.ends({"blast-sr-2": {"RECV": 1}, "blast-rdma-1": {"RDMA_WRITE": 1}, **ENDS}.get(stage.name, TWO_SIDED))
    number = max(1, message * len(ends) // MOMENTS["after the last message"])
    return side_of.call_at(client.events[ends[number - 1]][0])


ENDED = [
    pytest.param(stage, side, id=f"{stage}-{SIDES[side]}")
    for stage in WITHOUT_RECORDS
    if stage.name in LOOPS
    for side in (0, 1)
    if side or stage.name not in TOLD  # a server of TOLD sleeps during the whole run
]


@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
@pytest.mark.parametrize("which", MOMENTS)
@pytest.mark.parametrize("stage, side", ENDED)
def test_a_run_that_ends_early(stage: Stage, side: int, which: str, how: str) -> None:
    """Ctrl-C ends the run of the side that gets it, or the peer dies. Both say what they have measured until then."""
    count, message = MOMENTS["after the last message"], MOMENTS[which]
    call = call_when(run_of(stage, f"-c {count}"), stage, side, message)
    run = run_of(stage, f"-c {count}", "", "", "--fail", f"{side}:{call}:{how}")
    reporter = side if how == "SIGINT" else 1 - side
    role = ROLES[1 - reporter]
    assert run.statuses[reporter] in ((0,) if how == "SIGINT" else (0, 1)), run.why()
    if role == "agent" and stage.name in TOLD:
        assert not result_of(run, role)["count"] or message == count
        return
    result = judge(stage, run, role, count, early=True)
    assert message == count or not result["complete"], run.why()
    assert not result["verified"]


LIMIT_S = 3


@pytest.mark.parametrize("stage, side", ENDED)
def test_a_run_whose_peer_falls_silent(stage: Stage, side: int) -> None:
    """The other side ends by --timeout, and measures until then: a side of a stream must not take its own messages for its
    peer's words, nor wait again and again."""
    count, limit = MOMENTS["after the last message"], f"--timeout {LIMIT_S}"
    call = call_when(run_of(stage, f"-c {count}", limit, limit), stage, side, MOMENTS["in the middle"])
    run = run_of(stage, f"-c {count}", limit, limit, "--fail", f"{side}:{call}:SILENCE")
    role = ROLES[side]
    assert re.search(rf"/{SIDES[1 - side]}: .* said nothing for {LIMIT_S} s, after ", run.err) and run.statuses == [0, 1], run.why()
    if role == "client" or stage.name not in TOLD:
        result = judge(stage, run, role, count, early=True)
        assert LIMIT_S <= result["seconds"] <= LIMIT_S + 0.2 and not result["complete"], run.why()


@pytest.mark.parametrize("stage, side", ENDED)
def test_a_run_in_which_a_message_cannot_be_sent(stage: Stage, side: int) -> None:
    number = 41 if side or not stage.one_way else 8  # this is a message of credits
    run = run_of(stage, "-c 60", "", "", "--fail", f"{side}:ibv_post_send:{number}")
    assert run.statuses[side] == 1 and ": ibv_post_send: " in run.err, run.why()
    assert not judge(stage, run, ROLES[1 - side], 60, early=True)["complete"]


# ---- Runs at a rate, and for a time ----

LATE_US = 25  # a message is sent that much after it is due: one that polls looks at the clock now and then


def at_rate(expected: Expected, rate: int) -> Iterator[list[int]]:
    """The round trips, for each reading of the clock that may be when the run began: a message that is late counts from when
    it was due. None is sent before it is due."""
    timeline, ends = expected.timeline, expected.timeline.ends(TWO_SIDED)
    posts = timeline.at["ibv_post_send"]
    came = [timeline.reading(end) for end in ends]
    sent = [timeline.numbers(timeline.last("= clock", post))[0] for post in posts]
    for began in timeline.clock((min(timeline.at.get("rdma_connect", [0])), posts[0])):
        due = [began + number * 10**9 // rate for number in range(len(posts))]
        for later_ns in (0, 200):  # a program looks at the clock once more when a message has come
            late = [number > 0 and came[number - 1] + later_ns > due[number] for number in range(len(posts))]
            if all(0 <= at - when <= LATE_US * 1000 or behind for at, when, behind in zip(sent, due, late)):
                yield [b - (when if behind else a) for a, b, when, behind in zip(sent, came, due, late)]


# A program that polls makes thousands of calls in a second.
RATES = [(stage, 20000) for stage in MEASURED if stage.name.startswith("ping-sr-") or stage.name == "ping-rc-0"]
RATES += [(stage, 20) for stage in MEASURED if stage.name in ("ping-sr-3", "ping-sr-4")]


@pytest.mark.parametrize("stage, rate", RATES, ids=str)
def test_a_rate(stage: Stage, rate: int) -> None:
    """Every message is sent when it is due, or as soon as the one before it has come back. It takes so long that the machine's
    CPU time is more than nothing; and every byte is right."""
    count = 50
    run = run_of(stage, f"-c {count}", f"--rate {rate} -v")
    assert not run.exit, run.why()
    result, wanted = result_of(run, "client"), expected(stage, run, "client", count)
    found = []
    for trips in at_rate(wanted, rate):
        wanted.round_trips = trips[wanted.warm_up :]
        found.append([*wanted.differences(result)])
    assert [] in found, f"{found}\n{run.command}"
    assert result["verified"] and result["complete"]
    assert rate > 1000 or result["machine_cpu"]["busy_seconds"] > 0


def named(names: str) -> pytest.MarkDecorator:
    """Returns the stages with these names."""
    return pytest.mark.parametrize("stage", [stage for stage in MEASURED if stage.name in names.split()], ids=str)


@named("ping-sr-3 ping-sr-4 blast-sr-2 ping-rdma-1")
def test_a_run_for_a_time(stage: Stage) -> None:
    """Messages at a rate are sent if they are due in that time; the longest warm-up is before them."""
    run = run_of(stage, "-D 1", "--rate 150", trace=False)
    assert not run.exit, run.why()
    for role in ROLES:
        result, told = result_of(run, role), role == "agent" and stage.name in TOLD
        assert result["complete"] and result["count"] + result["warm_up"] in (150, 151)
        assert result["warm_up"] == (0 if told else WARM_UP)
        least_s = 1 if told else 1 - WARM_UP / 150
        assert least_s - 0.01 <= result["seconds"] <= least_s + 0.01, role


@named("ping-sr-0 ping-sr-2e")
def test_a_run_for_a_time_that_only_the_client_knows(stage: Stage) -> None:
    """An agent that does not watch the connection manager looks each second whether its client has left."""
    run = run_of(stage, "-D 1", "--rate 2", trace=False)
    assert not run.exit and not run.err and run.ms <= 2500, run.why()
    assert all(result_of(run, role)["complete"] for role in ROLES)


@named("ping-sr-3 ping-sr-4")
def test_more_than_an_hour(stage: Stage) -> None:
    """This is a time in which 32 bits of microseconds overflow: 2^32 us are 71.6 minutes."""
    run = run_of(stage, "-c 4400", "--rate 1", trace=False)
    assert not run.exit, run.why()
    for role in ROLES:
        assert result_of(run, role)["seconds"] == pytest.approx(4300, abs=0.1)


# A minute of polling is a million turns: one stage that polls shows it.
POLLS_FOR_A_MINUTE = "ping-sr-1"
FOR_A_MINUTE = [
    pytest.param(stage, id=str(stage), marks=[] if stage.sleeps or stage.name == POLLS_FOR_A_MINUTE else [pytest.mark.long])
    for stage in WITHOUT_RECORDS
]


@pytest.mark.parametrize("stage", FOR_A_MINUTE)
def test_more_than_a_minute(stage: Stage) -> None:
    """Limits of a wait, such as --timeout and the minute for a client's first word, do not limit the run."""
    run = run_of(stage, "-c 65", "--rate 1 --timeout 30", trace=False)
    assert not run.exit and not run.err and 64000 <= run.ms <= 66000, run.why()
    assert all(result_of(run, role)["complete"] for role in ROLES)


@pytest.mark.parametrize("us", [0, 1000])
@named("ping-sr-5")
def test_it_sleeps_only_after_it_has_polled_so_long(stage: Stage, us: int) -> None:
    """The time is in microseconds: an answer takes some tens."""
    run = run_of(stage, "-c 60", f"--spin {us}", f"--spin {us}", trace=False)
    assert not run.exit, run.why()
    assert bool(result_of(run, "client")["cq"]["sleeps"]) == (us == 0)


# ---- Records ----


@pytest.mark.parametrize("stage", [stage for stage in MEASURED if stage not in WITHOUT_RECORDS], ids=str)
def test_a_run_of_records(stage: Stage) -> None:
    """A record takes as many READs, or looks, as it needs; one comes after the other."""
    run = run_of(stage, "-c 100", "-v")
    assert not run.exit, run.why()
    result = result_of(run, "client")
    assert (result["count"], result["warm_up"], result["complete"], result["verified"]) == (90, 10, True, True)
    rest_us = result["seconds"] * 1e6 - 90 * result["round_trip_us"]["mean"]
    assert -1 <= rest_us <= 90
    agent = result_of(run, "agent")
    assert (agent["count"], agent["warm_up"], agent["complete"]) == (100, 0, True)


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage.nine or stage in MEASURED], ids=str)
def test_a_stage_sleeps_if_it_says_so(stage: Stage) -> None:
    described = subprocess.run([f"{stage.folder}/client", "--describe"], cwd=TOP, capture_output=True, text=True, timeout=60, check=True)
    run = run_of(stage, "-c 20", *["--spin 0"] * (stage.name == "ping-sr-5"), trace=False)
    sleeps = [result_of(run, role)["cq"]["sleeps"] for role in ROLES]
    assert json.loads(described.stdout)["sleeps"] == any(sleeps), run.why()
