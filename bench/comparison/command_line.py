# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The command line of bench/compare: measures in the VM or here, then writes the report.

Place: called by bench/compare. Contract: exit status 0 all was measured, whatever came out; 1 a program failed, nothing
was measured, or a --fail-if came true; 2 wrong usage; 130 it was interrupted, with a report of what is there.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from . import measure, plan, report
from .limits import parse as parse_limit
from .runner import Failed

FOLDER = Path("build/report")
EPILOGUE = f"""Comparisons for --only: {" ".join(plan.GROUPS)}; or programs, such as ping-sr-3.
It runs in the VM of lab/run, or, with RDMA_ADDR=address in the environment, on this machine's RDMA
device that serves the address (LAB=1 forces the VM). Results are in {FOLDER}/: index.html, results.json,
results.csv, plots. Exit status: 0 all was measured, whatever came out; 1 a program failed, or a limit of
--fail-if was passed; 2 wrong usage; 130 interrupted: the report is of what was measured until then.
"""


def parser() -> argparse.ArgumentParser:
    """All options."""
    options = argparse.ArgumentParser(
        prog="bench/compare",
        description="Measures what each way of waiting costs, and what it gives.",
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    length = options.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true", help="two minutes: three curves, of the quality of a demo")
    length.add_argument("--full", action="store_true", help="everything, as many rounds as it takes; hours")
    options.add_argument("--only", action="append", default=[], metavar="NAME", help="this comparison or program")
    options.add_argument("--link", metavar="NAME", help="RoCE, iWARP or RDMA (default: the first there is; all: each)")
    options.add_argument("--minutes", type=float, metavar="N", help="time for all of it (default 10)")
    options.add_argument("--resume", action="store_true", help="go on with what is in the folder")
    options.add_argument("--folder", type=Path, default=FOLDER, metavar="DIR", help=f"for results (default {FOLDER})")
    options.add_argument("--fail-if", action="append", default=[], metavar="LIMIT", help="exit 1 if this is so, "
                         "beyond noise: 'ping-sr-4.p50 > 1.1 * ib_send_lat_e.p50'")  # fmt: skip
    options.add_argument("--junit", type=Path, metavar="FILE", help="the limits as JUnit XML")
    options.add_argument("--server-launch", default="", metavar="COMMAND", help="such as 'ssh host1'")
    options.add_argument("--client-launch", default="", metavar="COMMAND", help="such as 'ssh host2'")
    options.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    return options


def measure_here(options: argparse.Namespace, chosen: plan.Plan) -> int:
    """In the VM, or where RDMA_ADDR is."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    told = {"arguments": sys.argv[1:], "window": chosen.window, "minutes": chosen.minutes, "link": options.link}
    launch = {
        "server_launch": tuple(shlex.split(options.server_launch)),
        "client_launch": tuple(shlex.split(options.client_launch)),
    }
    try:
        measure.measure(chosen, options.folder, told, launch)
    except Failed as error:
        measure.say(str(error))
        return 1
    return 0


def measure_in_vm() -> int:
    """In a session of its own: a Ctrl-C at the terminal, or a signal sent to us alone, is handed on once. The second
    one ends the VM at once.
    """
    command = ["lab/run", "--timeout", "86400", "--", "bench/compare", "--here", *sys.argv[1:]]
    number, interrupts = signal.SIGINT, 0
    with subprocess.Popen(command, start_new_session=True) as process:
        while True:
            try:
                status = process.wait()
                return 130 if interrupts else status
            except KeyboardInterrupt:
                measure.say("interrupted: what was measured stays")
                process.send_signal(number)
                number, interrupts = signal.SIGTERM, interrupts + 1


def interrupted(number: int, _frame: object) -> None:
    """SIGTERM and SIGHUP are as Ctrl-C, and that also where a shell has it ignored."""
    raise KeyboardInterrupt(number)


def main() -> int:
    """Returns the exit status."""
    options = parser().parse_args()
    try:
        chosen = plan.choose(options.quick, options.full, options.only)
        limits = [parse_limit(text) for text in options.fail_if]
    except ValueError as error:
        parser().error(str(error))
    if options.minutes:
        chosen = plan.Plan(chosen.points, chosen.window, chosen.least, chosen.most, options.minutes)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    options.folder.mkdir(parents=True, exist_ok=True)
    if not options.resume and not (options.here and os.environ.get("LAB_GUEST")):
        (options.folder / "samples.jsonl").unlink(missing_ok=True)
    launched = bool(options.server_launch or options.client_launch)
    if launched and not options.here and not os.environ.get("RDMA_ADDR"):
        parser().error("with a launcher RDMA_ADDR has to be the server's address")
    for launch in (options.server_launch, options.client_launch):
        if launch and shutil.which(shlex.split(launch)[0]) is None:
            parser().error(f"there is no launcher {shlex.split(launch)[0]} here")
    in_vm = not options.here and not launched and not (os.environ.get("RDMA_ADDR") and os.environ.get("LAB") != "1")
    try:
        status = measure_in_vm() if in_vm else measure_here(options, chosen)
    except KeyboardInterrupt:
        status = 130
    if options.here:
        return status
    return report.finish(options.folder, limits, options.junit) or status
