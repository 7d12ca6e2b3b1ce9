# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""run_cases.py FOLDER: builds a submission and runs it against partners of the project, in the lab's guest.

Place: grade.py starts it there, as root. Contract: FOLDER has job.json and the tree of the submission; results.json is
written there. The submission is compiled and run in the jail (jail.py), with limits on time. Its output is
stored, and judged elsewhere.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools import folders

from . import call, jail, witness

TOP = Path(__file__).resolve().parents[1]
TRACER = ("tools/verbs-trace/verbs-trace", "tools/verbs-trace/libverbs-trace.so")
LOADED = "tools/verbs-sim/libverbs-sim.so"  # verbs-sim loads this into programs, by its path
SIMULATOR = ("tools/verbs-sim/verbs-sim", "build/course/enter", "build/tests/peer", "build/course/corrupt", "build/course/misnumber",
             "course/over_sim.py", "course/odd_peers.py", "tools/verbs-sim/verbs_sim.py", "course/recovery.py", "build/course/adder",
             "build/tests/sim/programs", "tests/sim/linearizable.py")  # fmt: skip
BUILD_S = 240
AWAIT_S = 20
CALLS_S = 20  # seconds for all calls of a function from outside
TICK_S, MOST_TICK_S, LOOK_S = 0.05, 0.5, 1.0
PORTS = range(20000, 30000)
LATE_CASES = 3  # after this many late cases the others are not run
STILL = "was still running"
DEFAULT_STEPS = {  # steps for the sides that a case has
    ("server", "client"): [["start", "server"], ["listening", "server"], ["start", "client"]],
    ("client",): [["start", "client"]],
    ("server",): [["start", "server"], ["listening", "server"]],
}


def cpu_ticks(pid: int) -> int:
    """The processor time of a process and of those of its descendants that still exist."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):  # the process has just ended
        return 0
    return sum(map(int, fields[11:15])) + sum(cpu_ticks(int(child)) for child in children)


class Limit:
    """A limit on the time of a wait. At most MOST_TICK_S is counted from one call of `over` to the next, so that time
    in which the host does not run this machine does not count. With `idle`, the limit is also reached when `activity`
    has returned the same value for that many seconds."""

    def __init__(self, seconds: float, idle: float | None = None, activity: Callable[[], object] = lambda: None) -> None:
        self.seconds, self.left, self.most_idle, self.activity = seconds, seconds, idle, activity
        self.idle, self.since_look, self.seen = 0.0, 0.0, activity()
        self.time = time.monotonic()

    def over(self) -> bool:
        """Returns whether the limit is reached. To be called every TICK_S."""
        now = time.monotonic()
        tick = min(now - self.time, MOST_TICK_S)
        self.time = now
        self.left -= tick
        self.idle += tick
        self.since_look += tick
        if self.most_idle is not None and self.since_look >= LOOK_S:
            self.since_look, before = 0.0, self.seen
            self.seen = self.activity()
            self.idle = self.idle if self.seen == before else 0.0
        return self.left < 0 or (self.most_idle is not None and self.idle > self.most_idle)


    def reached(self) -> str:
        """Describes what a process did until the limit was reached."""
        return f"{STILL} after {self.seconds:g} s" if self.left < 0 else f"used no CPU for {self.most_idle:g} s"


class Side:
    """One process of a case: the submission's, or a partner."""

    def __init__(self, what: dict[str, Any], name: str, user: int, trace: str) -> None:
        program, settings = what["program"], what.get("environment", {})
        self.own = (jail.ROOT / "work" / program).is_file()
        self.trace = jail.Trace(name) if self.own and program in ("client", "server") else None
        if program == "sim":
            self.own = True
            run = jail.beside(["python3", "-B", "-m", "course.over_sim", *what["arguments"]], "/work/project", user)
        elif self.own:
            tracer = ["/work/verbs-trace", trace, "-o", self.trace.path] if self.trace else []
            words = [*tracer, f"/work/{program}", *what["arguments"]]
            run = jail.confined(words, "/", what.get("connects", True), jail.RUNS, user, **settings)
        else:
            run = [str(TOP / program), *what["arguments"]]
        self.process = subprocess.Popen(
            run, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **settings}, cwd="/"
        )
        self.out, self.err = jail.Stream(self.process.stdout), jail.Stream(self.process.stderr)

    def wait(self, stream: jail.Stream, text: str, times: int = 1) -> None:
        """Waits until a stream has the text that many times, or the process has ended, or the limit is reached."""
        limit = Limit(AWAIT_S)
        while not limit.over() and self.process.poll() is None and stream.kept.count(text.encode()) < times:
            time.sleep(TICK_S)  # there is no event to wait for

    def leaf(self) -> int:
        """The pid of the program itself: in the jail, the child of the process that waits for it."""
        pid = self.process.pid
        if self.own:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            return int(children[0]) if children else pid
        return pid

    def returned(self, calls: list[list[int]]) -> tuple[list[int], int | str]:
        """The results of the function whose address the program prints, for each of these arguments, and the program's status. If
        the program ends early, there are fewer results."""
        self.wait(self.out, "\n")
        found, begun = list[int](), time.monotonic()
        watchdog = threading.Timer(CALLS_S, jail.kill, (self.process,))
        watchdog.start()
        try:
            function = int(self.out.kept.split(b"\n")[0], 16) % 2**64
            for result in call.results(self.leaf(), function, calls):
                found.append(result)
            return found, 0
        except call.Crashed as crash:
            return found, -int(crash.args[0])
        except (call.Ended, ValueError, FileNotFoundError):
            status = self.process.wait()
            return found, status if time.monotonic() - begun < CALLS_S else f"was still running after {CALLS_S} s"
        finally:
            watchdog.cancel()
            if self.process.poll() is None:
                jail.kill(self.process)

    def interrupt(self) -> None:
        """Sends SIGINT, as Ctrl-C does."""
        if self.process.poll() is None:
            try:
                os.kill(self.leaf(), signal.SIGINT)
            except (FileNotFoundError, ProcessLookupError):  # the process has just ended
                pass

    def status(self, limit: Limit, late: str) -> int | str:
        """The exit status of the process, or the reason why it had to be ended: `late`, if the limit does not give one."""
        while not limit.over():
            try:
                return self.process.wait(TICK_S)
            except subprocess.TimeoutExpired:
                pass
        jail.kill(self.process) if self.own else self.process.kill()
        self.process.wait()
        return late or limit.reached()

    def end(self, limit: Limit, late: str) -> dict[str, Any]:
        """Waits for its end, at most until the limit. Returns its exit status, outputs and trace."""
        status = self.status(limit, late)
        trace = self.trace.text().splitlines() if self.trace else []
        return {"status": status, "out": self.out.text(), "err": self.err.text(), "trace": trace}


