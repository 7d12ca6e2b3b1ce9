# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Other work beside a connection: the arithmetic of what it loses, by hand and against an ideal scheduler in simulated time, and the
sentences about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.comparison import busy, displaced, law, page, runner, simulated, store
from bench.comparison.children import Children
from bench.comparison.plan import EVERY, GROUPS, MT, Point
from bench.comparison.ways import WAYS
from comparing.made_up import NOISE, WILD
from comparing.test_law import known


def laps(folder: Path, free: int, alone: tuple[int, int], beside: tuple[int, int], workers: int = 2) -> dict[str, float]:
    """Returns the figures of workers on two CPUs that did so much in a second alone, and in one beside the programs."""
    did, lines = (0, 0), []
    for n, more in enumerate(((0, 0), alone, (7, 9), beside)):
        did = did[0] + more[0], did[1] + more[1]
        lines.append({"ns": n * 10**9, "cpus": 2, "free": free, "computers": workers // 2, "walkers": workers // 2,
                      "computed": did[0], "walked": did[1], "cpu_ns": n * 10**9})  # fmt: skip
    children = Children(folder)
    child = children.start("workers", ["printf", "%s", "".join(json.dumps(line) + "\n" for line in lines) + '{"ns": 5'])
    assert children.wait(child, 60)
    return busy.Workers(children, child, [1, 2, 3, 4]).figures()


@pytest.mark.parametrize("free, alone, beside, workers, lost", [
    (2, (1000, 400), (1000, 400), 2, 0.0),
    (2, (1000, 400), (500, 100), 2, 0.5 + 0.75),
    (2, (1000, 400), (500, 200), 4, 1.0),  # four get two CPUs alone, and one beside the programs
    (1, (1000, 400), (1000, 400), 4, 1.0),  # a CPU is kept free: this is lost, too
])  # fmt: skip
def test_the_work_lost(free: int, alone: tuple[int, int], beside: tuple[int, int], workers: int, lost: float, tmp_path: Path) -> None:
    figures = laps(tmp_path, free, alone, beside, workers)
    assert figures["lost_cpus"] == pytest.approx(lost) and figures["worker_cpus"] == pytest.approx(1.0)
    assert figures["lost_by_computing"] == pytest.approx(1 - beside[0] / alone[0])
    assert figures["lost_by_walking"] == pytest.approx(1 - beside[1] / alone[1])


def test_workers_that_end_or_say_nothing_are_no_figure(tmp_path: Path) -> None:
    children = Children(tmp_path)
    with pytest.raises(busy.Lost, match="the workers ended: busy: no"):
        busy.Workers(children, children.start("workers", ["sh", "-c", "echo busy: no >&2"])).alone()
    with pytest.raises(busy.Lost, match="did not say"):
        busy.speeds({"ns": 5, "computed": 0, "walked": 0, "cpu_ns": 0}, {"ns": 5, "computed": 0, "walked": 0, "cpu_ns": 0})


