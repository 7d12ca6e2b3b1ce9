# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""flatten STAGE DIRECTORY: writes DIRECTORY/client.c and DIRECTORY/server.c.

Each is one role of the stage in one readable file that needs nothing else of this project: the RDMA,
the order of set-up and tear-down, half a dozen options, errors in one line. Which parts make a stage is
known to the Makefile, which calls this.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from .program import flatten


def ask(root: Path, question: str, stage: str, role: str) -> list[str]:
    """The Makefile's word on a stage."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    answer = subprocess.run(
        ["make", "--no-print-directory", "--silent", question, f"STAGE={stage}", f"ROLE={role}"],
        cwd=root, env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return answer.stdout.split()


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/flatten", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("stage")
    parser.add_argument("directory", type=Path)
    arguments = parser.parse_args()
    root = Path(__file__).resolve().parent.parent.parent
    arguments.directory.mkdir(parents=True, exist_ok=True)
    for role in ("client", "server"):
        file = arguments.directory / f"{role}.c"
        parts, without, libs = (
            ask(root, question, arguments.stage, role) for question in ("print-parts", "print-without", "print-libs")
        )
        text = flatten(root, parts, without, libs, arguments.stage, role)
        file.write_text(text)
        print(f"{file}: {text.count(chr(10))} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
