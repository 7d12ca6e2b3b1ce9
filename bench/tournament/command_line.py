# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The command line of bench/fabric.

Place: called by bench/fabric. Contract: exit status 0 if every pair was measured, whatever the results; 1 if a host does
not answer or a pair failed; 2 for wrong usage; 130 after an interrupt, with a report of what was measured.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
from pathlib import Path

from bench.comparison import place, plan, remote, store
from bench.comparison.command_line import interrupted
from bench.comparison.ways import WAYS
from . import hosts, odd, page
from .match import Rules
from .tournament import Tournament, Wishes, say

TOP = Path(__file__).resolve().parent.parent.parent
FOLDER = Path("build/fabric")
PROGRAMS = ("ping-sr-2", "blast-sr-2/65536")
EPILOGUE = f"""The file of --hosts has a line for each host: NAME, or NAME ADDRESS if its RDMA device has another address.
Launchers are 'ssh {{host}}', 'docker exec {{host}}', 'kubectl exec {{host}} --' and the like. srun, within a Slurm
job, needs neither {{host}} nor --hosts. The programs must be at the same path on all hosts. The results are in
{FOLDER}/: index.html, results.json, results.csv and an SVG file for each map.
Exit status: 0 if every pair was measured, whatever the results; 1 if a host does not answer or a pair failed,
which are named; 2 for wrong usage; 130 after an interrupt: the report has what was measured until then.
"""


def parser() -> argparse.ArgumentParser:
    """All options."""
    options = argparse.ArgumentParser(
        prog="bench/fabric",
        description="Measures every pair of hosts, and names the pairs and hosts that differ from the others.",
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    options.add_argument("--hosts", type=Path, metavar="FILE", help="a text file with the hosts (default: the nodes of the Slurm job)")
    options.add_argument("--launch", required=True, metavar="COMMAND", help="starts a program on a host: srun, 'ssh {host}', ...")
    options.add_argument("--address", default="{host}", metavar="TEMPLATE", help="the address of hosts without one in FILE, such as '{host}-ib'")
    options.add_argument("--program", action="append", default=[], metavar="NAME[@LOAD][/SIZE]",
                         help=f"what to measure (repeatable; default: {' and '.join(PROGRAMS)})")  # fmt: skip
    options.add_argument("--rounds", type=int, default=3, metavar="N", help="measure each pair this many times (default 3)")
    options.add_argument("--seconds", type=float, default=1.0, metavar="N", help="run each program so long (default 1)")
    options.add_argument("--both-ways", action="store_true", help="measure each pair again with server and client exchanged")
    options.add_argument("--at-once", type=int, default=0, metavar="N", help="measure at most this many pairs at the same time (default: as many as possible)")
    options.add_argument("--resume", action="store_true", help="keep the samples that are in the folder, and measure what is missing")
    options.add_argument("--folder", type=Path, default=TOP / FOLDER, metavar="DIR", help=f"where results are written (default {FOLDER})")
    return options


def point(text: str) -> plan.Point:
    """Reads 'blast-sr-2/65536'. Raises ValueError with what is wrong."""
    name, _, size = text.partition("/")
    way, _, load = name.partition("@")
    if way not in WAYS or not remote.possible(way):
        able = ", ".join(name for name in WAYS if remote.possible(name))
        raise ValueError(f"--program {text}: a launcher can run only these: {able}")
    if not all(word.isdigit() and int(word) > 0 for word in (size or "1", load or "1")):
        raise ValueError(f"--program {text}: expected NAME[@LOAD][/SIZE]")
    return plan.Point(way, int(load or 0), int(size or 64))


def check(options: argparse.Namespace) -> tuple[Wishes, Rules, list[hosts.Host]]:
    """Reads the options. Raises ValueError before anything has been started."""
    points = tuple(dict.fromkeys(point(text) for text in options.program or PROGRAMS))
    if options.rounds < 1 or options.at_once < 0 or not 0 < options.seconds <= 3600:
        raise ValueError("--rounds is at least 1, --at-once at least 0, --seconds from more than 0 to 3600")
    launch = hosts.launcher(options.launch)
    if shutil.which(launch[0]) is None:
        raise ValueError(f"--launch: {launch[0]} is not a command of this machine")
    for missing in filter(None, (WAYS[one.way].missing() for one in points)):
        raise ValueError(f"{missing}: see make bench-build; the programs must be at the same path on all hosts")
    found = hosts.read(options.hosts, options.address) if options.hosts else hosts.of_allocation(options.address)
    return Wishes(points, options.rounds, options.both_ways, options.at_once), Rules(launch, options.seconds, -1), found


def finish(file: Path, folder: Path) -> int:
    """Writes the report, however the run ended."""
    results = store.collect(file)
    bad = odd.broken(results)
    if results.samples:
        page.write(results, folder)
        print("\n".join(odd.conclusions(results)))
        say(f"the report is {folder / 'index.html'}")
    else:
        print("\n".join(bad))
        say("nothing was measured")
    return 1 if bad or not results.samples else 0


def main() -> int:
    """Returns the exit status."""
    options = parser().parse_args()
    options.folder = options.folder.resolve()
    options.hosts = options.hosts and options.hosts.resolve()
    os.chdir(TOP)
    try:
        wishes, rules, found = check(options)
    except ValueError as error:
        parser().error(str(error))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    options.folder.mkdir(parents=True, exist_ok=True)
    file = options.folder / "samples.jsonl"
    if not options.resume:
        file.unlink(missing_ok=True)
    tournament = Tournament(wishes, rules, found, file)
    tournament.note("environment", place.describe([]))
    tournament.note("options", {"arguments": sys.argv[1:], "hosts": [host.name for host in found]})
    status = 0
    try:
        tournament.run()
    except KeyboardInterrupt:
        say("interrupted: keeping what was measured")
        status = 130
    told = finish(file, options.folder)
    return status or told
