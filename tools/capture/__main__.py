# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs a stage between two hosts of the lab, and draws what they tell each other as a ladder.

Place: `make capture` calls it. Contract: see --help. The packets are left in build/capture/, for Wireshark. What a
packet is, is said by tshark.
"""

import argparse
import fcntl
import signal
import subprocess
import sys
from pathlib import Path

from tools.folders import folder

from .conversation import Conversation, read
from .frames import NoFrames, frames
from .ladder import lines
from .picture import write

TOP = Path(__file__).resolve().parents[2]
OUT = TOP / "build/capture"
LIMIT_S = 120
ROCE, IWARP = "192.0.2.1", "198.51.100.1"
EPILOGUE = """What comes after -- are more options of both programs; or, with ::: between them, first the server's and then
the client's: make capture STAGE=count-atomic-1 CAPTURE="-- ::: --lock".
A packet that is lost is not seen: it is lost on the host that sends it.
Exit status: 0 done; 1 the stage or the lab failed: what was captured is drawn all the same; 2 wrong usage."""


def parse(words: list[str]) -> argparse.Namespace:
    """Reads the command line."""
    own = words[: words.index("--")] if "--" in words else words
    parser = argparse.ArgumentParser(
        prog="make capture",
        usage='make capture STAGE=STAGE [CAPTURE="OPTION..."]',
        description="Runs a stage between two hosts of the lab, and draws the packets as a ladder.",
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("stage", nargs="?")
    parser.add_argument("--iwarp", action="store_true", help="over soft-iWARP (default: soft-RoCE)")
    parser.add_argument("--loss", type=float, default=0, metavar="PERCENT", help="lose packets, each way")
    parser.add_argument("-c", "--count", type=int, default=3, metavar="N", help="messages (default: 3)")
    parser.add_argument("-s", "--size", metavar="BYTES", help="of a message (default: the stage's own)")
    parser.add_argument("--all", action="store_true", help="each packet, also within a message, and TCP's own")
    parser.add_argument("--picture", action="store_true", help="trace both programs, too, and draw calls and packets")
    parser.add_argument("--read", type=Path, metavar="FILE", help="run nothing: draw what is in this capture")
    options = parser.parse_args(own)
    options.more = words[len(own) + 1 :]
    if bool(options.stage) == bool(options.read):
        parser.error("say which stage to run, or --read a capture")
    if options.picture and not options.stage:
        parser.error("--picture needs a run: the programs are traced in it")
    if options.stage and not (TOP / folder(options.stage) / "server").exists():
        parser.error(f"there is no {folder(options.stage)}/server: is that a stage, and has it been built?")
    if not 0 <= options.loss < 100 or options.count < 1:
        parser.error("--loss is from 0 to less than 100, --count at least 1")
    return options


def run(options: argparse.Namespace, capture: Path) -> int:
    """Runs the stage. Returns the lab's exit status."""
    stage = options.stage
    both = ["-s", options.size] if options.size else []
    if not stage.startswith("talk-"):
        both = ["-c", str(options.count), *both]
    if stage != "ping-ep-0":
        both = ["-q", *both]
    server, client = options.more, options.more
    if ":::" in options.more:
        middle = options.more.index(":::")
        server, client = options.more[:middle], options.more[middle + 1 :]
    for note in ("listens", "failed"):
        (OUT / note).unlink(missing_ok=True)
    command = ["lab/run", "-q", "--hosts", "2", "--capture", str(capture), "--timeout", str(LIMIT_S)]
    if options.picture:
        command += ["--env", f"CAPTURE_TRACED={capture.with_suffix('').relative_to(TOP)}"]
    if options.loss:
        command += ["--loss", str(options.loss)]
    address = IWARP if options.iwarp else ROCE
    command += ["--", "tools/capture/host", "server", stage, address, *both, *server]
    command += [":::", "tools/capture/host", "client", stage, address, *both, *client]
    return subprocess.run(command, cwd=TOP, stdin=subprocess.DEVNULL).returncode


def show(conversation: Conversation, everything: bool) -> None:
    """Prints the ladder."""
    client, server = f"client {conversation.client}", f"server {conversation.server}"
    print(f"{'seconds':>9} {client}{server.rjust(84 - len(client))}")
    for line in lines(conversation.steps, everything):
        print(line)


def draw(conversation: Conversation, name: str) -> int:
    """Has verbs-trace draw what it has traced, with the packets. Returns its exit status."""
    packets, page = OUT / f"{name}.packets.json", OUT / f"{name}.html"
    write(conversation, packets)
    traces = [OUT / f"{name}.{role}.json" for role in ("client", "server")]
    command: list[str | Path] = [TOP / "tools/verbs-trace/verbs-trace", "--html", page, "--packets", packets, *traces]
    status = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    if not status:
        print(page.relative_to(TOP))
    return status


def main() -> int:
    """Returns the exit status."""
    options = parse(sys.argv[1:])
    capture, failed = options.read, 0
    if options.stage:
        OUT.mkdir(parents=True, exist_ok=True)
        capture = OUT / f"{options.stage}{'-iwarp' if options.iwarp else ''}.pcap"
        with (OUT / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # both hosts leave notes here, and those of another run would be taken for theirs
            failed = run(options, capture)
    try:
        conversation = read(frames(capture))
    except NoFrames as error:
        print(f"make capture: {error}", file=sys.stderr)
        return 1
    if not conversation.steps:
        print(f"make capture: no packet of RDMA in {capture}", file=sys.stderr)
        return 1
    show(conversation, options.all)
    if options.picture:
        failed = draw(conversation, capture.stem) or failed
    if failed:
        print(f"make capture: {options.stage} has failed (exit status {failed}), see above", file=sys.stderr)
    return 1 if failed else 0


# The reader of the output may stop before its end.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
if __name__ == "__main__":
    sys.exit(main())
