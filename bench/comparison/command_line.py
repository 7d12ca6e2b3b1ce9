# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The command line of bench/compare: measures in the VM or on this machine, then writes the report.

Place: called by bench/compare. Contract: exit status 0 if something was measured, whatever the results; 1 if nothing
was measured, or a --fail-if is true; 2 for wrong usage; 130 after an interrupt, with a report of what
was measured.
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

from tools.place import IN_GUEST, ON_DEVICE

from . import measure, plan, report
from .limits import parse as parse_limit
from .runner import Failed

FOLDER = Path("build/report")
EPILOGUE = f"""Comparisons for --only: {" ".join(plan.GROUPS)}; or programs, such as ping-sr-3.
The programs run in the virtual machine (VM) of lab/run. With RDMA_ADDR=address in the environment they run
on this machine, on the RDMA device that has this address; LAB=1 selects the VM all the same. The results are
in {FOLDER}/: index.html, results.json, results.csv and pictures.
Exit status: 0 if something was measured, whatever the results; 1 if nothing was, or a --fail-if is true;
2 for wrong usage; 130 after an interrupt: the report then has what was measured until then.
"""


def parser() -> argparse.ArgumentParser:
    """All options."""
    options = argparse.ArgumentParser(
        prog="bench/compare",
        description="Measures latency, throughput and processor time of each way to wait for completions.",
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    length = options.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true", help="only three curves, with few samples: two minutes")
    length.add_argument("--full", action="store_true", help="all comparisons, with as many rounds as precise results need: hours")
    options.add_argument("--only", action="append", default=[], metavar="NAME", help="only this comparison or program (repeatable)")
    options.add_argument("--link", metavar="NAME", help="RoCE, iWARP, RDMA, or all (default: the first of them that is found)")
    options.add_argument("--minutes", type=float, metavar="N", help="how long all measurements may take together (default 10)")
    options.add_argument("--resume", action="store_true", help="keep the samples that are in the folder, and measure what is missing")
    options.add_argument("--folder", type=Path, default=FOLDER, metavar="DIR", help=f"where results are written (default {FOLDER})")
    options.add_argument("--fail-if", action="append", default=[], metavar="LIMIT", help="exit with status 1 if this "
                         "is true beyond noise, such as 'ping-sr-4.p50 > 1.1 * ib_send_lat_e.p50'")  # fmt: skip
    options.add_argument("--junit", type=Path, metavar="FILE", help="write the results of --fail-if as JUnit XML")
    options.add_argument("--server-launch", default="", metavar="COMMAND", help="start servers with this command, such as 'ssh host1'")
    options.add_argument("--client-launch", default="", metavar="COMMAND", help="start clients with this command, such as 'ssh host2'")
    options.add_argument("--simulated", action="store_true", help="in simulated time, on an ideal scheduler (verbs-sim); for --only busy and ways")
    options.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    return options


def measure_here(options: argparse.Namespace, chosen: plan.Plan) -> int:
    """Measures on this machine, which may be the VM."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    told = {"arguments": sys.argv[1:], "window": chosen.window, "minutes": chosen.minutes, "link": options.link,
            "simulated": options.simulated}  # fmt: skip
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
    """Measures in the VM. Its processes are in a session of their own: Ctrl-C or a signal reaches only this process,
    which passes it on once. A second one ends the VM at once."""
    command = ["lab/run", "--timeout", "86400", "--", "bench/compare", "--here", *sys.argv[1:]]
    number, interrupts = signal.SIGINT, 0
    with subprocess.Popen(command, start_new_session=True) as process:
        while True:
            try:
                status = process.wait()
                return 130 if interrupts else status
            except KeyboardInterrupt:
                measure.say("interrupted: keeping what was measured")
                process.send_signal(number)
                number, interrupts = signal.SIGTERM, interrupts + 1


def interrupted(number: int, _frame: object) -> None:
    """Treats SIGTERM and SIGHUP like SIGINT, even if the shell made this process ignore them."""
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
    if not options.resume and not (options.here and IN_GUEST):
        (options.folder / "samples.jsonl").unlink(missing_ok=True)
    launched = bool(options.server_launch or options.client_launch)
    if launched and not options.here and not os.environ.get("RDMA_ADDR"):
        parser().error("--server-launch and --client-launch need the server's address in RDMA_ADDR")
    for launch in (options.server_launch, options.client_launch):
        if launch and shutil.which(shlex.split(launch)[0]) is None:
            parser().error(f"the launcher {shlex.split(launch)[0]} is not a command of this machine")
    in_vm = not options.here and not launched and not options.simulated and not ON_DEVICE
    try:
        status = measure_in_vm() if in_vm else measure_here(options, chosen)
    except KeyboardInterrupt:
        status = 130
    if options.here:
        return status
    return report.finish(options.folder, limits, options.junit) or status