class Case:
    """A case: its sides, and its steps in their order."""

    def __init__(self, case: dict[str, Any], port: int, trace: str) -> None:
        self.what = {name: case[name] for name in ("server", "client", "holder") if name in case}
        self.steps = case.get("steps") or DEFAULT_STEPS[tuple(name for name in ("server", "client") if name in case)]
        self.seconds, self.idle_seconds = case["seconds"], case.get("idle_seconds")
        self.port, self.user, self.transport, self.trace = port, jail.new_user(), case["transport"], trace
        self.sides: dict[str, Side] = {}
        self.result: dict[str, Any] = {}
        self.restarts = 0
        self.meter: list[list[float]] = []  # a clock, and the CPU time of all processes in the jail
        address = os.environ["LAB_ROCE_ADDR" if case["transport"] == "RoCE" else "LAB_IWARP_ADDR"]
        for side in self.what.values():
            if side.get("connects", True):
                side["arguments"] += ["-a", address, "-p", str(port)]

    def late(self) -> str:
        """Describes a process that did not end in time. The other one, which waits for it, did not end either."""
        return next((result["status"] for result in self.result.values() if isinstance(result["status"], str)), "")

    def activity(self) -> object:
        """A value that changes as long as a program of the submission uses processor time."""
        return [cpu_ticks(side.process.pid) for side in self.sides.values() if side.own and side.process.poll() is None]

    def seen(self) -> dict[str, Any]:
        """The kernel's record of the submission."""
        found = witness.now([side.process.pid for side in self.sides.values() if not side.own])
        return found if self.transport == "RoCE" else {**found, "sends": None}  # soft-iWARP is not watched

    def await_seen(self, name: str, call: str, times: int) -> None:
        """Waits until the kernel has seen a call of the submission that many times, or a side has ended, or the limit is
        reached."""
        limit = Limit(AWAIT_S)
        while not limit.over() and self.sides[name].process.poll() is None and self.seen()[call] < times:
            time.sleep(TICK_S)

    def end(self, name: str) -> None:
        """Waits for a side's end. When the other side has ended, the wait is shorter."""
        if name not in self.sides or name in self.result:
            return
        seconds = self.seconds if not self.result or not self.idle_seconds else self.idle_seconds
        called: dict[str, Any] = {}
        if "calls" in self.what[name]:
            called["returned"], called["status"] = self.sides[name].returned(self.what[name]["calls"])
        limit = Limit(2 if self.late() else seconds, self.idle_seconds, self.activity)
        self.result[name] = {**self.sides[name].end(limit, self.late()), **called}

    def step(self, action: str, name: str, *words: Any) -> None:
        """Carries out one step."""
        if action == "start":
            self.sides[name] = Side(self.what[name], f"{self.port}-{name}", self.user, self.trace)
        elif action == "listening":
            self.sides[name].wait(self.sides[name].err, "listening on")
        elif action == "said":
            self.sides[name].wait(self.sides[name].err, *words)
        elif action == "printed":
            self.sides[name].wait(self.sides[name].out, *words)
        elif action == "restart":
            self.restarts += 1
            self.sides[name].end(Limit(0), "was killed")
            self.sides[name] = Side(self.what[name], f"{self.port}-{name}-{self.restarts}", self.user, self.trace)
        elif action == "seen":
            self.await_seen(name, *words)
        elif action == "meter":
            self.meter.append([time.monotonic(), jail.cpu_seconds()])
        elif action == "interrupt":
            self.sides[name].interrupt()
        elif action == "end":
            self.end(name)
        else:
            raise ValueError(f"no such step: {action}")

    def run(self) -> dict[str, Any]:
        """Carries out all steps."""
        witness.forget()
        jail.begin_case()
        for step in self.steps:
            self.step(*step)
        for name in ("client", "holder", "server"):
            self.end(name)
        for name, side in self.sides.items():
            if side.own:
                self.result[name]["kernel"] = {**self.seen(), "meter": self.meter}
        return self.result