@pytest.mark.parametrize("way, load", [("ways channel", 1000), ("ways nap", 1000), ("ways backoff", 10), ("ways poll", 10)])
def test_an_ideal_scheduler(way: str, load: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No CPU time is made or lost; workers without idle CPUs lose what the programs take; and polling takes what the law says."""
    monkeypatch.setitem(simulated.MESSAGES, load, 4)
    one = simulated.SimulatedRunner(tmp_path, 1.0, 60.0)
    ideal = law.Law(known())
    for ratio in (0.5, 1.0, 2.0):
        figures = one.run(runner.Job(WAYS[way], simulated.LINK, load, 64, workers=ratio))
        most = min(ratio, 1.0) * simulated.CPUS
        assert figures["lost_cpus"] + figures["worker_cpus"] == pytest.approx(most, abs=1e-6)
        if ratio >= 1:
            assert figures["lost_cpus"] == pytest.approx(figures["machine_cpus"], abs=1e-6)
        if way == "ways poll":
            assert figures["lost_cpus"] == pytest.approx(ideal.displaced(way, load, ratio), rel=0.03)


def test_what_sleeps_displaces_what_it_uses_and_idle_cpus_are_free() -> None:
    """By hand: a message costs 275 + 200 us at a gap of 1 / 1826 s, and 400 flat out; one of two CPUs is idle beside one worker."""
    ideal = law.Law(known())
    cost = ideal.sleeping(1000)
    assert ideal.displaced("ways channel", 1000, 1.0) == pytest.approx(cost.cpu_us / 1000)
    assert ideal.displaced("ways event", 0, 1.0) == pytest.approx(1.0)  # more than that only polling gets
    assert ideal.displaced("ping-sr-3", 1000, 0.5) == 0
    assert [ideal.displaced("ping-sr-2", 10, ratio) for ratio in (0.5, 1.0, 2.0)] == pytest.approx([1 / 3, 1.0, 2 / 3])
    assert ideal.displaced("ways nap", 1000, 1.0) is None and ideal.displaced("ways poll", 10, 0.0) is None


def made(noise: tuple[float, ...], polls_late: float = 4000, rate: float = 1000, rounds: int = 5) -> store.Results:
    """With a worker on each CPU, polling takes 0.9 CPUs, and a channel 0.3, with a p99 of 500 us."""
    results = store.Results(environment={"cpus": 2})
    for number in range(1, rounds + 1):
        for way, lost, late, reached in (("poll", 0.9, polls_late, rate), ("channel", 0.3, 500, 1000), ("nap", 0.5, 600, 1000)):
            wobble = noise[number % len(noise)] if way == "channel" else 1.0
            figures = {"rate": reached, "lost_cpus": lost * wobble, "p50_us": 50.0, "p99_us": late * wobble, "switches": 9.0, "voluntary": 0.0}
            results.samples += [store.Sample("RoCE", Point(f"ways {way}", 1000, workers=1.0, helped=how), number, {
                **figures, "p99_us": figures["p99_us"] / (4 if how == "fifo" else 1)}) for how in ("", "fifo", "batch")]  # fmt: skip
    return results


@pytest.mark.parametrize("results, said", [
    (made(NOISE), "takes 0.90 CPUs from them, and its p99 is 4,000 µs; asleep it takes 0.30 CPUs from them, and its p99 is 500 µs; so sleep."
     " Channel takes the least from them; channel answers soonest (p99)."),
    (made(NOISE, polls_late=50), "so poll only if it may cost the others that. Channel takes the least from them; poll answers soonest"),
    (made(NOISE, rate=200), "takes 0.90 CPUs from them, and does not keep that rate; asleep it takes 0.30"),
    (made(WILD), "asleep it takes what this run cannot tell from them, and its p99 cannot be told; this run cannot tell which is better."),
    (made(NOISE, rounds=2), "At 1,000 messages a second, this run cannot tell what waiting costs the others."),
])  # fmt: skip
def test_what_is_said(results: store.Results, said: str) -> None:
    answer = displaced.screens(results, "RoCE")[0]
    assert said in answer.title, answer.title
    assert said.split(".")[0] in page.summary(results)


def test_a_cell_says_why_it_is_none() -> None:
    results = made(NOISE, rate=200)
    results.failures.append({"link": "RoCE", "point": Point("ways event", 1000, workers=1.0).name, "round": 1, "why": "made up"})
    answer = displaced.screens(results, "RoCE")[0]
    cells = {(name, column): cell for name, row in answer.rows for column, cell in zip(answer.columns, row)}
    assert cells["poll", "p99, all workers"] == "carries 200/s"
    assert cells["event", "CPUs lost, all workers"] == "failed"
    assert cells["channel", "p99.9, all workers"] == "too few messages"
    assert cells["poll", "times asleep a second, all workers"] == "0"
    assert "<th>CPUs of work lost</th>" in page.table(results, "RoCE")


def test_what_helps_is_tested() -> None:
    answer = displaced.screens(made(NOISE), "RoCE")[1]
    assert "poll at 1,000 messages a second: fifo (to 0.25 of it)" in answer.title and "batch" not in answer.title
    assert [name for name, _ in answer.rows][:2] == ["nothing", "nice (needs CAP_SYS_NICE)"]


def test_one_thread_for_all_is_compared() -> None:
    results = made(NOISE)
    for number in range(1, 6):
        results.samples += [store.Sample("RoCE", Point(way, workers=1.0), number, {"rate": rate * NOISE[number % len(NOISE)], "lost_cpus": 1.5})
                            for way, rate in zip(MT, (16000, 8000))]  # fmt: skip
    title = displaced.screens(results, "RoCE")[-1].title
    assert title == "One thread that polls for four connections carries fewer messages a second than four threads."


def test_the_groups() -> None:
    """Each way at each load with each number of workers, and each kind of help beside none."""
    assert len(GROUPS["busy"]) == len(EVERY) * 4 * 4
    assert {point.helped for point in GROUPS["helps"]} == {"", *busy.HELPS} and {point.way for point in GROUPS["helps"]} >= set(MT)
