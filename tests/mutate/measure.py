# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Draws faults, has each of them tried, and prints the score and the survivors.

Place: tests/mutate/run calls it. Contract: each verdict is written to build/mutate/ as soon as it is there; the next run with
the same seed and folders, on the same tree, goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path

from mutate import record, score, tree
from mutate.build import CPUS, TOP, Graph, make
from mutate.trial import SURVIVED, Trial

WORK = TOP / "build/mutate"
UNCHANGED = 10  # trials without a fault
NO_PROGRAM = ("tests/", "bench/", "course/")  # what is no part of the programs
Fault = tuple[tree.Site, bytes]


def find_sources(graph: Graph, folders: str) -> list[str]:
    """The programs' sources in the folders that are named, and not in those with a ! before them."""

    def named(source: str, first: str) -> bool:
        patterns = [word.removeprefix("!") for word in folders.split() if word.startswith("!") == (first == "!")]
        return any(fnmatch(str(Path(source).parent), pattern) for pattern in patterns or ["*"] * (first != "!"))

    sources = sorted(source for source in graph.sources() if not source.startswith(NO_PROGRAM))
    return [source for source in sources if named(source, "") and not named(source, "!")]


def find_sites(graph: Graph, folders: str) -> list[tree.Site]:
    """All sites in these sources."""
    os.chdir(TOP)
    sources = find_sources(graph, folders)
    with ProcessPoolExecutor(CPUS) as pool:
        return sum(pool.map(tree.sites, sources, map(Path, sources), map(graph.arguments, sources)), [])


def draw(sites: list[tree.Site], count: int, seed: int) -> dict[int, Fault]:
    """Sites, each as likely as any other, with what is planted there. More of them begin with the same ones."""
    numbers = random.Random(seed)
    sites = sites[:]
    numbers.shuffle(sites)
    return {number: (site, numbers.choice(site.choices)) for number, site in enumerate(sites[:count])}


def described(fault: Fault, verdict: str, by: str) -> score.Mutant:
    """The lines that a fault changes, and what has become of it."""
    site, new = fault
    text = (TOP / site.file).read_bytes()
    before, after = (part.decode().splitlines() for part in (text, site.planted(text, new)))
    changed = [n for n, (one, other) in enumerate(zip(before, after)) if one != other]
    old, fresh = ("\n".join(part[n] for n in changed if part[n].strip()) for part in (before, after))
    return score.Mutant(site.file, changed[0] + 1, site.operator, old, fresh, verdict, by)


class Measurement:
    """Faults, of which some are tried at a time."""

    def __init__(self, graph: Graph, tests: list[record.Test], known: record.Record, at_once: int, most: int) -> None:
        self.graph, self.known, self.at_once, self.most = graph, known, at_once, most
        self.tests = {test.name: test for test in tests}
        self.kinds = {test.name: test.kind for test in tests}
        self.stop = threading.Event()

    def _judge(self, number: int, site: tree.Site, new: bytes | None) -> tuple[str, str]:
        """Has a fault tried by the tests that run its lines, or no fault."""
        text = (TOP / site.file).read_bytes()
        last = site.line + text.count(b"\n", site.begin, site.end)
        names = self.known.reach(site.file, (site.line, last), site.scope)
        names = self.known.alike(names, site.file, site.scope, self.most, self.kinds)
        trial = Trial(self.graph, site.file, text if new is None else site.planted(text, new), WORK / f"trial-{number}", self.stop)
        return trial.judge([(self.tests[name], 30 + 10 * self.known.seconds[name]) for name in names])

    def judge(self, faults: dict[int, Fault], planted: bool = True) -> Iterator[tuple[int, str, str]]:
        """The number, the verdict and by what, in the order in which they end."""
        with ThreadPoolExecutor(self.at_once) as pool:
            jobs = {pool.submit(self._judge, n, site, new if planted else None): n for n, (site, new) in faults.items()}
            try:
                for job in as_completed(jobs):
                    yield jobs[job], *job.result()
            except (KeyboardInterrupt, GeneratorExit):
                self.stop.set()
                pool.shutdown(cancel_futures=True)
                raise


def results(file: Path, state: str) -> dict[int, score.Mutant]:
    """Those of an interrupted run on the same tree. A line that was not written to its end is removed."""
    lines = file.read_text().splitlines() if file.exists() else []
    whole = [line for line in lines[1:] if line.endswith("}")] if lines[:1] == [state] else []
    file.write_text("\n".join([state, *whole]) + "\n")
    rows = [json.loads(line) for line in whole]
    return {row.pop("number"): score.Mutant(**row) for row in rows}


def results_file(seed: int, folders: str) -> Path:
    """Where they are."""
    return WORK / f"{seed} {folders.replace('*', '+').replace('/', '-')}.jsonl"


def _measure(measurement: Measurement, drawn: dict[int, Fault], file: Path, done: dict[int, score.Mutant]) -> bool:
    """Adds what is not done yet. Returns False if a test fails without a fault."""
    left = {number: fault for number, fault in drawn.items() if number not in done}
    for _, verdict, by in measurement.judge(dict(list(left.items())[:UNCHANGED]), planted=False):
        if verdict != SURVIVED:
            print(f"without a fault: {verdict}: {by}: nothing counts")
            return False
    print(f"{min(UNCHANGED, len(left))} trials without a fault: all tests pass", flush=True)
    begun = time.monotonic()
    for n, (number, verdict, by) in enumerate(measurement.judge(left), 1):
        mutant = done[number] = described(drawn[number], verdict, by)
        with file.open("a") as out:
            out.write(json.dumps({"number": number} | asdict(mutant)) + "\n")
        minutes = (time.monotonic() - begun) / n * (len(left) - n) / 60
        where = f"{mutant.file}:{mutant.line}: {mutant.operator}"
        print(f"[{len(done)}/{len(drawn)}, {minutes:.0f} min left] {verdict}: {where}  {by}"[:160], flush=True)
    return True


def _interrupted(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def run(options: argparse.Namespace) -> int:
    """Measures. Returns the exit status."""
    signal.signal(signal.SIGTERM, _interrupted)
    WORK.mkdir(parents=True, exist_ok=True)
    tests = record.tests()
    graph = Graph(*record.programs(tests))
    others = {*find_sources(Graph("all", "verbs-trace"), options.folders)} - graph.sources()
    for folder, n in sorted(Counter(str(Path(source).parent) for source in others).items()):
        print(f"not tested here: {folder}/, {n} files: no test without a VM runs them")
    sites = find_sites(graph, options.folders)
    print(f"{len(sites)} sites: {dict(Counter(str(Path(site.file).parent) for site in sites))}", flush=True)
    if options.list or not sites:
        return 0 if sites else 2
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    drawn, file = draw(sites, options.count, seed), results_file(seed, options.folders)
    made = {out for site, _ in drawn.values() for out in graph.made_of(site.file)}
    tests = [test for test in tests if f"build/{test.program}" in made]
    make(*record.programs(tests))
    measurement = Measurement(graph, tests, record.record(tests), options.at_once, options.alike)
    done = results(file, record.state_of_the_tree())
    if not _measure(measurement, drawn, file, done):
        return 1
    mutants = score.sort_out([done[number] for number in drawn])
    print("\n\n".join(["", *(mutant.diff() for mutant in mutants if mutant.verdict == SURVIVED), score.table(f"seed {seed}", mutants)]))
    if options.keep:
        score.save(options.keep, f"Seed {seed}, {len(drawn)} of {len(sites)} sites in `{options.folders}`", mutants)
    return 0
