# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Draws faults, has each of them tried, and prints the score and the survivors.

Place: tests/mutate/run calls it. Contract: each verdict is written to build/mutate/ as soon as it is there; the next
run with the same arguments, on the same tree, goes on from there.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue

from mutate import score, suites, tree
from mutate.build import CPUS, TOP, WORK, Copy, state_of_the_tree
from mutate.trial import PART, SURVIVED, judge

NO_PROGRAM = ("tests/", "bench/", "course/", "devices/", "verbs-trace/")  # what these suites do not run
Fault = tuple[tree.Site, bytes]


def find_sites(copy: Copy, folders: str) -> list[tree.Site]:
    """All sites in the programs' sources in the folders that are named, by path or by their last names."""
    commands = {file: words for file, words in sorted(copy.commands().items()) if not file.startswith(NO_PROGRAM)}
    sources = [file for file in commands if any(Path(file).parent.match(name) for name in folders.split())]
    arguments = [[word for word in commands[file] if word[:2] in ("-I", "-D") or word[:4] == "-std"] for file in sources]
    os.chdir(TOP)
    with ProcessPoolExecutor(CPUS) as pool:
        return sum(pool.map(tree.sites, sources, map(Path, sources), arguments), [])


def draw(sites: list[tree.Site], count: int, seed: int) -> dict[int, Fault]:
    """Sites, each as likely as any other, with what is planted there. More of them begin with the same ones."""
    numbers = random.Random(seed)
    sites = sites[:]
    numbers.shuffle(sites)
    return {number: (site, numbers.choice(site.choices)) for number, site in enumerate(sites[:count])}


def described(number: int, fault: Fault, verdict: str, by: str) -> score.Mutant:
    """The lines that a fault changes, and what has become of it."""
    site, new = fault
    text = (TOP / site.file).read_bytes()
    before, after = (part.decode().splitlines() for part in (text, site.planted(text, new)))
    changed = [n for n, (one, other) in enumerate(zip(before, after)) if one != other]
    old, fresh = ("\n".join(part[n] for n in changed if part[n].strip()) for part in (before, after))
    return score.Mutant(number, site.file, changed[0] + 1, site.operator, old, fresh, verdict, by)


def tried(first: Copy, known: suites.Record, faults: dict[int, Fault]) -> Iterator[tuple[int, str, str]]:
    """The number of each fault, the verdict of the tests that run its lines, and by what, as they end."""
    free: SimpleQueue[Copy] = SimpleQueue()
    at_once = min(CPUS, len(faults))
    for number in range(at_once):
        free.put(first.second(str(number)))

    def one(number: int) -> tuple[int, str, str]:
        site, new = faults[number]
        text, copy = (TOP / site.file).read_bytes(), free.get()
        lines = range(site.line, site.line + text.count(b"\n", site.begin, site.end) + 1)
        try:
            return number, *judge(first, copy, site.file, site.planted(text, new), known.reach(site.file, lines, site.function))
        finally:
            free.put(copy)

    with ThreadPoolExecutor(at_once) as pool:
        jobs = [pool.submit(one, number) for number in faults]
        try:
            for job in as_completed(jobs):
                yield job.result()
        finally:
            pool.shutdown(cancel_futures=True)


def measure(first: Copy, known: suites.Record, drawn: dict[int, Fault], kept: score.Results) -> None:
    """Adds to the results what they do not have in full yet."""
    done = {number for number, mutant in kept.mutants.items() if mutant.verdict != PART}
    left = {number: fault for number, fault in drawn.items() if number not in done}
    begun = time.monotonic()
    for n, (number, verdict, by) in enumerate(tried(first, known, left) if left else (), 1):
        mutant = described(number, drawn[number], verdict, by)
        kept.add(mutant)
        minutes = (time.monotonic() - begun) / n * (len(left) - n) / 60
        where = f"{mutant.file}:{mutant.line}: {mutant.operator}"
        print(f"[{n}/{len(left)}, {minutes:.0f} min left] {verdict}: {where}  {by}"[:160], flush=True)


def report(mutants: list[score.Mutant]) -> None:
    """Prints the survivors and the score."""
    print("\n\n".join(["", *[mutant.diff() for mutant in mutants if mutant.verdict == SURVIVED], score.table("all", mutants)]))


def run(options: argparse.Namespace) -> int:
    """Measures. Returns the exit status."""
    WORK.mkdir(parents=True, exist_ok=True)
    print("building", flush=True)
    first = Copy("first")
    sites = find_sites(first, options.folders)
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    print(f"seed {seed}, {len(sites)} sites: {dict(Counter(str(Path(site.file).parent) for site in sites))}", flush=True)
    if not sites:
        return 2
    drawn = draw(sites, options.count, seed)
    try:
        known = suites.record()
    except RuntimeError as error:
        print(error)
        return 1
    kept = score.Results(WORK / f"{seed} {options.folders.replace('/', '-')} {state_of_the_tree()}.jsonl")
    measure(first, known, drawn, kept)
    report([kept.mutants[number] for number in drawn])
    return 0
