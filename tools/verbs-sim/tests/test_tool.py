# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""verbs-sim itself: its reports of faulty programs, its exit statuses, and its options."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from running import answers, skip_if_real, steps, sweep
from verbs_sim import TOP, Run, simulate


ODD = "build/tests/sim/programs"


def small(which: str, *options: str) -> Run:
    """Runs one of the small programs."""
    return simulate([["build/tests/sim/programs", which]], *options)


@pytest.mark.parametrize("which, status, said", [("room", 0, ""), ("use-after-end", 9, "Invalid read of size 1")])
def test_under_valgrind(which: str, status: int, said: str) -> None:
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not there")
    run = simulate([["valgrind", "-q", "--error-exitcode=9", "build/tests/sim/programs", which]])
    assert run.statuses == [status] and said in run.err and run.out == small(which).out, run.why()


@pytest.mark.parametrize("what", ["task", "object"])
def test_it_looks_at_nothing_else(what: str) -> None:
    """A search through all objects would make the time of a run grow with the square of the number of connections."""
    done = subprocess.run(["build/tests/sim/search", what], cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
    assert not done.returncode, done


@pytest.mark.parametrize(
    "mistake, said",
    [
        ("link-twice", "!(&task)->link.tqe_prev"),
        ("unlink-twice", "(&task)->link.tqe_prev"),
        ("destroy-twice", "core/ledger.c:"),
        ("destroy-needed", "!object->users"),
        ("free-twice", "core/ledger.c:"),
        ("count-below-zero", "(count) > 0"),
    ],
)
def test_what_core_does_not_do(mistake: str, said: str) -> None:
    """Each would spoil the world, and be noticed much later or never."""
    done = subprocess.run(["build/tests/sim/search", mistake], cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 125 and done.stdout.startswith("the simulation is wrong: ") and said in done.stdout, done


@pytest.mark.parametrize("who", ["", "leave"], ids=["program", "runner"])
@pytest.mark.parametrize("what, said", [("list", "core/ledger.c:"), ("users", "device/objects.c:")])
def test_a_world_that_is_spoiled_ends_the_run(what: str, said: str, who: str) -> None:
    """It ends for every program: the other one sleeps, and would wait for its turn forever."""
    run = simulate([["build/tests/sim/programs", "await-sigterm"], ["build/tests/sim/broken", what, *who.split()]])
    assert run.exit == 125 and run.reason.startswith("the simulation is wrong: ") and said in run.reason, run.why()


@pytest.mark.parametrize(
    "which, status, said",
    [
        ("forget", 121, "left over: 1 cm_id of program 0, 1 event channel of program 0"),
        ("forget-id", 121, "left over: 1 cm_id of program 0, 0."),
        ("lock-twice", 120, "all sleep forever"),
        ("unknown-opcode", 122, "ibv_post_send of the opcode 10 is not simulated, which program 0 calls from "),
        ("spin", 123, "program 0, thread 0 has made no call for 1 s"),
        ("crash", 134, "status 134"),
        ("restarted", 120, "status 143, calls"),  # the signal alone does not end its read
        ("await-sigterm", 120, "status 0, calls"),
    ],
)
def test_what_it_reports(which: str, status: int, said: str) -> None:
    argv = ["tools/verbs-sim/verbs-sim", "--limit", "1", "--", "build/tests/sim/programs", which]
    done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, done.stderr
    assert said in done.stderr


# Calls that may block, and are not simulated.
UNKNOWN = "daemon epoll_pwait2 flock io_uring_queue_init io_uring_queue_init_params io_uring_setup lockf mq_receive mq_send msgrcv msgsnd recvmmsg semop semtimedop sendmmsg timer_create"


@pytest.mark.parametrize("call", UNKNOWN.split())
def test_a_call_that_may_block_and_is_not_simulated(call: str) -> None:
    run = simulate([[ODD, "unknown-wait", call]])
    assert run.exit == 122 and run.reason.startswith(f"{call} is not simulated, which program 0 calls from {ODD}+0x"), run.why()


# Ways of a call that are not simulated, and what is said of each.
UNKNOWN_WAYS = {
    "condition": "a condition that processes share",
    "barrier": "a barrier that processes share",
    "waitpid": "waiting for a process group",
    "waitid": "waitid for other than a process or all",
    "futex": "this operation of a futex",
    "getitimer": "getitimer of another clock than ITIMER_REAL",
    "setitimer": "setitimer of another clock than ITIMER_REAL",
    "timerfd": "timerfd_settime that asks for the old value",
}


@pytest.mark.parametrize("call", UNKNOWN_WAYS)
def test_a_way_of_a_call_that_is_not_simulated(call: str) -> None:
    wrong, right = (simulate([[ODD, "unknown-way", call, way]], "--leaks", "ignore") for way in ("wrong", "right"))
    assert wrong.exit == 122 and wrong.reason.startswith(f"{UNKNOWN_WAYS[call]} is not simulated, which program 0 calls from "), wrong.why()
    assert not right.exit, right.why()


@pytest.mark.parametrize(
    "tool, which, status, said",
    [
        ("thread", "race", 0, "status 0"),
        ("thread", "data-race", 66, "data race"),
        ("address", "race", 0, "status 0"),
        ("address", "use-after-end", 1, "heap-use-after-free"),  # the signal ends it before its channel
    ],
)
def test_sanitizers_see_what_programs_do(tool: str, which: str, status: int, said: str) -> None:
    """Sanitizers see no accesses of the simulation."""
    for seed in range(3):
        argv = ["tools/verbs-sim/verbs-sim", "--seed", str(seed), "--", f"build/tests/sim/programs-{tool}", which]
        done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status and said in done.stderr, done.stderr


SLEEPS = "pthread_join read poll select epoll_wait write pthread_cond_wait sem_wait pause rdma_get_cm_event ibv_get_async_event"


@pytest.mark.parametrize(
    "which, calls",
    [("lock-twice", ["pthread_mutex_lock"]), ("sleep-everywhere", SLEEPS.split())],  # the second ends at SIGTERM
)
def test_it_says_who_sleeps_where(which: str, calls: list[str]) -> None:
    run = small(which)
    said = re.findall(r"^verbs-sim: program 0, thread (\d+) sleeps in (\w+)$", run.err, re.M)
    assert run.exit == 120 and {*said} == {(str(i), call) for i, call in enumerate(calls)}, run.why()


@pytest.mark.parametrize("device", ["roce", "iwarp"])
@pytest.mark.parametrize(
    "which, sleeps, reason",
    [
        ("lose-wake-up", "ibv_get_cq_event", r"CQ \d is armed for the next one, and has completions: no event tells of them"),
        ("forget-to-arm", "ibv_get_cq_event", r"CQ \d is not armed, and has completions: no event tells of them"),
        ("read-no-event", "pause", r"an event of event channel \d is not read"),
    ],
)
def test_it_says_why_nobody_wakes(which: str, sleeps: str, reason: str, device: str) -> None:
    run = simulate([["build/tests/sim/ends", which]], "--device", device)
    lines = run.err.splitlines()
    assert run.exit == 120 and lines[0] == f"verbs-sim: program 0, thread 0 sleeps in {sleeps}", run.why()
    assert len(lines) == 2 and re.fullmatch(f"verbs-sim: program 0: {reason}", lines[1]), run.why()


@pytest.mark.parametrize(
    "which, out",
    [
        ("hour", "3600 s, 3600 s\n"), ("count-hour", "3600.000000 s\n"), ("spin-on-memory", "set\n"), ("free-early", "EBUSY\n"), ("tick", "3 ticks\n"),
        ("ring", "3 s, 0 750000 us of 1 s, sleep 2, alarm 2 1\n"), ("set-anew", "-1 1 8 1\n-1 0 -1 0\n" * 2 + "8 2\n"), ("spin-lock", "300\n"), ("wake-parent", "woken\n"), ("across", "::ffff:192.0.2.7, ECONNREFUSED\n"),
        ("fork", "child: 7\n"), ("interrupted", "EINTR\n"), ("lock-stdout", "aa\naa\n"), ("compute", "0 ms\n"), ("print-errno-late", "ENXIO\n"),
    ],
)  # fmt: skip
def test_what_programs_see(which: str, out: str) -> None:
    run = small(which)
    if which == "count-hour":
        skip_if_real(run)
    assert (run.exit, run.out) == (0, out), run.why()


def test_tcp_accepts_what_nobody_reads_once() -> None:
    run = small("write-to-nobody")
    assert (run.exit, run.out) == (128 + 13, "accepted\n"), run.why()


def test_a_seed_decides_a_race() -> None:
    """Three threads have six orders."""
    outs = [small("race", "--seed", str(seed)).out for seed in range(60)]
    assert {"".join(sorted(out)) for out in outs} == {"abc"} and len({*outs}) == 6


COUNT = "echo >>$RUNS; case $(wc -l <$RUNS) in"  # for sh -c: which run this is
LEAVE_THEN_CRASH = f"{COUNT} 2) exec {ODD} forget;; 3) kill -SEGV $$;; esac"


@pytest.mark.parametrize(
    "options, programs, status, runs",
    [
        ("--seeds 5-7", [[ODD, "tick"]], 0, 3),
        ("-q --seeds 5-7", [[ODD, "tick"]], 0, 1),
        ("--seeds 5-7", [[ODD, "forget"]], 121, 3),
        ("-q --seeds 5-7", [[ODD, "forget"]], 121, 2),  # the first, and the last
        ("-q --seeds 5-7 --leaks report", [[ODD, "forget"]], 0, 1),
        ("--seeds 5-7", [[ODD, "crash"]], 134, 1),
        ("--seeds 5-9", [[ODD, "forget"], ["sh", "-c", f"{COUNT} 3) exit 4;; esac"]], 4, 3),
        ("-q --seeds 5-9", [[ODD, "forget"], ["sh", "-c", f"{COUNT} 3) exit 4;; esac"]], 4, 2),
        ("-q --sweep 1", [["sh", "-c", LEAVE_THEN_CRASH], [ODD, "tick"]], 139, 2),
        ("-q --sweep 0", [[ODD, "forget"]], 121, 1),  # without a fault
        ("-q --sweep 0 --leaks report", [[ODD, "forget"]], 0, 0),
        ("-q --sweep 1", [["sh", "-c", f"{ODD} tick; true"]], 0, 0),  # the program that it starts is program 1
        ("--sweep 2", [[ODD, "tick"]], 2, 1),  # there is none
    ],
)  # fmt: skip
def test_the_worst_of_many_runs(options: str, programs: list[list[str]], status: int, runs: int, tmp_path: Path) -> None:
    """Objects that are left end nothing, and hide nothing."""
    words = [word for program in programs for word in [":::", *program]][1:]
    argv, env = ["tools/verbs-sim/verbs-sim", *options.split(), "--", *words], {**os.environ, "RUNS": str(tmp_path / "runs")}
    done = subprocess.run(argv, cwd=TOP, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count(", hash ")) == (status, runs), done.stderr


# An end of a program, the exit status then, and the status for a server, which may wait until it is told to stop.
ENDS: dict[str, tuple[list[str], int, int]] = {
    "ends": (["true"], 0, 0),
    "leaks": ([ODD, "forget"], 121, 121),
    "does-wrong": (["build/tests/sim/ends", "small-cq", "1"], 124, 124),
    "fails": (["sh", "-c", "exit 3"], 3, 3),
    "is-killed": (["sh", "-c", "kill -KILL $$"], 137, 137),
    "waits": ([ODD, "await-sigterm"], 120, 0),
    "hangs": ([ODD, "lock-twice"], 120, 120),  # also when it gets SIGTERM
    "is-not-simulated": ([ODD, "unknown-wait", "flock"], 122, 122),
}
FINDINGS = (0, 121, 124)  # after any failure, the least first


@pytest.mark.parametrize("server", ENDS)
@pytest.mark.parametrize("client", ENDS)
def test_the_exit_status_of_each_combination(server: str, client: str) -> None:
    both = [ENDS[server][2], ENDS[client][1]]
    due = 122 if 122 in both else next((status for status in both if status not in FINDINGS), max(both))
    run = simulate([ENDS[server][0], ENDS[client][0]])
    assert run.exit == due, run.why()
    lax = simulate([ENDS[server][0], ENDS[client][0]], "--leaks", "ignore", "--allow", "cq-overrun")
    assert lax.exit == (0 if due in FINDINGS else due) and lax.left == "ignored" and not lax.wrong, lax.why()


@pytest.mark.parametrize("which", ENDS)
def test_the_exit_status_of_one(which: str) -> None:
    run = simulate([ENDS[which][0]])
    assert run.exit == ENDS[which][1], run.why()


@pytest.mark.parametrize(
    "expected, program, status, wrong",
    [
        ("0:134", "programs crash", 0, ""),
        ("0:133", "programs crash", 134, ""),
        ("1:134", "programs crash", 134, ""),
        ("0:133 --expect 0:134", "programs crash", 0, ""),
        ("0:3", "programs tick", 124, "program 0: status: it ended with 0, and --expect says otherwise"),
        ("0:0", "programs tick", 0, ""),
        ("0:0", "programs forget", 121, ""),
        ("0:143", "programs restarted", 120, ""),
    ],
)
def test_a_status_on_purpose(expected: str, program: str, status: int, wrong: str) -> None:
    run = simulate([[f"build/tests/sim/{program.split()[0]}", *program.split()[1:]]], "--expect", *expected.split())
    assert (run.exit, run.wrong) == (status, wrong) and f"--expect {expected}" in run.command, run.why()


@pytest.mark.parametrize(
    "options, which, status, names, failures",
    [
        ("--sweep 0", "tick", 0, ["seed 1", "seed 1 --fail 0:1", "seed 1 --fail 0:2", "seed 1 --fail 0:3", "seed 1 --fail 0:4"], {}),
        ("--seeds 2-4", "forget", 121, ["seed 2", "seed 3", "seed 4"], {"seed 2": "1 cm_id", "seed 3": "1 cm_id", "seed 4": "1 cm_id"}),
        ("--seeds 2-4", "lock-twice", 120, ["seed 2"], {"seed 2": "program 0, thread 0 sleeps in pthread_mutex_lock"}),
    ],
)
def test_a_case_for_each_run(options: str, which: str, status: int, names: list[str], failures: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    argv = ["tools/verbs-sim/verbs-sim", "-q", *options.split(), "--junit", str(file), "--", ODD, which, ":::", "true", '<&">']
    begun = time.monotonic()
    done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
    took, suite = time.monotonic() - begun, ElementTree.parse(file).getroot()
    assert all(0 <= float(case.attrib["time"]) <= took for case in suite)
    cases = {case.attrib["name"]: case for case in suite}
    assert done.returncode == status and [*cases] == names and {case.attrib["classname"] for case in suite} == {f'{ODD} {which} ::: true <&">'}
    said = {name: case.findtext("failure", "") for name, case in cases.items() if len(case)}
    assert said.keys() == failures.keys() and all(failures[name] in text for name, text in said.items()), said
    assert (suite.attrib["tests"], suite.attrib["failures"]) == (str(len(names)), str(len(failures)))


def test_a_file_that_cannot_be_written() -> None:
    argv = ["tools/verbs-sim/verbs-sim", "--junit", "/dev/full", "--", ODD, "tick"]
    assert subprocess.run(argv, cwd=TOP, capture_output=True, timeout=60, check=False).returncode == 125


def test_its_version() -> None:
    done = subprocess.run(["tools/verbs-sim/verbs-sim", "--version"], cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and re.fullmatch(r"verbs-sim ([\d.]+, commit [0-9a-f]+(-dirty)?|not known)\n", done.stdout), done


def test_findings_have_names() -> None:
    """--help lists the names in the sources."""
    sources = "".join(file.read_text() for file in sorted((TOP / "tools/verbs-sim").glob("*/*.c")))
    names = {text.split(": ")[0] for text in re.findall(r'\tsim_blame\([^;]*?"([^"]*)"', sources)}
    text = subprocess.run(["tools/verbs-sim/verbs-sim", "--help"], cwd=TOP, capture_output=True, text=True, timeout=60, check=True).stdout
    listed = re.search(r"--allow FINDING .*\n((?: +[a-z -]+\n)+)", text)
    assert listed and listed[1].split() == sorted(names) == sorted({"always", "status", *(row[0] for row in WRONG)}), text


@pytest.mark.parametrize(
    "fault, why",
    [
        ("0:read:4", "program 0 made 3 such calls"), ("0:4", "program 0 made 3 such calls"), ("1:1", "program 1 made 0 such calls"),
        ("0:read:3:PORT_ERR", ""), ("0:3:PORT_ERR", ""),
        ("0:3:UNREACHABLE", "program 0 had no id to tell"), ("0:3:WR_FLUSH_ERR", "no completion came after it"),
    ],
)  # fmt: skip
def test_a_fault_that_does_not_happen(fault: str, why: str) -> None:
    """Behind one that does."""
    run = small("tick", "--fail", "0:read:1:PORT_ERR", "--fail", fault)
    said = re.findall(r"^verbs-sim: --fail (\S+) did not happen: (.*)$", run.err, re.M)
    assert not run.exit and said == ([(fault, why)] if why else []), run.why()


@pytest.mark.parametrize("words, who", [(f"{ODD} count-hour", ["0", "1"]), ("ibv_devinfo", [])], ids=["counts", "does-not"])
def test_who_may_see_real_time(words: str, who: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """If the counter cannot be simulated, verbs-sim names the programs that may read it, and no others. In a program of ours the bytes
    of that instruction may come to be part of another one with any change: Debian's has none."""
    if not shutil.which(words.split()[0]):
        pytest.skip("ibv_devinfo is not there: ibverbs-utils")
    monkeypatch.setenv("LD_PRELOAD", "build/tests/untrapped.so")
    run = simulate([words.split()] * 2)
    assert not run.exit, run.why()
    assert re.findall(r"^verbs-sim: program (\d+) may read the processor's counter", run.err, re.MULTILINE) == who


def test_an_asynchronous_event() -> None:
    run = small("async-event", "--fail", "0:3:PORT_ERR")
    assert (run.exit, run.out) == (0, "port error, port 1\n"), run.why()


def test_who_may_wait_until_told_to_stop() -> None:
    """Only a server. A client that has to be told fails, even if it then ends with 0."""
    programs = [["build/tests/sim/programs", "await-sigterm"]] * 2
    both, first = simulate(programs, "--servers", "2"), simulate(programs)
    assert (both.exit, both.statuses) == (0, [0, 0]), both.why()
    assert (first.exit, first.statuses, first.told) == (120, [0, 0], [0, 1]), first.why()


def test_a_sweep_reports_each_run_that_went_wrong() -> None:
    """The program uses the object that it did not get."""
    status, lines = sweep("0", [["build/tests/sim/programs", "free-early"]])
    assert status == 128 + 11 and lines[-1].endswith(f"{len(lines) - 1} not as they should be"), lines
    assert any("status 139" in line and "fault: OPEN_UVERBS failed" in line for line in lines), lines


# Words that are refused, words that differ in one thing and are not, and the reason, behind "verbs-sim: ".
REFUSED = [
    ("--no-such-option -- true", "--apart -- true", "this is no option"),
    ("--seed x -- true", "--seed 0 -- true", "--seed x: no number"),
    ("--seed 18446744073709551616 -- true", "--seed 18446744073709551615 -- true", "--seed 18446744073709551616: no number"),
    ("--seed -1 -- true", "--seed 1 -- true", "--seed -1: no number"),
    ("--seeds 5-4 -- true", "--seeds 5-5 -- true", "--seeds 5: no range"),
    ("--seeds 0 -- true", "--seeds 1 -- true", "--seeds 0: no range"),
    ("--seeds 5- -- true", "--seeds 5-6 -- true", "--seeds 5: no range"),
    ("--device roce=/no/file -- true", "--device roce -- true", "--device roce=/no/file: /no/file is wrong"),
    ("--strategy x -- true", "--strategy busy -- true", "--strategy x: random, pct, busy or mixed"),
    ("--leaks x -- true", "--leaks ignore -- true", "--leaks x: fail, report or ignore"),
    ("--sweep x -- true", "--sweep 0 -- true", "--sweep x: not S[:HOW], nor S:message"),
    ("--sweep 0:message:0 -- true", "--sweep 0:message:1 -- true", "--sweep 0:message:0: not S[:HOW], nor S:message"),
    ("--sweep 0:message:x -- true", "--sweep 0:message -- true", "--sweep 0:message:x: not S[:HOW], nor S:message"),
    ("--sweep 0:messages -- true", "--sweep 0:SIGWINCH -- true", "--sweep 0:messages: not S[:HOW], nor S:message"),
    ("--allow x -- true", "--allow depth -- true", "--allow x: none of always changed-send "),
    ("--allow -- true", "--allow always -- true", "--allow --: none of always changed-send "),
    ("--allow depth-inline -- true", "--allow depth --allow inline -- true", "--allow depth-inline: none of always "),
    ("--expect 1 -- true", "--expect 1:0 -- true", "--expect 1: not S:STATUS"),
    ("--expect 0:1x -- true", "--expect 1:1 -- true", "--expect 0:1x: not S:STATUS"),
    ("--servers x -- true", "--servers 0 -- true", "--servers x: no number"),
    ("--servers 1000001 -- true", "--servers 1000000 -- true", "--servers 1000001: no number"),
    ("--gdb x -- true", "--gdb 1 -- true", "--gdb x: no number"),
    ("--limit -1 -- true", "--limit 1 -- true", "--limit -1: no number"),
    ("--patience x -- true", "--patience 1 -- true", "--patience x: no number"),
    ("--cpus 0 -- true", "--cpus 1 -- true", "--cpus 0: no number from 1 on"),
    ("--cpus 1 --quantum 0 -- true", "--cpus 1 --quantum 1 -- true", "--quantum 0: no number from 1 on"),
    ("--cpus 1 --workers 65 -- true", "--cpus 1 --workers 64 -- true", "--workers 65: no number up to 64"),
    ("--workers 1 -- true", "--workers 0 -- true", "--workers without --cpus"),
    ("--choices /no/file -- true", "--choices /dev/null -- true", "--choices /no/file: No such file or directory"),
    ("--fail 1 -- true", "--fail 0:1 -- true", "--fail 1: not SIDE:[CALL:]N[:HOW]"),
    ("--fail 0:0 -- true", "--fail 0:1 -- true", "--fail 0:0: not SIDE:"),
    ("--fail -1:1 -- true", "--fail 4095:1 -- true", "--fail -1:1: not SIDE:"),
    ("--fail 4096:1 -- true", "--fail 4095:1 -- true", "--fail 4096:1: not SIDE:"),
    ("--fail 0:1: -- true", "--fail 0:1:0 -- true", "--fail 0:1:: not SIDE:"),
    ("--fail 0:1:NOTHING -- true", "--fail 0:1:ENOMEM -- true", "--fail 0:1:NOTHING: not SIDE:"),
    ("--fail 0:1:SIGNOTHING -- true", "--fail 0:1:SIGWINCH -- true", "--fail 0:1:SIGNOTHING: not SIDE:"),
    ("--fail 0:rdma_connect -- true", "--fail 0:rdma_connect:1 -- true", "--fail 0:rdma_connect: not SIDE:"),
    ("--fail 0:no_such_call:1 -- true", "--fail 0:accept:1 -- true", "--fail 0:no_such_call:1: no call no_such_call is counted"),
    ("--fail 0:sem_post:1 -- true", "--fail 0:sem_wait:1 -- true", "--fail 0:sem_post:1: no call sem_post is counted"),
    ("--fail 0:1:REJECTED=x -- true", "--fail 0:1:REJECTED=8 -- true", "--fail 0:1:REJECTED=x: not SIDE:"),
    ("--fail 0:1:REJECTED=8x -- true", "--fail 0:1:REJECTED=EPROTO -- true", "--fail 0:1:REJECTED=8x: not SIDE:"),
    ("--fail 0:1:PORT_ERR=1 -- true", "--fail 0:1:PORT_ERR -- true", "--fail 0:1:PORT_ERR=1: not SIDE:"),
    ("--fail 0:1:SILENCE=0s -- true", "--fail 0:1:SILENCE=1s -- true", "--fail 0:1:SILENCE=0s: not SIDE:"),
    ("--fail 0:1:SILENCE=rxe0 -- true", "--fail 0:1:PORT_DOWN=rxe0 -- true", "--fail 0:1:SILENCE=rxe0: not SIDE:"),
    ("--fail 0:1:PORT_UP=1s -- true", "--fail 0:1:PORT_UP -- true", "--fail 0:1:PORT_UP=1s: not SIDE:"),
    ("--fail 0:1:PORT_DOWN=rxe1 -- true", "--fail 0:1:PORT_DOWN=rxe0 -- true", "--fail 0:1:PORT_DOWN=rxe1: there is no device rxe1"),
    ("--fail 0:1:LOSSY=0 -- true", "--fail 0:1:LOSSY=1 -- true", "--fail 0:1:LOSSY=0: not SIDE:"),
    ("--fail 0:1:PARTITION=4096 -- true", "--fail 0:1:PARTITION=1 -- true", "--fail 0:1:PARTITION=4096: not SIDE:"),
    ("--fail 0:1:ZERO=0 -- true", "--fail 0:message:1:ZERO=0 -- true", "--fail 0:1:ZERO=0: not SIDE:"),
    ("--fail 0:message:1:EIO -- true", "--fail 0:message:1:SHORT -- true", "--fail 0:message:1:EIO: not SIDE:"),
    ("--fail 0:message:1:ZERO -- true", "--fail 0:message:1:LONG -- true", "--fail 0:message:1:ZERO: not SIDE:"),
    ("--fail 0:message:1:SHORT=1 -- true", "--fail 0:message:1:FLIP=1 -- true", "--fail 0:message:1:SHORT=1: not SIDE:"),
    ("--fail 0:message:1:FLIP=x -- true", "--fail 0:message:1:FLIP=0 -- true", "--fail 0:message:1:FLIP=x: not SIDE:"),
    ("--fail 0:message:1:FLIP=4294967295 -- true", "--fail 0:message:1:FLIP=4294967294 -- true", "--fail 0:message:1:FLIP=4294967295: not SIDE:"),
    ("--fail 0:ibv_post_send:1:FLIP=0 -- true", "--fail 0:ibv_post_send:1:EIO -- true", "--fail 0:ibv_post_send:1:FLIP=0: not SIDE:"),
    ("--fail 0:1:SHORT -- true", "--fail 0:message:1:SHORT -- true", "--fail 0:1:SHORT: not SIDE:"),
    ("--fail 0:rdma_connect:1:MULTICAST_ERROR -- true", "--fail 0:rdma_join_multicast:1:MULTICAST_ERROR -- true", "--fail 0:rdma_connect:1:MULTICAST_ERROR: not SIDE:"),
    ("--", "-- true", "no program"),
    ("-- :::", "-- true ::: true", "no program"),
    ("-- true :::", "-- true ::: true", "no program behind :::"),
    *((f"--shrink {words}", f"{words} --apart", "--shrink with --sweep, --steps, --junit, --coverage or --gdb") for words in ("--sweep 0 -- true", "--steps /dev/null", "--junit /dev/null -- true", "--coverage -- true", "--gdb 1 -- true")),
]  # fmt: skip


def tool(words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["tools/verbs-sim/verbs-sim", *words.split()], cwd=TOP, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("words, neighbour, reason", REFUSED)
def test_wrong_usage(words: str, neighbour: str, reason: str) -> None:
    """The neighbour is none: its program runs, whatever comes of it."""
    refused = tool(words)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1 + ("unrecognized" in refused.stderr)), refused.stderr
    assert refused.stderr.splitlines()[-1].startswith(f"verbs-sim: {reason}") and refused.stderr.endswith("; see verbs-sim --help\n"), refused.stderr
    said = tool(neighbour).stderr
    assert "; see verbs-sim --help" not in said and ", left over: " in said, said


@pytest.mark.parametrize(
    "wrong, right",
    [
        ("start", "start true"), ("start >/dev/null", "start >/dev/null true"),
        ("until 0", "until 0 out 1 x"), ("until 0 out", "until 0 out 1 x"), ("until 0 out 1", "until 0 out 1 x"), ("until 0 out 0 x", "until 0 out 1 x"), ("until 0 all 1 x", "until 0 err 0001 y"), ("until 9 out 1 x", "until 0 out 1 x"),
        ("wait", "wait 0"), ("wait -1", "wait 1"), ("wait inf", "wait 1e3"), ("wait 1x", "wait 1"), ("wait 1 9", "wait 1 0"), ("wait 1 0 0", "wait 1 0"), ("wait 1 x", "wait 1 0"),
        ("signal 0", "signal 0 SIGUSR2"), ("signal 0 USR2", "signal 0 SIGUSR2"), ("signal 9 SIGUSR2", "signal 0 SIGUSR2"), ("signal 0 SIGUSR2 x", "signal 0 SIGCONT"),
        ("fail 0", "fail 0 PORT_ERR"), ("fail 0 ENOMEM", "fail 0 SILENCE=1s"), ("fail 9 REMOVAL", "fail 0 REMOVAL"), ("fail 0 PORT_DOWN=rxe1", "fail 0 PORT_DOWN=rxe0"), ("fail 0 PORT_DOWN 1", "fail 0 PORT_DOWN"),
        ("look 1", "look"), ("end 1", "end"), ("begin", "# begin"), ("loo", ""),
    ],
)  # fmt: skip
def test_a_step_that_cannot_be_done(wrong: str, right: str, tmp_path: Path) -> None:
    """A program has started, and waits. The other step can be."""
    first = f"start sh -c echo${{IFS}}x;echo${{IFS}}y>&2;{ODD}${{IFS}}await-sigterm"
    refused, done = steps(tmp_path, first, "wait 1", wrong), steps(tmp_path, first, "wait 1", right)
    assert refused.exit == 2 and refused.reason == f"step 3 cannot be done: {wrong}", refused.why()
    assert done.exit != 2 and "cannot be done" not in done.reason, done.why()


@pytest.mark.parametrize(
    "options, words",
    [
        ("--iwarp --strict --leaks report", "PROGRAMS forget"), ("--strict", "ENDS small-cq 1"), ("--device adapter,name=a,address=192.0.2.1 --allow small-cq --allow cq-overrun", "ENDS small-cq 1"),
        ("--patience 3", "sh -c 'PROGRAMS hour; echo \"it'\\''s  there\" >&2'"), ("--seed 7 --strategy pct --servers 2 --expect 0:3 --expect 1:7", "PROGRAMS race ::: sh -c 'exit 7'"),
        ("--fail 0:read:2:SIGTERM --cpus 2 --quantum 100 --workers 3", "PROGRAMS tick"), ("--fail '0:1:PARTITION=1/2s' --choices '/dev/null'", "true ::: echo '' '[a]*' '~' '$HOME' '#' '!x' ';' 'a\\b'"),
        ("--steps 'STEPS'", ""),
    ],
)  # fmt: skip
def test_the_last_line_repeats_the_run(options: str, words: str, tmp_path: Path) -> None:
    """A shell reads it, and the second run ends with the same line."""
    file = tmp_path / "some steps"
    file.write_text(f"start {ODD} race\nwait 1\n")
    words = words.replace("PROGRAMS", ODD).replace("ENDS", "build/tests/sim/ends")
    first = f"verbs-sim {options.replace('STEPS', str(file))}{f' -- {words}' if words else ''}"
    env = {**os.environ, "PATH": f"{TOP}/tools/verbs-sim:{os.environ['PATH']}"}
    one = subprocess.run(first, shell=True, cwd=TOP, env=env, capture_output=True, text=True, timeout=60, check=False)
    command = one.stderr.splitlines()[-1].partition(", hash ")[2].partition(": ")[2]
    other = subprocess.run(command, shell=True, cwd=TOP, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert command and other.stderr == one.stderr and (other.stdout, other.returncode) == (one.stdout, one.returncode), one.stderr + other.stderr


@pytest.mark.parametrize("option, most", [("--device roce", 8), ("--fail 0:9", 63), ("--expect 0:0", 64)])
def test_as_often_as_it_may_be_given_and_once_more(option: str, most: int) -> None:
    for times, status in ((most, 0), (most + 1, 2)):
        argv = ["tools/verbs-sim/verbs-sim", *option.split() * times, "--", "true"]
        done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status, done.stderr


def test_each_refusal_of_the_command_line_has_a_row() -> None:
    """Each text of the sources begins a reason, up to its first value; the memory and the files of the tool itself have none."""
    texts = {text.partition("%")[0] for text in re.findall(r'refuse\("([^"]*)"', (TOP / "tools/verbs-sim/runner/options.c").read_text())}
    missing = {text for text in texts if not any(reason.startswith(text) for _, _, reason in REFUSED)}
    assert missing == {"more than ", "out of memory", "/proc/self/exe: ", "there is no "}


def test_the_library_alone() -> None:
    env = {**os.environ, "LD_PRELOAD": "tools/verbs-sim/libverbs-sim.so"}
    done = subprocess.run([ODD, "tick"], cwd=TOP, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 127 and 'start the program by "verbs-sim -- PROGRAM"' in done.stderr, done.stderr


@pytest.mark.parametrize("number, flow", [(0, "<"), (1, ">"), (2, ">")])
def test_a_standard_stream_that_is_closed(number: int, flow: str) -> None:
    """It does not become a file of the simulation, and what programs do with it fails."""
    use = "read word" if flow == "<" else f"echo word >&{number}"
    shell = f"exec tools/verbs-sim/verbs-sim -- sh -c '{use}; exit $((40 + $?))' {number}{flow}&-"
    done = subprocess.run(["sh", "-c", shell], cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (41, 42) and ("status 4" in done.stderr) == (number != 2), done.stderr


def test_a_folder_changes_nothing(tmp_path: Path) -> None:
    """Whatever its path has in it, the path of the library has the same length for the programs."""
    said = set()
    for name in ("a", "with a space", "a:colon", "long" * 20):
        (tmp_path / name).mkdir()
        for file in ("verbs-sim", "libverbs-sim.so"):
            shutil.copy(TOP / "tools/verbs-sim" / file, tmp_path / name)
        argv = [str(tmp_path / name / "verbs-sim"), "--", "sh", "-c", f"echo ${{#LD_PRELOAD}}; exec {ODD} tick"]
        done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
        said.add((done.returncode, done.stdout, done.stderr.partition(": verbs-sim --seed")[0]))
    ((status, out, err),) = said
    assert status == 0 and int(out.split()[0]) > 100 and ", hash " in err, said


def test_a_program_that_does_not_exist() -> None:
    assert simulate([["./no-such-program"]]).exit == 127


# A finding, its device, the smallest number that is wrong, and the next one that is not.
WRONG = [
    ("changed-send", "roce", "change-sent 63", "change-sent 64"),
    ("cq-overrun", "adapter", "small-cq 1", "small-cq 2"),
    ("depth", "roce", "depths 14", "depths 13"),
    ("depth", "roce", "depths 23", "depths 13"),
    ("inline", "iwarp", "inline 1", "inline 0"),
    ("no-receive", "roce", "prepared 0", "prepared 1"),
    ("posted-memory", "roce", "free-posted 1", "free-posted 0"),
    ("posted-memory", "roce", "deregister-posted 63", "deregister-posted 64"),
    ("posted-memory", "roce", "pooled-free-posted 1", "pooled-free-posted 0"),
    ("posted-memory", "iwarp", "pooled-deregister-posted 63", "pooled-deregister-posted 64"),
    ("posted-memory", "roce", "deregister-sent 0", "deregister-sent 1"),
    ("posted-memory", "roce", "deregister-flushed 0", "deregister-flushed 1"),
    ("read-access", "iwarp", "read-into-own 1", "read-into-own 0"),
    ("read-pieces", "iwarp", "read-into-own 2", "read-into-own 1"),
    ("retry-count", "roce", "unprepared 0", "unprepared 1"),
    ("retry-count", "roce", "unprepared 7", "unprepared 6"),
    ("rnr-retry-count", "roce", "unprepared 0", "unprepared 1"),
    ("shared-receive", "roce", "chains 63", "chains 64"),
    ("shared-receive", "roce", "chains -63", "chains -64"),
    ("small-cq", "adapter", "small-cq 15", "small-cq 16"),
    ("small-cq", "adapter", "two-pools 13", "two-pools 14"),
]


@pytest.mark.parametrize("finding, device, guilty, innocent", WRONG)
def test_what_works_only_by_chance(finding: str, device: str, guilty: str, innocent: str) -> None:
    """The device tolerates it. Only a CQ that overruns is always reported."""
    strict, right = (simulate([["build/tests/sim/ends", *words.split()]], "--strict", "--device", device) for words in (guilty, innocent))
    assert f"program 0: {finding}: " in strict.wrong and f": {finding}: " not in right.wrong, strict.why() + right.why()
    for options in (["--trace"], ["--strict", "--allow", finding]):
        lax = simulate([["build/tests/sim/ends", *guilty.split()]], "--device", device, *options)
        assert (f": {finding}: " in lax.wrong) == (finding == "cq-overrun" and options == ["--trace"]), lax.why()


@pytest.mark.parametrize("program", ["programs", "programs-address", "programs-thread"])
def test_an_allocation_that_fails(program: str) -> None:
    """Runs with each sanitizer; --fail fails only allocations of the program."""
    run = simulate([[f"build/tests/sim/{program}", "allocate"]], "--fail", "0:malloc:2")
    assert (run.exit, run.out, run.fault) == (0, "good, failed\n", "malloc failed: Cannot allocate memory"), run.why()


def test_the_helper_copies_between_programs_what_they_may_write() -> None:
    """With --users. More than one page of it, and neither from nor to the runner."""
    run = simulate([["build/tests/sim/helped"]], "--users")
    refused = "a byte that is read-only: -1, -1, the runner's: -1, -1\n"
    assert run.out == f"read its memory: 8192, {refused}write its memory: 8192, {refused}", run.why()


@pytest.mark.parametrize("options, said", [([], "1 2 3"), (["--apart"], "1 3 2")])
def test_what_each_has_written_comes_together(options: list[str], said: str) -> None:
    """The first one is killed after the second one has ended."""
    programs = [["sh", "-c", "echo 1; sleep 2; echo 3; kill -9 $$"], ["sh", "-c", "sleep 1; echo 2; echo 4 >&2"]]
    run = simulate(programs, *options)
    assert run.out.split() == said.split() and run.statuses == [137, 0] and run.err.strip() == "4", run.why()


def test_a_step_sees_each_line_on_stdout(tmp_path: Path) -> None:
    """stdout is a file, for which the C library would otherwise choose a block-buffered stream."""
    run = steps(tmp_path, f"start {ODD} await-sigterm", "until 0 out 1 ready", "signal 0 SIGKILL")
    assert (run.exit, run.out) == (137, "ready\n"), run.why()


def test_what_a_program_holds() -> None:
    """Compares heap, descriptors and registered memory at each second with those at first."""
    said = answers([f"start {ODD} hold", "wait 1", "wait 1.5", "wait 1", "wait 1", "wait 1", "end"])
    holds = [run["programs"][0] for run in said[1:-1]]
    first, small, large, locked, last = holds
    assert small["heap_blocks"] == large["heap_blocks"] == first["heap_blocks"] + 2
    assert [one["heap_bytes"] - first["heap_bytes"] for one in (small, large)] == [25 + 1024, 25 + 3 * 1024]
    assert [one["descriptors"] - first["descriptors"] for one in holds] == [0, 0, 1, 1, 0]
    assert [one["locked_bytes"] for one in holds] == [0, 0, 0, 2000, 0] and {one["threads"] for one in holds} == {1}
    assert (last["heap_blocks"], last["heap_bytes"]) == (first["heap_blocks"], first["heap_bytes"])
