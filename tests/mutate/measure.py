# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Draws faults, has each of them tried, and prints the score and the survivors.

Place: tests/mutate/run calls it. Contract: each verdict is written to build/mutate/ as soon as it is there; the next
run with the same seed and folders, on the same tree, goes on from there.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from mutate import lab, process, record, score, tree
from mutate.build import CPUS, TOP, Graph, make, output
from mutate.trial import PART, SURVIVED, Trial

WORK = TOP / "build/mutate"
AT_ONCE = 3 * CPUS  # faults: their tests also sleep
UNCHANGED = 10  # trials without a fault
LIMIT_S = 120.0  # of a test, besides ten times what it took without sanitizers
NO_PROGRAM = ("tests/", "bench/", "course/")  # what is no part of the programs
Fault = tuple[tree.Site, bytes]


def find_sources(graph: Graph, folders: str) -> list[str]:
    """The programs' sources in the folders that are named, by path or by their last names."""
    sources = sorted(source for source in graph.sources() if not source.startswith(NO_PROGRAM))
    return [source for source in sources if any(Path(source).parent.match(name) for name in folders.split())]


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


def described(number: int, fault: Fault, verdict: str, by: str) -> score.Mutant:
    """The lines that a fault changes, and what has become of it."""
    site, new = fault
    text = (TOP / site.file).read_bytes()
    before, after = (part.decode().splitlines() for part in (text, site.planted(text, new)))
    changed = [n for n, (one, other) in enumerate(zip(before, after)) if one != other]
    old, fresh = ("\n".join(part[n] for n in changed if part[n].strip()) for part in (before, after))
    return score.Mutant(number, site.file, changed[0] + 1, site.operator, old, fresh, verdict, by)


def find_again(sites: list[tree.Site], wanted: list[score.Mutant]) -> dict[int, Fault]:
    """Where the faults of an earlier measurement can be planted today; their lines may stand elsewhere in the file."""
    files = {mutant.file for mutant in wanted}
    places: dict[tuple[str, ...], list[Fault]] = {}
    for site in sites:
        for new in site.choices if site.file in files else ():
            places.setdefault(described(0, (site, new), "", "").key(), []).append((site, new))
    found = {mutant.number: places[mutant.key()].pop(0) for mutant in wanted if places.get(mutant.key())}
    print(f"{len(found)} of {len(wanted)} faults can be planted again", flush=True)
    return found


def tried(graph: Graph, known: record.Record, faults: dict[int, Fault]) -> Iterator[tuple[int, str, str]]:
    """The number of each fault, the verdict of the tests that run its lines, and by what, as they end."""

    def one(number: int, stop: process.Stop) -> tuple[int, str, str]:
        site, new = faults[number]
        text = (TOP / site.file).read_bytes()
        lines = range(site.line, site.line + text.count(b"\n", site.begin, site.end) + 1)
        tests = known.reach(site.file, lines, site.function)
        trial = Trial(graph, site.file, site.planted(text, new), WORK / f"trial-{number}", stop)
        return number, *trial.judge([(test, LIMIT_S + 10 * known.seconds[test]) for test in tests])

    return process.each(one, faults, AT_ONCE)


def check_links(graph: Graph, known: record.Record, faults: dict[int, Fault]) -> None:
    """A fault has to reach each program that runs its file. Raises RuntimeError if make does not say that it does."""
    for file in {site.file for site, _ in faults.values()}:
        made = graph.made_of(file)
        if missing := [test.name for test in known.ran.get(file, ()) if f"build/{test.program}" not in made]:
            raise RuntimeError(f"make does not say that these are made of {file}: {missing}")


def passes_unchanged(graph: Graph, known: record.Record, faults: dict[int, Fault]) -> bool:
    """Tries the program without a fault, at the first places of the faults."""
    same = {n: (site, (TOP / site.file).read_bytes()[site.begin : site.end]) for n, (site, _) in faults.items()}
    for _, verdict, by in tried(graph, known, dict(list(same.items())[:UNCHANGED])):
        if verdict != SURVIVED:
            print(f"without a fault: {verdict}: {by}: nothing counts")
            return False
    print(f"{min(UNCHANGED, len(same))} trials without a fault: all tests pass", flush=True)
    return True


def measure(graph: Graph, known: record.Record, drawn: dict[int, Fault], kept: score.Results) -> bool:
    """Adds to the results what they do not have in full yet. Returns False if a test fails without a fault."""
    done = {number for number, mutant in kept.mutants.items() if mutant.verdict != PART}
    left = {number: fault for number, fault in drawn.items() if number not in done}
    check_links(graph, known, left)
    if left and not passes_unchanged(graph, known, left):
        return False
    begun = time.monotonic()
    for n, (number, verdict, by) in enumerate(tried(graph, known, left), 1):
        mutant = described(number, drawn[number], verdict, by)
        kept.add(mutant)
        minutes = (time.monotonic() - begun) / n * (len(left) - n) / 60
        where = f"{mutant.file}:{mutant.line}: {mutant.operator}"
        print(f"[{n}/{len(left)}, {minutes:.0f} min left] {verdict}: {where}  {by}"[:160], flush=True)
    return True


def _interrupted(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def announce(graph: Graph, folders: str, seed: int, sites: list[tree.Site]) -> None:
    """Says what is drawn from, and what is not."""
    others = {*find_sources(Graph("all", "verbs-trace"), folders)} - graph.sources()
    for folder, n in sorted(Counter(str(Path(source).parent) for source in others).items()):
        print(f"not tested here: {folder}/, {n} files: the suites unit and fake do not run them")
    print(f"seed {seed}, {len(sites)} sites: {dict(Counter(str(Path(site.file).parent) for site in sites))}", flush=True)


def report(options: argparse.Namespace, what: str, mutants: list[score.Mutant]) -> None:
    """Prints the survivors and the score, and keeps them."""
    judged = score.sort_out(mutants)
    survivors = [mutant.diff() for mutant in judged if mutant.verdict == SURVIVED]
    print("\n\n".join(["", *survivors, score.table("all", judged)]))
    if options.keep:
        score.keep(options.keep, f"{what} at commit {output('git', 'rev-parse', '--short', 'HEAD').strip()}", mutants)


def run(options: argparse.Namespace) -> int:
    """Measures. Returns the exit status."""
    signal.signal(signal.SIGTERM, _interrupted)
    WORK.mkdir(parents=True, exist_ok=True)
    print("building the tests", flush=True)
    tests = record.tests()
    make(*record.programs(tests))
    graph = Graph(*record.programs(tests))
    sites = find_sites(graph, options.folders)
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    announce(graph, options.folders, seed, sites)
    if not sites:
        return 2
    before: list[score.Mutant] = []
    if options.again:
        said, before = score.kept(options.again)
        drawn = find_again(sites, [mutant for mutant in before if mutant.verdict == options.verdict])
        what, name = f"{said}; its `{options.verdict}` ones tried again", f"{options.again.stem} {options.verdict}"
    else:
        drawn, name = draw(sites, options.count, seed), f"{seed} {options.folders.replace('/', '-')}"
        what = f"Seed {seed}, {len(drawn)} of {len(sites)} sites in `{options.folders}`,"
    kept = score.Results(WORK / f"{name} {record.state_of_the_tree()}.jsonl")
    if not measure(graph, record.record(tests), drawn, kept):
        return 1
    if options.lab:
        lab.run(options.lab, drawn, kept)
    now = {mutant.number: mutant for mutant in before} | {number: kept.mutants[number] for number in drawn}
    report(options, what, [*now.values()])
    return 0