def not_run(case: dict[str, Any]) -> dict[str, Any]:
    """The result of a case that is not run, because too many cases before it were late."""
    status = "was not run, because too many cases before did not end in time"
    result = {"status": status, "out": "", "err": "", "trace": []}
    return {name: result for name in ("server", "client", "holder") if name in case}


def run_all(cases: list[dict[str, Any]], order: list[int], trace: str, alone: bool) -> list[dict[str, Any]]:
    """Runs the cases in this order, each with a port that says nothing of the case, and these options of verbs-trace. Returns
    their results. If it is not alone on its machine, it ends with the first case that takes too long: grade_all.py then has the
    submission graded once more."""
    ports = random.SystemRandom().sample(PORTS, len(cases))
    late, every = 0, [not_run(what) for what in cases]
    for number in order:
        if late < LATE_CASES:
            case = Case(cases[number], ports[number], trace)
            every[number] = case.run()
            late += LATE_CASES if STILL in case.late() and not alone else bool(case.late())
    return every


def install(tree: Path, job: dict[str, Any]) -> tuple[int, str]:
    """Builds the programs, and puts what they need into the jail, and what their partners need beside it. Returns an exit
    status, and what the compiler said."""
    built = jail.build(tree, job["commands"], job["programs"], BUILD_S)
    for name in TRACER:
        shutil.copy(TOP / name, jail.ROOT / "work")
    references = [f"{folders.folder(stage)}/{role}" for stage in (job["stage"], "ping-sr-1") for role in ("client", "server")]
    jail.lend([*TRACER, LOADED], TOP)
    jail.lend([*TRACER, LOADED, *SIMULATOR, *references], TOP, jail.PARTNERS)
    return built


def main() -> None:
    """Builds the programs, and runs all cases."""
    # If a submission uses up the memory, the kernel should kill it and not this process.
    Path("/proc/self/oom_score_adj").write_text("-900")
    folder = Path(sys.argv[1])
    job = json.loads((folder / "job.json").read_text())
    jail.prepare()
    witness.prepare()
    status, said = install(folder / "tree", job)
    results = run_all(job["cases"], job["order"], job["trace"], job["alone"]) if not status else []
    (folder / "results.json").write_text(json.dumps({"status": status, "said": said, "cases": results}))


if __name__ == "__main__":
    main()
